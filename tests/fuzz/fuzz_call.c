/* libFuzzer target: any bytes as the parameters of a call. The first byte names the operator. What
 * is answered must be consistent: a refusal has its sentence, a call that would run has none, and
 * what the questions accept the call accepts up to the launch, which no device is there for. */
#include "tle/tle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* More than any struct_size that the library reads up to. */
enum { PARAMS_BYTES = 65536 };

typedef union Params {
    tle_topk_select_params topk;
    tle_radix_select_params radix;
    uint8_t bytes[PARAMS_BYTES];
} Params;

static tle_handle open_handle(void) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    tle_handle h = NULL;
    o.device_kind = TLE_DEVICE_NONE;
    o.arch = "sm_90a";
    if (tle_create(&h, &o))
        abort();
    return h;
}

typedef struct Answers {
    tle_status supported, sized, called;
    size_t workspace;
    char reason[1024];
} Answers;

static Answers ask(tle_handle h, int op, const Params *p) {
    Answers a = {0};
    char text[64];
    void *workspace = (void *)(uintptr_t)(INT64_C(1) << 62);
    if (op) {
        a.supported = tle_radix_select_supported(h, &p->radix, a.reason, sizeof a.reason);
        a.sized = tle_radix_select_workspace_size(h, &p->radix, &a.workspace);
        a.called = tle_radix_select(h, &p->radix, workspace, a.workspace, NULL);
        tle_radix_select_explain(h, &p->radix, text, sizeof text, NULL);
    } else {
        a.supported = tle_topk_select_supported(h, &p->topk, a.reason, sizeof a.reason);
        a.sized = tle_topk_select_workspace_size(h, &p->topk, &a.workspace);
        a.called = tle_topk_select(h, &p->topk, workspace, a.workspace, NULL);
        tle_topk_select_explain(h, &p->topk, text, sizeof text, NULL);
    }
    return a;
}

static int64_t rows_of(int op, const Params *p) {
    return op ? p->radix.rows : p->topk.rows;
}

static void judge(int op, const Params *p, const Answers *a) {
    if (!a->supported != !a->reason[0])
        abort();
    if (a->supported) { /* the workspace may be refused before or behind what else is wrong */
        if (!a->called || a->called == TLE_STATUS_DRIVER_NOT_FOUND)
            abort();
        return;
    }
    if (a->sized)
        abort();
    tle_status launched = rows_of(op, p) ? TLE_STATUS_DRIVER_NOT_FOUND : TLE_STATUS_OK;
    if (a->called != launched && !a->workspace) /* which may overlap an argument */
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tle_handle h; /* of all runs, as making one takes longer than a thousand calls */
    static Params p;
    if (!size)
        return 0;
    if (!h)
        h = open_handle();
    int op = data[0] & 1;
    memset(&p, 0, sizeof p);
    memcpy(p.bytes, data + 1, size - 1 < sizeof p ? size - 1 : sizeof p);
    Answers a = ask(h, op, &p);
    judge(op, &p, &a);
    return 0;
}
