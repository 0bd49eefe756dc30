/* Files that a kernel file imports, looked up under the import root: `import a.b` is a/b.py. A file
 * is read when a kernel first uses a name of it; what it defines then counts as in the file that is
 * compiled: jit functions, constants, and imports of its own. */
#include "base/file.h"
#include "parse/parse.h"
#include "sema/sema_core.h"

#include <errno.h>
#include <string.h>

static const char prefix[] = "import:";

static const char *path_of(Sema *s, const char *dotted) {
    StrBuf b;
    strbuf_init(&b, s->arena);
    strbuf_addf(&b, "%s/", s->request->import_root);
    for (const char *p = dotted; *p; p++)
        strbuf_addc(&b, *p == '.' ? '/' : *p);
    strbuf_addz(&b, ".py");
    return b.text;
}

bool sema_find_import(Sema *s, Str dotted, SVal *out) {
    size_t len;
    const char *text = sema_text(s, dotted);
    if (!s->request->import_root || !*text || *text == '.' || strchr(text, '*') ||
        !file_read(s->arena, path_of(s, text), &len))
        return false;
    *out = (SVal){.kind = SV_NAMESPACE,
                  .str = str_internz(s->strings, str_format(s->arena, "%s%s", prefix, text))};
    return true;
}

static SemaModule *load(Sema *s, Str dotted) {
    SemaCore *core = sema_core(s);
    const char *name = sema_text(s, dotted), *path = path_of(s, name);
    size_t len;
    char *text = file_read(s->arena, path, &len);
    if (!text)
        return NULL;
    AstId root = s->ast->root;
    const char *shown = path + strlen(s->request->import_root) + 1;
    uint32_t file = sources_add(s->ast->sources, shown, text, len);
    SemaModule *module = sema_module_new(s, core, file);
    module->dotted = dotted;
    if (parse_file(s->ast, file, s->diag))
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
    } else if (!sema_find_import(
                   s,
                   str_internz(s->strings, str_format(s->arena, "%s.%s", text, sema_text(s, name))),
                   out)) {
        *out = sema_error(s, DIAG_SEMA_NAME, at, "the module '%s' does not define '%s'", text,
                          sema_text(s, name));
    }
    return true;
}
