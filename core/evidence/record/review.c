/* Transitions, votes and counting of a review. A move without a row changes nothing, a vote is
 * bound to the digest of the terms, and a review is decided only when no missing vote can change
 * the verdict. */
#include "evidence/record/review.h"

#include "base/clock.h"
#include "base/decimal.h"
#include "base/utf8.h"
#include "evidence/json/jcs.h"

#define US_PER_MS   1000
#define TIME_MS_MAX (INT64_C(1) << 40)
#define WEIGHT_TEXT 48

/* ---- the machine */

struct state_row {
    struct writ_view name;
    enum writ_review_phase phase;
    enum writ_reason reason;
};

static const struct state_row states[WRIT_REVIEW_STATE_COUNT] = {
#define STATE(NAME, name_, PHASE, REASON, means)                                                   \
    [WRIT_REVIEW_##NAME] = {{#name_, sizeof #name_ - 1}, WRIT_REVIEW_##PHASE, WRIT_REASON_##REASON},
    WRIT_REVIEW_STATES(STATE)
#undef STATE
};

static const struct writ_view events[WRIT_REVIEW_EVENT_COUNT] = {
#define EVENT(NAME, name_, happens) [WRIT_REVIEW_DO_##NAME] = {#name_, sizeof #name_ - 1},
    WRIT_REVIEW_EVENTS(EVENT)
#undef EVENT
};

/* ABSENT, which is zero, is never the target of a move: a move without a row gives none. */
static const unsigned char moves[WRIT_REVIEW_STATE_COUNT][WRIT_REVIEW_EVENT_COUNT] = {
#define MOVE(STATE, EVENT, NEXT) [WRIT_REVIEW_##STATE][WRIT_REVIEW_DO_##EVENT] = WRIT_REVIEW_##NEXT,
    WRIT_REVIEW_MOVES(MOVE)
#undef MOVE
};

struct writ_view
writ_review_state_name(enum writ_review_state state)
{
    WRIT_INVARIANT((size_t)state < WRIT_REVIEW_STATE_COUNT);
    return states[state].name;
}

struct writ_view
writ_review_event_name(enum writ_review_event event)
{
    WRIT_INVARIANT((size_t)event < WRIT_REVIEW_EVENT_COUNT);
    return events[event];
}

bool
writ_review_state_find(struct writ_view text, enum writ_review_state *ret)
{
    for (size_t i = 0; i < WRIT_REVIEW_STATE_COUNT; i++) {
        if (writ_view_equal(states[i].name, text)) {
            *ret = (enum writ_review_state)i;
            return true;
        }
    }
    return false;
}

enum writ_review_phase
writ_review_phase(enum writ_review_state state)
{
    WRIT_INVARIANT((size_t)state < WRIT_REVIEW_STATE_COUNT);
    return states[state].phase;
}

enum writ_reason
writ_review_reason(enum writ_review_state state)
{
    WRIT_INVARIANT((size_t)state < WRIT_REVIEW_STATE_COUNT);
    return states[state].reason;
}

bool
writ_review_move(
    enum writ_review_state state, enum writ_review_event event, enum writ_review_state *ret)
{
    unsigned char next = 0;

    if ((size_t)state < WRIT_REVIEW_STATE_COUNT && (size_t)event < WRIT_REVIEW_EVENT_COUNT) {
        next = moves[state][event];
    }
    if (next == WRIT_REVIEW_ABSENT) {
        return false;
    }
    *ret = (enum writ_review_state)next;
    return true;
}

/* ---- votes */

static const struct writ_view votes[] = {[WRIT_REVIEW_NO_VOTE] = {"", 0},
#define VOTE_NAME(NAME, name) [WRIT_REVIEW_##NAME] = {#name, sizeof #name - 1},
    WRIT_REVIEW_VOTES(VOTE_NAME)
#undef VOTE_NAME
#define CANDIDATE_NAME(N, name) [WRIT_REVIEW_CANDIDATE_##N] = {name, sizeof name - 1},
        WRIT_REVIEW_CANDIDATES(CANDIDATE_NAME)
#undef CANDIDATE_NAME
};

_Static_assert(
    sizeof votes / sizeof votes[0] - WRIT_REVIEW_CANDIDATE_1 == WRIT_REVIEW_CANDIDATES_MAX,
    "each candidate has a name");

struct writ_view
writ_review_vote_name(enum writ_review_vote vote)
{
    WRIT_INVARIANT((size_t)vote < sizeof votes / sizeof votes[0]);
    return votes[vote];
}

enum writ_review_vote
writ_review_vote_find(struct writ_view text)
{
    for (size_t i = WRIT_REVIEW_APPROVE; i < sizeof votes / sizeof votes[0]; i++) {
        if (writ_view_equal(votes[i], text)) {
            return (enum writ_review_vote)i;
        }
    }
    return WRIT_REVIEW_NO_VOTE;
}

enum writ_review_vote
writ_review_candidate_at(size_t place)
{
    WRIT_INVARIANT(place < WRIT_REVIEW_CANDIDATES_MAX);
    return (enum writ_review_vote)(WRIT_REVIEW_CANDIDATE_1 + place);
}

bool
writ_review_is_candidate(enum writ_review_vote vote)
{
    return vote >= WRIT_REVIEW_CANDIDATE_1;
}

bool
writ_review_is_confidence(struct writ_view text)
{
    const struct writ_decimal one = writ_decimal_of(1);
    struct writ_decimal value;

    return text.len <= WRIT_REVIEW_CONFIDENCE_MAX && writ_is_ok(writ_decimal_read(text, &value)) &&
           !value.negative && writ_decimal_compare(&value, &one) <= 0;
}

bool
writ_review_is_feedback(struct writ_view text)
{
    if (text.len > WRIT_REVIEW_FEEDBACK_MAX || !writ_utf8_is_valid(text, NULL)) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool c1 = c == 0xc2 && (unsigned char)text.ptr[i + 1] < 0xa0; /* CSI in one character */

        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f || c1) {
            return false;
        }
    }
    return true;
}

/* ---- rankings */

bool
writ_review_ranking_of(const struct writ_view *names, size_t n, struct writ_review_ranking *ret)
{
    struct writ_review_ranking ranking = {.n = n};

    if (n == 0 || n > WRIT_REVIEW_OPTIONS_MAX) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        ranking.list[i] = writ_review_vote_find(names[i]);
        if (ranking.list[i] == WRIT_REVIEW_NO_VOTE || ranking.list[i] == WRIT_REVIEW_ABSTAIN) {
            return false;
        }
        for (size_t before = 0; before < i; before++) {
            if (ranking.list[before] == ranking.list[i]) {
                return false;
            }
        }
    }
    *ret = ranking;
    return true;
}

bool
writ_review_ranking_read(const struct writ_json *value, struct writ_review_ranking *ret)
{
    struct writ_view names[WRIT_REVIEW_OPTIONS_MAX];
    size_t n = 0;

    if (writ_json_type(value) != WRIT_JSON_ARRAY || value->count > WRIT_REVIEW_OPTIONS_MAX) {
        return false;
    }
    WRIT_JSON_EACH(element, value)
    {
        names[n++] = writ_json_string(element);
    }
    return writ_review_ranking_of(names, n, ret);
}

bool
writ_review_ranking_is_of(
    const struct writ_review_ranking *ranking, const struct writ_review_ranking *options)
{
    size_t found = 0;

    for (size_t i = 0; i < ranking->n; i++) {
        for (size_t at = 0; at < options->n; at++) {
            found += ranking->list[i] == options->list[at];
        }
    }
    return found == ranking->n && found == options->n;
}

bool
writ_review_ranking_equal(const struct writ_review_ranking *a, const struct writ_review_ranking *b)
{
    bool same = a->n == b->n;

    for (size_t i = 0; same && i < a->n; i++) {
        same = a->list[i] == b->list[i];
    }
    return same;
}

void
writ_review_ranking_put(
    struct writ_write *w, const char *name, const struct writ_review_ranking *ranking)
{
    if (ranking->n == 0) {
        return;
    }
    writ_write_name(w, writ_view_str(name));
    writ_write_array_begin(w);
    for (size_t i = 0; i < ranking->n; i++) {
        writ_write_string(w, writ_review_vote_name(ranking->list[i]));
    }
    writ_write_array_end(w);
}

/* ---- candidates */

void
writ_review_offer(struct writ_review *review, const struct writ_review_ranking *others)
{
    struct writ_review_ranking options = {.n = 0};

    for (size_t i = 0; i < review->candidates_n; i++) {
        options.list[options.n++] = review->candidates[i].option;
    }
    for (size_t i = 0; i < others->n; i++) {
        if (!writ_review_is_candidate(others->list[i])) {
            WRIT_INVARIANT(options.n < WRIT_REVIEW_OPTIONS_MAX);
            options.list[options.n++] = others->list[i];
        }
    }
    review->options = options;
}

const struct writ_review_candidate *
writ_review_candidate(const struct writ_review *review, struct writ_view state_free_digest)
{
    for (size_t i = 0; i < review->candidates_n; i++) {
        if (writ_view_equal(review->candidates[i].state_free_digest, state_free_digest)) {
            return &review->candidates[i];
        }
    }
    return NULL;
}

bool
writ_review_has_candidate(const struct writ_review *review, enum writ_review_vote option)
{
    for (size_t i = 0; i < review->candidates_n; i++) {
        if (review->candidates[i].option == option) {
            return true;
        }
    }
    return false;
}

/* ---- engines */

bool
writ_review_is_plugin(struct writ_view engine)
{
    bool named = writ_view_has_suffix(engine, WRIT_LIT(".so")) && engine.len > 3 &&
                 engine.len <= WRIT_REVIEW_PLUGIN_MAX && engine.ptr[0] != '.';

    for (size_t i = 0; named && i < engine.len; i++) {
        char c = engine.ptr[i];

        named = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '-' || c == '_' || c == '.';
    }
    return named;
}

bool
writ_review_weighs(struct writ_view engine)
{
    return writ_view_is(engine, "review") || writ_view_is(engine, "weighted_consensus");
}

enum writ_review_need
writ_review_need(struct writ_view engine)
{
#define NEED(NAME, word, NEEDS)                                                                    \
    if (writ_view_is(engine, word)) {                                                              \
        return WRIT_REVIEW_NEEDS_##NEEDS;                                                          \
    }
    WRIT_REVIEW_ENGINES(NEED)
#undef NEED
    return writ_review_is_plugin(engine) ? WRIT_REVIEW_NEEDS_RANKING : WRIT_REVIEW_NEEDS_VOTE;
}

bool
writ_review_counts(const struct writ_review *review, enum writ_review_vote vote,
    const struct writ_review_ranking *ranking, struct writ_view confidence)
{
    if (vote == WRIT_REVIEW_ABSTAIN) {
        return ranking->n == 0;
    }
    if (writ_review_is_candidate(vote) && ranking->n == 0) {
        return false;
    }
    switch (writ_review_need(review->engine)) {
    case WRIT_REVIEW_NEEDS_VOTE:
        break;
    case WRIT_REVIEW_NEEDS_CONFIDENCE:
        return confidence.len > 0 && ranking->n == 0;
    case WRIT_REVIEW_NEEDS_RANKING:
        return writ_review_ranking_is_of(ranking, &review->options) && ranking->list[0] == vote;
    }
    return ranking->n == 0;
}

void
writ_review_cast(struct writ_review_voter *voter, enum writ_review_vote vote,
    const struct writ_review_ranking *ranking, struct writ_view confidence, int64_t at_us)
{
    struct writ_buf text = writ_buf_over(voter->confidence, sizeof voter->confidence);

    writ_buf_put(&text, writ_view_sub(confidence, 0, WRIT_REVIEW_CONFIDENCE_MAX));
    writ_buf_byte(&text, '\0');
    voter->vote = vote;
    voter->ranking = *ranking;
    voter->voted_us = at_us;
}

struct writ_review_voter *
writ_review_voter(const struct writ_review *review, struct writ_view id)
{
    for (size_t i = 0; i < review->voters_n; i++) {
        if (writ_view_equal(review->voters[i].id, id)) {
            return &review->voters[i];
        }
    }
    return NULL;
}

/* ---- weights */

static int64_t
parts_of(const struct writ_review_voter *voter)
{
    return voter->parts > 0 ? voter->parts : 1;
}

int64_t
writ_review_unit(const struct writ_review *review)
{
    int64_t unit = 1;

    for (size_t i = 0; i < review->voters_n; i++) {
        int64_t parts = parts_of(&review->voters[i]);

        unit *= parts / writ_rational_gcd(unit, parts);
        if (unit > WRIT_REVIEW_UNITS_MAX) {
            return 0;
        }
    }
    for (size_t i = 0; i < review->voters_n; i++) {
        if (review->voters[i].weight >
            WRIT_REVIEW_UNITS_MAX / (unit / parts_of(&review->voters[i]))) {
            return 0;
        }
    }
    return unit;
}

int64_t
writ_review_units(const struct writ_review_voter *voter, int64_t unit)
{
    return voter->weight * (unit / parts_of(voter));
}

void
writ_review_weight_text(const struct writ_review_voter *voter, struct writ_buf *ret)
{
    writ_buf_fmt(ret, "%lld", (long long)voter->weight);
    if (parts_of(voter) > 1) {
        writ_buf_fmt(ret, "/%lld", (long long)voter->parts);
    }
}

void
writ_review_put_weight(struct writ_write *w, const struct writ_review_voter *voter)
{
    char text[WEIGHT_TEXT];
    struct writ_buf buf = writ_buf_over(text, sizeof text);

    if (parts_of(voter) == 1) {
        writ_write_integer(w, "weight", voter->weight);
        return;
    }
    writ_review_weight_text(voter, &buf);
    writ_write_text(w, "weight", writ_buf_view(&buf));
}

bool
writ_review_weight_read(struct writ_view text, struct writ_review_voter *ret)
{
    struct writ_rational weight;

    if (!writ_is_ok(writ_rational_of_text(text, &weight))) {
        return false;
    }
    weight = writ_rational_reduce(weight);
    if (weight.numerator > WRIT_REVIEW_WEIGHT_MAX || weight.denominator > WRIT_REVIEW_WEIGHT_MAX) {
        return false;
    }
    ret->weight = weight.numerator;
    ret->parts = weight.denominator;
    return true;
}

/* ---- delegation */

size_t
writ_review_electors(const struct writ_review *review)
{
    size_t n = 0;

    while (n < review->voters_n && !review->voters[n].stand_in) {
        n++;
    }
    return n;
}

/* The voter that it delegates to, or NULL. */
static const struct writ_review_voter *
named_by(const struct writ_review *review, const struct writ_review_voter *voter)
{
    return voter->delegate.len > 0 ? writ_review_voter(review, voter->delegate) : NULL;
}

/* The same, unless it was taken back. */
static const struct writ_review_voter *
delegate_of(const struct writ_review *review, const struct writ_review_voter *voter)
{
    return voter->revoked ? NULL : named_by(review, voter);
}

/* The end of a delegation, or of the one before it on the way to the speaker. */
static int64_t
earlier_end(int64_t until_us, const struct writ_review_voter *voter)
{
    return until_us == 0 || (voter->delegated_until_us > 0 && voter->delegated_until_us < until_us)
               ? voter->delegated_until_us
               : until_us;
}

const struct writ_review_voter *
writ_review_speaker(const struct writ_review *review, const struct writ_review_voter *voter)
{
    const struct writ_review_voter *speaker = voter;
    int64_t until_us = 0;

    for (size_t i = 0; i < review->voters_n && speaker->vote == WRIT_REVIEW_NO_VOTE; i++) {
        const struct writ_review_voter *next = delegate_of(review, speaker);

        if (next == NULL) {
            return voter;
        }
        until_us = earlier_end(until_us, speaker);
        speaker = next;
    }
    return speaker->vote != WRIT_REVIEW_NO_VOTE && (until_us == 0 || speaker->voted_us < until_us)
               ? speaker
               : voter;
}

bool
writ_review_may_vote(
    const struct writ_review *review, const struct writ_review_voter *voter, int64_t now_us)
{
    bool may = !voter->stand_in;

    for (size_t i = 0; !may && i < writ_review_electors(review); i++) {
        const struct writ_review_voter *other = &review->voters[i];

        may = delegate_of(review, other) == voter &&
              (other->delegated_until_us == 0 || now_us < other->delegated_until_us);
    }
    return may;
}

static WRIT_RESULT
check_delegation(
    const struct writ_review *review, const struct writ_review_voter *voter, struct writ_err *err)
{
    const struct writ_review_voter *at = voter;

    for (size_t i = 0; at->delegate.len > 0; i++) {
        at = named_by(review, at);
        if (at == NULL) {
            WRIT_FAIL(err, WRIT_E_INVALID, "a delegate is not a voter of the review");
        }
        if (at == voter || i == review->voters_n) {
            WRIT_FAIL(err, WRIT_E_INVALID, "a voter delegates to itself, through others or not");
        }
    }
    return WRIT_DONE;
}

/* ---- who has voted */

bool
writ_review_is_vetoed(const struct writ_review *review)
{
    for (size_t i = 0; i < writ_review_electors(review); i++) {
        if (review->voters[i].veto &&
            writ_review_speaker(review, &review->voters[i])->vote == WRIT_REVIEW_REJECT) {
            return true;
        }
    }
    return false;
}

bool
writ_review_all_spoke(const struct writ_review *review)
{
    for (size_t i = 0; i < writ_review_electors(review); i++) {
        if (writ_review_speaker(review, &review->voters[i])->vote == WRIT_REVIEW_NO_VOTE) {
            return false;
        }
    }
    return true;
}

/* ---- terms */

void
writ_review_put_delegation(struct writ_write *w, const struct writ_review_voter *voter)
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

static bool
is_name(struct writ_view text)
{
    return text.len > 0 && text.len <= WRIT_REVIEW_NAME_MAX;
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
writ_review_check(const struct writ_review *review, struct writ_err *err)
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

static void
put_voters(struct writ_write *w, const struct writ_review *review)
{
    writ_write_name(w, WRIT_LIT("voters"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < review->voters_n; i++) {
        writ_write_object_begin(w);
        writ_write_text_if(w, "delegate", review->voters[i].delegate);
        writ_review_put_delegation(w, &review->voters[i]);
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
writ_review_put_terms(const struct writ_review *review, struct writ_buf *ret, struct writ_err *err)
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
writ_review_digest(const struct writ_review *review, struct writ_digest *ret, struct writ_err *err)
{
    writ_auto_buf terms = writ_buf_make(WRIT_REVIEW_TERMS_MAX);

    WRIT_TRY(writ_review_put_terms(review, &terms, err));
    return writ_digest_bytes(writ_buf_view(&terms), ret, err);
}

WRIT_RESULT
writ_review_key_of(const struct writ_json *object, struct writ_arena *arena, struct writ_view *ret,
    struct writ_err *err)
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
        WRIT_TRY(writ_review_key_of(item, arena, &voter.key, err));
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
writ_review_read_terms(const struct writ_json *value, struct writ_arena *arena,
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
    WRIT_TRY(writ_review_check(&review, err));
    *ret = review;
    return WRIT_DONE;
}

/* ---- counting */

static WRIT_RESULT
copy_voters(const struct writ_review *review, struct writ_arena *arena, struct writ_review *ret,
    struct writ_err *err)
{
    struct writ_review copy = *review;

    copy.voters = writ_arena_get(arena, review->voters_n * sizeof *review->voters);
    if (copy.voters == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to count votes");
    }
    for (size_t i = 0; i < review->voters_n; i++) {
        copy.voters[i] = review->voters[i];
    }
    *ret = copy;
    return WRIT_DONE;
}

/* A copy in which each voter has the vote of its speaker. */
static WRIT_RESULT
speak(const struct writ_review *review, struct writ_arena *arena, struct writ_review *ret,
    struct writ_err *err)
{
    WRIT_TRY(copy_voters(review, arena, ret, err));
    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_review_voter *speaker = writ_review_speaker(review, &review->voters[i]);

        writ_review_cast(&ret->voters[i], speaker->vote, &speaker->ranking,
            writ_view_str(speaker->confidence), speaker->voted_us);
    }
    return WRIT_DONE;
}

/* A ballot with the option at `first` before all others, and that at `last` behind them. */
static struct writ_review_ranking
rank_between(const struct writ_review_ranking *options, size_t first, size_t last)
{
    struct writ_review_ranking ranking = {{options->list[first]}, 1};

    for (size_t i = 0; i < options->n; i++) {
        if (i != first && i != last) {
            ranking.list[ranking.n++] = options->list[i];
        }
    }
    if (last != first) {
        ranking.list[ranking.n++] = options->list[last];
    }
    return ranking;
}

/* Counts with all missing votes cast like this. */
static WRIT_RESULT
count_as(const struct writ_review_judge *judge, const struct writ_review *review,
    const struct writ_review_ranking *vote, struct writ_arena *arena,
    struct writ_review_finding *ret, struct writ_err *err)
{
    static const struct writ_review_ranking none = {.n = 0};
    struct writ_review_finding finding = {.verdict = WRIT_REVIEW_DO_VOTE};
    struct writ_review other;

    WRIT_TRY(copy_voters(review, arena, &other, err));
    for (size_t i = 0; i < other.voters_n; i++) {
        if (other.voters[i].vote == WRIT_REVIEW_NO_VOTE) {
            writ_review_cast(&other.voters[i], vote->list[0], review->options.n > 0 ? vote : &none,
                WRIT_LIT("1"), 0);
        }
    }
    WRIT_TRY(judge->count(judge->ctx, &other, false, arena, &finding, err));
    *ret = finding;
    return WRIT_DONE;
}

static bool
same_finding(const struct writ_review_finding *a, const struct writ_review_finding *b)
{
    return a->verdict == b->verdict && a->elected == b->elected;
}

/* The option that a verdict stands for; NO_VOTE: no single one, as after a tie. */
static enum writ_review_vote
winner_of(const struct writ_review_finding *finding)
{
    if (finding->verdict == WRIT_REVIEW_DO_REJECT) {
        return WRIT_REVIEW_REJECT;
    }
    if (finding->verdict == WRIT_REVIEW_DO_ACCEPT) {
        return finding->elected != WRIT_REVIEW_NO_VOTE ? finding->elected : WRIT_REVIEW_APPROVE;
    }
    return WRIT_REVIEW_NO_VOTE;
}

/* Counts with each option in turn before all others on the missing ballots, and the winner behind
 * them: no ballot is better for that option against the winner, so a winner of all these counts
 * wins whatever is missing. A revision can have several reasons: it waits for all votes. */
static WRIT_RESULT
count_rankings(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    const struct writ_review_ranking *options = &review->options;
    struct writ_review_ranking ballot = rank_between(options, 0, options->n - 1);
    struct writ_review_finding found = {.verdict = WRIT_REVIEW_DO_VOTE}, other;
    size_t winner = 0;

    WRIT_TRY(count_as(judge, review, &ballot, arena, &found, err));
    *ret = found;
    if (writ_review_all_spoke(review)) {
        return WRIT_DONE;
    }
    while (winner < options->n && options->list[winner] != winner_of(&found)) {
        winner++;
    }
    for (size_t i = 0; winner < options->n && i < options->n; i++) {
        if (i != winner) {
            ballot = rank_between(options, i, winner);
            WRIT_TRY(count_as(judge, review, &ballot, arena, &other, err));
            winner = same_finding(&other, &found) ? winner : options->n;
        }
    }
    if (winner == options->n) {
        *ret = (struct writ_review_finding){.verdict = WRIT_REVIEW_DO_VOTE};
    }
    return WRIT_DONE;
}

/* Counts with each vote on all that is missing: a vote moves a share, or a difference of points, in
 * one direction only, so votes in between change nothing. */
static WRIT_RESULT
count_votes(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    static const enum writ_review_vote words[] = {
        WRIT_REVIEW_REJECT, WRIT_REVIEW_APPROVE, WRIT_REVIEW_MODIFY};
    size_t n = writ_review_all_spoke(review) ? 1 : sizeof words / sizeof words[0];
    struct writ_review_finding certain = {.verdict = WRIT_REVIEW_DO_VOTE};

    for (size_t i = 0; i < n; i++) { /* with all votes, each is the same */
        const struct writ_review_ranking vote = {{words[i]}, 1};
        struct writ_review_finding found = {.verdict = WRIT_REVIEW_DO_VOTE};

        WRIT_TRY(count_as(judge, review, &vote, arena, &found, err));
        if (i > 0 && !same_finding(&found, &certain)) {
            *ret = (struct writ_review_finding){.verdict = WRIT_REVIEW_DO_VOTE};
            return WRIT_DONE;
        }
        certain = found;
    }
    *ret = certain;
    return WRIT_DONE;
}

/* `ret`: the verdict whatever the missing votes are; VOTE: there is none. */
static WRIT_RESULT
count_certain(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    return review->options.n > 0 ? count_rankings(judge, review, arena, ret, err)
                                 : count_votes(judge, review, arena, ret, err);
}

/* By a plug-in, of which nothing is known: no vote is missing, or a veto makes the count idle. */
static WRIT_RESULT
look_whole(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    if (writ_review_is_vetoed(review) || writ_review_all_spoke(review)) {
        return judge->count(judge->ctx, review, true, arena, ret, err);
    }
    *ret = (struct writ_review_finding){.verdict = WRIT_REVIEW_DO_VOTE};
    return WRIT_DONE;
}

WRIT_RESULT
writ_review_recount(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    struct writ_review spoken;

    WRIT_TRY(speak(review, arena, &spoken, err));
    return judge->count(judge->ctx, &spoken, true, arena, ret, err);
}

WRIT_RESULT
writ_review_look(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    struct writ_review_finding cast = {.verdict = WRIT_REVIEW_DO_VOTE};
    struct writ_review_finding certain = {.verdict = WRIT_REVIEW_DO_VOTE};
    struct writ_review spoken;

    WRIT_TRY(speak(review, arena, &spoken, err));
    if (writ_review_is_plugin(review->engine)) {
        return look_whole(judge, &spoken, arena, ret, err);
    }
    WRIT_TRY(count_certain(judge, &spoken, arena, &certain, err));
    if (certain.verdict != WRIT_REVIEW_DO_VOTE) {
        WRIT_TRY(judge->count(judge->ctx, &spoken, true, arena, &cast, err));
    }
    if (!same_finding(&cast, &certain)) { /* without a quorum, or still open */
        cast = (struct writ_review_finding){.verdict = WRIT_REVIEW_DO_VOTE};
    }
    *ret = cast;
    return WRIT_DONE;
}
