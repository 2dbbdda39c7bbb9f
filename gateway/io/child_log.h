/* child_log.h - what the log says of a child that ended, of any owner. */
#ifndef WRIT_GATEWAY_CHILD_LOG_H
#define WRIT_GATEWAY_CHILD_LOG_H

#include "base/log.h"
#include "gateway/io/child.h"

#define WRIT_CHILD_LOG_FIELDS 3

/**
 * Why it ended; of one that was not started the error; else the last words that it wrote to
 * standard error.
 *
 * @param words  whether these may be told: not of a child that was told of a call, whose words may
 *               have its values
 * @param ret    borrows from `end`
 *
 * @return how many fields there are
 */
size_t writ_child_log_end(
    const struct writ_child_end *end, bool words, struct writ_log_field ret[WRIT_CHILD_LOG_FIELDS]);

#endif
