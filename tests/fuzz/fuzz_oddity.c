/* An untrusted definition of a tool, or any other JSON value in its place.
 *
 * For every input: the texts of each oddity hide nothing, and a second look finds the same. A text
 * that addresses the model has as many signs in capitals, and with an invisible character between
 * its letters. A skeleton is its own skeleton. */
#include "gateway/mcp/oddity.h"

#include "base/hidden.h"
#include "support/fuzz.h"

#define ARENA_MAX ((size_t)64 << 20)
#define INPUT_MAX 65536

static struct writ_arena *arena;

static struct writ_oddities
oddities_of(const struct writ_json *definition, struct writ_view name)
{
    const struct writ_oddity_tool tool = {WRIT_LIT("s"), name, definition, NULL};
    struct writ_oddities list = {.arena = arena};

    writ_oddity_of_tool(&list, &tool);
    return list;
}

static void
check_list(const struct writ_oddities *list)
{
    WRIT_INVARIANT(list->n <= WRIT_ODDITIES_MAX && list->n <= list->total);
    for (size_t i = 0; i < list->n; i++) {
        const struct writ_oddity *one = &list->items[i];

        WRIT_INVARIANT(one->kind != WRIT_ODDITY_NONE);
        WRIT_INVARIANT(!writ_hidden_in(one->quote) && !writ_hidden_in(one->place));
        WRIT_INVARIANT(!writ_hidden_in(one->sign));
        WRIT_INVARIANT(writ_oddity_name(one->kind)[0] != '\0');
    }
}

static size_t
count(const struct writ_oddities *list, enum writ_oddity_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        n += list->items[i].kind == kind;
    }
    return n;
}

static size_t
addresses_of(struct writ_view text)
{
    struct writ_oddities list = {.arena = arena};

    writ_oddity_of_text(&list, WRIT_LIT("s"), WRIT_LIT(""), text);
    check_list(&list);
    return count(&list, WRIT_ODDITY_ADDRESSES);
}

/* Words alone: marks such as <important> are found as they are written. */
static bool
has_marks(struct writ_view text)
{
    return writ_view_find(text, '<') < text.len || writ_view_find(text, '[') < text.len ||
           writ_view_find(text, '#') < text.len || writ_view_find(text, '{') < text.len;
}

static void
check_disguised(struct writ_view text)
{
    writ_auto_buf loud = writ_buf_make(INPUT_MAX), spread = writ_buf_make(4 * INPUT_MAX);
    size_t plain = addresses_of(text);

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = c >= 'a' && c <= 'z';

        writ_buf_byte(&loud, letter ? (char)(c - 'a' + 'A') : c);
        writ_buf_str(&spread, letter ? "\u200b" : "");
        writ_buf_byte(&spread, c);
    }
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&loud, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&spread, NULL)));
    WRIT_INVARIANT(addresses_of(writ_buf_view(&loud)) == plain);
    WRIT_INVARIANT(has_marks(text) || addresses_of(writ_buf_view(&spread)) == plain);
}

static void
check_skeleton(struct writ_view name)
{
    writ_auto_buf once = writ_buf_make(INPUT_MAX), twice = writ_buf_make(INPUT_MAX);

    writ_oddity_skeleton(&once, name);
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&once, NULL)));
    writ_oddity_skeleton(&twice, writ_buf_view(&once));
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&once), writ_buf_view(&twice)));
}

/* A list of definitions by their names, and the texts of each. */
static void
check_tools(const struct writ_json *list)
{
    struct writ_oddities found = {.arena = arena};
    static const struct writ_digest digest = {{1}};
    struct writ_oddity_tool tools[16];
    size_t n = 0;

    WRIT_JSON_EACH(one, list)
    {
        struct writ_view name = writ_json_string(writ_json_get(one, WRIT_LIT("name")));
        struct writ_view text = writ_json_string(writ_json_get(one, WRIT_LIT("description")));

        check_skeleton(name);
        check_disguised(text);
        if (n < sizeof tools / sizeof tools[0]) {
            tools[n] =
                (struct writ_oddity_tool){.server = n % 2 == 0 ? WRIT_LIT("a") : WRIT_LIT("b"),
                    .name = name,
                    .definition = one,
                    .digest = n % 3 == 0 ? &digest : NULL};
            n++;
        }
    }
    writ_oddity_of_names(&found, tools, n);
    check_list(&found);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct writ_json *value = NULL;
    struct writ_oddities list, again;
    struct writ_view name;

    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    writ_arena_reset(arena);
    if (size > INPUT_MAX || !writ_is_ok(writ_json_read(writ_view(data, size),
                                &writ_json_limits_default, arena, &value, NULL))) {
        return 0;
    }
    name = writ_json_string(writ_json_get(value, WRIT_LIT("name")));
    list = oddities_of(value, name);
    again = oddities_of(value, name);
    check_list(&list);
    WRIT_INVARIANT(list.total == again.total && list.n == again.n);
    if (writ_json_type(value) == WRIT_JSON_ARRAY) {
        check_tools(value);
    }
    return 0;
}
