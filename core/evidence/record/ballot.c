/* A vote as a signed payload. Reading takes exactly the members of a vote; checking compares every
 * member with the expected vote, so a signature counts for nothing else. */
#include "evidence/record/ballot.h"

#include "evidence/json/write.h"

#define REVISION_MAX WRIT_REVIEW_VOTES_MAX

static bool
has_only_known(const struct writ_json *payload)
{
    static const struct writ_view known[] = {WRIT_LIT("confidence"), WRIT_LIT("feedback"),
        WRIT_LIT("ranking"), WRIT_LIT("review_digest"), WRIT_LIT("revision"), WRIT_LIT("vote"),
        WRIT_LIT("voter")};

    WRIT_JSON_EACH(name, payload)
    {
        size_t i = 0;

        while (i < sizeof known / sizeof known[0] &&
               !writ_view_equal(writ_json_string(name), known[i])) {
            i++;
        }
        if (i == sizeof known / sizeof known[0]) {
            return false;
        }
    }
    return true;
}

/* A string, or {NULL, 0} without the member. False: another type. */
static bool
text_of(const struct writ_json *payload, struct writ_view name, struct writ_view *ret)
{
    const struct writ_json *value = writ_json_get(payload, name);

    *ret = value != NULL ? writ_json_string(value) : (struct writ_view){NULL, 0};
    return value == NULL || writ_json_type(value) == WRIT_JSON_STRING;
}

static WRIT_RESULT
read_payload(const struct writ_json *payload, struct writ_ballot *ret, struct writ_err *err)
{
    const struct writ_json *ranking = writ_json_get(payload, WRIT_LIT("ranking"));
    struct writ_view vote;
    int64_t revision = 0;

    if (!has_only_known(payload) || !text_of(payload, WRIT_LIT("review_digest"), &ret->digest) ||
        !text_of(payload, WRIT_LIT("voter"), &ret->voter) ||
        !text_of(payload, WRIT_LIT("vote"), &vote) ||
        !text_of(payload, WRIT_LIT("feedback"), &ret->feedback) ||
        !text_of(payload, WRIT_LIT("confidence"), &ret->confidence) ||
        !writ_is_ok(writ_json_integer(
            writ_json_get(payload, WRIT_LIT("revision")), 0, REVISION_MAX, &revision))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the payload does not have exactly the members of a vote");
    }
    if (ranking != NULL && !writ_review_ranking_read(ranking, &ret->ranking)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the ranking is not a list of different votes");
    }
    ret->vote = writ_review_vote_find(vote);
    ret->revision = (uint64_t)revision;
    if (ret->vote == WRIT_REVIEW_NO_VOTE) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the vote is not one of " WRIT_REVIEW_VOTE_WORDS);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
open_ballot(struct writ_view token, struct writ_arena *arena, struct writ_jws *ret_jws,
    struct writ_ballot *ret, struct writ_err *err)
{
    const struct writ_json *payload = NULL;
    struct writ_ballot ballot = {.vote = WRIT_REVIEW_NO_VOTE};

    WRIT_TRY(writ_jws_read(token, arena, ret_jws, err));
    if (!writ_view_is(ret_jws->typ, WRIT_BALLOT_TYP)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the typ of the token is not that of a vote");
    }
    WRIT_TRY(writ_jws_claims(ret_jws, arena, &payload, err));
    WRIT_TRY(read_payload(payload, &ballot, err));
    *ret = ballot;
    return WRIT_DONE;
}

WRIT_RESULT
writ_ballot_read(
    struct writ_view token, struct writ_arena *arena, struct writ_ballot *ret, struct writ_err *err)
{
    struct writ_jws jws;

    return open_ballot(token, arena, &jws, ret, err);
}

static bool
says(const struct writ_ballot *ballot, const struct writ_ballot *want)
{
    return writ_view_equal(ballot->digest, want->digest) &&
           writ_view_equal(ballot->voter, want->voter) && ballot->vote == want->vote &&
           writ_review_ranking_equal(&ballot->ranking, &want->ranking) &&
           writ_view_equal(ballot->feedback, want->feedback) &&
           writ_view_equal(ballot->confidence, want->confidence) &&
           ballot->revision == want->revision;
}

WRIT_RESULT
writ_ballot_check(struct writ_view token, struct writ_view key, const struct writ_ballot *want,
    struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_json *value = NULL;
    struct writ_jwk *jwk = NULL;
    struct writ_ballot ballot;
    struct writ_jws jws;
    writ_result result;

    WRIT_TRY(open_ballot(token, arena, &jws, &ballot, err));
    if (!says(&ballot, want)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the signed vote differs from the vote");
    }
    WRIT_TRY(writ_json_read(key, &writ_jws_limits, arena, &value, err));
    WRIT_TRY(writ_jwk_read(value, &jwk, err));
    result = writ_jws_check(&jws, jwk, err);
    writ_jwk_free(jwk);
    return result;
}

static void
put_given(struct writ_write *w, const char *name, struct writ_view text)
{
    if (text.ptr != NULL) {
        writ_write_text(w, name, text);
    }
}

WRIT_RESULT
writ_ballot_sign(const struct writ_ballot *ballot, const struct writ_signer *signer,
    struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_buf payload = writ_buf_make(WRIT_BALLOT_BYTES_MAX);
    struct writ_write w = writ_write_to(&payload);

    w.sorted = true;
    writ_write_object_begin(&w);
    put_given(&w, "confidence", ballot->confidence);
    put_given(&w, "feedback", ballot->feedback);
    writ_review_ranking_put(&w, "ranking", &ballot->ranking);
    put_given(&w, "review_digest", ballot->digest);
    writ_write_count(&w, "revision", ballot->revision);
    put_given(&w, "vote", writ_review_vote_name(ballot->vote));
    put_given(&w, "voter", ballot->voter);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    return writ_jws_sign(signer, WRIT_LIT(WRIT_BALLOT_TYP), writ_buf_view(&payload), ret, err);
}
