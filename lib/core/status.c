/* Names and phrases of the statuses, and the proof that the public header has the same numbers. */
#include <tle/tle.h>

#define X(name, number, phrase)                                                                    \
    _Static_assert(TLE_STATUS_##name == (number), "tle.h disagrees with status.def: " #name);
#include "core/status.def"
#undef X

const char *tle_status_name(tle_status status) {
    switch (status) {
#define X(name, number, phrase)                                                                    \
    case TLE_STATUS_##name:                                                                        \
        return "TLE_STATUS_" #name;
#include "core/status.def"
#undef X
    }
    return "TLE_STATUS_UNKNOWN";
}

const char *tle_status_string(tle_status status) {
    switch (status) {
#define X(name, number, phrase)                                                                    \
    case TLE_STATUS_##name:                                                                        \
        return phrase;
#include "core/status.def"
#undef X
    }
    return "not a status of this version";
}
