/* Nothing from before a loss continues. The loss is recorded first, by the same checkpoint that
 * covers the records that nothing proved: so a ledger that was killed meanwhile either is still to
 * be resumed, or says that it was. Then sessions, reviews and runs from before it end, at the next
 * start if need be. Later facts release tools. */
#include "store/start/resuming.h"

#include "evidence/json/write.h"
#include "store/reviews/review_time.h"
#include "store/tables/review_index.h"
#include "store/write/facts.h"
#include "store/write/group.h"
#include "store/write/sealing.h"

#define DATA_MAX 256

WRIT_RESULT
writ_resuming_forget_sessions(struct writ_disk *disk, struct writ_err *err)
{
    return writ_disk_run(disk, WRIT_SQL_SESSIONS_CLEAR, err, "");
}

uint64_t
writ_resuming_since(const struct writ_ledger *ledger)
{
    return ledger->options.resume ? UINT64_MAX : ledger->resumed.leaf;
}

static size_t
live_reviews(const struct writ_ledger *ledger)
{
    const struct writ_reviewed *review = ledger->reviews.ring;
    size_t n = 0;

    for (size_t i = 0; i < ledger->reviews.count; i++, review = review->next) {
        n += writ_review_phase(review->story.state) == WRIT_REVIEW_LIVE &&
             review->leaf < writ_resuming_since(ledger);
    }
    return n;
}

/* Each sweep ends as many as one group holds. */
static WRIT_RESULT
end_reviews(struct writ_ledger *ledger)
{
    struct writ_reviewed *review = ledger->reviews.ring;

    for (size_t i = 0; i < ledger->reviews.count; i++, review = review->next) {
        review->outdated = review->outdated || review->leaf < writ_resuming_since(ledger);
        writ_review_index_look(&ledger->reviews, review);
    }
    for (size_t left = live_reviews(ledger), now; left > 0; left = now) {
        writ_review_time_sweep(ledger);
        now = live_reviews(ledger);
        if (now == left) {
            return (writ_result){WRIT_E_IO};
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_resuming_record(struct writ_ledger *ledger)
{
    writ_auto_buf data = writ_buf_make(DATA_MAX);
    struct writ_write w = writ_write_to(&data);

    writ_write_object_begin(&w);
    writ_write_count(&w, "had", ledger->log.had);
    writ_write_count(&w, "has", ledger->log.opened);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_facts_record(ledger, WRIT_FACT_RESUMED, writ_buf_view(&data));
}

WRIT_RESULT
writ_resuming_end_all(struct writ_ledger *ledger)
{
    WRIT_TRY(end_reviews(ledger));
    return writ_sealing_all(ledger, writ_resuming_since(ledger));
}

WRIT_RESULT
writ_resuming_hear(
    struct writ_ledger_resumed *resumed, const struct writ_fact *fact, struct writ_err *err)
{
    if (fact->event == WRIT_FACT_RESUMED) { /* of an earlier loss nothing is released any more */
        resumed->at_us = fact->at_us;
        resumed->leaf = fact->leaf;
        writ_buf_clear(&resumed->released);
    } else if (fact->event == WRIT_FACT_RELEASED) {
        writ_buf_byte(&resumed->released, '\n');
        writ_buf_put(
            &resumed->released, writ_json_string(writ_json_get(fact->data, WRIT_LIT("tool"))));
        writ_buf_byte(&resumed->released, '\n');
    }
    return writ_buf_check(&resumed->released, err);
}
