// A client that goes: of the stateless revision it has cancelled, of the older ones it has not, and one
// that only finished sending has done neither. Over TCP and TLS, before the first byte of an answer and
// in its stream, each as the server sees it and as the ledger says it.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { SOURCE, startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Streams } from '../support/servers/resumable.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

// no call ends on its own while a test waits for its cause
const RULES = { 'up/work': { scope: 'work', timeout: '60s', arguments: [{ arg: 'n', op: 'type', value: 'number' }] } };
const notice = (data) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } });
const SOON_MS = 1500; // a probe and its effects: for events that must not happen

let certs;
before(() => {
  certs = mkdtempSync(join(tmpdir(), 'writ-certs-'));
  execFileSync(join(SOURCE, 'certs/make-dev-certs'), ['-d', certs], { stdio: 'ignore' });
});
after(() => rmSync(certs, { recursive: true, force: true }));

async function setUp(t, secure, options = {}) {
  const up = await startUpstream(t, options);
  const files = { cert: join(certs, 'server.pem'), key: join(certs, 'server.key') };
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url } }, tools: RULES, ...(secure ? { tls: files } : {}) });
  return { up, gw };
}

/** A client that is one socket. */
function connect(gw, secure) {
  const options = { host: '127.0.0.1', port: gw.port, allowHalfOpen: true };
  const socket = secure
    ? tls.connect({ ...options, servername: 'localhost', ca: readFileSync(join(certs, 'ca.pem')) })
    : net.connect(options);
  const client = { socket, text: '', closed: false };
  socket.setEncoding('latin1').on('data', (d) => { client.text += d; });
  socket.on('error', () => {});
  socket.on('close', () => { client.closed = true; });
  client.has = (what) => until(() => client.text.includes(what), `${what} in ${client.text}`);
  return new Promise((resolve) => socket.on(secure ? 'secureConnect' : 'connect', () => resolve(client)));
}

async function request(gw, secure, headers, body) {
  const client = await connect(gw, secure);
  const text = JSON.stringify(body);
  const lines = Object.entries({ host: `127.0.0.1:${gw.port}`, ...headers, 'content-length': Buffer.byteLength(text) });
  client.socket.write(`POST /mcp HTTP/1.1\r\n${lines.map(([k, v]) => `${k}: ${v}\r\n`).join('')}\r\n${text}`);
  return client;
}

/** A session over the socket of a test: fetch does not accept the test's certificates. */
async function session(gw, secure) {
  if (!secure) return openSession(gw);
  const c = new Caller(gw);
  const opening = await request(gw, secure, c.headers(), c.message('initialize', {
    protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' },
  }));
  await opening.has('protocolVersion');
  c.session = /mcp-session-id: (\S+)/i.exec(opening.text)[1];
  opening.socket.destroy();
  return c;
}

const outcomes = (gw) => gw.decisions().map((d) => gw.show(d.decision_id).outcome);

for (const secure of [false, true]) {
  for (const era of ['modern', 'legacy']) {
    for (const when of ['before the first byte of the answer', 'in the stream of the answer']) {
      const where = `${when}, over ${secure ? 'TLS' : 'TCP'}`;
      const begin = async (t) => {
        const { up, gw } = await setUp(t, secure);
        const call = { open: true };
        up.onCall = (a) => {
          call.arrival = a;
          call.at = Date.now();
          a.closed.then(() => { call.open = false; });
          if (when.startsWith('in')) call.stream = a.stream();
          call.stream?.send(notice('one'));
        };
        call.answer = () => {
          const message = { jsonrpc: '2.0', id: call.arrival.id,
            result: { ...(era === 'modern' ? { resultType: 'complete' } : {}),
              content: [{ type: 'text', text: 'ran' }] } };
          if (call.stream === undefined) return call.arrival.json(message);
          call.stream.send(message);
          call.stream.end();
        };
        const c = era === 'modern' ? new Caller(gw, { modern: true }) : await session(gw, secure);
        const body = c.callMessage('up__work', { n: 1 });
        const client = await request(gw, secure, c.headers(body), body);
        await up.arrived(1);
        if (when.startsWith('in')) await client.has('one');
        return { up, gw, call, client };
      };

      test(`a ${era} client that leaves ${where}: ${era === 'modern' ? 'cancelled at once' : 'not cancelled'}`,
          async (t) => {
        const { up, gw, call, client } = await begin(t);
        client.socket.destroy();
        if (era === 'modern') {
          await until(() => !call.open, 'the server to see the call closed');
          await until(() => outcomes(gw)[0], 'the outcome');
          assert.equal(outcomes(gw)[0].outcome, 'error');
          assert.equal(outcomes(gw)[0].error_type, 'client_gone');
        } else {
          await new Promise((resolve) => setTimeout(resolve, SOON_MS));
          assert.ok(call.open, 'the server still has the call');
          call.answer();
          await until(() => outcomes(gw)[0], 'the outcome');
          assert.equal(outcomes(gw)[0].outcome, 'executed');
        }
        assert.equal(up.calls.length, 1);
        assert.ok(!up.arrivals.some((a) => a.method === 'notifications/cancelled'));
      });

      test(`a ${era} client that half-closes ${where}: it gets its answer`, async (t) => {
        const { gw, call, client } = await begin(t);
        client.socket.end();
        await new Promise((resolve) => setTimeout(resolve, SOON_MS));
        assert.ok(call.open, 'the server still has the call');
        call.answer();
        await client.has('"ran"');
        assert.equal(outcomes(gw)[0].outcome, 'executed');
      });
    }
  }

  test(`a legacy client leaves a stream with ids over ${secure ? 'TLS' : 'TCP'}: the call continues`, async (t) => {
    const streams = new Streams();
    const { up, gw } = await setUp(t, secure, { onGet: streams.onGet });
    let stream;
    up.onCall = (a) => { stream = streams.open(a).send(notice('one')); };
    const c = await session(gw, secure);
    const body = c.callMessage('up__work', { n: 1 });
    const client = await request(gw, secure, c.headers(body), body);
    await client.has('one');
    client.socket.destroy();
    await stream.closed();
    stream.send({ jsonrpc: '2.0', id: body.id, result: { content: [] } });
    stream.end();
    await until(() => outcomes(gw)[0], 'the outcome');
    assert.equal(outcomes(gw)[0].outcome, 'executed');
    assert.ok(!up.arrivals.some((a) => a.method === 'notifications/cancelled'));
  });
}

test('an ungoverned request ends when its client leaves, in both protocol families', async (t) => {
  const { up, gw } = await setUp(t, false);
  for (const c of [new Caller(gw, { modern: true }), await openSession(gw)]) {
    let arrival;
    up.onMessage = (a) => (a.method === 'prompts/get' ? (arrival = a, true) : undefined);
    const body = c.message('prompts/get', { name: 'up__p' });
    const client = await request(gw, false, c.headers(body, { 'mcp-name': c.modern ? 'up__p' : undefined }), body);
    await until(() => arrival, 'the request to arrive');
    client.socket.resetAndDestroy();
    await arrival.closed;
    assert.ok(!arrival.res.writableFinished);
  }
});
