// Methods unknown to the gateway: extensions reach their one server unchanged; a method that a server could take for a
// call, or that has rules of its own, is not forwarded.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { startGateway } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, MODERN, openSession, send } from '../support/js/rpc.mjs';

const RULE = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };
const STDIO = new URL('../support/servers/stdio-server.mjs', import.meta.url).pathname;
const SPELLINGS = ['Tools/Call', 'tools/call ', ' tools/call', 'tools//call', '/tools/call', 'tools/call/',
  'tools.call', 'tools_call', 'toolsCall', 'TOOLS/CALL',
  'tools%2Fcall', 'tools\\call', 'tools/call\u0000', 'tools/call\n', 'ｔools/call', 'tools\u200b/call', 'v2/tools/call',
  'tools/callBatch', 'tools/invoke', 'tool.run',
  'Resources/Read', 'tasks//get', 'TASKS/cancel', 'Server/Discover', 'Initialize', 'resources/Subscribe', '',
  `x/${'y'.repeat(200)}`];

async function setUp(t, names) {
  const onMessage = (m) => (/^x\//.test(m.method ?? '') && m.id !== undefined
    ? (m.result({ heard: m.params?.name ?? m.params?.uri ?? 'it' }), true)
    : m.method === 'resources/list' ? (m.result({ resources: [{ uri: 'test://a', name: 'a' }] }), true)
      : m.method === 'none/such' ? (m.error(-32601, 'no none/such', 404), true) : undefined);
  const ups = {};
  for (const name of names)
    ups[name] = await startUpstream(t, { tools: ['do'], capabilities: { tools: {}, resources: {} }, onMessage });
  ups[names[0]].onMessage = (m) => (m.method === 'resources/list' ? (m.result({ resources: [] }), true) : onMessage(m));
  const gw = await startGateway(t, {
    upstreams: { ...Object.fromEntries(names.map((n) => [n, { http: ups[n].url }])),
      child: { stdio: [process.execPath, STDIO, '/dev/null'] } },
    tools: Object.fromEntries([...names, 'child'].map((n) => [`${n}/**`, RULE])),
  });
  return { ups, gw };
}

const seen = (up, prefix = 'x/') => up.arrivals.filter((m) => m.method?.startsWith(prefix)).map((m) => m.message);
const both = async (gw, options) => [await openSession(gw, options), new Caller(gw, { ...options, modern: true })];

test('an extension method reaches the server of the endpoint unchanged, in both families', async (t) => {
  const { ups, gw } = await setUp(t, ['a', 'b']);
  for (const c of await both(gw, { path: '/mcp/a' })) {
    const params = { name: 'b__n', z: [1.50, { deep: null }] };
    assert.equal((await c.request('x/act', params)).result.heard, 'b__n');
    const { _meta, ...came } = seen(ups.a).at(-1).params;
    assert.deepEqual(came, params, 'names that it has are its own');
    assert.equal((await c.notify('x/notice', {})).status, 202);
    assert.equal(seen(ups.a).at(-1).method, 'x/notice');
  }
  assert.equal(seen(ups.b).length, 0);
  const modern = new Caller(gw, { path: '/mcp/a', modern: true });
  const gone = await modern.request('none/such');
  assert.deepEqual([gone.error.code, gone.error.message, gone.refusal], [-32601, 'no none/such', undefined],
    'it is for the server to say');
  // over stdio as well
  const child = await (await openSession(gw, { path: '/mcp/child' })).request('x/act');
  assert.deepEqual([child.status, child.error.code, child.refusal], [200, -32601, undefined]);
});

test('on a merged endpoint an extension method goes to the upstream of its name or URI, or nowhere', async (t) => {
  const { ups, gw } = await setUp(t, ['a', 'b']);
  for (const c of await both(gw)) {
    assert.equal((await c.request('x/act', { name: 'b__n' })).result.heard, 'n');
    await c.request('resources/list');
    assert.equal((await c.request('x/act', { uri: 'test://a' })).result.heard, 'test://a');
    assert.deepEqual(seen(ups.b).slice(-2).map((m) => m.params.name ?? m.params.uri), ['n', 'test://a']);
    for (const params of [undefined, { name: 'n' }, { name: 'nowhere__n' }, { uri: 'test://unknown' }]) {
      const lost = await c.request('x/act', params);
      assert.deepEqual([lost.status, lost.error.code], [c.modern ? 404 : 200, -32601]);
      assert.match(lost.error.message, /send it to the endpoint of that server, \/mcp\/NAME/);
    }
  }
  assert.equal(seen(ups.a).length, 0);
});

test('a method that a server could take for a governed one is not forwarded', async (t) => {
  const { ups, gw } = await setUp(t, ['a', 'b']);
  for (const path of ['/mcp/a', '/mcp/child', '/mcp']) {
    const [legacy, modern] = await both(gw, { path });
    const before = ups.a.arrivals.length;
    for (const method of SPELLINGS) {
      const refused = await legacy.request(method, { name: path === '/mcp' ? 'a__do' : 'do', arguments: {} });
      assert.deepEqual([refused.error?.code, refused.error?.message, refused.reason],
        [-32601, 'Method not found', 'malformed_request'], method);
      if (/^[!-~]+$/.test(method))
        assert.deepEqual(
          [(await modern.request(method, { name: 'do' }, { headers: { 'mcp-name': undefined } })).status], [404],
          method);
      await legacy.notify(method, { name: 'do' });
    }
    assert.equal(ups.a.arrivals.length, before, path);
  }
  assert.equal(ups.a.calls.length, 0);
});

test('on a merged endpoint removed methods and unknown revisions are refused', async (t) => {
  const { gw } = await setUp(t, ['a', 'b']);
  const [legacy, modern] = await both(gw);
  for (const method of ['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']) {
    const gone = await modern.request(method);
    assert.deepEqual([gone.status, gone.error.code], [404, -32601], method);
  }
  assert.deepEqual((await legacy.request('ping')).result, {});
  assert.equal((await legacy.request('resources/subscribe')).error.code, -32602);
  const old = await legacy.request('ping', undefined, { headers: { 'mcp-protocol-version': '1999-01-01' } });
  assert.deepEqual([old.status, old.error.code], [400, -32000]);
  const KEY = 'io.modelcontextprotocol/protocolVersion';
  for (const method of ['ping', 'tools/list', 'server/discover']) {
    const body = { jsonrpc: '2.0', id: 1, method,
      params: { _meta: { [KEY]: '2099-01-01', 'io.modelcontextprotocol/clientCapabilities': {} } } };
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream',
      'mcp-method': method, 'mcp-protocol-version': '2099-01-01' };
    const far = await send(gw.origin, { headers, body });
    assert.deepEqual([far.status, far.error.code, far.error.data.supported, far.error.data.requested],
      [400, -32022, [MODERN], '2099-01-01']);
  }
});
