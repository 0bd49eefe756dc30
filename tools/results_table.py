"""The README's tables of measured times, made from bench/results/*.json.

    tools/results_table.py                   rewrites the README's part between the two markers, and the plots
    tools/results_table.py --check           fails when that part is not what the files give
    tools/results_table.py --validate FILE   fails when one file is not in the schema

A file is one run on one GPU, <op>-<gpu>-<yyyymmdd>.json; of several runs of an operator on a GPU the README shows
the newest. Its rows of one shape are the implementations that ran it: ours first, then the others by name. One that is
called `libtle, <what>` is a kernel of ours that was forced where dispatch may take another, or another way to call it;
it is no competitor. A run with a table of kinds is reported as a whole, not row by row: results_peers.py; one of many
shapes without such a table by type and form: results_ratios.py.
"""
import json
import os
import re
import sys

import results_peers
import results_plot
import results_ratios
import section
import tree

FOLDER = "bench/results"
NAME = re.compile(r"([a-z0-9_]+)-([a-z0-9]+)-(\d{4})(\d\d)(\d\d)\.json")
OURS = "libtle"
DEPENDENT = "libtle, launched dependent"
LEGEND = """\
Microseconds of one call in a replayed CUDA graph, hot / cold: with the scores in the L2 cache / in memory. All
implementations of a table ran in one program. A ratio (of the hot times) above 1 means that libtle is faster,
**below 1** that it is slower. The floor is the time in which a kernel that only reads gets through the scores; the
last column is the floor's part of the cold time. Short rows cannot come near: to launch a kernel takes longer than
to read them."""
NOISE = 1.02
NUMBER = (int, float)
HEAD = {"device": str, "driver": str, "cuda": str, "commit": str, "command": str, "rows": list}
ROW = {"op": str, "shape": dict, "dtype": str, "impl": str, "version": str, "variant": str, "us_hot": NUMBER,
       "us_cold": NUMBER, "floor_us": NUMBER, "correct": bool, "spread": NUMBER}
HEAD_OPTIONS = {"kinds": dict}  # {impl: {kind of scores: "right", "wrong" or "not taken"}}
ROW_OPTIONS = {"values": str}   # the kind of scores; normal ones without
MAY_BE_NULL = {"us_hot", "us_cold", "floor_us", "spread"}


def wrong_fields(what, found, fields, options):
    for name, kind in {**fields, **options}.items():
        value = found.get(name)
        if name not in found:
            if name in options:
                continue
            yield f"{what}: no '{name}'"
        elif value is None and name in MAY_BE_NULL:
            continue
        elif not isinstance(value, kind) or (kind is NUMBER and isinstance(value, bool)):
            yield f"{what}: '{name}' is {value!r}"
        elif kind is NUMBER and value < 0:
            yield f"{what}: '{name}' is negative"
    known = {*fields, *options, "schema"}
    yield from (f"{what}: '{name}' is not in the schema" for name in found if name not in known)


def wrong_rows(rows):
    seen = set()
    for number, row in enumerate(rows, 1):
        yield from wrong_fields(f"row {number}", row, ROW, ROW_OPTIONS)
        key = (row.get("op"), json.dumps(row.get("shape")), row.get("dtype"), row.get("impl"), row.get("values"))
        if key in seen:
            yield f"row {number}: {key[3]} comes twice at {key[1]}"
        seen.add(key)


def validate(path):
    """The problems of one file."""
    with open(os.path.join(tree.ROOT, path), encoding="utf-8") as file:
        try:
            record = json.load(file)
        except json.JSONDecodeError as error:
            return [f"{path}: {error}"]
    if not isinstance(record, dict) or record.get("schema") != 1:
        return [f"{path}: 'schema' must be 1"]
    problems = list(wrong_fields("head", record, HEAD, HEAD_OPTIONS))
    if not problems:
        problems = list(wrong_rows(record["rows"])) or ([] if record["rows"] else ["there are no rows"])
    return [f"{path}: {problem}" for problem in problems]


def records():
    """{(op, gpu): (path, date, record)} of the newest files, and the problems of all."""
    newest, problems = {}, []
    folder = os.path.join(tree.ROOT, FOLDER)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if not name.endswith(".json"):
            continue
        path, parts = f"{FOLDER}/{name}", NAME.fullmatch(name)
        found = validate(path) if parts else [f"{path}: the name is not <op>-<gpu>-<yyyymmdd>.json"]
        problems += found
        if not found:
            with open(os.path.join(tree.ROOT, path), encoding="utf-8") as file:
                newest[parts[1], parts[2]] = (path, "-".join(parts.groups()[2:]), json.load(file))
    return newest, problems


def grouped(rows):
    """[(shape, dtype, {impl: row})] in the order of the file."""
    groups = {}
    for row in rows:
        key = json.dumps(row["shape"]), row["dtype"]
        groups.setdefault(key, (row["shape"], row["dtype"], {}))[2][row["impl"]] = row
    return list(groups.values())


def by_name(rows):
    """Ours, our kernels that were forced, and the others."""
    names = sorted({row["impl"] for row in rows} - {OURS})
    forced = [name for name in names if name.startswith(f"{OURS}, ")]
    return OURS, forced, [name for name in names if name not in forced]


def shape_text(shape):
    return ", ".join(f"{name} {size:,}" for name, size in shape.items())


def time_text(row):
    if row is None:
        return "–"
    if not row["correct"]:
        return "wrong result"
    times = [row["us_hot"], row["us_cold"]]
    return " / ".join("–" if time is None else f"{time:.1f}" for time in times)


def usable(row, what="us_hot"):
    return row is not None and row["correct"] and row[what]


def ratio_text(ours, peer):
    if not usable(ours) or not usable(peer):
        return "–"
    ratio = peer["us_hot"] / ours["us_hot"]
    return f"{ratio:.2f}" if ratio >= 1 else f"**{ratio:.2f}**"


def floor_text(row):
    if not usable(row, "us_cold") or row["floor_us"] is None:
        return "–"
    part = 100 * row["floor_us"] / row["us_cold"]
    return f"{part:.1f} %" if part >= 0.1 else "< 0.1 %"


def table(rows):
    _, forced, peers = by_name(rows)
    impls = [OURS] + forced + peers
    head = ["Shape", "Type"] + impls + [f"{peer} ÷ {OURS}" for peer in peers] + ["Part of the floor"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * 2 + " ---: |" * (len(head) - 2)]
    for shape, dtype, row in grouped(rows):
        ours = row.get(OURS)
        cells = [shape_text(shape), dtype] + [time_text(row.get(name)) for name in impls]
        cells += [ratio_text(ours, row.get(peer)) for peer in peers] + [floor_text(ours)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def comparison(rows, peer):
    """One sentence: how often we are faster than a peer, and where we are not."""
    both = [(shape, row) for shape, _, row in grouped(rows) if usable(row.get(OURS)) and usable(row.get(peer))]
    losses = [shape_text(shape) for shape, row in both if row[OURS]["us_hot"] > row[peer]["us_hot"]]
    text = f"- Against {peer}: faster at {len(both) - len(losses)} of {len(both)} shapes"
    return text + (f"; slower at {'; '.join(losses)}." if losses else ".")


def forced_text(rows, forced):
    """Where dispatch did not take our fastest kernel, beyond what noise explains."""
    better = []
    for shape, _, row in grouped(rows):
        ours = row.get(OURS)
        others = [row[name] for name in forced if usable(ours) and usable(row.get(name))
                  and row[name]["variant"] != ours["variant"]]
        best = min(others, key=lambda found: found["us_hot"], default=None)
        if best and best["us_hot"] * NOISE < ours["us_hot"]:
            better.append(f"{shape_text(shape)} ({best['impl'].removeprefix(OURS + ', ')}: {best['us_hot']:.1f} µs)")
    text = (f"- What dispatch took was more than {(NOISE - 1) * 100:.0f} % slower than the fastest kernel at {len(better)} of "
            f"{len(grouped(rows))} shapes")
    return text + (f": {'; '.join(better)}." if better else ".")


def dependent_text(rows):
    """What it brings that each call of a graph may begin before the one in front of it has ended."""
    ratios = {shape_text(shape): row[OURS]["us_hot"] / row[DEPENDENT]["us_hot"] for shape, _, row in grouped(rows)
              if usable(row.get(OURS)) and usable(row.get(DEPENDENT))}
    slower = [f"{shape} ({ratio:.2f})" for shape, ratio in ratios.items() if ratio < 0.99]
    return (f"- Of calls in a graph, those launched dependent on the one before are {results_ratios.mean(ratios.values()):.2f} times as "
            f"fast, in geometric mean; slower at {'; '.join(slower) or 'no shape'}.")


def report(path, date, record):
    rows, op = record["rows"], record["rows"][0]["op"]
    _, forced, peers = by_name(rows)
    topic = NAME.fullmatch(os.path.basename(path))[1]
    versions = {row["impl"]: row["version"].removeprefix(f"{OURS} ") for row in rows if row["impl"] not in forced}
    facts = [("driver ", record["driver"]), ("CUDA ", record["cuda"]), ("commit ", record["commit"][:12])]
    lines = ["", f"### `{op}` on {record['device']}, {date}" + (f": {topic}" if topic != op else ""), ""]
    if "kinds" in record:
        lines += results_peers.report(record, results_plot.paths(path, record)) + [""]
    elif len(grouped(rows)) > results_ratios.MOST_SHAPES:
        lines += results_ratios.table(rows)
    else:
        lines += table(rows) + [""]
        lines += [dependent_text(rows)] if DEPENDENT in forced else [forced_text(rows, forced)] if forced else []
        lines += [comparison(rows, name) for name in peers]
    lines += [f"- {impl}: {versions[impl]}." for impl in [OURS] + peers if impl in versions]
    lines += [f"- Made by `{record['command']}`" + "".join(f", {what}{text}" for what, text in facts if text)
              + f"; all figures: [{path}]({path})."]
    return lines


def generated(newest):
    if not newest:
        return "No figures are recorded yet."
    lines = [LEGEND]
    for key in sorted(newest, key=lambda key: (newest[key][2]["rows"][0]["op"] != key[0], key)):
        lines += report(*newest[key])
    return "\n".join(lines)


def main():
    if sys.argv[1:2] == ["--validate"] and len(sys.argv) == 3:
        return tree.finish("schema of results", validate(os.path.abspath(sys.argv[2])))
    newest, problems = records()
    if problems:
        return tree.finish("results", problems)
    stale = results_plot.bring_up_to_date(newest, "--check" in sys.argv[1:])
    if stale:
        return tree.finish("plots of results (run tools/results_table.py)", stale)
    return section.bring_up_to_date("README.md", "results", generated(newest), "tools/results_table.py")


if __name__ == "__main__":
    sys.exit(main())
