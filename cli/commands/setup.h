/* setup.h - the folder of a new gateway, from a list of tool servers: asks each for its tools,
 * proposes rules, and writes the configuration with everything that it names: keys, ledger, tokens.
 *
 * Nothing is written before every server has answered and the configuration is one that a gateway
 * reads, placeholders aside; nothing that is there is overwritten. */
#ifndef WRIT_CLI_SETUP_H
#define WRIT_CLI_SETUP_H

#include "base/clock.h"
#include "evidence/json/json.h"
#include "gateway/mcp/oddity.h"
#include "policy/model/config.h"
#include "policy/propose/proposal.h"

#define WRIT_SETUP_SERVERS_MAX 64
#define WRIT_SETUP_TOKEN_MAX   64
#define WRIT_SETUP_PATH_MAX    4096

/** What to make. All borrowed. */
struct writ_setup {
    const struct writ_upstream_config *servers; /* each with a name of its own */
    size_t servers_n;
    struct writ_view folder; /* made if absent; "" or with a slash at its end */
    struct writ_view file;   /* name of the configuration in it */
    struct writ_view agent;  /* id of the agent */
    uint16_t port; /* of the listener on 127.0.0.1; the next one is the admin listener's. 0: the
                    * system picks that, and the links to it say which */
    bool socket;   /* the listener is a Unix socket in the folder instead, for writ wrap */
    const struct writ_clock *clock;
};

/** A server that gave no tools. */
struct writ_setup_failed {
    struct writ_view name;
    char why[WRIT_ERR_TEXT];
};

/** A value that the reader has to write. */
struct writ_setup_placeholder {
    size_t line;
    struct writ_view text;
};

/** What was made. All texts live in the arena given to writ_setup_make. */
struct writ_setup_made {
    struct writ_view config; /* path of the configuration */
    struct writ_view agent_token_file, owner_token_file;
    struct writ_buf token;                 /* of the agent; a secret: writ_setup_wipe */
    const struct writ_proposal *proposals; /* of each server */
    const struct writ_setup_placeholder *placeholders;
    size_t placeholders_n;
    struct writ_oddities odd; /* what is odd about their tools */
    struct writ_view
        exposed; /* a folder that a server was given, and that has our files; or empty */
    struct writ_setup_failed *failed; /* also after a failure */
    size_t failed_n;
};

/**
 * Makes it all. Every server is asked, also after one has failed. The `secret` of an authorization
 * goes into a file of its own, NAME.secret.
 *
 * @param ret  wipe it with writ_setup_wipe, also after a failure
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  a file is there already (err names it), two servers have one name, the
 *                         configuration would not be read, or others may enter the folder of
 *                         a socket, or its path is too long
 *         WRIT_E_LIMIT    too much for one configuration
 *         as writ_discover_tools, writ_first_keys_make, writ_ledger_create, writ_cli_write_new
 *
 * Blocks, at most for a minute with each server. Starts servers that are programs, one after the
 * other.
 */
WRIT_RESULT writ_setup_make(const struct writ_setup *setup, struct writ_arena *arena,
    struct writ_setup_made *ret, struct writ_err *err);

void writ_setup_wipe(struct writ_setup_made *made);

#endif
