/* pending_responses.c - a hash table of the answers that calls await or have had.
 *
 * Invariants, under `lock`:
 * (1) Every entry is in its bucket's list; those that are not AWAITED are in `kept` as well, the
 *     oldest first, at most WRIT_PENDING_RESPONSES_KEPT_MAX of them.
 * (2) The call of an AWAITED entry lives: it settles its key before it ends. */
#include "gateway/state/pending_responses.h"

#include "gateway/state/session.h"

#include "evidence/json/jcs.h"

#include <pthread.h>
#include <sys/queue.h>

#define BUCKETS 4096u /* a power of two */
#define KEY_MAX 4096u /* bytes of the source of a key */

struct entry {
    struct writ_digest key;
    struct writ_pending_responses_found found;
    struct writ_loop *loop;
    LIST_ENTRY(entry) in_bucket;
    TAILQ_ENTRY(entry) in_kept;
};

struct writ_pending_responses {
    pthread_mutex_t lock;
    LIST_HEAD(, entry) buckets[BUCKETS];
    TAILQ_HEAD(, entry) kept;
    size_t kept_n;
};

writ_result
writ_pending_responses_new(struct writ_pending_responses **ret, struct writ_err *err)
{
    struct writ_pending_responses *answers = writ_alloc(sizeof *answers);

    if (answers == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the table of answers");
    }
    (void)pthread_mutex_init(&answers->lock, NULL);
    TAILQ_INIT(&answers->kept);
    *ret = answers;
    return WRIT_DONE;
}

void
writ_pending_responses_free(struct writ_pending_responses *answers)
{
    struct entry *entry;

    if (answers == NULL) {
        return;
    }
    for (size_t i = 0; i < BUCKETS; i++) {
        while ((entry = LIST_FIRST(&answers->buckets[i])) != NULL) {
            LIST_REMOVE(entry, in_bucket);
            writ_free(entry);
        }
    }
    (void)pthread_mutex_destroy(&answers->lock);
    writ_free(answers);
}

/* `what` separates ids and tokens: no JSON text begins like it. */
static writ_result
make_key(const struct writ_session *session, struct writ_view upstream, const char *what,
    const struct writ_json *value, struct writ_digest *ret)
{
    writ_auto_buf text = writ_buf_make(KEY_MAX);

    writ_buf_str(&text, session->id);
    writ_buf_byte(&text, ' ');
    writ_buf_put(&text, upstream);
    writ_buf_str(&text, what);
    WRIT_TRY(writ_jcs_put(&text, value, NULL));
    WRIT_TRY(writ_buf_check(&text, NULL));
    return writ_digest_bytes(writ_buf_view(&text), ret, NULL);
}

writ_result
writ_pending_responses_key(const struct writ_session *session, struct writ_view upstream,
    const struct writ_json *id, struct writ_digest *ret)
{
    return make_key(session, upstream, " ", id, ret);
}

writ_result
writ_pending_responses_progress_key(const struct writ_session *session, struct writ_view upstream,
    const struct writ_json *token, struct writ_digest *ret)
{
    return make_key(session, upstream, " progress ", token, ret);
}

/* ---- under the lock */

static size_t
bucket_of(const struct writ_digest *key)
{
    return ((unsigned)key->bytes[0] << 8 | key->bytes[1]) & (BUCKETS - 1);
}

static struct entry *
lookup(struct writ_pending_responses *answers, const struct writ_digest *key)
{
    struct entry *entry;

    LIST_FOREACH(entry, &answers->buckets[bucket_of(key)], in_bucket)
    {
        if (writ_digest_equal(&entry->key, key)) {
            return entry;
        }
    }
    return NULL;
}

static void
unkeep(struct writ_pending_responses *answers, struct entry *entry)
{
    if (entry->found.state != WRIT_PENDING_RESPONSES_AWAITED) {
        TAILQ_REMOVE(&answers->kept, entry, in_kept);
        answers->kept_n--;
    }
}

static void
keep(struct writ_pending_responses *answers, struct entry *entry)
{
    struct entry *oldest = TAILQ_FIRST(&answers->kept);

    if (answers->kept_n == WRIT_PENDING_RESPONSES_KEPT_MAX) {
        unkeep(answers, oldest);
        LIST_REMOVE(oldest, in_bucket);
        writ_free(oldest);
    }
    TAILQ_INSERT_TAIL(&answers->kept, entry, in_kept); /* keeps (1) */
    answers->kept_n++;
}

static void
settle(struct writ_pending_responses *answers, struct entry *entry, const struct writ_digest *shown)
{
    unkeep(answers, entry);
    entry->found = (struct writ_pending_responses_found){.state = WRIT_PENDING_RESPONSES_SETTLED};
    if (shown != NULL) {
        entry->found.shown = *shown;
    }
    keep(answers, entry);
}

static writ_result
add(struct writ_pending_responses *answers, const struct writ_digest *key,
    const struct writ_pending_responses_found *found, struct writ_loop *loop)
{
    struct entry *entry = writ_alloc(sizeof *entry);

    if (entry == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    entry->key = *key;
    entry->loop = loop;
    entry->found = *found;
    LIST_INSERT_HEAD(&answers->buckets[bucket_of(key)], entry, in_bucket);
    if (found->state != WRIT_PENDING_RESPONSES_AWAITED) {
        keep(answers, entry);
    }
    return WRIT_DONE;
}

/* ---- any thread */

static writ_result
note(struct writ_pending_responses *answers, const struct writ_digest *key,
    const struct writ_pending_responses_found *found, struct writ_loop *loop)
{
    struct entry *entry;
    writ_result r = WRIT_DONE;

    (void)pthread_mutex_lock(&answers->lock);
    entry = lookup(answers, key);
    if (entry == NULL) {
        r = add(answers, key, found, loop);
    } else if (found->state != WRIT_PENDING_RESPONSES_FREE) {
        settle(answers, entry, NULL); /* keeps (2): neither is found any more */
    }
    (void)pthread_mutex_unlock(&answers->lock);
    return r;
}

writ_result
writ_pending_responses_note(struct writ_pending_responses *answers, const struct writ_digest *key,
    struct writ_request *call, struct writ_loop *loop)
{
    const struct writ_pending_responses_found found = {
        .state = call != NULL ? WRIT_PENDING_RESPONSES_AWAITED : WRIT_PENDING_RESPONSES_FREE,
        .call = call};

    return note(answers, key, &found, loop);
}

writ_result
writ_pending_responses_bar(struct writ_pending_responses *answers, const struct writ_digest *key)
{
    const struct writ_pending_responses_found found = {.state = WRIT_PENDING_RESPONSES_SETTLED};

    return note(answers, key, &found, NULL);
}

writ_result
writ_pending_responses_note_task(struct writ_pending_responses *answers,
    const struct writ_digest *key, const struct writ_digest *task, enum writ_mcp_method method)
{
    const struct writ_pending_responses_found found = {
        .state = WRIT_PENDING_RESPONSES_TASK, .task = *task, .method = method};

    return note(answers, key, &found, NULL);
}

writ_result
writ_pending_responses_note_progress(
    struct writ_pending_responses *answers, const struct writ_digest *key, double moved)
{
    const struct writ_pending_responses_found found = {
        .state = WRIT_PENDING_RESPONSES_PROGRESS, .moved = moved};
    struct entry *entry;
    writ_result r = WRIT_DONE;

    (void)pthread_mutex_lock(&answers->lock);
    entry = lookup(answers, key);
    if (entry != NULL) {
        entry->found = found;
    } else if (moved > 0) {
        r = add(answers, key, &found, NULL);
    }
    (void)pthread_mutex_unlock(&answers->lock);
    return r;
}

void
writ_pending_responses_settle(struct writ_pending_responses *answers, const struct writ_digest *key,
    const struct writ_request *call, const struct writ_digest *shown)
{
    struct entry *entry;

    (void)pthread_mutex_lock(&answers->lock);
    entry = lookup(answers, key);
    if (entry != NULL && entry->found.state == WRIT_PENDING_RESPONSES_AWAITED &&
        entry->found.call == call) {
        settle(answers, entry, shown);
    }
    (void)pthread_mutex_unlock(&answers->lock);
}

struct writ_pending_responses_found
writ_pending_responses_find(struct writ_pending_responses *answers, const struct writ_digest *key)
{
    struct writ_pending_responses_found found = {.state = WRIT_PENDING_RESPONSES_UNKNOWN};
    const struct entry *entry;

    (void)pthread_mutex_lock(&answers->lock);
    entry = lookup(answers, key);
    if (entry != NULL) {
        found = entry->found;
    }
    (void)pthread_mutex_unlock(&answers->lock);
    return found;
}

bool
writ_pending_responses_carry(struct writ_pending_responses *answers, struct writ_handover *handover)
{
    const struct entry *entry;
    bool carried = false;

    (void)pthread_mutex_lock(&answers->lock);
    entry = lookup(answers, &handover->key);
    if (entry != NULL && entry->found.state == WRIT_PENDING_RESPONSES_AWAITED) {
        /* one for each open stream: their number is bounded */
        writ_loop_answer(entry->loop, &handover->post);
        carried = true;
    }
    (void)pthread_mutex_unlock(&answers->lock);
    return carried;
}
