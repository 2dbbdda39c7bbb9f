// parity.mjs - the clients of the official SDKs, and all that each of them can see of a server, for comparisons.
import assert from 'node:assert/strict';
import { sdk1, sdk2, sdk2Stdio } from '../npm/peers.mjs';

const PATIENCE_MS = 60_000;
const accept = async () => ({ action: 'accept', content: { username: 'ada', email: 'ada@example.com', name: 'Ada' } });
const sample = async () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } });

/** Every client, as its users start it; { client, call, close }. */
export const CLIENTS = {
  'SDK v1': async (server) => {
    const { Client, StreamableHTTPClientTransport, StdioClientTransport, ElicitRequestSchema,
      CreateMessageRequestSchema } = await sdk1();
    const client = new Client({ name: 'v1', version: '1' }, { capabilities: { elicitation: {}, sampling: {} } });
    client.setRequestHandler(ElicitRequestSchema, accept);
    client.setRequestHandler(CreateMessageRequestSchema, sample);
    const transport = server.url
      ? new StreamableHTTPClientTransport(new URL(server.url)) : new StdioClientTransport(server);
    await client.connect(transport, { timeout: PATIENCE_MS });
    return { client, call: (params, options) => client.callTool(params, undefined, options), close: async () => {
      await transport.terminateSession?.();
      await client.close();
    } };
  },
  ...Object.fromEntries([['SDK v2', 'legacy'], ['SDK v2, auto', 'auto'],
      ['SDK v2, 2026-07-28', { pin: '2026-07-28' }]].map(([name, mode]) => [name, async (server) => {
    const [{ Client, StreamableHTTPClientTransport }, { StdioClientTransport }] = [await sdk2(), await sdk2Stdio()];
    const client = new Client({ name: 'v2', version: '1' },
      { capabilities: { elicitation: { form: {} }, sampling: {} }, versionNegotiation: { mode } });
    client.setRequestHandler('elicitation/create', accept);
    client.setRequestHandler('sampling/createMessage', sample);
    await client.connect(server.url ? new StreamableHTTPClientTransport(new URL(server.url))
      : new StdioClientTransport(server), { timeout: PATIENCE_MS });
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
  for (const name of ['test_simple_text', 'test_image_content', 'test_audio_content', 'test_embedded_resource',
    'test_multiple_content_types', 'test_error_handling']) await note(name, call({ name, arguments: {} }));
  await note('a dialect',
    call({ name: 'json_schema_2020_12_tool',
      arguments: { name: 'ünïcode 漢字', contactMethod: 'email', email: 'a@b' } }));
  await note('bad arguments', call({ name: 'json_schema_2020_12_tool', arguments: { contactMethod: 'phone' } }));
  let progress; // a stdio client that reads a notification and the answer together may drop the notification
  for (let tries = 0; progress?.length !== 3 && tries < 10; tries++) {
    progress = [];
    await note('progress',
      call({ name: 'test_tool_with_progress', arguments: {} }, { onprogress: (p) => progress.push(p) }));
  }
  seen.progressed = progress;
  await note('elicitation', call({ name: 'test_elicitation', arguments: { message: 'Who?' } }));
  await note('sampling', call({ name: 'test_sampling', arguments: { prompt: 'Say' } }));
  await note('a prompt', client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } }));
  await note('no prompt', client.getPrompt({ name: 'missing' }));
  await note('a resource', client.readResource({ uri: 'test://template/7/data' }));
  await note('no resource', client.readResource({ uri: 'test://missing' }));
  await note('completion',
    client.complete({ ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
      argument: { name: 'arg1', value: 'pa' } }));
  await close();
  return JSON.parse(JSON.stringify(seen));
}

/** What connecting comes to: a client, or how it was refused, which must not be a silence. */
export async function attempt(connect, server) {
  try {
    return { seen: await everything(await connect(server)) };
  } catch (error) {
    assert.doesNotMatch(error.message, /timed? ?out/i);
    return { refused: error };
  }
}

/** What a refusal is to a program: its class, its code, and the server's own error in the text. */
export const words = (error) => error &&
  [error.constructor.name, error.code, /"code":-?\d+,"message":"[^"]*"/.exec(error.message)?.[0] ?? error.message];
