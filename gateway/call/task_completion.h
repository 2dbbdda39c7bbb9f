/* task_completion.h - a call that continues as a task, and its end: reads messages about it,
 * applies the rules for results, as to any other result, and makes the outcome of the call that
 * began it.
 *
 * A message that ends a task is read once: the client gets the output of the rules, and their
 * effect is in the outcome. */
#ifndef WRIT_GATEWAY_TASK_COMPLETION_H
#define WRIT_GATEWAY_TASK_COMPLETION_H

#include "gateway/request/upcall_request.h"

#define WRIT_TASK_COMPLETION_ID_MAX 1024 /* bytes of a task id */

/** Checks the result of a tools/call: when it is a task, the call has no outcome yet. Its
 * conclusion gets the name under which it waits for the task's end, and for how long. */
void writ_task_completion_await(struct writ_request *request, const struct writ_json *result);

/** The place of a task's state in a message. */
enum writ_task_form {
    WRIT_TASK_STATUS = 0, /* tasks/get, tasks/cancel of 2025-11-25: only the status, in `result` */
    WRIT_TASK_WHOLE,      /* the same of 2026-07-28: with the result or error */
    WRIT_TASK_RESULT,     /* tasks/result: the message is the answer of the call */
    WRIT_TASK_NOTICE,     /* notifications/tasks/status: the status alone, in `params` */
    WRIT_TASK_NEWS,       /* notifications/tasks: with the result or error, in `params` */
};

/** The state of the task in a message. */
enum writ_task_says {
    WRIT_TASK_SAYS_NOTHING = 0, /* not over, or not stated */
    WRIT_TASK_SAYS_OVER,        /* with everything for the outcome */
    WRIT_TASK_SAYS_ASK,         /* over: the result is in tasks/result */
};

/** A task of an agent, and its end. Zero-initialise and set the first seven. */
struct writ_task_completion {
    const struct writ_clock *clock;
    const struct writ_config *config;
    const struct writ_keyring *keys; /* of contents */
    struct writ_gateway *gateway;    /* with the states of runs */
    const struct writ_generation *generation;
    const struct writ_agent *agent;
    struct writ_view upstream; /* its name */
    struct writ_arena *arena;
    struct writ_entry_waiting call; /* as the ledger gave it */

    enum writ_outcome_kind kind;
    struct writ_view error_type;
    struct writ_view output_hash, after_hash; /* of the received message, and of the one that is
                                                 sent */
    struct writ_views output_rules;
    enum writ_reason withheld; /* why it is withheld, or NONE */
    struct writ_call_contents contents;
    const struct writ_tool_rule *rule; /* the present one for the call; or NULL */
    const struct writ_json *shown;     /* the result that is passed on; NULL: none */
    struct writ_outcome outcome;
};

/** The form of the answer to a request about a task. */
enum writ_task_form writ_task_completion_form(enum writ_mcp_method method, enum writ_mcp_era era);

/**
 * Reads a message about the task and applies the rules for results to it. For a call that has its
 * outcome it only applies the rules.
 *
 * @param text  the message; replaced by the one to send, in the arena. Do not send it when
 *              `end->withheld` is set
 */
enum writ_task_says writ_task_completion_learn(
    struct writ_task_completion *end, enum writ_task_form form, struct writ_view *text);

/** A question of our own. Lives until `done` is called. */
struct writ_task_question {
    struct writ_task_completion *end;
    void (*done)(void *ctx);
    void *ctx;
    const struct writ_request *request; /* the rest is set by writ_task_completion_ask */
    struct writ_upstream *upstream;
    struct writ_mcp_message message;
    struct writ_header headers[WRIT_UPCALL_HEADERS_MAX];
    struct writ_upcall upcall;
};

/**
 * Asks for what came of a task that is over, in the session of the request (tasks/result of
 * 2025-11-25): it is for the outcome alone, and noted in `end`. Without an answer the outcome is
 * what the status says; so it is when the upstream has lost its session, which is noted (meet.h).
 *
 * @param question  `end`, `done` and `ctx` are set
 * @param id        of the task
 *
 * @return WRIT_OK  `done` will be called
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO, WRIT_E_PARSE
 */
WRIT_RESULT writ_task_completion_ask(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view id, struct writ_task_question *question);

/** Fills the entry that records the outcome; it borrows `end`. Another code than WRIT_OK: the
 * record would lack the effect of the rules, so do not pass the permitted text on. WRIT_E_LIMIT,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_task_completion_record(struct writ_task_completion *end, struct writ_entry *ret);

/** Whether such an entry succeeded: also when another request recorded at the same time. */
bool writ_task_completion_is_settled(const struct writ_entry *entry);

/** Logs an entry of writ_task_completion_record that has come back. */
void writ_task_completion_tell(const struct writ_request *request,
    const struct writ_task_completion *end, const struct writ_entry *entry);

#endif
