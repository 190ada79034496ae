/* main.c - sbx-launch.exe. */
#include "runtime/probe.h"
#include "runtime/report.h"
#include "runtime/windows/canary.h"
#include "runtime/windows/launch.h"
#include "runtime/windows/system.h"
#include "runtime/windows/wide.h"

#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <shellapi.h>

static uint32_t usage(struct arena *arena)
{
    struct buffer out = buffer_in(arena);

    launch_usage(&out);
    return (uint32_t)report_answer(arena, &out);
}

static uint32_t version(struct arena *arena)
{
    struct buffer out = buffer_in(arena);

    buffer_string(&out, "sbx-launch " SBX_VERSION "\n");
    return (uint32_t)report_answer(arena, &out);
}

static uint32_t probe(struct arena *arena, bool json)
{
    struct probe_result result = probe_machine(arena);
    struct buffer out = buffer_in(arena);

    probe_print(&out, &result, system_version(arena), json);
    return report_answer(arena, &out) == EXIT_SUCCESS && result.usable ? EXIT_SUCCESS : EXIT_REFUSED;
}

/* The words of the command line as UTF-8, or NULL: half of a surrogate pair has no form in it. */
static char **words_of(struct arena *arena, int *count)
{
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), count);
    char **words = wide == NULL ? NULL : arena_array(arena, (size_t)*count + 1, sizeof *words);

    for (int i = 0; words != NULL && i < *count; i++)
        if ((words[i] = wide_to(arena, wide[i])) == NULL)
            words = NULL;
    LocalFree(wide);
    return words;
}

static uint32_t run(struct arena *arena)
{
    struct options options;
    int count = 0;
    char **words = words_of(arena, &count);

    if (words == NULL) {
        report_line(arena, "the command line holds what is no text");
        return EXIT_REFUSED;
    }
    if (count > 1 && strcmp(words[1], "--canary") == 0)
        return (uint32_t)canary_main(count - 2, words + 2);
#ifdef SBX_TEST_UNENFORCED
    report_line(arena, "THIS IS THE BUILD FOR TESTS: NOTHING IS ENFORCED");
#endif
    const char *wrong = launch_options_parse(arena, count, words, &options);
    if (wrong != NULL) {
        report_line(arena, "%s (see sbx-launch --help)", wrong);
        return EXIT_REFUSED;
    }
    return options.help      ? usage(arena)
           : options.version ? version(arena)
           : options.probe   ? probe(arena, options.json)
           : options.recover ? windows_recover(arena)
           : options.doctor  ? windows_doctor(arena)
                             : windows_launch(arena, &options);
}

int main(void)
{
    jmp_buf exhausted;

    /* Never from beside this program, where a command may have put what is called like a library of Windows. */
    if (!SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_SYSTEM32))
        return EXIT_REFUSED;
    for (int i = 0; i < 3; i++)
        _setmode(i, _O_BINARY);
    /* Nobody would see a window that waits on the run's own desktop; the command inherits this. */
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    struct arena *arena = arena_create(0);
    if (arena == NULL || setjmp(exhausted) != 0) {
        static const char text[] = "sbx-launch: out of memory\n";
        write_all(2, text, sizeof text - 1);
        return EXIT_REFUSED;
    }
    arena_on_exhausted(arena, &exhausted);
    uint32_t code = run(arena);
    arena_destroy(arena);
    /* The thread that reads the caller's input may wait for it still. */
    ExitProcess(code);
}
