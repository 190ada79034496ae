/* token_model.h - a token of Windows as the access check of emitters/windows_access.h knows it. Windows
 * only. */
#pragma once

#include "emitters/windows_access.h"
#include "runtime/windows/identity.h"

struct token_models {
    struct windows_token command; /* in the sandbox */
    struct windows_token caller;  /* without it */
};

/* Reads the groups of `token` (token_make's) and of the caller. What the tier adds, a restricting list or a
 * package, comes from the specification: token_verify has asked for it. False with an error note. */
bool token_model(struct arena *arena, const struct windows_spec *spec,
                 const struct windows_identity *identity, void *token, struct token_models *models,
                 struct note_list *notes);
