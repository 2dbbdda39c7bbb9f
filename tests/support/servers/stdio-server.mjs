#!/usr/bin/env node
// stdio-server.mjs RECORD - a scripted MCP server over stdio. It appends every line that it reads to the file RECORD
// before it acts; the arguments of a call say what it does.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const record = process.argv[2];
const note = (value) => appendFileSync(record, `${JSON.stringify(value)}\n`);
const say = (value) => process.stdout.write(`${typeof value === 'string' ? value : JSON.stringify(value)}\n`);
const answer = (id, result) => say({ jsonrpc: '2.0', id, result });
const text = (t) => ({ content: [{ type: 'text', text: String(t) }] });

note({ started: process.pid, env: process.env, cwd: process.cwd(), argv: process.argv.slice(2) });
let calls = 0;

const acts = {
  echo: (m) => answer(m.id, text(m.params.arguments.say)),
  slow: (m) => setTimeout(() => answer(m.id, text(m.params.arguments.say)), m.params.arguments.ms),
  never: () => {},
  'refuse as': (m) => say({ jsonrpc: '2.0', id: m.id, error: { code: -32603, message: 'no',
    data: { reason: m.params.arguments.say } } }),
  die: () => process.exit(3),
  'die in a line': () => process.stdout.write('{"jsonrpc":"2.0","id":1,"resu', () => process.exit(3)),
  'another id': (m) => { answer(m.id + 1000, text('wrong')); answer('x', text('wrong')); answer(m.id, text('right')); },
  twice: (m) => { answer(m.id, text('first')); answer(m.id, text('second')); },
  noise: (m) => { say('not JSON'); say('[]'); say(''); say('{"jsonrpc":"2.0"}'); answer(m.id, text('after noise')); },
  'long line': () => process.stdout.write(`${'x'.repeat(1 << 21)}`),
  stderr: (m) => {
    for (let i = 0; i < 200; i++) process.stderr.write(`${'e'.repeat(5000)}\n`);
    answer(m.id, text('wrote'));
  },
  children: (m) => {
    const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
    note({ grandchild: child.pid });
    answer(m.id, text(child.pid));
  },
  progress: (m) => {
    const progressToken = m.params._meta?.progressToken;
    for (let progress = 1; progress <= 3; progress++)
      say({ jsonrpc: '2.0', method: 'notifications/progress',
        params: { progressToken, progress, message: m.params.arguments.say } });
    if (!m.params.arguments.never) answer(m.id, text(m.params.arguments.say));
  },
  // it never answers, and is never silent either
  talk: (m) => setInterval(() => say(m.params.arguments.say === 'progress'
    ? { jsonrpc: '2.0', method: 'notifications/progress',
      params: { progressToken: m.params._meta?.progressToken, progress: performance.now() } }
    : { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'still at it' } }), 300),
  big: (m) => answer(m.id, text('y'.repeat(m.params.arguments.ms))),
  ask: (m) => say({ jsonrpc: '2.0', id: 'from-server', method: 'sampling/createMessage', params: { messages: [] } }) &&
    answer(m.id, text('asked')),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line);
  note({ line: m });
  if (m.id === undefined || m.method === undefined) return;
  if (m.method === 'initialize')
    return answer(m.id, { protocolVersion: m.params.protocolVersion, capabilities: { tools: {}, prompts: {} },
      serverInfo: { name: 'scripted', version: '1' } });
  if (m.method === 'tools/list')
    return answer(m.id, { tools: ['act', 'hidden'].map((name) => ({ name, inputSchema: { type: 'object' } })) });
  if (m.method === 'prompts/get')
    return answer(m.id, { messages: [{ role: 'user', content: { type: 'text', text: m.params.name } }] });
  if (m.method === 'ping') return answer(m.id, {});
  if (m.method !== 'tools/call')
    return say({ jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'Method not found' } });
  calls++;
  return acts[m.params.arguments.act](m);
}).on('close', () => {
  note({ closed: process.pid, calls });
  process.exit(0);
});
process.on('SIGTERM', () => {
  note({ terminated: process.pid });
  process.exit(0);
});
