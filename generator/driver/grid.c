/* Reading and validating grid files, see grid.h. Every object is checked against the keys it may
 * have, so that a misspelt key is an error and not a default. */
#include "driver/grid.h"

#include "base/vec.h"
#include "pass/pass.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

typedef struct Reader {
    Arena *arena;
    const char *why; /* the first error */
    const char *folder;
    VEC(GridVariant) variants;
} Reader;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void fail(Reader *r, const char *format, ...) {
    StrBuf b;
    va_list args;

    if (r->why)
        return;
    strbuf_init(&b, r->arena);
    va_start(args, format);
    strbuf_vaddf(&b, format, args);
    va_end(args);
    r->why = b.text;
}

/* --- fields --- */

/* `keys` is a space-separated list with a space at both ends. */
static bool check_keys(Reader *r, const cJSON *object, const char *where, const char *keys) {
    if (!cJSON_IsObject(object)) {
        fail(r, "%s is no object", where);
        return false;
    }
    for (const cJSON *x = object->child; x; x = x->next) {
        if (!strstr(keys, str_format(r->arena, " %s ", x->string)))
            fail(r, "%s has the unknown key '%s', expected one of%s", where, x->string, keys);
        for (const cJSON *y = x->next; y; y = y->next)
            if (!strcmp(x->string, y->string))
                fail(r, "%s has the key '%s' twice", where, x->string);
    }
    return !r->why;
}

static const char *text_field(Reader *r, const cJSON *object, const char *where, const char *key) {
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!cJSON_IsString(x) || !x->valuestring[0]) {
        fail(r, "%s.%s is missing or no text", where, key);
        return "";
    }
    return arena_strndup(r->arena, x->valuestring, strlen(x->valuestring));
}

static bool bool_field(Reader *r, const cJSON *object, const char *where, const char *key) {
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, key);

    if (x && !cJSON_IsBool(x))
        fail(r, "%s.%s is neither true nor false", where, key);
    return x && cJSON_IsTrue(x);
}

static const cJSON *array_field(Reader *r, const cJSON *object, const char *where,
                                const char *key) {
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!cJSON_IsArray(x) || !x->child)
        fail(r, "%s.%s is missing, empty or no array", where, key);
    return r->why ? NULL : x;
}

static bool is_whole(const cJSON *x) {
    return cJSON_IsNumber(x) && isfinite(x->valuedouble) && floor(x->valuedouble) == x->valuedouble;
}

static uint32_t warps_field(Reader *r, const cJSON *object, const char *where) {
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, "num_warps");

    if (is_whole(x) && x->valuedouble >= 1 && x->valuedouble <= 32) {
        uint32_t n = (uint32_t)x->valuedouble;

        if (!(n & (n - 1)))
            return n;
    }
    fail(r, "%s.num_warps is missing or no power of two from 1 to 32", where);
    return 1;
}

static uint32_t min_ctas_field(Reader *r, const cJSON *object, const char *where) {
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, "min_ctas");

    if (!x)
        return 0;
    if (!is_whole(x) || x->valuedouble < 1 || x->valuedouble > 32)
        fail(r, "%s.min_ctas is no whole number from 1 to 32", where);
    return (uint32_t)x->valuedouble;
}

/* --- signatures and constants --- */

static void put_param(Reader *r, ParamList *list, const cJSON *x, const char *where) {
    SemaParam p = {.name = arena_strndup(r->arena, x->string, strlen(x->string))};
    const char *why;

    if (!cJSON_IsString(x)) {
        fail(r, "%s.sig.%s is no text", where, x->string);
        return;
    }
    why = signature_type(r->arena, x->valuestring, &p);
    if (why)
        fail(r, "%s.sig.%s: %s", where, x->string, why);
    for (uint32_t i = 0; i < list->len; i++)
        if (!strcmp(list->at[i].name, p.name)) {
            list->at[i] = p;
            return;
        }
    list->at[list->len++] = p;
}

/* The kernel's signature with single parameters overridden by the variant's. */
static ParamList read_params(Reader *r, const cJSON *kernel, const cJSON *variant,
                             const char *kernel_where, const char *where) {
    const cJSON *common = cJSON_GetObjectItemCaseSensitive(kernel, "sig");
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(variant, "sig");
    int n = cJSON_GetArraySize(common) + cJSON_GetArraySize(own);
    ParamList list = {arena_array(r->arena, SemaParam, (size_t)n + 1), 0};

    if (!cJSON_IsObject(common))
        fail(r, "%s.sig is missing or no object", kernel_where);
    if (own && !cJSON_IsObject(own))
        fail(r, "%s.sig is no object", where);
    if (r->why)
        return list;
    for (const cJSON *x = common->child; x; x = x->next)
        put_param(r, &list, x, kernel_where);
    uint32_t known = list.len;
    for (const cJSON *x = own ? own->child : NULL; x && !r->why; x = x->next) {
        put_param(r, &list, x, where);
        if (list.len != known)
            fail(r, "%s.sig.%s is no parameter of %s.sig", where, x->string, kernel_where);
    }
    return list;
}

/* A JSON value as the Python literal that sema reads. */
static const char *python_literal(Reader *r, const cJSON *x, const char *where) {
    if (cJSON_IsBool(x))
        return cJSON_IsTrue(x) ? "True" : "False";
    if (cJSON_IsNull(x))
        return "None";
    if (is_whole(x) && fabs(x->valuedouble) < 9007199254740992.0)
        return str_format(r->arena, "%.0f", x->valuedouble);
    if (cJSON_IsNumber(x))
        return str_format(r->arena, "%.17g", x->valuedouble);
    if (cJSON_IsString(x) && x->valuestring[0] == '@') /* a name of the module */
        return str_format(r->arena, "%s", x->valuestring);
    if (cJSON_IsString(x) && !strpbrk(x->valuestring, "'\\\n"))
        return str_format(r->arena, "'%s'", x->valuestring);
    fail(r, "%s.const.%s is no number, truth value, null or plain text", where, x->string);
    return "None";
}

static ConstList read_consts(Reader *r, const cJSON *variant, const char *where) {
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(variant, "const");
    size_t n = (size_t)cJSON_GetArraySize(object);
    ConstList list = {arena_array(r->arena, SemaConst, n + 1), 0};

    if (object && !cJSON_IsObject(object)) {
        fail(r, "%s.const is no object", where);
        return list;
    }
    for (const cJSON *x = object ? object->child : NULL; x; x = x->next)
        list.at[list.len++] = (SemaConst){arena_strndup(r->arena, x->string, strlen(x->string)),
                                          python_literal(r, x, where)};
    return list;
}

/* --- legal --- */

static bool is_range(const cJSON *x) {
    return cJSON_IsArray(x) && cJSON_GetArraySize(x) == 2 && is_whole(x->child) &&
           is_whole(x->child->next) && x->child->valuedouble <= x->child->next->valuedouble;
}

static const char *json_text(Reader *r, const cJSON *x) {
    char *text = cJSON_PrintUnformatted(x);
    const char *copy = arena_strndup(r->arena, text ? text : "", text ? strlen(text) : 0);

    cJSON_free(text);
    return copy;
}

static const char *read_legal(Reader *r, const cJSON *variant, const char *where) {
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(variant, "legal");

    if (!object)
        return "{}";
    if (!cJSON_IsObject(object)) {
        fail(r, "%s.legal is no object", where);
        return "{}";
    }
    for (const cJSON *x = object->child; x; x = x->next) {
        bool align = !strcmp(x->string, "align") && is_whole(x) && x->valuedouble >= 1;

        if (!align && !is_range(x) && !cJSON_IsString(x))
            fail(r, "%s.legal.%s is neither [low, high], a text, nor a number for align", where,
                 x->string);
    }
    return json_text(r, object);
}

/* --- architectures --- */

enum { MAX_ARCHS = 64 };

static int arch_index(const Grid *g, const char *name) {
    for (uint32_t i = 0; i < g->n_archs; i++)
        if (!strcmp(g->archs[i], name))
            return (int)i;
    return -1;
}

bool grid_keep_arch(Grid *g, const char *arch) {
    int at = arch_index(g, arch);
    uint32_t kept = 0;

    if (at < 0)
        return false;
    for (uint32_t i = 0; i < g->n_variants; i++)
        if (g->variants[i].archs >> at & 1)
            g->variants[kept++] = g->variants[i];
    g->n_variants = kept;
    return true;
}

/* --- variants --- */

static bool is_variant_name(const char *name, const char *op) {
    size_t n = strlen(op);

    return !strncmp(name, op, n) && !strncmp(name + n, "__", 2) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static const char *content_text(Reader *r, const GridVariant *v) {
    StrBuf b;

    strbuf_init(&b, r->arena);
    strbuf_addf(&b, "%s\n%s\n%u %u\n%s\n%d\n", v->name, v->kernel, v->num_warps, v->min_ctas,
                v->legal, v->allow_spills);
    for (uint32_t i = 0; i < v->params.len; i++)
        strbuf_addf(&b, "%s:%s:%u\n", v->params.at[i].name, v->params.at[i].type,
                    v->params.at[i].divisible);
    for (uint32_t i = 0; i < v->consts.len; i++)
        strbuf_addf(&b, "%s=%s\n", v->consts.at[i].name, v->consts.at[i].value);
    return b.text;
}

static void read_variant(Reader *r, const Grid *g, const cJSON *kernel, const cJSON *variant,
                         uint64_t archs, const char *kernel_where, const char *where) {
    GridVariant v = {.archs = archs};

    if (!check_keys(r, variant, where, " name const num_warps min_ctas sig legal allow_spills "))
        return;
    v.source =
        str_format(r->arena, "%s%s", r->folder, text_field(r, kernel, kernel_where, "source"));
    v.kernel = text_field(r, kernel, kernel_where, "kernel");
    v.name = text_field(r, variant, where, "name");
    v.num_warps = warps_field(r, variant, where);
    v.min_ctas = min_ctas_field(r, variant, where);
    v.allow_spills = bool_field(r, variant, where, "allow_spills");
    v.params = read_params(r, kernel, variant, kernel_where, where);
    v.consts = read_consts(r, variant, where);
    v.legal = read_legal(r, variant, where);
    if (r->why)
        return;
    if (!is_variant_name(v.name, g->op))
        fail(r, "%s.name is '%s', expected %s__... of lower-case letters, digits and _", where,
             v.name, g->op);
    for (uint32_t i = 0; i < r->variants.len; i++)
        if (!strcmp(r->variants.data[i].name, v.name) && (r->variants.data[i].archs & archs))
            fail(r, "%s.name '%s' is used twice", where, v.name);
    v.text = content_text(r, &v);
    vec_push(r->arena, &r->variants, v);
}

/* The architectures of a kernel, all of the grid's unless it names some of them. */
static uint64_t kernel_archs(Reader *r, const Grid *g, const cJSON *kernel, const char *where) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(kernel, "archs");
    uint64_t found = 0;
    uint32_t i = 0;

    if (!list)
        return ~(uint64_t)0;
    if (!cJSON_IsArray(list) || !list->child)
        fail(r, "%s.archs is empty or no array", where);
    for (const cJSON *x = list->child; x && !r->why; x = x->next, i++) {
        const char *name = cJSON_IsString(x) ? x->valuestring : "";
        int at = arch_index(g, name);

        if (at < 0)
            fail(r, "%s.archs[%u] is none of the grid's archs", where, i);
        else
            found |= (uint64_t)1 << at;
    }
    return found;
}

static void read_kernel(Reader *r, const Grid *g, const cJSON *kernel, const char *where) {
    uint32_t i = 0;

    if (!check_keys(r, kernel, where, " source kernel archs sig variants "))
        return;
    uint64_t archs = kernel_archs(r, g, kernel, where);
    const cJSON *variants = array_field(r, kernel, where, "variants");
    for (const cJSON *x = variants ? variants->child : NULL; x && !r->why; x = x->next, i++)
        read_variant(r, g, kernel, x, archs, where,
                     str_format(r->arena, "%s.variants[%u]", where, i));
}

static void read_archs(Reader *r, const cJSON *root, Grid *g) {
    const cJSON *archs = array_field(r, root, "the grid", "archs");

    if (!archs)
        return;
    g->archs = arena_array(r->arena, const char *, (size_t)cJSON_GetArraySize(archs) + 1);
    for (const cJSON *x = archs->child; x; x = x->next) {
        if (!cJSON_IsString(x) || !pass_target(x->valuestring) || g->n_archs == MAX_ARCHS)
            fail(r, "archs[%u] is no known architecture", g->n_archs);
        else if (arch_index(g, x->valuestring) >= 0)
            fail(r, "archs names %s twice", x->valuestring);
        else
            g->archs[g->n_archs++] =
                arena_strndup(r->arena, x->valuestring, strlen(x->valuestring));
    }
}

static void read_root(Reader *r, const cJSON *root, Grid *g) {
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(root, "schema");
    uint32_t i = 0;

    if (!check_keys(r, root, "the grid", " schema op archs kernels "))
        return;
    if (!is_whole(schema) || schema->valuedouble != 1)
        fail(r, "schema is missing or not 1");
    g->op = text_field(r, root, "the grid", "op");
    read_archs(r, root, g);
    const cJSON *kernels = array_field(r, root, "the grid", "kernels");
    for (const cJSON *x = kernels ? kernels->child : NULL; x && !r->why; x = x->next, i++)
        read_kernel(r, g, x, str_format(r->arena, "kernels[%u]", i));
}

/* Line and column of an offset, for JSON that cannot be read at all. */
static void fail_at(Reader *r, const char *text, const char *at) {
    unsigned line = 1, col = 1;

    for (const char *p = text; p < at; p++) {
        line += *p == '\n';
        col = *p == '\n' ? 1 : col + 1;
    }
    fail(r, "line %u, column %u: this is not JSON", line, col);
}

/* The folder that holds `folder`, which ends with a slash or is empty. */
static const char *folder_above(Arena *a, const char *folder) {
    size_t n = strlen(folder), end = n ? n - 1 : 0, start = end;

    while (start && folder[start - 1] != '/')
        start--;
    if (strspn(folder + start, ".") == end - start) /* empty, "." or ".." */
        return str_format(a, "%s..", folder);
    while (start > 1 && folder[start - 1] == '/')
        start--;
    return start ? arena_strndup(a, folder, start) : ".";
}

const char *grid_read(Arena *a, const char *path, const char *text, size_t len, Grid *out) {
    const char *slash = strrchr(path, '/'), *end = NULL;
    Reader r = {.arena = a};
    Grid g = {0};

    r.folder = arena_strndup(a, path, slash ? (size_t)(slash - path) + 1 : 0);
    g.import_root = folder_above(a, r.folder);
    cJSON *root = cJSON_ParseWithLengthOpts(text, len, &end, 0);
    if (root)
        read_root(&r, root, &g);
    else
        fail_at(&r, text, end ? end : text);
    cJSON_Delete(root);
    g.variants = r.variants.data;
    g.n_variants = r.variants.len;
    *out = g;
    return r.why;
}
