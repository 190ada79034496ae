/* reader.h - artifacts read back: what one really does, by the rules of whoever carries it out.
 *
 * A reader shares nothing with the emitter whose work it judges.
 */
#pragma once

#include "emitters/questions.h"

/* One side of a comparison: who answers questions of some kinds. An artifact may have several, each with
 * what the policy promises of that part. */
struct reader {
    void *state;
    unsigned kinds; /* bits 1 << enum query_kind */
    struct reply (*answer)(const void *state, const struct query *query);
    /* Adds what the artifact itself lists; NULL: nothing of its own. */
    void (*list)(const void *state, struct query_set *set);
    /* Takes from a copy of the bound policy the rules that this part is not meant to hold (accepted
     * exceptions, what other parts say); NULL: none. The copy is sealed again. */
    void (*promise)(struct bound_policy *bound);
    /* What the policy says of questions that are the target's own, such as syscalls; NULL: policy_answer. */
    struct reply (*expect)(const void *state, const struct query *query);
    /* Frees what does not lie in the arena; NULL: nothing. To be called once for each reader at the end. */
    void (*close)(const void *state);
};

struct reader_list {
    struct reader *items;
    uint32_t count, capacity;
};

struct read_request {
    struct arena *arena;
    const char *bytes;
    size_t length;
    const struct bound_policy *bound; /* the policy: its system and roots are those of the artifact */
    const char *architecture;         /* of the seccomp target */
};

/* Adds an artifact's readers. False with *error set if the bytes are no artifact of the target at all. */
typedef bool artifact_read(const struct read_request *request, struct reader_list *readers,
                           const char **error);

artifact_read read_bin;
artifact_read read_bwrap_args;
artifact_read read_seccomp;
artifact_read read_json;
artifact_read read_seatbelt;
artifact_read read_windows;

/* The reader for a target's artifacts, or NULL: what such an artifact does depends on where it runs, and
 * it can only be compared with what would be written. */
artifact_read *reader_for(const char *target);

/* What `line` of a reply counts in such an artifact: "line", "word", "instruction". */
const char *reader_unit(const char *target);
