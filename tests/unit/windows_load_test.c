/* windows_load_test.c - specifications of Windows are read as they stand, and what is no valid one is refused
 * with the line and the reason. */
#include "tests/unit/windows_document.h"

#include "emitters/control.h"
#include "emitters/windows_schema.h"
#include "emitters/windows_spec.h"

#include <stdlib.h>

static const struct windows_spec *loaded(struct arena *arena, const char *text)
{
    const char *error = NULL;
    const struct windows_spec *spec = windows_load(arena, text, strlen(text), &error);
    if (spec == NULL)
        fail_msg("%s", error);
    assert_null(error);
    return spec;
}

static const char *refusal(struct arena *arena, const char *text, size_t length)
{
    const char *error = NULL;
    assert_null(windows_load(arena, text, length, &error));
    assert_non_null(error);
    return error;
}

static void test_whole(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const struct windows_spec *spec = loaded(arena, document_text);
    assert_int_equal(spec->tier, WINDOWS_APPCONTAINER);
    assert_string_equal(spec->policy_name, "web");
    assert_int_equal(spec->policy_hash[0], 0);
    assert_int_equal(spec->policy_hash[10], 0xaa);
    assert_int_equal(spec->policy_hash[31], 0xff);
    assert_int_equal(spec->claim_count, 1);
    assert_string_equal(spec->claims[0].control, "fs.closed");
    assert_string_equal(spec->claims[0].strength, "enforced");
    assert_string_equal(spec->claims[0].text, "nothing <else> opens");
    assert_int_equal(spec->accepted_count, 1);
    assert_string_equal(spec->accepted[0].control, "limit.files");
    assert_null(spec->accepted[0].strength);
    assert_string_equal(spec->accepted[0].text, "small & rare");
    assert_int_equal(spec->open_count, 1);
    assert_string_equal(spec->open[0], "C:\\Windows can be read");
    assert_int_equal(spec->capabilities, WINDOWS_INTERNET_CLIENT | WINDOWS_PRIVATE_NETWORK);
    assert_int_equal(spec->processes, 7);
    assert_int_equal(spec->memory, 1073741824);
    assert_int_equal(spec->time, 5000);
    assert_true(spec->scratch);
    arena_destroy(arena);
}

static void test_environment(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const struct windows_environment *environment = &loaded(arena, document_text)->environment;
    assert_int_equal(environment->keep.count, 2);
    assert_string_equal(environment->keep.items[1].name, "NODE_*");
    assert_int_equal(environment->drop.count, 1);
    assert_string_equal(environment->drop.items[0].name, "*_TOKEN");
    assert_int_equal(environment->limit_count, 2);
    assert_int_equal(environment->limits[0].count, 1);
    assert_string_equal(environment->limits[0].items[0].name, "C*");
    assert_int_equal(environment->limits[1].count, 0);
    assert_int_equal(environment->set.count, 1);
    assert_string_equal(environment->set.items[0].name, "MODE");
    assert_string_equal(environment->set.items[0].value, "a &#38; \"b\"");
    arena_destroy(arena);
}

static void test_acl(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const struct windows_spec *spec = loaded(arena, document_text);
    assert_int_equal(spec->require_count, 1);
    assert_string_equal(spec->requires[0].path, "$WORK");
    assert_string_equal(spec->requires[0].below, "$CACHE\\x");
    assert_int_equal(spec->object_count, 3);

    const struct windows_object *work = &spec->objects[0], *hooks = &spec->objects[1];
    assert_string_equal(work->path, "$WORK");
    assert_string_equal(work->rule, "grant write $WORK");
    assert_int_equal(work->kind, WINDOWS_DIRECTORY);
    assert_int_equal(work->missing, WINDOWS_SKIP);
    assert_int_equal(work->line, 29);
    assert_int_equal(work->ace_count, 2);
    assert_true(work->aces[0].deny);
    assert_false(work->aces[0].inherit);
    assert_int_equal(work->aces[0].mask, WINDOWS_DENY_DELETE);
    assert_false(work->aces[1].deny);
    assert_true(work->aces[1].inherit);
    assert_int_equal(work->aces[1].mask, WINDOWS_ALLOW_WRITE);
    assert_int_equal(work->aces[1].principal, WINDOWS_PACKAGE);
    assert_false(work->cap || work->automatic || work->label.present);
    assert_int_equal(hooks->missing, WINDOWS_CREATE_DIRECTORY);
    assert_int_equal(hooks->kind, WINDOWS_ANY);
    assert_true(hooks->cap);
    assert_true(spec->objects[2].automatic);

    assert_int_equal(spec->match_count, 1);
    const struct windows_match *match = &spec->matches[0];
    assert_string_equal(match->pattern, "$WORK\\**\\.env");
    assert_string_equal(match->rule, "deny $WORK/**/.env");
    assert_int_equal(match->except_count, 2);
    assert_string_equal(match->excepts[0], "$WORK\\doc");
    assert_string_equal(match->excepts[1], "$WORK\\*\\doc");
    assert_int_equal(match->ace.mask, WINDOWS_DENY_ALL);
    assert_int_equal(match->line, 39);
    arena_destroy(arena);
}

/* The document as one of the tier restricted-low, with labels. */
static char *low_document(struct arena *arena)
{
    char *text = document_replaced(arena, document_text, "\"appcontainer\"", "\"restricted-low\"");
    const char *from = strstr(text, "  <token"), *to = strstr(text, "  <job");
    text =
        document_replaced(arena, text, arena_copy(arena, from, (size_t)(to - from)),
                          "  <token integrity=\"low\" write-restricted=\"true\" drop-privileges=\"true\">\n"
                          "    <restrict sid=\"run\"/>\n    <restrict sid=\"logon\"/>\n  </token>\n");
    while (strstr(text, "sid=\"package\"") != NULL)
        text = document_replaced(arena, text, "sid=\"package\"", "sid=\"run\"");
    text = document_replaced(arena, text, "      <ace type=\"deny\" sid=\"run\" mask=\"0x10000\"/>\n",
                             "      <label level=\"low\" policy=\"nw\"/>\n");
    return document_replaced(arena, text, "doc\"/>\n      <ace",
                             "doc\"/>\n      <label level=\"medium\" policy=\"nw nr nx\"/>\n      <ace");
}

static void test_low(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const struct windows_spec *spec = loaded(arena, low_document(arena));
    assert_int_equal(spec->tier, WINDOWS_RESTRICTED_LOW);
    assert_true(spec->objects[0].label.present);
    assert_int_equal(spec->objects[0].label.level, WINDOWS_LOW);
    assert_int_equal(spec->objects[0].label.policy, WINDOWS_NO_WRITE_UP);
    assert_int_equal(spec->objects[0].aces[0].principal, WINDOWS_RUN);
    assert_int_equal(spec->matches[0].label.level, WINDOWS_MEDIUM);
    assert_int_equal(spec->matches[0].label.policy,
                     WINDOWS_NO_WRITE_UP | WINDOWS_NO_READ_UP | WINDOWS_NO_EXECUTE_UP);
    arena_destroy(arena);
}

/* Git may give a file the line ends of Windows. */
static void test_line_ends_of_windows(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer text = buffer_in(arena);
    for (const char *at = document_text; *at != '\0'; at++)
        buffer_string(&text, *at == '\n' ? "\r\n" : (char[]){*at, '\0'});
    assert_int_equal(loaded(arena, text.bytes)->object_count, 3);
    arena_destroy(arena);
}

struct refused {
    const char *from, *to, *says;
};

static void expect_refusals(const struct refused *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_create(0);
        const char *text = document_replaced(arena, document_text, cases[i].from, cases[i].to);
        const char *said = refusal(arena, text, strlen(text));
        if (strstr(said, cases[i].says) == NULL)
            fail_msg("%s -> %s: \"%s\" instead of \"%s\"", cases[i].from, cases[i].to, said, cases[i].says);
        arena_destroy(arena);
    }
}

#define EXPECT_REFUSALS(cases) expect_refusals((cases), sizeof(cases) / sizeof *(cases))

static void test_bytes(void **state)
{
    (void)state;
    static const struct refused cases[] = {
        {DOCUMENT_HEAD, "\xef\xbb\xbf" DOCUMENT_HEAD, "starts with a byte order mark"},
        {DOCUMENT_HEAD, "", "does not start with <?xml"},
        {"UTF-8", "utf-8", "does not start with <?xml"},
        {"UTF-8", "UTF-16", "does not start with <?xml"},
        {"encoding=\"UTF-8\"", "encoding=\"UTF-8\" standalone=\"yes\"", "does not start with <?xml"},
        {"people", "pe\xc3ple", "line 2: it is not UTF-8"},
        {"people", "pe\xed\xa0\x80ple", "line 2: it is not UTF-8"},
        {"people", "pe\x01ople", "line 2: a control character is in it"},
        {"<!-- what", "<!DOCTYPE sbx-windows><!-- what", "line 2: no document type"},
        {"<!-- what", "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><!-- what",
         "no document type"},
        {"nothing ", "<![CDATA[nothing]]>", "line 5: no document type, entity or CDATA"},
        {"nothing ", "<?php nothing?>", "line 5: no processing instruction"},
        {"<!-- what", "<?xml version=\"1.0\"?><!-- what", "line 2: no processing instruction"},
        {"nothing ", "&nothing;", "line 5: no reference but"},
        {"nothing ", "&#65;", "line 5: no reference but"},
        {"\"NODE_*\"", "\"NODE&#10;\"", "no reference but"},
        {"\"NODE_*\"", "\"NODE\n\"", "a value holds a tab, a line end or <"},
        {"\"NODE_*\"", "\"NODE<\"", "a value holds a tab, a line end or <"},
        {"<keep", "<keep xmlns:w=\"urn:sbx:windows:1\"", "a name has a prefix"},
        {"<keep", "<keep xsi:type=\"names\"", "a name has a prefix"},
        {"<keep",
         "<keep a='1' b='1' c='1' d='1' e='1' f='1' g='1' h='1' i='1' j='1' k='1' l='1' m='1' n='1' "
         "o='1' p='1'",
         "more than 16 attributes"},
        {"first -->", "first", "a comment does not end"},
        {"<desktop mode", "<desktop <mode", "a tag does not end"},
        {"<keep", "<a><a><a><a><a><a><a><keep", "more than 8 deep"},
        {"</sbx-windows>\n", "</sbx-windows>\n</sbx-windows>\n", "an end tag ends nothing"},
    };
    EXPECT_REFUSALS(cases);

    struct arena *arena = arena_create(0);
    assert_non_null(strstr(refusal(arena, document_text, sizeof document_text), "a NUL byte is in it"));
    assert_non_null(strstr(refusal(arena, document_text, 0), "does not start with <?xml"));
    arena_destroy(arena);
}

static void test_markup(void **state)
{
    (void)state;
    static const struct refused cases[] = {
        {"</sbx-windows>", "", "Premature end of data"},
        {"</acl>", "</akl>", "mismatch"},
        {"<!-- what", "<!-- wh--at", "line 2: "},
        {"</sbx-windows>\n", "</sbx-windows>\n<sbx-windows/>", "Extra content"},
        {"</sbx-windows>\n", "</sbx-windows>\ntext", "Extra content"},
        {"mode=\"private\"", "mode=\"private\" mode=\"private\"", "Attribute mode redefined"},
        {"mode=\"private\"", "mode=private", "AttValue"},
    };
    EXPECT_REFUSALS(cases);
}

static void test_schema(void **state)
{
    (void)state;
    static const struct refused cases[] = {
        {"urn:sbx:windows:1", "urn:sbx:windows:2", "No matching global declaration"},
        {" xmlns=\"urn:sbx:windows:1\"", "", "No matching global declaration"},
        {"version=\"1\"", "version=\"2\"",
         "line 3: Element 'sbx-windows', attribute 'version': The value '2'"},
        {"version=\"1\" tier", "tier", "attribute 'version' is required"},
        {"\"appcontainer\"", "\"admin\"", "The value 'admin' is not an element of the set"},
        {"\"appcontainer\"", "\" appcontainer\"", "The value ' appcontainer' is not an element of the set"},
        {"\"web\"", "\"w/b\"", "attribute 'policy': The value 'w/b' is not accepted"},
        {"\"00112233", "\"00112233\x41", "is not accepted"},
        {"\"00112233", "\"0011223G", "is not accepted"},
        {"19041", "19042", "attribute 'min-build'"},
        {"fs.closed", "fs.open", "attribute 'name'"},
        {"\"enforced\"", "\"advisory\"", "attribute 'strength'"},
        {"limit.files", "limit.life", "attribute 'name'"},
        {"integrity=\"low\"", "integrity=\"high\"", "attribute 'integrity'"},
        {"write-restricted=\"false\"", "write-restricted=\"0\"", "attribute 'write-restricted'"},
        {"drop-privileges=\"true\"", "drop-privileges=\"false\"", "attribute 'drop-privileges'"},
        {"internetClient", "internetclient", "attribute 'name'"},
        {"kill-on-close=\"true\"", "kill-on-close=\"false\"", "attribute 'kill-on-close'"},
        {"breakaway=\"false\"", "breakaway=\"true\"", "attribute 'breakaway'"},
        {"active-processes=\"7\"", "active-processes=\"0\"", "attribute 'active-processes'"},
        {"memory=\"1073741824\"", "memory=\"18446744073709551616\"", "attribute 'memory'"},
        {"time-ms=\"5000\"", "time-ms=\" 5000\"", "attribute 'time-ms'"},
        {"\"private\"", "\"inherit\"", "attribute 'mode'"},
        {"<scratch/>", "<scratch>x</scratch>", "Element 'scratch'"},
        {"<scratch/>", "<scratch/><scratch/>", "This element is not expected"},
        {"<scratch/>", "<network/>", "line 16: Element 'network': This element is not expected"},
        {"\"NODE_*\"", "\"NODE=1\"", "attribute 'name'"},
        {"\"NODE_*\"", "\"\"", "attribute 'name'"},
        {"\"NODE_*\"", "\"CI\"", "Duplicate key-sequence ['CI']"},
        {"\"*_TOKEN\"/>", "\"*_TOKEN\"/><drop name=\"*_TOKEN\"/>", "Duplicate key-sequence"},
        {"\"MODE\"", "\"MODE*\"", "attribute 'name'"},
        {"\"MODE\"", "\"A\" value=\"\"/><set name=\"A\"", "Duplicate key-sequence"},
        {"<limit/>", "<limit><drop name=\"A\"/></limit>", "This element is not expected"},
        {"not-below=\"$CACHE\\x\"", "", "'not-below' is required"},
        {"not-below=\"$CACHE\\x\"", "not-below=\"$FOO\\x\"", "attribute 'not-below'"},
        {"\"C:\\Tools\"", "\"\\\\server\\share\"", "attribute 'path'"},
        {"\"C:\\Tools\"", "\"C:Tools\"", "attribute 'path'"},
        {"\"C:\\Tools\"", "\"C:/Tools\"", "attribute 'path'"},
        {"\"C:\\Tools\"", "\"C:\\Tools\\\"", "attribute 'path'"},
        {"\"C:\\Tools\"", "\"C:\\Tools\\..\\Windows\"", "attribute 'path'"},
        {"\"C:\\Tools\"", "\"C:\\Tools:stream\"", "attribute 'path'"},
        {"\"C:\\Tools\"", "\"C:\\Tools. \\a\"", "attribute 'path'"},
        {"\"C:\\Tools\"", "\"C:\\Tools*\"", "attribute 'path'"},
        {"\"C:\\Tools\"", "\"C:\\To\xc2\x85ls\"", "attribute 'path'"},
        {"\"C:\\Tools\"", "\"$WORK\"", "Duplicate key-sequence ['$WORK']"},
        {"kind=\"dir\"", "kind=\"pipe\"", "attribute 'kind'"},
        {"on-missing=\"skip\"", "on-missing=\"fail\"", "attribute 'on-missing'"},
        {"cap=\"true\"", "cap=\"false\"", "attribute 'cap'"},
        {"automatic=\"true\"", "automatic=\"1\"", "attribute 'automatic'"},
        {" rule=\"deny\"", "", "attribute 'rule' is required"},
        {" rule=\"deny\"", " rule=\"deny\" recurse=\"true\"", "attribute 'recurse' is not allowed"},
        {"type=\"deny\"", "type=\"audit\"", "attribute 'type'"},
        {"sid=\"package\"", "sid=\"S-1-1-0\"", "attribute 'sid'"},
        {"0x1301bf", "0x1301ff", "line 31: Element 'ace', attribute 'mask': The value '0x1301ff'"},
        {"0x1301bf", "0x1301BF", "attribute 'mask'"},
        {"0x1301bf", "1245631", "attribute 'mask'"},
        {"inherit=\"true\"", "inherit=\"oi\"", "attribute 'inherit'"},
        {DOCUMENT_OBJECT, "<ace type=\"allow\" sid=\"package\" mask=\"0x1301bf\"/>", "not expected"},
        {"mask=\"0x10000\"/>", "mask=\"0x10000\"/>text", "Element 'object': Character content"},
        {"      <ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>\n",
         "<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/><ace type=\"deny\" sid=\"package\" "
         "mask=\"0x10000\"/>"
         "<ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>",
         "This element is not expected"},
        {"mask=\"0x10000\"/>", "mask=\"0x10000\"/><label level=\"low\" policy=\"nw\"/>", "Element 'label'"},
        {"mask=\"0x10000\"/>", "mask=\"0x10000\"><ace/></ace>", "Element 'ace'"},
        {"      <ace type=\"deny\" sid=\"package\" mask=\"0x10000\"/>\n",
         "<label level=\"low\" policy=\"nr\"/>", "attribute 'policy'"},
        {"pattern=\"$WORK\\**\\.env\"", "pattern=\"**\\.env\"", "attribute 'pattern'"},
        {"\"$WORK\\*\\doc\"", "\"$WORK\\doc\"", "Duplicate key-sequence ['$WORK\\doc']"},
        {"</match>", "</match>" DOCUMENT_OBJECT, "This element is not expected"},
        {"  <guarantees>", "  <guarantees/><guarantees>", "This element is not expected"},
        {"<open>C:\\Windows can be read", "<open>", "Element 'open'"},
        {"C:\\Windows can", "C:\\Windows\ncan", "Element 'open'"},
        {"privateNetworkClientServer", "internetClient", "Duplicate key-sequence"},
        {"<accepted", "<accepted name=\"limit.files\">a</accepted><accepted", "Duplicate key-sequence"},
        {"<control", "<control name=\"fs.closed\" strength=\"enforced\">a</control><control",
         "Duplicate key"},
        {"<require", "<require path=\"$WORK\" not-below=\"$CACHE\\x\"/><require", "Duplicate key-sequence"},
    };
    EXPECT_REFUSALS(cases);
}

static void test_tiers(void **state)
{
    (void)state;
    static const struct refused cases[] = {
        {"\"appcontainer\"", "\"account\"", "the tier account is reserved"},
        {"\"appcontainer\"", "\"restricted\"", "line 9: this is not the token of the tier restricted"},
        {"integrity=\"low\"", "integrity=\"medium\"", "not the token of the tier appcontainer"},
        {"write-restricted=\"false\"", "write-restricted=\"true\"", "not the token of the tier"},
        {"drop-privileges=\"true\"/>", "drop-privileges=\"true\"><restrict sid=\"run\"/></token>",
         "not the token of the tier"},
        {"drop-privileges=\"true\"/>", "drop-privileges=\"true\"><restrict sid=\"logon\"/></token>",
         "not the token of the tier"},
    };
    EXPECT_REFUSALS(cases);

    struct arena *arena = arena_create(0);
    const char *low = low_document(arena);
    const char *text = document_replaced(arena, low, "integrity=\"low\"", "integrity=\"medium\"");
    assert_non_null(strstr(refusal(arena, text, strlen(text)), "not the token of the tier restricted-low"));
    text = document_replaced(arena, low, "    <restrict sid=\"logon\"/>\n", "");
    assert_non_null(strstr(refusal(arena, text, strlen(text)), "not the token of the tier restricted-low"));
    text = document_replaced(arena, low, "  <job", "  <appcontainer/>\n  <job");
    assert_non_null(strstr(refusal(arena, text, strlen(text)), "not the token of the tier restricted-low"));
    arena_destroy(arena);
}

/* A specification that is valid but breaks what the schema cannot say comes back from the same function. */
static void test_check_is_asked(void **state)
{
    (void)state;
    static const struct refused cases[] = {
        {"\"C:\\Tools\"", "\"$WORK\\.GIT\\HOOKS\"", "line 36: $WORK\\.GIT\\HOOKS is named twice"}};
    EXPECT_REFUSALS(cases);
}

/* A document that was cut off anywhere is none, and nothing behind its end is looked at. */
static void test_cut_off(void **state)
{
    (void)state;
    for (size_t length = 0; length + 1 < strlen(document_text); length += SBX_SANITIZED ? 13 : 1) {
        struct arena *arena = arena_create(0);
        char *bytes = malloc(length + 1);
        memcpy(bytes, document_text, length);
        bytes[length] = '>';
        (void)refusal(arena, bytes, length);
        free(bytes);
        arena_destroy(arena);
    }
    static const struct refused cases[] = {
        {"\"private\"/>", "\"shut", "a value does not end"},
        {"\"private\"/>", "\"shut\"", "a tag does not end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create(0);
        char *text = document_replaced(arena, document_text, cases[i].from, cases[i].to);
        size_t length = (size_t)(strstr(text, "\"shut") - text) + strlen(cases[i].to);
        assert_non_null(strstr(refusal(arena, text, length), cases[i].says));
        arena_destroy(arena);
    }
}

static void expect_whole(const char *from, const char *to, const char *says)
{
    struct arena *arena = arena_create(0);
    const char *text = document_replaced(arena, document_text, from, to);
    assert_string_equal(refusal(arena, text, strlen(text)), says);
    arena_destroy(arena);
}

static void test_words(void **state)
{
    (void)state;
    expect_whole("\"web\"", "\"w/b\"",
                 "line 3: Element 'sbx-windows', attribute 'policy': The value 'w/b' is not accepted");
    expect_whole("NODE_*", "CI", "line 19: Element 'keep': Duplicate key-sequence ['CI']");
    expect_whole(
        "\"private\"", "\"open\"",
        "line 15: Element 'desktop', attribute 'mode': The value 'open' is not an element of the set "
        "{'private'}");
    expect_whole("<scratch/>", "<scratch/><network/>",
                 "line 16: Element 'network': This element is not expected. Expected is ( environment )");
}

/* What is shown of a hostile value can neither move a terminal's cursor nor be endless. */
static void test_message(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer value = buffer_in(arena);
    buffer_string(&value, "\"x\xc2\x9b");
    for (int i = 0; i < 5000; i++)
        buffer_string(&value, "\xc3\xa9");
    buffer_string(&value, "\"");
    const char *text = document_replaced(arena, document_text, "\"private\"", value.bytes);
    const char *said = refusal(arena, text, strlen(text));
    assert_non_null(strstr(said, "\\xc2\\x9b"));
    assert_null(strstr(said, "\xc2\x9b"));
    assert_true(strlen(said) < 1200);
    assert_non_null(strstr(said, " ... "));
    assert_non_null(strstr(said, "is not an element of the set {'private'}"));
    arena_destroy(arena);
}

static void test_controls_are_in_the_schema(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    for (int i = 0; i < CONTROLS; i++)
        assert_non_null(
            strstr(windows_schema, arena_format(arena, "<xs:enumeration value=\"%s\"/>", control_names[i])));
    for (int i = 0; i < WINDOWS_TIERS; i++)
        assert_non_null(strstr(windows_schema,
                               arena_format(arena, "<xs:enumeration value=\"%s\"/>", windows_tier_names[i])));
    assert_int_equal(strlen(windows_schema), windows_schema_length);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_acl),
        cmocka_unit_test(test_low),
        cmocka_unit_test(test_line_ends_of_windows),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_markup),
        cmocka_unit_test(test_schema),
        cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_check_is_asked),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_controls_are_in_the_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
