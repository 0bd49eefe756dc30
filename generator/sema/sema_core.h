/* Shared by the core of sema: scopes, frames, the statement machine, joins.
 *
 * A scope maps the slots of a frame (one per local name) to immutable records, so that copying a
 * scope for a branch is copying pointers and an unchanged variable is an equal pointer.
 *
 * The statement machine runs a chain of continuations (what is still to be executed up to the end
 * of the function, or of one branch of a runtime `if`). Static control flow only edits the chain.
 * A runtime `if` runs each branch as a chain of its own; when one branch returns, the rest of the
 * outer chain runs inside the other one, so that early return becomes nesting. Only where a branch
 * itself returns on some of its paths does a flag guard the rest. */
#ifndef SEMA_SEMA_CORE_H
#define SEMA_SEMA_CORE_H

#include "base/map.h"
#include "base/vec.h"
#include "sema/sema_impl.h"

enum {
    SEMA_MAX_CALLS = 64,         /* jit calls inside each other */
    SEMA_MAX_CALL_NOTES = 8,     /* of them, named with an error */
    SEMA_MAX_DEPTH = 1000,       /* expressions, blocks and calls inside each other */
    SEMA_MAX_STEPS = 2000000,    /* expressions and statements visited in one specialisation */
    SEMA_MAX_UNROLL = 1 << 14,   /* iterations of one unrolled loop */
    SEMA_MAX_ARGUMENTS = 1 << 12 /* of one call, starred ones expanded */
};

/* --- scopes and frames (sema_scope.c) --- */

/* Why a variable that was assigned somewhere has no value here. */
typedef struct Hole {
    DiagCode code;
    Span at;         /* the statement that made it so */
    const char *why; /* follows the quoted name: "is not assigned when ..." */
} Hole;

typedef struct SemaVar {
    SVal value;
    const Hole *hole; /* not NULL: using it is an error */
    bool *read;       /* set when it is used, unless NULL */
} SemaVar;

typedef struct SemaScope {
    const SemaVar **vars; /* by slot; NULL = never assigned */
    uint32_t len, cap;
} SemaScope;

typedef struct SemaFrame {
    struct SemaFrame *caller;
    struct SemaCore *core;
    struct SemaModule *module; /* where its names are looked up */
    AstId function;            /* 0: the module */
    Span call;                 /* where it is called; file 0 for the kernel */
    Map slots;                 /* Str -> slot */
    VEC(Str) names;            /* by slot */
    uint32_t runtime_loops;    /* around the statement being run */
} SemaFrame;

SemaFrame *sema_frame_new(Sema *s, struct SemaModule *module, AstId function, Span call);
SemaScope *sema_scope_new(Sema *s);
SemaScope *sema_scope_copy(Sema *s, const SemaScope *from);
const SemaVar *sema_scope_get(const SemaScope *scope, uint32_t slot); /* NULL: never assigned */
void sema_scope_set(Sema *s, SemaScope *scope, uint32_t slot, const SemaVar *var);
uint32_t sema_slot(Sema *s, Str name); /* makes one when there is none */
const SemaVar *sema_local(Sema *s, Str name);
void sema_bind(Sema *s, Str name, SVal value);
void sema_bind_hole(Sema *s, Str name, DiagCode code, Span at, const char *why);
const Hole *sema_hole(Sema *s, DiagCode code, Span at, const char *why);
/* The value of a local variable; diagnoses holes. */
SVal sema_use_var(Sema *s, Str name, const SemaVar *var, Span at);
SVal sema_lookup(Sema *s, Str name, Span at);
const char *sema_text(const Sema *s, Str name);

/* --- the module (sema_module.c) --- */

typedef enum BindingKind {
    BIND_VALUE,
    BIND_ELEMENT,
    BIND_EXPR,
    BIND_FUNCTION,
    BIND_HOST
} BindingKind;
typedef enum BindingState { BIND_FRESH, BIND_BUSY, BIND_DONE } BindingState;

typedef struct Binding {
    BindingKind kind;
    BindingState state;
    Str name;
    Span at;
    AstId ast;        /* FUNCTION: the def; EXPR, ELEMENT: the value */
    uint32_t element; /* ELEMENT: which of the value's items */
    Str attribute;    /* EXPR of `from m import x`: x; value holds m, ast is 0 */
    const char *host; /* HOST: what it is, with an article */
    SVal value;       /* VALUE, and EXPR/ELEMENT once done */
} Binding;

/* One file: the one that is compiled, or one that it imports. */
typedef struct SemaModule {
    struct SemaCore *core;
    uint32_t file;
    Str dotted;  /* of an import; 0 for the file that is compiled */
    bool broken; /* it does not parse, which was said: what it defines is not known */
    Map by_name; /* Str -> index of the last binding */
    VEC(Binding) bindings;
    SemaFrame *frame;
    SemaScope *scope;
    uint32_t branches; /* while it is walked: statements that may not run, around this one */
} SemaModule;

typedef struct SemaCore {
    VEC(SemaModule *) modules;  /* the first one is compiled */
    VEC(Str) imported;          /* dotted names in plain imports of any of their files */
    const char *specialisation; /* for notes; NULL when there is nothing to say */
    AstId shared;               /* the operand that a comparison chain shares, and its value */
    SVal shared_value;
    uint32_t depth, steps;
    bool stopped; /* a limit was hit: unwind */
} SemaCore;

static inline SemaCore *sema_core(const Sema *s) {
    return s->frame->core;
}
static inline SemaModule *sema_module(const Sema *s) {
    return s->frame->module;
}
SemaModule *sema_module_new(Sema *s, SemaCore *core, uint32_t file);
/* Collects the names that the file defines. */
void sema_module_walk(Sema *s, SemaModule *module, AstId root);
/* The module that defines a function. */
SemaModule *sema_module_of(const Sema *s, AstId function);
/* --- files that the module imports (sema_import.c) --- */
/* A namespace for the dotted name of a file under the import root; false when there is none. */
bool sema_find_import(Sema *s, Str dotted, SVal *out);
/* Remembers the modules of an `import a.b`: a and a.b. */
void sema_note_import(Sema *s, Str dotted);
/* False when the module does not define the name. Evaluates constants on first use. */
bool sema_module_get(Sema *s, Str name, Span at, SVal *out);
bool sema_module_lookup(Sema *s, SemaModule *module, Str name, Span at, SVal *out);
bool sema_is_jit(const Sema *s, AstId function);
/* `tl.constexpr` or a name imported for it, judged by its last part. */
bool sema_is_constexpr(const Sema *s, AstId annotation);

/* Counts one step and one level; false after a diagnostic when a limit is hit. */
bool sema_enter(Sema *s, Span at);
void sema_leave(Sema *s);

/* --- values (sema_join.c) --- */

bool sema_same(SVal a, SVal b); /* the same value, not only an equal one */
bool sema_same_type(SVal a, SVal b);
/* Constants in the wider sense: values that need nothing at run time. */
bool sema_is_static(SVal x);
/* Marks numbers (in tuples too) as weakly or strongly typed. */
SVal sema_with_literal(Sema *s, SVal x, bool literal);
void sema_name_value(Sema *s, SVal x, Str name);

/* --- the statement machine (sema_stmt.c) --- */

typedef struct StaticLoop {
    AstId stmt; /* FOR */
    bool counted;
    int64_t start, step; /* counted */
    const SVal *items;   /* not counted */
    uint32_t trips;
} StaticLoop;

typedef struct Cont {
    AstList list;
    uint32_t at;            /* the next statement of list */
    const StaticLoop *loop; /* when list is done: the loop's iteration `trip` comes next */
    uint32_t trip;
    bool body; /* the bottom of a function's chain: its end is a return of None */
    struct Cont *next;
} Cont;

typedef enum Flow {
    FLOW_FALLS,   /* the chain ran to its end */
    FLOW_RETURNS, /* every path returned `value`; a function's body always does */
    FLOW_MIXED    /* the paths on which the i1 `returned` holds did */
} Flow;

typedef struct Outcome {
    Flow flow;
    IrValue returned;
    SVal value;
    Span at; /* a return statement */
} Outcome;

Outcome sema_run(Sema *s, Cont *k);
Outcome sema_run_list(Sema *s, AstList list);
/* Runs a function's body in the current frame and gives what it returns. */
SVal sema_run_body(Sema *s, AstId function);
bool sema_cont_done(const Cont *k);
bool sema_cont_is_body(const Cont *k); /* running it to the end ends the function */
void sema_assign(Sema *s, AstId target, SVal value);

/* --- runtime if (sema_flow.c) --- */

/* Runs a runtime `if`; may consume the rest of the chain (then *k is NULL). */
Outcome sema_runtime_if(Sema *s, AstId stmt, IrValue cond, Cont **k);
SVal sema_ternary(Sema *s, AstId expr);

/* --- joins (sema_join.c) --- */

typedef struct Side {
    IrBlock block;
    SemaScope *scope;
    Outcome out;
} Side;

typedef struct Join {
    Sema *s;
    IrOp op; /* the IF */
    Span at;
    const char *live_text[2]; /* "when the condition of this `if` holds", ... */
    IrBlock block[2];
    bool live[2];
    bool anonymous; /* names are for messages only */
    VEC(IrValue) yields[2];
} Join;

/* The value after the join; a hole when there is none. */
SVal sema_join_value(Join *j, SVal a, SVal b, Str name, const Hole **hole);
/* Ends both regions and gives what falls out; s->scope is the joined scope afterwards. */
Outcome sema_join_sides(Sema *s, IrOp op, const Side sides[2], Span at);
void sema_join_finish(Join *j);

/* --- loops (sema_loop.c) --- */

bool sema_static_loop(Sema *s, AstId stmt, SVal iterable, StaticLoop *out);
void sema_runtime_for(Sema *s, AstId stmt, SVal range);
void sema_while(Sema *s, AstId stmt);

/* --- names a block assigns (sema_assigned.c) --- */

typedef struct Assigned {
    Str name;
    bool varies; /* by more than constexpr-annotated assignments and loop targets */
} Assigned;

typedef struct AssignedNames {
    Map index; /* Str -> position + 1 */
    VEC(Assigned) names;
} AssignedNames;

/* In order of appearance. Branches whose condition is false in every iteration are left out. */
void sema_assigned(Sema *s, AstList body, AssignedNames *out);
void sema_assigned_target(Sema *s, AstId target, AssignedNames *out);
/* After an error: gives every name that the block assigns an erroneous value. */
void sema_poison_list(Sema *s, AstList list);

/* --- expressions and calls (sema_expr.c, sema_call.c) --- */

/* a op b on evaluated operands, with the typing of strong numbers. */
SVal sema_apply_binary(Sema *s, AstOp op, SVal a, SVal b, Span at);

SVal sema_eval_call(Sema *s, AstId expr);
/* The text of an f-string. */
SVal sema_eval_fstring(Sema *s, AstId expr);

#endif
