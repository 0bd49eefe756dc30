"""Checks the linked files for mutable globals and for exports without the project's prefix.

Usage: check_globals.py FILE... Names that may be writable stand in writable_globals.txt, each with its
reason; read-only data that only needs relocation (.data.rel.ro) does not count.
"""
import os
import re
import subprocess
import sys

import tree

WRITABLE_SECTIONS = re.compile(r"^\.(data|bss|tdata|tbss)(\.(?!rel\.ro).*)?$")
TOOLCHAIN = re.compile(r"^(_.*|completed\.\d+|data_start|(stdin|stdout|stderr|environ|opt\w+)(@.*)?)$")
EXPORT_PREFIX = "tle_"


def allowed_names():
    path = os.path.join("tools", "writable_globals.txt")
    return {line.split()[0] for line in tree.lines(path) if line.strip() and line[0] != "#"}


def nm(*arguments):
    return subprocess.run(["nm", "-f", "sysv", *arguments], text=True, check=True,
                          stdout=subprocess.PIPE).stdout.splitlines()


def rows(output):
    """Yields (name, section) of each symbol in nm's table."""
    for line in output:
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 7 and fields[0] != "Name":
            yield fields[0], fields[6]


def writable(path):
    for name, section in rows(nm("--defined-only", path)):
        if WRITABLE_SECTIONS.match(section) and not TOOLCHAIN.match(name):
            yield name


def main():
    allowed = allowed_names()
    problems = []
    for path in sys.argv[1:]:
        base = os.path.basename(path)
        problems += [f"{base}: {name} is a writable global that writable_globals.txt does not allow"
                     for name in writable(path) if re.sub(r"\.\d+$", "", name) not in allowed]
        if ".so" in base:
            problems += [f"{base}: exports {name}, which lacks the prefix {EXPORT_PREFIX}"
                         for name, _ in rows(nm("-D", "--defined-only", path))
                         if not name.lower().startswith(EXPORT_PREFIX)]
    return tree.finish("globals", problems)


if __name__ == "__main__":
    sys.exit(main())
