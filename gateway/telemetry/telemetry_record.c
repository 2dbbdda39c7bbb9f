/* telemetry_record.c - texts are copied one behind the other; what does not fit is left out whole.
 */
#include "gateway/telemetry/telemetry_record.h"

void
writ_telemetry_record_clear(struct writ_telemetry_record *record)
{
    record->spans = record->line = false;
    record->span = record->link = (struct writ_trace_context){.sampled = false};
    for (size_t i = 0; i < WRIT_SPAN_ID_BYTES; i++) {
        record->parent[i] = 0;
    }
    record->name = record->method = (struct writ_telemetry_text){0, 0};
    record->error = record->failed = (struct writ_telemetry_text){0, 0};
    record->waits_n = record->fields_n = record->text_n = 0;
}

struct writ_telemetry_text
writ_telemetry_record_text(struct writ_telemetry_record *record, struct writ_view text)
{
    struct writ_telemetry_text ret = {(uint16_t)record->text_n, (uint16_t)text.len};

    if (text.len > sizeof record->text - record->text_n) {
        return (struct writ_telemetry_text){0, 0};
    }
    (void)writ_view_place(text, record->text + record->text_n);
    record->text_n += text.len;
    return ret;
}

void
writ_telemetry_record_field(
    struct writ_telemetry_record *record, const struct writ_log_field *field)
{
    struct writ_telemetry_field *at = &record->fields[record->fields_n];

    if (record->fields_n == WRIT_TELEMETRY_FIELDS_MAX) {
        return;
    }
    *at = (struct writ_telemetry_field){
        .key = field->key, .kind = field->kind, .number = field->number};
    if (field->kind == WRIT_LOG_KIND_TEXT) {
        at->text = writ_telemetry_record_text(record, field->text);
    }
    if (field->kind != WRIT_LOG_KIND_TEXT || at->text.len == field->text.len) {
        record->fields_n++;
    }
}

struct writ_view
writ_telemetry_record_view(
    const struct writ_telemetry_record *record, struct writ_telemetry_text text)
{
    return writ_view(record->text + text.at, text.len);
}
