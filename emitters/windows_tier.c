#include "emitters/windows_spec.h"

const char *const windows_tier_names[WINDOWS_TIERS] = {
    [WINDOWS_RESTRICTED] = "restricted",
    [WINDOWS_RESTRICTED_LOW] = "restricted-low",
    [WINDOWS_APPCONTAINER] = "appcontainer",
};

struct windows_label windows_label_on(const struct windows_label *label, const struct windows_label *around)
{
    struct windows_label both = *label;
    if (around->present && around->level == WINDOWS_MEDIUM)
        both.policy |= around->policy;
    return both;
}
