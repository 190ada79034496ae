/* evidence.h - what was measured of each control before the command started: the lease's list. */
#pragma once

#include "runtime/lease.h"
#include "runtime/windows/prepare.h"

struct evidence_facts {
    const struct resolved_spec *resolved;
    uint32_t variables;  /* that the command gets */
    const char *scratch; /* its path, or NULL */
    bool verified;       /* false: the build for tests went on without */
};

/* One entry for each control that the specification claims. NULL, or the control that it does not know. */
const char *evidence_list(struct arena *arena, const struct evidence_facts *facts,
                          struct lease_control_list *controls);
