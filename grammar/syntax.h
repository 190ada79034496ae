/* syntax.h - the tree that the parser builds from one file: what was written, nothing decided.
 *
 * Words keep their spelling; which word is a path, a root or a pattern is the compiler's business. The
 * tree lives in the arena given to syntax_parse. Statements that did not parse leave a diagnostic and no
 * node, except that an error in a `when` line still opens its block (its node has `broken` set).
 */
#pragma once

#include "base/buffer.h"
#include "base/diagnostic.h"
#include "base/intern.h"
#include "grammar/source.h"

#include <stdbool.h>

/* A word with its escapes taken out. `bytes` may hold any byte but NUL (an escaped \x00 is an error of the
 * lexer). */
struct word {
    struct span span; /* as written, quotes included */
    uint32_t length;
    const char *bytes; /* interned in the job's pool */
    /* Per byte: one of ~ $ * ? [ ] ! - ^ : \ that was written with a backslash, so that it is no sign.
     * NULL when there is none. */
    const bool *literal;
    bool quoted;
};

struct word_list {
    struct word *items;
    uint32_t count, capacity;
};

enum statement_kind {
    STATEMENT_USE,           /* subject: the preset's word or the quoted file; except: paths */
    STATEMENT_LET,           /* subject: NAME; words: paths */
    STATEMENT_PATH,          /* grant read|write, auto grant, deny, deny write, deny exec: words, except */
    STATEMENT_SOCKET,        /* grant|deny socket: words */
    STATEMENT_NETWORK,       /* grant|deny network: targets, port, protocol */
    STATEMENT_LISTEN,        /* grant|deny listen: subject is loopback or any; port, protocol */
    STATEMENT_ENV,           /* grant|deny env: words are patterns */
    STATEMENT_SET_ENV,       /* subject: NAME, value */
    STATEMENT_SERVICE,       /* grant|deny service: words */
    STATEMENT_SYSCALL,       /* grant|deny syscall: words */
    STATEMENT_SCRATCH,       /* grant|deny scratch */
    STATEMENT_BYPASS,        /* grant|deny bypass */
    STATEMENT_LIMIT_PATHS,   /* limit read|write|socket to: words or nothing */
    STATEMENT_LIMIT_NETWORK, /* targets or nothing, port, protocol */
    STATEMENT_LIMIT_NAMES,   /* limit env|service to: words or nothing */
    STATEMENT_PERMIT_BYPASS,
    STATEMENT_LIMIT_AMOUNT,   /* limit processes|files|memory|time to: subject is the number as written */
    STATEMENT_ACCEPT_CONTROL, /* subject: CONTROL, second: TARGET, value: the reason */
    STATEMENT_ACCEPT_CODE,    /* subject: CODE, value: the reason */
    STATEMENT_EXPECT,         /* subject: OP; words: arguments */
    STATEMENT_WHEN,           /* subject: os or command; words; children */
};

enum verb { VERB_NONE, VERB_GRANT, VERB_DENY }; /* for expect: grant means allow */

/* What a path statement speaks of: grant read, grant write, deny, deny write, deny exec; also limit
 * read|write|socket, limit env|service, limit processes|files|memory|time. */
enum aspect {
    ASPECT_NONE,
    ASPECT_READ,
    ASPECT_WRITE,
    ASPECT_EXEC,
    ASPECT_SOCKET,
    ASPECT_ENV,
    ASPECT_SERVICE,
    ASPECT_PROCESSES,
    ASPECT_FILES,
    ASPECT_MEMORY,
    ASPECT_TIME,
};

enum protocol { PROTOCOL_UNSAID, PROTOCOL_TCP, PROTOCOL_UDP };

enum target_kind { TARGET_HOST, TARGET_ADDRESS, TARGET_LOOPBACK, TARGET_LAN, TARGET_INTERNET, TARGET_ANY };

struct target_syntax {
    enum target_kind kind;
    struct span span;
    struct word word; /* of host and address */
};

struct target_list {
    struct target_syntax *items;
    uint32_t count, capacity;
};

/* What few kinds of statements have. */
struct statement_parts {
    struct word subject, second, value;
    struct word_list ports; /* as written, "80", "3000-3010", "any" */
    struct target_list targets;
};

struct statement {
    struct statement *next;
    enum statement_kind kind;
    enum verb verb;
    enum aspect aspect;
    bool automatic; /* auto grant */
    bool nothing;   /* limit ... to nothing */
    bool broken;    /* a `when` whose line had an error: its children are still checked */
    enum protocol protocol;
    struct span span;    /* first to last word, without the comment; of a when: its line */
    struct span keyword; /* the statement's leading words, for diagnostics about the kind of statement */
    struct word_list words, except;
    const struct statement_parts *parts; /* never NULL; empty where the kind has none */
    struct statement *children;
};

enum file_kind { FILE_POLICY, FILE_MANAGED, FILE_PRESET };

struct syntax_file {
    uint32_t source;
    enum file_kind kind;
    bool has_header; /* false: `sbx 1` or the naming statement is missing or wrong; a diagnostic says so */
    struct word name;
    struct statement *statements; /* in order; NULL when there are none */
};

/* Parses source number `source`. Never NULL; look at diagnostics->errors. All errors of the file are
 * queued in one run (the parser recovers at the line end). Reentrant; no global state. */
struct syntax_file *syntax_parse(struct arena *arena, struct intern_pool *pool, struct source_list *sources,
                                 uint32_t source, struct diagnostic_list *diagnostics);

/* Prints the tree in the one canonical layout; the output parses back to the same tree (spans aside).
 * Comments are not in the tree. */
void syntax_print(struct buffer *buffer, const struct syntax_file *file);

/* The same with what is not in the tree: the comments of `source`, from which `file` was parsed without
 * errors, each where it stood, and a blank line where there were some. Printing what was printed gives the
 * same bytes. */
void syntax_format(struct buffer *buffer, const struct syntax_file *file, const struct source *source);

/* Whether two trees say the same, spans aside. */
bool syntax_equal(const struct syntax_file *a, const struct syntax_file *b);

/* Appends `word` spelled so that it parses back to itself: bare where possible, else quoted or with
 * escapes. */
void word_print(struct buffer *buffer, const struct word *word);
