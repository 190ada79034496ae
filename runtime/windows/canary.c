/* canary.c - the launcher's side: see canary.h. */
#include "runtime/windows/canary.h"

#include "runtime/windows/apply_place.h"
#include "runtime/windows/canary_words.h"
#include "runtime/windows/verify.h"

#include "base/escape.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MOST = 24 * 1024 }; /* Windows takes a command line of 32,767 characters */

struct attempt {
    const char *word, *path;
    bool must_fail;
    const char *what; /* for a person */
};

struct trial_plan {
    const struct canary *canary;
    struct note_list *notes;
    const char *top;
    struct {
        struct attempt *items;
        uint32_t count, capacity;
    } attempts;
    size_t length; /* of all words */
};

static bool canary_fail(struct note_list *notes, const char *what, const char *why)
{
    note_add(notes, (struct note){
                        .code = SBX486_CANARY,
                        .text = arena_format(notes->arena, "%s: %s", what, why),
                    });
    return false;
}

static bool attempt_add(struct trial_plan *plan, const char *word, const char *path, bool must_fail,
                        const char *what)
{
    plan->length += strlen(word) + strlen(path) + 8;
    if (plan->length > WORDS_MOST)
        return false;
    VECTOR_PUSH(plan->canary->arena, &plan->attempts, (struct attempt){word, path, must_fail, what});
    return true;
}

static const char *below(const struct trial_plan *plan, const char *name)
{
    return arena_format(plan->canary->arena, "%s\\%s", plan->top, name);
}

/* --- what is made for the trial
 * --------------------------------------------------------------------------- */

static bool fresh_make(const struct trial_plan *plan, const char *path, const char *content,
                       const struct windows_ace *ace, const struct windows_label *label)
{
    const struct canary *canary = plan->canary;
    const char *problem = "something is there already";
    struct acl_object *object;
    if (journal_placeholder(canary->journal, path, content, NULL, &object, &problem) != ACL_OK)
        return canary_fail(plan->notes, "what the canary needs cannot be made", problem);
    struct windows_entry entry, mark;
    struct journal_change change = {.entries = &entry};
    if (ace != NULL) {
        entry = identity_entry(canary->identity, ace, content == NULL);
        change.count = 1;
    }
    if (label != NULL) {
        mark = identity_label(label, content == NULL);
        change.label = &mark;
    }
    problem = ace != NULL || label != NULL ? journal_apply(canary->journal, object, &change) : NULL;
    canary->acl->close(canary->acl, object);
    return problem == NULL || canary_fail(plan->notes, "what the canary needs cannot be changed", problem);
}

static bool ground_make(struct trial_plan *plan)
{
    const struct canary *canary = plan->canary;
    bool low = canary->spec->tier == WINDOWS_RESTRICTED_LOW;
    bool container = canary->spec->tier == WINDOWS_APPCONTAINER;
    enum windows_principal whom = container ? WINDOWS_PACKAGE : WINDOWS_RUN;
    struct windows_ace allow = {.inherit = true, .principal = whom, .mask = WINDOWS_ALLOW_WRITE};
    struct windows_ace deny = {.deny = true, .inherit = true, .principal = whom, .mask = WINDOWS_DENY_ALL};
    struct windows_label open = {true, WINDOWS_LOW, WINDOWS_NO_WRITE_UP};
    struct windows_label hidden = {true, WINDOWS_MEDIUM,
                                   WINDOWS_NO_WRITE_UP | WINDOWS_NO_READ_UP | WINDOWS_NO_EXECUTE_UP};
    return fresh_make(plan, plan->top, NULL, NULL, NULL) &&
           fresh_make(plan, below(plan, "closed"), NULL, NULL, NULL) &&
           fresh_make(plan, below(plan, "secret"), "secret\n", NULL, low ? &hidden : NULL) &&
           fresh_make(plan, below(plan, "open"), NULL, &allow, low ? &open : NULL) &&
           fresh_make(plan, below(plan, "open\\denied"), NULL, &deny, low ? &hidden : NULL);
}

/* What the canary could make is removed here; the rest is taken back with the journal, should this fail. */
static void ground_remove(const struct trial_plan *plan)
{
    static const struct {
        const char *name, *content;
    } made[] = {
        {"closed\\new", "."}, {"open\\denied\\new", "."}, {"open\\new", "."}, {"open\\denied", NULL},
        {"open", NULL},       {"secret", "secret\n"},     {"closed", NULL},   {NULL, NULL},
    };
    const struct acl_operations *acl = plan->canary->acl;
    struct arena *arena = plan->canary->arena;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const char *path = made[i].name != NULL ? below(plan, made[i].name) : plan->top;
        struct acl_object *object;
        if (acl->open(acl, arena, path, ACL_REMOVE, &object) != ACL_OK)
            continue;
        (void)acl->remove(acl, arena, object, made[i].content);
        acl->close(acl, object);
    }
}

/* --- what is tried
 * ------------------------------------------------------------------------------------------ */

static void attempts_fresh(struct trial_plan *plan)
{
    attempt_add(plan, CANARY_CREATE, below(plan, "closed\\new"), true, "a directory that nothing opens");
    if (plan->canary->spec->tier != WINDOWS_RESTRICTED)
        attempt_add(plan, CANARY_READ, below(plan, "secret"), true, "a file that nothing opens");
    attempt_add(plan, CANARY_CREATE, below(plan, "open\\new"), false, "a directory that is opened");
    attempt_add(plan, CANARY_CREATE, below(plan, "open\\denied\\new"), true,
                "a denied directory in one that is opened");
    /* Whoever may change a list may open what it closes, and the user owns all of it. */
    if (plan->canary->spec->tier != WINDOWS_RESTRICTED)
        attempt_add(plan, CANARY_OPEN "40000", below(plan, "open\\denied"), true,
                    "the access control list of a denied directory");
}

/* Whether what is at `path` may be looked for at all: a place that was left out is missing. */
static bool is_there(const struct trial_plan *plan, const char *path)
{
    const struct acl_operations *acl = plan->canary->acl;
    struct acl_object *object;
    if (acl->open(acl, plan->canary->arena, path, 0, &object) != ACL_OK)
        return false;
    acl->close(acl, object);
    return true;
}

static bool attempts_at(struct trial_plan *plan, const struct windows_object *object)
{
    enum windows_tier tier = plan->canary->spec->tier;
    uint32_t denies = place_denies(object);
    const struct {
        bool tried;
        const char *word;
    } attempts[] = {
        {denies == WINDOWS_DENY_ALL || denies == WINDOWS_DENY_WRITE, CANARY_OPEN "2"},
        {denies == WINDOWS_DENY_ALL && tier != WINDOWS_RESTRICTED, CANARY_OPEN "1"},
        {denies != 0 && denies != WINDOWS_DENY_EXECUTE && tier != WINDOWS_RESTRICTED, CANARY_OPEN "40000"},
        {place_is_pinned(object) && tier == WINDOWS_APPCONTAINER, CANARY_OPEN "10000"},
    };
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        if (attempts[i].tried && !attempt_add(plan, attempts[i].word, object->path, true, object->rule))
            return false;
    return true;
}

/* Places of the policy, as many as the command line holds: opened for one right and closed again, nothing
 * more. */
static void attempts_real(struct trial_plan *plan)
{
    const struct windows_spec *spec = plan->canary->spec;
    for (uint32_t i = 0; i < spec->object_count; i++)
        if (is_there(plan, spec->objects[i].path) && !attempts_at(plan, &spec->objects[i]))
            return;
}

/* --- what came of it
 * ---------------------------------------------------------------------------------------- */

/* The number in line `number` of the answer, and moves *at behind the line; -1 if it is another line. */
static long answer_next(const char **at, uint32_t number)
{
    char *end;
    unsigned long line = strtoul(*at, &end, 10);
    if (end == *at || line != number || *end != ' ')
        return -1;
    const char *digits = end + 1;
    unsigned long error = strtoul(digits, &end, 10);
    if (end == digits || (*end != '\n' && *end != '\r'))
        return -1;
    *at = end + strspn(end, "\r\n");
    return (long)error;
}

static bool attempt_judge(const struct trial_plan *plan, const struct attempt *attempt, long error)
{
    const char *path = escape_windows(plan->notes->arena, attempt->path);
    if (attempt->must_fail && error != ACL_DENIED)
        return verify_refuse(plan->notes,
                             "that %s is closed to the command (%s): a trial of it ended with error %ld",
                             path, attempt->what, error);
    if (!attempt->must_fail && error != ACL_OK)
        return verify_refuse(plan->notes,
                             "that %s is open to the command (%s): a trial of it ended with error %ld", path,
                             attempt->what, error);
    return true;
}

static bool answers_judge(const struct trial_plan *plan, const char *at)
{
    for (uint32_t i = 0; i < plan->attempts.count; i++) {
        long error = answer_next(&at, i);
        if (error < 0)
            return canary_fail(plan->notes, "the canary did not come to its end", "its answer breaks off");
        if (!attempt_judge(plan, &plan->attempts.items[i], error))
            return false;
    }
    return strncmp(at, CANARY_END, sizeof CANARY_END - 1) == 0 ||
           canary_fail(plan->notes, "the canary did not come to its end", "its last line is missing");
}

static bool trial_run(struct trial_plan *plan)
{
    const struct canary *canary = plan->canary;
    attempts_fresh(plan);
    attempts_real(plan);
    const char **arguments = arena_array(canary->arena, plan->attempts.count * 2 + 2, sizeof *arguments);
    arguments[0] = "--canary";
    for (uint32_t i = 0; i < plan->attempts.count; i++) {
        arguments[1 + 2 * i] = plan->attempts.items[i].word;
        arguments[2 + 2 * i] = plan->attempts.items[i].path;
    }
    struct buffer answer = buffer_in(canary->arena);
    if (!canary->start(canary->context, arguments, &answer, plan->notes))
        return false;
    return answers_judge(plan, answer.bytes != NULL ? answer.bytes : "");
}

/* A name that no other run has: the run's SID is random. */
static const char *top_of(const struct canary *canary)
{
    struct buffer name = buffer_in(canary->arena);
    buffer_format(&name, "%s\\canary-", canary->directory);
    for (uint8_t i = 12; i < canary->identity->run.length; i++)
        buffer_format(&name, "%02x", canary->identity->run.bytes[i]);
    return name.bytes;
}

bool canary_run(const struct canary *canary, struct note_list *notes)
{
    struct trial_plan plan = {.canary = canary, .notes = notes, .top = top_of(canary)};
    bool held = ground_make(&plan) && trial_run(&plan);
    ground_remove(&plan);
    return held;
}
