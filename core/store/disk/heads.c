/* A checkpoint is trusted when a key that was in force signed it and no signature of a key of the
 * ledger fails. A node is found by its place in the row of the group that completed it. */
#include "store/disk/heads.h"

#include "base/clock.h"
#include "store/disk/disk.h"
#include "store/tables/entry.h"

#include <openssl/core_names.h>
#include <openssl/err.h>

#define ORIGIN_MAX      WRIT_LEDGER_ORIGIN_MAX
#define CHECKPOINT_ROOM 512 /* bytes of the text of most */
#define MAC_ROOM        (ORIGIN_MAX + 32 + WRIT_TREE_LEVELS * WRIT_DIGEST_BYTES)

static const char id_text[] = "SELECT value, name = 'origin' FROM meta "
                              "WHERE name IN ('ledger', 'origin') ORDER BY name DESC LIMIT 1";
/* Of a record that was removed: that of the first one that was not, which is later. */
static const char time_text[] = "SELECT time_us FROM record WHERE leaf >= ? ORDER BY leaf LIMIT 1";
static const char at_text[] =
    "SELECT leaf, size, nodes, note FROM head WHERE leaf <= ? ORDER BY leaf DESC LIMIT 1";
static const char last_text[] = "SELECT leaf, size, nodes, note FROM head "
                                "WHERE " WRIT_HEADS_NOTED " ORDER BY leaf DESC LIMIT 1";

/* ---- who signs ---- */

static WRIT_RESULT
read_origin(struct writ_sql *sql, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_sql_statement *statement = NULL;
    bool row = false;
    writ_result result;

    WRIT_TRY(writ_sql_prepare(sql, id_text, &statement, err));
    result = writ_sql_step(statement, &row, err);
    if (row && writ_sql_int(statement, 1) != 0) {
        writ_buf_put(ret, writ_sql_bytes(statement, 0)); /* the name from `writ ledger init` */
    } else if (row) {
        writ_checkpoint_origin_put(ret, writ_sql_bytes(statement, 0));
    }
    writ_sql_reset(statement);
    writ_sql_finalize(statement);
    WRIT_TRY(result);
    if (ret->failed != WRIT_E_NOMEM &&
        (!row || !writ_is_ok(writ_buf_check(ret, NULL)) ||
            !writ_is_ok(writ_note_check_name(writ_buf_view(ret), NULL)))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the ledger has no id that a checkpoint could name");
    }
    return writ_buf_check(ret, err);
}

static WRIT_RESULT
take_keys(const struct writ_keyring *ring, struct writ_heads_trust *trust, struct writ_err *err)
{
    trust->signer = writ_keyring_active(ring, WRIT_KEY_PURPOSE_LEDGER);
    for (size_t i = 0; i < writ_keyring_count(ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(ring, i);
        struct writ_heads_key *taken = &trust->keys[trust->keys_n];

        if (key->purpose != WRIT_KEY_PURPOSE_LEDGER ||
            writ_jwk_alg(key->public) != WRIT_JWK_ALG_EDDSA) {
            continue;
        }
        WRIT_TRY(writ_checkpoint_key(writ_buf_view(&trust->origin), key->public, &taken->key, err));
        taken->revoked_us = key->revoked_us;
        if (key->state == WRIT_KEY_STATE_ACTIVE) {
            trust->own = taken->key;
        }
        trust->keys_n++;
    }
    return WRIT_DONE;
}

/* Made once: to find the algorithm takes several times as long as a MAC. */
static WRIT_RESULT
make_mac(EVP_MAC_CTX **ret, struct writ_err *err)
{
    char sha256[] = "SHA256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha256, 0),
        OSSL_PARAM_construct_end(),
    };
    EVP_MAC *algorithm = EVP_MAC_fetch(NULL, OSSL_MAC_NAME_HMAC, NULL);
    EVP_MAC_CTX *mac = EVP_MAC_CTX_new(algorithm);

    EVP_MAC_free(algorithm);
    if (mac == NULL || EVP_MAC_CTX_set_params(mac, params) != 1) {
        EVP_MAC_CTX_free(mac);
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_CRYPTO, "HMAC-SHA256 failed in the library");
    }
    *ret = mac;
    return WRIT_DONE;
}

WRIT_RESULT
writ_heads_trust(struct writ_sql *sql, const struct writ_keyring *ring,
    struct writ_heads_trust *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_heads_trust, writ_heads_trust_wipe)
    trust = {.sql = sql, .origin = writ_buf_make(ORIGIN_MAX)};

    WRIT_TRY(read_origin(sql, &trust.origin, err));
    WRIT_TRY(make_mac(&trust.mac, err));
    if (ring != NULL) {
        WRIT_TRY(take_keys(ring, &trust, err));
    }
    *ret = trust;
    trust = (struct writ_heads_trust){0};
    return WRIT_DONE;
}

void
writ_heads_trust_wipe(struct writ_heads_trust *trust)
{
    for (size_t i = 0; i < trust->keys_n; i++) {
        writ_note_key_free(trust->keys[i].key);
    }
    writ_buf_wipe(&trust->origin);
    EVP_MAC_CTX_free(trust->mac); /* wipes the key */
    *trust = (struct writ_heads_trust){0};
}

WRIT_RESULT
writ_heads_sign_text(const struct writ_heads_trust *trust, struct writ_view text,
    struct writ_buf *note, struct writ_err *err)
{
    writ_buf_put(note, text);
    writ_buf_byte(note, '\n');
    WRIT_TRY(writ_buf_check(note, err));
    return writ_note_sign(text, trust->own, trust->signer, 0, note, err);
}

WRIT_RESULT
writ_heads_sign(const struct writ_heads_trust *trust, const struct writ_tree_edge *edge,
    struct writ_buf *note, struct writ_err *err)
{
    struct writ_checkpoint head = {.origin = writ_buf_view(&trust->origin), .size = edge->size};
    char room[CHECKPOINT_ROOM];
    writ_auto_buf text = writ_buf_from(room, sizeof room, WRIT_NOTE_BYTES_MAX);

    WRIT_TRY(writ_tree_root(edge, &head.root, err));
    writ_checkpoint_put(&text, &head);
    WRIT_TRY(writ_buf_check(&text, err));
    return writ_heads_sign_text(trust, writ_buf_view(&text), note, err);
}

/* ---- in place of a signature ---- */

WRIT_RESULT
writ_heads_mac(const struct writ_heads_trust *trust, struct writ_view key,
    const struct writ_tree_edge *edge, uint8_t ret[WRIT_HEADS_MAC], struct writ_err *err)
{
    char room[MAC_ROOM];
    writ_auto_buf text = writ_buf_from(room, sizeof room, sizeof room);
    size_t len = 0;

    writ_buf_put(&text, writ_buf_view(&trust->origin));
    writ_buf_fmt(&text, "\n%llu\n", (unsigned long long)edge->size);
    writ_buf_put(&text,
        writ_view((const char *)edge->roots, writ_tree_edge_count(edge) * sizeof edge->roots[0]));
    WRIT_TRY(writ_buf_check(&text, err));
    if (EVP_MAC_init(trust->mac, (const uint8_t *)key.ptr, key.len, NULL) != 1 ||
        EVP_MAC_update(trust->mac, (const uint8_t *)text.ptr, text.len) != 1 ||
        EVP_MAC_final(trust->mac, ret, &len, WRIT_HEADS_MAC) != 1 || len != WRIT_HEADS_MAC) {
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_CRYPTO, "HMAC-SHA256 failed in the library");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_heads_check_mac(const struct writ_heads_trust *trust, struct writ_view key,
    const struct writ_tree_edge *edge, struct writ_view mac, struct writ_err *err)
{
    uint8_t wanted[WRIT_HEADS_MAC];

    WRIT_TRY(writ_heads_mac(trust, key, edge, wanted, err));
    if (!writ_view_equal_secret(writ_view((const char *)wanted, sizeof wanted), mac)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the MAC is not that of these records");
    }
    return WRIT_DONE;
}

/* ---- who is believed ---- */

/* Reads the time of the last of the first `size` records; leaves `ret` alone when that record is
 * missing. */
static WRIT_RESULT
read_last_time(struct writ_sql *sql, uint64_t size, int64_t *ret, struct writ_err *err)
{
    struct writ_sql_statement *statement = NULL;
    bool row = false;
    writ_result result;

    if (size == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_sql_prepare(sql, time_text, &statement, err));
    writ_sql_bind_int(statement, 1, (int64_t)(size - 1));
    result = writ_sql_step(statement, &row, err);
    if (row) {
        *ret = writ_sql_int(statement, 0);
    }
    writ_sql_reset(statement);
    writ_sql_finalize(statement);
    return result;
}

/* Whether a key is trusted for a checkpoint over `size` records that it signed. */
static WRIT_RESULT
is_in_time(const struct writ_heads_trust *trust, const struct writ_heads_key *key, uint64_t size,
    bool *ret, struct writ_err *err)
{
    int64_t last_us = INT64_MAX; /* without a time it cannot be older than a revocation */

    if (key->revoked_us != 0) {
        WRIT_TRY(read_last_time(trust->sql, size, &last_us, err));
    }
    *ret = key->revoked_us == 0 || last_us < key->revoked_us;
    return WRIT_DONE;
}

/* Requires one signature of a trusted key, and none that fails. */
static WRIT_RESULT
check_signed(const struct writ_heads_trust *trust, const struct writ_note *note, uint64_t size,
    struct writ_err *err)
{
    bool is_signed = false, is_late = false;

    for (size_t i = 0; i < trust->keys_n; i++) {
        writ_result verified = writ_note_verify(note, trust->keys[i].key, NULL, err);
        bool believed;

        if (verified.code != WRIT_E_ABSENT) {
            WRIT_TRY(verified);
            WRIT_TRY(is_in_time(trust, &trust->keys[i], size, &believed, err));
            is_signed = is_signed || believed;
            is_late = is_late || !believed;
        }
    }
    if (!is_signed && is_late) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the checkpoint is signed by a key that was revoked, and not known to be older");
    }
    if (!is_signed) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the checkpoint is not signed by a key of this ledger");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_heads_believe(const struct writ_heads_trust *trust, struct writ_view note, bool is_signed,
    struct writ_checkpoint *ret, struct writ_err *err)
{
    struct writ_checkpoint head = {0};
    struct writ_note parts = {0};
    writ_result read = writ_note_read(note, &parts, err);

    if (writ_is_ok(read)) {
        read = writ_checkpoint_read(parts.text, &head, err);
    }
    if (read.code == WRIT_E_PARSE || read.code == WRIT_E_LIMIT || read.code == WRIT_E_INVALID) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "it is not a checkpoint");
    }
    WRIT_TRY(read);
    if (!writ_view_equal(head.origin, writ_buf_view(&trust->origin))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the checkpoint is of another ledger, " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(head.origin));
    }
    if (is_signed) {
        WRIT_TRY(check_signed(trust, &parts, head.size, err));
    }
    *ret = head;
    return WRIT_DONE;
}

WRIT_RESULT
writ_heads_who_signed(const struct writ_heads_trust *trust, const struct writ_note *note,
    int64_t at_us, enum writ_heads_signed *ret, struct writ_err *err)
{
    enum writ_heads_signed who = WRIT_HEADS_UNSIGNED;

    for (size_t i = 0; i < trust->keys_n; i++) {
        const struct writ_heads_key *key = &trust->keys[i];
        writ_result verified = writ_note_verify(note, key->key, NULL, err);

        if (verified.code == WRIT_E_MISMATCH) {
            who = WRIT_HEADS_UNSIGNED;
            break;
        }
        if (verified.code == WRIT_E_ABSENT) {
            continue;
        }
        WRIT_TRY(verified);
        if (key->revoked_us == 0 || key->revoked_us > at_us) {
            who = WRIT_HEADS_SIGNED;
        } else if (who == WRIT_HEADS_UNSIGNED) {
            who = WRIT_HEADS_REVOKED;
        }
    }
    *ret = who;
    return WRIT_DONE;
}

WRIT_RESULT
writ_heads_is_late(
    const struct writ_heads_trust *trust, struct writ_view note, bool *ret, struct writ_err *err)
{
    struct writ_note parts = {0};
    bool is_late = false;

    if (!writ_is_ok(writ_note_read(note, &parts, NULL))) {
        *ret = false;
        return WRIT_DONE;
    }
    for (size_t i = 0; i < trust->keys_n; i++) {
        writ_result verified = writ_note_verify(&parts, trust->keys[i].key, NULL, err);

        if (verified.code == WRIT_E_NOMEM || verified.code == WRIT_E_CRYPTO) {
            return verified;
        }
        if (!writ_is_ok(verified) && verified.code != WRIT_E_ABSENT) {
            *ret = false;
            return WRIT_DONE;
        }
        is_late = is_late || (writ_is_ok(verified) && trust->keys[i].revoked_us != 0);
    }
    *ret = is_late;
    return WRIT_DONE;
}

/* ---- what is stored ---- */

WRIT_RESULT
writ_heads_open(struct writ_sql *sql, struct writ_heads *ret, struct writ_err *err)
{
    struct writ_heads heads = {.sql = sql};

    writ_result result = writ_sql_prepare(sql, at_text, &heads.at, err);

    if (writ_is_ok(result)) {
        result = writ_sql_prepare(sql, last_text, &heads.last, err);
    }
    if (!writ_is_ok(result)) {
        writ_heads_close(&heads);
        return result;
    }
    *ret = heads;
    return WRIT_DONE;
}

void
writ_heads_close(struct writ_heads *heads)
{
    writ_sql_finalize(heads->at);
    writ_sql_finalize(heads->last);
    *heads = (struct writ_heads){0};
}

/* Stays at the row; reset the statement whatever happens. */
static WRIT_RESULT
find(struct writ_heads *heads, uint64_t leaf, struct writ_err *err)
{
    bool row = false;

    writ_sql_bind_int(heads->at, 1, leaf > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)leaf);
    WRIT_TRY(writ_sql_step(heads->at, &row, err));
    if (!row) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "the store has no checkpoint");
    }
    return WRIT_DONE;
}

/* The head at which the statement stands. */
static WRIT_RESULT
take_head(struct writ_sql_statement *s, struct writ_arena *arena, struct writ_head *head,
    struct writ_err *err)
{
    *head = (struct writ_head){
        .leaf = (uint64_t)writ_sql_int(s, 0),
        .size = (uint64_t)writ_sql_int(s, 1),
        .nodes = writ_view("", 0),
        .note = writ_view("", 0),
    };
    if (arena == NULL) {
        return WRIT_DONE;
    }
    head->nodes = writ_view_copy(writ_sql_bytes(s, 2), arena);
    head->note = writ_view_copy(writ_sql_bytes(s, 3), arena);
    if (head->nodes.ptr == NULL || head->note.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a checkpoint");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_heads_at(struct writ_heads *heads, uint64_t leaf, struct writ_arena *arena,
    struct writ_head *ret, struct writ_err *err)
{
    struct writ_head head = {0};
    writ_result result = find(heads, leaf, err);

    if (writ_is_ok(result)) {
        result = take_head(heads->at, arena, &head, err);
    }
    writ_sql_reset(heads->at);
    if (writ_is_ok(result)) {
        *ret = head;
    }
    return result;
}

WRIT_RESULT
writ_heads_last(
    struct writ_heads *heads, struct writ_arena *arena, struct writ_head *ret, struct writ_err *err)
{
    struct writ_head head = {0};
    bool row = false;
    writ_result result = writ_sql_step(heads->last, &row, err);

    if (writ_is_ok(result) && !row) {
        result = writ_fail(err, WRIT_E_ABSENT, "the store has no checkpoint");
    }
    if (writ_is_ok(result)) {
        result = take_head(heads->last, arena, &head, err);
    }
    writ_sql_reset(heads->last);
    if (writ_is_ok(result)) {
        *ret = head;
    }
    return result;
}

/* A wait for a checkpoint over `size` records. */
struct awaiting {
    struct writ_heads *heads;
    uint64_t size;
    struct writ_arena *arena;
    struct writ_head head;
    writ_result result;
    struct writ_err *err;
};

static bool
is_covered(void *ctx)
{
    struct awaiting *a = ctx;

    writ_arena_reset(a->arena);
    a->result = writ_heads_last(a->heads, a->arena, &a->head, a->err);
    return (!writ_is_ok(a->result) && a->result.code != WRIT_E_ABSENT) ||
           (writ_is_ok(a->result) && a->head.size >= a->size);
}

WRIT_RESULT
writ_heads_await(struct writ_heads *heads, uint64_t size, int64_t most_us, struct writ_arena *arena,
    struct writ_head *ret, struct writ_err *err)
{
    struct awaiting a = {.heads = heads, .size = size, .arena = arena, .err = err};

    writ_clock_wait(writ_clock_system(), most_us, is_covered, &a);
    WRIT_TRY(a.result);
    *ret = a.head;
    return WRIT_DONE;
}

/* Copies one digest out of the row that the statement stands at. */
static bool
copy_node(struct writ_heads *heads, uint64_t last, unsigned level, struct writ_digest *ret)
{
    struct writ_view nodes = writ_sql_bytes(heads->at, 2);
    int64_t first = writ_sql_int(heads->at, 0);
    uint64_t begin = first < 0 || (uint64_t)first > last ? last : (uint64_t)first;
    uint64_t at =
        (writ_tree_nodes(last) - writ_tree_nodes(begin) + level) * (uint64_t)WRIT_DIGEST_BYTES;

    if (first < 0 || nodes.len < WRIT_DIGEST_BYTES || at > nodes.len - WRIT_DIGEST_BYTES) {
        return false;
    }
    (void)writ_view_place(writ_view_sub(nodes, (size_t)at, WRIT_DIGEST_BYTES), (char *)ret->bytes);
    return true;
}

static WRIT_RESULT
find_node(void *ctx, unsigned level, uint64_t index, struct writ_digest *ret, struct writ_err *err)
{
    struct writ_heads *heads = ctx;
    uint64_t last = writ_tree_last_leaf(level, index);
    writ_result result = find(heads, last, err);
    bool found = writ_is_ok(result) && copy_node(heads, last, level, ret);

    writ_sql_reset(heads->at);
    if (result.code != WRIT_E_ABSENT) {
        WRIT_TRY(result);
    }
    if (!found) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "node %llu of level %u of the tree is missing",
            (unsigned long long)index, level);
    }
    return WRIT_DONE;
}

bool
writ_heads_digest(const struct writ_head *head, uint64_t leaf, struct writ_digest *ret)
{
    size_t at =
        (size_t)(writ_tree_nodes(leaf) - writ_tree_nodes(head->leaf)) * (size_t)WRIT_DIGEST_BYTES;
    struct writ_view digest = writ_view_sub(head->nodes, at, WRIT_DIGEST_BYTES);

    return digest.len == WRIT_DIGEST_BYTES &&
           writ_view_place(digest, (char *)ret->bytes).ptr != NULL;
}

struct writ_tree_source
writ_heads_source(struct writ_heads *heads)
{
    return (struct writ_tree_source){find_node, heads};
}
