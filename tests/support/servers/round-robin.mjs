// round-robin.mjs - a load balancer without sticky sessions: it sends each HTTP request to the next gateway, over a
// connection of its own, and passes every byte on as it comes.
import http from 'node:http';

/** In front of the addresses { host, port }; `origin` and `url` as those of a gateway. It ends with the test.
 * `next`: the index of the one that gets the next request; `taken`: the index of each request so far. */
export async function startRoundRobin(t, ports, { pick } = {}) {
  const open = new Set();
  const balancer = { next: 0, taken: [],
    /** Cuts the answers under way that have passed that text on; false: there are none. */
    break: (text) => [...open].filter((res) => res.passed.includes(text)).map((res) => res.destroy()).length > 0 };
  const server = http.createServer((req, res) => {
    const at = pick?.(req) ?? balancer.next++ % ports.length;
    balancer.taken.push({ at, method: req.method, path: req.url, rpc: req.headers['mcp-method'],
      last: req.headers['last-event-id'] });
    const onward = http.request({ host: '127.0.0.1', port: ports[at], method: req.method, path: req.url,
      headers: req.headers, agent: false }, (back) => {
      res.writeHead(back.statusCode, back.rawHeaders);
      res.flushHeaders();
      back.on('data', (bytes) => { res.passed += bytes; });
      back.pipe(res);
      back.on('error', () => res.destroy());
    });
    onward.on('error', () => res.destroy());
    res.passed = '';
    open.add(res);
    res.on('close', () => {
      open.delete(res);
      onward.destroy(); // a client that leaves has left at the gateway
    });
    req.pipe(onward);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  balancer.port = server.address().port;
  balancer.origin = `http://127.0.0.1:${balancer.port}`;
  balancer.url = `${balancer.origin}/mcp`;
  return balancer;
}
