/* put.h - what commands write for people: names, and why something does not hold. */
#ifndef WRIT_CLI_PRINT_H
#define WRIT_CLI_PRINT_H

#include "evidence/json/json.h"
#include "evidence/record/reason.h"

/** A name in a line for people: as it is when it is plain, else as a JSON string, cut off, without
 * anything that a terminal would act on. */
void writ_print_plain(struct writ_buf *line, struct writ_view name);

/** A value as JSON for people, whole: what hides in its texts is written by its number. */
void writ_print_json(struct writ_buf *line, const struct writ_json *value);

/** The line that names why something does not hold; what is wrong goes to standard error. */
void writ_print_refusal(struct writ_buf *out, enum writ_reason why, const char *text);

#endif
