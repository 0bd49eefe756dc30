"""The list of long.py: what a row has from a mark on, and the answer from that (common.py says in which order).

What a warp finds in one tile is a segment of the list: the warp takes its places by one atomic, so segments follow
each other in any order, and a table says where each is. Within a segment the order is that of the columns; so the
answer comes out in order without sorting.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.bins import (BIN_BITS, BINS, FEW, bin_bits, count_bins, find_bin, list_few, nth_of_few, range_scale,
                       score_below, threshold_of_keys)
from topk.common import ordered_key, put, score_of_key


@triton.jit
def part_offset(V: tl.constexpr):
    return tl.arange(0, V)[:, None, None] * 128 + tl.arange(0, 128)[None, None, :]


@triton.jit
def columns_left(first, end, GROUP: tl.constexpr):
    """From a row's first group on, in whole groups: so many may be read."""
    return ((end - first + GROUP - 1) // GROUP) * GROUP


@triton.jit
def tile_offset(V: tl.constexpr, W: tl.constexpr):
    return part_offset(V) + tl.arange(0, W)[None, :, None] * (V * 128)


@triton.jit
def load_masked(row, base, left, V: tl.constexpr, W: tl.constexpr, ONCE: tl.constexpr):
    """[V, W, 128] columns from base on: each warp's V * 128 are neighbours; left is how many may be read. ONCE: L2 need
    not keep them."""
    POLICY: tl.constexpr = "no_allocate" if ONCE else "evict_normal"
    offset = tile_offset(V, W)
    x = tl.load(row + base + offset, mask=offset < left, other=float("-inf"), eviction_policy=POLICY)
    return x.to(tl.float32)


@triton.jit
def load_tile(row, base, left, V: tl.constexpr, W: tl.constexpr, ONCE: tl.constexpr):
    """The same by fewer instructions where all may be read, in a branch that nothing is moved across."""
    POLICY: tl.constexpr = "no_allocate" if ONCE else "evict_normal"
    x = tl.full((V, W, 128), float("-inf"), tl.float32)
    if left >= W * V * 128:
        x = tl.load(row + base + tile_offset(V, W), eviction_policy=POLICY).to(tl.float32)
    else:
        x = load_masked(row, base, left, V, W, ONCE)
    return x


@triton.jit
def pair_of(x, i):
    return (i.to(tl.uint64) << 32) | x.to(tl.uint32, bitcast=True).to(tl.uint64)


@triton.jit
def bytes_before(packed, V: tl.constexpr):
    """[V, W]: sums over the lower bytes of packed."""
    each = (packed[None, :] >> (8 * tl.arange(0, V)[:, None])) & 0xFF
    return tle.cumsum(each, axis=0)


@triton.jit
def keep_tile(listed, segment, taken, x, base, number, left, start, end, mark, below, W: tl.constexpr,
              V: tl.constexpr, CAP: tl.constexpr):
    """Appends what one tile has from the mark on, each warp's as a segment."""
    if (base < start) | (left <= W * V * 128):  # left counts whole groups: the last one may be in part
        offset = tile_offset(V, W)
        x = tl.where((offset >= start - base) & (offset < end - base), x, float("-inf"))
    hit = tl.reshape(not (x < mark), (V, W, 32, 4))
    one = (1 << (8 * tl.arange(0, V)))[:, None, None, None]
    packed = tl.sum(tl.sum(tl.where(hit, one, 0), axis=3), axis=0)
    before, total = tle.cumsum(packed, axis=1)
    part, all = bytes_before(total, V)
    place = tl.atomic_add(tle.gpu.local_ptr(taken, (tl.zeros((W,), tl.int32),)), all, sem="relaxed", scope="cta")
    tl.store(tle.gpu.local_ptr(segment, (number + tl.arange(0, W),), apart=True), place + (all << 16))
    fits = place + all <= CAP
    in_part = (before[None, :, :] >> (8 * tl.arange(0, V)[:, None, None])) & 0xFF
    at = (place[None, :] + part)[:, :, None] + in_part
    # Once more rather than kept: predicates are few.
    hit = tl.reshape(not (x <= below), (V, W, 32, 4)) & fits[None, :, None, None]
    run, own = tle.cumsum(hit.to(tl.int32), axis=3)
    at = at[:, :, :, None] + run
    # What depends on the tile, and then constants: else the sums of the others would fill registers.
    lane = tl.arange(0, W)[None, :, None, None] * (V * 128) + tl.arange(0, 32)[None, None, :, None] * 4
    i = (lane + (base - start)) + (tl.arange(0, V)[:, None, None, None] * 128 + tl.arange(0, 4)[None, None, None, :])
    tl.store(tle.gpu.local_ptr(listed, (at,), apart=True), pair_of(tl.reshape(x, (V, W, 32, 4)), i), mask=hit)


@triton.jit
def keep_from_mark(listed, segment, taken, row, x, following, first, start, end, mark, W: tl.constexpr,
                   V: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr, ONCE: tl.constexpr):
    """Appends every element not below mark to the list, whole segments in any order; returns how many there are. x and
    following are the first two tiles. Where these have more than CAP already, as where one value is most of the row,
    it reads no further."""
    BLOCK: tl.constexpr = W * V * 128
    left = columns_left(first, end, GROUP)
    below = score_below(ordered_key(mark))
    keep_tile(listed, segment, taken, x, first, 0, left, start, end, mark, below, W, V, CAP)
    x = load_tile(row, first + 2 * BLOCK, left - 2 * BLOCK, V, W, ONCE)
    keep_tile(listed, segment, taken, following, first + BLOCK, W, left - BLOCK, start, end, mark, below, W, V, CAP)
    number = 2 * W
    kept = tl.load(tle.gpu.local_ptr(taken, (0,)))
    if (left > 2 * BLOCK) & (kept <= CAP):
        base = first + 2 * BLOCK
        left -= 2 * BLOCK
        while left > 0:
            keep_tile(listed, segment, taken, x, base, number, left, start, end, mark, below, W, V, CAP)
            base += BLOCK
            left -= BLOCK
            number += W
            x = load_tile(row, base, left, V, W, ONCE)
        kept = tl.load(tle.gpu.local_ptr(taken, (0,)))
    return kept


@triton.jit
def keep_again(listed, segment, taken, row, first, start, end, mark, W: tl.constexpr, V: tl.constexpr,
               GROUP: tl.constexpr, CAP: tl.constexpr, ONCE: tl.constexpr):
    """The same from the first tile on and to the end; returns how many there are."""
    BLOCK: tl.constexpr = W * V * 128
    left = columns_left(first, end, GROUP)
    below = score_below(ordered_key(mark))
    base = first
    number = 0
    x = load_tile(row, base, left, V, W, ONCE)
    while left > 0:
        following = load_tile(row, base + BLOCK, left - BLOCK, V, W, ONCE)
        keep_tile(listed, segment, taken, x, base, number, left, start, end, mark, below, W, V, CAP)
        x = following
        base += BLOCK
        left -= BLOCK
        number += W
    return tl.load(tle.gpu.local_ptr(taken, (0,)))


@triton.jit
def listed_scores(listed, place):
    return tl.load(tle.gpu.local_ptr(listed, (place,))).to(tl.uint32).to(tl.float32, bitcast=True)


@triton.jit
def threshold_of_list(room, listed, kept, low, high, want, CAP: tl.constexpr, W: tl.constexpr):
    """(key, ties): the want-th largest, and how many of those equal to it are wanted."""
    CHUNK: tl.constexpr = W * 64
    scale, offset = range_scale(low, high)
    for base in range(0, kept, CHUNK):
        count_bins(room[0], bin_bits(listed_scores(listed, base + tl.arange(0, CHUNK)), scale, offset, BINS))
    bin, above, inside = find_bin(room, want, W, BINS)
    key = tl.full((), 0, tl.uint32)
    ties = 0
    if inside <= FEW:
        for base in range(0, kept, CHUNK):
            x = tl.trans(tl.reshape(listed_scores(listed, base + tl.arange(0, CHUNK)), (W * 32, 2)))
            list_few(room, x, bin_bits(x, scale, offset, BINS) == bin + BIN_BITS)
        key, ties, same = nth_of_few(room, inside, want - above)
    else:
        place = tl.arange(0, CAP)
        x = tl.load(tle.gpu.local_ptr(listed, (place,)), mask=place < kept, other=0).to(tl.uint32)
        keys = tl.where(place < kept, ordered_key(x.to(tl.float32, bitcast=True)), 0)
        key, ties = threshold_of_keys(room, keys, want, W, BINS)
        if ties == 0:
            key += 1
            ties = CAP
    return key, ties


@triton.jit
def rank_of(x, low, EQUAL: tl.constexpr):
    """1 for a score above low, EQUAL for one equal to it, which is no NaN."""
    return (not (x <= low)).to(tl.int32) + tl.where(x == low, EQUAL, 0)


@triton.jit
def widened(own):
    """Two counts of four bits as two of sixteen."""
    return (own & 15) | ((own >> 4) << 16)


@triton.jit
def rank_at(rank, ranks_before, place, each):
    """What lies before a place of the list, given what lies before it among its thread's and before each thread's."""
    thread = ((place.to(tl.float32) + 0.5) * (1.0 / each.to(tl.float32))).to(tl.int32)
    own = tl.load(tle.gpu.local_ptr(rank, (place,))).to(tl.int32)
    return widened(own) + tl.load(tle.gpu.local_ptr(ranks_before, (thread,)))


@triton.jit
def write_list(out, listed, segment, kept, number, low, ties, skipped, want, CAP: tl.constexpr, SEGS: tl.constexpr,
               SEGMENT: tl.constexpr, W: tl.constexpr, LIST: tl.constexpr):
    """Writes the indices of the list's selected elements in ascending order. The list consists of segments, in any
    order, each in ascending order and of SEGMENT columns."""
    THREADS: tl.constexpr = W * 32
    tl.static_assert(CAP // THREADS <= 14, "a thread's elements are counted in four bits")
    each = (kept // THREADS + 1) | 1  # odd, so that no two threads' places share a bank
    first = tl.arange(0, THREADS) * each
    rank = tle.gpu.alloc([CAP + 2 * THREADS], tl.uint8, nv_mma_shared_layout=False)
    ranks_before = tle.gpu.alloc([THREADS], tl.int32, nv_mma_shared_layout=False)
    own = tl.zeros((THREADS,), tl.int32)
    for e in range(0, each):
        tl.store(tle.gpu.local_ptr(rank, (first + e,), apart=True), own.to(tl.uint8))
        own += rank_of(listed_scores(listed, first + e), low, 16)
    before, total = tle.cumsum(widened(own))
    tl.store(tle.gpu.local_ptr(ranks_before, (tl.arange(0, THREADS),)), before)
    s = tl.arange(0, SEGS)
    entry = tl.load(tle.gpu.local_ptr(segment, (s,)), mask=s < number, other=0)
    a = entry & 0xFFFF
    b = a + (entry >> 16)
    start_rank = rank_at(rank, ranks_before, a, each)
    end_rank = rank_at(rank, ranks_before, b, each)
    goes, all = tle.cumsum(end_rank - start_rank)
    tl.store(tle.gpu.local_ptr(segment, (s,)), goes - start_rank)  # what is to be added to ranks in it
    if not LIST:
        staged = tle.gpu.alloc([CAP // 3], tl.int32, nv_mma_shared_layout=False)
    for e in range(0, each):
        pair = tl.load(tle.gpu.local_ptr(listed, (first + e,)))
        flag = rank_of(pair.to(tl.uint32).to(tl.float32, bitcast=True), low, 65536)
        i = (pair >> 32).to(tl.int32)
        to = before + tl.load(tle.gpu.local_ptr(segment, (((i + skipped).to(tl.uint32) // SEGMENT).to(tl.int32),)))
        place = (to & 0xFFFF) + tl.minimum(to >> 16, ties)
        chosen = (((flag & 1) != 0) | ((flag != 0) & ((to >> 16) < ties))) & (place < want)
        if not LIST:
            tl.store(tle.gpu.local_ptr(staged, (place,), apart=True), i, mask=chosen)
        else:
            put(out, place, i, chosen, LIST)
        before += flag
    if not LIST:
        for base in range(0, want, 2048):
            place = base + tl.arange(0, 2048)
            tl.store(out + place, tl.load(tle.gpu.local_ptr(staged, (place,)), mask=place < want), mask=place < want)


@triton.jit
def select_list(out, room, listed, segment, kept, number, mark, high, skipped, want, CAP: tl.constexpr,
                SEGS: tl.constexpr, SEGMENT: tl.constexpr, W: tl.constexpr, LIST: tl.constexpr):
    """Writes the indices of the want largest, which the list has, in ascending order. high is near the largest."""
    pads = kept + tl.arange(0, W * 64)  # the list is read in whole chunks
    tl.store(tle.gpu.local_ptr(listed, (pads,), apart=True), tl.full((W * 64,), 0xFF800000, tl.uint64))
    key, ties = threshold_of_list(room, listed, kept, mark, high, want, CAP, W)
    # NaN, which scores cannot be compared with: the first of what is above +inf, and nothing that equals it
    ties = tl.where(key > 0xFF800000, 0, ties)
    low = score_of_key(tl.minimum(key, 0xFF800000))
    write_list(out, listed, segment, kept, number, low, ties, skipped, want, CAP, SEGS, SEGMENT, W, LIST)
