/* format.tbl.h - the formats of texts that a JSON Schema names. PATTERN: the op `matches` says it.
 *
 * WRIT_FORMAT("name", KIND, "pattern") */
/* clang-format off */
#define WRIT_FORMAT_DATE  "[0-9]{4}-[0-9]{2}-[0-9]{2}"
#define WRIT_FORMAT_CLOCK "[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,9})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"

WRIT_FORMAT("uri", URL, "")
WRIT_FORMAT("uri-reference", URL, "")
WRIT_FORMAT("uri-template", URL, "")
WRIT_FORMAT("iri", URL, "")
WRIT_FORMAT("iri-reference", URL, "")
WRIT_FORMAT("url", URL, "")
WRIT_FORMAT("hostname", HOST, "")
WRIT_FORMAT("idn-hostname", HOST, "")
WRIT_FORMAT("ipv4", HOST, "")
WRIT_FORMAT("ipv6", HOST, "")
WRIT_FORMAT("path", PATH, "")
WRIT_FORMAT("file-path", PATH, "")
WRIT_FORMAT("directory-path", PATH, "")
WRIT_FORMAT("email", PATTERN,
    "[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\\.[A-Za-z0-9-]{1,63}){1,8}")
WRIT_FORMAT("date-time", PATTERN, WRIT_FORMAT_DATE "[Tt ]" WRIT_FORMAT_CLOCK)
WRIT_FORMAT("date", PATTERN, WRIT_FORMAT_DATE)
WRIT_FORMAT("time", PATTERN, WRIT_FORMAT_CLOCK)
WRIT_FORMAT("duration", PATTERN, "P[0-9YMWDTHS.,]{1,64}")
WRIT_FORMAT("uuid", PATTERN,
    "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}")
