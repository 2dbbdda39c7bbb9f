/* A finding without memory for its text is still counted, so a faulty file is never taken for a
 * good one. Texts hold no control characters. */
#include "policy/read/findings.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* room for a finding with a message and a pointer of ordinary length */
#define FINDING_BYTES_MAX 16384

static bool
make_room(struct writ_findings *findings)
{
    if (findings->max == 0) {
        findings->max = WRIT_FINDINGS_MAX;
    }
    if (findings->arena == NULL) {
        findings->arena = writ_arena_new(findings->max * FINDING_BYTES_MAX);
    }
    if (findings->arena != NULL && findings->items == NULL) {
        findings->items = writ_arena_get(findings->arena, findings->max * sizeof *findings->items);
    }
    return findings->items != NULL && findings->n < findings->max;
}

static size_t *
count_of(struct writ_findings *findings, enum writ_severity severity)
{
    switch (severity) {
    case WRIT_SEVERITY_ERROR:
        break;
    case WRIT_SEVERITY_WARNING:
        return &findings->warnings;
    case WRIT_SEVERITY_NOTE:
        return &findings->notes;
    }
    return &findings->errors;
}

const char *
writ_findings_severity(enum writ_severity severity)
{
    switch (severity) {
    case WRIT_SEVERITY_ERROR:
        break;
    case WRIT_SEVERITY_WARNING:
        return "warning";
    case WRIT_SEVERITY_NOTE:
        return "note";
    }
    return "error";
}

void
writ_findings_add(struct writ_findings *findings, enum writ_severity severity, size_t line,
    struct writ_view pointer, const char *fmt, ...)
{
    char text[WRIT_FINDING_TEXT_MAX + 1];
    struct writ_finding *item;
    va_list args;
    int len;

    *count_of(findings, severity) += 1;
    if (!make_room(findings)) {
        return;
    }
    va_start(args, fmt);
    len = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *c = text; len > 0 && *c != '\0'; c++) {
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c; /* one line, even with quoted
                                                                 * input */
    }
    item = &findings->items[findings->n];
    item->severity = severity;
    item->file = writ_view_copy(findings->file, findings->arena);
    item->line = line;
    item->pointer = writ_view_copy(pointer, findings->arena);
    item->message = writ_view_copy(writ_view_str(len > 0 ? text : ""), findings->arena);
    findings->n++;
}

static bool
is_before(const struct writ_finding *a, const struct writ_finding *b)
{
    int order = writ_view_compare(a->file, b->file);

    return order != 0 ? order < 0 : a->line < b->line;
}

void
writ_findings_sort(struct writ_findings *findings)
{
    for (size_t i = 1; i < findings->n; i++) { /* few, and nearly sorted already */
        struct writ_finding item = findings->items[i];
        size_t at = i;
        for (; at > 0 && is_before(&item, &findings->items[at - 1]); at--) {
            findings->items[at] = findings->items[at - 1];
        }
        findings->items[at] = item;
    }
}

static void
put_one(const struct writ_finding *item, struct writ_view file, struct writ_buf *ret)
{
    writ_buf_put(ret, item->file.len > 0 ? item->file : file);
    if (item->line > 0) {
        writ_buf_byte(ret, ':');
        writ_buf_u64(ret, item->line);
    }
    writ_buf_str(ret, ": ");
    if (item->pointer.len > 0) {
        writ_text_safe(ret, item->pointer, item->pointer.len);
        writ_buf_str(ret, ": ");
    }
    if (item->severity != WRIT_SEVERITY_ERROR) {
        writ_buf_str(ret, writ_findings_severity(item->severity));
        writ_buf_str(ret, ": ");
    }
    writ_text_safe(ret, item->message, item->message.len);
    writ_buf_byte(ret, '\n');
}

void
writ_findings_put(const struct writ_findings *findings, struct writ_view file, struct writ_buf *ret)
{
    size_t all = findings->errors + findings->warnings + findings->notes;

    for (size_t i = 0; i < findings->n; i++) {
        put_one(&findings->items[i], file, ret);
    }
    if (all > findings->n) {
        writ_buf_put(ret, file);
        writ_buf_fmt(ret, ": and %zu more\n", all - findings->n);
    }
}

void
writ_findings_wipe(struct writ_findings *findings)
{
    writ_arena_free(findings->arena);
    *findings = (struct writ_findings){0};
}
