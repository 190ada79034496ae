/* Seatbelt profiles, read back: each measure that they are made of, and what is refused. */
#include "tests/unit/seatbelt_make.h"

/* ---- texts ---- */

static void a_text_leaves_no_comment_and_no_string(void **state)
{
    (void)state;
    const struct root_path home = {ROOT_HOME, "/h", true};
    struct made made =
        make(RULES({.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.rest = "/a\") (allow default) (\""}},
                   {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.rest = "/n\n(allow default)\n"}},
                   {.kind = RULE_GRANT, .level = LEVEL_READ, .path = {.rest = "/u\xe2\x80\xa8\xc2\x85x"}},
                   {.kind = RULE_DENY, .path = {.rest = "/b\\\\\"*)(allow default)", .pattern = true}},
                   {.kind = RULE_SET_ENV, .name = "A", .value = "\n(allow default)"},
                   {.kind = RULE_LIMIT_READ, .nothing = true, .layer = 1}),
             &home, 1);
    assert_true(made.good);
    assert_false(holds(&made, "\n(allow default)"));
    assert_false(holds(&made, "\xe2\x80\xa8"));
    assert_false(holds(&made, "\xc2\x85"));
    struct seatbelt_profile *profile = read_back(&made, &home, 1);
    assert_false(allows(profile, "file-read-data", "/elsewhere"));
    arena_destroy(made.arena);
}

/* ---- single measures ---- */

#define GRANT(wanted, ...)                                                                                   \
    {                                                                                                        \
        .kind = RULE_GRANT, .level = LEVEL_##wanted, .path = { __VA_ARGS__ }                                 \
    }
#define DENY(...)                                                                                            \
    {                                                                                                        \
        .kind = RULE_DENY, .path = { __VA_ARGS__ }                                                           \
    }

static const struct root_path at_home[] = {{ROOT_HOME, "/Users/u", true}, {ROOT_WORK, "/Users/u/w", true}};

static void both_names_of_a_place_are_written(void **state)
{
    (void)state;
    struct made made =
        make(RULES(GRANT(WRITE, .rest = "/tmp/t"), DENY(.rest = "/private/tmp/t/x"),
                   GRANT(READ, .rest = "/private/etc/q"), DENY(.rest = "/var/run/d*", .pattern = true),
                   GRANT(READ, .rest = "/private/var/run")),
             at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    static const char *const open[] = {"/tmp/t/a",       "/private/tmp/t/a", "/etc/q",
                                       "/private/etc/q", "/var/run/a",       "/private/var/run/a"};
    static const char *const closed[] = {"/tmp/t/x", "/private/tmp/t/x", "/var/run/d1",
                                         "/private/var/run/d1"};
    for (uint32_t i = 0; i < COUNT(open); i++)
        assert_true(allows(profile, "file-read-data", open[i]));
    for (uint32_t i = 0; i < COUNT(closed); i++)
        assert_false(allows(profile, "file-read-data", closed[i]));
    arena_destroy(made.arena);
}

static void the_data_volume_opens_nothing_by_its_second_name(void **state)
{
    (void)state;
    struct made made = make(RULES(GRANT(READ, .rest = "/System")), at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    assert_true(allows(profile, "file-read-data", "/System/Library/x"));
    assert_false(allows(profile, "file-read-data", "/System/Volumes/Data/Users/u/x"));
    arena_destroy(made.arena);

    made = make(RULES(GRANT(READ, .rest = "/System/Volumes/Data/q"), DENY(.rest = "/q/x"),
                      GRANT(READ, .root = ROOT_HOME), DENY(.root = ROOT_HOME, .rest = "/y"),
                      DENY(.root = ROOT_HOME, .rest = "/z*", .pattern = true)),
                at_home, 2);
    profile = read_back(&made, at_home, 2);
    assert_true(allows(profile, "file-read-data", "/System/Volumes/Data/q/a"));
    assert_true(allows(profile, "file-read-data", "/q/a"));
    assert_false(allows(profile, "file-read-data", "/System/Volumes/Data/q/x"));
    assert_false(allows(profile, "file-read-data", "/q/x"));
    assert_true(holds(&made, "(subpath (string-append \"/System/Volumes/Data\" HOME_PATH \"/y\"))"));
    assert_true(
        holds(&made, "(regex (string-append \"^/System/Volumes/Data\" (regex-quote HOME_PATH) \"/[Zz]"));
    arena_destroy(made.arena);
}

static void denies_hold_in_any_case_and_form(void **state)
{
    (void)state;
    struct made made =
        make(RULES(GRANT(WRITE, .root = ROOT_WORK), DENY(.root = ROOT_WORK, .rest = "/\xc3\xa9t\xc3\xa9"),
                   DENY(.root = ROOT_WORK, .rest = "/**/*.env\xc3\xa9", .pattern = true)),
             at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    static const char *const closed[] = {
        "/Users/u/w/\xc3\xa9t\xc3\xa9",  "/Users/u/w/e\xcc\x81te\xcc\x81",
        "/Users/u/w/a/x.ENV\xc3\xa9",    "/Users/u/w/\xc3\x89t\xc3\xa9/below",
        "/Users/u/w/E\xcc\x81T\xc3\x89", "/Users/u/w/a/x.env\xc3\x89",
        "/Users/u/w/a/x.eNve\xcc\x81",   "/Users/u/w/a/x.envE\xcc\x81/below",
    };
    for (uint32_t i = 0; i < COUNT(closed); i++)
        for (int fold = 0; fold < 2; fold++)
            assert_false(allows_at(profile, "file-write-data", closed[i], SEATBELT_VNODE_FILE, fold == 1));
    assert_true(allows(profile, "file-write-data", "/Users/u/w/a/x.envy"));
    arena_destroy(made.arena);
}

static void what_deny_default_leaves_open_is_closed(void **state)
{
    (void)state;
    static const char *const operations[] = {"file-link",
                                             "file-clone",
                                             "file-test-existence",
                                             "process-info-listpids",
                                             "process-info-pidinfo",
                                             "process-info-codesignature",
                                             "nvram-get",
                                             "nvram-set",
                                             "iokit-get-properties",
                                             "mach-cross-domain-lookup",
                                             "darwin-notification-post",
                                             "mach-register",
                                             "mach-lookup",
                                             "sysctl-write",
                                             "appleevent-send",
                                             "lsopen",
                                             "job-creation",
                                             "system-kext-load",
                                             "ipc-posix-shm-write-create",
                                             "ipc-sysv-shm",
                                             "pseudo-tty",
                                             "file-mount",
                                             "file-ioctl",
                                             "user-preference-read",
                                             "iokit-open-user-client",
                                             "mach-priv-task-port",
                                             "signal",
                                             "sysctl-read"};
    struct made made = make(RULES(GRANT(WRITE, .root = ROOT_WORK)), at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    for (uint32_t i = 0; i < COUNT(operations); i++) {
        const struct seatbelt_question question = {
            .operation = operations[i],
            .path = "/Users/u/x",
            .target = SEATBELT_TARGET_OTHERS,
            .vnode = SEATBELT_VNODE_FILE,
            .name_kind = strncmp(operations[i], "sysctl", 6) == 0 ? SEATBELT_NAME_SYSCTL
                         : strncmp(operations[i], "ipc", 3) == 0  ? SEATBELT_NAME_IPC_POSIX
                                                                  : SEATBELT_NAME_GLOBAL,
            .name = "kern.procargs2"};
        if (seatbelt_decide(profile, &question, NULL) != SEATBELT_DENY)
            print_message("%s\n", operations[i]);
        assert_int_equal(seatbelt_decide(profile, &question, NULL), SEATBELT_DENY);
    }
    arena_destroy(made.arena);
}

static void every_program_can_start(void **state)
{
    (void)state;
    struct made made =
        make(RULES(GRANT(READ, .rest = "/usr"), {.kind = RULE_LIMIT_READ, .nothing = true, .layer = 1},
                   {.kind = RULE_LIMIT_READ, .layer = 1, .path = {.rest = "/usr"}}, DENY(.rest = "/x")),
             at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    assert_true(allows(profile, "file-read-data", "/"));
    assert_true(allows(profile, "file-read-data", "/dev/urandom"));
    assert_true(allows(profile, "file-write-data", "/dev/null"));
    assert_true(allows(profile, "process-fork", NULL));
    assert_true(allows(profile, "file-read-metadata", "/etc"));
    assert_false(allows(profile, "file-read-data", "/private/etc"));
    assert_false(allows(profile, "file-ioctl", "/dev/tty"));
    assert_false(allows(profile, "file-write-data", "/dev/ttys001"));
    const struct seatbelt_question own = {.operation = "process-info-pidinfo",
                                          .target = SEATBELT_TARGET_SELF};
    const struct seatbelt_question kill = {.operation = "signal", .target = SEATBELT_TARGET_SANDBOX};
    assert_int_equal(seatbelt_decide(profile, &own, NULL), SEATBELT_ALLOW);
    assert_int_equal(seatbelt_decide(profile, &kill, NULL), SEATBELT_ALLOW);
    arena_destroy(made.arena);
}

/* The rules for devices name single operations, which a deny of a wildcard would not cut. */
static void a_deny_of_a_device_holds(void **state)
{
    (void)state;
    static const char *const operations[] = {"file-read-data", "file-read-metadata", "file-test-existence",
                                             "file-write-data"};
    struct made made = make(RULES(DENY(.rest = "/dev/tty")), at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    for (uint32_t i = 0; i < COUNT(operations); i++) {
        assert_true(allows(profile, operations[i], "/dev/null"));
        assert_false(allows(profile, operations[i], "/dev/tty"));
    }
    arena_destroy(made.arena);
}

static bool moves(const struct seatbelt_profile *profile, const char *path)
{
    bool unlinks = allows_at(profile, "file-write-unlink", path, SEATBELT_VNODE_DIRECTORY, false);
    assert_int_equal(unlinks, allows_at(profile, "file-write-create", path, SEATBELT_VNODE_DIRECTORY, false));
    return unlinks;
}

static void directories_above_a_pattern_stay_where_they_are(void **state)
{
    (void)state;
    struct made made = make(RULES(GRANT(WRITE, .root = ROOT_WORK),
                                  DENY(.root = ROOT_WORK, .rest = "/k/a*/b/secret*", .pattern = true),
                                  DENY(.root = ROOT_WORK, .rest = "/q?/**/x", .pattern = true)),
                            at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    static const char *const held[] = {"/Users/u/w/k", "/Users/u/w/k/a1", "/Users/u/w/k/A1",
                                       "/Users/u/w/k/a1/b", "/Users/u/w/q1"};
    static const char *const free[] = {"/Users/u/w/b", "/Users/u/w/k/b", "/Users/u/w/k/a1/c",
                                       "/Users/u/w/q1/a"};
    for (uint32_t i = 0; i < COUNT(held); i++)
        assert_false(moves(profile, held[i]));
    for (uint32_t i = 0; i < COUNT(free); i++)
        assert_true(moves(profile, free[i]));
    arena_destroy(made.arena);
}

/* Else the command could put a link in its place, which the next launch would follow. */
static void a_writable_directory_itself_stays(void **state)
{
    (void)state;
    struct made made = make(
        RULES(GRANT(WRITE, .root = ROOT_WORK), GRANT(WRITE, .root = ROOT_HOME, .rest = "/f")), at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    assert_false(allows_at(profile, "file-write-unlink", "/Users/u/w", SEATBELT_VNODE_DIRECTORY, true));
    assert_true(allows_at(profile, "file-write-unlink", "/Users/u/w/a", SEATBELT_VNODE_DIRECTORY, true));
    assert_false(allows_at(profile, "file-write-unlink", "/Users/u/f", SEATBELT_VNODE_DIRECTORY, true));
    assert_true(allows_at(profile, "file-write-unlink", "/Users/u/f", SEATBELT_VNODE_FILE, true));
    arena_destroy(made.arena);
}

static void scratch_is_open_whatever_is_limited(void **state)
{
    (void)state;
    const struct seatbelt_parameter given[] = {{"SCRATCH", "/private/var/folders/s"}};
    struct seatbelt_error error = {0};
    struct made made =
        make(RULES({.kind = RULE_GRANT_SCRATCH}, {.kind = RULE_LIMIT_READ, .nothing = true, .layer = 1},
                   {.kind = RULE_LIMIT_WRITE, .nothing = true, .layer = 1},
                   DENY(.rest = "/private/var/folders/s/x")),
             at_home, 2);
    struct seatbelt_profile *profile =
        seatbelt_read(made.arena, made.out.bytes, made.out.length, given, 1, NULL, NULL, &error);
    assert_non_null(profile);
    assert_true(allows(profile, "file-write-create", "/private/var/folders/s/a"));
    assert_true(allows(profile, "network-bind", "/private/var/folders/s/socket"));
    assert_false(allows(profile, "file-read-data", "/private/var/folders/s/x"));
    assert_false(allows(profile, "file-write-unlink", "/private/var/folders/s"));
    assert_false(allows(profile, "file-read-data", "/private/var/folders/t"));
    assert_false(allows(read_back(&made, at_home, 2), "file-read-data", "/private/var/folders/s/a"));
    arena_destroy(made.arena);
}

/* ---- parameters ---- */

static void a_profile_without_a_required_root_is_refused(void **state)
{
    (void)state;
    struct seatbelt_error error = {0};
    const struct seatbelt_parameter home[] = {{"HOME", "/Users/u"}};
    struct made made = make(RULES(GRANT(WRITE, .root = ROOT_WORK), DENY(.root = ROOT_HOME, .rest = "/x"),
                                  DENY(.root = ROOT_GITDIR, .rest = "/hooks")),
                            at_home, 2);
    assert_null(seatbelt_read(made.arena, made.out.bytes, made.out.length, home, 1, NULL, NULL, &error));
    assert_non_null(strstr(error.text, "pattern"));
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    assert_true(allows(profile, "file-write-data", "/Users/u/w/.git/hooks/x"));
    const struct root_path all[] = {at_home[0], at_home[1], {ROOT_GITDIR, "/Users/u/w/.git", true}};
    profile = read_back(&made, all, 3);
    assert_false(allows(profile, "file-write-data", "/Users/u/w/.git/hooks/x"));
    assert_false(allows_at(profile, "file-write-unlink", "/Users/u/w/.git", SEATBELT_VNODE_DIRECTORY, true));
    assert_true(holds(&made, "; parameter: WORK required - "));
    assert_true(holds(&made, "; parameter: GITDIR optional - "));
    arena_destroy(made.arena);
}

static void a_managed_home_is_a_parameter_of_its_own(void **state)
{
    (void)state;
    struct seatbelt_error error = {0};
    const struct seatbelt_parameter both[] = {{"WORK", "/Users/u/w"}, {"ACCOUNT_HOME", "/Users/real"}};
    struct made made =
        make(RULES(GRANT(WRITE, .root = ROOT_WORK),
                   {.kind = RULE_DENY, .layer = 1, .path = {.root = ROOT_HOME, .rest = "/.ssh"}}),
             &at_home[1], 1);
    assert_null(seatbelt_read(made.arena, made.out.bytes, made.out.length, both, 1, NULL, NULL, &error));
    assert_non_null(seatbelt_read(made.arena, made.out.bytes, made.out.length, both, 2, NULL, NULL, &error));
    assert_true(holds(&made, "(string-append ACCOUNT_HOME_PATH \"/.ssh\")"));
    arena_destroy(made.arena);
}

/* ---- network ---- */

static const struct port_range all_ports[] = {{1, UINT16_MAX}};
static const struct port_range few_ports[] = {{3000, 3002}};
static const struct port_range many_ports[] = {{1, 20000}};

#define NETWORK(kind_of, to, which, range)                                                                   \
    {                                                                                                        \
        .kind = kind_of, .network = &(const struct network)                                                  \
        {                                                                                                    \
            .target = to, .protocols = which, .ports = range, .port_count = 1                                \
        }                                                                                                    \
    }

static bool connects(const struct seatbelt_profile *profile, enum seatbelt_host host, uint16_t port,
                     enum seatbelt_protocol protocol)
{
    const struct seatbelt_question question = {.operation = "network-outbound",
                                               .protocol = protocol,
                                               .version = 4,
                                               .socket_domain = 2,
                                               .local = {SEATBELT_HOST_UNSPECIFIED, 0},
                                               .remote = {host, port}};
    enum seatbelt_answer answer = seatbelt_decide(profile, &question, NULL);
    assert_int_not_equal(answer, SEATBELT_UNKNOWN);
    return answer == SEATBELT_ALLOW;
}

static bool listens(const struct seatbelt_profile *profile, const char *operation, enum seatbelt_host host,
                    uint16_t port)
{
    const struct seatbelt_question question = {.operation = operation,
                                               .protocol = SEATBELT_PROTOCOL_TCP,
                                               .version = 4,
                                               .socket_domain = 2,
                                               .local = {host, port},
                                               .remote = {SEATBELT_HOST_OTHER, 5}};
    enum seatbelt_answer answer = seatbelt_decide(profile, &question, NULL);
    assert_int_not_equal(answer, SEATBELT_UNKNOWN);
    return answer == SEATBELT_ALLOW;
}

static const enum seatbelt_host HERE = SEATBELT_HOST_LOOPBACK, ELSEWHERE = SEATBELT_HOST_OTHER;
static const enum seatbelt_protocol TCP = SEATBELT_PROTOCOL_TCP, UDP = SEATBELT_PROTOCOL_UDP;
static const char resolver[] = "/private/var/run/mDNSResponder";

static void the_network_is_closed_until_it_is_granted(void **state)
{
    (void)state;
    struct made made =
        make(RULES(GRANT(READ, .rest = "/usr"), GRANT(READ, .rest = "/private/var/run")), at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    assert_false(connects(profile, ELSEWHERE, 443, TCP));
    assert_false(connects(profile, HERE, 443, TCP));
    assert_false(connects(profile, ELSEWHERE, 53, UDP));
    assert_false(listens(profile, "network-bind", HERE, 3000));
    assert_false(allows(profile, "network-outbound", resolver));
    arena_destroy(made.arena);

    made = make(RULES(NETWORK(RULE_GRANT_NETWORK, NETWORK_ANY, PROTOCOL_BITS, all_ports), DENY(.rest = "/x")),
                at_home, 2);
    profile = read_back(&made, at_home, 2);
    assert_true(connects(profile, ELSEWHERE, 443, TCP));
    assert_true(connects(profile, HERE, 9, UDP));
    assert_true(allows(profile, "network-outbound", resolver));
    assert_false(allows(profile, "network-outbound", "/private/var/run/other"));
    assert_false(listens(profile, "network-bind", HERE, 3000));
    assert_false(listens(profile, "network-inbound", HERE, 3000));
    arena_destroy(made.arena);
}

static void loopback_ports_open_nothing_else(void **state)
{
    (void)state;
    struct made made = make(RULES(NETWORK(RULE_GRANT_NETWORK, NETWORK_LOOPBACK, PROTOCOL_BIT_TCP, few_ports),
                                  NETWORK(RULE_GRANT_LISTEN, NETWORK_ANY, PROTOCOL_BIT_TCP, few_ports)),
                            at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    assert_true(connects(profile, HERE, 3000, TCP));
    assert_true(connects(profile, HERE, 3002, TCP));
    assert_false(connects(profile, HERE, 3003, TCP));
    assert_false(connects(profile, HERE, 3000, UDP));
    assert_false(connects(profile, ELSEWHERE, 3000, TCP));
    assert_true(listens(profile, "network-bind", ELSEWHERE, 3001));
    assert_true(listens(profile, "network-inbound", HERE, 3001));
    assert_false(listens(profile, "network-bind", HERE, 2999));
    assert_false(allows(profile, "network-outbound", resolver));
    arena_destroy(made.arena);
}

static void ports_of_any_host_are_named(void **state)
{
    (void)state;
    static const struct port_range https[] = {{443, 443}};
    struct made made =
        make(RULES(NETWORK(RULE_GRANT_NETWORK, NETWORK_ANY, PROTOCOL_BIT_TCP, https)), at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    assert_true(connects(profile, ELSEWHERE, 443, TCP));
    assert_false(connects(profile, ELSEWHERE, 443, UDP));
    assert_false(connects(profile, ELSEWHERE, 80, TCP));
    assert_false(allows(profile, "network-outbound", resolver));
    arena_destroy(made.arena);

    /* Beside a rule that a profile cannot say nothing is open by `any`. */
    made = make(RULES(NETWORK(RULE_GRANT_NETWORK, NETWORK_ANY, PROTOCOL_BIT_TCP, https),
                      NETWORK(RULE_DENY_NETWORK, NETWORK_LAN, PROTOCOL_BITS, all_ports)),
                at_home, 2);
    profile = read_back(&made, at_home, 2);
    assert_false(connects(profile, ELSEWHERE, 443, TCP));
    arena_destroy(made.arena);
}

/* ---- services ---- */

static bool looks_up(const struct seatbelt_profile *profile, const char *name)
{
    const struct seatbelt_question question = {
        .operation = "mach-lookup", .name_kind = SEATBELT_NAME_GLOBAL, .name = name};
    return seatbelt_decide(profile, &question, NULL) == SEATBELT_ALLOW;
}

static void services_open_only_where_they_are_granted(void **state)
{
    (void)state;
    static const char agent[] = "/private/tmp/com.apple.launchd.x1/Listeners";
    struct made made = make(RULES(GRANT(READ, .rest = "/usr")), at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    assert_false(looks_up(profile, "com.apple.trustd.agent"));
    assert_false(looks_up(profile, "com.apple.SecurityServer"));
    assert_false(allows(profile, "network-outbound", agent));
    assert_false(allows(profile, "pseudo-tty", NULL));
    arena_destroy(made.arena);

    made = make(RULES({.kind = RULE_GRANT_SERVICE, .name = "trustd"},
                      {.kind = RULE_GRANT_SERVICE, .name = "ssh-agent"},
                      {.kind = RULE_GRANT_SERVICE, .name = "pty"}, {.kind = RULE_GRANT_SERVICE, .name = "gh"},
                      DENY(.root = ROOT_HOME, .rest = "/.config/gh/hosts.yml")),
                at_home, 2);
    profile = read_back(&made,
                        (const struct root_path[]){at_home[0], {ROOT_CONFIG, "/Users/u/Library/A", true}}, 2);
    assert_true(looks_up(profile, "com.apple.trustd.agent"));
    assert_true(allows(profile, "network-outbound", agent));
    assert_false(allows(profile, "network-outbound", "/private/tmp/com.apple.launchd.x1/Other"));
    assert_true(allows(profile, "pseudo-tty", NULL));
    assert_false(allows(profile, "file-write-data", "/dev/ttys003"));
    assert_true(allows(profile, "file-read-data", "/Users/u/.config/gh/config.yml"));
    assert_false(allows(profile, "file-read-data", "/Users/u/.config/gh/hosts.yml"));
    arena_destroy(made.arena);

    /* Where a socket is granted, each that the denied service has must be known. */
    made = make(RULES({.kind = RULE_GRANT_SOCKET, .path = {.rest = "/private/tmp"}},
                      {.kind = RULE_DENY_SERVICE, .name = "ssh-agent"}),
                at_home, 2);
    assert_true(says(&made, SBX304_VARIABLE_UNBOUND));
    arena_destroy(made.arena);
}

/* ---- budgets ---- */

static void what_is_too_long_is_refused_in_words(void **state)
{
    (void)state;
    enum { MANY = 600 };
    struct arena *arena = arena_create(0);
    struct policy_path *items = arena_array(arena, MANY, sizeof *items);
    for (int i = 0; i < MANY; i++)
        items[i] = (struct policy_path){
            .root = ROOT_WORK, .rest = arena_format(arena, "/an/exception/with/a/rather/long/name/%d", i)};
    const struct path_list list = {items, MANY};
    struct made made =
        make(RULES(GRANT(WRITE, .root = ROOT_WORK),
                   {.kind = RULE_DENY, .path = {.root = ROOT_WORK, .rest = "/an"}, .except = &list}),
             at_home, 2);
    assert_true(says(&made, SBX307_RULE_TOO_LONG));
    assert_int_equal(made.out.length, 0);
    arena_destroy(made.arena);

    made =
        make(RULES(NETWORK(RULE_GRANT_NETWORK, NETWORK_LOOPBACK, PROTOCOL_BIT_TCP, many_ports)), at_home, 2);
    assert_true(says(&made, SBX311_TOO_MANY_PORTS));
    assert_int_equal(made.out.length, 0);
    arena_destroy(made.arena);
    arena_destroy(arena);
}

static void many_rules_share_rules_that_macos_can_read(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    struct arena *arena = arena_create(0);
    struct rule *rules = arena_array(arena, MANY + 1, sizeof *rules);
    rules[0] = (struct rule)GRANT(WRITE, .root = ROOT_WORK);
    for (int i = 1; i <= MANY; i++)
        rules[i] =
            (struct rule)DENY(.root = ROOT_WORK, .rest = arena_format(arena, "/dir%d/secret%d", i % 100, i));
    struct made made = make(rules, MANY + 1, at_home, 2);
    assert_true(made.good);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    assert_false(allows(profile, "file-read-data", "/Users/u/w/dir99/secret9999/x"));
    assert_true(allows(profile, "file-read-data", "/Users/u/w/dir99/secret99990"));
    size_t start = 0, longest = 0;
    for (size_t at = 0; at + 2 < made.out.length; at++)
        if (strncmp(made.out.bytes + at, "\n(", 2) == 0) {
            longest = at - start > longest ? at - start : longest;
            start = at;
        }
    assert_true(longest < 65535);
    arena_destroy(made.arena);

    for (int i = 1; i <= MANY; i++)
        rules[i] =
            (struct rule)DENY(.root = ROOT_WORK, .rest = arena_format(arena, "/%0900d/%d", i % 100, i));
    made = make(rules, MANY + 1, at_home, 2);
    assert_true(says(&made, SBX308_PROFILE_TOO_LONG));
    assert_int_equal(made.out.length, 0);
    arena_destroy(made.arena);
    arena_destroy(arena);
}

static void long_paths_are_split(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    const char *path = arena_format(arena, "/%01000d/%0600d", 1, 2);
    struct made made =
        make(RULES(GRANT(READ, .rest = path), DENY(.rest = arena_join(arena, path, "/x*"), .pattern = true)),
             at_home, 2);
    struct seatbelt_profile *profile = read_back(&made, at_home, 2);
    assert_true(allows(profile, "file-read-data", arena_join(arena, path, "/a")));
    assert_false(allows(profile, "file-read-data", arena_join(arena, path, "/xa")));
    for (const char *at = made.out.bytes; (at = strchr(at, '"')) != NULL;) {
        size_t length = 0;
        for (at++; at[length] != '"'; length++)
            length += at[length] == '\\';
        assert_true(length <= 1024);
        at += length + 1;
    }
    arena_destroy(made.arena);
    arena_destroy(arena);
}

static void too_many_conditions_need_the_roots(void **state)
{
    (void)state;
    enum { MANY = 30 };
    struct arena *arena = arena_create(0);
    struct rule rules[MANY];
    for (int i = 0; i < MANY; i++)
        rules[i] = (struct rule){
            .kind = RULE_GRANT,
            .level = i % 2 == 0 ? LEVEL_READ : LEVEL_WRITE,
            .path = {.root = i % 2 == 0 ? ROOT_TMP : ROOT_WORK, .rest = arena_format(arena, "/x%d", i)}};
    struct made made = make(rules, MANY, at_home, 2);
    assert_true(says(&made, SBX309_TOO_MANY_CONDITIONS));
    arena_destroy(made.arena);
    const struct root_path bound[] = {{ROOT_TMP, "/private/var/t", false}, {ROOT_WORK, "/Users/u/w", false}};
    made = make(rules, MANY, bound, 2);
    assert_true(made.good);
    assert_false(holds(&made, "; requires: "));
    arena_destroy(made.arena);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_leaves_no_comment_and_no_string),
        cmocka_unit_test(both_names_of_a_place_are_written),
        cmocka_unit_test(the_data_volume_opens_nothing_by_its_second_name),
        cmocka_unit_test(denies_hold_in_any_case_and_form),
        cmocka_unit_test(what_deny_default_leaves_open_is_closed),
        cmocka_unit_test(every_program_can_start),
        cmocka_unit_test(a_deny_of_a_device_holds),
        cmocka_unit_test(directories_above_a_pattern_stay_where_they_are),
        cmocka_unit_test(a_writable_directory_itself_stays),
        cmocka_unit_test(scratch_is_open_whatever_is_limited),
        cmocka_unit_test(a_profile_without_a_required_root_is_refused),
        cmocka_unit_test(a_managed_home_is_a_parameter_of_its_own),
        cmocka_unit_test(the_network_is_closed_until_it_is_granted),
        cmocka_unit_test(loopback_ports_open_nothing_else),
        cmocka_unit_test(ports_of_any_host_are_named),
        cmocka_unit_test(services_open_only_where_they_are_granted),
        cmocka_unit_test(what_is_too_long_is_refused_in_words),
        cmocka_unit_test(many_rules_share_rules_that_macos_can_read),
        cmocka_unit_test(long_paths_are_split),
        cmocka_unit_test(too_many_conditions_need_the_roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
