/* writ explain: the decision about a call, and its reasons. It judges by the same policy code as
 * the gateway and records nothing. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "evidence/record/decision.h"
#include "evidence/record/derive.h"
#include "evidence/record/profile.h"
#include "policy/decide/approval.h"
#include "policy/decide/coverage.h"
#include "policy/decide/evaluate.h"
#include "policy/decide/exact.h"
#include "policy/decide/flow.h"
#include "policy/decide/flow_rules.h"
#include "policy/decide/output.h"
#include "policy/model/constraint.h"
#include "policy/model/rule.h"
#include "policy/read/case.h"
#include "policy/read/load.h"
#include "policy/why/why_flow.h"

#define OUTPUT_MAX    (4 * 1024 * 1024)
#define ARENA_MAX     ((size_t)64 << 20)
#define CANONICAL_MAX (8 * 1024 * 1024)

/* All facts about one call. */
struct story {
    const struct writ_cli *cli;
    struct writ_config *config;
    struct writ_arena *arena;
    struct writ_case_call call;
    struct writ_verdict verdict;
    struct writ_decision decision; /* its digests */
    char policy_digest[WRIT_DIGEST_TEXT], params_hash[WRIT_DIGEST_TEXT];
};

static void
story_wipe(struct story *story)
{
    writ_config_drop(story->config);
    writ_arena_free(story->arena);
}

static WRIT_RESULT
read_call(struct story *s, struct writ_err *err)
{
    const char *path = writ_cli_operand(s->cli, 1).ptr;
    writ_auto_buf text = writ_buf_make(WRIT_CASE_CALL_MAX + 1);
    const struct writ_json *value;
    struct writ_view kept;

    WRIT_TRY(writ_cli_read(path, WRIT_CASE_CALL_MAX, &text, err));
    kept = writ_view_copy(writ_buf_view(&text), s->arena);
    if (kept.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_fail_in(
        err, writ_json_read(kept, &writ_json_limits_default, s->arena, &value, err), path));
    return writ_fail_in(err, writ_case_call(value, s->config, s->arena, &s->call, err), path);
}

/* The digests that a decision about this call would have. */
static WRIT_RESULT
derive(struct story *s, struct writ_err *err)
{
    const struct writ_profile *profile = writ_profile_find(s->config->profile);
    struct writ_decision *d = &s->decision;
    struct writ_digest digest;

    writ_digest_text(&s->config->policy_digest, s->policy_digest);
    if (!writ_exact_holds(s->call.arguments, NULL)) {
        return WRIT_DONE; /* without a digest the decision has none */
    }
    WRIT_TRY(writ_digest_json(s->call.arguments, CANONICAL_MAX, &digest, err));
    writ_digest_text(&digest, s->params_hash);
    d->agent_id = writ_member_text(s->call.agent.id);
    d->tool = writ_member_text(s->call.tool);
    d->normalized_scope = writ_member_text_or_absent(s->verdict.scope);
    d->params_hash = writ_member_text(writ_view_str(s->params_hash));
    d->target_state_digest = writ_member_text_or_null(s->call.target_state_digest);
    d->idempotency_key = writ_member_text_or_absent(s->call.idempotency_key);
    if (s->call.idempotency_key.len == 0 && s->call.boundary_id.len > 0) {
        WRIT_TRY(writ_decision_state_free(d, s->call.agent.tenant, s->call.upstream, &digest, err));
        WRIT_TRY(writ_decision_auto_key(
            s->call.boundary_id, &digest, s->arena, &d->idempotency_key, err));
    }
    return writ_decision_derive(d, profile, s->arena, err);
}

static WRIT_RESULT
tell(struct story *s, struct writ_err *err)
{
    struct writ_policy_call call;

    s->arena = writ_arena_new(ARENA_MAX);
    if (s->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_load_file(writ_cli_operand(s->cli, 0).ptr, NULL, &s->config, err));
    WRIT_TRY(read_call(s, err));
    call = writ_case_policy_call(&s->call);
    writ_policy_decide(s->config, &call, s->arena, &s->verdict);
    return derive(s, err);
}

static const char *
holds_word(const struct story *s, const struct writ_constraint *constraint,
    struct writ_constraint_failure *ret_failed)
{
    if (constraint->op == WRIT_OP_FROM) {
        *ret_failed = (struct writ_constraint_failure){.at = NULL};
        return "run"; /* what the run has seen decides: there is none here */
    }
    switch (writ_evaluate_one(
        s->verdict.rule->arguments, constraint, s->call.arguments, s->arena, ret_failed)) {
    case WRIT_HOLDS_ERROR:
        return "error";
    case WRIT_HOLDS_NO:
        return "fail";
    case WRIT_HOLDS_YES:
        return "hold";
    }
    return "error";
}

/* The first leaf of the arguments without a constraint; empty when all have one. */
static void
put_unlisted(const struct story *s, struct writ_buf *ret)
{
    if (s->verdict.rule != NULL && s->verdict.rule->agreed &&
        writ_json_first(s->call.arguments) != NULL) {
        (void)writ_coverage_holds(s->verdict.rule->arguments, s->call.arguments, ret);
    }
}

/* ---- as JSON */

static void
member_of(struct writ_write *w, const char *name, const struct writ_member_text *text)
{
    writ_write_text_or_null(w, name, writ_member_view(text));
}

static void
write_constraints(const struct story *s, struct writ_write *w)
{
    const struct writ_constraint_set *set =
        s->verdict.rule != NULL && s->verdict.rule->agreed ? s->verdict.rule->arguments : NULL;

    writ_write_name(w, WRIT_LIT("constraints"));
    writ_write_array_begin(w);
    for (size_t i = 0; set != NULL && i < set->n; i++) {
        struct writ_constraint_failure failed;
        const char *word = holds_word(s, &set->items[i], &failed);

        writ_write_object_begin(w);
        writ_write_text_or_null(w, "constraint", set->items[i].name);
        writ_write_text_or_null(w, "result", writ_view_str(word));
        writ_write_text_or_null(w, "accepted", set->items[i].accepted);
        writ_write_text_or_null(w, "failed_argument", failed.argument);
        writ_write_text_or_null(w, "failed_constraint", failed.constraint);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
write_flows(const struct story *s, struct writ_write *w)
{
    writ_write_name(w, WRIT_LIT("flows"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < s->config->flows_n; i++) {
        const struct writ_flow_rule *flow = &s->config->flows[i];
        writ_auto_buf condition = writ_buf_make(OUTPUT_MAX);

        if (writ_flow_rules_is_sink(flow, s->call.upstream, s->call.tool)) {
            writ_why_flow_condition(flow, &condition);
            writ_write_object_begin(w);
            writ_write_text(w, "ref", flow->ref);
            writ_write_text(w, "condition", writ_buf_view(&condition));
            writ_write_object_end(w);
        }
    }
    writ_write_array_end(w);
}

static void
write_budgets(const struct story *s, struct writ_write *w)
{
    writ_write_name(w, WRIT_LIT("budgets"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < s->verdict.reservations_n; i++) {
        const struct writ_reservation *r = &s->verdict.reservations[i];
        writ_auto_buf amount = writ_buf_make(WRIT_DECIMAL_PUT_MAX);
        writ_auto_buf limit = writ_buf_make(WRIT_DECIMAL_PUT_MAX);
        char key[WRIT_DIGEST_TEXT];

        writ_decimal_put(&amount, &r->amount);
        writ_decimal_put(&limit, &r->limit);
        writ_digest_text(&r->key, key);
        writ_write_object_begin(w);
        writ_write_text_or_null(w, "budget", r->name);
        writ_write_text_or_null(w, "key", writ_view_str(key));
        writ_write_integer(w, "window_us", r->window_us);
        writ_write_text_or_null(w, "amount", writ_buf_view(&amount));
        writ_write_text_or_null(w, "limit", writ_buf_view(&limit));
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
write_digests(const struct story *s, struct writ_write *w)
{
    writ_write_text_or_null(w, "policy_digest", writ_view_str(s->policy_digest));
    writ_write_text_or_null(w, "profile", s->config->profile);
    member_of(w, "params_hash", &s->decision.params_hash);
    member_of(w, "target_state_digest", &s->decision.target_state_digest);
    member_of(w, "intent_digest", &s->decision.intent_digest);
    member_of(w, "intent_ref", &s->decision.intent_ref);
    member_of(w, "idempotency_key", &s->decision.idempotency_key);
}

static void
write_rule(const struct writ_tool_rule *rule, struct writ_write *w)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);

    if (rule != NULL && rule->result != NULL) {
        writ_output_tell(rule->result, &text);
    }
    writ_write_flag(w, "pin", rule != NULL && rule->pin);
    writ_write_text_or_null(w, "result", text.len > 0 ? writ_buf_view(&text) : writ_view(NULL, 0));
    writ_write_name(w, WRIT_LIT("detected"));
    writ_write_array_begin(w);
    for (size_t i = 0; rule != NULL && rule->labels != NULL && i < rule->labels->detected_n; i++) {
        writ_write_object_begin(w);
        writ_write_text(w, "detect", rule->labels->detected[i].names);
        writ_write_text(w, "add", rule->labels->detected[i].label);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
put_json(const struct story *s, struct writ_buf *ret)
{
    writ_auto_buf verdict = writ_buf_make(OUTPUT_MAX);
    writ_auto_buf unlisted = writ_buf_make(OUTPUT_MAX);
    struct writ_write w = writ_write_to(ret);

    put_unlisted(s, &unlisted);
    writ_case_put(&s->verdict, &verdict);
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("verdict"));
    writ_write_raw(&w, writ_buf_view(&verdict));
    writ_write_text_or_null(
        &w, "unlisted_argument", unlisted.len > 0 ? writ_buf_view(&unlisted) : writ_view(NULL, 0));
    write_constraints(s, &w);
    write_flows(s, &w);
    write_budgets(s, &w);
    write_rule(s->verdict.rule, &w);
    write_digests(s, &w);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(ret, '\n');
}

/* ---- as text */

static void
put_line(struct writ_buf *ret, const char *name, struct writ_view text)
{
    if (text.len > 0) {
        writ_buf_fmt(ret, "%-20s ", name);
        writ_text_safe(ret, text, text.len);
        writ_buf_byte(ret, '\n');
    }
}

static void
put_constraints(const struct story *s, struct writ_buf *ret)
{
    const struct writ_constraint_set *set = s->verdict.rule->arguments;
    writ_auto_buf unlisted = writ_buf_make(OUTPUT_MAX);

    put_unlisted(s, &unlisted);
    if (unlisted.len > 0) {
        writ_buf_str(ret, "  fail   no constraint names ");
        writ_text_safe(ret, writ_buf_view(&unlisted), unlisted.len);
        writ_buf_byte(ret, '\n');
    }
    for (size_t i = 0; i < set->n; i++) {
        struct writ_constraint_failure failed;
        const char *word = holds_word(s, &set->items[i], &failed);

        writ_buf_fmt(ret, "  %-6s " WRIT_VIEW_FMT ": " WRIT_VIEW_FMT "\n", word,
            WRIT_VIEW_ARG(set->items[i].name), WRIT_VIEW_ARG(set->items[i].accepted));
        if (set->items[i].op == WRIT_OP_EACH && failed.argument.len > 0) {
            writ_buf_str(ret, "         at ");
            writ_text_safe(ret, failed.argument, failed.argument.len);
            writ_buf_fmt(ret, ": " WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(failed.accepted));
        }
    }
}

/* "flows#0: after untrusted, private" */
static void
put_flows(const struct story *s, struct writ_buf *ret)
{
    for (size_t i = 0; i < s->config->flows_n; i++) {
        const struct writ_flow_rule *flow = &s->config->flows[i];
        writ_auto_buf text = writ_buf_make(OUTPUT_MAX);

        if (writ_flow_rules_is_sink(flow, s->call.upstream, s->call.tool)) {
            writ_buf_put(&text, flow->ref);
            writ_buf_str(&text, ": ");
            writ_why_flow_condition(flow, &text);
            put_line(ret, "flow rule", writ_buf_view(&text));
        }
    }
}

static void
put_budgets(const struct story *s, struct writ_buf *ret)
{
    for (size_t i = 0; i < s->verdict.reservations_n; i++) {
        const struct writ_reservation *r = &s->verdict.reservations[i];
        writ_buf_fmt(ret, "%-20s " WRIT_VIEW_FMT ": draws ", "budget", WRIT_VIEW_ARG(r->name));
        writ_decimal_put(ret, &r->amount);
        writ_buf_str(ret, " of ");
        writ_decimal_put(ret, &r->limit);
        writ_buf_fmt(ret, " in %lld s\n", (long long)(r->window_us / 1000000));
    }
}

/* "private, if secret.* find something in the result" */
static void
put_detected(const struct writ_labels *labels, struct writ_buf *ret)
{
    for (size_t i = 0; labels != NULL && i < labels->detected_n; i++) {
        writ_auto_buf text = writ_buf_make(OUTPUT_MAX);

        writ_buf_put(&text, labels->detected[i].label);
        writ_buf_str(&text, ", if this finds something in the result: ");
        writ_buf_put(&text, labels->detected[i].names);
        put_line(ret, "label", writ_buf_view(&text));
    }
}

/* The parts of a rule that only a gateway can check: definitions and results. */
static void
put_rule(const struct writ_tool_rule *rule, struct writ_buf *ret)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);

    if (rule != NULL && rule->pin) {
        put_line(ret, "pin", WRIT_LIT("only with the accepted definition of the tool"));
    }
    if (rule != NULL && rule->result != NULL) {
        writ_output_tell(rule->result, &text);
        put_line(ret, "result", writ_buf_view(&text));
    }
    put_detected(rule != NULL ? rule->labels : NULL, ret);
}

/* " (weight 1/2) (veto) (delegates to bob)" */
static void
put_voter(const struct writ_voter_config *voter, struct writ_buf *ret)
{
    const struct writ_review_voter weight = {.weight = voter->weight, .parts = voter->parts};

    if (voter->weight != 1 || voter->parts != 1) {
        writ_buf_str(ret, " (weight ");
        writ_review_weight_text(&weight, ret);
        writ_buf_byte(ret, ')');
    }
    writ_buf_str(ret, voter->veto ? " (veto)" : "");
    if (voter->delegation != NULL) {
        writ_buf_fmt(
            ret, " (delegates to " WRIT_VIEW_FMT ")", WRIT_VIEW_ARG(voter->delegation->to));
    }
}

/* "2/3", or "by amount: 2/3 from 0, 1 from 10000" */
static void
put_threshold(const struct writ_review_config *review, struct writ_buf *ret)
{
    if (review->steps_n == 0) {
        writ_buf_put(ret, review->threshold);
        return;
    }
    writ_buf_fmt(ret, "by " WRIT_VIEW_FMT ":", WRIT_VIEW_ARG(review->by));
    for (size_t i = 0; i < review->steps_n; i++) {
        writ_buf_fmt(ret, "%s " WRIT_VIEW_FMT " from ", i > 0 ? "," : "",
            WRIT_VIEW_ARG(review->steps[i].share));
        writ_decimal_put(ret, &review->steps[i].at_least);
    }
}

/* "; its voters may delegate to zoe, and to each other" */
static void
put_delegable(const struct writ_delegable *delegable, struct writ_buf *ret)
{
    for (size_t i = 0; i < delegable->stand_ins_n; i++) {
        writ_buf_fmt(ret, "%s" WRIT_VIEW_FMT, i == 0 ? "; its voters may delegate to " : ", ",
            WRIT_VIEW_ARG(delegable->stand_ins[i].id));
    }
    if (delegable->several) {
        writ_buf_str(ret, delegable->stand_ins_n > 0 ? ", and to each other"
                                                     : "; its voters may delegate to each other");
    }
}

/* "finance: ann, bob (weight 2), eve (veto); review, threshold 2/3, quorum 2" */
static void
put_review(const struct writ_approval *approval, struct writ_buf *ret)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);
    const struct writ_review_config *review = approval != NULL ? approval->review : NULL;

    if (review == NULL) {
        return;
    }
    writ_buf_put(&text, review->name);
    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_voter_config *voter = &review->voters[i];

        writ_buf_str(&text, i == 0 ? ": " : ", ");
        writ_buf_put(&text, voter->id);
        put_voter(voter, &text);
    }
    writ_buf_fmt(&text, "; " WRIT_VIEW_FMT, WRIT_VIEW_ARG(review->engine));
    if (writ_review_weighs(review->engine)) {
        writ_buf_str(&text, ", threshold ");
        put_threshold(review, &text);
    }
    for (size_t i = 0; i < review->options.n; i++) {
        writ_buf_fmt(&text, "%s" WRIT_VIEW_FMT,
            i == 0                       ? " of "
            : i + 1 == review->options.n ? " and "
                                         : ", ",
            WRIT_VIEW_ARG(review->options.items[i]));
    }
    if (review->plugin == NULL) {
        writ_buf_fmt(&text, ", quorum " WRIT_VIEW_FMT, WRIT_VIEW_ARG(review->quorum));
    }
    put_delegable(&review->delegable, &text);
    writ_buf_str(
        &text, approval->hints_asked != 0 ? "; unless the tool is annotated otherwise" : "");
    put_line(ret, "review", writ_buf_view(&text));
}

static void
put_text(const struct story *s, struct writ_buf *ret)
{
    const struct writ_verdict *v = &s->verdict;

    writ_buf_fmt(ret, "%s%s: " WRIT_VIEW_FMT " (" WRIT_VIEW_FMT ")\n", writ_case_decision(v),
        v->shadow ? ", in shadow: the call would run" : "",
        WRIT_VIEW_ARG(writ_reason_name(writ_case_reason(v))),
        WRIT_VIEW_ARG(writ_reason_sentence(writ_case_reason(v))));
    put_review(v->approval, ret);
    put_line(ret, "argument", v->argument);
    put_line(ret, "constraint", v->constraint);
    put_line(ret, "accepted", v->accepted);
    put_line(ret, "hint", v->hint);
    for (size_t i = 0; i < v->policy_refs.n; i++) {
        put_line(ret, "policy_ref", v->policy_refs.items[i]);
    }
    if (v->rule != NULL && v->rule->agreed) {
        put_constraints(s, ret);
    }
    put_flows(s, ret);
    put_line(ret, "normalized_scope", v->scope);
    put_line(ret, "target", v->target);
    put_budgets(s, ret);
    put_rule(v->rule, ret);
    put_line(ret, "policy_digest", writ_view_str(s->policy_digest));
    put_line(ret, "params_hash", s->decision.params_hash.view);
    put_line(ret, "target_state_digest", s->decision.target_state_digest.view);
    put_line(ret, "intent_digest", s->decision.intent_digest.view);
    put_line(ret, "intent_ref", s->decision.intent_ref.view);
    put_line(ret, "idempotency_key", s->decision.idempotency_key.view);
}

enum writ_exit
writ_command_explain(const struct writ_cli *cli)
{
    WRIT_AUTO(struct story, story_wipe) story = {.cli = cli};
    writ_auto_buf output = writ_buf_make(OUTPUT_MAX * 4);
    struct writ_err err = {0};
    writ_result result = tell(&story, &err);

    if (writ_is_ok(result)) {
        WRIT_INVARIANT(story.config != NULL);
        if (cli->json) {
            put_json(&story, &output);
        } else {
            put_text(&story, &output);
        }
        result = writ_buf_check(&output, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&output));
    return story.verdict.answer == WRIT_POLICY_ALLOW && story.verdict.approval == NULL
               ? WRIT_EXIT_OK
               : WRIT_EXIT_NEGATIVE;
}
