/* stop_rules.h - the stops of administrators: calls of an agent, of a tool, of a tenant, under a
 * policy; or one allowed call, by its credential.
 *
 * From the moment a stop is pulled no credential is issued for the calls that it names, and their
 * earlier credentials are on the list of revoked ones (status_list.h) that tool servers check. It
 * is in force until it is lifted, also after a restart: stops are records of the ledger
 * (evidence/record/fact.h), which the caller submits. A stop is in force at once even when it
 * cannot be written; it is lifted only when that can be written.
 *
 * Credentials of the same agent, tenant, tool and policy share a place in that list
 * (revocations.h). Revoked credentials stay revoked when the stop is lifted.
 *
 * Where several gateways share the ledger, each gives the same list (shared_list.h), and keeps no
 * file for it.
 *
 * A stop of one credential also revokes those that share its place; new ones are still issued. It
 * ends when the credential expires.
 *
 * Thread-safe: one lock, under which nothing waits for the ledger. */
#ifndef WRIT_GATEWAY_STOP_RULES_H
#define WRIT_GATEWAY_STOP_RULES_H

#include "base/id.h"
#include "evidence/credential/status_list.h"
#include "evidence/jose/signer.h"
#include "evidence/record/fact.h"
#include "gateway/stops/kill.h"

#define WRIT_STOP_RULES_TEXT_MAX   512  /* bytes of a value, a tenant, a name */
#define WRIT_STOP_RULES_REASON_MAX 1024 /* bytes of why */
#define WRIT_STOP_RULES_WELL_KNOWN "/.well-known/writ-status-list"

struct writ_stop_rules;

/** Opens the file beside the ledger `store` that has the ranges of places (revocations.h). Without
 * it, or when it is not readable, all credentials of earlier runs count as live, unless `first`
 * says that there was no run.
 *
 * @param shared  other gateways write the ledger too: there is no file, and writ_stop_rules_note is
 *                called with every fact that is recorded from now on, also by this gateway
 * @param ret     new, free with writ_stop_rules_free; written only on success
 *
 * WRIT_E_INVALID (others can change the file), WRIT_E_IO, WRIT_E_NOMEM. Blocks. */
WRIT_RESULT writ_stop_rules_open(const char *store, const struct writ_clock *clock, bool shared,
    bool first, struct writ_stop_rules **ret, struct writ_err *err);

/** Takes a recorded fact: call it with every fact of the ledger, in order, before any other
 * function. WRIT_E_MISMATCH: not the record of a stop; WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_stop_rules_hear(
    struct writ_stop_rules *stop_rules, const struct writ_fact *fact, struct writ_err *err);

/** Notes a fact that another gateway recorded in the same ledger: its canonical bytes, copied.
 * Every later question knows it; one that cannot be taken stops every call. */
void writ_stop_rules_note(struct writ_stop_rules *stop_rules, struct writ_view fact);

/** NULL is permitted. */
void writ_stop_rules_free(struct writ_stop_rules *stop_rules);

/** True when a stop names the call. */
bool writ_stop_rules_stops(struct writ_stop_rules *stop_rules, const struct writ_kill_call *call);

/** Gives the place in the list for a credential that expires at `until_s`. False: a stop names the
 * call, or its lifetime cannot be recorded, and no credential may be issued. One atomic step: a
 * later stop revokes every credential that is admitted here. Writes the file, and blocks, for a
 * credential that lives longer than all before it. */
bool writ_stop_rules_admit(struct writ_stop_rules *stop_rules, const struct writ_kill_call *call,
    int64_t until_s, int64_t *ret_place);

/** The state of a place in the list. */
enum writ_status writ_stop_rules_status(struct writ_stop_rules *stop_rules, int64_t place);

/**
 * Pulls a stop: it is in force when this returns. Record it then, and call writ_stop_rules_pulled.
 *
 * @param kill      gets its id, which lies in `ret_id`, and its time
 * @param ret_id    written only when it is in force
 * @param ret_data  gets the fact to record, WRIT_FACT_KILL_PULLED
 *
 * @return WRIT_OK
 *         WRIT_E_IO       it is in force, but its record cannot be made
 *         WRIT_E_INVALID  it names nothing, or a text is too long, or `issued` is missing
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO it is not in force
 */
WRIT_RESULT writ_stop_rules_pull(struct writ_stop_rules *stop_rules, struct writ_kill *kill,
    char ret_id[WRIT_ID_TEXT], struct writ_buf *ret_data, struct writ_err *err);

/** Once for each stop that was pulled: its record is durable, or it is not, and a restart forgets
 * the stop. In a shared log its fact was noted before. */
void writ_stop_rules_pulled(
    struct writ_stop_rules *stop_rules, const struct writ_kill *kill, bool durable);

/**
 * Begins to lift a stop, which stays in force: record it, and call writ_stop_rules_lifted when that
 * is durable.
 *
 * @param lift      its id; who lifts it and the reason, which are recorded; with a tenant only a
 *                  stop of that tenant
 * @param ret_data  gets the fact to record, WRIT_FACT_KILL_LIFTED
 *
 * WRIT_E_ABSENT; WRIT_E_BUSY: it is not recorded yet; WRIT_E_NOMEM.
 */
WRIT_RESULT writ_stop_rules_lift(struct writ_stop_rules *stop_rules, const struct writ_kill *lift,
    struct writ_buf *ret_data, struct writ_err *err);

/** The lift is durable: the stop of that id, if it is still there, is no longer in force. */
void writ_stop_rules_lifted(struct writ_stop_rules *stop_rules, struct writ_view id);

/** Writes all stops as an array, or those of a tenant when it is not empty. */
void writ_stop_rules_put(
    struct writ_stop_rules *stop_rules, struct writ_view tenant, struct writ_write *w);

/** Appends the URI of the list of that issuer: the value for the claim `status`. */
void writ_stop_rules_put_uri(struct writ_buf *buf, struct writ_view issuer);

/** Appends the list as a signed token. It is signed again after a change, else at most once a
 * second. */
WRIT_RESULT writ_stop_rules_put_list(struct writ_stop_rules *stop_rules,
    const struct writ_signer *signer, struct writ_view uri, struct writ_buf *buf,
    struct writ_err *err);

#endif
