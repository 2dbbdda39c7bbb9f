/* config.h - a configuration file as structs, never changed after reading (load.h).
 *
 * A struct writ_config is immutable and reference-counted: a reload makes another one. All views
 * and pointers in it are borrowed until the last reference is dropped. */
#ifndef WRIT_POLICY_CONFIG_H
#define WRIT_POLICY_CONFIG_H

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/log.h"
#include "evidence/jose/jwk.h"
#include "evidence/json/digest.h"
#include "evidence/record/delegation.h"

#include <stdint.h>

#define WRIT_CONFIG_BYTES_MAX  (4 * 1024 * 1024)   /* longest configuration file */
#define WRIT_CONFIG_MEMORY_MAX (256 * 1024 * 1024) /* memory of one configuration, in all */
#define WRIT_UPSTREAMS_MAX     256 /* entries of upstreams; likewise of frameworks */
#define WRIT_ANCHORS_MAX       16  /* entries of ledger.anchors */
#define WRIT_EXPORTS_MAX       8   /* entries of export */

struct writ_yaml; /* a node of the file: policy/read/yaml.h */

struct writ_views {
    const struct writ_view *items;
    size_t n;
};

/** Whether one of the names is that one. */
static inline bool
writ_config_has_name(const struct writ_views *names, struct writ_view name)
{
    for (size_t i = 0; i < names->n; i++) {
        if (writ_view_equal(names->items[i], name)) {
            return true;
        }
    }
    return false;
}

struct writ_pair {
    struct writ_view name, value;
};

struct writ_pairs {
    const struct writ_pair *items;
    size_t n;
};

/** Where to listen: a literal address (or `localhost`, which is 127.0.0.1) and a port, or a Unix
 * socket. */
struct writ_listen_address {
    struct writ_view
        text; /* as written, but the path of a socket is whole; empty = not configured */
    struct writ_view path; /* of a Unix socket, NUL-terminated; empty: an IP address */
    struct writ_view host; /* NUL-terminated literal address, without brackets */
    uint16_t port;         /* 0: the system picks one */
    bool ipv6, loopback;   /* a Unix socket is loopback */
    size_t line;           /* of the file, for messages; 0: the default */
};

/** PEM files of a listener. */
struct writ_tls_config {
    struct writ_view cert, key; /* empty = no TLS */
    struct writ_view client_ca; /* empty = no client certificates */
};

/** The caller, as authentication found it. All views; `id` is never empty; an empty `subject` is
 * the id (writ_approval_subject). */
struct writ_agent {
    struct writ_view id, subject, tenant, role, credential_scope, credential_tier;
    struct writ_view scopes; /* OAuth scopes, as in scopes.h */
};

enum writ_identity_kind {
    WRIT_IDENTITY_NONE = 0,
    WRIT_IDENTITY_BEARER,      /* a static token, known by its SHA-256 */
    WRIT_IDENTITY_JWT,         /* a JWT by issuer, audience and JWKS */
    WRIT_IDENTITY_CERTIFICATE, /* of a person at the page, by its name */
    WRIT_IDENTITY_ANONYMOUS,   /* every caller, on loopback listeners only */
};

/** Which claim of a JWT gives which member of struct writ_agent: a name or a JSON Pointer. Empty:
 * the entry's own value is used. `id` is "sub" unless configured. */
struct writ_claim_names {
    struct writ_view id, tenant, role, credential_scope, credential_tier;
    struct writ_view scopes; /* "scope" unless configured */
};

/** One entry of `agents`. */
struct writ_identity_config {
    enum writ_identity_kind kind;
    struct writ_agent agent;      /* BEARER, CERTIFICATE, ANONYMOUS: the agent. JWT: without id */
    struct writ_view certificate; /* CERTIFICATE: its first URI, else DNS, name */
    struct writ_digest bearer;    /* BEARER: SHA-256 of the token's bytes */
    struct writ_view issuer, audience, jwks; /* JWT; jwks is a file or an https (loopback: http)
                                              * URL, else the issuer's metadata tell; no audience:
                                              * the endpoint's own URL */
    struct writ_claim_names claims;          /* JWT */
    struct writ_views required_scopes;       /* JWT */
};

enum writ_upstream_kind {
    WRIT_UPSTREAM_NONE = 0,
    WRIT_UPSTREAM_STDIO,
    WRIT_UPSTREAM_HTTP,
};

/** The sessions that one child of a stdio upstream serves. Zero separates all. */
enum writ_sharing {
    WRIT_SHARING_SESSION = 0, /* one session, or one agent's requests without a session */
    WRIT_SHARING_ALL,
};

/** `authorization` of an upstream: the gateway's own secret for it. Views are NUL-terminated.
 */
struct writ_authorization_config {
    struct writ_view file, variable, key; /* the place of the secret: exactly one of them, */
    struct writ_view
        secret; /* or itself: of a command that has it from elsewhere, never of a file */
    struct writ_view header, scheme; /* no scheme: the secret alone */
    struct writ_view client_id;      /* empty: the secret itself is sent, else a token */
    /* with a client_id */
    struct writ_view issuer, token_endpoint; /* exactly one of them */
    struct writ_view resource;               /* RFC 8707; ptr NULL: the upstream's; "": none */
    struct writ_view scopes;                 /* as in scopes.h */
};

#define WRIT_PROGRAM_FILES_MAX 32

/** One file of `program_digest`. */
struct writ_program_file {
    struct writ_view name; /* NUL-terminated: stdio[0], which stands for the program that is
                              executed; or a path, as the child would open it */
    bool accepted; /* its digest is the one that an operator accepted (gateway/io/program_files.h)
                    */
    struct writ_digest digest; /* else: this one */
};

/** `program_digest`: the files that a program is made of. */
struct writ_program_config {
    const struct writ_program_file *files;
    size_t n; /* 0: it is started without a look */
};

/** One entry of `upstreams`. */
struct writ_upstream_config {
    struct writ_view name; /* letters, digits, '-' and single '_'; at most 32 */
    enum writ_upstream_kind kind;
    /* stdio */
    struct writ_views stdio;       /* argv; each NUL-terminated; at least one */
    struct writ_pairs environment; /* NUL-terminated */
    struct writ_views inherit;     /* names of our own variables that the child inherits */
    struct writ_view directory;    /* NUL-terminated; empty = ours */
    bool client_environment;       /* the program that a `writ wrap` carries to it gives it its own
                                      variables and folder; stdio[0] is then a whole path */
    enum writ_sharing sharing;
    int64_t children; /* most at once */
    int64_t idle_us;  /* a child that is unused for this long is ended */
    int64_t start_timeout_us;
    struct writ_program_config program; /* a running gateway: writ_config_program */
    /* http */
    struct writ_view http; /* the URL as written */
    struct writ_view host; /* NUL-terminated, without brackets */
    uint16_t port;
    bool tls;
    struct writ_view path; /* with query, at least "/" */
    struct writ_view ca;   /* PEM file; empty = the system's */
    int64_t connections;   /* most per loop */
    int64_t connect_timeout_us;
    const struct writ_authorization_config *authorization; /* NULL: none */
    /* both */
    struct writ_view resource;          /* the audience of credentials: `resource`, else the URL,
                                         * else "stdio:<name>" */
    struct writ_view credential_header; /* http; empty = none */
    bool credential_meta;               /* put the credential into params._meta */
    bool required;                      /* a list without its part fails */
    int64_t timeout_us;                 /* of one call, unless the tool's rule says otherwise */
    int64_t list_timeout_us;      /* until its part of an answer of several upstreams begins */
    int64_t refresh_us;           /* age up to which definitions are current */
    struct writ_view ref;         /* "/upstreams/<name>", for messages */
    const struct writ_yaml *node; /* where it stands */
};

/** One entry of `frameworks`: a program that runs tools itself. */
struct writ_framework_config {
    struct writ_view name; /* in the form of an upstream's name, and different from all of them */
    struct writ_view
        resource;       /* the audience of credentials: `resource`, else "framework:<name>" */
    int64_t timeout_us; /* of one call, unless the tool's rule says otherwise */
};

/** `delegate` of a reviewer: who votes for it. */
struct writ_delegation_config {
    struct writ_view to;
    int64_t from_us, until_us; /* wall time; until 0: without end */
    struct writ_views tools;   /* patterns of upstream/tool; none: every tool */
};

/** One voter, by subject. */
struct writ_voter_config {
    struct writ_view id;
    int64_t weight, parts; /* 3 of 2 parts: 1.5 */
    bool veto;
    struct writ_view key;                            /* of its entry in `reviewers`; empty: none */
    const struct writ_delegation_config *delegation; /* of the same entry; NULL: none */
    struct writ_view delegate_key;                   /* of the entry of its delegate */
};

/** One of the steps of a threshold. */
struct writ_threshold_step {
    struct writ_decimal at_least; /* of the value that it depends on */
    struct writ_view share;
};

/** The way in which the gateway asks a voter. */
enum writ_reviewer_kind {
    WRIT_REVIEWER_ASKS = 0, /* not asked: it fetches reviews, over HTTP */
    WRIT_REVIEWER_WEBHOOK,
    WRIT_REVIEWER_WORKER,
    WRIT_REVIEWER_OPINIONS,
    WRIT_REVIEWER_CREW,
};

struct writ_detectors;
struct writ_opinion;
struct writ_flow_rule;
struct writ_tasks;
struct writ_yaml;

/** One file of a crew, as it was when the configuration was read. */
struct writ_crew_file {
    struct writ_view name; /* the path, NUL-terminated; of a nested shape its key */
    struct writ_view text;
};

/** The crew of a reviewer. */
struct writ_crew_config {
    struct writ_crew_file shape, agents; /* agents.name empty: the shape alone */
    const struct writ_crew_file *nested;
    size_t nested_n;
    bool shared; /* one process for all agents */
    int64_t keep_log_us;
    struct writ_digest digest;    /* of all the texts, with the keys of the nested ones */
    const struct writ_yaml *node; /* option `crew`, for findings */
};

/** One entry of `reviewers`. Texts that name files or programs are NUL-terminated. */
struct writ_reviewer_config {
    struct writ_view id; /* the subject */
    enum writ_reviewer_kind kind;
    struct writ_view key;          /* verifies its votes: canonical JSON of a JWK; empty: none */
    struct writ_view instructions; /* for a model; may be empty */
    int64_t timeout_us;
    /* WEBHOOK */
    struct writ_view url, path;  /* path with query, at least "/" */
    struct writ_view secret, ca; /* files; ca may be empty */
    /* WORKER, CREW */
    struct writ_views argv, inherit;
    struct writ_pairs environment;
    struct writ_view directory; /* empty: ours */
    /* CREW */
    const struct writ_crew_config *crew;
    /* OPINIONS */
    const struct writ_opinion *opinions; /* opinion.h */
    size_t opinions_n;
    const struct writ_delegation_config *delegation; /* NULL: none */
    struct writ_digest digest; /* of the whole entry, and of the files of its crew */
};

/** A plug-in that counts votes, as its file was when the configuration was read. */
struct writ_engine_config {
    struct writ_view name;   /* of the file in the folder `engines` */
    struct writ_view object; /* the file */
    struct writ_digest digest;
    const struct writ_yaml *node; /* option `engine` of the first review that names it, for findings
                                   */
    const struct writ_engine_config *next; /* by name */
};

/** One entry of `reviews`. */
struct writ_review_config {
    struct writ_view name, engine;
    const struct writ_engine_config *plugin; /* NULL: a built-in engine */
    struct writ_view threshold, quorum; /* as written; checked. With steps the highest of them */
    struct writ_view by;                /* steps: the argument as written */
    struct writ_views by_tokens;        /* the same as tokens */
    const struct writ_threshold_step *steps; /* by at_least; NULL: one threshold for every call */
    size_t steps_n;
    int64_t lifetime_us, redeem_us;
    const struct writ_voter_config *voters;
    size_t voters_n;
    struct writ_views administrators;
    struct writ_views options;    /* that votes rank, by an engine that needs rankings; else none */
    bool candidates;              /* they have the word for candidates: one of several calls runs */
    struct writ_view elicitation; /* the voter who is asked in the caller's client; empty: none */
    bool bulk;                    /* a voter may vote on several of one rule together */
    struct writ_delegable delegable; /* the delegations that its voters may set; of no call */
    struct writ_digest digest; /* of the whole entry, of its plug-in, and of its voters' own */
};

struct writ_limits {
    int64_t body_bytes;    /* a request's body */
    int64_t agent_percent; /* share of one agent in whatever is bounded */
    int64_t tenant_percent;
    int64_t header_bytes;    /* a request's head */
    int64_t json_depth;      /* of a request */
    int64_t json_values;     /* values and member names of a request, in all */
    int64_t string_bytes;    /* one decoded string of a request */
    int64_t request_bytes;   /* memory of one request, in all */
    int64_t response_bytes;  /* an upstream's answer that is kept in memory */
    int64_t event_bytes;     /* one server-sent event, one line of a stdio upstream */
    int64_t connections;     /* client connections per loop */
    int64_t in_flight;       /* requests at once per loop */
    int64_t queue;           /* records that wait for the ledger's writer */
    int64_t sessions;        /* at once, in all */
    int64_t reviews;         /* calls under review at once, in all */
    int64_t agent_reviews;   /* of one agent */
    int64_t idle_timeout_us; /* a client connection without a request */
    int64_t head_timeout_us; /* from a connection, or the first byte of a later request, to the
                              * end of the head */
    int64_t body_timeout_us; /* from there to the last byte */
};

struct writ_sessions_config {
    int64_t idle_expires_us;
    int64_t window_us; /* the boundary of a stateless agent without its own */
    int64_t wait_us;   /* for the client's input, or for the end of a task */
};

/** The insights that the agents of one tenant share (docs/hooks.md). */
struct writ_pool_config {
    int64_t entries;      /* of a tenant, at one time; 0 turns the pool off */
    int64_t entry_bytes;  /* of one of them */
    int64_t tenant_bytes; /* of all of a tenant */
    int64_t tags;         /* of one of them */
    int64_t keep_us;      /* then it ends */
};

struct writ_credential_config {
    int64_t lifetime_us;
    enum writ_jwk_alg alg; /* required of the active key; NONE: any */
    struct writ_view typ;
};

/** One entry of `ledger.anchors`. Views are NUL-terminated. */
struct writ_anchor_config {
    struct writ_view to; /* a file, or an https (loopback: http) URL */
    struct writ_view ca; /* of a URL: PEM file; empty = the system's */
    int64_t every_us;
};

/** One entry of `export`. Views are NUL-terminated; an empty one is absent. */
struct writ_export_config {
    struct writ_view name;
    struct writ_view to;     /* https (loopback: http), syslog+tls, or syslog+tcp on loopback */
    struct writ_view cursor; /* file with the index of the next record */
    int format;              /* enum writ_export_format (evidence/event/export_format.h) */
    struct writ_view token, scheme, ca, cert, key; /* scheme: before the token */
    bool plain_close;
};

struct writ_ledger_config {
    int64_t claims_kept_us;     /* least time that a claim blocks a duplicate */
    int64_t clock_tolerance_us; /* how far the wall clock may step back */
    int64_t busy_timeout_us;    /* wait for a locked database */
    int64_t scrub_every_us;     /* interval of complete verifications */
    struct writ_view pinned;    /* file with a checkpoint that it must contain; empty: none */
    struct writ_view remember;  /* file for its last checkpoint */
    struct writ_view gateway;   /* name among the gateways that share it; empty: by default */
    int64_t lease_us;           /* of a gateway that shares it */
    bool alone;                 /* the shared database has no standby */
    const struct writ_anchor_config *anchors; /* the places for its checkpoints */
    size_t anchors_n;
};

/** What a caller's trace context does. */
enum writ_incoming {
    WRIT_INCOMING_LINK = 0, /* the request has a trace of its own, and a link */
    WRIT_INCOMING_PARENT,   /* it becomes part of the caller's trace */
    WRIT_INCOMING_SAMPLED,  /* the same, and the caller's flag decides whether it is sent */
};

/** A sample of WRIT_SAMPLE_ALL is every trace. */
#define WRIT_SAMPLE_ALL (UINT64_C(1) << 56)

struct writ_telemetry_config {
    struct writ_view otlp;         /* URL of the collector, NUL-terminated; empty: no telemetry */
    struct writ_view headers_file; /* NUL-terminated; empty: none */
    struct writ_view ca;           /* PEM file, NUL-terminated; empty: the system's */
    bool traces, metrics, logs;    /* what is sent */
    uint64_t sample;               /* traces whose last 56 bits are below are sent */
    enum writ_incoming incoming;
    int64_t metrics_every_us;
    struct writ_pairs resource;
};

#define WRIT_NOTIFY_MAX 16 /* entries of `notify` */

/** The events of notices; a set of them is a sum. */
enum writ_notify_event {
    WRIT_NOTIFY_REVIEW_OPENED = 1,
    WRIT_NOTIFY_REVIEW_EXPIRING = 2,
    WRIT_NOTIFY_STOP_PULLED = 4,
    WRIT_NOTIFY_STOP_LIFTED = 8,
};
#define WRIT_NOTIFY_EVENTS 15u /* all of them */

enum writ_notify_kind {
    WRIT_NOTIFY_WEBHOOK = 0,
    WRIT_NOTIFY_SLACK,
    WRIT_NOTIFY_TEAMS,
    WRIT_NOTIFY_EMAIL,
};

/** One entry of `notify`. Views are NUL-terminated. */
struct writ_notify_config {
    struct writ_view name;
    enum writ_notify_kind kind;
    struct writ_view url;        /* WEBHOOK, EMAIL */
    struct writ_view secret;     /* file. WEBHOOK: what signs; SLACK, TEAMS: the URL; EMAIL: the
                                    password,     or empty */
    struct writ_view from, user; /* EMAIL; user may be empty */
    struct writ_views to;        /* EMAIL */
    struct writ_view ca;         /* PEM file; empty = the system's */
    struct writ_views tenants;   /* none: all */
    unsigned events;             /* a set of enum writ_notify_event */
    int quiet_from_min, quiet_to_min; /* minutes of the day in UTC; equal: never quiet */
    int64_t batch_us, expiring_us;
};

struct writ_log_config {
    enum writ_log_level level;
};

/** What becomes of a tool whose definition is odd (gateway/mcp/oddity.h). */
enum writ_odd {
    WRIT_ODD_REFUSE = 0, /* withheld */
    WRIT_ODD_HIDE,       /* withheld until an operator accepts this definition */
    WRIT_ODD_TELL,       /* passed, and told to operators */
};

/** The same for each kind of oddity. */
struct writ_odd_config {
    enum writ_odd hidden, lookalike, repeats, imitates, addresses;
};

struct writ_config {
    struct writ_view file; /* its name, NUL-terminated */
    struct writ_listen_address listen, admin_listen;
    struct writ_tls_config tls, admin_tls;
    int64_t loops;                  /* 0: one per core */
    struct writ_views hosts;        /* values of Host that are served besides the listener's own */
    struct writ_views origins;      /* values of Origin that are served; none: no browser */
    struct writ_view public_origin; /* of public_url: "https://gateway.example"; empty = none */
    struct writ_view public_path;   /* the path behind it: "" or "/writ" */
    struct writ_view admin_url;     /* of the admin listener; empty = by the bound address */
    struct writ_views auditors;     /* roles that read every call of their tenant */
    struct writ_views administrators;  /* subjects that may stop calls */
    struct writ_views content_readers; /* subjects that may read kept contents */
    struct writ_view separator;        /* between the names of an upstream and of its tool */
    struct writ_view issuer;           /* `iss` of credentials; empty = by the bound address */
    struct writ_view keys;             /* key directory, NUL-terminated */
    struct writ_view store;   /* path of the database, NUL-terminated (sqlite:// is taken off), or
                                 the URI of one on PostgreSQL */
    struct writ_view files;   /* the files beside it begin with that path, NUL-terminated */
    struct writ_view profile; /* derivation profile */
    const struct writ_identity_config *agents;
    size_t agents_n;
    const struct writ_upstream_config *upstreams;
    size_t upstreams_n;
    const struct writ_upstream_config *written; /* as many of this file: after a reload `upstreams`
                                                   are those of the start */
    size_t written_n;
    const struct writ_framework_config *frameworks;
    size_t frameworks_n;
    const struct writ_reviewer_config *reviewers;
    size_t reviewers_n;
    const struct writ_review_config *reviews;
    size_t reviews_n;
    struct writ_view engines_folder;          /* NUL-terminated; empty: none */
    const struct writ_engine_config *engines; /* plug-ins that reviews name, by `next` */
    struct writ_view include;     /* folder of included files, NUL-terminated; empty: none */
    struct writ_views not_agreed; /* names of upstreams and frameworks of included files that are
                                   * not agreed: every call to them is refused */
    const struct writ_detectors *detectors; /* NULL: no own ones */
    struct writ_views detecting; /* "name@version" of the detectors that rules use, in order */
    const struct writ_flow_rule *flows;
    size_t flows_n;
    const struct writ_tasks *tasks; /* NULL: no caller states a task */
    /* of resources and prompts, by `written`: NULL for untrusted; model/flow.h */
    const struct writ_labels *const *read_labels;
    const struct writ_resources *resources; /* by `written`; NULL: none */
    bool follows_values;                    /* some rule asks where values of a run came from */
    const struct writ_policy *policy;       /* tools and defaults, compiled: policy.h */
    struct writ_digest policy_digest;       /* over everything that can change a decision */
    struct writ_view policy_text; /* the same to be read, without secrets: canonical JSON */
    struct writ_odd_config definitions;
    struct writ_limits limits;
    struct writ_sessions_config sessions;
    struct writ_pool_config pool;
    struct writ_credential_config credential;
    struct writ_ledger_config ledger;
    const struct writ_export_config *exports;
    size_t exports_n;
    struct writ_telemetry_config telemetry;
    const struct writ_notify_config *notify;
    size_t notify_n;
    struct writ_log_config log;
    const struct writ_changes_value *values; /* options that a reload does not take, for changes.c
                                              * alone */
    struct writ_config_owner *owner;         /* its memory and references: for config.c alone */
};

/** An empty configuration with one reference, for its maker to fill; NULL without memory. */
struct writ_config *writ_config_new(void);

/** The memory of a configuration, freed with it. */
struct writ_arena *writ_config_arena(const struct writ_config *config);

/** The patterns of its rules, freed with it. */
struct writ_pattern_list **writ_config_patterns(const struct writ_config *config);

/** Adds a reference to a configuration (thread-safe). Returns `config`. */
const struct writ_config *writ_config_hold(const struct writ_config *config);

/** Drops one reference (thread-safe); the last one frees. NULL is permitted. */
void writ_config_drop(const struct writ_config *config);

/** The upstream of that name, or NULL. */
const struct writ_upstream_config *writ_config_upstream(
    const struct writ_config *config, struct writ_view name);

/** The present `program_digest` of the upstream of that name; NULL: it has none. */
const struct writ_program_config *writ_config_program(
    const struct writ_config *config, struct writ_view name);

/** The labels of resources and prompts of the upstream of that name; NULL: untrusted. */
const struct writ_labels *writ_config_read_labels(
    const struct writ_config *config, struct writ_view upstream);

/** The entry of `reviewers` of that subject, or NULL. */
const struct writ_reviewer_config *writ_config_reviewer(
    const struct writ_config *config, struct writ_view id);

/** The plug-in of that name and digest, or NULL. */
const struct writ_engine_config *writ_config_engine(
    const struct writ_config *config, struct writ_view name, struct writ_view digest);

/** The framework of that name, or NULL. */
const struct writ_framework_config *writ_config_framework(
    const struct writ_config *config, struct writ_view name);

/** Whether a configured upstream or framework of that name runs tools. Without any configured,
 * every name does: such a file is a policy alone. */
bool writ_config_runs_tools(const struct writ_config *config, struct writ_view name);

#endif
