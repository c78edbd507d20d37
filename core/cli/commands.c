/* SPDX-License-Identifier: MIT */
/* The table of subcommands. */
#include "commands.h"

#include <string.h>

const cli_command *const cli_commands[] = {
    &command_ls,
    &command_tree,
    &command_info,
    &command_verify,
    &command_repair,
    &command_compact,
    &command_consolidate,
    &command_copy,
    &command_index,
    &command_pyramid,
    &command_plan,
    &command_doctor,
    &command_door,
    &command_netcdf,
    &command_help,
    &command_completion,
    NULL,
};

const cli_command *cli_find(const char *name) {
    for (const cli_command *const *c = cli_commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0)
            return *c;
    }
    return NULL;
}
