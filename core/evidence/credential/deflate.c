/* zlib works in memory of ours, so that tests can fail its allocations. The output passes through a
 * small block: the buffer that takes the blocks limits the unpacked size, whatever the stream
 * claims. */
#include "evidence/credential/deflate.h"

#include <limits.h>

#define ZLIB_CONST
#include <zlib.h>

#define PIECE 4096 /* bytes of the output at a time */

static voidpf
take_memory(voidpf opaque, uInt items, uInt size)
{
    (void)opaque;
    return writ_alloc((size_t)items * size);
}

static void
give_memory(voidpf opaque, voidpf memory)
{
    (void)opaque;
    writ_free(memory);
}

static WRIT_RESULT
begin(struct writ_view input, z_stream *ret, struct writ_err *err)
{
    if (input.len > UINT_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "more than %u bytes", UINT_MAX);
    }
    *ret = (z_stream){
        .zalloc = take_memory,
        .zfree = give_memory,
        .next_in = (const Bytef *)input.ptr,
        .avail_in = (uInt)input.len,
    };
    return WRIT_DONE;
}

/* Repeats a step of zlib until the stream ends, a step fails or `ret` is full; returns the state of
 * the last step. Truncated input ends the loop too: without input and output a step fails. */
static int
run(z_stream *z, int (*step)(z_stream *, int), int flush, struct writ_buf *ret)
{
    Bytef piece[PIECE];
    int state = Z_OK;

    while (state == Z_OK && ret->failed == WRIT_E_UNSET) {
        z->next_out = piece;
        z->avail_out = sizeof piece;
        state = step(z, flush);
        writ_buf_put(ret, writ_view(piece, sizeof piece - z->avail_out));
    }
    return state;
}

WRIT_RESULT
writ_deflate_read(struct writ_view packed, struct writ_buf *ret, struct writ_err *err)
{
    z_stream z;
    int state;

    WRIT_TRY(begin(packed, &z, err));
    state = inflateInit(&z);
    if (state == Z_OK) {
        state = run(&z, inflate, Z_NO_FLUSH, ret);
        (void)inflateEnd(&z);
    }
    WRIT_TRY(writ_buf_check(ret, err));
    if (state == Z_MEM_ERROR) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to unpack");
    }
    if (state != Z_STREAM_END || z.avail_in > 0) {
        WRIT_FAIL(err, WRIT_E_PARSE, "not one complete stream of the zlib format");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_deflate_put(struct writ_buf *buf, struct writ_view bytes, struct writ_err *err)
{
    z_stream z;
    int state;

    WRIT_TRY(begin(bytes, &z, err));
    state = deflateInit(&z, Z_BEST_COMPRESSION);
    if (state != Z_OK) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to pack");
    }
    state = run(&z, deflate, Z_FINISH, buf);
    (void)deflateEnd(&z);
    WRIT_TRY(writ_buf_check(buf, err));
    WRIT_INVARIANT(state == Z_STREAM_END); /* fails only where memory or its caller does */
    return WRIT_DONE;
}
