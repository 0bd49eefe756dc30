#include "kernels/support/radix_call_suite.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const int32_t dtypes[] = {TLE_DTYPE_FLOAT32, TLE_DTYPE_FLOAT16, TLE_DTYPE_BFLOAT16,
                                 TLE_DTYPE_INT32,   TLE_DTYPE_UINT32,  TLE_DTYPE_INT64,
                                 TLE_DTYPE_UINT64,  TLE_DTYPE_FLOAT64};

bool radix_call_dtypes(RadixCallVisit *visit, void *user) {
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (int kind = 0; kind < VALUES_COUNT; kind++) {
            RadixCall c = {.dtype = dtypes[d],
                           .rows = 2,
                           .columns = kind % 2 ? 6000 : 2999,
                           .k = 300 + kind,
                           .misalign = kind % 3,
                           .values = (ValueKind)kind,
                           .smallest = kind % 4 == 3,
                           .seed = 7 + d};
            if (!visit(&c, user))
                return false;
        }
    return true;
}

bool radix_call_orders(RadixCallVisit *visit, void *user) {
    static const ValueKind kinds[] = {VALUES_BITS,   VALUES_NAN_SOME,   VALUES_ZEROS,
                                      VALUES_GRID,   VALUES_INFINITIES, VALUES_TWO,
                                      VALUES_NAN_ALL};
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (size_t i = 0; i < COUNT(kinds); i++)
            for (int form = 0; form < 4; form++) {
                RadixCall c = {.dtype = dtypes[d],
                               .rows = 1,
                               .columns = 1500,
                               .k = 200,
                               .values = kinds[i],
                               .smallest = form % 2 != 0,
                               .sorted = form / 2 != 0,
                               .seed = 11 + i};
                if (!visit(&c, user))
                    return false;
            }
    return true;
}

bool radix_call_sorted(RadixCallVisit *visit, void *user) {
    static const struct {
        int64_t columns, k;
    } shapes[] = {{1, 1},       {2, 2},       {33, 33},     {1000, 1},    {1024, 1024},
                  {1025, 1025}, {4096, 4096}, {4097, 4097}, {8192, 8192}, {9000, 8192},
                  {9000, 4095}, {300, 4000},  {20000, 3000}};
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (size_t i = d % 2; i < COUNT(shapes); i += 2) {
            RadixCall c = {.dtype = dtypes[d],
                           .rows = 1,
                           .columns = shapes[i].columns,
                           .k = shapes[i].k,
                           .values = i % 3 ? VALUES_NORMAL : VALUES_GRID,
                           .smallest = i % 4 > 1,
                           .sorted = true,
                           .payload_bytes = i % 5 ? 0 : 4,
                           .seed = 20 + i};
            if (!visit(&c, user))
                return false;
        }
    return true;
}

bool radix_call_payload(RadixCallVisit *visit, void *user) {
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (int form = 0; form < 8; form++) {
            RadixCall c = {.dtype = dtypes[d],
                           .rows = 3,
                           .columns = 2000 + form,
                           .k = form % 3 ? 150 : 2500,
                           .padding = form,
                           .misalign = form % 2,
                           .values = VALUES_GRID,
                           .sorted = form % 4 == 2,
                           .payload_bytes = form & 1 ? 8 : 4,
                           .no_indices = (form & 2) != 0,
                           .no_values = (form & 4) != 0,
                           .seed = 30 + (uint64_t)form};
            if (!visit(&c, user))
                return false;
        }
    return true;
}

bool radix_call_lengths(RadixCallVisit *visit, void *user, int64_t max_columns) {
    static const int64_t columns[] = {1,     2,     3,     255,   511,    512,    513,    1023,
                                      1025,  4095,  4096,  4097,  8191,   8192,   8193,   16384,
                                      16385, 32769, 65536, 99999, 131072, 262144, 1048576};
    for (size_t i = 0; i < COUNT(columns) && columns[i] <= max_columns; i++)
        for (int form = 0; form < 2; form++) {
            RadixCall c = {.dtype = dtypes[(2 * i + (size_t)form) % COUNT(dtypes)],
                           .rows = 1,
                           .columns = columns[i],
                           .k = form ? 1000 : 2048,
                           .values = VALUES_NORMAL,
                           .sorted = form != 0,
                           .seed = i + 1};
            if (!visit(&c, user))
                return false;
        }
    return true;
}

bool radix_call_regimes(RadixCallVisit *visit, void *user, int64_t max_columns) {
    static const struct {
        int64_t rows, columns, k;
    } regimes[] = {{70, 4096, 64},  {3, 9000, 8192},   {33, 20000, 2048},  {2, 60000, 3000},
                   {9, 70000, 500}, {1, 131072, 2048}, {1, 262144, 20000}, {1, 1048576, 64}};
    for (size_t i = 0; i < COUNT(regimes); i++)
        for (size_t kind = 0; kind < VALUES_COUNT && regimes[i].columns <= max_columns; kind++) {
            size_t turn = i + kind;
            RadixCall c = {.dtype = dtypes[turn % COUNT(dtypes)],
                           .rows = regimes[i].rows,
                           .columns = regimes[i].columns,
                           .k = regimes[i].k,
                           .values = (ValueKind)kind,
                           .lengths = turn % 3 == 2,
                           .length = RADIX_CALL_RAGGED,
                           .smallest = turn % 2 != 0,
                           .sorted = turn % 5 > 2 && regimes[i].k <= TLE_RADIX_SELECT_MAX_SORTED_K,
                           .payload_bytes = turn % 7 ? 0 : 8,
                           .seed = 70 + i};
            if (!visit(&c, user))
                return false;
        }
    return true;
}

bool radix_call_ragged(RadixCallVisit *visit, void *user) {
    static const int32_t lengths[] = {
        RADIX_CALL_RAGGED, 0, 1, -1, INT32_MIN + 1, 299, 300, 3999, 4000, INT32_MAX};
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (size_t i = 0; i < COUNT(lengths); i++) {
            RadixCall c = {.dtype = dtypes[d],
                           .rows = i ? 2 : 9,
                           .columns = 4000,
                           .k = 300,
                           .values = i % 2 ? VALUES_NORMAL : VALUES_GRID,
                           .lengths = true,
                           .length = lengths[i],
                           .smallest = (i + d) % 2 != 0,
                           .sorted = (i + d) % 3 == 0,
                           .payload_bytes = i % 3 == 2 ? 4 : 0,
                           .seed = 40 + i};
            if (!visit(&c, user))
                return false;
        }
    return true;
}

bool radix_call_strides(RadixCallVisit *visit, void *user) {
    static const struct {
        int64_t columns, stride, padding, misalign;
    } forms[] = {{4096, 4096, 0, 1}, {4096, 4097, 0, 0},  {4096, 4100, 88, 0}, {4095, 4096, 1, 0},
                 {4097, 5001, 0, 3}, {2500, 1, 0, 0},     {2500, 0, 0, 2},     {4096, 8192, 7, 4},
                 {9001, 9004, 0, 0}, {12288, 12290, 0, 2}};
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (size_t i = d % 2; i < COUNT(forms); i += 2) {
            RadixCall c = {.dtype = dtypes[d],
                           .rows = 4,
                           .columns = forms[i].columns,
                           .row_stride = forms[i].stride,
                           .k = 300,
                           .padding = forms[i].padding,
                           .misalign = forms[i].misalign,
                           .values = VALUES_NORMAL,
                           .sorted = i % 4 > 1,
                           .payload_bytes = i % 3 ? 0 : 8,
                           .seed = 50 + i};
            if (!visit(&c, user))
                return false;
        }
    return true;
}

bool radix_call_ks(RadixCallVisit *visit, void *user) {
    static const int64_t ks[] = {1,    2,    31,   32,   33,   1000,  1023,  1024,  1025, 4095,
                                 4096, 4097, 8191, 8192, 8193, 11999, 12000, 12001, 15000};
    for (size_t i = 0; i < COUNT(ks); i++)
        for (int form = 0; form < 2; form++) {
            RadixCall c = {.dtype = dtypes[(i + 3 * (size_t)form) % COUNT(dtypes)],
                           .rows = 1,
                           .columns = form ? 4000 : 12000,
                           .k = ks[i],
                           .values = i % 2 ? VALUES_GRID : VALUES_BITS,
                           .smallest = form != 0,
                           .seed = 60 + i};
            c.sorted = c.k <= TLE_RADIX_SELECT_MAX_SORTED_K && i % 2;
            if (!visit(&c, user))
                return false;
        }
    return true;
}

static RadixCall draw_case(Random *r, int64_t max_columns) {
    int64_t top = (int64_t)1 << (1 + random_below(r, 14));
    RadixCall c = {
        .dtype = dtypes[random_below(r, COUNT(dtypes))],
        .rows = 1 + (int64_t)random_below(r, 4),
        .columns = 1 + (int64_t)random_below(r, (uint64_t)(top < max_columns ? top : max_columns))};
    c.k = 1 + (int64_t)random_below(r, 1u << (1 + random_below(r, 13)));
    c.padding = (int64_t)random_below(r, 4);
    if (random_below(r, 2)) { /* as wide loads need it, for any type */
        c.columns = (c.columns + 7) / 8 * 8;
        c.row_stride = c.columns + 8 * (int64_t)random_below(r, 3);
    } else {
        c.row_stride = c.columns + (int64_t)random_below(r, 9);
        c.misalign = (int64_t)random_below(r, 5);
    }
    c.values = (ValueKind)random_below(r, VALUES_COUNT);
    c.lengths = random_below(r, 2) != 0;
    c.length = RADIX_CALL_RAGGED;
    c.smallest = random_below(r, 2) != 0;
    c.sorted = random_below(r, 2) != 0;
    c.payload_bytes = (int32_t)random_below(r, 3) * 4;
    c.no_indices = random_below(r, 4) == 0;
    c.no_values = !c.no_indices && random_below(r, 3) == 0;
    c.seed = random_bits(r);
    return c;
}

bool radix_call_random(RadixCallVisit *visit, void *user, uint64_t seed, uint32_t cases,
                       int64_t max_columns) {
    Random r = {seed};
    for (uint32_t i = 0; i < cases; i++) {
        RadixCall c = draw_case(&r, max_columns);
        if (!visit(&c, user))
            return false;
    }
    return true;
}
