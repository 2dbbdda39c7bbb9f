/* review_ballot.c - reads one of three forms. A member of another form is an error, because the
 * voter might have meant that form. */
#include "gateway/admin/review_ballot.h"

#include "base/text.h"
#include "crew/prompt.h"
#include "crew/reply.h"
#include "evidence/record/ballot.h"

#define MEMBER_SHOWN 64 /* bytes of a member's name in an error */
#define DETAIL_MAX   512

/** One vote that is read. */
struct reading {
    const struct writ_review_seat *seat;
    struct writ_arena *arena;
    const char *hint; /* of the fault */
    struct writ_err *err;
};

/* `hint`: what the voter has to do. Static storage. */
static writ_result
malformed(struct reading *reading, const char *detail, const char *hint)
{
    reading->hint = hint;
    return writ_fail(reading->err, WRIT_E_PARSE, "%s", detail);
}

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
read_bulk(struct reading *reading, struct writ_view rule, struct writ_entry_review *ret)
{
    const struct writ_review_seat *seat = reading->seat;

    if (rule.ptr == NULL) {
        return WRIT_DONE;
    }
    if (seat->bulk_rule.len == 0) {
        return malformed(reading,
            seat->no_bulk != NULL ? seat->no_bulk : "the review takes no votes in bulk",
            "vote on this review alone, without bulk");
    }
    if (!writ_view_equal(rule, seat->bulk_rule)) {
        return malformed(reading, "the review is not of the rule in bulk",
            "vote on this review alone, without bulk");
    }
    ret->via = WRIT_LIT("bulk");
    return WRIT_DONE;
}

static WRIT_RESULT
read_feedback(struct reading *reading, const struct writ_json *body, struct writ_entry_review *ret)
{
    if (!string_of(body, WRIT_LIT("feedback"), &ret->feedback) ||
        (ret->feedback.ptr != NULL && !writ_review_is_feedback(ret->feedback))) {
        return malformed(reading,
            "the feedback is not a text, is too long, or has control characters",
            "send feedback as a string of at most 4096 bytes, without control characters");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_confidence(
    struct reading *reading, const struct writ_json *body, struct writ_entry_review *ret)
{
    const struct writ_json *confidence = writ_json_get(body, WRIT_LIT("confidence"));

    if (confidence == NULL) {
        return WRIT_DONE;
    }
    ret->confidence = writ_json_text(confidence);
    return writ_json_type(confidence) == WRIT_JSON_NUMBER &&
                   writ_review_is_confidence(ret->confidence)
               ? WRIT_DONE
               : malformed(reading, "the confidence is not a number from 0 to 1",
                     "send confidence as a number from 0 to 1, such as 0.9");
}

static WRIT_RESULT
read_plain(struct reading *reading, const struct writ_json *body, struct writ_entry_review *ret)
{
    const struct writ_json *ranking = writ_json_get(body, WRIT_LIT("ranking"));
    struct writ_view vote, rule;

    if (!string_of(body, WRIT_LIT("bulk"), &rule)) {
        return malformed(
            reading, "bulk is not a string", "send the member rule of the review as bulk");
    }
    WRIT_TRY(read_bulk(reading, rule, ret));
    if (ranking != NULL && !writ_review_ranking_read(ranking, &ret->ranking)) {
        return malformed(reading, "the ranking is not a list of different votes",
            "send the options of the review as ranking, each once, best first");
    }
    (void)string_of(body, WRIT_LIT("vote"), &vote);
    ret->vote = ret->ranking.n > 0 ? ret->ranking.list[0] : writ_review_vote_find(vote);
    if (ret->vote == WRIT_REVIEW_NO_VOTE) {
        return malformed(reading, "the vote is not one of " WRIT_REVIEW_VOTE_WORDS,
            "send one of these words as vote: " WRIT_REVIEW_VOTE_WORDS);
    }
    WRIT_TRY(read_feedback(reading, body, ret));
    return read_confidence(reading, body, ret);
}

static WRIT_RESULT
read_answer(struct reading *reading, struct writ_view answer, struct writ_entry_review *ret)
{
    const struct writ_review_seat *seat = reading->seat;
    char token[WRIT_PROMPT_TOKEN];
    struct writ_reply reply;

    reading->hint = "send the model's answer unchanged; let the model answer with one JSON object "
                    "that repeats the token of its prompt and has one vote";
    WRIT_TRY(writ_prompt_token(ret->digest, seat->voter, token));
    WRIT_TRY(writ_reply_read(
        answer, writ_view_str(token), seat->whole, reading->arena, &reply, reading->err));
    ret->vote = reply.vote;
    ret->ranking = reply.ranking;
    ret->feedback = reply.feedback;
    ret->confidence = reply.confidence;
    return WRIT_DONE;
}

static WRIT_RESULT
read_signed(struct reading *reading, struct writ_view token, struct writ_entry_review *ret)
{
    struct writ_ballot ballot;

    reading->hint =
        "sign the members of a vote and no others, as a compact JWS with the typ " WRIT_BALLOT_TYP
        "; `writ review vote --key` does it";
    WRIT_TRY(writ_ballot_read(token, reading->arena, &ballot, reading->err));
    ret->digest = ballot.digest;
    ret->vote = ballot.vote;
    ret->ranking = ballot.ranking;
    ret->feedback = ballot.feedback;
    ret->confidence = ballot.confidence;
    ret->signature = token;
    return WRIT_DONE;
}

static WRIT_RESULT
refuse_member(struct reading *reading, struct writ_view name)
{
    writ_auto_buf shown = writ_buf_make(MEMBER_SHOWN * 8);
    char text[DETAIL_MAX * 2];
    struct writ_buf detail = writ_buf_over(text, sizeof text);

    writ_text_safe(&shown, name, MEMBER_SHOWN);
    writ_buf_fmt(&detail, "such a vote has no member \"" WRIT_VIEW_FMT "\"%c",
        WRIT_VIEW_ARG(writ_buf_view(&shown)), 0);
    return malformed(
        reading, text, "remove the member; the votes of docs/reviews.md have no others");
}

/* Each form has its own members; an ignored member might be the one that the voter meant. */
static WRIT_RESULT
check_members(struct reading *reading, const struct writ_json *body)
{
    static const struct writ_view plain[] = {WRIT_LIT("review_digest"), WRIT_LIT("vote"),
        WRIT_LIT("ranking"), WRIT_LIT("feedback"), WRIT_LIT("confidence"), WRIT_LIT("bulk")};
    static const struct writ_view answer[] = {WRIT_LIT("review_digest"), WRIT_LIT("answer")};
    static const struct writ_view token[] = {WRIT_LIT("signed")};
    bool asked = reading->seat->asked;
    bool answers = writ_json_get(body, answer[1]) != NULL;
    bool is_signed = writ_json_get(body, token[0]) != NULL;
    const struct writ_view *known = is_signed ? token : answers ? answer : plain;
    size_t n = is_signed ? 1 : answers ? 2 : asked ? 5 : 6;

    WRIT_JSON_EACH(name, body)
    {
        size_t i = 0;

        while (i < n && !writ_view_equal(writ_json_string(name), known[i])) {
            i++;
        }
        if (i == n && !(asked && writ_view_is(writ_json_string(name), "id"))) {
            return refuse_member(reading, writ_json_string(name));
        }
    }
    return WRIT_DONE;
}

/* Reads the object, and the form of the vote. */
static WRIT_RESULT
read_forms(struct reading *reading, const struct writ_json *body, struct writ_entry_review *ret)
{
    struct writ_view vote, answer, token;

    if (writ_json_type(body) != WRIT_JSON_OBJECT ||
        !string_of(body, WRIT_LIT("review_digest"), &ret->digest) ||
        !string_of(body, WRIT_LIT("vote"), &vote) ||
        !string_of(body, WRIT_LIT("answer"), &answer) ||
        !string_of(body, WRIT_LIT("signed"), &token)) {
        return malformed(reading, "the vote is not an object of strings",
            "send a JSON object whose review_digest, vote, answer and signed are strings");
    }
    if ((vote.ptr != NULL) + (writ_json_get(body, WRIT_LIT("ranking")) != NULL) +
            (answer.ptr != NULL) + (token.ptr != NULL) !=
        1) {
        return malformed(reading, "there is not exactly one of vote, ranking, answer and signed",
            "send vote, or ranking, or the answer of a model, or a signed vote");
    }
    WRIT_TRY(check_members(reading, body));
    if (answer.ptr != NULL && ret->digest.ptr == NULL) {
        ret->digest = reading->seat->digest; /* the token binds it */
    }
    return answer.ptr != NULL  ? read_answer(reading, answer, ret)
           : token.ptr != NULL ? read_signed(reading, token, ret)
                               : read_plain(reading, body, ret);
}

WRIT_RESULT
writ_review_ballot_read(struct writ_view text, const struct writ_review_seat *seat,
    struct writ_arena *arena, struct writ_entry_review *ret, const char **ret_hint,
    struct writ_err *err)
{
    struct reading reading = {
        .seat = seat, .arena = arena, .hint = "send one JSON object, in strict I-JSON", .err = err};
    struct writ_entry_review r = {.event = WRIT_REVIEW_DO_VOTE, .by = seat->voter};
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *body = NULL;
    writ_result result;

    limits.bytes = WRIT_REVIEW_BALLOT_MAX;
    result = writ_json_read(text, &limits, arena, &body, err);
    if (writ_is_ok(result)) {
        result = read_forms(&reading, body, &r);
    }
    if (!writ_is_ok(result)) {
        if (ret_hint != NULL) {
            *ret_hint = reading.hint;
        }
        return result;
    }
    *ret = r;
    return WRIT_DONE;
}
