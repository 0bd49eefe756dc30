"""Grid files: which variants they stand for (docs/metadata.md). tle-grid reads them too, and checks them."""
import glob
import itertools
import json
import os

import tree


def axis(grid, kernel, name):
    return kernel.get("axes", {}).get(name) or grid["axes"][name]


def combinations(grid, kernel, row):
    """{axis: choice} for every combination of choices that go with each other."""
    names = row.get("axes", [])
    for choices in itertools.product(*(axis(grid, kernel, name) for name in names)):
        chosen = dict(zip(names, choices))
        if all(chosen[other]["name"] in allowed for choice in choices for other, allowed in choice.get("with", {}).items()):
            yield chosen


def merged(parts, key):
    return {name: value for part in parts for name, value in part.get(key, {}).items()}


def signature(parts):
    """Types of the parameters; ":16" is a fact about a type that another part gives."""
    types, facts = {}, {}
    for part in parts:
        for name, text in part.get("sig", {}).items():
            (facts if text.startswith(":") else types)[name] = text
    return {name: text + facts.get(name, "") for name, text in types.items()}


def described_variants(grid):
    """What tle-grid compiles for every variant, as a dictionary."""
    for kernel in grid["kernels"]:
        for row in kernel["variants"]:
            for chosen in combinations(grid, kernel, row):
                parts = [*chosen.values(), row]
                limits = [part["archs"] for part in [kernel, *parts] if "archs" in part]
                yield {"name": row["name"].format(**{name: choice["name"] for name, choice in chosen.items()}),
                       "source": kernel["source"], "kernel": kernel["kernel"],
                       "sig": signature([grid, kernel, *parts]), "const": merged(parts, "const"),
                       "legal": merged(parts, "legal"), "meant": merged(parts, "meant"),
                       "archs": [arch for arch in grid["archs"] if all(arch in limit for limit in limits)],
                       **{key: part[key] for part in parts for key in ("num_warps", "min_ctas") if key in part}}


def holds(conditions, call):
    """Whether the conditions of a rule, or of what is legal, hold for a call: ranges, alignments, names."""
    for fact, wanted in conditions.items():
        value = call[fact]
        if isinstance(wanted, list):
            if not wanted[0] <= value <= wanted[1]:
                return False
        elif value % wanted if isinstance(wanted, int) else value != wanted:
            return False
    return True


def variants(grid):
    """(name, legal, architectures) of every variant."""
    for variant in described_variants(grid):
        yield variant["name"], variant["legal"], variant["archs"]


def grid_files():
    """(family, grid) of every grid of the tree."""
    for path in sorted(glob.glob(os.path.join(tree.ROOT, "kernels_tle", "*", "grid.json"))):
        with open(path, encoding="utf-8") as file:
            yield os.path.basename(os.path.dirname(path)), json.load(file)


def all_grids():
    """Every grid of the tree."""
    return (grid for _, grid in grid_files())
