#include "compiler/options.h"

#include <string.h>

/* --- usage ---------------------------------------------------------------------------------------------- */

static const char *option_form(struct arena *arena, const struct option *option)
{
    const char *letter = option->letter != 0 ? arena_format(arena, "-%c, ", option->letter) : "    ";
    const char *argument = option->argument != NULL ? option->argument : "";
    return arena_format(arena, "%s--%s%s%s", letter, option->name, *argument != '\0' ? " " : "", argument);
}

static void put_options(struct buffer *out, unsigned bits)
{
    for (const struct option *option = option_table; option->name != NULL; option++)
        if ((option->commands & bits) != 0)
            buffer_format(out, "  %-28s %s\n", option_form(out->arena, option), option->help);
}

void options_usage(struct buffer *out, const struct command *command)
{
    if (command != NULL) {
        buffer_format(out, "sbxc %s %s [OPTION ...]\n%s\n\n", command->name, command->arguments,
                      command->summary);
        put_options(out, command->bit);
        return;
    }
    buffer_string(
        out, "sbxc COMMAND [OPTION ...]: what a sandbox policy means, for each system that can hold it\n\n");
    for (command = commands; command->name != NULL; command++)
        buffer_format(out, "  %-10s %-28s %s\n", command->name, command->arguments, command->summary);
    buffer_format(out, "\n`sbxc FILE` is `sbxc %s FILE`. FILE - is standard input.\n\n", commands[0].name);
    put_options(out, ~0u);
}

/* --- completions ---------------------------------------------------------------------------------------- */

static void put_bash(struct buffer *out)
{
    buffer_string(out, "_sbxc()\n{\n"
                       "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                       "    COMPREPLY=()\n"
                       "    case $before in\n");
    for (const struct option *option = option_table; option->name != NULL; option++)
        if (option->values != NULL)
            buffer_format(out, "    %s%s--%s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n",
                          option->letter != 0 ? arena_format(out->arena, "-%c", option->letter) : "",
                          option->letter != 0 ? " | " : "", option->name, option->values);
    buffer_string(out, "    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W '");
    for (const struct option *option = option_table; option->name != NULL; option++)
        buffer_format(out, "%s--%s", option == option_table ? "" : " ", option->name);
    buffer_string(out, "' -- \"$word\")); return ;;\n    esac\n"
                       "    if ((COMP_CWORD == 1)); then\n        COMPREPLY=($(compgen -W '");
    for (const struct command *command = commands; command->name != NULL; command++)
        buffer_format(out, "%s%s", command == commands ? "" : " ", command->name);
    buffer_string(out, "' -- \"$word\"))\n    fi\n"
                       "    COMPREPLY+=($(compgen -f -- \"$word\"))\n}\n"
                       "complete -o filenames -F _sbxc sbxc\n");
}

static void put_zsh(struct buffer *out)
{
    buffer_string(out, "#compdef sbxc\nlocal -a commands\ncommands=(\n");
    for (const struct command *command = commands; command->name != NULL; command++)
        buffer_format(out, "    '%s:%s'\n", command->name, command->summary);
    buffer_string(out, ")\n_arguments \\\n");
    for (const struct option *option = option_table; option->name != NULL; option++) {
        buffer_format(out, "    '%s--%s[", option->kind == OPTION_LIST ? "*" : "", option->name);
        for (const char *at = option->help; *at != '\0'; at++)
            if (*at != '\'' && *at != '[' && *at != ']')
                buffer_byte(out, *at);
        buffer_byte(out, ']');
        if (option->values != NULL)
            buffer_format(out, ":%s:(%s)", option->argument, option->values);
        else if (option->argument != NULL)
            buffer_format(out, ":%s:_files", option->argument);
        buffer_string(out, "' \\\n");
    }
    buffer_string(out, "    '1: :{_describe command commands; _files}' '*: :_files'\n");
}

static void put_fish(struct buffer *out)
{
    for (const struct command *command = commands; command->name != NULL; command++)
        buffer_format(out, "complete -c sbxc -n __fish_use_subcommand -a %s -d '%s'\n", command->name,
                      command->summary);
    for (const struct option *option = option_table; option->name != NULL; option++) {
        buffer_format(out, "complete -c sbxc -l %s", option->name);
        if (option->letter != 0)
            buffer_format(out, " -s %c", option->letter);
        if (option->values != NULL)
            buffer_format(out, " -x -a '%s'", option->values);
        else if (option->argument != NULL)
            buffer_string(out, " -r");
        buffer_string(out, " -d '");
        for (const char *at = option->help; *at != '\0'; at++)
            buffer_format(out, *at == '\'' ? "\\%c" : "%c", *at);
        buffer_string(out, "'\n");
    }
}

bool options_completions(struct buffer *out, const char *shell)
{
    static const struct {
        const char *name;
        void (*put)(struct buffer *out);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].put(out);
            return true;
        }
    }
    return false;
}

/* --- manual --------------------------------------------------------------------------------------------- */

/* Text in which no character is a request or an escape of roff. */
static void put_roff(struct buffer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '-')
            buffer_string(out, "\\-");
        else if (*text == '\\')
            buffer_string(out, "\\e");
        else
            buffer_byte(out, *text);
    }
}

void options_manual(struct buffer *out)
{
    buffer_string(out, ".SH COMMANDS\n");
    for (const struct command *command = commands; command->name != NULL; command++) {
        buffer_string(out, ".TP\n\\fBsbxc ");
        put_roff(out, command->name);
        buffer_string(out, "\\fR ");
        put_roff(out, command->arguments);
        buffer_string(out, "\n");
        put_roff(out, command->summary);
        buffer_string(out, "\n");
    }
    buffer_string(out, ".SH OPTIONS\n");
    for (const struct option *option = option_table; option->name != NULL; option++) {
        buffer_string(out, ".TP\n\\fB");
        put_roff(out, option->letter != 0
                          ? arena_format(out->arena, "-%c, --%s", option->letter, option->name)
                          : arena_format(out->arena, "--%s", option->name));
        buffer_string(out, "\\fR ");
        put_roff(out, option->argument != NULL ? option->argument : "");
        buffer_string(out, "\n");
        put_roff(out, option->help);
        buffer_string(out, "\n");
    }
}
