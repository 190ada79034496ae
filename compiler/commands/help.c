#include "base/escape.h"
#include "compiler/commands/command.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const severity_names[] = {"note", "warning", "error"};

static int help_code(struct session *session, const char *text)
{
    const char *digits = strncasecmp(text, "SBX", 3) == 0 ? text + 3 : text;
    char *end = NULL;
    unsigned long number = strtoul(digits, &end, 10);
    const struct code_page *page = *digits >= '0' && *digits <= '9' && *end == '\0' && number < 1000
                                       ? code_page((unsigned)number)
                                       : NULL;
    if (page == NULL)
        return session_complain(session,
                                arena_format(session->arena, "there is no code %s; `sbxc help` lists all",
                                             escape_string(session->arena, text)));
    buffer_format(&session->out, "SBX%03u %s: %s\n\n%s\n", (unsigned)page->code,
                  severity_names[page->severity], page->title, page->help);
    return EXIT_DONE;
}

static int help_codes(struct session *session)
{
    uint32_t count = 0;
    const struct code_page *pages = code_pages(&count);
    buffer_string(&session->out,
                  "`sbxc --help` says how sbxc is called, `sbxc help CODE` what one of these means.\n\n");
    for (uint32_t i = 0; i < count; i++)
        buffer_format(&session->out, "SBX%03u %-8s %s\n", (unsigned)pages[i].code,
                      severity_names[pages[i].severity], pages[i].title);
    return EXIT_DONE;
}

int command_help(struct session *session)
{
    const struct options *options = &session->options;
    if (options->completions != NULL)
        return options_completions(&session->out, options->completions) ? EXIT_DONE : EXIT_WRONG;
    if (options->manual) {
        options_manual(&session->out);
        return EXIT_DONE;
    }
    return options->arguments.count > 0 ? help_code(session, options->arguments.items[0])
                                        : help_codes(session);
}
