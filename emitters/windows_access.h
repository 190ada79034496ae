/* windows_access.h - which rights Windows gives a token on an object ([MS-DTYP] 2.5.3), on any system.
 *
 * Where it is not known what Windows does there are two readings: what holds in the strict one is allowed for
 * certain, what does not hold in the loose one is denied for certain.
 */
#pragma once

#include "emitters/windows_descriptor.h"

enum windows_reading { WINDOWS_STRICT, WINDOWS_LOOSE };

/* How a token holds a SID. */
enum windows_holding {
    WINDOWS_ENABLED,
    WINDOWS_DENY_ONLY, /* for denies alone */
    /* Whether it is enabled is not known: for denies alone in the strict reading, for allows alone in the loose
     * one. */
    WINDOWS_UNCERTAIN
};

struct windows_holder {
    struct windows_sid sid;
    enum windows_holding holding;
};

struct windows_holders {
    const struct windows_holder *items;
    uint32_t count;
};

/* Integrity levels, the last part of S-1-16-N. */
enum { WINDOWS_LEVEL_LOW = 0x1000, WINDOWS_LEVEL_MEDIUM = 0x2000, WINDOWS_LEVEL_HIGH = 0x3000 };

struct windows_token {
    struct windows_holders holders; /* the user and the groups */
    /* The restricting list: a second look with these alone; none: no second look. How they are held does not
     * matter there. */
    struct windows_holders restricting;
    bool write_restricted; /* the second look is at rights to write alone */
    /* Of an AppContainer its package (the first), the capabilities and ALL APPLICATION PACKAGES: a look with these
     * alone; none: it is no AppContainer. */
    struct windows_holders package;
    uint32_t integrity;
};

/* Rights of files and directories. */
enum {
    WINDOWS_RIGHT_READ = 0x1,     /* list a directory */
    WINDOWS_RIGHT_WRITE = 0x2,    /* add a file */
    WINDOWS_RIGHT_APPEND = 0x4,   /* add a directory */
    WINDOWS_RIGHT_EXECUTE = 0x20, /* traverse */
    WINDOWS_RIGHT_DELETE_CHILD = 0x40,
    WINDOWS_RIGHT_DELETE = 0x10000,
    WINDOWS_RIGHT_READ_CONTROL = 0x20000,
    WINDOWS_RIGHT_WRITE_DAC = 0x40000,
    WINDOWS_RIGHT_WRITE_OWNER = 0x80000,
    WINDOWS_FILE_READ = 0x120089, /* what the generic rights stand for */
    WINDOWS_FILE_WRITE = 0x120116,
    WINDOWS_FILE_EXECUTE = 0x1200a0,
    WINDOWS_FILE_ALL = 0x1f01ff
};

/* A mask with its generic rights as rights of files. */
uint32_t windows_file_rights(uint32_t mask);

/* All rights that the token gets on the object: it may open it for any of them together. */
uint32_t windows_access(const struct windows_token *token, const struct windows_descriptor *descriptor,
                        enum windows_reading reading);
