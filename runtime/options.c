#include "runtime/options.h"

#include "base/diagnostic.h"
#include "base/vector.h"

#include <string.h>

struct option_parse {
    struct arena *arena;
    struct options *options;
    const char *error;
};

typedef void option_take(struct option_parse *parse, const char *value);

#define FLAG(name)                                                                                           \
    static void take_##name(struct option_parse *parse, const char *value)                                   \
    {                                                                                                        \
        (void)value;                                                                                         \
        parse->options->name = true;                                                                         \
    }
FLAG(dry_run)
FLAG(probe)
FLAG(json)
FLAG(verbose)
FLAG(quiet)
FLAG(help)
FLAG(version)
#ifdef _WIN32
FLAG(recover)
FLAG(doctor)
#else
FLAG(unsandboxed)
FLAG(as_owner)
#endif
#undef FLAG

static void take_root(struct option_parse *parse, const char *value)
{
    const char *equals = strchr(value, '=');

    if (equals == NULL || equals == value || equals[1] == '\0') {
        parse->error = "--root needs NAME=PATH, such as WORK=/srv/project";
        return;
    }
    struct variable root = {.name = arena_copy(parse->arena, value, (size_t)(equals - value)),
                            .value = equals + 1};
    for (int known = ROOT_WORK; known < ROOT_ENV; known++)
        if (strcmp(root.name, root_names[known]) == 0) {
            VECTOR_PUSH(parse->arena, &parse->options->roots, root);
            return;
        }
    parse->error = arena_format(parse->arena, "--root does not know $%s", root.name);
}

static void take_managed(struct option_parse *parse, const char *value)
{
    VECTOR_PUSH(parse->arena, &parse->options->managed, value);
}

static void take_once(struct option_parse *parse, const char **slot, const char *name, const char *value)
{
    if (*slot != NULL)
        parse->error = arena_format(parse->arena, "%s is given twice", name);
    *slot = value;
}

static void take_chdir(struct option_parse *parse, const char *value)
{
    take_once(parse, &parse->options->chdir, "--chdir", value);
}

static void take_lease(struct option_parse *parse, const char *value)
{
    take_once(parse, &parse->options->lease, "--lease", value);
}

#ifndef _WIN32
static void take_engine(struct option_parse *parse, const char *value)
{
    static const char *const names[] = {"auto", "bwrap", "native", "landlock", NULL};

    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(value, names[i]) == 0) {
            parse->options->engine = (enum engine_wish)i;
            return;
        }
    parse->error = "--engine is auto, native, bwrap or landlock";
}
#endif

static const struct option {
    const char *name, *short_name, *value; /* value NULL: a flag */
    option_take *take;
    const char *text;
} table[] = {
    {"--root", NULL, "NAME=PATH", take_root, "bind $NAME to PATH; WORK also starts the command there"},
    {"--chdir", NULL, "DIR", take_chdir, "start in DIR, which must exist inside"},
    {"--managed", NULL, "DIR", take_managed, "more managed policies, besides the system's own"},
#ifdef _WIN32
    {"--lease", NULL, "FILE", take_lease, "where the record of what held is written"},
    {"--dry-run", NULL, NULL, take_dry_run, "print what would be made, step by step; run and change nothing"},
    {"--recover", NULL, NULL, take_recover, "take back what runs left whose launcher was killed"},
    {"--doctor", NULL, NULL, take_doctor, "say what runs have changed on this machine; changes nothing"},
#else
    {"--lease", NULL, "FILE|fd:N", take_lease, "where the record of what held is written"},
    {"--engine", NULL, "auto|native|bwrap|landlock", take_engine,
     "what makes the sandbox: the kernel's mount calls (native), bubblewrap, or no namespaces (landlock)"},
    {"--dry-run", NULL, NULL, take_dry_run,
     "print the plan and what the engine does, step by step; run and create nothing"},
    {"--unsandboxed", NULL, NULL, take_unsandboxed, "no sandbox at all, where the policy grants bypass"},
    {"--as-owner", NULL, NULL, take_as_owner, "as root: become the owner of the working directory first"},
#endif
    {"--probe", NULL, NULL, take_probe, "say what this machine can enforce; changes nothing"},
    {"--json", NULL, NULL, take_json, "with --probe: as JSON"},
    {"--verbose", "-v", NULL, take_verbose, "show all notes, those about presets too"},
    {"--quiet", "-q", NULL, take_quiet, "show errors only"},
    {"--help", "-h", NULL, take_help, "this text"},
    {"--version", NULL, NULL, take_version, "the version"},
};

enum { OPTIONS_KNOWN = sizeof table / sizeof table[0] };

static const struct option *option_find(const char *word, size_t length)
{
    for (size_t i = 0; i < OPTIONS_KNOWN; i++) {
        const struct option *option = &table[i];

        if (strlen(option->name) == length && memcmp(option->name, word, length) == 0)
            return option;
        if (option->short_name != NULL && strlen(option->short_name) == length &&
            memcmp(option->short_name, word, length) == 0)
            return option;
    }
    return NULL;
}

static const char *unknown_option(struct arena *arena, const char *word)
{
    const char *names[OPTIONS_KNOWN + 1] = {NULL};

    for (size_t i = 0; i < OPTIONS_KNOWN; i++)
        names[i] = table[i].name;
    const char *near = nearest_word(word, names);
    return near == NULL ? arena_format(arena, "there is no option %s", word)
                        : arena_format(arena, "there is no option %s; did you mean %s?", word, near);
}

/* Takes the option at argv[at]; returns the index after it. */
static int take_option(struct option_parse *parse, char **argv, int at)
{
    const char *word = argv[at], *equals = strchr(word, '=');
    size_t length = equals == NULL ? strlen(word) : (size_t)(equals - word);
    const struct option *option = option_find(word, length);

    if (option == NULL) {
        parse->error = unknown_option(parse->arena, word);
        return at + 1;
    }
    if (option->value == NULL) {
        if (equals != NULL)
            parse->error = arena_format(parse->arena, "%s takes no value", option->name);
        else
            option->take(parse, NULL);
        return at + 1;
    }
    if (equals != NULL) {
        option->take(parse, equals + 1);
        return at + 1;
    }
    if (argv[at + 1] == NULL || strcmp(argv[at + 1], "--") == 0) {
        parse->error = arena_format(parse->arena, "%s needs %s", option->name, option->value);
        return at + 1;
    }
    option->take(parse, argv[at + 1]);
    return at + 2;
}

/* What does something else than to start a command, or NULL. */
static const char *other_work(const struct options *options)
{
    return options->probe     ? "--probe takes no policy and no command"
           : options->recover ? "--recover takes no policy and no command"
           : options->doctor  ? "--doctor takes no policy and no command"
                              : NULL;
}

static const char *check_whole(const struct options *options)
{
    const char *alone = other_work(options);

    if (options->help || options->version)
        return NULL;
    if (alone != NULL)
        return options->policy != NULL || options->command != NULL ? alone : NULL;
    if (options->json)
        return "--json goes with --probe";
    if (options->policy == NULL)
        return "a policy is missing";
    if (options->command == NULL || options->command[0] == NULL)
        return "a command is missing: write -- COMMAND after the policy";
    return NULL;
}

const char *launch_options_parse(struct arena *arena, int argc, char **argv, struct options *options)
{
    struct option_parse parse = {.arena = arena, .options = options};
    int at = 1;

    *options = (struct options){0};
    while (parse.error == NULL && at < argc) {
        if (strcmp(argv[at], "--") == 0) {
            options->command = &argv[at + 1];
            break;
        }
        if (argv[at][0] == '-' && argv[at][1] != '\0') {
            at = take_option(&parse, argv, at);
        } else if (options->policy == NULL) {
            options->policy = argv[at++];
        } else {
            parse.error = arena_format(arena, "%s: the command comes after --", argv[at]);
        }
    }
    return parse.error != NULL ? parse.error : check_whole(options);
}

#ifdef _WIN32
static const char calls[] = "usage: sbx-launch [options] POLICY.bin|POLICY.xml -- COMMAND [ARG ...]\n"
                            "       sbx-launch --probe [--json] | --recover | --doctor\n\n";
static const char exits[] =
    "\nExit: the command's own code; 137 if its time was over; 130 after Ctrl-C; 125 refused or failed,\n"
    "      nothing ran; 126 the command cannot be executed; 127 it was not found.\n";
#else
static const char calls[] = "usage: sbx-launch [options] POLICY.bin -- COMMAND [ARG ...]\n"
                            "       sbx-launch --probe [--json]\n\n";
static const char exits[] =
    "\nExit: the command's own code; 128+N if signal N ended it; 125 refused or failed, nothing "
    "ran;\n      126 the command cannot be executed; 127 it was not found.\n";
#endif

void launch_usage(struct buffer *out)
{
    buffer_string(out, calls);
    for (size_t i = 0; i < OPTIONS_KNOWN; i++) {
        const struct option *option = &table[i];
        const char *comma = option->short_name == NULL ? "" : ", ";
        const char *second = option->short_name == NULL ? "" : option->short_name;
        const char *value = option->value == NULL ? "" : option->value;
        int width = 24 - (int)strlen(option->name) - (int)strlen(comma) - (int)strlen(second);

        buffer_format(out, "  %s%s%s %-*s %s\n", option->name, comma, second, width > 1 ? width : 1, value,
                      option->text);
    }
    buffer_string(out, exits);
}
