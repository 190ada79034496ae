/* selftest_rights.c - what descriptors and labels do to the tokens of each tier. */
#include "runtime/windows/selftest.h"

#include "runtime/windows/canary_words.h"

/* One attempt at one fresh object. */
struct measure {
    const char *question;
    unsigned tiers;
    bool directory;
    const char *sddl;
    const char *word;
};

#define MINE "O:$USERD:P(A;OICI;0x1f01ff;;;$USER)"
#define GIVEN "(A;OICI;0x1301bf;;;$RUN)"
#define HIDDEN "S:(ML;OICI;0x7;;;S-1-16-8192)"
#define LOW "S:(ML;OICI;0x1;;;S-1-16-4096)"

enum { TIER_WRITERS = TIER_RESTRICTED | TIER_LOW };

static const struct measure measures[] = {
    /* Rights that the caller has and the run was not given: what is granted, WRITE_RESTRICTED does not ask
     * for. */
    {"WRITE_DATA without a grant", TIER_RESTRICTED, false, MINE, CANARY_OPEN "2"},
    {"APPEND_DATA without a grant", TIER_RESTRICTED, false, MINE, CANARY_OPEN "4"},
    {"WRITE_EA without a grant", TIER_RESTRICTED, false, MINE, CANARY_OPEN "10"},
    {"DELETE_CHILD without a grant", TIER_RESTRICTED, true, MINE, CANARY_OPEN "40"},
    {"WRITE_ATTRIBUTES without a grant", TIER_RESTRICTED, false, MINE, CANARY_OPEN "100"},
    {"DELETE without a grant", TIER_RESTRICTED, false, MINE, CANARY_OPEN "10000"},
    {"WRITE_DAC without a grant", TIER_RESTRICTED, false, MINE, CANARY_OPEN "40000"},
    {"WRITE_OWNER without a grant", TIER_RESTRICTED, false, MINE, CANARY_OPEN "80000"},
    {"reading without a grant", TIER_ALL, false, MINE, CANARY_READ},
    {"creating without a grant", TIER_ALL, true, MINE, "create-in"},
    /* The same at Low, where the label is asked first. */
    {"DELETE_CHILD without a grant", TIER_LOW, true, MINE, CANARY_OPEN "40"},
    {"DELETE without a grant", TIER_LOW, false, MINE, CANARY_OPEN "10000"},
    {"WRITE_DAC without a grant", TIER_LOW, false, MINE, CANARY_OPEN "40000"},
    /* Grants. */
    {"creating with a grant", TIER_RESTRICTED | TIER_CONTAINER, true, MINE GIVEN, "create-in"},
    {"creating with a grant and no Low label", TIER_LOW, true, MINE GIVEN, "create-in"},
    {"creating with a grant and a Low label", TIER_LOW | TIER_CONTAINER, true, MINE GIVEN LOW, "create-in"},
    {"WRITE_DAC with a grant of write, by the owner", TIER_ALL, false, MINE GIVEN, CANARY_OPEN "40000"},
    {"WRITE_DAC of a file that it made itself", TIER_RESTRICTED | TIER_CONTAINER, true, MINE GIVEN,
     "own-dac"},
    {"WRITE_DAC of a file that it made itself", TIER_LOW, true, MINE GIVEN LOW, "own-dac"},
    /* Who else counts. */
    {"reading by an entry for Everyone", TIER_CONTAINER, false, MINE "(A;;0x1f01ff;;;S-1-1-0)", CANARY_READ},
    {"writing by an entry for Everyone", TIER_ALL, false, MINE "(A;;0x1f01ff;;;S-1-1-0)", CANARY_OPEN "2"},
    {"writing by an entry for the logon session", TIER_ALL, false, MINE "(A;;0x1f01ff;;;$LOGON)",
     CANARY_OPEN "2"},
    {"reading by an entry for all packages", TIER_CONTAINER, false, MINE "(A;;0x1200a9;;;S-1-15-2-1)",
     CANARY_READ},
    {"reading by the grant alone, the user not named", TIER_CONTAINER, false,
     "O:$USERD:P(A;;0x1301bf;;;$RUN)(A;;0x1f01ff;;;S-1-5-18)", CANARY_READ},
    {"writing what only Authenticated Users may", TIER_CONTAINER, false,
     "O:$USERD:P(A;;0x1301bf;;;$RUN)(A;;0x1301bf;;;S-1-5-11)", CANARY_OPEN "2"},
    {"reading an object without a DACL", TIER_CONTAINER, false, "O:$USERD:NO_ACCESS_CONTROL", CANARY_READ},
    /* Denies. */
    {"reading what is denied to the run", TIER_ALL, false,
     "O:$USERD:P(D;;0x1f01ff;;;$RUN)(A;;0x1f01ff;;;$USER)", CANARY_READ},
    {"writing what is denied to the run", TIER_ALL, false,
     "O:$USERD:P(D;;0xd0156;;;$RUN)(A;;0x1f01ff;;;$USER)(A;;0x1301bf;;;$RUN)", CANARY_OPEN "2"},
    {"DELETE of what is pinned", TIER_ALL, false,
     "O:$USERD:P(D;;0x10000;;;$RUN)(A;;0x1f01ff;;;$USER)(A;;0x1301bf;;;$RUN)", CANARY_OPEN "10000"},
    {"executing what is denied for that", TIER_CONTAINER, false,
     "O:$USERD:P(D;;0x20;;;$RUN)(A;;0x1f01ff;;;$USER)(A;;0x1301bf;;;$RUN)", CANARY_OPEN "20"},
    /* Labels. */
    {"listing a directory labelled Medium, no read up", TIER_LOW | TIER_CONTAINER, true, MINE GIVEN HIDDEN,
     CANARY_OPEN "1"},
    {"reading a file labelled Medium, no read up", TIER_LOW | TIER_CONTAINER, false, MINE GIVEN HIDDEN,
     CANARY_READ},
    {"reading attributes of a file labelled Medium, no read up", TIER_LOW, false, MINE GIVEN HIDDEN,
     CANARY_OPEN "80"},
};

static void measure_run(struct selftest *selftest, const struct measure *measure, enum windows_tier tier)
{
    const struct selftest_tier *made = &selftest->tiers[tier];
    if (made->why_not != NULL) {
        selftest_say(selftest, NOT_AVAILABLE, tier, measure->question, "%s", made->why_not);
        return;
    }
    const char *path = selftest_object(selftest, tier, NULL, measure->directory ? NULL : "x", measure->sddl);
    if (path == NULL) {
        selftest_say(selftest, NOT_AVAILABLE, tier, measure->question, "the object cannot be made so");
        return;
    }
    long error = selftest_try(selftest, tier, measure->word, path);
    if (error == TRY_IMPOSSIBLE)
        selftest_say(selftest, REFUSED, tier, measure->question, "the process did not start or said nothing");
    else if (error == 0)
        selftest_say(selftest, MEASURED, tier, measure->question, "allowed");
    else
        selftest_say(selftest, MEASURED, tier, measure->question, "refused, error %ld", error);
}

/* A file without an entry for the run in a directory in which the caller may delete whatever it holds. */
static void measure_delete_through(struct selftest *selftest, enum windows_tier tier)
{
    static const char question[] = "deleting a file through its directory";
    const char *directory = selftest_object(selftest, tier, NULL, NULL, MINE);
    const char *file = directory != NULL ? selftest_object(selftest, tier, directory, "x", MINE) : NULL;
    long error = file != NULL ? selftest_try(selftest, tier, "delete", file) : TRY_IMPOSSIBLE;
    if (error == TRY_IMPOSSIBLE)
        selftest_say(selftest, REFUSED, tier, question, "the process did not start or said nothing");
    else
        selftest_say(selftest, MEASURED, tier, question, "error %ld (0: it is gone)", error);
}

/* What a file gets that is made in a labelled directory: by the command, and by the caller. */
static void measure_label(struct selftest *selftest, enum windows_tier tier, bool by_caller)
{
    const char *question = by_caller ? "label of a file that the caller makes in a Low directory"
                                     : "label of a file that the command makes in a Low directory";
    const char *directory = selftest_object(selftest, tier, NULL, NULL, MINE GIVEN LOW), *file = NULL;
    struct acl_object *object;
    struct windows_descriptor descriptor;
    if (directory != NULL && by_caller)
        file = selftest_object(selftest, tier, directory, "x", NULL);
    else if (directory != NULL && selftest_try(selftest, tier, "create-in", directory) == 0)
        file = arena_join(selftest->arena, directory, "\\new");
    if (file == NULL || selftest->acl->open(selftest->acl, selftest->arena, file, 0, &object) != ACL_OK) {
        selftest_say(selftest, REFUSED, tier, question, "the file could not be made");
        return;
    }
    bool read = selftest->acl->read(selftest->acl, selftest->arena, object, &descriptor) == ACL_OK;
    selftest->acl->close(selftest->acl, object);
    selftest_say(selftest, read ? MEASURED : REFUSED, tier, question, "%s",
                 !read                 ? "its descriptor cannot be read"
                 : descriptor.labelled ? windows_sid_text(selftest->arena, &descriptor.label.sid)
                                       : "none");
}

/* Whether an entry for the package hides in a directory that itself is closed: nobody asks the way. */
static void measure_traverse(struct selftest *selftest, enum windows_tier tier)
{
    static const char question[] = "reading an open file in a closed directory";
    const char *sddl = tier == WINDOWS_APPCONTAINER ? MINE : MINE HIDDEN;
    const char *directory = selftest_object(selftest, tier, NULL, NULL, sddl);
    const char *file =
        directory != NULL ? selftest_object(selftest, tier, directory, "x", MINE GIVEN LOW) : NULL;
    long error = file != NULL ? selftest_try(selftest, tier, CANARY_READ, file) : TRY_IMPOSSIBLE;
    if (error == TRY_IMPOSSIBLE)
        selftest_say(selftest, REFUSED, tier, question, "the process did not start or said nothing");
    else
        selftest_say(selftest, MEASURED, tier, question, "error %ld (0: it was read)", error);
}

void selftest_rights(struct selftest *selftest)
{
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        for (int tier = 0; tier < WINDOWS_TIERS; tier++)
            if ((measures[i].tiers >> tier & 1) != 0)
                measure_run(selftest, &measures[i], (enum windows_tier)tier);
    for (int tier = 0; tier < WINDOWS_TIERS; tier++) {
        if (selftest->tiers[tier].why_not != NULL)
            continue;
        measure_delete_through(selftest, (enum windows_tier)tier);
        if (tier == WINDOWS_RESTRICTED)
            continue;
        measure_traverse(selftest, (enum windows_tier)tier);
        measure_label(selftest, (enum windows_tier)tier, false);
        measure_label(selftest, (enum windows_tier)tier, true);
    }
}
