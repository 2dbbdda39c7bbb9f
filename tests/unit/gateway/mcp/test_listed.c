/* Names in merged lists. A name with two definitions is left out. */
#include "support/unit.h"

#include "gateway/mcp/listed.h"

#include <string.h>

START_TEST(listed_join_drops_names_with_two_definitions)
{
    /* each letter pair is an item: its name and its definition; '-' after it: it is not shown */
    static const struct {
        const char *items, *want;
        size_t hidden;
    } cases[] = {
        {"", "", 0},
        {"a1 b1 ", "a1,b1", 0},
        {"b1 a1 ", "b1,a1", 0},
        {"a1 a2 ", "", 2},
        {"a1 b1 a2 ", "b1", 2},
        {"a1 a1 b1 ", "a1,b1", 0},
        {"b1 a1 a1 a2 ", "b1", 3},
        {"a1-a2 b1 ", "b1", 2},
        {"a1-b1 ", "b1", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_listed listed = {0};
        struct writ_buf text = writ_buf_make(100);
        size_t hidden = 99;
        for (const char *at = cases[i].items; *at != '\0'; at += 3) {
            struct writ_listed_item item = {.name = writ_view(at, 1), .start = text.len};
            ck_assert_ok(writ_digest_bytes(writ_view(at + 1, 1), &item.digest, NULL));
            if (at[2] != '-') {
                item.start += text.len > 0 ? 1 : 0;
                writ_buf_str(&text, text.len > 0 ? "," : "");
                writ_buf_put(&text, writ_view(at, 2));
                item.len = 2;
            }
            ck_assert_ok(writ_listed_add(&listed, &item));
        }
        writ_listed_join(&listed, &text, &hidden);
        ck_assert_view(writ_buf_view(&text), cases[i].want);
        ck_assert_uint_eq(hidden, strlen(cases[i].want) == text.len ? cases[i].hidden : 99);
        writ_listed_wipe(&listed);
        writ_buf_wipe(&text);
    }
}
END_TEST

WRIT_UNIT_MAIN("listed", listed_join_drops_names_with_two_definitions)
