"""Governs the tool calls of a Python framework by a Writ gateway (docs/hooks.md).

Standard library only. `WritHooks` has the two hooks that CrewAI calls around a tool, and that other
frameworks call by other names:

    hooks = WritHooks("http://127.0.0.1:8700", token, framework="crew", run="run-17")

    from crewai.hooks import register_after_tool_call_hook, register_before_tool_call_hook
    register_before_tool_call_hook(hooks.before_tool_call)
    register_after_tool_call_hook(hooks.after_tool_call)

Everything fails closed: a call that was not bound, for whatever reason, is not made.
"""

import json
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

ANSWER_MAX = 16 << 20


class Problem(Exception):
    """The gateway could not answer, or refused the request as malformed (RFC 9457)."""

    def __init__(self, reason, text):
        super().__init__(text)
        self.reason = reason


class Gateway:
    """The hook API, request by request."""

    def __init__(self, url, token, timeout=30):
        self._url, self._token, self._timeout = url.rstrip("/"), token, timeout
        # no proxies, whatever the environment says: only the gateway may get the token
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(self, deed, question):
        body = json.dumps(question, ensure_ascii=False, allow_nan=False).encode()
        request = urllib.request.Request(
            f"{self._url}/v1/{deed}",
            body,
            {"Content-Type": "application/json", "Authorization": f"Bearer {self._token}"},
        )
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return json.loads(answer.read(ANSWER_MAX))
        except urllib.error.HTTPError as error:
            try:
                problem = json.loads(error.read(ANSWER_MAX))
                reason, title = str(problem["reason"]), str(problem["title"])
            except (ValueError, KeyError, TypeError):
                reason, title = "unavailable", f"HTTP {error.code}"
            raise Problem(reason, title) from error
        except (OSError, ValueError) as error:
            raise Problem("unavailable", f"the gateway did not answer: {error}") from error


class Refused(Exception):
    """The call must not be made; `reason` is a name of docs/reasons.md."""

    def __init__(self, reason, text, answer=None):
        super().__init__(text)
        self.reason, self.answer = reason, answer


class WritHooks:
    """The hooks around tool calls, and `call` for frameworks without hooks."""

    def __init__(self, url, token, framework, run=None, wait=0, tell=None):
        """run: boundary_id of all calls. wait: seconds to wait for an approval. tell: the
        function that gets a line for people; standard error when left out."""
        self._gateway = Gateway(url, token)
        self._framework, self._wait = framework, wait
        self.run = run or f"run-{uuid.uuid4()}"
        self._tell = tell or (lambda line: print(line, file=sys.stderr))
        self._lock = threading.Lock()
        self._bound = {}  # bound calls without an outcome: tool and input -> decisions

    # ---- before, bind, after

    def authorize(self, tool, arguments, key=None):
        """Requests a decision and binds it. Returns the decision, or raises Refused or Problem."""
        candidate = {
            "tool": f"{self._framework}/{tool}",
            "arguments": arguments,
            "boundary_id": self.run,
        }
        if key is not None:
            candidate["idempotency_key"] = key
        until = time.monotonic() + self._wait
        while True:
            answer = self._gateway.ask("before", candidate)
            if answer.get("verdict") == "allow":
                break
            left = until - time.monotonic()
            if answer.get("reason") != "approval_required" or left <= 0:
                raise Refused(
                    str(answer.get("reason")), str(answer.get("message")), answer
                )
            time.sleep(min(left, answer.get("retry_after_ms", 1000) / 1000))
        binding = self._gateway.ask(
            "bind",
            {
                "authorization": answer["decision"],
                "tool": candidate["tool"],
                "arguments": arguments,
            },
        )
        if binding.get("verdict") != "allow":
            raise Refused(str(binding.get("reason")), str(binding.get("message")), binding)
        return answer["decision"]

    def tell(self, decision, outcome, **more):
        """Reports the outcome of a bound call. A lost report is sent again: the gateway takes it
        once."""
        told = {
            "decision_id": decision["decision_id"],
            "intent_ref": decision["intent_ref"],
            "outcome": outcome,
            **more,
        }
        for pause in (0.2, 1, None):
            try:
                return self._gateway.ask("after", told)
            except Problem as problem:
                if problem.reason == "duplicate_outcome":
                    return {}
                if pause is None or problem.reason not in (
                    "unavailable",
                    "overloaded",
                    "ledger_unavailable",
                ):
                    raise
                time.sleep(pause)

    def call(self, tool, function, arguments, key=None):
        """Makes a call: authorize, function(**arguments), tell. Returns the part of its
        result that may be used."""
        decision = self.authorize(tool, arguments, key)
        try:
            result = function(**arguments)
        except Exception as error:
            self.tell(decision, "error", error_type=type(error).__name__)
            raise
        return self._usable(self.tell(decision, "executed", result=as_result(result)), result)

    def seal(self):
        """Ends the run."""
        return self._gateway.ask("seal", {"boundary_id": self.run})

    @staticmethod
    def _usable(answer, result):
        if "withheld" in answer:
            return f"The result is withheld: {answer['withheld']}."
        if "result" in answer:
            return "\n".join(
                part.get("text", "") for part in answer["result"].get("content", [])
            )
        return result

    # ---- the hooks of CrewAI: context has tool_name, tool_input, tool_result

    @staticmethod
    def _name(context):
        return context.tool_name, json.dumps(context.tool_input, sort_keys=True, default=str)

    def before_tool_call(self, context):
        """False: the call is not made. It never raises: a failing hook would let the call run."""
        try:
            decision = self.authorize(context.tool_name, dict(context.tool_input))
        except (Refused, Problem) as refused:
            self._tell(f"writ: {context.tool_name}: {refused.reason}: {refused}")
            return False
        except Exception as error:  # pylint: disable=broad-except
            self._tell(f"writ: {context.tool_name}: {error}")
            return False
        with self._lock:
            self._bound.setdefault(self._name(context), []).append(decision)
        return None

    def after_tool_call(self, context):
        """Reports the outcome; returns the result that replaces the tool's, or None. CrewAI calls it
        for blocked calls too, which have nothing to report."""
        with self._lock:
            decisions = self._bound.get(self._name(context), [])
            decision = decisions.pop() if decisions else None
            if not decisions:
                self._bound.pop(self._name(context), None)
        if decision is None:
            return None
        try:
            answer = self.tell(decision, "executed", result=as_result(context.tool_result))
        except Exception as error:  # pylint: disable=broad-except
            self._tell(f"writ: {context.tool_name}: the outcome could not be told: {error}")
            return "The result is withheld: its outcome could not be recorded."
        usable = self._usable(answer, context.tool_result)
        return None if usable is context.tool_result else usable


def as_result(value):
    """A result in MCP's form, which rules for results apply to."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return {"content": [{"type": "text", "text": text}]}
