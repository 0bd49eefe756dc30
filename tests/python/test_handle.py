"""Handles: questions, variants, logs, lifetime."""
import json

import numpy as np
import pytest

import tle


def test_device(emu):
    assert emu.device.kind is tle.DeviceKind.EMU and emu.device.arch.startswith("sm_")
    assert repr(emu).startswith("<tle.Handle emu:0 sm_")
    assert tle.device_count("emu") == 1


def test_supported(emu):
    assert emu.supported("topk_select", rows=1, columns=131072, k=2048)
    assert emu.supported("topk_select", rows=1, columns=131072, k=2048, dtype="bfloat16")
    answer = emu.supported("topk_select", rows=1, columns=131072, k=2048, dtype="float64")
    assert not answer
    assert answer.status is tle.Status.UNSUPPORTED_DTYPE and "TLE_DTYPE_FLOAT32" in answer.reason
    with pytest.raises(tle.Error, match="no operator 'sort'"):
        emu.supported("sort")


def test_questions_need_no_device():
    with tle.Handle("none", arch="sm_90a") as handle:
        assert handle.supported("topk_select", rows=8, columns=4096, k=512, lengths=True)
        wide = handle.explain("topk_select", rows=1, columns=4096, k=512)
        narrow = handle.explain("topk_select", rows=1, columns=4096, k=512, align=4)
        names = [v.name for v in handle.variants("topk_select")]
        assert names == sorted(names)
        assert [n for n in names if n in wide] and wide != narrow


def test_variants_and_their_parts(emu):
    variants = emu.variants("topk_select")
    assert emu.variants() == emu.variants("radix_select") + variants
    assert {v.op for v in variants} == {"topk_select"}
    meta = json.loads(emu.variant_data(variants[0].name, "meta"))
    assert meta["num_warps"] * 32 == variants[0].threads if "num_warps" in meta else meta
    assert b".entry" in emu.variant_data(variants[0].name, tle.Part.PTX)
    with pytest.raises(tle.Error) as caught:
        emu.variant_data("no_such", "ptx")
    assert caught.value.status is tle.Status.NOT_FOUND


def test_preload_and_strict():
    x = np.zeros((1, 64), np.float32)
    with tle.Handle("emu", strict=True) as handle:
        with pytest.raises(tle.Error) as caught:
            tle.topk_select(x, 4, handle=handle)
        assert caught.value.status is tle.Status.NOT_PRELOADED
        handle.preload("topk_select")
        assert handle.memory.loaded_variants == len(handle.variants("topk_select"))
        handle.preload()
        assert handle.memory.loaded_variants == len(handle.variants())
        assert tle.topk_select(x, 4, handle=handle).tolist() == [[0, 1, 2, 3]]
        handle.unload()
        assert handle.memory.loaded_variants == 0


def test_log():
    seen = []
    with tle.Handle("emu", log=lambda flag, line: seen.append((flag, line)),
                    log_flags=tle.LogFlag.DISPATCH) as handle:
        tle.topk_select(np.zeros((1, 64), np.float32), 4, handle=handle)
        names = [v.name for v in handle.variants()]
    flag, line = seen[0]
    assert len(seen) == 1 and flag is tle.LogFlag.DISPATCH
    assert line.startswith("tle,1,") and line.split(",")[7] in names


def test_closed():
    handle = tle.Handle("none")
    handle.close()
    handle.close()
    assert "closed" in repr(handle)
    with pytest.raises(tle.Error, match="handle is closed"):
        handle.preload()


@pytest.mark.parametrize("device", ["cpu", "cuda:x", "gpu"])
def test_unknown_devices(device):
    with pytest.raises(tle.Error, match="devices are"):
        tle.Handle(device)


def test_options_are_checked_by_the_library():
    with pytest.raises(tle.Error) as caught:
        tle.Handle("none", arch="volta")
    assert caught.value.status is tle.Status.INVALID_ARGUMENT and "volta" in str(caught.value)
    with pytest.raises(tle.Error) as caught:
        tle.Handle("none", dispatch="/nonexistent.json")
    assert caught.value.status is tle.Status.TABLE_INVALID


@pytest.mark.parametrize("option", ["log_flags", "emu_checks", "emu_threads"])
def test_options_that_their_fields_cannot_hold(option):
    for value in -1, 1 << 32:
        with pytest.raises(tle.Error, match=f"{option} is {value}; it is a number of 32 bits"):
            tle.Handle("none", **{option: value})


@pytest.mark.parametrize("op", ["topk_select", "radix_select"])
def test_numbers_do_not_wrap_in_questions(op):
    with tle.Handle("none", arch="sm_90a") as handle:
        for name in "rows", "columns", "k":
            shape = {"rows": 1, "columns": 100, "k": 5}
            answer = handle.supported(op, **{**shape, name: (1 << 64) + 5})
            assert answer.status is tle.Status.UNSUPPORTED_SHAPE and f"{name} is 9223372036854775807" in answer.reason
            answer = handle.supported(op, **{**shape, name: 5 - (1 << 64)})
            assert answer.status is tle.Status.INVALID_ARGUMENT and f"{name} is -9223372036854775808" in answer.reason
        with pytest.raises(tle.Error, match="dtype is 'float8'; it must be a tle.DType or its name"):
            handle.supported(op, rows=1, columns=100, k=5, dtype="float8")


def test_build_id_and_versions():
    with tle.Handle("none") as handle:
        assert len(bytes.fromhex(handle.build_id)) == 32
    assert tle.__version__ in tle.build_info()
    assert ".".join(map(str, tle.version())) in tle.build_info()
