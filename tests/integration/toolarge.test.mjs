// A body that is larger than its limit is answered, not cut off: ordinary clients look for the answer
// while they send or after they have sent everything, and see the 413 in either case.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOURCE, startGateway } from '../support/js/gateway.mjs';
import { guardFolder, issuer, startGuard } from '../support/js/guard.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const MIB = 1 << 20;
const TYPE = { 'content-type': 'application/json' };

/** A POST with node:http(s). Gives the status, or the code of the error. */
function byHttp(url, body, chunked) {
  const framing = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': body.length };
  return new Promise((resolve) => {
    const request = (url.startsWith('https') ? https : http).request(url, {
      method: 'POST', agent: false, rejectUnauthorized: false, headers: { ...TYPE, ...framing },
    }, (res) => res.resume().on('end', () => resolve(res.statusCode)).on('error', (e) => resolve(e.code)));
    request.on('error', (e) => resolve(e.code)).end(body);
  });
}

/** The same with fetch, which is undici. */
async function byFetch(url, body, chunked) {
  try {
    const answer = await fetch(url,
      { method: 'POST', headers: TYPE, ...(chunked ? { body: new Blob([body]).stream(), duplex: 'half' } : { body }) });
    await answer.text();
    return answer.status;
  } catch (error) {
    return error.cause?.code ?? error.message;
  }
}

/** Every way to send `sizes` to `url`, `times` at once: each of them sees a 413. */
async function isTold(url, sizes, times, clients = { byHttp, byFetch }) {
  for (const size of sizes) {
    const body = Buffer.alloc(size, ' ');
    for (const [name, send] of Object.entries(clients)) {
      for (const chunked of [false, true]) {
        const seen = await Promise.all(Array.from({ length: times }, () => send(url, body, chunked)));
        assert.deepEqual(seen, Array(times).fill(413),
          `${url}: ${size} bytes, ${name}, ${chunked ? 'chunked' : 'with a length'}`);
      }
    }
  }
}

test('clients get the gateway\'s 413: /mcp, hook API and admin API', async (t) => {
  const up = await startUpstream(t, { tools: ['run'] });
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } } });
  await isTold(gw.url, [5 * MIB, 32 * MIB], 10);
  await isTold(`${gw.origin}/v1/before`, [5 * MIB, 24 * MIB], 4);
  await isTold(`http://127.0.0.1:${gw.adminPort}/v1/kills`, [8 * MIB], 4);
  assert.equal(up.calls.length, 0);
});

test('clients get the 413 over TLS', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-certs-'));
  t.after(() => rmSync(dir, { recursive: true }));
  assert.equal(spawnSync(join(SOURCE, 'certs/make-dev-certs'), ['-d', dir]).status, 0);
  const up = await startUpstream(t, { tools: ['run'] });
  const gw = await startGateway(t,
    { upstreams: { up: { http: up.url } }, tls: { cert: join(dir, 'server.pem'), key: join(dir, 'server.key') } });
  await isTold(gw.url, [5 * MIB, 24 * MIB], 5, { byHttp });
});

test('clients get the 413 from the guard', async (t) => {
  const up = await startUpstream(t, { tools: ['run'] });
  const dir = await guardFolder(t, (await issuer()).jwks);
  const guard = await startGuard(t, dir, ['http', up.url.replace('/mcp', '')]);
  await isTold(`${guard.origin}/mcp`, [20 * MIB, 32 * MIB], 4);
});
