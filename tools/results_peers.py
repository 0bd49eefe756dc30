"""What a run beside other libraries says, in few lines: how often libtle is faster than the best of them, where it is
not, and which of them are right.

A peer counts where it was right at that shape, and only if it is right on every kind of scores that it takes.
"""
import math

OURS = "libtle"
SHOWN_K = 2048


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
        if row[temperature] and (row["impl"] == OURS or (row["correct"] and row["impl"] in peers)):
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
    return math.exp(sum(map(math.log, values)) / len(values))


def shape_text(shape):
    return " × ".join(f"{shape[name]:,}" for name in ("rows", "len")) + f", k {shape['k']:,}"


def summary(record, peers):
    """A table by kind of scores and k."""
    lines = ["| Scores | k | Shapes | Best peer ÷ libtle, hot | cold | Least | Below 1 |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    hot, cold = points(record, peers), points(record, peers, "us_cold")
    for kind, k in dict.fromkeys((kind, shape["k"]) for kind, shape, _, _ in hot):
        here, there = ([point for point in found if (point[0], point[1]["k"]) == (kind, k)] for found in (hot, cold))
        values = ratios(here)
        cells = [kind, f"{k:,}", str(len(here)), f"{mean(values):.2f}", f"{mean(ratios(there, 'us_cold')):.2f}",
                 f"{min(values):.2f}", str(sum(value < 1 for value in values))]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def losses(record, peers):
    slower = [f"{kind} {shape_text(shape)} ({peer['impl']}: {peer['us_hot']:.1f} against {ours['us_hot']:.1f})"
              for kind, shape, ours, peer in points(record, peers) if peer["us_hot"] < ours["us_hot"]]
    return "- Slower than the best peer at " + ("; ".join(slower) if slower else "no shape") + "."


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
    return f"{ours['us_hot']:.1f} / {ours['us_cold']:.1f}, " + (f"{ratio:.2f}" if ratio >= 1 else f"**{ratio:.2f}**")


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
    lines += summary(record, peers) + ["", losses(record, peers), ""]
    lines += [f"Rows × length at k {SHOWN_K:,}, normal scores: libtle's time hot / cold, best peer ÷ libtle.", ""]
    return lines + grid(record, peers) + ["", "Which kinds of scores each gets right:", ""] + correctness(record)
