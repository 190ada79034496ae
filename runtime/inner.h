/* inner.h - the stage inside: process 1 of the sandbox, between bubblewrap and the command.
 *
 * It measures what holds, says so, and starts the command only after the launcher's go byte. The launcher
 * alone holds the other end of the go pipe: its end of file, at any time, ends process 1 and with it
 * everything in the sandbox. It forwards signals, reaps, and says how the command ended.
 */
#pragma once

#include "base/measure.h"

/* The word by which the launcher's program knows that it is this stage: argv[1], before the configuration's
 * descriptor. */
#define INNER_STAGE_WORD measure_stage_word("--inner-stage")

/* Runs the stage with the configuration read from `descriptor` (decimal); returns process 1's exit code. */
int inner_stage(const char *descriptor);
