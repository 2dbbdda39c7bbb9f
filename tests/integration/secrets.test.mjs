// Canaries: every kind of secret that goes through the gateway or lies beside it is planted, everything that the
// gateway writes is searched. A secret counts as found in its own bytes, in hex, in base64 and in base64url.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SOURCE, bearer, prepare, readFileSync, textOf, until, writ, writeFileSync } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession, sendRaw } from '../support/js/rpc.mjs';

const canary = (name) => `canary-${name}-5f1c0d`;
const RULES = {
  'up/pay': { scope: 'pay', arguments: [{ arg: 'n', op: 'type', value: 'any' }] },
  'up/again': { scope: 'again', arguments: [{ arg: 'n', op: 'type', value: 'any' }], duplicates: 'forbid',
    refusal: 'result' },
};

/** Every spelling of a secret. */
function spellings(secret) {
  const bytes = Buffer.from(secret, 'utf8');
  return [secret, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
}

/** Names of the secrets that are in `text`. `secrets`: name -> texts. */
function found(secrets, text) {
  return Object.entries(secrets).filter(([, texts]) => texts.some((s) => text.includes(s))).map(([name]) => name);
}

const planted = (...names) => Object.fromEntries(names.map((name) => [name, spellings(canary(name))]));

/** The secret parts of a PEM private key: its lines, and the numbers in it. */
function keyTexts(pem) {
  const lines = pem.split('\n').filter((line) => line.length >= 40 && !line.startsWith('-'));
  const jwk = createPrivateKey(pem).export({ format: 'jwk' });
  const numbers = ['d', 'p', 'q', 'dp', 'dq', 'qi'].filter((n) => jwk[n]).map((n) => Buffer.from(jwk[n], 'base64url'));
  // PKCS#8 keys of one kind begin alike: with the first line, or, for an Ed25519 key, which has one line, with 16 bytes
  return [...(lines.length > 1 ? lines.slice(1) : [lines[0].slice(22)]),
    ...numbers.flatMap((n) => [n.toString('base64url'), n.toString('hex'), n.toString('latin1')])];
}

/** The files in the gateway's directory, except the operator's own. */
function files(gw, own = ['keys', 'writ.yaml', 'call.json']) {
  // such a file is renamed at any moment
  const all = readdirSync(gw.dir, { recursive: true })
    .filter((f) => !own.some((o) => f === o || f.startsWith(`${o}/`)) && !f.endsWith('.json.new'));
  return all.map((f) => join(gw.dir, f)).filter((f) => statSync(f).isFile()).map((f) => [f, readFileSync(f, 'latin1')]);
}

async function admin(gw) {
  const pages = await Promise.all(['/metrics', '/readyz', '/healthz', '/nothing'].map((path) => gw.admin(path)));
  return pages.map(({ text }, i) => [`admin page ${i}`, text]);
}

/** Everything that the ledger's commands print. */
function ledgerOutputs(gw) {
  const list = gw.ledger(['list', '--limit', '0']);
  const ids = JSON.parse(list.out).decisions;
  const shown = ids.map(({ decision_id: id }) => gw.ledger(['show', id]).out);
  const exported = [...new Set(ids.map((d) => d.boundary_id))].map((id) =>
    writ(['ledger', 'export', gw.ledgerFile, id]).out);
  return [['ledger', [list.out, ...shown, ...exported, gw.ledger(['verify']).out].join('\n')]];
}

function nowhere(secrets, places) {
  for (const [where, text] of places) assert.deepEqual(found(secrets, text), [], where);
}

test('no secret of a call is logged: arguments, names, results, errors, headers, tokens', async (t) => {
  const agent = bearer('dev', { token: canary('token'), tenant: 'local' });
  const up = await startUpstream(t);
  const gw = await prepare(t,
    { agents: [agent.entry], log: { level: 'debug' }, upstreams: { up: { http: up.url } }, tools: RULES }).start();
  const secrets = planted('token', 'argument', 'name', 'value', 'result', 'error', 'cookie', 'custom', 'basic', 'query',
    'rubbish', 'progress', 'failure', 'state');
  up.onCall = (a) => ({
    fail: () => a.error(-32000, canary('error'), 200, { detail: canary('error') }),
    broken: () => a.bytes(
      `HTTP/1.1 200 OK\r\nX-Failure: ${canary('failure')}\r\nContent-Type: application/json\r\nContent-Length: ` +
        `9\r\n\r\n{"${canary('failure')}`),
    page: () => a.json(`<html>${canary('failure')}</html>`, 500, { 'content-type': 'text/html' }),
    stream: () => {
      const s = a.stream({ 'set-cookie': canary('failure') });
      s.send({ jsonrpc: '2.0', method: 'notifications/progress',
        params: { progressToken: 1, progress: 1, message: canary('progress') } });
      s.raw(`: ${canary('failure')}\n\ndata: {"${canary('failure')}\n\n`);
      s.send({ jsonrpc: '2.0', id: a.id, result: { content: [{ type: 'text', text: canary('result') }] } });
      s.end();
    },
  }[a.arguments.n] ??
    (() => a.result({ content: [{ type: 'text', text: canary('result') }],
      structuredContent: { secret: canary('result') } })))();
  up.onMessage = (a) => (a.method === 'initialize'
    ? (a.result({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' },
      instructions: canary('result') }), true) : undefined);

  const headers = { cookie: `sid=${canary('cookie')}`, 'x-api-key': canary('custom'),
    'proxy-authorization': `Basic ${canary('basic')}` };
  const s = await openSession(gw, { token: agent.token });
  const answers = [];
  for (const n of [canary('argument'), 'fail', 'broken', 'page', 'stream'])
    answers.push(await s.call('up__pay', { n }, { headers }));
  assert.equal(up.calls.length, 5);
  const refusals = [
    await s.call('up__pay', { n: canary('argument') }), // a duplicate
    await s.call('up__pay', { n: 1, [canary('name')]: canary('value') }),
    await s.call('up__nothing', { n: canary('argument') }),
    await s.call('up__again', { n: 1, other: canary('argument') }),
    await s.call('up__pay', { n: 9 }, { state: `sha256:${canary('state')}` }),
    await s.call('up__pay', { n: 9 }, { token: 'x', headers: { authorization: `Bearer ${canary('rubbish')}` } }),
    await s.call('up__pay', { n: 9 }, { headers: { authorization: `Basic ${canary('basic')}` } }),
    await s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
      `"params":{"${canary('name')}":1,"${canary('name')}":2}}`),
    await s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__pay",` +
      `"arguments":"${canary('argument')}`),
    await s.post({ jsonrpc: '2.0', id: 5, method: 'x/y', params: { v: canary('value') } }),
    await s.request('tools/list', { cursor: canary('argument') }, { headers }),
  ];
  assert.equal(up.calls.length, 5);
  // a refusal and its record name the argument that no rule names, never its value
  const { name, ...values } = secrets;
  assert.deepEqual(refusals.flatMap((answer, i) => (found({ name }, answer.text).length > 0 ? [i] : [])), [1]);
  for (const [i, answer] of refusals.entries())
    nowhere(values, [[`refusal ${i}`, answer.text + JSON.stringify(answer.headers)]]);
  const raw = await sendRaw(gw.port,
    `GET /x?key=${canary('query')} HTTP/1.1\r\nHost: 127.0.0.1:${gw.port}\r\nCookie: ` +
      `${canary('cookie')}\r\nCookie : ${canary('cookie')}\r\nConnection: close\r\n\r\n`);
  nowhere(secrets, [['a malformed request', raw]]);
  assert.equal(answers.filter((a) => a.text.includes(canary('result'))).length, 2); // they were there to be found

  // a client's own headers are never forwarded
  nowhere(planted('token', 'cookie', 'custom', 'basic', 'query', 'rubbish'), [['upstream', up.bytes]]);
  const seen = [['log', gw.logText], ...await admin(gw)];
  const places = [...seen, ...ledgerOutputs(gw), ...files(gw)];
  nowhere(secrets, seen);
  nowhere(values, places);
  // the holder of a session's id is its client: log, metrics and ledger do not have it
  nowhere({ session: spellings(s.session) }, places);
  await gw.stop();
  nowhere(secrets, [['log', gw.logText]]);
  nowhere(values, files(gw));
});

test('no secret of the configuration is logged: tokens, URLs, environments of children, probes', async (t) => {
  const token = canary('token');
  const agent = bearer('dev', { token, tenant: 'local' });
  const up = await startUpstream(t);
  const probes = http.createServer((req, res) =>
    (req.url.includes('gone') ? res.writeHead(500).end(canary('probe-error'))
    : res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ rev: canary('probe') }))));
  await new Promise((r) => probes.listen(0, '127.0.0.1', r));
  t.after(() => probes.close());
  const probe = `http://127.0.0.1:${probes.address().port}`;
  const dir = mkdtempSync(join(tmpdir(), 'writ-child-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const config = {
    agents: [agent.entry,
      { issuer: 'https://issuer.example/', audience: 'x', jwks: `https://127.0.0.1:1/keys?secret=${canary('jwks')}` }],
    log: { level: 'debug' },
    upstreams: {
      up: { http: `${up.url}?secret=${canary('upstream')}`, resource: 'https://up.example/',
        authorization: { file: 'shown.secret' } },
      other: { http: up.url, authorization: { variable: 'WRIT_TEST_SHOWN', header: 'X-Shown', scheme: '' } },
      asks: { http: up.url,
        authorization: { client_id: 'writ', token_endpoint: `http://127.0.0.1:1/token?secret=${canary('token-url')}`,
          file: 'client.secret' } },
      dead: { http: `http://127.0.0.1:1/mcp?secret=${canary('upstream')}` },
      child: { stdio: [process.execPath, resolve(SOURCE, 'tests/support/servers/stdio-server.mjs'), join(dir, 'record'),
        canary('argv')], environment: { SECRET: canary('environment') } },
      lost: { stdio: [join(dir, 'lost'), canary('argv')], environment: { SECRET: canary('environment') } },
    },
    tools: {
      ...RULES,
      'child/act': { scope: 'act', arguments: [{ arg: '', op: 'type', value: 'any' }] },
      'up/seen': { scope: 's', arguments: [{ arg: 'n', op: 'type', value: 'any' }],
        state: { http: `${probe}/{n}?secret=${canary('probe-url')}` }, duplicates: 'allow' },
      'dead/x': { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] },
      'other/x': { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] },
      'asks/x': { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] },
      'lost/x': { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] },
    },
  };
  const secrets = { ...planted('token', 'jwks', 'upstream', 'argv', 'environment', 'probe', 'probe-error', 'probe-url',
    'shown', 'variable', 'client-secret', 'shown-next', 'token-url'), hash: [agent.entry.bearer_sha256] };
  const secret = (dir, name, text) => writeFileSync(join(dir, name), text, { mode: 0o600 });
  const gw = await prepare(t, config, {
    env: { WRIT_TEST_SHOWN: canary('variable') },
    prepare: (at) => {
      secret(at, 'shown.secret', canary('shown'));
      secret(at, 'client.secret', canary('client-secret'));
    },
  }).start();
  const s = await openSession(gw, { token });
  const said = [
    await s.call('up__seen', { n: 'here' }), await s.call('up__seen', { n: 'gone' }), await s.call('up__pay', { n: 1 }),
    await s.call('child__act', { act: 'echo', say: 'x' }), await s.call('dead__x'), await s.call('lost__x'),
    await s.call('other__x'), await s.call('asks__x'), await s.request('tools/list'),
    await new Caller(gw, { token: 'wrong' }).call('up__pay', { n: 1 }),
    await new Caller(gw, { token: 'e30.e30.e30' }).call('up__pay', { n: 1 }),
  ];
  assert.deepEqual(said.slice(0, 4).map((a) => a.reason),
    [undefined, 'target_state_unavailable', undefined, undefined]);
  assert.ok(up.requests.some((r) => r.url.includes(canary('upstream'))), 'the query of the URL was used');
  await until(() => textOf(join(dir, 'record')).includes(canary('environment')), 'the child to have its secret');
  await until(() => /upstream_not_started|upstream_ended/.test(gw.logText), 'a child that cannot start');

  assert.ok(up.bytes.includes(`Bearer ${canary('shown')}`) && up.bytes.includes(canary('variable')),
    'the secrets of upstreams were shown to them');

  const { text } = await gw.admin('/metrics');
  secret(gw.dir, 'shown.secret', `${canary('shown-next')}\n\u0007`);
  await gw.reload(gw.config);
  secret(gw.dir, 'shown.secret', canary('shown-next'));
  await gw.reload({ ...gw.config, hosts: ['x.example'] });
  await gw.reload({ ...gw.config, upstreams: { up: { http: `${up.url}?secret=${canary('upstream')}&more` } } });
  await gw.reload({ ...gw.config, tools: 7 });

  for (const [i, answer] of said.entries())
    nowhere(secrets, [[`answer ${i}`, answer.text + JSON.stringify(answer.headers)]]);
  await gw.stop();
  nowhere(secrets,
    [['log', gw.logText], ['metrics', text], ...ledgerOutputs(gw),
      ...files(gw, ['keys', 'writ.yaml', 'shown.secret', 'client.secret'])]);
});

test('check and explain report faults without secrets', (t) => {
  const gw = prepare(t, {});
  const good = {
    agents: [bearer('dev', { token: canary('token') }).entry],
    upstreams: {
      up: { http: `https://up.example/?secret=${canary('upstream')}` },
      child: { stdio: ['server', canary('argv')], environment: { SECRET: canary('environment') } },
    },
    tools: { 'up/seen': { scope: 's', arguments: [{ arg: 'n', op: 'type', value: 'any' }],
      state: { http: `https://probe.example/?secret=${canary('probe')}` } } },
  };
  const bad = [
    { upstreams: { up: { http: `https://user:${canary('upstream')}@up.example/` } } },
    { upstreams: { up: { http: `ftp://up.example/${canary('upstream')}` } } },
    { upstreams: { up: { http: `https://up.example/#${canary('upstream')}` } } },
    { upstreams: { up: { http: `https://up.example:99999/?${canary('upstream')}` } } },
    { upstreams: { up: { ...good.upstreams.up, stdio: [canary('argv')], environment: { A: canary('environment') } } } },
    { upstreams: { child: { stdio: ['x'], environment: { 'NOT A NAME': canary('environment') } } } },
    { upstreams: { child: { stdio: ['x'], environment: [canary('environment')] } } },
    { upstreams: { child: { stdio: ['x'], environment: { A: [canary('environment')] } } } },
    { upstreams: { child: { stdio: canary('argv') } } },
    { agents: [{ id: 'dev', bearer_sha256: canary('token') }] },
    { agents: [{ id: 'dev', bearer_sha256: [canary('token')] }] },
    { agents: [{ id: 'a', bearer_sha256: good.agents[0].bearer_sha256 },
      { id: 'b', bearer_sha256: good.agents[0].bearer_sha256 }] },
    { agents: [{ issuer: 'x', audience: 'y', jwks: `http://user:${canary('token')}@keys.example/` }] },
    { tools: { 'up/seen': { scope: 's', state: { http: `https://user:${canary('probe')}@x.example/` } } } },
    { tools: { 'up/seen': { scope: 's', state: { http: `https://{n}.example/?${canary('probe')}` } } } },
  ];
  const texts = [
    ...bad.map((b) => JSON.stringify({ ...good, ...b })),
    `agents:\n - id: dev\n   bearer_sha256: "${canary('token')}`,
    `upstreams:\n  up: {http: "https://up.example/?${canary('upstream')}", http: "https://` +
      `${canary('upstream')}.example/"}\n`,
    `upstreams:\n  child: {stdio: [x], environment: {A: &a ${canary('environment')}, B: *a, C: ` +
      `!!binary ${canary('environment')}}}\n`,
  ];
  const secrets = { ...planted('token', 'upstream', 'argv', 'environment', 'probe'),
    hash: [good.agents[0].bearer_sha256] };
  const call = gw.path('call.json');
  writeFileSync(call,
    JSON.stringify({ agent: 'dev', tool: 'up/seen', arguments: { n: canary('argument'), [canary('name')]: 1 } }));
  const say = (run) => run.out + run.err;
  for (const [i, text] of [JSON.stringify(good), ...texts].entries()) {
    gw.configure(text);
    const check = writ(['check', gw.configFile], { cwd: gw.dir });
    assert.equal(check.code === 0, i === 0, `configuration ${i}: ${say(check)}`);
    const runs = [check, writ(['check', gw.configFile, '--json'], { cwd: gw.dir }),
      writ(['explain', gw.configFile, call], { cwd: gw.dir }),
      writ(['explain', gw.configFile, call, '--json'], { cwd: gw.dir })];
    if (i > 0) runs.push(writ(['serve', gw.configFile], { cwd: gw.dir, timeout: 20_000 }));
    for (const run of runs) nowhere(secrets, [[`configuration ${i}`, say(run)]]);
  }
});

test('private keys never leave their files: credentials and TLS, valid and invalid', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-certs-'));
  t.after(() => rmSync(dir, { recursive: true }));
  execFileSync(join(SOURCE, 'certs', 'make-dev-certs'), ['-d', dir], { stdio: 'ignore' });
  const up = await startUpstream(t);
  const tls = { cert: join(dir, 'server.pem'), key: join(dir, 'server.key') };
  const gw = prepare(t,
    { log: { level: 'debug' }, upstreams: { up: { http: up.url } }, tools: RULES, tls, admin_tls: tls });
  const pems = readdirSync(gw.path('keys'), { recursive: true }).map((f) => gw.path(join('keys', f)))
    .filter((f) => statSync(f).isFile() && readFileSync(f, 'latin1').includes('PRIVATE KEY'));
  assert.ok(pems.length > 0);
  const secrets = Object.fromEntries([...pems, tls.key].map((f) => [f, keyTexts(readFileSync(f, 'utf8'))]));
  for (const f of Object.keys(secrets)) assert.deepEqual(found(secrets, readFileSync(f, 'latin1')), [f]);
  await gw.start();

  const ca = readFileSync(join(dir, 'ca.pem'));
  const ask = (port, path, body) => new Promise((done, fail) => {
    const req = https.request({ host: '127.0.0.1', servername: 'localhost', port, path, ca, agent: false, method: body
        ? 'POST' : 'GET', headers: body
        ? { 'content-type': 'application/json', accept: 'application/json, text/event-stream' } : {} }, (res) => {
      let text = '';
      res.setEncoding('latin1').on('data', (d) => { text += d; }).on('end', () => done(text));
    });
    req.on('error', fail).end(body);
  });
  const said = [
    await ask(gw.port, '/mcp',
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call',
        params: { name: 'up__pay', arguments: { n: 1 } } })),
    await ask(gw.port, '/.well-known/jwks.json'), await ask(gw.adminPort, '/metrics'),
    await ask(gw.adminPort, '/readyz'),
  ];
  assert.equal(up.calls.length, 1);
  assert.match(said[1], /"kty"/);
  // keys in the wrong place, cut, mixed up: refused and named, not shown
  const cut = join(dir, 'cut.key');
  writeFileSync(cut, readFileSync(tls.key, 'utf8').split('\n').slice(0, 3).join('\n'));
  for (const wrong of [{ cert: tls.key, key: tls.cert }, { cert: tls.cert, key: cut },
      { cert: tls.cert, key: pems[0] }]) {
    assert.equal((await gw.reload({ ...gw.config, tls: wrong })).event, 'reload_refused');
  }
  await gw.stop();
  const runs = [
    ['keys', 'list', '--dir', gw.path('keys')], ['keys', 'list', '--dir', gw.path('keys'), '--json'],
    ['keys', 'jwks', '--dir', gw.path('keys')],
    ['check', tls.key], ['explain', tls.key, tls.key], ['json', 'canon', tls.key], ['policy', 'test', tls.key],
    ['ledger', 'list', tls.key], ['serve', tls.key],
    ['verify', 'credential', tls.key, tls.key, tls.key, tls.key],
  ].map((args) => [args.join(' '), writ(args, { cwd: gw.dir, timeout: 20_000 })]);
  nowhere(secrets, [['log', gw.logText], ['upstream', up.bytes], ...said.map((s, i) => [`answer ${i}`, s]),
    ...ledgerOutputs(gw), ...files(gw),
    ...runs.map(([what, run]) => [what, run.out + run.err])]);
});

test('an idempotency key is in the records and nowhere else', async (t) => {
  const up = await startUpstream(t);
  const gw = await prepare(t, { log: { level: 'debug' }, upstreams: { up: { http: up.url } }, tools: RULES }).start();
  const s = await openSession(gw);
  const answers = [
    await s.call('up__pay', { n: 1 }, { key: canary('key') }),
    await s.call('up__pay', { n: 1 }, { key: canary('key') }),
    await s.call('up__pay', { n: 2 }, { key: canary('key') }),
    await s.call('up__pay', { n: 3 }, { key: canary('key'), keyHeader: 'another' }),
    await s.call('up__pay', { n: 4 }, { keyHeader: `${canary('key')}\u00ff` }),
  ];
  assert.deepEqual(answers.map((a) => a.reason),
    [undefined, 'duplicate_outcome', 'idempotency_key_reuse', 'idempotency_key_invalid', 'idempotency_key_invalid']);
  const decisions = gw.decisions();
  assert.equal(gw.show(decisions[0].decision_id).decision.idempotency_key, canary('key'));
  nowhere(planted('key'), [['log', gw.logText], ...await admin(gw), ...answers.map((a, i) => [`answer ${i}`, a.text])]);
});
