/* problem.c - writes the reason of a refusal by the one table, with a sentence, a name and a hint.
 */
#include "gateway/listener/problem.h"

#include "base/text.h"
#include "evidence/json/write.h"
#include "gateway/mcp/mcp.h"

/* The table's hint is for MCP endpoints too: a request of the /v1 interfaces is no JSON-RPC. */
static struct writ_view
hint_of(enum writ_reason reason, const char *hint)
{
    static const struct writ_view object =
        WRIT_LIT("send what `detail` asks for, or what the documentation of this path lists: one "
                 "JSON object in strict I-JSON");

    return hint != NULL                              ? writ_view_str(hint)
           : reason == WRIT_REASON_MALFORMED_REQUEST ? object
                                                     : writ_reason_hint(reason);
}

void
writ_problem_put(struct writ_buf *ret, unsigned status, enum writ_reason reason, const char *detail,
    const char *hint)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text_if(&w, "type", WRIT_LIT("about:blank"));
    writ_write_text_if(&w, "title", writ_reason_sentence(reason));
    writ_write_count(&w, "status", status);
    if (detail != NULL) {
        writ_write_text_if(&w, "detail", writ_view_str(detail));
    }
    writ_write_text_if(&w, "reason", writ_reason_name(reason));
    writ_write_text_if(&w, "hint", hint_of(reason, hint));
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
}

struct writ_view
writ_problem_refusal(
    const struct writ_route *route, const struct writ_framing_fault *fault, struct writ_buf *ret)
{
    if (route != NULL && route->problems) {
        writ_problem_put(ret, fault->status, fault->reason, fault->detail, NULL);
        return WRIT_LIT("application/problem+json");
    }
    writ_buf_fmt(ret, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,\"message\":",
        fault->status == 405 || fault->status == 415 ? WRIT_RPC_SERVER_ERROR
        : fault->status < 500                        ? WRIT_RPC_INVALID_REQUEST
                                                     : WRIT_RPC_INTERNAL_ERROR);
    writ_text_json(ret, writ_reason_sentence(fault->reason));
    writ_buf_str(ret, ",\"data\":{\"reason\":");
    writ_text_json(ret, writ_reason_name(fault->reason));
    if (fault->detail != NULL) {
        writ_buf_str(ret, ",\"detail\":");
        writ_text_json(ret, writ_view_str(fault->detail));
    }
    writ_buf_str(ret, "}}}");
    return WRIT_LIT("application/json");
}
