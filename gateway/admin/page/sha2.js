// sha2.js - SHA-256 and SHA-512 (FIPS 180-4), for the verifier of evidence: it needs digests at once,
// also where the page has no crypto.subtle (HTTP to another machine than this one).

const text = new TextEncoder();

/** The first `count` primes. */
function primes(count) {
  const found = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

/** The first 64 bits behind the point of the root of degree `degree` of n. */
function fraction(n, degree) {
  const scaled = BigInt(n) << BigInt(64 * degree);
  let low = 0n, high = 1n << 80n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(degree) <= scaled) low = middle;
    else high = middle;
  }
  return low & 0xffffffffffffffffn;
}

const K = primes(80).map((prime) => fraction(prime, 3));
const START = primes(8).map((prime) => fraction(prime, 2));
const K32 = Int32Array.from(K.slice(0, 64), (word) => Number(word >> 32n) | 0);

const asBytes = (value) => (typeof value === 'string' ? text.encode(value) : value);

/** The message, padded to whole blocks of `size` bytes. */
function padded(rest, length, size) {
  const all = new Uint8Array(Math.ceil((rest.length + 1 + size / 8) / size) * size);
  all.set(rest);
  all[rest.length] = 0x80;
  new DataView(all.buffer).setBigUint64(all.length - 8, 8n * BigInt(length));
  return all;
}

const turn = (x, n) => (x >>> n) | (x << (32 - n));

function block256(state, view, at, w) {
  for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const a = w[i - 15], b = w[i - 2];
    w[i] = (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10)) + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 16];
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K32[i] + w[i]) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] += word;
}

/** A SHA-256 of pieces. */
export class Sha256 {
  #state = Int32Array.from(START, (word) => Number(word >> 32n) | 0);
  #words = new Int32Array(64);
  #rest = new Uint8Array(0);
  #length = 0;

  #take(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    for (; at + 64 <= bytes.length; at += 64) block256(this.#state, view, at, this.#words);
    return bytes.slice(at);
  }

  update(value) {
    const bytes = asBytes(value);
    const all = new Uint8Array(this.#rest.length + bytes.length);
    all.set(this.#rest);
    all.set(bytes, this.#rest.length);
    this.#length += bytes.length;
    this.#rest = this.#take(all);
    return this;
  }

  /** Another one with the same pieces so far. */
  copy() {
    const own = new Sha256();
    own.#state.set(this.#state);
    own.#rest = this.#rest;
    own.#length = this.#length;
    return own;
  }

  /** The 32 bytes; the object is used up. */
  digest() {
    this.#take(padded(this.#rest, this.#length, 64));
    const found = new Uint8Array(32);
    this.#state.forEach((word, i) => new DataView(found.buffer).setInt32(4 * i, word));
    return found;
  }
}

const WORD = 0xffffffffffffffffn;
const turn64 = (x, n) => ((x >> n) | (x << (64n - n))) & WORD;

/** The SHA-512 of bytes, of which there are few: the 64 bytes. */
export function sha512(bytes) {
  const all = padded(bytes, bytes.length, 128);
  const view = new DataView(all.buffer);
  const state = [...START];
  for (let at = 0; at < all.length; at += 128) {
    const w = Array.from({ length: 16 }, (_, i) => view.getBigUint64(at + 8 * i));
    for (let i = 16; i < 80; i++) {
      const a = w[i - 15], b = w[i - 2];
      w.push(((turn64(b, 19n) ^ turn64(b, 61n) ^ (b >> 6n)) + w[i - 7] + (turn64(a, 1n) ^ turn64(a, 8n) ^ (a >> 7n)) + w[i - 16]) & WORD);
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 80; i++) {
      const one = h + (turn64(e, 14n) ^ turn64(e, 18n) ^ turn64(e, 41n)) + ((e & f) ^ (~e & WORD & g)) + K[i] + w[i];
      const two = (turn64(a, 28n) ^ turn64(a, 34n) ^ turn64(a, 39n)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) & WORD, c, b, a, (one + two) & WORD];
    }
    for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] + word) & WORD;
  }
  const found = new Uint8Array(64);
  state.forEach((word, i) => new DataView(found.buffer).setBigUint64(8 * i, word));
  return found;
}
