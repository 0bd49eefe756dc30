"""Top-k selection that reads a long row once: a sample gives a low mark, every element from the mark upwards goes
to a list in shared memory, the list is selected from (bins.py). common.py says in which order.

What a warp finds in one tile is a segment of the list: the warp takes its places by one atomic, so segments follow
each other in any order, and a table says where each is. Within a segment the order is that of the columns; so the
answer comes out in order without sorting.

A mark is never trusted: elements from it upwards are counted. Where they are too many or too few, one more read of
the row counts by keys what the mark left open. Either a value that many elements share turns out to be the one at
the border - the mark itself, mostly - or a better mark is known exactly. One read more writes the answer, or makes
the list.

Source of the method: sampling as in Floyd and Rivest, "Expected time bounds for selection" (CACM 1975).
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.bins import (BIN_BITS, BINS, FEW, alloc_select, bin_bits, count_bins, find_bin, list_few, nth_of_few,
                       range_scale, score_below, score_of_key, signed_bits, threshold_of_keys)
from topk.common import bin_shift, clear, finish, load_groups, open_row, ordered_key, put, write_all


@triton.jit
def tile_offset(V: tl.constexpr, W: tl.constexpr):
    part = tl.arange(0, V)[:, None, None] * 128 + tl.arange(0, 128)[None, None, :]
    return part + tl.arange(0, W)[None, :, None] * (V * 128)


@triton.jit
def load_tile(row, base, left, V: tl.constexpr, W: tl.constexpr):
    """[V, W, 128] columns from base on: each warp's V * 128 are neighbours; left is how many may be read."""
    offset = tile_offset(V, W)
    return tl.load(row + base + offset, mask=offset < left, other=float("-inf")).to(tl.float32)


@triton.jit
def nth_of_warps(words, n, W: tl.constexpr):
    """The n-th largest of W words in shared memory. Every warp finds out for itself."""
    lane = tl.arange(0, 32)
    own = tl.load(tle.gpu.local_ptr(words, (lane % W,)))
    above = tl.zeros((32,), tl.int32)
    for w in tl.static_range(W):
        above += (tl.load(tle.gpu.local_ptr(words, (w,))) > own).to(tl.int32)
    return tl.max(tl.where(above >= n - 1, own, -2147483648))


@triton.jit
def sample_mark(row, start, end, aim, W: tl.constexpr, D: tl.constexpr):
    """(mark, top): about aim elements of the row are not below mark; top is the largest of the sample.

    The sample is 8 * W runs of 32 neighbours, or up to D times as many of a long row, of which D each are folded
    into one by their maxima. Their elements are dealt out to 8 * W groups, none of which gets two of one run, and a
    group counts by its largest element. The mark is the median over the warps of the fifth largest of each warp's 8
    groups: a group stays below it with a probability of 0.44, from which the size of groups follows."""
    RUNS: tl.constexpr = 8 * W
    n = end - start
    folded = tl.minimum(tl.maximum(n >> 17, 1), D)
    sample = tle.gpu.alloc([RUNS * 32], tl.float32, nv_mma_shared_layout=False)
    lows = tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False)
    highs = tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False)
    lane = tl.arange(0, 32)[None, None, :]
    run = (tl.arange(0, 8)[:, None] * W + tl.arange(0, W)[None, :])[:, :, None]
    x = tl.full((8, W, 32), float("-inf"), tl.float32)
    for d in tl.static_range(D):
        at = tl.umulhi((run + d * RUNS).to(tl.uint32) * 0x9E3779B1, (n - 31).to(tl.uint32)).to(tl.int32)
        more = tl.load(row + start + at + lane, mask=folded > d, other=float("-inf"))
        x = tl.maximum(x, more.to(tl.float32))
    tl.store(tle.gpu.local_ptr(sample, (run * 32 + lane,)), x)
    share = aim.to(tl.float32) * folded.to(tl.float32)
    size = tl.minimum(tl.maximum((0.82 * n.to(tl.float32) / share + 0.1).to(tl.int32), 1), 32)
    x = tl.load(tle.gpu.local_ptr(sample, ((run + lane * (RUNS // 32)) % RUNS * 32 + lane,)))
    best = tl.max(tl.where(lane < size, signed_bits(x), -2147483648), axis=2)
    best = tl.sort(best, dim=0, descending=True)
    w = tl.arange(0, W)
    number = tl.arange(0, 8)[:, None]
    tl.store(tle.gpu.local_ptr(lows, (w,)), tl.max(tl.where(number == 4, best, -2147483648), axis=0))
    tl.store(tle.gpu.local_ptr(highs, (w,)), tl.max(best, axis=0))
    mark = nth_of_warps(lows, W // 2, W)
    high = tl.max(tl.load(tle.gpu.local_ptr(highs, (tl.arange(0, 32) % W,))))
    return signed_bits(mark).to(tl.float32, bitcast=True), signed_bits(high).to(tl.float32, bitcast=True)


@triton.jit
def valid_keys(x, base, start, end, BLOCK: tl.constexpr):
    offset = tl.arange(0, BLOCK)
    return tl.where((offset < end - base) & (offset >= start - base), ordered_key(x), 0)


@triton.jit
def write_in_order(out, row, first, start, end, threshold, ties, W: tl.constexpr, GROUP: tl.constexpr,
                   LIST: tl.constexpr):
    """Writes the positions of the selected keys in ascending order, in one read of the row."""
    BLOCK: tl.constexpr = W * 256
    before = 0
    equals = 0
    x = load_groups(row, first, end, float("-inf"), BLOCK, GROUP).to(tl.float32)
    for base in range(first, end, BLOCK):
        following = load_groups(row, base + BLOCK, end, float("-inf"), BLOCK, GROUP).to(tl.float32)
        key = valid_keys(x, base, start, end, BLOCK)
        rank, total = tle.cumsum((key > threshold).to(tl.int32) + ((key == threshold).to(tl.int32) << 16))
        equal_rank = equals + (rank >> 16)
        chosen = (key > threshold) | ((key == threshold) & (equal_rank < ties))
        place = before + (rank & 0xFFFF) + tl.minimum(equal_rank, ties)
        put(out, place, base - start + tl.arange(0, BLOCK), chosen, LIST)
        before += total & 0xFFFF
        equals += total >> 16
        x = following


@triton.jit
def narrow(room, row, first, start, end, want, low, met, CAP: tl.constexpr, W: tl.constexpr, GROUP: tl.constexpr):
    """(threshold, ties, found): where a mark with key `low`, which `met` elements are not below, served badly. Either
    the answer, as write_in_order takes it, or, not found, a key that at least want and at most CAP elements are not
    below. Reads the row once for each 11 bits of the keys in question."""
    BLOCK: tl.constexpr = W * 256
    mark = low
    top = tl.full((), 0xFFFFFFFF, tl.uint32)
    if met < want:
        top = low - 1
        low = tl.full((), 0x007FFFFF, tl.uint32)
    above = tl.where(met < want, met, 0)
    inside = CAP + 1
    plateau = False
    while ((above + inside > CAP) | (low == 0x007FFFFF)) & (low != top) & (not plateau):
        clear(room[0], BINS)
        shift = bin_shift(low, top, 11)
        larger = tl.zeros((W * 32,), tl.int32)
        x = load_groups(row, first, end, float("-inf"), BLOCK, GROUP).to(tl.float32)
        tl.debug_barrier()
        for base in range(first, end, BLOCK):
            following = load_groups(row, base + BLOCK, end, float("-inf"), BLOCK, GROUP).to(tl.float32)
            key = valid_keys(x, base, start, end, BLOCK)
            larger += tl.sum(tl.reshape((key > mark).to(tl.int32), (W * 32, 8)), axis=1)
            place = tle.gpu.local_ptr(room[0], (((top - key) >> shift).to(tl.int32),))
            tl.atomic_add(place, 1, mask=(key >= low) & (key <= top), sem="relaxed", scope="cta")
            x = following
        bin, before, inside = find_bin(room, want - above, W)
        greater = tl.sum(larger)
        plateau = (greater < want) & (want <= met)
        above += before
        top -= bin.to(tl.uint32) << shift
        low = top - tl.minimum(top - low, (1 << shift) - 1)
        if plateau:
            low = mark
            above = greater
    nans = low > 0xFF800000
    low = tl.where(nans, 0xFFFFFFFF, low)
    return low, tl.where(nans, want, want - above), plateau | nans | (low == top)


@triton.jit
def pair_of(x, i):
    return (i.to(tl.uint64) << 32) | x.to(tl.uint32, bitcast=True).to(tl.uint64)


@triton.jit
def bytes_before(packed, V: tl.constexpr):
    """[V, W]: sums over the lower bytes of packed."""
    each = (packed[None, :] >> (8 * tl.arange(0, V)[:, None])) & 0xFF
    return tle.cumsum(each, axis=0)


@triton.jit
def keep_from_mark(listed, segment, taken, row, x, following, first, start, end, mark, W: tl.constexpr,
                   V: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr):
    """Appends every element not below mark to the list, whole segments in any order; returns how many there are, and
    the number of segments. x and following are the first two tiles."""
    BLOCK: tl.constexpr = W * V * 128
    left = ((end - first + GROUP - 1) // GROUP) * GROUP
    base = first
    number = 0
    below = score_below(ordered_key(mark))
    while left > 0:
        left -= BLOCK
        if (base < start) | (left <= 0):  # left counts whole groups: at 0 the last one may be in part
            offset = tile_offset(V, W)
            x = tl.where((offset >= start - base) & (offset < end - base), x, float("-inf"))
        hit = tl.reshape(not (x < mark), (V, W, 32, 4))
        own = tl.sum(hit.to(tl.int32), axis=3)
        packed = tl.sum(own << (8 * tl.arange(0, V)[:, None, None]), axis=0)
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
        i = tl.reshape(base - start + tile_offset(V, W), (V, W, 32, 4))
        tl.store(tle.gpu.local_ptr(listed, (at,), apart=True), pair_of(tl.reshape(x, (V, W, 32, 4)), i), mask=hit)
        base += BLOCK
        number += W
        x = following
        following = load_tile(row, base + BLOCK, left - BLOCK, V, W)
    return tl.load(tle.gpu.local_ptr(taken, (0,))), number


@triton.jit
def keep_in_order(listed, segment, row, first, start, end, mark, W: tl.constexpr, V: tl.constexpr,
                  GROUP: tl.constexpr):
    """The same where it is known that they fit, in order."""
    left = ((end - first + GROUP - 1) // GROUP) * GROUP
    base = first
    number = 0
    kept = 0
    while left > 0:
        offset = tl.arange(0, W)[:, None] * 128 + tl.arange(0, 128)[None, :]
        x = tl.load(row + base + offset, mask=offset < left, other=float("-inf")).to(tl.float32)
        hit = (not (x < mark)) & (offset >= start - base) & (offset < end - base)
        run, own = tle.cumsum(tl.reshape(hit.to(tl.int32), (W, 32, 4)), axis=2)
        before, all = tle.cumsum(own, axis=1)
        place, found = tle.cumsum(all)
        place += kept
        at = tl.reshape((place[:, None] + before)[:, :, None] + run, (W, 128))
        tl.store(tle.gpu.local_ptr(listed, (at,), apart=True), pair_of(x, base - start + offset), mask=hit)
        entry = tl.min(tl.reshape(place, (W // V, V)), axis=1) + (tl.sum(tl.reshape(all, (W // V, V)), axis=1) << 16)
        tl.store(tle.gpu.local_ptr(segment, (number + tl.arange(0, W // V),), apart=True), entry)
        kept += found
        number += W // V
        base += W * 128
        left -= W * 128
    return kept, number


@triton.jit
def listed_scores(listed, place):
    return tl.load(tle.gpu.local_ptr(listed, (place,))).to(tl.uint32).to(tl.float32, bitcast=True)


@triton.jit
def threshold_of_list(room, listed, kept, low, high, want, CAP: tl.constexpr, W: tl.constexpr):
    """(key, ties): the want-th largest, and how many of those equal to it are wanted."""
    CHUNK: tl.constexpr = W * 64
    scale, offset = range_scale(low, high)
    for base in range(0, kept, CHUNK):
        count_bins(room[0], bin_bits(listed_scores(listed, base + tl.arange(0, CHUNK)), scale, offset))
    bin, above, inside = find_bin(room, want, W)
    key = tl.full((), 0, tl.uint32)
    ties = 0
    if inside <= FEW:
        for base in range(0, kept, CHUNK):
            x = tl.trans(tl.reshape(listed_scores(listed, base + tl.arange(0, CHUNK)), (W * 32, 2)))
            list_few(room, x, bin_bits(x, scale, offset) == bin + BIN_BITS)
        key, ties, same = nth_of_few(room, inside, want - above)
    else:
        place = tl.arange(0, CAP)
        x = tl.load(tle.gpu.local_ptr(listed, (place,)), mask=place < kept, other=0).to(tl.uint32)
        keys = tl.where(place < kept, ordered_key(x.to(tl.float32, bitcast=True)), 0)
        key, ties = threshold_of_keys(room, keys, want, W)
        if ties == 0:
            key += 1
            ties = CAP
    return key, ties


@triton.jit
def rank_of(x, low):
    """1 for a score above low, 65536 for one equal to it, which is no NaN."""
    return (not (x <= low)).to(tl.int32) + ((x == low).to(tl.int32) << 16)


@triton.jit
def rank_at(rank, ranks_before, place, each):
    """What lies before a place of the list, given what lies before it among its thread's and before each thread's."""
    thread = ((place.to(tl.float32) + 0.5) * (1.0 / each.to(tl.float32))).to(tl.int32)
    return tl.load(tle.gpu.local_ptr(rank, (place,))) + tl.load(tle.gpu.local_ptr(ranks_before, (thread,)))


@triton.jit
def write_list(out, listed, segment, kept, number, low, ties, skipped, want, CAP: tl.constexpr, SEGS: tl.constexpr,
               SEGMENT: tl.constexpr, W: tl.constexpr, LIST: tl.constexpr):
    """Writes the indices of the list's selected elements in ascending order. The list consists of segments, in any
    order, each in ascending order and of SEGMENT columns."""
    THREADS: tl.constexpr = W * 32
    each = (kept // THREADS + 1) | 1  # odd, so that no two threads' places share a bank
    first = tl.arange(0, THREADS) * each
    rank = tle.gpu.alloc([CAP + 2 * THREADS], tl.int32, nv_mma_shared_layout=False)
    ranks_before = tle.gpu.alloc([THREADS], tl.int32, nv_mma_shared_layout=False)
    own = tl.zeros((THREADS,), tl.int32)
    for e in range(0, each):
        tl.store(tle.gpu.local_ptr(rank, (first + e,), apart=True), own)
        own += rank_of(listed_scores(listed, first + e), low)
    before, total = tle.cumsum(own)
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
        staged = tle.gpu.alloc([CAP], tl.int32, nv_mma_shared_layout=False)
    for e in range(0, each):
        pair = tl.load(tle.gpu.local_ptr(listed, (first + e,)))
        flag = rank_of(pair.to(tl.uint32).to(tl.float32, bitcast=True), low)
        i = (pair >> 32).to(tl.int32)
        to = before + tl.load(tle.gpu.local_ptr(segment, ((i + skipped) // SEGMENT,)))
        chosen = ((flag & 1) != 0) | ((flag != 0) & ((to >> 16) < ties))
        place = (to & 0xFFFF) + tl.minimum(to >> 16, ties)
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
def select_long(out, row, start, end, want, W: tl.constexpr, V: tl.constexpr, D: tl.constexpr,
                  CAP: tl.constexpr, SEGS: tl.constexpr, GROUP: tl.constexpr, LIST: tl.constexpr):
    if end - start <= want:
        write_all(out, end - start, want, 1024, LIST)
        return
    room = alloc_select()
    taken = tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False)
    segment = tle.gpu.alloc([SEGS], tl.int32, nv_mma_shared_layout=False)
    tl.store(tle.gpu.local_ptr(room[3], (0,)), 0)
    tl.store(tle.gpu.local_ptr(taken, (0,)), 0)
    clear(room[0], BINS)
    first = (start // GROUP) * GROUP
    # on their way during the sampling
    left = ((end - first + GROUP - 1) // GROUP) * GROUP
    x = load_tile(row, first, left, V, W)
    following = load_tile(row, first + W * V * 128, left - W * V * 128, V, W)
    if end - start <= CAP:
        mark = tl.full((), -3.4028234663852886e38, tl.float32)
        high = -mark
    else:
        mark, high = sample_mark(row, start, end, want * 15 // 8, W, D)
    listed = tle.gpu.alloc([CAP + W * 64], tl.uint64, nv_mma_shared_layout=False)
    kept = end - start
    number = 0
    if mark > float("-inf"):
        kept, number = keep_from_mark(listed, segment, taken, row, x, following, first, start, end, mark, W, V, GROUP,
                                      CAP)
    key = tl.full((), 0, tl.uint32)
    ties = 0
    answered = False
    if (kept < want) | (kept > CAP):
        low = tl.where(mark > float("-inf"), ordered_key(mark), 0x007FFFFF)
        key, ties, answered = narrow(room, row, first, start, end, want, low, kept, CAP, W, GROUP)
        if not answered:
            clear(room[0], BINS)
            mark = score_of_key(key)
            kept, number = keep_in_order(listed, segment, row, first, start, end, mark, W, V, GROUP)
    if not answered:
        pads = kept + tl.arange(0, W * 64)  # the list is read in whole chunks
        tl.store(tle.gpu.local_ptr(listed, (pads,), apart=True), tl.full((W * 64,), 0xFF800000, tl.uint64))
        key, ties = threshold_of_list(room, listed, kept, mark, high, want, CAP, W)
        answered = key > 0xFF800000  # NaN, which scores cannot be compared with
    if answered:
        write_in_order(out, row, first, start, end, key, ties, W, GROUP, LIST)
    else:
        write_list(out, listed, segment, kept, number, score_of_key(key), ties, start - first, want, CAP, SEGS,
                   V * 128, W, LIST)


@triton.jit
def topk_long(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
                K: tl.constexpr, GROUP: tl.constexpr, W: tl.constexpr, V: tl.constexpr, D: tl.constexpr,
                CAP: tl.constexpr, SEGS: tl.constexpr,
                LIST: tl.constexpr = 0, next_n=1, values=None, value_stride=0, raw_indices=None, raw_stride=0,
                offsets=None, page_table=None, table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per program, k <= CAP / 3, columns <= SEGS * V * 128 - GROUP + 1; W is the number of warps."""
    tl.static_assert(CAP <= 32768, "two counts of a list share one 32-bit word")
    program = tl.program_id(0)
    row, start, end, want, out = open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride,
                                          columns, k, flags, next_n, K, LIST)
    select_long(out, row, start, end, want, W, V, D, CAP, SEGS, GROUP, LIST)
    if LIST:
        rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                page_shift, row_to_table)
        finish(out, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST, 1024)
