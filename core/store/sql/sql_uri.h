/* sql_uri.h - the URI of a PostgreSQL database: libpq's, without secrets. */
#ifndef WRIT_STORE_SQL_URI_H
#define WRIT_STORE_SQL_URI_H

#include "base/bytes.h"

/** True for postgresql:// and postgres://. */
bool writ_sql_is_uri(struct writ_view path);

/** WRIT_E_INVALID when libpq cannot parse it or it has a password; the text repeats no part of it.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_sql_uri_check(const char *uri, struct writ_err *err);

/** Appends "postgresql://host1,host2/database": no user, password or parameter. As
 * writ_sql_uri_check. */
WRIT_RESULT writ_sql_uri_name(const char *uri, struct writ_buf *ret, struct writ_err *err);

#endif
