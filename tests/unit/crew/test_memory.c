/* The reference memory of a crew (semantics 8, vectors/crew-golden/README.md) by itself. Items
 * keep their order and ids, and a full memory takes no more. */
#include "support/unit.h"

#include "base/bytes.h"
#include "writ/crew.h"

#include <stdio.h>

#define CREATE(id, more) "{\"type\":\"memory.create\",\"item\":{\"id\":" id more "}}"

static struct writ_crew_memory
memory_of(const char *crew_id)
{
    struct writ_crew_memory memory = {0};

    ck_assert_ok(writ_crew_memory_new(writ_view_str(crew_id), &memory));
    return memory;
}

static void
apply_view(struct writ_crew_memory memory, struct writ_view command)
{
    const struct writ_crew_scope scope = {WRIT_LIT("a-1"), WRIT_LIT("c"), WRIT_LIT("a"), {NULL, 0}};

    ck_assert_ok(memory.ops->apply(memory.self, &scope, command));
}

static void
apply(struct writ_crew_memory memory, const char *command)
{
    apply_view(memory, writ_view_str(command));
}

/* The ids of the items, in their order. */
static void
check_ids(struct writ_crew_memory memory, const char *want)
{
    writ_auto_buf got = writ_buf_make(SIZE_MAX);
    struct writ_crew_value *snapshot = NULL;
    struct writ_view text;

    ck_assert_ok(memory.ops->snapshot(memory.self, &snapshot));
    text = writ_crew_value_text(snapshot);
    for (;;) {
        size_t at = writ_view_search(text, WRIT_LIT("\"id\":"));
        if (at == text.len) {
            break;
        }
        text = writ_view_sub(text, at + 5, SIZE_MAX);
        writ_buf_put(&got, writ_view_sub(text, 0, writ_view_find(text, ',')));
        writ_buf_byte(&got, ' ');
    }
    ck_assert_view(writ_buf_view(&got), want);
    writ_crew_value_free(snapshot);
}

/* How many items there are: each is two objects, itself and its meta, in one. */
static size_t
count_items(struct writ_crew_memory memory)
{
    struct writ_crew_value *snapshot = NULL;
    struct writ_view text;
    size_t n = 0;

    ck_assert_ok(memory.ops->snapshot(memory.self, &snapshot));
    text = writ_crew_value_text(snapshot);
    for (size_t at = 0; at < text.len; at++) {
        n += text.ptr[at] == '{';
    }
    writ_crew_value_free(snapshot);
    return (n - 1) / 2;
}

START_TEST(items_keep_their_order_and_their_ids)
{
    struct writ_crew_memory memory = memory_of("c");

    apply(memory, CREATE("\"b\"", ""));
    apply(memory, CREATE("\"a\"", ""));
    apply(memory, CREATE("7", ""));
    check_ids(memory, "\"b\" \"a\" 7 ");
    apply(memory, CREATE("\"b\"", ",\"n\":1")); /* in place */
    check_ids(memory, "\"b\" \"a\" 7 ");
    apply(memory, "{\"type\":\"memory.update\",\"item_id\":\"a\",\"partial\":{\"id\":\"z\"}}");
    check_ids(memory, "\"b\" \"a\" 7 ");
    apply(memory, "{\"type\":\"memory.retract\",\"item_id\":\"b\"}");
    apply(memory, "{\"type\":\"memory.retract\",\"item_id\":\"nobody\"}");
    check_ids(memory, "\"a\" 7 ");
    apply(memory, CREATE("\"b\"", ""));
    check_ids(memory, "\"a\" 7 \"b\" ");
    apply(memory, "{\"type\":\"memory.retract\",\"item_id\":\"b\"}");
    apply(memory, "{\"type\":\"memory.retract\",\"item_id\":\"a\"}");
    apply(memory, "{\"type\":\"memory.retract\",\"item_id\":7}");
    check_ids(memory, "");
    memory.ops->free(memory.self);
}
END_TEST

START_TEST(retrieve_scores_the_last_written_members)
{
    const struct writ_crew_scope self = {
        WRIT_LIT("a-1"), WRIT_LIT("c"), WRIT_LIT("a"), WRIT_LIT("self")};
    struct writ_crew_memory memory = memory_of("c");
    struct writ_crew_value *found = NULL;

    apply(memory, CREATE("1", ",\"importance\":1"));
    apply(memory, CREATE("2", ",\"importance\":2"));
    apply(memory,
        "{\"type\":\"memory.update\",\"item_id\":1,\"partial\":{\"importance\":3,\"author\":5}}");
    apply(memory, "{\"type\":\"memory.update\",\"item_id\":2,\"partial\":{\"meta\":{}}}");
    ck_assert_ok(memory.ops->retrieve(
        memory.self, &self, WRIT_LIT("{\"weights\":{\"importance\":1}}"), &found));
    ck_assert_view(writ_crew_value_text(found),
        "[{\"item\":{\"author\":5,\"id\":1,\"importance\":3,\"meta\":{\"agent_id\":\"a-1\","
        "\"crew_id\":\"c\",\"role\":\"a\"},\"scope\":\"crew:c/agent:a-1\"},\"score\":3}]");
    writ_crew_value_free(found);
    memory.ops->free(memory.self);
}
END_TEST

START_TEST(stamp_fills_empty_members_only)
{
    struct writ_crew_memory memory = memory_of("c");
    struct writ_crew_value *snapshot = NULL;

    apply(memory, CREATE("1", ",\"author\":\"\",\"scope\":null,\"meta\":{\"role\":\"x\",\"k\":1}"));
    apply(memory, CREATE("2", ",\"author\":\"me\",\"scope\":\"s\""));
    ck_assert_ok(memory.ops->snapshot(memory.self, &snapshot));
    ck_assert_view(writ_crew_value_text(snapshot),
        "{\"items\":[{\"author\":\"agent:a-1\",\"id\":1,\"meta\":{\"agent_id\":\"a-1\","
        "\"crew_id\":\"c\",\"k\":1,\"role\":\"a\"},\"scope\":\"crew:c/agent:a-1\"},"
        "{\"author\":\"me\",\"id\":2,\"meta\":{\"agent_id\":\"a-1\",\"crew_id\":\"c\","
        "\"role\":\"a\"},\"scope\":\"s\"}]}");
    writ_crew_value_free(snapshot);
    memory.ops->free(memory.self);
}
END_TEST

/* Were an id looked for from the first item on, or an item read at each retrieval, this would take
 * minutes. */
START_TEST(apply_to_a_full_memory_adds_no_item)
{
    struct writ_crew_memory memory = memory_of("c"), fork = {memory.ops, NULL};
    char command[96];

    for (int at = 0; at < WRIT_CREW_ITEMS_MAX; at++) {
        snprintf(command, sizeof command, CREATE("%d", ""), at);
        apply(memory, command);
    }
    ck_assert_uint_eq(count_items(memory), WRIT_CREW_ITEMS_MAX);
    apply(memory, CREATE("\"more\"", ""));
    ck_assert_uint_eq(count_items(memory), WRIT_CREW_ITEMS_MAX);
    ck_assert_ok(memory.ops->fork(memory.self, WRIT_LIT("d"), &fork.self));
    for (int at = 0; at < WRIT_CREW_ITEMS_MAX; at += 2) {
        snprintf(command, sizeof command, "{\"type\":\"memory.retract\",\"item_id\":%d}", at);
        apply(memory, command);
    }
    ck_assert_uint_eq(count_items(memory), WRIT_CREW_ITEMS_MAX / 2);
    ck_assert_ok(memory.ops->import(memory.self, fork.self));
    ck_assert_uint_eq(count_items(memory), WRIT_CREW_ITEMS_MAX);
    fork.ops->free(fork.self);
    memory.ops->free(memory.self);
}
END_TEST

START_TEST(update_beyond_the_limit_of_an_item_is_refused)
{
    static const char before[] = "{\"type\":\"memory.update\",\"item_id\":1,\"partial\":{\"t\":\"";
    struct writ_crew_memory memory = memory_of("c");
    struct writ_crew_value *snapshot = NULL;
    writ_auto_buf command = writ_buf_make(SIZE_MAX);
    size_t plain;

    apply(memory, CREATE("1", ",\"t\":\"\""));
    ck_assert_ok(memory.ops->snapshot(memory.self, &snapshot));
    plain = writ_crew_value_text(snapshot).len - sizeof "{\"items\":[]}" + 1;
    writ_crew_value_free(snapshot);
    for (size_t over = 0; over <= 1; over++) {
        writ_buf_clear(&command);
        writ_buf_str(&command, before);
        for (size_t at = plain; at < WRIT_CREW_ITEM_MAX + over; at++) {
            writ_buf_byte(&command, over == 0 ? 'x' : 'y');
        }
        writ_buf_str(&command, "\"}}");
        apply_view(memory, writ_buf_view(&command));
        ck_assert_ok(memory.ops->snapshot(memory.self, &snapshot));
        ck_assert_uint_eq(
            writ_crew_value_text(snapshot).len, WRIT_CREW_ITEM_MAX + sizeof "{\"items\":[]}" - 1);
        ck_assert_uint_lt(writ_view_search(writ_crew_value_text(snapshot), WRIT_LIT("xx")),
            writ_crew_value_text(snapshot).len);
        writ_crew_value_free(snapshot);
    }
    memory.ops->free(memory.self);
}
END_TEST

WRIT_UNIT_MAIN("memory", items_keep_their_order_and_their_ids,
    retrieve_scores_the_last_written_members, stamp_fills_empty_members_only,
    apply_to_a_full_memory_adds_no_item, update_beyond_the_limit_of_an_item_is_refused)
