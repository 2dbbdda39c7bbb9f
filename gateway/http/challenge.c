/* challenge.c - one pass over the field. A quoted string is skipped whole, so that no text in it
 * counts as a parameter; a field that does not parse has no scope. */
#include "gateway/http/challenge.h"

/* scope-token of RFC 6749 3.3, and the space between two */
static bool
is_scope(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 || c > 0x7e || c == '"' || c == '\\') {
            return false;
        }
    }
    return text.len > 0;
}

static bool
is_separator(char c)
{
    return c == ' ' || c == '\t' || c == ',';
}

/* Takes separators, then a word up to '=' or the next separator. */
static struct writ_view
take_word(struct writ_view *rest)
{
    size_t len = 0;
    struct writ_view word;

    while (rest->len > 0 && is_separator(rest->ptr[0])) {
        *rest = writ_view_sub(*rest, 1, SIZE_MAX);
    }
    while (len < rest->len && rest->ptr[len] != '=' && rest->ptr[len] != '"' &&
           !is_separator(rest->ptr[len])) {
        len++;
    }
    word = writ_view_sub(*rest, 0, len);
    *rest = writ_view_sub(*rest, len, SIZE_MAX);
    return word;
}

/* A value behind '='. False: a quoted string without an end. */
static bool
take_value(struct writ_view *rest, struct writ_view *ret)
{
    size_t end = 1;

    if (rest->len == 0 || rest->ptr[0] != '"') {
        *ret = take_word(rest);
        return true;
    }
    while (end < rest->len && rest->ptr[end] != '"') {
        end += rest->ptr[end] == '\\' ? 2 : 1;
    }
    if (end >= rest->len) {
        return false;
    }
    *ret = writ_view_sub(*rest, 1, end - 1);
    *rest = writ_view_sub(*rest, end + 1, SIZE_MAX);
    return true;
}

bool
writ_challenge_scope(struct writ_view field, struct writ_view *ret)
{
    bool bearer = false;

    while (field.len > 0) {
        struct writ_view word = take_word(&field), value;

        if (field.len > 0 && field.ptr[0] == '=') {
            field = writ_view_sub(field, 1, SIZE_MAX);
            if (!take_value(&field, &value)) {
                return false;
            }
            if (bearer && writ_view_equal_nocase(word, WRIT_LIT("scope"))) {
                if (is_scope(value)) {
                    *ret = value;
                }
                return is_scope(value);
            }
        } else if (word.len > 0) { /* a scheme */
            bearer = writ_view_equal_nocase(word, WRIT_LIT("Bearer"));
        } else {
            return false;
        }
    }
    return false;
}
