/* Every profile of tests/seatbelt is read, and answers the questions in its comments as they say:
 *
 *     ; param NAME VALUE
 *     ; ? OPERATION [KEY=VALUE ...] [fold] -> allow|deny|unknown [LINE]
 *
 * Without LINE no rule decided. Between them they use every construct of the list below. */
#include "base/buffer.h"
#include "base/vector.h"
#include "emitters/seatbelt_decide.h"
#include "emitters/seatbelt_read.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROFILES_LEAST = 30, PARAMETERS_MOST = 8 };

static const char *directory(struct arena *arena)
{
    const char *tree = getenv("SBX_TREE");
    return arena_join(arena, tree != NULL ? tree : ".", "/tests/seatbelt");
}

static const char *text_of(struct arena *arena, const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    struct buffer text = buffer_in(arena);
    if (file == NULL)
        return NULL;
    for (int byte; (byte = getc(file)) != EOF;)
        buffer_byte(&text, (char)byte);
    fclose(file);
    *length = text.length;
    return text.bytes;
}

struct names {
    const char **items;
    uint32_t count, capacity;
};

static struct names profile_names(struct arena *arena)
{
    struct names names = {0};
    DIR *open = opendir(directory(arena));
    if (open == NULL)
        fail_msg("%s: %s", directory(arena), strerror(errno));
    for (struct dirent *entry; (entry = readdir(open)) != NULL;)
        if (strstr(entry->d_name, ".sb") != NULL)
            VECTOR_PUSH(arena, &names, arena_strdup(arena, entry->d_name));
    closedir(open);
    return names;
}

static const char *import_text(void *context, const char *name, size_t *length)
{
    struct arena *arena = context;
    return text_of(arena, arena_format(arena, "%s/imported/%s", directory(arena), name), length);
}

/* One of a list of words, by its number. */
static uint32_t number_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] != NULL && strcmp(words[i], word) == 0)
            return (uint32_t)i;
    fail_msg("unknown word %s", word);
    return 0;
}
#define NUMBER_OF(word, words) number_of((word), (words), sizeof(words) / sizeof *(words))

static const char *const vnodes[] = {NULL,   "file",   "directory", "block", "character",
                                     "link", "socket", "fifo",      "tty"};
static const char *const protocols[] = {NULL, "tcp", "udp", "other", "unix"};
static const char *const hosts[] = {"any", "loopback", "other"};
static const char *const targets[] = {NULL, "self", "group", "children", "sandbox", "others", "first"};
static const char *const name_kinds[] = {
    [SEATBELT_NAME_GLOBAL] = "global",
    [SEATBELT_NAME_LOCAL] = "local",
    [SEATBELT_NAME_XPC_SERVICE] = "xpc-service",
    [SEATBELT_NAME_IPC_POSIX] = "ipc-posix",
    [SEATBELT_NAME_SYSCTL] = "sysctl",
    [SEATBELT_NAME_XATTR] = "xattr",
    [SEATBELT_NAME_CONTROL] = "control",
    [SEATBELT_NAME_IOKIT_CLASS] = "iokit-class",
    [SEATBELT_NAME_IOKIT_CONNECTION] = "iokit-connection",
    [SEATBELT_NAME_IOKIT_PROPERTY] = "iokit-property",
    [SEATBELT_NAME_PREFERENCE_DOMAIN] = "preference",
    [SEATBELT_NAME_RIGHT] = "right",
    [SEATBELT_NAME_NOTIFICATION] = "notification",
    [SEATBELT_NAME_NVRAM] = "nvram",
    [SEATBELT_NAME_APPLEEVENT] = "appleevent",
    [SEATBELT_NAME_KEXT] = "kext",
    [SEATBELT_NAME_EXTENSION_CLASS] = "extension-class",
    [SEATBELT_NAME_INFO_TYPE] = "info-type",
    [SEATBELT_NAME_BOOT_ARGUMENT] = "boot-argument",
};
static const char *const answers[] = {"deny", "allow", "unknown"};

/* Cuts `text` at `separator`; what is behind it. */
static char *cut(char *text, char separator)
{
    char *at = strchr(text, separator);
    if (at == NULL)
        fail_msg("no %c in %s", separator, text);
    *at = '\0';
    return at + 1;
}

static struct seatbelt_address address_of(char *text)
{
    const char *port = cut(text, ':');
    return (struct seatbelt_address){(enum seatbelt_host)NUMBER_OF(text, hosts),
                                     (uint16_t)strtoul(port, NULL, 10)};
}

static void set_number(const char *key, uint32_t number, struct seatbelt_question *question)
{
    if (strcmp(key, "mode") == 0) {
        question->mode = number;
        question->mode_known = true;
    } else if (strcmp(key, "number") == 0) {
        question->number = number;
        question->number_known = true;
    } else if (strcmp(key, "socket-protocol") == 0) {
        question->socket_protocol = number;
        question->socket_protocol_known = true;
    } else if (strcmp(key, "version") == 0)
        question->version = number;
    else if (strcmp(key, "domain") == 0)
        question->socket_domain = number;
    else if (strcmp(key, "type") == 0)
        question->socket_type = number;
    else
        fail_msg("unknown key %s", key);
}

static void set_part(struct arena *arena, char *key, struct seatbelt_question *question)
{
    if (strcmp(key, "fold") == 0) {
        question->fold_case = true;
        return;
    }
    char *value = cut(key, '=');
    if (strcmp(key, "path") == 0)
        question->path = value;
    else if (strcmp(key, "vnode") == 0)
        question->vnode = (enum seatbelt_vnode)NUMBER_OF(value, vnodes);
    else if (strcmp(key, "protocol") == 0)
        question->protocol = (enum seatbelt_protocol)NUMBER_OF(value, protocols);
    else if (strcmp(key, "target") == 0)
        question->target = (enum seatbelt_target)NUMBER_OF(value, targets);
    else if (strcmp(key, "local") == 0)
        question->local = address_of(value);
    else if (strcmp(key, "remote") == 0)
        question->remote = address_of(value);
    else if (strcmp(key, "name") == 0) {
        question->name = cut(value, ':');
        question->name_kind = (enum seatbelt_name)NUMBER_OF(value, name_kinds);
    } else if (strcmp(key, "extension") == 0) {
        const char **extension = arena_alloc(arena, sizeof *extension);
        *extension = value;
        question->extensions = extension;
        question->extension_count = 1;
    } else
        set_number(key, (uint32_t)strtoul(value, NULL, 10), question);
}

struct expectation {
    struct seatbelt_question question;
    enum seatbelt_answer answer;
    uint32_t line;
};

/* OPERATION [PART ...] -> ANSWER [LINE] */
static struct expectation expectation_of(struct arena *arena, char *text)
{
    struct expectation expectation = {0};
    char *rest = NULL, *word = strtok_r(text, " ", &rest);
    expectation.question.operation = word;
    while ((word = strtok_r(NULL, " ", &rest)) != NULL && strcmp(word, "->") != 0)
        set_part(arena, word, &expectation.question);
    word = strtok_r(NULL, " ", &rest);
    if (word == NULL)
        fail_msg("no answer for %s", text);
    expectation.answer = (enum seatbelt_answer)NUMBER_OF(word, answers);
    word = strtok_r(NULL, " ", &rest);
    expectation.line = word != NULL ? (uint32_t)strtoul(word, NULL, 10) : 0;
    return expectation;
}

static uint32_t check_question(struct arena *arena, const struct seatbelt_profile *profile, const char *name,
                               const char *text)
{
    struct expectation expectation = expectation_of(arena, arena_strdup(arena, text));
    uint32_t line, plain_line;
    enum seatbelt_answer answer = seatbelt_decide(profile, &expectation.question, &line);
    enum seatbelt_answer plain = seatbelt_decide_plainly(profile, &expectation.question, &plain_line);
    if (answer != plain || line != plain_line)
        print_error("%s: %s: the index says %s %u, the rules %s %u\n", name, text, answers[answer], line,
                    answers[plain], plain_line);
    else if (answer != expectation.answer || line != expectation.line)
        print_error("%s: %s: is %s %u\n", name, text, answers[answer], line);
    else
        return 0;
    return 1;
}

/* The lines of a text that begin so, without that. */
static struct names lines_with(struct arena *arena, const char *text, const char *beginning)
{
    struct names lines = {0};
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        size_t length = end != NULL ? (size_t)(end - line) : strlen(line);
        if (strncmp(line, beginning, strlen(beginning)) == 0)
            VECTOR_PUSH(arena, &lines,
                        arena_copy(arena, line + strlen(beginning), length - strlen(beginning)));
        line = end != NULL ? end + 1 : NULL;
    }
    return lines;
}

static uint32_t check_profile(struct arena *arena, const char *name)
{
    size_t length = 0;
    const char *path = arena_format(arena, "%s/%s", directory(arena), name);
    const char *text = text_of(arena, path, &length);
    struct seatbelt_parameter parameters[PARAMETERS_MOST];
    struct names given = lines_with(arena, text, "; param "), questions = lines_with(arena, text, "; ? ");
    struct seatbelt_error error = {0};
    for (uint32_t i = 0; i < given.count; i++) {
        char *parameter = arena_strdup(arena, given.items[i]);
        parameters[i].value = cut(parameter, ' ');
        parameters[i].name = parameter;
    }
    const struct seatbelt_profile *profile =
        seatbelt_read(arena, text, length, parameters, given.count, import_text, arena, &error);
    if (profile == NULL) {
        print_error("%s:%u:%u: %s\n", path, error.line, error.column, error.text);
        return 1;
    }
    assert_true(questions.count >= 3);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < questions.count; i++)
        wrong += check_question(arena, profile, name, questions.items[i]);
    return wrong;
}

static void every_profile_answers_as_it_says(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct names names = profile_names(arena);
    uint32_t wrong = 0;
    assert_true(names.count >= PROFILES_LEAST);
    for (uint32_t i = 0; i < names.count; i++)
        wrong += check_profile(arena, names.items[i]);
    assert_int_equal(wrong, 0);
    arena_destroy(arena);
}

/* What profiles in use are written with: none of these may be left untried. */
static const char *const constructs[] = {
    "(macro (",
    "`(",
    ",@",
    " ,p",
    "(lambda (",
    "(let ((",
    "(let* (",
    "(letrec (",
    "(let loop (",
    "(for-each",
    "(map ",
    "(apply ",
    "(set! ",
    "(begin ",
    "(cond (",
    "(else ",
    "(if ",
    "(when ",
    "(unless ",
    "(not ",
    "(and ",
    "(or ",
    "(define (",
    " . filters)",
    "(list ",
    "'()",
    "(cons ",
    "(append ",
    "(reverse ",
    "(cdr ",
    "(param \"",
    "(getenv \"",
    "(string-append ",
    "(string=? ",
    "(substring ",
    "(number->string ",
    "(string->number ",
    "(regex-quote ",
    "(defined? '",
    "(debug deny)",
    "(import \"",
    "(version 1)",
    /* text */
    "#\"",
    "#o0004",
    "#x4",
    "\\.b",
    "\\\\.",
    "\\\"",
    "\\x41\\102",
    "[-\\w]",

    "(|b)",
    "\n  ; ",
    /* rules */
    "(deny default iokit-get-properties process-info*)",
    "(deny default (with no-log)",
    "(allow default)",
    "(with-filter ",
    "(with-modifier ",
    "(with-operations ",
    "(with no-sandbox) (literal",
    "\") (with no-profile)",
    "(with report)",
    "(with no-report)",
    "(with no-callout)",
    "(with telemetry)",
    "(with message \"",
    "(with send-signal SIGKILL)",
    "(with termination)",
    "(with user-approval)",
    "(with deprecated)",
    "(with partial-symbolication)",
    "(deny file-link",
    "(deny syscall*)",
    "(deny nvram*)",
    /* filters */
    "(literal ",
    "(subpath ",
    "(prefix ",
    "(regex ",
    "(path-regex ",
    "(path-ancestors ",
    "(mount-relative-regex ",
    "(mount-relative-literal ",
    "(vnode-type DIRECTORY)",
    "(vnode-type TTY)",
    "(tty)",
    "(file-mode ",
    "(xattr ",
    "(xattr-prefix ",
    "(device-major ",
    "(require-all",
    "(require-any ",
    "(require-not ",
    "(extension ",
    "(granted-extensions ",
    "(mach-extension)",
    "(extension-class ",
    "(local udp ",
    "(local tcp ",
    "(local ip ",
    "(from udp4 ",
    "(from unix ",
    "(remote tcp ",
    "(to unix-socket ",
    "(control-name ",
    "(socket-domain AF_UNIX)",
    "(socket-domain AF_SYSTEM)",
    "(socket-domain AF_ROUTE)",
    "(socket-type SOCK_STREAM SOCK_DGRAM)",
    "(socket-protocol 2)",
    "(global-name \"",
    "(local-name-regex ",
    "(xpc-service-name-prefix ",
    "(ipc-posix-name #\"",
    "(ipc-posix-name-prefix ",
    "(semaphore-owner ",
    "(sysctl-name \"",
    "(sysctl-name-prefix ",
    "(sysctl-name-regex ",
    "(target self)",
    "(target same-sandbox)",
    "(target others)",
    "(target children pgrp)",
    "(target initproc)",
    "(signal-number SIGTERM SIGINT)",
    "(ioctl-command ",
    "(fsctl-command (_IO \"h\" 47))",
    "(syscall-number SYS_",
    "(iokit-property-regex ",
    "(iokit-user-client-class ",
    "(iokit-connection ",
    "(preference-domain ",
    "(right-name ",
    "(notification-name ",
    "(appleevent-destination ",
    "(nvram-variable ",
    "(kext-bundle-id ",
    "(boot-arg ",
    "(info-type ",
    "(process-attribute ",
    "(system-attribute ",
    "(require-entitlement ",
    "(signing-identifier ",
};

static void every_construct_is_used(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct names names = profile_names(arena);
    struct buffer all = buffer_in(arena);
    for (uint32_t i = 0; i < names.count; i++) {
        size_t length = 0;
        buffer_string(
            &all, text_of(arena, arena_format(arena, "%s/%s", directory(arena), names.items[i]), &length));
    }
    for (size_t i = 0; i < sizeof constructs / sizeof *constructs; i++)
        if (strstr(all.bytes, constructs[i]) == NULL)
            fail_msg("no profile uses %s", constructs[i]);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_profile_answers_as_it_says),
        cmocka_unit_test(every_construct_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
