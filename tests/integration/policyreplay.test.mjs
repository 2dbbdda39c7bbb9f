// writ policy replay: past calls decided again by another configuration. The calls are written down here, and a program
// makes the ledger that they would have left (kept_sample.c).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bearer, startGateway, writ } from '../support/js/gateway.mjs';
import { BEGIN_US, HOUR_US, call, deny, digest, keptLedger } from '../support/js/kept.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const DEV = bearer('dev', { tenant: 'acme', role: 'operator' }), ANN = bearer('ann', { tenant: 'acme' });

/** A folder with the ledger of these calls, ready to be replayed. */
function world(t, calls) {
  const dir = mkdtempSync(join(tmpdir(), 'writ-replay-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const ledger = keptLedger(dir, calls);
  const put = (name, config) => {
    writeFileSync(join(dir, name), typeof config === 'string' ? config : JSON.stringify({
      keys: 'keys', store: 'sqlite://ledger.db', agents: [DEV.entry, ANN.entry],
      upstreams: { up: { http: 'http://127.0.0.1:1/mcp' } }, reviews: { desk: { voters: [{ id: 'ann' }] } }, ...config,
    }, null, 1));
    return join(dir, name);
  };
  return {
    dir, ledger, put,
    run: (config, args = []) => writ(['policy', 'replay', put('new.yaml', config), ledger, ...args]),
    /** The answer, with its exit code. */
    json(config, args = []) {
      const done = this.run(config, [...args, '--json']);
      assert.ok(done.code === 0 || done.code === 1, `${done.code}: ${done.out}${done.err}`);
      return { code: done.code, ...JSON.parse(done.out) };
    },
  };
}

const rule = (more = {}, amount = 100) => ({ tools: { 'up/pay': { scope: 's',
  arguments: [{ arg: 'amount', op: 'le', value: amount }, { arg: 'note', op: 'max_length', value: 50, optional: true }],
  ...more } } });
const counts = ({ calls, decided, unchanged, refused, review, allowed }) =>
  ({ calls, decided, unchanged, refused, review, allowed });

test('replay of the same rules changes nothing and exits with 0', (t) => {
  const w = world(t, [call({ amount: 5 }), call({ amount: 100, note: 'a' }),
    deny({ amount: 101 }, 'constraint_failed', { writ: { argument: '/amount', constraint: 'amount le' } })]);
  const got = w.json(rule());
  assert.deepEqual([got.code, got.failed, got.groups], [0, false, []]);
  assert.deepEqual(counts(got), { calls: 3, decided: 3, unchanged: 3, refused: 0, review: 0, allowed: 0 });
  assert.match(w.run(rule()).out, /^ +3 {2}calls in the range\n +3 {2}decided again: their arguments have/m);
});

test('replay lists each kind of change by tool, agent and constraint with its smallest example', (t) => {
  const w = world(t, [
    call({ amount: 70, note: 'a longer note' }), call({ amount: 60 }),
    call({ amount: 80, note: 'b' }, { agent: 'ann' }),
    call({ amount: 1 }, { tool: 'up/see' }), call({ amount: 2 }),
    deny({ amount: 3, note: 'x'.repeat(51) }, 'constraint_failed',
      { writ: { argument: '/note', constraint: 'note max_length' } })]);
  const { tools } = rule({}, 50);
  tools['up/pay'].arguments[1].value = 60;
  tools['up/see'] = { scope: 's', arguments: [{ arg: 'amount', op: 'le', value: 9 }], approval: { review: 'desk' } };
  const got = w.json({ tools });

  assert.equal(got.code, 1);
  assert.deepEqual(counts(got), { calls: 6, decided: 6, unchanged: 1, refused: 3, review: 1, allowed: 1 });
  assert.deepEqual(got.groups.map((g) => [g.change, g.was, g.calls, `${g.upstream}/${g.tool}`, g.agent_id, g.reason,
    g.was_reason, g.constraint, g.argument, g.example.bytes]), [
    ['refused', 'allowed', 2, 'up/pay', 'dev', 'constraint_failed', null, 'amount le', '/amount', 13],
    ['refused', 'allowed', 1, 'up/pay', 'ann', 'constraint_failed', null, 'amount le', '/amount', 24],
    ['review', 'allowed', 1, 'up/see', 'dev', 'approval_required', null, 'desk', null, 12],
    ['allowed', 'refused', 1, 'up/pay', 'dev', null, 'constraint_failed', 'note max_length', '/note', 73],
  ]);
  const [first] = got.groups;
  assert.equal(first.example.decision_id.slice(0, 2), 'd-');
  assert.match(first.file, /new\.yaml$/);
  assert.ok(first.line > 0 && first.rule === 'tools/up~1pay#0');
  const text = w.run({ tools }).out;
  assert.match(text,
    /^newly refused: 3\n +2 {2}up\/pay {2}agent dev of acme {2}constraint_failed: amount le at \/amount/m);
  assert.match(text, /^newly under review: 1\n +1 {2}up\/see {2}agent dev of acme {2}approval_required: desk/m);
  assert.match(text,
    /^newly allowed: 1\n +1 {2}up\/pay {2}agent dev of acme {2}was refused {2}constraint_failed: note/m);
});

test('no value is printed without --values', (t) => {
  const w = world(t, [call({ amount: 70707.5, note: 'sesame' })]);
  for (const args of [[], ['--json']]) {
    const run = w.run(rule({}, 50), args);
    assert.equal(run.code, 1);
    assert.doesNotMatch(run.out + run.err, /sesame|70707/);
    assert.match(w.run(rule({}, 50), [...args, '--values']).out, /"amount":70707\.5,"note":"sesame"/);
  }
});

test('--fail-on says which changes end with 1', (t) => {
  const w = world(t,
    [call({ amount: 70 }), deny({ note: 'a' }, 'constraint_failed'), call({ amount: 5 }, { keep_us: 0 })]);
  const { tools } = rule({}, 50);
  tools['up/pay'].arguments[0].optional = true; // one is newly refused, one newly allowed, one is not kept
  const ends = (words) => w.json({ tools }, ['--fail-on', words]).code;
  assert.deepEqual(['any', 'refused', 'allowed', 'review', 'review,allowed', 'undecided', 'none'].map(ends),
    [1, 1, 1, 0, 1, 1, 0]);
  for (const words of ['everything', '', ',']) {
    const wrong = w.run({ tools }, ['--fail-on', words]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /--fail-on takes refused, allowed, review, undecided, any or none/);
  }
});

test('the report says over how many calls it is, and a ledger without any fails', (t) => {
  const w = world(t, [call({ amount: 1 }), call({ amount: 2 }, { keep_us: 0 }),
    call({ amount: 3 }, { keep_us: HOUR_US }), call({ amount: 4, pin: 'x' }, { kept: { amount: 4 } })]);
  const { tools } = rule();
  tools['up/pay'].arguments.push({ arg: 'pin', op: 'max_length', value: 4, optional: true });
  const got = w.json({ tools });
  assert.deepEqual([got.calls, got.decided, got.not_kept, got.erased, got.in_part, got.uncertain], [4, 2, 1, 1, 1, 0]);
  const none = w.run({ tools }, ['--since', new Date().toISOString()]);
  assert.equal(none.code, 3);
  assert.match(none.err, /no call of the range can be decided/);
});

test('secret members that are left out make a change uncertain, unless something else refuses', (t) => {
  const args = (amount) => [{ amount, pin: 'x' }, { kept: { amount } }];
  const w = world(t, [call(...args(1)), call(...args(70)), deny(args(2)[0], 'constraint_failed', args(2)[1])]);
  const { tools } = rule({}, 50);
  tools['up/pay'].arguments.push({ arg: 'pin', op: 'max_length', value: 4 });
  const got = w.json({ tools });
  assert.deepEqual([got.in_part, got.uncertain, got.refused, got.unchanged], [3, 1, 1, 1]);
  assert.equal(got.groups[0].constraint, 'amount le');
});

test('contents that were changed end the replay and name the decision', (t) => {
  const w = world(t, [call({ amount: 1 }, { id: 'one' }), call({ amount: 2 }, { id: 'two' })]);
  const db = new DatabaseSync(w.ledger);
  const { leaf, bytes } = db.prepare('SELECT leaf, bytes FROM content ORDER BY leaf DESC LIMIT 1').get();
  bytes[bytes.length - 1] ^= 1;
  db.prepare('UPDATE content SET bytes = ? WHERE leaf = ?').run(bytes, leaf);
  db.close();
  const run = w.run(rule());
  assert.equal(run.code, 3);
  assert.equal(run.out, '');
  assert.match(run.err, /the kept arguments of decision two are not those of its record/);
});

test('a key directory without the key of the contents decides nothing', (t) => {
  const w = world(t, [call({ amount: 1 })]);
  assert.equal(writ(['keys', 'new', '--dir', join(w.dir, 'other')]).code, 0);
  const run = w.run(rule(), ['--keys', join(w.dir, 'other')]);
  assert.equal(run.code, 3);
  assert.match(run.err, /no call of the range can be decided/);
});

test('refusals outside of the policy are not compared, but with --against they are', (t) => {
  const w = world(t, [call({ amount: 1 }), deny({ amount: 70 }, 'duplicate_outcome'), deny({ amount: 71 }, 'killed'),
    deny({ amount: 72 }, 'target_state_unavailable')]);
  const alone = w.json(rule({}, 50));
  assert.deepEqual([alone.code, alone.not_compared, alone.unchanged, alone.refused], [0, 3, 1, 0]);
  const against = w.json(rule({}, 50), ['--against', w.put('old.yaml', rule())]);
  assert.deepEqual([against.code, against.not_compared, against.unchanged, against.refused], [1, 0, 1, 3]);
});

test('later decisions about a call are not counted again', (t) => {
  const w = world(t, [
    call({ amount: 1 }, { id: 'r', verdict: 'require_approval', decision: { continuation_id: 'r' },
      writ: { reason: 'approval_required' } }),
    call({ amount: 1 }, { id: 'r2', verdict: 'require_approval', decision: { continuation_id: 'r' },
      writ: { reason: 'approval_required' } }),
    call({ amount: 1 }, { id: 'r3', decision: { continuation_id: 'r', supersedes: 'r' } }),
    call({ amount: 2 }), call({ amount: 2 }, { writ: { round: 1 }, decision: { supersedes: 'x' } })]);
  const same = w.json(rule({ approval: { review: 'desk', when: [{ arg: 'amount', op: 'le', value: 1 }] } }));
  assert.deepEqual([same.code, same.calls, same.continuing_decisions, same.unchanged], [0, 2, 3, 2]);
  const free = w.json(rule());
  assert.deepEqual([free.allowed, free.groups[0].was], [1, 'review']);
});

test('calls of shadow mode count as allowed', (t) => {
  const w = world(t, [deny({ amount: 70 }, 'constraint_failed', { writ: { shadow: true } })]);
  assert.deepEqual(counts(w.json(rule({}, 50))),
    { calls: 1, decided: 1, unchanged: 0, refused: 1, review: 0, allowed: 0 });
  const shadow = w.json(rule({ shadow: true }, 50));
  assert.deepEqual([shadow.code, shadow.shadowed, shadow.unchanged], [0, 1, 1]);
});

test('callers and upstreams that the configuration does not know are refused', (t) => {
  const w = world(t, [call({ amount: 1 }, { agent: 'gone' }), call({ amount: 1 }, { tool: 'old/pay' })]);
  const got = w.json(rule());
  assert.deepEqual(got.groups.map((g) => [g.agent_id, g.upstream, g.reason]).sort(),
    [['dev', 'old', 'upstream_not_listed'], ['gone', 'up', 'unauthenticated']]);
  const renamed = w.json(rule(), ['--renamed', 'old=up']);
  assert.deepEqual(renamed.groups.map((g) => g.agent_id), ['gone']);
  assert.equal(w.run(rule(), ['--renamed', 'old']).code, 2);
});

test('budgets are booked in the order of the calls', (t) => {
  const at = (hour, more) => ({ at_us: hour * HOUR_US, ...more });
  const budget = { budgets: [{ name: 'daily', sum: { arg: 'amount', max: 100 }, window: '24h' }] };
  const w = world(t, [
    call({ amount: 60 }, at(1)),
    call({ amount: 30 }, at(2, { outcome: 'blocked' })), // did not run: its amount comes back
    call({ amount: 35 }, at(2, { outcome: 'error' })), // was not sent: the same
    call({ amount: 30 }, at(3)),
    call({ amount: 20 }, at(4)), // above: 110
    call({ amount: 5 }, at(5, { keep_us: 0 })), // not kept, and without a charge in its record
    deny({ amount: 9 }, 'duplicate_outcome', at(6)), // did not draw
    call({ amount: 10 }, at(7)),
    call({ amount: 90 }, at(25)), // another day
  ]);
  const got = w.json(rule(budget));
  assert.deepEqual(got.groups.map((g) => [g.change, g.calls, g.reason, g.constraint, g.example.bytes]),
    [['refused', 1, 'budget_exceeded', 'daily', 13]]);
  assert.deepEqual([got.unchanged, got.not_compared], [6, 1]);
  const lines = readFileSync(join(w.dir, 'new.yaml'), 'utf8').split('\n');
  assert.match(lines.slice(got.groups[0].line - 1).join('').replaceAll(' ', ''), /^{?"name":"daily"/);
  // a later begin of the range still knows what was drawn before it
  const since = w.json(rule(budget), ['--since', new Date((BEGIN_US + 4 * HOUR_US - 1000) / 1000).toISOString()]);
  assert.deepEqual([since.calls, since.refused], [5, 1]);
});

test('a refusal by a budget is compared with the budgets of the new configuration', (t) => {
  const w = world(t, [call({ amount: 60 }), deny({ amount: 60 }, 'budget_exceeded')]);
  const budget = (max) => rule({ budgets: [{ name: 'daily', sum: { arg: 'amount', max }, window: '24h' }] });
  assert.equal(w.json(budget(100)).code, 0);
  assert.deepEqual(w.json(budget(200)).groups.map((g) => [g.change, g.was_reason]), [['allowed', 'budget_exceeded']]);
});

test('records of several policies are counted, and the text advises --against', (t) => {
  const w = world(t, [call({ amount: 1 }), call({ amount: 1 }, { policy: digest('another') })]);
  assert.deepEqual(w.json(rule()).recorded_policies, [digest('policy'), digest('another')]);
  assert.match(w.run(rule()).out, /verdicts of 2 policies: with --against OLD\.yaml two files are compared/);
});

/** The looks at contents that a ledger records. */
function looks(ledger) {
  const db = new DatabaseSync(ledger, { readOnly: true });
  try {
    return db.prepare('SELECT r.leaf - y.leaf AS n, y.bytes FROM record AS r JOIN body AS y ON y.leaf = '
      + '(SELECT max(leaf) FROM body WHERE leaf <= r.leaf) WHERE r.kind = 5 ORDER BY r.leaf').all()
      .map(({ n, bytes }) => JSON.parse(Buffer.from(bytes).toString().split('\n')[n]))
      .filter((fact) => fact.event === 'contents_looked').map((fact) => fact.data);
  } finally {
    db.close();
  }
}

test('a replay is recorded in the ledger before it prints', (t) => {
  const w = world(t, [call({ amount: 1 }), call({ amount: 2 })]);
  assert.equal(w.json(rule()).code, 0);
  const [{ by, ...look }, ...more] = looks(w.ledger);
  assert.match(by, /^writ policy replay, run by ./);
  assert.deepEqual([look, more], [{ count: 2, purpose: 'replay' }, []]);
  assert.equal(writ(['ledger', 'verify', w.ledger]).code, 0);
});

// ---- through a gateway

const OLGA = bearer('olga'), TINA = bearer('tina', { tenant: 'acme' }); // both read contents
const BASE = { agents: [DEV, ANN, OLGA, TINA].map((who) => who.entry), content_readers: ['olga', 'tina'],
  reviews: { desk: { voters: [{ id: 'ann' }] } }, defaults: { contents: { keep: '1h' } } };

/** A gateway that keeps contents, in front of a scripted server, and a session of dev. */
async function live(t, config) {
  const up = await startUpstream(t, { onCall: (m) => m.text('done') });
  const own = { ...BASE, upstreams: { up: { http: up.url } } };
  const gw = await startGateway(t, { ...own, ...config }, { prepare: (dir) =>
    assert.equal(writ(['keys', 'new', '--purpose', 'contents', '--dir', join(dir, 'keys')]).code, 0) });
  for (const who of [OLGA, TINA, DEV]) writeFileSync(gw.path(who.id), who.token, { mode: 0o600 });
  const session = await openSession(gw, { token: DEV.token });
  return {
    up, gw,
    call: (args, name = 'pay') => session.call(`up__${name}`, args),
    replay(changed, args = []) {
      writeFileSync(gw.path('new.yaml'),
        JSON.stringify({ keys: 'keys', store: 'sqlite://ledger.db', ...own, ...changed }));
      return writ(['policy', 'replay', gw.path('new.yaml'), gw.ledgerFile, '--json', ...args]);
    },
    /** Beside the running gateway. */
    beside(changed, args = [], who = OLGA) {
      const run = this.replay(changed,
        ['--url', `http://127.0.0.1:${gw.adminPort}`, '--token', gw.path(who.id), ...args]);
      return { exit: run.code, err: run.err, ...JSON.parse(run.out || '{}') };
    },
    looks: () => looks(gw.ledgerFile),
  };
}

test('calls of a gateway are replayed beside it, and each edit of the policy shows', async (t) => {
  const w = await live(t, rule());
  for (const args of [{ amount: 5 }, { amount: 99, note: 'x' }, { amount: 100 }, { amount: 101 }]) await w.call(args);
  assert.equal((await w.call({ amount: 5 })).reason, 'duplicate_outcome');

  const same = w.beside(rule());
  assert.deepEqual([same.exit, same.calls, same.decided, same.unchanged, same.not_compared], [0, 5, 5, 4, 1], same.err);
  const tight = w.beside(rule({}, 99));
  assert.deepEqual([tight.exit, tight.refused, tight.groups[0].example.bytes], [1, 1, 14]);
  assert.equal(w.gw.show(tight.groups[0].example.decision_id).decision.decision, 'allow');
  const loose = w.beside(rule({}, 200));
  assert.deepEqual([loose.exit, loose.allowed, loose.groups[0].was_reason], [1, 1, 'constraint_failed']);
  const asks = w.beside(rule({ approval: { review: 'desk' } }), ['--fail-on', 'refused,allowed']);
  assert.deepEqual([asks.exit, asks.review, asks.groups[0].constraint], [0, 3, 'desk']);
  await w.call({ amount: 6 });
  assert.equal(w.beside(rule()).calls, 6);
  assert.deepEqual(w.looks().at(-1), { by: 'olga', count: 6, purpose: 'replay' });

  await w.gw.stop();
  assert.equal(w.replay(rule()).code, 0);
  w.gw.verify();
});

test('nothing is printed of a replay that cannot be recorded', async (t) => {
  const w = await live(t, rule());
  await w.call({ amount: 5 });
  const alone = w.replay(rule());
  assert.deepEqual([alone.code, alone.out], [4, '']);
  assert.match(alone.err, /a gateway has the ledger open.*--url/);
  for (const who of [DEV, TINA]) { // one may not read contents, one only those of its tenant
    const refused = w.beside(rule(), [], who);
    assert.deepEqual([refused.exit, refused.calls], [3, undefined]);
    assert.match(refused.err, /not_content_reader/);
  }
  const bare = w.replay(rule(), ['--url', `http://127.0.0.1:${w.gw.adminPort}`]);
  assert.match(bare.err, /--url needs --token/);
  assert.deepEqual(w.looks(), []);
  const malformed = [{ purpose: 'replay' }, { purpose: 'show', count: 1 }, { purpose: 'replay', count: -1 },
    { purpose: 'replay', count: 1, since: 'now' }, { purpose: 'replay', count: 1, more: 1 }];
  for (const body of malformed) {
    const answer = await fetch(`http://127.0.0.1:${w.gw.adminPort}/v1/contents/looks`, { method: 'POST',
      headers: { authorization: `Bearer ${OLGA.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body) });
    assert.equal(answer.status, 422, JSON.stringify(body));
  }
});

test('calls that are not kept draw what their records say', async (t) => {
  const budgets = (max) => [{ name: 'all', sum: { arg: 'amount', max }, window: '8784h' }];
  const tools = (max) => ({ tools: { ...rule({ budgets: budgets(max), duplicates: 'allow' }).tools,
    'up/other': { scope: 's', arguments: [{ arg: 'amount', op: 'le', value: 100 }], budgets: budgets(max),
      contents: { keep: '0s' } } } });
  const w = await live(t, tools(1000));
  await w.call({ amount: 60 }, 'other');
  for (const amount of [30, 20]) await w.call({ amount });
  assert.deepEqual([w.beside(tools(110)).exit, w.beside(tools(109)).refused], [0, 1]);
  const got = w.beside(tools(89));
  assert.deepEqual([got.not_kept, got.decided, got.refused, got.groups[0].example.bytes], [1, 2, 1, 13]);
});

test('a secret argument is decided without, and no part of it is printed', async (t) => {
  const tools = (length, amount = 100) => {
    const made = rule({}, amount);
    made.tools['up/pay'].arguments.push({ arg: 'pin', op: 'max_length', value: length, optional: true, secret: true });
    return made;
  };
  const PIN = '975312468097'; // so long that no digest has it by chance
  const w = await live(t, tools(PIN.length));
  await w.call({ amount: 5, pin: PIN });
  await w.call({ amount: 50, pin: PIN });
  const got = w.beside(tools(3, 20), ['--values']);
  assert.deepEqual([got.in_part, got.unchanged, got.refused], [2, 1, 1]);
  assert.equal(JSON.stringify(got).includes(PIN), false);
  assert.deepEqual(got.groups[0].example.arguments, { amount: 50 });
});

test('contents that were erased are counted, and decided no more', async (t) => {
  const w = await live(t, rule());
  for (const amount of [5, 70]) await w.call({ amount });
  const { example } = w.beside(rule({}, 60)).groups[0];
  await w.gw.stop();
  assert.equal(writ(['ledger', 'erase', w.gw.configFile, '--decision', example.decision_id, '--yes']).code, 0);
  const run = w.replay(rule({}, 60));
  const { calls, decided, erased, refused } = JSON.parse(run.out);
  assert.deepEqual([run.code, calls, decided, erased, refused], [0, 2, 1, 1, 0]);
  assert.equal(w.replay(rule({}, 60), ['--fail-on', 'undecided']).code, 1);
});
