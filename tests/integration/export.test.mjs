// Records as events: valid for their schemas, complete, without a value, and refused when one is missing or exchanged.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import { createServer } from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BIN, SOURCE, linesOf, startGateway, textOf, until, writ, writBeside } from '../support/js/gateway.mjs';
import { captionOf, faultsOf } from '../support/js/ocsf.mjs';
import { reservePort } from '../support/js/ports.mjs';
import { ALL, ANN, BOB, DEV, OPS, api, approve, config, pay, vote } from '../support/js/reviews.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const SECRET = 'value-of-an-argument-5f1c';
const RECEIVER = join(SOURCE, 'tests/support/servers/event-receiver.mjs');
const SAMPLE = join(dirname(BIN), 'tests/event_sample');
let certs;
before(() => {
  certs = mkdtempSync(join(tmpdir(), 'writ-certs-'));
  execFileSync(join(SOURCE, 'certs/make-dev-certs'), ['-d', certs], { stdio: 'ignore' });
});
after(() => rmSync(certs, { recursive: true, force: true }));

const cert = (name) => join(certs, name);
const sample = (format) => spawnSync(SAMPLE, [format], { encoding: 'utf8' }).stdout.split('\n').slice(0, -1);

/** A gateway with records of every kind that a client and an administrator can cause. */
async function world(t) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, config(up, { top: { administrators: ['ops'],
    tools: { 'up/pay': pay({ review: 'finance' }),
      'up/echo': { scope: 'all', arguments: [{ arg: 'n', op: 'le', value: 9 },
        { arg: 's', op: 'type', value: 'string', optional: true }] } } } }));
  const session = await openSession(gw, { token: DEV.token });
  await session.call('up__echo', { n: 1, s: SECRET });
  await session.call('up__echo', { n: 1, s: SECRET });
  await session.call('up__echo', { n: 10, s: SECRET });
  await session.call('up__a|b=c\\', { s: SECRET });
  for (const [amount, choice] of [[1, 'approve'], [2, 'reject']]) {
    const asked = await session.call('up__pay', { amount, to: SECRET });
    const id = asked.refusal?.continuation_id ??
      (await api(gw, ANN, '')).json.reviews.find((r) => r.state === 'open').id;
    if (choice === 'approve') await approve(gw, id);
    else for (const who of [ANN, BOB]) await vote(gw, who, id, 'reject', { feedback: 'no' });
    await session.call('up__pay', { amount, to: SECRET });
  }
  const kills = (path, body) => fetch(`http://127.0.0.1:${gw.adminPort}/v1/kills${path}`, { method: 'POST',
    headers: { authorization: `Bearer ${OPS.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body) });
  const pulled = await (await kills('', { by: 'agent', value: 'other', reason: 'a|b=c' })).json();
  assert.equal((await kills(`/${pulled.id}/lift`, {})).status, 200, JSON.stringify(pulled));
  await session.close?.();
  const key = gw.path('key.txt');
  writeFileSync(key, writ(['ledger', 'key', gw.ledgerFile, '--keys', gw.path('keys')]).out);
  return { up, gw, key, session };
}

const exported = (gw, format, ...more) => {
  const run = writ(['export', gw.ledgerFile, '--format', format, ...more]);
  assert.equal(run.code, 0, run.err);
  return run.out.split('\n').slice(0, -1);
};

/** { header, extension } of a line of CEF, by its own rules. */
function cefOf(line) {
  const fields = line.split(/(?<!(?:^|[^\\])(?:\\\\)*\\)\|/);
  const header = fields.slice(0, 7).map((f) => f.replace(/\\([\\|])/g, '$1'));
  const extension = {};
  const text = fields.slice(7).join('|');
  for (const [, key, value] of text.matchAll(/(?:^| )([A-Za-z0-9]+)=((?:[^\\=]|\\.)*?)(?= [A-Za-z0-9]+=|$)/g)) {
    assert.ok(!(key in extension), `${key} twice: ${line}`);
    extension[key] = value.replace(/\\(.)/g, (_, c) => ({ n: '\n', r: '\r' }[c] ?? c));
  }
  return { header, extension };
}

test('the schema of the validator refuses what it must', () => {
  const [good] = sample('ocsf').map((line) => JSON.parse(line));
  assert.deepEqual(faultsOf(good), []);
  const broken = (change) => {
    const event = structuredClone(good);
    change(event);
    assert.notDeepEqual(faultsOf(event), [], String(change));
  };
  broken((e) => { delete e.src_endpoint; });
  broken((e) => { delete e.metadata.product; });
  broken((e) => { delete e.activity_name; });
  broken((e) => { e.actor = {}; });
  broken((e) => { e.severity = 'High'; });
  broken((e) => { e.action_id = 77; });
  broken((e) => { e.type_uid++; });
  broken((e) => { e.invented = 1; });
  broken((e) => { e.time = 'now'; });
  broken((e) => { e.metadata.profiles = []; });
});

test('every word of a record gives a valid OCSF event, whatever its names are', () => {
  const lines = sample('ocsf');
  assert.ok(lines.length > 60);
  for (const line of lines) assert.deepEqual(faultsOf(JSON.parse(line)), [], line);
  assert.doesNotMatch(lines.join('\n'), /SECRET|[\u202e\u0085]/);
});

test('the captions of the table are those of the schema', () => {
  const table = readFileSync(join(SOURCE, 'core/evidence/event/export_event.tbl.h'), 'utf8');
  const rows = [...table.matchAll(/X\((severity|activity|action|disposition|status), (\d+), "([^"]+)"\)/g)];
  assert.ok(rows.length > 20);
  for (const [, list, id, caption] of rows) {
    assert.equal(captionOf(list === 'activity' ? 3004 : 6003, `${list}_id`, id), caption, `${list} ${id}`);
  }
});

test('every word gives a line of CEF whose fields no name can leave', () => {
  const lines = sample('cef');
  const plain = sample('json').map((line) => JSON.parse(line));
  assert.equal(lines.length, plain.length);
  lines.forEach((line, i) => {
    const { header, extension } = cefOf(line);
    assert.deepEqual([header.slice(0, 3), header.length], [['CEF:0', 'Writ', 'Writ'], 7], line);
    assert.equal(extension.cn1, String(i), line);
    assert.equal(extension.cs1, plain[i].leaf_hash);
    assert.equal(extension.cs2, plain[i].checkpoint);
    assert.ok(Number(header[6]) >= 0 && Number(header[6]) <= 10);
    assert.doesNotMatch(line, /[\u0000-\u001f\u007f\u0085\u202e]|SECRET/);
  });
  const hostile = cefOf(lines[1]).extension; // the decision `allow` with hostile names
  assert.match(hostile.suser, /^x\\u000a CEF:0\|a\|b cn1=7 cs1="\\ \\u202e \\u0000/);
});

test('a real ledger gives valid events in every format, complete, and without a value', async (t) => {
  const { gw, key } = await world(t);
  const records = gw.verify().records;
  const seen = new Set();
  for (const format of ['json', 'ocsf', 'cef']) {
    const lines = exported(gw, format);
    assert.equal(lines.length, records, format);
    assert.ok(!lines.some((line) => line.includes(SECRET)), format);
    if (format === 'ocsf') {
      for (const line of lines) assert.deepEqual(faultsOf(JSON.parse(line)), [], line);
    }
    if (format === 'cef') for (const line of lines) seen.add(cefOf(line).header[4]);
    writeFileSync(gw.path(format), `${lines.join('\n')}\n`);
    const checked = writ(['verify', 'export', gw.path(format), '--key', key, '--json']);
    assert.equal(checked.code, 0, checked.out + checked.err);
    const { ok, events, repeats, missing, tree, size } = JSON.parse(checked.out);
    assert.deepEqual({ ok, events, repeats, missing, tree, size },
      { ok: true, events: records, repeats: 0, missing: 0, tree: true, size: records });
  }
  for (const word of ['decision:allow', 'decision:deny', 'decision:require_approval', 'outcome:executed',
    'outcome:blocked', 'review:open', 'review:vote', 'review:accept', 'review:reject', 'review:redeem',
    'fact:kill_pulled', 'fact:kill_lifted']) {
    assert.ok(seen.has(word), `${word}: ${[...seen]}`);
  }
  const events = exported(gw, 'ocsf').map((line) => JSON.parse(line));
  const denied = events.find((e) => e.status_code === 'constraint_failed');
  assert.deepEqual([denied.action, denied.disposition, denied.status, denied.api.operation, denied.api.service.name,
    denied.ai_agent.uid, denied.metadata.tenant_uid, denied.unmapped.writ.constraint],
  ['Denied', 'Blocked', 'Failure', 'echo', 'up', 'dev', 'acme', 'n le']);
  const outcome = events.find((e) => e.unmapped.writ.word === 'executed');
  assert.deepEqual([outcome.api.operation, outcome.actor.app_uid], ['echo', 'dev'], 'that of its decision');
});

test('verify export names what is missing, exchanged or foreign', async (t) => {
  const { gw, key } = await world(t);
  const other = await world(t);
  for (const format of ['json', 'ocsf', 'cef']) {
    const lines = exported(gw, format);
    const file = gw.path(`${format}.events`);
    const check = (changed, ...more) => {
      writeFileSync(file, `${changed.join('\n')}\n`);
      return writ(['verify', 'export', file, '--key', key, ...more]);
    };
    const refused = (changed, what, ...more) => {
      const run = check(changed, ...more);
      assert.equal(run.code, 1, `${what}: ${run.out}${run.err}`);
      assert.match(run.out, what);
    };
    assert.equal(check([...lines].reverse()).code, 0, 'any order');
    assert.match(check([...lines, ...lines]).out, new RegExp(`${lines.length} of them repeats`));
    assert.equal(check(lines.map((line) => `<110>1 2026-01-01T00:00:00Z h writ - - - ${line}`)).code, 0);
    refused(lines.filter((_, i) => i !== 3), /^missing 1 of the records 0 to \d+, the first of them 3$/m);
    refused(lines.slice(2), /^missing 2 of the records .* first of them 0$/m);
    const kept = gw.path('checkpoint.txt');
    writeFileSync(kept, writ(['ledger', 'checkpoint', gw.ledgerFile, '--keys', gw.path('keys')]).out);
    const first = lines.slice(0, 1); // a checkpoint of its own; later records may share one
    assert.equal(check(first).code, 0, 'a prefix alone shows no loss');
    refused(first, /^missing \d+ of the records/m, '--checkpoint', kept);
    const zero = (line) => line.replace(/sha256:([0-9a-f])/, (_, c) => `sha256:${c === '0' ? '1' : '0'}`);
    const change = format === 'json' ? (line) => line.replace('"tool":"echo"', '"tool":"ECHO"')
      : (line) => line.replace(/(leaf_hash":"|cs1=)sha256:[0-9a-f]{64}/, (m) => zero(m));
    refused(lines.map((line, i) => (i === 2 ? change(line) : line)), format === 'json'
      ? /^line 3: leaf_hash is not that of the record/m
      : /^line \d+: the first \d+ events are not the records/m);
    refused([...lines, exported(other.gw, format)[0]],
      /its checkpoint is (signed by none of the keys|of another ledger)/);
    refused([...lines, 'hello'], /it is not an event of Writ/);
    assert.equal(check(lines.slice(4), '--from', '4').code, 0);
    assert.match(check(lines.slice(4), '--from', '4').out, /whose trees need the records before/);
  }
  const none = writ(['verify', 'export', '/dev/null', '--key', key]);
  assert.deepEqual([none.code, none.err.includes('there is no event')], [3, true]);
});

/** A receiver of its own process: { port, url, file, lines(), kill() }. */
async function receiver(t, kind, { port, file, token } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-events-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const it = { port: port ?? await reservePort(), file: file ?? join(folder, 'events') };
  const child = spawn(process.execPath, [RECEIVER, kind, it.port, it.file,
    ...(['https', 'tls'].includes(kind) ? [cert('server.pem'), cert('server.key'), ...(token ? [token] : [])] : [])],
  { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  await once(child.stdout, 'data');
  it.kill = async (signal = 'SIGKILL') => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'exit');
    }
  };
  it.url = { http: `http://127.0.0.1:${it.port}/in`, https: `https://127.0.0.1:${it.port}/in`,
    tcp: `syslog+tcp://127.0.0.1:${it.port}`, tls: `syslog+tls://127.0.0.1:${it.port}` }[kind];
  it.lines = () => linesOf(it.file);
  t.after(() => it.kill());
  return it;
}
const isSecure = (kind) => ['https', 'tls'].includes(kind);
const send = (gw, to, ...more) =>
  writBeside(['export', gw.ledgerFile, '--to', to, '--cursor', gw.path('cursor'), ...more]);

for (const [kind, format] of [['https', 'json'], ['http', 'ocsf'], ['tls', 'cef'], ['tcp', 'ocsf']]) {
  test(`export to ${kind} delivers every event once, and goes on from the cursor`, async (t) => {
    const { gw, key, session } = await world(t);
    const to = await receiver(t, kind);
    const ca = isSecure(kind) ? ['--ca', cert('ca.pem')] : [];
    const n = gw.verify().records;
    const first = await send(gw, to.url, '--format', format, '--json', ...ca);
    assert.deepEqual([first.code, first.err, JSON.parse(first.out)], [0, '', { exported: n, next: n }]);
    assert.equal(to.lines().length, n);
    assert.equal(statSync(gw.path('cursor')).mode & 0o777, 0o600);
    await session.call('up__echo', { n: 2 });
    const second = await send(gw, to.url, '--format', format, ...ca);
    assert.equal(second.code, 0, second.err);
    await until(() => to.lines().length === gw.verify().records);
    assert.equal(writ(['verify', 'export', to.file, '--key', key]).code, 0);
    if (['tls', 'tcp'].includes(kind)) {
      for (const line of to.lines()) {
        assert.match(line, /^<1(06|08|09|10)>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [!-~]+ writ - /);
        assert.match(line, / - (decision|outcome|seal|review|fact) - [C{]/);
      }
    }
  });
}

test('a receiver that refuses, is unknown or unverified leaves the cursor where it was', async (t) => {
  const { gw } = await world(t);
  const cursor = () => textOf(gw.path('cursor'));
  const fails = async (to, what, ...more) => {
    const run = await send(gw, to, ...more);
    assert.equal(run.code, 4, `${to}: ${run.err}`);
    assert.match(run.err, what);
    assert.equal(cursor(), '');
  };
  const secure = createSecureServer({ cert: readFileSync(cert('server.pem')), key: readFileSync(cert('server.key')) },
    (req, res) => req.resume().on('end', () => res.writeHead(503).end('later')));
  secure.listen(0, '127.0.0.1');
  await once(secure, 'listening');
  t.after(() => secure.close());
  const url = `https://127.0.0.1:${secure.address().port}/in?key=hidden`;
  await fails(url, /answers with status 503/, '--ca', cert('ca.pem'));
  await fails(url, /certificate/i);
  const tls = await receiver(t, 'tls');
  await fails(tls.url, /certificate/i);
  await fails(`syslog+tls://127.0.0.1:${await reservePort()}`, /refused/i, '--ca', cert('ca.pem'));
  await fails(`syslog+tcp://127.0.0.1:${await reservePort()}`, /refused/i);
  const cut = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.resetAndDestroy());
  });
  cut.listen(0, '127.0.0.1');
  await once(cut, 'listening');
  t.after(() => cut.close());
  await fails(`syslog+tcp://127.0.0.1:${cut.address().port}`, /reset|broken pipe|not connected/i);
  const run = await send(gw, 'syslog+tcp://example.com:601');
  assert.deepEqual([run.code, /plain TCP is for receivers on this machine/.test(run.err)], [3, true]);
  for (const bad of ['http://example.com/', 'syslog+tls://', 'syslog+tls://a:0', 'syslog+tls://a:70000',
    'syslog+tls://u@a', 'syslog+tls://a/b', 'ftp://a']) {
    assert.equal((await send(gw, bad)).code, 3, bad);
  }
  assert.doesNotMatch((await send(gw, url)).err, /hidden/);
});

test('a TLS receiver that ends without close_notify has not taken the batch', async (t) => {
  const { gw } = await world(t);
  const inner = net.createServer(); // relays to a TLS receiver, and drops its last record
  const to = await receiver(t, 'tls');
  inner.on('connection', (a) => {
    const b = net.connect(to.port, '127.0.0.1');
    a.on('error', () => {});
    b.on('error', () => {});
    let asked = 0;
    a.on('data', (d) => { asked += d.length; b.write(d); });
    a.on('end', () => { b.destroy(); a.end(); });
    b.on('data', (d) => { if (asked > 0 && a.writable) a.write(d.at(0) === 23 && d.length < 40 ? '' : d); });
  });
  inner.listen(0, '127.0.0.1');
  await once(inner, 'listening');
  t.after(() => inner.close());
  const run = await send(gw, `syslog+tls://127.0.0.1:${inner.address().port}`, '--ca', cert('ca.pem'));
  assert.equal(run.code, 4, run.err);
  assert.match(run.err, /eof|without notice/i);
  assert.equal(textOf(gw.path('cursor')), '');
  const asked = await send(gw, `syslog+tls://127.0.0.1:${inner.address().port}`, '--ca', cert('ca.pem'),
    '--plain-close');
  assert.equal(asked.code, 0, asked.err);
});

test('the token of a collector comes from a private file, and client certificates are shown', async (t) => {
  const { gw } = await world(t);
  const got = [];
  const server = createSecureServer({ cert: readFileSync(cert('server.pem')), key: readFileSync(cert('server.key')),
    ca: readFileSync(cert('ca.pem')), requestCert: true, rejectUnauthorized: true },
  (req, res) => {
    got.push({ authorization: req.headers.authorization, type: req.headers['content-type'], method: req.method });
    req.resume().on('end', () => res.writeHead(200).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `https://127.0.0.1:${server.address().port}/`;
  writeFileSync(gw.path('token'), 'deep-secret\n', { mode: 0o600 });
  const secrets = ['--ca', cert('ca.pem'), '--token', gw.path('token')];
  assert.equal((await send(gw, url, ...secrets)).code, 4, 'without a client certificate');
  const own = ['--cert', cert('client.pem'), '--key', cert('client.key')];
  const run = await send(gw, url, ...secrets, ...own, '--scheme', 'Splunk');
  assert.equal(run.code, 0, run.err);
  assert.deepEqual(got[0], { authorization: 'Splunk deep-secret', type: 'application/x-ndjson', method: 'POST' });
  chmodSync(gw.path('token'), 0o644);
  rmSync(gw.path('cursor'));
  const open = await send(gw, url, ...secrets);
  assert.notEqual(open.code, 0);
  assert.match(open.err, /token/);
  assert.doesNotMatch(open.err, /deep-secret/);
  assert.equal((await send(gw, url, '--cert', cert('client.pem'))).code, 3);
});

test('a cursor of another ledger, or beyond the end, is refused', async (t) => {
  const { gw } = await world(t);
  const other = await world(t);
  const to = await receiver(t, 'http');
  assert.equal((await send(gw, to.url)).code, 0);
  const mine = readFileSync(gw.path('cursor'), 'utf8');
  const crossed = await writBeside(['export', other.gw.ledgerFile, '--to', to.url, '--cursor', gw.path('cursor')]);
  assert.deepEqual([crossed.code, /cursor of another ledger/.test(crossed.err)], [3, true]);
  for (const [text, what] of [[mine.replace(/\d+\n$/, '99999\n'), /99999 records are exported, and the ledger has/],
    ['', /not a cursor/], ['writ-export 1\nx\n', /not a cursor/], [`${mine}1\n`, /not a cursor/]]) {
    writeFileSync(gw.path('cursor'), text);
    const run = await send(gw, to.url);
    assert.equal(run.code, 3, text);
    assert.match(run.err, what);
    assert.equal(readFileSync(gw.path('cursor'), 'utf8'), text);
  }
});

test('export --follow sends records as they are made, past a receiver that fails, until a signal', async (t) => {
  const { gw, key, session } = await world(t);
  const port = await reservePort();
  const child = spawn(BIN, ['export', gw.ledgerFile, '--follow', '--cursor', gw.path('cursor'),
    '--to', `http://127.0.0.1:${port}/in`]);
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (d) => { err += d; });
  t.after(() => child.kill('SIGKILL'));
  await until(() => err.includes(`127.0.0.1:${port}`), 'a failure');
  const to = await receiver(t, 'http', { port });
  await until(() => to.lines().length === gw.verify().records, 'all of them');
  await session.call('up__echo', { n: 3 });
  await until(() => to.lines().length === gw.verify().records, 'the new ones');
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  assert.equal(writ(['verify', 'export', to.file, '--key', key]).code, 0);
});
