"""The tables of the README: what a file of results must hold, and what is made of it."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import results_table  # noqa: E402


def row(impl, hot, length=4096, **other):
    return {"op": "topk_select", "shape": {"rows": 1, "len": length}, "dtype": "fp32", "impl": impl, "version": "1",
            "variant": "", "us_hot": hot, "us_cold": 2 * hot, "floor_us": 1.0, "correct": True, "spread": 0.01, **other}


def record(rows, **other):
    return {"schema": 1, "device": "GPU", "driver": "", "cuda": "13.0", "commit": "", "command": "run", "rows": rows,
            **other}


def problems_of(tmp_path, found):
    path = tmp_path / "topk_select-gpu-20260102.json"
    path.write_text(json.dumps(found))
    return results_table.validate(str(path))


def test_accepts_what_the_schema_says(tmp_path):
    nothing_cold = {"us_cold": None, "floor_us": None}
    assert problems_of(tmp_path, record([row("libtle", 10.0), row("peer", 5, **nothing_cold)])) == []


@pytest.mark.parametrize("found, problem", [
    (record([row("libtle", 1.0)], schema=2), "'schema' must be 1"),
    (record([row("libtle", 1.0)], device=None), "'device' is None"),
    (record([]), "there are no rows"),
    (record([row("libtle", "fast")]), "'us_hot' is 'fast'"),
    (record([row("libtle", True)]), "'us_hot' is True"),
    (record([row("libtle", -1.0)]), "'us_hot' is negative"),
    (record([row("libtle", 1.0, extra=1)]), "'extra' is not in the schema"),
    (record([row("libtle", 1.0, correct=None)]), "'correct' is None"),
    (record([row("libtle", 1.0), row("libtle", 2.0)]), "libtle comes twice"),
])
def test_refuses(tmp_path, found, problem):
    assert any(problem in line for line in problems_of(tmp_path, found))


def test_table_has_a_column_for_each_implementation_and_marks_losses():
    rows = [row("b", 5.0), row("libtle", 10.0), row("a", 20.0), row("libtle", 8.0, 8192), row("b", 16.0, 8192)]
    assert results_table.table(rows) == [
        "| Shape | Type | libtle | a | b | a ÷ libtle | b ÷ libtle | Part of the floor |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| rows 1, len 4,096 | fp32 | 10.0 / 20.0 | 20.0 / 40.0 | 5.0 / 10.0 | 2.00 | **0.50** | 5.0 % |",
        "| rows 1, len 8,192 | fp32 | 8.0 / 16.0 | – | 16.0 / 32.0 | – | 2.00 | 6.2 % |"]
    assert results_table.comparison(rows, "b") == "- Against b: faster at 1 of 2 shapes; slower at rows 1, len 4,096."
    assert results_table.comparison(rows, "a") == "- Against a: faster at 1 of 1 shapes."


def test_a_wrong_result_counts_for_nothing():
    rows = [row("libtle", 1.0), row("peer", 0.5, correct=False)]
    assert "| 1.0 / 2.0 | wrong result | – | 50.0 % |" in results_table.table(rows)[-1]
    assert results_table.comparison(rows, "peer") == "- Against peer: faster at 0 of 0 shapes."


def test_our_forced_kernels_are_no_competitors():
    rows = [row("libtle", 4.0), row("libtle, wide forced", 3.0, variant="wide"), row("peer", 8.0), row("libtle", 1.0, 99)]
    assert results_table.table(rows)[0] == (
        "| Shape | Type | libtle | libtle, wide forced | peer | peer ÷ libtle | Part of the floor |")
    assert results_table.forced_text(rows, ["libtle, wide forced"]) == (
        "- What dispatch took was more than 2 % slower than the fastest kernel at 1 of 2 shapes: rows 1, len 4,096 "
        "(wide forced: 3.0 µs).")


def test_noise_and_the_same_kernel_are_no_faster_kernel():
    rows = [row("libtle", 4.0), row("libtle, wide forced", 3.95, variant="wide"), row("libtle, lengths given", 3.0)]
    assert results_table.forced_text(rows, ["libtle, wide forced", "libtle, lengths given"]) == (
        "- What dispatch took was more than 2 % slower than the fastest kernel at 0 of 1 shapes.")
