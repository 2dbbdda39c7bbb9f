/* ledger_list.h - calls of the ledger as one viewer may see them, filtered by what a request names:
 *
 *   q                 a part of the name of tool, agent, run or tenant, or of the id
 *   tool, upstream, agent, run, reason    the whole name
 *   decision, outcome a word of the records; outcome=none: there is none yet
 *   since, until      RFC 3339: decided at or after, and before
 *
 * No I/O of its own but the reader's, on the thread of the lookups. */
#ifndef WRIT_GATEWAY_LEDGER_LIST_H
#define WRIT_GATEWAY_LEDGER_LIST_H

#include "evidence/json/write.h"
#include "gateway/admin/ledger_viewer.h"
#include "store/read/reader.h"

#define WRIT_LEDGER_LIST_PAGE      50
#define WRIT_LEDGER_LIST_SCAN      10000  /* decisions that one page looks at */
#define WRIT_LEDGER_LIST_SCAN_BODY 2000   /* those of them whose records it reads */
#define WRIT_LEDGER_LIST_SPAN      500000 /* records that one page passes over */
#define WRIT_LEDGER_LIST_WORDS_MAX 256    /* bytes of a filter */

/** What a request asks for. Zeroed: everything. */
struct writ_ledger_list {
    struct writ_reader_filter filter;         /* never the bounds of a viewer */
    struct writ_view words, upstream, reason; /* empty: any */
    struct writ_view verdict;                 /* as writ_reason_verdict; empty: any */
    int64_t since_us;                         /* 0: any */
    bool has_outcome, unfinished;             /* only this outcome, or those without one */
    enum writ_outcome_kind outcome;
};

/** Reads the parameters of an address, and `before`. Views are in the arena. False: a malformed
 * one. */
bool writ_ledger_list_read(
    struct writ_view query, struct writ_arena *arena, struct writ_ledger_list *ret);

/**
 * Writes the members `calls` and, when there may be older ones, `next`, the newest call first.
 *
 * @return as writ_reader_list; WRIT_E_NOMEM
 */
WRIT_RESULT writ_ledger_list_put_page(const struct writ_ledger_list *list,
    const struct writ_ledger_sight *sight, struct writ_reader *reader, struct writ_write *w);

/**
 * Calls `each` with the JSON of every admitted call that has a record in [from, before), the oldest
 * first.
 *
 * @return as writ_reader_changed; WRIT_E_NOMEM, and the failure of `each`
 */
WRIT_RESULT writ_ledger_list_changes(const struct writ_ledger_list *list,
    const struct writ_ledger_sight *sight, struct writ_reader *reader, uint64_t from,
    uint64_t before, WRIT_RESULT (*each)(void *ctx, struct writ_view call), void *ctx);

#endif
