"""`tle tune` from end to end: on a driver written for the test (fake_cuda.c), whose times follow from the kernels'
grids and blocks, and from a file of timings."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import grids  # noqa: E402

BUILD = pathlib.Path(os.environ["TLE_BUILD_DIR"])
TLE = BUILD / "bin" / "tle"
FAKE = pathlib.Path(__file__).with_name("fake_cuda.c")


def tle(*words, status=0, **environment):
    result = subprocess.run([str(TLE), *map(str, words)], text=True, check=False, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={**os.environ, **environment})
    assert result.returncode == status, result.stderr
    return result


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fake")
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-O1", "-Wl,-soname,libcuda.so.1", "-o", folder / "libcuda.so.1", FAKE],
                   check=True)
    if "ptxas none" in tle("info").stdout:
        pytest.skip("the library holds no cubins")
    old = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": f"{folder}:{old}" if old else str(folder)}


@pytest.fixture(scope="module")
def tuned(driver, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    result = tle("tune", "topk", "--device", "cuda", "--quick", "--out", folder / "table.json", "--save",
                 folder / "times.json", **driver)
    assert re.search(r"\d+ points, \d+ rules, \d+ of \d+ variants; at worst [0-3]\.\d % behind", result.stderr)
    return folder


def test_the_table_is_the_smallest_that_is_near_enough(tuned):
    table, times = (json.loads((tuned / name).read_text()) for name in ("table.json", "times.json"))
    assert table["op"] == "topk_select" and table["arch"] == times["arch"] == "sm_90a"
    assert table["provenance"]["measured_on"] == "Fake GPU"
    named = {rule["variant"] for rule in table["rules"]}
    assert named and named <= set(times["variants"])
    assert all(re.fullmatch("[0-9a-f]{64}", word) for word in table["provenance"]["sources"].split())
    assert len(table["rules"]) < len(times["points"])


def test_every_point_gets_a_variant_within_the_tolerance(tuned):
    table, times = (json.loads((tuned / name).read_text()) for name in ("table.json", "times.json"))
    for point in times["points"]:
        scores = {name: (hot * cold) ** 0.5 for name, (hot, cold) in point["us"].items()}
        chosen = next(rule["variant"] for rule in table["rules"] if grids.holds(rule["when"], point))
        assert scores[chosen] <= 1.0301 * min(scores.values())


def test_the_same_times_give_the_same_table(tuned):
    again = tle("tune", "topk", "--timings", tuned / "times.json")
    assert again.stdout == (tuned / "table.json").read_text()
    looser = tle("tune", "topk", "--timings", tuned / "times.json", "--within", 100)
    assert looser.stdout.count("variant") <= again.stdout.count("variant")


def test_the_library_takes_the_table_and_explain_shows_the_rule(tuned):
    text = tle("explain", "topk", "--device", "none", "--arch", "sm_90a", "--rows", 16, "--columns", 65536, "--k", 2048,
               "--dispatch", tuned / "table.json").stdout
    assert "measured on Fake GPU" in text and "skipped" not in text
    rule = int(re.search(r"^by rule (\d+) of table ", text, re.M)[1])
    table = json.loads((tuned / "table.json").read_text())
    assert text.strip().endswith("chosen: " + table["rules"][rule - 1]["variant"])
    assert f"note: table {tuned / 'table.json'}" not in text  # its sources are the library's


def test_radix_has_rules_for_every_type_and_order(driver, tmp_path):
    tle("tune", "radix", "--device", "cuda", "--quick", "--out", tmp_path / "table.json", **driver)
    table = json.loads((tmp_path / "table.json").read_text())
    for dtype, align in (("fp32", 4), ("bf16", 2), ("i64", 8), ("fp64", 16)):
        for ordered in (0, 1):
            for k in (1, 2048, 8192):
                call = {"rows": 3, "columns": 9000, "k": k, "align": align, "sorted": ordered, "dtype": dtype}
                assert any(grids.holds(rule["when"], call) for rule in table["rules"])
    text = tle("explain", "radix", "--device", "none", "--arch", "sm_90a", "--columns", 9000, "--k", 5000, "--dtype",
               "i64", "--sorted", "--dispatch", tmp_path / "table.json").stdout
    assert re.search(r"by rule \d+ of table \S*table.json", text)


def test_a_run_that_was_cut_short_goes_on(driver, tmp_path):
    files = ("--save", tmp_path / "times.json", "--out", tmp_path / "table.json")
    short = tle("tune", "topk", "--device", "cuda", "--quick", "--budget", 1, *files, **driver)
    assert "points, " in short.stderr and not (tmp_path / "times.json.part").exists()
    times = json.loads((tmp_path / "times.json").read_text())
    first = times["points"]
    plain = next(point for point in first if point["form"] == 0 and point["align"] == 16 and point["dtype"] == "fp32")
    plain["us"] = {"topk_select__f32__kany__form__radix__v4__w32": [1, 1]}  # as if nothing else had been timed there
    (tmp_path / "times.json").write_text(json.dumps(times))
    plain["us"] = {}
    whole = tle("tune", "topk", "--device", "cuda", "--quick", "--resume", *files, **driver)
    assert "at worst" in whole.stderr
    then = json.loads((tmp_path / "times.json").read_text())["points"]
    assert len(first) == len(then) and all(point["us"] for point in then)
    assert not any("__form__" in name for point in then if not point["form"] for name in point["us"])
    assert all(not old["us"] or old["us"] == new["us"] for old, new in zip(first, then))
    assert "--resume goes on with the file" in tle("tune", "topk", "--device", "cuda", "--resume", status=1, **driver).stderr
    assert "--budget is '0'" in tle("tune", "topk", "--device", "cuda", "--budget", 0, status=2, **driver).stderr


def test_timings_of_what_is_not_meant_for_a_call_do_not_count(tmp_path):
    def name(what):
        return f"topk_select__f32__kany__{what}"

    # The last is the fastest everywhere, each before it a little slower.
    names = [name(what) for what in ("radix__v4__w32", "radix__v1__w32", "form__radix__v4__w32", "form__radix__v1__w32",
                                     "mark2_128k__v4__w16", "none__v4__w32")]
    common = {"rows": 64, "k": 2000, "dtype": "fp32"}
    legal = {"plain": (16, 0, "012345"), "unaligned": (4, 0, "135"), "fused": (16, 1, "23"), "both": (4, 1, "3")}
    points = [{**common, "columns": columns, "align": align, "form": form,
               "us": {names[int(i)]: [99 - int(i)] * 2 for i in among}}
              for columns in (65536, 131072) for align, form, among in legal.values()]
    (tmp_path / "times.json").write_text(json.dumps({
        "schema": 1, "op": "topk_select", "arch": "sm_90a", "device": "", "sources": "", "compiler": "",
        "variants": {name: {} for name in names}, "points": points}))
    result = tle("tune", "topk", "--timings", tmp_path / "times.json", "--within", 0, "--save", tmp_path / "again.json")
    assert "1 of the 6 variants are none of this library and are left out" in result.stderr
    rules = json.loads(result.stdout)["rules"]

    def chosen(columns, kind):
        call = {**common, "columns": columns, "align": legal[kind][0], "form": legal[kind][1]}
        return names.index(next(rule["variant"] for rule in rules if grids.holds(rule["when"], call)))

    for columns in (30000, 65536):
        assert [chosen(columns, kind) for kind in legal] == [0, 1, 2, 3]
    assert [chosen(131072, kind) for kind in legal] == [4, 1, 2, 3]
    assert json.loads((tmp_path / "again.json").read_text())["points"] == points  # all times stay in the file


def test_refusals_say_what_is_missing(tmp_path):
    assert "times of a GPU" in tle("tune", "topk", "--device", "emu", status=1).stderr
    assert "name an operator" in tle("tune", status=2).stderr
    assert "cannot be read" in tle("tune", "topk", "--timings", tmp_path / "none", status=1).stderr
    assert "--within is '101'" in tle("tune", "topk", "--device", "emu", "--within", 101, status=2).stderr
    point = {"rows": 1, "columns": 9, "k": 3, "align": 4, "form": 0, "dtype": "fp32", "us": {}}
    (tmp_path / "empty.json").write_text(json.dumps({
        "schema": 1, "op": "topk_select", "arch": "sm_90a", "device": "", "sources": "", "compiler": "",
        "variants": {"v": {}}, "points": [point]}))
    assert "no variant has a time" in tle("tune", "topk", "--timings", tmp_path / "empty.json", status=1).stderr
    (tmp_path / "bad.json").write_text("{}")
    assert "'schema' is not 1" in tle("tune", "topk", "--timings", tmp_path / "bad.json", status=1).stderr
