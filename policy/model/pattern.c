/* PCRE2 with limits on matches, depth and heap. A limit or an error of PCRE2 is never an answer:
 * the caller gets LIMIT and refuses. A compiled pattern does not change, so threads share it; the
 * memory of a match comes from the caller. */
#include "policy/model/pattern.h"

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

void
writ_pattern_list_free(struct writ_pattern_list *patterns)
{
    for (; patterns != NULL; patterns = patterns->next) {
        writ_pattern_free(patterns->pattern); /* the list itself is the arena's */
        if (patterns->release != NULL) {
            patterns->release(patterns->other);
        }
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
    /* where memory cannot be made executable, the interpreter matches */
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

    WRIT_TRY(compile(text, OPTIONS | PCRE2_USE_OFFSET_LIMIT, &pattern, err));
    (void)pcre2_pattern_info(pattern->code, PCRE2_INFO_MATCHEMPTY, &empty);
    if (empty != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "can match the empty text, and so everywhere");
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

/* One search: a pattern in a text. */
struct search {
    const struct writ_pattern *pattern;
    struct writ_view text;
    pcre2_match_data *data;
    pcre2_match_context *limits; /* separate: it holds where a match may begin */
    struct writ_pattern_budget *budget;
};

/* The end of the slice that begins at `from`: never inside a character. */
static size_t
slice_end(struct writ_view text, size_t from)
{
    size_t end = from + WRIT_PATTERN_SLICE;

    while (end < text.len && ((unsigned char)text.ptr[end] & 0xc0) == 0x80) {
        end++;
    }
    return end < text.len ? end : text.len;
}

/* One match from `from` on. PCRE2's limits apply to each place where a match may begin, so that a
 * poor pattern and a long text together could take hours: the search goes by slices of such places
 * and checks the time in between. The text is UTF-8, which PCRE2 has verified itself when `from` is
 * 0. */
static int
find(const struct search *search, size_t from)
{
    struct writ_view text = search->text;
    int code = PCRE2_ERROR_NOMATCH;

    while (code == PCRE2_ERROR_NOMATCH && from <= text.len) {
        size_t end = slice_end(text, from);
        bool last = end == text.len;

        if (writ_clock_mono_us(search->budget->clock) >= search->budget->until_us) {
            return PCRE2_ERROR_MATCHLIMIT;
        }
        (void)pcre2_set_offset_limit(search->limits, last ? PCRE2_UNSET : end - 1);
        code = pcre2_match(search->pattern->code, (PCRE2_SPTR)(text.len > 0 ? text.ptr : ""),
            text.len, from, PCRE2_NOTEMPTY | (from > 0 ? PCRE2_NO_UTF_CHECK : 0), search->data,
            search->limits);
        from = last ? text.len + 1 : end;
    }
    return code;
}

static enum writ_pattern_answer
each_match(const struct search *search, writ_pattern_fn *each, void *ctx)
{
    const PCRE2_SIZE *range = pcre2_get_ovector_pointer(search->data);
    size_t from = 0;
    int code = find(search, 0);

    for (; code >= 0; code = find(search, from)) {
        if (search->budget->matches == 0 || range[0] < from || range[1] <= range[0]) {
            return WRIT_PATTERN_LIMIT;
        }
        search->budget->matches--;
        from = range[1];
        if (!each(ctx, range[0], range[1] - range[0])) {
            return WRIT_PATTERN_YES;
        }
    }
    if (code != PCRE2_ERROR_NOMATCH) {
        return WRIT_PATTERN_LIMIT;
    }
    return from > 0 ? WRIT_PATTERN_YES : WRIT_PATTERN_NO;
}

enum writ_pattern_answer
writ_pattern_each(const struct writ_pattern *pattern, struct writ_view text,
    struct writ_pattern_budget *budget, writ_pattern_fn *each, void *ctx)
{
    struct search search = {.pattern = pattern, .text = text, .budget = budget};
    enum writ_pattern_answer answer = WRIT_PATTERN_LIMIT;

    if (text.len > WRIT_PATTERN_FIND_MAX) {
        return WRIT_PATTERN_LIMIT;
    }
    search.data = pcre2_match_data_create(1, NULL);
    search.limits = pcre2_match_context_copy(pattern->limits);
    if (search.data != NULL && search.limits != NULL) {
        answer = each_match(&search, each, ctx);
    }
    pcre2_match_context_free(search.limits);
    pcre2_match_data_free(search.data);
    return answer;
}

struct replacing {
    struct writ_view text, with;
    struct writ_buf *ret;
    size_t from; /* the end of the last match */
};

static bool
replace_match(void *ctx, size_t offset, size_t length)
{
    struct replacing *r = ctx;

    writ_buf_put(r->ret, writ_view_sub(r->text, r->from, offset - r->from));
    writ_buf_put(r->ret, r->with);
    r->from = offset + length;
    return true;
}

enum writ_pattern_answer
writ_pattern_replace(const struct writ_pattern *pattern, struct writ_view text,
    struct writ_view with, struct writ_pattern_budget *budget, struct writ_buf *ret)
{
    struct replacing r = {.text = text, .with = with, .ret = ret};
    enum writ_pattern_answer answer = writ_pattern_each(pattern, text, budget, replace_match, &r);

    writ_buf_put(ret, writ_view_sub(text, r.from, SIZE_MAX));
    return writ_is_ok(writ_buf_check(ret, NULL)) ? answer : WRIT_PATTERN_LIMIT;
}
