/* What facts make of a policy on a host with symbolic links, planted ones among them. */
#include "tests/unit/facts_host.h"

static void a_grant_through_a_link_grants_both_spellings(void **state)
{
    struct host *host = *state;
    make_directory(host->top, "usr");
    make_directory(host->top, "usr/bin");
    make_link(host->top, "bin", "usr/bin");
    assert_true(gather(host, LINES("grant read $TMP/bin")));
    assert_int_equal(level_at(host, "bin/sh"), LEVEL_READ);
    assert_int_equal(level_at(host, "usr/bin/sh"), LEVEL_READ);
    assert_int_equal(place_at(host, "usr/bin")->level, LEVEL_READ);
    assert_null(place_at(host, "bin"));
    assert_int_equal(host->facts.link_count, 1);
    assert_string_equal(host->facts.links[0].path, below(host->top, "bin"));
    assert_string_equal(host->facts.links[0].target, "usr/bin");
}

static void a_link_that_is_seen_is_not_made_again(void **state)
{
    struct host *host = *state;
    make_link(host->top, "other/l", "../home");
    assert_true(gather(host, LINES("grant read $TMP/other", "grant read $TMP/other/l")));
    assert_int_equal(level_at(host, "home"), LEVEL_READ);
    assert_int_equal(host->facts.link_count, 0);
}

static void links_that_dev_brings_itself_are_not_made(void **state)
{
    struct host *host = *state;
    assert_true(gather(host, LINES("grant write $WORK", "grant write /dev/stdout")));
    assert_int_equal(host->facts.link_count, 0);
}

static void a_planted_link_grants_nothing(void **state)
{
    struct host *host = *state;
    make_link(host->top, "w/data", "../home");
    assert_true(gather(host, LINES("grant write $WORK", "grant write $WORK/data")));
    assert_true(noted(host, SBX451_GRANT_THROUGH_PLANTED_LINK));
    assert_int_equal(level_at(host, "home"), LEVEL_NONE);
    assert_null(place_at(host, "home"));
}

static const char *canonical(void *context, struct arena *arena, const char *path)
{
    char found[PATH_MAX];
    (void)context;
    return realpath(path, found) == NULL ? NULL : arena_strdup(arena, found);
}

static void a_root_through_a_planted_link_grants_nothing(void **state)
{
    struct host *host = *state;
    const char *const lines[] = {"grant write $WORK", "grant write $CACHE/x", NULL};
    struct bindings bindings = bindings_of(host);
    make_directory(host->top, "other/x");
    make_link(host->top, "w/cache", "../other");
    make_link(host->top, "home/cache", "../other");
    const char *cache = arena_strdup(host->arena, below(host->top, "other"));
    bindings.roots[ROOT_CACHE] = (struct root_value){.state = ROOT_BOUND, .paths = &cache, .count = 1};
    bindings.roots[ROOT_CACHE].given = below(host->top, "home/cache");
    bind_host_with(host, lines, bindings);
    assert_true(gather_bound(host, false));
    assert_int_equal(level_at(host, "other/x"), LEVEL_WRITE);
    bindings.roots[ROOT_CACHE].given = below(host->top, "w/cache");
    bind_host_with(host, lines, bindings);
    assert_true(gather_bound(host, false));
    assert_int_equal(level_at(host, "other/x"), LEVEL_NONE);
    assert_true(noted(host, SBX451_GRANT_THROUGH_PLANTED_LINK));
}

static void a_tool_directory_through_a_planted_link_grants_nothing(void **state)
{
    struct host *host = *state;
    const char *const lines[] = {"grant write $WORK", "auto grant read $env.PATH", NULL};
    const struct host_view view = {.canonical = canonical};
    struct bindings bindings = bindings_of(host);
    struct variable variable = {.name = "PATH"};
    make_link(host->top, "w/bin", "../other");
    make_link(host->top, "home/bin", "../other");
    bindings.host = &view;
    bindings.environment = &variable;
    bindings.environment_count = 1;
    variable.value = below(host->top, "w/bin");
    bind_host_with(host, lines, bindings);
    assert_true(gather_bound(host, false));
    assert_int_equal(level_at(host, "other"), LEVEL_NONE);
    /* Another way to the same place is open. */
    variable.value = arena_format(host->arena, "%s:%s", variable.value, below(host->top, "home/bin"));
    bind_host_with(host, lines, bindings);
    assert_true(gather_bound(host, false));
    assert_int_equal(level_at(host, "other"), LEVEL_READ);
}

static void a_limit_or_except_by_a_planted_root_says_nothing(void **state)
{
    struct host *host = *state;
    const char *const limit[] = {"grant write $WORK",    "grant write $TMP/other", "managed m",
                                 "limit write to $WORK", "limit write to $CACHE",  NULL};
    const char *const except[] = {"grant write $WORK", "grant read $TMP/other",
                                  "deny $TMP/other except $WORK/none,$CACHE,$HOME/none", NULL};
    struct bindings bindings = bindings_of(host);
    make_link(host->top, "w/cache", "../other");
    const char *cache = arena_strdup(host->arena, below(host->top, "other"));
    bindings.roots[ROOT_CACHE] = (struct root_value){.state = ROOT_BOUND, .paths = &cache, .count = 1};
    bindings.roots[ROOT_CACHE].given = below(host->top, "w/cache");
    bindings.managed_roots[ROOT_CACHE] = bindings.roots[ROOT_CACHE];
    bind_host_with(host, limit, bindings);
    assert_int_equal(level_at(host, "other"), LEVEL_WRITE);
    assert_true(gather_bound(host, false));
    assert_int_equal(level_at(host, "other"), LEVEL_READ);
    bind_host_with(host, except, bindings);
    assert_int_equal(level_at(host, "other"), LEVEL_READ);
    assert_true(gather_bound(host, false));
    assert_int_equal(level_at(host, "other"), LEVEL_NONE);
}

/* The first link makes the directory of the second one writable. */
static void a_link_is_planted_also_where_another_link_opens_its_directory(void **state)
{
    struct host *host = *state;
    make_directory(host->top, "project");
    make_link(host->top, "home/project", "../project");
    make_link(host->top, "project/data", "../other");
    assert_true(gather(host, LINES("grant write $HOME/project", "grant read $HOME/project/data")) == false);
    assert_true(noted(host, SBX451_GRANT_THROUGH_PLANTED_LINK));
    assert_int_equal(level_at(host, "other"), LEVEL_NONE);
    assert_int_equal(level_at(host, "project"), LEVEL_WRITE);
}

/* It would have lowered its place, and what holds instead cannot stand on a link. */
static void a_planted_link_where_a_grant_lowers_is_refused(void **state)
{
    struct host *host = *state;
    make_link(host->top, "w/vendor", "../other");
    assert_false(gather(host, LINES("grant write $WORK", "grant read $WORK/vendor")));
    assert_true(noted(host, SBX452_DENY_THROUGH_REPLACEABLE_LINK));
    assert_int_equal(level_at(host, "other"), LEVEL_NONE);
}

static void a_deny_holds_where_its_link_leads(void **state)
{
    struct host *host = *state;
    make_link(host->top, "home/.secret", "../w/secret");
    make_file(host->top, "w/secret", "x");
    assert_true(gather(host, LINES("grant write $WORK", "deny $HOME/.secret")));
    assert_int_equal(level_at(host, "w/secret"), LEVEL_NONE);
    assert_int_equal(place_at(host, "w/secret")->kind, ENTRY_FILE);
}

static void a_deny_holds_where_its_link_leads_to_nothing_yet(void **state)
{
    struct host *host = *state;
    make_link(host->top, "home/.secret", "../w/a/secret");
    assert_true(gather(host, LINES("grant write $WORK", "deny $HOME/.secret")));
    assert_non_null(missing_at(host, "w/a/secret"));
}

static void a_deny_through_a_replaceable_link_is_refused(void **state)
{
    struct host *host = *state;
    make_link(host->top, "w/.env", "../other/file");
    assert_false(gather(host, LINES("grant write $WORK", "deny $WORK/.env")));
    assert_true(noted(host, SBX452_DENY_THROUGH_REPLACEABLE_LINK));
    make_directory(host->top, "w/conf");
    make_link(host->top, "w/conf/key", "../../other/file");
    unlink(below(host->top, "w/.env"));
    assert_true(gather(host, LINES("grant write $WORK", "deny write $WORK/conf", "deny $WORK/conf/key")));
}

static void dangling_and_looping_links_are_refused_where_they_could_be_replaced(void **state)
{
    struct host *host = *state;
    make_link(host->top, "w/gone", "/nowhere/at/all");
    make_link(host->top, "w/loop", "loop");
    make_link(host->top, "home/loop", "loop");
    assert_false(gather(host, LINES("grant write $WORK", "deny $WORK/gone")));
    assert_false(gather(host, LINES("grant write $WORK", "deny $WORK/loop")));
    assert_true(gather(host, LINES("grant write $WORK", "deny $HOME/loop", "grant read $HOME/loop")));
    assert_true(noted(host, SBX462_GRANT_UNSEEN));
}

static void an_except_pattern_opens_what_it_matches_and_no_link(void **state)
{
    struct host *host = *state;
    make_directory(host->top, "w/keys");
    make_directory(host->top, "w/keys/old");
    make_file(host->top, "w/keys/id", "x");
    make_file(host->top, "w/keys/id.pub", "x");
    make_file(host->top, "w/keys/old/id.pub", "x");
    make_link(host->top, "w/keys/link.pub", "id");
    assert_true(gather(host, LINES("grant write $WORK", "deny $WORK/keys/ except $WORK/keys/*.pub")));
    assert_int_equal(place_at(host, "w/keys")->level, LEVEL_NONE);
    assert_int_equal(place_at(host, "w/keys/id.pub")->level, LEVEL_WRITE);
    assert_int_equal(place_at(host, "w/keys/id.pub")->kind, ENTRY_FILE);
    assert_null(place_at(host, "w/keys/link.pub"));
    assert_null(place_at(host, "w/keys/old/id.pub"));
    assert_null(place_at(host, "w/keys/id"));
}

static void an_except_follows_no_planted_link(void **state)
{
    struct host *host = *state;
    make_directory(host->top, "w/tests");
    make_directory(host->top, "home/tests");
    make_link(host->top, "w/ok", "../other");
    make_link(host->top, "home/ok", "../other");
    assert_true(
        gather(host, LINES("grant write $WORK", "grant read $TMP/other", "deny $TMP/other except $WORK/ok")));
    assert_int_equal(level_at(host, "other"), LEVEL_NONE);
    assert_true(
        gather(host, LINES("grant write $WORK", "grant read $TMP/other", "deny $TMP/other except $HOME/ok")));
    assert_int_equal(level_at(host, "other"), LEVEL_READ);
}

static void a_limit_follows_no_planted_link(void **state)
{
    struct host *host = *state;
    make_link(host->top, "w/ok", "../other");
    make_link(host->top, "home/ok", "../other");
    assert_true(gather(host, LINES("grant write $WORK", "grant write $TMP/other", "managed m",
                                   "limit write to $WORK", "limit write to $WORK/ok")));
    assert_int_equal(level_at(host, "other"), LEVEL_READ);
    assert_true(gather(host, LINES("grant write $WORK", "grant write $TMP/other", "managed m",
                                   "limit write to $WORK", "limit write to $HOME/ok")));
    assert_int_equal(level_at(host, "other"), LEVEL_WRITE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOST_TEST(a_grant_through_a_link_grants_both_spellings),
        HOST_TEST(a_link_that_is_seen_is_not_made_again),
        HOST_TEST(links_that_dev_brings_itself_are_not_made),
        HOST_TEST(a_planted_link_grants_nothing),
        HOST_TEST(a_root_through_a_planted_link_grants_nothing),
        HOST_TEST(a_tool_directory_through_a_planted_link_grants_nothing),
        HOST_TEST(a_limit_or_except_by_a_planted_root_says_nothing),
        HOST_TEST(a_link_is_planted_also_where_another_link_opens_its_directory),
        HOST_TEST(a_planted_link_where_a_grant_lowers_is_refused),
        HOST_TEST(a_deny_holds_where_its_link_leads),
        HOST_TEST(a_deny_holds_where_its_link_leads_to_nothing_yet),
        HOST_TEST(a_deny_through_a_replaceable_link_is_refused),
        HOST_TEST(dangling_and_looping_links_are_refused_where_they_could_be_replaced),
        HOST_TEST(an_except_pattern_opens_what_it_matches_and_no_link),
        HOST_TEST(an_except_follows_no_planted_link),
        HOST_TEST(a_limit_follows_no_planted_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
