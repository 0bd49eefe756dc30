"""Compiles every source of the build with clang too, warnings as errors, without code generation.

Usage: check_clang.py CLANG COMPILE_COMMANDS. The build itself uses gcc, so that each change has been read
by two compilers.
"""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

import tree

KEPT = ("-I", "-D", "-std=", "-W", "-isystem")


def clang_command(clang, entry):
    words = shlex.split(entry["command"])
    kept = []
    for i, word in enumerate(words):
        if word == "-isystem":
            kept += [word, words[i + 1]]
        elif word.startswith(KEPT):
            kept.append(word)
    return [clang, *kept, "-Werror", "-fsyntax-only", entry["file"]]


def run(command, entry):
    result = subprocess.run(command, cwd=entry["directory"], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.stdout if result.returncode else None


def main():
    clang, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        entries = [e for e in json.load(file) if e["file"].endswith(".c")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda e: run(clang_command(clang, e), e), entries)
    return tree.finish(f"clang over {len(entries)} files", [r for r in results if r])


if __name__ == "__main__":
    sys.exit(main())
