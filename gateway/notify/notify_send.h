/* notify_send.h - sends one message to one place: a post to Slack, Teams or a webhook, or a mail.
 *
 * Secrets are read from their files each time, so that a new one needs no restart. Errors name what
 * went wrong, never a secret; the URLs of Slack and Teams are secrets. */
#ifndef WRIT_GATEWAY_NOTIFY_SEND_H
#define WRIT_GATEWAY_NOTIFY_SEND_H

#include "base/clock.h"
#include "gateway/notify/notice_text.h"

#include <stdatomic.h>

#define WRIT_NOTIFY_TIMEOUT_MS 10000

/** Reads the secrets of a place once, so that a fault stops the start and not the first message.
 * WRIT_E_ABSENT, WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_NOMEM. Blocks. */
WRIT_RESULT writ_notify_send_check(const struct writ_notify_config *place, struct writ_err *err);

/**
 * Sends.
 *
 * @param id     of the message, the same for each try
 * @param clock  for the time in the message
 * @param stop   cancels soon after it becomes true
 *
 * @return WRIT_OK  the place has taken it (2xx, 250)
 *         as writ_notify_send_check, writ_fetch_ask and writ_mail_send
 *
 * Blocks, for WRIT_NOTIFY_TIMEOUT_MS at most.
 */
WRIT_RESULT writ_notify_send(const struct writ_notify_config *place,
    const struct writ_notice_message *message, struct writ_view id, const struct writ_clock *clock,
    const atomic_bool *stop, struct writ_err *err);

#endif
