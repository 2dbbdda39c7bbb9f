/* check_story.h - the checks of reviews: each of their records follows from those before it.
 *
 * Only check_record.c includes this. */
#ifndef WRIT_STORE_CHECK_STORY_H
#define WRIT_STORE_CHECK_STORY_H

#include "store/read/check.h"

/** Hears the present record, whose `body` is not in the arena of the record. What contradicts its
 * review is said once; what comes after it cannot be judged. WRIT_OK whatever is wrong;
 * WRIT_E_LIMIT (WRIT_VERIFY_REVIEWS_MAX), WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_story_hear(struct writ_check *v, struct writ_view body);

/** Frees what is remembered of reviews that are not over. */
void writ_check_story_wipe(struct writ_check *v);

#endif
