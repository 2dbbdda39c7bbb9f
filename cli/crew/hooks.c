/* Hooks as processes and requests. Whatever one does, its answer is an object that is logged: what
 * it asked for, or why it failed. */
#include "cli/crew/hooks.h"

#include "base/clock.h"
#include "base/text.h"
#include "cli/base/cli.h"
#include "cli/crew/environment.h"
#include "gateway/crews/event.h"
#include "crew/names.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "gateway/http/fetch.h"
#include "gateway/io/spawn.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 20)
#define TEXT_MAX ((size_t)1 << 30)
#define SHOWN    200
#define DRAINED  16 /* pieces of an output between two looks at the clock */

struct writ_hooks {
    struct writ_buf text;
    struct writ_event_reader reader;
    const struct writ_json *file;
    struct writ_view *names;
    size_t n;
};

/* ---- reading */

void
writ_hooks_free(struct writ_hooks *hooks)
{
    if (hooks != NULL) {
        writ_event_reader_wipe(&hooks->reader);
        writ_buf_wipe(&hooks->text);
        writ_free(hooks->names);
        writ_free(hooks);
    }
}

static void
hooks_freep(struct writ_hooks **hooks)
{
    writ_hooks_free(*hooks);
}

static bool
has_scheme(struct writ_view target, struct writ_view scheme)
{
    return writ_view_equal_nocase(writ_view_sub(target, 0, scheme.len), scheme);
}

static bool
is_url(struct writ_view target)
{
    return has_scheme(target, WRIT_LIT("http://")) || has_scheme(target, WRIT_LIT("https://"));
}

/* A NUL-terminated copy. */
static WRIT_RESULT
copy_text(struct writ_view text, struct writ_buf *ret)
{
    writ_buf_put(ret, text);
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, NULL);
}

static WRIT_RESULT
check_hook(struct writ_view name, struct writ_view target, struct writ_err *err)
{
    writ_auto_buf url = writ_buf_make(FILE_MAX);
    struct writ_err below = {0};
    writ_result checked;

    if (name.len == 0 || target.len == 0 || writ_view_find(target, '\0') < target.len) {
        WRIT_FAIL(err, WRIT_E_INVALID, "/" WRIT_VIEW_FMT ": must be a command or a URL",
            WRIT_VIEW_ARG(name));
    }
    if (!is_url(target)) {
        return WRIT_DONE;
    }
    WRIT_TRY(copy_text(target, &url));
    checked = writ_fetch_check(url.ptr, &below);
    return writ_is_ok(checked) ? checked
                               : writ_fail(err, checked.code, "/" WRIT_VIEW_FMT ": %s",
                                     WRIT_VIEW_ARG(name), below.text);
}

static WRIT_RESULT
read_file(struct writ_hooks *hooks, struct writ_err *err)
{
    WRIT_TRY(writ_event_read(&hooks->reader, writ_buf_view(&hooks->text), &hooks->file, err));
    if (hooks->file->count > WRIT_HOOKS_NAMES_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d hooks", WRIT_HOOKS_NAMES_MAX);
    }
    hooks->names = writ_alloc((hooks->file->count + 1) * sizeof *hooks->names);
    if (hooks->names == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_JSON_EACH(name, hooks->file)
    {
        hooks->names[hooks->n++] = writ_json_string(name);
        WRIT_TRY(check_hook(writ_json_string(name), writ_json_string(writ_json_value(name)), err));
    }
    qsort(hooks->names, hooks->n, sizeof *hooks->names, writ_names_by_bytes);
    return WRIT_DONE;
}

WRIT_RESULT
writ_hooks_read(const char *path, struct writ_hooks **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_hooks *, hooks_freep) hooks = writ_alloc(sizeof *hooks);
    struct writ_err below = {0};
    writ_result read;

    if (hooks == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    (void)signal(SIGPIPE, SIG_IGN); /* a hook need not read its input */
    hooks->text = writ_buf_make(FILE_MAX);
    WRIT_TRY(writ_cli_read(path, FILE_MAX, &hooks->text, err));
    read = read_file(hooks, &below);
    if (!writ_is_ok(read)) {
        return writ_fail(err, read.code, "%s: %s", path, below.text);
    }
    *ret = WRIT_TAKE(hooks);
    return WRIT_DONE;
}

/* ---- a command */

/** A hook that runs: its process, and how much of its input it has read. */
struct running {
    struct writ_spawned process;
    struct writ_view input;
    size_t written;
    struct writ_buf *output;
    size_t shown; /* bytes of its standard error that were passed on */
    int64_t deadline_ms;
};

static int64_t
mono_ms(void)
{
    return writ_clock_mono_us(writ_clock_system()) / 1000;
}

static void
close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

static void
feed(struct running *hook)
{
    while (hook->written < hook->input.len) {
        ssize_t n = write(
            hook->process.in, hook->input.ptr + hook->written, hook->input.len - hook->written);
        if (n <= 0) {
            break;
        }
        hook->written += (size_t)n;
    }
    if (hook->written == hook->input.len || (errno != EAGAIN && errno != EINTR)) {
        close_fd(&hook->process.in); /* read, or not wanted */
    }
}

/* Takes what it has written: its output, and the beginning of its standard error. A few pieces
 * only, so that one that never ends still meets its deadline. */
static void
drain(struct running *hook, int *fd)
{
    char piece[4096];
    ssize_t n = 0;

    for (int pieces = 0; pieces < DRAINED; pieces++) {
        n = read(*fd, piece, sizeof piece);
        if (n <= 0) {
            break;
        }
        if (fd == &hook->process.out) {
            writ_buf_put(hook->output, writ_view(piece, (size_t)n));
        } else if (hook->shown < WRIT_HOOKS_ERRORS_MAX) {
            hook->shown += fwrite(piece, 1, (size_t)n, stderr);
        }
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close_fd(fd);
    }
}

/* Until it has closed both streams and ended. */
static WRIT_RESULT
attend(struct running *hook, struct writ_err *err)
{
    bool ended = false;

    while (!ended || hook->process.out >= 0 || hook->process.err >= 0) {
        int64_t left = hook->deadline_ms - mono_ms();
        struct pollfd fds[] = {{hook->process.in, POLLOUT, 0}, {hook->process.out, POLLIN, 0},
            {hook->process.err, POLLIN, 0}, {ended ? -1 : hook->process.pidfd, POLLIN, 0}};
        if (left <= 0) {
            WRIT_FAIL(err, WRIT_E_IO, "no answer within %d ms", WRIT_HOOKS_TIMEOUT_MS);
        }
        if (hook->output->failed == WRIT_E_LIMIT) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "an answer of more than %zu bytes", WRIT_HOOKS_ANSWER_MAX);
        }
        if (poll(fds, sizeof fds / sizeof *fds, (int)left) < 0) {
            continue; /* a signal */
        }
        if (fds[0].revents != 0) {
            feed(hook);
        }
        if (fds[1].revents != 0) {
            drain(hook, &hook->process.out);
        }
        if (fds[2].revents != 0) {
            drain(hook, &hook->process.err);
        }
        ended |= fds[3].revents != 0;
    }
    return WRIT_DONE;
}

/* Appends the output of a command that got a text. WRIT_E_IO: it failed. */
static WRIT_RESULT
run_command(
    const char *command, struct writ_view input, struct writ_buf *output, struct writ_err *err)
{
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    const char *environment[WRIT_ENVIRONMENT_MAX + 1] = {NULL};
    struct running hook = {.input = input, .output = output};
    struct writ_spawn_plan *plan = NULL;
    int fault = 0, status = 0;
    writ_result started, attended;

    WRIT_TRY(writ_environment_inherit(environment, err));
    WRIT_TRY(writ_spawn_plan_new(argv, environment, NULL, &plan, err));
    started = writ_spawn_start(plan, -1, &hook.process, &fault);
    writ_spawn_plan_free(plan);
    if (!writ_is_ok(started)) {
        WRIT_FAIL(err, WRIT_E_IO, "cannot be started: %s", strerrordesc_np(fault));
    }
    hook.deadline_ms = mono_ms() + WRIT_HOOKS_TIMEOUT_MS;
    attended = attend(&hook, err);
    (void)kill(-hook.process.pid, SIGKILL);
    (void)waitpid(hook.process.pid, &status, 0);
    close_fd(&hook.process.in);
    close_fd(&hook.process.out);
    close_fd(&hook.process.err);
    close_fd(&hook.process.pidfd);
    close_fd(&hook.process.status);
    WRIT_TRY(attended);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        WRIT_FAIL(err, WRIT_E_IO,
            WIFEXITED(status) ? "ended with status %d" : "killed by signal %d",
            WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
    return writ_buf_check(output, err);
}

/* ---- a request */

static WRIT_RESULT
post(const char *url, struct writ_view input, struct writ_buf *output, struct writ_err *err)
{
    writ_auto_buf body = writ_buf_make(TEXT_MAX);
    struct writ_fetch_request request = {.type = "Content-Type: application/json"};
    long status = 0;

    WRIT_TRY(copy_text(input, &body));
    request.body = body.ptr;
    request.body_len = input.len;
    WRIT_TRY(writ_fetch_ask(url, &request, WRIT_HOOKS_TIMEOUT_MS, NULL, &status, output, err));
    if (status != 200 && status != 204) {
        WRIT_FAIL(err, WRIT_E_IO, "answered with status %ld", status);
    }
    return WRIT_DONE;
}

/* ---- asking */

static void
put_text(struct writ_write *w, const char *name, struct writ_view text)
{
    if (text.ptr != NULL) {
        writ_write_text(w, name, text);
    }
}

static void
put_json(struct writ_write *w, const char *name, struct writ_view value)
{
    if (value.ptr != NULL) {
        writ_write_name(w, writ_view_str(name));
        writ_write_raw(w, value);
    }
}

static void
put_flag(struct writ_write *w, const char *name, int flag)
{
    if (flag >= 0) {
        writ_write_flag(w, name, flag != 0);
    }
}

static WRIT_RESULT
put_question(const struct writ_crew_hook *hook, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text(&w, "type", WRIT_LIT("hook"));
    writ_write_text(&w, "name", hook->name);
    writ_write_text(&w, "stage", hook->stage);
    put_text(&w, "crewId", hook->crew_id);
    put_text(&w, "roleId", hook->role_id);
    put_text(&w, "agentId", hook->agent_id);
    put_json(&w, "input", hook->input);
    put_json(&w, "output", hook->output);
    put_flag(&w, "fault", hook->fault);
    put_flag(&w, "stalled", hook->stalled);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_byte(ret, '\n');
    return writ_buf_check(ret, err);
}

static const char *
fault_of_action(const struct writ_json *action)
{
    enum writ_crew_action kind = WRIT_CREW_TALK_TO;

    return writ_json_type(action) == WRIT_JSON_OBJECT && action->count == 3 &&
                   writ_crew_action_read(writ_event_text(action, "action"), &kind) &&
                   writ_event_text(action, "from").ptr != NULL &&
                   writ_event_text(action, "to").ptr != NULL
               ? NULL
               : "an action that is not {action, from, to}";
}

/* Why an answer cannot be obeyed; NULL: it can. */
static const char *
fault_of(const struct writ_json *answer)
{
    WRIT_JSON_EACH(name, answer)
    {
        const struct writ_json *value = writ_json_value(name);
        bool checkpoints = writ_view_is(writ_json_string(name), "checkpoints");
        if (!checkpoints && !writ_view_is(writ_json_string(name), "actions")) {
            return "an answer with a member other than checkpoints and actions";
        }
        if (writ_json_type(value) != WRIT_JSON_ARRAY) {
            return "checkpoints and actions must be lists";
        }
        WRIT_JSON_EACH(element, value)
        {
            const char *wrong = checkpoints ? writ_json_type(element) == WRIT_JSON_STRING
                                                  ? NULL
                                                  : "a checkpoint that is not a string"
                                            : fault_of_action(element);
            if (wrong != NULL) {
                return wrong;
            }
        }
    }
    return NULL;
}

/* Appends the answer in its canonical form. WRIT_E_INVALID, WRIT_E_PARSE: it is not one. */
static WRIT_RESULT
read_answer(struct writ_view text, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_event_reader reader = {0};
    const struct writ_json *answer = NULL;
    struct writ_view trimmed = writ_view_trim(text);
    writ_result read =
        writ_event_read(&reader, trimmed.len > 0 ? trimmed : WRIT_LIT("{}"), &answer, err);

    if (writ_is_ok(read) && fault_of(answer) != NULL) {
        read = writ_fail(err, WRIT_E_INVALID, "%s", fault_of(answer));
    }
    if (writ_is_ok(read)) {
        read = writ_jcs_put_rounded(ret, answer, err);
    }
    writ_event_reader_wipe(&reader);
    return read;
}

static WRIT_RESULT
ask_target(struct writ_view target, const struct writ_crew_hook *hook, struct writ_buf *ret,
    struct writ_err *err)
{
    writ_auto_buf place = writ_buf_make(FILE_MAX);
    writ_auto_buf question = writ_buf_make(TEXT_MAX);
    writ_auto_buf answer = writ_buf_make(WRIT_HOOKS_ANSWER_MAX);

    WRIT_TRY(copy_text(target, &place));
    WRIT_TRY(put_question(hook, &question, err));
    WRIT_TRY(is_url(target) ? post(place.ptr, writ_buf_view(&question), &answer, err)
                            : run_command(place.ptr, writ_buf_view(&question), &answer, err));
    return read_answer(writ_buf_view(&answer), ret, err);
}

/* Reports a failure, and makes it the answer. */
static WRIT_RESULT
put_failure(
    const struct writ_crew_hook *hook, const char *why, struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_buf line = writ_buf_make(TEXT_MAX);
    writ_auto_buf failure = writ_buf_make(TEXT_MAX);
    struct writ_event_reader reader = {0};
    const struct writ_json *answer = NULL;
    writ_result read;

    writ_buf_str(&line, "writ: warning: hook ");
    writ_text_safe(&line, hook->name, SHOWN);
    writ_buf_str(&line, " at ");
    writ_buf_put(&line, hook->stage);
    writ_buf_str(&line, ": ");
    writ_text_safe(&line, writ_view_str(why), SHOWN);
    writ_buf_byte(&line, '\n');
    (void)fwrite(line.ptr, 1, line.len, stderr);
    writ_buf_str(&failure, "{\"failed\":");
    writ_text_json_safe(&failure, writ_view_str(why), SHOWN);
    writ_buf_byte(&failure, '}');
    read = writ_event_read(&reader, writ_buf_view(&failure), &answer, err);
    if (writ_is_ok(read)) {
        read = writ_jcs_put_rounded(ret, answer, err);
    }
    writ_event_reader_wipe(&reader);
    return read;
}

static writ_result
ask(void *user, const struct writ_crew_hook *hook, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_hooks *hooks = user;
    struct writ_view target = writ_json_string(writ_json_get(hooks->file, hook->name));
    struct writ_err below = {0};
    writ_result asked = ask_target(target, hook, ret, &below);

    if (asked.code == WRIT_E_NOMEM) {
        return writ_fail(err, WRIT_E_NOMEM, "no memory");
    }
    return writ_is_ok(asked) ? asked : put_failure(hook, below.text, ret, err);
}

struct writ_recording_hooks
writ_hooks_face(struct writ_hooks *hooks)
{
    return (struct writ_recording_hooks){hooks->names, hooks->n, ask, hooks};
}
