/* The library's own sources. */
#include "core/sources.h"

const TleiSources tlei_builtin_sources = {
    .files = tlei_embedded,
    .file_count = &tlei_embedded_count,
#ifdef TLE_EXTERNAL_PACKS
    .pack_files = TLEI_PACKS_BESIDE,
#else
    .pack_files = TLEI_PACKS_NAMED,
#endif
    .devices =
        {
            [TLE_DEVICE_CUDA] = &tlei_device_cuda,
            [TLE_DEVICE_EMU] = &tlei_device_emu,
            [TLE_DEVICE_NONE] = &tlei_device_none,
        },
};
