/* The output becomes a vote from outside, which is read as all of them are: so it has their limits.
 */
#include "gateway/reviewers/crew_verdict.h"

#include "base/text.h"
#include "evidence/json/write.h"
#include "gateway/admin/review_ballot.h"

/* The results of `mode: review`; other texts are votes, or nothing. */
static struct writ_view
vote_of(struct writ_view text)
{
    static const struct {
        const char *result;
        enum writ_review_vote vote;
    } results[] = {{"ACCEPT", WRIT_REVIEW_APPROVE}, {"REJECT", WRIT_REVIEW_REJECT},
        {"REQUEST_REVISION", WRIT_REVIEW_MODIFY}};

    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        if (writ_view_is(text, results[i].result)) {
            return writ_review_vote_name(results[i].vote);
        }
    }
    return text;
}

static WRIT_RESULT
put_members(struct writ_write *w, const struct writ_json *output, struct writ_err *err)
{
    static const char *const known[] = {"vote", "ranking", "feedback", "confidence"};

    WRIT_JSON_EACH(name, output)
    {
        size_t i = 0;

        while (
            i < sizeof known / sizeof known[0] && !writ_view_is(writ_json_string(name), known[i])) {
            i++;
        }
        if (i == sizeof known / sizeof known[0]) {
            WRIT_FAIL(err, WRIT_E_PARSE, "a member that the output of a crew does not have");
        }
        writ_write_name(w, writ_view_str(known[i]));
        writ_write_value(w, writ_json_get(output, writ_json_string(name)));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
put_ballot(const struct writ_json *output, struct writ_view digest, struct writ_buf *ret,
    struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text(&w, "review_digest", digest);
    if (writ_json_type(output) == WRIT_JSON_OBJECT) {
        WRIT_TRY(put_members(&w, output, err));
    } else if (writ_json_type(output) == WRIT_JSON_STRING) {
        writ_write_text(&w, "vote", vote_of(writ_json_string(output)));
    } else {
        WRIT_FAIL(err, WRIT_E_PARSE, "the output of the crew is neither a text nor an object");
    }
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

WRIT_RESULT
writ_crew_verdict_read(struct writ_view output, struct writ_view digest, struct writ_view voter,
    struct writ_arena *arena, struct writ_entry_review *ret, struct writ_err *err)
{
    const struct writ_review_seat seat = {.voter = voter, .digest = digest, .asked = true};
    struct writ_buf ballot = writ_buf_in(arena, WRIT_REVIEW_BALLOT_MAX);
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *value = NULL;

    limits.bytes = WRIT_REVIEW_BALLOT_MAX;
    WRIT_TRY(writ_json_read(output, &limits, arena, &value, err));
    WRIT_TRY(put_ballot(value, digest, &ballot, err));
    return writ_review_ballot_read(writ_buf_view(&ballot), &seat, arena, ret, NULL, err);
}
