"""Checks who may include whom.

generator/: a layer may include itself and the layers before it; sema may include ir too, since it builds
TIR, and so ir may not include sema. LLVM's headers belong to codegen. lib/: itself, generator's base and
the public headers; emu stands alone on base. include/tle: nothing but <stddef.h> and <stdint.h>.
Quoted includes are written from the layer root ("ir/ir.h"), or name a file of the same folder.
"""
import os
import re
import sys

import tree

ORDER = "base source lex ast parse sema ir analysis pass codegen emit driver".split()
LIB_FOLDERS = {
    "api": {"api", "core", "device", "base", "tle"},
    "core": {"core", "device", "base", "tle"},
    "device": {"device", "core", "base", "tle"},
    "emu": {"emu", "base", "tle"},
    "cli": {"cli", "base", "tle"},
}
LLVM_LAYERS = {"codegen"}
GENERATED = {"operators.def"}
PUBLIC_SYSTEM_HEADERS = {"stddef.h", "stdint.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def allowed_in_generator(layer):
    allowed = set(ORDER[: ORDER.index(layer) + 1])
    if layer == "sema":
        allowed.add("ir")
    if layer == "ir":
        allowed.discard("sema")
    return allowed


def problem_of(path, quote, target):
    """The rule that an include line breaks, or None."""
    parts = path.split("/")
    if parts[0] == "include":
        allowed = PUBLIC_SYSTEM_HEADERS
        if target not in allowed and not target.startswith("tle/"):
            return f"a public header may not include {target}"
        return None
    layer = parts[1]
    if target.startswith("llvm-c/") or target.startswith("llvm/"):
        return None if layer in LLVM_LAYERS else f"{layer} may not use LLVM's headers"
    if quote == "<" or target in GENERATED:
        return None
    if "/" not in target:
        beside = os.path.join(tree.ROOT, os.path.dirname(path), target)
        return None if os.path.exists(beside) else f'"{target}" is not in the same folder'
    if parts[0] == "generator":
        allowed = allowed_in_generator(layer) if layer in ORDER else set()
    else:
        allowed = LIB_FOLDERS.get(layer, set(LIB_FOLDERS) - {"emu"} | {layer, "base", "tle"})
    area = target.split("/")[0]
    return None if area in allowed else f'{parts[0]}/{layer} may not include "{target}"'


def main():
    problems = []
    for under in ("generator", "lib", "include"):
        for path in tree.files([".c", ".h", ".def"], under):
            for number, line in enumerate(tree.lines(path), 1):
                match = INCLUDE.match(line)
                problem = match and path.count("/") > 1 and problem_of(path, *match.groups())
                if problem:
                    problems.append(f"{path}:{number}: {problem}")
    return tree.finish("include rules", problems)


if __name__ == "__main__":
    sys.exit(main())
