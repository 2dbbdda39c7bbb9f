/* odd.h - the kinds of oddities (oddity.h) of one definition as bits, and what the option
 * `definitions` makes of them. Pure. */
#ifndef WRIT_GATEWAY_ODD_H
#define WRIT_GATEWAY_ODD_H

#include "evidence/json/write.h"
#include "gateway/mcp/oddity.h"
#include "policy/model/config.h"

#define WRIT_ODD_BIT(kind) (1u << (kind))

/** The kinds of a definition alone: HIDDEN, LOOKALIKE, ADDRESSES. Without memory: all of them. */
unsigned writ_odd_of(const struct writ_json *definition);

/** The same of a definition as text. All of them when it cannot be read. */
unsigned writ_odd_of_text(struct writ_view definition);

/** Those of the kinds for which a tool is withheld: `hide` and `refuse`.
 *
 * @param named  a rule names this tool itself, not by a pattern: its author knows that two servers
 *               have the name, and `hide` of REPEATS does not withhold it */
unsigned writ_odd_withheld(const struct writ_odd_config *config, unsigned odd, bool named);

/** Those of the kinds that cannot be accepted: `refuse`. */
unsigned writ_odd_refused(const struct writ_odd_config *config, unsigned odd);

/** The first of the kinds; WRIT_ODDITY_NONE for none. */
enum writ_oddity_kind writ_odd_first(unsigned odd);

/** Writes the member `odd`: an array of the names of the kinds. */
void writ_odd_write(struct writ_write *w, unsigned odd);

/** Appends the names of the kinds: "hidden, addresses". */
void writ_odd_put(struct writ_buf *ret, unsigned odd);

#endif
