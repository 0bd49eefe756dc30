/* The PTX of a compiled variant, to be launched on the emulator as it is. */
#ifndef KERNELS_SUPPORT_VARIANT_H
#define KERNELS_SUPPORT_VARIANT_H

#include "tle/tle.h"

/* Its text (the caller frees it) and what a launch must know of it; NULL, said on standard error,
 * if the library has none of that name. */
char *variant_ptx(const char *variant, size_t *size, tle_variant_info *info);

#endif
