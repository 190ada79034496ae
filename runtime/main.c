#include "base/escape.h"
#include "base/measure.h"
#include "runtime/inner.h"
#include "runtime/launch.h"
#include "runtime/probe.h"
#include "runtime/process.h"
#include "runtime/report.h"
#include "runtime/streams.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static int probe(struct arena *arena, const struct options *options)
{
    struct probe_result result = probe_machine(arena);
    struct buffer out = buffer_in(arena);
    struct utsname system = {0};

    uname(&system);
    probe_print(&out, &result, system.release, options->json);
    return report_answer(arena, &out) == EXIT_SUCCESS && result.usable ? EXIT_SUCCESS : EXIT_REFUSED;
}

static int usage(struct arena *arena)
{
    struct buffer out = buffer_in(arena);

    launch_usage(&out);
    return report_answer(arena, &out);
}

static int version(struct arena *arena)
{
    struct buffer out = buffer_in(arena);

    buffer_string(&out, "sbx-launch " SBX_VERSION "\n");
    return report_answer(arena, &out);
}

static int run(struct arena *arena, int argc, char **argv)
{
    struct options options;

    if (getuid() != geteuid() || getgid() != getegid()) {
        report_line(arena, "it must not be installed with set-user-id or set-group-id rights");
        return EXIT_REFUSED;
    }
    const char *wrong = launch_options_parse(arena, argc, argv, &options);
    int lease = lease_descriptor(options.lease);

    /* Before anything is opened: what the caller left open is nobody's business inside, and what it closed
     * must not become something else. */
    if (measure_holds(MEASURE_DESCRIPTORS))
        descriptors_close(3, &lease, 1);
    if (!streams_reserve()) {
        report_line(arena, "a closed standard stream cannot be replaced by /dev/null");
        return EXIT_REFUSED;
    }
    if (wrong != NULL) {
        report_line(arena, "%s (see sbx-launch --help)", wrong);
        return EXIT_REFUSED;
    }
    if (options.help)
        return usage(arena);
    if (options.version)
        return version(arena);
    return options.probe ? probe(arena, &options) : launch(arena, &options);
}

int main(int argc, char **argv)
{
    jmp_buf exhausted;

#ifndef __APPLE__
    if (argc == 3 && strcmp(argv[1], INNER_STAGE_WORD) == 0)
        return inner_stage(argv[2]);
#endif
    struct arena *arena = arena_create(0);
    if (arena == NULL || setjmp(exhausted) != 0) {
        static const char text[] = "sbx-launch: out of memory\n";
        write_all(STDERR_FILENO, text, sizeof text - 1);
        return EXIT_REFUSED;
    }
    arena_on_exhausted(arena, &exhausted);
    int code = run(arena, argc, argv);
    arena_destroy(arena);
    return code;
}
