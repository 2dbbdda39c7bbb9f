/* writ keys ...: the key directory of a gateway. A change is written completely or not at all, and
 * no private key is ever printed. */
#include "cli/commands/command.h"
#include "cli/commands/first_keys.h"
#include "evidence/json/write.h"
#include "store/trusted/keydir.h"

static void
dir_freep(struct writ_keydir **dir)
{
    writ_keydir_close(*dir);
}

static void
signer_freep(struct writ_signer **signer)
{
    writ_signer_free(*signer);
}

static const char *
path_of(const struct writ_cli *cli)
{
    return writ_cli_get(cli, "dir").ptr; /* of argv, so NUL-terminated */
}

/* --purpose; `credential` without it, NONE for an unknown word. */
static enum writ_key_purpose
purpose_of(const struct writ_cli *cli)
{
    return writ_cli_has(cli, "purpose") ? writ_keyring_purpose_named(writ_cli_get(cli, "purpose"))
                                        : WRIT_KEY_PURPOSE_CREDENTIAL;
}

/* --alg; `otherwise` without it, NONE for an unknown word. */
static enum writ_jwk_alg
alg_of(const struct writ_cli *cli, enum writ_jwk_alg otherwise)
{
    return writ_cli_has(cli, "alg") ? writ_jwk_alg_named(writ_cli_get(cli, "alg")) : otherwise;
}

static bool
purpose_is_right(const struct writ_cli *cli)
{
    if (purpose_of(cli) == WRIT_KEY_PURPOSE_NONE) {
        (void)writ_cli_usage(cli, "--purpose must be credential, ledger or contents");
        return false;
    }
    return true;
}

static bool
alg_is_right(const struct writ_cli *cli)
{
    enum writ_jwk_alg alg = alg_of(cli, writ_first_keys_alg(purpose_of(cli)));

    if (purpose_of(cli) == WRIT_KEY_PURPOSE_CONTENTS) {
        if (writ_cli_has(cli, "alg")) {
            (void)writ_cli_usage(cli, "a key of contents has one algorithm: leave --alg out");
            return false;
        }
        return true;
    }
    if (alg == WRIT_JWK_ALG_NONE) {
        (void)writ_cli_usage(cli, "--alg must be ES256, RS256 or EdDSA");
        return false;
    }
    if (purpose_of(cli) == WRIT_KEY_PURPOSE_LEDGER && alg != WRIT_JWK_ALG_EDDSA) {
        (void)writ_cli_usage(cli, "a ledger is signed with EdDSA (Ed25519) only");
        return false;
    }
    return true;
}

/* ---- showing keys */

/* An optional time. */
static void
write_time(struct writ_write *w, const char *name, int64_t wall_us)
{
    char text[WRIT_TIME_TEXT];

    writ_write_name(w, writ_view_str(name));
    if (wall_us == 0) {
        writ_write_null(w);
        return;
    }
    writ_time_format(wall_us, text);
    writ_write_string(w, writ_view_str(text));
}

static void
write_members(struct writ_write *w, const struct writ_keyring_key *key)
{
    char created[WRIT_TIME_TEXT];
    char changed[WRIT_TIME_TEXT];

    writ_time_format(key->created_us, created);
    writ_time_format(key->changed_us, changed);
    writ_write_text(w, "kid", writ_keyring_kid(key));
    writ_write_text(w, "alg", writ_view_str(writ_keyring_alg_name(key)));
    writ_write_text(w, "purpose", writ_view_str(writ_keyring_purpose_name(key->purpose)));
    writ_write_text(w, "state", writ_view_str(writ_keyring_state_name(key->state)));
    writ_write_text(w, "created_at", writ_view_str(created));
    writ_write_text(w, "changed_at", writ_view_str(changed));
    write_time(w, "signs_until", key->until_us);
    write_time(w, "revoked_since", key->revoked_us);
    writ_write_flag(w, "vouched_for", key->rotation.len > 0);
}

static void
write_key(struct writ_write *w, const struct writ_keyring_key *key)
{
    writ_write_object_begin(w);
    write_members(w, key);
    writ_write_object_end(w);
}

static void
put_row(struct writ_buf *ret, const struct writ_keyring_key *key)
{
    char changed[WRIT_TIME_TEXT];

    /* for a revoked key the time of the compromise, not of the command */
    writ_time_format(key->revoked_us != 0 ? key->revoked_us : key->changed_us, changed);
    writ_buf_fmt(ret, WRIT_VIEW_FMT "  %-5s  %-10s  %-9s  since %.19sZ\n",
        WRIT_VIEW_ARG(writ_keyring_kid(key)), writ_keyring_alg_name(key),
        writ_keyring_purpose_name(key->purpose), writ_keyring_state_name(key->state), changed);
}

/* Answers with all keys. */
static WRIT_RESULT
show_all(const struct writ_cli *cli, const struct writ_keyring *ring, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);
    struct writ_write w = writ_write_to(&text);

    if (!cli->json) {
        for (size_t i = 0; i < writ_keyring_count(ring); i++) {
            put_row(&text, writ_keyring_key(ring, i));
        }
    } else {
        writ_write_object_begin(&w);
        writ_write_name(&w, WRIT_LIT("keys"));
        writ_write_array_begin(&w);
        for (size_t i = 0; i < writ_keyring_count(ring); i++) {
            write_key(&w, writ_keyring_key(ring, i));
        }
        writ_write_array_end(&w);
        writ_write_object_end(&w);
        WRIT_TRY(writ_write_end(&w, err));
        writ_buf_byte(&text, '\n');
    }
    WRIT_TRY(writ_buf_check(&text, err));
    writ_cli_put(writ_buf_view(&text));
    return WRIT_DONE;
}

/* Answers with one key, and with the ledger's key if it was made too. */
static WRIT_RESULT
show(const struct writ_cli *cli, const struct writ_keyring_key *key,
    const struct writ_keyring_key *ledger, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);
    struct writ_write w = writ_write_to(&text);

    if (!cli->json) {
        put_row(&text, key);
        if (ledger != NULL) {
            put_row(&text, ledger);
        }
    } else {
        writ_write_object_begin(&w);
        write_members(&w, key);
        if (ledger != NULL) {
            writ_write_name(&w, WRIT_LIT("ledger"));
            write_key(&w, ledger);
        }
        writ_write_object_end(&w);
        WRIT_TRY(writ_write_end(&w, err));
        writ_buf_byte(&text, '\n');
    }
    WRIT_TRY(writ_buf_check(&text, err));
    writ_cli_put(writ_buf_view(&text));
    return WRIT_DONE;
}

static const struct writ_keyring_key *
find_active(const struct writ_keyring *ring, enum writ_key_purpose purpose)
{
    for (size_t i = 0; i < writ_keyring_count(ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(ring, i);
        if (key->purpose == purpose && key->state == WRIT_KEY_STATE_ACTIVE) {
            return key;
        }
    }
    return NULL;
}

/* ---- the commands */

/* Makes a key of contents, which takes the place of the active one. */
static WRIT_RESULT
add_wrap(const struct writ_cli *cli, struct writ_keyring *ring, struct writ_err *err)
{
    writ_auto_wrap_key wrap = NULL;

    WRIT_TRY(writ_wrap_key_new(&wrap, err));
    WRIT_TRY(writ_keyring_add_wrap(ring, wrap, writ_clock_wall_us(cli->clock), err));
    (void)WRIT_TAKE(wrap);
    return WRIT_DONE;
}

/* Makes the first key of a purpose. */
static WRIT_RESULT
add_first(const struct writ_cli *cli, struct writ_keyring *ring, enum writ_key_purpose purpose,
    struct writ_err *err)
{
    return purpose == WRIT_KEY_PURPOSE_CONTENTS
               ? add_wrap(cli, ring, err)
               : writ_first_keys_add(
                     ring, purpose, alg_of(cli, writ_first_keys_alg(purpose)), cli->clock, err);
}

/* Without --purpose, makes the missing key of each purpose. */
static WRIT_RESULT
run_new(const struct writ_cli *cli, struct writ_err *err)
{
    WRIT_AUTO(struct writ_keydir *, dir_freep) dir = NULL;
    const struct writ_keyring_key *key = NULL, *ledger = NULL;
    enum writ_key_purpose purpose = purpose_of(cli);
    bool both = !writ_cli_has(cli, "purpose");

    WRIT_TRY(writ_keydir_open(path_of(cli), true, &dir, err));
    if (find_active(writ_keydir_ring(dir), purpose) == NULL) {
        WRIT_TRY(add_first(cli, writ_keydir_ring(dir), purpose, err));
        key = find_active(writ_keydir_ring(dir), purpose);
    }
    if (both && find_active(writ_keydir_ring(dir), WRIT_KEY_PURPOSE_LEDGER) == NULL) {
        WRIT_TRY(writ_first_keys_add(writ_keydir_ring(dir), WRIT_KEY_PURPOSE_LEDGER,
            writ_first_keys_alg(WRIT_KEY_PURPOSE_LEDGER), cli->clock, err));
        ledger = find_active(writ_keydir_ring(dir), WRIT_KEY_PURPOSE_LEDGER);
    }
    if (key == NULL && ledger == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "purpose %s has an active key already: use writ keys rotate",
            writ_keyring_purpose_name(purpose));
    }
    WRIT_TRY(writ_keydir_save(dir, err));
    return key == NULL ? show(cli, ledger, NULL, err) : show(cli, key, ledger, err);
}

static WRIT_RESULT
run_list(const struct writ_cli *cli, struct writ_err *err)
{
    writ_auto_keyring ring = NULL;

    WRIT_TRY(writ_keydir_list(path_of(cli), &ring, err));
    return show_all(cli, ring, err);
}

static WRIT_RESULT
rotate_signer(const struct writ_cli *cli, struct writ_keyring *ring, enum writ_key_purpose purpose,
    struct writ_err *err)
{
    WRIT_AUTO(struct writ_signer *, signer_freep) signer = NULL;
    const struct writ_keyring_key *before = find_active(ring, purpose);
    enum writ_jwk_alg alg =
        alg_of(cli, before != NULL ? writ_jwk_alg(before->public) : writ_first_keys_alg(purpose));

    WRIT_TRY(writ_signer_new(alg, &signer, err));
    WRIT_TRY(writ_keyring_rotate(ring, purpose, signer, writ_clock_wall_us(cli->clock), err));
    (void)WRIT_TAKE(signer);
    return WRIT_DONE;
}

static WRIT_RESULT
rotate_wrap(const struct writ_cli *cli, struct writ_keyring *ring, struct writ_err *err)
{
    if (find_active(ring, WRIT_KEY_PURPOSE_CONTENTS) == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "purpose contents has no active key to rotate out");
    }
    return add_wrap(cli, ring, err);
}

static WRIT_RESULT
run_rotate(const struct writ_cli *cli, struct writ_err *err)
{
    WRIT_AUTO(struct writ_keydir *, dir_freep) dir = NULL;
    enum writ_key_purpose purpose = purpose_of(cli);

    WRIT_TRY(writ_keydir_open(path_of(cli), false, &dir, err));
    WRIT_TRY(purpose == WRIT_KEY_PURPOSE_CONTENTS
                 ? rotate_wrap(cli, writ_keydir_ring(dir), err)
                 : rotate_signer(cli, writ_keydir_ring(dir), purpose, err));
    WRIT_TRY(writ_keydir_save(dir, err));
    return show(cli, find_active(writ_keydir_ring(dir), purpose), NULL, err);
}

static const struct writ_keyring_key *
find_kid(const struct writ_keyring *ring, struct writ_view kid)
{
    for (size_t i = 0; i < writ_keyring_count(ring); i++) {
        if (writ_view_equal(writ_keyring_kid(writ_keyring_key(ring, i)), kid)) {
            return writ_keyring_key(ring, i);
        }
    }
    return NULL;
}

static WRIT_RESULT
run_retire(const struct writ_cli *cli, struct writ_err *err)
{
    WRIT_AUTO(struct writ_keydir *, dir_freep) dir = NULL;
    struct writ_view kid = writ_cli_get(cli, "kid");

    WRIT_TRY(writ_keydir_open(path_of(cli), false, &dir, err));
    WRIT_TRY(writ_keyring_retire(writ_keydir_ring(dir), kid, writ_clock_wall_us(cli->clock), err));
    WRIT_TRY(writ_keydir_save(dir, err));
    return show(cli, find_kid(writ_keydir_ring(dir), kid), NULL, err);
}

/* ---- keys of other gateways ---- */

static WRIT_RESULT
run_trust(const struct writ_cli *cli, struct writ_err *err)
{
    WRIT_AUTO(struct writ_keydir *, dir_freep) dir = NULL;
    writ_auto_keyring other = NULL;
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX), line = writ_buf_make(256);
    struct writ_view file = writ_cli_operand(cli, 0);
    size_t changed = 0;

    WRIT_TRY(writ_cli_read(file.ptr, WRIT_KEYRING_BYTES_MAX, &text, err));
    WRIT_TRY(writ_keyring_read(writ_buf_view(&text), &other, err));
    WRIT_TRY(writ_keydir_open(path_of(cli), false, &dir, err));
    WRIT_TRY(writ_keyring_trust(
        writ_keydir_ring(dir), other, writ_clock_wall_us(cli->clock), &changed, err));
    if (changed > 0) {
        WRIT_TRY(writ_keydir_save(dir, err));
    }
    writ_buf_fmt(&line,
        cli->json ? "{\"changed\":%zu}\n" : "keys that are new or have another state: %zu\n",
        changed);
    WRIT_TRY(writ_buf_check(&line, err));
    writ_cli_put(writ_buf_view(&line));
    return WRIT_DONE;
}

/* --since; now without it. */
static bool
since_of(const struct writ_cli *cli, int64_t now_us, int64_t *ret)
{
    *ret = now_us;
    return !writ_cli_has(cli, "since") ||
           writ_is_ok(writ_time_read(writ_cli_get(cli, "since"), ret));
}

static WRIT_RESULT
run_revoke(const struct writ_cli *cli, struct writ_err *err)
{
    WRIT_AUTO(struct writ_keydir *, dir_freep) dir = NULL;
    WRIT_AUTO(struct writ_signer *, signer_freep) fresh = NULL;
    int64_t now_us = writ_clock_wall_us(cli->clock), since_us;
    struct writ_view kid = writ_cli_get(cli, "kid");
    const struct writ_keyring_key *key;

    WRIT_INVARIANT(since_of(cli, now_us, &since_us)); /* checked before */
    WRIT_TRY(writ_keydir_open_lost(path_of(cli), kid, &dir, err));
    key = find_kid(writ_keydir_ring(dir), kid);
    if (key != NULL && key->state == WRIT_KEY_STATE_ACTIVE && key->wrap != NULL) {
        WRIT_TRY(add_wrap(cli, writ_keydir_ring(dir), err)); /* the key is verifying from here on */
    } else if (key != NULL && key->state == WRIT_KEY_STATE_ACTIVE) {
        WRIT_TRY(writ_signer_new(writ_jwk_alg(key->public), &fresh, err));
    }
    WRIT_TRY(writ_keyring_revoke(writ_keydir_ring(dir), kid, since_us, fresh, now_us, err));
    (void)WRIT_TAKE(fresh);
    WRIT_TRY(writ_keydir_save(dir, err));
    return show(cli, find_kid(writ_keydir_ring(dir), kid), NULL, err);
}

static WRIT_RESULT
run_jwks(const struct writ_cli *cli, struct writ_err *err)
{
    writ_auto_keyring ring = NULL;
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);

    if (purpose_of(cli) == WRIT_KEY_PURPOSE_CONTENTS) {
        WRIT_FAIL(err, WRIT_E_INVALID, "keys of contents are secret: they have no public half");
    }
    WRIT_TRY(writ_keydir_list(path_of(cli), &ring, err));
    writ_keyring_jwks(&text, ring, purpose_of(cli), writ_cli_has(cli, "history"));
    writ_buf_byte(&text, '\n');
    WRIT_TRY(writ_buf_check(&text, err));
    writ_cli_put(writ_buf_view(&text));
    return WRIT_DONE;
}

enum writ_exit
writ_command_keys_new(const struct writ_cli *cli)
{
    return purpose_is_right(cli) && alg_is_right(cli) ? writ_cli_do(cli, run_new) : WRIT_EXIT_USAGE;
}

enum writ_exit
writ_command_keys_list(const struct writ_cli *cli)
{
    return writ_cli_do(cli, run_list);
}

enum writ_exit
writ_command_keys_rotate(const struct writ_cli *cli)
{
    return purpose_is_right(cli) && alg_is_right(cli) ? writ_cli_do(cli, run_rotate)
                                                      : WRIT_EXIT_USAGE;
}

enum writ_exit
writ_command_keys_retire(const struct writ_cli *cli)
{
    return writ_cli_do(cli, run_retire);
}

enum writ_exit
writ_command_keys_trust(const struct writ_cli *cli)
{
    return writ_cli_do(cli, run_trust);
}

enum writ_exit
writ_command_keys_revoke(const struct writ_cli *cli)
{
    int64_t since_us;

    if (!since_of(cli, 0, &since_us)) {
        return writ_cli_usage(cli, "--since must be a time such as 2026-06-25T05:00:00Z");
    }
    return writ_cli_do(cli, run_revoke);
}

enum writ_exit
writ_command_keys_jwks(const struct writ_cli *cli)
{
    return purpose_is_right(cli) ? writ_cli_do(cli, run_jwks) : WRIT_EXIT_USAGE;
}
