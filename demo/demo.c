/* tle-demo: from text to the best windows, through the library's public interface.
 *
 * It makes a row of 131,072 scores as a sparse-attention indexer would (indexer_scores.h) from the
 * licence texts that every Debian machine has, selects the k greatest with tle_topk_select on the
 * GPU or, where there is none, on the emulator, checks the selection against a sort, and shows what
 * was found. The exit status is 0 only if the selection is right. */
#define _POSIX_C_SOURCE 200809L
#include "corpus.h"
#include "indexer_scores.h"

#include <tle/tle.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 131072, SHOWN = 5, GPU_RUNS = 200 };

typedef struct Options {
    const char *texts;
    const char *query;
    const char *scores_out;
    int k;
} Options;

/* What one run of the operator told. */
typedef struct Outcome {
    tle_device_info device;
    char variant[128];
    double microseconds;
    int32_t *indices;
} Outcome;

static int fail(const char *what) {
    fprintf(stderr, "demo: %s: %s\n", what, tle_last_error());
    return -1;
}

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Writes the row as a NumPy file of shape (1, COLUMNS), format version 1.0. */
static int write_npy(const char *path, const float *scores) {
    char header[128];
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    int used = snprintf(header + 10, sizeof header - 10,
                        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, %d), }", COLUMNS);
    memset(header + 10 + used, ' ', sizeof header - 10 - (size_t)used);
    header[sizeof header - 1] = '\n';
    FILE *file = fopen(path, "wb");
    if (!file) {
        fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
        return -1;
    }
    int bad = fwrite(header, sizeof header, 1, file) != 1 ||
              fwrite(scores, sizeof *scores, COLUMNS, file) != COLUMNS;
    bad |= fclose(file) != 0;
    if (bad) {
        fprintf(stderr, "demo: %s could not be written\n", path);
    }
    return bad ? -1 : 0;
}

/* ---- Running the operator -------------------------------------------------------------------- */

/* Keeps the variant's name from the dispatch line: its eighth field. */
static void keep_variant(uint32_t flag, const char *line, void *user) {
    if (flag != TLE_LOG_DISPATCH) {
        return;
    }
    for (int field = 1; field < 8; field++) {
        line = strchr(line, ',');
        if (!line) {
            return;
        }
        line++;
    }
    Outcome *outcome = user;
    snprintf(outcome->variant, sizeof outcome->variant, "%.*s", (int)strcspn(line, ","), line);
}

/* The device that TLE_DEVICE names, else a GPU, else the emulator, saying why. */
static tle_device_kind choose_device(void) {
    int32_t count = 0;
    const char *named = getenv("TLE_DEVICE");
    if (named && *named) {
        return TLE_DEVICE_DEFAULT;
    }
    tle_status status = tle_device_count(TLE_DEVICE_CUDA, &count);
    if (status == TLE_STATUS_OK && count > 0) {
        return TLE_DEVICE_CUDA;
    }
    printf("No GPU to run on (%s): the emulator executes the same kernel's PTX on the CPU.\n",
           status == TLE_STATUS_OK ? "the driver sees none" : tle_last_error());
    return TLE_DEVICE_EMU;
}

/* One call to learn the variant and warm up, then on a GPU the timed ones. */
static int run_calls(tle_handle handle, const tle_topk_select_params *params, void *workspace,
                     size_t workspace_size, Outcome *outcome) {
    int calls = outcome->device.kind == TLE_DEVICE_CUDA ? GPU_RUNS : 0;
    tle_set_log(handle, TLE_LOG_DISPATCH, keep_variant, outcome);
    double begin = now_us();
    for (int i = 0; i <= calls; i++) {
        if (tle_topk_select(handle, params, workspace, workspace_size, NULL) != TLE_STATUS_OK) {
            return fail("tle_topk_select");
        }
        if (i == 0) {
            tle_synchronize(handle, NULL);
            outcome->microseconds = now_us() - begin;
            tle_set_log(handle, 0, NULL, NULL);
            begin = now_us();
        }
    }
    if (tle_synchronize(handle, NULL) != TLE_STATUS_OK) {
        return fail("tle_synchronize");
    }
    if (calls > 0) {
        outcome->microseconds = (now_us() - begin) / (double)calls;
    }
    return 0;
}

static int select_into(tle_handle handle, tle_topk_select_params *params, void *workspace,
                       size_t workspace_size, const float *scores, Outcome *outcome) {
    void *row = (void *)(uintptr_t)params->scores;
    if (tle_copy(handle, row, scores, COLUMNS * sizeof *scores) != TLE_STATUS_OK) {
        return fail("tle_copy");
    }
    if (run_calls(handle, params, workspace, workspace_size, outcome) != 0) {
        return -1;
    }
    size_t bytes = (size_t)params->k * sizeof(int32_t);
    if (tle_copy(handle, outcome->indices, params->indices, bytes) != TLE_STATUS_OK) {
        return fail("tle_copy");
    }
    return 0;
}

static int select_on(tle_handle handle, const float *scores, int k, Outcome *outcome) {
    tle_topk_select_params params = TLE_TOPK_SELECT_PARAMS_INIT;
    size_t workspace_size = 0;
    void *row = NULL, *indices = NULL, *workspace = NULL;
    params.rows = 1;
    params.columns = params.row_stride = COLUMNS;
    params.k = params.index_row_stride = k;
    int status = -1;
    if (tle_alloc(handle, COLUMNS * sizeof *scores, &row) != TLE_STATUS_OK ||
        tle_alloc(handle, (size_t)k * sizeof(int32_t), &indices) != TLE_STATUS_OK) {
        fail("tle_alloc");
    } else {
        params.scores = row;
        params.indices = indices;
        if (tle_topk_select_workspace_size(handle, &params, &workspace_size) != TLE_STATUS_OK) {
            fail("tle_topk_select_workspace_size");
        } else if (workspace_size > 0 &&
                   tle_alloc(handle, workspace_size, &workspace) != TLE_STATUS_OK) {
            fail("tle_alloc");
        } else {
            status = select_into(handle, &params, workspace, workspace_size, scores, outcome);
        }
    }
    tle_free(handle, workspace);
    tle_free(handle, indices);
    tle_free(handle, row);
    return status;
}

static int run(const float *scores, int k, Outcome *outcome) {
    tle_handle_options options = TLE_HANDLE_OPTIONS_INIT;
    tle_handle handle = NULL;
    options.device_kind = (int32_t)choose_device();
    if (tle_create(&handle, &options) != TLE_STATUS_OK) {
        return fail("tle_create");
    }
    int status = -1;
    outcome->device.struct_size = sizeof outcome->device;
    if (tle_handle_device(handle, &outcome->device) != TLE_STATUS_OK) {
        fail("tle_handle_device");
    } else if (tle_preload(handle, "topk_select") != TLE_STATUS_OK) {
        fail("tle_preload");
    } else {
        status = select_on(handle, scores, k, outcome);
    }
    tle_destroy(handle);
    return status;
}

/* ---- Checking and showing -------------------------------------------------------------------- */

typedef struct Scored {
    float score;
    int32_t index;
} Scored;

static int by_rank(const void *a, const void *b) {
    const Scored *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

static int by_index(const void *a, const void *b) {
    const Scored *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* The whole row in rank order: score descending, then index ascending. The caller frees it. */
static Scored *rank_row(const float *scores) {
    Scored *row = malloc(COLUMNS * sizeof *row);
    for (int32_t i = 0; row && i < COLUMNS; i++) {
        row[i] = (Scored){scores[i], i};
    }
    if (row) {
        qsort(row, COLUMNS, sizeof *row, by_rank);
    }
    return row;
}

/* Compares the selection with the first k of the ranked row, both in ascending order of index. */
static int check(const Scored *ranked, const int32_t *indices, int k) {
    Scored *expected = malloc((size_t)k * sizeof *expected);
    if (!expected) {
        return -1;
    }
    memcpy(expected, ranked, (size_t)k * sizeof *expected);
    qsort(expected, (size_t)k, sizeof *expected, by_index);
    int wrong = 0;
    for (int i = 0; i < k; i++) {
        if (indices[i] != expected[i].index && wrong++ < SHOWN) {
            fprintf(stderr, "demo: place %d holds index %d, the sort says %d\n", i, indices[i],
                    expected[i].index);
        }
    }
    free(expected);
    if (wrong) {
        fprintf(stderr, "demo: %d of %d places are wrong\n", wrong, k);
    }
    return wrong ? -1 : 0;
}

/* Prints the best windows that do not overlap one already printed. */
static void show(const Corpus *corpus, const Scored *ranked, int k) {
    size_t shown[SHOWN];
    int count = 0;
    for (int i = 0; i < k && count < SHOWN; i++) {
        size_t start = indexer_window_start(corpus->length, COLUMNS, ranked[i].index);
        int overlaps = 0;
        for (int j = 0; j < count; j++) {
            overlaps |= start < shown[j] + INDEXER_WINDOW && shown[j] < start + INDEXER_WINDOW;
        }
        if (!overlaps) {
            shown[count++] = start;
            printf("  %.4f  window %6d  %-10s  %.*s\n", (double)ranked[i].score, ranked[i].index,
                   corpus_file_at(corpus, start), INDEXER_WINDOW, corpus->text + start);
        }
    }
}

static void report(const Options *options, const Corpus *corpus, const Scored *ranked,
                   const Outcome *outcome) {
    printf("Selected the %d greatest of %d scores; a sort agrees.\n", options->k, COLUMNS);
    printf("  device   %s, %s%s\n", outcome->device.name, outcome->device.arch,
           outcome->device.kind == TLE_DEVICE_EMU ? " (emulated)" : "");
    printf("  variant  %s\n", outcome->variant);
    printf("  time     %.1f us%s\n", outcome->microseconds,
           outcome->device.kind == TLE_DEVICE_CUDA
               ? " per call, calls back to back"
               : " on the emulator, which says nothing about a GPU");
    printf("Best windows for \"%s\":\n", options->query);
    show(corpus, ranked, options->k);
}

static int demonstrate(const Options *options, const Corpus *corpus, float *scores,
                       Outcome *outcome) {
    Indexer indexer;
    if (corpus->length <= INDEXER_WINDOW || indexer_init(&indexer, options->query) != 0) {
        fprintf(stderr,
                "demo: it takes a query of three words and more than %d characters of text\n",
                INDEXER_WINDOW);
        return -1;
    }
    indexer_score(&indexer, corpus->text, corpus->length, COLUMNS, scores);
    if (options->scores_out && write_npy(options->scores_out, scores) != 0) {
        return -1;
    }
    if (run(scores, options->k, outcome) != 0) {
        return -1;
    }
    Scored *ranked = rank_row(scores);
    int status = ranked ? check(ranked, outcome->indices, options->k) : -1;
    if (status == 0) {
        report(options, corpus, ranked, outcome);
    }
    free(ranked);
    return status;
}

static void usage(FILE *to) {
    fprintf(to, "usage: tle-demo [--query TEXT] [--k N] [--texts FOLDER] [--scores-out FILE.npy]\n"
                "TLE_DEVICE=cuda|emu chooses the device; without it a GPU is preferred.\n");
}

/* Returns 0 to go on, 1 after --help, -1 on a bad command line. */
static int parse_options(Options *options, int argc, char **argv) {
    static const struct option names[] = {
        {"query", required_argument, NULL, 'q'},      {"k", required_argument, NULL, 'k'},
        {"texts", required_argument, NULL, 't'},      {"help", no_argument, NULL, 'h'},
        {"scores-out", required_argument, NULL, 's'}, {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "h", names, NULL)) != -1;) {
        switch (c) {
        case 'q':
            options->query = optarg;
            break;
        case 'k':
            options->k = atoi(optarg);
            break;
        case 't':
            options->texts = optarg;
            break;
        case 's':
            options->scores_out = optarg;
            break;
        case 'h':
            usage(stdout);
            return 1;
        default:
            return -1;
        }
    }
    return optind == argc && options->k > 0 && options->k <= TLE_TOPK_SELECT_MAX_K ? 0 : -1;
}

int main(int argc, char **argv) {
    Options options = {"/usr/share/common-licenses",
                       "distribute modified copies of the source code under the same license "
                       "without any warranty",
                       NULL, 2048};
    int parsed = parse_options(&options, argc, argv);
    if (parsed != 0) {
        if (parsed < 0) {
            usage(stderr);
        }
        return parsed < 0 ? 2 : 0;
    }
    Corpus corpus = {0};
    Outcome outcome = {0};
    float *scores = malloc(COLUMNS * sizeof *scores);
    outcome.indices = malloc((size_t)options.k * sizeof *outcome.indices);
    int status = -1;
    if (!scores || !outcome.indices) {
        fprintf(stderr, "demo: out of memory\n");
    } else if (corpus_load(&corpus, options.texts) == 0) {
        status = demonstrate(&options, &corpus, scores, &outcome);
    }
    corpus_free(&corpus);
    free(outcome.indices);
    free(scores);
    return status == 0 ? 0 : 1;
}
