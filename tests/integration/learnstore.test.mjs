// writ policy learn on kept contents: a real gateway that only observes, its ledger, the learned rules, and a replay by
// them; and which calls of a ledger are not learned from.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bearer, prepare, writ } from '../support/js/gateway.mjs';
import { call, deny, keptLedger } from '../support/js/kept.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { resolve } from '../support/npm/peers.mjs';

const FILESYSTEM = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const DEV = bearer('dev', { tenant: 'acme', role: 'operator' });
const RITA = bearer('rita', { role: 'auditor' });

/** The purposes of the recorded looks at contents. */
function looks(ledger) {
  const db = new DatabaseSync(ledger, { readOnly: true });
  try {
    return db.prepare('SELECT bytes FROM record JOIN body USING (leaf) WHERE kind = 5 ORDER BY leaf').all()
      .map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()))
      .filter((fact) => fact.event === 'contents_looked').map(({ data }) => [data.purpose, data.count]);
  } finally {
    db.close();
  }
}

test('a gateway observes the real file server; the learned rules allow what was seen, and refuse what is elsewhere',
    async (t) => {
  const box = mkdtempSync(join(tmpdir(), 'writ-box-'));
  t.after(() => rmSync(box, { recursive: true }));
  for (const folder of ['docs', 'notes', 'private']) mkdirSync(join(box, folder));
  writeFileSync(join(box, 'docs/a.md'), 'first line\nsecond line\n');
  const gw = await prepare(t, {
    agents: [DEV.entry, RITA.entry], auditors: ['auditor'], content_readers: ['rita'],
    upstreams: { fs: { stdio: [process.execPath, FILESYSTEM, box] } },
    defaults: { shadow: true, duplicates: 'allow', contents: { keep: '30d' } },
    tools: { 'fs/*': { scope: 'files' } },
  }, { prepare(dir) {
    const run = writ(['keys', 'new', '--purpose', 'contents', '--dir', join(dir, 'keys')]);
    assert.equal(run.code, 0, run.err);
  } }).start();
  for (let run = 1; run <= 8; run++) {
    const session = await openSession(gw, { token: DEV.token });
    for (let n = 1; n <= 3; n++) {
      const path = join(box, `notes/${run}-${n}.md`);
      await session.call('fs__write_file', { path, content: `note ${n} of ${run}\n` });
      await session.call('fs__read_text_file', { path: join(box, 'docs/a.md'), head: n });
    }
  }
  const session = await openSession(gw, { token: DEV.token });
  await session.call('fs__read_text_file', { path: '/etc/hostname' }); // the server refuses it

  const learn = (...more) => writ(['policy', 'learn', gw.configFile, gw.ledgerFile, ...more], { cwd: gw.dir });
  writeFileSync(join(gw.dir, 'rita.token'), RITA.token, { mode: 0o600 });
  assert.notEqual(learn().code, 0, 'the gateway has the ledger open');
  const beside = learn('--json', '--url', `http://127.0.0.1:${gw.adminPort}`, '--token', 'rita.token');
  assert.equal(beside.code, 0, beside.err);
  assert.equal(JSON.parse(beside.out).learned, 48);
  await gw.stop();
  const run = learn('--json', '--cases', 'cases.json');
  assert.equal(run.code, 0, run.err);
  const report = JSON.parse(run.out);
  assert.deepEqual(report.tools.map(({ tool, calls, runs, by_run: byRun }) => [tool, calls, runs, byRun]),
    [['write_file', 24, 8, true], ['read_text_file', 24, 8, true]]);
  const steps = Object.fromEntries(report.tools.flatMap(({ tool, arguments: args }) =>
    args.map(({ pointer, step }) => [`${tool} ${pointer}`, step])));
  assert.deepEqual(steps, { 'write_file /path': 'common folder', 'write_file /content': 'text',
    'read_text_file /path': 'value', 'read_text_file /head': 'enumeration' });
  assert.deepEqual(report.left_out.map(({ reason, calls }) => [reason, calls]), [['failed', 1]]);
  assert.deepEqual(looks(gw.ledgerFile), [['learn', 48], ['learn', 48]]);

  for (const file of report.files) execFileSync('patch', ['-p0', '-s', file.file], { cwd: gw.dir, input: file.diff });
  assert.equal(writ(['check', gw.configFile], { cwd: gw.dir }).code, 0);
  assert.equal(writ(['policy', 'test', 'cases.json'], { cwd: gw.dir }).code, 0);
  const explain = (tool, args) => {
    const input = JSON.stringify({ agent: 'dev', tool: `fs/${tool}`, arguments: args });
    const done = writ(['explain', gw.configFile, '-', '--json'], { cwd: gw.dir, input });
    return JSON.parse(done.out).verdict.decision;
  };
  assert.equal(explain('write_file', { path: join(box, 'notes/new.md'), content: 'x\n' }), 'allow');
  assert.equal(explain('write_file', { path: join(box, 'private/x'), content: 'x\n' }), 'deny');
  assert.equal(explain('read_text_file', { path: '/etc/hostname' }), 'deny');
  const replay = JSON.parse(writ(['policy', 'replay', gw.configFile, gw.ledgerFile, '--json'], { cwd: gw.dir }).out);
  assert.deepEqual([replay.decided, replay.refused], [49, 0], 'in shadow mode nothing is newly refused');
  assert.match(learn().out, /nothing to change\n$/);
});

test('calls that did not run, are not kept, or have secrets are left out and listed', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-learn-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const ledger = keptLedger(dir, [
    ...Array.from({ length: 24 }, (_, i) => call({ amount: (i % 4) + 1 })),
    call({ amount: 700 }, { outcome: 'error', id: 'd-failed' }),
    deny({ amount: 800 }, 'constraint_failed', { outcome: 'blocked', id: 'd-refused' }),
    call({ amount: 900 }, { keep_us: 0, id: 'd-gone' }),
    call({ amount: 5, pin: 'x' }, { kept: { amount: 5 }, id: 'd-secret' }),
    call({ amount: 9 }, { agent: 'ann' }),
  ]);
  const config = join(dir, 'writ.json');
  writeFileSync(config, JSON.stringify({ keys: 'keys', store: 'sqlite://ledger.db', agents: [DEV.entry],
    upstreams: { up: { http: 'http://127.0.0.1:1/mcp' } }, tools: {} }));
  const report = JSON.parse(writ(['policy', 'learn', config, ledger, '--json']).out);
  assert.deepEqual([report.seen, report.learned], [29, 25]);
  assert.deepEqual(report.left_out.map(({ reason, decisions }) => [reason, decisions]), [
    ['not_executed', ['d-failed', 'd-refused']], ['not_kept', ['d-gone']], ['secret_members_left_out', ['d-secret']]]);
  assert.equal(report.tools[0].arguments[0].step, 'enumeration');
  assert.match(report.files[0].diff, /\[1, 2, 3, 4, 9\]/);
  const one = JSON.parse(writ(['policy', 'learn', config, ledger, '--json', '--agent', 'ann', '--since',
    '2020-01-01T00:00:00Z']).out);
  assert.deepEqual([one.seen, one.learned], [1, 1]);
  assert.deepEqual(looks(ledger), [['learn', 25], ['learn', 1]]);

  const late = writ(['policy', 'learn', config, ledger, '--since', '2999-01-01T00:00:00Z']);
  assert.equal(late.code, 3);
  assert.match(late.err, /ledger\.db: no call to learn from/);
  assert.equal(writ(['policy', 'learn', config, ledger, '--calls', '-'], { input: '' }).code, 3);
});
