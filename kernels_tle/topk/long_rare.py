"""What long.py does with a row that misled its sample: elements from the mark upwards are too many or too few, and one
more read of the row counts by keys what the mark left open. Either a value that many elements share turns out to be the
one at the border - the mark itself, mostly - or a better mark is known exactly. Then each warp writes the answer of its
own part of the row, as far as it reaches, or one read more makes the list.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.bins import BINS, find_bin
from topk.common import bin_shift, clear, counts_of, put, quick_key
from topk.long_list import columns_left, part_offset


@triton.jit
def load_parts(row, first, base, end, reading, V: tl.constexpr, GROUP: tl.constexpr):
    """[V, W, 128] scores from columns base[w] on, of the warps that are reading."""
    offset = part_offset(V)
    left = tl.where(reading, columns_left(first, end, GROUP) - (base - first), 0)
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
