// child.mjs DIRECTORY - a scripted MCP server over stdio. What a call does is in its name; every line
// that it reads is in DIRECTORY/lines, every start in DIRECTORY/starts. DIRECTORY/refuse holds how
// many starts answer initialize with an error.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const dir = process.argv[2];
const file = (name) => join(dir, name);
const lines = (name) => (existsSync(file(name)) ? readFileSync(file(name), 'utf8').trimEnd().split('\n') : []);
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const waiting = [];

appendFileSync(file('starts'), `${process.pid}\n`);
const refuses = existsSync(file('refuse')) && lines('starts').length <= Number(readFileSync(file('refuse'), 'utf8'));

const tools = {
  echo: ({ id, params }) => answer(id, params.arguments.text),
  /** Waits for a second one, and answers the second first. */
  pair: (call) => {
    waiting.push(call);
    if (waiting.length < 2) return;
    for (const { id, params } of waiting.splice(0).reverse()) answer(id, params.arguments.text);
  },
  never: () => {},
  tell: ({ id, params }) => {
    say({ method: 'notifications/message', params: { level: 'info', data: params.arguments.text } });
    say({ method: 'notifications/resources/updated', params: { uri: `file:///${params.arguments.text}` } });
    say({ method: 'notifications/tools/list_changed' });
    answer(id, 'told');
  },
  flood: ({ id, params }) => {
    const token = params._meta.progressToken;
    for (let i = 0; i < 192; i++)
      say({ method: 'notifications/progress',
        params: { progressToken: token, progress: i, message: 'x'.repeat(1 << 19) } });
    answer(id, 'flooded');
  },
  long: () => process.stdout.write('x'.repeat(3 << 20)),
  die: () => process.exit(3),
  ping: (call) => {
    waiting.push(call);
    say({ id: 'p1', method: 'ping' });
    say({ id: 'p2', method: 'sampling/createMessage', params: {} });
  },
};

function answer(id, text) {
  say({ id, result: { content: [{ type: 'text', text }] } });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(file('lines'), `${line}\n`);
  const message = JSON.parse(line);
  if (message.method === 'initialize') {
    if (refuses) return say({ id: message.id, error: { code: -32603, message: 'not today' } });
    return say({ id: message.id,
      result: { protocolVersion: message.params.protocolVersion, serverInfo: { name: 'child', version: '1' },
        capabilities: { tools: {} } } });
  }
  if (message.method === 'tools/list')
    return say({ id: message.id,
      result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) } });
  if (message.method === 'tools/call') return tools[message.params.name](message);
  if (message.id === 'p2') return answer(waiting.pop().id, 'pinged');
  if (message.id !== undefined && message.method !== undefined)
    return say({ id: message.id, error: { code: -32601, message: 'Method not found' } });
});
