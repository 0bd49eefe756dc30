"""FlagTree's DeepSeek V3.2 selectors: the 2048 largest of each row, in any order."""
import numpy as np
import pytest

from support import Kernel

TOPK = 2048
KERNELS = [("tle_topk_selector_kernel", "512-rank"), ("tle_topk_selector_kernel", "512-radix"),
           ("tle_topk_selector_kernel", "1024-radix"), ("tle_tilelang_topk_selector_kernel", "1024"),
           ("tle_topk_selector_kernel_smem", "1024-rank"), ("tle_topk_selector_kernel_smem", "1024-radix"),
           ("tle_topk_selector_kernel_smem_cluster", "8x1024-radix"), ("triton_topk_selector_kernel", "1024")]


def select(name, variant, x, starts, ends):
    batch, length = x.shape
    out = np.full((batch, TOPK), -1, np.int32)
    args = {"x_ptr": x, "out_ptr": out, "starts_ptr": starts, "ends_ptr": ends, "stride_xm": length, "stride_xn": 1,
            "stride_outm": TOPK, "stride_outn": 1, "seq_len": length}
    if name.startswith("triton"):
        args |= {"cand0_ptr": np.zeros((batch, length), np.int32), "cand1_ptr": np.zeros((batch, length), np.int32),
                 "stride_c0m": length, "stride_c0n": 1, "stride_c1m": length, "stride_c1n": 1}
    Kernel(name, variant).launch((batch,), **args)
    return out


def check_row(x, out, start, end):
    chosen = np.sort(out[out >= 0])
    assert len(chosen) == min(TOPK, end - start), f"{len(chosen)} indices"
    assert len(np.unique(chosen)) == len(chosen), "an index appears twice"
    assert chosen[0] >= start and chosen[-1] < end
    want = np.sort(x[start:end])[::-1][:TOPK]
    assert np.array_equal(np.sort(x[chosen])[::-1], want)


def row_values(kind, rng, shape):
    if kind == "normal":
        return rng.normal(size=shape).astype(np.float32)
    if kind == "narrow":  # one coarse bin: all of the refinement is needed
        return (1 + rng.random(shape) / 4096).astype(np.float32)
    return rng.integers(-20, 20, shape).astype(np.float32)  # many equal values


@pytest.mark.parametrize("name, variant", KERNELS)
@pytest.mark.parametrize("kind", ["normal", "equal"])
def test_whole_rows(name, variant, kind):
    x = row_values(kind, np.random.default_rng(1), (2, 4096))
    starts, ends = np.zeros(2, np.int32), np.full(2, 4096, np.int32)
    out = select(name, variant, x, starts, ends)
    for row in range(2):
        check_row(x[row], out[row], 0, 4096)


@pytest.mark.parametrize("name, variant", KERNELS)
def test_parts_of_rows(name, variant):
    x = row_values("normal", np.random.default_rng(2), (3, 5000))
    starts, ends = np.array([0, 100, 7], np.int32), np.array([4999, 3500, 1000], np.int32)
    out = select(name, variant, x, starts, ends)
    for row in range(2):
        check_row(x[row], out[row], starts[row], ends[row])
    assert set(out[2][out[2] >= 0]) == set(range(7, 1000)), "a short row is taken whole"


@pytest.mark.parametrize("name, variant", KERNELS)
def test_values_of_one_coarse_bin(name, variant):
    x = row_values("narrow", np.random.default_rng(3), (1, 4096))
    out = select(name, variant, x, np.zeros(1, np.int32), np.full(1, 4096, np.int32))
    check_row(x[0], out[0], 0, 4096)


BY_VALUE = [k for k in KERNELS if k[0].endswith("_smem")]


@pytest.mark.parametrize("name, variant", BY_VALUE)
@pytest.mark.parametrize("kind", ["more than the candidates' memory", "one value", "infinities"])
def test_many_candidates(name, variant, kind):
    """More candidates than fit, or than refinement can tell apart. The other kernels of the file get some of these wrong,
    see docs/foreign.md."""
    rng = np.random.default_rng(4)
    x = row_values("narrow", rng, (1, 9000))
    if kind == "one value":
        x[:] = 0
    if kind == "infinities":
        x = row_values("normal", rng, (1, 6144))
        x[0, :3000], x[0, 3000:3100] = -np.inf, np.inf
    length = x.shape[1]
    out = select(name, variant, x, np.zeros(1, np.int32), np.full(1, length, np.int32))
    check_row(x[0], out[0], 0, length)
