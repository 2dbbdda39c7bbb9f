#include "gateway/review_answer.h"

#include "base/text.h"

static void
text_member(struct writ_write *w, struct writ_view name, struct writ_view value)
{
    if (value.len > 0) {
        writ_write_name(w, name);
        writ_write_string(w, value);
    }
}

static void
time_member(struct writ_write *w, struct writ_view name, int64_t us)
{
    char text[WRIT_TIME_TEXT];

    if (us != 0) {
        writ_time_format(us, text);
        text_member(w, name, writ_view_str(text));
    }
}

static void
put_voters(struct writ_write *w, const struct writ_review *review)
{
    writ_write_name(w, WRIT_LIT("voters"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_review_voter *voter = &review->voters[i];

        writ_write_object_begin(w);
        text_member(w, WRIT_LIT("id"), voter->id);
        writ_write_name(w, WRIT_LIT("weight"));
        writ_write_i64(w, voter->weight);
        writ_write_name(w, WRIT_LIT("veto"));
        writ_write_bool(w, voter->veto);
        text_member(w, WRIT_LIT("vote"), writ_review_vote_name(voter->vote));
        time_member(w, WRIT_LIT("voted_at"), voter->voted_us);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

void
writ_review_answer_put(struct writ_write *w, const struct writ_review_told *told)
{
    const struct writ_review *review = &told->review;

    text_member(w, WRIT_LIT("id"), review->id);
    text_member(w, WRIT_LIT("state"), writ_review_state_name(told->state));
    text_member(w, WRIT_LIT("review"), review->name);
    text_member(w, WRIT_LIT("agent_id"), review->agent_id);
    text_member(w, WRIT_LIT("tenant"), review->tenant);
    time_member(w, WRIT_LIT("opened_at"), review->opened_us);
    time_member(w, WRIT_LIT("changed_at"), told->changed_us);
    time_member(w, WRIT_LIT("expires_at"), told->until_us);
    text_member(w, WRIT_LIT("review_digest"), writ_view_str(told->digest));
    text_member(w, WRIT_LIT("intent_digest"), review->intent_digest);
    text_member(w, WRIT_LIT("target_state_digest"), review->target_state_digest);
    text_member(w, WRIT_LIT("engine"), review->engine);
    text_member(w, WRIT_LIT("threshold"), review->threshold);
    text_member(w, WRIT_LIT("quorum"), review->quorum);
    put_voters(w, review);
}
