// Calls that continue as tasks, in both forms: the outcome is recorded when the task ends, whichever request finds it;
// a task belongs to its own agent only.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { until } from '../support/js/gateway.mjs';
import { ada, any, ask, begin, bob, digest, eve, idOf, outcomes, setUp, startTasks,
  TASKS } from '../support/js/tasks.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

test('2026-07-28: the outcome of a call is recorded when its task has ended', async (t) => {
  const { tasks, gw, modern, up } = await setUp(t);
  const caller = modern();
  const id = idOf(await begin(caller));
  assert.deepEqual(outcomes(gw), [null]);
  assert.equal((await begin(caller)).refusal.first_waits_for, 'task', 'a repeat is a duplicate');
  assert.equal((await ask(caller, 'tasks/get', id)).result.status, 'working');
  assert.deepEqual(outcomes(gw), [null]);

  const result = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };
  tasks.end(id, 'completed', { result });
  for (let i = 0; i < 2; i++) assert.deepEqual((await ask(caller, 'tasks/get', id)).result.result, result);
  const line = await gw.waitLog('task_ended');
  const { decision } = gw.show(line.decision_id);
  assert.deepEqual([line.level, line.agent_id, line.upstream, line.tool, line.outcome, line.error_type],
    ['info', decision.agent_id, 'up', decision.tool, 'executed', undefined]);
  const [outcome] = outcomes(gw);
  assert.equal(outcome.outcome, 'executed');
  assert.equal(outcome.tool_output_hash, digest(result));
  assert.equal((await begin(caller)).reason, 'duplicate_outcome');
  assert.equal(up.calls.length, 1);
  gw.verify();
});

test('2025-11-25: the outcome of a call with its digest is recorded when its task has ended', async (t) => {
  const { tasks, gw, legacy } = await setUp(t);
  const caller = await legacy();
  const result = { content: [{ type: 'text', text: 'done' }],
    _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } } };
  const first = idOf(await begin(caller, 1));
  tasks.end(first, 'completed', { result });
  assert.equal((await ask(caller, 'tasks/get', first)).result.status, 'completed', 'by any poll');
  assert.equal(outcomes(gw)[0].tool_output_hash, digest(result));
  assert.deepEqual((await ask(caller, 'tasks/result', first)).result, result);

  const second = idOf(await begin(caller, 2));
  tasks.end(second, 'completed', { result });
  assert.deepEqual((await ask(caller, 'tasks/result', second)).result, result, 'by a request for the result');
  assert.deepEqual(outcomes(gw).map((o) => [o.outcome, o.tool_output_hash]),
    [['executed', digest(result)], ['executed', digest(result)]]);
  gw.verify();
});

for (const family of ['modern', 'legacy']) {
  test(`${family}: failed and cancelled tasks have their own outcome`, async (t) => {
    const env = await setUp(t);
    const { tasks, gw } = env;
    const caller = await env[family]();
    const ids = [];
    for (let n = 0; n < 4; n++) ids.push(idOf(await begin(caller, n)));
    tasks.end(ids[0], 'failed', { error: { code: -32603, message: 'broke' } });
    tasks.end(ids[1], 'completed', { result: { resultType: 'complete', content: [], isError: true } });
    for (const id of ids) await ask(caller, 'tasks/get', id);
    await ask(caller, 'tasks/cancel', ids[2]);
    await ask(caller, 'tasks/get', ids[2]);
    assert.deepEqual(outcomes(gw).map((o) => o && [o.outcome, o.error_type]), [
      ['error', 'task_failed'], ['executed', undefined], ['error', 'task_cancelled'], null,
    ]);
    gw.verify();
  });

  test(`${family}: the end of a task is found over another connection, another loop or after a restart`, async (t) => {
    const env = await setUp(t, { loops: 2 });
    const { tasks, gw } = env;
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(idOf(await begin(await env[family](), n)));
    for (const id of ids) tasks.end(id, 'completed', { result: { resultType: 'complete', content: [] } });
    const callers = await Promise.all(Array.from({ length: 16 }, () => env[family]()));
    await Promise.all(callers.map((caller) => ask(caller, 'tasks/get', ids[0])));
    assert.equal(await gw.metric('writ_outcomes_total{outcome="executed"}'), 1,
      'of many that found it, one counts it');
    await gw.restart('SIGKILL');
    assert.equal((await ask(await env[family](), 'tasks/get', ids[1])).result.status, 'completed');
    await gw.restart();
    assert.equal((await ask(await env[family](), 'tasks/get', ids[2])).result.status, 'completed');
    assert.equal((await ask(await env[family](), 'tasks/get', ids[0])).result.status, 'completed',
      'also after its outcome');
    assert.deepEqual(outcomes(gw).map((o) => o.outcome), ['executed', 'executed', 'executed']);
    gw.verify();
  });

  test(`${family}: only the agent of a task can query it`, async (t) => {
    const env = await setUp(t);
    const { tasks, gw, up } = env;
    const id = idOf(await begin(await env[family]()));
    tasks.end(id, 'completed', { result: { content: [{ type: 'text', text: 'secret' }] } });
    for (const other of [await env[family](bob), await env[family](eve)]) {
      up.clear();
      for (const method of family === 'modern'
          ? ['tasks/get', 'tasks/update', 'tasks/cancel'] : ['tasks/get', 'tasks/result', 'tasks/cancel']) {
        const refused = await ask(other, method, id);
        assert.equal(refused.error.code, -32602, refused.text);
        assert.equal(refused.reason, 'task_not_found');
      }
      assert.equal((await ask(other, 'tasks/get', 'unknown')).reason, 'task_not_found');
      assert.deepEqual(up.arrivals.filter((m) => m.method.startsWith('tasks/')), [], 'nothing of that went upstream');
    }
    assert.equal((await ask(await env[family](), 'tasks/get', id)).result.status, 'completed');
    gw.verify();
  });

  test(`${family}: a task that is not polled in time expires`, async (t) => {
    const env = await setUp(t, { ttl: 900 });
    const { gw, tasks } = env;
    const caller = await env[family]();
    const id = idOf(await begin(caller));
    await until(() => outcomes(gw)[0] !== null, 'the outcome');
    assert.deepEqual([outcomes(gw)[0].outcome, outcomes(gw)[0].error_type], ['error', 'task_expired']);
    const line = await gw.waitLog('task_ended');
    const { decision } = gw.show(line.decision_id);
    assert.deepEqual([line.level, line.agent_id, line.tenant, line.upstream, line.tool, line.outcome, line.error_type],
      ['info', decision.agent_id, decision.extensions.writ.tenant, 'up', decision.tool, 'error', 'task_expired']);
    tasks.end(id, 'completed', { result: { content: [] } });
    assert.equal((await ask(caller, 'tasks/get', id)).reason, 'task_not_found');
    assert.equal(gw.log.filter((l) => l.event === 'task_ended').length, 1);
    gw.verify();
  });

  test(`${family}: on the merged endpoint a task query reaches the task's own upstream`, async (t) => {
    const other = await startUpstream(t, { onCall: (m) => m.text('other') });
    const env = await setUp(t);
    const config = { ...env.gw.config, upstreams: { other: { http: other.url }, ...env.gw.config.upstreams } };
    env.gw.configure(config);
    await env.gw.restart();
    const caller = await env[family](ada, '/mcp');
    const id = idOf(await begin(caller, 1, 'up__work'));
    env.tasks.end(id, 'completed', { result: { resultType: 'complete', content: [] } });
    assert.equal((await ask(caller, 'tasks/get', id)).result.status, 'completed');
    assert.deepEqual(outcomes(env.gw).map((o) => o.outcome), ['executed']);
    assert.equal(other.arrivals.filter((m) => m.method.startsWith('tasks/')).length, 0);
    env.gw.verify();
  });
}

test('a task id that two upstreams gave an agent is accepted only on their own paths', async (t) => {
  const x = await setUp(t), other = await startTasks(t);
  x.gw.configure({ ...x.gw.config, upstreams: { ...x.gw.config.upstreams, other: { http: other.up.url } },
    tools: { ...x.gw.config.tools, 'other/*': { scope: 's', arguments: any } } });
  await x.gw.restart();
  const caller = x.modern(ada, '/mcp');
  const [mine, theirs] = [idOf(await begin(caller, 1, 'up__work')), idOf(await begin(caller, 1, 'other__work'))];
  assert.equal(mine, theirs);
  const refused = await ask(caller, 'tasks/get', mine);
  assert.deepEqual([refused.reason, refused.error.code], ['task_not_found', -32602], refused.text);
  other.tasks.end(theirs, 'cancelled');
  assert.equal((await ask(x.modern(ada, '/mcp/up'), 'tasks/get', mine)).result.status, 'working');
  assert.equal((await ask(x.modern(ada, '/mcp/other'), 'tasks/get', theirs)).result.status, 'cancelled');
  assert.deepEqual(outcomes(x.gw).map((o) => o?.error_type), [undefined, 'task_cancelled']);
});

test('a list of tasks has only those of the agent, also when the server lists all', async (t) => {
  const { tasks, gw, legacy } = await setUp(t);
  const mine = await legacy();
  const ids = [];
  for (let n = 0; n < 3; n++) ids.push(idOf(await begin(mine, n)));
  const theirs = idOf(await begin(await legacy(bob)));
  tasks.end(ids[1], 'completed', { result: { content: [] } });
  await ask(mine, 'tasks/get', ids[1]);
  const listed = async (caller) => (await caller.request('tasks/list', {})).result.tasks.map((x) => x.taskId);
  assert.deepEqual(await listed(mine), ids);
  assert.deepEqual(await listed(await legacy(bob)), [theirs]);
  assert.deepEqual(await listed(await legacy(eve)), []);
  gw.verify();
});

test('input for a task is limited and forwarded', async (t) => {
  const { tasks, modern, up } = await setUp(t);
  const caller = modern();
  const id = idOf(await begin(caller));
  const most = (1 << 20) - JSON.stringify({ a: '' }).length;
  assert.equal((await ask(caller, 'tasks/update', id, { inputResponses: { a: 'x'.repeat(most + 1) } })).status, 400);
  for (const source of ['9007199254740993', '0.10000000000000001']) {
    const inexact = await ask(caller, 'tasks/update', id,
      { inputResponses: { a: { content: { n: [1, JSON.rawJSON(source)] } } } });
    assert.deepEqual([inexact.status, inexact.reason], [400, 'number_not_exact']);
    assert.match(inexact.error.message, /; at "\/inputResponses\/a\/content\/n\/1"$/);
  }
  assert.equal(up.arrivals.filter((m) => m.method === 'tasks/update').length, 0);
  assert.equal((await ask(caller, 'tasks/update', id, { inputResponses: { a: 'x'.repeat(most) } })).error, undefined);
  assert.equal(tasks.all.get(id).given.a.length, most);
});

test('a task method of the other form, or without the capability, gets the standard error', async (t) => {
  const { modern, legacy } = await setUp(t);
  const id = idOf(await begin(modern()));
  const result = await ask(modern(), 'tasks/result', id);
  assert.deepEqual([result.status, result.error.code], [404, -32601]);
  assert.equal((await ask(await legacy(), 'tasks/update', id)).error.code, -32601);
  const undeclared = await modern().request('tasks/get', { taskId: id });
  assert.deepEqual([undeclared.status, undeclared.error.code, undeclared.error.data.requiredCapabilities],
    [400, -32021, { extensions: { [TASKS]: {} } }]);
});

test('the result of a task comes on a stream, after the requests of the task', async (t) => {
  const { tasks, up, gw, legacy } = await setUp(t);
  const caller = await legacy();
  const id = idOf(await begin(caller));
  tasks.end(id, 'completed', { result: { content: [{ type: 'text', text: 'streamed' }] } });
  const usual = up.onMessage;
  up.onMessage = (m) => {
    if (m.method !== 'tasks/result') return usual(m);
    const stream = m.stream();
    stream.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'soon' } });
    stream.send({ jsonrpc: '2.0', id: m.id, result: tasks.all.get(id).result });
    stream.end();
    return true;
  };
  const answer = await ask(caller, 'tasks/result', id);
  assert.deepEqual(answer.messages.map((m) => m.method ?? m.result.content[0].text),
    ['notifications/message', 'streamed']);
  assert.equal(outcomes(gw)[0].outcome, 'executed');
  assert.equal(outcomes(gw)[0].tool_output_hash, digest(tasks.all.get(id).result));
  gw.verify();
});

test('rules for results apply to the result of a task and are in its outcome', async (t) => {
  const result = { redact: [{ pattern: 'secret' }], content: ['text'], is_error: 'error' };
  const { tasks, gw, modern, legacy } = await setUp(t, { tools: { 'up/*': { scope: 's', arguments: any, result } } });
  const given = { content: [{ type: 'text', text: 'a secret' }] },
    told = { content: [{ type: 'text', text: 'a [redacted]' }] };
  const image = { content: [{ type: 'image', mimeType: 'image/png', data: 'secret' }] };
  const bad = { content: [{ type: 'text', text: 'no' }], isError: true };
  const wants = [];
  for (const [caller, method, of, n] of [[modern(), 'tasks/get', (r) => r.result?.result, 1],
      [await legacy(), 'tasks/result', (r) => r.result, 3]]) {
    const [id, other, wrong] = [idOf(await begin(caller, n)), idOf(await begin(caller, n + 1)),
      idOf(await begin(caller, n + 10))];
    tasks.end(id, 'completed', { result: given });
    for (let i = 0; i < 2; i++) assert.deepEqual(of(await ask(caller, method, id)), told);
    tasks.end(other, 'completed', { result: image });
    const withheld = await ask(caller, method, other);
    assert.equal(withheld.reason, 'result_content_refused', withheld.text);
    assert.ok(!withheld.text.includes('image/png'));
    tasks.end(wrong, 'completed', { result: bad });
    assert.deepEqual(of(await ask(caller, method, wrong)), bad);
    wants.push(
      ['executed', undefined, digest(given),
        { output_before: digest(given), output_after: digest(told), output_rules: ['redact secret'] }],
      ['executed', undefined, digest(image),
        { output_before: digest(image), output_rules: ['content'], reason: 'result_content_refused' }],
      ['error', 'tool_error', digest(bad), undefined],
    );
  }
  // only the status is sent, and the recorded result follows the rules
  const polling = await legacy();
  const id = idOf(await begin(polling, 30));
  tasks.end(id, 'completed', { result: image });
  assert.equal((await ask(polling, 'tasks/get', id)).result.status, 'completed');
  wants.push(wants[1]);
  assert.deepEqual(outcomes(gw).map((o) => [o.outcome, o.error_type, o.tool_output_hash, o.extensions?.writ]), wants);
  gw.verify();
});
