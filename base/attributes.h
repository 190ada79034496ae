/* attributes.h - the only place where compiler extensions are named. */
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define SBX_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define SBX_NORETURN __attribute__((noreturn))
#define SBX_MUST_USE __attribute__((warn_unused_result))
#define SBX_MALLOC __attribute__((malloc, returns_nonnull))
#define SBX_API __attribute__((visibility("default")))
#else
#define SBX_PRINTF(text, first)
#define SBX_NORETURN
#define SBX_MUST_USE
#define SBX_MALLOC
#define SBX_API
#endif
