// Which variant a call would run, and why, in C++: needs no GPU.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <tle/tle.h>

static void check(tle_status status) {
    if (status != TLE_STATUS_OK)
        throw std::runtime_error(tle_last_error());
}

int main() try {
    tle_handle_options options = TLE_HANDLE_OPTIONS_INIT;
    options.device_kind = TLE_DEVICE_NONE;
    options.arch = "sm_90a";
    tle_handle made = nullptr;
    check(tle_create(&made, &options));
    std::unique_ptr<tle_handle_s, void (*)(tle_handle)> handle(made, tle_destroy);
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    p.rows = 64, p.columns = p.row_stride = 131072, p.k = p.index_row_stride = 2048;
    size_t size = 0;
    check(tle_topk_select_explain(handle.get(), &p, nullptr, 0, &size));
    std::string text(size, '\0');
    check(tle_topk_select_explain(handle.get(), &p, text.data(), size, nullptr));
    std::puts(text.c_str());
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
