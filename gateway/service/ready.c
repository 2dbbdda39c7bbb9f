/* ready.c - the conditions of readiness, and the log lines when the whole changes. A silent
 * upstream does not make the gateway unready. */
#include "gateway/service/ready.h"

#include "base/text.h"
#include "gateway/upstream/upstream.h"
#include "policy/model/rule.h"

#define NAMES_MAX     8192
#define WHY_MAX       400 /* bytes of what the database said */
#define PATIENT_LOOKS 20  /* at the start, before a missing condition is logged */

/* ---- the conditions: on a loop's thread, or with `loop` NULL on the main thread */

static bool
ledger_is_ready(void *ctx, const struct writ_loop *loop, struct writ_buf *ret_names)
{
    const struct writ_ready *ready = ctx;
    struct writ_ledger_health health;

    (void)loop;
    writ_ledger_health(ready->gateway->ledger, &health);
    if (health.state != WRIT_LEDGER_READY && writ_ledger_is_shared(ready->gateway->ledger)) {
        writ_text_safe(ret_names, writ_view_str(health.why.text), WHY_MAX);
    }
    return health.state == WRIT_LEDGER_READY;
}

static bool
upstreams_are_up(void *ctx, const struct writ_loop *loop, struct writ_buf *ret_names)
{
    const struct writ_ready *ready = ctx;
    const struct writ_gateway *gateway = ready->gateway;
    bool all = true;

    (void)loop;
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        if (!writ_upstream_is_up(gateway->upstreams[i])) {
            writ_buf_str(ret_names, all ? "" : ", ");
            writ_buf_put(ret_names, writ_upstream_config(gateway->upstreams[i])->name);
            all = false;
        }
    }
    return all;
}

static bool
tokens_are_there(void *ctx, const struct writ_loop *loop, struct writ_buf *ret_names)
{
    const struct writ_ready *ready = ctx;

    (void)loop;
    (void)ret_names;
    return writ_tokens_ready(ready->gateway->tokens);
}

/* That of the thread that asks: it is not dropped meanwhile. */
static const struct writ_generation *
generation_of(const struct writ_ready *ready, const struct writ_loop *loop)
{
    return loop != NULL ? writ_gateway_worker(ready->gateway, loop)->generation
                        : *ready->generation;
}

static bool
issuers_are_known(void *ctx, const struct writ_loop *loop, struct writ_buf *ret_names)
{
    (void)ret_names;
    return writ_identity_keys_ready(generation_of(ctx, loop)->issuers);
}

/* Also of one whose other children still run. */
static void
name_refused_programs(const struct writ_gateway *gateway, struct writ_buf *ret)
{
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        if (writ_upstream_is_refused(gateway->upstreams[i])) {
            writ_buf_str(ret, "upstream ");
            writ_buf_put(ret, writ_upstream_config(gateway->upstreams[i])->name);
            writ_buf_str(ret, writ_upstream_is_unaccepted(gateway->upstreams[i])
                                  ? ": program not accepted\n"
                                  : ": program changed\n");
        }
    }
}

/* A silent upstream does not make the gateway unready: the others are served without it. */
static void
name_silent_upstreams(void *ctx, const struct writ_loop *loop, struct writ_buf *ret)
{
    const struct writ_ready *ready = ctx;
    const struct writ_gateway *gateway = ready->gateway;

    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        if (writ_upstream_is_left_out(gateway->upstreams[i], writ_loop_now_us(loop))) {
            writ_buf_str(ret, "upstream ");
            writ_buf_put(ret, writ_upstream_config(gateway->upstreams[i])->name);
            writ_buf_str(ret, ": silent\n");
        }
    }
}

/* Rules that only watch do not make the gateway unready: people see here that they are there. */
static void
remark(void *ctx, const struct writ_loop *loop, struct writ_buf *ret)
{
    size_t shadowed = writ_rule_shadowed(generation_of(ctx, loop)->config->policy);

    name_refused_programs(((const struct writ_ready *)ctx)->gateway, ret);
    name_silent_upstreams(ctx, loop, ret);
    if (((const struct writ_ready *)ctx)->marks_differ) {
        writ_buf_str(ret, "mark.key: another key than that of earlier records\n");
    }
    if (shadowed > 0) {
        writ_buf_fmt(ret, "rules in shadow mode: %zu\n", shadowed);
    }
}

WRIT_RESULT
writ_ready_open(struct writ_ready *ready, struct writ_err *err)
{
    static const struct {
        const char *name;
        writ_admin_holds *holds;
    } checks[] = {
        {"ledger", ledger_is_ready},
        {"upstreams", upstreams_are_up},
        {"tokens", tokens_are_there},
        {"issuers", issuers_are_known},
    };

    ready->gateway->admin.remarks = remark;
    ready->gateway->admin.remarks_ctx = ready;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        WRIT_TRY(
            writ_admin_add(&ready->gateway->admin, checks[i].name, checks[i].holds, ready, err));
    }
    return WRIT_DONE;
}

/* ---- the log */

bool
writ_ready_look(struct writ_ready *ready)
{
    struct writ_log *log = ready->gateway->log;
    writ_auto_buf missing = writ_buf_make(NAMES_MAX);
    bool was = ready->is;

    ready->is = writ_admin_is_ready(&ready->gateway->admin, NULL, &missing);
    ready->looks = ready->is ? 0 : ready->looks + 1;
    if (ready->is && !was) {
        WRIT_LOG(log, WRIT_EVENT_READY, writ_log_str("version", WRIT_VERSION));
    } else if (was ? !ready->is : ready->looks == PATIENT_LOOKS) {
        WRIT_LOG(log, WRIT_EVENT_NOT_READY, writ_log_text("missing", writ_buf_view(&missing)));
    }
    return ready->is;
}
