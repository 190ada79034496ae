#include "compiler/options.h"

#include "base/diagnostic.h"
#include "base/escape.h"
#include "base/vector.h"
#include "compiler/commands/command.h"

#include <stddef.h>
#include <string.h>

enum {
    COMPILE = 1,
    SHOW = 2,
    WHY = 4,
    HELP = 8,
    VERIFY = 16,
    EVERY = 31,
    READING = COMPILE | SHOW | WHY | VERIFY
};

const struct command commands[] = {
    {"compile", "FILE", "write what a target needs, by default FILE's stem + .bin", COMPILE, 1, 1, false,
     command_compile},
    {"show", "FILE [-- COMMAND ...]", "the effective policy, by source and level", SHOW, 1, 1, true,
     command_show},
    {"why", "FILE OP ARG | FILE --batch", "may it, and because of which rules", WHY, 1, 3, false,
     command_why},
    {"verify", "ARTIFACT FILE", "does the artifact mean what FILE means", VERIFY, 2, 2, false,
     command_verify},
    {"help", "[CODE]", "what a code such as SBX104 means; alone: all codes", HELP, 0, 1, false, command_help},
    {NULL, NULL, NULL, 0, 0, 0, false, NULL},
};

#define MEMBER(name) offsetof(struct options, name)

const struct option option_table[] = {
    {"target", 't', OPTION_TEXT, "TARGET", "bin seatbelt bwrap bwrap-sh seccomp windows json",
     "what to make or to read; by default what the file's suffix says", COMPILE | VERIFY, MEMBER(target)},
    {"output", 'o', OPTION_TEXT, "OUT", NULL, "where to write it; - is standard output", COMPILE,
     MEMBER(output)},
    {"arch", 0, OPTION_TEXT, "ARCH", "x86_64 aarch64", "processor of the seccomp target", COMPILE | VERIFY,
     MEMBER(architecture)},
    {"check", 0, OPTION_FLAG, NULL, NULL, "write nothing; exit 1 if OUT is not what would be written",
     COMPILE, MEMBER(check)},
    {"batch", 0, OPTION_FLAG, NULL, NULL, "read OP<TAB>ARG lines, write one JSON object a line", WHY,
     MEMBER(batch)},
    {"managed", 0, OPTION_LIST, "FILE", NULL, "a managed layer, .sbx or .bin; repeatable", READING,
     MEMBER(managed)},
    {"root", 0, OPTION_LIST, "NAME=PATH", NULL, "what $NAME is: WORK, HOME, TMP, ...; repeatable", READING,
     MEMBER(roots)},
    {"env", 0, OPTION_LIST, "NAME=VALUE", NULL, "a variable of the caller; repeatable", READING,
     MEMBER(environment)},
    {"os", 0, OPTION_TEXT, "SYSTEM", "linux macos windows",
     "the system that is meant; by default this machine's", READING, MEMBER(system)},
    {"command", 0, OPTION_TEXT, "NAME", NULL, "whose `when command` rules hold", READING,
     MEMBER(command_name)},
    {"pure", 0, OPTION_FLAG, NULL, NULL, "look at nothing of this machine", READING, MEMBER(pure)},
    {"json", 0, OPTION_FLAG, NULL, NULL, "print JSON: answers, and messages one a line", READING,
     MEMBER(json)},
    {"dump", 0, OPTION_TEXT, "STAGE", "syntax policy bound", "print a stage of compiling and stop",
     COMPILE | SHOW | WHY, MEMBER(dump)},
    {"color", 0, OPTION_TEXT, "WHEN", "auto always never", "colors in messages", EVERY, MEMBER(color)},
    {"quiet", 'q', OPTION_FLAG, NULL, NULL, "no notes and warnings", EVERY, MEMBER(quiet)},
    {"verbose", 'v', OPTION_FLAG, NULL, NULL, "say more", EVERY, MEMBER(verbose)},
    {"completions", 0, OPTION_TEXT, "SHELL", "bash zsh fish", "print a completion script", HELP,
     MEMBER(completions)},
    {"manual", 0, OPTION_FLAG, NULL, NULL, "print the sections of the manual page", HELP, MEMBER(manual)},
    {"help", 'h', OPTION_FLAG, NULL, NULL, "print how a command is called", EVERY, MEMBER(help)},
    {"version", 0, OPTION_FLAG, NULL, NULL, "print the version", EVERY, MEMBER(version)},
    {NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0},
};

/* --- reading -------------------------------------------------------------------------------------------- */

struct call {
    struct arena *arena;
    char **words;
    int count, next;
    struct options *options;
};

static const struct command *command_named(const char *name)
{
    for (const struct command *command = commands; command->name != NULL; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

/* The option called by `length` bytes of `name`, or by one letter; NULL if there is none. */
static const struct option *option_named(const char *name, size_t length)
{
    for (const struct option *option = option_table; option->name != NULL; option++)
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return option;
    return NULL;
}

static const struct option *option_lettered(char letter)
{
    for (const struct option *option = option_table; option->name != NULL; option++)
        if (letter != 0 && option->letter == letter)
            return option;
    return NULL;
}

static const char *unknown_option(struct arena *arena, const char *word)
{
    const char *names[sizeof option_table / sizeof *option_table] = {0};
    for (uint32_t i = 0; option_table[i].name != NULL; i++)
        names[i] = option_table[i].name;
    const char *nearest =
        word[1] == '-' ? nearest_word(arena_copy(arena, word + 2, strcspn(word + 2, "=")), names) : NULL;
    const char *shown = escape_string(arena, word);
    if (nearest == NULL)
        return arena_format(arena, "there is no option %s; see `sbxc --help`", shown);
    return arena_format(arena, "there is no option %s; did you mean --%s?", shown, nearest);
}

static const char *check_value(struct arena *arena, const struct option *option, const char *value)
{
    if (option->values == NULL)
        return NULL;
    size_t length = strlen(value);
    for (const char *at = option->values; *at != '\0'; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == length && memcmp(at, value, length) == 0)
            return NULL;
        at += word;
    }
    return arena_format(arena, "--%s takes one of: %s", option->name, option->values);
}

/* Sets an option; `value` is what stood behind it in the same word, or NULL. */
static const char *set_option(struct call *call, const struct option *option, const char *value)
{
    char *member = (char *)call->options + option->member;
    if (option->kind == OPTION_FLAG) {
        if (value != NULL)
            return arena_format(call->arena, "--%s takes no value", option->name);
        *(bool *)(void *)member = true;
        return NULL;
    }
    if (value == NULL && call->next == call->count)
        return arena_format(call->arena, "--%s needs %s", option->name, option->argument);
    if (value == NULL)
        value = call->words[call->next++];
    if (option->kind == OPTION_TEXT) {
        *(const char **)(void *)member = value;
    } else {
        struct text_list *list = (void *)member;
        VECTOR_PUSH(call->arena, list, value);
    }
    return check_value(call->arena, option, value);
}

static const char *read_long(struct call *call, const char *word)
{
    size_t length = strcspn(word + 2, "=");
    const struct option *option = option_named(word + 2, length);
    if (option == NULL)
        return unknown_option(call->arena, word);
    return set_option(call, option, word[2 + length] == '=' ? word + 3 + length : NULL);
}

static const char *read_short(struct call *call, const char *word)
{
    for (const char *at = word + 1; *at != '\0'; at++) {
        const struct option *option = option_lettered(*at);
        if (option == NULL)
            return unknown_option(call->arena, word);
        const char *value = option->kind != OPTION_FLAG && at[1] != '\0' ? at + 1 : NULL;
        const char *problem = set_option(call, option, value);
        if (problem != NULL || value != NULL)
            return problem;
    }
    return NULL;
}

static const char *check_command(struct arena *arena, const struct options *options)
{
    const struct command *command = options->command;
    const struct options nothing = {0};
    for (const struct option *option = option_table; option->name != NULL; option++) {
        size_t size = option->kind == OPTION_FLAG   ? sizeof(bool)
                      : option->kind == OPTION_TEXT ? sizeof(const char *)
                                                    : sizeof(struct text_list);
        bool set = memcmp((const char *)options + option->member, (const char *)&nothing + option->member,
                          size) != 0;
        if (set && (option->commands & command->bit) == 0)
            return arena_format(arena, "`sbxc %s` has no option --%s", command->name, option->name);
    }
    if (options->trailing.count > 0 && !command->trailing)
        return arena_format(arena, "`sbxc %s` takes no command behind --", command->name);
    if (options->arguments.count < command->least || options->arguments.count > command->most)
        return arena_format(arena, "call it as: sbxc %s %s", command->name, command->arguments);
    return NULL;
}

/* What to say of a first word that is no command while others follow: no file has that form. NULL if it
 * may be one. */
static const char *unknown_command(struct arena *arena, const struct options *options)
{
    const char *names[sizeof commands / sizeof *commands] = {0};
    const char *word = options->arguments.items[0];
    if (options->arguments.count < 2 || strpbrk(word, "./") != NULL)
        return NULL;
    for (uint32_t i = 0; commands[i].name != NULL; i++)
        names[i] = commands[i].name;
    const char *nearest = nearest_word(word, names), *shown = escape_string(arena, word);
    if (nearest == NULL)
        return arena_format(arena, "there is no command %s; see `sbxc --help`", shown);
    return arena_format(arena, "there is no command %s; did you mean %s?", shown, nearest);
}

const char *options_read(struct arena *arena, int argc, char **argv, struct options *options)
{
    struct call call = {arena, argv, argc, 1, options};
    const char *problem = NULL;
    while (problem == NULL && call.next < argc) {
        const char *word = argv[call.next++];
        if (strcmp(word, "--") == 0) {
            while (call.next < argc)
                VECTOR_PUSH(arena, &options->trailing, argv[call.next++]);
        } else if (word[0] == '-' && word[1] == '-') {
            problem = read_long(&call, word);
        } else if (word[0] == '-' && word[1] != '\0') {
            problem = read_short(&call, word);
        } else if (options->command == NULL && options->arguments.count == 0 && command_named(word) != NULL) {
            options->command = command_named(word);
        } else {
            VECTOR_PUSH(arena, &options->arguments, word);
        }
    }
    if (problem != NULL || options->help || options->version)
        return problem;
    if (options->command == NULL && options->arguments.count == 0)
        return "which file? See `sbxc --help`";
    if (options->command == NULL) {
        problem = unknown_command(arena, options);
        options->command = &commands[0];
    }
    return problem != NULL ? problem : check_command(arena, options);
}
