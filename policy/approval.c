#include "policy/approval.h"

#include "base/decimal.h"
#include "base/text.h"
#include "policy/reviewer.h"
#include "policy/rule.h"

#define SHARE_MAX 1000000 /* of the numbers of a fraction */

/* ---- shares */

/* "2/3" */
static bool
read_fraction(struct writ_view text, uint64_t *ret_above, uint64_t *ret_below)
{
    size_t slash = writ_view_find(text, '/');

    return slash < text.len &&
           writ_is_ok(writ_text_u64(writ_view_sub(text, 0, slash), 0, SHARE_MAX, ret_above)) &&
           writ_is_ok(
               writ_text_u64(writ_view_sub(text, slash + 1, text.len), 1, SHARE_MAX, ret_below));
}

/* Above 1/2, so that accepting and rejecting exclude each other. */
static bool
is_threshold(struct writ_view text)
{
    struct writ_decimal half, one = writ_decimal_of(1), value;
    uint64_t above = 0, below = 1;

    if (read_fraction(text, &above, &below)) {
        return 2 * above > below && above <= below;
    }
    return writ_is_ok(writ_decimal_read(WRIT_LIT("0.5"), &half)) &&
           writ_is_ok(writ_decimal_read(text, &value)) && writ_decimal_compare(&value, &half) > 0 &&
           writ_decimal_compare(&value, &one) <= 0;
}

static bool
is_quorum(struct writ_view text, size_t voters)
{
    uint64_t above = 0, below = 1;

    if (read_fraction(text, &above, &below)) {
        return above <= below;
    }
    return writ_is_ok(writ_text_u64(text, 0, voters, &above));
}

/* ---- reviews */

static struct writ_voter_config
voter_of(const struct writ_config *config, const struct writ_raw_voter *raw)
{
    const struct writ_reviewer_config *reviewer = writ_reviewer_find(config, raw->id);

    return (struct writ_voter_config){.id = raw->id,
        .weight = raw->weight,
        .veto = raw->veto,
        .key = reviewer != NULL ? reviewer->key : (struct writ_view){"", 0}};
}

static bool
read_voters(struct writ_options *o, const struct writ_yaml *node, const struct writ_config *config,
    struct writ_review_config *ret)
{
    struct writ_voter_config *voters;
    int64_t weight = 0;

    if (node->type != WRIT_YAML_LIST || node->count == 0 || node->count > WRIT_REVIEW_VOTERS_MAX) {
        WRIT_OPTION_FAULT(o, node, "wants a list of 1 to %d voters", WRIT_REVIEW_VOTERS_MAX);
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
        voters[ret->voters_n++] = voter_of(config, &raw);
        weight += raw.weight;
    }
    ret->voters = voters;
    if (weight == 0) {
        WRIT_OPTION_FAULT(o, node, "wants at least one voter whose vote counts");
    }
    return true;
}

static struct writ_view
engine_name(int engine)
{
    return engine == WRIT_RAW_ENGINE_UNANIMOUS  ? WRIT_LIT("unanimous")
           : engine == WRIT_RAW_ENGINE_WEIGHTED ? WRIT_LIT("weighted_consensus")
                                                : WRIT_LIT("review");
}

/* Of the review, and of how its voters are asked: that is a part of what policy says. */
static WRIT_RESULT
digest_review(const struct writ_yaml *node, const struct writ_config *config,
    struct writ_arena *arena, struct writ_review_config *ret)
{
    struct writ_view pieces[WRIT_REVIEW_VOTERS_MAX + 1];
    struct writ_digest own;
    size_t n = 1;

    WRIT_TRY(writ_rule_digest(node, arena, &own));
    pieces[0] = writ_view(own.bytes, WRIT_DIGEST_BYTES);
    for (size_t i = 0; i < ret->voters_n; i++) {
        const struct writ_reviewer_config *reviewer = writ_reviewer_find(config, ret->voters[i].id);

        if (reviewer != NULL) {
            pieces[n++] = writ_view(reviewer->digest.bytes, WRIT_DIGEST_BYTES);
        }
    }
    return writ_digest_pieces(pieces, n, &ret->digest, NULL);
}

static WRIT_RESULT
read_review(struct writ_options *o, const struct writ_yaml *node, const struct writ_config *config,
    struct writ_review_config *ret)
{
    struct writ_raw_review raw = {0};

    writ_option_read(o, WRIT_SECTION_review, node, &raw);
    *ret = (struct writ_review_config){.name = node->key,
        .engine = engine_name(raw.engine),
        .threshold = raw.threshold,
        .quorum = raw.quorum,
        .lifetime_us = raw.lifetime_us,
        .redeem_us = raw.redeem_us,
        .administrators = raw.administrators};
    if (node->type != WRIT_YAML_MAP || raw.voters == NULL ||
        !read_voters(o, raw.voters, config, ret)) {
        return WRIT_DONE; /* told */
    }
    if (node->key.len == 0 || node->key.len > 128) {
        WRIT_OPTION_FAULT(o, node, "wants a name of 1 to 128 bytes");
    }
    if (!is_threshold(raw.threshold)) {
        WRIT_OPTION_FAULT(
            o, node, "threshold: wants a share above 1/2 and up to 1, as 2/3 or 0.75");
    }
    if (!is_quorum(raw.quorum, ret->voters_n)) {
        WRIT_OPTION_FAULT(
            o, node, "quorum: wants a number of votes that the voters can reach, or a fraction");
    }
    return digest_review(node, config, o->arena, ret);
}

WRIT_RESULT
writ_approval_reviews(
    struct writ_options *o, const struct writ_yaml *node, struct writ_config *config)
{
    struct writ_review_config *reviews;

    if (node == NULL) {
        return WRIT_DONE;
    }
    if (node->type != WRIT_YAML_MAP || node->count > WRIT_APPROVAL_REVIEWS_MAX) {
        WRIT_OPTION_FAULT(
            o, node, "wants a map of names to at most %d reviews", WRIT_APPROVAL_REVIEWS_MAX);
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

/* ---- annotations: what is asked of a tool, and what it says */

static const struct hint {
    struct writ_view name;
    unsigned bit;
    bool unsaid; /* what holds when nothing is said */
} hints[] = {
    {{"readOnlyHint", sizeof "readOnlyHint" - 1}, WRIT_HINT_READ_ONLY, false},
    {{"destructiveHint", sizeof "destructiveHint" - 1}, WRIT_HINT_DESTRUCTIVE, true},
    {{"idempotentHint", sizeof "idempotentHint" - 1}, WRIT_HINT_IDEMPOTENT, false},
    {{"openWorldHint", sizeof "openWorldHint" - 1}, WRIT_HINT_OPEN_WORLD, true},
};

static void
read_annotations(
    const struct writ_yaml *node, const struct writ_raw_annotations *raw, struct writ_approval *ret)
{
    for (size_t i = 0; node != NULL && i < sizeof hints / sizeof *hints; i++) {
        ret->hints_asked |= writ_yaml_get(node, hints[i].name) != NULL ? hints[i].bit : 0;
    }
    ret->hints = (raw->read_only ? WRIT_HINT_READ_ONLY : 0U) |
                 (raw->destructive ? WRIT_HINT_DESTRUCTIVE : 0U) |
                 (raw->idempotent ? WRIT_HINT_IDEMPOTENT : 0U) |
                 (raw->open_world ? WRIT_HINT_OPEN_WORLD : 0U);
}

unsigned
writ_approval_hints(const struct writ_json *definition)
{
    const struct writ_json *said = writ_json_get(definition, WRIT_LIT("annotations"));
    unsigned found = 0;

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        enum writ_json_type type = writ_json_type(writ_json_get(said, hints[i].name));
        bool holds = type == WRIT_JSON_TRUE || (type != WRIT_JSON_FALSE && hints[i].unsaid);

        found |= holds ? hints[i].bit : 0;
    }
    /* what changes nothing destroys nothing */
    return (found & WRIT_HINT_READ_ONLY) != 0 ? found & ~(unsigned)WRIT_HINT_DESTRUCTIVE : found;
}

struct writ_view
writ_approval_hint_name(enum writ_hint hint)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        if (hints[i].bit == (unsigned)hint) {
            return hints[i].name;
        }
    }
    return writ_view("", 0);
}

bool
writ_approval_annotated(const struct writ_approval *approval, const unsigned *said)
{
    return said == NULL || (*said & approval->hints_asked) == approval->hints;
}

const struct writ_approval *
writ_approval_read(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_yaml *entry, const struct writ_config *config,
    struct writ_compile_pattern **patterns)
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
        WRIT_OPTION_FAULT(o, node, "no review is called \"" WRIT_VIEW_FMT "\"",
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
        approval->when = writ_compile_constraints(o, raw.when, patterns);
        if (approval->when == NULL) {
            return NULL;
        }
    }
    if (!writ_is_ok(writ_rule_digest(entry, o->arena, &rules))) {
        WRIT_OPTION_FAULT(o, node, "the rules of the tool are too long");
        return NULL;
    }
    pieces[0] = writ_view(rules.bytes, WRIT_DIGEST_BYTES);
    pieces[1] = writ_view(approval->review->digest.bytes, WRIT_DIGEST_BYTES);
    return writ_is_ok(writ_digest_pieces(pieces, 2, &approval->rules, NULL)) ? approval : NULL;
}

/* ---- a call */

static const struct writ_json *
value_at(const struct writ_json *value, const struct writ_views *tokens)
{
    for (size_t i = 0; i < tokens->n && value != NULL; i++) {
        value = writ_json_get(value, tokens->items[i]);
    }
    return value;
}

static bool
is_one_of(const struct writ_json *value, const struct writ_json *list)
{
    WRIT_JSON_EACH(item, list)
    {
        if (writ_json_equal(value, item)) {
            return true;
        }
    }
    return false;
}

/* Whether a constraint that does not hold says something about the value, or only that it is not of
 * the type that was asked for. */
static bool
is_clear(const struct writ_constraint *c, const struct writ_json *value)
{
    switch (c->op) {
    case WRIT_OP_REQUIRED:
    case WRIT_OP_FORBIDDEN:
        return true;
    case WRIT_OP_EQ:
    case WRIT_OP_IN:
    case WRIT_OP_TYPE:
        return value != NULL;
    case WRIT_OP_NE:
        return writ_json_equal(value, c->value.json);
    case WRIT_OP_NOT_IN:
        return is_one_of(value, c->value.json);
    case WRIT_OP_LT:
    case WRIT_OP_LE:
    case WRIT_OP_GT:
    case WRIT_OP_GE:
        return writ_json_type(value) == WRIT_JSON_NUMBER;
    case WRIT_OP_MIN_LENGTH:
    case WRIT_OP_MAX_LENGTH:
    case WRIT_OP_PREFIX:
    case WRIT_OP_SUFFIX:
    case WRIT_OP_MATCHES:
    case WRIT_OP_GLOB:
    case WRIT_OP_UNDER:
    case WRIT_OP_HOST_IN:
        return writ_json_type(value) == WRIT_JSON_STRING;
    case WRIT_OP_MIN_ITEMS:
    case WRIT_OP_MAX_ITEMS:
        return writ_json_type(value) == WRIT_JSON_ARRAY;
    case WRIT_OP_EACH: /* which of the elements it was is not told */
    case WRIT_OP_NONE:
    case WRIT_OP_COUNT:
        break;
    }
    return false;
}

bool
writ_approval_needed(const struct writ_approval *approval, const struct writ_json *arguments,
    struct writ_arena *arena)
{
    return writ_approval_may_hold(approval->when, arguments, arena);
}

bool
writ_approval_may_hold(const struct writ_constraint_set *when, const struct writ_json *arguments,
    struct writ_arena *arena)
{
    for (size_t i = 0; when != NULL && i < when->n; i++) {
        const struct writ_constraint *c = &when->items[i];

        if (writ_constraint_holds(when, c, arguments, arena, NULL) == WRIT_HOLDS_NO &&
            is_clear(c, value_at(arguments, &when->paths[c->path].tokens))) {
            return false;
        }
    }
    return true;
}

/* Appends those of one tool; `items` NULL: counts them. */
static WRIT_RESULT
add_rules(const struct writ_tool_entry *entry, struct writ_arena *arena, struct writ_view *items,
    size_t *n)
{
    for (size_t i = 0; i < entry->rules_n; i++) {
        char *text;

        if (entry->rules[i].approval == NULL) {
            continue;
        }
        if (items != NULL) {
            text = writ_arena_get(arena, WRIT_DIGEST_TEXT);
            if (text == NULL) {
                return (writ_result){WRIT_E_NOMEM};
            }
            writ_digest_text(&entry->rules[i].approval->rules, text);
            items[*n] = writ_view_str(text);
        }
        (*n)++;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_approval_rules(
    const struct writ_config *config, struct writ_arena *arena, struct writ_views *ret)
{
    const struct writ_policy *policy = config->policy;
    struct writ_view *items;
    size_t n = 0;

    for (size_t i = 0; i < policy->n; i++) {
        WRIT_TRY(add_rules(&policy->entries[i], arena, NULL, &n));
    }
    items = writ_arena_get(arena, (n + 1) * sizeof *items);
    if (items == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    n = 0;
    for (size_t i = 0; i < policy->n; i++) {
        WRIT_TRY(add_rules(&policy->entries[i], arena, items, &n));
    }
    *ret = (struct writ_views){items, n};
    return WRIT_DONE;
}

struct writ_view
writ_approval_subject(const struct writ_agent *agent)
{
    return agent->subject.len > 0 ? agent->subject : agent->id;
}

WRIT_RESULT
writ_approval_terms(const struct writ_approval *approval, const struct writ_agent *agent,
    struct writ_arena *arena, struct writ_review *ret)
{
    const struct writ_review_config *config = approval->review;
    struct writ_review_voter *voters = writ_arena_get(arena, config->voters_n * sizeof *voters);
    struct writ_view subject = writ_approval_subject(agent);
    size_t n = 0;

    if (voters == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < config->voters_n; i++) {
        const struct writ_voter_config *voter = &config->voters[i];

        if (!writ_view_equal(voter->id, subject) && !writ_view_equal(voter->id, agent->id)) {
            voters[n++] = (struct writ_review_voter){
                .id = voter->id, .weight = voter->weight, .veto = voter->veto, .key = voter->key};
        }
    }
    *ret = (struct writ_review){.name = config->name,
        .engine = config->engine,
        .threshold = config->threshold,
        .quorum = config->quorum,
        .lifetime_us = config->lifetime_us,
        .redeem_us = config->redeem_us,
        .subject = subject,
        .tenant = agent->tenant,
        .agent_id = agent->id,
        .voters = voters,
        .voters_n = n};
    return n == 0 ? (writ_result){WRIT_E_INVALID} : WRIT_DONE;
}
