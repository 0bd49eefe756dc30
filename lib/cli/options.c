/* Options: tables to getopt_long, and help made of the same tables. */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define B(id)          ((uint64_t)1 << OPT_##id)
#define DEVICE_OPTIONS (B(device) | B(ordinal) | B(arch) | B(dispatch))
#define LAUNCH_OPTIONS                                                                             \
    (B(arch) | B(kernel) | B(grid) | B(block) | B(cluster) | B(shared) | B(schedule) | B(seed) |   \
     B(checks) | B(limit) | B(threads) | B(args))

_Static_assert(OPT_COUNT <= 64, "a command's options are bits of 64");

static const struct {
    const char *name, *argument, *help;
    char letter;
} option_table[OPT_COUNT] = {
#define X(id, name, letter, argument, help) {name, argument, help, letter},
#include "cli/options.def"
#undef X
};

static const struct {
    const char *name, *operands, *summary;
    uint64_t options;
} command_table[CMD_COUNT] = {
#define X(name, operands, summary, options) {#name, operands, summary, (options) | B(help)},
#include "cli/commands.def"
#undef X
};

/* What an operator adds to the options of a command. */
static const struct {
    const char *name;
    uint64_t options[CMD_COUNT];
} operator_table[OPERATOR_COUNT] = {
#define X(name, run, explain) {#name, {[CMD_run] = (run), [CMD_explain] = (explain)}},
#include "cli/operators.def"
#undef X
};

static bool takes_operator(CommandId command) {
    return !strcmp(command_table[command].operands, "OPERATOR");
}

/* Of the command and of every operator. */
static uint64_t all_options(CommandId command) {
    uint64_t options = command_table[command].options;
    for (int i = 0; i < OPERATOR_COUNT; i++)
        options |= operator_table[i].options[command];
    return options;
}

/* " (radix)" behind an option that not every operator takes. */
static void print_owners(CommandId command, int option) {
    bool all = true, any = false;
    for (int i = 0; i < OPERATOR_COUNT; i++)
        all = all && (operator_table[i].options[command] >> option & 1);
    if (all || command_table[command].options >> option & 1)
        return;
    for (int i = 0; i < OPERATOR_COUNT; i++) {
        if (!(operator_table[i].options[command] >> option & 1))
            continue;
        printf("%s%s", any ? ", " : " (", operator_table[i].name);
        any = true;
    }
    printf(")");
}

void options_help(CommandId command) {
    printf("Usage: tle %s %s%s[OPTION]...\n\n%s.\n\nOptions:\n", command_table[command].name,
           command_table[command].operands, *command_table[command].operands ? " " : "",
           command_table[command].summary);
    for (int i = 0; i < OPT_COUNT; i++) {
        if (!(all_options(command) >> i & 1))
            continue;
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", option_table[i].name,
                 option_table[i].argument ? " " : "",
                 option_table[i].argument ? option_table[i].argument : "");
        printf("  %c%c%c %-24s  %s", option_table[i].letter ? '-' : ' ',
               option_table[i].letter ? option_table[i].letter : ' ',
               option_table[i].letter ? ',' : ' ', left, option_table[i].help);
        print_owners(command, i);
        printf("\n");
    }
}

/* Fills getopt's two tables with the options of a command. */
static void make_tables(CommandId command, struct option longs[OPT_COUNT + 1],
                        char shorts[2 * OPT_COUNT + 1]) {
    int n = 0;
    for (int i = 0; i < OPT_COUNT; i++) {
        if (!(all_options(command) >> i & 1))
            continue;
        bool argument = option_table[i].argument != NULL;
        longs[n++] = (struct option){option_table[i].name,
                                     argument ? required_argument : no_argument, NULL, 256 + i};
        if (option_table[i].letter)
            *shorts++ = option_table[i].letter;
        if (option_table[i].letter && argument)
            *shorts++ = ':';
    }
    longs[n] = (struct option){0};
    *shorts = '\0';
}

static int option_of(int c) {
    if (c >= 256)
        return c - 256;
    for (int i = 0; i < OPT_COUNT; i++)
        if (option_table[i].letter == c)
            return i;
    return -1;
}

static int no_operator(CommandId command) {
    char names[128] = "";
    for (int i = 0; i < OPERATOR_COUNT; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                 i == 0                   ? ""
                 : i + 1 < OPERATOR_COUNT ? ", "
                                          : " or ",
                 operator_table[i].name);
    complain("%s: name an operator: %s", command_table[command].name, names);
    return EXIT_USAGE;
}

/* The operator that the operand names, and whether all options are its own. */
static int find_operator(CommandId command, Options *out) {
    int op = 0;
    while (op < OPERATOR_COUNT && (!out->operand || strcmp(out->operand, operator_table[op].name)))
        op++;
    if (op == OPERATOR_COUNT)
        return no_operator(command);
    out->op = (OperatorId)op;
    uint64_t taken = command_table[command].options | operator_table[op].options[command];
    for (int i = 0; i < OPT_COUNT; i++)
        if (out->value[i] && !(taken >> i & 1)) {
            complain("%s %s: --%s is none of its options", command_table[command].name,
                     operator_table[op].name, option_table[i].name);
            return EXIT_USAGE;
        }
    return -1;
}

int options_parse(CommandId command, int argc, char **argv, Options *out) {
    struct option longs[OPT_COUNT + 1];
    char shorts[2 * OPT_COUNT + 1];
    make_tables(command, longs, shorts);
    *out = (Options){.command = command};
    opterr = 0; /* getopt would call this program by its command */
    for (int c; (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        int id = option_of(c);
        if (id < 0) {
            complain("%s: '%s' is no option, or lacks its value", command_table[command].name,
                     argv[optind - 1]);
            return EXIT_USAGE;
        }
        out->value[id] = optarg ? optarg : "";
    }
    if (out->value[OPT_help]) {
        options_help(command);
        return 0;
    }
    if (optind < argc && *command_table[command].operands)
        out->operand = argv[optind++];
    if (strstr(command_table[command].operands, "...")) {
        out->rest = argv + optind;
        out->rest_count = argc - optind;
        return -1;
    }
    if (optind < argc) {
        complain("%s: '%s' is not expected", command_table[command].name, argv[optind]);
        return EXIT_USAGE;
    }
    return takes_operator(command) ? find_operator(command, out) : -1;
}

bool options_int(const Options *o, OptionId id, int64_t lo, int64_t hi, int64_t missing,
                 int64_t *out) {
    const char *text = o->value[id];
    *out = missing;
    if (!text)
        return true;
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < lo || value > hi) {
        complain("--%s is '%s'; it is an integer of %lld to %lld", option_table[id].name, text,
                 (long long)lo, (long long)hi);
        return false;
    }
    *out = value;
    return true;
}
