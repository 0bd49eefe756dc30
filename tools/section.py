"""Parts of pages that are made from data: what lies between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""
import difflib
import os
import sys

import tree


def bring_up_to_date(page, name, text, tool):
    """Puts the text into the page's part of that name. With --check among the arguments it changes nothing and
    fails when the part is another one. Returns the exit status."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    path = os.path.join(tree.ROOT, page)
    with open(path, encoding="utf-8") as file:
        old = file.read()
    start, stop = old.find(begin), old.find(end)
    if start < 0 or stop < start:
        sys.exit(f"{page}: no {begin} ... {end}")
    new = f"{old[:start]}{begin}\n\n{text.strip()}\n\n{old[stop:]}"
    if "--check" in sys.argv[1:]:
        diff = list(difflib.unified_diff(old.split("\n"), new.split("\n"), page, tool, lineterm=""))
        return tree.finish(f"{name} in {page} (run {tool})", diff)
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)
    return 0
