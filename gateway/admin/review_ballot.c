/* review_ballot.c - reads one of three forms. A member of another form is an error, because the
 * voter might have meant that form. */
#include "gateway/admin/review_ballot.h"

#include "base/text.h"
#include "crew/prompt.h"
#include "crew/reply.h"
#include "evidence/record/ballot.h"

#define MEMBER_SHOWN 64 /* bytes of a member's name in an error */

/* A member that is a string, or {NULL, 0} without it. False: another type. */
static bool
string_of(const struct writ_json *body, struct writ_view name, struct writ_view *ret)
{
    const struct writ_json *value = writ_json_get(body, name);

    *ret = value != NULL ? writ_json_string(value) : (struct writ_view){NULL, 0};
    return value == NULL || writ_json_type(value) == WRIT_JSON_STRING;
}

/* One of several votes: never on a review that must be read alone. */
static WRIT_RESULT
read_bulk(struct writ_view rule, const struct writ_review_seat *seat, struct writ_entry_review *ret,
    struct writ_err *err)
{
    if (rule.ptr == NULL) {
        return WRIT_DONE;
    }
    if (seat->bulk_rule.len == 0) {
        WRIT_FAIL(err, WRIT_E_PARSE, "%s: vote on it alone",
            seat->no_bulk != NULL ? seat->no_bulk : "the review takes no votes in bulk");
    }
    if (!writ_view_equal(rule, seat->bulk_rule)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the review is not of the rule in bulk: vote on it alone");
    }
    ret->via = WRIT_LIT("bulk");
    return WRIT_DONE;
}

static WRIT_RESULT
read_plain(const struct writ_json *body, const struct writ_review_seat *seat,
    struct writ_entry_review *ret, struct writ_err *err)
{
    const struct writ_json *confidence = writ_json_get(body, WRIT_LIT("confidence"));
    struct writ_view vote, rule;

    if (!string_of(body, WRIT_LIT("vote"), &vote) || !string_of(body, WRIT_LIT("bulk"), &rule) ||
        !string_of(body, WRIT_LIT("feedback"), &ret->feedback)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "vote, feedback and bulk are strings");
    }
    WRIT_TRY(read_bulk(rule, seat, ret, err));
    ret->vote = writ_review_vote_find(vote);
    if (ret->vote == WRIT_REVIEW_NO_VOTE) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the vote is not one of " WRIT_REVIEW_VOTE_WORDS);
    }
    if (ret->feedback.ptr != NULL && !writ_review_is_feedback(ret->feedback)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the feedback is too long, or has control characters");
    }
    if (confidence != NULL) {
        ret->confidence = writ_json_text(confidence);
        if (writ_json_type(confidence) != WRIT_JSON_NUMBER ||
            !writ_review_is_confidence(ret->confidence)) {
            WRIT_FAIL(err, WRIT_E_PARSE, "the confidence is not a number from 0 to 1");
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_answer(struct writ_view answer, const struct writ_review_seat *seat, struct writ_arena *arena,
    struct writ_entry_review *ret, struct writ_err *err)
{
    char token[WRIT_PROMPT_TOKEN];
    struct writ_reply reply;

    WRIT_TRY(writ_prompt_token(ret->digest, seat->voter, token));
    WRIT_TRY(writ_reply_read(answer, writ_view_str(token), seat->whole, arena, &reply, err));
    ret->vote = reply.vote;
    ret->feedback = reply.feedback;
    ret->confidence = reply.confidence;
    return WRIT_DONE;
}

static WRIT_RESULT
read_signed(struct writ_view token, struct writ_arena *arena, struct writ_entry_review *ret,
    struct writ_err *err)
{
    struct writ_ballot ballot;

    WRIT_TRY(writ_ballot_read(token, arena, &ballot, err));
    ret->digest = ballot.digest;
    ret->vote = ballot.vote;
    ret->feedback = ballot.feedback;
    ret->confidence = ballot.confidence;
    ret->signature = token;
    return WRIT_DONE;
}

/* Each form has its own members; an ignored member might be the one that the voter meant. */
static WRIT_RESULT
check_members(const struct writ_json *body, bool asked, struct writ_err *err)
{
    static const struct writ_view plain[] = {WRIT_LIT("review_digest"), WRIT_LIT("vote"),
        WRIT_LIT("feedback"), WRIT_LIT("confidence"), WRIT_LIT("bulk")};
    static const struct writ_view answer[] = {WRIT_LIT("review_digest"), WRIT_LIT("answer")};
    static const struct writ_view token[] = {WRIT_LIT("signed")};
    bool answers = writ_json_get(body, answer[1]) != NULL;
    bool is_signed = writ_json_get(body, token[0]) != NULL;
    const struct writ_view *known = is_signed ? token : answers ? answer : plain;
    size_t n = is_signed ? 1 : answers ? 2 : asked ? 4 : 5;

    WRIT_JSON_EACH(name, body)
    {
        writ_auto_buf shown = writ_buf_make(MEMBER_SHOWN * 8);
        size_t i = 0;
        while (i < n && !writ_view_equal(writ_json_string(name), known[i])) {
            i++;
        }
        if (i == n && !(asked && writ_view_is(writ_json_string(name), "id"))) {
            writ_text_safe(&shown, writ_json_string(name), MEMBER_SHOWN);
            WRIT_FAIL(err, WRIT_E_PARSE,
                "such a vote has no member \"" WRIT_VIEW_FMT "\": remove it",
                WRIT_VIEW_ARG(writ_buf_view(&shown)));
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_review_ballot_read(struct writ_view text, const struct writ_review_seat *seat,
    struct writ_arena *arena, struct writ_entry_review *ret, struct writ_err *err)
{
    struct writ_entry_review r = {.event = WRIT_REVIEW_DO_VOTE, .by = seat->voter};
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *body = NULL;
    struct writ_view answer, token;

    limits.bytes = WRIT_REVIEW_BALLOT_MAX;
    WRIT_TRY(writ_json_read(text, &limits, arena, &body, err));
    if (writ_json_type(body) != WRIT_JSON_OBJECT ||
        !string_of(body, WRIT_LIT("review_digest"), &r.digest) ||
        !string_of(body, WRIT_LIT("answer"), &answer) ||
        !string_of(body, WRIT_LIT("signed"), &token)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a vote is an object of strings");
    }
    if ((writ_json_get(body, WRIT_LIT("vote")) != NULL) + (answer.ptr != NULL) +
            (token.ptr != NULL) !=
        1) {
        WRIT_FAIL(err, WRIT_E_PARSE, "there is not exactly one of vote, answer and signed");
    }
    WRIT_TRY(check_members(body, seat->asked, err));
    if (answer.ptr != NULL && r.digest.ptr == NULL) {
        r.digest = seat->digest; /* the token binds it */
    }
    if (answer.ptr != NULL) {
        WRIT_TRY(read_answer(answer, seat, arena, &r, err));
    } else if (token.ptr != NULL) {
        WRIT_TRY(read_signed(token, arena, &r, err));
    } else {
        WRIT_TRY(read_plain(body, seat, &r, err));
    }
    *ret = r;
    return WRIT_DONE;
}
