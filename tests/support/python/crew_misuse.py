"""What misuse of the package for Python does: an exception each time, and the library goes on.

    crew_misuse.py PACKAGE SHAPE AGENTS

prints "done"."""

import gc
import json
import math
import sys

sys.path.insert(0, sys.argv[1])

from writ import WritError  # noqa: E402
from writ.crew import *  # noqa: E402,F403
from writ.verify import Verifier  # noqa: E402
SHAPE, AGENTS = sys.argv[2], sys.argv[3]
PLAIN = SHAPE.replace(',"execution":{"voting":{"mode":"engine:mine"}}', "")
def opened(shape=PLAIN, engines=None, **more):
    return Session("k", Graph(Shape(shape), Agents(AGENTS), engines=engines), **{"now": lambda: 0, **more})
def raises(kind, work, **members):
    try:
        work()
    except kind as error:
        for name, value in members.items():
            assert getattr(error, name) == value, (name, getattr(error, name))
        return error
    raise AssertionError("nothing was raised")
closed = Shape(SHAPE); closed.close()
values = [None, 0, -1, 1.5, math.nan, math.inf, 2**70, True, "", "x", "\0", "\ud800", "{}", "[]", "1e999", "[" * 5000,
          "x" * (1 << 21), b"bytes", [], {}, [[]], ["\udc00"], object(), lambda: 1, closed, Shape.__new__(Shape),
          Pool(1)]
session = opened()
calls = [
    Shape, Agents, lambda v: Graph(v, v), lambda v: Graph(Shape(PLAIN), Agents(AGENTS), registry=v),
    lambda v: Graph(Shape(PLAIN), Agents(AGENTS), registry={"k": v}), lambda v: Shape(PLAIN, limits=v),
    lambda v: Shape(PLAIN, limits={"text_bytes": v}), lambda v: Session(v, v), lambda v: opened(now=v, hooks=v),
    lambda v: opened(memory=v), lambda v: opened(default_timeout_ms=v), lambda v: session.start(v, v),
    session.deliver, session.tick, lambda v: session.request(v, v, v), lambda v: session.act(v, v, v),
    lambda v: session.cancel(v), canonical, lambda v: Pool(4).request(v, v),
    hash_text,
    lambda v: correlation(v, v, v, v), lambda v: vote(v, v), lambda v: vote('"majority"', [Entry(v, v)]),
    lambda v: elect(v, v, v), lambda v: elect("borda", ["a", "b"], [(v, v)]), lambda v: prompt(v, v),
    lambda v: parse_ranking(v, v), lambda v: dispatch(v, v, v), Pool,
    lambda v: Pool(4).add(v, v, tags=v, importance=v, metadata=v),
    lambda v: Pool(4).read(any_tags=v, limit=v, least_importance=v), Memory, lambda v: Memory("m").apply(v, v, v, v),
    lambda v: Engines().add(v, v), lambda v: Engines().add(v, lambda *a: None), lambda v: Session.resume("k", v, v),
    lambda v: Session.resume("k", Graph(Shape(PLAIN), Agents(AGENTS)), v, later=v), lambda v: Verifier().keys(v),
    lambda v: Verifier().pin(v), lambda v: Verifier().status(v), lambda v: Verifier().credential(v, tool=v, audience=v),
    lambda v: Verifier().credential("x", tool="t", audience="a", now_s=v, use=v),
]
for call in calls:
    for value in values:
        try:
            call(value)
        except Exception:
            pass

raises(WritError, lambda: canonical("[" * 300 + "]" * 300), code="limit", reason="limit_exceeded")
assert len(raises(WritError, lambda: Shape('{"roles": 1}'), code="invalid").findings) > 2

# borrowed objects live on
shape, agents = Shape(PLAIN), Agents(AGENTS)
graph = Graph(shape, agents)
run = Session("k", graph, now=lambda: 0, memory=Memory("k"))
for used in (shape, agents, graph): used.close()
del shape, agents, graph; gc.collect()
assert len(run.start()) == 3
run.close(); run.close()
raises(WritError, run.snapshot, reason="closed")

# hooks
kept = []
def hook(call, control):
    kept.append(control)
    for enter in (run.start, run.snapshot, lambda: run.deliver("{}")): raises(WritError, enter, code="busy")
    control.checkpoint("here")
    assert canonical("[1.0]") == "[1]"
run = opened(hooks=hook)
assert '"checkpointId":"here"' in "".join(run.start())
raises(WritError, lambda: kept[0].checkpoint("later"), reason="closed")
run = opened(hooks=lambda call, control: run.close())
assert run.start()
raises(WritError, run.pending, reason="closed")
run = opened(hooks=lambda call, control: 1 / 0)
raises(ZeroDivisionError, run.start)
raises(WritError, run.pending, reason="broken")
for now in (lambda: math.nan, lambda: "x", lambda: 1 / 0):
    bad = opened(now=now)
    raises((TypeError, ValueError, ZeroDivisionError), bad.start)
    raises(WritError, bad.start, reason="broken")

# threads: one is in a session at a time, and each has its own errors
import threading  # noqa: E402
entered, leave, seen = threading.Event(), threading.Event(), []
def slow(call, control):
    entered.set()
    assert leave.wait(60)
run = opened(hooks=slow)
thread = threading.Thread(target=lambda: seen.append(run.start()))
thread.start()
assert entered.wait(60)
raises(WritError, run.pending, code="busy")
raises(ZeroDivisionError, opened(hooks=lambda call, control: 1 / 0).start)
leave.set()
thread.join()
assert seen and run.pending()

# engines
engines, chosen = Engines(), [("ballot", 1)]
def count(ballots, candidates, explain):
    explain(f"100 % of {len(ballots)}")
    if isinstance(chosen[0], Exception): raise chosen[0]
    return chosen[0]
engines.add("mine", count)
entries = [Entry("v-0", '"x"'), Entry("v-1", '"y"')]
counted = lambda: vote('"engine:mine"', entries, engines=engines)
assert counted().value == '"y"' and "100 % of 2" in counted().why
for wrong in (("ballot", 2), ("ballot", -1), ("candidate", 7), ("other", 0), ("ballot", "x"), 5, KeyError("mine")):
    chosen[0] = wrong
    raises((ValueError, KeyError, TypeError), counted)
chosen[0] = ("refuse", 0)
raises(WritError, counted, reason="invalid_ballot")
chosen[0] = ("ballot", 0)
run = opened(SHAPE, engines)
engines.close(); del engines; gc.collect()
asked = json.loads(run.start('"in"')[2])
answer = {"type": "agent.step.completed", "correlationId": asked["correlationId"], "output": "out"}
done = run.deliver(json.dumps(answer))
assert '"resolved":"out"' in done[0]

# cycles of objects and callbacks are collected without use after free
for _ in range(200):
    cycle = []
    graph = Graph(Shape(PLAIN), Agents(AGENTS))
    cycle += [graph, Session("k", graph, now=lambda cycle=cycle: len(cycle), hooks=lambda *a, cycle=cycle: None)]
    cycle[1].start('"' + "x" * 100000 + '"')
    del cycle, graph
gc.collect()
assert canonical("{}") == "{}"
print("done")
