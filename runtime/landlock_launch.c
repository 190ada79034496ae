#include "runtime/landlock_launch.h"

#include "base/escape.h"
#include "base/vector.h"
#include "emitters/control_landlock.h"
#include "emitters/control_need.h"
#include "runtime/expected.h"
#include "runtime/landlock_engine.h"
#include "runtime/landlock_rules.h"
#include "runtime/launch_steps.h"
#include "runtime/probe.h"

#include <errno.h>
#include <string.h>

/* A look at the machine costs a millisecond; a policy that accepts nothing on this target is not worth
 * one. */
static bool accepts_something(const struct bound_policy *bound)
{
    for (uint32_t i = 0; i < bound->rules.count; i++) {
        const struct rule *rule = bound->rules.items[i].rule;
        if (rule->kind == RULE_ACCEPT && rule->target != NULL &&
            strcmp(rule->target, control_target_names[CONTROL_TARGET_LANDLOCK]) == 0)
            return true;
    }
    return false;
}

/* Whether everything that cannot be held is accepted; says nothing. */
static bool accepts_enough(const struct launch *launch)
{
    struct note_list unheard = note_list_in(launch->arena);
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS];

    controls_needed(launch->prepared.bound, needs);
    return control_landlock_check(launch->prepared.bound, landlock_abi(), needs, accepted, &unheard);
}

bool landlock_is_chosen(struct launch *launch)
{
    const char *cause, *remedy;

    if (launch->options->engine != ENGINE_AUTO)
        return launch->options->engine == ENGINE_LANDLOCK;
    if (!accepts_something(launch->prepared.bound) || landlock_engine_missing() != NULL ||
        !accepts_enough(launch) || !probe_diagnose(launch->arena, &cause, &remedy))
        return false;
    note_add(
        &launch->notes,
        (struct note){.code = SBX440_WITHOUT_NAMESPACES,
                      .text = arena_format(
                          launch->arena,
                          "Landlock alone holds the policy, with the exceptions that it accepts: %s", cause),
                      .help = remedy});
    return true;
}

bool landlock_take(struct launch *launch)
{
    launch->alone = true;
    launch->unix_sockets = control_landlock_unix_sockets(launch->prepared.bound, landlock_abi());
    return engine_choose(launch->arena, ENGINE_LANDLOCK, &launch->engine, &launch->notes);
}

bool landlock_controls(struct launch *launch)
{
    return control_landlock_check(launch->prepared.bound, landlock_abi(), launch->needs, launch->accepted,
                                  &launch->notes);
}

void landlock_settle_facts(struct launch *launch)
{
    launch->facts.missing_count = 0;
}

void landlock_filter(const struct launch *launch, struct seccomp_request *filter)
{
    const struct bound_policy *bound = launch->prepared.bound;

    filter->no_namespaces = true;
    filter->refuse_network = launch->own_network;
    filter->unix_sockets = launch->unix_sockets;
    filter->refuse_listen =
        !launch->unix_sockets && network_is_shared(bound) && listen_left(bound) == LEFT_NOTHING;
}

static bool is_listed(const char *const *paths, uint32_t count, const char *path)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(paths[i], path) == 0)
            return true;
    return false;
}

/* Which control a place that stays open would have needed. */
static enum control control_of(const struct facts *facts, const struct plan_operation *operation)
{
    if (operation->kind == PLAN_BIND_READ)
        return CONTROL_FS_WRITE;
    return is_listed(facts->matches, facts->match_count, operation->path) ? CONTROL_FS_DENY_PATTERN
                                                                          : CONTROL_FS_DENY;
}

/* The lease names each place that stays more open than the policy says. What was found to stay open though
 * its control holds by the table, such as a denied link's target, stops the launch. */
static bool places_note(struct launch *launch)
{
    const struct facts *facts = &launch->facts;
    uint32_t count;
    const struct plan_operation **open = landlock_left_open(launch->arena, &launch->plan, &count);

    for (uint32_t i = 0; i < count; i++) {
        if (is_listed(facts->masked_sockets, facts->masked_socket_count, open[i]->path))
            continue;
        enum control control = control_of(facts, open[i]);
        const struct rule *accept = control_accept(launch->prepared.bound, CONTROL_TARGET_LANDLOCK, control);
        const char *text = arena_format(launch->arena, "%s stays as open as what is around it (%s)",
                                        escape_string(launch->arena, open[i]->path), control_names[control]);
        if (accept == NULL)
            return launch_refuse(launch, SBX300_UNENFORCEABLE, text,
                                 arena_format(launch->arena,
                                              "record the exception: accept %s on landlock because \"...\"",
                                              control_names[control]));
        note_add(&launch->notes, (struct note){.code = SBX441_STAYS_OPEN, .rule = accept, .text = text});
    }
    return true;
}

/* The inner stage opens what the rules name by path: it must be what was looked at. */
static const char *rules_identify(struct launch *launch, struct landlock_rules *rules)
{
    struct expected_mount *places = arena_array(launch->arena, rules->count, sizeof *places);

    for (uint32_t i = 0; i < rules->count; i++)
        places[i] = (struct expected_mount){.path = rules->items[i].path, .source = rules->items[i].path};
    const char *changed = mounts_identify(launch->arena, launch->facts.seen, places, rules->count);
    for (uint32_t i = 0; i < rules->count; i++) {
        rules->items[i].known = places[i].known;
        rules->items[i].device = places[i].device;
        rules->items[i].inode = places[i].inode;
    }
    return changed;
}

/* Nobody can have put something at a name that holds the lease's number. */
static const char *scratch_path(const struct launch *launch)
{
    const struct root_value *temporary = &launch->prepared.bindings.roots[ROOT_TMP];
    const char *top = temporary->state == ROOT_BOUND ? temporary->paths[0] : "/tmp";

    return arena_format(launch->arena, "%s/sbx-%s", top, launch->lease.id);
}

bool landlock_scratch_ready(struct launch *launch)
{
    struct landlock_rule *rules = arena_array(launch->arena, launch->inner.rule_count, sizeof *rules);
    struct landlock_rule *last = &rules[launch->inner.rule_count - 1];
    struct stat status;

    if (launch->scratch.path == NULL)
        return true;
    if (!landlock_scratch_make(&launch->scratch, &status))
        return launch_refuse(launch, SBX414_BACKEND_FAILED,
                             arena_format(launch->arena, "%s could not be made: %s",
                                          escape_string(launch->arena, launch->scratch.path),
                                          strerror(errno)),
                             NULL);
    memcpy(rules, launch->inner.rules, launch->inner.rule_count * sizeof *rules);
    last->known = true;
    last->device = status.st_dev;
    last->inode = status.st_ino;
    launch->inner.rules = rules;
    return true;
}

bool landlock_plan(struct launch *launch)
{
    if (!places_note(launch))
        return false;
    struct landlock_rules rules = landlock_rules_alone(launch->arena, &launch->plan, &launch->facts);
    const char *changed = rules_identify(launch, &rules);

    if (bound_scratch(launch->prepared.bound)) {
        launch->scratch.path = scratch_path(launch);
        VECTOR_PUSH(launch->arena, &rules,
                    (struct landlock_rule){.path = launch->scratch.path, .rights = RIGHTS_WRITE});
    }
    launch->inner.landlock_alone = true;
    launch->inner.rules = rules.items;
    launch->inner.rule_count = rules.count;
    launch->plan = (struct plan){0};
    return changed == NULL ||
           launch_refuse(launch, SBX416_EVIDENCE,
                         arena_format(launch->arena, "%s was replaced while the sandbox was prepared",
                                      escape_string(launch->arena, changed)),
                         "nothing ran; start again when nothing else changes it");
}
