/* control_windows.c - each control in each tier of Windows: as data, and what a policy itself takes away again. */
#include "emitters/control_windows.h"

#include "emitters/control_need.h"
#include "emitters/control_words.h"
#include "emitters/windows_places.h"
#include "policy/pattern.h"

#include <string.h>

#define STRONGER "close reads too, so that an AppContainer is taken: leave out `accept fs.closed on windows`"
#define OUTSIDE "start what needs it outside"
#define OF_LINUX(otherwise) CANNOT("this is a service of Linux; Windows has none of its kind", otherwise)
#define OF_MAC                                                                                               \
    CANNOT("this is a service of macOS; Windows has none of its kind", "grant it under `when os macos`")
#define BEHIND_A_PIPE(what)                                                                                  \
    CANNOT(what " listens on a named pipe, whose own access list opens it to the user and not to a sandbox", \
           OUTSIDE)

/* What holds alike in every tier. */
#define IN_EVERY_TIER                                                                                        \
    [CONTROL_IPC_ABSTRACT] =                                                                                 \
        HELD("Windows has no abstract names; pipes and other named objects have access lists of their own"), \
    [CONTROL_TTY] =                                                                                          \
        HELD("the command has a hidden console of its own, and pipes; the caller's console it never gets"),  \
    [CONTROL_ENV] = HELD("the environment starts empty and holds only what is granted or set"),              \
    [CONTROL_SYSCALL] = HELD("Windows judges each access when an object is opened, whichever call leads "    \
                             "to it; no call is refused by its name"),                                       \
    [CONTROL_SOCKET_PATH] =                                                                                  \
        AT_LAUNCH("none is granted by path; a socket of another program is in reach only where the policy "  \
                  "lets the command write"),                                                                 \
    [CONTROL_LIMIT_PROCESSES] = HELD("a limit of the job"),                                                  \
    [CONTROL_LIMIT_MEMORY] = HELD("a limit of the job, for all its processes together"),                     \
    [CONTROL_LIMIT_TIME] = HELD("the launcher ends the job when the time is over"),                          \
    [CONTROL_LIMIT_FILES] = CANNOT("Windows has no limit for the files that a process has open",             \
                                   "leave the limit out under `when os windows`"),                           \
    [CONTROL_SCRATCH] = AT_LAUNCH("a directory of its own that TEMP, TMP and TMPDIR name; one that a "       \
                                  "killed launcher left goes at the next launch"),                           \
    [CONTROL_SERVICE_SSH_AGENT] = BEHIND_A_PIPE("the agent"),                                                \
    [CONTROL_SERVICE_GPG_AGENT] = BEHIND_A_PIPE("the agent"), [CONTROL_SERVICE_KEYCHAIN] = OF_MAC,           \
    [CONTROL_SERVICE_TRUSTD] = OF_MAC, [CONTROL_SERVICE_DOCKER] = BEHIND_A_PIPE("Docker"),                   \
    [CONTROL_SERVICE_DBUS] = OF_LINUX("grant it under `when os linux`"),                                     \
    [CONTROL_SERVICE_DISPLAY] = CANNOT("the command has a desktop of its own, which nobody sees; on the "    \
                                       "user's it could steer other programs",                               \
                                       "start programs with windows outside"),                               \
    [CONTROL_SERVICE_GPU] = CANNOT("what a driver opens differs from machine to machine", OUTSIDE),          \
    [CONTROL_SERVICE_AUDIO] =                                                                                \
        CANNOT("who reaches the audio services can listen too", "play and record outside"),                  \
    [CONTROL_SERVICE_CLIPBOARD] =                                                                            \
        CANNOT("the clipboard is open whole or not at all, and holds what others copied",                    \
               "hand files over in the working directory"),                                                  \
    [CONTROL_SERVICE_PTY] = CANNOT("whether a pseudo-console can be made inside has not been measured",      \
                                   "leave it out under `when os windows`; plain pipes always work"),         \
    [CONTROL_SERVICE_GIT_CREDENTIALS] =                                                                      \
        CANNOT("Git keeps credentials in Windows' own store, which is open whole or not at all",             \
               "fetch and push outside"),                                                                    \
    [CONTROL_SERVICE_GH] =                                                                                   \
        CANNOT("gh keeps its token in Windows' own store, which is open whole or not at all",                \
               "grant env GH_TOKEN, and give it a token of few rights")

#define READS_EVERYTHING                                                                                     \
    CANNOT("this token is restricted for writing alone, so the command reads whatever its user may read",    \
           STRONGER)
#define NO_NETWORK_RULES CANNOT("a restricted token uses the network as its user does", STRONGER)
#define DELETES                                                                                              \
    CANNOT("whoever may delete in a directory deletes what lies in it, and Windows does not count that as "  \
           "writing",                                                                                        \
           STRONGER)
#define IN_THE_USERS_PROCESSES                                                                               \
    CANNOT(                                                                                                  \
        "Windows' own services (Task Scheduler, WMI, COM) start programs for the user outside of the job",   \
        STRONGER)

static control_table restricted = {
    IN_EVERY_TIER,
    [CONTROL_FS_CLOSED] = READS_EVERYTHING,
    [CONTROL_FS_WRITE] = DELETES,
    [CONTROL_FS_DENY] = READS_EVERYTHING,
    [CONTROL_FS_DENY_PATTERN] = READS_EVERYTHING,
    [CONTROL_FS_DENY_MISSING] = DELETES,
    [CONTROL_NET_CLOSED] = NO_NETWORK_RULES,
    [CONTROL_NET_HOST] = NO_NETWORK_RULES,
    [CONTROL_NET_ADDRESS] = NO_NETWORK_RULES,
    [CONTROL_NET_LOOPBACK] = NO_NETWORK_RULES,
    [CONTROL_LISTEN] = NO_NETWORK_RULES,
    [CONTROL_IPC_SIGNAL] = CANNOT(
        "the command runs at the same level as the user's other programs, and reads their memory", STRONGER),
    [CONTROL_EXEC_DENY] = READS_EVERYTHING,
    [CONTROL_PROCESS_TREE] = IN_THE_USERS_PROCESSES,
};

static control_table restricted_low = {
    IN_EVERY_TIER,
    [CONTROL_FS_CLOSED] = READS_EVERYTHING,
    [CONTROL_FS_WRITE] =
        HELD("nothing is written that the run's own entry does not open, and nothing of higher "
             "integrity is changed or deleted"),
    [CONTROL_FS_DENY] =
        HELD("a label that low integrity cannot read or write, on each file that is there and on "
             "those that come"),
    [CONTROL_FS_DENY_PATTERN] = AT_LAUNCH("every match present at launch is labelled; later ones are not"),
    [CONTROL_FS_DENY_MISSING] = HELD("where nothing can be made nothing need be denied"),
    [CONTROL_NET_CLOSED] = NO_NETWORK_RULES,
    [CONTROL_NET_HOST] = NO_NETWORK_RULES,
    [CONTROL_NET_ADDRESS] = NO_NETWORK_RULES,
    [CONTROL_NET_LOOPBACK] = NO_NETWORK_RULES,
    [CONTROL_LISTEN] = NO_NETWORK_RULES,
    [CONTROL_IPC_SIGNAL] =
        HELD("processes of higher integrity, which the user's are, cannot be changed from below"),
    [CONTROL_EXEC_DENY] = READS_EVERYTHING,
    [CONTROL_PROCESS_TREE] =
        AT_LAUNCH("the job ends with the launcher, and the services that start programs on "
                  "request turn low integrity away; no list of those is complete"),
};

control_table control_windows = {
    IN_EVERY_TIER,
    [CONTROL_FS_CLOSED] =
        HELD("nothing is open to the run's package but what is granted, and what Windows opens to "
             "every package: its own directories and Program Files"),
    [CONTROL_FS_WRITE] = HELD("only what is granted for writing names the run's package"),
    [CONTROL_FS_DENY] =
        HELD("an entry of its own denies the package; the path and the directories above it cannot "
             "be renamed or deleted"),
    [CONTROL_FS_DENY_PATTERN] = AT_LAUNCH("every match present at launch is denied; later ones are not"),
    [CONTROL_FS_DENY_MISSING] = HELD("the launcher puts an empty placeholder there and denies it"),
    [CONTROL_NET_CLOSED] = HELD("an AppContainer reaches nothing that no capability opens"),
    [CONTROL_NET_HOST] =
        CANNOT("an AppContainer knows the internet and the local network, and no names; choosing "
               "takes a broker process as the only way out",
               "grant network internet, or deny the network whole"),
    [CONTROL_NET_ADDRESS] = HELD("a capability opens the internet, or everything"),
    [CONTROL_NET_LOOPBACK] = HELD("this machine's loopback is closed to an AppContainer"),
    [CONTROL_LISTEN] = HELD("capabilities let the internet and the local network connect"),
    [CONTROL_IPC_SIGNAL] = HELD("the access lists of other processes name no package"),
    [CONTROL_EXEC_DENY] = AT_LAUNCH("the file cannot be started; a copy that the command makes of it can"),
    [CONTROL_PROCESS_TREE] =
        HELD("the job ends with the launcher and cannot be left, and what an AppContainer asks "
             "of Windows' services runs in the AppContainer"),
};

static const struct control_entry *const tables[WINDOWS_TIERS] = {
    [WINDOWS_RESTRICTED] = restricted,
    [WINDOWS_RESTRICTED_LOW] = restricted_low,
    [WINDOWS_APPCONTAINER] = control_windows,
};

/* ---- what a policy takes away ---- */

static const struct control_entry low_deletes = CANNOT(
    "a place inside a writable directory can be deleted through that directory, whatever its own label",
    STRONGER);
static const struct control_entry no_sockets =
    CANNOT("nothing says yet which rights Windows asks for at a Unix socket's path",
           "use a port of the command's own, or start what needs the socket outside");
static const struct control_entry no_system_calls =
    CANNOT("system calls have other names and numbers on Windows, which judges what they do",
           "put the rule under `when os linux`");
static const struct control_entry no_exec_trees = CANNOT(
    "the right to start a file is the right to pass through a directory, so only single files can be denied",
    "name the files, or deny the directory whole (deny PATH)");
static const struct control_entry no_addresses =
    CANNOT("an AppContainer knows the internet, and the internet and the local network together in both "
           "directions; no single addresses and no ports",
           "grant network internet for all ports, or grant network any and grant listen any");
static const struct control_entry no_loopback =
    CANNOT("this machine's loopback is closed to an AppContainer, and opening it takes an administrator",
           "start both sides of the connection inside, or deny it with deny network loopback");
static const struct control_entry no_ports = CANNOT(
    "an AppContainer that reaches the local network can be reached from there, and ports are not told apart",
    "grant network any and grant listen any, or grant network internet alone");

/* A writable place that lies below the fixed part of a pattern, or holds it. */
static bool pattern_meets_writable(const struct bound_policy *bound, const struct windows_places *places,
                                   const char *pattern)
{
    const char *problem, *model = pattern_plain(bound->arena, pattern, pattern_fixed_prefix(pattern));
    const char *prefix = windows_place_name(bound->arena, model, &problem);
    if (prefix == NULL)
        return true;
    const struct windows_place *around = windows_places_at(places, prefix);
    if (around != NULL && around->level == LEVEL_WRITE)
        return true;
    for (uint32_t i = windows_places_from(places, prefix);
         i < places->count && windows_path_covers(prefix, places->items[i].path); i++)
        if (places->items[i].level == LEVEL_WRITE)
            return true;
    return false;
}

/* Whether the rule speaks of more than one file, as far as the policy says. */
static bool is_tree(const struct windows_places *places, struct arena *arena, const struct bound_rule *rule)
{
    const char *problem, *path;
    if (rule->at.pattern || rule->directory ||
        (path = windows_place_name(arena, rule->at.path, &problem)) == NULL)
        return true;
    uint32_t from = windows_places_from(places, path);
    from += from < places->count && windows_path_equal(places->items[from].path, path);
    return from < places->count && windows_path_covers(path, places->items[from].path);
}

struct windows_ground windows_ground_of(const struct bound_policy *bound)
{
    struct windows_ground ground = {.bound = bound, .network = windows_network_of(bound)};
    struct windows_places places = windows_places_of(bound->arena, bound);
    for (uint32_t i = 0; i < places.count; i++)
        if (places.items[i].around == LEVEL_WRITE)
            ground.lowers = true;
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct bound_rule *rule = &bound->rules.items[i];
        if (rule->dropped)
            continue;
        enum rule_kind kind = rule->rule->kind;
        if (kind == RULE_DENY && rule->at.pattern && !ground.lowers)
            ground.lowers = pattern_meets_writable(bound, &places, rule->at.path);
        ground.sockets = ground.sockets || bound_rule_opens_socket(bound, rule);
        ground.syscalls = ground.syscalls || kind == RULE_DENY_SYSCALL;
        ground.exec_trees =
            ground.exec_trees || (kind == RULE_DENY_EXEC && is_tree(&places, bound->arena, rule));
    }
    return ground;
}

static const struct control_entry *narrowed(const struct windows_ground *ground, enum windows_tier tier,
                                            enum control control)
{
    bool lowering = control == CONTROL_FS_WRITE || control == CONTROL_FS_DENY ||
                    control == CONTROL_FS_DENY_PATTERN || control == CONTROL_FS_DENY_MISSING;
    bool other = tier == WINDOWS_APPCONTAINER && ground->network == WINDOWS_NETWORK_OTHER;
    if (tier == WINDOWS_RESTRICTED_LOW && lowering && ground->lowers)
        return &low_deletes;
    if (control == CONTROL_SOCKET_PATH && ground->sockets)
        return &no_sockets;
    if (control == CONTROL_SYSCALL && ground->syscalls)
        return &no_system_calls;
    if (control == CONTROL_EXEC_DENY && tier == WINDOWS_APPCONTAINER && ground->exec_trees)
        return &no_exec_trees;
    if (control == CONTROL_NET_ADDRESS && other)
        return &no_addresses;
    if (control == CONTROL_NET_LOOPBACK && other)
        return &no_loopback;
    if (control == CONTROL_LISTEN && other)
        return &no_ports;
    return NULL;
}

struct control_entry control_windows_entry(const struct windows_ground *ground, enum windows_tier tier,
                                           enum control control)
{
    const struct control_entry *entry = narrowed(ground, tier, control);
    return entry != NULL ? *entry : tables[tier][control];
}

enum windows_tier windows_tier_for(const struct windows_ground *ground,
                                   const struct control_need needs[CONTROLS])
{
    for (int tier = 0; tier < WINDOWS_TIERS; tier++) {
        bool held = true;
        for (int i = 0; i < CONTROLS && held; i++) {
            enum control control = (enum control)i;
            struct control_entry entry = control_windows_entry(ground, (enum windows_tier)tier, control);
            held = !needs[i].needed || entry.strength != STRENGTH_UNENFORCEABLE ||
                   (needs[i].managed == NULL &&
                    control_accept(ground->bound, CONTROL_TARGET_WINDOWS, control) != NULL);
        }
        if (held)
            return (enum windows_tier)tier;
    }
    return WINDOWS_APPCONTAINER;
}

enum windows_tier windows_tier_of(const struct bound_policy *bound)
{
    struct windows_ground ground = windows_ground_of(bound);
    struct control_need needs[CONTROLS];
    controls_needed(bound, needs);
    return windows_tier_for(&ground, needs);
}

/* ---- what stays open ---- */

#define SOCKETS_OPEN                                                                                         \
    "A Unix socket of another program that lies in a place which the policy lets the command write can be "  \
    "connected to."
#define CLIPBOARD_OPEN "The clipboard and the settings of the session belong to all programs of the user."

static const char *const restricted_open[] = {
    "Every file that the user may read can be read, whatever the policy denies.",
    "Files can be deleted in every directory in which the user may delete, granted or not.",
    "The whole network can be reached as the user reaches it.",
    "Programs can be started outside of the sandbox through Windows' own services, such as the Task "
    "Scheduler.",
    SOCKETS_OPEN,
    CLIPBOARD_OPEN,
    NULL,
};
static const char *const low_open[] = {
    "Every file that the user may read can be read, except what the policy denies.",
    "The whole network can be reached as the user reaches it.",
    "What Windows keeps for programs of low integrity can be changed: AppData\\LocalLow, Temp\\Low and the "
    "caches of "
    "browsers.",
    "During the run other programs of low integrity, such as parts of a browser, may write where the policy "
    "lets the "
    "command write.",
    SOCKETS_OPEN,
    CLIPBOARD_OPEN,
    NULL,
};
static const char *const package_open[] = {
    "What Windows opens to every application package can be read: the Windows directory and Program Files.",
    "A file or directory whose own access list opens it to Everyone may be open to the command too.",
    SOCKETS_OPEN,
    CLIPBOARD_OPEN,
    NULL,
};
static const char *const package_online_open[] = {
    "What Windows opens to every application package can be read: the Windows directory and Program Files.",
    "A file or directory whose own access list opens it to Everyone may be open to the command too.",
    "What counts as the internet and what as the local network is decided by the network's profile in "
    "Windows.",
    SOCKETS_OPEN,
    CLIPBOARD_OPEN,
    NULL,
};

const char *const *windows_tier_open(enum windows_tier tier, enum windows_network network)
{
    bool online = network == WINDOWS_NETWORK_INTERNET || network == WINDOWS_NETWORK_ALL;
    if (tier == WINDOWS_APPCONTAINER)
        return online ? package_online_open : package_open;
    return tier == WINDOWS_RESTRICTED ? restricted_open : low_open;
}

const char *const windows_tier_words[WINDOWS_TIERS] = {
    [WINDOWS_RESTRICTED] = "a token restricted for writing (tier restricted)",
    [WINDOWS_RESTRICTED_LOW] = "a token restricted for writing, with low integrity (tier restricted-low)",
    [WINDOWS_APPCONTAINER] = "an AppContainer (tier appcontainer)",
};

void windows_tier_say(const struct windows_ground *ground, enum windows_tier tier, struct note_list *notes)
{
    note_add(notes, (struct note){.code = SBX319_WINDOWS_TIER,
                                  .text = arena_format(notes->arena, "on Windows this policy is held by %s",
                                                       windows_tier_words[tier])});
    for (const char *const *open = windows_tier_open(tier, ground->network); *open != NULL; open++)
        note_add(notes, (struct note){.code = SBX319_WINDOWS_TIER,
                                      .text = arena_format(notes->arena, "open: %s", *open)});
    if (tier == WINDOWS_APPCONTAINER && network_is_shared(ground->bound))
        note_add(notes,
                 (struct note){.code = SBX320_WINDOWS_LESS,
                               .text = "this machine's loopback stays closed to an AppContainer, though the "
                                       "network is open whole"});
}
