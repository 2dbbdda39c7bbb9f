/* The draft is changed in place, and the record says why. Only a review that approved the call
 * turns another verdict into an allow. */
#include "store/grant/draft.h"

#include "evidence/record/duplicates.h"
#include "evidence/record/extension.h"
#include "store/tables/charge.h"

#define TEXT_MAX (2 * WRIT_TAG_BYTES + WRIT_DECIMAL_PUT_MAX + 64)
#define DAY_TEXT 10 /* "2026-11-21" */
#define US_PER_S INT64_C(1000000)

WRIT_RESULT
writ_draft_move_to_refused(struct writ_judgement *j)
{
    struct writ_decision *draft = j->d->draft;
    size_t had = draft->evidence_refs.is == WRIT_PRESENT ? draft->evidence_refs.count : 0;
    struct writ_view *refs = writ_arena_get(j->arena, (had + 1) * sizeof *refs);
    writ_auto_buf text = writ_buf_make(WRIT_LEDGER_NAME_MAX + 16);
    char day[WRIT_TIME_TEXT];

    writ_buf_str(&text, "boundary:");
    writ_buf_put(&text, draft->boundary_id.view);
    WRIT_TRY(writ_buf_check(&text, &j->err));
    if (refs == NULL) {
        WRIT_FAIL(&j->err, WRIT_E_NOMEM, "no memory for a refusal");
    }
    for (size_t i = 0; i < had; i++) {
        refs[i] = draft->evidence_refs.items[i];
    }
    refs[had] = writ_view_copy(writ_buf_view(&text), j->arena);

    writ_time_format(j->stamp_us, day);
    writ_buf_clear(&text);
    writ_buf_str(&text, WRIT_LEDGER_RESERVED "refused:");
    writ_buf_put(&text, writ_view(day, DAY_TEXT));
    WRIT_TRY(writ_buf_check(&text, &j->err));
    j->name = writ_view_copy(writ_buf_view(&text), j->arena);
    if (refs[had].ptr == NULL || j->name.ptr == NULL) {
        WRIT_FAIL(&j->err, WRIT_E_NOMEM, "no memory for a refusal");
    }
    draft->evidence_refs = writ_member_list(refs, had + 1);
    draft->boundary_id = writ_member_text(j->name);
    return writ_judgement_find_boundary(j);
}

/* The changes that make a new decision of a `revise`. */
static const struct writ_view changed_call = {"argument_change", sizeof "argument_change" - 1};

WRIT_RESULT
writ_draft_deny(struct writ_judgement *j, enum writ_reason reason)
{
    struct writ_decision *draft = j->d->draft;
    struct writ_extension extension = {0};

    WRIT_TRY(writ_extension_read(&draft->extensions, j->arena, &extension, &j->err));
    extension.reason = writ_member_text(writ_reason_name(reason));
    extension.first_decision_id = writ_member_text_or_absent(j->d->prior.decision_id);
    WRIT_TRY(writ_extension_make(&extension, j->arena, &draft->extensions, &j->err));
    if (!j->granting) {
        draft->supersedes = (struct writ_member_text){WRIT_NULL, {NULL, 0}};
        if (j->reviewing.review != NULL && j->reviewing.answer == WRIT_REVIEWING_REFUSES) {
            draft->supersedes = writ_member_text(j->review_id);
            draft->continuation_id = draft->supersedes;
        }
    }
    draft->decision = writ_decision_route_text(
        reason == WRIT_REASON_REVISION_REQUESTED ? WRIT_DECISION_REVISE : WRIT_DECISION_DENY);
    if (writ_decision_is(draft, WRIT_DECISION_REVISE)) {
        draft->revalidate_if = writ_member_list(&changed_call, 1);
    }
    draft->reason = writ_member_text(writ_reason_sentence(reason));
    j->d->refused = reason;
    return WRIT_DONE;
}

/* Records the reason: the review that the draft waits for, and what ended the review before it. */
static WRIT_RESULT
note_review(struct writ_judgement *j, enum writ_reason reason)
{
    struct writ_extension extension = {0};

    WRIT_TRY(writ_extension_read(&j->d->draft->extensions, j->arena, &extension, &j->err));
    extension.reason = writ_member_text_or_absent(
        reason == WRIT_REASON_NONE ? (struct writ_view){NULL, 0} : writ_reason_name(reason));
    return writ_extension_make(&extension, j->arena, &j->d->draft->extensions, &j->err);
}

WRIT_RESULT
writ_draft_pend(struct writ_judgement *j)
{
    struct writ_decision *draft = j->d->draft;
    const struct writ_reviewing *reviewing = &j->reviewing;

    draft->continuation_id = draft->decision_id;
    if (reviewing->before.ptr != NULL) { /* revalidated: the review before has another intent */
        draft->supersedes = writ_member_text(reviewing->before);
    } else if (reviewing->review != NULL) {
        draft->continuation_id = writ_member_text(j->review_id);
    }
    j->lifetime_us = j->d->ask->terms->lifetime_us;
    if (reviewing->until_us > j->stamp_us && reviewing->before.ptr == NULL) {
        j->lifetime_us = reviewing->until_us - j->stamp_us;
    }
    return note_review(j,
        reviewing->reason != WRIT_REASON_NONE ? reviewing->reason : WRIT_REASON_APPROVAL_REQUIRED);
}

WRIT_RESULT
writ_draft_approve(struct writ_judgement *j)
{
    struct writ_decision *draft = j->d->draft;

    draft->decision = writ_decision_route_text(WRIT_DECISION_ALLOW);
    draft->reason = writ_member_text(writ_reason_sentence(WRIT_REASON_APPROVAL_GRANTED));
    draft->continuation_id = writ_member_text(j->review_id);
    draft->supersedes = draft->continuation_id;
    j->lifetime_us = j->d->lifetime_us;
    return note_review(j, WRIT_REASON_NONE);
}

/* ---- the claim ---- */

int64_t
writ_draft_claim_seconds(const struct writ_judgement *j)
{
    const struct writ_ledger_options *options = &j->ledger->options;
    /* an implicit key contains its boundary, but the window after it still checks it for a while */
    int64_t kept_us = j->d->claim.caller_stated ? options->claim_kept_us : options->window_kept_us;

    if (!j->granting || j->before != NULL || j->d->duplicates == WRIT_DUPLICATES_ALLOW) {
        return 0;
    }
    return (kept_us + US_PER_S - 1) / US_PER_S;
}

static bool
says(const struct writ_extension *extension, struct writ_view duplicates, int64_t seconds,
    bool shadow, bool key_stated)
{
    bool has_seconds = extension->claim_seconds.is == WRIT_PRESENT;

    return writ_view_equal(writ_member_view(&extension->duplicates), duplicates) &&
           has_seconds == (seconds > 0) &&
           (!has_seconds || extension->claim_seconds.value == seconds) &&
           (extension->shadow.is == WRIT_PRESENT && extension->shadow.value) == shadow &&
           (extension->key_stated.is == WRIT_PRESENT && extension->key_stated.value) == key_stated;
}

WRIT_RESULT
writ_draft_tell_claim(struct writ_judgement *j)
{
    struct writ_decision *draft = j->d->draft;
    struct writ_extension extension = {0};
    struct writ_view duplicates = writ_duplicates_word(j->d->duplicates);
    int64_t seconds = writ_draft_claim_seconds(j);
    bool shadow = j->granting && !writ_decision_is(draft, WRIT_DECISION_ALLOW);

    WRIT_TRY(writ_extension_read(&draft->extensions, j->arena, &extension, &j->err));
    if (says(&extension, duplicates, seconds, shadow, j->d->claim.caller_stated)) {
        return WRIT_DONE; /* unchanged */
    }
    extension.duplicates = writ_member_text(duplicates);
    extension.claim_seconds =
        seconds > 0 ? writ_member_number(seconds) : (struct writ_member_number){WRIT_ABSENT, 0};
    extension.shadow =
        shadow ? writ_member_flag(true) : (struct writ_member_flag){WRIT_ABSENT, false};
    extension.key_stated = writ_member_flag(j->d->claim.caller_stated);
    return writ_extension_make(&extension, j->arena, &draft->extensions, &j->err);
}

/* ---- charges ---- */

static WRIT_RESULT
put_charge(const struct writ_booking *booking, bool is_held, struct writ_arena *arena,
    struct writ_view *ret)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    const struct writ_budget_charge charge = {.tag = writ_budgets_tag(booking->counter),
        .window_us = booking->counter->window_us,
        .window = booking->window,
        .amount = booking->amount,
        .held = is_held};

    writ_charge_put(&charge, &text);
    WRIT_TRY(writ_buf_check(&text, NULL));
    *ret = writ_view_copy(writ_buf_view(&text), arena);
    return ret->ptr == NULL ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
}

WRIT_RESULT
writ_draft_charge(struct writ_judgement *j)
{
    struct writ_decision *draft = j->d->draft;
    bool is_held = j->before != NULL;
    const struct writ_booking *bookings = is_held ? j->before->bookings : j->bookings;
    size_t n = !j->granting ? 0 : is_held ? j->before->bookings_n : j->bookings_n;
    struct writ_extension extension = {0};
    struct writ_view *items;

    if (n == 0) {
        return WRIT_DONE;
    }
    items = writ_arena_get(j->arena, n * sizeof *items);
    if (items == NULL) {
        WRIT_FAIL(&j->err, WRIT_E_NOMEM, "no memory for the charges of a call");
    }
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(put_charge(&bookings[i], is_held, j->arena, &items[i]));
    }
    WRIT_TRY(writ_extension_read(&draft->extensions, j->arena, &extension, &j->err));
    extension.charges = writ_member_list(items, n);
    return writ_extension_make(&extension, j->arena, &draft->extensions, &j->err);
}
