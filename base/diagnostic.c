#include "base/diagnostic.h"

#include "base/vector.h"

#include <ctype.h>
#include <string.h>

static const struct code_page pages[] = {
#define CODE(number, name, severity, title, help) {SBX##number##_##name, severity, #name, title, help},
#include "base/codes.def"
#undef CODE
};

enum { PAGES = sizeof pages / sizeof *pages };

struct diagnostic_list diagnostic_list_in(struct arena *arena)
{
    return (struct diagnostic_list){.arena = arena};
}

void diagnostic_add(struct diagnostic_list *list, struct diagnostic diagnostic)
{
    const struct code_page *page = code_page((unsigned)diagnostic.code);
    if (diagnostic.severity == SEVERITY_NOTE && page != NULL)
        diagnostic.severity = page->severity;
    if (diagnostic.severity == SEVERITY_ERROR)
        list->errors++;
    VECTOR_PUSH(list->arena, list, diagnostic);
}

const struct code_page *code_page(unsigned number)
{
    for (uint32_t i = 0; i < PAGES; i++)
        if ((unsigned)pages[i].code == number)
            return &pages[i];
    return NULL;
}

const struct code_page *code_pages(uint32_t *count)
{
    *count = PAGES;
    return pages;
}

enum { WORD_LONGEST = 64 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost one each.
 * Upper and lower case are the same. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3];
        const size_t *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t cost = same_letter(a[i - 1], b[j - 1]) ? 0 : 1;
            now[j] = smaller(smaller(before[j] + 1, now[j - 1] + 1), before[j - 1] + cost);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                now[j] = smaller(now[j], earlier[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *nearest_word(const char *word, const char *const *candidates)
{
    size_t length = strlen(word), best = SIZE_MAX;
    const char *nearest = NULL;
    if (length == 0 || length > WORD_LONGEST)
        return NULL;
    for (; *candidates != NULL; candidates++) {
        size_t other = strlen(*candidates);
        if (other > WORD_LONGEST)
            continue;
        size_t longer = length > other ? length : other, allowed = longer / 3 > 0 ? longer / 3 : 1;
        size_t found = distance(word, length, *candidates, other);
        if (found <= allowed && found < best) {
            best = found;
            nearest = *candidates;
        }
    }
    return nearest;
}
