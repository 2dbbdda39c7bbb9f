// A small model of the crew semantics: an independent writing of the specification, with nothing but
// what JavaScript has. It shares no code with the library and takes no limits into account. It
// follows the table of deviations in crew/README.md.

// ---- canonical form, hash, ids (section 3)

export function canonical(value) {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new CrewError('non_finite');
  if (Array.isArray(value)) return `[${value.map((v) => (v === undefined ? 'null' : canonical(v))).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const names = Object.keys(value).filter((n) => value[n] !== undefined).sort(); // by UTF-16 code units
    return `{${names.map((n) => `${JSON.stringify(n)}:${canonical(value[n])}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

export function hash(text) {
  let h = 0xcbf29ce484222325n;
  for (let at = 0; at < text.length; at++) {
    h = ((h ^ BigInt(text.charCodeAt(at))) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return h.toString(16).padStart(16, '0');
}

export const correlation = ({ crewId, roleId, agentId, attempt }) =>
  hash(canonical({ agentId, attempt, crewId, roleId }));

export class CrewError extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

const copy = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
const same = (a, b) => (a === undefined || b === undefined ? a === b : canonical(a) === canonical(b));

// ---- exact shares (section 19)

const decimal = (number) => {
  const [, digits, fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(number));
  const places = fraction.length - Number(exponent);
  const n = BigInt(digits + fraction);
  return places >= 0 ? [n, 10n ** BigInt(places)] : [n * 10n ** BigInt(-places), 1n];
};
const share = (value) => (typeof value === 'number' ? decimal(value) : value.split('/').map(BigInt));
const reaches = (part, all, [n, d]) => BigInt(part) * d >= n * BigInt(all);

// ---- schema (sections 2.1 to 2.3, 19)

const MODES = ['first_valid', 'unanimous', 'weighted_consensus', 'majority', 'best_of_n', 'review', 'borda'];
const isMode = (mode) => MODES.includes(mode) || /^engine:./.test(mode);
const HOOKS = ['before_role', 'after_role', 'before_agent', 'after_agent', 'on_fault', 'on_stall', 'on_timeout',
  'on_permission_denied', 'on_checkpoint'];
const REASONS = { on_fault: 'fault', on_stall: 'stall', on_timeout: 'timeout',
  on_permission_denied: 'permission_denied' };
const VOTING = ['mode', 'weight_function', 'threshold', 'weights', 'quorum', 'veto', 'score', 'alpha', 'beta',
  'lambda'];
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

class Reader {
  constructor() {
    this.faults = [];
  }

  fault(path, code) {
    this.faults.push({ path: path.map((p) => `/${String(p).replace(/~/g, '~0').replace(/\//g, '~1')}`).join(''),
      code });
  }

  // The member if it has the type; else undefined, with a fault unless it is absent and optional.
  typed(object, path, name, is, required) {
    const value = object?.[name];
    if (value === undefined ? required : !is(value)) this.fault([...path, name], 'invalid_type');
    return value !== undefined && is(value) ? value : undefined;
  }

  text(object, path, name, { required = false, nonempty = false } = {}) {
    const value = this.typed(object, path, name, (v) => typeof v === 'string', required);
    if (nonempty && value === '') this.fault([...path, name], 'too_small');
    return value;
  }

  bool(object, path, name) {
    return this.typed(object, path, name, (v) => typeof v === 'boolean', false);
  }

  object(object, path, name, required) {
    return this.typed(object, path, name, isObject, required);
  }

  whole(object, path, name, least, required) {
    const value = this.typed(object, path, name, (v) => typeof v === 'number', required);
    if (value === undefined) return undefined;
    const code = !Number.isInteger(value) ? 'invalid_type' : value < least ? 'too_small'
      : value > Number.MAX_SAFE_INTEGER ? 'too_big' : undefined;
    if (code) this.fault([...path, name], code);
    return value;
  }

  texts(object, path, name) {
    const list = this.typed(object, path, name, Array.isArray, false);
    list?.forEach((v, at) => typeof v === 'string' || this.fault([...path, name, at], 'invalid_type'));
    return list;
  }

  oneOf(object, path, name, words) {
    const value = object?.[name];
    if (value !== undefined && !words.includes(value)) this.fault([...path, name], 'invalid_value');
  }

  share(object, path, name) {
    const value = object[name];
    if (value === undefined) return false;
    const code = typeof value === 'number' ? (value < 0 ? 'too_small' : value > 1 ? 'too_big' : undefined)
      : typeof value !== 'string' ? 'invalid_type'
        : !/^(0|[1-9]\d*)\/[1-9]\d*$/.test(value) ? 'invalid_value'
          : share(value)[0] > share(value)[1] ? 'too_big' : undefined;
    if (code) this.fault([...path, name], code);
    return !code;
  }

  voting(value, path) {
    if (value.mode !== undefined && !(typeof value.mode === 'string' && isMode(value.mode)))
      this.fault([...path, 'mode'], 'invalid_value');
    this.text(value, path, 'weight_function');
    if (this.share(value, path, 'threshold') && value.mode === 'review') {
      const [n, d] = share(value.threshold);
      if (2n * n <= d) this.fault([...path, 'threshold'], 'too_small');
    }
    const weights = this.object(value, path, 'weights', false);
    for (const id of Object.keys(weights ?? {})) this.whole(weights, [...path, 'weights'], id, 0, true);
    if (typeof value.quorum === 'string') this.share(value, path, 'quorum');
    else this.whole(value, path, 'quorum', 0, false);
    this.texts(value, path, 'veto');
    const score = this.text(value, path, 'score');
    if (score !== undefined && !/^(\/([^~/]|~[01])*)*$/.test(score)) this.fault([...path, 'score'], 'invalid_value');
    for (const name of ['alpha', 'beta', 'lambda']) this.share(value, path, name);
    for (const name of Object.keys(value)) if (!VOTING.includes(name)) this.fault([...path, name], 'invalid_value');
  }

  role(role, path) {
    if (!isObject(role)) return void this.fault(path, 'invalid_type');
    this.text(role, path, 'role', { required: true, nonempty: true });
    this.text(role, path, 'description');
    this.text(role, path, 'system_prompt');
    const capabilities = this.object(role, path, 'capabilities', false);
    this.bool(capabilities, [...path, 'capabilities'], 'thinking_allowed');
    this.texts(capabilities, [...path, 'capabilities'], 'tools');
    this.text(capabilities, [...path, 'capabilities'], 'model');
    this.permissions(this.object(role, path, 'permissions', true), [...path, 'permissions']);
    this.whole(this.object(role, path, 'delegation', false), [...path, 'delegation'], 'max_depth', 0, false);
    this.whole(role, path, 'amount', 0, false);
    this.whole(role, path, 'max_allowed', 1, false);
    this.activation(this.object(role, path, 'activation', false), [...path, 'activation']);
    this.bool(role, path, 'first_input');
    this.bool(role, path, 'final_output');
    this.text(role, path, 'nested_crew');
    const hooks = this.object(role, path, 'hooks', false);
    for (const name of HOOKS) this.text(hooks, [...path, 'hooks'], name);
    this.execution(this.object(role, path, 'execution', false), [...path, 'execution']);
  }

  permissions(value, path) {
    for (const name of ['talk_to', 'delegate_to', 'escalate_to']) this.texts(value, path, name);
    const invite = this.typed(value, path, 'invite', Array.isArray, false);
    invite?.forEach((entry, at) => {
      const inner = new Reader();
      if (isObject(entry) && typeof entry.role === 'string') {
        if (entry.consensus !== undefined) isObject(entry.consensus)
          ? inner.voting(entry.consensus, []) : inner.fault([], '');
      } else if (typeof entry !== 'string') inner.fault([], '');
      if (inner.faults.length > 0) this.fault([...path, 'invite', at], 'invalid_union');
    });
    this.bool(value, path, 'modify_structure');
  }

  activation(value, path) {
    const before = this.faults.length;
    const flags = Object.keys(REASONS).map((name) => this.bool(value, path, name));
    if (value && !flags.includes(true) && this.faults.length === before) this.fault(path, 'custom');
  }

  execution(value, path) {
    const voting = this.object(value, path, 'voting', false);
    if (voting) this.voting(voting, [...path, 'voting']);
    this.texts(value, path, 'checkpoints');
    this.whole(value, path, 'timeout_ms', 0, false);
    this.bool(value, path, 'serial');
    const memex = this.object(value, path, 'memex', false);
    this.oneOf(memex, [...path, 'memex'], 'view', ['self', 'role', 'crew', 'all']);
    this.oneOf(memex, [...path, 'memex'], 'isolation', ['soft', 'hard']);
    this.bool(memex, [...path, 'memex'], 'enabled');
  }

  head(value) {
    if (!isObject(value)) {
      this.fault([], 'invalid_type');
      return false;
    }
    if (value.schema_version !== '1.0') this.fault(['schema_version'], 'invalid_value');
    this.text(value, [], 'name', { required: true, nonempty: true });
    return true;
  }
}

export function shapeErrors(shape) {
  const reader = new Reader();
  if (!reader.head(shape)) return reader.faults;
  reader.text(shape, [], 'description');
  const roles = reader.typed(shape, [], 'roles', Array.isArray, true);
  if (roles?.length === 0) reader.fault(['roles'], 'too_small');
  roles?.forEach((role, at) => reader.role(role, ['roles', at]));
  return reader.faults;
}

export function agentsErrors(agents) {
  const reader = new Reader();
  if (!reader.head(agents)) return reader.faults;
  const list = reader.typed(agents, [], 'agents', Array.isArray, true);
  list?.forEach((entry, at) => {
    if (!isObject(entry)) return void reader.fault(['agents', at], 'invalid_type');
    reader.text(entry, ['agents', at], 'role', { required: true, nonempty: true });
    reader.whole(entry, ['agents', at], 'amount', 0, true);
    reader.text(entry, ['agents', at], 'system_prompt');
  });
  return reader.faults;
}

// ---- lint (section 2.4)

export function lint({ roles }) {
  const errors = [], warnings = [];
  const names = roles.map((r) => r.role);
  const error = (code, path) => errors.push(path === undefined ? { code } : { code, path });
  names.forEach((name, at) => names.indexOf(name) < at && error('duplicate_role', name));
  for (const end of ['first_input', 'final_output']) {
    const n = roles.filter((r) => r[end] === true).length;
    if (n !== 1) error(`${n === 0 ? 'missing' : 'multiple'}_${end}`);
  }
  for (const { role, permissions, execution } of roles) {
    for (const list of ['talk_to', 'delegate_to', 'escalate_to', 'invite']) {
      for (const entry of permissions[list] ?? []) {
        if (!names.includes(entry.role ?? entry)) error('unknown_role_reference', `${role}.permissions.${list}`);
      }
    }
    if ((permissions.escalate_to ?? []).includes(role)) error('self_escalation', `${role}.permissions.escalate_to`);
    const voting = execution?.voting;
    const mode = voting && (voting.mode ?? 'weighted_consensus');
    if ((mode === 'best_of_n' && voting.score === undefined) || /^engine:/.test(mode ?? '')) {
      error('unsupported_voting_mode', `${role}.execution.voting.mode`);
    }
    if (mode === 'weighted_consensus' && (voting.weight_function ?? 'equal') !== 'equal') {
      error('unsupported_weight_function', `${role}.execution.voting.weight_function`);
    }
    for (const name of permissions.delegate_to ?? []) {
      if (!(permissions.talk_to ?? []).includes(name))
        warnings.push({ code: 'delegate_without_talk', path: `${role}.permissions` });
    }
  }
  return { errors, warnings };
}

// ---- graph (section 2.5)

const permissionsOf = (role) =>
  Object.fromEntries(['talk_to', 'delegate_to', 'escalate_to'].map((l) => [l, role.permissions[l] ?? []]));

export function buildGraph(shape, agents, registry, chain = []) {
  if (shape.name !== agents.name) throw new CrewError('name_mismatch');
  if (chain.includes(shape.name)) throw new CrewError('cyclic_nested_crew');
  if (lint(shape).errors.length > 0) throw new CrewError('lint_failed');
  if (agents.agents.some((e) => !shape.roles.some((r) => r.role === e.role))) throw new CrewError('unknown_role');
  const graph = { name: shape.name, roles: [] };
  for (const role of shape.roles) {
    const given = agents.agents.filter((e) => e.role === role.role);
    const count = given.at(-1)?.amount ?? role.amount ?? 0;
    const prompt = given.filter((e) => e.system_prompt !== undefined).at(-1)?.system_prompt ?? role.system_prompt;
    if (count > (role.max_allowed ?? Infinity)) throw new CrewError('exceeds_max_allowed');
    let nested;
    if (role.nested_crew && count > 0) {
      const inner = registry?.[role.nested_crew];
      if (inner === undefined) throw new CrewError('unknown_nested_crew'); // deviation 10
      nested = buildGraph(inner, { name: inner.name, agents: [] }, registry, [...chain, shape.name]);
    }
    const { thinking_allowed = true, tools, model } = role.capabilities ?? {};
    graph.roles.push({
      ...role, nested,
      agents: Array.from({ length: count }, (_, i) => `${role.role}-${i + 1}`),
      snapshot: { name: role.role, description: role.description, system_prompt: prompt,
        capabilities: { thinking_allowed, tools, model }, permissions: permissionsOf(role) },
    });
  }
  const { roles } = graph;
  graph.phases = [roles.find((r) => r.first_input),
    ...roles.filter((r) => !r.first_input && !r.final_output && !r.activation),
    roles.find((r) => r.final_output)];
  graph.roleOf = (agent) => roles.find((r) => r.agents.includes(agent));
  graph.allows = (from, to, action) => Boolean(graph.roleOf(from) && graph.roleOf(to)
    && graph.roleOf(from).permissions[action]?.includes(graph.roleOf(to).role));
  return graph;
}

export const graphView = ({ name, roles }) => ({ name, agents: roles.flatMap((r) => r.agents.map((id) => ({
  id, role: r.role, ...(r.nested && { nested: graphView(r.nested) }) }))) });

// ---- voting (sections 6, 16.5, 17, 19)

function pointer(value, path) {
  for (const token of path.split('/').slice(1).map((t) => t.replace(/~1/g, '/').replace(/~0/g, '~'))) {
    if (Array.isArray(value) ? !/^(0|[1-9]\d*)$/.test(token) : !isObject(value)) return undefined;
    value = Object.hasOwn(value, token) ? value[token] : undefined;
  }
  return value;
}

const opinion = (output) =>
  [isObject(output) ? output.vote : output].find((v) => ['approve', 'reject', 'modify'].includes(v));

const isRanking = (output) => Array.isArray(output) && output.every((v) => typeof v === 'string')
  && new Set(output).size === output.length;

// The rankings of the candidates that most of them rank; among equals those that came first.
function completeRankings(entries) {
  const key = (e) => canonical([...e.output].sort());
  const counts = new Map();
  for (const entry of entries) counts.set(key(entry), (counts.get(key(entry)) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const kept = [...counts].find(([, n]) => n === most)?.[0];
  return entries.filter((e) => key(e) === kept);
}

function borda(rankings, { alpha = 0, beta = 0, lambda = '1/2' }) {
  const candidates = [...rankings[0]].sort();
  const m = candidates.length, k = rankings.length;
  const points = (p) => rankings.reduce((sum, r) => sum + m - 1 - r.indexOf(p), 0);
  const firsts = (p) => rankings.filter((r) => r[0] === p).length;
  if (m === 0) return undefined;
  const most = Math.max(...candidates.map(points));
  const eligible = candidates.filter((p) => reaches(firsts(p), k, share(alpha)) &&
    reaches(points(p), most, share(beta)));
  if (eligible.length === 0) return candidates.find((p) => points(p) === most);
  const [n, d] = share(lambda);
  const score = (p) => (d - n) * BigInt(points(p)) + n * BigInt(firsts(p)) * BigInt(m - 1);
  return eligible.reduce((best, p) => (score(p) > score(best) ? p : best));
}

function review(entries, { threshold = '2/3', veto = [] }, weight) {
  const sum = (word) => entries.filter((e) => opinion(e.output) === word).reduce((n, e) => n + weight(e), 0);
  const [a, r, m] = ['approve', 'reject', 'modify'].map(sum);
  if (entries.some((e) => opinion(e.output) === 'reject' && (veto.includes(e.agentId) || veto.includes(e.roleId))))
    return 'REJECT';
  const n = a + r + m;
  if (n === 0) return 'REQUEST_REVISION';
  return reaches(2 * a + m, 2 * n, share(threshold)) ? 'ACCEPT' : reaches(r, n, share(threshold))
    ? 'REJECT' : 'REQUEST_REVISION';
}

// A list with the resolved value, or an empty one. `config` is undefined, a mode, or a voting object.
export function vote(config, entries, electorate) {
  const given = config === undefined ? { mode: 'first_valid' } : typeof config === 'string' ? { mode: config } : config;
  const { mode = 'weighted_consensus', threshold = 0.66, weights = {}, quorum = 0, score } = given;
  const weight = (e) => weights[e.agentId] ?? weights[e.roleId] ?? 1;
  let valid = entries.filter((e) => !e.fault && !e.stalled);
  if (mode === 'best_of_n' && score === undefined && valid.length > 0) throw new CrewError('not_implemented');
  if (mode === 'best_of_n') valid = valid.filter((e) => typeof pointer(e.output, score) === 'number');
  if (mode === 'review') valid = valid.filter((e) => opinion(e.output));
  if (mode === 'borda') valid = completeRankings(valid.filter((e) => isRanking(e.output)));
  if (typeof quorum === 'string' ? !reaches(valid.length, Math.max(electorate, 1), share(quorum)) : valid.length <
    quorum) return [];
  if (mode === 'review') return [review(valid, given, weight)];
  if (valid.length === 0) return [];
  const first = (e) => valid.find((other) => same(other.output, e.output));
  const groups = [...new Set(valid.map(first))];
  const total = (list) => list.reduce((n, e) => n + weight(e), 0);
  const group = (g) => valid.filter((e) => same(e.output, g.output));
  switch (mode) {
    case 'first_valid': return [valid[0].output];
    case 'unanimous': return groups.length === 1 ? [valid[0].output] : [];
    case 'majority': {
      const most = Math.max(...groups.map((g) => group(g).length));
      return [groups.find((g) => group(g).length === most).output];
    }
    case 'weighted_consensus': {
      if ((given.weight_function ?? 'equal') !== 'equal') throw new CrewError('not_implemented');
      const all = total(valid);
      const plain = given.weights === undefined && typeof threshold === 'number'; // in doubles, section 6
      const won = all > 0 && groups.find((g) => (plain ? group(g).length / valid.length >= threshold
        : reaches(total(group(g)), all, share(threshold))));
      return won ? [won.output] : [];
    }
    case 'best_of_n': return [valid.reduce((best, e) =>
      (pointer(e.output, score) > pointer(best.output, score) ? e : best)).output];
    case 'borda': {
      const winner = borda(valid.map((e) => e.output), given);
      return winner === undefined ? [] : [winner];
    }
    default: throw new CrewError('not_implemented');
  }
}

// ---- the reference memory (section 8)

export class Memory {
  constructor(crewId, items = []) {
    this.crewId = crewId;
    this.items = copy(items);
  }

  apply(command, { agentId, crewId, roleId }) {
    if (command?.type === 'memory.create') {
      const item = copy(command.item);
      item.author ||= `agent:${agentId}`;
      item.scope ||= `crew:${crewId}/agent:${agentId}`;
      item.meta = { ...item.meta, agent_id: agentId, crew_id: crewId, role: roleId };
      const at = this.items.findIndex((i) => i.id === item.id);
      if (at >= 0) this.items[at] = item;
      else this.items.push(item);
    } else if (command?.type === 'memory.update') {
      const item = this.items.find((i) => i.id === command.item_id);
      if (item) Object.assign(item, copy(command.partial));
    } else if (command?.type === 'memory.retract') {
      this.items = this.items.filter((i) => i.id !== command.item_id);
    }
  }

  retrieve({ agentId, roleId }, view, options) {
    const visible = { self: (m) => m.agent_id === agentId, role: (m) => m.role === roleId && m.crew_id === this.crewId,
      crew: (m) => m.crew_id === this.crewId, all: () => true }[view];
    const w = options?.weights ?? {};
    const found = this.items.filter((i) => visible(i.meta ?? {})).map((item) => ({ item: copy(item),
      score: ['authority', 'conviction', 'importance'].reduce((sum, n) => sum + (w[n] ?? 0) * (item[n] ?? 0), 0) }));
    found.sort((a, b) => b.score - a.score);
    return options?.budget === undefined ? found : found.slice(0, options.budget);
  }

  fork(crewId) {
    return new Memory(crewId, this.items);
  }

  import(other) {
    for (const item of other.items) if (!this.items.some((i) => i.id === item.id)) this.items.push(copy(item));
  }

  snapshot() {
    return { items: copy(this.items) };
  }
}

// ---- sessions (sections 4, 5, 7, 9, 11, 12)

const NONE = Symbol('no handle');

export class Session {
  constructor(graph, options, burst = []) {
    Object.assign(this, { graph, options, burst, status: 'idle', index: -1, phase: null, serial: 0 });
    this.crewId = options.crewId;
    this.memory = options.memory;
    this.attempts = new Map();
    this.handles = new Map(); // inner crew id -> a nested crew that runs
  }

  emit(type, members, ts = this.options.now()) {
    this.burst.push(canonical({ type, ts, ...members }));
  }

  // Runs a call; returns the emitted events.
  call(work) {
    this.burst.length = 0;
    work();
    return [...this.burst];
  }

  hook(role, stage, context) {
    const name = role.hooks?.[stage];
    if (!name || !this.options.hooks) return;
    this.options.hooks({ hook: name, stage, crewId: this.crewId, role: role.role, ...context }, {
      checkpoint: (checkpointId) => this.emit('checkpoint.taken', { checkpointId }),
      requestAction: (from, to, action) => this.action(from, to, action),
    });
  }

  // -- phases

  start(input, task) {
    if (this.status !== 'idle') throw new CrewError('cannot_start');
    Object.assign(this, { status: 'awaiting_responses', input, task });
    this.emit('crew.started', { crewId: this.crewId, rootInput: input, task });
    this.enter();
  }

  enter() {
    this.index += 1;
    const role = this.graph.phases[this.index];
    if (!role) {
      Object.assign(this, { status: 'completed', phase: null });
      this.emit('crew.completed', { finalOutput: this.input });
      return;
    }
    this.serial += 1;
    this.phase = { role, serial: this.serial, pending: new Map(), outputs: new Map(), seen: [], fixerSteps: [],
      held: true };
    this.emit('role.entered', { roleId: role.role });
    this.hook(role, 'before_role', { input: this.input });
    for (const agent of role.agents) this.request(agent, this.input); // all begin first: deviation 3
    this.phase.held = false;
    this.settle();
  }

  request(agent, input, replaced) {
    const role = this.graph.roleOf(agent);
    this.hook(role, 'before_agent', { agent, input });
    const attempt = (this.attempts.get(agent) ?? 0) + 1;
    this.attempts.set(agent, attempt);
    if (role.nested) return void this.spawn(agent, role, attempt, input, replaced);
    const id = correlation({ crewId: this.crewId, roleId: role.role, agentId: agent, attempt });
    const memex = role.execution?.memex;
    const context = this.memory && memex && memex.enabled !== false && memex.retrieval !== undefined
      ? this.memory.retrieve({ agentId: agent, roleId: role.role }, memex.view ?? 'self', memex.retrieval) : undefined;
    const step = { input, memexContext: context, roleSnapshot: role.snapshot, replaced, request: { correlationId: id,
      agentId: agent, roleId: role.role, ts: this.options.now(),
      timeoutMs: role.execution?.timeout_ms ?? this.options.defaultTimeoutMs } };
    this.ask(step, this.options.now());
    this.publish(id);
    this.phase.pending.set(id, step);
    if (replaced) this.phase.fixerSteps.push([id, replaced]);
  }

  ask({ request, input, roleSnapshot, memexContext }, ts) {
    const { correlationId, agentId, roleId, timeoutMs } = request;
    this.emit('agent.step.requested',
      { correlationId, agentId, roleId, input, role: roleSnapshot, memex_context: memexContext, timeoutMs }, ts);
  }

  // The outer crews record which of their nested crews an id belongs to.
  publish(id) {
    for (let s = this; s.outer; s = s.outer) s.as.ids.add(id);
  }

  forget(id) {
    for (let s = this; s.outer; s = s.outer) s.as.ids.delete(id);
  }

  settle() {
    const { phase } = this;
    if (!phase || phase.held || phase.pending.size > 0 || this.inFlight().length > 0) return;
    phase.held = true;
    const { role } = phase;
    const entries = role.agents.filter((a) => phase.outputs.has(a))
      .map((a) => ({ ...phase.outputs.get(a), agentId: a, roleId: role.role }));
    const [resolved] = vote(role.execution?.voting, entries, role.agents.length);
    this.emit('vote.resolved', { roleId: role.role, mode: role.execution?.voting ? role.execution.voting.mode ??
      'weighted_consensus' : 'first_valid', resolved });
    this.hook(role, 'after_role', { output: resolved });
    for (const checkpointId of role.execution?.checkpoints ?? []) {
      this.emit('checkpoint.taken', { checkpointId });
      this.hook(role, 'on_checkpoint', {});
    }
    if (this.options.autoCheckpoint)
      this.emit('checkpoint.taken', { checkpointId: `phase:${role.role}:${this.index}` });
    this.input = resolved;
    this.enter();
  }

  // -- answers

  deliver(event) {
    if (this.status !== 'awaiting_responses') return;
    const kinds = ['agent.step.completed', 'agent.step.failed', 'agent.step.timed_out'];
    if (kinds.includes(event.type)) this.terminal(event.correlationId, event);
  }

  terminal(id, event) {
    if (this.status !== 'awaiting_responses') return;
    const handle = [...this.handles.values()].find((h) => h.ids.has(id));
    if (handle) {
      handle.ids.delete(id);
      handle.inner.terminal(id, event);
      this.absorb(handle);
      return;
    }
    const step = this.phase?.pending.get(id);
    if (!step) return;
    this.take(step, event);
    this.settle();
  }

  take(step, event) {
    const { phase } = this;
    const { correlationId: id, agentId: agent } = step.request;
    const completed = event.type === 'agent.step.completed';
    const output = completed ? event.output : undefined;
    const timedOut = event.type === 'agent.step.timed_out';
    const fault = event.type === 'agent.step.failed' || (completed && event.fault === true);
    const stalled = completed && event.stalled === true;
    const role = this.graph.roleOf(agent);
    phase.seen.push(id);
    phase.pending.delete(id);
    this.forget(id);
    phase.held = true;
    for (const command of (completed && event.memex_commands) || []) {
      this.emit('memex.command.emitted', { agentId: agent, command });
      this.memory?.apply(command, { agentId: agent, crewId: this.crewId, roleId: role.role });
    }
    const slot = step.replaced ?? agent;
    phase.outputs.set(slot, { agentId: slot, output, fault: fault || timedOut, stalled });
    if (!step.replaced) {
      if (fault) this.hook(role, 'on_fault', { agent, output, fault: true });
      else if (stalled) this.hook(role, 'on_stall', { agent, output, stalled: true });
      else if (timedOut) this.hook(role, 'on_timeout', { agent });
    }
    this.hook(role, 'after_agent', { agent, output, fault, stalled });
    if (!step.replaced && (fault || stalled || timedOut))
      this.fix(agent, timedOut ? 'timeout' : stalled ? 'stall' : 'fault');
    phase.held = false;
  }

  fix(agent, reason) {
    const { phase } = this;
    const role = this.graph.roles.find((r) => Object.keys(REASONS)
      .some((flag) => REASONS[flag] === reason && r.activation?.[flag]));
    const fixer = role?.agents[0];
    if (!phase || !fixer) return;
    this.emit('fixer.invoked', { agentId: fixer, reason });
    this.request(fixer, { reason, failedAgentId: agent, failedRoleId: phase.role.role,
      lastOutput: phase.outputs.get(agent)?.output, upstreamInput: this.input }, agent);
  }

  action(from, to, action) {
    if (this.graph.allows(from, to, action)) return true;
    this.emit('permission.denied', { from, to, action });
    const role = this.graph.roleOf(from);
    if (role) this.hook(role, 'on_permission_denied', { agent: from });
    this.fix(from, 'permission_denied');
    return false;
  }

  tick(now) {
    if (this.status !== 'awaiting_responses') return;
    const nested = [...this.handles.values()];
    const due = [...this.phase.pending.values()].filter(({ request }) => request.timeoutMs !== undefined &&
      request.ts + request.timeoutMs <= now);
    for (const step of due) {
      this.emit('agent.step.timed_out', { correlationId: step.request.correlationId }, now);
      this.take(step, { type: 'agent.step.timed_out' });
    }
    if (due.length > 0) this.settle();
    for (const handle of nested) { // deviation 1
      if (!this.handles.has(handle.inner.crewId)) continue;
      handle.inner.tick(now);
      this.absorb(handle);
    }
  }

  cancel(reason) {
    if (this.status === 'completed' || this.status === 'aborted') return;
    Object.assign(this, { status: 'aborted', phase: null });
    this.emit('crew.aborted', { reason });
  }

  // -- nested crews; a handle is known by its inner crew id: deviation 7b

  inFlight() {
    return [...this.handles.values()].filter((h) => h.serial === this.phase.serial);
  }

  open(agent, role, crewId, memory, burst) {
    const hard = role.execution?.memex?.isolation === 'hard' && Boolean(this.memory);
    const inner = new Session(role.nested,
      { ...this.options, crewId, memory: memory ?? (hard ? this.memory.fork(crewId) : this.memory) }, burst);
    const handle = { agent, inner, hard, ids: new Set(), serial: NONE };
    Object.assign(inner, { outer: this, as: handle });
    this.handles.set(crewId, handle);
    return handle;
  }

  spawn(agent, role, attempt, input, replaced) {
    this.emit('nested.crew.started', { agentId: agent, nestedName: role.nested.name });
    const handle = this.open(agent, role, `${this.crewId}/${agent}#${attempt}`, undefined, this.burst);
    Object.assign(handle, { serial: this.phase.serial, replaced });
    handle.inner.start(input);
    this.absorb(handle);
  }

  absorb(handle) {
    const { inner, agent } = handle;
    if (inner.status !== 'completed' || !this.handles.has(inner.crewId)) return; // its own end alone: deviation 2
    for (const id of handle.ids) this.forget(id);
    this.handles.delete(inner.crewId);
    const output = inner.input;
    if (handle.hard) this.memory.import(inner.memory);
    const { phase } = this;
    if (phase?.serial === handle.serial) {
      const slot = handle.replaced ?? agent; // deviation 7
      phase.outputs.set(slot, { agentId: slot, output, fault: false });
    }
    this.emit('nested.crew.completed', { agentId: agent, output });
    const held = phase?.held;
    if (phase) phase.held = true;
    this.hook(this.graph.roleOf(agent), 'after_agent', { agent, output, fault: false });
    if (phase) phase.held = held;
    this.settle();
  }

  // -- pending, snapshot, resume

  pending() {
    if (!this.phase) return [];
    return [...[...this.phase.pending.values()].map(({ request }) => request),
      ...[...this.handles.values()].flatMap((h) => h.inner.pending())];
  }

  snapshot() {
    const { phase } = this;
    const flying = phase ? this.inFlight() : [];
    return {
      schema_version: '1.0', crewId: this.crewId, status: this.status, phaseIndex: this.index, currentInput: this.input,
      task: this.task, agentAttempts: [...this.attempts], ts: this.options.now(),
      currentPhase: phase && {
        roleId: phase.role.role,
        pending: [...phase.pending.values()].map(({ request, input, roleSnapshot, memexContext }) =>
          ({ request, input, roleSnapshot, memexContext })),
        outputs: [...phase.outputs], terminalSeen: phase.seen,
        fixerSteps: [...phase.fixerSteps, ...flying.filter((h) => h.replaced).map((h) => [h.inner.crewId, h.replaced])],
        nestedPending: flying.map((h) => h.inner.crewId),
      },
      nested: [...this.handles.values()].map((h) =>
        ({ outerAgentId: h.agent, outerRoleId: this.graph.roleOf(h.agent).role,
        innerCids: [...h.ids], innerSnapshot: h.inner.snapshot(), innerAdapterSnapshot: h.hard
          ? h.inner.memory.snapshot() : undefined })),
    };
  }

  restore(s) {
    if (s.crewId !== this.crewId) throw new CrewError('crew_id_mismatch');
    Object.assign(this, { status: s.status, index: s.phaseIndex, input: s.currentInput, task: s.task });
    this.attempts = new Map(s.agentAttempts);
    if (s.currentPhase) {
      const { roleId, pending, outputs, terminalSeen, fixerSteps } = s.currentPhase;
      const replaced = new Map(fixerSteps);
      this.phase = { role: this.graph.roles.find((r) => r.role === roleId), serial: ++this.serial,
        outputs: new Map(outputs),
        seen: terminalSeen,
        fixerSteps: fixerSteps.filter(([id]) => !s.nested.some((n) => n.innerSnapshot.crewId === id)), held: false,
        pending: new Map(pending.map((step) =>
          [step.request.correlationId, { ...step, replaced: replaced.get(step.request.correlationId) }])) };
    }
    for (const { outerAgentId, innerCids, innerSnapshot, innerAdapterSnapshot } of s.nested) {
      const role = this.graph.roleOf(outerAgentId);
      if (!role?.nested) throw new CrewError('cannot_restore_nested');
      const { crewId } = innerSnapshot;
      const handle = this.open(outerAgentId, role, crewId, innerAdapterSnapshot &&
        new Memory(crewId, innerAdapterSnapshot.items), this.burst);
      handle.inner.restore(innerSnapshot);
      handle.ids = new Set(innerCids);
      handle.serial = s.currentPhase?.nestedPending.includes(crewId) ? this.serial : NONE;
      handle.replaced = new Map(s.currentPhase?.fixerSteps).get(crewId);
    }
  }

  // Resumes from a snapshot; returns the session and the emitted events.
  static resume(graph, options, snapshot, later, policy) {
    const session = new Session(graph, options);
    session.restore(JSON.parse(canonical(snapshot)));
    for (const event of later) session.deliver(event);
    const waiting = session.status === 'awaiting_responses' ? session.pending() : [];
    if (waiting.length > 0) {
      if (policy === 're-emit-request') session.reEmit();
      else if (policy === 'treat-as-failed') for (const { correlationId } of waiting)
        session.terminal(correlationId, { type: 'agent.step.failed' });
      else throw new CrewError('resume_unresolved');
    }
    return session;
  }

  reEmit() {
    if (!this.phase) return;
    for (const step of this.phase.pending.values()) this.ask(step, this.options.now());
    for (const handle of this.handles.values()) handle.inner.reEmit();
  }
}

// ---- scenarios (crew-vector/1)

class Player {
  constructor(scenario, graph) {
    const { options } = scenario;
    this.now = options.clock ?? 0;
    this.known = options.hooks;
    this.calls = [];
    this.labels = new Map();
    this.store = new Map();
    this.graph = graph;
    this.memory = options.memory && new Memory(options.crewId);
    for (const { command, context } of options.memory?.seed ?? []) this.memory.apply(command, context);
    this.options = { crewId: options.crewId, now: () => this.now, memory: this.memory,
      defaultTimeoutMs: options.defaultTimeoutMs,
      autoCheckpoint: options.autoCheckpoint, hooks: options.hooks &&
        ((context, control) => this.called(context, control)) };
    this.session = new Session(graph, this.options);
  }

  called(context, control) {
    const actions = this.known[context.hook];
    if (!actions) return;
    this.calls.push(canonical(context));
    for (const { do: verb, id, from, to, action } of actions) {
      if (verb === 'checkpoint') control.checkpoint(id);
      else {
        const allowed = control.requestAction(from, to, action);
        this.calls.push(canonical({ hook: context.hook, request_action: { from, to, action }, allowed }));
      }
    }
  }

  step(step) {
    this.calls = [];
    let record;
    try {
      record = this[`op_${step.op}`](step);
    } catch (error) {
      if (!(error instanceof CrewError)) throw error;
      record = { error: { code: error.code } };
    }
    if (['start', 'deliver', 'tick', 'cancel', 'action', 'resume'].includes(step.op))
      record.status = this.session.status;
    if (this.calls.length > 0) record.hooks = this.calls;
    return record;
  }

  run(work) {
    return { events: this.session.call(work) };
  }

  op_start({ input, task }) {
    return this.run(() => this.session.start(input, task));
  }

  op_deliver({ event }) {
    return this.run(() => this.session.deliver(event));
  }

  op_clock({ set, advance }) {
    this.now = set ?? this.now + advance;
    return {};
  }

  op_tick({ now }) {
    return this.run(() => this.session.tick(now));
  }

  op_cancel({ reason }) {
    return this.run(() => this.session.cancel(reason));
  }

  op_action({ from, to, action }) {
    let allowed;
    return { ...this.run(() => { allowed = this.session.action(from, to, action); }), allowed };
  }

  op_pending() {
    return { pending: this.session.pending().map(canonical) };
  }

  op_snapshot({ as }) {
    const snapshot = canonical(this.session.snapshot());
    this.labels.set(as, snapshot);
    return { snapshot };
  }

  op_resume({ from, policy, later = [], crewId }) {
    const options = { ...this.options, crewId: crewId ?? this.options.crewId };
    const session = Session.resume(this.graph, options, JSON.parse(this.labels.get(from)), later, policy);
    this.session = session;
    return { events: [...session.burst] };
  }

  op_memory() {
    return { memory: canonical(this.memory.snapshot()) };
  }

  op_store({ do: verb, id, from }) {
    if (verb === 'put') this.store.set(id, this.labels.get(from));
    if (verb === 'delete') this.store.delete(id);
    if (verb === 'get') return { found: this.store.has(id), snapshot: this.store.get(id) };
    return verb === 'list' ? { ids: [...this.store.keys()] } : {};
  }

  op_canonicalize({ text }) {
    return { result: canonical(JSON.parse(text)) };
  }

  op_hash({ text }) {
    return { result: hash(text) };
  }

  op_correlation({ parts }) {
    return { result: correlation(parts) };
  }

  op_vote({ votes, config }) {
    const [resolved] = vote(config, votes, votes.length);
    return { resolved: resolved === undefined ? null : canonical(resolved) };
  }

  op_permission({ from, to, action }) {
    return { allowed: this.graph.allows(from, to, action) };
  }
}

// What must come out of a scenario: its member "expect".
export function expectation(scenario) {
  const shape = shapeErrors(scenario.shape), agents = agentsErrors(scenario.agents);
  const none = { steps: [], log: [] };
  if (shape.length + agents.length > 0) {
    return { ...(shape.length > 0 && { shape_errors: shape }), ...(agents.length > 0 && { agents_errors: agents }),
      ...none };
  }
  const expect = { lint: lint(scenario.shape) };
  let graph;
  try {
    graph = buildGraph(scenario.shape, scenario.agents, scenario.registry);
  } catch (error) {
    if (!(error instanceof CrewError)) throw error;
    return { ...expect, build_error: { code: error.code }, ...none };
  }
  const player = new Player(scenario, graph);
  const steps = scenario.steps.map((step) => player.step(step));
  return { ...expect, graph: graphView(graph), steps, log: steps.flatMap((record) => record.events ?? []) };
}
