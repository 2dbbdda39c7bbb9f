/* For any records: recomputing runs is total and says the same twice; each decision has a verdict,
 * or is counted as without one. A line of the input is a record: `d` and a decision, or `o` and an
 * outcome. */
#include "policy/read/load.h"
#include "policy/replay/reflow.h"
#include "support/fuzz.h"

/* The digest that the corpus has as that of the policy. */
#define POLICY "sha256:00000000000000000000000000000000000000000000000000000000000000aa"

static const char yaml[] =
    "agents:\n"
    "  - {anonymous: true, id: dev, tenant: acme}\n"
    "  - {id: ann, bearer_sha256: "
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}\n"
    "tasks: {agents: [boss]}\n"
    "reviews: {finance: {voters: [{id: ann}]}}\n"
    "tools:\n"
    "  up/bills: {scope: s, labels: {trusted_at: [/bills/*/to], confidentiality: [private]}}\n"
    "  up/inbox: {scope: s}\n"
    "  up/account: {scope: s, arguments: [{arg: account, op: type, value: string}]}\n"
    "  up/pay: {scope: s, arguments: [{arg: to, op: from, value: {sources: [task, trusted, "
    "approved,\n"
    "    operator], operator: [x]}}, {arg: all, optional: true, op: each, value: [{arg: to, op: "
    "from,\n"
    "    value: [task]}]}]}\n"
    "  up/transfer: {scope: s, arguments: [{arg: to, op: type, value: string}]}\n"
    "  up/mail: {scope: s}\n"
    "  up/once: {scope: s}\n"
    "  crew/pay: {scope: s, arguments: [{arg: to, op: from, value: {sources: [task, trusted],\n"
    "    approval: {review: finance}}}]}\n"
    "flows:\n"
    "  - {tools: [up/mail], after: [untrusted, private]}\n"
    "  - {tools: [up/transfer], requires: {call: up/account, same: {to: account}, within: 30m}}\n"
    "  - {tools: [up/once], at_most: 1}\n"
    "  - {tools: [up/bills], after_calls: [up/once]}\n";

static struct writ_config *
config_of_all(void)
{
    static struct writ_config *config;

    if (config == NULL) {
        WRIT_INVARIANT(
            writ_is_ok(writ_load_text(writ_view_str(yaml), "fuzz", NULL, &config, NULL)));
        WRIT_INVARIANT(
            writ_is_ok(writ_digest_read(WRIT_LIT(POLICY), &config->policy_digest, NULL)));
    }
    return config;
}

static void
count(void *ctx, const struct writ_reflow_finding *finding)
{
    uint64_t *n = ctx;

    WRIT_INVARIANT(writ_reflow_kind_word(finding->kind).len > 0);
    (*n)++;
}

static void
recompute(struct writ_view text, struct writ_reflow_report *ret)
{
    struct writ_reflow *reflow = NULL;
    uint64_t told = 0, found = 0;

    WRIT_INVARIANT(writ_is_ok(writ_reflow_new(config_of_all(), count, &told, &reflow, NULL)));
    while (text.len > 0) {
        size_t end = writ_view_find(text, '\n');
        struct writ_view line = writ_view_sub(text, 0, end);
        text = writ_view_sub(text, end + 1, text.len);
        if (line.len > 1 && line.ptr[0] == 'd') {
            WRIT_IGNORE(writ_reflow_decision(reflow, writ_view_sub(line, 1, line.len), NULL));
        } else if (line.len > 1 && line.ptr[0] == 'o') {
            WRIT_IGNORE(writ_reflow_outcome(reflow, writ_view_sub(line, 1, line.len), NULL));
        }
    }
    writ_reflow_report(reflow, ret);
    for (size_t i = 0; i < WRIT_REFLOW_KINDS_N; i++) {
        found += ret->found[i];
    }
    WRIT_INVARIANT(told == found);
    writ_reflow_free(reflow);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_reflow_report once, again;

    recompute(writ_view(data, size), &once);
    recompute(writ_view(data, size), &again);
    WRIT_INVARIANT(writ_view_equal(writ_view(&once, sizeof once), writ_view(&again, sizeof again)));
    WRIT_INVARIANT(once.runs <= once.decisions && once.behind <= once.decisions);
    WRIT_INVARIANT(once.skipped + once.verdicts <= once.decisions);
    return 0;
}
