/* A client's file. For every text that is read: a member that is put has that value, every other
 * member has its own, and after it is removed the text says what it said before; a server that is
 * led elsewhere and back says what it said before; a text that is not read is not changed. The list
 * of servers is read without a fault of ours. */
#include "support/fuzz.h"

#include "gateway/discover/client_entry.h"
#include "gateway/discover/client_file.h"

#define ARENA_MAX ((size_t)256 << 20)
#define VALUE     "{\"url\":\"http://127.0.0.1/\",\"args\":[\"a\",1]}"

static const struct writ_json *
read_text(const struct writ_buf *text, struct writ_arena *arena)
{
    const struct writ_json *root = NULL;

    WRIT_IGNORE(writ_client_text_read(writ_buf_view(text), arena, &root, NULL));
    return root;
}

/* Whether all members of `a` but the one are in `b`, and equal. */
static bool
has_others(const struct writ_json *a, const struct writ_json *b, struct writ_view but)
{
    WRIT_JSON_EACH(name, a)
    {
        const struct writ_json *other = writ_json_get(b, writ_json_text(name));

        if (!writ_view_equal(writ_json_text(name), but) &&
            !writ_json_equal(writ_json_value(name), other)) {
            return false;
        }
    }
    return true;
}

static void
check_list(struct writ_view list, struct writ_buf *text, struct writ_arena *arena)
{
    struct writ_view names[] = {list, WRIT_LIT("fuzz server")};
    const struct writ_client_path path = {names, 2};
    const struct writ_json *before = read_text(text, arena), *after, *wanted;
    bool there = writ_json_get(writ_json_get(before, list), names[1]) != NULL;
    writ_result result = writ_client_text_put(text, &path, WRIT_LIT(VALUE), NULL);

    if (!writ_is_ok(result)) {
        WRIT_INVARIANT(before == NULL || result.code == WRIT_E_LIMIT ||
                       writ_json_type(writ_json_get(before, list)) != WRIT_JSON_OBJECT);
        return;
    }
    WRIT_INVARIANT(before != NULL);
    after = read_text(text, arena);
    WRIT_INVARIANT(writ_is_ok(
        writ_json_read(WRIT_LIT(VALUE), &writ_json_limits_default, arena, &wanted, NULL)));
    WRIT_INVARIANT(writ_json_equal(writ_json_get(writ_json_get(after, list), names[1]), wanted));
    WRIT_INVARIANT(has_others(before, after, list) && has_others(after, before, list));
    WRIT_INVARIANT(has_others(writ_json_get(before, list), writ_json_get(after, list), names[1]));
    WRIT_INVARIANT(writ_is_ok(writ_client_text_remove(text, &path, NULL)));
    after = read_text(text, arena);
    WRIT_INVARIANT(after != NULL && writ_json_get(writ_json_get(after, list), names[1]) == NULL);
    WRIT_INVARIANT(there || writ_json_get(before, list) == NULL || writ_json_equal(before, after));
}

/* The first server of the list. */
static void
check_server(struct writ_view list, struct writ_buf *text, struct writ_arena *arena)
{
    const struct writ_client_path path = {&list, 1};
    const struct writ_json *before = read_text(text, arena);
    const struct writ_json *first = writ_json_first(writ_json_get(before, list));
    writ_auto_buf old = writ_buf_make(WRIT_CLIENT_TEXT_MAX);

    if (writ_json_type(writ_json_get(before, list)) != WRIT_JSON_OBJECT || first == NULL) {
        return;
    }
    writ_buf_put(&old, writ_buf_view(text));
    if (!writ_is_ok(
            writ_client_entry_put(text, &path, writ_json_text(first), WRIT_LIT(VALUE), NULL))) {
        return; /* a limit */
    }
    WRIT_INVARIANT(writ_is_ok(
        writ_client_entry_restore(text, writ_buf_view(&old), &path, writ_json_text(first), NULL)));
    WRIT_INVARIANT(writ_json_equal(before, read_text(text, arena)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const lists[] = {"mcpServers", "servers", "context_servers"};
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_client_file file = {.servers = NULL};

    WRIT_INVARIANT(arena != NULL);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        writ_auto_buf text = writ_buf_make(WRIT_CLIENT_TEXT_MAX);

        writ_buf_put(&text, writ_view(data, size));
        check_list(writ_view_str(lists[i]), &text, arena);
        writ_buf_clear(&text);
        writ_buf_put(&text, writ_view(data, size));
        check_server(writ_view_str(lists[i]), &text, arena);
    }
    if (writ_is_ok(writ_client_file_read(writ_view(data, size), arena, &file, NULL))) {
        for (size_t i = 0; i < file.n; i++) {
            WRIT_INVARIANT(
                file.servers[i].fault != NULL || file.servers[i].config.kind != WRIT_UPSTREAM_NONE);
        }
    }
    writ_arena_free(arena);
    return 0;
}
