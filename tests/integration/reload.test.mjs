// SIGHUP: all of a new configuration or none of it; options that wait for a restart are named.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import https from 'node:https';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ANYBODY, SOURCE, readFileSync, startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession } from '../support/js/rpc.mjs';

const RULE = { scope: 'pay', arguments: [{ arg: 'n', op: 'type', value: 'any' }] };

test('a reload with unreadable keys changes no certificate, policy or agent', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-certs-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const certs = () =>
    assert.equal(spawnSync(join(SOURCE, 'certs/make-dev-certs'), ['-d', dir, '-f'], { encoding: 'utf8' }).status, 0);
  certs();
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url } }, tools: { 'up/pay': RULE },
      tls: { cert: join(dir, 'server.pem'), key: join(dir, 'server.key') } });
  const ca = readFileSync(join(dir, 'ca.pem'));
  const serial = (trusted) => new Promise((resolve) => {
    https.get({ host: '127.0.0.1', servername: 'localhost', port: gw.port, path: '/.well-known/jwks.json', ca: trusted,
        agent: false }, (res) => {
      resolve(res.socket.getPeerCertificate().serialNumber);
      res.resume();
    }).on('error', (error) => resolve(error.code));
  });
  const before = await serial(ca);
  certs(); // new files under the same names: alone they would be taken
  renameSync(gw.path('keys'), gw.path('lost'));
  const line = await gw.reload({ ...gw.config, agents: [{ ...ANYBODY, id: 'somebody' }] });
  assert.equal(line.event, 'reload_refused');
  assert.match(line.why, /key/);
  for (let i = 0; i < 5; i++) assert.equal(await serial(ca), before);

  renameSync(gw.path('lost'), gw.path('keys'));
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  const now = readFileSync(join(dir, 'ca.pem'));
  await until(async () => /^[0-9A-F]+$/.test(await serial(now)) && (await serial(now)) !== before,
    'the new certificate');
});

test('options that a reload cannot change are logged by name and keep their value', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url } }, tools: { 'up/pay': RULE }, limits: { body: '64KiB' },
      credential: { lifetime: '60s' } });
  const s = await openSession(gw);
  const next = {
    ...gw.config, hosts: ['more.example'], limits: { body: '1MiB', event: '1MiB' }, sessions: { window: '1m' },
    ledger: { busy_timeout: '1s' }, log: { level: 'debug' },
    upstreams: { up: { http: up.url, timeout: '1ms', credential: { header: 'X-Other', meta: false } } },
    tools: { 'up/pay': RULE, 'up/new': RULE }, credential: { lifetime: '30s' },
  };
  assert.equal((await gw.reload(next)).event, 'reloaded');
  const told = await gw.waitLog('restart_needed');
  assert.equal(told.level, 'warn');
  assert.equal(told.options,
    'hosts, limits.body, limits.event, sessions.window, ledger.busy_timeout, log.level, ' +
      'upstreams.up.credential.header, upstreams.up.credential.meta, upstreams.up.timeout');
  const large = await s.call('up__new', { n: 'x'.repeat(100_000) });
  assert.equal(large.status, 413); // also the limits that a request checks itself
  assert.equal((await s.call('up__new', { n: 1 })).said, 'ran 1'); // the other options are in force
  assert.equal(up.calls[0].headers['x-other'], undefined);
  const claims = JSON.parse(Buffer.from(up.calls[0].credential.split('.')[1], 'base64url'));
  assert.equal(claims.exp - claims.iat, 30);

  const from = gw.log.length;
  assert.equal((await gw.reload({ ...next, ...gw.config, limits: { body: '64KiB' }, hosts: undefined,
    sessions: undefined, ledger: undefined, log: undefined, upstreams: { up: { http: up.url } } })).event, 'reloaded');
  assert.ok(!gw.log.slice(from).some((l) => l.event === 'restart_needed'));
});

test('every upstream option that needs a restart is logged', async (t) => {
  const up = await startUpstream(t);
  const server = [process.execPath, join(SOURCE, 'tests/support/servers/stdio-server.mjs')];
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url }, fs: { stdio: server } }, tools: { 'up/pay': RULE } });
  const fs = { stdio: server, sharing: 'all', children: 3, idle: '9s', start_timeout: '9s', refresh: '9s',
    required: true };
  assert.equal((await gw.reload({ ...gw.config, upstreams: { fs, up: { http: up.url } } })).event, 'reloaded');
  assert.equal((await gw.waitLog('restart_needed')).options,
    ['sharing', 'start_timeout', 'children', 'idle', 'refresh', 'required'].map((name) => `upstreams.fs.${name}`)
      .join(', '));
});

test('a reload that needs a restart is refused whole and names the options', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: { 'up/pay': RULE } });
  const s = await openSession(gw);
  const more = { 'up/pay': RULE, 'up/new': RULE };
  for (const [config, name] of [
    [{ ...gw.config, tools: more, listen: '127.0.0.1:1' }, /^listen: /],
    [{ ...gw.config, tools: more, store: 'sqlite://other.db' }, /^store: /],
    [{ ...gw.config, tools: more, loops: 3 }, /^loops: /],
    [{ ...gw.config, tools: more, upstreams: { up: { http: 'http://127.0.0.1:1/' } } }, /^upstreams\.up\.http: /],
    [{ ...gw.config, tools: more, profile: 'vaara-v0' }, /^profile: /],
    [{ ...gw.config, tools: more, upstreams: { ...gw.config.upstreams, more: { http: up.url } } },
      /^upstreams\.more\.http: /],
    [{ ...gw.config, tools: more, tls: { cert: '/cert', key: '/key' } }, /^tls: /],
    [{ ...gw.config, tools: more, admin_tls: { cert: '/cert', key: '/key' } }, /^admin_tls: /],
  ]) {
    const line = await gw.reload(config);
    assert.equal(line.event, 'reload_refused');
    assert.match(line.why, name);
    assert.equal((await s.call('up__new', { n: 1 })).reason, 'tool_not_listed');
  }
});

test('calls continue over many reloads', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: { 'up/pay': RULE } });
  const s = await openSession(gw);
  let on = true;
  const calling = (async () => {
    for (let n = 0; on; n++) assert.equal((await s.call('up__pay', { n })).status, 200);
  })();
  for (let i = 0; i < 20; i++)
    assert.equal((await gw.reload({ ...gw.config, tools: { 'up/pay': { ...RULE, scope: `pay${i}` } } })).event,
      'reloaded');
  on = false;
  await calling;
  assert.ok(gw.decisions().every((d) => d.decision === 'allow'));
  gw.verify();
});
