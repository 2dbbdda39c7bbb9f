/* Resumes a session from a snapshot (semantics 12): restores it, delivers the later events, then
 * treats the steps without an answer. A fault before the end leaves no session. */
#include "crew/event.h"
#include "crew/event_writer.h"
#include "crew/phase.h"
#include "crew/session.h"
#include "crew/snapshot.h"
#include "crew/vec.h"

/** Ids, collected before any of them is treated. */
struct ids {
    uint64_t *list;
    size_t n, cap;
};

static void
ids_wipe(struct ids *ids)
{
    writ_free(ids->list);
}

static WRIT_RESULT
collect(struct writ_machine *m, struct ids *ids)
{
    for (size_t at = 0; m->phase.running && at < m->phase.steps_n; at++) {
        if (!m->phase.steps[at].done) {
            WRIT_TRY(writ_vec_room(&ids->list, &ids->cap, ids->n, sizeof *ids->list));
            ids->list[ids->n++] = m->phase.steps[at].id;
        }
    }
    for (struct writ_handle *handle = m->first; m->phase.running && handle != NULL;
         handle = handle->next) {
        WRIT_TRY(collect(handle->inner, ids));
    }
    return WRIT_DONE;
}

static void
re_emit(struct writ_machine *m)
{
    for (size_t at = 0; m->phase.running && at < m->phase.steps_n; at++) {
        if (!m->phase.steps[at].done) {
            writ_event_requested(m, &m->phase.steps[at], writ_event_now(m));
        }
    }
    for (struct writ_handle *handle = m->first; m->phase.running && handle != NULL;
         handle = handle->next) {
        re_emit(handle->inner);
    }
}

static WRIT_RESULT
settle_pending(struct writ_machine *m, enum writ_crew_resume policy, struct writ_crew_err *err)
{
    WRIT_AUTO(struct ids, ids_wipe) ids = {0};
    const struct writ_terminal failed = {.fault = true};

    if (m->status != WRIT_CREW_AWAITING_RESPONSES) {
        return WRIT_DONE;
    }
    if (!writ_is_ok(collect(m, &ids))) {
        return writ_failure_memory(err);
    }
    if (ids.n == 0) {
        return WRIT_DONE;
    }
    switch (policy) {
    case WRIT_CREW_RESUME_ABORT:
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_RESUME_UNRESOLVED,
            "%zu steps wait for an answer", ids.n);
    case WRIT_CREW_RESUME_RE_EMIT:
        re_emit(m);
        break;
    case WRIT_CREW_RESUME_TREAT_AS_FAILED:
        for (size_t at = 0; at < ids.n; at++) {
            writ_phase_deliver(m, ids.list[at], &failed);
        }
        break;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
restore(struct writ_crew_session *session, struct writ_view snapshot, struct writ_crew_err *err)
{
    struct writ_machine *m = writ_session_machine(session);
    writ_auto_arena arena = writ_value_arena(m->limits->snapshot_bytes);
    const struct writ_json *value = NULL;

    if (arena == NULL) {
        return writ_failure_memory(err);
    }
    WRIT_TRY(writ_value_parse_snapshot(snapshot, m->limits->snapshot_bytes, arena, &value, err));
    return writ_snapshot_restore(m, value, err);
}

WRIT_RESULT
writ_crew_session_resume(const struct writ_crew_options *options, struct writ_view snapshot,
    const struct writ_view *later, size_t later_n, enum writ_crew_resume policy,
    struct writ_crew_session **ret, struct writ_crew_events *events, struct writ_crew_err *err)
{
    WRIT_AUTO(struct writ_crew_session *, writ_session_freep) session = NULL;
    struct writ_crew_events all = {NULL, 0};

    WRIT_TRY(writ_crew_session_new(options, &session, err));
    WRIT_TRY(restore(session, snapshot, err));
    for (size_t at = 0; at < later_n; at++) {
        WRIT_TRY(writ_session_deliver(session, later[at], err));
    }
    WRIT_TRY(settle_pending(writ_session_machine(session), policy, err));
    WRIT_TRY(writ_session_events(session, &all, err));
    *events = all;
    *ret = WRIT_TAKE(session);
    return WRIT_DONE;
}
