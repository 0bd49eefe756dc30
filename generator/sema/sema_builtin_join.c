/* Joining and taking apart: join, split, cat, interleave, gather, extract_tile, insert_tile.
 *
 * All are written in operations that exist: a select on a coordinate puts tiles together, a
 * reduction by XOR over zeros takes one out. Where the coordinate's bits are registers both are
 * renamings, in lanes they are shuffles, in warps they go through scratch; the layouts decide. */
#include "sema/sema_builtin.h"
#include "sema/sema_promote.h"
#include <string.h>

/* 0 .. extent - 1 along one axis, in a shape. */
SVal sema_coordinates(Sema *s, uint32_t rank, const int64_t *shape, uint32_t axis, Span at) {
    SVal ends[2] = {sv_int(0), sv_int(shape[axis])};
    SVal x = b_arange(s, ends, at);
    for (uint32_t d = 0; x.kind == SV_TENSOR && d < rank; d++)
        if (d != axis)
            x = sema_expand_dims(s, x, d, at);
    return sema_broadcast(s, x, rank, shape, at);
}

/* The bits of a value as integers: reductions by XOR need them. */
static SVal to_bits(Sema *s, SVal x, Span at) {
    if (dt_is_ptr(x.dtype))
        return sema_cast(s, x, dt(D_INT64), false, at);
    if (dt_is_int(x.dtype))
        return x;
    uint32_t bits = dt_bits(x.dtype);
    DBase as = bits == 8 ? D_UINT8 : bits == 16 ? D_UINT16 : bits == 32 ? D_UINT32 : D_UINT64;
    return sema_cast(s, x, dt(as), true, at);
}

static SVal from_bits(Sema *s, SVal x, DType t, Span at) {
    if (x.kind != SV_TENSOR || dt_equal(x.dtype, t))
        return x;
    return sema_cast(s, x, t, !dt_is_ptr(t), at);
}

/* x along `axis` at `index` (a number or a scalar), without the axis. */
static SVal pick(Sema *s, SVal x, uint32_t axis, SVal index, Span at) {
    DType t = x.dtype;
    SVal bits = to_bits(s, x, at);
    SVal here =
        sema_compare(s, AST_OP_EQ, sema_coordinates(s, x.rank, x.shape, axis, at), index, at);
    SVal chosen = sema_select(s, here, bits, sv_int(0), at);
    SVal args[3] = {chosen, sv_int(axis), sv_bool(false)};
    return chosen.kind == SV_TENSOR ? from_bits(s, b_xor_sum(s, args, at), t, at) : chosen;
}

/* --- join, split, cat, interleave --- */

static bool pair_of(Sema *s, SVal *a, SVal *b, Span at) {
    if (a->kind == SV_TENSOR && b->kind == SV_TENSOR && !dt_equal(a->dtype, b->dtype)) {
        sema_error(s, DIAG_SEMA_TYPE, at, "the two tensors must have one dtype, found %s and %s",
                   sv_describe(s, *a), sv_describe(s, *b));
        return false;
    }
    if (a->kind != SV_TENSOR && !sv_is_number(*a))
        return arg_tensor(s, a, "a", at);
    if (b->kind != SV_TENSOR && !sv_is_number(*b))
        return arg_tensor(s, b, "b", at);
    if (!sema_pair(s, a, b, false, true, "join", at))
        return false;
    return a->kind == SV_TENSOR && b->kind == SV_TENSOR;
}

/* A new last dimension of two. */
static SVal join(Sema *s, SVal a, SVal b, Span at) {
    int64_t shape[IR_MAX_RANK];
    uint32_t rank = a.rank + 1u;
    if (rank > IR_MAX_RANK)
        return sema_error(s, DIAG_SEMA_SHAPE, at, "a tensor has at most %d dimensions",
                          IR_MAX_RANK);
    for (uint32_t d = 0; d < a.rank; d++)
        shape[d] = a.shape[d];
    shape[a.rank] = 2;
    SVal first =
        sema_compare(s, AST_OP_EQ, sema_coordinates(s, rank, shape, a.rank, at), sv_int(0), at);
    a = sema_broadcast(s, sema_expand_dims(s, a, a.rank, at), rank, shape, at);
    b = sema_broadcast(s, sema_expand_dims(s, b, b.rank, at), rank, shape, at);
    return sema_select(s, first, a, b, at);
}

SVal b_join(Sema *s, const SVal *a, Span at) {
    SVal x = a[0], y = a[1];
    return pair_of(s, &x, &y, at) ? join(s, x, y, at) : sv_error();
}

SVal b_interleave(Sema *s, const SVal *a, Span at) {
    SVal x = a[0], y = a[1];
    int64_t shape[IR_MAX_RANK];
    if (!pair_of(s, &x, &y, at))
        return sv_error();
    SVal both = join(s, x, y, at);
    if (both.kind != SV_TENSOR || both.rank == 1) /* two scalars */
        return both;
    memcpy(shape, x.shape, x.rank * sizeof *shape);
    shape[x.rank - 1] *= 2;
    return sema_reshape(s, both, x.rank, shape, at);
}

SVal b_split(Sema *s, const SVal *a, Span at) {
    SVal x = a[0], half[2];
    if (!arg_tensor(s, &x, "a", at))
        return sv_error();
    if (!x.rank || x.shape[x.rank - 1] != 2)
        return sema_error(s, DIAG_SEMA_SHAPE, at,
                          "split takes a tensor whose last dimension is 2, found %s",
                          sv_describe(s, x));
    for (int i = 0; i < 2; i++) {
        half[i] = pick(s, x, x.rank - 1u, sv_int(i), at);
        if (half[i].kind != SV_TENSOR)
            return half[i];
    }
    return sv_tuple(s, half, 2);
}

/* The dimensions before and after `axis` as one each: [pre, extent, post]. */
static void fold_around(SVal x, uint32_t axis, int64_t *pre, int64_t *post) {
    *pre = *post = 1;
    for (uint32_t d = 0; d < axis; d++)
        *pre *= x.shape[d];
    for (uint32_t d = axis + 1; d < x.rank; d++)
        *post *= x.shape[d];
}

SVal b_cat(Sema *s, const SVal *a, Span at) {
    SVal x = a[0], y = a[1];
    bool can_reorder; /* the order is always kept */
    uint32_t axis;
    if (!arg_tensor(s, &x, "input", at) || !arg_tensor(s, &y, "other", at) ||
        !arg_bool(s, a[2], "can_reorder", at, &can_reorder))
        return sv_error();
    if (!x.rank || x.rank != y.rank || memcmp(x.shape, y.shape, x.rank * sizeof *x.shape) ||
        !dt_equal(x.dtype, y.dtype))
        return sema_error(s, DIAG_SEMA_SHAPE, at,
                          "cat takes two tensors of one shape and dtype, found %s and %s",
                          sv_describe(s, x), sv_describe(s, y));
    if (!arg_axis(s, a[3], x, at, &axis))
        return sv_error();
    int64_t pre, post, shape[IR_MAX_RANK];
    fold_around(x, axis, &pre, &post);
    int64_t parts[3] = {pre, x.shape[axis], post};
    SVal both = join(s, sema_reshape(s, x, 3, parts, at), sema_reshape(s, y, 3, parts, at), at);
    SVal order[4] = {sv_int(0), sv_int(3), sv_int(1), sv_int(2)}, dims = sv_tuple(s, order, 4);
    memcpy(shape, x.shape, x.rank * sizeof *shape);
    shape[axis] *= 2;
    return both.kind == SV_TENSOR
               ? sema_reshape(s, sema_transpose(s, both, &dims, at), x.rank, shape, at)
               : both;
}

/* --- gather --- */

/* The source goes through a shared buffer; each element of the index reads its own. */
SVal sema_gather(Sema *s, SVal x, SVal index, uint32_t axis, Span at) {
    SVal list[IR_MAX_RANK];
    DType stored = dt_is_ptr(x.dtype) ? dt(D_INT64) : x.dtype;
    SVal value = sema_cast(s, x, stored, false, at);
    SVal buffer = sema_shared_buffer(s, stored, x.rank, x.shape, at);
    if (value.kind != SV_TENSOR ||
        sema_store(s, sema_full_view(s, buffer, at), value, sv_none(), at).kind == SV_ERROR)
        return sv_error();
    for (uint32_t d = 0; d < x.rank; d++)
        list[d] = d == axis ? index : sema_coordinates(s, index.rank, index.shape, d, at);
    SVal args[3] = {buffer, sv_tuple(s, list, x.rank), sv_none()};
    SVal p = b_local_ptr(s, args, at);
    if (p.kind != SV_TENSOR)
        return p;
    return sema_cast(s, sema_load(s, p, sv_none(), sv_none(), at), x.dtype, false, at);
}

SVal b_gather(Sema *s, const SVal *a, Span at) {
    SVal x = a[0], index = a[1];
    uint32_t axis;
    if (!arg_tensor(s, &x, "src", at) || !arg_tensor(s, &index, "index", at) ||
        !arg_axis(s, a[2], x, at, &axis))
        return sv_error();
    if (!dt_is_int(index.dtype))
        return sema_error(s, DIAG_SEMA_TYPE, at, "'index' must hold integers, found %s",
                          sv_describe(s, index));
    bool ok = index.rank == x.rank;
    for (uint32_t d = 0; ok && d < x.rank; d++)
        ok = d == axis || index.shape[d] == x.shape[d];
    if (!ok)
        return sema_error(s, DIAG_SEMA_SHAPE, at,
                          "'index' must have the shape of 'src' but for axis %u, found %s and %s",
                          axis, sv_describe(s, index), sv_describe(s, x));
    return sema_gather(s, x, index, axis, at);
}

/* --- extract_tile, insert_tile --- */

typedef struct TileGrid {
    int64_t tile[IR_MAX_RANK], tiles[IR_MAX_RANK];
    SVal index[IR_MAX_RANK]; /* numbers or scalar tensors */
} TileGrid;

static bool grid_shape(Sema *s, SVal x, TileGrid *g, uint32_t rank, Span at) {
    if (rank != x.rank || !rank) {
        sema_error(s, DIAG_SEMA_SHAPE, at, "the tile has %u dimensions, %s has %u", rank,
                   sv_describe(s, x), x.rank);
        return false;
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (x.shape[d] % g->tile[d]) {
            sema_error(s, DIAG_SEMA_SHAPE, at,
                       "dimension %u of %s is not a multiple of the tile's, %lld", d,
                       sv_describe(s, x), (long long)g->tile[d]);
            return false;
        }
        g->tiles[d] = x.shape[d] / g->tile[d];
    }
    return true;
}

static bool in_grid(Sema *s, SVal index, int64_t tiles, const char *of, Span at) {
    if (index.kind == SV_TENSOR) {
        if (!index.rank && dt_is_int(index.dtype))
            return true;
    } else if (index.kind == SV_INT && index.num.i >= 0 && index.num.i < tiles) {
        return true;
    } else if (index.kind == SV_INT) {
        sema_error(s, DIAG_SEMA_RANGE, at, "tile %lld is outside the %lld tiles%s",
                   (long long)index.num.i, (long long)tiles, of);
        return false;
    }
    sema_error(s, DIAG_SEMA_TYPE, at, "'index' must hold integers or integer scalars, found %s",
               sv_describe(s, index));
    return false;
}

/* A number counts tiles in row-major order; a tuple has one number per dimension. */
static bool grid_index(Sema *s, SVal x, SVal index, TileGrid *g, Span at) {
    int64_t stride = 1;
    if (index.kind == SV_TUPLE && index.len != x.rank) {
        sema_error(s, DIAG_SEMA_SHAPE, at,
                   "'index' has %u numbers, expected one per dimension of "
                   "%s",
                   index.len, sv_describe(s, x));
        return false;
    }
    for (uint32_t d = 0; d < x.rank; d++)
        stride *= g->tiles[d];
    if (index.kind != SV_TUPLE && !in_grid(s, index, stride, "", at))
        return false;
    for (uint32_t d = 0; d < x.rank; d++) {
        if (index.kind == SV_TUPLE) {
            g->index[d] = index.items[d];
            if (!in_grid(s, g->index[d], g->tiles[d], " of its dimension", at))
                return false;
            continue;
        }
        stride /= g->tiles[d];
        SVal i = sema_binary(s, AST_OP_FLOORDIV, index, sv_int(stride), at);
        g->index[d] = d ? sema_binary(s, AST_OP_MOD, i, sv_int(g->tiles[d]), at) : i;
    }
    return true;
}

SVal b_extract_tile(Sema *s, const SVal *a, Span at) {
    SVal x = a[0];
    int64_t shape[IR_MAX_RANK];
    uint32_t rank;
    TileGrid g;
    if (x.kind != SV_TENSOR)
        return sema_error(s, DIAG_SEMA_TYPE, at, "'x' must be a tensor, found %s",
                          sv_describe(s, x));
    if (!arg_shape(s, a[2], "tile_shape", at, &rank, g.tile) || !grid_shape(s, x, &g, rank, at) ||
        !grid_index(s, x, a[1], &g, at))
        return sv_error();
    for (uint32_t d = 0; x.kind == SV_TENSOR && d < rank; d++) {
        int64_t pre, post;
        if (g.tiles[d] == 1)
            continue;
        fold_around(x, d, &pre, &post);
        int64_t parts[4] = {pre, g.tiles[d], g.tile[d], post};
        memcpy(shape, x.shape, rank * sizeof *shape);
        shape[d] = g.tile[d];
        SVal y = pick(s, sema_reshape(s, x, 4, parts, at), 1, g.index[d], at);
        x = y.kind == SV_TENSOR ? sema_reshape(s, y, rank, shape, at) : y;
    }
    return x;
}

/* The tile repeated over the grid, dimension by dimension, and the place where it belongs. */
static SVal placed(Sema *s, SVal x, SVal tile, const TileGrid *g, Span at) {
    int64_t shape[IR_MAX_RANK], pre, post;
    SVal here = sv_bool(true);
    for (uint32_t d = 0; tile.kind == SV_TENSOR && d < x.rank; d++) {
        if (g->tiles[d] == 1)
            continue;
        fold_around(tile, d, &pre, &post);
        int64_t one[4] = {pre, 1, g->tile[d], post}, all[4] = {pre, g->tiles[d], g->tile[d], post};
        memcpy(shape, tile.shape, x.rank * sizeof *shape);
        shape[d] = x.shape[d];
        tile = sema_broadcast(s, sema_reshape(s, tile, 4, one, at), 4, all, at);
        tile = sema_reshape(s, tile, x.rank, shape, at);
        SVal number = sema_binary(s, AST_OP_FLOORDIV, sema_coordinates(s, x.rank, x.shape, d, at),
                                  sv_int(g->tile[d]), at);
        SVal match = sema_compare(s, AST_OP_EQ, number, g->index[d], at);
        here = here.kind == SV_BOOL ? match : sema_binary(s, AST_OP_BITAND, here, match, at);
    }
    if (here.kind == SV_BOOL || tile.kind != SV_TENSOR) /* the tile is all of it */
        return tile;
    return sema_select(s, here, tile, x, at);
}

SVal b_insert_tile(Sema *s, const SVal *a, Span at) {
    SVal x = a[0], tile = a[1];
    TileGrid g;
    if (x.kind != SV_TENSOR || tile.kind != SV_TENSOR)
        return sema_error(s, DIAG_SEMA_TYPE, at, "'x' and 'tile' must be tensors, found %s and %s",
                          sv_describe(s, x), sv_describe(s, tile));
    if (!dt_equal(x.dtype, tile.dtype))
        return sema_error(s, DIAG_SEMA_TYPE, at, "the tile is %s, expected %s",
                          sv_describe(s, tile), dt_name(s, x.dtype));
    for (uint32_t d = 0; d < tile.rank; d++)
        g.tile[d] = tile.shape[d];
    if (!grid_shape(s, x, &g, tile.rank, at) || !grid_index(s, x, a[2], &g, at))
        return sv_error();
    return placed(s, x, tile, &g, at);
}
