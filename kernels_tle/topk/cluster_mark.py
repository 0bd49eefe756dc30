"""Exact top-k selection, one cluster of CTAs per row; for few long rows.

common.py says in which order. Each CTA has a contiguous share of the row. All look at one sample
of the row and so agree on a mark: a key that somewhat more than k elements are not below. Each CTA lists its
own such elements in order. What follows touches the lists alone, a small part of the row:

1. Every CTA counts its list by BINS - 1 ranges of keys from the mark up, and hands the running counts to all
   others. The sums over the cluster tell each CTA the range that holds the k-th largest, and how many elements
   of lower ranks lie above that range.
2. The keys of the few elements in that range go to all CTAs, in the order of the row. Each ranks them, and so
   knows the last selected one and where its own elements go.

So a row costs two exchanges, and no CTA waits for another one's decision. A range that holds too many keys is
divided again. Where the sample misleads (fewer than k listed, or too many for a list), the same search runs
over the shares themselves, from what is known about the counts, until a single key is left; first of all the
mark itself is tried, for a row with many equal elements has it there.
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice
import triton.experimental.tle as tled
import triton.experimental.tle.language as tle
from topk.cluster import both_counts, put, write_all, write_tile
from topk.common import bin_shift, clear, finish, load_groups, open_row, ordered_key

BINS = tl.constexpr(512)
WORDS = tl.constexpr(256)  # of two counts each
PART = tl.constexpr(260)  # from one CTA's words to the next one's: in other banks
MEMBERS = tl.constexpr(64)  # keys of the last range that are ranked
STATS = tl.constexpr(32)

MESH2 = tled.device_mesh({"block_cluster": [("cluster_x", 2)]})
MESH4 = tled.device_mesh({"block_cluster": [("cluster_x", 4)]})
MESH8 = tled.device_mesh({"block_cluster": [("cluster_x", 8)]})
MESH16 = tled.device_mesh({"block_cluster": [("cluster_x", 16)]})


# --- the share ---------------------------------------------------------------------------------------


@triton.jit
def share_scores(share, base, count, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Scores of places base .. base + BLOCK - 1 of a share, -inf in groups past its end."""
    return load_groups(share, base, count, float("-inf"), BLOCK, GROUP).to(tl.float32)


@triton.jit
def share_keys(x, base, skip, count, BLOCK: tl.constexpr):
    """Keys of such scores, 0 outside skip .. count - 1."""
    offset = base + tl.arange(0, BLOCK)
    return tl.where((offset < count) & (offset >= skip), ordered_key(x), 0)


# --- the mark ----------------------------------------------------------------------------------------


@triton.jit
def place_of_mark(aim, span, SIZE: tl.constexpr, LEAST: tl.constexpr):
    """(j, rank): where among the maxima, or minima, of SIZE scores each lies the score that aim ones of the row are
    not below. Of 32 such the j-th largest is near it; each of STATS independent ones is at least it with some
    probability, which tells the rank among these."""
    share = tl.minimum(aim.to(tl.float32) / span.to(tl.float32), 0.6)
    one = share if LEAST else 1.0 - share
    all = one
    for i in tl.static_range(1, SIZE):
        all = all * one
    p = all if LEAST else 1.0 - all
    none = 1.0 - p
    j = tl.minimum(tl.maximum((32.0 * p + 0.5).to(tl.int32), 1), 31)
    # The binomial distribution, up to where its median is as good.
    odds = p / none
    term = none
    for i in tl.static_range(5):
        term = term * term
    fewer = term
    for i in tl.static_range(1, 8):
        term = term * (odds * ((33 - i) / i))
        fewer += tl.where(i < j, term, 0.0)
    rank = tl.where(j > 8, STATS // 2, (STATS * (1.0 - fewer)).to(tl.int32))
    return j, tl.minimum(rank, STATS - 1)


@triton.jit
def sample_run(row, first, span, i, RUN: tl.constexpr, REPEAT: tl.constexpr, LANES: tl.constexpr):
    """Of each group, 32 runs of RUN elements, LANES of them neighbours: a cache line takes as long as one score."""
    stat = tl.arange(0, STATS)[:, None, None]
    lane = tl.arange(0, 32)[None, :, None]
    step = span // (STATS * 32 * REPEAT // LANES)
    place = (lane // LANES * REPEAT + i) * STATS + stat
    place = place * step // (LANES * RUN) * (LANES * RUN) + lane % LANES * RUN
    return tl.load(row + first + place + tl.arange(0, RUN)[None, None, :]).to(tl.float32)


@triton.jit
def sample_mark(row, first, span, aim, stats, found, RUN: tl.constexpr, REPEAT: tl.constexpr,
                LANES: tl.constexpr, LEAST: tl.constexpr):
    """(mark, top): a key that about aim elements are not below, and the largest sampled key."""
    tl.static_assert(REPEAT == 1 or REPEAT == 2 or REPEAT == 4, "what is spelt out")
    tl.static_assert(REPEAT == 1 or not LEAST, "maxima of minima are another distribution")
    x = sample_run(row, first, span, 0, RUN, REPEAT, LANES)
    if REPEAT > 1:
        y = sample_run(row, first, span, 1, RUN, REPEAT, LANES)
    if REPEAT > 2:
        z = sample_run(row, first, span, 2, RUN, REPEAT, LANES)
        w = sample_run(row, first, span, 3, RUN, REPEAT, LANES)
    j, rank = place_of_mark(aim, span, RUN * REPEAT, LEAST)
    if REPEAT > 2:
        x = tl.maximum(x, z)
        y = tl.maximum(y, w)
    if REPEAT > 1:
        x = tl.maximum(x, y)
    key = ordered_key(tl.min(x, axis=2) if LEAST else tl.max(x, axis=2))
    largest = tl.max(key, axis=1)
    top = tl.max(ordered_key(tl.max(x, axis=2)), axis=1) if LEAST else largest
    i = 1
    while i < j:
        key = tl.where(key == largest[:, None], 0, key)
        largest = tl.max(key, axis=1)
        i += 1
    s = tl.arange(0, STATS)
    tl.store(tle.gpu.local_ptr(stats, (s,)), largest)
    tl.store(tle.gpu.local_ptr(stats, (STATS + s,)), top)
    a = tl.load(tle.gpu.local_ptr(stats, (s[:, None],)))
    b = tl.load(tle.gpu.local_ptr(stats, (s[None, :],)))
    ahead = (b > a) | ((b == a) & (s[None, :] < s[:, None]))
    here = tl.sum(ahead.to(tl.int32), axis=1) == rank
    tl.store(tle.gpu.local_ptr(found, (tl.zeros((STATS,), tl.int32),)), tl.load(tle.gpu.local_ptr(stats, (s,))),
             mask=here)
    return (tl.load(tle.gpu.local_ptr(found, (0,))), tl.max(tl.load(tle.gpu.local_ptr(stats, (STATS + s,))), axis=0))


@triton.jit
def score_of_key(key):
    bits = tl.where((key >> 31) != 0, key ^ 0x80000000, ~key)
    return bits.to(tl.float32, bitcast=True)


# --- the list ----------------------------------------------------------------------------------------


@triton.jit
def list_tile(value, index, place, x, first_index, mark, BLOCK: tl.constexpr):
    """Lists the elements of a tile not below mark, in order, from `place` on; returns how many there are."""
    hit = not (x < mark)
    before, total = tle.cumsum(hit.to(tl.int32))
    before += place
    tl.store(tle.gpu.local_ptr(value, (before,)), x, mask=hit)
    tl.store(tle.gpu.local_ptr(index, (before,)), first_index + tl.arange(0, BLOCK), mask=hit)
    return total


@triton.jit
def load_strips(share, t, count, BLOCK: tl.constexpr, GROUP: tl.constexpr, WARPS: tl.constexpr,
                STRIPS: tl.constexpr):
    """Tile t of a share, as tiles of a strip of 128 scores for each warp; -inf past its end."""
    warp = tl.arange(0, WARPS)[:, None]
    lane = tl.arange(0, 128)[None, :]
    groups = (tl.minimum(count - t * BLOCK, BLOCK) + (GROUP - 1)) // GROUP
    a = share + t * BLOCK
    x = ()
    for i in tl.static_range(STRIPS):
        offset = (warp * STRIPS + i) * 128 + lane
        x = x + (tl.load(a + offset, mask=offset // GROUP < groups, other=float("-inf")).to(tl.float32),)
    return x


@triton.jit
def list_strips(values, indices, x, kept, first_index, mark, SEGMENT: tl.constexpr, ROOM: tl.constexpr,
                WARPS: tl.constexpr, STRIPS: tl.constexpr):
    """Appends a tile's elements not below mark to the warps' segments; returns how many each warp has then. Those
    with more than SEGMENT get no more."""
    open = (kept <= SEGMENT)[:, None]
    word = tl.zeros((WARPS, 128), tl.uint32)
    for i in tl.static_range(STRIPS):
        word += tl.where((not (x[i] < mark)) & open, 1 << (8 * i), 0).to(tl.uint32)
    # The counts of up to four strips, up to 128 each.
    before, total = tle.cumsum(word, axis=1)
    warp = tl.arange(0, WARPS)[:, None]
    for i in tl.static_range(STRIPS):
        place = kept[:, None] + ((before >> (8 * i)) & 255).to(tl.int32) + warp * ROOM
        hit = (not (x[i] < mark)) & open
        index = first_index + (warp * STRIPS + i) * 128 + tl.arange(0, 128)[None, :]
        tl.store(tle.gpu.local_ptr(values, (place,), apart=True), x[i], mask=hit)
        tl.store(tle.gpu.local_ptr(indices, (place,), apart=True), index, mask=hit)
        kept += ((total >> (8 * i)) & 255).to(tl.int32)
    return kept


@triton.jit
def list_stream(value, index, hist, share, offset, count, tiles, length, mark, low, high, shift, BLOCK: tl.constexpr,
                GROUP: tl.constexpr, CAP: tl.constexpr, WARPS: tl.constexpr, SEGMENT: tl.constexpr,
                TILES: tl.constexpr):
    """list_tile for a share of up to TILES tiles, and count_keys of what it lists. Each warp appends to a segment
    of its own, so none waits for another one while the share streams in. Returns how many elements are listed, or
    some number over CAP when they do not fit."""
    STRIPS: tl.constexpr = BLOCK // (WARPS * 128)
    ROOM: tl.constexpr = SEGMENT + STRIPS * 128
    values = tle.gpu.alloc([WARPS * ROOM], tl.float32, nv_mma_shared_layout=False)
    indices = tle.gpu.alloc([WARPS * ROOM], tl.int32, nv_mma_shared_layout=False)
    counts = tle.gpu.alloc([TILES * WARPS], tl.int32, nv_mma_shared_layout=False)
    starts = tle.gpu.alloc([TILES * WARPS], tl.int32, nv_mma_shared_layout=False)
    warp = tl.arange(0, WARPS)
    kept = tl.zeros((WARPS,), tl.int32)
    tile = load_strips(share, 0, count, BLOCK, GROUP, WARPS, STRIPS)
    for t in range(0, tiles):
        following = load_strips(share, t + 1, count, BLOCK, GROUP, WARPS, STRIPS)
        after = list_strips(values, indices, tile, kept, offset + t * BLOCK, mark, SEGMENT, ROOM, WARPS, STRIPS)
        tl.store(tle.gpu.local_ptr(counts, (t * WARPS + warp,), apart=True), after - kept)
        tl.store(tle.gpu.local_ptr(starts, (t * WARPS + warp,), apart=True), kept)
        kept = after
        tile = following
    # From places in the segments to places in the row's order, which is by tiles first.
    slot = tl.arange(0, TILES * WARPS)
    used = slot < tiles * WARPS
    before, total = tle.cumsum(tl.load(tle.gpu.local_ptr(counts, (slot,)), mask=used, other=0))
    start = tl.load(tle.gpu.local_ptr(starts, (slot,)), mask=used, other=0)
    tl.store(tle.gpu.local_ptr(counts, (slot,)), before - start)
    most = tl.max(kept, axis=0)
    if (most > SEGMENT) | (total > CAP):
        return CAP + 1
    for base in range(0, most, 64):
        i = base + tl.arange(0, 64)[None, :]
        there = i < kept[:, None]
        place = warp[:, None] * ROOM + i
        x = tl.load(tle.gpu.local_ptr(values, (place,)), mask=there, other=0.0)
        number = tl.load(tle.gpu.local_ptr(indices, (place,)), mask=there, other=offset)
        moved = i + tl.load(tle.gpu.local_ptr(counts, ((number - offset) // BLOCK * WARPS + warp[:, None],)))
        tl.store(tle.gpu.local_ptr(value, (moved,)), x, mask=there)
        tl.store(tle.gpu.local_ptr(index, (moved,)), number, mask=there)
        key = tl.where(there & (number >= 0) & (number < length), ordered_key(x), 0)
        count_keys(hist, key, low, high, shift, True)
    return total


@triton.jit
def listed(value, index, base, kept, length, LT: tl.constexpr):
    """(keys, indices, places) of a tile of the list; key 0 past its end and for indices outside the row."""
    place = base + tl.arange(0, LT)
    there = place < kept
    i = tl.load(tle.gpu.local_ptr(index, (place,)), mask=there, other=-1)
    x = tl.load(tle.gpu.local_ptr(value, (place,)), mask=there, other=0.0)
    return tl.where((i >= 0) & (i < length), ordered_key(x), 0), i, place


# --- one division of a range of keys -----------------------------------------------------------------


@triton.jit
def count_keys(hist, key, low, high, shift, open):
    """Bin 0 has the keys above high, if open; from bin 1 on the range goes down."""
    over = key > high
    bin = tl.where(over, 0, tl.minimum((high - key) >> shift, BINS - 2) + 1)
    counted = (key >= low) & (key != 0) & (open | (key <= high))
    tl.atomic_add(tle.gpu.local_ptr(hist, (bin.to(tl.int32),)), 1, mask=counted, sem="relaxed", scope="cta")


@triton.jit
def exchange(hist, own, parts, arrived, round, overflow, rank, MESH: tl.constexpr):
    """Hands the running counts of all bins to every CTA, two in a word. What is more than need can ever be does
    not matter, so that they fit; of a list that overflowed all bins are full. Rounds take turns at two halves of
    parts, so that a CTA may be a round ahead of another one."""
    FULL: tl.constexpr = 65535 // MESH.size
    upto = tl.minimum(tl.cumsum(tl.load(tle.gpu.local_ptr(hist, (tl.arange(0, BINS),)))), FULL)
    even, odd = tl.split(tl.reshape(tl.where(overflow, FULL, upto), (WORDS, 2)))
    tl.store(tle.gpu.local_ptr(own, (tl.arange(0, WORDS),)), even | (odd << 16))
    turn = round % 2
    tle.mbarrier_expect(arrived, turn, MESH.size * WORDS * 4)
    word = tl.arange(0, WORDS)[None, :]
    peer = tl.arange(0, MESH.size)[:, None]
    there = tle.gpu.local_ptr(parts, ((turn * MESH.size + rank) * PART + word,))
    # Pointers to the same words for each peer, so that the load is as wide as the store.
    mine = tle.gpu.local_ptr(own, (tl.broadcast_to(word, (MESH.size, WORDS)),))
    tle.store_async(there, peer, tl.load(mine), arrived, turn, scope=MESH)
    tle.mbarrier_wait(arrived, turn, round // 2)


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
def divide(hist, own, parts, arrived, round, overflow, rank, need, MESH: tl.constexpr):
    """One division by what hist counts: the bin, and how many elements all CTAs and the lower ranks have before
    it and in it."""
    exchange(hist, own, parts, arrived, round, overflow, rank, MESH)
    turn = round % 2
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


# --- the usual end: the last range's keys are ranked -------------------------------------------------


@triton.jit
def share_members(value, index, order, mine, members, arrived, kept, length, low, high, inside, inside_lower,
                  LT: tl.constexpr, MESH: tl.constexpr):
    """Sends the listed keys in low .. high to all CTAs, as numbers that differ: a key's distance from low, then
    its place from the last one down. Of each listed element, order receives how many before it are above the
    range (low half), how many in it."""
    tle.mbarrier_expect(arrived, 2, inside * 4)
    both = 0
    for base in range(0, kept, LT):
        key, i, place = listed(value, index, base, kept, length, LT)
        member = (key >= low) & (key <= high)
        before, total = tle.cumsum((key > high).to(tl.int32) + (member.to(tl.int32) << 16))
        before += both
        tl.store(tle.gpu.local_ptr(order, (place,)), before, mask=place < kept)
        number = before >> 16
        last = (MEMBERS - 1 - inside_lower - number).to(tl.uint32)
        tl.store(tle.gpu.local_ptr(mine, (number,)), ((key - low) * MEMBERS) | last, mask=member)
        both += total
    peer = tl.arange(0, MESH.size)[:, None]
    count = both >> 16
    for base in range(0, count, 32):
        place = base + tl.arange(0, 32)[None, :]
        key = tl.load(tle.gpu.local_ptr(mine, (place,)), mask=place < count, other=0)
        there = tle.gpu.local_ptr(members, (inside_lower + place,))
        tle.store_async(there, peer, key, arrived, 2, mask=place < count, scope=MESH)
    tle.mbarrier_wait(arrived, 2, 0)


@triton.jit
def member_keys(members, place, inside):
    return tl.load(tle.gpu.local_ptr(members, (place,)), mask=place < inside, other=0)


@triton.jit
def last_member(members, found, inside, need):
    """The need-th largest of the members."""
    i = tl.arange(0, MEMBERS)
    j = tl.arange(0, 32)[None, :]
    a = member_keys(members, i[:, None], inside)
    ahead = tl.zeros((MEMBERS, 32), tl.int32)
    for half in tl.static_range(MEMBERS // 32):
        ahead += (member_keys(members, 32 * half + j, inside) > a).to(tl.int32)
    here = tl.sum(ahead, axis=1) == need - 1
    word = tle.gpu.local_ptr(found, (tl.zeros((MEMBERS,), tl.int32),))
    tl.store(word, member_keys(members, i, inside), mask=here)
    return tl.load(tle.gpu.local_ptr(found, (0,)))


@triton.jit
def chosen_members(members, base, inside, last):
    """Which of the 32 members from base on are not below last, as bits."""
    i = tl.arange(0, 32)
    key = member_keys(members, base + i, inside)
    return tl.sum(tl.where(key >= last, tl.full((32,), 1, tl.int32) << i, 0))


@triton.jit
def write_ranked(out, value, index, order, members, kept, length, low, high, inside, last, above_lower, inside_lower,
                 LT: tl.constexpr, LIST: tl.constexpr, MESH: tl.constexpr):
    first = chosen_members(members, 0, inside, last)
    second = chosen_members(members, 32, inside, last)
    for base in range(0, kept, LT):
        key, i, place = listed(value, index, base, kept, length, LT)
        before = tl.load(tle.gpu.local_ptr(order, (place,)), mask=place < kept, other=0)
        number = inside_lower + (before >> 16)
        chosen = (libdevice.popc(first & ((1 << number) - 1)) +
                  libdevice.popc(second & ((1 << tl.maximum(number - 32, 0)) - 1)))
        mine = ((key - low) * MEMBERS) | (MEMBERS - 1 - number).to(tl.uint32)
        selected = (key > high) | ((key >= low) & (mine >= last))
        put(out, above_lower + (before & 0xFFFF) + chosen, i, selected, LIST, MESH)


# --- the rare end: a search down to one key ----------------------------------------------------------


@triton.jit
def share_tile(x, share, t, count, BLOCK: tl.constexpr, GROUP: tl.constexpr, RESIDENT: tl.constexpr):
    return x if RESIDENT else share_scores(share, t * BLOCK, count, BLOCK, GROUP)


@triton.jit
def count_all(hist, value, index, x, share, skip, count, tiles, kept, length, from_list, low, high, shift, open,
              LT: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr, RESIDENT: tl.constexpr):
    if from_list:
        for base in range(0, kept, LT):
            key, i, place = listed(value, index, base, kept, length, LT)
            count_keys(hist, key, low, high, shift, open)
    else:
        for t in range(0, tiles):
            tile = share_tile(x, share, t, count, BLOCK, GROUP, RESIDENT)
            count_keys(hist, share_keys(tile, t * BLOCK, skip, count, BLOCK), low, high, shift, open)


@triton.jit
def write_exact(out, value, index, x, share, offset, skip, count, tiles, kept, length, from_list, threshold, ties,
                larger, equal, LT: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr, RESIDENT: tl.constexpr,
                LIST: tl.constexpr, MESH: tl.constexpr):
    if from_list:
        for base in range(0, kept, LT):
            key, i, place = listed(value, index, base, kept, length, LT)
            before, total = tle.cumsum(both_counts(key, threshold))
            write_tile(out, key, before, i, threshold, ties, larger, equal, LIST, MESH)
            larger += total & 0xFFFF
            equal += total >> 16
    else:
        for t in range(0, tiles):
            tile = share_tile(x, share, t, count, BLOCK, GROUP, RESIDENT)
            key = share_keys(tile, t * BLOCK, skip, count, BLOCK)
            before, total = tle.cumsum(both_counts(key, threshold))
            write_tile(out, key, before, offset + t * BLOCK + tl.arange(0, BLOCK), threshold, ties, larger, equal,
                       LIST, MESH)
            larger += total & 0xFFFF
            equal += total >> 16


@triton.jit
def select_exact(out, hist, own, parts, arrived, value, index, x, share, offset, skip, count, tiles, kept, length,
                 rank, want, low, high, shift, division, first_round, LT: tl.constexpr, MESH: tl.constexpr,
                 BLOCK: tl.constexpr, GROUP: tl.constexpr, RESIDENT: tl.constexpr, LIST: tl.constexpr):
    """Divides until one key is left, or a whole range is selected. division is of the list, by the range that
    low, high and shift tell; nothing was listed if it says that all of it lies before its last bin."""
    bin, above, inside, above_lower, inside_lower = division
    need = want
    larger = 0
    round = first_round
    from_list = True
    open = True
    # A list that overflowed has more than the wanted elements in every bin.
    full = False
    if bin == 0:
        full = tl.max(upto_bin(parts, 0, 0, MESH), axis=0) == 65535 // MESH.size
    searching = True
    while searching:
        overflow = open & full
        lacking = bin == BINS
        a, b = range_of_bin(bin, low, high, shift)
        if bin == 0:
            a, b = high + 1, tl.full((), 0xFFFFFFFF, tl.uint32)
        if lacking:
            a, b = tl.full((), 0x007FFFFF, tl.uint32), low - 1
        if overflow:
            # With so many elements as large as the mark it is likely to be the one looked for.
            a, b = low, low
        else:
            need -= above
            larger += above_lower
        low, high = a, b
        from_list = from_list & (not overflow) & (not lacking)
        searching = overflow | lacking | ((need != inside) & (low != high))
        open = overflow
        full = False
        if searching:
            shift = bin_shift(low, high, 9)  # BINS, or one more: the last may be wider
            clear(hist, BINS)
            count_all(hist, value, index, x, share, skip, count, tiles, kept, length, from_list, low, high, shift,
                      open, LT, BLOCK, GROUP, RESIDENT)
            bin, above, inside, above_lower, inside_lower = divide(hist, own, parts, arrived, round, False, rank, need,
                                                             MESH)
            round += 1
    if need == inside:
        write_exact(out, value, index, x, share, offset, skip, count, tiles, kept, length, from_list, low - 1, 0,
                    larger + inside_lower, 0, LT, BLOCK, GROUP, RESIDENT, LIST, MESH)
    else:
        write_exact(out, value, index, x, share, offset, skip, count, tiles, kept, length, from_list, low, need,
                    larger, inside_lower, LT, BLOCK, GROUP, RESIDENT, LIST, MESH)


@triton.jit
def select_shares(out, row, start, length, want, rank, MESH: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr,
                  CAP: tl.constexpr, LT: tl.constexpr, RUN: tl.constexpr, REPEAT: tl.constexpr,
                  LANES: tl.constexpr, EXTRA: tl.constexpr, RESIDENT: tl.constexpr, SEGMENT: tl.constexpr,
                  TILES: tl.constexpr, WARPS: tl.constexpr, LEAST: tl.constexpr, LIST: tl.constexpr):
    if length <= want:
        tle.distributed_barrier(MESH, barrier_kind="wait")
        write_all(out, length, want, rank, 256, LIST, MESH)
        return
    # Shares are whole groups from the group that holds the row's start; places count from there.
    first = (start // GROUP) * GROUP
    skip = start - first
    span = skip + length
    size = ((span - 1) // (MESH.size * GROUP) + 1) * GROUP
    begin = rank * size
    count = tl.minimum(tl.maximum(span - begin, 0), size)
    share = row + first + begin
    skip = tl.maximum(skip - begin, 0)
    tiles = (size - 1) // BLOCK + 1
    x = share_scores(share, 0, count, BLOCK, GROUP) if RESIDENT else 0.0
    offset = begin + first - start  # places of the share become indices of the row
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    own = tle.gpu.alloc([WORDS], tl.int32, nv_mma_shared_layout=False)
    parts = tle.gpu.alloc([2 * MESH.size * PART], tl.int32, nv_mma_shared_layout=False)
    stats = tle.gpu.alloc([2 * STATS], tl.uint32, nv_mma_shared_layout=False)
    found = tle.gpu.alloc([1], tl.uint32, nv_mma_shared_layout=False)
    value = tle.gpu.alloc([CAP + BLOCK if RESIDENT else CAP + 64], tl.float32, nv_mma_shared_layout=False)
    index = tle.gpu.alloc([CAP + BLOCK if RESIDENT else CAP + 64], tl.int32, nv_mma_shared_layout=False)
    members = tle.gpu.alloc([MEMBERS], tl.uint32, nv_mma_shared_layout=False)
    clear(hist, BINS)
    low = tl.full((), 0, tl.uint32)
    high = low
    shift = low
    division = (BINS + 0 * want, 0, 0, 0, 0)
    kept = 0
    quick = False
    rounds = 0
    arrived = tle.mbarrier(3)  # two for rounds of counts, one for the last keys
    if span >= STATS * 32 * REPEAT * RUN:
        low, high = sample_mark(row, first, span, want + tl.maximum(want, EXTRA), stats, found, RUN, REPEAT, LANES,
                                LEAST)
        tle.distributed_barrier(MESH, barrier_kind="wait")
        if low > 0x007FFFFF:
            shift = bin_shift(low, high, 9)  # BINS, or one more: the last may be wider
            mark = score_of_key(low)
            if RESIDENT:
                kept = list_tile(value, index, 0, x, offset, mark, BLOCK)
                if kept <= CAP:
                    for base in range(0, kept, LT):
                        key, i, place = listed(value, index, base, kept, length, LT)
                        count_keys(hist, key, low, high, shift, True)
            else:
                kept = list_stream(value, index, hist, share, offset, count, tiles, length, mark, low, high, shift,
                                   BLOCK, GROUP, CAP, WARPS, SEGMENT, TILES)
            division = divide(hist, own, parts, arrived, 0, kept > CAP, rank, want, MESH)
            rounds = 1
            quick = (division[0] < BINS) & (division[0] > 0) & (division[2] <= MEMBERS)
        else:
            low = tl.full((), 0, tl.uint32)
    else:
        tle.distributed_barrier(MESH, barrier_kind="wait")
    if quick:
        bin, above, inside, above_lower, inside_lower = division
        low, high = range_of_bin(bin, low, high, shift)
        order = tle.gpu.alloc([CAP + LT], tl.int32, nv_mma_shared_layout=False)
        mine = tle.gpu.alloc([MEMBERS], tl.uint32, nv_mma_shared_layout=False)
        share_members(value, index, order, mine, members, arrived, kept, length, low, high, inside, inside_lower, LT,
                      MESH)
        last = last_member(members, found, inside, want - above)
        write_ranked(out, value, index, order, members, kept, length, low, high, inside, last, above_lower,
                     inside_lower, LT, LIST, MESH)
    else:
        select_exact(out, hist, own, parts, arrived, value, index, x, share, offset, skip, count, tiles, kept, length,
                     rank, want, low, high, shift, division, rounds, LT, MESH, BLOCK, GROUP, RESIDENT, LIST)


@triton.jit
def topk_cluster_mark(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
                      MESH: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr,
                      CAP: tl.constexpr, LT: tl.constexpr, RUN: tl.constexpr, REPEAT: tl.constexpr,
                      LANES: tl.constexpr, EXTRA: tl.constexpr, RESIDENT: tl.constexpr, SEGMENT: tl.constexpr = 0,
                      TILES: tl.constexpr = 1,
                      WARPS: tl.constexpr = 16, LEAST: tl.constexpr = False,
                      LIST: tl.constexpr = 0, next_n=1, values=None, value_stride=0, raw_indices=None, raw_stride=0,
                      offsets=None, page_table=None, table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per cluster. K = 0: k is a run-time value, below 65535 // the cluster's size. RESIDENT: columns <=
    BLOCK times that size."""
    tl.static_assert(BLOCK <= 16384, "two counts of a tile share one signed 32-bit word")
    tl.static_assert(CAP < 65535 // MESH.size, "a full list is told from an overflow")
    # No CTA writes to one that has not started; the wait is where the data is there.
    tle.distributed_barrier(MESH, barrier_kind="arrive", order="relaxed")
    rank = tle.shard_id(MESH, 0)
    program = tl.program_id(0) // MESH.size
    row, start, end, want, out = open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride,
                                          columns, k, flags, next_n, K, LIST)
    select_shares(out, row, start, end - start, want, rank, MESH, BLOCK, GROUP, CAP, LT, RUN, REPEAT, LANES, EXTRA,
                  RESIDENT, SEGMENT, TILES, WARPS, LEAST, LIST)
    if LIST:
        tle.distributed_barrier(MESH)
        if rank == 0:
            rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                    page_shift, row_to_table)
            finish(out, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST, 1024)
