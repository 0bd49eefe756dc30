/* Operators: what every operator of lib/api is made of.
 *
 * An operator names its facts (for rules) and its arguments (for kernel parameters) in a TleiOpDef
 * called tlei_op_<name>; the build collects the names of the files in lib/api into operators.def.
 * A call (core/plan.h) is: validate, tlei_choose, tlei_run. Choosing is pure and allocates nothing;
 * the tables it walks were compiled when the handle was made. */
#ifndef CORE_OP_H
#define CORE_OP_H

#include "core/log.h"
#include "core/table.h"
#include "device/device.h"

typedef struct TleiPlan TleiPlan;

typedef struct TleiOpDef {
    const char *name;
    TleiFactTable facts;
    TleiArgTable args;
    uint32_t workspace_arg;
    /* Validates the parameter struct and writes facts, arguments, memory and rows. Without
     * `pointers` memory is looked at for its alignment alone. */
    tle_status (*plan)(const void *params, bool pointers, TleiPlan *out, TleiError *e);
    /* The command that asks for the same choice again. */
    void (*replay)(const TleiPlan *plan, char *text, size_t size);
} TleiOpDef;

typedef enum TleiOpId {
#define X(name) TLEI_OP_##name,
#include "operators.def"
#undef X
    TLEI_OP_COUNT
} TleiOpId;

/* One operator of one handle. */
typedef struct TleiOp {
    const TleiOpDef *def;
    /* The pack that kernels run from, then the one that only explains (PTX beside cubins). */
    TleiPack packs[2];
    uint32_t pack_count;
    const char *arch;
    TleiVariant *variants;
    uint32_t variant_count;
    TleiTable tables[2]; /* the overlay before the built-in one */
    uint32_t table_count;
    const char *forced_name; /* TLE_FORCE_VARIANT, where it names a variant of this operator */
    int32_t forced;          /* its index, or -1 */
    tle_status absent;       /* why there are no variants, with its sentence */
    const char *absent_text;
} TleiOp;

/* Opens packs and tables for the handle's device. Missing kernels are no error here: they make the
 * operator absent. */
tle_status tlei_op_open(tle_handle handle, TleiOp *op, const char *arch, TleiError *e);

/* The variant for a call with these facts. */
tle_status tlei_choose(const TleiOp *op, const TleiFact *facts, uint32_t *variant, TleiError *e);
/* The same in words. */
void tlei_explain(const TleiOp *op, const TleiFact *facts, TleiText *out);

/* Workspace bytes of a variant for so many rows. */
uint64_t tlei_workspace(const TleiVariant *variant, uint64_t rows);

typedef struct TleiCall {
    const int64_t *values; /* by argument of the operator; pointers as integers */
    uint64_t groups;       /* CTAs along x, or clusters where the variant has them */
    tle_stream stream;
    bool dependent; /* may begin before what is in front of it in the stream is done */
    const TleiRange *ranges;
    uint32_t range_count;
} TleiCall;

/* Loads the variant if need be and launches it. */
tle_status tlei_run(tle_handle handle, const TleiOp *op, uint32_t variant, const TleiCall *call,
                    TleiError *e);

#endif
