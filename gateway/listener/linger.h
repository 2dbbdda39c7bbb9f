/* linger.h - closes a connection so that its last answer arrives.
 *
 * Closing a socket that still has unread bytes sends a reset, and a reset may overtake the answer
 * with the reason. So our side is ended first, and the client's further bytes are dropped without
 * parsing (RFC 9112 9.6). Many clients read an answer only after they have sent their whole body:
 * up to 64 MiB are dropped, for up to 30 seconds, as long as no two seconds pass without a byte. At
 * most 256 sockets linger in each loop; the one that was silent for the longest time is closed for
 * the next. */
#ifndef WRIT_GATEWAY_LINGER_H
#define WRIT_GATEWAY_LINGER_H

struct writ_acceptor;

/** Begins with a second descriptor of the socket `fd`, whose owner then closes it as usual. Does
 * nothing without memory or descriptors. */
void writ_linger_begin(struct writ_acceptor *acceptor, int fd);

/** Ends all of them at once. */
void writ_linger_close_all(struct writ_acceptor *acceptor);

#endif
