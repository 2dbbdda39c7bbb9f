// --archive of the commands that read a record: what was archived and removed is found there, with the same proofs.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agedGateway, daysAgo } from '../support/js/aged.mjs';
import { writ } from '../support/js/gateway.mjs';

const text = (value) => value === null ? null : Buffer.from(value).toString();

/** A run that ended before the time, one that goes over it, and one that began after it. */
function picked(gw, time) {
  const us = Date.parse(time) * 1000;
  const pick = (where) => {
    const [row] = gw.rows('SELECT b.name, b.tenant FROM boundary AS b JOIN record AS f ON f.leaf = b.first_leaf '
      + `JOIN record AS s ON s.leaf = b.seal_leaf WHERE ${where} ORDER BY b.id LIMIT 1`);
    return { run: text(row.name), tenant: text(row.tenant) };
  };
  return [pick(`s.time_us < ${us}`), pick(`f.time_us < ${us} AND s.time_us >= ${us}`), pick(`f.time_us >= ${us}`)];
}

/** What the commands say of a run and of its first and last call; `more` are options. */
function seen(gw, { run, tenant }, ids, more = []) {
  const keys = ['--keys', gw.path('keys')], of = ['--tenant', tenant, ...more];
  const got = { export: writ(['ledger', 'export', gw.ledgerFile, run, ...of]),
    bundle: writ(['ledger', 'export', gw.ledgerFile, run, ...of, ...keys]), calls: [] };
  for (const id of ids) {
    got.calls.push({ show: writ(['ledger', 'show', gw.ledgerFile, id, ...more, '--json']),
      receipt: writ(['receipt', id, '--ledger', gw.ledgerFile, ...keys, ...more]) });
  }
  return got;
}

function verifies(gw, what, { code, out, err }) {
  assert.equal(code, 0, err);
  writeFileSync(gw.path('evidence'), out);
  const run = writ(['verify', what, gw.path('evidence'), '--key', gw.trusted]);
  assert.equal(run.code, 0, run.out + run.err);
}

/** The records of a receipt, without what a later checkpoint changes. */
const recordsOf = ({ out }) => JSON.parse(out).records.map(({ index, record, body }) => ({ index, record, body }));
const idsOf = ({ out }) => {
  const all = out.trim().split('\n').map((line) => JSON.parse(line)).filter((r) => r.kind === 'decision')
    .map((r) => r.record.decision_id);
  return [all[0], all.at(-1)];
};

test('a call, a receipt, a run and a bundle are read from the archive as they were in the ledger', (t) => {
  const gw = agedGateway(t, 800), time = daysAgo(3);
  const runs = picked(gw, time);
  const ids = runs.map(({ run, tenant }) => idsOf(writ(['ledger', 'export', gw.ledgerFile, run, '--tenant', tenant])));
  const before = runs.map((run, i) => seen(gw, run, ids[i]));
  assert.ok(gw.archive(time).removal.removed > 100);

  const alone = seen(gw, runs[0], ids[0]);
  for (const { code, err } of [alone.export, alone.bundle, alone.calls[0].show, alone.calls[0].receipt]) {
    assert.equal(code, 3, err);
    assert.match(err, /archive/);
  }
  for (const [i, run] of runs.entries()) {
    const now = seen(gw, run, ids[i], gw.joined), then = before[i];
    assert.deepEqual([now.export.code, now.export.err], [then.export.code, '']);
    assert.ok(now.export.out === then.export.out, `the export of ${run.run}`);
    verifies(gw, 'bundle', now.bundle);
    assert.deepEqual(now.calls.map(({ show }) => show), then.calls.map(({ show }) => show));
    for (const [k, { receipt }] of now.calls.entries()) {
      verifies(gw, 'receipt', receipt);
      assert.deepEqual(recordsOf(receipt), recordsOf(then.calls[k].receipt));
    }
  }
  const none = writ(['ledger', 'show', gw.ledgerFile, 'nothing', ...gw.joined]);
  assert.deepEqual([none.code, /no decision of that id/.test(none.err)], [3, true], none.err);
});

test('a bundle of all, and of an agent, has what the archive has', (t) => {
  const gw = agedGateway(t, 600);
  const bundle = (...more) => writ(['ledger', 'export', gw.ledgerFile, '--keys', gw.path('keys'), ...more]);
  const records = ({ out }) => out.split('\n').filter((line) => /"record":|"body":/.test(line));
  const agent = text(gw.rows('SELECT agent_id FROM record WHERE leaf = 0')[0].agent_id);
  const then = [bundle(), bundle('--agent', agent)].map(records);
  assert.ok(then[0].length > then[1].length && then[1].length > 50);
  gw.archive(daysAgo(3));
  assert.equal(bundle().code, 3);
  for (const [i, more] of [[], ['--agent', agent]].entries()) {
    const now = bundle(...more, ...gw.joined);
    verifies(gw, 'bundle', now);
    assert.deepEqual(records(now), then[i]);
  }
});

test('a record of the archive that is not the one of the ledger is refused', (t) => {
  const gw = agedGateway(t, 600);
  const { decision_id: id } = JSON.parse(writ(['ledger', 'list', gw.ledgerFile, '--limit', '0', '--json']).out)
    .decisions.at(-1);
  gw.archive(daysAgo(3));
  const show = () => writ(['ledger', 'show', gw.ledgerFile, id, ...gw.joined]);
  assert.equal(show().code, 0);
  const folder = join(gw.archiveDir, 'tile/entries'), [file] = readdirSync(folder).filter((name) => /^\d+$/.test(name));
  const bytes = readFileSync(join(folder, file));
  const at = bytes.indexOf('"reason":"');
  bytes[at + 10] ^= 1;
  writeFileSync(join(folder, file), bytes);
  const run = show();
  assert.equal(run.code, 3, run.out);
  assert.match(run.err, /record \d+ of the archive is not the one of the ledger/);
  const other = writ(['ledger', 'show', gw.ledgerFile, id, '--archive', gw.dir]);
  assert.equal(other.code, 3);
});
