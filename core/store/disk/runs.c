/* Lengths stand before the texts, so no two lists of runs have the same bytes. */
#include "store/disk/runs.h"

#define LINE_MAX 128

static WRIT_RESULT
add_run(struct writ_sql_statement *s, struct writ_digest_stream *stream, struct writ_err *err)
{
    char memory[LINE_MAX];
    struct writ_buf line = writ_buf_over(memory, sizeof memory);
    struct writ_view tenant = writ_sql_bytes(s, 2), name = writ_sql_bytes(s, 3);

    writ_buf_fmt(&line, "%lld %lld %zu %zu\n", (long long)writ_sql_int(s, 0),
        (long long)writ_sql_int(s, 1), tenant.len, name.len);
    WRIT_TRY(writ_buf_check(&line, err));
    WRIT_TRY(writ_digest_stream_add(stream, writ_buf_view(&line), err));
    WRIT_TRY(writ_digest_stream_add(stream, tenant, err));
    return writ_digest_stream_add(stream, name, err);
}

static WRIT_RESULT
add_runs(struct writ_sql_statement *s, struct writ_digest_stream *stream, struct writ_err *err)
{
    bool row = false;

    WRIT_TRY(writ_sql_step(s, &row, err));
    while (row) {
        WRIT_TRY(add_run(s, stream, err));
        WRIT_TRY(writ_sql_step(s, &row, err));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_runs_digest(struct writ_sql_statement *s, uint64_t from, uint64_t until,
    struct writ_digest *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_digest_stream, writ_digest_stream_wipe) stream = {.begun = false};
    writ_result result;

    WRIT_TRY(writ_digest_stream_init(&stream, err));
    writ_sql_bind_int(s, 1, (int64_t)from);
    writ_sql_bind_int(s, 2, (int64_t)until);
    result = add_runs(s, &stream, err);
    writ_sql_reset(s);
    WRIT_TRY(result);
    return writ_digest_stream_end(&stream, ret, err);
}
