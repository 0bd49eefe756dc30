/* The control-flow graph of a function: immediate post-dominators say where branches meet; a join
 * instruction goes in front of each such block, and targets become pointers. */
#include "decode.h"
#include <string.h>

#define NO_BLOCK UINT32_MAX

typedef struct Block {
    uint32_t first, last; /* instructions */
    uint32_t ipdom;
    uint32_t order; /* position in reverse post-order of the reversed graph; NO_BLOCK: unreached */
    bool joins;
    VEC(uint32_t) next, previous;
} Block;

typedef struct Graph {
    Decoder *d;
    Arena *arena;
    Block *blocks; /* the last is the exit */
    uint32_t count, exit;
    uint32_t *block_of; /* of an instruction */
    uint32_t **targets; /* of branch tables */
} Graph;

/* ---- labels ------------------------------------------------------------------------------- */

static uint32_t label_insn(Decoder *d, const Fixup *f) {
    uint32_t scope = f->scope;
    for (;;) {
        for (uint32_t i = 0; i < d->source->labels.len; i++) {
            const PtxLabel *l = &d->source->labels.data[i];
            if (l->name == f->label && l->scope == scope && !l->is_table)
                return d->statement_insn[l->statement];
        }
        if (scope == 0)
            ptx_fail(d->context, TLE_EMU_BAD_PTX, f->line, "unknown label '%s'",
                     ptx_name(d->context, f->label));
        scope = d->source->scope_parent.data[scope];
    }
}

static void resolve_labels(Graph *g) {
    Decoder *d = g->d;
    g->targets = arena_array(g->arena, uint32_t *, d->code.len);
    for (uint32_t i = 0; i < d->code.len; i++) {
        Insn *in = &d->code.data[i];
        if (in->ends == INSN_TABLE)
            g->targets[i] = arena_array(g->arena, uint32_t, in->table_count + 1);
        if (in->ends == INSN_BRANCH && in->imm == -1)
            in->imm = d->code.len - 1;
    }
    for (uint32_t i = 0; i < d->fixups.len; i++) {
        const Fixup *f = &d->fixups.data[i];
        uint32_t at = label_insn(d, f);
        if (f->table)
            g->targets[f->insn][f->table - 1] = at;
        else
            d->code.data[f->insn].imm = at;
    }
}

/* ---- blocks ------------------------------------------------------------------------------- */

static void add_edge(Graph *g, uint32_t from, uint32_t to) {
    vec_push(g->arena, &g->blocks[from].next, to);
    vec_push(g->arena, &g->blocks[to].previous, from);
}

static void find_blocks(Graph *g) {
    Decoder *d = g->d;
    uint32_t n = d->code.len;
    bool *leads = arena_array(g->arena, bool, n + 1);
    leads[0] = true;
    for (uint32_t i = 0; i < n; i++) {
        const Insn *in = &d->code.data[i];
        if (in->ends == INSN_BRANCH)
            leads[in->imm] = true;
        for (uint32_t k = 0; in->ends == INSN_TABLE && k < in->table_count; k++)
            leads[g->targets[i][k]] = true;
        if (in->ends != INSN_NEXT)
            leads[i + 1] = true;
    }
    g->block_of = arena_array(g->arena, uint32_t, n);
    g->blocks = arena_array(g->arena, Block, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (leads[i])
            g->blocks[g->count++].first = i;
        g->block_of[i] = g->count - 1;
        g->blocks[g->count - 1].last = i;
    }
    g->exit = g->count++;
}

static void find_edges(Graph *g) {
    Decoder *d = g->d;
    uint32_t end = g->block_of[d->code.len - 1]; /* holds the return */
    for (uint32_t b = 0; b < g->exit; b++) {
        uint32_t i = g->blocks[b].last;
        const Insn *in = &d->code.data[i];
        bool falls = in->ends == INSN_NEXT || (in->ends == INSN_BRANCH && in->guarded);
        if (in->ends == INSN_BRANCH)
            add_edge(g, b, g->block_of[in->imm]);
        for (uint32_t k = 0; in->ends == INSN_TABLE && k < in->table_count; k++)
            add_edge(g, b, g->block_of[g->targets[i][k]]);
        if (falls)
            add_edge(g, b, b + 1);
        /* In a function a thread that exits is no obstacle to the others' meeting at the end. */
        if (in->ends == INSN_EXIT && !d->source->is_entry && b != end)
            add_edge(g, b, end);
        else if (in->ends == INSN_EXIT || in->ends == INSN_RETURN)
            add_edge(g, b, g->exit);
    }
}

/* ---- post-dominators ---------------------------------------------------------------------- */

static uint32_t *reverse_order(Graph *g, uint32_t *count) {
    uint32_t *order = arena_array(g->arena, uint32_t, g->count);
    uint32_t *stack = arena_array(g->arena, uint32_t, g->count);
    uint32_t *edge = arena_array(g->arena, uint32_t, g->count);
    bool *seen = arena_array(g->arena, bool, g->count);
    uint32_t depth = 0, n = 0;
    stack[depth++] = g->exit;
    seen[g->exit] = true;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (edge[b] < g->blocks[b].previous.len) {
            uint32_t p = g->blocks[b].previous.data[edge[b]++];
            if (!seen[p]) {
                seen[p] = true;
                stack[depth++] = p;
            }
        } else {
            order[n++] = b;
            depth--;
        }
    }
    for (uint32_t b = 0; b < g->count; b++)
        g->blocks[b].order = NO_BLOCK;
    for (uint32_t i = 0; i < n; i++) /* post-order numbers: the exit has the highest */
        g->blocks[order[i]].order = i;
    *count = n;
    return order;
}

static uint32_t intersect(const Graph *g, uint32_t a, uint32_t b) {
    while (a != b) {
        while (g->blocks[a].order < g->blocks[b].order)
            a = g->blocks[a].ipdom;
        while (g->blocks[b].order < g->blocks[a].order)
            b = g->blocks[b].ipdom;
    }
    return a;
}

/* Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm, on the reversed graph. */
static void find_post_dominators(Graph *g) {
    uint32_t n;
    uint32_t *order = reverse_order(g, &n);
    bool changed = true;
    for (uint32_t b = 0; b < g->count; b++)
        g->blocks[b].ipdom = NO_BLOCK;
    g->blocks[g->exit].ipdom = g->exit;
    while (changed) {
        changed = false;
        for (uint32_t i = n - 1; i-- > 0;) {
            Block *b = &g->blocks[order[i]];
            uint32_t best = NO_BLOCK;
            for (uint32_t k = 0; k < b->next.len; k++) {
                uint32_t s = b->next.data[k];
                if (g->blocks[s].ipdom == NO_BLOCK)
                    continue;
                best = best == NO_BLOCK ? s : intersect(g, s, best);
            }
            if (best != b->ipdom) {
                b->ipdom = best;
                changed = true;
            }
        }
    }
}

/* ---- output ------------------------------------------------------------------------------- */

static bool may_diverge(const Insn *in) {
    return (in->ends == INSN_BRANCH && in->guarded) || in->ends == INSN_TABLE;
}

static Insn join_before(const Insn *in) {
    Insn j = {.fn = x_join, .cls = CLASS_CONTROL, .line = in->line, .loc = in->loc};
    j.spelling = in->spelling;
    return j;
}

static void write_code(Graph *g) {
    Decoder *d = g->d;
    Function *f = d->fn;
    uint32_t n = d->code.len, at = 0;
    uint32_t *place = arena_array(g->arena, uint32_t, g->count); /* of a block's first */
    for (uint32_t b = 0; b < g->exit; b++) {
        uint32_t p = g->blocks[b].ipdom;
        if (may_diverge(&d->code.data[g->blocks[b].last]) && p != NO_BLOCK && p != g->exit)
            g->blocks[p].joins = true;
    }
    f->code = arena_array(g->arena, Insn, n + g->count);
    for (uint32_t b = 0; b < g->exit; b++) {
        place[b] = at;
        if (g->blocks[b].joins)
            f->code[at++] = join_before(&d->code.data[g->blocks[b].first]);
        for (uint32_t i = g->blocks[b].first; i <= g->blocks[b].last; i++)
            f->code[at++] = d->code.data[i];
        Insn *last = &f->code[at - 1];
        uint32_t p = g->blocks[b].ipdom;
        last->join = may_diverge(last) && p != NO_BLOCK && p != g->exit
                         ? (const Insn *)(uintptr_t)(p + 1)
                         : NULL;
    }
    f->count = at;
    for (uint32_t i = 0; i < at; i++) {
        Insn *in = &f->code[i];
        in->index = i;
        if (in->join)
            in->join = &f->code[place[(uintptr_t)in->join - 1]];
        if (in->ends == INSN_BRANCH)
            in->target = &f->code[place[g->block_of[in->imm]]];
    }
    for (uint32_t i = 0; i < n; i++) { /* tables, by the old index */
        if (d->code.data[i].ends != INSN_TABLE)
            continue;
        uint32_t b = g->block_of[i];
        Insn *in = &f->code[place[b] + g->blocks[b].joins + i - g->blocks[b].first];
        const Insn **table = arena_array(g->arena, const Insn *, in->table_count + 1);
        for (uint32_t k = 0; k < in->table_count; k++)
            table[k] = &f->code[place[g->block_of[g->targets[i][k]]]];
        in->table = table;
    }
}

void cfg_finish(Decoder *d) {
    Graph *g = arena_new_of(d->context->arena, Graph);
    g->d = d;
    g->arena = d->context->arena;
    resolve_labels(g);
    find_blocks(g);
    find_edges(g);
    find_post_dominators(g);
    write_code(g);
}
