/* The terms of a review, checked, written and read. */
#include "evidence/record/review_terms.h"

#include "base/clock.h"
#include "evidence/json/jcs.h"

#define US_PER_MS   1000
#define TIME_MS_MAX (INT64_C(1) << 40)

/* ---- checking */

static bool
is_name(struct writ_view text)
{
    return text.len > 0 && text.len <= WRIT_REVIEW_NAME_MAX;
}

static WRIT_RESULT
check_delegation(
    const struct writ_review *review, const struct writ_review_voter *voter, struct writ_err *err)
{
    const struct writ_review_voter *at = voter;

    for (size_t i = 0; at->delegate.len > 0; i++) {
        at = writ_review_voter(review, at->delegate);
        if (at == NULL) {
            WRIT_FAIL(err, WRIT_E_INVALID, "a delegate is not a voter of the review");
        }
        if (at == voter || i == review->voters_n) {
            WRIT_FAIL(err, WRIT_E_INVALID, "a voter delegates to itself, through others or not");
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_voter(const struct writ_review *review, size_t at, struct writ_err *err)
{
    const struct writ_review_voter *voter = &review->voters[at];

    if (!is_name(voter->id) || voter->weight < 0 || voter->weight > WRIT_REVIEW_WEIGHT_MAX ||
        voter->parts < 0 || voter->parts > WRIT_REVIEW_WEIGHT_MAX) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a voter needs a name, and a weight from 0 to %d",
            WRIT_REVIEW_WEIGHT_MAX);
    }
    if (writ_view_equal(voter->id, review->subject)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the caller must not be a voter of its own call");
    }
    if (writ_review_voter(review, voter->id) != voter) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a voter is there twice");
    }
    if (voter->stand_in ? voter->weight > 0 || voter->veto || voter->delegate.len > 0
                        : at >= writ_review_electors(review)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a stand-in has no vote of its own, and comes last");
    }
    if ((voter->delegation.len > 0) != (voter->delegated_until_us > 0) ||
        (voter->delegation.len > 0) != writ_digest_is(voter->delegation_digest) ||
        (voter->delegation.len > 0 && voter->delegate.len == 0)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a delegation of a voter has an id, a digest and an end");
    }
    return check_delegation(review, voter, err);
}

/* keeps: each candidate is an option of its own, and `approve` is none beside them */
static WRIT_RESULT
check_candidates(const struct writ_review *review, struct writ_err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < review->options.n; i++) {
        enum writ_review_vote option = review->options.list[i];

        if (writ_review_is_candidate(option) && n < review->candidates_n &&
            review->candidates[n].option == option &&
            (n == 0 || review->candidates[n - 1].option < option)) {
            n++;
        } else if (writ_review_is_candidate(option) ||
                   (review->candidates_n > 0 && option == WRIT_REVIEW_APPROVE)) {
            WRIT_FAIL(err, WRIT_E_INVALID, "the options are not those of the candidates");
        }
    }
    if (n != review->candidates_n) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the options lack a candidate");
    }
    for (size_t i = 0; i < n; i++) {
        const struct writ_review_candidate *candidate = &review->candidates[i];

        if (candidate->state_free_digest.len == 0 || candidate->intent_digest.len == 0 ||
            writ_review_candidate(review, candidate->state_free_digest) != candidate) {
            WRIT_FAIL(err, WRIT_E_INVALID, "a candidate has no digest, or is there twice");
        }
    }
    if (n > 0 && !writ_view_equal(review->candidates[0].intent_digest, review->intent_digest)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the intent of a review is that of its first candidate");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_review_terms_check(const struct writ_review *review, struct writ_err *err)
{
    int64_t weight = 0;

    if (review->voters_n > WRIT_REVIEW_VOTERS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a review has at most %d voters", WRIT_REVIEW_VOTERS_MAX);
    }
    for (size_t i = 0; i < review->voters_n; i++) {
        WRIT_TRY(check_voter(review, i, err));
        weight += review->voters[i].weight;
    }
    if (weight == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a review needs voters that can decide it");
    }
    if ((writ_review_need(review->engine) == WRIT_REVIEW_NEEDS_RANKING) !=
        (review->options.n > 1)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a review has two options or more if its votes rank them");
    }
    if (writ_review_is_plugin(review->engine) ? !writ_digest_is(review->engine_digest)
                                              : review->engine_digest.len > 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a plug-in that counts the votes has a digest");
    }
    WRIT_TRY(check_candidates(review, err));
    if (writ_review_unit(review) == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the fractions of the weights have no common unit");
    }
    if (review->id.len == 0 || !is_name(review->name) || review->subject.len == 0 ||
        review->lifetime_us <= 0 || review->redeem_us <= 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a review needs an id, a name, a subject and its times");
    }
    return WRIT_DONE;
}

/* ---- writing */

void
writ_review_terms_put_delegation(struct writ_write *w, const struct writ_review_voter *voter)
{
    if (voter->delegation.len == 0) {
        return;
    }
    writ_write_name(w, WRIT_LIT("delegation"));
    writ_write_object_begin(w);
    writ_write_text(w, "digest", voter->delegation_digest);
    writ_write_text(w, "id", voter->delegation);
    writ_write_time(w, "until", voter->delegated_until_us);
    writ_write_object_end(w);
}

static void
put_voters(struct writ_write *w, const struct writ_review *review)
{
    writ_write_name(w, WRIT_LIT("voters"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < review->voters_n; i++) {
        writ_write_object_begin(w);
        writ_write_text_if(w, "delegate", review->voters[i].delegate);
        writ_review_terms_put_delegation(w, &review->voters[i]);
        writ_write_text(w, "id", review->voters[i].id);
        if (review->voters[i].key.len > 0) {
            writ_write_name(w, WRIT_LIT("key"));
            writ_write_raw(w, review->voters[i].key);
        }
        if (review->voters[i].stand_in) {
            writ_write_flag(w, "stand_in", true);
        }
        writ_write_flag(w, "veto", review->voters[i].veto);
        writ_review_put_weight(w, &review->voters[i]);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
put_candidates(struct writ_write *w, const struct writ_review *review)
{
    if (review->candidates_n == 0) {
        return;
    }
    writ_write_name(w, WRIT_LIT("candidates"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < review->candidates_n; i++) {
        const struct writ_review_candidate *candidate = &review->candidates[i];

        writ_write_object_begin(w);
        writ_write_text(w, "intent_digest", candidate->intent_digest);
        writ_write_text(w, "option", writ_review_vote_name(candidate->option));
        writ_write_text(w, "state_free_digest", candidate->state_free_digest);
        writ_write_text(w, "target_state_digest", candidate->target_state_digest);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

WRIT_RESULT
writ_review_terms_put(const struct writ_review *review, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_text(&w, "agent_id", review->agent_id);
    put_candidates(&w, review);
    writ_write_text(&w, "engine", review->engine);
    writ_write_text_if(&w, "engine_digest", review->engine_digest);
    writ_write_text(&w, "id", review->id);
    writ_write_text(&w, "intent_digest", review->intent_digest);
    writ_write_integer(&w, "lifetime_ms", review->lifetime_us / US_PER_MS);
    writ_write_text(&w, "name", review->name);
    writ_review_ranking_put(&w, "options", &review->options);
    writ_write_text(&w, "quorum", review->quorum);
    writ_write_integer(&w, "redeem_ms", review->redeem_us / US_PER_MS);
    writ_write_text(&w, "rules_digest", review->rules_digest);
    writ_write_text(&w, "subject", review->subject);
    writ_write_text(&w, "target_state_digest", review->target_state_digest);
    writ_write_text(&w, "tenant", review->tenant);
    writ_write_text(&w, "threshold", review->threshold);
    put_voters(&w, review);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

WRIT_RESULT
writ_review_terms_digest(
    const struct writ_review *review, struct writ_digest *ret, struct writ_err *err)
{
    writ_auto_buf terms = writ_buf_make(WRIT_REVIEW_TERMS_MAX);

    WRIT_TRY(writ_review_terms_put(review, &terms, err));
    return writ_digest_bytes(writ_buf_view(&terms), ret, err);
}

/* ---- reading */

WRIT_RESULT
writ_review_terms_key(const struct writ_json *object, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    const struct writ_json *key = writ_json_get(object, WRIT_LIT("key"));
    struct writ_buf text = writ_buf_in(arena, WRIT_REVIEW_KEY_MAX);

    if (key == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_jcs_put(&text, key, err));
    WRIT_TRY(writ_buf_check(&text, err));
    *ret = writ_buf_view(&text);
    return WRIT_DONE;
}

/* A whole number is a number: so are those of older records. */
static bool
read_weight(const struct writ_json *value, struct writ_review_voter *ret)
{
    if (writ_json_type(value) == WRIT_JSON_STRING) {
        return writ_review_weight_read(writ_json_string(value), ret);
    }
    return writ_is_ok(writ_json_integer(value, 0, WRIT_REVIEW_WEIGHT_MAX, &ret->weight));
}

/* What is missing, the check of the terms finds. */
static void
read_delegation(const struct writ_json *value, struct writ_review_voter *ret)
{
    if (value != NULL) {
        ret->delegation = writ_json_string(writ_json_get(value, WRIT_LIT("id")));
        ret->delegation_digest = writ_json_string(writ_json_get(value, WRIT_LIT("digest")));
        if (!writ_is_ok(writ_time_read(writ_json_string(writ_json_get(value, WRIT_LIT("until"))),
                &ret->delegated_until_us))) {
            ret->delegated_until_us = 0;
        }
    }
}

static WRIT_RESULT
read_voters(const struct writ_json *list, struct writ_arena *arena, struct writ_review *ret,
    struct writ_err *err)
{
    if (writ_json_type(list) != WRIT_JSON_ARRAY || list->count == 0) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the terms of a review name no voters");
    }
    if (list->count > WRIT_REVIEW_VOTERS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a review has at most %d voters", WRIT_REVIEW_VOTERS_MAX);
    }
    ret->voters = writ_arena_get(arena, list->count * sizeof *ret->voters);
    if (ret->voters == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the voters of a review");
    }
    WRIT_JSON_EACH(item, list)
    {
        struct writ_review_voter voter = {
            .id = writ_json_string(writ_json_get(item, WRIT_LIT("id"))),
            .veto = writ_json_is_true(item, WRIT_LIT("veto")),
            .stand_in = writ_json_is_true(item, WRIT_LIT("stand_in")),
            .delegate = writ_json_string(writ_json_get(item, WRIT_LIT("delegate"))),
        };

        if (!read_weight(writ_json_get(item, WRIT_LIT("weight")), &voter)) {
            WRIT_FAIL(err, WRIT_E_PARSE, "a voter of a review has no weight");
        }
        read_delegation(writ_json_get(item, WRIT_LIT("delegation")), &voter);
        WRIT_TRY(writ_review_terms_key(item, arena, &voter.key, err));
        ret->voters[ret->voters_n++] = voter;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_time(const struct writ_json *terms, struct writ_view name, int64_t *ret, struct writ_err *err)
{
    int64_t ms = 0;

    if (!writ_is_ok(writ_json_integer(writ_json_get(terms, name), 1, TIME_MS_MAX, &ms))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the terms of a review lack one of its times");
    }
    *ret = ms * US_PER_MS;
    return WRIT_DONE;
}

/* The texts stay with `list`. */
static WRIT_RESULT
read_candidates(const struct writ_json *list, struct writ_arena *arena, struct writ_review *ret,
    struct writ_err *err)
{
    if (list == NULL) {
        return WRIT_DONE;
    }
    if (writ_json_type(list) != WRIT_JSON_ARRAY || list->count > WRIT_REVIEW_CANDIDATES_MAX) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the candidates of a review are not a list of at most %d",
            WRIT_REVIEW_CANDIDATES_MAX);
    }
    ret->candidates = writ_arena_get(arena, (list->count + 1) * sizeof *ret->candidates);
    if (ret->candidates == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the candidates of a review");
    }
    WRIT_JSON_EACH(element, list)
    {
        ret->candidates[ret->candidates_n++] = (struct writ_review_candidate){
            .option =
                writ_review_vote_find(writ_json_string(writ_json_get(element, WRIT_LIT("option")))),
            .state_free_digest =
                writ_json_string(writ_json_get(element, WRIT_LIT("state_free_digest"))),
            .intent_digest = writ_json_string(writ_json_get(element, WRIT_LIT("intent_digest"))),
            .target_state_digest =
                writ_json_string(writ_json_get(element, WRIT_LIT("target_state_digest")))};
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_review_terms_read(const struct writ_json *value, struct writ_arena *arena,
    struct writ_review *ret, struct writ_err *err)
{
    struct writ_review review = {
        .id = writ_json_string(writ_json_get(value, WRIT_LIT("id"))),
        .name = writ_json_string(writ_json_get(value, WRIT_LIT("name"))),
        .engine = writ_json_string(writ_json_get(value, WRIT_LIT("engine"))),
        .engine_digest = writ_json_string(writ_json_get(value, WRIT_LIT("engine_digest"))),
        .threshold = writ_json_string(writ_json_get(value, WRIT_LIT("threshold"))),
        .quorum = writ_json_string(writ_json_get(value, WRIT_LIT("quorum"))),
        .subject = writ_json_string(writ_json_get(value, WRIT_LIT("subject"))),
        .tenant = writ_json_string(writ_json_get(value, WRIT_LIT("tenant"))),
        .agent_id = writ_json_string(writ_json_get(value, WRIT_LIT("agent_id"))),
        .intent_digest = writ_json_string(writ_json_get(value, WRIT_LIT("intent_digest"))),
        .target_state_digest =
            writ_json_string(writ_json_get(value, WRIT_LIT("target_state_digest"))),
        .rules_digest = writ_json_string(writ_json_get(value, WRIT_LIT("rules_digest"))),
    };

    (void)writ_review_ranking_read(writ_json_get(value, WRIT_LIT("options")), &review.options);
    WRIT_TRY(read_candidates(writ_json_get(value, WRIT_LIT("candidates")), arena, &review, err));
    WRIT_TRY(read_time(value, WRIT_LIT("lifetime_ms"), &review.lifetime_us, err));
    WRIT_TRY(read_time(value, WRIT_LIT("redeem_ms"), &review.redeem_us, err));
    WRIT_TRY(read_voters(writ_json_get(value, WRIT_LIT("voters")), arena, &review, err));
    WRIT_TRY(writ_review_terms_check(&review, err));
    *ret = review;
    return WRIT_DONE;
}
