/* step.tbl.h - the steps by which seen values become a constraint, from the tightest to the loosest
 * of each kind of value. The report of `writ policy learn` and docs/learn.md are made from it.
 *
 * STEP(NAME, "name", "sentence") */
/* clang-format off */
STEP(VALUE, "value", "the one value that was seen")
STEP(ENUMERATION, "enumeration", "the values that were seen")
STEP(SWITCH, "switch", "true or false")
STEP(RANGE, "range", "from the least to the greatest number")
STEP(WIDE_RANGE, "wide range", "the range, outwards to 0 or 1 and to 1, 2 or 5 times a power of ten")
STEP(FOLDER, "folder", "the folders in which the paths are")
STEP(COMMON_FOLDER, "common folder", "the one folder in which all paths are")
STEP(RELATIVE, "relative path", "a relative path that does not go up")
STEP(HOST, "host", "the hosts of the URLs")
STEP(HOST_SUFFIX, "host suffix", "the hosts; one pattern for three or more hosts below one name")
STEP(DOMAIN, "domain", "e-mail addresses at the domains that were seen")
STEP(FORMAT, "format", "a known format")
STEP(SHAPE, "shape", "letters, digits and signs in the same order")
STEP(PREFIX, "prefix", "the beginning that all texts have, a line of text behind it")
STEP(LINE, "line", "one line without hidden characters, as long as the longest")
STEP(WIDE_LINE, "wide line", "one line without hidden characters, at most 1, 2 or 5 times a power of ten long")
STEP(TEXT, "text", "text without hidden characters, as long as the longest")
STEP(WIDE_TEXT, "wide text", "text without hidden characters, at most 1, 2 or 5 times a power of ten long")
STEP(ANY_TEXT, "any text", "text; hidden characters were seen in it")
STEP(ITEMS, "items", "as many elements as in the longest list")
STEP(WIDE_ITEMS, "wide items", "at most 1, 2 or 5 times a power of ten elements")
STEP(OBJECT, "object", "an object; each member has constraints of its own")
STEP(TYPE, "type", "the types that were seen")
STEP(ANYTHING, "anything", "no constraint can say it: everything passes")
