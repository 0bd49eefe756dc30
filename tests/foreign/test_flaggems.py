"""FlagGems' top-k operator: one kernel for short rows, two stages for long ones, radix selection in shared memory."""
import numpy as np
import pytest

from support import Kernel, harness

Typed, bf16_bits, bf16_values = harness.Typed, harness.bf16_bits, harness.bf16_values


def stable_order(x, k, descending=True):
    keys = -x if descending else x
    return np.argsort(keys.astype(np.float64), axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("variant, dtype", [("fp32-256-largest", np.float32), ("fp16-64-smallest", np.float16)])
def test_single_stage(variant, dtype):
    kernel = Kernel("topk_single_stage_kernel", variant)
    n, k, descending = kernel.const["N"], kernel.const["k"], kernel.const["DESCENDING"]
    x = np.stack([np.random.default_rng(row).permutation(n) for row in range(3)]).astype(dtype) - n // 2
    y, index = np.zeros((3, k), dtype), np.zeros((3, k), np.int64)
    kernel.launch((3,), y_ptr=y, index_ptr=index, x_ptr=x)
    order = stable_order(x, k, descending)
    assert np.array_equal(index, order)
    assert np.array_equal(y, np.take_along_axis(x, order, axis=1))


def test_two_stages():
    first, second = Kernel("topk_stage1_kernel", "fp32-1024"), Kernel("topk_stage2_kernel", "fp32-32")
    n, k = first.const["N"], second.const["k"]
    chunks = -(-n // first.const["CHUNK_SIZE"])
    assert second.const["N"] == chunks * k
    x = np.random.default_rng(1).integers(-500, 500, (2, n)).astype(np.float32)
    part, part_index = np.zeros((2, chunks * k), np.float32), np.zeros((2, chunks * k), np.int64)
    first.launch((2, chunks), y_ptr=part, index_ptr=part_index, x_ptr=x, k=k)
    y, index = np.zeros((2, k), np.float32), np.zeros((2, k), np.int64)
    second.launch((2,), y_ptr=y, index_ptr=index, chunk_x=part, chunk_index=part_index)
    order = stable_order(x, k)
    assert np.array_equal(index, order)
    assert np.array_equal(y, np.take_along_axis(x, order, axis=1))


@pytest.mark.parametrize("variant", ["fp32-512", "fp16-512", "bf16-256"])
@pytest.mark.parametrize("columns", [1500, 513])
def test_radix(variant, columns):
    kernel = Kernel("topk_kernel_radix_tle", variant)
    k = kernel.const["K"]
    x = np.random.default_rng(columns).normal(size=(2, columns)).astype(np.float32)
    bf16 = variant.startswith("bf16")
    dtype = np.uint16 if bf16 else np.float16 if variant.startswith("fp16") else np.float32
    stored = bf16_bits(x) if bf16 else x.astype(dtype)
    x = bf16_values(stored) if bf16 else stored
    y, index = np.zeros((2, k), dtype), np.zeros((2, k), np.int64)
    kernel.launch((2,), X=Typed(stored, "*bf16") if bf16 else stored, Yv=Typed(y, "*bf16") if bf16 else y, Yi=index,
                  stride_xm=columns, stride_ym=k, n_cols=columns)
    want = np.sort(x, axis=1)[:, ::-1][:, :k]
    assert np.array_equal(bf16_values(y) if bf16 else y, want)
    assert np.array_equal(np.take_along_axis(x, index, axis=1), want)
    assert all(len(set(row)) == k for row in index.tolist())
