#include "runtime/probe.h"

#include "runtime/landlock_engine.h"
#include "runtime/report.h"
#include "runtime/supervise.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the smallest sandbox, which has no part of the machine's file system, only /proc and /dev; true if process 1
 * inside could say what it measured. */
static bool try_sandbox(struct arena *arena, struct engine_use *use, struct outcome *outcome,
                        struct note_list *notes)
{
    char *const no_command[] = {NULL};
    const struct plan_input nothing = {0};
    const struct plan plan = plan_make(arena, &nothing);
    static const struct landlock_rule rule = {.path = "/dev/null", .rights = RIGHT_READ_FILE};
    const bool alone = use->engine == &engine_landlock;
    struct inner_config inner = {.directory = "/",
                                 .files_soft = 64,
                                 .files_hard = 64,
                                 .landlock_alone = alone,
                                 .rules = &rule,
                                 .rule_count = alone,
                                 .arguments = no_command};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct signals signals;
    struct sandbox sandbox;
    struct evidence evidence = {0};
    int terminal;

    if (null < 0 || !signals_take(&signals))
        return false;
    struct sandbox_request request = {
        .plan = &plan, .inner = &inner, .streams = {null, null, null}, .signals = &signals};
    bool started = engine_prepare(arena, use, &request, notes) && engine_reserve(arena, use, notes) &&
                   use->engine->start(arena, use, &request, &sandbox, notes);
    close(null);
    if (started) {
        *outcome = sandbox_await(arena, &sandbox, &signals, &evidence, &terminal);
        sandbox_end(&sandbox);
    }
    signals_give_back(&signals);
    close(signals.descriptor);
    if (alone && evidence.landlock.rules == 0 && outcome->text == NULL)
        outcome->text = arena_strdup(arena, evidence.landlock.missing);
    return started && outcome->kind == OUTCOME_READY && (!alone || evidence.landlock.rules > 0);
}

/* What the engine itself said. */
static void tell(struct arena *arena, struct probe_backend *backend, const struct engine *engine,
                 const struct outcome *outcome, const struct note_list *notes)
{
    if (notes->count > 0) {
        backend->cause = notes->items[0].text;
        backend->remedy = notes->items[0].help;
    } else {
        backend->cause = outcome->text != NULL
                             ? outcome->text
                             : arena_format(arena, "%s ended without a word", engine->title);
    }
    if (backend->remedy == NULL)
        backend->remedy =
            "namespaces work here, so look at the engine itself: its version, its owner, its mode";
}

static struct probe_backend try_engine(struct arena *arena, enum engine_wish wish, const char *name)
{
    struct probe_backend backend = {.name = name};
    struct note_list notes = note_list_in(arena);
    struct outcome outcome = {0};
    struct engine_use use;

    if (engine_choose(arena, wish, &use, &notes) && engine_find(arena, &use, NULL, NULL, &notes) &&
        engine_check(arena, &use, &notes)) {
        backend.version = use.version;
        backend.usable = try_sandbox(arena, &use, &outcome, &notes);
    }
    if (!backend.usable)
        tell(arena, &backend, use.engine, &outcome, &notes);
    return backend;
}

struct probe_result probe_machine(struct arena *arena)
{
    struct probe_result result = {.backends = {try_engine(arena, ENGINE_NATIVE, "native"),
                                               try_engine(arena, ENGINE_BWRAP, "bwrap"),
                                               try_engine(arena, ENGINE_LANDLOCK, "landlock")}};
    const char *cause, *remedy;

    for (int i = 0; i < PROBE_WHOLE; i++)
        result.usable = result.usable || result.backends[i].usable;
    /* Where nothing works the machine is the cause, if one is known. */
    if (!result.usable && probe_diagnose(arena, &cause, &remedy))
        for (int i = 0; i < PROBE_WHOLE; i++) {
            result.backends[i].cause = cause;
            result.backends[i].remedy = remedy;
        }
    return result;
}
