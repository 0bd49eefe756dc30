"""Checks that every C and C++ file is as clang-format would write it. Usage: check_format.py CLANG_FORMAT"""
import os
import subprocess
import sys

import tree


def main():
    paths = list(tree.files([".c", ".h", ".cpp"]))
    result = subprocess.run(
        [sys.argv[1], "--dry-run", "-Werror", "--ferror-limit=3", *paths],
        cwd=tree.ROOT, stderr=subprocess.PIPE, text=True, check=False,
    )
    problems = [line for line in result.stderr.splitlines() if "error:" in line]
    if result.returncode != 0 and not problems:
        problems = [result.stderr]
    return tree.finish(f"format of {len(paths)} files", problems)


if __name__ == "__main__":
    os.chdir(tree.ROOT)
    sys.exit(main())
