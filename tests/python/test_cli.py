"""The program `tle` on NumPy's own files: results against NumPy, refusals by sentence and exit status."""
import itertools
import json
import os
import pathlib
import random
import re
import subprocess

import numpy as np
import pytest

TLE = pathlib.Path(os.environ["TLE_BUILD_DIR"]) / "bin" / "tle"


def tle(*words, status=0, **environment):
    result = subprocess.run([str(TLE), *map(str, words)], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, **environment})
    assert result.returncode == status, result.stderr
    return result


def select(scores, k, lengths=None, starts=None):
    """The contract by sorting: NaN greatest, ties to the smallest index, ascending output, -1."""
    rows, columns = scores.shape
    out = np.full((rows, k), -1, np.int32)
    for r in range(rows):
        start = max(int(starts[r]), 0) if starts is not None else 0
        length = int(lengths[r]) if lengths is not None else columns
        length = max(0, min(length, columns - start))
        row = scores[r, start:start + length].astype(np.float64)
        key = np.where(np.isnan(row), -np.inf, -row)
        rank = np.lexsort((np.arange(length), key, ~np.isnan(row)))
        best = np.sort(rank[:k])
        out[r, :len(best)] = best
    return out


def save(tmp_path, name, array):
    path = tmp_path / name
    np.save(path, array)
    return path


@pytest.mark.parametrize("k", [1, 7, 512, 3000])
def test_run_topk(tmp_path, k):
    rng = np.random.default_rng(k)
    scores = rng.standard_normal((3, 2000)).astype(np.float32)
    scores[1, ::50] = np.nan
    scores[2] = np.round(scores[2])
    scores[2, 0] = -np.inf
    out = tmp_path / "out.npy"
    result = tle("run", "topk", "--scores", save(tmp_path, "s.npy", scores), "--k", k,
                 "--out", out, "--verify", "--device", "emu")
    assert "equals a sort's" in result.stderr
    got = np.load(out)
    assert got.dtype == np.int32 and got.shape == (3, k)
    np.testing.assert_array_equal(got, select(scores, k))


def test_halves(tmp_path):
    scores = np.random.default_rng(5).standard_normal((3, 2000)).astype(np.float16)
    out, values = tmp_path / "out.npy", tmp_path / "values.npy"
    words = ["--k", 300, "--out", out, "--values", values, "--verify", "--device", "emu"]
    assert "__f16__" in tle("run", "topk", "--scores", save(tmp_path, "s.npy", scores), *words).stderr
    got = np.load(out)
    np.testing.assert_array_equal(got, select(scores, 300))
    np.testing.assert_array_equal(np.load(values), np.take_along_axis(scores, got, 1))
    bits = (scores.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    path = save(tmp_path, "b.npy", bits)
    assert "__bf16__" in tle("run", "topk", "--scores", path, "--dtype", "bf16", *words).stderr
    got = np.load(out)
    np.testing.assert_array_equal(got, select((bits.astype(np.uint32) << 16).view(np.float32), 300))
    np.testing.assert_array_equal(np.load(values), np.take_along_axis(bits, got, 1))
    assert "<u2" in tle("run", "topk", "--scores", path, *words, status=1).stderr
    text = tle("explain", "topk", "--columns", 4096, "--k", 8192, "--dtype", "bf16", "--align", 2).stdout
    assert "align=2 dtype=bf16" in text and text.splitlines()[-1].startswith("chosen: topk_select__bf16__kany")
    assert "k is 8193" in tle("explain", "topk", "--columns", 9, "--k", 8193, status=1).stdout


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_lengths_and_starts(tmp_path, dtype):
    rng = np.random.default_rng(5)
    scores = rng.standard_normal((5, 301)).astype(np.float32)
    lengths = np.array([-3, 0, 50, 301, 9999], dtype)
    starts = np.array([0, 5, 280, -4, 300], dtype)
    out = tmp_path / "out.npy"
    tle("run", "topk", "--scores", save(tmp_path, "s.npy", scores), "--k", 64,
        "--lengths", save(tmp_path, "l.npy", lengths),
        "--row-starts", save(tmp_path, "r.npy", starts), "--out", out, "--device", "emu")
    np.testing.assert_array_equal(np.load(out), select(scores, 64, lengths, starts))


def test_sorted_values_absolute(tmp_path):
    rng = np.random.default_rng(6)
    scores = rng.standard_normal((3, 301)).astype(np.float32)
    starts = np.array([0, 5, 280], np.int32)
    out, values = tmp_path / "out.npy", tmp_path / "values.npy"
    result = tle("run", "topk", "--scores", save(tmp_path, "s.npy", scores), "--k", 64, "--sorted",
                 "--index-base", "absolute", "--values", values, "--verify", "--out", out, "--device", "emu",
                 "--row-starts", save(tmp_path, "r.npy", starts))
    assert "equals a sort's" in result.stderr and "__form__" in result.stderr
    got, chosen = np.load(out), np.load(values)
    assert chosen.dtype == np.float32 and chosen.shape == (3, 64)
    for r in range(3):
        best = starts[r] + np.argsort(-scores[r, starts[r]:], kind="stable")[:64]
        np.testing.assert_array_equal(got[r, :len(best)], best)
        np.testing.assert_array_equal(chosen[r, :len(best)], scores[r, best])
    assert (got[2, 21:] == -1).all() and (chosen[2, 21:] == -np.inf).all()


def test_pages_and_offsets(tmp_path):
    rng = np.random.default_rng(7)
    scores = save(tmp_path, "s.npy", rng.standard_normal((4, 300)).astype(np.float32))
    lengths = save(tmp_path, "l.npy", np.array([200, 31], np.int32))
    table = rng.integers(0, 99, (2, 19))
    out, raw = tmp_path / "out.npy", tmp_path / "raw.npy"
    common = ["run", "topk", "--scores", scores, "--k", 40, "--lengths", lengths, "--next-n", 2, "--raw-out", raw,
              "--verify", "--out", out, "--device", "emu"]
    tle(*common, "--page-table", save(tmp_path, "t.npy", table), "--page-size", 16)
    plain = select(np.load(scores), 40, np.array([199, 200, 30, 31]))
    np.testing.assert_array_equal(np.load(raw), plain)
    pages = table[[[0], [0], [1], [1]], plain // 16]
    np.testing.assert_array_equal(np.load(out), np.where(plain < 0, -1, pages * 16 + plain % 16))
    offsets = np.array([5, -1000, 1 << 30, 0])
    tle(*common, "--offsets", save(tmp_path, "o.npy", offsets))
    np.testing.assert_array_equal(np.load(out), np.where(plain < 0, -1, plain + offsets[:, None]))
    result = tle(*common, "--page-table", save(tmp_path, "t.npy", table[:, :18]), "--page-size", 16, status=1)
    assert "at least 19 pages" in result.stderr


def test_one_row_as_text(tmp_path):
    scores = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32)
    result = tle("run", "topk", "--scores", save(tmp_path, "s.npy", scores), "--k", 3,
                 "--device", "emu")
    assert result.stdout == "4 5 7\n"
    assert "topk_select__" in result.stderr


@pytest.mark.parametrize("array, words", [
    (np.zeros((2, 2), np.complex64), "'<c8'; known are"),
    (np.zeros((2, 2), np.float64), "the scores are '<f8'; they must be '<f4'"),
    (np.zeros((2, 2), ">f4"), "'>f4'"),
    (np.asfortranarray(np.zeros((2, 3), np.float32)), "Fortran order"),
    (np.zeros((2, 2, 2), np.float32), "3 dimensions"),
    (np.zeros(4, np.int32), "they must be '<f4'"),
    (np.zeros(2, [("a", "<f4"), ("b", "<f4")]), "structured"),
])
def test_scores_refused(tmp_path, array, words):
    path = save(tmp_path, "s.npy", array)
    result = tle("run", "topk", "--scores", path, "--k", 1, status=1)
    assert words in result.stderr and str(path) in result.stderr


def test_truncated_file(tmp_path):
    path = save(tmp_path, "s.npy", np.zeros(100, np.float32))
    path.write_bytes(path.read_bytes()[:-4])
    assert "needs 400 bytes" in tle("run", "topk", "--scores", path, "--k", 1, status=1).stderr


@pytest.mark.parametrize("array, words", [
    (np.zeros(3, np.int32), "the shape must be [2]"),
    (np.zeros(2, np.float32), "they must be '<i4' or '<i8'"),
    (np.array([1, 2 ** 40], np.int64), "does not fit 32 bits"),
])
def test_lengths_refused(tmp_path, array, words):
    scores = save(tmp_path, "s.npy", np.zeros((2, 9), np.float32))
    result = tle("run", "topk", "--scores", scores, "--k", 1,
                 "--lengths", save(tmp_path, "l.npy", array), status=1)
    assert words in result.stderr


@pytest.mark.parametrize("words, status, says", [
    ([], 2, "Usage: tle"),
    (["frob"], 2, "there is no command 'frob'"),
    (["run"], 2, "name an operator"),
    (["run", "sort"], 2, "run: name an operator: topk or radix"),
    (["explain"], 2, "explain: name an operator: topk or radix"),
    (["run", "topk", "--smallest"], 2, "run topk: --smallest is none of its options"),
    (["explain", "radix", "--form"], 2, "explain radix: --form is none of its options"),
    (["run", "radix", "--keys", "x"], 2, "--keys and --k are needed"),
    (["run", "radix", "--keys", "x", "--k", "9000", "--sorted"], 2, "--k is '9000'; it is an integer of 1 to 8192"),
    (["run", "radix", "--keys", "x", "--k", "9", "--payload", "y"], 2, "--payload and --payload-out come together"),
    (["explain", "radix", "--k", "4", "--columns", "9", "--dtype", "fp8"], 2, "--dtype is 'fp8'; known are fp32"),
    (["explain", "radix", "--k", "4"], 2, "--columns and --k are needed"),
    (["run", "topk"], 2, "--scores and --k are needed"),
    (["run", "topk", "--scores", "x", "--k", "0"], 2, "--k is '0'; it is an integer of 1 to 8192"),
    (["run", "topk", "--scores", "x", "--k", "5x"], 2, "--k is '5x'"),
    (["run", "topk", "--scores", "/nowhere.npy", "--k", "5"], 1, "No such file"),
    (["run", "topk", "--scores", "s", "--k", "5", "--page-size", "4"], 2, "come together"),
    (["run", "topk", "--scores", "s", "--k", "5", "--index-base", "one"], 2, "it is relative or absolute"),
    (["run", "topk", "--scores", "/tmp", "--k", "5"], 1, "/tmp: Is a directory"),
    (["run", "topk", "--bogus"], 2, "tle: run: '--bogus' is no option"),
    (["run", "topk", "--scores", "x", "--k"], 2, "tle: run: '--k' is no option, or lacks its value"),
    (["list", "topk_select", "extra"], 2, "'extra' is not expected"),
    (["list", "sort"], 1, "there is no operator 'sort'"),
    (["list", "--device", "tpu"], 2, "--device is 'tpu'"),
    (["dump"], 2, "name a variant"),
    (["dump", "x", "--ptx", "--tir"], 2, "name one part, not 2"),
    (["dump", "nothing"], 1, "there is no variant 'nothing'"),
    (["explain", "topk", "--k", "4"], 2, "--columns and --k are needed"),
    (["explain", "topk", "--k", "4", "--columns", "9", "--align", "12"], 2, "a power of two"),
    (["check", "--device", "emu", "--dispatch", "/nowhere.json"], 1, "cannot be opened"),
])
def test_usage(words, status, says):
    assert says in tle(*words, status=status).stderr


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["info"], ["list"]])
def test_full_output(words):
    with open("/dev/full", "w", encoding="ascii") as full:
        result = subprocess.run([str(TLE), *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == "tle: standard output cannot be written\n"


def test_explain(tmp_path):
    text = tle("explain", "topk", "--rows", 4, "--columns", 4096, "--k", 512).stdout
    assert text.splitlines()[0].startswith("topk_select for sm_90a: rows=4 columns=4096 k=512 align=16")
    chosen = text.splitlines()[-1].removeprefix("chosen: ")
    assert "refused: k is 0" in tle("explain", "topk", "--columns", 9, "--k", 0, status=1).stdout
    names = [v["name"] for v in json.loads(tle("list", "--json").stdout)]
    assert chosen in names
    other = next(n for n in names if "f32__kany__radix__v1" in n)
    forced = tle("explain", "topk", "--columns", 4096, "--k", 512, TLE_FORCE_VARIANT=other).stdout
    assert forced.endswith(f"chosen: {other}\n")
    overlay = tmp_path / "overlay.json"
    overlay.write_text(json.dumps({"schema": 1, "op": "topk_select", "rules": [{"variant": other}]}))
    asked = tle("explain", "topk", "--columns", 4096, "--k", 512, "--dispatch", overlay).stdout
    assert asked.endswith(f"chosen: {other}\n") and str(overlay) in asked


ENDS = (1, 16, 67, 5000, 2**31 - 1)


@pytest.mark.parametrize("arch", ["sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"])
def test_the_tables_have_a_rule_for_every_call(arch):
    calls = [("topk", rows, columns, k, "--dtype", dtype, "--align", align, *form)
             for rows, columns, k, dtype, align, form in itertools.product(
                 ENDS, (4097, 2**21 + 1, 2**31 - 1), (7, 2048, 4096, 8192), ("fp32", "bf16"), (16,), ((), ("--form",)))]
    calls += [("topk", 1, 5001, 512, "--dtype", dtype, "--align", align) for dtype, align in (("fp32", 4), ("fp16", 2), ("bf16", 8))]
    if arch == "sm_90a":
        calls += [("radix", rows, columns, k, "--dtype", dtype, *order) for rows, columns, k, dtype, order in itertools.product(
            ENDS, (100, 2**31 - 1), (4096, 8192), ("fp32", "i64"), ((), ("--sorted",)))]
    calls = [call for call in calls if call[1] * call[2] < 2**60]  # as many bytes have addresses
    for op, rows, columns, k, *words in random.Random(arch).sample(calls, 40):
        text = tle("explain", op, "--device", "none", "--arch", arch, "--rows", rows, "--columns", columns, "--k", k, *words).stdout
        assert re.search(r"^by rule \d+ of table dispatch/", text, re.M), (op, rows, columns, k, words)
        assert "skipped" not in text


def test_list_and_dump(tmp_path):
    variants = json.loads(tle("list", "topk_select", "--json").stdout)
    name = variants[0]["name"]
    assert name in tle("list").stdout
    meta = json.loads(tle("dump", name, "--meta").stdout)
    assert meta["name"] == name and meta["threads"] == variants[0]["threads"]
    ptx = tle("dump", name, "--ptx").stdout
    assert f".entry {meta['kernel']}" in ptx
    assert meta["kernel"] in tle("dump", name, "--tir").stdout
    out = tmp_path / "k.ptx"
    tle("dump", name, "--ptx", "--out", out)
    assert out.read_text() == ptx


def test_info_and_env():
    info = tle("info").stdout
    assert info.startswith("libtle 0.1.0") and "build id" in info
    env = tle("env", TLE_LOG="error").stdout
    assert "TLE_LOG=error\n" in env and "TLE_DEVICE=" in env
    commands = re.findall(r"^  (\w+) ", tle("--help").stdout, re.M)
    assert {"info", "run", "tune", "env"} <= set(commands)
    for command in commands:
        assert tle(command, "--help").stdout.startswith(f"Usage: tle {command}")


def test_check():
    assert " 0 of " in " " + tle("check", "--quick", "--device", "emu").stdout.splitlines()[-1]
