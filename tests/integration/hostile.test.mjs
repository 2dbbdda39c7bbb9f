// Servers over stdio that fail, each as docs/stdio.md says: the outcome, the client's error, that the call was made
// once, and that no process of the server is left.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SOURCE, bearer, linesOf, prepare, until } from '../support/js/gateway.mjs';
import { DEEDS } from '../support/servers/hostile-stdio.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const support = (name) => fileURLToPath(new URL(`../support/servers/${name}`, import.meta.url));
const CLOSING = ['closes its output and keeps running', 'closes its input, then answers']; // closing-stdio.sh
const PATIENCE_MS = 60_000; // start_timeout is 2 s
const names = [...Object.keys(DEEDS), ...CLOSING];
const agents = names.map((_, i) => bearer(`agent-${i}`)); // so that each deed has its own server

const rows = new Map(readFileSync(join(SOURCE, 'docs/stdio.md'), 'utf8').split('\n')
  .filter((line) => line.startsWith('| ')).map((line) => line.slice(1, -1).split('|').map((cell) => cell.trim()))
  .filter((cells) => names.includes(cells[0])).map(([deed, outcome, type, told]) => [deed, { outcome, type, told }]));

const alive = (pid) => {
  try { return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')); } catch { return false; }
};

async function setUp(t) {
  const rule = { scope: 's', arguments: [{ arg: 'deed', op: 'type', value: 'string' }] };
  const gw = prepare(t, { agents: agents.map((a) => a.entry), limits: { event: '4MiB' } });
  const record = gw.path('record');
  writeFileSync(record, '');
  gw.configure({
    ...JSON.parse(readFileSync(gw.configFile, 'utf8')),
    upstreams: { up: { stdio: [process.execPath, support('hostile-stdio.mjs'), record] },
      soon: { stdio: [process.execPath, support('hostile-stdio.mjs'), record] },
      sh: { stdio: ['/bin/sh', support('closing-stdio.sh'), record] } },
    tools: { 'up/do': rule, 'sh/do': rule, 'soon/do': { ...rule, timeout: '700ms' } },
  });
  await gw.start();
  const notes = () => linesOf(record).map((l) => JSON.parse(l));
  return { gw, ran: (deed) => notes().filter((n) => n.ran === deed).length,
    all: (what) => notes().map((n) => n[what]).filter((pid) => pid !== undefined) };
}

for (const era of ['legacy', 'modern']) {
  test(`every failure has the documented outcome, for a ${era} client`, async (t) => {
    const { gw, ran, all } = await setUp(t);
    assert.deepEqual([...rows.keys()].sort(), [...names].sort(), 'the table of docs/stdio.md');
    for (const [i, name] of names.entries()) {
      const want = rows.get(name);
      const options = { token: agents[i].token,
        path: `/mcp/${CLOSING.includes(name) ? 'sh' : want.outcome === 'timeout' ? 'soon' : 'up'}` };
      const c = era === 'modern' ? new Caller(gw, { ...options, modern: true }) : await openSession(gw, options);
      await c.request('tools/list'); // the child is there
      const answer = await c.call('do', { deed: name });
      const { outcome } = gw.show(gw.decisions().at(-1).decision_id);
      assert.deepEqual([outcome.outcome, outcome.error_type ?? ''], [want.outcome, want.type],
        `${name}: ${answer.text}`);
      if (want.told.endsWith('answer')) {
        assert.match(answer.text, want.told.startsWith('its') ? /as it came/ : /first/, name);
        assert.ok(!answer.text.includes('second'), name);
      } else {
        assert.equal(answer.reason, want.told, `${name}: ${answer.text}`);
        assert.equal(answer.refusal.execution, 'unknown', name);
      }
      const again = await c.call('do', { deed: name });
      assert.equal(again.reason, 'duplicate_outcome', `${name}: ${again.text}`);
      assert.equal(ran(name), 1, name);
      if (era === 'legacy') await c.close();
    }
    await gw.stop();
    await until(() => !all('started').some(alive), 'the end of every server, none of which ends when it is asked');
    const [grandchild, stranger] = all('grandchild');
    assert.deepEqual([alive(grandchild), alive(stranger)], [false, true]);
    process.kill(stranger);
    gw.verify();
  });
}

/** Servers that do not even begin, as shell scripts. */
const answering = (result) =>
  `while read -r line; do id=\${line#*'"id":'}; echo '{"jsonrpc":"2.0","id":'\${id%%[!0-9]*}',${result}}'; done`;
const STARTS = {
  'is not there': undefined,
  'exits at once': 'exit 1',
  'never answers': 'exec sleep 1000',
  'ends when it is greeted': 'read -r line',
  'closes its output': 'exec 1>&-; exec sleep 1000',
  'reads nothing and floods': 'while :; do echo noise; done',
  'writes a line that never ends': 'while :; do printf %1000000d 1; done',
  'answers another id': "while read -r line; do echo '{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}'; done",
  'answers with what is no result': answering('"result":7'),
  'answers with an error': answering('"error":{"code":-32603,"message":"not today"}'),
};

test('servers that do not start fail their clients within start_timeout and affect no others', async (t) => {
  const stdio = (script) =>
    ({ stdio: script === undefined ? ['/nowhere/at/all'] : ['/bin/sh', '-c', script], start_timeout: '2s' });
  const upstreams = Object.fromEntries(Object.values(STARTS).map((script, i) => [`bad${i}`, stdio(script)]));
  const gw = prepare(t, { limits: { event: '4MiB' } });
  const record = gw.path('record');
  writeFileSync(record, '');
  gw.configure({
    ...JSON.parse(readFileSync(gw.configFile, 'utf8')),
    upstreams: { ...upstreams, good: { stdio: [process.execPath, support('hostile-stdio.mjs'), record] } },
    tools: { 'good/do': { scope: 's', arguments: [{ arg: 'deed', op: 'type', value: 'string' }] } },
  });
  await gw.start();
  const good = await openSession(gw, { path: '/mcp/good' });
  for (const [i, name] of Object.keys(STARTS).entries()) {
    for (const modern of [false, true]) {
      const c = new Caller(gw, { path: `/mcp/bad${i}`, modern });
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const answer = await (modern ? c.request('tools/list', {}, { signal }) : c.request('initialize',
        { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }, { signal }));
      const refused = answer.reason ?? answer.error.code;
      // a server that answers at all is not of the stateless revision; its own error is its answer
      const wanted = modern && name.startsWith('answers with') ? ['upstream_unavailable', -32000] : name ===
        'answers with an error' ? [-32603] : ['upstream_unavailable'];
      assert.ok(wanted.includes(refused), `${name}: ${answer.text}`);
    }
  }
  assert.equal((await good.call('do', { deed: 'answers twice' })).said, 'first');
  assert.ok(gw.log.length < 3000, `${gw.log.length} lines`); // one of them floods
  const { code } = await gw.stop();
  assert.equal(code, 0);
});
