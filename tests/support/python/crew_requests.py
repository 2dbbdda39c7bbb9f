"""An action of an open step, requests to a pool, an election and an undecided crew, as bindings.test.mjs does them in
JavaScript.

Usage: crew_requests.py PACKAGES SHAPE AGENTS PUT TEAM"""

import json
import sys

sys.path.insert(0, sys.argv[1])
from writ.crew import Agents, Graph, Pool, Session, Shape, WritError  # noqa: E402

shape, agents, put, team = sys.argv[2:6]


def failure(work, what="code"):
    try:
        work()
    except WritError as error:
        return getattr(error, what)
    return None


def elected():
    graph = Graph(Shape(team), Agents(agents), consensual=True, consensus="borda")
    members = Session("k", graph, now=lambda: 0)

    def asked(events):
        return [one for one in map(json.loads, events) if one["type"] == "agent.step.requested"]

    ballots = asked(members.start(None, '"paint the door"'))
    tasks = [task for one in ballots for task in asked(members.deliver(json.dumps(
        {"type": "agent.step.completed", "correlationId": one["correlationId"], "output": ["y", "x", "z"]})))]
    return [[one["agentId"].split("-")[0] for one in events] for events in (ballots, tasks)]


session = Session("k", Graph(Shape(shape), Agents(agents)), now=lambda: 0)
pool = Pool(4)
started = [json.loads(event) for event in session.start("1")]
step = next(event for event in started if event["type"] == "agent.step.requested")
acted = [session.act(step["correlationId"], "a-1", action) for action in ("talk_to", "delegate_to")]
unknown = failure(lambda: session.act("0" * 16, "a-1", "talk_to"))
pool.request("bob", '{"type":"pool.subscribe","anyTags":["t"]}')
answer, deliveries = pool.request("ann", put)
found = json.loads(pool.request("bob", '{"type":"pool.search","anyTags":["t"]}')[0])
print(json.dumps({
    "acts": [[allowed, [json.loads(event)["type"] for event in events]] for allowed, events in acted],
    "unknown": unknown,
    "put": json.loads(answer),
    "told": [[one.agent_id, json.loads(one.insight)["content"]] for one in deliveries],
    "misspelt": failure(lambda: pool.request("ann", '{"type":"pool.search","anyTag":["t"]}')),
    "found": {**found, "insights": [one["content"] for one in found["insights"]]},
    "undecided": json.loads(session.cancel("undecided")[-1])["reason"],
    "elected": elected(),
    "noEngine": failure(lambda: Graph(Shape(team), Agents(agents), consensual=True, consensus="none"), "reason"),
}))
