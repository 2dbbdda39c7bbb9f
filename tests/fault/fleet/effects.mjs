// effects.mjs - the tool server of a fleet run, a process of its own, made with the official SDK. Each call appends its
// effect to the file of its argument and syncs it. Before the effect and after it the call waits until the run says how
// to go on, so that a fault can strike exactly there.
import { AsyncLocalStorage } from 'node:async_hooks';
import { fsyncSync, openSync, writeSync } from 'node:fs';
import http from 'node:http';
import { sdk2Server, zod } from '../../support/npm/peers.mjs';

const file = openSync(process.argv[2], 'a');
const { z } = await zod();
const sdk = await sdk2Server();
const request = new AsyncLocalStorage();
const waiting = new Map();
let asked = 0, effects = 0;

process.on('message', ({ number, how }) => {
  waiting.get(number)(how);
  waiting.delete(number);
});
process.on('disconnect', () => process.exit(0));

/** Gives what the run wants: 'go', or 'reset' for a connection that breaks here. */
function reach(event, detail) {
  const number = asked++;
  process.send({ number, event, ...detail });
  return new Promise((resolve) => waiting.set(number, resolve));
}

// the gateway's proof names the decision under which it sends
const claimsOf = (credential) => JSON.parse(Buffer.from(credential.split('.')[1], 'base64url').toString('utf8'));

async function run(tool, args) {
  const { socket, credential } = request.getStore();
  const { decision_id, idempotency_key, sub } = claimsOf(credential);
  const detail = { tool, id: args.id, decision_id };
  if (await reach('arrived', detail) === 'reset') {
    socket.resetAndDestroy();
    return { content: [] };
  }
  const n = effects++;
  writeSync(file, `${JSON.stringify({ n, tool, args, decision_id, key: idempotency_key, agent: sub })}\n`);
  fsyncSync(file);
  if (await reach('effect', detail) === 'reset') socket.resetAndDestroy();
  return { content: [{ type: 'text', text: `effect ${n}` }] };
}

function build() {
  const server = new sdk.McpServer({ name: 'effects', version: '1.0.0' });
  for (const tool of ['spend', 'send', 'note', 'grant']) {
    const inputSchema = z.object({ id: z.string(), ...(tool === 'spend' ? { amount: z.number() } : {}) });
    server.registerTool(tool, { description: `one effect of ${tool}`, inputSchema }, (args) => run(tool, args));
  }
  return server;
}

const handle = sdk.toNodeHandler(sdk.createMcpHandler(build, { legacy: 'reject', onerror: () => {} }));
const server = http.createServer(async (req, res) => {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  const body = chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const credential = body?.params?._meta?.['io.writ/credential'];
  await request.run({ socket: res.socket, credential }, () => handle(req, res, body));
});
server.listen(Number(process.argv[3]), '127.0.0.1', () => process.send({ event: 'listening' }));
