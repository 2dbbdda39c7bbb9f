/* bundle_file.c - see bundle_file.h. */
#include "cli/commands/bundle_file.h"

#include "cli/base/print.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES ((size_t)256 << 10)

void
writ_bundle_file_wipe(struct writ_bundle_file *file)
{
    if (file->fd > STDERR_FILENO) {
        (void)close(file->fd);
    }
    writ_buf_wipe(&file->rest);
    writ_bundle_check_free(file->check);
    writ_signers_wipe(&file->signers);
}

static WRIT_RESULT
file_open(const char *path, struct writ_bundle_file *ret, struct writ_err *err)
{
    struct stat st;

    ret->rest = writ_buf_make(WRIT_BUNDLE_LINE_MAX + READ_BYTES);
    ret->fd = STDIN_FILENO;
    if (!writ_view_is(writ_view_str(path), "-")) {
        ret->fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (ret->fd < 0) {
        WRIT_FAIL(err, errno == ENOENT ? WRIT_E_ABSENT : WRIT_E_IO, "%s: %s", path,
            strerrordesc_np(errno));
    }
    if (fstat(ret->fd, &st) == 0 && S_ISREG(st.st_mode)) {
        ret->size = (uint64_t)st.st_size;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_record(
    const struct writ_bundle_file *file, writ_bundle_file_fn fn, void *ctx, struct writ_err *err)
{
    struct writ_view record;
    enum writ_detached_record_kind kind = writ_bundle_check_record(file->check, &record);

    return fn != NULL && kind != WRIT_DETACHED_RECORD_NONE ? fn(ctx, kind, record, err) : WRIT_DONE;
}

/* Takes the complete lines. */
static WRIT_RESULT
take_lines(struct writ_bundle_file *file, writ_bundle_file_fn fn, void *ctx, struct writ_err *err)
{
    struct writ_view text = writ_buf_view(&file->rest);
    size_t end, taken = 0;

    while ((end = writ_view_find(text, '\n')) < text.len) {
        file->number++;
        WRIT_TRY(writ_bundle_check_line(
            file->check, writ_view_sub(text, 0, end), &file->why, &file->more));
        if (file->why != WRIT_REASON_EVIDENCE_OK) {
            return WRIT_DONE;
        }
        WRIT_TRY(take_record(file, fn, ctx, err));
        text = writ_view_sub(text, end + 1, text.len);
        taken += end + 1;
    }
    writ_buf_consume(&file->rest, taken);
    if (file->rest.len > WRIT_BUNDLE_LINE_MAX) {
        file->number++;
        file->why = WRIT_REASON_EVIDENCE_MALFORMED;
        (void)writ_fail(
            &file->more, WRIT_E_LIMIT, "a line is longer than %zu bytes", WRIT_BUNDLE_LINE_MAX);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_all(struct writ_bundle_file *file, writ_bundle_file_fn fn, void *ctx, struct writ_err *err)
{
    file->why = WRIT_REASON_EVIDENCE_OK;
    for (;;) {
        char *to = writ_buf_reserve(&file->rest, READ_BYTES);
        ssize_t n;

        if (to == NULL) {
            return writ_buf_check(&file->rest, err);
        }
        n = read(file->fd, to, READ_BYTES);
        if (n < 0) {
            WRIT_FAIL(err, WRIT_E_IO, "the bundle cannot be read: %s", strerrordesc_np(errno));
        }
        file->rest.len += (size_t)n;
        if (n == 0) {
            return WRIT_DONE;
        }
        file->done += (uint64_t)n;
        WRIT_TRY(take_lines(file, fn, ctx, err));
        if (file->why != WRIT_REASON_EVIDENCE_OK) {
            return WRIT_DONE;
        }
        (void)writ_progress_step(&file->progress, file->done, file->size);
    }
}

WRIT_RESULT
writ_bundle_file_verify(const struct writ_cli *cli, writ_bundle_file_fn fn, void *ctx,
    struct writ_bundle_file *ret, struct writ_err *err)
{
    writ_result result;

    WRIT_TRY(writ_signers_read(cli, &ret->signers, err));
    WRIT_TRY(file_open(writ_cli_operand(cli, 0).ptr, ret, err));
    WRIT_TRY(writ_bundle_check_new(&ret->signers.trust, &ret->check, err));
    ret->progress = writ_progress_begin(cli, "bytes");
    result = read_all(ret, fn, ctx, err);
    writ_progress_end(&ret->progress);
    WRIT_TRY(result);
    if (ret->why == WRIT_REASON_EVIDENCE_OK &&
        (!writ_bundle_check_ended(ret->check, &ret->report, &ret->head) || ret->rest.len > 0)) {
        ret->why = WRIT_REASON_EVIDENCE_MALFORMED;
        (void)writ_fail(&ret->more, WRIT_E_INVALID, "the file is truncated");
    }
    return WRIT_DONE;
}

void
writ_bundle_file_print_reason(const struct writ_bundle_file *file)
{
    writ_cli_print(WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(writ_reason_name(file->why)));
    (void)fprintf(stderr, "line %llu: %s\n", (unsigned long long)file->number, file->more.text);
}

void
writ_bundle_file_put(
    struct writ_write *w, const struct writ_bundle_file *file, enum writ_reason why)
{
    bool ok = why == WRIT_REASON_EVIDENCE_OK;

    writ_write_flag(w, "ok", ok);
    writ_write_text(w, "reason", ok ? WRIT_LIT("ok") : writ_reason_name(why));
    writ_write_text(w, "sentence", writ_reason_sentence(why));
    if (file->why == WRIT_REASON_EVIDENCE_OK) {
        writ_bundle_check_put(w, &file->report, &file->head);
    } else {
        writ_write_count(w, "line", file->number);
        writ_write_text(w, "detail", writ_view_str(file->more.text));
    }
}
