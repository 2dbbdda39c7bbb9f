/* abilities.c - one bit for each capability that permits requests of a server. A request for a
 * capability that the client did not declare is refused with a JSON-RPC error. */
#include "gateway/mcp/abilities.h"

#include "gateway/mcp/mcp.h"

static bool
has(const struct writ_json *capabilities, const char *pointer)
{
    return writ_json_type(writ_json_pointer(capabilities, writ_view_str(pointer))) ==
           WRIT_JSON_OBJECT;
}

unsigned
writ_abilities_read(const struct writ_json *capabilities)
{
    bool url = has(capabilities, "/elicitation/url");
    bool form = has(capabilities, "/elicitation") && /* an empty object is the form alone */
                (has(capabilities, "/elicitation/form") ||
                    writ_json_pointer(capabilities, WRIT_LIT("/elicitation/url")) == NULL);

    return (has(capabilities, "/sampling") ? WRIT_ABLE_SAMPLING : 0U) |
           (has(capabilities, "/sampling/tools") ? WRIT_ABLE_SAMPLING_TOOLS : 0U) |
           (form ? WRIT_ABLE_FORM : 0U) | (url ? WRIT_ABLE_URL : 0U) |
           (has(capabilities, "/roots") ? WRIT_ABLE_ROOTS : 0U) |
           (has(capabilities, "/tasks") ? WRIT_ABLE_TASKS : 0U);
}

static int
refuse_elicitation(unsigned abilities, const struct writ_json *message)
{
    const struct writ_json *mode = writ_json_pointer(message, WRIT_LIT("/params/mode"));
    bool url = writ_json_is(mode, WRIT_LIT("url"));

    if ((abilities & (WRIT_ABLE_FORM | WRIT_ABLE_URL)) == 0) {
        return WRIT_RPC_METHOD_NOT_FOUND;
    }
    return (abilities & (url ? WRIT_ABLE_URL : WRIT_ABLE_FORM)) != 0 ? 0 : WRIT_RPC_INVALID_PARAMS;
}

static int
refuse_sampling(unsigned abilities, const struct writ_json *message)
{
    bool tools = writ_json_pointer(message, WRIT_LIT("/params/tools")) != NULL ||
                 writ_json_pointer(message, WRIT_LIT("/params/toolChoice")) != NULL;

    if ((abilities & WRIT_ABLE_SAMPLING) == 0) {
        return WRIT_RPC_METHOD_NOT_FOUND;
    }
    return tools && (abilities & WRIT_ABLE_SAMPLING_TOOLS) == 0 ? WRIT_RPC_INVALID_PARAMS : 0;
}

int
writ_abilities_refuse(unsigned abilities, const struct writ_json *message)
{
    struct writ_view method = writ_json_string(writ_json_get(message, WRIT_LIT("method")));

    if (writ_view_is(method, "elicitation/create")) {
        return refuse_elicitation(abilities, message);
    }
    if (writ_view_has_prefix(method, WRIT_LIT("sampling/"))) {
        return refuse_sampling(abilities, message);
    }
    if (writ_view_has_prefix(method, WRIT_LIT("roots/"))) {
        return (abilities & WRIT_ABLE_ROOTS) != 0 ? 0 : WRIT_RPC_METHOD_NOT_FOUND;
    }
    if (writ_view_has_prefix(method, WRIT_LIT("tasks/"))) {
        return (abilities & WRIT_ABLE_TASKS) != 0 ? 0 : WRIT_RPC_METHOD_NOT_FOUND;
    }
    return 0;
}
