"""The programs of the README: at most 30 lines each, as the README shows them, and they run."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").iterdir())
LANGUAGES = {".c": "c", ".cpp": "cpp", ".py": "python"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_is_short_and_in_the_readme(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 30
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    assert (LANGUAGES[path.suffix], text) in blocks


def run(*words, **environment):
    result = subprocess.run([str(w) for w in words], text=True, check=False, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={**os.environ, **environment})
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("name,compiler,standard", [("topk.c", "cc", "c99"), ("topk.cpp", "c++", "c++17")])
def test_compiled(build, tmp_path, name, compiler, standard):
    program = tmp_path / "program"
    run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}",
        ROOT / "examples" / name, f"-L{build / 'lib'}", "-ltle", f"-Wl,-rpath,{build / 'lib'}", "-o", program)
    out = run(program, TLE_DEVICE="emu")
    assert out == "2 4 5\n" if name == "topk.c" else "topk_select__" in out


def test_numpy():
    assert run(sys.executable, ROOT / "examples/topk_numpy.py").count("\n[") == 4


@pytest.mark.gpu
def test_torch():
    assert "torch.int32" in run(sys.executable, ROOT / "examples/topk_torch.py")
