/* writ-receipts/1, writ-bundles/1: files of evidence, the trusted keys, witnesses, and the first
 * reason against each. */
#include "cli/vectors/vector.h"
#include "evidence/json/write.h"
#include "evidence/proof/bundle_check.h"
#include "evidence/proof/receipt.h"

#define BUNDLE_MAX ((size_t)64 << 20)

struct trusted {
    struct writ_note_key *keys[WRIT_RECEIPT_KEYS_MAX];
    size_t n;
};

static void
trusted_wipe(struct trusted *trusted)
{
    for (size_t i = 0; i < trusted->n; i++) {
        writ_note_key_free(trusted->keys[i]);
    }
    trusted->n = 0;
}

static WRIT_RESULT
read_trusted(const struct writ_json *keys, struct trusted *trusted, struct writ_err *err)
{
    WRIT_JSON_EACH(value, keys)
    {
        if (trusted->n == WRIT_RECEIPT_KEYS_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d keys", WRIT_RECEIPT_KEYS_MAX);
        }
        WRIT_TRY(writ_note_key_read(writ_json_string(value), &trusted->keys[trusted->n], err));
        trusted->n++;
    }
    return WRIT_DONE;
}

/* The parties that must have signed the checkpoint. */
struct signers {
    struct trusted logs, witnesses;
    struct writ_checkpoint_trust trust;
};

static void
signers_wipe(struct signers *signers)
{
    trusted_wipe(&signers->logs);
    trusted_wipe(&signers->witnesses);
}

static WRIT_RESULT
signers_read(const struct writ_json *vector, struct signers *ret, struct writ_err *err)
{
    const struct writ_json *keys = writ_json_get_typed(vector, WRIT_LIT("keys"), WRIT_JSON_ARRAY);
    const struct writ_json *quorum = writ_json_get(vector, WRIT_LIT("quorum"));
    struct writ_checkpoint_trust *trust = &ret->trust;
    int64_t most;

    if (keys == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "keys is not an array");
    }
    WRIT_TRY(read_trusted(keys, &ret->logs, err));
    WRIT_TRY(read_trusted(
        writ_json_get_typed(vector, WRIT_LIT("witnesses"), WRIT_JSON_ARRAY), &ret->witnesses, err));
    trust->keys = (const struct writ_note_key *const *)ret->logs.keys;
    trust->keys_n = ret->logs.n;
    trust->witnesses = (const struct writ_note_key *const *)ret->witnesses.keys;
    trust->witnesses_n = ret->witnesses.n;
    most = (int64_t)writ_checkpoint_witnesses(trust->witnesses, trust->witnesses_n);
    trust->quorum = (size_t)most;
    if (quorum != NULL) {
        int64_t least;

        if (!writ_is_ok(writ_json_integer(quorum, 1, most, &least))) {
            WRIT_FAIL(err, WRIT_E_PARSE, "quorum is not a number of witnesses");
        }
        trust->quorum = (size_t)least;
    }
    return WRIT_DONE;
}

/* ---- receipts */

static void
put_verdict(struct writ_write *w, enum writ_reason why)
{
    bool ok = why == WRIT_REASON_EVIDENCE_OK;

    writ_write_flag(w, "ok", ok);
    writ_write_text(w, "reason", ok ? WRIT_LIT("ok") : writ_reason_name(why));
}

writ_result
writ_vector_receipts(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_json *text =
        writ_json_get_typed(vector, WRIT_LIT("receipt"), WRIT_JSON_STRING);
    WRIT_AUTO(struct signers, signers_wipe) signers = {0};
    struct writ_write w = writ_write_to(ret);
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_receipt receipt;

    (void)set;
    if (text == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "receipt is not a text");
    }
    WRIT_TRY(signers_read(vector, &signers, err));
    WRIT_TRY(
        writ_receipt_verify(writ_json_string(text), &signers.trust, arena, &receipt, &why, err));
    writ_write_object_begin(&w);
    put_verdict(&w, why);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

/* ---- bundles */

static void
check_freep(struct writ_bundle_check **check)
{
    writ_bundle_check_free(*check);
}

/* The bytes of a bundle: `bundle`, or the decoded `bundle_base64`. */
static WRIT_RESULT
read_bundle(const struct writ_json *vector, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_json *text = writ_json_get(vector, WRIT_LIT("bundle"));

    if (writ_json_type(text) == WRIT_JSON_STRING) {
        writ_buf_put(ret, writ_json_string(text));
        return writ_buf_check(ret, err);
    }
    text = writ_json_get(vector, WRIT_LIT("bundle_base64"));
    if (writ_json_type(text) != WRIT_JSON_STRING ||
        !writ_is_ok(writ_base64_read(writ_json_string(text), ret))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "there is neither bundle nor bundle_base64");
    }
    return WRIT_DONE;
}

/* Takes all lines up to the first faulty one, and counts them. */
static WRIT_RESULT
take_lines(struct writ_bundle_check *check, struct writ_view text, uint64_t *ret_lines,
    enum writ_reason *ret_why, struct writ_err *err)
{
    size_t end;

    *ret_why = WRIT_REASON_EVIDENCE_OK;
    for (*ret_lines = 0; (end = writ_view_find(text, '\n')) < text.len;) {
        ++*ret_lines;
        WRIT_TRY(writ_bundle_check_line(check, writ_view_sub(text, 0, end), ret_why, err));
        if (*ret_why != WRIT_REASON_EVIDENCE_OK) {
            return WRIT_DONE;
        }
        text = writ_view_sub(text, end + 1, text.len);
    }
    if (text.len > 0) { /* after the last end of a line */
        *ret_why = WRIT_REASON_EVIDENCE_MALFORMED;
    }
    return WRIT_DONE;
}

writ_result
writ_vector_bundles(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(struct signers, signers_wipe) signers = {0};
    WRIT_AUTO(struct writ_bundle_check *, check_freep) check = NULL;
    writ_auto_buf text = writ_buf_make(BUNDLE_MAX);
    struct writ_bundle_report report = {0};
    struct writ_checkpoint head = {0};
    struct writ_write w = writ_write_to(ret);
    enum writ_reason why = WRIT_REASON_NONE;
    uint64_t lines = 0;

    (void)set;
    (void)arena;
    WRIT_TRY(read_bundle(vector, &text, err));
    WRIT_TRY(signers_read(vector, &signers, err));
    WRIT_TRY(writ_bundle_check_new(&signers.trust, &check, err));
    WRIT_TRY(take_lines(check, writ_buf_view(&text), &lines, &why, err));
    if (why == WRIT_REASON_EVIDENCE_OK && !writ_bundle_check_ended(check, &report, &head)) {
        why = WRIT_REASON_EVIDENCE_MALFORMED;
    }
    writ_write_object_begin(&w);
    put_verdict(&w, why);
    if (why == WRIT_REASON_EVIDENCE_OK) {
        writ_bundle_check_put(&w, &report, &head);
    } else {
        writ_write_count(&w, "line", lines);
    }
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}
