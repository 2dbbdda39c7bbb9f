/* The header is made first, because its length is a part of the count. */
#include "evidence/event/syslog.h"

#include "base/clock.h"

#define FACILITY   13 /* log audit */
#define PRIORITIES 8
#define HEADER_MAX 512

static void
put_host(struct writ_buf *ret, struct writ_view host)
{
    host = writ_view_sub(host, 0, WRIT_SYSLOG_HOST_MAX);
    for (size_t i = 0; i < host.len; i++) {
        writ_buf_byte(ret, host.ptr[i] > ' ' && host.ptr[i] < 0x7f ? host.ptr[i] : '?');
    }
    writ_buf_str(ret, host.len == 0 ? "-" : "");
}

WRIT_RESULT
writ_syslog_put(const struct writ_export_event *event, struct writ_view host,
    struct writ_view encoded, struct writ_buf *ret, struct writ_err *err)
{
    static const int severities[] = {6, 6, 5, 4, 2}; /* of RFC 5424, by severity_id */
    char memory[HEADER_MAX];
    struct writ_buf header = writ_buf_over(memory, sizeof memory);
    char time[WRIT_TIME_TEXT];

    writ_time_format(event->source->time_us, time);
    writ_buf_fmt(
        &header, "<%d>1 %s ", FACILITY * PRIORITIES + severities[event->meaning->severity], time);
    put_host(&header, host);
    writ_buf_str(&header, " writ - ");
    writ_buf_put(&header, writ_export_event_kind_name(event->source->kind));
    writ_buf_str(&header, " - ");
    WRIT_TRY(writ_buf_check(&header, err));
    writ_buf_u64(ret, header.len + encoded.len);
    writ_buf_byte(ret, ' ');
    writ_buf_put(ret, writ_buf_view(&header));
    writ_buf_put(ret, encoded);
    return writ_buf_check(ret, err);
}
