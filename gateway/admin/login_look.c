/* login_look.c - one query of the ledger for each look. A row that is in use is written again once
 * a minute, by an entry that no request waits for; it does not come back when another gateway
 * dropped it meanwhile. */
#include "gateway/admin/login_look.h"

#include "store/ledger/ledger.h"

#define OWN_ARENA 65536

/* ---- writing it again ---- */

/* With all its data. */
struct renewal {
    struct writ_entry entry;
    struct writ_arena *arena;
};

/* On the writer's thread. A failure leaves the row as it was: the next look tries again. */
static void
renewed(struct writ_entry *entry)
{
    struct renewal *renewal = entry->user;

    writ_arena_free(renewal->arena);
    writ_free(renewal);
}

WRIT_RESULT
writ_login_look_put(struct writ_worker *worker, struct writ_view cookie, struct writ_view key,
    struct writ_arena *arena, struct writ_entry *ret)
{
    struct writ_logins_row row;

    WRIT_TRY(writ_logins_row_make(worker->gateway->logins, cookie, key, arena, &row));
    *ret = (struct writ_entry){.kind = WRIT_ENTRY_SESSION_PUT,
        .session = {.hash = row.name, .value = row.value, .expires_us = row.expires_us}};
    return WRIT_DONE;
}

static void
renew(struct writ_login_look *look)
{
    struct renewal *renewal = writ_alloc(sizeof *renewal);

    if (renewal == NULL) {
        return;
    }
    renewal->arena = writ_arena_new(OWN_ARENA);
    if (renewal->arena == NULL || !writ_is_ok(writ_login_look_put(look->worker, look->cookie,
                                      look->key, renewal->arena, &renewal->entry))) {
        writ_arena_free(renewal->arena);
        writ_free(renewal);
        return;
    }
    renewal->entry.session.renews = true;
    renewal->entry.arena = renewal->arena;
    renewal->entry.done = renewed;
    renewal->entry.user = renewal;
    writ_worker_submit(look->worker, &renewal->entry);
}

/* ---- a look ---- */

static void
back_on_loop(struct writ_post *post)
{
    struct writ_login_look *look = post->ctx;
    struct writ_logins *logins = look->worker->gateway->logins;
    bool renews = false;

    if (writ_is_ok(look->result)) {
        look->result = writ_logins_row_take(logins, look->cookie, look->key, &look->row, &renews);
    } else if (look->result.code == WRIT_E_ABSENT) {
        writ_logins_close(logins, look->cookie, look->key);
    }
    if (renews) {
        renew(look);
    }
    /* that there is no login is an answer */
    look->done(look, look->result.code == WRIT_E_ABSENT || look->result.code == WRIT_E_MISMATCH
                         ? WRIT_DONE
                         : look->result);
}

/* On the thread of the lookups. */
static void
work(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct writ_login_look *look = lookup->ctx;

    look->result = reader == NULL ? (writ_result){WRIT_E_IO}
                                  : writ_reader_session(reader, &look->row.name, look->arena,
                                        &look->row.value, &look->row.expires_us, NULL);
    writ_loop_answer(look->worker->loop, &look->post);
}

WRIT_RESULT
writ_login_look(struct writ_login_look *look)
{
    WRIT_TRY(writ_logins_row_name(look->cookie, look->key, &look->row.name));
    look->lookup = (struct writ_lookup){.work = work, .ctx = look};
    look->post = (struct writ_post){.fn = back_on_loop, .ctx = look};
    return writ_ledger_query_ask(look->worker->gateway->queries, &look->lookup);
}

/* ---- for a stream ---- */

static void
drop(struct writ_login_look *look, writ_result result)
{
    (void)result;
    writ_arena_free(look->arena);
    writ_free(look);
}

void
writ_login_look_again(struct writ_worker *worker, struct writ_view cookie, struct writ_view key)
{
    struct writ_login_look *look;

    if (!writ_logins_is_due(worker->gateway->logins, cookie, key)) {
        return;
    }
    look = writ_alloc(sizeof *look);
    if (look == NULL) {
        return;
    }
    *look = (struct writ_login_look){
        .worker = worker, .arena = writ_arena_new(OWN_ARENA), .done = drop};
    if (look->arena != NULL) {
        look->cookie = writ_view_copy(cookie, look->arena);
        look->key = writ_view_copy(key, look->arena);
    }
    if (look->arena == NULL || !writ_is_ok(writ_login_look(look))) {
        drop(look, WRIT_DONE);
    }
}
