/* Reads, writes and verifies signed notes. A line of an unknown key is ignored; one wrong line of a
 * trusted key refuses the note. */
#include "evidence/log/note.h"

#include "base/utf8.h"
#include "evidence/json/digest.h"

#define DASH            WRIT_LIT("\xe2\x80\x94 ") /* U+2014 and a space: begins a signature */
#define ID_BYTES        4
#define UNKNOWN_KEY_MAX ((size_t)8 << 10) /* bytes of a key of an unknown type */
#define TIME_BYTES      8
#define SIGNATURE_BYTES 64
#define BLOB_MAX        (ID_BYTES + TIME_BYTES + SIGNATURE_BYTES)
#define TIME_TEXT_MAX   64 /* the prefix of a text that is cosigned */

struct writ_note_key {
    enum writ_note_type type;
    uint8_t id[ID_BYTES];
    struct writ_buf name;
    struct writ_buf material; /* the byte of the type and the key */
    struct writ_jwk *jwk;
};

/* ---- Names */

/* White_Space of Unicode, and control characters (Unicode Character Database, PropList) */
static bool
is_space(uint32_t point)
{
    return point <= 0x20 || (point >= 0x7f && point <= 0xa0) || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
           point == 0x202f || point == 0x205f || point == 0x3000;
}

WRIT_RESULT
writ_note_check_name(struct writ_view name, struct writ_err *err)
{
    if (name.len == 0 || name.len > WRIT_NOTE_NAME_MAX) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the name of a key has 1 to %d bytes", WRIT_NOTE_NAME_MAX);
    }
    for (size_t at = 0, len; at < name.len; at += len) {
        uint32_t point = 0;

        len = writ_utf8_character(writ_view_sub(name, at, name.len), &point);
        if (len == 0 || is_space(point) || point == '+') {
            WRIT_FAIL(err, WRIT_E_INVALID,
                "the name of a key has a space, a '+' or a byte that is not text, at %zu", at);
        }
    }
    return WRIT_DONE;
}

/* ---- Keys */

void
writ_note_key_free(struct writ_note_key *key)
{
    if (key != NULL) {
        writ_buf_wipe(&key->name);
        writ_buf_wipe(&key->material);
        writ_jwk_free(key->jwk);
        writ_free(key);
    }
}

static bool
is_type(unsigned byte)
{
    return byte == WRIT_NOTE_ED25519 || byte == WRIT_NOTE_COSIGNATURE;
}

static WRIT_RESULT
key_fill(struct writ_note_key *key, struct writ_view name, enum writ_note_type type,
    const struct writ_jwk *jwk, struct writ_err *err)
{
    struct writ_digest digest;

    key->type = type;
    key->jwk = writ_jwk_hold(jwk);
    key->name = writ_buf_make(WRIT_NOTE_NAME_MAX);
    writ_buf_put(&key->name, name);
    WRIT_TRY(writ_buf_check(&key->name, err));
    key->material = writ_buf_make(1 + WRIT_JWK_ED25519_BYTES);
    writ_buf_byte(&key->material, (char)type);
    WRIT_TRY(writ_jwk_put_ed25519(jwk, &key->material, err));
    WRIT_TRY(writ_digest_pieces(
        (struct writ_view[]){name, WRIT_LIT("\n"), writ_buf_view(&key->material)}, 3, &digest,
        err));
    (void)writ_view_place(writ_view(digest.bytes, ID_BYTES), (char *)key->id);
    return WRIT_DONE;
}

WRIT_RESULT
writ_note_key_of(struct writ_view name, enum writ_note_type type, const struct writ_jwk *jwk,
    struct writ_note_key **ret, struct writ_err *err)
{
    writ_auto_note_key key = NULL;

    WRIT_TRY(writ_note_check_name(name, err));
    if (!is_type(type)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a key of a note needs a type");
    }
    key = writ_alloc(sizeof *key);
    if (key == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the key of a note");
    }
    WRIT_TRY(key_fill(key, name, type, jwk, err));
    *ret = WRIT_TAKE(key);
    return WRIT_DONE;
}

struct writ_view
writ_note_key_name(const struct writ_note_key *key)
{
    return writ_buf_view(&key->name);
}

enum writ_note_type
writ_note_key_type(const struct writ_note_key *key)
{
    return key->type;
}

void
writ_note_key_put(struct writ_buf *buf, const struct writ_note_key *key)
{
    writ_buf_put(buf, writ_buf_view(&key->name));
    writ_buf_byte(buf, '+');
    writ_hex_put(buf, key->id, ID_BYTES);
    writ_buf_byte(buf, '+');
    writ_base64_put(buf, writ_buf_view(&key->material));
}

/* `material` is the byte of the type and the key. */
static WRIT_RESULT
key_from(struct writ_view name, struct writ_view id, struct writ_view material,
    struct writ_note_key **ret, struct writ_err *err)
{
    writ_auto_jwk jwk = NULL;
    writ_auto_note_key key = NULL;
    uint8_t stated[ID_BYTES];

    if (material.len == 0 || !is_type((unsigned char)material.ptr[0])) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "a vkey is not of type 1 (Ed25519) or 4 (cosignature with Ed25519)");
    }
    if (!writ_is_ok(writ_hex_read(id, stated, ID_BYTES))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the identifier of a vkey is not 8 lower-case hex digits");
    }
    WRIT_TRY(writ_jwk_of_ed25519(writ_view_sub(material, 1, material.len), &jwk, err));
    WRIT_TRY(writ_note_key_of(
        name, (enum writ_note_type)(unsigned char)material.ptr[0], jwk, &key, err));
    if (!writ_view_equal(writ_view(stated, ID_BYTES), writ_view(key->id, ID_BYTES))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the identifier of a vkey does not match its key");
    }
    *ret = WRIT_TAKE(key);
    return WRIT_DONE;
}

bool
writ_note_key_is_unknown(struct writ_view text, struct writ_view *ret_name)
{
    writ_auto_buf material = writ_buf_make(UNKNOWN_KEY_MAX);
    struct writ_view name = writ_view_sub(text, 0, writ_view_find(text, '+'));
    struct writ_view rest = writ_view_sub(text, name.len + 1, text.len);
    struct writ_view id = writ_view_sub(rest, 0, writ_view_find(rest, '+'));
    uint8_t stated[ID_BYTES];

    if (!writ_is_ok(writ_note_check_name(name, NULL)) ||
        !writ_is_ok(writ_hex_read(id, stated, ID_BYTES)) ||
        !writ_is_ok(writ_base64_read(writ_view_sub(rest, id.len + 1, rest.len), &material)) ||
        material.len == 0 || is_type((unsigned char)writ_buf_view(&material).ptr[0])) {
        return false;
    }
    *ret_name = name;
    return true;
}

WRIT_RESULT
writ_note_key_read(struct writ_view text, struct writ_note_key **ret, struct writ_err *err)
{
    writ_auto_buf material = writ_buf_make(WRIT_NOTE_KEY_TEXT_MAX);
    size_t first = writ_view_find(text, '+');
    struct writ_view rest = writ_view_sub(text, first + 1, text.len);
    size_t second = writ_view_find(rest, '+'); /* base64 has '+' too: only the first two divide */
    writ_result result;

    if (text.len > WRIT_NOTE_KEY_TEXT_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a vkey is longer than %d bytes", WRIT_NOTE_KEY_TEXT_MAX);
    }
    if (second == rest.len) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a vkey is <name>+<8 hex digits>+<base64>");
    }
    result = writ_base64_read(writ_view_sub(rest, second + 1, rest.len), &material);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "the key of a vkey is not base64");
    }
    return key_from(writ_view_sub(text, 0, first), writ_view_sub(rest, 0, second),
        writ_buf_view(&material), ret, err);
}

/* ---- Notes */

/* A text that a note can have: UTF-8, no control characters except newlines, a newline at the
 * end. */
static bool
is_text(struct writ_view text)
{
    if (text.len == 0 || text.ptr[text.len - 1] != '\n' || !writ_utf8_is_valid(text, NULL)) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] < 0x20 && text.ptr[i] != '\n') {
            return false;
        }
    }
    return true;
}

/* Takes the line off the front of `lines`, without its newline; there is one. */
static struct writ_view
take_line(struct writ_view *lines)
{
    size_t len = writ_view_find(*lines, '\n');
    struct writ_view line = writ_view_sub(*lines, 0, len);

    *lines = writ_view_sub(*lines, len + 1, lines->len);
    return line;
}

struct line {
    struct writ_view name;
    struct writ_view blob; /* base64 */
};

static bool
read_line(struct writ_view text, struct line *ret)
{
    struct writ_view rest = writ_view_sub(text, DASH.len, text.len);
    size_t space = writ_view_find(rest, ' ');

    ret->name = writ_view_sub(rest, 0, space);
    ret->blob = writ_view_sub(rest, space + 1, rest.len);
    return writ_view_has_prefix(text, DASH) && space < rest.len && ret->blob.len > 0 &&
           writ_is_ok(writ_note_check_name(ret->name, NULL));
}

static WRIT_RESULT
check_lines(struct writ_view lines, struct writ_err *err)
{
    size_t count = 0;
    struct line line;

    while (lines.len > 0) {
        if (++count > WRIT_NOTE_SIGNATURES_MAX) {
            WRIT_FAIL(
                err, WRIT_E_LIMIT, "a note has more than %d signatures", WRIT_NOTE_SIGNATURES_MAX);
        }
        if (!read_line(take_line(&lines), &line)) {
            WRIT_FAIL(err, WRIT_E_PARSE, "signature line %zu of a note is malformed", count);
        }
    }
    return WRIT_DONE;
}

/* Where the signatures begin: after the last empty line; 0 without one. */
static size_t
find_signatures(struct writ_view bytes)
{
    for (size_t at = bytes.len; at >= 2; at--) {
        if (bytes.ptr[at - 1] == '\n' && bytes.ptr[at - 2] == '\n') {
            return at;
        }
    }
    return 0;
}

WRIT_RESULT
writ_note_read(struct writ_view bytes, struct writ_note *ret, struct writ_err *err)
{
    struct writ_note note;
    size_t at;

    if (bytes.len > WRIT_NOTE_BYTES_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a note is longer than %zu bytes", WRIT_NOTE_BYTES_MAX);
    }
    if (!is_text(bytes)) {
        WRIT_FAIL(err, WRIT_E_PARSE,
            "a note is not UTF-8 without control characters that ends with a newline");
    }
    at = find_signatures(bytes);
    if (at < 3 || at == bytes.len) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a note is not a text, an empty line, and signatures");
    }
    note.text = writ_view_sub(bytes, 0, at - 1);
    note.signatures = writ_view_sub(bytes, at, bytes.len);
    WRIT_TRY(check_lines(note.signatures, err));
    *ret = note;
    return WRIT_DONE;
}

/* ---- Signatures */

/* Appends the bytes that a key of this type signs. */
static void
put_message(struct writ_buf *buf, enum writ_note_type type, struct writ_view text, uint64_t time_s)
{
    if (type == WRIT_NOTE_COSIGNATURE) { /* c2sp.org/tlog-cosignature, "Ed25519 signed message" */
        writ_buf_str(buf, "cosignature/v1\ntime ");
        writ_buf_u64(buf, time_s);
        writ_buf_byte(buf, '\n');
    }
    writ_buf_put(buf, text);
}

static WRIT_RESULT
verify_blob(struct writ_view text, const struct writ_note_key *key, struct writ_view blob,
    uint64_t *ret_time_s, struct writ_err *err)
{
    writ_auto_buf message = writ_buf_make(WRIT_NOTE_BYTES_MAX + TIME_TEXT_MAX);
    struct writ_view rest = writ_view_sub(blob, ID_BYTES, blob.len);
    uint64_t time_s = 0;

    if (key->type == WRIT_NOTE_COSIGNATURE) {
        if (rest.len != TIME_BYTES + SIGNATURE_BYTES) {
            WRIT_FAIL(err, WRIT_E_MISMATCH, "the length of a cosignature is wrong");
        }
        time_s = __builtin_bswap64(writ_view_load64(rest.ptr)); /* big-endian */
        if (time_s > INT64_MAX) {
            WRIT_FAIL(err, WRIT_E_MISMATCH, "a cosignature's time is beyond 2^63");
        }
        rest = writ_view_sub(rest, TIME_BYTES, rest.len);
    }
    put_message(&message, key->type, text, time_s);
    WRIT_TRY(writ_buf_check(&message, err));
    WRIT_TRY(writ_jwk_verify(key->jwk, writ_buf_view(&message), rest, err));
    *ret_time_s = time_s;
    return WRIT_DONE;
}

/* Decodes a line of this key; false when it is another key's. */
static bool
is_of(const struct line *line, const struct writ_note_key *key, struct writ_buf *blob)
{
    writ_buf_clear(blob);
    return writ_view_equal(line->name, writ_buf_view(&key->name)) &&
           writ_is_ok(writ_base64_read(line->blob, blob)) && blob->len >= ID_BYTES &&
           writ_view_equal(writ_view(blob->ptr, ID_BYTES), writ_view(key->id, ID_BYTES));
}

WRIT_RESULT
writ_note_verify(const struct writ_note *note, const struct writ_note_key *key,
    uint64_t *ret_time_s, struct writ_err *err)
{
    writ_auto_buf blob = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    struct writ_view lines = note->signatures;
    uint64_t latest_s = 0;
    size_t held = 0;

    while (lines.len > 0) {
        uint64_t time_s = 0;
        struct line line;

        if (!read_line(take_line(&lines), &line) || !is_of(&line, key, &blob)) {
            if (blob.failed == WRIT_E_NOMEM) { /* the memory to find its key was missing */
                return writ_buf_check(&blob, err);
            }
            continue;
        }
        WRIT_TRY(verify_blob(note->text, key, writ_buf_view(&blob), &time_s, err));
        latest_s = time_s > latest_s ? time_s : latest_s;
        held++;
    }
    if (held == 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "the note is not signed by " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(writ_buf_view(&key->name)));
    }
    if (ret_time_s != NULL) {
        *ret_time_s = latest_s;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_note_sign(struct writ_view text, const struct writ_note_key *key,
    const struct writ_signer *signer, uint64_t time_s, struct writ_buf *buf, struct writ_err *err)
{
    writ_auto_buf message = writ_buf_make(WRIT_NOTE_BYTES_MAX + TIME_TEXT_MAX);
    char room[BLOB_MAX];
    struct writ_buf blob = writ_buf_over(room, sizeof room);
    uint64_t time_be = htobe64(time_s);

    if (!is_text(text) || text.len > WRIT_NOTE_BYTES_MAX) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the text cannot be the text of a note");
    }
    put_message(&message, key->type, text, time_s);
    WRIT_TRY(writ_buf_check(&message, err));
    writ_buf_put(&blob, writ_view(key->id, ID_BYTES));
    if (key->type == WRIT_NOTE_COSIGNATURE) {
        writ_buf_put(&blob, writ_view(&time_be, TIME_BYTES));
    }
    WRIT_TRY(writ_signer_sign(signer, writ_buf_view(&message), &blob, err));
    writ_buf_put(buf, DASH);
    writ_buf_put(buf, writ_buf_view(&key->name));
    writ_buf_byte(buf, ' ');
    writ_base64_put(buf, writ_buf_view(&blob));
    writ_buf_byte(buf, '\n');
    return writ_buf_check(buf, err);
}
