/* Reads the URI of a PostgreSQL database by libpq's own parser. The messages of that parser repeat
 * the URI, which may have a password: they are not passed on. */
#include "store/sql/sql_uri.h"

#include <libpq-fe.h>

static void
options_freep(PQconninfoOption **options)
{
    PQconninfoFree(*options);
}

/* The value of an option; empty when it is not set. */
static struct writ_view
value_of(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword != NULL; options++) {
        if (writ_view_is(writ_view_str(options->keyword), keyword)) {
            return writ_view_str(options->val);
        }
    }
    return writ_view(NULL, 0);
}

static WRIT_RESULT
parse(const char *uri, PQconninfoOption **ret, struct writ_err *err)
{
    static const char *const secret[] = {"password", "sslpassword"};
    WRIT_AUTO(PQconninfoOption *, options_freep) options = NULL;
    char *said = NULL;

    if (!writ_sql_is_uri(writ_view_str(uri))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the URI of a database begins with postgresql://");
    }
    options = PQconninfoParse(uri, &said);
    if (options == NULL) {
        bool parsed = said != NULL;

        PQfreemem(said);
        if (!parsed) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read the URI of the database");
        }
        WRIT_FAIL(err, WRIT_E_INVALID,
            "libpq cannot parse the URI of the database: check its percent signs, brackets and "
            "the names of its parameters");
    }
    for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++) {
        if (value_of(options, secret[i]).len > 0) {
            WRIT_FAIL(err, WRIT_E_INVALID,
                "the URI of the database has a %s: remove it, and name a file by passfile= or "
                "PGPASSFILE, or set PGPASSWORD",
                secret[i]);
        }
    }
    *ret = WRIT_TAKE(options);
    return WRIT_DONE;
}

bool
writ_sql_is_uri(struct writ_view path)
{
    return writ_view_has_prefix(path, WRIT_LIT("postgresql://")) ||
           writ_view_has_prefix(path, WRIT_LIT("postgres://"));
}

WRIT_RESULT
writ_sql_uri_check(const char *uri, struct writ_err *err)
{
    WRIT_AUTO(PQconninfoOption *, options_freep) options = NULL;

    return parse(uri, &options, err);
}

WRIT_RESULT
writ_sql_uri_name(const char *uri, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(PQconninfoOption *, options_freep) options = NULL;
    struct writ_view host;

    WRIT_TRY(parse(uri, &options, err));
    host = value_of(options, "host");
    if (host.len == 0) {
        host = value_of(options, "hostaddr");
    }
    writ_buf_put(ret, WRIT_LIT("postgresql://"));
    for (size_t i = 0; i < host.len; i++) { /* the folder of a socket has slashes */
        if (host.ptr[i] == '/') {
            writ_buf_put(ret, WRIT_LIT("%2F"));
        } else {
            writ_buf_byte(ret, host.ptr[i]);
        }
    }
    writ_buf_byte(ret, '/');
    writ_buf_put(ret, value_of(options, "dbname"));
    return writ_buf_check(ret, err);
}
