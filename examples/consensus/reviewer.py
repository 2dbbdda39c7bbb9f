"""A reviewer: reads the proposal from the shared pool, writes its vote there, and answers with it."""
import json
import os
import sys

VOTES = {"reviewer-1": "approve", "reviewer-2": "modify", "reviewer-3": "approve"}
agent = os.environ["WRIT_CREW_AGENT"]


def say(event):
    print(json.dumps(event), flush=True)


def vote_on(proposal):
    return {"vote": VOTES[agent], "feedback": "read: " + proposal["proposal"], "confidence": 0.9}


vote = None
for line in sys.stdin:
    event = json.loads(line)
    step = {"correlationId": event.get("correlationId")}
    if event["type"] == "agent.step.requested":
        say({"type": "pool.search", "allTags": ["proposal", "pending"], "limit": 1, **step})
    elif event["type"] == "pool.answered" and event["request"] == "pool.search":
        proposal = json.loads(event["result"]["insights"][0]["content"])
        vote = vote_on(proposal)
        say({"type": "pool.put", "content": json.dumps(vote), "segment": "votes", "importance": 0.8,
             "tags": ["vote", agent, proposal["id"]], "key": proposal["id"], **step})
    elif event["type"] == "pool.answered":
        say({"type": "agent.step.completed", "output": vote, **step})
