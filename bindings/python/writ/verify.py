"""writ/verify.h: is this credential good for exactly this call?

    verifier = Verifier()
    verifier.keys(jwks)
    answer = verifier.credential(token, tool="transfer", arguments=text, audience=me, issuer=gateway,
                                 any_agent=True, any_tenant=True, any_target_state=True, use=remember)
    if answer.ok:
        run the call for answer.agent_id
"""

from __future__ import annotations

import threading
import time
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char_p, c_int, c_int64, c_size_t, c_void_p
from typing import Callable, NamedTuple, Optional

from ._library import CODES, OK, Call, Err, Owned, Result, View, WritError, declare, pointer_of

__all__ = ["Answer", "LeftOut", "Verifier", "WritError"]

_USES = {"fresh": 1, "spent": 2}
_Use = CFUNCTYPE(c_int, c_void_p, View, c_int64)


class _CallOf(Structure):
    _fields_ = [
        *[(name, View) for name in ("tool", "arguments", "params_hash", "audience", "issuer", "agent_id", "tenant",
                                    "target_state_digest", "typ")],
        *[(name, c_bool) for name in ("any_issuer", "any_agent", "any_tenant", "any_target_state", "any_arguments")],
        ("now_s", c_int64), ("skew_s", c_int64), ("lifetime_max_s", c_int64), ("use", _Use), ("ctx", c_void_p),
    ]


_CLAIMS = ("jti", "issuer", "agent_id", "tenant", "subject", "params_hash", "target_state_digest",
           "normalized_scope", "idempotency_key", "boundary_id")


class _AnswerOf(Structure):
    _fields_ = [
        ("ok", c_bool), ("reason", c_char_p), ("sentence", c_char_p), ("hint", c_char_p),
        *[(name, View) for name in _CLAIMS],
        ("issued_at_s", c_int64), ("expires_at_s", c_int64), ("memory", c_void_p),
    ]


_new = declare("writ_verify_new", Result, POINTER(c_void_p), POINTER(Err))
_free = declare("writ_verify_free", None, c_void_p)
_keys = declare("writ_verify_keys", Result, c_void_p, View, POINTER(Err))
_pin = declare("writ_verify_pin", Result, c_void_p, View, POINTER(Err))
_status = declare("writ_verify_status", Result, c_void_p, View, POINTER(Err))
_left_out = declare("writ_verify_left_out", c_size_t, c_void_p, POINTER(c_char_p))
_credential = declare("writ_verify_credential", Result, c_void_p, View, POINTER(_CallOf), POINTER(_AnswerOf),
                      POINTER(Err))
_wipe = declare("writ_verify_wipe", None, POINTER(_AnswerOf))


class Answer(NamedTuple):
    """The answer about a credential. The claims are those of a good one, else None."""

    ok: bool
    reason: str
    sentence: str
    hint: str
    jti: Optional[str] = None
    issuer: Optional[str] = None
    agent_id: Optional[str] = None
    tenant: Optional[str] = None
    subject: Optional[str] = None
    params_hash: Optional[str] = None
    target_state_digest: Optional[str] = None
    normalized_scope: Optional[str] = None
    idempotency_key: Optional[str] = None
    boundary_id: Optional[str] = None
    issued_at_s: Optional[int] = None
    expires_at_s: Optional[int] = None


class LeftOut(NamedTuple):
    """The number of keys that cannot be used, and the reason for the first."""

    count: int
    why: str


def _check(result: Result, err: Err) -> None:
    if result.code != OK:
        raise WritError(CODES[result.code], "none", err.text.decode("utf-8", "replace"), err.offset)


def _seconds(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} is not an int")
    if abs(value) > 1 << 53:
        raise ValueError(f"{what} is out of range")
    return value


class Verifier(Owned):
    """The keys of a gateway, and the check of credentials by them."""

    def __init__(self) -> None:
        verify, err = c_void_p(), Err()
        _check(_new(byref(verify), byref(err)), err)
        self._lock = threading.Lock()  # of the next
        self._verifying = 0
        self._own(verify.value, _free)

    def _change(self, function: Callable[..., Result], text: str, what: str) -> None:
        pointer = pointer_of(self, Verifier)
        if text is None:
            raise TypeError(f"{what} is not a str")
        with self._lock, Call() as call:  # no callback runs meanwhile
            if self._verifying > 0:
                raise WritError("busy", "busy", "the verifier is verifying: change its keys after that")
            err = Err()
            _check(function(pointer, call.view(text, what), byref(err)), err)

    def keys(self, jwks: str) -> None:
        """Takes a key set in place of the previous one; on failure that one stays."""
        self._change(_keys, jwks, "the key set")

    def pin(self, trusted: str) -> None:
        """Keeps only keys of an earlier trusted set, and those that they lead to."""
        self._change(_pin, trusted, "the trusted set")

    def status(self, token: str = "") -> None:
        """Takes the list of revoked credentials; from then on a credential needs a place in it."""
        self._change(_status, token, "the status list")

    def left_out(self) -> LeftOut:
        why = c_char_p()
        count = _left_out(pointer_of(self, Verifier), byref(why))
        return LeftOut(count, (why.value or b"").decode())

    def credential(
        self,
        token: str,
        *,
        tool: str,
        audience: str,
        arguments: str = "",
        params_hash: str = "",
        issuer: str = "",
        agent_id: str = "",
        tenant: str = "",
        target_state_digest: str = "",
        typ: str = "",
        any_issuer: bool = False,
        any_agent: bool = False,
        any_tenant: bool = False,
        any_target_state: bool = False,
        any_arguments: bool = False,
        now_s: Optional[int] = None,
        skew_s: int = 0,
        lifetime_max_s: int = 0,
        use: Optional[Callable[[str, int], str]] = None,
    ) -> Answer:
        """Verifies a credential for a call. use(jti, until_s) remembers a jti in one atomic step and
        returns "fresh" or "spent"; anything else, and an error of it, refuses."""
        handle = pointer_of(self, Verifier)
        if use is not None and not callable(use):
            raise TypeError("use is not callable")
        flags = dict(any_issuer=any_issuer, any_agent=any_agent, any_tenant=any_tenant,
                     any_target_state=any_target_state, any_arguments=any_arguments)
        owner = self._handle
        assert owner is not None
        with self._lock:
            owner.retain()  # `use` may close the verifier
            self._verifying += 1
        answer = _AnswerOf()
        try:
            with Call() as call:
                made = _CallOf(
                    **{name: call.view(text, name) for name, text in dict(
                        tool=tool, arguments=arguments, params_hash=params_hash, audience=audience, issuer=issuer,
                        agent_id=agent_id, tenant=tenant, target_state_digest=target_state_digest, typ=typ).items()},
                    **{name: flag is True for name, flag in flags.items()},
                    now_s=int(time.time()) if now_s is None else _seconds(now_s, "now_s"),
                    skew_s=_seconds(skew_s, "skew_s"), lifetime_max_s=_seconds(lifetime_max_s, "lifetime_max_s"))
                if use is not None:
                    made.use = call.keep(_Use(lambda ctx, jti, until: call.back(
                        0, lambda: _USES.get(use(jti.text() or "", until), 0))))
                err = Err()
                _check(_credential(handle, call.view(token, "the token"), byref(made), byref(answer), byref(err)), err)
                return _read(answer)
        finally:
            _wipe(byref(answer))
            with self._lock:
                self._verifying -= 1
            owner.release()


def _read(answer: _AnswerOf) -> Answer:
    said = Answer(answer.ok, answer.reason.decode(), answer.sentence.decode(), answer.hint.decode())
    if not answer.ok:
        return said
    return said._replace(issued_at_s=answer.issued_at_s, expires_at_s=answer.expires_at_s,
                         **{name: getattr(answer, name).text() for name in _CLAIMS})
