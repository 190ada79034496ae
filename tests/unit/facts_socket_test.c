/* Host sockets in reach are covered wherever they are, and granted ones are shown. */
#include "tests/unit/facts_host.h"

#include <sys/socket.h>
#include <sys/un.h>

/* A socket bound to `name`, a path relative to the directory `top`/`rest`. Returns its descriptor. */
static int bind_socket(const char *top, const char *rest, const char *name, bool absolute)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[2 * PATH_MAX];
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(path, sizeof path, "%s/%s/%s", top, rest, name);
    assert_true(strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, absolute ? path : name, strlen(absolute ? path : name));
    assert_int_equal(chdir(below(top, rest)), 0);
    assert_int_equal(bind(descriptor, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(descriptor, 1), 0);
    assert_int_equal(chdir("/"), 0);
    return descriptor;
}

static bool is_masked(const struct host *host, const char *rest)
{
    for (uint32_t i = 0; i < host->facts.masked_socket_count; i++)
        if (strcmp(host->facts.masked_sockets[i], below(host->top, rest)) == 0)
            return true;
    return false;
}

static void a_socket_in_a_granted_place_is_covered(void **state)
{
    struct host *host = *state;
    int socket = bind_socket(host->top, "w", "s", true);
    int elsewhere = bind_socket(host->top, "home", "s", true);
    assert_true(gather_with(host, LINES("grant read $WORK", "grant socket $TMP/other"), true));
    assert_true(is_masked(host, "w/s"));
    assert_false(is_masked(host, "home/s"));
    assert_int_equal(place_at(host, "w/s")->level, LEVEL_NONE);
    assert_int_equal(place_at(host, "w/s")->kind, ENTRY_OTHER);
    assert_null(place_at(host, "home/s"));
    assert_true(gather_with(host, LINES("grant read $WORK"), false));
    assert_int_equal(host->facts.masked_socket_count, 0);
    close(socket);
    close(elsewhere);
}

static void a_granted_socket_is_shown(void **state)
{
    struct host *host = *state;
    int visible = bind_socket(host->top, "w", "s", true);
    int hidden = bind_socket(host->top, "home", "s", true);
    int denied = bind_socket(host->top, "home", "d", true);
    assert_true(gather_with(
        host, LINES("grant read $WORK", "grant socket $WORK/s", "grant socket $HOME", "deny socket $HOME/d"),
        true));
    assert_int_equal(host->facts.masked_socket_count, 0);
    assert_true(place_at(host, "w/s")->socket);
    assert_int_equal(place_at(host, "w/s")->level, LEVEL_READ);
    assert_true(place_at(host, "home/s")->socket);
    assert_int_equal(place_at(host, "home/s")->level, LEVEL_NONE);
    assert_null(place_at(host, "home/d"));
    close(visible);
    close(hidden);
    close(denied);
}

static void a_socket_that_is_not_where_its_name_says_is_found(void **state)
{
    struct host *host = *state;
    make_directory(host->top, "w/deep");
    make_directory(host->top, "w/closed");
    int relative = bind_socket(host->top, "w/deep", "relative", false);
    int renamed = bind_socket(host->top, "w", "before", true);
    int closed = bind_socket(host->top, "w/closed", "relative", false);
    assert_int_equal(rename(below(host->top, "w/before"), below(host->top, "w/deep/after")), 0);
    assert_true(
        gather_with(host, LINES("grant write $WORK", "deny $WORK/closed", "grant socket $TMP/other"), true));
    assert_true(is_masked(host, "w/deep/relative"));
    assert_true(is_masked(host, "w/deep/after"));
    assert_false(is_masked(host, "w/closed/relative"));
    assert_int_equal(host->facts.masked_socket_count, 2);
    close(relative);
    close(renamed);
    close(closed);
}

static void each_name_of_a_socket_is_covered(void **state)
{
    struct host *host = *state;
    make_directory(host->top, "w/deep");
    int socket = bind_socket(host->top, "w", "first", true);
    assert_int_equal(link(below(host->top, "w/first"), below(host->top, "w/deep/second")), 0);
    assert_true(gather_with(host, LINES("grant write $WORK", "grant socket $TMP/other"), true));
    assert_true(is_masked(host, "w/first"));
    assert_true(is_masked(host, "w/deep/second"));
    close(socket);
}

static void a_replaced_socket_is_covered_with_its_successor(void **state)
{
    struct host *host = *state;
    int old = bind_socket(host->top, "w", "s", true);
    assert_int_equal(rename(below(host->top, "w/s"), below(host->top, "w/old")), 0);
    int new = bind_socket(host->top, "w", "s", true);
    assert_true(gather_with(host, LINES("grant write $WORK", "grant socket $TMP/other"), true));
    assert_true(is_masked(host, "w/s"));
    assert_true(is_masked(host, "w/old"));
    close(old);
    close(new);
}

static void a_granted_socket_behind_a_link_is_shown(void **state)
{
    struct host *host = *state;
    int socket = bind_socket(host->top, "other", "s", true);
    make_link(host->top, "home/s", "../other/s");
    make_link(host->top, "w/s", "../other/s");
    assert_true(gather_with(host, LINES("grant read $WORK", "grant socket $HOME/s"), true));
    assert_true(place_at(host, "other/s")->socket);
    assert_int_equal(host->facts.link_count, 1);
    assert_true(gather_with(host, LINES("grant write $WORK", "grant socket $WORK/s"), true));
    assert_null(place_at(host, "other/s"));
    assert_true(noted(host, SBX451_GRANT_THROUGH_PLANTED_LINK));
    close(socket);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOST_TEST(a_socket_in_a_granted_place_is_covered),
        HOST_TEST(a_granted_socket_is_shown),
        HOST_TEST(a_socket_that_is_not_where_its_name_says_is_found),
        HOST_TEST(each_name_of_a_socket_is_covered),
        HOST_TEST(a_replaced_socket_is_covered_with_its_successor),
        HOST_TEST(a_granted_socket_behind_a_link_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
