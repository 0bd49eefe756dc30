"""Plots of a run beside other libraries, as SVG files beside its JSON file: made of the figures alone, so that the same
figures give the same bytes."""
import math
import os

import tree

WIDTH, HEIGHT = 820, 430
LEFT, RIGHT, TOP, BOTTOM = 64, 230, 40, 52
OURS = "libtle"
COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#393b79"]
OUR_COLOUR = "#d62728"
K = 2048


class Axis:
    """A logarithmic axis from pixels `begin` to `end`."""

    def __init__(self, values, begin, end):
        self.low, self.high = math.log(min(values)), math.log(max(values))
        self.begin, self.end = begin, end

    def at(self, value):
        part = (math.log(value) - self.low) / ((self.high - self.low) or 1)
        return self.begin + part * (self.end - self.begin)


def ticks(low, high):
    """1, 2, 5, 10, ... from at or below `low` to at or above `high`."""
    steps = [m * 10.0 ** e for e in range(-3, 8) for m in (1, 2, 5)]
    first = max(i for i, step in enumerate(steps) if step <= low * 1.0001)
    last = min(i for i, step in enumerate(steps) if step >= high * 0.9999)
    return steps[first:max(last, first + 1) + 1]


def length_text(length):
    return f"{length >> 20}M" if length >= 1 << 20 else f"{length >> 10}K" if length >= 1024 else str(length)


def text(x, y, words, anchor="middle", extra=""):
    escaped = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escaped}</text>'


def line(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def frame(title, label, xs, marks, x, y):
    out = [text(LEFT, 22, title, "start", ' font-weight="bold"')]
    for mark in marks:
        out += [line(LEFT, y.at(mark), WIDTH - RIGHT, y.at(mark), "#dddddd"),
                text(LEFT - 6, y.at(mark) + 4, f"{mark:g}", "end")]
    for value in xs:
        out += [line(x.at(value), TOP, x.at(value), HEIGHT - BOTTOM, "#eeeeee"),
                text(x.at(value), HEIGHT - BOTTOM + 18, length_text(value))]
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "length of a row"))
    turned = f' transform="rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2:.1f})"'
    return out + [text(16, (TOP + HEIGHT - BOTTOM) / 2, label, "middle", turned)]


def curve(name, points, colour, number, x, y):
    width = 3 if name == OURS else 1.5
    path = " ".join(f"{x.at(px):.1f},{y.at(py):.1f}" for px, py in points)
    at = TOP + 10 + 20 * number
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>',
            *(f'<circle cx="{x.at(px):.1f}" cy="{y.at(py):.1f}" r="{width:g}" fill="{colour}"/>' for px, py in points),
            f'<line x1="{WIDTH - RIGHT + 14}" y1="{at}" x2="{WIDTH - RIGHT + 38}" y2="{at}" stroke="{colour}" '
            f'stroke-width="{width}"/>', text(WIDTH - RIGHT + 44, at + 4, name, "start")]


def chart(title, label, series):
    """series: {name: [(length, value)]}, ours first."""
    xs = sorted({px for points in series.values() for px, _ in points})
    values = [py for points in series.values() for _, py in points]
    marks = ticks(min(values), max(values))
    x, y = Axis(xs, LEFT, WIDTH - RIGHT), Axis(marks, HEIGHT - BOTTOM, TOP)
    body = frame(title, label, xs, marks, x, y)
    others = iter(COLOURS * 3)
    for number, (name, points) in enumerate(series.items()):
        body += curve(name, points, OUR_COLOUR if name == OURS else next(others), number, x, y)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
            'font-size="12">')
    return "\n".join([head, f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *body, "</svg>\n"])


def series_of(record, rows, value):
    """{impl: [(length, value of its row)]} of normal scores."""
    found = {}
    for row in record["rows"]:
        shape = row["shape"]
        usable = row["correct"] and "values" not in row and (row["impl"] == OURS or not row["impl"].startswith(OURS))
        if usable and shape["rows"] == rows and shape["k"] == K and value(row):
            found.setdefault(row["impl"], []).append((shape["len"], value(row)))
    names = sorted(found, key=lambda name: (name != OURS, name))
    return {name: sorted(found[name]) for name in names}


def over_floor(row):
    return row["us_cold"] / row["floor_us"] if row["us_cold"] and row["floor_us"] else None


def plots(record):
    """[(suffix, title, SVG)]; a plot without points is left out."""
    many = max((row["shape"]["rows"] for row in record["rows"]), default=1)
    wanted = [("one-row", f"1 row, k = {K}, hot: time by length", "µs", 1, lambda row: row["us_hot"]),
              ("many-rows", f"{many} rows, k = {K}, cold: time over the time to read the scores once",
               "time ÷ floor", many, over_floor)]
    out = []
    for suffix, title, label, rows, value in wanted:
        series = series_of(record, rows, value)
        if series:
            out.append((suffix, title, chart(title, label, series)))
    return out


def path_of(path, suffix):
    return f"{os.path.splitext(path)[0]}-{suffix}.svg"


def paths(path, record):
    """[(title, path)] of the plots of a run."""
    return [(title, path_of(path, suffix)) for suffix, title, _ in plots(record)]


def bring_up_to_date(newest, check):
    """Writes the plots of the runs that have a table of kinds; with `check` it names those that differ instead."""
    stale = []
    for path, _, record in newest.values():
        for suffix, _, svg in plots(record) if "kinds" in record else []:
            name = path_of(path, suffix)
            full = os.path.join(tree.ROOT, name)
            old = open(full, encoding="utf-8").read() if os.path.exists(full) else None
            if old != svg and check:
                stale.append(f"{name} is not what its figures give")
            elif old != svg:
                with open(full, "w", encoding="utf-8") as file:
                    file.write(svg)
    return stale
