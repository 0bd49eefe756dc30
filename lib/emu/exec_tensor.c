/* Tensor copies: boxes of tiled tensors between global and shared memory, with swizzles, out of
 * bounds elements, reductions and multicast. A box is taken row by row along dimension 0. */
#include "async.h"
#include <string.h>

#define ROW_MAX 2048u /* 256 elements of 8 bytes */

/* One row of the box: where it lies in the tensor and in the box. */
typedef struct Row {
    uint64_t address;      /* of its first element inside, if any is */
    uint32_t first, count; /* elements inside the tensor */
    uint32_t bytes;        /* of the whole row in the box */
    uint32_t at;           /* byte in the box, before swizzling */
} Row;

typedef bool RowFn(void *user, const Row *r);

static void along_first(const TensorMap *m, int32_t c0, Row *r) {
    int64_t low = c0 < 0 ? -(int64_t)c0 : 0, high = (int64_t)m->last[0] + 1 - c0;
    if (high > m->box[0])
        high = m->box[0];
    r->first = low < high ? (uint32_t)low : 0;
    r->count = low < high ? (uint32_t)(high - low) : 0;
}

static uint32_t tensor_rows(const TensorMap *m) {
    uint32_t rows = 1;
    for (uint32_t k = 1; k < m->rank; k++)
        rows *= tensor_extent(m, k);
    return rows;
}

/* Rows in order; `index` counts along dimensions 1 and up. False if `fn` says so. */
static bool for_rows(const TensorMap *m, const int32_t *coord, RowFn *fn, void *user) {
    uint32_t index[5] = {0}, size = tensor_type_bytes(m->type), rows = tensor_rows(m);
    uint32_t pitch = tensor_pitch(m);
    Row r = {.bytes = m->box[0] * size};
    for (uint32_t n = 0; n < rows; n++, r.at += pitch) {
        along_first(m, coord[0], &r);
        r.address = m->address + (uint64_t)((int64_t)coord[0] + r.first) * size;
        for (uint32_t k = 1; k < m->rank; k++) {
            int64_t at = (int64_t)coord[k] + (int64_t)index[k] * m->step[k];
            if (at < 0 || at > (int64_t)m->last[k])
                r.count = 0;
            r.address += (uint64_t)at * m->stride[k - 1];
        }
        if (!fn(user, &r))
            return false;
        for (uint32_t k = 1; k < m->rank && ++index[k] == tensor_extent(m, k); k++)
            index[k] = 0;
    }
    return true;
}

/* ---- running ------------------------------------------------------------------------------ */

/* The row's bytes in shared memory, in 16-byte units that the swizzle moves. */
static void move_row(const AsyncOp *op, const Row *r, uint8_t *row, bool to_shared) {
    uint32_t base = op->tile_at + SHARED_BASE;
    uint8_t *box = op->has_read ? op->buffer : op->tile_cta->shared + op->tile_at;
    for (uint32_t k = 0; k < r->bytes; k += 16) {
        uint8_t *at = box + (tensor_swizzle(&op->map, base + r->at + k) - base);
        if (to_shared) {
            memcpy(at, row + k, 16);
            async_end_write(op, at, 16);
        } else
            memcpy(row + k, at, 16);
    }
}

static void fill_row(const TensorMap *m, uint8_t *row, uint32_t bytes) {
    for (uint32_t k = 0; k < bytes; k += 2) {
        row[k] = m->fill ? 0xf7 : 0; /* a NaN of 16 bits, whatever the type */
        row[k + 1] = m->fill ? 0x7f : 0;
    }
}

/* To the nearest tf32, ties to even, as loads of that type do. */
static void round_tf32(uint8_t *row, uint32_t bytes) {
    for (uint32_t k = 0; k < bytes; k += 4) {
        uint32_t v;
        memcpy(&v, row + k, 4);
        if ((v & 0x7fffffffu) < 0x7f800000u)
            v = (v + 0xfff + (v >> 13 & 1)) & ~0x1fffu;
        memcpy(row + k, &v, 4);
    }
}

static bool load_row(void *user, const Row *r) {
    AsyncOp *op = user;
    uint8_t row[ROW_MAX];
    uint32_t size = tensor_type_bytes(op->map.type);
    fill_row(&op->map, row, r->bytes);
    if (r->count)
        memcpy(row + r->first * size, access_host(op->w->launch, r->address), r->count * size);
    if (op->map.type >= TENSOR_TFLOAT32 && r->count)
        round_tf32(row + r->first * size, r->count * size);
    move_row(op, r, row, true);
    return true;
}

static bool store_row(void *user, const Row *r) {
    AsyncOp *op = user;
    uint8_t row[ROW_MAX], *to = async_global(op, r->address);
    uint32_t size = tensor_type_bytes(op->map.type);
    const uint8_t *from = row + r->first * size;
    Insn as_atomic = *op->in;
    if (r->count == 0)
        return true;
    move_row(op, r, row, false);
    as_atomic.type = (uint8_t)tensor_ptx_type(op->map.type);
    as_atomic.size = (uint8_t)size;
    as_atomic.flags |= ptx_type_class((PtxType)as_atomic.type) == 'S' ? F_SIGNED : 0;
    if (!op->in->bulk->reduce)
        memcpy(to, from, r->count * size);
    for (uint32_t k = 0; op->in->bulk->reduce && k < r->count; k++) {
        uint64_t old = 0, b = 0;
        memcpy(&old, to + k * size, size);
        memcpy(&b, from + k * size, size);
        old = atomic_result(&as_atomic, old, b, 0);
        memcpy(to + k * size, &old, size);
    }
    async_end_write(op, to, r->count * size);
    return true;
}

static void load(AsyncOp *op) {
    for_rows(&op->map, op->coord, load_row, op);
}

static void store(AsyncOp *op) {
    for_rows(&op->map, op->coord, store_row, op);
}

/* ---- issue -------------------------------------------------------------------------------- */

typedef struct Check {
    Warp *w;
    const Insn *in;
    uint32_t lane, size;
    AccessKind kind;
    const AsyncOp *op;
} Check;

static bool check_row(void *user, const Row *r) {
    Check *c = user;
    uint32_t bytes = r->count * c->size;
    const uint8_t *at;
    if (bytes == 0)
        return true;
    at = access_global(c->w, c->in, c->lane, r->address, bytes, c->kind);
    if (at && c->kind == ACCESS_WRITE)
        async_begin_write(c->op, at, bytes);
    return at != NULL;
}

static const char *refusal(const Insn *in, const TensorMap *m) {
    if (!tensor_map_is_valid(m))
        return "the 128 bytes are no tensor map";
    if (m->rank != in->bulk->rank)
        return "the tensor map has another rank than the instruction";
    if (in->bulk->reduce && tensor_ptx_type(m->type) == TY_NONE)
        return "the tensor map's type has no reductions";
    return NULL;
}

static bool get_map(Warp *w, const Insn *in, uint32_t lane, uint64_t address, TensorMap *m) {
    const uint8_t *at;
    const char *why;
    if (address & 63) {
        report_add(w, in, lane, TLE_EMU_REPORT_ALIGN, address, TENSOR_MAP_BYTES,
                   "tensor map is not at a multiple of 64");
        return false;
    }
    at = access_global(w, in, lane, address, TENSOR_MAP_BYTES, ACCESS_READ);
    if (!at)
        return false;
    memcpy(m, at, sizeof *m);
    why = refusal(in, m);
    if (why)
        report_add(w, in, lane, TLE_EMU_REPORT_BAD_OPERAND, address, TENSOR_MAP_BYTES, "%s", why);
    return why == NULL;
}

/* What makes an H200 stop with an illegal instruction. */
static bool coordinates_allowed(Warp *w, const Insn *in, uint32_t lane, const AsyncOp *op) {
    if ((int64_t)op->coord[0] * tensor_type_bytes(op->map.type) % 16) {
        report_add(w, in, lane, TLE_EMU_REPORT_BAD_OPERAND, 0, 0,
                   "coordinate %d is not at a multiple of 16 bytes of its row", op->coord[0]);
        return false;
    }
    for (uint32_t k = 0; in->bulk->to_global && k < op->map.rank; k++)
        if (op->coord[k] < 0) {
            report_add(w, in, lane, TLE_EMU_REPORT_BAD_OPERAND, 0, 0,
                       "negative coordinate %d of dimension %u of a store", op->coord[k], k);
            return false;
        }
    return true;
}

static void bind(Warp *w, const Insn *in, uint32_t lane, AsyncOp *op, uint64_t tile) {
    const BulkArgs *b = in->bulk;
    AccessKind kind = !b->to_global ? ACCESS_READ : b->reduce ? ACCESS_ATOMIC : ACCESS_WRITE;
    Check c = {w, in, lane, tensor_type_bytes(op->map.type), kind, op};
    uint32_t bytes = tensor_rows(&op->map) * tensor_pitch(&op->map);
    if (op->map.swizzle)
        bytes = (bytes + 127) & ~127u; /* units move within 128 bytes */
    bool gaps = bytes != tensor_box_bytes(&op->map);
    if (!coordinates_allowed(w, in, lane, op))
        return;
    if ((tile & 127) && (w->launch->checks & TLE_EMU_CHECK_ALIGN)) {
        report_add(w, in, lane, TLE_EMU_REPORT_ALIGN, tile, bytes,
                   "box in shared memory is not at a multiple of 128");
        return;
    }
    uint8_t *at = async_shared(w, in, lane, tile, bytes, b->to_global ? ACCESS_READ : ACCESS_WRITE,
                               op, &op->tile_cta, &op->tile_at);
    if (!at || !for_rows(&op->map, op->coord, check_row, &c))
        return;
    op->run = b->to_global ? store : load;
    op->tile_bytes = bytes;
    bulk_cost(op, tensor_box_bytes(&op->map));
    if (b->to_global)
        return;
    op->to_cta = op->tile_cta;
    if (!gaps)
        async_begin_write(op, at, bytes);
}

static void issue(Warp *w, const Insn *in, uint32_t lane, const TensorMap *m, uint64_t tile,
                  uint64_t barrier) {
    AsyncOp *op = async_issue(w, in, 1u << lane, NULL);
    uint32_t offset;
    op->map = *m;
    for (uint32_t k = 0; k < in->bulk->rank; k++)
        op->coord[k] = (int32_t)plane32(w, in->bulk->coord[k])[lane];
    if (in->bulk->to_global) {
        async_join_group(op, GROUP_BULK);
    } else {
        Cta *c = access_shared(w, barrier, 8, &offset);
        if (c)
            async_use_channel(op, mbarrier_channel(w, c, offset));
        if (!bulk_barrier(w, in, lane, barrier, op, tensor_box_bytes(m)))
            return;
    }
    bind(w, in, lane, op, tile);
}

void tensor_issue(Warp *w, const Insn *in, uint32_t lane) {
    const BulkArgs *b = in->bulk;
    TensorMap m;
    uint64_t map = bulk_address(w, b->to_global ? b->to : b->from, lane);
    if (!get_map(w, in, lane, map, &m) || b->prefetch)
        return;
    uint64_t tile = bulk_address(w, b->to_global ? b->from : b->to, lane);
    uint64_t barrier = b->has_barrier ? bulk_address(w, b->barrier, lane) : 0;
    uint32_t ctas = b->multicast ? bulk_destinations(w, in, lane) : 0;
    if (!b->multicast)
        issue(w, in, lane, &m, tile, barrier);
    for (uint32_t r = 0; ctas >> r; r++)
        if (ctas >> r & 1)
            issue(w, in, lane, &m, bulk_in_cta(tile, r), bulk_in_cta(barrier, r));
}
