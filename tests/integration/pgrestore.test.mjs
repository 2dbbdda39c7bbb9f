// A ledger on PostgreSQL that is put back from a backup: the gateway that remembers the calls made since does not
// start, and after `ledger resume` none of them runs a second time.
import '../support/js/on-postgres.mjs';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';

const { bearer, startGateway, until, writ } = await import('../support/js/gateway.mjs');
const { PSQL } = await import('../support/js/postgres.mjs');
const { Caller } = await import('../support/js/rpc.mjs');
const { ledgerOf } = await import('../support/js/store.mjs');
const { startUpstream } = await import('../support/servers/upstream.mjs');

const A = bearer('a');
const PAY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };

function must(program, args, input) {
  const run = spawnSync(join(dirname(PSQL), program), args, { input, maxBuffer: 1 << 28 });
  assert.equal(run.status, 0, String(run.stderr));
  return run.stdout;
}

test('calls made after a backup are detected, and do not run again', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t,
    { agents: [A.entry], upstreams: { up: { http: up.url } }, tools: { 'up/pay': PAY } });
  let boundary = 'before'; // a resume seals the runs of before
  const call = (n) => new Caller(gw, { token: A.token }).call('up__pay', { n }, { boundary, key: `k${n}` });
  for (const n of [1, 2, 3]) await call(n);
  const backup = must('pg_dump', ['--dbname', gw.ledgerFile]);
  const later = await call(4);
  assert.equal(later.error, undefined);
  await gw.stop();
  assert.equal(up.calls.length, 4);

  const restored = ledgerOf(gw.path('restored'));
  must('psql', ['-XAtqw', '-v', 'ON_ERROR_STOP=1', '-f', '-', restored], backup);
  gw.options.ledger = restored;
  gw.configure({ ...gw.config, store: restored });
  gw.verify();
  const refused = writ(['serve', gw.configFile], { cwd: gw.dir, timeout: 60_000 });
  assert.notEqual(refused.code, 0);
  assert.match(refused.err, /ROLLBACK: the ledger has \d+ records, and had \d+/);
  assert.equal(up.calls.length, 4);

  // the epoch in the backup has a lease, and its gateway cannot be asked
  const resume = () => writ(['ledger', 'resume', gw.configFile, '--acknowledge-loss'], { cwd: gw.dir });
  const run = await until(() => {
    const done = resume();
    return /lease/.test(done.err) ? undefined : done;
  }, 'the lease to pass');
  assert.equal(run.code, 0, run.err);
  assert.match(run.out, /^resumed with/);
  await gw.start();
  boundary = 'after';
  const again = await call(4);
  assert.match(JSON.stringify(again.error), /ledger_resumed/);
  assert.equal(up.calls.length, 4, 'it ran once');
  const known = await call(2);
  assert.notEqual(known.error, undefined);
  assert.equal(up.calls.length, 4);
  gw.verify();
});
