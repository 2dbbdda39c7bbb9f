// A proxy between gateway and upstream breaks connections at every kind of place. Afterwards the ledger is compared
// with the upstream's own count: no call ran twice, executed calls ran, calls not sent did not.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { startGateway } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { startFaultProxy } from '../support/servers/faultproxy.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const ANY_N = { scope: 'pay', arguments: [{ arg: 'n', op: 'type', value: 'number' }] };
// what stalls is waited for, so only its time is short
const RULES = { 'up/pay': { ...ANY_N, timeout: '60s' }, 'up/stall': { ...ANY_N, timeout: '300ms' } };

const ANSWERS = {
  length: (a) => a.text('ran'),
  chunks: (a) => {
    a.res.writeHead(200, { 'content-type': 'application/json' });
    const text = JSON.stringify({ jsonrpc: '2.0', id: a.id, result: { content: [{ type: 'text', text: 'ran' }] } });
    a.res.write(text.slice(0, 20));
    a.res.end(text.slice(20));
  },
  events: (a) => {
    const stream = a.stream();
    stream.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } });
    stream.send({ jsonrpc: '2.0', id: a.id, result: { content: [{ type: 'text', text: 'ran' }] } });
    stream.end();
  },
};

/** Places in `n` bytes whose head ends at `head`. */
const places = (n, head) => [0, 1, Math.floor(head / 2), head - 2, head, head + 1, head + Math.floor((n - head) / 2),
  n - 1, n];

for (const [name, answer] of Object.entries(ANSWERS)) {
  test(`a connection broken at any byte never runs a call twice or falsifies the ledger: answers with ${name}`,
      async (t) => {
    const ran = new Map(); // the upstream's own count
    const up = await startUpstream(t);
    up.onCall = (a) => {
      ran.set(a.arguments.n, (ran.get(a.arguments.n) ?? 0) + 1);
      answer(a);
    };
    const proxy = await startFaultProxy(t, up.port);
    const gw = await startGateway(t, { upstreams: { up: { http: proxy.url } }, tools: RULES });
    const legacy = await openSession(gw), modern = new Caller(gw, { modern: true });
    let n = 1000;

    proxy.arm();
    up.clear();
    assert.equal((await legacy.call('up__pay', { n })).said, 'ran');
    const sizes = { request: proxy.seen.request, response: proxy.seen.response };
    const heads = { request: up.bytes.indexOf('\r\n\r\n') + 4, response: 150 };

    const plans = ['request', 'response'].flatMap((side) => places(sizes[side], heads[side]).flatMap((at) => (
      ['end', 'reset', 'stall', 'garbage'].map((how) => ({ side, at, how })))));
    for (const plan of plans) {
      const caller = n % 2 === 0 ? legacy : modern;
      const what = JSON.stringify({ ...plan, modern: caller.modern });
      const tool = plan.how === 'stall' ? 'up__stall' : 'up__pay';
      n++;
      proxy.arm(plan);
      const first = await caller.call(tool, { n });
      proxy.arm();
      const { outcome } = gw.show(gw.decisions().at(-1).decision_id);
      const count = ran.get(n) ?? 0;
      assert.ok(count <= 1, `${what}: ran ${count} times`);
      if (first.result !== undefined) assert.equal(outcome.outcome, 'executed', what);
      if (outcome.outcome === 'executed') assert.equal(count, 1, what);
      else assert.ok(['error', 'timeout'].includes(outcome.outcome), `${what}: ${outcome.outcome}`);

      const again = await caller.call(tool, { n });
      if (outcome.error_type === 'not_sent') {
        assert.equal(count, 0, what);
        assert.equal(again.said, 'ran', `${what}: ${again.text}`);
      } else {
        assert.equal(again.reason, 'duplicate_outcome', `${what}: ${again.text}`);
        assert.equal(ran.get(n) ?? 0, count, what);
      }
      if (outcome.outcome === 'executed') assert.match(outcome.tool_output_hash, /^sha256:/, what);
    }
    assert.ok([...ran.values()].every((count) => count === 1));
    gw.verify();
  });
}
