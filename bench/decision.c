#include "decision.h"

static const struct writ_view refs[] = {WRIT_LIT("tools/fs~1write_file#0")};
static const struct writ_view revalidate[] = {WRIT_LIT("argument_change"),
    WRIT_LIT("target_state_change"), WRIT_LIT("policy_version_change")};
static const char digest[] =
    "sha256:2222222222222222222222222222222222222222222222222222222222222222";

struct writ_decision
writ_bench_decision(const char *id, const char *key, const char *boundary)
{
    return (struct writ_decision){
        .decision_id = writ_member_text(writ_view_str(id)),
        .decision = writ_decision_route_text(WRIT_DECISION_ALLOW),
        .reason = writ_member_text(WRIT_LIT("the policy allows the call")),
        .agent_id = writ_member_text(WRIT_LIT("researcher_01")),
        .agent_role = writ_member_text(WRIT_LIT("researcher")),
        .tool = writ_member_text(WRIT_LIT("write_file")),
        .target = writ_member_text(WRIT_LIT("file:/srv/sandbox/notes/today.txt")),
        .request_id = writ_member_text(WRIT_LIT("7")),
        .normalized_scope = writ_member_text(WRIT_LIT("files/srv/sandbox/notes/today.txt")),
        .params_hash = writ_member_text(writ_view_str(digest)),
        .target_state_digest = writ_member_text(writ_view_str(digest)),
        .idempotency_key = writ_member_text(writ_view_str(key)),
        .policy_refs = writ_member_list(refs, 1),
        .revalidate_if = writ_member_list(revalidate, sizeof revalidate / sizeof *revalidate),
        .policy_digest = writ_member_text(writ_view_str(digest)),
        .credential_scope = writ_member_text(WRIT_LIT("files-write")),
        .credential_tier = writ_member_text(WRIT_LIT("service-account")),
        .boundary_id = writ_member_text(writ_view_str(boundary)),
    };
}
