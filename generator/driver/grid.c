/* Reading and validating grid files, see grid.h. Every object is checked against the keys it may
 * have, so that a misspelt key is an error and not a default. */
#include "driver/grid.h"

#include "codegen/cg.h"
#include "driver/grid_axes.h"
#include "pass/pass.h"

#include <math.h>
#include <string.h>

typedef struct Reader {
    GridReader base;
    Grid *grid;
    const cJSON *root;
    const char *folder;
    VEC(GridVariant) variants;
} Reader;

/* --- numbers --- */

static uint32_t warps_field(GridReader *r, const cJSON *object, const char *where) {
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, "num_warps");

    if (grid_is_whole(x) && x->valuedouble >= 1 && x->valuedouble <= 32) {
        uint32_t n = (uint32_t)x->valuedouble;

        if (!(n & (n - 1)))
            return n;
    }
    grid_fail(r, "%s.num_warps is missing or no power of two from 1 to 32", where);
    return 1;
}

static uint32_t min_ctas_field(GridReader *r, const cJSON *object, const char *where) {
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, "min_ctas");

    if (!x)
        return 0;
    if (!grid_is_whole(x) || x->valuedouble < 1 || x->valuedouble > 32)
        grid_fail(r, "%s.min_ctas is no whole number from 1 to 32", where);
    return (uint32_t)x->valuedouble;
}

/* --- signatures and constants --- */

static SemaParam *param_named(ParamList *list, const char *name) {
    for (uint32_t i = 0; i < list->len; i++)
        if (!strcmp(list->at[i].name, name))
            return &list->at[i];
    return NULL;
}

/* Takes the place of a parameter of the same name. ":16" is a fact about the type that was there.
 */
static void put_param(GridReader *r, ParamList *list, const cJSON *x, const char *where) {
    SemaParam p = {.name = arena_strndup(r->arena, x->string, strlen(x->string))};
    SemaParam *old = param_named(list, p.name);
    const char *text = cJSON_GetStringValue(x), *why;

    if (!text || (*text == ':' && !old)) {
        grid_fail(r, "%s.sig.%s is no text, or a fact about no type", where, x->string);
        return;
    }
    if (*text == ':')
        text = str_format(r->arena, "%s%s", old->type, text);
    why = signature_type(r->arena, text, &p);
    if (why)
        grid_fail(r, "%s.sig.%s: %s", where, x->string, why);
    if (old)
        *old = p;
    else
        list->at[list->len++] = p;
}

/* The grid's signature, then the kernel's and the variant's: a later type overrides an earlier one.
 */
static ParamList read_params(Reader *r, const cJSON *kernel, const cJSON *variant,
                             const char *kernel_where, const char *where) {
    const cJSON *const owners[] = {r->root, kernel, variant};
    const char *const names[] = {"the grid", kernel_where, where};
    ParamList list = {0};
    int n = 0;

    for (int i = 0; i < 3; i++)
        n += cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(owners[i], "sig"));
    list.at = arena_array(r->base.arena, SemaParam, (size_t)n + 1);
    for (int i = 0; i < 3; i++) {
        const cJSON *sig = cJSON_GetObjectItemCaseSensitive(owners[i], "sig");

        if (sig && !cJSON_IsObject(sig))
            grid_fail(&r->base, "%s.sig is no object", names[i]);
        for (const cJSON *x = sig ? sig->child : NULL; x && !r->base.why; x = x->next)
            put_param(&r->base, &list, x, names[i]);
    }
    if (!n)
        grid_fail(&r->base, "neither %s nor the grid has a sig", kernel_where);
    return list;
}

/* A JSON value as the Python literal that sema reads. */
static const char *python_literal(GridReader *r, const cJSON *x, const char *where) {
    if (cJSON_IsBool(x))
        return cJSON_IsTrue(x) ? "True" : "False";
    if (cJSON_IsNull(x))
        return "None";
    if (grid_is_whole(x) && fabs(x->valuedouble) < 9007199254740992.0)
        return str_format(r->arena, "%.0f", x->valuedouble);
    if (cJSON_IsNumber(x))
        return str_format(r->arena, "%.17g", x->valuedouble);
    if (cJSON_IsString(x) && x->valuestring[0] == '@') /* a name of the module */
        return str_format(r->arena, "%s", x->valuestring);
    if (cJSON_IsString(x) && !strpbrk(x->valuestring, "'\\\n"))
        return str_format(r->arena, "'%s'", x->valuestring);
    grid_fail(r, "%s.const.%s is no number, truth value, null or plain text", where, x->string);
    return "None";
}

static ConstList read_consts(GridReader *r, const cJSON *variant, const char *where) {
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(variant, "const");
    size_t n = (size_t)cJSON_GetArraySize(object);
    ConstList list = {arena_array(r->arena, SemaConst, n + 1), 0};

    if (object && !cJSON_IsObject(object)) {
        grid_fail(r, "%s.const is no object", where);
        return list;
    }
    for (const cJSON *x = object ? object->child : NULL; x; x = x->next)
        list.at[list.len++] = (SemaConst){arena_strndup(r->arena, x->string, strlen(x->string)),
                                          python_literal(r, x, where)};
    return list;
}

/* --- what is left out --- */

static const char *read_list(GridReader *r, const cJSON *variant, const char *where,
                             const char *key) {
    return cJSON_HasObjectItem(variant, key) ? grid_text(r, variant, where, key) : "";
}

static uint32_t read_strategies(GridReader *r, const cJSON *variant, const char *where) {
    uint32_t set;
    const char *list = read_list(r, variant, where, "disable_strategy");
    const char *why = cg_strategies(r->arena, list, &set);

    if (why)
        grid_fail(r, "%s.disable_strategy: %s", where, why);
    return set;
}

/* --- legal --- */

static bool is_range(const cJSON *x) {
    return cJSON_IsArray(x) && cJSON_GetArraySize(x) == 2 && grid_is_whole(x->child) &&
           grid_is_whole(x->child->next) && x->child->valuedouble <= x->child->next->valuedouble;
}

static bool is_alignment(const cJSON *x) {
    return grid_is_whole(x) && x->valuedouble >= 1 && x->valuedouble <= INT32_MAX &&
           !(x->valueint & (x->valueint - 1));
}

static const char *json_text(GridReader *r, const cJSON *x) {
    char *text = cJSON_PrintUnformatted(x);
    const char *copy = arena_strndup(r->arena, text ? text : "", text ? strlen(text) : 0);

    cJSON_free(text);
    return copy;
}

static const char *read_legal(GridReader *r, const cJSON *variant, const char *where) {
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(variant, "legal");

    if (!object)
        return "{}";
    if (!cJSON_IsObject(object)) {
        grid_fail(r, "%s.legal is no object", where);
        return "{}";
    }
    for (const cJSON *x = object->child; x; x = x->next) {
        bool align = !strcmp(x->string, "align") && is_alignment(x);

        if (!align && !is_range(x) && !cJSON_IsString(x))
            grid_fail(r, "%s.legal.%s is neither [low, high], a text, nor a power of two for align",
                      where, x->string);
    }
    return json_text(r, object);
}

/* Ranges alone, of alignments too: unaligned rows are those up to one. */
static const char *read_meant(GridReader *r, const cJSON *variant, const char *where) {
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(variant, "meant");

    if (!object)
        return NULL;
    if (!cJSON_IsObject(object)) {
        grid_fail(r, "%s.meant is no object", where);
        return NULL;
    }
    for (const cJSON *x = object->child; x; x = x->next)
        if (!is_range(x))
            grid_fail(r, "%s.meant.%s is no [low, high]", where, x->string);
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

static const char *content_text(GridReader *r, const GridVariant *v) {
    StrBuf b;

    strbuf_init(&b, r->arena);
    strbuf_addf(&b, "%s\n%s\n%u %u\n%s\n%s\n%d\n%s %x\n", v->name, v->kernel, v->num_warps,
                v->min_ctas, v->legal, v->meant ? v->meant : "", v->allow_spills, v->disable_pass,
                v->without);
    for (uint32_t i = 0; i < v->params.len; i++)
        strbuf_addf(&b, "%s:%s:%u\n", v->params.at[i].name, v->params.at[i].type,
                    v->params.at[i].divisible);
    for (uint32_t i = 0; i < v->consts.len; i++)
        strbuf_addf(&b, "%s=%s\n", v->consts.at[i].name, v->consts.at[i].value);
    return b.text;
}

/* The architectures that an object names among the grid's: all unless it names some. */
static uint64_t read_some_archs(Reader *r, const cJSON *owner, const char *where) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(owner, "archs");
    uint64_t found = 0;
    uint32_t i = 0;

    if (!list)
        return ~(uint64_t)0;
    if (!cJSON_IsArray(list))
        grid_fail(&r->base, "%s.archs is no array", where);
    for (const cJSON *x = list->child; x && !r->base.why; x = x->next, i++) {
        const char *name = cJSON_IsString(x) ? x->valuestring : "";
        int at = arch_index(r->grid, name);

        if (at < 0)
            grid_fail(&r->base, "%s.archs[%u] is none of the grid's archs", where, i);
        else
            found |= (uint64_t)1 << at;
    }
    return found;
}

static void check_name(Reader *r, const GridVariant *v, const char *where) {
    if (!is_variant_name(v->name, r->grid->op))
        grid_fail(&r->base, "%s.name is '%s', expected %s__... of lower-case letters, digits and _",
                  where, v->name, r->grid->op);
    for (uint32_t i = 0; i < r->variants.len; i++)
        if (!strcmp(r->variants.data[i].name, v->name) && (r->variants.data[i].archs & v->archs))
            grid_fail(&r->base, "%s.name '%s' is used twice", where, v->name);
}

static void read_variant(Reader *r, const cJSON *kernel, uint64_t archs, const char *kernel_where,
                         const GridRow *row) {
    const cJSON *variant = row->json;
    const char *where = row->where, *source = grid_text(&r->base, kernel, kernel_where, "source");
    GridVariant v = {.source = str_format(r->base.arena, "%s%s", r->folder, source)};

    v.kernel = grid_text(&r->base, kernel, kernel_where, "kernel");
    v.name = grid_text(&r->base, variant, where, "name");
    v.archs = archs & read_some_archs(r, variant, where);
    v.num_warps = warps_field(&r->base, variant, where);
    v.min_ctas = min_ctas_field(&r->base, variant, where);
    v.allow_spills = grid_bool(&r->base, variant, where, "allow_spills");
    v.disable_pass = read_list(&r->base, variant, where, "disable_pass");
    v.without = read_strategies(&r->base, variant, where);
    v.params = read_params(r, kernel, variant, kernel_where, where);
    v.consts = read_consts(&r->base, variant, where);
    v.legal = read_legal(&r->base, variant, where);
    v.meant = read_meant(&r->base, variant, where);
    if (r->base.why)
        return;
    check_name(r, &v, where);
    v.text = content_text(&r->base, &v);
    vec_push(r->base.arena, &r->variants, v);
}

static bool has_limit(const Reader *r, const char *fact) {
    const char *key = str_format(r->base.arena, "\"%s\":", fact);

    for (uint32_t i = 0; i < r->variants.len; i++)
        if (strstr(r->variants.data[i].legal, key))
            return true;
    return false;
}

/* Which facts an operator has is not for grids to know, but siblings differ in what is legal. */
static void check_meant(Reader *r) {
    for (uint32_t i = 0; i < r->variants.len; i++) {
        const GridVariant *v = &r->variants.data[i];
        cJSON *meant = v->meant ? cJSON_Parse(v->meant) : NULL;

        for (const cJSON *x = meant ? meant->child : NULL; x; x = x->next)
            if (!has_limit(r, x->string))
                grid_fail(&r->base, "%s.meant.%s is no fact that a variant's legal limits", v->name,
                          x->string);
        cJSON_Delete(meant);
    }
}

static void read_kernel(Reader *r, const cJSON *kernel, const char *where) {
    GridRows rows = {0};
    uint32_t i = 0;

    if (!grid_keys(&r->base, kernel, where, " source kernel archs sig axes variants "))
        return;
    grid_check_axes(&r->base, kernel, where);
    uint64_t archs = read_some_archs(r, kernel, where);
    const cJSON *variants = grid_array(&r->base, kernel, where, "variants");
    for (const cJSON *x = variants ? variants->child : NULL; x && !r->base.why; x = x->next, i++)
        grid_expand(&r->base, r->root, kernel, x,
                    str_format(r->base.arena, "%s.variants[%u]", where, i), &rows);
    for (i = 0; i < rows.len; i++) {
        if (!r->base.why)
            read_variant(r, kernel, archs, where, &rows.data[i]);
        cJSON_Delete(rows.data[i].json);
    }
}

static void read_archs(GridReader *r, const cJSON *root, Grid *g) {
    const cJSON *archs = grid_array(r, root, "the grid", "archs");

    if (!archs)
        return;
    g->archs = arena_array(r->arena, const char *, (size_t)cJSON_GetArraySize(archs) + 1);
    for (const cJSON *x = archs->child; x; x = x->next) {
        if (!cJSON_IsString(x) || !pass_target(x->valuestring) || g->n_archs == MAX_ARCHS)
            grid_fail(r, "archs[%u] is no known architecture", g->n_archs);
        else if (arch_index(g, x->valuestring) >= 0)
            grid_fail(r, "archs names %s twice", x->valuestring);
        else
            g->archs[g->n_archs++] =
                arena_strndup(r->arena, x->valuestring, strlen(x->valuestring));
    }
}

static void read_root(Reader *r) {
    GridReader *base = &r->base;
    uint32_t i = 0;

    if (!grid_keys(base, r->root, "the grid", " schema op archs sig axes kernels "))
        return;
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(r->root, "schema");
    if (!grid_is_whole(schema) || schema->valuedouble != 1)
        grid_fail(base, "schema is missing or not 1");
    r->grid->op = grid_text(base, r->root, "the grid", "op");
    read_archs(base, r->root, r->grid);
    grid_check_axes(base, r->root, "the grid");
    const cJSON *kernels = grid_array(base, r->root, "the grid", "kernels");
    for (const cJSON *x = kernels ? kernels->child : NULL; x && !base->why; x = x->next, i++)
        read_kernel(r, x, str_format(base->arena, "kernels[%u]", i));
    check_meant(r);
}

/* Line and column of an offset, for JSON that cannot be read at all. */
static void fail_at(GridReader *r, const char *text, const char *at) {
    unsigned line = 1, col = 1;

    for (const char *p = text; p < at; p++) {
        line += *p == '\n';
        col = *p == '\n' ? 1 : col + 1;
    }
    grid_fail(r, "line %u, column %u: this is not JSON", line, col);
}

/* The folder that holds `folder`, which ends with a slash or is empty. */
static const char *folder_above(Arena *a, const char *folder) {
    size_t end = strlen(folder), start;

    while (end && folder[end - 1] == '/')
        end--;
    start = end;
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
    Grid g = {0};
    Reader r = {.base = {.arena = a}, .grid = &g};

    r.folder = arena_strndup(a, path, slash ? (size_t)(slash - path) + 1 : 0);
    g.import_root = folder_above(a, r.folder);
    cJSON *root = cJSON_ParseWithLengthOpts(text, len, &end, 0);
    r.root = root;
    if (root)
        read_root(&r);
    else
        fail_at(&r.base, text, end ? end : text);
    cJSON_Delete(root);
    g.variants = r.variants.data;
    g.n_variants = r.variants.len;
    *out = g;
    return r.base.why;
}
