/* token_groups.h - what a token of the sandbox must not hold and what it must: shared by who makes and who
 * reads back. */
#pragma once

#include "runtime/windows/identity.h"

#define TOKEN_LOW "S-1-16-4096"
#define TOKEN_MEDIUM "S-1-16-8192"

/* Whether members of the group can change the machine or the domain: administrators, operators and the like.
 * Such a group stays in the token only to be denied by. */
bool token_group_is_powerful(const struct windows_sid *sid);

/* Who gets all rights to what the command makes without saying to whom (tiers restricted, restricted-low). */
struct token_default {
    struct windows_sid sids[3];
    uint32_t count;
};
struct token_default token_default(const struct windows_identity *identity);

enum { TOKEN_DEFAULT_SIZE = 512 }; /* bytes of an ACL with those entries, at most */
