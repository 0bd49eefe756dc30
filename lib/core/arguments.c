/* Arguments that every operator has: element types, sizes, strides and memory. */
#include "core/arguments.h"
#include "core/text.h"

enum { MAX_ALIGN = 256 };

/* ---- numbers ---- */

const TleiDtype *tlei_dtype(int32_t number) {
    static const TleiDtype types[] = {
#define X(suffix, name, bytes) {TLE_DTYPE_##suffix, name, "TLE_DTYPE_" #suffix, bytes},
#include "core/dtype.def"
#undef X
    };
    for (uint32_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].number == number)
            return &types[i];
    return NULL;
}

static tle_status refuse_dtype(const TleiDtype *type, const int32_t *taken, uint32_t count,
                               const char *what, TleiError *e) {
    char text[400];
    TleiText list;
    tlei_text_init(&list, text, sizeof text);
    for (uint32_t i = 0; i < count; i++)
        tlei_text_add(&list, "%s%s (0x%x)",
                      i == 0          ? ""
                      : i + 1 < count ? ", "
                                      : " or ",
                      tlei_dtype(taken[i])->constant, (unsigned)taken[i]);
    return tlei_fail(e, TLE_STATUS_UNSUPPORTED_DTYPE, "dtype is 0x%x; %s are %s",
                     (unsigned)type->number, what, text);
}

tle_status tlei_check_dtype(int32_t dtype, const int32_t *taken, uint32_t count, const char *what,
                            const TleiDtype **out, TleiError *e) {
    *out = tlei_dtype(dtype);
    if (!*out)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "dtype is 0x%x, which is no tle_dtype",
                         (unsigned)dtype);
    for (uint32_t i = 0; i < count; i++)
        if (taken[i] == dtype)
            return TLE_STATUS_OK;
    return refuse_dtype(*out, taken, count, what, e);
}

tle_status tlei_check_number(const char *name, int64_t value, int64_t least, int64_t most,
                             TleiError *e) {
    if (value < least)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is %lld; the least is %lld", name,
                         (long long)value, (long long)least);
    if (value > most)
        return tlei_fail(e, TLE_STATUS_UNSUPPORTED_SHAPE, "%s is %lld; the most is %lld", name,
                         (long long)value, (long long)most);
    return TLE_STATUS_OK;
}

tle_status tlei_check_switch(const char *name, int32_t value, TleiError *e) {
    if (value != 0 && value != 1)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is %d; it must be 0 or 1", name,
                         value);
    return TLE_STATUS_OK;
}

tle_status tlei_check_flags(uint32_t flags, TleiError *e) {
    if (flags & ~TLE_LAUNCH_DEPENDENT)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "flags is 0x%x; only TLE_LAUNCH_DEPENDENT (0x%x) is defined", flags,
                         TLE_LAUNCH_DEPENDENT);
    return TLE_STATUS_OK;
}

tle_status tlei_check_stride(const char *name, bool present, int64_t stride, int64_t k,
                             TleiError *e) {
    if (present && stride < k)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is %lld; the least is k, %lld", name,
                         (long long)stride, (long long)k);
    return TLE_STATUS_OK;
}

/* ---- memory ---- */

/* Bytes from the first to the last of the elements; 0 for none. False on overflow. */
static bool extent(int64_t rows, int64_t stride, int64_t columns, uint32_t element,
                   uint64_t *bytes) {
    int64_t elements = 0;
    *bytes = 0;
    if (!rows || !columns)
        return true;
    if (__builtin_mul_overflow(rows - 1, stride, &elements) ||
        __builtin_add_overflow(elements, columns, &elements) || elements > INT64_MAX / element)
        return false;
    *bytes = (uint64_t)elements * element;
    return true;
}

tle_status tlei_set_range(TleiRange *r, bool present, const char *stride_name, int64_t rows,
                          int64_t stride, int64_t columns, TleiError *e) {
    if (present && !extent(rows, stride, columns, r->element, &r->bytes))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s is %lld; %lld such rows exceed the address space", stride_name,
                         (long long)stride, (long long)rows);
    return TLE_STATUS_OK;
}

void tlei_set_per_row(TleiRange *r, int64_t rows) {
    r->bytes = r->address ? (uint64_t)rows * r->element : 0;
}

static tle_status check_pointer(const TleiRange *r, TleiError *e) {
    uintptr_t address = (uintptr_t)r->address;
    if (!address && r->bytes)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is NULL", r->name);
    if (address % r->element)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s is %p; it must be a multiple of %u, the size of its element", r->name,
                         r->address, r->element);
    if (address + r->bytes < address)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s is %p; its %llu bytes reach past the end of the address space",
                         r->name, r->address, (unsigned long long)r->bytes);
    return TLE_STATUS_OK;
}

tle_status tlei_check_pointers(const TleiRange *r, uint32_t count, TleiError *e) {
    tle_status status = TLE_STATUS_OK;
    for (uint32_t i = 0; i < count && !status; i++)
        status = check_pointer(&r[i], e);
    return status;
}

static bool overlap(const TleiRange *a, const TleiRange *b) {
    uintptr_t x = (uintptr_t)a->address, y = (uintptr_t)b->address;
    return a->bytes && b->bytes && x < y + b->bytes && y < x + a->bytes;
}

tle_status tlei_check_overlaps(const TleiRange *r, uint32_t count, TleiError *e) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count && r[i].writable; j++)
            if (i != j && overlap(&r[i], &r[j]))
                return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                                 "%s overlaps %s; an output may overlap nothing else", r[i].name,
                                 r[j].name);
    return TLE_STATUS_OK;
}

int64_t tlei_row_alignment(const TleiRange *r, int64_t rows, int64_t stride, int64_t columns) {
    uint64_t bits = (uint64_t)(uintptr_t)r->address | (uint64_t)columns * r->element | MAX_ALIGN;
    if (rows > 1)
        bits |= (uint64_t)stride * r->element;
    return (int64_t)(bits & (~bits + 1));
}
