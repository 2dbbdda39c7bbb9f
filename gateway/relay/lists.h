/* lists.h - tools/list and its like: what each upstream has, filtered, and on the endpoint of all
 * merged into one list.
 *
 * - A list of tools shows only what the caller may call, under the names that clients know
 *   (tool_name.h), and what passes whole is learned (tool_discovery.h).
 * - An upstream that fails to give its list is named in `io.writ/unavailable` and does not break
 * the list of the others, but for one that the configuration requires.
 * - Pages of the upstreams are asked for one after the other, up to what one answer holds; a cursor
 *   of ours (cursor.h) says where the list goes on. */
#ifndef WRIT_GATEWAY_LISTS_H
#define WRIT_GATEWAY_LISTS_H

#include "gateway/request/request.h"

/** Asks for the lists and answers when all have come. WAIT, or what a refusal returns. */
enum writ_step writ_lists_start(struct writ_request *request);

#endif
