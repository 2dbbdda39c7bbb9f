/* linger.h - closing a connection so that its last answer arrives.
 *
 * Closing a socket that still has unread bytes sends a reset, and a reset may overtake the answer
 * that said why. So our side is ended first, and what the client still sends is thrown away, unread
 * by any parser (RFC 9112 9.6). Many clients look for an answer only after they have sent their
 * whole body: up to 64 MiB are thrown away, for up to 30 seconds, as long as no two seconds pass
 * without a byte. At most 256 sockets linger in each loop; the one that is silent
 * for the longest time is closed for the next. */
#ifndef WRIT_GATEWAY_LINGER_H
#define WRIT_GATEWAY_LINGER_H

struct writ_acceptor;

/** Begins with a second descriptor of the socket `fd`, whose owner then closes it as if nothing
 * were. Without memory or descriptors nothing lingers. */
void writ_linger_begin(struct writ_acceptor *acceptor, int fd);

/** Ends all of them at once. */
void writ_linger_close_all(struct writ_acceptor *acceptor);

#endif
