/* discover.h - asks one MCP tool server for its tools, for commands that run without a gateway.
 *
 * The server is one that a configuration could have: its program is started, or its URL connected
 * to, with the environment, authority and authorization of its entry. It gets no call of a tool,
 * and nothing of ours but name and version. Revision 2026-07-28 is asked first (server/discover),
 * then initialize; tools/list page by page. At the end the session and the program are ended.
 *
 * Everything that comes is a stranger's: definitions have the limits of the gateway (catalog.h),
 * and a text that goes into an error is made safe for a terminal. */
#ifndef WRIT_GATEWAY_DISCOVER_H
#define WRIT_GATEWAY_DISCOVER_H

#include "base/clock.h"
#include "evidence/json/json.h"
#include "gateway/mcp/catalog.h"
#include "policy/model/config.h"
#include "store/trusted/definitions.h"

#define WRIT_DISCOVER_TIMEOUT_US (INT64_C(60) * 1000 * 1000)

/** Zero takes the default that is named. */
struct writ_discover_options {
    int64_t timeout_us;                      /* for all of it; 0: WRIT_DISCOVER_TIMEOUT_US */
    const struct writ_clock *clock;          /* NULL: the system's */
    const struct writ_definitions *accepted; /* for program_digest; NULL: none */
};

/** A server's tools. All texts are the server's own, and belong to `arena` or `catalog`. */
struct writ_discovered {
    struct writ_arena *arena;
    struct writ_catalog *catalog;         /* sealed: the tools, in the order of their names */
    const struct writ_json **definitions; /* of catalog->tools[i]; catalog->n of them */
    struct writ_view server, version;     /* as it names itself; empty: it does not */
    struct writ_view instructions;        /* for the model; empty: none */
    struct writ_view revision;            /* of the protocol, as agreed */
};

/**
 * Makes the entry of an upstream from a URL of the command line, as a configuration has it without
 * any option.
 *
 * @param arena  keeps what is made
 *
 * @return WRIT_OK; WRIT_E_INVALID (no http or https URL, or plain http beyond loopback),
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_discover_url(struct writ_view url, struct writ_arena *arena,
    struct writ_upstream_config *ret, struct writ_err *err);

/** The same from a program and its arguments. Each item is NUL-terminated and, as the array itself,
 * borrowed as long as `ret`. WRIT_E_INVALID: there is no program. */
WRIT_RESULT writ_discover_command(
    const struct writ_view *argv, size_t n, struct writ_upstream_config *ret, struct writ_err *err);

/**
 * Asks for the tools.
 *
 * @param server   borrowed for the call; `name` may be empty. For an entry made by hand, `inherit`,
 *                 `environment` and `directory` are those that a configuration would have
 * @param options  NULL: all defaults
 * @param ret      new, free with writ_discover_free; written only on success. A server without
 *                 tools gives an empty catalog
 *
 * @return WRIT_OK
 *         WRIT_E_IO       it cannot be started or reached, ends, refuses, or is too slow; of a
 *                         program `err` has the last lines of standard error
 *         WRIT_E_PARSE    an answer is not what the protocol says
 *         WRIT_E_LIMIT    an answer, or the list in all, is larger than the gateway takes
 *         WRIT_E_INVALID, WRIT_E_ABSENT  of its authorization: as writ_tokens_once
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 *
 * Blocks; any thread.
 */
WRIT_RESULT writ_discover_tools(const struct writ_upstream_config *server,
    const struct writ_discover_options *options, struct writ_discovered **ret,
    struct writ_err *err);

/** NULL is permitted. */
void writ_discover_free(struct writ_discovered *found);

#endif
