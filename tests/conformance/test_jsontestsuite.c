/* vectors/jsontestsuite: the first letter of a file's name says whether a reader accepts it. One
 * exception: RFC 8259 permits duplicate member names, I-JSON (RFC 7493 2.3) and Writ do not. */
#include "support/unit.h"
#include "support/vectors.h"

#include "evidence/json/jcs.h"

#define CANONICAL_MAX ((size_t)1 << 22)

struct counts {
    size_t accepted, refused, either;
};

static struct writ_json_limits
wide_limits(void)
{
    struct writ_json_limits limits = writ_json_limits_default;

    limits.depth = WRIT_JSON_DEPTH_MAX;
    limits.number_bytes = WRIT_NUMBER_MAX;
    return limits;
}

/* What was accepted is read again from its canonical form without a change. */
static void
assert_stable(const char *name, const struct writ_json *value, struct writ_arena *arena)
{
    writ_auto_buf once = writ_buf_make(CANONICAL_MAX);
    writ_auto_buf twice = writ_buf_make(CANONICAL_MAX);
    struct writ_json_limits limits = wide_limits();
    const struct writ_json *again;

    if (!writ_is_ok(writ_jcs_put(&once, value, NULL))) {
        return; /* a number that has no canonical form: the i_ files have some */
    }
    ck_assert_msg(
        writ_is_ok(writ_json_read(writ_buf_view(&once), &limits, arena, &again, NULL)), "%s", name);
    ck_assert_msg(writ_json_equal(value, again), "%s", name);
    ck_assert_ok(writ_jcs_put(&twice, again, NULL));
    ck_assert_msg(writ_view_equal(writ_buf_view(&once), writ_buf_view(&twice)), "%s", name);
}

static bool
has_duplicates(const char *name)
{
    return writ_view_is(writ_view_str(name), "y_object_duplicated_key.json") ||
           writ_view_is(writ_view_str(name), "y_object_duplicated_key_and_value.json");
}

static void
check_file(const char *name, struct writ_view content, void *arg)
{
    struct counts *counts = arg;
    struct writ_arena *arena = writ_arena_new((size_t)1 << 26);
    struct writ_json_limits limits = wide_limits();
    const struct writ_json *value = NULL;
    struct writ_err err = {0};
    bool accepted = writ_is_ok(writ_json_read(content, &limits, arena, &value, &err));

    if (accepted) {
        assert_stable(name, value, arena);
    } else {
        ck_assert_msg(err.text[0] != '\0' && err.offset <= content.len, "%s", name);
        ck_assert_ptr_null(value);
    }
    switch (name[0]) {
    case 'y':
        ck_assert_msg(accepted != has_duplicates(name), "%s: %s", name, err.text);
        counts->accepted += accepted;
        break;
    case 'n':
        ck_assert_msg(!accepted, "%s", name);
        counts->refused++;
        break;
    default:
        counts->either++;
    }
    writ_arena_free(arena);
}

START_TEST(json_read_of_each_text_follows_its_file_name)
{
    struct counts counts = {0};

    (void)writ_vectors_each("jsontestsuite/test_parsing", ".json", check_file, &counts);
    ck_assert_uint_eq(counts.accepted, 93);
    ck_assert_uint_eq(counts.refused, 188);
    ck_assert_uint_eq(counts.either, 35);
}
END_TEST

WRIT_UNIT_MAIN("conformance_jsontestsuite", json_read_of_each_text_follows_its_file_name)
