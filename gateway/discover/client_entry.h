/* client_entry.h - one server in a client's file: where it is reached is replaced, the client's own
 * settings beside that (`disabled`, `timeout`, lists of tools) stay.
 *
 * The way to a server is said by type, command, args, env, cwd, the URL, headers, and what clients
 * add to these. All take the text of the file, and the object that lists its servers. */
#ifndef WRIT_GATEWAY_CLIENT_ENTRY_H
#define WRIT_GATEWAY_CLIENT_ENTRY_H

#include "evidence/json/digest.h"
#include "gateway/discover/client_text.h"

#define WRIT_CLIENT_ENTRY_MAX ((size_t)65536) /* bytes of the way to one server */

/** The server of that name, or NULL. */
const struct writ_json *writ_client_entry_find(
    const struct writ_json *root, const struct writ_client_path *list, struct writ_view name);

/** A digest of the way to a server: two entries that differ in settings alone have the same one.
 * WRIT_E_LIMIT, WRIT_E_PARSE, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_client_entry_digest(
    const struct writ_json *entry, struct writ_digest *ret, struct writ_err *err);

/** Leads a server to where `value` says, a JSON object; adds the server when it is not there. As
 * writ_client_text_put; on a failure `text` may have some of the changes. */
WRIT_RESULT writ_client_entry_put(struct writ_buf *text, const struct writ_client_path *list,
    struct writ_view name, struct writ_view value, struct writ_err *err);

/** Leads a server to where it led in the text `before`; removes it when it was not there. As
 * writ_client_entry_put. */
WRIT_RESULT writ_client_entry_restore(struct writ_buf *text, struct writ_view before,
    const struct writ_client_path *list, struct writ_view name, struct writ_err *err);

#endif
