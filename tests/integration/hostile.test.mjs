// Servers over stdio that err, each as docs/stdio.md says: the outcome, what the client is told, that the
// call was made once, and that nothing of the server is left.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SOURCE, bearer, prepare, until } from '../support/gateway.mjs';
import { DEEDS } from '../support/hostile-stdio.mjs';
import { Caller, openSession } from '../support/rpc.mjs';

const support = (name) => fileURLToPath(new URL(`../support/${name}`, import.meta.url));
const CLOSING = ['closes its output and lives', 'closes its input, then answers']; // closing-stdio.sh
const names = [...Object.keys(DEEDS), ...CLOSING];
const agents = names.map((_, i) => bearer(`agent-${i}`)); // so that each deed meets a server of its own

const rows = new Map(readFileSync(join(SOURCE, 'docs/stdio.md'), 'utf8').split('\n')
  .filter((line) => line.startsWith('| ')).map((line) => line.slice(1, -1).split('|').map((cell) => cell.trim()))
  .filter((cells) => names.includes(cells[0])).map(([deed, outcome, type, told]) => [deed, { outcome, type, told }]));

const alive = (pid) => { try { return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')); } catch { return false; } };

async function setUp(t) {
  const rule = { scope: 's', arguments: [{ arg: 'deed', op: 'type', value: 'string' }] };
  const gw = prepare(t, { agents: agents.map((a) => a.entry), limits: { event: '4MiB' } });
  const record = gw.path('record');
  writeFileSync(record, '');
  gw.configure({
    ...JSON.parse(readFileSync(gw.configFile, 'utf8')),
    upstreams: { up: { stdio: [process.execPath, support('hostile-stdio.mjs'), record] }, soon: { stdio: [process.execPath, support('hostile-stdio.mjs'), record] }, sh: { stdio: ['/bin/sh', support('closing-stdio.sh'), record] } },
    tools: { 'up/do': rule, 'sh/do': rule, 'soon/do': { ...rule, timeout: '700ms' } },
  });
  await gw.start();
  const notes = () => readFileSync(record, 'utf8').split('\n').filter((l) => l !== '').map((l) => JSON.parse(l));
  return { gw, ran: (deed) => notes().filter((n) => n.ran === deed).length, all: (what) => notes().map((n) => n[what]).filter((pid) => pid !== undefined) };
}

for (const era of ['legacy', 'modern']) {
  test(`every way to err has the outcome that the documentation says, for a ${era} client`, async (t) => {
    const { gw, ran, all } = await setUp(t);
    assert.deepEqual([...rows.keys()].sort(), [...names].sort(), 'the table of docs/stdio.md');
    for (const [i, name] of names.entries()) {
      const want = rows.get(name);
      const options = { token: agents[i].token, path: `/mcp/${CLOSING.includes(name) ? 'sh' : want.outcome === 'timeout' ? 'soon' : 'up'}` };
      const c = era === 'modern' ? new Caller(gw, { ...options, modern: true }) : await openSession(gw, options);
      await c.request('tools/list'); // the child is there
      const answer = await c.call('do', { deed: name });
      const { outcome } = gw.show(gw.decisions().at(-1).decision_id);
      assert.deepEqual([outcome.outcome, outcome.error_type ?? ''], [want.outcome, want.type], `${name}: ${answer.text}`);
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
