/* SPDX-License-Identifier: MIT */
/* The rows of the table of subcommands, each defined beside its function. */
#ifndef ZB_CLI_COMMANDS_H
#define ZB_CLI_COMMANDS_H

#include "cli.h"

extern const cli_command command_ls, command_tree, command_info, command_verify, command_repair,
    command_compact, command_consolidate, command_copy, command_index, command_pyramid,
    command_plan, command_doctor, command_door, command_netcdf, command_help, command_completion;

#endif
