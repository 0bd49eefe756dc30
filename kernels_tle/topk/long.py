"""Top-k selection that reads a long row once: a sample gives a low mark, every element from the mark upwards goes
to a list in shared memory, the answer is selected from the list (long_list.py). common.py says in which order.

Where neighbours are alike, a sample of runs tells little. It shows in the sample, and of a row that is longer than
131,072 a larger one is taken; shorter ones would pay half a microsecond each for the look.

A mark is never trusted: elements from it upwards are counted. Where they are too many or too few, long_rare.py finds a
better one.

Source of the method: sampling as in Floyd and Rivest, "Expected time bounds for selection" (CACM 1975).
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.bins import BINS, alloc_select, signed_bits
from topk.common import clear, finish, open_row, ordered_key, score_of_key, write_all
from topk.long_list import columns_left, keep_again, keep_from_mark, load_masked, select_list
from topk.long_rare import narrow, write_in_order


@triton.jit
def mean_of_warps(words, W: tl.constexpr):
    """The mean of W words in shared memory, for which the fourth largest and smallest stand for those beyond them. Every
    warp finds out for itself."""
    tl.static_assert(32 % W == 0 and W >= 8, "each word is in as many lanes; four are at either end")
    lane = tl.arange(0, 32)
    own = tl.load(tle.gpu.local_ptr(words, (lane % W,)))
    as_large = tl.zeros((32,), tl.int32)
    for w in tl.static_range(W):
        as_large += (tl.load(tle.gpu.local_ptr(words, (w,))) >= own).to(tl.int32)
    high = tl.max(tl.where(as_large >= 4, own, -2147483648))
    low = tl.max(tl.where(as_large >= W - 3, own, -2147483648))
    more = (tl.minimum(tl.maximum(own, low), high) - low).to(tl.uint32)
    return low + (tl.sum(more >> 5) + (tl.sum(more & 31) >> 5)).to(tl.int32)


@triton.jit
def folds_of_sample(n, larger, D: tl.constexpr):
    """How many runs are folded into one. A larger sample has so many, runs of 8, that of 2,048 elements wanted about
    forty are in different ones even if each run is of one value."""
    folds = tl.minimum((n + 131071) >> 17, D)
    return tl.where(larger, tl.maximum((n * 3 + 131071) >> 17, folds), folds)


@triton.jit
def place_of_runs(start, end, fold, W: tl.constexpr, RUN: tl.constexpr):
    """[8, W, 32] columns, runs of RUN neighbours, spread over the row."""
    place = (tl.arange(0, 8)[:, None, None] * W + tl.arange(0, W)[None, :, None]) * 32 + tl.arange(0, 32)[None, None, :]
    number = (place // RUN + fold * (256 * W // RUN)).to(tl.uint32)
    at = tl.umulhi(number * 0x9E3779B1, (end - start - (RUN - 1)).to(tl.uint32)) & 0xFFFFFFF8
    return start + (at.to(tl.int32) + place % RUN)


@triton.jit
def load_sample(row, start, end, folds, W: tl.constexpr, D: tl.constexpr, RUN: tl.constexpr):
    """[8, W, 32]: runs of RUN neighbours, or, of a long row, up to D times as many, of which `folds` each are folded
    into one by their maxima."""
    x = tl.load(row + place_of_runs(start, end, 0, W, RUN)).to(tl.float32)
    for d in tl.static_range(1, D):
        more = tl.load(row + place_of_runs(start, end, d, W, RUN), mask=folds > d, other=float("-inf"))
        x = tl.maximum(x, more.to(tl.float32))
    return x


@triton.jit
def load_folds(row, start, end, folds, W: tl.constexpr, RUN: tl.constexpr):
    """The same one after the other, however many they are."""
    x = tl.full((8, W, 32), float("-inf"), tl.float32)
    for d in range(0, folds):
        x = tl.maximum(x, tl.load(row + place_of_runs(start, end, d, W, RUN)).to(tl.float32))
    return x


@triton.jit
def count_alike(sample, low, W: tl.constexpr, STRIDE: tl.constexpr):
    """[W]: how many of each warp's 64 pairs of neighbours have the first above low, and, above 16 bits, how many
    have both."""
    pair = (tl.arange(0, 2)[:, None, None] * W + tl.arange(0, W)[None, :, None]) * 32 + tl.arange(0, 32)[None, None, :]
    place = pair * 2
    at = place % 8 * STRIDE + place // 8
    one = tl.load(tle.gpu.local_ptr(sample, (at,))) > low[None, :, None]
    other = tl.load(tle.gpu.local_ptr(sample, (at + STRIDE,))) > low[None, :, None]
    return tl.sum(tl.sum(tl.where(one, tl.where(other, 65537, 1), 0), axis=0), axis=1)


@triton.jit
def mark_of_sample(highest, x, folds, n, aim, W: tl.constexpr, ALIKE: tl.constexpr):
    """(mark, alike): about aim elements of the row are not below mark; alike says, if ALIKE, that what is next to one
    of these is one, too, more often than chance has it. highest gets one that is near the largest.

    Every warp gets 256 elements from all over the row, each from another eight neighbours, and finds the one of them
    whose rank is the share of aim. The mark is their mean. No two warps have the same half of the eights: where
    neighbours are alike, their elements tell nothing else."""
    RUNS: tl.constexpr = 32 * W
    STRIDE: tl.constexpr = RUNS + 4
    LEAST: tl.constexpr = 5
    NONE: tl.constexpr = -2139095041  # signed_bits of -inf
    sample = tle.gpu.alloc([8 * STRIDE], tl.int32, nv_mma_shared_layout=False)
    lows = tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False)
    highs = tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False)
    pairs = tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False)
    lane = tl.arange(0, 32)[None, None, :]
    w = tl.arange(0, W)[None, :, None]
    i = tl.arange(0, 8)[:, None, None]
    place = (i * W + w) * 32 + lane
    x = tl.maximum(x, float("-inf"))  # no NaN
    at = place % 8 * STRIDE + place // 8
    tl.store(tle.gpu.local_ptr(sample, (at,), apart=True), signed_bits(x))
    share = aim.to(tl.float32) * folds.to(tl.float32) / n.to(tl.float32)
    each = tl.minimum((8.0 / share).to(tl.int32), 256)
    rank = tl.maximum((share * each.to(tl.float32) + 0.83).to(tl.int32), LEAST)
    place = w * 256 + i * 32 + lane * 5 % 32
    run = (place % RUNS + place // RUNS * 32) % RUNS
    y = tl.load(tle.gpu.local_ptr(sample, (place // RUNS * STRIDE + run,)))
    y = tl.sort(tl.where(i * 32 + lane < each, y, NONE), dim=0, descending=True)
    # Of a lane's 8, four are enough.
    a = tl.max(tl.where(i == 0, y, NONE), axis=0)
    b = tl.max(tl.where(i == 1, y, NONE), axis=0)
    c = tl.max(tl.where(i == 2, y, NONE), axis=0)
    d = tl.max(tl.where(i == 3, y, NONE), axis=0)
    low = tl.max(a, axis=1)
    tl.store(tle.gpu.local_ptr(highs, (tl.arange(0, W),)), low)
    hit = a == low[:, None]
    found = tl.sum(hit.to(tl.int32), axis=1)
    for r in tl.static_range(1, 8):
        a = tl.where(hit, b, a)
        b = tl.where(hit, c, b)
        c = tl.where(hit, d, c)
        d = tl.where(hit, NONE, d)
        best = tl.max(a, axis=1)
        low = tl.where(found < rank, best, low)
        hit = a == best[:, None]
        found += tl.sum(hit.to(tl.int32), axis=1)
    if ALIKE:
        tl.store(tle.gpu.local_ptr(pairs, (tl.arange(0, W),)), count_alike(sample, low, W, STRIDE))
    tl.store(tle.gpu.local_ptr(lows, (tl.arange(0, W),)), low)
    mark = mean_of_warps(lows, W)
    high = tl.max(tl.load(tle.gpu.local_ptr(highs, (tl.arange(0, 32) % W,))))
    tl.store(tle.gpu.local_ptr(highest, (0,)), signed_bits(high).to(tl.float32, bitcast=True))
    alike = False
    if ALIKE:
        counts = tl.sum(tl.load(tle.gpu.local_ptr(pairs, (tl.arange(0, 32) % W,))))
        alike = (counts >> 16) * 4 > (counts & 0xFFFF)
    return signed_bits(mark).to(tl.float32, bitcast=True), alike


@triton.jit
def begin_row(highest, row, first, start, end, want, larger, W: tl.constexpr, V: tl.constexpr, D: tl.constexpr,
              RUN: tl.constexpr, CAP: tl.constexpr, GROUP: tl.constexpr, ALIKE: tl.constexpr, ONCE: tl.constexpr,
              LIST: tl.constexpr):
    """(mark, again, x, following): a mark, and the first two tiles, which are on their way during the sampling. again
    says that the mark should be that of a larger sample, as it is if `larger`. highest gets what is near the largest,
    for which the stream has no register."""
    BLOCK: tl.constexpr = W * V * 128
    left = columns_left(first, end, GROUP)
    mark = tl.full((), -3.4028234663852886e38, tl.float32)
    again = False
    if end - start > CAP:
        folds = folds_of_sample(end - start, larger, D)
        if larger:
            sample = load_folds(row, start, end, folds, W, 8)
        elif D > 1 and LIST:
            sample = load_folds(row, start, end, folds, W, RUN)
        else:
            sample = load_sample(row, start, end, folds, W, D, RUN)
        x = load_masked(row, first, left, V, W, ONCE)
        following = load_masked(row, first + BLOCK, left - BLOCK, V, W, ONCE)
        tl.debug_barrier()  # all of that is under way before the sample is waited for
        mark, alike = mark_of_sample(highest, sample, folds, end - start, want * 7 // 4, W, ALIKE)
        again = alike & (not larger) & (folds < folds_of_sample(end - start, True, D))
    else:
        x = load_masked(row, first, left, V, W, ONCE)
        following = load_masked(row, first + BLOCK, left - BLOCK, V, W, ONCE)
    return mark, again, x, following


@triton.jit
def select_long(out, row, start, end, want, W: tl.constexpr, V: tl.constexpr, D: tl.constexpr, RUN: tl.constexpr,
                CAP: tl.constexpr, SEGS: tl.constexpr, GROUP: tl.constexpr, ONCE: tl.constexpr, LIST: tl.constexpr):
    if end - start <= want:
        write_all(out, end - start, want, 1024, LIST)
        return
    BLOCK: tl.constexpr = W * V * 128
    room = alloc_select(BINS)
    taken = tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False)
    segment = tle.gpu.alloc([SEGS], tl.int32, nv_mma_shared_layout=False)
    highest = tle.gpu.alloc([1], tl.float32, nv_mma_shared_layout=False)
    in_parts = (tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False),
               tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False))
    tl.store(tle.gpu.local_ptr(room[3], (0,)), 0)
    tl.store(tle.gpu.local_ptr(taken, (0,)), 0)
    tl.store(tle.gpu.local_ptr(highest, (0,)), 3.4028234663852886e38)
    clear(room[0], BINS)
    first = (start // GROUP) * GROUP
    left = columns_left(first, end, GROUP)
    # Unaligned, it would take more registers than there are. Fused forms, which are long to compile, do with less.
    ALIKE: tl.constexpr = D > 1 and GROUP > 1 and not LIST
    larger = False
    if ALIKE:
        x = tl.full((V, W, 128), 0.0, tl.float32)
        following = x
        mark = tl.full((), 0.0, tl.float32)
        searching = True
        while searching:
            mark, searching, x, following = begin_row(highest, row, first, start, end, want, larger, W, V, D, RUN, CAP,
                                                      GROUP, ALIKE, ONCE, LIST)
            larger = searching
    else:
        mark, again, x, following = begin_row(highest, row, first, start, end, want, False, W, V, D, RUN, CAP, GROUP,
                                              ALIKE, ONCE, LIST)
    listed = tle.gpu.alloc([CAP + W * 64], tl.uint64, nv_mma_shared_layout=False)  # here, where the sample was
    kept = CAP + 1
    if mark > float("-inf"):
        kept = keep_from_mark(listed, segment, taken, row, x, following, first, start, end, mark, W, V, GROUP, CAP,
                              ONCE)
    # A loop, so that in the code, too, the usual end comes right behind the list.
    searching = True
    while searching:
        if (kept >= want) & (kept <= CAP):
            number = (left + BLOCK - 1) // BLOCK * W
            high = tl.load(tle.gpu.local_ptr(highest, (0,)))
            select_list(out, room, listed, segment, kept, number, mark, high, start - first, want, CAP, SEGS, V * 128,
                        W, LIST)
            searching = False
        else:
            key, ties = narrow(room, in_parts, row, first, start, end, want, ordered_key(mark), kept, CAP, W, V, GROUP)
            if ties > 0:
                write_in_order(out, in_parts, row, first, start, end, key, ties, W, V, GROUP, LIST)
                searching = False
            else:
                mark = score_of_key(key)
                clear(room[0], BINS)
                tl.store(tle.gpu.local_ptr(taken, (0,)), 0)
                kept = keep_again(listed, segment, taken, row, first, start, end, mark, W, V, GROUP, CAP, ONCE)


@triton.jit
def topk_long(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
                K: tl.constexpr, GROUP: tl.constexpr, W: tl.constexpr, V: tl.constexpr, D: tl.constexpr,
                RUN: tl.constexpr, CAP: tl.constexpr, SEGS: tl.constexpr, ONCE: tl.constexpr,
                LIST: tl.constexpr = 0, next_n=1, values=None, value_stride=0, raw_indices=None, raw_stride=0,
                offsets=None, page_table=None, table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per program, k <= CAP / 3, columns <= SEGS * V * 128 - GROUP + 1; W is the number of warps. ONCE:
    all scores are more than L2 holds, so that it need not keep them."""
    tl.static_assert(CAP <= 32768, "two counts of a list share one 32-bit word")
    program = tl.program_id(0)
    row, start, end, want, out = open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride,
                                          columns, k, flags, next_n, K, LIST)
    select_long(out, row, start, end, want, W, V, D, RUN, CAP, SEGS, GROUP, ONCE, LIST)
    if LIST:
        rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                page_shift, row_to_table)
        finish(out, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST, 1024)
