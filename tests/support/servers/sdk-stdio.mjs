// sdk-stdio.mjs ERAS [RECORD] - a tool server made with the official SDK, over stdio. ERAS: 'legacy',
// 'modern' or 'both'. Every start and every tool that ran or waits is a line of RECORD; without it the
// server is the very one that sdk-upstream.mjs has over HTTP.
import { appendFileSync } from 'node:fs';
import { sdk2Server, sdk2ServerStdio, zod } from '../npm/peers.mjs';
import { build } from './sdk-upstream.mjs';

const [eras, record] = process.argv.slice(2);
const note = (value) => record && appendFileSync(record, `${JSON.stringify(value)}\n`);
note({ started: process.pid });

const [sdk, { serveStdio, StdioServerTransport }, { z }] = [await sdk2Server(), await sdk2ServerStdio(), await zod()];
const state = { effects: {}, waiting: { set: (name) => note({ waits: name }) },
  cancelled: { push: (name) => note({ cancelled: name }) } };
const text = (t) => ({ content: [{ type: 'text', text: String(t) }] });

function make() {
  const server = build(sdk, z, state);
  if (record === undefined) return server;
  const low = server.server;
  const tool = (name, inputSchema, run) => server.registerTool(name, { description: name, inputSchema },
      async (args, ctx) => {
    note({ ran: name, pid: process.pid });
    return run(args, ctx);
  });
  let secret = 'nothing';
  tool('sample', z.object({ prompt: z.string() }), async ({ prompt }, ctx) => {
    const answer = await ctx.mcpReq.requestSampling(
      { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 5 });
    return text(`They said ${answer.content.text}`);
  });
  tool('roots', z.object({}), async () => text((await low.listRoots()).roots.map((r) => r.uri).join(' ')));
  tool('say', z.object({ what: z.string() }), async ({ what }, ctx) => {
    await ctx.mcpReq.log('error', what);
    return text('said');
  });
  tool('keep', z.object({ secret: z.string() }), async (args) => { [secret] = [args.secret]; return text('kept'); });
  tool('show', z.object({}), async () => text(secret));
  tool('touch', z.object({ uri: z.string() }), async ({ uri }) => {
    await low.sendResourceUpdated({ uri });
    return text('touched');
  });
  tool('grow', z.object({}), async () => { await low.sendToolListChanged(); return text('grown'); });
  tool('die', z.object({}), async () => process.exit(3));
  const subscribed = new Set();
  low.setRequestHandler?.('resources/subscribe', async ({ params }) => {
    subscribed.add(params.uri);
    note({ subscribed: params.uri, pid: process.pid });
    return {};
  });
  low.setRequestHandler?.('resources/unsubscribe', async ({ params }) => { subscribed.delete(params.uri); return {}; });
  return server;
}

if (eras === 'legacy') await make().connect(new StdioServerTransport());
else serveStdio(make, { legacy: eras === 'modern' ? 'reject' : 'serve', onerror: () => {} });
