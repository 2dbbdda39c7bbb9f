/* Reads a file in the order of dependence: options, agents, upstreams, reviewers, reviews, tools.
 * Each reader adds findings and continues. A configuration is returned only without an error; until
 * then it is dropped completely. */
#include "policy/read/load.h"

#include "base/text.h"
#include "evidence/record/profile.h"
#include "policy/model/host.h"
#include "policy/read/agents.h"
#include "policy/read/canonical.h"
#include "policy/read/detectors.h"
#include "policy/read/doubts.h"
#include "policy/read/fragment.h"
#include "policy/read/flows.h"
#include "policy/read/include.h"
#include "policy/read/placeholder.h"
#include "policy/read/notify.h"
#include "policy/read/reviewers.h"
#include "policy/read/reviews.h"
#include "policy/read/rules.h"
#include "policy/read/telemetry.h"
#include "policy/read/upstreams.h"

#define CANONICAL_MAX (16 * 1024 * 1024) /* preimage of policy_digest */

/* The state of a reading. */
struct loading {
    struct writ_options o;
    struct writ_config *config;
    const struct writ_yaml *root;
    struct writ_raw_top top;
};

static void
check_tls(struct loading *l, const struct writ_tls_config *tls,
    const struct writ_listen_address *address, const char *name)
{
    const struct writ_yaml *node = writ_option_of(l->root, name);

    if (node != NULL && address->path.len > 0) {
        WRIT_OPTION_FAULT(&l->o, node, "a Unix socket has no TLS: remove it");
        return;
    }
    if (node != NULL && (tls->cert.len == 0 || tls->key.len == 0)) {
        WRIT_OPTION_FAULT(&l->o, node, "needs both cert and key");
    }
}

/* Whether the name of any parameter ends with "password", or hides its letters: libpq decodes them
 * (%77 is w). */
static bool
names_password(struct writ_view query)
{
    while (query.len > 0) {
        size_t end = writ_view_find(query, '&');
        struct writ_view pair = writ_view_sub(query, 0, end);
        struct writ_view name = writ_view_sub(pair, 0, writ_view_find(pair, '='));

        if (writ_view_has_suffix(name, WRIT_LIT("password")) ||
            writ_view_find(name, '%') < name.len) {
            return true;
        }
        query = writ_view_sub(query, end + 1, query.len);
    }
    return false;
}

/* The configuration has no password: neither user:password@ nor a parameter. */
static void
check_shared(struct loading *l, struct writ_view store)
{
    struct writ_view rest = writ_view_sub(store, writ_view_find(store, '/') + 2, store.len);
    struct writ_view user = writ_view_sub(rest, 0, writ_view_find(rest, '@'));
    struct writ_view query = writ_view_sub(rest, writ_view_find(rest, '?'), rest.len);

    if ((user.len < rest.len && writ_view_find(user, ':') < user.len) || names_password(query)) {
        WRIT_OPTION_FAULT(&l->o, writ_option_of(l->root, "store"),
            "has a password: put it into a file that `passfile=` names, or into PGPASSWORD");
    }
}

static void
read_store(struct loading *l)
{
    struct writ_view store = l->top.store;
    struct writ_view files = l->top.ledger.files;

    if (writ_host_is_database(store)) {
        check_shared(l, store);
        l->config->store = writ_option_join(&l->o, store.ptr, WRIT_LIT(""));
        l->config->files = writ_option_join(
            &l->o, "", files.len > 0 ? files : writ_option_path(&l->o, WRIT_LIT("ledger")));
        return;
    }
    if (writ_view_has_prefix(store, WRIT_LIT("sqlite://"))) {
        store = writ_view_sub(store, 9, store.len);
    } else if (writ_host_is_url(store) || writ_view_has_prefix(store, WRIT_LIT("sqlite:"))) {
        WRIT_OPTION_FAULT(&l->o, writ_option_of(l->root, "store"),
            "must be sqlite:// and a path, or postgresql:// and hosts");
    }
    if (store.len == 0 && l->top.store.len > 0) {
        WRIT_OPTION_FAULT(&l->o, writ_option_of(l->root, "store"), "lacks the path");
    }
    l->config->store = writ_option_join(&l->o, "", writ_option_path(&l->o, store));
    l->config->files = l->config->store;
}

static void
check_hosts(struct loading *l)
{
    for (size_t i = 0; i < l->top.hosts.n; i++) {
        if (!writ_host_is_entry(l->top.hosts.items[i])) {
            WRIT_OPTION_FAULT(&l->o, writ_option_of(l->root, "hosts"),
                "element %zu is not a host in lower case, with an optional port", i);
        }
    }
    for (size_t i = 0; i < l->top.origins.n; i++) {
        struct writ_url url;
        if (!writ_is_ok(writ_host_read_url(l->top.origins.items[i], &url)) || url.rest.len > 0) {
            WRIT_OPTION_FAULT(&l->o, writ_option_of(l->root, "origins"),
                "element %zu is not an origin such as https://app.example.com", i);
        }
    }
}

/* A URL that a path is appended to; other software quotes it. */
static bool
read_base_url(struct loading *l, const char *name, struct writ_view text, struct writ_url *ret)
{
    bool odd = false;

    if (text.len == 0) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) { /* a header quotes it */
        odd = odd || text.ptr[i] == '"' || text.ptr[i] == '?' || text.ptr[i] == '#';
    }
    if (odd || text.ptr[text.len - 1] == '/' || !writ_is_ok(writ_host_read_url(text, ret))) {
        WRIT_OPTION_FAULT(&l->o, writ_option_of(l->root, name),
            "must be an http or https URL without query, fragment and a slash at its end");
        return false;
    }
    return true;
}

static void
read_base_urls(struct loading *l)
{
    struct writ_view text = l->top.public_url;
    struct writ_url url;

    /* "https://gateway.example/writ" in two parts: clients look for the metadata between them (RFC
     * 9728 3.1) */
    if (read_base_url(l, "public_url", text, &url)) {
        l->config->public_path = url.rest;
        l->config->public_origin = writ_view_sub(text, 0, text.len - url.rest.len);
    }
    if (read_base_url(l, "admin_url", l->top.admin_url, &url)) {
        l->config->admin_url = l->top.admin_url;
    }
}

/* The characters that SDKs and model APIs accept in names. */
static void
read_separator(struct loading *l)
{
    struct writ_view text = l->top.separator;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '-' && c != '.') {
            WRIT_OPTION_FAULT(&l->o, writ_option_of(l->root, "separator"),
                "must consist of letters, digits, '_', '-' and '.'");
            return;
        }
    }
    l->config->separator = text;
}

static void
read_anchor(struct loading *l, const struct writ_yaml *node, struct writ_anchor_config *ret)
{
    struct writ_raw_anchor raw = {0};
    bool url;

    writ_option_read(&l->o, WRIT_SECTION_anchor, node, &raw);
    url = writ_host_is_url(raw.to);
    if (url && !writ_host_is_protected(raw.to)) {
        WRIT_OPTION_FAULT(&l->o, writ_option_of(node, "to"),
            "must be a file, an https URL, or an http URL on loopback");
    }
    if (raw.ca.len > 0 && !(url && writ_view_has_prefix(raw.to, WRIT_LIT("https:")))) {
        WRIT_OPTION_FAULT(&l->o, writ_option_of(node, "ca"), "is only for an https URL");
    }
    *ret = (struct writ_anchor_config){.to = url ? raw.to : writ_option_path(&l->o, raw.to),
        .ca = raw.ca,
        .every_us = raw.every_us};
}

static void
read_anchors(struct loading *l, const struct writ_yaml *list)
{
    struct writ_anchor_config *anchors;
    size_t n = 0;

    if (list == NULL) {
        return;
    }
    if (list->type != WRIT_YAML_LIST || list->count > WRIT_ANCHORS_MAX) {
        WRIT_OPTION_FAULT(&l->o, list, "must be a list of at most %d anchors", WRIT_ANCHORS_MAX);
        return;
    }
    anchors = writ_option_memory(&l->o, list->count, sizeof *anchors);
    for (const struct writ_yaml *node = list->first; anchors != NULL && node != NULL;
         node = node->next) {
        read_anchor(l, node, &anchors[n++]);
    }
    l->config->ledger.anchors = anchors;
    l->config->ledger.anchors_n = n;
}

static bool
is_name(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '-' || c == '_')) {
            return false;
        }
    }
    return true;
}

static void
check_export(struct loading *l, const struct writ_yaml *node, const struct writ_raw_export *raw)
{
    bool https = writ_view_has_prefix(raw->to, WRIT_LIT("https:"));
    bool tls = writ_view_has_prefix(raw->to, WRIT_LIT("syslog+tls://"));

    if (!is_name(raw->name)) {
        WRIT_OPTION_FAULT(
            &l->o, writ_option_of(node, "name"), "must consist of letters, digits, '-' and '_'");
    }
    if (raw->to.len > 0 && !tls && !writ_view_has_prefix(raw->to, WRIT_LIT("syslog+tcp://")) &&
        !(writ_host_is_url(raw->to) && writ_host_is_protected(raw->to))) {
        WRIT_OPTION_FAULT(&l->o, writ_option_of(node, "to"),
            "must be an https URL, an http URL on loopback, syslog+tls://HOST:PORT, or "
            "syslog+tcp://127.0.0.1:PORT");
    }
    if (!https && !tls && (raw->ca.len > 0 || raw->cert.len > 0)) {
        WRIT_OPTION_FAULT(&l->o, node, "ca and cert are only for https and syslog+tls");
    }
    if ((raw->cert.len > 0) != (raw->key.len > 0)) {
        WRIT_OPTION_FAULT(&l->o, node, "a client certificate needs both cert and key");
    }
    if (raw->token.len > 0 && writ_view_has_prefix(raw->to, WRIT_LIT("syslog"))) {
        WRIT_OPTION_FAULT(&l->o, writ_option_of(node, "token"), "is only for an https URL");
    }
    if (raw->plain_close && !tls) {
        WRIT_OPTION_FAULT(&l->o, writ_option_of(node, "plain_close"), "is only for syslog+tls");
    }
}

static void
read_export(struct loading *l, const struct writ_yaml *node, struct writ_export_config *ret)
{
    struct writ_raw_export raw = {0};
    writ_auto_buf beside = writ_buf_make(256);

    writ_option_read(&l->o, WRIT_SECTION_export, node, &raw);
    if (raw.to.len > 0) { /* else it is reported as missing */
        check_export(l, node, &raw);
    }
    writ_buf_str(&beside, ".export-");
    writ_buf_put(&beside, raw.name);
    *ret = (struct writ_export_config){.name = raw.name,
        .to = raw.to,
        .cursor = raw.cursor.len > 0
                      ? raw.cursor
                      : writ_option_join(&l->o, l->config->files.ptr, writ_buf_view(&beside)),
        .format = raw.format,
        .token = raw.token,
        .scheme = raw.scheme,
        .ca = raw.ca,
        .cert = raw.cert,
        .key = raw.key,
        .plain_close = raw.plain_close};
}

static void
read_exports(struct loading *l)
{
    const struct writ_yaml *list = l->top.exports;
    struct writ_export_config *exports;
    size_t n = 0;

    if (list == NULL) {
        return;
    }
    if (list->type != WRIT_YAML_LIST || list->count > WRIT_EXPORTS_MAX) {
        WRIT_OPTION_FAULT(&l->o, list, "must be a list of at most %d exports", WRIT_EXPORTS_MAX);
        return;
    }
    exports = writ_option_memory(&l->o, list->count, sizeof *exports);
    for (const struct writ_yaml *node = list->first; exports != NULL && node != NULL;
         node = node->next) {
        read_export(l, node, &exports[n]);
        for (size_t i = 0; i < n; i++) {
            if (writ_view_equal(exports[i].name, exports[n].name)) {
                WRIT_OPTION_FAULT(&l->o, writ_option_of(node, "name"),
                    "is the name of another export too: each has its own cursor");
            }
        }
        n++;
    }
    l->config->exports = exports;
    l->config->exports_n = n;
}

static void
read_ledger(struct loading *l)
{
    const struct writ_raw_ledger *raw = &l->top.ledger;

    l->config->ledger = (struct writ_ledger_config){
        .claims_kept_us = raw->claims_kept_us,
        .clock_tolerance_us = raw->clock_tolerance_us,
        .busy_timeout_us = raw->busy_timeout_us,
        .scrub_every_us = raw->scrub_every_us,
        .gateway = raw->gateway,
        .lease_us = raw->lease_us,
        .alone = raw->replication != 0,
    };
    if (raw->pinned.len > 0) {
        l->config->ledger.pinned = writ_option_join(&l->o, "", raw->pinned);
    }
    l->config->ledger.remember =
        raw->remember.len > 0
            ? writ_option_join(&l->o, "", raw->remember)
            : writ_option_join(&l->o, l->config->files.ptr, WRIT_LIT(".remembered"));
    read_anchors(l, raw->anchors);
}

static void
read_top(struct loading *l)
{
    struct writ_config *c = l->config;
    const struct writ_yaml *profile = writ_option_of(l->root, "profile");

    writ_option_read(&l->o, WRIT_SECTION_top, l->root, &l->top);
    c->listen = l->top.listen;
    c->admin_listen = l->top.admin_listen;
    c->tls = l->top.tls;
    c->admin_tls = l->top.admin_tls;
    c->loops = l->top.loops;
    c->hosts = l->top.hosts;
    c->origins = l->top.origins;
    c->auditors = l->top.auditors;
    c->administrators = l->top.administrators;
    c->content_readers = l->top.content_readers;
    c->issuer = l->top.issuer;
    c->engines_folder = l->top.engines;
    c->keys = l->top.keys;
    c->profile = profile != NULL && profile->type == WRIT_YAML_SCALAR
                     ? profile->text
                     : writ_profile_default()->name;
    c->definitions = l->top.definitions;
    c->limits = l->top.limits;
    c->sessions = l->top.sessions;
    c->pool = l->top.pool;
    c->credential = l->top.credential;
    read_store(l);
    read_ledger(l); /* after its place is known */
    read_exports(l);
    writ_telemetry_read(&l->o, l->root, &l->top.telemetry, &c->telemetry);
    c->log = l->top.log;
    check_tls(l, &c->tls, &c->listen, "tls");
    check_tls(l, &c->admin_tls, &c->admin_listen, "admin_tls");
    check_hosts(l);
    read_separator(l);
    read_base_urls(l);
}

/* The digest over everything that can change a decision. */
static WRIT_RESULT
digest_policy(struct loading *l)
{
    writ_auto_buf canonical = writ_buf_make(CANONICAL_MAX);
    writ_result result = writ_canonical_policy(&l->top, l->root, l->config, l->o.arena, &canonical);

    if (result.code == WRIT_E_LIMIT) {
        WRIT_OPTION_FAULT(
            &l->o, l->root, "the tools take more than %d bytes as JSON", CANONICAL_MAX);
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&canonical), &l->config->policy_digest, NULL));
    writ_buf_clear(&canonical);
    WRIT_TRY(writ_canonical_shown(&l->top, l->root, l->config, l->o.arena, &canonical));
    l->config->policy_text = writ_view_copy(writ_buf_view(&canonical), l->o.arena);
    return (writ_result){l->config->policy_text.ptr == NULL ? WRIT_E_NOMEM : WRIT_OK};
}

static WRIT_RESULT
read_all(struct loading *l, struct writ_view text)
{
    WRIT_TRY(writ_yaml_read(text, l->o.arena, l->o.findings, &l->root));
    if (l->root->type != WRIT_YAML_MAP) {
        WRIT_OPTION_FAULT(&l->o, l->root, "a configuration is a map of options");
        return (writ_result){WRIT_E_INVALID};
    }
    l->root = writ_fragment_put(&l->o, l->root, l->config->file);
    writ_placeholder_refuse(&l->o, l->root);
    l->root = writ_include_read(&l->o, l->root, l->config);
    read_top(l);
    writ_agents_read(&l->o, l->root, l->top.agents, l->config);
    writ_upstreams_read(&l->o, l->root, &l->top, l->config);
    writ_upstreams_frameworks(&l->o, l->top.frameworks, l->config);
    writ_detectors_read(&l->o, l->top.detectors, l->config, writ_config_patterns(l->config));
    WRIT_TRY(
        writ_reviewers_read(&l->o, l->top.reviewers, l->config, writ_config_patterns(l->config)));
    WRIT_TRY(writ_reviews_read(&l->o, l->top.reviews, l->config));
    writ_notify_read(&l->o, l->top.notify, l->config);
    l->config->policy = writ_rules_read(
        &l->o, l->top.tools, &l->top.defaults, l->config, writ_config_patterns(l->config));
    writ_flows_read(&l->o, &l->top, l->config, writ_config_patterns(l->config));
    writ_detectors_used(&l->o, l->config);
    writ_doubts_warn(&l->o, l->root, &l->top, l->config);
    if (l->top.tools == NULL) {
        WRIT_OPTION_WARN(&l->o, l->root, "no tools: every call is denied");
    }
    if (l->o.nomem) {
        return (writ_result){WRIT_E_NOMEM};
    }
    l->config->values = l->o.values;
    WRIT_TRY(digest_policy(l));
    return l->o.findings->errors > 0 ? (writ_result){WRIT_E_INVALID} : WRIT_DONE;
}

/* The first error, for callers that show one line. */
static writ_result
tell_first(const struct writ_findings *findings, const char *file, writ_result result,
    struct writ_err *err)
{
    for (size_t i = 0; i < findings->n; i++) {
        const struct writ_finding *f = &findings->items[i];
        if (f->severity == WRIT_SEVERITY_ERROR) {
            (void)writ_fail(err, result.code,
                WRIT_VIEW_FMT ":%zu: " WRIT_VIEW_FMT "%s" WRIT_VIEW_FMT,
                WRIT_VIEW_ARG(f->file.len > 0 ? f->file : writ_view_str(file)), f->line,
                WRIT_VIEW_ARG(f->pointer), f->pointer.len > 0 ? ": " : "",
                WRIT_VIEW_ARG(f->message));
            if (err != NULL) {
                err->line = f->line;
            }
            return result;
        }
    }
    WRIT_FAIL(err, result.code, "%s: %s", file,
        result.code == WRIT_E_NOMEM ? "no memory for the configuration" : "cannot be read");
}

static void
config_freep(struct writ_config **config)
{
    writ_config_drop(*config);
}

/* Where a text comes from. */
struct origin {
    const char *file;
    struct writ_view folder, edited, edited_text;
    struct writ_fragment *fragment; /* NULL: none */
};

static WRIT_RESULT
read_config(struct writ_view text, const struct origin *origin, struct writ_findings *findings,
    struct writ_config **ret)
{
    WRIT_AUTO(struct writ_config *, config_freep) config = writ_config_new();
    struct loading l = {.config = config};
    struct writ_arena *arena;

    if (config == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    if (text.len > WRIT_CONFIG_BYTES_MAX) {
        writ_findings_add(findings, WRIT_SEVERITY_ERROR, 0, writ_view(NULL, 0),
            "longer than %d bytes", WRIT_CONFIG_BYTES_MAX);
        return (writ_result){WRIT_E_LIMIT};
    }
    arena = writ_config_arena(config);
    l.o = (struct writ_options){.arena = arena,
        .findings = findings,
        .folder = origin->folder,
        .edited = origin->edited,
        .edited_text = origin->edited_text,
        .fragment = origin->fragment};
    config->file = writ_view_copy(writ_view_str(origin->file), arena);
    if (config->file.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(read_all(&l, text));
    *ret = WRIT_TAKE(config);
    return WRIT_DONE;
}

static WRIT_RESULT
read_from(struct writ_view text, const struct origin *origin, struct writ_findings *findings,
    struct writ_config **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) own = {0};
    struct writ_findings *used = findings != NULL ? findings : &own;
    struct writ_config *config = NULL;
    writ_result result = read_config(text, origin, used, &config);

    writ_findings_sort(used);
    if (!writ_is_ok(result)) {
        return tell_first(used, origin->file, result, err);
    }
    *ret = config;
    return WRIT_DONE;
}

WRIT_RESULT
writ_load_text(struct writ_view text, const char *file, struct writ_findings *findings,
    struct writ_config **ret, struct writ_err *err)
{
    const struct origin origin = {.file = file};

    return read_from(text, &origin, findings, ret, err);
}

static WRIT_RESULT
load(struct origin *origin, struct writ_findings *findings, struct writ_config **ret,
    struct writ_err *err)
{
    const struct writ_options edited = {
        .edited = origin->edited, .edited_text = origin->edited_text};
    writ_auto_buf text = writ_buf_make(WRIT_CONFIG_BYTES_MAX);
    writ_auto_buf folder = writ_buf_make(WRIT_TEXT_PATH_MAX);

    WRIT_TRY(writ_option_file(&edited, origin->file, &text, err));
    WRIT_TRY(writ_text_folder(origin->file, &folder, err));
    origin->folder = writ_buf_view(&folder);
    return read_from(writ_buf_view(&text), origin, findings, ret, err);
}

WRIT_RESULT
writ_load_file(const char *path, struct writ_findings *findings, struct writ_config **ret,
    struct writ_err *err)
{
    struct origin origin = {.file = path};

    return load(&origin, findings, ret, err);
}

WRIT_RESULT
writ_load_edited(const char *path, struct writ_view edited, struct writ_view text,
    struct writ_config **ret, struct writ_err *err)
{
    struct origin origin = {.file = path, .edited = edited, .edited_text = text};

    return load(&origin, NULL, ret, err);
}

WRIT_RESULT
writ_load_tools(const char *path, struct writ_view file, struct writ_view text,
    struct writ_config **ret, struct writ_err *err)
{
    struct writ_fragment fragment = {.file = file, .text = text};
    struct origin origin = {.file = path, .fragment = &fragment};
    struct writ_config *config = NULL;

    if (text.len > WRIT_CONFIG_BYTES_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "edit: longer than %d bytes", WRIT_CONFIG_BYTES_MAX);
    }
    WRIT_TRY(load(&origin, NULL, &config, err));
    if (!fragment.taken) {
        writ_config_drop(config);
        WRIT_FAIL(err, WRIT_E_ABSENT, "the configuration has no file of that name");
    }
    *ret = config;
    return WRIT_DONE;
}
