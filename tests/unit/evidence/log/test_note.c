/* Signed notes. A note verifies under keys that the reader knows; unknown keys are ignored, and
 * one bad signature of a known key refuses the note. */
#include "support/unit.h"

#include "evidence/log/note.h"

#define TEXT_MAX 4096

/* The example of golang.org/x/mod/sumdb/note. */
#define NEUMANN "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
#define NEUMANN_TEXT                                                                               \
    "If you think cryptography is the answer to your problem,\n"                                   \
    "then you don't know what your problem is.\n"
#define NEUMANN_LINE                                                                               \
    "\xe2\x80\x94 PeterNeumann "                                                                   \
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvq"                          \
    "fqdngotpRZb6KE6RyyBwJnAM=\n"
#define NEUMANN_NOTE NEUMANN_TEXT "\n" NEUMANN_LINE
#define TEXT         "log.example\n0\n"

static struct writ_note_key *
key_of(const char *vkey)
{
    struct writ_note_key *ret = NULL;

    ck_assert_ok(writ_note_key_read(writ_view_str(vkey), &ret, NULL));
    return ret;
}

/* A new key and its signer. */
static struct writ_signer *
new_key(const char *name, enum writ_note_type type, struct writ_note_key **ret)
{
    struct writ_signer *signer = NULL;

    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signer, NULL));
    ck_assert_ok(writ_note_key_of(writ_view_str(name), type, writ_signer_jwk(signer), ret, NULL));
    return signer;
}

static writ_result
verify(struct writ_view bytes, const struct writ_note_key *key, uint64_t *ret_time_s)
{
    struct writ_note note;

    WRIT_TRY(writ_note_read(bytes, &note, NULL));
    return writ_note_verify(&note, key, ret_time_s, NULL);
}

START_TEST(note_verify_accepts_a_note_of_another_program)
{
    struct writ_note_key *key = key_of(NEUMANN);
    struct writ_note note;
    uint64_t time_s = 7;

    ck_assert_ok(writ_note_read(WRIT_LIT(NEUMANN_NOTE), &note, NULL));
    ck_assert_view(note.text, NEUMANN_TEXT);
    ck_assert_view(note.signatures, NEUMANN_LINE);
    ck_assert_ok(writ_note_verify(&note, key, &time_s, NULL));
    ck_assert_uint_eq(time_s, 0);
    writ_note_key_free(key);
}
END_TEST

START_TEST(note_verify_of_every_changed_bit_fails)
{
    struct writ_note_key *key = key_of(NEUMANN);
    char bytes[sizeof NEUMANN_NOTE];

    for (size_t bit = 0; bit < (sizeof bytes - 1) * 8; bit++) {
        struct writ_view note = writ_view_place(WRIT_LIT(NEUMANN_NOTE), bytes);

        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        ck_assert(!writ_is_ok(verify(note, key, NULL)));
    }
    writ_note_key_free(key);
}
END_TEST

START_TEST(note_key_reads_back_as_written)
{
    static const char *const vkeys[] = {
        NEUMANN, "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"};
    char text[TEXT_MAX];

    for (size_t i = 0; i < sizeof vkeys / sizeof vkeys[0]; i++) {
        struct writ_note_key *key = key_of(vkeys[i]);
        struct writ_buf buf = writ_buf_over(text, sizeof text);

        writ_note_key_put(&buf, key);
        ck_assert_view(writ_buf_view(&buf), vkeys[i]);
        ck_assert_int_eq(writ_note_key_type(key), WRIT_NOTE_ED25519);
        writ_note_key_free(key);
    }
}
END_TEST

START_TEST(note_key_read_of_another_form_is_refused)
{
    static const struct {
        const char *text;
        enum writ_code code;
    } cases[] = {
        {"", WRIT_E_PARSE},
        {"PeterNeumann", WRIT_E_PARSE},
        {"PeterNeumann+c74f20a3", WRIT_E_PARSE},
        {"PeterNeumann+c74f20a3+", WRIT_E_INVALID},
        {"PeterNeumann+c74f20a3+AR", WRIT_E_PARSE},
        {"PeterNeumann+c74f20a3+AQ==", WRIT_E_INVALID},
        {"PeterNeumann+c74f20a3+AhpcT2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", WRIT_E_PARSE},
        {"PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", WRIT_E_MISMATCH},
        {"PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", WRIT_E_PARSE},
        {"PeterNeuman+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", WRIT_E_MISMATCH},
        {"PeterNeumann+c74f20a3+Ahpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", WRIT_E_INVALID},
        {"PeterNeumann+c74f20a3+BBpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", WRIT_E_MISMATCH},
        {"+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", WRIT_E_INVALID},
        {"Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", WRIT_E_INVALID},
    };
    struct writ_note_key *key = NULL;
    struct writ_buf big = writ_buf_make(TEXT_MAX);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_code(writ_note_key_read(writ_view_str(cases[i].text), &key, NULL), cases[i].code);
        ck_assert_ptr_null(key);
    }
    while (big.len <= WRIT_NOTE_KEY_TEXT_MAX) {
        writ_buf_byte(&big, 'a');
    }
    ck_assert_code(writ_note_key_read(writ_buf_view(&big), &key, NULL), WRIT_E_LIMIT);
    writ_buf_wipe(&big);
}
END_TEST

START_TEST(note_check_name_with_a_space_or_above_its_limit_is_refused)
{
    static const char *const bad[] = {"", "a b", "a+b", "a\tb", "a\x7f", "\xc2\xa0", "\xc2\x85",
        "\xe1\x9a\x80", "\xe2\x80\x83", "\xe2\x80\xa8", "\xe2\x80\xaf", "\xe2\x81\x9f",
        "\xe3\x80\x80", "\xff", "a\xc3"};
    struct writ_buf name = writ_buf_make(WRIT_NOTE_NAME_MAX + 1);

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_code(writ_note_check_name(writ_view_str(bad[i]), NULL), WRIT_E_INVALID);
    }
    ck_assert_ok(writ_note_check_name(WRIT_LIT("example.com/log42/\xc3\xa4"), NULL));
    while (name.len < WRIT_NOTE_NAME_MAX) {
        writ_buf_byte(&name, 'a');
    }
    ck_assert_ok(writ_note_check_name(writ_buf_view(&name), NULL));
    writ_buf_byte(&name, 'a');
    ck_assert_code(writ_note_check_name(writ_buf_view(&name), NULL), WRIT_E_INVALID);
    writ_buf_wipe(&name);
}
END_TEST

START_TEST(note_sign_with_another_algorithm_is_refused)
{
    struct writ_signer *signer = NULL;
    struct writ_note_key *key = NULL;

    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_ES256, &signer, NULL));
    ck_assert_code(
        writ_note_key_of(WRIT_LIT("a"), WRIT_NOTE_ED25519, writ_signer_jwk(signer), &key, NULL),
        WRIT_E_INVALID);
    ck_assert_code(
        writ_note_key_of(WRIT_LIT("a"), WRIT_NOTE_NONE, writ_signer_jwk(signer), &key, NULL),
        WRIT_E_INVALID);
    ck_assert_ptr_null(key);
    writ_signer_free(signer);
}
END_TEST

START_TEST(note_read_of_another_form_is_refused)
{
    static const char *const bad[] = {"", "\n", "\n\n", "text\n", "text\n\n", NEUMANN_TEXT,
        NEUMANN_TEXT NEUMANN_LINE, "\n" NEUMANN_LINE, "text\n\n- a AAAA\n",
        "text\n\n\xe2\x80\x94 a\n", "text\n\n\xe2\x80\x94 a \n", "text\n\n\xe2\x80\x94  AAAA\n",
        "text\n\n\xe2\x80\x94 a AAAA", "te\rxt\n\n" NEUMANN_LINE, "te\xffxt\n\n" NEUMANN_LINE,
        NEUMANN_NOTE "more\n", "text\n\n\xe2\x80\x94 a+b AAAA\n"};
    struct writ_note note = {.text = WRIT_LIT("kept")};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_code(writ_note_read(writ_view_str(bad[i]), &note, NULL), WRIT_E_PARSE);
        ck_assert_view(note.text, "kept");
    }
}
END_TEST

START_TEST(note_read_limits_the_signatures)
{
    struct writ_note_key *key = key_of(NEUMANN);
    struct writ_buf buf = writ_buf_make(WRIT_NOTE_BYTES_MAX + 1);
    struct writ_note note;

    writ_buf_str(&buf, NEUMANN_TEXT "\n");
    for (size_t i = 0; i < WRIT_NOTE_SIGNATURES_MAX; i++) {
        writ_buf_str(&buf, NEUMANN_LINE);
    }
    ck_assert_ok(verify(writ_buf_view(&buf), key, NULL));
    writ_buf_str(&buf, NEUMANN_LINE);
    ck_assert_code(writ_note_read(writ_buf_view(&buf), &note, NULL), WRIT_E_LIMIT);

    writ_buf_clear(&buf);
    while (buf.len < WRIT_NOTE_BYTES_MAX - 1 - sizeof NEUMANN_LINE) {
        writ_buf_byte(&buf, 'a');
    }
    writ_buf_str(&buf, "\n\n" NEUMANN_LINE);
    ck_assert_uint_eq(buf.len, WRIT_NOTE_BYTES_MAX);
    ck_assert_ok(writ_note_read(writ_buf_view(&buf), &note, NULL));
    writ_buf_byte(&buf, '\n');
    ck_assert_code(writ_note_read(writ_buf_view(&buf), &note, NULL), WRIT_E_LIMIT);
    writ_buf_wipe(&buf);
    writ_note_key_free(key);
}
END_TEST

/* The note of TEXT with what `sign` appends. */
static void
begin(struct writ_buf *buf)
{
    *buf = writ_buf_make(TEXT_MAX);
    writ_buf_str(buf, TEXT "\n");
}

START_TEST(note_verify_ignores_unknown_keys)
{
    struct writ_note_key *log, *witness, *other;
    struct writ_signer *log_signer = new_key("log.example", WRIT_NOTE_ED25519, &log);
    struct writ_signer *witness_signer =
        new_key("witness.example/w1", WRIT_NOTE_COSIGNATURE, &witness);
    struct writ_signer *other_signer = new_key("log.example", WRIT_NOTE_ED25519, &other);
    struct writ_buf buf;
    uint64_t time_s = 7;

    begin(&buf);
    ck_assert_ok(writ_note_sign(WRIT_LIT(TEXT), log, log_signer, 5, &buf, NULL));
    ck_assert_code(verify(writ_buf_view(&buf), other, NULL), WRIT_E_ABSENT);
    ck_assert_code(verify(writ_buf_view(&buf), witness, &time_s), WRIT_E_ABSENT);
    ck_assert_ok(writ_note_sign(WRIT_LIT(TEXT), witness, witness_signer, 200, &buf, NULL));
    ck_assert_ok(writ_note_sign(WRIT_LIT(TEXT), witness, witness_signer, 100, &buf, NULL));
    ck_assert_uint_eq(time_s, 7);
    ck_assert_ok(verify(writ_buf_view(&buf), witness, &time_s));
    ck_assert_uint_eq(time_s, 200);
    ck_assert_ok(verify(writ_buf_view(&buf), log, NULL));
    writ_buf_wipe(&buf);
    writ_signer_free(other_signer);
    writ_signer_free(witness_signer);
    writ_signer_free(log_signer);
    writ_note_key_free(other);
    writ_note_key_free(witness);
    writ_note_key_free(log);
}
END_TEST

START_TEST(note_verify_keeps_log_and_witness_signatures_apart)
{
    struct writ_note_key *plain, *cosigning = NULL;
    struct writ_signer *signer = new_key("log.example", WRIT_NOTE_ED25519, &plain);
    struct writ_buf buf;

    ck_assert_ok(writ_note_key_of(
        WRIT_LIT("log.example"), WRIT_NOTE_COSIGNATURE, writ_signer_jwk(signer), &cosigning, NULL));
    begin(&buf);
    ck_assert_ok(writ_note_sign(WRIT_LIT(TEXT), plain, signer, 0, &buf, NULL));
    ck_assert_code(verify(writ_buf_view(&buf), cosigning, NULL), WRIT_E_ABSENT);
    writ_buf_wipe(&buf);
    begin(&buf);
    ck_assert_ok(writ_note_sign(WRIT_LIT(TEXT), cosigning, signer, 9, &buf, NULL));
    ck_assert_code(verify(writ_buf_view(&buf), plain, NULL), WRIT_E_ABSENT);
    writ_buf_wipe(&buf);
    writ_note_key_free(cosigning);
    writ_note_key_free(plain);
    writ_signer_free(signer);
}
END_TEST

START_TEST(note_verify_with_one_bad_known_signature_fails)
{
    struct writ_note_key *log;
    struct writ_signer *signer = new_key("log.example", WRIT_NOTE_ED25519, &log);
    struct writ_buf buf;

    begin(&buf);
    ck_assert_ok(writ_note_sign(WRIT_LIT(TEXT), log, signer, 0, &buf, NULL));
    ck_assert_ok(writ_note_sign(WRIT_LIT("another\n"), log, signer, 0, &buf, NULL));
    ck_assert_code(verify(writ_buf_view(&buf), log, NULL), WRIT_E_MISMATCH);
    writ_buf_wipe(&buf);
    writ_note_key_free(log);
    writ_signer_free(signer);
}
END_TEST

START_TEST(note_sign_of_an_invalid_text_is_refused)
{
    static const char *const bad[] = {"", "no newline", "a\tb\n", "\xff\n"};
    struct writ_note_key *log;
    struct writ_signer *signer = new_key("log.example", WRIT_NOTE_ED25519, &log);
    struct writ_buf buf = writ_buf_make(TEXT_MAX);

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_code(
            writ_note_sign(writ_view_str(bad[i]), log, signer, 0, &buf, NULL), WRIT_E_INVALID);
    }
    ck_assert_uint_eq(buf.len, 0);
    writ_buf_wipe(&buf);
    writ_note_key_free(log);
    writ_signer_free(signer);
}
END_TEST

WRIT_UNIT_MAIN("note", note_verify_accepts_a_note_of_another_program,
    note_verify_of_every_changed_bit_fails, note_key_reads_back_as_written,
    note_key_read_of_another_form_is_refused,
    note_check_name_with_a_space_or_above_its_limit_is_refused,
    note_sign_with_another_algorithm_is_refused, note_read_of_another_form_is_refused,
    note_read_limits_the_signatures, note_verify_ignores_unknown_keys,
    note_verify_keeps_log_and_witness_signatures_apart,
    note_verify_with_one_bad_known_signature_fails, note_sign_of_an_invalid_text_is_refused)
