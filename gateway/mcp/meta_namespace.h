/* meta_namespace.h - names in _meta that begin with "io.writ/": members by Writ or for Writ.
 *
 * A client states its idempotency key, its run and the state that it expects under such names, and
 * Writ puts its credential there. None of a client's names goes upstream, in any case and with any
 * message, because a server could take it for Writ's own. A governed call is
 * written from the judged value (forward.c); every other message is cleared here. For the same
 * reason none of a server's names goes to a client: it could imitate a refusal. */
#ifndef WRIT_GATEWAY_META_NAMESPACE_H
#define WRIT_GATEWAY_META_NAMESPACE_H

#include "evidence/json/json.h"

/** True for a name of _meta in Writ's namespace, also in another case: a parser upstream may fold
 * it. */
bool writ_meta_namespace_is(struct writ_view name);

/** True when _meta of a message has such a name: in its params, or in the result of a response. */
bool writ_meta_namespace_in(const struct writ_json *body);

/** Appends the message without such names; everything else unchanged, numbers exactly.
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_meta_namespace_put_without(
    const struct writ_json *body, struct writ_buf *ret, struct writ_err *err);

/** False only for the text of a message that has no such name: scans its bytes without parsing.
 * True for a text with escapes that could hide one. */
bool writ_meta_namespace_may_be_in(struct writ_view text);

/** Removes such names from a parsed message: replaces text and value by ones without them. Changes
 * nothing without such names. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_PARSE: both are unchanged, and
 * must not be passed on. */
WRIT_RESULT writ_meta_namespace_clear(const struct writ_json_limits *limits,
    struct writ_arena *arena, struct writ_view *text, const struct writ_json **message);

#endif
