/* For every text: a bundle that verifies under the key of a ledger is of that ledger's one
 * checkpoint, and every record of the log is shown, withheld or skipped. */
#include "support/store/evidence.h"
#include "support/fuzz.h"

#include "evidence/proof/bundle_check.h"

static enum writ_reason
take(struct writ_bundle_check *check, struct writ_view text)
{
    enum writ_reason why = WRIT_REASON_EVIDENCE_OK;

    while (text.len > 0 && why == WRIT_REASON_EVIDENCE_OK) {
        size_t end = writ_view_find(text, '\n');

        WRIT_INVARIANT(
            writ_is_ok(writ_bundle_check_line(check, writ_view_sub(text, 0, end), &why, NULL)));
        WRIT_INVARIANT(why != WRIT_REASON_NONE);
        text = writ_view_sub(text, end + 1, text.len);
    }
    return why;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct writ_note_key *key;
    const struct writ_note_key *keys[1];
    struct writ_checkpoint_trust trust = {.keys = keys, .keys_n = 1};
    struct writ_bundle_check *check = NULL;
    struct writ_bundle_report report = {0};
    struct writ_checkpoint head = {0};

    if (key == NULL) {
        WRIT_INVARIANT(writ_is_ok(writ_note_key_read(WRIT_LIT(WRIT_EVIDENCE_KEY), &key, NULL)));
    }
    keys[0] = key;
    WRIT_INVARIANT(writ_is_ok(writ_bundle_check_new(&trust, &check, NULL)));
    if (take(check, writ_view(data, size)) == WRIT_REASON_EVIDENCE_OK &&
        writ_bundle_check_ended(check, &report, &head)) {
        WRIT_INVARIANT(head.size == WRIT_EVIDENCE_SIZE);
        WRIT_INVARIANT(report.records + report.withheld + report.skipped == head.size);
        WRIT_INVARIANT(
            report.decisions + report.outcomes + report.seals + report.reviews == report.records);
        WRIT_INVARIANT(report.inside <= report.skipped && report.faulty <= report.boundaries);
    }
    writ_bundle_check_free(check);
    return 0;
}
