/* child_log.c - turns the end of a child into log fields. The child's own words are logged only
 * when the caller allows it, because they may contain argument values. */
#include "gateway/io/child_log.h"

#include <string.h>

size_t
writ_child_log_end(
    const struct writ_child_end *end, bool words, struct writ_log_field ret[WRIT_CHILD_LOG_FIELDS])
{
    ret[0] = writ_log_str("why", writ_child_why_name(end->why));
    ret[1] = writ_log_int("detail", end->detail);
    if (end->why == WRIT_CHILD_NOT_STARTED) {
        ret[2] = writ_log_str("error", strerrordesc_np(end->detail));
        return 3;
    }
    if (words && end->said.len > 0) {
        ret[2] = writ_log_text("said", end->said);
        return 3;
    }
    return 2;
}
