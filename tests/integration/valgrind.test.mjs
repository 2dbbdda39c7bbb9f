// A short run of the gateway under valgrind: every kind of end of a call, a reload, an orderly end. No invalid access, no
// jump on memory that nobody wrote, nothing lost. No children: the valgrind of Debian 12 knows no pidfd_open.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { BIN, bearer, prepare } from '../support/gateway.mjs';
import { startUpstream } from '../support/upstream.mjs';
import { Caller, openSession } from '../support/rpc.mjs';

const VALGRIND = ['-q', '--error-exitcode=99', '--leak-check=full', '--show-leak-kinds=definite,indirect', '--errors-for-leak-kinds=definite,indirect', '--track-fds=no'];

test('a short run under valgrind is clean', async (t) => {
  const trial = spawnSync('valgrind', ['-q', BIN, '--version'], { encoding: 'utf8' });
  if (trial.error !== undefined || trial.status !== 0) { // not installed, or a program with a sanitizer of its own
    console.error(`NOT TESTED: valgrind does not run ${BIN}: ${trial.error ?? trial.stderr.slice(0, 200)}`);
    return t.skip('valgrind does not run this program');
  }
  const agent = bearer('dev', { tenant: 'local' });
  const up = await startUpstream(t, { tools: ['pay', 'again'] });
  const any = [{ arg: 'n', op: 'type', value: 'any' }];
  const gw = prepare(t, {
    agents: [agent.entry],
    upstreams: { up: { http: up.url }, dead: { http: 'http://127.0.0.1:1/' } },
    tools: {
      'up/pay': { scope: 'pay/{n}', arguments: [{ arg: 'n', op: 'le', value: 9 }], timeout: '30s' }, 'up/again': { scope: 'a', arguments: any, duplicates: 'replay' },
      'up/seen': { scope: 's', arguments: any, state: { tool: 'up/look' } }, 'dead/x': { scope: 'd' },
    },
  }, { command: 'valgrind', before: [...VALGRIND, BIN], patience: 120_000 });
  await gw.start();
  up.onCall = (a) => ({
    5: () => { const s = a.stream(); s.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }); s.send({ jsonrpc: '2.0', id: a.id, result: {} }); s.end(); },
    6: () => a.reset(), 7: () => a.json('<html>', 500, { 'content-type': 'text/html' }), 8: () => a.error(-32000, 'no'),
  }[a.arguments?.n] ?? (() => a.text('ok')))();
  const s = await openSession(gw, { token: agent.token });
  const modern = new Caller(gw, { token: agent.token, modern: true });
  const calls = [];
  for (const n of [1, 1, 99, 5, 6, 7, 8]) calls.push(await s.call('up__pay', { n }));
  for (let i = 0; i < 2; i++) calls.push(await modern.call('up__again', { n: 1 }, { key: 'k' }));
  calls.push(await s.call('up__seen', { n: 1 }), await s.call('dead__x'), await s.call('none__x'));
  assert.deepEqual(calls.map((c) => c.reason ?? 'ran'), ['ran', 'duplicate_outcome', 'constraint_failed', 'ran', 'upstream_failed', 'upstream_malformed', 'ran', 'ran', 'ran', 'ran',
    'upstream_unavailable', 'tool_not_listed']);
  for (const method of ['tools/list', 'prompts/list', 'ping', 'nonsense']) await s.request(method);
  await s.post('{"jsonrpc":');
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
