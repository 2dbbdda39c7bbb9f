/* types.h - the few types that every public header of Writ uses. */
#ifndef WRIT_TYPES_H
#define WRIT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Borrowed bytes: not owned, not NUL-terminated. {NULL, 0} is the empty view. */
struct writ_view {
    const char *ptr;
    size_t len;
};

/** The kind of a failure, by what the caller can do about it. */
enum writ_code {
    WRIT_E_UNSET = 0, /* a result that was never set: treated as a failure everywhere */
    WRIT_OK,
    WRIT_E_INVALID,  /* a well-formed input with a value that is not allowed */
    WRIT_E_PARSE,    /* the input is not in its format */
    WRIT_E_LIMIT,    /* a named limit was exceeded */
    WRIT_E_MISMATCH, /* two things that must agree do not */
    WRIT_E_ABSENT,   /* the requested thing does not exist */
    WRIT_E_BUSY,     /* a queue is full or a resource is held: refuse now, may work later */
    WRIT_E_NOMEM,
    WRIT_E_IO,
    WRIT_E_CRYPTO,
};

typedef struct writ_result {
    enum writ_code code;
} writ_result;

#define WRIT_RESULT __attribute__((warn_unused_result)) writ_result

#define WRIT_ERR_TEXT 512

/** The most precise description of a failure. Never holds an argument value, a token or a key.
 * Zero-initialise before use; the function that fails first fills it. */
struct writ_err {
    char text[WRIT_ERR_TEXT]; /* what was wrong, where, and what to do; NUL-terminated */
    size_t offset;            /* byte offset into the input, where one applies */
    size_t line;              /* 1-based line of a file, or 0 */
};

#endif
