/* notify.c - job 0 of the thread watches the reviews; each place has a job of its own.
 *
 * Invariants:
 * (1) `lock` guards the queues, the reviews and the end of a watch. It is not held while something
 *     is sent, and taken before the lock of the jobs.
 * (2) Only the thread takes notices out of a queue; others add to its end.
 * (3) One watch is with the ledger at a time; its memory lives until the ledger is closed. */
#include "gateway/notify/notify.h"

#include "gateway/io/background.h"
#include "gateway/notify/notify_send.h"
#include "store/ledger/ledger.h"
#include "store/tables/map.h"

#include <pthread.h>
#include <sys/queue.h>

#define REVIEWS     65536 /* open ones that are found fast; more only make it slower */
#define WATCH_ARENA ((size_t)64 << 20)
#define ROUND_US    INT64_C(30000000) /* of one watch without any change */
#define TICK_US     INT64_C(1000000)  /* between two looks for reviews that expire */
#define US_PER_MIN  INT64_C(60000000)
#define DAY_MIN     1440
#define ID_MAX      80

/* An open review. */
struct known {
    struct writ_map_node by_id;
    TAILQ_ENTRY(known) link;
    struct writ_notice notice; /* without its event */
    uint32_t warned;           /* places that were told of its end, by bit */
    bool seen;                 /* in the present list of all that are open */
};

TAILQ_HEAD(known_list, known);

struct place {
    const struct writ_notify_config *config;
    struct writ_background_job job;
    struct writ_notice queue[WRIT_NOTIFY_QUEUE]; /* a ring */
    size_t first, n;
    uint64_t dropped; /* since the last message */
    uint64_t sent;    /* messages, for their ids */
};

struct writ_notify {
    struct writ_gateway *gateway;
    struct writ_metrics_shard *shard;
    pthread_mutex_t lock;
    bool ending; /* nothing uses `background` any more */
    struct writ_background *background;
    struct writ_background_job watching;
    /* the watch */
    bool asked, answered; /* it is with the ledger; it came back */
    uint64_t at, from;
    struct writ_arena *arena;
    struct writ_entry entry;
    struct writ_map by_id;
    struct known_list known;
    int64_t warned_us; /* the last look for reviews that expire */
    size_t n;
    struct place places[];
};

_Static_assert(WRIT_NOTIFY_MAX <= 32, "a review has a bit for each place");

/* ---- quiet hours */

/* Until when it is quiet; 0: it is not. */
static int64_t
quiet_until_us(const struct writ_notify_config *config, int64_t now_us)
{
    int64_t minute = now_us / US_PER_MIN % DAY_MIN;
    int64_t from = config->quiet_from_min, to = config->quiet_to_min;
    int64_t since = (minute - from + DAY_MIN) % DAY_MIN, length = (to - from + DAY_MIN) % DAY_MIN;

    return since < length ? (now_us / US_PER_MIN + length - since) * US_PER_MIN : 0;
}

/* ---- queues; under the lock */

static struct writ_notice *
queued(struct place *place, size_t i)
{
    return &place->queue[(place->first + i) % WRIT_NOTIFY_QUEUE];
}

static bool
wants(const struct place *place, const struct writ_notice *notice)
{
    const struct writ_views *tenants = &place->config->tenants;
    bool known = tenants->n == 0;

    for (size_t i = 0; i < tenants->n && !known; i++) {
        known = writ_view_equal(tenants->items[i], writ_notice_view(&notice->tenant));
    }
    return known && (place->config->events & (unsigned)notice->event) != 0;
}

/* When the queue is to be sent: in `batch`, and a review not in quiet hours. */
static void
schedule(struct writ_notify *notify, struct place *place, const struct writ_notice *notice)
{
    int64_t wall_us = writ_clock_wall_us(notify->gateway->clock);
    int64_t quiet_us = writ_notice_is_review(notice) ? quiet_until_us(place->config, wall_us) : 0;
    int64_t wait_us = place->config->batch_us;
    int64_t due_us;

    if (quiet_us - wall_us > wait_us) {
        wait_us = quiet_us - wall_us;
    }
    due_us = writ_background_now_us(notify->background) + wait_us;
    writ_background_lock(notify->background);
    if (place->job.failures == 0 && due_us < place->job.due_us) { /* else its next try is set */
        place->job.due_us = due_us;
        writ_background_wake(notify->background);
    }
    writ_background_unlock(notify->background);
}

static void
add(struct writ_notify *notify, struct place *place, const struct writ_notice *notice)
{
    if (!wants(place, notice)) {
        return;
    }
    if (place->n == WRIT_NOTIFY_QUEUE) {
        place->dropped++;
        return;
    }
    *queued(place, place->n++) = *notice;
    schedule(notify, place, notice);
}

void
writ_notify_stop(struct writ_notify *notify, bool pulled, const struct writ_kill *kill)
{
    struct writ_notice notice = {
        .event = pulled ? WRIT_NOTIFY_STOP_PULLED : WRIT_NOTIFY_STOP_LIFTED};

    if (notify == NULL) {
        return;
    }
    notice.at_us = writ_clock_wall_us(notify->gateway->clock);
    writ_notice_set(&notice.id, kill->id);
    writ_notice_set(&notice.what, kill->value);
    writ_notice_set(&notice.kind, writ_kill_by_name(kill->by));
    writ_notice_set(&notice.who, kill->who);
    writ_notice_set(&notice.tenant, kill->tenant);
    (void)pthread_mutex_lock(&notify->lock);
    for (size_t i = 0; !notify->ending && i < notify->n; i++) {
        add(notify, &notify->places[i], &notice);
    }
    (void)pthread_mutex_unlock(&notify->lock);
}

/* ---- reviews; under the lock */

static struct known *
find(struct writ_notify *notify, struct writ_view id)
{
    struct writ_tag tag;

    return writ_is_ok(writ_tag_name(id, &tag, NULL))
               ? WRIT_MAP_OF(writ_map_find(&notify->by_id, tag), struct known, by_id)
               : NULL;
}

static void
forget(struct writ_notify *notify, struct known *known)
{
    writ_map_remove(&notify->by_id, &known->by_id);
    TAILQ_REMOVE(&notify->known, known, link);
    writ_free(known);
}

static void
opened(struct writ_notify *notify, const struct writ_review_told *told)
{
    struct known *known = writ_alloc(sizeof *known);
    struct writ_tag tag;

    if (known == NULL || !writ_is_ok(writ_tag_name(told->review.id, &tag, NULL))) {
        writ_free(known);
        writ_metrics_count(notify->shard, WRIT_COUNTER_NOTICES_DROPPED, 1);
        return;
    }
    *known = (struct known){
        .seen = true, .notice = {.event = WRIT_NOTIFY_REVIEW_OPENED, .until_us = told->until_us}};
    writ_map_add(&notify->by_id, &known->by_id, tag);
    TAILQ_INSERT_TAIL(&notify->known, known, link);
    known->notice.at_us = told->review.opened_us;
    writ_notice_set(&known->notice.id, told->review.id);
    writ_notice_set(&known->notice.what, told->review.name);
    writ_notice_set(&known->notice.who, told->review.agent_id);
    writ_notice_set(&known->notice.tenant, told->review.tenant);
    writ_notice_set_delegates(&known->notice.delegates, &told->review);
    for (size_t i = 0; i < notify->n; i++) {
        add(notify, &notify->places[i], &known->notice);
    }
}

static void
hear(struct writ_notify *notify, const struct writ_review_told *told)
{
    struct known *known = find(notify, told->review.id);

    if (told->state != WRIT_REVIEW_OPEN) {
        if (known != NULL) {
            forget(notify, known);
        }
    } else if (known != NULL) {
        known->seen = true;
    } else {
        opened(notify, told);
    }
}

/* One portion. At the end of a list of all that are open the others are over. */
static void
hear_all(struct writ_notify *notify, const struct writ_entry_review_watch *now)
{
    struct known *known = TAILQ_FIRST(&notify->known), *next;

    for (; known != NULL && now->reset && now->from == 0; known = TAILQ_NEXT(known, link)) {
        known->seen = false;
    }
    for (size_t i = 0; i < now->n; i++) {
        hear(notify, &now->items[i]);
    }
    for (known = TAILQ_FIRST(&notify->known); known != NULL && now->reset && now->next == 0;
         known = next) {
        next = TAILQ_NEXT(known, link);
        if (!known->seen) {
            forget(notify, known);
        }
    }
    notify->at = now->at;
    notify->from = now->next;
}

static void
warn(struct writ_notify *notify, struct known *known, int64_t now_us)
{
    for (size_t i = 0; i < notify->n; i++) {
        struct place *place = &notify->places[i];
        struct writ_notice notice = known->notice;
        int64_t from_us = known->notice.until_us - place->config->expiring_us;

        if (from_us <= known->notice.at_us) {
            known->warned |= UINT32_C(1) << i; /* its first notice says when it expires */
        }
        if (from_us <= now_us && (known->warned & (UINT32_C(1) << i)) == 0) {
            known->warned |= UINT32_C(1) << i;
            notice.event = WRIT_NOTIFY_REVIEW_EXPIRING;
            notice.at_us = now_us;
            add(notify, place, &notice);
        }
    }
}

/* ---- watching */

/* On the thread of the ledger's writer. */
static void
came_back(struct writ_entry *entry)
{
    struct writ_notify *notify = entry->user;

    (void)pthread_mutex_lock(&notify->lock);
    notify->answered = true;
    if (!notify->ending) {
        writ_background_lock(notify->background);
        notify->watching.due_us = writ_background_now_us(notify->background);
        writ_background_wake(notify->background);
        writ_background_unlock(notify->background);
    }
    (void)pthread_mutex_unlock(&notify->lock);
}

/* Not under the lock: the ledger may answer at once. */
static void
ask(struct writ_notify *notify)
{
    struct writ_entry *entry = &notify->entry;

    writ_arena_free(WRIT_TAKE(notify->arena));
    notify->arena = writ_arena_new(WATCH_ARENA);
    if (notify->arena == NULL) {
        return; /* the next tick tries again */
    }
    notify->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_WATCH,
        .done = came_back,
        .user = notify,
        .arena = notify->arena,
        .review_watch = {.since = notify->at,
            .from = notify->from,
            .until_us = writ_clock_wall_us(notify->gateway->clock) + ROUND_US}};
    notify->answered = false;
    notify->asked = true;
    if (!writ_is_ok(writ_ledger_submit(notify->gateway->ledger, &entry, 1))) {
        notify->asked = false;
    }
}

static void
watch(struct writ_notify *notify)
{
    int64_t now_us = writ_clock_wall_us(notify->gateway->clock);
    struct known *known;
    bool idle;

    (void)pthread_mutex_lock(&notify->lock);
    if (notify->asked && notify->answered) {
        if (notify->entry.code == WRIT_OK) {
            hear_all(notify, &notify->entry.review_watch);
        }
        notify->asked = false;
    }
    if (now_us - notify->warned_us >= TICK_US || now_us < notify->warned_us) {
        notify->warned_us = now_us; /* not at each change: it looks at all of them */
        TAILQ_FOREACH(known, &notify->known, link)
        {
            warn(notify, known, now_us);
        }
    }
    idle = !notify->asked;
    writ_background_lock(notify->background);
    writ_background_succeeded(notify->background, &notify->watching, TICK_US);
    writ_background_unlock(notify->background);
    (void)pthread_mutex_unlock(&notify->lock);
    if (idle) {
        ask(notify);
    }
}

/* ---- sending */

/* Whether a notice is still of use, and may be sent now. */
static bool
is_ready(struct writ_notify *notify, const struct writ_notice *notice, bool quiet)
{
    return !writ_notice_is_review(notice) ||
           (!quiet && find(notify, writ_notice_view(&notice->id)) != NULL);
}

/* Moves the notices that are ready into `ret`, drops those of decided reviews, and leaves those
 * that wait for the end of quiet hours. Returns the number in `ret`. */
static size_t
take(struct writ_notify *notify, struct place *place, struct writ_notice *ret)
{
    bool quiet = quiet_until_us(place->config, writ_clock_wall_us(notify->gateway->clock)) != 0;
    size_t taken = 0, kept = 0;

    for (size_t i = 0; i < place->n; i++) {
        const struct writ_notice *notice = queued(place, i);
        if (is_ready(notify, notice, quiet)) {
            ret[taken++] = *notice;
        } else if (quiet && writ_notice_is_review(notice)) {
            *queued(place, kept++) = *notice;
        }
    }
    place->n = kept;
    return taken;
}

/* After a failure: back at the beginning of the queue, as far as there is room. */
static void
give_back(struct place *place, const struct writ_notice *notices, size_t n)
{
    while (n > 0 && place->n < WRIT_NOTIFY_QUEUE) {
        place->first = (place->first + WRIT_NOTIFY_QUEUE - 1) % WRIT_NOTIFY_QUEUE;
        place->queue[place->first] = notices[--n];
        place->n++;
    }
    place->dropped += n;
}

static void
tell_failure(struct writ_notify *notify, const struct place *place, unsigned tries, size_t n,
    const char *why)
{
    bool last = tries >= WRIT_NOTIFY_TRIES;

    writ_metrics_count(notify->shard, WRIT_COUNTER_NOTIFY_FAILURES, 1);
    WRIT_LOG(notify->gateway->log, WRIT_EVENT_NOTIFY_FAILED,
        writ_log_text("to", place->config->name), writ_log_str("why", why),
        writ_log_int("notices", (int64_t)n), writ_log_int("tries", (int64_t)tries),
        writ_log_bool("last", last));
}

static void
tell_dropped(struct writ_notify *notify, struct place *place)
{
    uint64_t dropped;

    (void)pthread_mutex_lock(&notify->lock);
    dropped = place->dropped;
    place->dropped = 0;
    (void)pthread_mutex_unlock(&notify->lock);
    if (dropped > 0) {
        writ_metrics_count(notify->shard, WRIT_COUNTER_NOTICES_DROPPED, dropped);
        WRIT_LOG(notify->gateway->log, WRIT_EVENT_NOTICES_DROPPED,
            writ_log_text("to", place->config->name), writ_log_int("notices", (int64_t)dropped));
    }
}

/* The next time of the place, after a try. Under the lock of the jobs. */
static void
set_next(struct writ_notify *notify, struct place *place, bool sent, int64_t quiet_us)
{
    struct writ_background_job *job = &place->job;

    if (!sent && job->failures + 1 < WRIT_NOTIFY_TRIES) {
        writ_background_failed(
            notify->background, job, WRIT_NOTIFY_RETRY_US, WRIT_NOTIFY_LONGEST_US);
        return;
    }
    job->failures = 0;
    job->due_us = WRIT_BACKGROUND_NEVER;
    if (place->n > 0) {
        job->due_us = writ_background_now_us(notify->background) +
                      (quiet_us > place->config->batch_us ? quiet_us : place->config->batch_us);
    }
}

/* Ends a try: puts the notices back when there is another one. Returns the number of tries. */
static unsigned
settle(struct writ_notify *notify, struct place *place, const struct writ_notice *notices, size_t n,
    bool sent)
{
    int64_t now_us = writ_clock_wall_us(notify->gateway->clock);
    int64_t quiet_us = quiet_until_us(place->config, now_us);
    unsigned tries;

    (void)pthread_mutex_lock(&notify->lock);
    writ_background_lock(notify->background);
    tries = place->job.failures + 1;
    if (!sent && tries < WRIT_NOTIFY_TRIES) {
        give_back(place, notices, n);
    } else if (!sent) {
        place->dropped += n;
    } else {
        place->sent++;
    }
    set_next(notify, place, sent, quiet_us > 0 ? quiet_us - now_us : 0);
    writ_background_unlock(notify->background);
    (void)pthread_mutex_unlock(&notify->lock);
    return tries;
}

static void
send_queue(struct writ_notify *notify, struct place *place, const atomic_bool *stop)
{
    const struct writ_gateway *gateway = notify->gateway;
    const struct writ_config *config = gateway->config;
    struct writ_notice *notices = writ_alloc(WRIT_NOTIFY_QUEUE * sizeof *notices);
    struct writ_err err = {{0}, 0, 0};
    struct writ_notice_message message = {.items = notices,
        .page = config->admin_url.len > 0 ? config->admin_url : gateway->admin_url};
    char memory[ID_MAX];
    struct writ_buf id = writ_buf_over(memory, sizeof memory);
    bool sent = notices != NULL;
    unsigned tries;

    (void)pthread_mutex_lock(&notify->lock);
    message.n = notices != NULL ? take(notify, place, notices) : 0;
    (void)pthread_mutex_unlock(&notify->lock);
    if (message.n > 0) {
        writ_buf_fmt(
            &id, "writ-%lld-%llu", (long long)notices[0].at_us, (unsigned long long)place->sent);
        sent = writ_is_ok(writ_notify_send(
            place->config, &message, writ_buf_view(&id), gateway->clock, stop, &err));
    }
    tries = settle(notify, place, notices, message.n, sent);
    if (!sent && !atomic_load(stop)) {
        tell_failure(notify, place, tries, message.n, err.text);
    } else if (message.n > 0) {
        writ_metrics_count(notify->shard, WRIT_COUNTER_NOTIFIED, 1);
    }
    tell_dropped(notify, place);
    writ_free(notices);
}

static void
work(void *ctx, size_t i, const atomic_bool *stop)
{
    struct writ_notify *notify = ctx;

    if (i == 0) {
        watch(notify);
    } else {
        send_queue(notify, &notify->places[i - 1], stop);
    }
}

static struct writ_background_job *
job_of(void *ctx, size_t i)
{
    struct writ_notify *notify = ctx;

    return i == 0 ? &notify->watching : &notify->places[i - 1].job;
}

/* ---- opening and closing */

static void
notify_freep(struct writ_notify **notify)
{
    writ_notify_end(*notify);
    writ_notify_free(*notify);
}

WRIT_RESULT
writ_notify_open(struct writ_gateway *gateway, struct writ_metrics_shard *shard,
    struct writ_notify **ret, struct writ_err *err)
{
    size_t n = gateway->config->notify_n;
    WRIT_AUTO(struct writ_notify *, notify_freep) notify = NULL;
    struct writ_background_options options = {
        .clock = gateway->clock, .n = n + 1, .job = job_of, .work = work};

    if (n == 0) {
        return WRIT_DONE;
    }
    notify = writ_alloc(sizeof *notify + n * sizeof notify->places[0]);
    if (notify == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for notify");
    }
    notify->gateway = gateway;
    notify->shard = shard;
    (void)pthread_mutex_init(&notify->lock, NULL);
    TAILQ_INIT(&notify->known);
    WRIT_TRY(writ_map_init(&notify->by_id, REVIEWS, err));
    for (; notify->n < n; notify->n++) {
        struct place *place = &notify->places[notify->n];

        place->config = &gateway->config->notify[notify->n];
        place->job.due_us = WRIT_BACKGROUND_NEVER;
        WRIT_TRY(writ_notify_send_check(place->config, err));
    }
    options.ctx = notify;
    WRIT_TRY(writ_background_new(&options, &notify->background, err));
    notify->watching.due_us = writ_background_now_us(notify->background);
    WRIT_TRY(writ_background_start(notify->background, err));
    *ret = WRIT_TAKE(notify);
    return WRIT_DONE;
}

void
writ_notify_end(struct writ_notify *notify)
{
    if (notify == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&notify->lock);
    notify->ending = true;
    (void)pthread_mutex_unlock(&notify->lock);
    writ_background_free(notify->background); /* its thread uses the pointer until it ends */
    notify->background = NULL;
}

void
writ_notify_free(struct writ_notify *notify)
{
    if (notify == NULL) {
        return;
    }
    writ_arena_free(notify->arena);
    while (!TAILQ_EMPTY(&notify->known)) {
        forget(notify, TAILQ_FIRST(&notify->known));
    }
    writ_map_wipe(&notify->by_id);
    (void)pthread_mutex_destroy(&notify->lock);
    writ_free(notify);
}
