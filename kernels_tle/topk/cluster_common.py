"""What the usual and the rare end of clusters that share a mark (cluster_mark.py, cluster_rare.py) have in common:
loads of a share by strips, and one division of a range of keys into BINS, by counts that every CTA hands to all.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle

BINS = tl.constexpr(512)
WORDS = tl.constexpr(256)  # of two counts each
PART = tl.constexpr(260)  # from one CTA's words to the next one's: in other banks


@triton.jit
def load_strips(share, t, tiles, part, count, STRIPS: tl.constexpr, GROUP: tl.constexpr, WARPS: tl.constexpr):
    """The t-th STRIPS strips of 128 scores of each warp's part of the share; undefined in groups past its end, or
    -inf. Past the last tile nothing is read."""
    begin = tl.multiple_of(tl.arange(0, WARPS)[:, None] * part + t * (STRIPS * 128), (1, 128))
    lane = tl.arange(0, 128)[None, :]
    left = tl.where(t < tiles, (count - begin + (GROUP - 1)) // GROUP, 0)
    at = share + begin + lane
    x = ()
    for i in tl.static_range(STRIPS):
        there = lane // GROUP < left - i * 128 // GROUP
        if GROUP < 4:
            strip = tl.load(at + i * 128, mask=there, other=float("-inf"))
        else:
            strip = tl.load(at + i * 128, mask=there)
        x = x + (strip,)
    return x


@triton.jit
def count_keys(hist, key, high, shift, counted):
    """Bin 0 has the keys above high; from bin 1 on the range goes down."""
    bin = tl.where(key > high, 0, tl.minimum((high - key) >> shift, BINS - 2) + 1)
    tl.atomic_add(tle.gpu.local_ptr(hist, (bin.to(tl.int32),)), 1, mask=counted, sem="relaxed", scope="cta")


@triton.jit
def send_counts(hist, own, parts, arrived, round, cap, rank, MESH: tl.constexpr):
    """Hands the running counts of all bins to every CTA, two in a word, and returns their sum. What is more than
    need can ever be does not matter, so that they fit; where the sum is over cap all bins but the first are full. Rounds
    take turns at two halves of parts, so that a CTA may be a round ahead of another one."""
    FULL: tl.constexpr = 65535 // MESH.size
    counts = tl.load(tle.gpu.local_ptr(hist, (tl.arange(0, BINS),)))
    before, total = tle.cumsum(counts)
    full = (total > cap) & (tl.arange(0, BINS) > 0)
    upto = tl.where(full, FULL, tl.minimum(before + counts, FULL))
    even, odd = tl.split(tl.reshape(upto, (WORDS, 2)))
    tl.store(tle.gpu.local_ptr(own, (tl.arange(0, WORDS),)), even | (odd << 16))
    turn = round % 2
    tle.mbarrier_expect(arrived, turn, MESH.size * WORDS * 4)
    word = tl.arange(0, WORDS)[None, :]
    peer = tl.arange(0, MESH.size)[:, None]
    there = tle.gpu.local_ptr(parts, ((turn * MESH.size + rank) * PART + word,))
    # Pointers to the same words for each peer, so that the load is as wide as the store.
    mine = tle.gpu.local_ptr(own, (tl.broadcast_to(word, (MESH.size, WORDS)),))
    tle.store_async(there, peer, tl.load(mine), arrived, turn, scope=MESH)
    return total


@triton.jit
def find_bin(parts, turn, need, MESH: tl.constexpr):
    """The bin that holds the need-th largest, BINS if there is none."""
    half = turn * (MESH.size * PART)
    word = tl.arange(0, WORDS)
    sums = tl.zeros((WORDS,), tl.int32)
    for i in tl.static_range(MESH.size):
        sums += tl.load(tle.gpu.local_ptr(parts, (half + i * PART + word,)))
    return tl.sum(((sums & 0xFFFF) < need).to(tl.int32) + (((sums >> 16) & 0xFFFF) < need).to(tl.int32))


@triton.jit
def upto_bin(parts, turn, bin, MESH: tl.constexpr):
    """What each CTA counts up to a bin; 0 before bin 0 and beyond the last CTA."""
    peer = tl.arange(0, 32)
    there = (turn * MESH.size + peer) * PART + (bin >> 1)
    words = tl.load(tle.gpu.local_ptr(parts, (there,)), mask=(peer < MESH.size) & (bin >= 0), other=0)
    return (words >> ((bin & 1) << 4)) & 0xFFFF


@triton.jit
def divide(parts, arrived, round, rank, need, MESH: tl.constexpr):
    """One division by the counts that all send: the bin, and how many elements all CTAs and the lower ranks have
    before it and in it."""
    turn = round % 2
    tle.mbarrier_wait(arrived, turn, round // 2)
    bin = find_bin(parts, turn, need, MESH)
    before = upto_bin(parts, turn, bin - 1, MESH)
    # Both kinds are summed at once: neither sum reaches 2^16.
    both = before | ((upto_bin(parts, turn, tl.minimum(bin, BINS - 1), MESH) - before) << 16)
    all = tl.sum(both)
    lower = tl.sum(tl.where(tl.arange(0, 32) < rank, both, 0))
    return bin, all & 0xFFFF, (all >> 16) & 0xFFFF, lower & 0xFFFF, (lower >> 16) & 0xFFFF


@triton.jit
def range_of_bin(bin, low, high, shift):
    """Of a bin from 1 on: its lowest and highest key."""
    high = high - ((bin - 1).to(tl.uint32) << shift)
    reach = tl.minimum(high - low, (1 << shift) - 1)
    return tl.where(bin == BINS - 1, low, high - reach), high
