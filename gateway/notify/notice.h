/* notice.h - one notice for people: a review was opened or is about to expire, a stop was pulled or
 * lifted.
 *
 * It has names and ids, never arguments of a call. Names that an outsider may have chosen are
 * shortened, and characters that hide are marked. A value; it owns nothing. */
#ifndef WRIT_GATEWAY_NOTICE_H
#define WRIT_GATEWAY_NOTICE_H

#include "base/bytes.h"
#include "evidence/record/review.h"
#include "policy/model/config.h"

#define WRIT_NOTICE_TEXT_MAX 200 /* bytes of one name */

/** A name. Zeroed: empty. */
struct writ_notice_text {
    size_t len;
    char bytes[WRIT_NOTICE_TEXT_MAX];
};

struct writ_notice {
    enum writ_notify_event event;
    int64_t at_us;                /* wall time */
    int64_t until_us;             /* of a review: wall time at which it expires */
    struct writ_notice_text id;   /* of the review or the stop */
    struct writ_notice_text what; /* the name of the review's rules; the stopped value */
    struct writ_notice_text kind; /* of a stop: "agent", "tool", ... */
    struct writ_notice_text who;  /* the agent that asks; the administrator */
    struct writ_notice_text tenant;
    struct writ_notice_text delegates; /* of a review: "zoe for ann, yan for bob"; empty: none */
};

/** Sets a name: shortened, with marks for characters that hide. */
void writ_notice_set(struct writ_notice_text *ret, struct writ_view text);

/** Sets the delegates of a notice from the terms of its review: as many as there is room for, and
 * how many more there are. */
void writ_notice_set_delegates(struct writ_notice_text *ret, const struct writ_review *review);

/** Borrowed until the name changes. */
struct writ_view writ_notice_view(const struct writ_notice_text *text);

/** Whether it is about a review. */
bool writ_notice_is_review(const struct writ_notice *notice);

/** "review_opened", "review_expiring", "stop_pulled", "stop_lifted". Static storage. */
struct writ_view writ_notice_event_name(enum writ_notify_event event);

#endif
