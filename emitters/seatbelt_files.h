/* seatbelt_files.h - the part of a profile about files, programs and Unix sockets by path.
 *
 * At every operation the last rule that matches decides, for each rule names the same operations: an
 * operation and its wildcard in one rule, since of those two the single one would win over the wildcard in
 * either order. So what opens comes first, then what closes.
 */
#pragma once

#include "emitters/seatbelt_order.h"

/* The policy's rules about paths, as the sections need them. */
struct file_rules {
    struct placed_grants automatic, configured, sockets;
    struct placed_grants denies, socket_denies, exec_denies;
};

struct file_rules file_rules_of(struct profile *profile);

/* What opens: automatic grants, then configured ones, then sockets. */
void profile_grants(struct profile *profile, const struct file_rules *rules);

/* What closes: lists of managed limits; then, after what the system always needs, denies. */
void profile_limits(struct profile *profile);
void profile_denies(struct profile *profile, const struct file_rules *rules);
void profile_exec_denies(struct profile *profile, const struct file_rules *rules);

/* Directories that must stay where they are, since a deny or a lower level holds somewhere below them. */
void profile_pins(struct profile *profile, const struct file_rules *rules);

/* Directories that lead to what is open: they can be looked up whatever else is said of them. */
void profile_passage(struct profile *profile, const struct file_rules *rules);

/* Every operation by which a file is read, changed or used as a socket, for the heads of rules. */
#define READ_OPERATIONS                                                                                      \
    "file-read* file-read-data file-read-metadata file-read-xattr file-test-existence process-exec*"
#define WRITE_OPERATIONS                                                                                     \
    "file-write* file-write-acl file-write-create file-write-data file-write-flags file-write-mode\n"        \
    "  file-write-owner file-write-times file-write-unlink file-write-xattr file-link file-clone"
#define SOCKET_OPERATIONS "network-outbound network-inbound network-bind"
