#!/usr/bin/env node
// suite-server.mjs - a tool server on the official SDK that has everything which the official
// conformance suite asks of a server, in both protocol families or in one: startSuiteServer(t) over
// HTTP, and over stdio when it is run as a program: suite-server.mjs [legacy|modern|both].
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { sdk2Server, sdk2ServerStdio, zod } from '../npm/peers.mjs';
import { registerJobs, taskTable, TASKS } from './suite-tasks.mjs';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==';
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const embedded = (uri, mimeType, body) => ({ type: 'resource', resource: { uri, mimeType, text: body } });

/** Tools that answer always the same. */
const CONTENT = {
  test_simple_text: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  test_image_content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
  test_audio_content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  test_multiple_content_types: [
    { type: 'text', text: 'Multiple content types test:' }, { type: 'image', data: PNG, mimeType: 'image/png' },
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
};

const DIALECT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', additionalProperties: false,
  $defs: { address: { $anchor: 'addressDef', type: 'object',
    properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' },
    contactMethod: { enum: ['phone', 'email'] }, phone: { type: 'string' }, email: { type: 'string' } },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] }, then: { required: ['phone'] },
  else: { required: ['email'] },
};

const MIRRORED = {
  type: 'object', required: ['region', 'query'],
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' },
    limit: { type: 'integer', 'x-mcp-header': 'Limit' }, dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    query: { type: 'string' } },
};

/** A state that only its maker can have made. */
function sealer(ProtocolError) {
  const key = randomBytes(32);
  const mac = (body) => createHmac('sha256', key).update(body).digest();
  return {
    seal: (value) => {
      const body = Buffer.from(JSON.stringify(value));
      return Buffer.concat([mac(body), body]).toString('base64url');
    },
    open: (sealed) => {
      const bytes = Buffer.from(sealed, 'base64url');
      const body = bytes.subarray(32);
      if (bytes.length < 32 || bytes.toString('base64url') !== sealed ||
        !timingSafeEqual(bytes.subarray(0, 32), mac(body))) throw new ProtocolError(-32602, 'the state is not ours');
      return JSON.parse(body.toString());
    },
  };
}

/** Makes a server; `shared` is what all servers of one process have in common. */
function make(sdk, z, shared) {
  const { McpServer, ResourceTemplate, completable, fromJsonSchema, inputRequired, CLIENT_CAPABILITIES_META_KEY } = sdk;
  const server = new McpServer({ name: 'suite-server', version: '1.0.0' }, {
    capabilities: {
      logging: {}, completions: {}, tools: { listChanged: true }, prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      extensions: { [TASKS]: {} },
    },
    requestState: { verify: shared.seals.open },
  });
  const tool = (name, inputSchema, run) =>
    server.registerTool(name, { description: name, ...(inputSchema === undefined ? {} : { inputSchema }) },
      inputSchema === undefined ? (ctx) => run({}, ctx) : run);
  const shape = (members) => z.object(members);

  // ---- content
  for (const [name, content] of Object.entries(CONTENT)) tool(name, undefined, async () => ({ content }));
  tool('test_error_handling', undefined, async () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  tool('json_schema_2020_12_tool', fromJsonSchema(DIALECT), async (args) => text(JSON.stringify(args)));
  tool('test_mirrored', fromJsonSchema(MIRRORED), async (args) => text(JSON.stringify(args)));

  // ---- messages of a running call
  const log = async (_args, ctx) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await ctx.mcpReq.log('info', line);
      await sleep(20);
    }
    return text('logged');
  };
  const progress = async (ctx, done, total) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    if (progressToken !== undefined)
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: done, total } });
  };
  tool('test_tool_with_logging', undefined, log);
  tool('test_logging_tool', undefined, log);
  tool('test_tool_with_progress', undefined, async (_args, ctx) => {
    for (const done of [0, 50, 100]) {
      await progress(ctx, done, 100);
      await sleep(20);
    }
    return text('done');
  });
  tool('test_reconnection', undefined, async (_args, ctx) => {
    if (shared.closes) ctx.http?.closeSSE?.();
    await sleep(shared.closes ? 100 : 1200); // longer than a second: then a stream has to begin
    return text('reconnected');
  });

  // ---- requests of a running call: one handler for both families, the SDK pushes the question to a session
  const form = (message, properties, required = Object.keys(properties)) =>
    inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } });
  const prompt = (words) =>
    inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: words } }],
      maxTokens: 100 });
  const askName = (message = 'What is your name?') => form(message, { name: { type: 'string' } });
  const given = (ctx) => ctx.mcpReq.inputResponses ?? {};
  const ask = (name, inputSchema, questions, done) => tool(name, inputSchema, async (args, ctx) => {
    const asked = questions(args, ctx);
    const answered = Object.keys(asked).every((key) => given(ctx)[key] !== undefined && typeof given(ctx)[key] ===
      'object');
    return answered ? text(done(given(ctx), args)) : inputRequired({ inputRequests: asked });
  });
  const told = (r) => `action: ${r.action}, content: ${JSON.stringify(r.content ?? {})}`;
  const words = (r) => (Array.isArray(r.content) ? r.content[0] : r.content)?.text;

  ask('test_sampling', shape({ prompt: z.string() }), (args) => ({ q: prompt(args.prompt) }),
    ({ q }) => `LLM response: ${words(q)}`);
  ask('test_elicitation', shape({ message: z.string() }),
    (args) => ({ q: form(args.message, { username: { type: 'string' }, email: { type: 'string' } }) }),
    ({ q }) => `User response: ${told(q)}`);
  ask('test_elicitation_sep1034_defaults', undefined, () => ({
    q: form('Please look', {
      name: { type: 'string', default: 'John Doe' }, age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }, []),
  }), ({ q }) => `Elicitation completed: ${told(q)}`);
  const titled = ['First', 'Second', 'Third'].map((title, i) => ({ const: `value${i + 1}`, title }));
  ask('test_elicitation_sep1330_enums', undefined, () => ({
    q: form('Please choose', {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    }, []),
  }), ({ q }) => `Elicitation completed: ${told(q)}`);
  tool('test_input_required_result_elicitation', undefined, async (_args, ctx) => {
    const name = given(ctx).user_name?.content?.name;
    return name === undefined ? inputRequired({ inputRequests: { user_name: askName() } }) : text(`Hello, ${name}!`);
  });
  ask('test_input_required_result_sampling', undefined, () => ({ capital: prompt('What is the capital of France?') }),
    ({ capital }) => words(capital));
  ask('test_input_required_result_list_roots', undefined, () => ({ roots: inputRequired.listRoots() }),
    ({ roots }) => JSON.stringify(roots.roots));
  ask('test_missing_capability', undefined, () => ({ q: prompt('ping') }), () => 'it was there');
  tool('test_streaming_elicitation', undefined, async (_args, ctx) => {
    await progress(ctx, 1, 2);
    return inputRequired({ inputRequests: { name: askName() } });
  });
  tool('test_input_required_result_capabilities', undefined, async (_args, ctx) => {
    const can = ctx.mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
    const inputRequests = { ...(can.elicitation ? { e: askName() } : {}),
      ...(can.sampling ? { s: prompt('hello') } : {}), ...(can.roots ? { r: inputRequired.listRoots() } : {}) };
    return Object.keys(inputRequests).length === 0 || Object.keys(given(ctx)).length > 0
      ? text('nothing to ask') : inputRequired({ inputRequests });
  });

  // ---- rounds with a state: the last question's state says how far the call is
  const rounds = (name, ...steps) => tool(name, undefined, async (_args, ctx) => {
    const at = ctx.mcpReq.requestState()?.step ?? 0;
    const answered = at > 0 && Object.keys(steps[at - 1]).every((key) => given(ctx)[key] !== undefined);
    const next = at === 0 ? 0 : answered ? at : at - 1;
    return next === steps.length
      ? text(`${name}: state-ok`)
      : inputRequired({ inputRequests: steps[next], requestState: shared.seals.seal({ step: next + 1 }) });
  });
  const confirm = { confirm: form('Please confirm', { ok: { type: 'boolean' } }) };
  rounds('test_input_required_result_request_state', confirm);
  rounds('test_input_required_result_tampered_state', confirm);
  rounds('test_input_required_result_multiple_inputs',
    { user_name: askName(), greeting: prompt('Greet'), client_roots: inputRequired.listRoots() });
  rounds('test_input_required_result_multi_round', { step1: askName('Step 1: your name?') },
    { step2: form('Step 2: your colour?', { color: { type: 'string' } }) });
  registerJobs(server, z, () => inputRequired({ inputRequests: { user_name: askName() } }));

  // ---- lists that change
  tool('test_trigger_tool_change', undefined, async () => { shared.changed('tools'); return text('told'); });
  tool('test_trigger_prompt_change', undefined, async () => { shared.changed('prompts'); return text('told'); });

  // ---- resources and prompts
  const resource = (name, uri, mimeType, body) => server.registerResource(name, uri, { mimeType, description: name },
    async () => ({ contents: [{ uri, mimeType, ...body }] }));
  resource('static-text', 'test://static-text', 'text/plain',
    { text: 'This is the content of the static text resource.' });
  resource('static-binary', 'test://static-binary', 'image/png', { blob: PNG });
  resource('watched-resource', 'test://watched-resource', 'text/plain', { text: 'watched' });
  server.registerResource('template', new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { mimeType: 'application/json' },
    async (uri, { id }) =>
      ({ contents: [{ uri: uri.href, mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }] }));
  for (const method of ['resources/subscribe', 'resources/unsubscribe'])
    server.server.setRequestHandler(method, async () => ({}));
  const messages = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) });
  const said = (words_) => ({ type: 'text', text: words_ });
  const argument = completable(z.string(), (value) => ['paris', 'park', 'party'].filter((w) => w.startsWith(value)));
  server.registerPrompt('test_simple_prompt', { description: 'simple' },
    async () => messages(said('This is a simple prompt for testing.')));
  server.registerPrompt('test_prompt_with_arguments',
    { description: 'two arguments', argsSchema: shape({ arg1: argument, arg2: z.string() }) },
    async ({ arg1, arg2 }) => messages(said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)));
  server.registerPrompt('test_prompt_with_embedded_resource',
    { description: 'a resource', argsSchema: shape({ resourceUri: z.string() }) },
    async ({ resourceUri }) => messages(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      said('Please process the embedded resource above.')));
  server.registerPrompt('test_prompt_with_image', { description: 'an image' },
    async () => messages({ type: 'image', data: PNG, mimeType: 'image/png' }, said('Please analyze the image above.')));
  server.registerPrompt('test_input_required_result_prompt', { description: 'asks back' }, async (ctx) => {
    const context = given(ctx).user_context?.content?.context;
    return context === undefined
      ? inputRequired({ inputRequests: { user_context: form('What context?', { context: { type: 'string' } }) } })
      : messages(said(`Context: ${context}`));
  });
  return server;
}

/** Events of streams, for resumption: ids are "<stream>/<number>". */
function eventStore() {
  const streams = new Map();
  const streamOf = (id) => id.slice(0, id.lastIndexOf('/'));
  return {
    async storeEvent(stream, message) {
      const events = streams.get(stream) ?? [];
      streams.set(stream, events);
      return `${stream}/${events.push(message)}`;
    },
    async getStreamIdForEventId(id) { return streamOf(id); },
    async replayEventsAfter(id, { send }) {
      const stream = streamOf(id);
      for (const [i, message] of (streams.get(stream) ?? []).entries()) {
        if (i >= Number(id.slice(stream.length + 1)) && message?.jsonrpc !== undefined)
          await send(`${stream}/${i + 1}`, message);
      }
      return stream;
    },
  };
}

const LOCAL = /^(https?:\/\/)?(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** The server over HTTP, in both families; ends with the test. { url, tasks }. One that `closes` closes a
 * stream in the middle of a call, as servers may; `json`: it answers a session with JSON where it can. */
export async function startSuiteServer(t, { eras = 'both', closes = true, json: enableJsonResponse = false } = {}) {
  const sdk = await sdk2Server();
  const { z } = await zod();
  const sessions = new Map();
  const shared = {
    closes, seals: sealer(sdk.ProtocolError),
    changed: (what) => {
      handler.notify[`${what}Changed`]();
      for (const { server } of sessions.values())
        server[what === 'tools' ? 'sendToolListChanged' : 'sendPromptListChanged']();
    },
  };
  const table = taskTable();
  const handler = sdk.createMcpHandler(() => make(sdk, z, shared), { legacy: 'reject', onerror: () => {} });
  const modern = sdk.toNodeHandler(handler);
  const json = (res, status, body) => res.writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify(body));
  const refuse = (res, status, code, message, id = null) =>
    json(res, status, { jsonrpc: '2.0', id, error: { code, message } });
  const open = async (req, res, body) => {
    const server = make(sdk, z, shared);
    const transport = new sdk.NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(), eventStore: eventStore(), retryInterval: 300, enableJsonResponse,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, server });
      }, onsessionclosed: (id) => { sessions.delete(id); },
    });
    await server.connect(transport);
    return transport.handleRequest(req, res, body);
  };
  const legacy = (req, res, body) => {
    const id = req.headers['mcp-session-id'];
    if (id !== undefined) return sessions.has(id) ? sessions.get(id).transport.handleRequest(req, res, body)
      : refuse(res, 404, -32001, 'Session not found', body?.id);
    return req.method === 'POST' && sdk.isInitializeRequest(body)
      ? open(req, res, body) : refuse(res, 400, -32000, 'Session ID required', body?.id);
  };
  const listener = http.createServer(async (req, res) => {
    if (!LOCAL.test(req.headers.host ?? '') || (req.headers.origin !== undefined && !LOCAL.test(req.headers.origin)))
      return refuse(res, 403, -32000, 'a foreign host or origin');
    let body;
    if (req.method === 'POST') {
      const chunks = [];
      for await (const chunk of req) chunks.push(chunk);
      try {
        body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      } catch {
        return refuse(res, 400, -32700, 'Parse error');
      }
    }
    const { kind } =
      sdk.classifyInboundRequest({ httpMethod: req.method, protocolVersionHeader: req.headers['mcp-protocol-version'],
        mcpMethodHeader: req.headers['mcp-method'], mcpNameHeader: req.headers['mcp-name'], body });
    if (eras === 'legacy' || (eras === 'both' && kind === 'legacy')) return legacy(req, res, body);
    const task = kind === 'modern' ? table.answer(body, req.headers) : undefined;
    return task === undefined ? modern(req, res, body) : json(res, task.status, task.body);
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  t.after(() => { listener.closeAllConnections(); listener.close(); });
  return { url: `http://127.0.0.1:${listener.address().port}/mcp`, tasks: table.tasks };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [sdk, { serveStdio, StdioServerTransport }, { z }] = [await sdk2Server(), await sdk2ServerStdio(), await zod()];
  const eras = process.argv[2] ?? 'both';
  const table = taskTable();
  const rest = new PassThrough(); // the SDK handles all other messages
  const transport = new StdioServerTransport(rest);
  let server;
  const shared = { closes: false, seals: sealer(sdk.ProtocolError),
    changed: (what) => server[what === 'tools' ? 'sendToolListChanged' : 'sendPromptListChanged']() };
  const one = () => { server = make(sdk, z, shared); return server; };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const task = eras === 'legacy' ? undefined : table.answer(JSON.parse(line));
    if (task === undefined) rest.write(`${line}\n`);
    else process.stdout.write(`${JSON.stringify(task.body)}\n`);
  }).on('close', () => rest.end());
  if (eras === 'legacy') await one().connect(transport);
  else serveStdio(one, { transport, legacy: eras === 'modern' ? 'reject' : 'serve', onerror: () => {} });
}
