"""Top-k selection of a row that fits one tile: the scores stay in registers, so it is read once. common.py says
in which order, bins.py how the last score to be selected is found.

Each warp holds a run of columns of which every lane has one in 32, so that what a warp selects from 32 columns goes
to neighbours in memory.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.bins import (BIN_BITS, BINS, FEW, alloc_select, bin_bits, count_bins, find_bin, nth_of_few,
                       range_scale, score_below, signed_bits, threshold_of_keys, zoom)
from topk.common import clear, finish, low_and_high, open_row, ordered_key, put, score_of_key, write_all


@triton.jit
def places(chosen):
    """Of a [R, W, 32] tile of flags, in which warp w holds columns (w * R + r) * 32 + lane: how many lie before
    each."""
    lanes, line = tle.cumsum(chosen.to(tl.int32), axis=2)
    lines, warp = tle.cumsum(line, axis=0)
    warps, all = tle.cumsum(warp)
    return (warps[None, :] + lines)[:, :, None] + lanes


@triton.jit
def sample_range(at, columns, BLOCK: tl.constexpr, FULL: tl.constexpr):
    """4 runs of 32 columns, a quarter of the tile apart, the same for every warp: no barrier is needed to agree."""
    runs = ()
    for i in tl.static_range(4):
        place = tl.arange(0, 32) + i * (BLOCK // 4)
        runs = runs + (tl.load(at + place) if FULL else tl.load(at + place, mask=place < columns, other=0.0),)
    return runs


@triton.jit
def range_of_runs(runs, start, end, whole, BLOCK: tl.constexpr):
    """The lowest and the highest of the runs' elements in the row, each lane's."""
    runs = (runs[0].to(tl.float32), runs[1].to(tl.float32), runs[2].to(tl.float32), runs[3].to(tl.float32))
    low = tl.minimum(tl.minimum(runs[0], runs[1]), tl.minimum(runs[2], runs[3]))
    high = tl.maximum(tl.maximum(runs[0], runs[1]), tl.maximum(runs[2], runs[3]))
    if not whole:
        low = tl.full((32,), float("inf"), tl.float32)
        high = -low
        for i in tl.static_range(4):
            place = tl.arange(0, 32) + i * (BLOCK // 4)
            valid = (place >= start) & (place < end)
            low = tl.where(valid, tl.minimum(low, runs[i]), low)
            high = tl.where(valid, tl.maximum(high, runs[i]), high)
    return low, high


@triton.jit
def list_pairs(room, x, chosen):
    """list_few for threads that have at most two of the chosen each. Without keeping a predicate for each element,
    these come out of the largest and the sum of all as bits; where that fails, or one is zero, what is listed is
    less. Returns how many are listed."""
    hist, found_run, found_before, listed, few = room
    bits = tl.where(chosen, x.to(tl.uint32, bitcast=True), 0)
    larger = tl.max(bits, axis=0)
    smaller = tl.sum(bits, axis=0) - larger
    own = (larger != 0).to(tl.int32) + (smaller != 0).to(tl.int32)
    word = tle.gpu.local_ptr(listed, (tl.minimum(own, 0),))
    place = tl.atomic_add(word, own, mask=own > 0, sem="relaxed", scope="cta")
    tl.store(tle.gpu.local_ptr(few, (place,), apart=True), larger.to(tl.float32, bitcast=True), mask=own > 0)
    tl.store(tle.gpu.local_ptr(few, (place + 1,), apart=True), smaller.to(tl.float32, bitcast=True), mask=own > 1)
    return tl.load(tle.gpu.local_ptr(listed, (0,)))


@triton.jit
def select_tile(out, at, start, end, columns, want, BLOCK: tl.constexpr, W: tl.constexpr, SAMPLED: tl.constexpr,
                 LIST: tl.constexpr):
    R: tl.constexpr = BLOCK // (W * 32)
    lane = tl.arange(0, W)[None, :, None] * (R * 32) + tl.arange(0, 32)[None, None, :]
    step = tl.arange(0, R)[:, None, None] * 32
    offset = lane + step
    runs = ()
    if columns == BLOCK:
        if SAMPLED:
            runs = sample_range(at, columns, BLOCK, True)
        x = tl.load((at + lane) + step)
    else:
        if SAMPLED:
            runs = sample_range(at, columns, BLOCK, False)
        x = tl.load((at + lane) + step, mask=lane < columns - step, other=float("-inf"))
    x = x.to(tl.float32)
    if end - start <= want:
        write_all(out, end - start, want, 1024, LIST)
        return
    room = alloc_select()
    clear(room[0], BINS)
    tl.store(tle.gpu.local_ptr(room[3], (0,)), 0)
    whole = end - start == BLOCK
    # Where the row is shorter than the tile, the lowest score stands for what is outside it: it lies in the last bin,
    # below the row's own, and is told apart where that matters.
    if SAMPLED:
        tl.debug_barrier()
        low, high = range_of_runs(runs, start, end, whole, BLOCK)
        if not whole:
            x = tl.where((offset >= start) & (offset < end), x, float("-inf"))
        low = tl.min(signed_bits(low))
        high = tl.max(signed_bits(high))
    else:
        if whole:
            low = tl.min(x, axis=0)
        else:
            valid = (offset >= start) & (offset < end)
            low = tl.min(tl.where(valid, x, float("inf")), axis=0)
            x = tl.where(valid, x, float("-inf"))
        ends = tl.ravel(signed_bits(low)), tl.ravel(signed_bits(tl.max(x, axis=0)))
        low, high = tl.reduce(ends, 0, low_and_high)
    scale, base = range_scale(signed_bits(low).to(tl.float32, bitcast=True),
                              signed_bits(high).to(tl.float32, bitcast=True))
    bits = bin_bits(x, scale, base)
    count_bins(room[0], bits)
    bin, above, inside = find_bin(room, want, W)
    rounds = 0
    while (inside > FEW) & (rounds < 2):
        clear(room[0], BINS)
        scale, base = zoom(scale, base, bin)
        bits = bin_bits(x, scale, base)
        tl.debug_barrier()
        count_bins(room[0], bits)
        bin, above, inside = find_bin(room, want, W)
        rounds += 1
    key = tl.full((), 0, tl.uint32)
    ties = 0
    same = -1
    known = False
    if inside <= FEW:
        listed = list_pairs(room, x, bits == bin + BIN_BITS)
        key, ties, same = nth_of_few(room, listed, want - above)
        known = listed == inside
    if (ties == same) & (key != 0xFFFFFFFF) & known:
        place = places(not (x < score_of_key(key)))
        # Compared once more, in other words, so that no predicate has to be kept.
        put(out, place, (lane - start) + step, not (x <= score_below(key)), LIST)
    else:
        # In other words than above, or it is computed on the usual way too.
        keys = tl.where((offset - start).to(tl.uint32) < (end - start).to(tl.uint32), ordered_key(x), 0)
        if not known:
            key, ties = threshold_of_keys(room, tl.ravel(keys), want, W)
        equal = keys == key
        chosen = (keys > key) | (equal & (places(equal) < ties))
        put(out, places(chosen), offset - start, chosen, LIST)


@triton.jit
def topk_tile(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
               K: tl.constexpr, BLOCK: tl.constexpr, W: tl.constexpr,
               LIST: tl.constexpr = 0, next_n=1, values=None, value_stride=0, raw_indices=None, raw_stride=0,
               offsets=None, page_table=None, table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per program, columns <= BLOCK; W is the number of warps."""
    program = tl.program_id(0)
    row, start, end, want, out = open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride,
                                          columns, k, flags, next_n, K, LIST)
    # Where k is small, the sample's range might lie below all that is wanted.
    select_tile(out, row, start, end, columns, want, BLOCK, W, K >= BLOCK // 16, LIST)
    if LIST:
        rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                page_shift, row_to_table)
        finish(out, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST, W * 32)
