/* `keeping.noted_us` holds from the last WRIT_FACT_KEPT on. `keeping.most_us` is at least as long
 * as any claim that still stands was promised to stand: it is the longest of the time in the
 * options, the time that holds, and each earlier time whose last claim can still stand. */
#include "store/start/keeping.h"

#include "evidence/json/write.h"
#include "store/write/facts.h"

#define US_PER_S  INT64_C(1000000)
#define UNNOTED_S 86400 /* holds before the first fact */
#define DATA_MAX  64

/* The longest time of the options, in whole seconds, as a record can state it. */
static int64_t
longest_s(const struct writ_ledger_options *options)
{
    int64_t us = options->claim_kept_us > options->window_kept_us ? options->claim_kept_us
                                                                  : options->window_kept_us;

    return (us + US_PER_S - 1) / US_PER_S;
}

static void
take(struct writ_ledger_keeping *keeping, int64_t kept_us)
{
    keeping->most_us = kept_us > keeping->most_us ? kept_us : keeping->most_us;
}

void
writ_keeping_begin(struct writ_ledger *ledger)
{
    ledger->keeping.noted_us = UNNOTED_S * US_PER_S;
    ledger->keeping.most_us = longest_s(&ledger->options) * US_PER_S;
}

WRIT_RESULT
writ_keeping_hear(struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err)
{
    int64_t seconds = 0;

    if (fact->event != WRIT_FACT_KEPT) {
        return WRIT_DONE;
    }
    if (!writ_is_ok(writ_json_integer(writ_json_get(fact->data, WRIT_LIT("seconds")), 1,
            WRIT_TIME_MOST_US / US_PER_S, &seconds))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "fact %llu is not readable: see `writ ledger verify`",
            (unsigned long long)fact->n);
    }
    if (fact->at_us > ledger->log.last_us - ledger->keeping.noted_us) {
        take(&ledger->keeping, ledger->keeping.noted_us); /* claims from right before this fact
                                                             stand */
    }
    ledger->keeping.noted_us = seconds * US_PER_S;
    return WRIT_DONE;
}

void
writ_keeping_end(struct writ_ledger *ledger)
{
    take(&ledger->keeping, ledger->keeping.noted_us);
}

WRIT_RESULT
writ_keeping_record(struct writ_ledger *ledger)
{
    writ_auto_buf data = writ_buf_make(DATA_MAX);
    struct writ_write w = writ_write_to(&data);
    int64_t seconds = longest_s(&ledger->options);

    if (seconds * US_PER_S == ledger->keeping.noted_us) {
        return WRIT_DONE;
    }
    writ_write_object_begin(&w);
    writ_write_count(&w, "seconds", (uint64_t)seconds);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    WRIT_TRY(writ_facts_record(ledger, WRIT_FACT_KEPT, writ_buf_view(&data)));
    ledger->keeping.noted_us = seconds * US_PER_S;
    return WRIT_DONE;
}
