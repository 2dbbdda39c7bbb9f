/* Copies the text in pieces; a piece is one quoted string, name or comment, one parameter, or one
 * other byte. */
#include "store/sql/sql_placeholders.h"

static char
at(struct writ_view text, size_t i)
{
    return i < text.len ? text.ptr[i] : '\0';
}

/* The length of the string or name in quotes at `from`; a doubled quote begins the next one. */
static size_t
quoted(struct writ_view text, size_t from)
{
    size_t i = from + 1;

    while (i < text.len && text.ptr[i] != text.ptr[from]) {
        i++;
    }
    return i < text.len ? i + 1 - from : text.len - from;
}

static size_t
line_comment(struct writ_view text, size_t from)
{
    return writ_view_find(writ_view_sub(text, from, text.len), '\n');
}

/* PostgreSQL nests these. */
static size_t
block_comment(struct writ_view text, size_t from)
{
    size_t i = from, depth = 0;

    do {
        if (at(text, i) == '/' && at(text, i + 1) == '*') {
            depth++;
            i += 2;
        } else if (at(text, i) == '*' && at(text, i + 1) == '/') {
            depth--;
            i += 2;
        } else {
            i++;
        }
    } while (depth > 0 && i < text.len);
    return i - from;
}

/* The length of what is copied as it is at `from`. */
static size_t
verbatim(struct writ_view text, size_t from)
{
    char byte = at(text, from), next = at(text, from + 1);

    if (byte == '\'' || byte == '"') {
        return quoted(text, from);
    }
    if (byte == '-' && next == '-') {
        return line_comment(text, from);
    }
    if (byte == '/' && next == '*') {
        return block_comment(text, from);
    }
    return 1;
}

WRIT_RESULT
writ_sql_placeholders(
    struct writ_view text, struct writ_buf *ret, size_t *ret_n, struct writ_err *err)
{
    size_t i = 0, most = 0;

    while (i < text.len) {
        size_t number = 0, len = 1;

        if (text.ptr[i] != '?') {
            len = verbatim(text, i);
            writ_buf_put(ret, writ_view_sub(text, i, len));
            i += len;
            continue;
        }
        for (; at(text, i + len) >= '0' && at(text, i + len) <= '9' &&
               number <= WRIT_SQL_PLACEHOLDERS_MAX;
             len++) {
            number = number * 10 + (size_t)(at(text, i + len) - '0');
        }
        if (len == 1) {
            number = most + 1;
        }
        if (number < 1 || number > WRIT_SQL_PLACEHOLDERS_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT,
                "database: the number of a parameter is not in 1 to %d: correct the statement",
                WRIT_SQL_PLACEHOLDERS_MAX);
        }
        most = number > most ? number : most;
        writ_buf_byte(ret, '$');
        writ_buf_u64(ret, number);
        i += len;
    }
    WRIT_TRY(writ_buf_check(ret, err));
    *ret_n = most;
    return WRIT_DONE;
}
