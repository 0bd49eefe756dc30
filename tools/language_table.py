"""The tables of functions in docs/language.md, made from generator/sema/builtin.def.

    tools/language_table.py            rewrites the part of the page between the two markers
    tools/language_table.py --check    fails when that part is not what the table gives
"""
import difflib
import os
import re
import sys

import tree

PAGE = os.path.join(tree.ROOT, "docs", "language.md")
TABLE = os.path.join("generator", "sema", "builtin.def")
METHODS = os.path.join("generator", "sema", "method.def")
BEGIN, END = "<!-- functions: begin -->", "<!-- functions: end -->"
ROW = re.compile(r'X\("([^"]*)", "([^"]*)", \w+, "([^"]*)", "([^"]*)"\)')
HEADING = re.compile(r"/\* --- (.*) --- \*/")
OBJECTS = {"tensor": "x"}  # what a method is shown on, where that is not its namespace


def call(namespace, name, parameters):
    """The function as it is written in a kernel."""
    names = parameters.split(", ")
    shown = ", ".join(names[1:] if names[0] == "self" else names)
    prefix = "" if namespace == "python" else OBJECTS.get(namespace, namespace) + "."
    return f"`{prefix}{name}({shown})`"


def sections():
    """(heading, [(call, text)]) in the order of the table."""
    found = []
    for number, line in enumerate(tree.lines(TABLE), 1):
        heading, row = HEADING.match(line), ROW.match(line)
        if heading:
            found.append((heading[1], []))
        elif row:
            found[-1][1].append((call(row[1], row[2], row[3]), row[4]))
        elif line.startswith("X("):
            sys.exit(f"{TABLE}:{number}: not a row of five columns")
    return found


def methods():
    return re.findall(r'X\("(\w+)"\)', "\n".join(tree.lines(METHODS)))


def generated():
    out = [BEGIN]
    for heading, rows in sections():
        out += ["", f"### {heading[0].upper()}{heading[1:]}", "", "| Function | What it gives |", "| --- | --- |"]
        out += [f"| {function} | {text} |" for function, text in rows]
    names = ", ".join(f"`{name}`" for name in methods())
    out += ["", "### Functions that are methods too", "", f"`x.sum(axis=0)` is `tl.sum(x, axis=0)`; likewise {names}.",
            "", END]
    return "\n".join(out)


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    start, stop = page.find(BEGIN), page.find(END)
    if start < 0 or stop < start:
        sys.exit(f"docs/language.md: no {BEGIN} ... {END}")
    wanted = page[:start] + generated() + page[stop + len(END):]
    if "--check" in sys.argv[1:]:
        diff = list(difflib.unified_diff(page.split("\n"), wanted.split("\n"), "docs/language.md", TABLE, lineterm=""))
        return tree.finish("table of functions (run tools/language_table.py)", diff)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
