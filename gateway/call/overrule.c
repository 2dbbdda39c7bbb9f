/* overrule.c - see overrule.h. */
#include "gateway/call/overrule.h"

void
writ_overrule_verdict(struct writ_call *call, enum writ_reason reason)
{
    call->verdict.reason = reason;
    call->verdict.approval = NULL;
    call->verdict.accepted = call->verdict.hint = (struct writ_view){NULL, 0};
    call->shadowed = call->verdict.shadow ? reason : WRIT_REASON_NONE;
    if (!call->verdict.shadow) {
        call->verdict.answer = WRIT_POLICY_DENY;
    }
}
