"""Compiles kernels of other projects, as their files are, and says which ones compile.

    foreign.py --folder DIR --spec tests/foreign/flagtree.json --tlec BUILD/bin/tlec [--output DIR] [--only TEXT]

DIR holds the projects' files as DIR/<owner>/<repository>/<path>; they are never part of this tree. The
JSON names the files, and for every kernel the variants: types of the run-time arguments, constants and
warps, as its own host code would choose them. A file that is absent is skipped. With --output the PTX
and the metadata of every variant are kept. The exit status is 0 unless --require is given and a variant
that is not marked as refused does not compile.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

FIRST_ERROR = re.compile(r"^(.*): error(?:\[[^\]]*\])?: (.*)$", re.MULTILINE)


def literal(value):
    """A Python literal for --const; a string that starts with '=' is taken as it is."""
    return value[1:] if isinstance(value, str) and value.startswith("=") else repr(value)


def source_path(folder, source):
    return pathlib.Path(folder) / source["repository"] / source["path"]


def command_of(tlec, path, source, kernel, variant, folder):
    signature = ", ".join(f"{name}:{kind}" for name, kind in variant["sig"].items())
    command = [str(tlec), str(path), "--kernel", kernel, "--sig", signature, "--num-warps", str(variant.get("num_warps", 4)),
               "--source-root", str(pathlib.Path(folder) / source["repository"])]
    for name, value in variant.get("const", {}).items():
        command += ["--const", f"{name}={literal(value)}"]
    if "import_root" in source:
        command += ["--import-root", str(pathlib.Path(folder) / source["repository"] / source["import_root"])]
    return command


def compile_variant(tlec, path, source, kernel, variant, folder):
    """(ptx, metadata, None) or (None, None, first diagnostic)."""
    command = command_of(tlec, path, source, kernel, variant, folder)
    parts = []
    for emit in ("ptx", "meta"):
        done = subprocess.run(command + ["--emit", emit], capture_output=True, text=True, check=False)
        if done.returncode:
            found = FIRST_ERROR.search(done.stderr)
            return None, None, f"{found.group(1)}: {found.group(2)}" if found else done.stderr.strip() or f"exit status {done.returncode}"
        parts.append(done.stdout)
    return parts[0], json.loads(parts[1]), None


def variants(spec):
    """(source, kernel name, variant) for every row of a specification."""
    for source in spec["sources"]:
        for kernel in source["kernels"]:
            for variant in kernel["variants"]:
                yield source, kernel["kernel"], variant


def label(source, kernel, variant):
    return f"{source['path']} {kernel} {variant['name']}"


def keep(output, source, kernel, variant, ptx, meta):
    stem = re.sub(r"\W+", "-", label(source, kernel, variant))
    (output / f"{stem}.ptx").write_text(ptx, encoding="utf-8")
    (output / f"{stem}.json").write_text(json.dumps(meta, indent=1), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--spec", required=True)
    parser.add_argument("--tlec", required=True)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--only", default="", help="variants whose line holds this text")
    parser.add_argument("--require", action="store_true")
    options = parser.parse_args()
    spec = json.loads(pathlib.Path(options.spec).read_text(encoding="utf-8"))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
    counts = {"compiled": 0, "refused": 0, "absent": 0}
    unexpected = 0
    for source, kernel, variant in variants(spec):
        name, path = label(source, kernel, variant), source_path(options.folder, source)
        if options.only not in name:
            continue
        if not path.exists():
            print(f"absent    {name}")
            counts["absent"] += 1
            continue
        ptx, meta, error = compile_variant(options.tlec, path, source, kernel, variant, options.folder)
        outcome = "refused" if error else "compiled"
        counts[outcome] += 1
        unexpected += bool(error) and "refused" not in variant
        print(f"{outcome:<9} {name}" + (f"\n          {error}" if error else f" ({meta['ptx_instructions']} instructions)"), flush=True)
        if options.output and not error:
            keep(options.output, source, kernel, variant, ptx, meta)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if options.require and unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
