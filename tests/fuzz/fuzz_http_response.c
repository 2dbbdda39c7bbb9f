/* For any bytes of an upstream: cut at any place and paused at any piece, a response ends the same
 * way, with the same head and body, and never with more than the limits allow. */
#include "support/fuzz.h"

#include "gateway/http/http_response.h"

#define BODY_MAX 4096

struct run {
    struct writ_http_response *response;
    struct writ_buf seen; /* the head and the body, as one text */
    bool pause;
    enum writ_http_progress progress;
    enum writ_http_reason reason;
};

static void
on_head(void *ctx, const struct writ_http_head *head)
{
    struct run *run = ctx;

    WRIT_INVARIANT(head->status >= 200 && head->status <= 599);
    WRIT_INVARIANT(head->count <= WRIT_HTTP_FIELDS_MAX);
    writ_buf_u64(&run->seen, head->status);
    for (size_t i = 0; i < head->count; i++) {
        struct writ_view value = head->fields[i].value;
        WRIT_INVARIANT(head->fields[i].name.len > 0);
        for (size_t k = 0; k < value.len; k++) {
            unsigned char c = (unsigned char)value.ptr[k];
            WRIT_INVARIANT((c >= 0x20 || c == '\t') && c != 0x7f);
        }
        writ_buf_byte(&run->seen, '\n');
        writ_buf_put(&run->seen, head->fields[i].name);
        writ_buf_byte(&run->seen, ':');
        writ_buf_put(&run->seen, value);
    }
    writ_buf_str(&run->seen, "\n\n");
    if (run->pause) {
        writ_http_response_pause(run->response);
    }
}

static void
on_body(void *ctx, struct writ_view bytes)
{
    struct run *run = ctx;

    WRIT_INVARIANT(bytes.len > 0 && bytes.len <= BODY_MAX);
    writ_buf_put(&run->seen, bytes);
    if (run->pause) {
        writ_http_response_pause(run->response);
    }
}

static const struct writ_http_response_events events = {on_head, on_body};

static void
run_all(struct run *run, struct writ_view text, size_t step)
{
    const char *detail;

    run->seen = writ_buf_make(1 << 24);
    run->response = writ_http_response_new(&events, run);
    WRIT_INVARIANT(run->response != NULL);
    writ_http_response_begin(run->response, false, BODY_MAX);
    run->progress = WRIT_HTTP_MORE;
    for (size_t at = 0; at < text.len && run->progress != WRIT_HTTP_FAILED; at += step) {
        struct writ_view piece = writ_view_sub(text, at, step);
        do {
            run->progress = writ_http_response_feed(run->response, &piece);
        } while (run->progress == WRIT_HTTP_PAUSED);
    }
    if (run->progress == WRIT_HTTP_MORE) {
        run->progress = writ_http_response_finish(run->response);
    }
    run->reason = writ_http_response_fault(run->response, &detail);
}

static void
run_wipe(struct run *run)
{
    writ_http_response_free(run->response);
    writ_buf_wipe(&run->seen);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run whole = {0}, cut = {0};
    size_t step = size > 0 ? 1 + data[0] % 16 : 1;
    struct writ_view text = writ_view(data + (size > 0), size > 0 ? size - 1 : 0);

    run_all(&whole, text, text.len + 1);
    cut.pause = step % 2 == 0;
    run_all(&cut, text, step);
    WRIT_INVARIANT(whole.progress == WRIT_HTTP_COMPLETE || whole.progress == WRIT_HTTP_FAILED);
    WRIT_INVARIANT(whole.progress == cut.progress);
    if (whole.progress == WRIT_HTTP_COMPLETE) {
        WRIT_INVARIANT(writ_view_equal(writ_buf_view(&whole.seen), writ_buf_view(&cut.seen)));
    } else {
        /* which of two faults is found first may depend on the cut */
        WRIT_INVARIANT(whole.reason > WRIT_HTTP_OK && cut.reason > WRIT_HTTP_OK);
        WRIT_INVARIANT(
            (whole.reason == WRIT_HTTP_CLOSED_EARLY) == (cut.reason == WRIT_HTTP_CLOSED_EARLY));
        WRIT_INVARIANT(!writ_http_response_keeps_open(whole.response));
    }
    run_wipe(&whole);
    run_wipe(&cut);
    return 0;
}
