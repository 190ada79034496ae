/* resolve.h - from the policy that a caller names to the specification that holds on this machine.
 *
 * Nothing here asks Windows: what is known of the machine comes with the request.
 */
#pragma once

#include "emitters/control.h"
#include "emitters/windows_spec.h"
#include "runtime/managed_list.h"

/* What belongs to the launcher, and which the command may at most read. */
struct own_path {
    const char *path; /* "C:\a\b", canonical */
    const char *what; /* "the policy file" */
    bool hidden;      /* not even that */
};

struct resolve_request {
    struct arena *arena;
    const struct bindings *bindings; /* of this machine; `command` is not looked at */
    const struct managed_list *managed;
    const struct variable *given_roots; /* --root: refused for what a managed layer uses */
    uint32_t given_root_count;
    const char *const
        *guarded; /* "C:\a\b": where nothing may be granted here, besides windows_path_is_protected */
    uint32_t guarded_count;
    const struct own_path *own;
    uint32_t own_count;
    const char *command; /* as called; may be NULL */
    /* Whether rules for `command` hold, as machine_command_trusted; NULL: never. */
    bool (*command_trusted)(struct arena *arena, const struct bound_policy *bound, const char *command,
                            const char *path);
    struct note_list *notes;
};

struct resolved_spec {
    const struct windows_spec *spec; /* every root bound; windows_spec_check has passed */
    /* Of a .bin: as it was read, merged with the managed layers, and bound; what it needs and what covers
     * it. Of an .xml NULL and empty: its guarantees say what it needs. */
    const struct policy *own, *policy;
    const struct bound_policy *bound;
    struct control_need needs[CONTROLS];
    const struct rule *accepted[CONTROLS];
    const char *xml; /* what was loaded, before roots were bound */
    size_t xml_length;
};

/* From the bytes of a POLICY.bin: merged, bound, proven, checked against its `expect` statements, emitted,
 * loaded. False with error notes. */
bool spec_of_bin(const struct resolve_request *request, const char *bytes, size_t length,
                 struct resolved_spec *out);

/* From the bytes of a POLICY.xml, called `name` without its directory. `bin`: those of the POLICY.bin
 * beside it, or NULL. Where a managed layer applies, the specification must equal what the compiler makes
 * of that POLICY.bin and the managed layers without a machine. False with error notes. */
bool spec_of_xml(const struct resolve_request *request, const char *name, const char *bytes, size_t length,
                 const char *bin, size_t bin_length, struct resolved_spec *out);
