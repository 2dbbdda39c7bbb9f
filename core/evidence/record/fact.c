/* Writes and reads facts in one fixed form; reading accepts only the bytes that writing makes. */
#include "evidence/record/fact.h"

#include "base/clock.h"
#include "evidence/json/write.h"

#define MEMBERS 4

static const struct writ_view names[] = {[WRIT_FACT_NONE] = {"", 0},
#define FACT_NAME(NAME, name) [WRIT_FACT_##NAME] = {#name, sizeof #name - 1},
    WRIT_FACTS(FACT_NAME)
#undef FACT_NAME
};

static enum writ_fact_event
find(struct writ_view name)
{
    for (size_t i = 1; i < sizeof names / sizeof names[0]; i++) {
        if (writ_view_equal(names[i], name)) {
            return (enum writ_fact_event)i;
        }
    }
    return WRIT_FACT_NONE;
}

WRIT_RESULT
writ_fact_put(enum writ_fact_event event, uint64_t n, int64_t at_us, struct writ_view data,
    struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);
    char at[WRIT_TIME_TEXT];

    writ_time_format(at_us, at);
    writ_write_object_begin(&w);
    writ_write_text(&w, "at", writ_view_str(at));
    writ_write_name(&w, WRIT_LIT("data"));
    writ_write_raw(&w, data);
    writ_write_text(&w, "event", names[event]);
    writ_write_count(&w, "n", n);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

WRIT_RESULT
writ_fact_read(const struct writ_json *value, struct writ_fact *ret, struct writ_err *err)
{
    struct writ_fact fact = {
        .event = find(writ_json_string(writ_json_get(value, WRIT_LIT("event")))),
        .data = writ_json_get_typed(value, WRIT_LIT("data"), WRIT_JSON_OBJECT),
    };
    int64_t n = 0;
    size_t members = 0;

    WRIT_JSON_EACH(name, value)
    {
        members += writ_json_string(name).ptr != NULL;
    }
    if (fact.event == WRIT_FACT_NONE || fact.data == NULL || members != MEMBERS ||
        !writ_is_ok(
            writ_time_read(writ_json_string(writ_json_get(value, WRIT_LIT("at"))), &fact.at_us)) ||
        !writ_is_ok(
            writ_json_integer(writ_json_get(value, WRIT_LIT("n")), 0, INT64_MAX >> 10, &n))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "it is not a fact that a ledger writes");
    }
    fact.n = (uint64_t)n;
    *ret = fact;
    return WRIT_DONE;
}
