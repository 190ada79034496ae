#include "emitters/windows_fixture.h"

#include "base/vector.h"

#include <string.h>

#define USER "S-1-5-21-1004336348-1177238915-682003330-1001"
#define RUN "S-1-5-21-2882400001-305419896-2596069104-19088743"
#define LOGON "S-1-5-5-0-191717"
#define PACKAGE "S-1-15-2-1430448594-2639229838-973813799-439329657-1197984847-4069167804-1277922394"
#define INSTALLER "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

#define EVERYONE "S-1-1-0"
#define LOGGED_ON "S-1-5-11"
#define USERS "S-1-5-32-545"
#define ADMINISTRATORS "S-1-5-32-544"
#define ALL_PACKAGES "S-1-15-2-1"
#define ALL_RESTRICTED_PACKAGES "S-1-15-2-2"

/* --- the machine ---------------------------------------------------------------------------------------- */

/* Changed by their installer alone, read and executed by users and by every AppContainer. */
#define OF_THE_SYSTEM                                                                                        \
    "O:" INSTALLER "G:" INSTALLER "D:PAI(A;OICIIO;0x10000000;;;CO)(A;OICIIO;0x10000000;;;SY)"                \
    "(A;;0x1301bf;;;SY)(A;OICIIO;0x10000000;;;BA)(A;;0x1301bf;;;BA)(A;OICIIO;0xa0000000;;;BU)"               \
    "(A;;0x1200a9;;;BU)(A;CIIO;0x10000000;;;" INSTALLER ")(A;;0x1f01ff;;;" INSTALLER ")"                     \
    "(A;;0x1200a9;;;AC)(A;OICIIO;0xa0000000;;;AC)(A;;0x1200a9;;;" ALL_RESTRICTED_PACKAGES ")"                \
    "(A;OICIIO;0xa0000000;;;" ALL_RESTRICTED_PACKAGES ")"
/* As any program writes what is low by default. */
#define LOW "D:AIS:(ML;OICI;0x1;;;LW)"
#define PLAIN "D:AI"

static const struct {
    const char *path, *descriptor;
} places[] = {
    {"C:\\", "O:SYG:SYD:PAI(A;;0x4;;;AU)(A;OICIIO;0xe0010000;;;AU)(A;OICI;0x1f01ff;;;SY)"
             "(A;OICI;0x1f01ff;;;BA)(A;OICI;0x1200a9;;;BU)"},
    {"C:\\Windows", OF_THE_SYSTEM},
    {"C:\\Windows\\System32", OF_THE_SYSTEM},
    {"C:\\Program Files", OF_THE_SYSTEM},
    {"C:\\Program Files (x86)", OF_THE_SYSTEM},
    {"C:\\ProgramData", "O:SYG:SYD:PAI(A;OICIIO;0x10000000;;;CO)(A;OICI;0x1f01ff;;;SY)(A;OICI;0x1f01ff;;;BA)"
                        "(A;CI;0x116;;;BU)(A;OICI;0x1200a9;;;BU)"},
    {"C:\\Users", "O:SYG:SYD:PAI(A;OICI;0x1f01ff;;;SY)(A;OICI;0x1f01ff;;;BA)(A;;0x1200a9;;;BU)"
                  "(A;OICIIO;0xa0000000;;;BU)(A;;0x1200a9;;;WD)(A;OICIIO;0xa0000000;;;WD)"},
    {"C:\\Users\\me",
     "O:SYG:SYD:PAI(A;OICI;0x1f01ff;;;SY)(A;OICI;0x1f01ff;;;BA)(A;OICI;0x1f01ff;;;" USER ")"},
    {"C:\\Users\\Public", PLAIN},
    {"C:\\Users\\me\\AppData", PLAIN},
    {"C:\\Users\\me\\AppData\\Local", PLAIN},
    {"C:\\Users\\me\\AppData\\Local\\Temp", PLAIN},
    {"C:\\Users\\me\\AppData\\Local\\Temp\\Low", LOW},
    {"C:\\Users\\me\\AppData\\LocalLow", LOW},
    {"C:\\Users\\me\\AppData\\Roaming", PLAIN},
    {"D:\\", "O:BAG:SYD:PAI(A;OICI;0x1f01ff;;;BA)(A;OICI;0x1f01ff;;;SY)(A;OICIIO;0x10000000;;;CO)"
             "(A;OICI;0x1301bf;;;AU)(A;OICI;0x1200a9;;;BU)(A;;0x1200a9;;;WD)"},
    {"D:\\share", "O:BAG:SYD:PAI(A;OICI;0x1f01ff;;;WD)"},
    {"$HOME\\AppData", PLAIN},
    {"$HOME\\AppData\\Local", PLAIN},
    {"$HOME\\AppData\\Local\\Temp", PLAIN},
    {"$HOME\\AppData\\Local\\Temp\\Low", LOW},
    {"$HOME\\AppData\\LocalLow", LOW},
    {"$HOME\\AppData\\Roaming", PLAIN},
};

static struct windows_sid sid_of(const char *text)
{
    struct windows_sid sid = {0};
    (void)windows_sid_parse(text, &sid);
    return sid;
}

static const struct windows_descriptor *copy_of(const struct windows_tree *tree, const char *path)
{
    struct windows_descriptor *copy = arena_alloc(tree->arena, sizeof *copy);
    *copy = windows_tree_find(tree, path)->descriptor;
    return copy;
}

struct windows_tree *windows_fixture(struct arena *arena)
{
    struct windows_tree *tree = arena_alloc(arena, sizeof *tree);
    *tree = (struct windows_tree){.arena = arena, .user = sid_of(USER), .installer = sid_of(INSTALLER)};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct windows_descriptor descriptor = {0};
        (void)windows_descriptor_read(arena, places[i].descriptor, &descriptor);
        struct windows_node *node = windows_tree_put(tree, places[i].path, true, &descriptor);
        if (strcmp(places[i].path, "C:\\Users\\me") == 0)
            tree->profile = node;
    }
    /* Of an account by another name, and on another drive, a user has no less. */
    tree->profiles = windows_tree_find(tree, "C:\\Users");
    tree->new_profile = copy_of(tree, "C:\\Users\\me");
    tree->new_drive = copy_of(tree, "D:\\");
    return tree;
}

/* --- the tokens ----------------------------------------------------------------------------------------- */

struct windows_sid windows_fixture_sid(enum windows_principal principal)
{
    return sid_of(principal == WINDOWS_RUN ? RUN : PACKAGE);
}

struct holder_list {
    struct windows_holder *items;
    uint32_t count, capacity;
};

static void hold(struct arena *arena, struct holder_list *list, const char *sid, enum windows_holding how)
{
    VECTOR_PUSH(arena, list, (struct windows_holder){.sid = sid_of(sid), .holding = how});
}

static struct windows_holders done(const struct holder_list *list)
{
    return (struct windows_holders){list->items, list->count};
}

static struct windows_holders package_of(struct arena *arena, unsigned capabilities)
{
    static const char *const names[] = {"S-1-15-3-1", "S-1-15-3-2", "S-1-15-3-3"};
    struct holder_list list = {0};
    hold(arena, &list, PACKAGE, WINDOWS_ENABLED);
    hold(arena, &list, ALL_PACKAGES, WINDOWS_ENABLED);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if ((capabilities >> i & 1) != 0)
            hold(arena, &list, names[i], WINDOWS_ENABLED);
    /* Whether what is open to these is open to packages is not known. */
    hold(arena, &list, ALL_RESTRICTED_PACKAGES, WINDOWS_UNCERTAIN);
    hold(arena, &list, EVERYONE, WINDOWS_UNCERTAIN);
    return done(&list);
}

struct windows_token windows_fixture_token(struct arena *arena, enum windows_tier tier, unsigned capabilities)
{
    static const char *const groups[] = {USER, EVERYONE, USERS, LOGGED_ON, "S-1-5-4", "S-1-2-0", LOGON};
    struct holder_list holders = {0}, restricting = {0};
    struct windows_token token = {.integrity = WINDOWS_LEVEL_LOW};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        hold(arena, &holders, groups[i], WINDOWS_ENABLED);
    hold(arena, &holders, ADMINISTRATORS, WINDOWS_DENY_ONLY);
    token.holders = done(&holders);
    if (tier == WINDOWS_APPCONTAINER) {
        token.package = package_of(arena, capabilities);
        return token;
    }
    hold(arena, &restricting, RUN, WINDOWS_ENABLED);
    hold(arena, &restricting, LOGON, WINDOWS_ENABLED);
    token.restricting = done(&restricting);
    token.write_restricted = true;
    if (tier == WINDOWS_RESTRICTED)
        token.integrity = WINDOWS_LEVEL_MEDIUM;
    return token;
}
