/* signers.c - see signers.h. */
#include "cli/commands/signers.h"

#include "base/text.h"

void
writ_signers_wipe(struct writ_signers *signers)
{
    writ_trust_wipe(&signers->logs);
    writ_trust_wipe(&signers->witnesses);
}

WRIT_RESULT
writ_signers_read(const struct writ_cli *cli, struct writ_signers *ret, struct writ_err *err)
{
    struct writ_checkpoint_trust *trust = &ret->trust;
    struct writ_view quorum = writ_cli_get(cli, "quorum");
    uint64_t most, least;

    WRIT_TRY(writ_trust_read(writ_cli_get(cli, "key").ptr, &ret->logs, err));
    if (writ_cli_has(cli, "witness")) {
        WRIT_TRY(writ_trust_read_witnesses(writ_cli_get(cli, "witness").ptr, &ret->witnesses, err));
    }
    trust->keys = (const struct writ_note_key *const *)ret->logs.keys;
    trust->keys_n = ret->logs.n;
    trust->witnesses = (const struct writ_note_key *const *)ret->witnesses.keys;
    trust->witnesses_n = ret->witnesses.n;
    most = writ_checkpoint_witnesses(trust->witnesses, trust->witnesses_n);
    least = most + ret->witnesses.unknown; /* all: also those that cannot be checked */
    if (quorum.ptr != NULL && !writ_is_ok(writ_text_u64(quorum, 1, most, &least))) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "--quorum must be a number from 1 to that of the witnesses, %llu",
            (unsigned long long)most);
    }
    trust->quorum = (size_t)least;
    return WRIT_DONE;
}
