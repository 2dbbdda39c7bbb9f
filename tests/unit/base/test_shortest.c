/* The shortest decimal digits of a double. They read back as the same double, and no shorter
 * digits do. */
#include "support/unit.h"

#include "base/number.h"
#include "base/shortest.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double
double_of(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof number);
    return number;
}

/* The value of the digits, by the C library. */
static double
value_of(const char *digits, int count, int point)
{
    char text[64];

    (void)snprintf(text, sizeof text, "0.%.*se%d", count, digits, point);
    return strtod(text, NULL);
}

/* The digits of exactly `count` places that are nearest to the number, and whether they read back:
 * printf rounds the exact value. */
static bool
reads_back_in(double number, int count, char digits[WRIT_SHORTEST_DIGITS + 2], int *point)
{
    char text[64];

    (void)snprintf(text, sizeof text, "%.*e", count - 1, number);
    digits[0] = text[0];
    memcpy(digits + 1, text + 2, (size_t)count - 1);
    *point = atoi(strchr(text, 'e') + 1) + 1;
    return strtod(text, NULL) == number;
}

/* The digits read back, fewer digits do not, and no other digits of that length are nearer. */
static void
check(double number)
{
    char digits[WRIT_SHORTEST_DIGITS], nearest[WRIT_SHORTEST_DIGITS + 2];
    int point, nearest_point;
    int count = writ_shortest_digits(number, digits, &point);

    ck_assert_msg(value_of(digits, count, point) == number, "%a", number);
    ck_assert(digits[0] != '0' && digits[count - 1] != '0');
    if (count > 1) {
        ck_assert_msg(!reads_back_in(number, count - 1, nearest, &nearest_point), "%a", number);
    }
    if (reads_back_in(number, count, nearest, &nearest_point)) {
        ck_assert_msg(nearest_point == point && memcmp(nearest, digits, (size_t)count) == 0,
            "%a: %.*s", number, count, digits);
    }
}

START_TEST(digits_are_the_shortest_and_nearest)
{
    static const struct {
        double number;
        const char *digits;
        int point;
    } cases[] = {
        {1, "1", 1},
        {0.1, "1", 0},
        {100, "1", 3},
        {0.3, "3", 0},
        {0.1 + 0.2, "30000000000000004", 0},
        {5e-324, "5", -323},
        {1e-323, "1", -322},
        {1.5e-323, "15", -322},
        {2.2250738585072014e-308, "22250738585072014", -307},
        {DBL_MAX, "17976931348623157", 309},
        {9007199254740993.0, "9007199254740992", 16},
        {1e23, "1", 24},
        /* powers of two, where the nearest 16 digits do not read back but others do */
        {0x1p89, "6189700196426902", 27},
        {0x1p345, "7167183174968974", 104},
        {0x1p-44, "5684341886080802", -13},
        {0x1p-652, "5351097043477547", -196},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char digits[WRIT_SHORTEST_DIGITS];
        int point;
        int count = writ_shortest_digits(cases[i].number, digits, &point);
        ck_assert_msg((size_t)count == strlen(cases[i].digits) &&
                          memcmp(digits, cases[i].digits, (size_t)count) == 0,
            "%a: %.*s", cases[i].number, count, digits);
        ck_assert_int_eq(point, cases[i].point);
    }
}
END_TEST

START_TEST(shortest_at_the_edges_of_every_exponent_is_right)
{
    for (uint64_t exponent = 0; exponent < 2047; exponent++) {
        static const uint64_t mantissas[] = {
            0, 1, 2, 0x8000000000000, 0xffffffffffffe, 0xfffffffffffff};
        for (size_t i = 0; i < sizeof mantissas / sizeof mantissas[0]; i++) {
            uint64_t bits = exponent << 52 | mantissas[i];
            if (bits != 0) {
                check(double_of(bits));
            }
        }
    }
}
END_TEST

START_TEST(random_numbers_are_right)
{
    uint64_t state = UINT64_C(88172645463325252); /* xorshift64, the same numbers each time */

    for (int i = 0; i < 30000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t bits = state >> 1;
        if (i % 3 == 1) {
            bits &= UINT64_MAX << 30; /* few mantissa bits */
        } else if (i % 3 == 2) {
            bits &= (UINT64_C(1) << 52) - 1; /* subnormal */
        }
        if (bits != 0 && bits < UINT64_C(0x7ff0000000000000)) {
            check(double_of(bits));
        }
    }
}
END_TEST

static void
digits_of_zero(void *arg)
{
    char digits[WRIT_SHORTEST_DIGITS];
    int point;

    (void)writ_shortest_digits(*(const double *)arg, digits, &point);
}

START_TEST(shortest_of_a_number_without_digits_stops_the_process)
{
    double numbers[] = {0, -1, INFINITY, NAN};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        ck_assert(writ_unit_aborts(digits_of_zero, &numbers[i]));
    }
}
END_TEST

WRIT_UNIT_MAIN("shortest", digits_are_the_shortest_and_nearest,
    shortest_at_the_edges_of_every_exponent_is_right, random_numbers_are_right,
    shortest_of_a_number_without_digits_stops_the_process)
