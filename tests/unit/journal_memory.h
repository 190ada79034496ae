/* journal_memory.h - launchers that share a disk in memory, keep journals on it and are killed at any
 * step. */
#pragma once

#include "runtime/windows/acl_memory.h"
#include "runtime/windows/journal_store.h"

#include "base/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BROKEN_PIPE = 109, DISK_FULL = 112 };

struct process;

struct journal_file {
    char name[64];
    struct buffer bytes;
    size_t durable; /* bytes that survive a loss of power */
    struct process *holder;
    bool gone;
};

struct disk {
    struct arena *arena;
    struct journal_file *files[64];
    uint32_t count;
    struct process *turn;
    size_t room; /* bytes that can still be written; SIZE_MAX: any */
    unsigned names;
};

struct process {
    struct journal_store store;
    struct disk *disk;
    struct acl_fault *fault; /* NULL: lives for ever */
};

static inline struct process *process_of(const struct journal_store *store)
{
    return store->state;
}

static inline bool process_dead(const struct process *process)
{
    return process->fault != NULL && process->fault->dead;
}

static inline bool process_step(struct process *process)
{
    if (process->fault != NULL && process->fault->left-- <= 0)
        process->fault->dead = true;
    return !process_dead(process);
}

static inline struct journal_file *disk_find(const struct disk *disk, const char *name)
{
    for (uint32_t i = 0; i < disk->count; i++)
        if (!disk->files[i]->gone && strcmp(disk->files[i]->name, name) == 0)
            return disk->files[i];
    return NULL;
}

static uint32_t memory_store_list(const struct journal_store *store, struct arena *arena,
                                  struct acl_names *names)
{
    const struct disk *disk = process_of(store)->disk;
    if (process_dead(process_of(store)))
        return BROKEN_PIPE;
    for (uint32_t i = 0; i < disk->count; i++)
        if (!disk->files[i]->gone)
            VECTOR_PUSH(arena, names, arena_strdup(arena, disk->files[i]->name));
    return ACL_OK;
}

static uint32_t memory_store_create(const struct journal_store *store, struct arena *arena, const char *name,
                                    struct journal_file **file)
{
    struct process *process = process_of(store);
    (void)arena;
    if (!process_step(process))
        return BROKEN_PIPE;
    *file = arena_alloc(process->disk->arena, sizeof **file);
    snprintf((*file)->name, sizeof(*file)->name, "%s", name);
    (*file)->bytes = buffer_in(process->disk->arena);
    buffer_string(&(*file)->bytes, "");
    (*file)->holder = process;
    if (process->disk->count == 64)
        abort();
    process->disk->files[process->disk->count++] = *file;
    return ACL_OK;
}

static enum journal_lock memory_store_take(const struct journal_store *store, struct arena *arena,
                                           const char *name, struct journal_file **file)
{
    struct process *process = process_of(store);
    (void)arena;
    *file = disk_find(process->disk, name);
    if (process_dead(process))
        return JOURNAL_BROKEN;
    if (*file == NULL)
        return JOURNAL_GONE;
    if ((*file)->holder != NULL)
        return JOURNAL_HELD;
    (*file)->holder = process;
    return JOURNAL_TAKEN;
}

static uint32_t memory_store_read(const struct journal_store *store, struct arena *arena, const char *name,
                                  struct buffer *bytes)
{
    const struct journal_file *file = disk_find(process_of(store)->disk, name);
    (void)arena;
    if (process_dead(process_of(store)) || file == NULL)
        return file == NULL ? ACL_MISSING : BROKEN_PIPE;
    buffer_bytes(bytes, file->bytes.bytes, file->bytes.length);
    return ACL_OK;
}

static uint32_t memory_store_append(const struct journal_store *store, struct journal_file *file,
                                    const void *bytes, size_t length, bool flush)
{
    struct process *process = process_of(store);
    struct disk *disk = process->disk;
    if (!process_step(process))
        return BROKEN_PIPE;
    size_t written = length < disk->room ? length : disk->room;
    buffer_bytes(&file->bytes, bytes, written);
    if (disk->room != SIZE_MAX)
        disk->room -= written;
    if (written < length)
        return DISK_FULL;
    if (flush && !process_step(process))
        return BROKEN_PIPE;
    if (flush)
        file->durable = file->bytes.length;
    return ACL_OK;
}

static uint32_t memory_store_remove(const struct journal_store *store, struct journal_file *file)
{
    if (!process_step(process_of(store)))
        return BROKEN_PIPE;
    file->gone = true;
    return ACL_OK;
}

static uint32_t memory_store_rename(const struct journal_store *store, struct journal_file *file,
                                    const char *name)
{
    if (!process_step(process_of(store)))
        return BROKEN_PIPE;
    snprintf(file->name, sizeof file->name, "%s", name);
    file->holder = NULL;
    return ACL_OK;
}

static void memory_store_close(const struct journal_store *store, struct journal_file *file)
{
    if (!process_dead(process_of(store)))
        file->holder = NULL;
}

static bool memory_store_turn_begin(const struct journal_store *store)
{
    struct process *process = process_of(store);
    if (process_dead(process) || process->disk->turn != NULL)
        return false;
    process->disk->turn = process;
    return true;
}

static void memory_store_turn_end(const struct journal_store *store)
{
    struct process *process = process_of(store);
    if (!process_dead(process) && process->disk->turn != process)
        abort();
    if (!process_dead(process))
        process->disk->turn = NULL;
}

static bool memory_store_name(const struct journal_store *store, char name[33])
{
    struct process *process = process_of(store);
    snprintf(name, 33, "%032x", ++process->disk->names);
    return !process_dead(process);
}

static inline struct disk *disk_make(struct arena *arena)
{
    struct disk *disk = arena_alloc(arena, sizeof *disk);
    *disk = (struct disk){.arena = arena, .room = SIZE_MAX};
    return disk;
}

static inline struct process *process_start(struct disk *disk, struct acl_fault *fault)
{
    struct process *process = arena_alloc(disk->arena, sizeof *process);
    *process = (struct process){.disk = disk,
                                .fault = fault,
                                .store = {.state = process,
                                          .list = memory_store_list,
                                          .create = memory_store_create,
                                          .take = memory_store_take,
                                          .read = memory_store_read,
                                          .append = memory_store_append,
                                          .remove = memory_store_remove,
                                          .rename = memory_store_rename,
                                          .close = memory_store_close,
                                          .turn_begin = memory_store_turn_begin,
                                          .turn_end = memory_store_turn_end,
                                          .name = memory_store_name}};
    return process;
}

/* The system lets go of what a process that has ended held; `power`: and loses what is not on the disk. */
static inline void process_bury(struct process *process, bool power)
{
    struct disk *disk = process->disk;
    for (uint32_t i = 0; i < disk->count; i++) {
        struct journal_file *file = disk->files[i];
        if (file->holder != process)
            continue;
        file->holder = NULL;
        if (power)
            file->bytes.length = file->durable;
    }
    if (disk->turn == process)
        disk->turn = NULL;
}

static inline uint32_t disk_files(const struct disk *disk)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < disk->count; i++)
        count += !disk->files[i]->gone;
    return count;
}
