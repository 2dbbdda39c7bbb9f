/* Transitions and votes of a review. A move without a row changes nothing. */
#include "evidence/record/review.h"

#include "base/decimal.h"
#include "base/utf8.h"

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
