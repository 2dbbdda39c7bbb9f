// Every metric counts what its description says: driven by real calls, read as Prometheus reads it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, statSync, statfsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { SOURCE, prepare, startGateway, until } from '../support/js/gateway.mjs';
import { certificate } from '../support/js/monitoring.mjs';
import { DEV, approve, asks, pay, setUp } from '../support/js/reviews.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const ANY = [{ arg: 'n', op: 'type', value: 'any' }];
const RULES = { 'up/pay': { scope: 'pay', arguments: ANY, timeout: '2s' },
  'up/again': { scope: 'a', arguments: ANY, duplicates: 'replay' },
  'up/shadow': { scope: 's', arguments: [{ arg: 'n', op: 'lt', value: 0 }], shadow: true },
  'up/look': { scope: 's', arguments: ANY },
  'up/seen': { scope: 's', arguments: ANY, duplicates: 'allow', state: { tool: 'up/look' } } };

test('every declared metric is counted', async (t) => {
  const twice = ['', 'Other.'].map((description) => ({ name: 'twice', description, inputSchema: { type: 'object' } }));
  const up = await startUpstream(t,
    { tools: [{ name: 'look', description: 'hidden\u200b', inputSchema: { type: 'object' } }, ...twice] });
  const collector = createServer((req, res) => req.resume().on('end', () => res.writeHead(204).end()));
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  t.after(() => collector.close());
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: RULES, definitions: { hidden: 'tell' },
    export: [{ name: 'good', to: `http://127.0.0.1:${collector.address().port}/` },
      { name: 'bad', to: 'syslog+tcp://127.0.0.1:9' }], // refused: the port is of no service
    ledger: { anchors: [{ to: 'anchor.txt', every: '1s' }, { to: 'missing/anchor.txt', every: '1s' }] } });
  const value = (name) => gw.metric(`writ_${name}`);
  const grows = async (name, by, act) => {
    const before = await value(name);
    await act();
    await until(async () => (await value(name)) - before >= by, `${name} to grow by ${by}`);
  };
  assert.equal(await value('sessions_open'), 0);
  const s = await openSession(gw);
  const other = await openSession(gw);
  assert.equal(await value('sessions_open'), 2);
  await other.close();
  await until(async () => (await value('sessions_open')) === 1, 'the session to be gone');

  const written = await value('ledger_seconds_count');
  const asked = await value('upstream_seconds_count');
  const sent = await value('upstream_requests_total');
  await s.call('up__pay', { n: 1 });
  assert.ok(await value('ledger_seconds_count') >= written + 2); // a decision, an outcome
  assert.ok(await value('upstream_seconds_count') >= asked + 1);
  assert.ok(await value('upstream_requests_total') >= sent + 1);
  assert.equal(await value('upstream_failures_total'), 0);
  assert.ok(await value('ledger_seconds_sum') > 0);
  assert.ok(await value('upstream_seconds_sum') > 0);
  up.onCall = (a) => ({ 2: () => {}, 3: () => a.reset(), 4: () => a.error(-1, 'no') }[a.arguments.n] ??
    (() => a.text('ok')))();
  await grows('upstream_failures_total', 1, () => s.call('up__pay', { n: 2 })); // no answer in time
  await grows('upstream_failures_total', 1, () => s.call('up__pay', { n: 3 })); // a broken one
  await s.call('up__pay', { n: 4 }); // an error is an answer
  assert.equal(await value('upstream_failures_total'), 2);
  await grows('replays_total', 1, async () => { for (let i = 0; i < 2; i++) await s.call('up__again', { n: 1 }); });
  await grows('characters_hidden_total', 1, () => s.request('tools/list'));
  await grows('definitions_hidden_total', 2, () => s.request('tools/list'));
  await grows('shadowed_total', 1, () => s.call('up__shadow', { n: 1 }));
  await grows('state_probes_total', 1, () => s.call('up__seen', { n: 1 }));
  await grows('refusals_total{reason="duplicate_outcome"}', 1, () => s.call('up__pay', { n: 1 }));
  await grows('streams_total', 1, async () => {
    up.onCall = (a) => { const x = a.stream(); x.send({ jsonrpc: '2.0', id: a.id, result: {} }); x.end(); };
    await s.call('up__pay', { n: 5 });
  });
  await grows('clients_gone_total', 1, async () => {
    const leave = new AbortController();
    up.onCall = (a) => { setTimeout(() => leave.abort(), 20); a.closed.then(() => {}); };
    await new Caller(gw, { modern: true }).call('up__pay', { n: 6 }, { signal: leave.signal }).catch(() => {});
  });

  await until(async () => (await value('anchored_total')) > 0 && (await value('anchor_failures_total')) > 0,
    'anchors, good and bad');
  await until(async () => (await value('exported_total')) > 0 && (await value('export_failures_total')) > 0,
    'exports, good and bad');

  const { text } = await gw.admin('/metrics');
  const table = readFileSync(join(SOURCE, 'gateway/listener/metrics.tbl.h'), 'utf8');
  const names = [...table.matchAll(/^WRIT_METRIC_[A-Z]+\(\s*[A-Z_]+,\s*"([a-z_]+)"/gm)].map((m) => m[1]);
  assert.ok(names.length > 20);
  // driven in listener.test.mjs (a refused connection, TLS), notices.test.mjs (tasks), telemetry.test.mjs, below
  // (reviews, budgets, certificates), storage.test.mjs (kept outcomes) and fleetstops.test.mjs (fleet_*); gauges may be
  // 0 again, ages below a second
  const quiet = ['upstreams_silent', 'upstreams_refused', // the second: program.test.mjs
    'ledger_queued', 'reviews_open', 'connections_refused_total', 'tls_failures_total',
    'streams_open', 'task_words_dropped_total', 'ledger_outcomes_kept', 'checkpoint_age_seconds', 'scrubs',
    'scrub_age_seconds', 'reviews_waiting', 'review_oldest_seconds', 'certificate_remaining_seconds', 'budget_limit',
    'budget_used', 'telemetry_sent_total', 'telemetry_lost_total', 'notifications_total',
    'notification_failures_total', 'notices_dropped_total']; // the last three: notify.test.mjs
  for (const name of names.filter((n) => !quiet.includes(n) && !n.startsWith('fleet_'))) {
    const lines = text.split('\n').filter((l) => l.startsWith(`writ_${name}`));
    assert.ok(lines.some((l) => Number(l.split(' ').at(-1)) > 0), `${name} never counted: ${lines}`);
  }
});

const TABLE = readFileSync(join(SOURCE, 'gateway/listener/metrics.tbl.h'), 'utf8');

test('docs/monitoring.md has every metric with its type, labels and sentence', () => {
  const rows = [...TABLE.matchAll(/^WRIT_METRIC_([A-Z]+)\(([^;]*?)\)$/gms)].map(([, kind, args]) => {
    const texts = [...args.matchAll(/"([^"]*)"/g)].map((m) => m[1]);
    const [name, type, labels, help] = kind === 'LABELS' ? texts
      : kind === 'VECTOR' ? [texts[0], 'counter', texts[1], texts[2]] : [texts[0], kind.toLowerCase(), '', texts[1]];
    return `| \`writ_${name}\` | ${type} | ` +
      `${labels === '' ? '' : labels.split(', ').map((l) => `\`${l}\``).join(', ')} | ${help} |`;
  });
  assert.equal(rows.length, TABLE.match(/^WRIT_METRIC_/gm).length, 'a row that this test cannot read');
  const page = readFileSync(join(SOURCE, 'docs/monitoring.md'), 'utf8').split('\n## Metrics')[1].split('\n## ')[0];
  assert.deepEqual(page.split('\n').filter((l) => l.startsWith('| `')), rows);
});

test('calls are counted by configured upstream and tool, never by a name of the caller', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url }, gone: { stdio: ['/nonexistent/server'] } },
    tools: { 'up/pay': { scope: 's', arguments: ANY },
      'up/re*': { scope: 's', arguments: [{ arg: 'n', op: 'lt', value: 5 }], duplicates: 'allow' } } });
  const s = await openSession(gw);
  for (const [tool, n] of [['up__pay', 1], ['up__read', 1], ['up__rest', 9], ['up__evil"\n', 1], ['up__other', 1],
    ['nowhere__pay', 1]]) await s.call(tool, { n });
  const calls = async (labels) => gw.metric(`writ_calls_total{${labels}}`);
  assert.equal(await calls('upstream="up",tool="pay",verdict="allow"'), 1);
  assert.equal(await calls('upstream="up",tool="re*",verdict="allow"'), 1);
  assert.equal(await calls('upstream="up",tool="re*",verdict="deny"'), 1);
  assert.equal(await calls('upstream="up",tool="unlisted",verdict="deny"'), 2);
  const { text } = await gw.admin('/metrics');
  assert.doesNotMatch(text, /evil|other|nowhere/);
  assert.match(text, /^writ_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
  assert.equal(await gw.metric('writ_upstream_up{upstream="up"}'), 1);
  assert.equal(await gw.metric('writ_upstream_up{upstream="gone"}'), 0);
  assert.equal(await gw.metric('writ_ledger_records'), JSON.parse(gw.ledger(['verify']).out).records);
  assert.ok(await gw.metric('writ_claims') >= 1);
  const refused = (labels) => gw.metric(`writ_calls_refused_total{${labels}}`);
  assert.equal(await refused('upstream="up",tool="re*",reason="constraint_failed"'), 1);
  assert.equal(await refused('upstream="up",tool="unlisted",reason="tool_not_listed"'), 2);
});

test('budgets, reviews and the place of the ledger have gauges', async (t) => {
  const spend = { scope: 'b', arguments: ANY,
    budgets: [{ name: 'day', per: ['agent'], window: '24h', sum: { arg: 'n', max: 5.5 } }] };
  const { gw } = await setUp(t, { top: { tools: { 'up/spend': spend, 'up/pay': pay({ review: 'finance' }) },
    ledger: { scrub_every: '1s' } } });
  const s = await openSession(gw, { token: DEV.token });
  const day = 'upstream="up",tool="spend",budget="day"';
  await s.call('up__spend', { n: 1 });
  await s.call('up__spend', { n: 3.25 });
  assert.equal(await gw.metric(`writ_budget_used{${day}}`), 4.25);
  await s.call('up__spend', { n: 3 });
  assert.equal(await gw.metric(`writ_budget_used{${day}}`), 4.25, 'a refused call uses nothing');
  assert.equal(await gw.metric(`writ_budget_limit{${day}}`), 5.5);
  assert.equal(await gw.metric('writ_calls_refused_total{upstream="up",tool="spend",reason="budget_exceeded"}'), 1);

  assert.equal(await gw.metric('writ_reviews_waiting'), 0);
  const id = await asks(s, { amount: 1 });
  await until(async () => (await gw.metric('writ_reviews_waiting')) === 1, 'a review that waits');
  await until(async () => (await gw.metric('writ_review_oldest_seconds')) >= 1, 'its age');
  await approve(gw, id);
  await until(async () => (await gw.metric('writ_reviews_waiting')) === 0, 'no review that waits');
  assert.equal(await gw.metric('writ_reviews_open'), 1, 'its caller did not get the end yet');

  assert.equal(await gw.metric('writ_ledger_state{state="ready"}'), 1);
  assert.equal(await gw.metric('writ_ledger_state{state="poisoned"}'), 0);
  const disk = statfsSync(gw.dir);
  assert.equal(await gw.metric('writ_ledger_disk_bytes'), disk.bsize * disk.blocks);
  assert.ok(await gw.metric('writ_ledger_disk_free_bytes') > 0);
  assert.ok(await gw.metric('writ_ledger_bytes') >= statSync(gw.ledgerFile).size);
  await until(async () => (await gw.metric('writ_scrubs')) >= 2, 'verifications of the whole ledger');
});

test('certificates of the listeners have the time that is left, of the present files', async (t) => {
  const gw = prepare(t, { tls: { cert: 'cert.pem', key: 'key.pem' } });
  certificate(gw.dir, 40);
  await gw.start();
  const left = () => gw.metric('writ_certificate_remaining_seconds{listener="listen"}');
  const is = async (days) => {
    const seconds = await left();
    assert.ok(seconds > days * 86_400 - 600 && seconds <= days * 86_400, String(seconds));
  };
  await is(40);
  assert.doesNotMatch((await gw.admin('/metrics')).text, /listener="admin_listen"/);
  certificate(gw.dir, 2);
  await is(40);
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  await is(2);
});
