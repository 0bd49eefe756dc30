"""What the kernels of the selection for any type of key share: the order of keys, loads, lists of elements
in shared memory, counting, the selection from a tile in registers, and the outputs.

Order: an element is the better the greater its key, an unsigned number of its width. NaN of any sign is greatest
and all NaNs tie; -0 equals +0. For the smallest first all keys are inverted.

Columns are loaded in whole groups of GROUP, which the launch guarantees to lie inside the row; positions are
relative to a tile's base, so columns up to 2^31 - 1 do not overflow.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.common import begin, bin_shift, clear, counts_of, load_groups, low_and_high, pick_bin

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
def bits_of(x):
    """x's bits as a key of its type has them."""
    T: tl.constexpr = x.dtype
    if T.primitive_bitwidth == 16:
        return x.to(tl.uint16, bitcast=True).to(tl.uint32)
    return x.to(key_type(T), bitcast=True)


@triton.jit
def from_bits(bits, T: tl.constexpr):
    if T.primitive_bitwidth == 16:
        return bits.to(tl.uint16).to(T, bitcast=True)
    return bits.to(T, bitcast=True)


@triton.jit
def ordered_key(x, flip):
    """Unsigned number of x's width that is the greater the better x; flip inverts the order."""
    T: tl.constexpr = x.dtype
    BITS: tl.constexpr = T.primitive_bitwidth
    KEY: tl.constexpr = key_type(T)
    top = tl.full((), 1, KEY) << (BITS - 1)
    if T.is_floating():
        bits = tl.where(x == 0.0, 0, bits_of(x))
        key = bits ^ tl.where((bits & top) != 0, all_bits(T), top)
        key = tl.where(x != x, all_bits(T), key)
    elif T.is_int_signed():
        key = x.to(KEY, bitcast=True) ^ top
    else:
        key = x
    return key ^ flip


@triton.jit
def infinity_key(T: tl.constexpr):
    """The key of the greatest value but NaN, before it is inverted."""
    if T.is_floating():
        return ordered_key(tl.full((), float("inf"), T), 0)
    return all_bits(T)


@triton.jit
def value_of_key(key, T: tl.constexpr, SMALLEST_FIRST: tl.constexpr):
    """The element x for which not_worse(y, x) means that y's key is at least `key`, which may be no element's
    key. Of the largest first it is at most that of an infinity."""
    top = tl.full((), 1, key_type(T)) << (T.primitive_bitwidth - 1)
    if SMALLEST_FIRST:
        key = key ^ all_bits(T)
    if T.is_floating():
        # Keys beyond the infinities would be NaN; top - 1 would be -0, which equals 0.
        infinity = infinity_key(T)
        if SMALLEST_FIRST:
            key = tl.minimum(key, infinity)
            key = tl.where(key == top - 1, key - 1, key)
        else:
            key = tl.maximum(key, infinity ^ all_bits(T))
        return from_bits(key ^ tl.where((key & top) != 0, top, all_bits(T)), T)
    if T.is_int_signed():
        key = key ^ top
    return from_bits(key, T)


@triton.jit
def not_worse(x, mark, SMALLEST_FIRST: tl.constexpr):
    """Whether x's key is at least that of mark, which is not NaN."""
    if SMALLEST_FIRST:
        return x <= mark
    if x.dtype.is_floating():
        return not (x < mark)
    return x >= mark


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
def outside(T: tl.constexpr, SMALLEST_FIRST: tl.constexpr):
    """What is worse than any mark that only a part of the elements reaches."""
    if T.is_floating():
        return float("nan") if SMALLEST_FIRST else float("-inf")
    return worst_value(T, SMALLEST_FIRST)


@triton.jit
def tile_keys(row, base, end, flip, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """(keys, whether they are inside the row) of columns base .. base + BLOCK - 1."""
    return ordered_key(load_groups(row, base, end, 0, BLOCK, GROUP), flip), tl.arange(0, BLOCK) < end - base


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
    """key: the element's key, or its bits, as the list's reader expects."""
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


# --- a tile of keys in registers ---------------------------------------------------------------------


@triton.jit
def threshold_of_tile(key, valid, hist, found, want, EXACT: tl.constexpr):
    """(threshold, ties) of a tile with more than want valid keys: all above threshold are wanted, and so
    many of those equal to it. hist is clear before.

    Bins are 2^shift keys wide and cover just the range that is left, so one round settles most tiles
    whatever their distribution, and as many as the key has digits any. Not EXACT: the whole last bin counts
    as wanted once that is at most an eighth too much.
    """
    KEY: tl.constexpr = key.dtype
    low, high = tl.reduce((tl.where(valid, key, ~tl.full((), 0, KEY)), tl.where(valid, key, 0)), 0, low_and_high)
    need = want
    whole = False
    searching = True
    while searching:
        shift = bin_shift(low, high, DIGIT)
        inside = valid & (key >= low) & (key <= high)
        place = tle.gpu.local_ptr(hist, (((high - key) >> shift).to(tl.int32),))
        tl.atomic_add(place, 1, mask=inside, sem="relaxed", scope="cta")
        bin, above, count = pick_bin(counts_of(hist, BINS), found, need)
        need -= above
        high -= bin.to(KEY) << shift
        low = high - tl.minimum(high - low, (tl.full((), 1, KEY) << shift) - 1)
        whole = need == count
        searching = (shift > 0) & (not whole)
        if not EXACT:
            searching = (shift > 0) & (count - need > want // 8)
            whole = True
        if searching:
            clear(hist, BINS)
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
def open_row(row_id, keys, payload, lengths, indices, values, payload_out, key_stride, payload_stride, index_stride,
             value_stride, payload_out_stride, columns, flags):
    """(the row's elements, how many there are, where its outputs go). Begins the program."""
    begin()
    end = columns
    if (flags & LENGTHS) != 0:
        end = tl.minimum(tl.maximum(tl.load(lengths + row_id), 0), columns)
    words = tl.where((flags & PAYLOAD_8) != 0, row_id * 2, row_id)
    return keys + row_id * key_stride, end, (indices + row_id * index_stride, values + row_id * value_stride,
                                             payload + words * payload_stride,
                                             payload_out + words * payload_out_stride)
