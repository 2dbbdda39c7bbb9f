/* guard_keys.c - fetches each text on a background thread, and posts it to the guard's loop. A text
 * that could not be fetched is reported as well, so that the guard knows how old its texts are. */
#include "gateway/guard/guard_keys.h"

#include "base/text.h"
#include "gateway/io/background.h"
#include "gateway/http/fetch.h"

#define FETCH_MS  3000
#define RETRY_US  200000  /* after the first failure; doubled with each */
#define HURRY_US  1000000 /* between two early fetches */
#define MOMENT_US 1

/* One text. The lock guards all but `place`. */
struct fetched {
    struct writ_guard_place place;
    struct writ_background_job job;
    struct writ_buf text; /* to be posted */
    int64_t tried_us;     /* when the last fetch began; 0: never */
    bool under_way;       /* a fetch is running */
    bool tried;           /* it was fetched, and not posted yet */
    bool got, failing;
};

struct writ_guard_keys {
    struct writ_loop *loop;
    struct writ_log *log;
    struct writ_background *background;
    struct fetched fetched[WRIT_GUARD_KEYS_PLACES];
    writ_guard_keys_told *told;
    void *ctx;
    struct writ_post post;
    bool posted;
};

static struct writ_background_job *
job_of(void *ctx, size_t i)
{
    struct writ_guard_keys *keys = ctx;

    return &keys->fetched[i].job;
}

static bool
is_url(const char *place)
{
    struct writ_view text = writ_view_str(place);

    return writ_view_search(text, WRIT_LIT("://")) < text.len;
}

static WRIT_RESULT
get(const struct writ_guard_place *place, const atomic_bool *stop, struct writ_buf *ret,
    struct writ_err *err)
{
    return is_url(place->place) ? writ_fetch_get(place->place, FETCH_MS, stop, ret, err)
                                : writ_text_file(place->place, place->max, ret, err);
}

/* On the loop: the texts go over to the reader without the lock held. */
static void
tell(struct writ_post *post)
{
    struct writ_guard_keys *keys = post->ctx;
    struct fetched told[WRIT_GUARD_KEYS_PLACES];

    writ_background_lock(keys->background);
    keys->posted = false;
    for (size_t i = 0; i < WRIT_GUARD_KEYS_PLACES; i++) {
        told[i] = keys->fetched[i];
        keys->fetched[i].text = (struct writ_buf){0};
        keys->fetched[i].tried = false;
    }
    writ_background_unlock(keys->background);
    for (size_t i = 0; i < WRIT_GUARD_KEYS_PLACES; i++) {
        if (told[i].tried) {
            keys->told(keys->ctx, i, told[i].got ? &told[i].text : NULL);
        }
        writ_buf_wipe(&told[i].text);
    }
}

/* Under the lock. */
static void
note(struct writ_guard_keys *keys, struct fetched *fetched, bool got, struct writ_buf *text)
{
    fetched->tried = true;
    fetched->under_way = false;
    fetched->got = got;
    fetched->failing = !got;
    if (got) {
        writ_buf_wipe(&fetched->text);
        fetched->text = *text;
        *text = (struct writ_buf){0};
        writ_background_succeeded(keys->background, &fetched->job, fetched->place.every_us);
    } else {
        writ_background_failed(keys->background, &fetched->job, RETRY_US, fetched->place.every_us);
    }
    if (!keys->posted) {
        keys->posted = true;
        writ_loop_answer(keys->loop, &keys->post);
    }
}

static void
work(void *ctx, size_t i, const atomic_bool *stop)
{
    struct writ_guard_keys *keys = ctx;
    struct fetched *fetched = &keys->fetched[i];
    writ_auto_buf text = writ_buf_make(fetched->place.max);
    struct writ_err err = {{0}, 0, 0};
    bool was_failing, got;

    writ_background_lock(keys->background);
    fetched->tried_us = writ_background_now_us(keys->background);
    fetched->under_way = true;
    was_failing = fetched->failing;
    writ_background_unlock(keys->background);
    got = writ_is_ok(get(&fetched->place, stop, &text, &err));
    if (!got && !was_failing && !atomic_load(stop)) {
        WRIT_LOG(keys->log, WRIT_EVENT_GUARD_FETCH_FAILED,
            writ_log_str("place", fetched->place.place), writ_log_str("why", err.text));
    }
    writ_background_lock(keys->background);
    note(keys, fetched, got, &text);
    writ_background_unlock(keys->background);
}

bool
writ_guard_keys_hurry(struct writ_guard_keys *keys, size_t place)
{
    struct fetched *fetched = &keys->fetched[place];
    int64_t now_us;
    bool comes, due;

    writ_background_lock(keys->background);
    now_us = writ_background_now_us(keys->background);
    comes = fetched->under_way || fetched->tried;
    due = !comes && fetched->place.place != NULL && now_us - fetched->tried_us >= HURRY_US;
    if (due) {
        fetched->job.due_us = now_us;
        writ_background_wake(keys->background);
    }
    writ_background_unlock(keys->background);
    return comes || due;
}

static void
keys_freep(struct writ_guard_keys **keys)
{
    writ_guard_keys_free(*keys);
}

WRIT_RESULT
writ_guard_keys_open(struct writ_loop *loop,
    const struct writ_guard_place places[WRIT_GUARD_KEYS_PLACES], struct writ_log *log,
    const struct writ_clock *clock, writ_guard_keys_told *told, void *ctx,
    struct writ_guard_keys **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_guard_keys *, keys_freep) keys = writ_alloc(sizeof *keys);
    struct writ_background_options options = {
        .clock = clock, .n = WRIT_GUARD_KEYS_PLACES, .job = job_of, .work = work, .ctx = keys};

    if (keys == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for keys");
    }
    keys->loop = loop;
    keys->log = log;
    keys->told = told;
    keys->ctx = ctx;
    keys->post = (struct writ_post){.fn = tell, .ctx = keys};
    for (size_t i = 0; i < WRIT_GUARD_KEYS_PLACES; i++) {
        keys->fetched[i].place = places[i];
        keys->fetched[i].job.due_us = places[i].place != NULL ? MOMENT_US : WRIT_BACKGROUND_NEVER;
        if (places[i].place != NULL && is_url(places[i].place)) {
            WRIT_TRY(writ_fetch_check(places[i].place, err));
        }
    }
    WRIT_TRY(writ_background_new(&options, &keys->background, err));
    *ret = WRIT_TAKE(keys);
    return WRIT_DONE;
}

WRIT_RESULT
writ_guard_keys_start(struct writ_guard_keys *keys, struct writ_err *err)
{
    return writ_background_start(keys->background, err);
}

void
writ_guard_keys_free(struct writ_guard_keys *keys)
{
    if (keys == NULL) {
        return;
    }
    writ_background_free(keys->background);
    for (size_t i = 0; i < WRIT_GUARD_KEYS_PLACES; i++) {
        writ_buf_wipe(&keys->fetched[i].text);
    }
    writ_free(keys);
}
