/* bytes.h - borrowed bytes, growing bytes, and their few operations.
 *
 * memcpy, memcmp, realloc, strtol and the str* family appear in core/base only; everything above
 * uses views and buffers. A buffer remembers its first failure, so that a chain of appends can be
 * checked once and a lost piece can never look like success. */
#ifndef WRIT_BASE_BYTES_H
#define WRIT_BASE_BYTES_H

#include "base/alloc.h"
#include "base/result.h"

#include <endian.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define WRIT_VIEW_FMT    "%.*s"
#define WRIT_VIEW_ARG(v) (int)(v).len, (v).ptr
/** A view of a string literal. */
#define WRIT_LIT(literal) ((struct writ_view){"" literal, sizeof(literal) - 1})

static inline struct writ_view
writ_view(const void *ptr, size_t len)
{
    return (struct writ_view){(const char *)ptr, len};
}

/** Loads eight bytes from any address, the first one lowest: for loops that check eight at once. */
static inline uint64_t
writ_view_load64(const void *ptr)
{
    uint64_t word;

    __builtin_memcpy(&word, ptr, sizeof word);
    return le64toh(word);
}

/** A view of a NUL-terminated string; NULL gives the empty view. */
static inline struct writ_view
writ_view_str(const char *str)
{
    return writ_view(str, str != NULL ? __builtin_strlen(str) : 0); /* known for literals */
}

bool writ_view_equal(struct writ_view a, struct writ_view b);

static inline bool
writ_view_is(struct writ_view a, const char *str)
{
    return writ_view_equal(a, writ_view_str(str));
}

/** writ_view_equal_nocase for texts of the same length. */
bool writ_view_same_letters(struct writ_view a, struct writ_view b);

/** ASCII letters compared without case (for HTTP field names only). */
static inline bool
writ_view_equal_nocase(struct writ_view a, struct writ_view b)
{
    return a.len == b.len && writ_view_same_letters(a, b); /* most names differ in length */
}

bool writ_view_has_prefix(struct writ_view a, struct writ_view prefix);
bool writ_view_has_suffix(struct writ_view a, struct writ_view suffix);
/** Byte order, shorter first: <0, 0, >0. */
int writ_view_compare(struct writ_view a, struct writ_view b);
/** The part from `from` (clamped) of at most `len` bytes. */
struct writ_view writ_view_sub(struct writ_view a, size_t from, size_t len);
/** Position of the first `byte`, or a.len. */
size_t writ_view_find(struct writ_view a, char byte);
/** Position of the first LF or CR, or a.len. One pass: looking for one and then for the other reads
 * all that follows again for each line. */
size_t writ_view_find_line_end(struct writ_view a);
/** Position of the first occurrence of `what`, or a.len. */
size_t writ_view_search(struct writ_view a, struct writ_view what);
/** Without ASCII space and tab at both ends (RFC 9110 OWS). */
struct writ_view writ_view_trim(struct writ_view a);
/** Constant-time equality for secrets and digests; lengths are not secret. */
bool writ_view_equal_secret(struct writ_view a, struct writ_view b);
/** A copy in the arena, NUL-terminated after its end; {NULL, 0} without memory. */
struct writ_view writ_view_copy(struct writ_view a, struct writ_arena *arena);
/** Copies the bytes to `to`, which has room for a.len bytes, and gives the view of the copy. */
struct writ_view writ_view_place(struct writ_view a, char *to);

/** Bytes that grow up to a maximum. Owned by the caller; wipe to free. */
struct writ_buf {
    char *ptr;
    size_t len, cap, max;     /* len <= cap <= max */
    enum writ_code failed;    /* WRIT_E_UNSET while all appends held */
    struct writ_arena *arena; /* memory of the content; NULL: the heap */
    char *lent;               /* borrowed memory in which it began, or NULL */
    struct writ_drain *drain; /* takes what does not fit; NULL: the memory grows */
};

/** Takes the bytes of a buffer that holds a part of them at a time. */
struct writ_drain {
    void (*fn)(struct writ_drain *drain, struct writ_view bytes); /* in order; borrowed */
};

#define writ_auto_buf WRIT_AUTO(struct writ_buf, writ_buf_wipe)

/** An empty buffer that may grow to `max` bytes. Allocates nothing. */
struct writ_buf writ_buf_make(size_t max);
/** As writ_buf_make, in an arena: the content lives as long as the arena's memory and needs no
 * copy, and a wipe frees nothing. */
struct writ_buf writ_buf_in(struct writ_arena *arena, size_t max);
/** An empty buffer in `size` bytes of the caller's, which outlive it: it never grows or allocates.
 */
struct writ_buf writ_buf_over(void *memory, size_t size);
/** As writ_buf_over, but content that does not fit moves to the heap: most of the time nothing is
 * allocated. */
struct writ_buf writ_buf_from(void *memory, size_t size, size_t max);
/** As writ_buf_over for appends only: what does not fit goes to `drain`, long content without a
 * copy, and the rest when it is flushed. `max` bounds all bytes together. What is reserved must
 * fit. */
struct writ_buf writ_buf_drained(void *memory, size_t size, size_t max, struct writ_drain *drain);
/** Passes what is held to the drain of the buffer. */
void writ_buf_flush(struct writ_buf *buf);
/** The content, which now lives as long as the memory of the arena, and an empty buffer. {NULL, 0}
 * without memory. */
struct writ_view writ_buf_give(struct writ_buf *buf, struct writ_arena *arena);
/** Frees; a zeroed buffer is fine. Overwrites the content first when `secret`. */
void writ_buf_wipe(struct writ_buf *buf);
void writ_buf_wipe_secret(struct writ_buf *buf);
/** Empties and forgets the failure, keeps the memory. */
void writ_buf_clear(struct writ_buf *buf);

/* Appends. After the first failure (memory or maximum) they do nothing. */
void writ_buf_put(struct writ_buf *buf, struct writ_view bytes);
void writ_buf_byte(struct writ_buf *buf, char byte);
void writ_buf_str(struct writ_buf *buf, const char *str);
void writ_buf_fmt(struct writ_buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void writ_buf_u64(struct writ_buf *buf, uint64_t value);
void writ_buf_i64(struct writ_buf *buf, int64_t value);
/** Makes room for `len` bytes and returns where they go (then add to buf->len), or NULL. */
char *writ_buf_reserve(struct writ_buf *buf, size_t len);
/** Cuts back to the first `len` bytes, and forgets the failure. */
void writ_buf_cut(struct writ_buf *buf, size_t len);
/** Drops the first `len` bytes. */
void writ_buf_consume(struct writ_buf *buf, size_t len);
/** WRIT_OK, or the first failure (WRIT_E_NOMEM, WRIT_E_LIMIT). */
WRIT_RESULT writ_buf_check(const struct writ_buf *buf, struct writ_err *err);
/** The content; borrowed until the next append. */
struct writ_view writ_buf_view(const struct writ_buf *buf);

/* Encodings. */
void writ_hex_put(struct writ_buf *buf, const void *bytes, size_t len); /* lower case */
/** The value of a hex digit of either case; -1: it is none. */
static inline int
writ_hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/** True when every byte is a lower-case hex digit; also for none. */
bool writ_hex_is(struct writ_view text);
/** Exactly 2*len lower-case hex digits, or WRIT_E_PARSE. */
WRIT_RESULT writ_hex_read(struct writ_view text, void *ret, size_t len);
/** base64url without padding (RFC 4648 5, as JOSE uses it). */
void writ_base64url_put(struct writ_buf *buf, struct writ_view bytes);
/** Strict: alphabet, length, no padding, unused bits zero. Appends to `ret`. WRIT_E_PARSE. */
WRIT_RESULT writ_base64url_read(struct writ_view text, struct writ_buf *ret);
/** base64 with padding (RFC 4648 4). */
void writ_base64_put(struct writ_buf *buf, struct writ_view bytes);
/** Strict, with padding required. WRIT_E_PARSE. */
WRIT_RESULT writ_base64_read(struct writ_view text, struct writ_buf *ret);

#endif
