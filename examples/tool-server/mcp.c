/* A tool that acts runs in one transaction: it reads the state of its target, checks the credential
 * against that state, uses the credential up and makes the change, or the database stays as it was.
 * An allowed call that fails changes nothing, and still uses its credential up: the gateway has
 * recorded how the call ended.
 *
 * Strings of arguments are bytes with a length: as C strings, "bob\0x", which the gateway
 * allowed, would become "bob". */
#include "mcp.h"

#include "credential.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <writ/jansson.h>

#define REVISION     "2025-11-25"
#define STATELESS    "2026-07-28"
#define META         "io.modelcontextprotocol/"
#define SKEW_S       5  /* that the clocks of gateway and server may differ by */
#define HASH_BYTES   32 /* of SHA-256 */
#define DIGEST_CHARS (sizeof "sha256:" + 2 * HASH_BYTES)

enum {
    INTERNAL_ERROR = -32603,
    INVALID_PARAMS = -32602,
    METHOD_NOT_FOUND = -32601,
    INVALID_REQUEST = -32600,
    PARSE_ERROR = -32700,
    REFUSED = -31001, /* as gateways and guards of Writ say it */
};

bool
mcp_speaks(const char *revision)
{
    return strcmp(revision, REVISION) == 0 || strcmp(revision, STATELESS) == 0 ||
           strcmp(revision, "2025-06-18") == 0;
}

/* ---- answers: each is an object with `result` or `error`, or NULL without memory */

static json_t *
result(json_t *value)
{
    return json_pack("{s:o}", "result", value);
}

static json_t *
error(int code, const char *message)
{
    return json_pack("{s:{s:i,s:s}}", "error", "code", code, "message", message);
}

static json_t *
refused(const struct refusal *why)
{
    return json_pack("{s:{s:i,s:s,s:{s:s,s:s}}}", "error", "code", REFUSED, "message",
        why->sentence, "data", "reason", why->reason, "hint", why->hint);
}

static json_t *
tool_result(json_t *structured)
{
    char *text = json_dumps(structured, JSON_COMPACT);
    json_t *value = json_pack("{s:[{s:s,s:s}],s:o}", "content", "type", "text", "text", text,
        "structuredContent", structured);

    free(text);
    return result(value);
}

static json_t *
tool_error(const char *text)
{
    return result(
        json_pack("{s:[{s:s,s:s}],s:b}", "content", "type", "text", "text", text, "isError", true));
}

static json_t *
bank_error(enum bank_result why)
{
    switch (why) {
    case BANK_NO_ACCOUNT:
        return tool_error("no such account");
    case BANK_NOT_ENOUGH:
        return tool_error("not enough money");
    case BANK_DONE:
    case BANK_FAILED:
        break;
    }
    return error(INTERNAL_ERROR, "the bank's database cannot be read or written");
}

/* ---- the tools */

static json_t *
balance(struct bank *bank, json_t *arguments, struct writ_view decision_id)
{
    struct bank_account account;
    struct writ_view name;
    enum bank_result read;

    (void)decision_id;
    if (json_unpack(arguments, "{s:s%!}", "account", &name.ptr, &name.len) != 0) {
        return tool_error("needs account, a string, and nothing else");
    }
    read = bank_account(bank, name, &account);
    return read == BANK_DONE
               ? tool_result(json_pack("{s:I,s:I}", "cents", (json_int_t)account.cents, "version",
                     (json_int_t)account.version))
               : bank_error(read);
}

static json_t *
transfer(struct bank *bank, json_t *arguments, struct writ_view decision_id)
{
    struct bank_transfer order = {.decision_id = decision_id};
    json_int_t cents;
    enum bank_result done;

    if (json_unpack(arguments, "{s:s%,s:s%,s:I!}", "from", &order.from.ptr, &order.from.len, "to",
            &order.to.ptr, &order.to.len, "cents", &cents) != 0 ||
        cents <= 0) {
        return tool_error(
            "needs from and to, strings, cents, a positive integer, and nothing else");
    }
    order.cents = cents;
    done = bank_transfer(bank, &order);
    return done == BANK_DONE ? tool_result(json_pack("{s:I}", "cents", cents)) : bank_error(done);
}

/* "sha256:..." of the canonical text of a value. */
static bool
digest(const json_t *value, char ret[DIGEST_CHARS])
{
    unsigned char hash[HASH_BYTES];
    char *text = NULL;
    size_t len = 0;
    bool made = writ_jansson_write(value, &text, &len, NULL).code == WRIT_OK &&
                EVP_Digest(text, len, hash, NULL, EVP_sha256(), NULL) == 1;

    if (made) {
        memcpy(ret, "sha256:", sizeof "sha256:");
        for (size_t i = 0; i < HASH_BYTES; i++) {
            snprintf(ret + strlen(ret), 3, "%02x", hash[i]);
        }
    }
    free(text);
    return made;
}

/* The state of the account that pays, as the gateway digests it: the members that `select` in its
 * configuration names, [/version], as an object. Leaves `ret` alone when there is no such
 * account. */
static void
observe(struct bank *bank, const json_t *arguments, char ret[DIGEST_CHARS])
{
    const json_t *from = json_object_get(arguments, "from");
    const struct writ_view name = {json_string_value(from), json_string_length(from)};
    struct bank_account account;
    json_t *state;

    if (name.ptr == NULL || bank_account(bank, name, &account) != BANK_DONE) {
        return;
    }
    state = json_pack("{s:I}", "/version", (json_int_t)account.version);
    if (state == NULL || !digest(state, ret)) {
        ret[0] = '\0';
    }
    json_decref(state);
}

struct tool {
    const char *name, *description, *schema;
    bool reads; /* only reads: the gateway calls it for the state, without a credential */
    json_t *(*run)(struct bank *bank, json_t *arguments, struct writ_view decision_id);
};

static const struct tool tools[] = {
    {"balance", "What is on an account, and how often that changed",
        "{\"type\":\"object\",\"properties\":{\"account\":{\"type\":\"string\"}},"
        "\"required\":[\"account\"],\"additionalProperties\":false}",
        true, balance},
    {"transfer", "Moves money from one account to another",
        "{\"type\":\"object\",\"properties\":{\"from\":{\"type\":\"string\"},"
        "\"to\":{\"type\":\"string\"},\"cents\":{\"type\":\"integer\",\"minimum\":1}},"
        "\"required\":[\"from\",\"to\",\"cents\"],\"additionalProperties\":false}",
        false, transfer},
};

/* ---- tools/call */

/* The part of a call that the database sees. */
static json_t *
transact(const struct mcp_server *server, const struct tool *tool, json_t *arguments,
    const char *credential, struct writ_verify_call *call)
{
    struct writ_verify_answer answer = {0};
    char state[DIGEST_CHARS] = "";
    struct refusal refusal;
    json_t *done;

    if (!bank_begin(server->bank)) {
        return bank_error(BANK_FAILED);
    }
    observe(server->bank, arguments, state);
    call->target_state_digest = (struct writ_view){state, strlen(state)};
    refusal = credential_bound(server->keys, credential, call, &answer);
    done =
        refusal.reason != NULL ? refused(&refusal) : tool->run(server->bank, arguments, answer.jti);
    if (json_object_get(done, "result") == NULL) { /* refused, or failed */
        bank_rollback(server->bank);
    } else if (!bank_commit(server->bank)) {
        bank_rollback(server->bank);
        json_decref(done);
        done = bank_error(BANK_FAILED);
    }
    writ_verify_wipe(&answer);
    return done;
}

static json_t *
act(const struct mcp_server *server, const struct tool *tool, json_t *arguments,
    const char *credential)
{
    struct writ_verify_call call = {
        .tool = {tool->name, strlen(tool->name)},
        .audience = {server->resource, strlen(server->resource)},
        .issuer = {server->issuer, strlen(server->issuer)},
        .typ = {"JWT", 3}, /* libjwt takes no other; the gateway has it in credential.typ */
        .any_agent = true, /* which agents may call is for the gateway's policy */
        .any_tenant = true,
        .now_s = time(NULL),
        .skew_s = SKEW_S,
        .use = bank_use,
        .ctx = server->bank,
    };
    struct refusal refusal;
    char *text = NULL;
    json_t *done;

    if (writ_jansson_write(arguments, &text, &call.arguments.len, NULL).code != WRIT_OK) {
        return NULL;
    }
    call.arguments.ptr = text;
    refusal = credential_signed(server->keys, credential, &call);
    done = refusal.reason != NULL ? refused(&refusal)
                                  : transact(server, tool, arguments, credential, &call);
    free(text);
    return done;
}

static json_t *
tools_call(const struct mcp_server *server, const json_t *params, const char *credential)
{
    const json_t *name = json_object_get(params, "name");
    json_t *arguments = json_object_get(params, "arguments"), *none = NULL, *done = NULL;
    const struct tool *tool = NULL;

    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        if (json_string_length(name) == strlen(tools[i].name) &&
            strcmp(json_string_value(name), tools[i].name) == 0) {
            tool = &tools[i];
        }
    }
    if (tool == NULL) {
        return error(INVALID_PARAMS, "there is no such tool");
    }
    if (arguments == NULL) {
        arguments = none = json_object();
    }
    if (!json_is_object(arguments)) {
        return error(INVALID_PARAMS, "arguments are an object");
    }
    done = tool->reads ? tool->run(server->bank, arguments, (struct writ_view){NULL, 0})
                       : act(server, tool, arguments, credential);
    json_decref(none);
    return done;
}

/* ---- the other methods */

static json_t *
initialize(const struct mcp_server *server, const json_t *params, const char *credential)
{
    const char *asked = json_string_value(json_object_get(params, "protocolVersion"));
    bool spoken = asked != NULL && mcp_speaks(asked) && strcmp(asked, STATELESS) != 0;

    (void)server, (void)credential;
    return result(
        json_pack("{s:s,s:{s:{}},s:{s:s,s:s}}", "protocolVersion", spoken ? asked : REVISION,
            "capabilities", "tools", "serverInfo", "name", "bank", "version", "1"));
}

static json_t *
discover(const struct mcp_server *server, const json_t *params, const char *credential)
{
    (void)server, (void)params, (void)credential;
    return result(json_pack("{s:[s],s:{s:{}},s:i,s:s}", "supportedVersions", STATELESS,
        "capabilities", "tools", "ttlMs", 0, "cacheScope", "private"));
}

static json_t *
ping(const struct mcp_server *server, const json_t *params, const char *credential)
{
    (void)server, (void)params, (void)credential;
    return result(json_object());
}

static json_t *
tools_list(const struct mcp_server *server, const json_t *params, const char *credential)
{
    json_t *list = json_array();

    (void)server, (void)params, (void)credential;
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        json_t *tool = json_pack("{s:s,s:s,s:o,s:{s:b}}", "name", tools[i].name, "description",
            tools[i].description, "inputSchema", json_loads(tools[i].schema, 0, NULL),
            "annotations", "readOnlyHint", tools[i].reads);
        if (json_array_append_new(list, tool) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return result(json_pack("{s:o,s:i,s:s}", "tools", list, "ttlMs", 0, "cacheScope", "private"));
}

static const struct method {
    const char *name;
    json_t *(*answer)(
        const struct mcp_server *server, const json_t *params, const char *credential);
} methods[] = {
    {"initialize", initialize},
    {"server/discover", discover},
    {"ping", ping},
    {"tools/list", tools_list},
    {"tools/call", tools_call},
};

/* ---- messages */

static json_t *
answer_request(const struct mcp_server *server, const char *method, const json_t *params,
    const char *credential)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (strcmp(methods[i].name, method) == 0) {
            return methods[i].answer(server, params, credential);
        }
    }
    return error(METHOD_NOT_FOUND, "no such method");
}

static bool
is_stateless(const json_t *params)
{
    return json_object_get(json_object_get(params, "_meta"), META "protocolVersion") != NULL;
}

/* The message around an answer, which it takes. `id` is NULL when the request has none to read. */
static json_t *
envelope(json_t *answer, json_t *id)
{
    if (json_object_set_new(answer, "jsonrpc", json_string("2.0")) != 0 ||
        json_object_set_new(answer, "id", id != NULL ? json_incref(id) : json_null()) != 0) {
        json_decref(answer);
        return NULL;
    }
    return answer;
}

struct message { /* borrowed from the JSON value; a missing member is NULL */
    json_t *id, *params;
    const char *method;
};

static bool
read_message(const json_t *value, struct message *ret)
{
    const char *version = json_string_value(json_object_get(value, "jsonrpc"));

    ret->id = json_object_get(value, "id");
    ret->params = json_object_get(value, "params");
    ret->method = json_string_value(json_object_get(value, "method"));
    return version != NULL && strcmp(version, "2.0") == 0 &&
           (ret->id != NULL || ret->method != NULL) &&
           (ret->id == NULL || json_is_string(ret->id) || json_is_integer(ret->id));
}

static unsigned
answer_message(
    const struct mcp_server *server, const json_t *value, const char *credential, json_t **ret)
{
    struct message message;

    if (!read_message(value, &message)) {
        *ret = envelope(error(INVALID_REQUEST, "not a JSON-RPC request or notification"), NULL);
        return 400;
    }
    if (message.id == NULL || message.method == NULL) { /* a notification or a response */
        return 202;
    }
    *ret = envelope(answer_request(server, message.method, message.params, credential), message.id);
    if (is_stateless(message.params)) {
        json_object_set_new(json_object_get(*ret, "result"), "resultType", json_string("complete"));
    }
    return *ret != NULL ? 200 : 500;
}

unsigned
mcp_answer(
    const struct mcp_server *server, struct writ_view body, const char *credential, json_t **ret)
{
    struct writ_err err = {{0}, 0, 0};
    json_t *value = NULL;
    unsigned status;

    *ret = NULL;
    if (writ_jansson_read(body, &value, &err).code != WRIT_OK) {
        *ret = envelope(error(PARSE_ERROR, err.text), NULL);
        return 400;
    }
    status = answer_message(server, value, credential, ret);
    json_decref(value);
    return status;
}
