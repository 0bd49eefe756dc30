"""Compiles the kernels that flagtree.json names and runs them on the emulator.

The sources are other projects' and not part of this tree: TLE_FOREIGN_DIR says where they are, as
<owner>/<repository>/<path>. Without it the tests skip.
"""
import json
import os
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "conformance")]

import foreign  # noqa: E402
import harness  # noqa: E402

SPEC = json.loads((pathlib.Path(__file__).parent / "flagtree.json").read_text(encoding="utf-8"))
FOLDER = os.environ.get("TLE_FOREIGN_DIR", "")


ALL_CHECKS, CHECK_RACE = 0x7f, 0x08  # TLE_EMU_CHECK_ALL, _RACE


class Kernel:
    """One variant of flagtree.json, compiled."""

    def __init__(self, name, variant):
        rows = [(s, v) for s, k, v in foreign.variants(SPEC) if k == name and v["name"] == variant]
        assert len(rows) == 1, f"{name} {variant}: {len(rows)} rows"
        source, row = rows[0]
        path = foreign.source_path(FOLDER, source)
        if not FOLDER or not path.exists():
            pytest.skip(f"{source['repository']}/{source['path']} is not in TLE_FOREIGN_DIR")
        self.const = row["const"]
        self.ptx, self.meta, error = foreign.compile_variant(harness.TLEC, path, source, name, row, FOLDER)
        assert not error, error

    def launch(self, grid, races=True, **args):
        """Runs with all checks on (but that of races, on demand); arrays are changed in place. Grids count clusters."""
        device = harness.Device(checks=0 if races else ALL_CHECKS & ~CHECK_RACE)
        cluster = self.meta.get("cluster", [1, 1, 1])
        grid = [n * c for n, c in zip(list(grid) + [1] * (3 - len(grid)), cluster)]
        try:
            if any(p["name"] == "grid_barrier" for p in self.meta["params"]):
                args["grid_barrier"] = np.zeros(16, np.int32)
            device.launch(self.ptx, self.meta, grid, args)
        finally:
            device.close()

    def report(self, grid, **args):
        """What the emulator says about a launch that it must reject."""
        try:
            self.launch(grid, **args)
        except AssertionError as e:
            return str(e)
        raise AssertionError("the launch was accepted")
