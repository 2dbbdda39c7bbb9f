/* gateway.h - the state that the parts of a running gateway share.
 *
 * A call runs on one loop: it uses its struct writ_worker, and reads struct writ_gateway, which
 * does not change while the loops run. A reload replaces the struct writ_generation; every request
 * holds the one with which it began, so that nothing changes during a call. */
#ifndef WRIT_GATEWAY_GATEWAY_H
#define WRIT_GATEWAY_GATEWAY_H

#include "base/clock.h"
#include "base/log.h"
#include "evidence/record/profile.h"
#include "gateway/auth/logins.h"
#include "gateway/auth/tokens.h"
#include "gateway/io/resolver.h"
#include "gateway/listener/admin.h"
#include "gateway/listener/labels.h"
#include "gateway/listener/listener.h"
#include "gateway/listener/metrics.h"
#include "gateway/state/figures_feed.h"
#include "gateway/state/ledger_query.h"
#include "gateway/state/owners.h"
#include "gateway/state/pending_responses.h"
#include "gateway/state/session.h"
#include "gateway/state/worker.h"
#include "gateway/stops/stop_rules.h"
#include "policy/model/config.h"

struct writ_notify;
struct writ_runs;
struct writ_steps;
struct writ_telemetry;
struct writ_upstream;

#define WRIT_GATEWAY_TAG 17 /* hexadecimal, and NUL */

struct writ_gateway {
    const struct writ_clock *clock;
    char tag[WRIT_GATEWAY_TAG]; /* random: names this process in the ids of its children's requests
                                 */
    struct writ_log *log;
    struct writ_ledger *ledger;
    struct writ_stop_rules *_Atomic stop_rules;
    atomic_bool heard; /* another gateway of the same ledger recorded a fact */
    struct writ_sessions *sessions;
    struct writ_pending_responses *answers;
    struct writ_owners *owners;        /* of resources */
    struct writ_runs *runs;            /* what runs have seen */
    struct writ_logins *logins;        /* to the page */
    struct writ_ledger_query *queries; /* in the ledger */
    struct writ_ledger_query *lookups; /* of calls, which wait for no page */
    struct writ_ledger_query *replays; /* of the page: they take long */
    struct writ_figures_feed *figures; /* for the page */
    struct writ_metrics *metrics;
    struct writ_metrics_shard *ledger_metrics; /* of the ledger's writer */
    struct writ_labels *labels;                /* counts by upstream and tool */
    struct writ_notify *notify;                /* NULL: none */
    struct writ_resolver *resolver;
    struct writ_telemetry *telemetry; /* NULL: none */
    const struct writ_profile *profile;
    const struct writ_steps *steps;
    const struct writ_config *config; /* of the start: never for an option that is LIVE */
    struct writ_view issuer;          /* of credentials, when the configuration names none */
    struct writ_view admin_url;       /* by the address that is bound; empty: no admin listener */
    struct writ_tokens *tokens;       /* the credentials for upstreams, by their number */
    struct writ_upstream *upstreams[WRIT_UPSTREAMS_MAX];
    size_t upstreams_n;
    struct writ_worker *workers;
    size_t workers_n;
    atomic_bool has_loops; /* all workers are made, for other threads */
    struct writ_listener *listener, *admin_listener;
    struct writ_admin admin;
};

/** The worker of the running loop. */
struct writ_worker *writ_gateway_worker(
    const struct writ_gateway *gateway, const struct writ_loop *loop);

#endif
