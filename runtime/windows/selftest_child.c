/* selftest_child.c - what the self-test tries in the sandbox: the other side of selftest_try. */
#include "runtime/windows/selftest.h"

#include "runtime/windows/canary_words.h"
#include "runtime/windows/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <winsock2.h>

static DWORD closed(HANDLE handle)
{
    if (handle == NULL || handle == INVALID_HANDLE_VALUE)
        return GetLastError();
    CloseHandle(handle);
    return 0;
}

static DWORD try_create_in(struct arena *arena, const char *path)
{
    return canary_try(arena, CANARY_CREATE, arena_join(arena, path, "\\new"));
}

/* A file that the command makes belongs to the user: may the command change its list? */
static DWORD try_own_dac(struct arena *arena, const char *path)
{
    DWORD error = try_create_in(arena, path);
    return error != 0 ? error : canary_try(arena, CANARY_OPEN "40000", arena_join(arena, path, "\\new"));
}

static DWORD try_delete(struct arena *arena, const char *path)
{
    return DeleteFileW(wide_from(arena, arena_join(arena, "\\\\?\\", path))) ? 0 : GetLastError();
}

static DWORD try_device(struct arena *arena, const char *path)
{
    return closed(CreateFileW(wide_from(arena, path), GENERIC_READ | GENERIC_WRITE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL));
}

static DWORD try_pipe(struct arena *arena, const char *path)
{
    return closed(CreateNamedPipeW(wide_from(arena, path), PIPE_ACCESS_DUPLEX, PIPE_REJECT_REMOTE_CLIENTS, 1,
                                   0, 0, 0, NULL));
}

static DWORD try_process(struct arena *arena, const char *number)
{
    (void)arena;
    return closed(OpenProcess(PROCESS_TERMINATE, FALSE, (DWORD)strtoul(number, NULL, 10)));
}

/* "A.B.C.D:PORT"; nothing is resolved. */
static bool address_read(const char *text, struct sockaddr_in *address)
{
    unsigned a, b, c, d, port;
    if (sscanf(text, "%u.%u.%u.%u:%u", &a, &b, &c, &d, &port) != 5 || (a | b | c | d) > 255 || port > 65535)
        return false;
    *address = (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((u_short)port),
        .sin_addr.s_addr = htonl(a << 24 | b << 16 | c << 8 | d),
    };
    return true;
}

static DWORD try_socket(const char *text, bool listens)
{
    WSADATA data;
    struct sockaddr_in address;
    if (!address_read(text, &address))
        return ERROR_INVALID_PARAMETER;
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        return (DWORD)WSAGetLastError();
    SOCKET made = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    bool held = made != INVALID_SOCKET;
    if (held && listens)
        held = bind(made, (struct sockaddr *)&address, sizeof address) == 0 && listen(made, 1) == 0;
    else if (held)
        held = connect(made, (struct sockaddr *)&address, sizeof address) == 0;
    DWORD error = held ? 0 : (DWORD)WSAGetLastError();
    if (made != INVALID_SOCKET)
        closesocket(made);
    WSACleanup();
    return error;
}

static DWORD try_connect(struct arena *arena, const char *address)
{
    (void)arena;
    return try_socket(address, false);
}

static DWORD try_listen(struct arena *arena, const char *address)
{
    (void)arena;
    return try_socket(address, true);
}

static DWORD try_word(struct arena *arena, const char *word, const char *argument)
{
    static const struct {
        const char *word;
        DWORD (*attempt)(struct arena *arena, const char *argument);
    } words[] = {
        {"create-in", try_create_in}, {"own-dac", try_own_dac}, {"delete", try_delete},
        {"device", try_device},       {"pipe", try_pipe},       {"process", try_process},
        {"connect", try_connect},     {"listen", try_listen},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].attempt(arena, argument);
    return canary_try(arena, word, argument);
}

int selftest_child(int count, char *const *arguments)
{
    struct arena *arena = arena_create(0);
    if (arena == NULL || count != 2)
        return EXIT_FAILURE;
    printf("error %lu\n", try_word(arena, arguments[0], arguments[1]));
    arena_destroy(arena);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
