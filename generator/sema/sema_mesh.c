/* Meshes: device_mesh, MeshConfig, sub-meshes, reshape, flatten, attributes. */
#include "sema/sema_mesh.h"

#include "sema/sema_builtin.h"
#include <string.h>

/* --- questions --- */

SVal sv_mesh(const SMesh *mesh) {
    SVal x = sv_none();
    x.kind = SV_MESH;
    x.mesh = mesh;
    return x;
}

bool arg_mesh(Sema *s, SVal x, const char *name, Span at, const SMesh **out) {
    if (x.kind != SV_MESH) {
        sema_error(s, DIAG_SEMA_TYPE, at, "'%s' must be a device_mesh, found %s", name,
                   sv_describe(s, x));
        return false;
    }
    *out = x.mesh;
    return true;
}

int64_t mesh_size(const SMeshDims *d) {
    int64_t size = 1;
    for (uint32_t i = 0; i < d->len; i++)
        size *= d->size[i];
    return size;
}

bool mesh_names(Sema *s, const SMeshDims *d, const char *part) {
    for (uint32_t i = 0; i < d->len; i++)
        if (strstr(str_text(s->strings, d->name[i]), part))
            return true;
    return false;
}

const char *mesh_text(Sema *s, const SMesh *mesh) {
    StrBuf b;
    strbuf_init(&b, s->arena);
    strbuf_addz(&b, "a device_mesh of");
    for (uint32_t i = 0; i < mesh->dims.len; i++)
        strbuf_addf(&b, "%s %s=%lld", i ? "," : "", str_text(s->strings, mesh->dims.name[i]),
                    (long long)mesh->dims.size[i]);
    if (!mesh->dims.len)
        strbuf_addz(&b, " one member");
    return b.text;
}

/* --- device_mesh --- */

static bool add_dim(Sema *s, SMesh *m, Str name, SVal size, Span at) {
    const char *text = str_text(s->strings, name);
    if (size.kind != SV_INT) {
        sema_error(s, DIAG_SEMA_TYPE, at, "the size of '%s' must be an integer, found %s", text,
                   sv_describe(s, size));
        return false;
    }
    if (size.num.i <= 0 || size.num.i > MESH_MAX_SIZE ||
        mesh_size(&m->dims) * size.num.i > MESH_MAX_SIZE) {
        sema_error(s, DIAG_SEMA_RANGE, at, "the size of '%s' is %lld; a mesh has 1 to %d members",
                   text, (long long)size.num.i, MESH_MAX_SIZE);
        return false;
    }
    for (uint32_t i = 0; i < m->dims.len; i++) {
        if (m->dims.name[i] == name) {
            sema_error(s, DIAG_SEMA_NAME, at, "the mesh has two dimensions '%s'", text);
            return false;
        }
    }
    if (m->dims.len == MESH_MAX_DIMS) {
        sema_error(s, DIAG_SEMA_RANGE, at, "a mesh has at most %d dimensions", MESH_MAX_DIMS);
        return false;
    }
    m->dims.name[m->dims.len] = name;
    m->dims.size[m->dims.len++] = size.num.i;
    return true;
}

static bool is_named(Sema *s, SVal x) {
    return x.kind == SV_STR && str_len(s->strings, x.str);
}

/* level: n, or level: [(name, n), ...]. */
static bool add_level(Sema *s, SMesh *m, SVal level, SVal value, Span at) {
    if (!is_named(s, level)) {
        sema_error(s, DIAG_SEMA_TYPE, at, "a level of a mesh is a non-empty string, found %s",
                   sv_describe(s, level));
        return false;
    }
    const char *name = str_text(s->strings, level.str);
    if (value.kind == SV_INT)
        return add_dim(s, m, level.str, value, at);
    if (value.kind != SV_TUPLE || !value.len) {
        sema_error(s, DIAG_SEMA_TYPE, at,
                   "level '%s' must be a size or a list of (name, size), found %s", name,
                   sv_describe(s, value));
        return false;
    }
    for (uint32_t i = 0; i < value.len; i++) {
        SVal pair = value.items[i];
        if (pair.kind != SV_TUPLE || pair.len != 2 || !is_named(s, pair.items[0])) {
            sema_error(s, DIAG_SEMA_TYPE, at, "entry %u of level '%s' must be (name, size)", i,
                       name);
            return false;
        }
        if (!add_dim(s, m, pair.items[0].str, pair.items[1], at))
            return false;
    }
    return true;
}

static const int64_t *first_ids(Sema *s, uint32_t n) {
    int64_t *ids = arena_array(s->arena, int64_t, n);
    for (uint32_t i = 0; i < n; i++)
        ids[i] = i;
    return ids;
}

SVal b_device_mesh(Sema *s, const SVal *a, Span at) {
    SMesh *m = arena_new_of(s->arena, SMesh);
    if (a[0].kind != SV_DICT)
        return sema_error(s, DIAG_SEMA_TYPE, at, "'topology' must be a dict of levels, found %s",
                          sv_describe(s, a[0]));
    if (!a[0].len)
        return sema_error(s, DIAG_SEMA_RANGE, at, "'topology' is empty");
    for (uint32_t i = 0; i < a[0].len; i++)
        if (!add_level(s, m, a[0].items[2 * i], a[0].items[2 * i + 1], at))
            return sv_error();
    m->launch = m->dims;
    m->count = (uint32_t)mesh_size(&m->dims);
    m->ids = first_ids(s, m->count);
    return sv_mesh(m);
}

SVal b_mesh_config(Sema *s, const SVal *a, Span at) {
    static const char *const levels[] = {"node", "device", "chiplet", "block_cluster", "block"};
    enum { LEVELS = sizeof levels / sizeof *levels };
    SVal d = {.kind = SV_DICT, .items = arena_array(s->arena, SVal, 2 * LEVELS)};
    (void)at;
    for (uint32_t i = 0; i < LEVELS; i++) {
        if (a[i].kind == SV_NONE)
            continue;
        d.items[2 * d.len] = sv_str(str_internz(s->strings, levels[i]));
        d.items[2 * d.len++ + 1] = a[i];
    }
    return d;
}

/* --- other views --- */

static SVal reshape(Sema *s, const SMesh *from, const SMeshDims *dims) {
    SMesh *m = arena_new_of(s->arena, SMesh);
    *m = *from;
    m->dims = *dims;
    for (uint32_t i = 0; i < dims->len; i++) {
        char name[16] = "flat";
        if (dims->len > 1) {
            StrBuf b;
            strbuf_init(&b, s->arena);
            strbuf_addf(&b, "dim%u", i);
            memcpy(name, b.text, b.len + 1);
        }
        m->dims.name[i] =
            dims->len == from->dims.len ? from->dims.name[i] : str_internz(s->strings, name);
    }
    return sv_mesh(m);
}

SVal b_mesh_flatten(Sema *s, const SVal *a, Span at) {
    SMeshDims one = {.len = 1, .size = {a[0].mesh->count}};
    (void)at;
    return reshape(s, a[0].mesh, &one);
}

SVal b_mesh_reshape(Sema *s, const SVal *a, Span at) {
    SVal list = a[1].len == 1 && a[1].items[0].kind == SV_TUPLE ? a[1].items[0] : a[1];
    SMeshDims d = {.len = list.len};
    if (!list.len || list.len > MESH_MAX_DIMS)
        return sema_error(s, DIAG_SEMA_SHAPE, at, "a mesh has 1 to %d dimensions, found %u",
                          MESH_MAX_DIMS, list.len);
    for (uint32_t i = 0; i < list.len; i++) {
        if (!arg_int(s, list.items[i], "shape", at, &d.size[i]))
            return sv_error();
        if (d.size[i] <= 0 || d.size[i] > MESH_MAX_SIZE)
            return sema_error(s, DIAG_SEMA_RANGE, at, "dimension %u of 'shape' is %lld", i,
                              (long long)d.size[i]);
    }
    int64_t size = 1;
    for (uint32_t i = 0; i < d.len && size <= MESH_MAX_SIZE; i++)
        size *= d.size[i];
    if (size != a[0].mesh->count)
        return sema_error(s, DIAG_SEMA_SHAPE, at,
                          "%s has %u members, which do not fit a shape of %lld",
                          sv_describe(s, a[0]), a[0].mesh->count, (long long)size);
    return reshape(s, a[0].mesh, &d);
}

/* --- sub-meshes --- */

typedef struct Pick { /* first, first + step, ... */
    int64_t first, step;
    uint32_t count;
    bool keep; /* the dimension stays */
} Pick;

static int64_t clamped(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

/* As Python's slice.indices. */
static bool pick_slice(Sema *s, SVal slice, int64_t size, Span at, Pick *out) {
    int64_t part[3] = {0, 0, 1};
    bool given[3] = {false, false, false};
    for (uint32_t i = 0; slice.items && i < 3; i++) {
        given[i] = slice.items[i].kind != SV_NONE;
        if (given[i] && !arg_int(s, slice.items[i], "slice", at, &part[i]))
            return false;
    }
    if (!part[2]) {
        sema_error(s, DIAG_SEMA_RANGE, at, "the step of a slice is 0");
        return false;
    }
    bool down = part[2] < 0;
    int64_t low = down ? -1 : 0, high = down ? size - 1 : size;
    for (uint32_t i = 0; i < 2; i++) {
        int64_t x = part[i] < 0 ? part[i] + size : part[i];
        bool at_high = (i == 0) == down;
        part[i] = !given[i] ? (at_high ? high : low) : clamped(x, low, high);
    }
    int64_t span = down ? part[0] - part[1] : part[1] - part[0], step = down ? -part[2] : part[2];
    *out = (Pick){part[0], part[2], span > 0 ? (uint32_t)((span - 1) / step + 1) : 0, true};
    if (!out->count)
        sema_error(s, DIAG_SEMA_RANGE, at, "the sub-mesh is empty");
    return out->count != 0;
}

static bool pick_dim(Sema *s, SVal key, int64_t size, Span at, Pick *out) {
    if (key.kind == SV_SLICE)
        return pick_slice(s, key, size, at, out);
    if (key.kind != SV_INT) {
        sema_error(s, DIAG_SEMA_TYPE, at, "a mesh is indexed by integers, slices and ..., found %s",
                   sv_describe(s, key));
        return false;
    }
    int64_t i = key.num.i + (key.num.i < 0 ? size : 0);
    if (i < 0 || i >= size) {
        sema_error(s, DIAG_SEMA_RANGE, at, "index %lld is outside a mesh dimension of %lld",
                   (long long)key.num.i, (long long)size);
        return false;
    }
    *out = (Pick){i, 1, 1, false};
    return true;
}

/* One key per dimension: "..." and missing ones are full slices. */
static bool expand_key(Sema *s, const SMesh *m, SVal key, Span at, SVal out[MESH_MAX_DIMS]) {
    uint32_t n = key.kind == SV_TUPLE ? key.len : 1, dots = 0, at_dim = 0;
    const SVal *items = key.kind == SV_TUPLE ? key.items : &key;
    for (uint32_t i = 0; i < n; i++)
        dots += items[i].kind == SV_ELLIPSIS;
    if (dots > 1 || n - dots > m->dims.len) {
        sema_error(s, DIAG_SEMA_SHAPE, at,
                   dots > 1 ? "an index takes one '...'"
                            : "%u indices into a mesh of %u dimensions",
                   n - dots, m->dims.len);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t skipped = items[i].kind == SV_ELLIPSIS ? m->dims.len - (n - 1) : 0;
        for (uint32_t k = 0; k < skipped; k++)
            out[at_dim++] = (SVal){.kind = SV_SLICE};
        if (items[i].kind != SV_ELLIPSIS)
            out[at_dim++] = items[i];
    }
    while (at_dim < m->dims.len)
        out[at_dim++] = (SVal){.kind = SV_SLICE};
    return true;
}

/* Member `i` of the picked ones, row-major. */
static int64_t picked_id(const SMesh *m, const Pick *pick, uint32_t i) {
    int64_t index = 0, stride = 1;
    for (uint32_t d = m->dims.len; d-- > 0;) {
        index += (pick[d].first + pick[d].step * (i % pick[d].count)) * stride;
        stride *= m->dims.size[d];
        i /= pick[d].count;
    }
    return m->ids[index];
}

SVal mesh_subscript(Sema *s, SVal mesh, SVal key, Span at) {
    const SMesh *m = mesh.mesh;
    SVal keys[MESH_MAX_DIMS];
    Pick pick[MESH_MAX_DIMS];
    SMesh *out = arena_new_of(s->arena, SMesh);
    if (!expand_key(s, m, key, at, keys))
        return sv_error();
    out->launch = m->launch;
    out->count = 1;
    for (uint32_t d = 0; d < m->dims.len; d++) {
        if (!pick_dim(s, keys[d], m->dims.size[d], at, &pick[d]))
            return sv_error();
        out->count *= pick[d].count;
        if (!pick[d].keep)
            continue;
        out->dims.size[out->dims.len] = pick[d].count;
        out->dims.name[out->dims.len++] = m->dims.name[d];
    }
    int64_t *ids = arena_array(s->arena, int64_t, out->count);
    for (uint32_t i = 0; i < out->count; i++)
        ids[i] = picked_id(m, pick, i);
    out->ids = ids;
    return sv_mesh(out);
}

/* --- attributes --- */

static SVal ints(Sema *s, const int64_t *values, uint32_t n) {
    SVal t = {.kind = SV_TUPLE, .len = n, .items = arena_array(s->arena, SVal, n + 1)};
    for (uint32_t i = 0; i < n; i++)
        t.items[i] = sv_int(values[i]);
    return t;
}

static SVal names(Sema *s, const SMeshDims *d) {
    SVal t = ints(s, d->size, d->len);
    for (uint32_t i = 0; i < d->len; i++)
        t.items[i] = sv_str(d->name[i]);
    return t;
}

bool mesh_attribute(Sema *s, SVal mesh, const char *name, SVal *out) {
    const SMesh *m = mesh.mesh;
    if (!strcmp(name, "shape"))
        *out = ints(s, m->dims.size, m->dims.len);
    else if (!strcmp(name, "ndim"))
        *out = sv_int(m->dims.len);
    else if (!strcmp(name, "dim_names"))
        *out = names(s, &m->dims);
    else if (!strcmp(name, "physical_ids"))
        *out = ints(s, m->ids, m->count);
    else if (!strcmp(name, "launch_shape"))
        *out = ints(s, m->launch.size, m->launch.len);
    else if (!strcmp(name, "launch_dim_names"))
        *out = names(s, &m->launch);
    else if (!strcmp(name, "size"))
        *out = sv_int(m->count);
    else
        return false;
    return true;
}
