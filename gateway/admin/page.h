/* page.h - the page on which people decide: files of gateway/admin/page/, which the build puts into
 * the program.
 *
 * They are the same for every reader and contain no secret; the data comes from /v1, after a login
 * (login.h). The browser may run and load only these files, and no other page may show them in a
 * frame. */
#ifndef WRIT_GATEWAY_PAGE_H
#define WRIT_GATEWAY_PAGE_H

#include "gateway/listener/listener.h"

#define WRIT_PAGE_ROUTES 13

/** One file of the page. */
struct writ_page_file {
    struct writ_view name; /* as in gateway/admin/page/: "page.css" */
    struct writ_view bytes;
};

/** All of them: made by cmake/WritEmbed.cmake. */
extern const struct writ_page_file writ_page_files[];
extern const size_t writ_page_files_n;

/** Fills the routes of a listener that serves the page. */
void writ_page_routes(struct writ_route ret[WRIT_PAGE_ROUTES]);

#endif
