/* SPDX-License-Identifier: MIT */
/* Completion scripts, made from the table. */
#include <stdio.h>
#include <string.h>

#include "help.h"

/* Words of "auto|always|never", between blanks. */
static void print_choices(const char *choices) {
    for (; *choices; choices++)
        putchar(*choices == '|' ? ' ' : *choices);
}

static void print_names(void) {
    for (const cli_command *const *c = cli_commands; *c; c++)
        printf("%s ", (*c)->name);
}

/* The words that an argument is one of; nothing where it is a path. */
static bool has_words(const cli_command *command) {
    return help_is_choice(command->arguments) || strcmp(command->arguments, "[COMMAND]") == 0;
}

static void print_words(const cli_command *command) {
    if (help_is_choice(command->arguments))
        print_choices(command->arguments);
    else
        print_names();
}

/* ---- bash ----------------------------------------------------------------------------------- */

static void bash_option(const struct argp_option *o, void *unused) {
    (void)unused;
    if (o->key < 256)
        printf("-%c ", o->key);
    printf("--%s%s ", o->name, o->arg ? "=" : "");
}

static void bash_value(const struct argp_option *o, void *command) {
    const char *name = ((const cli_command *)command)->name;
    if (!o->arg)
        return;
    printf("        '%s --%s'", name, o->name);
    if (o->key < 256)
        printf("|'%s -%c'", name, o->key);
    fputs(") words='", stdout);
    if (help_is_choice(o->arg))
        print_choices(o->arg);
    puts("' value=yes;;");
}

static void print_bash(void) {
    puts("# bash completion for zarrbridge, made by `zarrbridge completion bash`\n"
         "_zarrbridge() {\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local command=${COMP_WORDS[1]} words='' value=''\n"
         "    # bash takes the = of --option=value for a word\n"
         "    if [ \"$current\" = = ]; then\n"
         "        current=''\n"
         "    elif [ \"$option\" = = ]; then\n"
         "        option=${COMP_WORDS[COMP_CWORD-2]}\n"
         "    fi\n"
         "    case \"$command $option\" in");
    for (const cli_command *const *c = cli_commands; *c; c++)
        help_options_each(*c, bash_value, (void *)*c);
    fputs("    esac\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        words='",
          stdout);
    print_names();
    puts("--help --version'\n"
         "    elif [ -z \"$value\" ]; then\n"
         "        case \"$command $current\" in");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("            '%s -'*) words='", (*c)->name);
        help_options_each(*c, bash_option, NULL);
        puts("';;");
        if (has_words(*c)) {
            printf("            '%s '*) words='", (*c)->name);
            print_words(*c);
            puts("';;");
        }
    }
    puts("        esac\n"
         "    fi\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "    case ${COMPREPLY[0]} in *=) compopt -o nospace;; esac\n"
         "}\n"
         "complete -o default -F _zarrbridge zarrbridge");
}

/* ---- zsh ------------------------------------------------------------------------------------ */

/* Inside quotes, where _arguments gives brackets and colons a meaning. */
static void zsh_text(const char *text) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_option(const struct argp_option *o, void *unused) {
    (void)unused;
    fputs("            ", stdout);
    if (o->key < 256)
        printf("'(-%c --%s)'{-%c,--%s%s}", o->key, o->name, o->key, o->name, o->arg ? "=" : "");
    else
        printf("--%s%s", o->name, o->arg ? "=" : "");
    fputs("'[", stdout);
    zsh_text(o->doc);
    putchar(']');
    if (o->arg) {
        fputs(":value:", stdout);
        if (help_is_choice(o->arg)) {
            putchar('(');
            print_choices(o->arg);
            putchar(')');
        }
    }
    puts("' \\");
}

static void zsh_command(const cli_command *command) {
    printf("        %s) _arguments -s \\\n", command->name);
    help_options_each(command, zsh_option, NULL);
    if (has_words(command)) {
        fputs("            '1:word:(", stdout);
        print_words(command);
        puts(")';;");
    } else {
        puts("            '*:path:_files';;");
    }
}

static void print_zsh(void) {
    puts("#compdef zarrbridge\n"
         "# zsh completion, made by `zarrbridge completion zsh`\n"
         "_zarrbridge() {\n"
         "    local -a commands=(");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("        '%s:", (*c)->name);
        zsh_text((*c)->summary);
        puts("'");
    }
    puts("    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $command in");
    for (const cli_command *const *c = cli_commands; *c; c++)
        zsh_command(*c);
    puts("    esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _zarrbridge ]; then\n"
         "    _zarrbridge \"$@\"\n"
         "else\n"
         "    compdef _zarrbridge zarrbridge\n"
         "fi");
}

/* ---- fish ----------------------------------------------------------------------------------- */

static void fish_text(const char *text) {
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void fish_begin(const char *command) {
    printf("complete -c zarrbridge -n '__fish_seen_subcommand_from %s'", command);
}

static void fish_option(const struct argp_option *o, void *command) {
    fish_begin(((const cli_command *)command)->name);
    if (o->key < 256)
        printf(" -s %c", o->key);
    printf(" -l %s", o->name);
    if (o->arg)
        fputs(" -x", stdout);
    if (help_is_choice(o->arg)) {
        fputs(" -a '", stdout);
        print_choices(o->arg);
        putchar('\'');
    }
    fputs(" -d ", stdout);
    fish_text(o->doc);
    putchar('\n');
}

static void print_fish(void) {
    puts("# fish completion for zarrbridge, made by `zarrbridge completion fish`");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("complete -c zarrbridge -f -n __fish_use_subcommand -a %s -d ", (*c)->name);
        fish_text((*c)->summary);
        putchar('\n');
        help_options_each(*c, fish_option, (void *)*c);
        if (has_words(*c)) {
            fish_begin((*c)->name);
            fputs(" -f -a '", stdout);
            print_words(*c);
            puts("'");
        }
    }
}

bool completion_print(const char *shell) {
    static const struct {
        const char *shell;
        void (*print)(void);
    } forms[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].shell, shell) == 0)
            return forms[i].print(), true;
    }
    return false;
}
