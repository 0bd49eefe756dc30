/* Asynchronous operations of a cluster: mbarriers, and copies that run after the instruction which
 * started them, when the schedule says so. Checks are made as an operation is issued; until it has
 * run, its destination counts as uninitialised. */
#ifndef EMU_ASYNC_H
#define EMU_ASYNC_H

#include "exec.h"
#include "tensor_map.h"

/* ---- operands of bulk copies -------------------------------------------------------------- */

typedef struct BulkAddress {
    int32_t code;
    bool wide;
    int64_t offset;
} BulkAddress;

/* Which side is global memory tells the direction; of tensors that side is the address of a map. */
typedef struct BulkArgs {
    BulkAddress to, from, barrier;
    bool to_global, from_global;
    bool multicast, prefetch, reduce, has_barrier;
    uint8_t rank; /* of the tensor; 0: plain bytes */
    int32_t size, cta_mask, coord[5];
} BulkArgs;

uint64_t bulk_address(const Warp *w, BulkAddress a, uint32_t lane);

/* ---- operations in flight ----------------------------------------------------------------- */

typedef enum GroupKind { GROUP_COPY, GROUP_BULK, GROUP_KINDS } GroupKind;

#define GROUP_MEMORY 64u /* groups back that a wait may leave pending */

typedef struct AsyncGroups {
    uint32_t committed[GROUP_KINDS][LANES];
    uint32_t epoch[GROUP_KINDS][GROUP_MEMORY]; /* of the channel, at the commit of a group */
} AsyncGroups;

typedef struct AsyncOp AsyncOp;
typedef void AsyncRun(AsyncOp *op);

struct AsyncOp {
    AsyncOp *next, *previous;
    AsyncRun *run; /* NULL: only signals, as a refused copy does */
    Warp *w;
    const Insn *in;
    uint32_t lanes;
    GroupKind kind; /* GROUP_KINDS: none */
    uint32_t group;
    uint32_t channel, epoch;
    uint32_t delay;   /* turns to go, of the random schedule */
    Cta *barrier_cta; /* NULL: signals nothing */
    uint32_t barrier_at, tx_bytes, arrivals;
    Cta *to_cta; /* NULL: to global memory */
    uint8_t *to[LANES];
    const uint8_t *from[LANES]; /* NULL: zeros */
    uint32_t bytes[LANES];      /* that are copied; zeros follow up to `size` */
    uint32_t size;
    uint64_t value[4];  /* of st.async and red.async */
    uint32_t *released; /* what their completion releases; stays with the operation */
    bool releases;
    TensorMap map;
    int32_t coord[5];
    Cta *tile_cta; /* where the box lies */
    uint32_t tile_at, tile_bytes;
    bool has_read;   /* the source is in `buffer`; what is left is to write */
    uint8_t *buffer; /* stays with the operation when it is used again */
    uint32_t room;   /* of the buffer */
};

typedef struct Async {
    AsyncOp *first, *newest, *free_ops;
    Map barrier_ids; /* CTA and offset -> index + 1 */
    VEC(struct Mbarrier *) barriers;
    uint64_t events; /* completions and arrivals so far */
} Async;

AsyncOp *async_issue(Warp *w, const Insn *in, uint32_t lanes, AsyncRun *run);
AsyncGroups *async_groups(Warp *w);
/* The channel of what completes in the groups of a warp. */
uint32_t async_group_channel(Warp *w, GroupKind kind);
/* Gives the operation the channel, a fresh epoch, and the group that is open. */
void async_join_group(AsyncOp *op, GroupKind kind);
void async_use_channel(AsyncOp *op, uint32_t channel);
/* Shared memory of an operation: checked; NULL if it may not be used. */
uint8_t *async_shared(Warp *w, const Insn *in, uint32_t lane, uint64_t address, uint32_t bytes,
                      AccessKind kind, const AsyncOp *op, Cta **owner, uint32_t *offset);
/* Where an operation writes in global memory, as it was found when it was issued. */
uint8_t *async_global(const AsyncOp *op, uint64_t address);
/* Destination bytes: in flight, and there. */
void async_begin_write(const AsyncOp *op, const uint8_t *to, uint32_t bytes);
void async_end_write(const AsyncOp *op, const uint8_t *to, uint32_t bytes);
/* ---- bulk copies -------------------------------------------------------------------------- */

/* The operation's barrier, which must be initialised and expects `bytes`; false if it is not. */
bool bulk_barrier(Warp *w, const Insn *in, uint32_t lane, uint64_t address, AsyncOp *op,
                  uint32_t bytes);
/* The same place in another CTA; the CTAs of a multicast. */
uint64_t bulk_in_cta(uint64_t address, uint32_t rank);
uint32_t bulk_destinations(Warp *w, const Insn *in, uint32_t lane);
void bulk_cost(const AsyncOp *op, uint32_t bytes);
void tensor_issue(Warp *w, const Insn *in, uint32_t lane);

/* ---- mbarriers ---------------------------------------------------------------------------- */

typedef struct Mbarrier {
    Cta *cta;
    uint32_t offset;
    bool live;
    uint32_t expected, pending, phase;
    int32_t tx;
    uint64_t word;             /* what its 8 bytes hold while nobody else writes them */
    const Insn *last;          /* that changed the transaction count */
    uint32_t *gathered, *done; /* clocks: of arrivals, of completed phases */
} Mbarrier;

Mbarrier *mbarrier_at(const Cta *cta, uint32_t offset);
/* The channel of copies that complete on the barrier at this place. */
uint32_t mbarrier_channel(Warp *w, const Cta *cta, uint32_t offset);
void mbarrier_complete(const AsyncOp *op);
void mbarrier_expect_more(Mbarrier *m, uint32_t arrivals);
/* Suspended try_waits give up; false if there are none. */
bool mbarrier_give_up(Cluster *c);
void mbarrier_check_end(Cluster *c);

#endif
