/* Clusters: shard_id, remote, distributed_barrier.
 *
 * Naming a mesh in one of them fixes the kernel's launch: the cluster, or for a barrier of the grid
 * the cooperative launch. A CTA's place in the launch mesh is its rank in the cluster, row-major.
 */
#include "sema/sema_builtin.h"
#include "sema/sema_mesh.h"
#include <string.h>

/* --- the launch --- */

static IrOp kernel_of(const Sema *s) {
    return ir_func(s->m, ir_func_count(s->m) - 1);
}

static bool clustered(const SMeshDims *d, Sema *s, const char *part, int64_t out[3]) {
    uint32_t n = 0;
    int64_t size[MESH_MAX_DIMS], all = 1;
    for (uint32_t i = 0; i < d->len; i++)
        if (strstr(str_text(s->strings, d->name[i]), part))
            all *= size[n++] = d->size[i];
    for (uint32_t i = 0; i < 3; i++)
        out[i] = n > 3 ? (i ? 1 : all) : i < n ? size[i] : 1;
    return n != 0;
}

/* The sizes of the dimensions whose names say "cluster", else "block", else of all. */
static void cluster_of(Sema *s, const SMesh *m, int64_t out[3]) {
    if (!clustered(&m->launch, s, "cluster", out) && !clustered(&m->launch, s, "block", out))
        clustered(&m->launch, s, "", out);
}

static bool read_cluster(const Sema *s, int64_t out[3]) {
    const IrAttrData *a = ir_attr(s->m, kernel_of(s), IR_KEY_CLUSTER);
    for (uint32_t i = 0; i < 3; i++)
        out[i] = a && i < a->len ? a->ints[i] : 1;
    return a != NULL;
}

static bool set_cluster(Sema *s, const SMesh *m, Span at) {
    int64_t want[3], have[3];
    cluster_of(s, m, want);
    int64_t size = want[0] * want[1] * want[2];
    if (size > 1 && s->request->sm < MESH_FIRST_SM) {
        sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                   "clusters, which came with sm_%d: the target is %s", MESH_FIRST_SM,
                   s->request->arch);
        return false;
    }
    if (size > MESH_MAX_CLUSTER) {
        sema_error(s, DIAG_SEMA_RANGE, at,
                   "the mesh asks for clusters of %lld CTAs; the most is %d", (long long)size,
                   MESH_MAX_CLUSTER);
        return false;
    }
    if (read_cluster(s, have) && memcmp(have, want, sizeof have)) {
        sema_error(
            s, DIAG_SEMA_SHAPE, at,
            "the mesh asks for clusters of (%lld, %lld, %lld), another one in this kernel for "
            "(%lld, %lld, %lld)",
            (long long)want[0], (long long)want[1], (long long)want[2], (long long)have[0],
            (long long)have[1], (long long)have[2]);
        return false;
    }
    if (ir_int(s->m, kernel_of(s), IR_KEY_COOPERATIVE, 0)) {
        sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                   "a kernel with a barrier of the grid cannot have clusters");
        return false;
    }
    ir_set_ints(s->m, kernel_of(s), IR_KEY_CLUSTER, want, 3);
    return true;
}

static IrValue rank_value(Sema *s) {
    IrType t = ir_scalar(s->m, IR_I32);
    return ir_result(s->m, ir_build(&s->b, IR_OP_CLUSTER_RANK, NULL, 0, &t, 1), 0);
}

static IrValue number(Sema *s, int64_t x) {
    return ir_build_int(&s->b, ir_scalar(s->m, IR_I32), x);
}

/* --- shard_id --- */

static bool find_axis(Sema *s, const SMeshDims *d, SVal axis, Span at, uint32_t *out) {
    if (axis.kind == SV_STR) {
        for (*out = 0; *out < d->len; ++*out)
            if (d->name[*out] == axis.str)
                return true;
        sema_error(s, DIAG_SEMA_NAME, at, "the launch mesh has no axis '%s'",
                   str_text(s->strings, axis.str));
        return false;
    }
    int64_t i;
    if (!arg_int(s, axis, "axis", at, &i))
        return false;
    if (i < -(int64_t)d->len || i >= d->len) {
        sema_error(s, DIAG_SEMA_RANGE, at, "axis %lld is outside a launch mesh of %u dimensions",
                   (long long)i, d->len);
        return false;
    }
    *out = (uint32_t)(i < 0 ? i + d->len : i);
    return true;
}

static bool whole_cluster(Sema *s, const SMesh *m, Span at) {
    int64_t c[3];
    read_cluster(s, c);
    if (mesh_size(&m->launch) == c[0] * c[1] * c[2])
        return true;
    sema_error(s, DIAG_SEMA_SHAPE, at, "the launch mesh has %lld members, the cluster %lld CTAs",
               (long long)mesh_size(&m->launch), (long long)(c[0] * c[1] * c[2]));
    return false;
}

SVal b_shard_id(Sema *s, const SVal *a, Span at) {
    const SMesh *m;
    uint32_t axis;
    int64_t stride = 1;
    if (a[2].kind != SV_NONE)
        return sema_unsupported_argument(s, "tle.shard_id", "device_dptr", at);
    if (!arg_mesh(s, a[0], "mesh", at, &m) || !find_axis(s, &m->launch, a[1], at, &axis))
        return sv_error();
    const char *name = str_text(s->strings, m->launch.name[axis]);
    if (!strcmp(name, "node") || !strcmp(name, "device") || !strcmp(name, "chiplet"))
        return sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                          "shard_id along '%s' is not available on this target", name);
    if (!set_cluster(s, m, at) || !whole_cluster(s, m, at))
        return sv_error();
    for (uint32_t d = axis + 1; d < m->launch.len; d++)
        stride *= m->launch.size[d];
    s->b.span = at;
    IrValue x = rank_value(s);
    if (stride > 1)
        x = ir_build2(&s->b, IR_OP_UDIV, x, number(s, stride));
    if (axis && m->launch.size[axis] > 1)
        x = ir_build2(&s->b, IR_OP_UREM, x, number(s, m->launch.size[axis]));
    return m->launch.size[axis] == 1 ? sv_tensor(s, number(s, 0), dt(D_INT32))
                                     : sv_tensor(s, x, dt(D_INT32));
}

/* --- remote --- */

/* Row-major place of a tuple of coordinates in the scope. */
static bool linear_shard(Sema *s, SVal x, const SMesh *scope, Span at, int64_t *out) {
    *out = 0;
    if (!scope) {
        sema_error(s, DIAG_SEMA_CALL, at, "a tuple 'shard_id' needs 'scope'");
        return false;
    }
    if (x.len != scope->dims.len || !x.len) {
        sema_error(s, DIAG_SEMA_SHAPE, at, "'shard_id' is a tuple of %u, 'scope' has %u dimensions",
                   x.len, scope->dims.len);
        return false;
    }
    for (uint32_t d = 0; d < x.len; d++) {
        int64_t i;
        if (!arg_int(s, x.items[d], "shard_id", at, &i))
            return false;
        if (i < 0 || i >= scope->dims.size[d]) {
            sema_error(s, DIAG_SEMA_RANGE, at,
                       "coordinate %lld is outside a mesh dimension of %lld", (long long)i,
                       (long long)scope->dims.size[d]);
            return false;
        }
        *out = *out * scope->dims.size[d] + i;
    }
    return true;
}

static bool constant_shard(Sema *s, SVal x, const SMesh *scope, Span at, SVal *out) {
    int64_t c[3], i = x.num.i;
    if (x.kind == SV_TUPLE && !linear_shard(s, x, scope, at, &i))
        return false;
    bool known = read_cluster(s, c);
    if (i < 0 || i > INT32_MAX || (known && i >= c[0] * c[1] * c[2])) {
        sema_error(s, DIAG_SEMA_RANGE, at, "'shard_id' is %lld, outside the cluster", (long long)i);
        return false;
    }
    *out = sv_tensor(s, number(s, i), dt(D_INT32));
    return true;
}

/* The rank as an i32 tensor: a scalar, for pointers perhaps one of each. */
static bool shard_value(Sema *s, SVal x, const SMesh *scope, bool scalar, Span at, SVal *out) {
    if (x.kind == SV_INT || x.kind == SV_TUPLE)
        return constant_shard(s, x, scope, at, out);
    if (x.kind != SV_TENSOR || (scalar && x.rank) || !dt_is_int(x.dtype) ||
        dt_bits(x.dtype) != 32) {
        sema_error(s, DIAG_SEMA_TYPE, at,
                   "'shard_id' must be an integer, a tuple of them or %sint32, found %s",
                   scalar ? "a scalar " : "", sv_describe(s, x));
        return false;
    }
    *out = x;
    return true;
}

SVal sema_remote_pointer(Sema *s, SVal pointer, SVal rank) {
    IrValue operands[2] = {pointer.v, rank.v};
    DType t = dt_ptr(dt_pointee(pointer.dtype), IR_SPACE_CLUSTER);
    IrType type = sv_ir_type(s, t, pointer.rank, pointer.shape);
    return sv_tensor(s, ir_result(s->m, ir_build(&s->b, IR_OP_REMOTE, operands, 2, &type, 1), 0),
                     t);
}

static SVal remote_buffer(Sema *s, SVal b, SVal rank, Span at) {
    if (b.items)
        return sema_error(s, DIAG_SEMA_CALL, at, "the buffer is remote already");
    b.items = arena_array(s->arena, SVal, 1);
    b.items[0] = rank;
    return b;
}

SVal b_remote(Sema *s, const SVal *a, Span at) {
    const SMesh *scope = NULL;
    SVal rank;
    if (a[3].kind != SV_STR || strcmp(str_text(s->strings, a[3].str), "cluster"))
        return sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                          "'space' must be 'cluster' on this target, found %s",
                          sv_describe(s, a[3]));
    if (a[4].kind != SV_NONE || a[5].kind != SV_NONE)
        return sema_error(s, DIAG_SEMA_CALL, at, "'%s' has no meaning in space 'cluster'",
                          a[4].kind != SV_NONE ? "dtype" : "offset");
    if (a[2].kind != SV_NONE &&
        (!arg_mesh(s, a[2], "scope", at, &scope) || !set_cluster(s, scope, at)))
        return sv_error();
    s->b.span = at;
    if (!shard_value(s, a[1], scope, a[0].kind == SV_BUFFER, at, &rank))
        return sv_error();
    if (a[0].kind == SV_BUFFER)
        return remote_buffer(s, a[0], rank, at);
    if (a[0].kind != SV_TENSOR || !dt_is_ptr(a[0].dtype))
        return sema_error(s, DIAG_SEMA_TYPE, at, "'tensor' must be a buffer or pointers, found %s",
                          sv_describe(s, a[0]));
    if (a[0].dtype.space == IR_SPACE_CLUSTER && a[1].kind == SV_INT && a[1].num.i == 0)
        return a[0];
    if (a[0].dtype.space != IR_SPACE_SHARED)
        return sema_error(s, DIAG_SEMA_TYPE, at, "'tensor' must point into shared memory%s",
                          a[0].dtype.space == IR_SPACE_CLUSTER ? "; these are remote already" : "");
    SVal pointer = a[0];
    if (rank.rank && !sema_broadcast_pair(s, &pointer, &rank, at))
        return sv_error();
    s->b.span = at;
    return sema_remote_pointer(s, pointer, rank);
}

/* --- distributed_barrier --- */

static void group_barrier(Sema *s, IrValue word, IrValue increment, int64_t scope) {
    IrValue operands[2] = {word, increment};
    ir_set_int(s->m, ir_build(&s->b, IR_OP_GROUP_BARRIER, operands, 2, NULL, 0), IR_KEY_SCOPE,
               scope);
}

/* 2^31 - (n - 1) in the first member, 1 in the others. */
static IrValue increment_of(Sema *s, IrValue first, IrValue members) {
    IrValue base = number(s, (int64_t)INT32_MIN + 1);
    return ir_build_select(&s->b, first, ir_build2(&s->b, IR_OP_SUB, base, members), number(s, 1));
}

/* The parameter that the library points at a word that is zero. */
static IrValue grid_word(Sema *s) {
    IrBlock entry = ir_region_block(s->m, kernel_of(s), 0);
    Str name = str_internz(s->strings, "grid_barrier");
    uint32_t n = ir_arg_count(s->m, entry);
    if (n && ir_value_name(s->m, ir_arg(s->m, entry, n - 1)) == name)
        return ir_arg(s->m, entry, n - 1);
    IrValue word = ir_add_arg(s->m, entry, ir_ptr(s->m, ir_scalar(s->m, IR_I32), IR_SPACE_GLOBAL));
    ir_set_value_name(s->m, word, name);
    ir_set_param_fact(s->m, kernel_of(s), n, 16);
    return word;
}

static IrValue launch_value(Sema *s, IrKind kind, int64_t axis) {
    IrType t = ir_scalar(s->m, IR_I32);
    IrOp op = ir_build(&s->b, kind, NULL, 0, &t, 1);
    ir_set_int(s->m, op, IR_KEY_AXIS, axis);
    return ir_result(s->m, op, 0);
}

static SVal grid_barrier(Sema *s, Span at) {
    int64_t c[3];
    if (read_cluster(s, c) && c[0] * c[1] * c[2] != 1)
        return sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                          "a kernel with clusters cannot have a barrier of the grid");
    ir_set_int(s->m, kernel_of(s), IR_KEY_COOPERATIVE, 1);
    IrValue word = grid_word(s), members = number(s, 1), id = number(s, 0);
    for (int64_t axis = 0; axis < 3; axis++) {
        members = ir_build2(&s->b, IR_OP_MUL, members, launch_value(s, IR_OP_NUM_PROGRAMS, axis));
        id = ir_build2(&s->b, IR_OP_OR, id, launch_value(s, IR_OP_PROGRAM_ID, axis));
    }
    IrValue first = ir_build_cmp(&s->b, IR_OP_ICMP, IR_CMP_EQ, id, number(s, 0));
    group_barrier(s, word, increment_of(s, first, members), IR_SCOPE_GPU);
    return sv_none();
}

static SVal cluster_barrier(Sema *s, int kind, bool relaxed) {
    if (kind != 2) {
        IrOp op = ir_build(&s->b, IR_OP_CLUSTER_ARRIVE, NULL, 0, NULL, 0);
        if (relaxed)
            ir_set_int(s->m, op, IR_KEY_SEM, IR_SEM_RELAXED);
    }
    if (kind != 1)
        ir_build(&s->b, IR_OP_CLUSTER_WAIT, NULL, 0, NULL, 0);
    return sv_none();
}

/* The counters of sub-meshes: one buffer per set of members, at the kernel's start, zeroed there. A
 * buffer is found again by the name that lists its members. */
static IrValue submesh_word(Sema *s, const SMesh *m) {
    IrBlock entry = ir_region_block(s->m, kernel_of(s), 0);
    IrBuilder b = {.m = s->m, .span = s->b.span, .block = entry, .before = ir_first(s->m, entry)};
    StrBuf text;
    strbuf_init(&text, s->arena);
    strbuf_addz(&text, "submesh");
    for (uint32_t i = 0; i < m->count; i++)
        strbuf_addf(&text, "_%lld", (long long)m->ids[i]);
    Str name = str_internz(s->strings, text.text);
    for (IrOp op = ir_first(s->m, entry); op; op = ir_next(s->m, op))
        if (ir_kind(s->m, op) == IR_OP_SHARED_ALLOC &&
            ir_value_name(s->m, ir_result(s->m, op, 0)) == name)
            return ir_result(s->m, op, 0);
    int64_t words = 4; /* 16 bytes: nothing shares its granule */
    IrType i32 = ir_scalar(s->m, IR_I32), buffer = ir_buf(s->m, i32, 1, &words, 0),
           pointer = ir_ptr(s->m, i32, IR_SPACE_SHARED);
    IrValue word = ir_result(s->m, ir_build(&b, IR_OP_SHARED_ALLOC, NULL, 0, &buffer, 1), 0);
    IrValue zero = ir_build_int(&b, i32, 0), place[2] = {word, zero};
    IrValue at = ir_result(s->m, ir_build(&b, IR_OP_LOCAL_PTR, place, 2, &pointer, 1), 0);
    IrValue stored[2] = {at, zero};
    ir_build(&b, IR_OP_STORE, stored, 2, NULL, 0);
    ir_set_value_name(s->m, word, name);
    return word;
}

static bool check_submesh(Sema *s, const SMesh *m, Span at) {
    const char *text = mesh_text(s, m);
    if (!m->dims.len) {
        sema_error(s, DIAG_SEMA_UNSUPPORTED, at, "a barrier of a sub-mesh without dimensions");
        return false;
    }
    for (uint32_t d = 0; d < m->dims.len; d++) {
        bool found = false;
        for (uint32_t k = 0; k < m->launch.len; k++)
            found |= m->launch.name[k] == m->dims.name[d];
        if (!found) {
            sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                       "a barrier of %s, whose axis '%s' is none of the launch mesh", text,
                       str_text(s->strings, m->dims.name[d]));
            return false;
        }
    }
    return whole_cluster(s, m, at);
}

/* rank is one of the ids */
static IrValue is_member(Sema *s, const SMesh *m, IrValue rank) {
    int64_t mask = 0;
    for (uint32_t i = 0; i < m->count; i++)
        mask |= INT64_C(1) << m->ids[i];
    IrValue bit = ir_build2(&s->b, IR_OP_LSHR, number(s, mask), rank);
    bit = ir_build2(&s->b, IR_OP_AND, bit, number(s, 1));
    return ir_build_cmp(&s->b, IR_OP_ICMP, IR_CMP_NE, bit, number(s, 0));
}

static void end_region(IrBuilder b, IrBlock block) {
    ir_at_end(&b, block);
    ir_build(&b, IR_OP_YIELD, NULL, 0, NULL, 0);
}

static SVal submesh_barrier(Sema *s, const SMesh *m, Span at) {
    if (!check_submesh(s, m, at))
        return sv_error();
    IrValue buffer = submesh_word(s, m), rank = rank_value(s);
    IrValue inside = is_member(s, m, rank);
    IrOp branch = ir_build(&s->b, IR_OP_IF, &inside, 1, NULL, 0);
    IrBuilder outer = s->b;
    ir_at_end(&s->b, ir_region_block(s->m, branch, 0));
    IrType i32 = ir_scalar(s->m, IR_I32), local = ir_ptr(s->m, i32, IR_SPACE_SHARED),
           there = ir_ptr(s->m, i32, IR_SPACE_CLUSTER);
    IrValue place[2] = {buffer, number(s, 0)};
    IrValue word = ir_result(s->m, ir_build(&s->b, IR_OP_LOCAL_PTR, place, 2, &local, 1), 0);
    IrValue leader = number(s, m->ids[0]), target[2] = {word, leader};
    word = ir_result(s->m, ir_build(&s->b, IR_OP_REMOTE, target, 2, &there, 1), 0);
    IrValue first = ir_build_cmp(&s->b, IR_OP_ICMP, IR_CMP_EQ, rank, leader);
    group_barrier(s, word, increment_of(s, first, number(s, m->count)), IR_SCOPE_CLUSTER);
    s->b = outer;
    end_region(outer, ir_region_block(s->m, branch, 0));
    end_region(outer, ir_region_block(s->m, branch, 1));
    return sv_none();
}

static bool is_grid(Sema *s, const SMesh *m) {
    const SMeshDims *d = m->dims.len ? &m->dims : &m->launch;
    return !mesh_names(s, d, "cluster") && mesh_names(s, d, "block");
}

SVal b_distributed_barrier(Sema *s, const SVal *a, Span at) {
    static const char *const kinds[] = {"sync", "arrive", "wait", NULL};
    static const char *const orders[] = {"acqrel", "relaxed", NULL};
    const SMesh *m = NULL;
    int64_t c[3];
    int kind, order;
    if (a[1].kind != SV_NONE)
        return sema_unsupported_argument(s, "tle.distributed_barrier", "device_dptr", at);
    if (a[2].kind != SV_NONE &&
        (a[2].kind != SV_STR || strcmp(str_text(s->strings, a[2].str), "cluster")))
        return sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                          "a barrier of space %s is not available on this target",
                          sv_describe(s, a[2]));
    if (!arg_choice(s, a[4], "barrier_kind", kinds, 0, at, &kind) ||
        !arg_choice(s, a[5], "order", orders, 0, at, &order) ||
        (a[0].kind != SV_NONE && !arg_mesh(s, a[0], "mesh", at, &m)))
        return sv_error();
    bool grid = m && is_grid(s, m);
    if (m && !grid && !set_cluster(s, m, at))
        return sv_error();
    s->b.span = at;
    read_cluster(s, c);
    int64_t size = c[0] * c[1] * c[2];
    if (m && !grid && m->count > size)
        return sema_error(s, DIAG_SEMA_SHAPE, at, "%s is larger than the cluster of %lld CTAs",
                          mesh_text(s, m), (long long)size);
    bool whole = !m || (!grid && m->count == size);
    if (!whole && (kind || order))
        return sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                          "only a barrier of the whole cluster has halves and orders");
    if (whole)
        return cluster_barrier(s, kind, order == 1);
    return grid ? grid_barrier(s, at) : submesh_barrier(s, m, at);
}
