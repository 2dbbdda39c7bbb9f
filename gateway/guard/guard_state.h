/* guard_state.h - a guard checks, right before it passes a call, that the target is still in the
 * state for which the credential was issued. Part of guard.h.
 *
 * The request is made from the probe of the tool (guard_probes.h), as the gateway makes it
 * (probe.h). A request to the tool server takes the way of the call, by the form's own function,
 * with an id that cannot be guessed; an HTTP GET is sent separately. Without a complete and
 * unambiguous answer in time the state is unknown, and the call is refused. */
#ifndef WRIT_GATEWAY_GUARD_STATE_H
#define WRIT_GATEWAY_GUARD_STATE_H

#include "gateway/guard/guard.h"

/**
 * Begins to probe the target of a call whose credential is valid otherwise.
 *
 * @return NONE: `saw` of the ask is called when there is an answer; CREDENTIAL_OK: no probe is
 *         needed; else the reason for the refusal
 */
enum writ_reason writ_guard_state_start(struct writ_guard_ask *ask);

/** The answer of the tool server; empty: none, or not in time. Called once by the form, and not
 * from inside its `look`. */
void writ_guard_state_told(struct writ_guard_ask *ask, struct writ_view response);

/** The kind of a message of the server, for open probes. */
enum writ_guard_answer {
    WRIT_GUARD_NO_ANSWER = 0,
    WRIT_GUARD_ANSWER,      /* to the question of this ask */
    WRIT_GUARD_ANSWER_LATE, /* to an earlier probe: it is dropped */
};

/** `ask` NULL: no question is open. */
enum writ_guard_answer writ_guard_state_is_answer(
    const struct writ_guard_ask *ask, struct writ_view message);

#endif
