/* kill_confirm.c - looks at the rows of the other gateways until all know the record, or the time
 * for the answer is over. */
#include "gateway/admin/kill_confirm.h"

#include "store/ledger/ledger.h"

#include <time.h>

#define WAIT_US INT64_C(2000000) /* several looks of a gateway that has nothing to do */
#define STEP_NS 20000000L

struct looking {
    struct writ_arena *arena; /* NULL: the names are counted */
    struct writ_kill_confirm *ret;
};

static bool
note(void *ctx, struct writ_view gateway)
{
    struct looking *looking = ctx;
    struct writ_kill_confirm *ret = looking->ret;

    ret->names[ret->n++] =
        looking->arena != NULL ? writ_view_copy(gateway, looking->arena) : writ_view(NULL, 0);
    return ret->n < WRIT_KILL_CONFIRM_NAMES;
}

/* True: they were read. */
static bool
look(const struct writ_gateway *gateway, struct writ_reader *reader, uint64_t leaf,
    struct writ_arena *arena, struct writ_kill_confirm *ret)
{
    struct looking looking = {.arena = arena, .ret = ret};

    ret->n = 0;
    return writ_is_ok(writ_reader_unheard(
        reader, leaf, writ_ledger_epoch(gateway->ledger), note, &looking, NULL));
}

void
writ_kill_confirm_wait(const struct writ_gateway *gateway, struct writ_reader *reader, bool durable,
    uint64_t leaf, struct writ_arena *arena, struct writ_kill_confirm *ret)
{
    const struct timespec step = {.tv_nsec = STEP_NS};
    int64_t until_us = writ_clock_mono_us(gateway->clock) + WAIT_US;

    *ret = (struct writ_kill_confirm){.confirmed = false};
    if (reader == NULL) {
        return;
    }
    while (durable && !ret->confirmed && writ_clock_mono_us(gateway->clock) < until_us &&
           !writ_ledger_query_stops(gateway->queries)) {
        ret->confirmed = look(gateway, reader, leaf, NULL, ret) && ret->n == 0;
        if (!ret->confirmed) {
            (void)nanosleep(&step, NULL);
        }
    }
    if (!ret->confirmed) { /* without a record none of the others knows it */
        ret->confirmed =
            look(gateway, reader, durable ? leaf : INT64_MAX, arena, ret) && durable && ret->n == 0;
    }
}

void
writ_kill_confirm_put(const struct writ_kill_confirm *confirm, struct writ_write *w)
{
    writ_write_flag(w, "confirmed", confirm->confirmed);
    writ_write_name(w, WRIT_LIT("unconfirmed"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < confirm->n; i++) {
        writ_write_string(w, confirm->names[i]);
    }
    writ_write_array_end(w);
}
