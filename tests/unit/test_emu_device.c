/* The emulator as a device, over an emulator written here (dlopen and dlsym of this program stand
 * before the C library's): which ranges a launch may touch, how errors pass, and what is refused.
 */
#include "device/device.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *test_dlopen(const char *name, int flags);
static void *test_dlsym(void *library, const char *symbol);
static int test_dlclose(void *library);
static char *test_dlerror(void);

#define dlopen  test_dlopen
#define dlsym   test_dlsym
#define dlclose test_dlclose
#define dlerror test_dlerror
#include "device/emu.c"

typedef struct FakeEmulator {
    const char *path; /* that dlopen accepts; NULL: none */
    const char *lacks;
    tle_emu_options options;
    tle_emu_status create, load, kernel, launch, alloc, tensor_map;
    TleiTensor tensor;
    int fail_register_at;
    int registered, unregistered, read_only, modules, devices, reports, launches;
    size_t registered_bytes;
    tle_emu_launch_config config;
    char opened[256];
} FakeEmulator;

static FakeEmulator f;

static tle_emu_status fake_create(const tle_emu_options *options, tle_emu_device **out) {
    f.options = *options;
    f.devices += !f.create;
    *out = (tle_emu_device *)&f;
    return f.create;
}

static void fake_destroy(tle_emu_device *device) {
    (void)device;
    f.devices--;
}

static const char *fake_last_error(const tle_emu_device *device) {
    (void)device;
    return "the emulator's sentence";
}

static tle_emu_status fake_alloc(tle_emu_device *device, size_t bytes, void **out) {
    (void)device;
    *out = f.alloc ? NULL : malloc(bytes);
    return f.alloc;
}

static tle_emu_status fake_free(tle_emu_device *device, void *memory) {
    (void)device;
    if (memory == (void *)&f)
        return TLE_EMU_NOT_FOUND;
    free(memory);
    return TLE_EMU_OK;
}

static tle_emu_status fake_register(tle_emu_device *device, void *address, size_t bytes,
                                    int read_only) {
    (void)device, (void)address;
    if (f.fail_register_at && f.registered + 1 == f.fail_register_at)
        return TLE_EMU_OUT_OF_MEMORY;
    f.registered++;
    f.registered_bytes += bytes;
    f.read_only += read_only;
    return TLE_EMU_OK;
}

static tle_emu_status fake_unregister(tle_emu_device *device, void *address) {
    (void)device, (void)address;
    f.unregistered++;
    return TLE_EMU_OK;
}

static tle_emu_status fake_module_load(tle_emu_device *device, const char *ptx, size_t length,
                                       const char *name, tle_emu_module **out) {
    (void)device, (void)ptx, (void)length, (void)name;
    f.modules += !f.load;
    *out = (tle_emu_module *)&f;
    return f.load;
}

static void fake_module_unload(tle_emu_module *module) {
    (void)module;
    f.modules--;
}

static tle_emu_status fake_module_kernel(tle_emu_module *module, const char *name,
                                         tle_emu_kernel **out) {
    (void)module, (void)name;
    *out = (tle_emu_kernel *)&f;
    return f.kernel;
}

static tle_emu_status fake_launch(tle_emu_device *device, tle_emu_kernel *kernel,
                                  const tle_emu_launch_config *config, void *const *params) {
    (void)device, (void)kernel, (void)params;
    f.launches++;
    f.config = *config;
    assert_int_equal(f.registered - f.unregistered, 2);
    return f.launch;
}

static uint32_t fake_report_count(const tle_emu_device *device) {
    (void)device;
    return (uint32_t)f.reports;
}

static tle_emu_status fake_report_get(const tle_emu_device *device, uint32_t i,
                                      tle_emu_report *out) {
    (void)device;
    assert_int_equal(i, 0);
    out->text = "lane 3 reads out of bounds";
    return TLE_EMU_OK;
}

static tle_emu_status fake_tensor_map_encode_tiled(tle_emu_device *device, void *map, uint32_t type,
                                                   uint32_t rank, void *address,
                                                   const uint64_t *dims, const uint64_t *strides,
                                                   const uint32_t *box, const uint32_t *steps,
                                                   uint32_t interleave, uint32_t swizzle,
                                                   uint32_t promotion, uint32_t fill) {
    (void)device;
    f.tensor = (TleiTensor){.address = address,
                            .dims = {dims[0], dims[1]},
                            .strides = {strides[0]},
                            .box = {box[0], box[1]},
                            .steps = {steps[0], steps[1]},
                            .type = type,
                            .rank = rank,
                            .interleave = interleave,
                            .swizzle = swizzle,
                            .promotion = promotion,
                            .fill = fill};
    *(char *)map = 'm';
    return f.tensor_map;
}

static void *test_dlopen(const char *name, int flags) {
    (void)flags;
    snprintf(f.opened, sizeof f.opened, "%s", name);
    size_t n = f.path ? strlen(f.path) : 0, len = strlen(name);
    return n && len >= n && !strcmp(name + len - n, f.path) ? &f : NULL;
}

static void *test_dlsym(void *library, const char *symbol) {
    void *function = NULL;
    (void)library;
    if (f.lacks && !strcmp(symbol, f.lacks))
        return NULL;
#define X(name)                                                                                    \
    if (!strcmp(symbol, "tle_emu_" #name)) {                                                       \
        __typeof__(tle_emu_##name) *pointer = fake_##name;                                         \
        memcpy(&function, &pointer, sizeof pointer);                                               \
    }
#include "device/emu_api.def"
#undef X
    return function;
}

static int test_dlclose(void *library) {
    (void)library;
    return 0;
}

static char *test_dlerror(void) {
    static char text[] = "no such library";
    return text;
}

/* ---- tests ---- */

static TleiError e;
static TleiDevice *device;
static const TleiDeviceConfig config = {
    .ordinal = -1, .arch_major = 9, .emu_checks = TLE_EMU_CHECK_RACE, .emu_threads = 2};
static const TleiImage image = {"ptx", 3, "variant", "kernel", 2048, 1, 1024};

static int setup(void **state) {
    (void)state;
    f = (FakeEmulator){.path = "libtle_emu.so"};
    return tlei_device_emu.open(&config, &device, &e) ? -1 : 0;
}

static int teardown(void **state) {
    (void)state;
    tlei_device_emu.close(device);
    assert_int_equal(f.devices, 0);
    assert_int_equal(f.modules, 0);
    return 0;
}

static void opens_as_asked(void **state) {
    (void)state;
    assert_int_equal(f.options.sm_arch, 90);
    assert_int_equal(f.options.checks, TLE_EMU_CHECK_RACE);
    assert_int_equal(f.options.host_threads, 2);
    assert_string_equal(device->info.arch, "sm_90");
    assert_int_equal(device->info.kind, TLE_DEVICE_EMU);
    assert_non_null(strchr(f.opened, '/')); /* beside this program, before the loader's search */
    TleiDevice *other = NULL;
    TleiDeviceConfig second = config;
    second.ordinal = 1;
    assert_int_equal(tlei_device_emu.open(&second, &other, &e), TLE_STATUS_NO_DEVICE);
    assert_string_equal(e.text, "emulated device 1: there is one, number 0");
}

static void environment_names_the_library(void **state) {
    (void)state;
    TleiDevice *other = NULL;
    TleiDeviceConfig plain = {.ordinal = 0, .arch_major = 9};
    setenv("TLE_EMU_LIBRARY", "/elsewhere/emu.so", 1);
    setenv("TLE_EMU_CHECKS", "0x3", 1);
    assert_int_equal(tlei_device_emu.open(&plain, &other, &e), TLE_STATUS_EMULATOR_NOT_FOUND);
    assert_string_equal(f.opened, "/elsewhere/emu.so");
    assert_string_equal(e.text, "the emulator cannot be opened: no such library");
    f.path = "/elsewhere/emu.so";
    assert_int_equal(tlei_device_emu.open(&plain, &other, &e), TLE_STATUS_OK);
    assert_int_equal(f.options.checks, 3);
    tlei_device_emu.close(other);
    unsetenv("TLE_EMU_LIBRARY");
    unsetenv("TLE_EMU_CHECKS");
}

static void threads_of_the_emulator(void **state) {
    TleiDevice *other = NULL;
    TleiDeviceConfig plain = {.ordinal = 0, .arch_major = 9}, two = plain;
    (void)state;
    two.emu_threads = 2;
    setenv("TLE_EMU_THREADS", "5", 1);
    assert_int_equal(tlei_device_emu.open(&plain, &other, &e), TLE_STATUS_OK);
    assert_int_equal(f.options.host_threads, 5);
    tlei_device_emu.close(other);
    assert_int_equal(tlei_device_emu.open(&two, &other, &e), TLE_STATUS_OK);
    assert_int_equal(f.options.host_threads, 2);
    tlei_device_emu.close(other);
    unsetenv("TLE_EMU_THREADS");
}

static void unknown_checks(void **state) {
    TleiDevice *other = NULL;
    TleiDeviceConfig odd = {.ordinal = 0, .arch_major = 9, .emu_checks = 0x400};
    (void)state;
    assert_int_equal(tlei_device_emu.open(&odd, &other, &e), TLE_STATUS_INVALID_ARGUMENT);
    assert_string_equal(e.text, "emulator checks 0x400 have bits of no check; all are 0x1ff");
}

static void environment_is_checked(void **state) {
    static const struct {
        const char *variable, *value;
    } cases[] = {
        {"TLE_EMU_CHECKS", "race"},
        {"TLE_EMU_CHECKS", "-1"},
        {"TLE_EMU_CHECKS", "0x1ffffffff"},
        {"TLE_EMU_CHECKS", "3 "},
        {"TLE_EMU_THREADS", "many"},
        {"TLE_EMU_THREADS", "0x100000000"},
        {"TLE_EMU_SCHEDULE", "fair"},
        {"TLE_EMU_SCHEDULE", "random:"},
        {"TLE_EMU_SCHEDULE", "random:seed"},
        {"TLE_EMU_SCHEDULE", "adversarial:-1"},
        {"TLE_EMU_SCHEDULE", "random:99999999999999999999"},
    };
    TleiDevice *other = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        setenv(cases[i].variable, cases[i].value, 1);
        assert_int_equal(tlei_device_emu.open(&config, &other, &e), TLE_STATUS_INVALID_ARGUMENT);
        assert_non_null(strstr(e.text, cases[i].variable));
        unsetenv(cases[i].variable);
    }
    setenv("TLE_EMU_SCHEDULE", "random:0x10", 1);
    assert_int_equal(tlei_device_emu.open(&config, &other, &e), TLE_STATUS_OK);
    assert_int_equal(f.options.seed, 16);
    tlei_device_emu.close(other);
    unsetenv("TLE_EMU_SCHEDULE");
}

static void opening_fails(void **state) {
    (void)state;
    TleiDevice *other = NULL;
    int32_t count = 0;
    tle_device_info info = {0};
    assert_int_equal(tlei_device_emu.info(0, &info, &e), TLE_STATUS_OK);
    assert_int_equal(tlei_device_emu.info(1, &info, &e), TLE_STATUS_NO_DEVICE);
    f.lacks = "tle_emu_launch";
    assert_int_equal(tlei_device_emu.open(&config, &other, &e), TLE_STATUS_EMULATOR_NOT_FOUND);
    assert_string_equal(e.text, "the emulator's library lacks tle_emu_launch");
    f.lacks = NULL;
    f.create = TLE_EMU_INVALID_ARGUMENT;
    assert_int_equal(tlei_device_emu.open(&config, &other, &e), TLE_STATUS_INTERNAL);
    f.create = TLE_EMU_OK;
    f.path = NULL;
    assert_int_equal(tlei_device_emu.count(&count, &e), TLE_STATUS_EMULATOR_NOT_FOUND);
    assert_int_equal(tlei_device_emu.info(0, &info, &e), TLE_STATUS_EMULATOR_NOT_FOUND);
}

static void loading_fails(void **state) {
    (void)state;
    TleiKernel *k = NULL;
    f.load = TLE_EMU_BAD_PTX;
    assert_int_equal(tlei_device_emu.load(device, &image, &k, &e), TLE_STATUS_INTERNAL);
    assert_string_equal(e.text, "emulator: cannot load variant: the emulator's sentence");
    assert_int_equal(e.native, TLE_EMU_BAD_PTX);
    f.load = TLE_EMU_OK;
    f.kernel = TLE_EMU_NOT_FOUND;
    assert_int_equal(tlei_device_emu.load(device, &image, &k, &e), TLE_STATUS_INTERNAL);
    assert_non_null(strstr(e.text, "has no kernel kernel"));
    f.alloc = TLE_EMU_OUT_OF_MEMORY;
    void *memory = NULL;
    assert_int_equal(tlei_device_emu.alloc(device, 9, &memory, &e), TLE_STATUS_OUT_OF_MEMORY);
}

static tle_status launch(const TleiRange *ranges, uint32_t count) {
    TleiKernel *k = NULL;
    assert_int_equal(tlei_device_emu.load(device, &image, &k, &e), TLE_STATUS_OK);
    TleiLaunch l = {.variant = "variant",
                    .grid = {6, 2, 1},
                    .threads = 96,
                    .cluster = {2, 1, 1},
                    .shared_bytes = 2048,
                    .stream = (tle_stream)0x1234,
                    .ranges = ranges,
                    .range_count = count};
    tle_status status = tlei_device_emu.launch(device, k, &l, &e);
    tlei_device_emu.unload(device, k);
    return status;
}

static const TleiRange ranges[] = {
    {"scores", "abcd", 4, false, 4},
    {"lengths", NULL, 0, false, 4},
    {"indices", "efghijkl", 8, true, 4},
};

static void ranges_live_for_the_launch(void **state) {
    (void)state;
    assert_int_equal(launch(ranges, 3), TLE_STATUS_OK);
    assert_int_equal(f.launches, 1);
    assert_int_equal(f.registered, 2);
    assert_int_equal(f.registered_bytes, 12);
    assert_int_equal(f.read_only, 1);
    assert_int_equal(f.unregistered, 2);
    assert_int_equal(f.config.grid[0] * 10 + f.config.grid[1], 62);
    assert_int_equal(f.config.block[0], 96);
    assert_int_equal(f.config.cluster[0], 2);
    assert_int_equal(f.config.dynamic_shared_bytes, 2048);
    f.fail_register_at = f.registered + 2;
    assert_int_equal(launch(ranges, 3), TLE_STATUS_OUT_OF_MEMORY);
    assert_non_null(strstr(e.text, "cannot use the memory of indices"));
    assert_int_equal(f.registered, f.unregistered);
    assert_int_equal(f.launches, 1);
}

static void faults_are_told(void **state) {
    (void)state;
    f.launch = TLE_EMU_FAULT;
    f.reports = 1;
    assert_int_equal(launch(ranges, 3), TLE_STATUS_EMULATOR_FAULT);
    assert_string_equal(e.text, "emulator: running variant: lane 3 reads out of bounds");
    assert_int_equal(e.native, TLE_EMU_FAULT);
    assert_int_equal(f.registered, f.unregistered);
    f.launch = TLE_EMU_DEADLOCK;
    f.reports = 0;
    assert_int_equal(launch(ranges, 3), TLE_STATUS_EMULATOR_FAULT);
    assert_string_equal(e.text, "emulator: running variant: the emulator's sentence");
    f.launch = TLE_EMU_NOT_SUPPORTED;
    assert_int_equal(launch(ranges, 3), TLE_STATUS_INTERNAL);
}

static void memory_is_host_memory(void **state) {
    (void)state;
    void *memory = NULL;
    assert_int_equal(tlei_device_emu.alloc(device, 4, &memory, &e), TLE_STATUS_OK);
    assert_int_equal(tlei_device_emu.copy(device, memory, "xyz", 4, &e), TLE_STATUS_OK);
    assert_string_equal((const char *)memory, "xyz");
    assert_int_equal(tlei_device_emu.free(device, memory, &e), TLE_STATUS_OK);
    assert_int_equal(tlei_device_emu.free(device, &f, &e), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(e.status, TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tlei_device_emu.synchronize(device, NULL, &e), TLE_STATUS_OK);
}

static void encodes_tensor_maps(void **state) {
    _Alignas(64) char map[TLEI_TENSOR_MAP_BYTES];
    TleiTensor t = {.address = map,
                    .dims = {64, 9},
                    .strides = {128},
                    .box = {32, 3},
                    .steps = {1, 2},
                    .type = 6,
                    .rank = 2,
                    .swizzle = 1,
                    .promotion = 3,
                    .fill = 1};
    (void)state;
    assert_int_equal(tlei_device_emu.tensor_map(device, &t, map, &e), TLE_STATUS_OK);
    assert_int_equal(map[0], 'm');
    assert_memory_equal(&f.tensor, &t, sizeof t);
    f.tensor_map = TLE_EMU_INVALID_ARGUMENT;
    assert_int_equal(tlei_device_emu.tensor_map(device, &t, map, &e), TLE_STATUS_INVALID_ARGUMENT);
    assert_non_null(strstr(e.text, "the emulator's sentence"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(opens_as_asked),
        TEST(environment_names_the_library),
        TEST(threads_of_the_emulator),
        TEST(unknown_checks),
        TEST(environment_is_checked),
        TEST(opening_fails),
        TEST(loading_fails),
        TEST(faults_are_told),
        TEST(ranges_live_for_the_launch),
        TEST(memory_is_host_memory),
        TEST(encodes_tensor_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
