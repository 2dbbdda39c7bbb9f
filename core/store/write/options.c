/* Each option is a row with its range. New keys must have an active key that can sign. */
#include "store/write/options.h"

#include "store/tables/making.h"

#include <stddef.h>

#define US_PER_S ((int64_t)1000000)
#define DAY_US   (86400 * US_PER_S)

const struct writ_ledger_options writ_ledger_options_default = {
    .clock = NULL, /* the system's */
    .queue_max = 16384,
    .group_max = 512,
    .segment_claims = 4096,
    .segment_merge = WRIT_MAKING_MERGE,
    .manifest_records = 32768,
    .boundaries_max = 200000,
    .agent_percent = 50,
    .tenant_percent = 75,
    .in_flight_max = 65536,
    .waits_max = 32768,
    .budgets_max = 100000,
    .sessions_max = 100000,
    .reviews_max = 65536,
    .reviews_agent_max = 64,
    .judge = NULL,
    .results_max_bytes = 256 << 20,
    .claim_kept_us = DAY_US,
    .window_kept_us = 3600 * US_PER_S,
    .boundary_idle_us = 3600 * US_PER_S,
    .clock_tolerance_us = 2 * US_PER_S,
    .busy_us = US_PER_S / 4,
    .retry_us = US_PER_S / 2,
    .scrub_us = DAY_US,
    .gateway = {"writ", 4},
    .lease_us = 10 * US_PER_S,
};

struct size_option {
    const char *name;
    size_t offset, least, most;
};

struct time_option {
    const char *name;
    size_t offset;
    int64_t least, most;
};

#define OPTION(name, least, most)                                                                  \
    {                                                                                              \
#name, offsetof(struct writ_ledger_options, name), (least), (most)                         \
    }

static const struct size_option size_options[] = {
    OPTION(queue_max, 1, 1 << 24),
    OPTION(group_max, 1, 1 << 14),
    OPTION(segment_claims, 1, 1 << 20),
    OPTION(segment_merge, 2, WRIT_MAKING_MERGE),
    OPTION(manifest_records, 1, SIZE_MAX),
    OPTION(boundaries_max, 1, 1 << 24),
    OPTION(agent_percent, 1, 100),
    OPTION(tenant_percent, 1, 100),
    OPTION(in_flight_max, 1, 1 << 22),
    OPTION(waits_max, 1, 1 << 22),
    OPTION(budgets_max, 1, 1 << 24),
    OPTION(sessions_max, 1, 1 << 26),
    OPTION(reviews_max, 1, 1 << 20),
    OPTION(reviews_agent_max, 1, 1 << 20),
};

static const struct time_option time_options[] = {
    OPTION(results_max_bytes, 0, (int64_t)1 << 40),
    OPTION(claim_kept_us, US_PER_S / 1000, 3660 * DAY_US),
    OPTION(window_kept_us, US_PER_S / 1000, 3660 * DAY_US),
    OPTION(boundary_idle_us, US_PER_S / 1000, 3660 * DAY_US),
    OPTION(budget_window_us, 0, 3660 * DAY_US),
    OPTION(clock_tolerance_us, 0, DAY_US),
    OPTION(busy_us, 0, 60 * US_PER_S),
    OPTION(retry_us, US_PER_S / 1000, 3600 * US_PER_S),
    OPTION(scrub_us, US_PER_S / 1000, 3660 * DAY_US),
    OPTION(lease_us, US_PER_S, 3600 * US_PER_S),
};

WRIT_RESULT
writ_options_check(const struct writ_ledger_options *options, struct writ_err *err)
{
    const char *base = (const char *)options;

    for (size_t i = 0; i < sizeof size_options / sizeof size_options[0]; i++) {
        const struct size_option *row = &size_options[i];
        size_t value = *(const size_t *)(const void *)(base + row->offset);

        if (value < row->least || value > row->most) {
            WRIT_FAIL(err, WRIT_E_INVALID, "%s of the ledger must be %zu to %zu", row->name,
                row->least, row->most);
        }
    }
    for (size_t i = 0; i < sizeof time_options / sizeof time_options[0]; i++) {
        const struct time_option *row = &time_options[i];
        int64_t value = *(const int64_t *)(const void *)(base + row->offset);

        if (value < row->least || value > row->most) {
            WRIT_FAIL(err, WRIT_E_INVALID, "%s of the ledger must be %lld to %lld", row->name,
                (long long)row->least, (long long)row->most);
        }
    }
    return WRIT_DONE;
}

/* ---- other keys ---- */

WRIT_RESULT
writ_ledger_keys_new(struct writ_keyring *ring, struct writ_ledger_keys **ret, struct writ_err *err)
{
    const struct writ_signer *signer = writ_keyring_active(ring, WRIT_KEY_PURPOSE_LEDGER);
    struct writ_ledger_keys *keys;

    if (signer == NULL || writ_jwk_alg(writ_signer_jwk(signer)) != WRIT_JWK_ALG_EDDSA) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the ledger has no active Ed25519 key");
    }
    keys = writ_alloc(sizeof *keys);
    if (keys == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the keys of the ledger");
    }
    keys->ring = ring;
    *ret = keys;
    return WRIT_DONE;
}

void
writ_ledger_keys_free(struct writ_ledger_keys *keys)
{
    if (keys != NULL) {
        writ_keyring_free(keys->ring);
        writ_free(keys);
    }
}
