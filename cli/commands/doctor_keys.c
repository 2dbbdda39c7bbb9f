/* The key directory, as the gateway loads it: every purpose that the configuration needs has an
 * active key, of the right kind and not too old. */
#include "cli/commands/doctor.h"
#include "gateway/state/mark_key.h"
#include "policy/decide/kept.h"
#include "policy/model/rule.h"
#include "store/trusted/keydir.h"

#define OLD_DAYS    365
#define RETIRE_DAYS 1 /* far longer than any credential lives */

static const struct writ_keyring_key *
active_of(const struct writ_doctor *d, enum writ_key_purpose purpose)
{
    for (size_t i = 0; i < writ_keyring_count(d->ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(d->ring, i);

        if (key->purpose == purpose && key->state == WRIT_KEY_STATE_ACTIVE) {
            return key;
        }
    }
    return NULL;
}

/* Whether some rule keeps the contents of calls. */
static bool
keeps_contents(const struct writ_config *config)
{
    bool keeps = config->policy->contents.keep_us > 0;

    for (size_t i = 0; !keeps && i < config->policy->n; i++) {
        for (size_t r = 0; r < config->policy->entries[i].rules_n; r++) {
            keeps = keeps || config->policy->entries[i].rules[r].contents.keep_us > 0;
        }
    }
    return keeps;
}

static void
look_at_purpose(struct writ_doctor *d, enum writ_key_purpose purpose, bool needed)
{
    const struct writ_keyring_key *key = active_of(d, purpose);
    struct writ_doctor_place place = writ_doctor_path(d->config->keys);
    const char *name = writ_keyring_purpose_name(purpose);
    int64_t age_days;

    if (key == NULL) {
        if (needed) {
            writ_doctor_add(d, WRIT_DOCTOR_KEY_MISSING, place, "no active key for %s", name);
        }
        return;
    }
    age_days = (d->now_us - key->created_us) / WRIT_DOCTOR_US_PER_DAY;
    if (age_days >= OLD_DAYS) {
        writ_doctor_add(d, WRIT_DOCTOR_KEY_OLD, place,
            "the key for %s, " WRIT_VIEW_FMT ", is %lld days old", name,
            WRIT_VIEW_ARG(writ_keyring_kid(key)), (long long)age_days);
    }
    if (purpose == WRIT_KEY_PURPOSE_CREDENTIAL && d->config->credential.alg != WRIT_JWK_ALG_NONE &&
        writ_jwk_alg(key->public) != d->config->credential.alg) {
        writ_doctor_add(d, WRIT_DOCTOR_KEY_ALGORITHM, writ_doctor_option(d, "/credential/alg"),
            "the active key is for %s", writ_keyring_alg_name(key));
    }
}

static void
look_at_key(struct writ_doctor *d, const struct writ_keyring_key *key)
{
    struct writ_doctor_place place = writ_doctor_path(d->config->keys);

    if (key->created_us > d->now_us) {
        writ_doctor_add(d, WRIT_DOCTOR_CLOCK_BEHIND, place,
            "the key " WRIT_VIEW_FMT " was made later than now",
            WRIT_VIEW_ARG(writ_keyring_kid(key)));
    }
    if (key->purpose == WRIT_KEY_PURPOSE_CREDENTIAL && key->state == WRIT_KEY_STATE_VERIFYING &&
        d->now_us - key->changed_us >= RETIRE_DAYS * WRIT_DOCTOR_US_PER_DAY) {
        writ_doctor_add(d, WRIT_DOCTOR_KEY_NOT_RETIRED, place,
            WRIT_VIEW_FMT " was rotated out %lld days ago", WRIT_VIEW_ARG(writ_keyring_kid(key)),
            (long long)((d->now_us - key->changed_us) / WRIT_DOCTOR_US_PER_DAY));
    }
}

/* The key of marks, and that of the newest record. A ledger that cannot be read is said elsewhere.
 * Without the file the gateway makes one, which is right for a ledger without marks that was closed
 * in order. */
static void
look_at_mark_key(struct writ_doctor *d)
{
    writ_auto_mark_key key = NULL;
    struct writ_doctor_place place = writ_doctor_path(d->config->keys);
    char newest[WRIT_MARK_KEY_ID + 1];
    struct writ_err why = {0};
    writ_result result = writ_mark_key_read(d->config->keys.ptr, &key, &why);

    if (!writ_is_ok(result) && result.code != WRIT_E_ABSENT) {
        writ_doctor_add(d, WRIT_DOCTOR_MARK_KEY_UNUSABLE, place, "%s", why.text);
    } else if (writ_is_ok(writ_mark_key_newest(d->config->store.ptr, newest, NULL)) &&
               newest[0] != '\0' && (key == NULL || !writ_view_is(writ_mark_key_id(key), newest))) {
        writ_doctor_add(d, WRIT_DOCTOR_MARK_KEY_OTHER, place, "%s, and the newest marks are of %s",
            key == NULL ? WRIT_MARK_KEY_FILE " is missing" : WRIT_MARK_KEY_FILE " is another key",
            newest);
    }
}

WRIT_RESULT
writ_doctor_keys(struct writ_doctor *d, struct writ_err *err)
{
    struct writ_err why = {0};
    writ_result result = writ_keydir_load(d->config->keys.ptr, &d->ring, &why);

    (void)err;
    if (!writ_is_ok(result)) {
        writ_doctor_add(
            d, WRIT_DOCTOR_KEYS_UNREADABLE, writ_doctor_path(d->config->keys), "%s", why.text);
        return result.code == WRIT_E_NOMEM ? result : WRIT_DONE;
    }
    look_at_purpose(d, WRIT_KEY_PURPOSE_CREDENTIAL, true);
    look_at_purpose(d, WRIT_KEY_PURPOSE_LEDGER, true);
    look_at_purpose(d, WRIT_KEY_PURPOSE_CONTENTS, keeps_contents(d->config));
    for (size_t i = 0; i < writ_keyring_count(d->ring); i++) {
        look_at_key(d, writ_keyring_key(d->ring, i));
    }
    if (d->config->follows_values) {
        look_at_mark_key(d);
    }
    return WRIT_DONE;
}
