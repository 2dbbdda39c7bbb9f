/* keys.h - the keys that the gateway publishes, fetched when they are needed.
 *
 * A set is valid for a minute, so a revoked key is trusted for a minute at most. For a key that the
 * set lacks, a new set is fetched, at most once a second. For one thread. */
#ifndef KEYS_H
#define KEYS_H

#include <stdint.h>
#include <writ/verify.h>

struct keys;

/** `url` is http, https or file, and outlives the object. NULL without memory. */
struct keys *keys_new(const char *url);
void keys_free(struct keys *keys);

/** True when there is a valid set. Fetches one when there is none, or when it lacks
 * `kid`; prints to stderr why it cannot. Blocks for up to five seconds. */
bool keys_refresh(struct keys *keys, const char *kid, int64_t now_s);

/** The key as PEM, for libraries that take that; NULL when there is no such ES256 key. New, for
 * free(3). */
char *keys_pem(const struct keys *keys, const char *kid);

/** The same keys for writ_verify_credential; borrowed until the next keys_refresh. */
const struct writ_verify *keys_verify(const struct keys *keys);

#endif
