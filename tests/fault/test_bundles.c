/* Fails the allocations of what leaves the ledger. A bundle is complete or is not made, its check
 * gives the same verdict or none, and an anchor has the checkpoint before or the one after. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "base/text.h"
#include "evidence/proof/bundle_check.h"
#include "gateway/service/anchor.h"
#include "store/read/bundles.h"

#include <stdio.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)1 << 20)

typedef struct writ_kit_spec spec;

static bool
put(void *ctx, struct writ_view lines)
{
    writ_buf_put(ctx, lines);
    return true;
}

static writ_result
make(struct writ_kit *kit, struct writ_buf *ret)
{
    const struct writ_bundles_order order = {.path = kit->path, .ring = kit->ring};
    struct writ_bundle_report report;

    WRIT_TRY(writ_bundles_make(&order, put, ret, &report, NULL));
    return writ_buf_check(ret, NULL);
}

static void
fill(struct writ_kit *kit)
{
    writ_kit_start(kit);
    writ_kit_run(kit, (spec){.boundary = "one", .argument = "1"});
    ck_assert_int_eq(writ_kit_seal(kit, "one", NULL), WRIT_OK);
    writ_kit_run(kit, (spec){.boundary = "two", .argument = "2"});
}

START_TEST(bundle_write_with_a_failed_allocation_gives_the_bundle_or_none)
{
    writ_auto_buf want = writ_buf_make(TEXT_MAX);
    bool reached = true;
    struct writ_kit kit;

    fill(&kit);
    ck_assert_ok(make(&kit, &want));
    for (long nth = 1; reached; nth++) {
        writ_auto_buf got = writ_buf_make(TEXT_MAX);
        writ_result result;

        writ_fault_arm(nth);
        result = make(&kit, &got);
        reached = writ_fault_disarm();
        if (writ_is_ok(result)) {
            ck_assert_msg(
                writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)), "allocation %ld", nth);
        } else {
            ck_assert_msg(result.code == WRIT_E_NOMEM, "allocation %ld: %s", nth,
                writ_code_name(result.code));
        }
    }
    writ_kit_wipe(&kit);
}
END_TEST

/* Until the end or the first line that is not good. */
static writ_result
check(struct writ_view text, const struct writ_note_key *key, enum writ_reason *ret_why)
{
    const struct writ_checkpoint_trust trust = {.keys = &key, .keys_n = 1};
    struct writ_bundle_check *check = NULL;
    struct writ_bundle_report report;
    struct writ_checkpoint head;
    writ_result result = writ_bundle_check_new(&trust, &check, NULL);

    *ret_why = WRIT_REASON_EVIDENCE_OK;
    while (writ_is_ok(result) && text.len > 0 && *ret_why == WRIT_REASON_EVIDENCE_OK) {
        size_t end = writ_view_find(text, '\n');

        result = writ_bundle_check_line(check, writ_view_sub(text, 0, end), ret_why, NULL);
        text = writ_view_sub(text, end + 1, text.len);
    }
    if (writ_is_ok(result) && *ret_why == WRIT_REASON_EVIDENCE_OK &&
        !writ_bundle_check_ended(check, &report, &head)) {
        *ret_why = WRIT_REASON_EVIDENCE_MALFORMED;
    }
    writ_bundle_check_free(check);
    return result;
}

/* Without memory a good bundle is never reported bad, and a bad one never good. */
START_TEST(bundle_check_with_a_failed_allocation_gives_no_other_verdict)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_note_key *key = NULL;
    struct writ_proofs *proofs = NULL;
    struct writ_kit kit;

    fill(&kit);
    ck_assert_ok(make(&kit, &text));
    ck_assert_ok(writ_proofs_open(kit.path, kit.ring, &proofs, NULL));
    ck_assert_ok(writ_checkpoint_key(writ_proofs_origin(proofs),
        writ_signer_jwk(writ_keyring_active(kit.ring, WRIT_KEY_PURPOSE_LEDGER)), &key, NULL));
    writ_proofs_close(proofs);
    for (size_t cut = 0; cut < 2; cut++) {
        const struct writ_view whole = writ_buf_view(&text);
        const struct writ_view part = writ_view_sub(whole, 0, cut == 0 ? whole.len : whole.len / 2);
        enum writ_reason want, got;
        bool reached = true;

        ck_assert_ok(check(part, key, &want));
        ck_assert_int_eq(want == WRIT_REASON_EVIDENCE_OK, cut == 0);
        for (long nth = 1; reached; nth++) {
            writ_result result;

            writ_fault_arm(nth);
            result = check(part, key, &got);
            reached = writ_fault_disarm();
            if (writ_is_ok(result)) {
                ck_assert_msg(got == want, "allocation %ld: %d", nth, (int)got);
            } else {
                ck_assert_int_eq(result.code, WRIT_E_NOMEM);
            }
        }
    }
    writ_note_key_free(key);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(anchor_send_with_a_failed_allocation_keeps_or_replaces_the_file)
{
    struct writ_kit kit;
    char path[512];
    bool reached = true;

    writ_kit_start(&kit);
    (void)snprintf(path, sizeof path, "%s.anchor", kit.path);
    for (long nth = 1; reached; nth++) {
        const struct writ_anchor anchor = {.to = path};
        writ_auto_buf before = writ_buf_make(WRIT_NOTE_BYTES_MAX), after = before;
        struct writ_proofs *proofs = NULL;
        struct writ_checkpoint head;
        struct writ_view note;
        char argument[24];
        writ_result result;

        WRIT_IGNORE(writ_text_file(path, before.max, &before, NULL)); /* none yet: empty */
        (void)snprintf(argument, sizeof argument, "%ld", nth);
        writ_kit_run(&kit, (spec){.argument = argument});
        ck_assert_ok(writ_proofs_open(kit.path, kit.ring, &proofs, NULL));
        writ_fault_arm(nth);
        result = writ_anchor_send(&anchor, proofs, NULL, &head, &note, NULL);
        reached = writ_fault_disarm();
        WRIT_IGNORE(writ_text_file(path, after.max, &after, NULL));
        if (writ_is_ok(result)) {
            ck_assert(writ_view_equal(writ_buf_view(&after), note));
        } else {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
            ck_assert_msg(writ_view_equal(writ_buf_view(&after), writ_buf_view(&before)),
                "allocation %ld", nth);
            ck_assert_ok(writ_anchor_send(&anchor, proofs, NULL, &head, &note, NULL));
        }
        writ_proofs_close(proofs);
    }
    (void)unlink(path);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("what leaves the ledger under faults",
    bundle_write_with_a_failed_allocation_gives_the_bundle_or_none,
    bundle_check_with_a_failed_allocation_gives_no_other_verdict,
    anchor_send_with_a_failed_allocation_keeps_or_replaces_the_file)
