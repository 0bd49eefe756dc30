"""Links of the pages that lead to files: the file is there, and so is the heading that the link names. Links to
other sites are not followed. Every page of docs/ is in its index."""
import os
import re
import sys

import tree

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
HEADING = re.compile(r"^#+ +(.*?) *#*$", re.M)
INDEX = "docs/README.md"


def read(path):
    return FENCE.sub(lambda block: "\n" * block[0].count("\n"), "\n".join(tree.lines(path)))


def anchors(path):
    """What a link may name in a page, by GitHub's rule for headings."""
    found = []
    for heading in HEADING.findall(read(path)):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower())
        found.append(plain.replace(" ", "-"))
    return set(found)


def problem_of(page, target):
    path, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if not os.path.exists(os.path.join(tree.ROOT, path)):
        return f"there is no {path}"
    if anchor and path.endswith(".md") and anchor not in anchors(path):
        return f"{path} has no heading #{anchor}"
    return None


def problems_of_page(page):
    text = read(page)
    for match in LINK.finditer(text):
        if not re.match(r"[a-z]+:", match[1]):
            problem = problem_of(page, match[1])
            if problem:
                yield f"{page}:{text.count(chr(10), 0, match.start()) + 1}: {problem}"


def not_in_index():
    linked = {target.partition("#")[0] for target in LINK.findall(read(INDEX))}
    for page in tree.files([".md"], "docs"):
        if page != INDEX and os.path.relpath(page, "docs") not in linked:
            yield f"{INDEX}: {page} is missing"


def main():
    problems = [problem for page in tree.files([".md"]) for problem in problems_of_page(page)]
    return tree.finish("links", problems + list(not_in_index()))


if __name__ == "__main__":
    sys.exit(main())
