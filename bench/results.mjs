// results.mjs - how long a large result takes through the gateway, to the time without it: a governed call whose result
// has 10 MiB, as a JSON answer and as the one event of a stream.
//
//     cmake --preset product && cmake --build --preset product
//     tests/support/node bench/results.mjs build/product/writ
//     tests/support/node bench/results.mjs build/product/writ --against=OTHER --rounds=20
//     tests/support/node bench/results.mjs build/product/writ --over=40         a server that sends for 40 ms
//     tests/support/node bench/results.mjs build/product/writ --floor=build/product/bench/floor     the least, too
//
// The tool server is a process of its own that makes its JSON from the text for each call, as servers in Node do; the
// client counts the bytes and parses nothing. Each round takes every way in turn, so other load affects all; the ratio is
// taken within the round, and the median with the quarters around it is printed. --mib= is another size.
import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { test } from 'node:test';

import { floorCommand } from './floor.mjs';
import { reservePort } from '../tests/support/js/ports.mjs';
import { until } from '../tests/support/js/until.mjs';

const MIB = 2 ** 20;
const LINES = [ // a log as tools return it: line ends and quotes are escaped in JSON, a few characters are not ASCII
  '2026-11-28T23:06:30.482Z INFO  payments  invoice 4711 of "Müller & Söhne" paid: 1,204.50 EUR to account 81\n',
  '2026-11-28T23:06:30.511Z DEBUG gateway   GET https://bills.example/b/4711?ref=7919 200 in 12 ms, 2048 bytes\n',
  '2026-11-28T23:06:31.002Z WARN  archive   file C:\\archive\\2026\\11\\28.tar is older than the copy in the bucket\n',
];
const KINDS = ['json', 'sse'];
const PIECES = 20;

const answerOf = (text) => JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } });
const eventOf = (answer) => `event: message\ndata: ${answer}\n\n`;
const TYPES = { json: 'application/json', sse: 'text/event-stream' };

function textOf(bytes) {
  const once = LINES.join('');
  return once.repeat(Math.ceil(bytes / once.length)).slice(0, bytes);
}

/** Sends at once, or in pieces over so many milliseconds. */
async function send(res, text, over) {
  const bytes = over > 0 ? Buffer.from(text) : '', step = Math.ceil(bytes.length / PIECES);
  for (let at = 0; at < bytes.length; at += step) {
    res.write(bytes.subarray(at, at + step));
    await sleep(over / PIECES);
  }
  res.end(over > 0 ? undefined : text);
}

/** The tool server, in a process of its own. */
function serve(mib, over) {
  const text = textOf(mib * MIB);
  const server = http.createServer((req, res) => {
    req.resume().on('end', () => {
      const kind = req.url.slice(1), answer = answerOf(text);
      const body = kind === 'sse' ? eventOf(answer) : answer;
      res.writeHead(200, { 'content-type': TYPES[kind], 'content-length': Buffer.byteLength(body) });
      send(res, body, over);
    });
  }).listen(0, '127.0.0.1', () => process.send(server.address().port));
  server.keepAliveTimeout = 60_000;
  process.on('disconnect', () => process.exit());
}

async function startServer(t) {
  const child = fork(fileURLToPath(import.meta.url), ['--serve', `--mib=${mib}`, `--over=${over}`]);
  t.after(() => child.kill());
  const [port] = await once(child, 'message');
  return `http://127.0.0.1:${port}`;
}

/** The program of floor.c with its log: what it costs to hold an answer until its record is on disk. */
async function startFloor(t, program, origin) {
  const work = mkdtempSync(join(tmpdir(), 'writ-floor-')), port = await reservePort();
  const [command, ...argv] = floorCommand(resolve(program), port, new URL(origin).port, join(work, 'records'));
  const child = spawn(command, argv, { stdio: 'inherit' });
  t.after(async () => {
    child.kill();
    await once(child, 'exit');
    rmSync(work, { recursive: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await until(() => fetch(url).then((answer) => answer.ok, () => false), 'the least listens');
  return url;
}

const agent = new http.Agent({ keepAlive: true });
let calls = 0;

/** One call: its milliseconds until the last byte. */
function call(url, mib) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call',
    params: { name: 'read', arguments: { n: calls } } });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream',
    'content-length': body.length, 'idempotency-key': `results-${calls++}` };
  const start = process.hrtime.bigint();
  return new Promise((done, failed) => {
    http.request(url, { method: 'POST', headers, agent }, (res) => {
      let bytes = 0;
      res.on('data', (chunk) => { bytes += chunk.length; }).on('error', failed).on('end', () => {
        const ms = Number(process.hrtime.bigint() - start) / 1e6;
        if (res.statusCode !== 200 || bytes < mib * MIB) failed(new Error(`${res.statusCode} with ${bytes} bytes`));
        else done(ms);
      });
    }).on('error', failed).end(body);
  });
}

const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.round(q * (list.length - 1))];
const around = (list, digits) => `**${quantile(list, 0.5).toFixed(digits)}** ` +
  `(${quantile(list, 0.25).toFixed(digits)}-${quantile(list, 0.75).toFixed(digits)})`;

const { values: options, positionals } = parseArgs({ allowPositionals: true, options: { against: { type: 'string' },
  floor: { type: 'string' },
  rounds: { type: 'string', default: '15' }, mib: { type: 'string', default: '10' },
  over: { type: 'string', default: '0' }, serve: { type: 'boolean', default: false } } });
const mib = Number(options.mib), over = Number(options.over);

async function measure(t) {
  const source = resolve(dirname(fileURLToPath(import.meta.url)), '..');
  process.env.WRIT_BIN = resolve(positionals[0] ?? join(source, 'build/product/writ'));
  process.env.WRIT_SOURCE_DIR = source;
  const { startGateway } = await import('../tests/support/js/gateway.mjs');
  const origin = await startServer(t);
  const tools = Object.fromEntries(KINDS.map((kind) =>
    [`${kind}/read`, { scope: 's', arguments: [{ arg: 'n', op: 'type', value: 'number' }] }]));
  const gateway = (more) => startGateway(t, { loops: 1, tools,
    upstreams: Object.fromEntries(KINDS.map((kind) => [kind, { http: `${origin}/${kind}` }])) }, more);
  const ways = [['direct', (kind) => `${origin}/${kind}`]];
  const add = async (name, more) => {
    const gw = await gateway(more);
    ways.push([name, (kind) => `${gw.origin}/mcp/${kind}`]);
  };
  await add('gateway', {});
  if (options.floor) {
    const least = await startFloor(t, options.floor, origin);
    ways.push(['the least', (kind) => `${least}/${kind}`]);
  }
  if (options.against) await add('against', { command: resolve(options.against) });

  const times = new Map(KINDS.flatMap((kind) => ways.map(([name]) => [`${kind} ${name}`, []])));
  for (let round = -2; round < Number(options.rounds); round++) { // two that do not count
    for (const kind of KINDS) {
      for (const [name, url] of ways) {
        const ms = await call(url(kind), mib);
        if (round >= 0) times.get(`${kind} ${name}`).push(ms);
      }
    }
  }
  console.log(`| ${mib} MiB, ${options.rounds} rounds | ms | to direct |\n| --- | ---: | ---: |`);
  for (const [name, list] of times) {
    const direct = times.get(`${name.split(' ')[0]} direct`);
    console.log(`| ${name} | ${around(list, 1)} | ${around(list.map((ms, i) => ms / direct[i]), 2)} |`);
  }
  agent.destroy();
}

if (options.serve) serve(mib, over);
else test('large results', { timeout: 600_000 }, async (t) => assert.equal(await measure(t), undefined));
