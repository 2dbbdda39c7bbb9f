// Gateways behind a load balancer without sticky sessions: each request of a client goes to another one, and the client
// gets what one gateway alone would give it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { resolve } from 'node:path';
import tls from 'node:tls';
import { certificates } from '../support/js/certificates.mjs';
import { CLIENTS, fresh, refusalOf, rules, useEverything } from '../support/js/clients.mjs';
import { at, sound, startFleet } from '../support/js/fleet.mjs';
import { SOURCE, bearer, startGateway, until } from '../support/js/gateway.mjs';
import { firing, samplesOf } from '../support/js/monitoring.mjs';
import { startCluster } from '../support/js/postgres.mjs';
import { DEV, approve, config as reviewed } from '../support/js/reviews.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { editLedger, textOfLedger } from '../support/js/store.mjs';
import { get, post } from '../support/js/stream.mjs';
import { Streams } from '../support/servers/resumable.mjs';
import { startRoundRobin } from '../support/servers/round-robin.mjs';
import { startSdkUpstream } from '../support/servers/sdk-upstream.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const NAMES = ['a', 'b', 'c'];
const SDK_STDIO = resolve(SOURCE, 'tests/support/servers/sdk-stdio.mjs');

/** Three gateways in front of an official server, and the balancer in front of them. */
async function setUp(t, config = {}) {
  const up = await startSdkUpstream(t);
  const fleet = await startFleet(t, { upstreams: { up: { http: up.url } }, tools: rules('up'), ...config },
    { names: NAMES });
  const balancer = await startRoundRobin(t, fleet.map((g) => g.port));
  return { up, fleet, balancer };
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  for (const [path, prefix] of [['/mcp', 'up__'], ['/mcp/up', '']])
    test(`${name} works across three gateways, on ${path}`, async (t) => {
      const { balancer, fleet } = await setUp(t);
      await useEverything(connect, balancer.origin + path, prefix);
      assert.deepEqual(new Set(balancer.taken.map((x) => x.at)), new Set([0, 1, 2]));
      sound(fleet[0]);
    });
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  test(`${name} cancels a call that another gateway has under way`, async (t) => {
    const { balancer, up } = await setUp(t);
    const { call, close } = await connect(balancer.url);
    for (let i = 0; i < 3; i++) {
      const who = fresh(name);
      const abort = new AbortController();
      const running = call({ name: 'up__wait', arguments: { name: who } }, { signal: abort.signal });
      await until(() => up.waiting.has(who), 'the call to run');
      abort.abort(new Error('changed my mind'));
      await assert.rejects(running);
      await until(() => up.cancelled.includes(who), 'the server to hear of it');
      assert.match((await refusalOf(call({ name: 'up__wait', arguments: { name: who } }))).reason, /^duplicate_/);
    }
    await close();
  });
}

// ---- who owns a resource

/** A server of resources that answers a read of any URI, as many do; `has`: what it lists. */
const library = (name, has) => ({
  capabilities: { resources: { subscribe: true } },
  onMessage: (a) => {
    switch (a.method) {
      case 'resources/list': return (a.result({ resources: has.uris.map((uri) => ({ uri, name: uri })) }), true);
      case 'resources/templates/list': return (
        a.result({ resourceTemplates: has.templates.map((x) => ({ uriTemplate: x, name: x })) }), true);
      case 'resources/read': return (a.result({ contents: [{ uri: a.params.uri, text: name }] }), true);
      case 'resources/subscribe': return (a.result({}), true);
      default: return undefined;
    }
  },
});

test('every gateway finds the owner of a resource by the lists, also after a restart', async (t) => {
  const first = { uris: ['one:a', 'both:x'], templates: ['one:rows/{id}'] };
  const second = { uris: ['two:a', 'both:x'], templates: ['two:rows/{id}'] };
  const [one, two] = [await startUpstream(t, library('one', first)), await startUpstream(t, library('two', second))];
  const fleet = await startFleet(t, { upstreams: { one: { http: one.url }, two: { http: two.url } } },
    { names: NAMES });
  const s = await openSession(fleet[0]);
  const modern = new Caller(fleet[0], { modern: true });
  const reads = async () => {
    for (const gateway of fleet) {
      for (const caller of [s, modern]) {
        caller.gateway = gateway;
        for (const [uri, owner] of [['two:a', 'two'], ['two:rows/7', 'two'], ['one:a', 'one'], ['both:x', 'one'],
          ['unlisted:y', 'one']]) {
          const read = await caller.request('resources/read', { uri });
          assert.equal(read.result?.contents[0].text, owner, `${uri}: ${read.text}`);
        }
      }
      s.gateway = gateway;
      const before = two.arrivals.length;
      assert.ok((await s.request('resources/subscribe', { uri: 'two:rows/8' })).result);
      assert.equal(two.arrivals.at(-1).method, 'resources/subscribe');
      assert.equal(two.arrivals.length, before + 1, 'the lists are asked for once');
    }
  };
  await reads();
  for (const gateway of fleet) await gateway.restart();
  await reads();
  // one that does not answer delays nothing that another one lists
  await one.close();
  await fleet[0].restart();
  s.gateway = fleet[0];
  assert.equal((await s.request('resources/read', { uri: 'two:a' })).result?.contents[0].text, 'two');
});

// ---- the page

const [ANN, BOB] = [bearer('ann', { tenant: 'acme' }), bearer('bob', { tenant: 'acme' })];

/** Two gateways whose page is behind a balancer; `ask` as a browser does. */
async function setUpPage(t, agents = [ANN, BOB]) {
  const fleet = await startFleet(t, { agents: agents.map((x) => x.entry) });
  const ask = (to, method, path, { cookie, key, body, headers } = {}) => {
    const base = `http://127.0.0.1:${to.adminPort ?? to.port}`;
    return fetch(base + path, { method, body: body && JSON.stringify(body),
      headers: { origin: base, 'sec-fetch-site': 'same-origin', ...(cookie && { cookie }),
        ...(key && { 'writ-page': key }), ...(body && { 'content-type': 'application/json' }), ...headers } });
  };
  const logIn = async (to, who) => {
    const answer = await ask(to, 'POST', '/v1/session', { body: { token: who.token } });
    assert.equal(answer.status, 200, await answer.clone().text());
    return { cookie: answer.headers.get('set-cookie').split(';')[0], key: (await answer.json()).key };
  };
  const status = async (to, login, path = '/v1/session') => (await ask(to, 'GET', path, login)).status;
  return { fleet, ask, logIn, status, balancer: await startRoundRobin(t, fleet.map((g) => g.adminPort)) };
}

test('a login at one gateway holds at all, and ends at all', async (t) => {
  const { fleet: [a, b], ask, logIn, status, balancer } = await setUpPage(t);
  const ann = await logIn(a, ANN);
  for (const to of [b, a, balancer, balancer]) assert.equal(await status(to, ann), 200);
  // both secrets, and the very ones
  const bob = await logIn(b, BOB);
  for (const wrong of [{ cookie: ann.cookie }, { cookie: ann.cookie, key: bob.key },
    { cookie: bob.cookie, key: ann.key }, { cookie: ann.cookie, key: ann.key.slice(1) },
    { cookie: `writ=${ann.key}`, key: ann.cookie.slice(5) }, { cookie: ann.cookie.toLowerCase(), key: ann.key }]) {
    for (const to of [a, b]) assert.equal(await status(to, wrong), 401);
  }
  // neither secret, nor the token, is in the database
  const all = textOfLedger(a.ledgerFile);
  for (const secret of [ann.cookie.slice(5), ann.key, ANN.token]) assert.ok(!all.includes(secret));
  // a page of another origin ends no login
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
    assert.equal((await ask(b, 'DELETE', '/v1/session', { ...ann, headers })).status, 403);
  assert.equal(await status(a, ann), 200);
  // logged out at the other one
  assert.equal((await ask(b, 'DELETE', '/v1/session', ann)).status, 200);
  for (const to of [a, b]) assert.equal(await status(to, ann), 401, 'it ends at once');
  assert.equal(await status(a, bob), 200);
  // its token is removed: at each gateway by its configuration
  await a.reload({ ...a.config, agents: [ANN.entry] });
  assert.equal(await status(a, bob), 401);
  assert.equal(await status(b, bob), 200);
  await b.reload({ ...b.config, agents: [ANN.entry] });
  assert.equal(await status(b, bob), 401);
  // over a restart of both, since the row is in the ledger
  const again = await logIn(b, ANN);
  for (const gateway of [a, b]) await gateway.restart();
  for (const to of [a, b]) assert.equal(await status(to, again), 200);
  sound(a);
});

test('a row of a login that is edited, moved or over opens nothing', async (t) => {
  const { fleet: [a, b], logIn, status } = await setUpPage(t);
  const [ann, bob] = [await logIn(a, ANN), await logIn(a, BOB)];
  const rows = () => a.rows('SELECT hash, value, expires_us FROM session');
  assert.equal(rows().length, 2);
  const swap = "UPDATE session AS s SET value = o.value FROM session AS o WHERE o.hash <> s.hash";
  editLedger(a.ledgerFile, swap);
  for (const login of [ann, bob]) assert.equal(await status(b, login), 401);
  editLedger(a.ledgerFile, swap);
  for (const login of [ann, bob]) assert.equal(await status(b, login), 200);
  for (const at of [0, 45, 75, 100]) {
    const flip = `UPDATE session SET value = set_byte(value, ${at}, get_byte(value, ${at}) # 1)`;
    editLedger(a.ledgerFile, flip);
    for (const gateway of [a, b]) assert.equal(await status(gateway, ann), 401, `byte ${at}`);
    editLedger(a.ledgerFile, flip);
    assert.equal(await status(b, ann), 200);
  }
  editLedger(a.ledgerFile, 'UPDATE session SET expires_us = 1');
  for (const gateway of [a, b]) assert.equal(await status(gateway, ann), 401);
});

test('a ninth login of an agent ends its first at all gateways', async (t) => {
  const { fleet: [a, b], logIn, status } = await setUpPage(t);
  const first = await logIn(a, ANN);
  assert.equal(await status(b, first), 200);
  for (let i = 0; i < 8; i++) assert.equal(await status(b, await logIn(a, ANN)), 200);
  for (const gateway of [a, b]) assert.equal(await status(gateway, first), 401);
});

test('while the database is away no login holds, and then it does again', async (t) => {
  const cluster = await startCluster(t);
  const [a, b] = await startFleet(t, { agents: [ANN.entry] }, { ledger: cluster.uri() });
  const base = (g) => `http://127.0.0.1:${g.adminPort}`;
  const post = await fetch(`${base(a)}/v1/session`, { method: 'POST', headers: { origin: base(a),
    'content-type': 'application/json' }, body: JSON.stringify({ token: ANN.token }) });
  const login = { cookie: post.headers.get('set-cookie').split(';')[0], 'writ-page': (await post.json()).key };
  const ask = (g) => fetch(`${base(g)}/v1/session`, { headers: login });
  assert.equal((await ask(b)).status, 200);
  await cluster.stop('immediate');
  for (const g of [a, b]) {
    const answer = await ask(g);
    assert.equal(answer.status, 503);
    assert.match(await answer.text(), /ledger_unavailable/);
  }
  await cluster.start();
  for (const g of [a, b]) await until(async () => (await ask(g)).status === 200, 'the login to hold again');
});

test('a stream of events ends soon after the logout at another gateway', async (t) => {
  const { fleet: [a, b], ask, logIn } = await setUpPage(t);
  const ann = await logIn(a, ANN);
  const stream = await ask(b, 'GET', '/v1/ledger/events', ann);
  assert.equal(stream.status, 200);
  const reader = stream.body.getReader();
  assert.match(new TextDecoder().decode((await reader.read()).value), /reset/);
  assert.equal((await ask(a, 'DELETE', '/v1/session', ann)).status, 200);
  for (;;) if ((await reader.read()).done) break;
});

// ---- a gateway that was paused between a claim and its first byte

/** A tool server over TLS whose connections wait, once held, until they are let go. */
async function startHeldServer(t, up) {
  const certs = certificates(t, 'localhost');
  const read = (name) => readFileSync(certs.path(name));
  const secure = tls.createServer({ key: read('good.key'), cert: read('good.pem') }, (socket) => {
    const onward = net.connect(up.port, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    for (const s of [socket, onward]) s.on('error', () => [socket, onward].forEach((x) => x.destroy()));
  });
  const held = { waiting: 0, gate: Promise.resolve(), open: new Set() };
  const front = net.createServer(async (socket) => {
    held.open.add(socket);
    socket.on('error', () => {}).on('close', () => held.open.delete(socket));
    held.waiting++;
    await held.gate;
    held.waiting--;
    const onward = net.connect(secure.address().port, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    onward.on('error', () => socket.destroy());
  });
  const sockets = new Set();
  for (const server of [secure, front]) {
    server.on('connection', (socket) => sockets.add(socket));
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    t.after(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
  }
  held.hold = () => {
    const { promise, resolve } = Promise.withResolvers();
    held.gate = promise;
    held.release = resolve;
    for (const socket of held.open) socket.destroy(); // the next call makes a connection
    return until(() => held.open.size === 0, 'no connection to be open');
  };
  return Object.assign(held, { url: `https://localhost:${front.address().port}/mcp`, ca: certs.path('ca.pem') });
}

for (const [name, by] of [['that lost its lease', undefined], ['that a stop names', 'agent']])
  test(`a call ${name} while its gateway was paused is not sent, though it was claimed`, async (t) => {
    const up = await startUpstream(t);
    const server = await startHeldServer(t, up);
    const root = bearer('root', { subject: 'rita' });
    const [a, b] = await startFleet(t, { agents: [ANN.entry, root.entry], administrators: ['rita'],
      upstreams: { up: { http: server.url, ca: server.ca } },
      tools: { 'up/*': { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], timeout: '50s' } } },
    { lease: by === undefined ? '2s' : '60s' });
    const s = new Caller(a, { modern: true, token: ANN.token });
    const call = (gateway, n) => at(s, gateway).call('up__pay', { n }, { key: `k${n}`, boundary: 'run' });
    assert.equal((await call(a, 1)).said, 'ran 1');
    await server.hold();
    const done = call(a, 2);
    await until(() => server.waiting > 0 && b.decisions().length === 2, 'its claim, while its connection waits');
    const [{ decision_id }] = b.decisions().slice(-1);
    assert.equal(b.show(decision_id).outcome, null);
    a.child.kill('SIGSTOP');
    if (by === undefined) {
      await until(() => b.show(decision_id).outcome, 'the other one to give it its outcome');
    } else {
      const answer = await fetch(`http://127.0.0.1:${b.adminPort}/v1/kills`, { method: 'POST',
        headers: { authorization: `Bearer ${root.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ by, value: 'ann', reason: 'test' }) });
      assert.deepEqual((await answer.json()).unconfirmed, ['a'], 'the answer names the paused one');
    }
    a.child.kill('SIGCONT');
    if (by !== undefined) // it reads the stop as soon as it is back
      await until(async () => (await call(a, 3)).reason === 'killed', 'the gateway to know of the stop');
    server.release();
    const told = await done;
    assert.equal(told.reason, by === undefined ? 'ledger_unavailable' : 'killed', told.text);
    assert.equal(up.calls.length, 1, 'nothing reached the tool server');
    await until(() => b.show(decision_id).outcome, 'its outcome');
    assert.equal(b.show(decision_id).outcome.error_type,
      by === undefined ? 'interrupted_execution_unknown' : 'not_sent');
    sound(b);
  });

// ---- a stream that is resumed elsewhere

const WORK = { scope: 's', arguments: [{ arg: 'n', op: 'type', value: 'number' }] };
const worked = (id, text = 'worked') => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });

/** A call at gateway `a` whose stream its client has lost, and that stream at its server. */
async function lost(t, rule = WORK, options = {}) {
  const streams = new Streams();
  const up = await startUpstream(t, { onGet: streams.onGet });
  const fleet = await startFleet(t, { upstreams: { up: { http: up.url } }, tools: { 'up/work': rule } },
    { names: NAMES, ...options });
  const s = await openSession(fleet[0], { path: '/mcp/up' });
  let stream;
  up.onCall = (x) => {
    stream = streams.open(x);
    stream.send(undefined, 'retry: 50\n').send({ jsonrpc: '2.0', method: 'notifications/message',
      params: { level: 'info', data: 'one' } });
  };
  const body = s.callMessage('work', { n: 1 }, { key: 'k' });
  const client = await post(fleet[0], s, body);
  await client.has('one');
  const last = client.events.findLast((e) => e.id).id;
  client.leave();
  await stream.closed();
  return { up, fleet, s, stream, body, last };
}

const reasonOf = (rest) => rest.messages.at(-1).error?.data.reason;

test('a lost stream that is resumed at another gateway ends with the answer, after its outcome', async (t) => {
  const { up, fleet, s, stream, body, last } = await lost(t, { ...WORK, duplicates: 'replay' });
  const [a, b, c] = fleet;
  const rest = await get(b, s, last); // the rest of the stream, by the other gateway
  assert.equal(rest.status, 200);
  stream.send(worked(body.id)).end();
  await rest.done();
  assert.equal(a.decisions()[0].outcome, 'executed', 'nothing passes before it is recorded');
  assert.deepEqual(rest.messages.at(-1), worked(body.id));
  const late = await get(c, s, last);
  await late.done();
  assert.deepEqual(late.messages.at(-1), worked(body.id));
  for (const gateway of [b, c, a])
    assert.equal((await at(s, gateway).call('work', { n: 1 }, { key: 'k' })).said, 'worked');
  assert.equal(up.calls.length, 1);
  sound(a);
});

test('an official client whose stream breaks gets the answer of its call through another gateway', async (t) => {
  const streams = new Streams();
  const up = await startUpstream(t, { onGet: streams.onGet });
  const fleet = await startFleet(t, { upstreams: { up: { http: up.url } }, tools: { 'up/work': WORK } });
  const balancer = await startRoundRobin(t, fleet.map((g) => g.port),
    { pick: (req) => (req.method === 'GET' ? 1 : 0) });
  const { call, close } = await CLIENTS['SDK v1'](`${balancer.origin}/mcp/up`);
  let stream;
  up.onCall = (x) => {
    stream = streams.open(x);
    stream.id = x.id;
    stream.send(undefined, 'retry: 50\n');
  };
  const running = call({ name: 'work', arguments: { n: 1 } });
  await until(() => stream?.res, 'the call to run');
  await until(() => balancer.break('id: s1_1'), 'its stream to break');
  await until(() => balancer.taken.some((x) => x.at === 1 && x.last), 'the client to ask the other gateway');
  stream.send(worked(stream.id)).end();
  assert.equal((await running).content[0].text, 'worked');
  await close();
  assert.equal(up.calls.length, 1);
  assert.deepEqual(fleet[1].decisions().map((d) => d.outcome), ['executed']);
});

test('another answer than the recorded one does not pass at another gateway, nor one in another session', async (t) => {
  const { fleet, s, stream, body, last } = await lost(t);
  const [a, b] = fleet;
  stream.send(worked(body.id)).end();
  await until(() => a.decisions()[0].outcome === 'executed', 'the outcome');
  const other = await openSession(b, { path: '/mcp/up' });
  const stolen = await get(b, other, last);
  await stolen.done();
  assert.equal(reasonOf(stolen), 'answer_unknown', stolen.text);
  stream.events.at(-1).text = stream.events.at(-1).text.replace('worked', 'forged');
  const forged = await get(b, s, last);
  await forged.done();
  assert.equal(reasonOf(forged), 'answer_unknown', forged.text);
  assert.ok(!forged.text.includes('forged'));
});

test('what a rule has changed is changed at another gateway as well', async (t) => {
  const rule = { ...WORK, result: { redact: [{ pattern: 'wor[a-z]+' }] } };
  for (const [duplicates, want] of [['replay', undefined], ['forbid', 'answer_unknown']]) {
    const { fleet, s, stream, body, last } = await lost(t, { ...rule, duplicates });
    stream.send(worked(body.id)).end();
    await until(() => fleet[0].decisions()[0].outcome === 'executed', 'the outcome');
    const rest = await get(fleet[1], s, last);
    await rest.done();
    assert.equal(reasonOf(rest), want, rest.text);
    assert.ok(!rest.text.includes('worked'), rest.text);
    if (want === undefined) assert.match(rest.messages.at(-1).result.content[0].text, /REDACTED|redacted/);
  }
});

test('a result that a rule withholds is withheld at another gateway as well', async (t) => {
  for (const result of [{ max_bytes: 10 }, { content: ['image'] }, { redact: [{ pattern: 'text' }] }]) {
    const { fleet, s, stream, body, last } = await lost(t, { ...WORK, duplicates: 'replay', result });
    stream.send(worked(body.id)).end();
    await until(() => fleet[0].decisions()[0].outcome, 'the outcome');
    const rest = await get(fleet[1], s, last);
    await rest.done();
    assert.ok(!rest.text.includes('worked'), rest.text);
    assert.equal(reasonOf(rest), 'answer_unknown', rest.text);
  }
});

test('a lost stream whose gateway dies ends with interrupted_execution_unknown', async (t) => {
  const { up, fleet, s, stream, body, last } = await lost(t, WORK, { lease: '5s' });
  const [a, b] = fleet;
  a.child.kill('SIGKILL');
  const rest = await get(b, s, last);
  stream.send(worked(body.id)).end();
  await rest.done();
  assert.equal(reasonOf(rest), 'interrupted_execution_unknown', rest.text);
  assert.equal(b.show(b.decisions()[0].decision_id).outcome.error_type, 'interrupted_execution_unknown');
  assert.equal(up.calls.length, 1);
});

// ---- metrics

test('the rules and the metrics fit a fleet: quiet when it is well, and each gateway under its own name', async (t) => {
  const cluster = await startCluster(t);
  const fleet = await startFleet(t, {}, { names: NAMES, ledger: cluster.uri() });
  const scrape = async (g) => (await g.admin('/metrics')).text;
  for (const g of fleet) {
    await until(async () => await g.metric(`writ_fleet_gateways{gateway="${g.config.ledger.gateway}"}`) === 3,
      'it to see all three');
    const text = await scrape(g);
    assert.deepEqual(firing([[text, 30]]), []);
    const named = [...samplesOf(text).keys()].filter((name) => name.startsWith('writ_fleet_'));
    assert.equal(named.length, 7);
    for (const name of named) assert.ok(name.endsWith(`{gateway="${g.config.ledger.gateway}"}`), name);
  }
  const healthy = await Promise.all(fleet.map(scrape));
  await cluster.stop('immediate');
  for (const [i, g] of fleet.entries()) {
    await until(async () => (await g.admin('/readyz')).status === 503, 'readyz to fail');
    await until(async () => (await g.metric('writ_ledger_state{state="refusing"}')) === 1, 'its state');
    const fired = new Set(firing([[healthy[i], 30], [await scrape(g), 30]]));
    fired.delete('WritAnchorFails'); // it may have been time for an anchor
    assert.deepEqual([...fired], ['WritLedgerRefuses']);
  }
});

// ---- a child belongs to one gateway

test('a session with a child: calls pass at any gateway, an answer to the child only at its own', async (t) => {
  const [a, b] = await startFleet(t, { upstreams: { up: { stdio: [process.execPath, SDK_STDIO, 'legacy'] } },
    tools: rules('up') });
  const s = await openSession(a, { capabilities: { elicitation: {} } });
  for (const gateway of [a, b, a])
    assert.match((await at(s, gateway).call('up__echo', { message: fresh('m') })).said, /^Echo: m/);
  const stream = await post(a, s, s.callMessage('up__ask', { question: 'ok?' }));
  await stream.has('elicitation/create');
  const { id } = stream.messages.find((m) => m.method === 'elicitation/create');
  const answer = { jsonrpc: '2.0', id, result: { action: 'accept', content: { reply: 'yes' } } };
  const other = await at(s, b).post(answer);
  assert.deepEqual([other.status, other.reason], [400, 'answer_unknown'], other.text);
  assert.equal((await at(s, a).post(answer)).status, 202);
  await stream.has('They said yes');
});

test('a call that is held at one gateway goes on by the votes at another', async (t) => {
  const up = await startUpstream(t);
  const [a, b] = await startFleet(t, reviewed(up, { approval: { hold: '50s' } }));
  const s = await openSession(a, { token: DEV.token });
  const done = s.call('up__pay', { amount: 1 });
  await approve(b, await until(() => a.decisions()[0]?.decision_id, 'the review'));
  assert.equal((await done).said, 'ran 1');
  assert.equal((await at(s, b).call('up__pay', { amount: 1 })).reason, 'duplicate_outcome');
  assert.equal(up.calls.length, 1);
  sound(b);
});
