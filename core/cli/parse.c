/* SPDX-License-Identifier: MIT */
/* The arguments of one subcommand, parsed by argp. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "help.h"

/* ---- Numbers ---- */

bool cli_take_number(const char **text, uint64_t *out) {
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

bool cli_number(const char *text, uint64_t *out) {
    return cli_take_number(&text, out) && *text == '\0';
}

/* ---- Options ---- */

/* Above those of the subcommands. */
enum { KEY_JSON = 1000, KEY_COLOR };

const struct argp_option cli_shared_options[] = {
    {"json", KEY_JSON, NULL, 0, "Print one JSON document on standard output", -2},
    {"quiet", 'q', NULL, 0, "Show no progress, and say nothing where all is well", -2},
    {"color", KEY_COLOR, "auto|always|never", 0,
     "Use colours; auto: on a terminal, unless NO_COLOR is set", -2},
    {0}};

static bool terminal_shows_colors(void) {
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return !(refused && *refused) && isatty(STDOUT_FILENO) && terminal &&
           strcmp(terminal, "dumb") != 0;
}

static bool shows_colors(const char *when, const struct argp_state *state) {
    if (strcmp(when, "always") == 0 || strcmp(when, "never") == 0)
        return *when == 'a';
    if (strcmp(when, "auto") != 0)
        argp_error(state, "--color=%s: expected auto, always or never", when);
    return terminal_shows_colors();
}

static error_t take_shared(int key, char *value, struct argp_state *state) {
    cli_call *call = state->input;
    switch (key) {
    case KEY_JSON:
        call->json = true;
        return 0;
    case 'q':
        call->quiet = true;
        return 0;
    case ARGP_KEY_INIT:
        call->color = terminal_shows_colors();
        return 0;
    case KEY_COLOR:
        call->color = shows_colors(value, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static size_t option_index(const cli_command *command, int key) {
    size_t i = 0;
    while (command->options && command->options[i].name && command->options[i].key != key)
        i++;
    return command->options && command->options[i].name ? i : CLI_MOST_OPTIONS;
}

static void check_count(const cli_call *call, const struct argp_state *state) {
    const cli_command *command = call->command;
    if (call->count >= command->least && call->count <= command->most)
        return;
    if (command->least == command->most)
        argp_error(state, "%s takes %d argument%s, and got %d: %s", command->name, command->most,
                   command->most == 1 ? "" : "s", call->count, command->arguments);
    else
        argp_error(state, "%s takes %d to %d arguments, and got %d: %s", command->name,
                   command->least, command->most, call->count, command->arguments);
}

static error_t take(int key, char *value, struct argp_state *state) {
    cli_call *call = state->input;
    size_t i;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = call;
        if (!call->command->is_silent)
            state->child_inputs[1] = call;
        return 0;
    case ARGP_KEY_ARG:
        if (call->count < CLI_MOST_ARGUMENTS)
            call->arguments[call->count] = value;
        call->count++;
        return 0;
    case ARGP_KEY_END:
        check_count(call, state);
        return 0;
    default:
        i = option_index(call->command, key);
        if (i >= CLI_MOST_OPTIONS)
            return ARGP_ERR_UNKNOWN;
        call->given[i] = value ? value : "";
        return 0;
    }
}

const char *cli_option(const cli_call *call, int key) {
    const size_t i = option_index(call->command, key);
    return i < CLI_MOST_OPTIONS ? call->given[i] : NULL;
}

/* argp has --help and -? of its own. */
static error_t take_help(int key, char *value, struct argp_state *state) {
    (void)value;
    if (key != 'h')
        return ARGP_ERR_UNKNOWN;
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    return 0;
}

int cli_run(const cli_command *command, int argc, char **argv) {
    static const struct argp_option help_options[] = {{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0},
                                                      {0}};
    static const struct argp help = {.options = help_options, .parser = take_help};
    static const struct argp shared = {.options = cli_shared_options, .parser = take_shared};
    const struct argp_child children[] = {
        {&help, 0, NULL, 0}, {command->is_silent ? NULL : &shared, 0, NULL, 0}, {0}};
    cli_call call = {.command = command};
    char *name = NULL, *doc = help_doc(command);
    if (!doc || asprintf(&name, "zarrbridge %s", command->name) < 0) {
        free(doc);
        fprintf(stderr, "zarrbridge: no memory for the arguments\n");
        return CLI_FAILED;
    }
    const struct argp argp = {.options = command->options,
                              .parser = take,
                              .args_doc = command->arguments,
                              .doc = doc,
                              .children = children};
    argv[0] = name;
    const error_t code = argp_parse(&argp, argc, argv, 0, NULL, &call);
    const int status = code ? CLI_FAILED : command->run(&call);
    free(name);
    free(doc);
    return status;
}

int cli_misuse(const cli_call *call, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "zarrbridge %s: ", call->command->name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\nTry 'zarrbridge %s --help' for more information.\n", call->command->name);
    va_end(arguments);
    return CLI_FAILED;
}

int cli_fail(const zb_error *err) {
    fprintf(stderr, "zarrbridge: %s\n", err->message);
    return CLI_FAILED;
}

void cli_say(const cli_call *call, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!call->quiet)
        vfprintf(stderr, format, arguments);
    va_end(arguments);
}
