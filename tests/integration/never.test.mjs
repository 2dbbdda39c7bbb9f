// What must never happen: a forbidden tools/call reaches the upstream. Every test compares the upstream's own record
// with the ledger.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import net from 'node:net';
import { bearer, startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, LEGACY, MODERN, openSession, sendRaw } from '../support/js/rpc.mjs';

const RULE = {
  scope: 'payments/{currency}',
  arguments: [
    { arg: 'amount', op: 'gt', value: 0 }, { arg: 'amount', op: 'le', value: '500.00' },
    { arg: 'currency', op: 'in', value: ['EUR', 'USD'] },
    { arg: '/note/text', op: 'max_length', value: 20, optional: true },
  ],
};
const GOOD = { amount: 5, currency: 'EUR' };

let cleanups = [];
const scope = { after: (fn) => cleanups.push(fn) }; // what `before` starts ends with the file
let up, gw, legacy, modern, direct;

before(async () => {
  up = await startUpstream(scope, { tools: ['pay', 'Pay', 'PAY'] });
  gw = await startGateway(scope,
    { upstreams: { up: { http: up.url } }, tools: { 'up/pay': RULE },
      limits: { body: '1MiB', head_timeout: '500ms', body_timeout: '500ms' } });
  legacy = await openSession(gw);
  modern = new Caller(gw, { modern: true });
  direct = await openSession(gw, { path: '/mcp/up' });
});

after(async () => {
  for (const fn of cleanups.reverse()) await fn();
});

let round = 0;
/** Sends each case with every kind of caller, and asserts that no request reached the upstream. */
async function nothingArrives(cases, callers = [legacy, direct, modern]) {
  const calls = up.calls.length;
  const from = up.bytes.length;
  for (const [what, body, headers] of cases) {
    for (const caller of callers) {
      const sent = typeof body === 'function' ? body(caller) : body;
      let answer;
      try {
        answer = await caller.post(sent, { headers });
      } catch (error) {
        assert.match(error.code ?? error.message, /ECONNRESET|EPIPE|hang up/, what);
      }
      if (answer !== undefined) {
        const refused = answer.status >= 400 || answer.error !== undefined || answer.status === 202;
        assert.ok(refused, `${what}: ${answer.status} ${answer.text}`);
        assert.equal(answer.result, undefined, what);
      }
      assert.equal(up.calls.length, calls, `${what} reached the upstream`);
    }
  }
  assert.ok(!up.bytes.slice(from).includes('tools/call'), 'the upstream saw the words');
  assert.ok(!up.bytes.slice(from).includes('"pay"'), 'the upstream saw the name');
}

/** The same arguments never twice, so that no case is refused for being a duplicate. */
function fresh(args = GOOD) {
  return { ...args, amount: (++round % 499) + round / 1e6 };
}

/** The text of a good call with pieces replaced. */
function text(caller, edit, args = fresh()) {
  const name = caller.path === '/mcp' ? 'up__pay' : 'pay';
  return edit(JSON.stringify(caller.callMessage(name, args)));
}

/** Good calls reach the upstream: otherwise the tests below would show nothing. */
async function stillServes() {
  for (const caller of [legacy, direct, modern]) {
    const name = caller.path === '/mcp' ? 'up__pay' : 'pay';
    const n = up.calls.length;
    const answer = await caller.call(name, fresh());
    assert.equal(answer.said, `ran ${n + 1}`, answer.text);
    assert.equal(up.calls.length, n + 1);
  }
}

test('the callers of this file are served', stillServes);

test('a tools/call without an id does not reach the upstream', async () => {
  const without = (caller) => text(caller, (s) => s.replace(/"id":\d+,/, ''));
  const as = (id) => (caller) => text(caller, (s) => s.replace(/"id":\d+/, `"id":${id}`));
  await nothingArrives([
    ['no id', without], ['id null', as('null')], ['an array', as('[1]')], ['an object', as('{"a":1}')],
    ['true', as('true')],
    ['a fraction', as('1.5')], ['above 2^53', as('9007199254740993')], ['huge', as('1e300')],
    ['too long', as(`"${'x'.repeat(300)}"`)],
  ]);
  const answer = await legacy.post(without(legacy));
  assert.equal(answer.status, 400);
  assert.equal(answer.reason, 'request_without_id');
});

test('no call of a batch reaches the upstream', async () => {
  const call = (caller) => JSON.parse(text(caller, (s) => s));
  const ping = { jsonrpc: '2.0', id: 'p', method: 'ping' };
  await nothingArrives([
    ['one call', (c) => JSON.stringify([call(c)])], ['a call after a ping', (c) => JSON.stringify([ping, call(c)])],
    ['a call before a ping', (c) => JSON.stringify([call(c), ping])],
    ['two calls', (c) => JSON.stringify([call(c), call(c)])],
    ['a call without id', (c) => JSON.stringify([{ ...call(c), id: undefined }])],
    ['a batch in a batch', (c) => JSON.stringify([[call(c)]])],
    ['an empty batch', '[]'],
    ['20 000 calls',
      (c) => `[${Array(20_000).fill('{"jsonrpc":"2.0","id":1,"method":"ping"}').join()},${JSON.stringify(call(c))}]`],
    ['a call after another text', (c) => `${JSON.stringify(ping)}\n${JSON.stringify(call(c))}`],
    ['a call after a NUL', (c) => `${JSON.stringify(ping)}\0${JSON.stringify(call(c))}`],
  ]);
  const answer = await legacy.post(JSON.stringify([call(legacy)]));
  assert.equal(answer.status, 400);
  assert.equal(answer.reason, 'batch_refused');
});

test('a call with duplicate members does not reach the upstream, escaped twins included', async () => {
  const swap = (from, to) => (c) => text(c, (s) => {
    const changed = s.replace(from, to);
    assert.notEqual(changed, s, `${from} was found`);
    return changed;
  });
  const amount = /"amount":[\d.]+/;
  await nothingArrives([
    ['method first harmless', swap('"method":', '"method":"ping","method":')],
    ['method last harmless', swap('"method":"tools/call"', '"method":"tools/call","method":"ping"')],
    ['method as an escaped twin', swap('"method":"tools/call"', '"method":"tools/call","\\u006dethod":"ping"')],
    ['id', swap('"id":', '"id":1,"id":')], ['jsonrpc', swap('"jsonrpc":"2.0"', '"jsonrpc":"2.0","jsonrpc":"2.0"')],
    ['params', swap('"params":', '"params":{},"params":')],
    ['params after', (c) => text(c, (s) => `${s.slice(0, -1)},"params":{}}`)],
    ['name', swap('"name":"', '"name":"Pay","name":"')],
    ['name as an escaped twin', swap('"name":"', '"n\\u0061me":"Pay","name":"')],
    ['arguments', swap('"arguments":', '"arguments":{"amount":1,"currency":"EUR"},"arguments":')],
    ['arguments as an escaped twin', swap('"arguments":', '"\\u0061rguments":{},"arguments":')],
    ['an argument', swap(amount, '"amount":5000,"amount":5')],
    ['an argument, the bad one last', swap(amount, '"amount":5,"amount":5000')],
    ['an argument as an escaped twin', swap(amount, '"amount":5,"\\u0061mount":5000')],
    ['an argument as an escaped twin in upper-case digits', swap(amount, '"amount":5,"a\\u006Dount":5000')],
    ['the same value twice', swap(amount, '"amount":5,"amount":5')],
    ['inside an argument', swap(amount, '"amount":5,"note":{"text":"a","text":"b"}')],
    ['inside an array', swap(amount, '"amount":5,"note":{"text":"a","x":[{"y":1,"y":2}]}')],
    ['an empty name', swap(amount, '"amount":5,"":1,"":2')],
    ['_meta', swap('"params":{', '"params":{"_meta":{},"_meta":{},')],
  ]);
  await stillServes();
});

test('a tool name that differs in case or only looks alike does not reach the upstream', async () => {
  const named = (wire) =>
    [JSON.stringify(wire),
      (c) => JSON.stringify({ ...JSON.parse(text(c, (s) => s)), params: { name: wire, arguments: fresh() } })];
  const wires = ['up__Pay', 'up__PAY', 'UP__pay', 'Up__pay', 'Pay', 'PAY', 'up__pay ', ' up__pay', 'up__pay\n',
    'up__pay\0', 'up__pay\0x',
    'up__рay' /* Cyrillic */, 'up__pаy', 'up__ｐay' /* full width */, 'up__pay\u200b', '\u202eyap__pu', 'up/pay',
    'up_pay', 'up___pay', 'up__', '__pay', 'up__up__pay',
    'up__pay/', 'up__./pay', '', 'up__*', 'up__pa?', 'x'.repeat(600)];
  await nothingArrives(wires.map((w) => named(w)), [legacy, direct]);
  const odd = (json) => [`name ${json}`, (c) => text(c, (s) => s.replace(/"name":"[^"]*"/, `"name":${json}`))];
  await nothingArrives(['null', '1', 'true', '["pay"]', '{"name":"pay"}'].map(odd));
  await nothingArrives([['no name', (c) => text(c, (s) => s.replace(/"name":"[^"]*",/, ''))]]);
  const refused = await legacy.call('up__Pay', fresh());
  assert.equal(refused.reason, 'tool_not_listed');
  await stillServes();
});

test('a method, an envelope or params that differ in case or only look alike carry no call upstream', async () => {
  const swap = (from, to) => [`${from} -> ${to}`, (c) => text(c, (s) => s.replace(from, to)),
    { 'mcp-method': undefined }];
  const methods = ['Tools/Call', 'tools/Call', 'TOOLS/CALL', 'tools//call', 'tools/call ', ' tools/call',
    'tools/call\\u0000', 'tools\\u200b/call', 'tоols/call', 'tools／call',
    'tools/call/', 'tools\\\\call', 'tools.call'];
  await nothingArrives(methods.map((m) => swap('"tools/call"', `"${m}"`)));
  const members = [['"method"', '"Method"'], ['"method"', '"METHOD"'], ['"method"', '"method\\u0000"'],
    ['"params"', '"Params"'], ['"params"', '"param\\u017f"'],
    ['"name"', '"Name"'], ['"arguments"', '"Arguments"'], ['"arguments"', '"argument\\u017f"'], ['"id"', '"ID"'],
    ['"jsonrpc":"2.0"', '"jsonrpc":"1.0"'], ['"jsonrpc":"2.0",', ''],
    ['"params":', '"Params":{},"params":'], ['"name":', '"Name":"Pay","name":'],
    ['"name":', '"name\\u0000":"Pay","name":'], ['"arguments":', '"ARGUMENTS":{},"arguments":'],
    ['"method":', '"result":{},"method":'], ['"method":', '"Method":"x","method":']];
  await nothingArrives(members.map(([from, to]) => swap(from, to)));
  // the same string in other letters of JSON is the same call: judged, and let through once
  const n = up.calls.length;
  const same = await legacy.post(text(legacy, (s) => s.replace('"tools/call"', '"tools\\/\\u0063all"')
    .replace('"params"', '"\\u0070arams"')));
  assert.equal(same.said, `ran ${n + 1}`, same.text);
});

test('an argument that no constraint names does not reach the upstream', async () => {
  const withArgs = (what, args) =>
    [what, (c) => JSON.stringify(c.callMessage(c.path === '/mcp' ? 'up__pay' : 'pay', args))];
  await nothingArrives([
    withArgs('one more', { ...fresh(), urgent: true }), withArgs('one more that is null', { ...fresh(), urgent: null }),
    withArgs('the name in another case', { ...fresh(), Amount: 1 }),
    withArgs('the name with a space', { ...fresh(), 'amount ': 1 }),
    withArgs('the name with a NUL', { ...fresh(), 'amount\0': 1 }), withArgs('an empty name', { ...fresh(), '': 1 }),
    withArgs('beside a covered member', { ...fresh(), note: { text: 'x', more: 1 } }),
    withArgs('where an object was covered', { ...fresh(), note: 'x' }),
    withArgs('an array for an object', { ...fresh(), note: ['x'] }),
    withArgs('constructor', { ...fresh(), constructor: { a: 1 } }),
    withArgs('the long s', { ...fresh(), amount\u017f: 1 }),
    ['__proto__', (c) => text(c, (s) => s.replace('"arguments":{', '"arguments":{"__proto__":{"amount":1},'))],
    ['arguments as an array', (c) => text(c, (s) => s.replace(/"arguments":\{[^}]*\}/, '"arguments":[5,"EUR"]'))],
    ['arguments as a string', (c) => text(c, (s) => s.replace(/"arguments":\{[^}]*\}/, '"arguments":"{}"'))],
    ['arguments null', (c) => text(c, (s) => s.replace(/"arguments":\{[^}]*\}/, '"arguments":null'))],
    ['no arguments', (c) => text(c, (s) => s.replace(/,?"arguments":\{[^}]*\}/, ''))],
  ]);
  const answer = await legacy.call('up__pay', { ...fresh(), urgent: true });
  assert.equal(answer.reason, 'argument_not_listed');
  assert.ok(!answer.text.includes('true'), 'the offending value is not told');
});

test('-Infinity, "NaN" and a numeric string for a number do not reach the upstream', async () => {
  const amounts = ['-Infinity', 'Infinity', '+Infinity', 'NaN', '-NaN', 'nan', 'inf', '"NaN"', '"Infinity"',
    '"-Infinity"', '"5"', '"5.0"', '"5e0"', '" 5"', '"0x5"', '""',
    '1e400', '-1e400', '1e999999999', '0x5', '05', '+5', '.5', '5.', '5e', '1_0', '5,0', '5n', 'null', 'true', '[5]',
    '{"$numberDecimal":"5"}', '{}', '[]',
    '500.01', '500.0000000000000001', '0', '-0', '-1', '1e-400', '-1e-400', '9007199254740993',
    '123456789012345678901234567890', `5.${'0'.repeat(20_000)}1`];
  await nothingArrives(
    amounts.map((v) => [v.slice(0, 40), (c) => text(c, (s) => s.replace(/"amount":[\d.]+/, `"amount":${v}`))]));
  await stillServes();
});

test('the upstream receives the numbers that were judged', async () => {
  for (const [written, value] of [['5e2', 500], ['500.00', 500], ['4.99e2', 499], ['0.1', 0.1], ['1e-7', 1e-7],
      ['499.99999999999994', 499.99999999999994]]) {
    const n = up.calls.length;
    const answer = await legacy.post(text(legacy, (s) => s.replace(/"amount":[\d.]+/, `"amount":${written}`)),
      { headers: { 'idempotency-key': `n-${written}` } });
    assert.equal(answer.said, `ran ${n + 1}`, `${written}: ${answer.text}`);
    assert.equal(up.calls[n].arguments.amount, value);
  }
});

test('a call whose header names another tool or method is not forwarded', async () => {
  const call = (c) => text(c, (s) => s);
  const b64 = (s) => `=?base64?${Buffer.from(s).toString('base64')}?=`;
  const names = ['Pay', 'up__Pay', 'list', 'up__list', '', 'up__pay,up__pay', b64('up__Pay'), b64('list'),
    '=?base64?!!?=', '=?base64?dXBfX3BheQ?=', '=?BASE64?dXBfX3BheQ==?=', '=?base64?dXBfX3BheQ==', '%75p__pay'];
  await nothingArrives(names.map((n) => [`Mcp-Name ${n}`, call, { 'mcp-name': n }]));
  await nothingArrives(['tools/list', 'Tools/Call', 'ping', '',
    b64('tools/call')].map((m) => [`Mcp-Method ${m}`, call, { 'mcp-method': m }]));
  await nothingArrives([
    ['no Mcp-Name', call, { 'mcp-name': undefined }], ['no Mcp-Method', call, { 'mcp-method': undefined }],
    ['no version', call, { 'mcp-protocol-version': undefined }],
    ['another version', call, { 'mcp-protocol-version': LEGACY }],
    ['an unknown version', call, { 'mcp-protocol-version': '2030-01-01' }],
  ], [modern]);
  await nothingArrives([['a modern version without the claim', call, { 'mcp-protocol-version': MODERN }]], [legacy]);
  const answer = await modern.post(call(modern), { headers: { 'mcp-name': 'up__Pay' } });
  assert.equal(answer.status, 400);
  assert.equal(answer.error.code, -32020);
  await stillServes();
});

test('a call with a repeated header is not forwarded', async () => {
  const n = up.calls.length;
  const body = text(legacy, (s) => s);
  const head = (extra) =>
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${gw.port}\r\nContent-Type: application/json\r\nAccept: application/json, ` +
      `text/event-stream\r\n` +
    `Mcp-Session-Id: ${legacy.session}\r\n${extra}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
  for (const pair of ['Mcp-Name: up__pay\r\nMcp-Name: up__Pay\r\n',
    'Mcp-Method: tools/call\r\nMcp-Method: tools/list\r\n', 'Idempotency-Key: a\r\nIdempotency-Key: b\r\n',
    `Mcp-Session-Id: ${legacy.session}\r\n`, 'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n',
    'MCP-Protocol-Version: 2025-11-25\r\nMCP-Protocol-Version: 2025-06-18\r\n',
    'Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n']) {
    const answer = await sendRaw(gw.port, head(pair));
    assert.match(answer, /^HTTP\/1\.1 4\d\d /, pair);
    assert.equal(up.calls.length, n, pair);
  }
  assert.match(await sendRaw(gw.port, head('')), /ran \d+/);
});

test('a call cut off anywhere before its end does not reach the upstream', async () => {
  const n = up.calls.length;
  const body = text(legacy, (s) => s);
  const whole = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${gw.port}\r\nContent-Type: application/json\r\n` +
    `Mcp-Session-Id: ${legacy.session}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const cut = (at, how) => new Promise((resolve) => {
    const socket = net.connect(gw.port, '127.0.0.1', () => socket.write(whole.slice(0, at), () => socket[how]()));
    socket.on('data', () => {}).on('close', resolve).on('error', resolve);
  });
  const cuts = [];
  for (let at = whole.length - 1; at > 0; at -= 17) {
    for (const how of ['end', 'destroy', 'resetAndDestroy']) cuts.push(cut(at, how));
  }
  await Promise.all(cuts);
  assert.equal(up.calls.length, n);
  await stillServes();
});

test('a forged credential in any place never reaches the upstream', async () => {
  const forged = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJmb3JnZWQifQ.';
  const n = up.calls.length;
  const from = up.bytes.length;
  const metas = ['io.writ/credential', 'IO.WRIT/credential', 'io.writ/Credential', 'Io.Writ/Credential',
    'io.writ/anything', 'io.writ/'].map((name) => ({ [name]: forged }));
  const headers = ['writ-credential', 'Writ-Credential', 'WRIT-CREDENTIAL', 'writ_credential', 'x-writ-credential',
    'mcp-credential'].map((name) => ({ [name]: forged }));
  for (const caller of [legacy, direct, modern]) {
    const name = caller.path === '/mcp' ? 'up__pay' : 'pay';
    for (const meta of metas)
      assert.match((await caller.call(name, fresh(), { meta })).said ?? '', /^ran/, JSON.stringify(meta));
    for (const header of headers)
      assert.match((await caller.call(name, fresh(), { headers: header })).said ?? '', /^ran/, JSON.stringify(header));
  }
  assert.ok(!up.bytes.slice(from).includes(forged), 'a forged credential arrived');
  assert.equal(up.calls.length, n + 3 * (metas.length + headers.length));
  for (const call of up.calls.slice(n)) {
    assert.equal(call.headers['writ-credential'], call.meta['io.writ/credential']);
    assert.equal(JSON.parse(Buffer.from(call.credential.split('.')[1], 'base64url')).sub, 'dev');
    assert.deepEqual(Object.keys(call.meta).filter((k) => /writ/i.test(k)), ['io.writ/credential']);
  }
});

test('a name of Writ in the _meta of any other message is removed', async () => {
  const forged = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJmb3JnZWQifQ.';
  const from = up.bytes.length;
  const n = up.arrivals.length;
  const metas = ['io.writ/credential', 'IO.WRIT/credential', 'io.writ/anything'].map((name) =>
    ({ [name]: forged, kept: 1.50, 'io.writer/x': 'kept' }));
  const messages = [['initialize',
    { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'x', version: '1' } }], ['tools/list'],
    ['prompts/list'], ['resources/list'],
    ['resources/templates/list'], ['prompts/get', { name: 'up__p' }], ['prompts/get', { name: 'p' }],
    ['resources/read', { uri: 'x:y' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'up__p' }, argument: { name: 'a', value: 'b' } }],
    ['logging/setLevel', { level: 'info' }], ['server/discover'], ['tasks/get', { taskId: 't' }]];
  for (const meta of metas) {
    for (const spelling of ['_meta', '_Meta']) {
      for (const caller of [legacy, direct]) {
        for (const [method, params] of messages) await caller.request(method, { ...params, [spelling]: meta });
        for (const method of ['notifications/progress', 'notifications/cancelled', 'notifications/roots/list_changed'])
          await caller.notify(method, { progressToken: 1, progress: 1, requestId: 1, [spelling]: meta });
        await caller.post({ jsonrpc: '2.0', id: 'up/n/1', result: { roots: [], [spelling]: meta } });
      }
    }
    for (const [method, params] of messages.slice(1)) await modern.request(method, { ...params, _meta: meta });
  }
  // in a batch as well, in revisions that have batches
  const old = await openSession(gw, { version: '2025-03-26' });
  const revision = { headers: { 'mcp-protocol-version': '2025-03-26' } };
  const list = await old.post([1,
    2].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/list', params: { _meta: metas[id] } })), revision);
  assert.equal(list.status, 200, list.text);
  assert.ok(!up.bytes.slice(from).includes(forged), 'a forged credential arrived');
  assert.ok(up.arrivals.length - n > 100, 'the messages arrived');
  const metasArrived = up.arrivals.slice(n).map((a) => a.meta ?? a.params?._Meta ?? a.message.result?._meta ??
    a.message.result?._Meta).filter((m) => m !== undefined);
  assert.ok(metasArrived.filter((m) => m.kept === 1.5 && m['io.writer/x'] === 'kept').length > 100,
    'what else the client said arrived');
  assert.ok(up.bytes.slice(from).includes('1.5'), 'as it was written');
});

test('names of Writ in a server\'s message of any form reach no client', async (t) => {
  const forged = { reason: 'budget_exceeded', decision_id: 'dec_forged' };
  const meta = { 'io.writ/refusal': forged, 'IO.Writ/x': 'forged', kept: 1.5 };
  const hidden = (text) => text.replaceAll('io.writ/refusal', 'io.wr\\u0069t\\/refusal');
  const forms = {
    json: (a, result) => a.json({ jsonrpc: '2.0', id: a.id, result }),
    escaped: (a, result) => a.json(hidden(JSON.stringify({ jsonrpc: '2.0', id: a.id, result }))),
    event: (a, result) => {
      const s = a.stream();
      s.send({ jsonrpc: '2.0', method: 'notifications/progress',
        params: { progressToken: 1, progress: 1, _meta: meta } });
      s.send({ jsonrpc: '2.0', id: a.id, result });
      s.end();
    },
    refused: (a) => a.json(
      hidden(JSON.stringify({ jsonrpc: '2.0', id: a.id, error: { code: -32000, message: 'no', _meta: meta } })), 400),
  };
  const list = { prompts: [{ name: 'p' }], resources: [{ name: 'r', uri: 'x:y' }] };
  let form;
  const other = await startUpstream(t, { tools: ['pay'] });
  other.onMessage = (a) => (a.id !== undefined && form !== undefined ? (forms[form](a, {
    protocolVersion: LEGACY, serverInfo: { name: 's', version: '1' }, capabilities: { tools: {} },
    resultType: 'complete',
    supportedVersions: [MODERN], content: [{ type: 'text', text: 'ran' }], messages: [], contents: [], ...list,
    _meta: meta,
  }), true) : undefined);
  const gateway = await startGateway(t,
    { upstreams: { up: { http: other.url } }, tools: { 'up/pay': { ...RULE, duplicates: 'allow' } } });
  const callers = [await openSession(gateway), await openSession(gateway, { path: '/mcp/up' }),
    new Caller(gateway, { modern: true })];
  for (form of Object.keys(forms)) {
    for (const caller of callers) {
      const prefix = caller.path === '/mcp' ? 'up__' : '';
      const messages = [['tools/call', { name: `${prefix}pay`, arguments: fresh(), _meta: { progressToken: 1 } }],
        ['prompts/get', { name: `${prefix}p` }], ['prompts/list'], ['resources/list'],
        ['resources/read', { uri: 'x:y' }], caller.modern
          ? ['server/discover']
          : ['initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'x', version: '1' } }]];
      for (const [method, params] of messages) {
        const answer = await (method === 'initialize'
          ? new Caller(gateway, { path: caller.path }) : caller).request(method, params);
        const what = `${form} ${method} ${caller.path}: ${answer.status} ${answer.text}`;
        assert.ok(!/forged|io\.wr(i|\\u0069)t/i.test(answer.text), what);
        assert.equal(answer.reason, undefined, what);
        if (form !== 'refused') assert.equal(answer.result?._meta?.kept, 1.5, what);
      }
    }
  }
});

test('params outside the specification are refused and named', async () => {
  const more = ['Arguments', 'argument', '_Meta', 'meta', 'args', 'input', 'tool', 'x', '', 'n\u0430me', 'credential'];
  await nothingArrives(more.map((name) =>
    [name, (c) => text(c, (s) => s.replace('"arguments":', `"${name}":{"amount":1},"arguments":`))]));
  const answer = await legacy.post(text(legacy, (s) => s.replace('"arguments":', '"x":1,"arguments":')));
  assert.equal(answer.status, 400);
  assert.equal(answer.reason, 'malformed_request');
  assert.match(answer.error.message, /name, arguments, _meta, task, inputResponses and requestState/);
  await stillServes();
});

test('cookies, forwarding headers and proxy credentials of a client are not forwarded', async () => {
  const n = up.calls.length;
  await modern.call('up__pay', fresh(), {
    headers: { cookie: 'a=b', 'x-forwarded-for': '1.2.3.4', 'idempotency-key': 'mine', connection: 'Mcp-Name',
      'proxy-authorization': 'Basic eA==' },
  });
  const { headers } = up.calls[n];
  for (const name of ['cookie', 'x-forwarded-for', 'idempotency-key', 'proxy-authorization'])
    assert.equal(headers[name], undefined, name);
});

test('a call is forwarded only after its record is durable', async () => {
  const seen = [];
  up.onCall = (arrival) => {
    const id = JSON.parse(Buffer.from(arrival.credential.split('.')[1], 'base64url')).jti;
    seen.push(gw.show(id)); // another process reads the disk before the answer
    arrival.text('seen');
  };
  try {
    for (const caller of [legacy, direct, modern]) {
      const name = caller.path === '/mcp' ? 'up__pay' : 'pay';
      assert.equal((await caller.call(name, fresh())).said, 'seen');
    }
  } finally {
    up.onCall = undefined;
  }
  assert.equal(seen.length, 3);
  for (const { decision, outcome } of seen) {
    assert.equal(decision.decision, 'allow');
    assert.equal(decision.tool, 'pay');
    assert.equal(outcome ?? null, null, 'no outcome while the call runs');
  }
});

test('an answer is delivered only after its outcome is durable', async () => {
  for (const caller of [legacy, modern]) {
    const n = up.calls.length;
    const answer = await caller.call('up__pay', fresh());
    assert.ok(answer.result);
    const id = JSON.parse(Buffer.from(up.calls[n].credential.split('.')[1], 'base64url')).jti;
    assert.equal(gw.show(id).outcome.outcome, 'executed');
  }
});

test('a refused call is never recorded as allowed', async () => {
  const allowed = new Set(up.calls.map((c) => JSON.parse(Buffer.from(c.credential.split('.')[1], 'base64url')).jti));
  for (const d of gw.decisions()) {
    if (allowed.has(d.decision_id)) {
      assert.deepEqual([d.decision, d.granted, d.outcome], ['allow', true, 'executed'], d.decision_id);
    } else {
      assert.deepEqual([d.decision, d.granted, d.outcome], ['deny', false, 'blocked'], d.decision_id);
    }
  }
  assert.equal(gw.decisions(['--decision', 'allow']).length, up.calls.length, 'one allow for every call that arrived');
  const report = gw.verify();
  assert.equal(report.in_flight, 0);
});

test('a seq never restarts, neither after an orderly end nor after a crash', async (t) => {
  const up2 = await startUpstream(t, {});
  const gw2 = await startGateway(t, { upstreams: { up: { http: up2.url } }, tools: { 'up/pay': RULE } });
  const session = await openSession(gw2);
  for (const [i, signal] of ['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGKILL'].entries()) {
    assert.ok((await session.call('up__pay', { amount: i + 1, currency: 'EUR' })).result);
    assert.equal((await session.call('up__pay', { amount: i + 1, currency: 'CHF' })).reason, 'constraint_failed');
    assert.ok((await session.call('up__pay', { amount: i + 1, currency: 'USD' }, { boundary: 'stated' })).result);
    await gw2.restart(signal);
  }
  const names = [...new Set(gw2.decisions().map((d) => d.boundary_id))];
  assert.equal(names.length, 2);
  for (const name of names) {
    const { decisions, whole } = gw2.boundary(name);
    assert.ok(whole, name);
    assert.deepEqual(decisions.map((d) => d.seq), decisions.map((_, i) => i));
    assert.deepEqual(decisions.map((d) => d.running_count), decisions.map((_, i) => i + 1));
    assert.ok(decisions.every((d, i) => i === 0 || d.issued_at > decisions[i - 1].issued_at), 'times only grow');
  }
  gw2.verify();
});
