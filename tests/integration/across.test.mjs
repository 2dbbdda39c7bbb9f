// Gateways behind a load balancer without sticky sessions: each request of a client goes to another one, and the client
// gets what one gateway alone would give it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { CLIENTS, fresh, refusalOf, rules, useEverything } from '../support/js/clients.mjs';
import { sound, startFleet } from '../support/js/fleet.mjs';
import { startGateway, until } from '../support/js/gateway.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';
import { startRoundRobin } from '../support/servers/round-robin.mjs';
import { startSdkUpstream } from '../support/servers/sdk-upstream.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const NAMES = ['a', 'b', 'c'];

/** Three gateways in front of an official server, and the balancer in front of them. */
async function setUp(t, config = {}) {
  const up = await startSdkUpstream(t);
  const fleet = await startFleet(t, { upstreams: { up: { http: up.url } }, tools: rules('up'), ...config },
    { names: NAMES });
  const balancer = await startRoundRobin(t, fleet.map((g) => g.port));
  return { up, fleet, balancer };
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  for (const [path, prefix] of [['/mcp', 'up__'], ['/mcp/up', '']])
    test(`${name} works across three gateways, on ${path}`, async (t) => {
      const { balancer, fleet } = await setUp(t);
      await useEverything(connect, balancer.origin + path, prefix);
      assert.deepEqual(new Set(balancer.taken.map((x) => x.at)), new Set([0, 1, 2]));
      sound(fleet[0]);
    });
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  test(`${name} cancels a call that another gateway has under way`, async (t) => {
    const { balancer, up } = await setUp(t);
    const { call, close } = await connect(balancer.url);
    for (let i = 0; i < 3; i++) {
      const who = fresh(name);
      const abort = new AbortController();
      const running = call({ name: 'up__wait', arguments: { name: who } }, { signal: abort.signal });
      await until(() => up.waiting.has(who), 'the call to run');
      abort.abort(new Error('changed my mind'));
      await assert.rejects(running);
      await until(() => up.cancelled.includes(who), 'the server to hear of it');
      assert.match((await refusalOf(call({ name: 'up__wait', arguments: { name: who } }))).reason, /^duplicate_/);
    }
    await close();
  });
}

// ---- who owns a resource

/** A server of resources that answers a read of any URI, as many do; `has`: what it lists. */
const library = (name, has) => ({
  capabilities: { resources: { subscribe: true } },
  onMessage: (a) => {
    switch (a.method) {
      case 'resources/list': return (a.result({ resources: has.uris.map((uri) => ({ uri, name: uri })) }), true);
      case 'resources/templates/list': return (
        a.result({ resourceTemplates: has.templates.map((x) => ({ uriTemplate: x, name: x })) }), true);
      case 'resources/read': return (a.result({ contents: [{ uri: a.params.uri, text: name }] }), true);
      case 'resources/subscribe': return (a.result({}), true);
      default: return undefined;
    }
  },
});

test('every gateway finds the owner of a resource by the lists, also after a restart', async (t) => {
  const first = { uris: ['one:a', 'both:x'], templates: ['one:rows/{id}'] };
  const second = { uris: ['two:a', 'both:x'], templates: ['two:rows/{id}'] };
  const [one, two] = [await startUpstream(t, library('one', first)), await startUpstream(t, library('two', second))];
  const fleet = await startFleet(t, { upstreams: { one: { http: one.url }, two: { http: two.url } } },
    { names: NAMES });
  const s = await openSession(fleet[0]);
  const modern = new Caller(fleet[0], { modern: true });
  const reads = async () => {
    for (const gateway of fleet) {
      for (const caller of [s, modern]) {
        caller.gateway = gateway;
        for (const [uri, owner] of [['two:a', 'two'], ['two:rows/7', 'two'], ['one:a', 'one'], ['both:x', 'one'],
          ['unlisted:y', 'one']]) {
          const read = await caller.request('resources/read', { uri });
          assert.equal(read.result?.contents[0].text, owner, `${uri}: ${read.text}`);
        }
      }
      s.gateway = gateway;
      const before = two.arrivals.length;
      assert.ok((await s.request('resources/subscribe', { uri: 'two:rows/8' })).result);
      assert.equal(two.arrivals.at(-1).method, 'resources/subscribe');
      assert.equal(two.arrivals.length, before + 1, 'the lists are asked for once');
    }
  };
  await reads();
  for (const gateway of fleet) await gateway.restart();
  await reads();
  // one that does not answer delays nothing that another one lists
  await one.close();
  await fleet[0].restart();
  s.gateway = fleet[0];
  assert.equal((await s.request('resources/read', { uri: 'two:a' })).result?.contents[0].text, 'two');
});

test('a message whose fields have no room at an upstream is not sent without them', async (t) => {
  const [one, two] = [await startUpstream(t), await startUpstream(t)];
  const gateway = await startGateway(t, { upstreams: { one: { http: one.url }, two: { http: two.url } } });
  const s = await openSession(gateway);
  const arrived = [one, two].map((u) => u.arrivals.length);
  const headers = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`mcp-param-p${i}`, 'v']));
  for (const method of ['tools/list', 'resources/read']) {
    const answer = await s.request(method, { uri: 'x:y' }, { headers });
    assert.equal(answer.reason, 'upstream_unavailable', answer.text);
  }
  const own = /^resources\/(templates\/)?list$/; // of the gateway
  assert.deepEqual([one, two].map((u) => u.arrivals.filter((a) => !own.test(a.method)).length), arrived);
});
