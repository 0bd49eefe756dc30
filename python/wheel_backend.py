"""PEP 517 build backend of the Python package: standard library only, no network.

The wheel is py3-none-manylinux: ctypes code and, in tle/_lib, libtle.so, libtle_emu.so, external packs if
there are any, and the third-party libraries that those need and a manylinux system need not have. The
libraries come from the build tree that TLE_BUILD_DIR or --config-settings=build-dir=DIR names, else from
a release build of this source tree, made here by CMake. The same inputs give the same bytes.
"""
import base64
import glob
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import time
import zipfile

import elf

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "tle"
NAME, SUMMARY = "libtle", "GPU operators for large language model inference, compiled ahead of time"

# Libraries that every manylinux system has (PEP 600's policies agree on these).
SYSTEM_LIBRARIES = re.compile(r"(lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+)|ld-linux[-\w]*)\.so\.\d+$")
SOURCE_FOLDERS = ("abi", "bench", "cmake", "demo", "docs", "examples", "generator", "include",
                  "kernels_tle", "lib", "man", "python", "tests", "third_party", "tools")


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(tle VERSION ([0-9.]+)", text).group(1)


def metadata():
    description = (ROOT / "README.md").read_text(encoding="utf-8")
    return (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\nSummary: {SUMMARY}\n"
            "License: Apache-2.0\nLicense-File: LICENSE\nRequires-Python: >=3.9\n"
            "Classifier: Typing :: Typed\nDescription-Content-Type: text/markdown\n\n" + description)


def wheel_text(tag):
    return f"Wheel-Version: 1.0\nGenerator: wheel_backend\nRoot-Is-Purelib: false\nTag: {tag}\n"


# ---- the libraries ----

def build_directory(settings):
    """A build tree with the libraries in it, built if none was named."""
    named = (settings or {}).get("build-dir") or os.environ.get("TLE_BUILD_DIR")
    if named:
        return pathlib.Path(named)
    build = ROOT / "build" / "wheel"
    subprocess.run(["cmake", "--preset", "release", "-B", str(build), "-DTLE_BUILD_TESTS=OFF",
                    "-DTLE_BUILD_BENCH=OFF", "-DTLE_BUILD_TOOLS=OFF"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", str(build), "--target", "tle", "tle_emu"], check=True)
    return build


def resolved(path):
    """{name: path} of the libraries the dynamic loader would take for one."""
    lines = subprocess.run(["ldd", str(path)], check=True, text=True, stdout=subprocess.PIPE).stdout
    return dict(re.findall(r"^\s*(\S+) => (/\S+)", lines, re.MULTILINE))


def third_party(libraries):
    """{name: path} of what the libraries need beyond a manylinux system and each other."""
    found, pending = {}, list(libraries)
    while pending:
        path = pending.pop()
        places = resolved(path)
        for name in elf.Elf(path).needed:
            if SYSTEM_LIBRARIES.match(name) or name.startswith("libtle") or name in found:
                continue
            if name not in places:
                sys.exit(f"wheel: {path} needs {name}, which is not on this system")
            found[name] = places[name]
            pending.append(found[name])
    return found


def licence_of(name):
    """The licence text that the system keeps of a library, or a refusal: it must go with the copy."""
    stem = name.split(".so")[0]
    for pattern in (f"/usr/share/doc/{stem}*/copyright", f"/usr/share/licenses/{stem[3:]}*/*"):
        for path in sorted(glob.glob(pattern)):
            return pathlib.Path(path).read_bytes()
    return sys.exit(f"wheel: no licence text of {name} is installed, so it cannot be put into the wheel")


def collect_libraries(build):
    """({name in the wheel: bytes}, platform tag)."""
    own = [build / "lib" / name for name in ("libtle.so", "libtle_emu.so")]
    for path in own:
        if not path.exists():
            sys.exit(f"wheel: {path} does not exist; build the targets tle and tle_emu first")
    others = third_party(own)
    files = {f"tle/_lib/{path.name}": path.read_bytes() for path in own}
    for name, path in others.items():
        files[f"tle/_lib/{name}"] = pathlib.Path(path).read_bytes()
        files[f"{dist_info()}/licenses/{name.split('.so')[0]}"] = licence_of(name)
    for path in sorted((build / "lib" / "tle" / "packs").glob("*.tlepack")):
        files[f"tle/_lib/tle/packs/{path.name}"] = path.read_bytes()
    elves = [elf.Elf(path) for path in (*own, *others.values())]
    return files, "manylinux_{}_{}_{}".format(*elf.glibc_needed(elves), elves[0].machine)


# ---- wheels ----

def dist_info():
    return f"{NAME}-{version()}.dist-info"


def timestamp():
    seconds = max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800)  # a zip's first day
    return time.gmtime(seconds)[:6]


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def write_wheel(directory, tag, files):
    """files is {name: bytes}; the metadata and the record are added. Returns the file's name."""
    info = dist_info()
    files = {**files, f"{info}/METADATA": metadata().encode(), f"{info}/WHEEL": wheel_text(tag).encode(),
             f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes()}
    record = "".join(record_line(name, files[name]) for name in sorted(files)) + f"{info}/RECORD,,\n"
    name = f"{NAME}-{version()}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in (*sorted(files.items()), (f"{info}/RECORD", record.encode())):
            entry = zipfile.ZipInfo(member, timestamp())
            entry.external_attr = (0o100755 if ".so" in member else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files, platform = collect_libraries(build_directory(config_settings))
    for path in sorted(PACKAGE.iterdir()):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            files[f"tle/{path.name}"] = path.read_bytes()
    return write_wheel(wheel_directory, f"py3-none-{platform}", files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The source tree's package itself, which finds the libraries of its release build."""
    return write_wheel(wheel_directory, "py3-none-any", {f"{NAME}.pth": f"{PACKAGE.parent}\n".encode()})


# ---- source distribution ----

def source_files():
    for path in sorted(ROOT.iterdir()):
        if path.is_file() and (path.suffix or not path.name.startswith(".")) or path.name == ".clang-format":
            yield path
    for folder in SOURCE_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def build_sdist(sdist_directory, config_settings=None):
    base = f"{NAME}-{version()}"
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as archive:
        def add(name, data, mode):
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size, entry.mode = len(data), mode
            archive.addfile(entry, io.BytesIO(data))
        add("PKG-INFO", metadata().encode(), 0o644)
        for path in source_files():
            mode = 0o755 if os.access(path, os.X_OK) else 0o644
            add(path.relative_to(ROOT).as_posix(), path.read_bytes(), mode)
    return base + ".tar.gz"
