/* check_once.h - that no key was granted to two calls while it was claimed.
 *
 * A claim stands for as long as its record says, unless its outcome proves that nothing ran. What
 * is remembered is bounded: when more claims than WRIT_CHECK_ONCE_MOST stand at one time, one
 * verification looks at a part of all keys, by chance, and another one at another.
 *
 * Only this room includes this. */
#ifndef WRIT_STORE_CHECK_ONCE_H
#define WRIT_STORE_CHECK_ONCE_H

#include "store/disk/said.h"
#include "store/tables/tag.h"

struct writ_check;

#define WRIT_CHECK_ONCE_MOST (1 << 18)

/** The present record makes a claim, or none. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_once_claim(struct writ_check *v, const struct writ_said *said);
/** The call that claimed the key did not run. */
void writ_check_once_release(struct writ_check *v, struct writ_tag key);
/** Frees what is remembered. */
void writ_check_once_wipe(struct writ_check *v);

#endif
