/* libFuzzer target: any bytes as PTX. What loads is launched, with all checks and few instructions:
 * whatever a program does, it is judged and does no harm. */
#include "tle/tle_emu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_PARAM = 1 << 16, MAX_PARAMS = 64 };

static void launch(tle_emu_device *device, tle_emu_kernel *kernel, void *memory) {
    tle_emu_kernel_info info = {.struct_size = sizeof info};
    tle_emu_launch_config config = {.struct_size = sizeof config, .grid = {2}, .block = {40}};
    uint8_t *room;
    void *params[MAX_PARAMS];
    tle_emu_kernel_get_info(kernel, &info);
    if (info.param_count > MAX_PARAMS || !(room = calloc(1, MAX_PARAM + 64)))
        return;
    for (size_t i = 0; i + sizeof memory <= MAX_PARAM; i += sizeof memory)
        memcpy(room + i, &memory, sizeof memory);
    for (uint32_t i = 0; i < info.param_count; i++) {
        size_t bytes = 0, align = 0;
        tle_emu_kernel_param(kernel, i, &bytes, &align);
        params[i] = room;
        if (bytes > MAX_PARAM)
            info.param_count = 0;
    }
    for (int k = 0; k < 3; k++)
        if (info.required_block[k])
            config.block[k] = info.required_block[k];
    for (int k = 0; k < 3 && info.required_cluster[0]; k++)
        config.grid[k] = info.required_cluster[k];
    if (info.uses_dynamic_shared)
        config.dynamic_shared_bytes = 1024;
    if (info.local_bytes < 1 << 16)
        tle_emu_launch(device, kernel, &config, params);
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tle_emu_options options = {.struct_size = sizeof options,
                               .schedule = TLE_EMU_SCHEDULE_RANDOM,
                               .seed = size,
                               .instruction_limit = 4000,
                               .cost = 1};
    tle_emu_device *device = NULL;
    tle_emu_module *module = NULL;
    void *memory = NULL;
    if (tle_emu_create(&options, &device))
        abort();
    if (tle_emu_module_load(device, (const char *)data, size, "fuzz.ptx", &module) == TLE_EMU_OK &&
        tle_emu_alloc(device, 4096, &memory) == TLE_EMU_OK)
        for (uint32_t i = 0; i < tle_emu_module_kernel_count(module) && i < 4; i++)
            launch(device, tle_emu_module_kernel_at(module, i), memory);
    if (!module && !*tle_emu_last_error(device))
        abort();
    tle_emu_destroy(device);
    return 0;
}
