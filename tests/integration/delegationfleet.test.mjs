// Delegations that voters set, when several gateways write one ledger.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import '../support/js/on-postgres.mjs';
import { sound, startFleet } from '../support/js/fleet.mjs';
import { writ } from '../support/js/gateway.mjs';
import { ANN, BOB, DEV, OPS, api, asks, config, vote } from '../support/js/reviews.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const review = (delegations) => ({ voters: [{ id: 'ann' }, { id: 'bob' }, { id: 'eve' }], quorum: '2',
  administrators: [], delegations: { longest: '7d', ...delegations } });

async function setUp(t, delegations) {
  const up = await startUpstream(t);
  const [a, b] = await startFleet(t, config(up, { review: review(delegations) }));
  return { a, b, at_a: await openSession(a, { token: DEV.token }), at_b: await openSession(b, { token: DEV.token }) };
}

async function post(gw, who, path, body) {
  const res = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/delegations${path}`, { method: 'POST',
    headers: { authorization: `Bearer ${who.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body) });
  return { status: res.status, json: await res.json() };
}
const set = (gw, who, delegate) =>
  post(gw, who, '', { delegate, until: new Date(Date.now() + 3600_000).toISOString() });

test('another gateway honours a delegation and its end at once, in open reviews too', async (t) => {
  const { a, b, at_a, at_b } = await setUp(t, { stand_ins: ['ops'] });
  const { json: one } = await set(a, BOB, 'ops');
  const id = await asks(at_b, { amount: 1 });
  const { json } = await api(b, OPS, `/${id}`);
  assert.deepEqual([json.voters[1].delegate, json.voters[1].delegation.digest, json.may],
    ['ops', one.digest, ['vote']]);
  assert.equal((await vote(b, OPS, id, 'approve')).json.voters[1].speaker, 'ops');

  assert.equal((await post(a, BOB, `/${one.id}/revoke`, {})).status, 200);
  const { json: late } = await vote(b, ANN, id, 'approve');
  assert.deepEqual([late.state, late.voters[1].revoked, late.voters[1].speaker], ['open', true, undefined]);
  assert.equal((await vote(b, OPS, id, 'approve')).status, 404);
  assert.equal((await vote(a, BOB, id, 'approve')).json.state, 'approved');
  for (const gw of [a, b]) assert.match(writ(['review', 'replay', gw.ledgerFile, id]).out, /^same: accept, /);
  const other = await asks(at_a, { amount: 2 });
  assert.equal((await api(b, ANN, `/${other}`)).json.voters[1].delegate, undefined);
  sound(a);
});

test('two statements at two gateways never close a cycle', async (t) => {
  const { a, b } = await setUp(t, { several: true });
  for (let round = 0; round < 8; round++) {
    const both = await Promise.all([set(a, BOB, 'ann'), set(b, ANN, 'bob')]);
    assert.deepEqual(both.map((r) => r.status).sort(), [200, 409]);
    assert.equal(both.find((r) => r.status === 409).json.reason, 'delegation_cycle');
    const { json } = both.find((r) => r.status === 200);
    const voter = json.voter === 'bob' ? BOB : ANN;
    assert.equal((await post(round % 2 ? a : b, voter, `/${json.id}/revoke`, {})).status, 200);
  }
  sound(b);
});

test('a gateway that joins later knows them', async (t) => {
  const { a, b, at_b } = await setUp(t, { stand_ins: ['ops'] });
  await set(a, BOB, 'ops');
  await b.restart('SIGKILL');
  const s = await openSession(b, { token: DEV.token });
  assert.ok(at_b);
  const id = await asks(s, { amount: 1 });
  assert.equal((await api(a, ANN, `/${id}`)).json.voters[1].delegate, 'ops');
  sound(a);
});
