/* client.h - the MCP clients whose files Writ can write (client.tbl.h). */
#ifndef WRIT_GATEWAY_CLIENT_H
#define WRIT_GATEWAY_CLIENT_H

#include "base/bytes.h"

/** A row of client.tbl.h. Static storage. */
struct writ_client {
    const char *name, *title;
    const char *user;      /* the user's file on Linux; "": the documentation names none */
    const char *macos;     /* the user's file on macOS, whose copy may be given with --from */
    const char *project;   /* the file of one project; "": there is none */
    const char *member;    /* the object of servers */
    const char *http_type; /* `type` of a server over HTTP; "": none */
    const char *url;       /* member with its URL; "": the client only starts programs */
    const char *stdio_type;
};

/** The client of that name, or NULL. */
const struct writ_client *writ_client_find(struct writ_view name);

/** The client that has a file of such a name in such a folder, or NULL. */
const struct writ_client *writ_client_of_path(struct writ_view path);

/** Appends all names, with commas. */
void writ_client_put_names(struct writ_buf *ret);

/** The n-th object of servers that some client's file has; NULL after the last one. */
const char *writ_client_member(size_t n);

#endif
