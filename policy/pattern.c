#include "policy/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct writ_pattern {
    pcre2_code *code;
    pcre2_match_context *limits;
};

#define OPTIONS       (PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C)
#define WHOLE_OPTIONS (OPTIONS | PCRE2_ANCHORED | PCRE2_ENDANCHORED)

static void *
arena_malloc(PCRE2_SIZE size, void *arena)
{
    return writ_arena_get(arena, size);
}

static void
arena_forget(void *ptr, void *arena)
{
    (void)ptr; /* the arena frees everything at once */
    (void)arena;
}

void
writ_pattern_free(struct writ_pattern *pattern)
{
    if (pattern != NULL) {
        pcre2_match_context_free(pattern->limits);
        pcre2_code_free(pattern->code);
        writ_free(pattern);
    }
}

static void
pattern_freep(struct writ_pattern **pattern)
{
    writ_pattern_free(*pattern);
}

static WRIT_RESULT
compile(struct writ_view text, uint32_t options, struct writ_pattern **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_pattern *, pattern_freep) pattern = NULL;
    PCRE2_UCHAR message[128] = "";
    PCRE2_SIZE offset = 0;
    int code = 0;

    if (text.len == 0 || text.len > WRIT_PATTERN_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a pattern has 1 to %d bytes", WRIT_PATTERN_MAX);
    }
    pattern = writ_alloc(sizeof *pattern);
    if (pattern == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a pattern");
    }
    pattern->code = pcre2_compile((PCRE2_SPTR)text.ptr, text.len, options, &code, &offset, NULL);
    if (pattern->code == NULL) {
        (void)pcre2_get_error_message(code, message, sizeof message);
        WRIT_FAIL_AT(err, WRIT_E_PARSE, offset, "%s at byte %zu of the pattern",
            (const char *)message, (size_t)offset);
    }
    pattern->limits = pcre2_match_context_create(NULL);
    if (pattern->limits == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a pattern");
    }
    (void)pcre2_set_match_limit(pattern->limits, WRIT_PATTERN_MATCH_MAX);
    (void)pcre2_set_depth_limit(pattern->limits, WRIT_PATTERN_DEPTH_MAX);
    (void)pcre2_set_heap_limit(pattern->limits, WRIT_PATTERN_HEAP_KIB);
    /* where memory cannot be made executable, the interpreter does it */
    (void)pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);

    *ret = WRIT_TAKE(pattern);
    return WRIT_DONE;
}

WRIT_RESULT
writ_pattern_new(struct writ_view text, struct writ_pattern **ret, struct writ_err *err)
{
    return compile(text, WHOLE_OPTIONS, ret, err);
}

WRIT_RESULT
writ_pattern_new_search(struct writ_view text, struct writ_pattern **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_pattern *, pattern_freep) pattern = NULL;
    uint32_t empty = 1;

    WRIT_TRY(compile(text, OPTIONS, &pattern, err));
    (void)pcre2_pattern_info(pattern->code, PCRE2_INFO_MATCHEMPTY, &empty);
    if (empty != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "can match nothing at all, and so anywhere");
    }
    *ret = WRIT_TAKE(pattern);
    return WRIT_DONE;
}

enum writ_pattern_answer
writ_pattern_match(
    const struct writ_pattern *pattern, struct writ_view text, struct writ_arena *arena)
{
    pcre2_general_context *memory;
    pcre2_match_data *data;
    int code;

    if (text.len > WRIT_PATTERN_TEXT_MAX) {
        return WRIT_PATTERN_LIMIT;
    }
    memory = pcre2_general_context_create(arena_malloc, arena_forget, arena);
    data = memory != NULL ? pcre2_match_data_create(1, memory) : NULL;
    if (data == NULL) {
        return WRIT_PATTERN_LIMIT;
    }
    code = pcre2_match(pattern->code, (PCRE2_SPTR)(text.len > 0 ? text.ptr : ""), text.len, 0, 0,
        data, pattern->limits);
    pcre2_match_data_free(data);
    pcre2_general_context_free(memory);
    if (code == PCRE2_ERROR_NOMATCH) {
        return WRIT_PATTERN_NO;
    }
    return code >= 0 ? WRIT_PATTERN_YES : WRIT_PATTERN_LIMIT;
}

/* One match from `from` on. The text is UTF-8, which PCRE2 has seen for itself when `from` is 0. */
static int
find(const struct writ_pattern *pattern, struct writ_view text, size_t from, pcre2_match_data *data)
{
    uint32_t options = PCRE2_NOTEMPTY | (from > 0 ? PCRE2_NO_UTF_CHECK : 0);

    return pcre2_match(pattern->code, (PCRE2_SPTR)(text.len > 0 ? text.ptr : ""), text.len, from,
        options, data, pattern->limits);
}

static enum writ_pattern_answer
replace(const struct writ_pattern *pattern, struct writ_view text, struct writ_view with,
    size_t *left, pcre2_match_data *data, struct writ_buf *ret)
{
    const PCRE2_SIZE *range = pcre2_get_ovector_pointer(data);
    size_t from = 0;
    int code = find(pattern, text, 0, data);

    for (; code >= 0; code = find(pattern, text, from, data)) {
        if (*left == 0 || range[0] < from || range[1] <= range[0]) {
            return WRIT_PATTERN_LIMIT;
        }
        --*left;
        writ_buf_put(ret, writ_view_sub(text, from, range[0] - from));
        writ_buf_put(ret, with);
        from = range[1];
    }
    writ_buf_put(ret, writ_view_sub(text, from, SIZE_MAX));
    if (code != PCRE2_ERROR_NOMATCH || !writ_is_ok(writ_buf_check(ret, NULL))) {
        return WRIT_PATTERN_LIMIT;
    }
    return from > 0 ? WRIT_PATTERN_YES : WRIT_PATTERN_NO;
}

enum writ_pattern_answer
writ_pattern_replace(const struct writ_pattern *pattern, struct writ_view text,
    struct writ_view with, size_t *left, struct writ_buf *ret)
{
    pcre2_match_data *data;
    enum writ_pattern_answer answer;

    if (text.len > WRIT_PATTERN_FIND_MAX) {
        return WRIT_PATTERN_LIMIT;
    }
    data = pcre2_match_data_create(1, NULL);
    answer = data != NULL ? replace(pattern, text, with, left, data, ret) : WRIT_PATTERN_LIMIT;
    pcre2_match_data_free(data);
    return answer;
}
