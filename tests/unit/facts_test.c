/* What facts make of a policy on a host with missing paths, patterns, hard links and unreadable places. */
#include "tests/unit/facts_host.h"

static void places_say_what_is_there(void **state)
{
    struct host *host = *state;
    make_directory(host->top, "w/closed");
    make_file(host->top, "w/secret", "x");
    assert_int_equal(mkfifo(below(host->top, "w/fifo"), 0600), 0);
    assert_true(gather(host, LINES("grant write $WORK", "deny $WORK/closed", "deny $WORK/secret",
                                   "deny $WORK/fifo", "grant read $TMP/other/file")));
    assert_int_equal(place_at(host, "w")->level, LEVEL_WRITE);
    assert_int_equal(place_at(host, "w")->kind, ENTRY_DIRECTORY);
    assert_int_equal(place_at(host, "w/closed")->kind, ENTRY_DIRECTORY);
    assert_int_equal(place_at(host, "w/secret")->kind, ENTRY_FILE);
    assert_int_equal(place_at(host, "w/secret")->level, LEVEL_NONE);
    assert_int_equal(place_at(host, "w/fifo")->kind, ENTRY_OTHER);
    assert_int_equal(place_at(host, "other/file")->level, LEVEL_READ);
    assert_int_equal(host->facts.missing_count, 0);
}

static void a_missing_grant_is_left_out(void **state)
{
    struct host *host = *state;
    assert_true(
        gather(host, LINES("grant write $WORK", "grant read $TMP/none", "auto grant read $HOME/none")));
    assert_true(noted(host, SBX450_GRANT_MISSING));
    assert_int_equal(level_at(host, "none"), LEVEL_NONE);
    assert_null(place_at(host, "none"));
    assert_int_equal(host->facts.missing_count, 0);
}

static void a_missing_grant_that_lowers_holds(void **state)
{
    struct host *host = *state;
    assert_true(gather(host, LINES("grant write $WORK", "grant read $WORK/vendor/")));
    assert_int_equal(level_at(host, "w/vendor/x"), LEVEL_READ);
    assert_non_null(missing_at(host, "w/vendor"));
    assert_true(missing_at(host, "w/vendor")->directory);
    assert_int_equal(place_at(host, "w/vendor")->level, LEVEL_READ);
    assert_int_equal(place_at(host, "w/vendor")->kind, ENTRY_DIRECTORY);
}

static void a_missing_automatic_grant_holds_nothing(void **state)
{
    struct host *host = *state;
    assert_true(
        gather(host, LINES("grant write $WORK", "auto grant read $WORK/vendor", "grant write $WORK/more")));
    assert_int_equal(level_at(host, "w/vendor"), LEVEL_WRITE);
    assert_int_equal(host->facts.missing_count, 0);
}

static void a_missing_deny_needs_a_placeholder_only_where_it_could_be_made(void **state)
{
    struct host *host = *state;
    assert_true(gather(host, LINES("grant write $WORK", "grant read $TMP/other", "deny $WORK/a/b/key",
                                   "deny write $WORK/hooks/", "deny $TMP/other/key", "deny $HOME/key",
                                   "deny $WORK/a/b/key/inner")));
    assert_int_equal(host->facts.missing_count, 2);
    assert_false(missing_at(host, "w/a/b/key")->directory);
    assert_string_equal(missing_at(host, "w/a/b/key")->ancestor, below(host->top, "w"));
    assert_true(missing_at(host, "w/hooks")->directory);
    assert_int_equal(place_at(host, "w/a/b/key")->kind, ENTRY_FILE);
    assert_int_equal(place_at(host, "w/hooks")->level, LEVEL_READ);
}

static void a_name_that_can_never_exist_needs_no_placeholder(void **state)
{
    struct host *host = *state;
    char rule[400] = "deny $WORK/";
    memset(rule + strlen(rule), 'x', 300);
    assert_true(gather(host, LINES("grant write $WORK", rule)));
    assert_int_equal(host->facts.missing_count, 0);
}

static void an_except_below_a_missing_deny_makes_a_directory(void **state)
{
    struct host *host = *state;
    assert_true(gather(host, LINES("grant write $WORK", "deny write $WORK/a except $WORK/a/b")));
    assert_true(missing_at(host, "w/a")->directory);
}

static void a_rule_that_its_exception_lifts_needs_no_placeholder(void **state)
{
    struct host *host = *state;
    assert_true(gather(
        host, LINES("grant write $WORK", "deny write $WORK/a/ except $WORK/a", "deny write $WORK/a*")));
    assert_int_equal(host->facts.missing_count, 0);
}

static void two_rules_on_one_missing_path_need_one_placeholder(void **state)
{
    struct host *host = *state;
    assert_true(gather(host, LINES("grant write $WORK", "deny $WORK/a", "deny write $WORK/a/")));
    assert_int_equal(host->facts.missing_count, 1);
    assert_true(host->facts.missing[0].directory);
}

static void commondir_is_not_left_empty_in_a_git_directory(void **state)
{
    struct host *host = *state;
    make_directory(host->top, "w/.git");
    make_directory(host->top, "w/bare");
    make_file(host->top, "w/bare/HEAD", "x");
    make_directory(host->top, "w/plain");
    assert_true(gather(host, LINES("grant write $WORK", "deny write $GITDIR/commondir",
                                   "deny write $WORK/bare/commondir", "deny write $WORK/plain/commondir")));
    assert_string_equal(missing_at(host, "w/.git/commondir")->content, ".\n");
    assert_string_equal(missing_at(host, "w/bare/commondir")->content, ".\n");
    assert_string_equal(missing_at(host, "w/plain/commondir")->content, "");
}

static void a_directory_hides_itself_from_git_in_a_work_tree_alone(void **state)
{
    struct host *host = *state;
    assert_true(gather(host, LINES("grant write $WORK", "deny write $WORK/.vscode/")));
    assert_string_equal(missing_at(host, "w/.vscode")->content, "");
    make_directory(host->top, "w/.git");
    assert_true(gather(host, LINES("grant write $WORK", "deny write $WORK/.vscode/")));
    assert_string_equal(missing_at(host, "w/.vscode")->content, "*\n");
    host->roots[ROOT_REPO] = host->roots[ROOT_WORK];
    assert_true(gather(host, LINES("grant write $WORK", "deny write $GITDIR/hooks/",
                                   "deny write $WORK/.vscode/", "deny write $WORK/.envrc")));
    assert_string_equal(missing_at(host, "w/.vscode")->content, "*\n");
    assert_string_equal(missing_at(host, "w/.git/hooks")->content, "");
    assert_string_equal(missing_at(host, "w/.envrc")->content, "");
}

static void below_a_replaceable_file_a_deny_is_refused(void **state)
{
    struct host *host = *state;
    make_file(host->top, "w/f", "x");
    assert_false(gather(host, LINES("grant write $WORK", "deny $WORK/f/key")));
    assert_true(noted(host, SBX455_DENY_BELOW_FILE));
    assert_true(gather(host, LINES("grant write $WORK", "deny write $WORK/f", "deny $WORK/f/key")));
    assert_true(gather(host, LINES("grant write $WORK/f", "deny $WORK/f/key")));
    assert_true(gather(host, LINES("grant read $WORK", "deny $WORK/f/key")));
}

static void hard_links_are_noted(void **state)
{
    struct host *host = *state;
    make_file(host->top, "w/key", "x");
    assert_int_equal(link(below(host->top, "w/key"), below(host->top, "w/second")), 0);
    assert_true(gather(host, LINES("grant write $WORK", "deny $WORK/key")));
    assert_true(host->facts.hard_links);
    assert_true(noted(host, SBX454_DENIED_FILE_HAS_LINKS));
    assert_true(gather(host, LINES("grant write $WORK", "deny $WORK/k*")));
    assert_true(host->facts.hard_links);
    assert_true(gather(host, LINES("grant write $WORK")));
    assert_false(host->facts.hard_links);
}

static void every_match_of_a_pattern_is_denied(void **state)
{
    struct host *host = *state;
    make_directory(host->top, "w/a");
    make_directory(host->top, "w/a/b");
    make_directory(host->top, "w/a/keys.pem");
    make_file(host->top, "w/a/b/k.pem", "x");
    make_file(host->top, "w/\xff\n.pem", "x");
    make_file(host->top, "w/a/keys.pem/k.pem", "x");
    make_directory(host->top, "w/ok");
    make_file(host->top, "w/ok/k.pem", "x");
    assert_int_equal(mkfifo(below(host->top, "w/fifo.pem"), 0600), 0);
    assert_true(gather(host, LINES("grant write $WORK", "deny $WORK/**/*.pem except $WORK/ok")));
    assert_int_equal(place_at(host, "w/a/b/k.pem")->kind, ENTRY_FILE);
    assert_int_equal(place_at(host, "w/a/keys.pem")->kind, ENTRY_DIRECTORY);
    assert_int_equal(place_at(host, "w/fifo.pem")->kind, ENTRY_OTHER);
    assert_non_null(place_at(host, "w/\xff\n.pem"));
    assert_null(place_at(host, "w/a/keys.pem/k.pem"));
    assert_null(place_at(host, "w/ok/k.pem"));
    assert_int_equal(host->facts.match_count, 4);
}

static void matches_are_looked_for_only_where_something_is_granted(void **state)
{
    struct host *host = *state;
    make_directory(host->top, "home/a");
    make_directory(host->top, "home/a/granted");
    make_file(host->top, "home/k.pem", "x");
    make_file(host->top, "home/a/k.pem", "x");
    make_file(host->top, "home/a/granted/k.pem", "x");
    assert_true(gather(host, LINES("grant read $HOME/a/granted", "deny $HOME/**/*.pem")));
    assert_int_equal(host->facts.match_count, 1);
    assert_string_equal(host->facts.matches[0], below(host->top, "home/a/granted/k.pem"));
    assert_int_equal(place_at(host, "home/a/granted/k.pem")->level, LEVEL_NONE);
}

static void a_pattern_does_not_walk_through_links(void **state)
{
    struct host *host = *state;
    make_file(host->top, "other/k.pem", "x");
    make_link(host->top, "w/other", "../other");
    make_link(host->top, "w/up", "..");
    assert_true(gather(host, LINES("grant write $WORK", "grant read $TMP/other", "deny $WORK/**/*.pem")));
    assert_int_equal(host->facts.match_count, 0);
    assert_int_equal(level_at(host, "other/k.pem"), LEVEL_READ);
}

static void the_target_of_a_match_is_denied_too(void **state)
{
    struct host *host = *state;
    make_link(host->top, "w/l.pem", "../other/file");
    assert_true(gather(host, LINES("grant write $WORK", "grant read $TMP/other", "deny $WORK/**/*.pem")));
    assert_int_equal(level_at(host, "other/file"), LEVEL_NONE);
    assert_int_equal(place_at(host, "other/file")->level, LEVEL_NONE);
    assert_null(place_at(host, "w/l.pem"));
    assert_true(noted(host, SBX457_MATCH_IS_LINK));
    assert_true(gather(
        host, LINES("grant write $WORK", "grant read $TMP/other", "deny $WORK/**/*.pem except $WORK/l.pem")));
    assert_int_equal(level_at(host, "other/file"), LEVEL_READ);
}

static void a_match_that_leads_above_itself_is_refused(void **state)
{
    struct host *host = *state;
    make_link(host->top, "w/l.pem", "/");
    assert_false(gather(host, LINES("grant write $WORK", "deny $WORK/**/*.pem")));
    assert_true(noted(host, SBX459_MATCH_LEADS_ABOVE));
}

static void a_pattern_whose_start_is_a_link_is_repeated_where_it_leads(void **state)
{
    struct host *host = *state;
    make_file(host->top, "other/[k].pem", "x");
    make_link(host->top, "home/l", "../other");
    assert_true(gather(host, LINES("grant read $TMP/other", "deny $HOME/l/*.pem")));
    assert_int_equal(level_at(host, "other/[k].pem"), LEVEL_NONE);
    assert_int_equal(place_at(host, "other/[k].pem")->level, LEVEL_NONE);
}

/* As root everything can be listed, so this looks with the eyes of another user. */
static void an_unreadable_directory_is_denied_whole(void **state)
{
    struct host *host = *state;
    make_directory(host->top, "w/closed");
    make_directory(host->top, "w/closed/a");
    make_directory(host->top, "w/open");
    chmod(below(host->top, "w/closed"), 0);
    uid_t uid = geteuid();
    if (uid == 0)
        assert_int_equal(seteuid(65534), 0);
    bool gathered = gather(host, LINES("grant read $WORK", "deny $WORK/**/*.pem"));
    bool beyond = gather(host, LINES("grant read $WORK", "deny $WORK/closed/a"));
    bool unseen = noted(host, SBX453_CANNOT_JUDGE_PATH);
    bool closed = gather(host, LINES("grant read $WORK/open", "deny $WORK/closed/a"));
    bool blocked = gather(host, LINES("grant read $WORK", "deny $WORK/closed/a/*.pem"));
    bool whole = level_at(host, "w/closed") == LEVEL_NONE;
    bool again = gather(host, LINES("grant read $WORK", "deny $WORK/**/*.pem"));
    if (uid == 0)
        assert_int_equal(seteuid(0), 0);
    chmod(below(host->top, "w/closed"), 0755);
    assert_true(gathered && again);
    assert_true(blocked && whole);
    assert_true(noted(host, SBX458_DIRECTORY_DENIED_WHOLE));
    assert_int_equal(place_at(host, "w/closed")->level, LEVEL_NONE);
    assert_false(beyond);
    assert_true(unseen);
    assert_true(closed);
}

static void nothing_can_be_made_in_a_directory_of_others(void **state)
{
    struct host *host = *state;
    uid_t uid = geteuid();
    if (uid != 0)
        return; /* only root can give a directory away */
    assert_int_equal(seteuid(65534), 0);
    bool gathered = gather(host, LINES("grant write $WORK", "deny $WORK/key"));
    assert_int_equal(seteuid(0), 0);
    assert_true(gathered);
    assert_int_equal(host->facts.missing_count, 0);
    assert_true(gather(host, LINES("grant write $WORK", "deny $WORK/key")));
    assert_int_equal(host->facts.missing_count, 1);
}

static void deep_trees_are_denied_where_paths_end(void **state)
{
    struct host *host = *state;
    char name[201];
    memset(name, 'd', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    int directory = open(below(host->top, "w"), O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 25; i++) {
        assert_int_equal(mkdirat(directory, name, 0755), 0);
        int next = openat(directory, name, O_RDONLY | O_DIRECTORY);
        close(directory);
        directory = next;
    }
    close(openat(directory, "k.pem", O_CREAT | O_WRONLY, 0644));
    close(directory);
    assert_true(gather(host, LINES("grant write $WORK", "deny $WORK/**/*.pem")));
    assert_true(noted(host, SBX458_DIRECTORY_DENIED_WHOLE));
}

static void a_denied_path_that_is_too_long_to_cover_is_refused(void **state)
{
    struct host *host = *state;
    char name[201], path[PATH_MAX + 400];
    memset(name, 'd', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    int directory = open(below(host->top, "w"), O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "deny $WORK");
    while (strlen(path) < PATH_MAX) {
        assert_int_equal(mkdirat(directory, name, 0755), 0);
        int next = openat(directory, name, O_RDONLY | O_DIRECTORY);
        close(directory);
        directory = next;
        snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", name);
    }
    close(directory);
    /* Binding takes 4096 bytes; the file system ends one byte before. */
    path[strlen("deny $WORK") + PATH_MAX - strlen(below(host->top, "w"))] = '\0';
    assert_false(gather(host, LINES("grant write $WORK", path)));
    assert_true(noted(host, SBX453_CANNOT_JUDGE_PATH));
}

static void processes_of_proc_stay_and_the_rest_is_read_only(void **state)
{
    struct host *host = *state;
    assert_true(gather(host, LINES("grant write $WORK")));
    bool sys = false;
    for (uint32_t i = 0; i < host->facts.proc_read_only_count; i++) {
        const char *name = host->facts.proc_read_only[i];
        assert_true(name[0] < '0' || name[0] > '9');
        assert_string_not_equal(name, "self");
        sys = sys || strcmp(name, "sys") == 0;
    }
    assert_true(sys);
}

static void what_belongs_to_processes_cannot_be_denied(void **state)
{
    struct host *host = *state;
    assert_false(gather(host, LINES("grant write $WORK", "deny /proc/self/environ")));
    assert_true(noted(host, SBX466_DENY_OF_PROCESS));
    assert_false(gather(host, LINES("grant write $WORK", "deny /proc/1/environ")));
    assert_true(
        gather(host, LINES("grant read /proc", "deny /proc/cpuinfo", "deny /proc/none", "deny /proc/sys")));
    for (uint32_t i = 0; i < host->facts.place_count; i++)
        if (strcmp(host->facts.places[i].path, "/proc/sys") == 0)
            assert_int_equal(host->facts.places[i].kind, ENTRY_DIRECTORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOST_TEST(places_say_what_is_there),
        HOST_TEST(a_missing_grant_is_left_out),
        HOST_TEST(a_missing_grant_that_lowers_holds),
        HOST_TEST(a_missing_automatic_grant_holds_nothing),
        HOST_TEST(a_missing_deny_needs_a_placeholder_only_where_it_could_be_made),
        HOST_TEST(a_name_that_can_never_exist_needs_no_placeholder),
        HOST_TEST(an_except_below_a_missing_deny_makes_a_directory),
        HOST_TEST(a_rule_that_its_exception_lifts_needs_no_placeholder),
        HOST_TEST(two_rules_on_one_missing_path_need_one_placeholder),
        HOST_TEST(commondir_is_not_left_empty_in_a_git_directory),
        HOST_TEST(a_directory_hides_itself_from_git_in_a_work_tree_alone),
        HOST_TEST(below_a_replaceable_file_a_deny_is_refused),
        HOST_TEST(hard_links_are_noted),
        HOST_TEST(every_match_of_a_pattern_is_denied),
        HOST_TEST(matches_are_looked_for_only_where_something_is_granted),
        HOST_TEST(a_pattern_does_not_walk_through_links),
        HOST_TEST(the_target_of_a_match_is_denied_too),
        HOST_TEST(a_match_that_leads_above_itself_is_refused),
        HOST_TEST(a_pattern_whose_start_is_a_link_is_repeated_where_it_leads),
        HOST_TEST(an_unreadable_directory_is_denied_whole),
        HOST_TEST(nothing_can_be_made_in_a_directory_of_others),
        HOST_TEST(deep_trees_are_denied_where_paths_end),
        HOST_TEST(a_denied_path_that_is_too_long_to_cover_is_refused),
        HOST_TEST(what_belongs_to_processes_cannot_be_denied),
        HOST_TEST(processes_of_proc_stay_and_the_rest_is_read_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
