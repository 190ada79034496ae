/* temporary.h - a real directory for a test to work in, removed with all that is in it. */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "/tmp/sbx-test-XXXXXX", canonical. */
static inline char *temporary_make(char path[static PATH_MAX])
{
    char name[] = "/tmp/sbx-test-XXXXXX";
    if (mkdtemp(name) == NULL || realpath(name, path) == NULL)
        abort();
    return path;
}

/* By descriptors: paths may be longer than the system's calls take. */
static inline void temporary_remove_below(int parent, const char *name)
{
    int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = directory >= 0 ? fdopendir(directory) : NULL;
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            temporary_remove_below(directory, entry->d_name);
    unlinkat(parent, name, entries != NULL ? AT_REMOVEDIR : 0);
    if (entries != NULL)
        closedir(entries);
}

static inline void temporary_remove(const char *path)
{
    temporary_remove_below(AT_FDCWD, path);
}

/* `top`/`rest` in one of eight buffers, which are used in turn. */
static inline const char *below(const char *top, const char *rest)
{
    static char buffers[8][2 * PATH_MAX];
    static unsigned next;
    char *buffer = buffers[next++ % 8];
    snprintf(buffer, sizeof buffers[0], "%s/%s", top, rest);
    return buffer;
}

static inline void make_directory(const char *top, const char *rest)
{
    if (mkdir(below(top, rest), 0755) != 0)
        abort();
}

static inline void make_file(const char *top, const char *rest, const char *content)
{
    int file = open(below(top, rest), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || write(file, content, strlen(content)) != (ssize_t)strlen(content) || close(file) != 0)
        abort();
}

static inline void make_link(const char *top, const char *rest, const char *text)
{
    if (symlink(text, below(top, rest)) != 0)
        abort();
}
