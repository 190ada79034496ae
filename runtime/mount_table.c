#include "runtime/mount_table.h"

#include "base/vector.h"
#include "runtime/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Blanks, line ends and backslashes stand as \ and three octal digits. */
static void octal_decode(char *text)
{
    char *out = text;
    for (const char *at = text; *at != '\0'; at++) {
        unsigned value = 0;
        if (*at == '\\' && sscanf(at + 1, "%3o", &value) == 1) {
            *out++ = (char)value;
            at += 3;
        } else {
            *out++ = *at;
        }
    }
    *out = '\0';
}

static bool has_option(const char *options, const char *wanted)
{
    size_t length = strlen(wanted);
    for (const char *at = options; at != NULL && *at != '\0'; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, wanted, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

enum field { FIELD_DEVICE = 2, FIELD_PATH = 4, FIELD_OPTIONS = 5, FIELDS };

/* "36 35 98:0 /root /mount/point options [tags] - type source options-of-the-file-system" */
void mount_table_add(struct arena *arena, struct mount_table *table, char *line)
{
    char *fields[FIELDS], *rest = line, *tag;
    unsigned major_number, minor_number;
    for (int i = 0; i < FIELDS; i++)
        if ((fields[i] = strsep(&rest, " ")) == NULL)
            return;
    do
        tag = strsep(&rest, " ");
    while (tag != NULL && strcmp(tag, "-") != 0);
    const char *type = strsep(&rest, " ");
    if (type == NULL || strsep(&rest, " ") == NULL ||
        sscanf(fields[FIELD_DEVICE], "%u:%u", &major_number, &minor_number) != 2)
        return;
    if (rest != NULL)
        rest[strcspn(rest, "\n")] = '\0';
    octal_decode(fields[FIELD_PATH]);
    VECTOR_PUSH(arena, table,
                (struct mount_entry){
                    .path = arena_strdup(arena, fields[FIELD_PATH]),
                    .type = arena_strdup(arena, type),
                    .device = makedev(major_number, minor_number),
                    .read_only = has_option(fields[FIELD_OPTIONS], "ro") || has_option(rest, "ro"),
                });
}

bool mount_table_read(struct arena *arena, struct mount_table *table)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    if (file == NULL)
        return false;
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, file) >= 0)
        mount_table_add(arena, table, line);
    free(line);
    bool read = ferror(file) == 0;
    fclose(file);
    return read;
}

const struct mount_entry *mount_table_find(const struct mount_table *table, const char *path)
{
    const struct mount_entry *found = NULL;
    for (uint32_t i = 0; i < table->count; i++)
        if (path_covers(table->items[i].path, path) &&
            (found == NULL || strlen(table->items[i].path) >= strlen(found->path)))
            found = &table->items[i];
    return found;
}

bool mount_table_has(const struct mount_table *table, const char *path)
{
    const struct mount_entry *found = mount_table_find(table, path);
    return found != NULL && strcmp(found->path, path) == 0;
}
