"""What the kernels of the top-k selection share: the order of scores, loads, counting, and the outputs.

Order: NaN of any sign is greatest and all NaNs tie; -0 equals +0. Every body writes the answer in ascending
order of index, so ties go to the smallest index and the result does not depend on how threads were scheduled,
nor on the body.

Each body has two forms. LIST = 0 writes the indices. LIST > 0, the most that k may be, selects into a
list in shared memory, whatever the outputs are; finish makes them from it.

Columns are loaded in whole groups of GROUP, which the launch guarantees to lie inside the row; positions are
relative to a tile's base, so columns up to 2^31 - 1 do not overflow.
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait
import triton.experimental.tle.language as tle

# Bits of flags: which of the arrays the call passes, and SORTED and ABSOLUTE of its options.
LENGTHS = tl.constexpr(1)
ROW_STARTS = tl.constexpr(2)
INDICES = tl.constexpr(4)
VALUES = tl.constexpr(8)
RAW = tl.constexpr(16)
SORTED = tl.constexpr(32)
ABSOLUTE = tl.constexpr(64)
PAGES = tl.constexpr(128)
ROW_TO_TABLE = tl.constexpr(256)
OFFSETS = tl.constexpr(512)


@triton.jit
def ordered_key(x):
    """uint32 that orders like the score; at least 0x007fffff (-inf), so 0 is below every score. Scores of 16
    bits are converted, which is exact, so everything behind a load is of fp32."""
    x = x.to(tl.float32)
    bits = x.to(tl.uint32, bitcast=True)
    bits = tl.where(x == 0.0, 0, bits)
    key = tl.where((bits >> 31) != 0, ~bits, bits | 0x80000000)
    return tl.where(x != x, 0xFFFFFFFF, key)


@triton.jit
def quick_key(x):
    """ordered_key in three instructions: a sum with +0 is never -0, and its NaN has no sign and all other bits set."""
    bits = (x.to(tl.float32) + 0.0).to(tl.int32, bitcast=True)
    return (bits ^ ((bits >> 31) | -2147483648)).to(tl.uint32, bitcast=True)


@triton.jit
def score_of_key(key):
    """The fp32 score that ordered_key gave this key."""
    bits = tl.where((key >> 31) != 0, key ^ 0x80000000, ~key)
    return bits.to(tl.float32, bitcast=True)


# --- the row ---------------------------------------------------------------------------------------


@triton.jit
def row_window(program, lengths, row_starts, columns, flags, next_n, LIST: tl.constexpr):
    """(start, end) of a row."""
    start = 0
    length = columns
    if (flags & ROW_STARTS) != 0:
        start = tl.load(row_starts + program.to(tl.int64))
    if (flags & LENGTHS) != 0:
        if LIST:
            length = tl.maximum(tl.load(lengths + program // next_n), 0) - (next_n - 1 - program % next_n)
        else:
            length = tl.load(lengths + program.to(tl.int64))
    start = tl.minimum(tl.maximum(start, 0), columns)
    return start, start + tl.minimum(tl.maximum(length, 0), columns - start)


@triton.jit
def begin():
    """The first thing that every program does, before it touches memory: a call may be launched dependent on the
    kernel in front of it, and lets the one behind it do the same. Shared memory may be prepared before."""
    gdc_wait()
    gdc_launch_dependents()


@triton.jit
def open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags, next_n,
             K: tl.constexpr, LIST: tl.constexpr):
    """What every body starts from, for row number `program`: its scores, where it starts and ends, how many are
    wanted, and where the answer goes. Begins the program."""
    begin()
    row_id = program.to(tl.int64)
    start, end = row_window(program, lengths, row_starts, columns, flags, next_n, LIST)
    want = k if K == 0 else K
    out = tle.gpu.alloc([LIST], tl.int32, nv_mma_shared_layout=False) if LIST else indices + row_id * index_stride
    return scores + row_id * row_stride, start, end, want, out


# --- loads -----------------------------------------------------------------------------------------


@triton.jit
def tile_keys(row, base, start, end, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Keys of columns base .. base + BLOCK - 1, 0 outside start .. end - 1; base lies before the end."""
    offset = tl.arange(0, BLOCK)
    in_group = (offset // GROUP) <= ((end - base - 1) // GROUP)
    x = tl.load(row + base + offset, mask=in_group, other=0.0)
    valid = (offset < end - base) & (offset >= start - base)
    return tl.where(valid, ordered_key(x), 0)


@triton.jit
def load_groups(row, base, end, other, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Elements base .. base + BLOCK - 1 in whole groups, of the type that they have in memory, `other` in groups
    past the end; base may lie past the end."""
    offset = tl.arange(0, BLOCK)
    in_group = (offset // GROUP) < ((tl.minimum(end - base, BLOCK) + (GROUP - 1)) // GROUP)
    return tl.load(row + base + offset, mask=in_group, other=other)


# --- counting --------------------------------------------------------------------------------------


@triton.jit
def low_and_high(a_low, a_high, b_low, b_high):
    """Combines two ranges, as tl.reduce wants it."""
    return tl.minimum(a_low, b_low), tl.maximum(a_high, b_high)


@triton.jit
def bin_shift(low, high, BITS: tl.constexpr):
    """The shift that makes the keys low .. high fill no more than 2^BITS bins."""
    KEY: tl.constexpr = low.dtype
    SIGNED: tl.constexpr = tl.int64 if KEY.primitive_bitwidth == 64 else tl.int32
    unused = libdevice.clz((high - low).to(SIGNED, bitcast=True))
    return tl.maximum(KEY.primitive_bitwidth - BITS - unused, 0).to(KEY)


@triton.jit
def clear(hist, BINS: tl.constexpr):
    tl.store(tle.gpu.local_ptr(hist, (tl.arange(0, BINS),)), tl.zeros((BINS,), tl.int32))


@triton.jit
def counts_of(hist, BINS: tl.constexpr):
    return tl.load(tle.gpu.local_ptr(hist, (tl.arange(0, BINS),)))


@triton.jit
def alloc_found():
    """Three words that one thread writes and all read; apart, so that no barrier comes between."""
    return (tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False),
            tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False),
            tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False))


@triton.jit
def pick_bin(count, found, need):
    """The bin that holds the need-th largest, how many lie in bins before it, how many in it. Bins go
    from the largest keys down."""
    bins = tl.arange(0, count.shape[0])
    above, total = tle.cumsum(count)
    # Exactly one bin is hit; its thread tells the others.
    hit = (above < need) & (above + count >= need)
    for i in tl.static_range(3):
        word = tle.gpu.local_ptr(found[i], (tl.zeros((count.shape[0],), tl.int32),))
        tl.store(word, (bins, above, count)[i], mask=hit)
    return (tl.load(tle.gpu.local_ptr(found[0], (0,))), tl.load(tle.gpu.local_ptr(found[1], (0,))),
            tl.load(tle.gpu.local_ptr(found[2], (0,))))


# --- the answer ------------------------------------------------------------------------------------


@triton.jit
def put(out, place, index, mask, LIST: tl.constexpr):
    """Writes to the list if there is one, else to memory."""
    if LIST:
        tl.store(tle.gpu.local_ptr(out, (place,)), index, mask=mask)
    else:
        tl.store(out + place, index, mask=mask)


@triton.jit
def write_all(out, count, want, BLOCK: tl.constexpr, LIST: tl.constexpr):
    """A row with no more than want elements selects them all; -1 fills the rest."""
    for base in range(0, want, BLOCK):
        place = base + tl.arange(0, BLOCK)
        put(out, place, tl.where(place < count, place, -1), place < want, LIST)


# --- the fused forms -------------------------------------------------------------------------------


@triton.jit
def write_outputs(place, index, mask, row, start, row_id, request, indices, index_stride, flags, rest):
    """Writes what the call asks for about the elements `index` of the row, of which -1 is none."""
    values, value_stride, raw, raw_stride, offsets, table, table_stride, tables, page_shift, row_to_table = rest
    chosen = mask & (index >= 0)
    if (flags & VALUES) != 0:
        value = tl.load(row + start + index, mask=chosen, other=float("-inf"))
        tl.store(values + row_id * value_stride + place, value, mask=mask)
    if (flags & ABSOLUTE) != 0:
        index = tl.where(chosen, index + start, -1)
    if (flags & RAW) != 0:
        tl.store(raw + row_id * raw_stride + place, index, mask=mask)
    if (flags & PAGES) != 0:
        number = request
        if (flags & ROW_TO_TABLE) != 0:
            number = tl.load(row_to_table + row_id)
        paged = chosen & (number >= 0) & (number < tables)
        page = tl.load(table + number.to(tl.int64) * table_stride + (index >> page_shift), mask=paged, other=0)
        index = tl.where(paged, (page << page_shift) + (index & ((1 << page_shift) - 1)), -1)
    if (flags & OFFSETS) != 0:
        index = tl.where(chosen, index + tl.load(offsets + row_id), -1)
    if (flags & INDICES) != 0:
        tl.store(indices + row_id * index_stride + place, index, mask=mask)


@triton.jit
def sort_list(listed, want, row, start, LIST: tl.constexpr):
    """Sorts the list by key descending, then index ascending; -1 has key 0, so it comes last. A bitonic
    network in shared memory, as a loop over its stages: few instructions, and only as many stages as want
    asks for."""
    CHUNK: tl.constexpr = LIST // 2 if LIST <= 4096 else 2048
    pairs = tle.gpu.alloc([LIST], tl.uint64, nv_mma_shared_layout=False)
    size = 1 << (32 - libdevice.clz(tl.maximum(want, 2) - 1))
    for base in range(0, size, 512):
        place = base + tl.arange(0, 512)
        index = tl.load(tle.gpu.local_ptr(listed, (place,)), mask=place < want, other=-1)
        x = tl.load(row + start + index, mask=index >= 0, other=0.0)
        key = tl.where(index >= 0, ordered_key(x), 0).to(tl.uint64)
        pair = (key << 32) | (~index).to(tl.uint32, bitcast=True).to(tl.uint64)
        tl.store(tle.gpu.local_ptr(pairs, (place,)), pair, mask=place < size)
    width = 2
    while width <= size:
        distance = width // 2
        while distance > 0:
            for base in range(0, size // 2, CHUNK):
                number = base + tl.arange(0, CHUNK)
                left = ((number & ~(distance - 1)) << 1) | (number & (distance - 1))
                here = number < size // 2
                a = tl.load(tle.gpu.local_ptr(pairs, (left,)), mask=here)
                b = tl.load(tle.gpu.local_ptr(pairs, (left + distance,)), mask=here)
                turn = here & ((a < b) != ((left & width) != 0))
                tl.store(tle.gpu.local_ptr(pairs, (left,)), b, mask=turn)
                tl.store(tle.gpu.local_ptr(pairs, (left + distance,)), a, mask=turn)
            distance = distance // 2
        width = width * 2
    for base in range(0, want, 512):
        place = base + tl.arange(0, 512)
        pair = tl.load(tle.gpu.local_ptr(pairs, (place,)), mask=place < want, other=0)
        index = ~pair.to(tl.uint32).to(tl.int32, bitcast=True)
        tl.store(tle.gpu.local_ptr(listed, (place,)), index, mask=place < want)


@triton.jit
def finish(listed, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST: tl.constexpr,
           BLOCK: tl.constexpr):
    """From the list of a row's chosen elements, in ascending order and then -1, to the outputs."""
    if (flags & SORTED) != 0:
        sort_list(listed, want, row, start, LIST)
    for base in range(0, want, BLOCK):
        place = base + tl.arange(0, BLOCK)
        index = tl.load(tle.gpu.local_ptr(listed, (place,)), mask=place < want, other=-1)
        write_outputs(place, index, place < want, row, start, program.to(tl.int64), program // next_n, indices,
                      index_stride, flags, rest)
