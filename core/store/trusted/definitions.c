/* The list is sorted by name. A file is read as a whole or not at all: every digest and the
 * signature over all of them are checked before the first definition is used. */
#include "store/trusted/definitions.h"

#include "evidence/jose/jws.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "store/trusted/trusted.h"

#include <fcntl.h>
#include <sys/stat.h>

#define VERSION    2
#define PATH_BYTES 4200
#define FIRST_CAP  64

static const struct writ_json_limits file_limits = {
    .bytes = WRIT_DEFINITIONS_BYTES_MAX,
    .depth = 256,
    .values = 1u << 22,
    .name_bytes = 65536,
    .string_bytes = WRIT_DEFINITION_BYTES_MAX,
    .number_bytes = 4096,
};

static void
definitions_freep(struct writ_definitions **definitions)
{
    writ_definitions_free(*definitions);
}

writ_result
writ_definitions_new(struct writ_definitions **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_definitions *, definitions_freep) made = writ_alloc(sizeof *made);

    if (made == NULL || (made->arena = writ_arena_new(2 * WRIT_DEFINITIONS_BYTES_MAX)) == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for definitions of tools");
    }
    *ret = WRIT_TAKE(made);
    return WRIT_DONE;
}

void
writ_definitions_free(struct writ_definitions *definitions)
{
    if (definitions != NULL) {
        writ_arena_free(definitions->arena);
        writ_free(definitions->items);
        writ_free(definitions);
    }
}

/* The place of the name, or where it belongs. */
static size_t
place_of(const struct writ_definitions *definitions, struct writ_view name)
{
    size_t low = 0, high = definitions->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (writ_view_compare(definitions->items[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct writ_definition *
writ_definitions_find(const struct writ_definitions *definitions, struct writ_view name)
{
    size_t at = definitions != NULL ? place_of(definitions, name) : 0;

    return definitions != NULL && at < definitions->n &&
                   writ_view_equal(definitions->items[at].name, name)
               ? &definitions->items[at]
               : NULL;
}

static WRIT_RESULT
make_room(struct writ_definitions *definitions, struct writ_err *err)
{
    size_t cap = definitions->cap > 0 ? 2 * definitions->cap : FIRST_CAP;
    struct writ_definition *items;

    if (definitions->n < definitions->cap) {
        return WRIT_DONE;
    }
    if (definitions->n >= WRIT_DEFINITIONS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d definitions of tools", WRIT_DEFINITIONS_MAX);
    }
    items = writ_realloc(definitions->items, cap * sizeof *items);
    if (items == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for definitions of tools");
    }
    definitions->items = items;
    definitions->cap = cap;
    return WRIT_DONE;
}

writ_result
writ_definitions_put(struct writ_definitions *definitions, const struct writ_definition *definition,
    struct writ_err *err)
{
    struct writ_definition copy = *definition;
    size_t at = place_of(definitions, definition->name);

    copy.name = writ_view_copy(definition->name, definitions->arena);
    copy.text = writ_view_copy(definition->text, definitions->arena);
    copy.at = writ_view_copy(definition->at, definitions->arena);
    if (copy.name.ptr == NULL || copy.text.ptr == NULL || copy.at.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for definitions of tools");
    }
    if (at == definitions->n || !writ_view_equal(definitions->items[at].name, copy.name)) {
        WRIT_TRY(make_room(definitions, err));
        for (size_t i = definitions->n++; i > at; i--) {
            definitions->items[i] = definitions->items[i - 1];
        }
    }
    definitions->items[at] = copy;
    return WRIT_DONE;
}

/* ---- the signature */

static const struct {
    const char *suffix, *typ, *hint;
    bool replaced; /* the gateway makes it again: under a revoked key it counts as absent */
} kinds[] = {
    [WRIT_DEFINITIONS_SEEN] = {".seen.json", "writ-definitions-seen",
        "Remove the file: the gateway writes it again", true},
    [WRIT_DEFINITIONS_ACCEPTED] = {".accepted.json", "writ-definitions-accepted",
        "Remove the file: what a gateway has taken stays accepted; run `writ tools accept` for the "
        "rest",
        false},
};

static WRIT_RESULT
digest_all(
    const struct writ_definitions *definitions, struct writ_digest *ret, struct writ_err *err)
{
    const struct writ_view end = {"", 1};
    struct writ_digest_stream stream;

    WRIT_TRY(writ_digest_stream_init(&stream, err));
    for (size_t i = 0; i < definitions->n; i++) {
        const struct writ_definition *one = &definitions->items[i];

        if (one->text.len == 0) {
            continue;
        }
        WRIT_TRY(writ_digest_stream_add(&stream, one->name, err));
        WRIT_TRY(writ_digest_stream_add(&stream, end, err));
        WRIT_TRY(writ_digest_stream_add(&stream, one->at, err));
        WRIT_TRY(writ_digest_stream_add(&stream, end, err));
        WRIT_TRY(writ_digest_stream_add(
            &stream, writ_view((const char *)one->digest.bytes, sizeof one->digest.bytes), err));
    }
    return writ_digest_stream_end(&stream, ret, err);
}

static WRIT_RESULT
sign(const struct writ_definitions *definitions, enum writ_definitions_kind kind,
    const struct writ_signer *signer, struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_buf payload = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_write w = writ_write_to(&payload);
    char text[WRIT_DIGEST_TEXT];
    struct writ_digest digest;

    if (signer == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "there is no active key of the ledger to sign with");
    }
    WRIT_TRY(digest_all(definitions, &digest, err));
    writ_digest_text(&digest, text);
    writ_write_object_begin(&w);
    writ_write_text(&w, "digest", writ_view(text, WRIT_DIGEST_TEXT - 1));
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    return writ_jws_sign(signer, writ_view_str(kinds[kind].typ), writ_buf_view(&payload), ret, err);
}

/* The signature of a retired key stays valid: the file is not written again for each new key. */
static const struct writ_keyring_key *
find_key(const struct writ_keyring *keys, struct writ_view kid)
{
    for (size_t i = 0; i < writ_keyring_count(keys); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(keys, i);

        if (key->purpose == WRIT_KEY_PURPOSE_LEDGER &&
            writ_view_equal(writ_jwk_kid(key->public), kid)) {
            return key;
        }
    }
    return NULL;
}

static WRIT_RESULT
check_signature(const struct writ_definitions *definitions, struct writ_view token,
    enum writ_definitions_kind kind, const struct writ_keyring *keys, bool *ret_revoked,
    struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(16 * WRIT_JWS_BYTES_MAX);
    const struct writ_json *claims = NULL;
    const struct writ_keyring_key *key;
    struct writ_digest digest, stated;
    struct writ_jws jws;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to check a signature");
    }
    WRIT_TRY(writ_jws_read(token, arena, &jws, err));
    key = find_key(keys, jws.kid);
    if (key == NULL || !writ_view_equal(jws.typ, writ_view_str(kinds[kind].typ))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "no key of the ledger signed it as this file");
    }
    if (key->state == WRIT_KEY_STATE_REVOKED) {
        *ret_revoked = true;
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a key that was revoked signed it");
    }
    WRIT_TRY(writ_jws_check(&jws, key->public, err));
    WRIT_TRY(writ_jws_claims(&jws, arena, &claims, err));
    WRIT_TRY(digest_all(definitions, &digest, err));
    WRIT_TRY(writ_digest_read(
        writ_json_string(writ_json_get(claims, WRIT_LIT("digest"))), &stated, err));
    if (!writ_digest_equal(&digest, &stated)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "it was changed after it was signed");
    }
    return WRIT_DONE;
}

/* ---- the file */

struct place {
    int dir;
    struct writ_buf folder, name;
};

static void
place_wipe(struct place *place)
{
    writ_trusted_close(&place->dir);
    writ_buf_wipe(&place->folder);
    writ_buf_wipe(&place->name);
}

/* "<folder>/ledger.db" gives the folder and "ledger.db.seen.json". */
static WRIT_RESULT
open_place(
    const char *store, enum writ_definitions_kind kind, struct place *ret, struct writ_err *err)
{
    struct writ_view path = writ_view_str(store);
    size_t end = path.len;

    while (end > 0 && path.ptr[end - 1] != '/') {
        end--;
    }
    ret->folder = writ_buf_make(PATH_BYTES);
    ret->name = writ_buf_make(WRIT_TRUSTED_NAME_MAX + 1);
    writ_buf_put(&ret->folder, end > 0 ? writ_view_sub(path, 0, end) : WRIT_LIT("."));
    writ_buf_byte(&ret->folder, '\0');
    writ_buf_put(&ret->name, writ_view_sub(path, end, SIZE_MAX));
    writ_buf_str(&ret->name, kinds[kind].suffix);
    writ_buf_byte(&ret->name, '\0');
    WRIT_TRY(writ_buf_check(&ret->folder, err));
    WRIT_TRY(writ_buf_check(&ret->name, err));
    return writ_trusted_dir(ret->folder.ptr, &ret->dir, err);
}

static WRIT_RESULT
read_one(struct writ_view name, const struct writ_json *entry, struct writ_definitions *ret,
    struct writ_err *err)
{
    const struct writ_json *value =
        writ_json_get_typed(entry, WRIT_LIT("definition"), WRIT_JSON_OBJECT);
    struct writ_view at = writ_json_string(writ_json_get(entry, WRIT_LIT("at")));
    writ_auto_buf text = writ_buf_make(WRIT_DEFINITION_BYTES_MAX);
    struct writ_definition definition = {.name = name, .at = at};
    struct writ_digest stated;

    if (value == NULL || at.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "an entry lacks definition or at");
    }
    WRIT_TRY(
        writ_digest_read(writ_json_string(writ_json_get(entry, WRIT_LIT("digest"))), &stated, err));
    WRIT_TRY(writ_jcs_put_lossless(&text, value, err));
    definition.text = writ_buf_view(&text);
    WRIT_TRY(writ_digest_bytes(definition.text, &definition.digest, err));
    if (!writ_digest_equal(&definition.digest, &stated)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the digest of a definition does not match it");
    }
    return writ_definitions_put(ret, &definition, err);
}

static WRIT_RESULT
read_all(struct writ_view text, enum writ_definitions_kind kind, const struct writ_keyring *keys,
    struct writ_definitions *ret, bool *ret_revoked, struct writ_err *err)
{
    writ_auto_arena scratch = writ_arena_new(64 * text.len + ((size_t)1 << 20));
    const struct writ_json *file, *tools;
    struct writ_view signature;
    int64_t version;

    if (scratch == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read definitions of tools");
    }
    WRIT_TRY(writ_json_read(text, &file_limits, scratch, &file, err));
    tools = writ_json_get_typed(file, WRIT_LIT("tools"), WRIT_JSON_OBJECT);
    if (tools == NULL || !writ_is_ok(writ_json_integer(writ_json_get(file, WRIT_LIT("version")),
                             VERSION, VERSION, &version))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "not a file of definitions of version %d", VERSION);
    }
    WRIT_JSON_EACH(name, tools)
    {
        WRIT_TRY(read_one(writ_json_string(name), writ_json_value(name), ret, err));
    }
    signature = writ_json_string(writ_json_get(file, WRIT_LIT("signature")));
    if (signature.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "it is not signed");
    }
    return check_signature(ret, signature, kind, keys, ret_revoked, err);
}

bool
writ_definitions_changed(
    const char *store, enum writ_definitions_kind kind, struct writ_definitions_mark *mark)
{
    WRIT_AUTO(struct place, place_wipe) place = {.dir = -1};
    struct writ_definitions_mark now = {0};
    struct stat st;
    bool changed;

    if (writ_is_ok(open_place(store, kind, &place, NULL)) &&
        fstatat(place.dir, place.name.ptr, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        now = (struct writ_definitions_mark){
            st.st_ino, st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
    }
    changed = now.inode != mark->inode || now.size != mark->size ||
              now.changed_s != mark->changed_s || now.changed_ns != mark->changed_ns;
    *mark = now;
    return changed;
}

writ_result
writ_definitions_load(const char *store, enum writ_definitions_kind kind,
    const struct writ_keyring *keys, struct writ_definitions **ret, struct writ_err *err)
{
    WRIT_AUTO(struct place, place_wipe) place = {.dir = -1};
    WRIT_AUTO(struct writ_definitions *, definitions_freep) made = NULL;
    writ_auto_buf text = writ_buf_make(WRIT_DEFINITIONS_BYTES_MAX);
    struct writ_err why = {{0}, 0, 0};
    bool revoked = false;
    writ_result r;

    WRIT_TRY(open_place(store, kind, &place, err));
    WRIT_TRY(writ_trusted_read(place.dir, place.name.ptr, WRIT_TRUSTED_UNWRITABLE, &text, err));
    WRIT_TRY(writ_definitions_new(&made, err));
    r = read_all(writ_buf_view(&text), kind, keys, made, &revoked, &why);
    if (revoked && kinds[kind].replaced) {
        return (writ_result){WRIT_E_ABSENT};
    }
    if (!writ_is_ok(r)) {
        WRIT_FAIL(err, r.code == WRIT_E_ABSENT ? WRIT_E_MISMATCH : r.code, "%s: %s. %s.",
            place.name.ptr, why.text, kinds[kind].hint);
    }
    *ret = WRIT_TAKE(made);
    return WRIT_DONE;
}

static void
put_one(struct writ_write *w, const struct writ_definition *definition)
{
    char digest[WRIT_DIGEST_TEXT];

    writ_digest_text(&definition->digest, digest);
    writ_write_name(w, definition->name);
    writ_write_object_begin(w);
    writ_write_text(w, "at", definition->at);
    writ_write_name(w, WRIT_LIT("definition"));
    writ_write_raw(w, definition->text);
    writ_write_text(w, "digest", writ_view(digest, WRIT_DIGEST_TEXT - 1));
    writ_write_object_end(w);
}

writ_result
writ_definitions_save(const char *store, enum writ_definitions_kind kind,
    const struct writ_definitions *definitions, const struct writ_signer *signer,
    struct writ_err *err)
{
    WRIT_AUTO(struct place, place_wipe) place = {.dir = -1};
    writ_auto_buf text = writ_buf_make(WRIT_DEFINITIONS_BYTES_MAX);
    writ_auto_buf signature = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_write w = writ_write_to(&text);

    WRIT_TRY(sign(definitions, kind, signer, &signature, err));
    writ_write_object_begin(&w);
    writ_write_text(&w, "signature", writ_buf_view(&signature));
    writ_write_name(&w, WRIT_LIT("tools"));
    writ_write_object_begin(&w);
    for (size_t i = 0; i < definitions->n; i++) {
        if (definitions->items[i].text.len > 0) {
            put_one(&w, &definitions->items[i]);
        }
    }
    writ_write_object_end(&w);
    writ_write_count(&w, "version", VERSION);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    WRIT_TRY(open_place(store, kind, &place, err));
    WRIT_TRY(writ_trusted_write(
        place.dir, place.name.ptr, WRIT_TRUSTED_OURS, writ_buf_view(&text), err));
    return writ_trusted_sync(place.dir, err);
}
