/* tle_topk_select on emulated devices of the other architectures, which have kernels of their own:
 * by their dispatch tables and by every variant; and what a device without kernels is told. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "kernels/support/topk_chain.h"
#include "kernels/support/topk_suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_VARIANTS = 256, NAME = 128 };

typedef struct Arch {
    const char *name, *device;
    int32_t sm_count, shared_bytes;
    bool dependent; /* launches may overlap */
} Arch;

/* The devices are A100, L40S, B200 and RTX PRO 6000. */
static const Arch archs[] = {
    {"sm_80", "sm_80", 108, 166912, false},
    {"sm_89", "sm_89", 142, 101376, false},
    {"sm_100a", "sm_100", 148, 232448, true},
    {"sm_120a", "sm_120", 188, 101376, true},
};

enum { ARCHS = sizeof archs / sizeof *archs };

static bool is_built(const char *arch) {
    const char *at = strstr(tle_build_info(), arch);
    return at && strspn(at + strlen(arch), "0123456789abcdef") == 0;
}

static tle_handle open_arch(const char *arch) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    tle_handle h = NULL;
    o.device_kind = TLE_DEVICE_EMU;
    o.arch = arch;
    if (tle_create(&h, &o))
        fail_msg("%s: %s", arch, tle_last_error());
    return h;
}

static void by_dispatch(void **state) {
    (void)state;
    for (int i = 0; i < ARCHS; i++) {
        const Arch *a = &archs[i];
        if (!is_built(a->name))
            continue;
        TopkRunner v = {.h = open_arch(a->name), .arch = a->name, .step = 5};
        tle_device_info info = {.struct_size = sizeof info};
        assert_int_equal(tle_handle_device(v.h, &info), TLE_STATUS_OK);
        assert_string_equal(info.arch, a->device);
        assert_int_equal(info.sm_count, a->sm_count);
        assert_int_equal(info.shared_bytes_per_block, a->shared_bytes);
        for (int type = 0; type < ELEMENT_COUNT; type++) {
            v.type = (ElementType)type;
            assert_true(topk_values(topk_run, &v));
            assert_true(topk_strides(topk_run, &v));
            assert_true(topk_ks(topk_run, &v));
            assert_true(topk_lengths(topk_run, &v, 70000));
            assert_true(topk_forms(topk_run, &v, 20000));
            assert_true(topk_random_forms(topk_run, &v, 5 + (uint64_t)i, 100, 4096));
        }
        tle_destroy(v.h);
    }
}

typedef struct Names {
    char name[MAX_VARIANTS][NAME];
    int count;
    const Arch *arch;
} Names;

static int keep_name(const tle_variant_info *info, void *user) {
    Names *names = user;
    assert_int_equal(info->cluster[0] * info->cluster[1] * info->cluster[2], 1);
    assert_true(info->shared_bytes <= names->arch->shared_bytes);
    assert_true(info->spill_bytes <= 0);
    assert_true(names->count < MAX_VARIANTS);
    snprintf(names->name[names->count++], NAME, "%s", info->name);
    return 0;
}

static bool says(tle_handle h, const char *variant, const char *what) {
    size_t size = 0;
    assert_int_equal(tle_variant_data(h, variant, TLE_PART_META, NULL, &size), TLE_STATUS_OK);
    char *text = calloc(1, size + 1);
    assert_non_null(text);
    assert_int_equal(tle_variant_data(h, variant, TLE_PART_META, text, &size), TLE_STATUS_OK);
    bool found = strstr(text, what) != NULL;
    free(text);
    return found;
}

/* Each variant over a few of the cases, whatever the tables prefer. */
static void by_every_variant(void **state) {
    static Names names;
    (void)state;
    for (int i = 0; i < ARCHS; i++) {
        if (!is_built(archs[i].name))
            continue;
        tle_handle h = open_arch(archs[i].name);
        names = (Names){.arch = &archs[i]};
        assert_int_equal(tle_variants(h, "topk_select", keep_name, &names), TLE_STATUS_OK);
        assert_true(names.count >= 12);
        for (int n = 0; n < names.count; n++) {
            const char *name = names.name[n];
            assert_int_equal(says(h, name, "\"dependent_launch\":true"), archs[i].dependent);
            setenv("TLE_FORCE_VARIANT", name, 1);
            TopkRunner v = {.h = open_arch(archs[i].name),
                            .arch = archs[i].name,
                            .variant = name,
                            .type = topk_variant_type(name),
                            .step = 7};
            if (strstr(name, "__form__"))
                assert_true(topk_forms(topk_run, &v, 9000));
            assert_true(topk_lengths(topk_run, &v, 9000));
            assert_true(topk_values(topk_run, &v));
            assert_true(topk_ragged(topk_run, &v));
            assert_true(v.run >= 2);
            tle_destroy(v.h);
            unsetenv("TLE_FORCE_VARIANT");
        }
        tle_destroy(h);
    }
}

static void dependent_launches(void **state) {
    (void)state;
    for (int i = 0; i < ARCHS; i++) {
        char why[200] = "";
        if (!is_built(archs[i].name))
            continue;
        tle_handle h = open_arch(archs[i].name);
        TopkChain *c = topk_chain_open(h, 9);
        assert_non_null(c);
        bool ok = topk_chain_wipe(c) && topk_chain_enqueue(c, NULL) &&
                  topk_chain_right(c, why, sizeof why);
        topk_chain_close(c);
        tle_destroy(h);
        if (!ok)
            fail_msg("%s: %s", archs[i].name, why);
    }
}

/* An architecture without kernels is named, with those that there are. */
static void missing_architectures_are_named(void **state) {
    (void)state;
    static const char *const missing[] = {"sm_75", "sm_100f", "sm_110a"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
        char reason[600] = "";
        tle_handle h = open_arch(missing[i]);
        p.rows = 1;
        p.columns = p.row_stride = p.k = p.index_row_stride = 8;
        float scores[8] = {0};
        int32_t indices[8];
        p.scores = scores;
        p.indices = indices;
        assert_int_equal(tle_topk_select_supported(h, &p, reason, sizeof reason),
                         TLE_STATUS_UNSUPPORTED_ARCH);
        assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_UNSUPPORTED_ARCH);
        assert_non_null(strstr(reason, missing[i]));
        for (int a = 0; a < ARCHS; a++)
            if (is_built(archs[a].name))
                assert_non_null(strstr(reason, archs[a].name));
        tle_destroy(h);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_dispatch),
        cmocka_unit_test(by_every_variant),
        cmocka_unit_test(dependent_launches),
        cmocka_unit_test(missing_architectures_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
