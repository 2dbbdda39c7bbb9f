// ed25519.js - verifies a signature (RFC 8032, 5.1.7). It computes with public values alone, so the
// time that it takes tells nothing.
import { sha512 } from './sha2.js';

const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const mod = (x) => ((x % P) + P) % P;

function power(x, n) {
  let found = 1n;
  for (let base = mod(x), left = n; left > 0n; left >>= 1n, base = mod(base * base)) if (left & 1n) found = mod(found * base);
  return found;
}

const D = mod(-121665n * power(121666n, P - 2n));
const ROOT = power(2n, (P - 1n) / 4n); // of -1
const number = (bytes) => bytes.reduceRight((all, byte) => (all << 8n) | BigInt(byte), 0n);

/** The point of 32 bytes, as [X, Y, Z, T]; null: there is none. */
function point(bytes) {
  const all = number(bytes);
  const sign = all >> 255n;
  const y = all & (2n ** 255n - 1n);
  if (y >= P) return null;
  const u = mod(y * y - 1n), v = mod(D * y * y + 1n);
  let x = mod(u * v ** 3n * power(u * v ** 7n, (P - 5n) / 8n));
  if (mod(v * x * x) !== u) x = mod(x * ROOT);
  if (mod(v * x * x) !== u || (x === 0n && sign === 1n)) return null;
  if ((x & 1n) !== sign) x = P - x;
  return [x, y, 1n, mod(x * y)];
}

function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = (y1 - x1) * (y2 - x2), b = (y1 + x1) * (y2 + x2);
  const c = mod(2n * D * mod(t1 * t2)), d = 2n * z1 * z2;
  const e = mod(b - a), f = mod(d - c), g = mod(d + c), h = mod(b + a);
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
}

function times(scalar, own) {
  let found = [0n, 1n, 1n, 0n];
  for (let left = scalar, base = own; left > 0n; left >>= 1n, base = add(base, base)) if (left & 1n) found = add(found, base);
  return found;
}

function encoded([x, y, z]) {
  const inverse = power(z, P - 2n);
  let all = mod(y * inverse) | ((mod(x * inverse) & 1n) << 255n);
  return Uint8Array.from({ length: 32 }, () => {
    const byte = Number(all & 255n);
    all >>= 8n;
    return byte;
  });
}

const BASE_Y = mod(4n * power(5n, P - 2n));
const BASE = point(Uint8Array.from({ length: 32 }, (_, i) => Number((BASE_Y >> BigInt(8 * i)) & 255n)));

/** Whether a signature of 64 bytes is that of the key of 32 bytes over the message. */
export function verified(key, message, signature) {
  const own = key.length === 32 ? point(key) : null;
  const s = number(signature.subarray(32));
  if (own === null || signature.length !== 64 || s >= L) return false;
  const all = new Uint8Array(64 + message.length);
  all.set(signature.subarray(0, 32));
  all.set(key, 32);
  all.set(message, 64);
  const h = number(sha512(all)) % L;
  const [x, y, z, t] = times(h, own);
  const r = encoded(add(times(s, BASE), [mod(-x), y, z, mod(-t)]));
  return r.every((byte, i) => byte === signature[i]);
}
