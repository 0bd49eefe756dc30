"""What the selection of few and of many rows is meant to take on an H200, beside what it took; what odd rows cost beside
normal ones; and a port of another library's algorithm beside the original."""

OURS = "libtle"
K = 2048
# rows, length, whether cold, the microseconds that hand-written CUDA reached, and what is aimed at
GOALS = [(1, 4096, False, 3.2, 2.9), (1, 16384, False, 4.8, 4.2), (1, 131072, False, 6.6, 5.5),
         (1, 262144, False, 7.8, 6.8), (1, 1048576, False, 11.8, 9.0), (8, 131072, False, 7.4, 6.5),
         (64, 131072, True, 16.0, 12.0), (256, 4096, False, 4.6, 4.2), (256, 131072, True, 40.0, 37.0),
         (256, 1048576, False, 256.0, 250.0)]
MOST_ODD = 4
PORT, NATIVE, PART = "libtle, TensorRT-LLM's algorithm in TLE", "TensorRT-LLM per row", 0.97


def shape_text(shape):
    return " × ".join(f"{shape[name]:,}" for name in ("rows", "len")) + f", k {shape['k']:,}"


def kind_of(row):
    return row.get("values", "randn")


def own_rows(record, impl=OURS):
    """{(kind, rows, length, k): row}"""
    return {(kind_of(row), *(row["shape"][name] for name in ("rows", "len", "k"))): row
            for row in record["rows"] if row["impl"] == impl and row["correct"]}


def verdict(time, reached, aim):
    return "the aim" if time <= aim else "as good as hand-written" if time <= reached else f"{time / reached - 1:+.0%}"


def goals(record):
    found = own_rows(record)
    lines = ["| Rows × length | | libtle | Hand-written CUDA | Aim | Reached |", "| --- | --- | ---: | ---: | ---: | --- |"]
    for rows, length, cold, reached, aim in GOALS:
        row = found.get(("randn", rows, length, K))
        time = row and row["us_cold" if cold else "us_hot"]
        if time:
            lines.append(f"| {rows:,} × {length:,} | {'cold' if cold else 'hot'} | {time:.2f} | {reached:g} | {aim:g} | "
                         f"{verdict(time, reached, aim)} |")
    if len(lines) == 2:
        return []
    return [f"Aims at k = {K:,}, normal scores, µs:", "", *lines, ""]


def odd_rows(record, usual):
    """What odd rows cost beside normal ones of the shape: a table, or nothing where none were timed."""
    found = own_rows(record)
    kinds = list(dict.fromkeys(kind for kind, *_ in found if kind not in usual))
    if not kinds:
        return []
    lines = ["| Shape | " + " | ".join(kinds) + " | Most |", "| --- |" + " ---: |" * (len(kinds) + 1)]
    beyond = []
    for shape in dict.fromkeys(key[1:] for key in found if key[0] in kinds):
        normal = found.get(("randn", *shape))
        ratios = {kind: found[kind, *shape]["us_hot"] / normal["us_hot"] for kind in kinds
                  if normal and (kind, *shape) in found}
        if ratios:
            text = shape_text(dict(zip(("rows", "len", "k"), shape)))
            cells = [f"{ratios[kind]:.1f}" if kind in ratios else "–" for kind in kinds]
            lines.append(f"| {text} | " + " | ".join(cells) + f" | {max(ratios.values()):.1f} |")
            beyond += [f"{text} ({kind}: {ratio:.1f})" for kind, ratio in ratios.items() if ratio > MOST_ODD]
    return ["Odd rows: libtle's time by that of normal scores at the shape, hot.", "", *lines, "",
            f"- More than {MOST_ODD} times as long: {'; '.join(beyond) or 'none'}.", ""]


def port(record):
    """The port of an algorithm by tlec beside the kernel that nvcc made of the original."""
    ours, theirs = own_rows(record, PORT), own_rows(record, NATIVE)
    parts = {key: theirs[key]["us_hot"] / ours[key]["us_hot"] for key in ours if key in theirs}
    normal = {key: part for key, part in parts.items() if key[0] == "randn" and key[3] == K}
    if not normal:
        return []
    lengths, counts = (sorted({key[i] for key in normal}) for i in (2, 1))
    lines = ["| Rows \\ length | " + " | ".join(f"{length:,}" for length in lengths) + " |",
             "| ---: |" + " ---: |" * len(lengths)]
    for rows in counts:
        cells = [normal.get(("randn", rows, length, K)) for length in lengths]
        lines.append(f"| {rows} | " + " | ".join("–" if part is None else f"{part:.0%}" for part in cells) + " |")
    below = sorted((part, key) for key, part in parts.items() if part < PART)
    text = "; ".join(f"{key[0]} {shape_text(dict(zip(('rows', 'len', 'k'), key[1:])))} ({part:.0%})" for part, key in below[:12])
    more = f", and {len(below) - 12} more" if len(below) > 12 else ""
    return [f"{PORT.removeprefix('libtle, ')}, compiled by `tlec`, beside `{NATIVE}`, compiled by nvcc: native time ÷ ours at k = "
            f"{K:,}, hot. Ours also puts its answer in order, which the original does not.", "", *lines, "",
            f"- At {len(parts) - len(below)} of {len(parts)} shapes it reaches {PART:.0%}; below: {text or 'none'}{more}.", ""]
