// The official conformance suite, every scenario of both frozen sets of requirements (the unscored
// ones too), directly and through the gateway: what passes there passes here, and nothing fails.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startGateway } from '../support/gateway.mjs';
import { resolve } from '../support/npm/peers.mjs';
import { startSuiteServer } from '../support/suite-server.mjs';

const SUITE = resolve('@modelcontextprotocol/conformance/dist/index.js');
const STDIO = fileURLToPath(new URL('../support/suite-server.mjs', import.meta.url));
const REVISIONS = { '2025-11-25': 33, '2026-07-28': 50 };
const any = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };

/** Scenarios that may fail through the gateway though they pass directly: none, and none is to come. */
const EXPECTED_FAILURES = [];

/** Optional checks that do not apply, because the gateway answers in the other of two good ways: a
 * list that policy filters is one JSON body, and a call's stream is gone on with by the gateway. */
const OTHER_WAY = { '2025-11-25': ['server-sse-multiple-streams', 'server-sse-polling'] };

/** Over stdio this server has no tasks. */
const NOT_OVER_STDIO = (scenario) => scenario.startsWith('tasks-');

/** Runs the suite; { scenario: 'N passed, M failed' }. */
function run(url, revision) {
  return new Promise((done, fail) => {
    const dir = mkdtempSync(join(tmpdir(), 'writ-suite-'));
    const child = spawn(process.execPath, [SUITE, 'server', '--url', url, '--requirements', revision], { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (d) => { text += d; });
    child.stderr.setEncoding('utf8').on('data', (d) => { text += d; });
    child.on('error', fail);
    child.on('close', () => {
      rmSync(dir, { recursive: true, force: true });
      done(Object.fromEntries([...text.matchAll(/^[✓✗] ([a-z0-9-]+): (\d+ passed, \d+ failed)/gmu)].map(([, name, counts]) => [name, counts])));
    });
  });
}

const failed = (results) => Object.entries(results).filter(([, counts]) => !counts.endsWith(' 0 failed')).map(([name]) => name);

let cleanups = [];
const scope = { after: (fn) => cleanups.push(fn) };
const direct = {};
let gw;

before(async () => {
  const up = await startSuiteServer(scope);
  gw = await startGateway(scope, {
    upstreams: { up: { http: up.url }, child: { stdio: [process.execPath, STDIO] } }, tools: { 'up/*': any, 'child/*': any },
  });
  for (const revision of Object.keys(REVISIONS)) direct[revision] = await run(up.url, revision);
});

after(async () => {
  for (const fn of cleanups.reverse()) await fn();
});

for (const [revision, count] of Object.entries(REVISIONS)) {
  test(`${revision}: the server that is behind the gateway passes every scenario by itself`, () => {
    assert.equal(Object.keys(direct[revision]).length, count);
    assert.deepEqual(failed(direct[revision]), []);
  });

  const counted = (results, leave = () => false) => Object.fromEntries(Object.entries(results).filter(([name]) => !leave(name) && !OTHER_WAY[revision]?.includes(name)));

  test(`${revision}: every scenario has the same result through the gateway`, async () => {
    const through = await run(`${gw.origin}/mcp/up`, revision);
    assert.deepEqual(failed(through), EXPECTED_FAILURES);
    assert.deepEqual(Object.keys(through), Object.keys(direct[revision]));
    assert.deepEqual(counted(through), counted(direct[revision]));
  });

  test(`${revision}: and with an upstream over stdio`, async () => {
    const through = await run(`${gw.origin}/mcp/child`, revision);
    assert.deepEqual(failed(through).filter((name) => !NOT_OVER_STDIO(name)), EXPECTED_FAILURES);
    assert.deepEqual(counted(through, NOT_OVER_STDIO), counted(direct[revision], NOT_OVER_STDIO));
  });
}

test('the ledger of all that is sound', () => {
  const { records } = gw.verify();
  assert.ok(records > 0);
});
