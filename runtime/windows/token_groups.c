/* token_groups.c - see token_groups.h. */
#include "runtime/windows/token_groups.h"

#include <string.h>

/* S-1-5-32-N: the machine's own groups. */
static const uint32_t builtin[] = {
    544, /* Administrators */
    547, /* Power Users */
    548, /* Account Operators */
    549, /* Server Operators */
    550, /* Print Operators */
    551, /* Backup Operators */
    552, /* Replicator */
    556, /* Network Configuration Operators */
    562, /* Distributed COM Users */
    569, /* Cryptographic Operators */
    578, /* Hyper-V Administrators */
    580, /* Remote Management Users */
    582, /* Storage Replica Administrators */
};

/* S-1-5-21-x-y-z-N: groups of a domain. */
static const uint32_t of_domain[] = {
    498, /* Enterprise Read-only Domain Controllers */
    512, /* Domain Admins */
    516, /* Domain Controllers */
    517, /* Cert Publishers */
    518, /* Schema Admins */
    519, /* Enterprise Admins */
    520, /* Group Policy Creator Owners */
    521, /* Read-only Domain Controllers */
    526, /* Key Admins */
    527, /* Enterprise Key Admins */
};

static uint32_t sid_part(const struct windows_sid *sid, size_t number)
{
    const uint8_t *at = sid->bytes + 8 + 4 * number;
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static bool is_one_of(const uint32_t *numbers, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

bool token_group_is_powerful(const struct windows_sid *sid)
{
    static const uint8_t nt_authority[] = {0, 0, 0, 0, 0, 5};
    if (sid->length < 12 || memcmp(sid->bytes + 2, nt_authority, sizeof nt_authority) != 0)
        return false;
    uint32_t first = sid_part(sid, 0);
    if (sid->length == 16 && first == 32)
        return is_one_of(builtin, sizeof builtin / sizeof *builtin, sid_part(sid, 1));
    if (sid->length == 28 && first == 21)
        return is_one_of(of_domain, sizeof of_domain / sizeof *of_domain, sid_part(sid, 4));
    /* "Local account and member of Administrators group" */
    return sid->length == 12 && first == 114;
}

struct token_default token_default(const struct windows_identity *identity)
{
    struct token_default given = {.count = 3, .sids = {identity->run, identity->user}};
    windows_sid_parse("S-1-5-18", &given.sids[2]);
    return given;
}
