// memory.mjs - what the gateway holds in memory: at rest, and for each idle connection, session and open stream. Memory
// does not change with the load of the machine as times do.
//
//     cmake --preset product && cmake --build --preset product
//     tests/support/node bench/memory.mjs build/product/writ
//
// Each figure is the growth of the resident memory while so many are opened, divided by their number. A connection has
// made one request before; a stream is the GET of a session, with one to the upstream behind it. One of each is opened
// before all others, for the pages of the program that it needs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

const SOURCE = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const N = 2000; // of each kind, with as many sessions for the streams
process.env.WRIT_BIN = resolve(process.argv[2] ?? join(SOURCE, 'build/product/writ'));
process.env.WRIT_SOURCE_DIR = SOURCE;

const { startGateway } = await import('../tests/support/js/gateway.mjs');
const { Caller, openSession } = await import('../tests/support/js/rpc.mjs');
const { startUpstream } = await import('../tests/support/servers/upstream.mjs');

/** Resident bytes, when they have not changed for some seconds: the gateway returns memory once it is quiet. */
async function resident(pid) {
  for (let last = -1, times = 0;;) {
    const now = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
    times = now === last ? times + 1 : 0;
    if (times === 5) return now;
    last = now;
    await sleep(1000);
  }
}

/** Some at once, so that the client's own queue is short. */
async function each(n, work) {
  const all = [];
  while (all.length < n) all.push(...await Promise.all(Array.from({ length: Math.min(100, n - all.length) }, work)));
  return all;
}

async function idleConnection(gateway) {
  const caller = new Caller(gateway, { modern: true, path: '/mcp/up', keepAlive: true });
  assert.equal((await caller.request('tools/list')).status, 200);
  return caller;
}

/** The GET of a session, as soon as its head is there. */
const openStream = (gateway, caller) => new Promise((done, failed) => {
  const request = http.get(`${gateway.origin}/mcp/up`, { agent: false,
    headers: { ...caller.headers(undefined, { 'content-type': undefined }), accept: 'text/event-stream' } }, (res) => {
    assert.equal(res.statusCode, 200);
    res.resume();
    done(request);
  });
  request.on('error', failed);
});

test('memory of the gateway', { timeout: 600_000 }, async (t) => {
  const up = await startUpstream(t, { onGet: (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  } });
  const gateway = await startGateway(t, { loops: 1, upstreams: { up: { http: up.url } },
    limits: { connections: 4 * N, in_flight: 4 * N, agent_share: 100, tenant_share: 100, idle_timeout: '10m' } });
  const figures = [];
  let before;
  const rest = async (name) => {
    before = await resident(gateway.child.pid);
    figures.push([name, `${(before / 2 ** 20).toFixed(1)} MiB`]);
  };
  await rest('at rest');
  await idleConnection(gateway);
  const first = await openStream(gateway, await openSession(gateway, { path: '/mcp/up' }));
  await rest('after one request of each kind');
  const step = async (name, work) => {
    const made = await work();
    const now = await resident(gateway.child.pid);
    figures.push([name, `${((now - before) / N / 1024).toFixed(1)} KiB`]);
    before = now;
    return made;
  };
  await step('an idle connection', () => each(N, () => idleConnection(gateway)));
  const sessions = await step('a session', () => each(N, () => openSession(gateway, { path: '/mcp/up' })));
  const streams = await step('an open stream', () => each(N, () => openStream(gateway, sessions.pop())));
  console.log(figures.map(([name, value]) => `| ${name} | ${value} |`).join('\n'));
  for (const stream of [first, ...streams]) stream.on('error', () => {}).destroy();
});
