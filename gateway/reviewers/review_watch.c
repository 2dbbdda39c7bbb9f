/* One entry of the ledger, again and again; it comes back when a review has changed. */
#include "gateway/reviewers/review_watch.h"

#define WATCH_ARENA ((size_t)64 << 20)
#define ROUND_US    INT64_C(30000000) /* of one watch without any change */
#define AGAIN_US    INT64_C(1000000)  /* after the ledger has failed */

static void ask(struct writ_review_watch *watch);

static void
ask_later(struct writ_review_watch *watch)
{
    struct writ_loop *loop = watch->worker->loop;

    writ_loop_timer_set(loop, &watch->again, writ_loop_now_us(loop) + AGAIN_US);
}

static void
changed(struct writ_post *post)
{
    struct writ_review_watch *watch = post->ctx;

    if (watch->entry.code == WRIT_OK && watch->changed(watch->ctx, &watch->entry.review_watch)) {
        watch->at = watch->entry.review_watch.at;
        watch->from = watch->entry.review_watch.next;
        ask(watch);
    } else {
        ask_later(watch);
    }
}

static void
watch_done(struct writ_entry *entry)
{
    struct writ_review_watch *watch = entry->user;

    writ_loop_answer(watch->worker->loop, &watch->post);
}

static void
ask(struct writ_review_watch *watch)
{
    int64_t now_us = writ_clock_wall_us(watch->worker->gateway->clock);

    writ_arena_free(WRIT_TAKE(watch->arena));
    watch->arena = writ_arena_new(WATCH_ARENA);
    if (watch->arena == NULL) {
        ask_later(watch);
        return;
    }
    watch->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_WATCH,
        .done = watch_done,
        .user = watch,
        .arena = watch->arena,
        .review_watch = {.since = watch->at, .from = watch->from, .until_us = now_us + ROUND_US}};
    watch->post = (struct writ_post){.fn = changed, .ctx = watch};
    writ_worker_submit(watch->worker, &watch->entry);
}

static void
ask_again(struct writ_timer *timer)
{
    ask(timer->ctx);
}

static void
begin(struct writ_post *post)
{
    ask(post->ctx);
}

WRIT_RESULT
writ_review_watch_start(struct writ_review_watch *watch)
{
    watch->again = (struct writ_timer){.fn = ask_again, .ctx = watch};
    watch->post = (struct writ_post){.fn = begin, .ctx = watch};
    return writ_loop_post(watch->worker->loop, &watch->post);
}

void
writ_review_watch_end(struct writ_review_watch *watch)
{
    writ_loop_timer_cancel(&watch->again);
}

void
writ_review_watch_wipe(struct writ_review_watch *watch)
{
    writ_arena_free(WRIT_TAKE(watch->arena));
}
