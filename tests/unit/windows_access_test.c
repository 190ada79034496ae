/* Each rule of the access check by what it allows and denies, in both readings. */
#include "emitters/windows_access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define ME "S-1-5-21-1-1-1-1001"
#define RUN "S-1-5-21-7-7-7-7"
#define LOGON "S-1-5-5-0-9"
#define PACKAGE "S-1-15-2-9-9-9"
#define CAPABILITY "S-1-15-3-1"

/* ---- tokens ---- */

struct holding {
    const char *sid;
    enum windows_holding how;
};

static const struct holding mine[] = {{ME, WINDOWS_ENABLED},
                                      {"S-1-1-0", WINDOWS_ENABLED},
                                      {"S-1-5-32-545", WINDOWS_ENABLED},
                                      {"S-1-5-32-544", WINDOWS_DENY_ONLY},
                                      {"S-1-5-11", WINDOWS_UNCERTAIN}};
static const struct holding stranger[] = {{"S-1-5-21-1-1-1-2", WINDOWS_ENABLED}, {ME, WINDOWS_DENY_ONLY}};
/* How a SID is held does not matter in a restricting list. */
static const struct holding listed[] = {
    {RUN, WINDOWS_DENY_ONLY}, {LOGON, WINDOWS_UNCERTAIN}, {"S-1-1-0", WINDOWS_DENY_ONLY}};
static const struct holding listed_me[] = {{RUN, WINDOWS_ENABLED}, {ME, WINDOWS_ENABLED}};
static const struct holding packaged[] = {{PACKAGE, WINDOWS_ENABLED},
                                          {CAPABILITY, WINDOWS_ENABLED},
                                          {"S-1-15-2-1", WINDOWS_ENABLED},
                                          {"S-1-1-0", WINDOWS_UNCERTAIN}};

enum whose { PLAIN, STRANGER, LOW, HIGH, RESTRICTED, RESTRICTED_ME, WRITE_RESTRICTED, CONTAINED, WHOSE };

#define LIST(table)                                                                                          \
    {                                                                                                        \
        table, COUNT(table)                                                                                  \
    }

static const struct {
    struct held {
        const struct holding *items;
        size_t count;
    } holders, restricting, package;
    bool write_restricted;
    uint32_t integrity;
} token_forms[WHOSE] = {
    [PLAIN] = {.holders = LIST(mine), .integrity = WINDOWS_LEVEL_MEDIUM},
    [STRANGER] = {.holders = LIST(stranger), .integrity = WINDOWS_LEVEL_MEDIUM},
    [LOW] = {.holders = LIST(mine), .integrity = WINDOWS_LEVEL_LOW},
    [HIGH] = {.holders = LIST(mine), .integrity = WINDOWS_LEVEL_HIGH},
    [RESTRICTED] = {.holders = LIST(mine), .restricting = LIST(listed), .integrity = WINDOWS_LEVEL_MEDIUM},
    [RESTRICTED_ME] = {.holders = LIST(mine),
                       .restricting = LIST(listed_me),
                       .integrity = WINDOWS_LEVEL_MEDIUM},
    [WRITE_RESTRICTED] = {.holders = LIST(mine),
                          .restricting = LIST(listed),
                          .write_restricted = true,
                          .integrity = WINDOWS_LEVEL_MEDIUM},
    [CONTAINED] = {.holders = LIST(mine), .package = LIST(packaged), .integrity = WINDOWS_LEVEL_LOW},
};

static struct windows_holders holders_of(struct arena *arena, struct held held)
{
    struct windows_holder *items = arena_array(arena, held.count, sizeof *items);
    for (size_t i = 0; i < held.count; i++) {
        assert_true(windows_sid_parse(held.items[i].sid, &items[i].sid));
        items[i].holding = held.items[i].how;
    }
    return (struct windows_holders){items, (uint32_t)held.count};
}

static struct windows_token token_of(struct arena *arena, enum whose whose)
{
    return (struct windows_token){
        .holders = holders_of(arena, token_forms[whose].holders),
        .restricting = holders_of(arena, token_forms[whose].restricting),
        .package = holders_of(arena, token_forms[whose].package),
        .write_restricted = token_forms[whose].write_restricted,
        .integrity = token_forms[whose].integrity,
    };
}

/* ---- rules ---- */

static const struct rule_case {
    const char *rule;
    enum whose token;
    const char *object;
    uint32_t strict, loose;
} cases[] = {
    /* The DACL. */
    {"rights of several entries add up", PLAIN, "D:(A;;0x1;;;" ME ")(A;;0x2;;;BU)(A;;0x4;;;SY)", 0x3, 0x3},
    {"a deny that comes first wins", PLAIN, "D:(D;;0x3;;;BU)(A;;0x7;;;" ME ")", 0x4, 0x4},
    {"an allow that comes first wins", PLAIN, "D:(A;;0x6;;;" ME ")(D;;0x3;;;BU)(A;;0x1;;;BU)", 0x6, 0x6},
    {"entries that are only inherited do not count", PLAIN,
     "D:(D;OIIO;0x1;;;BU)(A;CIIO;0x2;;;BU)(A;;0x1;;;BU)", 0x1, 0x1},
    {"inherited entries count", PLAIN, "D:(A;OICIID;0x1;;;BU)", 0x1, 0x1},
    {"no DACL opens everything", PLAIN, "D:NO_ACCESS_CONTROL", 0x1f01ff, 0x1f01ff},
    {"an empty DACL opens nothing", PLAIN, "D:", 0, 0},
    {"generic rights are those of files", PLAIN, "D:(D;;0x20000000;;;BU)(A;;0x80000000;;;BU)", 0x9, 0x9},
    {"generic writing", PLAIN, "D:(A;;0x40000000;;;BU)", 0x120116, 0x120116},
    {"generic all", PLAIN, "D:(A;;0x10000000;;;BU)", 0x1f01ff, 0x1f01ff},
    {"a deny-only SID allows nothing", PLAIN, "D:(A;;0x3;;;BA)(A;;0x1;;;BU)", 0x1, 0x1},
    {"a deny-only SID denies", PLAIN, "D:(D;;0x1;;;BA)(A;;0x3;;;BU)", 0x2, 0x2},
    {"a SID that may be held allows in the loose reading", PLAIN, "D:(A;;0x3;;;AU)", 0, 0x3},
    {"a SID that may be held denies in the strict reading", PLAIN, "D:(D;;0x1;;;AU)(A;;0x3;;;BU)", 0x2, 0x3},
    {"a conditional allow allows in the loose reading", PLAIN,
     "D:(X;090018000300000001010000000000010000000061727478)", 0, 0x3},
    {"a conditional deny denies in the strict reading", PLAIN,
     "D:(X;0a0018000100000001010000000000010000000061727478)(A;;0x3;;;BU)", 0x2, 0x3},
    {"a deny for a kind of object likewise", PLAIN, "D:(X;06001000010000000000000000000000)(A;;0x3;;;BU)",
     0x2, 0x3},
    {"audit in a DACL decides nothing", PLAIN,
     "D:(X;020014000100000001010000000000010000000"
     "0)(A;;0x3;;;BU)",
     0x3, 0x3},
    /* The owner. */
    {"the owner may read and change the DACL", PLAIN, "O:" ME "D:(D;;0x60000;;;" ME ")(A;;0x1;;;BU)", 0x60001,
     0x60001},
    {"another is no owner", PLAIN, "O:SYD:(A;;0x1;;;BU)", 0x1, 0x1},
    {"who holds the owner for denies alone is none", STRANGER, "O:" ME "D:", 0, 0},
    {"listed owner rights replace those of the owner", PLAIN, "O:" ME "D:(A;;0x2;;;OW)", 0x2, 0x2},
    {"owner rights can be denied", PLAIN, "O:" ME "D:(D;;0x1;;;OW)(A;;0x3;;;BU)", 0x2, 0x2},
    {"owner rights are not for others", PLAIN, "O:SYD:(A;;0x2;;;OW)(A;;0x1;;;BU)", 0x1, 0x1},
    {"who holds the owner for denies alone is denied its rights", STRANGER,
     "O:" ME "D:(D;;0x1;;;OW)(A;;0x3;;;S-1-5-21-1-1-1-2)", 0x2, 0x2},
    {"whether owner rights that are only inherited count is not known", PLAIN, "O:" ME "D:(A;CIIO;0x2;;;OW)",
     0, 0x60000},
    /* The label. */
    {"what has no label is not written from below", LOW, "O:" ME "D:(A;;0x1f01ff;;;BU)", 0x1200a9, 0x1200a9},
    {"nor without a DACL", LOW, "D:NO_ACCESS_CONTROL", 0x1200a9, 0x1200a9},
    {"a low label is written from low", LOW, "D:(A;;0x1f01ff;;;BU)S:(ML;;0x1;;;LW)", 0x1f01ff, 0x1f01ff},
    {"a label with all three closes", LOW, "D:(A;;0x1f01ff;;;BU)S:(ML;;0x7;;;ME)", 0, 0},
    {"no-read-up leaves executing", LOW, "D:(A;;0x1f01ff;;;BU)S:(ML;;0x3;;;ME)", 0x1200a0, 0x1200a0},
    {"no-execute-up leaves reading", LOW, "D:(A;;0x1f01ff;;;BU)S:(ML;;0x5;;;ME)", 0x120089, 0x120089},
    {"a label without no-write-up leaves writing and not deleting", LOW,
     "D:(A;;0x1f01ff;;;BU)S:(ML;;0x2;;;ME)", 0x1201b6, 0x1201b6},
    {"a label below leaves everything", HIGH, "D:(A;;0x1f01ff;;;BU)S:(ML;;0x7;;;ME)", 0x1f01ff, 0x1f01ff},
    {"a label above Medium", PLAIN, "D:(A;;0x1f01ff;;;BU)S:(ML;;0x1;;;HI)", 0x1200a9, 0x1200a9},
    {"a label that is only inherited does not count", LOW, "D:(A;;0x1f01ff;;;BU)S:(ML;OICIIO;0x7;;;ME)",
     0x1200a9, 0x1200a9},
    {"a label of no level closes in the strict reading", PLAIN, "D:(A;;0x1;;;BU)S:(ML;;0x1;;;BU)", 0, 0x1},
    /* Restricting SIDs. */
    {"both looks must allow", RESTRICTED, "D:(A;;0x3;;;BU)(A;;0x6;;;" RUN ")", 0x2, 0x2},
    {"the list alone allows nothing", RESTRICTED, "D:(A;;0x3;;;" RUN ")", 0, 0},
    {"each SID of the list counts however it is held", RESTRICTED,
     "D:(A;;0x1;;;" LOGON ")(A;;0x2;;;WD)(A;;0x7;;;" ME ")", 0x3, 0x3},
    {"a deny for the list bites", RESTRICTED, "D:(D;;0x1;;;" RUN ")(A;;0x3;;;WD)", 0x2, 0x2},
    {"a deny for the user bites", RESTRICTED, "D:(D;;0x1;;;" ME ")(A;;0x3;;;WD)", 0x2, 0x2},
    {"the owner's own rights need the owner in the list", RESTRICTED, "O:" ME "D:(A;;0x1;;;WD)", 0x1, 0x1},
    {"and have it then", RESTRICTED_ME, "O:" ME "D:", 0x60000, 0x60000},
    {"write-restricted: reading does not need the list, and deleting perhaps", WRITE_RESTRICTED,
     "D:(A;;0x1f01ff;;;" ME ")", 0x1200a9, 0x1f00e9},
    {"write-restricted: writing needs the list", WRITE_RESTRICTED, "D:(A;;0x16;;;" ME ")(A;;0x4;;;" RUN ")",
     0x4, 0x4},
    {"write-restricted: a deny for the list leaves reading", WRITE_RESTRICTED,
     "D:(D;;0x1f01ff;;;" RUN ")(A;;0x1f01ff;;;WD)", 0x1200a9, 0x1f00e9},
    {"no DACL opens to the list too", RESTRICTED, "D:NO_ACCESS_CONTROL", 0x1f01ff, 0x1f01ff},
    /* AppContainers. */
    {"the user's rights are not the package's", CONTAINED, "O:" ME "D:(A;;0x1f01ff;;;" ME ")", 0, 0},
    {"the package's rights are not the user's", CONTAINED, "D:(A;;0x3;;;" PACKAGE ")", 0, 0},
    {"both must allow", CONTAINED, "D:(A;;0x5;;;" PACKAGE ")(A;;0x3;;;" ME ")", 0x1, 0x1},
    {"a deny for the package bites", CONTAINED,
     "D:(D;;0x1;;;" PACKAGE ")(A;;0x9;;;" ME ")(A;;0x9;;;S-1-15-2-1)", 0x8, 0x8},
    {"a capability opens", CONTAINED, "D:(A;;0x1;;;" CAPABILITY ")(A;;0x3;;;" ME ")", 0x1, 0x1},
    {"ALL APPLICATION PACKAGES opens", CONTAINED, "D:(A;;0x1200a9;;;S-1-15-2-1)(A;;0x1200a9;;;BU)", 0x1200a9,
     0x1200a9},
    {"Everyone may open to packages", CONTAINED, "D:(A;;0x1200a9;;;WD)", 0, 0x1200a9},
    {"having no DACL may open to packages", CONTAINED, "D:NO_ACCESS_CONTROL", 0, 0x1f01ff},
    {"the default label does not bind where the package is named", CONTAINED,
     "D:(A;;0x1301bf;;;" PACKAGE ")(A;;0x1f01ff;;;" ME ")", 0x1301bf, 0x1301bf},
    {"the default label binds others in the strict reading", CONTAINED,
     "D:(A;;0x1301bf;;;S-1-15-2-1)(A;;0x1f01ff;;;" ME ")", 0x1200a9, 0x1301bf},
    {"naming the package for what is below is not naming it", CONTAINED,
     "D:(A;OICIIO;0x1;;;" PACKAGE ")(A;;0x3;;;S-1-15-2-1)(A;;0x3;;;" ME ")", 0x1, 0x3},
    {"a deny for the package does not name it", CONTAINED,
     "D:(D;;0x4;;;" PACKAGE ")(A;;0x3;;;S-1-15-2-1)(A;;0x3;;;" ME ")", 0x1, 0x3},
    {"a label of its own binds the package", CONTAINED,
     "D:(A;;0x1301bf;;;" PACKAGE ")(A;;0x1f01ff;;;" ME ")S:(ML;;0x1;;;ME)", 0x1200a9, 0x1200a9},
};

static void each_rule_of_the_access_check_holds(void **state)
{
    struct arena *arena = arena_create(0);
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct windows_token token = token_of(arena, cases[i].token);
        struct windows_descriptor object;
        if (!windows_descriptor_read(arena, cases[i].object, &object))
            fail_msg("%s: %s is no descriptor", cases[i].rule, cases[i].object);
        uint32_t strict = windows_access(&token, &object, WINDOWS_STRICT);
        uint32_t loose = windows_access(&token, &object, WINDOWS_LOOSE);
        if (strict != cases[i].strict || loose != cases[i].loose) {
            print_error("%s: %#x and %#x, not %#x and %#x\n", cases[i].rule, strict, loose, cases[i].strict,
                        cases[i].loose);
            wrong++;
        }
    }
    arena_destroy(arena);
    assert_int_equal(wrong, 0);
}

/* What is certainly allowed is never certainly denied. */
static void the_strict_reading_allows_no_more_than_the_loose_one(void **state)
{
    enum { ROUNDS = 100000, ENTRIES = 4 };
    static const char *const sids[] = {ME,           "S-1-1-0",  "S-1-5-32-544", "S-1-5-11",
                                       RUN,          PACKAGE,    LOGON,          "S-1-3-4",
                                       "S-1-15-2-1", CAPABILITY, "S-1-5-18",     "S-1-5-32-545"};
    static const uint8_t types[] = {0, 1, 0, 1, 9, 10};
    struct arena *arena = arena_create(0);
    struct windows_sid parsed[COUNT(sids)];
    struct windows_token tokens[WHOSE];
    uint64_t random = 88172645463325252;
    (void)state;
    for (size_t i = 0; i < COUNT(sids); i++)
        assert_true(windows_sid_parse(sids[i], &parsed[i]));
    for (int i = 0; i < WHOSE; i++)
        tokens[i] = token_of(arena, (enum whose)i);
    for (int round = 0; round < ROUNDS; round++) {
        struct windows_entry entries[ENTRIES];
        struct windows_descriptor object = {
            .dacl_present = round % 50 != 0, .entries = entries, .count = ENTRIES};
        for (int i = 0; i < ENTRIES; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            entries[i] = (struct windows_entry){
                .type = types[random % COUNT(types)],
                .flags = (random >> 8 & 7) == 0 ? WINDOWS_INHERIT_ONLY : 0,
                .mask = (uint32_t)(random >> 16),
                .sid = parsed[(random >> 48) % COUNT(sids)],
            };
        }
        object.owner = parsed[random % 3];
        object.labelled = (random >> 4 & 3) == 0;
        object.label = (struct windows_entry){
            .type = WINDOWS_ENTRY_LABEL,
            .mask = (uint32_t)(random >> 6 & 7),
            .sid = {12, {1, 1, 0, 0, 0, 0, 0, 16, 0, (uint8_t)((random >> 9 & 3) << 4), 0, 0}}};
        for (int i = 0; i < WHOSE; i++)
            assert_int_equal(windows_access(&tokens[i], &object, WINDOWS_STRICT) &
                                 ~windows_access(&tokens[i], &object, WINDOWS_LOOSE),
                             0);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_of_the_access_check_holds),
        cmocka_unit_test(the_strict_reading_allows_no_more_than_the_loose_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
