/* Invariants:
 * (1) Whether a call is stopped is asked, and its place given, under one hold of the lock; a stop
 *     is entered and its places revoked under one hold, too: no credential is between the two.
 * (2) A place that is revoked is given to nobody before its time is over.
 * (3) The places are in ranges, one for each of the last runs; a run gives places of its own range
 *     alone. Where an earlier run gave places of that range to credentials that may still live,
 * they count as given to somebody unknown, whom every stop names. */
#include "gateway/kills.h"

#include "base/id.h"
#include "base/text.h"
#include "evidence/credential.h"
#include "store/trusted.h"

#include <pthread.h>

#define US_PER_S  INT64_C(1000000)
#define VERSION   1
#define SUFFIX    ".kills.json"
#define FILE_MAX  ((size_t)8 << 20)
#define ARENA_MAX ((size_t)64 << 20)
#define RANGES    4
#define PLACES    (WRIT_STATUS_LIST_BYTES * 8 / RANGES) /* of one range */
#define SHARED    (PLACES - 1)                          /* for those that find no place */
/* Likewise, while an earlier run may have given SHARED: one for each second that a credential may
 * live, so that of two runs that need one, each has its own. */
#define LATES        (WRIT_CREDENTIAL_LIFETIME_MAX_S + WRIT_CREDENTIAL_SKEW_MAX_S + 1)
#define COMMON       (PLACES - 1 - LATES) /* so many are given one by one */
#define WINDOW       32                   /* places that one group may have */
#define FIELDS       4
#define OVER_S       (WRIT_CREDENTIAL_LIFETIME_MAX_S + WRIT_CREDENTIAL_SKEW_MAX_S)
#define LIST_LASTS_S 60
#define LIST_TTL_S   1

/* A place, and what it was given to. */
struct place {
    struct writ_buf text; /* the fields, one after the other */
    uint16_t ends[FIELDS];
    bool revoked;
    bool unknown;    /* an earlier run may have given it to somebody */
    int64_t until_s; /* when all credentials in it are over */
};

/* One stop; its texts are in its buffer. */
struct stop {
    struct writ_buf text;
    struct writ_kill kill;
    char id[WRIT_ID_TEXT];
};

struct writ_kills {
    const struct writ_clock *clock;
    pthread_mutex_t lock;
    int dir;
    struct writ_buf name; /* of the file, NUL-terminated */
    struct stop *stops;   /* room for WRIT_KILLS_MAX */
    size_t stops_n;
    struct place places[PLACES];
    int64_t range;           /* of this run */
    int64_t began_s[RANGES]; /* when the last run of each range began */
    int64_t longest_s;       /* that a credential of any run lived */
    int64_t others_s;        /* until then, everything in other ranges is revoked */
    /* the list as it was signed last */
    struct writ_buf token;
    int64_t token_s;
    const struct writ_signer *signer;
    bool changed;
};

static const struct writ_view by_names[] = {
    [WRIT_KILL_NONE] = {"", 0},
    [WRIT_KILL_AGENT] = WRIT_LIT("agent"),
    [WRIT_KILL_TOOL] = WRIT_LIT("tool"),
    [WRIT_KILL_TENANT] = WRIT_LIT("tenant"),
    [WRIT_KILL_POLICY] = WRIT_LIT("policy"),
    [WRIT_KILL_CREDENTIAL] = WRIT_LIT("credential"),
};

struct writ_view
writ_kills_by_name(enum writ_kill_by by)
{
    return by_names[by];
}

enum writ_kill_by
writ_kills_by_find(struct writ_view name)
{
    for (int by = WRIT_KILL_AGENT; by <= WRIT_KILL_CREDENTIAL; by++) {
        if (writ_view_equal(by_names[by], name)) {
            return (enum writ_kill_by)by;
        }
    }
    return WRIT_KILL_NONE;
}

static int64_t
now_s(const struct writ_kills *kills)
{
    return writ_clock_wall_us(kills->clock) / US_PER_S;
}

/* ---- what a stop names */

/* "upstream/tool" */
static bool
is_tool(struct writ_view value, const struct writ_kill_call *call)
{
    size_t slash = writ_view_find(value, '/');

    return slash < value.len && writ_view_equal(writ_view_sub(value, 0, slash), call->upstream) &&
           writ_view_equal(writ_view_sub(value, slash + 1, value.len), call->tool);
}

static bool
names(const struct writ_kill *kill, const struct writ_kill_call *call)
{
    if (kill->tenant.len > 0 && !writ_view_equal(kill->tenant, call->tenant)) {
        return false;
    }
    switch (kill->by) {
    case WRIT_KILL_AGENT:
        return writ_view_equal(kill->value, call->agent_id);
    case WRIT_KILL_TOOL:
        return is_tool(kill->value, call);
    case WRIT_KILL_TENANT:
        return writ_view_equal(kill->value, call->tenant);
    case WRIT_KILL_POLICY:
        return writ_view_equal(kill->value, call->policy);
    case WRIT_KILL_CREDENTIAL:
        return writ_view_equal(kill->value, call->decision_id);
    case WRIT_KILL_NONE:
        break;
    }
    return true; /* a stop that cannot be read stops everything */
}

static bool
stops(const struct writ_kills *kills, const struct writ_kill_call *call)
{
    for (size_t i = 0; i < kills->stops_n; i++) {
        if (names(&kills->stops[i].kill, call)) {
            return true;
        }
    }
    return false;
}

bool
writ_kills_stops(struct writ_kills *kills, const struct writ_kill_call *call)
{
    bool stopped;

    (void)pthread_mutex_lock(&kills->lock);
    stopped = stops(kills, call);
    (void)pthread_mutex_unlock(&kills->lock);
    return stopped;
}

/* ---- the file */

static void
put_stop(struct writ_write *w, const struct writ_kill *kill)
{
    char at[WRIT_TIME_TEXT];

    writ_time_format(kill->at_us, at);
    writ_write_object_begin(w);
    writ_write_text_if(w, "at", writ_view_str(at));
    writ_write_text_if(w, "by", writ_kills_by_name(kill->by));
    writ_write_text_if(w, "id", kill->id);
    writ_write_text_if(w, "reason", kill->reason);
    writ_write_text_if(w, "tenant", kill->tenant);
    writ_write_text_if(w, "value", kill->value);
    writ_write_text_if(w, "who", kill->who);
    writ_write_object_end(w);
}

/* Under the lock. All stops but `left_out`. */
static WRIT_RESULT
save(struct writ_kills *kills, const struct stop *left_out, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(FILE_MAX);
    struct writ_write w = writ_write_to(&text);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("began"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < RANGES; i++) {
        writ_write_i64(&w, kills->began_s[i]);
    }
    writ_write_array_end(&w);
    writ_write_name(&w, WRIT_LIT("kills"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < kills->stops_n; i++) {
        if (&kills->stops[i] != left_out) {
            put_stop(&w, &kills->stops[i].kill);
        }
    }
    writ_write_array_end(&w);
    writ_write_integer(&w, "longest", kills->longest_s);
    writ_write_integer(&w, "range", kills->range);
    writ_write_integer(&w, "revoked_until", kills->others_s);
    writ_write_integer(&w, "version", VERSION);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    WRIT_TRY(writ_trusted_write(
        kills->dir, kills->name.ptr, WRIT_TRUSTED_OURS, writ_buf_view(&text), err));
    return writ_trusted_sync(kills->dir, err);
}

/* ---- places */

static void
fields_of(const struct writ_kill_call *call, struct writ_view ret[FIELDS + 1])
{
    ret[0] = call->agent_id;
    ret[1] = call->tenant;
    ret[2] = call->upstream;
    ret[3] = call->tool;
    ret[4] = call->policy;
}

static uint64_t
hash(const struct writ_view *fields)
{
    uint64_t sum = UINT64_C(14695981039346656037);

    for (size_t i = 0; i <= FIELDS; i++) {
        for (size_t at = 0; at < fields[i].len; at++) {
            sum = (sum ^ (unsigned char)fields[i].ptr[at]) * UINT64_C(1099511628211);
        }
        sum = (sum ^ 0x100) * UINT64_C(1099511628211);
    }
    return sum ^ sum >> 32;
}

static struct writ_view
field_at(const struct place *place, size_t i)
{
    size_t from = i > 0 ? place->ends[i - 1] : 0;
    size_t end = i < FIELDS ? place->ends[i] : place->text.len;

    return writ_view_sub(writ_buf_view(&place->text), from, end - from);
}

static bool
is_of(const struct place *place, const struct writ_view *fields)
{
    for (size_t i = 0; i <= FIELDS; i++) {
        if (!writ_view_equal(field_at(place, i), fields[i])) {
            return false;
        }
    }
    return true;
}

static bool
settle(struct place *place, const struct writ_view *fields)
{
    writ_buf_wipe(&place->text);
    place->text = writ_buf_make(UINT16_MAX);
    place->revoked = place->unknown = false;
    place->until_s = 0;
    for (size_t i = 0; i <= FIELDS; i++) {
        writ_buf_put(&place->text, fields[i]);
        if (i < FIELDS) {
            place->ends[i] = (uint16_t)place->text.len;
        }
    }
    return writ_is_ok(writ_buf_check(&place->text, NULL));
}

static size_t
late_of(const struct writ_kills *kills)
{
    return COMMON + (size_t)(kills->began_s[kills->range] % LATES);
}

/* Its own place, else a new one, else the one that those share who find none. */
static struct place *
find_place(struct writ_kills *kills, const struct writ_view *fields, int64_t now)
{
    size_t from = hash(fields) % COMMON;
    struct place *room = NULL;

    for (size_t i = 0; i < WINDOW; i++) {
        struct place *place = &kills->places[(from + i) % COMMON];
        bool over = place->until_s <= now;

        if (!over && !place->revoked && is_of(place, fields)) {
            return place;
        }
        if (over && room == NULL) { /* keeps (2) */
            room = place;
        }
    }
    if (room != NULL && settle(room, fields)) {
        return room;
    }
    room = &kills->places[SHARED];
    if (room->unknown && room->until_s > now) {
        room = &kills->places[late_of(kills)];
    }
    if (room->until_s <= now) {
        room->revoked = room->unknown = false;
    }
    return room->revoked ? NULL : room;
}

/* Later runs have to know how long what this one issues may live. */
static bool
note_lifetime(struct writ_kills *kills, int64_t lifetime_s)
{
    int64_t before_s = kills->longest_s;

    if (lifetime_s <= before_s) {
        return true;
    }
    kills->longest_s = lifetime_s;
    if (!writ_is_ok(save(kills, NULL, NULL))) {
        kills->longest_s = before_s;
        return false;
    }
    return true;
}

bool
writ_kills_admit(struct writ_kills *kills, const struct writ_kill_call *call, int64_t until_s,
    int64_t *ret_place)
{
    struct writ_view fields[FIELDS + 1];
    struct place *place = NULL;
    int64_t now;

    fields_of(call, fields);
    (void)pthread_mutex_lock(&kills->lock); /* keeps (1) */
    now = now_s(kills);
    if (!stops(kills, call) && note_lifetime(kills, until_s - now)) {
        place = find_place(kills, fields, now);
    }
    if (place != NULL) {
        until_s += WRIT_CREDENTIAL_SKEW_MAX_S;
        place->until_s = until_s > place->until_s ? until_s : place->until_s;
        *ret_place = kills->range * PLACES + (place - kills->places); /* keeps (3) */
    }
    (void)pthread_mutex_unlock(&kills->lock);
    return place != NULL;
}

/* Whether credentials in a place are of what a stop names. */
static bool
revokes(const struct writ_kill *kill, const struct place *place)
{
    struct writ_view fields[FIELDS + 1];
    const struct writ_kill_call call = {
        .agent_id = field_at(place, 0),
        .tenant = field_at(place, 1),
        .upstream = field_at(place, 2),
        .tool = field_at(place, 3),
        .policy = field_at(place, 4),
    };

    if (kill->by != WRIT_KILL_CREDENTIAL) {
        return names(kill, &call);
    }
    fields_of(kill->issued, fields);
    return is_of(place, fields);
}

/* Under the lock: what was issued, and the stop names. */
static void
revoke(struct writ_kills *kills, const struct writ_kill *kill)
{
    int64_t now = now_s(kills);

    for (size_t i = 0; i < PLACES; i++) {
        struct place *place = &kills->places[i];

        if (place->until_s > now && (i >= COMMON || place->unknown || revokes(kill, place))) {
            place->revoked = true;
        }
    }
    kills->others_s = now + OVER_S;
    kills->changed = true;
}

/* Under the lock. */
static bool
is_revoked(const struct writ_kills *kills, int64_t place, int64_t now)
{
    const struct place *own;

    if (place / PLACES != kills->range) {
        return kills->others_s > now;
    }
    own = &kills->places[place % PLACES];
    return own->revoked && own->until_s > now;
}

enum writ_status
writ_kills_status(struct writ_kills *kills, int64_t place)
{
    bool revoked;

    if (place < 0 || place >= (int64_t)RANGES * PLACES) {
        return WRIT_STATUS_UNKNOWN;
    }
    (void)pthread_mutex_lock(&kills->lock);
    revoked = is_revoked(kills, place, now_s(kills));
    (void)pthread_mutex_unlock(&kills->lock);
    return revoked ? WRIT_STATUS_REVOKED : WRIT_STATUS_VALID;
}

/* ---- the list */

void
writ_kills_put_uri(struct writ_buf *buf, struct writ_view issuer)
{
    while (issuer.len > 0 && issuer.ptr[issuer.len - 1] == '/') {
        issuer.len--;
    }
    writ_buf_put(buf, issuer);
    writ_buf_str(buf, WRIT_KILLS_WELL_KNOWN);
}

static WRIT_RESULT
sign_list(struct writ_kills *kills, const struct writ_signer *signer, struct writ_view uri,
    int64_t now, struct writ_err *err)
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

    for (int64_t i = 0; i < (int64_t)RANGES * PLACES; i++) {
        if (is_revoked(kills, i, now)) {
            bits[i / 8] = (char)(bits[i / 8] | 1 << i % 8);
        }
    }
    WRIT_TRY(writ_status_list_issue(signer, &list, &token, err));
    writ_buf_wipe(&kills->token);
    kills->token = token;
    token = (struct writ_buf){0};
    kills->token_s = now;
    kills->signer = signer;
    kills->changed = false;
    return WRIT_DONE;
}

WRIT_RESULT
writ_kills_put_list(struct writ_kills *kills, const struct writ_signer *signer,
    struct writ_view uri, struct writ_buf *buf, struct writ_err *err)
{
    writ_result result = WRIT_DONE;
    int64_t now;

    (void)pthread_mutex_lock(&kills->lock);
    now = now_s(kills);
    if (kills->changed || kills->token_s != now || kills->signer != signer) {
        result = sign_list(kills, signer, uri, now, err);
    }
    if (writ_is_ok(result)) {
        writ_buf_put(buf, writ_buf_view(&kills->token));
    }
    (void)pthread_mutex_unlock(&kills->lock);
    return writ_is_ok(result) ? writ_buf_check(buf, err) : result;
}

/* ---- stops */

static void
take_out(struct writ_kills *kills, size_t i)
{
    struct stop *stop = &kills->stops[i];

    writ_buf_wipe(&stop->text);
    kills->stops_n--;
    if (i != kills->stops_n) {
        *stop = kills->stops[kills->stops_n];
        stop->kill.id = writ_view(stop->id, stop->kill.id.len);
    }
}

/* Under the lock: stops of credentials that are over. */
static void
forget(struct writ_kills *kills)
{
    for (size_t i = kills->stops_n; i-- > 0;) {
        const struct writ_kill *kill = &kills->stops[i].kill;

        if (kill->by == WRIT_KILL_CREDENTIAL && kill->at_us / US_PER_S + OVER_S < now_s(kills)) {
            take_out(kills, i);
        }
    }
}

/* Copies a stop behind the others. */
static WRIT_RESULT
add(struct writ_kills *kills, const struct writ_kill *kill, struct writ_err *err)
{
    struct stop *stop = &kills->stops[kills->stops_n];
    const struct writ_view from[] = {kill->value, kill->tenant, kill->reason, kill->who};
    struct writ_view *to[] = {
        &stop->kill.value, &stop->kill.tenant, &stop->kill.reason, &stop->kill.who};
    size_t at = 0;

    if (kills->stops_n == WRIT_KILLS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d stops hold", WRIT_KILLS_MAX);
    }
    if (kill->by == WRIT_KILL_NONE || kill->value.len == 0 ||
        kill->value.len > WRIT_KILLS_TEXT_MAX || kill->tenant.len > WRIT_KILLS_TEXT_MAX ||
        kill->reason.len > WRIT_KILLS_REASON_MAX || kill->who.len > WRIT_KILLS_TEXT_MAX ||
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
    for (size_t i = 0; i < 4; i++) {
        *to[i] = writ_view_sub(writ_buf_view(&stop->text), at, from[i].len);
        at += from[i].len;
    }
    stop->kill.id = writ_view_place(kill->id, stop->id);
    stop->kill.issued = NULL; /* its places are known by now */
    kills->stops_n++;
    return WRIT_DONE;
}

WRIT_RESULT
writ_kills_pull(struct writ_kills *kills, const struct writ_kill *kill, char ret_id[WRIT_ID_TEXT],
    struct writ_err *err)
{
    struct writ_kill mine = *kill;
    char id[WRIT_ID_TEXT];
    writ_result result;

    if (kill->by == WRIT_KILL_CREDENTIAL && kill->issued == NULL) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "a stop of a credential wants to know what it was issued for");
    }
    WRIT_TRY(writ_id_new(kills->clock, id, err));
    mine.id = writ_view_str(id);
    mine.at_us = writ_clock_wall_us(kills->clock);
    (void)pthread_mutex_lock(&kills->lock);
    forget(kills);
    result = add(kills, &mine, err);
    if (writ_is_ok(result)) {
        revoke(kills, &mine); /* keeps (1) */
        (void)writ_view_place(writ_view(id, sizeof id), ret_id);
        if (!writ_is_ok(save(kills, NULL, err))) {
            result.code = WRIT_E_IO; /* it works, and is not durable */
        }
    }
    (void)pthread_mutex_unlock(&kills->lock);
    return result;
}

WRIT_RESULT
writ_kills_lift(
    struct writ_kills *kills, struct writ_view id, struct writ_view tenant, struct writ_err *err)
{
    writ_result result = {WRIT_E_ABSENT};

    (void)pthread_mutex_lock(&kills->lock);
    for (size_t i = 0; i < kills->stops_n; i++) {
        struct stop *stop = &kills->stops[i];

        if (!writ_view_equal(stop->kill.id, id) ||
            (tenant.len > 0 && !writ_view_equal(tenant, stop->kill.tenant))) {
            continue;
        }
        result = save(kills, stop, err);
        if (writ_is_ok(result)) {
            take_out(kills, i);
        }
        break;
    }
    (void)pthread_mutex_unlock(&kills->lock);
    return result;
}

void
writ_kills_put(struct writ_kills *kills, struct writ_view tenant, struct writ_write *w)
{
    (void)pthread_mutex_lock(&kills->lock);
    forget(kills);
    writ_write_array_begin(w);
    for (size_t i = 0; i < kills->stops_n; i++) {
        const struct writ_kill *kill = &kills->stops[i].kill;

        if (tenant.len == 0 || writ_view_equal(kill->tenant, tenant)) {
            put_stop(w, kill);
        }
    }
    writ_write_array_end(w);
    (void)pthread_mutex_unlock(&kills->lock);
}

/* ---- opening */

static struct writ_view
text_of(const struct writ_json *object, struct writ_view name)
{
    return writ_json_string(writ_json_get(object, name));
}

static WRIT_RESULT
read_stop(struct writ_kills *kills, const struct writ_json *value, struct writ_err *err)
{
    struct writ_kill kill = {
        .id = text_of(value, WRIT_LIT("id")),
        .by = writ_kills_by_find(text_of(value, WRIT_LIT("by"))),
        .value = text_of(value, WRIT_LIT("value")),
        .tenant = text_of(value, WRIT_LIT("tenant")),
        .reason = text_of(value, WRIT_LIT("reason")),
        .who = text_of(value, WRIT_LIT("who")),
    };

    if (!writ_is_ok(writ_time_read(text_of(value, WRIT_LIT("at")), &kill.at_us)) ||
        kill.id.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a stop in it has no id or no time");
    }
    return add(kills, &kill, err);
}

static bool
read_began(const struct writ_json *value, int64_t ret[RANGES])
{
    size_t i = 0;

    if (writ_json_type(value) != WRIT_JSON_ARRAY) {
        return false;
    }
    WRIT_JSON_EACH(one, value)
    {
        if (i == RANGES ||
            !writ_is_ok(writ_json_integer(one, 0, INT64_MAX / US_PER_S, &ret[i++]))) {
            return false;
        }
    }
    return i == RANGES;
}

/* The next range is this run's. Its last run ended before the next one began, and what that issued
 * may live for a while. */
static void
take_range(struct writ_kills *kills, int64_t last)
{
    int64_t now = now_s(kills), over_s, before_s;

    kills->range = (last + 1) % RANGES;
    over_s =
        kills->began_s[(kills->range + 1) % RANGES] + kills->longest_s + WRIT_CREDENTIAL_SKEW_MAX_S;
    before_s = kills->began_s[kills->range];
    kills->began_s[kills->range] = now > before_s ? now : before_s + 1; /* no two are the same */
    for (size_t i = 0; before_s > 0 && over_s > now && i < PLACES; i++) {
        struct place *place = &kills->places[i];

        place->unknown = i != late_of(kills);
        place->until_s = place->unknown ? over_s : 0;
        place->revoked = place->unknown && kills->others_s > now;
    }
}

static WRIT_RESULT
read_file(struct writ_kills *kills, struct writ_view text, struct writ_err *err)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *file = NULL;
    int64_t version, range = 0;
    writ_result result;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for what was stopped");
    }
    limits.bytes = FILE_MAX;
    result = writ_json_read(text, &limits, arena, &file, err);
    if (writ_is_ok(result) &&
        (!writ_is_ok(writ_json_integer(
             writ_json_get(file, WRIT_LIT("version")), VERSION, VERSION, &version)) ||
            !writ_is_ok(
                writ_json_integer(writ_json_get(file, WRIT_LIT("range")), 0, RANGES - 1, &range)) ||
            !writ_is_ok(writ_json_integer(writ_json_get(file, WRIT_LIT("revoked_until")), 0,
                INT64_MAX / US_PER_S, &kills->others_s)) ||
            !writ_is_ok(writ_json_integer(writ_json_get(file, WRIT_LIT("longest")), 0,
                WRIT_CREDENTIAL_LIFETIME_MAX_S, &kills->longest_s)) ||
            !read_began(writ_json_get(file, WRIT_LIT("began")), kills->began_s) ||
            writ_json_type(writ_json_get(file, WRIT_LIT("kills"))) != WRIT_JSON_ARRAY)) {
        result = writ_fail(err, WRIT_E_INVALID, "not a file of stops");
    }
    if (writ_is_ok(result)) {
        WRIT_JSON_EACH(value, writ_json_get(file, WRIT_LIT("kills")))
        {
            result = writ_is_ok(result) ? read_stop(kills, value, err) : result;
        }
    }
    take_range(kills, range);
    writ_arena_free(arena);
    return result;
}

static WRIT_RESULT
open_file(struct writ_kills *kills, const char *store, struct writ_err *err)
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
    kills->name = writ_buf_make(WRIT_TRUSTED_NAME_MAX + 1);
    writ_buf_put(&kills->name, writ_view_sub(path, end, SIZE_MAX));
    writ_buf_str(&kills->name, SUFFIX);
    writ_buf_byte(&kills->name, '\0');
    WRIT_TRY(writ_buf_check(&folder, err));
    WRIT_TRY(writ_buf_check(&kills->name, err));
    WRIT_TRY(writ_trusted_dir(folder.ptr, &kills->dir, err));
    result = writ_trusted_read(kills->dir, kills->name.ptr, WRIT_TRUSTED_UNWRITABLE, &text, &why);
    if (result.code == WRIT_E_ABSENT) {
        kills->began_s[0] = now_s(kills);
        return save(kills, NULL, err);
    }
    if (writ_is_ok(result)) {
        result = read_file(kills, writ_buf_view(&text), &why);
    }
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s: %s", kills->name.ptr, why.text);
    }
    return save(kills, NULL, err); /* the range is this run's */
}

WRIT_RESULT
writ_kills_open(const char *store, const struct writ_clock *clock, struct writ_kills **ret,
    struct writ_err *err)
{
    struct writ_kills *kills = writ_alloc(sizeof *kills);
    writ_result result;

    if (kills == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for what was stopped");
    }
    kills->dir = -1;
    kills->clock = clock;
    kills->stops = writ_alloc(WRIT_KILLS_MAX * sizeof *kills->stops);
    if (kills->stops == NULL || pthread_mutex_init(&kills->lock, NULL) != 0) {
        writ_free(kills->stops);
        writ_free(kills);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for what was stopped");
    }
    result = open_file(kills, store, err);
    if (!writ_is_ok(result)) {
        writ_kills_free(kills);
        return result;
    }
    *ret = kills;
    return WRIT_DONE;
}

void
writ_kills_free(struct writ_kills *kills)
{
    if (kills == NULL) {
        return;
    }
    for (size_t i = 0; i < kills->stops_n; i++) {
        writ_buf_wipe(&kills->stops[i].text);
    }
    for (size_t i = 0; i < PLACES; i++) {
        writ_buf_wipe(&kills->places[i].text);
    }
    writ_buf_wipe(&kills->token);
    writ_buf_wipe(&kills->name);
    writ_trusted_close(&kills->dir);
    (void)pthread_mutex_destroy(&kills->lock);
    writ_free(kills->stops);
    writ_free(kills);
}
