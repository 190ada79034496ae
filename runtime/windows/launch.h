/* launch.h - one launch on Windows from beginning to end, in order. */
#pragma once

#include "runtime/options.h"

/* Runs the command of `options` under its policy; returns the launcher's exit code (commands.md). */
uint32_t windows_launch(struct arena *arena, const struct options *options);

/* --recover: takes back what runs left whose launcher is gone; exit 0 if nothing is left, else 125. */
uint32_t windows_recover(struct arena *arena);

/* --doctor: says what runs of this user have changed on this machine. Changes nothing. */
uint32_t windows_doctor(struct arena *arena);
