"""The rare end of clusters that share a mark: a search down to one key, and another list where the first is of no use.

A range of keys that holds too many to rank is divided again, by counts of the list. Where the sample misleads - fewer
than k listed, or too many in one place - the shares are counted first: the mark itself apart, for where many scores are
equal it is likely to be that one, then the keys above it, or below it if too few were listed. As soon as what a CTA has
from some key on fits, wherever in the share it is, a second list is made. So such a row is read three times, a fourth
time only where one range of keys holds more than fits. Where most of what was listed is above all that was sampled, as
much as a glance shows of each share tells how far the mark has to go up.

The second list is of blocks of four neighbours, of which one is wanted.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.bins import score_below
from topk.cluster import both_counts, write_tile
from topk.cluster_common import BINS, count_keys, divide, load_strips, range_of_bin, send_counts, upto_bin
from topk.common import bin_shift, clear, ordered_key, quick_key, score_of_key

LEAST_KEY = tl.constexpr(0x007FFFFF)  # of -inf
ZERO_KEY = tl.constexpr(0x80000000)
INF_KEY = tl.constexpr(0xFF800000)
NAN_KEY = tl.constexpr(0xFFFFFFFF)
NEAR = tl.constexpr(1 << 23)  # an octave
ALL = tl.constexpr(0x7FFFFFFF)
GLANCE = tl.constexpr(8192)  # elements of a share


# --- one read of the share ---------------------------------------------------------------------------


@triton.jit
def load_tile(share, base, count, GROUP: tl.constexpr, WARPS: tl.constexpr):
    """The strips from base on, which may lie past the end: a warp's are neighbours, the next warp's follow."""
    STRIPS: tl.constexpr = 4 if GROUP >= 4 else 2
    return load_strips(share + base, 0, 1, STRIPS * 128, count - base, STRIPS, GROUP, WARPS)


@triton.jit
def tile_keys(x, base, skip, count, WARPS: tl.constexpr):
    """Keys of a tile, 0 outside skip .. count - 1."""
    STRIPS: tl.constexpr = len(x)
    place = base + tl.arange(0, WARPS)[:, None] * (STRIPS * 128) + tl.arange(0, 128)[None, :]
    keys = ()
    for n in tl.static_range(STRIPS):
        keys = keys + (quick_key(x[n]),)
    if (base < skip) | (base + WARPS * STRIPS * 128 > count):
        inside = ()
        for n in tl.static_range(STRIPS):
            there = (place + n * 128 >= skip) & (place + n * 128 < count)
            inside = inside + (tl.where(there, keys[n], 0),)
        keys = inside
    return keys


@triton.jit
def count_share(hist, share, skip, count, low, high, shift, GROUP: tl.constexpr, WARPS: tl.constexpr):
    """Counts the share's keys from low on: those above high in bin 0, those equal to low, which many may be, in the
    last one, neither by a word that all want to change."""
    reach = high - low
    both = tl.zeros((WARPS, 32), tl.int32)
    x = load_tile(share, 0, count, GROUP, WARPS)
    STRIPS: tl.constexpr = len(x)
    TILE: tl.constexpr = WARPS * STRIPS * 128
    y = load_tile(share, TILE, count, GROUP, WARPS)
    for base in range(0, count, TILE):
        keys = tile_keys(x, base, skip, count, WARPS)
        for n in tl.static_range(STRIPS):
            down = high - keys[n]
            each = tl.where(down > high, 1, tl.where(down == reach, 1 << 16, 0))
            both += tl.sum(tl.reshape(each, (WARPS, 32, 4)), axis=2)
            bin = (down >> (shift & 31)).to(tl.int32) + 1
            tl.atomic_add(tle.gpu.local_ptr(hist, (bin,)), 1, mask=down < reach, sem="relaxed", scope="cta")
        x = y
        y = load_tile(share, base + 2 * TILE, count, GROUP, WARPS)
    tl.store(tle.gpu.local_ptr(hist, (0,)), tl.sum(tl.sum(both & 0xFFFF, axis=1)))
    tl.store(tle.gpu.local_ptr(hist, (BINS - 1,)), tl.sum(tl.sum(both >> 16, axis=1)))


@triton.jit
def share_bins(low, high):
    """(shift, high): the shift that makes the keys above low fill bins 1 .. BINS - 2, and the end of the range that
    makes each bin begin at a round key, for what many scores share is a round number, mostly."""
    shift = bin_shift(low, high, 9)
    shift += (((high - low) >> shift) > BINS - 4).to(tl.uint32)
    return shift, high | ((1 << shift) - 1).to(tl.uint32)


@triton.jit
def range_of_share_bin(bin, low, high, shift):
    """The lowest and highest key of such a bin, bin 0 up to the last one. The only one above +inf's is NaN's."""
    a, b = range_of_bin(bin, low + 1, high, shift)
    a = tl.where(bin == BINS - 1, low, tl.where(bin == 0, high + 1, a))
    b = tl.where(bin == BINS - 1, low, tl.where(bin == 0, NAN_KEY, b)).to(tl.uint32)
    b = tl.where((a == INF_KEY) & (b != NAN_KEY), a, b)
    return tl.where(a > INF_KEY, b, a), b


@triton.jit
def list_blocks(values, index, x, kept, base, count, offset, below, GROUP: tl.constexpr, WARPS: tl.constexpr):
    """Appends a tile's blocks of four scores of which one is above `below`, in order."""
    STRIPS: tl.constexpr = len(x)
    place = base + tl.arange(0, WARPS)[:, None] * (STRIPS * 128) + tl.arange(0, 32)[None, :] * 4
    left = (count + (GROUP - 1)) // GROUP * GROUP - place
    hits = ()
    before = ()
    found = tl.zeros((WARPS,), tl.int32)
    for n in tl.static_range(STRIPS):
        hit = tl.reshape(not (x[n].to(tl.float32) <= below), (WARPS, 32, 4))
        hits = hits + ((tl.reduce_or(hit.to(tl.int32), axis=2) != 0) & (left > n * 128),)
        own, total = tle.cumsum(hits[n].to(tl.int32), axis=1)
        before = before + (own + found[:, None],)
        found += total
    warps, all = tle.cumsum(found)
    for n in tl.static_range(STRIPS):
        block = kept + warps[:, None] + before[n]
        four = block[:, :, None] * 4 + tl.arange(0, 4)[None, None, :]
        score = tl.reshape(x[n].to(tl.float32), (WARPS, 32, 4))
        tl.store(tle.gpu.local_ptr(values, (four,), apart=True), score, mask=hits[n][:, :, None])
        tl.store(tle.gpu.local_ptr(index, (block,), apart=True), offset + place + n * 128, mask=hits[n])
    return kept + all


@triton.jit
def list_share(values, index, share, offset, count, key, enough, larger, GROUP: tl.constexpr, WARPS: tl.constexpr):
    """Makes the list of the blocks that hold scores from key on, until there are `enough`, and of those that hold
    larger ones, if there are any. Returns how many there are."""
    from_key = score_below(tl.minimum(key, INF_KEY + 1))
    kept = 0
    base = 0
    x = load_tile(share, 0, count, GROUP, WARPS)
    TILE: tl.constexpr = WARPS * len(x) * 128
    y = load_tile(share, TILE, count, GROUP, WARPS)
    while (base < count) & ((kept < enough) | (larger > 0)):
        below = tl.where(kept < enough, from_key, score_of_key(key))
        kept = list_blocks(values, index, x, kept, base, count, offset, below, GROUP, WARPS)
        base += TILE
        x = y
        y = load_tile(share, base + TILE, count, GROUP, WARPS)
    return kept


@triton.jit
def list_again(hist, own, parts, arrived, values, index, share, offset, skip, count, rank, want, low, high, lacking,
               beyond, round, fit, MESH: tl.constexpr, GROUP: tl.constexpr, WARPS: tl.constexpr):
    """Counts the shares until in every CTA the blocks from some key on fit, and lists these. Returns the range of
    keys from there to the end of the k-th largest's bin, the division that told it, how many blocks are listed, and
    the next round. lacking says that fewer than wanted are not below low, beyond that no fewer seem to be above high:
    then a glance at each share is counted first, for a key that as many as wanted of any part are not below is not
    above the k-th largest."""
    near = round > 0
    if beyond:
        low = high + 1
        high = tl.full((), NAN_KEY, tl.uint32)
    bin, above, inside, above_lower, inside_lower = (BINS + 0 * want, 0, 0, 0, 0)
    searching = True
    while searching:
        if lacking:
            # What a mark was too high by is little, mostly, and what many scores share is zero, mostly.
            high = low - 1
            low = tl.where(high > ZERO_KEY, ZERO_KEY, LEAST_KEY).to(tl.uint32)
            low = tl.where(near, high - tl.minimum(high - low, NEAR), low)
            near = False
        shift, high = share_bins(low, high)
        clear(hist, BINS)
        seen = tl.where(beyond, tl.minimum(count, GLANCE), count)
        count_share(hist, share, skip, seen, low, high, shift, GROUP, WARPS)
        send_counts(hist, own, parts, arrived, round, ALL, rank, MESH)
        bin, above, inside, above_lower, inside_lower = divide(parts, arrived, round, rank, want, MESH)
        lacking = bin == BINS
        if not lacking:
            low, high = range_of_share_bin(bin, low, high, shift)
            most = tl.max(upto_bin(parts, round % 2, bin, MESH))
            searching = beyond | ((low != high) & (above + inside != want) & (most > fit))
        if beyond:
            lacking = False
            high += tl.minimum(NAN_KEY - high, 2 * NEAR)  # the k-th largest may be in a later bin
        beyond = False
        round += 1
    mine = tl.arange(0, 32) == rank
    larger = tl.sum(tl.where(mine, upto_bin(parts, (round - 1) % 2, bin - 1, MESH), 0))
    some = tl.sum(tl.where(mine, upto_bin(parts, (round - 1) % 2, bin, MESH), 0))
    # Of a single key only those that are selected, which fit.
    single = low == high
    ties = tl.minimum(some - larger, tl.maximum(want - above - inside_lower, 0))
    enough = tl.where(single, larger + ties, tl.where(some > 0, ALL, 0))
    kept = list_share(values, index, share, offset, count, low, enough, tl.where(single, larger, 0), GROUP, WARPS)
    return low, high, (bin, above, inside, above_lower, inside_lower), kept, round


# --- the list ----------------------------------------------------------------------------------------


@triton.jit
def listed(keys, index, base, kept, fours, length, LT: tl.constexpr):
    """(keys, indices) of a tile of the list, key 0 past its end and outside the row. With fours it is one of blocks,
    and of scores."""
    place = base + tl.arange(0, LT)
    block = tl.where(fours, place >> 2, place)
    i = tl.load(tle.gpu.local_ptr(index, (block,)), mask=place < kept, other=-4) + tl.where(fours, place & 3, 0)
    x = tl.load(tle.gpu.local_ptr(keys, (place,)), mask=place < kept, other=0.0)
    key = tl.where(fours, ordered_key(x), x.to(tl.uint32, bitcast=True))
    return tl.where((i >= 0) & (i < length), key, 0), i


@triton.jit
def count_list(hist, keys, index, kept, fours, length, low, high, shift, LT: tl.constexpr):
    for base in range(0, kept, LT):
        key, i = listed(keys, index, base, kept, fours, length, LT)
        count_keys(hist, key, high, shift, (key >= low) & (key <= high))


@triton.jit
def write_list(out, keys, index, kept, fours, length, threshold, ties, larger, equal, LT: tl.constexpr,
               LIST: tl.constexpr, MESH: tl.constexpr):
    for base in range(0, kept, LT):
        key, i = listed(keys, index, base, kept, fours, length, LT)
        before, total = tle.cumsum(both_counts(key, threshold))
        write_tile(out, key, before, i, threshold, ties, larger, equal, LIST, MESH)
        larger += total & 0xFFFF
        equal += total >> 16


@triton.jit
def select_exact(out, hist, own, parts, arrived, keys, index, share, offset, skip, count, length, kept, rank, want,
                 low, high, shift, division, round, fit, LT: tl.constexpr, MESH: tl.constexpr, GROUP: tl.constexpr,
                 WARPS: tl.constexpr, LIST: tl.constexpr):
    """Divides until one key is left, or a whole range is selected. division is of the list, by the range that low, high
    and shift tell; nothing was listed if it says that all of it lies before its last bin. fit is how many blocks the
    list has room for."""
    bin, above, inside, above_lower, inside_lower = division
    # A list that overflowed has more than the wanted elements in every bin but the first.
    fours = bin == BINS
    if bin < 2:
        fours = tl.max(upto_bin(parts, 0, 1, MESH)) == 65535 // MESH.size
    if fours:
        low, high, division, kept, round = list_again(hist, own, parts, arrived, keys, index, share, offset, skip,
                                                      count, rank, want, low, high, bin == BINS, bin == 0, round,
                                                      fit, MESH, GROUP, WARPS)
        bin, above, inside, above_lower, inside_lower = division
        kept *= 4
    elif bin == 0:
        low = high + 1
        high = tl.full((), NAN_KEY, tl.uint32)
    else:
        low, high = range_of_bin(bin, low, high, shift)
    need = want - above
    larger = above_lower
    while (need != inside) & (low != high):
        shift = bin_shift(low, high, 9)  # BINS, or one more: the last may be wider
        clear(hist, BINS)
        count_list(hist, keys, index, kept, fours, length, low, high, shift, LT)
        send_counts(hist, own, parts, arrived, round, ALL, rank, MESH)
        bin, above, inside, above_lower, inside_lower = divide(parts, arrived, round, rank, need, MESH)
        low, high = range_of_bin(bin, low, high, shift)
        need -= above
        larger += above_lower
        round += 1
    if need == inside:
        low -= 1
        need = 0
        larger += inside_lower
        inside_lower = 0
    write_list(out, keys, index, kept, fours, length, low, need, larger, inside_lower, LT, LIST, MESH)
