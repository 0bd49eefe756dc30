/* Arguments of kernels from words of the command line. */
#include "cli/emu_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bad_word(const char *word, const char *why) {
    complain("argument '%s': %s", word, why);
    return EXIT_USAGE;
}

/* ---- numbers ---- */

static int integer(EmuArg *a, const char *text, size_t bytes) {
    char *end = NULL;
    errno = 0;
    a->value = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    a->bytes = bytes;
    if (errno || end == text || *end)
        return bad_word(a->word, "is not an integer");
    if (bytes == 4 && (int64_t)a->value != (int32_t)a->value && a->value > UINT32_MAX)
        return bad_word(a->word, "does not fit 32 bits");
    return 0;
}

static int real(EmuArg *a, const char *text, size_t bytes) {
    char *end = NULL;
    double wide = strtod(text, &end);
    float narrow = (float)wide;
    a->bytes = bytes;
    if (end == text || *end)
        return bad_word(a->word, "is not a number");
    memcpy(&a->value, bytes == 4 ? (void *)&narrow : (void *)&wide, bytes);
    return 0;
}

/* ---- memory ---- */

static int make_memory(tle_emu_device *device, EmuArg *a, size_t bytes, const void *from) {
    if (tle_emu_alloc(device, bytes ? bytes : 1, &a->memory))
        return complain("argument '%s': %s", a->word, tle_emu_last_error(device));
    if (from)
        memcpy(a->memory, from, bytes);
    a->value = (uint64_t)(uintptr_t)a->memory;
    a->bytes = sizeof a->value;
    return 0;
}

static int input(tle_emu_device *device, EmuArg *a, const char *path) {
    NpyError e;
    if (!npy_read(path, &a->array, &e))
        return complain("%s", e.text);
    return make_memory(device, a, (size_t)a->array.elements * npy_type_size(a->array.type),
                       a->array.data);
}

/* "4x128" into dims and elements. */
static bool parse_shape(const char *text, NpyArray *array) {
    array->elements = 1;
    while (array->dims < NPY_MAX_DIMS) {
        char *end = NULL;
        long long n = strtoll(text, &end, 10);
        if (end == text || n < 0 || __builtin_mul_overflow(array->elements, n, &array->elements) ||
            array->elements > INT64_MAX / 8)
            return false;
        array->shape[array->dims++] = n;
        if (!*end)
            return true;
        if (*end != 'x')
            return false;
        text = end + 1;
    }
    return false;
}

/* FILE:SHAPE:TYPE */
static int output(tle_emu_device *device, EmuArg *a, const char *text) {
    char *type, *shape;
    a->path = strdup(text);
    if (!a->path)
        return complain("no memory");
    type = strrchr(a->path, ':');
    if (type)
        *type++ = '\0';
    shape = type ? strrchr(a->path, ':') : NULL;
    if (shape)
        *shape++ = '\0';
    if (!shape || !parse_shape(shape, &a->array) || !npy_type_named(type, &a->array.type))
        return bad_word(a->word, "is not out=FILE:SHAPE:TYPE, such as out=y.npy:4x128:f4");
    return make_memory(device, a, (size_t)a->array.elements * npy_type_size(a->array.type), NULL);
}

static int scratch(tle_emu_device *device, EmuArg *a, const char *text, bool cleared) {
    int failed = integer(a, text, 8);
    size_t bytes = (size_t)a->value;
    if (!failed)
        failed = make_memory(device, a, bytes, NULL);
    if (!failed && cleared) {
        memset(a->memory, 0, bytes);
        tle_emu_mark(device, a->memory, bytes ? bytes : 1, 1);
    }
    return failed;
}

/* ---- words ---- */

int emu_arg_make(tle_emu_device *device, const char *word, EmuArg *a) {
    const char *value = strchr(word, '=');
    size_t n = value ? (size_t)(value++ - word) : strlen(word);
#define IS(name) (n == sizeof name - 1 && !memcmp(word, name, n))
    a->word = word;
    if (!value && IS("null")) {
        a->bytes = sizeof a->value;
        return 0;
    }
    if (!value)
        return bad_word(word,
                        "is none of i32= u32= i64= u64= f32= f64= in= out= zeros= room= null");
    if (IS("i32") || IS("u32") || IS("i64") || IS("u64"))
        return integer(a, value, word[1] == '3' ? 4 : 8);
    if (IS("f32") || IS("f64"))
        return real(a, value, word[1] == '3' ? 4 : 8);
    if (IS("in"))
        return input(device, a, value);
    if (IS("out"))
        return output(device, a, value);
    if (IS("zeros") || IS("room"))
        return scratch(device, a, value, IS("zeros"));
#undef IS
    return bad_word(word, "is none of i32= u32= i64= u64= f32= f64= in= out= zeros= room= null");
}

int emu_arg_write(const EmuArg *a) {
    NpyError e;
    NpyArray view = a->array;
    view.data = a->memory;
    return !a->path || npy_write(a->path, &view, &e) ? 0 : complain("%s", e.text);
}

void emu_arg_free(EmuArg *a) {
    npy_free(&a->array);
    free(a->path);
}
