/* undo.c - see undo.h. Only ASCII characters come out of an escape, so that the text stays UTF-8.
 */
#include "policy/detect/undo.h"

#include "base/hidden.h"
#include "base/utf8.h"
#include "policy/model/fold.h"

#define REFERENCE_MAX 12 /* bytes of a character reference */
#define DROPPED       (-1)
#define KEPT          (-2)

/* A number of `base` over all of `text`; 0 when it is none, or beyond ASCII. */
static int
number_of(struct writ_view text, int base)
{
    int value = 0;

    for (size_t i = 0; i < text.len; i++) {
        int digit = writ_hex_digit(text.ptr[i]);
        if (digit < 0 || digit >= base) {
            return 0;
        }
        value = value * base + digit;
        if (value > 0x7e) {
            return 0;
        }
    }
    return value >= 0x20 || value == '\t' || value == '\n' || value == '\r' ? value : 0;
}

/* &#45; &#x2d; &amp; and a few more; how long it is, and the character. */
static size_t
reference(struct writ_view text, int *ret)
{
    static const struct {
        struct writ_view name;
        char is;
    } known[] = {
#define ROW(name, is) {{name, sizeof(name) - 1}, is},
        ROW("amp", '&') ROW("lt", '<') ROW("gt", '>') ROW("quot", '"') ROW("apos", '\'') ROW(
            "nbsp", ' ') ROW("hyphen", '-') ROW("lowbar", '_') ROW("period", '.') ROW("colon", ':')
            ROW("sol", '/') ROW("equals", '=') ROW("commat", '@') ROW("plus", '+')
#undef ROW
    };
    size_t end = writ_view_find(writ_view_sub(text, 0, REFERENCE_MAX), ';');
    struct writ_view name = writ_view_sub(text, 1, end - 1);
    int value = 0;

    if (end < 3 || end >= writ_view_sub(text, 0, REFERENCE_MAX).len) {
        return 0;
    }
    if (name.ptr[0] == '#') {
        bool hex = (name.ptr[1] | 0x20) == 'x';
        value = number_of(writ_view_sub(name, hex ? 2 : 1, name.len), hex ? 16 : 10);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        value = writ_view_equal_nocase(name, known[i].name) ? known[i].is : value;
    }
    *ret = value;
    return value > 0 ? end + 1 : 0;
}

static size_t
backslash(struct writ_view text, int *ret)
{
    char next = text.len > 1 ? text.ptr[1] : '\0';

    if (next == '"' || next == '/' || next == '\\') {
        *ret = next;
        return 2;
    }
    if (next == 'u' && text.len >= 6) {
        *ret = number_of(writ_view_sub(text, 2, 4), 16);
        return *ret > 0 ? 6 : 0;
    }
    return 0;
}

/* A character beyond ASCII. */
static size_t
beyond(struct writ_view text, int *ret)
{
    uint32_t point = 0;
    size_t len = writ_utf8_character(text, &point);
    char folded;

    *ret = KEPT;
    if (len == 0) {
        return 1;
    }
    switch (writ_hidden_kind(point)) {
    case WRIT_HIDDEN_DIRECTION:
    case WRIT_HIDDEN_TAG:
    case WRIT_HIDDEN_SELECTOR:
    case WRIT_HIDDEN_INVISIBLE:
        *ret = DROPPED;
        return len;
    case WRIT_HIDDEN_SPACE:
        *ret = ' ';
        return len;
    case WRIT_HIDDEN_LINE:
        *ret = '\n';
        return len;
    case WRIT_HIDDEN_NOT:
    case WRIT_HIDDEN_CONTROL:
    case WRIT_HIDDEN_FORMAT:
    case WRIT_HIDDEN_PRIVATE:
    case WRIT_HIDDEN_UNASSIGNED:
        break;
    }
    if ((point >= 0x2010 && point <= 0x2015) || point == 0x2212) {
        *ret = '-';
    } else if (writ_fold_point(point, &folded)) {
        *ret = folded;
    }
    return len;
}

/* How many bytes one character takes, and what is left of it. */
static size_t
next(struct writ_view text, int *ret)
{
    size_t len = 0;

    if ((unsigned char)text.ptr[0] >= 0x80) {
        return beyond(text, ret);
    }
    if (text.ptr[0] == '%' && text.len >= 3) {
        *ret = number_of(writ_view_sub(text, 1, 2), 16);
        len = *ret > 0 ? 3 : 0;
    } else if (text.ptr[0] == '&') {
        len = reference(text, ret);
    } else if (text.ptr[0] == '\\') {
        len = backslash(text, ret);
    }
    if (len == 0) {
        *ret = KEPT;
        return 1;
    }
    return len;
}

static bool
may_be_disguised(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if ((unsigned char)c >= 0x80 || c == '%' || c == '&' || c == '\\') {
            return true;
        }
    }
    return false;
}

WRIT_RESULT
writ_undo(struct writ_view text, const uint32_t *at, struct writ_undone *ret, bool *ret_changed)
{
    *ret_changed = false;
    if (!may_be_disguised(text)) {
        return WRIT_DONE;
    }
    if (text.len >= UINT32_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    ret->text = writ_buf_make(text.len + 1);
    ret->at = writ_alloc((text.len + 1) * sizeof *ret->at);
    if (ret->at == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < text.len;) {
        int is;
        size_t len = next(writ_view_sub(text, i, text.len), &is);

        *ret_changed = *ret_changed || is != KEPT;
        for (size_t k = 0; k < len && is != DROPPED && (is == KEPT || k == 0); k++) {
            if (!writ_is_ok(writ_buf_check(&ret->text, NULL))) {
                return (writ_result){WRIT_E_NOMEM};
            }
            ret->at[ret->text.len] = at != NULL ? at[i + k] : (uint32_t)(i + k);
            writ_buf_byte(&ret->text, is == KEPT ? text.ptr[i + k] : (char)is);
        }
        i += len;
    }
    WRIT_TRY(writ_buf_check(&ret->text, NULL));
    ret->at[ret->text.len] = at != NULL ? at[text.len] : (uint32_t)text.len;
    return WRIT_DONE;
}

void
writ_undo_wipe(struct writ_undone *undone)
{
    writ_buf_wipe_secret(&undone->text);
    writ_free(undone->at);
    undone->at = NULL;
}
