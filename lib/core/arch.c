/* Which kernels run where. */
#include "core/arch.h"

#include <string.h>

bool tlei_arch_parse(const char *name, TleiArch *out) {
    if (strncmp(name, "sm_", 3))
        return false;
    int32_t number = 0;
    const char *p = name + 3;
    for (; *p >= '0' && *p <= '9' && number < 1000; p++)
        number = number * 10 + (*p - '0');
    char suffix = *p;
    if (number < 10 || (suffix && (p[1] || (suffix != 'a' && suffix != 'f'))))
        return false;
    *out = (TleiArch){number / 10, number % 10, suffix};
    return true;
}

int32_t tlei_arch_rank(const char *built, int32_t major, int32_t minor) {
    TleiArch a;
    if (!tlei_arch_parse(built, &a) || a.major != major || a.minor > minor)
        return 0;
    switch (a.suffix) {
    case 'a':
        return a.minor == minor ? 300 : 0;
    case 'f':
        return 200 + a.minor;
    default:
        return 100 + a.minor;
    }
}
