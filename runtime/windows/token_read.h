/* token_read.h - what Windows says about a token, in memory that an arena holds. Windows only. */
#pragma once

#include "emitters/windows_descriptor.h"

#include <windows.h>

/* The answer of GetTokenInformation, or NULL with GetLastError. */
void *token_read(struct arena *arena, HANDLE token, TOKEN_INFORMATION_CLASS about);

/* A number: TokenIsAppContainer and the like. False with GetLastError. */
bool token_read_number(HANDLE token, TOKEN_INFORMATION_CLASS about, DWORD *number);

/* A SID of Windows as bytes; length 0 if it is none, such as NULL. */
struct windows_sid sid_from(PSID sid);

/* The SID where Windows may read it, aligned, in `arena`. */
PSID sid_to(struct arena *arena, const struct windows_sid *sid);

/* The SID that `text` names, which must be one. */
struct windows_sid sid_named(const char *text);
