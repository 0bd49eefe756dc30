"""Exact top-k selection, one cluster of CTAs per row, fp32 scores.

common.py says in which order. The method is radix select over the same order-preserving
32-bit key, by digits of 8 bits. Each CTA has a contiguous share of the row. It counts a digit over
its share and hands the 256 counts to every CTA; each sums them and finds the digit by itself. Few
bins and one exchange are what the cluster is fast at: a digit costs one cluster barrier, and the
counts travel as whole 16-byte stores of which a warp sends all to one peer. The answer's place
follows from how many keys the lower ranks selected.

A share that fits one tile stays in registers, so such a row is read once. Other rows are read once
for each digit, once to count and once to write. Shares may be empty.

With LIST > 0 the list is in the shared memory of CTA 0, from which that CTA makes the outputs.
"""
import triton
import triton.language as tl
import triton.experimental.tle as tled
import triton.experimental.tle.language as tle
from topk.common import alloc_found, clear, finish, load_groups, open_row, ordered_key, pick_bin

BITS = tl.constexpr(8)
BINS = tl.constexpr(256)

MESH8 = tled.device_mesh({"block_cluster": [("cluster_x", 8)]})
MESH16 = tled.device_mesh({"block_cluster": [("cluster_x", 16)]})


@triton.jit
def share_keys(share, base, skip, count, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Keys of places base .. base + BLOCK - 1 of a share, 0 outside skip .. count - 1."""
    offset = tl.arange(0, BLOCK)
    x = load_groups(share, base, count, 0.0, BLOCK, GROUP)
    return tl.where((offset < count - base) & (offset >= skip - base), ordered_key(x), 0)


@triton.jit
def count_digit(hist, key, prefix, shift):
    digit = key >> shift
    counted = (key != 0) & ((digit >> BITS) == prefix)
    place = tle.gpu.local_ptr(hist, ((~digit & (BINS - 1)).to(tl.int32),))
    tl.atomic_add(place, 1, mask=counted, sem="relaxed", scope="cta")


@triton.jit
def sum_over_cluster(hist, parts, turn, rank, MESH: tl.constexpr):
    """Every bin's count over the whole cluster. Uses half `turn` of parts, so that a
    CTA may push the next digit's counts while another one still sums these."""
    ROWS: tl.constexpr = 4
    bin = tl.arange(0, BINS)[None, :]
    peer = tl.arange(0, MESH.size)[:, None]
    half = turn * (MESH.size * BINS)
    count = tl.load(tle.gpu.local_ptr(hist, (bin,)))
    mine = tle.gpu.local_ptr(parts, (half + rank * BINS + bin,))
    tl.store(tle.remote(mine, peer, scope=MESH), count)
    tle.distributed_barrier(MESH)
    row = tl.arange(0, ROWS)[:, None]
    total = tl.zeros((ROWS, BINS), tl.int32)
    for i in tl.static_range(MESH.size // ROWS):
        total += tl.load(tle.gpu.local_ptr(parts, (half + (i * ROWS + row) * BINS + bin,)))
    return tl.sum(total, axis=0)


@triton.jit
def find_threshold(hist, parts, found, key, share, skip, count, tiles, rank, want, MESH: tl.constexpr,
                   BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """(threshold, ties): every key above threshold is wanted, and so many of those equal to it. key is
    tile 0 of the share."""
    need = want
    prefix = tl.full((), 0, tl.uint32)
    shift = 32
    inside = 0
    while (shift > 0) & (need != inside):
        shift -= BITS
        clear(hist, BINS)
        count_digit(hist, key, prefix, shift.to(tl.uint32))
        for t in range(1, tiles):
            more = share_keys(share, t * BLOCK, skip, count, BLOCK, GROUP)
            count_digit(hist, more, prefix, shift.to(tl.uint32))
        sums = sum_over_cluster(hist, parts, (shift // BITS) % 2, rank, MESH)
        digit, above, inside = pick_bin(sums, found, need)
        need -= above
        prefix = (prefix << BITS) | (BINS - 1 - digit).to(tl.uint32)
    lowest = prefix << shift.to(tl.uint32)
    whole = need == inside
    return lowest - tl.where(whole, 1, 0).to(tl.uint32), tl.where(whole, 0, need)


@triton.jit
def both_counts(key, threshold):
    """How many keys are larger in the low half, how many are equal in the high half: both fit 16 bits."""
    return (key > threshold).to(tl.int32) + ((key == threshold).to(tl.int32) << 16)


@triton.jit
def counts_before(counts, larger, equal, rank, MESH: tl.constexpr):
    """(larger, equal) summed over the lower ranks."""
    peer = tl.arange(0, MESH.size)
    both = larger.to(tl.int64) | (equal.to(tl.int64) << 32)
    there = tle.remote(tle.gpu.local_ptr(counts, (tl.full((MESH.size,), rank, tl.int32),)), peer, scope=MESH)
    tl.store(there, both)
    tle.distributed_barrier(MESH)
    lower = tl.load(tle.gpu.local_ptr(counts, (peer,)))
    lower = tl.sum(tl.where(peer < rank, lower, 0))
    return lower.to(tl.int32), (lower >> 32).to(tl.int32)


@triton.jit
def put(out, place, index, mask, LIST: tl.constexpr, MESH: tl.constexpr):
    """Writes to CTA 0's list if there is one, else to memory."""
    if LIST:
        tl.store(tle.remote(tle.gpu.local_ptr(out, (place,)), 0, scope=MESH), index, mask=mask)
    else:
        tl.store(out + place, index, mask=mask)


@triton.jit
def write_tile(out, key, before, index, threshold, ties, larger_before, equal_before, LIST: tl.constexpr,
               MESH: tl.constexpr):
    """Writes the indices of a tile's selected keys; before counts both kinds in front of each key."""
    equal_rank = equal_before + (before >> 16)
    selected = (key > threshold) | ((key == threshold) & (equal_rank < ties))
    put(out, larger_before + (before & 0xFFFF) + tl.minimum(equal_rank, ties), index, selected, LIST, MESH)


@triton.jit
def write_all(out, count, want, rank, BLOCK: tl.constexpr, LIST: tl.constexpr, MESH: tl.constexpr):
    """A row with no more than want elements selects them all; -1 fills the rest."""
    for base in range(rank * BLOCK, want, MESH.size * BLOCK):
        place = base + tl.arange(0, BLOCK)
        put(out, place, tl.where(place < count, place, -1), place < want, LIST, MESH)


@triton.jit
def select_shares(out, row, start, length, want, rank, MESH: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr,
                  LIST: tl.constexpr):
    CTAS: tl.constexpr = MESH.size
    if length <= want:
        write_all(out, length, want, rank, 256, LIST, MESH)
        return
    # Shares are whole groups from the group that holds the row's start; places count from there.
    first = (start // GROUP) * GROUP
    skip = start - first
    span = skip + length
    size = ((span - 1) // (CTAS * GROUP) + 1) * GROUP
    offset = rank * size
    count = tl.minimum(tl.maximum(span - offset, 0), size)
    share = row + first + offset
    skip = tl.maximum(skip - offset, 0)
    tiles = (size - 1) // BLOCK + 1
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    parts = tle.gpu.alloc([2 * CTAS * BINS], tl.int32, nv_mma_shared_layout=False)
    found = alloc_found()
    counts = tle.gpu.alloc([CTAS], tl.int64, nv_mma_shared_layout=False)
    key = share_keys(share, 0, skip, count, BLOCK, GROUP)
    threshold, ties = find_threshold(hist, parts, found, key, share, skip, count, tiles, rank, want, MESH, BLOCK,
                                     GROUP)
    before, total = tle.cumsum(both_counts(key, threshold))
    larger = total & 0xFFFF
    equal = total >> 16
    for t in range(1, tiles):
        more = share_keys(share, t * BLOCK, skip, count, BLOCK, GROUP)
        total = tl.sum(both_counts(more, threshold))
        larger += total & 0xFFFF
        equal += total >> 16
    larger_before, equal_before = counts_before(counts, larger, equal, rank, MESH)
    # Places of the share become indices of the row.
    index = offset + first - start + tl.arange(0, BLOCK)
    write_tile(out, key, before, index, threshold, ties, larger_before, equal_before, LIST, MESH)
    for t in range(1, tiles):
        total = tl.sum(both_counts(key, threshold))
        larger_before += total & 0xFFFF
        equal_before += total >> 16
        key = share_keys(share, t * BLOCK, skip, count, BLOCK, GROUP)
        before, total = tle.cumsum(both_counts(key, threshold))
        write_tile(out, key, before, index + t * BLOCK, threshold, ties, larger_before, equal_before, LIST, MESH)


@triton.jit
def topk_cluster(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
                 MESH: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr,
                 LIST: tl.constexpr = 0, next_n=1, values=None, value_stride=0, raw_indices=None, raw_stride=0,
                 offsets=None, page_table=None, table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per cluster. K = 0: k is a run-time value."""
    tl.static_assert(BLOCK <= 16384, "two counts of a tile share one signed 32-bit word")
    rank = tle.shard_id(MESH, 0)
    program = tl.program_id(0) // MESH.size
    row, start, end, want, out = open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride,
                                          columns, k, flags, next_n, K, LIST)
    select_shares(out, row, start, end - start, want, rank, MESH, BLOCK, GROUP, LIST)
    if LIST:
        tle.distributed_barrier(MESH)
        if rank == 0:
            rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                    page_shift, row_to_table)
            finish(out, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST, 1024)
