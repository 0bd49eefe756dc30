/* The product of a row's axes, see grid_axes.h.
 *
 * Choices and the row only ever add to each other: what two of them give is an error, so that the
 * order of axes changes nothing but the order of variants. In signatures one may give a type and
 * another a fact about it, ":16". */
#include "driver/grid_axes.h"

#include "base/str.h"

#include <string.h>

enum { MAX_AXES = 8 };

typedef struct Axis {
    const char *name;
    const cJSON *choices, *chosen;
} Axis;

typedef struct Product {
    GridReader *reader;
    const cJSON *row;
    const char *where;
    Axis axes[MAX_AXES];
    uint32_t n_axes;
    GridRows *out;
} Product;

static const char *name_of(const cJSON *choice) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(choice, "name"));
}

static const Axis *axis_named(const Product *p, const char *name, size_t len) {
    for (uint32_t i = 0; i < p->n_axes; i++)
        if (strlen(p->axes[i].name) == len && !strncmp(p->axes[i].name, name, len))
            return &p->axes[i];
    return NULL;
}

/* --- definitions --- */

static void check_object(GridReader *r, const cJSON *choice, const char *where, const char *key) {
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(choice, key);

    if (x && !cJSON_IsObject(x))
        grid_fail(r, "%s.%s is no object", where, key);
}

static void check_choice(GridReader *r, const cJSON *choice, const char *where) {
    if (!grid_keys(r, choice, where,
                   " name with const num_warps min_ctas sig legal meant allow_spills "
                   "disable_pass disable_strategy archs "))
        return;
    grid_text(r, choice, where, "name");
    check_object(r, choice, where, "with");
    check_object(r, choice, where, "const");
    check_object(r, choice, where, "sig");
    check_object(r, choice, where, "legal");
    check_object(r, choice, where, "meant");
}

void grid_check_axes(GridReader *r, const cJSON *owner, const char *where) {
    const cJSON *axes = cJSON_GetObjectItemCaseSensitive(owner, "axes");

    if (!axes)
        return;
    where = str_format(r->arena, "%s.axes", where);
    if (!cJSON_IsObject(axes))
        grid_fail(r, "%s is no object", where);
    for (const cJSON *axis = axes->child; axis && !r->why; axis = axis->next) {
        const cJSON *choices = grid_array(r, axes, where, axis->string);
        uint32_t i = 0;

        for (const cJSON *x = choices ? choices->child : NULL; x && !r->why; x = x->next, i++)
            check_choice(r, x, str_format(r->arena, "%s.%s[%u]", where, axis->string, i));
    }
}

/* --- one combination --- */

/* A row's own objects are checked when the variant is read; here they may be anything. */
static void add_text(Product *p, const char *where, cJSON *into, const cJSON *x, const char *key) {
    cJSON *old = cJSON_GetObjectItemCaseSensitive(into, x->string);
    const char *a = cJSON_GetStringValue(old), *b = cJSON_GetStringValue(x);

    if (!old) {
        cJSON_AddItemToObject(into, x->string, cJSON_Duplicate(x, true));
    } else if (!strcmp(key, "sig") && a && b && (*a == ':') != (*b == ':') &&
               !strchr(*a == ':' ? b : a, ':')) {
        const char *whole =
            str_format(p->reader->arena, "%s%s", *a == ':' ? b : a, *a == ':' ? a : b);
        cJSON_SetValuestring(old, whole);
    } else {
        grid_fail(p->reader, "%s.%s.%s is given twice", where, key, x->string);
    }
}

static bool lists(const cJSON *names, const char *name) {
    for (const cJSON *x = names->child; x; x = x->next)
        if (cJSON_IsString(x) && !strcmp(x->valuestring, name))
            return true;
    return false;
}

/* What is built for some architectures by two choices is built for those that both name. */
static void meet(cJSON *archs, const cJSON *others) {
    for (cJSON *x = archs->child, *next; x; x = next) {
        next = x->next;
        if (!cJSON_IsString(x) || !lists(others, x->valuestring))
            cJSON_Delete(cJSON_DetachItemViaPointer(archs, x));
    }
}

static void add_part(Product *p, const char *where, cJSON *into, const cJSON *part) {
    for (const cJSON *x = part->child; x; x = x->next) {
        cJSON *old = cJSON_GetObjectItemCaseSensitive(into, x->string);

        if (!strcmp(x->string, "name") || !strcmp(x->string, "with") || !strcmp(x->string, "axes"))
            continue;
        if (!old)
            cJSON_AddItemToObject(into, x->string, cJSON_Duplicate(x, true));
        else if (cJSON_IsObject(old) && cJSON_IsObject(x))
            for (const cJSON *y = x->child; y; y = y->next)
                add_text(p, where, old, y, x->string);
        else if (!strcmp(x->string, "archs") && cJSON_IsArray(old) && cJSON_IsArray(x))
            meet(old, x);
        else
            grid_fail(p->reader, "%s.%s is given twice", where, x->string);
    }
}

/* The row's name with each {axis} replaced by the name of its choice. */
static const char *combined_name(Product *p, const char *where) {
    const char *text = grid_text(p->reader, p->row, where, "name");
    StrBuf b;

    strbuf_init(&b, p->reader->arena);
    strbuf_addz(&b, "");
    while (*text) {
        size_t n = strcspn(text, "{"), len = text[n] ? strcspn(text + n + 1, "}") : 0;
        const Axis *axis = text[n] ? axis_named(p, text + n + 1, len) : NULL;

        strbuf_add(&b, text, n);
        text += n;
        if (!*text)
            break;
        if (!axis || text[len + 1] != '}') {
            grid_fail(p->reader, "%s.name has {%.*s}, which is no axis of the row", where, (int)len,
                      text + 1);
            break;
        }
        strbuf_addz(&b, name_of(axis->chosen));
        text += len + 2;
    }
    return b.text;
}

static const char *combined_where(const Product *p) {
    StrBuf b;

    if (!p->n_axes)
        return p->where;
    strbuf_init(&b, p->reader->arena);
    for (uint32_t i = 0; i < p->n_axes; i++)
        strbuf_addf(&b, "%s%s", i ? ", " : "", name_of(p->axes[i].chosen));
    return str_format(p->reader->arena, "%s(%s)", p->where, b.text);
}

static void add_combination(Product *p) {
    GridReader *r = p->reader;
    GridRow made = {cJSON_CreateObject(), combined_where(p)};

    cJSON_AddStringToObject(made.json, "name", combined_name(p, made.where));
    for (uint32_t i = 0; i < p->n_axes; i++)
        add_part(p, made.where, made.json, p->axes[i].chosen);
    add_part(p, made.where, made.json, p->row);
    vec_push(r->arena, p->out, made);
}

/* --- all combinations --- */

/* Whether a choice goes with those of the other axes. */
static bool agrees(Product *p, const Axis *axis) {
    const cJSON *with = cJSON_GetObjectItemCaseSensitive(axis->chosen, "with");

    for (const cJSON *x = with ? with->child : NULL; x; x = x->next) {
        const Axis *other = axis_named(p, x->string, strlen(x->string));

        if (!other || !cJSON_IsArray(x))
            grid_fail(p->reader,
                      "%s: %s goes with '%s', which is no axis of the row or has no list", p->where,
                      name_of(axis->chosen), x->string);
        else if (!lists(x, name_of(other->chosen)))
            return false;
    }
    return !p->reader->why;
}

static void choose(Product *p, uint32_t axis) {
    if (axis == p->n_axes) {
        for (uint32_t i = 0; i < p->n_axes; i++)
            if (!agrees(p, &p->axes[i]))
                return;
        add_combination(p);
        return;
    }
    for (const cJSON *x = p->axes[axis].choices->child; x && !p->reader->why; x = x->next) {
        p->axes[axis].chosen = x;
        choose(p, axis + 1);
    }
}

static const cJSON *definition(const cJSON *owner, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(owner, "axes"), name);
}

static void find_axes(Product *p, const cJSON *grid, const cJSON *kernel) {
    GridReader *r = p->reader;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(p->row, "axes");

    if (list)
        list = grid_array(r, p->row, p->where, "axes");
    for (const cJSON *x = list ? list->child : NULL; x && !r->why; x = x->next) {
        const char *name = cJSON_IsString(x) ? x->valuestring : "";
        const cJSON *found = definition(kernel, name);
        Axis axis = {.name = name, .choices = found ? found : definition(grid, name)};

        if (!axis.choices)
            grid_fail(r, "%s.axes names '%s', which neither the kernel nor the grid defines",
                      p->where, name);
        else if (axis_named(p, name, strlen(name)))
            grid_fail(r, "%s.axes names '%s' twice", p->where, name);
        else if (p->n_axes == MAX_AXES)
            grid_fail(r, "%s.axes names more than %d axes", p->where, MAX_AXES);
        else
            p->axes[p->n_axes++] = axis;
    }
}

void grid_expand(GridReader *r, const cJSON *grid, const cJSON *kernel, const cJSON *row,
                 const char *where, GridRows *out) {
    Product p = {.reader = r, .row = row, .where = where, .out = out};
    uint32_t before = out->len;

    if (!grid_keys(r, row, where,
                   " name const num_warps min_ctas sig legal meant allow_spills "
                   "disable_pass disable_strategy archs axes "))
        return;
    find_axes(&p, grid, kernel);
    if (r->why)
        return;
    choose(&p, 0);
    if (out->len == before)
        grid_fail(r, "%s stands for no variant: no choices go with each other", where);
}
