// bindings/: the packages for npm and Python, with the scenarios and credentials of vectors/, and with misuse.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { differences } from '../support/js/crewscenario.mjs';
import { must } from '../support/js/installation.mjs';

const SOURCE = process.env.WRIT_SOURCE_DIR ?? process.cwd();
const BUILT = join(process.env.WRIT_BUILD_DIR ?? 'build/dev', 'bindings');
const PYTHON = '/usr/bin/python3';
const SKIP = !existsSync(BUILT) && 'this build has no bindings (WRIT_BINDINGS)';
const read = (path) => JSON.parse(readFileSync(join(SOURCE, path), 'utf8'));

let folder, crew, verify;
before(async () => {
  if (SKIP) return;
  folder = mkdtempSync(join(tmpdir(), 'writ-bindings-'));
  // as a user has them: installed, without a registry
  must('npm', ['install', '--offline', '--no-audit', '--no-fund', '--prefix', folder, '--install-links',
    join(BUILT, 'npm')]);
  must(PYTHON, ['-m', 'pip', 'install', '--no-index', '--no-build-isolation', '--no-deps', '--quiet',
    '--disable-pip-version-check', '--root-user-action=ignore', '--target', join(folder, 'python'),
    join(BUILT, 'python')]);
  const at = (name) => pathToFileURL(join(folder, 'node_modules/writ', name)).href;
  [crew, verify] = [await import(at('crew.mjs')), await import(at('verify.mjs'))];
});
after(() => folder && rmSync(folder, { recursive: true }));

const SETS = ['vectors/crew-golden', 'vectors/crew'];
const scenarios = () => SETS.flatMap((set) => readdirSync(join(SOURCE, set))
  .filter((name) => name.endsWith('.json')).map((name) => `${set}/${name}`));

/** The scenarios of the golden set that Writ deviates from on purpose, by crew/README.md. */
const deviations = () => readFileSync(join(SOURCE, 'crew/README.md'), 'utf8').split('\n')
  .filter((line) => /^\| \d+b? \|/.test(line) && !line.includes('no difference'))
  .flatMap((row) => row.match(/[a-z0-9-]+\.json/g) ?? []).sort();

test('the package for npm gives the published events byte for byte', { skip: SKIP }, () => {
  const failed = scenarios().filter((path) => differences(crew, read(path)).length > 0);
  assert.deepEqual(failed.map((path) => path.split('/').at(-1)).sort(), deviations());
  assert.ok(scenarios().length > 130);
});

test('both packages have the version of Writ', { skip: SKIP }, () => {
  const [, version] = /^project\(writ VERSION (\S+)/m.exec(readFileSync(join(SOURCE, 'CMakeLists.txt'), 'utf8'));
  assert.equal(JSON.parse(readFileSync(join(folder, 'node_modules/writ/package.json'), 'utf8')).version, version);
  assert.ok(existsSync(join(folder, `python/writ-${version}.dist-info`)));
  assert.match(readFileSync(join(folder, `python/writ-${version}.dist-info/WHEEL`), 'utf8'), /^Tag: py3-none-linux_/m);
});

test('both modules load in a worker, too', { skip: SKIP }, async () => {
  const at = (name) => pathToFileURL(join(folder, 'node_modules/writ', name)).href;
  const program = `
    const { parentPort } = require('node:worker_threads');
    Promise.all(['${at('crew.mjs')}', '${at('verify.mjs')}'].map((url) => import(url))).then(([crew, { Verifier }]) =>
      parentPort.postMessage(crew.canonical('[1.0]') + new Verifier().leftOut().count));`;
  const worker = new Worker(program, { eval: true });
  const [said] = await once(worker, 'message');
  assert.equal(said, '[1]0');
  await worker.terminate();
});

test('a changed scenario is a difference', { skip: SKIP }, () => {
  const scenario = read('vectors/crew-golden/lifecycle-basic-1.json');
  assert.deepEqual(differences(crew, scenario), []);
  scenario.expect.steps[1].events[0] = scenario.expect.steps[1].events[0].replace('"ts":0', '"ts":1');
  assert.equal(differences(crew, scenario).length, 1);
});

test('the package for Python gives the published events byte for byte', { skip: SKIP }, () => {
  const told = JSON.parse(must(PYTHON, ['-IB', join(SOURCE, 'tests/support/python/crew_scenarios.py'),
    join(folder, 'python'), ...scenarios().map((path) => join(SOURCE, path))]));
  assert.deepEqual(Object.keys(told.failed).sort(), deviations());
  assert.equal(told.passed, scenarios().length - deviations().length);
});

// ---- credentials

/** The answer to a case of vectors/credentials; null for one that needs a list of revocations. */
function answer(jwks, { token, call }) {
  if (call.revoked) return null;
  const verifier = new verify.Verifier();
  verifier.keys(JSON.stringify(jwks));
  if (call.status_unknown) verifier.status();
  const { ok, reason } = verifier.credential(token, {
    tool: call.tool, arguments: call.arguments && JSON.stringify(call.arguments), audience: call.aud,
    issuer: call.iss, anyIssuer: !('iss' in call), agentId: call.agent_id, anyAgent: !('agent_id' in call),
    tenant: call.tenant ?? undefined, anyTenant: !('tenant' in call),
    targetStateDigest: call.target_state_digest ?? undefined, anyTargetState: !('target_state_digest' in call),
    typ: call.typ, nowS: call.now, skewS: call.skew, lifetimeMaxS: call.lifetime_max,
    use: () => (call.used ? 'spent' : 'fresh'),
  });
  return { ok, reason };
}

test('both packages give every published answer about a credential', { skip: SKIP }, () => {
  const whole = (name, value, { source }) =>
    (Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.rawJSON(source) : value);
  const { jwks, cases } = JSON.parse(readFileSync(join(SOURCE, 'vectors/credentials/credentials.json'), 'utf8'), whole);
  const want = cases.map(({ call, expect }) => (call.revoked ? null : expect));
  assert.ok(want.filter((one) => one === null).length <= 3);
  assert.deepEqual(cases.map((one) => answer(jwks, one)), want);
  const told = JSON.parse(must(PYTHON, ['-IB', join(SOURCE, 'tests/support/python/credential_vectors.py'),
    join(folder, 'python'), join(SOURCE, 'vectors/credentials/credentials.json')]));
  assert.deepEqual(told.credentials, want);
});

test('keys are pinned as the vectors say', { skip: SKIP }, () => {
  const { cases: [{ token, call }] } = read('vectors/credentials/credentials.json');
  for (const { id, jwks, pin, expect } of read('vectors/credentials/rotations.json').cases) {
    const verifier = new verify.Verifier();
    verifier.keys(JSON.stringify(jwks));
    if (expect.fork) assert.throws(() => verifier.pin(JSON.stringify(pin)), { code: 'mismatch' }, id);
    else verifier.pin(JSON.stringify(pin));
    const { reason } = verifier.credential(token, { tool: call.tool, audience: call.aud, nowS: call.now });
    assert.equal(reason, 'unknown_key', id); // none of these keys signed it
  }
});

test('the addon of Node.js verifies with the system\'s OpenSSL', { skip: SKIP }, () => {
  assert.match(readFileSync('/proc/self/maps', 'utf8'), /libcrypto\.so\.3/);
});

test('`use` decides last, once; its error is thrown and refuses', { skip: SKIP }, () => {
  const { jwks, cases: [{ token, call }] } = read('vectors/credentials/credentials.json');
  const verifier = new verify.Verifier();
  verifier.keys(JSON.stringify(jwks));
  const verdict = (use, more) => verifier.credential(token, { tool: call.tool, audience: call.aud, anyIssuer: true,
    arguments: JSON.stringify(call.arguments), anyAgent: true, anyTenant: true, anyTargetState: true, nowS: call.now,
    use, ...more });
  const seen = [];
  assert.equal(verdict((jti, untilS) => { seen.push(jti, untilS > call.now); return 'fresh'; }).ok, true);
  assert.deepEqual(seen, [verdict().jti, true]);
  assert.equal(verdict(() => 'spent').reason, 'replayed');
  for (const nothing of [undefined, null, true, 1, 'FRESH', 'freshly', {}])
    assert.throws(() => verdict(() => nothing), { name: 'WritError', code: 'io' }, String(nothing));
  assert.throws(() => verdict(() => { throw new RangeError('the database is gone'); }), { name: 'RangeError' });
  assert.throws(() => verdict(() => verifier.keys('{}')), { code: 'busy' });
  assert.equal(verdict(() => (verdict(() => 'spent').reason === 'replayed' ? 'fresh' : 'spent')).ok, true);
  assert.equal(verdict(undefined, { tool: 'other' }).reason, 'scope_mismatch');
  assert.throws(() => verdict(undefined, { anyAgents: true }), TypeError); // a misspelt member is no check that is lost
  assert.throws(() => verdict(undefined, { anyAgent: 'yes', agentId: 5 }), TypeError);
  Object.prototype.anyAgent = true;
  try {
    assert.equal(verdict(undefined, { anyAgent: undefined }).reason, 'scope_mismatch', 'not the prototype of objects');
  } finally {
    delete Object.prototype.anyAgent;
  }
  assert.equal(verdict(undefined, { anyAgent: 'yes' }).reason, 'scope_mismatch', 'only true skips a check');
});

// ---- misuse at the boundary

const SHAPE = JSON.stringify({ schema_version: '1.0', name: 'c', roles: [
  { role: 'a', permissions: { talk_to: ['a'] }, first_input: true, final_output: true, amount: 1,
    hooks: { before_role: 'h' }, execution: { voting: { mode: 'engine:mine' } } }] });
const PLAIN = SHAPE.replace(',"execution":{"voting":{"mode":"engine:mine"}}', '');
const AGENTS = '{"schema_version":"1.0","name":"c","agents":[]}';

function opened(more = {}, shape = PLAIN) {
  const graph = new crew.Graph(
    { shape: new crew.Shape(shape), agents: new crew.Agents(AGENTS), engines: more.engines });
  return new crew.Session({ crewId: 'k', graph, now: () => 0, ...more });
}

const VALUES = [undefined, null, 0, -1, 1.5, NaN, Infinity, 2 ** 53, true, '', 'x', '\0', '\ud800', '{}', '[]', '1e999',
  '['.repeat(5000), 'x'.repeat(1 << 21), [], {}, [[]], ['\udc00'], Symbol('s'), 10n, () => 1, new Date(0), /x/,
  Object.create(null), new Proxy({}, {})];

// What both packages say of an action of an open step, of requests to a pool, and of a crew that elects no agent.
const PUT = JSON.stringify({ type: 'pool.put', content: 'the door is open', tags: ['t'] });
const WANT = {
  acts: [[true, []], [false, ['permission.denied']]], unknown: 'absent',
  put: { added: true, insight: 1 }, told: [['bob', 'the door is open']], misspelt: 'invalid',
  found: { insights: ['the door is open'], more: 0 }, undecided: 'undecided', elected: [['x', 'y', 'z'], ['y']],
  noEngine: 'unknown_engine',
};
// Its shape says nothing of a consensus.
const TEAM = JSON.stringify({ schema_version: '1.0', name: 'c',
  roles: ['x', 'y', 'z'].map((role) => ({ role, amount: 1, permissions: {} })) });

/** The roles that are asked to rank, and the roles that do the task. */
function elected() {
  const graph = new crew.Graph({ shape: new crew.Shape(TEAM), agents: new crew.Agents(AGENTS), consensual: true,
    consensus: 'borda' });
  const session = new crew.Session({ crewId: 'k', graph, now: () => 0 });
  const asked = (events) => events.map((event) => JSON.parse(event))
    .filter((e) => e.type === 'agent.step.requested');
  const ballots = asked(session.start(undefined, '"paint the door"'));
  const tasks = ballots.flatMap(({ correlationId }) => asked(session.deliver(JSON.stringify(
    { type: 'agent.step.completed', correlationId, output: ['y', 'x', 'z'] }))));
  return [ballots, tasks].map((events) => events.map(({ agentId }) => agentId.split('-')[0]));
}

test('an agent acts by its open step, and requests insights; a crew elects, or is undecided', { skip: SKIP }, () => {
  const session = opened(), pool = new crew.Pool(4), failure = (work, what = 'code') => {
    try { work(); } catch (error) { return error[what]; }
    return undefined;
  };
  const [step] = session.start('1').map((event) => JSON.parse(event)).filter((e) => e.type === 'agent.step.requested');
  const act = (action) => session.act(step.correlationId, 'a-1', action);
  pool.request('bob', '{"type":"pool.subscribe","anyTags":["t"]}');
  const put = pool.request('ann', PUT);
  const search = JSON.parse(pool.request('bob', '{"type":"pool.search","anyTags":["t"]}').answer);
  assert.deepEqual({
    acts: [act('talk_to'), act('delegate_to')].map(({ allowed, events }) =>
      [allowed, events.map((event) => JSON.parse(event).type)]),
    unknown: failure(() => session.act('0'.repeat(16), 'a-1', 'talk_to')),
    put: JSON.parse(put.answer), told: put.insights.map((one) => [one.agentId, JSON.parse(one.insight).content]),
    misspelt: failure(() => pool.request('ann', '{"type":"pool.search","anyTag":["t"]}')),
    found: { ...search, insights: search.insights.map((one) => one.content) },
    undecided: JSON.parse(session.cancel('undecided').at(-1)).reason, elected: elected(),
    noEngine: failure(() => new crew.Graph({ shape: new crew.Shape(TEAM), agents: new crew.Agents(AGENTS),
      consensual: true, consensus: 'none' }), 'reason'),
  }, WANT);
  assert.deepEqual(JSON.parse(must(PYTHON, ['-IB', join(SOURCE, 'tests/support/python/crew_requests.py'),
    join(folder, 'python'), PLAIN, AGENTS, PUT, TEAM])), WANT);
});

test('values of every type give an error or a result, and the library goes on', { skip: SKIP }, () => {
  const closed = new crew.Shape(SHAPE);
  closed.close();
  const values = [...VALUES, closed, Object.create(crew.Shape.prototype), new crew.Pool(1)];
  const session = opened();
  const calls = [
    (v) => new crew.Shape(v), (v) => new crew.Agents(v), (v) => new crew.Graph({ shape: v, agents: v }),
    (v) => new crew.Graph({ shape: new crew.Shape(SHAPE), agents: new crew.Agents(AGENTS), registry: v, engines: v }),
    (v) => new crew.Shape(SHAPE, { limits: v }), (v) => new crew.Shape(SHAPE, { limits: { textBytes: v } }),
    (v) => new crew.Session({ crewId: v, graph: v }), (v) => opened({ now: v, hooks: v }), (v) => opened({ memory: v }),
    (v) => opened({ defaultTimeoutMs: v }), (v) => session.start(v, v),
    (v) => session.deliver(v), (v) => session.tick(v),
    (v) => session.request(v, v, v), (v) => session.act(v, v, v), (v) => new crew.Pool(4).request(v, v),
    (v) => session.cancel(v === undefined ? 'x' : v), (v) => crew.canonical(v),
    (v) => crew.hash(v), (v) => crew.correlation({ crewId: v, roleId: v, agentId: v, attempt: v }),
    (v) => crew.vote(v, v), (v) => crew.vote('"majority"', [{ agentId: v, output: v }]),
    (v) => crew.elect(v, v, v), (v) => crew.elect('borda', ['a', 'b'], [{ voter: v, ranking: v }]),
    (v) => crew.prompt(v, v), (v) => crew.parseRanking(v, v), (v) => crew.dispatch(v, v, { engine: v }),
    (v) => new crew.Pool(v),
    (v) => new crew.Pool(4).add({ agentId: v, content: v, tags: v, importance: v, metadata: v }),
    (v) => new crew.Pool(4).read({ anyTags: v, limit: v, leastImportance: v }), (v) => new crew.Memory(v),
    (v) => new crew.Memory('m').apply({ agentId: v, crewId: v, roleId: v }, v),
    (v) => new crew.Engines().add(v), (v) => new crew.Engines().add({ name: v, count: () => undefined }),
    (v) => crew.Session.resume({ crewId: 'k', graph: v }, v), (v) => opened().constructor.resume({ crewId: 'k' }, v),
    (v) => new verify.Verifier().keys(v), (v) => new verify.Verifier().pin(v), (v) => new verify.Verifier().status(v),
    (v) => new verify.Verifier().credential(v, v),
    (v) => new verify.Verifier().credential('x', { tool: v, audience: v }),
    (v) => new verify.Verifier().credential('x', { tool: 't', audience: 'a', nowS: v, use: v }),
    (v) => verify.Verifier.prototype.leftOut.call(v), (v) => crew.Session.prototype.start.call(v),
  ];
  for (const call of calls) {
    for (const value of values) {
      try {
        call(value);
      } catch (error) {
        assert.ok(error instanceof Error && !(error instanceof WebAssembly.RuntimeError), String(call));
        assert.doesNotMatch(error.message, /the library stopped/, String(call));
      }
    }
  }
  assert.deepEqual(differences(crew, read('vectors/crew-golden/lifecycle-basic-1.json')), []);
});

test('limits of the library are errors with their code', { skip: SKIP }, () => {
  assert.throws(() => crew.canonical('['.repeat(300) + ']'.repeat(300)), { code: 'limit', reason: 'limit_exceeded' });
  assert.throws(() => new crew.Shape(SHAPE, { limits: { textBytes: 10 } }), { code: 'limit' });
  assert.throws(() => opened().deliver(`{"type":"${'x'.repeat(2 << 20)}"}`), { code: 'limit' });
  assert.throws(() => new crew.Shape('{"roles": 1}'),
    ({ code, findings }) => code === 'invalid' && findings.length > 2);
  assert.throws(() => new crew.Shape('{'), { code: 'parse', reason: 'malformed' });
  assert.throws(() => crew.elect('none', ['a'], [{ voter: 'v', ranking: ['a'] }]), { reason: 'unknown_engine' });
  const session = opened({ limits: { eventBytes: 64 } });
  assert.throws(() => session.start(JSON.stringify('y'.repeat(100))), { code: 'limit' });
  assert.equal(session.status, 'idle');
  assert.throws(() => crew.canonical('x'.repeat(64 << 20)), { name: 'WritError' });
});

test('what is borrowed lives as long as its borrower; closed objects refuse', { skip: SKIP }, () => {
  const shape = new crew.Shape(PLAIN);
  const agents = new crew.Agents(AGENTS), graph = new crew.Graph({ shape, agents }), memory = new crew.Memory('k');
  const session = new crew.Session({ crewId: 'k', graph, memory, now: () => 0 });
  for (const used of [shape, agents, graph, memory, graph]) used.close();
  assert.equal(session.start().length, 3);
  for (const use of
    [() => shape.name, () => graph.agents, () => memory.snapshot(), () => new crew.Graph({ shape, agents })])
    assert.throws(use, { reason: 'closed' });
  const snapshot = session.snapshot();
  session.close();
  for (const use of [() => session.start(), () => session.status, () => session.snapshot()])
    assert.throws(use, { reason: 'closed' });
  assert.match(snapshot, /^\{/);
});

test('hooks cannot enter their session, nor keep its control; their errors end the call', { skip: SKIP }, () => {
  let kept, work;
  const make = () => opened({ hooks: (call, control) => { kept = control; work(call, control, session); } });
  let session = make();
  work = (call, control, self) => {
    for (const enter of [() => self.start(), () => self.deliver('{}'), () => self.snapshot(), () => self.pending()])
      assert.throws(enter, { code: 'busy' });
    control.checkpoint('here');
    assert.equal(crew.canonical('[1.0]'), '[1]', 'other calls may be made');
    assert.deepEqual(differences(crew, read('vectors/crew-golden/lifecycle-basic-1.json')), []);
  };
  assert.match(session.start().join('\n'), /"checkpointId":"here"/);
  assert.throws(() => kept.checkpoint('later'), { reason: 'closed' });

  session = make();
  work = (call, control, self) => self.close();
  assert.ok(session.start().length > 0, 'closed by its hook, after the call');
  assert.throws(() => session.pending(), { reason: 'closed' });

  session = make();
  work = () => { throw new RangeError('mine'); };
  assert.throws(() => session.start(), { name: 'RangeError', message: 'mine' });
  assert.throws(() => session.deliver('{}'), { reason: 'broken' });

  // also one inside a request of a hook, which the hook ignores
  let depth = 0;
  work = (call, control) => {
    if (depth++ > 0) throw new RangeError('inner');
    try { control.request('a-1', 'ghost', 'talk_to'); } catch { /* ignored */ }
  };
  const requesting = opened({ hooks: (call, control) => work(call, control) },
    PLAIN.replace('"before_role":"h"', '"before_role":"h","on_permission_denied":"h"'));
  assert.throws(() => requesting.start(), { name: 'RangeError', message: 'inner' });
  assert.throws(() => requesting.start(), { reason: 'broken' });

  for (const now of [() => NaN, () => 'x', () => { throw new Error('no clock'); }]) {
    const bad = opened({ now });
    assert.throws(() => bad.start(), /now\(\) returned|no clock/);
    assert.throws(() => bad.start(), { reason: 'broken' });
  }
});

test('an engine in JavaScript counts in votes and sessions; wrong results are errors', { skip: SKIP }, () => {
  const engines = new crew.Engines();
  let result = () => ({ ballot: 1 });
  assert.deepEqual(engines.add({ name: 'mine', about: 'the second', count: (poll, explain) => {
    explain(`100 % of ${poll.ballots.length} \ud800`);
    return result(poll);
  } }), { replaced: false });
  const entries = ['"x"', '"y"'].map((output, i) => ({ agentId: `v-${i}`, output }));
  const counted = () => crew.vote('"engine:mine"', entries, { engines });
  assert.equal(counted().value, '"y"');
  assert.match(counted().why, /100 % of 2 /);
  for (const wrong of [{ ballot: 2 }, { ballot: -1 }, { ballot: 1.5 }, { candidate: 7 }, { ballot: 'x' }]) {
    result = () => wrong;
    assert.throws(counted, RangeError);
  }
  result = () => { throw new TypeError('mine'); };
  assert.throws(counted, { name: 'TypeError', message: 'mine' });
  result = () => ({ refuse: true });
  assert.throws(counted, { reason: 'invalid_ballot' });
  result = () => undefined;
  assert.equal(counted().resolved, false);

  result = () => ({ ballot: 0 });
  const session = opened({ engines }, SHAPE);
  engines.close(); // the graph keeps it
  const [, , asked] = session.start('"in"').map((event) => JSON.parse(event));
  const done = JSON.stringify({ type: 'agent.step.completed', correlationId: asked.correlationId, output: 'out' });
  assert.match(session.deliver(done)[0], /"resolved":"out"/);

  const full = new crew.Engines();
  assert.throws(() => { for (let i = 0; i < 20; i++) full.add({ name: `e${i}`, count: () => undefined }); },
    { code: 'limit' });
  full.close();
  session.close();
  new crew.Engines().add({ name: 'again', count: () => undefined });
});

test('what is collected is freed, in the order of borrowing', { skip: SKIP }, () => {
  const program = `
    import { Agents, Engines, Graph, Session, Shape, canonical } from
      '${pathToFileURL(join(folder, 'node_modules/writ/crew.mjs'))}';
    const pause = () => new Promise((resolve) => setImmediate(resolve));
    for (let i = 0; i < 80; i++) {
      const engines = new Engines();
      engines.add({ name: 'mine', count: () => ({ ballot: 0 }) });
      const graph = new Graph({ shape: new Shape(${JSON.stringify(SHAPE)}), agents: new Agents('${AGENTS}'), engines });
      new Session({ crewId: 'k', graph, now: () => 0, hooks: () => {} }).start('"in"');
      if (i % 4 === 3) { globalThis.gc(); await pause(); await pause(); }
    }
    console.log(canonical('[1.0]'));`;
  // no more than eight engines live at one time
  assert.equal(must(process.execPath, ['--expose-gc', '--input-type=module', '-e', program]), '[1]\n');
});

test('misuse from Python gives exceptions, and the library goes on', { skip: SKIP }, () => {
  const out = must(PYTHON, ['-IB', join(SOURCE, 'tests/support/python/crew_misuse.py'), join(folder, 'python'), SHAPE,
    AGENTS]);
  assert.equal(out, 'done\n');
});

test('the types name what the packages export', { skip: SKIP }, () => {
  for (const [name, exports] of [['crew', crew], ['verify', verify]]) {
    const types = readFileSync(join(folder, `node_modules/writ/${name}.d.mts`), 'utf8');
    const declared = [...types.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, id]) => id);
    assert.deepEqual(declared.sort(), Object.keys(exports).sort());
    for (const [, id, body] of types.matchAll(/^export class (\w+)[^{]*\{\n([^]*?)^\}/gm)) {
      if (id === 'WritError') continue; // its members are of each object
      const members = [...body.matchAll(/^ {2}(?:(?:static|readonly) )*(\w+)[(:]/gm)].map(([, member]) => member);
      const own = (object, ...not) => Object.getOwnPropertyNames(object).filter((member) => !not.includes(member));
      const there = [...own(exports[id].prototype), ...own(exports[id], 'length', 'name', 'prototype')];
      assert.deepEqual([...new Set(['constructor', ...members])].sort(), there.sort(), id);
    }
  }
  assert.ok(existsSync(join(folder, 'python/writ/py.typed')));
});
