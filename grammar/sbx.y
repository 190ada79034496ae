/* sbx.y - the statements of a policy file (language.md section 2).
 *
 * A file is a row of lines, and `when` lines and `}` lines are lines like all others: build.c matches them
 * up. So an error costs its own statement and never the block around it. The header's place is judged
 * there too.
 */
%require "3.8"
%define api.pure full
%define api.prefix {sbx_}
%define api.token.prefix {TOKEN_}
%define api.location.type {struct span}
%define lr.type ielr
%define lr.default-reduction consistent
%define parse.error custom
%define parse.lac full
%param {struct parser *parser}
%expect 0

%code requires {
#include "grammar/build.h"
#include "grammar/shape.h"
}

%code {
#include "grammar/lexeme.h"
#include "grammar/surprise.h"
#include "grammar/token.h"

#include <string.h>

/* The parser's stack is as deep as the longest statement, lists being flat. */
#define YYINITDEPTH 200

#define YYLLOC_DEFAULT(current, right, count)                                                                \
    (current) = (count) > 0 ? (struct span){YYRHSLOC(right, 1).source, YYRHSLOC(right, 1).start,             \
                                            YYRHSLOC(right, count).end}                                      \
                            : (struct span){YYRHSLOC(right, 0).source, YYRHSLOC(right, 0).end,               \
                                            YYRHSLOC(right, 0).end}

static void sbx_error(const struct span *at, struct parser *parser, const char *text);
}

%union {
    struct word word;
    struct word_list words;
    struct target_list targets;
    struct target_syntax target;
    struct statement *statement;
    enum verb verb;
    enum aspect aspect;
    enum protocol protocol;
    enum file_kind file_kind;
}

%token <word> WORD "a word" QUOTED "a word in quotes"
%token NL "the end of the line" COMMA "," EQUALS "=" OPEN "{" CLOSE "}"
%token SBX "sbx" POLICY "policy" MANAGED "managed" PRESET "preset" USE "use" EXCEPT "except" LET "let"
       GRANT "grant" AUTO "auto" DENY "deny" READ "read" WRITE "write" EXEC "exec" NETWORK "network"
       LISTEN "listen" SOCKET "socket" ENV "env" SET "set" SERVICE "service" SYSCALL "syscall"
       SCRATCH "scratch" BYPASS "bypass" HOST "host" ADDRESS "address" LOOPBACK "loopback" LAN "lan"
       INTERNET "internet" ANY "any" PORT "port" TCP "tcp" UDP "udp" LIMIT "limit" TO "to" NOTHING "nothing"
       PERMIT "permit" PROCESSES "processes" FILES "files" MEMORY "memory" TIME "time" ACCEPT "accept"
       ON "on" BECAUSE "because" EXPECT "expect" ALLOW "allow" CONNECT "connect" WHEN "when" OS "os"
       COMMAND "command"

%type <word> word keyword class nothing other first_denied first_limited port condition reach
%type <words> words word_list denied denied_list limited limited_list exceptions ports port_list
%type <targets> targets target_list
%type <target> target
%type <statement> statement use let grant deny other_class limit accept expect
%type <verb> verb verdict
%type <aspect> level path_class name_class amount_class count_class operation
%type <protocol> protocol
%type <file_kind> kind

%%

file: %empty | file line;

line: SBX WORD NL                          { header_version(parser, @1, &$2); }
    | kind QUOTED NL                       { header_name(parser, @1, $1, &$2); }
    | statement NL                         { statement_end(parser, $1, @1); }
    | WHEN condition words OPEN NL         { block_open(parser, join(@1, @4), $2, $3); }
    | CLOSE NL                             { block_close(parser, @1); }
    | error NL                             { yyerrok; statement_failed(parser); }
    ;

kind: POLICY { $$ = FILE_POLICY; } | MANAGED { $$ = FILE_MANAGED; } | PRESET { $$ = FILE_PRESET; };

condition: OS { $$ = word_of_keyword(parser, @1); } | COMMAND { $$ = word_of_keyword(parser, @1); };

statement: use | let | grant | deny | other_class | limit | accept | expect;

use: USE WORD exceptions                   { $$ = statement_use(parser, @1, &$2, $3); }
   | USE QUOTED exceptions                 { $$ = statement_use(parser, @1, &$2, $3); }
   ;

exceptions: %empty                         { $$ = (struct word_list){0}; }
          | EXCEPT words                   { $$ = $2; }
          ;

let: LET word EQUALS words
        { $$ = statement_let(parser, @1, &$2, $4); }
   ;

grant: GRANT level words                   { $$ = statement_path(parser, join(@1, @2), VERB_GRANT, $2, $3); }
     | AUTO GRANT level words
        { $$ = statement_path(parser, join(@1, @3), VERB_GRANT, $3, $4); $$->automatic = true; }
     ;

level: READ { $$ = ASPECT_READ; } | WRITE { $$ = ASPECT_WRITE; };

deny: DENY denied exceptions
        { $$ = statement_path(parser, @1, VERB_DENY, ASPECT_NONE, $2); $$->except = $3; }
    | DENY WRITE words exceptions
        { $$ = statement_path(parser, join(@1, @2), VERB_DENY, ASPECT_WRITE, $3); $$->except = $4; }
    | DENY EXEC words exceptions
        { $$ = statement_path(parser, join(@1, @2), VERB_DENY, ASPECT_EXEC, $3); $$->except = $4; }
    ;

verb: GRANT { $$ = VERB_GRANT; } | DENY { $$ = VERB_DENY; };

other_class: verb NETWORK targets ports protocol
        { $$ = statement_network(parser, STATEMENT_NETWORK, join(@1, @2), $3, $4, $5); $$->verb = $1; }
    | verb LISTEN reach ports protocol
        { $$ = statement_listen(parser, join(@1, @2), $1, &$3, $4, $5); }
    | verb SOCKET words   { $$ = statement_list(parser, STATEMENT_SOCKET, join(@1, @2), $1, $3); }
    | verb ENV words      { $$ = statement_list(parser, STATEMENT_ENV, join(@1, @2), $1, $3); }
    | verb SERVICE words  { $$ = statement_list(parser, STATEMENT_SERVICE, join(@1, @2), $1, $3); }
    | verb SYSCALL words  { $$ = statement_list(parser, STATEMENT_SYSCALL, join(@1, @2), $1, $3); }
    | verb SCRATCH        { $$ = statement_list(parser, STATEMENT_SCRATCH, @$, $1, (struct word_list){0}); }
    | verb BYPASS         { $$ = statement_list(parser, STATEMENT_BYPASS, @$, $1, (struct word_list){0}); }
    | SET ENV word EQUALS QUOTED
        { $$ = statement_set_env(parser, join(@1, @2), &$3, &$5); }
    ;

reach: LOOPBACK { $$ = word_of_keyword(parser, @1); } | ANY { $$ = word_of_keyword(parser, @1); };

ports: %empty                              { $$ = (struct word_list){0}; }
     | PORT port_list                      { $$ = words_take(parser); }
     ;
port_list: port                            { words_add(parser, &$1); }
         | port_list COMMA port            { words_add(parser, &$3); }
         ;
port: WORD                                 { $$ = $1; check_port(parser, &$$); }
    | ANY                                  { $$ = word_of_keyword(parser, @1); }
    ;

protocol: %empty { $$ = PROTOCOL_UNSAID; } | TCP { $$ = PROTOCOL_TCP; } | UDP { $$ = PROTOCOL_UDP; };

targets: target_list                       { $$ = targets_take(parser); };
target_list: target                        { targets_add(parser, &$1); }
           | target_list COMMA target      { targets_add(parser, &$3); }
           ;
target: HOST word     { $$ = (struct target_syntax){TARGET_HOST, @$, $2}; }
      | ADDRESS word  { $$ = (struct target_syntax){TARGET_ADDRESS, @$, $2}; }
      | LOOPBACK      { $$ = (struct target_syntax){.kind = TARGET_LOOPBACK, .span = @1}; }
      | LAN           { $$ = (struct target_syntax){.kind = TARGET_LAN, .span = @1}; }
      | INTERNET      { $$ = (struct target_syntax){.kind = TARGET_INTERNET, .span = @1}; }
      | ANY           { $$ = (struct target_syntax){.kind = TARGET_ANY, .span = @1}; }
      ;

limit: LIMIT path_class TO limited
        { $$ = statement_limit(parser, STATEMENT_LIMIT_PATHS, join(@1, @3), $2, $4); }
     | LIMIT path_class TO NOTHING
        { $$ = statement_limit_nothing(parser, STATEMENT_LIMIT_PATHS, join(@1, @3), $2); }
     | LIMIT name_class TO limited
        { $$ = statement_limit(parser, STATEMENT_LIMIT_NAMES, join(@1, @3), $2, $4); }
     | LIMIT name_class TO NOTHING
        { $$ = statement_limit_nothing(parser, STATEMENT_LIMIT_NAMES, join(@1, @3), $2); }
     | LIMIT NETWORK TO targets ports protocol
        { $$ = statement_network(parser, STATEMENT_LIMIT_NETWORK, join(@1, @3), $4, $5, $6); }
     | LIMIT NETWORK TO NOTHING
        { $$ = statement_limit_nothing(parser, STATEMENT_LIMIT_NETWORK, join(@1, @3), ASPECT_NONE); }
     | LIMIT amount_class TO WORD          { $$ = statement_amount(parser, join(@1, @3), $2, &$4); }
     | PERMIT BYPASS                       { $$ = statement_new(parser, STATEMENT_PERMIT_BYPASS, @$); }
     ;

path_class: level | SOCKET { $$ = ASPECT_SOCKET; };
name_class: ENV { $$ = ASPECT_ENV; } | SERVICE { $$ = ASPECT_SERVICE; };
amount_class: count_class | MEMORY { $$ = ASPECT_MEMORY; } | TIME { $$ = ASPECT_TIME; };
count_class: PROCESSES { $$ = ASPECT_PROCESSES; } | FILES { $$ = ASPECT_FILES; };

accept: ACCEPT word ON word BECAUSE QUOTED { $$ = statement_accept(parser, @1, &$2, &$4, &$6); }
      | ACCEPT word BECAUSE QUOTED         { $$ = statement_accept_code(parser, @1, &$2, &$4); }
      ;

expect: EXPECT verdict operation words
        { $$ = statement_expect(parser, join(@1, @3), $2, word_of_keyword(parser, @3), $3, $4); }
      ;

verdict: ALLOW { $$ = VERB_GRANT; } | DENY { $$ = VERB_DENY; };

operation: level
         | EXEC                            { $$ = ASPECT_EXEC; }
         | SOCKET                          { $$ = ASPECT_SOCKET; }
         | name_class
         | CONNECT                         { $$ = ASPECT_NONE; }
         | LISTEN                          { $$ = ASPECT_NONE; }
         ;

/* Lists, and which words may start them: a keyword is one only where the statement could go on with it. */
words: word_list                           { $$ = words_take(parser); };
word_list: word                            { words_add(parser, &$1); }
         | word_list COMMA word            { words_add(parser, &$3); }
         ;
denied: denied_list                        { $$ = words_take(parser); };
denied_list: first_denied                  { words_add(parser, &$1); }
           | denied_list COMMA word        { words_add(parser, &$3); }
           ;
limited: limited_list                      { $$ = words_take(parser); };
limited_list: first_limited                { words_add(parser, &$1); }
            | limited_list COMMA word      { check_no_nothing(parser, &$3); words_add(parser, &$3); }
            ;

first_denied: WORD | QUOTED | other | nothing;
first_limited: WORD | QUOTED | other | class;
word: WORD | QUOTED | keyword;
keyword: class | nothing | other;

class: class_keyword                       { $$ = word_of_keyword(parser, @1); };
class_keyword: WRITE | EXEC | NETWORK | LISTEN | SOCKET | ENV | SERVICE | SYSCALL | SCRATCH | BYPASS;
nothing: NOTHING                           { $$ = word_of_keyword(parser, @1); };
other: other_keyword                       { $$ = word_of_keyword(parser, @1); };
other_keyword: SBX | POLICY | MANAGED | PRESET | USE | EXCEPT | LET | GRANT | AUTO | DENY | READ | SET
             | HOST | ADDRESS | LOOPBACK | LAN | INTERNET | ANY | PORT | TCP | UDP | LIMIT | TO | PERMIT
             | PROCESSES | FILES | MEMORY | TIME | ACCEPT | ON | BECAUSE | EXPECT | ALLOW | CONNECT | WHEN
             | OS | COMMAND;

%%

static int yyreport_syntax_error(const yypcontext_t *context, struct parser *parser)
{
    yysymbol_kind_t expected[YYNTOKENS];
    int count = yypcontext_expected_tokens(context, expected, YYNTOKENS);
    const char *spellings[YYNTOKENS + 1] = {NULL};
    for (int i = 0; i < count; i++)
        spellings[i] = yysymbol_name(expected[i]);
    parser_surprised(parser, spellings);
    return 0;
}

/* Called only when the parser's own stack is full, which no statement can do. */
static void sbx_error(const struct span *at, struct parser *parser, const char *text)
{
    parser_error(parser, SBX021_NESTED_TOO_DEEP, *at, text, NULL);
}

const char *token_spelling(int token)
{
    return yysymbol_name(YYTRANSLATE(token));
}

int keyword_find(const char *bytes, uint32_t length)
{
    for (int token = TOKEN_SBX; token <= TOKEN_COMMAND; token++) {
        const char *spelling = token_spelling(token);
        if (strlen(spelling) == length && memcmp(spelling, bytes, length) == 0)
            return token;
    }
    return 0;
}
