"""Which columns of a row libtle's bodies for long rows look at first, as numbers alone."""
import functools
import json
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
sys.path.insert(0, os.path.join(ROOT, "tools"))
import grids  # noqa: E402


@functools.lru_cache(maxsize=None)
def described():
    """What every variant of topk_select is made of, by its name."""
    for _, grid in grids.grid_files():
        if grid["op"] == "topk_select":
            return {variant["name"]: variant for variant in grids.described_variants(grid)}


@functools.lru_cache(maxsize=None)
def rules():
    with open(os.path.join(ROOT, "kernels_tle", "dispatch", "sm_90a", "topk_select.json"), encoding="utf-8") as file:
        return json.load(file)["rules"]


def chosen(rows, columns, k):
    """The variant that the table chooses for aligned fp32 scores."""
    call = {"rows": rows, "columns": columns, "k": k, "align": 16, "form": 0, "dtype": "fp32"}
    for rule in rules():
        variant = described()[rule["variant"]]
        if grids.holds(rule["when"], call) and grids.holds(variant["legal"], call):
            return variant
    raise LookupError(f"no rule for {rows} rows of {columns}, k {k}")


def spread_blocks(rows, columns, k):
    """(how many, of how many columns): the blocks at equal distances that a body of cluster_mark.py samples, or none."""
    const = chosen(rows, columns, k)["const"]
    if "LANES" not in const:
        return 0, 0
    return 32 * 32 * const["REPEAT"] // const["LANES"], const["LANES"] * const["RUN"]
