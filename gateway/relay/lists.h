/* lists.h - tools/list and similar methods: the items of each upstream, filtered, and on the
 * endpoint of all upstreams merged into one list.
 *
 * - A list of tools shows only those that the caller may call, under the names for clients
 *   (tool_name.h), and a complete list is learned (tool_discovery.h).
 * - An upstream that fails to give its list is named in `io.writ/unavailable` and does not break
 *   the list of the others, except one that the configuration requires.
 * - Pages of the upstreams are requested one after the other, until an answer is full; a cursor of
 *   the gateway (cursor.h) has the place where the list continues. */
#ifndef WRIT_GATEWAY_LISTS_H
#define WRIT_GATEWAY_LISTS_H

#include "gateway/request/request.h"

/** Requests the lists and answers when all have arrived. Returns WAIT, or the step of a refusal. */
enum writ_step writ_lists_start(struct writ_request *request);

#endif
