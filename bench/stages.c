/* stages.c - stages FILE: compiles FILE to .bin in this process and prints what each stage takes and makes.
 *
 * One line a stage, "NAME cpu-ms arena-bytes resident-kB" (resident: the most so far), then "rules N",
 * "nodes N" and "bytes N". Roots stay symbolic, as they do in sbxc -t bin.
 */
#include "compiler/compile.h"
#include "policy/bound.h"
#include "policy/file.h"
#include "policy/index.h"
#include "policy/prove.h"

#include <stdio.h>
#include <sys/resource.h>

struct meter {
    struct arena *arena;
    double cpu;
    size_t bytes;
};

static double cpu_now(struct rusage *used)
{
    getrusage(RUSAGE_SELF, used);
    return (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1e3 +
           (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e3;
}

/* Prints what was taken since the last call. */
static void stage_end(struct meter *meter, const char *name)
{
    struct rusage used;
    double cpu = cpu_now(&used);
    size_t bytes = arena_used(meter->arena);
    printf("%s %.2f %zu %ld\n", name, cpu - meter->cpu, bytes - meter->bytes, used.ru_maxrss);
    meter->cpu = cpu;
    meter->bytes = bytes;
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create(0);
    if (argc != 2 || arena == NULL)
        return 2;
    struct rusage used;
    struct meter meter = {.arena = arena, .cpu = cpu_now(&used)};
    const struct compile_input input = {.input = {.file = argv[1]}, .no_hash = true};
    const struct compilation *compilation = compile(arena, &input);
    if (compilation->policy == NULL) {
        fprintf(stderr, "stages: %s has errors; sbxc says which\n", argv[1]);
        return 1;
    }
    stage_end(&meter, "compile");

    struct bindings bindings = {.system = SYSTEM_LINUX};
    for (uint32_t root = 0; root < ROOTS; root++)
        bindings.roots[root].state = bindings.managed_roots[root].state = ROOT_SYMBOLIC;
    struct note_list notes = note_list_in(arena);
    struct bound_policy *bound = policy_bind(arena, compilation->policy, &bindings, &notes);
    stage_end(&meter, "bind");
    bound_seal(bound, &notes);
    stage_end(&meter, "seal");
    const char *wrong = bound_prove(arena, bound);
    stage_end(&meter, "prove");
    struct buffer out = buffer_in(arena);
    policy_write(&out, compilation->policy);
    stage_end(&meter, "write");
    printf("rules %u\nnodes %u\nbytes %zu\n", compilation->policy->rule_count, trie_nodes(bound->index->trie),
           out.length);
    arena_destroy(arena);
    return wrong == NULL && notes.errors == 0 ? 0 : 1;
}
