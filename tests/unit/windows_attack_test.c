/* windows_attack_test.c - what is made to make a reader of XML wait, grow or look elsewhere is refused in bounded time
 * and memory, and so is read what is as large as a specification may be. */
#include "tests/unit/windows_document.h"

#include "tests/unit/build_policy.h"

#include "base/buffer.h"
#include "emitters/reader.h"
#include "emitters/windows_size.h"
#include "emitters/windows_spec.h"
#include "emitters/windows_xml.h"

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The sanitizers make everything slower, and keep what was freed. */
enum {
    SECONDS_MOST = SBX_SANITIZED ? 30 : 3,
    MEGABYTES_MOST = 128,
    VERIFY_SECONDS_MOST = SBX_SANITIZED ? 200 : 15
};

static void repeat(struct buffer *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        buffer_string(out, text);
}

/* The document with `put`'s bytes instead of its objects. */
static void around_objects(struct buffer *out, void (*put)(struct buffer *out))
{
    const char *objects = strstr(document_text, "    <object"), *end = strstr(document_text, "  </acl>");
    buffer_bytes(out, document_text, (size_t)(objects - document_text));
    put(out);
    buffer_string(out, end);
}

static void put_start(struct buffer *out, const char *extra)
{
    buffer_string(out, DOCUMENT_HEAD);
    buffer_string(out, extra);
    buffer_string(out, document_text + strlen(DOCUMENT_HEAD));
}

static void laughs(struct buffer *out)
{
    struct buffer type = buffer_in(out->arena);
    buffer_string(&type, "<!DOCTYPE sbx-windows [<!ENTITY l0 \"ha\">");
    for (int i = 1; i < 12; i++) {
        buffer_format(&type, "<!ENTITY l%d \"", i);
        for (int j = 0; j < 10; j++)
            buffer_format(&type, "&l%d;", i - 1);
        buffer_string(&type, "\">");
    }
    buffer_string(&type, "]>\n");
    put_start(out, type.bytes);
}

static void external_entity(struct buffer *out)
{
    put_start(out, "<!DOCTYPE sbx-windows [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>\n");
}

static void external_type(struct buffer *out)
{
    put_start(out, "<!DOCTYPE sbx-windows SYSTEM \"http://127.0.0.1:9/sbx.dtd\">\n");
}

static void stylesheet(struct buffer *out)
{
    put_start(out, "<?xml-stylesheet href=\"http://127.0.0.1:9/a.xsl\"?>\n");
}

static void put_value(struct buffer *out, const char *text, size_t times)
{
    buffer_string(out, "    <object path=\"C:\\");
    repeat(out, text, times);
    buffer_string(out, "\" kind=\"any\" on-missing=\"skip\" rule=\"a\"/>\n");
}

static void huge_value(struct buffer *out)
{
    put_value(out, "aaaaa", 1 << 20);
}

static void enormous_value(struct buffer *out)
{
    put_value(out, "aaaaaaaaaa", 1 << 20);
}

static void huge_name(struct buffer *out)
{
    buffer_string(out, "    <");
    repeat(out, "aaaaa", 1 << 20);
    buffer_string(out, "/>\n");
}

static void huge_comment(struct buffer *out)
{
    buffer_string(out, "<!--");
    repeat(out, "- - a", 1 << 20);
    buffer_string(out, "-->\n");
}

static void huge_text(struct buffer *out)
{
    repeat(out, "     ", 1 << 20);
}

static void too_large(struct buffer *out)
{
    repeat(out, "<!--           -->\n", 1 << 20);
}

static void deep(struct buffer *out)
{
    repeat(out, "<a>", 10000);
    repeat(out, "</a>", 10000);
}

static void many_elements(struct buffer *out)
{
    repeat(out, "<a/>", WINDOWS_XML_ELEMENTS);
}

static void many_attributes(struct buffer *out)
{
    buffer_string(out, "    <object");
    for (int i = 0; i < 100000; i++)
        buffer_format(out, " a%d=\"\"", i);
    buffer_string(out, "/>\n");
}

static void one_attribute_often(struct buffer *out)
{
    buffer_string(out, "    <object");
    repeat(out, " path=\"\"", 15);
    buffer_string(out, "/>\n");
}

static void put_object(struct buffer *out, const char *path)
{
    buffer_format(out,
                  "    <object path=\"%s\" kind=\"any\" on-missing=\"skip\" rule=\"grant\">\n"
                  "      <ace type=\"allow\" sid=\"package\" mask=\"0x1200a9\" inherit=\"true\"/>\n"
                  "    </object>\n",
                  path);
}

static void one_path_often(struct buffer *out)
{
    for (int i = 0; i < 40000; i++)
        put_object(out, i < 39999 ? arena_format(out->arena, "C:\\%05d", i) : "C:\\00000");
}

static void many_objects(struct buffer *out)
{
    for (int i = 0; i < 40000; i++)
        put_object(out, arena_format(out->arena, "C:\\%05d", i));
}

static void most_objects(struct buffer *out)
{
    for (int i = 0; i < WINDOWS_OBJECTS_MOST; i++)
        put_object(out, arena_format(out->arena, "C:\\%05d", i));
}

static void most_requires(struct buffer *out)
{
    for (int i = 0; i <= WINDOWS_REQUIRES_MOST; i++)
        buffer_format(out, "    <require path=\"C:\\%05d\" not-below=\"$HOME\\a\"/>\n", i);
}

/* As many names in each other as may be, as often as may be. */
static void most_names(struct buffer *out)
{
    for (int i = 0; i < WINDOWS_OBJECTS_MOST / (WINDOWS_NAMES_MOST - 2); i++) {
        struct buffer path = buffer_in(out->arena);
        buffer_format(&path, "C:\\%05d", i);
        for (int j = 0; j < WINDOWS_NAMES_MOST - 2; j++) {
            put_object(out, path.bytes);
            buffer_string(&path, "\\d");
        }
    }
}

static void most_matches(struct buffer *out)
{
    for (int i = 1; i < WINDOWS_MATCHES_MOST; i++)
        buffer_format(out,
                      "    <match pattern=\"C:\\**\\*%05d*\\**\" rule=\"deny\">"
                      "<ace type=\"deny\" sid=\"package\" mask=\"0x1f01ff\" inherit=\"true\"/></match>\n",
                      i);
}

static void most_excepts(struct buffer *out)
{
    buffer_string(out, "    <match pattern=\"C:\\**\" rule=\"deny\">");
    for (int i = 0; i < WINDOWS_EXCEPTS_MOST; i++)
        buffer_format(out, "<except path=\"C:\\a\\**\\*%06d*\\x\"/>\n", i);
    buffer_string(out, "<ace type=\"deny\" sid=\"package\" mask=\"0x1f01ff\" inherit=\"true\"/></match>\n");
}

static void most_of_all(struct buffer *out)
{
    most_names(out);
    most_matches(out);
    most_excepts(out);
}

/* Each lies below the one before, and is as long as a path may be. */
static void long_paths(struct buffer *out)
{
    struct buffer path = buffer_in(out->arena);
    buffer_string(&path, "C:\\a");
    repeat(&path, "\\b", 15000);
    for (int i = 0; i < 240; i++) {
        buffer_string(&path, "\\c");
        put_object(out, path.bytes);
    }
}

/* Nearly names, for whoever would try every way to cut them. */
static void dots(struct buffer *out)
{
    struct buffer path = buffer_in(out->arena);
    buffer_string(&path, "C:");
    for (int i = 0; i < 60; i++) {
        buffer_string(&path, "\\");
        repeat(&path, ". a ..b", 70);
    }
    for (int i = 0; i < 240; i++)
        put_object(out, arena_format(out->arena, "%s\\%03d", path.bytes, i));
    put_object(out, arena_join(out->arena, path.bytes, "\\x."));
}

static void many_matches(struct buffer *out)
{
    buffer_string(out,
                  "    <object path=\"C:\\a\" kind=\"any\" on-missing=\"skip\" cap=\"true\" rule=\"deny\">"
                  "<ace type=\"deny\" sid=\"package\" mask=\"0xd0156\" inherit=\"true\"/></object>\n");
    for (int i = 0; i < 40000; i++)
        buffer_format(out,
                      "    <match pattern=\"C:\\a\\%05d\\*\" rule=\"grant\">"
                      "<ace type=\"allow\" sid=\"package\" mask=\"0x1200a9\" inherit=\"true\"/></match>\n",
                      39999 - i);
}

static void many_excepts(struct buffer *out)
{
    buffer_string(out, "    <match pattern=\"C:\\a\\*\" rule=\"deny\">");
    for (int i = 0; i < 150000; i++)
        buffer_format(out, "<except path=\"C:\\a\\%06d\"/>\n", i);
    buffer_string(out, "<ace type=\"deny\" sid=\"package\" mask=\"0x1f01ff\" inherit=\"true\"/></match>\n");
}

static void many_references(struct buffer *out)
{
    buffer_string(out, "    <object path=\"C:\\a\" kind=\"any\" on-missing=\"skip\" rule=\"");
    repeat(out, "&amp;", 200000);
    buffer_string(out, "\"><ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/></object>\n");
}

static const struct {
    const char *name, *says; /* says: NULL for what is valid, only large */
    void (*put)(struct buffer *out);
    bool whole; /* `put` makes all of the document, not only its objects */
} attacks[] = {
    {"entities in entities", "no document type", laughs, true},
    {"an external entity", "no document type", external_entity, true},
    {"an external document type", "no document type", external_type, true},
    {"a processing instruction", "no processing instruction", stylesheet, true},
    {"a value of 5 MiB", "is longer than 1 MiB", huge_value, false},
    {"a value of 10 MiB", "is larger than 8 MiB", enormous_value, false},
    {"a name of 5 MiB", "is longer than 1 MiB", huge_name, false},
    {"a comment of 5 MiB", "is longer than 1 MiB", huge_comment, false},
    {"a text of 5 MiB", "is longer than 1 MiB", huge_text, false},
    {"more than 8 MiB", "is larger than 8 MiB", too_large, false},
    {"10,000 elements in each other", "more than 8 deep", deep, false},
    {"200,000 elements too many", "more than 200,000 elements", many_elements, false},
    {"100,000 attributes", "more than 16 attributes", many_attributes, false},
    {"an attribute many times", "Attribute path redefined", one_attribute_often, false},
    {"a path named again after 40,000 others", "Duplicate key-sequence", one_path_often, false},
    {"40,000 objects", "may have 3000", many_objects, false},
    {"long paths in each other", "names in one path", long_paths, false},
    {"paths of dots and blanks", "is not accepted", dots, false},
    {"40,000 allowing matches below a deny", "may have 200", many_matches, false},
    {"150,000 exceptions", "may have 300", many_excepts, false},
    {"4,001 conditions", "may have 4000", most_requires, false},
    {"a million bytes of references", NULL, many_references, false},
};

enum { ATTACKS = sizeof attacks / sizeof *attacks };

/* In a process of its own, so that its time and memory can be seen. */
static void carry_out(size_t number)
{
    struct arena *arena = arena_create(0);
    struct buffer document = buffer_in(arena);
    buffer_reserve(&document, WINDOWS_XML_SIZE + (4 << 20));
    if (attacks[number].whole)
        attacks[number].put(&document);
    else
        around_objects(&document, attacks[number].put);
    const char *error = NULL;
    bool valid = windows_load(arena, document.bytes, document.length, &error) != NULL;
    bool right = attacks[number].says == NULL ? valid : !valid && strstr(error, attacks[number].says) != NULL;
    if (!right)
        (void)!write(STDERR_FILENO, error != NULL ? error : "it was read",
                     error != NULL ? strlen(error) : 11);
    arena_destroy(arena);
    exit(right ? 0 : 1);
}

static void test_attacks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ATTACKS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            carry_out(i);
        int status = 0;
        struct rusage usage;
        assert_int_equal(wait4(child, &status, 0, &usage), child);
        double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
        long megabytes = usage.ru_maxrss >> 10;
        print_message("%s: %.2f s, %ld MB\n", attacks[i].name, seconds, megabytes);
        if (status != 0)
            fail_msg("%s: status %d", attacks[i].name, status);
        if (seconds > SECONDS_MOST || (!SBX_SANITIZED && megabytes > MEGABYTES_MOST))
            fail_msg("%s: %.2f s, %ld MB", attacks[i].name, seconds, megabytes);
    }
}

/* As `sbxc verify` does: every question of the policy and of the specification, both sides. */
static void verify(void (*put)(struct buffer *out))
{
    struct arena *arena = arena_create(0);
    struct buffer document = buffer_in(arena);
    struct bindings bindings = build_bindings(SYSTEM_WINDOWS);
    struct note_list notes = note_list_in(arena);
    struct reader_list readers = {0};
    const char *error = NULL;
    for (int root = 0; root < ROOTS; root++)
        bindings.roots[root] = bindings.managed_roots[root] = (struct root_value){.state = ROOT_SYMBOLIC};
    struct bound_policy *bound = policy_bind(
        arena, build_policy(arena, LINES("grant write $WORK", "deny $WORK/a")), &bindings, &notes);
    bound_seal(bound, NULL);
    around_objects(&document, put);
    const struct read_request request = {.arena = arena,
                                         .bytes = document.bytes,
                                         .length = document.length,
                                         .bound = bound,
                                         .architecture = "x86_64"};
    if (!read_windows(&request, &readers, &error)) {
        (void)!write(STDERR_FILENO, error, strlen(error));
        exit(1);
    }
    const struct reader *reader = &readers.items[0];
    struct query_set *set = query_set_create(arena, reader->kinds, SYSTEM_WINDOWS);
    queries_add_policy(set, bound);
    reader->list(reader->state, set);
    for (uint32_t i = 0; i < query_count(set); i++) {
        (void)reader->answer(reader->state, query_at(set, i));
        (void)reader->expect(reader->state, query_at(set, i));
    }
    arena_destroy(arena);
    exit(0);
}

/* What is as large as a specification may be is judged in seconds. */
static void test_the_largest_is_verified(void **state)
{
    (void)state;
    void (*const largest[])(struct buffer * out) = {most_objects, most_names, most_matches, most_excepts,
                                                    most_of_all};
    for (size_t i = 0; i < sizeof largest / sizeof *largest; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            verify(largest[i]);
        int status = 0;
        struct rusage usage;
        assert_int_equal(wait4(child, &status, 0, &usage), child);
        long seconds = (long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
        print_message("the largest (%zu): %ld s\n", i, seconds);
        assert_int_equal(status, 0);
        assert_true(seconds < VERIFY_SECONDS_MOST);
    }
}

static size_t address_space(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Reads the document with `room` bytes of memory left; exit 0 if it was read, or refused for that. */
static void read_with(const struct buffer *document, size_t room)
{
    struct arena *arena = arena_create(0);
    struct rlimit limit;
    void *volatile taken;
    jmp_buf exhausted;
    if (setjmp(exhausted) != 0)
        _exit(0);
    arena_on_exhausted(arena, &exhausted);
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = address_space();
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    do
        taken = malloc(1000);
    while (taken != NULL);
    limit.rlim_cur += room;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    const char *error = NULL;
    bool valid = windows_load(arena, document->bytes, document->length, &error) != NULL;
    _exit(valid || strstr(error, "there is not enough memory") != NULL ? 0 : 1);
}

static void expect_ends(const struct buffer *document, size_t most, size_t step)
{
    for (size_t room = 0; room < most; room += step) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            read_with(document, room);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status != 0)
            fail_msg("%zu bytes left: status %d", room, status);
    }
}

/* Wherever memory ends, the document is refused and nothing else happens. The address sanitizer takes more room
 * than there is. */
static void test_memory_ends(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer small = buffer_in(arena), large = buffer_in(arena);
    buffer_string(&small, document_text);
    around_objects(&large, most_objects);
    if (!SBX_SANITIZED) {
        expect_ends(&small, 3 << 20, 23456);
        expect_ends(&large, 60 << 20, 5432100);
    }
    arena_destroy(arena);
}

/* Ends the process at whatever opens a file or a socket. */
static void open_nothing(void)
{
    static const int calls[] = {SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(socket), SCMP_SYS(connect)};
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    assert_non_null(filter);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_int_equal(seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, calls[i], 0), 0);
    assert_int_equal(seccomp_load(filter), 0);
}

/* The schema comes from the program, and no document makes the reader look elsewhere. */
static void test_nothing_is_opened(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct arena *arena = arena_create(0);
        struct buffer documents[4];
        void (*const put[])(struct buffer * out) = {external_entity, external_type, stylesheet};
        for (size_t i = 0; i < 4; i++) {
            documents[i] = buffer_in(arena);
            if (i < 3)
                put[i](&documents[i]);
            else
                buffer_string(&documents[i], document_text);
        }
        open_nothing();
        const char *error = NULL;
        for (size_t i = 0; i < 4; i++)
            if ((windows_load(arena, documents[i].bytes, documents[i].length, &error) != NULL) != (i == 3))
                _exit(1);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attacks), cmocka_unit_test(test_the_largest_is_verified),
        cmocka_unit_test(test_memory_ends), cmocka_unit_test(test_nothing_is_opened)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
