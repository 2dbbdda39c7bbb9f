/* upstream.h - one MCP server behind the gateway, over either transport.
 *
 * It gets upcalls (upcall.h), and looks like streamable HTTP for both transports: stdio.h makes a
 * stdio upstream look like that, with separate ids, progress tokens and cancellations for the
 * clients that share the child. */
#ifndef WRIT_GATEWAY_UPSTREAM_H
#define WRIT_GATEWAY_UPSTREAM_H

#include "gateway/state/catalog_snapshot.h"
#include "gateway/upstream/upcall.h"
#include "policy/model/config.h"

struct writ_gateway;

#define WRIT_UPSTREAM_FAILURES 3 /* in a row */

/** Sends the message. A failure to send is reported by `end` with WRIT_NOT_SENT, like any other.
 * `worker` is that of the running loop. */
void writ_upcall_start(
    struct writ_upstream *upstream, struct writ_worker *worker, struct writ_upcall *call);

/** Cancels: the HTTP exchange is closed, or a stdio server gets notifications/cancelled when
 * `tell`; `end` comes later, never from inside. Do not call it after `end`. */
void writ_upcall_cancel(struct writ_upcall *call, bool tell);

/** Pauses and resumes a stream's events, while the client is slower than the upstream. */
void writ_upcall_pause(struct writ_upcall *call);
void writ_upcall_resume(struct writ_upcall *call);

/** Its configuration entry. */
const struct writ_upstream_config *writ_upstream_config(const struct writ_upstream *upstream);

/** Its place among the gateway's upstreams. */
size_t writ_upstream_index(const struct writ_upstream *upstream);

/** The learned catalog of its tools. */
struct writ_catalog_snapshot *writ_upstream_snapshot(struct writ_upstream *upstream);

/** Whether it can be called now: an HTTP upstream always, a child while it is up. */
bool writ_upstream_is_up(const struct writ_upstream *upstream);

/** Whether `program_digest` refused the last start of its child. Any thread. */
bool writ_upstream_is_refused(const struct writ_upstream *upstream);

/** Whether that was because an operator must accept a file of it. Any thread. */
bool writ_upstream_is_unaccepted(const struct writ_upstream *upstream);

/** Whether it is up, and at least one of its last WRIT_UPSTREAM_FAILURES messages had an answer.
 * For the operator: calls are made in any case. Any thread. */
bool writ_upstream_answers(const struct writ_upstream *upstream);

/** Whether a request to many upstreams may go to this one (breaker.h), now and as long as its
 * `list_timeout` allows. */
bool writ_upstream_lets(struct writ_upstream *upstream, const struct writ_worker *worker);

/** Such a request was not answered in time. An answer to any request is noted by itself. */
void writ_upstream_was_silent(struct writ_upstream *upstream, const struct writ_worker *worker);

/** Whether such requests leave it out at this time (monotonic). Any thread. */
bool writ_upstream_is_left_out(const struct writ_upstream *upstream, int64_t now_us);

/** The limit of the whole of such an answer, in multiples of its list_timeout. */
#define WRIT_UPSTREAM_LIST_TIMES 5

/** Opens the upstream of `config`, with its part on every worker's loop. Before the loops run.
 * WRIT_E_INVALID, WRIT_E_NOMEM, WRIT_E_IO. */
WRIT_RESULT writ_upstream_open(struct writ_gateway *gateway,
    const struct writ_upstream_config *config, struct writ_upstream **ret, struct writ_err *err);

/** Ends all open HTTP messages as timed out. From the worker's loop. */
void writ_upstream_expire(struct writ_upstream *upstream, const struct writ_worker *worker);

/** Stops a child, while the loops still run; writ_upstream_is_stopped reports its end. An HTTP
 * upstream has nothing to stop. Any thread. */
void writ_upstream_stop(struct writ_upstream *upstream);
bool writ_upstream_is_stopped(const struct writ_upstream *upstream);

/** Closes connections and frees; call it after the loops have ended, or before they run. NULL is
 * permitted. */
void writ_upstream_close(struct writ_upstream *upstream);

/** The upstream of that name, or NULL. */
struct writ_upstream *writ_upstream_find(const struct writ_gateway *gateway, struct writ_view name);

#define WRIT_UPSTREAM_ASKER_MAX 1024 /* bytes of the name of an asker */

/** Appends the name of an upstream as the asker of a client (server_id.h). A child has it with the
 * tag of this process: the answer belongs to this child, and to none of another gateway or of a
 * later start. */
WRIT_RESULT writ_upstream_asker_put(
    const struct writ_upstream *upstream, const struct writ_gateway *gateway, struct writ_buf *ret);

/** The upstream that asked under that name, or NULL. `ret_foreign`: it was a child of another
 * process. */
struct writ_upstream *writ_upstream_asker_find(
    const struct writ_gateway *gateway, struct writ_view name, bool *ret_foreign);

#endif
