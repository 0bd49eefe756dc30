"""A run beside other libraries: which of them count, what its summary says, and its plots."""
import pathlib
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import results_goals  # noqa: E402
import results_peers  # noqa: E402
import results_plot  # noqa: E402
import results_ratios  # noqa: E402
import results_table  # noqa: E402


def row(impl, length, hot, rows=1, k=2048, **other):
    return {"op": "topk_select", "shape": {"rows": rows, "len": length, "k": k}, "dtype": "fp32", "impl": impl,
            "version": "1", "variant": "", "us_hot": hot, "us_cold": 2 * hot, "floor_us": 0.5, "correct": True,
            "spread": 0.01, **other}


KINDS = {"libtle": {"randn": "right", "relu": "right"}, "a": {"randn": "right", "relu": "not taken"},
         "b": {"randn": "right", "relu": "wrong"}}
ROWS = [row("libtle", 4096, 2.0), row("a", 4096, 4.0), row("b", 4096, 1.0),
        row("libtle", 8192, 4.0), row("a", 8192, 2.0), row("b", 8192, 1.0),
        row("libtle", 8192, 4.0, k=512), row("a", 8192, 36.0, k=512), row("c", 8192, 6.0, k=512),
        row("libtle", 8192, 5.0, values="relu"), row("a", 8192, 15.0, values="relu"),
        row("libtle, lengths given", 4096, 0.1), row("a", 4096, 1.0, rows=2, correct=False),
        row("libtle", 4096, 3.0, rows=2)]
RECORD = {"schema": 1, "device": "GPU", "driver": "", "cuda": "13.0", "commit": "", "command": "run", "rows": ROWS,
          "kinds": KINDS}


def test_a_peer_counts_if_it_is_right_on_every_kind_that_it_takes():
    assert results_peers.counting(RECORD) == ["a"]  # b is wrong on relu, c was not checked


def test_summary_is_by_kind_and_k():
    assert results_peers.summary(RECORD, ["a"])[2:] == [
        "| randn | 2,048 | 2 | 1.00 | 1.00 | 0.50 | 1 |",
        "| randn | 512 | 1 | 9.00 | 9.00 | 9.00 | 0 |",
        "| randn | all | 3 | 2.08 | 2.08 | 0.50 | 1 |",
        "| relu | 2,048 | 1 | 3.00 | 3.00 | 3.00 | 0 |"]
    assert results_peers.losses(RECORD, ["a"])[-1] == "| randn | 1 × 8,192, k 2,048 | 4.0 | 2.0 (a) | 0.50 | `` | 0.5 |"
    assert results_peers.losses(RECORD, ["a"])[0] == "Slower than the best peer at 1 of 4 points:"


def test_rows_without_cold_times_are_summed_up_by_their_hot_ones():
    hot = {**RECORD, "rows": [{**each, "us_cold": None} for each in ROWS]}
    assert results_peers.summary(hot, ["a"])[2] == "| randn | 2,048 | 2 | 1.00 | – | 0.50 | 1 |"
    assert results_peers.grid(hot, ["a"])[2] == "| 1 | 2.0, 2.00 | 4.0, **0.50** |"


def test_grid_leaves_out_what_was_not_compared():
    assert results_peers.grid(RECORD, ["a"]) == [
        "| Rows \\ length | 4,096 | 8,192 |", "| ---: | ---: | ---: |",
        "| 1 | 2.0 / 4.0, 2.00 | 4.0 / 8.0, **0.50** |"]


def test_odd_rows_are_told_apart():
    odd = {**RECORD, "rows": ROWS + [row("libtle", 8192, 14.0, values="equal"), row("a", 8192, 1.0, values="equal"),
                                     row("libtle", 4096, 5.0, values="one bin")]}
    assert results_peers.summary(odd, ["a"]) == results_peers.summary(RECORD, ["a"])
    assert results_goals.odd_rows(odd, results_peers.USUAL)[2:] == [
        "| Shape | equal | one bin | Most |", "| --- | ---: | ---: | ---: |",
        "| 1 × 8,192, k 2,048 | 3.5 | – | 3.5 |", "| 1 × 4,096, k 2,048 | – | 2.5 | 2.5 |", "",
        "- More than 4 times as long: none.", ""]
    assert results_goals.odd_rows(RECORD, results_peers.USUAL) == []
    slow = {**RECORD, "rows": ROWS + [row("libtle", 4096, 9.0, values="equal")]}
    assert results_goals.odd_rows(slow, results_peers.USUAL)[-2] == (
        "- More than 4 times as long: 1 × 4,096, k 2,048 (equal: 4.5).")


def test_goals_tell_the_aim_from_what_hand_written_kernels_reach():
    times = {4096: 2.9, 16384: 4.5, 131072: 6.6 * 1.25}
    record = {**RECORD, "rows": [row("libtle", length, time) for length, time in times.items()]}
    assert [line.split(" | ")[-1] for line in results_goals.goals(record)[4:-1]] == [
        "the aim |", "as good as hand-written |", "+25% |"]


def test_a_port_is_compared_with_the_original_where_both_were_timed():
    rows = [row(results_goals.PORT, 4096, 4.0), row(results_goals.NATIVE, 4096, 4.0),
            row(results_goals.PORT, 8192, 8.0), row(results_goals.NATIVE, 8192, 6.0),
            row(results_goals.NATIVE, 16384, 6.0)]
    lines = results_goals.port({**RECORD, "rows": rows})
    assert lines[2:5] == ["| Rows \\ length | 4,096 | 8,192 |", "| ---: | ---: | ---: |", "| 1 | 100% | 75% |"]
    assert lines[-2] == "- At 1 of 2 shapes it reaches 97%; below: randn 1 × 8,192, k 2,048 (75%)."


def test_many_shapes_are_summed_up_by_type_and_form():
    rows = [row("libtle", 4096, 2.0), row("a", 4096, 4.0), row("libtle", 8192, 2.0), row("a", 8192, 1.0),
            row("libtle, payload", 4096, 1.0), row("torch.topk, gather", 4096, 9.0)]
    for each in rows[2:4]:
        each["shape"]["sorted"] = 1
    assert results_ratios.table(rows) == [
        "| Type | Form | Shapes | a ÷ libtle |", "| --- | --- | ---: | ---: |",
        "| fp32 | by index | 1 | 2.00 (2.00–2.00) |", "| fp32 | sorted | 1 | 0.50 (0.50–0.50) |", "",
        "- a: 1.00 times libtle's time over 2 shapes, geometric mean; libtle is slower at 1: 1 × 8,192, k 2,048 fp32 sorted (0.50)."]


def test_correctness_names_the_kinds():
    assert "| b | 1 of 2 | relu | – |" in results_peers.correctness(RECORD)
    assert "| a | 1 of 2 | – | relu |" in results_peers.correctness(RECORD)


def test_such_a_file_is_in_the_schema():
    assert list(results_table.wrong_fields("head", RECORD, results_table.HEAD, results_table.HEAD_OPTIONS)) == []
    assert list(results_table.wrong_rows(ROWS)) == []


def test_plots_are_svg_made_of_the_right_rows():
    (suffix, _, svg), many = results_plot.plots(RECORD)
    assert (suffix, many[0]) == ("one-row", "many-rows")
    root = xml.etree.ElementTree.fromstring(svg)
    words = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert words[-3:] == ["libtle", "a", "b"] and "8K" in words  # ours first; not the other way to call it
    lines = [element for element in root.iter() if element.tag.endswith("polyline")]
    assert len(lines) == 3 and all(len(line.get("points").split()) == 2 for line in lines)
    assert svg == results_plot.plots(RECORD)[0][2]


def test_ticks_enclose_the_values():
    assert results_plot.ticks(3.2, 45) == [2, 5, 10, 20, 50]
    assert results_plot.ticks(5, 5) == [5, 10]
