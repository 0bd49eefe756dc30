/* Planted faults in mbarriers and asynchronous copies, each with its repaired twin; see
 * fault_case.h for those in the rest. */
#ifndef FAULT_ASYNC_H
#define FAULT_ASYNC_H

#include "tle/tle_emu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Clusters of 2 CTAs of 64 threads. Parameters: a, 4096 bytes that the host wrote; b, 4096 bytes
 * that nobody wrote, of which each CTA has half. bar and bar2 are mbarriers (%bar and %bar2 their
 * addresses), sm 4096 bytes. %r0 thread, %r1 rank; %p0 thread 0, %p1 rank 0, %p2 warp 0; %st the
 * thread's word of sm, %at of a. %qb and %qs: bar and sm of the peer. */
static const char async_head[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".shared .align 128 .b8 sm[4096];\n.shared .align 8 .b64 bar;\n.shared .align 8 .b64 bar2;\n"
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .align 64 .b8 map[128])\n"
    ".reqnctapercluster 2\n{\n"
    ".reg .pred %p<8>;\n.reg .b32 %r<16>, %st, %bar, %bar2, %sm, %qb, %qs;\n.reg .b64 %rd<16>;\n"
    ".reg .b64 %a, %b, %at, %t, %map;\n"
    "ld.param.u64 %a, [a];\nld.param.u64 %b, [b];\nmov.b64 %map, map;\ncvta.param.u64 %map, %map;\n"
    "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %cluster_ctarank;\nxor.b32 %r2, %r1, 1;\n"
    "mul.wide.u32 %rd0, %r1, 2048;\nadd.u64 %b, %b, %rd0;\n"
    "mul.wide.u32 %t, %r0, 4;\nadd.u64 %at, %a, %t;\nshl.b32 %r3, %r0, 2;\nmov.u32 %sm, sm;\n"
    "add.u32 %st, %sm, %r3;\nmov.u32 %bar, bar;\nmov.u32 %bar2, bar2;\n"
    "mapa.shared::cluster.u32 %qb, %bar, %r2;\nmapa.shared::cluster.u32 %qs, %sm, %r2;\n"
    "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.lt.u32 %p2, %r0, 32;\n";

#define SYNC    "bar.sync 0;\n"
#define CLUSTER "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
#define INIT(n) "@%p0 mbarrier.init.shared::cta.b64 [%bar], " #n ";\nbar.sync 0;\n"
#define WAIT(n)                                                                                    \
    "again" #n ": mbarrier.try_wait.parity.shared::cta.b64 %p7, [%bar], " #n ";\n"                 \
    "@!%p7 bra again" #n ";\n"
#define LOAD(bytes)                                                                                \
    "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%sm], [%a], " #bytes  \
    ", [%bar];\n"
#define EXPECT(n) "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], " #n ";\n"
#define STORE(n)                                                                                   \
    "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%b], [%sm], " #n ";\n"                      \
    "@%p0 cp.async.bulk.commit_group;\n"
#define DONE "@%p0 cp.async.bulk.wait_group 0;\n"
#define READ "ld.shared.u32 %r4, [%st];\n"

typedef struct AsyncCase {
    const char *name;
    tle_emu_report_kind kind;
    const char *marked, *faulty, *fixed;
} AsyncCase;

static const AsyncCase async_cases[] = {
    /* mbarriers */
    {"arrival at nothing", TLE_EMU_REPORT_MBARRIER, "mbarrier.arrive",
     "mbarrier.arrive.shared::cta.b64 _, [%bar];\n",
     INIT(64) "mbarrier.arrive.shared::cta.b64 _, [%bar];\n"},
    {"arrival not ordered after the initialisation", TLE_EMU_REPORT_RACE, "mbarrier.arrive",
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 31;\nsetp.gt.u32 %p3, %r0, 0;\n"
     "and.pred %p3, %p3, %p2;\n@%p3 mbarrier.arrive.shared::cta.b64 _, [%bar];\n",
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 31;\nbar.warp.sync -1;\nsetp.gt.u32 %p3, %r0, 0;\n"
     "and.pred %p3, %p3, %p2;\n@%p3 mbarrier.arrive.shared::cta.b64 _, [%bar];\n"},
    {"too many arrivals", TLE_EMU_REPORT_MBARRIER, NULL,
     INIT(3) "@%p0 mbarrier.arrive.shared::cta.b64 _, [%bar], 2;\n"
             "@%p0 mbarrier.arrive.shared::cta.b64 _, [%bar], 2;\n",
     INIT(4) "@%p0 mbarrier.arrive.shared::cta.b64 _, [%bar], 2;\n"
             "@%p0 mbarrier.arrive.shared::cta.b64 _, [%bar], 2;\n"},
    {"count of zero", TLE_EMU_REPORT_MBARRIER, "mbarrier.init", INIT(0), INIT(1)},
    {"initialised twice", TLE_EMU_REPORT_MBARRIER, "mbarrier.init.shared.b64",
     INIT(1) "@%p0 mbarrier.init.shared.b64 [%bar], 2;\n",
     INIT(1) "@%p0 mbarrier.inval.shared.b64 [%bar];\n@%p0 mbarrier.init.shared.b64 [%bar], 2;\n"},
    {"use after inval", TLE_EMU_REPORT_MBARRIER, "mbarrier.arrive",
     INIT(1) "@%p0 mbarrier.inval.shared.b64 [%bar];\n@%p0 mbarrier.arrive.shared.b64 _, [%bar];\n",
     INIT(
         1) "@%p0 mbarrier.arrive.shared.b64 _, [%bar];\n@%p0 mbarrier.inval.shared.b64 [%bar];\n"},
    {"overwritten", TLE_EMU_REPORT_MBARRIER, "mbarrier.arrive",
     INIT(1) "@%p0 st.shared.u32 [%bar], 5;\n@%p0 mbarrier.arrive.shared.b64 _, [%bar];\n",
     INIT(1) "@%p0 st.shared.u32 [%bar2], 5;\n@%p0 mbarrier.arrive.shared.b64 _, [%bar];\n"},
    {"noComplete that completes", TLE_EMU_REPORT_MBARRIER, "mbarrier.arrive",
     INIT(2) "@%p0 mbarrier.arrive.noComplete.shared.b64 %rd1, [%bar], 2;\n",
     INIT(3) "@%p0 mbarrier.arrive.noComplete.shared.b64 %rd1, [%bar], 2;\n"},
    {"an arrival is missing", TLE_EMU_REPORT_DEADLOCK, NULL,
     INIT(64) "@!%p0 mbarrier.arrive.shared.b64 _, [%bar];\n" WAIT(0),
     INIT(63) "@!%p0 mbarrier.arrive.shared.b64 _, [%bar];\n" WAIT(0)},
    {"wrong parity", TLE_EMU_REPORT_DEADLOCK, NULL,
     INIT(64) "mbarrier.arrive.shared.b64 _, [%bar];\n" WAIT(0) "bar.sync 0;\n" WAIT(1),
     INIT(64) "mbarrier.arrive.shared.b64 _, [%bar];\n" WAIT(0) "bar.sync 0;\n"},
    {"read before the wait", TLE_EMU_REPORT_RACE, "ld.shared",
     INIT(64) "st.shared.u32 [%st], %r0;\nmbarrier.arrive.shared.b64 _, [%bar];\n"
              "xor.b32 %r5, %st, 128;\nld.shared.u32 %r4, [%r5];\n" WAIT(0),
     INIT(64) "st.shared.u32 [%st], %r0;\nmbarrier.arrive.shared.b64 _, [%bar];\n"
              "xor.b32 %r5, %st, 128;\n" WAIT(0) "ld.shared.u32 %r4, [%r5];\n"},
    {"relaxed arrival", TLE_EMU_REPORT_RACE, "ld.shared",
     INIT(64) "st.shared.u32 [%st], %r0;\nmbarrier.arrive.relaxed.cta.shared.b64 _, [%bar];\n"
              "xor.b32 %r5, %st, 128;\n" WAIT(0) "ld.shared.u32 %r4, [%r5];\n",
     INIT(64) "st.shared.u32 [%st], %r0;\nmbarrier.arrive.release.cta.shared.b64 _, [%bar];\n"
              "xor.b32 %r5, %st, 128;\n" WAIT(0) "ld.shared.u32 %r4, [%r5];\n"},
    {"remote arrival before the peer's initialisation", TLE_EMU_REPORT_CLUSTER, NULL,
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 1;\n"
     "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%qb];\n" CLUSTER,
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 1;\n" CLUSTER
     "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%qb];\n" CLUSTER},
    {"remote arrival, and the peer exits", TLE_EMU_REPORT_CLUSTER, NULL,
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 1;\n" CLUSTER "@%p1 ret;\n"
     "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%qb];\n",
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 1;\n" CLUSTER "@%p1 bra w;\n"
     "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%qb];\nbra.uni e;\nw:\n" WAIT(
         0) "e:\n"},
    /* cp.async */
    {"cp.async without a wait", TLE_EMU_REPORT_RACE, "ld.shared",
     "cp.async.ca.shared.global [%st], [%at], 4;\ncp.async.commit_group;\n" READ,
     "cp.async.ca.shared.global [%st], [%at], 4;\ncp.async.commit_group;\n"
     "cp.async.wait_group 0;\n" READ},
    {"cp.async, too weak a wait", TLE_EMU_REPORT_RACE, "ld.shared",
     "cp.async.ca.shared.global [%st], [%at], 4;\ncp.async.commit_group;\n"
     "cp.async.wait_group 1;\n" READ,
     "cp.async.ca.shared.global [%st], [%at], 4;\ncp.async.commit_group;\n"
     "cp.async.commit_group;\ncp.async.wait_group 1;\n" READ},
    {"cp.async that was not committed", TLE_EMU_REPORT_RACE, "ld.shared",
     "cp.async.ca.shared.global [%st], [%at], 4;\ncp.async.wait_group 0;\n" READ,
     "cp.async.ca.shared.global [%st], [%at], 4;\ncp.async.wait_all;\n" READ},
    {"cp.async into what others read", TLE_EMU_REPORT_RACE, "cp.async.ca",
     "st.shared.u32 [%st], %r0;\n" SYNC "xor.b32 %r5, %st, 128;\nld.shared.u32 %r4, [%r5];\n"
     "cp.async.ca.shared.global [%st], [%at], 4;\ncp.async.wait_all;\n",
     "st.shared.u32 [%st], %r0;\n" SYNC "xor.b32 %r5, %st, 128;\nld.shared.u32 %r4, [%r5];\n" SYNC
     "cp.async.ca.shared.global [%st], [%at], 4;\ncp.async.wait_all;\n"},
    {"cp.async read by another warp", TLE_EMU_REPORT_RACE, "ld.shared",
     "cp.async.ca.shared.global [%st], [%at], 4;\ncp.async.wait_all;\n"
     "xor.b32 %r5, %st, 128;\nld.shared.u32 %r4, [%r5];\n",
     "cp.async.ca.shared.global [%st], [%at], 4;\ncp.async.wait_all;\n" SYNC
     "xor.b32 %r5, %st, 128;\nld.shared.u32 %r4, [%r5];\n"},
    {"cp.async of uninitialised memory", TLE_EMU_REPORT_UNINIT, "cp.async.ca",
     "cp.async.ca.shared.global [%st], [%b], 4;\ncp.async.wait_all;\n",
     "cp.async.ca.shared.global [%st], [%a], 4;\ncp.async.wait_all;\n"},
    {"cp.async from a misaligned address", TLE_EMU_REPORT_ALIGN, "cp.async.ca",
     "cp.async.ca.shared.global [%st], [%at+2], 4;\ncp.async.wait_all;\n",
     "cp.async.ca.shared.global [%st], [%at+4], 4;\ncp.async.wait_all;\n"},
    {"arrival without the copies", TLE_EMU_REPORT_RACE, "ld.shared",
     INIT(64) "cp.async.ca.shared.global [%st], [%at], 4;\nmbarrier.arrive.shared.b64 _, "
              "[%bar];\n" WAIT(0) READ,
     INIT(64) "cp.async.ca.shared.global [%st], [%at], 4;\n"
              "cp.async.mbarrier.arrive.noinc.shared.b64 [%bar];\n" WAIT(0) READ},
    {"cp.async.mbarrier.arrive that counts itself", TLE_EMU_REPORT_DEADLOCK, NULL,
     INIT(64) "cp.async.ca.shared.global [%st], [%at], 4;\n"
              "cp.async.mbarrier.arrive.shared.b64 [%bar];\n" WAIT(0) READ,
     INIT(64) "cp.async.ca.shared.global [%st], [%at], 4;\n"
              "cp.async.mbarrier.arrive.shared.b64 [%bar];\nmbarrier.arrive.shared.b64 _, "
              "[%bar];\n" WAIT(0) READ},
    /* bulk loads */
    {"bulk load, read without a wait", TLE_EMU_REPORT_RACE, "ld.shared",
     INIT(1) EXPECT(256) LOAD(256) READ WAIT(0), INIT(1) EXPECT(256) LOAD(256) WAIT(0) READ},
    {"bulk load, waited for the other phase", TLE_EMU_REPORT_RACE, "ld.shared",
     INIT(1) EXPECT(256) LOAD(256) WAIT(1) READ WAIT(0),
     INIT(1) EXPECT(256) LOAD(256) WAIT(0) READ},
    {"bulk load of fewer bytes than expected", TLE_EMU_REPORT_DEADLOCK, NULL,
     INIT(1) EXPECT(256) LOAD(128) WAIT(0), INIT(1) EXPECT(128) LOAD(128) WAIT(0)},
    {"bulk load of more bytes than expected", TLE_EMU_REPORT_MBARRIER, NULL,
     INIT(1) EXPECT(128) LOAD(128) LOAD(128) WAIT(0) "bar.sync 0;\n",
     INIT(1) EXPECT(256)
         LOAD(128) "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                   "[%sm+128], [%a], 128, "
                   "[%bar];\n" WAIT(0) "bar.sync 0;\n"},
    {"bulk load into what others read", TLE_EMU_REPORT_RACE, NULL,
     INIT(1) "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC READ EXPECT(256) LOAD(256)
         WAIT(0),
     INIT(1) "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC READ SYNC EXPECT(256) LOAD(256)
         WAIT(0)},
    {"bulk load over a write without a proxy fence", TLE_EMU_REPORT_PROXY, "cp.async.bulk",
     INIT(1) "st.shared.u32 [%st], %r0;\n" SYNC EXPECT(256) LOAD(256) WAIT(0),
     INIT(1) "st.shared.u32 [%st], %r0;\nfence.proxy.async.shared::cta;\n" SYNC EXPECT(256)
         LOAD(256) WAIT(0)},
    {"bulk load past the allocation", TLE_EMU_REPORT_BOUNDS, "cp.async.bulk",
     INIT(1) EXPECT(4096) "add.u64 %a, %a, 16;\n" LOAD(4096) WAIT(0),
     INIT(1) EXPECT(4080) "add.u64 %a, %a, 16;\n" LOAD(4080) WAIT(0)},
    {"bulk load to misaligned memory", TLE_EMU_REPORT_ALIGN, "cp.async.bulk",
     INIT(1) EXPECT(32) "add.u32 %sm, %sm, 8;\n" LOAD(32) WAIT(0),
     INIT(1) EXPECT(32) "add.u32 %sm, %sm, 16;\n" LOAD(32) WAIT(0)},
    {"bulk load of an odd size", TLE_EMU_REPORT_BAD_OPERAND, "cp.async.bulk",
     INIT(1) EXPECT(40) LOAD(40) WAIT(0), INIT(1) EXPECT(48) LOAD(48) WAIT(0)},
    {"bulk load past shared memory", TLE_EMU_REPORT_BOUNDS, "cp.async.bulk",
     INIT(1) EXPECT(256) "add.u32 %sm, %sm, 4096;\n" LOAD(256) WAIT(0),
     INIT(1) EXPECT(256) "add.u32 %sm, %sm, 3840;\n" LOAD(256) WAIT(0)},
    {"bulk load of what nobody wrote", TLE_EMU_REPORT_UNINIT, "cp.async.bulk",
     INIT(1) EXPECT(256) "mov.u64 %a, %b;\n" LOAD(256) WAIT(0),
     INIT(1) EXPECT(256) LOAD(256) WAIT(0)},
    {"bulk load, exit without a wait", TLE_EMU_REPORT_CLUSTER, NULL, INIT(1) EXPECT(256) LOAD(256),
     INIT(1) EXPECT(256) LOAD(256) WAIT(0)},
    {"bulk load without a barrier", TLE_EMU_REPORT_MBARRIER, "cp.async.bulk", LOAD(256),
     INIT(1) EXPECT(256) LOAD(256) WAIT(0)},
    {"bulk load with the peer's barrier", TLE_EMU_REPORT_BAD_OPERAND, "cp.async.bulk",
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 1;\n" CLUSTER EXPECT(
         256) "mov.u32 %r6, %bar;\n"
              "mov.u32 %bar, %qb;\n" LOAD(256) "mov.u32 %bar, %r6;\n" WAIT(0) CLUSTER,
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 1;\n" CLUSTER EXPECT(
         256) "mov.u32 %r6, %bar;\n"
              "mov.u32 %bar, %qb;\nmov.u32 %sm, %qs;\n" LOAD(256) "mov.u32 %bar, %r6;\n" WAIT(0)
                  CLUSTER},
    {"multicast to a CTA that is not there", TLE_EMU_REPORT_BAD_OPERAND, "cp.async.bulk",
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 1;\n" CLUSTER EXPECT(
         256) "and.pred %p3, %p0, %p1;\nmov.b16 %h, 7;\n"
              "@%p3 "
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
              "cluster "
              "[%sm], [%a], 256, [%bar], %h;\n" WAIT(0) CLUSTER,
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 1;\n" CLUSTER EXPECT(
         256) "and.pred %p3, %p0, %p1;\nmov.b16 %h, 3;\n"
              "@%p3 "
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
              "cluster "
              "[%sm], [%a], 256, [%bar], %h;\n" WAIT(0) CLUSTER},
    /* bulk stores */
    {"bulk store without a proxy fence", TLE_EMU_REPORT_PROXY, "cp.async.bulk.global",
     "st.shared.u32 [%st], %r0;\n" SYNC STORE(256) DONE,
     "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC STORE(256) DONE},
    {"bulk store, fence before the last write", TLE_EMU_REPORT_PROXY, "cp.async.bulk.global",
     "fence.proxy.async;\nst.shared.u32 [%st], %r0;\n" SYNC STORE(256) DONE,
     "st.shared.u32 [%st], %r0;\n" SYNC "fence.proxy.async;\n" STORE(256) DONE},
    {"bulk store without a barrier", TLE_EMU_REPORT_RACE, NULL,
     "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" STORE(256) DONE,
     "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC STORE(256) DONE},
    {"bulk store, source written again", TLE_EMU_REPORT_RACE, "st.shared.u32 [%st], %r1",
     "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC STORE(256) SYNC
     "st.shared.u32 [%st], %r1;\n" DONE,
     "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC STORE(
         256) "@%p0 cp.async.bulk.wait_group.read 0;\n" SYNC "st.shared.u32 [%st], %r1;\n" DONE},
    {"bulk store, exit without a wait", TLE_EMU_REPORT_CLUSTER, NULL,
     "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC STORE(256),
     "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC STORE(256) DONE},
    {"bulk store, wait without a commit", TLE_EMU_REPORT_CLUSTER, NULL,
     "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC
     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%b], [%sm], 256;\n" DONE,
     "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC STORE(256) DONE},
    {"bulk store of uninitialised bytes", TLE_EMU_REPORT_UNINIT, "cp.async.bulk.global",
     "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC STORE(272) DONE,
     "st.shared.u32 [%st], %r0;\nfence.proxy.async;\n" SYNC STORE(256) DONE},
    {"bulk store, result read after .read", TLE_EMU_REPORT_UNINIT, "ld.global",
     INIT(1) EXPECT(256) LOAD(256) WAIT(0) STORE(256) "@%p0 cp.async.bulk.wait_group.read 0;\n"
                                                      "@%p0 ld.global.u32 %r4, [%b];\n" DONE,
     INIT(1) EXPECT(256) LOAD(256) WAIT(0) STORE(256) DONE "@%p0 ld.global.u32 %r4, [%b];\n"},
    /* st.async */
    {"st.async, peer reads without a wait", TLE_EMU_REPORT_RACE, "ld.shared",
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 1;\n" CLUSTER EXPECT(
         4) "@%p0 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%qs], %r1, [%qb];\n"
            "@%p0 ld.shared.u32 %r4, [%sm];\n" WAIT(0) CLUSTER,
     "@%p0 mbarrier.init.shared::cta.b64 [%bar], 1;\n" CLUSTER EXPECT(
         4) "@%p0 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%qs], %r1, "
            "[%qb];\n" WAIT(0) "@%p0 ld.shared.u32 %r4, [%sm];\n" CLUSTER},
    /* tensor copies: 64 rows of 16 words */
    {"what is no tensor map", TLE_EMU_REPORT_BAD_OPERAND, "cp.async.bulk.tensor",
     INIT(1) EXPECT(
         1024) "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%sm], "
               "[%a, {%r1, %r1}], [%bar];\n" WAIT(0),
     INIT(1) EXPECT(
         1024) "mov.u32 %r1, 0;\n"
               "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%sm], "
               "[%map, {%r1, %r1}], [%bar];\n" WAIT(0)},
    {"tensor map by its parameter's address", TLE_EMU_REPORT_BOUNDS, "cp.async.bulk.tensor",
     INIT(1) EXPECT(
         1024) "mov.u32 %r1, 0;\nmov.b64 %map, map;\n"
               "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%sm], "
               "[%map, {%r1, %r1}], [%bar];\n",
     INIT(1) EXPECT(
         1024) "mov.u32 %r1, 0;\nmov.b64 %map, map;\ncvta.param.u64 %map, %map;\n"
               "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%sm], "
               "[%map, {%r1, %r1}], [%bar];\n" WAIT(0)},
    {"tensor map of another rank", TLE_EMU_REPORT_BAD_OPERAND, "cp.async.bulk.tensor",
     INIT(1) EXPECT(
         1024) "mov.u32 %r1, 0;\n"
               "@%p0 cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%sm], "
               "[%map, {%r1, %r1, %r1}], [%bar];\n",
     INIT(1) EXPECT(1024) "mov.u32 %r1, 0;\n"
                          "@%p0 "
                          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_"
                          "tx::bytes [%sm], "
                          "[%map, {%r1, %r1}], [%bar];\n" WAIT(0)},
    {"box at a misaligned place", TLE_EMU_REPORT_ALIGN, "cp.async.bulk.tensor",
     INIT(1) EXPECT(
         1024) "mov.u32 %r1, 0;\nadd.u32 %sm, %sm, 64;\n"
               "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%sm], "
               "[%map, {%r1, %r1}], [%bar];\n" WAIT(0),
     INIT(1) EXPECT(
         1024) "mov.u32 %r1, 0;\nadd.u32 %sm, %sm, 128;\n"
               "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%sm], "
               "[%map, {%r1, %r1}], [%bar];\n" WAIT(0)},
    {"first coordinate not at 16 bytes", TLE_EMU_REPORT_BAD_OPERAND, "cp.async.bulk.tensor",
     INIT(1) EXPECT(
         1024) "mov.u32 %r1, 2;\n"
               "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%sm], "
               "[%map, {%r1, %r1}], [%bar];\n" WAIT(0),
     INIT(1) EXPECT(
         1024) "mov.u32 %r1, 4;\n"
               "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%sm], "
               "[%map, {%r1, %r1}], [%bar];\n" WAIT(0)},
    {"tensor store at a negative coordinate", TLE_EMU_REPORT_BAD_OPERAND, "cp.async.bulk.tensor",
     INIT(1) EXPECT(1024) LOAD(1024)
         WAIT(0) "mov.u32 %r1, 0;\nmov.u32 %r5, -1;\n"
                 "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%r1, %r5}], "
                 "[%sm];\n"
                 "@%p0 cp.async.bulk.commit_group;\n" DONE,
     INIT(1) EXPECT(1024) LOAD(1024)
         WAIT(0) "mad.lo.u32 %r5, %r1, 16, 32;\nmov.u32 %r1, 0;\n"
                 "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%r1, %r5}], "
                 "[%sm];\n"
                 "@%p0 cp.async.bulk.commit_group;\n" DONE},
};

enum { ASYNC_COUNT = sizeof async_cases / sizeof *async_cases, ASYNC_BYTES = 4096 };

/* The PTX of one kernel, k; false if `size` is too small. */
static inline bool async_text(const char *body, char *text, size_t size) {
    int n = snprintf(text, size,
                     "%s.reg .b16 %%h;\n%sxor.b32 %%r4, %%r4, %%r5;\n"
                     "setp.eq.u32 %%p7, %%r4, 0x9e3779b1;\n@%%p7 st.global.u32 [%%a], %%r4;\n"
                     "ret;\n}\n",
                     async_head, body); /* what bodies read must not be left out as unused */
    return n > 0 && (size_t)n < size;
}

#endif
