#include "emitters/windows_elements.h"
#include "emitters/windows_schema.h"
#include "emitters/windows_size.h"
#include "emitters/windows_spec.h"
#include "emitters/windows_xml.h"

#include "base/escape.h"

#include <libxml/parser.h>
#include <libxml/xmlschemas.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#if LIBXML_VERSION >= 21200
typedef const xmlError *error_record;
#else
typedef xmlErrorPtr error_record;
#endif

/* One document on its way: libxml2 reads it as a stream, the schema and the elements hear the same events,
 * and no tree is made. */
struct load {
    struct arena *arena; /* of the specification; what runs out of memory comes back to `exhausted` */
    jmp_buf exhausted;
    struct windows_elements *elements;
    xmlSchemaParserCtxtPtr schema_parser;
    xmlSchemaPtr schema;
    xmlSchemaValidCtxtPtr validity;
    xmlParserCtxtPtr parser;
    xmlSchemaSAXPlugPtr plug;
    bool refused;
    int line;
    char message[640]; /* the first thing that was wrong, as libxml2 says it; its middle may be left out */
};

enum { SCHEMA_ROOM = 2 << 20 };
static const char no_memory[] = "there is not enough memory";

/* ---- what libxml2 finds ---- */

static void refuse(struct load *load, const char *message)
{
    if (load->refused)
        return;
    load->refused = true;
    load->line = load->parser != NULL && load->parser->input != NULL ? load->parser->input->line : 0;
    size_t length = strlen(message), most = sizeof load->message / 2 - 8;
    if (length < sizeof load->message)
        memcpy(load->message, message, length);
    else
        (void)snprintf(load->message, sizeof load->message, "%.*s ... %s", (int)most, message,
                       message + length - most);
    if (load->parser != NULL)
        xmlStopParser(load->parser);
}

static void error_received(void *data, error_record error)
{
    bool exhausted = error->code == XML_ERR_NO_MEMORY || error->message == NULL;
    refuse(data, exhausted ? no_memory : error->message);
}

/* The text without every `word`. */
static void take_out(char *text, const char *word)
{
    for (char *at = strstr(text, word); at != NULL; at = strstr(at, word))
        memmove(at, at + strlen(word), strlen(at + strlen(word)) + 1);
}

static void cut_before(char *text, const char *word)
{
    char *at = strstr(text, word);
    if (at != NULL)
        *at = '\0';
}

/* libxml2's words without those that only authors of schemas know. */
static const char *message_text(const struct load *load, struct arena *arena)
{
    char *text = arena_strdup(arena, load->message);
    take_out(text, "{urn:sbx:windows:1}");
    char *facet = strstr(text, "[facet '"), *facet_end = facet != NULL ? strstr(facet, "] ") : NULL;
    if (facet_end != NULL)
        memmove(facet, facet_end + 2, strlen(facet_end + 2) + 1);
    cut_before(text, " by the pattern '");
    cut_before(text, " in unique identity-constraint");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '.'))
        text[--length] = '\0';
    const char *shown = escape_windows(arena, text);
    return load->line > 0 ? arena_format(arena, "line %d: %s", load->line, shown) : shown;
}

/* ---- events ---- */

/* A value as the document means it: the parser hands on each & as a reference. */
static const char *value_copied(struct arena *arena, const char *begin, const char *end)
{
    static const char reference[] = "&#38;";
    char *copy = arena_copy(arena, begin, (size_t)(end - begin)), *to = copy;
    for (const char *from = copy; *from != '\0'; from++) {
        *to++ = *from;
        if (strncmp(from, reference, sizeof reference - 1) == 0)
            from += sizeof reference - 2;
    }
    *to = '\0';
    return copy;
}

static void element_started(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *space,
                            int space_count, const xmlChar **spaces, int count, int defaulted,
                            const xmlChar **values)
{
    (void)prefix, (void)space, (void)space_count, (void)spaces, (void)defaulted;
    struct load *load = data;
    struct windows_attribute attributes[WINDOWS_XML_ATTRIBUTES];
    struct windows_element element = {
        .name = (const char *)name, .attributes = attributes, .line = (uint32_t)load->parser->input->line};
    for (int i = 0; i < count && i < WINDOWS_XML_ATTRIBUTES; i++, values += 5) {
        const char *value = value_copied(load->arena, (const char *)values[3], (const char *)values[4]);
        attributes[element.attribute_count++] = (struct windows_attribute){(const char *)values[0], value};
    }
    windows_elements_start(load->elements, &element);
}

static void text_received(void *data, const xmlChar *bytes, int length)
{
    struct load *load = data;
    windows_elements_text(load->elements, (const char *)bytes, (size_t)length);
}

static void element_ended(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *space)
{
    (void)prefix, (void)space;
    struct load *load = data;
    windows_elements_end(load->elements, (const char *)name);
}

/* ---- reading ---- */

static void plug_in(struct load *load)
{
    load->plug = xmlSchemaSAXPlug(load->validity, &load->parser->sax, &load->parser->userData);
}

static void unplug(struct load *load)
{
    if (load->plug != NULL)
        (void)xmlSchemaSAXUnplug(load->plug);
}

/* libxml2 2.9 does not survive that memory ends while it compiles a schema, which takes less than this. */
static bool has_room_for_schema(void)
{
    void *room = xmlMalloc(SCHEMA_ROOM);
    xmlFree(room);
    return room != NULL;
}

static bool prepare(struct load *load)
{
    if (!has_room_for_schema())
        return false;
    load->schema_parser = xmlSchemaNewMemParserCtxt(windows_schema, windows_schema_length);
    load->schema = load->schema_parser != NULL ? xmlSchemaParse(load->schema_parser) : NULL;
    load->validity = load->schema != NULL ? xmlSchemaNewValidCtxt(load->schema) : NULL;
    load->parser = load->validity != NULL ? xmlNewParserCtxt() : NULL;
    if (load->parser == NULL)
        return false;
    *load->parser->sax = (xmlSAXHandler){
        .initialized = XML_SAX2_MAGIC,
        .startElementNs = element_started,
        .endElementNs = element_ended,
        .characters = text_received,
        .ignorableWhitespace = text_received,
    };
    load->parser->userData = load;
    plug_in(load);
    return load->plug != NULL;
}

static void release(struct load *load)
{
    /* The end of a run without a document empties the store where libxml2 would forget what counted the keys of
     * a document that broke off. */
    if (load->plug != NULL) {
        unplug(load);
        plug_in(load);
    }
    unplug(load);
    xmlFreeParserCtxt(load->parser);
    xmlSchemaFreeValidCtxt(load->validity);
    xmlSchemaFree(load->schema);
    xmlSchemaFreeParserCtxt(load->schema_parser);
    xmlResetLastError();
}

/* Whether the document is valid; else `load` says why. No option lets the parser load or replace anything. */
static bool read_document(struct load *load, const char *bytes, size_t length)
{
    if (setjmp(load->exhausted) != 0) {
        refuse(load, no_memory);
        return false;
    }
    arena_on_exhausted(load->arena, &load->exhausted);
    load->elements = windows_elements_create(load->arena);
    if (!prepare(load)) {
        refuse(load, no_memory);
        return false;
    }
    xmlDocPtr none = xmlCtxtReadMemory(load->parser, bytes, (int)length, NULL, NULL, XML_PARSE_NONET);
    xmlFreeDoc(none);
    if (!load->parser->wellFormed || xmlSchemaIsValid(load->validity) != 1)
        refuse(load, "it does not follow the schema");
    return !load->refused;
}

/* The elements of a valid document in `own`; NULL with *error in `arena`. libxml2 tells nobody else. */
static struct windows_elements *elements_read(struct arena *arena, struct arena *own, const char *bytes,
                                              size_t length, const char **error)
{
    xmlStructuredErrorFunc receiver = xmlStructuredError;
    void *receiver_data = xmlStructuredErrorContext;
    struct load load = {.arena = own};
    xmlSetStructuredErrorFunc(&load, error_received);
    xmlInitParser();
    bool valid = read_document(&load, bytes, length);
    release(&load);
    xmlSetStructuredErrorFunc(receiver_data, receiver);
    arena_on_exhausted(own, NULL);
    if (!valid)
        *error = message_text(&load, arena);
    return valid ? load.elements : NULL;
}

const struct windows_spec *windows_load(struct arena *arena, const char *bytes, size_t length,
                                        const char **error)
{
    *error = windows_xml_problem(arena, bytes, length);
    if (*error != NULL)
        return NULL;
    struct arena *own = arena_create(length);
    if (own == NULL) {
        *error = no_memory;
        return NULL;
    }
    struct windows_elements *elements = elements_read(arena, own, bytes, length, error);
    arena_adopt(arena, own);
    const struct windows_spec *spec = elements != NULL ? windows_elements_finish(elements, error) : NULL;
    if (spec != NULL)
        *error = windows_size_problem(arena, spec);
    if (spec != NULL && *error == NULL)
        *error = windows_spec_check(arena, spec);
    return *error == NULL ? spec : NULL;
}
