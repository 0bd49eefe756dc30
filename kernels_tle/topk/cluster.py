"""Exact top-k selection, one cluster of CTAs per row, fp32 scores.

Order and output are those of select.py, the method is radix select over the same order-preserving
32-bit key, by digits of 8 bits. Each CTA has a contiguous share of the row. It counts a digit over
its share and hands the 256 counts to every CTA; each sums them and finds the digit by itself. Few
bins and one exchange are what the cluster is fast at: a digit costs one cluster barrier, and the
counts travel as whole 16-byte stores of which a warp sends all to one peer. The answer's place
follows from how many keys the lower ranks selected.

A share that fits one tile stays in registers, so such a row is read once. Other rows are read once
for each digit, once to count and once to write. Shares may be empty.

The two forms are select.py's: LIST = 0 writes the indices; LIST > 0 selects into a list in the shared
memory of CTA 0, from which that CTA makes the outputs.
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice
import triton.experimental.tle as tled
import triton.experimental.tle.language as tle

BITS = tl.constexpr(8)
BINS = tl.constexpr(256)

# Bits of flags: which of the arrays the call passes, and SORTED and ABSOLUTE of its options.
LENGTHS = tl.constexpr(1)
ROW_STARTS = tl.constexpr(2)
INDICES = tl.constexpr(4)
VALUES = tl.constexpr(8)
RAW = tl.constexpr(16)
SORTED = tl.constexpr(32)
ABSOLUTE = tl.constexpr(64)
PAGES = tl.constexpr(128)
ROW_TO_TABLE = tl.constexpr(256)
OFFSETS = tl.constexpr(512)

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
def write_outputs(place, index, mask, row, start, row_id, request, indices, index_stride, flags, rest):
    """Writes what the call asks for about the elements `index` of the row, of which -1 is none."""
    values, value_stride, raw, raw_stride, offsets, table, table_stride, tables, page_shift, row_to_table = rest
    chosen = mask & (index >= 0)
    if (flags & VALUES) != 0:
        value = tl.load(row + start + index, mask=chosen, other=float("-inf"))
        tl.store(values + row_id * value_stride + place, value, mask=mask)
    if (flags & ABSOLUTE) != 0:
        index = tl.where(chosen, index + start, -1)
    if (flags & RAW) != 0:
        tl.store(raw + row_id * raw_stride + place, index, mask=mask)
    if (flags & PAGES) != 0:
        number = request
        if (flags & ROW_TO_TABLE) != 0:
            number = tl.load(row_to_table + row_id)
        paged = chosen & (number >= 0) & (number < tables)
        page = tl.load(table + number.to(tl.int64) * table_stride + (index >> page_shift), mask=paged, other=0)
        index = tl.where(paged, (page << page_shift) + (index & ((1 << page_shift) - 1)), -1)
    if (flags & OFFSETS) != 0:
        index = tl.where(chosen, index + tl.load(offsets + row_id), -1)
    if (flags & INDICES) != 0:
        tl.store(indices + row_id * index_stride + place, index, mask=mask)


@triton.jit
def sort_list(listed, want, row, start, LIST: tl.constexpr):
    """Sorts the list by key descending, then index ascending; -1 has key 0, so it comes last. A bitonic
    network in shared memory, as a loop over its stages: few instructions, and only as many stages as want
    asks for."""
    pairs = tle.gpu.alloc([LIST], tl.uint64, nv_mma_shared_layout=False)
    size = 1 << (32 - libdevice.clz(tl.maximum(want, 2) - 1))
    for base in range(0, size, 512):
        place = base + tl.arange(0, 512)
        index = tl.load(tle.gpu.local_ptr(listed, (place,)), mask=place < want, other=-1)
        x = tl.load(row + start + index, mask=index >= 0, other=0.0)
        key = tl.where(index >= 0, ordered_key(x), 0).to(tl.uint64)
        pair = (key << 32) | (~index).to(tl.uint32, bitcast=True).to(tl.uint64)
        tl.store(tle.gpu.local_ptr(pairs, (place,)), pair, mask=place < size)
    width = 2
    while width <= size:
        distance = width // 2
        while distance > 0:
            number = tl.arange(0, LIST // 2)
            left = ((number & ~(distance - 1)) << 1) | (number & (distance - 1))
            here = number < size // 2
            a = tl.load(tle.gpu.local_ptr(pairs, (left,)), mask=here)
            b = tl.load(tle.gpu.local_ptr(pairs, (left + distance,)), mask=here)
            turn = here & ((a < b) != ((left & width) != 0))
            tl.store(tle.gpu.local_ptr(pairs, (left,)), b, mask=turn)
            tl.store(tle.gpu.local_ptr(pairs, (left + distance,)), a, mask=turn)
            distance = distance // 2
        width = width * 2
    for base in range(0, want, 512):
        place = base + tl.arange(0, 512)
        pair = tl.load(tle.gpu.local_ptr(pairs, (place,)), mask=place < want, other=0)
        index = ~pair.to(tl.uint32).to(tl.int32, bitcast=True)
        tl.store(tle.gpu.local_ptr(listed, (place,)), index, mask=place < want)


@triton.jit
def finish(listed, want, row, start, row_id, request, indices, index_stride, flags, rest, LIST: tl.constexpr,
           BLOCK: tl.constexpr):
    """From the list of a row's chosen elements, in ascending order and then -1, to the outputs."""
    if (flags & SORTED) != 0:
        sort_list(listed, want, row, start, LIST)
    for base in range(0, want, BLOCK):
        place = base + tl.arange(0, BLOCK)
        index = tl.load(tle.gpu.local_ptr(listed, (place,)), mask=place < want, other=-1)
        write_outputs(place, index, place < want, row, start, row_id, request, indices, index_stride, flags,
                      rest)


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
    write_tile(out, key, before, index, threshold, ties, larger_before, equal_before, LIST, MESH)
    for t in range(1, tiles):
        total = tl.sum(both_counts(key, threshold))
        larger_before += total & 0xFFFF
        equal_before += total >> 16
        key = tile_keys(share, t * BLOCK, skip, count, BLOCK, GROUP)
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
    row_id = (tl.program_id(0) // MESH.size).to(tl.int64)
    request = tl.program_id(0) // MESH.size // next_n
    start = 0
    length = columns
    if (flags & ROW_STARTS) != 0:
        start = tl.load(row_starts + row_id)
    if (flags & LENGTHS) != 0:
        if LIST:
            length = tl.maximum(tl.load(lengths + request), 0)
            length -= next_n - 1 - (tl.program_id(0) // MESH.size) % next_n
        else:
            length = tl.load(lengths + row_id)
    start = tl.minimum(tl.maximum(start, 0), columns)
    length = tl.minimum(tl.maximum(length, 0), columns - start)
    want = k if K == 0 else K
    row = scores + row_id * row_stride
    out = tle.gpu.alloc([LIST], tl.int32, nv_mma_shared_layout=False) if LIST else indices + row_id * index_stride
    select_shares(out, row, start, length, want, rank, MESH, BLOCK, GROUP, LIST)
    if LIST:
        tle.distributed_barrier(MESH)
        if rank == 0:
            rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                    page_shift, row_to_table)
            finish(out, want, row, start, row_id, request, indices, index_stride, flags, rest, LIST, 1024)
