// tiles.mjs - a client of a static log (c2sp.org/tlog-tiles), for tests: it reads files by the paths of the
// specification and makes proofs from tiles. It uses only Node's crypto.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { checkpoint, vkey } from '../../conformance/verify.mjs';

const WIDTH = 256;
const sha256 = (...pieces) => pieces.reduce((hash, piece) => hash.update(piece), createHash('sha256')).digest();
export const leafHash = (entry) => sha256(Buffer.of(0), entry);
const nodeHash = (left, right) => sha256(Buffer.of(1), left, right);

/** The path of a tile of a tree of so many leaves. */
export function tilePath(kind, level, index, size) {
  const digits = String(index).padStart(3 * Math.ceil(String(index).length / 3), '0').match(/.{3}/g);
  const name = [...digits.slice(0, -1).map((group) => `x${group}`), digits.at(-1)].join('/');
  const width = Math.min(WIDTH, Math.floor(size / WIDTH ** level) - index * WIDTH);
  return `tile/${kind}/${name}${width < WIDTH ? `.p/${width}` : ''}`;
}

/** The log behind `read(path)`, which gives the bytes of a file. `key` is the vkey that is trusted. */
export class TileLog {
  constructor(read, key) {
    this.read = read;
    const { size, root } = checkpoint(read('checkpoint').toString(), { keys: [vkey(key)] });
    this.size = Number(size);
    this.root = root;
  }

  /** The digest of the subtree of 256^level leaves at `index`, shifted by up to 7 levels of the tree. */
  #node(height, index) {
    const level = Math.floor(height / 8);
    let hashes = [...Array(2 ** (height % 8)).keys()].map((i) => {
      const at = index * 2 ** (height % 8) + i;
      const tile = this.read(tilePath(level, level, Math.floor(at / WIDTH), this.size));
      return tile.subarray((at % WIDTH) * 32, (at % WIDTH + 1) * 32);
    });
    while (hashes.length > 1) hashes = hashes.flatMap((hash, i) => i % 2 ? [] : [nodeHash(hash, hashes[i + 1])]);
    return hashes[0];
  }

  /** RFC 6962 2.1: the digest over the leaves from `begin` up to `end`. */
  #range(begin, end) {
    const n = end - begin;
    const height = Math.floor(Math.log2(n));
    if (n === 2 ** height && begin % n === 0) return this.#node(height, begin / n);
    const left = 2 ** Math.ceil(Math.log2(n) - 1);
    return nodeHash(this.#range(begin, begin + left), this.#range(begin + left, end));
  }

  get computedRoot() {
    return this.#range(0, this.size);
  }

  rootAt(size) {
    return this.#range(0, size);
  }

  leaf(index) {
    return this.#node(0, index);
  }

  /** The entries of a bundle, by the specification alone. */
  bundle(index) {
    const bytes = this.read(tilePath('entries', 0, index, this.size));
    const entries = [];
    for (let at = 0; at < bytes.length;) {
      const length = bytes.readUInt16BE(at);
      entries.push(bytes.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
    assert.equal(entries.length, Math.min(WIDTH, this.size - index * WIDTH));
    return entries;
  }
}
