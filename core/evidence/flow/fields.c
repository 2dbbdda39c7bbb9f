/* fields.c - see fields.h. Texts of one place mostly come one after the other, so that the last
 * field is looked at first. */
#include "evidence/flow/fields.h"

void
writ_fields_wipe(struct writ_fields *fields)
{
    for (size_t i = 0; i < fields->n; i++) {
        writ_mark_list_wipe(&fields->items[i].tokens);
    }
    fields->n = 0;
}

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
    *field = (struct writ_field){.at = writ_view_copy(at, fields->arena),
        .trusted = trusted,
        .tokens =
            writ_mark_list_make(trusted ? WRIT_FIELDS_TRUSTED : WRIT_FIELDS_UNTRUSTED, trusted)};
    if (field->at.ptr == NULL) {
        return NULL;
    }
    fields->n++;
    return field;
}

void
writ_fields_add(
    struct writ_fields *fields, struct writ_view at, bool trusted, struct writ_view text)
{
    size_t *tokens = trusted ? &fields->trusted : &fields->untrusted;
    size_t most = trusted ? WRIT_FIELDS_TRUSTED : WRIT_FIELDS_UNTRUSTED;
    struct writ_field *field = field_at(fields, writ_view_sub(at, 0, WRIT_FIELDS_AT_MAX), trusted);
    size_t before;

    if (field == NULL || *tokens >= most) {
        fields->cut = true;
        return;
    }
    before = field->tokens.n;
    field->tokens.most = before + (most - *tokens);
    writ_mark_list_add(&field->tokens, text);
    *tokens += field->tokens.n - before;
    fields->cut = fields->cut || field->tokens.cut;
}

static WRIT_RESULT
put_marks(struct writ_field *field, struct writ_mark_cipher *cipher, struct writ_write *w,
    struct writ_err *err)
{
    writ_auto_buf marks = writ_buf_make(field->tokens.blocks.len + field->tokens.aliases.len);
    writ_auto_buf text = writ_buf_make(2 * marks.max + 1);

    WRIT_TRY(writ_mark_cipher_put(cipher, &field->tokens, &marks, err));
    writ_base64url_put(&text, writ_buf_view(&marks));
    WRIT_TRY(writ_buf_check(&text, err));
    writ_write_text(w, "marks", writ_buf_view(&text));
    return WRIT_DONE;
}

static WRIT_RESULT
put_fields(struct writ_fields *fields, struct writ_mark_cipher *cipher, struct writ_write *w,
    struct writ_err *err)
{
    writ_write_array_begin(w);
    for (size_t i = 0; i < fields->n; i++) {
        writ_write_object_begin(w);
        writ_write_text(w, "at", fields->items[i].at);
        WRIT_TRY(put_marks(&fields->items[i], cipher, w, err));
        writ_write_flag(w, "trusted", fields->items[i].trusted);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
    return WRIT_DONE;
}

WRIT_RESULT
writ_fields_put(struct writ_fields *fields, const struct writ_mark_key *key, struct writ_write *w,
    struct writ_err *err)
{
    struct writ_mark_cipher *cipher = NULL;
    writ_result r;

    WRIT_TRY(writ_mark_cipher_new(key, &cipher, err));
    r = put_fields(fields, cipher, w, err);
    writ_mark_cipher_free(cipher);
    return r;
}
