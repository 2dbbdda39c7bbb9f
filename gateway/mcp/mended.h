/* mended.h - the id of a message that is JSON but for halves of characters.
 *
 * JSON.stringify of JavaScript writes a lone surrogate of a string as an escape ("\ud800"). Every
 * reader of Writ refuses it, because it is no text. Over standard streams a client waits for a
 * refusal with its id, so the refusal takes the id from a mended copy. Nothing else of that copy
 * may be used: the client has not sent it. Pure. */
#ifndef WRIT_GATEWAY_MENDED_H
#define WRIT_GATEWAY_MENDED_H

#include "evidence/json/json.h"

/** A copy in the arena with U+FFFD in the place of each such escape. ptr NULL: it has none, or no
 * memory. */
struct writ_view writ_mended_text(struct writ_view text, struct writ_arena *arena);

/** The id of a request in such a copy; NULL of another message, and when the id itself is mended.
 */
const struct writ_json *writ_mended_id(const struct writ_json *message);

#endif
