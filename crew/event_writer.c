/* The texts of events are in one buffer, one after the other, and `ends` has the end of each. After
 * a failure the first one stays, and the call fails. */
#include "crew/event_writer.h"

#include "crew/vec.h"

void
writ_event_writer_clear(struct writ_event_writer *writer)
{
    writ_buf_clear(&writer->text);
    writer->n = 0;
    writ_free(writer->list);
    writer->list = NULL;
    writer->recursion = 0;
}

void
writ_event_writer_wipe(struct writ_event_writer *writer)
{
    writ_buf_wipe(&writer->text);
    writ_buf_wipe(&writer->scratch);
    writ_free(writer->ends);
    writ_free(writer->list);
    *writer = (struct writ_event_writer){0};
}

void
writ_event_writer_fail(struct writ_event_writer *writer, writ_result result)
{
    if (!writ_is_ok(result) && writer->failed == WRIT_E_UNSET) {
        writer->failed = result.code;
    }
}

void
writ_event_writer_end(struct writ_event_writer *writer)
{
    writ_result room = writ_vec_room(&writer->ends, &writer->cap, writer->n, sizeof *writer->ends);

    writ_event_writer_fail(writer, writ_buf_check(&writer->text, NULL));
    writ_event_writer_fail(writer, room);
    if (writ_is_ok(room)) {
        writer->ends[writer->n++] = writer->text.len;
    }
}

WRIT_RESULT
writ_event_writer_list(struct writ_event_writer *writer, struct writ_crew_events *ret)
{
    size_t from = 0;

    if (writer->n > 0) {
        writer->list = writ_alloc(writer->n * sizeof *writer->list);
        if (writer->list == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
    }
    for (size_t at = 0; at < writer->n; at++) {
        writer->list[at] = writ_view(writer->text.ptr + from, writer->ends[at] - from);
        from = writer->ends[at];
    }
    *ret = (struct writ_crew_events){writer->list, writer->n};
    return WRIT_DONE;
}

/* ---- members */

void
writ_event_writer_value(struct writ_write *w, const char *name, const struct writ_crew_value *value)
{
    if (value != NULL) {
        writ_write_name(w, writ_view_str(name));
        writ_write_raw(w, writ_crew_value_text(value));
    }
}

void
writ_event_writer_id(struct writ_write *w, uint64_t id)
{
    char text[WRIT_CORRELATION_TEXT];

    writ_write_string(w, writ_correlation_put(id, text));
}
