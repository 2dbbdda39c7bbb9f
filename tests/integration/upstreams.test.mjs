// Upstreams that fail, each as docs/streams.md says: the outcome, the client's error, and that the call was made once.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { SOURCE, startGateway } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const RULES = {
  'up/pay': { scope: 'pay', arguments: [{ arg: 'n', op: 'type', value: 'number' }] },
  'up/slow': { scope: 'slow', timeout: '400ms', arguments: [{ arg: 'n', op: 'type', value: 'number' }] },
};

const message = (a, text = 'first') =>
  ({ jsonrpc: '2.0', id: a.id,
    result: { ...(a.modern ? { resultType: 'complete' } : {}), content: [{ type: 'text', text }] } });
const notice = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } };
const whole = (a, text, more = '') => {
  const body = JSON.stringify(message(a, text));
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;
};
const JSON_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const HUGE = 100 << 20;

/** As fast as the other side takes it, until it takes no more. */
async function pour(res, bytes) {
  const piece = Buffer.alloc(1 << 20, 'x');
  let gone = false;
  res.on('close', () => { gone = true; });
  for (let i = 0; i < bytes && !gone; i += piece.length) {
    if (!res.write(piece)) await new Promise((resolve) => { res.once('drain', resolve); res.once('close', resolve); });
  }
  res.end();
}

const DEEDS = {
  'closes without an answer': (a) => a.destroy(),
  'closes in the head': (a) => a.bytes('HTTP/1.1 200 OK\r\nContent-Ty'),
  'closes in the body': (a) => a.bytes(`${JSON_HEAD}Content-Length: 500\r\n\r\n{"jsonrpc":"2.0"`),
  'closes before the last chunk': (a) => a.bytes(`${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`),
  'resets the connection': (a) => a.reset(),
  'says nothing': () => {},
  'stops in the middle': (a) => a.bytes(`${JSON_HEAD}Content-Length: 500\r\n\r\n{"jsonrpc"`, 'stay'),
  'ends a stream without the answer': (a) => { const s = a.stream(); s.send(notice); s.end(); },
  'breaks a stream without the answer': (a) => {
    const s = a.stream();
    s.send(notice);
    setTimeout(() => s.destroy(), 50);
  },
  'answers twice on a stream': (a) => {
    const s = a.stream();
    s.send(message(a));
    s.send(message(a, 'second'));
    s.end();
  },
  'sends bytes behind the end of its answer': (a) => a.bytes(`${whole(a, 'first')}\r\n{}`, 'stay'),
  'sends another answer at once': (a) => a.bytes(whole(a, 'first') + whole(a, 'second'), 'stay'),
  'sends another answer later': (a) => {
    a.bytes(whole(a, 'first'), 'stay');
    setTimeout(() => a.bytes(whole(a, 'second'), 'stay'), 20);
  },
  'answers another id': (a) => a.json({ ...message(a), id: 'other' }),
  'answers invalid JSON': (a) => a.json('{"jsonrpc":"2.0",'),
  'answers JSON of another content type': (a) => a.json(message(a), 200, { 'content-type': 'text/plain' }),
  'answers in gzip, though asked for identity': (a) => {
    assert.equal(a.headers['accept-encoding'], 'identity');
    a.res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    a.res.end(gzipSync(JSON.stringify(message(a))));
  },
  'answers nothing, with 200': (a) => a.json(''),
  'accepts, with 202': (a) => a.res.writeHead(202).end(),
  'answers 401': (a) => {
    a.res.writeHead(401, { 'www-authenticate': 'Bearer realm="theirs"' });
    a.res.end(JSON.stringify({ error: 'theirs' }));
  },
  'answers 403': (a) => a.json(message(a), 403),
  'redirects': (a) => a.res.writeHead(307, { location: `http://127.0.0.1:${a.req.socket.localPort}/theirs` }).end(),
  'answers 500 with a page': (a) => a.res.writeHead(500, { 'content-type': 'text/html' }).end('<h1>theirs</h1>'),
  'refuses with 400 and a JSON-RPC error': (a) => a.error(-32602, 'as it came', 400),
  'answers a JSON-RPC error': (a) => a.error(-32000, 'as it came'),
  'answers 100 MB': (a) => {
    a.res.writeHead(200, { 'content-type': 'application/json', 'content-length': HUGE });
    return pour(a.res, HUGE);
  },
  'streams 100 MB in one event': (a) => { a.stream().raw('data: '); return pour(a.res, HUGE); },
  'is not an HTTP server': (a) => a.bytes('220 smtp.example ESMTP\r\n'),
};
const SLOW = new Set(['says nothing', 'stops in the middle']);

const rows = new Map(readFileSync(join(SOURCE, 'docs/streams.md'), 'utf8').split('\n')
  .filter((line) => line.startsWith('| ')).map((line) => line.slice(1, -1).split('|').map((cell) => cell.trim()))
  .filter((cells) => DEEDS[cells[0]] !== undefined)
    .map(([deed, outcome, type, told]) => [deed, { outcome, type, told }]));

/** Kilobytes of memory that a process has, at this moment and at most. */
function memory(pid) {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)[1]);
  return { now: of('VmRSS'), most: of('VmHWM') };
}

for (const era of ['legacy', 'modern']) {
  test(`every failure has the documented outcome, for a ${era} client`, async (t) => {
    const up = await startUpstream(t);
    const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: RULES });
    const c = era === 'modern' ? new Caller(gw, { modern: true }) : await openSession(gw);
    const names = Object.keys(DEEDS);
    assert.deepEqual([...rows.keys()], names, 'the table of docs/streams.md');
    up.onCall = (a) => DEEDS[names[a.arguments.n]](a);
    for (const [n, name] of names.entries()) {
      const want = rows.get(name), tool = SLOW.has(name) ? 'up__slow' : 'up__pay';
      const answer = await c.call(tool, { n });
      const { outcome } = gw.show(gw.decisions().at(-1).decision_id);
      assert.equal(outcome.outcome, want.outcome, `${name}: ${JSON.stringify(outcome)}`);
      assert.equal(outcome.error_type ?? '', want.type, name);
      assert.ok(!/theirs/.test(answer.text + JSON.stringify(answer.headers)), `${name}: ${answer.text}`);
      if (want.told.endsWith('answer')) {
        assert.match(answer.text, want.told.startsWith('its') ? /as it came/ : /first/, name);
        assert.ok(!answer.text.includes('second'), name);
      } else {
        assert.equal(answer.reason, want.told, name);
        assert.equal(answer.refusal.execution, 'unknown', name);
      }
      const again = await c.call(tool, { n });
      assert.equal(again.reason, 'duplicate_outcome', `${name}: ${again.text}`);
      assert.equal(up.calls.filter((call) => call.arguments.n === n).length, 1, name);
      if (name.endsWith('later')) await sleep(50); // the next call does not get it
    }
    assert.ok(memory(gw.child.pid).most < 200_000, `${memory(gw.child.pid).most} kB`);
    gw.verify();
  });
}

test('an answer to another request is dropped, governed or not', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: RULES });
  const c = await openSession(gw, { path: '/mcp/up' });
  up.onMessage = (a) => (a.method === 'prompts/get' ? (a.json({ ...message(a), id: a.id - 1 }), true) : undefined);
  const answer = await c.request('prompts/get', { name: 'p' });
  assert.equal(answer.status, 502);
  assert.equal(answer.reason, 'upstream_malformed');
});

test('the same faults on ungoverned requests get the same errors', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { upstreams: { up: { http: up.url, timeout: '1s' } }, tools: RULES });
  const c = await openSession(gw, { path: '/mcp/up' });
  let deed;
  up.onMessage = (a) => (a.method === 'prompts/get' ? (DEEDS[deed](a), true) : undefined);
  for (deed of Object.keys(DEEDS)) {
    const answer = await c.request('prompts/get', { name: 'p' })
      .catch((error) => ({ cut: error, text: '', headers: {} }));
    const { told } = rows.get(deed);
    if (deed.endsWith('later')) await sleep(50);
    assert.ok(!/theirs/.test(answer.text + JSON.stringify(answer.headers)), `${deed}: ${answer.text}`);
    if (answer.cut !== undefined || answer.isStream) {
      assert.match(deed, /stream/); // it had begun, so it is forwarded unchanged, whole or cut
    } else if (told.endsWith('answer')) {
      assert.match(answer.text, told.startsWith('its') ? /as it came/ : /first/, deed);
    } else {
      assert.equal(answer.reason, told, `${deed}: ${answer.status} ${answer.text}`);
    }
  }
});
