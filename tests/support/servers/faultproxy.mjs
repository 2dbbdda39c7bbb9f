// faultproxy.mjs - a TCP proxy that breaks connections at a chosen byte, between a gateway and an upstream. It does not
// parse the bytes.
import net from 'node:net';

/** A wire that takes `ms` in each direction, and on which the end of a connection that the server
 * closes is on its way until the client has sent more. Ends with the test. */
export async function startWire(t, target, ms) {
  const sockets = new Set();
  const server = net.createServer((near) => {
    const far = net.connect(target, '127.0.0.1');
    let ended = false;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    far.on('data', (bytes) => setTimeout(() => near.write(bytes), ms));
    far.on('close', () => { ended = true; });
    near.on('data', (bytes) => setTimeout(() => (ended ? near.destroy() : far.write(bytes)), ms));
    near.on('close', () => far.destroy());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${server.address().port}/mcp`;
}

/** Where a plan strikes: after `at` bytes of one direction since it was armed. */
class FaultProxy {
  constructor(target) {
    this.target = target;
    this.plan = undefined;
    this.seen = { request: 0, response: 0 };
    this.struck = 0;
    this.pairs = new Set();
  }

  async listen() {
    this.server = net.createServer((client) => this.join(client));
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}/mcp`;
    return this;
  }

  close() {
    for (const { client, server } of this.pairs) {
      client.destroy();
      server.destroy();
    }
    return new Promise((resolve) => this.server.close(resolve));
  }

  /** The next bytes count from here. plan: { side: 'request' | 'response', at, how } with how one of
   * end, reset, stall, garbage (bytes that do not belong there, then end). Undefined: none. */
  arm(plan) {
    this.plan = plan;
    this.seen = { request: 0, response: 0 };
    this.struck = 0;
  }

  join(client) {
    const server = net.connect(this.target, '127.0.0.1');
    const pair = { client, server };
    this.pairs.add(pair);
    for (const socket of [client, server]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        server.destroy();
        this.pairs.delete(pair);
      });
    }
    client.on('data', (bytes) => this.pass('request', bytes, server, pair));
    server.on('data', (bytes) => this.pass('response', bytes, client, pair));
  }

  pass(side, bytes, to, pair) {
    if (pair.stalled) return;
    const { plan } = this, from = this.seen[side];
    this.seen[side] += bytes.length;
    if (plan?.side !== side || this.struck > 0 || this.seen[side] < Math.max(plan.at, 1)) {
      to.write(bytes);
      return;
    }
    this.struck++;
    to.write(bytes.subarray(0, Math.max(plan.at - from, 0)), () => this.strike(plan, pair));
    if (plan.how === 'stall') pair.stalled = true;
  }

  strike({ how }, { client, server }) {
    switch (how) {
      case 'stall':
        return;
      case 'reset':
        client.resetAndDestroy();
        server.resetAndDestroy();
        return;
      case 'garbage':
        client.write('\u0000garbage\r\n');
        client.end();
        return;
      default:
        client.end();
        server.end();
    }
  }
}

/** A running proxy in front of a port; ends with the test. */
export async function startFaultProxy(t, port) {
  const proxy = await new FaultProxy(port).listen();
  t.after(() => proxy.close());
  return proxy;
}
