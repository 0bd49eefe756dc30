/* The machine: decoded instructions and everything that exists while a grid runs.
 *
 * A register is a plane of 32 lanes: 128 bytes for up to 32 bits, 256 for 64, and one 32-bit mask
 * for a predicate. An operand is an int32 code: a byte offset into the frame of the executing
 * fragment, or, with the low bit set, into the constants of its function (where every immediate
 * stands as a full plane). Readers truncate a plane's element to their type, so the upper bits of
 * a 16-bit register never matter.
 *
 * A warp is a set of fragments: lanes that share a program counter and a frame. Fragments split at
 * divergent branches and meet again at the immediate post-dominator (a Meet). Meeting there is a
 * matter of speed only: a fragment that waits in vain is sent on alone, so code that relies on
 * independent thread progress runs.
 *
 * Everything of a launch lives in the launch's arena. Running out of memory leaves through the
 * arena's handler (a longjmp to the API). */
#ifndef EMU_VM_H
#define EMU_VM_H

#include "memory.h"
#include "ptx.h"
#include <stddef.h>

#define LANES     32u
#define ALL_LANES 0xffffffffu
#define MAX_WARPS 32u /* of a CTA */

/* Windows of the generic address space that no host address can lie in. */
#define SHARED_WINDOW ((uint64_t)1 << 56)
#define LOCAL_WINDOW  ((uint64_t)1 << 57)
#define FUNC_WINDOW   ((uint64_t)1 << 58)
/* Kernel parameters' own addresses; generic ones are without it. */
#define PARAM_WINDOW ((uint64_t)1 << 59)
#define WINDOW_MASK  ((uint64_t)0xff << 56)
/* Shared addresses start after the reserved KiB; a cluster address has rank + 1 in its top byte. */
#define SHARED_BASE    1024u
#define CLUSTER_SHIFT  24
#define MAX_CLUSTER    16u
#define SINK           0 /* operand code of the scratch plane */
#define RECURSION_ROOM 16384u

typedef struct Device Device;
typedef struct Launch Launch;
typedef struct Cluster Cluster;
typedef struct Cta Cta;
typedef struct Warp Warp;
typedef struct Fragment Fragment;
typedef struct Frame Frame;
typedef struct Meet Meet;
typedef struct Insn Insn;
typedef struct Function Function;
typedef struct Race Race;
typedef struct Matrix Matrix;
typedef struct GlobalRace GlobalRace;
typedef struct View View;
typedef struct Ahead Ahead;
typedef void ExecFn(Warp *w, const Insn *in, uint32_t mask);

/* ---- code --------------------------------------------------------------------------------- */

typedef enum InsnClass {
#define X(id, text) CLASS_##id,
#include "classes.def"
#undef X
    CLASS_COUNT
} InsnClass;

typedef enum Rounding { ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP, ROUND_RNA } Rounding;

enum {
    F_FTZ = 1u << 0,
    F_SAT = 1u << 1,
    F_RELU = 1u << 2,
    F_NAN = 1u << 3,
    F_XORSIGN = 1u << 4,
    F_CC = 1u << 5,
    F_CLAMP = 1u << 6, /* shf.clamp, szext.clamp; wrap without it */
    F_APPROX = 1u << 7,
    F_SATFINITE = 1u << 8,
    F_ADDR64 = 1u << 9,  /* address register has 64 bits */
    F_FRAME = 1u << 10,  /* address is relative to the frame's local memory */
    F_STRONG = 1u << 11, /* volatile, relaxed and stronger: no data race by itself */
    F_SIGNED = 1u << 12,
    F_WIDE64 = 1u << 13,    /* destination (load) or source (store) registers have 64 bits */
    F_ALIGNED = 1u << 14,   /* all threads of the warp execute it together */
    F_HAS_COUNT = 1u << 15, /* barrier with a thread count */
    F_ABS = 1u << 16,
    F_SHIFTAMT = 1u << 17,
    F_NEGATED = 1u << 18, /* of the predicate operand c */
    F_COMBINE = 1u << 19, /* setp with a boolean operator; sub2 says which */
    F_CONST_SPACE = 1u << 20,
    F_CLUSTER = 1u << 21,
    F_PARTIAL = 1u << 22, /* takes part in an aligned barrier although the warp is divergent */
    F_ABS2 = 1u << 23,
    F_NO_BASE = 1u << 24
};

/* How an instruction ends its block. */
enum { INSN_NEXT, INSN_BRANCH, INSN_TABLE, INSN_EXIT, INSN_RETURN };

typedef enum Semantics { SEM_WEAK, SEM_RELAXED, SEM_ACQUIRE, SEM_RELEASE, SEM_ACQ_REL } Semantics;

/* Whose accesses a strong access or a fence is about; none: what the instruction is by default. */
typedef enum Scope { SCOPE_NONE, SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU } Scope;

/* Arguments of one call: bytes of the caller's local frame copied to the callee's. */
typedef struct CallCopy {
    uint32_t from, to, bytes;
} CallCopy;

typedef struct CallSite {
    const Function *callee; /* NULL: by address */
    uint32_t arg_count, result_count;
    CallCopy *args, *results; /* `to` of an indirect call is filled by position */
} CallSite;

struct Insn {
    ExecFn *fn;
    int32_t d, d2, a, b, c, e; /* operand codes */
    uint32_t guard;            /* offset of the predicate */
    uint32_t flags;
    bool guarded, guard_negated;
    uint8_t cls, type, type2;
    uint8_t size, vec; /* bytes of an element, elements */
    uint8_t space, sub, sub2, rounding, sem, scope;
    uint8_t ext_count;
    int64_t imm;
    const int32_t *ext;
    const Insn *target, *join; /* branch: join is NULL if only the exit post-dominates */
    const CallSite *call;
    const struct BulkArgs *bulk;
    const Insn *const *table;
    uint32_t table_count;
    uint32_t ends; /* INSN_ kind of control flow, for the graph */
    uint32_t index;
    uint32_t line;
    PtxLoc loc;
    const char *spelling;
};

struct Function {
    const PtxFunction *source;
    const char *name;
    Insn *code;
    uint32_t count;
    uint32_t frame_bytes;
    uint8_t *consts;
    uint32_t local_bytes;   /* own frame of local memory */
    uint32_t total_local;   /* with the deepest chain of callees */
    uint32_t static_shared; /* of entries */
    uint32_t index;
    bool uses_dynamic, recursive, calls_by_address, allocates;
    uint32_t param_bytes; /* of entries */
    VEC(uint32_t) callees;
};

/* ---- reports ------------------------------------------------------------------------------ */

typedef struct Report {
    tle_emu_report_kind kind;
    uint32_t ptx_line, source_line;
    const char *kernel, *source_file, *text;
    uint32_t cta[3], thread[3], warp, lane;
    uint64_t address;
    uint32_t access_bytes;
    const Insn *insn;
} Report;

/* ---- fragments and warps ------------------------------------------------------------------ */

typedef enum FragmentState {
    FRAG_FREE,
    FRAG_RUN,
    FRAG_PARKED,   /* at its meet */
    FRAG_WARP,     /* at a warp-wide instruction whose other lanes have not come */
    FRAG_ALIGNED,  /* at an aligned instruction that the whole warp must reach together */
    FRAG_BARRIER,  /* at a CTA barrier */
    FRAG_CLUSTER,  /* at the cluster barrier */
    FRAG_MBARRIER, /* at mbarrier.try_wait */
    FRAG_ASYNC,    /* at a wait for groups of asynchronous copies */
    FRAG_REGISTERS /* at setmaxnreg.inc, until other warps give registers back */
} FragmentState;

struct Frame {
    Frame *parent, *next_free;
    const Function *fn;
    const Insn *return_to;
    const CallSite *site;
    uint32_t lanes; /* alive in this frame */
    uint32_t local_base;
    uint8_t *regs;     /* 64-byte aligned */
    uint32_t *dynamic; /* bytes of alloca, by lane; NULL: never any */
};

struct Meet {
    Meet *parent, *next_free;
    const Insn *at;
    Frame *frame;
    uint32_t expected, arrived;
};

struct Fragment {
    FragmentState state;
    uint32_t mask;
    const Insn *pc;
    Frame *frame;
    Meet *meet;
    const Insn *wait_insn;
    uint32_t wait_exec, wait_members; /* lanes that came; lanes that must come */
    uint32_t barrier;
    uint64_t wait_address, wait_phase;
    bool forced; /* go through an aligned instruction without the others */
};

/* The last time that a warp looked at memory which others write: a strong read, or an atomic that
 * changed nothing. */
typedef struct Look {
    const Insn *insn;
    uint64_t address, when; /* in instructions of the launch, plus 1 */
} Look;

struct Warp {
    uint8_t *base[2]; /* frame registers, constants: of the current fragment */
    Fragment *f;      /* current fragment, NULL if none */
    Cta *cta;
    Launch *launch;
    uint32_t id; /* in the CTA */
    uint32_t initial, live;
    uint32_t cc; /* carry flag of each lane */
    uint32_t budget;
    uint32_t stalls; /* turns used up while a fragment was parked */
    bool stop;       /* leave the inner loop */
    Fragment frags[LANES];
    Frame *free_frames;
    Meet *free_meets;
    uint8_t *local; /* [lane][launch->local_bytes] */
    uint64_t *local_init;
    uint64_t steps;
    Look look;
    uint32_t turn;                             /* fragment to try first */
    uint32_t cluster_phase;                    /* of the cluster barrier, at the last arrival */
    uint32_t cluster_arrived, cluster_pending; /* lanes: in this phase; whose wait is to come */
    uint32_t registers;                        /* of a thread; 0: the kernel does not say */
    bool peers_started;                        /* a cluster barrier has been passed */
    uint32_t grid_waited;                      /* lanes that executed griddepcontrol.wait */
    Matrix *matrix;                            /* what wgmma has in flight; NULL: never any */
    bool watch;                                /* matrix_watch must see every instruction */
    struct AsyncGroups *groups; /* of cp.async and of bulk copies; NULL before the first */
};

/* ---- CTAs --------------------------------------------------------------------------------- */

#define BARRIER_COUNT 16u

typedef struct Barrier {
    uint32_t expected; /* threads; 0: all of the CTA */
    uint32_t arrived;  /* threads; warps count as 32 */
    bool active, counted;
    uint32_t lanes[MAX_WARPS];
    uint32_t popc, any, all;
    const Insn *first;
    uint32_t *clock; /* joined vector clock */
} Barrier;

struct Cta {
    Cluster *cluster;
    uint32_t rank; /* in the cluster */
    uint32_t id[3];
    uint8_t *shared; /* address SHARED_BASE is shared[0] */
    uint64_t *shared_init;
    Warp *warps;
    uint32_t warp_count, live_threads;
    uint32_t free_registers; /* that setmaxnreg.dec has given back */
    Barrier barriers[BARRIER_COUNT];
    struct RaceCell *cells;
    bool exited_reported;
};

typedef struct ClusterBarrier {
    bool active;        /* someone has arrived */
    uint32_t phase;     /* barriers completed */
    uint32_t *clock[2]; /* of even and odd phases: arrivals may run ahead of waits */
} ClusterBarrier;

struct Cluster {
    Cta **ctas;
    uint32_t count;
    uint64_t number;       /* in launch order */
    uint64_t turns, polls; /* polls: strong reads of memory that other clusters may write */
    uint64_t steps;        /* warp instructions so far */
    uint64_t rng;          /* of the random schedule */
    bool done;
    bool stuck; /* nothing runs unless lanes go on without those they wait for */
    Race *race;
    struct Async *async; /* NULL where the module has nothing asynchronous */
    ClusterBarrier barrier;
    Cluster *next_free;
};

typedef struct Cost Cost;

struct Launch {
    Device *device;
    Arena *arena;
    const Function *fn;
    const struct tle_emu_module *module;
    uint32_t grid[3], block[3], cluster[3], cluster_size, threads, warps;
    uint32_t shared_bytes, dynamic_bytes, local_bytes;
    bool dependent; /* accesses before griddepcontrol.wait are reported */
    uint8_t *params;
    uint32_t checks;
    uint64_t instructions, limit;
    uint64_t changed; /* instructions when memory or a wait last changed */
    tle_emu_status status;
    bool stop;
    Cost *cost;
    Cluster **resident;
    uint32_t resident_count, resident_limit;
    Cluster *free_clusters;
    uint64_t next_cluster, cluster_total;
    bool in_clusters;     /* by the kernel's or the caller's word, even if of one CTA */
    uint64_t events_seen; /* when try_waits gave up last */
    uint32_t give_ups;    /* since then */
    Region *last_region;
    GlobalRace *global_race; /* NULL: not checked */
    View *view;              /* of a cluster ahead of its turn; NULL: global memory as it is */
    Ahead *ahead;            /* the threads; NULL: none */
    jmp_buf escape;
};

struct tle_emu_kernel {
    struct tle_emu_module *module;
    Function *fn;
};

struct tle_emu_module {
    struct tle_emu_device *device;
    struct tle_emu_module *next, *previous;
    Arena *arena;
    Interner *names;
    PtxModule *ptx;
    Function *functions; /* by index in ptx->functions */
    tle_emu_kernel **kernels;
    uint32_t kernel_count;
    const char *name;
    bool uses_async; /* has mbarriers or asynchronous copies */
};

struct Device {
    uint32_t sm_arch, sm_count, checks, schedule, max_reports, shared_limit, cost, host_threads;
    uint64_t seed, limit;
    RegionTable regions;
    struct tle_emu_module *modules;
    Arena *report_arena; /* reports and cost JSON of the last launch */
    Arena *launch_arena; /* of the last launch, for the next; NULL while one runs */
    VEC(Report) reports;
    const char *cost_json;
    jmp_buf *escape; /* of the launch that runs, where an arena has no memory */
    char error[1024];
};

struct tle_emu_device {
    Device d;
};

/* ---- operand access ----------------------------------------------------------------------- */

static inline uint8_t *plane(const Warp *w, int32_t code) {
    return w->base[code & 1] + (code & ~1);
}

static inline uint32_t *plane32(const Warp *w, int32_t code) {
    return (uint32_t *)(void *)plane(w, code);
}

static inline uint64_t *plane64(const Warp *w, int32_t code) {
    return (uint64_t *)(void *)plane(w, code);
}

static inline uint32_t *pred_of(const Warp *w, int32_t code) {
    return (uint32_t *)(void *)plane(w, code);
}

static inline void set_pred(const Warp *w, int32_t code, uint32_t bits, uint32_t mask) {
    uint32_t *p = pred_of(w, code);
    *p = (*p & ~mask) | (bits & mask);
}

/* Something changed that others may wait for. */
static inline void note_change(Launch *l) {
    l->changed = l->instructions;
}

static inline void note_look(Warp *w, const Insn *in, uint64_t address) {
    w->look = (Look){in, address, w->launch->instructions + 1};
}

static inline uint32_t first_lane(uint32_t mask) {
    return (uint32_t)__builtin_ctz(mask);
}

static inline uint32_t popcount32(uint32_t v) {
    return (uint32_t)__builtin_popcount(v);
}

#if defined(__clang__)
/* Loops that cannot be vectorised after all are meant to stay as they are. */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* Lanes are independent, also where destination and source are one plane. */
#if defined(__clang__)
#define LANES_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define LANES_INDEPENDENT _Pragma("GCC ivdep")
#else
#define LANES_INDEPENDENT
#endif

/* Runs `body` for each active lane `i`; the full warp is the loop that compilers vectorise. */
#define FOR_LANES(mask, body)                                                                      \
    do {                                                                                           \
        if ((mask) == ALL_LANES) {                                                                 \
            LANES_INDEPENDENT                                                                      \
            for (uint32_t i = 0; i < LANES; i++) {                                                 \
                body                                                                               \
            }                                                                                      \
        } else {                                                                                   \
            for (uint32_t i = 0; i < LANES; i++)                                                   \
                if ((mask) >> i & 1) {                                                             \
                    body                                                                           \
                }                                                                                  \
        }                                                                                          \
    } while (0)

/* ---- decode.c ----------------------------------------------------------------------------- */

void decode_module(struct tle_emu_module *m, PtxContext *c);

/* ---- layout.c: addresses of variables, call graph ----------------------------------------- */

void layout_module(struct tle_emu_module *m, PtxContext *c);

/* ---- access.c: from lane addresses to host memory, with all checks ------------------------ */

typedef enum AccessKind { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_ATOMIC = 3 } AccessKind;

/* Host pointers of the active lanes; lanes with a fault are reported and leave the mask. */
uint32_t access_resolve(Warp *w, const Insn *in, uint32_t mask, const uint64_t *address,
                        uint32_t bytes, AccessKind kind, uint8_t **host);
/* A range of global memory that is used now or later; NULL if it may not be. */
uint8_t *access_global(Warp *w, const Insn *in, uint32_t lane, uint64_t address, uint32_t bytes,
                       AccessKind kind);
/* Where the launch has the bytes of a place in global memory that it has resolved. */
const uint8_t *access_host(const Launch *l, uint64_t address);
/* Which bytes of the region are initialised, for those of the range. */
uint64_t *access_init(Launch *l, const Region *r, uint64_t offset, uint32_t bytes);
/* The CTA and byte that a shared or generic address lies at; NULL if at none that the warp reaches.
 */
Cta *access_shared(Warp *w, uint64_t address, uint32_t bytes, uint32_t *offset);
/* Addresses in the instruction's state space from its address operand. */
void access_addresses(const Warp *w, const Insn *in, uint32_t mask, uint64_t *address);

/* ---- report.c ----------------------------------------------------------------------------- */

#if defined(__GNUC__)
__attribute__((format(printf, 7, 8)))
#endif
void report_add(Warp *w, const Insn *in, uint32_t lane, tle_emu_report_kind kind, uint64_t address,
                uint32_t bytes, const char *format, ...);
/* Nothing can run, or all that run look at memory that nobody changes: one report with every
 * waiting warp. */
void report_deadlock(Launch *l);
void report_livelock(Launch *l);
void report_limit(Launch *l);
/* Source file of an instruction; "" if the PTX does not say. */
const char *report_file(const Launch *l, const Insn *in);
const char *report_where(const Launch *l, const Insn *in, char *room, size_t size);

/* ---- race.c ------------------------------------------------------------------------------- */

Race *race_new(Launch *l, Cluster *c);
void race_reset(Launch *l, Cluster *c);
void race_access(Warp *w, const Insn *in, uint32_t lane, Cta *owner, uint32_t offset,
                 uint32_t bytes, AccessKind kind);
/* A new instruction: its lanes are not ordered among themselves. */
void race_begin(Warp *w);
void race_remember(Warp *w, uint32_t **clock);
/* Joins the warp's clock into *clock (allocated on first use), and the other way round. */
void race_barrier_arrive(Warp *w, uint32_t **clock);
void race_barrier_leave(Warp *w, const uint32_t *clock);
void race_barrier_reset(Warp *w, uint32_t *clock);
void race_relaxed_arrive(Warp *w, uint32_t **clock);
void race_warp_sync(Warp *w);
/* Strong accesses order what they publish: fences, acquire and release at `address`. */
void race_fence(Warp *w, Scope scope);
void race_proxy_fence(Warp *w);
void race_sync_read(Warp *w, const Insn *in, uint64_t address);
void race_sync_write(Warp *w, const Insn *in, uint64_t address);
/* One store instruction: lanes that write one place with different values. */
void race_store_conflict(Warp *w, const Insn *in, uint32_t mask, uint8_t *const *host);
/* Channels: what completes together. An operation has its channel's epoch at issue; a clock learns
 * of epochs that are done. Channel 0 is none. */
uint32_t race_channel(Race *r, uint64_t key);
uint32_t race_channel_epoch(const Race *r, uint32_t channel);
void race_channel_next(Race *r, uint32_t channel);
void race_channel_done(uint32_t *clock, uint32_t channel, uint32_t epoch);
void race_learn(Warp *w, uint32_t channel, uint32_t epoch);
uint32_t *race_new_clock(Race *r);
size_t race_clock_bytes(const Race *r);
void race_join(const Race *r, uint32_t *into, const uint32_t *from);
/* `proxy`: by the async proxy, so generic writes before it need a fence. */
void race_async_access(Warp *w, const Insn *in, uint32_t lane, uint32_t channel, bool proxy,
                       Cta *owner, uint32_t offset, uint32_t bytes, AccessKind kind);
/* The same for an operation that has drawn its epoch. */
void race_async_access_at(Warp *w, const Insn *in, uint32_t lane, uint32_t channel, uint32_t epoch,
                          bool proxy, Cta *owner, uint32_t offset, uint32_t bytes, AccessKind kind);
bool race_has_started(const Warp *w, const Cta *peer);
uint32_t race_exit_conflict(Cta *c);
bool race_is_channel(const Race *r, uint32_t member);

/* ---- async.c ------------------------------------------------------------------------------ */

void async_reset(Launch *l, Cluster *c);
/* After a turn of the cluster, in which something ran or not; whether anything has by now. */
bool async_step(Launch *l, Cluster *c, bool ran);
size_t async_groups_bytes(void);
bool async_is_idle(const Cluster *c);
void async_end(Cluster *c);
bool async_give_up(Cluster *c);
uint64_t async_events(const Cluster *c);
/* What a fragment at a try_wait waits for, as text. */
void async_describe_wait(StrBuf *b, Warp *w, const Fragment *f);

/* ---- race_global.c ------------------------------------------------------------------------ */

GlobalRace *race_global_new(const Launch *l, Arena *a);
/* What a cluster ahead of its turn has done, against the record of those before it: whether it
 * touched what they did, one of the two writing; and the record with its accesses. */
bool race_global_conflicts(GlobalRace *so_far, GlobalRace *ahead);
void race_global_append(GlobalRace *so_far, const GlobalRace *ahead);
void race_global_access(Warp *w, const Insn *in, uint32_t lane, uint64_t address, uint32_t bytes,
                        AccessKind kind);

/* ---- exec_regs.c, cluster.c --------------------------------------------------------------- */

/* Registers of a thread as the kernel starts, by its directives; 0 if they do not say. */
uint32_t registers_at_start(const Launch *l);

/* Threads have exited: the cluster barrier may be complete. */
void cluster_check(Warp *w);
uint32_t cluster_missing(const Cluster *c);
bool cluster_use_peer(Warp *w, const Insn *in, uint32_t lane, const Cta *peer, uint64_t address,
                      uint32_t bytes);
void cluster_before_exit(Warp *w, uint32_t lanes);

/* ---- exec_wgmma.c ------------------------------------------------------------------------- */

/* An instruction is about to run: registers of wgmmas in flight must not be touched. */
void matrix_watch(Warp *w, const Insn *in);

/* ---- warp.c: fragments -------------------------------------------------------------------- */

void warp_start(Warp *w, const Function *fn);
/* Runs until nothing in the warp can go on or the budget is used; true if anything ran. */
bool warp_run(Warp *w, uint32_t budget);
bool warp_runnable(const Warp *w);
void warp_exit_lanes(Warp *w, uint32_t mask);
void warp_branch(Warp *w, const Insn *in, uint32_t taken);
/* A new fragment with the lanes `mask` of the current one, same meet; NULL never. */
Fragment *warp_split(Warp *w, uint32_t mask, const Insn *pc);
Frame *warp_frame(Warp *w, const Function *fn);
void warp_drop_frame(Warp *w, Frame *f);
void warp_select(Warp *w, Fragment *f);
/* True when all members that live have come to this instruction; then *all has their lanes, and
 * the fragments that waited have become one with the current. Else the fragment waits. */
bool warp_gather(Warp *w, const Insn *in, uint32_t mask, uint32_t members, bool aligned,
                 uint32_t *all);
void warp_wait(Warp *w, FragmentState why, const Insn *in, uint32_t mask);
bool meet_absorb(Warp *w, const Insn *at);

/* ---- sched.c, launch.c -------------------------------------------------------------------- */

tle_emu_status sched_run(Launch *l);
/* Runs the next cluster alone; false if what it does next may depend on others or be reported. */
bool sched_run_alone(Launch *l);
/* exec_sync.c: threads have exited; barriers that wait for all may be complete. */
void barrier_check_all(Warp *w);

tle_emu_status launch_run(Device *d, struct tle_emu_kernel *k, const tle_emu_launch_config *config,
                          void *const *params);
tle_emu_status module_load(Device *d, const char *ptx, size_t length, const char *name,
                           struct tle_emu_module **out);
void module_free(struct tle_emu_module *m);
uint64_t sched_random(uint64_t *state);

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
tle_emu_status device_fail(Device *d, tle_emu_status status, const char *format, ...);
/* For the arenas of a device: gives up the launch that runs. */
void device_out_of_memory(void *user, size_t wanted);

#endif
