/* changes.h, for every row of option.tbl.h: a reload takes, keeps or refuses each change as its
 * row says. tests/support/policy/options.json has a configuration and a change of each option. */
#include "policy/read/load.h"
#include "support/unit.h"

#include "policy/read/changes.h"

#include <jansson.h>
#include <string.h>

#define DUMP_MAX (1 << 20)

static json_t *
options_json(void)
{
    json_error_t error;
    json_t *all = json_load_file(WRIT_SOURCE_DIR "/tests/support/policy/options.json", 0, &error);

    ck_assert_msg(all != NULL, "options.json:%d: %s", error.line, error.text);
    return all;
}

/* Sets the value at a path such as "upstreams.fs.timeout"; JSON null removes it. */
static void
set(json_t *at, const char *path, json_t *value)
{
    const char *dot = strchr(path, '.');
    size_t n = dot != NULL ? (size_t)(dot - path) : strlen(path);
    char name[128];

    ck_assert_uint_lt(n, sizeof name);
    memcpy(name, path, n);
    name[n] = '\0';
    if (json_is_array(at)) {
        size_t i = (size_t)(name[0] - '0');

        if (dot != NULL) {
            set(json_array_get(at, i), dot + 1, value);
        } else if (i < json_array_size(at)) {
            ck_assert_int_eq(json_array_set(at, i, value), 0);
        } else {
            ck_assert_int_eq(json_array_append(at, value), 0);
        }
    } else if (dot == NULL && json_is_null(value)) {
        ck_assert_msg(json_object_del(at, name) == 0, "%s is not there", path);
    } else if (dot == NULL) {
        ck_assert_int_eq(json_object_set(at, name, value), 0);
    } else {
        if (json_object_get(at, name) == NULL) {
            ck_assert_int_eq(json_object_set_new(at, name, json_object()), 0);
        }
        set(json_object_get(at, name), dot + 1, value);
    }
}

static struct writ_config *
config_of(const json_t *json)
{
    struct writ_config *config = NULL;
    struct writ_err err = {0};
    char *text = json_dumps(json, 0);

    ck_assert_msg(writ_is_ok(writ_load_text(writ_view_str(text), "t", NULL, &config, &err)),
        "%s: %s", text, err.text);
    free(text);
    return config;
}

static struct writ_config *
config_of_text(const char *text)
{
    struct writ_config *config = NULL;
    struct writ_err err = {0};

    ck_assert_msg(writ_is_ok(writ_load_text(writ_view_str(text), "t", NULL, &config, &err)),
        "%s: %s", text, err.text);
    return config;
}

/* ---- the effective configuration, as a text */

static void
put(struct writ_buf *ret, struct writ_view text)
{
    writ_buf_put(ret, text);
    writ_buf_byte(ret, '\n');
}

static void
put_number(struct writ_buf *ret, int64_t number)
{
    writ_buf_fmt(ret, "%lld\n", (long long)number);
}

static void
put_list(struct writ_buf *ret, const struct writ_views *list)
{
    put_number(ret, (int64_t)list->n);
    for (size_t i = 0; i < list->n; i++) {
        put(ret, list->items[i]);
    }
}

static void
put_pairs(struct writ_buf *ret, const struct writ_pairs *pairs)
{
    for (size_t i = 0; i < pairs->n; i++) {
        put(ret, pairs->items[i].name);
        put(ret, pairs->items[i].value);
    }
}

static void
put_agents(struct writ_buf *ret, const struct writ_config *config)
{
    for (size_t i = 0; i < config->agents_n; i++) {
        const struct writ_identity_config *a = &config->agents[i];
        const struct writ_view texts[] = {a->agent.id, a->agent.subject, a->agent.tenant,
            a->agent.role, a->agent.credential_scope, a->agent.credential_tier, a->agent.scopes,
            a->certificate, a->issuer, a->audience, a->jwks, a->claims.id, a->claims.tenant,
            a->claims.role, a->claims.credential_scope, a->claims.credential_tier,
            a->claims.scopes};

        put_number(ret, (int64_t)a->kind);
        for (size_t j = 0; j < sizeof texts / sizeof texts[0]; j++) {
            put(ret, texts[j]);
        }
        writ_hex_put(ret, a->bearer.bytes, sizeof a->bearer.bytes);
        put_list(ret, &a->required_scopes);
    }
}

static void
put_upstreams(struct writ_buf *ret, const struct writ_config *config)
{
    for (size_t i = 0; i < config->upstreams_n; i++) {
        const struct writ_upstream_config *u = &config->upstreams[i];
        const struct writ_view texts[] = {
            u->name, u->directory, u->http, u->ca, u->resource, u->credential_header};
        const int64_t numbers[] = {(int64_t)u->kind, (int64_t)u->sharing, u->children, u->idle_us,
            u->start_timeout_us, u->connections, u->connect_timeout_us, u->credential_meta,
            u->required, u->timeout_us, u->list_timeout_us, u->refresh_us};

        for (size_t j = 0; j < sizeof texts / sizeof texts[0]; j++) {
            put(ret, texts[j]);
        }
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++) {
            put_number(ret, numbers[j]);
        }
        put_list(ret, &u->stdio);
        put_list(ret, &u->inherit);
        put_pairs(ret, &u->environment);
    }
}

static void
put_authorizations(struct writ_buf *ret, const struct writ_config *config)
{
    for (size_t i = 0; i < config->upstreams_n; i++) {
        const struct writ_authorization_config *a = config->upstreams[i].authorization;

        if (a != NULL) {
            const struct writ_view texts[] = {a->file, a->variable, a->key, a->header, a->scheme,
                a->client_id, a->issuer, a->token_endpoint, a->resource, a->scopes};

            for (size_t j = 0; j < sizeof texts / sizeof texts[0]; j++) {
                put(ret, texts[j]);
            }
        }
    }
}

static void
put_limits(struct writ_buf *ret, const struct writ_config *config)
{
    const struct writ_limits *l = &config->limits;
    const struct writ_ledger_config *g = &config->ledger;
    const int64_t numbers[] = {l->body_bytes, l->agent_percent, l->tenant_percent, l->header_bytes,
        l->json_depth, l->json_values, l->string_bytes, l->request_bytes, l->response_bytes,
        l->event_bytes, l->connections, l->in_flight, l->queue, l->sessions, l->idle_timeout_us,
        l->head_timeout_us, l->body_timeout_us, config->sessions.idle_expires_us,
        config->sessions.window_us, config->sessions.wait_us, config->pool.entries,
        config->pool.entry_bytes, config->pool.tenant_bytes, config->pool.tags,
        config->pool.keep_us, g->claims_kept_us, g->clock_tolerance_us, g->busy_timeout_us,
        g->scrub_every_us, (int64_t)config->log.level};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        put_number(ret, numbers[i]);
    }
    put(ret, g->pinned);
    put(ret, g->remember);
    for (size_t i = 0; i < g->anchors_n; i++) {
        put(ret, g->anchors[i].to);
        put(ret, g->anchors[i].ca);
        put_number(ret, g->anchors[i].every_us);
    }
    for (size_t i = 0; i < config->exports_n; i++) {
        const struct writ_export_config *e = &config->exports[i];
        const struct writ_view texts[] = {
            e->name, e->to, e->cursor, e->token, e->scheme, e->ca, e->cert, e->key};

        for (size_t j = 0; j < sizeof texts / sizeof texts[0]; j++) {
            put(ret, texts[j]);
        }
        put_number(ret, e->format);
        put_number(ret, e->plain_close);
    }
}

/* It does not have how reviewers are reached: running ones keep that of the start. Their questions
 * are in the policy's digest. */
static void
dump(struct writ_buf *ret, const struct writ_config *config)
{
    const struct writ_view texts[] = {config->public_origin, config->public_path, config->admin_url,
        config->separator, config->issuer, config->keys, config->engines_folder, config->tls.cert,
        config->tls.key, config->tls.client_ca, config->admin_tls.cert, config->admin_tls.key,
        config->admin_tls.client_ca, config->credential.typ};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        put(ret, texts[i]);
    }
    put_number(ret, config->credential.lifetime_us);
    put_number(ret, (int64_t)config->credential.alg);
    put_list(ret, &config->hosts);
    put_list(ret, &config->origins);
    put_list(ret, &config->auditors);
    put_list(ret, &config->administrators);
    put_list(ret, &config->content_readers);
    put_agents(ret, config);
    put_upstreams(ret, config);
    for (size_t i = 0; i < config->frameworks_n; i++) {
        put(ret, config->frameworks[i].name);
        put(ret, config->frameworks[i].resource);
        put_number(ret, config->frameworks[i].timeout_us);
    }
    put_limits(ret, config);
    ck_assert_ok(writ_buf_check(ret, NULL));
}

/* ---- every option */

static const struct writ_setting *
setting_of(const char *section, const char *name)
{
    size_t n;
    const struct writ_setting *settings = writ_setting_all(&n);

    for (size_t i = 0; i < n; i++) {
        if (writ_view_is(writ_view_str(writ_setting_section(settings[i].section)->id), section) &&
            writ_view_is(writ_view_str(settings[i].name), name)) {
            return &settings[i];
        }
    }
    ck_abort_msg("options.json changes %s of %s, which is not in the table", name, section);
}

/* The path of the option: the changed value, or a member of it. */
static void
put_path(struct writ_buf *ret, const char *changed, const char *name)
{
    const char *dot = strrchr(changed, '.');

    writ_buf_str(ret, changed);
    if (!writ_view_is(writ_view_str(dot != NULL ? dot + 1 : changed), name)) {
        writ_buf_fmt(ret, ".%s", name);
    }
}

/* What has one value alone, or is looked at only while the file is read. */
static bool
has_no_effect(const struct writ_setting *s)
{
    return s->words != NULL && s->words[1].word == NULL
               ? true
               : s->section == WRIT_SECTION_upstream &&
                     writ_view_is(writ_view_str(s->name), "insecure");
}

static void
expect_taken(const struct writ_config *start, struct writ_config *fresh,
    const struct writ_setting *s, const char *path)
{
    writ_auto_buf before = writ_buf_make(DUMP_MAX), after = writ_buf_make(DUMP_MAX);
    bool same;

    put_authorizations(&before, start); /* taken before upstreams are those of the start */
    put_authorizations(&after, fresh);
    writ_changes_keep(start, fresh);
    dump(&before, start);
    dump(&after, fresh);
    same = writ_view_equal(writ_buf_view(&before), writ_buf_view(&after));
    if (s->reload == WRIT_RELOAD_LIVE && !has_no_effect(s)) {
        ck_assert_msg(!same || !writ_digest_equal(&start->policy_digest, &fresh->policy_digest),
            "%s is live, and is not taken", path);
    } else {
        ck_assert_msg(same, "%s waits for a restart, and is taken", path);
    }
}

static void
expect_change(const json_t *base, const json_t *change)
{
    const char *section = json_string_value(json_array_get(change, 0));
    const char *name = json_string_value(json_array_get(change, 1));
    const struct writ_setting *s = setting_of(section, name);
    json_t *changed = json_deep_copy(base);
    struct writ_config *start = config_of(base), *fresh;
    writ_auto_buf waits = writ_buf_make(WRIT_CHANGES_NAMES_MAX), path = writ_buf_make(200);
    struct writ_err err = {0};
    writ_result result;

    for (size_t i = 2; i + 1 < json_array_size(change); i += 2) {
        set(changed, json_string_value(json_array_get(change, i)), json_array_get(change, i + 1));
    }
    put_path(&path, json_string_value(json_array_get(change, 2)), name);
    writ_buf_byte(&path, '\0');
    path.len--;
    fresh = config_of(changed);
    result = writ_changes_check(start, fresh, &waits, &err);
    if (s->reload == WRIT_RELOAD_REFUSED) {
        struct writ_view text = writ_view_str(err.text);

        ck_assert_msg(result.code == WRIT_E_INVALID, "%s is not refused", path.ptr);
        ck_assert_msg(
            writ_view_has_suffix(text, WRIT_LIT(": restart the gateway to change them")) &&
                writ_view_equal(
                    writ_view_sub(text, 0, writ_view_find(text, ':')), writ_buf_view(&path)),
            "%s: %s", path.ptr, err.text);
    } else {
        ck_assert_msg(writ_is_ok(result), "%s: %s", path.ptr, err.text);
        ck_assert_msg(s->reload == WRIT_RELOAD_LIVE
                          ? waits.len == 0
                          : writ_view_equal(writ_buf_view(&waits), writ_buf_view(&path)),
            "%s: named are \"" WRIT_VIEW_FMT "\"", path.ptr, WRIT_VIEW_ARG(waits));
        expect_taken(start, fresh, s, path.ptr);
    }
    writ_config_drop(fresh);
    writ_config_drop(start);
    json_decref(changed);
}

START_TEST(reload_of_each_option_follows_its_row)
{
    json_t *all = options_json();
    const json_t *base = json_object_get(all, "base"), *changes = json_object_get(all, "changes");
    const json_t *change;
    size_t i;

    json_array_foreach(changes, i, change)
    {
        expect_change(base, change);
    }
    json_decref(all);
}
END_TEST

START_TEST(every_option_of_the_table_is_changed_by_the_test)
{
    json_t *all = options_json();
    const json_t *changes = json_object_get(all, "changes"), *change;
    size_t n, at;
    const struct writ_setting *settings = writ_setting_all(&n);

    for (size_t i = 0; i < n; i++) {
        /* test_include.c has files to include */
        bool found = settings[i].kind == WRIT_SETTING_INNER ||
                     settings[i].section == WRIT_SECTION_included ||
                     (settings[i].section == WRIT_SECTION_top &&
                         writ_view_is(writ_view_str(settings[i].name), "include"));

        json_array_foreach(changes, at, change)
        {
            found = found || setting_of(json_string_value(json_array_get(change, 0)),
                                 json_string_value(json_array_get(change, 1))) == &settings[i];
        }
        ck_assert_msg(found, "tests/support/policy/options.json has no change of %s of %s",
            settings[i].name, writ_setting_section(settings[i].section)->id);
    }
    json_decref(all);
}
END_TEST

/* ---- equal values, added and removed entries, and names that do not fit */

#define AGENTS  "agents: [{anonymous: true, id: dev}]\n"
#define FS      "fs: {stdio: [server], timeout: 60s}"
#define WEB     "web: {http: 'https://web.example/mcp', connections: 7}"
#define RUNNING AGENTS "upstreams: {" FS ", " WEB "}\n"

static writ_result
check(const char *start_text, const char *fresh_text, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_config *start = config_of_text(start_text), *fresh = config_of_text(fresh_text);
    writ_result result = writ_changes_check(start, fresh, ret, err);

    writ_config_drop(fresh);
    writ_config_drop(start);
    return result;
}

static void
expect_waits(const char *start, const char *fresh, const char *names)
{
    writ_auto_buf waits = writ_buf_make(WRIT_CHANGES_NAMES_MAX);

    ck_assert_ok(check(start, fresh, &waits, NULL));
    ck_assert_view(writ_buf_view(&waits), names);
}

START_TEST(reload_with_an_equal_value_names_no_option)
{
    expect_waits(RUNNING, RUNNING, "");
    expect_waits(RUNNING, RUNNING "limits: {body: 4096KiB}\nhosts: []\nlog: {level: info}\n", "");
    expect_waits(RUNNING "limits: {body: 4MiB}\n", RUNNING, "");
    expect_waits(RUNNING,
        AGENTS "upstreams: {fs: {timeout: 1m, idle: 600s, stdio: [server]}, " WEB "}\n", "");
    expect_waits(RUNNING, AGENTS "upstreams: {" WEB ", " FS "}\n", "");
}
END_TEST

START_TEST(reload_without_an_earlier_option_names_it)
{
    expect_waits(RUNNING "limits: {body: 1MiB}\nhosts: [a]\n", RUNNING, "hosts, limits.body");
    expect_waits(
        RUNNING, AGENTS "upstreams: {fs: {stdio: [server]}, " WEB "}\n", "upstreams.fs.timeout");
}
END_TEST

START_TEST(reviewers_and_anchors_that_come_or_go_are_named)
{
    static const char hook[] =
        RUNNING "reviewers: {x: {webhook: 'https://x.example/', secret: s}}\n";

    expect_waits(RUNNING, hook, "reviewers.x.webhook, reviewers.x.secret");
    expect_waits(hook, RUNNING, "reviewers.x.webhook, reviewers.x.secret");
    expect_waits(RUNNING, RUNNING "reviewers: {x: {instructions: look}}\n", "");
    expect_waits(hook, RUNNING "reviewers: {x: {opinions: [{vote: reject}]}}\n",
        "reviewers.x.webhook, reviewers.x.secret, reviewers.x.opinions");
    expect_waits(RUNNING "ledger: {anchors: [{to: a}]}\n",
        RUNNING "ledger: {anchors: [{to: a}, {to: b}]}\n", "ledger.anchors.1.to");
    expect_waits(RUNNING, RUNNING "ledger: {anchors: [{to: a}, {to: b}]}\n", "ledger.anchors");
    expect_waits(RUNNING "ledger: {anchors: [{to: a}, {to: b}]}\n", RUNNING, "ledger.anchors");
}
END_TEST

START_TEST(reload_with_an_added_removed_or_renamed_upstream_is_refused)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {AGENTS "upstreams: {" FS "}\n", "upstreams.web.http: restart the gateway to change them"},
        {AGENTS "upstreams: {" FS ", " WEB ", more: {stdio: [more]}}\n",
            "upstreams.more.stdio: restart the gateway to change them"},
        {AGENTS "upstreams: {" FS ", wob: {http: 'https://web.example/mcp'}}\n",
            "upstreams.wob.http, upstreams.web.http: restart the gateway to change them"},
        {AGENTS "upstreams: {fs: {http: 'https://web.example/mcp'}, " WEB "}\n",
            "upstreams.fs.stdio, upstreams.fs.http: restart the gateway to change them"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        writ_auto_buf waits = writ_buf_make(WRIT_CHANGES_NAMES_MAX);
        struct writ_err err = {0};

        ck_assert_code(check(RUNNING, rows[i].text, &waits, &err), WRIT_E_INVALID);
        ck_assert_str_eq(err.text, rows[i].why);
    }
}
END_TEST

START_TEST(names_that_do_not_fit_are_counted)
{
    writ_auto_buf waits = writ_buf_make(60);

    ck_assert_ok(check(RUNNING,
        RUNNING "hosts: [a]\norigins: ['https://a']\nlimits: {body: 1MiB, sessions: 3}\n"
                "sessions: {window: 1m}\n",
        &waits, NULL));
    ck_assert_view(writ_buf_view(&waits), "hosts, origins, limits.body and 2 more");
}
END_TEST

WRIT_UNIT_MAIN("changes", reload_of_each_option_follows_its_row,
    every_option_of_the_table_is_changed_by_the_test, reload_with_an_equal_value_names_no_option,
    reload_without_an_earlier_option_names_it, reviewers_and_anchors_that_come_or_go_are_named,
    reload_with_an_added_removed_or_renamed_upstream_is_refused, names_that_do_not_fit_are_counted)
