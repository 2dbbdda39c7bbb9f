/* A decision is recomputed from its members, and compared with its columns, its boundary, its claim
 * and the decision that it follows. */
#include "store/read/check_parts.h"

#include "evidence/record/derive.h"
#include "evidence/record/duplicates.h"
#include "store/tables/body.h"
#include "store/tables/charge.h"

/* ---- columns ---- */

/* A granted call has a claim, unless it may run again or continues a call that has one: what its
 * record says of the claim decides. */
static void
check_due(
    struct writ_check *v, const struct writ_said *said, const struct writ_extension *extension)
{
    bool granted = (said->row.flags & WRIT_ROW_GRANTED) != 0;
    bool follows = (v->row.flags & WRIT_ROW_FOLLOWS) != 0;
    struct writ_view duplicates = writ_member_view(&extension->duplicates);
    bool many = writ_view_equal(duplicates, writ_duplicates_word(WRIT_DUPLICATES_ALLOW));

    if (granted) {
        writ_check_expect(v,
            many || writ_view_equal(duplicates, writ_duplicates_word(WRIT_DUPLICATES_FORBID)) ||
                writ_view_equal(duplicates, writ_duplicates_word(WRIT_DUPLICATES_REPLAY)),
            "it was granted and does not say what a second call gets");
    }
    writ_check_expect(v, (said->row.claim != NULL) == (granted && !follows && !many),
        "it has a claim that is not due, or none where one is");
}

static void
check_columns(struct writ_check *v, struct writ_check_run *run,
    const struct writ_decision *decision, const struct writ_said *said)
{
    if (!run->seq_known) {
        run->next_seq = v->row.seq;
        run->seq_known = true;
    }
    writ_check_expect(v,
        writ_said_same(said, &v->row) && writ_view_equal(said->boundary_id, run->name) &&
            writ_view_equal(said->tenant, run->tenant),
        "the columns beside the record differ from it");
    writ_check_expect(
        v, writ_check_parts_same_number(&decision->seq, run->next_seq), "its seq does not follow");
    writ_check_expect(v, writ_check_parts_same_number(&decision->running_count, v->row.seq + 1),
        "its running_count is not seq + 1");
}

/* Every decision is found by its id, and no other one has that id. */
static WRIT_RESULT
check_index(struct writ_check *v)
{
    struct writ_check_first first = {0};

    if (v->archived) {
        return WRIT_DONE; /* no index has it */
    }
    WRIT_TRY(writ_check_parts_find_first(v, v->row.decision_id, &first));
    writ_check_expect(v, first.leaf == v->row.leaf,
        "its decision_id is another record's too, or does not lead to it");
    return WRIT_DONE;
}

/* ---- decisions before it ---- */

/* The index must find each decision that follows another one: the history of a call would miss one
 * that the index hides. */
static WRIT_RESULT
check_successor(struct writ_check *v)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_SUCCESSOR];

    if (v->archived) {
        return WRIT_DONE; /* no index has it */
    }
    v->successors++;
    writ_sql_bind_int(s, 1, (int64_t)v->row.about);
    writ_sql_bind_int(s, 2, (int64_t)v->row.leaf);
    return writ_check_parts_found(
        v, WRIT_CHECK_SQL_SUCCESSOR, "the decision that it follows does not lead to it");
}

/* A decision that continues no other one supersedes none that waits: it supersedes a call that was
 * not granted. */
static WRIT_RESULT
check_first(struct writ_check *v, const struct writ_decision *decision)
{
    struct writ_view before = writ_member_view(&decision->supersedes);
    struct writ_check_first first = {0};
    struct writ_check_call *call = NULL;

    if (before.len == 0) {
        return WRIT_DONE;
    }
    if (v->archive != NULL) {
        WRIT_TRY(writ_check_parts_find_named(v, before, &call));
    } else {
        WRIT_TRY(writ_check_parts_find_first(v, before, &first));
        call = writ_check_parts_find_call(v, first.leaf);
    }
    writ_check_expect(v, call == NULL || !call->granted,
        "it replaces a call that is under way, and its columns do not say so");
    return WRIT_DONE;
}

/* A round continues a call of its boundary that was granted and has no outcome; that call will have
 * none. */
static WRIT_RESULT
check_round(struct writ_check *v, const struct writ_check_run *run,
    const struct writ_decision *decision, struct writ_check_claimed *claimed)
{
    struct writ_decision before = {0};
    struct writ_check_call *call;
    bool read = false;

    if ((v->row.flags & WRIT_ROW_FOLLOWS) == 0) {
        return check_first(v, decision);
    }
    WRIT_TRY(check_successor(v));
    call = writ_check_parts_find_call(v, v->row.about);
    if (call == NULL && writ_check_parts_is_unread(v, v->row.about) && run->partial) {
        return WRIT_DONE;
    }
    if (call == NULL || !call->granted || call->run != run) {
        writ_check_problem(v, v->row.leaf, "it follows a decision that does not wait");
        return WRIT_DONE;
    }
    *claimed = call->claimed;
    writ_check_parts_free_call(v, call);
    WRIT_TRY(writ_check_parts_read_decision(v, &before, &read));
    writ_check_expect(v,
        !read || (decision->supersedes.is == WRIT_PRESENT &&
                     writ_check_parts_same_text(&before.decision_id, decision->supersedes.view)),
        "it does not name the decision that it follows");
    return WRIT_DONE;
}

/* ---- the decision ---- */

/* Whether it allows its call under a review. */
static bool
is_approved(const struct writ_check *v, const struct writ_decision *decision)
{
    return (v->row.flags & WRIT_ROW_GRANTED) != 0 && (v->row.flags & WRIT_ROW_FOLLOWS) == 0 &&
           writ_decision_is(decision, WRIT_DECISION_ALLOW) &&
           writ_member_text_equal(&decision->continuation_id, &decision->supersedes, false);
}

WRIT_RESULT
writ_check_parts_decision(struct writ_check *v, const struct writ_json *value)
{
    struct writ_decision decision = {0};
    struct writ_extension extension = {0};
    struct writ_faults faults = {0};
    const struct writ_profile *profile = NULL;
    struct writ_check_run *run = NULL;
    struct writ_check_claimed claimed = {0};
    struct writ_said said;
    bool read = false, told = false;

    v->report->decisions++;
    WRIT_TRY(writ_check_parts_find_run(v, &run));
    WRIT_TRY(
        writ_check_parts_readable(v, writ_decision_read(value, v->arena, &decision, NULL), &read));
    if (!read || run == NULL) {
        writ_check_expect(v, read, "it is not a decision");
        return WRIT_DONE;
    }
    WRIT_TRY(writ_check_parts_readable(
        v, writ_extension_read(&decision.extensions, v->arena, &extension, NULL), &read));
    writ_check_expect(v, read, "its extension exceeds a limit");
    writ_decision_validate(&decision, &faults);
    WRIT_TRY(writ_body_profile(&decision, v->arena, &profile, v->err));
    WRIT_TRY(writ_decision_recompute(&decision, profile, &faults, v->err));
    writ_check_parts_expect_no_faults(v, &faults);
    writ_check_expect(v, writ_charge_all_good(&extension, v->row.time_us),
        "its charges are not readable, or of another time");
    WRIT_TRY(writ_check_parts_writable(
        v, writ_said_decision(&decision, &extension, &said, NULL), &told));
    if (told) {
        check_columns(v, run, &decision, &said);
        check_due(v, &said, &extension);
        WRIT_TRY(writ_check_once_claim(v, &said));
        claimed = (struct writ_check_claimed){said.row.claim != NULL, writ_tag_read(said.tags)};
    }
    WRIT_TRY(check_index(v));
    WRIT_TRY(check_round(v, run, &decision, &claimed));
    if (is_approved(v, &decision)) {
        WRIT_TRY(writ_check_story_grant(v, &decision));
    }
    WRIT_TRY(writ_check_parts_await_outcome(v, run, &claimed));
    run->next_seq++;
    return writ_seal_hash_add(&run->hash, v->row.decision_id, v->err);
}
