/* Seals of runs, and the running hash of decision ids. The hash can be read at any point, a seal
 * is valid for its own run, and every fault is reported. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/record/seal.h"

#define SEALED_US INT64_C(1782363600000000)

static const char *
faults_of(const struct writ_seal *seal, struct writ_arena *arena)
{
    writ_auto_buf buf = writ_buf_make(8192);
    struct writ_faults faults = {0};
    struct writ_view line;

    writ_seal_validate(seal, &faults);
    writ_faults_put(&faults, &buf);
    line = writ_view_copy(writ_buf_view(&buf), arena);
    ck_assert_ptr_nonnull(line.ptr);
    return line.ptr;
}

static void
digest_of(const char *text, struct writ_digest *ret)
{
    ck_assert_ok(writ_digest_bytes(writ_view_str(text), ret, NULL));
}

START_TEST(seal_hash_can_be_read_at_any_point)
{
    WRIT_AUTO(struct writ_seal_hash, writ_seal_hash_wipe) hash = {0};
    struct writ_digest got, want;

    ck_assert_ok(writ_seal_hash_init(&hash, NULL));
    digest_of("", &want);
    ck_assert_ok(writ_seal_hash_now(&hash, &got, NULL));
    ck_assert(writ_digest_equal(&got, &want));

    ck_assert_ok(writ_seal_hash_add(&hash, WRIT_LIT("d-0"), NULL));
    digest_of("d-0", &want);
    ck_assert_ok(writ_seal_hash_now(&hash, &got, NULL));
    ck_assert(writ_digest_equal(&got, &want));

    /* no separator, and asking has not ended it */
    ck_assert_ok(writ_seal_hash_add(&hash, WRIT_LIT("d-1"), NULL));
    digest_of("d-0d-1", &want);
    ck_assert_ok(writ_seal_hash_now(&hash, &got, NULL));
    ck_assert(writ_digest_equal(&got, &want));
    ck_assert_uint_eq(hash.total, 2);
}
END_TEST

START_TEST(seal_hash_zeroed_can_be_wiped_and_gives_no_digest)
{
    struct writ_seal_hash hash = {0};
    struct writ_digest digest = {{9}};

    writ_seal_hash_wipe(&hash);
    ck_assert_code(writ_seal_hash_add(&hash, WRIT_LIT("d"), NULL), WRIT_E_CRYPTO);
    ck_assert_code(writ_seal_hash_now(&hash, &digest, NULL), WRIT_E_CRYPTO);
    ck_assert_uint_eq(digest.bytes[0], 9);
    ck_assert_uint_eq(hash.total, 0);
}
END_TEST

START_TEST(seal_make_gives_a_valid_seal)
{
    writ_auto_arena arena = writ_value_arena();
    WRIT_AUTO(struct writ_seal_hash, writ_seal_hash_wipe) hash = {0};
    writ_auto_buf buf = writ_buf_make(1000);
    struct writ_seal seal = {0};

    ck_assert_ok(writ_seal_hash_init(&hash, NULL));
    ck_assert_ok(writ_seal_hash_add(&hash, WRIT_LIT("abc"), NULL));
    ck_assert_ok(writ_seal_make(WRIT_LIT("run-1"), &hash, SEALED_US, arena, &seal, NULL));
    ck_assert_str_eq(faults_of(&seal, arena), "");
    ck_assert_ok(writ_seal_put(&seal, &buf, NULL));
    ck_assert_view(writ_buf_view(&buf),
        "{\"boundary_id\":\"run-1\",\"final_seq\":0,"
        "\"seal_hash\":\"sha256:"
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\","
        "\"sealed\":true,\"sealed_at\":\"2026-06-25T05:00:00.000000Z\",\"total\":1}");
}
END_TEST

START_TEST(seal_of_an_empty_run_ends_before_its_first_seq)
{
    writ_auto_arena arena = writ_value_arena();
    WRIT_AUTO(struct writ_seal_hash, writ_seal_hash_wipe) hash = {0};
    struct writ_seal seal = {0};

    ck_assert_ok(writ_seal_hash_init(&hash, NULL));
    ck_assert_ok(writ_seal_make(WRIT_LIT("run-1"), &hash, SEALED_US, arena, &seal, NULL));
    ck_assert_int_eq(seal.total.value, 0);
    ck_assert_int_eq(seal.final_seq.value, -1);
    ck_assert_str_eq(faults_of(&seal, arena), "");
}
END_TEST

START_TEST(seal_without_memory_leaves_ret_unchanged)
{
    writ_auto_arena arena = writ_arena_new(64);
    WRIT_AUTO(struct writ_seal_hash, writ_seal_hash_wipe) hash = {0};
    struct writ_seal seal = {0};

    ck_assert_ok(writ_seal_hash_init(&hash, NULL));
    ck_assert_code(
        writ_seal_make(WRIT_LIT("run-1"), &hash, SEALED_US, arena, &seal, NULL), WRIT_E_NOMEM);
    ck_assert_int_eq(seal.sealed.is, WRIT_ABSENT);
}
END_TEST

START_TEST(seal_validate_reports_all_faults)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_seal seal = {0};

    ck_assert_str_eq(
        faults_of(&seal, arena), "/boundary_id is missing; /sealed is missing; /total is missing");
    seal.boundary_id = writ_member_text(WRIT_LIT("r"));
    seal.sealed = writ_member_flag(false);
    seal.total = writ_member_number(3);
    seal.final_seq = writ_member_number(3);
    seal.sealed_at = writ_member_text(WRIT_LIT("now"));
    ck_assert_str_eq(faults_of(&seal, arena),
        "/sealed_at is not a time like 2026-11-21T22:20:00.5Z; /sealed is not true; "
        "/final_seq is not total - 1");
    seal.total = writ_member_number(-3);
    seal.final_seq = writ_member_number(-4);
    ck_assert_str_eq(faults_of(&seal, arena),
        "/sealed_at is not a time like 2026-11-21T22:20:00.5Z; "
        "/total is not an integer from 0; /sealed is not true");
}
END_TEST

WRIT_UNIT_MAIN("seal", seal_hash_can_be_read_at_any_point,
    seal_hash_zeroed_can_be_wiped_and_gives_no_digest, seal_make_gives_a_valid_seal,
    seal_of_an_empty_run_ends_before_its_first_seq, seal_without_memory_leaves_ret_unchanged,
    seal_validate_reports_all_faults)
