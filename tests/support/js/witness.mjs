// witness.mjs - a small witness (c2sp.org/tlog-witness): signs a checkpoint of a known log if it only appends to the
// last one that it signed. It uses only Node's crypto.
import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { opened, vkey, node } from '../../conformance/verify.mjs';

const sha256 = (...pieces) => pieces.reduce((hash, piece) => hash.update(piece), createHash('sha256')).digest();

/** RFC 9162 2.1.4.2. */
function consistent(m, older, n, newer, path) {
  if (m === n) return path.length === 0 && older.equals(newer);
  if (m === 0) return path.length === 0;
  const proof = (m & (m - 1)) === 0 ? [older, ...path] : path;
  if (proof.length === 0) return false;
  let [fn, sn] = [m - 1, n - 1];
  while (fn % 2 === 1) [fn, sn] = [fn >>> 1, sn >>> 1];
  let [fr, sr] = [proof[0], proof[0]];
  for (const c of proof.slice(1)) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [node(c, fr), node(c, sr)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >>> 1, sn >>> 1];
    } else {
      sr = node(sr, c);
    }
    [fn, sn] = [fn >>> 1, sn >>> 1];
  }
  return sn === 0 && fr.equals(older) && sr.equals(newer);
}

/** A witness of the log with this vkey: { url, vkey, seen }. Ends with the test. */
export async function startWitness(t, log, name = 'witness.example') {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x, 'base64url');
  const material = Buffer.concat([Buffer.from([4]), raw]);
  const id = sha256(`${name}\n`, material).subarray(0, 4);
  const known = vkey(log);
  const witness = { vkey: `${name}+${id.toString('hex')}+${material.toString('base64')}`,
    seen: { size: 0, root: sha256() } };

  /** The signature line for a text. */
  witness.line = (text) => {
    const time = Buffer.alloc(8);
    const seconds = Math.floor(Date.now() / 1000);
    time.writeBigUInt64BE(BigInt(seconds));
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`), privateKey);
    return `\u2014 ${name} ${Buffer.concat([id, time, witness.forged ?? signature]).toString('base64')}\n`;
  };

  /** Its answer; `witness.twist` turns a checkpoint into a bad witness's answer. */
  function answer(body) {
    const at = body.indexOf('\n\n');
    const [old, ...path] = body.slice(0, at).split('\n');
    const { text } = opened(body.slice(at + 2), [known]);
    const [origin, size, root] = text.split('\n');
    const now = { size: Number(size), root: Buffer.from(root, 'base64') };
    if (origin !== known.name) return [404, ''];
    if (Number(old.slice(4)) !== witness.seen.size) return [409, `${witness.seen.size}\n`, 'text/x.tlog.size'];
    if (!consistent(witness.seen.size, witness.seen.root, now.size, now.root,
      path.map((p) => Buffer.from(p, 'base64')))) return [422, ''];
    witness.seen = now;
    return [200, witness.twist ? witness.twist(body.slice(at + 2)) : witness.line(text)];
  }

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    let told = [404, ''];
    try {
      if (request.url === '/add-checkpoint' && request.method === 'POST') told = answer(body);
    } catch {
      told = [403, ''];
    }
    response.writeHead(told[0], { 'content-type': told[2] ?? 'text/plain' }).end(told[1]);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  witness.url = `http://127.0.0.1:${server.address().port}`;
  witness.publicKey = createPublicKey(privateKey);
  witness.verify = (message, signature) => verify(null, Buffer.from(message), witness.publicKey, signature);
  return witness;
}
