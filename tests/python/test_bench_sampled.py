"""bench/sampled.py: what it takes for the choice of the library's table is that."""
import os
import pathlib
import subprocess
import sys

import pytest

TLE = pathlib.Path(os.environ["TLE_BUILD_DIR"]) / "bin" / "tle"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import sampled  # noqa: E402


@pytest.mark.parametrize("rows,columns", [(1, 16384), (1, 131072), (7, 262144), (8, 1048576), (16, 131072), (64, 65536),
                                          (64, 131072), (256, 131072), (256, 4096), (64, 16384)])
def test_the_choice_is_the_librarys(rows, columns):
    text = subprocess.run([TLE, "explain", "topk", "--device", "none", "--arch", "sm_90a", "--rows", str(rows), "--columns",
                           str(columns), "--k", "2048", "--align", "16"], text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    assert text.strip().endswith("chosen: " + sampled.chosen(rows, columns, 2048)["name"])


def test_only_bodies_with_a_sample_of_blocks_have_any():
    assert sampled.spread_blocks(256, 4096, 2048) == (0, 0)
    count, width = sampled.spread_blocks(8, 1048576, 2048)
    assert (count, width) == (512, 32)
