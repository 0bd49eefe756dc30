/* Architecture names as NVIDIA writes them: sm_90a runs on 9.0 only, sm_100f on its family, sm_80
 * on 8.0 and later minors. */
#ifndef CORE_ARCH_H
#define CORE_ARCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct TleiArch {
    int32_t major, minor;
    char suffix; /* 'a', 'f' or 0 */
} TleiArch;

bool tlei_arch_parse(const char *name, TleiArch *out);
/* How well kernels built for `built` suit a device of that compute capability; 0: they do not run.
 * An exact 'a' ranks before a family 'f', that before a plain one, nearer minors first. */
int32_t tlei_arch_rank(const char *built, int32_t major, int32_t minor);

#endif
