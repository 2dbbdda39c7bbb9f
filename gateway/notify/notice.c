/* notice.c - a name is cut at a character, and marked before it is cut, so that no mark is
 * missing. */
#include "gateway/notify/notice.h"

#include "base/hidden.h"
#include "base/utf8.h"

#define MARKED_MAX 65536

void
writ_notice_set(struct writ_notice_text *ret, struct writ_view text)
{
    writ_auto_buf marked = writ_buf_make(MARKED_MAX);
    struct writ_view view;

    (void)writ_hidden_mark_text(&marked, writ_view_sub(text, 0, WRIT_NOTICE_TEXT_MAX));
    view = writ_utf8_cut(writ_buf_view(&marked), WRIT_NOTICE_TEXT_MAX);
    *ret = (struct writ_notice_text){.len = view.len};
    for (size_t i = 0; i < view.len; i++) {
        ret->bytes[i] = (unsigned char)view.ptr[i] < ' ' ? ' ' : view.ptr[i];
    }
}

struct writ_view
writ_notice_view(const struct writ_notice_text *text)
{
    return writ_view(text->bytes, text->len);
}

bool
writ_notice_is_review(const struct writ_notice *notice)
{
    return notice->event == WRIT_NOTIFY_REVIEW_OPENED ||
           notice->event == WRIT_NOTIFY_REVIEW_EXPIRING;
}

struct writ_view
writ_notice_event_name(enum writ_notify_event event)
{
    switch (event) {
    case WRIT_NOTIFY_REVIEW_OPENED:
        return WRIT_LIT("review_opened");
    case WRIT_NOTIFY_REVIEW_EXPIRING:
        return WRIT_LIT("review_expiring");
    case WRIT_NOTIFY_STOP_PULLED:
        return WRIT_LIT("stop_pulled");
    case WRIT_NOTIFY_STOP_LIFTED:
        return WRIT_LIT("stop_lifted");
    }
    return WRIT_LIT("");
}
