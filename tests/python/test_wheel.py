"""The wheel of this build: made by pip without a network, installed elsewhere, and used from there."""
import base64
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest

SELECT = """
import numpy, sys, tle
x = numpy.array([[3, 1, 4, 1, 5, 9]], numpy.float32)
print(tle.topk_select(x, 3, handle=tle.Handle("emu")).tolist(), tle.library_path())
"""
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("TLE_", "PYTHONPATH", "PIP_"))}


def run(*words, **more):
    environment = {**CLEAN, **more.pop("environment", {})}
    result = subprocess.run([str(w) for w in words], text=True, check=False, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=environment, **more)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if "TLE_BUILD_DIR" not in os.environ:
        pytest.skip("TLE_BUILD_DIR names no build tree")
    folder = tmp_path_factory.mktemp("wheel")
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    run(sys.executable, "-m", "pip", "wheel", root, "--no-deps", "--no-index", "-w", folder,
        "--disable-pip-version-check", environment={"TLE_BUILD_DIR": os.environ["TLE_BUILD_DIR"]})
    made, = folder.iterdir()
    return made


def test_tag_is_the_libraries_own(wheel, build):
    match = re.fullmatch(r"libtle-[\d.]+-py3-none-manylinux_2_(\d+)_x86_64\.whl", wheel.name)
    assert match, wheel.name
    asked = {0}
    with zipfile.ZipFile(wheel) as archive:
        libraries = [n for n in archive.namelist() if ".so" in n]
        for name in libraries:
            path = wheel.parent.parent / "one.so"
            path.write_bytes(archive.read(name))
            asked |= {int(m) for m in re.findall(r"GLIBC_2\.(\d+)", run("readelf", "-VW", path))}
    assert int(match.group(1)) == max(asked)
    assert {"tle/_lib/libtle.so", "tle/_lib/libtle_emu.so"} <= set(libraries)


def test_record(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        record_name, = [n for n in names if n.endswith(".dist-info/RECORD")]
        rows = [line.split(",") for line in archive.read(record_name).decode().splitlines()]
        assert [row[0] for row in rows] == names
        for name, digest, size in rows[:-1]:
            data = archive.read(name)
            found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={found}", str(len(data)))
        wheel_text = archive.read(record_name.replace("RECORD", "WHEEL")).decode()
    assert f"Tag: {wheel.stem.split('-', 2)[2]}\n" in wheel_text


def test_installed_elsewhere(wheel, tmp_path):
    """Without TLE_LIBRARY, without the source tree, in a fresh environment."""
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", tmp_path / "site", wheel,
        "--disable-pip-version-check")
    out = run(sys.executable, "-c", SELECT, cwd=tmp_path, environment={"PYTHONPATH": str(tmp_path / "site")})
    assert out.startswith("[[2, 4, 5]] ") and str(tmp_path / "site" / "tle" / "_lib") in out


def test_bundled_libraries_are_used(wheel, tmp_path):
    """The third-party libraries that a system may lack come from the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    out = run(sys.executable, "-c", "import tle; tle.version(); print(open('/proc/self/maps').read())",
              cwd=tmp_path, environment={"PYTHONPATH": str(tmp_path)})
    for path in (tmp_path / "tle" / "_lib").iterdir():
        assert path.name == "libtle_emu.so" or str(path) in out, path


def test_same_bytes_again(wheel, tmp_path, root):
    run(sys.executable, "-c", f"import wheel_backend; wheel_backend.build_wheel({str(tmp_path)!r})",
        environment={"PYTHONPATH": str(root / "python"), "TLE_BUILD_DIR": os.environ["TLE_BUILD_DIR"]})
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_a_missing_library_is_named(tmp_path, root):
    result = subprocess.run(
        [sys.executable, "-c", f"import wheel_backend; wheel_backend.build_wheel({str(tmp_path)!r})"],
        env={**CLEAN, "PYTHONPATH": str(root / "python"), "TLE_BUILD_DIR": str(tmp_path)}, text=True,
        stderr=subprocess.PIPE, check=False)
    assert result.returncode and "libtle.so does not exist; build the targets" in result.stderr


def test_source_distribution(tmp_path, root):
    code = f"import wheel_backend; print(wheel_backend.build_sdist({str(tmp_path)!r}))"
    name = run(sys.executable, "-c", code, environment={"PYTHONPATH": str(root / "python")}).strip()
    with tarfile.open(tmp_path / name) as archive:
        names = {n.split("/", 1)[1] for n in archive.getnames()}
    assert {"PKG-INFO", "pyproject.toml", "CMakeLists.txt", "CMakePresets.json", "LICENSE", "lib/tle.map",
            "python/wheel_backend.py", "include/tle/tle.h", "kernels_tle/topk/grid.json"} <= names
    assert not [n for n in names if n.startswith((".git/", "build"))]
