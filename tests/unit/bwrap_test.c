/* Bubblewrap's arguments, word by word and carried out for real where bubblewrap is installed: as root and as
 * an ordinary user, what the policy shows is there and what it hides is not. */
#include "emitters/bwrap.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

static const char *joined(struct arena *arena, const struct buffer *words)
{
    char *text = arena_copy(arena, words->bytes, words->length);
    for (size_t i = 0; i + 1 < words->length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    return text;
}

static void words_follow_the_plan(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    struct buffer words = buffer_in(arena);
    const struct plan_place places[] = {
        {"/w", LEVEL_WRITE, ENTRY_DIRECTORY, false, false},
        {"/w/d", LEVEL_NONE, ENTRY_DIRECTORY, false, false},
        {"/w/f", LEVEL_NONE, ENTRY_FILE, false, false},
        {"/w/g", LEVEL_NONE, ENTRY_FILE, false, false},
        {"/dev/kvm", LEVEL_WRITE, ENTRY_OTHER, false, false},
        {"/usr", LEVEL_READ, ENTRY_UNKNOWN, false, false},
    };
    const struct plan_link links[] = {{"/bin", "usr/bin"}};
    const struct variable environment[] = {{"A", "1 2"}, {"PATH", "/usr/bin"}};
    struct plan plan = plan_make(
        arena, &(struct plan_input){
                   .places = places, .place_count = COUNT(places), .links = links, .link_count = 1});
    uint32_t masks = bwrap_arguments(&words, &(struct bwrap_request){
                                                 .plan = &plan,
                                                 .environment = environment,
                                                 .environment_count = 2,
                                                 .new_session = true,
                                                 .seccomp_fd = 9,
                                                 .first_mask_fd = 10,
                                                 .chdir = "/w",
                                             });
    assert_int_equal(masks, 2);
    assert_int_equal(bwrap_word_count(&words), 61);
    assert_string_equal(
        joined(arena, &words),
        "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup --unshare-net"
        " --cap-drop ALL --die-with-parent --new-session --seccomp 9"
        " --clearenv --setenv A 1 2 --setenv PATH /usr/bin"
        " --symlink usr/bin /bin --dev /dev --dev-bind /dev/kvm /dev/kvm --perms 1777 --tmpfs /dev/shm"
        " --remount-ro /dev --proc /proc --ro-bind-try /usr /usr --bind /w /w"
        " --perms 0000 --tmpfs /w/d --remount-ro /w/d"
        " --perms 0000 --ro-bind-data 10 /w/f --perms 0000 --ro-bind-data 11 /w/g"
        " --remount-ro / --chdir /w");
    arena_destroy(arena);
}

static const char bubblewrap[] = "/usr/bin/bwrap";

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void make_directory(const char *path)
{
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(chmod(path, 0777), 0);
}

/* w writable: w/d denied with w/d/r read inside and w/d/r/w write in that, w/x/y/secret denied, w/x/y/ro
 * read-only, w/keep a directory that nothing pins. */
static void make_tree(struct arena *arena, const char *top)
{
    static const char *const directories[] = {"",          "/w",       "/w/d",   "/w/d/r",
                                              "/w/d/r/w",  "/w/x",     "/w/x/y", "/w/keep",
                                              "/w/x/y/ro", "/outside", "/w/d/s", "/w/d/r/none"};
    static const char *const files[] = {"/w/f",       "/w/d/hidden",   "/w/d/r/f",    "/w/d/r/w/f",
                                        "/w/d/s/f",   "/w/x/y/secret", "/w/x/y/ro/f", "/w/keep/f",
                                        "/outside/f", "/w/d/r/none/f"};
    for (size_t i = 1; i < sizeof directories / sizeof *directories; i++)
        make_directory(arena_format(arena, "%s%s", top, directories[i]));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = arena_format(arena, "%s%s", top, files[i]);
        write_file(path, "text\n");
        assert_int_equal(chmod(path, 0666), 0);
    }
}

static struct plan tree_plan(struct arena *arena, const char *top)
{
    const struct plan_place places[] = {
        {"/usr", LEVEL_READ, ENTRY_DIRECTORY, false, false},
        {arena_format(arena, "%s/w", top), LEVEL_WRITE, ENTRY_DIRECTORY, false, false},
        {arena_format(arena, "%s/w/d", top), LEVEL_NONE, ENTRY_DIRECTORY, false, false},
        {arena_format(arena, "%s/w/d/r", top), LEVEL_READ, ENTRY_DIRECTORY, false, false},
        {arena_format(arena, "%s/w/d/r/none", top), LEVEL_NONE, ENTRY_DIRECTORY, false, false},
        {arena_format(arena, "%s/w/d/r/w", top), LEVEL_WRITE, ENTRY_DIRECTORY, false, false},
        {arena_format(arena, "%s/w/x/y/secret", top), LEVEL_NONE, ENTRY_FILE, false, false},
        {arena_format(arena, "%s/w/x/y/ro", top), LEVEL_READ, ENTRY_DIRECTORY, false, false},
    };
    static const struct plan_link links[] = {
        {"/bin", "usr/bin"}, {"/lib", "usr/lib"}, {"/lib64", "usr/lib64"}, {"/sbin", "usr/sbin"}};
    static const char *const covers[] = {"sys", "sysrq-trigger", "irq", "bus", "no-such-entry"};
    return plan_make(arena, &(struct plan_input){
                                .places = places,
                                .place_count = COUNT(places),
                                .links = links,
                                .link_count = COUNT(links),
                                .scratch = true,
                                .proc_read_only = covers,
                                .proc_read_only_count = COUNT(covers),
                            });
}

/* Each line must succeed inside; $T is the tree's top. */
static const char script[] =
    "set -eu\n"
    "fails() { if (eval \"$*\") >/dev/null 2>&1; then echo \"should fail: $*\"; exit 1; fi; }\n"
    "works() { if ! (eval \"$*\") >/dev/null 2>&1; then echo \"should work: $*\"; exit 1; fi; }\n"
    "works 'echo a > $T/w/new && rm $T/w/new'\n"
    "works 'echo a >> $T/w/f'\n"
    "works 'mv $T/w/keep $T/w/kept && mv $T/w/kept $T/w/keep'\n"
    "fails 'ls $T/outside'\n"
    "fails 'ls $T/w/d'\n"
    "fails 'cat $T/w/d/hidden'\n"
    "fails 'cat $T/w/d/s/f'\n"
    "fails 'echo a > $T/w/d/new'\n"
    "works 'cat $T/w/d/r/f'\n"
    "fails 'echo a > $T/w/d/r/f'\n"
    "fails 'echo a > $T/w/d/r/new'\n"
    "fails 'cat $T/w/d/r/none/f'\n"
    "fails 'ls $T/w/d/r/none'\n"
    "works 'echo a > $T/w/d/r/w/f'\n"
    "fails 'cat $T/w/x/y/secret'\n"
    "fails 'echo a > $T/w/x/y/secret'\n"
    "fails 'rm -f $T/w/x/y/secret'\n"
    "fails 'mv $T/w/x $T/w/moved'\n"
    "fails 'mv $T/w/x/y $T/w/x/moved'\n"
    "fails 'mv $T/w/d $T/w/moved'\n"
    "fails 'ln $T/w/x/y/secret $T/w/link'\n"
    "works 'cat $T/w/x/y/ro/f'\n"
    "fails 'echo a > $T/w/x/y/ro/f'\n"
    "fails 'mv $T/w/x/y/ro $T/w/x/y/moved'\n"
    "fails 'echo a > /new'\n"
    "fails 'mkdir /usr/new'\n"
    "fails 'mkdir /tmp/../new'\n"
    "works 'echo a > /tmp/new'\n"
    "works 'echo a > /dev/null'\n"
    "works 'head -c 1 /dev/zero /dev/urandom'\n"
    "works 'echo a > /dev/shm/new'\n"
    "fails 'echo a > /dev/new'\n"
    "fails 'mkdir /dev/pts2'\n"
    "fails 'echo a > /proc/sys/kernel/hostname'\n"
    "works 'test \"$(ls -d /proc/[0-9]* | wc -l)\" -lt 20'\n"
    "works 'test \"$(env | grep -c -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^T= -e ^PATH= -e ^OLDPWD=)\" = 0'\n"
    "works 'grep -q \"^CapBnd:.0000000000000000\" /proc/self/status'\n"
    "works 'grep -q \"^CapEff:.0000000000000000\" /proc/self/status'\n"
    "works 'grep -q \"^NoNewPrivs:.1\" /proc/self/status'\n"
    "works 'test \"$(tail -n +3 /proc/net/dev | grep -c -v lo:)\" = 0'\n"
    "echo done\n";

static void become(uid_t uid)
{
    if (uid != 0 && (setgroups(0, NULL) != 0 || setgid(uid) != 0 || setuid(uid) != 0))
        _exit(99);
}

/* Runs the script inside as `uid`; its output goes to `output`. */
static int run_inside(struct arena *arena, struct buffer *words, uint32_t masks, uid_t uid, char output[4096])
{
    int out[2], arguments[2];
    assert_int_equal(pipe(out), 0);
    assert_int_equal(pipe(arguments), 0);
    assert_int_equal(write(arguments[1], words->bytes, words->length), (ssize_t)words->length);
    close(arguments[1]);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (uid != getuid())
            become(uid);
        for (uint32_t i = 0; i < masks; i++)
            if (dup2(open("/dev/null", O_RDONLY), 50 + (int)i) < 0)
                _exit(98);
        dup2(out[1], 1);
        dup2(out[1], 2);
        execl(bubblewrap, "bwrap", "--args", arena_format(arena, "%d", arguments[0]), "--", "/bin/sh", "-c",
              script, NULL);
        _exit(97);
    }
    close(out[1]);
    close(arguments[0]);
    size_t length = 0;
    for (ssize_t got = 1; got > 0 && length < 4095;) {
        got = read(out[0], output + length, 4095 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    output[length] = '\0';
    close(out[0]);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void carried_out_as(uid_t uid)
{
    struct arena *arena = arena_create(0);
    char top[] = "/var/tmp/sbx-bwrap-XXXXXX";
    char output[4096];
    assert_int_equal(access(bubblewrap, X_OK), 0);
    assert_non_null(mkdtemp(top));
    assert_int_equal(chmod(top, 0777), 0);
    make_tree(arena, top);
    const struct variable environment[] = {{"PATH", "/usr/bin:/bin"}, {"T", top}};
    struct plan plan = tree_plan(arena, top);
    struct buffer words = buffer_in(arena);
    uint32_t masks = bwrap_arguments(&words, &(struct bwrap_request){.plan = &plan,
                                                                     .environment = environment,
                                                                     .environment_count = COUNT(environment),
                                                                     .new_session = true,
                                                                     .seccomp_fd = -1,
                                                                     .first_mask_fd = 50});
    int status = run_inside(arena, &words, masks, uid, output);
    const char *const remove[] = {"rm", "-rf", top, NULL};
    pid_t child = fork();
    if (child == 0) {
        execv("/bin/rm", (char *const *)remove);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    assert_string_equal(output, "done\n");
    assert_int_equal(status, 0);
    arena_destroy(arena);
}

static void carried_out_as_caller(void **state)
{
    (void)state;
    carried_out_as(getuid());
}

static void carried_out_as_an_ordinary_user(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    carried_out_as(1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_follow_the_plan),
        cmocka_unit_test(carried_out_as_caller),
        cmocka_unit_test(carried_out_as_an_ordinary_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
