#!/usr/bin/env node
// hostile-stdio.mjs RECORD - a server over stdio that errs, in both protocol families. A call says in its
// argument `deed` how; it is a line of the file RECORD before anything else happens.
import { spawn } from 'node:child_process';
import { appendFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const record = process.argv[2];
const note = (value) => appendFileSync(record, `${JSON.stringify(value)}\n`);
/** All of it, also where the pipe takes only a part. */
const write = (bytes) => {
  const all = Buffer.from(bytes);
  for (let at = 0; at < all.length;) {
    try {
      at += writeSync(1, all, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') return; // the reader is gone: it is being killed
    }
  }
};
const line = (value) => write(`${typeof value === 'string' ? value : JSON.stringify(value)}\n`);
const result = (text) => ({ resultType: 'complete', content: [{ type: 'text', text }] });
const message = (id, text = 'first') => ({ jsonrpc: '2.0', id, result: result(text) });
const log = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(1000) } };

export const DEEDS = {
  'never answers': () => {},
  'exits without an answer': () => process.exit(3),
  'exits in the middle of its answer': (id) => { write(JSON.stringify(message(id)).slice(0, 20)); process.exit(0); },
  'answers and exits': (id) => { line(message(id)); process.exit(0); },
  'is killed': () => process.kill(process.pid, 'SIGKILL'),
  'answers another id': (id) => line(message(id + 1000)),
  'answers with its id as a string': (id) => line(message(String(id))),
  'answers initialize again, then the call': (id) => { line(message(0, 'second')); line(message(id)); },
  'answers twice': (id) => { line(message(id)); line(message(id, 'second')); },
  'answers in two halves': async (id) => {
    const text = JSON.stringify(message(id));
    write(text.slice(0, 30));
    await sleep(100);
    write(`${text.slice(30)}\n`);
  },
  'stops in the middle of its answer': (id) => write(JSON.stringify(message(id)).slice(0, 30)),
  'answers in a line with CR LF': (id) => write(`${JSON.stringify(message(id))}\r\n`),
  'answers a line of 1 MiB': (id) => line(message(id, `first${'x'.repeat(1 << 20)}`)),
  'writes a line that never ends': () => { for (let i = 0; i < 64; i++) write('x'.repeat(1 << 18)); },
  'writes noise, then answers': (id) => {
    for (const noise of ['listening on 3000', '[]', '', '{}', '"x"', '\x1b[31mred\x1b[0m', '{"jsonrpc":"2.0"}'])
      line(noise);
    line(message(id));
  },
  'answers in invalid UTF-8': (id) =>
    write(Buffer.concat([Buffer.from(JSON.stringify(message(id)).slice(0, -4)), Buffer.from([0xff, 0xfe]),
      Buffer.from('"}]}}\n')])),
  'answers with a NUL in the line': (id) => line(`${JSON.stringify(message(id))}\0`),
  'answers with a duplicate member': (id) =>
    line(`{"jsonrpc":"2.0","id":${id},"id":${id},"result":${JSON.stringify(result('first'))}}`),
  'answers in a batch': (id) => line([message(id)]),
  'answers with too deep nesting': (id) =>
    line(`{"jsonrpc":"2.0","id":${id},"result":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`),
  'answers with a method beside the result': (id) => line({ ...message(id), method: 'ping' }),
  'answers with a result and an error': (id) => line({ ...message(id), error: { code: -1, message: 'both' } }),
  'answers with neither result nor error': (id) => line({ jsonrpc: '2.0', id }),
  'answers a result that is not an object': (id) => line({ jsonrpc: '2.0', id, result: 'as it came' }),
  'answers an error': (id) => line({ jsonrpc: '2.0', id, error: { code: -32000, message: 'as it came' } }),
  'answers an error that is not an object': (id) => line({ jsonrpc: '2.0', id, error: 'as it came' }),
  'sends a request with the id of the call, then answers': (id) => {
    line({ jsonrpc: '2.0', id, method: 'ping' });
    line(message(id));
  },
  'floods notifications, then answers': (id) => { for (let i = 0; i < 3000; i++) line(log); line(message(id)); },
  'leaves its output to a grandchild and exits': () => {
    note({ grandchild: spawn('sleep', ['1000'], { stdio: ['ignore', 'inherit', 'ignore'] }).pid });
    process.exit(0);
  },
  'leaves its output to a process of another session and exits': () => {
    note({ grandchild: spawn('sleep', ['100'], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] }).pid });
    process.exit(0);
  },
};

function take(m) {
  const say = (value) => line({ jsonrpc: '2.0', id: m.id, result: value });
  if (m.method === 'initialize')
    return say({ protocolVersion: m.params.protocolVersion, capabilities: { tools: {}, logging: {} },
      serverInfo: { name: 'hostile', version: '1' } });
  if (m.method === 'server/discover')
    return say({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0,
      cacheScope: 'private' });
  if (m.method === 'tools/list')
    return say({ resultType: 'complete', ttlMs: 0, cacheScope: 'private',
      tools: [{ name: 'do', inputSchema: { type: 'object' } }] });
  if (m.method !== 'tools/call') return m.id === undefined || m.method === undefined ||
    line({ jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'Method not found' } });
  note({ ran: m.params.arguments.deed });
  return DEEDS[m.params.arguments.deed](m.id);
}

if (record !== undefined) {
  note({ started: process.pid });
  setInterval(() => {}, 1000); // it lives on without its input
  process.on('SIGTERM', () => note({ ignored: process.pid }));
  createInterface({ input: process.stdin }).on('line', (text) => take(JSON.parse(text))).on('error', () => {});
}
