/* Specifications of Windows against the policies they come from: what means the same has no difference, and each edit is
 * found and put down to the line that decides. */
#include "tests/unit/build_policy.h"

#include "emitters/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- documents ---- */

#define CONTROL(name, strength) "<control name=\"" name "\" strength=\"" strength "\">because</control>\n"
#define OPEN(sentence) "<open>" sentence "</open>\n"

static const char package_text[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sbx-windows xmlns=\"urn:sbx:windows:1\" version=\"1\" "
    "tier=\"appcontainer\" policy=\"test\" "
    "policy-sha256=\"0000000000000000000000000000000000000000000000000000000000000000\" "
    "min-build=\"19041\">\n<guarantees>\n" CONTROL("fs.closed", "enforced") CONTROL(
        "fs.write", "enforced") CONTROL("fs.deny", "enforced") CONTROL("fs.deny.pattern",
                                                                       "snapshot") CONTROL("fs.deny.missing",
                                                                                           "enforced")
        CONTROL("net.closed", "enforced") CONTROL("net.address", "enforced") CONTROL(
            "socket.path", "snapshot") CONTROL("ipc.abstract", "enforced") CONTROL("ipc.signal", "enforced")
            CONTROL("tty", "enforced") CONTROL("env", "enforced") CONTROL("exec.deny", "snapshot") CONTROL(
                "syscall", "enforced") CONTROL("process.tree",
                                               "enforced") CONTROL("limit.processes",
                                                                   "enforced") CONTROL("limit.memory",
                                                                                       "enforced")
                CONTROL("limit.time", "enforced") CONTROL("scratch", "snapshot") OPEN(
                    "What Windows opens to every application package can be read: the Windows directory "
                    "and Program Files.") OPEN("A file or directory whose own access list opens it to "
                                               "Everyone may be open to the command too.")
                    OPEN("What counts as the internet and what as the local network is decided by the "
                         "network's profile in Windows.") OPEN("A Unix socket of another program that lies "
                                                               "in a place which the policy lets "
                                                               "the command write can be connected to.")
                        OPEN("The clipboard and the settings of the session belong to all programs of the "
                             "user.") "</guarantees>\n"
                                      "<token integrity=\"low\" write-restricted=\"false\" "
                                      "drop-privileges=\"true\"/>\n"
                                      "<appcontainer><capability name=\"internetClient\"/></appcontainer>\n"
                                      "<job kill-on-close=\"true\" breakaway=\"false\" "
                                      "active-processes=\"64\" memory=\"1048576\" "
                                      "time-ms=\"5000\"/>\n"
                                      "<desktop mode=\"private\"/>\n"
                                      "<scratch/>\n"
                                      "<environment><keep name=\"CI\"/><keep name=\"NODE_*\"/><keep "
                                      "name=\"X\"/><drop name=\"*_TOKEN\"/>"
                                      "<limit><keep name=\"C*\"/><keep name=\"M*\"/><keep "
                                      "name=\"N*\"/></limit><set name=\"MODE\" "
                                      "value=\"test\"/></environment>\n"
                                      "<acl>\n"
                                      "<object path=\"$HOME\\tools\" kind=\"any\" on-missing=\"skip\" "
                                      "rule=\"grant read ~/tools\">\n"
                                      "<ace type=\"allow\" sid=\"package\" mask=\"0x1200a9\" "
                                      "inherit=\"true\"/></object>\n"
                                      "<object path=\"$HOME\\tools\\old.exe\" kind=\"file\" "
                                      "on-missing=\"skip\" "
                                      "rule=\"deny exec ~/tools/old.exe\">\n"
                                      "<ace type=\"deny\" sid=\"package\" mask=\"0x20\"/></object>\n"
                                      "<object path=\"$WORK\" kind=\"any\" on-missing=\"skip\" rule=\"grant "
                                      "write $WORK\">\n"
                                      "<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>\n"
                                      "<ace type=\"allow\" sid=\"package\" mask=\"0x1301bf\" "
                                      "inherit=\"true\"/></object>\n"
                                      "<object path=\"$WORK\\conf\" kind=\"dir\" on-missing=\"create-dir\" "
                                      "rule=\"deny $WORK/conf/keys\">\n"
                                      "<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/></object>\n"
                                      "<object path=\"$WORK\\conf\\keys\" kind=\"any\" "
                                      "on-missing=\"create-file\" cap=\"true\" "
                                      "rule=\"deny $WORK/conf/keys\">\n"
                                      "<ace type=\"deny\" sid=\"package\" mask=\"0x1f01ff\" "
                                      "inherit=\"true\"/></object>\n"
                                      "<object path=\"$WORK\\vendor\" kind=\"any\" on-missing=\"skip\" "
                                      "rule=\"grant read $WORK/vendor\">\n"
                                      "<ace type=\"deny\" sid=\"package\" mask=\"0xd0156\" "
                                      "inherit=\"true\"/>\n"
                                      "<ace type=\"allow\" sid=\"package\" mask=\"0x1200a9\" "
                                      "inherit=\"true\"/></object>\n"
                                      "<object path=\"$WORK\\vendor\\patches\" kind=\"any\" "
                                      "on-missing=\"skip\" "
                                      "rule=\"grant write $WORK/vendor/patches\">\n"
                                      "<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>\n"
                                      "<ace type=\"allow\" sid=\"package\" mask=\"0x1301bf\" "
                                      "inherit=\"true\"/></object>\n"
                                      "<match pattern=\"$WORK\\**\\*.pem\" rule=\"deny $WORK/**/*.pem\">"
                                      "<except path=\"$WORK\\tests\"/>"
                                      "<ace type=\"deny\" sid=\"package\" mask=\"0x1f01ff\" "
                                      "inherit=\"true\"/></match>\n"
                                      "</acl>\n</sbx-windows>\n";

static const char *const package_policy[] = {"grant read ~/tools",
                                             "deny exec ~/tools/old.exe",
                                             "grant write $WORK",
                                             "deny $WORK/conf/keys",
                                             "grant read $WORK/vendor",
                                             "grant write $WORK/vendor/patches",
                                             "grant network internet",
                                             "deny $WORK/**/*.pem except $WORK/tests",
                                             "grant env CI",
                                             "grant env NODE_*",
                                             "grant env X",
                                             "deny env *_TOKEN",
                                             "set env MODE=test",
                                             "grant scratch",
                                             "limit processes to 64",
                                             "limit memory to 1048576",
                                             "limit time to 5",
                                             "managed corp",
                                             "limit env to C*",
                                             "limit env to N*",
                                             "limit env to M*",
                                             NULL};

/* ---- comparing ---- */

struct difference {
    const char *question;
    struct reply wanted, found;
};

struct compared {
    struct arena *arena;
    struct difference *items;
    uint32_t count, capacity;
    const char *error;
};

static struct compared compare(const char *const *lines, const char *text)
{
    struct compared compared = {.arena = arena_create(0)};
    struct arena *arena = compared.arena;
    struct bindings bindings = build_bindings(SYSTEM_WINDOWS);
    struct note_list notes = note_list_in(arena);
    struct reader_list readers = {0};
    for (int root = 0; root < ROOTS; root++)
        bindings.roots[root] = bindings.managed_roots[root] = (struct root_value){.state = ROOT_SYMBOLIC};
    struct bound_policy *bound = policy_bind(arena, build_policy(arena, lines), &bindings, &notes);
    assert_int_equal(notes.errors, 0);
    bound_seal(bound, NULL);
    const struct read_request request = {
        .arena = arena, .bytes = text, .length = strlen(text), .bound = bound, .architecture = "x86_64"};
    if (!read_windows(&request, &readers, &compared.error))
        return compared;
    assert_int_equal(readers.count, 1);
    const struct reader *reader = &readers.items[0];
    struct query_set *set = query_set_create(arena, reader->kinds, SYSTEM_WINDOWS);
    queries_add_policy(set, bound);
    reader->list(reader->state, set);
    for (uint32_t i = 0; i < query_count(set); i++) {
        const struct query *query = query_at(set, i);
        struct reply found = reader->answer(reader->state, query);
        struct reply wanted = reader->expect(reader->state, query);
        if (!reply_agrees(&wanted, &found))
            VECTOR_PUSH(arena, &compared, (struct difference){query_text(arena, query), wanted, found});
    }
    return compared;
}

static const char *line_of(struct arena *arena, const char *text, uint32_t line)
{
    for (; line > 1 && text != NULL; line--)
        text = strchr(text, '\n') + 1;
    return line == 0 ? "" : arena_copy(arena, text, strcspn(text, "\n"));
}

static void assert_equal(const char *const *lines, const char *text)
{
    struct compared compared = compare(lines, text);
    if (compared.error != NULL)
        fail_msg("%s", compared.error);
    for (uint32_t i = 0; i < compared.count; i++)
        print_error("%s: wanted %s, found %s by %u\n", compared.items[i].question,
                    compared.items[i].wanted.text, compared.items[i].found.text,
                    compared.items[i].found.line);
    assert_int_equal(compared.count, 0);
    arena_destroy(compared.arena);
}

static const char *edited(struct arena *arena, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (at == NULL || strstr(at + 1, from) != NULL)
        fail_msg("\"%s\" does not stand there once", from);
    return arena_format(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

struct edit {
    const char *what, *from, *to;
    const char *question, *wanted, *found;
    const char *line; /* a part of the line that decided; NULL: none */
};

/* Whether the difference is there, or the refusal if no question is named. */
static bool is_found(const struct edit *edit, const struct compared *compared, const char *changed)
{
    if (edit->question == NULL || compared->error != NULL)
        return edit->question == NULL && compared->error != NULL &&
               strstr(compared->error, edit->found) != NULL;
    for (uint32_t i = 0; i < compared->count; i++) {
        const struct difference *difference = &compared->items[i];
        const char *line = line_of(compared->arena, changed, difference->found.line);
        if (strcmp(difference->question, edit->question) == 0)
            return strcmp(difference->wanted.text, edit->wanted) == 0 &&
                   strcmp(difference->found.text, edit->found) == 0 &&
                   (edit->line != NULL ? strstr(line, edit->line) != NULL : line[0] == '\0');
    }
    return false;
}

static void assert_found(const char *const *lines, const char *text, const struct edit *edits, size_t count)
{
    size_t missed = 0;
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_create(0);
        const char *changed = edited(arena, text, edits[i].from, edits[i].to);
        struct compared compared = compare(lines, changed);
        if (!is_found(&edits[i], &compared, changed)) {
            missed++;
            print_error("%s: %s\n", edits[i].what, compared.error != NULL ? compared.error : "not found");
            print_error("%u questions\n", compared.capacity);
            for (uint32_t j = 0; j < compared.count; j++)
                print_error("  %s: wanted %s, found %s by %s\n", compared.items[j].question,
                            compared.items[j].wanted.text, compared.items[j].found.text,
                            line_of(arena, changed, compared.items[j].found.line));
        }
        arena_destroy(compared.arena);
        arena_destroy(arena);
    }
    assert_int_equal(missed, 0);
}

/* ---- AppContainers ---- */

static void a_container_that_says_what_its_policy_says_is_equal(void **state)
{
    (void)state;
    assert_equal(package_policy, package_text);
}

#define KEYS_DENY                                                                                            \
    "rule=\"deny $WORK/conf/keys\">\n<ace type=\"deny\" sid=\"package\" mask=\"0x1f01ff\" "                  \
    "inherit=\"true\"/>"

static const struct edit package_edits[] = {
    {"a widened grant", "rule=\"grant read ~/tools\">\n<ace type=\"allow\" sid=\"package\" mask=\"0x1200a9\"",
     "rule=\"grant read ~/tools\">\n<ace type=\"allow\" sid=\"package\" mask=\"0x1301bf\"",
     "write $HOME/tools/below", "deny", "allow", "tools\""},
    {"a narrowed grant",
     "rule=\"grant write $WORK\">\n<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>\n"
     "<ace type=\"allow\" sid=\"package\" mask=\"0x1301bf\"",
     "rule=\"grant write $WORK\">\n<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>\n"
     "<ace type=\"allow\" sid=\"package\" mask=\"0x1200a9\"",
     "write $WORK/below", "allow", "deny", NULL},
    {"a grant that is gone",
     "rule=\"grant read ~/tools\">\n<ace type=\"allow\" sid=\"package\" mask=\"0x1200a9\" inherit=\"true\"/>",
     "rule=\"grant read ~/tools\">\n<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>",
     "read $HOME/tools", "allow", "deny", NULL},
    {"a grant for one object alone",
     "rule=\"grant read ~/tools\">\n<ace type=\"allow\" sid=\"package\" mask=\"0x1200a9\" inherit=\"true\"/>",
     "rule=\"grant read ~/tools\">\n<ace type=\"allow\" sid=\"package\" mask=\"0x1200a9\"/>", NULL, NULL,
     "must be inherited", NULL},
    {"a grant elsewhere", "path=\"$HOME\\tools\"", "path=\"$HOME\\secret\"", "read $HOME/secret", "deny",
     "allow", "secret"},
    {"a deny that is gone", KEYS_DENY,
     "rule=\"deny $WORK/conf/keys\">\n<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>", NULL, NULL,
     "nothing holds", NULL},
    {"a deny that leaves reading", KEYS_DENY,
     "rule=\"deny $WORK/conf/keys\">\n<ace type=\"deny\" sid=\"package\" mask=\"0xd0156\" inherit=\"true\"/>",
     "read $WORK/conf/keys/below", "deny", "allow", "path=\"$WORK\""},
    {"a deny for one object alone", KEYS_DENY,
     "rule=\"deny $WORK/conf/keys\">\n<ace type=\"deny\" sid=\"package\" mask=\"0x1f01ff\"/>", NULL, NULL,
     "must be inherited", NULL},
    {"a deny of another place", "<object path=\"$WORK\\conf\\keys\"", "<object path=\"$WORK\\conf\\other\"",
     "read $WORK/conf/keys", "deny", "allow", "path=\"$WORK\""},
    {"a place that can be renamed",
     "<object path=\"$WORK\\conf\" kind=\"dir\" on-missing=\"create-dir\" rule=\"deny $WORK/conf/keys\">\n"
     "<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/></object>\n",
     "", "rename $WORK/conf", "deny", "allow", "path=\"$WORK\""},
    {"a deny and its place that are gone",
     "<object path=\"$WORK\\conf\\keys\" kind=\"any\" on-missing=\"create-file\" cap=\"true\" "
     "rule=\"deny $WORK/conf/keys\">\n"
     "<ace type=\"deny\" sid=\"package\" mask=\"0x1f01ff\" inherit=\"true\"/></object>\n",
     "", "read $WORK/conf/keys", "deny", "allow", "path=\"$WORK\""},
    {"a writable place that can be renamed",
     "rule=\"grant write $WORK/vendor/patches\">\n<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>\n",
     "rule=\"grant write $WORK/vendor/patches\">\n", "rename $WORK/vendor/patches", "deny", "allow",
     "patches"},
    {"a lower grant that is gone",
     "rule=\"grant read $WORK/vendor\">\n<ace type=\"deny\" sid=\"package\" mask=\"0xd0156\" "
     "inherit=\"true\"/>\n",
     "rule=\"grant read $WORK/vendor\">\n", "write $WORK/vendor/below", "deny", "allow", "path=\"$WORK\""},
    {"a file that can be started",
     "kind=\"file\" on-missing=\"skip\" rule=\"deny exec ~/tools/old.exe\">\n"
     "<ace type=\"deny\" sid=\"package\" mask=\"0x20\"/>",
     "kind=\"file\" on-missing=\"skip\" rule=\"deny exec ~/tools/old.exe\">\n"
     "<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>",
     "exec $HOME/tools/old.exe", "deny", "allow", "tools\""},
    {"a match that is open", "mask=\"0x1f01ff\" inherit=\"true\"/></match>",
     "mask=\"0xd0156\" inherit=\"true\"/></match>", "read $WORK/run.pem", "deny", "allow", "path=\"$WORK\""},
    {"another pattern", "pattern=\"$WORK\\**\\*.pem\"", "pattern=\"$WORK\\**\\*.pen\"",
     "read $WORK/a/run.pem", "deny", "allow", "path=\"$WORK\""},
    {"a wider exception", "<except path=\"$WORK\\tests\"/>", "<except path=\"$WORK\\a\"/>",
     "read $WORK/a/run.pem", "deny", "allow", "path=\"$WORK\""},
    {"one more exception", "<except path=\"$WORK\\tests\"/>",
     "<except path=\"$WORK\\conf\"/><except path=\"$WORK\\tests\"/>", "read $WORK/conf/run.pem", "deny",
     "allow", "path=\"$WORK\""},
    {"a narrower exception", "<except path=\"$WORK\\tests\"/>", "", "read $WORK/tests/run.pem", "allow",
     "deny", "match"},
    {"a capability more", "<capability name=\"internetClient\"/>",
     "<capability name=\"internetClient\"/><capability name=\"privateNetworkClientServer\"/>",
     "connect 10.0.0.1:443", "deny", "allow", NULL},
    {"a capability for servers", "<capability name=\"internetClient\"/>",
     "<capability name=\"internetClient\"/><capability name=\"internetClientServer\"/>", "listen 8.8.8.8:443",
     "deny", "allow", NULL},
    {"no capability", "<capability name=\"internetClient\"/>", "", "connect 8.8.8.8:443", "allow", "deny",
     NULL},
    {"a variable more", "<keep name=\"CI\"/>", "<keep name=\"CI\"/><keep name=\"CIRCLE\"/>", "env CIRCLE",
     "deny", "allow", NULL},
    {"a variable less", "<keep name=\"CI\"/>", "", "env CI", "allow", "deny", NULL},
    {"a dropped variable that passes", "<drop name=\"*_TOKEN\"/>", "<drop name=\"X_TOKEN\"/>",
     "env NODE_RUN_TOKEN", "deny", "allow", NULL},
    {"a limit that is gone", "<limit><keep name=\"C*\"/><keep name=\"M*\"/><keep name=\"N*\"/></limit>", "",
     "env X", "deny", "allow", NULL},
    {"another value", "value=\"test\"", "value=\"other\"", "set env MODE", "\"test\"", "\"other\"", NULL},
    {"no value", "<set name=\"MODE\" value=\"test\"/>", "", "set env MODE", "\"test\"", "not set", NULL},
    {"a value more", "<set name=\"MODE\" value=\"test\"/>",
     "<set name=\"MODE\" value=\"test\"/><set name=\"PATH\" value=\"x\"/>", "env PATH", "deny", "allow",
     NULL},
    {"more processes", "active-processes=\"64\"", "active-processes=\"65\"", "limit processes", "64", "65",
     NULL},
    {"no limit of memory", " memory=\"1048576\"", "", "limit memory", "1048576", "none", NULL},
    {"more time", "time-ms=\"5000\"", "time-ms=\"5001\"", "limit time", "5", "5001 milliseconds", NULL},
    {"no scratch directory", "<scratch/>\n", "", "scratch", "allow", "deny", NULL},
};

#define PIN "<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>\n"
#define KEYS "<object path=\"$WORK\\conf\\keys\" kind=\"any\" "

static const struct edit promise_edits[] = {
    {"a missing place that is not made", KEYS "on-missing=\"create-file\"", KEYS "on-missing=\"skip\"",
     "make $WORK/conf/keys", "deny", "allow", NULL},
    {"the name of what may be written", "rule=\"grant write $WORK\">\n" PIN, "rule=\"grant write $WORK\">\n",
     "rename $WORK", "deny", "allow", "path=\"$WORK\""},
    {"a deny that gives way", KEYS "on-missing=\"create-file\" cap=\"true\"",
     KEYS "on-missing=\"create-file\"", "lasting deny $WORK/conf/keys", "yes", "no", "keys"},
    {"a control that is not said", CONTROL("env", "enforced"), "", "control env", "enforced", "not said",
     NULL},
    {"a control that is held better", CONTROL("fs.deny.pattern", "snapshot"),
     CONTROL("fs.deny.pattern", "enforced"), "control fs.deny.pattern", "snapshot", "enforced", NULL},
    {"a control that is held less", CONTROL("fs.closed", "enforced"), CONTROL("fs.closed", "snapshot"),
     "control fs.closed", "enforced", "snapshot", NULL},
    {"a control that nobody needs", CONTROL("env", "enforced"),
     CONTROL("env", "enforced") CONTROL("service.gh", "enforced"), "control service.gh", "not said",
     "enforced", NULL},
    {"an open place that is not said",
     OPEN("The clipboard and the settings of the session belong to all "
          "programs of the user."),
     "", "open: The clipboard and the settings of the session belong to all programs of the user.", "said",
     "not said", NULL},
    {"an open place that is none",
     OPEN("The clipboard and the settings of the session belong to all "
          "programs of the user."),
     OPEN("The clipboard and the settings of the session belong to all "
          "programs of the user.") OPEN("Nothing."),
     "open: Nothing.", "not said", "said", NULL},
    {"another policy", "policy=\"test\"", "policy=\"rest\"", "policy name", "test", "rest", NULL},
    {"another hash", "policy-sha256=\"00000000", "policy-sha256=\"a0000000", "policy sha256",
     "0000000000000000000000000000000000000000000000000000000000000000",
     "a000000000000000000000000000000000000000000000000000000000000000", NULL},
};

static void each_edit_of_a_promise_is_found(void **state)
{
    (void)state;
    assert_found(package_policy, package_text, promise_edits, COUNT(promise_edits));
}

static void each_edit_of_a_container_is_found(void **state)
{
    (void)state;
    assert_found(package_policy, package_text, package_edits, COUNT(package_edits));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_container_that_says_what_its_policy_says_is_equal),
        cmocka_unit_test(each_edit_of_a_container_is_found),
        cmocka_unit_test(each_edit_of_a_promise_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
