// Gateways that share a ledger on PostgreSQL: a stop at one holds at all before it is answered, or the answer names
// those that did not confirm it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { bearer, startGateway, until, writ, writBeside } from '../support/js/gateway.mjs';
import { AUD, ISS, guardFolder, jose, startGuard } from '../support/js/guard.mjs';
import { startCluster } from '../support/js/postgres.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const ANY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };
const AGENTS = [bearer('a1', { tenant: 'acme', subject: 'alice' }), bearer('b1', { tenant: 'bolt' }),
  bearer('root', { subject: 'rita' })];
const [A1, B1, ROOT] = AGENTS;
const PASSWORD = 'correct-horse';
const SECRET = new RegExp(`${PASSWORD}|writ@|postgresql://\\S*[@?]`); // and what is more than the place

/** Gateways of those names with one ledger, one upstream and one set of keys. */
async function fleet(t, names = ['one', 'two'], options = {}) {
  const cluster = await startCluster(t, { parent: '/dev/shm', password: PASSWORD });
  const env = cluster.env;
  const uri = cluster.uri();
  const made = writ(['ledger', 'init', uri], { env: { ...process.env, ...env } });
  assert.equal(made.code, 0, made.err);
  const up = await startUpstream(t, options.upstream);
  const gateways = [];
  for (const name of names) {
    const { ledger, ...rest } = options.config ?? {};
    gateways.push(await startGateway(t, { issuer: ISS, administrators: ['rita'], agents: AGENTS.map((a) => a.entry),
      upstreams: { up: { http: up.url, resource: AUD } }, tools: { 'up/*': ANY }, store: uri,
      ...(gateways.length > 0 ? { keys: gateways[0].path('keys') } : {}),
      ledger: { replication: 'none_needed', gateway: name, files: 'fleet', ...ledger }, ...rest }, { env }));
  }
  const api = async (gw, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${gw.adminPort}${path}`, { method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${ROOT.token}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
  const pull = async (gw, by, value) => {
    const { status, body } = await api(gw, '/v1/kills', { by, value, reason: 'test' });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const sessions = new Map();
  const call = async (gw, who, tool = 'pay') => {
    const key = `${gw.config.ledger.gateway} ${who.id}`;
    if (!sessions.has(key)) sessions.set(key, await openSession(gw, { token: who.token }));
    const answer = await sessions.get(key).call(`up__${tool}`, { n: Math.random() });
    return answer.said !== undefined ? 'ran' : answer.reason;
  };
  return { cluster, uri, up, gateways, api, pull, call };
}

test('a stop and its lift hold at every gateway when they are answered', async (t) => {
  const { gateways: [one, two, three], api, pull, call } = await fleet(t, ['one', 'two', 'three']);
  for (const gw of [one, two, three]) assert.equal(await call(gw, A1), 'ran');
  for (const [at, others] of [[one, [two, three]], [two, [one, three]]]) {
    const pulled = await pull(at, 'agent', 'a1');
    assert.deepEqual([pulled.durable, pulled.confirmed, pulled.unconfirmed], [true, true, []]);
    for (const gw of [at, ...others]) {
      assert.equal(await call(gw, A1), 'killed');
      assert.equal(await call(gw, B1), 'ran');
      assert.deepEqual((await api(gw, '/v1/kills')).body.kills.map((k) => k.id), [pulled.id]);
    }
    const lifted = await api(others[0], `/v1/kills/${pulled.id}/lift`, {});
    assert.deepEqual([lifted.status, lifted.body], [200, { id: pulled.id, confirmed: true, unconfirmed: [] }]);
    for (const gw of [at, ...others]) assert.equal(await call(gw, A1), 'ran');
  }
});

test('a gateway that does not answer is named, and stops the call when it comes back', async (t) => {
  for (const lease of ['60s', '3s']) {
    const { gateways: [one, two], api, pull, call, up, uri, cluster } =
      await fleet(t, ['one', 'two'], { config: { ledger: { lease } } });
    assert.equal(await call(two, A1), 'ran');
    two.child.kill('SIGSTOP');
    const pulled = await pull(one, 'agent', 'a1');
    assert.deepEqual([pulled.durable, pulled.confirmed, pulled.unconfirmed], [true, false, ['two']]);
    if (lease === '60s') {
      writeFileSync(one.path('token'), `${ROOT.token}\n`, { mode: 0o600 });
      const cli = await writBeside(['kill', 'pull', `http://127.0.0.1:${one.adminPort}`, 'agent', 'x1', '--reason',
        'test', '--token', one.path('token')], {});
      assert.equal(cli.code, 0, cli.err);
      assert.match(cli.err, /warning: not confirmed by gateway two: /);
    } else { // when its lease is over, the others do not wait for it
      await until(async () => (await pull(one, 'agent', 'x2')).confirmed, 'the lease to be over');
    }
    const before = up.calls.length;
    const answer = call(two, A1);
    two.child.kill('SIGCONT');
    assert.ok(['killed', 'ledger_unavailable'].includes(await answer));
    await until(async () => await call(two, A1) === 'killed', 'the gateway to be back');
    assert.equal(up.calls.length, before);
    assert.ok((await api(one, `/v1/kills/${pulled.id}/lift`, {})).body.confirmed);
    assert.equal(await call(two, A1), 'ran');
    await one.stop();
    await two.stop();
    assert.equal(writ(['ledger', 'verify', uri], { env: { ...process.env, ...cluster.env } }).code, 0);
  }
});

const LIST = '/.well-known/writ-status-list';

/** Whether the list of that gateway has the credential as revoked; undefined: it gives no list. */
async function revoked(gw, token) {
  const answer = await fetch(`${gw.origin}${LIST}`);
  if (answer.status !== 200) return undefined;
  const keys = jose.createLocalJWKSet(await (await fetch(`${gw.origin}/.well-known/jwks.json`)).json());
  const { payload } = await jose.jwtVerify(await answer.text(), keys, { typ: 'statuslist+jwt' });
  const { idx, uri } = jose.decodeJwt(token).status.status_list;
  assert.equal(payload.sub, uri);
  return (inflateSync(Buffer.from(payload.status_list.lst, 'base64url'))[idx >> 3] >> (idx & 7) & 1) === 1;
}

async function introspect(gw, token) {
  const answer = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/introspect`, { method: 'POST', body: `token=${token}`,
    headers: { authorization: `Bearer ${ROOT.token}`, 'content-type': 'application/x-www-form-urlencoded' } });
  return (await answer.json()).active;
}

test('every gateway has the same list of revoked credentials, also of credentials of another one', async (t) => {
  const { gateways: [one, two], api, pull, call, up } = await fleet(t);
  const issued = async (gw, who) => {
    assert.equal(await call(gw, who), 'ran');
    return up.calls.at(-1).credential;
  };
  const everywhere = async (token, want) => {
    for (const gw of [one, two]) {
      assert.equal(await revoked(gw, token), want, `${gw.config.ledger.gateway}: list`);
      assert.equal(await introspect(gw, token), !want, `${gw.config.ledger.gateway}: introspection`);
    }
  };
  const ofA = await issued(one, A1), ofB = await issued(one, B1);
  for (const token of [ofA, ofB]) await everywhere(token, false);
  const { id } = await pull(two, 'agent', 'a1');
  await everywhere(ofA, true);
  await everywhere(ofB, false);
  await everywhere(await issued(two, B1), false);
  await api(one, `/v1/kills/${id}/lift`, {});
  await everywhere(ofA, true); // it stays revoked
  const later = await issued(one, A1);
  await everywhere(later, false);
  // one credential, by a gateway that did not issue it
  await pull(two, 'credential', jose.decodeJwt(later).jti);
  await everywhere(later, true);
  await everywhere(ofB, false);
  await everywhere(await issued(two, A1), false);
  // over restarts, of the one that was asked and of the one that issued
  for (const gw of [one, two]) await gw.restart('SIGKILL');
  await everywhere(ofA, true);
  await everywhere(later, true);
  await everywhere(ofB, false);
});

test('a guard takes the list from any gateway of one issuer', async (t) => {
  const { gateways: [one, two], pull, call, up } = await fleet(t);
  const dir = await guardFolder(t);
  const target = await startUpstream(t);
  const guard = await startGuard(t, dir, ['http', target.url.replace('/mcp', ''), '--status', `${two.origin}${LIST}`],
    { keys: `${two.origin}/.well-known/jwks.json` });
  for (const who of [A1, B1, A1, B1]) assert.equal(await call(one, who), 'ran');
  const [ofA, ofB, freshA, freshB] = up.calls;
  const reason = async (of) => {
    const answer = await new Caller(guard).call('pay', of.arguments, { headers: { 'writ-credential': of.credential } });
    return answer.status === 200 ? 'ok' : answer.error.data.reason;
  };
  await until(async () => (await reason(ofB)) === 'ok', 'the guard to have its list and its keys');
  assert.equal((await pull(one, 'agent', 'a1')).confirmed, true);
  await until(async () => (await reason(ofA)) === 'revoked', 'the guard to learn of the stop');
  assert.equal(await reason(freshA), 'revoked');
  assert.equal(await reason(freshB), 'ok');
});

test('a gateway that does not hear the others gives no list', async (t) => {
  const { cluster, gateways: [one], call, up } = await fleet(t, ['one'], { config: { ledger: { lease: '3s' } } });
  assert.equal(await call(one, A1), 'ran');
  const token = up.calls.at(-1).credential;
  assert.equal(await revoked(one, token), false);
  await cluster.stop();
  await until(async () => await revoked(one, token) === undefined, 'its lease to be over');
  assert.equal(await introspect(one, token), false);
  await cluster.start();
  await until(async () => await revoked(one, token) === false, 'the gateway to be back');
  assert.equal(await introspect(one, token), true);
});

test('a definition that is accepted at one gateway is accepted at all', async (t) => {
  const list = { tools: [{ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } }] };
  const onMessage = (a) => (a.method === 'tools/list' ? (a.result({ ...list }), true) : undefined);
  const { gateways: [one, two], api, uri, cluster, up } = await fleet(t, ['one', 'two'],
    { upstream: { tools: list.tools, onMessage }, config: { tools: { 'up/pay': { ...ANY, pin: true } } } });
  for (const gw of [one, two]) {
    gw.configure({ ...gw.config, upstreams: { up: { http: up.url, resource: AUD, refresh: '1s' } } });
    await gw.restart();
  }
  const sessions = new Map();
  const call = async (gw) => {
    if (!sessions.has(gw)) sessions.set(gw, await openSession(gw, { token: A1.token }));
    const answer = await sessions.get(gw).call('up__pay', { n: Math.random() });
    return answer.said !== undefined ? 'ran' : answer.reason;
  };
  const env = { ...process.env, ...cluster.env };
  const state = async (gw) => {
    const run = await writBeside(['tools', 'list', gw.configFile, '--json'], { cwd: gw.dir, env });
    return run.code === 0 ? JSON.parse(run.out).tools.find((x) => x.tool === 'up/pay')?.state : run.err;
  };
  for (const gw of [one, two]) {
    const reason = await call(gw);
    assert.ok(/^definition_/.test(reason), reason);
    await until(async () => await state(gw) === 'new', 'the definition to be seen');
  }
  const accepted = await writBeside(['tools', 'accept', one.configFile, 'up/pay'], { cwd: one.dir, env });
  assert.equal(accepted.code, 0, accepted.err);
  for (const gw of [one, two]) {
    await until(async () => await call(gw) === 'ran', 'the definition to be accepted');
    assert.equal(await state(gw), 'accepted');
  }
  // another definition, accepted on the page of the other gateway
  list.tools = [{ ...list.tools[0], description: 'Pays, and tells.' }];
  for (const gw of [one, two]) {
    await until(async () => await call(gw) === 'definition_changed', 'the change to be noticed');
    await until(async () => await state(gw) === 'changed', 'the change to be seen');
  }
  const { tools } = (await api(two, '/v1/tools')).body;
  const { seen } = tools.find((x) => x.tool === 'up/pay');
  const done = await api(two, '/v1/tools/accept', { tool: 'up/pay', digest: seen });
  assert.equal(done.status, 200, JSON.stringify(done.body));
  for (const gw of [one, two]) {
    await until(async () => await call(gw) === 'ran', 'the definition to be accepted');
    assert.equal(await state(gw), 'accepted');
  }
  for (const gw of [one, two]) await gw.stop();
  assert.equal(writ(['ledger', 'verify', uri], { env }).code, 0);
});

test('a gateway says how it stands in its fleet, and why its ledger refuses', async (t) => {
  const { cluster, gateways: [one, two], call, pull } =
    await fleet(t, ['one', 'two'], { config: { ledger: { lease: '3s' } } });
  const value = (gw, name) => gw.metric(`writ_fleet_${name}{gateway="${gw.config.ledger.gateway}"}`);
  assert.equal(await call(one, A1), 'ran');
  await pull(two, 'agent', 'x');
  for (const gw of [one, two]) {
    await until(async () => await value(gw, 'gateways') === 2, 'it to see both');
    assert.ok(await value(gw, 'epoch') > 0);
    assert.ok(await value(gw, 'lease_seconds') > 0 && await value(gw, 'lease_seconds') <= 3);
    assert.ok(await value(gw, 'turns_total') > 0 && await value(gw, 'turn_seconds_total') > 0);
    assert.ok(await value(gw, 'records_taken_total') > 0);
    assert.equal(await value(gw, 'unknown_commits_total'), 0);
    assert.equal((await gw.admin('/readyz')).status, 200);
  }
  assert.notEqual(await value(one, 'epoch'), await value(two, 'epoch'));
  const refuses = async (gw, why) => {
    let text;
    await until(async () => {
      const ready = await gw.admin('/readyz');
      ({ text } = ready);
      return ready.status === 503 && why.test(text);
    }, `/readyz to say ${why}`, 8000).catch((e) => { throw new Error(`${e.message}; it says ${text}`); });
    for (const said of [text, gw.logText]) assert.doesNotMatch(said, SECRET);
  };
  const recovers = async (gw) => {
    await until(async () => (await gw.admin('/readyz')).status === 200, 'the gateway to be ready');
    assert.equal(await call(gw, A1), 'ran');
  };
  // the database is gone
  await cluster.stop('immediate');
  for (const gw of [one, two]) await refuses(gw, /ledger: not ready \(.*(connect|terminat|shut|lost)/);
  await until(async () => await value(one, 'lease_seconds') === 0, 'its lease to be over');
  assert.equal(await call(one, A1), 'ledger_unavailable');
  await cluster.start();
  for (const gw of [one, two]) await recovers(gw);
  // it no longer waits until commits are on the disk
  await cluster.set({ fsync: false });
  await cluster.restart();
  for (const gw of [one, two]) await refuses(gw, /ledger: not ready \(.*fsync/);
  await cluster.set({ fsync: true });
  await cluster.restart();
  for (const gw of [one, two]) await recovers(gw);
  // it lost records: an operator has to look
  await cluster.sql('BEGIN; DELETE FROM record WHERE leaf = (SELECT max(leaf) FROM record); ' +
    'UPDATE coordinator SET size = size - 1, changes = changes + 1; COMMIT');
  for (const gw of [one, two]) await refuses(gw, /ledger: not ready \((ROLLBACK: |record \d+ is missing)/);
});

test('a session that one gateway opened is served by all, and ends at all', async (t) => {
  const { gateways: [one, two], up, uri, cluster } = await fleet(t);
  const s = await openSession(one, { token: A1.token });
  const at = (gw) => {
    const caller = new Caller(gw, { token: A1.token, firstId: Math.floor(Math.random() * 1e9) });
    caller.session = s.session;
    return caller;
  };
  const said = async (gw, args) => {
    const answer = await at(gw).call('up__pay', args);
    return answer.said !== undefined ? 'ran' : answer.reason ?? answer.status;
  };
  assert.equal(await said(one, { n: 1 }), 'ran');
  assert.equal(await said(two, { n: 2 }), 'ran');
  assert.notEqual(await said(two, { n: 1 }), 'ran', 'one run: what the other gateway ran is a duplicate');
  assert.notEqual(await said(one, { n: 2 }), 'ran');
  assert.equal(up.calls.length, 2);
  assert.equal((await at(two).request('tools/list')).status, 200);
  const stranger = new Caller(two, { token: B1.token });
  stranger.session = s.session;
  assert.equal((await stranger.call('up__pay', { n: 3 })).status, 404);
  assert.equal((await at(two).close()).status, 200);
  assert.equal((await at(two).request('tools/list')).status, 404);
  const before = up.calls.length;
  assert.notEqual(await said(one, { n: 4 }), 'ran', 'its run is sealed at once');
  await until(async () => (await at(one).request('tools/list')).status === 404, 'the other gateway to look for it');
  assert.equal(await said(one, { n: 5 }), 'session_unknown');
  assert.equal(up.calls.length, before);
  for (const gw of [one, two]) await gw.stop();
  assert.equal(writ(['ledger', 'verify', uri], { env: { ...process.env, ...cluster.env } }).code, 0);
});
