/* tle: looks into the library and runs its operators on files. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *operands, *summary;
    int (*run)(const Options *);
} commands[CMD_COUNT] = {
#define X(name, operands, summary, options) {#name, operands, summary, command_##name},
#include "cli/commands.def"
#undef X
};

static void usage(FILE *to) {
    fprintf(to, "Usage: tle COMMAND [OPERAND] [OPTION]...\n\n"
                "Looks into libtle and runs its operators on files.\n\nCommands:\n");
    for (int i = 0; i < CMD_COUNT; i++)
        fprintf(to, "  %-8s %-21s %s\n", commands[i].name, commands[i].operands,
                commands[i].summary);
    fprintf(to, "\n'tle COMMAND --help' lists the options of a command.\n"
                "Exit status: 0 success, 1 a failed call or check, 2 wrong usage.\n");
}

static int dispatch(int argc, char **argv) {
    for (int i = 0; i < CMD_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name))
            continue;
        Options options;
        int status = options_parse((CommandId)i, argc - 1, argv + 1, &options);
        return status >= 0 ? status : commands[i].run(&options);
    }
    complain("there is no command '%s'", argv[1]);
    usage(stderr);
    return EXIT_USAGE;
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        usage(stdout);
        return 0;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("%s\n", tle_build_info());
        return 0;
    }
    return dispatch(argc, argv);
}

int main(int argc, char **argv) {
    int status = run(argc, argv);
    if (fflush(stdout) || ferror(stdout))
        return complain("standard output cannot be written");
    return status;
}
