/* SPDX-License-Identifier: MIT */
/* The texts of --help, in the form that argp takes, which breaks lines and lists options. */
#include "help.h"

#include <stdlib.h>

void help_options_each(const cli_command *command, FILE *out, help_option_fn fn) {
    static const struct argp_option help = {"help", 'h', NULL, 0, "Show help, and end", 0};
    for (const struct argp_option *o = command->options; o && o->name; o++)
        fn(out, o);
    for (const struct argp_option *o = cli_shared_options; !command->is_silent && o->name; o++)
        fn(out, o);
    fn(out, &help);
}

/* \v stands between what comes before the options and what comes behind them. */
char *help_doc(const cli_command *command) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%c%s.\n\n%s\v", command->summary[0] - 'a' + 'A', command->summary + 1,
            command->description);
    if (command->examples)
        fprintf(out, "Examples:\n");
    for (const cli_example *e = command->examples; e && e->line; e++)
        fprintf(out, "  %s\n      %s\n", e->line, e->meaning);
    fprintf(out, "%sExit status:\n  0  " HELP_FINE "\n", command->examples ? "\n" : "");
    if (command->found)
        fprintf(out, "  1  %s\n", command->found);
    fprintf(out, "  2  " HELP_FAILED "\n");
    return fclose(out) ? (free(text), NULL) : text;
}

char *help_program_doc(void) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "zarrbridge: " HELP_PROGRAM ".\vCommands:\n");
    for (const cli_command *const *c = cli_commands; *c; c++)
        fprintf(out, "  %-12s %s\n", (*c)->name, (*c)->summary);
    fprintf(out, "\n'zarrbridge COMMAND --help' tells more of each. A STORE is a directory, a zip "
                 "archive or a URL; NODE is a path in it.\n");
    return fclose(out) ? (free(text), NULL) : text;
}
