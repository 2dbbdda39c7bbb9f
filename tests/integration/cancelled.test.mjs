// A client cancels a call (notifications/cancelled, MCP 2025-11-25) that was not sent yet: it is never sent. A call
// that is under way at the tool server is for disconnects.test.mjs and stdio.test.mjs.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { startGateway, until } from '../support/js/gateway.mjs';
import { ANN, DEV, api, approve, setUp } from '../support/js/reviews.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { post } from '../support/js/stream.mjs';
import { sdk1 } from '../support/npm/peers.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

for (const path of ['/mcp/up', '/mcp']) {
  test(`a call that is held for its approval and cancelled does not run when it is approved (${path})`, async (t) => {
    const { up, gw } = await setUp(t, { approval: { hold: '30s', hold_retry: '30s' } });
    const session = await openSession(gw, { token: DEV.token, path });
    const name = path === '/mcp' ? 'up__pay' : 'pay';
    const open = async (id) => {
      const stream = await post(gw, session,
        session.callMessage(name, { amount: id }, { id, meta: { progressToken: `p${id}` } }));
      const reviews = async () => (await api(gw, ANN, '')).json.reviews;
      const review = await until(async () => (await reviews()).find((one) => one.state === 'open'), 'a review');
      return { stream, id: review.continuation_id ?? review.review_id ?? review.id };
    };
    const first = await open(55);
    assert.equal((await session.notify('notifications/cancelled', { requestId: '55' })).status, 202); // no call has it
    assert.equal((await session.notify('notifications/cancelled', { requestId: 55 })).status, 202);
    await approve(gw, first.id);
    await first.stream.done();
    assert.equal(up.calls.length, 0);
    const second = await open(56); // another one is held as before
    await approve(gw, second.id);
    await second.stream.done();
    assert.equal(up.calls.length, 1);
  });
}

test('a call that is cancelled while its target is observed is not sent, and its key is free', async (t) => {
  const { Client, StreamableHTTPClientTransport } = await sdk1();
  let observed;
  const looks = new Promise((resolve) => { observed = resolve; });
  let go;
  const gate = new Promise((resolve) => { go = resolve; });
  const up = await startUpstream(t, { tools: ['pay', 'stat'],
    onCall: async (c) => {
      if (c.name === 'stat') observed(await gate);
      return c.text('{"v":1}');
    } });
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } }, tools: { 'up/pay': { scope: 'p',
    state: { tool: 'up/stat', arguments: {}, timeout: '30s' },
    arguments: [{ arg: 'amount', op: 'type', value: 'number' }] } } });
  const client = new Client({ name: 'test', version: '1' }, { capabilities: {} });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gw.origin}/mcp/up`)));
  t.after(() => client.close());
  const pay = (options) => client.callTool({ name: 'pay', arguments: { amount: 1 } }, undefined, options);
  const stop = new AbortController();
  const cancelled = assert.rejects(pay({ signal: stop.signal }));
  await until(() => up.calls.some((call) => call.name === 'stat'), 'the probe');
  stop.abort();
  await cancelled;
  await until(() => up.arrivals.some((one) => one.method === 'notifications/cancelled'), 'the cancellation');
  go();
  await looks;
  await until(() => gw.decisions().some((one) => one.outcome === 'error'), 'the outcome');
  assert.equal(up.calls.filter((call) => call.name === 'pay').length, 0);
  assert.equal((await pay()).isError ?? false, false);
  assert.equal(up.calls.filter((call) => call.name === 'pay').length, 1);
});
