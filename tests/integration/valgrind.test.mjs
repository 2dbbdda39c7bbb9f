// A short run of the gateway under valgrind: every kind of end of a call, a reload, an orderly end. No invalid access,
// no jump on uninitialised memory, nothing lost. No children: the valgrind of Debian 12 knows no pidfd_open.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { BIN, bearer, prepare } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const VALGRIND = ['-q', '--error-exitcode=99', '--leak-check=full', '--show-leak-kinds=definite,indirect',
  '--errors-for-leak-kinds=definite,indirect', '--track-fds=no'];

const ask = async (origin, who, path, body) => {
  const answer = await fetch(origin + path,
    { method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${who.token}`, 'content-type': 'application/json' }, body: body &&
      JSON.stringify(body) });
  return { status: answer.status, text: await answer.text() };
};

async function waits(session, n) {
  const answer = await session.call('up__asked', { n });
  assert.equal(answer.reason, 'approval_required');
  return answer.refusal.continuation_id;
}

async function vote(gw, who, id, choice) {
  const origin = `http://127.0.0.1:${gw.adminPort}`;
  const review = JSON.parse((await ask(origin, who, `/v1/reviews/${id}`)).text);
  return ask(origin, who, `/v1/reviews/${id}/vote`, { vote: choice, review_digest: review.review_digest });
}

/** A call that its caller makes. */
async function hooked(gw, agent) {
  const { decision } =
    JSON.parse((await ask(gw.origin, agent, '/v1/before', { tool: 'crew/w', arguments: { n: 1 } })).text);
  assert.equal((await ask(gw.origin, agent, '/v1/bind',
    { authorization: decision, tool: 'crew/w', arguments: { n: 1 } })).status, 200);
  assert.equal((await ask(gw.origin, agent, '/v1/after',
    { decision_id: decision.decision_id, intent_ref: decision.intent_ref, outcome: 'executed', result: {} })).status,
    200);
}

/** A stop, the list of revoked credentials, the end of the stop; and reads of the ledger. */
async function stopped(gw, who, session) {
  const origin = `http://127.0.0.1:${gw.adminPort}`;
  const { id } = JSON.parse((await ask(origin, who, '/v1/kills', { by: 'agent', value: 'dev', reason: 'test' })).text);
  assert.equal((await session.call('up__pay', { n: 3 })).reason, 'killed');
  assert.equal((await ask(gw.origin, who, '/.well-known/writ-status-list')).status, 200);
  assert.equal((await ask(origin, who, `/v1/kills/${id}/lift`, {})).status, 200);
  for (const path of ['/v1/kills', '/v1/ledger', '/v1/reviews', '/checkpoint'])
    assert.equal((await ask(origin, who, path)).status, 200, path);
}

test('a short run under valgrind reports no error', async (t) => {
  if (process.env.WRIT_SANITIZED) return t.skip('a sanitizer has its own memory, of which valgrind makes far too much');
  const trial = spawnSync('valgrind', ['-q', BIN, '--version'], { encoding: 'utf8' });
  if (trial.error !== undefined || trial.status !== 0) { // not installed
    console.error(`NOT TESTED: valgrind does not run ${BIN}: ${trial.error ?? trial.stderr.slice(0, 200)}`);
    return t.skip('valgrind does not run this program');
  }
  const agent = bearer('dev', { tenant: 'local' });
  const voter = bearer('ann', { tenant: 'local' });
  const up = await startUpstream(t, { tools: ['pay', 'again', 'asked'] });
  const any = [{ arg: 'n', op: 'type', value: 'any' }];
  const gw = prepare(t, {
    agents: [agent.entry, voter.entry], administrators: ['ann'],
    reviews: { one: { voters: [{ id: 'ann' }], quorum: '1' } },
    frameworks: { crew: { resource: 'urn:example:crew' } },
    upstreams: { up: { http: up.url }, dead: { http: 'http://127.0.0.1:1/' } },
    tools: {
      'up/pay': { scope: 'pay/{n}', arguments: [{ arg: 'n', op: 'le', value: 9 }], timeout: '30s' },
      'up/again': { scope: 'a', arguments: any, duplicates: 'replay' },
      'up/seen': { scope: 's', arguments: any, state: { tool: 'up/look' } }, 'dead/x': { scope: 'd' },
      'up/asked': { scope: 'asked', arguments: any, approval: { review: 'one' } },
      'crew/w': { scope: 'w', arguments: any },
    },
  }, { command: 'valgrind', before: [...VALGRIND, BIN], patience: 120_000 });
  await gw.start();
  up.onCall = (a) => ({
    5: () => {
      const s = a.stream();
      s.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
      s.send({ jsonrpc: '2.0', id: a.id, result: {} });
      s.end();
    },
    6: () => a.reset(), 7: () => a.json('<html>', 500, { 'content-type': 'text/html' }), 8: () => a.error(-32000, 'no'),
  }[a.arguments?.n] ?? (() => a.text('ok')))();
  const s = await openSession(gw, { token: agent.token });
  const modern = new Caller(gw, { token: agent.token, modern: true });
  const calls = [];
  for (const n of [1, 1, 99, 5, 6, 7, 8]) calls.push(await s.call('up__pay', { n }));
  for (let i = 0; i < 2; i++) calls.push(await modern.call('up__again', { n: 1 }, { key: 'k' }));
  calls.push(await s.call('up__seen', { n: 1 }), await s.call('dead__x'), await s.call('none__x'));
  assert.deepEqual(calls.map((c) => c.reason ?? 'ran'),
    ['ran', 'duplicate_outcome', 'constraint_failed', 'ran', 'upstream_failed', 'upstream_malformed', 'ran', 'ran',
      'ran', 'ran',
    'upstream_unavailable', 'tool_not_listed']);
  for (const method of ['tools/list', 'prompts/list', 'ping', 'nonsense']) await s.request(method);
  await s.post('{"jsonrpc":');
  for (const choice of ['approve', 'reject']) {
    const id = await waits(s, choice);
    assert.equal((await vote(gw, voter, id, choice)).status, 200);
    assert.equal((await s.call('up__asked', { n: choice })).reason, choice === 'approve'
      ? undefined : 'approval_rejected');
  }
  await hooked(gw, agent);
  await stopped(gw, voter, s);
  await new Caller(gw, { token: 'wrong' }).call('up__pay', { n: 1 });
  assert.equal((await gw.reload({ ...gw.config, credential: { lifetime: '30s' } })).event, 'reloaded');
  assert.equal((await gw.reload('tools: 7')).event, 'reload_refused');
  await s.call('up__pay', { n: 2 });
  await s.close();
  assert.match((await gw.admin('/metrics')).text, /writ_/);
  const { code, signal } = await gw.stop();
  const words = gw.log.filter((l) => l.event === 'not_json').map((l) => l.line).join('\n');
  assert.equal(words, '');
  assert.deepEqual([code, signal], [0, null]);
  gw.verify();
});
