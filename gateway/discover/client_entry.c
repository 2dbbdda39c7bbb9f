/* client_entry.c - an entry is changed member by member, so that its other members and the comments
 * between them stay. */
#include "gateway/discover/client_entry.h"

#include "evidence/json/write.h"

#define ARENA_MAX  ((size_t)1 << 30)
#define NAMES_MAX  8
#define DIGEST_MAX ((size_t)1 << 20)

static const char *const way[] = {"type", "transport", "source", "command", "args", "env",
    "envFile", "cwd", "url", "serverUrl", "httpUrl", "headers", "headersHelper", "auth", "oauth"};

#define WAYS (sizeof way / sizeof way[0])

static WRIT_RESULT
no_memory(struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the file of a client");
}

const struct writ_json *
writ_client_entry_find(
    const struct writ_json *root, const struct writ_client_path *list, struct writ_view name)
{
    for (size_t i = 0; i < list->n; i++) {
        root = writ_json_get(root, list->names[i]);
    }
    return writ_json_get(root, name);
}

writ_result
writ_client_entry_digest(
    const struct writ_json *entry, struct writ_digest *ret, struct writ_err *err)
{
    struct writ_buf text = writ_buf_make(DIGEST_MAX);
    struct writ_write w = writ_write_to(&text);
    writ_result result;

    writ_write_object_begin(&w);
    for (size_t i = 0; i < WAYS; i++) {
        const struct writ_json *value = writ_json_get(entry, writ_view_str(way[i]));

        if (value != NULL) {
            writ_write_name(&w, writ_view_str(way[i]));
            writ_write_value(&w, value);
        }
    }
    writ_write_object_end(&w);
    result = writ_write_end(&w, err);
    if (writ_is_ok(result)) {
        result = writ_digest_bytes(writ_buf_view(&text), ret, err);
    }
    writ_buf_wipe_secret(&text); /* it may have a token */
    return result;
}

/* The path of a server, or of a member of it when there is one. */
static struct writ_client_path
path_of(const struct writ_client_path *list, struct writ_view name, struct writ_view member,
    struct writ_view names[NAMES_MAX])
{
    struct writ_client_path path = {names, 0};

    WRIT_INVARIANT(list->n + 2 <= NAMES_MAX);
    for (size_t i = 0; i < list->n; i++) {
        names[path.n++] = list->names[i];
    }
    names[path.n++] = name;
    if (member.len > 0) {
        names[path.n++] = member;
    }
    return path;
}

/* Gives the server the way of `wanted`. */
static WRIT_RESULT
lead(struct writ_buf *text, const struct writ_client_path *list, struct writ_view name,
    const struct writ_json *wanted, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *root;

    if (arena == NULL) {
        return no_memory(err);
    }
    WRIT_TRY(writ_client_text_read(writ_buf_view(text), arena, &root, err));
    root = writ_json_copy(writ_client_entry_find(root, list, name), arena);
    for (size_t i = 0; i < WAYS; i++) {
        struct writ_view names[NAMES_MAX], member = writ_view_str(way[i]);
        const struct writ_client_path path = path_of(list, name, member, names);
        const struct writ_json *value = writ_json_get(wanted, member);
        const struct writ_json *present = writ_json_get(root, member);
        struct writ_buf wanted_text = writ_buf_make(DIGEST_MAX);
        struct writ_write w = writ_write_to(&wanted_text);
        writ_result result = WRIT_DONE;

        if (value != NULL && !writ_json_equal(value, present)) {
            writ_write_verbatim(&w, value);
            result = writ_write_end(&w, err);
            if (writ_is_ok(result)) {
                result = writ_client_text_put(text, &path, writ_buf_view(&wanted_text), err);
            }
        } else if (value == NULL && present != NULL) {
            result = writ_client_text_remove(text, &path, err);
        }
        writ_buf_wipe_secret(&wanted_text);
        WRIT_TRY(result);
    }
    return WRIT_DONE;
}

writ_result
writ_client_entry_put(struct writ_buf *text, const struct writ_client_path *list,
    struct writ_view name, struct writ_view value, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_view names[NAMES_MAX];
    const struct writ_client_path path = path_of(list, name, WRIT_LIT(""), names);
    const struct writ_json *root, *wanted;

    if (arena == NULL) {
        return no_memory(err);
    }
    WRIT_TRY(writ_json_read(value, &writ_json_limits_default, arena, &wanted, err));
    WRIT_TRY(writ_client_text_read(writ_buf_view(text), arena, &root, err));
    root = writ_client_entry_find(root, list, name);
    if (writ_json_type(root) != WRIT_JSON_OBJECT) {
        return writ_client_text_put(text, &path, value, err);
    }
    return lead(text, list, name, wanted, err);
}

writ_result
writ_client_entry_restore(struct writ_buf *text, struct writ_view before,
    const struct writ_client_path *list, struct writ_view name, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_view names[NAMES_MAX], value;
    const struct writ_client_path path = path_of(list, name, WRIT_LIT(""), names);
    const struct writ_json *root, *wanted;

    if (arena == NULL) {
        return no_memory(err);
    }
    WRIT_TRY(writ_client_text_read(before, arena, &root, err));
    wanted = writ_client_entry_find(root, list, name);
    if (wanted == NULL) {
        return writ_client_text_remove(text, &path, err);
    }
    if (writ_json_type(wanted) != WRIT_JSON_OBJECT) {
        WRIT_TRY(writ_client_text_get(before, &path, &value, err));
        return writ_client_text_put(text, &path, value, err);
    }
    return lead(text, list, name, wanted, err);
}
