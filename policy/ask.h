/* ask.h - the argument of a question (`sbxc why FILE OP ARG`) read into what can be decided. Private to
 * policy/. */
#pragma once

#include "policy/bind.h"

/* A name or address with its port: HOST:PORT, [v6]:PORT, with /udp at the end or nothing for TCP. False
 * with *error set. */
bool ask_endpoint(struct arena *arena, const char *argument, size_t length, struct endpoint *endpoint,
                  const char **error);

/* What is wrong with the name of a variable or service, whose text ends at the first zero byte; NULL if
 * nothing is. What passes can be written behind `grant env`. */
const char *ask_name_fault(const char *name, size_t length);

/* The paths that `argument` stands for: bytes as they are, a leading ~ or $NAME as the root. False with
 * *error set. */
bool ask_paths(struct arena *arena, const struct bound_policy *bound, const char *argument, size_t length,
               struct bound_paths *paths, const char **error);

/* `path` as the language writes it, below the nearest root. */
const char *ask_path_text(struct arena *arena, const struct bound_policy *bound, const char *path);
