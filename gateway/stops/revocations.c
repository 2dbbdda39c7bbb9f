/* revocations.c - places of the status list, and the credentials that have them.
 *
 * Invariants:
 * (1) A revoked place is not given to another credential before its time is over.
 * (2) A run gives only places of its own range. Where an earlier run gave places of that range to
 *     credentials that may still live, these places count as given to unknown credentials, which
 *     every stop names. */
#include "gateway/stops/revocations.h"

#include "evidence/credential/credential.h"

#define EACH   WRIT_REVOCATIONS_EACH
#define RANGES WRIT_REVOCATIONS_RANGES
#define FIELDS WRIT_REVOCATIONS_FIELDS
#define OVER_S (WRIT_CREDENTIAL_LIFETIME_MAX_S + WRIT_CREDENTIAL_SKEW_MAX_S)
/* A range, from its end: one place for all calls without their own; before it, while an earlier run
 * may have given that one, a place for each second that a credential may live, so that of two runs
 * that need one each has its own; the other places are given one by one. */
#define SHARED (EACH - 1)
#define LATES  (OVER_S + 1)
#define COMMON (EACH - 1 - LATES)
#define WINDOW 32 /* places that one group may have */

/* ---- the run ---- */

static size_t
late_of(const struct writ_revocations *r)
{
    return COMMON + (size_t)(r->began_s[r->range] % LATES);
}

void
writ_revocations_begin(struct writ_revocations *r, int64_t now_s)
{
    r->began_s[r->range] = now_s;
}

/* The last run of that range ended before the next one began, and its credentials may live for a
 * while. */
void
writ_revocations_follow(struct writ_revocations *r, int64_t now_s)
{
    int64_t over_s, before_s;

    r->range = (r->range + 1) % RANGES;
    over_s = r->began_s[(r->range + 1) % RANGES] + r->longest_s + WRIT_CREDENTIAL_SKEW_MAX_S;
    before_s = r->began_s[r->range];
    r->began_s[r->range] = now_s > before_s ? now_s : before_s + 1; /* no two are the same */
    if (before_s == 0 || over_s <= now_s) {
        return;
    }
    for (size_t i = 0; i < EACH; i++) { /* keeps (2) */
        struct writ_revocations_place *place = &r->places[i];

        place->unknown = i != late_of(r);
        place->until_s = place->unknown ? over_s : 0;
        place->revoked = place->unknown && r->others_s > now_s;
    }
}

void
writ_revocations_wipe(struct writ_revocations *r)
{
    for (size_t i = 0; i < EACH; i++) {
        writ_buf_wipe(&r->places[i].text);
    }
}

/* ---- what a place is for ---- */

static void
fields_of(const struct writ_kill_call *call, struct writ_view ret[FIELDS])
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
    uint64_t sum = UINT64_C(14695981039346656037); /* FNV-1a */

    for (size_t i = 0; i < FIELDS; i++) {
        for (size_t at = 0; at < fields[i].len; at++) {
            sum = (sum ^ (unsigned char)fields[i].ptr[at]) * UINT64_C(1099511628211);
        }
        sum = (sum ^ 0x100) * UINT64_C(1099511628211);
    }
    return sum ^ sum >> 32;
}

static struct writ_view
field_at(const struct writ_revocations_place *place, size_t i)
{
    size_t from = i > 0 ? place->ends[i - 1] : 0;

    return writ_view_sub(writ_buf_view(&place->text), from, place->ends[i] - from);
}

static bool
is_of(const struct writ_revocations_place *place, const struct writ_view *fields)
{
    for (size_t i = 0; i < FIELDS; i++) {
        if (!writ_view_equal(field_at(place, i), fields[i])) {
            return false;
        }
    }
    return true;
}

/* False: no memory; the place stays free then. */
static bool
settle(struct writ_revocations_place *place, const struct writ_view *fields)
{
    writ_buf_wipe(&place->text);
    *place = (struct writ_revocations_place){.text = writ_buf_make(UINT16_MAX)};
    for (size_t i = 0; i < FIELDS; i++) {
        writ_buf_put(&place->text, fields[i]);
        place->ends[i] = (uint16_t)place->text.len;
    }
    return writ_is_ok(writ_buf_check(&place->text, NULL));
}

/* ---- giving ---- */

/* The shared place of calls without their own; NULL when it is revoked. */
static struct writ_revocations_place *
shared_place(struct writ_revocations *r, int64_t now_s)
{
    struct writ_revocations_place *place = &r->places[SHARED];

    if (place->unknown && place->until_s > now_s) {
        place = &r->places[late_of(r)];
    }
    if (place->until_s <= now_s) {
        place->revoked = place->unknown = false;
    }
    return place->revoked ? NULL : place;
}

/* The place of the call, else a new one, else the shared one. */
static struct writ_revocations_place *
find_place(struct writ_revocations *r, const struct writ_view *fields, int64_t now_s)
{
    size_t from = hash(fields) % COMMON;
    struct writ_revocations_place *room = NULL;

    for (size_t i = 0; i < WINDOW; i++) {
        struct writ_revocations_place *place = &r->places[(from + i) % COMMON];
        bool over = place->until_s <= now_s;

        if (!over && !place->revoked && is_of(place, fields)) {
            return place;
        }
        if (over && room == NULL) { /* keeps (1) */
            room = place;
        }
    }
    return room != NULL && settle(room, fields) ? room : shared_place(r, now_s);
}

bool
writ_revocations_give(struct writ_revocations *r, const struct writ_kill_call *call, int64_t now_s,
    int64_t until_s, int64_t *ret)
{
    struct writ_view fields[FIELDS];
    struct writ_revocations_place *place;
    int64_t over_s = until_s + WRIT_CREDENTIAL_SKEW_MAX_S;

    fields_of(call, fields);
    place = find_place(r, fields, now_s);
    if (place == NULL) {
        return false;
    }
    place->until_s = over_s > place->until_s ? over_s : place->until_s;
    *ret = r->range * EACH + (place - r->places); /* keeps (2) */
    return true;
}

/* ---- revoking ---- */

/* Whether a stop names credentials in a place. */
static bool
is_named(const struct writ_revocations_place *place, const struct writ_kill *kill)
{
    struct writ_view fields[FIELDS];
    const struct writ_kill_call call = {
        .agent_id = field_at(place, 0),
        .tenant = field_at(place, 1),
        .upstream = field_at(place, 2),
        .tool = field_at(place, 3),
        .policy = field_at(place, 4),
    };

    if (kill->by != WRIT_KILL_CREDENTIAL) {
        return writ_kill_names(kill, &call);
    }
    if (kill->issued == NULL) { /* another gateway stopped it, and only that one knows its call */
        return true;
    }
    fields_of(kill->issued, fields);
    return is_of(place, fields);
}

void
writ_revocations_revoke(struct writ_revocations *r, const struct writ_kill *kill, int64_t now_s)
{
    for (size_t i = 0; i < EACH; i++) {
        struct writ_revocations_place *place = &r->places[i];

        if (place->until_s > now_s && (i >= COMMON || place->unknown || is_named(place, kill))) {
            place->revoked = true;
        }
    }
    r->others_s = now_s + OVER_S;
}

void
writ_revocations_hear(struct writ_revocations *r, int64_t until_s, int64_t now_s)
{
    if (until_s <= now_s || until_s <= r->others_s) {
        return;
    }
    r->others_s = until_s;
    for (size_t i = 0; i < EACH; i++) {
        r->places[i].revoked = r->places[i].revoked || r->places[i].unknown;
    }
}

bool
writ_revocations_has(const struct writ_revocations *r, int64_t place, int64_t now_s)
{
    const struct writ_revocations_place *own;

    if (place / EACH != r->range) {
        return r->others_s > now_s;
    }
    own = &r->places[place % EACH];
    return own->revoked && own->until_s > now_s;
}
