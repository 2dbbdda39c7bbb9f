// What clients see through `writ wrap` is what they see without it: the SDKs' own clients over standard input and
// output, and every scenario of the official conformance suite behind a bridge from HTTP to standard input and output.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { BIN, prepare } from '../support/js/gateway.mjs';
import { CLIENTS, attempt } from '../support/js/parity.mjs';
import { REVISIONS, all, failed } from '../support/js/suite.mjs';
import { endGateways } from '../support/js/wrap.mjs';
import { startStdioBridge } from '../support/servers/stdio-bridge.mjs';
import { startSuiteServer } from '../support/servers/suite-server.mjs';

const SERVER = fileURLToPath(new URL('../support/servers/suite-server.mjs', import.meta.url));
const ERAS = ['both', 'legacy', 'modern'];
const any = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], duplicates: 'allow' };

/** What the bridge does not do, with a wrap and without: it checks neither the head of a request nor its sender. */
const OF_THE_BRIDGE = {
  '2025-11-25': ['dns-rebinding-protection'],
  '2026-07-28': ['server-stateless', 'dns-rebinding-protection', 'tasks-request-headers', 'http-header-validation',
    'http-custom-header-server-validation'],
};

const cleanups = [];
const scope = { after: (fn) => cleanups.push(fn) };
const http = {};
let gw;

before(async () => {
  for (const eras of ERAS) http[eras] = await startSuiteServer(scope, { eras });
  const upstreams = Object.fromEntries(ERAS.flatMap((eras) =>
    [[`${eras}-http`, { http: http[eras].url }], [`${eras}-stdio`, { stdio: [process.execPath, SERVER, eras] }]]));
  scope.after(() => endGateways(gw.configFile)); // before the folder goes
  gw = prepare(scope, { listen: 'unix:writ.sock', upstreams,
    tools: Object.fromEntries(Object.keys(upstreams).map((name) => [`${name}/*`, any])) });
});

after(async () => {
  for (const fn of cleanups) await fn();
});

const itself = (eras) => [process.execPath, SERVER, eras];
const wrapped = (eras, kind) => [BIN, 'wrap', '--config', gw.configFile, '--name', `${eras}-${kind}`];
const start = ([command, ...args]) => ({ command, args, stderr: 'ignore' });

for (const eras of ERAS) {
  for (const [name, connect] of Object.entries(CLIENTS)) {
    test(`${name} sees the same server through a wrap, which speaks ${eras}`, async () => {
      const direct = await attempt(connect, start(itself(eras)));
      // over HTTP the server's words are in the text of an error of the transport
      const refused = direct.refused && (await attempt(connect, { url: http[eras].url })).refused.message;
      const said = /"message":"([^"]*)"/.exec(refused)?.[1] ?? refused;
      for (const kind of ['stdio', 'http']) {
        const through = await attempt(connect, start(wrapped(eras, kind)));
        assert.deepEqual(through.seen, direct.seen, kind);
        assert.ok(through.refused === said || through.refused.message.includes(said), through.refused?.message);
      }
    });
  }
}

for (const [revision, count] of Object.entries(REVISIONS)) {
  test(`${revision}: every scenario of the conformance suite has the same result through a wrap`, async (t) => {
    const results = {};
    for (const [name, command] of Object.entries({ direct: itself('both'), through: wrapped('both', 'stdio') }))
      results[name] = await all((await startStdioBridge(t, command)).url, revision);
    assert.equal(Object.keys(results.direct).length, count);
    assert.deepEqual(failed(results.direct), OF_THE_BRIDGE[revision]);
    assert.deepEqual(results.through, results.direct);
  });
}

test('the ledger after all of them verifies', async () => {
  await endGateways(gw.configFile, 'SIGTERM');
  assert.ok(gw.verify().records > 0);
});
