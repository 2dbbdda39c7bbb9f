/* The driver of the steps, with steps of this file in place of the real ones. A transition that
 * the table does not have refuses the request, once, and releases what it holds. */
#include "gateway/request/request.h"

#include "support/unit.h"
#include "support/evidence/value.h"

#include "gateway/call/conclude.h"
#include "gateway/request/finish.h"
#include "gateway/state/generation.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct writ_gateway gateway;
    struct writ_worker worker;
    struct writ_config config;
    struct writ_generation generation;
    struct writ_endpoint endpoint;
    struct writ_steps steps;
    struct writ_exchange x;
    struct writ_call call;
    struct writ_log log;
    int lines;
    enum writ_step then; /* where the step under test goes */
    size_t answers, recorded;
    unsigned status;
    char body[1024];
} test;

static void
reply(struct writ_exchange *x, unsigned status, struct writ_view body)
{
    (void)x;
    test.answers++;
    test.status = status;
    ck_assert_uint_lt(body.len, sizeof test.body);
    memcpy(test.body, body.ptr, body.len);
    test.body[body.len] = '\0';
}

static void
on_gone(struct writ_exchange *x, void (*fn)(struct writ_exchange *, void *), void *ctx)
{
    (void)x;
    (void)fn;
    (void)ctx;
}

static const struct writ_exchange_hooks hooks = {.reply = reply, .on_gone = on_gone};

static const struct writ_endpoint_kind kind = {.by = "mcp"};

static enum writ_step
go_there(struct writ_request *request)
{
    (void)request;
    return test.then;
}

static enum writ_step
wait_for_bind(struct writ_request *request)
{
    return writ_request_wait(request, WRIT_STEP_BIND);
}

static enum writ_step
wait_for_nothing(struct writ_request *request)
{
    (void)request;
    return WRIT_STEP_WAIT;
}

static enum writ_step
go_there_and_be_away(struct writ_request *request)
{
    (void)writ_request_together(request, WRIT_STEP_READ);
    return test.then;
}

static enum writ_step
record(struct writ_request *request)
{
    ck_assert_int_eq(request->call->end.outcome, WRIT_OUTCOME_ERROR);
    ck_assert_int_eq(request->call->end.refusal, WRIT_REASON_INTERNAL_ERROR);
    request->call->grant.owes = false;
    test.recorded++;
    return WRIT_STEP_WAIT;
}

static enum writ_step
never(struct writ_request *request)
{
    ck_abort_msg(
        "a step runs that the table does not let follow %s", writ_step_name(request->drive.at));
    return WRIT_STEP_DONE;
}

static void
begin(writ_step_fn *first)
{
    const struct writ_loop_options options = {0};
    int fds[2];

    ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    test.lines = fds[0];
    test.answers = test.recorded = 0;
    writ_log_init(&test.log, fds[1], WRIT_LOG_ERROR, writ_clock_system());
    test.gateway = (struct writ_gateway){
        .log = &test.log, .steps = &test.steps, .workers = &test.worker, .workers_n = 1};
    test.generation = (struct writ_generation){.config = &test.config, .holders = 1};
    test.worker = (struct writ_worker){.gateway = &test.gateway, .generation = &test.generation};
    ck_assert_ok(writ_loop_new(&options, &test.worker.loop, NULL));
    test.endpoint = (struct writ_endpoint){.gateway = &test.gateway, .kind = &kind};
    test.x = (struct writ_exchange){
        .loop = test.worker.loop, .arena = writ_value_arena(), .hooks = &hooks};
    test.steps.give_up = writ_conclude_give_up;
    for (enum writ_step step = WRIT_STEP_AUTHENTICATE; step < WRIT_STEP_COUNT; step++) {
        test.steps.fn[step] = never;
    }
    test.steps.fn[WRIT_STEP_AUTHENTICATE] = first;
}

static struct writ_request *
start(void)
{
    writ_request_start(&test.x, &test.endpoint);
    return test.x.user;
}

static void
stop(struct writ_task *task)
{
    writ_loop_stop(task->ctx);
}

static void
turn(void)
{
    struct writ_task task = {.fn = stop, .ctx = test.worker.loop};

    writ_loop_defer(test.worker.loop, &task, WRIT_LOOP_SOON);
    ck_assert_ok(writ_loop_run(test.worker.loop, NULL));
}

/* One line in the log, with both steps, and the client's answer. */
static void
end(const char *from, const char *to, size_t answers)
{
    char text[2048] = {0};
    ssize_t n = read(test.lines, text, sizeof text - 1);

    ck_assert_int_gt(n, 0);
    ck_assert_ptr_nonnull(strstr(text, "\"step_broken\""));
    ck_assert_ptr_nonnull(strstr(text, from));
    ck_assert_ptr_nonnull(strstr(text, to));
    ck_assert_ptr_eq(strchr(text, '\n'), text + n - 1);
    ck_assert_uint_eq(test.answers, answers);
    if (answers > 0) {
        ck_assert_uint_eq(test.status, 500);
        ck_assert_ptr_nonnull(strstr(test.body, "\"internal_error\""));
        ck_assert_uint_eq(atomic_load(&test.generation.holders), 1);
    }
    writ_arena_free(test.x.arena);
    writ_loop_free(test.worker.loop);
    (void)close(test.lines);
    (void)close(test.log.fd);
}

START_TEST(run_of_a_transition_outside_the_table_refuses_once)
{
    begin(go_there);
    test.then = WRIT_STEP_FORWARD;
    (void)start();
    end("\"from\":\"AUTHENTICATE\"", "\"to\":\"FORWARD\"", 1);
}
END_TEST

START_TEST(run_of_an_unknown_step_refuses_the_request)
{
    begin(go_there);
    test.then = WRIT_STEP_COUNT;
    (void)start();
    end("\"from\":\"AUTHENTICATE\"", "\"to\":\"UNKNOWN\"", 1);
}
END_TEST

START_TEST(wait_for_a_step_that_the_table_does_not_allow_is_refused)
{
    struct writ_request *request;

    begin(go_there);
    test.then = WRIT_STEP_SESSION;
    test.steps.fn[WRIT_STEP_SESSION] = wait_for_bind;
    request = start();
    ck_assert_uint_eq(test.answers, 0);
    writ_request_continue(request);
    end("\"from\":\"SESSION\"", "\"to\":\"BIND\"", 1);
}
END_TEST

START_TEST(continue_of_a_request_that_waits_for_no_step_is_refused)
{
    struct writ_request *request;

    begin(go_there);
    test.then = WRIT_STEP_SESSION;
    test.steps.fn[WRIT_STEP_SESSION] = wait_for_nothing;
    request = start();
    writ_request_continue(request);
    end("\"from\":\"SESSION\"", "\"to\":\"DONE\"", 1);
}
END_TEST

START_TEST(refusal_waits_for_operations_in_flight)
{
    begin(go_there_and_be_away);
    test.then = WRIT_STEP_SIGN;
    (void)start();
    ck_assert_uint_eq(test.answers, 0);
    turn();
    end("\"from\":\"AUTHENTICATE\"", "\"to\":\"SIGN\"", 1);
}
END_TEST

static void
break_governed(int64_t sent_us, const char *error_type)
{
    struct writ_request *request;

    begin(go_there);
    test.then = WRIT_STEP_SESSION;
    test.steps.fn[WRIT_STEP_SESSION] = wait_for_bind;
    test.steps.fn[WRIT_STEP_RECORD] = record;
    test.call = (struct writ_call){.grant = {.owes = true}};
    request = start();
    request->call = &test.call;
    request->forward.sent_us = sent_us;
    writ_request_continue(request);
    ck_assert_uint_eq(test.recorded, 1);
    ck_assert(test.call.end.not_sent == (sent_us == 0));
    ck_assert(writ_view_is(test.call.end.error_type, error_type));
    writ_generation_drop(request->generation);
    end("\"from\":\"SESSION\"", "\"to\":\"BIND\"", 0);
}

START_TEST(refusal_of_a_sent_call_records_outcome_unknown)
{
    break_governed(1, "internal_error");
}
END_TEST

START_TEST(refusal_of_a_granted_call_releases_its_claim)
{
    break_governed(0, WRIT_OUTCOME_NOT_SENT);
}
END_TEST

/* ---- a batch: BATCH and WHOLE as they are ---- */

static struct {
    bool is_slow, ended;
    void (*gone)(struct writ_exchange *x, void *ctx);
    void *ctx;
} client;

static void
client_stream(struct writ_exchange *x)
{
    (void)x;
}

static writ_result
client_write(struct writ_exchange *x, struct writ_view bytes)
{
    (void)x;
    (void)bytes;
    return (writ_result){client.is_slow ? WRIT_E_BUSY : WRIT_OK};
}

static void
client_end(struct writ_exchange *x, bool whole)
{
    (void)x;
    ck_assert(whole);
    client.ended = true;
}

static void
client_on_gone(struct writ_exchange *x, void (*fn)(struct writ_exchange *, void *), void *ctx)
{
    (void)x;
    client.gone = fn;
    client.ctx = ctx;
}

static const struct writ_exchange_hooks client_hooks = {.stream = client_stream,
    .write = client_write,
    .end = client_end,
    .on_gone = client_on_gone,
    .on_room = on_gone};

static enum writ_step
answer_part_or_read(struct writ_request *request)
{
    if (request->x->whole != NULL) {
        writ_exchange_stream(request->x, 200, NULL, 0);
        return writ_finish_reply(request, 200, NULL, 0, WRIT_LIT("{}"));
    }
    ck_assert_ok(writ_json_read(WRIT_LIT("[1,2]"), &writ_json_limits_default, request->x->arena,
        &request->message.body, NULL));
    return WRIT_STEP_READ;
}

static enum writ_step
go_to_classify(struct writ_request *request)
{
    (void)request;
    return WRIT_STEP_CLASSIFY;
}

static enum writ_step
go_to_batch(struct writ_request *request)
{
    (void)request;
    return WRIT_STEP_BATCH;
}

START_TEST(batch_of_a_client_that_leaves_unread_events_ends)
{
    begin(answer_part_or_read);
    test.config.limits.body_bytes = 65536;
    test.config.limits.request_bytes = 1 << 20;
    test.x.hooks = &client_hooks;
    test.steps.fn[WRIT_STEP_READ] = go_to_classify;
    test.steps.fn[WRIT_STEP_CLASSIFY] = go_to_batch;
    test.steps.fn[WRIT_STEP_BATCH] = writ_batch_start;
    test.steps.fn[WRIT_STEP_WHOLE] = writ_batch_answer;
    client.is_slow = true;
    (void)start();
    turn();
    ck_assert(!client.ended);
    client.is_slow = false; /* bytes for a client that has left are dropped */
    test.x.gone = true;
    client.gone(&test.x, client.ctx);
    turn();
    ck_assert(client.ended);
    ck_assert_uint_eq(atomic_load(&test.generation.holders), 1);
    writ_arena_free(test.x.arena);
    writ_loop_free(test.worker.loop);
    (void)close(test.lines);
    (void)close(test.log.fd);
}
END_TEST

WRIT_UNIT_MAIN("request", run_of_a_transition_outside_the_table_refuses_once,
    run_of_an_unknown_step_refuses_the_request,
    wait_for_a_step_that_the_table_does_not_allow_is_refused,
    continue_of_a_request_that_waits_for_no_step_is_refused, refusal_waits_for_operations_in_flight,
    refusal_of_a_sent_call_records_outcome_unknown, refusal_of_a_granted_call_releases_its_claim,
    batch_of_a_client_that_leaves_unread_events_ends)
