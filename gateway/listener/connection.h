/* connection.h - one accepted socket, and what libmicrohttpd asks about it. Inside of the listener.
 */
#ifndef WRIT_GATEWAY_CONNECTION_H
#define WRIT_GATEWAY_CONNECTION_H

#include "gateway/listener/acceptor.h"
#include "gateway/listener/daemon.h"
#include "gateway/http/ipport.h"
#include "gateway/listener/incoming.h"

/** Where a connection stands, which says what may take how long. */
enum writ_connection_phase {
    WRIT_CONNECTION_FRESH = 0, /* nothing has been read yet */
    WRIT_CONNECTION_HEAD,
    WRIT_CONNECTION_BODY,
    WRIT_CONNECTION_OPEN,  /* a handler works: no deadline of ours */
    WRIT_CONNECTION_WRITE, /* an answer is going out */
    WRIT_CONNECTION_IDLE,  /* between two requests */
};

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
    bool dead;           /* reset, or shut down by us */
    bool closed;         /* libmicrohttpd has closed it; freed when its request is */
    bool refused;        /* our answer may meet unread bytes */
    bool suspended;
    bool held;      /* suspended because its body stands still; the watch waits for bytes */
    uint64_t taken; /* bytes that libmicrohttpd has taken from the socket, at the last sweep */
    bool ignored;   /* bytes waited in the socket at the last sweep */
    bool certificate_checked;
    struct writ_peer peer;
    struct writ_view local; /* our side's address, when the listener has a wildcard; or empty */
    char address[WRIT_IPPORT_TEXT], local_text[WRIT_IPPORT_TEXT];
    char *certificate; /* what peer.certificate_* point into */
    struct writ_connection *next, **link;
};

/** Watches a socket that was accepted; libmicrohttpd does not have it yet. NULL: no memory. */
struct writ_connection *writ_connection_new(
    struct writ_daemon *daemon, int fd, const union writ_ipport *from);
void writ_connection_free(struct writ_connection *connection);

/** Enters a phase, with a deadline unless `timeout_ms` is 0. */
void writ_connection_set_phase(
    struct writ_connection *connection, enum writ_connection_phase phase, int64_t timeout_ms);

/** Looks at deadlines and heartbeats. */
void writ_connection_sweep(struct writ_connection *connection, int64_t now_us);

/** Ends it, whatever it does and whatever its client does: the socket is shut down now, and closed
 * within two seconds. */
void writ_connection_cut(struct writ_connection *connection);

/** Sends a probe `after_us` after the client's FIN; see writ_exchange_probe. */
void writ_connection_probe_at(struct writ_connection *connection, int64_t after_us);

/** Answers from outside libmicrohttpd, for a request that cannot be answered through it. */
void writ_connection_refuse(struct writ_connection *connection,
    const struct writ_framing_fault *fault, const char *status_line);

/** The connection behind libmicrohttpd's. */
struct writ_connection *writ_connection_of(struct MHD_Connection *mhd);

/** libmicrohttpd's notice that a connection has begun or ended. */
void writ_connection_on_notify(void *cls, struct MHD_Connection *mhd, void **socket_ctx,
    enum MHD_ConnectionNotificationCode code);

#endif
