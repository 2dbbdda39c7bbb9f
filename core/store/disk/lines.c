/* A line is found by counting line feeds, which canonical JSON does not contain. The bytes are
 * borrowed from the row. */
#include "store/disk/lines.h"

struct writ_view
writ_lines_at(struct writ_view lines, uint64_t n)
{
    size_t end = writ_view_find(lines, '\n');

    for (; n > 0; n--) {
        if (end == lines.len) {
            return writ_view(NULL, 0);
        }
        lines = writ_view_sub(lines, end + 1, lines.len);
        end = writ_view_find(lines, '\n');
    }
    return writ_view_sub(lines, 0, end);
}

uint64_t
writ_lines_count(struct writ_view lines)
{
    uint64_t count = 1;

    for (size_t end = writ_view_find(lines, '\n'); end < lines.len;
         end = writ_view_find(lines, '\n')) {
        lines = writ_view_sub(lines, end + 1, lines.len);
        count++;
    }
    return count;
}

/* ---- as functions of SQL */

static struct writ_view
bytes_of(sqlite3_value *value)
{
    const void *bytes = sqlite3_value_blob(value);

    return writ_view(bytes == NULL ? "" : bytes, (size_t)sqlite3_value_bytes(value));
}

static void
line_at(sqlite3_context *context, int n, sqlite3_value **values)
{
    sqlite3_int64 at = sqlite3_value_int64(values[1]);
    struct writ_view line;

    (void)n;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL || at < 0) {
        return; /* NULL */
    }
    line = writ_lines_at(bytes_of(values[0]), (uint64_t)at);
    if (line.ptr != NULL) {
        sqlite3_result_blob64(context, line.ptr, line.len, SQLITE_TRANSIENT);
    }
}

static void
line_count(sqlite3_context *context, int n, sqlite3_value **values)
{
    (void)n;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL) {
        sqlite3_result_int64(context, (sqlite3_int64)writ_lines_count(bytes_of(values[0])));
    }
}

int
writ_lines_install(sqlite3 *db)
{
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
    int rc = sqlite3_create_function_v2(db, "line_at", 2, flags, NULL, line_at, NULL, NULL, NULL);

    return rc == SQLITE_OK ? sqlite3_create_function_v2(
                                 db, "line_count", 1, flags, NULL, line_count, NULL, NULL, NULL)
                           : rc;
}
