/* page.c - serves the embedded files, all with the same strict headers. A name that is not in the
 * table is a 404; no file is read from the disk. */
#include "gateway/admin/page.h"

#include "evidence/record/reason.h"

/* Nothing from other origins, nothing inline, no way from a text to markup (Trusted Types). */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "        \
    "'self'; "                                                                                     \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "                                \
    "require-trusted-types-for 'script'; trusted-types 'none'"

static const struct {
    const char *suffix;
    struct writ_view type;
} types[] = {
    {".html", WRIT_LIT("text/html; charset=utf-8")},
    {".css", WRIT_LIT("text/css; charset=utf-8")},
    {".js", WRIT_LIT("text/javascript; charset=utf-8")},
    {".svg", WRIT_LIT("image/svg+xml")},
};

static struct writ_view
type_of(struct writ_view name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (writ_view_has_suffix(name, writ_view_str(types[i].suffix))) {
            return types[i].type;
        }
    }
    return WRIT_LIT("application/octet-stream");
}

static void
reply(struct writ_exchange *x, unsigned status, struct writ_view type, struct writ_view body)
{
    const struct writ_header headers[] = {
        {WRIT_LIT("Content-Type"), type},
        {WRIT_LIT("Content-Security-Policy"), WRIT_LIT(POLICY)},
        {WRIT_LIT("X-Content-Type-Options"), WRIT_LIT("nosniff")},
        {WRIT_LIT("X-Frame-Options"), WRIT_LIT("DENY")},
        {WRIT_LIT("Referrer-Policy"), WRIT_LIT("same-origin")},
        {WRIT_LIT("Cross-Origin-Opener-Policy"), WRIT_LIT("same-origin")},
        {WRIT_LIT("Cross-Origin-Resource-Policy"), WRIT_LIT("same-origin")},
        {WRIT_LIT("Cache-Control"), WRIT_LIT("no-store")},
    };

    writ_exchange_reply(x, status, headers, sizeof headers / sizeof headers[0], body);
}

static const struct writ_page_file *
find(struct writ_view name)
{
    for (size_t i = 0; i < writ_page_files_n; i++) {
        if (writ_view_equal(writ_page_files[i].name, name)) {
            return &writ_page_files[i];
        }
    }
    return NULL;
}

static void
serve(struct writ_exchange *x, struct writ_view name)
{
    const struct writ_page_file *file = find(name);

    if (file == NULL) {
        reply(x, 404, WRIT_LIT("text/plain; charset=utf-8"),
            writ_reason_sentence(WRIT_REASON_PATH_UNKNOWN));
        return;
    }
    reply(x, 200, type_of(name), file->bytes);
}

/* The page selects the view by its address. */
static void
serve_view(struct writ_exchange *x, void *ctx)
{
    (void)ctx;
    serve(x, WRIT_LIT("page.html"));
}

static void
serve_file(struct writ_exchange *x, void *ctx)
{
    (void)ctx;
    serve(x, x->suffix);
}

void
writ_page_routes(struct writ_route ret[WRIT_PAGE_ROUTES])
{
    const struct writ_route routes[WRIT_PAGE_ROUTES] = {
        {.path = WRIT_LIT("/"), .handler = serve_view},
        {.path = WRIT_LIT("/overview"), .handler = serve_view},
        {.path = WRIT_LIT("/reviews"), .handler = serve_view},
        {.path = WRIT_LIT("/reviews/"), .prefix = true, .handler = serve_view},
        {.path = WRIT_LIT("/delegations"), .handler = serve_view},
        {.path = WRIT_LIT("/ledger"), .handler = serve_view},
        {.path = WRIT_LIT("/ledger/"), .prefix = true, .handler = serve_view},
        {.path = WRIT_LIT("/budgets"), .handler = serve_view},
        {.path = WRIT_LIT("/policy"), .handler = serve_view},
        {.path = WRIT_LIT("/tools"), .handler = serve_view},
        {.path = WRIT_LIT("/stops"), .handler = serve_view},
        {.path = WRIT_LIT("/evidence"), .handler = serve_view},
        {.path = WRIT_LIT("/page/"), .prefix = true, .handler = serve_file},
    };

    for (size_t i = 0; i < WRIT_PAGE_ROUTES; i++) {
        ret[i] = routes[i];
        ret[i].methods = WRIT_ROUTE_GET;
    }
}
