/* guard.h - `writ guard`: stands in front of a tool server and passes only calls with a valid
 * credential.
 *
 *     the gateway --> guard --> tool server
 *
 * A message is read as strictly as by the gateway (mcp.h). A tools/call needs a credential that is
 * valid for exactly this tool with these arguments, here, now, and that was not used before
 * (replay_cache.h); a refused call never reaches the server. Messages that call no tool pass when
 * the gateway knows their method. The received bytes are forwarded.
 *
 * A credential may be bound to the state of the call's target. Then the guard probes the target
 * (guard_state.h), after all other checks and right before it takes the jti: only then is it known
 * whether the credential was used, so each use of a used one costs the server a probe until it
 * expires.
 *
 * Three forms: a reverse proxy over HTTP (guard_http.h); a program that starts the server and
 * stands between its standard streams and the client's (guard_stdio.h); and a check for another
 * proxy, which has only the head of a request (nginx auth_request). Each has one loop. */
#ifndef WRIT_GATEWAY_GUARD_H
#define WRIT_GATEWAY_GUARD_H

#include "base/log.h"
#include "evidence/json/digest.h"
#include "gateway/listener/exchange.h"
#include "gateway/guard/guard_keys.h"
#include "gateway/guard/guard_probes.h"
#include "gateway/guard/replay_cache.h"
#include "gateway/io/loop.h"
#include "gateway/mcp/mcp.h"
#include "gateway/probe/probe.h"
#include "gateway/probe/probe_get.h"

#define WRIT_GUARD_BODY_MAX ((size_t)16 << 20) /* bytes of one message */
#define WRIT_GUARD_META     "io.writ/credential"

enum writ_guard_form {
    WRIT_GUARD_NOTHING = 0,
    WRIT_GUARD_HTTP,
    WRIT_GUARD_CHECK,
    WRIT_GUARD_STDIO,
};

/** Options of a guard. Everything is borrowed as long as it runs; views are NUL-terminated. */
struct writ_guard_options {
    enum writ_guard_form form;
    struct writ_view listen;   /* HTTP, CHECK: "127.0.0.1:9100" */
    struct writ_view host;     /* a further Host that is served; empty: none */
    struct writ_view upstream; /* HTTP: "http://127.0.0.1:9000" */
    const char *const *argv;   /* STDIO: the server */
    struct writ_view audience; /* the `resource` of the upstream, at the gateway */
    struct writ_view issuer;   /* empty: any holder of the keys */
    struct writ_view header;   /* name of the header with the credential */
    struct writ_view typ;      /* of their header; empty: writ-credential+jwt */
    const char *keys;          /* a file or a URL */
    const char *status;        /* the list of revoked credentials, likewise; NULL: not checked */
    const char *used;          /* the file of replay_cache.h */
    /* HTTP, STDIO: */
    const char *policy;    /* the file of guard_probes.h; NULL: nothing is observed */
    struct writ_view name; /* of the server in that file */
    bool any_state;        /* without a probe the server compares the state */
    bool open_probes;      /* a request like a probe needs no credential */
    int64_t skew_s;
    struct writ_log *log;
    const struct writ_clock *clock;
};

/** A check of one call; lies in the caller's memory until `done` is called, which may be before
 * writ_guard_ask returns. */
struct writ_guard_ask {
    struct writ_view token, tool, params_hash; /* all needed, but for an empty token */
    struct writ_view target_state;             /* with `state_is_known`; empty: there is none */
    bool state_is_known;
    bool any_arguments;                  /* the asker does not see them; no params_hash then */
    const struct writ_mcp_message *call; /* NULL: the caller does not see it; no probe then */
    struct writ_arena *arena;            /* with `call` */
    void (*done)(struct writ_guard_ask *ask);
    void *ctx;
    /* the answer */
    bool ok;
    enum writ_reason reason;
    struct writ_verify_answer answer; /* `done` wipes it */
    /* the guard's own */
    struct writ_guard_ask *next;
    bool waiting;
    struct writ_guard *guard;
    /* of looking */
    void (*saw)(struct writ_guard_ask *ask, const struct writ_probe_state *state);
    struct writ_probe_request wanted;
    char id[WRIT_PROBE_ID_MAX]; /* of the question */
    struct writ_probe_get get;
    char seen[WRIT_DIGEST_TEXT];
};

/** A guard that runs. Used from its loop's thread alone. */
struct writ_guard {
    const struct writ_guard_options *options;
    struct writ_loop *loop;
    struct writ_verify *verify;
    struct writ_replay_cache *used;
    struct writ_guard_keys *keys;
    struct writ_guard_probes *probes; /* NULL: none */
    struct writ_resolver *resolver;
    struct writ_probe_servers probed; /* by an HTTP GET */
    /** Of the form: sends the probe of an ask to the tool server and limits its time; then
     * writ_guard_state_told. A failure: nothing was sent. */
    WRIT_RESULT (*look)(struct writ_guard_ask *ask, struct writ_view question);
    struct writ_guard_ask *waiting; /* for keys that are being fetched */
    bool status_refused;            /* as last logged */
};

#endif
