/* Makes the corpus: every program on the GPU and on the emulator.
 *
 *   diff-run EXACT APPROX JOBS FOLDER   compares, writes FOLDER/answers.bin and FOLDER/differ.txt
 *   diff-run --self FIRST END JOBS      the emulator against itself in every mode
 *   diff-run --show SEED [THREAD]       prints a program, and what each register of a thread ends
 * as
 *
 * answers.bin holds the GPU's answers in the form of corpus.h. differ.txt has a line for each
 * register on which the two disagree: seed, register, threads concerned, the first of them, its
 * value on the GPU and on the emulator. */
#include "corpus.h"
#include "machine.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 4 << 20, TEXT_ROOM = 8 << 20 };

typedef struct Shared {
    uint32_t exact, approx, jobs, failures;
    uint64_t text_length;
    char *text;
    uint32_t *at; /* the program that each worker is at */
    DiffAnswer *answers;
    uint8_t *raw; /* DIFF_APPROX_COUNT * 8 bytes for each approximate program */
} Shared;

static void *share(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        exit(2);
    return p;
}

static void note(Shared *s, const char *line) {
    size_t n = strlen(line);
    uint64_t at = __atomic_fetch_add(&s->text_length, n, __ATOMIC_RELAXED);
    if (at + n <= TEXT_ROOM)
        memcpy(s->text + at, line, n);
}

/* ---- differences -------------------------------------------------------------------------- */

typedef struct Slot {
    uint32_t at, bytes;
    char name[16];
} Slot;

/* The stores that end the program, in the order of the record. */
static uint32_t find_slots(const DiffProgram *p, Slot *slots, uint32_t most) {
    const char *at = strstr(p->text, "st.global.b64 [%own+64], %a1;");
    uint32_t n = 0, bits, predicates = 0;
    for (uint32_t k = 0; k < 8; k++) {
        slots[n] = (Slot){.at = 8 * k, .bytes = 8};
        snprintf(slots[n++].name, sizeof slots->name, "own%u", k);
    }
    for (; at && n < most; at = strstr(at + 1, "st.global.")) {
        Slot *s = &slots[n];
        if (sscanf(at, "st.global.%*1[bu]%u [%%own+%u], %%%15[^;]", &bits, &s->at, s->name) == 3) {
            s->bytes = bits / 8;
            if (!strcmp(s->name, "t1"))
                snprintf(s->name, sizeof s->name, "p%u", predicates++);
            n++;
        }
    }
    return n;
}

static void differ(Shared *s, const DiffProgram *p, const uint8_t *emu, const uint8_t *gpu) {
    static Slot slots[1024];
    uint32_t n = find_slots(p, slots, 1024), threads = p->grid * p->block;
    char line[160];
    for (uint32_t i = 0; i < DIFF_ACCUMULATORS; i++)
        if (memcmp(emu + 8 * i, gpu + 8 * i, 8) != 0) {
            uint64_t a, b;
            memcpy(&a, gpu + 8 * i, 8);
            memcpy(&b, emu + 8 * i, 8);
            snprintf(line, sizeof line, "%" PRIu64 " accumulator%u 1 0 %" PRIx64 " %" PRIx64 "\n",
                     p->seed, i, a, b);
            note(s, line);
        }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t count = 0, first = 0;
        uint64_t ours = 0, theirs = 0;
        for (uint32_t t = 0; t < threads; t++) {
            size_t at = 8 * DIFF_ACCUMULATORS + (size_t)t * p->record_bytes + slots[k].at;
            if (memcmp(emu + at, gpu + at, slots[k].bytes) == 0)
                continue;
            if (!count++) {
                first = t;
                memcpy(&ours, emu + at, slots[k].bytes);
                memcpy(&theirs, gpu + at, slots[k].bytes);
            }
        }
        if (!count)
            continue;
        snprintf(line, sizeof line, "%" PRIu64 " %s %u %u %" PRIx64 " %" PRIx64 "\n", p->seed,
                 slots[k].name, count, first, theirs, ours);
        note(s, line);
    }
}

static void differ_approx(Shared *s, const DiffProgram *p, const uint8_t *in, const uint8_t *emu,
                          const uint8_t *gpu) {
    char line[160];
    for (uint32_t i = 0, shown = 0; i < DIFF_APPROX_COUNT && shown < 8; i++) {
        uint64_t ours = 0, theirs = 0;
        memcpy(&ours, emu + (size_t)i * p->record_bytes, p->record_bytes);
        memcpy(&theirs, gpu + (size_t)i * p->record_bytes, p->record_bytes);
        if (diff_approx_close(p, in, i, ours, theirs))
            continue;
        shown++;
        snprintf(line, sizeof line, "%" PRIu64 " %s element %u %" PRIx64 " %" PRIx64 "\n", p->seed,
                 diff_approx_text(p->approx), i, theirs, ours);
        note(s, line);
    }
}

/* ---- workers ------------------------------------------------------------------------------ */

typedef struct Buffers {
    uint8_t *in, *emu, *gpu;
} Buffers;

static void one(Shared *s, uint32_t i, DiffGpu *g, tle_emu_device *d, const Buffers *b) {
    DiffProgram p;
    char line[400];
    uint64_t seed = i < s->exact ? i : DIFF_APPROX + (i - s->exact);
    if (!diff_generate(seed, &p))
        exit(2);
    tle_emu_status status = diff_emulate(d, &p, b->in, b->emu);
    if (status != TLE_EMU_OK) {
        snprintf(line, sizeof line, "%" PRIu64 " emulator: %s: %.200s\n", seed,
                 tle_emu_status_name(status), tle_emu_last_error(d));
        note(s, line);
    }
    int error = diff_gpu_run(g, &p, b->in, b->gpu);
    if (error) {
        snprintf(line, sizeof line, "%" PRIu64 " GPU: error %d\n", seed, error);
        note(s, line);
        __atomic_fetch_add(&s->failures, 1, __ATOMIC_RELAXED);
    }
    s->answers[i] = (DiffAnswer){(uint32_t)diff_hash(p.text, p.length),
                                 error ? 0 : diff_hash(b->gpu, p.out_bytes)};
    if (i >= s->exact) {
        memcpy(s->raw + (size_t)(i - s->exact) * DIFF_APPROX_COUNT * 8, b->gpu, p.out_bytes);
        if (!error && status == TLE_EMU_OK)
            differ_approx(s, &p, b->in, b->emu, b->gpu);
    } else if (!error && status == TLE_EMU_OK && memcmp(b->emu, b->gpu, p.out_bytes) != 0) {
        differ(s, &p, b->emu, b->gpu);
    }
    diff_free(&p);
}

/* Ends with 1 when the GPU failed, for its context is useless then. A hung one ends by the alarm.
 */
static void work(Shared *s, uint32_t job) {
    Buffers b = {malloc(DIFF_INPUT_BYTES), malloc(ROOM), malloc(ROOM)};
    tle_emu_device *d;
    DiffGpu *g = diff_gpu_open();
    if (!g || !b.in || !b.emu || !b.gpu || tle_emu_create(NULL, &d)) {
        fprintf(stderr, "diff-run: no GPU\n");
        _exit(77);
    }
    while (s->at[job] < s->exact + s->approx) {
        uint32_t i = s->at[job], before = s->failures;
        alarm(20);
        one(s, i, g, d, &b);
        s->at[job] += s->jobs;
        if (s->failures != before)
            _exit(1);
    }
    _exit(0);
}

static void start(Shared *s, uint32_t job, pid_t *worker) {
    *worker = fork();
    if (*worker == 0)
        work(s, job);
    if (*worker < 0)
        exit(2);
}

/* Starts a worker that failed anew, after the program at which it was. */
static int supervise(Shared *s) {
    pid_t *workers = calloc(s->jobs, sizeof *workers), done;
    int status, bad = 0, restarts = 200;
    char line[80];
    if (!workers)
        exit(2);
    for (uint32_t job = 0; job < s->jobs; job++) {
        s->at[job] = job;
        start(s, job, &workers[job]);
    }
    while ((done = wait(&status)) > 0) {
        uint32_t job = 0;
        while (job < s->jobs && workers[job] != done)
            job++;
        if (job == s->jobs || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
            continue;
        if ((WIFEXITED(status) && WEXITSTATUS(status) != 1) || !restarts--) {
            bad = 1;
            continue;
        }
        if (WIFSIGNALED(status)) {
            snprintf(line, sizeof line, "%u signal %d\n", s->at[job], WTERMSIG(status));
            note(s, line);
            s->failures++;
            s->at[job] += s->jobs;
        }
        start(s, job, &workers[job]);
    }
    free(workers);
    return bad;
}

static void put(FILE *f, const void *data, size_t bytes) {
    if (fwrite(data, 1, bytes, f) != bytes)
        exit(2);
}

static void write_answers(const Shared *s, const char *folder) {
    char path[512];
    DiffCorpusHead head = {DIFF_CORPUS_MAGIC, DIFF_VERSION, s->exact, s->approx};
    snprintf(path, sizeof path, "%s/answers.bin", folder);
    FILE *f = fopen(path, "wb");
    if (!f)
        exit(2);
    put(f, &head, sizeof head);
    for (uint32_t i = 0; i < s->exact + s->approx; i++) {
        put(f, &s->answers[i].text, 4);
        put(f, &s->answers[i].hash, 8);
    }
    for (uint32_t i = 0; i < s->approx; i++) {
        DiffProgram p;
        if (!diff_generate(DIFF_APPROX + i, &p))
            exit(2);
        put(f, s->raw + (size_t)i * DIFF_APPROX_COUNT * 8, p.out_bytes);
        diff_free(&p);
    }
    fclose(f);
    snprintf(path, sizeof path, "%s/differ.txt", folder);
    f = fopen(path, "wb");
    if (!f)
        exit(2);
    put(f, s->text, s->text_length < TEXT_ROOM ? s->text_length : TEXT_ROOM);
    fclose(f);
}

static int compare(uint32_t exact, uint32_t approx, uint32_t jobs, const char *folder) {
    Shared *s = share(sizeof *s);
    s->exact = exact;
    s->approx = approx;
    s->jobs = jobs;
    s->text = share(TEXT_ROOM);
    s->answers = share((size_t)(exact + approx + 1) * sizeof *s->answers);
    s->raw = share((size_t)(approx + 1) * DIFF_APPROX_COUNT * 8);
    s->at = share((size_t)jobs * sizeof *s->at);
    int bad = supervise(s);
    write_answers(s, folder);
    printf("%u exact, %u approximate programs, %u failed on the GPU, %s; %llu bytes of "
           "differences\n",
           exact, approx, s->failures, bad ? "a worker failed" : "all workers done",
           (unsigned long long)s->text_length);
    return bad;
}

/* ---- the emulator against itself ---------------------------------------------------------- */

static const tle_emu_options modes[] = {
    {.struct_size = sizeof *modes},
    {.struct_size = sizeof *modes, .checks = TLE_EMU_CHECK_NONE},
    {.struct_size = sizeof *modes, .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 11},
    {.struct_size = sizeof *modes, .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 12, .cost = 1},
    {.struct_size = sizeof *modes, .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL, .seed = 5},
    {.struct_size = sizeof *modes, .host_threads = 3},
};

static int self_one(uint64_t seed, uint8_t *in, uint8_t *out) {
    DiffProgram p;
    uint64_t want = 0;
    int bad = 0;
    if (!diff_generate(seed, &p))
        exit(2);
    for (size_t m = 0; m < sizeof modes / sizeof *modes && !bad; m++) {
        tle_emu_device *d;
        if (tle_emu_create(&modes[m], &d))
            exit(2);
        tle_emu_status status = diff_emulate(d, &p, in, out);
        uint64_t got = diff_hash(out, p.out_bytes);
        if (status != TLE_EMU_OK || (m && got != want)) {
            printf("%" PRIu64 " mode %zu: %s %s\n", seed, m, tle_emu_status_name(status),
                   status ? tle_emu_last_error(d) : "another result");
            bad = 1;
        }
        want = got;
        tle_emu_destroy(d);
    }
    diff_free(&p);
    return bad;
}

static int self(uint64_t first, uint64_t end, uint32_t jobs) {
    int bad = 0, status;
    for (uint32_t job = 0; job < jobs; job++)
        if (fork() == 0) {
            uint8_t *in = malloc(DIFF_INPUT_BYTES), *out = malloc(ROOM);
            for (uint64_t seed = first + job; seed < end; seed += jobs)
                bad |= self_one(seed, in, out);
            exit(bad);
        }
    for (uint32_t job = 0; job < jobs; job++) {
        wait(&status);
        bad |= !WIFEXITED(status) || WEXITSTATUS(status);
    }
    return bad;
}

static int show(uint64_t seed, int thread) {
    static Slot slots[1024];
    uint8_t *in = malloc(DIFF_INPUT_BYTES), *out = malloc(ROOM);
    tle_emu_device *d;
    DiffProgram p;
    if (!in || !out || tle_emu_create(NULL, &d) || !diff_generate(seed, &p))
        return 2;
    fputs(p.text, stdout);
    tle_emu_status status = diff_emulate(d, &p, in, out);
    printf("// %s %s\n", tle_emu_status_name(status), status ? tle_emu_last_error(d) : "");
    for (uint32_t k = 0, n = thread < 0 ? 0 : find_slots(&p, slots, 1024); k < n; k++) {
        uint64_t v = 0;
        memcpy(&v, out + 8 * DIFF_ACCUMULATORS + (size_t)thread * p.record_bytes + slots[k].at,
               slots[k].bytes);
        printf("// %s %" PRIx64 "\n", slots[k].name, v);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc >= 3 && !strcmp(argv[1], "--show"))
        return show(strtoull(argv[2], NULL, 10), argc > 3 ? atoi(argv[3]) : -1);
    if (argc == 5 && !strcmp(argv[1], "--self"))
        return self(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10),
                    (uint32_t)atoi(argv[4]));
    if (argc == 5)
        return compare((uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]),
                       argv[4]);
    fprintf(stderr, "usage: diff-run EXACT APPROX JOBS FOLDER | --self FIRST END JOBS | "
                    "--show SEED [THREAD]\n");
    return 2;
}
