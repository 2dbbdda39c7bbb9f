/* What depends on the call in a review: who is left to vote, who votes for whom, and the threshold.
 * The caller's own subject is never a voter, and never a delegate. */
#include "policy/decide/terms.h"

#include "policy/decide/approval.h"
#include "policy/decide/evaluate.h"
#include "policy/model/glob.h"

/* The last step whose value the call reaches; without a number, or below the first, the highest
 * threshold. */
static struct writ_view
threshold_for(const struct writ_review_config *config, const struct writ_json *arguments)
{
    const struct writ_json *value = writ_evaluate_argument(arguments, &config->by_tokens);
    struct writ_view found = config->threshold;
    struct writ_decimal number;

    if (config->steps == NULL || writ_json_type(value) != WRIT_JSON_NUMBER ||
        !writ_is_ok(writ_decimal_read(writ_json_text(value), &number))) {
        return found;
    }
    for (size_t i = 0; i < config->steps_n; i++) {
        if (writ_decimal_compare(&config->steps[i].at_least, &number) <= 0) {
            found = config->steps[i].share;
        }
    }
    return found;
}

static bool
is_caller(const struct writ_agent *agent, struct writ_view id)
{
    return writ_view_equal(id, writ_approval_subject(agent)) || writ_view_equal(id, agent->id);
}

/* The tool that the call is for, or any. */
static bool
is_for_tool(const void *ctx, const struct writ_view *tools, size_t tools_n)
{
    const struct writ_policy_call *call = ctx;

    for (size_t i = 0; i < tools_n; i++) {
        struct writ_view pattern = tools[i];
        size_t slash = writ_view_find(pattern, '/');

        if (writ_view_equal(writ_view_sub(pattern, 0, slash), call->upstream) &&
            writ_glob_match(writ_view_sub(pattern, slash + 1, pattern.len), call->tool) ==
                WRIT_GLOB_YES) {
            return true;
        }
    }
    return tools_n == 0;
}

/* In force for this call; never to its own caller. */
static bool
delegates(const struct writ_delegation_config *delegation, const struct writ_policy_call *call,
    int64_t now_us)
{
    return delegation != NULL && delegation->from_us <= now_us &&
           (delegation->until_us == 0 || now_us < delegation->until_us) &&
           !is_caller(call->agent, delegation->to) &&
           is_for_tool(call, delegation->tools.items, delegation->tools.n);
}

/* A delegate that is not a voter itself. */
static void
add_stand_in(struct writ_review *review, const struct writ_voter_config *voter, struct writ_view id)
{
    if (writ_review_voter(review, id) == NULL) {
        review->voters[review->voters_n++] =
            (struct writ_review_voter){.id = id, .stand_in = true, .key = voter->delegate_key};
    }
}

static void
add_delegations(const struct writ_review_config *config, const struct writ_policy_call *call,
    int64_t now_us, struct writ_review *review)
{
    for (size_t i = 0; i < config->voters_n; i++) {
        const struct writ_voter_config *voter = &config->voters[i];
        struct writ_review_voter *elector = writ_review_voter(review, voter->id);

        if (elector != NULL && delegates(voter->delegation, call, now_us)) {
            elector->delegate = voter->delegation->to;
            add_stand_in(review, voter, voter->delegation->to);
        }
    }
}

/* All but candidates, which the caller of this knows. */
static void
put_options(const struct writ_review_config *config, struct writ_review *ret)
{
    for (size_t i = 0; i < config->options.n; i++) {
        enum writ_review_vote option = writ_review_vote_find(config->options.items[i]);

        if (option != WRIT_REVIEW_NO_VOTE) {
            ret->options.list[ret->options.n++] = option;
        }
    }
}

WRIT_RESULT
writ_terms_make(const struct writ_approval *approval, const struct writ_policy_call *call,
    int64_t now_us, struct writ_arena *arena, struct writ_review *ret)
{
    const struct writ_review_config *config = approval->review;
    struct writ_review review = {.name = config->name,
        .engine = config->engine,
        .engine_digest = WRIT_LIT(""),
        .threshold = writ_review_weighs(config->engine) ? threshold_for(config, call->arguments)
                                                        : writ_view("", 0),
        .quorum = config->quorum,
        .lifetime_us = config->lifetime_us,
        .redeem_us = config->redeem_us,
        .subject = writ_approval_subject(call->agent),
        .tenant = call->agent->tenant,
        .agent_id = call->agent->id,
        /* with room for a stand-in of each */
        .voters = writ_arena_get(arena, 2 * config->voters_n * sizeof *review.voters)};

    if (review.voters == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < config->voters_n; i++) {
        const struct writ_voter_config *voter = &config->voters[i];

        if (!is_caller(call->agent, voter->id)) {
            review.voters[review.voters_n++] = (struct writ_review_voter){.id = voter->id,
                .weight = voter->weight,
                .parts = voter->parts,
                .veto = voter->veto,
                .key = voter->key};
        }
    }
    if (review.voters_n == 0) {
        return (writ_result){WRIT_E_INVALID};
    }
    if (config->plugin != NULL) {
        struct writ_buf text = writ_buf_in(arena, WRIT_DIGEST_TEXT);

        writ_digest_put(&text, &config->plugin->digest);
        WRIT_TRY(writ_buf_check(&text, NULL));
        review.engine_digest = writ_buf_view(&text);
    }
    put_options(config, &review);
    add_delegations(config, call, now_us, &review);
    *ret = review;
    return WRIT_DONE;
}

WRIT_RESULT
writ_terms_delegable(const struct writ_approval *approval, const struct writ_policy_call *call,
    struct writ_arena *arena, struct writ_delegable *ret)
{
    struct writ_policy_call *kept = writ_arena_get(arena, sizeof *kept);

    if (kept == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *kept = *call;
    *ret = approval->review->delegable;
    ret->is_for = is_for_tool;
    ret->call = kept;
    return WRIT_DONE;
}

/* ---- what a voter may set ---- */

static const struct writ_voter_config *
voter_of(const struct writ_review_config *review, struct writ_view id)
{
    for (size_t i = 0; i < review->voters_n; i++) {
        if (writ_view_equal(review->voters[i].id, id)) {
            return &review->voters[i];
        }
    }
    return NULL;
}

bool
writ_terms_may_delegate(
    const struct writ_review_config *review, struct writ_view voter, struct writ_view delegate)
{
    const struct writ_delegable *delegable = &review->delegable;
    const struct writ_voter_config *from = voter_of(review, voter),
                                   *to = voter_of(review, delegate);
    struct writ_view key = to != NULL ? to->key : (struct writ_view){"", 0};
    bool named = to != NULL && delegable->several;

    if (delegable->longest_us == 0 || from == NULL || from == to) {
        return false;
    }
    for (size_t i = 0; i < delegable->stand_ins_n; i++) {
        if (writ_view_equal(delegable->stand_ins[i].id, delegate)) {
            named = true;
            key = delegable->stand_ins[i].key;
        }
    }
    return named && (from->key.len == 0 || key.len > 0);
}

/* Else the pattern would match nothing, and its author would not know. */
static bool
may_name_upstream(struct writ_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' &&
            c != '_') {
            return false;
        }
    }
    return name.len > 0;
}

const char *
writ_terms_tool_fault(struct writ_view pattern)
{
    size_t slash = writ_view_find(pattern, '/');
    struct writ_view tool = writ_view_sub(pattern, slash + 1, pattern.len);

    if (!may_name_upstream(writ_view_sub(pattern, 0, slash))) {
        return "the name of an upstream has letters, digits, - and _ alone";
    }
    if (writ_view_trim(tool).len != tool.len) {
        return "there is a space at its end, or after the slash";
    }
    return writ_glob_fault(tool);
}
