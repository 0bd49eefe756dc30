"""The README's table of what is supported, made from the grids, the dispatch tables and the public header.

    tools/support_table.py           rewrites the README's part between the two markers
    tools/support_table.py --check   fails when that part is not what they give
"""
import re
import sys

import grids
import section
import tree

HEADER = "include/tle/tle.h"


def variants_of_ops():
    """{op: [(name, legal, architectures)]} of all grids."""
    found = {}
    for grid in grids.all_grids():
        found.setdefault(grid["op"], []).extend(grids.variants(grid))
    return found


def limit(op, what):
    """The number of TLE_<OP>_MAX_<WHAT> in the header, as text; None where there is none."""
    found = re.search(rf"#define TLE_{op.upper()}_MAX_{what}\s+(\S+)", "\n".join(tree.lines(HEADER)))
    if not found:
        return None
    return f"{int(found[1]):,}" if found[1].isdigit() else {"INT32_MAX": "2^31 − 1"}.get(found[1], found[1])


def functions(op):
    return re.findall(rf"\b(tle_{op}(?:_\w+)?)\(", "\n".join(tree.lines(HEADER)))


def special_ks(variants):
    """The values of k that have kernels of their own."""
    ranges = [legal["k"] for _, legal, _ in variants if "k" in legal]
    return sorted({low for low, high in ranges if low == high})


def row(op, variants):
    types = sorted({legal["dtype"] for _, legal, _ in variants if "dtype" in legal})
    archs = sorted({arch for _, _, some in variants for arch in some})
    ks = special_ks(variants)
    limits = [f"{name.lower()} ≤ {limit(op, name)}" for name in ("K", "ROWS", "COLUMNS") if limit(op, name)]
    if limit(op, "SORTED_K"):
        limits[0] += f" ({limit(op, 'SORTED_K')} sorted)"
    fast = f"; kernels of their own for k = {', '.join(f'{k:,}' for k in ks)}" if ks else ""
    names = {name for name, _, _ in variants}
    cells = [f"[`tle_{op}`](docs/operators.md#{op})", ", ".join(types), ", ".join(limits) + fast, ", ".join(archs)]
    return f"| {' | '.join(cells)} | {len(names)} |"


def generated():
    lines = ["| Operator | Element types | Shapes | GPU architectures | Variants |", "| --- | --- | --- | --- | ---: |"]
    lines += [row(op, variants) for op, variants in sorted(variants_of_ops().items()) if f"tle_{op}" in functions(op)]
    return "\n".join(lines)


def main():
    return section.bring_up_to_date("README.md", "support", generated(), "tools/support_table.py")


if __name__ == "__main__":
    sys.exit(main())
