/* Reads `reviewers`. An entry is asked in at most one way, and an option that has no effect on that
 * way is refused. The digest of the entry covers all of it. */
#include "policy/read/reviewers.h"

#include "base/clock.h"
#include "base/text.h"
#include "evidence/jose/jwk.h"
#include "evidence/json/write.h"
#include "policy/decide/terms.h"
#include "policy/model/host.h"
#include "policy/read/canonical.h"
#include "policy/read/crews.h"

#define KEY_ARENA (1 << 16)

/* ---- the key */

static WRIT_RESULT
make_key(const struct writ_raw_voter_key *raw, struct writ_arena *scratch, struct writ_jwk **ret,
    struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(scratch, WRIT_REVIEW_KEY_MAX);
    struct writ_write w = writ_write_to(&text);
    const struct writ_json *value = NULL;

    writ_write_object_begin(&w);
    writ_write_text_if(&w, "kty", raw->kty);
    writ_write_text_if(&w, "crv", raw->crv);
    writ_write_text_if(&w, "x", raw->x);
    writ_write_text_if(&w, "y", raw->y);
    writ_write_text_if(&w, "alg", raw->alg);
    writ_write_text_if(&w, "use", raw->use);
    writ_write_text_if(&w, "kid", raw->kid);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    WRIT_TRY(writ_json_read(writ_buf_view(&text), &writ_json_limits_default, scratch, &value, err));
    return writ_jwk_read(value, ret, err);
}

static void
read_key(struct writ_options *o, const struct writ_yaml *node, const struct writ_raw_voter_key *raw,
    struct writ_reviewer_config *ret)
{
    struct writ_arena *scratch = writ_arena_new(KEY_ARENA);
    struct writ_jwk *key = NULL;
    struct writ_err err = {0};

    if (scratch == NULL) {
        o->nomem = true;
        return;
    }
    if (!writ_is_ok(make_key(raw, scratch, &key, &err))) {
        WRIT_OPTION_FAULT(o, node, "%s", err.text);
    } else {
        ret->key = writ_view_copy(writ_jwk_text(key), o->arena);
        o->nomem = o->nomem || ret->key.ptr == NULL;
    }
    writ_jwk_free(key);
    writ_arena_free(scratch);
}

/* ---- the webhook and the worker */

static struct writ_view
with_slash(struct writ_options *o, struct writ_view rest)
{
    struct writ_buf path = writ_buf_in(o->arena, rest.len + 2);

    if (writ_view_has_prefix(rest, WRIT_LIT("/"))) {
        return rest;
    }
    writ_buf_byte(&path, '/');
    writ_buf_put(&path, rest);
    o->nomem = o->nomem || !writ_is_ok(writ_buf_check(&path, NULL));
    return writ_buf_view(&path);
}

static void
read_webhook(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_raw_reviewer *raw, struct writ_reviewer_config *ret)
{
    struct writ_url url = {0};

    if (!writ_is_ok(writ_host_read_url(raw->webhook, &url)) ||
        !writ_host_is_protected(raw->webhook) || writ_view_find(url.rest, '#') < url.rest.len) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "webhook"),
            "must be an https URL (http on loopback) without userinfo and fragment");
        return;
    }
    if (raw->secret.len == 0) {
        WRIT_OPTION_FAULT(o, node, "a webhook needs the secret that signs it");
    }
    if (raw->ca.len > 0 && !url.tls) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "ca"), "has no effect on an http URL");
    }
    ret->path = with_slash(o, url.rest);
}

/* ---- opinions */

static void
read_opinions(struct writ_options *o, const struct writ_yaml *node,
    struct writ_reviewer_config *ret, struct writ_pattern_list **patterns)
{
    struct writ_opinion *opinions;

    if (node->type != WRIT_YAML_LIST || node->count == 0 || node->count > WRIT_OPINIONS_MAX) {
        WRIT_OPTION_FAULT(o, node, "must be a list of 1 to %d opinions", WRIT_OPINIONS_MAX);
        return;
    }
    opinions = writ_option_memory(o, node->count, sizeof *opinions);
    if (opinions == NULL) {
        return;
    }
    WRIT_YAML_EACH(element, node)
    {
        struct writ_raw_opinion raw = {0};
        struct writ_opinion *opinion = &opinions[ret->opinions_n++];

        writ_option_read(o, WRIT_SECTION_opinion, element, &raw);
        *opinion = (struct writ_opinion){.vote = (enum writ_review_vote)raw.vote};
        if (raw.feedback.len > 0) {
            opinion->feedback = raw.feedback;
        }
        if (raw.when != NULL) {
            opinion->when = writ_compile_conditions(o, raw.when, patterns);
        }
    }
    ret->opinions = opinions;
}

/* ---- delegation */

static int64_t
read_time(
    struct writ_options *o, const struct writ_yaml *node, const char *name, struct writ_view text)
{
    int64_t us = 0;

    if (text.len > 0 && !writ_is_ok(writ_time_read(text, &us))) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, name),
            "must be a time of RFC 3339, such as 2026-12-24T08:00:00Z");
    }
    return us;
}

static void
read_delegate(
    struct writ_options *o, const struct writ_yaml *node, struct writ_reviewer_config *ret)
{
    struct writ_raw_delegate raw = {0};
    struct writ_delegation_config *delegation = writ_option_memory(o, 1, sizeof *delegation);

    writ_option_read(o, WRIT_SECTION_delegate, node, &raw);
    if (delegation == NULL || raw.to.len == 0) {
        return;
    }
    *delegation = (struct writ_delegation_config){.to = raw.to,
        .from_us = read_time(o, node, "from", raw.from),
        .until_us = read_time(o, node, "until", raw.until),
        .tools = raw.tools};
    if (raw.until.len > 0 && (delegation->until_us <= delegation->from_us ||
                                 delegation->until_us == 0)) { /* 0: without an end */
        WRIT_OPTION_FAULT(o, writ_option_of(node, "until"), "must be after from");
    }
    for (size_t i = 0; i < raw.tools.n; i++) {
        if (writ_view_find(raw.tools.items[i], '/') == raw.tools.items[i].len) {
            WRIT_OPTION_FAULT(o, writ_option_of(node, "tools"),
                "element %zu is not upstream/tool, such as pay/*", i);
        } else if (writ_terms_tool_fault(raw.tools.items[i]) != NULL) {
            WRIT_OPTION_FAULT(o, writ_option_of(node, "tools"), "element %zu is not a pattern: %s",
                i, writ_terms_tool_fault(raw.tools.items[i]));
        }
    }
    ret->delegation = delegation;
}

/* Whatever their times and tools: whether a cycle closes must not depend on the call. */
static void
check_cycles(struct writ_options *o, const struct writ_yaml *node, const struct writ_config *config)
{
    const struct writ_yaml *entry = node->first;

    for (size_t i = 0; i < config->reviewers_n && entry != NULL; i++, entry = entry->next) {
        const struct writ_reviewer_config *at = &config->reviewers[i];
        size_t steps = 0;

        while (at != NULL && at->delegation != NULL && steps++ <= config->reviewers_n) {
            if (writ_view_equal(at->delegation->to, config->reviewers[i].id)) {
                WRIT_OPTION_FAULT(o, writ_option_of(entry, "delegate"),
                    "comes back to the same voter: end the cycle");
                break;
            }
            at = writ_config_reviewer(config, at->delegation->to);
        }
    }
}

/* A delegate's vote counts as the voter's own, so it must prove as much. Each entry is looked at:
 * so the whole chain has keys. */
static void
check_signed(struct writ_options *o, const struct writ_yaml *node, const struct writ_config *config)
{
    const struct writ_yaml *entry = node->first;

    for (size_t i = 0; i < config->reviewers_n && entry != NULL; i++, entry = entry->next) {
        const struct writ_reviewer_config *voter = &config->reviewers[i], *to = NULL;

        if (voter->delegation == NULL || voter->key.len == 0) {
            continue;
        }
        to = writ_config_reviewer(config, voter->delegation->to);
        if (to == NULL || to->key.len == 0) {
            WRIT_OPTION_FAULT(o, writ_option_of(entry, "delegate"),
                "votes unsigned for a voter that signs: give the delegate a key in reviewers");
        }
    }
}

/* ---- all of them */

static void
read_one(struct writ_options *o, const struct writ_yaml *node, struct writ_reviewer_config *ret,
    struct writ_pattern_list **patterns)
{
    struct writ_raw_reviewer raw = {0};
    const struct writ_yaml *key = writ_option_of(node, "key"),
                           *opinions = writ_option_of(node, "opinions");
    bool webhook = writ_option_of(node, "webhook") != NULL,
         worker = writ_option_of(node, "worker") != NULL,
         crew = writ_option_of(node, "crew") != NULL;

    writ_option_read(o, WRIT_SECTION_reviewer, node, &raw);
    *ret = (struct writ_reviewer_config){.id = node->key,
        .kind = webhook            ? WRIT_REVIEWER_WEBHOOK
                : crew             ? WRIT_REVIEWER_CREW
                : worker           ? WRIT_REVIEWER_WORKER
                : opinions != NULL ? WRIT_REVIEWER_OPINIONS
                                   : WRIT_REVIEWER_ASKS,
        .instructions = raw.instructions,
        .timeout_us = raw.timeout_us,
        .url = raw.webhook,
        .secret = raw.secret,
        .ca = raw.ca,
        .argv = raw.worker,
        .inherit = raw.inherit,
        .environment = raw.environment,
        .directory = raw.directory};
    if (node->type != WRIT_YAML_MAP) {
        return; /* with a finding */
    }
    if (node->key.len == 0 || node->key.len > WRIT_REVIEW_NAME_MAX) {
        WRIT_OPTION_FAULT(o, node, "must be a subject of 1 to %d bytes", WRIT_REVIEW_NAME_MAX);
    }
    if (!writ_option_choice(o, WRIT_SECTION_reviewer, node)) {
        return;
    }
    (void)writ_option_together(o, WRIT_SECTION_reviewer, node);
    if (key != NULL && (opinions != NULL || crew)) {
        WRIT_OPTION_FAULT(o, key, "the gateway's own %s are not signed: leave key out",
            crew ? "crews" : "opinions");
    } else if (key != NULL) {
        read_key(o, key, &raw.key, ret);
    }
    if (webhook && raw.webhook.len > 0) {
        read_webhook(o, node, &raw, ret);
    }
    if (worker && (raw.worker.n == 0 || raw.worker.items[0].len == 0)) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "worker"), "lacks a program");
    }
    if (crew) {
        ret->crew = writ_crews_read(o, node, &raw);
    }
    if (opinions != NULL) {
        read_opinions(o, opinions, ret, patterns);
    }
    if (raw.delegate != NULL) {
        read_delegate(o, raw.delegate, ret);
    }
}

WRIT_RESULT
writ_reviewers_read(struct writ_options *o, const struct writ_yaml *node,
    struct writ_config *config, struct writ_pattern_list **patterns)
{
    struct writ_reviewer_config *reviewers;

    if (node == NULL) {
        return WRIT_DONE;
    }
    if (node->type != WRIT_YAML_MAP || node->count > WRIT_REVIEWERS_MAX) {
        WRIT_OPTION_FAULT(
            o, node, "must be a map of subjects to at most %d reviewers", WRIT_REVIEWERS_MAX);
        return WRIT_DONE;
    }
    reviewers = writ_option_memory(o, node->count, sizeof *reviewers);
    if (reviewers == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    config->reviewers = reviewers;
    WRIT_YAML_EACH(element, node)
    {
        struct writ_reviewer_config *reviewer = &reviewers[config->reviewers_n];

        read_one(o, element, reviewer, patterns);
        WRIT_TRY(writ_canonical_digest(element, o->arena, &reviewer->digest));
        if (reviewer->crew != NULL) {
            WRIT_TRY(writ_crews_pin(reviewer->crew, &reviewer->digest));
        }
        config->reviewers_n++;
    }
    check_cycles(o, node, config);
    check_signed(o, node, config);
    return WRIT_DONE;
}
