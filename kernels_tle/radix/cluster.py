"""Exact selection of the k best of each row, one cluster of CTAs per row, any type of key; for few rows.

Each CTA has a contiguous share of the row. Shares that fit a tile stay in registers. Of longer ones a sample of the
whole row gives a low mark, the same for all CTAs, and each lists what is not worse in its share. Where that does
not do, shares are read once for each digit, once to count and once to write.

The threshold is found in bins of equal width over the range of keys that is left, 256 at a time: each CTA counts
its share and hands the counts to all, and each sums them and goes on by itself, which costs one cluster barrier.
The answer's place follows from how many elements the lower ranks chose. SORTED: the chosen go to the list of CTA 0,
which sorts them.
"""
import triton
import triton.language as tl
import triton.experimental.tle as tled
import triton.experimental.tle.language as tle
from radix.common import (SMALLEST, all_bits, alloc_list, chosen_of_tile, key_type, listed_element, open_row,
                          tile_keys, write_outputs)
from radix.select import list_from, listed_keys, sample_mark, write_row, write_sorted
from topk.cluster import counts_before, sum_over_cluster
from topk.common import alloc_found, bin_shift, clear, low_and_high, pick_bin

BITS = tl.constexpr(8)
BINS = tl.constexpr(256)

MESH8 = tled.device_mesh({"block_cluster": [("cluster_x", 8)]})
MESH16 = tled.device_mesh({"block_cluster": [("cluster_x", 16)]})


@triton.jit
def range_over_cluster(ends, key, valid, rank, MESH: tl.constexpr):
    """(least, greatest) valid key of the tiles of all CTAs."""
    KEY: tl.constexpr = key.dtype
    low, high = tl.reduce((tl.where(valid, key, ~tl.full((), 0, KEY)), tl.where(valid, key, 0)), 0, low_and_high)
    peer = tl.arange(0, MESH.size)
    for i in tl.static_range(2):
        there = tle.gpu.local_ptr(ends[i], (tl.full((MESH.size,), rank, tl.int32),))
        tl.store(tle.remote(there, peer, scope=MESH), low if i == 0 else high)
    tle.distributed_barrier(MESH)
    return tl.reduce((tl.load(tle.gpu.local_ptr(ends[0], (peer,))), tl.load(tle.gpu.local_ptr(ends[1], (peer,)))), 0,
                     low_and_high)


@triton.jit
def count_range(hist, key, valid, low, high, shift):
    inside = valid & (key >= low) & (key <= high)
    place = tle.gpu.local_ptr(hist, (tl.where(inside, (high - key) >> shift, 0).to(tl.int32),))
    tl.atomic_add(place, 1, mask=inside, sem="relaxed", scope="cta")


@triton.jit
def threshold_of_cluster(key, valid, low, high, share, count, tiles, flip, rank, want, MESH: tl.constexpr,
                         BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """(threshold, ties): every key above threshold is wanted, and so many of those equal to it. key is tile 0 of
    the share; all keys of the cluster lie in low .. high."""
    KEY: tl.constexpr = key.dtype
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    parts = tle.gpu.alloc([2 * MESH.size * BINS], tl.int32, nv_mma_shared_layout=False)
    found = alloc_found()
    need = want
    turn = 0
    whole = False
    searching = True
    while searching:
        shift = bin_shift(low, high, BITS)
        clear(hist, BINS)
        count_range(hist, key, valid, low, high, shift)
        for t in range(1, tiles):
            more, there = tile_keys(share, t * BLOCK, count, flip, BLOCK, GROUP)
            count_range(hist, more, there, low, high, shift)
        bin, above, inside = pick_bin(sum_over_cluster(hist, parts, turn, rank, MESH), found, need)
        turn = 1 - turn
        need -= above
        high -= bin.to(KEY) << shift
        low = high - tl.minimum(high - low, (tl.full((), 1, KEY) << shift) - 1)
        whole = need == inside
        searching = (shift > 0) & (not whole)
    return low - tl.where(whole, 1, 0).to(KEY), tl.where(whole, 0, need)


@triton.jit
def list_element_there(listed, place, key, index, mask, MESH: tl.constexpr):
    """common.py's list_element in the list of CTA 0."""
    low = ~index.to(tl.uint32, bitcast=True)
    words = (key, low) if len(listed) == 2 else ((key.to(tl.uint64) << 32) | low.to(tl.uint64),)
    for i in tl.static_range(len(listed)):
        tl.store(tle.remote(tle.gpu.local_ptr(listed[i], (place,)), 0, scope=MESH), words[i], mask=mask)


@triton.jit
def put_chosen(listed, key, valid, index, threshold, ties, larger_before, equal_before, row, outputs, flags,
               SORTED: tl.constexpr, MESH: tl.constexpr):
    """Puts out a tile's chosen elements; returns how many of both kinds lie before the next tile."""
    chosen, place, larger, equal = chosen_of_tile(key, valid, threshold, ties, equal_before)
    if SORTED:
        list_element_there(listed, larger_before + place, key, index, chosen, MESH)
    else:
        write_outputs(larger_before + place, index, chosen, row, outputs, flags)
    return larger_before + larger, equal_before + equal


@triton.jit
def both_counts(key, valid, threshold):
    """How many keys are larger in the low half, how many are equal in the high half: both fit 16 bits."""
    return (valid & (key > threshold)).to(tl.int32) + ((valid & (key == threshold)).to(tl.int32) << 16)


@triton.jit
def write_share_of_row(row, end, want, rank, outputs, flags, MESH: tl.constexpr, BLOCK: tl.constexpr):
    """A row with no more than want elements selects them all."""
    offset = tl.arange(0, BLOCK)
    for t in range(rank, (want - 1) // BLOCK + 1, MESH.size):
        place = t * BLOCK + offset
        write_outputs(place, tl.where(offset < end - t * BLOCK, place, -1), offset < want - t * BLOCK, row, outputs,
                      flags)


@triton.jit
def list_share(listed, counts, row, share, end, count, want, flip, rank, MESH: tl.constexpr, BLOCK: tl.constexpr,
               GROUP: tl.constexpr, SAMPLE: tl.constexpr):
    """(how many elements of the share are listed, whether the lists of all CTAs together will do)"""
    KEPT: tl.constexpr = BLOCK + 1
    hist = tle.gpu.alloc([2048], tl.int32, nv_mma_shared_layout=False)
    mark = sample_mark(hist, alloc_found(), row, end, want, flip, GROUP, 4 * BLOCK, SAMPLE)
    kept = KEPT
    if mark > 0:
        kept = tl.minimum(list_from(listed, share, count, mark, flip, BLOCK, GROUP, BLOCK), KEPT)
    peer = tl.arange(0, MESH.size)
    there = tle.remote(tle.gpu.local_ptr(counts, (tl.full((MESH.size,), rank, tl.int32),)), peer, scope=MESH)
    tl.store(there, kept.to(tl.int64))
    tle.distributed_barrier(MESH)
    kepts = tl.load(tle.gpu.local_ptr(counts, (peer,))).to(tl.int32)
    return kept, (tl.sum(kepts) >= want + (GROUP - 1)) & (tl.max(kepts) <= BLOCK)


@triton.jit
def select_shares(listed, row, end, want, rank, outputs, flags, SORTED: tl.constexpr, MESH: tl.constexpr,
                  BLOCK: tl.constexpr, GROUP: tl.constexpr, SAMPLE: tl.constexpr):
    T: tl.constexpr = row.dtype.element_ty
    flip = tl.where((flags & SMALLEST) != 0, all_bits(T), 0)
    if end <= want:
        if SORTED:
            if rank == 0:
                write_row(listed, row, end, want, flip, outputs, flags, True, 1024, GROUP)
        else:
            write_share_of_row(row, end, want, rank, outputs, flags, MESH, 1024)
        return
    size = ((end - 1) // (MESH.size * GROUP) + 1) * GROUP
    offset = rank * size
    count = tl.minimum(tl.maximum(end - offset, 0), size)
    share = row + offset
    ends = (tle.gpu.alloc([MESH.size], key_type(T), nv_mma_shared_layout=False),
            tle.gpu.alloc([MESH.size], key_type(T), nv_mma_shared_layout=False))
    kepts = tle.gpu.alloc([MESH.size], tl.int64, nv_mma_shared_layout=False)
    counts = tle.gpu.alloc([MESH.size], tl.int64, nv_mma_shared_layout=False)
    tiles = (size - 1) // BLOCK + 1
    kept = 0
    narrowed = False
    if tiles > 1:
        kept, narrowed = list_share(listed, kepts, row, share, end, count, want, flip, rank, MESH, BLOCK, GROUP, SAMPLE)
    if narrowed:
        key, valid, index = listed_keys(listed, kept, count, flip, T, BLOCK)
        tiles = 1
    else:
        key, valid = tile_keys(share, 0, count, flip, BLOCK, GROUP)
        index = tl.arange(0, BLOCK)
    low, high = range_over_cluster(ends, key, valid, rank, MESH)
    if tiles > 1:
        low = tl.full((), 0, key_type(T))
        high = all_bits(T)
    threshold, ties = threshold_of_cluster(key, valid, low, high, share, count, tiles, flip, rank, want, MESH, BLOCK,
                                           GROUP)
    total = tl.sum(both_counts(key, valid, threshold))
    larger = total & 0xFFFF
    equal = total >> 16
    for t in range(1, tiles):
        more, there = tile_keys(share, t * BLOCK, count, flip, BLOCK, GROUP)
        total = tl.sum(both_counts(more, there, threshold))
        larger += total & 0xFFFF
        equal += total >> 16
    larger, equal = counts_before(counts, larger, equal, rank, MESH)
    larger, equal = put_chosen(listed, key, valid, offset + index, threshold, ties, larger, equal, row, outputs, flags,
                               SORTED, MESH)
    for t in range(1, tiles):
        more, there = tile_keys(share, t * BLOCK, count, flip, BLOCK, GROUP)
        larger, equal = put_chosen(listed, more, there, offset + t * BLOCK + tl.arange(0, BLOCK), threshold, ties,
                                   larger, equal, row, outputs, flags, SORTED, MESH)


@triton.jit
def radix_cluster(keys, payload, lengths, indices, values, payload_out, key_stride, payload_stride, index_stride,
                  value_stride, payload_out_stride, columns, k, flags, SORTED: tl.constexpr, MESH: tl.constexpr,
                  BLOCK: tl.constexpr, GROUP: tl.constexpr, SAMPLE: tl.constexpr):
    """One row per cluster. SORTED: k <= BLOCK."""
    tl.static_assert(BLOCK <= 16384, "two counts of a tile share one signed 32-bit word")
    rank = tle.shard_id(MESH, 0)
    row, end, outputs = open_row((tl.program_id(0) // MESH.size).to(tl.int64), keys, payload, lengths, indices, values,
                                 payload_out, key_stride, payload_stride, index_stride, value_stride,
                                 payload_out_stride, columns, flags)
    listed = alloc_list(BLOCK, row.dtype.element_ty)
    select_shares(listed, row, end, k, rank, outputs, flags, SORTED, MESH, BLOCK, GROUP, SAMPLE)
    if SORTED:
        tle.distributed_barrier(MESH)
        if rank == 0:
            write_sorted(listed, end, k, row, outputs, flags, BLOCK, 1024)
