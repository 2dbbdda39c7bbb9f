/* session.c - a hash table of sessions, counted by holders.
 *
 * Invariants:
 * (1) A session in the table is held once by the table; it is freed when the last hold is dropped.
 * (2) After it was added, only the atomic members of a session change. The memory that they point
 *     to is complete before it is published, and is freed with the session.
 * (3) `lock` guards the table's chains, count and shares, and nothing else. */
#include "gateway/state/session.h"

#include "gateway/mcp/abilities.h"

#include "base/id.h"
#include "base/text.h"
#include "evidence/json/json.h"
#include "evidence/json/write.h"
#include "store/ledger/ledger.h"

#include <pthread.h>

#define BUCKETS       4096 /* a power of two */
#define SESSION_ARENA 65536
#define BOUNDARY_TEXT (sizeof "session:" - 1 + WRIT_ID_TEXT)

struct writ_sessions {
    pthread_mutex_t lock;
    struct writ_session *buckets[BUCKETS];
    size_t count, max;
    struct writ_shares shares;
    int64_t idle_us;
};

static struct writ_session **
bucket_of(struct writ_sessions *sessions, const struct writ_digest *hash)
{
    unsigned index = (unsigned)hash->bytes[0] << 8 | hash->bytes[1];

    return &sessions->buckets[index & (BUCKETS - 1)];
}

writ_result
writ_sessions_new(size_t max, int64_t idle_us, struct writ_sessions **ret, struct writ_err *err)
{
    struct writ_sessions *sessions = writ_alloc(sizeof *sessions);

    if (sessions == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the session table");
    }
    writ_result shared = writ_shares_init(&sessions->shares, max, err);
    if (!writ_is_ok(shared)) {
        writ_free(sessions);
        return shared;
    }
    (void)pthread_mutex_init(&sessions->lock, NULL);
    sessions->max = max;
    sessions->idle_us = idle_us;
    *ret = sessions;
    return WRIT_DONE;
}

/* Under the lock: unlinks it, and returns the table's hold to the caller. */
static void
unlink_session(struct writ_sessions *sessions, struct writ_session **link)
{
    struct writ_session *session = *link;

    *link = session->next;
    session->next = NULL;
    sessions->count--;
    writ_shares_release(&sessions->shares, &session->charge);
}

void
writ_sessions_divide(
    struct writ_sessions *sessions, unsigned agent_percent, unsigned tenant_percent)
{
    writ_shares_divide(&sessions->shares, sessions->max, agent_percent, tenant_percent);
}

void
writ_sessions_free(struct writ_sessions *sessions)
{
    if (sessions == NULL) {
        return;
    }
    for (size_t i = 0; i < BUCKETS; i++) {
        while (sessions->buckets[i] != NULL) {
            struct writ_session *first = sessions->buckets[i];
            unlink_session(sessions, &sessions->buckets[i]);
            writ_session_drop(first);
        }
    }
    writ_shares_wipe(&sessions->shares);
    (void)pthread_mutex_destroy(&sessions->lock);
    writ_free(sessions);
}

static void
session_freep(struct writ_session **session)
{
    writ_session_drop(*session);
}

static writ_result
session_alloc(struct writ_session **ret, struct writ_err *err)
{
    struct writ_session *session = writ_alloc(sizeof *session);

    if (session == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a session");
    }
    session->arena = writ_arena_new_small(SESSION_ARENA);
    if (session->arena == NULL) {
        writ_free(session);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a session");
    }
    atomic_init(&session->holders, 1);
    writ_session_calls_init(&session->calls);
    *ret = session;
    return WRIT_DONE;
}

static writ_result
copy_into(struct writ_session *session, struct writ_view from, struct writ_view *ret,
    struct writ_err *err)
{
    struct writ_view copy = writ_view_copy(from, session->arena);

    if (copy.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a session");
    }
    *ret = copy;
    return WRIT_DONE;
}

static writ_result
session_name(struct writ_session *session, const struct writ_clock *clock, struct writ_err *err)
{
    unsigned char random[WRIT_SESSION_ID_BYTES];
    char uuid[WRIT_ID_TEXT];
    writ_auto_buf text = writ_buf_make(WRIT_SESSION_ID_TEXT + BOUNDARY_TEXT);
    struct writ_view id;

    WRIT_TRY(writ_random(random, sizeof random, err));
    WRIT_TRY(writ_id_new(clock, uuid, err));
    writ_base64url_put(&text, writ_view(random, sizeof random));
    WRIT_TRY(writ_buf_check(&text, err));
    id = writ_buf_view(&text);
    WRIT_INVARIANT(id.len == WRIT_SESSION_ID_TEXT - 1);
    for (size_t i = 0; i < id.len; i++) {
        session->id[i] = id.ptr[i]; /* NOLINT(clang-analyzer-core.NullDereference): it was made */
    }
    WRIT_TRY(writ_session_hash(id, &session->hash, err));

    writ_buf_clear(&text);
    writ_buf_str(&text, "session:");
    writ_buf_str(&text, uuid);
    WRIT_TRY(writ_buf_check(&text, err));
    return copy_into(session, writ_buf_view(&text), &session->boundary_id, err);
}

writ_result
writ_session_new(const struct writ_agent *agent, struct writ_view endpoint,
    const struct writ_clock *clock, struct writ_session **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_session *, session_freep) session = NULL;

    WRIT_TRY(session_alloc(&session, err));
    WRIT_TRY(session_name(session, clock, err));
    WRIT_TRY(copy_into(session, agent->tenant, &session->tenant, err));
    WRIT_TRY(copy_into(session, agent->id, &session->agent_id, err));
    WRIT_TRY(copy_into(session, endpoint, &session->endpoint, err));
    session->created_us = writ_clock_wall_us(clock);
    *ret = WRIT_TAKE(session);
    return WRIT_DONE;
}

/* Under the lock. */
static struct writ_session *
lookup(struct writ_sessions *sessions, const struct writ_digest *hash)
{
    struct writ_session *session = *bucket_of(sessions, hash);

    while (session != NULL && !writ_digest_equal(&session->hash, hash)) {
        session = session->next;
    }
    return session;
}

/* Under the lock. */
static enum writ_reason
crowded(const struct writ_sessions *sessions, struct writ_view tenant, struct writ_view agent_id)
{
    if (sessions->count >= sessions->max) {
        return WRIT_REASON_OVERLOADED;
    }
    return writ_shares_have_room(&sessions->shares, tenant, agent_id) ? WRIT_REASON_NONE
                                                                      : WRIT_REASON_SHARE_EXCEEDED;
}

enum writ_reason
writ_sessions_crowded(struct writ_sessions *sessions, const struct writ_agent *agent)
{
    enum writ_reason reason;

    (void)pthread_mutex_lock(&sessions->lock);
    reason = crowded(sessions, agent->tenant, agent->id);
    (void)pthread_mutex_unlock(&sessions->lock);
    return reason;
}

/* Under the lock: removes the session of that hash, which the caller drops; NULL: there is none. */
static struct writ_session *
take(struct writ_sessions *sessions, const struct writ_digest *hash)
{
    struct writ_session **link = bucket_of(sessions, hash), *session;

    while (*link != NULL && !writ_digest_equal(&(*link)->hash, hash)) {
        link = &(*link)->next;
    }
    session = *link;
    if (session != NULL) {
        unlink_session(sessions, link);
    }
    return session;
}

/* Under the lock: the session of that hash, held, and marked as used; NULL: there is none, or it
 * was unused for too long, and the next sweep removes it. */
static struct writ_session *
use(struct writ_sessions *sessions, const struct writ_digest *hash, int64_t now_us)
{
    struct writ_session *session = lookup(sessions, hash);

    if (session == NULL || now_us - atomic_load(&session->seen_us) >= sessions->idle_us) {
        return NULL;
    }
    (void)atomic_fetch_add(&session->holders, 1);
    atomic_store(&session->seen_us, now_us);
    return session;
}

/* Under the lock. */
static WRIT_RESULT
add(struct writ_sessions *sessions, struct writ_session *session, int64_t now_us)
{
    struct writ_session **bucket = bucket_of(sessions, &session->hash);

    if (crowded(sessions, session->tenant, session->agent_id) != WRIT_REASON_NONE) {
        return (writ_result){WRIT_E_LIMIT};
    }
    WRIT_TRY(writ_shares_charge(
        &sessions->shares, session->tenant, session->agent_id, &session->charge, NULL));
    atomic_store(&session->seen_us, now_us);
    atomic_store(&session->looked_us, now_us);
    (void)atomic_fetch_add(&session->holders, 1); /* keeps (1) */
    session->next = *bucket;
    *bucket = session;
    sessions->count++;
    return WRIT_DONE;
}

writ_result
writ_sessions_add(struct writ_sessions *sessions, struct writ_session **session, int64_t now_us)
{
    struct writ_session *idle, *present;
    writ_result result = WRIT_DONE;

    (void)pthread_mutex_lock(&sessions->lock);
    present = use(sessions, &(*session)->hash, now_us);
    idle = present == NULL ? take(sessions, &(*session)->hash) : NULL;
    if (present == NULL) {
        result = add(sessions, *session, now_us);
    }
    (void)pthread_mutex_unlock(&sessions->lock);
    writ_session_drop(idle);
    if (present != NULL) {
        writ_session_drop(*session);
        *session = present;
    }
    return result;
}

struct writ_session *
writ_sessions_find(struct writ_sessions *sessions, struct writ_view id, int64_t now_us)
{
    struct writ_digest hash;
    struct writ_session *session;

    if (!writ_is_ok(writ_session_hash(id, &hash, NULL))) {
        return NULL;
    }
    (void)pthread_mutex_lock(&sessions->lock);
    session = use(sessions, &hash, now_us);
    (void)pthread_mutex_unlock(&sessions->lock);
    return session;
}

void
writ_sessions_remove(struct writ_sessions *sessions, const struct writ_digest *hash)
{
    struct writ_session *found;

    (void)pthread_mutex_lock(&sessions->lock);
    found = take(sessions, hash);
    (void)pthread_mutex_unlock(&sessions->lock);
    writ_session_drop(found);
}

size_t
writ_sessions_count(struct writ_sessions *sessions)
{
    size_t count;

    (void)pthread_mutex_lock(&sessions->lock);
    count = sessions->count;
    (void)pthread_mutex_unlock(&sessions->lock);
    return count;
}

size_t
writ_sessions_sweep(struct writ_sessions *sessions, int64_t now_us, size_t *ret_left)
{
    struct writ_session *expired = NULL;
    size_t swept = 0;

    (void)pthread_mutex_lock(&sessions->lock);
    for (size_t i = 0; i < BUCKETS; i++) {
        struct writ_session **link = &sessions->buckets[i];
        while (*link != NULL) {
            struct writ_session *session = *link;
            if (now_us - atomic_load(&session->seen_us) < sessions->idle_us) {
                link = &session->next;
                continue;
            }
            unlink_session(sessions, link);
            session->next = expired;
            expired = session;
        }
    }
    *ret_left = sessions->count;
    (void)pthread_mutex_unlock(&sessions->lock);

    while (expired != NULL) {
        struct writ_session *next = expired->next;
        expired->next = NULL;
        writ_session_drop(expired);
        expired = next;
        swept++;
    }
    return swept;
}

static void
free_environment(struct writ_session_id *environment)
{
    if (environment != NULL) {
        writ_wipe(environment->bytes, environment->len);
        writ_free(environment);
    }
}

void
writ_session_drop(struct writ_session *session)
{
    if (session != NULL && atomic_fetch_sub(&session->holders, 1) == 1) {
        struct writ_session_id *id = atomic_load(&session->ids);
        while (id != NULL) {
            struct writ_session_id *before = id->before;
            writ_free(id);
            id = before;
        }
        free_environment(atomic_load(&session->environment));
        writ_session_calls_wipe(&session->calls);
        writ_arena_free(session->arena);
        writ_wipe(session->id, sizeof session->id);
        writ_free(session);
    }
}

writ_result
writ_session_make_room(struct writ_session *session, size_t n)
{
    struct writ_session_upstream *upstreams =
        writ_arena_get(session->arena, (n + 1) * sizeof *upstreams);

    if (upstreams == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i <= n; i++) {
        upstreams[i] = (struct writ_session_upstream){.missed = 0};
    }
    session->upstreams = upstreams;
    session->upstreams_n = 0;
    return WRIT_DONE;
}

bool
writ_session_is_of(const struct writ_session *session, const struct writ_agent *agent)
{
    return writ_view_equal(session->tenant, agent->tenant) &&
           writ_view_equal(session->agent_id, agent->id);
}

/* keeps (2) */
static const struct writ_session_id *
make_id(struct writ_session *session, struct writ_view text)
{
    struct writ_session_id *id = writ_alloc(sizeof *id + text.len + 1);

    if (id == NULL) {
        return NULL;
    }
    id->len = text.len;
    for (size_t i = 0; i < text.len; i++) {
        id->bytes[i] = text.ptr[i];
    }
    id->before = atomic_load(&session->ids);
    while (!atomic_compare_exchange_weak(&session->ids, &id->before, id)) {
    }
    return id;
}

writ_result
writ_session_add_upstream(struct writ_session *session, struct writ_view name, struct writ_view id)
{
    struct writ_session_upstream *upstream = &session->upstreams[session->upstreams_n];

    WRIT_TRY(copy_into(session, name, &upstream->name, NULL));
    if (id.ptr != NULL) {
        const struct writ_session_id *made = make_id(session, id);
        if (made == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        atomic_store(&upstream->id, made);
    }
    session->upstreams_n++;
    return WRIT_DONE;
}

static struct writ_session_upstream *
find_named(const struct writ_session *session, struct writ_view name)
{
    for (size_t i = 0; session != NULL && i < session->upstreams_n; i++) {
        if (writ_view_equal(session->upstreams[i].name, name)) {
            return &session->upstreams[i];
        }
    }
    return NULL;
}

void
writ_session_note_list(
    struct writ_session *session, struct writ_view name, enum writ_session_list list, bool missed)
{
    struct writ_session_upstream *upstream = find_named(session, name);

    if (upstream != NULL && missed) {
        (void)atomic_fetch_or(&upstream->missed, (unsigned)list);
    } else if (upstream != NULL) {
        (void)atomic_fetch_and(&upstream->missed, ~(unsigned)list);
    }
}

unsigned
writ_session_missed(const struct writ_session *session, struct writ_view name)
{
    const struct writ_session_upstream *upstream = find_named(session, name);

    return upstream != NULL ? atomic_load(&upstream->missed) : 0;
}

unsigned
writ_session_take_missed(struct writ_session *session, struct writ_view name)
{
    struct writ_session_upstream *upstream = find_named(session, name);

    return upstream != NULL ? atomic_exchange(&upstream->missed, 0) : 0;
}

bool
writ_session_is_short(const struct writ_session *session)
{
    for (size_t i = 0; i < session->upstreams_n; i++) {
        if (atomic_load(&session->upstreams[i].id) == NULL ||
            atomic_load(&session->upstreams[i].missed) != 0) {
            return true;
        }
    }
    return false;
}

bool
writ_session_has(const struct writ_session *session, struct writ_view name)
{
    const struct writ_session_upstream *found = find_named(session, name);

    return found != NULL && atomic_load(&found->id) != NULL;
}

bool
writ_session_is_late(const struct writ_session *session, struct writ_view name)
{
    const struct writ_session_upstream *found = find_named(session, name);

    return found != NULL && atomic_load(&found->id) == NULL;
}

struct writ_view
writ_session_upstream(const struct writ_session *session, struct writ_view name)
{
    const struct writ_session_upstream *found = find_named(session, name);
    const struct writ_session_id *id = found != NULL ? atomic_load(&found->id) : NULL;

    return id != NULL ? writ_view(id->bytes, id->len) : (struct writ_view){NULL, 0};
}

void
writ_session_lose(struct writ_session *session, struct writ_view name, struct writ_view id)
{
    struct writ_session_upstream *found = find_named(session, name);
    const struct writ_session_id *known = found != NULL ? atomic_load(&found->id) : NULL;

    if (known != NULL && writ_view_equal(writ_view(known->bytes, known->len), id) &&
        atomic_fetch_add(&session->losses, 1) < WRIT_SESSION_LOSSES_MAX &&
        atomic_compare_exchange_strong(&found->id, &known, NULL)) {
        atomic_store(&session->stored_us, 0);
    }
}

/* A character has at most six bytes in JSON. */
static bool
has_room_for(const struct writ_session *session, struct writ_view id)
{
    writ_auto_buf row = writ_buf_make(WRIT_LEDGER_SESSION_MAX);

    writ_session_put(session, &row);
    return writ_is_ok(writ_buf_check(&row, NULL)) && id.len <= WRIT_LEDGER_SESSION_MAX / 6 &&
           row.len + 6 * id.len + sizeof "\"\":," <= WRIT_LEDGER_SESSION_MAX;
}

writ_result
writ_session_join(struct writ_session *session, struct writ_view name, struct writ_view id)
{
    struct writ_session_upstream *upstream = find_named(session, name);
    const struct writ_session_id *late = NULL, *made;

    if (upstream == NULL || atomic_load(&upstream->id) != NULL) {
        return (writ_result){WRIT_E_ABSENT};
    }
    if (!has_room_for(session, id)) {
        return (writ_result){WRIT_E_LIMIT};
    }
    made = make_id(session, id);
    if (made == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    if (!atomic_compare_exchange_strong(&upstream->id, &late, made)) {
        return (writ_result){WRIT_E_ABSENT};
    }
    atomic_store(&session->stored_us, 0);
    return WRIT_DONE;
}

/* ---- its client's environment */

void
writ_session_keep_environment(struct writ_session *session, struct writ_view environment)
{
    struct writ_session_id *none = NULL, *kept;

    if (environment.len == 0 || atomic_load(&session->environment) != NULL) {
        return;
    }
    kept = writ_alloc(sizeof *kept + environment.len + 1);
    if (kept == NULL) {
        return;
    }
    kept->len = environment.len;
    for (size_t i = 0; i < environment.len; i++) {
        kept->bytes[i] = environment.ptr[i];
    }
    if (!atomic_compare_exchange_strong(&session->environment, &none, kept)) {
        free_environment(kept);
    }
}

struct writ_view
writ_session_environment(const struct writ_session *session)
{
    const struct writ_session_id *kept = atomic_load(&session->environment);

    return kept != NULL ? writ_view(kept->bytes, kept->len) : writ_view(NULL, 0);
}

/* ---- questions to its client */

#define ASKED_BITS UINT64_C(3)

/* FNV-1a: a collision leaves a question out, and the page stays. */
static uint64_t
hash_of(struct writ_view review)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < review.len; i++) {
        hash = (hash ^ (unsigned char)review.ptr[i]) * UINT64_C(1099511628211);
    }
    return hash & ~ASKED_BITS;
}

void
writ_session_note_asked(
    struct writ_session *session, struct writ_view review, enum writ_session_asked asked)
{
    uint64_t hash = hash_of(review);
    size_t slot = 0;

    while (
        slot < WRIT_SESSION_ASKED && (atomic_load(&session->asked[slot]) & ~ASKED_BITS) != hash) {
        slot++;
    }
    if (slot == WRIT_SESSION_ASKED) {
        slot = atomic_fetch_add(&session->asked_n, 1) % WRIT_SESSION_ASKED;
    }
    atomic_store(&session->asked[slot], hash | (uint64_t)asked);
}

enum writ_session_asked
writ_session_asked(const struct writ_session *session, struct writ_view review)
{
    uint64_t hash = hash_of(review);

    for (size_t i = 0; i < WRIT_SESSION_ASKED; i++) {
        uint64_t slot = atomic_load(&session->asked[i]);

        if (slot != 0 && (slot & ~ASKED_BITS) == hash) {
            return (enum writ_session_asked)(slot & ASKED_BITS);
        }
    }
    return WRIT_SESSION_NOT_ASKED;
}

writ_result
writ_session_hash(struct writ_view id, struct writ_digest *ret, struct writ_err *err)
{
    return writ_digest_bytes(id, ret, err);
}

static void
put_late(struct writ_write *w, const struct writ_session *session)
{
    writ_write_name(w, WRIT_LIT("late"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < session->upstreams_n; i++) {
        if (atomic_load(&session->upstreams[i].id) == NULL) {
            writ_write_string(w, session->upstreams[i].name);
        }
    }
    writ_write_array_end(w);
}

static void
put_upstreams(struct writ_write *w, const struct writ_session *session)
{
    writ_write_name(w, WRIT_LIT("upstreams"));
    writ_write_object_begin(w);
    for (size_t i = 0; i < session->upstreams_n; i++) {
        const struct writ_session_id *id = atomic_load(&session->upstreams[i].id);
        if (id != NULL) {
            writ_write_name(w, session->upstreams[i].name);
            writ_write_string(w, writ_view(id->bytes, id->len));
        }
    }
    writ_write_object_end(w);
}

void
writ_session_put(const struct writ_session *session, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_count(&w, "abilities", session->abilities);
    writ_write_text(&w, "agent_id", session->agent_id);
    writ_write_text(&w, "boundary_id", session->boundary_id);
    if (session->client.len > 0) {
        writ_write_text(&w, "client", session->client);
    }
    writ_write_integer(&w, "created_us", session->created_us);
    writ_write_text(&w, "endpoint", session->endpoint);
    put_late(&w, session);
    writ_write_text(&w, "tenant", session->tenant);
    put_upstreams(&w, session);
    writ_write_text(&w, "version", session->version);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
}

static writ_result
read_member(const struct writ_json *row, struct writ_view name, struct writ_session *session,
    struct writ_view *ret, struct writ_err *err)
{
    const struct writ_json *member = writ_json_get_typed(row, name, WRIT_JSON_STRING);

    if (member == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a session's row lacks a member");
    }
    return copy_into(session, writ_json_string(member), ret, err);
}

/* A row that was written during a join names the upstream twice. */
static writ_result
read_late(const struct writ_json *late, struct writ_session *session)
{
    WRIT_JSON_EACH(name, late)
    {
        if (find_named(session, writ_json_string(name)) == NULL) {
            WRIT_TRY(writ_session_add_upstream(
                session, writ_json_string(name), (struct writ_view){NULL, 0}));
            /* rows do not contain the lists in which it was missing */
            atomic_init(&session->upstreams[session->upstreams_n - 1].missed, WRIT_SESSION_LISTS);
        }
    }
    return WRIT_DONE;
}

/* A row of a version without late upstreams has none. */
static writ_result
read_upstreams(const struct writ_json *row, struct writ_session *session, struct writ_err *err)
{
    const struct writ_json *all = writ_json_get_typed(row, WRIT_LIT("upstreams"), WRIT_JSON_OBJECT);
    const struct writ_json *late = writ_json_get_typed(row, WRIT_LIT("late"), WRIT_JSON_ARRAY);

    if (all == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a session's row lacks its upstreams");
    }
    WRIT_TRY(writ_session_make_room(session, all->count + (late != NULL ? late->count : 0)));
    WRIT_JSON_EACH(name, all)
    {
        WRIT_TRY(writ_session_add_upstream(
            session, writ_json_string(name), writ_json_string(writ_json_value(name))));
    }
    return read_late(late, session);
}

static writ_result
read_row(const struct writ_json *row, struct writ_session *session, struct writ_err *err)
{
    int64_t abilities;

    WRIT_TRY(read_member(row, WRIT_LIT("agent_id"), session, &session->agent_id, err));
    WRIT_TRY(read_member(row, WRIT_LIT("boundary_id"), session, &session->boundary_id, err));
    WRIT_TRY(read_member(row, WRIT_LIT("endpoint"), session, &session->endpoint, err));
    WRIT_TRY(read_member(row, WRIT_LIT("tenant"), session, &session->tenant, err));
    WRIT_TRY(read_member(row, WRIT_LIT("version"), session, &session->version, err));
    if (!writ_is_ok(writ_json_integer(writ_json_get(row, WRIT_LIT("created_us")), 0,
            INT64_C(9007199254740991), &session->created_us))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a session's row lacks its time");
    }
    if (writ_json_get(row, WRIT_LIT("client")) != NULL) {
        WRIT_TRY(read_member(row, WRIT_LIT("client"), session, &session->client, err));
    }
    if (writ_is_ok(writ_json_integer(
            writ_json_get(row, WRIT_LIT("abilities")), 0, WRIT_ABLE_ALL, &abilities))) {
        session->abilities = (unsigned)abilities;
    }
    return read_upstreams(row, session, err);
}

writ_result
writ_session_read(
    struct writ_view id, struct writ_view value, struct writ_session **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_session *, session_freep) session = NULL;
    writ_auto_arena scratch = writ_arena_new(4 * SESSION_ARENA);
    const struct writ_json *row;

    if (scratch == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a session");
    }
    if (id.len != WRIT_SESSION_ID_TEXT - 1) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a session id has %d characters", WRIT_SESSION_ID_TEXT - 1);
    }
    WRIT_TRY(writ_json_read(value, &writ_json_limits_default, scratch, &row, err));
    WRIT_TRY(session_alloc(&session, err));
    for (size_t i = 0; i < id.len; i++) {
        session->id[i] = id.ptr[i]; /* NOLINT(clang-analyzer-core.NullDereference): it was made */
    }
    WRIT_TRY(writ_session_hash(id, &session->hash, err));
    WRIT_TRY(read_row(row, session, err));
    *ret = WRIT_TAKE(session);
    return WRIT_DONE;
}
