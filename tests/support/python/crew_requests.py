"""An action of an open step, requests to a pool, and an undecided crew, as bindings.test.mjs does them in JavaScript.

Usage: crew_requests.py PACKAGES SHAPE AGENTS PUT"""

import json
import sys

sys.path.insert(0, sys.argv[1])
from writ.crew import Agents, Graph, Pool, Session, Shape, WritError  # noqa: E402

shape, agents, put = sys.argv[2:5]


def failure(work):
    try:
        work()
    except WritError as error:
        return error.code
    return None


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
}))
