/* Pages are given back while the program runs; those of the program come back when used. */
#include "gateway/io/memory_pages.h"

#include "support/unit.h"

#include "base/alloc.h"

#include <string.h>

#define CONSTANTS 20000

static const unsigned constants[CONSTANTS] = {1, 2, 3, [CONSTANTS - 1] = 4};
static unsigned written[CONSTANTS] = {5};

static unsigned
sum(const unsigned *numbers, size_t n)
{
    unsigned all = 0;

    for (size_t i = 0; i < n; i++) {
        all += numbers[i];
    }
    return all;
}

static unsigned (*const relocated)(const unsigned *, size_t) = sum;

START_TEST(code_constants_and_data_are_the_same_afterwards)
{
    written[CONSTANTS - 1] = 6;
    for (int round = 0; round < 3; round++) {
        writ_memory_pages_give_back_program();
        ck_assert_uint_eq(relocated(constants, CONSTANTS), 10);
        ck_assert_uint_eq(relocated(written, CONSTANTS), 11);
    }
}
END_TEST

START_TEST(given_back_pages_are_empty_and_can_be_written)
{
    size_t size = 1U << 16, empty = 0;
    unsigned char *bytes = writ_alloc(size + 2);

    ck_assert_ptr_nonnull(bytes);
    memset(bytes, 1, size + 2);
    writ_memory_pages_give_back(bytes + 1, size);
    ck_assert_uint_eq(bytes[0], 1);
    ck_assert_uint_eq(bytes[size + 1], 1);
    for (size_t i = 0; i < size; i++) {
        empty += bytes[1 + i] == 0;
        bytes[1 + i] = 2;
    }
    ck_assert_uint_gt(empty, 0);
    ck_assert_uint_eq(empty % 4096, 0);
    memset(bytes, 1, 100);
    writ_memory_pages_give_back(bytes, 100); /* not a whole page */
    ck_assert_uint_eq(bytes[99], 1);
    writ_memory_pages_give_back(bytes, 0);
    writ_free(bytes);
}
END_TEST

WRIT_UNIT_MAIN("memory_pages", given_back_pages_are_empty_and_can_be_written,
    code_constants_and_data_are_the_same_afterwards)
