/* enforce_tool.c - asks one measure of the launcher at a time, for enforce_suite.py: prints what it has to say, and
 * "held" or "refused". */
#include "runtime/windows/package.h"
#include "runtime/windows/token.h"
#include "runtime/windows/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

struct question {
    struct arena *arena;
    struct note_list notes;
    struct windows_identity identity;
    struct windows_spec spec;
};

static bool ask_system(struct question *question)
{
    return verify_system(&question->notes);
}

static bool ask_token(struct question *question)
{
    void *token;
    if (!token_make(question->arena, &question->spec, &question->identity, &token, &question->notes))
        return false;
    bool held = token_verify(question->arena, &question->spec, &question->identity, token, &question->notes);
    CloseHandle(token);
    return held;
}

/* This process was started under no token of a sandbox. */
static bool ask_process(struct question *question)
{
    return token_verify_process(question->arena, &question->spec, &question->identity, GetCurrentProcess(),
                                &question->notes);
}

static bool ask_package(struct question *question)
{
    const char *name = package_name(question->arena, &question->notes);
    if (name == NULL || package_remove("explorer") || package_remove("sbx.0123") || !package_remove(name)) {
        puts("a package was removed that sbx did not make, or one that is not there could not be");
        return false;
    }
    return package_create(&question->identity, name, &question->notes) && package_remove(name);
}

static const struct {
    const char *word;
    bool (*ask)(struct question *question);
} questions[] = {
    {"system", ask_system}, {"token", ask_token}, {"process", ask_process}, {"package", ask_package}};

int main(int count, char **words)
{
    struct arena *arena = arena_create(0);
    if (arena == NULL || count != 3)
        return EXIT_FAILURE;
    struct question question = {.arena = arena, .notes = note_list_in(arena)};
    for (int tier = 0; tier < WINDOWS_TIERS; tier++)
        if (strcmp(words[2], windows_tier_names[tier]) == 0)
            question.spec.tier = (enum windows_tier)tier;
    bool held = identity_make(&question.identity, &question.notes);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (held && strcmp(words[1], questions[i].word) == 0)
            held = questions[i].ask(&question);
    for (uint32_t i = 0; i < question.notes.count; i++)
        puts(question.notes.items[i].text);
    printf("run %s\n%s\n", windows_sid_text(arena, &question.identity.run), held ? "held" : "refused");
    arena_destroy(arena);
    return EXIT_SUCCESS;
}
