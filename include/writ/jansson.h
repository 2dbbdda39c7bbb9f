/* jansson.h - values of jansson in and out of Writ, for C programs that have JSON as json_t.
 *
 * verify.h and crew.h take and give JSON as text. writ_jansson_write makes the text of a json_t,
 * writ_jansson_read makes a json_t from a text, writ_jansson_claim makes one from a claim:
 *
 *     char *arguments = NULL;
 *     size_t len = 0;
 *
 *     if (writ_jansson_write(json_object_get(params, "arguments"), &arguments, &len, &err).code ==
 *         WRIT_OK) {
 *         call.arguments = (struct writ_view){arguments, len};
 *         ... writ_verify_credential(verify, token, &call, &answer, &err) ...
 *         json_object_set_new(log, "tenant", writ_jansson_claim(answer.tenant));
 *     }
 *     free(arguments);
 *
 * The text is canonical (RFC 8785): its SHA-256 is Writ's digest of the value. A value that has a
 * canonical form converts in both directions and keeps that form. A value without one is refused,
 * never repaired: an integer that no double holds (9007199254740993), a member that occurs twice,
 * text that is not UTF-8. U+0000 is a character like any other, in strings and in names.
 *
 * Absent is not null: a NULL json_t and a view whose `ptr` is NULL stand for each other.
 *
 * Optional: no other header of Writ needs jansson. Link with `pkg-config writ-jansson`, beside
 * `writ-verify` or `writ`. Nothing here does I/O or blocks. Threads may share a value while none
 * changes it. `err` may be NULL. */
#ifndef WRIT_JANSSON_H
#define WRIT_JANSSON_H

#include "writ/types.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define WRIT_JANSSON_BYTES_MAX ((size_t)1 << 30) /* of a text, also before it is canonical */
#define WRIT_JANSSON_DEPTH_MAX 512               /* arrays and objects inside each other */

/**
 * The canonical text of a value.
 *
 * @param value    borrowed for the call; NULL gives NULL with length 0
 * @param ret      new, NUL-terminated, free with free(3); written only on success
 * @param ret_len  bytes without the NUL; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  a number has no canonical form, or a string is not UTF-8 (jansson has
 *                       functions that do not check it)
 *         WRIT_E_LIMIT  beyond WRIT_JANSSON_BYTES_MAX or WRIT_JANSSON_DEPTH_MAX; a value that
 *                       contains itself is too deep
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_jansson_write(
    const json_t *value, char **ret, size_t *ret_len, struct writ_err *err);

/**
 * The value of a JSON text. An integer that fits 64 bits is a JSON_INTEGER, every other number a
 * JSON_REAL.
 *
 * @param text  borrowed for the call; one whose `ptr` is NULL gives NULL
 * @param ret   new, free with json_decref; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  not strict JSON (RFC 7493), or a number has no canonical form; err has the
 *                       byte offset
 *         WRIT_E_LIMIT  beyond WRIT_JANSSON_BYTES_MAX or WRIT_JANSSON_DEPTH_MAX
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_jansson_read(struct writ_view text, json_t **ret, struct writ_err *err);

/** A string of verify.h or crew.h that is not JSON, such as a claim of an answer: a JSON_STRING, or
 * JSON_NULL for a view whose `ptr` is NULL. New, free with json_decref; NULL without memory or when
 * it is not UTF-8. */
static inline json_t *
writ_jansson_claim(struct writ_view claim)
{
    return claim.ptr != NULL ? json_stringn(claim.ptr, claim.len) : json_null();
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
