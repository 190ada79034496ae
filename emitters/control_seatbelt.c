#include "emitters/control_seatbelt.h"

#include "emitters/control_words.h"
#include "emitters/seatbelt_network.h"

#define OF_LINUX(otherwise) CANNOT("this is a service of Linux; macOS has none of its kind", otherwise)
#define BROKER_NEEDED                                                                                        \
    CANNOT("Seatbelt knows no hosts but all and this machine; choosing takes a broker process as the only "  \
           "way out",                                                                                        \
           "deny the network whole, or grant network any")

control_table control_seatbelt = {
    [CONTROL_FS_CLOSED] =
        HELD("the profile denies what it does not allow; names compare without case, and of a directory that "
             "leads to something open only its metadata can be seen"),
    [CONTROL_FS_WRITE] = HELD("every operation that changes a file is denied where writing is not granted"),
    [CONTROL_FS_DENY] = HELD("denies come last and name each operation; directories above cannot be moved"),
    [CONTROL_FS_DENY_PATTERN] = AT_LAUNCH(
        "every name that matches is denied, later ones too; but below ** only the directories above "
        "matches that the launcher found cannot be moved out of the pattern"),
    [CONTROL_FS_DENY_MISSING] =
        HELD("a path is denied whether it exists or not, and nothing can be put there"),
    [CONTROL_NET_CLOSED] = HELD("no address can be connected to or listened on"),
    [CONTROL_NET_HOST] = BROKER_NEEDED,
    [CONTROL_NET_ADDRESS] = BROKER_NEEDED,
    [CONTROL_NET_LOOPBACK] = HELD("ports of this machine are named one by one"),
    [CONTROL_LISTEN] = HELD("ports are named one by one"),
    [CONTROL_SOCKET_PATH] = HELD("the kernel judges each connection by the socket's path"),
    [CONTROL_IPC_ABSTRACT] = HELD("macOS has no abstract names; Mach services are listed one by one"),
    [CONTROL_IPC_SIGNAL] = HELD("signals reach processes of this sandbox alone"),
    [CONTROL_TTY] = HELD("the caller's terminal cannot be controlled, so nothing can be typed into it"),
    [CONTROL_ENV] =
        HELD("the environment starts empty and holds only what is granted or set; without the launcher "
             "`env -i` does that, as the profile's header shows"),
    [CONTROL_EXEC_DENY] =
        AT_LAUNCH("the file cannot be started by its path; a copy that the command makes of it can"),
    [CONTROL_SYSCALL] = HELD("the kernel asks the profile before each operation, whichever call leads to it"),
    [CONTROL_PROCESS_TREE] = AT_LAUNCH(
        "what the command starts stays in the sandbox for ever; the launcher ends what it finds of it, and "
        "a profile alone ends nothing"),
    [CONTROL_LIMIT_PROCESSES] = CANNOT("macOS counts all processes of the user, and not those of a sandbox",
                                       "leave the limit out under `when os macos`"),
    [CONTROL_LIMIT_MEMORY] = CANNOT("macOS has no limit for the memory of several processes together",
                                    "leave the limit out under `when os macos`"),
    [CONTROL_LIMIT_TIME] =
        AT_LAUNCH("the launcher ends what it then finds of the command; what hides from it goes on"),
    [CONTROL_LIMIT_FILES] = HELD("RLIMIT_NOFILE, soft and hard, before the command starts"),
    [CONTROL_SCRATCH] =
        AT_LAUNCH("a directory of its own that TMPDIR names; one that a killed launcher left goes at "
                  "the next launch"),
    [CONTROL_SERVICE_SSH_AGENT] = HELD("its sockets can be connected to"),
    [CONTROL_SERVICE_GPG_AGENT] = HELD("its sockets can be connected to and its public files read"),
    [CONTROL_SERVICE_KEYCHAIN] = HELD("its files can be opened and its Mach services reached"),
    [CONTROL_SERVICE_TRUSTD] =
        HELD("its Mach services can be reached; it fetches what it needs outside the sandbox"),
    [CONTROL_SERVICE_DOCKER] = HELD("its sockets can be connected to"),
    [CONTROL_SERVICE_DBUS] = OF_LINUX("grant it under `when os linux`"),
    [CONTROL_SERVICE_DISPLAY] = CANNOT("who reaches the window server can see and steer what others show",
                                       "start programs with windows outside"),
    [CONTROL_SERVICE_GPU] = CANNOT("the drivers that it takes differ from machine to machine",
                                   "start what needs the GPU outside"),
    [CONTROL_SERVICE_AUDIO] =
        CANNOT("who reaches the audio services can listen too", "play and record outside"),
    [CONTROL_SERVICE_CLIPBOARD] =
        CANNOT("the clipboard is open whole or not at all, and holds what others copied",
               "hand files over in the working directory"),
    [CONTROL_SERVICE_PTY] = HELD("terminals that the command makes are its own; others stay closed"),
    [CONTROL_SERVICE_GIT_CREDENTIALS] = HELD("its files can be read and its sockets connected to"),
    [CONTROL_SERVICE_GH] = HELD("its configuration can be read and its variables pass in"),
};

static const struct control_entry any_ports = HELD("ports of every host are named one by one");
static const struct control_entry loopback_closed = CANNOT(
    "a port that is closed on this machine and open elsewhere takes addresses, and Seatbelt knows none",
    "deny the port on any host, or not at all");
static const struct control_entry listen_loopback =
    CANNOT("Seatbelt cannot tell a program that listens on all addresses from one that listens on this "
           "machine's, nor "
           "where a connection comes from",
           "grant listen any for the port, or none");
static const struct control_entry no_system_calls =
    CANNOT("system calls have other names and numbers on macOS, and Seatbelt judges what they do",
           "put the rule under `when os linux`");

static bool denies_system_call(const struct bound_policy *bound)
{
    for (uint32_t i = 0; i < bound->rules.count; i++)
        if (!bound->rules.items[i].dropped && bound->rules.items[i].rule->kind == RULE_DENY_SYSCALL)
            return true;
    return false;
}

struct control_entry control_seatbelt_entry(const struct bound_policy *bound, enum control control)
{
    if (control == CONTROL_NET_ADDRESS && seatbelt_holds_any(bound))
        return any_ports;
    if (control == CONTROL_NET_LOOPBACK && !seatbelt_holds_loopback(bound))
        return loopback_closed;
    if (control == CONTROL_LISTEN && !seatbelt_holds_listen(bound))
        return listen_loopback;
    if (control == CONTROL_SYSCALL && denies_system_call(bound))
        return no_system_calls;
    return control_seatbelt[control];
}

#define LAUNCHER_ONLY(text) CANNOT(text, "start the command with sbx-launch")

static const struct control_entry text_files = LAUNCHER_ONLY("a profile has no limit of open files");
static const struct control_entry text_time =
    LAUNCHER_ONLY("nothing of ours runs beside the command and could end it");

bool control_seatbelt_text(const struct emit_request *request)
{
    struct control_need needs[CONTROLS];
    const struct rule *accepted;
    controls_needed(request->bound, needs);
    bool files = control_check(request->bound, CONTROL_TARGET_SEATBELT, "seatbelt", CONTROL_LIMIT_FILES,
                               &needs[CONTROL_LIMIT_FILES], &text_files, &accepted, request->notes);
    bool time = control_check(request->bound, CONTROL_TARGET_SEATBELT, "seatbelt", CONTROL_LIMIT_TIME,
                              &needs[CONTROL_LIMIT_TIME], &text_time, &accepted, request->notes);
    return files && time;
}
