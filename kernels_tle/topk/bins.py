"""Selection among scores that a CTA holds: bins of equal width over the range of the scores, a histogram of them in
shared memory, and the few scores of the bin in question one by one.

Bins are made of the scores themselves by two float operations that are monotone whatever the range is, so a bad range
makes bins that do not tell scores apart, never wrong ones. Where a bin stays crowded (ties, a range of many powers of
two), integer keys settle it.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.common import bin_shift, clear, low_and_high, ordered_key, score_of_key

BINS = tl.constexpr(2048)
FEW = tl.constexpr(32)

# Floats of 2.0 and a bin's number times 2^-22, whose bits are 0x40000000 and the bin's number.
BIN_BITS = tl.constexpr(0x40000000)
BIN_STEP = tl.constexpr(1.0 / 4194304.0)


@triton.jit
def score_below(key):
    """The next score below that of a key above -inf's: no score lies between, so x > one is x >= the other."""
    return score_of_key(key - tl.where(key == 0x80000000, 2, 1).to(tl.uint32))


@triton.jit
def signed_bits(x):
    """int32 that orders like the score, -0 below +0 and NaN apart. Its own inverse."""
    bits = x.to(tl.int32, bitcast=True)
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def bin_bits(x, scale, offset, N: tl.constexpr):
    """BIN_BITS + the bin, 0 .. N - 1, which falls as x grows. NaN is in bin 0."""
    part = tl.clamp(tl.fma(x, -scale, offset), 0.0, 1.0)
    return tl.fma(part, (N - 1) * BIN_STEP, 2.0).to(tl.int32, bitcast=True)


@triton.jit
def count_bins(hist, bits):
    tl.atomic_add(tle.gpu.local_ptr(hist, (bits & (BIN_BITS - 1),)), 1, sem="relaxed", scope="cta")


@triton.jit
def range_scale(low, high):
    """(scale, offset) of bins from high down to low, which need not be finite: what lies beyond is in the first or the
    last bin."""
    low = tl.maximum(low, -1.0e37)
    high = tl.minimum(high, 1.0e37)
    root = tl.rsqrt(high - low)
    scale = tl.minimum(root * root, 3.0e38)
    return scale, high * scale


@triton.jit
def alloc_select(N: tl.constexpr):
    """What selection needs of shared memory: histogram of N bins, the bin that was found (two words, apart so that no
    barrier comes between), how many scores are listed, the list."""
    return (tle.gpu.alloc([N], tl.int32, nv_mma_shared_layout=False),
            tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False),
            tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False),
            tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False),
            tle.gpu.alloc([FEW], tl.float32, nv_mma_shared_layout=False))


@triton.jit
def find_bin(room, need, W: tl.constexpr, N: tl.constexpr):
    """(bin, how many lie in bins before it, how many in it) of the need-th."""
    hist, found_run, found_before, listed, few = room
    RUN: tl.constexpr = N // (W * 32)
    FOUR: tl.constexpr = min(RUN, 4)
    run = tl.arange(0, W * 32)
    own = tl.zeros((W * 32,), tl.int32)
    for i in tl.static_range(0, RUN, FOUR):  # not more at once, so that each thread has a whole run
        count = tl.load(tle.gpu.local_ptr(hist, (run[:, None] * RUN + i + tl.arange(0, FOUR)[None, :],)))
        own += tl.sum(count, axis=1)
    before, total = tle.cumsum(own)
    # Exactly one run is hit; its thread tells the others.
    hit = (before < need) & (before + own >= need)
    tl.store(tle.gpu.local_ptr(found_run, (tl.zeros((W * 32,), tl.int32),)), run, mask=hit)
    tl.store(tle.gpu.local_ptr(found_before, (tl.zeros((W * 32,), tl.int32),)), before, mask=hit)
    first = tl.load(tle.gpu.local_ptr(found_run, (0,))) * RUN
    above = tl.load(tle.gpu.local_ptr(found_before, (0,)))
    inside = tl.load(tle.gpu.local_ptr(hist, (first,)))
    bin = first
    for i in tl.static_range(1, RUN):
        following = tl.load(tle.gpu.local_ptr(hist, (first + i,)))
        later = above + inside < need
        above = tl.where(later, above + inside, above)
        inside = tl.where(later, following, inside)
        bin = tl.where(later, first + i, bin)
    return bin, above, inside


@triton.jit
def list_few(room, x, chosen):
    """Lists the chosen elements of a tile whose first dimension lies in the registers of each thread, at most FEW
    of all tiles. The list is empty before."""
    hist, found_run, found_before, listed, few = room
    each = chosen.to(tl.int32)
    before, own = tle.cumsum(each, axis=0)
    # One word for all, though an index that is not seen to be one: few threads have any, and a sum over the lanes of
    # each warp would cost more than it saves.
    word = tle.gpu.local_ptr(listed, (tl.minimum(own, 0),))
    place = tl.atomic_add(word, own, mask=own > 0, sem="relaxed", scope="cta")
    tl.store(tle.gpu.local_ptr(few, (tl.expand_dims(place, 0) + before,), apart=True), x, mask=each != 0)


@triton.jit
def nth_of_few(room, count, need):
    """(key, ties, same): the key of the need-th largest of the `count` listed scores, how many of those equal to it
    are wanted, and how many there are. Every warp finds out for itself."""
    hist, found_run, found_before, listed, few = room
    i = tl.arange(0, FEW)
    x = tl.load(tle.gpu.local_ptr(few, (i,)), mask=i < count, other=0.0)
    key = tl.where(i < count, ordered_key(x), 0)
    top = tl.max(key)
    same = tl.sum((key == top).to(tl.int32))
    while same < need:
        need -= same
        key = tl.where(key == top, 0, key)
        top = tl.max(key)
        same = tl.sum((key == top).to(tl.int32))
    return top, need, same


@triton.jit
def threshold_of_keys(room, key, want, W: tl.constexpr, N: tl.constexpr):
    """(threshold, ties): every key above threshold is wanted, and so many of those equal to it. The tile has at least
    want keys that are not 0.

    Bins are 2^shift keys wide and cover just the range that is left, so three or four rounds settle any tile."""
    low, high = tl.reduce((tl.where(key == 0, 0xFFFFFFFF, key), key), 0, low_and_high)
    BITS: tl.constexpr = 11 if N == 2048 else 10
    need = want
    whole = False
    searching = True
    while searching:
        clear(room[0], N)
        shift = bin_shift(low, high, BITS)
        inside = (key >= low) & (key <= high)
        place = tle.gpu.local_ptr(room[0], (((high - key) >> shift).to(tl.int32),))
        tl.atomic_add(place, 1, mask=inside, sem="relaxed", scope="cta")
        bin, above, count = find_bin(room, need, W, N)
        need -= above
        high -= bin.to(tl.uint32) << shift
        low = high - tl.minimum(high - low, (1 << shift) - 1)
        whole = need == count
        searching = (shift > 0) & (not whole)
    return low - tl.where(whole, 1, 0).to(tl.uint32), tl.where(whole, 0, need)
