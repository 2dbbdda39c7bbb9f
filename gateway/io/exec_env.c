/* exec_env.c - argv and environment for exec. Inherited variables are read from the gateway's own
 * environment and come last: of two values of a name the first one counts (spawn.h). */
#include "gateway/io/exec_env.h"

#include <stdlib.h>

#define BYTES_MAX (1U << 20)

static void
put_variable(struct writ_buf *text, struct writ_view name, struct writ_view value)
{
    writ_buf_put(text, name);
    writ_buf_byte(text, '=');
    writ_buf_put(text, value);
    writ_buf_byte(text, '\0');
}

WRIT_RESULT
writ_exec_env_make(const struct writ_views *argv, const struct writ_views *inherit,
    const struct writ_pairs *environment, struct writ_exec_env *ret, struct writ_err *err)
{
    size_t starts[WRIT_EXEC_ENV_MAX];
    size_t n = 0;

    *ret = (struct writ_exec_env){.text = writ_buf_make(BYTES_MAX)};
    WRIT_INVARIANT(argv->n < WRIT_EXEC_ENV_MAX &&
                   inherit->n + environment->n < WRIT_EXEC_ENV_MAX); /* option.tbl.h */
    for (size_t i = 0; i < argv->n; i++) {
        ret->argv[i] = argv->items[i].ptr;
    }
    for (size_t i = 0; i < environment->n; i++) {
        starts[n++] = ret->text.len;
        put_variable(&ret->text, environment->items[i].name, environment->items[i].value);
    }
    for (size_t i = 0; i < inherit->n; i++) {
        const char *value = getenv(inherit->items[i].ptr);

        if (value != NULL) {
            starts[n++] = ret->text.len;
            put_variable(&ret->text, inherit->items[i], writ_view_str(value));
        }
    }
    WRIT_TRY(writ_buf_check(&ret->text, err));
    for (size_t i = 0; i < n; i++) {
        ret->environment[i] = ret->text.ptr + starts[i];
    }
    return WRIT_DONE;
}

void
writ_exec_env_wipe(struct writ_exec_env *surroundings)
{
    writ_buf_wipe_secret(&surroundings->text);
}
