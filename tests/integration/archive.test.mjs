// writ ledger archive: the records as a static log, which a client that knows only c2sp.org/tlog-tiles can read, which
// grows with the ledger, and in which every change is found.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bearer, BIN, startGateway, writ } from '../support/js/gateway.mjs';
import { SAMPLE } from '../support/js/ledger.mjs';
import { Caller } from '../support/js/rpc.mjs';
import { leafHash, TileLog } from '../support/js/tiles.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const A = bearer('a');
const PAY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };

let folder;
before(() => { folder = mkdtempSync(join(tmpdir(), 'writ-archive-')); });
after(() => rmSync(folder, { recursive: true }));

const filesOf = (dir) => readdirSync(dir, { recursive: true }).filter((name) => statSync(join(dir, name)).isFile())
  .sort();

/** A ledger of a week, its archive, and the key that is trusted. */
function archived(name, calls) {
  const [ledger, keys, dir, key] = ['ledger.db', 'keys', 'log', 'key'].map((part) => join(folder, `${name}-${part}`));
  assert.equal(spawnSync(SAMPLE, [ledger, keys, 'week', String(calls)], { stdio: 'ignore' }).status, 0);
  writeFileSync(key, writ(['ledger', 'key', ledger, '--keys', keys]).out);
  const made = writ(['ledger', 'archive', ledger, dir, '--keys', keys, '--json']);
  assert.equal(made.code, 0, made.err);
  const log = () => new TileLog((path) => readFileSync(join(dir, path)), readFileSync(key, 'utf8').trim());
  const verify = () => writ(['verify', 'archive', dir, '--key', key]);
  return { ledger, keys, dir, key, made: JSON.parse(made.out), log, verify };
}

test('a client of static logs reads an archive of three levels, and every record is in the tree', () => {
  const one = archived('large', 35_000);
  const log = one.log();
  assert.deepEqual(one.made, { before: 0, size: log.size });
  assert.ok(log.size > 65_536);
  assert.ok(existsSync(join(one.dir, 'tile/2/000.p/1')));
  assert.deepEqual(log.computedRoot, log.root);
  let n = 0;
  for (let bundle = 0; bundle * 256 < log.size; bundle++) {
    for (const entry of log.bundle(bundle)) {
      if (n % 97 === 0) assert.deepEqual(leafHash(entry), log.leaf(n), `record ${n}`);
      n++;
    }
  }
  assert.equal(n, log.size);
  assert.match(one.verify().out, new RegExp(`^ok\\norigin   writ-ledger/.*\\nrecords  ${log.size}\\nroot     sha256:`));
});

test('an archive grows with its ledger, and each state contains the one before', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { agents: [A.entry], upstreams: { up: { http: up.url } }, tools: { 'up/pay': PAY } });
  const caller = new Caller(gw, { token: A.token });
  const key = writ(['ledger', 'key', gw.ledgerFile, '--keys', gw.path('keys')]).out.trim();
  const write = () => writ(['ledger', 'archive', gw.ledgerFile, gw.path('log'), '--keys', gw.path('keys')]);
  const log = () => new TileLog((path) => readFileSync(join(gw.path('log'), path)), key);
  assert.match(write().err, /no records|is empty|the store has no checkpoint/);

  let had = { size: 0 };
  for (const calls of [1, 60, 66, 1, 2, 130]) { // 2, 122, 254, 256, 260, 520 records
    for (let i = 0; i < calls; i++) await caller.call('up__pay', { i }, { boundary: 'run', key: `${had.size}-${i}` });
    const run = write();
    assert.equal(run.code, 0, run.err);
    const now = log();
    assert.equal(now.size, had.size + 2 * calls);
    assert.deepEqual(now.computedRoot, now.root);
    if (had.size > 0) assert.deepEqual(now.rootAt(had.size), had.root);
    had = now;
  }
  assert.deepEqual(filesOf(gw.path('log')), ['checkpoint', 'tile/0/000', 'tile/0/001', 'tile/0/002.p/8',
    'tile/1/000.p/2', 'tile/entries/000', 'tile/entries/001', 'tile/entries/002.p/8']);

  const exported = writ(['ledger', 'export', gw.ledgerFile, 'run']).out.trim().split('\n').slice(0, -1);
  const records = [0, 1, 2].flatMap((bundle) => had.bundle(bundle)).map(String);
  assert.deepEqual(exported.map((line) => JSON.stringify(JSON.parse(line).record)),
    records.map((record) => JSON.stringify(JSON.parse(record))));
  assert.match(write().out, /^520 records, 0 of them new/);
});

test('every change of an archive is found, and named by its file', () => {
  const one = archived('changed', 700);
  const sound = join(folder, 'sound');
  cpSync(one.dir, sound, { recursive: true });
  const restore = () => { rmSync(one.dir, { recursive: true }); cpSync(sound, one.dir, { recursive: true }); };
  for (const name of filesOf(sound)) {
    for (const change of [
      (path) => { const bytes = readFileSync(path); bytes[bytes.length >> 1] ^= 1; writeFileSync(path, bytes); },
      (path) => appendFileSync(path, 'x'),
      (path) => writeFileSync(path, readFileSync(path).subarray(0, -1)),
      (path) => rmSync(path),
    ]) {
      change(join(one.dir, name));
      const run = one.verify();
      if (name === 'checkpoint') {
        assert.notEqual(run.code, 0, 'checkpoint');
      } else {
        assert.equal(run.code, 1, `${name}: ${run.out}${run.err}`);
        if (!existsSync(join(one.dir, name))) assert.equal(run.out, `${name} is missing\n`);
      }
      restore();
    }
  }
  assert.equal(one.verify().code, 0);
  const other = archived('other', 10);
  const foreign = writ(['verify', 'archive', one.dir, '--key', other.key]);
  assert.notEqual(foreign.code, 0);
  assert.match(foreign.err, /sign/);
});

test('an archive of another ledger, and one that is ahead of its ledger, stay as they are', () => {
  const one = archived('first', 300), other = archived('second', 300);
  const before = filesOf(one.dir).map((name) => readFileSync(join(one.dir, name), 'base64'));
  const run = writ(['ledger', 'archive', other.ledger, one.dir, '--keys', other.keys]);
  assert.notEqual(run.code, 0);
  assert.deepEqual(filesOf(one.dir).map((name) => readFileSync(join(one.dir, name), 'base64')), before);
});

test('a run that is killed leaves the former archive, and the next one continues', async () => {
  const one = archived('killed', 20_000);
  const checkpoint = join(one.dir, 'checkpoint');
  const whole = readFileSync(checkpoint);
  for (let round = 0; round < 8; round++) {
    rmSync(one.dir, { recursive: true });
    const child = spawn(BIN, ['ledger', 'archive', one.ledger, one.dir, '--keys', one.keys], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    while (!existsSync(join(one.dir, 'tile/0')) && child.exitCode === null) await new Promise(setImmediate);
    for (let turn = 0; turn < round * 30; turn++) await new Promise(setImmediate);
    child.kill('SIGKILL');
    await ended;
    if (existsSync(checkpoint)) assert.equal(one.verify().code, 0, 'it was quicker');
  }
  const run = writ(['ledger', 'archive', one.ledger, one.dir, '--keys', one.keys]);
  assert.equal(run.code, 0, run.err);
  assert.deepEqual(readFileSync(checkpoint), whole);
  assert.equal(one.verify().code, 0);
});
