/* seatbelt_base.h - the fixed parts of a profile: what every program needs, and what `deny default` would
 * leave open.
 *
 * About fifty operations stay allowed under (deny default). Each is closed here, or left open with its
 * reason beside it. Only operations and filters that macOS 13 and every later version knows are named: one
 * unknown name, and the whole profile is refused.
 */
#pragma once

#include "emitters/seatbelt_write.h"

/* Processes, signals, system values, Mach services: nothing here opens a file or the network. */
void profile_base(struct profile *profile);

/* Devices without content, and the terminal that was given. They come after the lists of managed limits. */
void profile_devices(struct profile *profile);
