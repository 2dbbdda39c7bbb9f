// clients.mjs - the official clients of both protocol families, and one use of everything that the server of
// sdk-upstream.mjs offers.
import assert from 'node:assert/strict';
import { sdk1, sdk2 } from '../npm/peers.mjs';

const text = (arg) => ({ arg, op: 'type', value: 'string' });
export const number = (arg) => ({ arg, op: 'type', value: 'number' });
/** The rules of the tools of one such server, and of several by their names. */
export const TOOLS = {
  echo: { scope: 's', arguments: [text('message'), { arg: 'message', op: 'max_length', value: 100 }] },
  add: { scope: 's', arguments: [number('a'), { arg: 'a', op: 'le', value: 10 }, number('b')], refusal: 'result',
    duplicates: 'replay' },
  fail: { scope: 's' }, picture: { scope: 's', duplicates: 'allow' }, steps: { scope: 's', arguments: [number('n')] },
  ask: { scope: 's', arguments: [text('question')] }, wait: { scope: 's', arguments: [text('name')] },
};
export const rules = (...upstreams) =>
  Object.fromEntries(upstreams.flatMap((u) => Object.entries(TOOLS).map(([name, rule]) => [`${u}/${name}`, rule])));

const reply = async () => ({ action: 'accept', content: { reply: 'yes' } });

/** Every client, as someone would use it; { client, close }. */
export const CLIENTS = {
  'SDK v1': async (url) => {
    const { Client, StreamableHTTPClientTransport, ElicitRequestSchema } = await sdk1();
    const client = new Client({ name: 'v1', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, reply);
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await client.connect(transport);
    return { client, call: (params, options) => client.callTool(params, undefined, options), close: async () => {
      await transport.terminateSession();
      await client.close();
    } };
  },
  ...Object.fromEntries([['SDK v2', 'legacy'], ['SDK v2, modern', { pin: '2026-07-28' }],
      ['SDK v2, which finds out', 'auto']].map(([name, mode]) => [name, async (url) => {
    const { Client, StreamableHTTPClientTransport } = await sdk2();
    const client = new Client({ name: 'v2', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } });
    client.setRequestHandler('elicitation/create', reply);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return { client, modern: mode !== 'legacy', call: (params, options) => client.callTool(params, options),
      close: () => client.close() };
  }])),
};

let serial = 0;
export const fresh = (t) => `${t} ${++serial}`;

/** The refusal of a call, for every error class of the SDK. */
export async function refusalOf(promise) {
  try {
    const result = await promise;
    assert.fail(`not refused: ${JSON.stringify(result)}`);
  } catch (error) {
    if (error.code === 'ERR_ASSERTION') throw error;
    assert.equal(error.code, -31001, error.stack);
    return error.data;
  }
}

/** Uses all of the server `up` behind the endpoint; `prefix`: of its names there. */
export async function useEverything(connect, url, prefix) {
  const { client, call, close, modern } = await connect(url);
  assert.equal(client.getServerVersion().name, 'sdk-upstream');
  assert.equal(client.getInstructions(), 'For tests. 漢字 ünïcode survives.');
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((x) => x.name), Object.keys(TOOLS).map((x) => prefix + x),
    'what no rule lists is not shown');
  const echo = tools[0];
  assert.equal(echo.annotations.readOnlyHint, true);
  assert.equal(echo.inputSchema.properties.message.type, 'string');

  const words = fresh('tab\t quote" back\\ slash/ é 漢字 🎉 \u2028 end');
  assert.equal((await call({ name: `${prefix}echo`, arguments: { message: words } })).content[0].text,
    `Echo: ${words}`);
  const sum = await call({ name: `${prefix}add`, arguments: { a: 1.5, b: ++serial } });
  assert.deepEqual(sum.structuredContent, { sum: 1.5 + serial });
  assert.equal((await call({ name: `${prefix}picture` })).content[0].mimeType, 'image/png');
  assert.equal((await call({ name: `${prefix}fail`, arguments: {},
    _meta: { 'io.writ/idempotencyKey': fresh('k') } })).isError, true);

  // refused, in both forms, and still usable
  const refused = await refusalOf(call({ name: `${prefix}echo`, arguments: { message: 'x'.repeat(101) } }));
  assert.deepEqual([refused.reason, refused.constraint], ['constraint_failed', 'message max_length']);
  const shown = await call({ name: `${prefix}add`, arguments: { a: 11, b: 1 } });
  assert.equal(shown.isError, true);
  assert.equal(shown._meta['io.writ/refusal'].constraint, 'a le');
  assert.equal((await refusalOf(call({ name: `${prefix}hidden` }))).reason, 'tool_not_listed');
  const again = fresh('twice');
  await call({ name: `${prefix}echo`, arguments: { message: again } });
  assert.equal((await refusalOf(call({ name: `${prefix}echo`, arguments: { message: again } }))).reason,
    'duplicate_outcome');
  assert.deepEqual((await call({ name: `${prefix}add`, arguments: { a: 1.5, b: serial - 2 } })).structuredContent,
    sum.structuredContent, 'replayed');
  const last = fresh('still here');
  assert.equal((await call({ name: `${prefix}echo`, arguments: { message: last } })).content[0].text,
    `Echo: ${last}`);

  // progress comes while the call runs
  const progress = [];
  await call({ name: `${prefix}steps`, arguments: { n: 3 + (++serial) / 1000 } },
    { onprogress: (p) => progress.push(p.message) });
  assert.deepEqual(progress, ['step 1', 'step 2', 'step 3']);
  // the server sends a request
  if (!modern) assert.equal(
    (await call({ name: `${prefix}ask`, arguments: { question: fresh('ok?') } })).content[0].text, 'They said yes');

  // everything else
  assert.deepEqual((await client.listPrompts()).prompts.map((p) => p.name), [`${prefix}greet`]);
  const prompt = await client.getPrompt({ name: `${prefix}greet`, arguments: { name: 'Ada' } });
  assert.equal(prompt.messages[0].content.text, 'Greet Ada');
  assert.deepEqual((await client.listResources()).resources.map((r) => r.uri), ['test://note']);
  assert.deepEqual((await client.listResourceTemplates()).resourceTemplates.map((r) => r.uriTemplate),
    ['test://page/{n}']);
  assert.equal((await client.readResource({ uri: 'test://page/7' })).contents[0].text, 'page 7');
  await assert.rejects(client.readResource({ uri: 'test://nothing' }), (e) => e.code === -32602 ||
    e.code === -32002);
  const completion =
    await client.complete({ ref: { type: 'ref/prompt', name: `${prefix}greet` },
      argument: { name: 'name', value: 'par' } });
  assert.deepEqual(completion.completion.values, ['paris', 'park']);
  if (!modern) {
    await client.ping();
    await client.setLoggingLevel('debug');
  }
  await close();
}
