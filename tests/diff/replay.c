/* Replays the corpus on the emulator: every program must give the GPU's answer.
 *
 *   diff-replay CORPUS [PART OF]   programs i with i % OF == PART
 *
 * All checks are on, so a program that is reported fails too. Every 16th program runs in the other
 * modes of the emulator as well.
 *
 * A program that gives another answer as it is must give it with known departures of the GPU's
 * compiler in place of the lines that they concern (compiled.c), or with what explained.def says of
 * it. Only programs that the GPU has not run (excluded.def) are left out. */
#include "corpus.h"
#include "machine.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { ROOM = 4 << 20, OTHER_MODES = 16, SHOWN = 20, LINES_MOST = 16, DEPARTURES_MOST = 3 };

static const tle_emu_options modes[] = {
    {.struct_size = sizeof *modes},
    {.struct_size = sizeof *modes, .checks = TLE_EMU_CHECK_NONE},
    {.struct_size = sizeof *modes, .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 11, .cost = 1},
    {.struct_size = sizeof *modes, .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL, .seed = 5},
    {.struct_size = sizeof *modes, .host_threads = 3},
};
enum { MODES = sizeof modes / sizeof *modes };

typedef struct Corpus {
    uint8_t *data;
    size_t size;
    DiffCorpusHead head;
    const uint8_t *raw; /* of the next approximate program */
} Corpus;

static bool read_corpus(const char *path, Corpus *c) {
    FILE *f = fopen(path, "rb");
    uint8_t *packed = malloc(ROOM);
    size_t n = f && packed ? fread(packed, 1, ROOM, f) : 0;
    unsigned long long size = n ? ZSTD_getFrameContentSize(packed, n) : 0;
    if (f)
        fclose(f);
    c->data = size && size < (64u << 20) ? malloc((size_t)size) : NULL;
    c->size = c->data ? ZSTD_decompress(c->data, (size_t)size, packed, n) : 0;
    free(packed);
    if (!c->data || c->size != size || c->size < sizeof c->head)
        return false;
    memcpy(&c->head, c->data, sizeof c->head);
    uint64_t answers = ((uint64_t)c->head.exact + c->head.approx) * DIFF_CORPUS_ANSWER;
    c->raw = c->data + sizeof c->head + answers;
    return c->head.magic == DIFF_CORPUS_MAGIC && answers <= c->size - sizeof c->head;
}

static DiffAnswer answer(const Corpus *c, uint32_t i) {
    DiffAnswer a;
    const uint8_t *at = c->data + sizeof c->head + (size_t)i * DIFF_CORPUS_ANSWER;
    memcpy(&a.text, at, 4);
    memcpy(&a.hash, at + 4, 8);
    return a;
}

typedef struct Run {
    tle_emu_device *devices[MODES];
    uint8_t *in, *out;
    uint32_t bad, done, departing, explained, excluded;
} Run;

static void complain(Run *r, const DiffProgram *p, size_t mode, const char *what,
                     const char *detail) {
    if (r->bad++ < SHOWN)
        printf("program %" PRIu64 ", mode %zu: %s%s\n", p->seed, mode, what, detail);
}

static bool is_excluded(uint64_t seed) {
    static const uint32_t excluded[] = {
#define X(seed) seed,
#include "excluded.def"
#undef X
    };
    for (size_t i = 0; i < sizeof excluded / sizeof *excluded; i++)
        if (excluded[i] == seed)
            return true;
    return false;
}

static bool approx_right(const Corpus *c, const Run *r, const DiffProgram *p) {
    for (uint32_t i = 0; i < DIFF_APPROX_COUNT; i++) {
        uint64_t ours = 0, theirs = 0;
        memcpy(&ours, r->out + (size_t)i * p->record_bytes, p->record_bytes);
        memcpy(&theirs, c->raw + (size_t)i * p->record_bytes, p->record_bytes);
        if (!diff_approx_close(p, r->in, i, ours, theirs))
            return false;
    }
    return true;
}

static void execute(const Corpus *c, Run *r, uint32_t i, const DiffProgram *p, size_t mode) {
    DiffAnswer want = answer(c, i);
    tle_emu_device *d = r->devices[mode];
    tle_emu_status s = diff_emulate(d, p, r->in, r->out);
    if (s != TLE_EMU_OK)
        complain(r, p, mode, "", tle_emu_last_error(d));
    else if (i >= c->head.exact ? !approx_right(c, r, p)
                                : diff_hash(r->out, p->out_bytes) != want.hash)
        complain(r, p, mode, "another result than the GPU's", "");
}

static bool agrees(const Corpus *c, Run *r, uint32_t i, const DiffProgram *p) {
    return diff_emulate(r->devices[0], p, r->in, r->out) == TLE_EMU_OK &&
           diff_hash(r->out, p->out_bytes) == answer(c, i).hash;
}

static uint32_t ones(uint32_t bits) {
    return bits ? 1 + ones(bits & (bits - 1)) : 0;
}

/* Looks for departures, a few at a time, with which the program agrees, and leaves them in it. */
static bool depart(const Corpus *c, Run *r, uint32_t i, DiffProgram *p) {
    DiffProgram as;
    uint32_t lines = diff_compiled(p, 0, &as);
    diff_free(&as);
    for (uint32_t which = 1; lines <= LINES_MOST && which < 1u << lines; which++) {
        if (ones(which) > DEPARTURES_MOST)
            continue;
        diff_compiled(p, which, &as);
        if (as.length && agrees(c, r, i, &as)) {
            diff_free(p);
            *p = as;
            r->departing++;
            return true;
        }
        diff_free(&as);
    }
    return false;
}

/* Puts what explained.def says into the program; false if it says nothing of it. */
static bool explain(const Corpus *c, Run *r, uint32_t i, DiffProgram *p) {
    DiffProgram as;
    if (!diff_explained(p, &as)) {
        diff_free(&as);
        return false;
    }
    if (agrees(c, r, i, p))
        complain(r, p, 0, "explained, but gives the GPU's answer as it is", "");
    if (!as.length)
        complain(r, p, 0, "a line of explained.def does not stand in it once", "");
    diff_free(p);
    *p = as;
    r->explained++;
    return true;
}

static void exact(const Corpus *c, Run *r, uint32_t i, DiffProgram *p) {
    if (is_excluded(p->seed)) {
        r->excluded++;
        return;
    }
    bool explained = explain(c, r, i, p);
    bool right = agrees(c, r, i, p) || (!explained && depart(c, r, i, p));
    for (size_t mode = right; mode < (i % OTHER_MODES ? 1 : MODES); mode++)
        execute(c, r, i, p, mode);
}

static bool program(Corpus *c, Run *r, uint32_t i, bool mine) {
    DiffProgram p;
    bool is_exact = i < c->head.exact;
    if (!diff_generate(is_exact ? i : DIFF_APPROX + (i - c->head.exact), &p))
        return false;
    bool same = (uint32_t)diff_hash(p.text, p.length) == answer(c, i).text;
    bool inside = is_exact || c->raw + p.out_bytes <= c->data + c->size;
    if (!same && !is_excluded(p.seed))
        complain(r, &p, 0, "the generator has changed; the corpus has to be made anew", "");
    else if (inside && mine && is_exact)
        exact(c, r, i, &p);
    for (size_t mode = 0; !is_exact && same && inside && mine && mode < MODES; mode++)
        execute(c, r, i, &p, mode);
    r->done += mine;
    c->raw += is_exact ? 0 : p.out_bytes;
    diff_free(&p);
    return inside;
}

static void print_outcome(const Run *r, bool fine) {
    printf("%u programs, %u of them with departures of the GPU's compiler, %u with explained ones, "
           "%u without an answer, %u mistakes%s\n",
           r->done, r->departing, r->explained, r->excluded, r->bad,
           fine ? "" : ", corpus cut short");
}

int main(int argc, char **argv) {
    Corpus c = {0};
    Run r = {.in = malloc(DIFF_INPUT_BYTES), .out = malloc(ROOM)};
    uint32_t part = argc == 4 ? (uint32_t)atoi(argv[2]) : 0;
    uint32_t of = argc == 4 && atoi(argv[3]) > 0 ? (uint32_t)atoi(argv[3]) : 1;
    bool fine = argc >= 2 && r.in && r.out && read_corpus(argv[1], &c);
    for (size_t m = 0; fine && m < MODES; m++)
        fine = tle_emu_create(&modes[m], &r.devices[m]) == TLE_EMU_OK;
    if (!fine || c.head.version != DIFF_VERSION) {
        fprintf(stderr, "diff-replay: no corpus of version %d\n", DIFF_VERSION);
        return 2;
    }
    for (uint32_t i = 0; fine && i < c.head.exact + c.head.approx; i++)
        fine = program(&c, &r, i, i % of == part);
    print_outcome(&r, fine);
    for (size_t m = 0; m < MODES; m++)
        tle_emu_destroy(r.devices[m]);
    free(r.in);
    free(r.out);
    free(c.data);
    return r.bad || !fine || !r.done;
}
