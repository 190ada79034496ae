/* maintain.c - --recover and --doctor (launch.h). */
#include "runtime/windows/launch.h"

#include "runtime/report.h"
#include "runtime/windows/launch_steps.h"

static void add_sentences(struct buffer *out, const struct journal_sentences *sentences)
{
    for (uint32_t i = 0; i < sentences->count; i++)
        buffer_format(out, "%s\n", report_safe(out->arena, sentences->items[i]));
}

static bool state_opened(struct arena *arena, struct journal_place *place, const char **state)
{
    const char *error = NULL;
    if (launch_open_state(arena, place, state, &error))
        return true;
    report_line(arena, "%s", error);
    return false;
}

uint32_t windows_recover(struct arena *arena)
{
    struct journal_sentences done = {0}, left = {0};
    struct buffer out = buffer_in(arena);
    struct journal_place place;
    const char *state;

    if (!state_opened(arena, &place, &state))
        return EXIT_REFUSED;
    journal_recover(&place, &done, &left);
    own_directory_recover(arena, state);
    add_sentences(&out, &done);
    add_sentences(&out, &left);
    if (done.count + left.count == 0)
        buffer_string(&out, "nothing is left of earlier runs\n");
    return report_answer(arena, &out) == 0 && left.count == 0 ? 0 : EXIT_REFUSED;
}

uint32_t windows_doctor(struct arena *arena)
{
    struct journal_sentences found = {0};
    struct buffer out = buffer_in(arena);
    struct journal_place place;
    const char *state;

    if (!state_opened(arena, &place, &state))
        return EXIT_REFUSED;
    journal_doctor(&place, &found);
    add_sentences(&out, &found);
    if (found.count == 0)
        buffer_string(&out, "no run has changed anything that stands now\n");
    return (uint32_t)report_answer(arena, &out);
}
