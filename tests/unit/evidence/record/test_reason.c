/* The table of reasons. Every reason has a name, a group and a sentence; names are found in both
 * spellings, and docs/reasons.md equals the table. */
#include "support/unit.h"

#include "base/text.h"
#include "evidence/record/reason.h"

#include <stdio.h>

START_TEST(reason_none_is_zero_and_has_a_name)
{
    ck_assert_int_eq(WRIT_REASON_NONE, 0);
    ck_assert_view(writ_reason_name(WRIT_REASON_NONE), "none");
    ck_assert_uint_eq(writ_reason_groups(WRIT_REASON_NONE), 0);
}
END_TEST

START_TEST(reason_name_out_of_range_is_none)
{
    ck_assert_view(writ_reason_name(WRIT_REASON_COUNT), "none");
    ck_assert_view(writ_reason_name((enum writ_reason)(-1)), "none");
}
END_TEST

START_TEST(reason_find_gives_every_name)
{
    for (int i = WRIT_REASON_NONE + 1; i < WRIT_REASON_COUNT; i++) {
        enum writ_reason reason = (enum writ_reason)i;
        ck_assert_int_eq(writ_reason_find(writ_reason_name(reason)), reason);
    }
}
END_TEST

START_TEST(reason_find_of_an_unknown_name_is_none)
{
    ck_assert_int_eq(writ_reason_find(WRIT_LIT("")), WRIT_REASON_NONE);
    ck_assert_int_eq(writ_reason_find(WRIT_LIT("none")), WRIT_REASON_NONE);
    ck_assert_int_eq(writ_reason_find(WRIT_LIT("Expired")), WRIT_REASON_NONE);
    ck_assert_int_eq(writ_reason_find(WRIT_LIT("expired ")), WRIT_REASON_NONE);
}
END_TEST

/* The enum's name is the other one in upper case: two rows cannot be mixed up. */
START_TEST(reason_spellings_of_a_name_have_the_same_words)
{
#define SPELLING(NAME, name, groups, sentence, hint) {#NAME, #name},
    static const struct {
        const char *upper, *lower;
    } spellings[] = {WRIT_REASONS(SPELLING)};
#undef SPELLING

    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        ck_assert_msg(writ_view_equal_nocase(
                          writ_view_str(spellings[i].upper), writ_view_str(spellings[i].lower)),
            "%s is called %s", spellings[i].upper, spellings[i].lower);
        for (const char *c = spellings[i].lower; *c != '\0'; c++) {
            ck_assert((*c >= 'a' && *c <= 'z') || *c == '_');
        }
    }
}
END_TEST

START_TEST(reason_table_has_a_group_and_a_sentence_for_each)
{
    for (int i = WRIT_REASON_NONE + 1; i < WRIT_REASON_COUNT; i++) {
        enum writ_reason reason = (enum writ_reason)i;
        struct writ_view sentence = writ_reason_sentence(reason);
        ck_assert_uint_ne(writ_reason_groups(reason), 0);
        ck_assert_uint_gt(sentence.len, 10);
        ck_assert(!writ_view_has_suffix(sentence, WRIT_LIT(".")));
        ck_assert(!writ_view_has_suffix(writ_reason_hint(reason), WRIT_LIT(".")));
    }
}
END_TEST

/* The reasons that the binding check and the check of a credential give. */
START_TEST(reason_table_has_those_of_the_contract)
{
    static const char *const binding[] = {"decision_not_allow", "expired", "agent_id_mismatch",
        "tool_mismatch", "target_mismatch", "normalized_scope_mismatch", "exact_intent_mismatch",
        "continuation_mismatch", "idempotency_key_mismatch", "target_state_drift",
        "duplicate_outcome", "contract_binding_ok", "idempotency_key_reuse"};
    static const char *const credential[] = {"missing_credential", "malformed", "key_revoked",
        "unknown_key", "bad_signature", "key_out_of_time", "wrong_issuer", "wrong_audience",
        "not_yet_valid", "expired", "scope_mismatch", "number_not_exact", "args_mismatch",
        "state_drift", "revoked", "replayed"};

    for (size_t i = 0; i < sizeof binding / sizeof binding[0]; i++) {
        enum writ_reason reason = writ_reason_find(writ_view_str(binding[i]));
        ck_assert_msg(writ_reason_groups(reason) & WRIT_REASON_IN_BINDING, "%s", binding[i]);
    }
    for (size_t i = 0; i < sizeof credential / sizeof credential[0]; i++) {
        enum writ_reason reason = writ_reason_find(writ_view_str(credential[i]));
        ck_assert_msg(writ_reason_groups(reason) & WRIT_REASON_IN_CREDENTIAL, "%s", credential[i]);
    }
}
END_TEST

/* ---- docs/reasons.md */

#define PAGE_MAX 65536

static void
put_group(struct writ_buf *page, enum writ_reason_group group, const char *title, const char *intro)
{
    writ_buf_fmt(page, "\n## %s\n\n%s\n\n", title, intro);
    writ_buf_str(page, "| reason | what it says | what to do |\n| --- | --- | --- |\n");
    for (int i = WRIT_REASON_NONE + 1; i < WRIT_REASON_COUNT; i++) {
        enum writ_reason reason = (enum writ_reason)i;
        if ((writ_reason_groups(reason) & group) != 0) {
            writ_buf_fmt(page, "| `" WRIT_VIEW_FMT "` | " WRIT_VIEW_FMT " | " WRIT_VIEW_FMT " |\n",
                WRIT_VIEW_ARG(writ_reason_name(reason)),
                WRIT_VIEW_ARG(writ_reason_sentence(reason)),
                WRIT_VIEW_ARG(writ_reason_hint(reason)));
        }
    }
}

static void
put_page(struct writ_buf *page)
{
    writ_buf_str(page,
        "# Reasons\n\n"
        "One word says why a call was refused: in the answer to the caller\n"
        "(`error.data.reason`), in the record of the [decision](concepts.md#decision)\n"
        "(`extensions.writ.reason`), in logs and in metrics. These are all the words.\n"
        "They are never renamed.\n\n"
        "This page is made from `core/evidence/record/reason.tbl.h`; a test compares the two.\n");
    put_group(page, WRIT_REASON_IN_BINDING, "The binding check",
        "Right before the call is made, in this order; the first that fails is reported.");
    put_group(page, WRIT_REASON_IN_CREDENTIAL, "Verifying a credential",
        "At the tool server, or with `writ verify credential`. The checks come in the order\n"
        "`missing_credential`, `malformed`, `key_revoked`, `unknown_key`, `bad_signature`,\n"
        "`key_out_of_time`, `wrong_issuer`, `wrong_audience`, `not_yet_valid`, `expired`,\n"
        "`scope_mismatch`, `number_not_exact`, `args_mismatch`, `state_drift`, `status_unknown`,\n"
        "`revoked`, `replayed`; the first that fails is reported.");
    put_group(page, WRIT_REASON_IN_FOREIGN, "Verifying a grant of Vaara",
        "With `writ verify foreign --profile vaara-v0`, in this order but for `expired`, which "
        "comes\n"
        "after `bad_signature`; the first that fails is reported.");
    put_group(page, WRIT_REASON_IN_EVIDENCE, "Verifying evidence",
        "With `writ verify receipt`, `writ verify bundle`, `writ verify flows` and `writ verify "
        "timestamp`, about the\n"
        "file and not about a call.\n"
        "The first that fails is reported; `docs/receipts.md` has the order.");
    put_group(page, WRIT_REASON_IN_POLICY, "Policy", "What the configuration says about the call.");
    put_group(page, WRIT_REASON_IN_RUN, "Runs",
        "Of records that say something about a run: they are about no call, and refuse none.");
    put_group(page, WRIT_REASON_IN_REVIEW, "Reviews", "When a call needs an approval.");
    put_group(page, WRIT_REASON_IN_GATEWAY, "The gateway",
        "Everything around the decision: what arrives, the ledger, the tool server.");
}

/* The page as it should be, in the build folder, for the author of a change. */
static void
write_page(const struct writ_buf *page)
{
    FILE *file = fopen("reasons.md", "w");

    if (file != NULL) {
        (void)fwrite(page->ptr, 1, page->len, file);
        (void)fclose(file);
    }
}

START_TEST(reason_page_equals_the_table)
{
    writ_auto_buf want = writ_buf_make(PAGE_MAX);
    writ_auto_buf got = writ_buf_make(PAGE_MAX);
    writ_result read;

    put_page(&want);
    ck_assert_ok(writ_buf_check(&want, NULL));
    read = writ_text_file(WRIT_SOURCE_DIR "/docs/reasons.md", PAGE_MAX, &got, NULL);
    if (!writ_is_ok(read) || !writ_view_equal(writ_buf_view(&want), writ_buf_view(&got))) {
        write_page(&want);
        ck_abort_msg("docs/reasons.md is out of date: copy reasons.md from the build folder");
    }
}
END_TEST

WRIT_UNIT_MAIN("reason", reason_none_is_zero_and_has_a_name, reason_name_out_of_range_is_none,
    reason_find_gives_every_name, reason_find_of_an_unknown_name_is_none,
    reason_spellings_of_a_name_have_the_same_words,
    reason_table_has_a_group_and_a_sentence_for_each, reason_table_has_those_of_the_contract,
    reason_page_equals_the_table)
