/* stopped_ledger.c - what was opened before a failure stays in `ret`, until it is wiped. */
#include "cli/commands/stopped_ledger.h"

#include "policy/read/load.h"
#include "store/ledger/ledger.h"

#include <pwd.h>
#include <semaphore.h>
#include <unistd.h>

WRIT_RESULT
writ_stopped_ledger_open(const struct writ_cli *cli, const char *config, bool resume,
    struct writ_stopped_ledger *ret, struct writ_err *err)
{
    WRIT_TRY(writ_load_file(config, NULL, &ret->config, err));
    return writ_ledgers_open(ret->config, cli->clock, resume, NULL, &ret->keys, &ret->ledger, err);
}

WRIT_RESULT
writ_stopped_ledger_only(
    const struct writ_cli *cli, struct writ_stopped_ledger *ret, struct writ_err *err)
{
    writ_result result =
        writ_stopped_ledger_open(cli, writ_cli_operand(cli, 0).ptr, false, ret, err);

    if (result.code == WRIT_E_BUSY) {
        WRIT_FAIL(err, WRIT_E_BUSY,
            "a gateway has the ledger open: pass the URL of its admin listener instead of the "
            "configuration");
    }
    return result;
}

void
writ_stopped_ledger_user(struct writ_buf *ret)
{
    char memory[4096];
    struct passwd entry, *found = NULL;

    if (getpwuid_r(getuid(), &entry, memory, sizeof memory, &found) == 0 && found != NULL) {
        writ_buf_str(ret, "user ");
        writ_buf_str(ret, found->pw_name);
    } else {
        writ_buf_fmt(ret, "uid %lu", (unsigned long)getuid());
    }
}

static void
on_done(struct writ_entry *entry)
{
    (void)sem_post(entry->user);
}

WRIT_RESULT
writ_stopped_ledger_do(struct writ_stopped_ledger *stopped, struct writ_entry *entry,
    const char *failed, struct writ_err *err)
{
    struct writ_entry *entries[] = {entry};
    sem_t done;
    writ_result result;

    (void)sem_init(&done, 0, 0);
    entry->done = on_done;
    entry->user = &done;
    result = writ_ledger_submit(stopped->ledger, entries, 1);
    if (writ_is_ok(result)) {
        while (sem_wait(&done) != 0) {
        }
        result.code = entry->code;
    }
    (void)sem_destroy(&done);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s", failed);
    }
    return WRIT_DONE;
}

void
writ_stopped_ledger_wipe(struct writ_stopped_ledger *stopped)
{
    writ_ledger_close(stopped->ledger);
    writ_keyring_free(stopped->keys);
    writ_config_drop(stopped->config);
}
