/* A request, a process and its answer; nothing of the plug-in is ever loaded here. */
#include "gateway/engines/engine_count.h"

#include "gateway/engines/engine_process.h"

#define ARENA_MAX ((size_t)256 << 20)

static WRIT_RESULT
ask(const struct writ_engine_count *count, const struct writ_buf *request, struct writ_arena *arena,
    struct writ_engine_answer *ret, struct writ_err *err)
{
    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_buf_check(request, err));
    return writ_engine_process_ask(
        count->object, count->seconds, count->stop, writ_buf_view(request), arena, ret, err);
}

WRIT_RESULT
writ_engine_count_describe(
    const struct writ_engine_count *count, struct writ_engine_about *ret, struct writ_err *err)
{
    writ_auto_buf request = writ_buf_make(WRIT_ENGINE_REQUEST_MAX);
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_engine_answer answer = {0};
    struct writ_engine_about about = {0};

    writ_engine_message_put_describe(&request);
    WRIT_TRY(ask(count, &request, arena, &answer, err));
    if (answer.abi == 0) {
        WRIT_FAIL(err, WRIT_E_IO, "its answer is not a description");
    }
    about.abi = answer.abi;
    if (answer.name.len <= WRIT_CREW_ENGINE_NAME_MAX) {
        (void)writ_view_place(answer.name, about.name);
    }
    *ret = about;
    return WRIT_DONE;
}

WRIT_RESULT
writ_engine_count_check(const struct writ_engine_count *count, struct writ_err *err)
{
    struct writ_engine_about about = {0};

    WRIT_TRY(writ_engine_count_describe(count, &about, err));
    if (about.abi != WRIT_CREW_ENGINE_ABI || about.name[0] == '\0') {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "it is of ABI %u, and this program of ABI %d: build it against its headers",
            (unsigned)about.abi, WRIT_CREW_ENGINE_ABI);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_engine_count_run(const struct writ_engine_count *count, const struct writ_crew_poll *poll,
    struct writ_crew_tally *tally, bool *ret_refused, struct writ_err *err)
{
    writ_auto_buf request = writ_buf_make(WRIT_ENGINE_REQUEST_MAX);
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_engine_answer answer = {0};

    writ_engine_message_put_poll(&request, poll);
    WRIT_TRY(ask(count, &request, arena, &answer, err));
    if (answer.abi != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "its answer is not a count");
    }
    WRIT_TRY(writ_engine_message_tell(&answer, tally));
    *ret_refused = answer.refused;
    return WRIT_DONE;
}

static writ_result
run(void *ctx, const struct writ_crew_poll *poll, struct writ_crew_tally *tally, bool *ret_refused,
    struct writ_err *err)
{
    return writ_engine_count_run(ctx, poll, tally, ret_refused, err);
}

struct writ_panel_plugin
writ_engine_count_plugin(const struct writ_engine_count *count)
{
    return (struct writ_panel_plugin){run, (void *)(uintptr_t)count};
}
