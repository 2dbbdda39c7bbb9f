/* Steps that wait for an answer. `list` has a place for each step of the session, by its
 * correlation id: the open step, or NULL once it is closed. `open` has the open ones in the order
 * of their requests. */
#include "gateway/crews/open_steps.h"

#include "gateway/crews/event.h"
#include "crew/vec.h"

#include <math.h>

#define ID_DIGITS      16
#define NAME_MAX_BYTES WRIT_JSON_BYTES_MAX

void
writ_open_steps_init(struct writ_open_steps *steps)
{
    *steps = (struct writ_open_steps){0};
    TAILQ_INIT(&steps->open);
}

static void
step_free(struct writ_open_step *step)
{
    writ_loop_timer_cancel(&step->timer);
    writ_buf_wipe(&step->id);
    writ_buf_wipe(&step->agent);
    writ_buf_wipe(&step->role);
    writ_buf_wipe(&step->request);
    writ_free(step);
}

void
writ_open_steps_wipe(struct writ_open_steps *steps)
{
    for (size_t at = 0; at < steps->n; at++) {
        if (steps->list[at] != NULL) {
            step_free(steps->list[at]);
        }
    }
    writ_free(steps->list);
    writ_idmap_wipe(&steps->by_id);
}

/* False: not a correlation id. */
static bool
number_of(struct writ_view id, uint64_t *ret)
{
    uint8_t bytes[ID_DIGITS / 2];

    if (id.len != ID_DIGITS || !writ_is_ok(writ_hex_read(id, bytes, sizeof bytes))) {
        return false;
    }
    *ret = writ_view_load64(bytes);
    return true;
}

static WRIT_RESULT
copy(struct writ_buf *to, struct writ_view text)
{
    *to = writ_buf_make(NAME_MAX_BYTES);
    writ_buf_put(to, text);
    return writ_buf_check(to, NULL);
}

static WRIT_RESULT
fill(struct writ_open_step *step, const struct writ_json *event, struct writ_view text)
{
    step->deadline_ms =
        writ_event_number(event, "ts", 0) + writ_event_number(event, "timeoutMs", INFINITY);
    WRIT_TRY(copy(&step->id, writ_event_text(event, "correlationId")));
    WRIT_TRY(copy(&step->agent, writ_event_text(event, "agentId")));
    WRIT_TRY(copy(&step->role, writ_event_text(event, "roleId")));
    return copy(&step->request, text);
}

WRIT_RESULT
writ_open_steps_open(struct writ_open_steps *steps, const struct writ_json *event,
    struct writ_view text, struct writ_open_step **ret, struct writ_err *err)
{
    struct writ_open_step *step = writ_alloc(sizeof *step);
    uint64_t id = 0;

    WRIT_INVARIANT(number_of(writ_event_text(event, "correlationId"), &id)); /* we made it */
    if (step == NULL || !writ_is_ok(fill(step, event, text)) ||
        !writ_is_ok(writ_vec_room(&steps->list, &steps->cap, steps->n, sizeof(*steps->list))) ||
        !writ_is_ok(writ_idmap_put(&steps->by_id, id, steps->n))) {
        if (step != NULL) {
            step_free(step);
        }
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    steps->list[steps->n++] = step;
    TAILQ_INSERT_TAIL(&steps->open, step, all);
    *ret = step;
    return WRIT_DONE;
}

struct writ_open_step *
writ_open_steps_find(const struct writ_open_steps *steps, struct writ_view id, bool *ret_was)
{
    uint64_t number = 0;
    size_t at = 0;

    *ret_was = number_of(id, &number) && writ_idmap_get(&steps->by_id, number, &at);
    return *ret_was ? steps->list[at] : NULL;
}

void
writ_open_steps_close(struct writ_open_steps *steps, struct writ_open_step *step)
{
    bool was = false;
    uint64_t number = 0;
    size_t at = 0;

    was =
        number_of(writ_buf_view(&step->id), &number) && writ_idmap_get(&steps->by_id, number, &at);
    WRIT_INVARIANT(was && steps->list[at] == step);
    steps->list[at] = NULL;
    TAILQ_REMOVE(&steps->open, step, all);
    step_free(step);
}
