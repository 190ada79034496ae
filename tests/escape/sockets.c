/* sockets.c - reaching who listens outside. */
#include "tests/escape/attempt.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static const char knock[] = "knock";

static void connect_tcp(char **arguments)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[0]))};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(descriptor, (const struct sockaddr *)&to, sizeof to);
}

static void connect_tcp6(char **arguments)
{
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(arguments[0]))};
    int descriptor = socket(AF_INET6, SOCK_STREAM, 0);

    inet_pton(AF_INET6, "::ffff:127.0.0.1", &to.sin6_addr);
    connect(descriptor, (const struct sockaddr *)&to, sizeof to);
}

static void send_udp(char **arguments)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[0]))};
    int descriptor = socket(AF_INET, SOCK_DGRAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sendto(descriptor, knock, sizeof knock, 0, (const struct sockaddr *)&to, sizeof to);
}

static socklen_t unix_address(struct sockaddr_un *to, const char *path, int abstract)
{
    *to = (struct sockaddr_un){.sun_family = AF_UNIX};
    strncpy(to->sun_path + abstract, path, sizeof to->sun_path - 2);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)abstract + strlen(path) + !abstract);
}

static void connect_unix(char **arguments)
{
    struct sockaddr_un to;
    socklen_t length = unix_address(&to, arguments[0], 0);

    connect(socket(AF_UNIX, SOCK_STREAM, 0), (const struct sockaddr *)&to, length);
}

static void connect_abstract(char **arguments)
{
    struct sockaddr_un to;
    socklen_t length = unix_address(&to, arguments[0], 1);

    connect(socket(AF_UNIX, SOCK_STREAM, 0), (const struct sockaddr *)&to, length);
}

/* One end of a pair is turned to a socket of the host. */
static void send_by_pair(char **arguments)
{
    struct sockaddr_un to;
    socklen_t length = unix_address(&to, arguments[0], 0);
    int ends[2] = {-1, -1};

    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    sendto(ends[0], knock, sizeof knock, 0, (const struct sockaddr *)&to, length);
    connect(ends[0], (const struct sockaddr *)&to, length);
    send(ends[0], knock, sizeof knock, 0);
}

struct ring {
    int descriptor;
    struct io_uring_params about;
    char *submissions, *entries;
};

/* Makes one call through the ring and returns its result. */
static int ring_call(struct ring *ring, struct io_uring_sqe entry)
{
    unsigned *tail, *array;
    char *completions;

    memcpy(ring->entries, &entry, sizeof entry);
    tail = (void *)(ring->submissions + ring->about.sq_off.tail);
    array = (void *)(ring->submissions + ring->about.sq_off.array);
    unsigned *head = (void *)(ring->submissions + ring->about.cq_off.head);
    array[*tail & (ring->about.sq_entries - 1)] = 0;
    *tail += 1;
    if (syscall(SYS_io_uring_enter, ring->descriptor, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
        return -1;
    completions = ring->submissions + ring->about.cq_off.cqes;
    const struct io_uring_cqe *done =
        (const void *)(completions + (*head & (ring->about.cq_entries - 1)) * sizeof *done);
    int result = done->res;
    *head += 1;
    return result;
}

/* Socket and connection by io_uring, whose calls a filter does not see. */
static void connect_by_ring(char **arguments)
{
    enum { SIZE = 65536 };
    struct ring ring = {0};
    struct sockaddr_un to;
    socklen_t length = unix_address(&to, arguments[0], 0);

    ring.descriptor = (int)syscall(SYS_io_uring_setup, 4, &ring.about);
    if (ring.descriptor < 0)
        return;
    ring.submissions =
        mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, ring.descriptor, IORING_OFF_SQ_RING);
    ring.entries = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring.descriptor, IORING_OFF_SQES);
    if (ring.submissions == MAP_FAILED || ring.entries == MAP_FAILED)
        return;
    struct io_uring_sqe make = {
        .opcode = IORING_OP_SOCKET, .fd = AF_UNIX, .off = SOCK_STREAM, .len = 0, .user_data = 1};
    int descriptor = ring_call(&ring, make);
    struct io_uring_sqe join = {
        .opcode = IORING_OP_CONNECT, .fd = descriptor, .addr = (uint64_t)&to, .off = length, .user_data = 2};
    ring_call(&ring, join);
}

/* FAMILY TYPE PROTOCOL */
static void make_socket(char **arguments)
{
    hold_descriptor(socket(atoi(arguments[0]), atoi(arguments[1]), atoi(arguments[2])));
}

static void listen_tcp(char **arguments)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[0]))};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    bind(descriptor, (const struct sockaddr *)&here, sizeof here);
    listen(descriptor, 1);
    hold();
}

const struct attempt socket_attempts[] = {
    {"connect-tcp", connect_tcp},
    {"connect-tcp6", connect_tcp6},
    {"send-udp", send_udp},
    {"connect-unix", connect_unix},
    {"connect-abstract", connect_abstract},
    {"send-by-pair", send_by_pair},
    {"connect-by-ring", connect_by_ring},
    {"make-socket", make_socket},
    {"listen-tcp", listen_tcp},
    {NULL, NULL},
};
