"""Top-k selection that reads a long row once: a sample gives a low mark, every element from the mark upwards goes
to a list in shared memory, the list is selected from (bins.py). common.py says in which order.

What a warp finds in one tile is a segment of the list: the warp takes its places by one atomic, so segments follow
each other in any order, and a table says where each is. Within a segment the order is that of the columns; so the
answer comes out in order without sorting.

Where neighbours are alike, a sample of runs tells little. It shows in the sample, and of a row that is longer than
131,072 a larger one is taken; shorter ones would pay half a microsecond each for the look.

A mark is never trusted: elements from it upwards are counted. Where they are too many or too few, one more read of
the row counts by keys what the mark left open. Either a value that many elements share turns out to be the one at
the border - the mark itself, mostly - or a better mark is known exactly. Then each warp writes the answer of its own
part of the row, as far as it reaches, or one read more makes the list.

Source of the method: sampling as in Floyd and Rivest, "Expected time bounds for selection" (CACM 1975).
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.bins import (BIN_BITS, BINS, FEW, alloc_select, bin_bits, count_bins, find_bin, list_few, nth_of_few,
                       range_scale, score_below, signed_bits, threshold_of_keys)
from topk.common import (bin_shift, clear, counts_of, finish, open_row, ordered_key, put, quick_key, score_of_key,
                         write_all)


@triton.jit
def part_offset(V: tl.constexpr):
    return tl.arange(0, V)[:, None, None] * 128 + tl.arange(0, 128)[None, None, :]


@triton.jit
def tile_offset(V: tl.constexpr, W: tl.constexpr):
    return part_offset(V) + tl.arange(0, W)[None, :, None] * (V * 128)


@triton.jit
def load_masked(row, base, left, V: tl.constexpr, W: tl.constexpr):
    """[V, W, 128] columns from base on: each warp's V * 128 are neighbours; left is how many may be read."""
    offset = tile_offset(V, W)
    return tl.load(row + base + offset, mask=offset < left, other=float("-inf")).to(tl.float32)


@triton.jit
def load_tile(row, base, left, V: tl.constexpr, W: tl.constexpr):
    """The same by fewer instructions where all may be read, in a branch that nothing is moved across."""
    x = tl.full((V, W, 128), float("-inf"), tl.float32)
    if left >= W * V * 128:
        x = tl.load(row + base + tile_offset(V, W)).to(tl.float32)
    else:
        x = load_masked(row, base, left, V, W)
    return x


@triton.jit
def nth_of_warps(words, n, W: tl.constexpr):
    """The n-th largest of W words in shared memory. Every warp finds out for itself."""
    lane = tl.arange(0, 32)
    own = tl.load(tle.gpu.local_ptr(words, (lane % W,)))
    as_large = tl.zeros((32,), tl.int32)
    for w in tl.static_range(0, W, 4):  # short chains of sums
        some = (tl.load(tle.gpu.local_ptr(words, (w,))) >= own).to(tl.int32)
        for i in tl.static_range(w + 1, w + 4):
            some += (tl.load(tle.gpu.local_ptr(words, (i,))) >= own).to(tl.int32)
        as_large += some
    return tl.max(tl.where(as_large >= n, own, -2147483648))


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
def mark_of_sample(highs, x, folds, n, aim, W: tl.constexpr, ALIKE: tl.constexpr):
    """(mark, alike): about aim elements of the row are not below mark; alike says, if ALIKE, that what is next to one
    of these is one, too, more often than chance has it. highs gets what each warp has largest.

    Every warp gets 256 elements from all over the row, each from another eight neighbours, and finds the one of them
    whose rank is the share of aim. The mark is their median. No two warps have the same half of the eights: where
    neighbours are alike, their elements tell nothing else."""
    RUNS: tl.constexpr = 32 * W
    STRIDE: tl.constexpr = RUNS + 256 + 4  # the first of them once more behind the last
    LEAST: tl.constexpr = 5
    NONE: tl.constexpr = -2139095041  # signed_bits of -inf
    sample = tle.gpu.alloc([8 * STRIDE], tl.int32, nv_mma_shared_layout=False)
    lows = tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False)
    pairs = tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False)
    lane = tl.arange(0, 32)[None, None, :]
    w = tl.arange(0, W)[None, :, None]
    i = tl.arange(0, 8)[:, None, None]
    place = (i * W + w) * 32 + lane
    x = tl.maximum(x, float("-inf"))  # no NaN
    at = place % 8 * STRIDE + place // 8
    tl.store(tle.gpu.local_ptr(sample, (at,), apart=True), signed_bits(x))
    tl.store(tle.gpu.local_ptr(sample, (at + RUNS,), apart=True), signed_bits(x), mask=i < 4)
    share = aim.to(tl.float32) * folds.to(tl.float32) / n.to(tl.float32)
    each = tl.minimum((8.0 / share).to(tl.int32), 256)
    rank = tl.maximum((share * each.to(tl.float32) + 0.83).to(tl.int32), LEAST)
    place = w * 256 + i * 32 + lane * 5 % 32
    y = tl.load(tle.gpu.local_ptr(sample, (place // RUNS * (STRIDE + 32) + place % RUNS,)))
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
    mark = nth_of_warps(lows, W // 2, W)
    alike = False
    if ALIKE:
        counts = tl.sum(tl.load(tle.gpu.local_ptr(pairs, (tl.arange(0, 32) % W,))))
        alike = (counts >> 16) * 4 > (counts & 0xFFFF)
    return signed_bits(mark).to(tl.float32, bitcast=True), alike


@triton.jit
def load_parts(row, first, base, end, reading, V: tl.constexpr, GROUP: tl.constexpr):
    """[V, W, 128] scores from columns base[w] on, of the warps that are reading."""
    offset = part_offset(V)
    left = tl.where(reading, ((end - first + GROUP - 1) // GROUP) * GROUP - (base - first), 0)
    return tl.load(row + base[None, :, None] + offset, mask=offset < left[None, :, None], other=0.0)


@triton.jit
def keys_of_parts(x, base, start, end, reading, V: tl.constexpr):
    """Their keys, 0 for what lies outside the row or what `reading` excludes."""
    place = part_offset(V)
    length = tl.where(reading, end - start, 0).to(tl.uint32)
    inside = (place + (base - start)[None, :, None]).to(tl.uint32) < length[None, :, None]
    return tl.where(inside, quick_key(x), 0)


@triton.jit
def warp_parts(first, end, W: tl.constexpr, V: tl.constexpr):
    """(base, rounds): where each warp's part of the row begins, in tiles of V * 128, and how many tiles it has."""
    rounds = (end - first + W * V * 128 - 1) // (W * V * 128)
    return first + tl.arange(0, W) * (rounds * (V * 128)), rounds


@triton.jit
def count_keys(room, row, first, start, end, mark, low, top, W: tl.constexpr, V: tl.constexpr, GROUP: tl.constexpr):
    """(greater, equal), what each warp's part of the row has above and at the key `mark`. One read of the row,
    which also counts the keys low .. top in bins."""
    shift = bin_shift(low, top, 11)
    base, rounds = warp_parts(first, end, W, V)
    counts = tl.zeros((W, 32), tl.int32)
    all = tl.full((W,), 1, tl.int1)
    x = load_parts(row, first, base, end, all, V, GROUP)
    for r in range(0, rounds):
        following = load_parts(row, first, base + V * 128, end, all, V, GROUP)
        key = keys_of_parts(x, base, start, end, all, V)
        each = (key > mark).to(tl.int32) + ((key == mark).to(tl.int32) << 16)
        counts += tl.sum(tl.sum(tl.reshape(each, (V, W, 32, 4)), axis=3), axis=0)
        down = top - key
        place = tle.gpu.local_ptr(room[0], ((down >> shift).to(tl.int32),))
        tl.atomic_add(place, 1, mask=down <= top - low, sem="relaxed", scope="cta")
        x = following
        base += V * 128
    return tl.sum(counts & 0xFFFF, axis=1), tl.sum(counts >> 16, axis=1)


@triton.jit
def write_in_order(out, in_parts, row, first, start, end, threshold, ties, W: tl.constexpr, V: tl.constexpr,
                   GROUP: tl.constexpr, LIST: tl.constexpr):
    """Writes the positions of the keys above threshold and of the first `ties` equal to it in ascending order. in_parts
    is how many of either each warp's part of the row has: a warp reads no further than to the last one."""
    greater = tl.load(tle.gpu.local_ptr(in_parts[0], (tl.arange(0, W),)))
    equal = tl.load(tle.gpu.local_ptr(in_parts[1], (tl.arange(0, W),)))
    greater_before, all_greater = tle.cumsum(greater)
    equal_before, all_equal = tle.cumsum(equal)
    greater_after = greater_before + greater
    equal_after = tl.minimum(equal_before + equal, ties)
    base, rounds = warp_parts(first, end, W, V)
    reading = (greater > 0) | (equal_before < equal_after)
    while tl.max(reading.to(tl.int32)) > 0:
        x = load_parts(row, first, base, end, reading, V, GROUP)
        key = keys_of_parts(x, base, start, end, reading, V)
        above = tl.reshape(key > threshold, (V, W, 32, 4))
        same = tl.reshape(key == threshold, (V, W, 32, 4))
        run, own = tle.cumsum(above.to(tl.int32) + (same.to(tl.int32) << 16), axis=3)
        lanes, part = tle.cumsum(own, axis=2)
        parts, found = tle.cumsum(part, axis=0)
        rank = run + (lanes + parts[:, :, None])[:, :, :, None]
        equal_rank = equal_before[None, :, None, None] + (rank >> 16)
        place = greater_before[None, :, None, None] + (rank & 0xFFFF) + tl.minimum(equal_rank, ties)
        i = tl.reshape(base[None, :, None] - start + part_offset(V), (V, W, 32, 4))
        put(out, place, i, above | (same & (equal_rank < ties)), LIST)
        greater_before += found & 0xFFFF
        equal_before += found >> 16
        base += V * 128
        reading = (greater_before < greater_after) | (equal_before < equal_after)


@triton.jit
def narrow(room, in_parts, row, first, start, end, want, mark, met, CAP: tl.constexpr, W: tl.constexpr, V: tl.constexpr,
           GROUP: tl.constexpr):
    """(key, ties): where a mark with key `mark`, which `met` elements are not below, served badly. Either ties > 0 and
    key is that of the last one wanted, and in_parts has what write_in_order takes; or ties is 0, and at least want and
    at most CAP elements are not below key. Reads the row once for each 11 bits of the keys in question, and looks
    near the mark first."""
    NEAR: tl.constexpr = 1 << 21  # a quarter of an octave
    LAST: tl.constexpr = 0xFFFFFFFF
    LEAST: tl.constexpr = 0x007FFFFF  # the key of -inf
    upwards = met >= want
    low = mark
    top = mark + tl.minimum(LAST - mark, NEAR)
    if not upwards:
        top = mark - 1
        low = top - tl.minimum(top - LEAST, NEAR)
    before = tl.where(upwards, 0, met)  # how many are above top
    ties = 0
    greater = tl.zeros((W,), tl.int32)
    equal = tl.zeros((W,), tl.int32)
    searching = True
    while searching:
        clear(room[0], BINS)
        greater, equal = count_keys(room, row, first, start, end, mark, low, top, W, V, GROUP)
        above = tl.sum(greater)
        same = tl.sum(equal)
        counted = tl.sum(counts_of(room[0], BINS))
        before = tl.where(upwards, above + same - counted, before)
        if (above < want) & (above + same >= want):
            ties = want - above
            searching = False
        elif before >= want:
            low = tl.where(top >= 0xFF800000, LAST, top + 1).to(tl.uint32)  # all NaN are one
            top = tl.full((), LAST, tl.uint32)
            mark = top  # what many may share up there is NaN
            before = 0
            upwards = False
        elif before + counted < want:
            before += counted
            top = low - 1
            low = tl.full((), LEAST, tl.uint32)
            mark = low
            upwards = False
        else:
            bin, more, inside = find_bin(room, want - before, W, BINS)
            shift = bin_shift(low, top, 11)
            before += more
            top -= bin.to(tl.uint32) << shift
            low = top - tl.minimum(top - low, (1 << shift) - 1)
            low = tl.where(low > 0xFF800000, LAST, low)  # all NaN are one
            top = tl.where(low > 0xFF800000, LAST, top)
            mark = low
            upwards = False
            # -inf fills short rows up and is never listed: the same as a value that many share
            searching = (low == top) | (before + inside > CAP) | (low == LEAST)
    tl.store(tle.gpu.local_ptr(in_parts[0], (tl.arange(0, W),)), greater)
    tl.store(tle.gpu.local_ptr(in_parts[1], (tl.arange(0, W),)), equal)
    return mark, ties


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
                   V: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr):
    """Appends every element not below mark to the list, whole segments in any order; returns how many there are. x and
    following are the first two tiles. Where these have more than CAP already, as where one value is most of the row,
    it reads no further."""
    BLOCK: tl.constexpr = W * V * 128
    left = ((end - first + GROUP - 1) // GROUP) * GROUP
    below = score_below(ordered_key(mark))
    keep_tile(listed, segment, taken, x, first, 0, left, start, end, mark, below, W, V, CAP)
    x = load_tile(row, first + 2 * BLOCK, left - 2 * BLOCK, V, W)
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
            x = load_tile(row, base, left, V, W)
        kept = tl.load(tle.gpu.local_ptr(taken, (0,)))
    return kept


@triton.jit
def keep_again(listed, segment, taken, row, first, start, end, mark, W: tl.constexpr, V: tl.constexpr,
               GROUP: tl.constexpr, CAP: tl.constexpr):
    """The same from the first tile on and to the end; returns how many there are."""
    BLOCK: tl.constexpr = W * V * 128
    left = ((end - first + GROUP - 1) // GROUP) * GROUP
    below = score_below(ordered_key(mark))
    base = first
    number = 0
    x = load_tile(row, base, left, V, W)
    while left > 0:
        following = load_tile(row, base + BLOCK, left - BLOCK, V, W)
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
def begin_row(highs, row, first, start, end, want, larger, W: tl.constexpr, V: tl.constexpr, D: tl.constexpr,
              RUN: tl.constexpr, CAP: tl.constexpr, GROUP: tl.constexpr, ALIKE: tl.constexpr, LIST: tl.constexpr):
    """(mark, again, x, following): a mark, and the first two tiles, which are on their way during the sampling. again
    says that the mark should be that of a larger sample, as it is if `larger`."""
    BLOCK: tl.constexpr = W * V * 128
    left = ((end - first + GROUP - 1) // GROUP) * GROUP
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
        x = load_masked(row, first, left, V, W)
        following = load_masked(row, first + BLOCK, left - BLOCK, V, W)
        tl.debug_barrier()  # all of that is under way before the sample is waited for
        mark, alike = mark_of_sample(highs, sample, folds, end - start, want * 15 // 8, W, ALIKE)
        again = alike & (not larger) & (folds < folds_of_sample(end - start, True, D))
    else:
        x = load_masked(row, first, left, V, W)
        following = load_masked(row, first + BLOCK, left - BLOCK, V, W)
    return mark, again, x, following


@triton.jit
def select_long(out, row, start, end, want, W: tl.constexpr, V: tl.constexpr, D: tl.constexpr, RUN: tl.constexpr,
                CAP: tl.constexpr, SEGS: tl.constexpr, GROUP: tl.constexpr, LIST: tl.constexpr):
    if end - start <= want:
        write_all(out, end - start, want, 1024, LIST)
        return
    BLOCK: tl.constexpr = W * V * 128
    room = alloc_select(BINS)
    taken = tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False)
    segment = tle.gpu.alloc([SEGS], tl.int32, nv_mma_shared_layout=False)
    listed = tle.gpu.alloc([CAP + W * 64], tl.uint64, nv_mma_shared_layout=False)
    in_parts = (tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False),
               tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False))
    highs = tle.gpu.alloc([W], tl.int32, nv_mma_shared_layout=False)
    tl.store(tle.gpu.local_ptr(room[3], (0,)), 0)
    tl.store(tle.gpu.local_ptr(highs, (tl.arange(0, W),)), 0x7F7FFFFF)
    tl.store(tle.gpu.local_ptr(taken, (0,)), 0)
    clear(room[0], BINS)
    first = (start // GROUP) * GROUP
    left = ((end - first + GROUP - 1) // GROUP) * GROUP
    mark = tl.full((), -3.4028234663852886e38, tl.float32)
    larger = False
    # Unaligned, it would take more registers than there are. Fused forms, which are long to compile, do with less.
    ALIKE: tl.constexpr = D > 1 and GROUP > 1 and not LIST
    if ALIKE:
        x = tl.full((V, W, 128), 0.0, tl.float32)
        following = x
        searching = True
        while searching:
            mark, searching, x, following = begin_row(highs, row, first, start, end, want, larger, W, V, D, RUN, CAP,
                                                      GROUP, ALIKE, LIST)
            larger = searching
    else:
        mark, again, x, following = begin_row(highs, row, first, start, end, want, False, W, V, D, RUN, CAP, GROUP,
                                              ALIKE, LIST)
    kept = CAP + 1
    if mark > float("-inf"):
        kept = keep_from_mark(listed, segment, taken, row, x, following, first, start, end, mark, W, V, GROUP, CAP)
    ties = 0
    if (kept < want) | (kept > CAP):
        key, ties = narrow(room, in_parts, row, first, start, end, want, ordered_key(mark), kept, CAP, W, V, GROUP)
        mark = score_of_key(key)
        if ties == 0:
            clear(room[0], BINS)
            tl.store(tle.gpu.local_ptr(taken, (0,)), 0)
            kept = keep_again(listed, segment, taken, row, first, start, end, mark, W, V, GROUP, CAP)
    if ties > 0:
        write_in_order(out, in_parts, row, first, start, end, ordered_key(mark), ties, W, V, GROUP, LIST)
    else:
        pads = kept + tl.arange(0, W * 64)  # the list is read in whole chunks
        tl.store(tle.gpu.local_ptr(listed, (pads,), apart=True), tl.full((W * 64,), 0xFF800000, tl.uint64))
        high = tl.max(tl.load(tle.gpu.local_ptr(highs, (tl.arange(0, 32) % W,))))
        high = signed_bits(high).to(tl.float32, bitcast=True)
        key, ties = threshold_of_list(room, listed, kept, mark, high, want, CAP, W)
        # NaN, which scores cannot be compared with: the first of what is above +inf, and nothing that equals it
        ties = tl.where(key > 0xFF800000, 0, ties)
        key = tl.minimum(key, 0xFF800000)
        number = tl.maximum((left + BLOCK - 1) // BLOCK, 2) * W
        write_list(out, listed, segment, kept, number, score_of_key(key), ties, start - first, want, CAP, SEGS, V * 128,
                   W, LIST)


@triton.jit
def topk_long(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
                K: tl.constexpr, GROUP: tl.constexpr, W: tl.constexpr, V: tl.constexpr, D: tl.constexpr,
                RUN: tl.constexpr, CAP: tl.constexpr, SEGS: tl.constexpr,
                LIST: tl.constexpr = 0, next_n=1, values=None, value_stride=0, raw_indices=None, raw_stride=0,
                offsets=None, page_table=None, table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per program, k <= CAP / 3, columns <= SEGS * V * 128 - GROUP + 1; W is the number of warps."""
    tl.static_assert(CAP <= 32768, "two counts of a list share one 32-bit word")
    program = tl.program_id(0)
    row, start, end, want, out = open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride,
                                          columns, k, flags, next_n, K, LIST)
    select_long(out, row, start, end, want, W, V, D, RUN, CAP, SEGS, GROUP, LIST)
    if LIST:
        rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                page_shift, row_to_table)
        finish(out, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST, 1024)
