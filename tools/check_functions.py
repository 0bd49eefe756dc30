"""Measures function lengths and holds them to the gate: at most 1 in 100 over 100 lines.

It reads formatted C, where a function's opening line ends in `{` and its closing brace stands in column 0.
"""
import re
import sys

import tree

LONG = 100
GATE = 0.01
HEAD_START = re.compile(r"^[A-Za-z_]")
NOT_A_FUNCTION = re.compile(r"^(typedef|struct|union|enum|extern \"C\")\b(?!.*\()|=")


def functions(path):
    """Yields (line, name, length) of each function in a file."""
    head, head_line, start = "", 0, None
    for number, line in enumerate(tree.lines(path), 1):
        if start is not None:
            if line.startswith("}"):
                yield start, name, number - start + 1
                start, head = None, ""
            continue
        if HEAD_START.match(line):
            head, head_line = line, number
        elif head and line.startswith(" "):
            head += " " + line.strip()
        else:
            head = ""
        if head.endswith("{") and "(" in head and not NOT_A_FUNCTION.search(head.split("(")[0]):
            start = head_line
            name = re.search(r"(\w+)\s*\(", head).group(1)
        if head.endswith((";", "{", "}")):
            head = ""


def main():
    sizes = []
    for under in ("generator", "lib", "demo"):
        for path in tree.files([".c", ".h"], under):
            sizes += [(length, path, line, name) for line, name, length in functions(path)]
    if not sizes:
        return tree.finish("function lengths", [])
    lengths = sorted(length for length, *_ in sizes)
    long = sorted((s for s in sizes if s[0] > LONG), reverse=True)
    for length, path, line, name in long:
        print(f"{path}:{line}: {name} has {length} lines")
    print(f"{len(lengths)} functions: median {lengths[len(lengths) // 2]}, "
          f"p90 {lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]}; over {LONG}: {len(long)}")
    limit = max(1, int(len(lengths) * GATE))
    problems = []
    if len(long) > limit:
        problems.append(f"{len(long)} functions are over {LONG} lines; the limit is {limit}")
    return tree.finish("function lengths", problems)


if __name__ == "__main__":
    sys.exit(main())
