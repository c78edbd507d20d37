/* SPDX-License-Identifier: MIT */
/* The program `zarrbridge`: finds the subcommand. cli.h is the map of the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "help.h"
#include "zarrbridge/limits.h"

static void print_version(FILE *out, struct argp_state *state) {
    (void)state;
    fprintf(out, "zarrbridge %s\n", zb_version());
}

/* The index of the subcommand's name. All behind it is the subcommand's. */
static error_t take(int key, char *value, struct argp_state *state) {
    int *command = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        *command = state->next - 1;
        if (!cli_find(value))
            argp_error(state, "there is no command '%s'", value);
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_state_help(state, stderr, ARGP_HELP_USAGE | ARGP_HELP_POST_DOC | ARGP_HELP_EXIT_ERR);
        return 0;
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv) {
    static const struct argp_option options[] = {{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0}, {0}};
    char *doc = help_program_doc();
    const struct argp argp = {
        .options = options, .parser = take, .args_doc = "COMMAND [ARGUMENT...]", .doc = doc};
    int command = 0;
    argp_program_version_hook = print_version;
    argp_err_exit_status = CLI_FAILED;
    if (!doc || argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &command))
        return CLI_FAILED;
    free(doc);
    return cli_run(cli_find(argv[command]), argc - command, argv + command);
}
