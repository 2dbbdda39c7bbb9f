#!/usr/bin/env python3
"""Verifies receipts and bundles with Python's standard library alone, sharing no code with Writ. It was written from
docs/receipts.md, docs/evidence.md, vectors/digests, RFC 6962, RFC 8032, RFC 8785 and c2sp.org alone.

    python3 verify.py receipt|bundle FILE KEYS [--witness KEYS] [--quorum N]
    python3 verify.py vectors FILE                  a set of vectors/receipts or vectors/bundles

KEYS: trusted vkeys, one a line; # leaves a line out. A FILE of - is standard input. Prints ok, or the first reason
against the file; of a bundle also the number of the line, or what its records are. A bundle is read once, line by line:
memory grows with its runs and with the calls that are under way, not with its records.
"""
import argparse
import base64
import calendar
import functools
import hashlib
import io
import json
import math
import re
import sys


class Refused(Exception):
    line = None


def malformed():
    raise Refused("evidence_malformed")


# ---- JSON (RFC 8259) as evidence has it: names once, and only numbers that a double holds

RECORD_BYTES, RECORD_DEPTH, RECORD_NAME, RECORD_VALUES = 1 << 20, 64, 1024, 65536
LINE_BYTES, LINE_DEPTH = RECORD_BYTES + 65536, 80
SAFE = 2 ** 53 - 1


class Number:
    """One that is not written as an integer that a double holds; nan when it would be rounded to another one."""

    def __init__(self, value):
        self.value = value


def exactly(literal):
    """The digits and the exponent of a number as it is written."""
    whole, part, exponent = re.fullmatch(r"-?(\d+)(?:\.(\d+))?(?:[eE](.+))?", literal).groups("")
    digits = (whole + part).lstrip("0")
    short = digits.rstrip("0")
    return (short, int(exponent or 0) - len(part) + len(digits) - len(short)) if short else ()


def read_number(literal):
    if len(literal) > 64:
        malformed()
    value = float(literal)
    if math.isinf(value):
        malformed()
    if abs(value) <= SAFE and re.fullmatch(r"-?\d+", literal):
        return int(literal)
    if (value == 0 or abs(value) > SAFE) and exactly(literal) != exactly(repr(value)):
        value = math.nan
    return Number(value)


def unique(pairs):
    found = dict(pairs)
    return found if len(found) == len(pairs) else malformed()


def depth(value):
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0) \
        if isinstance(value, (dict, list)) else 0


def is_deep(value, text, most):
    return text.count("{") + text.count("[") > most and depth(value) > most


def sizes(value):
    """How many values there are in one, names among them, and the length of the longest name."""
    parts = list(value.values() if isinstance(value, dict) else value) if isinstance(value, (dict, list)) else []
    names = list(value) if isinstance(value, dict) else []
    inside = list(map(sizes, parts))
    return (1 + len(names) + sum(count for count, _ in inside),
            max([len(name.encode()) for name in names] + [longest for _, longest in inside], default=0))


def fits(record, body):
    """Whether a record is no deeper and has no more in it than one of a bundle may."""
    if is_deep(record, body, RECORD_DEPTH):
        return False
    if len(body) <= RECORD_VALUES and not re.search(r'"[^"]{256}', body):  # 256 characters have at most 1024 bytes
        return True
    count, longest = sizes(record)
    return count <= RECORD_VALUES and longest <= RECORD_NAME


READER = json.JSONDecoder(object_pairs_hook=unique, parse_int=read_number, parse_float=read_number,
                          parse_constant=lambda _: malformed())


def parse(text):
    try:
        value = READER.decode(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False, default=id).encode()  # half of a pair is no character
    except (ValueError, RecursionError):
        malformed()
    return malformed() if is_deep(value, text, LINE_DEPTH) else value


def number(value):
    """A number as ECMAScript writes it (RFC 8785 3.2.2.3)."""
    if math.isnan(value):
        raise Refused("record_invalid")
    if value == 0:
        return "0"
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


PLAIN = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def slowly(value):
    if isinstance(value, Number):
        return number(value.value)
    if isinstance(value, list):
        return "[" + ",".join(map(slowly, value)) + "]"
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(PLAIN.encode(name) + ":" + slowly(value[name]) for name in names) + "}"
    return PLAIN.encode(value)


def canonical(value):
    """RFC 8785."""
    try:
        text = PLAIN.encode(value)  # names by code points: the same order up to U+FFFF
    except TypeError:  # there is a Number in it
        return slowly(value)
    return text if text.isascii() or max(text) <= "\uffff" else slowly(value)


def plain(value):
    """A value that the lines have beside records, in the order of its members."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sha256(*pieces):
    return hashlib.sha256(b"".join(pieces)).digest()


def H(value):
    return "sha256:" + sha256(canonical(value).encode()).hex()


def unbase64(text, length=None):
    """Base64 in its one spelling."""
    try:
        found = base64.b64decode(text, validate=True)
    except ValueError:
        malformed()
    return found if base64.b64encode(found).decode() == text and length in (None, len(found)) else malformed()


def decimal(text):
    return int(text) if re.fullmatch(r"0|[1-9][0-9]{0,15}", text) and int(text) <= SAFE else malformed()


# ---- Ed25519 (RFC 8032 5.1), which the library has not

P, L = 2 ** 255 - 19, 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def root_of(y, sign):
    """The x that belongs to a y, or None."""
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x - u) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (v * x * x - u) % P or (x == 0 and sign):
        return None
    return x if x & 1 == sign else P - x


def point(encoded):
    whole = int.from_bytes(encoded, "little")
    y = whole % 2 ** 255
    x = root_of(y, whole >> 255)
    return None if x is None else (x, y % P, 1, x * y % P)


def plus(a, b):
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    return (f - e) * (h - g) % P, (h + g) * (f + e) % P, (h - g) * (h + g) % P, (f - e) * (f + e) % P


def times(scalar, a):
    total = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            total = plus(total, a)
        a, scalar = plus(a, a), scalar >> 1
    return total


BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


@functools.lru_cache(maxsize=256)
def ed25519(key, message, signature):
    s, at = int.from_bytes(signature[32:], "little"), point(key)
    if s >= L or at is None:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    x, y, z, _ = plus(times(s, BASE), times(k, (-at[0] % P, at[1], 1, -at[3] % P)))
    inverse = pow(z, -1, P)
    return (y * inverse % P | (x * inverse % P & 1) << 255).to_bytes(32, "little") == signature[:32]


# ---- c2sp.org/signed-note, c2sp.org/tlog-checkpoint, c2sp.org/tlog-cosignature

NOTE_BYTES, WITNESS = 65536, 4
NAME = re.compile("[^\0-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000+]+")


def is_name(name):
    return NAME.fullmatch(name) is not None and len(name.encode()) <= 256


class Key:
    """A vkey."""

    def __init__(self, text):
        found = re.fullmatch(r"([^+]+)\+([0-9a-f]{8})\+(.+)", text)
        if not found:
            malformed()
        self.name, digits, material = found.groups()
        whole = unbase64(material, 33)
        self.type, self.key, self.id = whole[0], whole[1:], bytes.fromhex(digits)
        if not is_name(self.name) or self.type not in (1, WITNESS) or \
                sha256((self.name + "\n").encode(), whole)[:4] != self.id:
            malformed()


def note(whole):
    """A note taken apart: its text, and who signed it with what."""
    at = whole.rfind("\n\n") + 2
    if len(whole.encode()) > NOTE_BYTES or re.search("[\0-\t\x0b-\x1f]", whole) or not whole.endswith("\n") or \
            at < 3 or at == len(whole):
        malformed()
    lines = [re.fullmatch("\u2014 ([^ ]+) (.+)", line) for line in whole[at:-1].split("\n")]
    if len(lines) > 64 or not all(line and is_name(line[1]) for line in lines):
        malformed()
    return whole[:at - 1], [line.groups() for line in lines]


def signed(read, key):
    """Whether this key signed; none of its signatures may be wrong."""
    text, lines = read
    found = False
    for name, blob in lines:
        try:
            whole = unbase64(blob)
        except Refused:
            continue
        if name != key.name or whole[:4] != key.id:
            continue
        message, signature = text.encode(), whole[4:]
        if key.type == WITNESS:
            stamp, signature = int.from_bytes(signature[:8], "big"), signature[8:]
            message = b"cosignature/v1\ntime %d\n" % stamp + message
            if stamp >= 2 ** 63:
                raise Refused("checkpoint_invalid")
        if len(signature) != 64 or not ed25519(key.key, message, signature):
            raise Refused("checkpoint_invalid")
        found = True
    return found


class Checkpoint:
    """What a log says of itself, when who is trusted signed it."""

    def __init__(self, whole, trust):
        read = note(whole)
        signer = next((key for key in trust.keys if signed(read, key)), None)
        if signer is None:
            raise Refused("checkpoint_unsigned")
        lines = read[0][:-1].split("\n")
        if len(lines) < 3 or "" in lines:
            malformed()
        self.note, self.origin, self.size, self.root = whole, lines[0], decimal(lines[1]), unbase64(lines[2], 32)
        if self.origin != signer.name:
            raise Refused("checkpoint_invalid")
        if len({witness.name for witness in trust.witnesses if signed(read, witness)}) < trust.quorum:
            raise Refused("checkpoint_unwitnessed")


# ---- RFC 6962

def leaf(body):
    return sha256(b"\0", body.encode())


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


class Edge:
    """The right edge of a tree: the roots of the complete subtrees that it is made of."""

    def __init__(self):
        self.size, self.roots = 0, []

    def add(self, level, digest):
        """Goes on with 2^level leaves."""
        if self.size & (1 << level) - 1 or self.size + (1 << level) > SAFE:
            raise Refused("record_not_in_log")
        rest = self.size >> level
        while rest & 1:
            digest, rest = node(self.roots.pop(), digest), rest >> 1
        self.roots.append(digest)
        self.size += 1 << level

    def root(self):
        return functools.reduce(lambda right, left: node(left, right), reversed(self.roots)) if self.roots else sha256()


def is_base64(text):
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)).decode() == text
    except ValueError:
        return False


def tlog_proof(text):
    """c2sp.org/tlog-proof. Nothing vouches for its extra data, so it is passed over."""
    head, found, rest = text.partition("\n\n")
    first, *lines = head.split("\n")
    if lines and lines[0].startswith("extra ") and is_base64(lines[0][6:]):
        lines.pop(0)
    if len(text.encode()) > NOTE_BYTES or not found or first != "c2sp.org/tlog-proof@v1" or not lines or \
            not lines[0].startswith("index ") or len(lines) > 55:
        malformed()
    return decimal(lines[0][6:]), [unbase64(line, 32) for line in lines[1:]], rest


# ---- the records: their members (docs/evidence.md), their digests (vectors/digests), their joins

RECORD_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z", re.ASCII)
ANY_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII)


def time(text, form=RECORD_TIME):
    """RFC 3339 in microseconds since 1970; None for what is none."""
    found = form.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    sign, hours, minutes = found.groups()[7:] or (None, None, None)
    hours, minutes = int(hours or 0), int(minutes or 0)
    if not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 59 or hours > 23 or minutes > 59:
        return None
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= (29 if month == 2 and leap else calendar.mdays[month]):
        return None
    years, months = (year, month - 3) if month > 2 else (year - 1, month + 9)  # a year that begins in March
    days = years * 365 + years // 4 - years // 100 + years // 400 + (153 * months + 2) // 5 + day - 719469
    ahead = (-60 if sign == "-" else 60) * (60 * hours + minutes)
    return (days * 86400 + 3600 * hour + 60 * minute + second - ahead) * 10 ** 6 + int((found[7] or "").ljust(6, "0")[:6])


def is_text(value):
    return isinstance(value, str)


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_count(value):
    return is_number(value) and value >= 0


IS_DIGEST = re.compile(r"sha256:[0-9a-f]{64}").fullmatch
FORMS = {
    "text": is_text,
    "digest": lambda value: is_text(value) and bool(IS_DIGEST(value)),
    "label": lambda value: is_text(value) and value.startswith("sha256:") and len(value) > 7,
    "time": lambda value: is_text(value) and time(value) is not None,
    "list": lambda value: isinstance(value, list) and len(value) <= 1024 and all(map(is_text, value)),
    "count": is_count,
    "number": is_number,
    "flag": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
}


class Table:
    """Each member with its form; ? behind it: null is as none, ! null does where it is needed; then the choices that
    need it."""

    def __init__(self, choice, choices, groups, rows):
        self.choice, self.choices = choice, choices
        self.rows = []
        for row in rows.split(","):
            name, form, nulls, need = re.fullmatch(r"\s*(\w+) (\w+)([?!]?) ?(\w*)\s*", row).groups()
            self.rows.append((name, form, nulls, choices if need == "any" else groups.get(need, ())))
        self.names = {name for name, *_ in self.rows} | {choice}

    def is_member(self, row, value, made):
        _, form, nulls, need = row
        if value is None:
            return nulls == "!" or (nulls == "?" and made not in need)
        return FORMS[form](value) and not (made in need and form in ("text", "list") and not value)

    def holds(self, record):
        made = record.get(self.choice)
        if not (made is None or is_text(made)) or made not in self.choices or \
                sum(name not in self.names for name in record) > 256:
            return False
        return all(self.is_member(row, record[row[0]], made) if row[0] in record else made not in row[3] for row in self.rows)


TABLES = {
    "decision": Table("decision", ("allow", "deny", "require_approval", "revise"), {
        "permit": ("allow", "require_approval"), "review": ("require_approval",), "refuse": ("deny", "revise"),
        "revise": ("revise",)}, """agent_id text permit,agent_role text,boundary_id text,continuation_id text? review,
        credential_scope text,credential_tier text,decision_context_hash digest,decision_id text any,evidence_refs list,
        expires_at time? review,extensions object,idempotency_key text permit,intent_digest digest permit,
        intent_ref digest permit,issued_at time? permit,normalization_id text permit,normalized_scope text permit,
        params_hash digest permit,policy_digest label,policy_refs list permit,reason text refuse,receipt_ref digest,
        request_id text,retrieved_policy_refs list,revalidate_if list revise,running_count count,seq count,
        supersedes text?,target text,target_state_digest digest! permit,tool text any"""),
    "outcome": Table("outcome", ("executed", "blocked", "error", "timeout"), {"error": ("error",)},
                     """boundary_id text,completed_at time any,decision_id text any,error_message text?,
        error_type text? error,extensions object,idempotency_key text?,intent_ref digest?,receipt_ref digest?,seq count,
        tool_output_hash digest?"""),
    "seal": Table(None, (None,), {}, """boundary_id text any,extensions object,final_seq number,seal_hash digest,
        sealed flag any,sealed_at time,total count any"""),
    "review": Table("event", ("open", "join", "vote", "accept", "reject", "revise", "redeem", "expire", "withdraw",
                              "cancel", "outdate", "drift", "fail", "revoke"),
                    {"open": ("open",), "vote": ("vote",), "voter": ("vote", "revoke")},
                    """at time any,boundary_id text,by text voter,confidence text,decision_id text any,elected text,
        extensions object,feedback text,log list,n count any,ranking list,reason text,review_digest digest any,signature text,state text any,
        terms object open,vote text vote"""),
}
STATES = ("absent", "open", "approved", "redeemed", "rejected", "revised", "expired", "lapsed", "withdrawn", "cancelled",
          "outdated", "drifted", "failed")


def is_confidence(text):
    return len(text) <= 16 and bool(re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", text)) and 0 <= float(text) <= 1


def is_feedback(text):
    return len(text.encode()) <= 4096 and not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", text)


def right_decision(d):
    seq, count, begin, end = map(d.get, ("seq", "running_count", "issued_at", "expires_at"))
    return (seq is None or count is None or count == seq + 1) and (begin is None or end is None or time(end) >= time(begin))


def right_seal(s):
    return s["sealed"] and s.get("final_seq", s["total"] - 1) == s["total"] - 1


CANDIDATES = tuple("12345678")


def is_ranking(votes):
    return 0 < len(votes) == len(set(votes)) and len(votes) <= 10 and set(votes) <= {"approve", "reject", "modify", *CANDIDATES}


def right_review(r):
    return r["state"] in STATES and r.get("vote", "approve") in ("approve", "reject", "modify", "abstain", *CANDIDATES) and \
        r.get("elected", "1") in CANDIDATES and \
        is_ranking(r.get("ranking", ["approve"])) and is_feedback(r.get("feedback", "")) and is_confidence(r.get("confidence", "0"))


RULES = {"decision": right_decision, "outcome": lambda _: True, "seal": right_seal, "review": right_review}

INTENT = ("agent_id", "tool", "params_hash", "target_state_digest")
REF = ("agent_id", "tool", "normalized_scope", "intent_digest")
CONTEXT = ("agent_id", "tool", "params_hash", "intent_digest", "seq", "retrieved_policy_refs", "policy_digest",
           "credential_scope", "credential_tier", "expires_at", "revalidate_if")
OF_VAARA = ("intent_ref", "target_state_digest", "continuation_id", "seq", "timestamp_ms", "idempotency_key")
KEYED = REF + ("idempotency_key",)
PROFILES = {
    "crewai-v1": {"intent_digest": INTENT, "intent_ref": REF, "receipt_ref": REF + ("issued_at",),
                  "decision_context_hash": CONTEXT, "outcome": REF + ("completed_at",)},
    "algovoi-v1": {"intent_digest": INTENT, "intent_ref": KEYED, "receipt_ref": KEYED + ("issued_at",),
                   "decision_context_hash": CONTEXT, "outcome": KEYED + ("completed_at",)},
    "vaara-v0": {"intent_digest": ("action_type", "normalized_scope", "params_hash"),
                 "intent_ref": ("schema", "agent_id", "action_type", "normalized_scope", "intent_digest"),
                 "receipt_ref": OF_VAARA, "outcome": OF_VAARA,
                 "decision_context_hash": ("policy_refs", "target_state_digest", "continuation_id", "normalization_id")},
}
DIGESTS = ("intent_digest", "intent_ref", "receipt_ref", "decision_context_hash")
# Members that go in as null when there are none; without any other there is no digest.
OPTIONAL = ("target_state_digest", "continuation_id", "expires_at", "policy_digest", "credential_scope",
            "credential_tier", "policy_refs", "retrieved_policy_refs", "revalidate_if")


def ours(record):
    extensions = record.get("extensions")
    found = extensions.get("writ") if isinstance(extensions, dict) else None
    return found if isinstance(found, dict) else {}


# Our own part of a decision: lists and unknown members have the limits of a record.
OURS = dict(argument="text", budgets="list", candidates="object", charges="list", claim_seconds="number", constraint="text",
            contents_kept="text", contents_too_large="flag", count_fault="text", crew_log="text", definition="text", duplicates="text", first_decision_id="text", flow="object", input_digest="text", key_stated="flag", output_after="text",
            output_before="text", output_rules="list", profile="text", reason="text", round="number", shadow="flag",
            showing="text", state_free="text", tenant="text", trace_id="text", upstream="text", via="text", wire_tool="text")


def is_within(part):
    if any(isinstance(part.get(name), list) and len(part[name]) > 1024 for name in ("budgets", "charges", "output_rules")):
        return False
    return sum(name not in OURS or not (value is None or FORMS[OURS[name]](value)) for name, value in part.items()) <= 256


def derived(names, record):
    values = dict(record, action_type=record.get("tool"), schema="crewai.governance.decision/v1")
    if record.get("issued_at") is not None:
        values["timestamp_ms"] = time(record["issued_at"]) // 1000
    if any(values.get(name) is None and name not in OPTIONAL for name in names):
        return None
    return H({name: values.get(name) for name in names})


def profile_of(d):
    named = ours(d).get("profile")
    return PROFILES[named if is_text(named) and named in PROFILES else "crewai-v1"]


def with_digests(d, names=DIGESTS):
    """A decision with the digests that its members give."""
    profile, found = profile_of(d), dict(d)
    for name in names:
        found[name] = derived(profile[name], found)
    return found


def check_form(kind, record, body):
    """A record of a kind has its members."""
    if not isinstance(record, dict) or len(body.encode()) > RECORD_BYTES or \
            not TABLES[kind].holds(record) or not RULES[kind](record):
        raise Refused("record_invalid")


def check_record(kind, record, body):
    """A record of a kind is right by itself."""
    check_form(kind, record, body)
    if kind == "decision":
        if not is_within(ours(record)):
            raise Refused("record_invalid")
        found = with_digests(record)
        if any(record.get(name) not in (None, found[name]) for name in DIGESTS):
            raise Refused("record_digest_mismatch")


def check_outcome(o, d):
    """An outcome is that of a decision."""
    ref = with_digests(d, DIGESTS[:2])["intent_ref"]
    receipt = derived(profile_of(d)["outcome"], dict(d, completed_at=o["completed_at"]))
    if o["decision_id"] != d["decision_id"] or o.get("intent_ref") != ref or d.get("intent_ref") != ref or \
            o.get("receipt_ref") != receipt or any(None not in (o.get(name), d.get(name)) and o[name] != d[name]
                                                   for name in ("idempotency_key", "boundary_id", "seq")):
        raise Refused("outcome_mismatch")


class Approved:
    """What the records of a review say about the call that it approves: of candidates the elected one."""

    def __init__(self):
        self.terms, self.elected, self.is_now, self.is_hidden = None, None, False, False

    def hear(self, record):
        self.is_now = record["state"] in ("approved", "redeemed")
        if record["event"] == "open":
            self.terms = record["terms"]
        if record["event"] == "accept":
            self.elected = record.get("elected")

    def check(self, before, following):
        """A decision that follows the one that waits allows no other call under its review."""
        if self.terms is None or self.is_hidden or before["decision"] != "require_approval" or \
                following["decision"] != "allow" or before.get("continuation_id") is None or \
                before["continuation_id"] != following.get("continuation_id"):
            return
        call, some = None, self.terms.get("candidates")
        if isinstance(some, list):
            call = next((one for one in some if isinstance(one, dict) and self.elected in CANDIDATES and
                         one.get("option") == self.elected), None)
        elif self.elected is None:
            call = self.terms
        if not self.is_now or call is None or call.get("intent_digest") != following.get("intent_digest") or \
                (call.get("target_state_digest") or "") != (following.get("target_state_digest") or ""):
            raise Refused("approval_mismatch")


# ---- receipts (docs/receipts.md)

def has(value, *names):
    return isinstance(value, dict) and sorted(value) == sorted(names)


def check_keys(keys, head):
    if not all(is_text(key) and Key(key).name == head.origin for key in keys):
        malformed()


def verify_receipt(text, trust):
    file = parse(text)
    if not has(file, "format", "keys", "records") or file["format"] != "writ-receipt/1" or \
            not isinstance(file["keys"], list) or len(file["keys"]) > 64 or \
            not isinstance(file["records"], list) or not 0 < len(file["records"]) <= 4096:
        malformed()
    head = last = outcome = approved = None
    at = 0
    for entry in file["records"]:
        if not has(entry, "kind", "proof", "record") or entry["kind"] not in ("decision", "outcome", "review") or \
                not is_text(entry["proof"]):
            malformed()
        kind, record = entry["kind"], entry["record"]
        index, path, under = tlog_proof(entry["proof"])
        head = head or Checkpoint(under, trust)
        if under != head.note:
            malformed()
        body = canonical(record)
        check_record(kind, record, body)
        if not included(leaf(body), index, head.size, path, head.root):
            raise Refused("record_not_in_log")
        if kind == "decision":
            if last and (record.get("supersedes") != last["decision_id"] or index <= at):
                raise Refused("record_foreign")
            if last:
                approved.check(last, record)
            last, at, outcome, approved = record, index, None, Approved()
            continue
        if not last or record["decision_id"] != last["decision_id"] or index <= at or (kind == "outcome" and outcome):
            raise Refused("record_foreign")
        if kind == "outcome":
            outcome = record
            check_outcome(record, last)
        else:
            approved.hear(record)
    check_keys(file["keys"], head)
    return {}


# ---- bundles (docs/receipts.md): every line is rebuilt from its text and from the records before it

SELECT = ("tenant", "boundary", "agent", "since", "until", "at")
NAMED, FAULTY, LIVE = 16, 1000, 10 ** 6
DECIDED_AT = {"decision": "issued_at", "outcome": "completed_at", "seal": "sealed_at", "review": "at"}
# What is kept of a decision while its call is under way.
KEPT = REF + ("decision", "decision_id", "intent_ref", "params_hash", "target_state_digest", "idempotency_key",
              "boundary_id", "seq", "continuation_id", "issued_at", "expires_at", "policy_refs", "normalization_id")


class Named:
    """Numbers that are named, as far as there is room."""

    def __init__(self, name):
        self.name, self.total, self.seqs = name, 0, []

    def add(self, first, last):
        if len(self.seqs) < NAMED:
            self.seqs.append([first, last])
        self.total += last - first + 1

    def members(self):
        return {self.name: {"total": self.total, "seqs": self.seqs}} if self.total else {}


class Run:
    def __init__(self, tenant, name):
        self.tenant, self.name, self.held, self.next, self.is_sealed, self.seal_differs = tenant, name, 0, 0, False, False
        self.missing, self.double, self.miscounted = Named("missing"), Named("double"), Named("miscounted")
        self.ids = hashlib.sha256()

    def hash(self):
        return "sha256:" + self.ids.hexdigest()

    def is_faulty(self):
        return self.seal_differs or bool(self.missing.total or self.double.total or self.miscounted.total)

    def place(self, seq, is_counted, decision_id):
        self.held += 1
        if not is_counted:
            self.miscounted.add(seq, seq)
        if seq < self.next:
            self.double.add(seq, seq)
            return
        if seq > self.next:
            self.missing.add(self.next, seq - 1)
        self.next = seq + 1
        self.ids.update(decision_id.encode())

    def seal(self, seal):
        total = seal["total"]
        if total > self.next:
            self.missing.add(self.next, total - 1)
        is_whole = not self.missing.total and not self.double.total
        self.seal_differs = self.is_sealed or total < self.next or (is_whole and seal.get("seal_hash") != self.hash())
        self.is_sealed = True

    def members(self):
        differs = {"seal_differs": True} if self.seal_differs else {}
        return {"boundary": self.name, "tenant": self.tenant, "held": self.held, "sealed": self.is_sealed, **differs,
                **self.missing.members(), **self.double.members(), **self.miscounted.members()}


def phase_at(d, outcome_at, successor, at):
    """The phase of a decision (docs/evidence.md)."""
    made = d["decision"]
    if made not in ("allow", "require_approval"):
        return "refused"
    if d.get("issued_at") is None or time(d["issued_at"]) > at:
        return "unborn"
    if outcome_at is not None and time(outcome_at) <= at:
        return "consumed"
    if successor and (successor.get("issued_at") is None or time(successor["issued_at"]) <= at):
        is_redeemed = made != "allow" and successor["decision"] == "allow" and d.get("continuation_id") is not None and \
            d["continuation_id"] == successor.get("continuation_id")
        return "resumed" if is_redeemed else "revalidated"
    if d.get("expires_at") is not None and time(d["expires_at"]) < at:
        return "expired"
    return "fresh" if made == "allow" else "pending"


class Call:
    def __init__(self, decision_id, run, decision=None, claim=None):
        self.id, self.run, self.decision, self.outcome_at = decision_id, run, decision, None
        self.claim, self.approved = claim, Approved()


class Keys:
    """The keys that calls have claimed: each for as long as its decision says, unless nothing ran."""

    def __init__(self):
        self.claims, self.now, self.crowd = {}, None, 1024

    def claim(self, record, leaf):
        """What a decision claims, and the leaf of the call that had claimed it."""
        part = ours(record)
        seconds, at = part.get("claim_seconds"), record.get("issued_at")
        at = None if at is None else time(at)
        if not is_count(seconds) or at is None:
            return None, None
        names = [part.get("tenant"), record.get("agent_id"), part.get("upstream"), record.get("tool"),
                 record.get("idempotency_key")]
        key = tuple(name if is_text(name) else "" for name in names)
        self.now = at if self.now is None else max(at, self.now)
        before = self.claims.get(key)
        if len(self.claims) >= self.crowd:  # what is over takes no memory
            self.claims = {key: claim for key, claim in self.claims.items() if claim[1] > self.now}
            self.crowd = max(1024, 2 * len(self.claims))
        self.claims[key] = leaf, at + min(int(seconds), 253402300800) * 1000000
        return (key, leaf), before[0] if before and before[1] > self.now else None

    def release(self, claim):
        if claim and self.claims.get(claim[0], (None,))[0] == claim[1]:
            del self.claims[claim[0]]


class Bundle:
    def __init__(self, select, keys, head):
        self.select, self.keys, self.head = select, keys, head
        for name in ("since", "until", "at"):
            if name in select and time(select[name], ANY_TIME) is None:
                malformed()
        self.since, self.until, self.at = (time(select[name], ANY_TIME) if name in select else None
                                           for name in ("since", "until", "at"))
        self.edge, self.bytes = Edge(), hashlib.sha256()
        self.runs, self.in_order = {}, []  # by name, the oldest first; all of them
        self.calls, self.order = {}, {}  # by decision_id, the oldest first; all of them
        self.counts = dict.fromkeys(("records", "decisions", "outcomes", "seals", "review_events", "withheld", "skipped",
                                     "skipped_inside", "unmatched_outcomes", "in_flight", "twice", "boundaries",
                                     "faulty", "unsealed"), 0)
        self.keys_of = Keys()
        self.behind, self.has_shown = 0, False  # leaves that were skipped since the last one that was not

    def written(self, lines):
        for line in lines:
            self.bytes.update((line + "\n").encode())
        return lines

    def begin(self):
        select = {name: self.select[name] for name in SELECT if name in self.select}
        return self.written([plain({"format": "writ-bundle/1", "checkpoint": self.head.note, "keys": self.keys,
                                    "select": select})])

    def one_more(self):
        if len(self.in_order) + len(self.order) == LIVE:
            raise MemoryError("more than %d runs and calls at one time" % LIVE)

    def run(self, tenant, name, seal=None):
        same = [run for run in self.runs.get(name, ()) if tenant in (None, run.tenant)]
        if not same:
            self.one_more()
            found = Run(tenant or "", name)
            self.runs.setdefault(name, []).append(found)
            self.in_order.append(found)
            self.counts["boundaries"] += 1
            return found
        if seal is None:
            return same[-1]
        return next((run for run in reversed(same) if run.hash() == seal), same[0])

    def call(self, decision_id):
        return self.calls.get(decision_id, (None,))[-1]

    def add_call(self, call):
        self.one_more()
        self.calls.setdefault(call.id, []).append(call)
        self.order[call] = None

    def drop_call(self, call):
        self.calls[call.id].remove(call)
        if not self.calls[call.id]:
            del self.calls[call.id]
        del self.order[call]

    def phase(self, call, outcome_at=None, successor=None):
        if self.at is None or call.decision is None:
            return []
        phase = phase_at(call.decision, outcome_at or call.outcome_at, successor, self.at)
        return [plain({"kind": "phase", "decision_id": call.id, "phase": phase,
                       "whole": call.run is not None and not call.run.is_faulty()})]

    def is_selected(self, kind, record, tenant):
        select = self.select
        if "boundary" in select and select["boundary"] != record.get("boundary_id", ""):
            return False
        if self.since is not None or self.until is not None:
            text = record.get(DECIDED_AT[kind])
            at = None if text is None else time(text)
            if at is None or (self.since is not None and at < self.since) or (self.until is not None and at >= self.until):
                return False
        return kind != "decision" or (select.get("agent", record.get("agent_id", "")) == record.get("agent_id", "") and
                                      select.get("tenant", tenant) == tenant)

    def decision(self, record, tenant):
        run, lines = None, []
        self.counts["decisions"] += 1
        if record.get("boundary_id") is not None and record.get("seq") is not None:
            run = self.run(tenant, record["boundary_id"])
            run.place(record["seq"], record.get("running_count") == record["seq"] + 1, record["decision_id"])
        before = self.call(record.get("supersedes"))
        if before:
            if before.decision:
                before.approved.check(before.decision, record)
            lines = self.phase(before, successor=record)
            self.drop_call(before)
        claim, first = self.keys_of.claim(record, self.edge.size - 1)
        if first is not None:
            lines.append(plain({"kind": "twice", "decision_id": record["decision_id"], "first": first}))
            self.counts["twice"] += 1
        kept = {name: record[name] for name in KEPT if name in record}
        kept["extensions"] = {"writ": {"profile": ours(record).get("profile")}}
        self.add_call(Call(record["decision_id"], run, kept, claim or (before and before.claim)))
        return lines

    def outcome(self, record):
        call = self.call(record["decision_id"])
        self.counts["outcomes"] += 1
        if call is None or call.outcome_at is not None:
            self.counts["unmatched_outcomes"] += 1
            return []
        if call.decision:
            check_outcome(record, call.decision)
        if call.decision and call.decision["decision"] == "require_approval":  # an outcome does not end it
            call.outcome_at = record["completed_at"]
            return []
        if record["outcome"] == "blocked" or (record["outcome"] == "error" and record.get("error_type") == "not_sent"):
            self.keys_of.release(call.claim)
        lines = self.phase(call, outcome_at=record["completed_at"])
        self.drop_call(call)
        return lines

    def shown(self):
        self.counts["skipped_inside"] += self.behind if self.has_shown else 0
        self.has_shown, self.behind = True, 0

    def record(self, kind, record, body):
        """The lines of the next leaf, a record."""
        line = '{"leaf":%d,"kind":"%s","record":%s}' % (self.edge.size, kind, body)
        if not fits(record, body):
            raise Refused("record_invalid")
        check_record(kind, record, body)
        tenant = ours(record).get("tenant")
        tenant = tenant if is_text(tenant) else ""
        self.edge.add(0, leaf(body))
        self.counts["records"] += 1
        self.shown()
        if not self.is_selected(kind, record, tenant):
            raise Refused("record_foreign")
        if kind == "decision":
            return self.written([line] + self.decision(record, tenant))
        if kind == "outcome":
            return self.written([line] + self.outcome(record))
        self.counts["seals" if kind == "seal" else "review_events"] += 1
        if kind == "seal":
            self.run(None, record["boundary_id"], record.get("seal_hash")).seal(record)
        elif self.call(record["decision_id"]):
            self.call(record["decision_id"]).approved.hear(record)
        return self.written([line])

    def withhold(self, of, digest, decision_id, tenant, boundary_id, seq):
        """The line of the next leaf, which is withheld."""
        line = {"leaf": self.edge.size, "kind": "withheld", "of": of, "digest": digest}
        if decision_id is not None:
            line["decision_id"] = decision_id
        if of == "decision":
            line.update(tenant=tenant, boundary_id=boundary_id, seq=seq)
        self.edge.add(0, bytes.fromhex(digest[7:]))
        self.counts["withheld"] += 1
        self.shown()
        if of == "decision":
            run = self.run(tenant, boundary_id)
            run.place(seq, True, decision_id)
            self.add_call(Call(decision_id, run))
        elif of == "outcome" and self.call(decision_id):  # what became of it is not shown
            self.keys_of.release(self.call(decision_id).claim)
            self.drop_call(self.call(decision_id))
        elif of == "review" and self.call(decision_id):
            self.call(decision_id).approved.is_hidden = True
        return self.written([plain(line)])

    def node(self, level, digest):
        """The line of the next 2^level leaves, which were not asked for."""
        line = plain({"leaf": self.edge.size, "kind": "node", "level": level, "digest": digest})
        self.edge.add(level, bytes.fromhex(digest[7:]))
        self.counts["skipped"] += 1 << level
        self.behind += 1 << level
        return self.written([line])

    def end(self):
        """The last lines."""
        if self.edge.size != self.head.size or self.edge.root() != self.head.root:
            raise Refused("record_not_in_log")
        for call in self.order:
            self.counts["in_flight"] += call.outcome_at is None and call.decision is not None
            yield from self.written(self.phase(call))
        named = []
        for run in self.in_order:
            self.counts["faulty"] += run.is_faulty()
            self.counts["unsealed"] += not run.is_sealed
            if (run.is_faulty() or not run.is_sealed) and len(named) < FAULTY:
                named.append(run.members())
        counts = list(self.counts.items())
        yield plain({"kind": "end", **dict(counts[:-3]), "boundaries_named": named, **dict(counts[-3:]),
                     "sha256": self.bytes.hexdigest()})


def first_line(line, trust):
    """What has to stand in the first line."""
    select = line.get("select") if isinstance(line, dict) else None
    if not isinstance(select, dict) or line.get("format") != "writ-bundle/1" or \
            not all(is_text(select.get(name, "")) for name in SELECT):
        malformed()
    under, keys = line.get("checkpoint"), line.get("keys")
    head = Checkpoint(under if is_text(under) else "", trust)
    if not isinstance(keys, list):
        malformed()
    check_keys(keys, head)
    return Bundle(select, keys, head)


def following(bundle, text):
    """The lines that this one begins, by what it says."""
    line = parse(text)
    line = line if isinstance(line, dict) else {}
    kind, digest, of, decision_id, seq = map(line.get, ("kind", "digest", "of", "decision_id", "seq"))
    if is_text(kind) and kind in TABLES:
        if "record" not in line:
            raise Refused("record_invalid")
        body = canonical(line["record"])  # numbers may be written in another way
        record = line["record"] if text.endswith(',"record":%s}' % body) else parse(body)
        return bundle.record(kind, record, body)
    is_digest = FORMS["digest"](digest)
    if kind == "node":
        level = line.get("level")
        return bundle.node(level, digest) if is_digest and is_count(level) and level < 53 else malformed()
    if kind != "withheld":
        return bundle.end()
    decision_id = decision_id if is_text(decision_id) else None
    if not is_text(of) or of not in TABLES or not is_digest or (of != "seal" and not decision_id) or \
            (of == "decision" and not is_count(seq)):
        malformed()
    tenant, boundary = (line[name] if is_text(line.get(name)) else "" for name in ("tenant", "boundary_id"))
    return bundle.withhold(of, digest, decision_id, tenant, boundary, seq)


def text_of(raw):
    try:
        return raw.decode()
    except UnicodeDecodeError:
        malformed()


class BundleCheck:
    """Verifies the lines of a bundle, each without its end, one by one."""

    def __init__(self, trust):
        self.trust, self.number, self.due, self.has_ended, self.bundle = trust, 0, iter(()), False, None

    def line(self, raw):
        self.number += 1
        text, expected = text_of(raw), next(self.due, None)
        if expected is None:
            if self.has_ended:
                malformed()
            if self.bundle is None:
                self.bundle = first_line(parse(text), self.trust)
                self.due = iter(self.bundle.begin())
            else:
                self.due = iter(following(self.bundle, text))
            expected = next(self.due)
        if text != expected:
            malformed()
        self.has_ended = text.startswith('{"kind":"end",')


def verify_bundle(file, trust):
    check = BundleCheck(trust)
    try:
        while True:
            raw = file.readline(LINE_BYTES + 1)
            if raw[-1:] != b"\n":  # nothing, or behind the last line, or longer than any
                check.number += len(raw) > LINE_BYTES
                break
            check.line(raw[:-1])
        if raw or not check.has_ended:
            malformed()
    except Refused as why:
        why.line = check.number
        raise
    head = check.bundle.head
    return {"origin": head.origin, "size": head.size, **check.bundle.counts}


# ---- the command

def unknown(text):
    """The name of a vkey of a type that is not known here, such as ML-DSA-44: nothing can be verified with it."""
    found = re.fullmatch(r"([^+]+)\+([0-9a-f]{8})\+(.+)", text)
    if found and is_name(found[1]) and is_base64(found[3]) and base64.b64decode(found[3])[0] not in (1, WITNESS):
        return found[1]
    return None


class Trust:
    """Who must have signed a checkpoint: one of the keys, and so many witnesses."""

    def __init__(self, keys, witnesses, quorum=None):
        self.keys, self.witnesses = ([Key(text) for text in some if unknown(text) is None] for some in (keys, witnesses))
        names = {key.name for key in self.witnesses}
        most = len(names)
        self.quorum = len(names | set(filter(None, map(unknown, witnesses)))) if quorum is None else quorum
        if any(key.type != WITNESS for key in self.witnesses) or not (quorum is None or 1 <= quorum <= most):
            raise SystemExit("no such quorum, or a key that is none of a witness")


def verdict(what, file, trust):
    """What is said of a file: ok and reason, of a bundle with the number of the line, or with what its records are."""
    try:
        told = verify_bundle(file, trust) if what == "bundle" else verify_receipt(text_of(file.read()), trust)
        return {"ok": True, "reason": "ok", **told}
    except Refused as why:
        return {"ok": False, "reason": str(why), **({"line": why.line} if what == "bundle" else {})}


def run_vectors(path):
    """Whether the cases of a set of vectors come out as they must."""
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    what = {"writ-receipts/1": "receipt", "writ-bundles/1": "bundle"}[vectors["format"]]
    failed = 0
    for case in vectors["cases"]:
        raw = case[what].encode() if what in case else base64.b64decode(case["bundle_base64"])
        found = verdict(what, io.BytesIO(raw), Trust(case["keys"], case.get("witnesses", ()), case.get("quorum")))
        if found != case["expect"]:
            failed += 1
            print("%s: %s" % (case["id"], plain(found)))
    print("%d passed, %d failed" % (len(vectors["cases"]) - failed, failed))
    return failed == 0


def keys_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and line.strip()[0] != "#"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("what", choices=("receipt", "bundle", "vectors"))
    options.add_argument("file")
    options.add_argument("keys", nargs="?")
    options.add_argument("--witness")
    options.add_argument("--quorum", type=int)
    asked = options.parse_args()
    if asked.what == "vectors":
        return run_vectors(asked.file)
    if not asked.keys:
        options.error("KEYS are missing")
    trust = Trust(keys_of(asked.keys), keys_of(asked.witness) if asked.witness else (), asked.quorum)
    with (sys.stdin.buffer if asked.file == "-" else open(asked.file, "rb")) as file:
        found = verdict(asked.what, file, trust)
    is_ok, reason = found.pop("ok"), found.pop("reason")
    print(reason + ("\n" + plain(found) if asked.what == "bundle" else ""))
    return is_ok


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
