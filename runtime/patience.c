#include "runtime/patience.h"

#include "runtime/process.h"
#include "runtime/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { SHOW_AGAIN_MILLISECONDS = 200 };

void patience_begin(struct patience *patience, const struct signals *signals, bool quiet)
{
    *patience = (struct patience){
        .signals = signals,
        .terminal = !quiet && isatty(STDERR_FILENO) ? STDERR_FILENO : -1,
        .started = now_milliseconds(),
    };
}

static void show(struct patience *patience, uint64_t entries, int64_t elapsed)
{
    char text[128];
    int length;

    if (patience->shown && elapsed - patience->shown_at < SHOW_AGAIN_MILLISECONDS)
        return;
    length = snprintf(text, sizeof text, "\rsbx-launch: looking for denied patterns: %" PRIu64 " files, %d s",
                      entries, (int)(elapsed / 1000));

    patience->shown_at = elapsed;
    patience->shown = write_all(patience->terminal, text, (size_t)length);
}

bool patience_stop(void *context, uint64_t entries)
{
    struct patience *patience = context;
    int64_t elapsed = now_milliseconds() - patience->started;
    int number = patience->signals != NULL ? signals_next_end(patience->signals) : 0;

    if (number != 0) {
        patience->end = PATIENCE_INTERRUPTED;
        patience->number = number;
    } else if (elapsed >= (int64_t)LOOK_SECONDS * 1000) {
        patience->end = PATIENCE_LATE;
    } else if (patience->terminal >= 0 && elapsed >= (int64_t)SHOW_SECONDS * 1000) {
        show(patience, entries, elapsed);
    }
    return patience->end != PATIENCE_LASTS;
}

void patience_over(struct patience *patience)
{
    static const char clear[] = "\r\033[K";

    if (patience->shown)
        write_all(patience->terminal, clear, sizeof clear - 1);
    patience->shown = false;
}
