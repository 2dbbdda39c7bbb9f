/* fact.h - records of the ledger that belong to no call and no run: actions of an operator, and
 * state of the ledger itself. They are in the log, under the same tree and checkpoints as all
 * others, so that they need no trust in a file beside it.
 *
 *     {"at":TIME,"data":{...},"event":NAME,"n":N}
 *
 * n counts the facts of a ledger, from 0 without gaps. */
#ifndef WRIT_EVIDENCE_FACT_H
#define WRIT_EVIDENCE_FACT_H

#include "evidence/json/json.h"

/* X(NAME, name): the event. Its recorder gives `data`. */
#define WRIT_FACTS(X)                                                                              \
    X(KILL_PULLED, kill_pulled)         /* a stop: gateway/stops/kill.h */                         \
    X(KILL_LIFTED, kill_lifted)         /* {id, reason, who} */                                    \
    X(RESUMED, resumed)                 /* {had, has}: records, before and after a loss */         \
    X(RELEASED, released)               /* {tool}: its keys of the lost time count as unused */    \
    X(TOOL_ACCEPTED, tool_accepted)     /* {accepted, digest, tool}: a definition, and when */     \
    X(KEPT, kept)                       /* {seconds}: from here on claims are at most this long */ \
    X(CONTENTS_ERASED, contents_erased) /* core/store/write/erasing.h */                           \
    X(CONTENTS_LOOKED, contents_looked) /* {by, count, decision_id or since, purpose} */           \
    X(ARCHIVED, archived)               /* archive_fact.h: earlier records are in an archive */    \
    X(POOL_PUT, pool_put)               /* pool_fact.h: an agent shares an insight */              \
    X(POOL_REMOVED, pool_removed)       /* pool_fact.h: and takes it back */                       \
    X(DELEGATED, delegated)             /* delegation.h: a voter names another one */              \
    X(DELEGATION_REVOKED, delegation_revoked) /* delegation.h: one of the two takes it back */

enum writ_fact_event {
    WRIT_FACT_NONE = 0,
#define WRIT_FACT_ENUM(NAME, name) WRIT_FACT_##NAME,
    WRIT_FACTS(WRIT_FACT_ENUM)
#undef WRIT_FACT_ENUM
};

struct writ_fact {
    enum writ_fact_event event;
    uint64_t n;
    int64_t at_us;
    const struct writ_json *data; /* an object */
    uint64_t leaf;                /* where a ledger has it, when that is known; else 0 */
};

/** Appends the canonical form. `data` is a canonical object. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_fact_put(enum writ_fact_event event, uint64_t n, int64_t at_us,
    struct writ_view data, struct writ_buf *ret, struct writ_err *err);

/** Reads one back; `ret->data` is borrowed from `value`. WRIT_E_MISMATCH: not a fact that a ledger
 * writes. */
WRIT_RESULT writ_fact_read(
    const struct writ_json *value, struct writ_fact *ret, struct writ_err *err);

#endif
