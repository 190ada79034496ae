/* sample_policy.h - a policy and a managed layer that use every kind of rule, for tests of files, hashes and
 * merging. */
#pragma once

#include "base/vector.h"
#include "policy/policy.h"

#include <string.h>

struct sample_rules {
    struct rule *items;
    uint32_t count, capacity;
};

static const struct port_range sample_all_ports[] = {{1, UINT16_MAX}};
static const struct port_range sample_ports[] = {{80, 80}, {443, 443}, {3000, 3010}};
static const char *const sample_commands[] = {"git", "node"};
static const struct command_set sample_set = {sample_commands, 2};

static const struct policy_path sample_except_items[] = {
    {.root = ROOT_WORK, .rest = "/tests/fixtures"},
    {.root = ROOT_WORK, .rest = "/**/*.pub", .pattern = true},
    {.root = ROOT_HOME, .rest = "/x", .directory = true},
};
static const struct policy_path sample_except_other_order[] = {
    {.root = ROOT_HOME, .rest = "/x", .directory = true},
    {.root = ROOT_WORK, .rest = "/**/*.pub", .pattern = true},
    {.root = ROOT_WORK, .rest = "/tests/fixtures"},
    {.root = ROOT_HOME, .rest = "/x", .directory = true},
};
static const struct path_list sample_except[] = {{sample_except_items, 3}, {sample_except_other_order, 4}};

static const struct network sample_host = {.target = NETWORK_HOST,
                                           .host = "*.example.com",
                                           .protocols = PROTOCOL_BIT_TCP,
                                           .ports = sample_ports,
                                           .port_count = 3};
static const struct network sample_address = {.target = NETWORK_ADDRESS,
                                              .address = {[10] = 0xff, 0xff, 10},
                                              .prefix = 104,
                                              .protocols = PROTOCOL_BITS,
                                              .ports = sample_all_ports,
                                              .port_count = 1};
static const struct network sample_loopback = {
    .target = NETWORK_LOOPBACK, .protocols = PROTOCOL_BIT_TCP, .ports = sample_ports, .port_count = 3};

static inline struct policy *sample_finish(struct arena *arena, struct sample_rules *rules, const char *name,
                                           enum layer_kind kind)
{
    static const struct policy_source sources[] = {{"project.sbx", SOURCE_POLICY, NULL},
                                                   {"../team/base.sbx", SOURCE_PRESET_FILE, NULL},
                                                   {"std/git", SOURCE_PRESET_BUILTIN, NULL}};
    struct layer *layer = arena_alloc(arena, sizeof *layer);
    *layer = (struct layer){.kind = kind, .name = name};
    struct policy *policy = arena_alloc(arena, sizeof *policy);
    *policy = (struct policy){.arena = arena,
                              .name = name,
                              .layers = layer,
                              .layer_count = 1,
                              .sources = sources,
                              .source_count = 3,
                              .rules = rules->items,
                              .rule_count = rules->count,
                              .requested_hash = {1, 2, 3}};
    for (uint32_t i = 0; i < rules->count; i++) {
        if (rules->items[i].systems == 0)
            rules->items[i].systems = SYSTEM_ALL;
        rules->items[i].origin = (struct origin){.source = i % 3, .line = i + 1, .column = 1};
    }
    policy_hash(policy);
    return policy;
}

/* `order` 0 or 1: the same rules, their except lists in another order and with a repetition. */
static inline struct policy *sample_policy(struct arena *arena, int order)
{
    const struct rule all[] = {
        {.kind = RULE_GRANT, .level = LEVEL_WRITE, .path = {.root = ROOT_WORK, .rest = ""}},
        {.kind = RULE_GRANT,
         .level = LEVEL_READ,
         .automatic = true,
         .path = {.root = ROOT_ENV, .name = "PATH", .rest = ""}},
        {.kind = RULE_GRANT,
         .level = LEVEL_READ,
         .systems = 1 << SYSTEM_WINDOWS,
         .path = {.root = ROOT_DRIVE, .name = "C", .rest = "/Tools"}},
        {.kind = RULE_DENY,
         .path = {.root = ROOT_WORK, .rest = "/**/*.p[a-z]m", .pattern = true},
         .except = &sample_except[order]},
        {.kind = RULE_DENY,
         .level = LEVEL_READ,
         .path = {.root = ROOT_SLASH, .rest = "/a\xff\x01", .directory = true}},
        {.kind = RULE_DENY, .path = {.root = ROOT_HOME, .rest = "/.ssh"}, .commands = &sample_set},
        {.kind = RULE_DENY_EXEC, .path = {.root = ROOT_TMP, .rest = ""}, .except = &sample_except[order]},
        {.kind = RULE_GRANT_SOCKET, .path = {.root = ROOT_WORK, .rest = "/s"}},
        {.kind = RULE_DENY_SOCKET, .path = {.root = ROOT_WORK, .rest = "/*.sock", .pattern = true}},
        {.kind = RULE_GRANT_NETWORK, .network = &sample_host},
        {.kind = RULE_DENY_NETWORK, .network = &sample_address},
        {.kind = RULE_GRANT_LISTEN, .network = &sample_loopback},
        {.kind = RULE_DENY_LISTEN, .network = &sample_loopback},
        {.kind = RULE_GRANT_ENV, .name = "NODE_*"},
        {.kind = RULE_DENY_ENV, .name = "*_TOKEN"},
        {.kind = RULE_SET_ENV, .name = "NODE_ENV", .value = "development \xc3\xa9"},
        {.kind = RULE_GRANT_SERVICE, .name = "ssh-agent"},
        {.kind = RULE_DENY_SERVICE, .name = "docker"},
        {.kind = RULE_GRANT_SYSCALL, .name = "ptrace"},
        {.kind = RULE_DENY_SYSCALL, .name = "io_uring_setup"},
        {.kind = RULE_GRANT_SCRATCH},
        {.kind = RULE_DENY_BYPASS},
        {.kind = RULE_LIMIT_PROCESSES, .amount = 512},
        {.kind = RULE_LIMIT_FILES, .amount = 1024},
        {.kind = RULE_LIMIT_MEMORY, .amount = (uint64_t)4 << 30},
        {.kind = RULE_LIMIT_TIME, .amount = 90},
        {.kind = RULE_ACCEPT, .name = "fs.deny.pattern", .value = "watched", .target = "bwrap"},
        {.kind = RULE_ACCEPT, .name = "SBX201", .value = "meant"},
        {.kind = RULE_EXPECT, .operation = OPERATION_READ, .path = {.root = ROOT_WORK, .rest = "/.env"}},
        {.kind = RULE_EXPECT,
         .allow = true,
         .operation = OPERATION_CONNECT,
         .name = "10.0.0.0:80",
         .network = &sample_address},
        {.kind = RULE_EXPECT, .operation = OPERATION_ENV, .name = "GH_TOKEN"},
    };
    struct sample_rules rules = {0};
    uint32_t count = sizeof all / sizeof *all;
    for (uint32_t i = 0; i < count; i++)
        VECTOR_PUSH(arena, &rules, all[order == 0 ? i : count - 1 - i]);
    return sample_finish(arena, &rules, "acme-web", LAYER_POLICY);
}

static inline struct policy *sample_managed(struct arena *arena, const char *name)
{
    const struct rule all[] = {
        {.kind = RULE_DENY, .path = {.root = ROOT_HOME, .rest = "/.ssh", .directory = true}},
        {.kind = RULE_LIMIT_WRITE, .nothing = true},
        {.kind = RULE_LIMIT_WRITE, .path = {.root = ROOT_WORK, .rest = ""}},
        {.kind = RULE_LIMIT_READ, .path = {.root = ROOT_SLASH, .rest = ""}},
        {.kind = RULE_LIMIT_SOCKET, .nothing = true},
        {.kind = RULE_LIMIT_NETWORK, .network = &sample_host},
        {.kind = RULE_LIMIT_ENV, .name = "nothing"},
        {.kind = RULE_LIMIT_SERVICE, .name = "ssh-agent"},
        {.kind = RULE_PERMIT_BYPASS},
        {.kind = RULE_LIMIT_TIME, .amount = 60},
    };
    struct sample_rules rules = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        VECTOR_PUSH(arena, &rules, all[i]);
    return sample_finish(arena, &rules, name, LAYER_MANAGED);
}
