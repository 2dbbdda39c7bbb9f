// Request heads: fields that repeat the body, fields that are forwarded, and fields that are not.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { SOURCE, startGateway } from '../support/js/gateway.mjs';
import { startSdkUpstream } from '../support/servers/sdk-upstream.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { openStream } from '../support/js/stream.mjs';

const ANY = [{ arg: '', op: 'type', value: 'any' }];
const RULE = { scope: 's', arguments: ANY, duplicates: 'allow' };
const TOOL = {
  name: 'query',
  inputSchema: {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' }, limit: { type: 'integer', 'x-mcp-header': 'Limit' },
      deep: { type: 'object', properties: { dry: { type: 'boolean', 'x-mcp-header': 'Dry' } } },
    },
  },
};

async function setUp(t, options = {}) {
  const up = await startUpstream(t, { tools: [TOOL], ...options });
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: { 'up/*': RULE } });
  return { up, gw, modern: new Caller(gw, { modern: true }), only: new Caller(gw, { modern: true, path: '/mcp/up' }) };
}

test('Mcp-Param headers must equal the arguments that the tool\'s definition names', async (t) => {
  const { up, gw, modern } = await setUp(t);
  const args = { region: 'Zürich', limit: 42, deep: { dry: true } };
  const good = { 'mcp-param-region': `=?base64?${Buffer.from('Zürich').toString('base64')}?=`,
    'mcp-param-limit': '42.0', 'MCP-PARAM-DRY': 'true' };
  assert.ok((await modern.call('up__query', args, { headers: { ...good, 'mcp-param-unknown': 'kept' } })).result,
    'the very first call');
  assert.equal(up.calls[0].headers['mcp-param-region'], good['mcp-param-region']);
  assert.equal(up.calls[0].headers['mcp-param-unknown'], 'kept');
  assert.equal(up.calls[0].headers['mcp-name'], 'query');
  const before = gw.decisions().length;
  for (const [change, what] of [
    [{ 'mcp-param-limit': '43' }, 'another value'], [{ 'mcp-param-region': 'Zurich' }, 'another text'],
    [{ 'mcp-param-limit': undefined }, 'a missing one'],
    [{ 'mcp-param-dry': 'True' }, 'another word'], [{ 'mcp-param-region': '=?base64?!?=' }, 'no base64'],
  ]) {
    const answer = await modern.call('up__query', args,
      { headers: { ...good, 'MCP-PARAM-DRY': undefined, 'mcp-param-dry': 'true', ...change } });
    assert.equal(answer.status, 400, what);
    assert.equal(answer.error.code, -32020, what);
    assert.ok(!answer.text.includes('Zürich'));
  }
  assert.equal((await modern.call('up__query', { region: null }, { headers: { 'mcp-param-region': 'x' } })).error.code,
    -32020, 'a header without an argument');
  assert.equal(up.calls.length, 1);
  assert.equal(gw.decisions().length, before, 'nothing was governed');
  assert.ok((await modern.call('up__query', { region: null })).result);

  const legacy = await openSession(gw);
  assert.ok((await legacy.call('up__query', args)).result, 'older revisions have no such headers');
  assert.equal((await legacy.call('up__query', args, { headers: { 'mcp-param-limit': '41' } })).error.code, -32020,
    'but one that is there must not lie');
});

test('Mcp-Method and Mcp-Name must equal the body; the upstream gets its own names', async (t) => {
  const { up, modern, only } = await setUp(t);
  for (const [caller, name] of [[modern, 'up__query'], [only, 'query']]) {
    assert.ok((await caller.call(name, {})).result);
    assert.equal(up.calls.at(-1).headers['mcp-name'], 'query');
    assert.equal(up.calls.at(-1).headers['mcp-method'], 'tools/call');
    const n = up.calls.length;
    for (const headers of [{ 'mcp-name': 'query2' }, { 'mcp-name': undefined }, { 'mcp-method': 'tools/list' },
        { 'mcp-method': undefined }, { 'mcp-name': name.toUpperCase() }, { 'mcp-protocol-version': '2025-11-25' }]) {
      const answer = await caller.call(name, {}, { headers });
      assert.equal(answer.status, 400, JSON.stringify(headers));
      assert.equal(answer.error.code, -32020, JSON.stringify(headers));
    }
    assert.ok((await caller.call(name, {},
      { headers: { 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` } })).result);
    assert.equal(up.calls.length, n + 1);
  }
});

test('hop-by-hop fields are removed; trace context is forwarded and recorded', async (t) => {
  const { up, gw, modern } = await setUp(t);
  const id = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${id}-00f067aa0ba902b7-01`;
  const answer = await modern.call('up__query', {}, {
    headers: {
      traceparent, tracestate: 'a=b', baggage: 'k=v', connection: 'close, Mcp-Param-Gone , x-private',
      'mcp-param-gone': '1', 'mcp-param-stays': '1', 'x-private': '1',
      te: 'trailers', 'proxy-authorization': 'Basic eA==', cookie: 'a=b', forwarded: 'for=1',
      'accept-encoding': 'gzip, deflate', 'accept-language': '*',
    },
  });
  assert.ok(answer.result, answer.text);
  const { headers } = up.calls[0];
  assert.deepEqual([headers.traceparent, headers.tracestate, headers.baggage, headers['mcp-param-stays']],
    [traceparent, 'a=b', 'k=v', '1']);
  for (const name of ['mcp-param-gone', 'x-private', 'te', 'proxy-authorization', 'cookie', 'forwarded',
    'accept-language', 'authorization']) assert.equal(headers[name], undefined, name);
  assert.equal(headers['accept-encoding'], 'identity');
  const trace = () => gw.show(gw.decisions().at(-1).decision_id).decision.extensions.writ.trace_id;
  assert.equal(trace(), id);
  await modern.call('up__query', {}, { meta: { traceparent, tracestate: 'x=y', baggage: 'q=r' } });
  assert.deepEqual([up.calls[1].meta.traceparent, up.calls[1].meta.tracestate, up.calls[1].meta.baggage],
    [traceparent, 'x=y', 'q=r']);
  assert.equal(trace(), id);
  for (const bad of ['x', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, traceparent.toUpperCase()]) {
    await modern.call('up__query', {}, { headers: { traceparent: bad } });
    assert.equal(trace(), undefined, bad);
  }
  gw.verify();
});

test('Accept in several lines is one list', async (t) => {
  const sdk = await startSdkUpstream(t);
  const gw = await startGateway(t, { upstreams: { sdk: { http: sdk.url },
    sd: { stdio: [process.execPath, resolve(SOURCE, 'tests/support/servers/sdk-stdio.mjs'), 'both', 'record'] } },
    tools: {} });
  const lines = { accept: ['application/json', 'text/event-stream'] };
  for (const path of ['/mcp', '/mcp/sdk', '/mcp/sd']) {
    const s = await openSession(gw, { path });
    const list = await s.request('tools/list', {}, { headers: lines });
    assert.equal(list.status, 200, `${path}: ${list.text}`);
    const stream = await openStream(gw, { method: 'GET', path, headers: s.headers(undefined,
      { 'content-type': undefined, ...lines }) });
    assert.equal(stream.status, 200, path);
    stream.leave();
    const none = await s.request('tools/list', {}, { headers: { accept: ['text/html', 'application/json'] } });
    if (path !== '/mcp') assert.equal(none.status, 406, `${path}: ${none.text}`);
  }
});

test('as many Mcp-Param fields as a head may have reach the server', async (t) => {
  const { up, gw, modern, only } = await setUp(t);
  const many = (n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`mcp-param-${i}`, `v${i}`]));
  for (const [caller, name] of [[modern, 'up__query'], [only, 'query']]) {
    const n = up.calls.length;
    const answer = await caller.call(name, {}, { headers: many(90) });
    assert.ok(answer.result, answer.text);
    assert.equal(Object.keys(up.calls.at(-1).headers).filter((h) => h.startsWith('mcp-param-')).length, 90);
    assert.ok((await caller.request('tools/list', {}, { headers: many(90) })).result);
    const before = gw.decisions().length;
    const refused = await caller.call(name, {}, { headers: many(101) });
    assert.deepEqual([refused.status, refused.reason], [431, 'head_too_large']);
    assert.equal(gw.decisions().length, before, 'nothing was decided');
    assert.equal(up.calls.length, n + 1);
  }
});

test('a 4xx answer of a server reaches the client unchanged', async (t) => {
  const { up, only } = await setUp(t);
  const body = '{"jsonrpc":"2.0","id":null,"error":{"code":-32022, "message":"x","data":{"supported":["2025-11-25"],' +
    '"requested":"2026-07-28"}}}';
  up.onMessage = (a) => {
    if (a.method === 'server/discover') return (a.json(body, 400), true);
    if (a.method === 'prompts/list')
      return (a.res.writeHead(405, { 'content-type': 'text/html' }).end('<script>1</script>'), true);
    if (a.method === 'resources/list') return (a.res.writeHead(404).end(), true);
    return undefined;
  };
  const refused = await only.request('server/discover');
  assert.deepEqual([refused.status, refused.text], [400, body]);
  const html = await only.request('prompts/list');
  assert.deepEqual([html.status, html.text], [405, '']);
  const nothing = await only.request('resources/list');
  assert.deepEqual([nothing.status, nothing.text], [404, '']);
});

test('a foreign Origin or Host is refused before any other check', async (t) => {
  const { up, modern } = await setUp(t);
  for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { host: 'evil.example' }]) {
    const answer = await modern.call('up__query', {}, { headers });
    assert.equal(answer.status, 403, JSON.stringify(headers));
  }
  assert.equal(up.requests.length, 0);
});
