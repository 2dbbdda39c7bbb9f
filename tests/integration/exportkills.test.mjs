// A gateway that exports by itself. Receivers fail and come back; the gateway and its receivers are killed again and
// again, WRIT_EXPORT_KILLS times (20): no record is missing.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOURCE, linesOf, prepare, startGateway, textOf, until, writ } from '../support/js/gateway.mjs';
import { reservePort } from '../support/js/ports.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const KILLS = Number(process.env.WRIT_EXPORT_KILLS ?? 20);
const RECEIVER = join(SOURCE, 'tests/support/servers/event-receiver.mjs');
const ANY = { 'up/*': { scope: 'all', duplicates: 'allow', arguments: [{ arg: '', op: 'type', value: 'any' }] } };
const TOKEN = 'collector-secret';
let certs;
before(() => {
  certs = mkdtempSync(join(tmpdir(), 'writ-certs-'));
  execFileSync(join(SOURCE, 'certs/make-dev-certs'), ['-d', certs], { stdio: 'ignore' });
});
after(() => rmSync(certs, { recursive: true, force: true }));
const cert = (name) => join(certs, name);

/** A receiver of its own process, which may be killed and started again. */
class Receiver {
  constructor(t, kind, port) {
    this.kind = kind;
    this.port = port;
    this.folder = mkdtempSync(join(tmpdir(), 'writ-events-'));
    this.file = join(this.folder, 'events');
    const scheme = { https: 'https://', tls: 'syslog+tls://' }[kind];
    this.entry = { name: kind, to: `${scheme}127.0.0.1:${port}${kind === 'https' ? '/in' : ''}`, ca: cert('ca.pem') };
    t.after(async () => {
      await this.kill();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  async start() {
    this.child = spawn(process.execPath, [RECEIVER, this.kind, this.port, this.file, cert('server.pem'),
      cert('server.key'), ...(this.kind === 'https' ? [TOKEN] : [])], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.child.stdout.resume();
    await once(this.child.stdout, 'data');
    return this;
  }

  async kill() {
    if (!this.child || this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}

const receiver = async (t, kind) => new Receiver(t, kind, await reservePort());
const token = (dir) => writeFileSync(join(dir, 'token'), `${TOKEN}\n`, { mode: 0o600 });
const isComplete = (gw, to) => {
  const kept = join(to.folder, 'checkpoint');
  const key = join(to.folder, 'key');
  writeFileSync(key, writ(['ledger', 'key', gw.ledgerFile, '--keys', gw.path('keys')]).out);
  writeFileSync(kept, writ(['ledger', 'checkpoint', gw.ledgerFile, '--keys', gw.path('keys')]).out);
  const run = writ(['verify', 'export', to.file, '--key', key, '--checkpoint', kept, '--json']);
  return { code: run.code, ...JSON.parse(run.out === '' ? '{}' : run.out), err: run.err };
};
const records = (gw) => gw.verify().records;

test('a gateway sends its records, past a receiver that is down, and says so', async (t) => {
  const up = await startUpstream(t);
  const to = await receiver(t, 'https');
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: ANY,
    export: [{ ...to.entry, format: 'ocsf', token: 'token' }] }, { prepare: token });
  const session = await openSession(gw);
  for (let i = 0; i < 3; i++) assert.equal((await session.call('up__echo', { i })).status, 200);
  const failed = await gw.waitLog('export_failed');
  assert.deepEqual([failed.level, failed.export, failed.to], ['error', 'https', new URL(to.entry.to).origin]);
  await until(async () => await gw.metric('writ_export_waiting{export="https"}') >= 6);
  await until(async () => await gw.metric('writ_export_lag_seconds{export="https"}') >= 1);
  assert.ok(await gw.metric('writ_export_failures_total') >= 1);
  assert.equal(await gw.metric('writ_exported_total'), 0);
  await to.start();
  await gw.waitLog('export_works');
  await until(() => linesOf(to.file).length === records(gw), 'all of them');
  await until(async () => await gw.metric('writ_exported_total') === records(gw));
  assert.equal(await gw.metric('writ_export_waiting{export="https"}'), 0);
  assert.equal(statSync(gw.path('ledger.db.export-https')).mode & 0o777, 0o600);
  assert.equal(isComplete(gw, to).code, 0);
  assert.doesNotMatch(gw.logText, new RegExp(TOKEN));
  await gw.restart();
  await (await openSession(gw)).call('up__echo', { last: true });
  await until(() => linesOf(to.file).length === records(gw), 'the new ones alone');
});

test('a receiver that accepts and never answers delays no call and no other export', async (t) => {
  const up = await startUpstream(t);
  const to = await (await receiver(t, 'tls')).start();
  const silent = net.createServer((socket) => socket.on('error', () => {}));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: ANY, export: [
    { name: 'silent', to: `https://127.0.0.1:${silent.address().port}/` },
    { name: 'mute', to: `syslog+tcp://127.0.0.1:${silent.address().port}` }, to.entry] });
  const session = await openSession(gw);
  for (let i = 0; i < 20; i++) assert.equal((await session.call('up__echo', { i })).status, 200);
  await until(() => linesOf(to.file).length === records(gw), 'the export that works');
  assert.deepEqual(await gw.stop(), { code: 0, signal: null }, 'and it ends while two deliveries wait');
});

test('a configuration with an export that cannot work is refused', async (t) => {
  const gw = prepare(t, {});
  const check = (...entries) => {
    gw.configure({ listen: '127.0.0.1:0', keys: 'keys', store: 'sqlite://ledger.db', export: entries });
    return writ(['check', gw.configFile], { cwd: gw.dir });
  };
  const good = { name: 'a', to: 'https://siem.example/in' };
  assert.equal(check(good, { name: 'b', to: 'syslog+tls://siem.example' }).code, 0);
  for (const [entry, what] of [[{ ...good, to: 'http://siem.example/' }, /must be an https URL/],
    [{ ...good, to: 'ftp://siem.example/' }, /must be an https URL/],
    [{ ...good, name: 'a b' }, /must consist of letters/],
    [{ ...good, cert: 'c' }, /needs both cert and key/], [{ ...good, plain_close: true }, /only for syslog/],
    [{ name: 'a', to: 'syslog+tls://a', token: 't' }, /only for an https URL/], [{ ...good, format: 'leef' }, /format/],
    [{ name: 'a' }, /to/]]) {
    const run = check(entry);
    assert.equal(run.code, 1, JSON.stringify(entry));
    assert.match(run.out, what);
  }
  assert.match(check(good, good).out, /is the name of another export/);
});

test(`${KILLS} kills of the gateway and its receivers lose no event`, { timeout: 7_200_000 }, async (t) => {
  const up = await startUpstream(t);
  const tos = [await receiver(t, 'https'), await receiver(t, 'tls')];
  await Promise.all(tos.map((to) => to.start()));
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: ANY, loops: 1,
    export: [{ ...tos[0].entry, token: 'token' }, { ...tos[1].entry, format: 'cef' }] }, { prepare: token });
  let ended = false;
  const calls = (async () => { // whatever becomes of them
    for (let n = 0; !ended;) {
      try {
        const session = await openSession(gw);
        while (!ended) {
          await session.call('up__echo', { n: n++ });
          await new Promise((resolve) => setTimeout(resolve, 5)); // a start reads what a killed one had not noted
        }
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  })();
  const killed = { gateway: 0, https: 0, tls: 0 };
  for (let i = 0; i < KILLS; i++) {
    await new Promise((resolve) => setTimeout(resolve, randomInt(300)));
    const which = randomInt(3);
    if (which < 2) {
      await tos[which].kill();
      await tos[which].start();
      killed[tos[which].kind]++;
    } else {
      await gw.restart('SIGKILL');
      killed.gateway++;
    }
  }
  ended = true;
  await calls;
  const all = records(gw);
  for (const to of tos) {
    const cursor = gw.path(`ledger.db.export-${to.kind}`);
    await until(() => textOf(cursor).endsWith(`\n${all}\n`), `${to.kind} to have all ${all}`, 180_000);
    const { events, repeats, missing, size, tree } = isComplete(gw, to);
    t.diagnostic(`${to.kind}: ${JSON.stringify({ records: all, events, repeats, missing, size, tree, killed })}`);
    assert.deepEqual({ missing, tree, size }, { missing: 0, tree: true, size: all });
    assert.equal(events - repeats, all);
  }
});
