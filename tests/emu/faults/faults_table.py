"""The table of who finds which planted fault, from the logs of sanitize.sh.

Usage: faults_table.py LOGS [DOCUMENT]

Prints it, or puts it into a Markdown document between <!-- faults --> and <!-- /faults -->. That the
emulator finds each fault, and nothing in a twin, is what
tests/unit/test_emu_faults.c and test_emu_async_faults.c assert.
"""

import collections
import pathlib
import re
import sys

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]


def read_logs(folder):
    """named[tool] = kernels a tool complained of; codes[tool] = {(index, variant): code}."""
    named = collections.defaultdict(set)
    codes = collections.defaultdict(dict)
    for log in sorted(folder.glob("*.log")):
        tool = log.name.split(".")[0]
        text = log.read_text(errors="replace")
        for index, variant, code in re.findall(r"^case (\d+) (\w+) (-?\d+)", text, re.M):
            codes[tool][int(index), variant] = int(code)
        if tool == "plain":
            continue
        for line in text.splitlines():
            if line.startswith("========="):
                named[tool].update(re.findall(r"\b([ft]\d+)(?=[+(\s]|$)", line))
    return named, codes


def outcome(code):
    return {None: "not run", 0: "silent", -1: "hangs", -2: "hangs", 218: "refused"}.get(code, f"error {code}")


def table(folder):
    cases = [line.split("\t") for line in (folder / "list.tsv").read_text().splitlines()]
    named, codes = read_logs(folder)
    totals = collections.Counter()
    lines = ["| fault | report | emulator | " + " | ".join(TOOLS) + " | bare GPU |",
             "| --- | --- | --- |" + " --- |" * (len(TOOLS) + 1)]
    for index, name, kind in cases:
        found = [f"f{index}" in named[tool] for tool in TOOLS]
        bare = outcome(codes["plain"].get((int(index), "faulty")))
        totals.update(tool for tool, hit in zip(TOOLS, found) if hit)
        totals.update(["any"] if any(found) else [])
        totals.update(["silent"] if bare == "silent" else [])
        marks = ["yes" if hit else "" for hit in found]
        lines.append(f"| {name} | {kind.lower()} | yes | " + " | ".join(marks) + f" | {bare} |")
    noisy = [name for index, name, _ in cases for tool in TOOLS if f"t{index}" in named[tool]]
    summary = (f"Of {len(cases)} faults the emulator finds {len(cases)}, the four tools together "
               f"{totals['any']} (" + ", ".join(f"{t} {totals[t]}" for t in TOOLS) +
               f"), and {totals['silent']} run to their end on the bare GPU without a word.")
    twins = ("No tool complains of a repaired twin." if not noisy else
             "Twins that a tool complains of: " + ", ".join(sorted(set(noisy))) + ".")
    return "\n".join([summary + " " + twins, ""] + lines)


def main():
    text = table(pathlib.Path(sys.argv[1]))
    if len(sys.argv) < 3:
        print(text)
        return
    document = pathlib.Path(sys.argv[2])
    begin, end = "<!-- faults -->\n", "<!-- /faults -->"
    before, rest = document.read_text().split(begin, 1)
    document.write_text(before + begin + text + "\n" + end + rest.split(end, 1)[1])


if __name__ == "__main__":
    main()
