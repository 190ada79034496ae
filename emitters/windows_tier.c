#include "emitters/windows_spec.h"

const char *const windows_tier_names[WINDOWS_TIERS] = {
    [WINDOWS_RESTRICTED] = "restricted",
    [WINDOWS_RESTRICTED_LOW] = "restricted-low",
    [WINDOWS_APPCONTAINER] = "appcontainer",
};
