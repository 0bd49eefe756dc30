#include "kernels/support/radix_call.h"

#include "cli/reference_radix.h"
#include "kernels/support/keys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void describe_radix_call(const void *of, char *text, size_t size) {
    const RadixCall *c = of;
    snprintf(text, size,
             "dtype 0x%x rows %lld columns %lld k %lld stride %lld padding %lld misalign %lld "
             "values %s length %d smallest %d sorted %d no_indices %d no_values %d payload %d "
             "seed %llu",
             (unsigned)c->dtype, (long long)c->rows, (long long)c->columns, (long long)c->k,
             (long long)c->row_stride, (long long)c->padding, (long long)c->misalign,
             value_kind_name(c->values), c->lengths ? c->length : -999, c->smallest, c->sorted,
             c->no_indices, c->no_values, c->payload_bytes, (unsigned long long)c->seed);
}

/* The outputs come first. */
enum { INDICES, VALUES, PAYLOAD_OUT, OUTPUTS, KEYS = OUTPUTS, PAYLOAD, LENGTHS, BUFFERS };

typedef struct Buffer {
    CaseBuffer memory;
    char *expected; /* of outputs; all of the memory as it should be left */
    size_t element;
    int64_t stride; /* elements from row to row */
    bool present;
} Buffer;

typedef struct Run {
    tle_handle h;
    Arena *arena; /* NULL: every buffer is allocated */
    RadixCall c;
    Buffer buffers[BUFFERS];
    CaseBuffer workspace;
} Run;

static void lay_out(Run *r, int buffer, bool present, size_t element, int64_t stride,
                    int64_t columns) {
    int64_t elements = r->c.misalign + (r->c.rows - 1) * stride + columns;
    r->buffers[buffer] = (Buffer){.element = element, .stride = stride, .present = present};
    r->buffers[buffer].memory.bytes = (size_t)elements * element;
}

static void lay_out_all(Run *r) {
    const RadixCall *c = &r->c;
    size_t key = reference_key_bytes(c->dtype), payload = (size_t)c->payload_bytes;
    lay_out(r, KEYS, true, key, c->row_stride, c->columns);
    lay_out(r, PAYLOAD, payload != 0, payload, c->columns + c->padding, c->columns);
    lay_out(r, LENGTHS, c->lengths, 4, 1, 1);
    /* Outputs have different strides, so that none can stand in for another's. */
    lay_out(r, INDICES, !c->no_indices, 4, c->k + c->padding, c->k);
    lay_out(r, VALUES, !c->no_values, key, c->k + c->padding + 1, c->k);
    lay_out(r, PAYLOAD_OUT, payload != 0, payload, c->k + c->padding + 2, c->k);
}

static void *at_base(const Run *r, const Buffer *b, void *memory) {
    return b->present ? (char *)memory + (size_t)r->c.misalign * b->element : NULL;
}

static void *host_of(const Run *r, int buffer) {
    return at_base(r, &r->buffers[buffer], r->buffers[buffer].memory.host);
}

static void *expected_of(const Run *r, int buffer) {
    return at_base(r, &r->buffers[buffer], r->buffers[buffer].expected);
}

static void *device_of(const Run *r, int buffer) {
    return at_base(r, &r->buffers[buffer], r->buffers[buffer].memory.device);
}

static bool allocate(Run *r) {
    for (int i = 0; i < BUFFERS; i++) {
        Buffer *b = &r->buffers[i];
        size_t bytes = b->memory.bytes;
        b->expected = malloc(bytes + 1);
        if (!b->expected || !buffer_open(&b->memory, r->h, r->arena, bytes))
            return false;
        memset(b->memory.host, ARENA_GUARD, bytes);
        memset(b->expected, ARENA_GUARD, bytes);
    }
    return true;
}

static bool make_inputs(void *run) {
    Run *r = run;
    const RadixCall *c = &r->c;
    Random rng = {c->seed};
    if (!allocate(r))
        return false;
    char *keys = host_of(r, KEYS);
    int32_t *lengths = host_of(r, LENGTHS);
    for (int64_t i = 0; i < c->rows; i++) {
        char *row = keys + (size_t)(i * c->row_stride) * r->buffers[KEYS].element;
        if (!fill_keys(row, c->dtype, c->columns, c->values, &rng))
            return false;
        if (lengths)
            lengths[i] = c->length != RADIX_CALL_RAGGED
                             ? c->length
                             : (int32_t)random_below(&rng, (uint64_t)c->columns + 7) - 3;
    }
    for (size_t i = 0; i < r->buffers[PAYLOAD].memory.bytes; i++)
        r->buffers[PAYLOAD].memory.host[i] = (char)random_bits(&rng);
    return true;
}

static bool expect(void *run) {
    Run *r = run;
    const RadixCall *c = &r->c;
    ReferenceRadix reference = {
        .dtype = c->dtype,
        .keys = host_of(r, KEYS),
        .rows = c->rows,
        .columns = c->columns,
        .key_row_stride = c->row_stride,
        .k = c->k,
        .lengths = host_of(r, LENGTHS),
        .smallest = c->smallest,
        .sorted = c->sorted,
        .payload_bytes = (size_t)c->payload_bytes,
        .payload = host_of(r, PAYLOAD),
        .payload_row_stride = r->buffers[PAYLOAD].stride,
        .indices = expected_of(r, INDICES),
        .index_row_stride = r->buffers[INDICES].stride,
        .values = expected_of(r, VALUES),
        .value_row_stride = r->buffers[VALUES].stride,
        .payload_out = expected_of(r, PAYLOAD_OUT),
        .payload_out_row_stride = r->buffers[PAYLOAD_OUT].stride,
    };
    return reference_radix(&reference);
}

static tle_radix_select_params params_of(const Run *r) {
    const RadixCall *c = &r->c;
    tle_radix_select_params p = TLE_RADIX_SELECT_PARAMS_INIT;
    p.dtype = c->dtype;
    p.rows = c->rows;
    p.columns = c->columns;
    p.k = c->k;
    p.keys = device_of(r, KEYS);
    p.key_row_stride = c->row_stride;
    p.lengths = device_of(r, LENGTHS);
    p.order = c->smallest ? TLE_SELECT_SMALLEST : TLE_SELECT_LARGEST;
    p.sorted = c->sorted;
    p.payload_bytes = c->payload_bytes;
    p.payload = device_of(r, PAYLOAD);
    p.payload_row_stride = r->buffers[PAYLOAD].stride;
    p.indices = device_of(r, INDICES);
    p.index_row_stride = r->buffers[INDICES].stride;
    p.values = device_of(r, VALUES);
    p.value_row_stride = r->buffers[VALUES].stride;
    p.payload_out = device_of(r, PAYLOAD_OUT);
    p.payload_out_row_stride = r->buffers[PAYLOAD_OUT].stride;
    return p;
}

static tle_status reserve(void *run) {
    Run *r = run;
    tle_radix_select_params p = params_of(r);
    size_t size = 0;
    tle_status status = tle_radix_select_workspace_size(r->h, &p, &size);
    return status                                                      ? status
           : !size || buffer_open(&r->workspace, r->h, r->arena, size) ? TLE_STATUS_OK
                                                                       : TLE_STATUS_OUT_OF_MEMORY;
}

static tle_status enqueue(const void *run, tle_stream stream) {
    const Run *r = run;
    tle_radix_select_params p = params_of(r);
    return tle_radix_select(r->h, &p, r->workspace.device, r->workspace.bytes, stream);
}

static uint64_t element_at(const Buffer *b, const char *memory, size_t i) {
    uint64_t bits = 0;
    memcpy(&bits, memory + i * b->element, b->element);
    return bits;
}

static bool compare(const Run *r, int output, char *why, size_t size) {
    static const char *const names[OUTPUTS] = {"index", "value", "payload"};
    const Buffer *b = &r->buffers[output];
    const char *found = b->memory.got;
    if (!b->memory.bytes || !memcmp(found, b->expected, b->memory.bytes))
        return true;
    size_t i = 0;
    while (element_at(b, found, i) == element_at(b, b->expected, i))
        i++;
    int64_t place = (int64_t)i - r->c.misalign;
    snprintf(why, size, "row %lld place %lld: %s is 0x%llx, expected 0x%llx",
             (long long)(place / b->stride), (long long)(place % b->stride), names[output],
             (unsigned long long)element_at(b, found, i),
             (unsigned long long)element_at(b, b->expected, i));
    return false;
}

static bool same(void *run, char *why, size_t size) {
    bool ok = true;
    for (int i = 0; i < OUTPUTS && ok; i++)
        ok = compare(run, i, why, size);
    return ok;
}

static void open_run(void *run, tle_handle h, Arena *arena, const void *of) {
    Run *r = run;
    const RadixCall *c = of;
    *r = (Run){.h = h, .arena = arena, .c = *c};
    if (!r->c.row_stride)
        r->c.row_stride = c->columns;
    lay_out_all(r);
}

static CaseBuffer *buffer_of(void *run, int i) {
    Run *r = run;
    return i < BUFFERS ? &r->buffers[i].memory : i == BUFFERS ? &r->workspace : NULL;
}

static void close_run(void *run) {
    Run *r = run;
    for (int i = 0; i <= BUFFERS; i++)
        buffer_close(buffer_of(r, i), r->h, r->arena);
    for (int i = 0; i < BUFFERS; i++)
        free(r->buffers[i].expected);
}

const CaseKind radix_calls = {
    .case_bytes = sizeof(RadixCall),
    .run_bytes = sizeof(Run),
    .outputs = OUTPUTS,
    .open = open_run,
    .make = make_inputs,
    .reserve = reserve,
    .expect = expect,
    .enqueue = enqueue,
    .same = same,
    .buffer = buffer_of,
    .close = close_run,
    .describe = describe_radix_call,
};

bool run_radix_call(tle_handle h, const RadixCall *c, char *why, size_t why_size) {
    return run_case(&radix_calls, h, c, c->stream, why, why_size);
}
