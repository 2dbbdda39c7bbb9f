/* A result is kept only with a digest in the signed outcome, and given only after it was compared
 * with that digest. */
#include "store/write/results.h"

#include "store/tables/body.h"
#include "store/write/group.h"
#include "store/write/vouch.h"

/* ---- writing ---- */

/* Makes room for a result to be kept: the oldest go first. */
static WRIT_RESULT
evict(struct writ_ledger *ledger, size_t bytes, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    int64_t most = ledger->options.results_max_bytes - (int64_t)bytes;

    while (ledger->counts.results > 0 && (ledger->counts.results_bytes > most ||
                                             ledger->counts.results >= WRIT_LEDGER_RESULTS_MAX)) {
        bool row = false;
        writ_result result = writ_disk_query(disk, WRIT_SQL_RESULTS_FIRST, &row, err, "");
        int64_t length =
            writ_is_ok(result) && row ? writ_disk_int(disk, WRIT_SQL_RESULTS_FIRST, 0) : 0;

        writ_disk_end(disk, WRIT_SQL_RESULTS_FIRST);
        WRIT_TRY(result);
        if (!row) {
            ledger->counts.results = 0;
            ledger->counts.results_bytes = 0;
            break;
        }
        WRIT_TRY(writ_disk_run(disk, WRIT_SQL_RESULTS_OLDEST, err, ""));
        ledger->counts.results--;
        ledger->counts.results_bytes -= length;
    }
    return WRIT_DONE;
}

const struct writ_member_text *
writ_results_told(const struct writ_outcome *outcome, const struct writ_extension *extension)
{
    return extension->output_after.is == WRIT_PRESENT ? &extension->output_after
                                                      : &outcome->tool_output_hash;
}

/* A result without a digest could not be compared later: it is not kept. */
static WRIT_RESULT
is_hashed(
    const struct writ_entry_outcome *o, struct writ_arena *arena, bool *ret, struct writ_err *err)
{
    struct writ_extension extension = {0};

    WRIT_TRY(writ_extension_read(&o->outcome->extensions, arena, &extension, err));
    *ret = writ_results_told(o->outcome, &extension)->is == WRIT_PRESENT;
    return WRIT_DONE;
}

WRIT_RESULT
writ_results_write(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    const struct writ_entry_outcome *o = &op->entry->outcome;
    const struct writ_row *row = &ledger->group.rows[op->row].row;
    int64_t bytes = (int64_t)o->result.len;
    bool hashed = false;

    if (o->result_ttl_us <= 0 || op->flight->hold == NULL ||
        row->verdict != WRIT_OUTCOME_EXECUTED || o->result.len > WRIT_LEDGER_RESULT_MAX ||
        bytes > ledger->options.results_max_bytes) {
        return WRIT_DONE;
    }
    WRIT_TRY(is_hashed(o, op->entry->arena, &hashed, err));
    if (!hashed) {
        return WRIT_DONE;
    }
    WRIT_TRY(evict(ledger, o->result.len, err));
    WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_RESULT_PUT, err, "uib", row->about,
        row->time_us + o->result_ttl_us, o->result));
    ledger->counts.results++;
    ledger->counts.results_bytes += bytes;
    return WRIT_DONE;
}

/* ---- finding ---- */

/* Reads the outcome of a decision from its record. WRIT_E_MISMATCH: there is none. */
static WRIT_RESULT
read_outcome(struct writ_ledger *ledger, struct writ_view decision_id, struct writ_arena *arena,
    struct writ_outcome *ret, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    const struct writ_json *value = NULL;
    struct writ_view body = {NULL, 0};
    uint64_t leaf = 0;
    bool row = false;
    writ_result result = writ_disk_records(disk, decision_id, &row, err);

    while (writ_is_ok(result) && row) {
        if (writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 1) == WRIT_ROW_OUTCOME) {
            leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 0);
            body = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_REVIEW_RECORDS, 2), arena);
            result = body.ptr == NULL ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
            break;
        }
        result = writ_disk_next(disk, WRIT_SQL_REVIEW_RECORDS, &row, err);
    }
    writ_disk_end(disk, WRIT_SQL_REVIEW_RECORDS);
    WRIT_TRY(result);
    if (body.ptr == NULL) {
        return (writ_result){WRIT_E_MISMATCH};
    }
    WRIT_TRY(writ_vouch(ledger, leaf, body, err));
    WRIT_TRY(writ_body_json(body, arena, &value, err));
    WRIT_TRY(writ_outcome_read(value, arena, ret, err));
    return writ_view_equal(writ_member_view(&ret->decision_id), decision_id)
               ? WRIT_DONE
               : (writ_result){WRIT_E_MISMATCH};
}

static WRIT_RESULT
compare(struct writ_ledger *ledger, struct writ_view decision_id, struct writ_view bytes,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_outcome outcome = {0};
    struct writ_extension extension = {0};
    const struct writ_member_text *stated;
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];

    WRIT_TRY(read_outcome(ledger, decision_id, arena, &outcome, err));
    WRIT_TRY(writ_extension_read(&outcome.extensions, arena, &extension, err));
    WRIT_TRY(writ_digest_bytes(bytes, &digest, err));
    writ_digest_text(&digest, text);
    stated = writ_results_told(&outcome, &extension);
    return stated->is == WRIT_PRESENT && writ_view_is(stated->view, text)
               ? WRIT_DONE
               : (writ_result){WRIT_E_MISMATCH};
}

WRIT_RESULT
writ_results_find(struct writ_ledger *ledger, uint64_t leaf, struct writ_view decision_id,
    int64_t now_us, struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    struct writ_view found = {NULL, 0};
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_RESULT_GET, &row, err, "u", leaf);

    *ret = found;
    if (writ_is_ok(result) && row && writ_disk_int(disk, WRIT_SQL_RESULT_GET, 0) > now_us) {
        found = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_RESULT_GET, 1), arena);
        result = found.ptr == NULL ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
    }
    writ_disk_end(disk, WRIT_SQL_RESULT_GET);
    WRIT_TRY(result);
    if (found.ptr == NULL) {
        return WRIT_DONE;
    }
    result = compare(ledger, decision_id, found, arena, err);
    if (result.code == WRIT_E_MISMATCH || result.code == WRIT_E_PARSE) {
        return writ_group_poison(
            ledger, leaf, "its kept result does not match the digest in its outcome", err);
    }
    WRIT_TRY(result);
    *ret = found;
    return WRIT_DONE;
}
