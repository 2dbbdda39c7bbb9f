/* writ receipt: one file that proves the history of a call. It is complete or an error, and the
 * ledger is only read. */
#include "cli/commands/archive_option.h"
#include "store/read/receipts.h"
#include "store/trusted/keydir.h"

static WRIT_RESULT
run(const struct writ_cli *cli, struct writ_err *err)
{
    writ_auto_keyring ring = NULL;
    writ_auto_reader reader = NULL;
    writ_auto_proofs proofs = NULL;
    writ_auto_buf receipt = writ_buf_make(WRIT_RECEIPT_BYTES_MAX);
    writ_auto_buf note =
        writ_buf_make(WRIT_NOTE_BYTES_MAX + 1); /* more than the limit, to name it */
    const char *ledger = writ_cli_get(cli, "ledger").ptr;

    WRIT_TRY(writ_keydir_list(writ_cli_get(cli, "keys").ptr, &ring, err));
    WRIT_TRY(writ_archive_option_open(cli,
        (struct writ_joined_order){.path = ledger, .decision_id = writ_cli_operand(cli, 0)},
        &reader, err));
    WRIT_TRY(writ_proofs_open(ledger, ring, &proofs, err));
    if (writ_cli_has(cli, "checkpoint")) {
        const char *path = writ_cli_get(cli, "checkpoint").ptr;

        WRIT_TRY(writ_cli_read(path, WRIT_NOTE_BYTES_MAX, &note, err));
        WRIT_TRY(writ_fail_in(err, writ_proofs_pin(proofs, writ_buf_view(&note), err), path));
    }
    WRIT_TRY(writ_receipts_make(reader, proofs, ring, writ_cli_operand(cli, 0), &receipt, err));
    writ_cli_put(writ_buf_view(&receipt));
    return WRIT_DONE;
}

enum writ_exit
writ_command_receipt(const struct writ_cli *cli)
{
    struct writ_err err = {0};
    writ_result result = run(cli, &err);

    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}
