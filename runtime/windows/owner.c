#include "runtime/windows/owner.h"

/* What changes an object or what it is called, the general rights that stand for such ones among them. */
enum {
    WRITE_DATA = 0x2, /* of a directory: to make files in it */
    APPEND_DATA = 0x4,
    WRITE_EXTENDED = 0x10,
    DELETE_CHILD = 0x40,
    WRITE_ATTRIBUTES = 0x100,
    DELETE_OBJECT = 0x10000,
    CHANGE_DACL = 0x40000,
    CHANGE_OWNER = 0x80000,
    MAXIMUM = 0x2000000,
    GENERAL_ALL = 0x10000000,
    GENERAL_WRITE = 0x40000000,
    CHANGES = WRITE_DATA | APPEND_DATA | WRITE_EXTENDED | DELETE_CHILD | WRITE_ATTRIBUTES | DELETE_OBJECT |
              CHANGE_DACL | CHANGE_OWNER | MAXIMUM | GENERAL_ALL | GENERAL_WRITE,
};

/* Entries of these types take rights away. */
enum { DENY_OBJECT = 6, DENY_CALLBACK = 10, DENY_CALLBACK_OBJECT = 12 };

static bool is_system(const struct windows_sid *sid)
{
    /* SYSTEM, administrators, TrustedInstaller. */
    static const char *const names[] = {"S-1-5-18", "S-1-5-32-544",
                                        "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"};
    struct windows_sid known;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (windows_sid_parse(names[i], &known) && windows_sid_equal(sid, &known))
            return true;
    return false;
}

static bool is_caller(const struct windows_sid *sid, const struct windows_sid *caller)
{
    return caller != NULL && windows_sid_equal(sid, caller);
}

enum owner owner_of(const struct windows_descriptor *descriptor, const struct windows_sid *caller)
{
    if (is_system(&descriptor->owner))
        return OWNER_SYSTEM;
    return is_caller(&descriptor->owner, caller) ? OWNER_CALLER : OWNER_OTHER;
}

static bool takes_away(uint8_t type)
{
    return type == WINDOWS_ENTRY_DENY || type == DENY_OBJECT || type == DENY_CALLBACK ||
           type == DENY_CALLBACK_OBJECT;
}

bool owner_others_write(const struct windows_descriptor *descriptor, const struct windows_sid *caller)
{
    if (!descriptor->dacl_present)
        return true;
    for (uint32_t i = 0; i < descriptor->count; i++) {
        const struct windows_entry *entry = &descriptor->entries[i];
        if (takes_away(entry->type) || (entry->flags & WINDOWS_INHERIT_ONLY) != 0)
            continue;
        bool known = entry->type == WINDOWS_ENTRY_ALLOW;
        if (known &&
            ((entry->mask & CHANGES) == 0 || is_system(&entry->sid) || is_caller(&entry->sid, caller)))
            continue;
        return true;
    }
    return false;
}
