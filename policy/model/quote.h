/* quote.h - texts of others in a configuration file: in double quotes, and with escapes for
 * characters that hide (base/hidden.h), so that a person sees all that a reader of the file reads.
 * All is UTF-8 and one line. Failures stay in the buffer. */
#ifndef WRIT_POLICY_QUOTE_H
#define WRIT_POLICY_QUOTE_H

#include "base/bytes.h"

/** What the file is: each has escapes of its own for a character beyond U+FFFF. */
enum writ_quote {
    WRIT_QUOTE_YAML = 0, /* \UXXXXXXXX (YAML 1.2 5.7) */
    WRIT_QUOTE_JSON,     /* two of \uXXXX (RFC 8259 7) */
};

/** Appends a text as a scalar in double quotes. */
void writ_quote_text(struct writ_buf *ret, struct writ_view text, enum writ_quote file);

/** Appends JSON, which YAML reads as well. */
void writ_quote_json(struct writ_buf *ret, struct writ_view json, enum writ_quote file);

#endif
