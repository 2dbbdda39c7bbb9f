#include "gateway/fixed.h"

#include <stddef.h>

/* ---- numbers: every one of these sections, so that a new option is not forgotten ---- */

struct number {
    const char *name;
    size_t offset; /* of an int64_t in struct writ_config */
};

#define OPTION_NAME(section, name) #section "." name
#define NUMBER(section, name, field)                                                               \
    {OPTION_NAME(section, name), offsetof(struct writ_config, section.field)},
#define NUMBER_limits(name, field)   NUMBER(limits, name, field)
#define NUMBER_sessions(name, field) NUMBER(sessions, name, field)
#define NUMBER_ledger(name, field)   NUMBER(ledger, name, field)
#define NUMBER_top(name, field)      /* loops: writ_fixed_check */
#define NUMBER_upstream(name, field) /* put_upstream */
#define NUMBER_rule(name, field)     /* these are new with a reload */
#define NUMBER_approval(name, field)
#define NUMBER_replay(name, field)
#define NUMBER_framework(name, field)
#define NUMBER_review(name, field)
#define NUMBER_voter(name, field)
#define NUMBER_reviewer(name, field) /* same_reviewers */
#define NUMBER_result(name, field)
#define NUMBER_state(name, field)
#define NUMBER_budget(name, field)
#define NUMBER_credential(name, field)
#define NUMBER_anchor(name, field) /* same_anchors */

static const struct number numbers[] = {
#define COUNT(section, name, field, ...)    NUMBER_##section(name, field)
#define SIZE(section, name, field, ...)     NUMBER_##section(name, field)
#define DURATION(section, name, field, ...) NUMBER_##section(name, field)
#include "policy/option.tbl.h"
};

static int64_t
number_of(const struct writ_config *config, const struct number *number)
{
    return *(const int64_t *)(const void *)((const char *)config + number->offset);
}

/* ---- texts ---- */

static bool
same_views(const struct writ_views *a, const struct writ_views *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        if (!writ_view_equal(a->items[i], b->items[i])) {
            return false;
        }
    }
    return a->n == b->n;
}

static bool
same_pairs(const struct writ_pairs *a, const struct writ_pairs *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        if (!writ_view_equal(a->items[i].name, b->items[i].name) ||
            !writ_view_equal(a->items[i].value, b->items[i].value)) {
            return false;
        }
    }
    return a->n == b->n;
}

/* ---- what is refused ---- */

static bool
same_upstreams(const struct writ_config *a, const struct writ_config *b)
{
    for (size_t i = 0; i < a->upstreams_n && i < b->upstreams_n; i++) {
        const struct writ_upstream_config *x = &a->upstreams[i], *y = &b->upstreams[i];
        if (!writ_view_equal(x->name, y->name) || x->kind != y->kind ||
            !writ_view_equal(x->http, y->http) || !same_views(&x->stdio, &y->stdio)) {
            return false;
        }
    }
    return a->upstreams_n == b->upstreams_n;
}

WRIT_RESULT
writ_fixed_check(
    const struct writ_config *running, const struct writ_config *fresh, struct writ_err *err)
{
    const struct {
        const char *what;
        bool same;
    } rows[] = {
        {"listen", writ_view_equal(running->listen.text, fresh->listen.text)},
        {"admin_listen", writ_view_equal(running->admin_listen.text, fresh->admin_listen.text)},
        {"store", writ_view_equal(running->store, fresh->store)},
        {"profile", writ_view_equal(running->profile, fresh->profile)},
        {"loops", running->loops == fresh->loops},
        {"the program or URL of an upstream", same_upstreams(running, fresh)},
        {"switching tls on or off", (running->tls.cert.len > 0) == (fresh->tls.cert.len > 0)},
        {"switching admin_tls on or off",
            (running->admin_tls.cert.len > 0) == (fresh->admin_tls.cert.len > 0)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].same) {
            WRIT_FAIL(err, WRIT_E_INVALID, "%s: this needs a restart", rows[i].what);
        }
    }
    return WRIT_DONE;
}

/* ---- what is kept ---- */

static void
put_name(struct writ_buf *names, const char *before, struct writ_view upstream, const char *name)
{
    writ_buf_str(names, names->len > 0 ? ", " : "");
    writ_buf_str(names, before);
    writ_buf_put(names, upstream);
    writ_buf_str(names, name);
}

static void
put_upstream(struct writ_buf *names, const struct writ_upstream_config *a,
    const struct writ_upstream_config *b)
{
    const struct {
        const char *name;
        bool same;
    } rows[] = {
        {".environment", same_pairs(&a->environment, &b->environment)},
        {".inherit", same_views(&a->inherit, &b->inherit)},
        {".directory", writ_view_equal(a->directory, b->directory)},
        {".ca", writ_view_equal(a->ca, b->ca)},
        {".connections", a->connections == b->connections},
        {".connect_timeout", a->connect_timeout_us == b->connect_timeout_us},
        {".resource", writ_view_equal(a->resource, b->resource)},
        {".credential.header", writ_view_equal(a->credential_header, b->credential_header)},
        {".credential.meta", a->credential_meta == b->credential_meta},
        {".timeout", a->timeout_us == b->timeout_us},
        {".list_timeout", a->list_timeout_us == b->list_timeout_us},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].same) {
            put_name(names, "upstreams.", a->name, rows[i].name);
        }
    }
}

/* How those are reached who are asked about reviews; keys, opinions and instructions are new. */
static bool
same_reviewers(const struct writ_config *a, const struct writ_config *b)
{
    for (size_t i = 0; i < a->reviewers_n && i < b->reviewers_n; i++) {
        const struct writ_reviewer_config *x = &a->reviewers[i], *y = &b->reviewers[i];

        if (!writ_view_equal(x->id, y->id) || x->kind != y->kind ||
            !writ_view_equal(x->url, y->url) || !writ_view_equal(x->secret, y->secret) ||
            !writ_view_equal(x->ca, y->ca) || !same_views(&x->argv, &y->argv) ||
            !same_views(&x->inherit, &y->inherit) ||
            !same_pairs(&x->environment, &y->environment) ||
            !writ_view_equal(x->directory, y->directory) || x->timeout_us != y->timeout_us) {
            return false;
        }
    }
    return a->reviewers_n == b->reviewers_n;
}

static bool
same_anchors(const struct writ_ledger_config *a, const struct writ_ledger_config *b)
{
    for (size_t i = 0; i < a->anchors_n && i < b->anchors_n; i++) {
        const struct writ_anchor_config *x = &a->anchors[i], *y = &b->anchors[i];

        if (!writ_view_equal(x->to, y->to) || !writ_view_equal(x->ca, y->ca) ||
            x->every_us != y->every_us) {
            return false;
        }
    }
    return a->anchors_n == b->anchors_n;
}

void
writ_fixed_keep(
    const struct writ_config *running, struct writ_config *fresh, struct writ_buf *ret_names)
{
    static const struct writ_view none = {NULL, 0};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (number_of(running, &numbers[i]) != number_of(fresh, &numbers[i])) {
            put_name(ret_names, numbers[i].name, none, "");
        }
    }
    if (!same_views(&running->hosts, &fresh->hosts)) {
        put_name(ret_names, "hosts", none, "");
    }
    if (!same_views(&running->origins, &fresh->origins)) {
        put_name(ret_names, "origins", none, "");
    }
    if (running->log.level != fresh->log.level) {
        put_name(ret_names, "log.level", none, "");
    }
    if (!same_anchors(&running->ledger, &fresh->ledger)) {
        put_name(ret_names, "ledger.anchors", none, "");
    }
    if (!writ_view_equal(running->ledger.remember, fresh->ledger.remember)) {
        put_name(ret_names, "ledger.remember", none, "");
    }
    if (!same_reviewers(running, fresh)) {
        put_name(ret_names, "reviewers", none, "");
    }
    for (size_t i = 0; i < running->upstreams_n && i < fresh->upstreams_n; i++) {
        put_upstream(ret_names, &running->upstreams[i], &fresh->upstreams[i]);
    }
    fresh->limits = running->limits;
    fresh->sessions = running->sessions;
    fresh->ledger = running->ledger;
    fresh->log = running->log;
    fresh->hosts = running->hosts;
    fresh->origins = running->origins;
    fresh->upstreams = running->upstreams;
    fresh->upstreams_n = running->upstreams_n;
}
