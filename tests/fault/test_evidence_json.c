/* The n-th allocation fails while JSON is read, written and digested: there is an error, or the
 * very same output. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"

#define ARENA_MAX     ((size_t)1 << 24)
#define CANONICAL_MAX ((size_t)1 << 20)
#define ITEMS         3000

/* A text that makes tape, spare room and buffers grow several times. */
static struct writ_buf
long_text(void)
{
    struct writ_buf text = writ_buf_make(CANONICAL_MAX);

    for (int i = 0; i < ITEMS; i++) {
        writ_buf_fmt(&text, "%s{\"b\":%d.5,\"a\":\"\\u00e9\\n%d\"}", i == 0 ? "[" : ",", i, i);
    }
    writ_buf_byte(&text, ']');
    ck_assert_ok(writ_buf_check(&text, NULL));
    return text;
}

static writ_result
digest_text(struct writ_view text, struct writ_digest *ret)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *value;

    if (arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(writ_json_read(text, &writ_json_limits_default, arena, &value, NULL));
    return writ_digest_json(value, CANONICAL_MAX, ret, NULL);
}

START_TEST(digest_with_a_failed_allocation_gives_the_same_or_none)
{
    writ_auto_buf text = long_text();
    struct writ_digest want, got;
    bool reached = true;
    long nth = 0;

    ck_assert_ok(digest_text(writ_buf_view(&text), &want));
    while (reached) {
        writ_fault_arm(++nth);
        writ_result r = digest_text(writ_buf_view(&text), &got);
        reached = writ_fault_disarm();

        if (writ_is_ok(r)) {
            ck_assert_msg(writ_digest_equal(&got, &want), "allocation %ld", nth);
        } else {
            ck_assert_int_eq(r.code, WRIT_E_NOMEM);
        }
    }
    ck_assert_int_gt(nth, 5); /* the values take more than the first block */
}
END_TEST

START_TEST(copy_with_a_failed_allocation_gives_the_same_or_none)
{
    const struct writ_json *value = writ_values_json("{\"a\":[1,\"b\"],\"c\":{\"d\":null}}");
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        struct writ_arena *arena = writ_arena_new(ARENA_MAX);
        void *fill = writ_arena_get(arena, 4000); /* so that the copy needs a new block */
        writ_fault_arm(nth);
        const struct writ_json *copy = writ_json_copy(value, arena);
        reached = writ_fault_disarm();
        ck_assert_ptr_nonnull(fill);
        ck_assert(copy == NULL || writ_json_equal(copy, value));
        ck_assert(reached || copy != NULL);
        writ_arena_free(arena);
    }
}
END_TEST

WRIT_UNIT_MAIN("fault_evidence_json", digest_with_a_failed_allocation_gives_the_same_or_none,
    copy_with_a_failed_allocation_gives_the_same_or_none)
