/* questions_syscall.h - what a policy says of system calls, and the questions that cover it: every call by
 * its number, and for those that depend on their arguments one question on each side of the line
 * (docs/seccomp.md). */
#pragma once

#include "emitters/questions.h"

struct syscall_policy;

/* NULL if there is no table for `architecture`. */
struct syscall_policy *syscall_policy_of(struct arena *arena, const struct bound_policy *bound,
                                         const char *architecture);

void syscall_queries(const struct syscall_policy *policy, struct query_set *set);

/* "allow" or "deny". */
struct reply syscall_answer(const struct syscall_policy *policy, const struct query *query);

/* What the kernel sees of the call; false for a call that the architecture does not have. */
bool syscall_numbers(const struct syscall_policy *policy, const struct query *query, uint32_t *number,
                     uint32_t *architecture);
