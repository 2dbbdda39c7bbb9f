// sdk-upstream.mjs - a tool server made with the official SDK, which speaks both protocol families
// over HTTP: sessions and streams of the legacy one, and 2026-07-28. It counts its effects.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { sdk2Server, zod } from '../npm/peers.mjs';
import { reservePort } from '../js/ports.mjs';

const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** The server itself, for any transport. */
export function build({ McpServer, ResourceTemplate, completable, inputRequired, acceptedContent }, z, state) {
  const server = new McpServer({ name: 'sdk-upstream', version: '1.2.3', title: 'Tools for tests' }, {
    capabilities: { logging: {}, tools: { listChanged: true }, prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true }, completions: {} },
    instructions: 'For tests. 漢字 ünïcode survives.',
  });
  const ran = (name) => { state.effects[name] = (state.effects[name] ?? 0) + 1; };
  const text = (t) => ({ content: [{ type: 'text', text: String(t) }] });

  server.registerTool('echo', { description: 'says it again', inputSchema: z.object({ message: z.string() }),
      annotations: { readOnlyHint: true } }, async ({ message }) => {
    ran('echo');
    return text(`Echo: ${message}`);
  });
  server.registerTool('add', { description: 'adds', inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }) },
    async ({ a, b }) => { ran('add'); return { ...text(a + b), structuredContent: { sum: a + b } }; });
  server.registerTool('fail', { description: 'fails' }, async () => {
    ran('fail');
    throw new Error('failed on purpose');
  });
  server.registerTool('picture', { description: 'a picture' }, async () => {
    ran('picture');
    return { content: [{ type: 'image', data: PICTURE, mimeType: 'image/png' }] };
  });
  server.registerTool('steps', { description: 'tells its progress', inputSchema: z.object({ n: z.number() }) },
      async ({ n }, ctx) => {
    ran('steps');
    const progressToken = ctx.mcpReq?._meta?.progressToken ?? ctx._meta?.progressToken;
    for (let progress = 1; progress <= n; progress++) {
      if (progressToken !== undefined)
        await ctx.mcpReq.notify({ method: 'notifications/progress',
          params: { progressToken, progress, total: n, message: `step ${progress}` } });
    }
    return text(`${n} steps`);
  });
  server.registerTool('ask', { description: 'asks the person', inputSchema: z.object({ question: z.string() }) },
      async ({ question }, ctx) => {
    ran('ask');
    const requestedSchema = { type: 'object', properties: { reply: { type: 'string' } }, required: ['reply'] };
    if (ctx.mcpReq.envelope) {
      const given = acceptedContent(ctx.mcpReq.inputResponses, 'q', z.object({ reply: z.string() }));
      return given ? text(`They said ${given.reply}`)
        : inputRequired({ inputRequests: { q: inputRequired.elicit({ message: question, requestedSchema }) } });
    }
    const answer = await ctx.mcpReq.elicitInput({ message: question, requestedSchema });
    return text(`They said ${answer.content.reply}`);
  });
  server.registerTool('wait', { description: 'waits for a release', inputSchema: z.object({ name: z.string() }) },
      async ({ name }, ctx) => {
    ran('wait');
    const { signal } = ctx.mcpReq;
    await new Promise((resolve) => {
      state.waiting.set(name, resolve);
      signal.addEventListener('abort', () => { state.cancelled.push(name); resolve(); });
    });
    return text('waited');
  });
  server.registerTool('fetch',
      { description: 'has arguments with names that messages have',
          inputSchema: z.object({ method: z.string(), result: z.string().optional() }) }, async ({ method }) => {
    ran('fetch');
    return text(method);
  });
  server.registerTool('hidden', { description: 'no rule lists it' }, async () => {
    ran('hidden');
    return text('hidden');
  });

  server.registerResource('note', 'test://note', { mimeType: 'text/plain', description: 'a note' },
    async (uri) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'a note' }] }));
  server.registerResource('page', new ResourceTemplate('test://page/{n}', { list: undefined }),
    { mimeType: 'text/plain' }, async (uri, { n }) => ({ contents: [{ uri: uri.href, text: `page ${n}` }] }));
  server.registerPrompt('greet',
    { description: 'greets',
      argsSchema: z.object(
        { name: completable(z.string(), (v) => ['paris', 'park', 'rome'].filter((x) => x.startsWith(v))) }) },
    async ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }] }));
  for (const method of ['resources/subscribe', 'resources/unsubscribe'])
    server.server.setRequestHandler(method, async () => ({}));
  if (state.list) server.server.setRequestHandler('tools/list', async () => ({ tools: state.list }));
  return server;
}

/** A running server; ends with the test. eras: 'both', 'legacy', 'modern'. list: its tools, as they are. */
export async function startSdkUpstream(t, { eras = 'both', port, list } = {}) {
  const sdk = await sdk2Server();
  const { z } = await zod();
  const state = { list, effects: {}, waiting: new Map(), cancelled: [], sessions: new Map(), servers: [],
    requests: [] };
  const modern = sdk.toNodeHandler(sdk.createMcpHandler(() => build(sdk, z, state),
    { legacy: 'reject', onerror: () => {} }));

  const refuse = (res, status, code, message, id = null) => {
    res.writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
  };
  const legacy = async (req, res, body) => {
    const id = req.headers['mcp-session-id'];
    if (id !== undefined) {
      const transport = state.sessions.get(id);
      return transport ? transport.handleRequest(req, res, body) : refuse(res, 404, -32001, 'Session not found',
        body?.id);
    }
    if (req.method !== 'POST' || !sdk.isInitializeRequest(body))
      return refuse(res, 400, -32000, 'Session ID required', body?.id);
    const server = build(sdk, z, state);
    const transport = new sdk.NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => { state.sessions.set(session, transport); },
      onsessionclosed: (session) => { state.sessions.delete(session); },
    });
    await server.connect(transport);
    state.servers.push(server);
    return transport.handleRequest(req, res, body);
  };
  const server = http.createServer(async (req, res) => {
    let body;
    if (req.method === 'POST') {
      const chunks = [];
      for await (const chunk of req) chunks.push(chunk);
      try {
        body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      } catch {
        return refuse(res, 400, -32700, 'Parse error: Invalid JSON'); // as the SDK's own reading does
      }
    }
    state.requests.push({ http: req.method, headers: req.headers, body });
    const { kind } = sdk.classifyInboundRequest({
      httpMethod: req.method, protocolVersionHeader: req.headers['mcp-protocol-version'],
      mcpMethodHeader: req.headers['mcp-method'], mcpNameHeader: req.headers['mcp-name'], body,
    });
    if (eras === 'modern' || (eras === 'both' && kind !== 'legacy')) return modern(req, res, body);
    return legacy(req, res, body);
  });
  state.port = port ?? await reservePort();
  await new Promise((resolve) => server.listen(state.port, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${state.port}/mcp`;
  state.calls = () => state.requests.filter((r) => r.body?.method === 'tools/call');
  state.release = (name) => state.waiting.get(name)();
  state.stop = () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  t.after(() => state.stop());
  return state;
}
