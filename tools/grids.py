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


def variants(grid):
    """(name, legal, architectures) of every variant."""
    for kernel in grid["kernels"]:
        for row in kernel["variants"]:
            for chosen in combinations(grid, kernel, row):
                parts = [*chosen.values(), row]
                legal = {key: value for part in parts for key, value in part.get("legal", {}).items()}
                limits = [part["archs"] for part in [kernel, *parts] if "archs" in part]
                archs = [arch for arch in grid["archs"] if all(arch in limit for limit in limits)]
                yield row["name"].format(**{name: choice["name"] for name, choice in chosen.items()}), legal, archs


def all_grids():
    """Every grid of the tree."""
    for path in sorted(glob.glob(os.path.join(tree.ROOT, "kernels_tle", "*", "grid.json"))):
        with open(path, encoding="utf-8") as file:
            yield json.load(file)
