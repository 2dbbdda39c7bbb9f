/* contents_answer.h - kept contents in JSON, for the admin listener and for commands, and the
 * number of contents that an erase would destroy. */
#ifndef WRIT_GATEWAY_CONTENTS_ANSWER_H
#define WRIT_GATEWAY_CONTENTS_ANSWER_H

#include "evidence/json/write.h"
#include "store/read/contents.h"
#include "store/tables/entry.h"

/** "none", "erased", "locked", "changed", "kept". Static storage. */
const char *writ_contents_answer_state(enum writ_content_state state);

/** The state of that name; ABSENT for another text. */
enum writ_content_state writ_contents_answer_find(struct writ_view name);

/** The state of a content that was read without keys: what is locked is there. */
const char *writ_contents_answer_unread(enum writ_content_state state);

/** Whether it has a content to show: then the look is recorded first. */
bool writ_contents_answer_shows(const struct writ_contents_call *call);

/**
 * Writes the object
 *     {"decision_id", "arguments_state", "arguments", "arguments_whole", "arguments_expire_at",
 *      "result_state", "result", "result_expire_at"}
 * in which a content that is not kept is null, as are its time and `arguments_whole`.
 */
void writ_contents_answer_put(const struct writ_contents_call *call, struct writ_write *w);

/** Counts the contents of the calls that the erase selects, arguments and results each. As
 * writ_contents_open and writ_contents_each. Blocks, and reads every decision that has contents. */
WRIT_RESULT writ_contents_answer_count(const char *path, const struct writ_clock *clock,
    const struct writ_entry_erase *erase, uint64_t *ret, struct writ_err *err);

#endif
