/* signing.c - see signing.h. */
#include "store/write/signing.h"

#include "store/write/turn.h"

void
writ_signing_init(struct writ_ledger *ledger)
{
    struct writ_ledger_signing *signing = &ledger->signing;
    struct writ_view key = ledger->options.tail_key;

    if (key.ptr != NULL) {
        (void)writ_view_place(key, (char *)signing->key);
        ledger->options.tail_key = writ_view((const char *)signing->key, sizeof signing->key);
        signing->together = ledger->sharing == NULL;
    }
}

void
writ_signing_wipe(struct writ_ledger *ledger)
{
    writ_wipe(ledger->signing.key, sizeof ledger->signing.key);
}

/* ---- groups ---- */

/* The time of the last record of the group. */
static int64_t
last_us(const struct writ_group *group)
{
    return group->rows[group->rows_n - 1].row.time_us;
}

static bool
is_due(const struct writ_ledger *ledger)
{
    const struct writ_ledger_signing *signing = &ledger->signing;
    int64_t since_us = writ_clock_mono_us(ledger->options.clock) - signing->signed_us;

    return signing->signed_us == 0 || since_us >= WRIT_HEADS_SIGN_US ||
           last_us(&ledger->group) - signing->covered_us >= WRIT_HEADS_SIGN_US;
}

WRIT_RESULT
writ_signing_note(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_group *group = &ledger->group;
    struct writ_ledger_signing *signing = &ledger->signing;
    uint8_t mac[WRIT_HEADS_MAC];

    writ_buf_clear(&group->note);
    signing->is_signed = !signing->together || is_due(ledger);
    if (signing->is_signed) {
        return writ_heads_sign(&ledger->trust, &group->edge, &group->note, err);
    }
    WRIT_TRY(writ_heads_mac(&ledger->trust, ledger->options.tail_key, &group->edge, mac, err));
    writ_buf_put(&group->note, writ_view((const char *)mac, sizeof mac));
    return writ_buf_check(&group->note, err);
}

static void
note_signed(struct writ_ledger *ledger, int64_t covered_us)
{
    struct writ_ledger_signing *signing = &ledger->signing;

    signing->signed_us = writ_clock_mono_us(ledger->options.clock);
    signing->since_us = signing->tried_us = 0;
    signing->covered_us = covered_us;
}

void
writ_signing_written(struct writ_ledger *ledger)
{
    struct writ_ledger_signing *signing = &ledger->signing;

    if (signing->is_signed) {
        note_signed(ledger, last_us(&ledger->group));
        return;
    }
    signing->leaf = ledger->log.edge.size; /* the edge is still that before the group */
    if (signing->since_us == 0) {
        signing->since_us = writ_clock_mono_us(ledger->options.clock);
    }
}

/* ---- the last ones ---- */

static WRIT_RESULT
write_note(struct writ_ledger *ledger, uint64_t leaf, struct writ_view note, struct writ_err *err)
{
    WRIT_TRY(writ_turn_begin(ledger, err));
    return writ_turn_finish(
        ledger, writ_disk_run(&ledger->disk, WRIT_SQL_SIGN_HEAD, err, "bu", note, leaf), err);
}

WRIT_RESULT
writ_signing_sign(struct writ_ledger *ledger, uint64_t leaf, struct writ_err *err)
{
    writ_auto_buf note = writ_buf_make(WRIT_NOTE_BYTES_MAX);

    WRIT_TRY(writ_heads_sign(&ledger->trust, &ledger->log.edge, &note, err));
    WRIT_TRY(write_note(ledger, leaf, writ_buf_view(&note), err));
    note_signed(ledger, ledger->log.edge_us);
    return WRIT_DONE;
}

static int64_t
due_us(const struct writ_ledger *ledger)
{
    const struct writ_ledger_signing *signing = &ledger->signing;

    return signing->tried_us != 0 ? signing->tried_us + ledger->options.retry_us
                                  : signing->since_us + WRIT_HEADS_SIGN_US;
}

bool
writ_signing_waits(const struct writ_ledger *ledger)
{
    return ledger->signing.since_us != 0;
}

int64_t
writ_signing_rest_us(const struct writ_ledger *ledger, int64_t rest_us)
{
    int64_t left_us = due_us(ledger) - writ_clock_mono_us(ledger->options.clock);

    if (!writ_signing_waits(ledger) || ledger->disk.poisoned || left_us >= rest_us) {
        return rest_us;
    }
    return left_us > 0 ? left_us : 0;
}

WRIT_RESULT
writ_signing_work(struct writ_ledger *ledger, struct writ_err *err)
{
    int64_t now_us = writ_clock_mono_us(ledger->options.clock);

    if (!writ_signing_waits(ledger) || ledger->disk.poisoned || now_us < due_us(ledger)) {
        return WRIT_DONE;
    }
    ledger->signing.tried_us = now_us; /* until it is signed */
    return writ_signing_sign(ledger, ledger->signing.leaf, err);
}

void
writ_signing_close(struct writ_ledger *ledger)
{
    if (writ_signing_waits(ledger) && !ledger->disk.poisoned) {
        WRIT_IGNORE(writ_signing_sign(ledger, ledger->signing.leaf, NULL));
    }
}
