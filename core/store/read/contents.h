/* contents.h - reads kept contents: what agents sent to tools, and what tools answered.
 *
 * A content is decrypted with the keys of the key directory and compared with the digest in its
 * signed record, at every look. Records are not compared with the tree here; `writ ledger verify`
 * does that.
 *
 * A person who looks at contents is recorded first: submit WRIT_ENTRY_FACT with
 * WRIT_FACT_CONTENTS_LOOKED and writ_content_fact_look, and read when that is on disk.
 *
 * As reader.h: a read-only connection of its own, one thread, everything blocks on the disk. A
 * reading lets go of the ledger every few hundred calls, so that it does not hold an erase up. */
#ifndef WRIT_STORE_READ_CONTENTS_H
#define WRIT_STORE_READ_CONTENTS_H

#include "base/clock.h"
#include "evidence/record/content.h"
#include "evidence/record/record.h"

/** How it is with one content. Zero: there is nothing to read. */
enum writ_content_state {
    WRIT_CONTENT_ABSENT = 0, /* none was kept */
    WRIT_CONTENT_ERASED,     /* it was kept, and was deleted by its time or by an erase */
    WRIT_CONTENT_LOCKED,     /* the key that it needs is not in the key directory (any more) */
    WRIT_CONTENT_CHANGED,    /* it is not the one that the signed record names */
    WRIT_CONTENT_KEPT,       /* opened, and compared with its signed digest */
};

struct writ_content {
    enum writ_content_state state;
    bool redacted;          /* KEPT: its secret members were left out */
    struct writ_view bytes; /* KEPT: canonical JSON; else ptr NULL */
    int64_t expires_us;     /* KEPT: wall time of its deletion */
};

/** One call. */
struct writ_contents_call {
    uint64_t leaf; /* of the decision */
    struct writ_view tenant, boundary_id;
    int64_t issued_at_us;
    bool granted;
    struct writ_view record; /* of the decision, canonical */
    const struct writ_decision *decision;
    const struct writ_extension *extension;
    struct writ_content arguments;

    bool has_outcome;
    uint64_t outcome_leaf;
    enum writ_outcome_kind outcome;
    bool nothing_ran; /* the outcome proves so: budgets got their amounts back */
    struct writ_content result;
};

struct writ_contents;

/**
 * Opens the contents of a ledger.
 *
 * @param ring   with the secrets of its keys of contents (writ_keydir_load), borrowed until the
 *               close; NULL: every kept content is LOCKED
 * @param clock  borrowed until the close: a content whose time is over is ERASED, also when its row
 *               is still there
 *
 * WRIT_E_ABSENT, WRIT_E_INVALID, WRIT_E_PARSE, WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM as
 * writ_reader_open.
 */
WRIT_RESULT writ_contents_open(const char *path, const struct writ_keyring *ring,
    const struct writ_clock *clock, struct writ_contents **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_contents_close(struct writ_contents *contents);

/** Frees at the end of the scope: writ_auto_contents x = NULL; */
#define writ_auto_contents WRIT_AUTO(struct writ_contents *, writ_contents_release)

static inline void
writ_contents_release(struct writ_contents **contents)
{
    writ_contents_close(*contents);
}

/**
 * Reads one call, arguments and result.
 *
 * @param arena  memory of the answer
 *
 * @return WRIT_OK          also when nothing is kept: see the states
 *         WRIT_E_ABSENT    no decision of that id
 *         WRIT_E_MISMATCH  its record is not readable, or a content is CHANGED; `err` says which
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_contents_get(struct writ_contents *contents, struct writ_view decision_id,
    struct writ_arena *arena, struct writ_contents_call *ret, struct writ_err *err);

/** The log of the crew that gave a vote. */
struct writ_contents_log {
    uint64_t leaf;           /* of the vote */
    struct writ_view digest; /* that its signed record has */
    struct writ_content log; /* lines; KEPT: they have that digest */
};

/**
 * Reads the log of a crew.
 *
 * @param review_id  of the review, which is that of its decision
 * @param voter      the reviewer that is a crew
 * @param arena      memory of the answer
 *
 * @return WRIT_OK          also when it is no longer kept: see the state
 *         WRIT_E_ABSENT    no such vote of a crew
 *         WRIT_E_MISMATCH  its record is not readable, or the log is CHANGED
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_contents_log(struct writ_contents *contents, struct writ_view review_id,
    struct writ_view voter, struct writ_arena *arena, struct writ_contents_log *ret,
    struct writ_err *err);

/** Which calls. Zeroed: every call of which arguments were ever kept, without results. */
struct writ_contents_filter {
    int64_t since_us, until_us; /* decided at or after, and before; 0: any */
    uint64_t from_leaf;         /* index of the decision at or after */
    bool every;                 /* calls of which nothing was kept too */
    bool results;               /* results too; else `result` is ABSENT */
};

/**
 * Calls `each` for the calls that the filter admits, the oldest first, until it returns false.
 * Views are borrowed until it returns. A CHANGED content does not end the reading.
 *
 * WRIT_E_MISMATCH: a record is not readable; WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO.
 */
WRIT_RESULT writ_contents_each(struct writ_contents *contents,
    const struct writ_contents_filter *filter,
    bool (*each)(void *ctx, const struct writ_contents_call *call), void *ctx,
    struct writ_err *err);

#endif
