// What the generators of our own vectors share: the canonical form, digests, and keys and signatures
// that are the same at every run. Nothing but what Node has.
import { checkPrimeSync, createECDH, createHash, createHmac, createPrivateKey, createPublicKey,
  sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// ---- RFC 8785: JavaScript is the language it was written after
export function jcs(value) {
  if (Array.isArray(value)) return '[' + value.map(jcs).join(',') + ']';
  if (value !== null && typeof value === 'object') {
    const names = Object.keys(value).sort(); // by UTF-16 code units
    return '{' + names.map((n) => JSON.stringify(n) + ':' + jcs(value[n])).join(',') + '}';
  }
  return JSON.stringify(value);
}

export const hash = (...parts) => parts.reduce((h, part) => h.update(part), createHash('sha256')).digest();
export const sha256 = (text) => 'sha256:' + hash(text).toString('hex');
export const H = (value) => sha256(jcs(value));
export const base64url = (bytes) => Buffer.from(bytes).toString('base64url');

// ---- keys: made from a name, so that no private key has to be kept anywhere
const number = (bytes) => BigInt('0x' + Buffer.from(bytes).toString('hex'));
const bytesOf = (n, length) => Buffer.from(n.toString(16).padStart(2 * length, '0'), 'hex');
const P256_N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

function inverse(a, modulus) {
  let [r, s, t, u] = [modulus, ((a % modulus) + modulus) % modulus, 0n, 1n];
  while (s > 0n) [r, s, t, u] = [s, r % s, u, t - (r / s) * u];
  return ((t % modulus) + modulus) % modulus;
}

const thumbprint = (jwk, members) => base64url(hash(jcs(Object.fromEntries(members.map((m) => [m, jwk[m]])))));
const published = (alg, jwk, members) => ({ alg, kid: thumbprint(jwk, members), use: 'sig', ...jwk });

// ECDSA with the k of RFC 6979, which needs no random numbers: r || s (RFC 7518 3.4).
function ecdsa(d, text) {
  const key = bytesOf(d, 32), h1 = bytesOf(number(hash(text)) % P256_N, 32);
  const mac = (k, ...parts) => parts.reduce((h, part) => h.update(part), createHmac('sha256', k)).digest();
  let v = Buffer.alloc(32, 1), k = Buffer.alloc(32, 0);
  for (const step of [0, 1]) {
    k = mac(k, v, Buffer.from([step]), key, h1);
    v = mac(k, v);
  }
  v = mac(k, v);
  const nonce = number(v); // out of range once in 2^32: the generator would say so
  if (nonce <= 0n || nonce >= P256_N) throw new Error('another text, please');
  const point = createECDH('prime256v1');
  point.setPrivateKey(bytesOf(nonce, 32));
  const r = number(point.getPublicKey().subarray(1, 33)) % P256_N;
  const s = (inverse(nonce, P256_N) * (number(hash(text)) + r * d)) % P256_N;
  return Buffer.concat([bytesOf(r, 32), bytesOf(s, 32)]);
}

export function es256(name) {
  const d = (number(hash(name)) % (P256_N - 1n)) + 1n;
  const point = createECDH('prime256v1');
  point.setPrivateKey(bytesOf(d, 32));
  const at = point.getPublicKey();
  const jwk = { crv: 'P-256', kty: 'EC', x: base64url(at.subarray(1, 33)), y: base64url(at.subarray(33)) };
  return key('ES256', jwk, ['crv', 'kty', 'x', 'y'], (text) => ecdsa(d, text));
}

export function ed25519(name) {
  const secret = createPrivateKey(
    { key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), hash(name)]), format: 'der',
      type: 'pkcs8' });
  const { x } = createPublicKey(secret).export({ format: 'jwk' });
  return key('EdDSA', { crv: 'Ed25519', kty: 'OKP', x }, ['crv', 'kty', 'x'],
    (text) => sign(null, Buffer.from(text), secret));
}

// The first prime from a place that the name gives.
function prime(name) {
  const bytes = Buffer.concat([0, 1, 2, 3].map((i) => hash(`${name} ${i}`)));
  bytes[0] |= 0xc0;
  for (let p = number(bytes) | 1n; ; p += 2n) if (p % 65537n !== 1n && checkPrimeSync(p)) return p;
}

export function rs256(name) {
  const [p, q] = [prime(`${name} p`), prime(`${name} q`)].sort((a, b) => (a < b ? 1 : -1));
  const d = inverse(65537n, (p - 1n) * (q - 1n));
  const b = (n, length) => base64url(bytesOf(n, length));
  const jwk = { e: 'AQAB', kty: 'RSA', n: b(p * q, 256) };
  const secret = createPrivateKey({
    key: { ...jwk, d: b(d, 256), p: b(p, 128), q: b(q, 128), dp: b(d % (p - 1n), 128), dq: b(d % (q - 1n), 128),
      qi: b(inverse(q, p), 128) },
    format: 'jwk',
  });
  return key('RS256', jwk, ['e', 'kty', 'n'], (text) => sign('sha256', Buffer.from(text), secret));
}

function key(alg, jwk, members, signer) {
  const full = published(alg, jwk, members);
  return {
    alg,
    kid: full.kid,
    jwk: full,
    pem: createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' }),
    sign: signer,
  };
}

// ---- files: argv[2], or vectors/
export const FOLDER = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '../../../vectors');

export function write(path, value) {
  const file = join(FOLDER, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value, null, 1) + '\n');
}
