/* ledgers.c - reads every checkpoint that was kept outside before it opens the ledger, so that it
 * refuses a ledger that lost records. After a loss the old files are moved aside, never deleted.
 */
#include "gateway/service/ledgers.h"

#include "crew/panel.h"
#include "evidence/log/note.h"
#include "gateway/service/anchor.h"
#include "gateway/state/mark_key.h"
#include "policy/model/rule.h"
#include "store/sql/sql_uri.h"
#include "store/trusted/keydir.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* A row outlives its session by half an idle time, in which another session takes its place, and
 * then waits for the next sweep: so the table of sessions is full first. */
#define ROWS_PER_SESSION 3
#define NAME_MAX_BYTES   1024
#define MEMORIES_MAX     (WRIT_ANCHORS_MAX + 1)

/* Notes that were kept outside. */
struct memories {
    struct writ_buf notes[MEMORIES_MAX];
    struct writ_ledger_memory list[MEMORIES_MAX];
    size_t n;
};

static void
memories_wipe(struct memories *memories)
{
    for (size_t i = 0; i < memories->n; i++) {
        writ_buf_wipe(&memories->notes[i]);
    }
}

/* The anchors that are files: those of the configuration, then the gateway's own. */
static bool
file_at(const struct writ_config *config, size_t i, struct writ_anchor *ret)
{
    bool own = i == config->ledger.anchors_n;

    *ret = (struct writ_anchor){
        .to = own ? config->ledger.remember.ptr : config->ledger.anchors[i].to.ptr, .own = own};
    return own || !writ_anchor_is_url(config->ledger.anchors[i].to);
}

/* An anchor that cannot be read now is reported when a checkpoint is sent to it. */
static WRIT_RESULT
read_memories(const struct writ_config *config, struct memories *ret, struct writ_err *err)
{
    for (size_t i = 0; i <= config->ledger.anchors_n; i++) {
        struct writ_buf *note = &ret->notes[ret->n];
        struct writ_anchor from;
        writ_result result;

        if (!file_at(config, i, &from)) {
            continue;
        }
        *note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
        result = writ_trusted_load(from.to, WRIT_TRUSTED_UNWRITABLE, note, err);
        if (!writ_is_ok(result)) {
            writ_buf_wipe(note);
            if (from.own && result.code != WRIT_E_ABSENT) {
                return result;
            }
            continue;
        }
        ret->list[ret->n] = (struct writ_ledger_memory){writ_buf_view(note), from.own};
        ret->n++;
    }
    return WRIT_DONE;
}

static void
set_options(const struct writ_config *config, struct writ_ledger_options *ret)
{
    ret->queue_max = (size_t)config->limits.queue;
    ret->agent_percent = (size_t)config->limits.agent_percent;
    ret->tenant_percent = (size_t)config->limits.tenant_percent;
    ret->sessions_max = ROWS_PER_SESSION * (size_t)config->limits.sessions;
    ret->reviews_max = (size_t)config->limits.reviews;
    ret->reviews_agent_max = (size_t)config->limits.agent_reviews;
    ret->claim_kept_us = config->ledger.claims_kept_us;
    ret->window_kept_us = 2 * config->sessions.window_us;
    ret->boundary_idle_us = config->sessions.idle_expires_us;
    ret->clock_tolerance_us = config->ledger.clock_tolerance_us;
    ret->busy_us = config->ledger.busy_timeout_us;
    ret->budget_window_us = writ_rule_longest_window(config->policy);
    ret->judge = &writ_panel_judge;
    ret->scrub_us = config->ledger.scrub_every_us;
    ret->lease_us = config->ledger.lease_us;
    ret->alone = config->ledger.alone;
}

/* The name of this gateway among those that share the ledger: stays the same over a restart. */
static WRIT_RESULT
put_name(const struct writ_config *config, struct writ_buf *ret, struct writ_err *err)
{
    char host[HOST_NAME_MAX + 1] = "";

    if (config->ledger.gateway.len > 0) {
        writ_buf_put(ret, config->ledger.gateway);
        return writ_buf_check(ret, err);
    }
    if (gethostname(host, sizeof host) != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "the host has no name: set ledger.gateway");
    }
    writ_buf_str(ret, host);
    writ_buf_byte(ret, '/');
    writ_buf_put(ret, config->listen.text);
    return writ_buf_check(ret, err);
}

struct tail_key {
    uint8_t bytes[WRIT_LEDGER_TAIL_KEY];
    struct writ_view key; /* ptr NULL: none */
};

static void
tail_key_wipe(struct tail_key *tail)
{
    writ_wipe(tail, sizeof *tail);
}

/* There is none for a ledger that several gateways write, nor where the key directory has no mark
 * key and takes none: then each group is signed. Only a gateway makes one: a command may be of
 * another user, or be refused because a gateway runs, whose key is not to be replaced. */
static WRIT_RESULT
read_tail_key(
    const struct writ_config *config, bool makes, struct tail_key *ret, struct writ_err *err)
{
    writ_auto_mark_key key = NULL;
    writ_result result;

    if (writ_sql_is_uri(config->store)) {
        return WRIT_DONE;
    }
    result = makes ? writ_mark_key_open(config->keys.ptr, &key, err)
                   : writ_mark_key_read(config->keys.ptr, &key, err);
    if (result.code == WRIT_E_IO || result.code == WRIT_E_ABSENT) {
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    WRIT_TRY(writ_mark_key_tail(key, ret->bytes, err));
    ret->key = writ_view((const char *)ret->bytes, sizeof ret->bytes);
    return WRIT_DONE;
}

WRIT_RESULT
writ_ledgers_open(const struct writ_config *config, const struct writ_clock *clock, bool resume,
    const struct writ_ledger_reports *reports, struct writ_keyring **ret_keys,
    struct writ_ledger **ret, struct writ_err *err)
{
    WRIT_AUTO(struct memories, memories_wipe) memories = {.n = 0};
    struct writ_ledger_options options = writ_ledger_options_default;
    writ_auto_buf pinned = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    writ_auto_buf name = writ_buf_make(NAME_MAX_BYTES);
    WRIT_AUTO(struct tail_key, tail_key_wipe) tail = {.key = {NULL, 0}};
    char policy[WRIT_DIGEST_TEXT];

    set_options(config, &options);
    WRIT_TRY(put_name(config, &name, err));
    writ_digest_text(&config->policy_digest, policy);
    options.gateway = writ_buf_view(&name);
    options.policy = writ_view_str(policy);
    options.clock = clock;
    options.resume = resume;
    options.reports = reports;
    options.sole = reports == NULL; /* a command */
    WRIT_TRY(writ_keydir_load(config->keys.ptr, ret_keys, err));
    options.keyring = *ret_keys;
    WRIT_TRY(read_tail_key(config, !options.sole, &tail, err));
    options.tail_key = tail.key;
    if (config->ledger.pinned.len > 0) {
        WRIT_TRY(
            writ_trusted_load(config->ledger.pinned.ptr, WRIT_TRUSTED_UNWRITABLE, &pinned, err));
        options.pinned = writ_buf_view(&pinned);
    }
    WRIT_TRY(read_memories(config, &memories, err));
    options.remembered = memories.list;
    options.remembered_n = memories.n;
    return writ_ledger_open(config->store.ptr, &options, ret, err);
}

/* ---- after a loss ---- */

static WRIT_RESULT
move_aside(const char *path, const struct writ_clock *clock, struct writ_err *err)
{
    writ_auto_buf aside = writ_buf_make(WRIT_TRUSTED_NAME_MAX * 17);
    char now[WRIT_TIME_TEXT];

    writ_time_format(writ_clock_wall_us(clock), now);
    writ_buf_fmt(&aside, "%s.lost-%s%c", path, now, '\0');
    WRIT_TRY(writ_buf_check(&aside, err));
    if (rename(path, aside.ptr) != 0 && errno != ENOENT) {
        WRIT_FAIL(err, WRIT_E_IO, "%s cannot be moved aside", path);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
replace(const struct writ_anchor *anchor, struct writ_proofs *proofs,
    const struct writ_clock *clock, struct writ_err *err)
{
    struct writ_checkpoint head;
    struct writ_view note;
    writ_result result = writ_anchor_send(anchor, proofs, NULL, &head, &note, err);

    if (result.code != WRIT_E_MISMATCH) {
        return result;
    }
    WRIT_TRY(move_aside(anchor->to, clock, err));
    return writ_anchor_send(anchor, proofs, NULL, &head, &note, err);
}

WRIT_RESULT
writ_ledgers_replace(
    const struct writ_config *config, const struct writ_clock *clock, struct writ_err *err)
{
    writ_auto_keyring ring = NULL;
    writ_auto_proofs proofs = NULL;

    WRIT_TRY(writ_keydir_list(config->keys.ptr, &ring, err));
    WRIT_TRY(writ_proofs_open(config->store.ptr, ring, &proofs, err));
    for (size_t i = 0; i <= config->ledger.anchors_n; i++) {
        struct writ_anchor to;

        if (file_at(config, i, &to)) {
            WRIT_TRY(replace(&to, proofs, clock, err));
        }
    }
    return WRIT_DONE;
}
