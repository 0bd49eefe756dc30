"""FlagTree's moe_align_block_size: tokens by expert, each expert's part padded to whole blocks.

Kernels that read global memory and write it in place run without the check of races, see docs/foreign.md."""
import numpy as np
import pytest

from support import Kernel

BLOCK, TOKENS = 16, 300


def buffers(experts):
    padded = -(-(TOKENS + experts * (BLOCK - 1)) // BLOCK) * BLOCK
    return {"sorted": np.zeros(padded, np.int32), "experts": np.zeros(padded // BLOCK, np.int32),
            "total": np.zeros(1, np.int32), "counts": np.zeros((experts + 1, experts), np.int32),
            "starts": np.zeros(experts + 1, np.int32)}


def check(ids, experts, b):
    counts = np.bincount(ids, minlength=experts)
    padded = -(-counts // BLOCK) * BLOCK
    assert b["total"][0] == padded.sum()
    at = 0
    for e in range(experts):
        part = b["sorted"][at:at + padded[e]]
        assert sorted(part[part < TOKENS]) == np.flatnonzero(ids == e).tolist()
        assert (part[part >= TOKENS] == TOKENS).all()
        assert (b["experts"][at // BLOCK:(at + padded[e]) // BLOCK] == e).all()
        at += padded[e]
    assert (b["sorted"][at:] == TOKENS).all()


def random_ids(experts, seed):
    return np.random.default_rng(seed).integers(0, experts, TOKENS).astype(np.int32)


def variant_of(experts):
    return f"e{experts}"


@pytest.mark.parametrize("experts", [16, 12])
def test_four_stages(experts):
    ids, b, v = random_ids(experts, 1), buffers(experts), variant_of(experts)
    Kernel("moe_align_block_size_stage1_triton", v).launch(
        (experts,), topk_ids_ptr=ids, tokens_cnts_ptr=b["counts"], numel=TOKENS, sorted_token_ids_ptr=b["sorted"],
        expert_ids_ptr=b["experts"])
    if experts == 16:
        again = b["counts"].copy()
        Kernel("moe_align_block_size_stage2_vec", v).launch((experts,), races=False, tokens_cnts_ptr=again)
    Kernel("moe_align_block_size_stage2", v).launch((experts,), races=False, tokens_cnts_ptr=b["counts"])
    if experts == 16:
        assert np.array_equal(again, b["counts"])
    Kernel("moe_align_block_size_stage3", v).launch(
        (1,), total_tokens_post_pad_ptr=b["total"], tokens_cnts_ptr=b["counts"], cumsum_ptr=b["starts"])
    Kernel("moe_align_block_size_stage4", v).launch(
        (experts,), topk_ids_ptr=ids, sorted_token_ids_ptr=b["sorted"], expert_ids_ptr=b["experts"],
        tokens_cnts_ptr=b["counts"], cumsum_ptr=b["starts"], numel=TOKENS)
    check(ids, experts, b)


@pytest.mark.parametrize("experts", [16, 12])
def test_three_stages_with_atomics(experts):
    ids, b, v = random_ids(experts, 2), buffers(experts), variant_of(experts)
    Kernel("moe_align_block_size_stage1_2_triton_atomic", v).launch(
        (experts,), topk_ids_ptr=ids, tokens_cnts_ptr=b["counts"], cumsum_ptr=b["starts"], numel=TOKENS,
        sorted_token_ids_ptr=b["sorted"], expert_ids_ptr=b["experts"])
    Kernel("moe_align_block_size_stage3_from_cumsum", v).launch(
        (1,), races=False, total_tokens_post_pad_ptr=b["total"], cumsum_ptr=b["starts"])
    Kernel("moe_align_block_size_stage4_triton_atomic_smem", v).launch(
        (experts,), topk_ids_ptr=ids, sorted_token_ids_ptr=b["sorted"], expert_ids_ptr=b["experts"],
        tokens_cnts_ptr=b["counts"], cumsum_ptr=b["starts"], numel=TOKENS)
    check(ids, experts, b)


@pytest.mark.parametrize("experts", [16, 12])
def test_one_cluster(experts):
    """The CTA of rank 0 stores what its array of starts holds already while the others read it: a race of the source, of
    equal values, so that the result is right all the same."""
    kernel = Kernel("moe_align_block_size_tle_cluster_fused", f"e{experts}-8")
    ids, b = random_ids(experts, 3), buffers(experts)
    args = {"topk_ids_ptr": ids, "sorted_token_ids_ptr": b["sorted"], "expert_ids_ptr": b["experts"],
            "num_tokens_post_pad_ptr": b["total"], "numel": TOKENS}
    report = kernel.report((1,), **args)
    assert "race" in report and "02-moe_align_block_size.py:577" in report
    kernel.launch((1,), races=False, **args)
    check(ids, experts, b)


@pytest.mark.parametrize("experts", [16, 12])
def test_cooperative_grid(experts):
    ids, b = random_ids(experts, 4), buffers(experts)
    Kernel("moe_align_block_size_triton_atomic_fused_coop", f"e{experts}-4").launch(
        (4,), races=False, topk_ids_ptr=ids, sorted_token_ids_ptr=b["sorted"], expert_ids_ptr=b["experts"],
        num_tokens_post_pad_ptr=b["total"], cumsum_ptr=b["starts"], numel=TOKENS)
    check(ids, experts, b)
