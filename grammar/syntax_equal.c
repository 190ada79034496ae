#include "grammar/syntax.h"

#include <string.h>

static bool word_equal(const struct word *a, const struct word *b)
{
    if (a->length != b->length)
        return false;
    if (a->length > 0 && memcmp(a->bytes, b->bytes, a->length) != 0)
        return false;
    if (a->literal == NULL || b->literal == NULL)
        return a->literal == b->literal;
    return memcmp(a->literal, b->literal, a->length * sizeof *a->literal) == 0;
}

static bool words_equal(const struct word_list *a, const struct word_list *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!word_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

static bool targets_equal(const struct target_list *a, const struct target_list *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i].kind != b->items[i].kind || !word_equal(&a->items[i].word, &b->items[i].word))
            return false;
    return true;
}

static bool statement_equal(const struct statement *a, const struct statement *b)
{
    bool marks = a->kind == b->kind && a->verb == b->verb && a->aspect == b->aspect &&
                 a->protocol == b->protocol && a->automatic == b->automatic && a->nothing == b->nothing &&
                 a->broken == b->broken;
    /* Quotes say nothing but here: they make a file of a preset. */
    bool quotes = a->kind != STATEMENT_USE || a->parts->subject.quoted == b->parts->subject.quoted;
    return marks && quotes && word_equal(&a->parts->subject, &b->parts->subject) &&
           word_equal(&a->parts->second, &b->parts->second) &&
           word_equal(&a->parts->value, &b->parts->value) && words_equal(&a->words, &b->words) &&
           words_equal(&a->except, &b->except) && words_equal(&a->parts->ports, &b->parts->ports) &&
           targets_equal(&a->parts->targets, &b->parts->targets);
}

/* The parser nests blocks at most sixteen deep, so this may call itself. */
static bool statements_equal(const struct statement *a, const struct statement *b)
{
    for (; a != NULL && b != NULL; a = a->next, b = b->next)
        if (!statement_equal(a, b) || !statements_equal(a->children, b->children))
            return false;
    return a == NULL && b == NULL;
}

bool syntax_equal(const struct syntax_file *a, const struct syntax_file *b)
{
    return a->has_header == b->has_header && a->kind == b->kind && word_equal(&a->name, &b->name) &&
           statements_equal(a->statements, b->statements);
}
