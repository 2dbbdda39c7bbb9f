/* writ-receipts/1: receipts, the keys that are trusted, witnesses, and the first reason against
 * each. */
#include "cli/vector.h"
#include "evidence/receipt.h"
#include "evidence/write.h"

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

writ_result
writ_vector_receipts(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_json *text =
        writ_json_get_typed(vector, WRIT_LIT("receipt"), WRIT_JSON_STRING);
    const struct writ_json *keys = writ_json_get_typed(vector, WRIT_LIT("keys"), WRIT_JSON_ARRAY);
    WRIT_AUTO(struct trusted, trusted_wipe) trusted = {0};
    WRIT_AUTO(struct trusted, trusted_wipe) witnesses = {0};
    struct writ_checkpoint_trust trust = {0};
    struct writ_write w = writ_write_to(ret);
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_receipt receipt;
    bool ok;

    (void)set;
    if (text == NULL || keys == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "receipt is no text, or keys is no array");
    }
    WRIT_TRY(read_trusted(keys, &trusted, err));
    trust.keys = (const struct writ_note_key *const *)trusted.keys;
    trust.keys_n = trusted.n;
    WRIT_TRY(read_trusted(
        writ_json_get_typed(vector, WRIT_LIT("witnesses"), WRIT_JSON_ARRAY), &witnesses, err));
    trust.witnesses = (const struct writ_note_key *const *)witnesses.keys;
    trust.witnesses_n = witnesses.n;
    trust.quorum = writ_checkpoint_witnesses(trust.witnesses, trust.witnesses_n);
    WRIT_TRY(writ_receipt_verify(writ_json_string(text), &trust, arena, &receipt, &why, err));
    ok = why == WRIT_REASON_EVIDENCE_OK;
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("ok"));
    writ_write_bool(&w, ok);
    writ_write_name(&w, WRIT_LIT("reason"));
    writ_write_string(&w, ok ? WRIT_LIT("ok") : writ_reason_name(why));
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}
