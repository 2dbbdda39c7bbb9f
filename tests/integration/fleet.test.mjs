// Several gateways that share one ledger on PostgreSQL: any of them takes any request, and each call runs at most once,
// though gateways are killed, paused and restarted, and the database is.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '../support/js/on-postgres.mjs';
import { at, sound, startFleet } from '../support/js/fleet.mjs';
import * as guard from '../support/js/crewguard.mjs';
import { bearer, startGateway, until, writ } from '../support/js/gateway.mjs';
import { DEV, approve, asks, config as reviewed } from '../support/js/reviews.mjs';
import { CREW, config as hooked, framework } from '../support/js/hooks.mjs';
import { openPsql, startCluster } from '../support/js/postgres.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { ask, begin, idOf, startTasks } from '../support/js/tasks.mjs';
import { startPostgresProxy } from '../support/servers/postgres-proxy.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const ANY = [{ arg: '', op: 'type', value: 'any' }];
const ADA = bearer('ada', { tenant: 'acme' });
const LEASE = '2s'; // where a test waits for its end

/** An upstream and the fleet in front of it. */
async function setUp(t, { rule = {}, upstream = {}, top = {}, ...options } = {}) {
  const up = await startUpstream(t, upstream);
  const [a, b] = await startFleet(t, { agents: [ADA.entry], upstreams: { up: { http: up.url } },
    tools: { 'up/*': { scope: 's', arguments: ANY, timeout: '50s', ...rule } }, ...top }, options);
  return { up, a, b };
}

const ada = (gateway, options = {}) => openSession(gateway, { token: ADA.token, ...options });
const key = (name, boundary = 'run') => ({ key: name, boundary });

// ---- any gateway takes any request

test('a call at one gateway is a duplicate at the other, and a result is replayed there', async (t) => {
  const { up, a, b } = await setUp(t, { rule: { duplicates: 'replay' } });
  const [there, here] = [await ada(a), await ada(b)];
  const first = await there.call('up__pay', { n: 1 }, key('k'));
  assert.equal(first.said, 'ran 1');
  const again = await here.call('up__pay', { n: 1 }, key('k'));
  assert.equal(again.said, 'ran 1', again.text);
  assert.equal(up.calls.length, 1);
  sound(b);
});

test('a key is claimed at all gateways', async (t) => {
  const { up, a, b } = await setUp(t);
  const [there, here] = [await ada(a), await ada(b)];
  assert.equal((await there.call('up__pay', { n: 1 }, key('k'))).said, 'ran 1');
  const [{ decision_id }] = a.decisions(['--decision', 'allow']);
  for (const [n, reason] of [[2, 'idempotency_key_reuse'], [1, 'duplicate_outcome']]) {
    const other = await here.call('up__pay', { n }, key('k'));
    assert.equal(other.reason, reason, other.text);
    assert.equal(other.refusal.first_decision_id, decision_id);
  }
  assert.equal(up.calls.length, 1);
  sound(a);
});

test('of equal calls at both gateways at the same time one runs', async (t) => {
  const { up, a, b } = await setUp(t);
  const callers = [await ada(a), await ada(b)];
  for (let n = 0; n < 10; n++) {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) =>
      callers[i % 2].call('up__pay', { n }, key(`k${n}`))));
    assert.equal(answers.filter((x) => x.said !== undefined).length, 1, answers.map((x) => x.text).join('\n'));
    for (const x of answers)
      if (x.said === undefined) assert.ok(['duplicate_outcome', 'duplicate_in_flight'].includes(x.reason), x.text);
  }
  assert.equal(up.calls.length, 10);
  sound(a);
});

test('a session that began at one gateway is used and ended at the other', async (t) => {
  const { up, a, b } = await setUp(t);
  const session = await ada(a);
  assert.equal((await session.call('up__pay', { n: 1 })).said, 'ran 1');
  assert.equal((await at(session, b).call('up__pay', { n: 1 })).reason, 'duplicate_outcome');
  assert.equal((await session.call('up__pay', { n: 2 })).said, 'ran 2');
  assert.equal((await at(session, a).call('up__pay', { n: 2 })).reason, 'duplicate_outcome');
  const runs = new Set(a.decisions().map((d) => d.boundary_id));
  assert.equal(runs.size, 1, 'one run');
  assert.equal((await at(session, b).close()).status, 200);
  let n = 3;
  await until(async () => { // what was on its way when the session ended may still run
    const late = await at(session, a).call('up__pay', { n: n++ });
    return late.status === 404 || late.reason === 'boundary_sealed';
  }, 'the end to be known');
  assert.equal((await at(session, b).call('up__pay', { n: 1000 })).status, 404);
  const ran = up.calls.length;
  assert.ok(a.boundary([...runs][0], ADA.entry.tenant).seal, 'its run is sealed');
  const last = await at(session, a).call('up__pay', { n: 2000 });
  assert.ok(last.status === 404 || last.reason === 'boundary_sealed', last.text);
  assert.equal(up.calls.length, ran);
  sound(a);
});

test('a review opened at one gateway is voted on at the other and redeemed at either', async (t) => {
  const up = await startUpstream(t);
  const [a, b] = await startFleet(t, reviewed(up));
  const session = await openSession(a, { token: DEV.token });
  for (const [amount, opened, voted, redeemed] of [[1, a, b, a], [2, a, b, b], [3, b, a, a]]) {
    const id = await asks(at(session, opened), { amount });
    await approve(voted, id);
    const done = await at(session, redeemed).call('up__pay', { amount });
    assert.equal(done.said, `ran ${amount}`, done.text);
    for (const gateway of [a, b])
      assert.equal((await at(session, gateway).call('up__pay', { amount })).reason, 'duplicate_outcome');
  }
  assert.equal(up.calls.length, 3);
  sound(a);
});

test('an approval is used once, though both gateways are asked at the same time', async (t) => {
  const up = await startUpstream(t);
  const [a, b] = await startFleet(t, reviewed(up));
  const session = await openSession(a, { token: DEV.token });
  const other = new Caller(b, { token: DEV.token, firstId: 100 });
  other.session = session.session;
  for (let amount = 1; amount < 6; amount++) {
    const id = await asks(session, { amount });
    await approve(b, id);
    const answers = await Promise.all([session, other, session, other].map((s) => s.call('up__pay', { amount })));
    assert.equal(answers.filter((x) => x.said !== undefined).length, 1, answers.map((x) => x.text).join('\n'));
  }
  assert.equal(up.calls.length, 5);
  sound(b);
});

test('a call that asks for input goes on at the other gateway', async (t) => {
  const question = { name: { method: 'elicitation/create',
    params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } } } };
  const { up, a, b } = await setUp(t, { upstream: { onCall: (call) => (call.params.inputResponses === undefined
    ? call.json({ jsonrpc: '2.0', id: call.id, result: { resultType: 'input_required', inputRequests: question,
      requestState: 'state' } })
    : call.text('hello')) } });
  const caller = new Caller(a, { path: '/mcp/up', modern: true, token: ADA.token });
  for (const [n, [from, to]] of [[a, b], [b, a]].entries()) {
    const first = await at(caller, from).call('greet', { n });
    assert.equal(first.result.resultType, 'input_required');
    const last = await at(caller, to).call('greet', { n }, { params: { requestState: first.result.requestState,
      inputResponses: { name: { action: 'accept', content: { name: 'Ada' } } } } });
    assert.equal(last.said, 'hello', last.text);
    assert.equal((await at(caller, from).call('greet', { n })).reason, 'duplicate_outcome');
  }
  assert.equal(up.calls.length, 4);
  sound(a);
});

test('a task that began at one gateway is asked about and ends at the other', async (t) => {
  const { tasks, up } = await startTasks(t);
  const [a, b] = await startFleet(t, { agents: [ADA.entry],
    upstreams: { up: { http: up.url, credential: { meta: true } } },
    tools: { 'up/*': { scope: 's', arguments: ANY } } });
  const caller = new Caller(a, { path: '/mcp/up', modern: true, token: ADA.token });
  const id = idOf(await begin(caller));
  assert.equal((await ask(at(caller, b), 'tasks/get', id)).result.status, 'working');
  assert.equal((await begin(caller)).refusal.first_waits_for, 'task', 'a repeat is a duplicate');
  tasks.end(id, 'completed', { result: { resultType: 'complete', content: [{ type: 'text', text: 'done' }] } });
  assert.equal((await ask(caller, 'tasks/get', id)).result.status, 'completed');
  const [{ decision_id }] = a.decisions(['--decision', 'allow']);
  await until(() => a.show(decision_id).outcome?.outcome === 'executed', 'the outcome');
  assert.equal((await begin(at(caller, a))).reason, 'duplicate_outcome');
  assert.equal((await ask(caller, 'tasks/get', id)).result.status, 'completed', 'its creator still reads it');
  assert.equal(up.calls.length, 1);
  sound(b);
});

test('a call of a framework is decided, bound and reported at different gateways', async (t) => {
  const [a, b] = await startFleet(t, hooked());
  const args = (n) => ({ arguments: { path: `/tmp/${n}`, text: 'hello' } });
  for (const [n, [before, bind, after]] of [[a, b, a], [a, a, b], [b, a, a]].entries()) {
    const { verdict, decision } = await framework(before).before(args(n));
    assert.equal(verdict, 'allow');
    assert.equal((await framework(bind).bind(decision, args(n))).verdict, 'allow');
    for (const gateway of [a, b])
      assert.equal((await framework(gateway).bind(decision, args(n))).reason, 'duplicate_outcome', 'bound once');
    assert.equal((await framework(after).after(decision)).status, 200);
    assert.equal(a.show(decision.decision_id).outcome.outcome, 'executed');
    assert.equal((await framework(before).before(args(n))).reason, 'duplicate_outcome');
  }
  sound(a);
});

test('a run that is sealed at one gateway takes no call at the other', async (t) => {
  const [a, b] = await startFleet(t, hooked());
  const args = (n) => ({ arguments: { path: `/tmp/${n}`, text: 'hello' } });
  const before = (gateway, n) => framework(gateway).before({ ...args(n), boundary_id: 'run' });
  for (const [n, gateway] of [a, b].entries()) {
    const { decision } = await before(gateway, n);
    assert.equal((await framework(gateway).bind(decision, args(n))).verdict, 'allow');
    assert.equal((await framework(gateway).after(decision)).status, 200);
  }
  assert.equal((await framework(b).seal('run')).status, 200);
  for (const gateway of [a, b]) assert.equal((await before(gateway, 3)).reason, 'boundary_sealed');
  const run = a.boundary('run', CREW.entry.tenant);
  assert.ok(run.whole && run.seal);
  sound(a);
});

test('a budget is one over all gateways', async (t) => {
  const { up, a, b } = await setUp(t,
    { rule: { duplicates: 'allow', budgets: [{ name: 'few', window: '366d', calls: 7 }] } });
  const callers = [await ada(a), await ada(b)];
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => callers[n % 2].call('up__pay', { n })));
  assert.equal(answers.filter((x) => x.said !== undefined).length, 7);
  assert.equal(answers.filter((x) => x.reason === 'budget_exceeded').length, 13);
  assert.equal(up.calls.length, 7);
  sound(a);
});

test('an erase at one gateway covers what a call under way at the other gives back', async (t) => {
  const [rita, adam] = [bearer('rita', { role: 'auditor' }), bearer('adam', { role: 'auditor' })];
  const { up, a, b } = await setUp(t, { top: { agents: [ADA, rita, adam].map((x) => x.entry), auditors: ['auditor'],
    content_readers: ['rita'], administrators: ['adam'] }, rule: { contents: { keep: '30d' }, duplicates: 'replay' },
  prepare(dir) {
    const run = writ(['keys', 'new', '--purpose', 'contents', '--dir', `${dir}/keys`]);
    assert.equal(run.code, 0, run.err);
  } });
  const asked = async (gateway, who, path, body) => (await fetch(`http://127.0.0.1:${gateway.adminPort}${path}`,
    { method: body === undefined ? 'GET' : 'POST', headers: { authorization: `Bearer ${who.token}`,
      ...(body && { 'content-type': 'application/json' }) }, body: body && JSON.stringify(body) })).json();
  const { done, decision_id, answer } = await inFlight(up, b);
  const shown = await asked(a, rita, `/v1/contents/${decision_id}`);
  assert.deepEqual(shown.arguments, { n: 1 }, 'the arguments are read at the other one');
  assert.equal((await asked(a, adam, '/v1/contents/erase', { decision: decision_id })).contents, 1);
  answer();
  assert.equal((await done).said, 'ran 1', 'the caller has it');
  const after = await asked(a, rita, `/v1/contents/${decision_id}`);
  assert.deepEqual([after.arguments_state, after.result_state], ['erased', 'erased']);
  for (const table of ['content', 'result']) assert.deepEqual(a.rows(`SELECT leaf FROM ${table}`), [], table);
  sound(a);
});

// ---- a gateway dies

/** A call at that gateway that is under way at the upstream: { done, answer } */
async function inFlight(up, gateway, n = 1) {
  const held = Promise.withResolvers();
  up.onCall = async (call, count) => { await held.promise; call.text(`ran ${count}`); };
  const session = await ada(gateway);
  const done = session.call('up__pay', { n }, key(`k${n}`)).catch((error) => ({ lost: error.code }));
  await until(() => up.calls.some((c) => c.arguments.n === n), 'the call to arrive');
  const { decision_id } = gateway.decisions(['--decision', 'allow']).at(-1);
  return { done, decision_id, answer: () => { up.onCall = undefined; held.resolve(); } };
}

test('after its lease the calls of a killed gateway end, at any other', async (t) => {
  const { up, a, b } = await setUp(t, { lease: LEASE });
  const { done, decision_id, answer } = await inFlight(up, a);
  const here = await ada(b);
  const retry = () => here.call('up__pay', { n: 1 }, key('k1'));
  assert.equal((await retry()).reason, 'duplicate_in_flight', 'a live one is not touched');
  await a.stop('SIGKILL');
  await done;
  await until(() => b.show(decision_id).outcome, 'the outcome');
  const { outcome } = b.show(decision_id);
  assert.deepEqual([outcome.outcome, outcome.error_type], ['error', 'interrupted_execution_unknown']);
  assert.equal((await retry()).reason, 'interrupted_execution_unknown');
  answer();
  assert.equal((await here.call('up__pay', { n: 2 }, key('k2'))).said, 'ran 2');
  assert.equal(up.calls.length, 2);
  assert.equal(sound(b).in_flight, 0);
});

test('a live gateway keeps its calls for many leases', async (t) => {
  const { up, a, b } = await setUp(t, { lease: '1s' });
  const { done, decision_id, answer } = await inFlight(up, a);
  const before = Date.now();
  const others = await ada(b);
  for (let n = 10; Date.now() - before < 4000; n++) {
    assert.equal(b.show(decision_id).outcome, null);
    assert.equal((await others.call('up__pay', { n: 1 }, key('k1'))).reason, 'duplicate_in_flight');
    await new Promise((r) => setTimeout(r, 100));
  }
  answer();
  assert.equal((await done).said, 'ran 1');
  await until(() => b.show(decision_id).outcome?.outcome === 'executed', 'the outcome');
  sound(b);
});

test('what a gateway learns after it was declared dead is not written over', async (t) => {
  const { up, a, b } = await setUp(t, { lease: LEASE });
  const { done, decision_id, answer } = await inFlight(up, a);
  a.child.kill('SIGSTOP');
  await until(() => b.show(decision_id).outcome, 'the outcome that the other gives');
  answer(); // it lies in the socket of the paused one
  const kept = JSON.stringify(b.show(decision_id));
  a.child.kill('SIGCONT');
  await done;
  const later = await ada(a);
  await until(async () => (await later.call('up__pay', { n: 2 }, key('k2'))).said !== undefined,
    'the gateway to go on under a new epoch');
  assert.equal(JSON.stringify(b.show(decision_id)), kept);
  for (const gateway of [a, b]) {
    assert.equal((await (await ada(gateway)).call('up__pay', { n: 1 }, key('k1'))).reason,
      'interrupted_execution_unknown');
  }
  assert.equal(up.calls.filter((c) => c.arguments.n === 1).length, 1);
  assert.equal(up.calls.filter((c) => c.arguments.n === 2).length, 1);
  assert.equal(b.boundary('run', ADA.entry.tenant).outcomes.filter((o) => o.decision_id === decision_id).length, 1);
  sound(a);
});

test('a gateway that restarts under its name ends its calls at once', async (t) => {
  const { up, a, b } = await setUp(t); // its lease would last
  const { done, decision_id, answer } = await inFlight(up, a);
  await a.restart('SIGKILL');
  await done;
  answer();
  const { outcome } = b.show(decision_id);
  assert.deepEqual([outcome.outcome, outcome.error_type], ['error', 'interrupted_execution_unknown']);
  for (const gateway of [a, b])
    assert.equal((await (await ada(gateway)).call('up__pay', { n: 1 }, key('k1'))).reason,
      'interrupted_execution_unknown');
  assert.equal(up.calls.length, 1);
  sound(a);
});

test('a rolling restart loses no call', async (t) => {
  const { up, a, b } = await setUp(t);
  let n = 0, going = true;
  const ran = new Set();
  const workers = [0, 1, 2].map(async (w) => {
    const caller = new Caller(a, { token: ADA.token, modern: true, firstId: 1000 * w });
    for (let i = 0; going; i++) {
      const mine = n++;
      for (;;) { // a client that goes to the next gateway when one is not there
        const answer = await at(caller, [a, b][i++ % 2]).call('up__pay', { n: mine }, key(`k${mine}`))
          .catch(() => undefined);
        if (answer?.said !== undefined || answer?.reason === 'duplicate_outcome') break;
        await new Promise((r) => setTimeout(r, 10));
      }
      ran.add(mine);
    }
  });
  for (const gateway of [a, b, a, b]) {
    const from = n;
    await until(() => n > from + 10, 'some calls');
    await gateway.restart();
  }
  going = false;
  await Promise.all(workers);
  assert.equal(up.calls.length, new Set(up.calls.map((c) => c.arguments.n)).size, 'none ran twice');
  assert.equal(up.calls.length, ran.size, 'none was lost');
  sound(a);
});

// ---- the database dies

test('while the database is gone every call is refused, and all goes on when it is back', async (t) => {
  const cluster = await startCluster(t, { settings: { max_connections: 100 } });
  const { up, a, b } = await setUp(t, { ledger: cluster.uri(), top: { ledger: { busy_timeout: '500ms' } } });
  const sessions = [await ada(a), await ada(b)];
  assert.equal((await sessions[0].call('up__pay', { n: 0 }, key('k0'))).said, 'ran 1');
  const { done, decision_id, answer } = await inFlight(up, a, 1);
  for (let round = 1; round <= 2; round++) {
    await cluster.powerOff();
    for (const [i, session] of sessions.entries()) {
      const refused = await session.call('up__pay', { n: 10 * round + i }, key(`r${round}${i}`));
      assert.equal(refused.reason, 'ledger_unavailable', refused.text);
    }
    for (const gateway of [a, b]) {
      const ready = await until(async () => {
        const state = await gateway.admin('/readyz');
        return state.status === 503 && state;
      }, 'readyz to fail');
      assert.match(ready.text, /ledger|database/);
    }
    assert.equal(up.calls.length, 2 * round, 'nothing is forwarded');
    answer(); // its outcome waits in memory
    await cluster.start();
    for (const gateway of [a, b])
      await until(async () => (await gateway.admin('/readyz')).status === 200, 'readyz to succeed');
    for (const [i, session] of sessions.entries()) { // what was refused ran nowhere, and runs once now
      const again = (by) => by.call('up__pay', { n: 10 * round + i }, key(`r${round}${i}`));
      assert.notEqual((await again(session)).said, undefined);
      for (const by of sessions) assert.equal((await again(by)).reason, 'duplicate_outcome');
    }
  }
  const told = await done;
  assert.deepEqual([told.reason, told.refusal.execution], ['ledger_unavailable', 'unknown'], told.text);
  await until(() => b.show(decision_id).outcome?.outcome === 'executed', 'the outcome that waited');
  assert.equal(up.calls.length, new Set(up.calls.map((c) => c.arguments.n)).size, 'none ran twice');
  for (const gateway of [a, b]) assert.equal(gateway.starts, 1);
  sound(a);
});

/** Grants a call in a commit whose answer is lost, with the database out of reach until the gateway gives up to ask
 * what became of it. Gives its number. */
async function grantUnknown(proxy, caller) {
  for (let n = 1; ; n++) {
    await until(async () => (await caller.gateway.admin('/readyz')).status === 200, 'the gateway to be ready');
    const lost = proxy.lose().then(() => proxy.refuse());
    const answer = await caller.call('up__pay', { n }, key(`k${n}`));
    await lost;
    proxy.accept();
    if (answer.reason !== 'ledger_unavailable') continue; // the commit of another turn was lost
    const allows = caller.gateway.decisions(['--decision', 'allow']);
    if (allows.some((d) => d.outcome === null)) return n;
  }
}

test('a call whose commit was not known gets its end, though its client asks for it all the time', async (t) => {
  const cluster = await startCluster(t);
  const proxy = await startPostgresProxy(t, cluster.port);
  const { up, a, b } = await setUp(t, { lease: LEASE, ledger: cluster.uri(), top: {
    store: cluster.uri({ port: proxy.port, params: 'sslmode=disable' }), ledger: { busy_timeout: '500ms' } } });
  const callers = [await ada(a), await ada(b)];
  const n = await grantUnknown(proxy, callers[0]);
  // each answer is a record: no gateway is ever without a turn
  await until(async () => {
    const [{ reason, text }, other] = await Promise.all(callers.map((c) => c.call('up__pay', { n }, key(`k${n}`))));
    for (const seen of [reason, other.reason])
      assert.ok(['duplicate_in_flight', 'ledger_unavailable', 'interrupted_execution_unknown'].includes(seen), text);
    return reason === 'interrupted_execution_unknown';
  }, 'the outcome', 20_000);
  assert.equal(up.calls.filter((c) => c.arguments.n === n).length, 0);
  sound(b);
});

test('a start that the database interrupts, because the machine is slow, is tried again', async (t) => {
  const { a, b } = await setUp(t, { lease: '8s' });
  const [holder, other] = [openPsql(t, a.ledgerFile), openPsql(t, a.ledgerFile)];
  const seen = async (what) => (await other.run(`SELECT count(*) FROM pg_stat_activity WHERE query LIKE
    '%coordinator%' AND application_name <> 'psql' AND ${what};`)).rows[0] !== '0';
  const waits = () => seen("wait_event_type = 'Lock'");
  await Promise.all([a.stop(), b.stop()]);
  await holder.run('BEGIN; SELECT one FROM coordinator FOR UPDATE;');
  const late = b.start();
  await until(waits, 'it to wait for its turn');
  await until(async () => !await waits(), 'a lock timeout (55P03)');
  await until(waits, 'its next try');
  b.child.kill('SIGSTOP');
  await holder.run('ROLLBACK;');
  await until(() => seen("state = 'idle in transaction'"), 'it to sleep in its turn');
  await until(async () => !await seen("state LIKE 'idle in transaction%'"), 'the server to end that (25P03)');
  b.child.kill('SIGCONT');
  await late;
  assert.equal((await (await ada(b)).call('up__pay', { n: 1 }, key('k'))).said, 'ran 1');
  sound(b);
});

test('a gateway that tried in vain to join again is not taken for another one of its name', async (t) => {
  const cluster = await startCluster(t);
  const proxy = await startPostgresProxy(t, cluster.port);
  const { a } = await setUp(t, { names: ['a'], lease: LEASE, ledger: cluster.uri(), top: {
    store: cluster.uri({ port: proxy.port, params: 'sslmode=disable' }), ledger: { busy_timeout: '2s' } } });
  const other = openPsql(t, cluster.socketUri);
  // another one declares it dead in its turn; the answer to the commit of its new epoch is lost
  await other.run('BEGIN; SELECT one FROM coordinator FOR UPDATE; UPDATE gateway SET state = 0;');
  const lost = proxy.lose().then(() => proxy.refuse());
  await other.run('COMMIT;');
  await lost;
  // and the next try fails
  await other.run(`CREATE SEQUENCE tries; CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM nextval('tries'); RAISE EXCEPTION 'not now'; END $$;
    CREATE TRIGGER fails BEFORE INSERT ON gateway FOR EACH ROW EXECUTE FUNCTION fail();`);
  assert.deepEqual((await other.run('SELECT count(*) FROM gateway;')).rows, ['2'], 'the new epoch was committed');
  proxy.accept();
  await until(async () => (await other.run('SELECT is_called FROM tries;')).rows[0] === 't', 'the next try');
  await other.run('DROP TRIGGER fails ON gateway;');
  await until(async () => (await a.admin('/readyz')).status === 200, 'the gateway to be ready', 20_000);
  assert.equal((await (await ada(a)).call('up__pay', { n: 1 }, key('k1'))).said, 'ran 1');
  sound(a);
});

test('both gateways run the crew that guards a tool, and one vote counts', async (t) => {
  const up = await startUpstream(t);
  const files = mkdtempSync(join(tmpdir(), 'writ-'));
  t.after(() => rmSync(files, { recursive: true }));
  const panel = guard.crewOf({ path: (name) => join(files, name) },
    guard.panelOf("async () => { await new Promise((done) => setTimeout(done, 300)); return 'approve'; }"));
  const [a, b] = await startFleet(t, guard.configOf(up, { panel: { ...panel, crew: join(files, 'panel.json') } },
    { review: { voters: [{ id: 'panel' }, { id: 'ann' }], quorum: '2' } }), {
    prepare: (dir) => writ(['keys', 'new', '--purpose', 'contents', '--dir', join(dir, 'keys')]) });
  const session = await openSession(a, { token: guard.DEV.token });
  for (let amount = 1; amount <= 3; amount++) {
    const id = await guard.asks(session, { amount });
    await until(async () => (await guard.stateOf(b, id)).records.some((r) => r.event === 'vote'), 'the vote');
    await new Promise((done) => setTimeout(done, 500)); // the run of the other gateway ends too
    const { records, state } = await guard.stateOf(a, id);
    assert.equal(state, 'open', 'ann has not voted');
    assert.deepEqual(records.filter((r) => r.event === 'vote').map((r) => r.by), ['panel']);
  }
  assert.deepEqual([a, b].flatMap((gateway) => gateway.log).filter((l) => l.event === 'ballot_failed'), []);
  sound(a);
});

// ---- what an operator accepts

test('a program that is accepted at one gateway is accepted at all', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-program-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'server.mjs');
  const put = (word) => writeFileSync(file, `import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = method === 'initialize'
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'up', version: '1' } }
    : method === 'tools/list' ? { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] }
    : method === 'tools/call' ? { content: [{ type: 'text', text: '${word}' }] } : undefined;
  const answer = result ? { result } : { error: { code: -32601, message: 'unknown' } };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
});\n`);
  put('one');
  const [a, b] = await startFleet(t, { agents: [ADA.entry], tools: { 'up/*': { scope: 's', arguments: ANY } },
    upstreams: { up: { stdio: [process.execPath, file], program_digest: { [process.execPath]: 'accepted',
      [file]: 'accepted' } } } });
  const call = async (gw) => {
    try {
      const answer = await (await ada(gw)).call('up__pay', { n: Math.random() });
      return answer.said ?? answer.reason;
    } catch (error) {
      return error.message;
    }
  };
  const accept = async (gw) => {
    const run = writ(['tools', 'program', gw.configFile, 'up', '--accept'], { cwd: gw.dir });
    assert.equal(run.code, 0, run.err);
  };
  for (const gw of [a, b]) await gw.waitLog('upstream_program_changed');
  await accept(a);
  for (const gw of [a, b]) await until(async () => await call(gw) === 'one', 'the accepted program');
  put('two');
  await accept(b);
  for (const gw of [a, b]) await until(async () => await call(gw) === 'two', 'the next program');
  assert.equal(sound(b).sound, true);
});

// ---- a database that was changed

test('a group without a checkpoint is reported: gateways that share a ledger sign each', async (t) => {
  let events = 0;
  const receiver = createServer((request, response) => {
    events++;
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  t.after(() => receiver.close());
  const { a, b } = await setUp(t, { top: { ledger: { scrub_every: '1s' },
    export: [{ name: 'siem', to: `http://127.0.0.1:${receiver.address().port}/` }] } });
  const session = await ada(a);
  assert.equal((await session.call('up__pay', { n: 1 })).said, 'ran 1');
  await until(() => events > 0, 'an event');
  const change = openPsql(t, a.ledgerFile);
  await change.run("UPDATE head SET note = decode(repeat('00', 32), 'hex');");
  const verify = (...args) =>
    JSON.parse(writ(['ledger', 'verify', a.ledgerFile, '--json', ...args], { cwd: a.dir }).out);
  for (const args of [[], ['--keys', a.config.keys]]) {
    const { problems } = verify(...args);
    assert.ok(problems.some((p) => /gateways that share a ledger sign each/.test(p.what)), JSON.stringify(problems));
  }
  const told = (event) => [a, b].flatMap((gateway) => gateway.log).find((l) => l.event === event);
  await until(() => told('ledger_poisoned') && told('export_failed'), 'both reports');
  const { why } = told('export_failed');
  assert.match(why, /records are not signed, and wait|are exported, and the ledger has/);
});
