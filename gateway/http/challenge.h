/* challenge.h - what a WWW-Authenticate field demands (RFC 9110 11.6.1, RFC 6750 3). Pure. */
#ifndef WRIT_GATEWAY_CHALLENGE_H
#define WRIT_GATEWAY_CHALLENGE_H

#include "base/bytes.h"

/**
 * The scope of a Bearer challenge: the first parameter of that name, quoted or a token.
 *
 * @param field  the value of one field
 * @param ret    borrowed from `field`; written only when there is one: space-separated scope tokens
 *               of RFC 6749 3.3, nothing else
 *
 * @return whether there is one
 */
bool writ_challenge_scope(struct writ_view field, struct writ_view *ret);

#endif
