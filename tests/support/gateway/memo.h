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
/** The function of a writ_stop_rules_log; `ctx` is the memo. */
WRIT_RESULT writ_memo_write(void *ctx, enum writ_fact_event event, struct writ_view data,
    uint64_t *ret_leaf, struct writ_err *err);
/** Opens with the memo as its log, and replays the recorded facts; NULL when that fails. */
WRIT_RESULT writ_memo_open(struct writ_memo *memo, const char *store,
    const struct writ_clock *clock, struct writ_stop_rules **ret, struct writ_err *err);

#endif
