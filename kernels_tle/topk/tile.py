"""Top-k selection of a row that fits one tile: the scores stay in registers, so it is read once. common.py says
in which order, bins.py how the last score to be selected is found.

Each warp holds a run of columns. Where rows are aligned, a thread has groups of four neighbours of it, one vector load
each: then places come out of one scan of packed counts, and the answer goes through shared memory, from where whole
lines are written. Else a lane has one column in 32, so that what a warp selects from 32 columns goes to neighbours in
memory.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.bins import (BIN_BITS, FEW, alloc_select, bin_bits, count_bins, find_bin, nth_of_few, range_scale,
                       score_below, signed_bits, threshold_of_keys)
from topk.common import clear, finish, open_row, ordered_key, put, score_of_key, write_all

# What orders below and above every score's signed_bits; those of -inf, which fills short rows up, and its key.
BELOW_ALL = tl.constexpr(-2147483648)
ABOVE_ALL = tl.constexpr(2147483647)
NONE = tl.constexpr(-2139095041)
NONE_KEY = tl.constexpr(0x007FFFFF)


@triton.jit
def bytes_before(packed, G: tl.constexpr):
    """[G, W]: sums over the lower bytes of packed."""
    each = (packed[None, :] >> (8 * tl.arange(0, G)[:, None])) & 0xFF
    return tle.cumsum(each, axis=0)


@triton.jit
def places(chosen):
    """Of a [G, W, 32, C] tile of flags, in which warp w holds columns ((w * G + g) * 32 + lane) * C + c: how many lie
    before each."""
    G: tl.constexpr = chosen.shape[0]
    C: tl.constexpr = chosen.shape[3]
    if C == 1:
        lanes, line = tle.cumsum(tl.reshape(chosen.to(tl.int32), chosen.shape[:3]), axis=2)
        lines, warp = tle.cumsum(line, axis=0)
        warps, all = tle.cumsum(warp)
        return tl.expand_dims((warps[None, :] + lines)[:, :, None] + lanes, 3)
    own, four = tle.cumsum(chosen.to(tl.int32), axis=3)
    # A byte for each of up to four groups, of 128 columns.
    packed = tl.sum(four << (8 * tl.arange(0, G))[:, None, None], axis=0)
    before, total = tle.cumsum(packed, axis=1)
    groups, warp = bytes_before(total, G)
    warps, all = tle.cumsum(warp)
    lanes = (before[None, :, :] >> (8 * tl.arange(0, G)[:, None, None])) & 0xFF
    return ((warps[None, :] + groups)[:, :, None] + lanes)[:, :, :, None] + own


@triton.jit
def fours(y, number):
    """Four that each thread has, of C = 4 the neighbours in group `number`."""
    G: tl.constexpr = y.shape[0]
    C: tl.constexpr = y.shape[3]
    g = tl.arange(0, G)[:, None, None, None]
    c = tl.arange(0, C)[None, None, None, :]
    four = ()
    for i in tl.static_range(4):
        here = (g == number) & (c == i) if C == 4 else (g == i * (G // 4) + number) & (c == 0)
        four = four + (tl.max(tl.max(tl.where(here, y, BELOW_ALL), axis=3), axis=0),)
    return four


@triton.jit
def warp_range(x, length, want, whole, NEAR: tl.constexpr, SAMPLED: tl.constexpr):
    """(low, high), as signed_bits and for each warp, of the scores that bins are to be of. NEAR is None: of all. Else
    of SAMPLED fours that each thread has: up to the highest of the lowest of NEAR, from the lowest of the highest of
    four, or from the lowest where few are not wanted. So the last one wanted is in between, but the range is narrow."""
    if NEAR is None:
        high = signed_bits(tl.max(tl.max(x, axis=3), axis=0))
        if whole:
            low = tl.min(tl.min(x, axis=3), axis=0)
        else:
            low = tl.min(tl.min(tl.where(x > float("-inf"), x, float("inf")), axis=3), axis=0)
        low = signed_bits(low)
    else:
        y = signed_bits(x)
        rest = (length - want).to(tl.float32)
        share = rest * rest / (length.to(tl.float32) * length.to(tl.float32))
        narrow = share * share * length.to(tl.float32) >= 200.0  # 16 times as many as fours, on average
        low = tl.full((x.shape[1], 32), ABOVE_ALL, tl.int32)
        high = tl.full((x.shape[1], 32), BELOW_ALL, tl.int32)
        for q in tl.static_range(SAMPLED):
            four = fours(y, q)
            a = tl.minimum(four[0], four[1])
            b = tl.minimum(four[2], four[3])
            most = tl.maximum(tl.maximum(four[0], four[1]), tl.maximum(four[2], four[3]))
            high = tl.maximum(high, most if NEAR == 1 else tl.maximum(a, b) if NEAR == 2 else tl.minimum(a, b))
            if narrow:
                low = tl.minimum(low, tl.where(most > NONE, most, ABOVE_ALL))
            else:
                for i in tl.static_range(4):
                    low = tl.minimum(low, tl.where(four[i] > NONE, four[i], ABOVE_ALL))
    return tl.min(low, axis=1), tl.max(high, axis=1)


@triton.jit
def range_of_warps(ends, low, high, W: tl.constexpr):
    """The two ends, as scores, of what lies between each warp's low and high, for all threads."""
    w = tl.arange(0, W)
    tl.store(tle.gpu.local_ptr(ends[0], (w,)), low)
    tl.store(tle.gpu.local_ptr(ends[1], (w,)), high)
    w = tl.arange(0, 32) % W
    low = tl.min(tl.load(tle.gpu.local_ptr(ends[0], (w,))))
    high = tl.max(tl.load(tle.gpu.local_ptr(ends[1], (w,))))
    return (signed_bits(tl.minimum(low, high)).to(tl.float32, bitcast=True),
            signed_bits(tl.maximum(low, high)).to(tl.float32, bitcast=True))


@triton.jit
def list_pairs(room, x, chosen):
    """Lists the chosen elements, of which a thread has at most two. Without keeping a predicate for each element,
    these come out of the largest and the sum of all as bits; where that fails, or one is zero, what is listed is less.
    Returns how many are listed."""
    hist, found_run, found_before, listed, few = room
    bits = tl.where(chosen, x.to(tl.uint32, bitcast=True), 0)
    larger = tl.max(tl.max(bits, axis=3), axis=0)
    smaller = tl.sum(tl.sum(bits, axis=3), axis=0) - larger
    own = (larger != 0).to(tl.int32) + (smaller != 0).to(tl.int32)
    # One word for all, though an index that is not seen to be one: few threads have any, and a sum over the lanes of
    # each warp would cost more than it saves.
    word = tle.gpu.local_ptr(listed, (tl.minimum(own, 0),))
    place = tl.atomic_add(word, own, mask=own > 0, sem="relaxed", scope="cta")
    tl.store(tle.gpu.local_ptr(few, (place,), apart=True), larger.to(tl.float32, bitcast=True), mask=own > 0)
    tl.store(tle.gpu.local_ptr(few, (place + 1,), apart=True), smaller.to(tl.float32, bitcast=True), mask=own > 1)
    return tl.load(tle.gpu.local_ptr(listed, (0,)))


@triton.jit
def list_chosen(room, x, chosen):
    """Lists the chosen elements, whichever they are; no more than FEW."""
    hist, found_run, found_before, listed, few = room
    run, group = tle.cumsum(chosen.to(tl.int32), axis=3)
    groups, own = tle.cumsum(group, axis=0)
    tl.store(tle.gpu.local_ptr(listed, (0,)), 0)
    word = tle.gpu.local_ptr(listed, (tl.minimum(own, 0),))
    place = tl.atomic_add(word, own, mask=own > 0, sem="relaxed", scope="cta")
    at = (place[None, :, :] + groups)[:, :, :, None] + run
    tl.store(tle.gpu.local_ptr(few, (at,), apart=True), x, mask=chosen)


@triton.jit
def range_of_bin(ends, x, bits, bin, W: tl.constexpr):
    """The lowest and the highest of the bin's elements."""
    y = signed_bits(x)
    chosen = bits - BIN_BITS == bin
    low = tl.min(tl.min(tl.min(tl.where(chosen, y, ABOVE_ALL), axis=3), axis=0), axis=1)
    high = tl.max(tl.max(tl.max(tl.where(chosen, y, BELOW_ALL), axis=3), axis=0), axis=1)
    return range_of_warps(ends, low, high, W)


@triton.jit
def search_bin(room, ends, x, bits, bin, inside, need, want, W: tl.constexpr, N: tl.constexpr):
    """(key, ties, same): the want-th largest, which is in a bin that has many, how many of those equal to it are
    wanted, how many there are, or -1 where two rounds more do not tell."""
    key = tl.full((), 0, tl.uint32)
    ties = 0
    same = -1
    rounds = 0
    while (inside > FEW) & (rounds < 3):
        # Either all are equal, or bins of just their range divide them.
        low, high = range_of_bin(ends, x, bits, bin, W)
        rounds += 1
        if low == high:
            key = ordered_key(low)
            ties = need
            same = inside
            rounds = 3
        elif rounds < 3:
            clear(room[0], N)
            scale, base = range_scale(low, high)
            bits = bin_bits(x, scale * 0.99, base * 0.99 + 0.005, N)
            tl.debug_barrier()
            count_bins(room[0], bits)
            bin, above, inside = find_bin(room, want, W, N)
            need = want - above
    if inside <= FEW:
        list_chosen(room, x, bits == bin + BIN_BITS)
        key, ties, same = nth_of_few(room, inside, need)
    return key, ties, same


@triton.jit
def select_tile(out, at, start, end, columns, want, K: tl.constexpr, BLOCK: tl.constexpr, W: tl.constexpr,
                C: tl.constexpr, NEAR: tl.constexpr, SAMPLED: tl.constexpr, LIST: tl.constexpr):
    tl.static_assert(BLOCK <= W * 512, "a byte for each group of four neighbours is packed into one word")
    R: tl.constexpr = BLOCK // (W * 32)
    N: tl.constexpr = min(W * 128, 2048)
    lane = (tl.arange(0, W)[None, :, None, None] * (R * 32) + tl.arange(0, 32)[None, None, :, None] * C +
            tl.arange(0, C)[None, None, None, :])
    step = tl.arange(0, R // C)[:, None, None, None] * (32 * C)
    offset = lane + step
    if columns == BLOCK:
        x = tl.load((at + lane) + step)
    else:
        x = tl.load((at + lane) + step, mask=lane < columns - step, other=float("-inf"))
    x = x.to(tl.float32)
    if end - start <= want:
        write_all(out, end - start, want, 1024, LIST)
        return
    room = alloc_select(N)
    ends = (tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False),
            tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False))
    clear(room[0], N)
    tl.store(tle.gpu.local_ptr(room[3], (0,)), 0)
    # Where the row is shorter than the tile, the lowest score stands for what is outside it: it lies in the last bin,
    # below the row's own, and is told apart where that matters.
    whole = end - start == BLOCK
    if not whole:
        x = tl.where((offset >= start) & (offset < end), x, float("-inf"))
    low, high = warp_range(x, end - start, want, whole, NEAR, SAMPLED)
    low, high = range_of_warps(ends, low, high, W)
    scale, base = range_scale(low, high)
    bits = bin_bits(x, scale, base, N)
    count_bins(room[0], bits)
    bin, above, inside = find_bin(room, want, W, N)
    need = want - above
    key = tl.full((), 0, tl.uint32)
    ties = 0
    same = -1
    known = False
    if inside <= FEW:
        listed = list_pairs(room, x, bits == bin + BIN_BITS)
        key, ties, same = nth_of_few(room, listed, need)
        known = listed == inside
    if not known:
        key, ties, same = search_bin(room, ends, x, bits, bin, inside, need, want, W, N)
        known = same > 0
    if known & (key > NONE_KEY) & (key != 0xFFFFFFFF):
        last = score_of_key(key)
        if ties != same:
            equal = x == last
            x = tl.where(equal & (places(equal) >= ties), float("-inf"), x)
        place = places(not (x < last))
        # Compared once more, in other words, so that no predicate has to be kept.
        larger = not (x <= score_below(key))
        if C == 1 or LIST:
            put(out, place, (lane - start) + step, larger, LIST)
        else:
            staged = tle.gpu.alloc([BLOCK], tl.int32, nv_mma_shared_layout=False)
            tl.store(tle.gpu.local_ptr(staged, (place,), apart=True), (lane - start) + step, mask=larger)
            PART: tl.constexpr = W * (256 if K else 64)
            for first in range(0, want, PART):
                i = first + tl.arange(0, PART)
                tl.store(out + i, tl.load(tle.gpu.local_ptr(staged, (i,)), mask=i < want), mask=i < want)
    else:
        # In other words than above, or it is computed on the usual way too.
        index = (lane - start) + step
        keys = tl.where(index.to(tl.uint32) < (end - start).to(tl.uint32), ordered_key(x), 0)
        if not known:
            key, ties = threshold_of_keys(room, tl.ravel(keys), want, W, N)
        equal = keys == key
        chosen = (keys > key) | (equal & (places(equal) < ties))
        put(out, places(chosen), index, chosen, LIST)


@triton.jit
def topk_tile(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
               K: tl.constexpr, BLOCK: tl.constexpr, W: tl.constexpr, GROUP: tl.constexpr,
               LIST: tl.constexpr = 0, next_n=1, values=None, value_stride=0, raw_indices=None, raw_stride=0,
               offsets=None, page_table=None, table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per program, columns <= BLOCK; W is the number of warps."""
    program = tl.program_id(0)
    row, start, end, want, out = open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride,
                                          columns, k, flags, next_n, K, LIST)
    # Of random scores, so many fours, pairs or single ones of a sample are above the last one wanted, on average.
    SURE: tl.constexpr = 16
    P: tl.constexpr = K / BLOCK
    PAIRS: tl.constexpr = P * P * 64 * W
    NEAR: tl.constexpr = (4 if P * P * P * P * 32 * W >= SURE else 2 if PAIRS * 2 >= SURE else
                          1 if P * 128 * W >= SURE else None)
    SAMPLED: tl.constexpr = 2 if NEAR == 2 and PAIRS < SURE else 1
    select_tile(out, row, start, end, columns, want, K, BLOCK, W, GROUP, NEAR, SAMPLED, LIST)
    if LIST:
        rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                page_shift, row_to_table)
        finish(out, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST, W * 32)
