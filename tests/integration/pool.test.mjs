// The shared pool of the hook API: agents of one tenant share insights, others never see them. It outlives restarts and
// kills, all gateways of a ledger have the same, and the log has digests alone.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { bearer, sha256, startGateway, until, writ } from '../support/js/gateway.mjs';
import { CREW, FOREIGN, MATE, ask, config } from '../support/js/hooks.mjs';
import { allFacts } from '../support/js/ledger.mjs';
import { ONLY_SHARED, POSTGRES, editLedger, editRows, rowsOf, textOfLedger } from '../support/js/store.mjs';

const ROOT = bearer('root', { tenant: 'acme' });
const AGENTS = [CREW, MATE, FOREIGN, ROOT];
const LIMITS = { entries: 20, entry: '512', tenant: '4KiB', tags: 2 };

const withPool = (pool = {}, top = {}) => config({ top: { agents: AGENTS.map((a) => a.entry), administrators: ['root'],
  pool: { ...LIMITS, ...pool }, ...top } });

/** Requests of an agent at a gateway. */
const poolOf = (gw, who = CREW) => {
  const request = async (type, body, status = 200) => {
    const answer = await ask(gw, who, 'pool', { type: `pool.${type}`, ...body });
    assert.equal(answer.status, status, JSON.stringify(answer.json));
    return answer.json;
  };
  const fails = async (type, body, status, reason) =>
    assert.equal((await request(type, body, status)).reason, reason, JSON.stringify(body));
  return { request, fails, put: (body, status) => request('put', body, status),
    found: async (body) => (await request('search', body)).insights.map((i) => i.content) };
};

const facts = (gw) => allFacts(gw).filter(({ event }) => event.startsWith('pool_'));

test('what an agent puts, agents of its tenant find by the rules of a crew', async (t) => {
  const gw = await startGateway(t, withPool());
  const [crew, mate, foreign] = [poolOf(gw), poolOf(gw, MATE), poolOf(gw, FOREIGN)];
  const one = await crew.put({ content: 'one', tags: ['plan'], segment: 'design', importance: 0.2 });
  const two = await crew.put({ content: 'two', tags: ['plan', 'risk'], importance: 0.9,
    metadata: { page: [3, null] } });
  const three = await mate.put({ content: 'three', tags: ['risk'] });
  await foreign.put({ content: 'theirs', tags: ['plan'] });
  assert.deepEqual([one.added, two.insight > one.insight, three.insight > two.insight], [true, true, true]);
  assert.ok(Date.parse(one.expires_at) > Date.now() + 6 * 86400_000);

  for (const [filter, want] of [[{}, ['two', 'three', 'one']], [{ anyTags: ['plan', 'x'] }, ['two', 'one']],
    [{ allTags: ['plan', 'risk'] }, ['two']], [{ segment: 'design' }, ['one']], [{ segment: '' }, ['two', 'three']],
    [{ agentId: 'mate' }, ['three']], [{ notAgent: 'crew' }, ['three']], [{ importance: 0.5 }, ['two', 'three']],
    [{ anyTags: ['x'] }, []], [{ limit: 1 }, ['two']]]) {
    assert.deepEqual(await crew.found(filter), want, JSON.stringify(filter));
    assert.deepEqual(await mate.found(filter), want);
  }
  const { insights: [first], more } = await mate.request('search', { limit: 1 });
  assert.deepEqual(first, { agentId: 'crew', content: 'two', importance: 0.9, insight: two.insight,
    metadata: { page: [3, null] }, segment: '', tags: ['plan', 'risk'] });
  assert.equal(more, 2);
  assert.deepEqual((await mate.request('get', { insight: two.insight })).insights, [first]);
  assert.deepEqual((await crew.request('statistics')).statistics, { agents: { crew: 2, mate: 1 },
    averageImportance: (0.2 + 0.9 + 0.5) / 3, insights: 3, segments: { '': 2, design: 1 },
    tags: { plan: 2, risk: 2 } });

  assert.deepEqual(await foreign.found({}), ['theirs']);
  await foreign.fails('get', { insight: two.insight }, 404, 'insight_unknown');
  await foreign.fails('remove', { insight: two.insight }, 404, 'insight_unknown');
  assert.equal((await foreign.request('statistics')).statistics.insights, 1);
  gw.verify();
});

test('an insight goes by its agent or an administrator of its tenant, and with its time', async (t) => {
  const gw = await startGateway(t, withPool());
  const [crew, mate, root] = [poolOf(gw), poolOf(gw, MATE), poolOf(gw, ROOT)];
  const { insight } = await crew.put({ content: 'a', key: 'k' });
  const { insight: other } = await crew.put({ content: 'b' });
  const again = await crew.put({ content: 'c', key: 'k' });
  assert.deepEqual([again.insight, again.added], [insight, false]);
  await mate.fails('remove', { insight }, 404, 'insight_unknown');
  assert.deepEqual(await crew.request('remove', { insight }), { insight, removed: true });
  await crew.fails('remove', { insight }, 404, 'insight_unknown');
  await root.request('remove', { insight: other });
  assert.deepEqual(await crew.found({}), []);
  assert.ok((await crew.put({ content: 'd', key: 'k' })).insight > other, 'its key is free again');
  await gw.reload({ ...gw.config, pool: { ...LIMITS, keep: '1s' } });
  await crew.put({ content: 'short' });
  assert.deepEqual(await mate.found({}), ['d', 'short']);
  await until(async () => (await mate.found({})).length === 1, 'the insight to end');
  gw.verify();
});

test('a subscription waits for the insights of others, and goes on where it was', async (t) => {
  const gw = await startGateway(t, withPool());
  const [crew, mate, foreign] = [poolOf(gw), poolOf(gw, MATE), poolOf(gw, FOREIGN)];
  await crew.put({ content: 'before', tags: ['plan'] });
  const first = await mate.request('subscribe', { anyTags: ['plan'] });
  assert.deepEqual(first.insights.map((i) => i.content), ['before']);
  const waiting = mate.request('subscribe', { anyTags: ['plan'], since: first.since, wait: 50 });
  const other = foreign.request('subscribe', { since: 0, wait: 1 });
  await mate.put({ content: 'own', tags: ['plan'] });
  await crew.put({ content: 'of no interest' });
  await crew.put({ content: 'after', tags: ['plan'] });
  const { insights, since, more } = await waiting;
  assert.deepEqual([insights.map((i) => i.content), more], [['after'], 0]);
  assert.equal(since, insights[0].insight + 1);
  assert.deepEqual((await other).insights, []);
  assert.deepEqual(await mate.request('subscribe', { anyTags: ['plan'], since, wait: 0 }),
    { insights: [], more: 0, since });
});

test('no waiting subscription delays the end of a gateway', async (t) => {
  const gw = await startGateway(t, withPool());
  const waiting = poolOf(gw).request('subscribe', { wait: 60 }).catch(() => undefined);
  await new Promise((resolve) => { setTimeout(resolve, 300); });
  const began = Date.now();
  await gw.stop();
  assert.ok(Date.now() - began < 15_000, 'it ends well before the wait');
  await waiting;
});

test('hostile requests are refused with a reason, and put nothing', async (t) => {
  const gw = await startGateway(t, withPool());
  const crew = poolOf(gw);
  for (const [type, body] of [['put', {}], ['put', { content: 1 }], ['put', { content: 'a', tags: 'x' }],
    ['put', { content: 'a', tags: [1] }], ['put', { content: 'a', importance: '1' }], ['put', { content: 'a', id: 1 }],
    ['put', { content: 'a', agentId: 'mate' }], ['put', { content: 'a', since: 1 }], ['put', { content: 'a', key: 7 }],
    ['search', { anyTag: ['x'] }], ['search', { limit: 0 }], ['search', { limit: 1001 }], ['search', { wait: 1 }],
    ['search', { correlationId: 'x' }], ['statistics', { segment: 'x' }], ['unsubscribe', {}], ['nothing', {}],
    ['get', {}], ['get', { insight: -1 }], ['get', { insight: 1.5 }], ['get', { insight: '1' }],
    ['get', { insight: 1, more: 1 }], ['remove', {}], ['remove', { insight: 2 ** 60 }], ['subscribe', { wait: 61 }],
    ['search', { ['\u00e9'.repeat(500)]: 1 }], ['put', { content: 'a', ['\u0000']: 1 }],
    ['subscribe', { wait: -1 }], ['subscribe', { since: -1 }], ['subscribe', { limit: 1 }]])
    await crew.fails(type, body, 422, 'malformed_request');
  await crew.fails('get', { insight: 2 ** 52 }, 404, 'insight_unknown');
  for (const [body, status] of [['[]', 400], ['{', 400], ['{"type":"pool.put","content":"a","content":"b"}', 400],
    ['"x"', 400], [`{"type":"pool.put","content":"${'a'.repeat(5 << 20)}"}`, 413],
    [`{"type":"pool.put","content":"${'a'.repeat(2 << 20)}"}`, 422]])
    assert.equal((await ask(gw, CREW, 'pool', body)).status, status, body.slice(0, 50));
  assert.equal((await ask(gw, undefined, 'pool', { type: 'pool.statistics' })).status, 401);
  assert.equal((await ask(gw, { token: 'wrong' }, 'pool', { type: 'pool.statistics' })).status, 401);
  assert.deepEqual(await crew.found({}), []);
  assert.deepEqual(facts(gw), []);
});

test('what the limits of requests let through can be put and found: depth, values, any character', async (t) => {
  const gw = await startGateway(t, withPool({ entry: '1MiB', tenant: '4MiB' },
    { limits: { json_depth: 256, json_values: 1_000_000 } }));
  const crew = poolOf(gw);
  const deep = (n) => (n === 0 ? 1 : [deep(n - 1)]);
  const metadata = [deep(250), Array.from({ length: 400_000 }, () => 0), 'a\u0000\u{10ffff}', 1e300, -0, 0.1];
  const { insight } = await crew.put({ content: '\u0000', key: 'a\u0000b', tags: ['', '\u0000'], metadata });
  assert.deepEqual((await crew.request('get', { insight })).insights[0].metadata, [...metadata.slice(0, 4), 0, 0.1]);
  assert.equal((await crew.put({ content: '', key: 'a\u0000b' })).insight, insight);
  assert.equal((await crew.put({ content: '', key: 'a' })).added, true);
  assert.deepEqual((await crew.request('search', { anyTags: ['\u0000'] })).insights.map((i) => i.insight), [insight]);
  gw.verify();
});

test('every limit holds on both of its sides', async (t) => {
  const gw = await startGateway(t, withPool({ entries: 3, entry: '100', tenant: '300', tags: 2 }));
  const [crew, mate, foreign] = [poolOf(gw), poolOf(gw, MATE), poolOf(gw, FOREIGN)];
  const frame = JSON.stringify({ content: '', type: 'pool.put' }).length;
  await crew.fails('put', { content: 'x'.repeat(101 - frame) }, 422, 'insight_too_large');
  await crew.fails('put', { content: 'x', tags: ['a', 'b', 'c'] }, 422, 'insight_too_large');
  const { insight } = await crew.put({ content: 'x'.repeat(100 - frame) });
  await crew.put({ content: 'x', tags: ['a', 'b'] });
  await mate.put({ content: 'y' });
  await mate.fails('put', { content: 'z' }, 409, 'pool_full');
  await foreign.put({ content: 'of another tenant' });
  await crew.request('remove', { insight });
  await mate.put({ content: 'z' });
  await gw.reload({ ...gw.config, pool: { ...LIMITS, entries: 20, tenant: '200', entry: '200' } });
  await crew.fails('put', { content: 'x'.repeat(100) }, 409, 'pool_full');
  await crew.put({ content: 'w' });
  await gw.reload({ ...gw.config, pool: undefined });
  for (const type of ['put', 'search', 'statistics', 'subscribe', 'get', 'remove'])
    await crew.fails(type, { content: 'x', insight: 0 }, 404, 'pool_off');
  gw.verify();
});

test('a stopped agent shares nothing', async (t) => {
  const gw = await startGateway(t, withPool());
  const headers = { authorization: `Bearer ${ROOT.token}`, 'content-type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/kills`, { method: 'POST', headers,
    body: JSON.stringify({ by: 'agent', value: 'crew', reason: 'test' }) });
  assert.equal(answer.status, 200, await answer.clone().text());
  await poolOf(gw).fails('put', { content: 'a' }, 403, 'killed');
  await poolOf(gw).fails('search', {}, 403, 'killed');
  await poolOf(gw, MATE).put({ content: 'b' });
});

test('the log says who put and removed what, by digests alone', async (t) => {
  const gw = await startGateway(t, withPool());
  const crew = poolOf(gw);
  const body = { content: 'the secret word', importance: 0.5, key: 'secret key', tags: ['secret tag'],
    type: 'pool.put' };
  const { insight, expires_at } = await crew.put(body);
  await poolOf(gw, ROOT).request('remove', { insight });
  await gw.stop();
  const [put, removed, ...rest] = facts(gw);
  const digests = { digest: `sha256:${sha256(JSON.stringify(body))}`, tags: `sha256:${sha256('["secret tag"]')}` };
  const { key, ...data } = put.data;
  assert.match(key, /^sha256:[0-9a-f]{64}$/);
  assert.deepEqual([put.event, data], ['pool_put', { agent_id: 'crew', tenant: 'acme', expires_at, ...digests }]);
  assert.deepEqual([removed.event, removed.data],
    ['pool_removed', { agent_id: 'root', tenant: 'acme', insight, ...digests }]);
  assert.deepEqual(rest, []);
  assert.ok(!textOfLedger(gw.ledgerFile).includes('secret'));
  assert.ok(!gw.logText.includes('secret'));
  assert.equal(Number(rowsOf(gw.ledgerFile, 'SELECT count(*) AS n FROM pool')[0].n), 0);
});

test('the pool outlives a restart and a kill, and a repeated put after a lost answer adds nothing', async (t) => {
  const gw = await startGateway(t, withPool({ entries: 100, tenant: '16KiB' }));
  const crew = poolOf(gw);
  await crew.put({ content: 'kept', key: 'k' });
  await gw.stop();
  await gw.start();
  assert.deepEqual(await crew.found({}), ['kept']);
  // of puts under way when it is killed, each is there once after it was repeated, whether it was answered or not
  for (let round = 0; round < 3; round++) {
    const keys = Array.from({ length: 12 }, (_, i) => `r${round}-${i}`);
    const all = keys.map((key) => crew.put({ content: key, key }).catch(() => undefined));
    await Promise.race(all);
    await gw.stop('SIGKILL');
    await gw.start();
    const answered = (await Promise.all(all)).map((answer, i) => answer && keys[i]).filter(Boolean);
    const there = await crew.found({});
    for (const key of answered) assert.ok(there.includes(key), `${key} was answered`);
    for (const key of keys) await crew.put({ content: key, key });
    assert.deepEqual((await crew.found({})).filter((text) => text.startsWith(`r${round}-`)).sort(), [...keys].sort());
  }
  gw.verify();
});

test('verify finds a changed, a missing and an added row; the log without them is what it was', async (t) => {
  const gw = await startGateway(t, withPool());
  const { insight } = await poolOf(gw).put({ content: 'one' });
  await gw.stop();
  gw.verify();
  const blob = POSTGRES ? "convert_to('{}', 'UTF8')" : "CAST('{}' AS BLOB)";
  editRows(gw.ledgerFile, `UPDATE pool SET bytes = ${blob} WHERE leaf = ${insight}`);
  const run = gw.ledger(['verify', '--keys', gw.path('keys')]);
  assert.equal(run.code, 1);
  assert.match(run.out + run.err, /the insight of the pool differs from its record/);
  await gw.start();
  assert.equal((await poolOf(gw).request('search', {}, 503)).reason, 'ledger_unavailable');
  await gw.stop();
  editRows(gw.ledgerFile, 'DELETE FROM pool');
  const gone = gw.ledger(['verify', '--keys', gw.path('keys')]);
  assert.match(gone.out + gone.err, /its insight is missing from the pool/);
});

test('gateways of one ledger have one pool', ONLY_SHARED, async (t) => {
  const { sound, startFleet } = await import('../support/js/fleet.mjs');
  const [a, b] = await startFleet(t, withPool({ entries: 3 }));
  const [crew, mate] = [poolOf(a), poolOf(b, MATE)];
  const waiting = mate.request('subscribe', { wait: 50 });
  const { insight } = await crew.put({ content: 'at a', key: 'k' });
  assert.deepEqual((await waiting).insights.map((i) => i.content), ['at a']);
  assert.deepEqual(await mate.found({}), ['at a']);
  assert.deepEqual([(await poolOf(b).put({ content: 'again', key: 'k' })).insight], [insight]);
  const puts = await Promise.all([a, b, a, b, a, b].map((gw, i) =>
    ask(gw, CREW, 'pool', { type: 'pool.put', content: `${i}` })));
  assert.equal(puts.filter(({ status }) => status === 200).length, 2, 'the limit is of all gateways');
  assert.ok(puts.every(({ status }) => status === 200 || status === 409));
  await poolOf(b).request('remove', { insight });
  await crew.fails('get', { insight }, 404, 'insight_unknown');
  await a.stop('SIGKILL');
  assert.equal((await mate.found({})).length, 2);
  sound(b);
});

test('an archive has the records of insights, and both are checked together', async (t) => {
  const gw = await startGateway(t, withPool());
  const crew = poolOf(gw);
  const { insight } = await crew.put({ content: 'goes' });
  await crew.put({ content: 'stays' });
  await crew.request('remove', { insight });
  await gw.stop();
  const keys = ['--keys', gw.path('keys')];
  const run = writ(['ledger', 'archive', gw.ledgerFile, gw.path('archive'), ...keys], { cwd: gw.dir });
  assert.equal(run.code, 0, run.out + run.err);
  const joined = () => gw.ledger(['verify', ...keys, '--archive', gw.path('archive')]);
  assert.equal(joined().code, 0, joined().out);
  editRows(gw.ledgerFile, 'DELETE FROM pool');
  assert.match(joined().out + joined().err, /its insight is missing from the pool/);
});

test('a ledger of the version before is refused until it is migrated, and then has a pool', async (t) => {
  const gw = await startGateway(t, withPool({}, { tools: {} }));
  await gw.stop();
  editLedger(gw.ledgerFile, POSTGRES ? "DROP TABLE pool; UPDATE meta SET value = '2' WHERE name = 'version'"
    : 'DROP TABLE pool; PRAGMA user_version = 7');
  await assert.rejects(gw.start(), /writ ledger migrate/);
  const run = writ(['ledger', 'migrate', gw.ledgerFile]);
  assert.equal(run.out, POSTGRES ? 'version 3, was 2\n' : 'version 8, was 7\n', run.err);
  await gw.start();
  await poolOf(gw).put({ content: 'new' });
  assert.deepEqual(await poolOf(gw, MATE).found({}), ['new']);
  gw.verify();
});
