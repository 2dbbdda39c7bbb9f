/* PostgreSQL's array_recv: the number of dimensions, whether there are NULLs, the type; the length
 * and the first index of the dimension; each value after its length. Four bytes each, the highest
 * first. */
#include "store/sql/sql_array.h"

#include <endian.h>

#define BYTES_MAX ((size_t)1 << 30) /* what a server takes as one value */
#define LENGTH_AT 12                /* of the dimension */
#define OID_BYTEA 17
#define OID_INT8  20

static void
put_u32(struct writ_buf *buf, uint32_t value)
{
    uint32_t big = htobe32(value);

    writ_buf_put(buf, writ_view((const char *)&big, sizeof big));
}

void
writ_sql_array_begin(struct writ_sql_array *array, enum writ_sql_array_of of)
{
    if (array->bytes.max == 0) {
        array->bytes = writ_buf_make(BYTES_MAX);
    }
    writ_buf_clear(&array->bytes);
    array->n = 0;
    put_u32(&array->bytes, 1);
    put_u32(&array->bytes, 1);
    put_u32(&array->bytes, of == WRIT_SQL_ARRAY_INT ? OID_INT8 : OID_BYTEA);
    put_u32(&array->bytes, 0); /* the length */
    put_u32(&array->bytes, 1);
}

void
writ_sql_array_int(struct writ_sql_array *array, int64_t value)
{
    uint64_t big = htobe64((uint64_t)value);

    put_u32(&array->bytes, sizeof big);
    writ_buf_put(&array->bytes, writ_view((const char *)&big, sizeof big));
    array->n++;
}

void
writ_sql_array_null(struct writ_sql_array *array)
{
    put_u32(&array->bytes, UINT32_MAX);
    array->n++;
}

void
writ_sql_array_bytes(struct writ_sql_array *array, struct writ_view value)
{
    if (value.ptr == NULL) {
        writ_sql_array_null(array);
        return;
    }
    put_u32(&array->bytes, (uint32_t)value.len);
    writ_buf_put(&array->bytes, value);
    array->n++;
}

WRIT_RESULT
writ_sql_array_end(struct writ_sql_array *array, struct writ_err *err)
{
    uint32_t big = htobe32(array->n);

    WRIT_TRY(writ_buf_check(&array->bytes, err));
    (void)writ_view_place(writ_view((const char *)&big, sizeof big), array->bytes.ptr + LENGTH_AT);
    return WRIT_DONE;
}

void
writ_sql_array_wipe(struct writ_sql_array *array)
{
    writ_buf_wipe(&array->bytes);
    array->n = 0;
}
