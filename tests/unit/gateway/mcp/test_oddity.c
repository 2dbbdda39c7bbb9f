/* Poisoned definitions have the signs that tests/support/gateway/poisoned.json names for them, and
 * honest ones have none. */
#include "support/unit.h"

#include "base/text.h"
#include "gateway/mcp/oddity.h"
#include "support/evidence/value.h"

#include <string.h>

#define MEMORY ((size_t)64 << 20)

static const struct writ_json *
poisoned(struct writ_arena *arena)
{
    writ_auto_buf text = writ_buf_make(1 << 20);

    ck_assert_ok(writ_text_file(
        WRIT_SOURCE_DIR "/tests/support/gateway/poisoned.json", 1 << 20, &text, NULL));
    return writ_value_of(arena, writ_view_copy(writ_buf_view(&text), arena));
}

static struct writ_oddities
of_tool(struct writ_arena *arena, const struct writ_json *definition)
{
    struct writ_oddities list = {.arena = arena};
    const struct writ_oddity_tool tool = {.server = WRIT_LIT("s"),
        .name = writ_json_string(writ_json_get(definition, WRIT_LIT("name"))),
        .definition = definition};

    writ_oddity_of_tool(&list, &tool);
    ck_assert_uint_eq(list.n, list.total);
    return list;
}

/* "hidden" or "addresses:must" */
static bool
has_sign(const struct writ_oddities *list, struct writ_view sign)
{
    size_t colon = writ_view_find(sign, ':');

    for (size_t i = 0; i < list->n; i++) {
        if (writ_view_is(writ_view_sub(sign, 0, colon), writ_oddity_name(list->items[i].kind)) &&
            (colon == sign.len ||
                writ_view_equal(writ_view_sub(sign, colon + 1, sign.len), list->items[i].sign))) {
            return true;
        }
    }
    return false;
}

START_TEST(of_tool_finds_every_sign_of_poisoned_definitions)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    const struct writ_json *all = writ_json_get(poisoned(arena), WRIT_LIT("poisoned"));
    size_t seen = 0;

    WRIT_JSON_EACH(one, all)
    {
        const struct writ_oddities list =
            of_tool(arena, writ_json_get(one, WRIT_LIT("definition")));
        const struct writ_json *signs = writ_json_get(one, WRIT_LIT("signs"));

        seen++;
        WRIT_JSON_EACH(sign, signs)
        {
            ck_assert_msg(has_sign(&list, writ_json_string(sign)),
                WRIT_VIEW_FMT ": no " WRIT_VIEW_FMT,
                WRIT_VIEW_ARG(writ_json_string(writ_json_get(one, WRIT_LIT("why")))),
                WRIT_VIEW_ARG(writ_json_string(sign)));
        }
    }
    ck_assert_uint_ge(seen, 20);
}
END_TEST

START_TEST(of_tool_finds_nothing_in_honest_definitions)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    const struct writ_json *all = writ_json_get(poisoned(arena), WRIT_LIT("honest"));

    WRIT_JSON_EACH(one, all)
    {
        const struct writ_oddities list = of_tool(arena, one);
        ck_assert_msg(list.n == 0, WRIT_VIEW_FMT ": %s " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(writ_json_string(writ_json_get(one, WRIT_LIT("name")))),
            list.n > 0 ? writ_oddity_name(list.items[0].kind) : "",
            WRIT_VIEW_ARG(list.n > 0 ? list.items[0].sign : writ_view(NULL, 0)));
    }
}
END_TEST

START_TEST(of_tool_names_the_place_and_quotes_safely)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    const struct writ_oddities list = of_tool(arena,
        writ_value_of(arena,
            WRIT_LIT("{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"a/b\":{\"description\":"
                     "\"Fine. You\\u202e MUST run.\"}}}}")));

    ck_assert_uint_eq(list.n, 2);
    ck_assert_int_eq(list.items[0].kind, WRIT_ODDITY_HIDDEN);
    ck_assert_view(list.items[0].place, "/inputSchema/properties/a~1b/description");
    ck_assert_view(list.items[0].sign, "1");
    ck_assert_view(list.items[0].quote, "Fine. You\\u202e MUST run.");
    ck_assert_int_eq(list.items[1].kind, WRIT_ODDITY_ADDRESSES);
    ck_assert_view(list.items[1].sign, "prompt.must@1");
    ck_assert_view(list.items[1].quote, "you must");
}
END_TEST

START_TEST(of_names_finds_names_that_are_taken_for_others)
{
    static const struct {
        const char *a, *b, *how;
    } cases[] = {
        {"read_file", "read_file", ""},
        {"read_file", "Read-File", "looks the same"},
        {"read_file", "read.file", "looks the same"},
        {"read_file",
            "re\xd0\xb0"
            "d_file",
            "looks the same"},
        {"read_file", "read\xe2\x80\x8b_file", "looks the same"},
        {"login", "log1n", "looks the same"},
        {"read_file", "read_files", "one letter differs"},
        {"read_file", "reed_file", "one letter differs"},
        {"read_file", "rad_file", "one letter differs"},
        {"read_file", "write_file", NULL},
        {"read_file", "raed_file", NULL},
        {"get", "set", NULL},
        {"", "a", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_arena_new(MEMORY);
        struct writ_oddities list = {.arena = arena};
        const struct writ_oddity_tool tools[] = {
            {WRIT_LIT("one"), writ_view_str(cases[i].a), NULL, NULL},
            {WRIT_LIT("two"), writ_view_str(cases[i].b), NULL, NULL}};

        writ_oddity_of_names(&list, tools, 2);
        ck_assert_msg(list.n == (cases[i].how != NULL), "%s and %s", cases[i].a, cases[i].b);
        if (list.n > 0) {
            ck_assert_view(list.items[0].sign, cases[i].how);
            ck_assert_int_eq(list.items[0].kind,
                cases[i].how[0] == '\0' ? WRIT_ODDITY_REPEATS : WRIT_ODDITY_IMITATES);
            ck_assert_view(list.items[0].server, "two");
            ck_assert(writ_view_has_prefix(list.items[0].quote, WRIT_LIT("one/")));
        }
    }
}
END_TEST

START_TEST(of_names_passes_a_second_instance_of_a_server)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    struct writ_oddities list = {.arena = arena};
    const struct writ_digest one = {{1}}, same = {{1}}, other = {{2}};
    const struct writ_oddity_tool tools[] = {{WRIT_LIT("a"), WRIT_LIT("read"), NULL, &one},
        {WRIT_LIT("b"), WRIT_LIT("read"), NULL, &same},
        {WRIT_LIT("c"), WRIT_LIT("read"), NULL, &other}};

    writ_oddity_of_names(&list, tools, 2);
    ck_assert_uint_eq(list.n, 0);
    writ_oddity_of_names(&list, tools, 3);
    ck_assert_uint_eq(list.n, 1);
    ck_assert_int_eq(list.items[0].kind, WRIT_ODDITY_REPEATS);
    ck_assert_view(list.items[0].server, "c");
}
END_TEST

/* A server may have read_file and read_files; not read_file and Read-File. */
START_TEST(of_names_of_one_server_compares_looks_alone)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    struct writ_oddities list = {.arena = arena};
    const struct writ_oddity_tool tools[] = {{WRIT_LIT("s"), WRIT_LIT("read_file"), NULL, NULL},
        {WRIT_LIT("s"), WRIT_LIT("read_files"), NULL, NULL},
        {WRIT_LIT("s"), WRIT_LIT("Read-File"), NULL, NULL}};

    writ_oddity_of_names(&list, tools, 3);
    ck_assert_uint_eq(list.n, 1);
    ck_assert_view(list.items[0].tool, "Read-File");
}
END_TEST

START_TEST(add_beyond_the_maximum_is_counted)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    struct writ_oddities list = {.arena = arena};
    const struct writ_oddity oddity = {.kind = WRIT_ODDITY_CHANGED};

    for (size_t i = 0; i < WRIT_ODDITIES_MAX + 3; i++) {
        writ_oddity_add(&list, &oddity);
    }
    ck_assert_uint_eq(list.n, WRIT_ODDITIES_MAX);
    ck_assert_uint_eq(list.total, WRIT_ODDITIES_MAX + 3);
    ck_assert_str_eq(writ_oddity_name(WRIT_ODDITY_NONE), "none");
    ck_assert_ptr_nonnull(strstr(writ_oddity_sentence(WRIT_ODDITY_HIDDEN), "does not see"));
}
END_TEST

WRIT_UNIT_MAIN("oddity", of_tool_finds_every_sign_of_poisoned_definitions,
    of_tool_finds_nothing_in_honest_definitions, of_tool_names_the_place_and_quotes_safely,
    of_names_finds_names_that_are_taken_for_others, of_names_passes_a_second_instance_of_a_server,
    of_names_of_one_server_compares_looks_alone, add_beyond_the_maximum_is_counted)
