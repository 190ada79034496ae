/* identity_entry.c - what entries of a specification are in a run: see identity.h. */
#include "runtime/windows/identity.h"

#include <string.h>

enum { INHERITS = WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT, FULL_ACCESS = 0x1f01ff };

struct windows_entry identity_entry(const struct windows_identity *identity, const struct windows_ace *ace,
                                    bool directory)
{
    return (struct windows_entry){
        .type = ace->deny ? WINDOWS_ENTRY_DENY : WINDOWS_ENTRY_ALLOW,
        .flags = ace->inherit && directory ? INHERITS : 0,
        .mask = ace->mask,
        .sid = ace->principal == WINDOWS_PACKAGE ? identity->package : identity->run,
    };
}

struct windows_entry identity_label(const struct windows_label *label, bool directory)
{
    struct windows_entry entry = {
        .type = WINDOWS_ENTRY_LABEL,
        .flags = directory ? INHERITS : 0,
        .mask = label->policy,
    };
    windows_sid_parse(label->level == WINDOWS_LOW ? "S-1-16-4096" : "S-1-16-8192", &entry.sid);
    return entry;
}

struct windows_descriptor identity_closed(struct arena *arena, const struct windows_identity *identity,
                                          const struct windows_entry *more, bool directory)
{
    const uint8_t flags = directory ? INHERITS : 0;
    struct windows_entry entries[3] = {
        {.type = WINDOWS_ENTRY_ALLOW, .flags = flags, .mask = FULL_ACCESS, .sid = identity->user},
        {.type = WINDOWS_ENTRY_ALLOW, .flags = flags, .mask = FULL_ACCESS},
    };
    struct windows_descriptor closed = {.dacl_present = true, .dacl_protected = true, .count = 2};
    windows_sid_parse("S-1-5-18", &entries[1].sid);
    if (more != NULL)
        entries[closed.count++] = *more;
    closed.entries = arena_alloc(arena, sizeof entries);
    memcpy(closed.entries, entries, sizeof entries);
    return closed;
}
