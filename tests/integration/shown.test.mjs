// What strangers have written reaches a terminal without what hides, command by command.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writ } from '../support/js/gateway.mjs';
import { DEV, asks, setUp } from '../support/js/reviews.mjs';
import { openSession } from '../support/js/rpc.mjs';

// a right-to-left override, a zero width space, a tag, a line separator, the CSI of 8-bit terminals
const ODD = 'a\u202eb\u200bc\u{e0041}d\u2028e\u009b31mf';
const RAW = /[\u202e\u200b\u{e0041}\u2028\u009b]/u;

const dir = mkdtempSync(join(tmpdir(), 'writ-shown-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
const file = (name, value) => {
  writeFileSync(join(dir, name), typeof value === 'string' ? value : JSON.stringify(value));
  return join(dir, name);
};

/** The output has the text, without hidden characters. */
function shows(args, marked = /\\u202e/) {
  const { out, err } = writ(args);
  assert.doesNotMatch(out + err, RAW, args.join(' '));
  assert.match(out + err, marked, args.join(' '));
}

test('ledger and review commands escape hostile text', async (t) => {
  const { gw } = await setUp(t);
  const s = await openSession(gw, { token: DEV.token });
  const id = await asks(s, { amount: 1, to: ODD });
  shows(['review', 'show', gw.ledgerFile, id]);
  shows(['review', 'list', gw.ledgerFile], /"finance"/);
  await s.call(`up__pay${ODD}`, {});
  shows(['ledger', 'list', gw.ledgerFile]);
  const odd = gw.decisions(['--decision', 'deny']).find((d) => RAW.test(d.tool));
  shows(['ledger', 'show', gw.ledgerFile, odd.decision_id]);
  gw.verify();
});

test('explain, policy test and check escape hostile text', () => {
  const config = file('config.yaml',
    { upstreams: { up: { http: 'http://127.0.0.1:1' } }, agents: [{ id: 'dev', bearer_sha256: 'a'.repeat(64) }],
      tools: { 'up/pay': { scope: 'payments', arguments: [] } } });
  shows(['explain', config, file('call.json', { agent: 'dev', tool: 'up/pay', arguments: { [ODD]: 1 } })]);
  shows(['policy', 'test',
    file('cases.yaml',
      { config, cases: [{ name: ODD, call: { agent: 'dev', tool: 'up/pay', arguments: { [ODD]: 1 } },
        expect: { decision: 'allow' } }] }), '--config', config]);
  shows(['check', file('odd.yaml', { upstreams: { up: { http: 'http://127.0.0.1:1', [ODD]: 1 } } })]);
});

test('crew check and crew vote escape hostile text', () => {
  shows(['crew', 'vote', 'majority',
    file('votes.json', { votes: ['a', 'b', 'c'].map((agentId) => ({ agentId, output: ODD })) })]);
});

test('errors escape quoted text', () => {
  shows(['ledger', 'show', file(`no${ODD}`, 'x'), 'd'], /noa\?b\?c\?d\?e\?31mf/);
});
