#include "runtime/turn.h"

#include "base/escape.h"
#include "runtime/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static int open_turn(struct arena *arena, const char *state)
{
    int directory = state_open(arena, state);
    if (directory < 0)
        return -1;
    int file = openat(directory, "turn", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    close(directory);
    return file;
}

static bool wait_for(int turn)
{
    const struct timespec pause = {.tv_nsec = 2 * 1000 * 1000};
    for (int i = 0; i < TURN_SECONDS * 500; i++) {
        if (flock(turn, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return true; /* no locks on this file system */
        nanosleep(&pause, NULL);
    }
    return false;
}

int turn_begin(struct arena *arena, const char *state, const char *directory, struct note_list *notes)
{
    int turn = open_turn(arena, state);
    if (turn < 0)
        turn = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (turn >= 0 && wait_for(turn))
        return turn;
    note_add(notes,
             (struct note){
                 .code = SBX468_NO_TURN,
                 .text = turn < 0
                             ? arena_format(arena, "%s: %s", escape_string(arena, directory), strerror(errno))
                             : arena_format(arena, "another launch has held its turn for %d seconds",
                                            (int)TURN_SECONDS),
                 .help = "look for an sbx-launch that hangs: pgrep -a sbx-launch",
             });
    turn_end(turn);
    return -1;
}

void turn_end(int turn)
{
    if (turn >= 0)
        close(turn);
}
