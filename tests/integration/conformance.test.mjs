// The official conformance suite, every scenario of both frozen sets of requirements (the unscored ones too), directly
// and through the gateway, at the endpoint of each server and at that of all of them: a scenario that passes directly
// passes through the gateway, and no scenario fails.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { startGateway } from '../support/js/gateway.mjs';
import { REVISIONS, all, failed, runSuite } from '../support/js/suite.mjs';
import { startSuiteNames } from '../support/servers/suite-names.mjs';
import { startSuiteServer } from '../support/servers/suite-server.mjs';

const STDIO = fileURLToPath(new URL('../support/servers/suite-server.mjs', import.meta.url));
const any = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };

/** Scenarios that may fail through the gateway though they pass directly: none, and none is to come. */
const EXPECTED_FAILURES = [];

/**
 * Where the transport lets a server choose, the gateway is compared with a server that chooses as the
 * gateway does: the gateway resumes a call's stream that the server closes half-way, so that its client
 * sees one stream; over stdio, which has no streams, the gateway answers with JSON unless an answer takes
 * long; and it joins lists of several servers to one JSON answer. Scenario -> how that server is started.
 */
const KEEPS = { closes: false };
const CHOICES = {
  up: { 'server-sse-polling': KEEPS },
  all: { 'server-sse-polling': KEEPS, 'server-sse-multiple-streams': { json: true } },
  child: { 'server-sse-polling': KEEPS, 'server-sse-multiple-streams': { json: true } },
};

/** One scenario, with a server that is started as configured. */
async function chosen(revision, scenario, options) {
  const up = await startSuiteServer(scope, options);
  const text = await runSuite(up.url, '--scenario', scenario, '--spec-version', revision);
  const [, passed, failures] = /^Passed: (\d+)\/\d+, (\d+) failed/m.exec(text);
  return `${passed} passed, ${failures} failed`;
}

let cleanups = [];
const scope = { after: (fn) => cleanups.push(fn) };
const direct = {}, urls = {};
let gw;

before(async () => {
  const up = await startSuiteServer(scope);
  gw = await startGateway(scope, {
    upstreams: { up: { http: up.url }, child: { stdio: [process.execPath, STDIO] } },
    tools: { 'up/*': any, 'child/*': any },
  });
  for (const name of ['up', 'child']) urls[name] = `${gw.origin}/mcp/${name}`;
  urls.all = await startSuiteNames(scope, `${gw.origin}/mcp`, 'up__');
  for (const revision of Object.keys(REVISIONS)) direct[revision] = await all(up.url, revision);
});

after(async () => {
  for (const fn of cleanups.reverse()) await fn();
});

for (const [revision, count] of Object.entries(REVISIONS)) {
  test(`${revision}: the server that is behind the gateway passes every scenario by itself`, () => {
    assert.equal(Object.keys(direct[revision]).length, count);
    assert.deepEqual(failed(direct[revision]), []);
  });

  for (const [name, what] of [['up', 'an upstream over http'], ['child', 'an upstream over stdio'],
      ['all', 'both of them at one endpoint']]) {
    test(`${revision}: every scenario has the same result through the gateway, with ${what}`, async () => {
      const wanted = { ...direct[revision] };
      for (const [scenario, options] of revision === '2025-11-25' ? Object.entries(CHOICES[name]) : []) {
        wanted[scenario] = await chosen(revision, scenario, options);
        assert.notEqual(wanted[scenario], direct[revision][scenario], `${scenario} needs no exception any more`);
      }
      const through = await all(urls[name], revision);
      assert.deepEqual(failed(through), EXPECTED_FAILURES);
      assert.deepEqual(through, wanted);
    });
  }
}

test('the ledger after all scenarios verifies', () => {
  const { records } = gw.verify();
  assert.ok(records > 0);
});
