// Included files: which changes a reload takes, and that no call reaches the servers of a file without agreement.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { mkdirSync, startGateway, writ, writeFileSync } from '../support/js/gateway.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const NUMBER = [{ arg: 'n', op: 'type', value: 'number' }];
const SHOWN = [{ name: 'pay', inputSchema: { type: 'object' } }];

/** A gateway with one upstream in an included file. */
async function included(t, head, tools) {
  const up = await startUpstream(t, { tools: SHOWN });
  const put = (name, text) => writeFileSync(join(gw?.dir ?? dir, 'p', name), text);
  const file = (first, rules) => JSON.stringify({ ...first, upstreams: { up: { http: up.url } }, tools: rules });
  let gw, dir;
  gw = await startGateway(t, { include: 'p' }, {
    prepare: (made) => {
      dir = made;
      mkdirSync(join(made, 'p'));
      put('up.yaml', file(head, tools));
    },
  });
  return { up, gw, put, change: (first, rules) => (put('up.yaml', file(first, rules)), gw.reload(gw.config)) };
}

test('a file that is not agreed lists its tools and sends no call, until it is agreed and read again', async (t) => {
  const draft = { scope: 'pay', shadow: true, arguments: [{ arg: 'n', op: 'le', value: 'REPLACE_WITH_A_NUMBER' }] };
  const { up, gw, change } = await included(t, { agreed: false }, { 'up/pay': draft });
  const warned = gw.log.filter((l) => l.event === 'configuration_warning');
  assert.deepEqual(warned.map((l) => [l.file, l.at]),
    [[join(gw.dir, 'p/up.yaml'), '/agreed'], [join(gw.dir, 'p/up.yaml'), '/tools/up~1pay/arguments/0/value']]);
  const s = await openSession(gw);
  assert.deepEqual((await s.request('tools/list')).result.tools.map((tool) => tool.name), ['up__pay']);
  for (const name of ['up__pay', 'up__unknown']) {
    const refused = await s.call(name, { n: 1 });
    assert.equal(refused.reason, 'not_agreed');
    assert.match(refused.text,
      /Hint: Read the rules in the configuration, replace the placeholders, and set agreed: true/i);
  }
  assert.equal(up.calls.length, 0);
  assert.deepEqual(gw.decisions().map((d) => [d.decision, d.reason]),
    [['deny', 'not_agreed'], ['deny', 'not_agreed']]);

  const line = await change({ agreed: true }, { 'up/pay': draft });
  assert.equal(line.event, 'reload_refused');
  assert.match(line.why, /p\/up\.yaml:1: \/tools\/up~1pay\/arguments\/0\/value: is still the placeholder/);
  assert.equal((await s.call('up__pay', { n: 1 })).reason, 'not_agreed');

  assert.equal((await change({ agreed: true }, { 'up/pay': { scope: 'pay', arguments: NUMBER } })).event, 'reloaded');
  assert.equal((await s.call('up__pay', { n: 1 })).said, 'ran 1');
  assert.equal((await change({ agreed: false }, { 'up/pay': { scope: 'pay', arguments: NUMBER } })).event, 'reloaded');
  assert.equal((await s.call('up__pay', { n: 2 })).reason, 'not_agreed');
  assert.equal(up.calls.length, 1);
  gw.verify();
});

test('a reload takes rules of included files, and refuses their upstreams by name', async (t) => {
  const { gw, put, change } = await included(t, {}, { 'up/pay': { scope: 'pay', arguments: NUMBER } });
  const s = await openSession(gw);
  assert.equal((await s.call('up__pay', { n: 1 })).said, 'ran 1');
  const bounded = { scope: 'pay', arguments: [...NUMBER, { arg: 'n', op: 'le', value: 5 }] };
  assert.equal((await change({}, { 'up/pay': bounded })).event, 'reloaded');
  assert.equal((await s.call('up__pay', { n: 6 })).reason, 'constraint_failed');

  put('more.yaml', 'tools: {up/more: {scope: pay, arguments: [{arg: n, op: type, value: number}]}}\n');
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  assert.equal((await s.call('up__more', { n: 7 })).status, 200);
  put('more.yaml', 'upstreams: {more: {http: "http://127.0.0.1:1/"}}\n');
  const refused = await gw.reload(gw.config);
  assert.equal(refused.event, 'reload_refused');
  assert.match(refused.why, /^upstreams\.more\.http: restart/);
  put('more.yaml', 'tools: {up/pay: {scope: pay}}\n');
  const doubled = await gw.reload(gw.config);
  assert.equal(doubled.event, 'reload_refused');
  assert.match(doubled.why,
    /p\/up\.yaml:1: \/tools\/up~1pay: written twice; the other is on line 1 of \S+p\/more\.yaml/);
  rmSync(gw.path('p/more.yaml'));
  assert.equal((await gw.reload(gw.config)).event, 'reloaded');
  assert.equal((await s.call('up__more', { n: 8 })).reason, 'tool_not_listed');
});

test('check names the file of each finding', async (t) => {
  const { gw, put } = await included(t, {}, { 'up/pay': { scope: 'pay' } });
  put('more.yaml', '\ntools: {up/more: {scop: pay}}\n');
  const told = JSON.parse(writ(['check', '--json', gw.configFile]).out);
  assert.equal(told.valid, false);
  const { file, line, pointer } = told.findings.find((f) => f.severity === 'error');
  assert.deepEqual([file, line, pointer], [gw.path('p/more.yaml'), 2, '/tools/up~1more/scop']);
});
