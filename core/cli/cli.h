/* SPDX-License-Identifier: MIT */
/*
 * The program `zarrbridge`: its subcommands as data.
 *
 * A subcommand is one `cli_command`, defined beside its function in a file of its own, and one row
 * of the table in commands.c. All that people see of it comes from there: parsing, `--help`, man
 * pages, docs/program.md and completion. To add one, say doctor:
 *
 *     static int run(const cli_call *call) { ... return CLI_FINE; }
 *     const cli_command command_doctor = {.name = "doctor", .arguments = "[PATH]", .most = 1,
 *                                         .summary = "tell what is wrong", .run = run, ...};
 *
 * and `&command_doctor` in commands.c and commands.h, and the file in core/CMakeLists.txt. Then
 * `zarrbridge help --markdown > docs/program.md`.
 *
 * Findings go to standard output, one a line, or with --json as one document (report.h). What a
 * call did in all, progress and errors go to standard error. Standard output that cannot be written
 * is seen to at exit, for all commands (zarrbridge.c). The program uses the public headers alone.
 */
#ifndef ZB_CLI_CLI_H
#define ZB_CLI_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "zarrbridge/error.h"

/* Exit statuses, as of grep and diff. */
enum { CLI_FINE = 0, CLI_FOUND = 1, CLI_FAILED = 2 };

enum { CLI_MOST_ARGUMENTS = 4, CLI_MOST_OPTIONS = 12 };

typedef struct cli_example {
    const char *line, *meaning; /* a line has at most 76 characters */
} cli_example;

typedef struct cli_call cli_call;

/* All texts are plain: no markup, a paragraph without line ends, an empty line between two. */
typedef struct cli_command {
    const char *name;
    const char *arguments; /* as in a usage line: "STORE[/NODE] NEW" */
    int least, most;       /* how many of them */
    const char *summary;   /* begins with a verb, at most 60 characters, without a full stop */
    const char *description;
    const struct argp_option *options; /* its own, an {0} behind the last; NULL: none. Keys without
                                          a letter are above 255. Values of which there are few are
                                          written "nearest|average", as arguments are: completion
                                          offers them */
    const cli_example *examples;       /* an {0} behind the last */
    const cli_example *keys;           /* the members of the document of --json, an {0} behind the
                                          last: "nodes[].path", and what it is */
    const char *found;                 /* the meaning of CLI_FOUND; NULL: it is never given */
    bool is_silent; /* has no report, and so none of the options that all others share: --json,
                       --quiet, --color */
    int (*run)(const cli_call *call);
} cli_command;

/* Ends with NULL. The order is that of all lists. */
extern const cli_command *const cli_commands[];

/* The table's row, or NULL. */
const cli_command *cli_find(const char *name);

/* The name among `names` (ends with NULL) that a mistyped one means; NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *names);

/* The options that all commands but the silent ones have besides their own, as those are given. */
extern const struct argp_option cli_shared_options[];

/* One call of a subcommand, parsed. Texts are those of argv. */
struct cli_call {
    const cli_command *command;
    int count;
    const char *arguments[CLI_MOST_ARGUMENTS];
    bool json;                           /* one JSON document on standard output */
    bool quiet;                          /* no progress, and no sentence that all went well */
    bool color;                          /* standard output may have colours */
    const char *given[CLI_MOST_OPTIONS]; /* for each of command->options; see cli_option */
};

/* The value that an option of the command was given, "" for a flag; NULL where it was not given.
   The last one counts. */
const char *cli_option(const cli_call *call, int key);

/* Decimal numbers without a sign, up to 2^64 - 1, in arguments: at the beginning of a text, which
   moves behind it; and a text that is one and nothing else. False: there is none. */
bool cli_take_number(const char **text, uint64_t *out);
bool cli_number(const char *text, uint64_t *out);

/* The whole program; argv[0] is its name. */
int cli_main(int argc, char **argv);

/* Parses by argp, and runs. argv[0] is the subcommand's name. Returns the exit status; mistakes and
   --help end the program. */
int cli_run(const cli_command *command, int argc, char **argv);

/* Tells a mistake in the arguments, with the way to help. Returns CLI_FAILED. */
int cli_misuse(const cli_call *call, const char *format, ...) ZB_PRINTF(2, 3);

/* Tells an error on standard error. Returns CLI_FAILED. With --json see report_fail. */
int cli_fail(const zb_error *err);

/* A sentence about the whole on standard error, unless the call is quiet. */
void cli_say(const cli_call *call, const char *format, ...) ZB_PRINTF(2, 3);

#endif
