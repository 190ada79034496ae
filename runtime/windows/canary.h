/* canary.h - a process that tries, under the command's own token and before the command, what must fail and what
 * must succeed.
 *
 * The launcher starts itself with "--canary" as it would start the command; the canary's exit code says how far it
 * came. Any code but the one that a held trial has refuses the launch (SBX486).
 */
#pragma once

#include "runtime/windows/identity.h"

struct acl_operations;
struct journal;

/* Starts this program with `arguments` (without its name; NULL-terminated) as the command would be started, waits
 * for its end and stores its exit code. False with an error note if it could not. */
typedef bool canary_start(void *context, const char *const *arguments, uint32_t *code, struct note_list *notes);

struct canary {
    struct arena *arena;
    const struct windows_spec *spec;
    const struct windows_identity *identity;
    const struct acl_operations *acl;
    struct journal *journal;
    /* An existing directory outside everything granted, in which a fresh one is made and removed afterwards. */
    const char *directory;
    canary_start *start;
    void *context; /* of start */
};

/* Lets the canary try: it must not create in a fresh directory, must not read a fresh file (tiers that close
 * reads), must not get at closed places of the specification, and must be able to write where a fresh directory
 * is given what a grant gives, and to open what the specification opens. False with an error note. */
bool canary_run(const struct canary *canary, struct note_list *notes);

/* The other side: main of "sbx-launch.exe --canary ARGUMENT...". Returns its exit code. */
int canary_main(int count, char *const *arguments);
