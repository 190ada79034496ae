#include "emitters/windows_descriptor.h"

#include "base/vector.h"

#include <string.h>

/* --- tables --------------------------------------------------------------------------------------------- */

static const struct {
    const char name[3], *sid;
} usual_sids[] = {
    {"WD", "S-1-1-0"},      {"CO", "S-1-3-0"},      {"CG", "S-1-3-1"},      {"OW", "S-1-3-4"},
    {"NU", "S-1-5-2"},      {"IU", "S-1-5-4"},      {"SU", "S-1-5-6"},      {"AN", "S-1-5-7"},
    {"PS", "S-1-5-10"},     {"AU", "S-1-5-11"},     {"RC", "S-1-5-12"},     {"SY", "S-1-5-18"},
    {"LS", "S-1-5-19"},     {"NS", "S-1-5-20"},     {"WR", "S-1-5-33"},     {"BA", "S-1-5-32-544"},
    {"BU", "S-1-5-32-545"}, {"BG", "S-1-5-32-546"}, {"PU", "S-1-5-32-547"}, {"AC", "S-1-15-2-1"},
    {"LW", "S-1-16-4096"},  {"ME", "S-1-16-8192"},  {"HI", "S-1-16-12288"}, {"SI", "S-1-16-16384"},
};

static const struct {
    const char name[3];
    uint8_t flag;
} flag_names[] = {
    {"OI", WINDOWS_OBJECT_INHERIT}, {"CI", WINDOWS_CONTAINER_INHERIT}, {"NP", WINDOWS_NO_PROPAGATE},
    {"IO", WINDOWS_INHERIT_ONLY},   {"ID", WINDOWS_INHERITED},
};

static const struct {
    const char name[3];
    uint8_t type;
} type_names[] = {{"A", WINDOWS_ENTRY_ALLOW}, {"D", WINDOWS_ENTRY_DENY}, {"ML", WINDOWS_ENTRY_LABEL}};

enum { ALL_FLAGS = 0x1f };

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* --- writing -------------------------------------------------------------------------------------------- */

static void put_entry(struct buffer *out, const struct windows_entry *entry)
{
    if (entry->raw != NULL) {
        buffer_string(out, "(X;");
        for (uint16_t i = 0; i < entry->raw_length; i++)
            buffer_format(out, "%02x", entry->raw[i]);
        buffer_byte(out, ')');
        return;
    }
    buffer_byte(out, '(');
    for (size_t i = 0; i < COUNT(type_names); i++)
        if (type_names[i].type == entry->type)
            buffer_string(out, type_names[i].name);
    buffer_byte(out, ';');
    if ((entry->flags & ~ALL_FLAGS) != 0)
        buffer_format(out, "0x%x", entry->flags);
    else
        for (size_t i = 0; i < COUNT(flag_names); i++)
            buffer_string(out, (entry->flags & flag_names[i].flag) != 0 ? flag_names[i].name : "");
    buffer_format(out, ";0x%lx;;;%s)", (unsigned long)entry->mask, windows_sid_text(out->arena, &entry->sid));
}

const char *windows_descriptor_text(struct arena *arena, const struct windows_descriptor *descriptor)
{
    struct buffer out = buffer_in(arena);
    if (descriptor->owner.length != 0)
        buffer_format(&out, "O:%s", windows_sid_text(arena, &descriptor->owner));
    if (descriptor->group.length != 0)
        buffer_format(&out, "G:%s", windows_sid_text(arena, &descriptor->group));
    buffer_format(&out, "D:%s%s%s", descriptor->dacl_protected ? "P" : "",
                  descriptor->dacl_auto_inherited ? "AI" : "",
                  descriptor->dacl_present ? "" : "NO_ACCESS_CONTROL");
    for (uint32_t i = 0; i < descriptor->count; i++)
        put_entry(&out, &descriptor->entries[i]);
    if (descriptor->labelled) {
        buffer_string(&out, "S:");
        put_entry(&out, &descriptor->label);
    }
    return out.bytes;
}

/* --- reading -------------------------------------------------------------------------------------------- */

static bool take(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static int hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = digit != '\0' ? strchr(digits, digit) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

static bool read_hexadecimal(const char **at, uint32_t *value)
{
    int digits = 0;
    if (!take(at, "0x"))
        return false;
    for (*value = 0; hex_digit(**at) >= 0; ++*at, digits++)
        *value = *value << 4 | (uint32_t)hex_digit(**at);
    return digits > 0 && digits <= 8;
}

/* A SID in full, or the name of a usual one, up to a character that is no part of it. */
static bool read_sid(struct arena *arena, const char **at, struct windows_sid *sid)
{
    for (size_t i = 0; i < COUNT(usual_sids); i++)
        if (take(at, usual_sids[i].name))
            return windows_sid_parse(usual_sids[i].sid, sid);
    size_t length = strspn(*at, "S-0123456789xabcdef");
    const char *text = arena_copy(arena, *at, length);
    *at += length;
    return windows_sid_parse(text, sid);
}

static bool read_flags(const char **at, uint8_t *flags)
{
    uint32_t value;
    if (**at == '0') {
        bool number = read_hexadecimal(at, &value) && value <= UINT8_MAX;
        *flags = number ? (uint8_t)value : 0;
        return number;
    }
    for (*flags = 0; **at != ';';) {
        size_t i = 0;
        while (i < COUNT(flag_names) && !take(at, flag_names[i].name))
            i++;
        if (i == COUNT(flag_names))
            return false;
        *flags |= flag_names[i].flag;
    }
    return true;
}

/* The bytes of an entry of another type. They are read as any other bytes are. */
static bool read_raw(struct arena *arena, const char **at, struct windows_entry *entry)
{
    struct buffer bytes = buffer_in(arena);
    static const uint8_t header[] = {1, 0, 4, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0};
    struct windows_descriptor descriptor;
    size_t digits = strspn(*at, "0123456789abcdef"), length = digits / 2, acl = 8 + length;
    if (digits % 2 != 0 || acl > UINT16_MAX)
        return false;
    buffer_bytes(&bytes, header, sizeof header);
    const uint8_t list[] = {4, 0, (uint8_t)(acl & 0xff), (uint8_t)(acl >> 8), 1, 0, 0, 0};
    buffer_bytes(&bytes, list, sizeof list);
    for (size_t i = 0; i < length; i++, *at += 2)
        buffer_byte(&bytes, (char)(hex_digit((*at)[0]) << 4 | hex_digit((*at)[1])));
    if (!windows_descriptor_parse(arena, (const uint8_t *)bytes.bytes, bytes.length, &descriptor) ||
        descriptor.entries[0].raw_length != length)
        return false;
    *entry = descriptor.entries[0];
    return true;
}

/* Behind the opening bracket. */
static bool read_entry(struct arena *arena, const char **at, struct windows_entry *entry)
{
    *entry = (struct windows_entry){0};
    if (take(at, "X;"))
        return read_raw(arena, at, entry) && take(at, ")");
    size_t i = 0;
    while (i < COUNT(type_names) && !take(at, type_names[i].name))
        i++;
    if (i == COUNT(type_names))
        return false;
    entry->type = type_names[i].type;
    return take(at, ";") && read_flags(at, &entry->flags) && take(at, ";") &&
           read_hexadecimal(at, &entry->mask) && take(at, ";;;") && read_sid(arena, at, &entry->sid) &&
           take(at, ")");
}

bool windows_descriptor_read(struct arena *arena, const char *text, struct windows_descriptor *out)
{
    struct {
        struct windows_entry *items;
        uint32_t count, capacity;
    } entries = {0};
    struct windows_entry entry;
    *out = (struct windows_descriptor){0};
    if ((take(&text, "O:") && !read_sid(arena, &text, &out->owner)) ||
        (take(&text, "G:") && !read_sid(arena, &text, &out->group)) || !take(&text, "D:"))
        return false;
    out->dacl_protected = take(&text, "P");
    out->dacl_auto_inherited = take(&text, "AI");
    out->dacl_present = !take(&text, "NO_ACCESS_CONTROL");
    while (out->dacl_present && take(&text, "(")) {
        if (!read_entry(arena, &text, &entry))
            return false;
        VECTOR_PUSH(arena, &entries, entry);
    }
    out->entries = entries.items;
    out->count = entries.count;
    out->labelled = take(&text, "S:");
    if (out->labelled && (!take(&text, "(") || !read_entry(arena, &text, &out->label) ||
                          out->label.type != WINDOWS_ENTRY_LABEL))
        return false;
    return *text == '\0';
}
