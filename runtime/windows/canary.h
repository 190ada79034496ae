/* canary.h - a process that tries, under the command's own token and before the command, what must fail and
 * what must succeed.
 *
 * The launcher starts itself with "--canary" as it would start the command, and reads one line for each
 * attempt from the canary's standard output. What did not end as it must is a refusal (verify_refuse); a
 * canary that says nothing is one too (SBX486).
 */
#pragma once

#include "runtime/windows/acl.h"
#include "runtime/windows/identity.h"
#include "runtime/windows/journal.h"

#include "base/buffer.h"

/* Starts this program with `arguments` (without its name; NULL-terminated) as the command would be started,
 * waits for its end and appends what it wrote to standard output. False with an error note if it could
 * not. */
typedef bool canary_start(void *context, const char *const *arguments, struct buffer *output,
                          struct note_list *notes);

struct canary {
    struct arena *arena;
    const struct windows_spec *spec; /* as apply_run has applied it */
    const struct windows_identity *identity;
    const struct acl_operations *acl;
    struct journal *journal;
    /* An existing directory outside everything granted, in which a fresh one is made and removed
     * afterwards. */
    const char *directory;
    canary_start *start;
    void *context; /* of start */
};

/* Lets the canary try: it must not create in a fresh directory, must not read a fresh file (tiers that close
 * reads), must not get at closed places of the specification, and must be able to write where a fresh
 * directory is given what a grant gives. False with an error note. */
bool canary_run(const struct canary *canary, struct note_list *notes);

/* The other side: main of "sbx-launch.exe --canary ATTEMPT PATH...". Returns its exit code. */
int canary_main(int count, char *const *arguments);
