/* PTX text as read: a module of variables and functions, a function of statements, a statement of
 * an opcode with qualifiers and operands. Nothing here knows how instructions execute.
 *
 * Names are interned. Everything lives in the arena of the module being loaded. Any error leaves
 * through ptx_fail, which does not return. */
#ifndef EMU_PTX_H
#define EMU_PTX_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "tle/tle_emu.h"
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum PtxType {
    TY_NONE,
#define X(id, text, bytes, cls) TY_##id,
#include "types.def"
#undef X
    TY_COUNT
} PtxType;

typedef enum PtxMod {
    MOD_NONE,
#define X(id, text) MOD_##id,
#include "mods.def"
#undef X
    MOD_COUNT
} PtxMod;

typedef enum PtxSpace {
    SPACE_GENERIC,
    SPACE_REG,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_PARAM,
    SPACE_CONST
} PtxSpace;

/* Where loading leaves to on an error. */
typedef struct PtxContext {
    jmp_buf *escape;
    Arena *arena;
    Interner *names;
    const char *module_name;
    char *error; /* room for error_size bytes */
    size_t error_size;
    tle_emu_status status;
} PtxContext;

#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 4, 5)))
#endif
void ptx_fail(PtxContext *c, tle_emu_status status, uint32_t line, const char *format, ...);

/* ---- tokens ------------------------------------------------------------------------------- */

typedef enum PtxTokenKind {
    TOK_END,
    TOK_IDENT,     /* names, registers, special registers; labels too */
    TOK_DIRECTIVE, /* .word, with the '::' parts that follow */
    TOK_INT,
    TOK_FLOAT32, /* 0f…, bits in value */
    TOK_FLOAT64, /* 0d… or a decimal fraction */
    TOK_STRING,
    TOK_PUNCT /* one character, in `punct`; "<<" and ">>" as 'L' and 'R' */
} PtxTokenKind;

typedef struct PtxToken {
    PtxTokenKind kind;
    char punct;
    uint32_t line;
    const char *text; /* without the dot of a directive and the quotes of a string */
    uint32_t len;
    uint64_t value;
} PtxToken;

typedef struct PtxLexer {
    PtxContext *context;
    const char *at, *end;
    uint32_t line;
} PtxLexer;

void ptx_lex_init(PtxLexer *lex, PtxContext *c, const char *text, size_t length);
PtxToken ptx_lex_next(PtxLexer *lex);

/* ---- operands and statements -------------------------------------------------------------- */

typedef enum OperandKind {
    OPND_NONE,
    OPND_REG,     /* reg */
    OPND_INT,     /* value */
    OPND_FLOAT32, /* value: bits */
    OPND_FLOAT64, /* value: bits */
    OPND_SYMBOL,  /* var (+ value) */
    OPND_SPECIAL, /* special register: name, element 0..3 for .x .. .w */
    OPND_NAME,    /* label or function: name, scope */
    OPND_MEM,     /* [base + value]; further comma-separated parts in elems */
    OPND_VECTOR,  /* {a, b, …} and (a, b, …) in elems */
    OPND_SINK     /* _ */
} OperandKind;

typedef struct Operand Operand;
struct Operand {
    OperandKind kind;
    bool negated;    /* !p */
    uint8_t element; /* of a special register */
    char select[6];  /* parts of a register: b0, h1, b3210, h10; "" for all of it */
    uint32_t reg;    /* index into PtxFunction.regs */
    uint32_t var;    /* id of a PtxVar */
    uint32_t scope;  /* of a name */
    Str name;
    int64_t value;
    Operand *base; /* of memory: register, symbol, integer */
    Operand *elems;
    uint32_t elem_count;
    Operand *pair; /* q of p|q */
};

#define PTX_MAX_TYPES    4
#define PTX_MAX_OPERANDS 12
#define PTX_MOD_WORDS    ((MOD_COUNT + 63) / 64)

typedef struct PtxLoc {
    uint32_t file, line;
} PtxLoc;

typedef struct PtxStatement {
    Str opcode;   /* first word: "ld", "setp" */
    Str spelling; /* all of it: "ld.global.u32" */
    uint64_t mods[PTX_MOD_WORDS];
    PtxMod order[12]; /* qualifiers in the order written */
    uint8_t order_count;
    uint8_t type_count;
    uint8_t types[PTX_MAX_TYPES];
    uint16_t shape[3]; /* of .m16n8k16 and the like, zeros where a part is missing */
    bool guarded, guard_negated;
    uint32_t guard; /* register */
    uint32_t line;
    PtxLoc loc;
    uint32_t scope;
    Operand *operands;
    uint32_t operand_count;
} PtxStatement;

typedef struct PtxReg {
    PtxType type;
} PtxReg;

typedef struct PtxInit {
    uint64_t offset;
    uint32_t bytes;
    bool symbol; /* value is added to the address of `name` */
    bool generic;
    Str name;
    uint64_t value;
} PtxInit;

typedef struct PtxVar {
    Str name;
    PtxSpace space;
    PtxType type;
    bool is_extern;
    uint32_t align;
    uint64_t bytes;
    uint32_t line;
    VEC(PtxInit) inits;
    /* filled in by layout: */
    uint64_t address; /* global, const: host address; shared, local, param: offset */
    void *storage;
} PtxVar;

typedef struct PtxLabel {
    Str name;
    uint32_t scope, statement;
    bool is_table; /* .branchtargets */
    VEC(Str) targets;
} PtxLabel;

typedef struct PtxFunction {
    Str name;
    bool is_entry, has_body;
    uint32_t line;
    VEC(PtxReg) regs;
    VEC(uint32_t) params;  /* ids of variables of space param */
    VEC(uint32_t) results; /* likewise */
    VEC(uint32_t) locals;  /* .local and call-site .param variables */
    VEC(uint32_t) shared;  /* .shared variables used, its callees' too after layout */
    VEC(PtxStatement) statements;
    VEC(PtxLabel) labels;
    VEC(uint32_t) scope_parent; /* scope 0 is the function's own */
    uint32_t max_threads, required_block[3], required_cluster[3];
    uint32_t max_registers, min_ctas; /* 0: not said */
    bool has_max_threads;
} PtxFunction;

typedef struct PtxModule {
    PtxContext *context;
    uint32_t version; /* 8.6 is 86 */
    uint32_t arch;    /* 90 for sm_90a */
    VEC(PtxVar) vars;
    VEC(PtxFunction *) functions;
    Map globals;      /* Str -> variable id + 1 */
    Map function_ids; /* Str -> index + 1 */
    VEC(Str) files;   /* of .file, by number */
} PtxModule;

PtxModule *ptx_parse(PtxContext *c, const char *text, size_t length);

/* ---- shared by the parser's files --------------------------------------------------------- */

typedef struct PtxRegGroup {
    uint32_t first, count;
} PtxRegGroup;

typedef struct PtxParser {
    PtxContext *context;
    PtxLexer lexer;
    PtxToken token;
    PtxModule *module;
    PtxFunction *function;
    uint32_t scope;
    Map symbols; /* (scope, Str) -> register or variable, of the function */
    Map groups;  /* (scope, Str) -> index of a %r<100> declaration */
    VEC(PtxRegGroup) reg_groups;
    PtxLoc loc;
} PtxParser;

void ptx_next(PtxParser *p);
bool ptx_at(const PtxParser *p, char punct);
bool ptx_accept(PtxParser *p, char punct);
void ptx_expect(PtxParser *p, char punct);
bool ptx_at_directive(const PtxParser *p, const char *word);
bool ptx_accept_directive(PtxParser *p, const char *word);
Str ptx_ident(PtxParser *p);
uint64_t ptx_const_expr(PtxParser *p);
PtxType ptx_type_named(const char *text, size_t len);
const char *ptx_name(const PtxContext *c, Str s);

/* ptx_parse_var.c: variables, initialisers, registers */
void ptx_parse_reg(PtxParser *p);
/* A declaration after its space directive; ends before ';', ',' or ')'. */
uint32_t ptx_parse_var(PtxParser *p, PtxSpace space, bool is_extern, bool is_parameter);
/* ptx_parse_insn.c: labels, statements, operands */
void ptx_parse_body(PtxParser *p);
/* What `name` stands for in the current scope; false if nothing declared. */
bool ptx_lookup(PtxParser *p, Str name, Operand *out);

uint32_t ptx_type_bytes(PtxType t);
char ptx_type_class(PtxType t);
const char *ptx_type_text(PtxType t);
const char *ptx_mod_text(PtxMod m);

#endif
