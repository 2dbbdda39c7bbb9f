"""The credentials of vectors/credentials, verified by the package for Python.

    credential_vectors.py PACKAGE credentials.json

prints {"credentials": [{"ok", "reason"}, or null where a list of revocations would be needed]}."""

import json
import sys

sys.path.insert(0, sys.argv[1])

from writ.verify import Verifier  # noqa: E402


def answer(jwks, case):
    call = case["call"]
    if call.get("revoked"):
        return None
    verifier = Verifier()
    verifier.keys(jwks)
    if call.get("status_unknown"):
        verifier.status()
    state = call.get("target_state_digest")
    said = verifier.credential(
        case["token"], tool=call["tool"], arguments=json.dumps(call["arguments"]) if "arguments" in call else "",
        audience=call["aud"], issuer=call.get("iss", ""), any_issuer="iss" not in call,
        agent_id=call.get("agent_id", ""), any_agent="agent_id" not in call,
        tenant=call.get("tenant") or "", any_tenant="tenant" not in call,
        target_state_digest=state or "", any_target_state="target_state_digest" not in call,
        typ=call.get("typ", ""), now_s=call["now"], skew_s=call.get("skew", 0),
        lifetime_max_s=call.get("lifetime_max", 0), use=lambda jti, until: "spent" if call.get("used") else "fresh")
    return {"ok": said.ok, "reason": said.reason}


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        credentials = json.load(file)
    jwks = json.dumps(credentials["jwks"])
    print(json.dumps({"credentials": [answer(jwks, case) for case in credentials["cases"]]}))


main()
