/* Records of stops that were in other hands: they are refused, or read. Then every listed stop
 * stops what it names, can be lifted by its id, and the recorded rows read again as the same
 * stops. */
#include "support/fuzz.h"
#include "support/gateway/memo.h"
#include "support/shelter.h"

#include "evidence/json/jcs.h"
#include "gateway/stops/stop_rules.h"

#define ARENA_MAX ((size_t)64 << 20)
#define LIST_MAX  ((size_t)16 << 20)

static char store[64];
static struct writ_arena *arena;
static struct writ_memo memo;

static void
prepare(const uint8_t *data, size_t size)
{
    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    writ_arena_reset(arena);
    (void)shelter_name("ledger.db", store, sizeof store);
    shelter_put("ledger.db.places.json", writ_view(data, size));
}

static void
put(struct writ_stop_rules *kills, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_stop_rules_put(kills, writ_view(NULL, 0), &w);
    WRIT_INVARIANT(writ_is_ok(writ_write_end(&w, NULL)));
}

static struct writ_view
member(const struct writ_json *stop, struct writ_view name)
{
    return writ_json_string(writ_json_get(stop, name));
}

/* The call that a stop names; no stop without a common value names it. */
static struct writ_kill_call
named(const struct writ_json *stop)
{
    struct writ_view value = member(stop, WRIT_LIT("value"));
    struct writ_kill_call call = {.tenant = member(stop, WRIT_LIT("tenant"))};
    size_t slash = writ_view_find(value, '/');

    switch (writ_kill_by_find(member(stop, WRIT_LIT("by")))) {
    case WRIT_KILL_AGENT:
        call.agent_id = value;
        break;
    case WRIT_KILL_TOOL:
        call.upstream = writ_view_sub(value, 0, slash);
        call.tool = writ_view_sub(value, slash + 1, value.len);
        break;
    case WRIT_KILL_TENANT:
        call.tenant = value;
        break;
    case WRIT_KILL_POLICY:
        call.policy = value;
        break;
    case WRIT_KILL_CREDENTIAL:
        call.decision_id = value;
        break;
    case WRIT_KILL_NONE:
        WRIT_INVARIANT(false);
    }
    return call;
}

static bool
is_nameable(const struct writ_json *stop)
{
    enum writ_kill_by by = writ_kill_by_find(member(stop, WRIT_LIT("by")));
    struct writ_view value = member(stop, WRIT_LIT("value"));
    struct writ_view tenant = member(stop, WRIT_LIT("tenant"));

    if (by == WRIT_KILL_TOOL) {
        return writ_view_find(value, '/') < value.len;
    }
    return by != WRIT_KILL_TENANT || tenant.len == 0 || writ_view_equal(tenant, value);
}

static void
check_stops(struct writ_stop_rules *kills, struct writ_view list)
{
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *stops = NULL;

    limits.bytes = LIST_MAX;
    WRIT_INVARIANT(writ_is_ok(writ_json_read(list, &limits, arena, &stops, NULL)));
    WRIT_JSON_EACH(stop, stops)
    {
        struct writ_kill_call call = named(stop);
        int64_t place;

        WRIT_INVARIANT(!is_nameable(stop) || writ_stop_rules_stops(kills, &call));
        WRIT_INVARIANT(
            !is_nameable(stop) || !writ_stop_rules_admit(kills, &call, INT32_MAX, &place));
    }
    WRIT_JSON_EACH(stop, stops)
    {
        WRIT_INVARIANT(writ_is_ok(writ_memo_lift(&memo, kills, member(stop, WRIT_LIT("id")))));
    }
}

/* The members of `kills` as the facts of a ledger. False: there are none, or too many. */
static bool
recorded(const uint8_t *data, size_t size)
{
    const struct writ_json *file = NULL;

    memo.clock = writ_clock_system();
    if (!writ_is_ok(
            writ_json_read(writ_view(data, size), &writ_json_limits_default, arena, &file, NULL))) {
        return false;
    }
    WRIT_JSON_EACH(stop, writ_json_get(file, WRIT_LIT("kills")))
    {
        writ_auto_buf text = writ_buf_make(1 << 20);

        if (writ_json_type(stop) != WRIT_JSON_OBJECT ||
            !writ_is_ok(writ_jcs_put(&text, stop, NULL)) || memo.n + 8 > WRIT_MEMO_MAX / 2 ||
            !writ_is_ok(
                writ_memo_write(&memo, WRIT_FACT_KILL_PULLED, writ_buf_view(&text), NULL))) {
            return false;
        }
    }
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    writ_auto_buf list = writ_buf_make(LIST_MAX), again = writ_buf_make(LIST_MAX);
    struct writ_stop_rules *kills = NULL;

    prepare(data, size);
    if (!recorded(data, size) ||
        !writ_is_ok(writ_memo_open(&memo, store, writ_clock_system(), &kills, NULL))) {
        WRIT_INVARIANT(kills == NULL);
        writ_memo_wipe(&memo);
        return 0;
    }
    put(kills, &list);
    writ_stop_rules_free(kills);
    kills = NULL;
    WRIT_INVARIANT(writ_is_ok(writ_memo_open(&memo, store, writ_clock_system(), &kills, NULL)));
    put(kills, &again);
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&list), writ_buf_view(&again)));
    check_stops(kills, writ_buf_view(&again));
    writ_buf_clear(&again);
    put(kills, &again);
    WRIT_INVARIANT(writ_view_is(writ_buf_view(&again), "[]"));
    writ_stop_rules_free(kills);
    writ_memo_wipe(&memo);
    return 0;
}
