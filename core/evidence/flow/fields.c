/* fields.c - see fields.h. First all texts are collected, so that the tokens and marks of one place
 * after the other use the same memory. Texts of one place mostly come one after the other, so that
 * the last field is looked at first. */
#include "evidence/flow/fields.h"

#include "base/text.h"
#include "base/utf8.h"

/* each token may have an alias, and a separator behind each */
#define MARKS_MAX ((size_t)(4 * WRIT_FIELDS_TRUSTED + 1) * WRIT_MARK)

static struct writ_field *
field_at(struct writ_fields *fields, struct writ_view at, bool trusted)
{
    struct writ_field *field;

    for (size_t i = fields->n; i-- > 0;) {
        field = &fields->items[i];
        if (field->trusted == trusted && writ_view_equal(field->at, at)) {
            return field;
        }
    }
    if (fields->n == WRIT_FIELDS_MAX) {
        return NULL;
    }
    field = &fields->items[fields->n];
    *field = (struct writ_field){.at = writ_view_copy(at, fields->arena), .trusted = trusted};
    if (field->at.ptr == NULL) {
        return NULL;
    }
    fields->n++;
    return field;
}

/* Two places that are cut may have one pointer. A character that does not fit is left out whole. */
struct writ_field *
writ_fields_find(struct writ_fields *fields, struct writ_view at)
{
    for (size_t i = at.len + 4 <= WRIT_FIELDS_AT_MAX ? fields->n : 0; i-- > 0;) {
        if (writ_view_equal(fields->items[i].at, at)) {
            return &fields->items[i];
        }
    }
    return NULL;
}

void
writ_fields_add(
    struct writ_fields *fields, struct writ_view at, bool trusted, struct writ_view text)
{
    struct writ_field *field = field_at(fields, writ_utf8_cut(at, WRIT_FIELDS_AT_MAX), trusted);

    if (field == NULL) {
        fields->cut = true;
        return;
    }
    writ_fields_add_to(fields, field, text);
}

void
writ_fields_add_to(struct writ_fields *fields, struct writ_field *field, struct writ_view text)
{
    struct writ_field_text *one = writ_arena_get(fields->arena, sizeof *one);

    if (one == NULL) {
        fields->cut = true;
        return;
    }
    *one = (struct writ_field_text){text, NULL};
    *(field->last != NULL ? &field->last->next : &field->first) = one;
    field->last = one;
}

/* What the fields use one after the other. */
struct putting {
    struct writ_mark_cipher *cipher;
    struct writ_mark_list tokens;
    struct writ_buf marks;
    size_t trusted, untrusted; /* tokens that may still come */
    struct writ_arena *arena;
};

static WRIT_RESULT
put_marks(struct writ_field *field, struct putting *p, struct writ_buf *ret, struct writ_err *err)
{
    size_t *left = field->trusted ? &p->trusted : &p->untrusted;

    p->tokens.most = *left;
    p->tokens.all = field->trusted;
    for (const struct writ_field_text *one = field->first; one != NULL; one = one->next) {
        writ_mark_list_add(&p->tokens, one->text);
    }
    *left -= p->tokens.n;
    writ_buf_clear(&p->marks);
    WRIT_TRY(writ_mark_cipher_put(p->cipher, &p->tokens, &p->marks, err));
    writ_base64url_put(ret, writ_buf_view(&p->marks));
    field->marks = writ_view_copy(writ_buf_view(&p->marks), p->arena);
    if (field->marks.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for marks");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
put_field(struct writ_field *field, struct putting *p, struct writ_buf *ret, struct writ_err *err)
{
    writ_buf_str(ret, "{\"at\":");
    writ_text_json(ret, field->at);
    writ_buf_str(ret, ",\"marks\":\"");
    WRIT_TRY(put_marks(field, p, ret, err));
    writ_buf_str(ret, field->trusted ? "\",\"trusted\":true}" : "\",\"trusted\":false}");
    return WRIT_DONE;
}

static WRIT_RESULT
put_fields(
    struct writ_fields *fields, struct putting *p, struct writ_buf *ret, struct writ_err *err)
{
    writ_buf_byte(ret, '[');
    for (size_t i = 0; i < fields->n; i++) {
        if (i > 0) {
            writ_buf_byte(ret, ',');
        }
        WRIT_TRY(put_field(&fields->items[i], p, ret, err));
    }
    writ_buf_byte(ret, ']');
    return writ_buf_check(ret, err);
}

WRIT_RESULT
writ_fields_put(struct writ_fields *fields, const struct writ_mark_key *key, struct writ_buf *ret,
    struct writ_err *err)
{
    struct writ_mark_room room;
    char marks[2048];
    struct putting p = {.tokens = writ_mark_list_make(&room, WRIT_FIELDS_TRUSTED, true),
        .marks = writ_buf_from(marks, sizeof marks, MARKS_MAX),
        .trusted = WRIT_FIELDS_TRUSTED,
        .untrusted = WRIT_FIELDS_UNTRUSTED,
        .arena = fields->arena};
    writ_result r = writ_mark_cipher_new(key, &p.cipher, err);

    if (writ_is_ok(r)) {
        r = put_fields(fields, &p, ret, err);
    }
    fields->cut = fields->cut || p.tokens.cut;
    writ_mark_cipher_free(p.cipher);
    writ_mark_list_wipe(&p.tokens);
    writ_buf_wipe(&p.marks);
    return r;
}
