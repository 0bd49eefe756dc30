"""What a run beside other libraries says, in few lines: how often libtle is faster than the best of them, where it is
not, and which of them are right.

A peer counts where it was right at that shape, and only if it is right on every kind of scores that it takes.
"""
import math

import results_goals

OURS = "libtle"
SHOWN_K = 2048
USUAL = ("randn", "narrow", "relu", "lognormal", "smooth")  # kinds of scores; what others cost is told apart


def is_peer(name):
    return name != OURS and not name.startswith(f"{OURS}, ")


def counting(record):
    """Names of the peers that count, in order."""
    kinds = record["kinds"]
    names = sorted({row["impl"] for row in record["rows"] if is_peer(row["impl"])})
    return [name for name in names if "wrong" not in kinds.get(name, {"": "wrong"}).values()]


def points(record, peers, temperature="us_hot"):
    """[(kind, shape, our row, row of the best peer)] where both were measured, in the order of the file."""
    found = {}
    for row in record["rows"]:
        place = row.get("values", "randn"), tuple(row["shape"].items())
        if place[0] in USUAL and row[temperature] and (row["impl"] == OURS or (row["correct"] and row["impl"] in peers)):
            found.setdefault(place, {})[row["impl"]] = row
    out = []
    for (kind, shape), rows in found.items():
        others = sorted((row for name, row in rows.items() if name != OURS), key=lambda row: row[temperature])
        if OURS in rows and others:
            out.append((kind, dict(shape), rows[OURS], others[0]))
    return out


def ratios(found, temperature="us_hot"):
    return [peer[temperature] / ours[temperature] for _, _, ours, peer in found]


def mean(values):
    """Geometric; nothing of nothing."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def shape_text(shape):
    return " × ".join(f"{shape[name]:,}" for name in ("rows", "len")) + f", k {shape['k']:,}"


def summary_line(hot, cold, kind, k):
    values = ratios(hot)
    of_cold = mean(ratios(cold, "us_cold"))
    cells = [kind, k, str(len(hot)), f"{mean(values):.2f}", "–" if of_cold is None else f"{of_cold:.2f}",
             f"{min(values):.2f}", str(sum(value < 1 for value in values))]
    return "| " + " | ".join(cells) + " |"


def summary(record, peers):
    """A table by kind of scores and k, and of all k together."""
    lines = ["| Scores | k | Shapes | Best peer ÷ libtle, hot | cold | Least | Below 1 |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    hot, cold = points(record, peers), points(record, peers, "us_cold")
    for kind in dict.fromkeys(point[0] for point in hot):
        here, there = ([point for point in found if point[0] == kind] for found in (hot, cold))
        sizes = list(dict.fromkeys(shape["k"] for _, shape, _, _ in here))
        for k in sizes:
            parts = [[point for point in found if point[1]["k"] == k] for found in (here, there)]
            lines.append(summary_line(*parts, kind, f"{k:,}"))
        if len(sizes) > 1:
            lines.append(summary_line(here, there, kind, "all"))
    return lines


def losses(record, peers):
    """Every point below 1, with what ran there and how near that is to reading the scores once."""
    slower = [point for point in points(record, peers) if point[3]["us_hot"] < point[2]["us_hot"]]
    if not slower:
        return ["- Slower than the best peer at no shape."]
    lines = [f"Slower than the best peer at {len(slower)} of {len(points(record, peers))} points:", "",
             "| Scores | Shape | libtle | Best peer | Ratio | Variant | Floor |", "| --- | --- | ---: | --- | ---: | --- | ---: |"]
    for kind, shape, ours, peer in sorted(slower, key=lambda point: point[3]["us_hot"] / point[2]["us_hot"]):
        lines.append(f"| {kind} | {shape_text(shape)} | {ours['us_hot']:.1f} | {peer['us_hot']:.1f} ({peer['impl']}) | "
                     f"{peer['us_hot'] / ours['us_hot']:.2f} | `{ours['variant'].removeprefix('topk_select__')}` | "
                     f"{ours['floor_us']:.1f} |")
    return lines


def grid(record, peers):
    """Rows against lengths at one k, normal scores: our time hot / cold, and the best peer's over ours."""
    here = {(shape["rows"], shape["len"]): (ours, peer) for kind, shape, ours, peer in points(record, peers)
            if kind == "randn" and shape["k"] == SHOWN_K}
    lengths = sorted({length for _, length in here})
    if not here:
        return []
    lines = ["| Rows \\ length | " + " | ".join(f"{length:,}" for length in lengths) + " |",
             "| ---: |" + " ---: |" * len(lengths)]
    for rows in sorted({rows for rows, _ in here}):
        cells = [cell(*here[rows, length]) if (rows, length) in here else "–" for length in lengths]
        lines.append(f"| {rows} | " + " | ".join(cells) + " |")
    return lines


def cell(ours, peer):
    ratio = peer["us_hot"] / ours["us_hot"]
    cold = f" / {ours['us_cold']:.1f}" if ours["us_cold"] else ""
    return f"{ours['us_hot']:.1f}{cold}, " + (f"{ratio:.2f}" if ratio >= 1 else f"**{ratio:.2f}**")


def correctness(record):
    lines = ["| Implementation | Kinds right | Wrong | Not taken |", "| --- | ---: | --- | --- |"]
    for name, verdicts in record["kinds"].items():
        of = {verdict: [kind for kind, found in verdicts.items() if found == verdict]
              for verdict in ("right", "wrong", "not taken")}
        lines.append(f"| {name} | {len(of['right'])} of {len(verdicts)} | {', '.join(of['wrong']) or '–'} | "
                     f"{', '.join(of['not taken']) or '–'} |")
    return lines


def report(record, plots):
    peers = counting(record)
    lines = [f"![{title}]({path})" for title, path in plots] + [""]
    lines += [f"Peers that count, being right on every kind of scores that they take: {', '.join(peers) or 'none'}. The",
              "ratios are geometric means, over the shapes, of the best peer's time at the shape by libtle's.", ""]
    lines += summary(record, peers) + ["", *losses(record, peers), "", *results_goals.goals(record)]
    lines += [f"Rows × length at k {SHOWN_K:,}, normal scores: libtle's time hot / cold, best peer ÷ libtle.", ""]
    lines += grid(record, peers) + ["", *results_goals.odd_rows(record, USUAL), *results_goals.port(record)]
    return lines + ["Which kinds of scores each gets right:", ""] + correctness(record)
