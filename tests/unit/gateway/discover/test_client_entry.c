/* A server in a client's file is led elsewhere and back; its settings and the others stay. */
#include "support/unit.h"

#include "gateway/discover/client_entry.h"

#define MEMORY ((size_t)64 << 20)
#define WAY    "{\"type\":\"http\",\"url\":\"http://127.0.0.1/\",\"headers\":{\"A\":\"b\"}}"

static const struct writ_view member = {"mcpServers", 10};
static const struct writ_client_path list = {&member, 1};

static struct writ_buf
buf_of(const char *text)
{
    struct writ_buf buf = writ_buf_make(WRIT_CLIENT_TEXT_MAX);

    writ_buf_str(&buf, text);
    return buf;
}

static const struct writ_json *
find(const struct writ_buf *text, struct writ_arena *arena, const char *name)
{
    const struct writ_json *root = NULL;

    ck_assert_ok(writ_client_text_read(writ_buf_view(text), arena, &root, NULL));
    return writ_client_entry_find(root, &list, writ_view_str(name));
}

START_TEST(put_replaces_the_way_and_keeps_settings)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    writ_auto_buf text = buf_of("{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[\"y\"],"
                                "\"cwd\":\"/\",\"timeout\":7,\"url\":\"old\"},\"b\":1}}");

    ck_assert_ok(writ_client_entry_put(&text, &list, WRIT_LIT("a"), WRIT_LIT(WAY), NULL));
    ck_assert_view(writ_buf_view(&text),
        "{\"mcpServers\":{\"a\":{\"timeout\":7,\"url\":\"http://127.0.0.1/\", \"type\": \"http\", "
        "\"headers\": {\"A\": \"b\"}},\"b\":1}}");
    ck_assert_ok(writ_client_entry_put(&text, &list, WRIT_LIT("b"), WRIT_LIT(WAY), NULL));
    ck_assert_ok(writ_client_entry_put(&text, &list, WRIT_LIT("c"), WRIT_LIT(WAY), NULL));
    ck_assert_int_eq(writ_json_type(find(&text, arena, "b")), WRIT_JSON_OBJECT);
    ck_assert_ptr_nonnull(find(&text, arena, "c"));
    ck_assert_ptr_null(find(&text, arena, "d"));
}
END_TEST

START_TEST(restore_leads_back_and_removes_a_new_server)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    static const char before[] =
        "{\"mcpServers\":{\"a\":{\"timeout\":7,\"command\":\"x\"},\"b\":[1]}}";
    writ_auto_buf text = buf_of(before), old = buf_of(before);
    static const char *const names[] = {"a", "b", "c"};

    for (size_t i = 0; i < 3; i++) {
        ck_assert_ok(
            writ_client_entry_put(&text, &list, writ_view_str(names[i]), WRIT_LIT(WAY), NULL));
    }
    for (size_t i = 0; i < 3; i++) {
        ck_assert_ok(writ_client_entry_restore(
            &text, writ_view_str(before), &list, writ_view_str(names[i]), NULL));
    }
    ck_assert(writ_json_equal(find(&text, arena, "a"), find(&old, arena, "a")));
    ck_assert(writ_json_equal(find(&text, arena, "b"), find(&old, arena, "b")));
    ck_assert_ptr_null(find(&text, arena, "c"));
}
END_TEST

START_TEST(digest_is_of_the_way_alone)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    writ_auto_buf text =
        buf_of("{\"mcpServers\":{\"a\":{\"url\":\"u\",\"type\":\"t\"},"
               "\"b\":{\"timeout\":7,\"type\":\"t\",\"url\":\"u\"},\"c\":{\"url\":\"v\"}}}");
    struct writ_digest a, b, c;

    ck_assert_ok(writ_client_entry_digest(find(&text, arena, "a"), &a, NULL));
    ck_assert_ok(writ_client_entry_digest(find(&text, arena, "b"), &b, NULL));
    ck_assert_ok(writ_client_entry_digest(find(&text, arena, "c"), &c, NULL));
    ck_assert(writ_digest_equal(&a, &b));
    ck_assert(!writ_digest_equal(&a, &c));
}
END_TEST

WRIT_UNIT_MAIN("client_entry", put_replaces_the_way_and_keeps_settings,
    restore_leads_back_and_removes_a_new_server, digest_is_of_the_way_alone)
