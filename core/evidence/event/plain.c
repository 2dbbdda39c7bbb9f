/* The record is copied as it stands: it is canonical JSON already. */
#include "evidence/event/plain.h"

#include "evidence/json/write.h"

WRIT_RESULT
writ_plain_put(const struct writ_export_event *event, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);
    char hash[WRIT_DIGEST_TEXT];

    writ_digest_text(&event->leaf_hash, hash);
    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_text(&w, "checkpoint", event->source->checkpoint);
    writ_write_text(&w, "kind", writ_export_event_kind_name(event->source->kind));
    writ_write_count(&w, "leaf", event->source->leaf);
    writ_write_text(&w, "leaf_hash", writ_view_str(hash));
    writ_write_name(&w, WRIT_LIT("record"));
    writ_write_raw(&w, event->source->record);
    writ_write_text_if(&w, "word", event->word);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}
