/* diagnostic_print.h - printers of diagnostics: one list, several forms. */
#pragma once

#include "base/buffer.h"
#include "compiler/compile.h"
#include "policy/note.h"

struct diagnostic_style {
    bool color;
    enum severity least; /* what is less severe is left out */
};

/* A form in which diagnostics are printed. */
struct diagnostic_format {
    const char *name;
    void (*print)(struct buffer *out, struct source_list *sources, const struct diagnostic_list *list,
                  const struct diagnostic_style *style);
};

extern const struct diagnostic_format diagnostic_formats[]; /* a NULL name ends it */

/* For people: FILE:LINE:COLUMN, the source line, a caret under the exact span, further places, help. */
void diagnostics_print_text(struct buffer *out, struct source_list *sources,
                            const struct diagnostic_list *list, const struct diagnostic_style *style);

/* For programs: one object a line, with severity, code, file, line, column, text and help; null where
 * there is no place or no help. */
void diagnostics_print_json(struct buffer *out, struct source_list *sources,
                            const struct diagnostic_list *list, const struct diagnostic_style *style);

/* Sets where `diagnostic` is: at the word that made `rule`. A rule of a layer whose text is not here gets its
 * file and line into the text instead. */
void diagnostic_place(struct diagnostic *diagnostic, struct compilation *compilation,
                      const struct policy *policy, const struct rule *rule);

/* Queues what binding said as diagnostics, each at its rule. */
void diagnostics_add_notes(struct diagnostic_list *list, struct compilation *compilation,
                           const struct policy *policy, const struct note_list *notes);
