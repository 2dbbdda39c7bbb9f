/* result.h - how a function of Writ reports that it failed, and why.
 *
 * A function that can fail returns WRIT_RESULT, a one-member struct, so that the compiler refuses
 * `return -1`, `if (writ_x())` and an ignored result. A zeroed result is a failure. A deny is not
 * an error: a call that was evaluated and refused returns WRIT_OK. */
#ifndef WRIT_BASE_RESULT_H
#define WRIT_BASE_RESULT_H

#include "writ/types.h"

/** The one successful result. */
#define WRIT_DONE ((writ_result){WRIT_OK})

/** Returns early with the same code when `call` failed. */
#define WRIT_TRY(call)                                                                             \
    do {                                                                                           \
        writ_result writ_try_ = (call);                                                            \
        if (writ_try_.code != WRIT_OK) {                                                           \
            return writ_try_;                                                                      \
        }                                                                                          \
    } while (0)

/** Fills `err` (which may be NULL) and returns `code`. The macro shows the compiler and analysers
 * that the result is not a success. */
#define WRIT_FAIL(err, how, ...)                                                                   \
    do {                                                                                           \
        const enum writ_code writ_how_ = (how);                                                    \
        (void)writ_fail((err), writ_how_, __VA_ARGS__);                                            \
        return (writ_result){writ_how_};                                                           \
    } while (0)

/** As WRIT_FAIL, with the byte offset at which the input is wrong. */
#define WRIT_FAIL_AT(err, how, offset, ...)                                                        \
    do {                                                                                           \
        const enum writ_code writ_how_ = (how);                                                    \
        (void)writ_fail_at((err), writ_how_, (offset), __VA_ARGS__);                               \
        return (writ_result){writ_how_};                                                           \
    } while (0)

/** Ignores a failure that cannot be reported and needs no undo; say why beside it. */
#define WRIT_IGNORE(call)                                                                          \
    do {                                                                                           \
        writ_result writ_ignored_ = (call);                                                        \
        (void)writ_ignored_;                                                                       \
    } while (0)

/** Stops the process when an invariant of our own (never of the input) does not hold, in release
 * builds too: a gateway that is down forwards nothing. */
#define WRIT_INVARIANT(cond)                                                                       \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            writ_invariant_failed(#cond, __FILE__, __LINE__);                                      \
        }                                                                                          \
    } while (0)

/** True when `r` is WRIT_OK. */
static inline bool
writ_is_ok(writ_result r)
{
    return r.code == WRIT_OK;
}

/** Fills `err->text` (cut at its end, control bytes replaced by '?') and returns `code`. `err` may
 * be NULL; its offset and line stay unchanged. */
writ_result writ_fail(struct writ_err *err, enum writ_code code, const char *fmt, ...)
    __attribute__((cold, format(printf, 3, 4)));

/** As writ_fail, and sets the byte offset at which the input is wrong. */
writ_result writ_fail_at(struct writ_err *err, enum writ_code code, size_t offset, const char *fmt,
    ...) __attribute__((cold, format(printf, 4, 5)));

/** Puts the place where it happened, such as the path of a file, before the text of a failure,
 * unless it is there already; a success stays one. `err` may be NULL. */
writ_result writ_fail_in(struct writ_err *err, writ_result result, const char *place)
    __attribute__((warn_unused_result));

/** The code as a lower-case word ("ok", "limit"): for messages and tests. Static storage. */
const char *writ_code_name(enum writ_code code);

void writ_invariant_failed(const char *cond, const char *file, int line)
    __attribute__((cold, noreturn));

#endif
