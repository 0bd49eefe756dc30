/* Every form of mbarrier instructions by its results, one thread at a time; registers of warps;
 * launch control. */
#include "tle/tle_emu.h"

#include "emu_fixture.h"

/* One thread whose %o0 to %o7 are left in memory; bar is an mbarrier, %st states, %p0 to %p3. */
static const char head[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 sm[64];\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .pred %p<4>;\n.reg .b32 %o<8>, %r<4>;\n.reg .b64 %st<4>, %rd<4>;\n";

static const char tail[] = "ld.param.u64 %rd0, [out];\n"
                           "st.global.v4.u32 [%rd0], {%o0, %o1, %o2, %o3};\n"
                           "st.global.v4.u32 [%rd0+16], {%o4, %o5, %o6, %o7};\nret;\n}\n";

#define INIT(n) "mbarrier.init.shared::cta.b64 [bar], " #n ";\n"
/* Whether phases 0 and 1 are over, into two results. */
#define TEST(parity, o)                                                                            \
    "mbarrier.test_wait.parity.shared::cta.b64 %p0, [bar], " #parity ";\n"                         \
    "selp.u32 %o" #o ", 1, 0, %p0;\n"

typedef struct Case {
    const char *name, *body;
    uint32_t want[8];
} Case;

static const Case cases[] = {
    {"a fresh barrier is in phase 0", INIT(2) TEST(0, 0) TEST(1, 1), {0, 1}},
    {"two arrivals complete a phase of two",
     INIT(2) "mbarrier.arrive.shared.b64 %st0, [bar];\n" TEST(
         0, 0) "mbarrier.arrive.shared.b64 %st1, [bar];\n" TEST(0, 1)
         TEST(1,
              2) "mbarrier.pending_count.b64 %o3, %st0;\nmbarrier.pending_count.b64 %o4, %st1;\n",
     {0, 1, 0, 2, 1}},
    {"arrival with a count",
     INIT(5) "mbarrier.arrive.shared.b64 %st0, [bar], 4;\n" TEST(
         0,
         0) "mbarrier.arrive.release.cta.shared.b64 %st1, [bar], 1;\n" TEST(0,
                                                                            1) "mbarrier.pending_"
                                                                               "count.b64 %o2, "
                                                                               "%st1;\n",
     {0, 1, 1}},
    {"states tell their phase",
     INIT(1) "mbarrier.arrive.shared.b64 %st0, [bar];\n"
             "mbarrier.test_wait.shared.b64 %p0, [bar], %st0;\nselp.u32 %o0, 1, 0, %p0;\n"
             "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 8;\n"
             "mbarrier.arrive.shared.b64 %st1, [bar];\n"
             "mbarrier.test_wait.acquire.cta.shared.b64 %p1, [bar], %st1;\n"
             "selp.u32 %o1, 1, 0, %p1;\n"
             "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 8;\n"
             "mbarrier.try_wait.shared.b64 %p1, [bar], %st1;\nselp.u32 %o2, 1, 0, %p1;\n",
     {1, 0, 1}},
    {"bytes hold a phase up",
     INIT(1) "mbarrier.arrive.expect_tx.shared.b64 %st0, [bar], 100;\n" TEST(
         0, 0) "mbarrier.complete_tx.shared.b64 [bar], 60;\n" TEST(0,
                                                                   1) "mbarrier.complete_tx.shared."
                                                                      "b64 [bar], 40;\n" TEST(0, 2),
     {0, 0, 1}},
    {"bytes may come before they are expected",
     INIT(2) "mbarrier.complete_tx.shared.b64 [bar], 16;\n"
             "mbarrier.arrive.shared.b64 %st0, [bar];\n" TEST(
                 0,
                 0) "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [bar], 16;\n" TEST(0,
                                                                                                 1),
     {0, 1}},
    {"a drop counts for this phase and lowers the next",
     INIT(3) "mbarrier.arrive_drop.shared.b64 %st0, [bar];\n"
             "mbarrier.arrive.shared.b64 %st1, [bar], 2;\n" TEST(
                 0,
                 0) "mbarrier.arrive.shared.b64 %st2, [bar], 2;\n" TEST(1,
                                                                        1) "mbarrier.pending_count."
                                                                           "b64 %o2, %st2;\n",
     {1, 1, 2}},
    {"a drop that expects bytes",
     INIT(2) "mbarrier.arrive_drop.expect_tx.shared.b64 _, [bar], 4;\n"
             "mbarrier.arrive.shared.b64 %st1, [bar];\n" TEST(
                 0, 0) "mbarrier.complete_tx.shared.b64 [bar], 4;\n" TEST(0, 1) "mbarrier.arrive."
                                                                                "shared.b64 %st1, "
                                                                                "[bar];\n" TEST(1,
                                                                                                2),
     {0, 1, 1}},
    {"arrivals that complete nothing",
     INIT(4) "mbarrier.arrive.noComplete.shared.b64 %st0, [bar], 2;\n"
             "mbarrier.arrive_drop.noComplete.release.cta.shared.b64 %st1, [bar], 1;\n"
             "mbarrier.pending_count.b64 %o0, %st0;\nmbarrier.pending_count.b64 %o1, %st1;\n"
             "mbarrier.arrive.shared.b64 %st2, [bar];\n" TEST(
                 0, 2) "mbarrier.arrive.shared.b64 %st2, [bar], 3;\n" TEST(1, 3),
     {4, 2, 1, 1}},
    {"a second life",
     INIT(1) "mbarrier.arrive.shared.b64 %st0, [bar];\n"
             "mbarrier.inval.shared.b64 [bar];\n" INIT(2) TEST(0, 0) TEST(1, 1),
     {0, 1}},
    {"generic addresses",
     "mov.u64 %rd1, bar;\ncvta.shared.u64 %rd1, %rd1;\n"
     "mbarrier.init.b64 [%rd1], 1;\nmbarrier.arrive.b64 %st0, [%rd1];\n"
     "mbarrier.try_wait.parity.b64 %p0, [%rd1], 0, 1000;\n"
     "selp.u32 %o0, 1, 0, %p0;\nmbarrier.inval.b64 [%rd1];\n",
     {1}},
    {"a remote arrival at the own CTA",
     INIT(4) "mov.u32 %r0, bar;\nmov.u32 %r1, %cluster_ctarank;\n"
             "mapa.shared::cluster.u32 %r0, %r0, %r1;\n"
             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r0], 3;\n" TEST(
                 0, 0) "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r0], "
                       "8;\n" TEST(0, 1) "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 "
                                         "[%r0], 8;\n" TEST(0, 2),
     {0, 0, 1}},
    {"a try_wait gives up in the end",
     INIT(1) "mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0, 20;\nselp.u32 %o0, 1, 2, %p0;\n"
             "mbarrier.arrive.shared.b64 _, [bar];\n"
             "mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0, 20;\nselp.u32 %o1, 1, 2, %p0;\n",
     {2, 1}},
    {"launch control and sleep",
     "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\n"
     "mov.u32 %r0, %clock;\nnanosleep.u32 100;\nmov.u32 %r1, %clock;\n"
     "setp.gt.u32 %p0, %r1, %r0;\nselp.u32 %o0, 1, 0, %p0;\n",
     {1}},
    {"prefetches touch nothing",
     "ld.param.u64 %rd1, [out];\nmov.u32 %r0, 32;\n"
     "cp.async.bulk.prefetch.L2.global [%rd1], %r0;\nprefetch.global.L2 [%rd1];\n"
     "mov.u32 %o0, 1;\n",
     {1}},
    {"red.async",
     INIT(1) "mov.u32 %r0, 5;\nst.shared.u32 [sm], %r0;\nst.shared.u32 [sm+4], %r0;\n"
             "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 8;\nmov.u32 %r1, %cluster_ctarank;\n"
             "mov.u32 %r2, sm;\nmapa.shared::cluster.u32 %r2, %r2, %r1;\n"
             "mov.u32 %r3, bar;\nmapa.shared::cluster.u32 %r3, %r3, %r1;\n"
             "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
             "[%r2], %r0, [%r3];\n"
             "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.s32 "
             "[%r2+4], -9, [%r3];\n"
             "again: mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;\n@!%p0 bra again;\n"
             "ld.shared.v2.u32 {%o0, %o1}, [sm];\n",
     {10, 5}},
    {"st.async of vectors",
     INIT(
         1) "mov.u32 %r0, 5;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 24;\n"
            "mov.u32 %r1, %cluster_ctarank;\n"
            "mov.u32 %r2, sm;\nmapa.shared::cluster.u32 %r2, %r2, %r1;\n"
            "mov.u32 %r3, bar;\nmapa.shared::cluster.u32 %r3, %r3, %r1;\nmov.u64 %rd1, 7;\n"
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
            "[%r2], {%r0, 6, %r0, 8}, [%r3];\n"
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r2+16], %rd1, "
            "[%r3];\n"
            "again: mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;\n@!%p0 bra again;\n"
            "ld.shared.v4.u32 {%o0, %o1, %o2, %o3}, [sm];\nld.shared.v2.u32 {%o4, %o5}, [sm+16];\n",
     {5, 6, 5, 8, 7, 0}},
    {"reduction from shared memory to shared memory",
     INIT(
         1) "mov.u32 %r0, 100;\nst.shared.v4.u32 [sm], {%r0, %r0, %r0, %r0};\n"
            "st.shared.v4.u32 [sm+16], {1, 2, 3, 4};\nfence.proxy.async.shared::cta;\n"
            "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
            "mov.u32 %r1, %cluster_ctarank;\n"
            "mov.u32 %r2, sm;\nmapa.shared::cluster.u32 %r2, %r2, %r1;\n"
            "mov.u32 %r3, bar;\nmapa.shared::cluster.u32 %r3, %r3, %r1;\n"
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
            "[%r2], [sm+16], 16, [%r3];\n"
            "again: mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;\n@!%p0 bra again;\n"
            "ld.shared.v4.u32 {%o0, %o1, %o2, %o3}, [sm];\n",
     {101, 102, 103, 104}},
    {"reduction to global memory",
     "ld.param.u64 %rd1, [out];\nmov.u32 %r0, 100;\n"
     "st.global.v4.u32 [%rd1], {%r0, %r0, %r0, %r0};\n"
     "st.shared.v4.u32 [sm], {1, 200, 3, 400};\nfence.proxy.async;\n"
     "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%rd1], [sm], 16;\n"
     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
     "ld.global.v4.u32 {%o0, %o1, %o2, %o3}, [%rd1];\n",
     {100, 200, 100, 400}},
    {"ignored cp.async reads nothing",
     "mov.u32 %r0, 7;\nst.shared.v4.u32 [sm], {%r0, %r0, %r0, %r0};\nld.param.u64 %rd1, [out];\n"
     "setp.eq.u32 %p1, %r0, 7;\n"
     "cp.async.ca.shared.global [sm], [%rd1], 16, %p1;\ncp.async.wait_all;\n"
     "ld.shared.u32 %o0, [sm];\n",
     {0}},
};

static void test_forms(void **state) {
    static char text[8192];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t mode = 0; mode < 3; mode++) {
            tle_emu_options o = {.struct_size = sizeof o, .schedule = mode, .seed = i};
            Emu e = emu_open(&o);
            uint32_t *out = emu_new(&e, 32);
            snprintf(text, sizeof text, "%s%s%s", head, cases[i].body, tail);
            emu_load(&e, text, strlen(text), cases[i].name);
            emu_run_cluster(&e, "k", DIM(1, 1, 1), 1, DIM(1, 1, 1), 0, (void *[]){&out});
            for (int k = 0; k < 8; k++)
                if (out[k] != cases[i].want[k])
                    fail_msg("%s: result %d is %u, not %u", cases[i].name, k, out[k],
                             cases[i].want[k]);
            emu_close(&e);
        }
}

/* The same program runs in a cluster of one CTA, but not outside of clusters. */
static void test_without_clusters(void **state) {
    static char text[8192];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool refused = strstr(cases[i].body, "red.async") || strstr(cases[i].body, "st.async") ||
                       strstr(cases[i].body, "bulk.shared::cluster.shared::cta");
        Emu e = emu_open(NULL);
        uint32_t *out = emu_new(&e, 32);
        snprintf(text, sizeof text, "%s%s%s", head, cases[i].body, tail);
        emu_load(&e, text, strlen(text), cases[i].name);
        emu_try(&e, "k", DIM(1, 1, 1), DIM(1, 1, 1), 0, (void *[]){&out});
        assert_int_equal(emu_reported(&e, TLE_EMU_REPORT_BAD_OPERAND, 0), refused);
        emu_close(&e);
    }
}

/* ---- registers ---------------------------------------------------------------------------- */

/* 384 threads: 65536 / 384 leaves 168 registers for each. */
static tle_emu_status run_registers(Emu *e, const char *directives, const char *producer,
                                    const char *consumer) {
    static char text[4096];
    snprintf(text, sizeof text,
             ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n%s\n{\n"
             ".reg .pred %%p;\n.reg .b32 %%r;\nmov.u32 %%r, %%tid.x;\n"
             "setp.lt.u32 %%p, %%r, 128;\n@%%p bra producer;\n%s\nret;\nproducer:\n%s\nret;\n}\n",
             directives, consumer, producer);
    emu_load(e, text, strlen(text), "registers");
    return emu_try(e, "k", DIM(1, 1, 1), DIM(384, 1, 1), 0, NULL);
}

static void test_registers(void **state) {
    static const struct {
        const char *directives, *producer, *consumer;
        tle_emu_status status;
        tle_emu_report_kind kind;
    } rows[] = {
        {".maxntid 384", "setmaxnreg.dec.sync.aligned.u32 24;",
         "setmaxnreg.inc.sync.aligned.u32 240;", TLE_EMU_OK, 0},
        {".maxntid 384", "setmaxnreg.dec.sync.aligned.u32 40;",
         "setmaxnreg.inc.sync.aligned.u32 240;", TLE_EMU_DEADLOCK, TLE_EMU_REPORT_DEADLOCK},
        {".maxnreg 128", "setmaxnreg.dec.sync.aligned.u32 64;",
         "setmaxnreg.inc.sync.aligned.u32 160;", TLE_EMU_OK, 0},
        {".maxnreg 128", "setmaxnreg.dec.sync.aligned.u32 64;",
         "setmaxnreg.inc.sync.aligned.u32 168;", TLE_EMU_DEADLOCK, TLE_EMU_REPORT_DEADLOCK},
        {".maxntid 384", "setmaxnreg.inc.sync.aligned.u32 24;", "", TLE_EMU_FAULT,
         TLE_EMU_REPORT_BARRIER},
        {".maxntid 384", "setmaxnreg.dec.sync.aligned.u32 200;", "", TLE_EMU_FAULT,
         TLE_EMU_REPORT_BARRIER},
        {"", "setmaxnreg.inc.sync.aligned.u32 240;", "setmaxnreg.inc.sync.aligned.u32 240;",
         TLE_EMU_OK, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Emu e = emu_open(NULL);
        tle_emu_status s =
            run_registers(&e, rows[i].directives, rows[i].producer, rows[i].consumer);
        if (s != rows[i].status || (rows[i].kind && !emu_reported(&e, rows[i].kind, 0)))
            fail_msg("row %zu: %s: %s", i, tle_emu_status_name(s), tle_emu_last_error(e.device));
        emu_close(&e);
    }
}

static void test_bad_text(void **state) {
    static const char *const bodies[] = {
        "setmaxnreg.dec.sync.aligned.u32 20;",
        "setmaxnreg.dec.sync.aligned.u32 30;",
        "griddepcontrol;",
        "mbarrier.arrive.shared::cluster.b64 %rd0, [%r0];",
        "mbarrier.init.shared.b64 [%r0];",
        "mbarrier.arrive.expect_tx.shared.b64 %rd0, [%r0];",
        "cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%rd0], [%r0], 16, [%r0];",
        "cp.async.bulk.shared::cluster.global.bulk_group [%r0], [%rd0], 16;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], "
        "[%rd0, {%r0, %r0}], [%r0];",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], "
        "[%rd0, {%r0, %r0, %r0}], [%r0];",
        "cp.async.bulk.tensor.6d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], "
        "[%rd0, {%r0, %r0}], [%r0];",
        "cp.async.ca.shared.global [%r0], [%rd0], 12;",
        "cp.async.wait_group %r0;",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u16 [%r0], %r0, [%r0];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.f32 [%r0], "
        "%r0, "
        "[%r0];",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.f32 [%rd0], [%r0], 16;",
    };
    static char text[2048];
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        Emu e = emu_open(NULL);
        snprintf(text, sizeof text,
                 ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
                 ".reg .b32 %%r<2>;\n.reg .b64 %%rd<2>;\n%s\nret;\n}\n",
                 bodies[i]);
        tle_emu_status s = tle_emu_module_load(e.device, text, strlen(text), "bad", &e.module);
        if (s != TLE_EMU_BAD_PTX && s != TLE_EMU_NOT_SUPPORTED)
            fail_msg("%s: %s", bodies[i], tle_emu_status_name(s));
        emu_close(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_without_clusters),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_bad_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
