#include "runtime/tree.h"

#include "runtime/link.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LISTING_BYTES = 1 << 16,
    PATH_LONGEST = PATH_MAX - NAME_MAX - 2,
    ALONE_MOST = 4096, /* entries for which no further thread is worth its start */
    WORKERS_MOST = 64,
    STACK_BYTES = 512 << 10, /* a question to the policy takes most of it */
    LOOK_MILLISECONDS = 100,
    JOIN_SECONDS = 1
};

/* A directory still to be listed. Its state follows, then its path with the NUL. */
struct pending {
    struct pending *next;
    size_t length; /* of the path */
    max_align_t state[];
};

/* One walk, shared by its threads. */
struct job {
    struct tree_walk walk; /* a copy: threads that are left behind must not look at the caller's */
    size_t state_room;     /* state_size, rounded so that a path may follow */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct pending *first; /* the last one found comes first, so that few wait */
    unsigned busy;         /* threads that may still find more */
    enum tree_end end;
    atomic_bool ended; /* no further entry is to be visited */
    atomic_uint_fast64_t entries;
};

/* What one thread has in hand. */
struct listing {
    struct job *job;
    const struct pending *directory;
    struct pending *found; /* directories below it */
    char path[PATH_MAX];   /* of the entry */
    size_t directory_length;
    void *below;
    bool alone; /* the calling thread, which also looks whether to go on */
    _Alignas(struct dirent64) char entries[LISTING_BYTES];
};

static char *pending_path(const struct job *job, const struct pending *pending)
{
    return (char *)pending->state + job->state_room;
}

static struct pending *pending_new(const struct job *job, const char *path, size_t length, const void *state)
{
    struct pending *pending = malloc(sizeof *pending + job->state_room + length + 1);
    if (pending == NULL)
        return NULL;
    *pending = (struct pending){.length = length};
    if (job->walk.state_size > 0)
        memcpy(pending->state, state, job->walk.state_size);
    memcpy(pending_path(job, pending), path, length + 1);
    return pending;
}

static void pending_free(struct pending *first)
{
    while (first != NULL) {
        struct pending *next = first->next;
        free(first);
        first = next;
    }
}

static void job_end(struct job *job, enum tree_end end)
{
    pthread_mutex_lock(&job->lock);
    if (!atomic_exchange(&job->ended, true))
        job->end = end;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
}

static unsigned char entry_type(int directory, const struct dirent64 *entry)
{
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    struct stat status;
    if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return (unsigned char)IFTODT(status.st_mode);
}

static bool is_dot(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* False when the walk ends. */
static bool entry_visit(struct listing *listing, int directory, const struct dirent64 *entry)
{
    struct job *job = listing->job;
    unsigned char type = entry_type(directory, entry);
    if (is_dot(entry->d_name) || type == DT_UNKNOWN)
        return true;
    if (atomic_fetch_add_explicit(&job->entries, 1, memory_order_relaxed) >= job->walk.remaining) {
        job_end(job, TREE_TOO_MANY);
        return false;
    }

    size_t length = strlen(entry->d_name);
    char *name = listing->path + listing->directory_length + 1;
    name[-1] = '/';
    memcpy(name, entry->d_name, length + 1);
    memset(listing->below, 0, job->walk.state_size);
    struct tree_entry seen = {
        .path = listing->path,
        .length = listing->directory_length + 1 + length,
        .name = name,
        .name_length = length,
        .type = type,
        .state = listing->directory->state,
        .below = listing->below,
    };
    enum tree_answer answer = job->walk.visit(job->walk.context, &seen);
    if (answer == TREE_SKIP || (answer == TREE_DESCEND && type != DT_DIR))
        return true;
    struct pending *pending =
        answer == TREE_FAIL ? NULL : pending_new(job, seen.path, seen.length, seen.below);
    if (pending == NULL) {
        job_end(job, TREE_NO_MEMORY);
        return false;
    }
    pending->next = listing->found;
    listing->found = pending;
    return true;
}

static void directory_close(struct listing *listing, int error)
{
    struct job *job = listing->job;
    if (!atomic_load(&job->ended) &&
        !job->walk.closed(job->walk.context, pending_path(job, listing->directory), listing->directory->state,
                          error))
        job_end(job, TREE_NO_MEMORY);
}

static void stop_look(struct job *job)
{
    if (job->walk.stop != NULL && job->walk.stop(job->walk.keeper, atomic_load(&job->entries)))
        job_end(job, TREE_STOPPED);
}

static void directory_list(struct listing *listing, int directory)
{
    struct job *job = listing->job;
    ssize_t got;
    while ((got = getdents64(directory, listing->entries, LISTING_BYTES)) > 0) {
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)(listing->entries + at);
            if (atomic_load_explicit(&job->ended, memory_order_relaxed) ||
                !entry_visit(listing, directory, entry))
                return;
            at += entry->d_reclen;
        }
        if (listing->alone && atomic_load(&job->entries) > ALONE_MOST)
            stop_look(job);
    }
    if (got < 0 && errno != ENOENT)
        directory_close(listing, errno);
}

static void directory_visit(struct listing *listing, const struct pending *pending)
{
    const struct job *job = listing->job;
    const char *path = pending_path(job, pending);
    int error = job->walk.admit == NULL ? 0 : job->walk.admit(job->walk.keeper, path);

    listing->directory = pending;
    listing->found = NULL;
    listing->directory_length = strcmp(path, "/") == 0 ? 0 : pending->length;
    if (error == 0 && listing->directory_length > PATH_LONGEST)
        error = ENAMETOOLONG;
    if (error != 0) {
        directory_close(listing, error);
        return;
    }
    memcpy(listing->path, path, pending->length + 1);
    int directory = directory_open(path, O_RDONLY);
    if (directory >= 0) {
        directory_list(listing, directory);
        close(directory);
    } else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) {
        directory_close(listing, errno);
    }
}

/* The next directory, or NULL when there is none left. */
static struct pending *job_take(struct job *job)
{
    pthread_mutex_lock(&job->lock);
    job->busy--;
    while (job->first == NULL && job->busy > 0 && !atomic_load(&job->ended))
        pthread_cond_wait(&job->changed, &job->lock);
    struct pending *taken = atomic_load(&job->ended) ? NULL : job->first;
    if (taken != NULL) {
        job->first = taken->next;
        job->busy++;
    } else {
        pthread_cond_broadcast(&job->changed);
    }
    pthread_mutex_unlock(&job->lock);
    return taken;
}

static void job_give(struct job *job, struct pending *found)
{
    if (found == NULL)
        return;
    struct pending *last = found;
    while (last->next != NULL)
        last = last->next;
    pthread_mutex_lock(&job->lock);
    last->next = job->first;
    job->first = found;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
}

/* Works until nothing is left, or until `most` entries were visited by all threads together. */
static void job_work(struct job *job, uint64_t most, bool alone)
{
    struct listing *listing = malloc(sizeof *listing);
    struct pending *taken = NULL;
    bool ready = listing != NULL && (listing->below = malloc(job->walk.state_size + 1)) != NULL;

    while (ready && atomic_load(&job->entries) < most && (taken = job_take(job)) != NULL) {
        listing->job = job;
        listing->alone = alone;
        directory_visit(listing, taken);
        job_give(job, listing->found);
        free(taken);
    }
    if (listing != NULL)
        free(listing->below);
    free(listing);
    if (!ready)
        job_end(job, TREE_NO_MEMORY);
}

static void *thread_work(void *argument)
{
    job_work(argument, UINT64_MAX, false);
    return NULL;
}

static unsigned processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > WORKERS_MOST ? WORKERS_MOST : (unsigned)count;
}

static struct timespec time_in(clockid_t clock, int64_t milliseconds)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += milliseconds % 1000 * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

/* The calling thread looks whether to go on while the others work. */
static void job_watch(struct job *job)
{
    pthread_mutex_lock(&job->lock);
    while (job->busy > 0 && !atomic_load(&job->ended)) {
        struct timespec next = time_in(CLOCK_MONOTONIC, LOOK_MILLISECONDS);
        if (pthread_cond_timedwait(&job->changed, &job->lock, &next) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&job->lock);
        stop_look(job);
        pthread_mutex_lock(&job->lock);
    }
    pthread_mutex_unlock(&job->lock);
}

/* Whether no thread is left. One that hangs in a call is left to itself; what it may still touch stays. */
static bool threads_join(const pthread_t *threads, unsigned count)
{
    struct timespec until = time_in(CLOCK_REALTIME, (int64_t)JOIN_SECONDS * 1000);
    bool all = true;

    for (unsigned i = 0; i < count; i++)
        all = pthread_timedjoin_np(threads[i], NULL, &until) == 0 && all;
    return all;
}

/* Starts threads for what is left; without a single one the calling thread goes on alone. Returns whether
 * no thread is left at the end. */
static bool job_share(struct job *job)
{
    pthread_t threads[WORKERS_MOST];
    pthread_attr_t attributes;
    unsigned wanted = processors(), count = 0;
    bool attributed = pthread_attr_init(&attributes) == 0;

    job->busy = wanted;
    while (attributed && pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 && count < wanted &&
           pthread_create(&threads[count], &attributes, thread_work, job) == 0)
        count++;
    if (attributed)
        pthread_attr_destroy(&attributes);
    pthread_mutex_lock(&job->lock);
    job->busy -= wanted - (count == 0 ? 1 : count);
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
    if (count == 0) {
        job_work(job, UINT64_MAX, true);
        return true;
    }
    job_watch(job);
    return threads_join(threads, count);
}

static bool job_prepare(struct job *job, const struct tree_walk *walk, const char *start, const void *state)
{
    enum { ROUND = _Alignof(max_align_t) };
    pthread_condattr_t clock;

    *job = (struct job){
        .walk = *walk,
        .state_room = (walk->state_size + ROUND - 1) / ROUND * ROUND,
        .end = TREE_DONE,
        .busy = 1,
    };
    if (pthread_condattr_init(&clock) != 0)
        return false;
    bool ready = pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) == 0 &&
                 pthread_mutex_init(&job->lock, NULL) == 0 && pthread_cond_init(&job->changed, &clock) == 0;
    pthread_condattr_destroy(&clock);
    job->first = ready ? pending_new(job, start, strlen(start), state) : NULL;
    return job->first != NULL;
}

enum tree_end tree_visit(struct tree_walk *walk, const char *start, const void *state)
{
    struct job *job = malloc(sizeof *job);

    if (job == NULL || !job_prepare(job, walk, start, state)) {
        free(job);
        return TREE_NO_MEMORY;
    }
    job_work(job, ALONE_MOST, true);
    bool joined = job->first == NULL || atomic_load(&job->ended) || job_share(job);
    enum tree_end end = job->end;
    uint64_t entries = atomic_load(&job->entries);
    walk->remaining -= entries < walk->remaining ? entries : walk->remaining;
    if (!joined)
        return end; /* a thread holds on to the job */
    pending_free(job->first);
    pthread_cond_destroy(&job->changed);
    pthread_mutex_destroy(&job->lock);
    free(job);
    return end;
}
