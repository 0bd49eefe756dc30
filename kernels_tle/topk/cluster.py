"""Exact top-k selection, one cluster of CTAs per row, fp32 scores.

Order and output are those of select.py, the method is radix select over the same order-preserving
32-bit key, by digits of 8 bits. Each CTA has a contiguous share of the row. It counts a digit over
its share and hands the 256 counts to every CTA; each sums them and finds the digit by itself. Few
bins and one exchange are what the cluster is fast at: a digit costs one cluster barrier, and the
counts travel as whole 16-byte stores of which a warp sends all to one peer. The answer's place
follows from how many keys the lower ranks selected.

A share that fits one tile stays in registers, so such a row is read once. Other rows are read once
for each digit, once to count and once to write. Shares may be empty.
"""
import triton
import triton.language as tl
import triton.experimental.tle as tled
import triton.experimental.tle.language as tle

BITS = tl.constexpr(8)
BINS = tl.constexpr(256)
MESH8 = tled.device_mesh({"block_cluster": [("cluster_x", 8)]})
MESH16 = tled.device_mesh({"block_cluster": [("cluster_x", 16)]})


@triton.jit
def ordered_key(x):
    """uint32 that orders like the score; at least 0x007fffff (-inf), so 0 is below every score."""
    bits = x.to(tl.uint32, bitcast=True)
    bits = tl.where(x == 0.0, 0, bits)
    key = tl.where((bits >> 31) != 0, ~bits, bits | 0x80000000)
    return tl.where(x != x, 0xFFFFFFFF, key)


@triton.jit
def tile_keys(share, base, skip, count, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Keys of places base .. base + BLOCK - 1 of a share, 0 outside skip .. count - 1. Loads are masked by
    whole groups of GROUP columns, which the launch guarantees to lie inside the row."""
    offset = tl.arange(0, BLOCK)
    left = count - base
    in_group = (offset // GROUP) < ((tl.minimum(left, BLOCK) + (GROUP - 1)) // GROUP)
    x = tl.load(share + base + offset, mask=in_group, other=0.0)
    return tl.where((offset < left) & (offset >= skip - base), ordered_key(x), 0)


@triton.jit
def clear(hist):
    tl.store(tle.gpu.local_ptr(hist, (tl.arange(0, BINS),)), tl.zeros((BINS,), tl.int32))


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
def alloc_found():
    """Three words that one thread writes and all read; apart, so that no barrier comes between."""
    a = tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False)
    b = tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False)
    c = tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False)
    return a, b, c


@triton.jit
def pick_bin(count, found, need):
    """The bin that holds the need-th largest, how many lie above it, how many in it. Bins go from the
    largest keys down."""
    bins = tl.arange(0, BINS)
    above, total = tle.cumsum(count)
    # Exactly one bin is hit; its thread tells the others.
    hit = (above < need) & (above + count >= need)
    for i in tl.static_range(3):
        tl.store(tle.gpu.local_ptr(found[i], (tl.zeros((BINS,), tl.int32),)), (bins, above, count)[i], mask=hit)
    return (tl.load(tle.gpu.local_ptr(found[0], (0,))), tl.load(tle.gpu.local_ptr(found[1], (0,))),
            tl.load(tle.gpu.local_ptr(found[2], (0,))))


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
        clear(hist)
        count_digit(hist, key, prefix, shift.to(tl.uint32))
        for t in range(1, tiles):
            more = tile_keys(share, t * BLOCK, skip, count, BLOCK, GROUP)
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
def write_tile(out, key, before, index, threshold, ties, larger_before, equal_before):
    """Writes the indices of a tile's selected keys; before counts both kinds in front of each key."""
    equal_rank = equal_before + (before >> 16)
    selected = (key > threshold) | ((key == threshold) & (equal_rank < ties))
    tl.store(out + larger_before + (before & 0xFFFF) + tl.minimum(equal_rank, ties), index, mask=selected)


@triton.jit
def write_all(out, count, want, rank, CTAS: tl.constexpr, BLOCK: tl.constexpr):
    """A row with no more than want elements selects them all; -1 fills the rest."""
    for base in range(rank * BLOCK, want, CTAS * BLOCK):
        place = base + tl.arange(0, BLOCK)
        tl.store(out + place, tl.where(place < count, place, -1), mask=place < want)


@triton.jit
def topk_cluster(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
                 MESH: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """One row per cluster. flags: 1 = lengths given, 2 = row_starts given. K = 0: k is a run-time value."""
    tl.static_assert(BLOCK <= 16384, "two counts of a tile share one signed 32-bit word")
    CTAS: tl.constexpr = MESH.size
    rank = tle.shard_id(MESH, 0)
    row_id = (tl.program_id(0) // CTAS).to(tl.int64)
    start = 0
    length = columns
    if (flags & 2) != 0:
        start = tl.load(row_starts + row_id)
    if (flags & 1) != 0:
        length = tl.load(lengths + row_id)
    start = tl.minimum(tl.maximum(start, 0), columns)
    length = tl.minimum(tl.maximum(length, 0), columns - start)
    want = k if K == 0 else K
    out = indices + row_id * index_stride
    if length <= want:
        write_all(out, length, want, rank, CTAS, 256)
        return
    # Shares are whole groups from the group that holds the row's start; places count from there.
    first = (start // GROUP) * GROUP
    skip = start - first
    span = skip + length
    size = ((span - 1) // (CTAS * GROUP) + 1) * GROUP
    offset = rank * size
    count = tl.minimum(tl.maximum(span - offset, 0), size)
    share = scores + row_id * row_stride + first + offset
    skip = tl.maximum(skip - offset, 0)
    tiles = (size - 1) // BLOCK + 1
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    parts = tle.gpu.alloc([2 * CTAS * BINS], tl.int32, nv_mma_shared_layout=False)
    found = alloc_found()
    counts = tle.gpu.alloc([CTAS], tl.int64, nv_mma_shared_layout=False)
    key = tile_keys(share, 0, skip, count, BLOCK, GROUP)
    threshold, ties = find_threshold(hist, parts, found, key, share, skip, count, tiles, rank, want, MESH, BLOCK,
                                     GROUP)
    before, total = tle.cumsum(both_counts(key, threshold))
    larger = total & 0xFFFF
    equal = total >> 16
    for t in range(1, tiles):
        more = tile_keys(share, t * BLOCK, skip, count, BLOCK, GROUP)
        total = tl.sum(both_counts(more, threshold))
        larger += total & 0xFFFF
        equal += total >> 16
    larger_before, equal_before = counts_before(counts, larger, equal, rank, MESH)
    # Places of the share become indices of the row.
    index = offset + first - start + tl.arange(0, BLOCK)
    write_tile(out, key, before, index, threshold, ties, larger_before, equal_before)
    for t in range(1, tiles):
        total = tl.sum(both_counts(key, threshold))
        larger_before += total & 0xFFFF
        equal_before += total >> 16
        key = tile_keys(share, t * BLOCK, skip, count, BLOCK, GROUP)
        before, total = tle.cumsum(both_counts(key, threshold))
        write_tile(out, key, before, index + t * BLOCK, threshold, ties, larger_before, equal_before)
