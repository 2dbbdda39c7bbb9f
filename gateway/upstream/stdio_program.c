/* stdio_program.c - the owner loop's own generation has the present configuration: a reload reaches
 * the next start, and the next message to a child that runs. */
#include "gateway/upstream/stdio_program.h"

#include <unistd.h>

#define TELL_AGAIN_US (INT64_C(60) * 1000 * 1000)

static struct writ_program_list
present(const struct writ_stdio *stdio)
{
    const struct writ_generation *generation = stdio->gateway->workers[0].generation;
    struct writ_view name = stdio->config->name;

    return (struct writ_program_list){
        writ_config_program(generation->config, name), name, generation->accepted};
}

/* The zero digest without a list. */
static WRIT_RESULT
digest_of(const struct writ_program_list *list, struct writ_digest *ret, struct writ_err *err)
{
    *ret = (struct writ_digest){{0}};
    return list->program != NULL ? writ_program_files_list(list, ret, err) : WRIT_DONE;
}

/* Every call of a refused upstream may ask: the log has it once a minute, unless it changes. */
static void
refuse(struct writ_stdio *stdio, const struct writ_err *why)
{
    int64_t now_us = writ_loop_now_us(stdio->loop);
    bool known = writ_view_equal(writ_view_str(stdio->program_why.text), writ_view_str(why->text));

    atomic_store(&stdio->program_unaccepted, stdio->program_files.unaccepted);
    atomic_store(&stdio->program_changed, true); /* before the log tells it */
    if (!known || now_us - stdio->program_told_us >= TELL_AGAIN_US) {
        WRIT_LOG(stdio->gateway->log, WRIT_EVENT_UPSTREAM_PROGRAM_CHANGED,
            writ_log_text("upstream", stdio->config->name), writ_log_str("why", why->text));
        stdio->program_told_us = now_us;
    }
    stdio->program_why = *why;
}

/* Clients of this upstream set the folder, and what is known of a file is shared by all of them. A
 * reload may bring a list of a configuration in which they do not. */
static WRIT_RESULT
check_names(
    const struct writ_stdio *stdio, const struct writ_program_list *list, struct writ_err *err)
{
    for (size_t i = 0; stdio->config->client_environment && i < list->program->n; i++) {
        struct writ_view name = list->program->files[i].name;

        if (name.ptr[0] != '/') {
            WRIT_FAIL(err, WRIT_E_INVALID, "%s is not a whole path, and clients set the folder",
                name.ptr);
        }
    }
    return WRIT_DONE;
}

enum writ_child_may
writ_stdio_program_ask(struct writ_instance *instance, int *ret_program)
{
    struct writ_stdio *stdio = instance->stdio;
    const struct writ_program_list list = present(stdio);
    struct writ_err err = {{0}, 0, 0};
    writ_result r = digest_of(&list, &instance->started_under, &err);

    if (writ_is_ok(r) && list.program != NULL) {
        r = check_names(stdio, &list, &err);
    }
    if (writ_is_ok(r) && list.program != NULL) {
        r = writ_program_files_check(&stdio->program_files, &list, writ_child_plan(instance->child),
            stdio->gateway->clock, ret_program, &err);
    }
    if (r.code == WRIT_E_BUSY) {
        return WRIT_CHILD_MAY_LATER;
    }
    if (!writ_is_ok(r)) {
        refuse(stdio, &err);
        return WRIT_CHILD_MAY_NOT;
    }
    stdio->program_why = (struct writ_err){{0}, 0, 0};
    atomic_store(&stdio->program_changed, false);
    return WRIT_CHILD_MAY;
}

bool
writ_stdio_program_is_stale(const struct writ_instance *instance)
{
    const struct writ_program_list list = present(instance->stdio);
    struct writ_digest now;

    return !writ_is_ok(digest_of(&list, &now, NULL)) ||
           !writ_digest_equal(&now, &instance->started_under);
}
