// crewscenario.mjs - a scenario of crew-vector/1 (vectors/crew-golden/README.md), run by the package for npm. Gives the
// differences: none when every result is the published one, byte for byte.
import { isDeepStrictEqual } from 'node:util';

/** Members as the format says: absent ones are left out. */
const only = (record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
const text = (value) => (value === undefined ? undefined : JSON.stringify(value));

/** What `work` gives, or its error in the form of a record. */
function result(WritError, work) {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    return { error: { code: error.reason } };
  }
}

const finding = ({ code, path }) => ({ code, ...((path !== '' || code.startsWith('invalid')) && { path }) });
const graphOf = ({ name, agents }) => ({ name,
  agents: agents.map(({ id, role, nested }) => only({ id, role, nested: nested && graphOf(nested) })) });

class Run {
  constructor(writ, scenario, graph) {
    const { options } = scenario;
    Object.assign(this, { writ, graph, labels: new Map(), snapshots: new Map(), calls: [], now: options.clock ?? 0 });
    if (options.memory) {
      this.kept = new writ.Memory(options.crewId);
      for (const { command, context } of options.memory.seed ?? []) this.kept.apply(context, text(command));
    }
    this.options = only({ crewId: options.crewId, graph, memory: this.kept, now: () => this.now,
      defaultTimeoutMs: options.defaultTimeoutMs, autoCheckpoint: options.autoCheckpoint,
      hooks: options.hooks && ((call, control) => this.hook(options.hooks, call, control)) });
    this.session = new writ.Session(this.options);
  }

  hook(actions, call, control) {
    if (!actions[call.name]) return;
    const { name, stage, crewId, roleId, agentId, input, output, fault, stalled } = call;
    const raw = (value) => (value === undefined ? undefined : JSON.parse(value));
    this.calls.push(this.writ.canonical(JSON.stringify(only({ hook: name, stage, crewId, role: roleId, agent: agentId,
      input: raw(input), output: raw(output), fault, stalled }))));
    for (const { do: deed, id, from, to, action } of actions[call.name]) {
      if (deed === 'checkpoint') {
        control.checkpoint(id);
        continue;
      }
      const allowed = control.request(from, to, action);
      const record = { hook: name, request_action: { from, to, action }, allowed };
      this.calls.push(this.writ.canonical(JSON.stringify(record)));
    }
  }

  /** One step as a record of the format. */
  step(step) {
    this.calls = [];
    const record = result(this.writ.WritError, () => this[step.op](step));
    const hooks = this.calls.length > 0 ? this.calls : undefined;
    const ofSession = ['start', 'deliver', 'tick', 'cancel', 'action', 'resume'].includes(step.op);
    return only({ ...record, hooks, status: ofSession ? this.session.status : undefined });
  }

  start({ input, task }) { return { events: this.session.start(text(input), text(task)) }; }
  deliver({ event }) { return { events: this.session.deliver(text(event)) }; }
  clock({ set, advance }) { this.now = set ?? this.now + advance; return {}; }
  tick({ now }) { return { events: this.session.tick(now) }; }
  cancel({ reason }) { return { events: this.session.cancel(reason) }; }
  action({ from, to, action }) { return this.session.request(from, to, action); }
  pending() { return { pending: this.session.pending() }; }
  memory() { return { memory: this.kept.snapshot() }; }
  hash({ text: hashed }) { return { result: this.writ.hash(hashed) }; }
  correlation({ parts }) { return { result: this.writ.correlation(parts) }; }
  permission({ from, to, action }) { return { allowed: this.graph.allows(from, to, action) }; }

  snapshot({ as }) {
    this.labels.set(as, this.session.snapshot());
    return { snapshot: this.labels.get(as) };
  }

  resume({ from, policy, later = [], crewId }) {
    const { session, events } = this.writ.Session.resume({ ...this.options, ...only({ crewId }) },
      this.labels.get(from), only({ policy, later: later.map(text) }));
    this.session.close();
    this.session = session;
    return { events };
  }

  store({ do: verb, id, from }) {
    if (verb === 'put') this.snapshots.set(id, this.labels.get(from));
    if (verb === 'delete') this.snapshots.delete(id);
    if (verb === 'get') return only({ found: this.snapshots.has(id), snapshot: this.snapshots.get(id) });
    return verb === 'list' ? { ids: [...this.snapshots.keys()] } : {};
  }

  canonicalize({ text: given }) {
    // as ECMAScript reads: the last of duplicate members counts; lone surrogates and infinite numbers may be refused
    const finite = (name, value) => {
      if (typeof value === 'number' && !Number.isFinite(value)) throw new this.writ.WritError('parse', 'non_finite');
      return value;
    };
    return { result: this.writ.canonical(JSON.stringify(JSON.parse(given), finite)) };
  }

  vote({ votes, config }) {
    const { value } = this.writ.vote(text(config), votes.map((vote) => ({ ...vote, output: text(vote.output) })));
    return { resolved: value ?? null };
  }
}

/** Differences of a scenario: [{ where, want, got }]. */
export function differences(writ, scenario) {
  const { expect } = scenario, found = [];
  const compare = (where, want, got) => { if (!isDeepStrictEqual(want, got)) found.push({ where, want, got }); };
  const inputs = {};
  for (const [where, Kind, value] of
    [['shape_errors', writ.Shape, scenario.shape], ['agents_errors', writ.Agents, scenario.agents]]) {
    try {
      inputs[where] = new Kind(JSON.stringify(value));
      compare(where, expect[where], undefined);
    } catch (error) {
      if (!(error instanceof writ.WritError)) throw error;
      compare(where, expect[where], error.findings.map(finding));
    }
  }
  const { shape_errors: shape, agents_errors: agents } = inputs;
  if (!shape || !agents) return found;
  const { errors, warnings } = shape.lint();
  compare('lint', expect.lint, { errors: errors.map(finding), warnings: warnings.map(finding) });
  const registry = Object.fromEntries(Object.entries(scenario.registry ?? {})
    .map(([key, nested]) => [key, new writ.Shape(JSON.stringify(nested))]));
  let graph;
  try {
    graph = new writ.Graph({ shape, agents, registry });
  } catch (error) {
    if (!(error instanceof writ.WritError)) throw error;
    compare('build_error', expect.build_error, { code: error.reason });
    return found;
  }
  for (const used of [shape, agents, ...Object.values(registry)]) used.close(); // the graph keeps what it borrows
  compare('graph', expect.graph, graphOf(graph));
  const run = new Run(writ, scenario, graph), log = [];
  scenario.steps.forEach((step, at) => {
    const got = run.step(step);
    log.push(...got.events ?? []);
    const mayRefuse = step.op === 'canonicalize' && got.error && !/^[^\\]*$/.test(expect.steps[at].result ?? '\\');
    if (!mayRefuse) compare(`step ${at}`, expect.steps[at], got);
  });
  compare('log', expect.log, log);
  run.session.close();
  graph.close();
  return found;
}
