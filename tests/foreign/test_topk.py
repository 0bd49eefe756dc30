"""FlagTree's top-k tutorial: values in descending order and their indices, lower ones first when equal."""
import numpy as np
import pytest

from support import Kernel

ROWS = [("topk_kernel", "fp32-128x64", 64), ("topk_kernel", "fp16-32x256", 200),
        ("topk_kernel_radix_select", "fp32-4x256", 1000), ("topk_kernel_radix_select", "fp16-1x256", 129),
        ("topk_kernel_radix_select_hist", "fp32-2x256", 512), ("_topk_kernel_radix_select_impl", "fp32-2x256", 500),
        ("topk_kernel_shared_radix4", "fp32-2x256", 512), ("topk_kernel_shared_radix4", "fp32-1x256-smem", 256),
        ("topk_kernel_shared_radix5", "fp32-2x256", 300), ("topk_kernel_shared_radix5", "fp32-1x256-smem", 250),
        ("topk_kernel_shared_radix6", "fp32-4x128", 512), ("topk_kernel_shared_radix6", "fp16-1x256-smem", 256)]


def run(name, variant, x):
    kernel = Kernel(name, variant)
    rows, columns = x.shape
    k, block = kernel.const["K"], kernel.const.get("BLOCK_M", 1)
    values, index = np.zeros((rows, k), x.dtype), np.zeros((rows, k), np.int32)
    kernel.launch((-(-rows // block),), X=x, Yv=values, Yi=index, stride_xm=columns, stride_ym=k, n_rows=rows, n_cols=columns)
    return values, index, k


@pytest.mark.parametrize("name, variant, columns", ROWS)
@pytest.mark.parametrize("equal", [False, True])
def test_sorted(name, variant, columns, equal):
    rng = np.random.default_rng(1)
    dtype = np.float16 if variant.startswith("fp16") else np.float32
    shape = (5, columns)
    x = rng.integers(-9, 9, shape).astype(dtype) if equal else rng.normal(size=shape).astype(dtype)
    values, index, k = run(name, variant, x)
    order = np.argsort(-x.astype(np.float64), axis=1, kind="stable")[:, :k]
    assert np.array_equal(values, np.take_along_axis(x, order, axis=1))
    assert np.array_equal(index, order)


@pytest.mark.parametrize("variant, columns", [("fp32-128x64", 60), ("fp16-128x128", 128)])
def test_iterative(variant, columns):
    """Takes the last index of equal values, and all of them at once: only distinct values are defined."""
    dtype = np.float16 if variant.startswith("fp16") else np.float32
    x = np.stack([np.random.default_rng(row).permutation(columns) for row in range(130)]).astype(dtype)
    values, index, k = run("topk_kernel_iterative", variant, x)
    order = np.argsort(-x.astype(np.float64), axis=1)[:, :k]
    assert np.array_equal(values, np.take_along_axis(x, order, axis=1))
    assert np.array_equal(index, order)
