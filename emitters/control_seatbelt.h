/* control_seatbelt.h - how the Seatbelt of macOS holds each control (control.h). */
#pragma once

#include "emitters/control.h"
#include "emitters/target.h"

extern control_table control_seatbelt;

/* The table's entry, narrowed by what the policy says. */
struct control_entry control_seatbelt_entry(const struct bound_policy *bound, enum control control);

/* Checks what only the launcher holds, for a profile that is started without it. False with error notes. */
bool control_seatbelt_text(const struct emit_request *request);
