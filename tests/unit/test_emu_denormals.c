/* Sums of f32 denormals by atomics: zero in global memory, exact in shared memory, whichever way
 * the address is given. */
#include "emu_fixture.h"

#define HEAD                                                                                       \
    ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 sm[16];\n"              \
    ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<6>;\n.reg .b32 %r<8>;\n"                   \
    "ld.param.u64 %rd0, [p];\nmov.u32 %r0, sm;\ncvt.u64.u32 %rd1, %r0;\n"                          \
    "cvta.shared.u64 %rd1, %rd1;\nmov.b32 %r1, 0x80000003;\n"                                      \
    "mov.b32 %r4, 7;\nst.shared.v4.b32 [sm], {%r4, %r4, %r4, %r4};\n"

/* Shared memory holds 7, the smallest f32 seven times, in each word; the output starts as `old`. */
static const struct {
    const char *text;
    uint32_t old, want;
} cases[] = {
    {"red.global.add.f32 [%rd0], %r1;\n", 0x00000005, 0x00000000},
    {"red.global.add.f32 [%rd0], %r1;\n", 0x80000001, 0x80000000},
    {"atom.add.f32 %r2, [%rd0], %r1;\n", 0x00000005, 0x00000000},
    {"red.global.add.f32 [%rd0], %r1;\n", 0x3f800000, 0x3f800000},
    {"red.global.min.s32 [%rd0], %r1;\n", 0x00000005, 0x80000003},
    {"red.shared.add.f32 [sm+4], %r1;\nld.shared.u32 %r2, [sm+4];\nst.global.u32 [%rd0], %r2;\n", 0,
     0x00000004},
    {"atom.add.f32 %r2, [%rd1+4], %r1;\nld.shared.u32 %r2, [sm+4];\nst.global.u32 [%rd0], %r2;\n",
     0, 0x00000004},
    {"fence.proxy.async.shared::cta;\n"
     "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd0], [sm], 16;\n"
     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
     0x00000005, 0x00000000},
};

static void test_sums(void **state) {
    static char text[4096];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Emu e = emu_open(NULL);
        snprintf(text, sizeof text, "%s%sret;\n}\n", HEAD, cases[i].text);
        emu_load(&e, text, strlen(text), "case");
        uint32_t *p = emu_zeros(&e, 16);
        for (int k = 0; k < 4; k++)
            p[k] = cases[i].old;
        emu_run(&e, "k", DIM(1, 1, 1), DIM(1, 1, 1), 0, (void *[]){&p});
        if (p[0] != cases[i].want)
            fail_msg("%s %x: %x, expected %x", cases[i].text, cases[i].old, p[0], cases[i].want);
        emu_close(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
