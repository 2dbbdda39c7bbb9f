// Mints vectors/crew: scenarios of the format crew-vector/1, with what must come out computed by
// crew-model.mjs, which is written from the specification and shares no code with the library.
//
//   tests/support/node tests/support/mint/mint-crew.mjs [FOLDER]               (default: vectors)
//   tests/support/node tests/support/mint/mint-crew.mjs FOLDER walks FROM TO   random walks of these seeds alone
//   tests/support/node tests/support/mint/mint-crew.mjs FOLDER resumed FROM TO the same walks, straight and resumed at
//   every step
//
// The output is the same byte for byte at every run: nothing in here is random but by its seed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CrewError, Session, buildGraph, expectation } from '../js/crew-model.mjs';

// ---- a seeded generator (mulberry32)

class Dice {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  below(n) {
    return Math.floor(this.next() * n);
  }

  chance(p) {
    return this.next() < p;
  }

  of(list) {
    return list[this.below(list.length)];
  }

  shuffled(list) {
    const left = [...list];
    return Array.from(list, () => left.splice(this.below(left.length), 1)[0]);
  }
}

// ---- parts of scenarios

const role = (name, rest = {}) => ({ role: name, permissions: {}, amount: 1, ...rest });
const first = (name = 'a', rest = {}) => role(name, { first_input: true, ...rest });
const last = (name = 'z', rest = {}) => role(name, { final_output: true, ...rest });
const shape = (name, ...roles) => ({ schema_version: '1.0', name, roles });
const noAgents = (name) => ({ schema_version: '1.0', name, agents: [] });
const SMALL = shape('S', first(), last());

const scenarios = [];
function add(name, description, tags, { shape: given = SMALL, agents, registry, options, steps = [] }) {
  const scenario = { format: 'crew-vector/1', name, description, tags, shape: given, agents: agents ??
    noAgents(given.name),
    ...(registry && { registry }), options: { crewId: name, ...options }, steps };
  scenarios.push({ ...scenario, expect: expectation(scenario) });
}

const completed = (correlationId, rest) =>
  ({ op: 'deliver', event: { type: 'agent.step.completed', correlationId, ...rest } });

// Steps that are written while the session runs, so that they can answer what was asked.
function script(given, { agents, registry, options }, write) {
  const steps = [];
  const graph = buildGraph(given, agents ?? noAgents(given.name), registry);
  let session = new Session(graph,
    { crewId: options.crewId, now: () => 0, ...options, hooks: undefined, memory: undefined });
  const step = (s) => {
    steps.push(s);
    try {
      if (s.op === 'start') session.start(s.input, s.task);
      if (s.op === 'deliver') session.deliver(s.event);
      if (s.op === 'tick') session.tick(s.now);
      if (s.op === 'cancel') session.cancel(s.reason);
      if (s.op === 'action') session.action(s.from, s.to, s.action);
      if (s.op === 'resume')
        session = Session.resume(graph, session.options, session.snapshot(), s.later ?? [], s.policy);
    } catch (error) {
      if (!(error instanceof CrewError)) throw error;
    }
  };
  const ask = (agent) => session.pending().filter((p) => p.agentId === agent).at(-1)?.correlationId ??
    '0000000000000000';
  write({ step, ask, answer: (agent, rest) => step(completed(ask(agent), rest)), pending: () => session.pending(),
    status: () => session.status });
  return steps;
}

function play(name, description, tags, given, write) {
  const options = { crewId: name, ...given.options };
  add(name, description, tags,
    { ...given, options: given.options, steps: script(given.shape, { ...given, options }, write) });
}

// ---- votes

const entries = (outputs) =>
  outputs.map((output, at) => ({ agentId: `v-${at + 1}`, roleId: 'v', ...(output?.fault || output?.stalled
  ? output : output === undefined ? {} : { output }) }));
const ballots = (name, description, cases) => add(name, description, ['voting', 'pure'],
  { steps: cases.map(([config, outputs]) => ({ op: 'vote', votes: entries(outputs), config })) });

const split = (a, r, m) => [...Array(a).fill('approve'), ...Array(r).fill('reject'), ...Array(m).fill('modify')];
const splits = [];
for (let n = 0; n <= 6; n++) for (let a = 0; a <= n; a++) for (let r = 0; a + r <= n; r++)
  splits.push(split(a, r, n - a - r));

ballots('vote-review-splits', 'Every split of up to six votes at the default threshold of exactly two thirds.',
  splits.map((votes) => ['review', votes]));
ballots('vote-review-thresholds',
  'Thresholds as fractions and as decimals, taken exactly: 0.67 is not two thirds, 0.75 is three quarters.',
  ['2/3', 0.67, 0.66, '3/4', 0.75, '51/100', 1,
    '1/1'].flatMap((threshold) => splits.filter((v) => v.length >= 3 && v.length <= 4)
    .map((votes) => [{ mode: 'review', threshold }, votes])));
ballots('vote-review-weights',
    'Weights of agents and of roles, also of nobody: a weight of 0 is a vote that does not count in the share.', [
  [{ mode: 'review', weights: { 'v-1': 2 } }, split(1, 1, 0)],
  [{ mode: 'review', weights: { 'v-1': 2 } }, split(1, 1, 1)],
  [{ mode: 'review', weights: { 'v-2': 5 } }, split(1, 1, 1)],
  [{ mode: 'review', weights: { v: 3, 'v-2': 1 } }, split(2, 1, 0)],
  [{ mode: 'review', weights: { v: 0 } }, split(3, 0, 0)],
  [{ mode: 'review', weights: { 'v-1': 0 } }, split(1, 2, 0)],
  [{ mode: 'review', weights: { 'v-1': 1000003, 'v-2': 999983, 'v-3': 17 } }, split(1, 1, 1)],
  [{ mode: 'review', weights: { other: 9 } }, split(2, 1, 0)],
]);
ballots('vote-review-veto',
    'One reject of an agent or a role with a veto rejects, but not before the quorum, and not when it is faulted.', [
  [{ mode: 'review', veto: ['v-5'] }, [...split(4, 0, 0), 'reject']],
  [{ mode: 'review', veto: ['v-5'] }, [...split(4, 0, 0), 'modify']],
  [{ mode: 'review', veto: ['v'] }, split(4, 1, 0)],
  [{ mode: 'review', veto: ['v-1', 'other'] }, split(4, 1, 0)],
  [{ mode: 'review', veto: ['v-2'], weights: { 'v-2': 0 } }, split(1, 1, 0)],
  [{ mode: 'review', veto: ['v-2'], quorum: 3 }, split(1, 1, 0)],
  [{ mode: 'review', veto: ['v-3'] }, ['approve', 'approve', { output: 'reject', fault: true }]],
]);
ballots('vote-review-forms', 'A vote is a word or an object that says so; anything else is no vote.', [
  ['review', [{ vote: 'approve' }, { vote: 'approve', comment: 'x' }, 'reject']],
  ['review', [{ vote: 'modify' }, 'modify', { vote: 1 }, 'Approve', null, ['approve'], undefined]],
  ['review', []],
  ['review', [null, 1, 'yes']],
  [{ mode: 'review', quorum: 1 }, [null]],
]);

ballots('vote-quorum',
    'A count, or an exact share of all who could have voted; asked of valid entries, before the mode.', [
  ...['first_valid', 'majority', 'unanimous', 'weighted_consensus'].flatMap((mode) =>
    [0, 2, 3, '2/3', '3/4', '1/1'].map((quorum) =>
    [{ mode, quorum }, [1, 1, { output: 1, fault: true }, { output: 1, stalled: true }]])),
  [{ mode: 'majority', quorum: '1/2' }, [1, { output: 1, fault: true }]],
  [{ mode: 'majority', quorum: '500001/1000000' }, [1, { output: 1, fault: true }]],
  [{ mode: 'majority', quorum: '0/1' }, [{ output: 1, fault: true }]],
  [{ mode: 'best_of_n', score: '', quorum: 2 }, [1, 'none']],
  [{ mode: 'borda', quorum: 2 }, [['a', 'b'], ['a', 'a']]],
  [{ mode: 'review', quorum: '2/3' }, ['approve', 'approve', 'abstain']],
  [{ mode: 'review', quorum: '3/4' }, ['approve', 'approve', 'abstain']],
]);

const thirds = [['2/3', [1, 1, 2]], ['2/3', [1, 2, 1, 2, 1, 1]], ['666667/1000000', [1, 1, 2]],
  ['333333/500000', [1, 1, 2]],
  [0.66, [1, 1, 2]], [0.67, [1, 1, 2]], ['1/2', [1, 2]], ['1/2', [1, 2, 3]], ['0/1', [3, 2]], ['1/1', [1, 1]],
  ['1/1', [1, 2]]];
ballots('vote-weighted-exact',
    'Weights and shares are rationals: a tie at exactly the threshold reaches it, one part in a million less does not.',
    [
  ...thirds.map(([threshold, outputs]) => [{ threshold }, outputs]),
  ...thirds.map(([threshold, outputs]) => [{ threshold, weights: { v: 7 } }, outputs]),
  [{ threshold: '1/3', weights: { 'v-1': 1, 'v-2': 2 } }, ['a', 'b']],
  [{ threshold: '2/3', weights: { 'v-1': 1, 'v-2': 2 } }, ['a', 'b']],
  [{ threshold: 0.1, weights: { 'v-1': 1, 'v-2': 9 } }, ['a', 'b']],
  [{ threshold: 0.3, weights: { 'v-1': 3, 'v-2': 7 } }, ['a', 'b']],
  [{ threshold: 0.7, weights: { 'v-1': 3, 'v-2': 7 } }, ['a', 'b']],
  [{ threshold: '1/3', weights: { 'v-1': 333333, 'v-2': 666667 } }, ['a', 'b']],
  [{ threshold: '1/3', weights: { 'v-1': 333334, 'v-2': 666666 } }, ['a', 'b']],
  [{ threshold: '0/1', weights: { v: 0 } }, ['a', 'b']],
  [{ threshold: '1/2', weights: { 'v-1': 0 } }, ['a', 'b', 'c']],
  [{ threshold: '1/2', weights: { 'v-3': 1000000 } }, ['a', undefined, undefined]],
]);
ballots('vote-best-of-n',
    'The highest number under the pointer; a tie goes to the first; an output without it is left out.', [
  [{ mode: 'best_of_n', score: '/score' }, [{ score: 1 }, { score: 3 }, { score: 2 }]],
  [{ mode: 'best_of_n', score: '/score' }, [{ score: 3, n: 1 }, { score: 3, n: 2 }]],
  [{ mode: 'best_of_n', score: '/score' }, [{ score: '9' }, { score: null }, { n: 9 }, { score: -1 }]],
  [{ mode: 'best_of_n', score: '/a~1b/~0/0' }, [{ 'a/b': { '~': [1] } }, { 'a/b': { '~': [2, 9] } }]],
  [{ mode: 'best_of_n', score: '/0' }, [[1], [5], { 0: 9 }]],
  [{ mode: 'best_of_n', score: '/01' }, [[1, 2]]],
  [{ mode: 'best_of_n', score: '' }, [1, 1e300, -5, 'x']],
  [{ mode: 'best_of_n', score: '/score' }, [{ score: 9, fault: true }].map((output) => ({ output, fault: true }))],
  ['best_of_n', [1]],
  ['best_of_n', []],
]);

function bordaCases() {
  const dice = new Dice(1705);
  const cases = [
    [{ mode: 'borda' }, [['a', 'b', 'c'], ['b', 'c', 'a'], ['c', 'a', 'b']]],
    [{ mode: 'borda' }, [['\u{1F600}', '\uFB01'], ['\uFB01', '\u{1F600}']]],
    [{ mode: 'borda' }, [['a', 'b', 'c'], ['a', 'b', 'c'], ['a', 'b', 'x'], ['a', 'b'], ['a', 'a', 'b'], 'a', [1, 2]]],
    [{ mode: 'borda' }, [['a', 'b'], ['c', 'd']]],
    [{ mode: 'borda' }, [['only']]],
    [{ mode: 'borda' }, [[]]],
    [{ mode: 'borda', alpha: '1/1' }, [['b', 'a'], ['a', 'b']]],
  ];
  const shares = [0, 1, 0.25, '1/2', '1/3', '2/3', '3/4', 0.1];
  for (let at = 0; at < 60; at++) {
    const candidates = ['a', 'b', 'c', 'd', 'e'].slice(0, 2 + dice.below(4));
    cases.push([{ mode: 'borda', alpha: dice.of(shares), beta: dice.of(shares), lambda: dice.of(shares) },
      Array.from({ length: 1 + dice.below(7) }, () => dice.shuffled(candidates))]);
  }
  return cases;
}
ballots('vote-borda',
  'Constrained Hybrid Borda: circles, ties by UTF-16 code unit, eligibility, parameters as exact shares.',
  bordaCases());

function tables() {
  const dice = new Dice(6);
  const values = ['x', 'y', 1, null, { a: 1, b: [2] }, { b: [2], a: 1 }, undefined, 1.0, -0, 'approve', 'reject',
    'modify'];
  return Array.from({ length: 150 }, () => {
    const config = { mode: dice.of(['first_valid', 'unanimous', 'majority', 'weighted_consensus', 'review']) };
    if (dice.chance(0.5) && config.mode !== 'review') config.threshold = dice.of([0, 0.5, 0.66, '1/2', '2/3', 1]);
    if (dice.chance(0.4)) config.weights = Object.fromEntries([1, 2, 3].map((n) => [`v-${n}`, dice.below(4)]));
    if (dice.chance(0.3)) config.quorum = dice.of([1, 2, 3, '1/2', '2/3']);
    return [config, Array.from({ length: dice.below(7) }, () => {
      const output = dice.of(values.slice(0, 3 + dice.below(values.length - 2)));
      return dice.chance(0.15) ? { ...(output === undefined ? {} : { output }), [dice.of(['fault', 'stalled'])]: true }
        : output;
    })];
  });
}
ballots('vote-tables', 'Many small tables over all modes, with weights, quorums, faults and absent outputs.', tables());

// ---- schema, lint, build

const voting = (config) => shape('V', first('a', { execution: { voting: config } }), last());
const refused = { mode: ['plurality', 1, 'engine:'], weight_function: [1],
  threshold: [-1, 1.5, '2/3x', '3/2', '1/0', '01/2', ' 1/2', null, []],
  weights: [[], { a: -1 }, { a: 1.5 }, { a: '1' }, { 'a/b~': null }], quorum: [-1, 0.5, '3/2', '1', null, {}],
  veto: ['a', [1]],
  score: [1, 'a', '/~2'], alpha: [2, '2/1'], beta: [true], lambda: ['x'], quorom: [1], '': [0] };
const roles = [];
for (const [member, values] of Object.entries(refused)) {
  for (const value of values) roles.push(role(`r${roles.length}`, { execution: { voting: { [member]: value } } }));
}
for (const threshold of ['1/2', 0.5, 0, '1/3'])
  roles.push(role(`r${roles.length}`, { execution: { voting: { mode: 'review', threshold } } }));
add('schema-voting',
  'Every member of a voting object with values that it must not have, and members that there are not.',
  ['schema', 'errors'],
  { shape: shape('V', ...roles) });
add('schema-invite', 'Entries of invite fit one of two forms, or give one error each.', ['schema', 'errors'],
    { shape: shape('V', first('a', {
  permissions: { invite: ['a', { role: 'z' }, { role: 'z', consensus: { mode: 'majority' } }, 1, null, {}, { role: 1 },
    { role: 'z', consensus: { mode: 'x' } }, { role: 'z', consensus: 1 }, { role: 'z', consensus: { quorom: 1 } }] } }),
      last()) });
add('schema-everything', 'Each member with a wrong type, at two depths.', ['schema', 'errors'], {
  shape: { schema_version: 1, name: 1, description: 1,
    roles: [null, {}, { role: '', permissions: [], capabilities: [], delegation: 1, amount: -1,
    max_allowed: 1.5, activation: {}, first_input: 1, final_output: null, nested_crew: 1,
    hooks: { after_role: 1, on_checkpoint: null }, execution: [] },
  role('x', { activation: { on_fault: 1, on_stall: false }, capabilities: { thinking_allowed: 1, tools: {}, model: 1 },
    permissions: { talk_to: 'x', delegate_to: [1, 'x', null], escalate_to: {}, invite: {}, modify_structure: 1 },
    delegation: { max_depth: -1 },
    amount: 9007199254740992, max_allowed: 0,
    execution: { voting: 1, checkpoints: [1], timeout_ms: -1, serial: 1, memex: 1 } }),
  role('y', { activation: { on_fault: false },
    execution: { timeout_ms: 0.5, memex: { view: 1, isolation: 'none', enabled: 1 } } })] },
  agents: { schema_version: '1.1', name: '',
    agents: [1, {}, { role: '', amount: 0.5 }, { role: 'x', amount: -1, system_prompt: 1 }] } });
add('schema-roots', 'Neither file is an object.', ['schema', 'errors'], { shape: [1], agents: 'x' });
for (const [name,
  config] of Object.entries(
  { review: { mode: 'review', threshold: '2/3', quorum: '1/2', veto: ['a-1'], weights: { a: 2 } },
  borda: { mode: 'borda', alpha: '1/3', beta: 0.5, lambda: '1/2' }, best: { mode: 'best_of_n', score: '/n' } })) {
  add(`lint-voting-${name}`, 'Our own modes are clean.', ['lint'], { shape: voting(config) });
}
add('lint-voting-engine', 'An engine that nobody has added is not supported.', ['lint', 'errors'],
  { shape: voting({ mode: 'engine:none' }) });
add('lint-voting-best-without-score', 'best_of_n needs a score.', ['lint', 'errors'],
  { shape: voting({ mode: 'best_of_n' }) });
add('lint-everything', 'All findings at once, in their order; repeats count.', ['lint', 'errors'], { shape: shape('L',
  role('a', { first_input: true, permissions: { talk_to: ['n1', 'a'], delegate_to: ['a', 'n2', 'n2', 'z'],
    escalate_to: ['a', 'a'], invite: [{ role: 'n3' }, 'z'] } }),
  role('b', { first_input: true, execution: { voting: { mode: 'best_of_n' } } }),
  role('a', { execution: { voting: { weight_function: 'expert' } } }),
  role('a', { permissions: { escalate_to: ['b'], delegate_to: ['b', 'b'] } })) });
const member = (name, nested) => first(name, { final_output: true, ...(nested && { nested_crew: nested }) });
add('build-counts', 'The last amount counts, 0 too; ids follow the declaration, not the agents file.', ['build'], {
  shape: shape('B', first('a', { amount: 2 }), role('m', { amount: undefined }), last('z', { system_prompt: 'shape' })),
  agents: { ...noAgents('B'), agents: [{ role: 'z', amount: 3, system_prompt: 'one' }, { role: 'a', amount: 0 },
    { role: 'z', amount: 1 }, { role: 'a', amount: 1, system_prompt: '' }] },
  steps: [{ op: 'start', input: 1 }] });
add('build-nested-cycle', 'A cycle two levels down, found by the name of the crew.', ['build', 'nested', 'errors'], {
  shape: shape('A', member('a', 'b')), registry: { b: shape('B', member('b', 'c')), c: shape('C', member('c', 'again')),
    again: shape('B', member('x')) } });
add('build-nested-unknown',
    'A nested crew that the registry lacks is an error (deviation 10), but not behind a role of nobody.',
    ['build', 'nested', 'errors', 'deviation'], {
  shape: shape('A', first('a'), role('n', { amount: 0, nested_crew: 'none' }), role('m', { nested_crew: 'none' }),
    last()), registry: {} });
add('build-nested-unknown-nobody', 'The same with nobody in both.', ['build', 'nested'], {
  shape: shape('A', first('a'), role('n', { amount: 0, nested_crew: 'none' }), last()), steps: [{ op: 'start' }] });
add('build-nested-lint', 'What is wrong with a nested shape is wrong with the crew.', ['build', 'nested', 'errors'], {
  shape: shape('A', member('a', 'b')), registry: { b: shape('B', role('b')) } });

// ---- sessions

const note = (id, rest = {}) => ({ type: 'memory.create', item: { id, ...rest } });
const remembers = {
  execution: { memex: { view: 'all', retrieval: { budget: 3, weights: { importance: 2, authority: 0.5 } } } } };
for (const isolation of ['soft', 'hard']) {
  const inner = shape('I', member('i'));
  inner.roles[0].execution = { memex: { view: 'crew', retrieval: {} } };
  play(`memory-${isolation}`,
      `A nested crew with ${isolation} isolation: what it sees, what it writes, when others see it.`,
      ['memory', 'nested', 'snapshot'], {
    shape: shape('M', first('a', remembers),
      role('team', { amount: 2, nested_crew: 'i', execution: { memex: { isolation } } }), last('z', remembers)),
    registry: { i: inner },
    options: { memory: { seed: [{ command: note('seed', { importance: 1 }),
      context: { agentId: 'old', crewId: 'before', roleId: 'r' } }] } },
  }, ({ step, answer, pending }) => {
    step({ op: 'start', input: 'go' });
    answer('a-1', { output: 'up',
      memex_commands: [note('n1',
        { importance: 0.5, author: '', scope: 'mine', meta: { agent_id: 'forged', kept: 1 } }),
      { type: 'memory.update', item_id: 'seed', partial: { authority: 4 } },
      { type: 'memory.update', item_id: 'none', partial: {} }, { type: 'other' }] });
    step({ op: 'memory' });
    const [one, two] = pending();
    step(completed(two.correlationId,
      { output: 2, memex_commands: [note('inner', { author: 'me' }), { type: 'memory.retract', item_id: 'n1' }] }));
    step({ op: 'snapshot', as: 'half' });
    step({ op: 'memory' });
    step(completed(one.correlationId, { fault: true, memex_commands: [note('inner', { author: 'late' })] }));
    step({ op: 'memory' });
    answer('z-1', { output: 'end' });
  });
}

const worker = (rest) => role('w', { amount: 2, execution: { timeout_ms: 10, ...rest } });
const fixer = (name, ...reasons) =>
  role(name, { activation: Object.fromEntries(reasons.map((r) => [`on_${r}`, true])) });
play('deviation-1-nested-timeout',
    'A tick reaches nested crews, after the own steps of the crew, in the order in which they were spawned; two ' +
      'levels down.', ['deviation', 'timeout', 'nested'], {
  shape: shape('T', first('a'), role('t', { amount: 2, nested_crew: 'b' }), last()), options: { defaultTimeoutMs: 10 },
  registry: { b: shape('B', first('b', { nested_crew: 'c' }), last('y')), c: shape('C', member('c')) },
}, ({ step, answer, ask }) => {
  step({ op: 'start', input: 1 });
  answer('a-1', { output: 2 });
  step(completed(ask('c-1'), { output: 'in time' }));
  step({ op: 'tick', now: 9 });
  step({ op: 'tick', now: 10 });
  step({ op: 'pending' });
  step({ op: 'tick', now: 20 });
  answer('z-1', { output: 3 });
});
play('deviation-3-nested-at-once',
    'Nested crews of nobody end at once: all agents of the phase begin before it is asked whether it is over.',
    ['deviation', 'nested'], {
  shape: shape('E', first('a', { nested_crew: 'e', amount: 3, execution: { voting: { mode: 'majority' } } }), last()),
  registry: { e: shape('N', first('x', { amount: 0 }), last('y', { amount: 0 })) },
}, ({ step, answer }) => {
  step({ op: 'start', input: 'in' });
  answer('z-1', { output: 1 });
});
play('deviation-7-nested-fixer',
    'A fixer that is a nested crew takes the slot of the agent that failed; two runs of it at once are two crews ' +
      '(7b), in snapshots too.', ['deviation', 'fixer', 'nested', 'snapshot', 'resume'], {
  shape: shape('F', first('a'), worker({ voting: { mode: 'unanimous' } }),
    role('f', { nested_crew: 'r', activation: { on_fault: true } }), last()),
  registry: { r: shape('R', member('r')) },
}, ({ step, answer, pending }) => {
  step({ op: 'start', input: 1 });
  answer('a-1', { output: 2 });
  answer('w-1', { output: 'bad', fault: true });
  answer('w-2', { fault: true });
  step({ op: 'snapshot', as: 'two' });
  const [one, two] = pending();
  step(completed(two.correlationId, { output: 'fixed' }));
  step({ op: 'snapshot', as: 'one' });
  step({ op: 'resume', from: 'one', policy: 're-emit-request' });
  step(completed(one.correlationId, { output: 'fixed' }));
  answer('z-1', { output: 'end' });
  step({ op: 'snapshot', as: 'end' });
});
play('fixer-reasons',
    'One fixer for each reason; a fault is stronger than a stall for hooks, and weaker for the fixer.',
    ['fixer', 'hooks', 'timeout'], {
  shape: shape('R', first('a'),
    { ...worker({}), amount: 5, hooks: { on_fault: 'h', on_stall: 'h', on_timeout: 'h', after_agent: 'h' } },
    fixer('ff', 'fault'), fixer('fs', 'stall'), fixer('ft', 'timeout', 'permission_denied'), last()),
  options: { hooks: { h: [] } },
}, ({ step, answer, ask }) => {
  step({ op: 'start' });
  answer('a-1', {});
  answer('w-1', { output: 1, fault: true });
  answer('w-2', { output: 2, stalled: true });
  answer('w-3', { output: 3, stalled: true, fault: true });
  step({ op: 'deliver',
    event: { type: 'agent.step.failed', correlationId: ask('w-4'), error: { name: 'E', message: '' } } });
  step({ op: 'action', from: 'w-5', to: 'z-1', action: 'talk_to' });
  step({ op: 'tick', now: 10 });
  answer('ff-1', { output: 'f', fault: true });
  for (const name of ['fs-1', 'fs-1', 'ft-1', 'ft-1', 'ff-1']) answer(name, { output: name });
  answer('z-1', { output: 1 });
});
play('hooks-recursion', 'A hook that asks again inside of itself, and checkpoints at their place in the burst.',
    ['hooks', 'checkpoint', 'permission'], {
  shape: shape('H',
    first('a', { hooks: { before_role: 'ask', after_agent: 'mark', on_checkpoint: 'mark' },
      execution: { checkpoints: ['one', 'two'] }, permissions: { talk_to: ['z'] } }),
    fixer('f', 'permission_denied'), last('z', { hooks: { on_permission_denied: 'mark', before_agent: 'ask' } })),
  options: { autoCheckpoint: true,
    hooks: { ask: [{ do: 'request_action', from: 'z-1', to: 'a-1', action: 'escalate_to' },
    { do: 'request_action', from: 'a-1', to: 'z-1', action: 'talk_to' }], mark: [{ do: 'checkpoint', id: 'm' }] } },
}, ({ step, answer }) => {
  step({ op: 'start', input: 0 });
  answer('a-1', { output: 1 });
  answer('f-1', { output: 'f' });
  answer('f-1', { output: 'g' });
  answer('z-1', { output: 2 });
});
play('order-of-answers',
    'The log does not depend on the order of the answers of a phase: here they come backwards, twice and late.',
    ['determinism', 'dedup'], {
  shape: shape('O', first('a', { amount: 4, execution: { voting: { mode: 'majority' } } }), last()),
}, ({ step, ask, answer }) => {
  step({ op: 'start', input: null });
  const ids = [4, 3, 2, 1].map((n) => ask(`a-${n}`));
  for (const [at, id] of ids.entries()) {
    step(completed(id, { output: at % 2 }));
    step(completed(id, { output: 'again' }));
  }
  step(completed(ids[0], { output: 'late' }));
  answer('z-1', { output: 'end' });
});
play('resume-policies', 'All three policies, nested steps among what waits, and a snapshot of another crew.',
    ['resume', 'nested', 'snapshot', 'errors'], {
  shape: shape('P', first('a'), role('t', { nested_crew: 'b', amount: 2 }), worker({}), fixer('f', 'fault'), last()),
  registry: { b: shape('B', first('b', { amount: 2 }), fixer('g', 'fault'), last('y')) },
}, ({ step, answer, pending }) => {
  step({ op: 'start', input: { deep: [1] }, task: 't' });
  answer('a-1', { output: 'up' });
  const [one, two] = pending();
  step(completed(one.correlationId, { output: 1 }));
  step({ op: 'snapshot', as: 's' });
  step({ op: 'resume', from: 's' });
  step({ op: 'resume', from: 's', crewId: 'other' });
  step({ op: 'resume', from: 's', policy: 're-emit-request',
    later: [{ type: 'agent.step.completed', correlationId: two.correlationId, output: 2 }] });
  step({ op: 'pending' });
  step({ op: 'snapshot', as: 't' });
  step({ op: 'resume', from: 't', policy: 'treat-as-failed' });
  step({ op: 'pending' });
  while (pending().length > 0) answer(pending()[0].agentId, { output: pending().length });
  step({ op: 'snapshot', as: 'end' });
});
play('cancel-any-time', 'Cancelled while idle, and while nested crews run.', ['cancel', 'nested'], {
  shape: shape('C', first('a', { nested_crew: 'b' }), last()), registry: { b: shape('B', member('b')) },
}, ({ step, pending }) => {
  step({ op: 'start' });
  const [one] = pending();
  step({ op: 'cancel', reason: 'timeout' });
  step(completed(one.correlationId, { output: 1 }));
  step({ op: 'pending' });
  step({ op: 'tick', now: 1e9 });
  step({ op: 'cancel', reason: 'cancelled' });
  step({ op: 'snapshot', as: 's' });
});
add('cancel-idle', 'Cancelled before it began: it cannot be started any more.', ['cancel', 'errors'], {
  steps: [{ op: 'cancel', reason: 'cancelled' }, { op: 'start' }, { op: 'snapshot', as: 's' }] });
add('canonical-forms', 'Numbers, strings and names at the edges of the canonical form.',
    ['canonical', 'unicode', 'pure'], { steps: [
  '[1e21,1e20,123456789012345680000,1e-6,1e-7,5e-324,1.7976931348623157e308,-0,0.1,5.684341886080802e-14,' +
    '9007199254740993]',
  '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}',
  '"\\u2028\\u007f\\/\\b\\u001f\\""', '[[],{},null,true]', ' { "b" : 1 , "a" : { "d" : 1 , "c" : 2 } } ',
].map((text) => ({ op: 'canonicalize', text })) });
add('hash-and-ids', 'Hashes step over UTF-16 code units; ids are hashes of four members.', ['ids', 'unicode', 'pure'],
    { steps: [
  ...['', 'a', '\u{1F600}', '\u00e9\u4e2d', 'x'.repeat(100)].map((text) => ({ op: 'hash', text })),
  ...[1, 2, 1e21].map((attempt) =>
    ({ op: 'correlation', parts: { crewId: 'c/a-1#1', roleId: '\u{1F600}', agentId: 'a"1', attempt } }))] });

// ---- random walks: a shape, and calls that answer what is asked, or do not

const OUTPUTS = ['x', 'y', 1, null, { b: 1, a: ['\u{1F600}', 2.5] }, 'approve', 'reject', 'modify', ['p', 'q'],
  ['q', 'p'], { n: 3 }, { n: 4 }];

function randomRole(dice, name, names, depth) {
  const some = (p) => names.filter(() => dice.chance(p));
  const made = role(name,
    { amount: dice.below(4),
      permissions: { talk_to: some(0.4), delegate_to: some(0.1), escalate_to: some(0.3).filter((n) => n !== name) } });
  if (dice.chance(0.6)) {
    made.execution = { voting: dice.of([{}, { mode: 'majority' }, { mode: 'unanimous', quorum: '1/2' },
      { mode: 'review', veto: [`${name}-1`] }, { mode: 'borda' },
      { mode: 'best_of_n', score: '/n' }, { threshold: '1/2', weights: { [`${name}-2`]: 3 } }]) };
  }
  if (dice.chance(0.3)) made.execution = { ...made.execution, timeout_ms: dice.of([0, 5, 20]) };
  if (dice.chance(0.2)) made.execution = { ...made.execution, checkpoints: ['c1'] };
  if (dice.chance(0.4))
    made.execution = { ...made.execution,
      memex: { view: dice.of(['self', 'role', 'crew', 'all']), isolation: dice.of(['soft', 'hard']),
        retrieval: { weights: { importance: 1 } } } };
  // a hook before something that asks for it again would never end
  if (dice.chance(0.3)) made.hooks = { [dice.of(['after_agent', 'on_fault', 'on_stall', 'after_role'])]: 'ask' };
  else if (dice.chance(0.4))
    made.hooks = { [dice.of(['before_role', 'before_agent', 'on_permission_denied', 'on_timeout',
      'on_checkpoint'])]: 'mark' };
  if (depth < 2 && dice.chance(0.3)) made.nested_crew = `n${depth + 1}`;
  return made;
}

function randomShape(dice, name, depth) {
  const names = ['a', 'b', 'f', 'z'].slice(0, 2 + dice.below(3));
  const made = names.map((n) => randomRole(dice, n, names, depth));
  if (names.includes('f'))
    made[names.indexOf('f')].activation = { on_fault: true,
      [dice.of(['on_timeout', 'on_stall', 'on_permission_denied'])]: true };
  made[0].first_input = true;
  made[dice.below(2) === 0 ? made.length - 1 : 0].final_output = true;
  return shape(name, ...made);
}

// "mixed" resumes now and then; "straight" never; "resumed" after every step.
function walk(seed, how) {
  const dice = new Dice(seed);
  const name = `walk-${String(seed).padStart(3, '0')}`;
  const given = { shape: randomShape(dice, 'W', 0),
    registry: { n1: randomShape(dice, 'N1', 1), n2: randomShape(dice, 'N2', 2) },
    options: { defaultTimeoutMs: dice.of([undefined, 15]), autoCheckpoint: dice.of([undefined, true]),
      hooks: { mark: [{ do: 'checkpoint', id: 'm' }],
        ask: [{ do: 'request_action', from: 'a-1', to: 'b-1', action: 'talk_to' }] },
      memory: { seed: [{ command: note('seed', { importance: 1 }),
        context: { agentId: 'a-1', crewId: name, roleId: 'a' } }] } } };
  let now = 0, seen = [], labels = 0;
  const resume = (policy) => [{ op: 'snapshot', as: `s${labels}` }, { op: 'resume', from: `s${labels++}`, policy }];
  const steps = [{ op: 'start', input: dice.of([undefined, 'in', { k: 1 }]) },
    ...(how === 'resumed' ? resume('re-emit-request') : [])];
  for (let at = 0; at < 25; at++) {
    // what waits now is what the model says after the steps so far
    const { steps: records } =
      expectation({ ...given, agents: noAgents('W'), options: { crewId: name, ...given.options },
        steps: [...steps, { op: 'pending' }] });
    const pending = records.at(-1).pending.map((text) => JSON.parse(text));
    const id = pending.length > 0 && dice.chance(0.93)
      ? dice.of(pending).correlationId : dice.of([...seen, 'ffffffffffffffff']);
    seen.push(id);
    const what = dice.next();
    const flags = dice.chance(0.2) ? { [dice.of(['fault', 'stalled'])]: true } : {};
    const commands = dice.chance(0.2) ? { memex_commands: [note(dice.of(['i1', 'i2']), { importance: dice.below(3) })] }
      : {};
    if (what < 0.62)
      steps.push(completed(id, { ...(dice.chance(0.9) && { output: dice.of(OUTPUTS) }), ...flags, ...commands }));
    else if (what < 0.7)
      steps.push({ op: 'deliver',
        event: { type: dice.of(['agent.step.failed', 'agent.step.timed_out', 'agent.stream.chunk']),
          correlationId: id } });
    else if (what < 0.8) steps.push({ op: 'clock', set: now += 3 }, { op: 'tick', now });
    else if (what < 0.86)
      steps.push({ op: 'action', from: dice.of(['a-1', 'b-1', 'f-1', 'ghost']), to: dice.of(['a-1', 'z-1']),
        action: dice.of(['talk_to', 'delegate_to', 'escalate_to']) });
    else if (what >= 0.97) steps.push({ op: 'memory' });
    else if (how === 'mixed')
      steps.push(...resume(dice.of(['re-emit-request', 're-emit-request', 'treat-as-failed', 'abort'])));
    if (how === 'resumed') steps.push(...resume('re-emit-request'));
  }
  steps.push({ op: 'pending' }, { op: 'snapshot', as: 'end' }, { op: 'memory' });
  given.options.crewId = name;
  add(how === 'mixed' ? name : `${name}-${how}`,
    `A random walk with seed ${seed}: nested crews, fixers, hooks, memory, faults, ticks, snapshots and resuming.`,
    ['walk'], { ...given, steps });
}

// ---- writing

const [target = join(dirname(fileURLToPath(import.meta.url)), '../../../vectors'), only, from = '1', to = '16'] =
  process.argv.slice(2);
if (only) scenarios.length = 0;
for (let seed = Number(from); seed <= Number(to); seed++) {
  for (const how of only === 'resumed' ? ['straight', 'resumed'] : ['mixed']) walk(seed, how);
}
mkdirSync(join(target, 'crew'), { recursive: true });
for (const scenario of scenarios) {
  writeFileSync(join(target, 'crew', `${scenario.name}.json`), `${JSON.stringify(scenario, null, 1)}\n`);
}
