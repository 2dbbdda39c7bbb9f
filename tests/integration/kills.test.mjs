// The kill switch: stops new credentials at once, revokes those that were issued, survives what may happen.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inflateSync } from 'node:zlib';
import { bearer, startGateway, until, writ } from '../support/js/gateway.mjs';
import { AUD, ISS, guardFolder, jose, startGuard } from '../support/js/guard.mjs';
import { allFacts } from '../support/js/ledger.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { POSTGRES, SQLITE_ONLY, editLedger } from '../support/js/store.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const ANY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };
const AGENTS = [bearer('a1', { tenant: 'acme', subject: 'alice' }), bearer('a2', { tenant: 'acme' }),
  bearer('b1', { tenant: 'bolt' }),
  bearer('root', { subject: 'rita' }), bearer('acme-admin', { tenant: 'acme', subject: 'adam' }), bearer('nobody')];
const [A1, A2, B1, ROOT, ADAM, NOBODY] = AGENTS;

async function world(t, options = {}) {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { issuer: ISS, ...options.gateway, administrators: ['rita', 'adam'], agents: AGENTS.map((a) => a.entry),
    upstreams: { up: { http: up.url, resource: AUD, ...options.upstream } }, tools: { 'up/*': ANY } });
  for (const a of AGENTS) writeFileSync(gw.path(`token-${a.id}`), `${a.token}\n`, { mode: 0o600 });
  const admin = `http://127.0.0.1:${gw.adminPort}`;
  const api = async (who, path, body, headers = {}) => {
    const answer = await fetch(`http://127.0.0.1:${gw.adminPort}${path}`, { method: body === undefined ? 'GET' : 'POST',
      headers: { ...(who ? { authorization: `Bearer ${who.token}` } : {}),
        ...(typeof body === 'string' ? {} : { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
  const pull = async (who, by, value, more = {}) => api(who, '/v1/kills', { by, value, reason: 'test', ...more });
  const sessions = new Map();
  const call = async (who, tool = 'pay', args = {}) => {
    if (!sessions.has(who)) sessions.set(who, await openSession(gw, { token: who.token }));
    const answer = await sessions.get(who).call(`up__${tool}`, { n: Math.random(), ...args });
    return answer.said !== undefined ? 'ran' : answer.reason;
  };
  const list = async () => {
    const answer = await fetch(`${gw.origin}/.well-known/writ-status-list`);
    assert.equal(answer.headers.get('content-type'), 'application/statuslist+jwt');
    return (await answer.text());
  };
  const introspect = async (token, who = ROOT) =>
    (await api(who, '/v1/introspect', `token=${token}&token_type_hint=x`,
      { 'content-type': 'application/x-www-form-urlencoded' })).body;
  return { up, gw, admin, api, pull, call, list, introspect, sessions };
}

// As a verifier of others reads the list: npm jose and zlib.
async function revoked(w, token) {
  const keys = jose.createLocalJWKSet(await (await fetch(`${w.gw.origin}/.well-known/jwks.json`)).json());
  const { payload, protectedHeader } = await jose.jwtVerify(await w.list(), keys,
    { typ: 'statuslist+jwt', requiredClaims: ['sub', 'iat', 'exp', 'ttl'] });
  assert.equal(protectedHeader.typ, 'statuslist+jwt');
  const { idx, uri } = jose.decodeJwt(token).status.status_list;
  assert.equal(payload.sub, uri);
  assert.equal(uri, `${ISS}/.well-known/writ-status-list`);
  assert.equal(payload.status_list.bits, 1);
  return (inflateSync(Buffer.from(payload.status_list.lst, 'base64url'))[idx >> 3] >> (idx & 7) & 1) === 1;
}

const KINDS = [
  ['agent', 'a1', { a1: 'killed', a2: 'ran', b1: 'ran' }],
  ['tenant', 'acme', { a1: 'killed', a2: 'killed', b1: 'ran' }],
  ['tool', 'up/pay', { a1: 'killed', a2: 'killed', b1: 'killed' }],
];
for (const [by, value, want] of KINDS) {
  test(`a stop by ${by} refuses new calls and revokes issued credentials, and affects no other`, async (t) => {
    const w = await world(t);
    for (const who of [A1, A2, B1]) assert.equal(await w.call(who), 'ran');
    const tokens = Object.fromEntries(w.up.calls.map((c) => [jose.decodeJwt(c.credential).sub, c.credential]));
    for (const token of Object.values(tokens)) assert.equal(await revoked(w, token), false);
    const pulled = await w.pull(ROOT, by, value);
    assert.deepEqual([pulled.status, pulled.body.durable], [200, true]);
    for (const who of [A1, A2, B1]) {
      assert.equal(await w.call(who), want[who.id], who.id);
      assert.equal(await revoked(w, tokens[who.id]), want[who.id] === 'killed', who.id);
      assert.equal((await w.introspect(tokens[who.id])).active, want[who.id] !== 'killed', who.id);
    }
    assert.equal(await w.call(A1, 'look'), by === 'tool' ? 'ran' : 'killed');
    const lifted = await w.api(ROOT, `/v1/kills/${pulled.body.id}/lift`, {});
    assert.equal(lifted.status, 200);
    assert.equal(await w.call(A1), 'ran');
    assert.equal(await revoked(w, tokens.a1), true); // revoked credentials stay revoked
    assert.equal(await revoked(w, w.up.calls.at(-1).credential), false);
  });
}

test('a call of a stopped agent is recorded, also with inexact numbers', async (t) => {
  const w = await world(t);
  assert.equal(await w.call(A1), 'ran');
  assert.ok((await w.pull(ROOT, 'agent', 'a1')).status < 300);
  assert.equal(await w.call(A1, 'pay', { n: JSON.rawJSON('9007199254740993') }), 'killed');
  const { decision } = w.gw.show(w.gw.decisions().at(-1).decision_id);
  assert.deepEqual([decision.decision, decision.extensions.writ.reason, decision.params_hash],
    ['deny', 'killed', undefined]);
  w.gw.verify();
});

test('a decision from before a stop cannot be bound after it, over the hook API', async (t) => {
  const gw = await startGateway(t, { administrators: ['rita'], agents: AGENTS.map((a) => a.entry),
    frameworks: { crew: { resource: 'urn:crew' } },
    tools: { 'crew/*': { ...ANY, scope: 'all', shadow: true }, 'crew/pay': ANY } });
  const post = async (port, who, path, body) => (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST',
    headers: { authorization: `Bearer ${who.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body) })).json();
  for (const tool of ['crew/pay', 'crew/shadowed']) {
    const { decision, verdict } = await post(gw.port, A1, '/v1/before',
      { tool, arguments: { n: 1 }, boundary_id: 'run' });
    assert.equal(verdict, 'allow', tool);
    const bind = () =>
      post(gw.port, A1, '/v1/bind',
        { authorization: { decision_id: decision.decision_id }, tool, arguments: { n: 1 } });
    const { id } = await post(gw.adminPort, ROOT, '/v1/kills', { by: 'agent', value: 'a1', reason: 'test' });
    const refused = await bind();
    assert.deepEqual([refused.verdict, refused.reason], ['deny', 'killed'], tool);
    await post(gw.adminPort, ROOT, `/v1/kills/${id}/lift`, {});
    assert.equal((await bind()).verdict, 'allow', `${tool}: the refusal has spent nothing`);
  }
});

const jti = (token) => jose.decodeJwt(token).jti;
test('a credential revoked by its jti is in list and introspection; only calls that share its place are affected',
    async (t) => {
  const w = await world(t);
  for (const who of [A1, A2, B1]) assert.equal(await w.call(who), 'ran');
  assert.equal(await w.call(A1, 'look'), 'ran');
  const [of1, of2, ofB, other] = w.up.calls.map((c) => c.credential);
  const pulled = await w.pull(ROOT, 'credential', jti(of1));
  assert.deepEqual([pulled.status, pulled.body.durable], [200, true]);
  assert.deepEqual(await Promise.all([of1, of2, ofB, other].map((token) => revoked(w, token))),
    [true, false, false, POSTGRES]); // the list that gateways share has places for groups: of its agent, here
  assert.deepEqual(await w.introspect(of1), { active: false });
  assert.equal((await w.introspect(other)).active, !POSTGRES);
  // the agent continues, with good credentials
  assert.equal(await w.call(A1), 'ran');
  assert.equal(await revoked(w, w.up.calls.at(-1).credential), false);
  const [stop] = (await w.api(ROOT, '/v1/kills')).body.kills;
  assert.deepEqual([stop.by, stop.value, stop.who], ['credential', jti(of1), 'rita']);
  // it stays revoked when the stop is lifted, and over SIGKILL
  assert.equal((await w.api(ROOT, `/v1/kills/${pulled.body.id}/lift`, {})).status, 200);
  assert.equal(await revoked(w, of1), true);
  await w.pull(ROOT, 'credential', jti(of2));
  await w.gw.stop('SIGKILL');
  await w.gw.start();
  w.sessions.clear();
  for (const token of [of1, of2]) assert.deepEqual(await w.introspect(token), { active: false });
  // that of a run before this one is found in the ledger, too
  assert.equal((await w.pull(ROOT, 'credential', jti(ofB))).status, 200);
  assert.equal(await w.call(B1), 'ran');
});

test('a credential is revoked by an administrator of its tenant, and only one that was issued', async (t) => {
  const w = await world(t);
  for (const who of [A1, B1]) assert.equal(await w.call(who), 'ran');
  const [of1, ofB] = w.up.calls.map((c) => c.credential);
  const refused = async (who, value, more) => {
    const answer = await w.pull(who, 'credential', value, more);
    return [answer.status, answer.body.reason];
  };
  const unknown = [404, 'authorization_unknown'];
  assert.deepEqual(await refused(ADAM, jti(ofB)), unknown);
  assert.deepEqual(await refused(ROOT, jti(ofB), { tenant: 'acme' }), unknown);
  assert.deepEqual(await refused(ROOT, 'no-such-id'), unknown);
  assert.deepEqual(await refused(A1, jti(of1)), [403, 'not_administrator']);
  await w.pull(ROOT, 'tool', 'up/pay');
  assert.equal(await w.call(A1), 'killed');
  const denied = w.gw.decisions(['--decision', 'deny']).at(-1).decision_id;
  assert.deepEqual(await refused(ROOT, denied), unknown, 'a call that was refused has no credential');
  assert.equal((await w.pull(ADAM, 'credential', jti(of1))).status, 200);
  assert.equal(await revoked(w, of1), true);
  const leave = () =>
    fetch(`${w.admin}/v1/kills`,
      { method: 'POST', signal: AbortSignal.timeout(1),
        headers: { authorization: `Bearer ${ROOT.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ by: 'credential', value: jti(of1), reason: 'test' }) });
  // a client that leaves before the answer affects no others
  await Promise.allSettled(Array.from({ length: 20 }, leave));
  assert.equal((await w.api(ROOT, '/v1/kills')).status, 200);
});

test('a stop during a probe stops that call', async (t) => {
  const w = await world(t);
  let go;
  w.up.onCall = async (a) => {
    if (a.name === 'stat') await new Promise((resolve) => { go = resolve; });
    a.text(`of ${a.name}`);
  };
  await w.gw.reload({ ...w.gw.config,
    tools: { 'up/stat': ANY, 'up/pay': { ...ANY, state: { tool: 'up/stat', arguments: {} } } } });
  const waiting = w.call(A1);
  await until(() => go, 'the probe to reach the server');
  await w.pull(ROOT, 'agent', 'a1');
  go();
  assert.equal(await waiting, 'killed');
  assert.deepEqual(w.up.calls.map((c) => c.name), ['stat']);
  const [decision] = w.gw.decisions();
  assert.equal(decision.outcome, 'error', 'it was allowed, and not sent');
});

test('a stop by policy holds until the policy changes', async (t) => {
  const w = await world(t);
  assert.equal(await w.call(A1), 'ran');
  const digest = jose.decodeJwt(w.up.calls[0].credential).policy_digest;
  assert.equal((await w.pull(ROOT, 'policy', digest)).status, 200);
  assert.equal(await w.call(A1), 'killed');
  assert.equal(await w.call(B1), 'killed');
  assert.equal((await w.gw.reload({ ...w.gw.config, tools: { 'up/*': { ...ANY, scope: 'other' } } })).event,
    'reloaded');
  assert.equal(await w.call(A1), 'ran');
});

test('the refusal is a decision in the ledger', async (t) => {
  const w = await world(t);
  await w.pull(ROOT, 'agent', 'a1');
  assert.equal(await w.call(A1), 'killed');
  const rows = JSON.parse(writ(['ledger', 'list', w.gw.ledgerFile, '--agent', 'a1', '--json']).out);
  const shown = writ(['ledger', 'show', w.gw.ledgerFile, rows.decisions[0].decision_id, '--json']).out;
  assert.match(shown, /"decision":"deny"/);
  assert.match(shown, /killed/);
  assert.equal(w.up.calls.length, 0);
});

test('the loop serves while a stop waits for its record, and obeys it', SQLITE_ONLY, async (t) => {
  const w = await world(t, { gateway: { loops: 1 } });
  assert.equal(await w.call(A1), 'ran');
  const ledger = new DatabaseSync(w.gw.path('ledger.db'));
  t.after(() => ledger.close());
  ledger.exec('BEGIN IMMEDIATE'); // the writer waits
  let answered = false;
  const pulled = w.pull(ROOT, 'agent', 'a1').finally(() => { answered = true; });
  const stop = await until(async () => (await w.api(ROOT, '/v1/kills')).body.kills[0], 'the stop is in force');
  assert.equal((await w.api(ROOT, `/v1/kills/${stop.id}/lift`, {})).status, 503);
  assert.equal(answered, false);
  ledger.exec('ROLLBACK');
  assert.deepEqual((({ status, body }) => [status, body.id, body.durable])(await pulled), [200, stop.id, true]);
  assert.equal(await w.call(A1), 'killed');
  assert.equal((await w.api(ROOT, `/v1/kills/${stop.id}/lift`, {})).status, 200);
  assert.equal(await w.call(A1), 'ran');
});

test('a stop survives SIGKILL and revokes credentials of the run before', async (t) => {
  const w = await world(t);
  for (const who of [A1, B1]) assert.equal(await w.call(who), 'ran');
  const [of1, of2] = w.up.calls.map((c) => c.credential);
  await w.pull(ROOT, 'agent', 'a1');
  await w.gw.stop('SIGKILL');
  await w.gw.start();
  w.sessions.clear();
  assert.equal(await w.call(A1), 'killed');
  assert.equal(await w.call(B1), 'ran');
  assert.equal(await revoked(w, of1), true);
  // what was issued by that process is unknown; a list that gateways share is made of the stops alone
  assert.equal(await revoked(w, of2), !POSTGRES);
  assert.equal(await revoked(w, w.up.calls.at(-1).credential), false);
  assert.deepEqual(readdirSync(w.gw.dir).filter((name) => name.includes('kills')), [], 'no file says what is stopped');
  if (POSTGRES) return; // no file of places
  const file = join(w.gw.dir, 'ledger.db.places.json');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await w.gw.stop();
  chmodSync(file, 0o666);
  await assert.rejects(w.gw.start(), /did not start/);
});

test('stops and revocations survive any change of the file of places', SQLITE_ONLY, async (t) => {
  const w = await world(t);
  assert.equal(await w.call(A1), 'ran');
  const old = w.up.calls[0].credential;
  await w.pull(ROOT, 'agent', 'a1');
  const file = join(w.gw.dir, 'ledger.db.places.json');
  for (const damage of [() => rmSync(file), () => writeFileSync(file, ''), () => writeFileSync(file, '{}'),
    () => writeFileSync(file, readFileSync(file, 'utf8').replace(/"revoked_until":\d+/, '"revoked_until":0')),
    () => writeFileSync(file, readFileSync(file, 'utf8').replace(/"longest":\d+/, '"longest":0'))]) {
    await w.gw.stop();
    damage();
    await w.gw.start();
    w.sessions.clear();
    assert.equal(await w.call(A1), 'killed', String(damage));
    assert.equal(await revoked(w, old), true, String(damage));
  }
});

test('a stop removed from the ledger is reported', async (t) => {
  const w = await world(t);
  await w.pull(ROOT, 'agent', 'a1');
  await w.pull(ROOT, 'agent', 'b1');
  await w.gw.stop();
  const edit = (sql) => editLedger(w.gw.ledgerFile, sql);
  edit('UPDATE record SET kind = 4 WHERE leaf = (SELECT min(leaf) FROM record WHERE kind = 5)');
  await assert.rejects(w.gw.start(), /did not start/);
  edit('UPDATE record SET kind = 5 WHERE kind = 4');
  await w.gw.start();
  w.sessions.clear();
  assert.equal(await w.call(A1), 'killed');
});

test('only administrators make stops, those of a tenant for their tenant', async (t) => {
  const w = await world(t);
  const status = async (...args) => (await w.pull(...args)).status;
  assert.equal(await status(null, 'agent', 'a1'), 401);
  assert.equal(await status({ token: 'wrong' }, 'agent', 'a1'), 401);
  for (const who of [NOBODY, A1, B1]) {
    const refused = await w.pull(who, 'agent', 'a1');
    assert.deepEqual([refused.status, refused.body.reason], [403, 'not_administrator']);
    assert.equal((await w.api(who, '/v1/kills')).status, 403);
  }
  assert.equal(await status(ADAM, 'tenant', 'bolt'), 403);
  assert.equal(await status(ADAM, 'policy', `sha256:${'0'.repeat(64)}`), 403);
  assert.equal(await status(ADAM, 'agent', 'b1', { tenant: 'bolt' }), 403);
  assert.equal(await status(ADAM, 'agent', 'b1'), 200); // an agent of that name in acme: there is none
  assert.equal(await w.call(B1), 'ran');
  const own = await w.pull(ADAM, 'tool', 'up/pay');
  assert.equal(await w.call(A1), 'killed');
  assert.equal(await w.call(B1), 'ran');
  const roots = await w.pull(ROOT, 'agent', 'b1');
  assert.equal((await w.api(ADAM, '/v1/kills')).body.kills.length, 2);
  assert.equal((await w.api(ROOT, '/v1/kills')).body.kills.length, 3);
  assert.equal((await w.api(ADAM, `/v1/kills/${roots.body.id}/lift`, {})).status, 404);
  assert.equal((await w.api(NOBODY, `/v1/kills/${own.body.id}/lift`, {})).status, 403);
  assert.equal((await w.api(ADAM, `/v1/kills/${own.body.id}/lift`, {})).status, 200);
  assert.equal((await w.api(ADAM, `/v1/kills/${own.body.id}/lift`, {})).status, 404);
  // without administrators no caller is one
  await w.gw.reload({ ...w.gw.config, administrators: undefined });
  assert.equal(await status(ROOT, 'agent', 'a1'), 403);
});

test('an invalid stop is refused whole', async (t) => {
  const w = await world(t);
  for (const body of [{}, [], { by: 'agent', reason: 'x' }, { by: 'agent', value: '', reason: 'x' },
    { by: 'colour', value: 'x', reason: 'x' },
    { by: 'agent', value: 'a1' }, { by: 'tool', value: 'pay', reason: 'x' },
    { by: 'tool', value: 'up/*', reason: 'x' }, { by: 'tool', value: 'up/', reason: 'x' },
    { by: 'tool', value: 'upp/pay', reason: 'x' }, { by: 'policy', value: 'x', reason: 'x' },
    { by: 'agent', value: 7, reason: 'x' },
    { by: 'agent', value: 'a1', reason: 'x\n' }, { by: 'agent', value: 'a1', reason: 'x', until: 7 },
    { by: 'agent', value: 'x'.repeat(513), reason: 'x' }]) {
    const refused = await w.api(ROOT, '/v1/kills', body);
    assert.deepEqual([refused.status, refused.body.reason], [422, 'kill_malformed'], JSON.stringify(body));
  }
  assert.deepEqual((await w.api(ROOT, '/v1/kills')).body.kills, []);
});

test('any number of stops holds, also after a restart', async (t) => {
  const w = await world(t);
  const N = 1600;
  for (let i = 0; i < N; i += 64) {
    const pulled = await Promise.all(Array.from({ length: 64 }, (_, at) => w.pull(ROOT, 'agent', `x${i + at}`)));
    assert.deepEqual(pulled.map((answer) => answer.status), Array(64).fill(200));
  }
  assert.equal(await w.call(A1), 'ran');
  assert.equal((await w.pull(ROOT, 'agent', 'a1')).status, 200);
  assert.equal(await w.call(A1), 'killed');
  await w.gw.restart();
  assert.equal(await w.call(A1), 'killed');
  const { kills } = (await w.api(ROOT, '/v1/kills')).body;
  assert.deepEqual([kills.length, new Set(kills.map((k) => k.id)).size], [N + 1, N + 1]);
  assert.equal((await w.api(ROOT, `/v1/kills/${kills.find((k) => k.value === 'a1').id}/lift`, {})).status, 200);
  assert.equal(await w.call(A1), 'ran');
});

test('writ stop works from the command line', async (t) => {
  const w = await world(t);
  assert.equal(await w.call(B1), 'ran');
  // the gateway runs in another process: spawnSync does not keep it from answering
  const token = w.gw.path('token-root');
  const pulled = writ(['kill', 'pull', w.admin, 'agent', 'a1', '--token', token, '--reason', 'it went astray']);
  assert.equal(pulled.code, 0, pulled.err);
  const [, id] = pulled.out.match(/^([0-9a-f-]{36})  stops calls of agent a1\n$/);
  assert.equal(pulled.err, '');
  assert.equal(await w.call(A1), 'killed');
  const listed = writ(['kill', 'list', w.admin, '--token', token]);
  assert.match(listed.out, new RegExp(`^${id}  \\S+  agent  a1  -  rita  it went astray\n$`));
  const refused = writ(['kill', 'lift', w.admin, id, '--token', w.gw.path('token-nobody')]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /not_administrator/);
  assert.equal(writ(['kill', 'lift', w.admin, id, '--token', token, '--reason', 'it is back']).code, 0);
  const lifted = allFacts(w.gw).find((f) => f.event === 'kill_lifted');
  assert.deepEqual([lifted.data.id, lifted.data.reason], [id, 'it is back']);
  assert.equal(await w.call(A1), 'ran');
  assert.equal(writ(['kill', 'pull', w.admin, 'agent', 'a1', '--token', token]).code, 2);
  const one = writ(['kill', 'pull', w.admin, 'credential', jti(w.up.calls[0].credential), '--token', token, '--reason',
    'it leaked']);
  assert.equal(one.code, 0, one.err);
  assert.match(one.out, /  stops the call of credential /);
  assert.equal(await revoked(w, w.up.calls[0].credential), true);
});

test('introspection shows the claims of a good credential only', async (t) => {
  const w = await world(t);
  await w.call(A1);
  const token = w.up.calls[0].credential;
  const told = await w.introspect(token);
  assert.deepEqual(told, { active: true, ...jose.decodeJwt(token) });
  assert.equal(told.subject, 'alice'); // the agent's user
  assert.equal((await w.introspect(token, A2)).active, true); // of the same tenant
  for (const [who, text] of [[B1, token], [ROOT, ''], [ROOT, 'x'], [ROOT, `${token.slice(0, -4)}AAAA`],
      [ROOT, await w.list()]]) {
    assert.deepEqual(await w.introspect(text, who), { active: false });
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal((await w.api(null, '/v1/introspect', `token=${token}`, form)).status, 401);
  assert.equal((await w.api(ROOT, '/v1/introspect', '{}', { 'content-type': 'application/json' })).status, 415);
});

test('credential.typ is in the header of every credential, and introspection accepts it', async (t) => {
  for (const [config, typ] of [[{}, 'writ-credential+jwt'], [{ credential: { typ: 'JWT' } }, 'JWT']]) {
    const w = await world(t, { gateway: config });
    await w.call(A1);
    const token = w.up.calls[0].credential;
    assert.equal(jose.decodeProtectedHeader(token).typ, typ);
    assert.equal((await w.introspect(token)).active, true);
  }
});

test('a guard with a status list refuses stopped calls, and all calls without a list',
    async (t) => {
  const w = await world(t);
  for (const who of [A1, B1]) await w.call(who);
  const [of1, ofB] = w.up.calls.map((c) => ({ token: c.credential, args: c.arguments }));
  const dir = await guardFolder(t);
  const target = await startUpstream(t);
  const start = (status) => startGuard(t, dir, ['http', target.url.replace('/mcp', ''), '--status', status],
    { keys: `${w.gw.origin}/.well-known/jwks.json` });
  const reason = async (guard, of) => {
    const answer = await new Caller(guard).call('pay', of.args, { headers: { 'writ-credential': of.token } });
    return answer.status === 200 ? 'ok' : answer.error.data.reason;
  };
  for (const who of [A1, B1]) await w.call(who); // issued after the file of used ones was made
  const [fresh1, freshB] = w.up.calls.slice(2).map((c) => ({ token: c.credential, args: c.arguments }));
  const blind = await start(join(dir, 'none'));
  await until(() => blind.log.some((l) => l.event === 'fetch_failed'), 'the guard to miss its list');
  assert.equal(await reason(blind, fresh1), 'status_unknown');
  await blind.stop();
  const guard = await start(`${w.gw.origin}/.well-known/writ-status-list`);
  await until(async () => (await reason(guard, freshB)) === 'ok', 'the guard to have its list and its keys');
  await w.pull(ROOT, 'agent', 'a1');
  // a credential older than the replay cache: its revocation is checked before its use
  await until(async () => (await reason(guard, of1)) === 'revoked', 'the guard to learn of the stop');
  assert.equal(await reason(guard, fresh1), 'revoked');
  assert.equal(target.calls.filter((c) => c.credential === fresh1.token).length, 0);
  assert.equal(target.calls.filter((c) => c.credential === freshB.token).length, 1);
  assert.equal(await reason(guard, ofB), 'replayed');
  // one credential alone: the guard refuses it, and takes the next one of the same agent
  await w.call(B1);
  const leaked = w.up.calls.at(-1);
  await w.pull(ROOT, 'credential', jti(leaked.credential));
  // in the same place
  await until(async () => (await reason(guard, ofB)) === 'revoked', 'the guard to learn of it');
  assert.equal(await reason(guard, { token: leaked.credential, args: leaked.arguments }), 'revoked');
  await w.call(B1);
  assert.equal(await reason(guard, { token: w.up.calls.at(-1).credential, args: w.up.calls.at(-1).arguments }), 'ok');
});

test('a stop of an unknown name holds and warns that it matches nothing', async (t) => {
  const w = await world(t);
  assert.equal(await w.call(B1), 'ran');
  const pulled = async (by, value, more = {}, who = ROOT) => {
    const { status, body } = await w.pull(who, by, value, more);
    assert.equal(status, 200);
    return body;
  };
  for (const [by, value, more, stops] of [
    ['agent', 'a11', {}, 'calls of agent a11'], ['tenant', 'acm', {}, 'calls of all agents of tenant acm'],
    ['agent', 'a1', { tenant: 'bolt' }, 'calls of agent a1, in tenant bolt'],
    ['policy', `sha256:${'0'.repeat(64)}`, {}, `calls under policy sha256:${'0'.repeat(64)}`],
  ]) {
    const body = await pulled(by, value, more);
    assert.deepEqual([body.known, body.stops], [false, stops]);
    await w.gw.waitLog('kill_unknown', 0, (l) => l.value === value && l.level === 'warn');
  }
  for (const [by, value, more] of [['agent', 'a1', {}], ['tenant', 'acme', {}], ['agent', 'a1', { tenant: 'acme' }],
      ['tool', 'up/pay', {}]]) {
    assert.equal((await pulled(by, value, more)).known, true, `${by} ${value}`);
  }
  // no longer in the configuration, but the ledger has a call of it; a tenant sees only its own
  await w.gw.reload({ ...w.gw.config, agents: AGENTS.filter((a) => a !== B1).map((a) => a.entry) });
  assert.equal((await pulled('agent', 'b1')).known, true);
  assert.equal((await pulled('agent', 'b1', {}, ADAM)).known, false);
  const token = w.gw.path('token-root');
  const run = writ(['kill', 'pull', w.admin, 'agent', 'a111', '--token', token, '--reason', 'a typing error']);
  assert.equal(run.code, 0);
  assert.match(run.err, /warning: the stop holds, but names nothing/);
});
