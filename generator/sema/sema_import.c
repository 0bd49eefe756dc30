/* Files that a kernel file imports, looked up under the import root: `import a.b` is a/b.py. A file
 * is read when a kernel first uses a name of it; what it defines then counts as in the file that is
 * compiled: jit functions, constants, and imports of its own. */
#include "base/file.h"
#include "parse/parse.h"
#include "sema/sema_core.h"

#include <errno.h>
#include <string.h>

static const char prefix[] = "import:";

const char *sema_import_path(Arena *a, const char *import_root, const char *dotted) {
    StrBuf b;
    if (!import_root || !*dotted || *dotted == '.' || strpbrk(dotted, "*/"))
        return NULL;
    strbuf_init(&b, a);
    strbuf_addf(&b, "%s/", import_root);
    for (const char *p = dotted; *p; p++)
        strbuf_addc(&b, *p == '.' ? '/' : *p);
    strbuf_addz(&b, ".py");
    return b.text;
}

const char *sema_namespace_name(const char *text) {
    size_t n = sizeof prefix - 1;
    return strncmp(text, prefix, n) ? text : text + n;
}

static const char *path_of(Sema *s, const char *dotted) {
    return sema_import_path(s->arena, s->request->import_root, dotted);
}

bool sema_find_import(Sema *s, Str dotted, SVal *out) {
    size_t len;
    const char *text = sema_text(s, dotted), *path = path_of(s, text);
    if (!path || !file_read(s->arena, path, &len))
        return false;
    *out = (SVal){.kind = SV_NAMESPACE,
                  .str = str_internz(s->strings, str_format(s->arena, "%s%s", prefix, text))};
    return true;
}

void sema_note_import(Sema *s, Str dotted) {
    SemaCore *core = sema_core(s);
    const char *text = sema_text(s, dotted);
    for (const char *dot = strchr(text, '.'); dot; dot = strchr(dot + 1, '.'))
        vec_push(s->arena, &core->imported, str_intern(s->strings, text, (size_t)(dot - text)));
    vec_push(s->arena, &core->imported, dotted);
}

/* As in Python: a module has the modules below it once a file imports them. */
static bool is_imported(Sema *s, Str dotted) {
    const SemaCore *core = sema_core(s);
    for (uint32_t i = 0; i < core->imported.len; i++)
        if (core->imported.data[i] == dotted)
            return true;
    return false;
}

static bool find_below(Sema *s, const char *module, Str name, SVal *out) {
    const char *text = str_format(s->arena, "%s.%s", module, sema_text(s, name));
    Str dotted = str_internz(s->strings, text);
    return is_imported(s, dotted) && sema_find_import(s, dotted, out);
}

static SemaModule *load(Sema *s, Str dotted) {
    SemaCore *core = sema_core(s);
    const char *name = sema_text(s, dotted), *path = path_of(s, name);
    size_t len;
    char *text = file_read(s->arena, path, &len);
    if (!text)
        return NULL;
    AstId root = s->ast->root;
    const char *shown = source_display_name(s->request->source_root, path);
    uint32_t file = sources_add(s->ast->sources, shown, text, len);
    SemaModule *module = sema_module_new(s, core, file);
    module->dotted = dotted;
    module->broken = !parse_file(s->ast, file, s->diag);
    if (!module->broken)
        sema_module_walk(s, module, s->ast->root);
    s->ast->root = root;
    return module;
}

static SemaModule *module_named(Sema *s, Str dotted) {
    const SemaCore *core = sema_core(s);
    for (uint32_t i = 0; i < core->modules.len; i++)
        if (core->modules.data[i]->dotted == dotted)
            return core->modules.data[i];
    return load(s, dotted);
}

bool sema_imported_get(Sema *s, Str ns, Str name, Span at, SVal *out) {
    const char *text = sema_text(s, ns);
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return false;
    text += sizeof prefix - 1;
    Str dotted = str_internz(s->strings, text);
    SVal inner;
    SemaModule *module = module_named(s, dotted);
    if (!module) {
        *out = sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                          "the file of the module '%s' cannot be "
                          "read: %s",
                          text, strerror(errno));
    } else if (sema_module_lookup(s, module, name, at, &inner)) {
        *out = inner;
    } else if (!find_below(s, text, name, out)) {
        *out = module->broken
                   ? sv_error()
                   : sema_error(s, DIAG_SEMA_NAME, at, "the module '%s' does not define '%s'", text,
                                sema_text(s, name));
    }
    return true;
}
