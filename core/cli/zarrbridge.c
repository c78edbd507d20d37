/* SPDX-License-Identifier: MIT */
/* The program `zarrbridge`: finds the subcommand. cli.h is the map of the program. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "help.h"
#include "zarrbridge/limits.h"

static void print_version(FILE *out, struct argp_state *state) {
    (void)state;
    fprintf(out, "zarrbridge %s\n", zb_version());
}

static void fail_unknown(const char *name, const struct argp_state *state) {
    const char *names[64] = {NULL};
    for (size_t i = 0; cli_commands[i] && i + 1 < sizeof names / sizeof *names; i++)
        names[i] = cli_commands[i]->name;
    const char *meant = cli_nearest(name, names);
    if (meant)
        argp_error(state, "there is no command '%s'; '%s' is near", name, meant);
    else
        argp_error(state, "there is no command '%s'", name);
}

/* The index of the subcommand's name. All behind it is the subcommand's. */
static error_t take(int key, char *value, struct argp_state *state) {
    int *command = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        *command = state->next - 1;
        if (!cli_find(value))
            fail_unknown(value, state);
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

int cli_main(int argc, char **argv) {
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

/* A descriptor that the caller has closed would be given to the next file, into which the program
   would print. What takes its place refuses to be used. */
static void open_standard_streams(void) {
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++) {
        if (fcntl(file, F_GETFD) < 0)
            (void)open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

/* At exit, since argp ends the program, too: what was to be printed is lost. */
static void check_output(void) {
    zb_error err;
    const bool has_failed = ferror(stdout);
    if (fflush(stdout) || has_failed) {
        zb_fail(&err, ZB_EIO, "cannot write to standard output");
        _exit(cli_fail(&err));
    }
}

int main(int argc, char **argv) {
    open_standard_streams();
    if (atexit(check_output))
        return CLI_FAILED;
    return cli_main(argc, argv);
}
