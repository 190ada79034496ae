/* ask PROFILE [NAME=VALUE ...] - what a Seatbelt profile answers: `allow LINE` or `deny LINE`, by the rule in that line,
 * or `unknown LINE`; `differs` where it hangs on whether the volume ignores case.
 *
 * NAME=VALUE is a parameter. Questions come from standard input, an operation and what it is about, each ended by a NUL:
 * a path (a directory's with a final slash), HOST:PORT/PROTOCOL with the host `loopback` or `other`, `self` or `others`
 * for a process, else a name such as that of a Mach service; `-` for nothing. */
#include "base/arena.h"
#include "base/vector.h"
#include "emitters/seatbelt_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_MOST = 16 * 1024 * 1024, PARAMETERS_MOST = 16 };

static bool about_sockets(const char *operation)
{
    return strncmp(operation, "network-", 8) == 0;
}

static bool set_path(struct arena *arena, struct seatbelt_question *question, const char *path)
{
    size_t length = strlen(path);
    bool directory = length > 1 && path[length - 1] == '/';
    question->path = arena_copy(arena, path, directory ? length - 1 : length);
    question->vnode = directory ? SEATBELT_VNODE_DIRECTORY : SEATBELT_VNODE_FILE;
    if (about_sockets(question->operation)) {
        question->vnode = SEATBELT_VNODE_SOCKET;
        question->protocol = SEATBELT_PROTOCOL_UNIX;
    }
    return true;
}

static bool set_address(struct seatbelt_question *question, const char *text)
{
    char host[9], protocol[4];
    unsigned short port;
    if (sscanf(text, "%8[a-z]:%hu/%3s", host, &port, protocol) != 3)
        return false;
    bool loopback = strcmp(host, "loopback") == 0, tcp = strcmp(protocol, "tcp") == 0;
    struct seatbelt_address asked = {loopback ? SEATBELT_HOST_LOOPBACK : SEATBELT_HOST_OTHER, port};
    bool connects = strcmp(question->operation, "network-outbound") == 0;
    question->version = 4;
    question->protocol = tcp ? SEATBELT_PROTOCOL_TCP : SEATBELT_PROTOCOL_UDP;
    question->local = connects ? (struct seatbelt_address){SEATBELT_HOST_UNSPECIFIED, 0} : asked;
    question->remote = connects ? asked : (struct seatbelt_address){SEATBELT_HOST_OTHER, 50000};
    return (loopback || strcmp(host, "other") == 0) && (tcp || strcmp(protocol, "udp") == 0);
}

static bool set_other(struct seatbelt_question *question, const char *text)
{
    static const struct {
        const char *prefix;
        enum seatbelt_name kind;
    } kinds[] = {{"mach-", SEATBELT_NAME_GLOBAL},
                 {"sysctl-", SEATBELT_NAME_SYSCTL},
                 {"ipc-posix-", SEATBELT_NAME_IPC_POSIX}};
    if (strcmp(text, "self") == 0 || strcmp(text, "others") == 0) {
        question->target = strcmp(text, "self") == 0 ? SEATBELT_TARGET_SELF : SEATBELT_TARGET_OTHERS;
        return true;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(question->operation, kinds[i].prefix, strlen(kinds[i].prefix)) == 0) {
            question->name_kind = kinds[i].kind;
            question->name = text;
        }
    return question->name != NULL || strcmp(text, "-") == 0;
}

static bool set_subject(struct arena *arena, struct seatbelt_question *question, const char *text)
{
    if (*text == '/')
        return set_path(arena, question, text);
    return about_sockets(question->operation) ? set_address(question, text) : set_other(question, text);
}

static void answer(const struct seatbelt_profile *profile, struct seatbelt_question question)
{
    static const char *const words[] = {
        [SEATBELT_DENY] = "deny", [SEATBELT_ALLOW] = "allow", [SEATBELT_UNKNOWN] = "unknown"};
    uint32_t line;
    enum seatbelt_answer exact = seatbelt_decide(profile, &question, NULL);
    question.fold_case = true;
    enum seatbelt_answer folded = seatbelt_decide(profile, &question, &line);
    if (exact != folded)
        puts("differs");
    else
        printf("%s %u\n", words[folded], line);
}

static bool answer_all(struct arena *arena, const struct seatbelt_profile *profile)
{
    char *operation = NULL, *subject = NULL;
    size_t operation_size = 0, subject_size = 0;
    bool good = true;
    while (good && getdelim(&operation, &operation_size, '\0', stdin) > 0) {
        struct seatbelt_question question = {.operation = operation};
        good = getdelim(&subject, &subject_size, '\0', stdin) > 0 && set_subject(arena, &question, subject);
        if (good)
            answer(profile, question);
        else
            fprintf(stderr, "%s cannot be asked so\n", operation);
    }
    free(operation);
    free(subject);
    return good;
}

static bool run(struct arena *arena, int count, char **words)
{
    struct seatbelt_parameter parameters[PARAMETERS_MOST];
    uint32_t given = 0;
    FILE *file = fopen(words[1], "r");
    if (file == NULL) {
        perror(words[1]);
        return false;
    }
    char *text = arena_alloc(arena, SIZE_MOST);
    size_t length = fread(text, 1, SIZE_MOST, file);
    bool whole = feof(file) != 0;
    (void)fclose(file);
    for (int i = 2; i < count && given < PARAMETERS_MOST; i++) {
        size_t name = strcspn(words[i], "=");
        if (words[i][name] != '\0')
            parameters[given++] =
                (struct seatbelt_parameter){arena_copy(arena, words[i], name), words[i] + name + 1};
    }
    struct seatbelt_error error = {0};
    const struct seatbelt_profile *profile =
        whole ? seatbelt_read(arena, text, length, parameters, given, NULL, NULL, &error) : NULL;
    if (profile != NULL)
        return answer_all(arena, profile);
    fprintf(stderr, "%s:%u:%u: %s\n", words[1], error.line, error.column,
            error.text != NULL ? error.text : "too long");
    return false;
}

int main(int count, char **words)
{
    if (count < 2) {
        fprintf(stderr, "ask PROFILE [NAME=VALUE ...]\n");
        return 2;
    }
    struct arena *arena = arena_create(0);
    bool good = run(arena, count, words);
    arena_destroy(arena);
    return good ? 0 : 1;
}
