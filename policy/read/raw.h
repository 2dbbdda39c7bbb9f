/* raw.h - sections of the configuration file as the option table reads them, before they become the
 * structs of the model. A `const struct writ_yaml *` is NULL for an absent option. */
#ifndef WRIT_POLICY_RAW_H
#define WRIT_POLICY_RAW_H

#include "evidence/record/duplicates.h"
#include "evidence/record/review.tbl.h"
#include "policy/model/config.h"
#include "policy/model/op.h"
#include "policy/read/yaml.h"

/** `duplicates: auto`, beside enum writ_duplicates. */
#define WRIT_RAW_DUPLICATES_AUTO (WRIT_DUPLICATES_ALLOW + 1)

struct writ_raw_defaults {
    int unlisted_tool, unlisted_argument, duplicates;
    const struct writ_yaml *result, *contents, *labels;
    bool pin, believe_annotations, shadow;
};

struct writ_raw_ledger {
    int64_t claims_kept_us, clock_tolerance_us, busy_timeout_us, scrub_every_us;
    struct writ_view pinned, remember, files, gateway;
    int64_t lease_us;
    int replication;
    const struct writ_yaml *anchors;
};

struct writ_raw_anchor {
    struct writ_view to, ca;
    int64_t every_us;
};

struct writ_raw_export {
    struct writ_view name, to, cursor, token, scheme, ca, cert, key;
    int format;
    bool plain_close;
};

struct writ_raw_telemetry {
    struct writ_view otlp, headers_file, ca, sample;
    bool traces, metrics, logs;
    int incoming;
    int64_t metrics_every_us;
    struct writ_pairs resource;
};

struct writ_raw_top {
    struct writ_listen_address listen, admin_listen;
    struct writ_tls_config tls, admin_tls;
    int64_t loops;
    struct writ_views hosts, origins, auditors, administrators, content_readers;
    struct writ_view public_url, admin_url, issuer, keys, store;
    struct writ_view separator;
    int profile;
    struct writ_view include, engines;
    const struct writ_yaml *agents, *upstreams, *frameworks, *tools, *reviews, *reviewers, *exports;
    const struct writ_yaml *flows, *tasks, *detectors;
    struct writ_raw_defaults defaults;
    struct writ_odd_config definitions;
    struct writ_limits limits;
    struct writ_sessions_config sessions;
    struct writ_pool_config pool;
    struct writ_credential_config credential;
    struct writ_raw_ledger ledger;
    struct writ_raw_telemetry telemetry;
    const struct writ_yaml *notify;
    struct writ_log_config log;
};

struct writ_raw_notify {
    struct writ_view slack, teams, webhook, secret, email, from, user, password, ca, quiet;
    struct writ_views to, events, tenants;
    int64_t batch_us, expiring_us;
};

struct writ_raw_included {
    bool agreed;
    const struct writ_yaml *upstreams, *frameworks, *tools, *reviews, *reviewers;
};

struct writ_raw_agent {
    struct writ_agent agent;
    struct writ_digest bearer;
    struct writ_view certificate;
    struct writ_view issuer, audience, jwks;
    struct writ_views required_scopes, scopes;
    struct writ_claim_names claims;
    bool anonymous;
};

struct writ_raw_framework {
    struct writ_view resource;
    int64_t timeout_us;
};

struct writ_raw_attach {
    struct writ_view header;
    bool meta;
};

struct writ_raw_authorization {
    struct writ_view file, variable, key, header, scheme, client_id, issuer, token_endpoint;
    struct writ_views scopes;
    struct writ_view resource; /* ptr NULL: absent */
};

struct writ_raw_upstream {
    struct writ_views stdio;
    struct writ_pairs environment, program_digest;
    struct writ_views inherit;
    struct writ_view directory, http, ca, resource;
    int64_t connections, connect_timeout_us, list_timeout_us, timeout_us, children, idle_us,
        start_timeout_us;
    int64_t refresh_us;
    int sharing;
    struct writ_raw_attach credential;
    struct writ_raw_authorization authorization;
    const struct writ_yaml *labels, *resources;
    bool required, insecure, client_environment;
};

struct writ_raw_rule {
    struct writ_views agents, roles, tenants, scopes;
    struct writ_view scope, target;
    const struct writ_yaml *state, *arguments, *approval, *budgets, *replay, *result, *contents,
        *labels;
    int duplicates, refusal, schema;
    bool shadow, pin;
    int64_t timeout_us;
};

struct writ_raw_detector {
    struct writ_view pattern;
    int checksum;
    int64_t version;
};

struct writ_raw_labels {
    int integrity;
    struct writ_views confidentiality, trusted_at, untrusted_at, believe;
    const struct writ_yaml *detected;
};

struct writ_raw_detected {
    struct writ_views detect;
    struct writ_view add;
};

struct writ_raw_requires {
    struct writ_view call;
    struct writ_pairs same;
    int64_t within_us;
};

struct writ_raw_flow {
    struct writ_views tools, after, after_calls;
    const struct writ_yaml *requires, *approval;
    int64_t at_most;
};

struct writ_raw_tasks {
    struct writ_views agents, scopes, always;
    const struct writ_yaml *approval;
};

struct writ_raw_from {
    struct writ_views sources;
    const struct writ_yaml *operator_list, *approval;
    bool addresses, host;
};

struct writ_raw_annotations {
    bool read_only, destructive, idempotent, open_world;
};

struct writ_raw_approval {
    struct writ_view review;
    struct writ_raw_annotations annotations;
    int64_t hold_us, hold_retry_us;
    const struct writ_yaml *when;
};

struct writ_raw_delegations {
    int64_t longest_us;
    struct writ_views stand_ins;
    bool several;
};

struct writ_raw_review {
    const struct writ_yaml *voters, *threshold, *engine;
    struct writ_view quorum;
    int64_t lifetime_us, redeem_us;
    struct writ_views administrators, options;
    struct writ_view elicitation;
    bool bulk;
    struct writ_raw_delegations delegations;
};

struct writ_raw_voter {
    struct writ_view id;
    const struct writ_yaml *weight;
    bool veto;
};

struct writ_raw_threshold {
    struct writ_view by;
    const struct writ_yaml *steps;
};

struct writ_raw_step {
    const struct writ_yaml *at_least, *share;
};

struct writ_raw_delegate {
    struct writ_view to, from, until;
    struct writ_views tools;
};

struct writ_raw_voter_key {
    struct writ_view kty, crv, x, y, alg, use, kid;
};

struct writ_raw_reviewer {
    struct writ_raw_voter_key key;
    struct writ_view webhook, secret, ca, directory, instructions, crew, agents, registry;
    bool shared;
    int64_t keep_log_us;
    struct writ_views worker, inherit;
    struct writ_pairs environment;
    const struct writ_yaml *opinions, *delegate;
    int64_t timeout_us;
};

struct writ_raw_opinion {
    int vote; /* enum writ_review_vote */
    const struct writ_yaml *when;
    struct writ_view feedback;
};

struct writ_raw_contents {
    int64_t keep_us, results_bytes;
};

struct writ_raw_replay {
    int64_t ttl_us, bytes;
};

struct writ_raw_result {
    int64_t bytes;
    struct writ_views content, remove, refuse;
    const struct writ_yaml *redact;
    int is_error;
    bool default_redact;
};

struct writ_raw_redact {
    struct writ_view pattern, with;
    struct writ_views detect;
};

struct writ_raw_state {
    struct writ_view tool, resource, http;
    const struct writ_yaml *arguments;
    struct writ_views select;
    int on_error;
    bool insecure;
    int64_t timeout_us;
};

struct writ_raw_constraint {
    struct writ_view arg; /* ptr NULL: absent */
    int op;               /* enum writ_op; WRIT_OP_NONE: faulty, with a finding */
    const struct writ_yaml *value;
    bool optional, nullable, secret;
};

struct writ_raw_budget {
    struct writ_view name;
    struct writ_views per;
    int64_t window_us, calls;
    const struct writ_yaml *sum;
};

struct writ_raw_sum {
    struct writ_view arg;
    const struct writ_yaml *max;
};

#endif
