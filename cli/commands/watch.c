/* writ ledger watch: follows the checkpoints of a gateway, and fails loudly when one does not
 * append to those seen before. */
#include "base/log.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/trust.h"
#include "evidence/log/checkpoint.h"
#include "gateway/http/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MAX ((size_t)WRIT_NOTE_BYTES_MAX * 2)
#define ARENA_MAX  ((size_t)1 << 20)
#define URL_MAX    2048
#define PATH_BYTES 4096
#define TIMEOUT_MS 10000
#define EVERY_S    10
#define EVERY_MOST 86400

struct watch {
    const struct writ_cli *cli;
    struct writ_log *log;
    struct writ_trust trust;
    struct writ_arena *arena;
    struct writ_buf seen; /* the last good checkpoint; empty: none yet */
    bool is_bad;          /* the new one does not append to it */
};

static void
watch_wipe(struct watch *w)
{
    writ_trust_wipe(&w->trust);
    writ_arena_free(w->arena);
    writ_buf_wipe(&w->seen);
}

static WRIT_RESULT
verify(
    const struct watch *w, struct writ_view note, struct writ_checkpoint *ret, struct writ_err *err)
{
    return writ_checkpoint_verify(
        note, (const struct writ_note_key *const *)w->trust.keys, w->trust.n, ret, err);
}

/* A seen checkpoint was verified when it came, and is in a file of our own. It is not verified
 * again: revoking its key must not make the watch forget it. */
static WRIT_RESULT
read_seen(const struct watch *w, struct writ_checkpoint *ret, struct writ_err *err)
{
    struct writ_note note;

    WRIT_TRY(writ_note_read(writ_buf_view(&w->seen), &note, err));
    return writ_checkpoint_read(note.text, ret, err);
}

/* Reads the checkpoint of an earlier run, if there is one. */
static WRIT_RESULT
read_state(struct watch *w, const char *path, struct writ_err *err)
{
    struct writ_checkpoint checkpoint;
    writ_result result;

    w->seen = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    result = writ_text_file(path, WRIT_NOTE_BYTES_MAX, &w->seen, err);
    if (result.code == WRIT_E_ABSENT) {
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    return writ_fail_in(err, read_seen(w, &checkpoint, err), path);
}

/* Beside, then renamed: a reader sees a complete checkpoint. */
static WRIT_RESULT
write_state(const struct watch *w, const char *path, struct writ_err *err)
{
    writ_auto_buf beside = writ_buf_make(PATH_BYTES);
    FILE *file;
    bool written;

    writ_buf_str(&beside, path);
    writ_buf_str(&beside, ".new");
    writ_buf_byte(&beside, '\0');
    WRIT_TRY(writ_buf_check(&beside, err));
    file = fopen(beside.ptr, "we");
    written = file != NULL && fwrite(w->seen.ptr, 1, w->seen.len, file) == w->seen.len &&
              fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file != NULL) {
        written = fclose(file) == 0 && written;
    }
    if (!written || rename(beside.ptr, path) != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: the checkpoint cannot be written", path);
    }
    return WRIT_DONE;
}

/* ---- one request */

static bool
read_proof(const struct writ_json *list, struct writ_tree_proof *ret)
{
    *ret = (struct writ_tree_proof){0};
    WRIT_JSON_EACH(value, list)
    {
        struct writ_buf bytes = writ_buf_over(ret->digests[ret->count].bytes, WRIT_DIGEST_BYTES);

        if (ret->count == WRIT_TREE_PROOF_MAX ||
            !writ_is_ok(writ_base64_read(writ_json_string(value), &bytes)) ||
            bytes.len != WRIT_DIGEST_BYTES) {
            return false;
        }
        ret->count++;
    }
    return writ_json_type(list) == WRIT_JSON_ARRAY;
}

/* True when the new one only appends to the seen one; else reports the fault. */
static WRIT_RESULT
compare(struct watch *w, const struct writ_json *answer, const struct writ_checkpoint *now,
    struct writ_err *err)
{
    struct writ_checkpoint seen;
    struct writ_tree_proof proof;

    if (w->seen.len == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(read_seen(w, &seen, err));
    w->is_bad = true;
    if (!writ_view_equal(seen.origin, now->origin)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "FORK: it is another ledger, " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(now->origin));
    }
    if (now->size < seen.size) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "ROLLBACK: %llu records, where there were %llu",
            (unsigned long long)now->size, (unsigned long long)seen.size);
    }
    if (!read_proof(writ_json_get(answer, WRIT_LIT("consistency")), &proof) ||
        !writ_is_ok(writ_tree_check_consistency(
            seen.size, &seen.root, now->size, &now->root, &proof, NULL))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "FORK: the %llu records of now do not begin with the %llu of then",
            (unsigned long long)now->size, (unsigned long long)seen.size);
    }
    w->is_bad = false;
    return WRIT_DONE;
}

static WRIT_RESULT
ask(struct watch *w, struct writ_buf *answer, struct writ_err *err)
{
    writ_auto_buf url = writ_buf_make(URL_MAX);
    struct writ_checkpoint seen = {0};

    if (w->seen.len > 0) {
        WRIT_TRY(read_seen(w, &seen, err));
    }
    writ_buf_put(&url, writ_cli_operand(w->cli, 0));
    writ_buf_str(&url, "/checkpoint?from=");
    writ_buf_u64(&url, seen.size);
    writ_buf_byte(&url, '\0');
    WRIT_TRY(writ_buf_check(&url, err));
    return writ_fetch_get(url.ptr, TIMEOUT_MS, NULL, answer, err);
}

static WRIT_RESULT
look(struct watch *w, struct writ_err *err)
{
    writ_auto_buf answer = writ_buf_make(ANSWER_MAX);
    const struct writ_json *value = NULL;
    struct writ_checkpoint now;
    struct writ_view note;
    writ_result result;

    writ_arena_reset(w->arena);
    WRIT_TRY(ask(w, &answer, err));
    WRIT_TRY(
        writ_json_read(writ_buf_view(&answer), &writ_json_limits_default, w->arena, &value, err));
    note = writ_json_string(writ_json_get(value, WRIT_LIT("checkpoint")));
    result = verify(w, note, &now, err);
    w->is_bad = result.code == WRIT_E_ABSENT || result.code == WRIT_E_MISMATCH;
    WRIT_TRY(result);
    WRIT_TRY(compare(w, value, &now, err));
    if (!writ_view_equal(note, writ_buf_view(&w->seen))) {
        writ_buf_clear(&w->seen);
        writ_buf_put(&w->seen, note);
        WRIT_TRY(writ_buf_check(&w->seen, err));
        WRIT_TRY(write_state(w, writ_cli_get(w->cli, "state").ptr, err));
        WRIT_LOG(w->log, WRIT_EVENT_CHECKPOINT_SEEN, writ_log_text("origin", now.origin),
            writ_log_int("records", (int64_t)now.size));
    }
    return WRIT_DONE;
}

/* ---- all of them */

static bool
read_every(const struct writ_cli *cli, uint64_t *ret)
{
    *ret = EVERY_S;
    if (writ_cli_has(cli, "every") &&
        !writ_is_ok(writ_text_u64(writ_cli_get(cli, "every"), 1, EVERY_MOST, ret))) {
        (void)writ_cli_usage(cli, "--every must be a number of seconds from 1 to %d", EVERY_MOST);
        return false;
    }
    return true;
}

enum writ_exit
writ_command_ledger_watch(const struct writ_cli *cli)
{
    struct writ_log log;
    WRIT_AUTO(struct watch, watch_wipe)
    w = {.cli = cli, .log = &log, .arena = writ_arena_new(ARENA_MAX)};
    struct writ_err err = {0};
    uint64_t every_s;
    writ_result result;

    if (!read_every(cli, &every_s)) {
        return WRIT_EXIT_USAGE;
    }
    writ_log_init(&log, STDERR_FILENO, WRIT_LOG_INFO, cli->clock);
    result = w.arena == NULL ? (writ_result){WRIT_E_NOMEM}
                             : writ_trust_read(writ_cli_get(cli, "key").ptr, &w.trust, &err);
    if (writ_is_ok(result)) {
        result = read_state(&w, writ_cli_get(cli, "state").ptr, &err);
    }
    while (writ_is_ok(result)) {
        result = look(&w, &err);
        if (w.is_bad) {
            WRIT_LOG(&log, WRIT_EVENT_CHECKPOINT_REFUSED, writ_log_str("why", err.text));
            return WRIT_EXIT_NEGATIVE;
        }
        if (writ_cli_has(cli, "once")) {
            break;
        }
        if (result.code == WRIT_E_IO) { /* the gateway may be restarting: that alone proves
                                         * nothing */
            WRIT_LOG(&log, WRIT_EVENT_CHECKPOINT_MISSED, writ_log_str("why", err.text));
            result = WRIT_DONE;
        }
        (void)sleep((unsigned)every_s);
    }
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}
