// Notifications of a server about tasks: they reach the agent of the task only, after the outcome of its call; and
// answers about tasks that continue on a GET.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { until } from '../support/js/gateway.mjs';
import { Streams } from '../support/servers/resumable.mjs';
import { ada, any, ask, begin, bob, digest, eve, idOf, META, outcomes, setUp,
  startTasks } from '../support/js/tasks.mjs';
import { get, post } from '../support/js/stream.mjs';

const dropped = (gw) => gw.metric('writ_task_words_dropped_total');
const result = (text) => ({ resultType: 'complete', content: [{ type: 'text', text }] });
const LIST_CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

/** Lets the test drive subscriptions: `streams` has every one. */
function listens(x) {
  const streams = [], usual = x.up.onMessage;
  x.up.onMessage = (m) => {
    if (m.method !== 'subscriptions/listen') return usual(m);
    const stream = m.stream();
    stream.id = m.id;
    stream.send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged',
      params: { notifications: m.params.notifications, _meta: { 'io.modelcontextprotocol/subscriptionId': m.id } } });
    streams.push(stream);
    return true;
  };
  return streams;
}

const listen = (gw, caller, taskIds) =>
  post(gw, caller,
    caller.message('subscriptions/listen', { notifications: { taskIds, toolsListChanged: true }, _meta: META }));
const told = (stream) => stream.messages.map((m) => m.params?.taskId ?? m.method?.split('/').at(-1))
  .filter((x) => x !== 'acknowledged');

for (const path of ['/mcp/up', '/mcp']) {
  test(`2026-07-28, ${path}: a task notification reaches only its agent, after its outcome is recorded`,
      async (t) => {
    const other = path === '/mcp' ? await startTasks(t) : undefined;
    const x = await setUp(t);
    if (other !== undefined) {
      x.gw.configure({ ...x.gw.config, upstreams: { ...x.gw.config.upstreams, other: { http: other.up.url } } });
      await x.gw.restart();
      listens(other);
    }
    const streams = listens(x);
    const name = path === '/mcp' ? 'up__work' : 'work';
    const mine = idOf(await begin(x.modern(ada, path), 1, name)),
      theirs = idOf(await begin(x.modern(bob, path), 2, name));
    const heard = await Promise.all([ada, bob,
      eve].map((agent) => listen(x.gw, x.modern(agent, path), [mine, theirs])));
    await until(() => streams.length === 3, 'the subscriptions');
    const before = await dropped(x.gw);
    x.tasks.end(mine, 'completed', { result: result('secret of ada') });
    for (const s of streams) {
      s.send(x.tasks.notice(mine, true, s.id));
      s.send(x.tasks.notice(theirs, true, s.id));
      s.send({ ...LIST_CHANGED, params: { _meta: { 'io.modelcontextprotocol/subscriptionId': s.id } } });
    }
    for (const s of heard) await s.has('list_changed');
    assert.deepEqual(heard.map(told), [[mine, 'list_changed'], [theirs, 'list_changed'], ['list_changed']]);
    assert.ok(!(heard[1].text + heard[2].text).includes('secret of ada'));
    assert.equal(await dropped(x.gw) - before, 4);
    assert.deepEqual(outcomes(x.gw).map((o) => o && [o.outcome, o.tool_output_hash]),
      [['executed', digest(result('secret of ada'))], null]);
    heard.forEach((s) => s.leave());
    x.gw.verify();
  });
}

test('2026-07-28: rules for results apply to failed tasks, and misplaced notifications are dropped', async (t) => {
  const x = await setUp(t,
    { tools: { 'up/*': { scope: 's', arguments: any,
      result: { redact: [{ pattern: 'secret' }], content: ['text'] } } } });
  const streams = listens(x);
  const ids = [];
  for (let n = 0; n < 4; n++) ids.push(idOf(await begin(x.modern(), n)));
  const heard = await listen(x.gw, x.modern(), ids);
  await until(() => streams.length === 1, 'the subscription');
  x.tasks.end(ids[0], 'failed', { error: { code: -32603, message: 'a secret broke' } });
  x.tasks.end(ids[1], 'cancelled');
  x.tasks.end(ids[2], 'completed', { result: result('the secret') });
  x.tasks.end(ids[3], 'completed',
    { result: { resultType: 'complete', content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] } });
  for (const id of ids) streams[0].send(x.tasks.notice(id, true, streams[0].id));
  for (const bad of [{}, { taskId: 7 }, { taskId: 'unknown' }])
    streams[0].send({ jsonrpc: '2.0', method: 'notifications/tasks', params: bad });
  streams[0].send({ jsonrpc: '2.0', method: 'notifications/tasks/status',
    params: { taskId: ids[0], status: 'working' } });
  streams[0].send(LIST_CHANGED);
  await heard.has('list_changed');
  assert.deepEqual(told(heard), [...ids.slice(0, 3), 'list_changed'], 'what a rule withholds is not told');
  assert.ok(!heard.text.includes('secret'));
  assert.deepEqual(outcomes(x.gw).map((o) => [o.outcome, o.error_type, o.extensions?.writ?.output_rules]), [
    ['error', 'task_failed', ['redact secret']], ['error', 'task_cancelled', undefined],
    ['executed', undefined, ['redact secret']], ['executed', undefined, ['content']],
  ]);
  assert.equal(await dropped(x.gw), 5);
  // not on the stream of a call
  const usual = x.up.onCall;
  x.up.onCall = (m) => {
    x.up.onCall = usual;
    const stream = m.stream();
    stream.send(x.tasks.notice(ids[0], true));
    stream.send({ jsonrpc: '2.0', id: m.id, result: result('ran') });
    stream.end();
  };
  assert.deepEqual((await x.modern().call('work', { n: 9 })).messages.map((m) => m.method), [undefined]);
  assert.equal(await dropped(x.gw), 6);
  heard.leave();
  x.gw.verify();
});

test('2026-07-28: concurrent notifications and later messages keep their order', async (t) => {
  const x = await setUp(t);
  const streams = listens(x);
  const ids = [];
  for (let n = 0; n < 5; n++) ids.push(idOf(await begin(x.modern(), n)));
  const heard = await listen(x.gw, x.modern(), ids);
  await until(() => streams.length === 1, 'the subscription');
  streams[0].raw([...ids.map((id) => x.tasks.notice(id, true, streams[0].id)),
    LIST_CHANGED].map((m) => `data: ${JSON.stringify(m)}\n\n`).join(''));
  await heard.has('list_changed');
  assert.deepEqual(told(heard), [...ids, 'list_changed']);
  heard.leave();
});

test('2026-07-28, /mcp: a task notification waits for the acknowledgement', async (t) => {
  const other = await startTasks(t), x = await setUp(t);
  x.gw.configure({ ...x.gw.config, upstreams: { ...x.gw.config.upstreams, other: { http: other.up.url } } });
  await x.gw.restart();
  const id = idOf(await begin(x.modern(ada, '/mcp'), 1, 'up__work'));
  const tag = (m) => ({ 'io.modelcontextprotocol/subscriptionId': m.id });
  const open = (source, early) => {
    const usual = source.up.onMessage;
    source.up.onMessage = (m) => {
      if (m.method !== 'subscriptions/listen') return usual(m);
      const stream = m.stream();
      early(m, stream);
      setTimeout(() =>
        stream.send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged',
          params: { notifications: m.params.notifications, _meta: tag(m) } }), 300);
      return true;
    };
  };
  open(x, (m, stream) => stream.send(x.tasks.notice(id, true, m.id)));
  open(other, () => {});
  const heard = await listen(x.gw, x.modern(ada, '/mcp'), [id]);
  await heard.has(id);
  await heard.has('acknowledged');
  await until(() => heard.messages.length === 2, 'both');
  assert.deepEqual(heard.messages.map((m) => m.method.split('/').at(-1)), ['acknowledged', 'tasks']);
  heard.leave();
});

test('2025-11-25: the status of a task on a GET reaches only its agent, with its outcome',
    async (t) => {
  const open = [];
  const onGet = (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    open.push({ session: req.headers['mcp-session-id'],
      send: (m, id) => res.write(`id: ${id}\ndata: ${JSON.stringify(m)}\n\n`) });
  };
  const x = await setUp(t, { upstream: { onGet } });
  const callers = [await x.legacy(), await x.legacy(bob)];
  const ids = [];
  for (let n = 0; n < 4; n++) ids.push(idOf(await begin(callers[0], n)));
  const heard = [];
  for (const c of callers) heard.push(await get(x.gw, c));
  await until(() => open.length === 2, 'the streams');
  x.tasks.end(ids[0], 'completed', { result: result('secret') });
  x.tasks.end(ids[1], 'failed', { error: { code: -32603, message: 'broke' } });
  x.tasks.end(ids[2], 'cancelled');
  for (const s of open) {
    ids.forEach((id, i) => s.send(x.tasks.notice(id, false), i));
    s.send({ jsonrpc: '2.0', method: 'notifications/tasks',
      params: { taskId: ids[0], status: 'completed', result: result('secret') } }, 8);
    s.send(LIST_CHANGED, 9);
  }
  for (const s of heard) await s.has('list_changed');
  assert.deepEqual(heard.map(told), [[...ids, 'list_changed'], ['list_changed']]);
  assert.deepEqual(heard[0].events.filter((e) => e.data).map((e) => e.id), ['0', '1', '2', '3', '9'],
    'each with its id, in their order');
  assert.ok(!heard.some((s) => s.text.includes('secret')));
  assert.deepEqual(outcomes(x.gw).map((o) => o && [o.outcome, o.error_type, o.tool_output_hash]), [
    ['executed', undefined, digest(result('secret'))], ['error', 'task_failed', null],
    ['error', 'task_cancelled', null], null,
  ]);
  heard.forEach((s) => s.leave());
  x.gw.verify();
});

test('2025-11-25: the status of a task on another request\'s stream keeps the order of events', async (t) => {
  const x = await setUp(t);
  const caller = await x.legacy();
  const mine = idOf(await begin(caller, 1)), theirs = idOf(await begin(await x.legacy(bob), 2));
  x.tasks.end(mine, 'cancelled');
  const streamed = (m, answer) => {
    const stream = m.stream();
    const note = (data) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } });
    stream.send(note('before'));
    stream.send(x.tasks.notice(theirs, false));
    stream.send(x.tasks.notice(mine, false));
    stream.send(x.tasks.notice(mine, false));
    stream.send(note('after'));
    stream.send({ jsonrpc: '2.0', id: m.id, result: answer });
    stream.end();
  };
  const usual = x.up.onMessage;
  x.up.onMessage = (m) => (m.method === 'prompts/get' || m.method === 'tasks/get'
    ? (streamed(m, { description: 'a prompt' }), true) : usual(m));
  x.up.onCall = (m) => streamed(m, result('ran'));
  const said = (a) => a.messages.map((m) => m.params?.data ?? m.params?.taskId ?? 'answer');
  const want = ['before', mine, mine, 'after', 'answer'];
  assert.deepEqual(said(await caller.request('prompts/get', { name: 'p' })), want, 'of what is not governed');
  assert.deepEqual(said(await caller.call('work', { n: 7 })), want, 'of a governed call');
  assert.deepEqual(said(await ask(caller, 'tasks/get', mine)), want, 'of a question about a task');
  assert.deepEqual(outcomes(x.gw).map((o) => o && [o.outcome, o.error_type]),
    [['error', 'task_cancelled'], null, ['executed', undefined]]);
  assert.equal(await dropped(x.gw), 3);
  x.gw.verify();
});

for (const path of ['/mcp/up', '/mcp']) {
  test(`2025-11-25, ${path}: an answer about a task that continues on a GET ends the stream there`, async (t) => {
    const streams = new Streams();
    const x = await setUp(t, { upstream: { onGet: streams.onGet } });
    if (path === '/mcp') {
      const other = await startTasks(t);
      x.gw.configure({ ...x.gw.config, upstreams: { ...x.gw.config.upstreams, other: { http: other.up.url } } });
      await x.gw.restart();
    }
    const caller = await x.legacy(ada, path);
    const usual = x.up.onMessage;
    let stream;
    x.up.onMessage = (m) => {
      if (m.method !== 'tasks/result' && m.method !== 'tasks/get') return usual(m);
      if (String(m.id).startsWith('writ-')) return usual(m);
      stream = streams.open(m);
      stream.send(undefined)
        .send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'soon' } });
      return true;
    };
    for (const [n, method] of [[1, 'tasks/result'], [2, 'tasks/get']]) {
      const id = idOf(await begin(caller, n, path === '/mcp' ? 'up__work' : 'work'));
      const message = caller.message(method, { taskId: id });
      const lost = await post(x.gw, caller, message);
      await lost.has('soon');
      lost.leave();
      await stream.closed();
      x.tasks.end(id, 'completed', { result: result(`done ${n}`) });
      const rest = await get(x.gw, caller, lost.events.findLast((e) => e.id).id);
      const answer = n === 1 ? x.tasks.all.get(id).result : x.tasks.face(x.tasks.all.get(id));
      stream.send({ jsonrpc: '2.0', id: message.id, result: answer });
      await rest.has(`"id":${message.id}`);
      assert.deepEqual(rest.messages.at(-1).result, answer);
      const outcome = outcomes(x.gw).at(-1);
      assert.deepEqual([outcome.outcome, outcome.tool_output_hash], ['executed', digest(result(`done ${n}`))]);
      stream.end();
      rest.leave();
    }
    x.gw.verify();
  });
}
