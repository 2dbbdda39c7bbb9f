/* op.tbl.h - every op of a constraint: the kind of its `value`, and its meaning. Reading, the
 * schema and docs/policy.md are made from this table.
 *
 * OP(NAME, "name", VALUE_KIND, "sentence") */
OP(EQ, "eq", JSON, "equals the value: same type, numbers exactly, objects in any member order")
OP(NE, "ne", JSON, "has the value's type and is not the value")
OP(IN, "in", JSONS, "equals one of the values")
OP(NOT_IN, "not_in", JSONS, "has the type of one of the values and equals none of them")
OP(LT, "lt", NUMBER, "is a number below the value")
OP(LE, "le", NUMBER, "is a number not above the value")
OP(GT, "gt", NUMBER, "is a number above the value")
OP(GE, "ge", NUMBER, "is a number not below the value")
OP(TYPE, "type", TYPES,
    "is a string, number, integer, boolean, null, array or object; any: anything, with all that is "
    "inside")
OP(MIN_LENGTH, "min_length", LENGTH, "is a string of at least that many code points")
OP(MAX_LENGTH, "max_length", LENGTH, "is a string of at most that many code points")
OP(PREFIX, "prefix", STRING,
    "is a string that begins with the value; it does not mean inside a path")
OP(SUFFIX, "suffix", STRING, "is a string that ends with the value")
OP(MATCHES, "matches", PATTERN,
    "is a string that the regular expression (PCRE2) matches as a whole")
OP(NOT_MATCHES, "not_matches", PATTERN,
    "is a string that the regular expression (PCRE2) does not match as a whole")
OP(GLOB, "glob", GLOBS, "is a string that the pattern, or one of them, matches as a whole")
OP(UNDER, "under", DIRECTORIES, "is an absolute path inside the directory, or one of them")
OP(HOST_IN, "host_in", HOSTS, "is an http or https URL whose host is in the list")
OP(SCHEMA, "schema", SCHEMA, "is valid under the JSON Schema (2020-12), with all that is inside")
OP(FROM, "from", SOURCES,
    "comes from one of the sources, seen in this run: task, operator, trusted, approved")
OP(CONTAINS, "contains", DETECTORS,
    "is, or holds at any depth, a text, number or name in which one of the detectors finds "
    "something")
OP(LACKS, "lacks", DETECTORS,
    "is anything but null in which no detector of the list finds something, at any depth")
OP(EACH, "each", CONSTRAINTS, "is an array whose elements all satisfy the constraints")
OP(MIN_ITEMS, "min_items", LENGTH, "is an array of at least that many elements")
OP(MAX_ITEMS, "max_items", LENGTH, "is an array of at most that many elements")
OP(REQUIRED, "required", NOTHING, "is present, and not null")
OP(FORBIDDEN, "forbidden", NOTHING, "is absent")
