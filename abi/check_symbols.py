"""Compares the symbols that libraries export with abi/symbols.txt.

Usage: check_symbols.py [--update] NM SYMBOLS.txt LIBRARY...
A line is "<soname> <symbol>@@<version>". A symbol that has gone breaks programs; one that came is public
from the release on, so it is recorded on purpose, with --update.
"""
import difflib
import pathlib
import re
import subprocess
import sys

HEAD = "# Exported symbols, checked by the test abi.symbols; abi/check_symbols.py --update writes this file.\n"


def exported(nm, library):
    soname = re.sub(r"(\.so\.\d+)\..*$", r"\1", pathlib.Path(library).resolve().name)
    text = subprocess.run([nm, "-D", "--defined-only", library], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    symbols = (line.split()[1:] for line in text.splitlines())
    return [f"{soname} {name}\n" for kind, name in symbols if kind != "A"]


def main():
    words = sys.argv[1:]
    update = words[0] == "--update"
    nm, path, *libraries = words[update:]
    found = [HEAD, *sorted(line for library in libraries for line in exported(nm, library))]
    if update:
        pathlib.Path(path).write_text("".join(found), encoding="utf-8")
        return 0
    recorded = pathlib.Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    difference = list(difflib.unified_diff(recorded, found, "recorded", "exported", n=0))
    sys.stdout.writelines(difference)
    print(f"{len(found) - 1} symbols")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
