"""Exact selection of the k best of each row, one CTA per row, any type of key: largest or smallest first.

A row of at most CAP elements stays in registers and is read once. A longer one is read for each digit of
an order-preserving unsigned key, 11 bits from the top, each counted in a 2048-bin histogram in shared
memory, until the elements that may still be chosen fit a list of CAP in shared memory, or the whole bin
is wanted; one more read makes that list, or writes the answer.

The answer comes in ascending order of index, so ties go to the smallest index and the result does not
depend on how threads were scheduled. SORTED: it goes to the list and is sorted there, best first.
Order: NaN of any sign is greatest and all NaNs tie; -0 equals +0.

Source of the method: radix select over histograms as in "Parallel Top-K Algorithms on GPU" (SC'23).
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice
import triton.experimental.tle.language as tle

BINS = tl.constexpr(2048)
DIGIT = tl.constexpr(11)

# Bits of flags: which of the arrays the call passes, and what it wants.
LENGTHS = tl.constexpr(1)
SMALLEST = tl.constexpr(2)
INDICES = tl.constexpr(4)
VALUES = tl.constexpr(8)
PAYLOAD = tl.constexpr(16)
PAYLOAD_8 = tl.constexpr(32)  # of 8 bytes rather than 4


# --- keys --------------------------------------------------------------------------------------------


@triton.jit
def key_type(T: tl.constexpr):
    return tl.uint64 if T.primitive_bitwidth == 64 else tl.uint32


@triton.jit
def all_bits(T: tl.constexpr):
    """A key of type T's width with all bits set."""
    KEY: tl.constexpr = key_type(T)
    return ~tl.full((), 0, KEY) >> (KEY.primitive_bitwidth - T.primitive_bitwidth)


@triton.jit
def ordered_key(x, flip):
    """Unsigned number of x's width that is the greater the better x; flip inverts the order."""
    T: tl.constexpr = x.dtype
    BITS: tl.constexpr = T.primitive_bitwidth
    KEY: tl.constexpr = key_type(T)
    top = tl.full((), 1, KEY) << (BITS - 1)
    if T.is_floating():
        if BITS == 16:
            bits = x.to(tl.uint16, bitcast=True).to(KEY)
        else:
            bits = x.to(KEY, bitcast=True)
        bits = tl.where(x == 0.0, 0, bits)
        key = bits ^ tl.where((bits & top) != 0, all_bits(T), top)
        key = tl.where(x != x, all_bits(T), key)
    elif T.is_int_signed():
        key = x.to(KEY, bitcast=True) ^ top
    else:
        key = x
    return key ^ flip


@triton.jit
def worst_value(T: tl.constexpr, smallest):
    """What fills places without an element."""
    if T.is_floating():
        return tl.where(smallest, float("inf"), float("-inf")).to(T)
    KEY: tl.constexpr = key_type(T)
    worst = tl.full((), 0, KEY)
    if T.is_int_signed():
        worst = tl.full((), 1, KEY) << (T.primitive_bitwidth - 1)
    return tl.where(smallest, ~worst, worst).to(T, bitcast=True)


@triton.jit
def tile_keys(row, base, end, flip, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """(keys, whether they are inside the row) of columns base .. base + BLOCK - 1.

    Loads are masked by whole groups of GROUP columns, which the launch guarantees to lie inside the
    row; positions are relative to base, so columns up to 2^31 - 1 do not overflow.
    """
    offset = tl.arange(0, BLOCK)
    in_group = (offset // GROUP) < ((tl.minimum(end - base, BLOCK) + (GROUP - 1)) // GROUP)
    x = tl.load(row + base + offset, mask=in_group, other=0)
    return ordered_key(x, flip), offset < end - base


# --- lists of elements in shared memory --------------------------------------------------------------


@triton.jit
def alloc_list(CAP: tl.constexpr, T: tl.constexpr):
    """Room for CAP elements: of keys up to 32 bits (key, ~index) is one 64-bit word, of wider ones two."""
    if T.primitive_bitwidth == 64:
        return (tle.gpu.alloc([CAP], tl.uint64, nv_mma_shared_layout=False),
                tle.gpu.alloc([CAP], tl.uint32, nv_mma_shared_layout=False))
    return (tle.gpu.alloc([CAP], tl.uint64, nv_mma_shared_layout=False),)


@triton.jit
def put_word(listed, i: tl.constexpr, place, word, mask):
    tl.store(tle.gpu.local_ptr(listed[i], (place,)), word, mask=mask)


@triton.jit
def get_word(listed, i: tl.constexpr, place, mask):
    return tl.load(tle.gpu.local_ptr(listed[i], (place,)), mask=mask, other=0)


@triton.jit
def list_element(listed, place, key, index, mask):
    low = ~index.to(tl.uint32, bitcast=True)
    if len(listed) == 2:
        put_word(listed, 0, place, key, mask)
        put_word(listed, 1, place, low, mask)
    else:
        put_word(listed, 0, place, (key.to(tl.uint64) << 32) | low.to(tl.uint64), mask)


@triton.jit
def listed_element(listed, place, mask):
    """(key, index)"""
    word = get_word(listed, 0, place, mask)
    if len(listed) == 2:
        return word, ~get_word(listed, 1, place, mask).to(tl.int32, bitcast=True)
    return (word >> 32).to(tl.uint32), ~word.to(tl.uint32).to(tl.int32, bitcast=True)


@triton.jit
def sort_step(listed, size, width, distance, PAIRS: tl.constexpr):
    """Compares and exchanges the pairs of one step of a bitonic network over the first size elements."""
    number = tl.arange(0, PAIRS)
    here = number < size // 2
    left = ((number & ~(distance - 1)) << 1) | (number & (distance - 1))
    right = left + distance
    down = (left & width) == 0
    a = get_word(listed, 0, left, here)
    b = get_word(listed, 0, right, here)
    less = a < b
    if len(listed) == 2:
        i = get_word(listed, 1, left, here)
        j = get_word(listed, 1, right, here)
        less = less | ((a == b) & (i < j))
    turn = here & (less == down)
    put_word(listed, 0, left, b, turn)
    put_word(listed, 0, right, a, turn)
    if len(listed) == 2:
        put_word(listed, 1, left, j, turn)
        put_word(listed, 1, right, i, turn)


@triton.jit
def sort_list(listed, count, CAP: tl.constexpr):
    """Sorts count elements by key descending, then index ascending. A bitonic network as a loop over its
    steps, and only as many as count asks for. Zeros fill it up: no element's word, since ~index is not 0."""
    size = 1 << (32 - libdevice.clz(tl.maximum(count, 2) - 1))
    place = tl.arange(0, CAP)
    for i in tl.static_range(len(listed)):
        put_word(listed, i, place, tl.zeros((CAP,), listed[i].dtype), (place >= count) & (place < size))
    width = 2
    while width <= size:
        distance = width // 2
        while distance > 0:
            sort_step(listed, size, width, distance, CAP // 2)
            distance = distance // 2
        width = width * 2


# --- outputs -----------------------------------------------------------------------------------------


@triton.jit
def copy_payload(place, index, mask, chosen, payload, out, T: tl.constexpr):
    of = payload.to(tl.pointer_type(T))
    tl.store(out.to(tl.pointer_type(T)) + place, tl.load(of + index, mask=chosen, other=0), mask=mask)


@triton.jit
def write_outputs(place, index, mask, row, outputs, flags):
    """Writes what the call asks for about the elements `index` of the row, of which -1 is none."""
    indices, values, payload, payload_out = outputs
    chosen = mask & (index >= 0)
    if (flags & INDICES) != 0:
        tl.store(indices + place, index, mask=mask)
    if (flags & VALUES) != 0:
        worst = worst_value(row.dtype.element_ty, (flags & SMALLEST) != 0)
        tl.store(values + place, tl.load(row + index, mask=chosen, other=worst), mask=mask)
    if (flags & PAYLOAD) != 0:
        if (flags & PAYLOAD_8) != 0:
            copy_payload(place, index, mask, chosen, payload, payload_out, tl.int64)
        else:
            copy_payload(place, index, mask, chosen, payload, payload_out, tl.int32)


@triton.jit
def put(listed, place, key, index, mask, row, outputs, flags, SORTED: tl.constexpr):
    """To the list, to be sorted, or to the outputs."""
    if SORTED:
        list_element(listed, place, key, index, mask)
    else:
        write_outputs(place, index, mask, row, outputs, flags)


@triton.jit
def write_row(listed, row, end, want, flip, outputs, flags, SORTED: tl.constexpr, BLOCK: tl.constexpr,
              GROUP: tl.constexpr):
    """A row with no more than want elements selects them all."""
    offset = tl.arange(0, BLOCK)
    if SORTED:
        for t in range((end + BLOCK - 1) // BLOCK):
            key, valid = tile_keys(row, t * BLOCK, end, flip, BLOCK, GROUP)
            list_element(listed, t * BLOCK + offset, key, t * BLOCK + offset, valid)
    else:
        for t in range((want - 1) // BLOCK + 1):
            place = t * BLOCK + offset
            write_outputs(place, tl.where(offset < end - t * BLOCK, place, -1), offset < want - t * BLOCK, row,
                          outputs, flags)


@triton.jit
def write_sorted(listed, end, want, row, outputs, flags, CAP: tl.constexpr, BLOCK: tl.constexpr):
    count = tl.minimum(end, want)
    sort_list(listed, count, CAP)
    for base in range(0, want, BLOCK):
        place = base + tl.arange(0, BLOCK)
        key, index = listed_element(listed, place, place < count)
        write_outputs(place, tl.where(place < count, index, -1), place < want, row, outputs, flags)


# --- histograms --------------------------------------------------------------------------------------


@triton.jit
def clear(hist):
    tl.store(tle.gpu.local_ptr(hist, (tl.arange(0, BINS),)), tl.zeros((BINS,), tl.int32))


@triton.jit
def alloc_found():
    """Three words that one thread writes and all read; apart, so that no barrier comes between."""
    return (tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False),
            tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False),
            tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False))


@triton.jit
def pick_bin(hist, found, need):
    """The bin that holds the need-th best, how many lie in bins before it, how many in it. Bins go from
    the largest keys down."""
    bins = tl.arange(0, BINS)
    count = tl.load(tle.gpu.local_ptr(hist, (bins,)))
    above, total = tle.cumsum(count)
    # Exactly one bin is hit; its thread tells the others.
    hit = (above < need) & (above + count >= need)
    for i in tl.static_range(3):
        tl.store(tle.gpu.local_ptr(found[i], (tl.zeros((BINS,), tl.int32),)), (bins, above, count)[i], mask=hit)
    return (tl.load(tle.gpu.local_ptr(found[0], (0,))), tl.load(tle.gpu.local_ptr(found[1], (0,))),
            tl.load(tle.gpu.local_ptr(found[2], (0,))))


# --- a tile of keys in registers ---------------------------------------------------------------------


@triton.jit
def low_and_high(a_low, a_high, b_low, b_high):
    return tl.minimum(a_low, b_low), tl.maximum(a_high, b_high)


@triton.jit
def threshold_of_tile(key, valid, hist, found, want):
    """(threshold, ties) of a tile with more than want valid keys: all above threshold are wanted, and so
    many of those equal to it. hist is clear before.

    Bins are 2^shift keys wide and cover just the range that is left, so one round settles most tiles
    whatever their distribution, and as many as the key has digits any.
    """
    KEY: tl.constexpr = key.dtype
    ALL: tl.constexpr = KEY.primitive_bitwidth - DIGIT
    low, high = tl.reduce((tl.where(valid, key, ~tl.full((), 0, KEY)), tl.where(valid, key, 0)), 0, low_and_high)
    need = want
    whole = False
    searching = True
    while searching:
        shift = tl.maximum(ALL - libdevice.clz(high - low), 0).to(KEY)
        inside = valid & (key >= low) & (key <= high)
        place = tle.gpu.local_ptr(hist, (((high - key) >> shift).to(tl.int32),))
        tl.atomic_add(place, 1, mask=inside, sem="relaxed", scope="cta")
        bin, above, count = pick_bin(hist, found, need)
        need -= above
        high -= bin.to(KEY) << shift
        low = high - tl.minimum(high - low, (tl.full((), 1, KEY) << shift) - 1)
        whole = need == count
        searching = (shift > 0) & (not whole)
        if searching:
            clear(hist)
            tl.debug_barrier()  # here rather than before the first round's counting
    return low - tl.where(whole, 1, 0).to(KEY), tl.where(whole, 0, need)


@triton.jit
def chosen_of_tile(key, valid, threshold, ties, equal_before):
    """(which of a tile are chosen, how many before each, how many are above, how many are equal)"""
    larger = valid & (key > threshold)
    equal = valid & (key == threshold)
    # Both counts fit 16 bits, so one scan serves them.
    before, total = tle.cumsum(larger.to(tl.int32) + (equal.to(tl.int32) << 16))
    equal_rank = equal_before + (before >> 16)
    place = (before & 0xFFFF) + tl.minimum(equal_rank, ties)
    return larger | (equal & (equal_rank < ties)), place, total & 0xFFFF, total >> 16


# --- rows that do not fit the registers --------------------------------------------------------------


@triton.jit
def find_digits(hist, found, row, end, want, flip, BLOCK: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr):
    """(threshold, ties, lowest, narrowed). narrowed: no more than CAP keys are at least lowest, want of
    them or more, and the threshold is not known yet."""
    T: tl.constexpr = row.dtype.element_ty
    KEY: tl.constexpr = key_type(T)
    need = want
    prefix = tl.full((), 0, KEY)
    lowest = prefix
    shift = tl.full((), T.primitive_bitwidth - DIGIT, tl.int32)
    width = tl.full((), DIGIT, tl.int32)
    whole = False
    narrowed = False
    searching = True
    while searching:
        clear(hist)
        last = (1 << width) - 1
        for t in range((end - 1) // BLOCK + 1):
            key, valid = tile_keys(row, t * BLOCK, end, flip, BLOCK, GROUP)
            digit = key >> shift.to(KEY)
            counted = valid & ((digit >> width.to(KEY)) == prefix)
            place = tle.gpu.local_ptr(hist, (last - (digit.to(tl.int32) & last),))
            tl.atomic_add(place, 1, mask=counted, sem="relaxed", scope="cta")
        bin, above, count = pick_bin(hist, found, need)
        need -= above
        prefix = (prefix << width.to(KEY)) | (last - bin).to(KEY)
        lowest = prefix << shift.to(KEY)
        whole = need == count
        narrowed = (want - need + count <= CAP) & (shift > 0) & (not whole)
        searching = (shift > 0) & (not whole) & (not narrowed)
        width = tl.minimum(shift, DIGIT)
        shift -= width
    return lowest - tl.where(whole, 1, 0).to(KEY), tl.where(whole, 0, need), lowest, narrowed


@triton.jit
def list_from(listed, row, end, lowest, flip, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Lists the elements whose keys are at least lowest, in order; returns how many there are."""
    kept = 0
    for t in range((end - 1) // BLOCK + 1):
        key, valid = tile_keys(row, t * BLOCK, end, flip, BLOCK, GROUP)
        hit = valid & (key >= lowest)
        before, total = tle.cumsum(hit.to(tl.int32))
        list_element(listed, kept + before, key, t * BLOCK + tl.arange(0, BLOCK), hit)
        kept += total
    return kept


@triton.jit
def write_chosen(listed, row, end, threshold, ties, flip, outputs, flags, SORTED: tl.constexpr,
                 BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Puts out the chosen elements of the row, read once more."""
    larger_before = 0
    equal_before = 0
    for t in range((end - 1) // BLOCK + 1):
        key, valid = tile_keys(row, t * BLOCK, end, flip, BLOCK, GROUP)
        chosen, place, larger, equal = chosen_of_tile(key, valid, threshold, ties, equal_before)
        put(listed, larger_before + place, key, t * BLOCK + tl.arange(0, BLOCK), chosen, row, outputs, flags,
            SORTED)
        larger_before += larger
        equal_before += equal


# --- the kernel --------------------------------------------------------------------------------------


@triton.jit
def select_row(listed, row, end, want, outputs, flags, SORTED: tl.constexpr, SHORT: tl.constexpr,
               BLOCK: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr):
    T: tl.constexpr = row.dtype.element_ty
    flip = tl.where((flags & SMALLEST) != 0, all_bits(T), 0)
    if end <= want:
        write_row(listed, row, end, want, flip, outputs, flags, SORTED, 1024, GROUP)
        return
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    found = alloc_found()
    if SHORT:
        clear(hist)
        key, valid = tile_keys(row, 0, end, flip, CAP, GROUP)
        index = tl.arange(0, CAP)
    else:
        if end <= CAP:
            key, valid = tile_keys(row, 0, end, flip, CAP, GROUP)
            index = tl.arange(0, CAP)
            kept = end
        else:
            threshold, ties, lowest, narrowed = find_digits(hist, found, row, end, want, flip, BLOCK, GROUP, CAP)
            if not narrowed:
                write_chosen(listed, row, end, threshold, ties, flip, outputs, flags, SORTED, BLOCK, GROUP)
                return
            kept = list_from(listed, row, end, lowest, flip, BLOCK, GROUP)
            key, index = listed_element(listed, tl.arange(0, CAP), tl.arange(0, CAP) < kept)
        valid = tl.arange(0, CAP) < kept
        clear(hist)
    threshold, ties = threshold_of_tile(key, valid, hist, found, want)
    chosen, place, larger, equal = chosen_of_tile(key, valid, threshold, ties, 0)
    put(listed, place, key, index, chosen, row, outputs, flags, SORTED)


@triton.jit
def radix_select(keys, payload, lengths, indices, values, payload_out, key_stride, payload_stride, index_stride,
                 value_stride, payload_out_stride, columns, k, flags, SORTED: tl.constexpr, SHORT: tl.constexpr,
                 BLOCK: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr):
    """One row per program. SORTED: k <= CAP. SHORT: columns <= CAP."""
    tl.static_assert(BLOCK <= 32768 and CAP <= 32768, "two counts of a tile share one 32-bit word")
    row_id = tl.program_id(0).to(tl.int64)
    end = columns
    if (flags & LENGTHS) != 0:
        end = tl.minimum(tl.maximum(tl.load(lengths + row_id), 0), columns)
    row = keys + row_id * key_stride
    words = tl.where((flags & PAYLOAD_8) != 0, row_id * 2, row_id)
    outputs = (indices + row_id * index_stride, values + row_id * value_stride, payload + words * payload_stride,
               payload_out + words * payload_out_stride)
    listed = ()
    if SORTED or not SHORT:
        listed = alloc_list(CAP, row.dtype.element_ty)
    select_row(listed, row, end, k, outputs, flags, SORTED, SHORT, BLOCK, GROUP, CAP)
    if SORTED:
        write_sorted(listed, end, k, row, outputs, flags, CAP, 1024)
