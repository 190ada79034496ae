/* control_words.h - how the entries of control tables are written (control.h). */
#pragma once

#include "emitters/control.h"

#define HELD(text)                                                                                           \
    {                                                                                                        \
        STRENGTH_ENFORCED, text, NULL                                                                        \
    }
#define AT_LAUNCH(text)                                                                                      \
    {                                                                                                        \
        STRENGTH_SNAPSHOT, text, NULL                                                                        \
    }
#define CANNOT(text, otherwise)                                                                              \
    {                                                                                                        \
        STRENGTH_UNENFORCEABLE, text, otherwise                                                              \
    }
#define OF_MACOS(otherwise) CANNOT("this is a service of macOS; Linux has none of its kind", otherwise)
