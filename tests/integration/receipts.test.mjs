// writ receipt and writ verify receipt, against two verifiers that share no code with Writ.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writ } from '../support/js/gateway.mjs';
import { sampleLedger } from '../support/js/ledger.mjs';
import { DEV, approve, asks, setUp } from '../support/js/reviews.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { all, verdicts } from '../support/js/verifiers.mjs';

const { folder, path, keys, trusted } = sampleLedger();

const decisions = () => JSON.parse(writ(['ledger', 'list', path, '--json']).out).decisions;
function receiptOf(id, ledger = path, dir = keys) {
  const run = writ(['receipt', id, '--ledger', ledger, '--keys', dir]);
  assert.equal(run.code, 0, run.err);
  return run.out;
}

/** What each verifier says of a receipt. */
function said(text, keysFile = trusted) {
  const file = join(folder, 'receipt.json');
  writeFileSync(file, text);
  return verdicts('receipt', file, keysFile);
}
const ALL_OK = all('ok');

test('every call has a receipt that three verifiers accept', () => {
  for (const { decision_id, decision, outcome } of decisions()) {
    const text = receiptOf(decision_id);
    assert.deepEqual(said(text), ALL_OK, decision_id);
    const told = JSON.parse(writ(['verify', 'receipt', join(folder, 'receipt.json'), '--key', trusted, '--json']).out);
    assert.deepEqual([told.ok, told.decision, told.outcome, told.decision_id], [true, decision, outcome, decision_id]);
    assert.equal(told.size, 10);
    const kinds = JSON.parse(text).records.map((r) => r.kind);
    assert.deepEqual(kinds, outcome === null ? ['decision'] : ['decision', 'outcome']);
  }
});

test('a proof in a receipt is a c2sp.org/tlog-proof over the record in the ledger', () => {
  const [{ decision_id, leaf }] = decisions();
  const [entry] = JSON.parse(receiptOf(decision_id)).records;
  assert.match(entry.proof,
    new RegExp(`^c2sp\\.org/tlog-proof@v1\\nindex ${leaf}\\n([A-Za-z0-9+/]{43}=\\n){2,4}\\nwrit-ledger/`));
  assert.deepEqual(entry.record, JSON.parse(writ(['ledger', 'show', path, decision_id, '--json']).out).decision);
});

test('a receipt with other white space and member order verifies', () => {
  const file = JSON.parse(receiptOf(decisions()[1].decision_id));
  assert.deepEqual(said(JSON.stringify(Object.fromEntries(Object.entries(file).reverse()), null, 2)), ALL_OK);
});

test('all three verifiers refuse a changed receipt for the same reason', () => {
  const id = decisions().find((d) => d.outcome === 'executed').decision_id;
  const other = JSON.parse(receiptOf(decisions()[2].decision_id));
  const rows = [
    ['record_not_in_log', (r) => { r.records[1].record.outcome = 'blocked'; }],
    ['record_not_in_log', (r) => { r.records[0].record.reason = 'another'; }],
    ['record_not_in_log', (r) => { r.records[0].record.more = null; }],
    ['record_digest_mismatch', (r) => { r.records[0].record.tool = 'other'; }],
    ['record_invalid', (r) => { r.records[0].record.decision = 'perhaps'; }],
    ['record_not_in_log', (r) => { r.records[0].proof = r.records[0].proof.replace(/index \d+/, 'index 9'); }],
    ['record_not_in_log', (r) => {
      [r.records[0].proof, r.records[1].proof] = [r.records[1].proof, r.records[0].proof];
    }],
    ['record_foreign', (r) => { r.records.shift(); }],
    ['record_foreign', (r) => {
      r.records[1] = other.records[1];
      r.records[1].proof = other.records[1].proof.replace(/writ-ledger[^]*/,
        r.records[0].proof.slice(r.records[0].proof.indexOf('writ-ledger')));
    }],
    ['evidence_malformed', (r) => { r.records[0].extra = 1; }],
    ['evidence_malformed', (r) => { r.format = 'writ-receipt/2'; }],
    ['evidence_malformed', (r) => { r.records = []; }],
    ['evidence_malformed', (r) => {
      r.records[1].proof = r.records[1].proof.replace(/\n\n\u2014/, '\nmore\n\n\u2014');
    }],
  ];
  for (const [reason, change] of rows) {
    const receipt = JSON.parse(receiptOf(id));
    change(receipt);
    assert.deepEqual(said(JSON.stringify(receipt)), all(reason), String(change));
  }
});

test('a checkpoint needs the signature of a trusted key', () => {
  const text = receiptOf(decisions()[0].decision_id);
  const strange = join(folder, 'strange');
  const own = join(folder, 'own-keys');
  assert.equal(writ(['keys', 'new', '--dir', own]).code, 0);
  writeFileSync(strange, writ(['ledger', 'key', path, '--keys', own]).out);
  assert.deepEqual(said(text, strange), all('checkpoint_unsigned'));
  // a note with a changed root, under the signature of the one before
  const forged = text.replace(/(writ-ledger\/[0-9a-f-]+\\n10\\n).{44}/g, `$1${'A'.repeat(43)}=`);
  assert.notEqual(forged, text);
  assert.deepEqual(said(forged), all('checkpoint_invalid'));
  writeFileSync(strange, 'no key\n');
  const run = writ(['verify', 'receipt', join(folder, 'receipt.json'), '--key', strange]);
  assert.equal(run.code, 3);
  assert.match(run.err, /strange:1: /);
});

test('receipts verify under the key that signed, also after its rotation', () => {
  const id = decisions()[0].decision_id;
  const before = readFileSync(trusted, 'utf8');
  assert.equal(writ(['keys', 'rotate', '--dir', keys, '--purpose', 'ledger']).code, 0);
  assert.deepEqual(said(receiptOf(id)), ALL_OK);
  writeFileSync(trusted, writ(['ledger', 'key', path, '--keys', keys]).out);
  assert.equal(readFileSync(trusted, 'utf8').split('\n')[1], before.trim());
  assert.deepEqual(said(receiptOf(id)), ALL_OK);
});

test('the receipt of an approved call has the review, its votes and the first request', async (t) => {
  const { gw } = await setUp(t);
  const session = await openSession(gw, { token: DEV.token });
  const id = await asks(session, { amount: 100 });
  await approve(gw, id);
  assert.equal((await session.call('up__pay', { amount: 100 })).said, 'ran 1');
  const [allow] = gw.decisions(['--decision', 'allow']);
  const own = join(folder, 'gateway-key');
  writeFileSync(own, writ(['ledger', 'key', gw.ledgerFile, '--keys', gw.path('keys')]).out);
  const text = receiptOf(allow.decision_id, gw.ledgerFile, gw.path('keys'));
  const records = JSON.parse(text).records.map(({ kind, record }) => record.event ?? record.decision ??
    record.outcome ?? kind);
  assert.deepEqual(records.filter((r) => r !== 'blocked'),
    ['require_approval', 'open', 'vote', 'vote', 'vote', 'accept', 'redeem', 'allow', 'executed']);
  assert.deepEqual(said(text, own), ALL_OK);
});
