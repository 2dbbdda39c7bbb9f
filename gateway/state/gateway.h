/* gateway.h - what the parts of a running gateway share, and what each loop has of its own.
 *
 * A call lives and dies on one loop: it works with its struct writ_worker, and reads what is in
 * struct writ_gateway, which does not change while the loops run. What a reload replaces is a
 * struct writ_generation; every request holds the one it began with, so that nothing changes under
 * a call that is under way. */
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
#include "gateway/state/ledger_query.h"
#include "gateway/state/owners.h"
#include "gateway/state/pending_responses.h"
#include "gateway/state/session.h"
#include "gateway/state/worker.h"
#include "gateway/stops/stop_rules.h"
#include "policy/model/config.h"

struct writ_steps;
struct writ_upstream;

struct writ_gateway {
    const struct writ_clock *clock;
    struct writ_log *log;
    struct writ_ledger *ledger;
    struct writ_stop_rules *stop_rules;
    struct writ_sessions *sessions;
    struct writ_pending_responses *answers;
    struct writ_owners *owners;        /* of resources */
    struct writ_logins *logins;        /* to the page */
    struct writ_ledger_query *queries; /* in the ledger */
    struct writ_metrics *metrics;
    struct writ_labels *labels; /* counts by upstream and tool */
    struct writ_resolver *resolver;
    const struct writ_profile *profile;
    const struct writ_steps *steps;
    const struct writ_config *config; /* of the start: never for an option that is LIVE */
    struct writ_view issuer;          /* of credentials, where no configuration names one */
    struct writ_view admin_url;       /* by the address that is bound; empty: no admin listener */
    struct writ_tokens *tokens;       /* what upstreams are shown, by their number */
    struct writ_upstream *upstreams[WRIT_UPSTREAMS_MAX];
    size_t upstreams_n;
    struct writ_worker *workers;
    size_t workers_n;
    struct writ_listener *listener, *admin_listener;
    struct writ_admin admin;
};

/** The worker of the running loop. */
struct writ_worker *writ_gateway_worker(
    const struct writ_gateway *gateway, const struct writ_loop *loop);

#endif
