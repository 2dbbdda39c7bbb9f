/* "13 2 0 0 32" and a line feed, then the five texts without separators: none of them has to be
 * parsed, however large it is. Arguments begin with '{', so they cannot be mistaken for this. Rows
 * of earlier builds have the first three texts; those of candidates have a sixth. */
#include "store/tables/review_context.h"

#include "base/text.h"
#include "evidence/record/extension.h"
#include "evidence/record/review_record.h"
#include "store/tables/body.h"

#define PARTS       6
#define PARTS_USUAL 5
#define PARTS_LEAST 3

void
writ_review_context_put(const struct writ_review_context *context, struct writ_buf *ret)
{
    const struct writ_view parts[PARTS] = {context->arguments, context->state, context->before,
        context->conditions, context->salt, context->candidates};
    size_t n = context->candidates.len > 0 ? PARTS : PARTS_USUAL;

    for (size_t i = 0; i < n; i++) {
        writ_buf_u64(ret, parts[i].len);
        writ_buf_byte(ret, i + 1 < n ? ' ' : '\n');
    }
    for (size_t i = 0; i < n; i++) {
        writ_buf_put(ret, parts[i]);
    }
}

/* Takes the next length off the head line. */
static bool
take_length(struct writ_view *line, size_t most, size_t *ret)
{
    size_t at = writ_view_find(*line, ' ');
    uint64_t length = 0;

    if (!writ_is_ok(writ_text_u64(writ_view_sub(*line, 0, at), 0, most, &length))) {
        return false;
    }
    *line = writ_view_sub(*line, at + 1, line->len);
    *ret = (size_t)length;
    return true;
}

struct writ_review_context
writ_review_context_read(struct writ_view bytes)
{
    size_t end = writ_view_find(bytes, '\n'), n = 0, sum = 0, lengths[PARTS] = {0};
    struct writ_view line = writ_view_sub(bytes, 0, end), parts[PARTS];
    struct writ_view rest = writ_view_sub(bytes, end + 1, bytes.len);

    while (line.len > 0 && n < PARTS && take_length(&line, bytes.len, &lengths[n])) {
        sum += lengths[n++];
    }
    if (line.len > 0 || (n != PARTS && n != PARTS_USUAL && n != PARTS_LEAST) || end == bytes.len ||
        sum != rest.len) {
        return (struct writ_review_context){.arguments = bytes};
    }
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = writ_view_sub(rest, 0, lengths[i]);
        rest = writ_view_sub(rest, lengths[i], rest.len);
    }
    return (struct writ_review_context){parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]};
}

WRIT_RESULT
writ_review_context_check(struct writ_view opening, struct writ_view bytes,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_review_record record = {0};
    struct writ_extension extension = {0};
    const struct writ_json *value = NULL;
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];

    WRIT_TRY(writ_body_json(opening, arena, &value, err));
    WRIT_TRY(writ_review_record_read(value, arena, &record, err));
    WRIT_TRY(writ_extension_read(&record.extensions, arena, &extension, err));
    WRIT_TRY(writ_digest_bytes(bytes, &digest, err));
    writ_digest_text(&digest, text);
    if (extension.showing.is != WRIT_PRESENT || !writ_view_is(extension.showing.view, text)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the arguments for voters do not match the digest in the record that opened the "
            "review");
    }
    return WRIT_DONE;
}
