/* The rules are written as for a user, in a file with everything that they refer to; then each
 * placeholder is replaced in the text, as a user does. */
#include "support/policy/proposing.h"

#include "policy/propose/proposal_text.h"

static const struct {
    struct writ_view placeholder, value;
} values[] = {
    {{WRIT_PROPOSAL_FOLDER, sizeof WRIT_PROPOSAL_FOLDER - 1}, {"/srv/box", 8}},
    {{WRIT_PROPOSAL_GLOB, sizeof WRIT_PROPOSAL_GLOB - 1}, {"src/**", 6}},
    {{WRIT_PROPOSAL_HOST, sizeof WRIT_PROPOSAL_HOST - 1}, {"example.com", 11}},
    {{WRIT_PROPOSAL_AMOUNT, sizeof WRIT_PROPOSAL_AMOUNT - 1}, {"100", 3}},
    {{WRIT_PROPOSAL_TOTAL, sizeof WRIT_PROPOSAL_TOTAL - 1}, {"1000", 4}},
    {{WRIT_PROPOSAL_PATTERN, sizeof WRIT_PROPOSAL_PATTERN - 1}, {"1|2", 3}},
};

static void
put_filled(struct writ_buf *ret, struct writ_view text)
{
    while (text.len > 0) {
        size_t taken = 1;
        struct writ_view put = writ_view_sub(text, 0, 1);

        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            if (text.ptr[0] == 'R' && writ_view_has_prefix(text, values[i].placeholder)) {
                put = values[i].value;
                taken = values[i].placeholder.len;
            }
        }
        writ_buf_put(ret, put);
        text = writ_view_sub(text, taken, text.len);
    }
}

void
writ_proposing_put(struct writ_buf *ret, const struct writ_proposal *proposal, bool fill)
{
    writ_auto_buf rules = writ_buf_make(WRIT_PROPOSAL_TEXT_MAX);

    writ_buf_str(ret, "agents:\n  - {anonymous: true, id: dev, tenant: acme, role: operator}\n  - "
                      "{id: owner, bearer_sha256: "
                      "5be97a7ac99cbab4e89c7a2d1e1fd4acd7d6b88fd4d2d5d4bf7d3d7d63f4e6a1}\n"
                      "upstreams:\n  s: {http: \"http://127.0.0.1:1/mcp\"}\n"
                      "reviews:\n  owner:\n    voters: [{id: owner}]\n");
    writ_proposal_text_tools(&rules, proposal, 1, WRIT_LIT("owner"));
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&rules, NULL)));
    if (fill) {
        put_filled(ret, writ_buf_view(&rules));
    } else {
        writ_buf_put(ret, writ_buf_view(&rules));
    }
}
