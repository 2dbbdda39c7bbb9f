// Plug-ins as the engine of a review: an honest one gives the verdict, a hostile one never approves, and each verdict
// is taken once, whatever happens to the gateway meanwhile.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFileSync, sha256, startGateway, until, writ, writeFileSync } from '../support/js/gateway.mjs';
import { hostile, rankedPairs } from '../support/js/plugins.mjs';
import { ANN, BOB, DEV, EVE, ALL, api } from '../support/js/reviews.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { ONLY_SHARED } from '../support/js/store.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const VOTERS = [{ id: 'ann' }, { id: 'bob' }, { id: 'eve' }];
const ORDERS = { a: ['approve', 'modify', 'reject'], m: ['modify', 'approve', 'reject'],
  r: ['reject', 'modify', 'approve'] };

const open = mkdtempSync(join(tmpdir(), 'writ-engines-')); // every user can look into it
chmodSync(open, 0o755);
const flag = join(open, 'wait');
process.once('exit', () => rmSync(open, { recursive: true, force: true }));

/** A gateway with a tool for each plug-in, which counts the votes on its calls. */
async function setUp(t, plugins, { review = {}, top = {} } = {}) {
  const up = await startUpstream(t);
  const config = {
    upstreams: { up: { http: up.url } }, agents: ALL.map((a) => a.entry), engines: 'engines',
    reviews: Object.fromEntries(plugins.map((name) => [name, { voters: VOTERS, engine: `${name}.so`, ...review }])),
    tools: Object.fromEntries(plugins.map((name) => [`up/${name}`, { scope: 'payments', approval: { review: name },
      arguments: [{ arg: 'amount', op: 'type', value: 'any' }] }])),
    ...top,
  };
  const make = (dir) => plugins.forEach((name) => (name === 'ranked-pairs'
    ? rankedPairs(join(dir, 'engines')) : hostile(join(dir, 'engines'), name, flag)));
  return { up, config, make };
}

/** A call of the tool whose votes that plug-in counts. */
const pay = (s, to, amount = 1) => s.call(`up__${to}`, { amount });

/** One that waits: its review's id. */
async function asks(s, to, amount) {
  const answer = await pay(s, to, amount);
  assert.equal(answer.reason, 'approval_required');
  return answer.refusal.continuation_id;
}

async function started(t, plugins, more) {
  const { up, config, make } = await setUp(t, plugins, more);
  const gw = await startGateway(t, config, { prepare: make });
  return { up, gw, s: await openSession(gw, { token: DEV.token }) };
}

async function rank(gw, who, id, order) {
  const { json: { review_digest } } = await api(gw, ANN, `/${id}`);
  return api(gw, who, `/${id}/vote`, { ranking: ORDERS[order], review_digest });
}

/** All three vote; "aam": ann and bob approve, eve wants a change. */
async function rankAll(gw, id, orders = 'aaa') {
  for (const [at, who] of [ANN, BOB, EVE].entries()) {
    const { status, json } = await rank(gw, who, id, orders[at]);
    assert.equal(status, 200, JSON.stringify(json));
    assert.equal(json.state, 'open', 'the answer to a vote does not wait for the plug-in');
  }
}

const reviewOf = async (gw, id) => (await api(gw, ANN, `/${id}`)).json;
const ends = async (gw, id, state) => {
  await until(async () => (await reviewOf(gw, id)).state !== 'open', `an end of ${id}`, 60_000);
  const review = await reviewOf(gw, id);
  assert.equal(review.state, state, JSON.stringify(review.records.at(-1)));
  return review;
};
const verdicts = (review) => review.records.filter((r) => ['accept', 'reject', 'revise', 'fail'].includes(r.event));

/** The processes that count for a gateway, from when they have loaded their plug-in: they have two descriptors then. */
const counting = (gw) => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0engine-process\0')
      && readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[1] === `${gw.child.pid}`
      && readdirSync(`/proc/${pid}/fd`).length === 2;
  } catch { return false; }
});
const alive = (pid) => {
  try { return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '); } catch { return false; }
};

test('a plug-in counts rankings: its winner is the verdict, and it is computed again', async (t) => {
  const { up, gw, s } = await started(t, ['ranked-pairs']);
  const ask = (amount) => asks(s, 'ranked-pairs', amount);
  const so = gw.path('engines/ranked-pairs.so');
  const digest = `sha256:${sha256(readFileSync(so))}`;
  const good = await ask(1);
  await rankAll(gw, good, 'aam');
  const review = await ends(gw, good, 'approved');
  assert.deepEqual([review.engine, review.engine_digest, review.options],
    ['ranked-pairs.so', digest, ['approve', 'modify', 'reject']]);
  assert.match(verdicts(review)[0].log.at(-1), /"finalOutput":"ACCEPT"/);
  assert.equal((await pay(s, 'ranked-pairs')).said, 'ran 1');
  assert.equal((await pay(s, 'ranked-pairs')).reason, 'duplicate_outcome');
  assert.equal(up.calls.length, 1);

  const changed = await ask(2);
  await rankAll(gw, changed, 'mma');
  await ends(gw, changed, 'revised');
  const bad = await ask(3);
  await rankAll(gw, bad, 'rra');
  await ends(gw, bad, 'rejected');
  assert.equal((await pay(s, 'ranked-pairs', 3)).reason, 'approval_rejected');

  const waits = await ask(4); // two of three are not enough: what the third would change is not known
  await rank(gw, ANN, waits, 'a');
  await rank(gw, BOB, waits, 'a');
  const plain = await api(gw, EVE, `/${waits}/vote`, { vote: 'approve',
    review_digest: (await reviewOf(gw, waits)).review_digest });
  assert.deepEqual([plain.status, plain.json.reason], [422, 'vote_incomplete']);

  const folder = gw.path('engines');
  const replay = (id, ...more) => writ(['review', 'replay', gw.ledgerFile, id, ...more]);
  for (const [id, word] of [[good, 'accept'], [changed, 'revise'], [bad, 'reject']]) {
    const again = replay(id, '--engines', folder);
    assert.equal(again.code, 0, again.out + again.err);
    assert.match(again.out, new RegExp(`^same: ${word}, `));
  }
  const without = replay(good);
  assert.notEqual(without.code, 0);
  assert.match(without.err, /ranked-pairs\.so counted the votes, so the verdict is not computed again without it/);
  writeFileSync(so, Buffer.concat([readFileSync(so), Buffer.from('x')]));
  assert.match(replay(good, '--engines', folder).err, /ranked-pairs\.so has digest sha256:/);
  assert.match(writ(['review', 'show', gw.ledgerFile, good]).out,
    new RegExp(`^engine ranked-pairs\\.so, a plug-in, ${digest}$`, 'm'));
  assert.equal((await reviewOf(gw, waits)).state, 'open');
  gw.verify();
});

// what is said of each, in the record and in the log
const FAILS = {
  crash: /ended by signal 6/, flood: /longer than \d+ bytes/, wrong: /names a winner that there is not/,
  'nobody': /names a winner that there is not/, silent: /ended without an answer/, babble: /not one of an engine/,
  forge: /names a winner that there is not/, extra: /not one of an engine/, twice: /not one of an engine/,
  refuse: /it refuses the ballots: refuse has 3 ballots/, hang: /no answer within 10 s/, deaf: /no answer within 10 s/,
  spin: /no answer within 10 s|ended by signal (24|9)/,
};

test('a plug-in that crashes, hangs, floods or talks nonsense never approves; the others go on', async (t) => {
  const { up, gw, s } = await started(t, [...Object.keys(FAILS), 'polite']);
  const ids = {};
  for (const to of [...Object.keys(FAILS), 'polite']) {
    ids[to] = await asks(s, to);
    await rankAll(gw, ids[to]); // all approve
  }
  await ends(gw, ids.polite, 'approved');
  for (const [to, why] of Object.entries(FAILS)) {
    const review = await ends(gw, ids[to], 'failed');
    const [failed] = verdicts(review);
    assert.deepEqual([failed.event, failed.state, failed.reason, failed.log],
      ['fail', 'failed', 'approval_failed', undefined], to);
    assert.match(failed.extensions.writ.count_fault, why, to);
    const line = await gw.waitLog('count_failed', 0, (l) => l.review === ids[to]);
    assert.deepEqual([line.engine, why.test(line.why)], [`${to}.so`, true], to);
    assert.equal((await pay(s, to)).reason, 'approval_failed', to);
    assert.notEqual(await asks(s, to), ids[to], 'then a new review opens');
    assert.match(writ(['review', 'show', gw.ledgerFile, ids[to]]).out, /^the plug-in failed: /m);
    assert.match(writ(['review', 'replay', gw.ledgerFile, ids[to], '--engines', gw.path('engines')]).err,
      new RegExp(`${to}\\.so failed, so the review has no verdict`));
  }
  assert.equal(up.calls.length, 0);
  assert.equal((await pay(s, 'polite')).said, 'ran 1');
  assert.deepEqual(counting(gw), [], 'no process is left');
  gw.verify();
});

test('a gateway that is killed during the count counts again, and the verdict is recorded once', async (t) => {
  const { up, gw, s } = await started(t, ['wait']);
  writeFileSync(flag, '');
  const id = await asks(s, 'wait');
  await rankAll(gw, id);
  const pids = await until(() => (counting(gw).length > 0 ? counting(gw) : undefined), 'a count');
  await gw.stop('SIGKILL');
  await until(() => !pids.some(alive), 'its process to end with it');
  rmSync(flag);
  await gw.start();
  const review = await ends(gw, id, 'approved');
  assert.deepEqual(verdicts(review).map((r) => r.event), ['accept']);
  s.gateway = gw;
  assert.equal((await pay(s, 'wait')).said, 'ran 1');
  assert.equal(up.calls.length, 1);
  gw.verify();
});

test('a stop during the count does not wait for it, and gives no verdict', async (t) => {
  const { gw, s } = await started(t, ['wait']);
  writeFileSync(flag, '');
  const id = await asks(s, 'wait');
  await rankAll(gw, id);
  const pids = await until(() => (counting(gw).length > 0 ? counting(gw) : undefined), 'a count');
  assert.equal((await gw.stop()).code, 0);
  assert.ok(!pids.some(alive));
  const { records } = JSON.parse(writ(['review', 'show', gw.ledgerFile, id, '--json']).out);
  assert.deepEqual(records.map((r) => r.event), ['open', 'vote', 'vote', 'vote']);
  rmSync(flag);
  await gw.start();
  await ends(gw, id, 'approved');
});

test('a vote during the count makes it count again: an old result is not taken', async (t) => {
  const { gw, s } = await started(t, ['wait']);
  writeFileSync(flag, '');
  const id = await asks(s, 'wait');
  await rankAll(gw, id, 'aaa');
  await until(() => counting(gw).length > 0, 'a count');
  rmSync(flag); // the one that runs still waits for its end
  assert.equal((await rank(gw, ANN, id, 'r')).json.state, 'open');
  const review = await ends(gw, id, 'rejected'); // wait.so elects the first choice of the first ballot
  assert.deepEqual(review.records.map((r) => r.event), ['open', 'vote', 'vote', 'vote', 'vote', 'reject']);
});

test('a veto and abstentions alone need no plug-in', async (t) => {
  const { gw, s } = await started(t, ['crash'], { review: { voters: [...VOTERS.slice(0, 2),
    { id: 'eve', veto: true }] } });
  const vetoed = await asks(s, 'crash');
  assert.equal((await rank(gw, EVE, vetoed, 'r')).json.state, 'rejected');
  const empty = await asks(s, 'crash', 2);
  const { review_digest } = await reviewOf(gw, empty);
  for (const who of [ANN, BOB, EVE]) await api(gw, who, `/${empty}/vote`, { vote: 'abstain', review_digest });
  await ends(gw, empty, 'revised');
  for (const [id, word] of [[vetoed, 'reject'], [empty, 'revise']])
    assert.match(writ(['review', 'replay', gw.ledgerFile, id]).out, new RegExp(`^same: ${word}, `));
});

test('the file is pinned: what was checked is what counts, and another file ends open reviews', async (t) => {
  const { gw, s } = await started(t, ['polite', 'crash']);
  const file = gw.path('engines/polite.so');
  const policy = () => /policy_digest (\S+)/.exec(writ(['check', gw.configFile]).out)[1];
  const before = policy();
  const id = await asks(s, 'polite');
  const kept = await asks(s, 'polite', 2);
  copyFileSync(gw.path('engines/crash.so'), file);
  await rankAll(gw, id); // by the bytes that the gateway has checked
  await ends(gw, id, 'approved');
  assert.notEqual(policy(), before, 'the digest of the file is part of the policy');
  const from = gw.log.length;
  gw.child.kill('SIGHUP');
  await gw.waitLog('reloaded', from);
  await until(async () => (await reviewOf(gw, kept)).state === 'outdated', 'a review of the other file to end');
  assert.equal((await pay(s, 'polite', 2)).reason, 'approval_outdated');
  assert.equal((await reviewOf(gw, id)).state, 'outdated', 'and its approval too');
  rmSync(file);
  gw.child.kill('SIGHUP');
  await gw.waitLog('reload_refused', from);
});

test('check names the place of an engine that is not there, is no plug-in, or that others can change', async (t) => {
  const { gw } = await started(t, ['polite']);
  const file = gw.path('other.yaml');
  const check = (engine, more = {}, top = {}) => {
    writeFileSync(file, JSON.stringify({ ...gw.config, ...top,
      reviews: { polite: { voters: VOTERS, engine, ...more } } }, null, 1));
    const run = writ(['check', file, '--json']);
    return { code: run.code, findings: JSON.parse(run.out).findings.map((f) =>
      `${f.severity} ${f.pointer} ${f.line > 0}: ${f.message}`) };
  };
  const refused = (why, ...args) => {
    const { code, findings } = check(...args);
    assert.equal(code, 1);
    assert.equal(findings.length, 1, findings.join('\n'));
    assert.match(findings[0], why);
  };
  assert.deepEqual(check('polite.so'), { code: 0, findings: [] });
  refused(/^error \/reviews\/polite\/engine true: a plug-in .* cannot be read: .*none\.so/, 'none.so');
  for (const engine of ['polite', 'Borda', '../polite.so', '.so', 'a b.so', ['borda']])
    refused(/^error \/reviews\/polite\/engine true: must be one of review, unanimous, .* or the file of a/, engine);
  refused(/\/engine true: is the file of a plug-in, and there is no folder of plug-ins: set engines$/, 'polite.so', {},
    { engines: undefined });
  writeFileSync(gw.path('engines/text.so'), 'no object', { mode: 0o600 });
  refused(/^error \/reviews\/polite\/engine true: cannot count: it cannot be loaded/, 'text.so');
  refused(/\/threshold true: has no effect with engine polite\.so/, 'polite.so', { threshold: '2/3' });
  refused(/\/quorum true: has no effect with a plug-in/, 'polite.so', { quorum: '2' });
  refused(/elicitation and bulk give plain votes/, 'polite.so', { bulk: true });
  chmodSync(gw.path('engines/polite.so'), 0o666);
  refused(/cannot be read: .*mode 0666 gives writing to others/, 'polite.so');
});

const OTHERS = { meta: { 'io.writ/candidates': [{ amount: 2 }, { amount: 3 }] } };

/** A call with two others as candidates, of which the voters rank the second first: its review's id. */
async function elect(gw, s, to) {
  const { reason, refusal } = await s.call(`up__${to}`, { amount: 1 }, OTHERS), id = refusal.continuation_id;
  assert.equal(reason, 'approval_required', JSON.stringify(refusal));
  const { options, review_digest } = await reviewOf(gw, id);
  assert.deepEqual(options, ['1', '2', '3', 'reject']);
  for (const who of [ANN, BOB, EVE]) {
    const ranking = who === EVE ? ['3', '2', '1', 'reject'] : ['2', '3', '1', 'reject'];
    const { status, json } = await api(gw, who, `/${id}/vote`, { ranking, review_digest });
    assert.deepEqual([status, json.state], [200, 'open']);
  }
  return id;
}

test('a plug-in elects one of several candidates, which alone runs, and is elected again in a replay', async (t) => {
  const { up, gw, s } = await started(t, ['ranked-pairs'], { review: { options: ['candidates', 'reject'] } });
  const id = await elect(gw, s, 'ranked-pairs');
  const review = await ends(gw, id, 'approved');
  assert.equal(review.elected, '2');
  assert.match(verdicts(review)[0].log.at(-1), /"elected":"2","verdict":"ACCEPT"/);
  const make = (amount) => s.call('up__ranked-pairs', { amount }, { meta: { 'io.writ/continuationId': id } });
  for (const amount of [1, 3]) assert.equal((await make(amount)).reason, 'candidate_not_elected');
  assert.equal((await make(2)).said, 'ran 1');
  assert.deepEqual(up.calls.map((c) => c.params.arguments), [{ amount: 2 }]);
  const replay = (...more) => writ(['review', 'replay', gw.ledgerFile, id, ...more]);
  assert.match(replay('--engines', gw.path('engines')).out, /^same: accept, /);
  assert.match(replay().err, /ranked-pairs\.so counted the votes/);
  gw.verify();
});

test('a hostile plug-in never elects a candidate', async (t) => {
  const { hang, deaf, spin, ...quick } = FAILS;
  const { up, gw, s } = await started(t, Object.keys(quick), { review: { options: ['candidates', 'reject'] } });
  for (const [to, why] of Object.entries(quick)) {
    const id = await elect(gw, s, to);
    const review = await ends(gw, id, 'failed');
    assert.deepEqual([verdicts(review).map((r) => r.event), review.elected], [['fail'], undefined], to);
    assert.match(verdicts(review)[0].extensions.writ.count_fault, why, to);
    for (const [amount, reason] of [[2, 'approval_failed'], [1, 'continuation_mismatch'], [3, 'continuation_mismatch']])
      assert.equal((await s.call(`up__${to}`, { amount }, { meta: { 'io.writ/continuationId': id } })).reason, reason,
        to);
  }
  assert.equal(up.calls.length, 0);
  gw.verify();
});

/** A limit of descriptors under which a gateway has that many left. */
function leave(gw, free) {
  const open = readdirSync(`/proc/${gw.child.pid}/fd`).map(Number).sort((a, b) => a - b);
  let limit = free;
  while (limit - open.filter((fd) => fd < limit).length < free) limit++;
  return limit;
}
const limit = (gw, n) => assert.equal(spawnSync('prlimit', [`--pid=${gw.child.pid}`, `--nofile=${n}:`]).status, 0);

test('a count whose process cannot start is made again later, and fails no review', async (t) => {
  const { up, gw, s } = await started(t, ['polite']);
  const id = await asks(s, 'polite');
  await rank(gw, ANN, id, 'a');
  await rank(gw, BOB, id, 'a');
  const before = /open files +(\d+)/i.exec(readFileSync(`/proc/${gw.child.pid}/limits`, 'utf8'))[1];
  limit(gw, leave(gw, 4)); // a process needs eight
  assert.equal((await rank(gw, EVE, id, 'a')).json.state, 'open');
  const line = await gw.waitLog('count_waits', 0, (l) => l.review === id);
  assert.deepEqual([line.engine, line.why], ['polite.so', 'its process cannot start: Too many open files']);
  assert.equal((await reviewOf(gw, id)).state, 'open');
  limit(gw, before);
  await ends(gw, id, 'approved');
  assert.equal((await pay(s, 'polite')).said, 'ran 1');
  assert.equal(up.calls.length, 1);
  gw.verify();
});

/** Two gateways, of which the first has a new version of the plug-in and is gone; the other one's log of that review. */
async function halfReloaded(t, expires) {
  const { startFleet } = await import('../support/js/fleet.mjs');
  const { config } = await setUp(t, ['polite'], { review: { expires } });
  const folder = mkdtempSync(join(open, 'rolling-'));
  chmodSync(folder, 0o755);
  hostile(folder, 'polite', flag);
  const fleet = await startFleet(t, { ...config, engines: folder }, { lease: '5s' });
  const [a, b] = fleet;
  copyFileSync(rankedPairs(folder), join(folder, 'polite.so')); // a new version
  rmSync(join(folder, 'ranked-pairs.so'));
  a.child.kill('SIGHUP');
  await a.waitLog('reloaded');
  const s = await openSession(a, { token: DEV.token });
  const id = await asks(s, 'polite');
  await a.stop('SIGKILL');
  await rankAll(b, id);
  const line = await b.waitLog('count_waits', 0, (l) => l.review === id);
  assert.deepEqual([line.engine, line.why], ['polite.so', 'no file here has the engine_digest of the review']);
  return { b, id };
}

test('a gateway without the plug-in of a review leaves the count to the others', ONLY_SHARED, async (t) => {
  const { b, id } = await halfReloaded(t, '1m');
  assert.equal((await reviewOf(b, id)).state, 'open');
  b.child.kill('SIGHUP'); // its turn to reload
  await b.waitLog('reloaded');
  await ends(b, id, 'approved');
});

test('a review whose votes no gateway can count ends at its deadline', ONLY_SHARED, async (t) => {
  const { b, id } = await halfReloaded(t, '20s');
  const { records } = await ends(b, id, 'expired');
  assert.deepEqual(records.map((r) => r.event), ['open', 'vote', 'vote', 'vote', 'expire']);
});

test('gateways of one ledger may all count: one verdict is taken, also when one is killed', ONLY_SHARED, async (t) => {
  const { startFleet } = await import('../support/js/fleet.mjs');
  const { up, config } = await setUp(t, ['wait']);
  hostile(join(open, 'engines'), 'wait', flag);
  const fleet = await startFleet(t, { ...config, engines: join(open, 'engines') }, { lease: '5s' });
  const [a, b] = fleet;
  const s = await openSession(a, { token: DEV.token });
  writeFileSync(flag, '');
  const id = await asks(s, 'wait');
  await rankAll(a, id);
  await until(() => counting(a).length > 0 && counting(b).length > 0, 'both to count');
  await a.stop('SIGKILL');
  rmSync(flag);
  await rank(b, ANN, id, 'a'); // the result of the count that still waits is not taken
  const review = await ends(b, id, 'approved');
  assert.deepEqual(verdicts(review).map((r) => r.event), ['accept']);
  assert.equal(up.calls.length, 0);
});
