/* Layouts: linear maps over F2 on a power-of-two block, times an outer repeat per dimension.
 *
 * A distributed layout maps (register, lane, warp, block-of-cluster) bits to tile coordinates: each
 * input bit has a basis vector, the coordinate of an element is the XOR of the bases of the bits
 * that are set. A zero basis means replication: both values of that bit hold the same element.
 * A shared layout maps offset bits (in elements) to coordinates in the same way.
 *
 * The tile's extent in dimension d is repeat[d] << block_log2[d]: 192 = 3 * 64. Repeats are the
 * slowest-changing part of the register index (of the offset, for shared layouts): register index =
 * repeat_index << reg_bits | register_bits, repeat_index row-major over repeat[]. No user may
 * assume repeat 1. The split of an extent is canonical (layout_split_extent), so that all layouts
 * of one tile agree on it.
 *
 * Layouts are hash-consed per module: equal layouts have equal ids; 0 = not assigned yet. */
#ifndef IR_LAYOUT_H
#define IR_LAYOUT_H

#include "base/arena.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

enum { LAYOUT_MAX_RANK = 5, LAYOUT_MAX_BITS = 32 };

typedef uint32_t LayoutId;

typedef enum LayoutKind { LAYOUT_DISTRIBUTED = 0, LAYOUT_SHARED = 1 } LayoutKind;
/* Input dimensions, in the order in which their bases are stored. */
typedef enum LayoutIn {
    LAYOUT_REG,
    LAYOUT_LANE,
    LAYOUT_WARP,
    LAYOUT_CTA,
    LAYOUT_IN_COUNT
} LayoutIn;

typedef struct Layout {
    LayoutKind kind;
    uint8_t rank;
    uint8_t block_log2[LAYOUT_MAX_RANK];
    uint16_t repeat[LAYOUT_MAX_RANK];
    uint8_t bits[LAYOUT_IN_COUNT]; /* shared layouts: bits[LAYOUT_REG] counts the offset bits */
    /* bases of all input bits, register bits first, then lane, warp, cta */
    uint16_t basis[LAYOUT_MAX_BITS][LAYOUT_MAX_RANK];
} Layout;

typedef struct LayoutTable LayoutTable;

LayoutTable *layout_table_new(Arena *a);
LayoutId layout_intern(LayoutTable *t, const Layout *l);
const Layout *layout_get(const LayoutTable *t, LayoutId id);
uint32_t layout_count(const LayoutTable *t); /* ids 1..count */

/* --- questions --- */
bool layout_valid(const Layout *l,
                  const char **why_out); /* onto the block; ranks and bits in range */
bool layout_equal(const Layout *a, const Layout *b);
uint32_t layout_registers(const Layout *l); /* registers per thread, repeats included */
int64_t layout_extent(const Layout *l, unsigned dim);
/* Coordinates of one element. `reg` counts repeats. */
void layout_apply(const Layout *l, uint32_t reg, uint32_t lane, uint32_t warp, uint32_t cta,
                  uint32_t coord_out[LAYOUT_MAX_RANK]);
/* Bits of lane / warp with a zero (or linearly dependent) basis: threads that hold copies.
 * A thread is the owner of its elements when (id & mask) == 0. */
uint32_t layout_lane_copies(const Layout *l);
uint32_t layout_warp_copies(const Layout *l);
uint32_t layout_reg_copies(const Layout *l);
/* How many consecutive register indices (from 0) run along `dim` at stride 1 in coordinates; a
 * power of two within one repeat, so every aligned group of that many registers is such a run. */
uint32_t layout_contiguous(const Layout *l, unsigned dim);
/* No basis moves along `dim` and along another dimension at once: reductions and scans over `dim`
 * then work on whole bits. */
bool layout_separable(const Layout *l, unsigned dim);
/* Masks of the bits of one input that move along `dim`. */
uint32_t layout_axis_bits(const Layout *l, LayoutIn in, unsigned dim);
/* The lowest register of thread (lane, warp) that holds the element; false when none does. Slices,
 * expansions, permutations and broadcasts map registers through coordinates with it. */
bool layout_find_register(const Layout *l, uint32_t lane, uint32_t warp,
                          const uint32_t coord[LAYOUT_MAX_RANK], uint32_t *reg_out);

/* --- makers; all take tile extents that are repeat * power of two --- */
/* Splits an extent into a power-of-two block and a repeat: 192 -> 64, 3. */
void layout_split_extent(int64_t extent, uint8_t *block_log2_out, uint16_t *repeat_out);
/* Blocked: `order[0]` is the fastest dimension; per_thread consecutive elements along it, then
 * lanes, then warps, then further registers; threads left over are replicas. */
Layout layout_blocked(unsigned rank, const int64_t *extent, const uint32_t *per_thread,
                      const uint8_t *order, uint32_t lanes, uint32_t warps);
/* Drops a dimension (the result of a reduction): bases lose the coordinate, so bits that only moved
 * along it become replicas; register bits that would be copies are removed. */
Layout layout_slice(const Layout *l, unsigned dim);
/* Inverse of slice for expand_dims: inserts a dimension of extent 1. */
Layout layout_expand(const Layout *l, unsigned dim);
/* Layout of the operand of a broadcast along `dim` whose result has layout l: extent 1 there. */
Layout layout_unbroadcast(const Layout *l, unsigned dim);
/* Layout of a reshape that keeps row-major element order, or false when it is not linear. Register
 * i of the result is register i of the operand. */
bool layout_reshape(const Layout *l, unsigned rank, const int64_t *extent, Layout *out);
/* Dimension i of the result is dimension order[i] of l. Where two dimensions repeat, the order of
 * the repeats changes with it, and so does the numbering of registers. */
Layout layout_permute(const Layout *l, const uint8_t *order);
/* Row-major shared layout: row-major in each block, blocks row-major. That is plain row-major
 * memory when only the slowest dimension repeats. */
Layout layout_row_major(unsigned rank, const int64_t *extent);

/* --- conversion between distributed layouts of one tile --- */
typedef enum LayoutMove {
    LAYOUT_MOVE_NONE,      /* same map */
    LAYOUT_MOVE_REGISTERS, /* within each thread, the same registers in all threads */
    LAYOUT_MOVE_SHUFFLE,   /* within each warp; at most LAYOUT_SHUFFLE_SOURCES source registers for
                            * one result register */
    LAYOUT_MOVE_SHARED     /* through shared memory */
} LayoutMove;
LayoutMove layout_move(const Layout *from, const Layout *to);
enum { LAYOUT_SHUFFLE_SOURCES = 4 };
/* For every (register of `to`, lane, warp): a source (register, lane, warp) of `from` that holds
 * the element, preferring the same thread, then the same warp. The map is linear: the source of
 * (reg, lane, warp) is the XOR of the sources of their bits (repeats pass through unchanged). */
void layout_source(const Layout *from, const Layout *to, uint32_t reg, uint32_t lane, uint32_t warp,
                   uint32_t *reg_out, uint32_t *lane_out, uint32_t *warp_out);

/* The thread and register that hold element c ^ mask along `dim`, relative to the holder of c: the
 * same XOR for every element. Prefers the same thread, then the same warp. mask < 2^block_log2. */
void layout_exchange(const Layout *l, unsigned dim, uint32_t mask, uint32_t *reg_out,
                     uint32_t *lane_out, uint32_t *warp_out);

/* Text: layout<block=[64, 32] repeat=[3, 1] reg=[[0, 1]] lane=[...] warp=[...] cta=[]>,
 * shared<block=[...] repeat=[...] offset=[...]>. */
void layout_print(const Layout *l, StrBuf *out);

#endif
