/* windows_objects.h - what is done to which path, so that Windows gives what the policy says: entries, labels, pins,
 * placeholders, matches of patterns, and conditions on roots that are not known yet. */
#pragma once

#include "emitters/target.h"
#include "emitters/windows_spec.h"

struct windows_acl {
    struct {
        struct windows_object *items; /* sorted, each path once */
        uint32_t count, capacity;
    } objects;
    struct {
        struct windows_match *items;
        uint32_t count, capacity;
    } matches;
    struct {
        struct windows_require *items; /* sorted, each once */
        uint32_t count, capacity;
    } requires;
};

/* Of a policy that windows_refuse has passed. Notes say what stays closed though the policy opens it. */
struct windows_acl windows_acl_of(const struct emit_request *request, enum windows_tier tier);

/* Sorts the objects, makes one of those that stand at one path, and gives placeholders the directories that they lie
 * in. Lines of the objects say afterwards in which order they stood. */
void windows_acl_finish(struct arena *arena, struct windows_acl *acl);
