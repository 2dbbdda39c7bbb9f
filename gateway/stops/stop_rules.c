/* stop_rules.c - the stops in force and the places of the status list, under one lock.
 *
 * Invariant: a call is checked and gets its place under one hold of the lock; a stop is added and
 * revokes its places under one hold as well. So no credential slips between the two. */
#include "gateway/stops/stop_rules.h"

#include "base/id.h"
#include "base/text.h"
#include "evidence/credential/credential.h"
#include "gateway/stops/revocations.h"
#include "gateway/stops/shared_list.h"
#include "store/trusted/trusted.h"

#include <pthread.h>

#define US_PER_S     INT64_C(1000000)
#define VERSION      2
#define SUFFIX       ".places.json"
#define FILE_MAX     ((size_t)8 << 20)
#define ARENA_MAX    ((size_t)64 << 20)
#define OVER_S       (WRIT_CREDENTIAL_LIFETIME_MAX_S + WRIT_CREDENTIAL_SKEW_MAX_S)
#define LIST_LASTS_S 60
#define LIST_TTL_S   1
#define STOPS_FIRST  64
#define HEARD_MAX    ((size_t)64 << 20)

/* One stop; its texts are in its buffer. */
struct stop {
    struct writ_buf text;
    struct writ_kill kill;
    char id[WRIT_ID_TEXT];
    bool pending; /* its record is under way: a lift before it would be forgotten by a restart */
};

struct writ_stop_rules {
    const struct writ_clock *clock;
    bool shared; /* other gateways write the ledger too */
    pthread_mutex_t lock;
    pthread_mutex_t heard_lock; /* taken last, and held for a moment */
    struct writ_buf heard;      /* facts of other gateways that are not taken yet, one per line */
    int dir;
    struct writ_buf name; /* of the file, NUL-terminated */
    struct stop *stops;
    size_t stops_n, stops_max;           /* there is room for */
    struct writ_revocations revocations; /* of a log of this process alone */
    struct writ_shared_list list;        /* of a shared one */
    uint64_t facts_n;                    /* of the shared log, that are taken */
    /* the last signed list */
    struct writ_buf token;
    int64_t token_s;
    const struct writ_signer *signer;
    bool changed;
    bool deaf; /* a stop of another gateway could not be taken: every call is stopped */
};

static int64_t
now_s(const struct writ_stop_rules *stop_rules)
{
    return writ_clock_wall_us(stop_rules->clock) / US_PER_S;
}

static void take_heard(struct writ_stop_rules *stop_rules);

/* Everything but a note of another gateway's fact begins so. */
static void
lock(struct writ_stop_rules *stop_rules)
{
    (void)pthread_mutex_lock(&stop_rules->lock);
    take_heard(stop_rules);
}

/* ---- asking */

static bool
stops(const struct writ_stop_rules *stop_rules, const struct writ_kill_call *call)
{
    for (size_t i = 0; i < stop_rules->stops_n; i++) {
        if (writ_kill_names(&stop_rules->stops[i].kill, call)) {
            return true;
        }
    }
    return stop_rules->deaf;
}

bool
writ_stop_rules_stops(struct writ_stop_rules *stop_rules, const struct writ_kill_call *call)
{
    bool stopped;

    lock(stop_rules);
    stopped = stops(stop_rules, call);
    (void)pthread_mutex_unlock(&stop_rules->lock);
    return stopped;
}

/* ---- the file */

/* Under the lock. */
static WRIT_RESULT
save(struct writ_stop_rules *stop_rules, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(FILE_MAX);
    struct writ_write w = writ_write_to(&text);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("began"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < WRIT_REVOCATIONS_RANGES; i++) {
        writ_write_i64(&w, stop_rules->revocations.began_s[i]);
    }
    writ_write_array_end(&w);
    writ_write_integer(&w, "longest", stop_rules->revocations.longest_s);
    writ_write_integer(&w, "range", stop_rules->revocations.range);
    writ_write_integer(&w, "revoked_until", stop_rules->revocations.others_s);
    writ_write_integer(&w, "version", VERSION);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    WRIT_TRY(writ_trusted_write(
        stop_rules->dir, stop_rules->name.ptr, WRIT_TRUSTED_OURS, writ_buf_view(&text), err));
    return writ_trusted_sync(stop_rules->dir, err);
}

/* ---- places of credentials */

/* Later runs need the lifetime of the credentials of this one. */
static bool
note_lifetime(struct writ_stop_rules *stop_rules, int64_t lifetime_s)
{
    int64_t before_s = stop_rules->revocations.longest_s;

    if (lifetime_s <= before_s) {
        return true;
    }
    stop_rules->revocations.longest_s = lifetime_s;
    if (!writ_is_ok(save(stop_rules, NULL))) {
        stop_rules->revocations.longest_s = before_s;
        return false;
    }
    return true;
}

bool
writ_stop_rules_admit(struct writ_stop_rules *stop_rules, const struct writ_kill_call *call,
    int64_t until_s, int64_t *ret_place)
{
    int64_t now;
    bool given;

    lock(stop_rules); /* keeps the invariant */
    now = now_s(stop_rules);
    given = !stops(stop_rules, call);
    if (given && stop_rules->shared) {
        *ret_place = writ_shared_list_give(&stop_rules->list, call);
    } else if (given) {
        given = note_lifetime(stop_rules, until_s - now) &&
                writ_revocations_give(&stop_rules->revocations, call, now, until_s, ret_place);
    }
    (void)pthread_mutex_unlock(&stop_rules->lock);
    return given;
}

enum writ_status
writ_stop_rules_status(struct writ_stop_rules *stop_rules, int64_t place)
{
    bool revoked;

    if (place < 0 || place >= WRIT_REVOCATIONS_PLACES) {
        return WRIT_STATUS_UNKNOWN;
    }
    lock(stop_rules);
    revoked = stop_rules->shared
                  ? writ_shared_list_has(&stop_rules->list, place, now_s(stop_rules))
                  : writ_revocations_has(&stop_rules->revocations, place, now_s(stop_rules));
    (void)pthread_mutex_unlock(&stop_rules->lock);
    return revoked ? WRIT_STATUS_REVOKED : WRIT_STATUS_VALID;
}

/* ---- the list */

void
writ_stop_rules_put_uri(struct writ_buf *buf, struct writ_view issuer)
{
    while (issuer.len > 0 && issuer.ptr[issuer.len - 1] == '/') {
        issuer.len--;
    }
    writ_buf_put(buf, issuer);
    writ_buf_str(buf, WRIT_STOP_RULES_WELL_KNOWN);
}

static WRIT_RESULT
sign_list(struct writ_stop_rules *stop_rules, const struct writ_signer *signer,
    struct writ_view uri, int64_t now, struct writ_err *err)
{
    char bits[WRIT_STATUS_LIST_BYTES] = {0};
    const struct writ_status_list list = {
        .uri = uri,
        .bits = {bits, sizeof bits},
        .issued_s = now,
        .expires_s = now + LIST_LASTS_S,
        .ttl_s = LIST_TTL_S,
        .width = 1,
    };
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);

    if (stop_rules->shared) {
        writ_shared_list_put(&stop_rules->list, now, bits);
    }
    for (int64_t i = 0; !stop_rules->shared && i < WRIT_REVOCATIONS_PLACES; i++) {
        if (writ_revocations_has(&stop_rules->revocations, i, now)) {
            bits[i / 8] = (char)(bits[i / 8] | 1 << i % 8);
        }
    }
    WRIT_TRY(writ_status_list_issue(signer, &list, &token, err));
    writ_buf_wipe(&stop_rules->token);
    stop_rules->token = token;
    token = (struct writ_buf){0};
    stop_rules->token_s = now;
    stop_rules->signer = signer;
    stop_rules->changed = false;
    return WRIT_DONE;
}

WRIT_RESULT
writ_stop_rules_put_list(struct writ_stop_rules *stop_rules, const struct writ_signer *signer,
    struct writ_view uri, struct writ_buf *buf, struct writ_err *err)
{
    writ_result result = WRIT_DONE;
    int64_t now;

    lock(stop_rules);
    now = now_s(stop_rules);
    if (stop_rules->changed || stop_rules->token_s != now || stop_rules->signer != signer) {
        result = sign_list(stop_rules, signer, uri, now, err);
    }
    if (writ_is_ok(result)) {
        writ_buf_put(buf, writ_buf_view(&stop_rules->token));
    }
    (void)pthread_mutex_unlock(&stop_rules->lock);
    return writ_is_ok(result) ? writ_buf_check(buf, err) : result;
}

/* ---- stops */

static void
take_out(struct writ_stop_rules *stop_rules, size_t i)
{
    struct stop *stop = &stop_rules->stops[i];

    writ_buf_wipe(&stop->text);
    stop_rules->stops_n--;
    if (i != stop_rules->stops_n) {
        *stop = stop_rules->stops[stop_rules->stops_n];
        stop->kill.id = writ_view(stop->id, stop->kill.id.len);
    }
}

/* Under the lock: stops of credentials that are over. */
static void
forget(struct writ_stop_rules *stop_rules)
{
    for (size_t i = stop_rules->stops_n; i-- > 0;) {
        const struct writ_kill *kill = &stop_rules->stops[i].kill;

        if (kill->by == WRIT_KILL_CREDENTIAL &&
            kill->at_us / US_PER_S + OVER_S < now_s(stop_rules)) {
            take_out(stop_rules, i);
        }
    }
}

/* There is room for one more. */
static WRIT_RESULT
make_room(struct writ_stop_rules *stop_rules, struct writ_err *err)
{
    size_t max = stop_rules->stops_max > 0 ? 2 * stop_rules->stops_max : STOPS_FIRST;
    struct stop *stops;

    if (stop_rules->stops_n < stop_rules->stops_max) {
        return WRIT_DONE;
    }
    stops = writ_realloc(stop_rules->stops, max * sizeof *stops);
    if (stops == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a stop");
    }
    for (size_t i = 0; i < stop_rules->stops_n; i++) { /* the id lies in the stop itself */
        stops[i].kill.id = writ_view(stops[i].id, stops[i].kill.id.len);
    }
    stop_rules->stops = stops;
    stop_rules->stops_max = max;
    return WRIT_DONE;
}

/* The next text of a stop. */
static struct writ_view
cut(struct writ_view *rest, size_t len)
{
    struct writ_view text = writ_view_sub(*rest, 0, len);

    *rest = writ_view_sub(*rest, len, SIZE_MAX);
    return text;
}

/* Copies a stop behind the others. */
static WRIT_RESULT
add(struct writ_stop_rules *stop_rules, const struct writ_kill *kill, struct writ_err *err)
{
    const struct writ_view from[] = {kill->value, kill->tenant, kill->reason, kill->who};
    struct writ_view texts;
    struct stop *stop;

    WRIT_TRY(make_room(stop_rules, err));
    stop = &stop_rules->stops[stop_rules->stops_n];
    if (kill->by == WRIT_KILL_NONE || kill->value.len == 0 ||
        kill->value.len > WRIT_STOP_RULES_TEXT_MAX || kill->tenant.len > WRIT_STOP_RULES_TEXT_MAX ||
        kill->reason.len > WRIT_STOP_RULES_REASON_MAX || kill->who.len > WRIT_STOP_RULES_TEXT_MAX ||
        kill->id.len >= sizeof stop->id) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a stop names nothing, or a text of it is too long");
    }
    *stop = (struct stop){.text = writ_buf_make(FILE_MAX), .kill = *kill};
    for (size_t i = 0; i < 4; i++) {
        writ_buf_put(&stop->text, from[i]);
    }
    if (!writ_is_ok(writ_buf_check(&stop->text, NULL))) {
        writ_buf_wipe(&stop->text);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a stop");
    }
    texts = writ_buf_view(&stop->text);
    stop->kill.value = cut(&texts, kill->value.len);
    stop->kill.tenant = cut(&texts, kill->tenant.len);
    stop->kill.reason = cut(&texts, kill->reason.len);
    stop->kill.who = cut(&texts, kill->who.len);
    stop->kill.id = writ_view_place(kill->id, stop->id);
    stop->kill.issued = NULL; /* its places are known by then */
    stop->kill.group = NULL;
    stop_rules->stops_n++;
    return WRIT_DONE;
}

/* The fact that a stop was pulled; in a shared log with the group of its credential's place. */
static WRIT_RESULT
put_pulled(const struct writ_stop_rules *stop_rules, const struct writ_kill *kill,
    struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);
    struct writ_kill grouped = *kill;
    uint32_t group = 0;

    if (stop_rules->shared && kill->issued != NULL) {
        grouped.group = &group;
        group = writ_shared_list_group(kill->issued);
    }
    writ_kill_put(&grouped, &w);
    return writ_write_end(&w, err);
}

static WRIT_RESULT
put_lifted(const struct writ_kill *lift, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text(&w, "id", lift->id);
    writ_write_text_if(&w, "reason", lift->reason);
    writ_write_text_if(&w, "who", lift->who);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

/* Under the lock: the stop of that id; NULL: there is none. */
static struct stop *
find(struct writ_stop_rules *stop_rules, struct writ_view id)
{
    for (size_t i = 0; i < stop_rules->stops_n; i++) {
        if (writ_view_equal(stop_rules->stops[i].kill.id, id)) {
            return &stop_rules->stops[i];
        }
    }
    return NULL;
}

WRIT_RESULT
writ_stop_rules_pull(struct writ_stop_rules *stop_rules, struct writ_kill *kill,
    char ret_id[WRIT_ID_TEXT], struct writ_buf *ret_data, struct writ_err *err)
{
    struct writ_kill mine = *kill;
    char id[WRIT_ID_TEXT];
    writ_result result;

    if (kill->by == WRIT_KILL_CREDENTIAL && kill->issued == NULL) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "a stop of a credential wants to know what it was issued for");
    }
    WRIT_TRY(writ_id_new(stop_rules->clock, id, err));
    mine.id = writ_view_str(id);
    mine.at_us = writ_clock_wall_us(stop_rules->clock);
    lock(stop_rules);
    forget(stop_rules);
    result = add(stop_rules, &mine, err);
    if (writ_is_ok(result)) {
        find(stop_rules, mine.id)->pending = true;
        stop_rules->changed = true;
        if (!stop_rules->shared) { /* keeps the invariant; in a shared log the record revokes */
            writ_revocations_revoke(&stop_rules->revocations, &mine, mine.at_us / US_PER_S);
        }
    }
    (void)pthread_mutex_unlock(&stop_rules->lock);
    WRIT_TRY(result);
    (void)writ_view_place(writ_view(id, sizeof id), ret_id);
    mine.id = writ_view_str(ret_id);
    *kill = mine;
    return writ_is_ok(put_pulled(stop_rules, kill, ret_data, err)) ? WRIT_DONE
                                                                   : (writ_result){WRIT_E_IO};
}

void
writ_stop_rules_pulled(
    struct writ_stop_rules *stop_rules, const struct writ_kill *kill, bool durable)
{
    struct stop *stop;

    lock(stop_rules); /* takes its record, in its order among those of others */
    stop = find(stop_rules, kill->id);
    if (stop != NULL) {
        stop->pending = false;
    }
    if (!durable && stop_rules->shared) {
        writ_shared_list_add_alone(&stop_rules->list, kill, now_s(stop_rules));
        stop_rules->changed = true;
    } else if (!durable) {
        WRIT_IGNORE(save(stop_rules, NULL)); /* its revocations do not follow from a record */
    }
    (void)pthread_mutex_unlock(&stop_rules->lock);
}

WRIT_RESULT
writ_stop_rules_lift(struct writ_stop_rules *stop_rules, const struct writ_kill *lift,
    struct writ_buf *ret_data, struct writ_err *err)
{
    const struct stop *stop;
    writ_result result = WRIT_DONE;

    lock(stop_rules);
    stop = find(stop_rules, lift->id);
    if (stop == NULL ||
        (lift->tenant.len > 0 && !writ_view_equal(lift->tenant, stop->kill.tenant))) {
        result.code = WRIT_E_ABSENT;
    } else if (stop->pending) {
        result.code = WRIT_E_BUSY;
    }
    (void)pthread_mutex_unlock(&stop_rules->lock);
    return writ_is_ok(result) ? put_lifted(lift, ret_data, err) : result;
}

void
writ_stop_rules_lifted(struct writ_stop_rules *stop_rules, struct writ_view id)
{
    const struct stop *stop;

    lock(stop_rules);
    stop = find(stop_rules, id);
    if (stop != NULL) {
        take_out(stop_rules, (size_t)(stop - stop_rules->stops));
    }
    (void)pthread_mutex_unlock(&stop_rules->lock);
}

void
writ_stop_rules_put(
    struct writ_stop_rules *stop_rules, struct writ_view tenant, struct writ_write *w)
{
    lock(stop_rules);
    forget(stop_rules);
    writ_write_array_begin(w);
    for (size_t i = 0; i < stop_rules->stops_n; i++) {
        const struct writ_kill *kill = &stop_rules->stops[i].kill;

        if (tenant.len == 0 || writ_view_equal(kill->tenant, tenant)) {
            writ_kill_put(kill, w);
        }
    }
    writ_write_array_end(w);
    (void)pthread_mutex_unlock(&stop_rules->lock);
}

/* ---- opening */

static struct writ_view
text_of(const struct writ_json *object, struct writ_view name)
{
    return writ_json_string(writ_json_get(object, name));
}

static WRIT_RESULT
read_stop(struct writ_stop_rules *stop_rules, const struct writ_json *value, struct writ_err *err)
{
    struct writ_kill kill = {
        .id = text_of(value, WRIT_LIT("id")),
        .by = writ_kill_by_find(text_of(value, WRIT_LIT("by"))),
        .value = text_of(value, WRIT_LIT("value")),
        .tenant = text_of(value, WRIT_LIT("tenant")),
        .reason = text_of(value, WRIT_LIT("reason")),
        .who = text_of(value, WRIT_LIT("who")),
    };

    if (!writ_is_ok(writ_time_read(text_of(value, WRIT_LIT("at")), &kill.at_us)) ||
        kill.id.len == 0) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a stop was recorded without id or time");
    }
    return add(stop_rules, &kill, err);
}

static bool
read_began(const struct writ_json *value, int64_t ret[WRIT_REVOCATIONS_RANGES])
{
    size_t i = 0;

    if (writ_json_type(value) != WRIT_JSON_ARRAY) {
        return false;
    }
    WRIT_JSON_EACH(one, value)
    {
        if (i == WRIT_REVOCATIONS_RANGES ||
            !writ_is_ok(writ_json_integer(one, 0, INT64_MAX / US_PER_S, &ret[i++]))) {
            return false;
        }
    }
    return i == WRIT_REVOCATIONS_RANGES;
}

static bool
read_number(const struct writ_json *file, struct writ_view name, int64_t most, int64_t *ret)
{
    return writ_is_ok(writ_json_integer(writ_json_get(file, name), 0, most, ret));
}

/* Reads the data of an earlier run. */
static bool
read_run(const struct writ_json *file, struct writ_revocations *r)
{
    int64_t version = 0;

    return read_number(file, WRIT_LIT("version"), VERSION, &version) && version == VERSION &&
           read_number(file, WRIT_LIT("range"), WRIT_REVOCATIONS_RANGES - 1, &r->range) &&
           read_number(file, WRIT_LIT("revoked_until"), INT64_MAX / US_PER_S, &r->others_s) &&
           read_number(file, WRIT_LIT("longest"), WRIT_CREDENTIAL_LIFETIME_MAX_S, &r->longest_s) &&
           read_began(writ_json_get(file, WRIT_LIT("began")), r->began_s);
}

/* False: the file has another form. */
static bool
read_file(struct writ_view text, struct writ_revocations *ret)
{
    struct writ_json_limits limits = writ_json_limits_default;
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *file = NULL;

    limits.bytes = FILE_MAX;
    return arena != NULL && writ_is_ok(writ_json_read(text, &limits, arena, &file, NULL)) &&
           read_run(file, ret);
}

/* Nothing is known of earlier runs: all their credentials may live, in any place. */
static void
expect_worst(struct writ_revocations *r, int64_t now)
{
    for (size_t i = 0; i < WRIT_REVOCATIONS_RANGES; i++) {
        r->began_s[i] = now;
    }
    r->longest_s = WRIT_CREDENTIAL_LIFETIME_MAX_S;
    r->range = 0;
    r->others_s = now + OVER_S;
}

static WRIT_RESULT
open_file(struct writ_stop_rules *stop_rules, const char *store, bool first, struct writ_err *err)
{
    struct writ_view path = writ_view_str(store);
    writ_auto_buf folder = writ_buf_make(WRIT_TRUSTED_NAME_MAX * 16);
    writ_auto_buf text = writ_buf_make(FILE_MAX);
    struct writ_err why = {{0}, 0, 0};
    size_t end = path.len;
    writ_result result;

    while (end > 0 && path.ptr[end - 1] != '/') {
        end--;
    }
    writ_buf_put(&folder, end > 0 ? writ_view_sub(path, 0, end) : WRIT_LIT("."));
    writ_buf_byte(&folder, '\0');
    stop_rules->name = writ_buf_make(WRIT_TRUSTED_NAME_MAX + 1);
    writ_buf_put(&stop_rules->name, writ_view_sub(path, end, SIZE_MAX));
    writ_buf_str(&stop_rules->name, SUFFIX);
    writ_buf_byte(&stop_rules->name, '\0');
    WRIT_TRY(writ_buf_check(&folder, err));
    WRIT_TRY(writ_buf_check(&stop_rules->name, err));
    WRIT_TRY(writ_trusted_dir(folder.ptr, &stop_rules->dir, err));
    result = writ_trusted_read(
        stop_rules->dir, stop_rules->name.ptr, WRIT_TRUSTED_UNWRITABLE, &text, &why);
    if (result.code == WRIT_E_ABSENT && first) {
        writ_revocations_begin(&stop_rules->revocations, now_s(stop_rules));
        return save(stop_rules, err);
    }
    if (!writ_is_ok(result) && result.code != WRIT_E_ABSENT) {
        WRIT_FAIL(err, result.code, "%s: %s", stop_rules->name.ptr, why.text);
    }
    if (!writ_is_ok(result) || !read_file(writ_buf_view(&text), &stop_rules->revocations)) {
        expect_worst(&stop_rules->revocations, now_s(stop_rules));
    }
    writ_revocations_follow(&stop_rules->revocations, now_s(stop_rules));
    return save(stop_rules, err); /* the range is this run's */
}

WRIT_RESULT
writ_stop_rules_open(const char *store, const struct writ_clock *clock, bool shared, bool first,
    struct writ_stop_rules **ret, struct writ_err *err)
{
    struct writ_stop_rules *stop_rules = writ_alloc(sizeof *stop_rules);
    writ_result result;

    if (stop_rules == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the stop rules");
    }
    stop_rules->dir = -1;
    stop_rules->clock = clock;
    stop_rules->shared = shared;
    stop_rules->heard = writ_buf_make(HEARD_MAX);
    if (pthread_mutex_init(&stop_rules->lock, NULL) != 0 ||
        pthread_mutex_init(&stop_rules->heard_lock, NULL) != 0) {
        writ_free(stop_rules);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the stop rules");
    }
    result = shared ? WRIT_DONE : open_file(stop_rules, store, first, err);
    if (!writ_is_ok(result)) {
        writ_stop_rules_free(stop_rules);
        return result;
    }
    *ret = stop_rules;
    return WRIT_DONE;
}

/* A fact that was read at the opening may be noted too: it counts once. */
static void
count(struct writ_stop_rules *stop_rules, const struct writ_fact *fact)
{
    const struct writ_kill kill = {
        .by = writ_kill_by_find(text_of(fact->data, WRIT_LIT("by"))),
        .value = text_of(fact->data, WRIT_LIT("value")),
        .tenant = text_of(fact->data, WRIT_LIT("tenant")),
    };
    int64_t group = -1;
    bool grouped;

    if (!stop_rules->shared || fact->n < stop_rules->facts_n) {
        return;
    }
    stop_rules->facts_n = fact->n + 1;
    if (fact->event == WRIT_FACT_KILL_PULLED) {
        grouped = read_number(fact->data, WRIT_LIT("group"), WRIT_SHARED_LIST_GROUPS - 1, &group);
        writ_shared_list_count(&stop_rules->list, &kill,
            grouped ? &(uint32_t){(uint32_t)group} : NULL, fact->at_us / US_PER_S,
            now_s(stop_rules));
    }
}

WRIT_RESULT
writ_stop_rules_hear(
    struct writ_stop_rules *stop_rules, const struct writ_fact *fact, struct writ_err *err)
{
    int64_t over_s = fact->at_us / US_PER_S + OVER_S;
    const struct stop *known = find(stop_rules, text_of(fact->data, WRIT_LIT("id")));

    count(stop_rules, fact);
    if (fact->event == WRIT_FACT_KILL_LIFTED && known != NULL) {
        take_out(stop_rules, (size_t)(known - stop_rules->stops));
    }
    if (fact->event != WRIT_FACT_KILL_PULLED || known != NULL) {
        return WRIT_DONE;
    }
    if (stop_rules->shared) {
        forget(stop_rules);
        return read_stop(stop_rules, fact->data, err);
    }
    writ_revocations_hear(&stop_rules->revocations, over_s, now_s(stop_rules));
    forget(stop_rules);
    return read_stop(stop_rules, fact->data, err);
}

/* ---- facts of other gateways ---- */

void
writ_stop_rules_note(struct writ_stop_rules *stop_rules, struct writ_view fact)
{
    (void)pthread_mutex_lock(&stop_rules->heard_lock);
    writ_buf_put(&stop_rules->heard, fact);
    writ_buf_byte(&stop_rules->heard, '\n');
    (void)pthread_mutex_unlock(&stop_rules->heard_lock);
}

/* A stop that cannot be taken stops everything until the next start reads it. */
static void
stop_all(struct writ_stop_rules *stop_rules)
{
    const struct writ_kill all = {.by = WRIT_KILL_NONE};

    writ_revocations_revoke(&stop_rules->revocations, &all, now_s(stop_rules));
    writ_shared_list_revoke_all(&stop_rules->list);
    stop_rules->changed = stop_rules->deaf = true;
}

static WRIT_RESULT
take_line(struct writ_stop_rules *stop_rules, struct writ_view line, struct writ_arena *arena)
{
    const struct writ_json *value = NULL;
    struct writ_fact fact = {0};

    writ_arena_reset(arena);
    WRIT_TRY(writ_json_read(line, &writ_json_limits_default, arena, &value, NULL));
    WRIT_TRY(writ_fact_read(value, &fact, NULL));
    WRIT_TRY(writ_stop_rules_hear(stop_rules, &fact, NULL));
    stop_rules->changed = true;
    return WRIT_DONE;
}

static void
take_lines(struct writ_stop_rules *stop_rules, const struct writ_buf *heard)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_view rest = writ_buf_view(heard);

    if (arena == NULL || heard->failed != WRIT_E_UNSET) {
        stop_all(stop_rules);
        return;
    }
    while (rest.len > 0) {
        size_t end = writ_view_find(rest, '\n');

        if (!writ_is_ok(take_line(stop_rules, writ_view_sub(rest, 0, end), arena))) {
            stop_all(stop_rules);
        }
        rest = writ_view_sub(rest, end + 1, rest.len);
    }
}

/* Under the lock. */
static void
take_heard(struct writ_stop_rules *stop_rules)
{
    writ_auto_buf heard = writ_buf_make(HEARD_MAX);
    bool some;

    (void)pthread_mutex_lock(&stop_rules->heard_lock);
    some = stop_rules->heard.len > 0 || stop_rules->heard.failed != WRIT_E_UNSET;
    if (some) {
        struct writ_buf empty = heard;

        heard = stop_rules->heard;
        stop_rules->heard = empty;
    }
    (void)pthread_mutex_unlock(&stop_rules->heard_lock);
    if (some) {
        take_lines(stop_rules, &heard);
    }
}

void
writ_stop_rules_free(struct writ_stop_rules *stop_rules)
{
    if (stop_rules == NULL) {
        return;
    }
    for (size_t i = 0; i < stop_rules->stops_n; i++) {
        writ_buf_wipe(&stop_rules->stops[i].text);
    }
    writ_revocations_wipe(&stop_rules->revocations);
    writ_buf_wipe(&stop_rules->token);
    writ_buf_wipe(&stop_rules->name);
    writ_trusted_close(&stop_rules->dir);
    writ_buf_wipe(&stop_rules->heard);
    (void)pthread_mutex_destroy(&stop_rules->heard_lock);
    (void)pthread_mutex_destroy(&stop_rules->lock);
    writ_free(stop_rules->stops);
    writ_free(stop_rules);
}
