/* Reads `reviews`, and `approval` of a rule. The digest of a review covers its entry, and how its
 * voters and their delegates are asked. */
#include "policy/read/reviews.h"

#include "policy/read/canonical.h"
#include "policy/read/engines.h"
#include "policy/read/shares.h"

/* ---- reviews */

static struct writ_view
key_of(const struct writ_reviewer_config *reviewer)
{
    return reviewer != NULL ? reviewer->key : (struct writ_view){"", 0};
}

static struct writ_voter_config
voter_of(struct writ_options *o, const struct writ_config *config, const struct writ_raw_voter *raw)
{
    const struct writ_reviewer_config *reviewer = writ_config_reviewer(config, raw->id);
    const struct writ_delegation_config *delegation =
        reviewer != NULL ? reviewer->delegation : NULL;
    struct writ_review_voter weight = {.weight = 1};

    writ_shares_weight(o, raw->weight, &weight);
    return (struct writ_voter_config){.id = raw->id,
        .weight = weight.weight,
        .parts = weight.parts,
        .veto = raw->veto,
        .key = key_of(reviewer),
        .delegation = delegation,
        .delegate_key = delegation != NULL ? key_of(writ_config_reviewer(config, delegation->to))
                                           : (struct writ_view){"", 0}};
}

static bool
read_voters(struct writ_options *o, const struct writ_yaml *node, const struct writ_config *config,
    struct writ_review_config *ret)
{
    struct writ_voter_config *voters;
    int64_t weight = 0;

    if (node->type != WRIT_YAML_LIST || node->count == 0 || node->count > WRIT_REVIEW_VOTERS_MAX) {
        WRIT_OPTION_FAULT(o, node, "must be a list of 1 to %d voters", WRIT_REVIEW_VOTERS_MAX);
        return false;
    }
    voters = writ_option_memory(o, node->count, sizeof *voters);
    if (voters == NULL) {
        return false;
    }
    WRIT_YAML_EACH(element, node)
    {
        struct writ_raw_voter raw = {0};

        writ_option_read(o, WRIT_SECTION_voter, element, &raw);
        for (size_t i = 0; i < ret->voters_n; i++) {
            if (raw.id.len > 0 && writ_view_equal(voters[i].id, raw.id)) {
                WRIT_OPTION_FAULT(o, element, "is there twice");
            }
        }
        voters[ret->voters_n] = voter_of(o, config, &raw);
        weight += voters[ret->voters_n++].weight;
    }
    ret->voters = voters;
    if (weight == 0) {
        WRIT_OPTION_FAULT(o, node, "needs at least one voter whose vote counts");
    }
    return true;
}

static bool
is_built_in(struct writ_view engine)
{
#define IS_ENGINE(NAME, word, NEEDS) || writ_view_is(engine, word)
    return false WRIT_REVIEW_ENGINES(IS_ENGINE);
#undef IS_ENGINE
}

#define ENGINE_WORD(NAME, word, NEEDS) word ", "

/* Faulty: as without the option, so that there is one finding. */
static void
read_engine(struct writ_options *o, const struct writ_yaml *node, struct writ_config *config,
    struct writ_review_config *ret)
{
    ret->engine = WRIT_LIT("review");
    if (node == NULL) {
        return;
    }
    if (node->type == WRIT_YAML_SCALAR && is_built_in(node->text)) {
        ret->engine = node->text;
    } else if (node->type == WRIT_YAML_SCALAR && writ_review_is_plugin(node->text)) {
        ret->plugin = writ_engines_read(o, node, node->text, config);
        ret->engine = ret->plugin != NULL ? node->text : ret->engine;
    } else {
        WRIT_OPTION_FAULT(o, node,
            "must be one of " WRIT_REVIEW_ENGINES(
                ENGINE_WORD) "or the file of a plug-in in the folder engines, as tally.so");
    }
}

#undef ENGINE_WORD

/* Of the review, its plug-in, and how its voters are asked: all are a part of the policy. */
static WRIT_RESULT
digest_review(const struct writ_yaml *node, const struct writ_config *config,
    struct writ_arena *arena, struct writ_review_config *ret)
{
    struct writ_view pieces[3 * WRIT_REVIEW_VOTERS_MAX + 2];
    struct writ_digest own;
    size_t n = 1;

    WRIT_TRY(writ_canonical_digest(node, arena, &own));
    pieces[0] = writ_view(own.bytes, WRIT_DIGEST_BYTES);
    if (ret->plugin != NULL) {
        pieces[n++] = writ_view(ret->plugin->digest.bytes, WRIT_DIGEST_BYTES);
    }
    for (size_t i = 0; i < ret->voters_n; i++) {
        const struct writ_reviewer_config *reviewer =
            writ_config_reviewer(config, ret->voters[i].id);

        if (reviewer != NULL) {
            pieces[n++] = writ_view(reviewer->digest.bytes, WRIT_DIGEST_BYTES);
        }
        reviewer = ret->voters[i].delegation != NULL
                       ? writ_config_reviewer(config, ret->voters[i].delegation->to)
                       : NULL;
        if (reviewer != NULL) { /* its key */
            pieces[n++] = writ_view(reviewer->digest.bytes, WRIT_DIGEST_BYTES);
        }
    }
    for (size_t i = 0; i < ret->delegable.stand_ins_n; i++) {
        const struct writ_reviewer_config *reviewer =
            writ_config_reviewer(config, ret->delegable.stand_ins[i].id);

        if (reviewer != NULL) {
            pieces[n++] = writ_view(reviewer->digest.bytes, WRIT_DIGEST_BYTES);
        }
    }
    return writ_digest_pieces(pieces, n, &ret->digest, NULL);
}

/* The caller's program speaks for the voter: only a program of the same user may. */
static void
check_elicitation(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_config *config, const struct writ_review_config *review)
{
    const struct writ_yaml *place = writ_option_of(node, "elicitation");
    const struct writ_voter_config *voter = NULL;

    if (place == NULL || review->elicitation.len == 0) {
        return;
    }
    for (size_t i = 0; i < review->voters_n; i++) {
        if (writ_view_equal(review->voters[i].id, review->elicitation)) {
            voter = &review->voters[i];
        }
    }
    if (voter == NULL) {
        WRIT_OPTION_FAULT(o, place, "must be one of the voters");
    } else if (voter->key.len > 0) {
        WRIT_OPTION_FAULT(o, place, "this voter signs its votes: a client cannot vote for it");
    }
    if (config->listen.path.len == 0) {
        WRIT_OPTION_WARN(o, place, "has no effect: it needs listen on a Unix socket");
    }
}

static bool
is_voter(const struct writ_review_config *review, struct writ_view id)
{
    for (size_t i = 0; i < review->voters_n; i++) {
        if (writ_view_equal(review->voters[i].id, id)) {
            return true;
        }
    }
    return false;
}

/* What voters may set themselves. The key of a stand-in is that of its entry. */
static void
read_delegations(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_raw_delegations *raw, const struct writ_config *config,
    struct writ_review_config *ret)
{
    struct writ_stand_in *stand_ins;

    if ((raw->longest_us == 0 && node != NULL) ||
        (raw->longest_us > 0 && raw->stand_ins.n == 0 && !raw->several)) {
        WRIT_OPTION_FAULT(
            o, node, "permits no delegation: set longest, and name stand_ins or set several");
    }
    if (raw->longest_us == 0) {
        return;
    }
    stand_ins = writ_option_memory(o, raw->stand_ins.n + 1, sizeof *stand_ins);
    if (stand_ins == NULL) {
        return;
    }
    for (size_t i = 0; i < raw->stand_ins.n; i++) {
        struct writ_view id = raw->stand_ins.items[i];

        if (is_voter(ret, id)) {
            WRIT_OPTION_FAULT(o, writ_option_of(node, "stand_ins"),
                "\"" WRIT_VIEW_FMT "\" is a voter: set several, so that voters may name each other",
                WRIT_VIEW_ARG(writ_view_sub(id, 0, 64)));
        }
        stand_ins[i] =
            (struct writ_stand_in){.id = id, .key = key_of(writ_config_reviewer(config, id))};
    }
    ret->delegable = (struct writ_delegable){.longest_us = raw->longest_us,
        .stand_ins = stand_ins,
        .stand_ins_n = raw->stand_ins.n,
        .several = raw->several};
}

/* Stand-ins are voters of the terms, too: with too many of them no review could open. */
static void
check_stand_ins(
    struct writ_options *o, const struct writ_yaml *node, const struct writ_review_config *review)
{
    size_t n = review->voters_n + review->delegable.stand_ins_n;

    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_delegation_config *delegation = review->voters[i].delegation;
        bool counted = delegation == NULL || is_voter(review, delegation->to);

        for (size_t before = 0; !counted && before < i; before++) {
            const struct writ_delegation_config *other = review->voters[before].delegation;
            counted = other != NULL && writ_view_equal(other->to, delegation->to);
        }
        n += counted ? 0 : 1;
    }
    if (n > WRIT_REVIEW_VOTERS_MAX) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "voters"),
            "are %zu with those that stand in for them, of at most %d: name fewer voters or "
            "delegates",
            n, WRIT_REVIEW_VOTERS_MAX);
    }
}

/* The weights become whole numbers when votes are counted. */
static void
check_weights(
    struct writ_options *o, const struct writ_yaml *node, const struct writ_review_config *review)
{
    struct writ_review_voter voters[WRIT_REVIEW_VOTERS_MAX];
    const struct writ_review counted = {.voters = voters, .voters_n = review->voters_n};

    for (size_t i = 0; i < review->voters_n; i++) {
        voters[i] = (struct writ_review_voter){
            .weight = review->voters[i].weight, .parts = review->voters[i].parts};
    }
    if (writ_review_unit(&counted) == 0) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "voters"),
            "the weights have no common unit that is large enough: use simpler fractions");
    }
}

/* What an engine does not count must not look as if it did. */
static void
check_weightless(
    struct writ_options *o, const struct writ_yaml *node, const struct writ_review_config *review)
{
    if (writ_review_weighs(review->engine) || writ_view_is(review->engine, "unanimous")) {
        return;
    }
    if (review->plugin != NULL && writ_option_of(node, "quorum") != NULL) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "quorum"),
            "has no effect with a plug-in, which counts when all have voted: remove it");
    }
    if (writ_option_of(node, "threshold") != NULL) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "threshold"),
            "has no effect with engine " WRIT_VIEW_FMT ": remove it",
            WRIT_VIEW_ARG(review->engine));
    }
    for (size_t i = 0; i < review->voters_n; i++) {
        if (review->voters[i].weight != 1 || review->voters[i].parts != 1) {
            WRIT_OPTION_FAULT(o, writ_option_of(node, "voters"),
                "weights have no effect with engine " WRIT_VIEW_FMT ": remove them",
                WRIT_VIEW_ARG(review->engine));
            return;
        }
    }
}

static void
check_plain_voter(struct writ_options *o, const struct writ_yaml *place,
    const struct writ_config *config, struct writ_view id, const struct writ_review_config *review)
{
    const struct writ_reviewer_config *reviewer = writ_config_reviewer(config, id);

    if (reviewer != NULL && reviewer->kind == WRIT_REVIEWER_OPINIONS) {
        WRIT_OPTION_FAULT(o, place,
            "\"" WRIT_VIEW_FMT "\" votes by rules, which engine " WRIT_VIEW_FMT
            " cannot count: use another engine or voter",
            WRIT_VIEW_ARG(writ_view_sub(id, 0, 64)), WRIT_VIEW_ARG(review->engine));
    }
}

/* Ways to vote that give a plain vote cannot fill the ballot of every engine. */
static void
check_plain_voters(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_config *config, const struct writ_review_config *review)
{
    const struct writ_yaml *place = writ_option_of(node, "voters");

    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_voter_config *voter = &review->voters[i];

        check_plain_voter(o, place, config, voter->id, review);
        if (voter->delegation != NULL && !is_voter(review, voter->delegation->to)) {
            check_plain_voter(o, place, config, voter->delegation->to, review);
        }
    }
    for (size_t i = 0; i < review->delegable.stand_ins_n; i++) {
        check_plain_voter(o, place, config, review->delegable.stand_ins[i].id, review);
    }
    if (review->elicitation.len > 0 || review->bulk) {
        WRIT_OPTION_FAULT(o, node,
            "elicitation and bulk give plain votes, which engine " WRIT_VIEW_FMT
            " cannot count: remove them",
            WRIT_VIEW_ARG(review->engine));
    }
}

static bool
has_option(const struct writ_views *options, struct writ_view option)
{
    for (size_t i = 0; i < options->n; i++) {
        if (writ_view_equal(options->items[i], option)) {
            return true;
        }
    }
    return false;
}

/* The options as ballots have them; the word for candidates stands for one or more of these. */
static bool
are_options(const struct writ_views *options, bool candidates)
{
    struct writ_view names[WRIT_REVIEW_OPTIONS_MAX];
    struct writ_review_ranking ranking;

    if (options->n < 2 || options->n > WRIT_REVIEW_OPTIONS_MAX ||
        (candidates && has_option(options, WRIT_LIT("approve")))) {
        return false;
    }
    for (size_t i = 0; i < options->n; i++) {
        bool stands = writ_view_is(options->items[i], WRIT_REVIEW_CANDIDATES_WORD);

        if (!stands && writ_review_is_candidate(writ_review_vote_find(options->items[i]))) {
            return false;
        }
        names[i] = stands ? WRIT_LIT("1") : options->items[i];
    }
    return writ_review_ranking_of(names, options->n, &ranking);
}

static void
check_engine(struct writ_options *o, const struct writ_yaml *node, const struct writ_config *config,
    const struct writ_views *options, struct writ_review_config *ret)
{
    static const struct writ_view all[] = {
        WRIT_LIT("approve"), WRIT_LIT("modify"), WRIT_LIT("reject")};
    enum writ_review_need need = writ_review_need(ret->engine);

    check_weightless(o, node, ret);
    if (need != WRIT_REVIEW_NEEDS_VOTE) {
        check_plain_voters(o, node, config, ret);
    }
    if (need != WRIT_REVIEW_NEEDS_RANKING) {
        if (options->n > 0) {
            WRIT_OPTION_FAULT(o, writ_option_of(node, "options"),
                "has no effect with engine " WRIT_VIEW_FMT ": its votes are not rankings",
                WRIT_VIEW_ARG(ret->engine));
        }
        return;
    }
    ret->options = options->n > 0 ? *options : (struct writ_views){all, 3};
    ret->candidates = has_option(&ret->options, writ_view_str(WRIT_REVIEW_CANDIDATES_WORD));
    if (!are_options(&ret->options, ret->candidates)) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "options"),
            "must be two or three different ones of approve, modify and reject, or candidates in "
            "place of approve");
    }
    for (size_t i = 0; i < ret->voters_n; i++) {
        if (ret->voters[i].veto && !has_option(&ret->options, WRIT_LIT("reject"))) {
            WRIT_OPTION_FAULT(o, writ_option_of(node, "options"),
                "lacks reject, so that a voter with a veto cannot use it: add reject");
            return;
        }
    }
}

static WRIT_RESULT
read_review(struct writ_options *o, const struct writ_yaml *node, struct writ_config *config,
    struct writ_review_config *ret)
{
    struct writ_raw_review raw = {0};

    writ_option_read(o, WRIT_SECTION_review, node, &raw);
    *ret = (struct writ_review_config){.name = node->key,
        .quorum = raw.quorum,
        .lifetime_us = raw.lifetime_us,
        .redeem_us = raw.redeem_us,
        .administrators = raw.administrators,
        .elicitation = raw.elicitation,
        .bulk = raw.bulk};
    if (node->type != WRIT_YAML_MAP || raw.voters == NULL ||
        !read_voters(o, raw.voters, config, ret)) {
        return WRIT_DONE; /* with a finding */
    }
    if (node->key.len == 0 || node->key.len > 128) {
        WRIT_OPTION_FAULT(o, node, "must be a name of 1 to 128 bytes");
    }
    read_engine(o, raw.engine, config, ret);
    read_delegations(o, writ_option_of(node, "delegations"), &raw.delegations, config, ret);
    writ_shares_threshold(o, node, raw.threshold, ret);
    check_stand_ins(o, node, ret);
    check_weights(o, node, ret);
    check_engine(o, node, config, &raw.options, ret);
    if (!writ_shares_is_quorum(raw.quorum, ret->voters_n)) {
        WRIT_OPTION_FAULT(
            o, node, "quorum: must be a number of votes that the voters can reach, or a fraction");
    }
    check_elicitation(o, node, config, ret);
    return digest_review(node, config, o->arena, ret);
}

WRIT_RESULT
writ_reviews_read(struct writ_options *o, const struct writ_yaml *node, struct writ_config *config)
{
    struct writ_review_config *reviews;

    if (node == NULL) {
        return WRIT_DONE;
    }
    if (node->type != WRIT_YAML_MAP || node->count > WRIT_REVIEWS_MAX) {
        WRIT_OPTION_FAULT(
            o, node, "must be a map of names to at most %d reviews", WRIT_REVIEWS_MAX);
        return WRIT_DONE;
    }
    reviews = writ_option_memory(o, node->count, sizeof *reviews);
    if (reviews == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_YAML_EACH(element, node)
    {
        WRIT_TRY(read_review(o, element, config, &reviews[config->reviews_n]));
        config->reviews_n++;
    }
    config->reviews = reviews;
    return WRIT_DONE;
}

/* ---- approval of a rule */

static const struct writ_review_config *
review_named(const struct writ_config *config, struct writ_view name)
{
    for (size_t i = 0; i < config->reviews_n; i++) {
        if (writ_view_equal(config->reviews[i].name, name)) {
            return &config->reviews[i];
        }
    }
    return NULL;
}

static void
read_annotations(
    const struct writ_yaml *node, const struct writ_raw_annotations *raw, struct writ_approval *ret)
{
    for (unsigned hint = WRIT_HINT_READ_ONLY; node != NULL && hint <= WRIT_HINT_OPEN_WORLD;
         hint *= 2) {
        struct writ_view name = writ_approval_hint_name((enum writ_hint)hint);

        ret->hints_asked |= writ_yaml_get(node, name) != NULL ? hint : 0;
    }
    ret->hints = (raw->read_only ? WRIT_HINT_READ_ONLY : 0U) |
                 (raw->destructive ? WRIT_HINT_DESTRUCTIVE : 0U) |
                 (raw->idempotent ? WRIT_HINT_IDEMPOTENT : 0U) |
                 (raw->open_world ? WRIT_HINT_OPEN_WORLD : 0U);
}

const struct writ_approval *
writ_reviews_approval(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_yaml *entry, const struct writ_config *config,
    struct writ_pattern_list **patterns)
{
    struct writ_raw_approval raw = {0};
    struct writ_approval *approval = writ_option_memory(o, 1, sizeof *approval);
    struct writ_digest rules;
    struct writ_view pieces[2];

    writ_option_read(o, WRIT_SECTION_approval, node, &raw);
    if (approval == NULL || node->type != WRIT_YAML_MAP || raw.review.len == 0) {
        return NULL;
    }
    *approval = (struct writ_approval){
        .review = review_named(config, raw.review),
        .hold_us = raw.hold_us,
        .hold_retry_us = raw.hold_us > raw.hold_retry_us ? raw.hold_us : raw.hold_retry_us,
    };
    if (approval->review == NULL) {
        WRIT_OPTION_FAULT(o, node, "there is no review \"" WRIT_VIEW_FMT "\"",
            WRIT_VIEW_ARG(writ_view_sub(raw.review, 0, 64)));
        return NULL;
    }
    read_annotations(writ_yaml_get(node, WRIT_LIT("annotations")), &raw.annotations, approval);
    if ((approval->hints & WRIT_HINT_READ_ONLY) != 0 &&
        (approval->hints & WRIT_HINT_DESTRUCTIVE) != 0) {
        WRIT_OPTION_FAULT(o, node, "annotations: no tool is read-only and destructive");
        return NULL;
    }
    if (raw.when != NULL) {
        approval->when = writ_compile_conditions(o, raw.when, patterns);
        if (approval->when == NULL) {
            return NULL;
        }
    }
    if (!writ_is_ok(writ_canonical_digest(entry, o->arena, &rules))) {
        WRIT_OPTION_FAULT(o, node, "the rules of the tool are too long");
        return NULL;
    }
    pieces[0] = writ_view(rules.bytes, WRIT_DIGEST_BYTES);
    pieces[1] = writ_view(approval->review->digest.bytes, WRIT_DIGEST_BYTES);
    return writ_is_ok(writ_digest_pieces(pieces, 2, &approval->rules, NULL)) ? approval : NULL;
}
