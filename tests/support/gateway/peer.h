/* peer.h - a scripted TCP or TLS server inside the test program.
 *
 * Each connection runs one script on a thread of its own: connection 0 the first script, 1 the
 * second, and so on; later ones the last script again. */
#ifndef WRIT_TESTS_PEER_H
#define WRIT_TESTS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum peer_do {
    PEER_END = 0, /* closes; every script ends with it */
    PEER_READ,    /* reads one request with its body */
    PEER_SEND,    /* sends the text */
    PEER_DRIP,    /* sends the text, each byte for itself */
    PEER_FILL,    /* sends count bytes of 'x' */
    PEER_WAIT,    /* waits for one peer_go */
    PEER_HANG,    /* reads and drops until the other side ends */
    PEER_SHUT,    /* ends its sending direction */
    PEER_RESET,   /* closes with a reset */
    PEER_AGAIN,   /* from the first step on */
};

struct peer_step {
    enum peer_do what;
    const char *text;
    size_t count; /* of SEND: bytes of the text, 0 for all of the string */
};

#define PEER_DO(step)                                                                              \
    {                                                                                              \
        .what = PEER_##step                                                                        \
    }
#define PEER_SAY(step, bytes)                                                                      \
    {                                                                                              \
        .what = PEER_##step, .text = (bytes)                                                       \
    }
#define PEER_COUNT(step, bytes)                                                                    \
    {                                                                                              \
        .what = PEER_##step, .count = (bytes)                                                      \
    }

struct peer_options {
    const struct peer_step *const *scripts;
    size_t count;
    const char *cert_file, *key_file; /* TLS, when set */
    const char *client_ca_file;       /* requests and requires a client certificate */
    bool ipv6;
    void (*on_request)(
        void *ctx, const char *request); /* from its threads, one at a time; or NULL */
    void *ctx;
};

struct peer;

/** Listens on a free port of the loopback address. Fails the test when it cannot. The list of
 * scripts is copied, the scripts and file names are borrowed until peer_close. */
struct peer *peer_open(const struct peer_options *options);
uint16_t peer_port(const struct peer *peer);

/** Ends one PEER_WAIT, now or later. */
void peer_go(struct peer *peer);

/** Waits until this many connections (requests) were seen in all. */
void peer_await_connections(struct peer *peer, size_t count);
void peer_await_requests(struct peer *peer, size_t count);

size_t peer_connections(struct peer *peer);
size_t peer_requests(struct peer *peer);

/** Copies the last request, NUL-terminated and cut to `max`. */
void peer_last(struct peer *peer, char *ret, size_t max);

/** Ends every connection and frees. */
void peer_close(struct peer *peer);

#endif
