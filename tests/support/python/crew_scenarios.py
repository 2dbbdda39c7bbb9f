"""Scenarios of crew-vector/1 (vectors/crew-golden/README.md), run by the package for Python.

    crew_scenarios.py PACKAGE FILE...

prints {"passed": n, "failed": {file: first difference}}: a scenario passes when every result is the
published one, byte for byte."""

import json
import math
import os
import sys

sys.path.insert(0, sys.argv[1])

from writ import crew  # noqa: E402


def only(**members):
    return {name: value for name, value in members.items() if value is not None}


def text(value):
    return json.dumps(value)


def optional(members, name):
    return text(members[name]) if name in members else None


class Run:
    def __init__(self, scenario, graph):
        options = scenario["options"]
        self.graph, self.now, self.labels, self.kept, self.calls = graph, options.get("clock", 0), {}, {}, []
        self.held = None
        if "memory" in options:
            self.held = crew.Memory(options["crewId"])
            for seed in options["memory"].get("seed", []):
                scope = seed["context"]
                self.held.apply(scope["agentId"], scope["crewId"], scope["roleId"], text(seed["command"]))
        self.crew_id = options["crewId"]
        self.options = {"now": lambda: self.now, "memory": self.held,
                        "default_timeout_ms": options.get("defaultTimeoutMs"),
                        "auto_checkpoint": options.get("autoCheckpoint", False)}
        if "hooks" in options:
            self.options["hooks"] = lambda call, control: self.hook(options["hooks"], call, control)
        self.session = crew.Session(self.crew_id, graph, **self.options)

    def hook(self, actions, call, control):
        if call.name not in actions:
            return
        record = only(hook=call.name, stage=call.stage, crewId=call.crew_id, role=call.role_id, agent=call.agent_id,
                      fault=call.fault, stalled=call.stalled)
        for name in ("input", "output"):
            if getattr(call, name) is not None:
                record[name] = json.loads(getattr(call, name))
        self.calls.append(crew.canonical(text(record)))
        for action in actions[call.name]:
            if action["do"] == "checkpoint":
                control.checkpoint(action["id"])
                continue
            asked = {name: action[name] for name in ("from", "to", "action")}
            allowed = control.request(asked["from"], asked["to"], asked["action"])
            self.calls.append(crew.canonical(text(
                {"hook": call.name, "request_action": asked, "allowed": allowed})))

    def step(self, step):
        self.calls = []
        try:
            record = getattr(self, "op_" + step["op"])(step)
        except crew.WritError as error:
            record = {"error": {"code": error.reason}}
        if self.calls:
            record["hooks"] = self.calls
        if step["op"] in ("start", "deliver", "tick", "cancel", "action", "resume"):
            record["status"] = self.session.status
        return record

    def op_start(self, step):
        return {"events": self.session.start(optional(step, "input"), optional(step, "task"))}

    def op_deliver(self, step):
        return {"events": self.session.deliver(text(step["event"]))}

    def op_clock(self, step):
        self.now = step["set"] if "set" in step else self.now + step["advance"]
        return {}

    def op_tick(self, step):
        return {"events": self.session.tick(step["now"])}

    def op_cancel(self, step):
        return {"events": self.session.cancel(step["reason"])}

    def op_action(self, step):
        allowed, events = self.session.request(step["from"], step["to"], step["action"])
        return {"allowed": allowed, "events": events}

    def op_pending(self, _):
        return {"pending": self.session.pending()}

    def op_snapshot(self, step):
        self.labels[step["as"]] = self.session.snapshot()
        return {"snapshot": self.labels[step["as"]]}

    def op_resume(self, step):
        policy = {"policy": step["policy"]} if "policy" in step else {}
        session, events = crew.Session.resume(
            step.get("crewId", self.crew_id), self.graph, self.labels[step["from"]],
            later=[text(event) for event in step.get("later", [])], **policy, **self.options)
        self.session.close()
        self.session = session
        return {"events": events}

    def op_memory(self, _):
        return {"memory": self.held.snapshot()}

    def op_store(self, step):
        verb, name = step["do"], step.get("id")
        if verb == "put":
            self.kept[name] = self.labels[step["from"]]
        if verb == "delete":
            self.kept.pop(name, None)
        if verb == "get":
            return {"found": name in self.kept, **only(snapshot=self.kept.get(name))}
        return {"ids": list(self.kept)} if verb == "list" else {}

    def op_canonicalize(self, step):
        # as ECMAScript reads: the last of duplicate members counts, and numbers are doubles
        value = json.loads(step["text"], parse_int=number, parse_float=number)
        return {"result": crew.canonical(json.dumps(value, allow_nan=False))}

    def op_hash(self, step):
        return {"result": crew.hash_text(step["text"])}

    def op_correlation(self, step):
        parts = step["parts"]
        return {"result": crew.correlation(parts["crewId"], parts["roleId"], parts["agentId"], parts["attempt"])}

    def op_vote(self, step):
        entries = [crew.Entry(vote.get("agentId"), optional(vote, "output"), vote.get("roleId"),
                              vote.get("fault", False), vote.get("stalled", False)) for vote in step["votes"]]
        return {"resolved": crew.vote(text(step["config"]), entries).value}

    def op_permission(self, step):
        return {"allowed": self.graph.allows(step["from"], step["to"], step["action"])}


def number(literal):
    value = float(literal)
    if math.isinf(value):
        raise crew.WritError("parse", "non_finite", "")
    return value


def finding(one):
    return {"code": one.code, **({"path": one.path} if one.path or one.code.startswith("invalid") else {})}


def graph_of(name, agents):
    return {"name": name, "agents": [
        {"id": one.id, "role": one.role, **({"nested": graph_of(*one.nested)} if one.nested else {})}
        for one in agents]}


def differences(scenario):
    expect, found = scenario["expect"], []

    def compare(where, want, got):
        if want != got:
            found.append({"where": where, "want": want, "got": got})

    inputs = []
    for where, kind, value in (("shape_errors", crew.Shape, scenario["shape"]),
                               ("agents_errors", crew.Agents, scenario["agents"])):
        try:
            inputs.append(kind(text(value)))
            compare(where, expect.get(where), None)
        except crew.WritError as error:
            compare(where, expect.get(where), [finding(one) for one in error.findings])
    if len(inputs) < 2:
        return found
    lint = inputs[0].lint()
    compare("lint", expect.get("lint"), {"errors": [finding(one) for one in lint.errors],
                                         "warnings": [finding(one) for one in lint.warnings]})
    registry = {key: crew.Shape(text(value)) for key, value in scenario.get("registry", {}).items()}
    try:
        graph = crew.Graph(*inputs, registry=registry)
    except crew.WritError as error:
        compare("build_error", expect.get("build_error"), {"code": error.reason})
        return found
    for used in (*inputs, *registry.values()):
        used.close()  # the graph keeps what it borrows
    compare("graph", expect.get("graph"), graph_of(graph.name, graph.agents))
    run, log = Run(scenario, graph), []
    for at, step in enumerate(scenario["steps"]):
        want, got = expect["steps"][at], run.step(step)
        log += got.get("events", [])
        refused = step["op"] == "canonicalize" and "error" in got and "\\" in want.get("result", "\\")
        if not refused:
            compare(f"step {at}", want, got)
    compare("log", expect["log"], log)
    return found


def main():
    passed, failed = 0, {}
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            found = differences(json.load(file))
        if found:
            failed[os.path.basename(path)] = found[0]
        else:
            passed += 1
    print(json.dumps({"passed": passed, "failed": failed}))


main()
