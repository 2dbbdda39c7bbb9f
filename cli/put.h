/* put.h - members of the JSON with which commands answer, and names in lines for people. */
#ifndef WRIT_CLI_PUT_H
#define WRIT_CLI_PUT_H

#include "evidence/reason.h"
#include "evidence/write.h"

void writ_put_text(struct writ_write *w, const char *name, struct writ_view text);
/** Null for {NULL, 0}. */
void writ_put_text_or_null(struct writ_write *w, const char *name, struct writ_view text);
void writ_put_count(struct writ_write *w, const char *name, uint64_t count);
void writ_put_flag(struct writ_write *w, const char *name, bool flag);

/** A name in a line for people: as it is when it is plain, else as a JSON string, cut off, without
 * anything that a terminal would act on. */
void writ_put_plain(struct writ_buf *line, struct writ_view name);

/** The line that names why something does not hold; what is wrong goes to standard error. */
void writ_put_refusal(struct writ_buf *out, enum writ_reason why, const char *text);

#endif
