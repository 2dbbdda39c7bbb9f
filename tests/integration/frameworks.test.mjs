// examples/hooks in the real packages of frameworks: LangGraph, the OpenAI Agents SDK and the Claude Agent SDK with its
// program. The model alone is scripted; each runs the same calls against a real gateway.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { mkdirSync } from 'node:fs';
import { approving, CREW, rule, setUp } from '../support/js/hooks.mjs';
import { reservePort } from '../support/js/ports.mjs';
import { claudeAgent, langgraph, openaiAgents, zod } from '../support/npm/peers.mjs';
import { governed as inLangChain } from '../../examples/hooks/langchain.ts';
import { governed as inOpenAI } from '../../examples/hooks/openai-agents.ts';
import { hooks } from '../../examples/hooks/claude-agent.ts';
import { WritHooks } from '../../examples/hooks/writ-hooks.ts';

// The calls of the model, by id.
const CALLS = [['one', 'write', 'a1'], ['two', 'write', '../etc'], ['three', 'read', 'x'], ['four', 'pay', 'a2']];
const SAID = [/^wrote a1$/, /satisfy a constraint/, /^the key is (?!sk-abc)/, /^paid a2$/];
const MADE = ['write a1', 'read x', 'pay a2'];

/** The tools, and in `made` the calls that ran. */
function toolbox() {
  const made = [];
  const run = (name, say) => ({ path }) => {
    made.push(`${name} ${path}`);
    return say(path);
  };
  return { made, tools: {
    write: run('write', (path) => `wrote ${path}`),
    read: run('read', () => 'the key is sk-abc123'),
    pay: run('pay', (path) => `paid ${path}`),
  } };
}

const rules = (prefix) => ({
  [`crew/${prefix}write`]: rule({ arguments: [{ arg: 'path', op: 'matches', value: '[a-z0-9]+' }] }),
  [`crew/${prefix}read`]: rule({ result: { redact: [{ pattern: 'sk-[a-z0-9]+' }] } }),
  [`crew/${prefix}pay`]: rule({ approval: { review: 'ok' } }),
});

/** Runs the calls by `play(writ, tools, calls, gw)`, which gives the texts that the model reads. */
async function governs(t, play, prefix = '') {
  const reviews = { ok: { voters: [{ id: 'ann' }], quorum: '1' } };
  const { gw } = await setUp(t, { tools: rules(prefix), top: { reviews } });
  const client = (url, more) => new WritHooks({ url, token: CREW.token, framework: 'crew', ...more });

  const { made, tools } = toolbox(), writ = client(gw.origin, { run: 'one', wait: 60_000 });
  const said = await approving(gw, () => play(writ, tools, CALLS, gw));
  assert.equal(said.length, CALLS.length, said.join('\n'));
  said.forEach((text, at) => assert.match(text, SAID[at]));
  assert.deepEqual(made, MADE, 'what was refused did not run');

  // a run that continues from an earlier state makes its calls again, under the same ids
  const again = await play(writ, tools, CALLS.slice(0, 1), gw);
  assert.match(again.join(), /duplicate|already|once/);
  assert.deepEqual(made, MADE, 'what was repeated did not run');

  // the same arguments under another id are another call
  assert.deepEqual(await play(writ, tools, [['five', 'write', 'a1']], gw), ['wrote a1']);
  assert.deepEqual(made, [...MADE, 'write a1']);

  const { decisions, outcomes } = gw.boundary('one', 'acme');
  assert.deepEqual(decisions.map(({ tool, decision }) => `${tool.slice(prefix.length)} ${decision}`),
    ['write allow', 'write deny', 'read allow', 'pay require_approval', 'pay allow', 'write deny', 'write allow']);
  assert.equal(outcomes.filter(({ outcome }) => outcome === 'executed').length, made.length);

  const lost = toolbox();
  await play(client(`http://127.0.0.1:${await reservePort()}`), lost.tools, [['six', 'write', 'a3']], gw);
  assert.deepEqual(lost.made, [], 'without a gateway nothing runs');
  gw.verify();
}

test('LangGraph runs governed tools, and none that the gateway refuses', async (t) => {
  const { AIMessage, BaseChatModel, createReactAgent, tool } = await langgraph();
  const { z } = await zod();

  class Scripted extends BaseChatModel {
    constructor(calls) {
      super({});
      this.calls = [...calls];
    }

    _llmType() { return 'scripted'; }

    bindTools() { return this; }

    async _generate() {
      const call = this.calls.shift();
      const message = new AIMessage(call === undefined ? 'done'
        : { content: '', tool_calls: [{ type: 'tool_call', id: call[0], name: call[1], args: { path: call[2] } }] });
      return { generations: [{ text: '', message }] };
    }
  }

  await governs(t, async (writ, tools, calls) => {
    const made = Object.entries(tools).map(([name, run]) => inLangChain(writ,
      tool(run, { name, description: name, schema: z.object({ path: z.string() }) })));
    const agent = createReactAgent({ llm: new Scripted(calls), tools: made });
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'go' }] });
    return messages.filter((message) => message.getType() === 'tool').map((message) => message.content);
  });
});

test('the OpenAI Agents SDK runs governed tools, and none that the gateway refuses', async (t) => {
  const { Agent, Usage, run, setTracingDisabled, tool } = await openaiAgents();
  const { z } = await zod();
  setTracingDisabled(true);

  await governs(t, async (writ, tools, calls) => {
    const left = [...calls], said = [];
    const model = {
      async getResponse({ input }) {
        const last = input.at(-1);
        if (last?.type === 'function_call_result') said.push(last.output.text ?? last.output);
        const call = left.shift();
        return { usage: new Usage(), output: [call === undefined
          ? { type: 'message', role: 'assistant', status: 'completed',
            content: [{ type: 'output_text', text: 'done' }] }
          : { type: 'function_call', callId: call[0], name: call[1], status: 'completed',
            arguments: JSON.stringify({ path: call[2] }) }] };
      },
      async* getStreamedResponse() { throw new Error('not streamed'); },
    };
    const made = Object.entries(tools).map(([name, execute]) => tool(inOpenAI(writ,
      { name, description: name, parameters: z.object({ path: z.string() }), execute })));
    const ended = await run(new Agent({ name: 'a', instructions: 'go', model, tools: made }), 'go', { maxTurns: 20 });
    assert.equal(ended.finalOutput, 'done');
    return said;
  });
});

/** A server that answers as Anthropic's does, with the next call of the list; in `said` what the tools said. */
async function scriptedModel(t, calls) {
  const left = [...calls], said = [];
  const server = http.createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece)).on('end', () => {
      const { messages = [], model } = JSON.parse(Buffer.concat(pieces).toString() || '{}');
      for (const block of messages.at(-1)?.content ?? []) {
        if (block.type === 'tool_result') said.push([block.content].flat().map((part) => part.text ?? part).join(''));
      }
      const call = left.shift();
      const send = (type, more) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      send('message_start', { message: { id: `msg_${left.length}`, type: 'message', role: 'assistant', model,
        content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } });
      send('content_block_start', { index: 0, content_block: call === undefined ? { type: 'text', text: '' }
        : { type: 'tool_use', id: `toolu_${call[0]}`, name: `mcp__notes__${call[1]}`, input: {} } });
      send('content_block_delta', { index: 0, delta: call === undefined ? { type: 'text_delta', text: 'done' }
        : { type: 'input_json_delta', partial_json: JSON.stringify({ path: call[2] }) } });
      send('content_block_stop', { index: 0 });
      send('message_delta', { delta: { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null },
        usage: { output_tokens: 1 } });
      send('message_stop');
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}`, said };
}

test('the Claude Agent SDK and its program run governed tools, and none that the gateway refuses', async (t) => {
  const { createSdkMcpServer, query, tool } = await claudeAgent();
  const { z } = await zod();

  await governs(t, async (writ, tools, calls, gw) => {
    const { url, said } = await scriptedModel(t, calls);
    const notes = createSdkMcpServer({ name: 'notes', version: '1', tools: Object.entries(tools).map(([name, run]) =>
      tool(name, name, { path: z.string() }, async (args) => ({ content: [{ type: 'text', text: run(args) }] }))) });
    const home = gw.path('home');
    mkdirSync(home, { recursive: true });
    let result;
    for await (const message of query({ prompt: 'go', options: {
      cwd: home, settingSources: [], mcpServers: { notes }, allowedTools: ['mcp__notes'], hooks: hooks(writ),
      env: { PATH: process.env.PATH, HOME: home, ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: url,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    } })) if (message.type === 'result') result = message.result;
    assert.equal(result, 'done');
    return said;
  }, 'mcp__notes__');
});
