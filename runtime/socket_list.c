#include "runtime/socket_list.h"

#include "base/vector.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { ANSWER_BYTES = 1 << 16, ATTEMPTS = 5, KERNEL_MINOR_BITS = 20 };

static bool dump_request(int netlink)
{
    struct {
        struct nlmsghdr header;
        struct unix_diag_req request;
    } message = {
        .header =
            {
                .nlmsg_len = sizeof message,
                .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
            },
        .request =
            {
                .sdiag_family = AF_UNIX,
                .udiag_states = UINT32_MAX,
                .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS,
            },
    };
    return send(netlink, &message, sizeof message, 0) == (ssize_t)sizeof message;
}

static void socket_add(struct arena *arena, struct host_socket_list *list, const struct nlmsghdr *header)
{
    const struct unix_diag_msg *message = NLMSG_DATA(header);
    const struct rtattr *attribute = (const void *)(message + 1);
    size_t left = header->nlmsg_len - NLMSG_LENGTH(sizeof *message);
    struct host_socket found = {0};
    struct unix_diag_vfs place;
    bool placed = false;

    for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
        if (attribute->rta_type == UNIX_DIAG_NAME) {
            found.path = arena_copy(arena, RTA_DATA(attribute), RTA_PAYLOAD(attribute));
        } else if (attribute->rta_type == UNIX_DIAG_VFS && RTA_PAYLOAD(attribute) >= sizeof place) {
            memcpy(&place, RTA_DATA(attribute), sizeof place);
            placed = true;
        }
    }
    if (!placed || found.path == NULL)
        return; /* abstract or unnamed */
    found.inode = place.udiag_vfs_ino;
    found.device = makedev(place.udiag_vfs_dev >> KERNEL_MINOR_BITS,
                           place.udiag_vfs_dev & ((1U << KERNEL_MINOR_BITS) - 1));
    VECTOR_PUSH(arena, list, found);
}

enum dump { DUMP_MORE, DUMP_DONE, DUMP_AGAIN, DUMP_FAILED };

static enum dump answer_read(struct arena *arena, struct host_socket_list *list, const char *answer,
                             size_t length)
{
    bool interrupted = false;
    for (const struct nlmsghdr *header = (const void *)answer; NLMSG_OK(header, length);
         header = NLMSG_NEXT(header, length)) {
        interrupted = interrupted || (header->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
        if (header->nlmsg_type == NLMSG_ERROR) {
            const struct nlmsgerr *error = NLMSG_DATA(header);
            errno = -error->error;
            return DUMP_FAILED;
        }
        if (header->nlmsg_type == NLMSG_DONE)
            return interrupted ? DUMP_AGAIN : DUMP_DONE;
        if (header->nlmsg_type == SOCK_DIAG_BY_FAMILY &&
            header->nlmsg_len >= NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
            socket_add(arena, list, header);
    }
    return interrupted ? DUMP_AGAIN : DUMP_MORE;
}

static enum dump dump_once(struct arena *arena, struct host_socket_list *list, char *answer)
{
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    enum dump state = netlink >= 0 && dump_request(netlink) ? DUMP_MORE : DUMP_FAILED;
    while (state == DUMP_MORE) {
        ssize_t got = recv(netlink, answer, ANSWER_BYTES, MSG_TRUNC);
        if (got < 0 && errno == EINTR)
            continue;
        if (got > ANSWER_BYTES)
            errno = EMSGSIZE;
        state = got <= 0 || got > ANSWER_BYTES ? DUMP_FAILED : answer_read(arena, list, answer, (size_t)got);
    }
    int error = errno;
    if (netlink >= 0)
        close(netlink);
    errno = error;
    return state;
}

bool host_sockets_list(struct arena *arena, struct host_socket_list *list)
{
    char *answer = arena_alloc(arena, ANSWER_BYTES);
    uint32_t before = list->count;
    for (int i = 0; i < ATTEMPTS; i++) {
        list->count = before;
        enum dump state = dump_once(arena, list, answer);
        if (state != DUMP_AGAIN)
            return state == DUMP_DONE;
    }
    errno = EAGAIN;
    return false;
}
