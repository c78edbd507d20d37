/* SPDX-License-Identifier: MIT */
/* What the table of subcommands says, as texts of several forms. */
#ifndef ZB_CLI_HELP_H
#define ZB_CLI_HELP_H

#include <stdio.h>

#include "cli.h"

/* The description, examples and exit statuses in argp's form; malloc'ed, NULL without memory. */
char *help_doc(const cli_command *command);

/* What `zarrbridge --help` says of the program, likewise. */
char *help_program_doc(void);

/* A page of section 1 in roff; of the program as a whole where command is NULL. */
void man_print(const cli_command *command);

/* docs/program.md */
void markdown_print(void);

/* A script for bash, zsh or fish. False for another shell. */
bool completion_print(const char *shell);

/* Pieces of all forms. */
#define HELP_PROGRAM "look after Zarr stores: list, describe, check, mend and copy them"
#define HELP_NAMES                                                                                 \
    "A STORE is a directory, a zip archive or a URL, and NODE, GROUP and ARRAY are paths in it. "  \
    "A "                                                                                           \
    "name may end in that of a document, as x.zarr/zarr.json does."
#define HELP_FINE "all is well"
#define HELP_FAILED "an error, which standard error tells, or a mistake in the arguments"
#define HELP_JSON                                                                                  \
    "With --json standard output is one JSON document. Its keys stay as they are from version to " \
    "version; new ones may come. A failure gives the member error, with code and message, in "     \
    "place of the summary, besides the line on standard error, which alone tells mistakes in the " \
    "arguments."

/* Calls fn for each option that a command shows: its own, the shared ones, --help. */
typedef void (*help_option_fn)(const struct argp_option *option, void *context);
void help_options_each(const cli_command *command, help_option_fn fn, void *context);

/* "-d, --depth=LEVELS" */
char *help_option_name(const struct argp_option *option);

/* True of "auto|always|never", a value or argument of which there are few. */
bool help_is_choice(const char *argument);

#endif
