/* mark_key.c - see mark_key.h. */
#include "gateway/state/mark_key.h"

#include "evidence/json/json.h"
#include "store/read/reader.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <sys/file.h>

#define TEXT_MAX  (2 * WRIT_MARK_KEY_BYTES + 1)
#define ARENA_MAX ((size_t)16 << 20) /* of one record */

static WRIT_RESULT
make(int dir, struct writ_buf *ret, struct writ_err *err)
{
    uint8_t bytes[WRIT_MARK_KEY_BYTES];

    if (RAND_priv_bytes(bytes, sizeof bytes) != 1) {
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_CRYPTO, "no random bytes for a mark key");
    }
    writ_buf_clear(ret);
    writ_hex_put(ret, bytes, sizeof bytes);
    writ_buf_byte(ret, '\n');
    writ_wipe(bytes, sizeof bytes);
    WRIT_TRY(writ_buf_check(ret, err));
    WRIT_TRY(
        writ_trusted_write(dir, WRIT_MARK_KEY_FILE, WRIT_TRUSTED_OURS, writ_buf_view(ret), err));
    return writ_trusted_sync(dir, err);
}

/* Gateways that start at the same time have one key: the first makes it under a lock, which ends
 * with the descriptor, and the others read it. */
static WRIT_RESULT
make_once(int dir, struct writ_buf *ret, struct writ_err *err)
{
    writ_result r;

    if (flock(dir, LOCK_EX) != 0) {
        return writ_trusted_fail(err, errno, "key directory", "cannot lock");
    }
    r = writ_trusted_read(dir, WRIT_MARK_KEY_FILE, WRIT_TRUSTED_PRIVATE, ret, err);
    return r.code == WRIT_E_ABSENT ? make(dir, ret, err) : r;
}

static WRIT_RESULT
parse(struct writ_view text, struct writ_mark_key **ret, struct writ_err *err)
{
    uint8_t bytes[WRIT_MARK_KEY_BYTES];
    writ_result r;

    if (text.len != TEXT_MAX || text.ptr[text.len - 1] != '\n' ||
        !writ_is_ok(writ_hex_read(writ_view_sub(text, 0, text.len - 1), bytes, sizeof bytes))) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            WRIT_MARK_KEY_FILE
            " is not %d hexadecimal digits and a line feed: restore it; without it "
            "no earlier value of a run is found",
            2 * WRIT_MARK_KEY_BYTES);
    }
    r = writ_mark_key_of(writ_view(bytes, sizeof bytes), ret, err);
    writ_wipe(bytes, sizeof bytes);
    return r;
}

/* Reads the key, or with `makes` makes it when there is none. */
static WRIT_RESULT
read_or_make(const char *keys, bool makes, struct writ_mark_key **ret, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    char room[TEXT_MAX + 1];
    WRIT_AUTO(struct writ_buf, writ_buf_wipe_secret) text = writ_buf_over(room, sizeof room);
    writ_result r;

    WRIT_TRY(writ_trusted_dir(keys, &dir, err));
    r = writ_trusted_read(dir, WRIT_MARK_KEY_FILE, WRIT_TRUSTED_PRIVATE, &text, err);
    if (r.code == WRIT_E_ABSENT && makes) {
        r = make_once(dir, &text, err);
    }
    WRIT_TRY(writ_fail_in(err, r, keys));
    return writ_fail_in(err, parse(writ_buf_view(&text), ret, err), keys);
}

WRIT_RESULT
writ_mark_key_open(const char *keys, struct writ_mark_key **ret, struct writ_err *err)
{
    return read_or_make(keys, true, ret, err);
}

WRIT_RESULT
writ_mark_key_read(const char *keys, struct writ_mark_key **ret, struct writ_err *err)
{
    return read_or_make(keys, false, ret, err);
}

WRIT_RESULT
writ_mark_key_tail(
    const struct writ_mark_key *key, uint8_t ret[WRIT_LEDGER_TAIL_KEY], struct writ_err *err)
{
    return writ_mark_key_derive(key, WRIT_LIT("tail of the ledger"), ret, err);
}

/* ---- the key of the records */

struct search {
    struct writ_reader *reader;
    char *id;
    struct writ_err *err;
    writ_result result;
};

static void
arena_freep(struct writ_arena **arena)
{
    writ_arena_free(*arena);
}

static WRIT_RESULT
read_id(struct search *search, uint64_t leaf)
{
    static const char *const path[] = {"extensions", "writ", "flow", "key"};
    WRIT_AUTO(struct writ_arena *, arena_freep) arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *value = NULL;
    struct writ_view text;

    if (arena == NULL) {
        WRIT_FAIL(search->err, WRIT_E_NOMEM, "no memory for a record");
    }
    WRIT_TRY(writ_reader_record(search->reader, leaf, arena, &text, search->err));
    WRIT_TRY(writ_json_read(text, &writ_json_limits_default, arena, &value, search->err));
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        value = writ_json_get(value, writ_view_str(path[i]));
    }
    text = writ_json_string(value);
    if (text.len == WRIT_MARK_KEY_ID) {
        struct writ_buf id = writ_buf_over(search->id, WRIT_MARK_KEY_ID);

        writ_buf_put(&id, text);
        search->id[WRIT_MARK_KEY_ID] = '\0';
    }
    return WRIT_DONE;
}

static bool
look_at(void *ctx, const struct writ_reader_item *item)
{
    struct search *search = ctx;

    search->result = read_id(search, item->leaf);
    return writ_is_ok(search->result) && search->id[0] == '\0';
}

WRIT_RESULT
writ_mark_key_newest(const char *store, char ret[WRIT_MARK_KEY_ID + 1], struct writ_err *err)
{
    const struct writ_reader_filter filter = {.limit = WRIT_MARK_KEY_LOOKS};
    writ_auto_reader reader = NULL;
    struct search search = {.id = ret, .err = err, .result = WRIT_DONE};

    ret[0] = '\0';
    WRIT_TRY(writ_reader_open(store, &reader, err));
    search.reader = reader;
    WRIT_TRY(writ_reader_list(reader, &filter, look_at, &search, err));
    return search.result;
}
