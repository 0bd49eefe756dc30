"""What `import tle` costs and needs."""
import os
import subprocess
import sys

RUNS, LIMIT_MS = 7, 50


def python(code, **environment):
    result = subprocess.run([sys.executable, "-c", code], text=True, check=False, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={**os.environ, **environment})
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_import_is_fast(tmp_path):
    """The fastest of several fresh processes, with compiled files as an installed package has them."""
    code = ("import time; t = time.perf_counter(); import tle; "
            "print((time.perf_counter() - t) * 1e3)")
    times = [float(python(code, PYTHONDONTWRITEBYTECODE="", PYTHONPYCACHEPREFIX=str(tmp_path)))
             for _ in range(RUNS)]
    assert min(times) < LIMIT_MS, times


def test_import_brings_neither_numpy_nor_torch():
    assert python("import sys, tle; print('numpy' in sys.modules, 'torch' in sys.modules)").split() == [
        "False", "False"]


def test_without_a_library():
    out = python("import tle\ntry: tle.version()\nexcept tle.Error as e: print(e.status.name, e)",
                 TLE_LIBRARY="/nonexistent/libtle.so")
    assert out.startswith("NOT_FOUND libtle.so cannot be opened: /nonexistent/libtle.so")


def test_another_version_is_refused(tmp_path):
    source, library = tmp_path / "old.c", tmp_path / "old.so"
    source.write_text("unsigned tle_version(void) { return 0x000009u; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    out = python("import tle\ntry: tle.build_info()\nexcept tle.Error as e: print(e)",
                 TLE_LIBRARY=str(library))
    assert "is version 0.0.9; this package needs 0.1 or a later one" in out


def test_without_a_driver():
    out = python("import tle\ntry: print(tle.Handle('cuda'))\nexcept tle.Error as e: print(e.status.name)")
    assert out.startswith("<tle.Handle cuda:0") or out.strip() in ("DRIVER_NOT_FOUND", "NO_DEVICE")
