/* The native engine mounts what was looked at, where the plan says, and never makes anything on the host:
 * real mounts in namespaces of a child process. */
#include "runtime/native_confine.h"
#include "runtime/native_mount.h"
#include "runtime/native_tree.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "temporary.h"

enum { BUILT, REPLACED, FAILED, NO_NAMESPACES };

/* A workspace `top` with files, directories and a place outside that the command must not reach. */
struct host {
    struct arena *arena;
    char top[PATH_MAX];
    const char *work, *outside;
};

static const char *in(const struct host *host, const char *directory, const char *name)
{
    return arena_format(host->arena, "%s/%s", directory, name);
}

static struct host host_make(void)
{
    struct host host = {.arena = arena_create(0)};

    temporary_make(host.top);
    host.work = in(&host, host.top, "work");
    host.outside = in(&host, host.top, "outside");
    make_directory(host.top, "work");
    make_directory(host.top, "outside");
    make_directory(host.top, "work/d");
    make_file(host.top, "work/d/file", "ours");
    make_file(host.top, "outside/id", "withheld");
    return host;
}

static void host_remove(struct host *host)
{
    temporary_remove(host->top);
    arena_destroy(host->arena);
}

static struct expected_mount look(const char *path)
{
    struct stat status;

    assert_int_equal(lstat(path, &status), 0);
    return (struct expected_mount){
        .path = path, .known = true, .device = status.st_dev, .inode = status.st_ino};
}

/* Directories above the workspace in the new root, then `operations`. */
static struct plan plan_of(const struct host *host, const struct plan_operation *operations, uint32_t count)
{
    struct plan plan = {.items = arena_array(host->arena, count + 8, sizeof *plan.items)};

    for (const char *at = host->top; (at = strchr(at + 1, '/')) != NULL;)
        plan.items[plan.count++] =
            (struct plan_operation){.kind = PLAN_DIRECTORY,
                                    .path = arena_copy(host->arena, host->top, (size_t)(at - host->top)),
                                    .mode = 0755};
    plan.items[plan.count++] =
        (struct plan_operation){.kind = PLAN_DIRECTORY, .path = host->top, .mode = 0755};
    for (uint32_t i = 0; i < count; i++)
        plan.items[plan.count++] = operations[i];
    plan.items[plan.count++] = (struct plan_operation){.kind = PLAN_SEAL, .path = "/"};
    return plan;
}

/* Builds the plan in a child, which then calls `look_inside` (NULL: nothing); what came of it. */
static int build(const struct plan *plan, const struct expected_mount *mounts, uint32_t mount_count,
                 bool (*look_inside)(const struct host *host), const struct host *host)
{
    struct inner_config inner = {.mounts = mounts, .mount_count = mount_count};
    const struct sandbox_request request = {.plan = plan, .inner = &inner};
    struct native_problem problem = {.arena = host->arena};
    uid_t user = geteuid();
    gid_t group = getegid();
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !native_map_user(&problem, user, group))
            _exit(NO_NAMESPACES);
        if (!native_build(&request, &problem))
            _exit(problem.replaced ? REPLACED : FAILED);
        _exit(look_inside == NULL || look_inside(host) ? BUILT : FAILED);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool opens(const char *path, int flags, int error)
{
    int descriptor = open(path, flags | O_CLOEXEC, 0600);
    bool as_expected = error == 0 ? descriptor >= 0 : descriptor < 0 && errno == error;

    if (descriptor >= 0)
        close(descriptor);
    return as_expected;
}

static bool everything_is_there(const struct host *host)
{
    const char *work = host->work;
    struct stat status;
    char text[16];

    return opens(in(host, work, "d/file"), O_RDONLY, 0) && opens(in(host, work, "d/file"), O_WRONLY, EROFS) &&
           opens(in(host, work, "new"), O_WRONLY | O_CREAT, 0) &&
           opens(in(host, work, "d/secret"), O_WRONLY, EROFS) &&
           opens(in(host, work, "d/vault/x"), O_WRONLY | O_CREAT, EROFS) &&
           stat(in(host, work, "d/secret"), &status) == 0 && status.st_size == 0 &&
           (status.st_mode & 0777) == 0 && stat(in(host, work, "d/vault"), &status) == 0 &&
           (status.st_mode & 0777) == 0 && opens(in(host, host->outside, "id"), O_RDONLY, ENOENT) &&
           opens("/x", O_WRONLY | O_CREAT, EROFS) && opens("/own/x", O_WRONLY | O_CREAT, 0) &&
           readlink("/link", text, sizeof text) == 3 && chdir("..") == 0 && access("bin", F_OK) != 0;
}

static void a_plan_is_carried_out(void **state)
{
    (void)state;
    struct host host = host_make();
    make_file(host.top, "work/d/secret", "withheld");
    make_directory(host.top, "work/d/vault");
    const char *d = in(&host, host.work, "d");
    const struct plan_operation operations[] = {
        {.kind = PLAN_BIND_WRITE, .path = host.work},
        {.kind = PLAN_BIND_READ, .path = d},
        {.kind = PLAN_MASK_FILE, .path = in(&host, d, "secret")},
        {.kind = PLAN_MASK_DIRECTORY, .path = in(&host, d, "vault")},
        {.kind = PLAN_SEAL, .path = in(&host, d, "vault")},
        {.kind = PLAN_SCRATCH, .path = "/own", .mode = 01777},
        {.kind = PLAN_LINK, .path = "/link", .source = "own"},
        {.kind = PLAN_BIND_READ, .path = "/missing", .optional = true},
    };
    struct plan plan = plan_of(&host, operations, sizeof operations / sizeof *operations);
    const struct expected_mount mounts[] = {look(host.work), look(d)};

    assert_int_equal(build(&plan, mounts, 2, everything_is_there, &host), BUILT);
    assert_int_equal(access(in(&host, host.work, "new"), F_OK), 0);
    host_remove(&host);
}

static void a_source_that_became_a_link_is_not_mounted(void **state)
{
    (void)state;
    struct host host = host_make();
    const char *d = in(&host, host.work, "d");
    const struct plan_operation operations[] = {{.kind = PLAN_DIRECTORY, .path = host.work, .mode = 0755},
                                                {.kind = PLAN_BIND_READ, .path = d}};
    struct plan plan = plan_of(&host, operations, 2);
    const struct expected_mount mounts[] = {look(d)};

    assert_int_equal(build(&plan, mounts, 1, NULL, &host), BUILT);

    assert_int_equal(rename(d, in(&host, host.work, "moved")), 0);
    assert_int_equal(symlink(in(&host, host.work, "moved"), d), 0);
    assert_int_equal(build(&plan, mounts, 1, NULL, &host), REPLACED);
    /* A directory above it. */
    assert_int_equal(unlink(d), 0);
    assert_int_equal(rename(in(&host, host.work, "moved"), d), 0);
    assert_int_equal(rename(host.work, in(&host, host.top, "elsewhere")), 0);
    assert_int_equal(symlink("elsewhere", host.work), 0);
    assert_int_equal(build(&plan, mounts, 1, NULL, &host), REPLACED);
    host_remove(&host);
}

static void a_source_that_became_another_file_is_not_mounted(void **state)
{
    (void)state;
    struct host host = host_make();
    const char *d = in(&host, host.work, "d");
    const struct plan_operation operations[] = {{.kind = PLAN_DIRECTORY, .path = host.work, .mode = 0755},
                                                {.kind = PLAN_BIND_READ, .path = d}};
    struct plan plan = plan_of(&host, operations, 2);
    const struct expected_mount mounts[] = {look(d)};

    assert_int_equal(build(&plan, mounts, 1, NULL, &host), BUILT);

    assert_int_equal(rename(d, in(&host, host.work, "moved")), 0);
    assert_int_equal(rename(host.outside, d), 0);
    assert_int_equal(build(&plan, mounts, 1, NULL, &host), REPLACED);
    assert_int_equal(rename(d, host.outside), 0);
    assert_int_equal(build(&plan, mounts, 1, NULL, &host), REPLACED);
    host_remove(&host);
}

/* A mask on d/secret; nothing may be made where it has no place. */
static int mask(const struct host *host, enum plan_kind kind)
{
    const struct plan_operation operations[] = {
        {.kind = PLAN_BIND_WRITE, .path = host->work},
        {.kind = kind, .path = in(host, host->work, "d/secret")},
    };
    struct plan plan = plan_of(host, operations, 2);
    const struct expected_mount mounts[] = {look(host->work)};

    return build(&plan, mounts, 1, NULL, host);
}

static void a_mask_makes_nothing_where_its_place_is_gone(void **state)
{
    (void)state;
    static const enum plan_kind kinds[] = {PLAN_MASK_FILE, PLAN_MASK_DIRECTORY};
    struct host host = host_make();
    const char *d = in(&host, host.work, "d");

    for (int i = 0; i < 2; i++) {
        /* Missing in the workspace. */
        assert_int_equal(mask(&host, kinds[i]), REPLACED);
        assert_int_not_equal(access(in(&host, d, "secret"), F_OK), 0);
        /* The directory above is a link that leads out of it. */
        assert_int_equal(rename(d, in(&host, host.work, "moved")), 0);
        assert_int_equal(symlink(host.outside, d), 0);
        assert_int_equal(mask(&host, kinds[i]), REPLACED);
        assert_int_not_equal(access(in(&host, host.outside, "secret"), F_OK), 0);
        /* Or one that leads back into it, by a path that exists in the new root too. */
        assert_int_equal(unlink(d), 0);
        assert_int_equal(symlink(in(&host, host.work, "moved"), d), 0);
        assert_int_equal(mask(&host, kinds[i]), REPLACED);
        assert_int_equal(unlink(d), 0);
        assert_int_equal(rename(in(&host, host.work, "moved"), d), 0);
    }
    host_remove(&host);
}

static void a_mask_of_another_kind_than_what_is_there_is_refused(void **state)
{
    (void)state;
    struct host host = host_make();

    make_directory(host.top, "work/d/secret");
    assert_int_equal(mask(&host, PLAN_MASK_FILE), REPLACED);
    assert_int_equal(mask(&host, PLAN_MASK_DIRECTORY), BUILT);
    assert_int_equal(rmdir(in(&host, host.work, "d/secret")), 0);
    make_file(host.top, "work/d/secret", "x");
    assert_int_equal(mask(&host, PLAN_MASK_DIRECTORY), REPLACED);
    assert_int_equal(mask(&host, PLAN_MASK_FILE), BUILT);
    /* A link in its place is not followed. */
    assert_int_equal(rename(in(&host, host.work, "d/secret"), in(&host, host.work, "d/moved")), 0);
    assert_int_equal(symlink("moved", in(&host, host.work, "d/secret")), 0);
    assert_int_equal(mask(&host, PLAN_MASK_FILE), REPLACED);
    host_remove(&host);
}

static void what_the_plan_makes_twice_is_a_directory(void **state)
{
    (void)state;
    struct host host = host_make();
    struct plan_operation operations[] = {
        {.kind = PLAN_DIRECTORY, .path = "/made", .mode = 0755},
        {.kind = PLAN_LINK, .path = "/link", .source = "made"},
        {.kind = PLAN_DIRECTORY, .path = "/made", .mode = 0755},
    };
    struct plan plan = plan_of(&host, operations, 3);

    assert_int_equal(build(&plan, NULL, 0, NULL, &host), BUILT);
    operations[2].path = "/link";
    plan = plan_of(&host, operations, 3);
    assert_int_equal(build(&plan, NULL, 0, NULL, &host), FAILED);
    operations[1].source = "missing";
    plan = plan_of(&host, operations, 3);
    assert_int_equal(build(&plan, NULL, 0, NULL, &host), FAILED);
    host_remove(&host);
}

static void no_path_leads_out_of_the_new_root(void **state)
{
    (void)state;
    struct host host = host_make();
    int top = open(host.work, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int inside = open_beneath(top, "d/file");

    assert_true(top >= 0 && inside >= 0);
    close(inside);
    assert_int_equal(open_beneath(top, "../outside/id"), -1);
    assert_int_equal(errno, EXDEV);
    assert_int_equal(open_beneath(top, host.outside), -1);
    assert_int_equal(errno, EXDEV);
    close(top);
    host_remove(&host);
}

/* Builds without a user namespace of its own, below mounts that are shared; what came of it, and how the mount
 * table of who shares them ends. */
static int build_shared(const struct plan *plan, struct native_problem *problem)
{
    struct inner_config inner = {0};
    const struct sandbox_request request = {.plan = plan, .inner = &inner};
    struct stat before, after;
    int status = 0;

    if (mount(NULL, "/", NULL, MS_SHARED | MS_REC, NULL) != 0 || stat("/", &before) != 0)
        return NO_NAMESPACES;
    pid_t child = fork();
    if (child == 0)
        _exit(unshare(CLONE_NEWNS) == 0 && native_build(&request, problem) ? BUILT : FAILED);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || stat("/", &after) != 0)
        return FAILED;
    return before.st_dev == after.st_dev ? WEXITSTATUS(status) : REPLACED;
}

static void nothing_is_mounted_for_who_shares_the_mounts(void **state)
{
    (void)state;
    struct host host = host_make();
    struct native_problem problem = {.arena = host.arena};
    const struct plan plan = plan_of(&host, NULL, 0);
    uid_t user = geteuid();
    gid_t group = getegid();
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !native_map_user(&problem, user, group))
            _exit(NO_NAMESPACES);
        _exit(build_shared(&plan, &problem));
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), BUILT);
    host_remove(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_carried_out),
        cmocka_unit_test(a_source_that_became_a_link_is_not_mounted),
        cmocka_unit_test(a_source_that_became_another_file_is_not_mounted),
        cmocka_unit_test(a_mask_makes_nothing_where_its_place_is_gone),
        cmocka_unit_test(a_mask_of_another_kind_than_what_is_there_is_refused),
        cmocka_unit_test(what_the_plan_makes_twice_is_a_directory),
        cmocka_unit_test(no_path_leads_out_of_the_new_root),
        cmocka_unit_test(nothing_is_mounted_for_who_shares_the_mounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
