/* wgmma misused: registers in flight, fences that are missing, operands overwritten too early. Each
 * fault stands beside a twin that differs in one place and is clean. */
#include "emu_fixture.h"

/* Words at the places of a small pipeline of one warpgroup: m64n8k16, A from registers or shared.
 */
typedef struct Kernel {
    const char *before_fence, *fence, *after_fence; /* before the product */
    const char *a;                                  /* operand A */
    const char *in_flight, *wait, *after;           /* behind the commit */
    uint32_t report;                                /* kind; 0: clean */
    const char *says;                               /* a part of the report */
    uint32_t threads;                               /* 0: 128 */
} Kernel;

#define FENCE "wgmma.fence.sync.aligned;"
#define WAIT  "wgmma.wait_group.sync.aligned 0;"
#define SS    "%rd3"
#define RS    "{%r20,%r21,%r22,%r23}"

static const Kernel kernels[] = {
    {"", FENCE, "", SS, "", WAIT, "", 0, "", 0},
    {"", FENCE, "", RS, "", WAIT, "", 0, "", 0},
    {"", "", "", SS, "", WAIT, "", TLE_EMU_REPORT_MATRIX, "no wgmma.fence", 0},
    {"add.f32 %f1,%f1,%f1;", FENCE, "", SS, "", WAIT, "", 0, "", 0},
    {"", FENCE, "add.f32 %f1,%f1,%f1;", SS, "", WAIT, "", TLE_EMU_REPORT_MATRIX,
     "since the last wgmma.fence", 0},
    {"mov.u32 %r22,7;", FENCE, "", RS, "", WAIT, "", 0, "", 0},
    {"", FENCE, "mov.u32 %r22,7;", RS, "", WAIT, "", TLE_EMU_REPORT_MATRIX, "operand A", 0},
    {"", FENCE, "", SS, "", WAIT, "add.f32 %f5,%f0,%f1;", 0, "", 0},
    {"", FENCE, "", SS, "add.f32 %f5,%f0,%f1;", WAIT, "", TLE_EMU_REPORT_MATRIX,
     "read of a register that is an accumulator", 0},
    {"", FENCE, "", SS, "", WAIT, "mov.f32 %f3,%f5;", 0, "", 0},
    {"", FENCE, "", SS, "mov.f32 %f3,%f5;", WAIT, "", TLE_EMU_REPORT_MATRIX,
     "write of a register that is an accumulator", 0},
    {"", FENCE, "", RS, "", WAIT, "mov.u32 %r21,1;", 0, "", 0},
    {"", FENCE, "", RS, "mov.u32 %r21,1;", WAIT, "", TLE_EMU_REPORT_MATRIX, "an operand", 0},
    {"", FENCE, "", RS, "add.u32 %r30,%r21,1;", WAIT, "", 0, "", 0},
    {"", FENCE, "", SS, "st.global.v2.f32 [%rd2],{%f0,%f1};", WAIT, "", TLE_EMU_REPORT_MATRIX,
     "accumulator", 0},
    {"", FENCE, "", SS, "wgmma.wait_group.sync.aligned 1; mov.f32 %f3,%f5;", WAIT, "",
     TLE_EMU_REPORT_MATRIX, "accumulator", 0},
    {"", FENCE, "", SS,
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f4,%f5,%f6,%f7},{%r20,%r21,%r22,%r23},"
     "%rd4,%p1,1,1,0; wgmma.commit_group.sync.aligned;",
     WAIT, "", 0, "", 0},
    {"", FENCE, "", SS,
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f4,%f5,%f6,%f7},{%f0,%r21,%r22,%r23},"
     "%rd4,%p1,1,1,0; wgmma.commit_group.sync.aligned;",
     WAIT, "", TLE_EMU_REPORT_MATRIX, "operand A is an accumulator", 0},
    {"", FENCE, "", SS, "", WAIT, "", TLE_EMU_REPORT_BARRIER, "of 2 warps", 64},
    {"", FENCE, "", SS, "", WAIT, "bar.sync 0; st.shared.u32 [%r6],%r4;", 0, "", 0},
    {"", FENCE, "", SS, "bar.sync 0; st.shared.u32 [%r6],%r4;", WAIT, "", TLE_EMU_REPORT_RACE,
     "race", 0},
};

static void build(char *text, size_t size, const Kernel *k) {
    snprintf(text, size,
             ".version 8.7\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 s[4096];\n"
             ".visible .entry k(.param .u64 out) {\n"
             ".reg .b64 %%rd<9>; .reg .b32 %%r<40>; .reg .f32 %%f<9>; .reg .pred %%p<3>;\n"
             "ld.param.u64 %%rd1,[out]; mov.u32 %%r4,%%tid.x; mov.u32 %%r5,s;\n"
             "shl.b32 %%r6,%%r4,5; add.u32 %%r6,%%r6,%%r5; mul.wide.u32 %%rd2,%%r4,16;\n"
             "add.s64 %%rd2,%%rd1,%%rd2;\n"
             "st.shared.v4.u32 [%%r6],{0,0,0,0}; st.shared.v4.u32 [%%r6+16],{0,0,0,0};\n"
             "fence.proxy.async; bar.sync 0;\n"
             "shr.u32 %%r7,%%r5,4; cvt.u64.u32 %%rd3,%%r7; add.s64 %%rd3,%%rd3,0x1000080000;\n"
             "add.s64 %%rd4,%%rd3,128; setp.ne.u32 %%p1,%%r5,0;\n"
             "%s\n%s\n%s\n"
             "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%%f0,%%f1,%%f2,%%f3},%s,%%rd4,"
             "%%p1,1,1%s,0;\nwgmma.commit_group.sync.aligned;\n%s\n%s\n%s\nret; }\n",
             k->before_fence, k->fence, k->after_fence, k->a, *k->a == '{' ? "" : ",0",
             k->in_flight, k->wait, k->after);
}

static bool reported(const Emu *e, const Kernel *k, char *all, size_t size) {
    bool found = false;
    size_t n = 0;
    *all = 0;
    for (uint32_t i = 0; i < tle_emu_report_count(e->device); i++) {
        tle_emu_report r = {.struct_size = sizeof r};
        assert_int_equal(tle_emu_report_get(e->device, i, &r), TLE_EMU_OK);
        found |= r.kind == k->report && strstr(r.text, k->says);
        n += (size_t)snprintf(all + n, n < size ? size - n : 0, "%s\n", r.text);
        if (n > size)
            n = size;
    }
    return found;
}

static void test_faults(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const Kernel *k = &kernels[i];
        char text[4096], all[4096];
        Emu e = emu_open(NULL);
        build(text, sizeof text, k);
        emu_load(&e, text, strlen(text), "faults");
        uint8_t *out = emu_zeros(&e, 4096);
        void *params[] = {&out};
        tle_emu_status s =
            emu_try(&e, "k", DIM(1, 1, 1), DIM(k->threads ? k->threads : 128, 1, 1), 0, params);
        bool found = reported(&e, k, all, sizeof all);
        if (k->report ? s != TLE_EMU_FAULT || !found : s != TLE_EMU_OK)
            fail_msg("kernel %zu: %s, reports:\n%s", i, tle_emu_status_name(s), all);
        emu_close(&e);
    }
}

static const char *const refused[] = {
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 "
    "{%f0,%f1,%f2,%f3},%rd1,%rd1,%r1,0,%p1,1,1,0,0;",
    "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc "
    "{%r0,%r1,%r2,%r3},%rd1,%rd1,%p1;",
    "wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16 {%f0,%f1,%f2},%rd1,%rd1,%p1,1,1,0,0;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r2,%r3},{%f0,%f1,%f2,%f3},%r4,0x0;",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1,%r2,%r3};",
    "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0,%r1},[%r4];",
    "tex.2d.v4.f32.s32 {%f0,%f1,%f2,%f3},[tx,{%r0,%r1}];",
    "cvt.rn.satfinite.e2m1x2.f32 %r1,%f1,%f2;",
};

/* What is not executed is named, with its line. */
static void test_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char text[1024], line[32];
        Emu e =
            emu_open(&(tle_emu_options){.struct_size = sizeof(tle_emu_options), .sm_arch = 120});
        tle_emu_module *m = NULL;
        snprintf(text, sizeof text,
                 ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n"
                 ".reg .b64 %%rd<9>; .reg .b32 %%r<9>; .reg .f32 %%f<9>; .reg .pred %%p<3>;\n"
                 "%s\nret; }\n",
                 refused[i]);
        snprintf(line, sizeof line, "at line 6");
        assert_int_equal(tle_emu_module_load(e.device, text, strlen(text), "r", &m),
                         TLE_EMU_NOT_SUPPORTED);
        if (!strstr(tle_emu_last_error(e.device), "not supported: ") ||
            !strstr(tle_emu_last_error(e.device), line))
            fail_msg("%s", tle_emu_last_error(e.device));
        emu_close(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
