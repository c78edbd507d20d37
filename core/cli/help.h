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
void man_print(FILE *out, const cli_command *command);

/* docs/program.md */
void markdown_print(FILE *out);

/* Shared pieces of all forms. */
#define HELP_PROGRAM "look after Zarr stores: list, describe, check, mend, copy"
#define HELP_FINE "all is well"
#define HELP_FAILED "an error, which standard error tells, or a mistake in the arguments"

/* Calls fn for each option that a command shows: its own, the shared ones, --help. */
typedef void (*help_option_fn)(FILE *out, const struct argp_option *option);
void help_options_each(const cli_command *command, FILE *out, help_option_fn fn);

#endif
