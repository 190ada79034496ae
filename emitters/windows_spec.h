/* windows_spec.h - the ACL/token specification of Windows in memory: what an .xml artifact says.
 *
 * windows_load reads it from XML that is valid against schema/sbx-windows.xsd; windows_spec_check holds what a
 * schema cannot say. The compiler loads what it has written before anyone sees it, the launcher loads what it
 * carries out, and `verify` what it judges: all by the same functions, none of which the emitter uses.
 *
 * Paths are UTF-8 with backslashes: "C:\a\b", or below a root that the launcher binds: "$WORK\a". Names compare
 * without case (windows_path_equal). Masks and flags are those of [MS-DTYP] 2.4.3 and 2.4.4.1.
 */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WINDOWS_MIN_BUILD = 19041
}; /* `min-build` of every specification: the oldest Windows that it is for */

/* The largest limits that a specification holds; one beyond stands for no larger one. */
#define WINDOWS_PROCESSES_MOST UINT64_C(999999999)
#define WINDOWS_AMOUNT_MOST UINT64_C(999999999999999999)

enum windows_tier { WINDOWS_RESTRICTED, WINDOWS_RESTRICTED_LOW, WINDOWS_APPCONTAINER, WINDOWS_TIERS };
extern const char
    *const windows_tier_names[WINDOWS_TIERS]; /* "restricted", "restricted-low", "appcontainer" */

/* Whom an entry speaks of. The launcher makes both anew for each run. */
enum windows_principal {
    WINDOWS_RUN,    /* "run": a random SID in the restricting list of the token (tiers restricted, -low) */
    WINDOWS_PACKAGE /* "package": the AppContainer's SID (tier appcontainer) */
};

/* The only masks that a specification may hold. None grants FILE_DELETE_CHILD, WRITE_DAC or WRITE_OWNER. */
enum {
    WINDOWS_ALLOW_READ = 0x1200a9,  /* read and execute */
    WINDOWS_ALLOW_WRITE = 0x1301bf, /* the same, write and delete */
    WINDOWS_DENY_ALL = 0x1f01ff,
    WINDOWS_DENY_WRITE = 0xd0156,  /* whatever changes an object; reading and SYNCHRONIZE stay */
    WINDOWS_DENY_DELETE = 0x10000, /* a pin: the object keeps its name; never inherited */
    WINDOWS_DENY_EXECUTE = 0x20    /* of files alone; never inherited */
};

struct windows_ace {
    bool deny, inherit; /* inherit: OI and CI; else this object alone */
    enum windows_principal principal;
    uint32_t mask;
};

enum windows_level { WINDOWS_LOW, WINDOWS_MEDIUM };
enum { WINDOWS_NO_WRITE_UP = 1, WINDOWS_NO_READ_UP = 2, WINDOWS_NO_EXECUTE_UP = 4 };

/* A mandatory label (tier restricted-low alone). Always inheritable, and written to each object that is there:
 * Windows gives an inheritable label only to what is made later. */
struct windows_label {
    bool present;
    enum windows_level level;
    uint32_t policy; /* WINDOWS_NO_... */
};

/* What `label` becomes where `around` holds: it never opens what that one keeps closed. */
struct windows_label windows_label_on(const struct windows_label *label, const struct windows_label *around);

enum windows_kind { WINDOWS_ANY, WINDOWS_DIRECTORY, WINDOWS_FILE };
enum windows_missing {
    WINDOWS_SKIP,             /* nothing is there and nothing can be put there, or nothing is granted */
    WINDOWS_CREATE_DIRECTORY, /* the launcher puts an empty placeholder there and removes it afterwards */
    WINDOWS_CREATE_FILE
};

/* What is done to one path. At most one allow and one inheriting deny; denies stand before allows. */
struct windows_object {
    const char *path;
    enum windows_kind kind; /* what it has to be; another kind refuses the launch */
    enum windows_missing missing;
    /* A deny of the policy: holds whatever lies deeper. Else what a grant says, which a deeper object may
     * raise. */
    bool cap;
    bool automatic; /* the allow comes from an `auto grant`: see `requires` */
    struct windows_ace aces[3];
    uint32_t ace_count;
    struct windows_label label;
    const char *rule; /* the statement that it comes from, for messages */
    uint32_t line;    /* of the artifact */
};

/* What is done to each path that matches when the launcher starts (pattern text of policy/pattern.h, but with
 * backslashes). A match and each directory above it in a writable area get a pin too. What windows_spec_check asks
 * of an object, the launcher asks of each match: nothing is allowed at or below a `cap`, nor at a protected root,
 * and only files are denied to be executed. */
struct windows_match {
    const char *pattern;
    const char *const *excepts; /* plain paths or patterns; what lies at or below one is left out */
    uint32_t except_count;
    struct windows_ace ace; /* mask 0: none, a label alone; WINDOWS_DENY_EXECUTE is not inherited */
    struct windows_label label;
    const char *rule;
    uint32_t line;
};

/* A condition on roots that the compiler could not know: refuse the launch unless `path` lies neither at nor
 * below `below`. */
struct windows_require {
    const char *path, *below;
    uint32_t line;
};

struct windows_variable {
    const char *name, *value; /* value: of `set` alone */
};

struct windows_names {
    const struct windows_variable *items; /* names may hold * (policy/names.h); they ignore ASCII case */
    uint32_t count;
};

/* A caller's variable passes in if a name of `keep` covers it, none of `drop` does, and one of each list of
 * `limits` does. Then `set` is added. */
struct windows_environment {
    struct windows_names keep, drop, set;
    const struct windows_names *limits;
    uint32_t limit_count;
};

enum { WINDOWS_INTERNET_CLIENT = 1, WINDOWS_INTERNET_CLIENT_SERVER = 2, WINDOWS_PRIVATE_NETWORK = 4 };

struct windows_claim {
    const char *control, *strength, *text; /* text: for a person, why it holds or what is left open */
};

struct windows_spec {
    enum windows_tier tier;
    const char *policy_name;
    uint8_t policy_hash[32];            /* policy.effective_hash */
    const struct windows_claim *claims; /* one for each control that the policy needs */
    uint32_t claim_count;
    const struct windows_claim *accepted; /* strength: NULL; text: the reason given in the policy */
    uint32_t accepted_count;
    const char *const *open; /* sentences: what this tier leaves open besides the policy's own grants */
    uint32_t open_count;
    unsigned capabilities;            /* WINDOWS_INTERNET_...; tier appcontainer alone */
    uint64_t processes, memory, time; /* limits: a count, bytes, milliseconds; 0: none */
    bool scratch;
    struct windows_environment environment;
    const struct windows_require *requires;
    uint32_t require_count;
    const struct windows_object *objects; /* sorted by path, ancestors first, each path once */
    uint32_t object_count;
    const struct windows_match *matches;
    uint32_t match_count;
};

/* Reads a specification from bytes. NULL with *error set (in `arena`; "line N: ..." where there is a line) if they
 * are no valid XML, hold a DTD, do not follow the schema, are too large (8 MiB, 200,000 elements, depth 8: see
 * windows_xml.h; what windows_size.h counts), or fail windows_spec_check. Bounded time and memory; no file and no network is touched.
 * libxml2 keeps its own tables once this was called, and its handler of errors is this function's meanwhile: do
 * not use it elsewhere in the same thread. */
const struct windows_spec *windows_load(struct arena *arena, const char *bytes, size_t length,
                                        const char **error);

/* What the schema cannot say: order and uniqueness of paths without case, path rules (windows_path_problem),
 * masks against kinds and principals against the tier, a deny repeated at each deeper allow below a `cap`,
 * nothing allowed at a protected root (windows_path_is_protected). The launcher asks again once roots are
 * bound. Returns NULL, or what is wrong (in `arena`). */
const char *windows_spec_check(struct arena *arena, const struct windows_spec *spec);

/* --- paths (windows_path.c) --- */

/* Why `path` cannot stand in a specification, or NULL: drive-absolute or below a root; no stream, no component
 * that ends in a dot or a blank, no reserved device name, no character that Windows refuses, no control
 * character; at most 32,000 bytes, valid UTF-8. */
const char *windows_path_problem(const char *path);

/* A component looks like a short 8.3 name ("PROGRA~1"): it may mean another path. */
bool windows_path_looks_short(const char *path);

/* Whether nothing may be granted at `path` itself: a drive's root, Windows, Program Files, a profile, the
 * AppData roots. */
bool windows_path_is_protected(const char *path);

/* Whether `path` lies at or below a directory that belongs to Windows itself and that it opens to every program for
 * reading: Windows and Program Files, on any drive. */
bool windows_path_is_of_system(const char *path);

bool windows_path_equal(const char *a, const char *b);
/* Whether `path` lies at or below `directory`, by whole components, without case. */
bool windows_path_covers(const char *directory, const char *path);
/* Orders by components without case: a directory directly before what lies below it. */
int windows_path_compare(const char *a, const char *b);
/* "C:/a/b" or "$WORK/a" of the model to "C:\a\b", "$WORK\a"; NULL if a name holds a backslash, which none has
 * on Windows. And back. */
const char *windows_path_from_model(struct arena *arena, const char *path);
const char *windows_path_to_model(struct arena *arena, const char *path);
