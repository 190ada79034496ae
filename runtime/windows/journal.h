/* journal.h - what a run changes on objects of the machine, written down before it is changed, so that it can
 * be taken back when the run ends and, if that did not happen, when the next one starts.
 *
 * One file a run, in the state directory of the user (journal_store.h): records that are only ever added,
 * each with a checksum, on the disk before what they announce is done. The launcher that lives holds a lock
 * on its file; a file whose lock can be taken has lost its launcher. Layout: journal_record.h.
 *
 * Each change is made with the turn held (journal_store.h), so that no two launchers of a user read, edit and
 * write one descriptor at once. Taking back removes the entries that name the run's own SIDs, from the
 * descriptor as it is then; whatever else was done to an object meanwhile stays (revert.h).
 */
#pragma once

#include "emitters/windows_spec.h"
#include "runtime/windows/acl.h"

struct journal;
struct journal_store;

struct journal_run {
    uint8_t policy_hash[32];
    const char *package; /* name of the AppContainer profile, removed when all is taken back; NULL: none */
};

/* Removes the profile of an AppContainer: package_remove, or a stand-in. */
typedef bool journal_remove_package(const char *name);

struct journal_place {
    struct arena *arena; /* outlives the journal */
    const struct journal_store *store;
    const struct acl_operations *acl;
    journal_remove_package *remove_package; /* NULL: there are none on this machine */
    bool (*stop)(void *context);            /* asked now and then while a tree is changed; NULL: never */
    void *stop_context;
};

/* Sentences for a person, in the journal's arena. */
struct journal_sentences {
    const char **items;
    uint32_t count, capacity;
};

/* Opens a journal of its own for this run; NULL with *error set if it cannot be kept (nothing may be changed
 * then). Call journal_recover first. */
struct journal *journal_begin(const struct journal_place *place, const struct journal_run *run,
                              const char **error);

/* What is put on one object. The entries are explicit ones and name SIDs of this run alone
 * (journal_sid_is_own); flags are 0 or WINDOWS_OBJECT_INHERIT | WINDOWS_CONTAINER_INHERIT. */
struct journal_change {
    const struct windows_entry *entries;
    uint32_t count;
    const struct windows_entry *label; /* NULL: the label stays */
};

/* Writes it down, changes `object` (open for ACL_WRITE, and ACL_WRITE_LABEL with a label), reads back and
 * compares. An object without a DACL gets one that opens it to everybody as before. May be called again
 * for an object. NULL, or what went wrong: the run must not start then. */
const char *journal_apply(struct journal *journal, struct acl_object *object,
                          const struct journal_change *change);

/* Puts an empty directory (`content` NULL) or a file with `content` at `path`, where nothing is, and makes
 * and opens it as acl_operations.make does, with the DACL of `first` or what it inherits. ACL_EXISTS if something is there by now: look again. Any other error is
 * in *error. */
uint32_t journal_placeholder(struct journal *journal, const char *path, const char *content,
                             const struct windows_descriptor *first, struct acl_object **object,
                             const char **error);

/* Carries every inheriting entry and label of this run on to all that lies below, once all objects have
 * theirs (spread.h). What is left out on purpose goes to `notes`. NULL, or what went wrong. */
const char *journal_spread(struct journal *journal, struct journal_sentences *notes);

/* Takes everything back and removes the file; what could not be taken back now stays in it for a later start,
 * and *left says what. NULL journal is allowed. */
void journal_end(struct journal *journal, struct journal_sentences *left);

/* Takes back what runs left whose launcher is gone. Never an obstacle to a new run: *left says what stays,
 * and why; `done` (or NULL) what was taken back. */
void journal_recover(const struct journal_place *place, struct journal_sentences *done,
                     struct journal_sentences *left);

/* What is on the machine of this user's runs, living and dead, changed or not: one sentence each. */
void journal_doctor(const struct journal_place *place, struct journal_sentences *found);

/* Whether only a run of this program can have drawn `sid`: S-1-5-21 with four random numbers, or the SID
 * of an AppContainer. */
bool journal_sid_is_own(const struct windows_sid *sid);
