#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "build_policy.h"
#include "policy/address.h"
#include "policy/bound.h"
#include "policy/network.h"

static const struct bound_policy *bind_lines(struct arena *arena, const char *const *lines)
{
    struct bindings bindings = build_bindings(SYSTEM_LINUX);
    struct note_list notes = note_list_in(arena);
    struct bound_policy *bound = policy_bind(arena, build_policy(arena, lines), &bindings, &notes);
    assert_int_equal(0, notes.errors);
    bound_seal(bound, &notes);
    assert_null(bound_prove(arena, bound));
    return bound;
}

static void every_address_has_its_class(void **state)
{
    static const struct {
        const char *address;
        enum address_class class;
    } cases[] = {
        {"127.0.0.1", ADDRESS_LOOPBACK},
        {"127.255.255.255", ADDRESS_LOOPBACK},
        {"0.0.0.0", ADDRESS_LOOPBACK},
        {"0.255.1.1", ADDRESS_LOOPBACK},
        {"::1", ADDRESS_LOOPBACK},
        {"::", ADDRESS_LOOPBACK},
        {"10.0.0.0", ADDRESS_LAN},
        {"10.255.255.255", ADDRESS_LAN},
        {"11.0.0.0", ADDRESS_INTERNET},
        {"172.15.255.255", ADDRESS_INTERNET},
        {"172.16.0.0", ADDRESS_LAN},
        {"172.31.255.255", ADDRESS_LAN},
        {"172.32.0.0", ADDRESS_INTERNET},
        {"192.168.255.1", ADDRESS_LAN},
        {"192.169.0.0", ADDRESS_INTERNET},
        {"100.63.255.255", ADDRESS_INTERNET},
        {"100.64.0.0", ADDRESS_LAN},
        {"100.127.255.255", ADDRESS_LAN},
        {"100.128.0.0", ADDRESS_INTERNET},
        {"169.254.169.254", ADDRESS_LAN},
        {"fc00::1", ADDRESS_LAN},
        {"fdff::1", ADDRESS_LAN},
        {"fe00::1", ADDRESS_INTERNET},
        {"fe80::1%eth0", ADDRESS_LAN},
        {"febf::1", ADDRESS_LAN},
        {"fec0::1", ADDRESS_OTHER},
        {"feff::1", ADDRESS_OTHER},
        {"ff02::1", ADDRESS_OTHER},
        {"224.0.0.1", ADDRESS_OTHER},
        {"239.255.255.255", ADDRESS_OTHER},
        {"240.0.0.1", ADDRESS_OTHER},
        {"255.255.255.255", ADDRESS_OTHER},
        {"192.0.0.1", ADDRESS_OTHER},
        {"192.0.1.1", ADDRESS_INTERNET},
        {"192.0.2.1", ADDRESS_OTHER},
        {"198.18.0.1", ADDRESS_OTHER},
        {"198.19.255.255", ADDRESS_OTHER},
        {"198.20.0.0", ADDRESS_INTERNET},
        {"198.51.100.1", ADDRESS_OTHER},
        {"203.0.113.1", ADDRESS_OTHER},
        {"100::1", ADDRESS_OTHER},
        {"100:0:0:1::1", ADDRESS_INTERNET},
        {"2001:db8::1", ADDRESS_OTHER},
        {"2001:db9::1", ADDRESS_INTERNET},
        {"2606:4700::1", ADDRESS_INTERNET},
        {"8.8.8.8", ADDRESS_INTERNET},
        /* what stands inside */
        {"::ffff:127.0.0.1", ADDRESS_LOOPBACK},
        {"::ffff:10.0.0.1", ADDRESS_LAN},
        {"::7f00:1", ADDRESS_LOOPBACK},
        {"::10.1.2.3", ADDRESS_LAN},
        {"::8.8.8.8", ADDRESS_INTERNET},
        {"::2", ADDRESS_LOOPBACK}, /* 0.0.0.2 */
        {"64:ff9b::127.0.0.1", ADDRESS_LOOPBACK},
        {"64:ff9b::8.8.8.8", ADDRESS_INTERNET},
        {"64:ff9b:1::192.168.0.1", ADDRESS_LAN},
        {"64:ff9b:1:c0a8:0:100::", ADDRESS_LAN},
        {"2002:7f00:1::", ADDRESS_LOOPBACK},
        {"2002:a00:1::1", ADDRESS_LAN},
        {"2002:808:808::1", ADDRESS_INTERNET},
        {"2001:0:1:2:3:4:80ff:fffe", ADDRESS_LOOPBACK}, /* 127.0.0.1 turned */
        {"2001::f5ff:fffe", ADDRESS_LAN},
        {"2001:1::f5ff:fffe", ADDRESS_INTERNET},
        /* what inet_aton reads */
        {"127.1", ADDRESS_LOOPBACK},
        {"0x7f000001", ADDRESS_LOOPBACK},
        {"2130706433", ADDRESS_LOOPBACK},
        {"0177.0.0.1", ADDRESS_LOOPBACK},
        {"0", ADDRESS_LOOPBACK},
        {"0xa.1", ADDRESS_LAN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t address[16], meanings[ADDRESS_MEANINGS][16];
        if (!address_read(cases[i].address, address))
            fail_msg("%s is not read", cases[i].address);
        assert_int_equal(1, address_meanings(address, meanings));
        if (address_class(meanings[0]) != cases[i].class)
            fail_msg("%s has class %d", cases[i].address, address_class(meanings[0]));
    }
}

static void what_is_no_address_is_a_name(void **state)
{
    static const char *const names[] = {
        "", "a", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", "example.com", "::g", "1.2.3.4%eth0", "08"};
    uint8_t address[16];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (address_read(names[i], address))
            fail_msg("%s is read", names[i]);
}

static void an_unclear_nat64_address_has_every_meaning(void **state)
{
    uint8_t address[16], meanings[ADDRESS_MEANINGS][16];
    bool loopback = false;
    (void)state;
    assert_true(address_read("64:ff9b:1:7f00:0:1ff:808:808", address));
    uint32_t count = address_meanings(address, meanings);
    assert_int_equal(4, count);
    for (uint32_t i = 0; i < count; i++)
        loopback = loopback || address_class(meanings[i]) == ADDRESS_LOOPBACK;
    assert_true(loopback);
}

static void host_patterns_cover_whole_labels(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool covers;
    } cases[] = {
        {"a.example", "a.example", true},
        {"a.example", "A.EXAMPLE.", true},
        {"a.example", "b.a.example", false},
        {"a.example", "xa.example", false},
        {"*.e.example", "e.example", false},
        {"*.e.example", "x.e.example", true},
        {"*.e.example", "y.x.e.example", true},
        {"*.e.example", "xe.example", false},
        {"*", "anything", true},
        {"*.com", "example.com", true},
        {"*.com", "com", false},
        {"*.e.example", ".e.example", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (network_host_covers(cases[i].pattern, cases[i].name) != cases[i].covers)
            fail_msg("%s on %s", cases[i].pattern, cases[i].name);
}

enum { MOST = 16 };

struct connect_case {
    const char *name;
    const char *lines[MOST];
    const char *answers[MOST]; /* "allow NAME|ADDRESS|NAME=ADDRESS PORT [udp]" */
};

static enum verdict connect_to(struct arena *arena, const struct bound_policy *bound, const char *question)
{
    struct endpoint endpoint = {.protocol = PROTOCOL_BIT_TCP};
    char *text = build_word(arena, &question), *equals = strchr(text, '=');
    endpoint.port = (uint16_t)atoi(build_word(arena, &question));
    if (strcmp(question, "udp") == 0)
        endpoint.protocol = PROTOCOL_BIT_UDP;
    if (equals != NULL)
        *equals = '\0';
    const char *address = equals != NULL ? equals + 1 : text;
    endpoint.has_address =
        (equals != NULL || strchr(text, ':') != NULL) && address_read(address, endpoint.address);
    endpoint.name = equals != NULL || !endpoint.has_address ? text : NULL;
    return bound_connect(bound, &endpoint);
}

static const struct connect_case connect_cases[] = {
    {"closed by default", {"grant read /x"}, {"deny a.example 443", "deny 8.8.8.8 53", "deny ::1 80"}},
    {"exact hosts and ports",
     {"grant network host a.example 443", "grant network host b.example 1000-2000"},
     {"allow a.example 443", "deny a.example 80", "deny a.example 443 udp", "deny x.a.example 443",
      "allow b.example 1000", "allow b.example 2000", "deny b.example 2001", "deny b.example 999",
      "allow A.Example. 443"}},
    {"CP-33 wildcards and a deny below",
     {"grant network host *.e.example 443", "deny network host x.e.example"},
     {"deny e.example 443", "allow y.e.example 443", "deny x.e.example 443", "deny q.x.e.example 443",
      "allow z.y.e.example 443"}},
    {"a denied pattern",
     {"grant network host a.b.example 443", "grant network host c.example 443",
      "deny network host *.b.example"},
     {"deny a.b.example 443", "allow c.example 443"}},
    {"all names denied leave addresses",
     {"grant network any", "deny network host *"},
     {"deny a.example 443", "allow 8.8.8.8 443", "deny a.example=8.8.8.8 443"}},
    {"a denied port",
     {"grant network any", "deny network any 25", "deny network host a.example 22"},
     {"deny a.example 25", "allow a.example 443", "deny a.example 22", "deny 8.8.8.8 25",
      "allow 8.8.8.8 25000"}},
    {"protocols", {"grant network any 53 udp"}, {"allow 8.8.8.8 53 udp", "deny 8.8.8.8 53"}},
    {"a granted name may lead to the internet only",
     {"grant network host a.example 443"},
     {"allow a.example=8.8.8.8 443", "deny a.example=127.0.0.1 443", "deny a.example=10.0.0.1 443",
      "deny a.example=::ffff:10.0.0.1 443", "deny a.example=fe80::1 443",
      "deny a.example=64:ff9b::10.0.0.1 443", "deny 8.8.8.8 443"}},
    {"unless the address is granted too",
     {"grant network host a.example 443", "grant network lan 443"},
     {"allow a.example=10.0.0.1 443", "deny a.example=127.0.0.1 443", "allow 10.0.0.1 443"}},
    {"loopback and its names",
     {"grant network loopback 3000-3010"},
     {"allow 127.0.0.1 3000", "allow ::1 3010", "allow localhost 3005", "allow a.localhost 3005",
      "allow 0x7f.1 3000", "deny localhost 80", "depends a.localhost.example 3000", "allow LOCALHOST. 3000",
      "deny localhost=8.8.8.8 3000", "allow localhost=127.0.0.1 3000", "deny 10.0.0.1 3000"}},
    {"a granted local name needs loopback",
     {"grant network host db.localhost 80"},
     {"deny db.localhost 80", "deny db.localhost=127.0.0.1 80"}},
    {"denied loopback holds for its names",
     {"grant network any", "deny network loopback"},
     {"deny localhost 80", "deny localhost=8.8.8.8 80", "deny ::1 80", "deny 0.0.0.0 80",
      "deny ::ffff:127.9.9.9 80", "allow 8.8.8.8 80", "allow a.example 80", "deny a.example=127.0.0.1 80"}},
    {"lan denied",
     {"grant network any", "deny network lan"},
     {"deny 192.168.1.1 80", "deny a.example=192.168.1.1 80", "allow a.example 80",
      "allow a.example=8.8.8.8 80"}},
    {"MX-18 a deny beats a wider grant",
     {"grant network address 10.0.0.0/8", "deny network address 10.1.2.3"},
     {"allow 10.0.0.1 80", "deny 10.1.2.3 80", "deny 11.0.0.1 80"}},
    {"the outer form is denied too",
     {"grant network any", "deny network address 2002::/16", "deny network address 64:ff9b::/96"},
     {"deny 2002:808:808::1 80", "deny 64:ff9b::8.8.8.8 80", "allow 8.8.8.8 80"}},
    {"IPv4 is in no IPv6 prefix",
     {"grant network address ::/0", "deny network address ::/1 81"},
     {"deny 8.8.8.8 80", "allow 2600::1 80", "deny 2600::1 81"}},
    {"all of IPv4",
     {"grant network address 0.0.0.0/0"},
     {"allow 8.8.8.8 80", "allow 127.0.0.1 80", "deny 2600::1 80", "allow ::ffff:8.8.8.8 80"}},
    {"a name may lead to a granted address",
     {"grant network internet 443", "grant network address 9.9.9.9 53"},
     {"depends a.example 443", "depends a.example 53", "deny a.example 80", "allow 8.8.8.8 443",
      "deny 10.0.0.1 443", "deny 224.0.0.1 443", "allow a.example=8.8.8.8 443"}},
    {"a denied address may change the answer",
     {"grant network host a.example 443", "deny network address 8.8.8.0/24"},
     {"depends a.example 443", "deny a.example=8.8.8.8 443", "allow a.example=9.9.9.9 443"}},
    {"a denied lan address does not",
     {"grant network host a.example 443", "deny network address 10.0.0.0/8"},
     {"allow a.example 443"}},
    {"denied internet denies names",
     {"grant network any", "deny network internet"},
     {"deny a.example 443", "allow 10.0.0.1 443", "allow localhost 1"}},
    {"a limit covers by name or address",
     {"grant network any", "managed m", "limit network to host a.example",
      "limit network to address 9.9.9.9"},
     {"allow a.example 443", "deny b.example=8.8.8.8 443", "allow b.example=9.9.9.9 443",
      "depends b.example 443", "allow 9.9.9.9 443", "deny 8.8.8.8 443"}},
    {"CP-32 disjoint lists",
     {"grant network host a.example 443", "managed m", "limit network to host b.example"},
     {"deny a.example 443", "deny b.example 443"}},
    {"a limit to nothing",
     {"grant network any", "managed m", "limit network to nothing"},
     {"deny a.example 443", "deny 8.8.8.8 1"}},
    {"two lists narrow",
     {"grant network any", "managed m", "limit network to any 443", "managed n", "limit network to internet"},
     {"allow a.example 443", "deny a.example 80", "deny 10.0.0.1 443", "allow 8.8.8.8 443"}},
    {"a managed deny",
     {"grant network any", "managed m", "deny network host a.example"},
     {"deny x.a.example 443", "allow b.example 443"}},
    {"a name that is an address",
     {"grant network host a.example 443"},
     {"deny 127.0.0.1 443", "deny 0x7f000001 443", "deny 2130706433 443"}},
    {"port 0", {"grant network any"}, {"deny a.example 0"}},
};

static void connections_follow_the_language(void **state)
{
    static const char *const words[] = {"deny", "allow", "depends"};
    (void)state;
    for (size_t i = 0; i < sizeof connect_cases / sizeof *connect_cases; i++) {
        struct arena *arena = arena_create(0);
        const struct bound_policy *bound = bind_lines(arena, connect_cases[i].lines);
        for (size_t at = 0; at < MOST && connect_cases[i].answers[at] != NULL; at++) {
            const char *answer = connect_cases[i].answers[at], *question = strchr(answer, ' ') + 1;
            const char *word = words[connect_to(arena, bound, question)];
            if (strncmp(word, answer, strlen(word)) != 0)
                fail_msg("%s: %s, not %s", connect_cases[i].name, word, answer);
        }
        arena_destroy(arena);
    }
}

static bool listens(struct arena *arena, const struct bound_policy *bound, const char *question)
{
    struct endpoint endpoint = {.protocol = PROTOCOL_BIT_TCP};
    const char *text = build_word(arena, &question);
    endpoint.has_address = address_read(text, endpoint.address);
    endpoint.name = endpoint.has_address ? NULL : text;
    endpoint.port = (uint16_t)atoi(question);
    return bound_listen(bound, &endpoint);
}

static void ports_are_opened_for_the_host_or_for_all(void **state)
{
    struct arena *arena = arena_create(0);
    (void)state;
    const struct bound_policy *bound = bind_lines(
        arena, LINES("grant listen loopback 3000-3010", "grant listen any 8080", "deny listen loopback 3005",
                     "deny listen loopback 9000", "grant listen any 9000"));
    assert_true(listens(arena, bound, "127.0.0.1 3000"));
    assert_true(listens(arena, bound, "::1 3000"));
    assert_true(listens(arena, bound, "localhost 3000"));
    assert_false(listens(arena, bound, "0.0.0.0 3000"));
    assert_false(listens(arena, bound, ":: 3000"));
    assert_false(listens(arena, bound, "192.168.1.1 3000"));
    assert_false(listens(arena, bound, "127.0.0.1 3005"));
    assert_true(listens(arena, bound, "0.0.0.0 8080"));
    assert_true(listens(arena, bound, "127.0.0.1 8080"));
    assert_true(listens(arena, bound, "192.168.1.1 9000"));
    assert_false(listens(arena, bound, "0.0.0.0 9000"));
    assert_false(listens(arena, bound, "127.0.0.1 9000"));
    assert_false(listens(arena, bound, "127.0.0.1 0"));
    arena_destroy(arena);
}

static void whether_anything_is_open_is_known(void **state)
{
    static const struct {
        const char *lines[8];
        bool open, everything;
    } cases[] = {
        {{"grant read /x"}, false, false},
        {{"grant network host a.example 443"}, true, false},
        {{"grant network any"}, true, true},
        {{"grant network any 443"}, true, false},
        {{"grant network any", "deny network lan"}, true, false},
        {{"grant network any", "deny network any"}, false, false},
        {{"grant network any", "deny network any 443"}, true, false},
        {{"grant network host a.b.example 443", "deny network host b.example"}, false, false},
        {{"grant network host *.b.example 443", "deny network host *.example"}, false, false},
        {{"grant network host b.example 443", "deny network host *.b.example"}, true, false},
        {{"grant network address 10.1.0.0/16", "deny network address 10.0.0.0/8"}, false, false},
        {{"grant network address 10.1.0.0/16", "deny network lan"}, false, false},
        {{"grant network address 8.0.0.0/6", "deny network lan"}, true, false},
        {{"grant network any", "managed m", "limit network to nothing"}, false, false},
        {{"grant network any", "managed m", "limit network to any"}, true, true},
        {{"grant network any", "managed m", "limit network to host a.example"}, true, false},
        {{"grant network host a.example 443", "managed m", "limit network to host b.example"}, false, false},
        {{"grant network host a.example 443", "managed m", "limit network to any 80"}, false, false},
        {{"grant network host a.b.example 443", "managed m", "limit network to host *.example"}, true, false},
        {{"grant network loopback 80", "managed m", "limit network to lan"}, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create(0);
        bool everything, open = bound_network_open(bind_lines(arena, cases[i].lines), &everything);
        if (open != cases[i].open || everything != cases[i].everything)
            fail_msg("%s, %s", cases[i].lines[0], cases[i].lines[1]);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_address_has_its_class),
        cmocka_unit_test(what_is_no_address_is_a_name),
        cmocka_unit_test(an_unclear_nat64_address_has_every_meaning),
        cmocka_unit_test(host_patterns_cover_whole_labels),
        cmocka_unit_test(connections_follow_the_language),
        cmocka_unit_test(ports_are_opened_for_the_host_or_for_all),
        cmocka_unit_test(whether_anything_is_open_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
