/* journal_tool.c - what tests/windows/journal.py has a journal do: a program for tests alone. */
#include "runtime/windows/journal.h"

#include "runtime/windows/acl_win32.h"
#include "runtime/windows/journal_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { INHERIT = WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT };

struct tool {
    struct arena *arena;
    struct journal_place place;
    const char *top;
};

static const char *below(const struct tool *tool, const char *name)
{
    return name[0] == '\0' ? tool->top : arena_format(tool->arena, "%s\\%s", tool->top, name);
}

static int fail(const char *error)
{
    fprintf(stderr, "%s\n", error);
    return 1;
}

/* --- a tree --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *content, *descriptor; /* content NULL: a directory; descriptor NULL: the usual one */
} objects[] = {
    {"", NULL, NULL},
    {"a", NULL, NULL},
    {"a\\file", "text", "O:BAG:BAD:AI(D;;0x2;;;AU)(A;;0x1200a9;;;WD)(A;ID;0x1f01ff;;;SY)"},
    {"closed", NULL, "O:BAG:BAD:P(A;OICI;0x1f01ff;;;BA)"},
    {"closed\\file", "text", NULL},
    {"none", "text", "O:BAG:BAD:NO_ACCESS_CONTROL"},
    {"low", "text", "O:BAG:BAD:(A;;0x1f01ff;;;BA)S:(ML;;0x1;;;LW)"},
};

static int set_up(const struct tool *tool)
{
    const struct acl_operations *acl = tool->place.acl;
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        struct acl_object *object;
        struct windows_descriptor descriptor;
        uint32_t code =
            acl->make(acl, tool->arena, below(tool, objects[i].name), objects[i].content, NULL, &object);
        if (code != ACL_OK)
            return fail(acl_error(tool->arena, code));
        if (objects[i].descriptor != NULL) {
            if (!windows_descriptor_read(tool->arena, objects[i].descriptor, &descriptor))
                return fail(objects[i].descriptor);
            acl->write_entries(acl, tool->arena, object, &descriptor);
            acl->write_label(acl, tool->arena, object, &descriptor);
        }
        acl->close(acl, object);
    }
    return 0;
}

static int dump(const struct tool *tool, const char *path)
{
    const struct acl_operations *acl = tool->place.acl;
    struct acl_object *object;
    struct acl_identity identity;
    struct windows_descriptor descriptor;
    struct acl_names names = {0};
    uint32_t code = acl->open(acl, tool->arena, path, 0, &object);
    if (code == ACL_OK)
        code = acl->identify(acl, tool->arena, object, &identity);
    if (code == ACL_OK)
        code = acl->read(acl, tool->arena, object, &descriptor);
    if (code != ACL_OK)
        return fail(acl_error(tool->arena, code));
    printf("%s %s\n", path, windows_descriptor_text(tool->arena, &descriptor));
    acl->close(acl, object);
    if (!identity.directory)
        return 0;
    acl->open(acl, tool->arena, path, ACL_LIST, &object);
    acl->list(acl, tool->arena, object, &names);
    acl->close(acl, object);
    for (uint32_t i = 0; i < names.count; i++)
        if (dump(tool, arena_format(tool->arena, "%s\\%s", path, names.items[i])) != 0)
            return 1;
    return 0;
}

/* --- a run ---------------------------------------------------------------------------------------------- */

static const char *give(const struct tool *tool, struct journal *journal, const char *name, unsigned run,
                        uint8_t type, uint8_t flags, uint32_t mask, bool labels)
{
    const struct acl_operations *acl = tool->place.acl;
    struct windows_entry entry = {.type = type, .flags = flags, .mask = mask};
    struct windows_entry label = {.type = WINDOWS_ENTRY_LABEL, .flags = INHERIT, .mask = WINDOWS_NO_WRITE_UP};
    struct journal_change change = {.entries = &entry, .count = 1, .label = labels ? &label : NULL};
    struct acl_object *object;
    windows_sid_parse("S-1-16-4096", &label.sid);
    windows_sid_parse(arena_format(tool->arena, "S-1-5-21-%u-2-3-4", run), &entry.sid);
    uint32_t code = acl->open(acl, tool->arena, below(tool, name), ACL_WRITE | ACL_WRITE_LABEL, &object);
    if (code != ACL_OK)
        return acl_error(tool->arena, code);
    const char *error = journal_apply(journal, object, &change);
    acl->close(acl, object);
    return error;
}

static const char *hold(const struct tool *tool, struct journal *journal, const char *name,
                        const char *content)
{
    struct acl_object *object;
    const char *error = NULL;
    if (journal_placeholder(journal, below(tool, name), content, NULL, &object, &error) == ACL_OK)
        tool->place.acl->close(tool->place.acl, object);
    return error;
}

static const char *change_all(const struct tool *tool, struct journal *journal, unsigned run)
{
    struct journal_sentences notes = {0};
    const char *error = hold(tool, journal, "git", NULL);
    if (error == NULL)
        error = hold(tool, journal, "git\\commondir", ".\n");
    if (error == NULL)
        error = give(tool, journal, "git", run, WINDOWS_ENTRY_DENY, INHERIT, 0x1f01ff, false);
    if (error == NULL)
        error = give(tool, journal, "none", run, WINDOWS_ENTRY_DENY, 0, 0x20, false);
    if (error == NULL)
        error = give(tool, journal, "", run, WINDOWS_ENTRY_ALLOW, INHERIT, 0x1301bf, true);
    return error != NULL ? error : journal_spread(journal, &notes);
}

static void say(const struct journal_sentences *sentences)
{
    for (uint32_t i = 0; i < sentences->count; i++)
        printf("%s\n", sentences->items[i]);
    fflush(stdout);
}

/* Changes, says so, waits for a line on standard input or its end, and takes back. */
static int run(const struct tool *tool, unsigned number)
{
    struct journal_sentences left = {0};
    struct journal_run header = {0};
    char line[16];
    const char *error = NULL;
    journal_recover(&tool->place, NULL, &left);
    say(&left);
    struct journal *journal = journal_begin(&tool->place, &header, &error);
    if (journal != NULL)
        error = change_all(tool, journal, number);
    puts(error == NULL ? "changed" : "failed");
    fflush(stdout);
    if (error == NULL && fgets(line, sizeof line, stdin) == NULL)
        clearerr(stdin);
    left.count = 0;
    journal_end(journal, &left);
    say(&left);
    return error != NULL ? fail(error) : 0;
}

static int recover(const struct tool *tool)
{
    struct journal_sentences done = {0}, left = {0};
    journal_recover(&tool->place, &done, &left);
    say(&done);
    say(&left);
    return left.count == 0 ? 0 : 2;
}

static int examine(const struct tool *tool)
{
    struct journal_sentences found = {0};
    journal_doctor(&tool->place, &found);
    say(&found);
    return 0;
}

/* Wine keeps descriptors of events, if of no file: each of these lists is written and read back by the
 * operations that a machine's files get. */
static int describe_event(const struct tool *tool)
{
    static const char *const lists[] = {
        "D:(D;OICI;0xd0156;;;S-1-5-21-7-2-3-4)(A;;0x1f0003;;;WD)",
        "D:(D;;0x10000;;;S-1-5-21-7-2-3-4)(D;OICIIO;0x2;;;AU)(A;CI;0x1301bf;;;S-1-15-2-1-2-3-4-5-6-7)(A;ID;"
        "0x1f0003;;;WD)",
        "D:NO_ACCESS_CONTROL",
        "D:",
    };
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    struct acl_object *object = acl_object_of(tool->arena, event);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct windows_descriptor wanted, found;
        if (!windows_descriptor_read(tool->arena, lists[i], &wanted))
            return fail(lists[i]);
        uint32_t code = acl_machine()->write_entries(acl_machine(), tool->arena, object, &wanted);
        if (code == ACL_OK)
            code = acl_machine()->read(acl_machine(), tool->arena, object, &found);
        if (code != ACL_OK)
            return fail(acl_error(tool->arena, code));
        found.owner.length = found.group.length = 0;
        printf("%s\n%s\n", windows_descriptor_text(tool->arena, &wanted),
               windows_descriptor_text(tool->arena, &found));
    }
    CloseHandle(event);
    return 0;
}

static int act(const struct tool *tool, const char *what, const char *number)
{
    if (strcmp(what, "make") == 0)
        return set_up(tool);
    if (strcmp(what, "run") == 0)
        return run(tool, (unsigned)strtoul(number, NULL, 10));
    if (strcmp(what, "doctor") == 0)
        return examine(tool);
    if (strcmp(what, "event") == 0)
        return describe_event(tool);
    int recovered = strcmp(what, "recover") == 0 ? recover(tool) : 0;
    int dumped = dump(tool, tool->top);
    return recovered != 0 ? recovered : dumped;
}

/* WHAT DIRECTORY [NUMBER] */
int main(int count, char **words)
{
    const char *error = NULL;
    if (count < 3)
        return fail("make, run, recover, doctor, dump or event; a directory; the number of a run");
    struct tool tool = {.arena = arena_create(0), .top = words[2]};
    tool.place = (struct journal_place){
        .arena = tool.arena, .store = journal_store_open(tool.arena, &error), .acl = acl_windows(tool.arena)};
    int code = error != NULL ? fail(error) : act(&tool, words[1], count > 3 ? words[3] : "7");
    arena_destroy(tool.arena);
    return code;
}
