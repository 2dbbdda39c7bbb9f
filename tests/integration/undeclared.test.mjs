// Requests of a server for capabilities that the client has not declared: the gateway answers them.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linesOf, startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { get, post } from '../support/js/stream.mjs';

const RULE = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };
const ask = (id, method, params = {}) => ({ jsonrpc: '2.0', id, method, params });
const QUESTIONS = [
  ask(1, 'sampling/createMessage', { messages: [], maxTokens: 1 }),
  ask('two', 'elicitation/create', { message: 'Who?', requestedSchema: {} }), ask(3, 'roots/list'),
  ask(4, 'tasks/list'),
];
const PING = ask(5, 'ping');
const ALL = { sampling: {}, elicitation: {}, roots: {}, tasks: {} };
const MISSING = -32601;

for (const path of ['/mcp', '/mcp/up']) {
  test(`an undeclared request of a server is refused over HTTP, on POST and GET streams, at ${path}`, async (t) => {
    let standing;
    const up = await startUpstream(t, { tools: ['x'], onGet: (req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      standing = res;
    } });
    const other = await startUpstream(t, { tools: ['y'] });
    const gw = await startGateway(t,
      { upstreams: { up: { http: up.url }, other: { http: other.url } }, tools: { 'up/x': RULE } });
    const name = path === '/mcp' ? 'up__x' : 'x';
    const answers = () => up.arrivals.filter((a) => a.message?.method === undefined).map((a) => a.message);
    let held;
    up.onCall = (a) => { held = { a, stream: a.stream() }; };
    for (const [capabilities, taken] of [[{}, []], [ALL, QUESTIONS], [{ elicitation: { url: {} } }, []]]) {
      const s = await openSession(gw, { path, capabilities });
      const listening = get(gw, s);
      const calling = post(gw, s, s.callMessage(name, {}));
      await until(() => held !== undefined && standing !== undefined, 'both streams');
      up.clear();
      for (const q of [...QUESTIONS, PING]) held.stream.send(q);
      for (const q of [...QUESTIONS, PING]) standing.write(`data: ${JSON.stringify(q)}\n\n`);
      const streams = await Promise.all([calling, listening]);
      for (const stream of streams) {
        await stream.has('"ping"');
        assert.deepEqual(stream.messages.filter((m) => m.id !== undefined && m.method !== undefined)
          .map((m) => m.method), [...taken, PING].map((q) => q.method));
      }
      const refused = taken.length > 0 ? [] : QUESTIONS;
      await until(() => answers().length === 2 * refused.length, 'the answers');
      const codes = new Map(answers().map((m) => [m.id, m.error.code]));
      const modes = capabilities.elicitation?.url === undefined ? MISSING : -32602; // it takes no form
      assert.deepEqual([...codes].sort(),
        refused.map((q) => [q.id, q.method === 'elicitation/create' ? modes : MISSING]).sort());
      for (const a of up.arrivals.filter((m) => m.message?.error)) assert.match(a.headers['mcp-session-id'], /^up-/);
      held.stream.send({ jsonrpc: '2.0', id: held.a.id, result: { content: [] } });
      held.stream.end();
      standing.end();
      for (const stream of streams) stream.leave();
      held = standing = undefined;
    }
    gw.verify();
  });

  test(`an undeclared request of a server is refused over stdio, at ${path}`, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'writ-undeclared-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    writeFileSync(join(dir, 'record'), '');
    const other = await startUpstream(t, { tools: ['y'] });
    const script = new URL('../support/servers/stdio-server.mjs', import.meta.url).pathname;
    const gw = await startGateway(t,
      { upstreams: { up: { stdio: [process.execPath, script, join(dir, 'record')] }, other: { http: other.url } },
        tools: { 'up/act': RULE } });
    const answers = () => linesOf(join(dir, 'record')).map((l) => JSON.parse(l).line)
      .filter((m) => m !== undefined && m.method === undefined);
    const name = path === '/mcp' ? 'up__act' : 'act';
    const s = await openSession(gw, { path });
    const stream = await post(gw, s, s.callMessage(name, { act: 'ask' }));
    await stream.done();
    assert.doesNotMatch(stream.text, /sampling/);
    await until(() => answers().length === 1, 'the answer');
    assert.deepEqual([answers()[0].id, answers()[0].error.code], ['from-server', MISSING]);
    const able = await openSession(gw, { path, capabilities: { sampling: {} } });
    const heard = await post(gw, able, able.callMessage(name, { act: 'ask', n: 2 }));
    const listening = get(gw, able);
    await until(async () =>
      /sampling/.test(heard.text + (await Promise.race([listening, Promise.resolve({ text: '' })])).text),
      'the question');
    (await listening).leave();
  });
}
