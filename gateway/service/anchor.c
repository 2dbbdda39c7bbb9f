/* anchor.c - writes a checkpoint to a file or posts it to a URL. A file is replaced only by a
 * checkpoint that extends the one in it; a file that other programs share is replaced under a lock
 * on its folder. */
#include "gateway/service/anchor.h"

#include "gateway/http/fetch.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <sys/file.h>

#define ANSWER_MAX  65536
#define STATUS_GOOD 200
#define STATUS_REST 300

bool
writ_anchor_is_url(struct writ_view to)
{
    return writ_view_search(to, WRIT_LIT("://")) < to.len;
}

/* ---- a file */

/* Only one writer at a time has the folder: so none puts an older checkpoint over a newer one. */
static WRIT_RESULT
lock(int dir, const char *path, struct writ_err *err)
{
    if (flock(dir, LOCK_EX | LOCK_NB) == 0) {
        return WRIT_DONE;
    }
    if (errno == EWOULDBLOCK) {
        WRIT_FAIL(err, WRIT_E_BUSY, "%s: another process writes in its folder", path);
    }
    return writ_trusted_fail(err, errno, path, "cannot lock its folder");
}

/* The number of records that the checkpoint in the file covers (0: none), and whether its signature
 * is trusted: not when its key was revoked since. */
static WRIT_RESULT
look(const struct writ_anchor *anchor, int dir, const char *name, struct writ_proofs *proofs,
    uint64_t *ret, bool *ret_believed, struct writ_err *err)
{
    writ_auto_buf note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    struct writ_checkpoint then = {0}, again;
    struct writ_err why = {{0}, 0, 0};
    writ_result result = writ_trusted_read(dir, name, WRIT_TRUSTED_UNWRITABLE, &note, err);

    if (result.code == WRIT_E_ABSENT) {
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    result = writ_proofs_follow(proofs, writ_buf_view(&note), false, &then, &why);
    if (result.code == WRIT_E_MISMATCH) {
        bool believed = false;

        WRIT_TRY(writ_proofs_believes(proofs, writ_buf_view(&note), &believed, err));
        if (anchor->own && !believed) {
            return WRIT_DONE;
        }
        if (anchor->ret_alarm != NULL) {
            *anchor->ret_alarm = believed;
        }
    }
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s is left as it is: %s", name, why.text);
    }
    result = writ_proofs_follow(proofs, writ_buf_view(&note), true, &again, err);
    if (result.code != WRIT_E_MISMATCH) {
        WRIT_TRY(result);
    }
    *ret = then.size;
    *ret_believed = writ_is_ok(result);
    return WRIT_DONE;
}

static WRIT_RESULT
send_to_file(const struct writ_anchor *anchor, struct writ_proofs *proofs,
    struct writ_checkpoint *ret, struct writ_view *ret_note, struct writ_err *err)
{
    const char *path = anchor->to;
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    const char *name = NULL;
    uint64_t before = 0;
    bool is_believed = false;

    WRIT_TRY(writ_trusted_folder(path, &dir, &name, err));
    if (!anchor->own) {
        WRIT_TRY(lock(dir, path, err));
    }
    WRIT_TRY(look(anchor, dir, name, proofs, &before, &is_believed, err));
    WRIT_TRY(writ_proofs_head(proofs, ret, ret_note, err));
    if (before == ret->size && is_believed) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_trusted_write(
        dir, name, anchor->own ? WRIT_TRUSTED_OURS : WRIT_TRUSTED_SHOWN, *ret_note, err));
    return writ_trusted_sync(dir, err);
}

/* ---- a URL */

static WRIT_RESULT
post(const struct writ_anchor *anchor, struct writ_view note, const atomic_bool *stop,
    struct writ_err *err)
{
    writ_auto_buf body = writ_buf_make(WRIT_NOTE_BYTES_MAX + 1);
    writ_auto_buf answer = writ_buf_make(ANSWER_MAX);
    struct writ_fetch_request request = {
        .type = "Content-Type: text/plain; charset=utf-8", .ca_file = anchor->ca};
    long status = 0;

    writ_buf_put(&body, note);
    writ_buf_byte(&body, '\0');
    WRIT_TRY(writ_buf_check(&body, err));
    request.body = body.ptr;
    WRIT_TRY(
        writ_fetch_ask(anchor->to, &request, WRIT_ANCHOR_TIMEOUT_MS, stop, &status, &answer, err));
    if (status < STATUS_GOOD || status >= STATUS_REST) {
        WRIT_FAIL(err, WRIT_E_IO, WRIT_FETCH_FMT ": answers with status %ld",
            WRIT_FETCH_POST_ARG(anchor->to), status);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_anchor_send(const struct writ_anchor *anchor, struct writ_proofs *proofs,
    const atomic_bool *stop, struct writ_checkpoint *ret, struct writ_view *ret_note,
    struct writ_err *err)
{
    struct writ_checkpoint head = {0};
    struct writ_view note = {NULL, 0};

    if (writ_anchor_is_url(writ_view_str(anchor->to))) {
        WRIT_TRY(writ_proofs_head(proofs, &head, &note, err));
        WRIT_TRY(post(anchor, note, stop, err));
    } else {
        WRIT_TRY(send_to_file(anchor, proofs, &head, &note, err));
    }
    *ret = head;
    *ret_note = note;
    return WRIT_DONE;
}
