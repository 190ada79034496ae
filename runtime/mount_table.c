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

/* "36 35 98:0 /root /mount/point options ..." */
static void entry_read(struct arena *arena, struct mount_table *table, char *line)
{
    unsigned major_number, minor_number;
    int path = 0, end = 0;
    if (sscanf(line, "%*u %*u %u:%u %*s %n%*s%n", &major_number, &minor_number, &path, &end) < 2 || end == 0)
        return;
    line[end] = '\0';
    octal_decode(line + path);
    VECTOR_PUSH(arena, table,
                (struct mount_entry){
                    .path = arena_strdup(arena, line + path),
                    .device = makedev(major_number, minor_number),
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
        entry_read(arena, table, line);
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
