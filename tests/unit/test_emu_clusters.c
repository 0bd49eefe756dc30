/* Thread-block clusters: CUDA programs compiled by nvcc (tests/emu/clusters.ptx) against the same
 * work in C, under every scheduling mode with all checks; then planted faults in PTX, each with its
 * repaired twin. */
#include "tle/tle_emu.h"

#include "emu_fixture.h"

static const tle_emu_options modes[] = {
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ROUND_ROBIN},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 7},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL, .seed = 5},
    {.struct_size = sizeof(tle_emu_options), .checks = TLE_EMU_CHECK_NONE},
};

#define FOR_MODES(e)                                                                               \
    for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++)                             \
        for (Emu e = open_clusters(mode); e.device; emu_close(&e), e.device = NULL)

static Emu open_clusters(size_t mode) {
    Emu e = emu_open(&modes[mode]);
    emu_load_file(&e, "tests/emu/clusters.ptx");
    return e;
}

/* A grid of (8, 4) CTAs in clusters of (4, 2). */
static void test_places(void **state) {
    (void)state;
    FOR_MODES(e) {
        uint32_t *out = emu_zeros(&e, 32 * 32);
        tle_emu_kernel *k = NULL;
        tle_emu_launch_config c = {
            .struct_size = sizeof c, .grid = {8, 4, 1}, .block = {1, 1, 1}, .cluster = {4, 2, 1}};
        assert_int_equal(tle_emu_module_kernel(e.module, "places", &k), TLE_EMU_OK);
        assert_int_equal(tle_emu_launch(e.device, k, &c, (void *[]){&out}), TLE_EMU_OK);
        for (uint32_t y = 0; y < 4; y++)
            for (uint32_t x = 0; x < 8; x++) {
                uint32_t rank = x % 4 + y % 2 * 4;
                uint32_t want[8] = {rank,           8,    x % 4 + y % 2 * 10, 124,
                                    (rank + 1) % 8, rank, x / 4 + y / 2 * 10, 22};
                assert_memory_equal(out + (y * 8 + x) * 8, want, sizeof want);
            }
        c.grid[0] = 6; /* no multiple of 4 */
        assert_int_equal(tle_emu_launch(e.device, k, &c, (void *[]){&out}),
                         TLE_EMU_INVALID_ARGUMENT);
    }
}

static void test_ring(void **state) {
    (void)state;
    FOR_MODES(e) {
        int *in = emu_new(&e, 8 * 512), *out = emu_new(&e, 8 * 512);
        for (int i = 0; i < 8 * 128; i++)
            in[i] = i * 7 + 3;
        emu_run(&e, "ring", DIM(8, 1, 1), DIM(128, 1, 1), 0, (void *[]){&in, &out});
        for (int i = 0; i < 8 * 128; i++) {
            int cta = i / 128, next = cta / 4 * 4 + (cta + 1) % 4;
            assert_int_equal(out[i], in[next * 128 + 127 - i % 128]);
        }
    }
}

static void test_histogram(void **state) {
    (void)state;
    for (uint32_t size = 4; size <= 16; size *= 2)
        FOR_MODES(e) {
            int n = 3001;
            uint8_t *in = emu_new(&e, (size_t)n);
            unsigned *out = emu_zeros(&e, 1024), want[256] = {0};
            for (int i = 0; i < n; i++)
                want[in[i] = (uint8_t)(i * i >> 2)]++;
            emu_run_cluster(&e, "spread_histogram", DIM(16, 1, 1), size, DIM(96, 1, 1), 0,
                            (void *[]){&in, &out, &n});
            assert_memory_equal(out, want, sizeof want);
        }
}

static void test_sum(void **state) {
    (void)state;
    FOR_MODES(e) {
        float *in = emu_new(&e, 8 * 256 * 4), *out = emu_new(&e, 8), want[2] = {0};
        for (int i = 0; i < 8 * 256; i++)
            want[i / 1024] += in[i] = (float)(i % 61);
        emu_run_cluster(&e, "cluster_sum", DIM(8, 1, 1), 4, DIM(256, 1, 1), 0,
                        (void *[]){&in, &out});
        assert_memory_equal(out, want, sizeof want);
    }
}

static void test_grid(void **state) {
    (void)state;
    for (uint32_t cluster = 1; cluster <= 2; cluster++)
        FOR_MODES(e) {
            int *data = emu_new(&e, 132 * 64 * 4);
            unsigned *counter = emu_zeros(&e, 4);
            for (int i = 0; i < 132 * 64; i++)
                data[i] = i;
            emu_run_cluster(&e, "grid_shift", DIM(132, 1, 1), cluster, DIM(64, 1, 1), 0,
                            (void *[]){&data, &counter});
            for (int i = 0; i < 132 * 64; i++)
                assert_int_equal(data[i], (i + 128) % (132 * 64));
        }
}

/* ---- planted faults ----------------------------------------------------------------------- */

/* Clusters of 2 CTAs of 64 threads. %r0 thread, %r1 rank, %r2 the peer's rank; %ra the own row's
 * address, %rb the same in the peer, %p0 rank 0, %p1 thread 0. */
static const char head[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 sm[1024];\n"
    ".visible .entry k(.param .u64 p)\n.reqnctapercluster 2\n{\n"
    ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n.reg .b32 %ra, %rb;\n"
    "ld.param.u64 %rd0, [p];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %cluster_ctarank;\n"
    "xor.b32 %r2, %r1, 1;\nshl.b32 %r3, %r0, 2;\nmov.u32 %ra, sm;\nadd.u32 %ra, %ra, %r3;\n"
    "mapa.shared::cluster.u32 %rb, %ra, %r2;\nsetp.eq.u32 %p0, %r1, 0;\n"
    "setp.eq.u32 %p1, %r0, 0;\n";

#define ARRIVE "barrier.cluster.arrive.release.aligned;\n"
#define WAIT   "barrier.cluster.wait.acquire.aligned;\n"
#define SYNC   ARRIVE WAIT

typedef struct Case {
    const char *name;
    tle_emu_report_kind kind;
    const char *marked, *faulty, *fixed;
} Case;

static const Case cases[] = {
    {"no barrier before reading a peer", TLE_EMU_REPORT_RACE, "ld.shared::cluster",
     SYNC "st.shared.u32 [%ra], %r0;\nld.shared::cluster.u32 %r4, [%rb];\n" SYNC,
     SYNC "st.shared.u32 [%ra], %r0;\n" SYNC "ld.shared::cluster.u32 %r4, [%rb];\n" SYNC},
    {"own write after the peer's read", TLE_EMU_REPORT_RACE, NULL,
     "st.shared.u32 [%ra], %r0;\n" SYNC "ld.shared::cluster.u32 %r4, [%rb];\n"
     "st.shared.u32 [%ra], %r4;\n" SYNC,
     "st.shared.u32 [%ra], %r0;\n" SYNC "ld.shared::cluster.u32 %r4, [%rb];\n" SYNC
     "st.shared.u32 [%ra], %r4;\n"},
    {"relaxed arrival publishes nothing", TLE_EMU_REPORT_RACE, "ld.shared::cluster",
     "st.shared.u32 [%ra], %r0;\nbarrier.cluster.arrive.relaxed.aligned;\n" WAIT
     "ld.shared::cluster.u32 %r4, [%rb];\n" SYNC,
     "st.shared.u32 [%ra], %r0;\nfence.acq_rel.cluster;\n"
     "barrier.cluster.arrive.relaxed.aligned;\n" WAIT "ld.shared::cluster.u32 %r4, [%rb];\n" SYNC},
    {"a write between arrival and wait", TLE_EMU_REPORT_RACE, NULL,
     ARRIVE "st.shared.u32 [%ra], %r0;\n" WAIT "ld.shared::cluster.u32 %r4, [%rb];\n" SYNC,
     "st.shared.u32 [%ra], %r0;\n" ARRIVE WAIT "ld.shared::cluster.u32 %r4, [%rb];\n" SYNC},
    {"uninitialised memory of a peer", TLE_EMU_REPORT_UNINIT, "ld.shared::cluster",
     "@%p0 st.shared.u32 [%ra], %r0;\n" SYNC "ld.shared::cluster.u32 %r4, [%rb];\n" SYNC,
     "st.shared.u32 [%ra], %r0;\n" SYNC "ld.shared::cluster.u32 %r4, [%rb];\n" SYNC},
    {"out of a peer's memory", TLE_EMU_REPORT_BOUNDS, "st.shared::cluster",
     SYNC "st.shared::cluster.u32 [%rb+1024], %r0;\n" SYNC,
     SYNC "st.shared::cluster.u32 [%rb+512], %r0;\n" SYNC},
    {"a peer through shared::cta", TLE_EMU_REPORT_BOUNDS, "st.shared::cta",
     SYNC "st.shared::cta.u32 [%rb], %r0;\n" SYNC,
     SYNC "st.shared::cluster.u32 [%rb], %r0;\n" SYNC},
    {"rank that the cluster lacks", TLE_EMU_REPORT_BAD_OPERAND, "mapa.shared::cluster.u32 %r4",
     SYNC "mapa.shared::cluster.u32 %r4, %ra, 2;\n",
     SYNC "mapa.shared::cluster.u32 %r4, %ra, 1;\n"},
    {"exit while the peer reads", TLE_EMU_REPORT_CLUSTER, NULL,
     "st.shared.u32 [%ra], %r0;\n" SYNC "@%p0 ret;\nld.shared::cluster.u32 %r4, [%rb];\n",
     "st.shared.u32 [%ra], %r0;\n" SYNC "@%p0 bra wait;\nld.shared::cluster.u32 %r4, [%rb];\n"
     "wait:\n" SYNC},
    {"exit while the peer writes", TLE_EMU_REPORT_CLUSTER, NULL,
     SYNC "@!%p0 st.shared::cluster.u32 [%rb], %r0;\n",
     SYNC "@!%p0 st.shared::cluster.u32 [%rb], %r0;\n" SYNC},
    {"peer that may not have started", TLE_EMU_REPORT_CLUSTER, "st.shared::cluster",
     "@%p0 st.shared::cluster.u32 [%rb], %r0;\n" SYNC,
     SYNC "@%p0 st.shared::cluster.u32 [%rb], %r0;\n" SYNC},
    {"two arrivals, one wait", TLE_EMU_REPORT_BARRIER, NULL, ARRIVE ARRIVE WAIT,
     ARRIVE WAIT ARRIVE WAIT},
    {"wait without an arrival", TLE_EMU_REPORT_BARRIER, "barrier.cluster.wait", WAIT SYNC,
     SYNC SYNC},
    {"aligned cluster barrier in half a warp", TLE_EMU_REPORT_BARRIER, NULL,
     "setp.lt.u32 %p2, %r0, 16;\n@%p2 bra other;\n" SYNC "bra.uni end;\nother:\n" SYNC "end:\n",
     "setp.lt.u32 %p2, %r0, 16;\n@%p2 bra other;\nbarrier.cluster.arrive;\n"
     "barrier.cluster.wait;\nbra.uni end;\nother:\nbarrier.cluster.arrive;\n"
     "barrier.cluster.wait;\nend:\n"},
    {"one waits for the cluster, one for its CTA", TLE_EMU_REPORT_DEADLOCK, NULL,
     "setp.lt.u32 %p2, %r0, 32;\nand.pred %p2, %p2, %p0;\n@%p2 bra other;\n" SYNC "bra.uni end;\n"
     "other:\nbar.sync 1, 64;\nend:\n",
     SYNC "bar.sync 1, 64;\n"},
    {"atomics of a peer beside plain reads", TLE_EMU_REPORT_RACE, NULL,
     "st.shared.u32 [%ra], 0;\n" SYNC "atom.shared::cluster.add.u32 %r4, [%rb], 1;\n"
     "ld.shared.u32 %r5, [%ra];\n" SYNC,
     "st.shared.u32 [%ra], 0;\n" SYNC "atom.shared::cluster.add.u32 %r4, [%rb], 1;\n" SYNC
     "ld.shared.u32 %r5, [%ra];\n"},
};

static uint32_t line_of(const char *text, const char *part) {
    const char *at = strstr(text + sizeof head - 1, part);
    uint32_t line = 1;
    assert_non_null(at);
    for (const char *s = text; s < at; s++)
        line += *s == '\n';
    return line;
}

static tle_emu_status run_body(Emu *e, const char *body, char *text, size_t size) {
    int *p;
    snprintf(text, size, "%s%sret;\n}\n", head, body);
    emu_load(e, text, strlen(text), "case");
    p = emu_zeros(e, 1024);
    return emu_try(e, "k", DIM(4, 1, 1), DIM(64, 1, 1), 0, (void *[]){&p});
}

static void test_faults(void **state) {
    static char text[8192];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t mode = 0; mode < 3; mode++) {
            tle_emu_options o = {.struct_size = sizeof o, .schedule = mode, .seed = i};
            Emu e = emu_open(&o);
            tle_emu_status s = run_body(&e, cases[i].faulty, text, sizeof text);
            if (s == TLE_EMU_OK ||
                !emu_reported(&e, cases[i].kind,
                              cases[i].marked ? line_of(text, cases[i].marked) : 0))
                fail_msg("%s, mode %u: %s: %s", cases[i].name, mode, tle_emu_status_name(s),
                         tle_emu_last_error(e.device));
            emu_close(&e);
        }
}

static void test_twins(void **state) {
    static char text[8192];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t mode = 0; mode < 3; mode++) {
            tle_emu_options o = {.struct_size = sizeof o, .schedule = mode, .seed = i};
            Emu e = emu_open(&o);
            tle_emu_status s = run_body(&e, cases[i].fixed, text, sizeof text);
            if (s != TLE_EMU_OK)
                fail_msg("twin of %s, mode %u: %s: %s", cases[i].name, mode, tle_emu_status_name(s),
                         tle_emu_last_error(e.device));
            emu_close(&e);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),    cmocka_unit_test(test_ring),
        cmocka_unit_test(test_histogram), cmocka_unit_test(test_sum),
        cmocka_unit_test(test_grid),      cmocka_unit_test(test_faults),
        cmocka_unit_test(test_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
