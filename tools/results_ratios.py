"""A run of many shapes beside others, in few lines: by type and form, how many times longer each of them takes."""
import math

OURS = "libtle"
MOST_SHAPES = 40  # of a run that is shown shape by shape
NAMED = 12


def is_own(name):
    return name == OURS or name.startswith(f"{OURS}, ")


def form_of(row):
    words = ["smallest"] * ("smallest" in row["shape"]) + ["sorted"] * ("sorted" in row["shape"])
    whole = row["shape"]["k"] == row["shape"]["len"]
    return "whole rows" if whole and words else " ".join(words) or "by index"


def by_shape(rows):
    """{(dtype, shape): {impl: row}}"""
    found = {}
    for row in rows:
        found.setdefault((row["dtype"], tuple(row["shape"].items())), {})[row["impl"]] = row
    return found


def usable(row):
    return row is not None and row["correct"] and row["us_hot"]


def ratio_of(rows, name, temperature="us_hot"):
    ours, other = rows.get(OURS), rows.get(name)
    both = usable(ours) and usable(other) and ours[temperature] and other[temperature]
    return other[temperature] / ours[temperature] if both else None


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def cell(groups, name):
    hot = [ratio for ratio in (ratio_of(rows, name) for rows in groups) if ratio]
    return f"{mean(hot):.2f} ({min(hot):.2f}–{max(hot):.2f})" if hot else "–"


def shape_text(dtype, shape):
    shape = dict(shape)
    words = [name for name in ("smallest", "sorted") if name in shape]
    return " ".join([f"{shape['rows']:,} × {shape['len']:,}, k {shape['k']:,}", dtype, *words])


def table(rows):
    """Of each type and form: the geometric mean of the ratios, and the least and the greatest."""
    found = by_shape(rows)
    names = [name for name in dict.fromkeys(row["impl"] for row in rows) if not is_own(name) and "gather" not in name]
    groups = {}
    for (dtype, _), here in found.items():
        first = next(iter(here.values()))
        groups.setdefault((dtype, form_of(first)), []).append(here)
    lines = ["| Type | Form | Shapes | " + " | ".join(f"{name} ÷ {OURS}" for name in names) + " |",
             "| --- | --- | ---: |" + " ---: |" * len(names)]
    for (dtype, form), here in groups.items():
        lines.append(f"| {dtype} | {form} | {len(here)} | " + " | ".join(cell(here, name) for name in names) + " |")
    return lines + ["", *(losses(found, name) for name in names)]


def losses(found, name):
    ratios = {key: ratio for key, ratio in ((key, ratio_of(rows, name)) for key, rows in found.items()) if ratio}
    slower = sorted((ratio, key) for key, ratio in ratios.items() if ratio < 1)
    text = "; ".join(f"{shape_text(*key)} ({ratio:.2f})" for ratio, key in slower[:NAMED])
    more = f"; and {len(slower) - NAMED} more" if len(slower) > NAMED else ""
    return (f"- {name}: {mean(ratios.values()):.2f} times libtle's time over {len(ratios)} shapes, geometric mean; libtle is slower at "
            + (f"{len(slower)}: {text}{more}." if slower else "none."))
