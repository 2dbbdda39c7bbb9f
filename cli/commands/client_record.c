/* client_record.c - the record as a JSON object. It has digests of what was written, never a token;
 * a record that Writ would not have written is refused, so that nothing is undone by it. */
#include "cli/commands/client_record.h"

#include "evidence/json/write.h"

#define LIST_MAX 4

bool
writ_client_record_has(const struct writ_client_digests *digests, const struct writ_digest *digest)
{
    for (size_t i = 0; i < digests->n; i++) {
        if (writ_digest_equal(&digests->items[i], digest)) {
            return true;
        }
    }
    return false;
}

void
writ_client_record_add(struct writ_client_digests *digests, const struct writ_digest *digest)
{
    if (writ_client_record_has(digests, digest)) {
        return;
    }
    if (digests->n == WRIT_CLIENT_RECORD_TRIES) {
        digests->items[0] = digests->items[1];
        digests->n--;
    }
    digests->items[digests->n++] = *digest;
}

/* ---- writing */

static void
write_digests(struct writ_write *w, const char *name, const struct writ_client_digests *digests)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_array_begin(w);
    for (size_t i = 0; i < digests->n; i++) {
        char text[WRIT_DIGEST_TEXT];

        writ_digest_text(&digests->items[i], text);
        writ_write_string(w, writ_view_str(text));
    }
    writ_write_array_end(w);
}

writ_result
writ_client_record_put(
    const struct writ_client_record *record, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_flag(&w, "before", record->before);
    writ_write_count(&w, "mode", record->mode);
    writ_write_text(&w, "backup", record->backup);
    writ_write_name(&w, WRIT_LIT("list"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < record->list.n; i++) {
        writ_write_string(&w, record->list.names[i]);
    }
    writ_write_array_end(&w);
    write_digests(&w, "files", &record->files);
    writ_write_name(&w, WRIT_LIT("entries"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < record->n; i++) {
        writ_write_object_begin(&w);
        writ_write_text(&w, "name", record->entries[i].name);
        write_digests(&w, "ways", &record->entries[i].ways);
        writ_write_object_end(&w);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_byte(ret, '\n');
    return writ_buf_check(ret, err);
}

/* ---- reading */

static bool
read_digests(const struct writ_json *texts, struct writ_client_digests *ret)
{
    WRIT_JSON_EACH(text, texts)
    {
        struct writ_digest digest;

        if (!writ_is_ok(writ_digest_read(writ_json_string(text), &digest, NULL))) {
            return false;
        }
        writ_client_record_add(ret, &digest);
    }
    return writ_json_type(texts) == WRIT_JSON_ARRAY;
}

static bool
read_list(const struct writ_json *texts, struct writ_arena *arena, struct writ_client_path *ret)
{
    struct writ_view *names = writ_arena_get(arena, LIST_MAX * sizeof *names);

    *ret = (struct writ_client_path){names, 0};
    WRIT_JSON_EACH(text, texts)
    {
        if (names == NULL || ret->n == LIST_MAX || writ_json_string(text).len == 0) {
            return false;
        }
        names[ret->n++] = writ_json_string(text);
    }
    return ret->n > 0;
}

static bool
read_entries(const struct writ_json *list, struct writ_arena *arena, struct writ_client_record *ret)
{
    ret->entries = writ_arena_get(arena, WRIT_CLIENT_RECORD_ENTRIES * sizeof *ret->entries);
    WRIT_JSON_EACH(item, list)
    {
        struct writ_client_written entry = {
            .name = writ_json_string(writ_json_get(item, WRIT_LIT("name")))};

        if (ret->entries == NULL || ret->n == WRIT_CLIENT_RECORD_ENTRIES ||
            entry.name.ptr == NULL ||
            !read_digests(writ_json_get(item, WRIT_LIT("ways")), &entry.ways)) {
            return false;
        }
        ret->entries[ret->n++] = entry;
    }
    return ret->n > 0;
}

writ_result
writ_client_record_read(struct writ_view text, struct writ_arena *arena,
    struct writ_client_record **ret, struct writ_err *err)
{
    struct writ_client_record *record = writ_arena_get(arena, sizeof *record);
    const struct writ_json *root = NULL;
    int64_t mode = 0;

    text = writ_view_copy(text, arena);
    if (record == NULL || text.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the record of a client's file");
    }
    WRIT_TRY(writ_json_read(text, &writ_json_limits_default, arena, &root, err));
    *record = (struct writ_client_record){.before = writ_json_is_true(root, WRIT_LIT("before")),
        .backup = writ_view_copy(writ_json_string(writ_json_get(root, WRIT_LIT("backup"))), arena)};
    if (!writ_is_ok(writ_json_integer(writ_json_get(root, WRIT_LIT("mode")), 0, 0777, &mode)) ||
        record->backup.ptr == NULL || writ_view_find(record->backup, '/') < record->backup.len ||
        !read_list(writ_json_get(root, WRIT_LIT("list")), arena, &record->list) ||
        !read_digests(writ_json_get(root, WRIT_LIT("files")), &record->files) ||
        !read_entries(writ_json_get(root, WRIT_LIT("entries")), arena, record)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "not a record that `writ init --apply` wrote");
    }
    record->mode = (mode_t)mode;
    *ret = record;
    return WRIT_DONE;
}
