// reviewers.mjs - reviewers that the gateway asks for votes: a receiver of webhooks, and a worker.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { once } from 'node:events';

/** A receiver of webhooks. `answer(review, n)` gives { status?, json?, text?, headers? } for the nth
 * delivery, or a promise of it, or undefined: the connection is cut. What came is in `got`. With `tls` (key
 * and cert) it is https. */
export async function startHook(t, answer, tls) {
  const secret = randomBytes(32);
  const got = [];
  const serve = async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = req.headers;
    // as Standard Webhooks says that a receiver verifies
    const mac = createHmac('sha256', secret).update(`${id}.${time}.${body}`).digest();
    const shown = Buffer.from(String(signature).replace(/^v1,/, ''), 'base64');
    const genuine = shown.length === mac.length && timingSafeEqual(shown, mac) &&
      Math.abs(Date.now() / 1000 - Number(time)) < 300;
    const message = JSON.parse(body);
    got.push({ id, genuine, path: req.url, headers: req.headers, ...message });
    const said = await answer(message.data, got.length);
    if (said === undefined) return req.socket.destroy();
    res.writeHead(said.status ?? 200, said.headers);
    return res.end(said.text ?? (said.json === undefined ? '' : JSON.stringify(said.json)));
  };
  const server = tls ? https.createServer(tls, serve) : http.createServer(serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.closeAllConnections(); server.close(); });
  return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${server.address().port}/hook?a=b`, got,
    secret: `whsec_${secret.toString('base64')}` };
}

/** The source of a worker: `body` handles `review`, with `say(object)`. */
export const workerSource = (body) => `
const say = (o) => process.stdout.write((typeof o === 'string' ? o : JSON.stringify(o)) + '\\n');
let rest = '';
process.stdin.setEncoding('utf8').on('data', (d) => {
  const lines = (rest + d).split('\\n');
  rest = lines.pop();
  for (const line of lines) { const review = JSON.parse(line); ${body} }
});
`;
