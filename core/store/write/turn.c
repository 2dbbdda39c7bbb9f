/* `inside` is true from the beginning of a transaction to its end. */
#include "store/write/turn.h"

WRIT_RESULT
writ_turn_enter(struct writ_ledger *ledger, struct writ_err *err)
{
    return ledger->sharing == NULL || ledger->turn.inside ? WRIT_DONE
                                                          : ledger->sharing->enter(ledger, err);
}

WRIT_RESULT
writ_turn_begin(struct writ_ledger *ledger, struct writ_err *err)
{
    if (ledger->sharing != NULL) {
        return writ_turn_enter(ledger, err);
    }
    WRIT_TRY(writ_file_same(&ledger->file, err));
    WRIT_TRY(writ_disk_begin(&ledger->disk, err));
    ledger->turn.inside = true;
    return WRIT_DONE;
}

WRIT_RESULT
writ_turn_finish(struct writ_ledger *ledger, writ_result result, struct writ_err *err)
{
    /* a file that is exchanged during the commit is like one that is exchanged right after it: the
     * next transaction notices */
    if (writ_is_ok(result) && ledger->sharing != NULL) {
        result = ledger->sharing->write(ledger, err);
    }
    result = writ_disk_finish(&ledger->disk, result, err);
    ledger->turn.inside = false;
    return ledger->sharing == NULL ? result : ledger->sharing->ended(ledger, result, err);
}

void
writ_turn_leave(struct writ_ledger *ledger)
{
    if (ledger->turn.inside) {
        writ_sql_rollback(ledger->disk.sql);
        ledger->turn.inside = false;
    }
}
