/* A ledger that several gateways write has rows beside the records that guard their turns: the
 * coordinator with size and root of the log, and a row for each claim that stands. Nothing is
 * granted because of them alone, but a row that contradicts the records was edited. */
#include "store/read/check.h"

#include "evidence/log/note.h"

static const char coordinator_text[] =
    "SELECT c.size, c.root, h.size, h.note FROM coordinator AS c "
    "LEFT JOIN head AS h ON h.leaf = (SELECT max(leaf) FROM head) WHERE c.one = 1";

/* A claim is of a granted call with its key, or of a later round of that call (FOLLOWS, 16). */
static const char claims_text[] =
    WRIT_SQL_MANY "SELECT c.leaf FROM claim AS c LEFT JOIN record AS r ON r.leaf = c.leaf "
                  "WHERE r.leaf IS NULL OR r.kind <> 1 OR r.boundary <> c.boundary "
                  "OR (r.flags & 1) = 0 OR ((r.flags & 16) = 0 "
                  "AND (r.claim IS NULL OR substr(r.claim, 1, 16) <> c.key)) ORDER BY c.leaf";

/* Whether the root of the coordinator is the one that the last checkpoint signs. */
static bool
has_root(struct writ_view root, struct writ_view note)
{
    struct writ_checkpoint head = {0};
    struct writ_note parts = {0};

    return writ_is_ok(writ_note_read(note, &parts, NULL)) &&
           writ_is_ok(writ_checkpoint_read(parts.text, &head, NULL)) &&
           writ_view_equal(root, writ_view((const char *)head.root.bytes, sizeof head.root.bytes));
}

static void
check_coordinator(struct writ_check *v, struct writ_sql_statement *s, bool row)
{
    uint64_t size = row ? (uint64_t)writ_sql_int(s, 2) : 0;
    uint64_t last = size > 0 ? size - 1 : 0;

    if (!row) {
        writ_check_problem(v, last, "the ledger has no row of `coordinator`");
    } else if ((uint64_t)writ_sql_int(s, 0) != size ||
               (size > 0 && !has_root(writ_column_bytes(s, 1), writ_column_bytes(s, 3)))) {
        writ_check_problem(v, last,
            "size or root of the log in the row of `coordinator` are not those of the last "
            "checkpoint");
    }
}

static WRIT_RESULT
read_coordinator(struct writ_check *v)
{
    struct writ_sql_statement *s = NULL;
    bool row = false;
    writ_result result;

    WRIT_TRY(writ_sql_prepare(v->sql, coordinator_text, &s, v->err));
    result = writ_sql_step(s, &row, v->err);
    if (writ_is_ok(result)) {
        check_coordinator(v, s, row);
    }
    writ_sql_reset(s);
    writ_sql_finalize(s);
    return result;
}

WRIT_RESULT
writ_check_shared(struct writ_check *v)
{
    struct writ_sql_statement *s = NULL;
    bool row = false;
    writ_result result;

    WRIT_TRY(read_coordinator(v));
    WRIT_TRY(writ_sql_prepare(v->sql, claims_text, &s, v->err));
    result = writ_sql_step(s, &row, v->err);
    while (writ_is_ok(result) && row) {
        writ_check_problem(v, (uint64_t)writ_sql_int(s, 0),
            "the row of a claim is not that of a call that was granted under it");
        result = writ_sql_step(s, &row, v->err);
    }
    writ_sql_reset(s);
    writ_sql_finalize(s);
    return result;
}
