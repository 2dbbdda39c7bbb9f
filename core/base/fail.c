/* fail.c - the functions of result.h: fills error texts, and stops the process at a broken
 * invariant. They have their own file, because they read text. A text is one line without hidden
 * characters. */
#include "base/result.h"

#include "base/hidden.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A message is one line wherever it appears, and every character of it is visible: a character that
 * hides becomes a question mark. A character that the cut broke is left out. */
static void
keep_seen(char *text, bool is_cut)
{
    struct writ_view rest = writ_view_str(text);

    while (rest.len > 0) {
        uint32_t point = 0;
        size_t len = writ_utf8_character(rest, &point);
        size_t step = len > 0 ? len : 1;
        if (len == 0 && is_cut && rest.len < 4) {
            break;
        }
        if (len == 0 || writ_hidden_kind(point) != WRIT_HIDDEN_NOT) {
            *text++ = '?';
        } else {
            memmove(text, rest.ptr, len);
            text += len;
        }
        rest = writ_view_sub(rest, step, rest.len);
    }
    *text = '\0';
}

static void __attribute__((format(printf, 2, 0)))
fill(struct writ_err *err, const char *fmt, va_list args)
{
    int len = vsnprintf(err->text, sizeof err->text, fmt, args);

    keep_seen(err->text, len >= (int)sizeof err->text);
}

writ_result
writ_fail(struct writ_err *err, enum writ_code code, const char *fmt, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, fmt);
        fill(err, fmt, args);
        va_end(args);
    }
    return (writ_result){code};
}

writ_result
writ_fail_at(struct writ_err *err, enum writ_code code, size_t offset, const char *fmt, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, fmt);
        fill(err, fmt, args);
        va_end(args);
        err->offset = offset;
    }
    return (writ_result){code};
}

writ_result
writ_fail_in(struct writ_err *err, writ_result result, const char *place)
{
    struct writ_err why;

    if (writ_is_ok(result) || err == NULL || strncmp(err->text, place, strlen(place)) == 0) {
        return result;
    }
    why = *err;
    return writ_fail(err, result.code, "%s: %s", place, why.text);
}

const char *
writ_code_name(enum writ_code code)
{
    switch (code) {
    case WRIT_E_UNSET:
        return "unset";
    case WRIT_OK:
        return "ok";
    case WRIT_E_INVALID:
        return "invalid";
    case WRIT_E_PARSE:
        return "parse";
    case WRIT_E_LIMIT:
        return "limit";
    case WRIT_E_MISMATCH:
        return "mismatch";
    case WRIT_E_ABSENT:
        return "absent";
    case WRIT_E_BUSY:
        return "busy";
    case WRIT_E_NOMEM:
        return "nomem";
    case WRIT_E_IO:
        return "io";
    case WRIT_E_CRYPTO:
        return "crypto";
    }
    return "unknown";
}

void
writ_invariant_failed(const char *cond, const char *file, int line)
{
    (void)fprintf(stderr, "writ: broken invariant: %s at %s:%d\n", cond, file, line);
    abort();
}
