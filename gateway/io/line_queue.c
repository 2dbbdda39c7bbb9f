/* line_queue.c - writes lines at once with writev and queues what the pipe does not take.
 *
 * Invariant: the items are lines of which the pipe took nothing, except that the first may have
 * been begun. Their tickets grow. */
#include "gateway/io/line_queue.h"

#include <errno.h>
#include <sys/uio.h>

#define PIECES_MAX 64 /* lines of one writev */

struct writ_line_item {
    TAILQ_ENTRY(writ_line_item) link;
    uint64_t ticket;
    size_t len, at;
    char bytes[]; /* the line and its LF */
};

void
writ_line_queue_init(struct writ_line_queue *queue, size_t max_bytes)
{
    *queue = (struct writ_line_queue){.max_bytes = max_bytes, .next_ticket = 1};
    TAILQ_INIT(&queue->items);
}

bool
writ_line_queue_takes(struct writ_view line)
{
    return line.len > 0 && writ_view_find(line, '\n') == line.len &&
           writ_view_find(line, '\r') == line.len && writ_view_find(line, '\0') == line.len;
}

static void
drop(struct writ_line_queue *queue, struct writ_line_item *item)
{
    TAILQ_REMOVE(&queue->items, item, link);
    queue->bytes -= item->len - item->at;
    writ_free(item);
}

/* ---- sending */

/* as much as the pipe takes at once, or 0 */
static size_t
write_now(const struct writ_line_queue *queue, int fd, struct writ_view line)
{
    struct iovec pieces[2] = {{(char *)line.ptr, line.len}, {(char *)"\n", 1}};
    ssize_t written = -1;

    if (TAILQ_EMPTY(&queue->items)) {
        written = writev(fd, pieces, 2);
    }
    return written > 0 ? (size_t)written : 0; /* an event reports a broken pipe */
}

static struct writ_line_item *
item_new(struct writ_view line, uint64_t ticket, size_t written)
{
    struct writ_line_item *item = writ_alloc(sizeof *item + line.len + 1);
    struct writ_buf bytes;

    if (item != NULL) {
        bytes = (struct writ_buf){.ptr = item->bytes, .cap = line.len + 1, .max = line.len + 1};
        writ_buf_put(&bytes, line);
        writ_buf_byte(&bytes, '\n');
        item->ticket = ticket;
        item->len = line.len + 1;
        item->at = written;
    }
    return item;
}

WRIT_RESULT
writ_line_queue_send(struct writ_line_queue *queue, int fd, struct writ_view line,
    uint64_t *ret_ticket, bool *ret_broken)
{
    struct writ_line_item *item;
    size_t written;

    if (line.len >= queue->max_bytes) {
        return (writ_result){WRIT_E_LIMIT};
    }
    if (line.len + 1 > queue->max_bytes - queue->bytes) {
        return (writ_result){WRIT_E_BUSY};
    }
    written = write_now(queue, fd, line);
    if (written <= line.len) {
        item = item_new(line, queue->next_ticket, written);
        if (item == NULL && written == 0) {
            return (writ_result){WRIT_E_NOMEM};
        }
        if (item != NULL) {
            queue->bytes += item->len - written;
            TAILQ_INSERT_TAIL(&queue->items, item, link);
        }
        *ret_broken = item == NULL;
    }
    *ret_ticket = queue->next_ticket++;
    return WRIT_DONE;
}

/* removes the written bytes from the queue */
static void
advance(struct writ_line_queue *queue, size_t written)
{
    while (written > 0) {
        struct writ_line_item *item = TAILQ_FIRST(&queue->items);
        size_t left = item->len - item->at, took = written < left ? written : left;

        item->at += took;
        written -= took;
        queue->bytes -= took;
        if (item->at == item->len) {
            drop(queue, item);
        }
    }
}

bool
writ_line_queue_flush(struct writ_line_queue *queue, int fd)
{
    while (!TAILQ_EMPTY(&queue->items)) {
        struct iovec pieces[PIECES_MAX];
        struct writ_line_item *item;
        int count = 0;
        ssize_t written;

        TAILQ_FOREACH(item, &queue->items, link)
        {
            if (count == PIECES_MAX) {
                break;
            }
            pieces[count++] = (struct iovec){item->bytes + item->at, item->len - item->at};
        }
        written = writev(fd, pieces, count);
        if (written < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        advance(queue, (size_t)written);
    }
    return true;
}

/* ---- what was not sent */

bool
writ_line_queue_recall(struct writ_line_queue *queue, uint64_t ticket)
{
    struct writ_line_item *item;

    TAILQ_FOREACH(item, &queue->items, link)
    {
        if (item->ticket == ticket) {
            break;
        }
    }
    if (item == NULL || item->at > 0) {
        return false;
    }
    drop(queue, item);
    return true;
}

uint64_t
writ_line_queue_first_unsent(const struct writ_line_queue *queue)
{
    const struct writ_line_item *item = TAILQ_FIRST(&queue->items);

    if (item != NULL && item->at > 0) {
        item = TAILQ_NEXT(item, link);
    }
    return item != NULL ? item->ticket : queue->next_ticket;
}

void
writ_line_queue_clear(struct writ_line_queue *queue)
{
    while (!TAILQ_EMPTY(&queue->items)) {
        drop(queue, TAILQ_FIRST(&queue->items));
    }
}
