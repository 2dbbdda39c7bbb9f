/* discover_stdio.c - a program that is started for one discovery, spoken to in lines.
 *
 * Invariants:
 * (1) A program that ends is started again by its child (child.h): some end at a message that they
 *     do not know, and answer the next one. One that cannot be started is not tried again.
 * (2) The link is closed only when the program is gone. */
#include "gateway/discover/discover_stdio.h"

#include "base/text.h"
#include "evidence/json/write.h"
#include "gateway/io/child.h"
#include "gateway/io/exec_env.h"
#include "gateway/io/program_files.h"
#include "gateway/mcp/mcp.h"

#include <string.h>

#define SAID_MAX  300 /* bytes of its words that go into an error */
#define GRACE_US  1000000
#define REPLY_MAX 4096
#define END_US    (INT64_C(10) * 1000 * 1000) /* to close: three times the grace, and more */

struct stdio_link {
    struct writ_discover_link link;
    struct writ_child *child;
    struct writ_buf answer, said;
    int64_t awaited; /* the id of a request; 0: none */
    unsigned downs;
    enum writ_child_why why; /* of the last end */
    int detail;
    bool is_up, answered;
    const struct writ_definitions *accepted;
    struct writ_program_files files;
    struct writ_err forbidden; /* the last refusal of program_digest */
};

/* ---- from the child */

static void
on_up(void *ctx, struct writ_child *child)
{
    struct stdio_link *link = ctx;

    (void)child;
    link->is_up = true;
    writ_discover_link_wake(&link->link);
}

/* A request of the server's own: it may check that its client is alive, and gets nothing else. */
static void
reply(struct stdio_link *link, const struct writ_json *message)
{
    bool ping = writ_json_is(writ_json_get(message, WRIT_LIT("method")), WRIT_LIT("ping"));
    writ_auto_buf line = writ_buf_make(REPLY_MAX);
    struct writ_write w = writ_write_to(&line);
    uint64_t ticket;

    writ_mcp_open(&w, writ_json_get(message, WRIT_LIT("id")));
    writ_write_name(&w, ping ? WRIT_LIT("result") : WRIT_LIT("error"));
    if (ping) {
        writ_write_object_begin(&w);
        writ_write_object_end(&w);
    } else {
        writ_mcp_put_error(&w, WRIT_RPC_METHOD_NOT_FOUND, "this client lists tools, nothing else");
    }
    writ_write_object_end(&w);
    if (writ_is_ok(writ_write_end(&w, NULL))) {
        WRIT_IGNORE(writ_child_send(link->child, writ_buf_view(&line), &ticket)); /* time ends it */
    }
}

static void
take_other(struct stdio_link *link, struct writ_view line)
{
    writ_auto_arena arena = writ_arena_new(64 * line.len + 65536);
    const struct writ_json *message;

    if (arena != NULL && writ_is_ok(writ_mcp_parse(line, arena, &message)) &&
        writ_json_get(message, WRIT_LIT("method")) != NULL &&
        writ_json_get(message, WRIT_LIT("id")) != NULL) {
        reply(link, message);
    }
}

static void
on_line(void *ctx, struct writ_child *child, struct writ_view line)
{
    struct stdio_link *link = ctx;

    (void)child;
    if (link->awaited == 0 || link->answered ||
        !writ_discover_link_is_answer(line, link->awaited)) {
        take_other(link, line);
        return;
    }
    link->answered = true;
    writ_buf_clear(&link->answer);
    writ_buf_put(&link->answer, line);
    writ_discover_link_wake(&link->link);
}

static void
on_down(void *ctx, struct writ_child *child, const struct writ_child_end *end)
{
    struct stdio_link *link = ctx;

    (void)child;
    link->is_up = false;
    link->downs++;
    link->why = end->why;
    link->detail = end->detail;
    if (end->said.len > 0) {
        writ_buf_clear(&link->said);
        writ_buf_put(&link->said, end->said);
    }
    writ_discover_link_wake(&link->link);
}

static enum writ_child_may
may_start(void *ctx, struct writ_child *child, int *ret_program)
{
    struct stdio_link *link = ctx;
    const struct writ_upstream_config *server = link->link.server;
    const struct writ_program_list list = {&server->program, server->name, link->accepted};
    writ_result r;

    if (list.program->n == 0) {
        return WRIT_CHILD_MAY;
    }
    r = writ_program_files_check(&link->files, &list, writ_child_plan(child), writ_clock_system(),
        ret_program, &link->forbidden);
    return writ_is_ok(r)           ? WRIT_CHILD_MAY
           : r.code == WRIT_E_BUSY ? WRIT_CHILD_MAY_LATER
                                   : WRIT_CHILD_MAY_NOT;
}

static const struct writ_child_handler handler = {
    .may_start = may_start, .on_up = on_up, .on_line = on_line, .on_down = on_down};

/* ---- errors */

/* The last lines but those of a stack, which begin with white space, as one. */
static void
put_said(const struct stdio_link *link, struct writ_buf *ret)
{
    writ_auto_buf lines = writ_buf_make(2 * WRIT_CHILD_SAID_MAX);
    struct writ_view rest = writ_buf_view(&link->said), all;

    while (rest.len > 0) {
        struct writ_view line = writ_view_sub(rest, 0, writ_view_find(rest, '\n'));

        rest = writ_view_sub(rest, line.len + 1, SIZE_MAX);
        if (writ_view_trim(line).len > 0 && line.ptr[0] != ' ' && line.ptr[0] != '\t') {
            writ_buf_str(&lines, lines.len > 0 ? " | " : "");
            writ_buf_put(&lines, writ_view_trim(line));
        }
    }
    all = writ_buf_view(&lines);
    if (all.len > SAID_MAX) {
        all = writ_view_sub(all, all.len - SAID_MAX, SAID_MAX);
    }
    if (all.len > 0) {
        writ_buf_str(ret, " It said: ");
        writ_text_safe(ret, all, SAID_MAX);
    }
}

static void
put_end(const struct stdio_link *link, struct writ_buf *ret)
{
    switch (link->why) {
    case WRIT_CHILD_EXITED:
        writ_buf_fmt(ret, "it ended with exit code %d", link->detail);
        return;
    case WRIT_CHILD_KILLED:
        writ_buf_fmt(ret, "it was ended by signal %d", link->detail);
        return;
    case WRIT_CHILD_LINE_TOO_LONG:
        writ_buf_fmt(ret, "it wrote a line longer than %zu bytes", WRIT_DISCOVER_ANSWER_MAX);
        return;
    case WRIT_CHILD_BROKEN_PIPE:
        writ_buf_str(ret, "it closed its standard input or output");
        return;
    case WRIT_CHILD_UNSET:
    case WRIT_CHILD_NOT_STARTED:
    case WRIT_CHILD_REJECTED:
    case WRIT_CHILD_FORBIDDEN:
    case WRIT_CHILD_STOPPED:
        break;
    }
    writ_buf_str(ret, "it ended");
}

static WRIT_RESULT
stop(struct stdio_link *link, struct writ_err *err)
{
    if (link->why != WRIT_CHILD_STOPPED) {
        link->link.ends_us = INT64_MAX; /* the child has times of its own */
        writ_child_stop(link->child);
        while (link->why != WRIT_CHILD_STOPPED) {
            WRIT_TRY(writ_discover_link_run(&link->link, END_US, err));
            if (link->link.late) {
                WRIT_FAIL(err, WRIT_E_IO, "%s: it does not end", link->link.label);
            }
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
fail_start(const struct stdio_link *link, struct writ_err *err)
{
    if (link->why == WRIT_CHILD_FORBIDDEN) {
        WRIT_FAIL(err, WRIT_E_IO,
            "%s: it is not started, because program_digest refuses it: %s. Review the program; "
            "`writ tools program` %s.",
            link->link.label, link->forbidden.text,
            link->files.unaccepted ? "--accept accepts it" : "prints its digests");
    }
    WRIT_FAIL(err, WRIT_E_IO,
        "%s: it cannot be started: %s. Install the program, or name it with its path.",
        link->link.label, strerrordesc_np(link->detail));
}

static WRIT_RESULT
fail_end(const struct stdio_link *link, const struct writ_discover_message *message,
    struct writ_err *err)
{
    writ_auto_buf why = writ_buf_make(WRIT_ERR_TEXT * 2);

    put_end(link, &why);
    writ_buf_fmt(&why, " before it answered " WRIT_VIEW_FMT ".", WRIT_VIEW_ARG(message->method));
    put_said(link, &why);
    WRIT_FAIL(err, WRIT_E_ABSENT, "%s: " WRIT_VIEW_FMT, link->link.label,
        WRIT_VIEW_ARG(writ_buf_view(&why)));
}

/* Its words come with its end. */
static WRIT_RESULT
fail_late(
    struct stdio_link *link, const struct writ_discover_message *message, struct writ_err *err)
{
    writ_auto_buf said = writ_buf_make(WRIT_ERR_TEXT * 2);

    WRIT_TRY(stop(link, err));
    put_said(link, &said);
    WRIT_FAIL(err, WRIT_E_IO,
        "%s: it did not answer " WRIT_VIEW_FMT
        " in time. Run the program by itself to see what it waits for." WRIT_VIEW_FMT,
        link->link.label, WRIT_VIEW_ARG(message->method), WRIT_VIEW_ARG(writ_buf_view(&said)));
}

/* ---- asking */

/* `downs`: how many ends there were when the message was to be sent. A program may come up and end
 * in one turn of the loop. */
static WRIT_RESULT
await_up(struct stdio_link *link, const struct writ_discover_message *message, unsigned downs,
    struct writ_err *err)
{
    while (!link->is_up) {
        WRIT_TRY(writ_discover_link_run(&link->link, 0, err));
        if (link->why == WRIT_CHILD_NOT_STARTED || link->why == WRIT_CHILD_FORBIDDEN) {
            return fail_start(link, err); /* keeps (1) */
        }
        if (link->downs != downs) {
            return fail_end(link, message, err);
        }
        if (link->link.late) {
            return fail_late(link, message, err);
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
await_answer(struct stdio_link *link, const struct writ_discover_message *message, unsigned downs,
    struct writ_err *err)
{
    while (!link->answered) {
        if (link->downs != downs) {
            return fail_end(link, message, err);
        }
        WRIT_TRY(writ_discover_link_run(&link->link, message->within_us, err));
        if (link->link.late && !link->answered && message->within_us > 0) {
            WRIT_FAIL(err, WRIT_E_ABSENT, "%s: no answer yet", link->link.label);
        }
        if (link->link.late && !link->answered) {
            return fail_late(link, message, err);
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
ask(struct writ_discover_link *base, const struct writ_discover_message *message,
    struct writ_view *ret_answer, struct writ_err *err)
{
    struct stdio_link *link = (struct stdio_link *)base;
    unsigned downs = link->downs;
    uint64_t ticket;
    writ_result sent;

    WRIT_TRY(await_up(link, message, downs, err));
    link->awaited = message->id;
    link->answered = false;
    sent = writ_child_send(link->child, message->body, &ticket);
    if (!writ_is_ok(sent) && sent.code != WRIT_E_ABSENT) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: it does not read its standard input", base->label);
    }
    if (message->id != 0 || !writ_is_ok(sent)) { /* one that ends is waited for */
        WRIT_TRY(await_answer(link, message, downs, err));
        WRIT_TRY(writ_buf_check(&link->answer, err));
    }
    *ret_answer = message->id != 0 ? writ_buf_view(&link->answer) : writ_view(NULL, 0);
    return WRIT_DONE;
}

/* ---- life */

static void
close_link(struct writ_discover_link *base)
{
    struct stdio_link *link = (struct stdio_link *)base;

    if (link->child != NULL) {
        WRIT_IGNORE(stop(link, NULL)); /* keeps (2): else the close kills it */
        writ_child_close(link->child);
    }
    writ_buf_wipe(&link->answer);
    writ_buf_wipe(&link->said);
    writ_free(link);
}

static WRIT_RESULT
open_child(struct stdio_link *link, struct writ_err *err)
{
    const struct writ_upstream_config *server = link->link.server;
    WRIT_AUTO(struct writ_exec_env, writ_exec_env_wipe) around = {.argv = {NULL}};
    struct writ_child_options options = {.argv = around.argv,
        .environment = around.environment,
        .directory = server->directory.len > 0 ? server->directory.ptr : NULL,
        .line_max = WRIT_DISCOVER_ANSWER_MAX,
        .grace_us = GRACE_US};

    WRIT_TRY(
        writ_exec_env_make(&server->stdio, &server->inherit, &server->environment, &around, err));
    return writ_child_open(link->link.loop, &options, &handler, link, &link->child, err);
}

writ_result
writ_discover_stdio_open(const struct writ_upstream_config *server,
    const struct writ_definitions *accepted, struct writ_loop *loop, int64_t ends_us,
    struct writ_discover_link **ret, struct writ_err *err)
{
    static const struct writ_discover_link_ops ops = {ask, close_link};
    struct stdio_link *link = writ_alloc(sizeof *link);
    writ_result r;

    if (link == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a tool server");
    }
    writ_discover_link_init(&link->link, &ops, server, loop, ends_us);
    link->accepted = accepted;
    link->answer = writ_buf_make(WRIT_DISCOVER_ANSWER_MAX);
    link->said = writ_buf_make(WRIT_CHILD_SAID_MAX);
    r = open_child(link, err);
    if (!writ_is_ok(r)) {
        close_link(&link->link);
        return r;
    }
    *ret = &link->link;
    return WRIT_DONE;
}
