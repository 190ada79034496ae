#include "emitters/seatbelt_regex.h"

#include "base/vector.h"
#include "emitters/seatbelt_regex_code.h"

#include <ctype.h>
#include <string.h>

/* A compiler that reads the text once and writes relative jumps, so that a piece of code can be moved and
 * copied. */
struct compiler {
    struct arena *arena;
    const char *text;
    size_t length, at;
    bool fold, anchored, uncertain;
    uint32_t depth;
    const char *error;
    struct seatbelt_code code;
    struct seatbelt_sets sets;
};

enum { DEPTH_MOST = 100, CODE_MOST = 20000, COUNT_MOST = 255 };

static bool fail(struct compiler *compiler, const char *error)
{
    if (compiler->error == NULL)
        compiler->error = error;
    return false;
}

static bool more(const struct compiler *compiler)
{
    return compiler->at < compiler->length;
}

static char peek(const struct compiler *compiler)
{
    return compiler->text[compiler->at];
}

static bool take(struct compiler *compiler, char byte)
{
    if (!more(compiler) || peek(compiler) != byte)
        return false;
    compiler->at++;
    return true;
}

static bool put(struct compiler *compiler, enum seatbelt_step step, uint32_t value)
{
    if (compiler->code.count >= CODE_MOST)
        return fail(compiler, "regular expression is too large");
    VECTOR_PUSH(compiler->arena, &compiler->code,
                (struct seatbelt_instruction){.step = step, .value = value});
    return true;
}

/* Makes room for one instruction before the piece of code that begins at `begin`. */
static bool insert_split(struct compiler *compiler, uint32_t begin, int32_t first, int32_t second)
{
    if (!put(compiler, SEATBELT_STEP_SPLIT, 0))
        return false;
    struct seatbelt_instruction *items = compiler->code.items;
    memmove(&items[begin + 1], &items[begin], (compiler->code.count - 1 - begin) * sizeof *items);
    items[begin] =
        (struct seatbelt_instruction){.step = SEATBELT_STEP_SPLIT, .first = first, .second = second};
    return true;
}

static bool put_jump(struct compiler *compiler, enum seatbelt_step step, int32_t first, int32_t second)
{
    if (!put(compiler, step, 0))
        return false;
    compiler->code.items[compiler->code.count - 1].first = first;
    compiler->code.items[compiler->code.count - 1].second = second;
    return true;
}

static void set_add(const struct compiler *compiler, struct seatbelt_set *set, unsigned byte)
{
    set->bits[byte / 64] |= UINT64_C(1) << byte % 64;
    if (!compiler->fold || byte >= 0x80)
        return;
    unsigned lower = (unsigned)tolower((int)byte), upper = (unsigned)toupper((int)byte);
    set->bits[lower / 64] |= UINT64_C(1) << lower % 64;
    set->bits[upper / 64] |= UINT64_C(1) << upper % 64;
}

static bool put_set(struct compiler *compiler, const struct seatbelt_set *set)
{
    VECTOR_PUSH(compiler->arena, &compiler->sets, *set);
    return put(compiler, SEATBELT_STEP_SET, compiler->sets.count - 1);
}

static bool put_byte(struct compiler *compiler, char byte)
{
    struct seatbelt_set set = {0};
    if (!compiler->fold || !isalpha((unsigned char)byte) || (unsigned char)byte >= 0x80)
        return put(compiler, SEATBELT_STEP_BYTE, (unsigned char)byte);
    set_add(compiler, &set, (unsigned char)byte);
    return put_set(compiler, &set);
}

/* Adds one item of a bracket expression: a byte or a range. */
static bool parse_range(struct compiler *compiler, struct seatbelt_set *set)
{
    unsigned first = (unsigned char)peek(compiler), last = first;
    compiler->at++;
    /* Two of them are a backslash either way. */
    if (first == '\\' && more(compiler) && peek(compiler) == '\\' &&
        (compiler->at + 1 >= compiler->length || compiler->text[compiler->at + 1] != '-')) {
        compiler->at++;
        set_add(compiler, set, '\\');
        return true;
    }
    /* Whether a backslash is itself in here, and whether [:alpha:] means anything, is nowhere said. */
    if (first == '\\' || (first == '[' && more(compiler) &&
                          (peek(compiler) == ':' || peek(compiler) == '.' || peek(compiler) == '=')))
        compiler->uncertain = true;
    if (compiler->at + 1 < compiler->length && peek(compiler) == '-' &&
        compiler->text[compiler->at + 1] != ']') {
        last = (unsigned char)compiler->text[compiler->at + 1];
        compiler->at += 2;
    }
    if (last < first)
        return fail(compiler, "invalid range in bracket expression");
    for (unsigned byte = first; byte <= last; byte++)
        set_add(compiler, set, byte);
    return true;
}

static bool parse_bracket(struct compiler *compiler)
{
    struct seatbelt_set set = {0};
    bool negated = take(compiler, '^'), first = true;
    for (; more(compiler) && (first || peek(compiler) != ']'); first = false)
        if (!parse_range(compiler, &set))
            return false;
    if (!take(compiler, ']'))
        return fail(compiler, "unterminated bracket expression");
    for (size_t i = 0; negated && i < sizeof set.bits / sizeof *set.bits; i++)
        set.bits[i] = ~set.bits[i];
    return put_set(compiler, &set);
}

static bool parse_alternatives(struct compiler *compiler);

static bool parse_group(struct compiler *compiler)
{
    if (++compiler->depth > DEPTH_MOST)
        return fail(compiler, "regular expression is nested too deeply");
    if (more(compiler) && peek(compiler) == '?')
        compiler->uncertain = true; /* no groups of other engines: it compiles and means something else */
    if (!parse_alternatives(compiler))
        return false;
    compiler->depth--;
    return take(compiler, ')') || fail(compiler, "unbalanced parenthesis in expression");
}

static bool parse_escape(struct compiler *compiler)
{
    if (!more(compiler))
        return fail(compiler, "trailing backslash in expression");
    char byte = peek(compiler);
    compiler->at++;
    if (isalnum((unsigned char)byte))
        compiler->uncertain = true;
    return put_byte(compiler, byte);
}

static bool parse_atom(struct compiler *compiler)
{
    char byte = peek(compiler);
    compiler->at++;
    switch (byte) {
    case '(':
        return parse_group(compiler);
    case '[':
        return parse_bracket(compiler);
    case '\\':
        return parse_escape(compiler);
    case '.':
        return put(compiler, SEATBELT_STEP_ANY, 0);
    case '$':
        return put(compiler, SEATBELT_STEP_END, 0);
    case '^':
        return fail(compiler, "unexpected ^ operator in middle of expression");
    case '*':
    case '+':
    case '?':
    case '{':
        compiler->uncertain = true;
        return put_byte(compiler, byte);
    default:
        return put_byte(compiler, byte);
    }
}

/* Puts the piece of code from `begin` on `times` more times. */
static bool repeat(struct compiler *compiler, uint32_t begin, uint32_t end, uint32_t times)
{
    for (; times > 0; times--)
        for (uint32_t i = begin; i < end; i++) {
            if (compiler->code.count >= CODE_MOST)
                return fail(compiler, "regular expression is too large");
            struct seatbelt_instruction copy = compiler->code.items[i];
            VECTOR_PUSH(compiler->arena, &compiler->code, copy);
        }
    return true;
}

static bool make_optional(struct compiler *compiler, uint32_t begin)
{
    return insert_split(compiler, begin, 1, (int32_t)(compiler->code.count - begin + 1));
}

static bool make_repeated(struct compiler *compiler, uint32_t begin)
{
    return put_jump(compiler, SEATBELT_STEP_SPLIT, (int32_t)begin - (int32_t)compiler->code.count, 1);
}

static bool parse_number(struct compiler *compiler, uint32_t *number)
{
    size_t begin = compiler->at;
    for (*number = 0; more(compiler) && isdigit((unsigned char)peek(compiler)); compiler->at++) {
        *number = *number * 10 + (uint32_t)(peek(compiler) - '0');
        if (*number > COUNT_MOST)
            return fail(compiler, "repetition count is too large");
    }
    return compiler->at > begin;
}

/* {n}, {n,} and {n,m} behind the piece of code that begins at `begin`. */
static bool parse_count(struct compiler *compiler, uint32_t begin)
{
    uint32_t least, most, end = compiler->code.count;
    if (!parse_number(compiler, &least))
        return fail(compiler, "invalid repetition count");
    most = least;
    bool open = take(compiler, ',') && !parse_number(compiler, &most);
    if (compiler->error != NULL || !take(compiler, '}') || (!open && most < least) || (!open && most == 0))
        return fail(compiler, "invalid repetition count");
    if (open)
        return repeat(compiler, begin, end, least > 0 ? least - 1 : 0) &&
               make_repeated(compiler, begin + (end - begin) * (least > 0 ? least - 1 : 0)) &&
               (least > 0 || make_optional(compiler, begin));
    if (!repeat(compiler, begin, end, most - 1))
        return false;
    /* From the last copy to the first, so that those still to be wrapped do not move. */
    for (uint32_t copy = most; copy > least; copy--) {
        uint32_t at = begin + (copy - 1) * (end - begin);
        if (!insert_split(compiler, at, 1, (int32_t)(end - begin + 1)))
            return false;
    }
    return true;
}

static bool parse_repetition(struct compiler *compiler, uint32_t begin)
{
    for (;;) {
        if (take(compiler, '*')) {
            if (!make_repeated(compiler, begin) || !make_optional(compiler, begin))
                return false;
        } else if (take(compiler, '+')) {
            if (!make_repeated(compiler, begin))
                return false;
        } else if (take(compiler, '?')) {
            if (!make_optional(compiler, begin))
                return false;
        } else if (take(compiler, '{')) {
            if (!parse_count(compiler, begin))
                return false;
        } else {
            return true;
        }
    }
}

static bool parse_sequence(struct compiler *compiler)
{
    while (more(compiler) && peek(compiler) != '|' && (peek(compiler) != ')' || compiler->depth == 0)) {
        uint32_t begin = compiler->code.count;
        if (compiler->depth == 0 && peek(compiler) == ')')
            return fail(compiler, "unbalanced parenthesis in expression");
        if (!parse_atom(compiler) || !parse_repetition(compiler, begin))
            return false;
    }
    return true;
}

/* Each alternative but the last ends in a jump behind the group, which until then holds how far back the one
 * before it is. */
static bool parse_alternatives(struct compiler *compiler)
{
    uint32_t begin = compiler->code.count, last = UINT32_MAX;
    for (;;) {
        if (!parse_sequence(compiler))
            return false;
        if (!take(compiler, '|'))
            break;
        if (!insert_split(compiler, begin, 1, (int32_t)(compiler->code.count - begin + 2)) ||
            !put(compiler, SEATBELT_STEP_JUMP, last))
            return false;
        last = compiler->code.count - 1;
        begin = compiler->code.count;
        /* Whether ^ before the first of several alternatives holds for all of them is nowhere said. */
        compiler->uncertain |= compiler->anchored && compiler->depth == 0;
    }
    while (last != UINT32_MAX) {
        struct seatbelt_instruction *jump = &compiler->code.items[last];
        uint32_t before = jump->value;
        jump->first = (int32_t)(compiler->code.count - last);
        last = before;
    }
    return true;
}

struct seatbelt_regex *seatbelt_regex_compile(struct arena *arena, const char *text, size_t length, bool fold,
                                              const char **error)
{
    struct compiler compiler = {.arena = arena, .text = text, .length = length, .fold = fold};
    struct seatbelt_regex *regex = arena_alloc(arena, sizeof *regex);
    regex->anchored = compiler.anchored = take(&compiler, '^');
    if (!parse_alternatives(&compiler) || !put(&compiler, SEATBELT_STEP_FOUND, 0)) {
        *error = compiler.error;
        return NULL;
    }
    regex->uncertain = compiler.uncertain;
    regex->code = compiler.code;
    regex->sets = compiler.sets;
    seatbelt_regex_prepare(arena, regex);
    return regex;
}

bool seatbelt_regex_is_uncertain(const struct seatbelt_regex *regex)
{
    return regex->uncertain;
}
