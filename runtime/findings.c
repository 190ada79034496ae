#include "runtime/findings.h"

#include <stdlib.h>
#include <string.h>

void findings_begin(struct findings *findings)
{
    *findings = (struct findings){.lock = PTHREAD_MUTEX_INITIALIZER};
}

static bool room_make(struct findings *findings)
{
    enum { FIRST = 64 };
    if (findings->count < findings->capacity)
        return true;
    size_t capacity = findings->capacity == 0 ? FIRST : findings->capacity * 2;
    struct finding *items = realloc(findings->items, capacity * sizeof *items);
    if (items == NULL)
        return false;
    findings->items = items;
    findings->capacity = capacity;
    return true;
}

bool findings_add(struct findings *findings, const char *path, struct finding finding)
{
    finding.path = strdup(path);
    if (finding.path == NULL)
        return false;
    pthread_mutex_lock(&findings->lock);
    bool added = room_make(findings);
    if (added)
        findings->items[findings->count++] = finding;
    pthread_mutex_unlock(&findings->lock);
    if (!added)
        free(finding.path);
    return added;
}

static int finding_order(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;
    int order = strcmp(a->path, b->path);
    return order != 0 ? order : a->number < b->number ? -1 : a->number > b->number;
}

void findings_sort(struct findings *findings)
{
    if (findings->count > 0)
        qsort(findings->items, findings->count, sizeof *findings->items, finding_order);
}

void findings_end(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        free(findings->items[i].path);
    free(findings->items);
    pthread_mutex_destroy(&findings->lock);
}
