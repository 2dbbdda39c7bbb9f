/* meta_namespace.h - names in _meta that begin with "io.writ/": what only Writ says, or what is
 * said to it.
 *
 * A client states its idempotency key, its run and the state that it expects under such names, and
 * Writ puts its credential there. None of a client's goes upstream, in whatever case and with
 * whatever message, because a server could take it for Writ's word (security.md J13). A governed
 * call is written from what was judged (forward.c); every other message is cleared here. For
 * the same reason none of a server's goes to a client: it could pretend to be a refusal. */
#ifndef WRIT_GATEWAY_META_NAMESPACE_H
#define WRIT_GATEWAY_META_NAMESPACE_H

#include "evidence/json/json.h"

/** True for a name of _meta that is Writ's, also in another case: a parser upstream may fold it. */
bool writ_meta_namespace_is(struct writ_view name);

/** True when _meta of a message has such a name: in its params, or in the result of a response. */
bool writ_meta_namespace_in(const struct writ_json *body);

/** Appends the message without them; everything else as it was, numbers to the letter.
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_meta_namespace_put_without(
    const struct writ_json *body, struct writ_buf *ret, struct writ_err *err);

/** False only for the text of a message that has no such name: a look at its bytes, without reading
 * it. A text with escapes that could hide one may have it. */
bool writ_meta_namespace_may_be_in(struct writ_view text);

/** Takes them out of a message that was read: puts the text without them, and that read again, in
 * the place of both. Nothing changes where there are none.
 * WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_PARSE: both are as they were, and must not be passed on. */
WRIT_RESULT writ_meta_namespace_clear(const struct writ_json_limits *limits,
    struct writ_arena *arena, struct writ_view *text, const struct writ_json **message);

#endif
