/* Planted faults: each kernel has exactly one, which must be reported with its kind, its line of
 * PTX and the right place; its repaired twin must be clean. All checks are on. */
#include "emu_fixture.h"

/* Parameters: p, 1024 bytes that the host wrote; q, 1024 bytes that nobody wrote; n = 64. */
static const char head[] = ".version 8.6\n.target sm_90a\n.address_size 64\n"
                           ".file 1 \"kernel.py\"\n"
                           ".extern .shared .align 16 .b8 dyn[];\n"
                           ".shared .align 16 .b8 sm[512];\n"
                           ".const .align 4 .u32 table[4] = {1, 2, 3, 4};\n"
                           ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n"
                           ".local .align 16 .b8 stack[64];\n"
                           ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
                           ".reg .b64 %t, %a, %b, %at, %bt, %st;\n"
                           "ld.param.u64 %a, [p];\nld.param.u64 %b, [q];\n"
                           "ld.param.u32 %r15, [n];\nmov.u32 %r0, %tid.x;\n"
                           "mul.wide.u32 %t, %r0, 4;\nadd.u64 %at, %a, %t;\n"
                           "add.u64 %bt, %b, %t;\nmov.u64 %st, sm;\nadd.u64 %st, %st, %t;\n"
                           "shr.u32 %r14, %r0, 5;\nand.b32 %r13, %r0, 31;\n"
                           ".loc 1 7 3\n";

typedef struct Case {
    const char *name;
    tle_emu_report_kind kind;
    const char *marked; /* the line that must be named */
    const char *faulty, *fixed;
    tle_emu_status status; /* 0: TLE_EMU_FAULT */
} Case;

static const Case cases[] = {
    {"global read past the end", TLE_EMU_REPORT_BOUNDS, "ld.global.u32 %r1, [%a+1024]",
     "ld.global.u32 %r1, [%a+1024];", "ld.global.u32 %r1, [%a+1020];", 0},
    {"global read across the end", TLE_EMU_REPORT_BOUNDS, "ld.global.v2.u32",
     "add.u64 %rd1, %a, 1020;\nand.b64 %rd1, %rd1, -8;\nadd.u64 %rd1, %rd1, 8;\n"
     "ld.global.v2.u32 {%r1, %r2}, [%rd1];",
     "add.u64 %rd1, %a, 1016;\nld.global.v2.u32 {%r1, %r2}, [%rd1];", 0},
    {"global write before the start", TLE_EMU_REPORT_BOUNDS, "st.global.u32",
     "st.global.u32 [%a+-4], %r0;", "st.global.u32 [%at], %r0;", 0},
    {"global read of nowhere", TLE_EMU_REPORT_BOUNDS, "ld.global.u32",
     "mov.u64 %rd1, 4096;\nld.global.u32 %r1, [%rd1];", "ld.global.u32 %r1, [%a];", 0},
    {"generic read of nowhere", TLE_EMU_REPORT_BOUNDS, "ld.u32",
     "mov.u64 %rd1, 64;\nld.u32 %r1, [%rd1];", "ld.u32 %r1, [%a];", 0},
    {"global atomic past the end", TLE_EMU_REPORT_BOUNDS, "atom.global.add.u32",
     "atom.global.add.u32 %r1, [%a+2048], 1;", "atom.global.add.u32 %r1, [%a+8], 1;", 0},
    {"shared read past the end", TLE_EMU_REPORT_BOUNDS, "ld.shared.u32",
     "st.shared.u32 [%st], %r0;\nld.shared.u32 %r1, [%st+2048];",
     "st.shared.u32 [%st], %r0;\nld.shared.u32 %r1, [%st];", 0},
    {"shared write at null", TLE_EMU_REPORT_BOUNDS, "st.shared.u32",
     "mov.u32 %r1, 0;\nst.shared.u32 [%r1], %r0;", "st.shared.u32 [%st], %r0;", 0},
    {"dynamic shared past what the launch gave", TLE_EMU_REPORT_BOUNDS, "st.shared.u32",
     "mov.u64 %rd1, dyn;\nadd.u64 %rd1, %rd1, %t;\nst.shared.u32 [%rd1+1024], %r0;",
     "mov.u64 %rd1, dyn;\nadd.u64 %rd1, %rd1, %t;\nst.shared.u32 [%rd1], %r0;", 0},
    {"local write past the frame", TLE_EMU_REPORT_BOUNDS, "st.local.u32",
     "mov.u64 %rd1, stack;\nst.local.u32 [%rd1+64], %r0;",
     "mov.u64 %rd1, stack;\nst.local.u32 [%rd1+60], %r0;", 0},
    {"generic local write past the frame", TLE_EMU_REPORT_BOUNDS, "st.u32",
     "mov.u64 %rd1, stack;\ncvta.local.u64 %rd1, %rd1;\nst.u32 [%rd1+128], %r0;",
     "mov.u64 %rd1, stack;\ncvta.local.u64 %rd1, %rd1;\nst.u32 [%rd1], %r0;", 0},
    {"write to constants", TLE_EMU_REPORT_READ_ONLY, "st.u32",
     "mov.u64 %rd1, table;\ncvta.const.u64 %rd1, %rd1;\nst.u32 [%rd1], %r0;",
     "mov.u64 %rd1, table;\ncvta.const.u64 %rd1, %rd1;\nld.u32 %r1, [%rd1];", 0},
    {"cp.async from beyond", TLE_EMU_REPORT_BOUNDS, "cp.async.ca",
     "setp.eq.u32 %p1, %r0, 0;\nadd.u64 %rd1, %a, 1024;\n"
     "@%p1 cp.async.ca.shared.global [%st], [%rd1], 4;",
     "setp.eq.u32 %p1, %r0, 0;\nadd.u64 %rd1, %a, 1024;\nmov.u32 %r1, 0;\n"
     "@%p1 cp.async.ca.shared.global [%st], [%rd1], 4, %r1;",
     0},
    {"misaligned global read", TLE_EMU_REPORT_ALIGN, "ld.global.u32", "ld.global.u32 %r1, [%a+2];",
     "ld.global.u32 %r1, [%a+4];", 0},
    {"misaligned vector read", TLE_EMU_REPORT_ALIGN, "ld.global.v4.u32",
     "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a+8];",
     "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a+16];", 0},
    {"misaligned shared write", TLE_EMU_REPORT_ALIGN, "st.shared.u32",
     "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [%st+1], %r0;",
     "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [%st+4], %r0;", 0},
    {"misaligned local read", TLE_EMU_REPORT_ALIGN, "ld.local.u64",
     "mov.u64 %rd1, stack;\nst.local.v4.u32 [%rd1], {%r0, %r0, %r0, %r0};\n"
     "ld.local.u64 %rd2, [%rd1+4];",
     "mov.u64 %rd1, stack;\nst.local.v4.u32 [%rd1], {%r0, %r0, %r0, %r0};\n"
     "ld.local.u64 %rd2, [%rd1+8];",
     0},
    {"misaligned atomic", TLE_EMU_REPORT_ALIGN, "red.global.add.u64",
     "mov.u64 %rd1, 1;\nred.global.add.u64 [%a+4], %rd1;",
     "mov.u64 %rd1, 1;\nred.global.add.u64 [%a+8], %rd1;", 0},
    {"uninitialised global read", TLE_EMU_REPORT_UNINIT, "ld.global.u32",
     "ld.global.u32 %r1, [%bt];", "st.global.u32 [%bt], %r0;\nld.global.u32 %r1, [%bt];", 0},
    {"global read half initialised", TLE_EMU_REPORT_UNINIT, "ld.global.u64",
     "mul.wide.u32 %rd1, %r0, 8;\nadd.u64 %rd1, %b, %rd1;\nst.global.u32 [%rd1], %r0;\n"
     "ld.global.u64 %rd2, [%rd1+512];",
     "mul.wide.u32 %rd1, %r0, 8;\nadd.u64 %rd1, %b, %rd1;\nst.global.u64 [%rd1], %t;\n"
     "ld.global.u64 %rd2, [%rd1];",
     0},
    {"uninitialised shared read", TLE_EMU_REPORT_UNINIT, "ld.shared.u32",
     "ld.shared.u32 %r1, [%st];", "st.shared.u32 [%st], %r0;\nld.shared.u32 %r1, [%st];", 0},
    {"uninitialised shared atomic", TLE_EMU_REPORT_UNINIT, "atom.shared.add.u32",
     "atom.shared.add.u32 %r1, [%st], 1;",
     "st.shared.u32 [%st], 0;\natom.shared.add.u32 %r1, [%st], 1;", 0},
    {"uninitialised local read", TLE_EMU_REPORT_UNINIT, "ld.local.u32",
     "mov.u64 %rd1, stack;\nst.local.u32 [%rd1], %r0;\nld.local.u32 %r1, [%rd1+4];",
     "mov.u64 %rd1, stack;\nst.local.u32 [%rd1+4], %r0;\nld.local.u32 %r1, [%rd1+4];", 0},
    {"missing barrier", TLE_EMU_REPORT_RACE, "ld.shared.u32",
     "st.shared.u32 [%st], %r0;\nmov.u64 %rd1, sm;\nsub.u64 %rd1, %rd1, %t;\n"
     "ld.shared.u32 %r1, [%rd1+252];",
     "st.shared.u32 [%st], %r0;\nbar.sync 0;\nmov.u64 %rd1, sm;\nsub.u64 %rd1, %rd1, %t;\n"
     "ld.shared.u32 %r1, [%rd1+252];",
     0},
    {"missing second barrier", TLE_EMU_REPORT_RACE, "st.shared.u32 [%st], %r1",
     "st.shared.u32 [%st], %r0;\nbar.sync 0;\nmov.u64 %rd1, sm;\nsub.u64 %rd1, %rd1, %t;\n"
     "ld.shared.u32 %r1, [%rd1+252];\nst.shared.u32 [%st], %r1;",
     "st.shared.u32 [%st], %r0;\nbar.sync 0;\nmov.u64 %rd1, sm;\nsub.u64 %rd1, %rd1, %t;\n"
     "ld.shared.u32 %r1, [%rd1+252];\nbar.sync 0;\nst.shared.u32 [%st], %r1;",
     0},
    {"two warps write one word", TLE_EMU_REPORT_RACE, "st.shared.u32",
     "mul.wide.u32 %rd1, %r13, 4;\nmov.u64 %rd2, sm;\nadd.u64 %rd1, %rd1, %rd2;\n"
     "st.shared.u32 [%rd1], %r0;",
     "mov.u64 %rd1, %st;\nst.shared.u32 [%rd1], %r0;", 0},
    {"lanes store different values", TLE_EMU_REPORT_RACE, "st.shared.u32",
     "setp.eq.u32 %p1, %r14, 0;\n@%p1 st.shared.u32 [sm], %r0;",
     "setp.eq.u32 %p1, %r14, 0;\nmov.u32 %r1, 5;\n@%p1 st.shared.u32 [sm], %r1;", 0},
    {"missing bar.warp.sync", TLE_EMU_REPORT_RACE, "ld.shared.u32",
     "st.shared.u32 [%st], %r0;\nxor.b64 %rd1, %st, 4;\nld.shared.u32 %r1, [%rd1];",
     "st.shared.u32 [%st], %r0;\nbar.warp.sync -1;\nxor.b64 %rd1, %st, 4;\n"
     "ld.shared.u32 %r1, [%rd1];",
     0},
    {"plain read beside an atomic", TLE_EMU_REPORT_RACE, "ld.shared.u32",
     "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [sm], 0;\nbar.sync 0;\n"
     "red.shared.add.u32 [sm], 1;\nld.shared.u32 %r1, [sm];",
     "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [sm], 0;\nbar.sync 0;\n"
     "red.shared.add.u32 [sm], 1;\nbar.sync 0;\nld.shared.u32 %r1, [sm];",
     0},
    {"bytes of one word", TLE_EMU_REPORT_RACE, "ld.shared.u16",
     "cvt.u64.u32 %rd1, %r0;\nmov.u64 %rd2, sm;\nadd.u64 %rd1, %rd1, %rd2;\n"
     "st.shared.u8 [%rd1], %r0;\nsetp.eq.u32 %p1, %r0, 40;\n@%p1 ld.shared.u16 %r1, [sm];",
     "cvt.u64.u32 %rd1, %r0;\nmov.u64 %rd2, sm;\nadd.u64 %rd1, %rd1, %rd2;\n"
     "st.shared.u8 [%rd1], %r0;\nsetp.eq.u32 %p1, %r0, 40;\nbar.sync 0;\n"
     "@%p1 ld.shared.u16 %r1, [sm];",
     0},
    {"barrier of the wrong number", TLE_EMU_REPORT_RACE, "ld.shared.u32",
     "st.shared.u32 [%st], %r0;\nadd.u32 %r1, %r14, 1;\nbar.sync %r1, 32;\nmov.u64 %rd1, sm;\n"
     "sub.u64 %rd1, %rd1, %t;\nld.shared.u32 %r1, [%rd1+252];",
     "st.shared.u32 [%st], %r0;\nbar.sync 1, 64;\nmov.u64 %rd1, sm;\n"
     "sub.u64 %rd1, %rd1, %t;\nld.shared.u32 %r1, [%rd1+252];",
     0},
    {"flag without release", TLE_EMU_REPORT_RACE, "ld.shared.u32 %r3",
     "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [sm+256], 0;\nbar.sync 0;\n"
     "setp.eq.u32 %p1, %r14, 0;\n@!%p1 bra other;\n"
     "st.shared.u32 [sm+4], 9;\nst.relaxed.cta.shared.u32 [sm+256], 1;\nbra.uni end;\nother:\n"
     "ld.relaxed.cta.shared.u32 %r2, [sm+256];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra other;\n"
     "ld.shared.u32 %r3, [sm+4];\nend:",
     "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [sm+256], 0;\nbar.sync 0;\n"
     "setp.eq.u32 %p1, %r14, 0;\n@!%p1 bra other;\n"
     "st.shared.u32 [sm+4], 9;\nst.release.cta.shared.u32 [sm+256], 1;\nbra.uni end;\nother:\n"
     "ld.acquire.cta.shared.u32 %r2, [sm+256];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra other;\n"
     "ld.shared.u32 %r3, [sm+4];\nend:",
     0},
    {"flag without fences", TLE_EMU_REPORT_RACE, "ld.shared.u32 %r3",
     "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [sm+256], 0;\nbar.sync 0;\n"
     "setp.eq.u32 %p1, %r14, 0;\n@!%p1 bra other;\n"
     "st.shared.u32 [sm+4], 9;\nst.volatile.shared.u32 [sm+256], 1;\nbra.uni end;\nother:\n"
     "ld.volatile.shared.u32 %r2, [sm+256];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra other;\n"
     "membar.cta;\nld.shared.u32 %r3, [sm+4];\nend:",
     "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [sm+256], 0;\nbar.sync 0;\n"
     "setp.eq.u32 %p1, %r14, 0;\n@!%p1 bra other;\n"
     "st.shared.u32 [sm+4], 9;\nmembar.cta;\nst.volatile.shared.u32 [sm+256], 1;\nbra.uni end;\n"
     "other:\nld.volatile.shared.u32 %r2, [sm+256];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra other;\n"
     "membar.cta;\nld.shared.u32 %r3, [sm+4];\nend:",
     0},
    {"barrier count not of whole warps", TLE_EMU_REPORT_BARRIER, "bar.sync 1, 40",
     "setp.eq.u32 %p1, %r14, 0;\nbar.sync 1, 40;", "bar.sync 1, 64;", 0},
    {"barrier counts differ", TLE_EMU_REPORT_BARRIER, "bar.sync 1, %r1",
     "shl.b32 %r1, %r14, 5;\nadd.u32 %r1, %r1, 64;\nbar.sync 1, %r1;",
     "mov.u32 %r1, 64;\nbar.sync 1, %r1;", TLE_EMU_FAULT},
    {"divergent aligned barrier", TLE_EMU_REPORT_BARRIER, "bar.sync 0",
     "setp.lt.u32 %p1, %r13, 16;\n@%p1 bar.sync 0;\n@!%p1 bar.sync 0;",
     "setp.lt.u32 %p1, %r13, 16;\n@%p1 mov.u32 %r1, 1;\nbar.sync 0;", 0},
    {"barrier in a divergent branch", TLE_EMU_REPORT_BARRIER, "bar.sync 0",
     "setp.lt.u32 %p1, %r13, 16;\n@!%p1 bra over;\nbar.sync 0;\nover:\nmov.u32 %r1, 1;",
     "setp.lt.u32 %p1, %r14, 16;\n@!%p1 bra over;\nbar.sync 0;\nover:\nmov.u32 %r1, 1;", 0},
    {"threads exited before a barrier", TLE_EMU_REPORT_BARRIER, "bar.sync 0",
     "setp.ge.u32 %p1, %r0, 40;\n@%p1 exit;\nbar.sync 0;", "bar.sync 0;", 0},
    {"deadlock: a warp that never comes", TLE_EMU_REPORT_DEADLOCK, "bar.sync 1, 64",
     "setp.eq.u32 %p1, %r14, 0;\n@%p1 bra end;\nbar.sync 1, 64;\nend:\nexit;\n", "bar.sync 1, 64;",
     TLE_EMU_DEADLOCK},
    {"deadlock: crossed barriers", TLE_EMU_REPORT_DEADLOCK, NULL,
     "setp.eq.u32 %p1, %r14, 0;\n@%p1 bra one;\nbar.sync 1, 64;\nbar.sync 2, 64;\nbra.uni end;\n"
     "one:\nbar.sync 2, 64;\nbar.sync 1, 64;\nend:\nexit;\n",
     "setp.eq.u32 %p1, %r14, 0;\n@%p1 bra one;\nbar.sync 1, 64;\nbar.sync 2, 64;\nbra.uni end;\n"
     "one:\nbar.sync 1, 64;\nbar.sync 2, 64;\nend:\nexit;\n",
     TLE_EMU_DEADLOCK},
    {"deadlock: shuffle without all members", TLE_EMU_REPORT_DEADLOCK, "shfl.sync.idx.b32",
     "setp.lt.u32 %p1, %r13, 16;\n@!%p1 bra over;\nshfl.sync.idx.b32 %r1, %r0, 0, 31, -1;\n"
     "over:\nbar.warp.sync -1;",
     "setp.lt.u32 %p1, %r13, 16;\n@!%p1 bra over;\nshfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff;\n"
     "over:\nbar.warp.sync -1;",
     TLE_EMU_DEADLOCK},
    {"endless loop", TLE_EMU_REPORT_LIMIT, NULL, "again:\nadd.u32 %r1, %r1, 1;\nbra.uni again;",
     "mov.u32 %r1, 0;\nagain:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 99;\n@%p1 bra again;",
     TLE_EMU_LIMIT},
    {"trap", TLE_EMU_REPORT_TRAP, "trap", "setp.eq.u32 %p1, %r0, 33;\n@%p1 trap;",
     "setp.eq.u32 %p1, %r0, 99;\n@%p1 trap;", TLE_EMU_TRAP},
    {"shuffle from a lane outside", TLE_EMU_REPORT_BAD_OPERAND, "shfl.sync.idx.b32",
     "setp.lt.u32 %p1, %r13, 16;\n@%p1 shfl.sync.idx.b32 %r1, %r0, 20, 31, 0xffff;",
     "setp.lt.u32 %p1, %r13, 16;\n@%p1 shfl.sync.idx.b32 %r1, %r0, 10, 31, 0xffff;", 0},
    {"lane outside its member mask", TLE_EMU_REPORT_BAD_OPERAND, "vote.sync.ballot.b32",
     "setp.lt.u32 %p1, %r13, 16;\nvote.sync.ballot.b32 %r1, %p1, 0xffff;",
     "setp.lt.u32 %p1, %r13, 16;\nvote.sync.ballot.b32 %r1, %p1, -1;", 0},
    {"barrier number", TLE_EMU_REPORT_BAD_OPERAND, "bar.sync %r1",
     "mov.u32 %r1, 16;\nbar.sync %r1;", "mov.u32 %r1, 15;\nbar.sync %r1;", 0},
};

static uint32_t line_of(const char *text, const char *part) {
    const char *at = strstr(text, part);
    uint32_t line = 1;
    if (!at)
        return 0;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static tle_emu_status run_body(Emu *e, const char *body, char *text, size_t size) {
    int n = 64;
    int *p, *q;
    snprintf(text, size, "%s%s\nret;\n}\n", head, body);
    emu_load(e, text, strlen(text), "case");
    p = emu_zeros(e, 1024);
    q = emu_new(e, 1024);
    return emu_try(e, "k", DIM(1, 1, 1), DIM(64, 1, 1), 512, (void *[]){&p, &q, &n});
}

static const tle_emu_options options = {.struct_size = sizeof(tle_emu_options),
                                        .instruction_limit = 2000000};

static bool is_reported(const Emu *e, const Case *c, uint32_t line) {
    for (uint32_t i = 0; i < tle_emu_report_count(e->device); i++) {
        tle_emu_report r = {.struct_size = sizeof r};
        assert_int_equal(tle_emu_report_get(e->device, i, &r), TLE_EMU_OK);
        if (r.kind != c->kind || (line && r.ptx_line != line))
            continue;
        assert_string_equal(r.kernel, "k");
        assert_string_equal(r.source_file, "kernel.py");
        assert_int_equal(r.source_line, 7);
        assert_true(r.thread[0] == r.warp * 32 + r.lane);
        return true;
    }
    return false;
}

static void test_faults(void **state) {
    static char text[8192];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        Emu e = emu_open(&options);
        tle_emu_status s = run_body(&e, c->faulty, text, sizeof text);
        tle_emu_status want = c->status ? c->status : TLE_EMU_FAULT;
        uint32_t line = c->marked ? line_of(text, c->marked) : 0;
        if (c->kind == TLE_EMU_REPORT_BARRIER && s == TLE_EMU_DEADLOCK)
            want = s; /* a misused barrier may leave warps behind */
        if (s != want || !is_reported(&e, c, line))
            fail_msg("%s (line %u): %s: %s", c->name, line, tle_emu_status_name(s),
                     tle_emu_last_error(e.device));
        emu_close(&e);
    }
}

static void test_twins(void **state) {
    static char text[8192];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t mode = 0; mode < 3; mode++) {
            tle_emu_options o = options;
            o.schedule = mode;
            o.seed = i;
            Emu e = emu_open(&o);
            tle_emu_status s = run_body(&e, cases[i].fixed, text, sizeof text);
            if (s != TLE_EMU_OK)
                fail_msg("twin of %s: %s: %s", cases[i].name, tle_emu_status_name(s),
                         tle_emu_last_error(e.device));
            emu_close(&e);
        }
}

static void test_freed(void **state) {
    static char text[8192];
    int n = 64;
    (void)state;
    Emu e = emu_open(NULL);
    snprintf(text, sizeof text, "%sld.global.u32 %%r1, [%%at];\nret;\n}\n", head);
    emu_load(&e, text, strlen(text), "freed");
    int *p = emu_zeros(&e, 1024), *q = p;
    void *params[] = {&p, &q, &n};
    assert_int_equal(emu_try(&e, "k", DIM(1, 1, 1), DIM(64, 1, 1), 0, params), TLE_EMU_OK);
    assert_int_equal(tle_emu_free(e.device, p), TLE_EMU_OK);
    assert_int_equal(tle_emu_free(e.device, p), TLE_EMU_NOT_FOUND);
    assert_int_equal(emu_try(&e, "k", DIM(1, 1, 1), DIM(64, 1, 1), 0, params), TLE_EMU_FAULT);
    tle_emu_report r = {.struct_size = sizeof r};
    assert_int_equal(tle_emu_report_get(e.device, 0, &r), TLE_EMU_OK);
    assert_int_equal(r.kind, TLE_EMU_REPORT_FREED);
    emu_close(&e);
}

static void test_registered(void **state) {
    static char text[8192];
    int n = 64, *p;
    (void)state;
    Emu e = emu_open(NULL);
    snprintf(text, sizeof text, "%sst.global.u32 [%%at], %%r0;\nret;\n}\n", head);
    emu_load(&e, text, strlen(text), "registered");
    p = calloc(64, 4);
    void *params[] = {&p, &p, &n};
    tle_emu_report r = {.struct_size = sizeof r};
    assert_int_equal(emu_try(&e, "k", DIM(1, 1, 1), DIM(64, 1, 1), 0, params), TLE_EMU_FAULT);
    assert_int_equal(tle_emu_register(e.device, p, 256, 1), TLE_EMU_OK);
    assert_int_equal(emu_try(&e, "k", DIM(1, 1, 1), DIM(64, 1, 1), 0, params), TLE_EMU_FAULT);
    assert_int_equal(tle_emu_report_get(e.device, 0, &r), TLE_EMU_OK);
    assert_int_equal(r.kind, TLE_EMU_REPORT_READ_ONLY);
    assert_int_equal(p[5], 0);
    assert_int_equal(tle_emu_register(e.device, p, 256, 0), TLE_EMU_OK);
    emu_run(&e, "k", DIM(1, 1, 1), DIM(64, 1, 1), 0, params);
    assert_int_equal(p[5], 5);
    assert_int_equal(tle_emu_unregister(e.device, p), TLE_EMU_OK);
    assert_int_equal(tle_emu_unregister(e.device, p), TLE_EMU_OK);
    assert_int_equal(tle_emu_unregister(e.device, p), TLE_EMU_NOT_FOUND);
    free(p);
    emu_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_registered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
