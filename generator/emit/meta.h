/* Metadata of one compiled variant: the JSON object of docs/metadata.md. */
#ifndef EMIT_META_H
#define EMIT_META_H

#include "base/str.h"

typedef struct MetaParam {
    const char *name, *type; /* type as in a signature: "*fp32", "i32" */
    uint32_t offset, size, align;
} MetaParam;

typedef struct MetaConst {
    const char *name, *json;
} MetaConst;

typedef struct Meta {
    const char *name, *op, *kernel, *source, *source_sha256, *arch;
    uint32_t num_warps, threads, cluster[3];
    bool cooperative;
    bool dependent_launch; /* waits by itself for the kernel launched before */
    uint32_t shared_bytes;
    uint32_t zeroed; /* bytes of workspace that a call needs, zeroed before the launch */
    const MetaParam *params;
    uint32_t n_params;
    const MetaConst *consts;
    uint32_t n_consts;
    const char *legal; /* JSON */
    const char *meant; /* JSON, or NULL: for all that is legal */
    uint32_t ptx_instructions;
    bool assembled; /* the three below are known */
    uint32_t registers, spill_bytes, cubin_bytes;
} Meta;

void meta_print(const Meta *m, StrBuf *out);
/* Places parameters one after the other as the PTX ABI does: each at a multiple of its size. */
void meta_place_params(MetaParam *params, uint32_t n);
/* A Python literal as JSON: 1, 1.5, True, None, 'text', or any other text as a string. */
const char *meta_const_json(Arena *a, const char *literal);

#endif
