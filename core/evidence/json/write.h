/* write.h - writes JSON text into a buffer, piece by piece.
 *
 * For our own records, answers and claims. The writer adds commas, colons and quotes; the output
 * has no white space. Strings get the escapes of the canonical form and numbers its digits, so the
 * text is canonical as long as the caller names members in canonical order, which writ_write_name
 * checks when `sorted` is set.
 *
 * A misuse (a value without a name in an object, an end without a begin, names out of order) is a
 * bug and stops the process. Failures of the buffer stay in the buffer: check it once, at the end,
 * with writ_write_end. Does not block; one thread at a time. */
#ifndef WRIT_EVIDENCE_WRITE_H
#define WRIT_EVIDENCE_WRITE_H

#include "evidence/json/json.h"

/** Input of clients and tool servers has at most 256 levels (limits.json_depth). The writer adds
 * room for a few levels of our own around it. */
#define WRIT_WRITE_DEPTH 272

/** A writer; a value that owns nothing. Make it with writ_write_to. */
struct writ_write {
    struct writ_buf *buf; /* borrowed */
    bool sorted;          /* names must come in canonical order; set it before the first call */
    uint16_t depth;
    uint8_t state[WRIT_WRITE_DEPTH + 1];
    struct writ_view last[WRIT_WRITE_DEPTH + 1]; /* names, when sorted; borrowed */
};

/** A writer of one value, appending to `buf`, which is borrowed until writ_write_end. */
struct writ_write writ_write_to(struct writ_buf *buf);

void writ_write_object_begin(struct writ_write *w);
void writ_write_object_end(struct writ_write *w);
void writ_write_array_begin(struct writ_write *w);
void writ_write_array_end(struct writ_write *w);

/** The name of the member whose value comes next. UTF-8. With `sorted` it is borrowed until the
 * object ends. */
void writ_write_name(struct writ_write *w, struct writ_view name);

/** A string; UTF-8. {NULL, 0} is the empty string. */
void writ_write_string(struct writ_write *w, struct writ_view text);
/** A string, or null when `text.ptr` is NULL. */
void writ_write_string_or_null(struct writ_write *w, struct writ_view text);
/** An integer; beyond 2^53 it is written with all its digits and is then not canonical. */
void writ_write_u64(struct writ_write *w, uint64_t value);
void writ_write_i64(struct writ_write *w, int64_t value);
/** A finite number, in its canonical form. */
void writ_write_double(struct writ_write *w, double value);
void writ_write_bool(struct writ_write *w, bool value);
void writ_write_null(struct writ_write *w);
/** The canonical form of `value`. Without one the buffer fails with WRIT_E_PARSE. */
void writ_write_value(struct writ_write *w, const struct writ_json *value);
/** `value` with its members in the order of the input, strings and numbers canonical. */
void writ_write_ordered(struct writ_write *w, const struct writ_json *value);
/** As writ_write_ordered, with numbers as written, whatever their size: for values of other
 * parties. */
void writ_write_verbatim(struct writ_write *w, const struct writ_json *value);
/** As writ_write_verbatim, without hidden characters (base/hidden.h), and without members whose
 * name has some. Returns the number of characters left out. */
size_t writ_write_visible(struct writ_write *w, const struct writ_json *value);
/** JSON text that is known to be one well-formed value, as it is. */
void writ_write_raw(struct writ_write *w, struct writ_view json);

/* Members, name and value at once. `name` is a C string of UTF-8; with `sorted` it is borrowed
 * until the object ends. */

void writ_write_text(struct writ_write *w, const char *name, struct writ_view text);
/** The same, and no member at all when `text` is empty. */
void writ_write_text_if(struct writ_write *w, const char *name, struct writ_view text);
/** The same, and null when `text.ptr` is NULL. */
void writ_write_text_or_null(struct writ_write *w, const char *name, struct writ_view text);
/** A time in the form of records (base/clock.h). */
void writ_write_time(struct writ_write *w, const char *name, int64_t wall_us);
/** The same, and no member at all when `wall_us` is 0. */
void writ_write_time_if(struct writ_write *w, const char *name, int64_t wall_us);
void writ_write_count(struct writ_write *w, const char *name, uint64_t count);
void writ_write_integer(struct writ_write *w, const char *name, int64_t value);
/** Finite. */
void writ_write_number(struct writ_write *w, const char *name, double value);
void writ_write_flag(struct writ_write *w, const char *name, bool flag);

/** Ends the one value. WRIT_OK, or the first failure of the buffer; err may be NULL. */
WRIT_RESULT writ_write_end(struct writ_write *w, struct writ_err *err);

#endif
