// Entries that are missing in an index of the SQLite file, whose rows are all there: no record changes what the ledger
// says by being hidden. A row that is changed is for tamper.test.mjs.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { startGateway, writ } from '../support/js/gateway.mjs';
import { api, ANN, DEV, OPS } from '../support/js/reviews.mjs';
import { Caller } from '../support/js/rpc.mjs';
import { SQLITE_ONLY } from '../support/js/store.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const ANY = [{ arg: '', op: 'type', value: 'any' }];

/** The index is built again under a condition that leaves entries out; its definition is then what it was. */
function hide(file, index, condition) {
  const edit = (statements) => {
    const db = new DatabaseSync(file, { defensive: false });
    db.exec(statements);
    db.close();
  };
  const db = new DatabaseSync(file, { readOnly: true });
  const { sql } = db.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(index);
  const { schema_version: version } = db.prepare('PRAGMA schema_version').get();
  db.close();
  const define = (text, at) => `PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = '${text.replaceAll("'", "''")}' WHERE name = '${index}';
    PRAGMA schema_version = ${at};`;
  edit(define(`${sql}${/ WHERE /.test(sql) ? ' AND' : ' WHERE'} ${condition}`, version + 1));
  edit(`REINDEX ${index}; ${define(sql, version)} PRAGMA wal_checkpoint(TRUNCATE);`);
}

async function world(t) {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { agents: [DEV, ANN, OPS].map((a) => a.entry), administrators: ['ops'],
    reviews: { r: { voters: [{ id: 'ann' }], administrators: ['ops'] } }, upstreams: { up: { http: up.url } },
    tools: { 'up/pay': { scope: 's', arguments: ANY, approval: { review: 'r' }, duplicates: 'allow' },
      'up/plain': { scope: 's', arguments: ANY } } });
  const call = (tool = 'pay') => new Caller(gw, { token: DEV.token }).call(`up__${tool}`, { n: 1 }, { boundary: 'B' });
  const verify = () => writ(['ledger', 'verify', gw.ledgerFile, '--keys', gw.path('keys')]);
  return { up, gw, call, verify };
}

async function notStarted(gw, text) {
  await assert.rejects(gw.start(), new RegExp(text));
}

for (const end of ['SIGKILL', 'SIGTERM']) {
  test(`the end of a review that an index hides keeps the gateway from starting (${end})`, SQLITE_ONLY, async (t) => {
    const { up, gw, call, verify } = await world(t);
    const { continuation_id: id } = (await call()).refusal;
    const { review_digest: digest } = (await api(gw, ANN, `/${id}`)).json;
    assert.equal((await api(gw, ANN, `/${id}/vote`, { vote: 'approve', review_digest: digest })).status, 200);
    const [{ leaf }] = gw.rows('SELECT max(leaf) AS leaf FROM record');
    assert.equal((await api(gw, OPS, `/${id}/cancel`, {})).status, 200);
    await gw.stop(end);
    assert.equal(verify().code, 0);
    hide(gw.ledgerFile, 'record_decision', `leaf <> ${leaf + 1}`);
    const found = verify();
    assert.match(found.out + found.err, new RegExp(`${leaf + 1}.*index of decision_ids`));
    assert.notEqual(found.code, 0);
    if (end === 'SIGTERM') assert.equal(writ(['ledger', 'rebuild', gw.ledgerFile]).code, 0); // nothing signed counts
    await notStarted(gw, 'index');
    assert.equal(up.calls.length, 0);
  });
}

test('an outcome that an index hides is found', SQLITE_ONLY, async (t) => {
  const { gw, call, verify } = await world(t);
  assert.notEqual((await call('plain')).said, undefined);
  await gw.stop();
  hide(gw.ledgerFile, 'record_decision', 'kind <> 2');
  const found = verify();
  assert.match(found.out + found.err, /index of decision_ids/);
  assert.notEqual(found.code, 0);
});

test('a sealed run that an index hides is found', SQLITE_ONLY, async (t) => {
  const { gw, call, verify } = await world(t);
  assert.notEqual((await call('plain')).said, undefined);
  await gw.stop();
  hide(gw.ledgerFile, 'boundary_name', 'id <> 1');
  const found = verify();
  assert.match(found.out + found.err, /index of boundaries/);
  assert.notEqual(found.code, 0);
});

test('a stop that an index hides keeps the gateway from starting', SQLITE_ONLY, async (t) => {
  const { gw } = await world(t);
  const pulled = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/kills`, { method: 'POST',
    headers: { authorization: `Bearer ${OPS.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ by: 'agent', value: 'dev', reason: 'test' }) });
  assert.equal(pulled.status, 200);
  await gw.stop('SIGKILL');
  const [{ leaf }] = gw.rows('SELECT max(leaf) AS leaf FROM record WHERE kind = 5');
  hide(gw.ledgerFile, 'record_fact', `leaf <> ${leaf}`);
  await notStarted(gw, 'index');
});
