#include "runtime/owner.h"

#include "base/escape.h"
#include "base/vector.h"
#include "policy/host.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DATABASE_BYTES = 64 << 20 };

struct account {
    const char *name, *home;
    uid_t uid;
    gid_t gid;
};

struct groups {
    gid_t *items;
    uint32_t count, capacity;
};

static bool number_of(const char *word, unsigned long *number)
{
    char *end;

    errno = 0;
    *number = strtoul(word, &end, 10);
    return errno == 0 && end != word && *end == '\0' && *number < UINT32_MAX;
}

/* Splits "a:b:c" in place into at most `limit` fields. */
static int split(char *line, char **fields, int limit)
{
    int count = 0;
    char *field;

    while (count < limit && (field = strsep(&line, ":")) != NULL)
        fields[count++] = field;
    return count;
}

/* name:password:uid:gid:comment:home:shell */
static bool account_find(struct arena *arena, uid_t uid, struct account *account)
{
    size_t length;
    const char *error;
    char *text = file_read(arena, "/etc/passwd", DATABASE_BYTES, &length, &error), *line;

    while (text != NULL && (line = strsep(&text, "\n")) != NULL) {
        char *fields[7];
        unsigned long user, group;
        if (split(line, fields, 7) < 6 || !number_of(fields[2], &user) || user != uid ||
            !number_of(fields[3], &group))
            continue;
        *account = (struct account){.name = fields[0], .home = fields[5], .uid = uid, .gid = (gid_t)group};
        return true;
    }
    return false;
}

static bool lists_member(char *members, const char *name)
{
    char *member;

    while ((member = strsep(&members, ",")) != NULL)
        if (strcmp(member, name) == 0)
            return true;
    return false;
}

/* name:password:gid:member,member */
static struct groups groups_find(struct arena *arena, const struct account *account)
{
    struct groups groups = {0};
    size_t length;
    const char *error;
    char *text = file_read(arena, "/etc/group", DATABASE_BYTES, &length, &error), *line;

    VECTOR_PUSH(arena, &groups, account->gid);
    while (text != NULL && (line = strsep(&text, "\n")) != NULL) {
        char *fields[4];
        unsigned long group;
        if (split(line, fields, 4) == 4 && number_of(fields[2], &group) && group != account->gid &&
            lists_member(fields[3], account->name))
            VECTOR_PUSH(arena, &groups, (gid_t)group);
    }
    return groups;
}

static bool variables_settle(const struct account *account)
{
    static const char *const roots_own[] = {
        "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "MAIL",
        "SUDO_USER",       "SUDO_UID",       "SUDO_GID",      "SUDO_COMMAND"};

    for (size_t i = 0; i < sizeof roots_own / sizeof roots_own[0]; i++)
        if (unsetenv(roots_own[i]) != 0)
            return false;
    return setenv("HOME", account->home, 1) == 0 && setenv("USER", account->name, 1) == 0 &&
           setenv("LOGNAME", account->name, 1) == 0;
}

static bool become_account(struct arena *arena, uid_t uid, const char **problem)
{
    struct account account;

    if (!account_find(arena, uid, &account)) {
        *problem = arena_format(arena, "user %u is not in /etc/passwd", (unsigned)uid);
        return false;
    }
    struct groups groups = groups_find(arena, &account);
    if (setgroups(groups.count, groups.items) != 0 || setgid(account.gid) != 0 || setuid(uid) != 0 ||
        !variables_settle(&account)) {
        *problem = arena_format(arena, "becoming %s failed: %s", escape_string(arena, account.name),
                                strerror(errno));
        return false;
    }
    /* For root both calls set the real, effective and saved id alike, so it cannot come back. */
    if (setuid(0) == 0) {
        *problem = "root's rights could not be given up";
        return false;
    }
    return true;
}

bool owner_settle(struct arena *arena, const char *directory, bool become, struct note_list *notes)
{
    struct stat status;
    const char *problem = NULL;

    if (geteuid() != 0 || stat(directory, &status) != 0 || status.st_uid == 0)
        return true;
    if (!become) {
        note_add(notes,
                 (struct note){.code = SBX407_ROOT_FOR_ANOTHER,
                               .text = arena_format(arena, "%s belongs to user %u, and this is root",
                                                    escape_string(arena, directory), (unsigned)status.st_uid),
                               .help = "run sbx-launch as that user, or give --as-owner"});
        return false;
    }
    if (!become_account(arena, status.st_uid, &problem)) {
        note_add(notes, (struct note){.code = SBX408_AS_OWNER, .text = problem});
        return false;
    }
    return true;
}
