/* shortest.h - the shortest decimal digits that read back as a given double. */
#ifndef WRIT_BASE_SHORTEST_H
#define WRIT_BASE_SHORTEST_H

#define WRIT_SHORTEST_DIGITS 17

/**
 * The decimal that ECMAScript's Number::toString and RFC 8785 3.2.2.3 require: of all decimals that
 * round to `number` (to nearest, ties to even) those with the fewest digits, of these the nearest
 * to it.
 *
 * @param number      finite and greater than zero; anything else is an invariant failure
 * @param ret_digits  the digits, most significant first; neither the first nor the last is 0
 * @param ret_point   where the decimal point goes: the value is 0.<digits> * 10^ret_point
 *
 * @return the number of digits, 1 to 17
 *
 * Thread-safe. Does not block, allocates nothing. Takes about 60 ns for any number: a text full of
 * hard numbers costs no more than another one.
 */
int writ_shortest_digits(double number, char ret_digits[WRIT_SHORTEST_DIGITS], int *ret_point);

#endif
