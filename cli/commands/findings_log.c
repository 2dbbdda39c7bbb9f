/* findings_log.c - errors are lines of level error, the others of level warn. */
#include "cli/commands/findings_log.h"

void
writ_findings_log_write(
    struct writ_log *log, const struct writ_findings *findings, struct writ_view file)
{
    for (size_t i = 0; i < findings->n; i++) {
        const struct writ_finding *finding = &findings->items[i];
        bool error = finding->severity == WRIT_SEVERITY_ERROR;

        WRIT_LOG(log, error ? WRIT_EVENT_CONFIGURATION_ERROR : WRIT_EVENT_CONFIGURATION_WARNING,
            writ_log_text("file", finding->file.len > 0 ? finding->file : file),
            writ_log_int("line", (int64_t)finding->line), writ_log_text("at", finding->pointer),
            writ_log_text("why", finding->message));
    }
}
