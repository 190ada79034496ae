/* What the command gets as its standard streams: its own files, pipes instead of others, nothing that opens
 * more. */
#include "runtime/streams.h"

#include "tests/unit/facts_host.h"

#include <signal.h>
#include <sys/wait.h>

/* The test runs in a child, since it replaces 0 to 2; what it says is its exit status. */
#define IN_CHILD(body)                                                                                       \
    do {                                                                                                     \
        pid_t child = fork();                                                                                \
        int child_status;                                                                                    \
        if (child == 0) {                                                                                    \
            body;                                                                                            \
            _exit(0);                                                                                        \
        }                                                                                                    \
        assert_int_equal(waitpid(child, &child_status, 0), child);                                           \
        assert_int_equal(child_status, 0);                                                                   \
    } while (0)

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            _exit(__LINE__ % 255 + 1);                                                                       \
    } while (0)

static void put_on(int stream, const char *path, int flags)
{
    int file = open(path, flags, 0644);
    CHECK(file >= 0 && dup2(file, stream) == stream);
    if (file != stream)
        close(file);
}

static bool is_pipe(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

static bool prepare(struct host *host, struct streams *streams)
{
    return streams_prepare(streams, host->bound, &host->notes);
}

static void a_directory_is_refused(void **state)
{
    struct host *host = *state;
    bind_host(host, LINES("grant write $WORK"));
    IN_CHILD({
        struct streams streams;
        put_on(1, host->top, O_RDONLY | O_DIRECTORY);
        CHECK(!prepare(host, &streams));
        CHECK(noted(host, SBX464_STREAM_REFUSED));
        put_on(1, below(host->top, "other/file"), O_PATH);
        CHECK(!prepare(host, &streams));
    });
}

static void only_a_writable_file_is_handed_on(void **state)
{
    struct host *host = *state;
    make_file(host->top, "w/file", "x");
    bind_host(host, LINES("grant write $WORK", "grant read $TMP/other"));
    IN_CHILD({
        struct streams streams;
        put_on(0, below(host->top, "w/file"), O_RDONLY);
        put_on(1, below(host->top, "other/file"), O_WRONLY);
        put_on(2, "/dev/null", O_WRONLY);
        CHECK(prepare(host, &streams));
        CHECK(!is_pipe(streams.inside[0]) && streams.pump_from[0] < 0);
        CHECK(is_pipe(streams.inside[1]) && streams.pump_from[1] > 2);
        CHECK(!is_pipe(streams.inside[2]));
        for (int i = 0; i < 3; i++)
            CHECK(streams.inside[i] > 2 && fcntl(streams.inside[i], F_GETFD) == FD_CLOEXEC);
        put_on(0, below(host->top, "other/file"), O_RDONLY);
        CHECK(prepare(host, &streams) && is_pipe(streams.inside[0]));
    });
}

static void a_file_without_a_name_is_not_what_has_its_name(void **state)
{
    struct host *host = *state;
    bind_host(host, LINES("grant write $WORK"));
    IN_CHILD({
        struct streams streams;
        make_file(host->top, "w/file", "x");
        put_on(0, below(host->top, "w/file"), O_RDONLY);
        unlink(below(host->top, "w/file"));
        make_file(host->top, "w/file (deleted)", "x");
        CHECK(prepare(host, &streams) && is_pipe(streams.inside[0]));
    });
}

static void closed_streams_become_null(void **state)
{
    struct host *host = *state;
    bind_host(host, LINES("grant write $WORK"));
    IN_CHILD({
        struct streams streams;
        struct stat status;
        struct stat null;
        close(0);
        close(2);
        CHECK(streams_reserve());
        CHECK(prepare(host, &streams));
        CHECK(stat("/dev/null", &null) == 0 && fstat(streams.inside[2], &status) == 0);
        CHECK(status.st_rdev == null.st_rdev && S_ISCHR(status.st_mode));
    });
}

static void input_is_copied_as_far_as_it_is_read(void **state)
{
    struct host *host = *state;
    static char text[200000];
    memset(text, 'x', sizeof text - 1);
    make_file(host->top, "other/long", text);
    bind_host(host, LINES("grant write $WORK"));
    IN_CHILD({
        struct streams streams;
        put_on(0, below(host->top, "other/long"), O_RDONLY);
        CHECK(prepare(host, &streams));
        CHECK(streams_pump(&streams, 0));
        size_t got = 0;
        static char bytes[sizeof text];
        off_t given = lseek(0, 0, SEEK_CUR);
        CHECK(given > 0 && given < (off_t)sizeof text - 1);
        while (streams.pump_from[0] >= 0) {
            got += (size_t)read(streams.inside[0], bytes, 5000);
            streams_pump(&streams, 0);
        }
        for (ssize_t more; (more = read(streams.inside[0], bytes, sizeof bytes)) > 0;)
            got += (size_t)more;
        CHECK(got == sizeof text - 1);
        CHECK(!streams_pump(&streams, 0));
    });
}

static void a_command_that_stops_reading_ends_the_copying_only(void **state)
{
    struct host *host = *state;
    bind_host(host, LINES("grant write $WORK"));
    IN_CHILD({
        struct streams streams;
        signal(SIGPIPE, SIG_DFL);
        put_on(0, below(host->top, "other/file"), O_RDONLY);
        CHECK(prepare(host, &streams));
        close(streams.inside[0]);
        CHECK(!streams_pump(&streams, 0));
        CHECK(streams.pump_to[0] < 0);
        CHECK(lseek(0, 0, SEEK_CUR) == 0);
    });
}

static void output_and_errors_of_one_file_keep_their_order(void **state)
{
    struct host *host = *state;
    bind_host(host, LINES("grant write $WORK"));
    IN_CHILD({
        struct streams streams;
        char got[16] = {0};
        put_on(1, below(host->top, "other/log"), O_WRONLY | O_CREAT | O_APPEND);
        CHECK(dup2(1, 2) == 2);
        CHECK(prepare(host, &streams));
        CHECK(streams.pump_from[1] > 2 && streams.pump_from[2] < 0);
        CHECK(write(streams.inside[1], "a", 1) == 1 && write(streams.inside[2], "b", 1) == 1 &&
              write(streams.inside[1], "c", 1) == 1);
        CHECK(streams_pump(&streams, 1));
        close(streams.inside[1]);
        CHECK(streams_pump(&streams, 1));
        close(streams.inside[2]);
        CHECK(!streams_pump(&streams, 1));
        put_on(0, below(host->top, "other/log"), O_RDONLY);
        CHECK(read(0, got, sizeof got) == 3 && strcmp(got, "abc") == 0);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOST_TEST(a_directory_is_refused),
        HOST_TEST(only_a_writable_file_is_handed_on),
        HOST_TEST(a_file_without_a_name_is_not_what_has_its_name),
        HOST_TEST(closed_streams_become_null),
        HOST_TEST(input_is_copied_as_far_as_it_is_read),
        HOST_TEST(a_command_that_stops_reading_ends_the_copying_only),
        HOST_TEST(output_and_errors_of_one_file_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
