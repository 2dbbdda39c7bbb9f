/* log_file.h - the file of a log: written by one program at a time, and never over another log. */
#ifndef WRIT_CLI_LOG_FILE_H
#define WRIT_CLI_LOG_FILE_H

#include "base/bytes.h"

struct writ_log_file;

/** Makes a new file, whose name is durable; `ret` is set also when that alone fails.
 * WRIT_E_INVALID (it exists), WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_log_file_create(
    const char *path, struct writ_log_file **ret, struct writ_err *err);

/** Opens the file of a log that is continued. WRIT_E_ABSENT, WRIT_E_INVALID (another program writes
 * it), WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_log_file_open(const char *path, struct writ_log_file **ret, struct writ_err *err);

/** Drops everything after the first `len` bytes; writing continues there. WRIT_E_IO. */
WRIT_RESULT writ_log_file_cut(struct writ_log_file *file, size_t len, struct writ_err *err);

/** Writes; a whole input is flushed, which is durable, before anything acts on it. NULL does
 * nothing. WRIT_E_IO: also for a log longer than WRIT_RERUN_LOG_MAX, and after a write that failed.
 */
WRIT_RESULT writ_log_file_line(
    struct writ_log_file *file, struct writ_view line, struct writ_err *err);
WRIT_RESULT writ_log_file_bytes(
    struct writ_log_file *file, struct writ_view bytes, struct writ_err *err);
WRIT_RESULT writ_log_file_flush(struct writ_log_file *file, struct writ_err *err);

void writ_log_file_close(struct writ_log_file *file);

#endif
