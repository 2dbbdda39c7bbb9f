/* Votes that their voters sign. A vote verifies only with its voter's key and with exactly the
 * members of a vote. */
#include "support/unit.h"

#include "base/alloc.h"
#include "evidence/record/ballot.h"
#include "evidence/record/review_story.h"
#include "evidence/record/review_terms.h"

#define ARENA_MAX (1 << 20)

static struct writ_arena *arena;
static struct writ_signer *signer;

static void
prepare(enum writ_jwk_alg alg)
{
    arena = writ_arena_new(ARENA_MAX);
    ck_assert_ptr_nonnull(arena);
    ck_assert_ok(writ_signer_new(alg, &signer, NULL));
}

static void
finish(void)
{
    writ_signer_free(signer);
    writ_arena_free(arena);
}

static struct writ_ballot
usual(void)
{
    return (struct writ_ballot){.digest = WRIT_LIT("sha256:00"),
        .voter = WRIT_LIT("ann"),
        .vote = WRIT_REVIEW_APPROVE,
        .feedback = WRIT_LIT("fine"),
        .confidence = WRIT_LIT("0.9"),
        .revision = 2};
}

static struct writ_view
key(void)
{
    return writ_jwk_text(writ_signer_jwk(signer));
}

START_TEST(ballot_verify_of_a_signed_vote_succeeds)
{
    static const enum writ_jwk_alg algs[] = {WRIT_JWK_ALG_ES256, WRIT_JWK_ALG_EDDSA};

    for (size_t i = 0; i < 2; i++) {
        writ_auto_buf token = writ_buf_make(WRIT_BALLOT_BYTES_MAX);
        struct writ_ballot want = usual(), got;

        prepare(algs[i]);
        ck_assert_ok(writ_ballot_sign(&want, signer, &token, NULL));
        ck_assert_ok(writ_ballot_read(writ_buf_view(&token), arena, &got, NULL));
        ck_assert_view(got.voter, "ann");
        ck_assert_view(got.feedback, "fine");
        ck_assert_int_eq(got.vote, WRIT_REVIEW_APPROVE);
        ck_assert_uint_eq(got.revision, 2);
        ck_assert_ok(writ_ballot_check(writ_buf_view(&token), key(), &want, arena, NULL));
        finish();
    }
}
END_TEST

START_TEST(ballot_verify_of_another_content_is_refused)
{
    writ_auto_buf token = writ_buf_make(WRIT_BALLOT_BYTES_MAX);
    struct writ_ballot want = usual(), others[6];

    prepare(WRIT_JWK_ALG_EDDSA);
    ck_assert_ok(writ_ballot_sign(&want, signer, &token, NULL));
    for (size_t i = 0; i < 6; i++) {
        others[i] = usual();
    }
    others[0].digest = WRIT_LIT("sha256:01");
    others[1].voter = WRIT_LIT("bob");
    others[2].vote = WRIT_REVIEW_REJECT;
    others[3].feedback = (struct writ_view){NULL, 0};
    others[4].confidence = WRIT_LIT("0.91");
    others[5].revision = 3;
    for (size_t i = 0; i < 6; i++) {
        ck_assert_code(writ_ballot_check(writ_buf_view(&token), key(), &others[i], arena, NULL),
            WRIT_E_MISMATCH);
    }
    finish();
}
END_TEST

START_TEST(ballot_verify_with_another_key_or_typ_is_refused)
{
    writ_auto_buf token = writ_buf_make(WRIT_BALLOT_BYTES_MAX);
    writ_auto_buf jwt = writ_buf_make(WRIT_BALLOT_BYTES_MAX);
    struct writ_signer *other = NULL;
    struct writ_ballot want = usual(), got = {.vote = WRIT_REVIEW_NO_VOTE};

    prepare(WRIT_JWK_ALG_ES256);
    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_ES256, &other, NULL));
    ck_assert_ok(writ_ballot_sign(&want, other, &token, NULL));
    ck_assert_code(
        writ_ballot_check(writ_buf_view(&token), key(), &want, arena, NULL), WRIT_E_MISMATCH);
    ck_assert_code(writ_ballot_check(writ_buf_view(&token), WRIT_LIT("{}"), &want, arena, NULL),
        WRIT_E_INVALID);
    ck_assert_ok(writ_jws_sign(signer, WRIT_LIT("JWT"),
        WRIT_LIT("{\"review_digest\":\"sha256:00\",\"revision\":0,\"vote\":\"approve\",\"voter\":"
                 "\"ann\"}"),
        &jwt, NULL));
    ck_assert_code(writ_ballot_read(writ_buf_view(&jwt), arena, &got, NULL), WRIT_E_PARSE);
    ck_assert_int_eq(got.vote, WRIT_REVIEW_NO_VOTE);
    writ_signer_free(other);
    finish();
}
END_TEST

START_TEST(ballot_payload_has_exactly_the_members_of_a_vote)
{
    static const char *const bad[] = {
        "{\"review_digest\":\"d\",\"revision\":0,\"vote\":\"approve\",\"voter\":\"a\",\"more\":1}",
        "{\"review_digest\":\"d\",\"revision\":-1,\"vote\":\"approve\",\"voter\":\"a\"}",
        "{\"review_digest\":\"d\",\"revision\":\"0\",\"vote\":\"approve\",\"voter\":\"a\"}",
        "{\"review_digest\":\"d\",\"vote\":\"approve\",\"voter\":\"a\"}",
        "{\"review_digest\":\"d\",\"revision\":0,\"vote\":\"yes\",\"voter\":\"a\"}",
        "{\"review_digest\":\"d\",\"revision\":0,\"voter\":\"a\"}",
        "{\"review_digest\":1,\"revision\":0,\"vote\":\"approve\",\"voter\":\"a\"}",
        "[]",
    };

    prepare(WRIT_JWK_ALG_EDDSA);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        writ_auto_buf token = writ_buf_make(WRIT_BALLOT_BYTES_MAX);
        struct writ_ballot got;

        ck_assert_ok(
            writ_jws_sign(signer, WRIT_LIT(WRIT_BALLOT_TYP), writ_view_str(bad[i]), &token, NULL));
        ck_assert_msg(
            writ_ballot_read(writ_buf_view(&token), arena, &got, NULL).code == WRIT_E_PARSE, "%s",
            bad[i]);
    }
    finish();
}
END_TEST

/* ---- in the records of a review */

static struct writ_review
terms(struct writ_review_voter *ann)
{
    *ann = (struct writ_review_voter){.id = WRIT_LIT("ann"), .weight = 1, .key = key()};
    return (struct writ_review){.id = WRIT_LIT("d-1"),
        .name = WRIT_LIT("finance"),
        .engine = WRIT_LIT("review"),
        .threshold = WRIT_LIT("2/3"),
        .quorum = WRIT_LIT("1"),
        .lifetime_us = 1000000,
        .redeem_us = 1000000,
        .subject = WRIT_LIT("dev"),
        .agent_id = WRIT_LIT("dev"),
        .voters = ann,
        .voters_n = 1};
}

static void
begin_story(struct writ_review_story *story, char digest[WRIT_DIGEST_TEXT])
{
    struct writ_review_voter ann;
    struct writ_review review = terms(&ann);
    struct writ_buf text = writ_buf_in(arena, WRIT_REVIEW_TERMS_MAX);
    const struct writ_json *value = NULL;
    struct writ_digest sum;
    struct writ_review_record record = {.decision_id = writ_member_text(review.id),
        .event = writ_member_text(WRIT_LIT("open")),
        .n = writ_member_number(0),
        .state = writ_member_text(WRIT_LIT("open"))};

    ck_assert_ok(writ_review_terms_put(&review, &text, NULL));
    ck_assert_ok(
        writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &value, NULL));
    ck_assert_ok(writ_review_terms_digest(&review, &sum, NULL));
    writ_digest_text(&sum, digest);
    record.review_digest = writ_member_text(writ_view_str(digest));
    record.terms = (struct writ_member_object){WRIT_PRESENT, value, writ_buf_view(&text), NULL};
    ck_assert_ok(writ_member_time_make(1000000, arena, &record.at, NULL));
    ck_assert_ok(writ_review_story_add(story, &record, arena, NULL));
}

/* The code of a story with one vote of ann that is signed like this. */
static enum writ_code
told_with(struct writ_view signature)
{
    struct writ_review_story story = {.state = WRIT_REVIEW_ABSENT};
    char digest[WRIT_DIGEST_TEXT];
    struct writ_review_record record = {.by = writ_member_text(WRIT_LIT("ann")),
        .decision_id = writ_member_text(WRIT_LIT("d-1")),
        .event = writ_member_text(WRIT_LIT("vote")),
        .n = writ_member_number(1),
        .signature = writ_member_text_or_absent(signature),
        .state = writ_member_text(WRIT_LIT("open")),
        .vote = writ_member_text(WRIT_LIT("approve"))};

    begin_story(&story, digest);
    record.review_digest = writ_member_text(writ_view_str(digest));
    ck_assert_ok(writ_member_time_make(2000000, arena, &record.at, NULL));
    return writ_review_story_add(&story, &record, arena, NULL).code;
}

START_TEST(ballot_check_of_an_unsigned_vote_fails)
{
    struct writ_signer *other = NULL;
    struct writ_review_story story = {.state = WRIT_REVIEW_ABSENT};
    char digest[WRIT_DIGEST_TEXT];
    struct writ_ballot ballot = {.voter = WRIT_LIT("ann"), .vote = WRIT_REVIEW_APPROVE};
    writ_auto_buf own = writ_buf_make(WRIT_BALLOT_BYTES_MAX);
    writ_auto_buf foreign = writ_buf_make(WRIT_BALLOT_BYTES_MAX);
    writ_auto_buf reject = writ_buf_make(WRIT_BALLOT_BYTES_MAX);

    prepare(WRIT_JWK_ALG_EDDSA);
    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &other, NULL));
    begin_story(&story, digest);
    ballot.digest = writ_view_str(digest);
    ck_assert_ok(writ_ballot_sign(&ballot, signer, &own, NULL));
    ck_assert_ok(writ_ballot_sign(&ballot, other, &foreign, NULL));
    ballot.vote = WRIT_REVIEW_REJECT;
    ck_assert_ok(writ_ballot_sign(&ballot, signer, &reject, NULL));
    ck_assert_int_eq(told_with(writ_buf_view(&own)), WRIT_OK);
    ck_assert_int_eq(told_with(writ_buf_view(&foreign)), WRIT_E_MISMATCH);
    ck_assert_int_eq(told_with(writ_buf_view(&reject)), WRIT_E_MISMATCH);
    ck_assert_int_eq(told_with((struct writ_view){NULL, 0}), WRIT_E_MISMATCH);
    writ_signer_free(other);
    finish();
}
END_TEST

WRIT_UNIT_MAIN("ballot", ballot_verify_of_a_signed_vote_succeeds,
    ballot_verify_of_another_content_is_refused, ballot_verify_with_another_key_or_typ_is_refused,
    ballot_payload_has_exactly_the_members_of_a_vote, ballot_check_of_an_unsigned_vote_fails)
