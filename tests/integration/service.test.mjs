// A gateway under a service manager: it takes the sockets that it is started with, says when it is ready, and a
// restart refuses no call, because the manager holds the sockets meanwhile.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import http from 'node:http';
import { join } from 'node:path';
import { BIN, SOURCE, linesOf, prepare, until } from '../support/js/gateway.mjs';
import { reservePort } from '../support/js/ports.mjs';
import { sdk1 } from '../support/npm/peers.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const MANAGER = join(SOURCE, 'tests/support/servers/service-manager.py');
const RULE = { scope: 's', arguments: [{ arg: 'n', op: 'ge', value: 0 }] };

async function managed(t, config = {}, held = undefined) {
  const up = await startUpstream(t, { tools: ['run'] });
  const ports = [await reservePort(), await reservePort()];
  const options = { command: 'python3' };
  const gw = prepare(t, { listen: `127.0.0.1:${ports[0]}`, admin_listen: `127.0.0.1:${ports[1]}`,
    upstreams: { up: { http: up.url } }, tools: { 'up/run': RULE }, ...config }, options);
  options.before = [MANAGER, gw.path('notices'), ...(held ?? ports).map((port) => `127.0.0.1:${port}`), '--', BIN];
  return { up, gw, ports, notices: () => linesOf(gw.path('notices')) };
}

async function connect(t, gw) {
  const { Client, StreamableHTTPClientTransport } = await sdk1();
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gw.port}/mcp/up`)));
  t.after(() => client.close());
  return (n) => client.callTool({ name: 'run', arguments: { n } });
}

for (const loops of [1, 3]) {
  test(`a restart refuses no call, with ${loops} loops`, async (t) => {
    const { up, gw, notices } = await managed(t, { loops });
    await gw.start();
    const calls = await connect(t, gw);
    let n = 0, stop = false;
    const failed = [];
    const calling = Promise.all([...Array(4)].map(async () => {
      while (!stop) await calls(n++).catch((error) => failed.push(error.message));
    }));
    for (let round = 1; round <= 3; round++) {
      await until(() => n > 50 * round);
      gw.child.kill('SIGUSR1');
      await until(() => gw.log.filter((line) => line.event === 'serving').length > round);
    }
    await until(() => n > 250);
    stop = true;
    await calling;
    assert.deepEqual(failed, []);
    assert.equal(up.calls.length, n);
    assert.equal(new Set(up.calls.map((call) => JSON.stringify(call.params.arguments))).size, n);
    assert.deepEqual(notices(), [...Array(3)].flatMap(() => ['READY=1', 'STOPPING=1']).concat('READY=1'));
    gw.verify();
  });
}

test('a reload says that it begins and when it is done', async (t) => {
  const { gw, notices } = await managed(t);
  await gw.start();
  await gw.reload({ ...gw.config, tools: {} });
  await until(() => notices().length === 3);
  assert.match(notices()[1], /^RELOADING=1 MONOTONIC_USEC=\d+$/);
  assert.equal(notices()[2], 'READY=1');
});

test('a listener without a socket of the manager binds its own', async (t) => {
  const { gw, ports } = await managed(t);
  gw.options.before.splice(3, 1);
  await gw.start();
  assert.equal(gw.adminPort, ports[1]);
  assert.equal((await gw.admin('/healthz')).status, 200);
});

test('a socket for another address stops the start', async (t) => {
  const { gw } = await managed(t, {}, [await reservePort()]);
  await assert.rejects(gw.start(), /ListenStream= of the socket unit/);
});

test('a descriptor that does not listen stops the start', async (t) => {
  const { gw } = await managed(t);
  const run = spawnSync('sh', ['-c', 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@" 3</dev/null', 'sh', BIN, 'serve',
    gw.configFile], { encoding: 'utf8' });
  assert.equal(run.status, 3);
  assert.match(run.stderr, /descriptor 3 of the service manager is not a socket that listens/);
});

test('a gateway that ends opens no further stream, and says so', async (t) => {
  const { gw, notices } = await managed(t);
  await gw.start();
  for (let round = 1; ; round++) {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (method, headers, body) => new Promise((resolve, reject) => {
      const request = http.request({ host: '127.0.0.1', port: gw.port, path: '/mcp/up', method, agent,
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers } });
      request.on('error', reject).on('response', (response) => resolve(response)).end(body);
    });
    const text = async (response) => (await response.setEncoding('utf8').toArray()).join('');
    const opened = await ask('POST', {}, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } } }));
    await text(opened);
    gw.child.kill('SIGUSR1');
    await until(() => notices().filter((line) => line === 'STOPPING=1').length === round);
    const stream = await ask('GET', { 'mcp-session-id': opened.headers['mcp-session-id'] });
    if (stream.statusCode === 503) {
      assert.equal(JSON.parse(await text(stream)).error.data.reason, 'shutting_down');
      agent.destroy();
      return;
    }
    agent.destroy(); // the old gateway had ended before: the new one opened it
    assert.ok(round < 20);
  }
});
