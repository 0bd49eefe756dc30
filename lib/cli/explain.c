/* `tle explain`: the parameters of a call that is only asked about. No memory is touched:
 * explaining looks at addresses for their alignment only. */
#include "cli/arrays.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Question {
    int64_t rows, columns, k, align;
    const int32_t *lengths;
} Question;

static const void *address(int64_t number) {
    return (const void *)(uintptr_t)number;
}

static int read_question(const Options *o, const char *op, int64_t least_align, Question *q) {
    if (!o->value[OPT_columns] || !o->value[OPT_k])
        return complain("explain %s: --columns and --k are needed", op), EXIT_USAGE;
    if (!options_int(o, OPT_rows, INT64_MIN, INT64_MAX, 1, &q->rows) ||
        !options_int(o, OPT_columns, INT64_MIN, INT64_MAX, 0, &q->columns) ||
        !options_int(o, OPT_k, INT64_MIN, INT64_MAX, 0, &q->k) ||
        !options_int(o, OPT_align, least_align, 1 << 20, 16, &q->align))
        return EXIT_USAGE;
    if (q->align & (q->align - 1))
        return complain("--align is %lld; it is a power of two", (long long)q->align), EXIT_USAGE;
    q->lengths = o->value[OPT_has_lengths] ? (const int32_t *)address(4) : NULL;
    return 0;
}

/* From row to row, so that all begin at multiples of the alignment. */
static int64_t stride_of(const Question *q, int64_t element) {
    int64_t step = q->align > element ? q->align / element : 1;
    int64_t columns = q->columns > 0 && q->columns < INT64_MAX - step ? q->columns : 0;
    return (columns + step - 1) / step * step;
}

/* The functions of an operator that answer. */
typedef struct Answers {
    tle_status (*explain)(tle_handle handle, const void *params, char *text, size_t size,
                          size_t *needed);
    tle_status (*workspace_size)(tle_handle handle, const void *params, size_t *size);
} Answers;

/* A call that is refused is an answer, too, but the exit status tells. */
static int print_answer(tle_handle handle, const Answers *a, const void *params) {
    size_t needed = 0;
    tle_status status = a->explain(handle, params, NULL, 0, &needed);
    char *text = status ? NULL : (char *)malloc(needed);
    if (text)
        status = a->explain(handle, params, text, needed, NULL);
    if (!status && text)
        fputs(text, stdout);
    free(text);
    if (status || !text)
        return status ? complain_status("explain", status) : complain("no memory");
    return a->workspace_size(handle, params, &needed) ? EXIT_FAILED : 0;
}

/* ---- topk ---- */

static tle_status explain_topk_params(tle_handle h, const void *p, char *text, size_t size,
                                      size_t *needed) {
    return tle_topk_select_explain(h, (const tle_topk_select_params *)p, text, size, needed);
}

static tle_status size_of_topk(tle_handle h, const void *p, size_t *size) {
    return tle_topk_select_workspace_size(h, (const tle_topk_select_params *)p, size);
}

int explain_topk(const Options *o, tle_handle handle) {
    static const Answers answers = {explain_topk_params, size_of_topk};
    Question q = {0};
    const KeyType *type = NULL;
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    int failed = key_type_option(o, &type);
    int64_t element = failed ? 0 : (int64_t)npy_type_size(type->file);
    if (!failed)
        failed = read_question(o, "topk", element, &q);
    if (failed)
        return failed;
    p.dtype = type->dtype;
    p.rows = q.rows;
    p.columns = q.columns;
    p.k = q.k;
    p.scores = address(q.align);
    p.row_stride = stride_of(&q, element);
    p.index_row_stride = p.value_row_stride = q.k > 0 ? q.k : 1;
    p.lengths = q.lengths;
    p.row_starts = o->value[OPT_has_row_starts] ? (const int32_t *)address(4) : NULL;
    p.sorted = o->value[OPT_sorted] != NULL;
    p.values = o->value[OPT_form] ? (void *)(uintptr_t)8 : NULL;
    return print_answer(handle, &answers, &p);
}

/* ---- radix ---- */

static tle_status explain_radix_params(tle_handle h, const void *p, char *text, size_t size,
                                       size_t *needed) {
    return tle_radix_select_explain(h, (const tle_radix_select_params *)p, text, size, needed);
}

static tle_status size_of_radix(tle_handle h, const void *p, size_t *size) {
    return tle_radix_select_workspace_size(h, (const tle_radix_select_params *)p, size);
}

int explain_radix(const Options *o, tle_handle handle) {
    static const Answers answers = {explain_radix_params, size_of_radix};
    Question q = {0};
    const KeyType *type = NULL;
    int64_t payload_bytes = 0;
    tle_radix_select_params p = TLE_RADIX_SELECT_PARAMS_INIT;
    int failed = key_type_option(o, &type);
    int64_t element = failed ? 0 : (int64_t)npy_type_size(type->file);
    if (!failed)
        failed = read_question(o, "radix", element, &q);
    if (!failed && !options_int(o, OPT_payload_bytes, 0, 8, 0, &payload_bytes))
        failed = EXIT_USAGE;
    if (failed)
        return failed;
    p.dtype = type->dtype;
    p.rows = q.rows;
    p.columns = q.columns;
    p.k = q.k;
    p.keys = address(q.align);
    p.key_row_stride = p.payload_row_stride = stride_of(&q, element);
    p.lengths = q.lengths;
    p.order = o->value[OPT_smallest] ? TLE_SELECT_SMALLEST : TLE_SELECT_LARGEST;
    p.sorted = o->value[OPT_sorted] != NULL;
    p.payload_bytes = (int32_t)payload_bytes;
    p.index_row_stride = p.payload_out_row_stride = q.k > 0 ? q.k : 1;
    return print_answer(handle, &answers, &p);
}
