/* sbx.h - libsbx: ask an sbx policy what it allows, from a program that does its file work in its own
 * process.
 *
 *   struct sbx_error error;
 *   struct sbx_policy *policy = sbx_load("project.bin", &error);
 *   if (policy == NULL || sbx_bind(policy, &(struct sbx_binding){.this_host = true}, &error) != SBX_OK)
 *       give_up(error.message);
 *   if (sbx_check(policy, SBX_READ, path) == SBX_ALLOW)
 *       ...
 *   sbx_free(policy);
 *
 * There is no global state and nothing is printed. Whatever goes wrong is closed: a policy that is not bound,
 * or an argument that cannot be asked about, is answered with SBX_DENY. After sbx_bind the checks only read:
 * any number of threads may make them at once, and they allocate nothing. All other functions need the policy
 * for themselves.
 */
#ifndef SBX_H
#define SBX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sbx_policy;

enum sbx_status {
    SBX_OK,
    SBX_OUT_OF_MEMORY,
    SBX_UNREADABLE,  /* the file cannot be opened or read */
    SBX_DAMAGED,     /* not a whole, undamaged .bin file of a version that this library knows */
    SBX_NOT_MANAGED, /* sbx_restrict with a policy that is not a managed one */
    SBX_UNBOUND      /* a root or variable cannot be bound, or may not be bound so */
};

/* What went wrong, for a person: UTF-8 without control characters. Filled on failure only. */
struct sbx_error {
    enum sbx_status status;
    char message[512];
};

/* Reads a .bin file. NULL on failure. `error` may be NULL, here and below. */
struct sbx_policy *sbx_load(const char *path, struct sbx_error *error);

/* The same from memory; the bytes are not needed afterwards. */
struct sbx_policy *sbx_load_bytes(const void *bytes, size_t length, struct sbx_error *error);

/* Adds a managed policy, which only narrows. `policy` is unbound afterwards; `managed` may be freed. */
enum sbx_status sbx_restrict(struct sbx_policy *policy, const struct sbx_policy *managed,
                             struct sbx_error *error);

void sbx_free(struct sbx_policy *policy);

/* The policy's name, and its effective hash as "sha256:HEX". They live as long as the policy. */
const char *sbx_name(const struct sbx_policy *policy);
const char *sbx_hash(const struct sbx_policy *policy);

enum sbx_system { SBX_LINUX, SBX_MACOS, SBX_WINDOWS };

struct sbx_value {
    const char *name, *value;
};

struct sbx_binding {
    /* Look for roots that are not given, and for the environment if none is given, on this machine, resolve
     * links in denied paths and leave `system` aside. Else only what is given here counts. */
    bool this_host;
    enum sbx_system system;
    const struct sbx_value *roots; /* "WORK", "HOME", ... and an absolute path; "GITDIR" may repeat */
    size_t root_count;
    const struct sbx_value *environment;
    size_t environment_count;
    const char *command; /* whose `when command` rules hold, or NULL */
};

/* Binds roots and makes the policy ready for checks. What `binding` points to is not needed afterwards.
 * Binding again replaces the binding before; after a failure the policy is unbound. */
enum sbx_status sbx_bind(struct sbx_policy *policy, const struct sbx_binding *binding,
                         struct sbx_error *error);

enum sbx_operation { SBX_READ, SBX_WRITE, SBX_EXEC, SBX_SOCKET };

enum sbx_answer {
    SBX_DENY,
    SBX_ALLOW,
    SBX_DEPENDS /* of sbx_check_connect for a name: the address that it resolves to decides */
};

/* Whether the policy allows `operation` on `path`: absolute and normalised ("/a/b"; no "//", "." or "..", no
 * '/' at the end). The answer is about this spelling: ask about the path as realpath(3) gives it, and open it
 * so that nobody can put a link in its way (openat2 with RESOLVE_NO_SYMLINKS). SBX_SOCKET is about an
 * existing Unix socket; to make one needs SBX_WRITE too. */
enum sbx_answer sbx_check(const struct sbx_policy *policy, enum sbx_operation operation, const char *path);

enum sbx_protocol { SBX_TCP = 1, SBX_UDP = 2 };

/* A connection: by name (`name`, NULL if none was used), to an address (4 or 16 bytes in network order;
 * length 0 if it is not known yet), to a port. */
enum sbx_answer sbx_check_connect(const struct sbx_policy *policy, const char *name, const void *address,
                                  size_t address_length, uint16_t port, enum sbx_protocol protocol);

/* Whether the command may be reached at this address and port from outside. */
enum sbx_answer sbx_check_listen(const struct sbx_policy *policy, const void *address, size_t address_length,
                                 uint16_t port, enum sbx_protocol protocol);

/* Whether the environment variable passes in; whether the service is open. */
enum sbx_answer sbx_check_env(const struct sbx_policy *policy, const char *name);
enum sbx_answer sbx_check_service(const struct sbx_policy *policy, const char *name);

#ifdef __cplusplus
}
#endif

#endif
