// node.js - what the verifier of evidence (verify.js: tests/conformance/verify.mjs as it is) needs of
// Node.js, for a browser. Buffer has the members that the verifier uses, and no others.
import { verified } from './ed25519.js';
import { Sha256 } from './sha2.js';

const SHIFT = 0x8000; // bytes of one call of fromCharCode

export class Buffer extends Uint8Array {
  static from(value, encoding) {
    if (typeof value !== 'string') return super.from(value);
    if (encoding === 'hex') return super.from(value.match(/[0-9a-f]{2}/gi) ?? [], (pair) => Number.parseInt(pair, 16));
    if (encoding !== 'base64') return super.from(new TextEncoder().encode(value));
    try {
      return super.from(atob(value), (character) => character.charCodeAt(0));
    } catch {
      return new Buffer(0); // the verifier compares with the text
    }
  }

  static alloc(size) {
    return new Buffer(size);
  }

  static concat(pieces) {
    const all = new Buffer(pieces.reduce((size, piece) => size + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return all;
  }

  static byteLength(text) {
    return new TextEncoder().encode(text).length;
  }

  equals(other) {
    return this.length === other.length && this.every((byte, i) => byte === other[i]);
  }

  readBigUInt64BE(at) {
    return new DataView(this.buffer, this.byteOffset).getBigUint64(at);
  }

  toString(encoding) {
    if (encoding === 'hex') return Array.from(this, (byte) => byte.toString(16).padStart(2, '0')).join('');
    let text = '';
    for (let at = 0; at < this.length; at += SHIFT) text += String.fromCharCode(...this.subarray(at, at + SHIFT));
    const base64 = btoa(text);
    return encoding === 'base64url' ? base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') : base64;
  }
}

function wrapped(hash) {
  return {
    copy: () => wrapped(hash.copy()),
    update(value) {
      hash.update(value);
      return this;
    },
    digest(encoding) {
      const bytes = Buffer.from(hash.digest());
      return encoding === undefined ? bytes : bytes.toString(encoding);
    },
  };
}

/** Of SHA-256 alone. */
export const createHash = () => wrapped(new Sha256());

/** Of a JWK of Ed25519 alone. */
export const createPublicKey = ({ key }) => Buffer.from(key.x.replaceAll('-', '+').replaceAll('_', '/').padEnd(44, '='), 'base64');

export const verify = (algorithm, message, key, signature) => verified(key, message, signature);
