// Both protocol families: each mode of the SDK's client in front of a server of one, the other and both, over HTTP and
// over stdio: it gets the same through the gateway as from the server, and where it gets no answer it gets an error and
// does not hang.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SOURCE, startGateway } from '../support/js/gateway.mjs';
import { sdk2, sdk2Stdio } from '../support/npm/peers.mjs';
import { Caller } from '../support/js/rpc.mjs';
import { startSdkUpstream } from '../support/servers/sdk-upstream.mjs';

const SERVER = resolve(SOURCE, 'tests/support/servers/sdk-stdio.mjs');
const ANY = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };
const TOOLS = ['echo', 'add', 'fail', 'picture', 'steps', 'ask'];
const MODES = { legacy: 'legacy', auto: 'auto', modern: { pin: '2026-07-28' } };
const PATIENCE_MS = 60_000;

/** Everything that a client sees, as one value. */
async function use(mode, transport) {
  const { Client } = await sdk2();
  const client = new Client({ name: 'eras', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: MODES[mode] } });
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { reply: 'yes' } }));
  try {
    await client.connect(transport, { timeout: PATIENCE_MS });
  } catch (error) {
    await client.close().catch(() => {});
    return { connected: false, hung: /timed? ?out/i.test(error.message), error };
  }
  const progress = [];
  const call = async (name, args, options) => {
    const { content, isError, structuredContent } = await client.callTool({ name, arguments: args },
      { timeout: PATIENCE_MS, ...options });
    return { content, isError, structuredContent };
  };
  const seen = {
    connected: true,
    version: client.getNegotiatedProtocolVersion(),
    capabilities: client.getServerCapabilities(),
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    tools: (await client.listTools()).tools.filter((t) => TOOLS.includes(t.name)),
    prompts: (await client.listPrompts()).prompts,
    resources: (await client.listResources()).resources,
    templates: (await client.listResourceTemplates()).resourceTemplates,
    read: (await client.readResource({ uri: 'test://note' })).contents,
    prompt: (await client.getPrompt({ name: 'greet', arguments: { name: 'x' } })).messages,
    completed: (await client.complete({ ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: 'pa' } })).completion,
    echo: await call('echo', { message: 'ünïcode' }),
    add: await call('add', { a: 1, b: 2 }),
    fail: await call('fail', {}),
    steps: await call('steps', { n: 3 }, { onprogress: (p) => progress.push(p.progress) }),
    asked: await call('ask', { question: 'really?' }),
    unknown: await client.readResource({ uri: 'test://none' }).catch((e) => ({ code: e.code })),
    progress,
  };
  await client.close();
  return seen;
}

/** What may differ: a client without an answer gets the transport's own error; and the SDK's own transport over stdio
 * loses progress that comes together with the answer. */
const told = ({ error, progress, ...seen }) => seen;

async function http(url) {
  const { StreamableHTTPClientTransport } = await sdk2();
  return new StreamableHTTPClientTransport(new URL(url));
}

async function direct(kind, eras, upstream, dir) {
  if (kind === 'http') return http(upstream.url);
  const { StdioClientTransport } = await sdk2Stdio();
  return new StdioClientTransport({ command: process.execPath, args: [SERVER, eras, join(dir, 'direct')],
    stderr: 'ignore' });
}

const rules = (up) => Object.fromEntries(TOOLS.map((name) => [`${up}/${name}`, ANY]));

for (const kind of ['http', 'stdio']) {
  for (const eras of ['legacy', 'modern', 'both']) {
    test(`each client works with a server over ${kind} that speaks ${eras}`, async (t) => {
      const dir = mkdtempSync(join(tmpdir(), 'writ-eras-'));
      t.after(() => rmSync(dir, { recursive: true, force: true }));
      const upstream = kind === 'http' ? await startSdkUpstream(t, { eras }) : undefined;
      const gw = await startGateway(t, {
        upstreams: { up: kind === 'http'
          ? { http: upstream.url } : { stdio: [process.execPath, SERVER, eras, join(dir, 'through')] } },
          tools: rules('up'),
      });
      for (const mode of Object.keys(MODES)) {
        await t.test(mode, async () => {
          const wanted = await use(mode, await direct(kind, eras, upstream, dir));
          const got = await use(mode, await http(`${gw.origin}/mcp/up`));
          assert.equal(wanted.connected, !(mode === 'legacy' && eras === 'modern') &&
            !(mode === 'modern' && eras === 'legacy'));
          assert.deepEqual(told(got), told(wanted));
          if (got.connected) assert.deepEqual(got.progress, [1, 2, 3]);
          if (!got.connected) {
            assert.ok(!got.hung);
            t.diagnostic(`${kind} ${eras} ${mode}: ${wanted.error.message} | ${got.error.message}`);
          }
        });
      }
    });
  }
}

/** Requests of a client that does not negotiate to a server of the other family, and their answers. */
const FOREIGN = {
  legacy: { modern: true, told: -32000,
    asks: { 'server/discover': {}, 'tools/list': {}, 'tools/call': { name: 'echo', arguments: { message: 'x' } },
      'subscriptions/listen': { notifications: { toolsListChanged: true } } } },
  modern: { modern: false, told: -32022,
    asks: { initialize: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'eras', version: '1' } },
      'tools/list': {}, 'tools/call': { name: 'echo', arguments: { message: 'x' } } } },
};

for (const [eras, { modern, told: code, asks }] of Object.entries(FOREIGN)) {
  test(`a server that speaks ${eras} alone: every request of the other family is refused at once, and nothing runs`,
      async (t) => {
    const upstream = await startSdkUpstream(t, { eras });
    const gw = await startGateway(t, {
      upstreams: { http: { http: upstream.url }, stdio: { stdio: [process.execPath, SERVER, eras, 'record'] } },
      tools: { 'http/echo': ANY, 'stdio/echo': ANY },
    });
    const places = { itself: [{ origin: new URL(upstream.url).origin }, '/mcp'], http: [gw, '/mcp/http'],
      stdio: [gw, '/mcp/stdio'] };
    for (const [place, [gateway, path]] of Object.entries(places)) {
      const caller = new Caller(gateway, { path, modern });
      for (const [method, params] of Object.entries(asks)) {
        const answer = await caller.request(method, params, { signal: AbortSignal.timeout(PATIENCE_MS) });
        assert.deepEqual([answer.status, answer.error.code, answer.message.id], [400, code, caller.ids],
          `${place} ${method}: ${answer.text}`);
        if (eras === 'modern')
          assert.deepEqual(answer.error.data.supported, ['2026-07-28'], `${place} ${method}: ${answer.text}`);
      }
    }
    assert.deepEqual(upstream.effects, {});
    assert.ok(!gw.decisions().some((d) => gw.show(d.decision_id).outcome.outcome === 'executed'));
  });
}

test('on one endpoint with a server of each family, each client sees the servers of its own', async (t) => {
  const gw = await startGateway(t, {
    upstreams: Object.fromEntries(['legacy', 'modern',
      'both'].map((eras) => [eras, { stdio: [process.execPath, SERVER, eras, eras], list_timeout: '60s' }])),
    tools: Object.fromEntries(['legacy', 'modern', 'both'].map((eras) => [`${eras}/echo`, ANY])),
  });
  const { Client } = await sdk2();
  for (const [mode, names] of [['legacy', ['legacy', 'both']], ['auto', ['modern', 'both']],
      ['modern', ['modern', 'both']]]) {
    const client = new Client({ name: 'eras', version: '1' }, { versionNegotiation: { mode: MODES[mode] } });
    await client.connect(await http(gw.url), { timeout: PATIENCE_MS });
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((x) => x.name).sort(), names.map((n) => `${n}__echo`).sort(), mode);
    for (const { name } of tools) {
      assert.equal((await client.callTool({ name, arguments: { message: mode } })).content[0].text, `Echo: ${mode}`);
    }
    await client.close();
  }
});
