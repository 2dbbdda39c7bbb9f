/* jcs.h - the canonical form of a JSON value (RFC 8785).
 *
 * Every digest is made over these bytes, and a governed call goes upstream with these bytes.
 * Members are sorted by UTF-16 code units, strings have the minimal escapes, numbers are printed as
 * ECMAScript prints them.
 *
 * A number that would change its value is refused, never silently rounded:
 * - of 2^53 or more in size, it must be exactly what its canonical text denotes, however it is
 *   spelled. 9007199254740993 is refused (a double holds 9007199254740992), so is 2^60 spelled
 *   with all its digits (its canonical text is 1152921504606847000, another integer);
 *   1152921504606847000 itself, 1e30 and 1.5E+300 pass;
 * - one that is not zero but nearer to zero than to any other double (1e-400) is refused. So no two
 * integers share a canonical form, and reading a canonical text again never fails. Other fractions
 * are rounded to the nearest double, as RFC 8785 requires (0.10000000000000001 is written 0.1).
 * Policy refuses calls with such numbers (writ_jcs_is_exact), so that policy judges exactly the
 * number that is forwarded. */
#ifndef WRIT_EVIDENCE_JCS_H
#define WRIT_EVIDENCE_JCS_H

#include "evidence/json/json.h"

/**
 * Appends the canonical form.
 *
 * @param buf    holds a part of the form after a failure; its own failures (memory, maximum) are
 *               returned too
 * @param value  borrowed for the call; not NULL, not WRIT_JSON_NONE
 * @param err    filled on failure, with the byte offset of the number in its source; may be NULL
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  a number has no canonical form (see above)
 *         WRIT_E_LIMIT, WRIT_E_NOMEM  of the buffer
 *
 * Thread-safe. Does not block. Allocates only in `buf`.
 */
WRIT_RESULT writ_jcs_put(struct writ_buf *buf, const struct writ_json *value, struct writ_err *err);

/** As writ_jcs_put for values that are doubles by definition, as a crew's are: every number is
 * written as the double nearest to it, so 9007199254740993 becomes 9007199254740992. Never use it
 * for values that policy judges. WRIT_E_LIMIT, WRIT_E_NOMEM of the buffer. */
WRIT_RESULT writ_jcs_put_rounded(
    struct writ_buf *buf, const struct writ_json *value, struct writ_err *err);

/** As writ_jcs_put for values that are only compared and shown, never forwarded: a number that is
 * not exact (writ_jcs_is_exact) keeps all its digits. Where every number is exact it is the
 * canonical form; two values never have the same form. WRIT_E_LIMIT, WRIT_E_NOMEM of the buffer. */
WRIT_RESULT writ_jcs_put_lossless(
    struct writ_buf *buf, const struct writ_json *value, struct writ_err *err);

/** Whether a number equals its canonical form: its literal, read exactly, is the decimal that
 * ECMAScript prints for its double. True for 0.1, 1.0, 1e2 and 9007199254740994; false for
 * 0.10000000000000001, 99.9999999999999999999 and 9007199254740993, where policy would compare
 * another number than the one that is forwarded. */
bool writ_jcs_is_exact(const struct writ_json *number);

/** Whether every number in a value is exact. A verifier refuses arguments with one that is not:
 * their digest is that of other arguments. */
bool writ_jcs_all_exact(const struct writ_json *value);

#define WRIT_JCS_NUMBER_TEXT 32

/** Writes a finite double as ECMAScript's Number::toString does (RFC 8785 3.2.2.3): the shortest
 * digits that read back as the same double, and of those the nearest to it. Returns the length; not
 * NUL-terminated. Not finite is an invariant failure. */
size_t writ_jcs_number_text(double number, char ret[WRIT_JCS_NUMBER_TEXT]);

/** Appends it. */
void writ_jcs_number(struct writ_buf *buf, double number);

/** Compares UTF-8 strings as sequences of UTF-16 code units (RFC 8785 3.2.3): <0, 0, >0. */
int writ_jcs_compare(struct writ_view a, struct writ_view b);

#endif
