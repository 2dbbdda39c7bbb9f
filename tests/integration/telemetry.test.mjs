// What an OpenTelemetry collector gets: the spans of a call, its line of the log, and the metrics, in the encoding of
// OTLP; trace context in and out; and that no call waits for a collector, whatever it does.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGateway, linesOf, prepare, until, writ } from '../support/js/gateway.mjs';
import { setUp as hooks } from '../support/js/hooks.mjs';
import { ANN, DEV, api, approve, setUp as reviews } from '../support/js/reviews.mjs';
import { startCollector } from '../support/servers/collector.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const STDIO = join(import.meta.dirname, '../support/servers/child.mjs');
const ANY = [{ arg: '', op: 'type', value: 'any' }];
const TOOLS = {
  'up/pay': { scope: 'pay', arguments: [{ arg: 'n', op: 'le', value: 10 },
    { arg: 'note', op: 'type', value: 'any', optional: true }] },
  'up/look': { scope: 'l', arguments: ANY, duplicates: 'allow' },
  'up/state': { scope: 'st', arguments: ANY, duplicates: 'allow', state: { tool: 'up/stat', arguments: {} } },
};
const SECRET = 'sk-value-of-the-call';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736', SPAN = '00f067aa0ba902b7';
const traceparent = (flags = '01') => `00-${TRACE}-${SPAN}-${flags}`;

async function setUp(t, telemetry = {}, rest = {}) {
  const collector = await startCollector(t);
  const up = await startUpstream(t, { tools: [{ name: 'pay', inputSchema: { type: 'object' } },
    { name: 'look', inputSchema: { type: 'object' } }, { name: 'state', inputSchema: { type: 'object' } }] });
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: TOOLS,
    telemetry: { otlp: collector.origin, metrics: false, ...telemetry }, ...rest });
  t.after(() => assert.deepEqual(collector.faults, []));
  return { collector, up, gw, caller: new Caller(gw, { modern: true }) };
}

/** In the order in which they began, of whatever loop they are; each once, also if an answer that came late made the
 * gateway send it again. */
const inOrder = (spans) => [...new Map(spans.map((s) => [s.spanId, s])).values()]
  .sort((a, b) => (BigInt(a.startTimeUnixNano) < BigInt(b.startTimeUnixNano) ? -1 : 1));
const servers = (collector) => inOrder(collector.spans.filter((s) => s.kind === 2));
const server = (collector, where) => until(() => servers(collector).find(where), 'the span of a request');
/** The spans below one. */
const below = (collector, span) => collector.spans.filter((s) => s.parentSpanId === span.spanId);

function checkNested(parent, children) {
  for (const c of children) {
    assert.equal(c.traceId, parent.traceId);
    assert.ok(BigInt(c.startTimeUnixNano) >= BigInt(parent.startTimeUnixNano), 'begins within');
    assert.ok(BigInt(c.endTimeUnixNano) <= BigInt(parent.endTimeUnixNano), 'ends within');
    assert.ok(BigInt(c.startTimeUnixNano) <= BigInt(c.endTimeUnixNano));
  }
}

test('a governed call has a span, one for each wait below it, and its line of the log', async (t) => {
  const { collector, up, gw, caller } = await setUp(t, { resource: { 'deployment.environment.name': 'test' } });
  const before = BigInt(Date.now()) * 1_000_000n - 1_000_000_000n;
  assert.ok((await caller.call('up__pay', { n: 1, note: SECRET })).result);
  const span = await server(collector, (s) => s.name === 'tools/call pay');
  const line = await until(() => collector.lines.find((l) => l.body.stringValue === 'call'), 'the line');
  const logged = await gw.waitLog('call');

  assert.equal(span.parentSpanId, undefined);
  assert.equal(span.status, undefined);
  assert.ok(BigInt(span.startTimeUnixNano) > before &&
    BigInt(span.endTimeUnixNano) < BigInt(Date.now() + 1000) * 1_000_000n, 'wall time');
  assert.deepEqual(span.attributes, { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool',
    'writ.decision_id': logged.decision_id, 'writ.agent_id': 'dev', 'writ.tenant': 'local', 'writ.upstream': 'up',
    'gen_ai.tool.name': 'pay', 'writ.by': 'mcp', 'writ.verdict': 'allow', 'writ.reason': 'policy_ok',
    'writ.outcome': 'executed' });
  const waits = below(collector, span);
  checkNested(span, waits);
  const seen = waits.map((w) => [w.name, w.kind, w.attributes['writ.step']]);
  assert.deepEqual(seen.filter(([name]) => name !== 'tools/list'),
    [['ledger', 1, 'CLAIM'], ['tools/call pay', 3, 'FORWARD'], ['ledger', 1, 'RECORD']]);
  const client = waits.find((w) => w.name === 'tools/call pay');
  assert.deepEqual(client.attributes, { 'writ.step': 'FORWARD', 'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool', 'writ.upstream': 'up', 'gen_ai.tool.name': 'pay' });

  // the upstream can hang its own spans below the client's
  const sent = up.calls[0];
  assert.equal(sent.headers.traceparent, `00-${span.traceId}-${client.spanId}-01`);
  assert.equal(sent.meta.traceparent, sent.headers.traceparent);

  const { time, level, event, ...members } = logged;
  assert.deepEqual(line.attributes, members, 'the members of the log, no more and no less');
  assert.deepEqual([line.traceId, line.spanId], [span.traceId, span.spanId]);
  assert.ok(!collector.requests.some((r) => r.text.includes(SECRET)), 'no value of a call');
  const [{ 'service.instance.id': instance, ...resource }] = collector.resources;
  assert.match(instance, /^[0-9a-f-]{36}$/);
  assert.deepEqual(resource, { 'service.name': 'writ', 'service.version': resource['service.version'],
    'deployment.environment.name': 'test' });
  gw.verify();
});

test('refusals and errors have a class of error; an unlisted tool is no name of a span', async (t) => {
  const { collector, up, caller } = await setUp(t);
  await caller.call('up__pay', { n: 11 });
  await caller.call('up__evil', { n: 1 });
  up.onCall = (a) => a.error(-1, SECRET);
  await caller.call('up__look', { n: 1 });
  up.onCall = (a) => a.reset();
  await caller.call('up__look', { n: 2 });
  up.onCall = (a) => a.result({ content: [], isError: true });
  await caller.call('up__look', { n: 3 });
  await until(() => servers(collector).filter((s) => s.name.startsWith('tools/call')).length === 5, 'five calls');
  const found = servers(collector).filter((s) => s.name.startsWith('tools/call'))
    .map((s) => [s.name, s.attributes['error.type'], s.status?.code]);
  assert.deepEqual(found, [['tools/call pay', 'constraint_failed', 2], ['tools/call', 'tool_not_listed', 2],
    ['tools/call look', 'upstream_error', 2], ['tools/call look', 'upstream_failed', 2],
    ['tools/call look', 'tool_error', 2]]);
  const clients = inOrder(collector.spans.filter((s) => s.name === 'tools/call look' && s.kind === 3));
  assert.deepEqual(clients.map((s) => s.attributes['error.type']), ['upstream_error', 'closed_early', 'tool_error']);
  assert.ok(!collector.requests.some((r) => r.text.includes(SECRET)));
});

test('a probe, a list and a session have spans, too', async (t) => {
  const { collector, up, gw } = await setUp(t);
  const s = await openSession(gw);
  assert.ok((await s.request('tools/list')).result);
  await s.call('up__state', { n: 1 });
  const call = await server(collector, (x) => x.name === 'tools/call state');
  const probe = below(collector, call).find((w) => w.name === 'probe');
  assert.equal(probe.kind, 3);
  const asked = up.calls.find((c) => c.name === 'stat');
  assert.equal(asked.headers.traceparent, `00-${call.traceId}-${probe.spanId}-01`);
  const list = await server(collector, (x) => x.name === 'tools/list');
  checkNested(list, below(collector, list));
  assert.deepEqual(below(collector, list).map((w) => w.kind), [3]);
  await server(collector, (x) => x.name === 'initialize');
});

test('a held review and the requests of a hook have a span for each wait', async (t) => {
  const collector = await startCollector(t);
  const telemetry = { otlp: collector.origin, metrics: false };
  t.after(() => assert.deepEqual(collector.faults, []));
  const { gw } = await reviews(t, { approval: { hold: '60s' }, top: { telemetry } });
  const s = await openSession(gw, { token: DEV.token });
  const call = s.call('up__pay', { amount: 1 });
  const [{ id }] = await until(async () => {
    const { json } = await api(gw, ANN, '');
    return json.reviews?.length > 0 && json.reviews;
  }, 'a review');
  await approve(gw, id);
  assert.equal((await call).said, 'ran 1');
  const span = await server(collector, (x) => x.name === 'tools/call pay');
  const waits = below(collector, span);
  checkNested(span, waits);
  const held = waits.filter((w) => w.name === 'review');
  assert.deepEqual(held.map((w) => [w.kind, w.attributes['writ.step']]), [[1, 'HOLD']]);
  assert.equal(span.attributes['writ.review'], id);
  assert.ok(waits.some((w) => w.kind === 3 && w.name === 'tools/call pay'), 'its message after the review');

  const { gw: hooked, crew } = await hooks(t, { top: { telemetry } });
  const intent = { arguments: { path: '/a', text: SECRET } };
  const { decision } = await crew.before(intent);
  assert.equal((await crew.bind(decision, intent)).verdict, 'allow');
  assert.equal((await crew.after(decision, { result: { text: SECRET } })).status, 200);
  for (const name of ['before', 'bind', 'after']) {
    const request = await server(collector, (x) => x.name.split(' ')[0] === name);
    const ledger = below(collector, request);
    assert.equal(request.attributes['mcp.method.name'], undefined);
    checkNested(request, ledger);
    assert.ok(ledger.length > 0 && ledger.every((w) => w.name === 'ledger' && w.kind === 1), name);
  }
  await hooked.stop();
  assert.ok(!collector.requests.some((r) => r.text.includes(SECRET)), 'no value of a call');
});

test('an upstream over stdio gets the trace context in _meta', async (t) => {
  const collector = await startCollector(t);
  const gw = prepare(t, {});
  mkdirSync(gw.path('child'));
  writeFileSync(gw.path('child/refuse'), '0');
  gw.configure({ ...gw.config, upstreams: { child: { stdio: [process.execPath, STDIO, gw.path('child')] } },
    tools: { 'child/echo': { scope: 'echo', arguments: ANY } },
    telemetry: { otlp: collector.origin, metrics: false } });
  t.after(() => assert.deepEqual(collector.faults, []));
  await gw.start();
  const s = await openSession(gw);
  const meta = { traceparent: traceparent(), tracestate: 'x=y' };
  assert.equal((await s.call('child__echo', { text: 'x' }, { meta })).said, 'x');
  const span = await server(collector, (s) => s.name === 'tools/call echo');
  const client = below(collector, span).find((s) => s.kind === 3 && s.name === span.name);
  const { params } = linesOf(gw.path('child/lines')).map((l) => JSON.parse(l)).find((m) => m.method === 'tools/call');
  assert.equal(span.traceId, TRACE);
  assert.equal(params._meta.traceparent, `00-${TRACE}-${client.spanId}-01`);
  assert.equal(params._meta.tracestate, 'x=y');
});

test('the caller\'s trace context: its trace by default, its flag or a link by configuration', async (t) => {
  for (const [incoming, sample, flags, expected] of [
    ['parent', '1', '00', 'parent'], ['parent', '0', '01', 'nothing'], ['sampled', '1', '00', 'nothing'],
    ['sampled', '0', '01', 'parent'], ['link', '1', '01', 'link'],
  ]) {
    await t.test(`${incoming}, ${sample}, ${flags}`, async (t) => {
      const { collector, up, gw, caller } = await setUp(t, { incoming, sample });
      await caller.call('up__look', { n: 1 }, { headers: { traceparent: traceparent(flags), tracestate: 'a=b',
        baggage: 'k=v' } });
      const [{ headers }] = up.calls;
      assert.equal(headers.baggage, 'k=v');
      await until(() => collector.lines.length === 1, 'the line');
      if (expected === 'nothing') {
        assert.deepEqual([headers.traceparent, headers.tracestate], [traceparent(flags), 'a=b'], 'as it came');
        await gw.stop();
        assert.equal(collector.spans.length, 0);
        assert.equal(collector.lines[0].traceId, undefined);
        return;
      }
      const span = await server(collector, (s) => s.name === 'tools/call look');
      const client = below(collector, span).find((s) => s.kind === 3 && s.name === span.name);
      assert.equal(headers.traceparent, `00-${span.traceId}-${client.spanId}-01`);
      const linked = expected === 'link';
      assert.deepEqual(span.links, linked ? [{ traceId: TRACE, spanId: SPAN }] : undefined);
      assert.equal(headers.tracestate, linked ? undefined : 'a=b');
      assert.equal(span.traceId === TRACE, !linked);
      assert.equal(span.parentSpanId, linked ? undefined : SPAN);
    });
  }
});

test('_meta names the caller\'s span before the head does; what is not good is not used', async (t) => {
  const { collector, up, caller } = await setUp(t);
  const other = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
  await caller.call('up__look', { n: 1 }, { headers: { traceparent: other },
    meta: { traceparent: traceparent(), tracestate: 'x=y' } });
  let span = await server(collector, (s) => s.traceId === TRACE);
  assert.equal(span.parentSpanId, SPAN);
  assert.deepEqual([up.calls[0].meta.tracestate, up.calls[0].headers.tracestate], ['x=y', 'x=y']);
  assert.equal(up.calls[0].meta.traceparent, up.calls[0].headers.traceparent);
  for (const [bad, state] of [[traceparent().toUpperCase(), 'a=b'], ['x', 'a=b'], [`${traceparent()}-`, 'a=b']]) {
    const n = servers(collector).length, calls = up.calls.length;
    await caller.call('up__look', { n: 1 }, { headers: { traceparent: bad, tracestate: state } });
    await until(() => servers(collector).length > n, 'a span');
    span = servers(collector).at(-1);
    assert.notEqual(span.traceId, TRACE);
    assert.equal(span.parentSpanId, undefined);
    assert.equal(up.calls[calls].headers.tracestate, undefined, 'a state of no trace');
  }
  const n = up.calls.length;
  await caller.call('up__look', { n: 1 }, { headers: { traceparent: traceparent(), tracestate: 'NOT=good' } });
  assert.equal(up.calls[n].headers.tracestate, undefined);
});

test('half of the traces are sent, by their ids', async (t) => {
  const { collector, gw, caller } = await setUp(t, { sample: '0.5', logs: false });
  const ids = Array.from({ length: 40 }, (_, i) => `${'1'.repeat(18)}${i % 2 ? '7f' : '80'}${'0'.repeat(11)}${i % 10}`);
  for (const id of ids) await caller.call('up__look', { n: 1 }, { headers: { traceparent: `00-${id}-${SPAN}-01` } });
  await gw.stop();
  assert.deepEqual(servers(collector).map((s) => s.traceId).sort(), ids.filter((_, i) => i % 2).sort());
});

test('metrics are those of /metrics, with the same names and values', async (t) => {
  const { collector, gw, caller } = await setUp(t, { metrics: true, metrics_every: '1s', traces: false, logs: false });
  await caller.call('up__pay', { n: 1 });
  await caller.call('up__pay', { n: 11 });
  const before = collector.metrics.length;
  await until(() => collector.metrics.length >= before + 2, 'metrics');
  const { text } = await gw.admin('/metrics');
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map((m) => m[1])
    .filter((name) => text.split('\n').some((l) => l.startsWith(name)));
  const latest = collector.metrics.at(-1);
  assert.deepEqual(latest.map((m) => m.name).filter((name) => !names.includes(name)), []);
  const of = (name) => latest.find((m) => m.name === name);
  const calls = of('writ_calls_total').sum.dataPoints.map((p) =>
    [...p.attributes.map((a) => a.value.stringValue), p.asInt]);
  assert.deepEqual(calls.sort(), [['up', 'pay', 'allow', '1'], ['up', 'pay', 'deny', '1']]);
  const [seconds] = of('writ_call_seconds').histogram.dataPoints;
  assert.equal(seconds.count, '2');
  assert.equal(seconds.bucketCounts.length, seconds.explicitBounds.length + 1);
  assert.equal(seconds.bucketCounts.reduce((sum, n) => sum + Number(n), 0), 2);
  assert.equal(of('writ_refusals_total').sum.dataPoints.find((p) =>
    p.attributes[0].value.stringValue === 'constraint_failed').asInt, '1');
  assert.equal(of('writ_upstream_up').gauge.dataPoints[0].asInt, '1');
});

test('a collector that fails gets the same again, after the time that it asked for, over one connection', async (t) => {
  const { collector, gw, caller } = await setUp(t, { logs: false });
  const answers = [{ status: 503 }, { status: 429, headers: { 'retry-after': '1' } }, { status: 200 }];
  const times = [];
  collector.answer = () => {
    times.push(Date.now());
    return answers.shift() ?? {};
  };
  await caller.call('up__look', { n: 1 });
  await gw.waitLog('telemetry_failed');
  await gw.waitLog('telemetry_works');
  const [a, b, c] = collector.requests;
  assert.equal(a.text, b.text);
  assert.equal(b.text, c.text);
  assert.ok(times[2] - times[1] >= 900, 'Retry-After');
  assert.equal(collector.connections, 1);
  assert.equal(gw.log.filter((l) => l.event === 'telemetry_failed').length, 1);
});

test('what a collector refuses is counted as lost, and not sent again', async (t) => {
  const { collector, gw, caller } = await setUp(t, { logs: false });
  collector.answer = () => ({ status: 400 });
  await caller.call('up__look', { n: 1 });
  const lost = await gw.waitLog('telemetry_lost');
  assert.ok(lost.records >= 4);
  assert.equal(await gw.metric('writ_telemetry_lost_total'), lost.records);
  assert.equal(collector.requests.length, 1);
  collector.answer = () => ({ body: { partialSuccess: { rejectedSpans: '2', errorMessage: 'x' } } });
  await caller.call('up__look', { n: 1 });
  await until(async () => (await gw.metric('writ_telemetry_lost_total')) === lost.records + 2, 'a partial success');
  assert.ok(await gw.metric('writ_telemetry_sent_total') >= 1);
});

test('no call waits for a collector that is silent or gone; memory is bounded, and a stop works', async (t) => {
  const { collector, gw, caller } = await setUp(t, {}, { loops: 1 });
  let release;
  collector.answer = () => new Promise((resolve) => { release = resolve; });
  await caller.call('up__look', { n: 0 });
  await until(() => collector.requests.length === 1, 'a request that is not answered');
  const many = 6000; // more than the ring has room for
  for (let sent = 0; sent < many; sent += 40)
    for (const answer of await Promise.all(Array.from({ length: 40 }, () => caller.call('up__look', { n: 1 }))))
      assert.ok(answer.result);
  assert.equal(servers(collector).length, 0, 'nothing was answered');
  collector.answer = undefined;
  release({});
  const lost = await gw.waitLog('telemetry_lost');
  await until(() => servers(collector).length + lost.records >= many, 'the others');
  const bytes = collector.requests.reduce((sum, r) => sum + r.text.length, 0);
  assert.ok(bytes > 3 << 20 && bytes < (4 << 20) + (1 << 16), `${bytes}: the room is not what is documented`);
  await collector.close();
  assert.ok((await caller.call('up__look', { n: 2 })).result);
  assert.deepEqual(await gw.stop(), { code: 0, signal: null });
  gw.verify();
});

test('what has not been sent is sent at the end', async (t) => {
  const { collector, gw, caller } = await setUp(t);
  await caller.call('up__look', { n: 1 });
  await gw.stop();
  assert.equal(servers(collector).length, 1);
  const lines = new Set(collector.lines.map((l) => l.spanId)); // the stop may cut an answer off: it is sent again
  assert.deepEqual([...lines], servers(collector).map((s) => s.spanId));
});

test('fields of a file go to the collector; a new file needs no restart, and no error shows it', async (t) => {
  const collector = await startCollector(t);
  const up = await startUpstream(t);
  const gw = prepare(t, { upstreams: { up: { http: up.url } }, tools: TOOLS,
    telemetry: { otlp: collector.origin, metrics: false, logs: false, headers_file: 'headers' } });
  const put = (text) => writeFileSync(join(gw.dir, 'headers'), text);
  put('Authorization: Bearer one\r\nX-Scope: a\n\n');
  await gw.start();
  const caller = new Caller(gw, { modern: true });
  await caller.call('up__look', { n: 1 });
  await until(() => collector.requests.length === 1, 'an export');
  assert.equal(collector.requests[0].headers.authorization, 'Bearer one');
  assert.equal(collector.requests[0].headers['x-scope'], 'a');
  for (const bad of ['Content-Type: text/plain secret', 'no secret colon', 'A: ', ': secret', 'A\tB: secret']) {
    const from = gw.log.length;
    put(bad);
    await caller.call('up__look', { n: 1 });
    const { why } = await gw.waitLog('telemetry_failed', from);
    assert.ok(!why.includes('secret'), why);
    put('Authorization: Bearer two');
    await gw.waitLog('telemetry_works', from);
  }
  assert.equal(collector.requests.at(-1).headers.authorization, 'Bearer two');
});

test('faults of the section are named', (t) => {
  const gw = prepare(t, { upstreams: {}, tools: {} });
  for (const [telemetry, what] of [
    [{ otlp: 'http://collector.example:4318' }, /telemetry\/otlp: must be an https URL/],
    [{ otlp: 'https://c.example/' }, /otlp/], [{ otlp: 'https://c.example?x' }, /otlp/],
    [{ sample: '0.5' }, /without otlp/],
    [{ otlp: 'https://c.example', sample: '1.1' }, /sample: must be a share/],
    [{ otlp: 'https://c.example', sample: '-0.1' }, /sample/], [{ otlp: 'https://c.example', sample: 'x' }, /sample/],
    [{ otlp: 'http://127.0.0.1:1', ca: '/ca.pem' }, /ca: is only for an https URL/],
    [{ otlp: 'https://c.example', incoming: 'trust' }, /incoming/],
  ]) {
    gw.configure({ ...gw.config, telemetry });
    const run = writ(['check', gw.configFile]);
    assert.notEqual(run.code, 0, JSON.stringify(telemetry));
    assert.match(run.out + run.err, what);
  }
});
