/* memo.h - facts (evidence/record/fact.h) in memory, in place of a ledger. */
#ifndef WRIT_TESTS_MEMO_H
#define WRIT_TESTS_MEMO_H

#include "gateway/stops/stop_rules.h"

#define WRIT_MEMO_MAX 64

/** Zeroed: none yet. */
struct writ_memo {
    struct writ_buf texts[WRIT_MEMO_MAX]; /* canonical records */
    size_t n;
    bool fails; /* recording fails */
    const struct writ_clock *clock;
};

void writ_memo_wipe(struct writ_memo *memo);
/** Records a fact. WRIT_E_IO: it fails, or is full. */
WRIT_RESULT writ_memo_write(struct writ_memo *memo, enum writ_fact_event event,
    struct writ_view data, struct writ_err *err);
/** Opens, and replays the recorded facts; NULL when that fails. */
WRIT_RESULT writ_memo_open(struct writ_memo *memo, const char *store,
    const struct writ_clock *clock, struct writ_stop_rules **ret, struct writ_err *err);

/** Pulls a stop and records it. As writ_stop_rules_pull; WRIT_E_IO also when the memo fails. */
WRIT_RESULT writ_memo_pull(struct writ_memo *memo, struct writ_stop_rules *kills,
    const struct writ_kill *kill, char ret_id[WRIT_ID_TEXT]);
/** Lifts a stop and records that. As writ_stop_rules_lift; WRIT_E_IO when the memo fails. */
WRIT_RESULT writ_memo_lift(
    struct writ_memo *memo, struct writ_stop_rules *kills, struct writ_view id);

#endif
