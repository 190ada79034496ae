/* findings.h - what the threads of a walk find, kept until the walk is over and then in one order whatever
 * thread was first. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct finding {
    char *path;
    uint32_t number;    /* whatever the finder tells apart by it */
    unsigned char type; /* a DT_ value */
    int error;          /* errno of a directory that cannot be listed, else 0 */
};

struct findings {
    pthread_mutex_t lock;
    struct finding *items;
    size_t count, capacity;
};

void findings_begin(struct findings *findings);

/* Adds a copy; may be called by several threads. False: out of memory. */
bool findings_add(struct findings *findings, const char *path, struct finding finding);

/* By the paths' bytes, then by number. */
void findings_sort(struct findings *findings);

void findings_end(struct findings *findings);
