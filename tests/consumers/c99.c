/* A C99 program that has the public header and the library, and nothing else of the project. */
#include <tle/tle.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    tle_handle_options options = TLE_HANDLE_OPTIONS_INIT;
    tle_handle handle = NULL;
    options.device_kind = TLE_DEVICE_NONE;
    if (tle_version() != (uint32_t)TLE_VERSION_HEX) {
        fprintf(stderr, "the library is 0x%06x, the header 0x%06x\n", (unsigned)tle_version(),
                (unsigned)TLE_VERSION_HEX);
        return 1;
    }
    if (strcmp(tle_status_name(TLE_STATUS_INVALID_ARGUMENT), "TLE_STATUS_INVALID_ARGUMENT") != 0) {
        fprintf(stderr, "a status has the wrong name\n");
        return 1;
    }
    if (tle_create(NULL, &options) != TLE_STATUS_INVALID_ARGUMENT || tle_last_error()[0] == 0) {
        fprintf(stderr, "a null handle is not refused with a sentence\n");
        return 1;
    }
    tle_radix_select_params params = TLE_RADIX_SELECT_PARAMS_INIT;
    if (tle_radix_select_supported(handle, &params, NULL, 0) != TLE_STATUS_INVALID_ARGUMENT) {
        fprintf(stderr, "a question without a handle is not refused\n");
        return 1;
    }
    tle_destroy(handle);
    printf("%s\n", tle_build_info());
    return 0;
}
