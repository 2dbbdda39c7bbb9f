// An upstream closes idle connections before the gateway can see it: a request sent there is lost.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { startWire } from '../support/servers/faultproxy.mjs';
import { Caller } from '../support/js/rpc.mjs';

const WIRE_MS = 20;
const CALLERS = 90, ROUNDS = 5;
const RULE = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };

for (const [name, idleMs, says] of [['says how long it waits', 1000, true],
    ['does not say how long it waits', 2000, false]]) {
  test(`no call is lost to a server that closes idle connections and ${name}`, { timeout: 300_000 }, async (t) => {
    const up = await startUpstream(t, { tools: ['x'] });
    up.server.keepAliveTimeout = idleMs; // Node.js says it in seconds, as Keep-Alive: timeout=1
    if (!says) up.onMessage = (m) => void m.res.setHeader('keep-alive', 'timeout=never');
    const gw = await startGateway(t,
      { loops: 1, upstreams: { up: { http: await startWire(t, up.port, WIRE_MS) } }, tools: { 'up/x': RULE } });
    const reasons = {};
    const callers = Array.from({ length: CALLERS },
      () => new Caller(gw, { modern: true, path: '/mcp/up', keepAlive: true }));
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await Promise.all(callers.map((c, n) => c.call('x', { n, round })));
      for (const a of answers) {
        const what = a.result !== undefined ? 'ran' : a.reason;
        reasons[what] = (reasons[what] ?? 0) + 1;
      }
      await until(() => up.sockets.size === 0, 'the upstream to close its connections');
    }
    assert.deepEqual(reasons, { ran: CALLERS * ROUNDS });
    assert.equal(up.calls.length, CALLERS * ROUNDS);
  });
}

test('a connection that was just used serves the next call', async (t) => {
  const up = await startUpstream(t, { tools: ['x'] });
  const gw = await startGateway(t, { loops: 1, upstreams: { up: { http: up.url } }, tools: { 'up/x': RULE } });
  const c = new Caller(gw, { modern: true, path: '/mcp/up', keepAlive: true });
  await c.call('x', {});
  const before = up.connections;
  for (let n = 0; n < 100; n++) assert.ok((await c.call('x', { n })).result);
  assert.ok(up.connections - before < 20, `${up.connections - before} connections for 100 calls`);
});
