/* SPDX-License-Identifier: MIT */
/* `help` and `completion`: what the table says, in several forms. */
#include <stdio.h>

#include "commands.h"
#include "help.h"
#include "report.h"

enum { KEY_MAN = 256, KEY_MARKDOWN, KEY_NAMES };

static void print_names(void) {
    for (const cli_command *const *c = cli_commands; *c; c++)
        puts((*c)->name);
}

static int help(const cli_call *call) {
    const char *name = call->count ? call->arguments[0] : NULL;
    const cli_command *command = name ? cli_find(name) : NULL;
    report doc = report_begin(call, NULL);
    if (name && !command)
        return cli_misuse(call, "there is no command '%s'", name);
    if (cli_option(call, KEY_MAN))
        man_print(command);
    else if (cli_option(call, KEY_MARKDOWN))
        markdown_print();
    else if (cli_option(call, KEY_NAMES))
        print_names();
    else if (command)
        return cli_main(3, (char *[]){"zarrbridge", (char *)name, "--help", NULL});
    else
        return cli_main(2, (char *[]){"zarrbridge", "--help", NULL});
    return report_end(&doc, NULL, CLI_FINE);
}

static int completion(const cli_call *call) {
    report doc = report_begin(call, NULL);
    if (!completion_print(call->arguments[0]))
        return cli_misuse(call, "there is no completion for '%s', but for bash, zsh and fish",
                          call->arguments[0]);
    return report_end(&doc, NULL, CLI_FINE);
}

const cli_command command_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .most = 1,
    .summary = "tell about the program or one of its commands",
    .description = "Without an option it shows what --help shows.",
    .options =
        (const struct argp_option[]){
            {"man", KEY_MAN, NULL, 0, "Print the man page instead, in roff", 0},
            {"markdown", KEY_MARKDOWN, NULL, 0, "Print the page of all commands in Markdown", 0},
            {"names", KEY_NAMES, NULL, 0, "Print the names of all commands", 0},
            {0}},
    .examples = (const cli_example[]){{"zarrbridge help copy", "as zarrbridge copy --help"},
                                      {"zarrbridge help --man copy | man -l -",
                                       "the man page where it is not installed"},
                                      {0}},
    .is_silent = true,
    .run = help,
};

const cli_command command_completion = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .least = 1,
    .most = 1,
    .summary = "print a script that completes command lines in a shell",
    .description = "Commands, options and their values are completed. cmake --install puts the "
                   "scripts where the shells look for them.",
    .examples =
        (const cli_example[]){{"source <(zarrbridge completion bash)", "in this shell"}, {0}},
    .is_silent = true,
    .run = completion,
};
