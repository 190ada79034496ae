/* windows_symbolic.h - the specification that sbxc writes of a policy without knowing where its roots lie. */
#pragma once

#include "emitters/windows.h"

/* False with an error note if it refuses. */
static inline bool emit_symbolic(struct arena *arena, const struct policy *policy, struct note_list *notes,
                                 struct buffer *xml)
{
    struct bindings symbolic = {.system = SYSTEM_WINDOWS};
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS] = {0};
    for (uint32_t root = 0; root < ROOTS; root++)
        symbolic.roots[root].state = symbolic.managed_roots[root].state = ROOT_SYMBOLIC;
    struct bound_policy *bound = policy_bind(arena, policy, &symbolic, notes);
    bound_seal(bound, NULL);
    controls_needed(bound, needs);
    return controls_check(bound, CONTROL_TARGET_WINDOWS, needs, accepted, notes) &&
           emit_windows(&(struct emit_request){.arena = arena,
                                               .policy = policy,
                                               .bound = bound,
                                               .version = SBX_VERSION,
                                               .architecture = "x86_64",
                                               .output_name = "t.xml",
                                               .accepted = accepted,
                                               .notes = notes},
                        xml);
}
