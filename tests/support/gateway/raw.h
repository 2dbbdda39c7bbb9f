/* raw.h - a client that sends bytes unchanged and reads the answer. For tests of the listener. */
#ifndef WRIT_TESTS_RAW_H
#define WRIT_TESTS_RAW_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

#define RAW_WAIT_MS   60000 /* patience, not a measure: sanitizers and busy machines are slow */
#define RAW_BYTES_MAX (8U << 20)

/** A blocking socket to 127.0.0.1. Aborts when it cannot connect. */
int raw_connect(uint16_t port);

/** Sends all bytes; false when the other side closed meanwhile. */
bool raw_send(int fd, struct writ_view bytes);
bool raw_text(int fd, const char *text);

/** Waits until something can be read, or RAW_WAIT_MS. */
bool raw_wait(int fd);

/** Reads until the other side closes or resets, or until RAW_WAIT_MS pass without a byte. Says
 * whether it was closed. Appends to `ret`. */
bool raw_drain(int fd, struct writ_buf *ret);

/** Reads until `count` whole responses with Content-Length are there, or as raw_drain. Gives how
 * many are there. */
unsigned raw_responses(int fd, unsigned count, struct writ_buf *ret);

/** How many responses `bytes` begins with ("HTTP/1.1 " at the begin of a response). */
unsigned raw_count(struct writ_view bytes);

/** The status of the first response, or 0. */
unsigned raw_status(struct writ_view bytes);

/** One request, one connection, closed: the status, or 0 when there was no answer. */
unsigned raw_ask(uint16_t port, struct writ_view request, struct writ_buf *ret);

/** Closes with a reset. */
void raw_reset(int fd);

#endif
