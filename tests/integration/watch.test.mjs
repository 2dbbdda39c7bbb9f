// writ ledger watch against a real gateway, also one whose ledger was restored or rewritten; and receipts over the
// admin listener.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { BIN, bearer, existsSync, startGateway, writ } from '../support/js/gateway.mjs';
import { checkLine } from '../support/js/log-events.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { all as say, verdicts } from '../support/js/verifiers.mjs';
import { startWitness } from '../support/js/witness.mjs';

const DEV = bearer('dev', { tenant: 'acme' });
const OTHER = bearer('other', { tenant: 'acme' });

async function setUp(t) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, {
    upstreams: { up: { http: up.url } }, agents: [DEV.entry, OTHER.entry],
    tools: { 'up/echo': { scope: 'all', duplicates: 'allow', arguments: [{ arg: '', op: 'type', value: 'any' }] } },
  });
  const key = gw.path('key.txt');
  writeFileSync(key, writ(['ledger', 'key', gw.ledgerFile, '--keys', gw.path('keys')]).out);
  return { gw, key };
}
async function calls(gw, n, from = 0) {
  const session = await openSession(gw, { token: DEV.token });
  for (let i = 0; i < n; i++) await session.call('up__echo', { n: from + i });
}
const watch = (gw, key) =>
  writ(['ledger', 'watch', `http://127.0.0.1:${gw.adminPort}`, '--key', key, '--state', gw.path('seen.txt'), '--once']);
/** The only line of a run, which is one of the log. */
const said = (run) => {
  assert.equal(run.out, '');
  const line = JSON.parse(run.err);
  checkLine('watch', line);
  return line;
};
const size = (run) => said(run).records;

/** The gateway's files, with its own memory, for a restore that the gateway cannot detect on its own. */
function keep(gw, to) {
  for (const end of ['', '-wal', '.remembered']) {
    if (existsSync(gw.ledgerFile + end)) copyFileSync(gw.ledgerFile + end, to + end);
  }
}
function putBack(gw, from) {
  for (const end of ['', '-wal', '-shm', '.remembered']) rmSync(gw.ledgerFile + end, { force: true });
  for (const end of ['', '-wal', '.remembered']) if (existsSync(from + end))
    copyFileSync(from + end, gw.ledgerFile + end);
}

test('writ watch follows a growing ledger and reports a rollback or a fork', async (t) => {
  const { gw, key } = await setUp(t);
  await calls(gw, 2);
  const first = watch(gw, key);
  assert.equal(first.code, 0, first.err);
  assert.match(said(first).origin, /^writ-ledger\/[0-9a-f-]{36}$/);
  assert.equal(watch(gw, key).err, '', 'nothing new');
  await gw.stop();
  keep(gw, gw.path('copy.db'));
  await gw.start();
  await calls(gw, 3, 10);
  const second = watch(gw, key);
  assert.ok(size(second) > size(first));
  const seen = readFileSync(gw.path('seen.txt'), 'utf8');
  assert.equal(seen, writ(['ledger', 'checkpoint', gw.ledgerFile, '--keys', gw.path('keys')]).out);

  await gw.stop();
  putBack(gw, gw.path('copy.db'));
  await gw.start();
  const back = watch(gw, key);
  assert.equal(back.code, 1);
  assert.equal(said(back).event, 'checkpoint_refused');
  assert.match(said(back).why, /^ROLLBACK: \d+ records, where there were \d+$/);
  await calls(gw, 12, 100);
  const fork = watch(gw, key);
  assert.equal(fork.code, 1);
  assert.match(said(fork).why, /^FORK: the \d+ records of now do not begin with the \d+ of then$/);
  assert.equal(readFileSync(gw.path('seen.txt'), 'utf8'), seen, 'what was good stays');
});

test('writ watch reports an untrusted checkpoint, and an absent gateway is not a fork', async (t) => {
  const { gw, key } = await setUp(t);
  await calls(gw, 1);
  assert.equal(writ(['keys', 'new', '--dir', gw.path('strange')]).code, 0);
  const strange = gw.path('strange.txt');
  writeFileSync(strange, writ(['ledger', 'key', gw.ledgerFile, '--keys', gw.path('strange')]).out);
  const run = watch(gw, strange);
  assert.deepEqual([run.code, existsSync(gw.path('seen.txt'))], [1, false]);
  assert.match(said(run).why, /signed by none/);
  await gw.stop();
  const away = watch(gw, key);
  assert.deepEqual([away.code, said(away).event], [4, 'not_started']);
  assert.equal(writ(['ledger', 'watch', 'http://127.0.0.1:1', '--key', key, '--state', 'x', '--every', '0']).code, 2);
});

test('a caller that may see a call gets its receipt from the admin listener', async (t) => {
  const { gw, key } = await setUp(t);
  await calls(gw, 2);
  const [{ decision_id: id }] = gw.decisions();
  const get = (who) => fetch(`http://127.0.0.1:${gw.adminPort}/v1/ledger/${id}/receipt`,
    { headers: who && { authorization: `Bearer ${who.token}` } });
  const answer = await get(DEV);
  assert.equal(answer.status, 200);
  const file = gw.path('receipt.json');
  writeFileSync(file, await answer.text());
  assert.match(writ(['verify', 'receipt', file, '--key', key]).out, /^ok\ndecision {2}allow/);
  assert.deepEqual([(await get(OTHER)).status, (await get()).status], [404, 401]);
  const proof = await gw.admin('/checkpoint?from=1');
  assert.equal(proof.status, 200);
  assert.ok(JSON.parse(proof.text).consistency.length > 0);
  assert.equal((await gw.admin('/checkpoint?from=x')).status, 422);
});

/** Has a witness sign. Not spawnSync: the witness is in this process. */
async function cosign(gw, witness, keys, more = []) {
  const child = spawn(BIN, ['ledger', 'witness', gw.ledgerFile, witness.url, '--keys', gw.path('keys'), '--witness',
    keys, ...more]);
  const run = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => { run.out += text; });
  child.stderr.setEncoding('utf8').on('data', (text) => { run.err += text; });
  [run.code] = await once(child, 'close');
  return run;
}

test('writ watch remembers checkpoints of a revoked key', async (t) => {
  const { gw, key } = await setUp(t);
  await calls(gw, 2);
  assert.equal(watch(gw, key).code, 0);
  await gw.stop();
  keep(gw, gw.path('copy.db'));
  await gw.start();
  await calls(gw, 3, 10);
  assert.equal(watch(gw, key).code, 0);
  const { kid } = JSON.parse(writ(['keys', 'list', '--dir', gw.path('keys'), '--json']).out).keys.find((one) =>
    one.purpose === 'ledger');
  assert.equal(writ(['keys', 'revoke', '--dir', gw.path('keys'), '--kid', kid]).code, 0);
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  await calls(gw, 1, 20);
  assert.match(said(watch(gw, key)).why, /signed by none/, 'the next key is not known yet');
  writeFileSync(key, writ(['ledger', 'key', gw.ledgerFile, '--keys', gw.path('keys'), '--history']).out);
  const run = watch(gw, key);
  assert.equal(run.code, 0, run.err);
  const seen = readFileSync(gw.path('seen.txt'), 'utf8');
  await gw.stop();
  putBack(gw, gw.path('copy.db'));
  await gw.start();
  await calls(gw, 1, 30);
  assert.match(said(watch(gw, key)).why, /^ROLLBACK/);
  assert.equal(readFileSync(gw.path('seen.txt'), 'utf8'), seen);
  writeFileSync(gw.path('seen.txt'), 'nothing\n');
  assert.equal(watch(gw, key).code, 3, 'what is no checkpoint is not taken for one');
});

test('a witness that answers with more than signatures is refused', async (t) => {
  const { gw, key } = await setUp(t);
  await calls(gw, 2);
  const witness = await startWitness(t, readFileSync(key, 'utf8').split('\n')[0]);
  writeFileSync(gw.path('witness.txt'), `${witness.vkey}\n`);
  // the requested text becomes a part of another text, which it signs
  witness.twist = (note) => `\nand more\n\n${witness.line(`${note}\nand more\n`)}`;
  const run = await cosign(gw, witness, gw.path('witness.txt'));
  assert.deepEqual([run.code, run.out], [3, '']);
  assert.match(run.err, /more than signatures/);
});

test('a witness signs only a ledger that grew and detects a rollback', async (t) => {
  const { gw, key } = await setUp(t);
  await calls(gw, 2);
  const witness = await startWitness(t, readFileSync(key, 'utf8').split('\n')[0]);
  writeFileSync(gw.path('witness.txt'), `${witness.vkey}\n`);
  const ask = () => cosign(gw, witness, gw.path('witness.txt'));
  const first = await ask();
  assert.equal(first.code, 0, first.err);
  const lines = first.out.trimEnd().split('\n');
  const blob = Buffer.from(lines.at(-1).split(' ')[2], 'base64');
  const text = `${lines.slice(0, 3).join('\n')}\n`;
  assert.ok(witness.verify(`cosignature/v1\ntime ${blob.readBigUInt64BE(4)}\n${text}`, blob.subarray(12)));
  const size = witness.seen.size;
  await gw.stop();
  keep(gw, gw.path('copy.db'));
  await gw.start();
  await calls(gw, 5, 10);
  const grown = await ask();
  assert.equal(grown.code, 0, grown.err);
  assert.ok(witness.seen.size > size);

  witness.forged = Buffer.alloc(64);
  const forged = await ask();
  assert.deepEqual([forged.code, forged.out], [3, '']);
  witness.forged = undefined;
  await gw.stop();
  putBack(gw, gw.path('copy.db'));
  const back = await ask();
  assert.equal(back.code, 3);
  assert.match(back.err, /ROLLBACK/);
});

test('receipts and bundles verify under a checkpoint with the required witnesses', async (t) => {
  const { gw, key } = await setUp(t);
  const put = (name, text) => { writeFileSync(gw.path(name), text); return gw.path(name); };
  await calls(gw, 2);
  const log = readFileSync(key, 'utf8').split('\n')[0];
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => startWitness(t, log, `${name}.example`)));
  const all = put('all.txt', `${a.vkey}\n${b.vkey}\n${c.vkey}\n`);
  const one = put('one.txt', `${a.vkey}\n${a.vkey}\n`); // twice the same is one witness
  const both = put('both.txt', `${a.vkey}\n${b.vkey}\n`);
  const first = await cosign(gw, a, one);
  assert.equal(first.code, 0, first.err);
  await calls(gw, 3, 10); // the log grows on, and the second witness signs the same
  const second = await cosign(gw, b, both, ['--checkpoint', put('first.txt', first.out)]);
  assert.equal(second.code, 0, second.err);
  assert.ok(second.out.startsWith(first.out) && second.out.length > first.out.length);
  const checkpoint = ['--checkpoint', put('cosigned.txt', second.out)];

  const [id, late] = [gw.decisions().at(0).decision_id, gw.decisions().at(-1).decision_id];
  const made = (id, more) => writ(['receipt', id, '--ledger', gw.ledgerFile, '--keys', gw.path('keys'), ...more]);
  const receipt = made(id, checkpoint);
  assert.equal(receipt.code, 0, receipt.err);
  const bundle = writ(['ledger', 'export', gw.ledgerFile, '--keys', gw.path('keys'), ...checkpoint]);
  assert.equal(bundle.code, 0, bundle.err);
  const tooLate = made(late, checkpoint);
  assert.equal(tooLate.code, 3);
  assert.match(tooLate.err, /is not in the checkpoint/);

  const files = { receipt: put('receipt.json', receipt.out), bundle: put('bundle.jsonl', bundle.out) };
  const plain = { receipt: put('plain.json', made(id, []).out),
    bundle: put('plain.jsonl', writ(['ledger', 'export', gw.ledgerFile, '--keys', gw.path('keys')]).out) };
  const damaged = (text) =>
    text.replaceAll(/(a\.example .{60})(.)/g, (_, front, last) => `${front}${last === 'A' ? 'B' : 'A'}`);
  const forged = { receipt: put('forged.json', damaged(receipt.out)),
    bundle: put('forged.jsonl', damaged(bundle.out)) };
  for (const kind of ['receipt', 'bundle']) {
    const said = (file, ...more) => {
      const run = writ(['verify', kind, file, '--key', key, ...more]);
      const word = run.out.split('\n')[0];
      if (run.code < 2) assert.deepEqual(verdicts(kind, file, key, ...more), say(word), String(more));
      return [run.code, word];
    };
    assert.deepEqual(said(files[kind]), [0, 'ok']);
    assert.deepEqual(said(files[kind], '--witness', one), [0, 'ok']);
    assert.deepEqual(said(files[kind], '--witness', both), [0, 'ok']);
    assert.deepEqual(said(files[kind], '--witness', all), [1, 'checkpoint_unwitnessed']);
    assert.deepEqual(said(files[kind], '--witness', all, '--quorum', '2'), [0, 'ok']);
    assert.deepEqual(said(files[kind], '--witness', all, '--quorum', '3'), [1, 'checkpoint_unwitnessed']);
    assert.deepEqual(said(plain[kind], '--witness', all, '--quorum', '1'), [1, 'checkpoint_unwitnessed']);
    // a verifier without witnesses ignores them; the last line of a bundle covers all lines before
    assert.deepEqual(said(forged[kind])[1], kind === 'receipt' ? 'ok' : 'evidence_malformed');
    assert.deepEqual(said(forged[kind], '--witness', all, '--quorum', '1'), [1, 'checkpoint_invalid']);
    assert.deepEqual(said(files[kind], '--witness', all, '--quorum', '4')[0], 3);
    assert.deepEqual(said(files[kind], '--witness', one, '--quorum', '0')[0], 3);
    assert.deepEqual(said(files[kind], '--quorum', '1')[0], 2);
    assert.deepEqual(said(files[kind], '--witness', key)[0], 3, 'the key of the log is none of a witness');
  }
  const older = put('other.txt', second.out.replace(/\n[^\n]{44}\n/, `\n${'A'.repeat(43)}=\n`));
  assert.equal(made(id, ['--checkpoint', older]).code, 3, 'no checkpoint of this log');
  a.seen.size = 1000;
  assert.match((await cosign(gw, a, one, checkpoint)).err, /take a newer one/);
});
