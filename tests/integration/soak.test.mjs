// Many streams and many sessions, repeatedly: every event arrives, and memory returns to its first
// size. Small in the ordinary run; by hand, in the promised size:
//     WRIT_SOAK=1000,10000 tests/support/node --test tests/integration/soak.test.mjs
// (streams at once, sessions in all). The figures are printed.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { bearer, startGateway, until } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession, send } from '../support/js/rpc.mjs';
import { get } from '../support/js/stream.mjs';

const [STREAMS, SESSIONS] = (process.env.WRIT_SOAK ?? '60,300').split(',').map(Number);
const ROUNDS = 8, EVENTS = 20, AT_ONCE = 32, OPENED_AT_ONCE = 100;
const SLACK_KB = 2048; // memory that an allocator keeps from round to round, at every size
const LIMITS = { connections: 8192, in_flight: 8192, sessions: 65536 };

const memoryKb = (gw) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gw.child.pid}/status`, 'utf8'))[1]);
const descriptors = (gw) => readdirSync(`/proc/${gw.child.pid}/fd`).length;

/** Waits until memory that was given back has gone: it falls no more for three seconds. */
async function settled(gw) {
  for (let still = 0, least = Infinity; still < 30; still++) {
    if (memoryKb(gw) < least) [still, least] = [0, memoryKb(gw)];
    await sleep(100);
  }
}

/** Runs `fn` for 0..n-1, so many at once. */
async function each(n, atOnce, fn) {
  let next = 0;
  await Promise.all(Array.from({ length: Math.min(n, atOnce) }, async () => {
    while (next < n) await fn(next++);
  }));
}

/** A round frees what it adds: pools fill in the first round, and the last is no larger than the second. */
function assertFlat(name, rounds, t) {
  t.diagnostic(`${name}: kB after each round: ${rounds.join(', ')}`);
  if (process.env.WRIT_SANITIZED) return; // its memory is not measured: freed blocks stay in quarantine
  assert.ok(rounds.at(-1) <= Math.max(1.05 * rounds[1], rounds[1] + SLACK_KB), `${name}: ${rounds}`);
}

test(`${STREAMS} streams at once, ${ROUNDS} times`, { timeout: 1_200_000 }, async (t) => {
  const open = new Set();
  const up = await startUpstream(t, {
    onGet: (req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      open.add(res);
      res.on('close', () => open.delete(res));
    },
  });
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url, connections: 8192 } }, tools: {}, limits: LIMITS });
  const sessions = [];
  await each(STREAMS, AT_ONCE, async () => sessions.push(await openSession(gw)));
  const after = [], during = [], before = memoryKb(gw), files = descriptors(gw);
  for (let round = 0; round < ROUNDS; round++) {
    const streams = [];
    await each(STREAMS, OPENED_AT_ONCE, async (i) => streams.push(await get(gw, sessions[i])));
    assert.equal(open.size, STREAMS);
    for (let i = 0; i < EVENTS; i++) {
      for (const res of open)
        res.write(`id: ${round}.${i}\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed",` +
          `"params":{"n":${i}}}\n\n`);
      await until(() => streams.every((s) => s.text.includes(`{"n":${i}}`)), `event ${i} on every stream`, 60_000);
    }
    assert.ok(streams.every((s) => s.events.filter((e) => e.data).length === EVENTS));
    during.push(memoryKb(gw));
    streams.forEach((s) => s.leave());
    await until(() => open.size === 0, 'the streams to the server to be closed', 60_000);
    await until(() => descriptors(gw) <= files + AT_ONCE, 'the connections to be closed', 60_000);
    if (during.at(-1) - before > 16 * SLACK_KB) await settled(gw);
    after.push(memoryKb(gw));
  }
  t.diagnostic(`${STREAMS} streams: ${before} kB before; at most ${Math.max(...during)} kB, ` +
    `${((Math.max(...during) - before) / STREAMS).toFixed(1)} kB each`);
  assertFlat('with the streams open', during, t);
  assertFlat('after the streams', after, t);
});

test(`${SESSIONS} sessions, one after the other`, { timeout: 1_200_000 }, async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, {
    upstreams: { up: { http: up.url } }, tools: { 'up/*': { scope: 'all', duplicates: 'allow' } }, limits: LIMITS,
  });
  const after = [], from = Date.now();
  for (let round = 0; round < ROUNDS; round++) {
    await each(SESSIONS / ROUNDS, AT_ONCE, async () => {
      const s = await openSession(gw);
      assert.equal((await s.request('tools/list')).status, 200);
      assert.equal((await s.close()).status, 200);
      up.clear();
    });
    after.push(memoryKb(gw));
  }
  t.diagnostic(`${SESSIONS} sessions in ${Date.now() - from} ms`);
  assertFlat('sessions that ended', after, t);
});

test(`${SESSIONS} sessions at once, again and again`, { timeout: 1_200_000 }, async (t) => {
  const up = await startUpstream(t);
  const agents = [bearer('a', { tenant: 'x' }), bearer('b', { tenant: 'y' })];
  const gw = await startGateway(t, {
    upstreams: { up: { http: up.url } }, tools: { 'up/*': { scope: 'all', duplicates: 'allow' } },
    agents: agents.map((a) => a.entry), limits: LIMITS,
  });
  const open = [], closed = [], before = memoryKb(gw);
  for (let round = 0; round < 4; round++) {
    const sessions = [];
    await each(SESSIONS, AT_ONCE, async (i) => {
      sessions.push(await openSession(gw, { token: agents[i % 2].token }));
      up.clear();
    });
    open.push(memoryKb(gw));
    assert.equal(new Set(sessions.map((s) => s.session)).size, SESSIONS);
    await each(SESSIONS, AT_ONCE, async (i) => {
      assert.equal((await sessions[i].request('ping')).status, 200);
      assert.equal((await sessions[i].close()).status, 200);
      up.clear();
    });
    const gone = await send(gw.origin,
      { headers: sessions[0].headers({ method: 'ping' }), body: sessions[0].message('ping') });
    assert.equal(gone.status, 404);
    await sleep(100);
    closed.push(memoryKb(gw));
  }
  t.diagnostic(`${SESSIONS} sessions at once: ${((open[0] - before) / SESSIONS).toFixed(2)} kB each`);
  assertFlat('with the sessions open', open, t);
  assertFlat('after the sessions', closed, t);
});
