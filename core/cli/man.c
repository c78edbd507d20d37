/* SPDX-License-Identifier: MIT */
/* Man pages, in roff. They have no date, so that a build gives the same bytes each time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "zarrbridge/limits.h"

/* A dot at the beginning of a line is a request; a bare hyphen may be broken or become another
   character. Empty lines between paragraphs become .PP. */
static void print_roff(const char *text) {
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (text[0] == '\n' && text[1] == '\n') {
            fputs("\n.PP\n", stdout);
            text++;
        } else if (*text == '\\') {
            fputs("\\e", stdout);
        } else if (*text == '-') {
            fputs("\\-", stdout);
        } else if (*text == '\'') {
            fputs("\\(aq", stdout);
        } else {
            putchar(*text);
        }
    }
}

static void print_section(const char *title) {
    printf(".SH %s\n", title);
}

static void print_item(const char *name, const char *meaning) {
    fputs(".TP\n.B ", stdout);
    print_roff(name);
    putchar('\n');
    print_roff(meaning);
    putchar('\n');
}

static void print_paragraph(const char *text) {
    fputs(".PP\n", stdout);
    print_roff(text);
    putchar('\n');
}

static void print_option(const struct argp_option *option, void *unused) {
    char *name = help_option_name(option);
    (void)unused;
    print_item(name ? name : option->name, option->doc);
    free(name);
}

static void print_example(const cli_example *example) {
    print_paragraph(example->meaning);
    fputs(".PP\n.RS 4\n.nf\n", stdout);
    print_roff(example->line);
    fputs("\n.fi\n.RE\n", stdout);
}

static void print_status(const char *found) {
    print_section("EXIT STATUS");
    print_item("0", HELP_FINE);
    if (found)
        print_item("1", found);
    print_item("2", HELP_FAILED);
}

static void print_title(const char *name, const char *summary) {
    fputs(".TH ", stdout);
    for (const char *c = name; *c; c++)
        putchar(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    printf(" 1 \"\" \"zarrbridge %s\" \"zarrbridge\"\n", zb_version());
    print_section("NAME");
    print_roff(name);
    fputs(" \\- ", stdout);
    print_roff(summary);
    putchar('\n');
    print_section("SYNOPSIS");
}

static void print_program(void) {
    zb_limit_row limit;
    print_title("zarrbridge", HELP_PROGRAM);
    puts(".B zarrbridge\nCOMMAND [OPTION...] [ARGUMENT...]");
    print_section("DESCRIPTION");
    print_paragraph(HELP_NAMES);
    print_paragraph(HELP_JSON);
    print_section("COMMANDS");
    for (const cli_command *const *c = cli_commands; *c; c++)
        print_item((*c)->name, (*c)->summary);
    print_section("OPTIONS");
    print_item("-h, --help", "Show help, and end");
    print_item("-V, --version", "Print the version");
    print_status("something was found, or a node cannot be read");
    print_section("ENVIRONMENT");
    print_item("NO_COLOR", "Set, and not empty: no colours but those of --color=always");
    for (size_t i = 0; zb_limit_describe(i, &limit); i++)
        print_item(limit.variable, limit.meaning);
    print_section("SEE ALSO");
    for (const cli_command *const *c = cli_commands; *c; c++)
        printf(".BR zarrbridge\\-%s (1)%s\n", (*c)->name, c[1] ? "," : "");
}

static void print_command(const cli_command *command) {
    char *name;
    if (asprintf(&name, "zarrbridge-%s", command->name) < 0)
        return;
    print_title(name, command->summary);
    free(name);
    printf(".B zarrbridge %s\n[OPTION...] ", command->name);
    print_roff(command->arguments);
    putchar('\n');
    print_section("DESCRIPTION");
    print_paragraph(command->description);
    print_section("OPTIONS");
    help_options_each(command, print_option, NULL);
    if (command->examples)
        print_section("EXAMPLES");
    for (const cli_example *e = command->examples; e && e->line; e++)
        print_example(e);
    if (command->keys) {
        print_section("JSON");
        print_paragraph(HELP_JSON);
    }
    for (const cli_example *k = command->keys; k && k->line; k++)
        print_item(k->line, k->meaning);
    print_status(command->found);
    print_section("SEE ALSO");
    puts(".BR zarrbridge (1)");
}

void man_print(const cli_command *command) {
    if (command)
        print_command(command);
    else
        print_program();
}
