/* libFuzzer target: any bytes as the arguments of a tensor map and as a tensor map itself. Copies
 * of one to five dimensions are made through both; whatever a map says, they are judged and do no
 * harm. */
#include "tle/tle_emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TENSOR = 1 << 16, MAX_RANK = 5 };

/* What the input is cut into; missing bytes are zero. */
typedef struct Input {
    uint32_t type, rank, interleave, swizzle, promotion, fill, raw;
    uint32_t shift; /* of the address */
    uint64_t dims[MAX_RANK], strides[MAX_RANK];
    uint32_t box[MAX_RANK], steps[MAX_RANK];
    int32_t at[MAX_RANK];
    uint8_t map[128];
} Input;

static const char head[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u32 x0, .param .u32 x1, "
    ".param .u32 x2, .param .u32 x3, .param .u32 x4)\n{\n"
    ".shared .align 128 .b8 sm[16384];\n.shared .align 8 .b64 bar;\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p<2>;\n"
    "mov.b64 %rd0, map;\ncvta.param.u64 %rd0, %rd0;\nmov.u32 %r5, sm;\nmov.u32 %r6, bar;\n"
    "ld.param.u32 %r0, [x0];\nld.param.u32 %r1, [x1];\nld.param.u32 %r2, [x2];\n"
    "ld.param.u32 %r3, [x3];\nld.param.u32 %r4, [x4];\n"
    "mbarrier.init.shared::cta.b64 [%r6], 1;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 1024;\n";

static void launch(tle_emu_device *device, uint32_t rank, Input *in) {
    static const char *const at[] = {"{%r0}", "{%r0, %r1}", "{%r0, %r1, %r2}",
                                     "{%r0, %r1, %r2, %r3}", "{%r0, %r1, %r2, %r3, %r4}"};
    char text[4096];
    tle_emu_module *m = NULL;
    tle_emu_launch_config config = {.struct_size = sizeof config, .block = {1}};
    void *params[] = {in->map, &in->at[0], &in->at[1], &in->at[2], &in->at[3], &in->at[4]};
    int n = snprintf(text, sizeof text,
                     "%scp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx"
                     "::bytes [%%r5], [%%rd0, %s], [%%r6];\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 %%p0, [%%r6], 0;\n"
                     "cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group [%%rd0, %s], "
                     "[%%r5];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n",
                     head, rank, at[rank - 1], rank, at[rank - 1]);
    if (tle_emu_module_load(device, text, (size_t)n, "copy", &m))
        abort();
    tle_emu_launch(device, tle_emu_module_kernel_at(m, 0), &config, params);
    tle_emu_module_unload(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tle_emu_options options = {.struct_size = sizeof options, .instruction_limit = 2000};
    tle_emu_device *device = NULL;
    void *tensor = NULL;
    _Alignas(64) uint8_t map[128];
    Input in = {0};
    memcpy(&in, data, size < sizeof in ? size : sizeof in);
    if (tle_emu_create(&options, &device) || tle_emu_alloc(device, TENSOR, &tensor))
        abort();
    memset(tensor, 1, TENSOR);
    if (!tle_emu_tensor_map_encode_tiled(
            device, map, in.type, in.rank, (char *)tensor + in.shift % 64, in.dims, in.strides,
            in.box, in.steps, in.interleave, in.swizzle, in.promotion, in.fill)) {
        for (size_t i = 0; i < sizeof map; i++)
            in.map[i] = (uint8_t)(in.raw & 1 ? in.map[i] ^ map[i] : map[i]);
    }
    launch(device, 1 + (in.rank + MAX_RANK - 1) % MAX_RANK, &in);
    tle_emu_destroy(device);
    return 0;
}
