/* The configuration as a whole: defaults, contradictions, warnings and limits. All faults are
 * reported at once, and the policy digest changes exactly when a decision can change. */
#include "policy/model/config.h"
#include "policy/read/load.h"
#include "support/policy/ruling.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#define USER                                                                                       \
    "must not have a user or a password before its host. Put the secret into a file, and name "    \
    "the file\n"
static const char whole[] =
    "listen: 127.0.0.1:8700\n"
    "admin_listen: \"[::1]:8701\"\n"
    "issuer: https://gateway.example.com\n"
    "keys: /etc/writ/keys\n"
    "store: sqlite:///var/lib/writ/ledger.db\n"
    "loops: 2\n"
    "tls: {cert: c.pem, key: k.pem, client_ca: ca.pem}\n"
    "agents:\n"
    "  - {id: dev, tenant: acme, role: operator, credential_scope: files-write,\n"
    "     credential_tier: service-account, bearer_sha256: "
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}\n"
    "  - {issuer: i, audience: a, jwks: keys.json, tenant: t, claims: {role: /r/0}}\n"
    "  - {anonymous: true, id: any}\n"
    "upstreams:\n"
    "  fs:  {stdio: [npx, -y, server, no], environment: {A: yes}, inherit: [HOME]}\n"
    "  pay: {http: \"https://pay.example.com:9000\", ca: ca.pem, timeout: 30s,\n"
    "        credential: {header: X-Writ, meta: false}, resource: urn:pay}\n"
    "limits: {body: 64KiB}\n"
    "credential: {lifetime: 30s, alg: EdDSA}\n"
    "log: {level: debug}\n"
    "tools: {}\n";

START_TEST(config_read_of_a_complete_file_succeeds)
{
    struct writ_config *c = writ_ruling_config(whole);
    const struct writ_upstream_config *pay = writ_config_upstream(c, WRIT_LIT("pay"));
    const struct writ_upstream_config *fs = writ_config_upstream(c, WRIT_LIT("fs"));

    ck_assert_view(c->file, "c.yaml");
    ck_assert(c->admin_listen.ipv6);
    ck_assert_view(c->store, "/var/lib/writ/ledger.db");
    ck_assert_view(c->tls.client_ca, "ca.pem");
    ck_assert_int_eq(c->loops, 2);
    ck_assert_uint_eq(c->agents_n, 3);
    ck_assert_int_eq(c->agents[0].kind, WRIT_IDENTITY_BEARER);
    ck_assert_view(c->agents[0].agent.credential_tier, "service-account");
    ck_assert_uint_eq(c->agents[0].bearer.bytes[0], 0x9f);
    ck_assert_int_eq(c->agents[1].kind, WRIT_IDENTITY_JWT);
    ck_assert_view(c->agents[1].claims.id, "sub");
    ck_assert_view(c->agents[1].claims.role, "/r/0");
    ck_assert_int_eq(c->agents[2].kind, WRIT_IDENTITY_ANONYMOUS);
    ck_assert_int_eq(fs->kind, WRIT_UPSTREAM_STDIO);
    ck_assert_view(fs->stdio.items[3], "no");
    ck_assert_view(fs->environment.items[0].value, "yes");
    ck_assert_view(fs->resource, "stdio:fs");
    ck_assert_view(fs->credential_header, "");
    ck_assert(fs->credential_meta);
    ck_assert_int_eq(pay->kind, WRIT_UPSTREAM_HTTP);
    ck_assert(pay->tls);
    ck_assert_view(pay->host, "pay.example.com");
    ck_assert_uint_eq(pay->port, 9000);
    ck_assert_view(pay->path, "/");
    ck_assert_view(pay->credential_header, "X-Writ");
    ck_assert(!pay->credential_meta);
    ck_assert_view(pay->resource, "urn:pay");
    ck_assert_int_eq(pay->timeout_us, 30000000);
    ck_assert_int_eq(c->limits.body_bytes, 65536);
    ck_assert_int_eq(c->credential.lifetime_us, 30000000);
    ck_assert_int_eq(c->credential.alg, WRIT_JWK_ALG_EDDSA);
    ck_assert_int_eq(c->log.level, WRIT_LOG_DEBUG);
    writ_config_drop(c);
}
END_TEST

START_TEST(config_of_an_absent_option_has_its_default)
{
    struct writ_config *c =
        writ_ruling_config("upstreams: {u: {insecure: true, http: \"http://h/p?q\"}}\n");

    ck_assert_view(c->listen.text, "127.0.0.1:8700");
    ck_assert_uint_eq(c->admin_listen.text.len, 0);
    ck_assert_uint_eq(c->issuer.len, 0); /* by the address that is bound */
    ck_assert_view(c->profile, "crewai-v1");
    ck_assert_view(c->store, "ledger.db");
    ck_assert_int_eq(c->limits.json_depth, 64);
    ck_assert_int_eq(c->sessions.window_us, 600000000);
    ck_assert_int_eq(c->credential.lifetime_us, 60000000);
    ck_assert_int_eq(c->credential.alg, WRIT_JWK_ALG_NONE);
    ck_assert_view(c->credential.typ, "writ-credential+jwt");
    ck_assert_int_eq(c->ledger.claims_kept_us, 86400000000LL);
    ck_assert_int_eq(c->log.level, WRIT_LOG_INFO);
    ck_assert_view(c->upstreams[0].path, "/p?q");
    ck_assert_uint_eq(c->upstreams[0].port, 80);
    ck_assert_view(c->upstreams[0].credential_header, "Writ-Credential");
    writ_config_drop(c);
}
END_TEST

START_TEST(config_without_a_policy_denies_all_and_warns)
{
    writ_auto_buf found = writ_ruling_warnings("{}");
    struct writ_config *c = writ_ruling_config("{}");

    ck_assert_str_eq(found.ptr, "c.yaml:1: warning: no agents: every caller is refused\n"
                                "c.yaml:1: warning: no upstreams: no tool can be called\n"
                                "c.yaml:1: warning: no tools: every call is denied\n");
    ck_assert_view(writ_ruling_reason(c, "fs/x", "{}"), "tool_not_listed");
    writ_config_drop(c);
}
END_TEST

struct fault {
    const char *yaml, *found;
};

static const struct fault faults[] = {
    {"[]", "c.yaml:1: a configuration is a map of options\n"},
    {"tls: {cert: a}", "c.yaml:1: /tls: needs both cert and key\n"},
    {"admin_tls: {}", "c.yaml:1: /admin_tls: needs both cert and key\n"},
    {"store: mysql://x",
        "c.yaml:1: /store: must be sqlite:// and a path, or postgresql:// and hosts\n"},
    {"store: postgresql://writ:secret@db/writ",
        "c.yaml:1: /store: has a password: put it into a file that `passfile=` names, or into "
        "PGPASSWORD\n"},
    {"store: postgresql://db/writ?password=secret",
        "c.yaml:1: /store: has a password: put it into a file that `passfile=` names, or into "
        "PGPASSWORD\n"},
    {"store: sqlite:ledger.db",
        "c.yaml:1: /store: must be sqlite:// and a path, or postgresql:// and hosts\n"},
    {"store: sqlite://", "c.yaml:1: /store: lacks the path\n"},
    {"hosts: [Example.com]",
        "c.yaml:1: /hosts: element 0 is not a host in lower case, with an optional port\n"},
    {"origins: [https://a/b]",
        "c.yaml:1: /origins: element 0 is not an origin such as https://app.example.com\n"},
    {"agents: {}", "c.yaml:1: /agents: must be a list of at most 4096 agents\n"},
    {"agents: [{id: a}]", "c.yaml:1: /agents/0: needs exactly one of bearer_sha256, issuer, "
                          "certificate and anonymous\n"},
    {"agents: [{id: a, certificate: x}]",
        "c.yaml:1: /agents/0/certificate: needs admin_tls with client_ca, which asks for "
        "certificates\n"},
    {"admin_tls: {cert: a, key: b, client_ca: c}\n"
     "agents: [{id: a, certificate: x}, {id: b, certificate: x}]",
        "c.yaml:2: /agents/1: has the same identification as entry 0\n"},
    {"agents: [{anonymous: true}]", "c.yaml:1: /agents/0: lacks id: the agent_id\n"},
    {"agents: [{anonymous: true, id: a}, {anonymous: true, id: b}]",
        "c.yaml:1: /agents/1: has the same identification as entry 0\n"},
    {"listen: 0.0.0.0:1\nagents: [{anonymous: true, id: a}]",
        "c.yaml:2: /agents/0: an anonymous agent needs all listeners on loopback or Unix "
        "sockets\n"},
    {"admin_listen: 0.0.0.0:1\nagents: [{anonymous: true, id: a}]",
        "c.yaml:2: /agents/0: an anonymous agent needs all listeners on loopback or Unix "
        "sockets\n"},
    {"listen: \"unix:\"", "c.yaml:1: /listen: needs a path of 1 to 107 bytes behind unix:\n"},
    {"listen: unix:s\ntls: {cert: a, key: b}",
        "c.yaml:2: /tls: a Unix socket has no TLS: remove it\n"},
    {"agents: [{issuer: i, audience: a, jwks: http://k.example.com/j}]",
        "c.yaml:1: /agents/0/jwks: must be a file, an https URL, or an http URL on loopback\n"},
    {"agents: [{issuer: i, audience: a, jwks: k, id: x}]",
        "c.yaml:1: /agents/0/id: comes from the token of an issuer: see claims\n"},
    {"agents: [{jwks: k, audience: a}]", "c.yaml:1: /agents/0: tokens of an issuer need issuer\n"},
    {"agents: [{issuer: i, jwks: k}]",
        "c.yaml:1: /agents/0: needs an audience, or a public_url for the file\n"},
    {"agents: [{issuer: i, audience: a}]",
        "c.yaml:1: /agents/0/issuer: without jwks it must be an https URL, or an http URL on "
        "loopback\n"},
    {"agents: [{issuer: \"http://as.example.com\", audience: a}]",
        "c.yaml:1: /agents/0/issuer: without jwks it must be an https URL, or an http URL on "
        "loopback\n"},
    {"agents: [{issuer: i, audience: a, jwks: k, scopes: [x]}]",
        "c.yaml:1: /agents/0/scopes: come from the token of an issuer: see claims\n"},
    {"agents: [{issuer: i, audience: a, jwks: k, required_scopes: [ok, \"a b\"]}]",
        "c.yaml:1: /agents/0/required_scopes: element 1 is not an OAuth scope\n"},
    {"agents: [{anonymous: true, id: a, required_scopes: [x]}]",
        "c.yaml:1: /agents/0/required_scopes: is only for tokens of an issuer\n"},
    {"agents: [{anonymous: true, id: a, scopes: ['\"']}]",
        "c.yaml:1: /agents/0/scopes: element 0 is not an OAuth scope\n"},
    {"public_url: gateway.example.com", "c.yaml:1: /public_url: must be an http or https URL "
                                        "without query, fragment and a slash at "
                                        "its end\n"},
    {"public_url: https://gateway.example.com/", "c.yaml:1: /public_url: must be an http or https "
                                                 "URL without query, fragment and a slash at "
                                                 "its end\n"},
    {"public_url: https://gateway.example.com/x?y",
        "c.yaml:1: /public_url: must be an http or https URL without query, fragment and a slash "
        "at "
        "its end\n"},
    {"admin_url: https://gateway.example.com/",
        "c.yaml:1: /admin_url: must be an http or https URL without query, fragment and a slash at "
        "its end\n"},
    {"upstreams: []", "c.yaml:1: /upstreams: must be a map of at most 256 upstreams\n"},
    {"upstreams: {a: {}}", "c.yaml:1: /upstreams/a: needs exactly one of stdio and http\n"},
    {"upstreams: {a: {stdio: [x], http: \"https://h\"}}",
        "c.yaml:1: /upstreams/a: needs exactly one of stdio and http\n"},
    {"upstreams: {a: {http: \"http://10.0.0.7:3001/mcp\"}}",
        "c.yaml:1: /upstreams/a/http: is plain http beyond loopback, where others can read and "
        "change calls. Use https, or set insecure: true for a network of your own\n"},
    {"upstreams: {a: {http: \"http://127.evil.example/\"}}",
        "c.yaml:1: /upstreams/a/http: is plain http beyond loopback, where others can read and "
        "change calls. Use https, or set insecure: true for a network of your own\n"},
    {"upstreams: {a: {stdio: [x], insecure: true}}",
        "c.yaml:1: /upstreams/a/insecure: is only for upstreams that speak over HTTP\n"},
    {"upstreams: {a: {stdio: []}}", "c.yaml:1: /upstreams/a/stdio: lacks a program\n"},
    {"upstreams: {a: {stdio: x}}",
        "c.yaml:1: /upstreams/a/stdio: must be a list of texts, not a text\n"},
    {"upstreams: {a: {stdio: [x], ca: y}}",
        "c.yaml:1: /upstreams/a/ca: is only for upstreams that speak over HTTP\n"},
    {"upstreams: {a: {stdio: [x], credential: {header: y}}}",
        "c.yaml:1: /upstreams/a/credential/header: is only for upstreams that speak over HTTP\n"},
    {"upstreams: {a: {http: \"https://h\", inherit: [y]}}",
        "c.yaml:1: /upstreams/a/inherit: is only for upstreams that speak over stdio\n"},
    {"upstreams: {a: {http: \"http://u@h/\"}}", "c.yaml:1: /upstreams/a/http: " USER},
    {"notify: {a: {email: \"smtp://u:hunter2@h\", from: a@b, to: [a@b]}}",
        "c.yaml:1: /notify/a/email: " USER},
    {"notify: {a: {webhook: \"https://u:hunter2@h/in\", secret: s}}",
        "c.yaml:1: /notify/a/webhook: " USER},
    {"export: [{name: a, to: \"https://u:hunter2@h/in\"}]", "c.yaml:1: /export/0/to: " USER},
    {"export: [{name: a, to: \"syslog+tls://u:hunter2@h:6514\"}]", "c.yaml:1: /export/0/to: " USER},
    {"telemetry: {otlp: \"https://u:hunter2@h\"}", "c.yaml:1: /telemetry/otlp: " USER},
    {"ledger: {anchors: [{to: \"https://u:hunter2@h/a\"}]}",
        "c.yaml:1: /ledger/anchors/0/to: " USER},
    {"issuer: \"https://u:hunter2@h\"", "c.yaml:1: /issuer: " USER},
    {"public_url: \"https://u:hunter2@h\"", "c.yaml:1: /public_url: " USER},
    {"upstreams: {a: {insecure: true, http: \"http://h/#f\"}}",
        "c.yaml:1: /upstreams/a/http: must be an http or "
        "https URL without userinfo and fragment\n"},
    {"upstreams: {a: {insecure: true, http: \"http://h/\", ca: c}}",
        "c.yaml:1: /upstreams/a/ca: has no effect on an http URL\n"},
    {"upstreams: {a: {insecure: true, http: \"http://h/\", credential: {header: \"a b\"}}}",
        "c.yaml:1: /upstreams/a/credential: header must be the name of a header that Writ does not "
        "set itself\n"},
    {"upstreams: {a: {http: \"https://h/\", credential: {header: Mcp-Session-Id}}}",
        "c.yaml:1: /upstreams/a/credential: header must be the name of a header that Writ does not "
        "set itself\n"},
    {"upstreams: {a: {http: \"https://h/\", credential: {header: HOST}}}",
        "c.yaml:1: /upstreams/a/credential: header must be the name of a header that Writ does not "
        "set itself\n"},
    {"upstreams: {a: {stdio: [x], authorization: {file: f}}}",
        "c.yaml:1: /upstreams/a/authorization: is only for upstreams that speak over HTTP\n"},
    {"upstreams: {a: {insecure: true, http: \"http://h/\", authorization: {}}}",
        "c.yaml:1: /upstreams/a/authorization: needs exactly one of file, variable and key\n"},
    {"upstreams: {a: {http: \"https://h/\", authorization: {file: f, variable: v}}}",
        "c.yaml:1: /upstreams/a/authorization: needs exactly one of file, variable and key\n"},
    {"upstreams: {a: {http: \"https://h/\", authorization: {key: k}}}",
        "c.yaml:1: /upstreams/a/authorization/key: is only for tokens: with client_id\n"},
    {"upstreams: {a: {http: \"https://h/\", authorization: {file: f, scopes: [x], resource: r}}}",
        "c.yaml:1: /upstreams/a/authorization/scopes: is only for tokens: with client_id\n"
        "c.yaml:1: /upstreams/a/authorization/resource: is only for tokens: with client_id\n"},
    {"upstreams: {a: {http: \"https://h/\", authorization: {file: f, client_id: c}}}",
        "c.yaml:1: /upstreams/a/authorization: client_id needs exactly one of issuer and "
        "token_endpoint\n"},
    {"upstreams: {a: {http: \"https://h/\", authorization: {file: f, client_id: c, issuer: "
     "\"http://as.example\"}}}",
        "c.yaml:1: /upstreams/a/authorization/issuer: must be an https URL, or an http URL on "
        "loopback\n"},
    {"upstreams: {a: {http: \"https://h/\", authorization: {file: f, client_id: c, token_endpoint: "
     "x}}}",
        "c.yaml:1: /upstreams/a/authorization/token_endpoint: must be an https URL, or an http URL "
        "on loopback\n"},
    {"upstreams: {a: {http: \"https://h/\", authorization: {file: f, header: Mcp-Session-Id}}}",
        "c.yaml:1: /upstreams/a/authorization: header must be the name of a header that Writ does "
        "not set itself\n"},
    {"upstreams: {a: {http: \"https://h/\", authorization: {file: f, header: writ-credential}}}",
        "c.yaml:1: /upstreams/a/authorization: header must be the name of a header that Writ does "
        "not set itself\n"},
    {"upstreams: {a: {http: \"https://h/\", authorization: {file: f, scheme: \"a b\"}}}",
        "c.yaml:1: /upstreams/a/authorization/scheme: must be one word, or \"\"\n"},
    {"upstreams: {a__b: {stdio: [x]}}",
        "c.yaml:1: /upstreams/a__b: the name of an upstream has 1 to 32 letters, digits, - and "
        "single _, these two inside\n"},
    {"upstreams: {a: {stdio: [x]}}\ntools: {b/t: {scope: s}}",
        "c.yaml:2: /tools/b~1t: there is no upstream \"b\"\n"},
    {"agents: [{anonymous: true, id: dev}]\nreviews: {r: {voters: [{id: dev}, {id: zed}]}}",
        "c.yaml:2: /reviews/r/voters: \"zed\" can never vote: it is neither the subject of an "
        "entry of agents (its id, without a subject) nor in reviewers. Add an entry of agents with "
        "this subject, or a reviewer of this name\n"},
};

START_TEST(config_with_plain_http_needs_loopback_or_a_setting)
{
    struct writ_config *c = writ_ruling_config(
        "upstreams: {a: {http: \"http://10.0.0.7:3001/mcp\", insecure: true}, b: {http: "
        "\"http://localhost:3001/mcp\"}, c: {http: \"http://[::1]/\"}, d: {http: "
        "\"http://127.9.9.9/\"}}\ntools:\n  a/t: {scope: s, state: {http: "
        "\"http://10.0.0.7/{x}\", insecure: true}}\n  a/u: {scope: s, state: {http: "
        "\"http://localhost:9/{x}\"}}\n");

    ck_assert_uint_eq(c->upstreams_n, 4);
    writ_config_drop(c);
}
END_TEST

START_TEST(config_with_open_settings_warns)
{
    static const struct fault doubts[] = {
        {"listen: 0.0.0.0:1", "c.yaml:1: /listen: warning: listens beyond loopback without TLS: "
                              "others on the way can read tokens and calls\n"
                              "c.yaml:1: /listen: warning: listens beyond loopback without hosts: "
                              "set the names under which clients reach it\n"},
        {"listen: 0.0.0.0:1\nhosts: [a]\ntls: {cert: c, key: k}", ""},
        {"listen: 127.0.0.1:1\nadmin_listen: \"[::1]:2\"", ""},
        {"admin_listen: 10.0.0.1:2", "c.yaml:1: /admin_listen: warning: listens beyond loopback "
                                     "without TLS: others on the way can read tokens and calls\n"},
        {"admin_listen: 10.0.0.1:2\nadmin_tls: {cert: c, key: k}", ""},
        {"reviews: {r: {voters: [{id: ann}, {id: dev}]}}\nreviewers: {ann: {}}", ""},
        {"tools: {u/t: {scope: s, agents: [dev, dave], roles: [op], tenants: [x]}}",
            "c.yaml:1: /tools/u~1t/agents: warning: no entry of agents can be \"dave\"\n"
            "c.yaml:1: /tools/u~1t/tenants: warning: no entry of agents can be \"x\"\n"},
    };

    for (size_t i = 0; i < sizeof doubts / sizeof doubts[0]; i++) {
        writ_auto_buf yaml = writ_buf_make(4000);
        writ_auto_buf found = {0};

        writ_buf_fmt(&yaml,
            "%s\nagents: [{id: dev, role: op, tenant: acme, bearer_sha256: "
            "\"0000000000000000000000000000000000000000000000000000000000000000\"}]\n",
            doubts[i].yaml);
        writ_buf_str(&yaml, "upstreams: {u: {stdio: [x]}}\n");
        writ_buf_str(&yaml, writ_view_has_prefix(writ_view_str(doubts[i].yaml), WRIT_LIT("tools"))
                                ? ""
                                : "tools: {u/t: {scope: s}}\n");
        writ_buf_byte(&yaml, '\0');
        found = writ_ruling_warnings(yaml.ptr);
        ck_assert_str_eq(found.ptr, doubts[i].found);
    }
}
END_TEST

/* Without the warnings about options that the example omits. */
static void
assert_faults(const struct fault *fault)
{
    writ_auto_buf found = writ_ruling_faults(writ_view_str(fault->yaml));
    writ_auto_buf errors = writ_buf_make(1 << 16);
    struct writ_view rest = writ_view_str(found.ptr);

    while (rest.len > 0) {
        struct writ_view line = writ_view_sub(rest, 0, writ_view_find(rest, '\n') + 1);
        rest = writ_view_sub(rest, line.len, rest.len);
        if (writ_view_search(line, WRIT_LIT("warning: ")) == line.len) {
            writ_buf_put(&errors, line);
        }
    }
    ck_assert_view(writ_buf_view(&errors), fault->found);
}

START_TEST(config_with_a_contradiction_is_refused)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        assert_faults(&faults[i]);
    }
}
END_TEST

START_TEST(config_upstream_name_fits_tool_names)
{
    static const struct {
        const char *name;
        bool good;
    } cases[] = {{"a", true}, {"fs-2_x", true}, {"A1", true}, {"_a", false}, {"a_", false},
        {"-a", false}, {"a-", false}, {"a__b", false}, {"a.b", false}, {"a b", false},
        {"abcdefghijklmnopqrstuvwxyz012345", true}, {"abcdefghijklmnopqrstuvwxyz0123456", false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf yaml = writ_buf_make(200);
        struct writ_config *config = NULL;
        writ_buf_fmt(&yaml, "upstreams: {\"%s\": {stdio: [x]}}", cases[i].name);
        ck_assert_msg(writ_is_ok(writ_load_text(
                          writ_buf_view(&yaml), "c.yaml", NULL, &config, NULL)) == cases[i].good,
            "%s", cases[i].name);
        writ_config_drop(config);
    }
}
END_TEST

START_TEST(config_tool_belongs_to_an_upstream_or_a_framework)
{
    static const char *const bad[] = {
        "upstreams: {a: {stdio: [x]}}\nframeworks: {a: {}}",
        "frameworks: {a__b: {}}",
        "frameworks: {a: {http: x}}",
        "frameworks: {a: {timeout: 0s}}",
        "frameworks: [a]",
        "frameworks: {a: {}}\ntools: {b/t: {scope: s}}",
        "frameworks: {a: {}}\ntools: {a/t: {scope: s, state: {tool: a/stat}}}",
        "frameworks: {a: {}}\ntools: {a/t: {scope: s, state: {resource: x}}}",
    };
    struct writ_config *config = NULL;
    const struct writ_framework_config *framework;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(
            !writ_is_ok(writ_load_text(writ_view_str(bad[i]), "c.yaml", NULL, &config, NULL)), "%s",
            bad[i]);
        ck_assert_ptr_null(config);
    }
    ck_assert_ok(writ_load_text(
        WRIT_LIT("upstreams: {u: {stdio: [x]}}\n"
                 "frameworks: {crew: {}, hub: {resource: 'urn:hub', timeout: 2s}}\n"
                 "tools: {crew/t: {scope: s, state: {tool: u/stat}}, hub/*: {scope: s}}"),
        "c.yaml", NULL, &config, NULL));
    framework = writ_config_framework(config, WRIT_LIT("crew"));
    ck_assert_ptr_nonnull(framework);
    ck_assert(writ_view_is(framework->resource, "framework:crew"));
    ck_assert_int_eq(framework->timeout_us, 300000000);
    framework = writ_config_framework(config, WRIT_LIT("hub"));
    ck_assert(writ_view_is(framework->resource, "urn:hub"));
    ck_assert_int_eq(framework->timeout_us, 2000000);
    ck_assert_ptr_null(writ_config_framework(config, WRIT_LIT("u")));
    ck_assert(writ_config_runs_tools(config, WRIT_LIT("u")));
    ck_assert(!writ_config_runs_tools(config, WRIT_LIT("x")));
    writ_config_drop(config);
}
END_TEST

START_TEST(config_read_reports_all_faults)
{
    writ_auto_buf found = writ_ruling_faults(WRIT_LIT("isuer: a\nloops: x\nloops: 2\n"
                                                      "agents: [{id: a, id: b}]\n"
                                                      "upstreams: {a: {stdio: [&x y, *x]}}\n"
                                                      "tools: {a/t: {scope: 5, scop: 5}, b: 1}\n"));

    ck_assert_str_eq(found.ptr,
        "c.yaml:1: /isuer: unknown option; did you mean \"issuer\"?\n"
        "c.yaml:2: /loops: must be a whole number\n"
        "c.yaml:3: /loops: written twice; the first is on line 2\n"
        "c.yaml:4: /agents/0/id: written twice; the first is on line 4\n"
        "c.yaml:4: /agents/0: needs exactly one of bearer_sha256, issuer, certificate and "
        "anonymous\n"
        "c.yaml:5: /upstreams/a/stdio/0: anchors (&name) are not supported: write the value out\n"
        "c.yaml:5: /upstreams/a/stdio/1: aliases (*name) are not supported: write the value out\n"
        "c.yaml:6: /tools/a~1t/scop: unknown option; did you mean \"scope\"?\n"
        "c.yaml:6: /tools/b: must be a name such as upstream/tool or upstream/read_*\n");
}
END_TEST

START_TEST(config_read_names_the_first_fault_and_leaves_ret_unchanged)
{
    struct writ_config *config = NULL;
    struct writ_err err = {0};

    ck_assert_code(writ_load_text(WRIT_LIT("a: 1\nloops: x\n"), "f.yaml", NULL, &config, &err),
        WRIT_E_INVALID);
    ck_assert_str_eq(err.text, "f.yaml:1: /a: unknown option");
    ck_assert_uint_eq(err.line, 1);
    ck_assert_ptr_null(config);
    ck_assert_code(writ_load_text(WRIT_LIT("a: ["), "f.yaml", NULL, &config, NULL), WRIT_E_PARSE);
    ck_assert_ptr_null(config);
}
END_TEST

START_TEST(config_of_more_than_the_maximum_is_refused)
{
    for (size_t over = 0; over <= 1; over++) {
        writ_auto_buf text = writ_buf_make(WRIT_CONFIG_BYTES_MAX + 10);
        struct writ_config *config = NULL;

        writ_buf_str(&text, "{} #");
        while (text.len < WRIT_CONFIG_BYTES_MAX + over) {
            writ_buf_byte(&text, 'x');
        }
        ck_assert_code(writ_load_text(writ_buf_view(&text), "f", NULL, &config, NULL),
            over ? WRIT_E_LIMIT : WRIT_OK);
        writ_config_drop(config);
    }
}
END_TEST

START_TEST(config_load_reads_a_file)
{
    struct writ_config *config = NULL;
    struct writ_err err = {0};

    ck_assert_ok(writ_load_file(WRIT_SOURCE_DIR "/config/example.yaml", NULL, &config, &err));
    ck_assert_uint_eq(config->agents_n, 3);
    writ_config_drop(config);
    config = NULL;
    ck_assert_code(writ_load_file("/nonexistent/writ.yaml", NULL, &config, &err), WRIT_E_ABSENT);
    ck_assert_ptr_null(config);
}
END_TEST

START_TEST(config_drop_of_the_last_reference_frees)
{
    const struct writ_config *config = writ_ruling_config(whole);

    ck_assert_ptr_eq(writ_config_hold(config), config);
    writ_config_drop(config);
    ck_assert_view(config->file, "c.yaml"); /* still there */
    writ_config_drop(config);
    writ_config_drop(NULL);
}
END_TEST

static struct writ_digest
digest_of(const char *yaml)
{
    struct writ_config *config = writ_ruling_config(yaml);
    struct writ_digest digest = config->policy_digest;

    writ_config_drop(config);
    return digest;
}

START_TEST(policy_digest_is_that_of_the_canonical_form)
{
    struct writ_digest got = digest_of("tools:\n"
                                       "  u/t:\n"
                                       "    scope: \"s\"\n"
                                       "    arguments: [{op: le, value: 5.00, arg: a}]\n"
                                       "    state: {tool: u/r, arguments: {x: [\"{a}\", true]}}\n");
    struct writ_digest want;

    ck_assert_ok(writ_digest_bytes(
        WRIT_LIT("{\"policy\":\"writ-policy-v1\",\"tools\":[{\"rules\":[{\"arguments\":[{\"arg\":"
                 "\"a\",\"op\":\"le\",\"value\":[\"n\",\"5.00\"]}],\"scope\":\"s\",\"state\":{"
                 "\"arguments\":[\"m\",{\"x\":[\"l\",\"{a}\",true]}],\"tool\":\"u/r\"}}],\"tool\":"
                 "\"u/t\"}]}"),
        &want, NULL));
    ck_assert(writ_digest_equal(&got, &want));
}
END_TEST

START_TEST(policy_digest_changes_with_every_change_of_a_decision)
{
    static const char *const different[] = {
        "{}",
        "tools: {u/t: {scope: s}}",
        "tools: {u/t: {scope: s2}}",
        "tools: {u/t: {scope: s}, u/v: {scope: s}}",
        "tools: {u/v: {scope: s}, u/t: {scope: s}}", /* the order of patterns counts */
        "tools: {u/t: [{scope: s, roles: [a]}, {scope: s}]}",
        "tools: {u/t: {scope: s, shadow: true}}",
        "tools: {u/t: {scope: s, arguments: [{arg: a, op: eq, value: 5}]}}",
        "tools: {u/t: {scope: s, arguments: [{arg: a, op: eq, value: \"5\"}]}}",
        "tools: {u/t: {scope: s, arguments: [{arg: a, op: eq, value: [\"n\", \"5\"]}]}}",
        "tools: {u/t: {scope: s, arguments: [{arg: a, op: eq, value: true}]}}",
        "tools: {u/t: {scope: s, arguments: [{arg: a, op: eq, value: 'true'}]}}",
        "tools: {u/t: {scope: s, arguments: [{arg: a, op: eq, value: {m: 1}}]}}",
        "tools: {u/t: {scope: s, arguments: [{arg: a, op: eq, value: [m, {m: 1}]}]}}",
    };
    size_t n = sizeof different / sizeof different[0];

    for (size_t i = 0; i < n; i++) {
        struct writ_digest a = digest_of(different[i]);
        for (size_t j = 0; j < i; j++) {
            struct writ_digest b = digest_of(different[j]);
            ck_assert_msg(!writ_digest_equal(&a, &b), "%s and %s", different[i], different[j]);
        }
    }
}
END_TEST

START_TEST(policy_digest_ignores_the_layout)
{
    static const char *const same[] = {
        "tools: {u/t: {scope: s, duplicates: allow, arguments: [{arg: a, op: le, value: 5}]}}",
        "# why\ntools:\n  u/t:\n    duplicates: \"allow\"\n    arguments:\n"
        "      - op: le\n        value: 5\n        arg: 'a'\n    scope: s\nloops: 3\n",
        "{\"tools\": {\"u/t\": [{\"scope\": \"s\", \"duplicates\": \"allow\", \"arguments\": "
        "[{\"arg\": \"a\", \"op\": \"le\", \"value\": 5}]}]}}",
    };
    struct writ_digest first = digest_of(same[0]);

    for (size_t i = 1; i < sizeof same / sizeof same[0]; i++) {
        struct writ_digest other = digest_of(same[i]);
        ck_assert_msg(writ_digest_equal(&first, &other), "%s", same[i]);
    }
}
END_TEST

WRIT_UNIT_MAIN("config", config_read_of_a_complete_file_succeeds,
    config_of_an_absent_option_has_its_default, config_without_a_policy_denies_all_and_warns,
    config_with_plain_http_needs_loopback_or_a_setting, config_with_open_settings_warns,
    config_with_a_contradiction_is_refused, config_upstream_name_fits_tool_names,
    config_tool_belongs_to_an_upstream_or_a_framework, config_read_reports_all_faults,
    config_read_names_the_first_fault_and_leaves_ret_unchanged,
    config_of_more_than_the_maximum_is_refused, config_load_reads_a_file,
    config_drop_of_the_last_reference_frees, policy_digest_is_that_of_the_canonical_form,
    policy_digest_changes_with_every_change_of_a_decision, policy_digest_ignores_the_layout)
