/* identity_entry.c - what entries of a specification are in a run: see identity.h. */
#include "runtime/windows/identity.h"

struct windows_entry identity_entry(const struct windows_identity *identity, const struct windows_ace *ace,
                                    bool directory)
{
    return (struct windows_entry){
        .type = ace->deny ? WINDOWS_ENTRY_DENY : WINDOWS_ENTRY_ALLOW,
        .flags = ace->inherit && directory ? WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT : 0,
        .mask = ace->mask,
        .sid = ace->principal == WINDOWS_PACKAGE ? identity->package : identity->run,
    };
}

struct windows_entry identity_label(const struct windows_label *label, bool directory)
{
    struct windows_entry entry = {
        .type = WINDOWS_ENTRY_LABEL,
        .flags = directory ? WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT : 0,
        .mask = label->policy,
    };
    windows_sid_parse(label->level == WINDOWS_LOW ? "S-1-16-4096" : "S-1-16-8192", &entry.sid);
    return entry;
}
