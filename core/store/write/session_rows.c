/* The session table: the state of a session that the gateway needs after a restart, as opaque
 * bytes. */
#include "store/write/session_rows.h"

#include "store/write/group.h"

static struct writ_view
hash_of(const struct writ_entry *entry)
{
    return writ_view(entry->session.hash.bytes, WRIT_DIGEST_BYTES);
}

static WRIT_RESULT
exists(struct writ_disk *disk, const struct writ_entry *entry, bool *ret, struct writ_err *err)
{
    writ_result result = writ_disk_query(disk, WRIT_SQL_SESSION_GET, ret, err, "b", hash_of(entry));

    writ_disk_end(disk, WRIT_SQL_SESSION_GET);
    return result;
}

static WRIT_RESULT
write_op(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    const struct writ_entry_session *s = &op->entry->session;
    bool known = false;

    WRIT_TRY(exists(&ledger->disk, op->entry, &known, err));
    if (op->entry->kind == WRIT_ENTRY_SESSION_DROP) {
        /* one of another gateway may not be counted yet */
        ledger->counts.sessions -= known && ledger->counts.sessions > 0 ? 1 : 0;
        return writ_disk_run(&ledger->disk, WRIT_SQL_SESSION_DROP, err, "b", hash_of(op->entry));
    }
    if (s->renews && !known) {
        return WRIT_DONE;
    }
    ledger->counts.sessions += known ? 0 : 1;
    return writ_disk_run(&ledger->disk, WRIT_SQL_SESSION_PUT, err, "bbitt", hash_of(op->entry),
        s->value, s->expires_us, s->tenant, s->boundary_id);
}

static void
finish_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    const struct writ_entry_session *s = &op->entry->session;
    struct writ_boundary *boundary;
    struct writ_tag tag;

    if (s->boundary_id.len == 0 ||
        !writ_is_ok(writ_boundaries_tag(s->tenant, s->boundary_id, &tag, NULL))) {
        return;
    }
    boundary = writ_boundaries_find(&ledger->boundaries, tag, s->tenant, s->boundary_id);
    if (boundary != NULL) {
        boundary->held_until_us = op->entry->kind == WRIT_ENTRY_SESSION_PUT ? s->expires_us : 0;
    }
}

static const struct writ_op_steps steps = {.write = write_op, .finish = finish_op};

WRIT_RESULT
writ_session_rows_put(struct writ_ledger *ledger, struct writ_entry *entry)
{
    const struct writ_entry_session *s = &entry->session;

    if (s->value.len > WRIT_LEDGER_SESSION_MAX || s->tenant.len > WRIT_LEDGER_NAME_MAX ||
        s->boundary_id.len > WRIT_LEDGER_NAME_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    if (s->boundary_id.len > 0 && ledger->counts.sessions >= ledger->options.sessions_max) {
        struct writ_err err = {0};
        bool known = false;

        WRIT_TRY(writ_group_note(ledger, exists(&ledger->disk, entry, &known, &err), &err));
        if (!known) {
            return (writ_result){WRIT_E_LIMIT};
        }
    }
    (void)writ_group_op(&ledger->group, &steps, entry);
    return WRIT_DONE;
}

WRIT_RESULT
writ_session_rows_drop(struct writ_ledger *ledger, struct writ_entry *entry)
{
    (void)writ_group_op(&ledger->group, &steps, entry);
    return WRIT_DONE;
}

WRIT_RESULT
writ_session_rows_get(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_disk *disk = &ledger->disk;
    struct writ_entry_session *s = &entry->session;
    struct writ_err err = {0};
    bool row = false;
    writ_result result =
        writ_disk_query(disk, WRIT_SQL_SESSION_GET, &row, &err, "b", hash_of(entry));

    if (writ_is_ok(result)) {
        int64_t expires_us = row ? writ_disk_int(disk, WRIT_SQL_SESSION_GET, 1) : 0;

        if (expires_us <= writ_clock_wall_us(ledger->options.clock)) {
            result = (writ_result){WRIT_E_ABSENT};
        } else {
            s->value = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_SESSION_GET, 0), entry->arena);
            s->expires_us = expires_us;
            result = s->value.ptr == NULL ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
        }
    }
    writ_disk_end(disk, WRIT_SQL_SESSION_GET);
    return writ_group_note(ledger, result, &err);
}
