/* selftest_programs.c - which programs start in each tier, and which devices and connections they get. */
#include "runtime/windows/selftest.h"

#include "runtime/windows/wide.h"

#include "base/escape.h"

#include <string.h>
#include <winsock2.h>

enum { PATH_MOST = 32768, LINE_MOST = 80 };

#define LANGUAGE "'started, ' + $ExecutionContext.SessionState.LanguageMode"

/* Programs that say a few words. */
static const struct {
    const char *file;
    const wchar_t *extension;
    const char *arguments[6];
} programs[] = {
    {"cmd", L".exe", {"/d", "/c", "echo started", NULL}},
    {"powershell", L".exe", {"-NoProfile", "-NonInteractive", "-Command", LANGUAGE, NULL}},
    {"pwsh", L".exe", {"-NoProfile", "-NonInteractive", "-Command", LANGUAGE, NULL}},
    {"git", L".exe", {"--version", NULL}},
    {"bash", L".exe", {"-c", "echo started", NULL}},
    {"python", L".exe", {"-c", "print('started')", NULL}},
    {"node", L".exe", {"-e", "console.log('started')", NULL}},
};

static const char *first_line(const struct selftest *selftest, const char *said)
{
    size_t length = strcspn(said, "\r\n");
    return escape_windows(selftest->arena,
                          arena_copy(selftest->arena, said, length < LINE_MOST ? length : LINE_MOST));
}

static void program_measure(struct selftest *selftest, enum windows_tier tier, size_t number)
{
    const char *question = arena_format(selftest->arena, "starting %s", programs[number].file);
    wchar_t *path = arena_array(selftest->arena, PATH_MOST, sizeof *path);
    if (SearchPathW(NULL, wide_from(selftest->arena, programs[number].file), programs[number].extension,
                    PATH_MOST, path, NULL) == 0) {
        selftest_say(selftest, NOT_AVAILABLE, tier, question, "it is not installed");
        return;
    }
    const char *said = selftest_run(selftest, tier, path, programs[number].arguments);
    if (said == NULL)
        selftest_say(selftest, REFUSED, tier, question, "Windows did not start it");
    else if (*said == '\0')
        selftest_say(selftest, MEASURED, tier, question, "it says nothing");
    else
        selftest_say(selftest, MEASURED, tier, question, "it says \"%s\"", first_line(selftest, said));
}

static void word_measure(struct selftest *selftest, enum windows_tier tier, const char *question,
                         const char *word, const char *argument)
{
    long error = selftest_try(selftest, tier, word, argument);
    if (error == TRY_IMPOSSIBLE)
        selftest_say(selftest, REFUSED, tier, question, "the process did not start or said nothing");
    else if (error == 0)
        selftest_say(selftest, MEASURED, tier, question, "allowed");
    else
        selftest_say(selftest, MEASURED, tier, question, "refused, error %ld", error);
}

/* A listener of this process, to which nothing but a trial connects. */
static SOCKET listener_make(struct selftest *selftest, const char **address)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int length = sizeof at;
    SOCKET listener = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    if (listener == INVALID_SOCKET || bind(listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(listener, 8) != 0 || getsockname(listener, (struct sockaddr *)&at, &length) != 0)
        return INVALID_SOCKET;
    *address = arena_format(selftest->arena, "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
    return listener;
}

static void network_measure(struct selftest *selftest, enum windows_tier tier)
{
    const char *address = NULL;
    SOCKET listener = listener_make(selftest, &address);
    if (listener != INVALID_SOCKET) {
        word_measure(selftest, tier, "connecting to this machine's loopback", "connect", address);
        closesocket(listener);
    }
    word_measure(selftest, tier, "listening on loopback", "listen", "127.0.0.1:0");
    if (selftest->outside != NULL)
        word_measure(selftest, tier, "connecting to --network", "connect", selftest->outside);
    else
        selftest_say(selftest, NOT_AVAILABLE, tier, "connecting to another machine",
                     "name one with --network ADDRESS:PORT");
}

/* The same with the capability that opens the internet. */
static void capability_measure(struct selftest *selftest)
{
    static uint8_t internet[] = {1, 2, 0, 0, 0, 0, 0, 15, 3, 0, 0, 0, 1, 0, 0, 0};
    struct selftest_tier *made = &selftest->tiers[WINDOWS_APPCONTAINER];
    if (made->why_not != NULL || selftest->outside == NULL)
        return;
    made->capability = (SID_AND_ATTRIBUTES){internet, SE_GROUP_ENABLED};
    made->package.Capabilities = &made->capability;
    made->package.CapabilityCount = 1;
    word_measure(selftest, WINDOWS_APPCONTAINER, "connecting to --network with internetClient", "connect",
                 selftest->outside);
    made->package.Capabilities = NULL;
    made->package.CapabilityCount = 0;
}

void selftest_programs(struct selftest *selftest)
{
    WSADATA data;
    bool network = WSAStartup(MAKEWORD(2, 2), &data) == 0;
    for (int i = 0; i < WINDOWS_TIERS; i++) {
        enum windows_tier tier = (enum windows_tier)i;
        if (selftest->tiers[tier].why_not != NULL)
            continue;
        for (size_t number = 0; number < sizeof programs / sizeof *programs; number++)
            program_measure(selftest, tier, number);
        word_measure(selftest, tier, "reading and writing the null device", "device", "\\\\.\\NUL");
        word_measure(selftest, tier, "making a named pipe", "pipe", "\\\\.\\pipe\\sbx-selftest");
        word_measure(selftest, tier, "opening this process to end it", "process",
                     arena_format(selftest->arena, "%lu", GetCurrentProcessId()));
        word_measure(selftest, tier, "reaching the task scheduler's pipe", "device", "\\\\.\\pipe\\atsvc");
        if (network)
            network_measure(selftest, tier);
    }
    capability_measure(selftest);
    if (network)
        WSACleanup();
}
