"""Walks the project's own files, in a fixed order and without needing git."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED_FOLDERS = {".git", ".cache", "third_party", "__pycache__", ".pytest_cache", "out"}


def files(suffixes=None, under=""):
    """Yields paths relative to the root whose names end in one of the suffixes (None: all)."""
    for folder, subfolders, names in os.walk(os.path.normpath(os.path.join(ROOT, under))):
        at_root = folder == ROOT
        subfolders[:] = sorted(
            s for s in subfolders
            if s not in SKIPPED_FOLDERS and not (at_root and s.startswith("build"))
        )
        for name in sorted(set(names) - SKIPPED_FOLDERS):  # .git is a file in a linked work tree
            path = os.path.join(folder, name)
            if os.path.isfile(path) and (suffixes is None or name.endswith(tuple(suffixes))):
                yield os.path.relpath(path, ROOT)


def lines(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read().split("\n")


def finish(what, problems):
    """Prints the problems and returns the exit status."""
    for problem in problems:
        print(problem)
    print(f"{what}: {len(problems)} problem(s)")
    return 1 if problems else 0
