// writ keys: the key directory, as an operator sees it.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync,
  symlinkSync,
  writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BIN = process.env.WRIT_BIN ?? 'build/dev/writ';

let folder;
let count = 0;
before(() => { folder = mkdtempSync(join(tmpdir(), 'writ-keys-')); });
after(() => rmSync(folder, { recursive: true }));
const fresh = () => join(folder, `keys-${count++}`);

function keys(command, dir, ...args) {
  const run = spawnSync(BIN, ['keys', command, '--dir', dir, ...args], { encoding: 'utf8' });
  return { code: run.status, out: run.stdout, err: run.stderr };
}
const json = (command, dir, ...args) => JSON.parse(keys(command, dir, '--json', ...args).out);
const pems = (dir) => readdirSync(dir).filter((name) => name.endsWith('.pem'));

test('new makes a private directory and the two keys that a gateway needs', () => {
  const dir = fresh();
  const made = json('new', dir);
  assert.match(made.kid, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual([made.alg, made.purpose, made.state], ['ES256', 'credential', 'active']);
  assert.deepEqual([made.ledger.alg, made.ledger.purpose, made.ledger.state], ['EdDSA', 'ledger', 'active']);
  assert.equal(statSync(dir).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(dir).sort(), [`${made.kid}.pem`, `${made.ledger.kid}.pem`, 'keys.json'].sort());
  for (const name of readdirSync(dir)) assert.equal(statSync(join(dir, name)).mode & 0o777, 0o600);
  const key = (kid) => createPrivateKey(readFileSync(join(dir, `${kid}.pem`)));
  assert.equal(key(made.kid).asymmetricKeyDetails.namedCurve, 'prime256v1');
  assert.equal(key(made.ledger.kid).asymmetricKeyType, 'ed25519');
});

test('keys new makes a missing key and reports when none is missing', () => {
  for (const first of ['credential', 'ledger']) {
    const dir = fresh();
    const made = json('new', dir, '--purpose', first);
    assert.deepEqual([made.purpose, made.ledger, pems(dir).length], [first, undefined, 1]);
    const other = json('new', dir);
    assert.deepEqual([other.purpose, other.ledger], [first === 'ledger' ? 'credential' : 'ledger', undefined]);
    assert.deepEqual(json('list', dir).keys.map((k) => k.kid), [made.kid, other.kid]);
    const again = keys('new', dir);
    assert.equal(again.code, 3);
    assert.match(again.err, /rotate/);
  }
});

test('a ledger key must be Ed25519', () => {
  const dir = fresh();
  for (const command of ['new', 'rotate']) {
    const run = keys(command, dir, '--purpose', 'ledger', '--alg', 'ES256');
    assert.equal(run.code, 2);
    assert.match(run.err, /EdDSA/);
  }
});

test('RS256 keys have at least 2048 bits', () => {
  const dir = fresh();
  const { kid } = json('new', dir, '--alg', 'RS256');
  const key = createPrivateKey(readFileSync(join(dir, `${kid}.pem`)));
  assert.ok(key.asymmetricKeyDetails.modulusLength >= 2048);
});

test('a purpose has one active key, and the purposes do not share it', () => {
  const dir = fresh();
  const credential = json('new', dir);
  assert.equal(keys('new', dir, '--purpose', 'ledger').code, 3);
  assert.equal(keys('new', dir, '--purpose', 'credential').code, 3);
  assert.notEqual(credential.ledger.kid, credential.kid);
  const set = (...args) => JSON.parse(keys('jwks', dir, ...args).out).keys.map((k) => k.kid);
  assert.deepEqual(set(), [credential.kid]);
  assert.deepEqual(set('--purpose', 'ledger'), [credential.ledger.kid]);
  assert.equal(pems(dir).length, 2);
});

test('list shows the purpose of each key and opens no private key', () => {
  const dir = fresh();
  const first = json('new', dir, '--purpose', 'credential');
  const second = json('rotate', dir);
  for (const name of pems(dir)) rmSync(join(dir, name));
  const list = json('list', dir).keys;
  assert.deepEqual(list.map((k) => [k.kid, k.state]), [[first.kid, 'verifying'], [second.kid, 'active']]);
  assert.equal(keys('list', dir).out.trim().split('\n').length, 2);
});

test('rotate keeps the algorithm by default and leaves one private key', () => {
  const dir = fresh();
  json('new', dir, '--purpose', 'credential', '--alg', 'EdDSA');
  assert.equal(json('rotate', dir).alg, 'EdDSA');
  assert.equal(json('rotate', dir, '--alg', 'ES256').alg, 'ES256');
  assert.equal(pems(dir).length, 1);
  assert.equal(keys('rotate', dir, '--purpose', 'ledger').code, 3);
});

test('public keys carry no private member', () => {
  const dir = fresh();
  json('new', dir);
  for (const key of JSON.parse(keys('jwks', dir).out).keys) {
    assert.deepEqual(Object.keys(key), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y', 'nbf']);
  }
});

const REFUSED = [
  ['a directory that others can write', (dir) => chmodSync(dir, 0o770), /mode 0770/],
  ['a private key that others can read', (dir) => chmodSync(join(dir, pems(dir)[0]), 0o640), /chmod 600/],
  ['an index that others can write', (dir) => chmodSync(join(dir, 'keys.json'), 0o666), /keys\.json/],
  ['a link to a private key', (dir) => {
    renameSync(join(dir, pems(dir)[0]), join(folder, 'elsewhere.pem'));
    symlinkSync(join(folder, 'elsewhere.pem'), join(dir, `${json('list', dir).keys[0].kid}.pem`));
  }, /symbolic link/],
  ['a damaged index', (dir) => writeFileSync(join(dir, 'keys.json'), '{"version":1,"keys":[{}]}'), /keyring/],
  ['an encrypted private key', (dir) => {
    const path = join(dir, pems(dir)[0]);
    const key = createPrivateKey(readFileSync(path));
    writeFileSync(path, key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }));
  }, /encrypted/],
];
for (const [what, damage, text] of REFUSED) {
  test(`${what} is refused with its reason`, () => {
    const dir = fresh();
    json('new', dir, '--purpose', 'credential');
    damage(dir);
    const run = keys('rotate', dir);
    assert.equal(run.code, 3, run.err);
    assert.match(run.err, text);
    assert.equal(run.out, '');
  });
}

test('a link in place of the key directory is refused', () => {
  const dir = fresh();
  json('new', dir);
  const link = fresh();
  symlinkSync(dir, link);
  assert.equal(keys('list', link).code, 3);
  assert.equal(keys('list', `${link}/`).code, 3);
});

test('mistakes of the command line are reported', () => {
  const dir = fresh();
  for (const args of [['--alg', 'none'], ['--alg', 'HS256'], ['--alg', 'es256'], ['--purpose', 'both'], ['x']]) {
    assert.equal(keys('new', dir, ...args).code, 2, args.join(' '));
  }
  assert.equal(keys('list', dir).code, 3); // there is none
  mkdirSync(dir);
  assert.equal(keys('list', dir).code, 3); // empty
  assert.equal(keys('retire', dir, '--kid', 'x').code, 3);
});

// ---- keys over time

const file = (name, value) => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(value));
  return path;
};
const follow = (jwks, pin) => {
  const run = spawnSync(BIN, ['verify', 'keys', '--jwks', file('now.json', jwks), '--pin', file('pin.json', pin),
    '--json'], { encoding: 'utf8' });
  return [run.status, JSON.parse(run.stdout).keys.map((key) => key.kid)];
};
const jwks = (dir, ...args) => JSON.parse(keys('jwks', dir, ...args).out);

test('a verifier with one trusted key follows rotations, also over removed keys', () => {
  const dir = fresh();
  const a = json('new', dir, '--purpose', 'credential').kid, pin = jwks(dir);
  const b = json('rotate', dir, '--alg', 'EdDSA').kid;
  const c = json('rotate', dir, '--alg', 'RS256').kid;
  assert.deepEqual(follow(jwks(dir), pin), [0, [c, a, b]]);
  json('retire', dir, '--kid', a);
  json('retire', dir, '--kid', b);
  const now = jwks(dir);
  assert.deepEqual(now.keys.map((key) => key.kid), [c]);
  assert.deepEqual(follow(now, pin), [0, [c]]);
  assert.deepEqual(follow(now, jwks(dir, '--history')), [0, [c]]);
  assert.deepEqual(follow(jwks(dir, '--history'), pin), [0, [c, a, b]]);
  assert.deepEqual(follow({ ...now, rotations: [...now.rotations].reverse() }, pin), [0, [c]], 'in any order');
  assert.deepEqual(follow({ keys: now.keys }, pin), [1, []], 'nothing leads there');
  assert.deepEqual(follow({ ...now, rotations: now.rotations.slice(1) }, pin), [1, []], 'a step is missing');
  assert.deepEqual(json('list', dir).keys.map((key) => key.vouched_for), [false, true, true]);
});

test('a statement that was changed or signed by a foreign key is not followed', () => {
  const dir = fresh(), other = fresh();
  json('new', dir, '--purpose', 'credential');
  const pin = jwks(dir);
  json('rotate', dir);
  json('new', other, '--purpose', 'credential');
  json('rotate', other);
  const now = jwks(dir), theirs = jwks(other);
  const [statement] = now.rotations;
  assert.deepEqual(follow({ ...theirs, rotations: now.rotations }, pin)[1], [], 'their keys under our statement');
  assert.deepEqual(follow(theirs, pin), [1, []]);
  const [head, body, signature] = statement.split('.');
  const payload = JSON.parse(Buffer.from(body, 'base64url'));
  const changed = Buffer.from(JSON.stringify({ ...payload, jwk: theirs.keys[0] })).toString('base64url');
  assert.deepEqual(follow({ keys: theirs.keys, rotations: [`${head}.${changed}.${signature}`] }, pin), [1, []]);
  const plain = Buffer.from(JSON.stringify({ alg: 'ES256', kid: pin.keys[0].kid, typ: 'JWT' })).toString('base64url');
  assert.deepEqual(follow({ keys: now.keys, rotations: [`${plain}.${body}.${signature}`] }, pin)[1], [pin.keys[0].kid]);
});

test('a key that names two successors is not followed', () => {
  const dir = fresh();
  json('new', dir, '--purpose', 'credential');
  const pin = jwks(dir), kept = readFileSync(join(dir, 'keys.json')), [pem] = pems(dir),
    secret = readFileSync(join(dir, pem));
  json('rotate', dir);
  const genuine = jwks(dir);
  writeFileSync(join(dir, 'keys.json'), kept); // the thief has the private half
  writeFileSync(join(dir, pem), secret, { mode: 0o600 });
  json('rotate', dir);
  const forged = jwks(dir);
  const both = { keys: [...genuine.keys, ...forged.keys.slice(0, 1)],
    rotations: [...genuine.rotations, ...forged.rotations] };
  assert.deepEqual(follow(both, pin), [1, []]);
  assert.deepEqual(follow(genuine, pin)[0], 0);
});

test('revoke unpublishes a key, and its successor has no rotation statement', () => {
  const dir = fresh();
  const a = json('new', dir, '--purpose', 'credential').kid, pin = jwks(dir);
  const revoked = json('revoke', dir, '--kid', a, '--since', '2026-01-02T03:04:05Z');
  assert.deepEqual([revoked.kid, revoked.state, revoked.revoked_since], [a, 'revoked', '2026-01-02T03:04:05.000000Z']);
  const now = jwks(dir);
  assert.equal(now.keys.length, 1);
  assert.notEqual(now.keys[0].kid, a);
  assert.deepEqual([now.revoked, now.rotations], [[{ kid: a, revoked_at: 1767323045 }], undefined]);
  assert.deepEqual(follow(now, pin), [1, []]);
  assert.equal(pems(dir).length, 1, 'its private half is gone');
  assert.ok(existsSync(join(dir, `${now.keys[0].kid}.pem`)));
  assert.match(keys('list', dir).out, new RegExp(`${a} .* revoked +since 2026-01-02T03:04:05Z`));
  const b = json('rotate', dir).kid;
  assert.equal(keys('revoke', dir, '--kid', now.keys[0].kid).code, 0, 'one that was rotated out');
  assert.deepEqual(jwks(dir).keys.map((key) => key.kid), [b]);
  assert.deepEqual(jwks(dir, '--history').keys.map((key) => [key.kid, key.revoked?.revoked_at > 0]),
    [[b, false], [a, true], [now.keys[0].kid, true]]);
  assert.equal(keys('revoke', dir, '--kid', a, '--since', '2026-01-01T00:00:00Z').code, 0,
    'lost earlier than was thought');
  assert.equal(keys('revoke', dir, '--kid', a, '--since', '2026-01-03T00:00:00Z').code, 3);
  assert.equal(keys('revoke', dir, '--kid', b, '--since', '2999-01-01T00:00:00Z').code, 3);
  assert.equal(keys('revoke', dir, '--kid', b, '--since', 'yesterday').code, 2);
  assert.match(keys('revoke', dir, '--kid', b, '--since', '1960-01-01T00:00:00Z').err, /must be after 1970-01-01/);
  assert.equal(keys('revoke', dir, '--kid', 'nobody').code, 3);
  assert.equal(keys('retire', dir, '--kid', a).code, 3, 'no way leads back');
  assert.deepEqual(jwks(dir).keys.map((key) => key.kid), [b]);
});

test('a revoked key does not vouch for later rotations', () => {
  const dir = fresh();
  const a = json('new', dir, '--purpose', 'credential').kid, pin = jwks(dir);
  const b = json('rotate', dir).kid;
  json('revoke', dir, '--kid', a, '--since', '2026-01-01T00:00:00Z');
  assert.deepEqual(follow(jwks(dir), pin), [1, []]);
  assert.deepEqual(jwks(dir).keys.map((key) => key.kid), [b]);
});

test('a lost private key is named, and can be restored or revoked', () => {
  const dir = fresh();
  const made = json('new', dir);
  for (const kid of [made.kid, made.ledger.kid]) {
    const kept = readFileSync(join(dir, `${kid}.pem`));
    rmSync(join(dir, `${kid}.pem`));
    for (const [command, ...args] of [['rotate'], ['new', '--purpose', 'contents']]) {
      const run = keys(command, dir, ...args);
      assert.equal(run.code, 3);
      assert.ok(run.err.includes(`${kid}.pem is missing. Restore it from a backup, or replace its key with: ` +
        `writ keys revoke --dir ${dir} --kid ${kid}`), run.err);
      assert.doesNotMatch(run.err, /Make the keys/);
    }
    writeFileSync(join(dir, `${kid}.pem`), kept, { mode: 0o600 });
    assert.equal(keys('list', dir).code, 0);
    rmSync(join(dir, `${kid}.pem`));
    const revoked = json('revoke', dir, '--kid', kid);
    assert.deepEqual([revoked.kid, revoked.state], [kid, 'revoked']);
    assert.equal(keys('rotate', dir).code, 0); // every private key is there again
  }
  const contents = json('new', dir, '--purpose', 'contents');
  rmSync(join(dir, `${contents.kid}.jwk`));
  assert.equal(keys('rotate', dir).code, 3);
  assert.equal(json('revoke', dir, '--kid', contents.kid).state, 'revoked');
  assert.equal(keys('rotate', dir).code, 0);
  // only the key that is revoked may be missing
  const [one, two] = pems(dir);
  rmSync(join(dir, one));
  assert.equal(keys('revoke', dir, '--kid', two.replace('.pem', '')).code, 3);
  assert.equal(existsSync(join(dir, two)), true);
});

test('a file that may not grow fails the command, and no half-written key is left', () => {
  const dir = fresh();
  json('new', dir);
  const before = readdirSync(dir).sort();
  const index = readFileSync(join(dir, 'keys.json'), 'utf8');
  const run = spawnSync('sh', ['-c', 'ulimit -f 0; exec "$0" "$@"', BIN, 'keys', 'rotate', '--dir', dir],
    { encoding: 'utf8' });
  assert.deepEqual([run.status, run.signal], [4, null], run.stderr);
  assert.match(run.stderr, /\.pem: cannot write: File too large/);
  assert.deepEqual(readdirSync(dir).sort(), before);
  assert.equal(readFileSync(join(dir, 'keys.json'), 'utf8'), index);
  for (const left of ['x.pem.new', 'y.jwk.new'])
    writeFileSync(join(dir, left), 'of a change that was killed', { mode: 0o600 });
  writeFileSync(join(dir, 'mark.key.new'), 'of the gateway', { mode: 0o600 });
  assert.equal(keys('rotate', dir).code, 0);
  assert.deepEqual(readdirSync(dir).filter((name) => name.endsWith('.new')), ['mark.key.new']);
});

test('trust takes the public keys of another gateway, and their later states', () => {
  const [own, other] = [fresh(), fresh()];
  const mine = json('new', own);
  const theirs = json('new', other);
  const file = join(other, 'keys.json');
  assert.deepEqual(json('trust', own, file), { changed: 2 });
  assert.deepEqual(json('trust', own, file), { changed: 0 });
  const states = () => Object.fromEntries(json('list', own).keys.map((key) => [key.kid, key.state]));
  assert.deepEqual(states(), {
    [mine.kid]: 'active', [mine.ledger.kid]: 'active', [theirs.kid]: 'verifying', [theirs.ledger.kid]: 'verifying',
  });
  assert.equal(pems(own).length, 2); // no private half comes along
  assert.equal(keys('revoke', other, '--kid', theirs.ledger.kid).code, 0);
  assert.deepEqual(json('trust', own, file), { changed: 2 }); // revoked, and the one that replaces it
  assert.equal(states()[theirs.ledger.kid], 'revoked');
  const wrong = keys('trust', own, join(other, `${theirs.kid}.pem`));
  assert.equal(wrong.code, 3);
  assert.doesNotMatch(wrong.err, /BEGIN/);
});
