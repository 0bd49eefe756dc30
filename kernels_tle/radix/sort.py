"""Sorting of a list of elements in shared memory (common.py): key descending, then index ascending.

Elements are spread over 2048 bins of equal width between the least and the greatest word; within its bin each
one counts those that go before it. Where some bin holds too many for that, a bitonic network sorts instead.
No two words are equal, so the result does not depend on how threads were scheduled.
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice
import triton.experimental.tle.language as tle
from radix.common import BINS, DIGIT, get_word, put_word
from topk.common import bin_shift, low_and_high
from topk.common import clear, counts_of

TILE = tl.constexpr(2048)
MOST = tl.constexpr(32)  # elements of one bin that are told apart by counting


@triton.jit
def get_words(listed, place, mask):
    """The element's words; the second one is 0 where there is but one."""
    word = get_word(listed, 0, place, mask)
    return (word, get_word(listed, 1, place, mask)) if len(listed) == 2 else (word, 0)


@triton.jit
def put_words(listed, place, words, mask):
    for i in tl.static_range(len(listed)):
        put_word(listed, i, place, words[i], mask)


@triton.jit
def goes_after(a, b):
    """Whether a goes after b; each is two words."""
    return (a[0] < b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))


@triton.jit
def sort_step(listed, first, size, width, distance):
    """Compares and exchanges pairs of one step of a bitonic network over size elements, from pair `first` on."""
    number = first + tl.arange(0, TILE)
    here = number < size // 2
    left = ((number & ~(distance - 1)) << 1) | (number & (distance - 1))
    right = left + distance
    a = get_words(listed, left, here)
    b = get_words(listed, right, here)
    turn = here & (goes_after(a, b) == ((left & width) == 0))
    put_words(listed, left, b, turn)
    put_words(listed, right, a, turn)


@triton.jit
def sort_bitonic(listed, count):
    """A bitonic network as a loop over its steps, and only as many as count asks for. Zeros fill it up: no
    element's words, since ~index is not 0."""
    size = 1 << (32 - libdevice.clz(tl.maximum(count, 2) - 1))
    for base in range(count // TILE * TILE, size, TILE):
        place = base + tl.arange(0, TILE)
        for i in tl.static_range(len(listed)):
            put_word(listed, i, place, tl.zeros((TILE,), listed[i].dtype), (place >= count) & (place < size))
    width = 2
    while width <= size:
        distance = width // 2
        while distance > 0:
            for first in range(0, size // 2, TILE):
                sort_step(listed, first, size, width, distance)
            distance = distance // 2
        width = width * 2


@triton.jit
def range_of(listed, count):
    """The least and the greatest first word."""
    low = tl.full((TILE,), 0, tl.uint64)
    high = low
    low = ~low
    for base in range(0, count, TILE):
        place = base + tl.arange(0, TILE)
        word = get_word(listed, 0, place, place < count)
        low = tl.minimum(low, tl.where(place < count, word, low))
        high = tl.maximum(high, word)
    return tl.reduce((low, high), 0, low_and_high)


@triton.jit
def bin_of(word, high, shift, mask):
    return tl.where(mask, (high - word) >> shift, 0).to(tl.int32)


@triton.jit
def count_bins(hist, listed, count, high, shift):
    clear(hist, BINS)
    for base in range(0, count, TILE):
        place = base + tl.arange(0, TILE)
        bin = bin_of(get_word(listed, 0, place, place < count), high, shift, place < count)
        tl.atomic_add(tle.gpu.local_ptr(hist, (bin,)), 1, mask=place < count, sem="relaxed", scope="cta")


@triton.jit
def starts_of_bins(hist):
    """Makes counts the places where bins start; returns the largest count."""
    count = counts_of(hist, BINS)
    before, total = tle.cumsum(count)
    tl.store(tle.gpu.local_ptr(hist, (tl.arange(0, BINS),)), before)
    return tl.max(count)


@triton.jit
def spread(hist, listed, spare, count, high, shift):
    """Copies the elements bin after bin, in any order within it. The starts become the ends."""
    for base in range(0, count, TILE):
        place = base + tl.arange(0, TILE)
        words = get_words(listed, place, place < count)
        bin = tle.gpu.local_ptr(hist, (bin_of(words[0], high, shift, place < count),))
        to = tl.atomic_add(bin, 1, mask=place < count, sem="relaxed", scope="cta")
        put_words(spare, to, words, place < count)


@triton.jit
def rank_in_bins(hist, spare, listed, count, high, shift, most):
    for base in range(0, count, TILE):
        place = base + tl.arange(0, TILE)
        words = get_words(spare, place, place < count)
        bin = bin_of(words[0], high, shift, place < count)
        start = tl.load(tle.gpu.local_ptr(hist, (tl.maximum(bin - 1, 0),)), mask=bin > 0, other=0)
        stop = tl.load(tle.gpu.local_ptr(hist, (bin,)), mask=place < count, other=0)
        to = start
        for i in range(0, most):
            here = start + i < stop
            to += (here & goes_after(words, get_words(spare, start + i, here))).to(tl.int32)
        put_words(listed, to, words, place < count)


@triton.jit
def sort_list(listed, spare, count):
    """spare is another list of the kind."""
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    low, high = range_of(listed, count)
    shift = bin_shift(low, high, DIGIT)
    count_bins(hist, listed, count, high, shift)
    most = starts_of_bins(hist)
    if most > MOST:
        sort_bitonic(listed, count)
    else:
        spread(hist, listed, spare, count, high, shift)
        rank_in_bins(hist, spare, listed, count, high, shift, most)
