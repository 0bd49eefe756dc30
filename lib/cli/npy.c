/* Reading and writing .npy.
 *
 *   6 bytes "\x93NUMPY", 2 bytes version, 2 (version 1) or 4 bytes header length, then the header:
 *   a Python dict with exactly the keys descr, fortran_order and shape; then the elements. */
#include "cli/npy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 6, MAX_HEADER = 1 << 20 };

static const struct {
    const char *descr;
    size_t size;
} types[NPY_TYPE_COUNT] = {
    [NPY_F4] = {"<f4", 4}, [NPY_I4] = {"<i4", 4}, [NPY_I8] = {"<i8", 8},
    [NPY_F2] = {"<f2", 2}, [NPY_U1] = {"|u1", 1}, [NPY_U2] = {"<u2", 2},
    [NPY_U4] = {"<u4", 4}, [NPY_U8] = {"<u8", 8}, [NPY_F8] = {"<f8", 8},
};

size_t npy_type_size(NpyType type) {
    return types[type].size;
}

const char *npy_type_name(NpyType type) {
    return types[type].descr;
}

bool npy_type_named(const char *name, NpyType *out) {
    for (int i = 0; i < NPY_TYPE_COUNT; i++) {
        if (!strcmp(name, types[i].descr + 1)) {
            *out = (NpyType)i;
            return true;
        }
    }
    return false;
}

void npy_free(NpyArray *array) {
    free(array->data);
    *array = (NpyArray){0};
}

/* ---- the header's dict ---- */

typedef struct Parser {
    const char *path, *p;
    NpyError *e;
    NpyArray *out;
    bool fortran;
    unsigned seen; /* bit per key */
} Parser;

__attribute__((format(printf, 3, 4))) static bool refuse(NpyError *e, const char *path,
                                                         const char *format, ...) {
    int n = snprintf(e->text, sizeof e->text, "%s: ", path);
    va_list args;
    va_start(args, format);
    if (n > 0 && (size_t)n < sizeof e->text)
        vsnprintf(e->text + n, sizeof e->text - (size_t)n, format, args);
    va_end(args);
    return false;
}

static void skip_space(Parser *s) {
    s->p += strspn(s->p, " \t\n");
}

static bool take(Parser *s, char c) {
    skip_space(s);
    if (*s->p != c)
        return false;
    s->p++;
    return true;
}

static bool expect(Parser *s, char c) {
    return take(s, c) ? true
                      : refuse(s->e, s->path, "the header has '%.16s' where '%c' belongs", s->p, c);
}

static bool parse_string(Parser *s, char *out, size_t size) {
    skip_space(s);
    char quote = *s->p;
    const char *end = quote == '\'' || quote == '"' ? strchr(s->p + 1, quote) : NULL;
    if (!end || (size_t)(end - s->p - 1) >= size)
        return refuse(s->e, s->path, "the header has '%.16s' where a short string belongs", s->p);
    size_t len = (size_t)(end - s->p - 1);
    memcpy(out, s->p + 1, len);
    out[len] = '\0';
    s->p = end + 1;
    return true;
}

static bool parse_descr(Parser *s) {
    char descr[32];
    skip_space(s);
    if (*s->p == '[')
        return refuse(s->e, s->path, "structured elements are not supported");
    if (!parse_string(s, descr, sizeof descr))
        return false;
    for (int i = 0; i < NPY_TYPE_COUNT; i++) {
        if (!strcmp(descr, types[i].descr)) {
            s->out->type = (NpyType)i;
            return true;
        }
    }
    return refuse(s->e, s->path,
                  "the elements are '%s'; known are '<f2', '<f4', '<f8', '<i4', '<i8', '|u1', "
                  "'<u2', '<u4' and '<u8'",
                  descr);
}

static bool parse_bool(Parser *s) {
    skip_space(s);
    s->fortran = !strncmp(s->p, "True", 4);
    if (!s->fortran && strncmp(s->p, "False", 5))
        return refuse(s->e, s->path, "fortran_order is neither True nor False");
    s->p += s->fortran ? 4 : 5;
    return true;
}

static bool parse_extent(Parser *s) {
    NpyArray *a = s->out;
    char *end = NULL;
    skip_space(s);
    if (*s->p < '0' || *s->p > '9')
        return refuse(s->e, s->path, "the shape has '%.16s' where an extent belongs", s->p);
    if (a->dims == NPY_MAX_DIMS)
        return refuse(s->e, s->path, "the array has more than %d dimensions", NPY_MAX_DIMS);
    errno = 0;
    long long extent = strtoll(s->p, &end, 10);
    if (errno || __builtin_mul_overflow(a->elements, (int64_t)extent, &a->elements) ||
        a->elements > INT64_MAX / 16)
        return refuse(s->e, s->path, "the shape is too large to address");
    a->shape[a->dims++] = extent;
    s->p = end;
    return true;
}

static bool parse_shape(Parser *s) {
    s->out->elements = 1;
    s->out->dims = 0;
    if (!expect(s, '('))
        return false;
    while (!take(s, ')')) {
        if (!parse_extent(s))
            return false;
        if (!take(s, ',')) {
            if (s->out->dims == 1)
                return refuse(s->e, s->path, "the shape is not a tuple");
            return expect(s, ')');
        }
    }
    return true;
}

static bool parse_item(Parser *s) {
    static const struct {
        const char *key;
        bool (*parse)(Parser *);
    } keys[] = {{"descr", parse_descr}, {"fortran_order", parse_bool}, {"shape", parse_shape}};
    char key[32];
    if (!parse_string(s, key, sizeof key) || !expect(s, ':'))
        return false;
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(key, keys[i].key))
            continue;
        if (s->seen & 1u << i)
            return refuse(s->e, s->path, "the header has '%s' twice", key);
        s->seen |= 1u << i;
        return keys[i].parse(s);
    }
    return refuse(s->e, s->path, "the header has the unknown key '%s'", key);
}

static bool parse_header(const char *path, const char *text, NpyArray *out, NpyError *e) {
    Parser s = {.path = path, .p = text, .e = e, .out = out};
    if (!expect(&s, '{'))
        return false;
    while (!take(&s, '}')) {
        if (!parse_item(&s))
            return false;
        if (!take(&s, ',')) {
            if (!expect(&s, '}'))
                return false;
            break;
        }
    }
    skip_space(&s);
    if (*s.p)
        return refuse(e, path, "the header goes on after its dict with '%.16s'", s.p);
    if (s.seen != 7)
        return refuse(e, path, "the header lacks one of descr, fortran_order and shape");
    if (s.fortran && out->dims > 1)
        return refuse(e, path, "the array is in Fortran order; write it in C order");
    return true;
}

/* ---- the file ---- */

/* The header's text, NUL-terminated; the caller frees it. NULL after a refusal. */
static char *read_header(const char *path, FILE *f, NpyError *e) {
    unsigned char head[12] = {0};
    if (fread(head, 1, 8, f) != 8 && ferror(f)) {
        refuse(e, path, "%s", strerror(errno));
        return NULL;
    }
    if (feof(f) || memcmp(head, "\x93NUMPY", MAGIC_BYTES)) {
        refuse(e, path, "not a .npy file: it does not begin with \\x93NUMPY");
        return NULL;
    }
    if (head[6] < 1 || head[6] > 3 || head[7] != 0) {
        refuse(e, path, "format version %d.%d; known are 1.0, 2.0 and 3.0", head[6], head[7]);
        return NULL;
    }
    size_t width = head[6] == 1 ? 2 : 4;
    if (fread(head + 8, 1, width, f) != width) {
        refuse(e, path, "the file ends within its header");
        return NULL;
    }
    uint32_t len =
        head[8] | (uint32_t)head[9] << 8 | (uint32_t)head[10] << 16 | (uint32_t)head[11] << 24;
    if (len > MAX_HEADER) {
        refuse(e, path, "the header says that it has %u bytes; the most is %d", len, MAX_HEADER);
        return NULL;
    }
    char *text = calloc(1, (size_t)len + 1);
    if (!text || fread(text, 1, len, f) != len || strlen(text) != len) {
        refuse(e, path, text ? "the file ends within its header" : "no memory for the header");
        free(text);
        return NULL;
    }
    return text;
}

/* Bytes from here to the end, or -1 where the file cannot tell. */
static long long bytes_left(FILE *f) {
    long here = ftell(f);
    if (here < 0 || fseek(f, 0, SEEK_END))
        return -1;
    long end = ftell(f);
    return fseek(f, here, SEEK_SET) ? -1 : end - here;
}

static bool read_elements(const char *path, FILE *f, NpyArray *a, NpyError *e) {
    size_t bytes = (size_t)a->elements * types[a->type].size;
    long long left = bytes_left(f);
    if (left < 0)
        return refuse(e, path, "the file cannot be measured; it must be a regular file");
    if ((unsigned long long)left != bytes)
        return refuse(e, path, "the shape needs %zu bytes of elements; the file has %lld", bytes,
                      left);
    a->data = malloc(bytes ? bytes : 1);
    if (!a->data)
        return refuse(e, path, "no memory for %zu bytes", bytes);
    if (fread(a->data, 1, bytes, f) != bytes)
        return refuse(e, path, "the elements cannot be read: %s", strerror(errno));
    return true;
}

bool npy_read(const char *path, NpyArray *out, NpyError *e) {
    *out = (NpyArray){0};
    FILE *f = fopen(path, "rb");
    if (!f)
        return refuse(e, path, "%s", strerror(errno));
    char *header = read_header(path, f, e);
    bool ok = header && parse_header(path, header, out, e) && read_elements(path, f, out, e);
    free(header);
    fclose(f);
    if (!ok)
        npy_free(out);
    return ok;
}

/* A header of a multiple of 64 bytes, as NumPy pads it. */
static size_t format_header(const NpyArray *a, char *out, size_t size) {
    int n = snprintf(out + 10, size - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                     types[a->type].descr);
    size_t len = 10 + (size_t)n;
    for (uint32_t i = 0; i < a->dims; i++)
        len += (size_t)snprintf(out + len, size - len, "%lld,%s", (long long)a->shape[i],
                                i + 1 < a->dims ? " " : "");
    len += (size_t)snprintf(out + len, size - len, "), }");
    while ((len + 1) % 64)
        out[len++] = ' ';
    out[len++] = '\n';
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)((len - 10) & 0xff);
    out[9] = (char)((len - 10) >> 8);
    return len;
}

bool npy_write(const char *path, const NpyArray *a, NpyError *e) {
    char header[512];
    size_t len = format_header(a, header, sizeof header);
    bool to_stdout = !strcmp(path, "-");
    FILE *f = to_stdout ? stdout : fopen(path, "wb");
    if (!f)
        return refuse(e, path, "%s", strerror(errno));
    size_t elements = (size_t)a->elements;
    bool ok = fwrite(header, 1, len, f) == len &&
              fwrite(a->data, types[a->type].size, elements, f) == elements;
    ok = (to_stdout ? fflush(f) : fclose(f)) == 0 && ok;
    return ok ? true : refuse(e, path, "cannot be written: %s", strerror(errno));
}
