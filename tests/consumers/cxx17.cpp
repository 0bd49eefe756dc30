// A C++17 program that has the public header and the library, and nothing else of the project.
#include <tle/tle.h>

#include <cstdio>
#include <string_view>
#include <type_traits>

static_assert(std::is_standard_layout_v<tle_handle_options>);
static_assert(std::is_trivially_copyable_v<tle_topk_select_params>);
static_assert(std::is_trivially_copyable_v<tle_radix_select_params>);

int main() {
    tle_handle_options options = TLE_HANDLE_OPTIONS_INIT;
    options.device_kind = TLE_DEVICE_NONE;
    if (std::string_view(tle_status_name(TLE_STATUS_OK)) != "TLE_STATUS_OK") {
        std::fprintf(stderr, "a status has the wrong name\n");
        return 1;
    }
    if (tle_create(nullptr, &options) != TLE_STATUS_INVALID_ARGUMENT) {
        std::fprintf(stderr, "a null handle is not refused\n");
        return 1;
    }
    tle_radix_select_params params = TLE_RADIX_SELECT_PARAMS_INIT;
    params.order = TLE_SELECT_SMALLEST;
    if (tle_radix_select(nullptr, &params, nullptr, 0, nullptr) != TLE_STATUS_INVALID_ARGUMENT) {
        std::fprintf(stderr, "a selection without a handle is not refused\n");
        return 1;
    }
    std::printf("%s\n", tle_build_info());
    return 0;
}
