"""The tables of functions in docs/language.md, made from generator/sema/builtin.def.

    tools/language_table.py            rewrites the part of the page between the two markers
    tools/language_table.py --check    fails when that part is not what the table gives
"""
import os
import re
import sys

import section
import tree

TABLE = os.path.join("generator", "sema", "builtin.def")
METHODS = os.path.join("generator", "sema", "method.def")
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
    out = []
    for heading, rows in sections():
        out += ["", f"### {heading[0].upper()}{heading[1:]}", "", "| Function | What it gives |", "| --- | --- |"]
        out += [f"| {function} | {text} |" for function, text in rows]
    names = ", ".join(f"`{name}`" for name in methods())
    out += ["", "### Functions that are methods too", "", f"`x.sum(axis=0)` is `tl.sum(x, axis=0)`; likewise {names}.", ""]
    return "\n".join(out)


def main():
    return section.bring_up_to_date("docs/language.md", "functions", generated(), "tools/language_table.py")


if __name__ == "__main__":
    sys.exit(main())
