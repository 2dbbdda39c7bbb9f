// writ timestamp query and writ verify timestamp, against an authority made with `openssl ts`.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SAMPLE } from '../support/js/ledger.mjs';
import { BIN, sha256, writ } from '../support/js/gateway.mjs';


let folder;
const at = (name) => join(folder, name);
function openssl(...args) {
  const run = spawnSync('openssl', args, { encoding: 'utf8', cwd: folder });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout;
}

/** A root, and under it an authority that stamps; `dates` are of the authority's certificate. */
function authority(name, dates = []) {
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}-ca.key`, '-out', `${name}-ca.pem`,
    '-days', '30', '-subj', `/CN=${name} root`);
  openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj',
    `/CN=${name}`);
  writeFileSync(at(`${name}.index`), '');
  writeFileSync(at(`${name}.cnf`), [
    '[ca]', 'default_ca = own', '[own]', `database = ${name}.index`, `new_certs_dir = .`, 'default_md = sha256',
    'policy = any', 'rand_serial = yes', 'x509_extensions = stamps', 'default_days = 30', '[any]',
    'commonName = supplied',
    '[stamps]', 'extendedKeyUsage = critical,timeStamping',
    '[tsa]', 'default_tsa = local', '[local]', `serial = ${name}.serial`, 'default_policy = 1.2.3.4.1',
    'digests = sha256, sha512', 'signer_digest = sha256', ''].join('\n'));
  writeFileSync(at(`${name}.serial`), '01\n');
  openssl('ca', '-batch', '-config', `${name}.cnf`, '-cert', `${name}-ca.pem`, '-keyfile', `${name}-ca.key`, '-in',
    `${name}.csr`, '-out', `${name}.pem`, '-notext', ...dates);
}

/** What the authority answers to a query in a file. */
function answer(name, query, ...rest) {
  openssl('ts', '-reply', '-config', `${name}.cnf`, '-queryfile', query, '-signer', `${name}.pem`, '-inkey',
    `${name}.key`,
    '-out', 'answer.tsr', ...rest);
  return readFileSync(at('answer.tsr'));
}

/** `writ verify timestamp`: its first line, or its exit code and error. */
function verify(response, { checkpoint = 'one.txt', ca = 'good-ca.pem', more = [] } = {}) {
  writeFileSync(at('response.tsr'), response);
  const run = writ(['verify', 'timestamp', at(checkpoint), at('response.tsr'), '--ca', at(ca), ...more]);
  const first = run.out.split('\n')[0];
  assert.equal(run.code, first === 'ok' ? 0 : first === '' ? 3 : 1, run.err + run.out);
  return first === '' ? run.err : first;
}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-timestamp-'));
  for (const name of ['one', 'two']) {
    assert.equal(spawnSync(SAMPLE, [at(`${name}.db`), at(`${name}-keys`)]).status, 0);
    const run = writ(['ledger', 'checkpoint', at(`${name}.db`), '--keys', at(`${name}-keys`)]);
    assert.equal(run.code, 0, run.err);
    writeFileSync(at(`${name}.txt`), run.out);
    writeFileSync(at(`${name}.tsq`), writ(['timestamp', 'query', at(`${name}.txt`)], { encoding: 'buffer' }).out);
  }
  authority('good');
});
after(() => rmSync(folder, { recursive: true }));

test('openssl reads a query as one over the file', () => {
  const text = openssl('ts', '-query', '-in', 'one.tsq', '-text');
  assert.match(text, /Hash Algorithm: sha256\n/);
  assert.match(text, /Certificate required: yes\n/);
  const hex = [...text.matchAll(/^ +[0-9a-f]{4} - ([0-9a-f -]{47})/gm)].map((m) => m[1].replaceAll(/[ -]/g, ''))
    .join('');
  assert.equal(hex, sha256(readFileSync(at('one.txt'))));
  const json = JSON.parse(writ(['timestamp', 'query', at('one.txt'), '--json']).out);
  assert.deepEqual(Buffer.from(json.query, 'base64'), readFileSync(at('one.tsq')));
});

test('a file other than a checkpoint is refused', () => {
  writeFileSync(at('other.txt'), 'hello\n');
  assert.equal(writ(['timestamp', 'query', at('other.txt')]).code, 3);
  assert.match(verify(answer('good', 'one.tsq'), { checkpoint: 'other.txt' }), /./);
});

test('a stamp over the checkpoint gives the time of the authority', () => {
  const response = answer('good', 'one.tsq');
  assert.equal(verify(response), 'ok');
  const told = JSON.parse(writ(['verify', 'timestamp', at('one.txt'), at('response.tsr'), '--ca', at('good-ca.pem'),
    '--json']).out);
  assert.deepEqual([told.ok, told.reason], [true, 'ok']);
  const said = /Time stamp: (.*)\n/.exec(openssl('ts', '-reply', '-in', 'response.tsr', '-text'))[1];
  assert.equal(Date.parse(told.time), Date.parse(said));
  assert.match(told.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000000Z$/);
});

test('the response to an openssl query with a nonce verifies', () => {
  openssl('ts', '-query', '-data', 'one.txt', '-sha256', '-cert', '-out', 'own.tsq');
  assert.equal(verify(answer('good', 'own.tsq')), 'ok');
});

test('a stamp over other bytes is refused', () => {
  assert.equal(verify(answer('good', 'two.tsq')), 'timestamp_mismatch');
  assert.equal(verify(answer('good', 'one.tsq'), { checkpoint: 'two.txt' }), 'timestamp_mismatch');
  // the same checkpoint with other bytes around it: one more signature
  const text = readFileSync(at('one.txt'), 'utf8');
  writeFileSync(at('more.txt'), `${text}\u2014 other ${Buffer.alloc(68).toString('base64')}\n`);
  assert.equal(verify(answer('good', 'one.tsq'), { checkpoint: 'more.txt' }), 'timestamp_mismatch');
  openssl('ts', '-query', '-data', 'one.txt', '-sha512', '-cert', '-out', 'own.tsq');
  assert.equal(verify(answer('good', 'own.tsq')), 'timestamp_mismatch');
});

test('a stamp of an untrusted authority is refused', () => {
  authority('bad');
  assert.equal(verify(answer('bad', 'one.tsq')), 'timestamp_untrusted');
  assert.equal(verify(answer('good', 'one.tsq'), { ca: 'bad-ca.pem' }), 'timestamp_untrusted');
  writeFileSync(at('both.pem'), readFileSync(at('bad-ca.pem'), 'utf8') + readFileSync(at('good-ca.pem'), 'utf8'));
  assert.equal(verify(answer('good', 'one.tsq'), { ca: 'both.pem' }), 'ok');
});

test('the authority\'s certificate must be valid at the time of the stamp', () => {
  for (const [name, from, to] of [['early', '20400101000000Z', '20410101000000Z'],
      ['late', '20010101000000Z', '20020101000000Z']]) {
    authority(name, ['-startdate', from, '-enddate', to]);
    assert.equal(verify(answer(name, 'one.tsq'), { ca: `${name}-ca.pem` }), 'timestamp_untrusted');
  }
});

test('a rejection by the authority is refused', () => {
  openssl('ts', '-query', '-data', 'one.txt', '-sha384', '-cert', '-out', 'own.tsq'); // not among its digests
  assert.equal(verify(answer('good', 'own.tsq')), 'timestamp_not_granted');
});

test('a response that was cut or changed at any byte is refused', () => {
  const response = answer('good', 'one.tsq');
  for (let length = 0; length < response.length; length += 97) {
    assert.equal(verify(response.subarray(0, length)), 'evidence_malformed', `${length} bytes`);
  }
  assert.equal(verify(Buffer.concat([response, Buffer.from([0])])), 'evidence_malformed');
  assert.equal(verify('<html>404</html>'), 'evidence_malformed');
  const changed = Buffer.from(response);
  changed[changed.length - 1] ^= 1; // the signature is last
  assert.equal(verify(changed), 'timestamp_untrusted');
  // GeneralizedTime: those of certificates are UTCTime
  const time = /\x18\x0f(\d{14}Z)/.exec(response.toString('latin1'));
  changed.set(response);
  changed[time.index + 15] ^= 1; // the last digit of the seconds
  assert.equal(verify(changed), 'timestamp_untrusted');
});

test('a file of authorities may contain only certificates', () => {
  const response = answer('good', 'one.tsq');
  const pem = readFileSync(at('good-ca.pem'), 'utf8');
  for (const text of ['', 'x', pem.slice(0, 400), pem + pem.replace(/\n..../, '\n!!!!')]) {
    writeFileSync(at('odd.pem'), text);
    assert.match(verify(response, { ca: 'odd.pem' }), /odd\.pem: /);
  }
  assert.match(verify(response, { ca: 'absent.pem' }), /absent\.pem/);
});
