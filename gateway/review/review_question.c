/* review_question.c - who may answer for a voter, the form, and its answer. Only the words of the
 * form are votes. */
#include "gateway/review/review_question.h"

/* ---- who is asked */

struct writ_view
writ_review_question_voter(const struct writ_request *request, struct writ_view review)
{
    const struct writ_config *config = writ_request_config(request);

    for (size_t i = 0; i < config->reviews_n && request->x->peer->same_user; i++) {
        if (writ_view_equal(config->reviews[i].name, review)) {
            return config->reviews[i].elicitation;
        }
    }
    return writ_view(NULL, 0);
}

/* ---- the form */

static void
put_schema(struct writ_write *w)
{
    static const struct writ_view schema = WRIT_LIT(
        "{\"properties\":{"
        "\"vote\":{\"description\":\"approve: the call runs once. reject: it does not run.\","
        "\"enum\":[\"approve\",\"reject\"],\"title\":\"Decision\",\"type\":\"string\"},"
        "\"reason\":{\"description\":\"The agent gets it with a reject.\",\"maxLength\":1024,"
        "\"title\":\"Reason (optional)\",\"type\":\"string\"}},"
        "\"required\":[\"vote\"],\"type\":\"object\"}");

    writ_write_name(w, WRIT_LIT("requestedSchema"));
    writ_write_raw(w, schema);
}

void
writ_review_question_put(
    struct writ_write *w, const struct writ_review_question *question, bool with_mode)
{
    if (with_mode) {
        writ_write_text(w, "mode", WRIT_LIT("form"));
    }
    writ_write_text(w, "message", question->text);
    put_schema(w);
}

/* ---- the answer */

bool
writ_review_question_read(const struct writ_json *content, struct writ_entry_review *ret)
{
    const struct writ_json *reason = writ_json_get(content, WRIT_LIT("reason"));
    struct writ_entry_review r = {.event = WRIT_REVIEW_DO_VOTE, .via = WRIT_REVIEW_QUESTION_VIA};

    r.vote = writ_review_vote_find(writ_json_string(writ_json_get(content, WRIT_LIT("vote"))));
    if (reason != NULL) {
        r.feedback = writ_json_string(reason);
        if (r.feedback.ptr == NULL || !writ_review_is_feedback(r.feedback)) {
            return false;
        }
        r.feedback = r.feedback.len > 0 ? r.feedback : writ_view(NULL, 0); /* left empty */
    }
    if (r.vote != WRIT_REVIEW_APPROVE && r.vote != WRIT_REVIEW_REJECT) {
        return false;
    }
    *ret = r;
    return true;
}
