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

typedef enum OperatorId {
#define X(name, run, explain) OPERATOR_##name,
#include "cli/operators.def"
#undef X
    OPERATOR_COUNT
} OperatorId;

typedef struct Options {
    CommandId command;
    OperatorId op;                /* of commands that take an operator */
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

/* Listing and explaining need no device unless one is named. */
int open_for_questions(const Options *o, tle_handle *out);

/* Commands return the exit status. */
#define X(name, operands, summary, options) int command_##name(const Options *o);
#include "cli/commands.def"
#undef X

/* Parts of commands that are the operators' own. explain_* prints and returns the exit status;
 * check_* counts cases and failed ones, after a line for each. */
#define X(name, run, explain)                                                                      \
    int run_##name(const Options *o);                                                              \
    int explain_##name(const Options *o, tle_handle handle);                                       \
    void check_##name(tle_handle handle, bool quick, int *count, int *bad);
#include "cli/operators.def"
#undef X

#endif
