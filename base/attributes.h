/* attributes.h - the only place where compiler extensions are named. */
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#ifdef _WIN32 /* where "printf" means what Microsoft's takes */
#define SBX_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define SBX_PRINTF(text, first) __attribute__((format(printf, text, first)))
#endif
#define SBX_NORETURN __attribute__((noreturn))
#define SBX_MUST_USE __attribute__((warn_unused_result))
#define SBX_MALLOC __attribute__((malloc, returns_nonnull))
#define SBX_API __attribute__((visibility("default")))
/* A function for processors that have the instructions for SHA-256: its caller has asked. */
#define SBX_SHA_INSTRUCTIONS __attribute__((target("sha,sse4.1")))
#else
#define SBX_PRINTF(text, first)
#define SBX_NORETURN
#define SBX_MUST_USE
#define SBX_MALLOC
#define SBX_API
#define SBX_SHA_INSTRUCTIONS
#endif

/* Whether memory is watched by the address sanitizer. */
#if defined(__SANITIZE_ADDRESS__)
#define SBX_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SBX_SANITIZED 1
#endif
#endif
#ifndef SBX_SANITIZED
#define SBX_SANITIZED 0
#endif
