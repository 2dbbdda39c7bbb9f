// What real clients get through the gateway is what they get directly: the SDKs of both generations,
// in every mode, and the inspector, side by side against one server.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startGateway } from '../support/gateway.mjs';
import { resolve, sdk1, sdk2 } from '../support/npm/peers.mjs';
import { startSuiteServer } from '../support/suite-server.mjs';

const INSPECTOR = resolve('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const any = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };
const run = promisify(execFile);
const accept = async () => ({ action: 'accept', content: { username: 'ada', email: 'ada@example.com', name: 'Ada' } });
const sample = async () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } });

let cleanups = [];
const scope = { after: (fn) => cleanups.push(fn) };
let up, gw;

before(async () => {
  up = await startSuiteServer(scope);
  gw = await startGateway(scope, { upstreams: { up: { http: up.url } }, tools: { 'up/*': any } });
});

after(async () => {
  for (const fn of cleanups.reverse()) await fn();
});

const CLIENTS = {
  'SDK v1': async (url) => {
    const { Client, StreamableHTTPClientTransport, ElicitRequestSchema, CreateMessageRequestSchema } = await sdk1();
    const client = new Client({ name: 'v1', version: '1' }, { capabilities: { elicitation: {}, sampling: {} } });
    client.setRequestHandler(ElicitRequestSchema, accept);
    client.setRequestHandler(CreateMessageRequestSchema, sample);
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await client.connect(transport);
    return { client, call: (params, options) => client.callTool(params, undefined, options), close: async () => { await transport.terminateSession(); await client.close(); } };
  },
  ...Object.fromEntries([['SDK v2', 'legacy'], ['SDK v2, auto', 'auto'], ['SDK v2, 2026-07-28', { pin: '2026-07-28' }]].map(([name, mode]) => [name, async (url) => {
    const { Client, StreamableHTTPClientTransport } = await sdk2();
    const client = new Client({ name: 'v2', version: '1' }, { capabilities: { elicitation: { form: {} }, sampling: {} }, versionNegotiation: { mode } });
    client.setRequestHandler('elicitation/create', accept);
    client.setRequestHandler('sampling/createMessage', sample);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return { client, call: (params, options) => client.callTool(params, options), close: () => client.close() };
  }])),
};

/** All that a client can see of a server, as one value. */
async function everything({ client, call, close }) {
  const seen = {};
  const note = async (what, made) => {
    try {
      seen[what] = await made;
    } catch (error) {
      seen[what] = { error: error.constructor.name, code: error.code, message: error.message };
    }
  };
  await note('server', [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]);
  await note('tools', client.listTools());
  await note('prompts', client.listPrompts());
  await note('resources', client.listResources());
  await note('templates', client.listResourceTemplates());
  for (const name of ['test_simple_text', 'test_image_content', 'test_audio_content', 'test_embedded_resource', 'test_multiple_content_types', 'test_error_handling']) await note(name, call({ name, arguments: {} }));
  await note('a dialect', call({ name: 'json_schema_2020_12_tool', arguments: { name: 'ünïcode 漢字', contactMethod: 'email', email: 'a@b' } }));
  await note('bad arguments', call({ name: 'json_schema_2020_12_tool', arguments: { contactMethod: 'phone' } }));
  const progress = [];
  await note('progress', call({ name: 'test_tool_with_progress', arguments: {} }, { onprogress: (p) => progress.push(p) }));
  seen.progressed = progress;
  await note('elicitation', call({ name: 'test_elicitation', arguments: { message: 'Who?' } }));
  await note('sampling', call({ name: 'test_sampling', arguments: { prompt: 'Say' } }));
  await note('a prompt', client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } }));
  await note('no prompt', client.getPrompt({ name: 'missing' }));
  await note('a resource', client.readResource({ uri: 'test://template/7/data' }));
  await note('no resource', client.readResource({ uri: 'test://missing' }));
  await note('completion', client.complete({ ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'pa' } }));
  await close();
  return JSON.parse(JSON.stringify(seen));
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  test(`${name} sees the same server`, async () => {
    const direct = await everything(await connect(up.url));
    assert.equal(direct.test_simple_text.content[0].text, 'This is a simple text response for testing.');
    assert.match(direct.elicitation.content[0].text, /ada@example\.com/);
    assert.deepEqual(await everything(await connect(`${gw.origin}/mcp/up`)), direct);
  });
}

test('the inspector prints the same', async () => {
  const print = async (url, args) => {
    try {
      return (await run(process.execPath, [INSPECTOR, '--cli', url, '--transport', 'http', ...args])).stdout;
    } catch (error) {
      return { code: error.code, out: error.stdout };
    }
  };
  const asks = [['tools/list'], ['resources/list'], ['tools/call', '--tool-name', 'test_multiple_content_types'], ['prompts/get', '--prompt-name', 'test_simple_prompt']];
  for (const [method, ...rest] of asks) {
    const args = ['--method', method, ...rest];
    const [direct, through] = await Promise.all([print(up.url, args), print(`${gw.origin}/mcp/up`, args)]);
    assert.equal(typeof direct, 'string', JSON.stringify(direct));
    assert.deepEqual(through, direct, method);
  }
});
