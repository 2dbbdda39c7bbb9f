#include "support/unit.h"

#include "gateway/fixed.h"

#define AGENTS   "agents: [{anonymous: true, id: dev}]\n"
#define UPSTREAM "upstreams: {fs: {stdio: [server, a]}, web: {http: 'https://x.example/mcp'}}\n"
#define RUNNING  AGENTS UPSTREAM "hosts: [a]\norigins: ['https://a']\nlimits: {body: 1MiB}\n"

static struct writ_config *
config_of(const char *text)
{
    struct writ_config *config = NULL;
    struct writ_err err = {0};

    ck_assert_msg(writ_is_ok(writ_config_read(writ_view_str(text), "t", NULL, &config, &err)),
        "%s: %s", text, err.text);
    return config;
}

static writ_result
check(const char *text, struct writ_err *err)
{
    struct writ_config *running = config_of(RUNNING), *fresh = config_of(text);
    writ_result r = writ_fixed_check(running, fresh, err);

    writ_config_drop(fresh);
    writ_config_drop(running);
    return r;
}

START_TEST(what_only_a_restart_can_take_is_refused_by_name)
{
    static const struct {
        const char *text, *name;
    } rows[] = {
        {RUNNING "listen: 127.0.0.1:1\n", "listen:"},
        {RUNNING "admin_listen: 127.0.0.1:1\n", "admin_listen:"},
        {RUNNING "store: sqlite://other.db\n", "store:"},
        {RUNNING "profile: vaara-v0\n", "profile:"},
        {RUNNING "loops: 7\n", "loops:"},
        {RUNNING "tls: {cert: a, key: b}\n", "switching tls on or off:"},
        {RUNNING "admin_tls: {cert: a, key: b}\n", "switching admin_tls on or off:"},
        {AGENTS "upstreams: {fs: {stdio: [server, a]}}\n", "upstream"},
        {AGENTS "upstreams: {fs: {stdio: [server]}, web: {http: 'https://x.example/mcp'}}\n",
            "upstream"},
        {AGENTS "upstreams: {fs: {stdio: [server, a]}, web: {http: 'https://y.example/mcp'}}\n",
            "upstream"},
        {AGENTS "upstreams: {fs: {stdio: [server, a]}, wob: {http: 'https://x.example/mcp'}}\n",
            "upstream"},
    };

    ck_assert_ok(check(RUNNING, NULL));
    ck_assert_ok(check(AGENTS UPSTREAM "sessions: {window: 1m}\n", NULL));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writ_err err = {0};

        ck_assert_code(check(rows[i].text, &err), WRIT_E_INVALID);
        ck_assert_msg(writ_view_search(writ_view_str(err.text), writ_view_str(rows[i].name)) <
                          writ_view_str(err.text).len,
            "%s: %s", rows[i].name, err.text);
    }
}
END_TEST

START_TEST(the_rest_keeps_its_value_and_is_told)
{
    struct writ_config *running = config_of(RUNNING);
    struct writ_config *fresh = config_of(AGENTS
        "upstreams: {fs: {stdio: [server, a], environment: {A: b}, inherit: [C], directory: /d,\n"
        "  timeout: 9s, list_timeout: 9s, credential: {meta: false}}, web: {http: "
        "'https://x.example/mcp',\n"
        "  connections: 3, connect_timeout: 1s, resource: r, credential: {header: X}}}\n"
        "hosts: [a, b]\norigins: []\nlimits: {body: 2MiB, sessions: 3}\nlog: {level: debug}\n"
        "sessions: {window: 1m}\nledger: {busy_timeout: 1s}\ncredential: {lifetime: 9s}\n");
    writ_auto_buf names = writ_buf_make(WRIT_FIXED_NAMES_MAX);

    writ_fixed_keep(running, fresh, &names);
    ck_assert_ok(writ_buf_check(&names, NULL));
    ck_assert_view(writ_buf_view(&names),
        "limits.body, limits.sessions, sessions.window, ledger.busy_timeout, hosts, origins, "
        "log.level, upstreams.fs.environment, upstreams.fs.inherit, upstreams.fs.directory, "
        "upstreams.fs.credential.meta, upstreams.fs.timeout, upstreams.fs.list_timeout, "
        "upstreams.web.connections, "
        "upstreams.web.connect_timeout, upstreams.web.resource, "
        "upstreams.web.credential.header");
    ck_assert_int_eq(fresh->limits.body_bytes, 1 << 20);
    ck_assert_int_eq(fresh->limits.sessions, running->limits.sessions);
    ck_assert_int_eq(fresh->sessions.window_us, running->sessions.window_us);
    ck_assert_int_eq(fresh->ledger.busy_timeout_us, running->ledger.busy_timeout_us);
    ck_assert_int_eq(fresh->log.level, running->log.level);
    ck_assert_uint_eq(fresh->hosts.n, 1);
    ck_assert_uint_eq(fresh->origins.n, 1);
    ck_assert_ptr_eq(fresh->upstreams, running->upstreams);
    ck_assert_int_eq(fresh->credential.lifetime_us, 9000000); /* this is new with a reload */
    writ_config_drop(fresh);
    writ_config_drop(running);
}
END_TEST

START_TEST(what_is_the_same_is_not_told)
{
    struct writ_config *running = config_of(RUNNING), *fresh = config_of(RUNNING "tools: {}\n");
    writ_auto_buf names = writ_buf_make(WRIT_FIXED_NAMES_MAX);

    writ_fixed_keep(running, fresh, &names);
    ck_assert_uint_eq(names.len, 0);
    writ_config_drop(fresh);
    writ_config_drop(running);
}
END_TEST

WRIT_UNIT_MAIN("fixed", what_only_a_restart_can_take_is_refused_by_name,
    the_rest_keeps_its_value_and_is_told, what_is_the_same_is_not_told)
