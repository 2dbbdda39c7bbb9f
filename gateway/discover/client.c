/* client.c - the rows of client.tbl.h as structs. A path names a client by its last two parts. */
#include "gateway/discover/client.h"

#include "gateway/discover/client.tbl.h"

static const struct writ_client rows[] = {
#define ROW(NAME, name, title, linux, macos, project, member, http_type, url, stdio_type)          \
    {name, title, linux, macos, project, member, http_type, url, stdio_type},
    WRIT_CLIENTS(ROW)
#undef ROW
};

#define ROWS (sizeof rows / sizeof rows[0])

/* The name of a file and of its folder, or all of it. */
static struct writ_view
end_of(struct writ_view path)
{
    size_t at = path.len;

    for (int slashes = 0; at > 0 && slashes < 2; at--) {
        slashes += path.ptr[at - 1] == '/';
    }
    at += at > 0 || writ_view_has_prefix(path, WRIT_LIT("/"));
    return writ_view_sub(path, at, path.len);
}

/* Whole names: "x/.cursor/mcp.json" ends as ".cursor/mcp.json", "x.cursor/mcp.json" does not. */
static bool
ends_as(struct writ_view path, const char *file)
{
    struct writ_view end = end_of(writ_view_str(file));

    if (writ_view_has_prefix(end, WRIT_LIT("~/"))) {
        end = writ_view_sub(end, 2, end.len);
    }
    return end.len > 0 && writ_view_has_suffix(path, end) &&
           (path.len == end.len || path.ptr[path.len - end.len - 1] == '/');
}

const struct writ_client *
writ_client_find(struct writ_view name)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (writ_view_is(name, rows[i].name)) {
            return &rows[i];
        }
    }
    return NULL;
}

const struct writ_client *
writ_client_of_path(struct writ_view path)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (ends_as(path, rows[i].user) || ends_as(path, rows[i].macos) ||
            ends_as(path, rows[i].project)) {
            return &rows[i];
        }
    }
    return NULL;
}

void
writ_client_put_names(struct writ_buf *ret)
{
    for (size_t i = 0; i < ROWS; i++) {
        writ_buf_str(ret, i > 0 ? ", " : "");
        writ_buf_str(ret, rows[i].name);
    }
}

const char *
writ_client_member(size_t n)
{
    for (size_t i = 0; i < ROWS; i++) {
        bool first = true;

        for (size_t j = 0; j < i; j++) {
            first = first && !writ_view_is(writ_view_str(rows[i].member), rows[j].member);
        }
        if (first && n-- == 0) {
            return rows[i].member;
        }
    }
    return NULL;
}
