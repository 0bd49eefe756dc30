/* The number of host threads changes nothing: status, error text, reports, figures and memory are
 * those of one thread, for the planted faults and their twins and for kernels whose CTAs depend on
 * each other in the ways that make a difference. */
#include "tle/tle_emu.h"

#include "emu/faults/fault_case.h"
#include "emu_fixture.h"

enum { WORDS = 2048, ROOM = 1 << 20 };

static const uint32_t thread_counts[] = {1, 2, 4};
enum { COUNTS = sizeof thread_counts / sizeof *thread_counts };

/* ---- all that a launch leaves, as text ---------------------------------------------------- */

typedef struct Trace {
    char *text;
    size_t length;
} Trace;

static void add(Trace *t, const char *text) {
    size_t n = strlen(text);
    assert_true(t->length + n < ROOM);
    memcpy(t->text + t->length, text, n + 1);
    t->length += n;
}

static void add_report(Trace *t, const tle_emu_report *r) {
    char line[512];
    snprintf(line, sizeof line, "%u %u %s %s %u (%u,%u,%u) (%u,%u,%u) %u %u %llx %u: ", r->kind,
             r->ptx_line, r->kernel, r->source_file, r->source_line, r->cta[0], r->cta[1],
             r->cta[2], r->thread[0], r->thread[1], r->thread[2], r->warp, r->lane,
             (unsigned long long)r->address, r->access_bytes);
    add(t, line);
    add(t, r->text);
    add(t, "\n");
}

static void trace(Trace *t, const Emu *e, tle_emu_status s, const uint32_t *words, size_t count) {
    char word[16];
    t->length = 0;
    add(t, tle_emu_status_name(s));
    add(t, tle_emu_last_error(e->device));
    for (uint32_t i = 0; i < tle_emu_report_count(e->device); i++) {
        tle_emu_report r = {.struct_size = sizeof r};
        assert_int_equal(tle_emu_report_get(e->device, i, &r), TLE_EMU_OK);
        add_report(t, &r);
    }
    add(t, tle_emu_cost_json(e->device));
    for (size_t i = 0; i < count; i++) {
        snprintf(word, sizeof word, " %x", words[i]);
        add(t, word);
    }
}

static Trace new_trace(void) {
    Trace t = {malloc(ROOM), 0};
    assert_non_null(t.text);
    return t;
}

static void compare(const Trace *want, const Trace *got, const char *name, uint32_t threads) {
    size_t at = 0;
    if (!strcmp(want->text, got->text))
        return;
    while (want->text[at] == got->text[at])
        at++;
    at -= at > 100 ? 100 : at;
    fail_msg("%s with %u threads: ...%.300s\nwith one: ...%.300s", name, threads, got->text + at,
             want->text + at);
}

/* ---- planted faults ----------------------------------------------------------------------- */

static void fault(const FaultCase *c, bool faulty, uint32_t schedule, Trace *want, Trace *got) {
    static char text[8192];
    int n = FAULT_N;
    Emu e = emu_open(NULL);
    assert_true(fault_text(c, faulty, "k", text, sizeof text));
    emu_load(&e, text, strlen(text), "case");
    int *p = emu_new(&e, FAULT_BYTES), *q = emu_new(&e, FAULT_BYTES);
    bool freed = faulty && c->shape == FAULT_FREED;
    uint32_t ctas = c->shape == FAULT_GRID || c->shape == FAULT_CLUSTER ? 2 : 3;
    if (freed)
        assert_int_equal(tle_emu_free(e.device, p), TLE_EMU_OK);
    for (int i = 0; i < COUNTS; i++) {
        tle_emu_options o = {.struct_size = sizeof o,
                             .schedule = schedule,
                             .seed = schedule,
                             .instruction_limit = 200000,
                             .cost = 2,
                             .host_threads = thread_counts[i]};
        assert_int_equal(tle_emu_configure(e.device, &o), TLE_EMU_OK);
        if (!freed)
            memset(p, 0, FAULT_BYTES);
        assert_int_equal(tle_emu_mark(e.device, q, FAULT_BYTES, 0), TLE_EMU_OK);
        tle_emu_status s =
            emu_try_cluster(&e, "k", DIM(ctas, 1, 1), c->shape == FAULT_CLUSTER ? 2 : 0,
                            DIM(FAULT_THREADS, 1, 1), FAULT_SHARED, (void *[]){&p, &q, &n});
        trace(i ? got : want, &e, s, freed ? NULL : (const uint32_t *)p, freed ? 0 : 256);
        if (i)
            compare(want, got, c->name, thread_counts[i]);
    }
    emu_close(&e);
}

static void test_faults(void **state) {
    Trace want = new_trace(), got = new_trace();
    (void)state;
    for (size_t i = 0; i < FAULT_COUNT; i++)
        for (uint32_t schedule = 0; schedule < 2; schedule++)
            for (int faulty = 0; faulty < 2; faulty++)
                fault(&fault_cases[i], faulty, schedule, &want, &got);
    free(want.text);
    free(got.text);
}

/* ---- CTAs that depend on each other ------------------------------------------------------- */

/* A body finds the words p in %a and q in %b, the CTA in %r14 and the number of the thread in %r13,
 * CTA * 32 + thread in %r0, 4 times that in %t, p + that in %at, q + that in %bt. p has the numbers
 * from 0 on, q is not initialised. */
static const char frame[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 8 .b8 sm[1024];\n"
    ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
    ".local .align 8 .b8 stack[16];\n"
    ".reg .pred %%p<8>;\n.reg .b32 %%r<16>;\n.reg .b64 %%rd<16>;\n.reg .b64 %%t, %%a, %%b, %%at, "
    "%%bt;\nld.param.u64 %%a, [p];\nld.param.u64 %%b, [q];\nmov.u32 %%r13, %%tid.x;\n"
    "mov.u32 %%r14, %%ctaid.x;\nmad.lo.u32 %%r0, %%r14, 32, %%r13;\n"
    "mul.wide.u32 %%t, %%r0, 4;\nadd.u64 %%at, %%a, %%t;\nadd.u64 %%bt, %%b, %%t;\n%s\nret;\n}\n";

#define ADD_ONE "ld.global.u32 %r1, [%at];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%at], %r1;"
#define LOOP(times, body)                                                                          \
    "mov.u32 %r12, 0;\nLOOP:\n" body "\nadd.u32 %r12, %r12, 1;\nsetp.lt.u32 %p1, %r12, " times     \
    ";\n@%p1 bra LOOP;\n"

static const struct {
    const char *name, *body;
    uint64_t limit;
    bool slow; /* once is enough */
} kernels[] = {
    {"independent", ADD_ONE, 0, false},
    {"into memory that nobody wrote", "st.global.u32 [%bt], %r0;\nld.global.u32 %r1, [%bt];", 0,
     false},
    {"bytes of one word",
     "add.u64 %rd1, %a, 64;\ncvt.u64.u32 %rd2, %r14;\nadd.u64 %rd1, %rd1, %rd2;\n"
     "st.global.u8 [%rd1], %r14;",
     0, false},
    {"words, then bytes of them",
     "st.global.u32 [%at], %r0;\nst.global.u8 [%at+1], %r14;\nld.global.u16 %r1, [%at];", 0, false},
    {"vectors of a page and the next",
     "mul.wide.u32 %rd1, %r0, 16;\nadd.u64 %rd1, %rd1, %a;\n"
     "st.global.v4.u32 [%rd1], {%r0, %r13, %r14, %r0};",
     0, false},
    {"one reads what the one before it writes",
     ADD_ONE "\nsetp.eq.u32 %p1, %r14, 5;\n@%p1 ld.global.u32 %r2, [%at+-128];\n"
             "@%p1 st.global.u32 [%bt], %r2;",
     0, false},
    {"one writes what all before it have read",
     "ld.global.u32 %r1, [%a];\nsetp.eq.u32 %p1, %r14, 6;\nsetp.eq.and.u32 %p1, %r13, 0, %p1;\n"
     "@%p1 st.global.u32 [%a], %r0;\nst.global.u32 [%bt], %r1;",
     0, false},
    {"all write one word", "setp.eq.u32 %p1, %r13, 0;\n@%p1 st.global.u32 [%a], %r14;", 0, false},
    {"all write one word alike", "mov.u32 %r1, 7;\nst.global.u32 [%a], %r1;", 0, false},
    {"a chain",
     "setp.gt.u32 %p1, %r14, 0;\nmov.u32 %r1, 1;\n@%p1 ld.global.u32 %r1, [%bt+-128];\n"
     "add.u32 %r1, %r1, %r1;\nst.global.u32 [%bt], %r1;",
     0, false},
    {"reads what nobody wrote, in one CTA",
     "st.global.u32 [%at], %r0;\nsetp.eq.u32 %p1, %r14, 7;\n@%p1 ld.global.u32 %r1, [%bt];", 0,
     false},
    {"reads what nobody wrote, in all", "ld.global.u32 %r1, [%b+512];\nst.global.u32 [%at], %r1;",
     0, false},
    {"junk in shared and local memory",
     "mov.u32 %r1, 9;\nst.shared.u32 [sm], %r1;\nld.shared.u32 %r2, [sm+64];\n"
     "ld.local.u32 %r3, [stack];\nst.local.u32 [stack], %r13;\nadd.u32 %r2, %r2, %r3;\n"
     "st.global.u32 [%at], %r2;",
     0, false},
    {"a misaligned address in one CTA",
     "setp.eq.u32 %p1, %r14, 9;\nselp.u64 %rd1, 2, 0, %p1;\nadd.u64 %at, %at, %rd1;\n"
     "st.global.u32 [%at], %r0;",
     0, false},
    {"a trap in one CTA", ADD_ONE "\nsetp.eq.u32 %p1, %r14, 4;\n@%p1 trap;", 0, false},
    {"atomics", "atom.global.add.u32 %r1, [%a], %r0;\nst.global.u32 [%bt], %r1;", 0, false},
    {"atomics through generic addresses", "atom.add.u32 %r1, [%a], %r0;\nst.u32 [%bt], %r1;", 0,
     false},
    {"volatile",
     "ld.volatile.global.u32 %r1, [%a];\nadd.u32 %r1, %r1, 1;\n"
     "st.volatile.global.u32 [%a], %r1;",
     0, false},
    {"the clock", "mov.u64 %rd1, %clock64;\nst.global.u32 [%at], %rd1;", 0, false},
    {"a grid barrier",
     "setp.ne.u32 %p1, %r13, 0;\n@%p1 bra DONE;\natom.add.acq_rel.gpu.global.u32 %r1, [%a], 1;\n"
     "WAIT:\nld.acquire.gpu.global.u32 %r1, [%a];\nsetp.lt.u32 %p2, %r1, 12;\n@%p2 bra WAIT;\n"
     "DONE:\nbar.sync 0;",
     0, false},
    {"one waits for one after it, by plain reads",
     "setp.ne.u32 %p1, %r14, 2;\n@%p1 bra OTHERS;\nWAIT:\nld.global.u32 %r1, [%a+1280];\n"
     "setp.eq.u32 %p2, %r1, 320;\n@%p2 bra WAIT;\nOTHERS:\n" ADD_ONE,
     0, true},
    {"many turns", LOOP("100", ADD_ONE "\nbar.sync 0;"), 0, false},
    {"the limit in one CTA", LOOP("40", ADD_ONE), 1500, false},
    {"a CTA that never ends", "setp.eq.u32 %p1, %r14, 5;\nWAIT:\n@%p1 bra WAIT;\n" ADD_ONE, 50000,
     false},
    {"asynchronous copies",
     "mov.u32 %r1, sm;\nmul.lo.u32 %r2, %r13, 4;\nadd.u32 %r1, %r1, %r2;\n"
     "cp.async.ca.shared.global [%r1], [%at], 4;\ncp.async.commit_group;\n"
     "cp.async.wait_group 0;\nbar.warp.sync -1;\nld.shared.u32 %r3, [%r1];\n"
     "st.global.u32 [%bt], %r3;",
     0, false},
    {"bulk copies out of shared memory",
     "mov.u32 %r1, sm;\nmul.lo.u32 %r2, %r13, 4;\nadd.u32 %r2, %r1, %r2;\nst.shared.u32 [%r2], "
     "%r0;\nfence.proxy.async;\nbar.warp.sync -1;\nsetp.ne.u32 %p1, %r13, 0;\n@%p1 bra DONE;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%bt], [%r1], 128;\n"
     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nld.global.u32 %r3, [%bt];\n"
     "st.global.u32 [%at], %r3;\nDONE:",
     0, false},
};

static void kernel(size_t index, uint32_t schedule, uint32_t checks, Trace *want, Trace *got) {
    static char text[8192];
    static uint32_t both[2 * WORDS];
    Emu e = emu_open(NULL);
    int n = snprintf(text, sizeof text, frame, kernels[index].body);
    emu_load(&e, text, (size_t)n, "case");
    uint32_t *p = emu_new(&e, WORDS * 4), *q = emu_new(&e, WORDS * 4);
    for (int i = 0; i < COUNTS; i++) {
        tle_emu_options o = {.struct_size = sizeof o,
                             .checks = checks,
                             .schedule = schedule,
                             .seed = 3,
                             .instruction_limit = kernels[index].limit,
                             .cost = 2,
                             .host_threads = thread_counts[i]};
        assert_int_equal(tle_emu_configure(e.device, &o), TLE_EMU_OK);
        for (uint32_t k = 0; k < WORDS; k++)
            p[k] = k;
        assert_int_equal(tle_emu_mark(e.device, q, WORDS * 4, 0), TLE_EMU_OK);
        tle_emu_status s = emu_try(&e, "k", DIM(12, 1, 1), DIM(32, 1, 1), 0, (void *[]){&p, &q});
        memcpy(both, p, WORDS * 4);
        memcpy(both + WORDS, q, WORDS * 4);
        trace(i ? got : want, &e, s, both, 2 * WORDS);
        if (i)
            compare(want, got, kernels[index].name, thread_counts[i]);
    }
    emu_close(&e);
}

static void test_kernels(void **state) {
    static const uint32_t checks[] = {TLE_EMU_CHECK_ALL, TLE_EMU_CHECK_NONE,
                                      TLE_EMU_CHECK_ALL & ~TLE_EMU_CHECK_RACE,
                                      TLE_EMU_CHECK_ALL & ~TLE_EMU_CHECK_BOUNDS};
    Trace want = new_trace(), got = new_trace();
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (uint32_t schedule = 0; schedule < 3; schedule++)
            for (size_t c = 0; c < sizeof checks / sizeof *checks; c++)
                if (!kernels[i].slow || (schedule == 0 && checks[c] == TLE_EMU_CHECK_NONE))
                    kernel(i, schedule, checks[c], &want, &got);
    free(want.text);
    free(got.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
