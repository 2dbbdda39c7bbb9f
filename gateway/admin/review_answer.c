/* review_answer.c - writes a review as JSON. Arguments, states and texts of voters are untrusted
 * data and are written as JSON strings only. */
#include "gateway/admin/review_answer.h"

#include "base/text.h"
#include "crew/prompt.h"
#include "evidence/json/difference.h"
#include "gateway/listener/api_answer.h"
#include "evidence/record/review_terms.h"

#define DIFFERENCE_MAX 65536 /* bytes of the lines of a difference */

static void
time_member(struct writ_write *w, const char *name, int64_t us)
{
    char text[WRIT_TIME_TEXT];

    if (us != 0) {
        writ_time_format(us, text);
        writ_write_text_if(w, name, writ_view_str(text));
    }
}

static void
put_voters(struct writ_write *w, const struct writ_review *review)
{
    writ_write_name(w, WRIT_LIT("voters"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_review_voter *voter = &review->voters[i],
                                       *speaker = writ_review_speaker(review, voter);

        writ_write_object_begin(w);
        writ_write_text_if(w, "id", voter->id);
        writ_review_put_weight(w, voter);
        writ_write_flag(w, "veto", voter->veto);
        if (voter->key.len > 0) {
            writ_write_name(w, WRIT_LIT("key"));
            writ_write_raw(w, voter->key);
        }
        if (voter->stand_in) {
            writ_write_flag(w, "stand_in", true);
        }
        writ_write_text_if(w, "delegate", voter->delegate);
        writ_review_terms_put_delegation(w, voter);
        if (voter->revoked) {
            writ_write_flag(w, "revoked", true);
        }
        writ_write_count(w, "votes", voter->votes);
        writ_write_text_if(w, "vote", writ_review_vote_name(voter->vote));
        writ_review_ranking_put(w, "ranking", &voter->ranking);
        time_member(w, "voted_at", voter->voted_us);
        if (speaker != voter) { /* the vote of this other voter counts for it */
            writ_write_text_if(w, "speaker", speaker->id);
        }
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

void
writ_review_answer_put(struct writ_write *w, const struct writ_review_told *told)
{
    const struct writ_review *review = &told->review;

    writ_write_text_if(w, "id", review->id);
    writ_write_text_if(w, "state", writ_review_state_name(told->state));
    writ_write_text_if(w, "review", review->name);
    writ_write_text_if(w, "rule", review->rules_digest);
    writ_write_text_if(w, "agent_id", review->agent_id);
    writ_write_text_if(w, "tenant", review->tenant);
    time_member(w, "opened_at", review->opened_us);
    time_member(w, "changed_at", told->changed_us);
    time_member(w, "expires_at", told->until_us);
    writ_write_text_if(w, "review_digest", writ_view_str(told->digest));
    writ_write_text_if(w, "intent_digest", review->intent_digest);
    writ_write_text_if(w, "target_state_digest", review->target_state_digest);
    writ_write_text_if(w, "engine", review->engine);
    writ_write_text_if(w, "engine_digest", review->engine_digest);
    writ_review_ranking_put(w, "options", &review->options);
    writ_write_text_if(w, "elected", writ_review_vote_name(told->elected));
    writ_write_text_if(w, "threshold", review->threshold);
    writ_write_text_if(w, "quorum", review->quorum);
    put_voters(w, review);
}

static struct writ_view
member_of(const struct writ_json *decision, const char *name)
{
    return writ_json_string(writ_json_get(decision, writ_view_str(name)));
}

static WRIT_RESULT
put_prompt(struct writ_write *w, const struct writ_entry_review_get *get,
    const struct writ_json *decision, struct writ_view difference, struct writ_view voter,
    const struct writ_config *config, struct writ_err *err)
{
    const struct writ_reviewer_config *reviewer = writ_config_reviewer(config, voter);
    const struct writ_prompt prompt = {
        .voter = voter,
        .review = get->told.review.name,
        .instructions = reviewer != NULL ? reviewer->instructions : (struct writ_view){NULL, 0},
        .digest = writ_view_str(get->told.digest),
        .options = &get->told.review.options,
        .tool = member_of(decision, "tool"),
        .agent_id = get->told.review.agent_id,
        .target = member_of(decision, "target"),
        .scope = member_of(decision, "normalized_scope"),
        .reason = member_of(decision, "reason"),
        .arguments = writ_entry_review_shown(get),
        .target_state = get->target_state,
        .difference = difference,
    };
    writ_auto_buf text = writ_buf_make(WRIT_PROMPT_MAX);

    WRIT_TRY(writ_prompt_put(&prompt, &text, err));
    writ_write_text_if(w, "prompt", writ_buf_view(&text));
    return WRIT_DONE;
}

/* The differences between the state of the target and that of the review before, in `lines`. ptr
 * NULL: unknown, or so long that only the two states are sent. */
static WRIT_RESULT
find_difference(const struct writ_entry_review_get *get, struct writ_arena *arena,
    struct writ_buf *lines, struct writ_view *ret, struct writ_err *err)
{
    const struct writ_json *before = NULL, *now = NULL;

    if (get->target_state.ptr == NULL || get->state_before.ptr == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_json_read(get->target_state, &writ_json_limits_default, arena, &now, err));
    WRIT_TRY(writ_json_read(get->state_before, &writ_json_limits_default, arena, &before, err));
    (void)writ_difference_put(before, now, WRIT_DIFFERENCE_TEXT_MAX, lines);
    if (writ_is_ok(writ_buf_check(lines, NULL))) {
        *ret = writ_buf_view(lines);
    }
    return WRIT_DONE;
}

/* The state of the target, if a probe gave it, and its differences. It comes from the tool server:
 * data, like the arguments. */
static void
put_state(
    struct writ_write *w, const struct writ_entry_review_get *get, struct writ_view difference)
{
    if (get->target_state.ptr == NULL) {
        return;
    }
    writ_write_name(w, WRIT_LIT("target_state"));
    writ_write_raw(w, get->target_state);
    if (get->state_before.ptr == NULL) {
        return;
    }
    writ_write_name(w, WRIT_LIT("target_state_before"));
    writ_write_raw(w, get->state_before);
    writ_write_text_if(w, "target_state_difference", difference);
}

WRIT_RESULT
writ_review_answer_put_call(struct writ_write *w, const struct writ_entry_review_get *get,
    struct writ_view voter, const struct writ_config *config, struct writ_arena *arena,
    struct writ_err *err)
{
    const struct writ_json *decision = NULL;
    struct writ_view difference = {NULL, 0};
    bool votes = writ_review_voter(&get->told.review, voter) != NULL;
    writ_auto_buf lines = writ_buf_make(DIFFERENCE_MAX);

    WRIT_TRY(find_difference(get, arena, &lines, &difference, err));
    WRIT_TRY(writ_json_read(get->decision, &writ_json_limits_default, arena, &decision, err));
    writ_review_answer_put(w, &get->told);
    writ_write_text_if(w, "tool", member_of(decision, "tool"));
    if (get->arguments.ptr != NULL) {
        writ_write_name(w, WRIT_LIT("arguments"));
        writ_write_raw(w, get->arguments);
    }
    if (get->candidates.ptr != NULL) {
        writ_write_name(w, WRIT_LIT("candidates"));
        writ_write_raw(w, get->candidates);
    }
    put_state(w, get, difference);
    if (get->conditions.ptr != NULL && votes) { /* the agent that asked could stay below the
                                                   conditions */
        writ_write_name(w, WRIT_LIT("conditions"));
        writ_write_raw(w, get->conditions);
    }
    if (get->arguments.ptr != NULL && votes && get->told.state == WRIT_REVIEW_OPEN) {
        WRIT_TRY(put_prompt(w, get, decision, difference, voter, config, err));
    }
    writ_write_name(w, WRIT_LIT("decision"));
    writ_write_raw(w, get->decision);
    return WRIT_DONE;
}
