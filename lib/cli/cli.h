/* The program `tle`: option values, the commands, and what they share.
 *
 * Exit statuses: 0 success, 1 a failed call or check, 2 wrong usage. Results go to standard output,
 * everything else to standard error. Only the public interface of the library is used. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <tle/tle.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef enum OptionId {
#define X(id, name, letter, argument, help) OPT_##id,
#include "cli/options.def"
#undef X
    OPT_COUNT
} OptionId;

typedef enum CommandId {
#define X(name, operands, summary, options) CMD_##name,
#include "cli/commands.def"
#undef X
    CMD_COUNT
} CommandId;

typedef struct Options {
    CommandId command;
    const char *value[OPT_COUNT]; /* NULL: not given; "" for one without argument */
    const char *operand;          /* or NULL */
    char **rest;                  /* operands behind it, of commands that take several */
    int rest_count;
} Options;

/* Parses argv after the command's name. Returns -1 to go on, else the exit status. */
int options_parse(CommandId command, int argc, char **argv, Options *out);
void options_help(CommandId command);
/* An integer option within [lo, hi], or the default where it is not given. False with a message. */
bool options_int(const Options *o, OptionId id, int64_t lo, int64_t hi, int64_t missing,
                 int64_t *out);

/* "tle: " and a message to standard error; returns EXIT_FAILED. */
__attribute__((format(printf, 1, 2))) int complain(const char *format, ...);
/* The same with the library's last error. */
int complain_status(const char *what, tle_status status);

/* A handle on the device that the options name. Without --device and TLE_DEVICE: a GPU, else the
 * emulator with a note on standard error. Returns 0, or an exit status after a message. */
int open_handle(const Options *o, tle_handle *out);

/* Commands return the exit status. */
#define X(name, operands, summary, options) int command_##name(const Options *o);
#include "cli/commands.def"
#undef X

/* Memory of a device, filled from `from` unless that is NULL; NULL after a message. */
void *to_device(tle_handle handle, const void *from, size_t bytes);

/* The topk call of arrays in host memory: runs it and writes [rows, k] indices. Arrays that are
 * NULL are not passed. */
typedef struct HostTopk {
    const float *scores;
    int64_t rows, columns, row_stride, k;
    const int32_t *lengths, *row_starts; /* lengths: [requests] */
    int32_t *indices;
    size_t misalign; /* elements by which the device copies are shifted */
    bool sorted, absolute;
    int64_t next_n;
    float *values;
    int32_t *raw_indices;
    const int32_t *offsets, *row_to_table, *page_table;
    int64_t tables, pages, page_size; /* the table is [tables, pages] */
} HostTopk;

/* Entries of lengths. */
int64_t host_topk_requests(const HostTopk *call);

typedef struct TopkReport {
    char variant[128];
    double microseconds; /* of the last of the calls */
} TopkReport;

/* `calls` times, so that the last can be timed without loading. Returns 0 or an exit status. */
int run_host_topk(tle_handle handle, const HostTopk *call, int calls, TopkReport *report);

#endif
