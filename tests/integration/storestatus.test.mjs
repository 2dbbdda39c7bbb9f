// writ store status: the gateways of a shared ledger, its log, and what the server promises.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { prepare, until, writ } from '../support/js/gateway.mjs';
import { startCluster } from '../support/js/postgres.mjs';
import { Caller } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const RULES = { 'up/run': { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] } };
const shared = (name, more = {}) =>
  ({ replication: 'none_needed', gateway: name, files: `files-${name}`, lease: '2s', ...more });

const must = (args) => {
  const run = writ(args);
  assert.equal(run.code, 0, `writ ${args.join(' ')}: ${run.err}${run.out}`);
  return run.out;
};

/** The status as JSON, with the codes of its findings. */
function status(operand) {
  const run = writ(['store', 'status', operand, '--json']);
  assert.ok(run.code === 0 || run.code === 1, run.err);
  const value = JSON.parse(run.out);
  value.found = value.findings.map((finding) => finding.code);
  assert.equal(run.code, value.found.length > 0 ? 1 : 0);
  return value;
}

/** A gateway on `uri`, with the keys of the first one. */
function member(t, first, up, uri, name, more = {}) {
  const config = { upstreams: { up: { http: up.url } }, tools: RULES, store: uri, ledger: shared(name, more.ledger),
    ...(first && { keys: first.path('keys') }), ...more.top };
  return prepare(t, config);
}

test('each gateway is shown with its lease, and differing policies are pointed out', async (t) => {
  const cluster = await startCluster(t);
  const uri = cluster.uri();
  must(['ledger', 'init', uri]);
  const empty = status(uri);
  assert.deepEqual([empty.records, empty.last, empty.checkpoint, empty.gateways, empty.found], [0, null, null, [], []]);
  assert.equal(empty.store, 'postgresql://127.0.0.1/writ', 'no user');

  const up = await startUpstream(t);
  const east = member(t, undefined, up, uri, 'east'), west = member(t, east, up, uri, 'west');
  await east.start();
  await west.start();
  for (let n = 0; n < 5; n++) await new Caller(n % 2 ? east : west).call('up__run', { n });
  const two = status(east.configFile);
  assert.deepEqual(two.gateways.map((g) => [g.name, g.state, g.version]), [['east', 'live', two.gateways[0].version],
    ['west', 'live', two.gateways[0].version]]);
  assert.match(two.gateways[0].policy, /^sha256:/);
  assert.ok(two.gateways.every((g) => g.turns > 0 && g.lease_us > 0 && g.lease_us <= 2_000_000), JSON.stringify(two));
  assert.deepEqual([two.found, two.records, two.checkpoint.size, two.recent], [[], 10, 10, 10]);
  assert.ok(two.bytes > 0);
  assert.deepEqual([two.server.demanded, two.server.fsync, two.server.synchronous_commit, two.server.standby],
    ['none_needed', 'on', 'on', false]);
  assert.equal(two.version, 3);

  await west.stop();
  west.configure({ ...west.config, tools: { ...RULES, 'up/more': RULES['up/run'] } });
  await west.start();
  const other = status(uri);
  assert.deepEqual(other.found, ['policies_differ']);
  assert.equal(other.server.demanded, null);
  assert.deepEqual(other.gateways.map((g) => [g.name, g.state]), [['east', 'live'], ['west', 'live']],
    'the last epoch of each');
  const text = writ(['store', 'status', uri]);
  assert.equal(text.code, 1);
  assert.match(text.out, /^east {2}1 {2}live {2}\d\.\d s left {2}\S+ {2}sha256:\S{8} {2}\S+Z {2}\d+$/m);
  assert.match(text.out, /^policies_differ: live gateways have different policies/m);

  await west.stop();
  assert.deepEqual([status(uri).gateways[1].state, status(uri).found], ['ended', []]);
  await east.stop('SIGKILL');
  const late = await until(() => { const s = status(uri); return s.gateways[0].state === 'late' && s; },
    'the lease to end');
  assert.deepEqual(late.found, ['lease_passed']);
  assert.ok(late.gateways[0].lease_us < 0);
});

test('what the configuration demands and the server does not promise is pointed out', async (t) => {
  const cluster = await startCluster(t);
  const uri = cluster.uri();
  must(['ledger', 'init', uri]);
  const up = await startUpstream(t);
  const gw = member(t, undefined, up, uri, 'one', { ledger: { replication: 'synchronous' } });
  assert.deepEqual(status(gw.configFile).found, ['not_replicated']);
  const standby = await cluster.standby(t, { name: 'second', synchronous: true });
  const seen = status(gw.configFile);
  assert.deepEqual([seen.found, seen.server.demanded, seen.server.synchronous_standby_names],
    [[], 'synchronous', 'ANY 1 (second)']);
  assert.deepEqual(seen.server.standbys.map((s) => [s.name, s.state, s.sync_state, typeof s.lag_bytes]),
    [['second', 'streaming', 'quorum', 'number']]);
  assert.match(writ(['store', 'status', gw.configFile]).out,
    /^standby {7}second {2}streaming {2}quorum {2}\d+ bytes behind/m);

  // a role without the right to see the standbys
  await cluster.sql("CREATE ROLE watcher LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO watcher");
  const little = status(cluster.uri({ user: 'watcher' }));
  assert.deepEqual(little.server.standbys.map((s) => [s.name, s.lag_bytes]), [['second', null]]);

  await until(() => { const s = status(standby.uri()); return s.found.includes('standby'); },
    'the standby to have the tables');
  await cluster.sql('ALTER ROLE writ SET synchronous_commit = local');
  assert.deepEqual(status(uri).found, ['not_durable']);
});

test('a ledger in a file has one writer', async (t) => {
  const up = await startUpstream(t);
  const gw = prepare(t, { upstreams: { up: { http: up.url } }, tools: RULES });
  assert.equal(status(gw.configFile).open, false);
  await gw.start();
  await new Caller(gw).call('up__run', { n: 1 });
  await until(() => status(gw.configFile).checkpoint.size === 2, 'the records to be signed');
  const seen = status(gw.configFile);
  assert.deepEqual([seen.open, seen.records, seen.checkpoint.size, seen.recent, seen.store, 'gateways' in seen],
    [true, 2, 2, 2, gw.ledgerFile, false]);
  assert.equal(seen.bytes > 0, true);
  assert.match(writ(['store', 'status', gw.ledgerFile]).out, /a program has it open\nrecords {6}2,/);
  await gw.stop();
  assert.equal(status(gw.ledgerFile).open, false);
  assert.equal(writ(['store', 'status', gw.path('none.yaml')]).code, 3);
});
