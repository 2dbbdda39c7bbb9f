// The operator's log: one line for each governed call, on every way and for every end, without its values; and no call
// waits for the reader of the log.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as all } from 'node:stream/consumers';
import { BIN, SOURCE, bearer, startGateway, until, writ } from '../support/js/gateway.mjs';
import { CREW, setUp } from '../support/js/hooks.mjs';
import { checkLine, pageOf } from '../support/js/log-events.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession } from '../support/js/rpc.mjs';

const SECRET = 'sk-value-of-the-call';
const ANY = [{ arg: 'n', op: 'type', value: 'any' }, { arg: 'note', op: 'type', value: 'any', optional: true }];
const TOOLS = {
  'up/pay': { scope: 'pay', arguments: [{ arg: 'n', op: 'le', value: 10 }, ANY[1]] },
  'up/shadow': { scope: 's', arguments: [{ arg: 'n', op: 'lt', value: 0 }, ANY[1]], shadow: true },
  'up/again': { scope: 'a', arguments: ANY, duplicates: 'replay' },
  'up/spend': { scope: 'b', arguments: ANY,
    budgets: [{ name: 'day', per: ['agent'], window: '24h', sum: { arg: 'n', max: 5 } }] },
};

const calls = (gw) => gw.log.filter((l) => l.event === 'call');

/** The line of the call that `act` makes: exactly one. */
async function lineOf(gw, act) {
  const from = calls(gw).length;
  await act();
  await until(() => calls(gw).length > from, 'the line of a call');
  const lines = calls(gw).slice(from);
  assert.equal(lines.length, 1, JSON.stringify(lines));
  assert.equal(lines[0].level, 'info');
  assert.ok(Number.isInteger(lines[0].duration_us) && lines[0].duration_us > 0);
  return lines[0];
}

const only = (line, expected) => assert.deepEqual(
  Object.fromEntries(Object.keys(expected).map((k) => [k, line[k]])), expected, JSON.stringify(line));

test('each governed call has one line with caller, tool, verdict, reason and outcome, and no value', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: TOOLS });
  const s = await openSession(gw);
  const call = (tool, n) => lineOf(gw, () => s.call(`up__${tool}`, { n, note: SECRET }));

  let line = await call('pay', 1);
  only(line, { agent_id: 'dev', tenant: 'local', upstream: 'up', tool: 'pay', by: 'mcp', verdict: 'allow',
    reason: 'policy_ok', outcome: 'executed' });
  assert.equal(gw.show(line.decision_id).decision.tool, 'pay', 'the line names the record');
  line = await call('pay', 11);
  only(line, { verdict: 'deny', reason: 'constraint_failed', constraint: 'n le', outcome: undefined });
  only(await call('pay', 1), { verdict: 'deny', reason: 'duplicate_outcome' });
  only(await call('shadow', 1), { verdict: 'deny', shadow: true, reason: 'constraint_failed', outcome: 'executed' });
  await call('again', 1);
  only(await call('again', 1), { replayed: true });
  await call('spend', 4.5);
  line = await call('spend', 1);
  only(line, { verdict: 'deny', reason: 'budget_exceeded', budget: 'day', budget_limit: '5', budget_used: '4.5' });
  const frees = Date.parse(line.budget_frees_at);
  assert.ok(frees % 86_400_000 === 0 && frees > Date.parse(line.time) && frees - Date.parse(line.time) <= 86_400_000,
    line.budget_frees_at);
  only(await call('spend', 6), { verdict: 'deny', reason: 'budget_exceeded', budget: 'day', budget_limit: '5',
    budget_used: undefined, budget_frees_at: undefined });
  only(await call('nothing', 1), { verdict: 'deny', reason: 'tool_not_listed', tool: 'nothing' });
  up.onCall = (a) => a.error(-1, SECRET);
  only(await call('pay', 2), { verdict: 'allow', outcome: 'error', error_type: 'upstream_error' });
  up.onCall = (a) => a.reset();
  only(await call('pay', 3), { verdict: 'allow', reason: 'upstream_failed', outcome: 'error' });

  // the same in the ledger, by reason; a refused call is not in flight
  const listed = (...args) => gw.decisions(args);
  assert.deepEqual(listed('--reason', 'constraint_failed')
    .map((d) => [d.upstream, d.tool, d.reason, d.shadow, d.decision]),
    [['up', 'pay', 'constraint_failed', false, 'deny'], ['up', 'shadow', 'constraint_failed', true, 'deny']]);
  assert.deepEqual(listed('--outcome', 'in_flight'), []);
  const text = writ(['ledger', 'list', gw.ledgerFile, '--reason', 'constraint_failed']).out.split('\n');
  assert.match(text[0], /^TIME +VERDICT +OUTCOME/);
  assert.match(text[1], /  shadow    executed   dev  up  shadow  constraint_failed  /);
  assert.match(text[2], /  deny      \S+ +dev  up  pay  constraint_failed  /);

  const from = gw.log.length;
  await s.request('no/such/method', {});
  only(await gw.waitLog('refused', from),
    { agent_id: 'dev', reason: 'malformed_request', path: '/mcp', method: 'no/such/method' });
  assert.doesNotMatch(gw.logText, new RegExp(SECRET));
  assert.ok(gw.log.every((l) => l.event !== 'not_json'));
});

test('hook calls have a line at each step', async (t) => {
  const { gw, crew } = await setUp(t);
  const args = { arguments: { path: '/tmp/1', text: SECRET } };
  const who = { agent_id: CREW.id, tenant: 'acme', tool: 'write' };
  let decision;

  only(await lineOf(gw, async () => {
    ({ decision } = await crew.before(args));
  }), { ...who, upstream: 'crew', by: 'before', verdict: 'allow', waits_for: 'bind' });
  only(await lineOf(gw, () => crew.bind(decision, args)),
    { ...who, by: 'bind', verdict: 'allow', reason: 'contract_binding_ok', waits_for: 'outcome',
      decision_id: decision.decision_id });
  only(await lineOf(gw, () => crew.bind(decision, args)),
    { ...who, by: 'bind', verdict: 'deny', reason: 'duplicate_outcome' });
  only(await lineOf(gw, () => crew.after(decision, { outcome: 'error', error_type: SECRET })),
    { ...who, by: 'after', outcome: 'error', error_type: undefined });
  assert.doesNotMatch(gw.logText, new RegExp(SECRET));
});

test('refused tokens are logged as warnings at a limited rate, without their text', async (t) => {
  const up = await startUpstream(t);
  const ann = bearer('ann');
  const gw = await startGateway(t,
    { agents: [ann.entry], administrators: ['ann'], upstreams: { up: { http: up.url } }, tools: TOOLS });
  const post = (url, token) =>
    fetch(url, { method: 'POST', body: '{}',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) } });
  const refused = () => gw.log.filter((l) => l.event === 'token_refused');

  await post(gw.url); // without a token there is no warning
  await post(gw.url, SECRET);
  only(await gw.waitLog('token_refused'), { level: 'warn', path: '/mcp', dropped: 0 });
  await post(`http://127.0.0.1:${gw.adminPort}/v1/kills`, SECRET);
  await until(() => refused().length === 2, 'the line about the admin listener');
  assert.match(refused()[1].peer, /^127\.0\.0\.1:\d+$/);
  let sent = 2;
  await until(async () => { // a flood within one second, then one more in another
    for (let i = 0; i < 50; i++, sent++) await post(gw.url, SECRET);
    return refused().some((l) => l.dropped > 0);
  }, 'a line that says how many there were');
  assert.ok(refused().length < sent);
  assert.doesNotMatch(gw.logText, new RegExp(SECRET));
});

test('a stalled log delays no call and loses no line', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url } }, tools: { 'up/see': { scope: 's', arguments: ANY, duplicates: 'allow' } } });
  const s = await openSession(gw);
  const CALLS = 400; // more lines than a pipe holds

  gw.child.stderr.pause();
  for (let i = 0; i < CALLS; i++) await s.call('up__see', { n: i });
  gw.child.stderr.resume();
  await until(() => calls(gw).length === CALLS, 'the line of every call');
  assert.ok(gw.log.every((l) => l.lines_lost === undefined));
});

test('the pages of the log list the events of the table', () => {
  for (const [program, page] of [['serve', 'docs/monitoring.md'], ['guard', 'docs/guard.md'],
    ['wrap', 'docs/wrap.md'], ['watch', 'docs/receipts.md']]) {
    const text = readFileSync(join(SOURCE, page), 'utf8').split('### All events\n')[1].split(/\n##+ /)[0];
    assert.deepEqual(text.split('\n').filter((l) => l.startsWith('| `')), pageOf(program));
  }
});

test('the check reports a log line that differs from its row', () => {
  checkLine('serve', { time: '', level: 'warn', event: 'not_ready', missing: 'upstreams (fs)', lines_lost: 3 });
  checkLine('guard', { level: 'warn', event: 'refused', reason: 'replayed', jti: 'x' });
  const bad = [
    { level: 'info', event: 'not_ready' },
    { level: 'warn', event: 'not_ready', who: 'x' },
    { level: 'info', event: 'none_such' },
    { level: 'debug', event: 'let_through' },
    { level: 'warn', event: 'token_refused', path: '/mcp', why: 'x' },
  ];
  for (const line of bad) {
    assert.throws(() => checkLine('serve', line), /log_event.tbl.h/);
  }
});

test('ledger list --follow prints existing decisions, then each new one and its end', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: TOOLS });
  const s = await openSession(gw);
  await s.call('up__pay', { n: 1 });
  await s.call('up__pay', { n: 11 });
  const child = spawn(BIN, ['ledger', 'list', gw.ledgerFile, '--follow', '--json'],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('exit', (...how) => resolve(how)));
  t.after(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', (d) => { text += d; });
  const lines = () => text.split('\n').slice(0, -1).map((line) => JSON.parse(line));
  const seen = () => lines().map((l) => [l.tool, l.decision, l.outcome].join(' '));
  await until(() => lines().length === 2, 'what was there before');
  assert.deepEqual(seen(), ['pay allow executed', 'pay deny blocked'], 'the oldest first');

  let answer;
  up.onCall = (a) => { answer = a; };
  const call = s.call('up__pay', { n: 2 });
  await until(() => lines().length === 3, 'a call in flight');
  answer.text('done');
  await call;
  await until(() => lines().length === 4, 'its end');
  assert.deepEqual(seen().slice(2), ['pay allow ', 'pay allow executed']);
  assert.equal(lines()[2].decision_id, lines()[3].decision_id);
  child.kill('SIGINT');
  assert.deepEqual(await ended, [0, null]);
  assert.equal(lines().length, 4);
});

test('ledger list --follow ends when its output cannot be written', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: TOOLS });
  const s = await openSession(gw);
  await s.call('up__pay', { n: 1 });
  for (const args of [[], ['--json'], ['--limit', '1']]) {
    const full = openSync('/dev/full', 'w');
    const child = spawn(BIN, ['ledger', 'list', gw.ledgerFile, '--follow', ...args],
      { stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    t.after(() => child.kill('SIGKILL'));
    const [said, how] = await Promise.all([all(child.stderr), once(child, 'exit')]);
    assert.deepEqual(how, [4, null], said);
    assert.match(said, /standard output cannot be written/);
  }
});
