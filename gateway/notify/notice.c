/* notice.c - a name is cut at a character, and marked before it is cut, so that no mark is
 * missing. */
#include "gateway/notify/notice.h"

#include "base/hidden.h"
#include "base/utf8.h"

#define MARKED_MAX 65536
#define MORE_MAX   32 /* bytes of ", and 63 more" */

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

void
writ_notice_set_delegates(struct writ_notice_text *ret, const struct writ_review *review)
{
    writ_auto_buf text = writ_buf_make(MARKED_MAX);
    size_t more = 0;

    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_review_voter *voter = &review->voters[i];
        writ_auto_buf pair = writ_buf_make(MARKED_MAX);

        if (voter->delegate.len == 0 || voter->revoked) {
            continue;
        }
        writ_buf_str(&pair, text.len > 0 ? ", " : "");
        (void)writ_hidden_mark_text(&pair, voter->delegate);
        writ_buf_str(&pair, " for ");
        (void)writ_hidden_mark_text(&pair, voter->id);
        if (more > 0 || text.len + pair.len + MORE_MAX > WRIT_NOTICE_TEXT_MAX) {
            more++;
        } else {
            writ_buf_put(&text, writ_buf_view(&pair));
        }
    }
    if (more > 0) {
        writ_buf_fmt(&text, "%s%zu more", text.len > 0 ? ", and " : "", more);
    }
    writ_notice_set(ret, writ_buf_view(&text));
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
