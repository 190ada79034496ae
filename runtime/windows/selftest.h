/* selftest.h - sbx-selftest.exe: what this machine does where documentation leaves open what Windows does.
 *
 * Everything is tried on fresh objects in a fresh directory below the caller's temporary one, by this program
 * itself, started under the token of each tier. Nothing else is touched, and what was made is removed.
 */
#pragma once

#include "base/buffer.h"
#include "runtime/windows/acl.h"
#include "runtime/windows/identity.h"
#include "runtime/windows/trial.h"

#include <windows.h>

enum { TIER_RESTRICTED = 1, TIER_LOW = 2, TIER_CONTAINER = 4, TIER_ALL = 7 };

/* One way in which a command can be started. */
struct selftest_tier {
    const char *why_not; /* NULL: it can be used */
    struct windows_spec spec;
    HANDLE token;
    SECURITY_CAPABILITIES package;
    SID_AND_ATTRIBUTES capability;
    struct process_ground ground;
};

struct selftest {
    struct arena *arena;
    struct note_list notes;
    const struct acl_operations *acl;
    struct windows_identity identity;
    const char *package;                /* the profile's name, or NULL */
    const char *top;                    /* the fresh directory */
    const wchar_t *program, *directory; /* this program where every tier can read it, and where it starts */
    const char *outside;                /* --network HOST:PORT, or NULL */
    struct selftest_tier tiers[WINDOWS_TIERS];
    struct buffer report;
    uint32_t objects; /* made so far: each has a name of its own */
};

enum { TRY_IMPOSSIBLE = -1 }; /* the process could not be started, or said nothing */

/* --- what is made (selftest_ground.c) --- */

/* The fresh directory and the tiers. False if not even the directory could be made; *why says so. */
bool selftest_begin(struct selftest *selftest, const char **why);
void selftest_end(struct selftest *selftest);

/* A fresh object in `directory` (NULL: the top one): `sddl` names whom it speaks of by $USER, $RUN (of the
 * tier) and $LOGON; a directory if `content` is NULL. NULL if it cannot be made so. */
const char *selftest_object(struct selftest *selftest, enum windows_tier tier, const char *directory,
                            const char *content, const char *sddl);

/* What came of `word` at `path` in the tier: 0, an error of Windows, or TRY_IMPOSSIBLE. */
long selftest_try(struct selftest *selftest, enum windows_tier tier, const char *word, const char *path);

/* What `program` wrote when it was started in the tier with `arguments`; NULL if it could not be. */
const char *selftest_run(struct selftest *selftest, enum windows_tier tier, const wchar_t *program,
                         const char *const *arguments);

/* Adds a line: the tier, what was asked, what came of it. */
enum selftest_result { MEASURED, REFUSED, NOT_AVAILABLE };
void selftest_say(struct selftest *selftest, enum selftest_result result, enum windows_tier tier,
                  const char *question, const char *format, ...) SBX_PRINTF(5, 6);

/* --- what is measured --- */

void selftest_rights(struct selftest *selftest);   /* selftest_rights.c: descriptors */
void selftest_programs(struct selftest *selftest); /* selftest_programs.c: programs, devices, network */

/* The other side of selftest_try. Returns its exit code. */
int selftest_child(int count, char *const *arguments);
