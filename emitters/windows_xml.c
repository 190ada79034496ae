#include "emitters/windows_xml.h"

#include "base/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

struct scan {
    const char *at, *end;
    uint32_t line, depth, elements;
    const char *problem;
};

static bool refuse(struct scan *scan, const char *problem)
{
    scan->problem = problem;
    return false;
}

static bool starts_with(const struct scan *scan, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(scan->end - scan->at) >= length && memcmp(scan->at, word, length) == 0;
}

/* Moves on by `length` bytes and counts their lines. */
static void advance(struct scan *scan, size_t length)
{
    for (const char *stop = scan->at + length; scan->at < stop; scan->at++)
        scan->line += *scan->at == '\n';
}

/* ---- bytes ---- */

static const char *control_problem(char byte)
{
    if (byte == '\0')
        return "a NUL byte is in it";
    return byte == '\t' || byte == '\n' || byte == '\r' ? NULL : "a control character is in it";
}

static bool scan_bytes(struct scan *scan)
{
    while (scan->at < scan->end) {
        unsigned char byte = (unsigned char)*scan->at;
        const char *problem = byte < 0x20 ? control_problem(*scan->at) : NULL;
        size_t size = byte < 0x80 ? 1 : utf8_character(scan->at, (size_t)(scan->end - scan->at));
        if (problem != NULL || size == 0)
            return refuse(scan, problem != NULL ? problem : "it is not UTF-8");
        advance(scan, size);
    }
    return true;
}

/* ---- markup ---- */

/* At '&'. A reference to a character could bring what the bytes may not hold. */
static bool scan_reference(struct scan *scan)
{
    static const char *const predefined[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    for (size_t i = 0; i < sizeof predefined / sizeof *predefined; i++)
        if (starts_with(scan, predefined[i])) {
            advance(scan, strlen(predefined[i]));
            return true;
        }
    return refuse(scan, "no reference but &lt; &gt; &amp; &quot; &apos; may stand in it");
}

static bool scan_character(struct scan *scan)
{
    if (*scan->at == '&')
        return scan_reference(scan);
    advance(scan, 1);
    return true;
}

/* Behind the opening `quote`; stops behind the closing one. A raw tab or line end would become a blank. */
static bool scan_value(struct scan *scan, char quote)
{
    while (scan->at < scan->end && *scan->at != quote) {
        unsigned char byte = (unsigned char)*scan->at;
        if (byte < 0x20 || byte == '<')
            return refuse(scan, "a value holds a tab, a line end or <");
        if (!scan_character(scan))
            return false;
    }
    if (scan->at == scan->end)
        return refuse(scan, "a value does not end");
    scan->at++;
    return true;
}

/* At '<' of a start tag; stops behind its '>'. A prefix could name another vocabulary, such as xsi:type. */
static bool scan_start(struct scan *scan)
{
    uint32_t values = 0;
    if (++scan->elements > WINDOWS_XML_ELEMENTS)
        return refuse(scan, "it holds more than 200,000 elements");
    for (scan->at++; scan->at < scan->end && *scan->at != '>';) {
        char byte = *scan->at;
        if (byte == '<' || byte == ':')
            return refuse(scan, byte == '<' ? "a tag does not end" : "a name has a prefix");
        advance(scan, 1);
        if (byte != '"' && byte != '\'')
            continue;
        if (++values > WINDOWS_XML_ATTRIBUTES)
            return refuse(scan, "an element has more than 16 attributes");
        if (!scan_value(scan, byte))
            return false;
    }
    if (scan->at == scan->end)
        return refuse(scan, "a tag does not end");
    bool closed = scan->at[-1] == '/';
    scan->at++;
    if (!closed && ++scan->depth > WINDOWS_XML_DEPTH)
        return refuse(scan, "elements lie more than 8 deep in each other");
    return true;
}

static bool scan_end(struct scan *scan)
{
    const char *end = memchr(scan->at, '>', (size_t)(scan->end - scan->at));
    if (end == NULL || scan->depth-- == 0)
        return refuse(scan, "an end tag ends nothing");
    advance(scan, (size_t)(end + 1 - scan->at));
    return true;
}

static bool scan_comment(struct scan *scan)
{
    while (scan->at < scan->end && !starts_with(scan, "-->"))
        advance(scan, 1);
    if (scan->at == scan->end)
        return refuse(scan, "a comment does not end");
    advance(scan, 3);
    return true;
}

static bool scan_text(struct scan *scan)
{
    while (scan->at < scan->end && *scan->at != '<')
        if (!scan_character(scan))
            return false;
    return true;
}

static bool scan_piece(struct scan *scan)
{
    if (*scan->at != '<')
        return scan_text(scan);
    if (starts_with(scan, "<!--"))
        return scan_comment(scan);
    if (starts_with(scan, "<!"))
        return refuse(scan, "no document type, entity or CDATA section may stand in it");
    if (starts_with(scan, "<?"))
        return refuse(scan, "no processing instruction may stand in it");
    return starts_with(scan, "</") ? scan_end(scan) : scan_start(scan);
}

static bool scan_markup(struct scan *scan)
{
    while (scan->at < scan->end) {
        const char *begin = scan->at;
        if (!scan_piece(scan))
            return false;
        if (scan->at - begin > WINDOWS_XML_PIECE)
            return refuse(scan, "a tag, a comment or a text is longer than 1 MiB");
    }
    return true;
}

static const char *start_problem(const char *bytes, size_t length)
{
    size_t declared = sizeof declaration - 1;
    if (length > WINDOWS_XML_SIZE)
        return "it is larger than 8 MiB";
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        return "it starts with a byte order mark";
    if (length < declared || memcmp(bytes, declaration, declared) != 0)
        return "it does not start with <?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    return NULL;
}

const char *windows_xml_problem(struct arena *arena, const char *bytes, size_t length)
{
    const char *problem = start_problem(bytes, length);
    if (problem != NULL)
        return problem;
    size_t declared = sizeof declaration - 1;
    struct scan scan = {.at = bytes, .end = bytes + length, .line = 1};
    if (scan_bytes(&scan)) {
        scan = (struct scan){.at = bytes + declared, .end = bytes + length, .line = 1};
        if (scan_markup(&scan))
            return NULL;
    }
    return arena_format(arena, "line %u: %s", (unsigned)scan.line, scan.problem);
}
