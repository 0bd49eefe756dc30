"""Exact top-k selection, one cluster of CTAs per row; for few long rows.

common.py says in which order. Each CTA has a contiguous share of the row, each of its warps a contiguous part of
that. All look at one sample of the row and so agree on a mark: a key that somewhat more than k elements are not
below. Each CTA lists its own such elements in order: while the share streams in, a warp keeps the blocks of four
scores of which one is not below the mark, at a place of its own, so that it waits for nobody; the few that are left
are then taken apart. What follows touches the lists alone:

1. Every CTA counts its list by BINS - 1 ranges of keys from the mark up, and hands the running counts to all
   others. The sums over the cluster tell each CTA the range that holds the k-th largest, and how many elements
   of lower ranks lie above that range.
2. The keys of the few elements in that range go to all CTAs, in the order of the row. Each ranks them, and so
   knows the last selected one and where its own elements go.

So a row costs two exchanges, and no CTA waits for another one's decision. What happens where the sample misleads, or
a range holds too many keys to rank, is in cluster_rare.py.
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice
import triton.experimental.tle as tled
import triton.experimental.tle.language as tle
from topk.cluster import put, write_all
from topk.cluster_common import BINS, PART, WORDS, count_keys, divide, load_strips, range_of_bin, send_counts
from topk.cluster_rare import ALL, LEAST_KEY, select_exact
from topk.common import bin_shift, clear, finish, open_row, ordered_key, score_of_key

MEMBERS = tl.constexpr(64)  # keys of the last range that are ranked
STATS = tl.constexpr(32)

MESH2 = tled.device_mesh({"block_cluster": [("cluster_x", 2)]})
MESH4 = tled.device_mesh({"block_cluster": [("cluster_x", 4)]})
MESH8 = tled.device_mesh({"block_cluster": [("cluster_x", 8)]})
MESH16 = tled.device_mesh({"block_cluster": [("cluster_x", 16)]})


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
    """[32, 32, RUN]: runs of RUN elements, LANES of them neighbours: a cache line takes as long as one score."""
    group = tl.arange(0, 32)[:, None, None]
    lane = tl.arange(0, 32)[None, :, None]
    step = span // (32 * 32 * REPEAT // LANES)
    place = (lane // LANES * REPEAT + i) * 32 + group
    place = place * step // (LANES * RUN) * (LANES * RUN) + lane % LANES * RUN
    return tl.load(row + first + place + tl.arange(0, RUN)[None, None, :]).to(tl.float32)


@triton.jit
def load_sample(row, first, span, RUN: tl.constexpr, REPEAT: tl.constexpr, LANES: tl.constexpr):
    runs = ()
    for i in tl.static_range(REPEAT):
        runs = runs + (sample_run(row, first, span, i, RUN, REPEAT, LANES),)
    return runs


@triton.jit
def across_row(x, RUN: tl.constexpr):
    """The sample [group, lane, RUN] as [stat, group, RUN]: of what are neighbours each goes to another stat. Which one
    to which does not matter, so that those of 16 groups are in 16 pairs of banks."""
    sample = tle.gpu.alloc([32 * 32 * RUN], tl.float32, nv_mma_shared_layout=False)
    place = tl.arange(0, 32)[None, :, None] * RUN + tl.arange(0, RUN)[None, None, :]
    tl.store(tle.gpu.local_ptr(sample, (tl.arange(0, 32)[:, None, None] * (32 * RUN) + place,)), x)
    each = tl.arange(0, RUN)[:, None, None, None] * STATS + tl.arange(0, 2)[None, None, None, :]
    pair = tl.arange(0, STATS // 2)[None, :, None, None]
    group = tl.arange(0, 32)[None, None, :, None]
    at = group * (32 * RUN) + (pair ^ (((group & 7) << 1) | ((group >> 3) & 1))) * 2 + each
    y = tl.load(tle.gpu.local_ptr(sample, (at,)))
    return tl.reshape(tl.permute(y, (1, 3, 2, 0)), (STATS, 32, RUN))


@triton.jit
def sample_mark(runs, span, aim, found, RUN: tl.constexpr, REPEAT: tl.constexpr, LEAST: tl.constexpr,
                ACROSS: tl.constexpr):
    """(mark, top): a key that about aim elements are not below, and one near the largest sampled key."""
    tl.static_assert(REPEAT == 1 or not LEAST, "maxima of minima are another distribution")
    j, rank = place_of_mark(aim, span, RUN * REPEAT, LEAST)
    # Alive before the sample is, so that no barrier has to keep them from it.
    stats = tle.gpu.alloc([STATS], tl.uint32, nv_mma_shared_layout=False)
    tops = tle.gpu.alloc([STATS], tl.uint32, nv_mma_shared_layout=False)
    x = runs[0]
    for i in tl.static_range(1, REPEAT):
        x = tl.maximum(x, runs[i])
    if ACROSS:
        x = across_row(x, RUN)
    key = ordered_key(tl.min(x, axis=2) if LEAST else tl.max(x, axis=2))
    largest = tl.max(key, axis=1)
    top = tl.max(ordered_key(tl.max(x, axis=2)), axis=1) if LEAST else largest
    # The j-th largest, equal ones or not: what is taken is counted beside the search, which waits for no count.
    mark = largest
    taken = tl.zeros((STATS,), tl.int32)
    for i in range(1, j):
        same = key == largest[:, None]
        taken += tl.sum(same.to(tl.int32), axis=1)
        key = tl.where(same, 0, key)
        largest = tl.max(key, axis=1)
        mark = tl.where(taken < j, largest, mark)
    s = tl.arange(0, STATS)
    tl.store(tle.gpu.local_ptr(stats, (s,)), mark)
    tl.store(tle.gpu.local_ptr(tops, (s,)), top)
    a = tl.load(tle.gpu.local_ptr(stats, (s[:, None],)))
    b = tl.load(tle.gpu.local_ptr(stats, (s[None, :],)))
    ahead = (b > a) | ((b == a) & (s[None, :] < s[:, None]))
    here = tl.sum(ahead.to(tl.int32), axis=1) == rank
    tl.store(tle.gpu.local_ptr(found, (tl.zeros((STATS,), tl.int32),)), tl.reshape(a, (STATS,)), mask=here)
    return tl.load(tle.gpu.local_ptr(found, (0,))), tl.max(tl.load(tle.gpu.local_ptr(tops, (s[None, :],))))


# --- the list ----------------------------------------------------------------------------------------


@triton.jit
def keep_strips(values, blocks, x, kept, t, part, count, mark, GROUP: tl.constexpr, SEGMENT: tl.constexpr,
                ROOM: tl.constexpr, WARPS: tl.constexpr):
    """Appends to each warp's segment the blocks of four scores of which one is not below mark; returns how many it
    has then. A warp with more than SEGMENT gets no more."""
    STRIPS: tl.constexpr = len(x)
    warp = tl.arange(0, WARPS)[:, None]
    offset = warp * part + t * (STRIPS * 128) + tl.arange(0, 32)[None, :] * 4
    left = tl.where(kept[:, None] <= SEGMENT, (count + (GROUP - 1)) // GROUP * GROUP - offset, 0)
    for i in tl.static_range(STRIPS):
        score = x[i].to(tl.float32)
        hit = tl.reshape(not (score < mark), (WARPS, 32, 4))
        any = (tl.reduce_or(hit.to(tl.int32), axis=2) != 0) & (left > i * 128)
        before, total = tle.cumsum(any.to(tl.int32), axis=1)
        place = warp * ROOM + kept[:, None] + before
        four = place[:, :, None] * 4 + tl.arange(0, 4)[None, None, :]
        tl.store(tle.gpu.local_ptr(values, (four,), apart=True), tl.reshape(score, (WARPS, 32, 4)),
                 mask=any[:, :, None])
        tl.store(tle.gpu.local_ptr(blocks, (place,), apart=True), offset + i * 128, mask=any)
        kept += total
    return kept


@triton.jit
def keep_share(values, blocks, x, y, share, tiles, part, count, mark, GROUP: tl.constexpr, SEGMENT: tl.constexpr,
               ROOM: tl.constexpr, WARPS: tl.constexpr, RESIDENT: tl.constexpr):
    """keep_strips for the whole share, of which x and y are the first two tiles; returns how many blocks each warp
    has."""
    STRIPS: tl.constexpr = len(x)
    kept = tl.zeros((WARPS,), tl.int32)
    if RESIDENT:
        return keep_strips(values, blocks, x, kept, 0, part, count, mark, GROUP, SEGMENT, ROOM, WARPS)
    for t in range(0, tiles, 2):
        kept = keep_strips(values, blocks, x, kept, t, part, count, mark, GROUP, SEGMENT, ROOM, WARPS)
        x = load_strips(share, t + 2, tiles, part, count, STRIPS, GROUP, WARPS)
        if t + 1 < tiles:
            kept = keep_strips(values, blocks, y, kept, t + 1, part, count, mark, GROUP, SEGMENT, ROOM, WARPS)
            y = load_strips(share, t + 3, tiles, part, count, STRIPS, GROUP, WARPS)
    return kept


@triton.jit
def expand(scores, places, x, i, there, first, found, room, mark):
    """Appends to each warp's lines, which begin at first, the elements not below mark of its 32 blocks x, which begin
    at places i of the share; returns how many it has then. What is more than room may be missing."""
    hit = (not (x < mark)) & there[:, :, None]
    run, own = tle.cumsum(hit.to(tl.int32), axis=2)
    before, total = tle.cumsum(own, axis=1)
    line = (first + found)[:, None] + before
    at = line[:, :, None] + run
    stored = hit & (found <= room)[:, None, None]
    tl.store(tle.gpu.local_ptr(scores, (at,), apart=True), x, mask=stored)
    tl.store(tle.gpu.local_ptr(places, (at,), apart=True), i[:, :, None] + tl.arange(0, 4)[None, None, :], mask=stored)
    return found + total


@triton.jit
def expand_blocks(scores, places, values, blocks, kept, most, first, room, mark, ROOM: tl.constexpr,
                  WARPS: tl.constexpr):
    warp = tl.arange(0, WARPS)[:, None]
    found = tl.zeros((WARPS,), tl.int32)
    for base in range(0, most, 32):
        b = base + tl.arange(0, 32)[None, :]
        there = b < kept[:, None]
        at = warp * ROOM + b
        four = at[:, :, None] * 4 + tl.arange(0, 4)[None, None, :]
        x = tl.load(tle.gpu.local_ptr(values, (four,)), mask=there[:, :, None])
        i = tl.load(tle.gpu.local_ptr(blocks, (at,)), mask=there)
        found = expand(scores, places, x, i, there, first, found, room, mark)
    return found


@triton.jit
def make_lines(scores, places, values, blocks, kept, most, mark, ROOM: tl.constexpr, CAP: tl.constexpr,
               LINES: tl.constexpr, WARPS: tl.constexpr):
    """Makes each warp's lines of its blocks, of which one has `most`. Returns where they begin, how many each warp has,
    and the most one has, or ALL where a CTA has more than CAP. They are apart, so that no warp waits for another; where
    one has more than fits all are made again, one after the other."""
    tl.static_assert(CAP <= WARPS * LINES, "lines that follow each other fit")
    first = tl.arange(0, WARPS) * LINES
    found = expand_blocks(scores, places, values, blocks, kept, most, first, LINES - 128, mark, ROOM, WARPS)
    lines = tl.max(found, axis=0)
    if lines > LINES - 128:
        first, total = tle.cumsum(found)
        if total <= CAP:
            found = expand_blocks(scores, places, values, blocks, kept, most, first, CAP, mark, ROOM, WARPS)
            tl.debug_barrier()  # the usual way has one where the most are found
        else:
            lines = tl.full((), ALL, tl.int32)
    return first, found, lines


@triton.jit
def mostly_beyond(values, kept, top, ROOM: tl.constexpr, WARPS: tl.constexpr):
    """Whether most of the first 32 blocks of all warps begin with a score above top; those that are not there do not."""
    block = tl.arange(0, 32)[None, :]
    at = (tl.arange(0, WARPS)[:, None] * ROOM + block) * 4
    score = tl.load(tle.gpu.local_ptr(values, (at,)), mask=block < kept[:, None], other=float("-inf"))
    return tl.sum((score > top).to(tl.int32)) * 2 > WARPS * 32


@triton.jit
def keys_of_strips(x, part, start, end, low, WARPS: tl.constexpr):
    """Keys of the elements from the mark on at places start .. end - 1 of the share, else 0."""
    i = tl.arange(0, WARPS)[:, None] * part + tl.arange(0, 128)[None, :]
    keys = ()
    for n in tl.static_range(len(x)):
        key = ordered_key(x[n])
        there = (key >= low) & (i + n * 128 >= start) & (i + n * 128 < end)
        keys = keys + (tl.where(there, key, 0),)
    return keys


@triton.jit
def list_strips(bits, index, key, part, offset, WARPS: tl.constexpr):
    """Makes the list of such keys."""
    before = ()
    found = tl.zeros((WARPS,), tl.int32)
    for n in tl.static_range(len(key)):
        own, total = tle.cumsum((key[n] != 0).to(tl.int32), axis=1)
        before = before + (own + found[:, None],)
        found += total
    warps, all = tle.cumsum(found)
    i = offset + tl.arange(0, WARPS)[:, None] * part + tl.arange(0, 128)[None, :]
    for n in tl.static_range(len(key)):
        place = warps[:, None] + before[n]
        tl.store(tle.gpu.local_ptr(bits, (place,), apart=True), key[n].to(tl.float32, bitcast=True), mask=key[n] != 0)
        tl.store(tle.gpu.local_ptr(index, (place,), apart=True), i + n * 128, mask=key[n] != 0)


@triton.jit
def lines_from(base, first, found):
    """(line, at, there) of 64 lines of each warp from base on, in a shape that leaves counts where they are."""
    line = base + tl.arange(0, 2)[:, None, None] * 32 + tl.arange(0, 32)[None, None, :]
    return line, first[None, :, None] + line, line < found[None, :, None]


@triton.jit
def count_lines(hist, scores, places, first, found, most, start, end, low, high, shift):
    """The same of the lines."""
    for base in range(0, most, 64):
        line, at, there = lines_from(base, first, found)
        key = ordered_key(tl.load(tle.gpu.local_ptr(scores, (at,)), mask=there, other=0.0))
        i = tl.load(tle.gpu.local_ptr(places, (at,)), mask=there, other=0)
        count_keys(hist, key, high, shift, there & (i >= start) & (i < end))


@triton.jit
def gather_list(keys, index, scores, places, first, found, most, start, end, offset):
    """The list of keys and indices: the warps' lines one after the other, which is the row's order. Elements outside
    the row get key 0. Returns how many there are."""
    before, total = tle.cumsum(found)
    for base in range(0, most, 64):
        line, at, there = lines_from(base, first, found)
        x = tl.load(tle.gpu.local_ptr(scores, (at,)), mask=there, other=0.0)
        i = tl.load(tle.gpu.local_ptr(places, (at,)), mask=there, other=0)
        key = tl.where((i >= start) & (i < end), ordered_key(x), 0)
        place = before[None, :, None] + line
        tl.store(tle.gpu.local_ptr(keys, (place,), apart=True), key.to(tl.float32, bitcast=True), mask=there)
        tl.store(tle.gpu.local_ptr(index, (place,), apart=True), offset + i, mask=there)
    return total


@triton.jit
def listed(keys, index, base, kept, LT: tl.constexpr):
    """(keys, indices, places) of a tile of the list; key 0 past its end."""
    place = base + tl.arange(0, LT)
    there = place < kept
    i = tl.load(tle.gpu.local_ptr(index, (place,)), mask=there, other=-1)
    key = tl.load(tle.gpu.local_ptr(keys, (place,)), mask=there, other=0.0)
    return key.to(tl.uint32, bitcast=True), i, place


# --- the usual end: the last range's keys are ranked -------------------------------------------------


@triton.jit
def share_members(keys, index, order, mine, members, arrived, kept, low, high, inside, inside_lower,
                  LT: tl.constexpr, MESH: tl.constexpr):
    """Sends the listed keys in low .. high to all CTAs, as numbers that differ: a key's distance from low, then
    its place from the last one down. Of each listed element, order receives how many before it are above the
    range (low half), how many in it."""
    tle.mbarrier_expect(arrived, 2, inside * 4)
    both = 0
    for base in range(0, kept, LT):
        key, i, place = listed(keys, index, base, kept, LT)
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
def write_ranked(out, keys, index, order, members, kept, low, high, inside, last, above_lower, inside_lower,
                 LT: tl.constexpr, LIST: tl.constexpr, MESH: tl.constexpr):
    first = chosen_members(members, 0, inside, last)
    second = chosen_members(members, 32, inside, last)
    for base in range(0, kept, LT):
        key, i, place = listed(keys, index, base, kept, LT)
        before = tl.load(tle.gpu.local_ptr(order, (place,)), mask=place < kept, other=0)
        number = inside_lower + (before >> 16)
        chosen = (libdevice.popc(first & ((1 << number) - 1)) +
                  libdevice.popc(second & ((1 << tl.maximum(number - 32, 0)) - 1)))
        mine = ((key - low) * MEMBERS) | (MEMBERS - 1 - number).to(tl.uint32)
        selected = (key > high) | ((key >= low) & (mine >= last))
        put(out, above_lower + (before & 0xFFFF) + chosen, i, selected, LIST, MESH)


@triton.jit
def list_share(row, share, first, skip, span, count, offset, tiles, part, aim, rank, want, hist, own, parts,
               arrived, found, keys, index, MESH: tl.constexpr, STRIPS: tl.constexpr, GROUP: tl.constexpr,
               CAP: tl.constexpr, RUN: tl.constexpr, REPEAT: tl.constexpr, LANES: tl.constexpr,
               RESIDENT: tl.constexpr, SEGMENT: tl.constexpr, MOST: tl.constexpr, WARPS: tl.constexpr,
               LEAST: tl.constexpr, ACROSS: tl.constexpr):
    """Lists what the share has from a mark on that about aim elements are not below, and divides the keys from the mark
    on. Returns the range low .. high of keys, the shift of its bins, how many are listed, and the division; low is 0
    if the sample told nothing. A list that does not fit counts as too many in every bin but the first, and in that one,
    too, where its beginning lets expect that most of it is above the range."""
    ROOM: tl.constexpr = (0 if RESIDENT else SEGMENT) + STRIPS * 32
    LINES: tl.constexpr = min(STRIPS * 128, MOST) if RESIDENT else MOST
    EARLY: tl.constexpr = GROUP >= 4 and not RESIDENT  # single scores take registers that the sample needs
    runs = load_sample(row, first, span, RUN, REPEAT, LANES)
    x = load_strips(share, 0, tiles, part, count, STRIPS, GROUP, WARPS)
    y = load_strips(share, 1, tiles, part, count, STRIPS, GROUP, WARPS) if EARLY else ()
    low, high = sample_mark(runs, span, aim, found, RUN, REPEAT, LEAST, ACROSS)
    if not EARLY and not RESIDENT:
        y = load_strips(share, 1, tiles, part, count, STRIPS, GROUP, WARPS)
    tle.distributed_barrier(MESH, barrier_kind="wait")
    shift = tl.full((), 0, tl.uint32)
    kept = 0
    division = (BINS + 0 * want, 0, 0, 0, 0)
    if low > LEAST_KEY:
        shift = bin_shift(low, high, 9)  # BINS, or one more: the last may be wider
        mark = score_of_key(low)
        if RESIDENT and STRIPS <= 2:
            strips = keys_of_strips(x, part, skip, count, low, WARPS)
            for n in tl.static_range(STRIPS):
                count_keys(hist, strips[n], high, shift, strips[n] != 0)
            kept = send_counts(hist, own, parts, arrived, 0, CAP - 16, rank, MESH)
            if kept <= CAP - 16:
                list_strips(keys, index, strips, part, offset, WARPS)
        else:
            scores = tle.gpu.alloc([WARPS * LINES], tl.float32, nv_mma_shared_layout=False)
            places = tle.gpu.alloc([WARPS * LINES], tl.int32, nv_mma_shared_layout=False)
            taken = keep_share(keys, index, x, y, share, tiles, part, count, mark, GROUP, SEGMENT, ROOM, WARPS,
                               RESIDENT)
            most = tl.max(taken, axis=0)
            full = (most > SEGMENT) & (not RESIDENT)
            most = tl.where(full, 0, most)
            first, lines, most = make_lines(scores, places, keys, index, taken, most, mark, ROOM, CAP, LINES, WARPS)
            missing = full | (most == ALL)
            beyond = False
            if missing:
                beyond = mostly_beyond(keys, taken, score_of_key(high), ROOM, WARPS)
            else:
                count_lines(hist, scores, places, first, lines, most, skip, count, low, high, shift)
            # What is missing makes it too many.
            too_many = tle.gpu.local_ptr(hist, (tl.where(beyond, 0, 1),))
            tl.atomic_add(too_many, 65535, mask=missing, sem="relaxed", scope="cta")
            kept = send_counts(hist, own, parts, arrived, 0, CAP - 16, rank, MESH)
            if kept <= CAP - 16:
                kept = gather_list(keys, index, scores, places, first, lines, most, skip, count, offset)
        division = divide(parts, arrived, 0, rank, want, MESH)
    else:
        low = tl.full((), 0, tl.uint32)
    return low, high, shift, kept, division


@triton.jit
def select_shares(out, row, start, length, want, rank, MESH: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr,
                  CAP: tl.constexpr, LT: tl.constexpr, RUN: tl.constexpr, REPEAT: tl.constexpr,
                  LANES: tl.constexpr, EXTRA: tl.constexpr, RESIDENT: tl.constexpr, SEGMENT: tl.constexpr,
                  MOST: tl.constexpr, FAR: tl.constexpr, WARPS: tl.constexpr, LEAST: tl.constexpr, ACROSS: tl.constexpr,
                  LIST: tl.constexpr):
    STRIPS: tl.constexpr = BLOCK // (WARPS * 128)
    ROOM: tl.constexpr = (0 if RESIDENT else SEGMENT) + STRIPS * 32
    SAMPLE: tl.constexpr = STATS * 32 * REPEAT * RUN
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
    tiles = 1 if RESIDENT else (size - 1) // BLOCK + 1
    part = tiles * (STRIPS * 128)
    offset = begin + first - start  # places of the share become indices of the row
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    own = tle.gpu.alloc([WORDS], tl.int32, nv_mma_shared_layout=False)
    parts = tle.gpu.alloc([2 * MESH.size * PART], tl.int32, nv_mma_shared_layout=False)
    found = tle.gpu.alloc([1], tl.uint32, nv_mma_shared_layout=False)
    # The list of keys, as bits, and indices comes where the blocks were.
    SPACE: tl.constexpr = 0 if RESIDENT and STRIPS <= 2 else WARPS * ROOM
    keys = tle.gpu.alloc([max(SPACE * 4, CAP, BLOCK if RESIDENT else 0)], tl.float32, nv_mma_shared_layout=False)
    index = tle.gpu.alloc([max(SPACE, CAP)], tl.int32, nv_mma_shared_layout=False)
    members = tle.gpu.alloc([MEMBERS], tl.uint32, nv_mma_shared_layout=False)
    clear(hist, BINS)
    low = tl.full((), 0, tl.uint32)
    high = low
    shift = low
    division = (BINS + 0 * want, 0, 0, 0, 0)
    kept = 0
    arrived = tle.mbarrier(3)  # two for rounds of counts, one for the last keys
    # A sample that is a good part of the row tells the mark well.
    aim = want + tl.maximum(tl.where(span <= 16 * SAMPLE, want // 2, want * FAR // 4), EXTRA)
    if span >= SAMPLE:
        low, high, shift, kept, division = list_share(
            row, share, first, skip, span, count, offset, tiles, part, aim, rank, want, hist, own, parts, arrived,
            found, keys, index, MESH, STRIPS, GROUP, CAP, RUN, REPEAT, LANES, RESIDENT, SEGMENT, MOST, WARPS, LEAST,
            ACROSS)
    else:
        tle.distributed_barrier(MESH, barrier_kind="wait")
    bin, above, inside, above_lower, inside_lower = division
    if (bin < BINS) & (bin > 0) & (inside <= MEMBERS):
        low, high = range_of_bin(bin, low, high, shift)
        order = tle.gpu.alloc([CAP], tl.int32, nv_mma_shared_layout=False)
        mine = tle.gpu.alloc([MEMBERS], tl.uint32, nv_mma_shared_layout=False)
        share_members(keys, index, order, mine, members, arrived, kept, low, high, inside, inside_lower, LT, MESH)
        last = last_member(members, found, inside, want - above)
        write_ranked(out, keys, index, order, members, kept, low, high, inside, last, above_lower, inside_lower, LT,
                     LIST, MESH)
    else:
        # Groups at the row's ends are listed whole. What is resident fits, more counts than a word tells or not.
        FIT: tl.constexpr = 65535 if RESIDENT else min(WARPS * ROOM - 2, 65535 // MESH.size - 1)
        select_exact(out, hist, own, parts, arrived, keys, index, share, offset, skip, count, length, kept, rank, want,
                     low, high, shift, division, (low != 0).to(tl.int32), FIT, LT, MESH, GROUP, WARPS, LIST)


@triton.jit
def topk_cluster_mark(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
                      MESH: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr,
                      CAP: tl.constexpr, LT: tl.constexpr, RUN: tl.constexpr, REPEAT: tl.constexpr,
                      LANES: tl.constexpr, EXTRA: tl.constexpr, RESIDENT: tl.constexpr, SEGMENT: tl.constexpr = 0,
                      MOST: tl.constexpr = 512, FAR: tl.constexpr = 4, WARPS: tl.constexpr = 16,
                      LEAST: tl.constexpr = False, ACROSS: tl.constexpr = True, LIST: tl.constexpr = 0, next_n=1,
                      values=None, value_stride=0, raw_indices=None, raw_stride=0, offsets=None, page_table=None,
                      table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per cluster. K = 0: k is a run-time value, at most 65535 // the cluster's size - MEMBERS, so that no list
    that overflows looks like one whose last range can be ranked. RESIDENT: columns <=
    BLOCK times that size. The mark is for k + EXTRA elements at least, or k * (1 + FAR / 4) of a row that is long
    for the sample; it comes from maxima, or with LEAST minima, of elements far apart if they are compared ACROSS the
    row, else of neighbours, which costs less. A warp has room for SEGMENT blocks, a CTA for CAP elements; these are
    listed at once where no warp has more than MOST - 128. What shared memory does not take is left to loads in
    flight."""
    tl.static_assert(WARPS <= 32, "two counts of a tile share one signed 32-bit word")
    tl.static_assert(CAP < 65535 // MESH.size, "a full list is told from an overflow")
    tl.static_assert(K <= 65535 // MESH.size - MEMBERS, "a range that can be ranked is told from one")
    # No CTA writes to one that has not started; the wait is where the data is there.
    tle.distributed_barrier(MESH, barrier_kind="arrive", order="relaxed")
    rank = tle.shard_id(MESH, 0)
    program = tl.program_id(0) // MESH.size
    row, start, end, want, out = open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride,
                                          columns, k, flags, next_n, K, LIST)
    select_shares(out, row, start, end - start, want, rank, MESH, BLOCK, GROUP, CAP, LT, RUN, REPEAT, LANES, EXTRA,
                  RESIDENT, SEGMENT, MOST, FAR, WARPS, LEAST, ACROSS, LIST)
    if LIST:
        tle.distributed_barrier(MESH)
        if rank == 0:
            rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                    page_shift, row_to_table)
            finish(out, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST, 1024)
