"""`tle emu` and `tle profile`: a PTX file of our own and the library's variants."""
import json

import numpy as np
import pytest

from test_cli import save, select, tle

SCALE = """
.version 8.6
.target sm_90a
.address_size 64
.file 1 "scale.py"
.visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
.reg .pred %p;
.reg .b32 %r<5>;
.reg .f32 %f<3>;
.reg .b64 %rd<5>;
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [y];
ld.param.f32 %f1, [a];
ld.param.u32 %r4, [n];
.loc 1 3 1
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.u32 %r1, %r1, %r2, %r3;
GUARD
mul.wide.u32 %rd3, %r1, 4;
add.u64 %rd1, %rd1, %rd3;
add.u64 %rd2, %rd2, %rd3;
.loc 1 7 1
ld.global.f32 %f2, [%rd1];
mul.f32 %f2, %f2, %f1;
.loc 1 8 1
st.global.f32 [%rd2], %f2;
done:
ret;
}
"""
GUARDED = SCALE.replace("GUARD", "setp.ge.u32 %p, %r1, %r4;\n@%p bra done;")
UNGUARDED = SCALE.replace("GUARD", "")


def kernel(tmp_path, text):
    path = tmp_path / "scale.ptx"
    path.write_text(text)
    return path


@pytest.mark.parametrize("schedule", ["round-robin", "random", "adversarial"])
def test_emu(tmp_path, schedule):
    x = np.random.default_rng(3).standard_normal(500).astype(np.float32)
    out = tmp_path / "y.npy"
    text = tle("emu", kernel(tmp_path, GUARDED), "--grid", 4, "--block", 128, "--schedule", schedule, "--seed", 5,
               "--args", f"in={save(tmp_path, 'x.npy', x)}", f"out={out}:5x100:f4", "f32=1.5", "u32=500").stdout
    cost = json.loads(text)
    assert cost["global_load_sectors"] == 63 and cost["ctas"] == 4
    assert (np.load(out).ravel() == x * np.float32(1.5)).all()


def test_reports(tmp_path):
    x = save(tmp_path, "x.npy", np.zeros(500, np.float32))
    words = ["emu", kernel(tmp_path, UNGUARDED), "--kernel", "scale", "--grid", 4, "--block", "128,1",
             "--args", f"in={x}", "room=2048", "f32=2", "i32=500"]
    text = tle(*words, status=1).stdout
    assert "out of bounds in scale at scale.py:7, PTX line 26 (ld.global.f32), CTA (3,0,0), thread (116,0,0)" in text
    result = json.loads(tle(*words, "--json", status=1).stdout)
    report, = result["reports"]
    assert result["status"] == "TLE_EMU_FAULT" and report["line"] == 7 and report["cta"] == [3, 0, 0]
    assert report["thread"] == [116, 0, 0] and report["warp"] == 3 and report["lane"] == 20
    json.loads(tle(*words, "--checks", "uninit,race,barrier", "--shared", 64).stdout)


def test_variant(tmp_path):
    scores = np.random.default_rng(1).standard_normal((3, 4096)).astype(np.float32)
    name = "topk_select__f32__kany__tile4k__v4__w16"
    out = tmp_path / "i.npy"
    words = [name, "--grid", 3, "--args", f"in={save(tmp_path, 's.npy', scores)}", "null", "null",
             f"out={out}:3x512:i4", "i64=4096", "i64=512", "i32=4096", "i32=512", "i32=0"]
    tle("emu", *words)
    assert (np.load(out) == select(scores, 512)).all()
    lines = tle("profile", *words).stdout.splitlines()
    assert "kernel                       topk_tile" in lines
    assert any(line.endswith("topk/tile.py") for line in lines)
    assert any(line.endswith("topk/common.py") for line in lines)
    sites = json.loads(tle("profile", *words, "--json").stdout)["sites"]
    loads = [s for s in sites if s["class"] == "load" and s["space"] == "global"]
    assert sum(s["sectors"] for s in loads) * 32 == scores.nbytes
    assert all(s["line"] > 0 for s in loads)


@pytest.mark.parametrize("words, says", [
    (["emu"], "name a file of PTX"),
    (["emu", "K", "--grid", "0"], "--grid is X[,Y[,Z]]"),
    (["emu", "K", "--schedule", "fair"], "--schedule is 'fair'"),
    (["emu", "K", "--checks", "bounds,spelling"], "no check 'spelling'"),
    (["emu", "K", "--args", "i32=5"], "takes 4 arguments; there are 1"),
    (["emu", "K", "--args", "null", "null", "i64=5", "u32=5"], "argument 3, 'i64=5', has 8 bytes; the parameter has 4"),
    (["emu", "K", "--args", "null", "null", "f32=x", "u32=5"], "'f32=x': is not a number"),
    (["emu", "K", "--args", "null", "out=y.npy:3", "f32=1", "u32=5"], "is not out=FILE:SHAPE:TYPE"),
    (["emu", "K", "--args", "null", "null", "f32=1", "size=5"], "is none of i32="),
])
def test_usage(tmp_path, words, says):
    path = kernel(tmp_path, GUARDED)
    assert says in tle(*[path if w == "K" else w for w in words], status=2).stderr


def test_refused(tmp_path):
    assert "cannot be opened" in tle("emu", tmp_path / "none.ptx", status=1).stderr
    assert "no variant 'nothing'" in tle("profile", "nothing", status=1).stderr
    bad = kernel(tmp_path, GUARDED.replace("mul.f32", "frob.f32"))
    assert "not supported: frob.f32 at line 28" in tle("emu", bad, status=1).stderr
    assert "no kernel 'other'" in tle("emu", kernel(tmp_path, GUARDED), "--kernel", "other", status=1).stderr
