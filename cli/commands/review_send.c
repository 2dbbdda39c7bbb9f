/* writ review vote, withdraw, cancel: requests to the admin listener of a running gateway. A vote
 * is bound to the digest of the review that was read. */
#include "base/secret.h"
#include "base/text.h"
#include "cli/commands/admin_client.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "evidence/record/ballot.h"

#define PATH_MAX  4096
#define LINE_TEXT 200 /* bytes of a text in a line for people */

/* Requests for the review; `deed` "": reads it. */
static WRIT_RESULT
ask(struct writ_admin_client *s, const char *deed, const char *body)
{
    struct writ_view id = writ_cli_operand(s->cli, 1);
    writ_auto_buf path = writ_buf_make(PATH_MAX);

    WRIT_TRY(writ_admin_client_check_id(id, "a review", &s->err));
    writ_buf_fmt(&path, "/v1/reviews/" WRIT_VIEW_FMT "%s%c", WRIT_VIEW_ARG(id), deed, '\0');
    WRIT_TRY(writ_buf_check(&path, &s->err));
    return writ_admin_client_ask(s, path.ptr, body);
}

/* ---- the vote */

/* --feedback, or the file that it names. */
static WRIT_RESULT
read_feedback(struct writ_admin_client *s, struct writ_view *ret)
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
            "feedback must be text of at most %d bytes without control characters",
            WRIT_REVIEW_FEEDBACK_MAX);
    }
    return WRIT_DONE;
}

/* "approve", or a ranking: "modify,approve,reject". */
static bool
read_choice(struct writ_view text, struct writ_ballot *ret)
{
    struct writ_view names[WRIT_REVIEW_OPTIONS_MAX];
    size_t n = 0;

    if (writ_view_find(text, ',') == text.len) {
        ret->vote = writ_review_vote_find(text);
        return ret->vote != WRIT_REVIEW_NO_VOTE;
    }
    while (text.len > 0 && n < WRIT_REVIEW_OPTIONS_MAX) {
        size_t comma = writ_view_find(text, ',');

        names[n++] = writ_view_sub(text, 0, comma);
        text = writ_view_sub(text, comma + 1, text.len);
    }
    if (text.len > 0 || !writ_review_ranking_of(names, n, &ret->ranking)) {
        return false;
    }
    ret->vote = ret->ranking.list[0];
    return true;
}

static WRIT_RESULT
read_ballot(struct writ_admin_client *s, struct writ_ballot *ret)
{
    struct writ_ballot ballot = {
        .digest = writ_cli_get(s->cli, "digest"), .confidence = writ_cli_get(s->cli, "confidence")};

    if (!read_choice(writ_cli_operand(s->cli, 2), &ballot)) {
        WRIT_FAIL(&s->err, WRIT_E_INVALID,
            "a vote must be one of " WRIT_REVIEW_VOTE_WORDS
            ", or the options of the review with commas between them, best first");
    }
    if (ballot.confidence.ptr != NULL && !writ_review_is_confidence(ballot.confidence)) {
        WRIT_FAIL(&s->err, WRIT_E_INVALID, "a confidence must be a decimal from 0 to 1");
    }
    WRIT_TRY(read_feedback(s, &ballot.feedback));
    *ret = ballot;
    return WRIT_DONE;
}

/* The voter of the key, and its number of votes so far. */
static WRIT_RESULT
find_voter(struct writ_admin_client *s, const struct writ_json *review,
    const struct writ_signer *signer, struct writ_ballot *ballot)
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
sign(struct writ_admin_client *s, const struct writ_json *review, struct writ_ballot *ballot,
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

static WRIT_RESULT
put_vote(struct writ_admin_client *s, const struct writ_json *review, struct writ_ballot *ballot,
    struct writ_buf *ret)
{
    writ_auto_buf token = writ_buf_make(WRIT_BALLOT_BYTES_MAX);
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    if (writ_cli_has(s->cli, "key")) {
        WRIT_TRY(sign(s, review, ballot, &token));
        writ_write_text(&w, "signed", writ_buf_view(&token));
    } else {
        writ_write_text(&w, "review_digest", ballot->digest);
        writ_review_ranking_put(&w, "ranking", &ballot->ranking);
        if (ballot->ranking.n == 0) {
            writ_write_text(&w, "vote", writ_review_vote_name(ballot->vote));
        }
        if (ballot->feedback.ptr != NULL) {
            writ_write_text(&w, "feedback", ballot->feedback);
        }
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
vote(struct writ_admin_client *s)
{
    writ_auto_buf body = writ_buf_make(2 * WRIT_BALLOT_BYTES_MAX);
    struct writ_ballot ballot;
    struct writ_view digest;

    WRIT_TRY(read_ballot(s, &ballot));
    WRIT_TRY(ask(s, "", NULL));
    digest = writ_json_string(writ_json_get(s->value, WRIT_LIT("review_digest")));
    if (ballot.digest.ptr != NULL && !writ_view_equal(ballot.digest, digest)) {
        s->refused = true;
        WRIT_FAIL(&s->err, WRIT_E_MISMATCH, "the review has another digest");
    }
    ballot.digest = digest;
    WRIT_TRY(put_vote(s, s->value, &ballot, &body));
    return ask(s, "/vote", body.ptr);
}

/* ---- the commands */

static enum writ_exit
finish(struct writ_admin_client *s, writ_result result)
{
    writ_auto_buf line = writ_buf_make(4 * LINE_TEXT);

    if (writ_is_ok(result) && !s->cli->json) {
        writ_text_safe(
            &line, writ_json_string(writ_json_get(s->value, WRIT_LIT("state"))), LINE_TEXT);
        writ_buf_byte(&line, '\n');
        writ_cli_put(writ_buf_view(&line));
    }
    return writ_admin_client_end(s, result);
}

enum writ_exit
writ_command_review_vote(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) s;
    writ_result result = writ_admin_client_begin(&s, cli);

    if (writ_is_ok(result)) {
        result = vote(&s);
    }
    return finish(&s, result);
}

static enum writ_exit
end_review(const struct writ_cli *cli, const char *deed)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) s;
    writ_result result = writ_admin_client_begin(&s, cli);

    if (writ_is_ok(result)) {
        result = ask(&s, deed, "{}");
    }
    return finish(&s, result);
}

enum writ_exit
writ_command_review_withdraw(const struct writ_cli *cli)
{
    return end_review(cli, "/withdraw");
}

enum writ_exit
writ_command_review_cancel(const struct writ_cli *cli)
{
    return end_review(cli, "/cancel");
}
