/* open_steps.h - the steps of a crew that wait for an answer, in the order of their requests. */
#ifndef WRIT_GATEWAY_OPEN_STEPS_H
#define WRIT_GATEWAY_OPEN_STEPS_H

#include "crew/idmap.h"
#include "evidence/json/json.h"
#include "gateway/io/loop.h"

#include <sys/queue.h>

/** One unanswered request. */
struct writ_open_step {
    TAILQ_ENTRY(writ_open_step) all, mine; /* of all steps; of those of one worker */
    struct writ_buf id, agent, role;
    struct writ_buf request; /* the event */
    double deadline_ms;      /* of the crew's clock; infinite: none */
    void *owner;             /* the worker that must answer, or NULL */
    bool sent;               /* to the owner */
    size_t turn;             /* of a script: how many steps its agent had before */
    size_t messages;         /* requests of its agent meanwhile */
    const char *failed;      /* the reason why no answer will come; borrowed, NULL: one may come */
    struct writ_timer timer; /* for an owner with a loop */
};

/** Zero-initialise, then writ_open_steps_init; wipe. */
struct writ_open_steps {
    TAILQ_HEAD(writ_open_step_list, writ_open_step) open;
    struct writ_idmap by_id;
    struct writ_open_step **list; /* by the values of by_id; NULL: closed */
    size_t n, cap;
};

void writ_open_steps_init(struct writ_open_steps *steps);
void writ_open_steps_wipe(struct writ_open_steps *steps);

/** Opens a step for an agent.step.requested. `text` is the event and is copied. WRIT_E_NOMEM. */
WRIT_RESULT writ_open_steps_open(struct writ_open_steps *steps, const struct writ_json *event,
    struct writ_view text, struct writ_open_step **ret, struct writ_err *err);

/** The open step of this id, or NULL; `ret_was`: it exists or existed. */
struct writ_open_step *writ_open_steps_find(
    const struct writ_open_steps *steps, struct writ_view id, bool *ret_was);

/** Closes and frees it: it was answered, or has expired. */
void writ_open_steps_close(struct writ_open_steps *steps, struct writ_open_step *step);

#endif
