/* reflow.c - see reflow.h. Behind a gap nothing of a run is judged. */
#include "policy/replay/reflow.h"

#include "evidence/json/digest.h"
#include "evidence/record/outcome.h"
#include "evidence/record/record.h"
#include "policy/decide/flow_rules.h"
#include "policy/decide/labels.h"
#include "policy/decide/policy.h"
#include "policy/decide/resources.h"
#include "policy/replay/reflow_judge.h"
#include "policy/replay/reflow_run.h"

#define ARENA_MAX ((size_t)128 << 20) /* of one record */

struct writ_reflow {
    const struct writ_config *config;
    char policy_digest[WRIT_DIGEST_TEXT];
    writ_reflow_fn fn;
    void *ctx;
    struct writ_arena *arena;
    struct writ_reflow_runs runs;
    struct writ_reflow_report report;
};

/* ---- kinds */

static const struct {
    struct writ_view word;
    const char *sentence;
} kinds[] = {
#define KIND(NAME, word, is_mismatch, sentence) {{word, sizeof(word) - 1}, sentence},
    WRIT_REFLOW_KINDS(KIND)
#undef KIND
};

struct writ_view
writ_reflow_kind_word(enum writ_reflow_kind kind)
{
    return kinds[kind].word;
}

const char *
writ_reflow_kind_sentence(enum writ_reflow_kind kind)
{
    return kinds[kind].sentence;
}

/* ---- life */

WRIT_RESULT
writ_reflow_new(const struct writ_config *config, writ_reflow_fn fn, void *ctx,
    struct writ_reflow **ret, struct writ_err *err)
{
    struct writ_reflow *r = writ_alloc(sizeof *r);
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);

    if (r == NULL || arena == NULL) {
        writ_free(r);
        writ_arena_free(arena);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to recompute runs");
    }
    r->config = config;
    r->fn = fn;
    r->ctx = ctx;
    r->arena = arena;
    if (config != NULL) {
        writ_digest_text(&config->policy_digest, r->policy_digest);
    }
    *ret = r;
    return WRIT_DONE;
}

void
writ_reflow_free(struct writ_reflow *r)
{
    if (r != NULL) {
        writ_reflow_run_wipe_all(&r->runs);
        writ_arena_free(r->arena);
        writ_free(r);
    }
}

/* ---- findings */

struct telling {
    struct writ_reflow *r;
    struct writ_reflow_run *run;
    struct writ_view decision_id;
};

static void
tell(void *ctx, enum writ_reflow_kind kind, struct writ_view argument)
{
    const struct telling *t = ctx;
    const struct writ_reflow_finding finding = {.kind = kind,
        .tenant = t->run->tenant,
        .run = t->run->name,
        .decision_id = t->decision_id,
        .argument = argument};

    t->r->report.found[kind]++;
    t->r->fn(t->r->ctx, &finding);
}

static void
shut(struct telling *t, enum writ_reflow_kind kind)
{
    if (!t->run->is_shut) {
        t->run->is_shut = true;
        tell(t, kind, WRIT_LIT(""));
    }
}

/* ---- records */

static WRIT_RESULT
add_record(struct telling *t, bool is_outcome, struct writ_view record, int64_t at_us,
    struct writ_err *err)
{
    writ_result result;

    if (t->run->is_shut) {
        return WRIT_DONE;
    }
    result = writ_reflow_run_add(t->run, is_outcome, record, at_us, err);
    if (result.code == WRIT_E_LIMIT || result.code == WRIT_E_PARSE) {
        shut(t, WRIT_REFLOW_LIMIT);
        return WRIT_DONE;
    }
    return result;
}

/* ---- labels of results */

static bool
states(const struct writ_json *flow, const struct writ_views *expected)
{
    for (size_t i = 0; i < expected->n; i++) {
        bool is = false;
        WRIT_JSON_EACH(label, writ_json_get(flow, WRIT_LIT("labels")))
        {
            is = is || writ_view_equal(writ_json_string(label), expected->items[i]);
        }
        if (!is) {
            return false;
        }
    }
    return true;
}

/* Whether a record leaves out a label that the policy gives, or trusts a place that it does not
 * trust. What a definition or a server says of itself is not known here, and counts for it. */
static WRIT_RESULT
judge_labelling(struct telling *t, const struct writ_labels *labels, const struct writ_json *flow,
    struct writ_err *err)
{
    static const unsigned closed = 0;
    struct writ_views expected, detected;
    bool right;

    if (flow == NULL) {
        return WRIT_DONE;
    }
    if (!writ_is_ok(writ_labels_expected(labels, &closed, t->r->arena, &expected, &detected))) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for labels");
    }
    right = states(flow, &expected);
    WRIT_JSON_EACH(field, writ_json_get(flow, WRIT_LIT("fields")))
    {
        right = right && (!writ_json_is_true(field, WRIT_LIT("trusted")) ||
                             writ_labels_may_trust(
                                 labels, writ_json_string(writ_json_get(field, WRIT_LIT("at")))));
    }
    if (!right) {
        tell(t, WRIT_REFLOW_LABELLING, WRIT_LIT(""));
    }
    return WRIT_DONE;
}

/* ---- at_most */

/* Whether the charges of a call have the tag of the counter; `ret` is the one that counts, and
 * empty for one that is held from an earlier round. */
static bool
has_charge(const struct writ_extension *x, const struct writ_digest *counter, struct writ_view *ret)
{
    char room[WRIT_DIGEST_TEXT];
    struct writ_buf tag = writ_buf_over(room, sizeof room);

    writ_hex_put(&tag, counter->bytes, 16);
    writ_buf_byte(&tag, ' ');
    for (size_t i = 0; x->charges.is == WRIT_PRESENT && i < x->charges.count; i++) {
        struct writ_view text = x->charges.items[i];
        if (writ_view_has_prefix(text, writ_buf_view(&tag))) {
            *ret = writ_view_search(text, WRIT_LIT(" held")) < text.len ? WRIT_LIT("") : text;
            return true;
        }
    }
    return false;
}

/* A call that was let through must have drawn on the `at_most` of each rule about its tool, and
 * within it. The ledger counts in the order of the log. */
static WRIT_RESULT
judge_at_most(struct telling *t, const struct writ_past *past, const struct writ_extension *x,
    struct writ_reflow_call *call, struct writ_err *err)
{
    const struct writ_config *config = t->r->config;

    for (size_t i = 0; i < config->flows_n; i++) {
        const struct writ_flow_rule *flow = &config->flows[i];
        struct writ_digest counter;
        struct writ_view text = {NULL, 0};
        if (flow->at_most == 0 || !writ_flow_rules_is_sink(flow, past->upstream, past->tool)) {
            continue;
        }
        WRIT_TRY(writ_flow_rules_counter(flow, t->run->tenant, t->run->name, &counter));
        if (!has_charge(x, &counter, &text)) {
            tell(t, WRIT_REFLOW_VERDICT, WRIT_LIT(""));
        } else if (text.len > 0) {
            WRIT_TRY(writ_reflow_run_charge(t->run, text, &call->charge, err));
            if (call->charge->n > flow->at_most) {
                tell(t, WRIT_REFLOW_VERDICT, WRIT_LIT(""));
            }
        }
    }
    return WRIT_DONE;
}

/* ---- decisions */

/* A decision as read. */
struct reading {
    struct writ_decision decision;
    struct writ_extension extension;
    struct writ_past past;
    const struct writ_json *flow; /* NULL: none */
};

static WRIT_RESULT
read_json(struct writ_reflow *r, struct writ_view record, const struct writ_json **ret,
    struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = WRIT_RECORD_MAX_BYTES;
    writ_arena_reset(r->arena);
    return writ_json_read(record, &limits, r->arena, ret, err);
}

static WRIT_RESULT
read_decision(
    struct writ_reflow *r, struct writ_view record, struct reading *ret, struct writ_err *err)
{
    const struct writ_json *value = NULL;

    WRIT_TRY(read_json(r, record, &value, err));
    WRIT_TRY(writ_decision_read(value, r->arena, &ret->decision, err));
    WRIT_TRY(writ_extension_read(&ret->decision.extensions, r->arena, &ret->extension, err));
    WRIT_TRY(writ_past_of(&ret->decision, &ret->extension, &ret->past, err));
    ret->flow = ret->extension.flow.is == WRIT_PRESENT ? ret->extension.flow.value : NULL;
    return WRIT_DONE;
}

/* The place in the run: a gap shuts it. */
static void
take_seq(struct telling *t, const struct writ_decision *d)
{
    if (d->seq.is != WRIT_PRESENT || d->seq.value != t->run->next_seq) {
        shut(t, WRIT_REFLOW_INCOMPLETE);
    }
    if (d->seq.is == WRIT_PRESENT) {
        t->run->next_seq = d->seq.value + 1;
    }
}

/* The first record with marks names the key of the run. */
static void
take_key(struct telling *t, const struct writ_json *flow)
{
    struct writ_view key = writ_json_string(writ_json_get(flow, WRIT_LIT("key")));
    struct writ_buf room = writ_buf_over(t->run->key, sizeof t->run->key);

    if (flow == NULL) {
        return;
    }
    if (!t->run->has_key && key.len == WRIT_MARK_KEY_ID) {
        writ_buf_put(&room, key);
        t->run->key[WRIT_MARK_KEY_ID] = '\0';
        t->run->has_key = true;
    } else if (!writ_view_is(key, t->run->key)) {
        shut(t, WRIT_REFLOW_KEY);
    }
}

static bool
knows_policy(const struct writ_reflow *r, const struct writ_past *past)
{
    return r->config != NULL && writ_view_is(past->policy_digest, r->policy_digest);
}

static const struct writ_tool_rule *
rule_of(const struct writ_reflow *r, const struct writ_past *past)
{
    return knows_policy(r, past)
               ? writ_policy_find(r->config, &past->agent, past->upstream, past->tool, NULL)
               : NULL;
}

static WRIT_RESULT
judge_run(struct telling *t, const struct reading *of, const struct writ_tool_rule *rule,
    struct writ_err *err)
{
    struct writ_reflow *r = t->r;
    struct writ_reflow_judged judged = {.past = &of->past,
        .flow = of->flow,
        .full = t->run->full,
        .must = t->run->must,
        .config = rule != NULL ? r->config : NULL,
        .rule = rule,
        .arena = r->arena,
        .report = &r->report,
        .found = tell,
        .ctx = t};

    r->report.decisions++;
    r->report.runs += t->run->has_flow ? 0 : 1;
    t->run->has_flow = true;
    if (t->run->is_shut) {
        r->report.skipped++;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_reflow_run_catch_up(t->run, of->past.issued_us, err));
    WRIT_TRY(writ_reflow_judge(&judged, err));
    r->report.behind += judged.behind ? 1 : 0;
    return WRIT_DONE;
}

/* A call that was let through says nothing about its run: by a policy that asks for it, it cannot
 * be. The gateway lets a call in shadow mode go on when it does not know the run. */
static void
judge_absent(struct telling *t, const struct reading *of, const struct writ_tool_rule *rule)
{
    struct writ_reflow *r = t->r;

    if (of->flow != NULL || of->past.effect != WRIT_EFFECT_ALLOWED || of->past.shadow) {
        return;
    }
    if (rule != NULL && r->config->follows_values) {
        tell(t, WRIT_REFLOW_VERDICT, WRIT_LIT(""));
    } else if (t->run->has_flow) {
        r->report.unjudged++;
    }
}

/* A resource or a prompt that was read adds to the run, and judges nothing. A call that was let
 * through is none, whatever its reason says. */
static bool
is_read(const struct writ_past *past)
{
    return past->reason == WRIT_REASON_CONTENT_READ && past->effect == WRIT_EFFECT_REFUSED;
}

static WRIT_RESULT
judge_read(struct telling *t, const struct reading *of, struct writ_err *err)
{
    const struct writ_config *config = t->r->config;
    struct writ_view pattern = writ_json_string(writ_json_get(of->flow, WRIT_LIT("resource")));
    const struct writ_labels *labels;

    if (!knows_policy(t->r, &of->past)) {
        return WRIT_DONE;
    }
    /* which URI was read is not recorded: that the pattern matches it cannot be judged */
    labels = pattern.len > 0
                 ? writ_resources_of(writ_resources_in(config, of->past.upstream), pattern)
                 : writ_config_read_labels(config, of->past.upstream);
    if (pattern.len > 0 && labels == NULL) {
        tell(t, WRIT_REFLOW_LABELLING, WRIT_LIT(""));
        return WRIT_DONE;
    }
    return judge_labelling(t, labels, of->flow, err);
}

WRIT_RESULT
writ_reflow_decision(struct writ_reflow *r, struct writ_view record, struct writ_err *err)
{
    struct reading of = {.flow = NULL};
    struct telling t = {.r = r};
    const struct writ_tool_rule *rule;
    struct writ_reflow_call *call = NULL;
    bool reads;

    WRIT_TRY(read_decision(r, record, &of, err));
    if (of.decision.boundary_id.is != WRIT_PRESENT) {
        return WRIT_DONE;
    }
    t.decision_id = of.past.decision_id;
    WRIT_TRY(writ_reflow_run_of(
        &r->runs, of.past.agent.tenant, of.decision.boundary_id.view, &t.run, err));
    reads = is_read(&of.past);
    rule = reads ? NULL : rule_of(r, &of.past);
    take_seq(&t, &of.decision);
    take_key(&t, of.flow);
    judge_absent(&t, &of, rule);
    if (reads) {
        WRIT_TRY(judge_read(&t, &of, err));
    } else if (of.flow != NULL) {
        WRIT_TRY(judge_run(&t, &of, rule, err));
        if (rule != NULL) {
            WRIT_TRY(judge_labelling(&t, rule->labels, of.flow, err));
        }
    }
    WRIT_TRY(writ_reflow_run_add_call(&r->runs, t.run, of.past.decision_id, &call, err));
    if (of.past.effect == WRIT_EFFECT_ALLOWED) {
        call->rule = rule;
        call->is_open = true;
        r->report.open++;
        if (rule != NULL && !t.run->is_shut) {
            WRIT_TRY(judge_at_most(&t, &of.past, &of.extension, call, err));
        }
    }
    return add_record(&t, false, record, of.past.issued_us, err);
}

/* ---- outcomes */

WRIT_RESULT
writ_reflow_outcome(struct writ_reflow *r, struct writ_view record, struct writ_err *err)
{
    const struct writ_json *value = NULL, *flow;
    struct writ_outcome outcome;
    struct telling t = {.r = r};
    struct writ_reflow_call *call = NULL;
    int64_t at_us = 0;

    WRIT_TRY(read_json(r, record, &value, err));
    WRIT_TRY(writ_outcome_read(value, r->arena, &outcome, err));
    t.decision_id = outcome.decision_id.view;
    WRIT_TRY(writ_reflow_run_call(&r->runs, t.decision_id, &call, err));
    if (call == NULL || !writ_member_time(outcome.completed_at.view, &at_us)) {
        return WRIT_DONE; /* its decision is not here: the seq of that one is missing */
    }
    t.run = call->run;
    r->report.open -= call->is_open ? 1 : 0;
    call->is_open = false;
    if (call->charge != NULL && writ_outcome_nothing_ran(&outcome)) {
        call->charge->n--;
        call->charge = NULL;
    }
    flow = writ_json_pointer(value, WRIT_LIT("/extensions/writ/flow"));
    take_key(&t, flow);
    if (call->rule != NULL) {
        WRIT_TRY(judge_labelling(&t, call->rule->labels, flow, err));
    }
    return add_record(&t, true, record, at_us, err);
}

void
writ_reflow_report(const struct writ_reflow *r, struct writ_reflow_report *ret)
{
    *ret = r->report;
}
