/* SPDX-License-Identifier: MIT */
/* docs/program.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

enum { WIDTH = 120 };

/* Prints words in lines of at most WIDTH characters. The first line begins with `lead`, the others
   with as many blanks as `indent`. Empty lines between paragraphs stay. */
static void print_filled(const char *lead, int indent, const char *text) {
    int at = printf("%s", lead);
    while (*text) {
        const size_t length = strcspn(text, " \n");
        if (at + (int)length > WIDTH) {
            printf("\n%*s", indent, "");
            at = indent;
        }
        at += printf("%.*s", (int)length, text);
        text += length;
        if (*text == '\n') {
            printf("\n\n%*s", indent, "");
            at = indent;
        } else if (*text == ' ' && at + 1 + (int)strcspn(text + 1, " \n") <= WIDTH) {
            at += printf(" ");
        } else if (*text == ' ') {
            printf("\n%*s", indent, "");
            at = indent;
        }
        text += strspn(text, " \n");
    }
    putchar('\n');
}

static void print_item(const char *code, const char *meaning) {
    char *lead;
    if (asprintf(&lead, "- `%s`: ", code) < 0)
        return;
    print_filled(lead, 2, meaning);
    free(lead);
}

static void print_option(const struct argp_option *option, void *unused) {
    char *name = help_option_name(option);
    (void)unused;
    print_item(name ? name : option->name, option->doc);
    free(name);
}

static void print_own_options(const cli_command *command) {
    if (command->options)
        putchar('\n');
    for (const struct argp_option *o = command->options; o && o->name; o++)
        print_option(o, NULL);
}

static void print_examples(const cli_command *command) {
    if (command->examples)
        puts("\n```sh");
    for (const cli_example *e = command->examples; e && e->line; e++)
        printf("%s# %s\n%s\n", e == command->examples ? "" : "\n", e->meaning, e->line);
    if (command->examples)
        puts("```");
}

static void print_command(const cli_command *command) {
    printf("\n## %s\n\n", command->name);
    printf("    zarrbridge %s [OPTION...] %s\n\n", command->name, command->arguments);
    printf("%c%s.\n\n", command->summary[0] - 'a' + 'A', command->summary + 1);
    print_filled("", 0, command->description);
    print_own_options(command);
    print_examples(command);
    if (command->found) {
        putchar('\n');
        print_filled("Exit status 1: ", 0, command->found);
    }
    if (command->keys)
        puts("\nThe document of `--json`:\n");
    for (const cli_example *k = command->keys; k && k->line; k++)
        print_item(k->line, k->meaning);
}

/* The name of a heading in links is the heading. */
static void print_list(void) {
    puts("| command | it can |\n| --- | --- |");
    for (const cli_command *const *c = cli_commands; *c; c++)
        printf("| [`%s`](#%s) | %s |\n", (*c)->name, (*c)->name, (*c)->summary);
}

void markdown_print(void) {
    puts("<!-- Made by `zarrbridge help --markdown`; a test compares. -->\n"
         "# The program zarrbridge\n");
    print_filled("", 0,
                 "`zarrbridge` can " HELP_PROGRAM
                 ". The same texts are its `--help` and its man pages.");
    putchar('\n');
    print_list();
    putchar('\n');
    print_filled("", 0, HELP_NAMES);
    puts("\nAll commands but `help` and `completion` have these options:\n");
    for (const struct argp_option *o = cli_shared_options; o->name; o++)
        print_option(o, NULL);
    puts("\nExit statuses:\n");
    print_item("0", HELP_FINE);
    print_item("1", "something was found; the command's own text says what");
    print_item("2", HELP_FAILED);
    putchar('\n');
    print_filled("", 0, HELP_JSON);
    puts("\nCompletion for bash, zsh and fish is installed where those look for it. Without an "
         "installation:\n\n"
         "```sh\n"
         "source <(zarrbridge completion bash)\n"
         "```");
    for (const cli_command *const *c = cli_commands; *c; c++)
        print_command(*c);
}
