#include "runtime/mount_check.h"

#include <stdlib.h>
#include <string.h>

struct check {
    struct arena *arena;
    const struct mount_table *table;
    struct expected_mount *expected; /* sorted by path */
    uint32_t count;
    struct mount_findings findings;
};

static int expected_order(const void *a, const void *b)
{
    return strcmp(((const struct expected_mount *)a)->path, ((const struct expected_mount *)b)->path);
}

static const struct expected_mount *expected_at(const struct check *check, const char *path)
{
    struct expected_mount wanted = {.path = path};

    return check->count == 0
               ? NULL
               : bsearch(&wanted, check->expected, check->count, sizeof *check->expected, expected_order);
}

/* The expectation of `path` or of the nearest directory above it. */
static const struct expected_mount *expected_over(const struct check *check, const char *path)
{
    char *above = arena_strdup(check->arena, path), *slash;
    const struct expected_mount *found = expected_at(check, above);

    while (found == NULL && (slash = strrchr(above, '/')) != NULL && slash != above) {
        *slash = '\0';
        found = expected_at(check, above);
    }
    return found != NULL ? found : expected_at(check, "/");
}

static void problem(struct check *check, const char *format, const char *path, const char *more)
{
    if (check->findings.problem == NULL)
        check->findings.problem = arena_format(check->arena, "%s %s%s", path, format, more);
}

static int entry_order(const void *a, const void *b)
{
    const struct mount_entry *first = *(const struct mount_entry *const *)a;
    const struct mount_entry *second = *(const struct mount_entry *const *)b;
    int order = strcmp(first->path, second->path);

    return order != 0 ? order : first < second ? -1 : 1;
}

/* The entries that are seen, sorted by path: a later one at the same place covers an earlier one. */
static const struct mount_entry **entries_seen(struct arena *arena, const struct mount_table *table,
                                               uint32_t *count)
{
    const struct mount_entry **entries = arena_array(arena, (size_t)table->count + 1, sizeof *entries);

    *count = 0;
    for (uint32_t i = 0; i < table->count; i++)
        entries[i] = &table->items[i];
    qsort(entries, table->count, sizeof *entries, entry_order);
    for (uint32_t i = 0; i < table->count; i++)
        if (i + 1 == table->count || strcmp(entries[i]->path, entries[i + 1]->path) != 0)
            entries[(*count)++] = entries[i];
    return entries;
}

static void check_entry(struct check *check, const struct mount_entry *entry, bool *found)
{
    const struct expected_mount *over = expected_over(check, entry->path);
    bool exact = over != NULL && strcmp(over->path, entry->path) == 0;
    bool may_write = over != NULL &&
                     (over->expectation == MOUNT_WRITABLE || (over->expectation == MOUNT_DEVICES && !exact));

    check->findings.entries++;
    check->findings.writable += !entry->read_only;
    if (!entry->read_only && !may_write)
        problem(check, "is mounted writable", entry->path, "");
    if (exact && over->type != NULL && strcmp(over->type, entry->type) != 0)
        problem(check, "should not be ", entry->path, entry->type);
    if (exact)
        found[over - check->expected] = true;
}

struct mount_findings mounts_check(struct arena *arena, const struct mount_table *table,
                                   const struct expected_mount *expected, uint32_t count)
{
    struct check check = {.arena = arena, .table = table, .count = count};
    bool *found = arena_array(arena, (size_t)count + 1, sizeof *found);
    uint32_t seen;

    check.expected = arena_array(arena, (size_t)count + 1, sizeof *check.expected);
    if (count > 0)
        memcpy(check.expected, expected, count * sizeof *expected);
    qsort(check.expected, count, sizeof *check.expected, expected_order);
    const struct mount_entry **entries = entries_seen(arena, table, &seen);
    for (uint32_t i = 0; i < seen; i++)
        check_entry(&check, entries[i], found);
    for (uint32_t i = 0; i < count; i++) {
        check.findings.found += found[i];
        if (!found[i] && !check.expected[i].optional)
            problem(&check, "is not mounted", check.expected[i].path, "");
    }
    return check.findings;
}
