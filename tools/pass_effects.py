"""What each pass and each strategy of code generation brings: the tables of docs/passes.md.

    tools/pass_effects.py --build build/release [--ptxas PATH] [--cuobjdump PATH] [--times FILE]...
                                           compiles and emulates, and rewrites the page's part between the markers
    tools/pass_effects.py --check          fails when the page's rows are not the compiler's passes and strategies
    tools/pass_effects.py --grids DIR      writes grids whose variants are what the tables compare

A few variants of the grids (KERNELS) are compiled as the pipeline has it and with one switch off at a time; each result
runs on the emulator under all checks on one row of normally distributed numbers and is compared with a sort. Times of a
GPU come from what `tle tune --quick --save` wrote for packs of the grids of --grids; of times that were taken of another
text of the kernel the page says so.
"""
import argparse
import array
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import grids
import section
import tree

PAGE = "docs/passes.md"
MARK = "pass-effects"
ARCH = "sm_90a"
# The variants, columns of the row that the emulator gets, and (rows, columns) of GPU times, of the quick grid of tle tune
# and such that no other of the variants is much faster there.
KERNELS = [
    ("topk_select__f32__k2048__tile4k__v4__w8", 4096, [(1, 4096), (264, 4096)]),
    ("topk_select__f32__k2048__long__v4__w16", 16384, [(264, 16384), (264, 65536)]),
    ("topk_select__f32__kany__mark8_64k__v4__w16", 16384, [(1, 65536), (15, 16384)]),
    ("radix_select__f32__index__stream__v4__w32", 16384, [(264, 65536)]),
]
TOGETHER = ["canon,cse,licm,dce"]  # passes whose work LLVM can do as well: also left out all at once
NEEDED = ("layout", "cluster", "shared-plan", "hazard")  # there is no right code without one of these, so nothing to time
K = 2048
SELECT_INDICES = 4  # of the kernels' flags
MOST_INSTRUCTIONS = 20_000_000  # of warps, some hundred times what a right variant needs: one without barriers may never end


# --- switches ---------------------------------------------------------------------------------------


def table_rows(path, pattern):
    return re.findall(pattern, "\n".join(tree.lines(path)), re.M)


def pipeline():
    """Names of the passes that run by default, in the order of passes.def, with their summaries."""
    used = set(table_rows("generator/pass/pipelines.def", r'\bP\(sm90, "([a-z-]+)"\)'))
    rows = table_rows("generator/pass/passes.def", r'^X\(\w+, "([a-z-]+)", \w+, "(.*)"\)$')
    return {name: summary for name, summary in rows if name in used}


def strategies():
    return dict(table_rows("generator/codegen/strategies.def", r'^X\(\w+, "([a-z-]+)", "(.*)"\)$'))


def switches():
    """{what is left out: the option that does it}"""
    options = {name: f"--disable-pass={name}" for name in [*pipeline(), *TOGETHER]}
    return {**options, **{name: f"--disable-strategy={name}" for name in strategies()}}


# --- arrays -----------------------------------------------------------------------------------------


def write_npy(path, numbers):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (1, {len(numbers)}), }}"
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + numbers.tobytes())


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return array.array("i", data[start:])


def random_row(columns):
    source = random.Random(columns)
    return array.array("f", [source.gauss(0, 1) for _ in range(columns)])


def largest(numbers):
    """Indices of the K largest, ascending; ties go to the smallest index."""
    return sorted(sorted(range(len(numbers)), key=lambda i: (-numbers[i], i))[:K])


# --- one compilation ----------------------------------------------------------------------------------


class Tools:
    def __init__(self, arguments, folder):
        self.tlec = os.path.join(arguments.build, "bin", "tlec")
        self.tle = os.path.join(arguments.build, "bin", "tle")
        self.ptxas, self.cuobjdump, self.folder = arguments.ptxas, arguments.cuobjdump, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, variant, option, emit):
        """What tlec makes of a variant; None when it does not compile."""
        signature = ", ".join(f"{name}:{text}" for name, text in variant["sig"].items())
        command = [self.tlec, f"kernels_tle/{variant['family']}/{variant['source']}", "--kernel", variant["kernel"],
                   "--target", ARCH, "--sig", signature, "--num-warps", str(variant["num_warps"]),
                   "--import-root", "kernels_tle", "--no-line-info", f"--emit={emit}", "-o", self.path(emit)]
        for name, value in variant["const"].items():
            command += ["--const", f"{name}={value}"]
        command += ["--min-ctas", str(variant["min_ctas"])] if "min_ctas" in variant else []
        command += ["--ptxas", self.ptxas] if self.ptxas and emit != "ptx" else []
        command += [option] if option else []
        done = subprocess.run(command, cwd=tree.ROOT, capture_output=True, check=False)
        if done.returncode:
            return None
        with open(self.path(emit), "rb") as file:
            return file.read()

    def sass_instructions(self, variant, option):
        """Instructions of the cubin, without the padding behind the last one."""
        if not self.ptxas or not self.cuobjdump or self.compile(variant, option, "cubin") is None:
            return None
        listing = subprocess.run([self.cuobjdump, "-sass", self.path("cubin")], capture_output=True, text=True, check=True)
        names = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)", listing.stdout, re.M)
        return sum(name != "NOP" for name in names)

    def emulate(self, meta, columns, checks):
        """(exit status, cost figures or None, first line of the complaint)"""
        value = {"scores": f"in={self.path('row.npy')}", "keys": f"in={self.path('row.npy')}",
                 "indices": f"out={self.path('indices.npy')}:1x{K}:i4", "columns": f"i32={columns}", "k": f"i32={K}",
                 "flags": f"i32={SELECT_INDICES}"}
        words = [value.get(p["name"], "null" if p["type"].startswith("*") else f"{p['type']}={columns}")
                 for p in meta["params"]]
        command = [self.tle, "profile", self.path("ptx.ptx"), "--json", f"--checks={checks}",
                   f"--limit={MOST_INSTRUCTIONS}", f"--grid={meta['cluster'][0]}",
                   f"--block={meta['threads']}", f"--shared={meta['shared_bytes']}", "--args", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, json.loads(done.stdout) if done.returncode == 0 else None, done.stderr.split("\n")[0]


def verdict(tools, meta, columns, wanted):
    """(what the emulator says, cost figures)"""
    status, cost, complaint = tools.emulate(meta, columns, "all")
    if status == 0:
        return ("right" if list(read_npy(tools.path("indices.npy"))) == wanted else "wrong"), cost
    said = re.search(r"race|barrier|cluster|deadlock|uninitialised|bounds|instruction limit", complaint)
    return f"fault: {said[0] if said else complaint}", tools.emulate(meta, columns, "bounds")[1]


def measure(tools, variant, option, columns, wanted, plain):
    """Figures of one compilation. `plain` is what the whole pipeline gives; the same PTX has the same figures."""
    ptx = tools.compile(variant, option, "ptx")
    if ptx is None:
        return {"compiles": False}
    if plain and ptx == plain["text"]:
        return {**plain, "same": True}
    with open(tools.path("ptx.ptx"), "wb") as file:
        file.write(ptx)
    meta = json.loads(tools.compile(variant, option, "meta"))
    result, cost = verdict(tools, meta, columns, wanted)
    return {"compiles": True, "same": False, "text": ptx, "source": meta["source_sha256"], "PTX": meta["ptx_instructions"],
            "SASS": tools.sass_instructions(variant, option), "registers": meta.get("registers"),
            "spilled": meta.get("spill_bytes"), "shared": meta["shared_bytes"], "result": result,
            **{name: (cost or {}).get(key) for name, key in COSTS.items()}}


COSTS = {"issued": "warp_instructions", "sectors read": "global_load_sectors", "sectors written": "global_store_sectors",
         "bank conflicts": "shared_bank_conflicts", "serialised": "atomics_serialised", "barriers": "barriers"}
FIGURES = ["PTX", "SASS", "registers", "spilled", "shared", *COSTS]


def measure_kernel(tools, variant, columns):
    row = random_row(columns)
    write_npy(tools.path("row.npy"), row)
    wanted = largest(row)
    found = {"": measure(tools, variant, None, columns, wanted, None)}
    if found[""].get("result") != "right":
        sys.exit(f"{variant['name']}: the whole pipeline gives {found['']}")
    for name, option in switches().items():
        found[name] = measure(tools, variant, option, columns, wanted, found[""])
    return found


# --- pages ------------------------------------------------------------------------------------------------


def left_out_name(variant, name):
    return f"{variant}__no_{re.sub('[-,]', '_', name)}" if name else variant


def times_of(times, variant, shapes):
    """{what is left out: [[hot, cold] or None for each shape]}"""
    found = {}
    points = {}
    for point in times["points"]:
        if point["k"] == K:
            points.setdefault((point["rows"], point["columns"]), {}).update(point["us"])
    for name in ["", *switches()]:
        us = [points.get(shape, {}).get(left_out_name(variant, name)) for shape in shapes]
        found[name] = us if any(us) else None
    return found


def percent(now, before):
    return f"{100 * (now / before - 1):+.1f} %"


def changed(name, now, before):
    """What is said of a figure: factors of what grew or shrank much, nothing of what hardly changed."""
    if not now or not before or abs(now / before - 1) < (0.0005 if name == "issued" else 0.05):
        return []
    return [f"{percent(now, before)} {name}" if now / before < 1.5 else f"×{now / before:.2g} {name}"]


def effect(found, name, times):
    """One cell: what a kernel is like without something."""
    plain, now = found[""], found[name]
    if not now["compiles"]:
        return "does not compile"
    if now["same"]:
        return "same code"
    if now["result"] != "right":
        return f"**{now['result']}**"
    parts = [part for key in FIGURES if key not in ("PTX", "SASS") for part in changed(key, now[key], plain[key])]
    if times[name] and times[""]:
        both = [(before[0], after[0]) for before, after in zip(times[""], times[name]) if before and after]
        parts += [f"time {', '.join(percent(after, before) for before, after in both)}"]
    return "; ".join(parts) or "no figure changes"


def short_name(variant):
    return "__".join(part for part in variant.split("__") if not re.fullmatch(r"f32|k2048|kany|v4|w\d+", part))


def summary_table(kernels):
    """`kernels`: (variant, shapes, figures, times) of each."""
    what = {**pipeline(), **{name: "all four at once" for name in TOGETHER}, **strategies()}
    lines = [f"| without | what it does | {' | '.join(f'`{short_name(k[0])}`' for k in kernels)} |",
             f"| --- | --- |{' --- |' * len(kernels)}"]
    for name in switches():
        cells = [effect(found, name, times) for _, _, found, times in kernels]
        lines.append(f"| `{name}` | {what[name]} | {' | '.join(cells)} |")
    return lines


def figure(value):
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def detail_table(variant, columns, shapes, found, times, old):
    shown = [name for name in FIGURES if any(f.get(name) for f in found.values())]
    timed = [f"µs {rows} × {n:,}" for rows, n in shapes] if times[""] else []
    note = " (times of an earlier text of the kernel)" if old else ""
    lines = ["", f"`{variant}`, one row of {columns:,}{note}:", "",
             f"| without | {' | '.join([*shown, *timed, 'result'])} |", f"| --- |{' ---: |' * (len(shown) + len(timed))} --- |"]
    for name, now in found.items():
        if not now["compiles"] or (name and now["same"]):
            continue
        us = [f"{pair[0]:.2f} / {pair[1]:.2f}" if pair else "" for pair in times[name] or [None] * len(timed)][:len(timed)]
        cells = [*(figure(now[key]) for key in shown), *us, now["result"]]
        lines.append(f"| {f'`{name}`' if name else 'nothing'} | {' | '.join(cells)} |")
    return lines


def found_variants():
    """(variant, columns, shapes) for every one of KERNELS."""
    known = {v["name"]: {**v, "family": family} for family, grid in grids.grid_files()
             for v in grids.described_variants(grid) if ARCH in v["archs"]}
    for name, columns, shapes in KERNELS:
        if name not in known:
            sys.exit(f"tools/pass_effects.py: no grid has a variant {name}")
        yield known[name], columns, shapes


def generate(arguments):
    times = {"points": [], "sources": ""}
    for path in arguments.times:
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
        times["points"] += read["points"]
        times["sources"] += " " + read["sources"]
    kernels, details = [], []
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(arguments, folder)
        for variant, columns, shapes in found_variants():
            found = measure_kernel(tools, variant, columns)
            us = times_of(times, variant["name"], shapes)
            old = us[""] and found[""]["source"] not in times["sources"].split()
            kernels.append((variant["name"], shapes, found, us))
            details += detail_table(variant["name"], columns, shapes, found, us, old)
    return "\n".join(summary_table(kernels) + details)


def check():
    """The summary's rows are the compiler's passes and strategies, in their order."""
    text = "\n".join(tree.lines(PAGE))
    part = text.partition(f"<!-- {MARK}: begin -->")[2].partition(f"<!-- {MARK}: end -->")[0]
    rows = re.findall(r"^\| `([a-z,-]+)` \|", part.split("\n\n")[1] if "\n\n" in part else "", re.M)
    wrong = [] if rows == list(switches()) else [f"{PAGE}: rows {', '.join(rows)}, expected {', '.join(switches())}"]
    return tree.finish("passes and strategies (run tools/pass_effects.py)", wrong)


def write_grids(folder):
    """One grid a family, beside links to its sources, so that tle-grid finds what they import."""
    by_family = {}
    for variant, _, _ in found_variants():
        by_family.setdefault(variant["family"], []).append(variant)
    for family, grid in grids.grid_files():
        os.makedirs(os.path.join(folder, family), exist_ok=True)
        for path in tree.files([".py"], f"kernels_tle/{family}"):
            link = os.path.join(folder, family, os.path.basename(path))
            if not os.path.lexists(link):
                os.symlink(os.path.join(tree.ROOT, path), link)
        rows = []
        for variant in by_family.get(family, []):
            base = {key: variant[key] for key in ("sig", "const", "legal", "num_warps", "min_ctas") if key in variant}
            names = [{"name": left_out_name(variant["name"], name), "allow_spills": True, **base,
                      **({option.partition("=")[0][2:].replace("-", "_"): name} if option else {})}
                     for name, option in {"": "", **switches()}.items() if name not in NEEDED]
            rows.append({"source": variant["source"], "kernel": variant["kernel"], "variants": names})
        if rows:
            with open(os.path.join(folder, family, "grid.json"), "w", encoding="utf-8") as file:
                json.dump({"schema": 1, "op": grid["op"], "archs": [ARCH], "kernels": rows}, file, indent=1)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--grids", metavar="DIR")
    parser.add_argument("--build", metavar="DIR", default=os.path.join(tree.ROOT, "build", "release"))
    parser.add_argument("--ptxas", metavar="PATH", help="for registers, spills and SASS")
    parser.add_argument("--cuobjdump", metavar="PATH", help="for SASS")
    parser.add_argument("--times", metavar="FILE", action="append", default=[], help="of tle tune --save")
    arguments = parser.parse_args()
    if arguments.check:
        return check()
    if arguments.grids:
        return write_grids(arguments.grids)
    return section.bring_up_to_date(PAGE, MARK, generate(arguments), "tools/pass_effects.py")


if __name__ == "__main__":
    sys.exit(main())
