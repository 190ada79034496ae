#include "runtime/windows/variables.h"

#include "base/vector.h"
#include "policy/names.h"

#include <stdlib.h>

static bool covers(const struct windows_names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (names_match(names->items[i].name, name, SYSTEM_WINDOWS))
            return true;
    return false;
}

static bool passes(const struct windows_environment *environment, const char *name)
{
    if (!covers(&environment->keep, name) || covers(&environment->drop, name))
        return false;
    for (uint32_t i = 0; i < environment->limit_count; i++)
        if (!covers(&environment->limits[i], name))
            return false;
    return true;
}

static struct variable *find(const struct variable_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (names_equal(list->items[i].name, name, SYSTEM_WINDOWS))
            return &list->items[i];
    return NULL;
}

static void put(struct arena *arena, struct variable_list *list, const char *name, const char *value)
{
    struct variable *known = find(list, name);

    if (known != NULL)
        *known = (struct variable){.name = name, .value = value};
    else
        VECTOR_PUSH(arena, list, (struct variable){.name = name, .value = value});
}

static unsigned char upper(char byte)
{
    return (unsigned char)(byte >= 'a' && byte <= 'z' ? byte - ('a' - 'A') : byte);
}

/* As Windows sorts them: an underscore comes after each letter. */
static int name_order(const void *left, const void *right)
{
    const char *a = ((const struct variable *)left)->name, *b = ((const struct variable *)right)->name;

    while (*a != '\0' && upper(*a) == upper(*b)) {
        a++;
        b++;
    }
    return upper(*a) - upper(*b);
}

struct variable_list variables_choose(struct arena *arena, const struct windows_environment *environment,
                                      const struct variable_list *caller, const char *scratch)
{
    static const char *const temporary[] = {"TEMP", "TMP", "TMPDIR"};
    struct variable_list chosen = {0};

    /* Of two that differ in case alone Windows finds the first. */
    for (uint32_t i = 0; i < caller->count; i++)
        if (passes(environment, caller->items[i].name) && find(&chosen, caller->items[i].name) == NULL)
            VECTOR_PUSH(arena, &chosen, caller->items[i]);
    for (uint32_t i = 0; i < environment->set.count; i++)
        put(arena, &chosen, environment->set.items[i].name, environment->set.items[i].value);
    for (size_t i = 0; scratch != NULL && i < sizeof temporary / sizeof temporary[0]; i++)
        put(arena, &chosen, temporary[i], scratch);
    if (chosen.count > 0)
        qsort(chosen.items, chosen.count, sizeof *chosen.items, name_order);
    return chosen;
}

const char *variables_find(const struct variable_list *list, const char *name)
{
    const struct variable *found = find(list, name);
    return found == NULL ? NULL : found->value;
}
