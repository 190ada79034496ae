#include "policy/service_place.h"

#include "base/buffer.h"
#include "base/vector.h"

#include <ctype.h>
#include <string.h>

static const char *const runtime_directory = "XDG_RUNTIME_DIR";
static const char *const x11_directory = "/tmp/.X11-unix/X";

struct search {
    const struct binder *binder;
    const char *text;
    struct bound_paths *out;
};

static const char *value_of(const struct binder *binder, const char *variable)
{
    const struct bindings *bindings = binder->bindings;
    for (uint32_t i = 0; i < bindings->environment_count; i++)
        if (strcmp(bindings->environment[i].name, variable) == 0)
            return bindings->environment[i].value;
    return NULL;
}

/* A path that climbs by ".." leads where the host says, and nowhere if it says nothing. */
static void add_path(const struct search *search, const char *path)
{
    struct arena *arena = search->binder->arena;
    const struct host_view *host = search->binder->bindings->host;
    bool climbs;
    if (path[0] != '/')
        return;
    const char *place = binder_normalised(arena, path, 0, &climbs);
    if (climbs && (host == NULL || host->canonical == NULL))
        return;
    if (climbs)
        place = host->canonical(host->context, arena, path);
    if (place == NULL || path_is_top(place))
        return;
    VECTOR_PUSH(arena, search->out,
                (struct bound_path){.path = arena_format(arena, "%s%s", place, search->text)});
}

/* ---- addresses ---- */

static int hex_value(char digit)
{
    return isdigit((unsigned char)digit) ? digit - '0' : tolower((unsigned char)digit) - 'a' + 10;
}

/* D-Bus writes unusual bytes of a path as %XX. */
static const char *unescaped(struct arena *arena, const char *text, size_t length)
{
    struct buffer out = buffer_in(arena);
    for (size_t i = 0; i < length; i++) {
        bool escape = text[i] == '%' && i + 2 < length && isxdigit((unsigned char)text[i + 1]) &&
                      isxdigit((unsigned char)text[i + 2]);
        char byte = escape ? (char)(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2])) : text[i];
        if (byte == '\0')
            return "";
        buffer_byte(&out, byte);
        i += escape ? 2 : 0;
    }
    return out.length == 0 ? "" : out.bytes;
}

/* Addresses stand one after the other, between blanks or semicolons; a bare path is one too. */
static void add_addresses(const struct search *search, const char *value)
{
    struct arena *arena = search->binder->arena;
    for (const char *at = value; *at != '\0';) {
        size_t length = strcspn(at, "; \t");
        const char *address = arena_copy(arena, at, length), *unix_part = strstr(address, "unix:");
        if (unix_part != NULL)
            address = unix_part + strlen("unix:");
        const char *named = strstr(address, "path=");
        if (named != NULL)
            address = named + strlen("path=");
        else if (strncmp(address, "//", 2) == 0)
            address += 2;
        add_path(search, unescaped(arena, address, strcspn(address, ",")));
        at += length;
        at += strspn(at, "; \t");
    }
}

/* ---- displays ---- */

/* ":0.1" and "unix:0" are display 0 of this machine. */
static void add_display(const struct search *search, const char *value)
{
    if (strncmp(value, "unix:", 5) == 0)
        value += 4;
    size_t digits = value[0] == ':' ? strspn(value + 1, "0123456789") : 0;
    if (digits > 0)
        add_path(search, arena_format(search->binder->arena, "%s%s", x11_directory,
                                      arena_copy(search->binder->arena, value + 1, digits)));
}

static void add_in_runtime_directory(const struct search *search, const char *value)
{
    const char *directory = value_of(search->binder, runtime_directory);
    if (value[0] == '/')
        add_path(search, value);
    else if (directory != NULL && value[0] != '\0' && strchr(value, '/') == NULL && value[0] != '.')
        add_path(search, arena_format(search->binder->arena, "%s/%s", directory, value));
}

void service_paths(const struct binder *binder, enum service_place place, const char *variable,
                   const char *text, struct bound_paths *out)
{
    const struct search search = {binder, text, out};
    const char *value = value_of(binder, variable);
    if (value == NULL && binder->bindings->environment_known)
        return;
    if (value == NULL) {
        const char *symbolic = arena_format(binder->arena, "$env.%s%s", variable, text);
        VECTOR_PUSH(binder->arena, out, (struct bound_path){.path = symbolic});
    } else if (place == PLACE_VALUE) {
        add_path(&search, value);
    } else if (place == PLACE_ADDRESS) {
        add_addresses(&search, value);
    } else if (place == PLACE_RUNTIME) {
        add_in_runtime_directory(&search, value);
    } else if (place == PLACE_X11) {
        add_display(&search, value);
    }
}
