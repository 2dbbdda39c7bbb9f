/* Kept contents: one opens for its own record and part alone, and is compared with the digest that
 * the record signs. */
#include "support/unit.h"

#include "evidence/json/digest.h"
#include "evidence/record/content_fact.h"
#include "evidence/record/content.h"

#define ARENA      ((size_t)64 << 10)
#define EXPIRES_US INT64_C(1782363600000000)

struct fixture {
    struct writ_arena *arena;
    struct writ_keyring *ring;
};

static void
setup(struct fixture *f)
{
    struct writ_wrap_key *key = NULL;

    f->arena = writ_arena_new(ARENA);
    ck_assert_ptr_nonnull(f->arena);
    ck_assert_ok(writ_keyring_new(&f->ring, NULL));
    ck_assert_ok(writ_wrap_key_new(&key, NULL));
    ck_assert_ok(writ_keyring_add_wrap(f->ring, key, 1, NULL));
}

static void
teardown(struct fixture *f)
{
    writ_keyring_free(f->ring);
    writ_arena_free(f->arena);
}

static struct writ_sealed
sealed_of(struct fixture *f, const char *id, enum writ_content_part part, bool redacted)
{
    struct writ_sealed sealed = {0};

    ck_assert_ok(writ_content_seal(writ_keyring_wrap(f->ring),
        &(struct writ_content_of){writ_view_str(id), part, redacted, EXPIRES_US},
        WRIT_LIT("{\"a\":1}"), f->arena, &sealed, NULL));
    return sealed;
}

static enum writ_code
open_it(struct fixture *f, const char *id, enum writ_content_part part,
    const struct writ_sealed *sealed)
{
    struct writ_view plain = {NULL, 0};
    enum writ_code code =
        writ_content_open(f->ring, writ_view_str(id), part, sealed, f->arena, &plain, NULL).code;

    if (code == WRIT_OK) {
        ck_assert_view(plain, "{\"a\":1}");
    } else {
        ck_assert_ptr_null(plain.ptr);
    }
    return code;
}

START_TEST(content_open_of_another_record_part_mark_or_time_is_a_mismatch)
{
    struct fixture f;
    struct writ_sealed sealed, other;

    setup(&f);
    sealed = sealed_of(&f, "d-1", WRIT_CONTENT_ARGUMENTS, false);
    ck_assert_int_eq(open_it(&f, "d-1", WRIT_CONTENT_ARGUMENTS, &sealed), WRIT_OK);
    ck_assert_int_eq(open_it(&f, "d-2", WRIT_CONTENT_ARGUMENTS, &sealed), WRIT_E_MISMATCH);
    ck_assert_int_eq(open_it(&f, "d-1", WRIT_CONTENT_RESULT, &sealed), WRIT_E_MISMATCH);
    ck_assert_int_eq(open_it(&f, "d-1", WRIT_CONTENT_NONE, &sealed), WRIT_E_INVALID);
    sealed.redacted = true;
    ck_assert_int_eq(open_it(&f, "d-1", WRIT_CONTENT_ARGUMENTS, &sealed), WRIT_E_MISMATCH);
    sealed.redacted = false;
    sealed.expires_us++;
    ck_assert_int_eq(open_it(&f, "d-1", WRIT_CONTENT_ARGUMENTS, &sealed), WRIT_E_MISMATCH);
    sealed.expires_us--;
    other = sealed_of(&f, "d-2", WRIT_CONTENT_ARGUMENTS, false);
    other.bytes = sealed.bytes; /* the ciphertext of one under the key of the other */
    ck_assert_int_eq(open_it(&f, "d-2", WRIT_CONTENT_ARGUMENTS, &other), WRIT_E_MISMATCH);
    teardown(&f);
}
END_TEST

START_TEST(content_open_without_its_key_says_absent)
{
    struct fixture f;
    struct writ_sealed sealed;
    struct writ_wrap_key *second = NULL;
    struct writ_view plain = {NULL, 0};
    struct writ_err err = {0};
    char kid[WRIT_WRAP_KID_TEXT] = {0};

    setup(&f);
    sealed = sealed_of(&f, "d-1", WRIT_CONTENT_RESULT, true);
    sealed.kid = writ_view_place(sealed.kid, kid); /* the key that it is borrowed from goes */
    ck_assert_ok(writ_wrap_key_new(&second, NULL));
    ck_assert_ok(writ_keyring_add_wrap(f.ring, second, 2, NULL));
    ck_assert(!writ_view_equal(sealed.kid, writ_wrap_key_kid(writ_keyring_wrap(f.ring))));
    ck_assert_int_eq(open_it(&f, "d-1", WRIT_CONTENT_RESULT, &sealed), WRIT_OK);
    ck_assert_ok(writ_keyring_retire(f.ring, sealed.kid, 3, NULL));
    ck_assert_code(writ_content_open(f.ring, WRIT_LIT("d-1"), WRIT_CONTENT_RESULT, &sealed, f.arena,
                       &plain, &err),
        WRIT_E_ABSENT);
    ck_assert_uint_lt(
        writ_view_search(writ_view_str(err.text), sealed.kid), writ_view_str(err.text).len);
    teardown(&f);
}
END_TEST

START_TEST(content_check_compares_with_the_signed_digest)
{
    struct writ_decision decision = {0};
    struct writ_outcome outcome = {0};
    struct writ_extension extension = {0};
    struct writ_digest digest;
    char right[WRIT_DIGEST_TEXT], wrong[WRIT_DIGEST_TEXT];

    ck_assert_ok(writ_digest_bytes(WRIT_LIT("x"), &digest, NULL));
    writ_digest_text(&digest, right);
    ck_assert_ok(writ_digest_bytes(WRIT_LIT("y"), &digest, NULL));
    writ_digest_text(&digest, wrong);

    ck_assert_ptr_null(writ_content_arguments(&decision, &extension, false).ptr);
    ck_assert_code(writ_content_check(WRIT_LIT("x"), writ_view(NULL, 0), NULL), WRIT_E_MISMATCH);
    decision.params_hash = writ_member_text(writ_view_str(right));
    extension.contents_kept = writ_member_text(writ_view_str(wrong));
    ck_assert_ok(writ_content_check(
        WRIT_LIT("x"), writ_content_arguments(&decision, &extension, false), NULL));
    ck_assert_code(writ_content_check(
                       WRIT_LIT("x"), writ_content_arguments(&decision, &extension, true), NULL),
        WRIT_E_MISMATCH);
    ck_assert_ok(writ_content_check(
        WRIT_LIT("y"), writ_content_arguments(&decision, &extension, true), NULL));

    outcome.tool_output_hash = writ_member_text(writ_view_str(right));
    ck_assert_view(writ_content_result(&outcome, &extension, false), right);
    ck_assert_view(writ_content_result(&outcome, &extension, true), wrong);
    extension.output_after = writ_member_text(writ_view_str(wrong));
    ck_assert_view(writ_content_result(&outcome, &extension, false), wrong);
}
END_TEST

START_TEST(content_seal_needs_a_record_and_a_part)
{
    struct fixture f;
    struct writ_sealed sealed = {.redacted = true};

    setup(&f);
    ck_assert_code(
        writ_content_seal(writ_keyring_wrap(f.ring),
            &(struct writ_content_of){.decision_id = WRIT_LIT(""), .part = WRIT_CONTENT_ARGUMENTS},
            WRIT_LIT("x"), f.arena, &sealed, NULL),
        WRIT_E_INVALID);
    ck_assert_code(writ_content_seal(writ_keyring_wrap(f.ring),
                       &(struct writ_content_of){.decision_id = WRIT_LIT("d")}, WRIT_LIT("x"),
                       f.arena, &sealed, NULL),
        WRIT_E_INVALID);
    ck_assert(sealed.redacted); /* as it was */
    teardown(&f);
}
END_TEST

START_TEST(content_facts_have_the_members_that_are_given)
{
    writ_auto_buf text = writ_buf_make(1000);

    ck_assert_ok(writ_content_fact_look(&(struct writ_content_look){.by = WRIT_LIT("ann"),
                                            .purpose = WRIT_LIT("show"),
                                            .decision_id = WRIT_LIT("d-1"),
                                            .count = 1},
        &text, NULL));
    ck_assert_view(writ_buf_view(&text),
        "{\"by\":\"ann\",\"count\":1,\"decision_id\":\"d-1\",\"purpose\":\"show\"}");
    writ_buf_clear(&text);
    ck_assert_ok(writ_content_fact_look(&(struct writ_content_look){.by = WRIT_LIT("ann"),
                                            .purpose = WRIT_LIT("learn"),
                                            .since_us = INT64_C(1782363600000000),
                                            .count = 7},
        &text, NULL));
    ck_assert_view(writ_buf_view(&text), "{\"by\":\"ann\",\"count\":7,\"purpose\":\"learn\","
                                         "\"since\":\"2026-06-25T05:00:00.000000Z\"}");
    writ_buf_clear(&text);
    ck_assert_ok(writ_content_fact_erasure(&(struct writ_content_erasure){.by = WRIT_LIT("ann"),
                                               .agent_id = WRIT_LIT("a"),
                                               .tenant = WRIT_LIT("t"),
                                               .before_us = INT64_C(1782363600000000),
                                               .count = 2},
        &text, NULL));
    ck_assert_view(writ_buf_view(&text),
        "{\"agent_id\":\"a\",\"before\":\"2026-06-25T05:00:00.000000Z\",\"by\":\"ann\",\"count\":2,"
        "\"tenant\":\"t\"}");
    ck_assert_code(
        writ_content_fact_look(&(struct writ_content_look){0}, &text, NULL), WRIT_E_INVALID);
    ck_assert_code(
        writ_content_fact_erasure(&(struct writ_content_erasure){0}, &text, NULL), WRIT_E_INVALID);
}
END_TEST

WRIT_UNIT_MAIN("content", content_open_of_another_record_part_mark_or_time_is_a_mismatch,
    content_open_without_its_key_says_absent, content_check_compares_with_the_signed_digest,
    content_seal_needs_a_record_and_a_part, content_facts_have_the_members_that_are_given)
