"""Rules for every text file of the tree: UTF-8, no trailing blanks, a final newline, no tabs in C, lines
of C within 100 columns (tables in .def files may be wider), and no absolute path of somebody's machine."""
import os
import re
import sys

import tree

C_SUFFIXES = (".c", ".h", ".cpp")
BINARY_SUFFIXES = (".npy", ".png", ".gz", ".zst", ".bin")
COLUMNS = 100
MACHINE_PATH = re.compile(r"(?<![\w.~$}*-])/(?:work|home|root|Users|mnt)/\w")


def problems_of_line(path, line):
    if line != line.rstrip() and not path.endswith((".md", "LICENSE")):
        yield "trailing blanks"
    if MACHINE_PATH.search(line):
        yield "an absolute path of one machine"
    if path.endswith(C_SUFFIXES):
        if "\t" in line:
            yield "a tab"
        if len(line) > COLUMNS:
            yield f"{len(line)} columns; the limit is {COLUMNS}"


def problems_of_file(path):
    try:
        lines = tree.lines(path)
    except UnicodeDecodeError:
        return [f"{path}: not UTF-8"]
    found = [f"{path}:{number}: {problem}"
             for number, line in enumerate(lines, 1) for problem in problems_of_line(path, line)]
    if lines[-1] != "":
        found.append(f"{path}:{len(lines)}: no newline at the end of the file")
    return found


def main():
    problems = []
    for path in tree.files():
        if "/seeds/" in path:
            continue  # inputs for the fuzzers are whatever they need to be
        if not path.endswith(BINARY_SUFFIXES) and os.path.getsize(os.path.join(tree.ROOT, path)):
            problems += problems_of_file(path)
    return tree.finish("text rules", problems)


if __name__ == "__main__":
    sys.exit(main())
