/* method.tbl.h - every MCP method that the gateway knows, and its route.
 *
 * X(NAME, "wire", route). A method without a row goes to one upstream unchanged, if the request
 * names it, unless a server that matches names more loosely than we do could take it for one of
 * these or for a way to run a tool (writ_method_may_pass; docs/security-limits.md).
 *
 *   LOCAL     answered by the gateway         HANDSHAKE  opens or describes: initialize, discover
 *   CALL      governed                        NAMED      to the upstream that params.name names
 *   LIST      to all upstreams, merged        URI        to the upstream that owns params.uri
 *   ALL       to all upstreams                COMPLETE   to the upstream of params.ref
 *   CANCEL    to all upstreams: one that has  SINGLE     to the endpoint's only upstream
 *             no request of its id ignores it
 *   TASK      to the upstream whose task it is
 *   STREAM    a stream without an end of its own, of every upstream */
#ifndef WRIT_GATEWAY_METHOD_TBL_H
#define WRIT_GATEWAY_METHOD_TBL_H

/* clang-format off */
#define WRIT_METHODS(X)                                                                            \
    X(INITIALIZE,            "initialize",                         HANDSHAKE)                      \
    X(DISCOVER,              "server/discover",                    HANDSHAKE)                      \
    X(INITIALIZED,           "notifications/initialized",          ALL)                            \
    X(PING,                  "ping",                               LOCAL)                          \
    X(TOOLS_CALL,            "tools/call",                         CALL)                           \
    X(TOOLS_LIST,            "tools/list",                         LIST)                           \
    X(PROMPTS_LIST,          "prompts/list",                       LIST)                           \
    X(PROMPTS_GET,           "prompts/get",                        NAMED)                          \
    X(RESOURCES_LIST,        "resources/list",                     LIST)                           \
    X(TEMPLATES_LIST,        "resources/templates/list",           LIST)                           \
    X(RESOURCES_READ,        "resources/read",                     URI)                            \
    X(RESOURCES_SUBSCRIBE,   "resources/subscribe",                URI)                            \
    X(RESOURCES_UNSUBSCRIBE, "resources/unsubscribe",              URI)                            \
    X(COMPLETE,              "completion/complete",                COMPLETE)                       \
    X(SET_LEVEL,             "logging/setLevel",                   ALL)                            \
    X(CANCELLED,             "notifications/cancelled",            CANCEL)                         \
    X(PROGRESS,              "notifications/progress",             ALL)                            \
    X(ROOTS_CHANGED,         "notifications/roots/list_changed",   ALL)                            \
    X(LISTEN,                "subscriptions/listen",               STREAM)                         \
    X(TASKS_GET,             "tasks/get",                          TASK)                           \
    X(TASKS_RESULT,          "tasks/result",                       TASK)                           \
    X(TASKS_LIST,            "tasks/list",                         TASK)                           \
    X(TASKS_UPDATE,          "tasks/update",                       TASK)                           \
    X(TASKS_CANCEL,          "tasks/cancel",                       TASK)
/* clang-format on */

#endif
