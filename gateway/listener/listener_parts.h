/* listener_parts.h - the parts of a listener: an acceptor for each loop, its daemons, their
 * connections and requests. Only for the inside of the listener; all other code uses listener.h and
 * exchange.h. Only the thread of the loop touches them, except where acceptor.h says "any thread".
 * The source of each part has its invariants. */
#ifndef WRIT_GATEWAY_LISTENER_PARTS_H
#define WRIT_GATEWAY_LISTENER_PARTS_H

#include "gateway/http/ipport.h"
#include "gateway/io/loop.h"
#include "gateway/listener/listener_types.h"

#include <microhttpd.h>
#include <stdatomic.h>

struct writ_acceptor;
struct writ_certificate;
struct writ_connection;
struct writ_daemon;
struct writ_incoming;
struct writ_linger;
struct writ_site;

/** The callbacks of a daemon. Its owner sets them, so that a daemon does not depend on requests. */
struct writ_daemon_callbacks {
    void *(*on_line)(void *cls, const char *uri, struct MHD_Connection *mhd);
    MHD_AccessHandlerCallback on_access;
    MHD_RequestCompletedCallback on_completed;
    MHD_NotifyConnectionCallback on_notify;
};

#define WRIT_DRAIN_GRACE_US                                                                        \
    1000000 /* how long a connection may be idle while the listener drains */

/** One loop's share of a listener. */
struct writ_acceptor {
    const struct writ_listener_options *options; /* with the defaults filled in */
    const struct writ_site *site;
    const struct writ_daemon_callbacks *callbacks;
    struct writ_loop *loop;
    struct writ_metrics_shard *metrics;
    int fd;       /* listening; -1 once it drains */
    int spare_fd; /* closed to accept and drop a connection when no descriptor is left */
    struct writ_watch watch;
    struct writ_timer sweep, poke;
    struct writ_task run;
    struct writ_daemon *daemons;
    struct writ_connection *connections;
    unsigned connection_count;
    atomic_uint connections_seen;      /* the same for other threads */
    struct writ_connection *adding;    /* while MHD_add_connection runs */
    struct writ_incoming *spares;      /* kept for the next requests */
    unsigned spare_count, spare_least; /* now, and the fewest since the last sweep */
    struct writ_incoming *gone; /* their clients have left, and their handlers have not answered */
    unsigned exchanges;         /* not answered yet */
    unsigned answers;           /* queued and not yet out */
    atomic_uint exchanges_seen; /* both together, for other threads */
    size_t bodies_bytes;        /* that requests hold */
    struct writ_linger *lingers;
    unsigned linger_count;
    bool draining, closing;
    struct writ_task settle; /* once it drains and has read what was there */
    atomic_bool settled;
    struct writ_certificate *certificate; /* for new daemons; NULL: plain HTTP */
    _Atomic(struct writ_certificate *) next_certificate;
    atomic_bool reload_posted;
    struct writ_post drain_post, reload_post;
};

/** One libmicrohttpd daemon. */
struct writ_daemon {
    struct MHD_Daemon *mhd;
    struct writ_acceptor *acceptor;
    struct writ_watch watch; /* the daemon's epoll descriptor */
    unsigned connections;
    unsigned waiting; /* open exchanges whose connection is not suspended */
    unsigned runs;    /* further runs that the daemon needs before the turn ends */
    unsigned spins;   /* runs in a row without a poke */
    int64_t rest_us;  /* until the next run, after too many */
    struct writ_certificate *certificate; /* NULL: plain HTTP */
    bool retired;                         /* takes no new connections; stops when it has none */
    struct writ_daemon *next;
};

/** The phase of a connection, which determines its deadline. */
enum writ_connection_phase {
    WRIT_CONNECTION_FRESH = 0, /* nothing has been read yet */
    WRIT_CONNECTION_HEAD,
    WRIT_CONNECTION_BODY,
    WRIT_CONNECTION_OPEN,  /* a handler works: no deadline */
    WRIT_CONNECTION_WRITE, /* an answer is going out */
    WRIT_CONNECTION_IDLE,  /* between two requests */
};

/** One accepted socket. */
struct writ_connection {
    uint32_t magic;
    int fd; /* libmicrohttpd's; it closes it */
    struct MHD_Connection *mhd;
    struct writ_daemon *daemon;
    struct writ_incoming *request; /* the one in progress */
    struct writ_watch watch;       /* FIN, reset */
    struct writ_timer probe;
    int64_t probe_after_us; /* -1: no probe */
    enum writ_connection_phase phase;
    int64_t deadline_us; /* 0: none */
    bool fin;            /* the client will send nothing more */
    bool dead;           /* reset, or shut down by the gateway */
    bool closed;         /* libmicrohttpd has closed it; freed when its request is */
    bool refused;        /* the answer may meet unread bytes */
    bool suspended;
    bool held; /* suspended because its body is stalled; the watch waits for bytes */
    void (*on_room)(struct writ_connection *connection); /* while it is suspended until the socket
                                                            takes bytes; or NULL */
    uint64_t taken; /* bytes that libmicrohttpd has taken from the socket, at the last sweep */
    bool ignored;   /* bytes waited in the socket at the last sweep */
    bool certificate_checked;
    struct writ_peer peer;
    struct writ_view local; /* our address on this connection, when the listener has a wildcard; or
                               empty */
    char address[WRIT_IPPORT_TEXT], local_text[WRIT_IPPORT_TEXT];
    char *certificate; /* memory of peer.certificate_* */
    struct writ_connection *next, **link;
};

enum writ_incoming_state {
    WRIT_INCOMING_HEAD = 0, /* the request line was read */
    WRIT_INCOMING_BODY,     /* the head was accepted; the body is coming */
    WRIT_INCOMING_OPEN,     /* the handler has it */
    WRIT_INCOMING_STREAM,   /* the handler writes a stream */
    WRIT_INCOMING_ANSWERED, /* whole answer queued; the handler is done with it */
};

#define WRIT_INCOMING_LAST (WRIT_EXCHANGE_LAST + 2)

/** An exchange with the parts that its handler must not see. */
struct writ_incoming {
    struct writ_exchange x; /* first: the handler's pointer is this struct's */
    uint32_t magic;
    enum writ_incoming_state state;
    struct writ_acceptor *acceptor;
    struct writ_connection *connection; /* lives at least as long as this */
    const struct writ_route *route;
    bool detached; /* libmicrohttpd is done with it: nothing can be sent */
    bool busy;     /* inside MHD_queue_response: do not free yet */
    bool failed;   /* the connection closes without an end of the answer */
    bool waiting;  /* counted in daemon->waiting */

    struct writ_buf target; /* the request target as it was sent */
    const char *target_at;  /* libmicrohttpd's copy */
    struct writ_view raw;   /* libmicrohttpd's copy of the head; only pointers are compared later */
    struct writ_buf head;   /* names and values, copied */
    struct writ_buf body;
    struct writ_buf scratch; /* one field of the answer, NUL-terminated */
    struct writ_header *headers;
    size_t header_count, header_room;

    struct writ_buf queue; /* of a stream */
    size_t queue_sent;     /* the bytes of it that libmicrohttpd has taken */
    size_t touched;        /* of libmicrohttpd's memory for it, since it was given back */
    struct writ_view last[WRIT_INCOMING_LAST]; /* what is left of the bytes after it: those that
                                                  the handler gave, and what makes them a chunk */
    char chunk_line[20];                       /* of `last` */
    bool ended;                                /* nothing more will be written */
    bool starved;                              /* a write was refused; on_room is owed */
    int64_t wrote_us;                          /* when the queue last moved */
    int64_t heartbeat_us;

    void (*on_gone)(struct writ_exchange *x, void *ctx);
    void *on_gone_ctx;
    void (*on_room)(struct writ_exchange *x, void *ctx);
    void *on_room_ctx;
    struct writ_task gone_task, room_task;

    struct writ_incoming *next, **link; /* among the spare ones, or those whose client has left */
};

#endif
