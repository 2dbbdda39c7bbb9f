/* print.h - names, values and refusals in lines for people. */
#ifndef WRIT_CLI_PRINT_H
#define WRIT_CLI_PRINT_H

#include "evidence/json/json.h"
#include "evidence/record/reason.h"

/** A name in a line for people: unchanged when it is plain, else as a JSON string, cut, without
 * bytes that a terminal would act on. */
void writ_print_plain(struct writ_buf *line, struct writ_view name);

/** A word of a shell command for people to copy: quoted unless it is plain, so that a shell expands
 * nothing in it; what hides is written by its number. */
void writ_print_word(struct writ_buf *line, struct writ_view word);

/** A value as JSON for people, complete: hidden characters are written by their numbers. */
void writ_print_json(struct writ_buf *line, const struct writ_json *value);

/** The line that names the reason of a negative answer; the details go to standard error. */
void writ_print_refusal(struct writ_buf *out, enum writ_reason why, const char *text);

#endif
