"""writ/crew.h: a deterministic crew machine: roles and agents, phases, votes, nested crews.

A crew is a synchronous state machine: events go in, events come out. Values and events are JSON texts
(str); what comes out is canonical, byte for byte the same in C, JavaScript and Python. None is absent,
which is not null ("null").

    graph = Graph(Shape(shape_text), Agents(agents_text))
    session = Session("run-1", graph)
    for event in session.start('"input"'): ...
    for event in session.deliver(answer): ...
"""

from __future__ import annotations

import threading
import time
from ctypes import (CFUNCTYPE, POINTER, PYFUNCTYPE, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int,
                    c_size_t, c_uint32, c_void_p, cast, memmove, sizeof, string_at)
from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._library import (CODES, OK, Call, CrewErr, Finding, Handle, Owned, Result, Text, View, WritError, choice,
                       declare, finite, handle_of, lib, natural, pointer_of)

__all__ = [
    "Agent", "Agents", "Ballot", "Control", "Delivery", "Election", "Engines", "Entry", "Finding", "Graph", "HookCall",
    "Lint", "Memory", "Pool", "Session", "Shape", "Verdict", "WritError", "canonical", "correlation", "dispatch", "elect",
    "hash_text", "parse_ranking", "prompt", "vote",
]

LIMITS = ("text_bytes", "event_bytes", "snapshot_bytes", "crew_roles", "role_agents", "crew_agents", "nesting",
          "phase_fixers", "action_recursion")
ACTIONS = ("talk_to", "delegate_to", "escalate_to")
REASONS = ("cancelled", "timeout", "undecided")
POLICIES = ("abort", "re-emit-request", "treat-as-failed")
STATUSES = ("idle", "awaiting_responses", "completed", "aborted")

# ---- structs of writ/crew.h


class _Limits(Structure):
    _fields_ = [(name, c_size_t) for name in LIMITS]


class _Finding(Structure):
    _fields_ = [("code", c_char_p), ("path", View)]


class _Registered(Structure):
    _fields_ = [("key", View), ("shape", c_void_p)]


class _Plan(Structure):
    _fields_ = [("shape", c_void_p), ("agents", c_void_p), ("registry", c_void_p), ("registry_n", c_size_t),
                ("engines", c_void_p), ("limits", POINTER(_Limits)), ("consensual", c_bool), ("consensus", View)]


class _Agent(Structure):
    _fields_ = [("id", View), ("role", View), ("nested", c_void_p)]


class _Entry(Structure):
    _fields_ = [("agent_id", View), ("role_id", View), ("output", View), ("fault", c_bool), ("stalled", c_bool)]


class _Verdict(Structure):
    _fields_ = [("resolved", c_bool), ("value", c_void_p), ("why", Text)]


class _Ranking(Structure):
    _fields_ = [("voter", View), ("list", POINTER(View)), ("n", c_size_t)]


class _Ballot(Structure):
    _fields_ = [("agent_id", View), ("role_id", View), ("output", View), ("ranking", POINTER(View)),
                ("ranking_n", c_size_t)]


class _Poll(Structure):
    _fields_ = [("ballots", POINTER(_Ballot)), ("ballots_n", c_size_t), ("candidates", POINTER(View)),
                ("candidates_n", c_size_t)]


class _Tally(Structure):
    pass


_Choose = PYFUNCTYPE(None, POINTER(_Tally), c_size_t)
_Explain = PYFUNCTYPE(None, POINTER(_Tally), c_char_p, c_char_p)  # of "%s" and one text
_Tally._fields_ = [("ballot", _Choose), ("candidate", _Choose), ("explain", c_void_p)]
_Count = CFUNCTYPE(c_int, POINTER(_Poll), POINTER(_Tally))


class _Engine(Structure):
    _fields_ = [("abi", c_uint32), ("name", c_char_p), ("about", c_char_p), ("count", _Count)]


class _Scope(Structure):
    _fields_ = [("agent_id", View), ("crew_id", View), ("role_id", View), ("view", View)]


class _MemoryOps(Structure):
    _fields_ = [
        ("retrieve", PYFUNCTYPE(c_int, c_void_p, POINTER(_Scope), View, POINTER(c_void_p))),
        ("apply", PYFUNCTYPE(c_int, c_void_p, POINTER(_Scope), View)),
        ("fork", c_void_p), ("import_", c_void_p),
        ("snapshot", PYFUNCTYPE(c_int, c_void_p, POINTER(c_void_p))),
        ("restore", c_void_p),
        ("free", PYFUNCTYPE(None, c_void_p)),
    ]


class _Memory(Structure):
    _fields_ = [("ops", POINTER(_MemoryOps)), ("self", c_void_p)]


class _Hook(Structure):
    _fields_ = [*[(name, View) for name in ("name", "stage", "crew_id", "role_id", "agent_id", "input", "output")],
                ("fault", c_int), ("stalled", c_int)]


_Now = CFUNCTYPE(c_double, c_void_p)
_CallHook = CFUNCTYPE(None, c_void_p, POINTER(_Hook), c_void_p)


class _Hooks(Structure):
    _fields_ = [("call", _CallHook), ("user", c_void_p)]


class _Options(Structure):
    _fields_ = [("crew_id", View), ("graph", c_void_p), ("now", _Now), ("user", c_void_p), ("hooks", POINTER(_Hooks)),
                ("memory", POINTER(_Memory)), ("limits", POINTER(_Limits)), ("has_default_timeout", c_bool),
                ("default_timeout_ms", c_double), ("auto_checkpoint", c_bool)]


_Take = CFUNCTYPE(None, c_void_p, View, View)


class _PoolReader(Structure):
    _fields_ = [("take", _Take), ("user", c_void_p)]


class _Events(Structure):
    _fields_ = [("list", POINTER(View)), ("n", c_size_t)]

    def texts(self) -> List[str]:
        return [self.list[at].text() or "" for at in range(self.n)]


class _Insight(Structure):
    _fields_ = [("agent_id", View), ("content", View), ("segment", View), ("metadata", View),
                ("tags", POINTER(View)), ("tags_n", c_size_t), ("importance", c_double), ("key", View)]


class _Filter(Structure):
    _fields_ = [("any_tags", POINTER(View)), ("all_tags", POINTER(View)), ("any_tags_n", c_size_t),
                ("all_tags_n", c_size_t), ("segment", View), ("agent_id", View), ("not_agent", View),
                ("has_least", c_bool), ("least_importance", c_double), ("limit", c_size_t)]


_P, _PP, _E, _L, _EV = c_void_p, POINTER(c_void_p), POINTER(CrewErr), POINTER(_Limits), POINTER(_Events)
_error_name = declare("writ_crew_error_name", c_char_p, c_int)
_findings_new = declare("writ_crew_findings_new", _P)
_findings_free = declare("writ_crew_findings_free", None, _P)
_findings_count = declare("writ_crew_findings_count", c_size_t, _P)
_findings_at = declare("writ_crew_findings_at", POINTER(_Finding), _P, c_size_t)
_shape_read = declare("writ_crew_shape_read", Result, View, _L, _P, _PP, _E)
_shape_free = declare("writ_crew_shape_free", None, _P)
_shape_name = declare("writ_crew_shape_name", View, _P)
_shape_lint = declare("writ_crew_shape_lint", Result, _P, _P, _P, _P)
_agents_read = declare("writ_crew_agents_read", Result, View, _L, _P, _PP, _E)
_agents_free = declare("writ_crew_agents_free", None, _P)
_graph_build = declare("writ_crew_graph_build", Result, POINTER(_Plan), _PP, _E)
_graph_free = declare("writ_crew_graph_free", None, _P)
_graph_name = declare("writ_crew_graph_name", View, _P)
_graph_count = declare("writ_crew_graph_count", c_size_t, _P)
_graph_agent = declare("writ_crew_graph_agent", _Agent, _P, c_size_t)
_graph_allows = declare("writ_crew_graph_allows", c_bool, _P, View, View, c_int)
_value_read = declare("writ_crew_value_read", Result, View, _L, _PP, _E)
_value_free = declare("writ_crew_value_free", None, _P)
_value_text = declare("writ_crew_value_text", View, _P)
_hash = declare("writ_crew_hash", None, View, c_char * 16)
_correlation = declare("writ_crew_correlation", Result, View, View, View, c_double, c_char * 16)
_text_wipe = declare("writ_crew_text_wipe", None, POINTER(Text))
_voting_read = declare("writ_crew_voting_read", Result, View, _P, _PP, _E)
_voting_free = declare("writ_crew_voting_free", None, _P)
_verdict_wipe = declare("writ_crew_verdict_wipe", None, POINTER(_Verdict))
_vote = declare("writ_crew_vote", Result, _P, _P, POINTER(_Entry), c_size_t, c_size_t, POINTER(_Verdict), _E)
_engines_new = declare("writ_crew_engines_new", _P)
_engines_free = declare("writ_crew_engines_free", None, _P)
_engines_add = declare("writ_crew_engines_add", Result, _P, POINTER(_Engine), POINTER(c_bool), _E)
_elect = declare("writ_crew_elect", Result, View, _P, POINTER(View), c_size_t, POINTER(_Ranking), c_size_t,
                 POINTER(c_size_t), POINTER(Text), _E)
_prompt = declare("writ_crew_prompt", Result, View, POINTER(View), c_size_t, POINTER(Text))
_prompt_parse = declare("writ_crew_prompt_parse", Result, View, POINTER(View), c_size_t, POINTER(c_size_t))
_dispatch = declare("writ_crew_dispatch", Result, POINTER(View), POINTER(View), c_size_t, View, _P, POINTER(c_size_t),
                    POINTER(Text), _E)
_memory_new = declare("writ_crew_memory_new", Result, View, POINTER(_Memory))
_checkpoint = declare("writ_crew_control_checkpoint", None, _P, View)
_control_request = declare("writ_crew_control_request", c_bool, _P, View, View, c_int)
_session_new = declare("writ_crew_session_new", Result, POINTER(_Options), _PP, _E)
_session_free = declare("writ_crew_session_free", None, _P)
_session_status = declare("writ_crew_session_status", c_int, _P)
_session_start = declare("writ_crew_session_start", Result, _P, View, View, _EV, _E)
_session_deliver = declare("writ_crew_session_deliver", Result, _P, View, _EV, _E)
_session_tick = declare("writ_crew_session_tick", Result, _P, c_double, _EV, _E)
_session_cancel = declare("writ_crew_session_cancel", Result, _P, c_int, _EV, _E)
_session_request = declare("writ_crew_session_request", Result, _P, View, View, c_int, POINTER(c_bool), _EV, _E)
_session_act = declare("writ_crew_session_act", Result, _P, View, View, c_int, POINTER(c_bool), _EV, _E)
_session_pending = declare("writ_crew_session_pending", Result, _P, _EV, _E)
_session_snapshot = declare("writ_crew_session_snapshot", Result, _P, _PP, _E)
_session_resume = declare("writ_crew_session_resume", Result, POINTER(_Options), View, POINTER(View), c_size_t, c_int,
                          _PP, _EV, _E)
_pool_new = declare("writ_crew_pool_new", _P, c_size_t)
_pool_free = declare("writ_crew_pool_free", None, _P)
_pool_add = declare("writ_crew_pool_add", Result, _P, POINTER(_Insight), _E)
_pool_read = declare("writ_crew_pool_read", Result, _P, POINTER(_Filter), _PP)
_pool_request = declare("writ_crew_pool_request", Result, _P, View, View, POINTER(_PoolReader), _PP, _E)
_pool_statistics = declare("writ_crew_pool_statistics", Result, _P, _PP)
_limits_default = _Limits.in_dll(lib, "writ_crew_limits_default")

# ---- results


class _Findings:
    """Findings, while a call runs."""

    def __enter__(self) -> "_Findings":
        self.pointer = _findings_new()
        if not self.pointer:
            raise WritError("no_memory", "no_memory", "no memory")
        return self

    def __exit__(self, *unused: Any) -> None:
        _findings_free(self.pointer)

    def list(self) -> List[Finding]:
        found = [_findings_at(self.pointer, at).contents for at in range(_findings_count(self.pointer))]
        return [Finding(one.code.decode(), one.path.text() or "") for one in found]


def _check(code: Any, err: Optional[CrewErr] = None, findings: Optional[_Findings] = None) -> None:
    number = code if isinstance(code, int) else code.code
    if number == OK:
        return
    reason = "none" if err is None else _error_name(err.error).decode()
    text = "" if err is None else err.err.text.decode("utf-8", "replace")
    raise WritError(CODES[number], reason, text, 0 if err is None else err.err.offset,
                    findings.list() if findings is not None else ())


def _take_value(value: c_void_p) -> Optional[str]:
    try:
        return _value_text(value).text() if value else None
    finally:
        _value_free(value)


def _take_text(text: Text) -> str:
    try:
        return string_at(text.ptr, text.len).decode("utf-8") if text.ptr else ""
    finally:
        _text_wipe(byref(text))


def _limits(limits: Optional[Mapping[str, int]]) -> _Limits:
    made = _Limits()
    memmove(byref(made), byref(_limits_default), sizeof(made))
    for name, value in (limits or {}).items():
        setattr(made, LIMITS[choice(name, LIMITS, "a limit")], natural(value, name))
    return made


def _optional(engines: Optional["Engines"]) -> Any:
    return None if engines is None else pointer_of(engines, Engines)


# ---- shapes, agents, graphs


class Lint(NamedTuple):
    errors: List[Finding]
    warnings: List[Finding]


class _File(Owned):
    def _read(self, json: str, limits: Optional[Mapping[str, int]], read: Any, free: Any) -> None:
        if json is None:
            raise TypeError("no text")
        with Call() as call, _Findings() as findings:
            ret, err = c_void_p(), CrewErr()
            _check(read(call.view(json, "the file"), byref(_limits(limits)), findings.pointer, byref(ret), byref(err)),
                   err, findings)
            self._own(ret.value, free)


class Shape(_File):
    """The roles of a crew. Errors have `findings`, each with a JSON Pointer."""

    def __init__(self, json: str, *, limits: Optional[Mapping[str, int]] = None) -> None:
        self._read(json, limits, _shape_read, _shape_free)

    @property
    def name(self) -> str:
        return _shape_name(pointer_of(self, Shape)).text() or ""

    def lint(self, *, engines: Optional["Engines"] = None) -> Lint:
        """Mistakes in a well-formed shape."""
        with _Findings() as errors, _Findings() as warnings:
            _check(_shape_lint(pointer_of(self, Shape), _optional(engines), errors.pointer, warnings.pointer))
            return Lint(errors.list(), warnings.list())


class Agents(_File):
    """An agents file."""

    def __init__(self, json: str, *, limits: Optional[Mapping[str, int]] = None) -> None:
        self._read(json, limits, _agents_read, _agents_free)


class Agent(NamedTuple):
    id: str
    role: str
    nested: Optional[Tuple[str, List["Agent"]]] = None  # name and agents of a nested crew


def _agents_of(graph: Any) -> List[Agent]:
    found = [_graph_agent(graph, at) for at in range(_graph_count(graph))]
    return [Agent(one.id.text() or "", one.role.text() or "",
                  (_graph_name(one.nested).text() or "", _agents_of(one.nested)) if one.nested else None)
            for one in found]


class Graph(Owned):
    """The agents of a crew, nested crews included."""

    def __init__(self, shape: Shape, agents: Agents, *, registry: Optional[Mapping[str, Shape]] = None,
                 engines: Optional["Engines"] = None, limits: Optional[Mapping[str, int]] = None,
                 consensual: bool = False, consensus: Optional[str] = None) -> None:
        """consensual: the agents elect who does the task, whatever the shape says. consensus: the engine that elects;
        None: as the shape says."""
        borrowed = [handle_of(shape, Shape)]
        nested = [(key, handle_of(one, Shape)) for key, one in (registry or {}).items()]
        if engines is not None:
            borrowed.append(handle_of(engines, Engines))
        with Call() as call:
            rows = call.keep((_Registered * len(nested))(
                *[_Registered(call.view(key, "a key of the registry"), one.pointer) for key, one in nested]))
            ret, err, bounds = c_void_p(), CrewErr(), _limits(limits)
            plan = _Plan(borrowed[0].pointer, pointer_of(agents, Agents), cast(rows, c_void_p), len(nested),
                         _optional(engines), POINTER(_Limits)(bounds), consensual is True,
                         call.view(consensus, "consensus"))
            _check(_graph_build(byref(plan), byref(ret), byref(err)), err)
            self._own(ret.value, _graph_free, borrowed + [one for _, one in nested])

    @property
    def name(self) -> str:
        return _graph_name(pointer_of(self, Graph)).text() or ""

    @property
    def agents(self) -> List[Agent]:
        return _agents_of(pointer_of(self, Graph))

    def allows(self, source: str, to: str, action: str) -> bool:
        with Call() as call:
            return bool(_graph_allows(pointer_of(self, Graph), call.view(source), call.view(to),
                                      choice(action, ACTIONS, "the action")))


# ---- values


def canonical(json: str, *, limits: Optional[Mapping[str, int]] = None) -> str:
    """The canonical form of a JSON text."""
    with Call() as call:
        ret, err = c_void_p(), CrewErr()
        _check(_value_read(call.view(json, "the value"), byref(_limits(limits)), byref(ret), byref(err)), err)
        return _take_value(ret) or ""


def hash_text(text: str) -> str:
    """FNV-1a over the UTF-16 code units, as 16 hex digits."""
    with Call() as call:
        ret = (c_char * 16)()
        _hash(call.view(text), ret)
        return ret.raw.decode()


def correlation(crew_id: str, role_id: str, agent_id: str, attempt: float) -> str:
    """The correlation id of a request."""
    with Call() as call:
        ret = (c_char * 16)()
        _check(_correlation(call.view(crew_id), call.view(role_id), call.view(agent_id),
                            finite(attempt, "attempt"), ret))
        return ret.raw.decode()


# ---- voting


class Entry(NamedTuple):
    """The answer of an agent. output: a JSON text, or None."""

    agent_id: str
    output: Optional[str] = None
    role_id: str = ""
    fault: bool = False
    stalled: bool = False


class Verdict(NamedTuple):
    resolved: bool
    value: Optional[str]  # with `resolved`, None: the absent output won
    why: str


class Ballot(NamedTuple):
    agent_id: str
    role_id: str
    output: Optional[str]
    ranking: Optional[List[str]]


class Election(NamedTuple):
    index: int
    winner: str
    why: str


_running = threading.local()  # calls: of this thread that run and may count, the innermost last


class _Counting(Call):
    """A call in which engines of Python may be called."""

    def __enter__(self) -> "_Counting":
        _running.calls = [*getattr(_running, "calls", []), self]
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        _running.calls = _running.calls[:-1]
        super().__exit__(kind, error, trace)


def _texts(views: Any, n: int) -> List[str]:
    return [views[at].text() or "" for at in range(n)]


def _counter(count: Callable[..., Any]) -> Any:
    """The engine's function of C over that of Python."""

    def run(poll_at: Any, tally: Any) -> int:
        poll = poll_at.contents
        ballots = [Ballot(one.agent_id.text() or "", one.role_id.text() or "", one.output.text(),
                          _texts(one.ranking, one.ranking_n) if one.ranking else None)
                   for one in poll.ballots[:poll.ballots_n]]
        candidates = _texts(poll.candidates, poll.candidates_n)
        explain = _Explain(tally.contents.explain)

        def tell(line: str) -> None:
            explain(tally, b"%s", str(line).replace("\0", "\ufffd").encode("utf-8", "replace"))

        chosen = count(ballots, candidates, tell)
        if chosen is None:
            return 0
        kind, at = chosen
        if kind == "refuse":
            return 1
        among = {"ballot": ballots, "candidate": candidates}[kind]
        if not natural(at, kind) < len(among):
            raise ValueError(f"the engine chose a {kind} that is not there")
        getattr(tally.contents, kind)(tally, at)
        return 0

    return _Count(lambda poll, tally: _running.calls[-1].back(1, lambda: run(poll, tally)))


class Engines(Owned):
    """Voting engines by name: the built-in ones, and functions of Python."""

    def __init__(self) -> None:
        pointer = _engines_new()
        if not pointer:
            raise WritError("no_memory", "no_memory", "no memory")
        kept: List[Any] = []
        self._kept = kept

        def free(at: Any) -> None:
            _engines_free(at)
            kept.clear()

        self._own(pointer, free)

    def add(self, name: str, count: Callable[[List[Ballot], List[str], Callable[[str], None]], Any],
            about: str = "") -> bool:
        """Adds an engine; True when it replaces one of that name. count(ballots, candidates, explain)
        returns ("ballot", n), ("candidate", n), ("refuse", 0), or None for no value."""
        if not callable(count):
            raise TypeError("count is not callable")
        if not isinstance(name, str) or not isinstance(about, str) or "\0" in name + about:
            raise TypeError("name or about is not a str without U+0000")
        replaced, err = c_bool(), CrewErr()
        engine = _Engine(1, name.encode("utf-8", "replace"), about.encode("utf-8", "replace"), _counter(count))
        _check(_engines_add(pointer_of(self, Engines), byref(engine), byref(replaced), byref(err)), err)
        self._kept.append(engine)
        return bool(replaced)


def vote(voting: str, entries: Sequence[Entry], *, electorate: Optional[int] = None,
         engines: Optional[Engines] = None) -> Verdict:
    """Counts a vote. voting: JSON, an object or the name of a mode in quotes."""
    outputs = [None if entry.output is None else canonical(entry.output) for entry in entries]
    with _Counting() as call, _Findings() as faults:
        rows = (_Entry * len(entries))(*[
            _Entry(call.view(entry.agent_id), call.view(entry.role_id), call.view(output), bool(entry.fault),
                   bool(entry.stalled)) for entry, output in zip(entries, outputs)])
        ret, err, verdict = c_void_p(), CrewErr(), _Verdict()
        _check(_voting_read(call.view(voting, "voting"), faults.pointer, byref(ret), byref(err)), err, faults)
        try:
            _check(_vote(ret, _optional(engines), rows, len(entries),
                         len(entries) if electorate is None else natural(electorate, "electorate"), byref(verdict),
                         byref(err)), err)
            value = _value_text(verdict.value).text() if verdict.value else None
            why = string_at(verdict.why.ptr, verdict.why.len).decode("utf-8") if verdict.why.ptr else ""
            return Verdict(verdict.resolved, value, why)
        finally:
            _verdict_wipe(byref(verdict))
            _voting_free(ret)


def elect(engine: str, candidates: Sequence[str], rankings: Sequence[Tuple[str, Sequence[str]]], *,
          engines: Optional[Engines] = None) -> Election:
    """Elects one of the candidates by rankings, each (voter, best first)."""
    with _Counting() as call:
        rows = (_Ranking * len(rankings))(*[
            _Ranking(call.view(voter), cast(call.views(ranking), POINTER(View)), len(ranking))
            for voter, ranking in rankings])
        ret, why, err = c_size_t(), Text(), CrewErr()
        _check(_elect(call.view(engine), _optional(engines), call.views(candidates), len(candidates), rows,
                      len(rankings), byref(ret), byref(why), byref(err)), err)
        return Election(ret.value, candidates[ret.value], _take_text(why))


def prompt(description: str, options: Sequence[str]) -> str:
    """The prompt that asks for a ranking of the options for a task."""
    with Call() as call:
        ret = Text()
        _check(_prompt(call.view(description), call.views(options), len(options), byref(ret)))
        return _take_text(ret)


def parse_ranking(answer: str, options: Sequence[str]) -> List[int]:
    """The ranking of an answer: indexes of options, best first."""
    with Call() as call:
        ret = (c_size_t * len(options))()
        _check(_prompt_parse(call.view(answer), call.views(options), len(options), ret))
        return list(ret)


def dispatch(roles: Sequence[str], answers: Sequence[Optional[str]], engine: str = "", *,
             engines: Optional[Engines] = None) -> Election:
    """Chooses the handler of a task by the agents' answers to the prompt. None: an agent failed."""
    if len(roles) != len(answers):
        raise ValueError("one answer for each role")
    with _Counting() as call:
        ret, why, err = c_size_t(), Text(), CrewErr()
        _check(_dispatch(call.views(roles), call.views(answers), len(roles), call.view(engine), _optional(engines),
                         byref(ret), byref(why), byref(err)), err)
        return Election(ret.value, roles[ret.value], _take_text(why))


# ---- memory


class Memory(Owned):
    """The reference memory of a crew."""

    def __init__(self, crew_id: str) -> None:
        with Call() as call:
            made = _Memory()
            _check(_memory_new(call.view(crew_id, "crew_id"), byref(made)))
            self._own(made, lambda memory: memory.ops.contents.free(memory.self))

    def apply(self, agent_id: str, crew_id: str, role_id: str, command: str) -> None:
        text = canonical(command)
        with Call() as call:
            memory = pointer_of(self, Memory)
            scope = _Scope(call.view(agent_id), call.view(crew_id), call.view(role_id), View())
            _check(memory.ops.contents.apply(memory.self, byref(scope), call.view(text)))

    def retrieve(self, agent_id: str, crew_id: str, role_id: str, view: str = "self",
                 options: Optional[str] = None) -> Optional[str]:
        text = None if options is None else canonical(options)
        with Call() as call:
            memory, ret = pointer_of(self, Memory), c_void_p()
            scope = _Scope(call.view(agent_id), call.view(crew_id), call.view(role_id), call.view(view))
            _check(memory.ops.contents.retrieve(memory.self, byref(scope), call.view(text), byref(ret)))
            return _take_value(ret)

    def snapshot(self) -> str:
        memory, ret = pointer_of(self, Memory), c_void_p()
        _check(memory.ops.contents.snapshot(memory.self, byref(ret)))
        return _take_value(ret) or ""


class Delivery(NamedTuple):
    """An insight for an agent that subscribed to it."""

    agent_id: str
    insight: str


class Pool(Owned):
    """Insights that agents share."""

    def __init__(self, most: int) -> None:
        pointer = _pool_new(natural(most, "most"))
        if not pointer:
            raise WritError("no_memory", "no_memory", "no memory")
        self._own(pointer, _pool_free)

    def add(self, agent_id: str, content: str, *, segment: str = "", metadata: Optional[str] = None,
            tags: Sequence[str] = (), importance: float = 0) -> None:
        with Call() as call:
            err = CrewErr()
            insight = _Insight(call.view(agent_id), call.view(content), call.view(segment), call.view(metadata),
                               cast(call.views(tags), POINTER(View)), len(tags), finite(importance, "importance"))
            _check(_pool_add(pointer_of(self, Pool), byref(insight), byref(err)), err)

    def read(self, *, any_tags: Sequence[str] = (), all_tags: Sequence[str] = (), segment: Optional[str] = None,
             agent_id: Optional[str] = None, not_agent: Optional[str] = None,
             least_importance: Optional[float] = None, limit: int = 0) -> str:
        with Call() as call:
            ret = c_void_p()
            least = None if least_importance is None else finite(least_importance, "least_importance")
            wanted = _Filter(cast(call.views(any_tags), POINTER(View)), cast(call.views(all_tags), POINTER(View)),
                             len(any_tags), len(all_tags), call.view(segment), call.view(agent_id),
                             call.view(not_agent), least is not None, least or 0.0, natural(limit, "limit"))
            _check(_pool_read(pointer_of(self, Pool), byref(wanted), byref(ret)))
            return _take_value(ret) or ""

    def request(self, agent_id: str, request: str) -> Tuple[str, List[Delivery]]:
        """Does what an agent requests in JSON: {"type": "pool.put", ...}. Gives the answer, and what a put adds, for
        each other agent that subscribed. The caller has authenticated the agent."""
        taken: List[Delivery] = []

        def take(_: Any, agent: View, insight: View) -> None:
            taken.append(Delivery(agent.text() or "", insight.text() or ""))

        with Call() as call:
            ret, err, reader = c_void_p(), CrewErr(), _PoolReader(_Take(take), None)
            _check(_pool_request(pointer_of(self, Pool), call.view(agent_id, "agent_id"),
                                 call.view(request, "the request"), byref(reader), byref(ret), byref(err)), err)
            return _take_value(ret) or "", taken

    def statistics(self) -> str:
        ret = c_void_p()
        _check(_pool_statistics(pointer_of(self, Pool), byref(ret)))
        return _take_value(ret) or ""


# ---- sessions


class HookCall(NamedTuple):
    """The arguments of a hook; what is absent is None."""

    name: str
    stage: str
    crew_id: Optional[str]
    role_id: Optional[str]
    agent_id: Optional[str]
    input: Optional[str]
    output: Optional[str]
    fault: Optional[bool]
    stalled: Optional[bool]


class Control:
    """What a hook can do with its session, while it runs."""

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer

    def _open(self) -> Any:
        if self._pointer is None:
            raise WritError("invalid", "closed", "a control is valid during the call of its hook")
        return self._pointer

    def checkpoint(self, name: str) -> None:
        with Call() as call:
            _checkpoint(self._open(), call.view(name))

    def request(self, source: str, to: str, action: str) -> bool:
        with Call() as call:
            return bool(_control_request(self._open(), call.view(source), call.view(to),
                                         choice(action, ACTIONS, "the action")))


def _hook_call(hook: _Hook) -> HookCall:
    def flag(value: int) -> Optional[bool]:
        return None if value < 0 else value > 0

    return HookCall(hook.name.text() or "", hook.stage.text() or "", hook.crew_id.text(), hook.role_id.text(),
                    hook.agent_id.text(), hook.input.text(), hook.output.text(), flag(hook.fault), flag(hook.stalled))


class _State:
    """The callbacks of a session, and what the library borrows of them. It does not know the session."""

    def __init__(self, now: Callable[[], float], hooks: Optional[Callable[[HookCall, Control], Any]]) -> None:
        self.lock = threading.Lock()  # held by a call
        self.call: Optional[Call] = None
        self.broken = False
        self.now = _Now(lambda user: self.call.back(0.0, lambda: finite(now(), "now()")) if self.call else 0.0)
        self.hooks: Optional[_Hooks] = None
        if hooks is not None:
            self.hooks = _Hooks(_CallHook(lambda user, hook, control: self._hook(hooks, hook, control)), None)

    def _hook(self, hooks: Callable[[HookCall, Control], Any], hook: Any, pointer: Any) -> None:
        control = Control(pointer)
        try:
            if self.call is not None:
                self.call.back(None, lambda: hooks(_hook_call(hook.contents), control))
        finally:
            control._pointer = None


class Session(Owned):
    """One run of a crew. now: the clock, in milliseconds. hooks(call, control): one function, which
    selects by call.name. A callback that raises ends the call with its error, and the session cannot be
    used afterwards: resume from the last snapshot."""

    def __init__(self, crew_id: str, graph: Graph, *, now: Optional[Callable[[], float]] = None,
                 hooks: Optional[Callable[[HookCall, Control], Any]] = None, memory: Optional[Memory] = None,
                 limits: Optional[Mapping[str, int]] = None, default_timeout_ms: Optional[float] = None,
                 auto_checkpoint: bool = False, _resume: Optional[Tuple[str, Sequence[str], int]] = None) -> None:
        for callback in (now, hooks):
            if callback is not None and not callable(callback):
                raise TypeError("now or hooks is not callable")
        state = self._state = _State(now or (lambda: time.time() * 1000), hooks)
        borrowed = [handle_of(graph, Graph)]
        if memory is not None:
            borrowed.append(handle_of(memory, Memory))
        bounds = _limits(limits)
        with self._during() as call:
            options = _Options(
                call.view(crew_id, "crew_id"), borrowed[0].pointer, state.now, None,
                POINTER(_Hooks)(state.hooks) if state.hooks else None,
                POINTER(_Memory)(borrowed[1].pointer) if memory is not None else None, POINTER(_Limits)(bounds),
                default_timeout_ms is not None,
                0.0 if default_timeout_ms is None else finite(default_timeout_ms, "default_timeout_ms"),
                bool(auto_checkpoint))
            ret, err, events = c_void_p(), CrewErr(), _Events()
            if _resume is None:
                _check(_session_new(byref(options), byref(ret), byref(err)), err)
            else:
                snapshot, later, policy = _resume
                _check(_session_resume(byref(options), call.view(snapshot), call.views(later), len(later), policy,
                                       byref(ret), byref(events), byref(err)), err)
            kept = (state, bounds)  # borrowed by the library: they live as long as the session
            self._own((ret.value, kept), lambda pair: _session_free(pair[0]), borrowed)
            self._resumed = events.texts()

    @classmethod
    def resume(cls, crew_id: str, graph: Graph, snapshot: str, *, later: Sequence[str] = (), policy: str = "abort",
               **options: Any) -> Tuple["Session", List[str]]:
        """A session that continues from a snapshot, and the events of that."""
        session = cls(crew_id, graph, _resume=(snapshot, later, choice(policy, POLICIES, "the policy")), **options)
        return session, session._resumed

    def _during(self) -> "_During":
        return _During(self._state, self._handle)

    def _pointer(self) -> Any:
        return pointer_of(self, Session)[0]

    def _events(self, function: Any, *args: Any) -> List[str]:
        pointer = self._pointer()
        with self._during() as call:
            events, err = _Events(), CrewErr()
            made = [arg(call) if callable(arg) else arg for arg in args]
            _check(function(pointer, *made, byref(events), byref(err)), err)
            return events.texts()

    @property
    def status(self) -> str:
        return STATUSES[_session_status(self._pointer())]

    def start(self, input: Optional[str] = None, task: Optional[str] = None) -> List[str]:
        return self._events(_session_start, lambda c: c.view(input, "input"), lambda c: c.view(task, "task"))

    def deliver(self, event: str) -> List[str]:
        return self._events(_session_deliver, lambda c: c.view(event, "the event"))

    def tick(self, now: float) -> List[str]:
        return self._events(_session_tick, finite(now, "now"))

    def cancel(self, reason: str = "cancelled") -> List[str]:
        return self._events(_session_cancel, choice(reason, REASONS, "the reason"))

    def request(self, source: str, to: str, action: str) -> Tuple[bool, List[str]]:
        """Whether an agent may do something with another one, and the events of that."""
        allowed = c_bool()
        events = self._events(_session_request, lambda c: c.view(source), lambda c: c.view(to),
                              choice(action, ACTIONS, "the action"), byref(allowed))
        return bool(allowed), events

    def act(self, correlation_id: str, to: str, action: str) -> Tuple[bool, List[str]]:
        """As request, by the agent of an open step, in a nested crew too."""
        allowed = c_bool()
        events = self._events(_session_act, lambda c: c.view(correlation_id), lambda c: c.view(to),
                              choice(action, ACTIONS, "the action"), byref(allowed))
        return bool(allowed), events

    def pending(self) -> List[str]:
        """The requests without an answer."""
        return self._events(_session_pending)

    def snapshot(self) -> str:
        pointer = self._pointer()
        with self._during():
            ret, err = c_void_p(), CrewErr()
            _check(_session_snapshot(pointer, byref(ret), byref(err)), err)
            return _take_value(ret) or ""


class _During(_Counting):
    """One call with a session."""

    def __init__(self, state: _State, handle: Optional[Handle]) -> None:
        super().__init__()
        self._of, self._held = state, handle

    def __enter__(self) -> "_During":
        if not self._of.lock.acquire(blocking=False):
            raise WritError("busy", "busy", "the session is in a call: use the control of the hook")
        if self._of.broken:
            self._of.lock.release()
            raise WritError("invalid", "broken", "a callback failed in an earlier call: resume from the last snapshot")
        if self._held is not None:
            self._held.retain()  # a hook may close the session
        self._of.call = self
        super().__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._of.call = None
        self._of.broken = self._of.broken or self.thrown is not None
        self._of.lock.release()
        if self._held is not None:
            self._held.release()
        super().__exit__(kind, error, trace)
