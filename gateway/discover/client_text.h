/* client_text.h - the text of an MCP client's own file: what it says, and edits that leave every
 * other byte as it is.
 *
 * Clients read more than JSON: comments (slash slash, slash star), a comma after the last element,
 * a byte order mark, and an empty file. Apart from that the text is strict (json.h): duplicate
 * names are refused, because clients differ about them. Comments outside of a replaced value stay.
 */
#ifndef WRIT_GATEWAY_CLIENT_TEXT_H
#define WRIT_GATEWAY_CLIENT_TEXT_H

#include "evidence/json/json.h"

#define WRIT_CLIENT_TEXT_MAX ((size_t)16 << 20) /* bytes: some clients keep their history there */

/** A member, by the names that lead to it from the outermost object. */
struct writ_client_path {
    const struct writ_view *names;
    size_t n; /* at least 1 */
};

/**
 * Reads a text.
 *
 * @param ret  an object, without members for an empty text; its strings live in `arena`
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    not what clients read; err has the line
 *         WRIT_E_INVALID  not an object
 *         WRIT_E_LIMIT    larger than WRIT_CLIENT_TEXT_MAX, or too deep
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_client_text_read(struct writ_view text, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_err *err);

/**
 * Gives a member a value. It is replaced where it stands, or added as the last one, in the layout
 * of the text; objects that are missing on the way to it are added.
 *
 * @param text   changed only on success; its old bytes are wiped
 * @param value  JSON
 *
 * @return as writ_client_text_read; WRIT_E_INVALID also when a value on the way is not an object
 */
WRIT_RESULT writ_client_text_put(struct writ_buf *text, const struct writ_client_path *path,
    struct writ_view value, struct writ_err *err);

/** Removes a member with the comma that it needed. WRIT_E_ABSENT when it is not there; else as
 * writ_client_text_put. */
WRIT_RESULT writ_client_text_remove(
    struct writ_buf *text, const struct writ_client_path *path, struct writ_err *err);

/** The text of a member's value as it stands, in `text`; ptr NULL when it is absent. As
 * writ_client_text_read. */
WRIT_RESULT writ_client_text_get(struct writ_view text, const struct writ_client_path *path,
    struct writ_view *ret, struct writ_err *err);

#endif
