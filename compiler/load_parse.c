#include "compiler/load_parse.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* From so many bytes on a thread costs little beside what it saves. */
enum { TEXT_LARGE = 128 * 1024, THREADS_MOST = 16 };

struct job {
    struct unit *unit;
    struct arena *syntax, *words; /* one thread's alone until all are done; NULL: out of memory */
    struct diagnostic_list diagnostics;
    bool exhausted;
};

struct jobs {
    struct source_list *sources; /* only read meanwhile */
    struct job *items;
    uint32_t count;
    atomic_uint next;
};

/* Whether `use` could be a word of its own behind this byte. */
static bool can_stand_before_word(char byte)
{
    bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    bool digit = byte >= '0' && byte <= '9';
    return !letter && !digit && byte != '/' && byte != '_' && byte != '-' && byte != '.';
}

bool parse_can_wait(const char *text, size_t length)
{
    static const char keyword[] = "use";
    const char *end = text + length, *at = text;
    if (length < TEXT_LARGE)
        return false;
    while ((at = memmem(at, (size_t)(end - at), keyword, sizeof keyword - 1)) != NULL) {
        if (at == text || can_stand_before_word(at[-1]))
            return false;
        at += sizeof keyword - 1;
    }
    return true;
}

/* Memory that runs out here must not end the job of another thread. */
static void parse(struct job *job, struct source_list *sources)
{
    uint32_t source = job->unit->source, length = sources->items[source].length;
    jmp_buf exhausted;
    job->exhausted = true;
    job->syntax = arena_create(0);
    job->words = arena_create(0);
    if (job->syntax == NULL || job->words == NULL || setjmp(exhausted) != 0)
        return;
    arena_on_exhausted(job->syntax, &exhausted);
    arena_on_exhausted(job->words, &exhausted);
    job->diagnostics = diagnostic_list_in(job->syntax);
    struct intern_pool *pool = intern_create(job->words, length / BYTES_A_WORD);
    job->unit->syntax = syntax_parse(job->syntax, pool, sources, source, &job->diagnostics);
    job->exhausted = false;
}

static void *parse_some(void *argument)
{
    struct jobs *jobs = argument;
    for (uint32_t i; (i = atomic_fetch_add(&jobs->next, 1)) < jobs->count;)
        parse(&jobs->items[i], jobs->sources);
    return NULL;
}

static uint32_t threads_for(uint32_t count)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t most = processors < 1 ? 1 : processors > THREADS_MOST ? THREADS_MOST : (uint32_t)processors;
    return count < most ? count : most;
}

/* This thread takes its part, so that all is done where no other can be started. */
static void parse_all(struct jobs *jobs)
{
    pthread_t threads[THREADS_MOST];
    uint32_t wanted = threads_for(jobs->count), started = 0;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, parse_some, jobs) == 0)
        started++;
    parse_some(jobs);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

static void take_over(struct load *load, struct job *job)
{
    if (job->syntax != NULL)
        arena_adopt(load->syntax_arena, job->syntax);
    if (job->words != NULL)
        arena_adopt(load->arena, job->words);
    if (job->exhausted)
        return;
    job->unit->syntax_errors = job->diagnostics.errors > 0;
    for (uint32_t i = 0; i < job->diagnostics.count; i++)
        diagnostic_add(load->diagnostics, job->diagnostics.items[i]);
}

void parse_waiting(struct load *load)
{
    struct jobs jobs = {.sources = load->sources};
    bool exhausted = false;
    jobs.items = arena_array(load->arena, load->unit_count, sizeof *jobs.items);
    for (uint32_t i = 0; i < load->unit_count; i++)
        if (load->units[i]->syntax == NULL)
            jobs.items[jobs.count++].unit = load->units[i];
    if (jobs.count == 0)
        return;
    parse_all(&jobs);
    for (uint32_t i = 0; i < jobs.count; i++) {
        take_over(load, &jobs.items[i]);
        exhausted = exhausted || jobs.items[i].exhausted;
    }
    if (exhausted)
        (void)arena_alloc(load->arena, SIZE_MAX); /* counts as out of memory */
}
