/* guard_state.h - a guard checks, right before it lets a call through, that the target is still in
 * the state for which the credential was issued. Part of guard.h.
 *
 * The question is made by the probe of the tool (guard_probes.h), in the way the gateway makes it
 * (probe.h). A question to the tool server goes the way of the call, by the form's own function,
 * with an id that cannot be guessed; an HTTP GET goes by itself. Without a complete and unambiguous
 * answer in time the state is not known, and the call is refused. */
#ifndef WRIT_GATEWAY_GUARD_STATE_H
#define WRIT_GATEWAY_GUARD_STATE_H

#include "gateway/guard/guard.h"

/**
 * Begins to look at the target of a call whose credential is good otherwise.
 *
 * @return NONE: `saw` of the ask is called when there is an answer;
 *         CREDENTIAL_OK: there is nothing to look at; else why the call is refused
 */
enum writ_reason writ_guard_state_start(struct writ_guard_ask *ask);

/** What the tool server answered; empty: nothing, or not in time. Called once by the form, and not
 * from inside its `look`. */
void writ_guard_state_told(struct writ_guard_ask *ask, struct writ_view response);

/** What a message of the server is to those who look. */
enum writ_guard_answer {
    WRIT_GUARD_NO_ANSWER = 0,
    WRIT_GUARD_ANSWER,      /* to the question of this ask */
    WRIT_GUARD_ANSWER_LATE, /* to an earlier question: it is dropped */
};

/** `ask` NULL: no question is open. */
enum writ_guard_answer writ_guard_state_is_answer(
    const struct writ_guard_ask *ask, struct writ_view message);

#endif
