/* writ review vote, withdraw, cancel: what is sent to the admin listener of a running gateway. */
#include "base/secret.h"
#include "base/text.h"
#include "cli/bearer.h"
#include "cli/cli.h"
#include "evidence/ballot.h"
#include "evidence/write.h"
#include "gateway/fetch.h"

#define ARENA_MAX  ((size_t)256 << 20)
#define ANSWER_MAX ((size_t)64 << 20)
#define URL_MAX    4096
#define TIMEOUT_MS 30000
#define LINE_TEXT  200 /* bytes of a text in a line for people */

/** One command while it runs. */
struct sending {
    const struct writ_cli *cli;
    struct writ_arena *arena;
    struct writ_buf authorization; /* a whole field; a secret */
    struct writ_buf answer;
    long status;
    bool refused; /* by the gateway, or because of what it says */
    struct writ_err err;
};

static void
sending_wipe(struct sending *s)
{
    writ_buf_wipe_secret(&s->authorization);
    writ_buf_wipe(&s->answer);
    writ_arena_free(s->arena);
}

static WRIT_RESULT
begin(struct sending *s, const struct writ_cli *cli)
{
    *s = (struct sending){.cli = cli,
        .arena = writ_arena_new(ARENA_MAX),
        .authorization = writ_buf_make(WRIT_BEARER_FIELD_MAX),
        .answer = writ_buf_make(ANSWER_MAX)};
    if (s->arena == NULL) {
        WRIT_FAIL(&s->err, WRIT_E_NOMEM, "no memory to ask the gateway");
    }
    return writ_bearer_read(writ_cli_get(cli, "token").ptr, &s->authorization, &s->err);
}

/* Bytes of an id that need no escape in a URL; others are no id of ours. */
static bool
is_id(struct writ_view id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];

        if ((c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-') {
            return false;
        }
    }
    return id.len > 0;
}

/* Asks about the review; `deed` NULL: reads it. The answer is in `answer`. */
static WRIT_RESULT
ask(struct sending *s, const char *deed, const char *body)
{
    struct writ_view base = writ_cli_operand(s->cli, 0), id = writ_cli_operand(s->cli, 1);
    struct writ_view ca = writ_cli_get(s->cli, "ca");
    writ_auto_buf url = writ_buf_make(URL_MAX);

    if (!is_id(id)) {
        WRIT_FAIL(&s->err, WRIT_E_INVALID, "this is no id of a review");
    }
    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    writ_buf_put(&url, base);
    writ_buf_str(&url, "/v1/reviews/");
    writ_buf_put(&url, id);
    writ_buf_str(&url, deed != NULL ? "/" : "");
    writ_buf_str(&url, deed != NULL ? deed : "");
    writ_buf_byte(&url, '\0');
    WRIT_TRY(writ_buf_check(&url, &s->err));
    writ_buf_clear(&s->answer);
    return writ_fetch_ask(url.ptr,
        &(struct writ_fetch_request){.body = body,
            .type = body != NULL ? "Content-Type: application/json" : NULL,
            .authorization = s->authorization.ptr,
            .ca_file = ca.ptr},
        TIMEOUT_MS, NULL, &s->status, &s->answer, &s->err);
}

/* The answer as an object. A problem of RFC 9457 is told by its reason. */
static WRIT_RESULT
read_answer(struct sending *s, const struct writ_json **ret)
{
    const struct writ_json *answer = NULL;
    struct writ_view reason, title;

    if (!writ_is_ok(writ_json_read(
            writ_buf_view(&s->answer), &writ_json_limits_default, s->arena, &answer, NULL)) ||
        writ_json_type(answer) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(
            &s->err, WRIT_E_IO, "status %ld, and no JSON: is this the admin listener?", s->status);
    }
    if (s->status != 200) {
        writ_auto_buf safe = writ_buf_make(4 * LINE_TEXT);

        s->refused = true;
        reason = writ_json_string(writ_json_get(answer, WRIT_LIT("reason")));
        title = writ_json_string(writ_json_get(answer, WRIT_LIT("title")));
        writ_text_safe(&safe, reason, LINE_TEXT);
        writ_buf_str(&safe, ": ");
        writ_text_safe(&safe, title, LINE_TEXT);
        WRIT_FAIL(&s->err, WRIT_E_MISMATCH, WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&safe)));
    }
    *ret = answer;
    return WRIT_DONE;
}

/* ---- the vote */

/* --feedback, or the file that it names. */
static WRIT_RESULT
read_feedback(struct sending *s, struct writ_view *ret)
{
    struct writ_view given = writ_cli_get(s->cli, "feedback");
    struct writ_buf text = writ_buf_in(s->arena, WRIT_REVIEW_FEEDBACK_MAX);

    *ret = given;
    if (writ_view_has_prefix(given, WRIT_LIT("@"))) {
        WRIT_TRY(writ_cli_read(given.ptr + 1, WRIT_REVIEW_FEEDBACK_MAX, &text, &s->err));
        *ret = writ_buf_view(&text);
    }
    if (ret->ptr != NULL && !writ_review_is_feedback(*ret)) {
        WRIT_FAIL(&s->err, WRIT_E_INVALID,
            "feedback is text of at most %d bytes without control characters",
            WRIT_REVIEW_FEEDBACK_MAX);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_ballot(struct sending *s, struct writ_ballot *ret)
{
    struct writ_ballot ballot = {.vote = writ_review_vote_find(writ_cli_operand(s->cli, 2)),
        .digest = writ_cli_get(s->cli, "digest"),
        .confidence = writ_cli_get(s->cli, "confidence")};

    if (ballot.vote == WRIT_REVIEW_NO_VOTE) {
        WRIT_FAIL(&s->err, WRIT_E_INVALID, "a vote is approve, reject or modify");
    }
    if (ballot.confidence.ptr != NULL && !writ_review_is_confidence(ballot.confidence)) {
        WRIT_FAIL(&s->err, WRIT_E_INVALID, "a confidence is a decimal from 0 to 1");
    }
    WRIT_TRY(read_feedback(s, &ballot.feedback));
    *ret = ballot;
    return WRIT_DONE;
}

/* Which of the voters the key belongs to, and how often it has voted. */
static WRIT_RESULT
find_voter(struct sending *s, const struct writ_json *review, const struct writ_signer *signer,
    struct writ_ballot *ballot)
{
    struct writ_view own = writ_jwk_thumbprint(writ_signer_jwk(signer));

    WRIT_JSON_EACH(voter, writ_json_get(review, WRIT_LIT("voters")))
    {
        const struct writ_json *value = writ_json_get(voter, WRIT_LIT("key"));
        struct writ_jwk *key = NULL;
        int64_t votes = 0;
        bool mine;

        if (value == NULL || !writ_is_ok(writ_jwk_read(value, &key, NULL))) {
            continue;
        }
        mine = writ_view_equal(writ_jwk_thumbprint(key), own);
        writ_jwk_free(key);
        if (mine && writ_is_ok(writ_json_integer(writ_json_get(voter, WRIT_LIT("votes")), 0,
                        WRIT_REVIEW_VOTES_MAX, &votes))) {
            ballot->voter = writ_json_string(writ_json_get(voter, WRIT_LIT("id")));
            ballot->revision = (uint64_t)votes;
            return WRIT_DONE;
        }
    }
    WRIT_FAIL(&s->err, WRIT_E_MISMATCH, "no voter of the review has this key");
}

static WRIT_RESULT
sign(struct sending *s, const struct writ_json *review, struct writ_ballot *ballot,
    struct writ_buf *ret)
{
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    struct writ_signer *signer = NULL;
    writ_result result;

    WRIT_TRY(writ_cli_read(writ_cli_get(s->cli, "key").ptr, WRIT_SIGNER_PEM_MAX, &pem, &s->err));
    result = writ_signer_read(writ_buf_view(&pem), &signer, &s->err);
    writ_buf_wipe_secret(&pem);
    if (writ_is_ok(result)) {
        result = find_voter(s, review, signer, ballot);
    }
    if (writ_is_ok(result)) {
        result = writ_ballot_sign(ballot, signer, ret, &s->err);
    }
    writ_signer_free(signer);
    return result;
}

static void
put_member(struct writ_write *w, const char *name, struct writ_view text)
{
    if (text.ptr != NULL) {
        writ_write_name(w, writ_view_str(name));
        writ_write_string(w, text);
    }
}

static WRIT_RESULT
put_vote(struct sending *s, const struct writ_json *review, struct writ_ballot *ballot,
    struct writ_buf *ret)
{
    writ_auto_buf token = writ_buf_make(WRIT_BALLOT_BYTES_MAX);
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    if (writ_cli_has(s->cli, "key")) {
        WRIT_TRY(sign(s, review, ballot, &token));
        put_member(&w, "signed", writ_buf_view(&token));
    } else {
        put_member(&w, "review_digest", ballot->digest);
        put_member(&w, "vote", writ_review_vote_name(ballot->vote));
        put_member(&w, "feedback", ballot->feedback);
        if (ballot->confidence.ptr != NULL) {
            writ_write_name(&w, WRIT_LIT("confidence"));
            writ_write_raw(&w, ballot->confidence);
        }
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, &s->err));
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, &s->err);
}

static WRIT_RESULT
vote(struct sending *s, const struct writ_json **ret)
{
    writ_auto_buf body = writ_buf_make(2 * WRIT_BALLOT_BYTES_MAX);
    const struct writ_json *review = NULL;
    struct writ_ballot ballot;
    struct writ_view digest;

    WRIT_TRY(read_ballot(s, &ballot));
    WRIT_TRY(ask(s, NULL, NULL));
    WRIT_TRY(read_answer(s, &review));
    digest = writ_json_string(writ_json_get(review, WRIT_LIT("review_digest")));
    if (ballot.digest.ptr != NULL && !writ_view_equal(ballot.digest, digest)) {
        s->refused = true;
        WRIT_FAIL(&s->err, WRIT_E_MISMATCH, "the review has another digest");
    }
    ballot.digest = writ_view_copy(digest, s->arena); /* the answer is written over */
    WRIT_TRY(put_vote(s, review, &ballot, &body));
    WRIT_TRY(ask(s, "vote", body.ptr));
    return read_answer(s, ret);
}

/* ---- the commands */

static enum writ_exit
finish(struct sending *s, writ_result result, const struct writ_json *answer)
{
    writ_auto_buf line = writ_buf_make(4 * LINE_TEXT);

    if (!writ_is_ok(result)) {
        enum writ_exit code = writ_cli_fail(s->cli, result, &s->err);

        return s->refused ? WRIT_EXIT_NEGATIVE : code;
    }
    if (s->cli->json) {
        writ_cli_put(writ_buf_view(&s->answer));
        writ_cli_print("\n");
        return WRIT_EXIT_OK;
    }
    writ_text_safe(&line, writ_json_string(writ_json_get(answer, WRIT_LIT("state"))), LINE_TEXT);
    writ_buf_byte(&line, '\n');
    writ_cli_put(writ_buf_view(&line));
    return WRIT_EXIT_OK;
}

enum writ_exit
writ_command_review_vote(const struct writ_cli *cli)
{
    WRIT_AUTO(struct sending, sending_wipe) s;
    const struct writ_json *answer = NULL;
    writ_result result = begin(&s, cli);

    if (writ_is_ok(result)) {
        result = vote(&s, &answer);
    }
    return finish(&s, result, answer);
}

static enum writ_exit
end_review(const struct writ_cli *cli, const char *deed)
{
    WRIT_AUTO(struct sending, sending_wipe) s;
    const struct writ_json *answer = NULL;
    writ_result result = begin(&s, cli);

    if (writ_is_ok(result)) {
        result = ask(&s, deed, "{}");
    }
    if (writ_is_ok(result)) {
        result = read_answer(&s, &answer);
    }
    return finish(&s, result, answer);
}

enum writ_exit
writ_command_review_withdraw(const struct writ_cli *cli)
{
    return end_review(cli, "withdraw");
}

enum writ_exit
writ_command_review_cancel(const struct writ_cli *cli)
{
    return end_review(cli, "cancel");
}
