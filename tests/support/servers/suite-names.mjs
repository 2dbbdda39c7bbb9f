// suite-names.mjs - lets a client that uses the names of one server, as the conformance suite does, use an endpoint of
// several: tools and prompts of that server have a prefix there and none here. Everything else passes unchanged: heads,
// statuses, streams.
import http from 'node:http';

const OWN = new Set(['tools/call', 'prompts/get', 'completion/complete']);

/** The message with the names of the endpoint. */
function named(body, prefix) {
  let message;
  try {
    message = JSON.parse(body);
  } catch {
    return body;
  }
  const at = message?.params?.ref ?? message?.params;
  if (!OWN.has(message?.method) || typeof at?.name !== 'string') return body;
  at.name = prefix + at.name;
  return JSON.stringify(message);
}

/** Starts it before `endpoint`; ends with the test. Gives its URL. */
export async function startSuiteNames(t, endpoint, prefix) {
  const { hostname, port, pathname } = new URL(endpoint);
  const server = http.createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const body = named(Buffer.concat(chunks).toString('utf8'), prefix);
    const headers = { ...req.headers };
    delete headers['transfer-encoding'];
    if (req.method === 'POST') headers['content-length'] = Buffer.byteLength(body);
    if (OWN.has(headers['mcp-method']) && headers['mcp-name'] !== undefined) headers['mcp-name'] = prefix +
      headers['mcp-name'];
    const up = http.request({ host: hostname, port, path: pathname, method: req.method, headers }, (answer) => {
      const { 'content-length': _, ...head } = answer.headers;
      res.writeHead(answer.statusCode, head).flushHeaders();
      answer.setEncoding('utf8').on('data', (text) => res.write(text.replaceAll(`"name":"${prefix}`, '"name":"')))
        .on('end', () => res.end());
      answer.on('error', () => res.destroy());
    });
    up.on('error', () => res.destroy());
    res.on('close', () => up.destroy());
    up.end(body);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${server.address().port}${pathname}`;
}
