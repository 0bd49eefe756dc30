"""Packs in files: TLE_PACK_PATH beside what the library carries itself."""
import json
import os
import pathlib
import shutil

import numpy as np
import pytest

import reference
import tle


@pytest.fixture
def packs(tmp_path):
    if "TLE_PACK_DIR" not in os.environ:
        pytest.skip("TLE_PACK_DIR names no packs")
    folder = tmp_path / "packs"
    shutil.copytree(os.environ["TLE_PACK_DIR"], folder, ignore=lambda _, names: [
        n for n in names if not n.endswith(".tlepack")])
    return folder


def test_files_are_used(packs, monkeypatch):
    with tle.Handle("emu") as handle:
        before, build_id = handle.memory.pack_bytes, handle.build_id
    monkeypatch.setenv("TLE_PACK_PATH", str(packs))
    with tle.Handle("emu") as handle:
        assert handle.memory.pack_bytes == before + sum(p.stat().st_size for p in packs.iterdir())
        assert handle.build_id == build_id
        x = np.random.default_rng(0).standard_normal((2, 500)).astype(np.float32)
        np.testing.assert_array_equal(tle.topk_select(x, 9, handle=handle), reference.topk_select(x, 9))


def test_files_count_before_the_library(packs, monkeypatch):
    """A file that is no pack is refused, although the library has a good one of that name."""
    pack, = packs.glob("topk_select.sm_90a.emu.tlepack")
    pathlib.Path(pack).write_bytes(b"no pack at all")
    monkeypatch.setenv("TLE_PACK_PATH", str(packs))
    with pytest.raises(tle.Error) as caught:
        tle.Handle("emu")
    assert caught.value.status in (tle.Status.PACK_CORRUPT, tle.Status.PACK_VERSION)
    assert pack.name in str(caught.value)


def test_a_missing_folder_is_named(monkeypatch):
    monkeypatch.setenv("TLE_PACK_PATH", "/nonexistent")
    with pytest.raises(tle.Error, match="/nonexistent cannot be read") as caught:
        tle.Handle("emu")
    assert caught.value.status is tle.Status.PACK_NOT_FOUND


def test_every_kernel_may_begin_early():
    """From sm_90 on all kernels wait for the one in front of them, so that calls may be launched dependent."""
    for arch in ("sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"):
        if arch not in tle.build_info().split():
            continue
        with tle.Handle("none", arch=arch) as handle:
            early = {v.name: json.loads(handle.variant_data(v.name, "meta"))["dependent_launch"]
                     for v in handle.variants()}
        assert early and set(early.values()) == {int(arch[3:].rstrip("a")) >= 90}, early
