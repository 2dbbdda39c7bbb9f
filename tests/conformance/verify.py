#!/usr/bin/env python3
"""Verifies receipts with Python's standard library alone, sharing no code with Writ.

    python3 verify.py receipt FILE

Everything but signatures, for which the library has no Ed25519: a checkpoint is taken as it is, and
printed, so that it can be compared with one that is trusted. Prints ok and that checkpoint, or the
first reason against the file.
"""
import base64
import hashlib
import json
import sys


class Refused(Exception):
    pass


def number(value):
    """A number as ECMAScript writes it (RFC 8785 3.2.2.3)."""
    if isinstance(value, int) or value == 0:
        return str(int(value))
    mantissa, _, exponent = repr(abs(value)).partition("e")  # the shortest digits, as there
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + part) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    more = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return "%s%se%+d" % (sign, more, point - 1)


def canonical(value):
    """RFC 8785."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"


def unique(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("evidence_malformed")
    return found


def parse(text):
    try:
        return json.loads(text, object_pairs_hook=unique)
    except ValueError:
        raise Refused("evidence_malformed") from None


def sha256(*pieces):
    return hashlib.sha256(b"".join(pieces)).digest()


def H(value):
    return "sha256:" + sha256(canonical(value).encode()).hex()


def leaf(record):
    return sha256(b"\0", canonical(record).encode())


def node(left, right):
    return sha256(b"\1", left, right)


def included(digest, index, size, path, root):
    """RFC 9162 2.1.3.2."""
    if index >= size:
        return False
    fn, sn = index, size - 1
    for p in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            digest = node(p, digest)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            digest = node(digest, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and digest == root


def unbase64(text):
    try:
        found = base64.b64decode(text, validate=True)
    except ValueError:
        raise Refused("evidence_malformed") from None
    if base64.b64encode(found).decode() != text:
        raise Refused("evidence_malformed")
    return found


def checkpoint(note):
    """c2sp.org/tlog-checkpoint, without its signatures."""
    lines = note.split("\n")
    if len(lines) < 6 or lines[3] != "" or not lines[1].isdigit():
        raise Refused("evidence_malformed")
    return lines[0], int(lines[1]), unbase64(lines[2])


def tlog_proof(text):
    """c2sp.org/tlog-proof."""
    head, found, note = text.partition("\n\n")
    lines = head.split("\n")
    if not found or len(lines) < 2 or lines[0] != "c2sp.org/tlog-proof@v1" or not lines[1].startswith("index "):
        raise Refused("evidence_malformed")
    return int(lines[1][6:]), [unbase64(line) for line in lines[2:]], note


INTENT = ["agent_id", "tool", "params_hash", "target_state_digest"]
REF = ["agent_id", "tool", "normalized_scope", "intent_digest"]
CONTEXT = ["agent_id", "tool", "params_hash", "intent_digest", "seq", "retrieved_policy_refs", "policy_digest",
           "credential_scope", "credential_tier", "expires_at", "revalidate_if"]


def pick(record, names):
    return {name: record.get(name) for name in names}


def check_decision(d):
    if not isinstance(d.get("decision_id"), str) or d.get("decision") not in (
            "allow", "deny", "require_approval", "revise"):
        raise Refused("record_invalid")
    wants = {"intent_digest": INTENT, "intent_ref": REF, "receipt_ref": REF + ["issued_at"],
             "decision_context_hash": CONTEXT}
    for name, names in wants.items():
        if isinstance(d.get(name), str) and d[name] != H(pick(d, names)):
            raise Refused("record_digest_mismatch")


def check_outcome(o, d):
    if o.get("outcome") not in ("executed", "blocked", "error", "timeout"):
        raise Refused("record_invalid")
    if any(o.get(name) != d.get(name) for name in ("decision_id", "intent_ref", "idempotency_key", "boundary_id", "seq")):
        raise Refused("outcome_mismatch")
    if isinstance(o.get("receipt_ref"), str) and \
            o["receipt_ref"] != H(dict(pick(d, REF), completed_at=o.get("completed_at"))):
        raise Refused("outcome_mismatch")


def is_object(value, *names):
    return isinstance(value, dict) and sorted(value) == sorted(names)


def verify_receipt(text):
    file = parse(text)
    if not is_object(file, "format", "keys", "records") or file["format"] != "writ-receipt/1" or not file["records"]:
        raise Refused("evidence_malformed")
    log = last = outcome = None
    at = 0
    for entry in file["records"]:
        if not is_object(entry, "kind", "proof", "record") or not isinstance(entry["record"], dict):
            raise Refused("evidence_malformed")
        kind, record = entry["kind"], entry["record"]
        index, path, note = tlog_proof(entry["proof"])
        log = log or note
        if note != log:
            raise Refused("evidence_malformed")
        _, size, root = checkpoint(note)
        if kind == "decision":
            check_decision(record)
        if not included(leaf(record), index, size, path, root):
            raise Refused("record_not_in_log")
        if kind == "decision":
            if last and (record.get("supersedes") != last["decision_id"] or index <= at):
                raise Refused("record_foreign")
            last, at, outcome = record, index, None
            continue
        if kind not in ("outcome", "review"):
            raise Refused("evidence_malformed")
        if not last or record.get("decision_id") != last["decision_id"] or index <= at or (kind == "outcome" and outcome):
            raise Refused("record_foreign")
        if kind == "outcome":
            outcome = record
            check_outcome(record, last)
    return log


def main():
    what, path = sys.argv[1:3]
    try:
        with open(path, encoding="utf-8") as file:
            note = {"receipt": verify_receipt}[what](file.read())
        print("ok\n" + note, end="")
    except Refused as why:
        print(why)
        sys.exit(1)


if __name__ == "__main__":
    main()
