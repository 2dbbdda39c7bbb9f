/* replay.c - a list of events in one sequence for all streams. The nonce in an id makes ids of
 * another instance invalid. The newest event is always kept. */
#include "gateway/upstream/replay.h"

#include "base/alloc.h"

void
writ_replay_init(struct writ_replay *replay, uint32_t nonce, size_t bytes_max, size_t count_max)
{
    *replay = (struct writ_replay){.nonce = nonce, .bytes_max = bytes_max, .count_max = count_max};
    replay->last = &replay->first;
}

static void
drop_first(struct writ_replay *replay)
{
    struct writ_replay_event *event = replay->first;

    replay->first = event->next;
    if (replay->first == NULL) {
        replay->last = &replay->first;
    }
    replay->bytes -= event->data.len;
    replay->count--;
    writ_buf_wipe(&event->data);
    writ_free(event);
}

void
writ_replay_wipe(struct writ_replay *replay)
{
    while (replay->first != NULL) {
        drop_first(replay);
    }
}

uint64_t
writ_replay_mark(struct writ_replay *replay)
{
    return ++replay->last_seq;
}

uint64_t
writ_replay_add(struct writ_replay *replay, uint64_t stream, struct writ_view data, bool ends)
{
    struct writ_replay_event *event = writ_alloc(sizeof *event);

    if (event == NULL) {
        return 0;
    }
    event->data = writ_buf_make(data.len);
    writ_buf_put(&event->data, data);
    if (!writ_is_ok(writ_buf_check(&event->data, NULL))) {
        writ_buf_wipe(&event->data);
        writ_free(event);
        return 0;
    }
    event->stream = stream;
    event->seq = writ_replay_mark(replay);
    event->ends = ends;
    *replay->last = event;
    replay->last = &event->next;
    replay->bytes += data.len;
    replay->count++;
    while (replay->count > 1 &&
           (replay->count > replay->count_max || replay->bytes > replay->bytes_max)) {
        drop_first(replay);
    }
    return event->seq;
}

const struct writ_replay_event *
writ_replay_next(const struct writ_replay *replay, uint64_t stream, uint64_t after)
{
    const struct writ_replay_event *event = replay->first;

    while (event != NULL && (event->stream != stream || event->seq <= after)) {
        event = event->next;
    }
    return event;
}

void
writ_replay_put_id(
    const struct writ_replay *replay, uint64_t stream, uint64_t seq, struct writ_buf *ret)
{
    writ_buf_u64(ret, replay->nonce);
    writ_buf_byte(ret, '-');
    writ_buf_u64(ret, stream);
    writ_buf_byte(ret, '-');
    writ_buf_u64(ret, seq);
}

static bool
read_number(struct writ_view *text, uint64_t *ret)
{
    size_t end = writ_view_find(*text, '-');
    struct writ_view digits = writ_view_sub(*text, 0, end);
    uint64_t value = 0;

    if (digits.len == 0 || digits.len > 19) {
        return false;
    }
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9') {
            return false;
        }
        value = value * 10 + (uint64_t)(digits.ptr[i] - '0');
    }
    *text = writ_view_sub(*text, end + 1, SIZE_MAX);
    *ret = value;
    return true;
}

bool
writ_replay_read_id(
    const struct writ_replay *replay, struct writ_view id, uint64_t *ret_stream, uint64_t *ret_seq)
{
    uint64_t nonce, stream, seq;

    if (writ_view_has_suffix(id, WRIT_LIT("-")) || !read_number(&id, &nonce) ||
        !read_number(&id, &stream) || !read_number(&id, &seq) || id.len > 0 ||
        nonce != replay->nonce || seq == 0 || seq > replay->last_seq) {
        return false;
    }
    *ret_stream = stream;
    *ret_seq = seq;
    return true;
}
