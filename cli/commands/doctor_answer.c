/* The answer of writ doctor: first what keeps the gateway from working, then what can later, each
 * with what to do. */
#include "base/text.h"
#include "cli/commands/doctor.h"
#include "evidence/json/write.h"

#define PATH_SHOWN 4096

static void
put_place(const struct writ_doctor_place *place, struct writ_buf *ret)
{
    writ_text_safe(ret, place->path, PATH_SHOWN);
    if (place->line > 0) {
        writ_buf_fmt(ret, ":%zu", place->line);
    }
    writ_buf_str(ret, ": ");
    if (place->pointer.len > 0) {
        writ_text_safe(ret, place->pointer, PATH_SHOWN);
        writ_buf_str(ret, ": ");
    }
}

/* Calls `put` for the errors, then for the warnings. */
static void
each_finding(const struct writ_doctor *d,
    void (*put)(const struct writ_doctor_finding *finding, void *to), void *to)
{
    static const enum writ_severity order[] = {WRIT_SEVERITY_ERROR, WRIT_SEVERITY_WARNING};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        for (const struct writ_doctor_finding *one = d->first; one != NULL; one = one->next) {
            if (writ_doctor_row(one->check)->severity == order[i]) {
                put(one, to);
            }
        }
    }
}

static void
put_text(const struct writ_doctor_finding *finding, void *to)
{
    const struct writ_doctor_row *row = writ_doctor_row(finding->check);
    struct writ_buf *ret = to;

    writ_buf_fmt(ret, "%s: %s: ", writ_findings_severity(row->severity), row->name);
    put_place(&finding->place, ret);
    writ_buf_put(ret, finding->message);
    writ_buf_str(ret, "\n  ");
    writ_buf_str(ret, row->fix);
    writ_buf_byte(ret, '\n');
}

static void
put_size(struct writ_buf *ret, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    while (bytes >= 10240 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    writ_buf_fmt(ret, "%llu %s", (unsigned long long)bytes, units[unit]);
}

static void
put_facts(const struct writ_doctor_facts *facts, struct writ_buf *ret)
{
    if (facts->ledger) {
        writ_buf_fmt(ret, "ledger: %llu records, %llu of the last day, ",
            (unsigned long long)facts->records, (unsigned long long)facts->recent);
        put_size(ret, facts->bytes);
        writ_buf_byte(ret, '\n');
    }
    if (facts->disk) {
        writ_buf_str(ret, "disk: ");
        put_size(ret, facts->free_bytes);
        writ_buf_str(ret, " free");
        if (facts->grows) {
            writ_buf_fmt(ret, ", enough for %llu days like the last one",
                (unsigned long long)facts->days_left);
        }
        writ_buf_byte(ret, '\n');
    }
}

void
writ_doctor_text(const struct writ_doctor *d, struct writ_buf *ret)
{
    each_finding(d, put_text, ret);
    if (d->config != NULL) {
        writ_buf_fmt(ret, "gateway: %s\n", d->running ? "running" : "not running");
        put_facts(&d->facts, ret);
    }
    writ_text_safe(ret, writ_view_str(d->file), PATH_SHOWN);
    if (d->errors + d->warnings == 0) {
        writ_buf_str(ret, ": nothing found\n");
    } else {
        writ_buf_fmt(ret, ": errors: %zu, warnings: %zu\n", d->errors, d->warnings);
    }
}

static void
put_json(const struct writ_doctor_finding *finding, void *to)
{
    const struct writ_doctor_row *row = writ_doctor_row(finding->check);
    struct writ_write *w = to;

    writ_write_object_begin(w);
    writ_write_text(w, "check", writ_view_str(row->name));
    writ_write_text(w, "area", writ_view_str(row->area));
    writ_write_text(w, "severity", writ_view_str(writ_findings_severity(row->severity)));
    writ_write_text(w, "file", finding->place.path);
    writ_write_count(w, "line", finding->place.line);
    writ_write_text(w, "pointer", finding->place.pointer);
    writ_write_text(w, "message", finding->message);
    writ_write_text(w, "fix", writ_view_str(row->fix));
    writ_write_object_end(w);
}

static void
count_or_null(struct writ_write *w, const char *name, bool known, uint64_t value)
{
    if (known) {
        writ_write_count(w, name, value);
    } else {
        writ_write_name(w, writ_view_str(name));
        writ_write_null(w);
    }
}

void
writ_doctor_json(const struct writ_doctor *d, struct writ_buf *ret)
{
    const struct writ_doctor_facts *facts = &d->facts;
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text(&w, "file", writ_view_str(d->file));
    writ_write_flag(&w, "running", d->running);
    writ_write_count(&w, "errors", d->errors);
    writ_write_count(&w, "warnings", d->warnings);
    writ_write_name(&w, WRIT_LIT("findings"));
    writ_write_array_begin(&w);
    each_finding(d, put_json, &w);
    writ_write_array_end(&w);
    count_or_null(&w, "ledger_records", facts->ledger, facts->records);
    count_or_null(&w, "ledger_records_last_day", facts->ledger, facts->recent);
    count_or_null(&w, "ledger_bytes", facts->ledger, facts->bytes);
    count_or_null(&w, "ledger_bytes_per_day", facts->ledger, facts->day_bytes);
    count_or_null(&w, "disk_free_bytes", facts->disk, facts->free_bytes);
    count_or_null(&w, "disk_days_left", facts->disk && facts->grows, facts->days_left);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(ret, '\n');
}
