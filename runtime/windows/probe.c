/* probe.c - whether this Windows can be asked to hold a specification (probe.h). */
#include "runtime/probe.h"

#include "runtime/windows/system.h"
#include "runtime/windows/verify.h"

struct probe_result probe_machine(struct arena *arena)
{
    struct note_list notes = note_list_in(arena);
    struct probe_result result = {0};
    struct probe_backend *backend = &result.backends[0];

    *backend = (struct probe_backend){.name = "windows", .version = system_version(arena)};
    backend->usable = result.usable = verify_system(&notes) && notes.count == 0;
    if (!backend->usable) {
        backend->cause = notes.count == 0 ? "it cannot be verified" : notes.items[0].text;
        backend->remedy =
            "sbx-launch needs Windows 10 of version 2004 or newer, on a machine or in a virtual one";
    }
    return result;
}
