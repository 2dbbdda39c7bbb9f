// A port for a program that gets its port before it listens, or for a server that closes and listens again. The kernel
// gives ports of its own range to every listener on port 0 and to every client, so a free one there is soon taken.
// These are outside of that range, and each belongs to one test process at a time: the process holds the abstract
// socket of that name until it ends.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const FIRST = 10_000;
const KERNEL_FIRST = Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0]);
const END = KERNEL_FIRST > FIRST ? KERNEL_FIRST : 32_768; // exclusive; a kernel that gives out all has no better ones

/** The server, or undefined when another one has that address. */
const listens = (at) => new Promise((resolve, reject) => {
  const server = createServer();
  server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    .listen(at, () => resolve(server));
});

/** A free port of 127.0.0.1 that no other test gets before this process ends. */
export async function reservePort() {
  for (;;) {
    const port = randomInt(FIRST, END);
    const name = await listens({ path: `\0writ-tests-port-${port}` });
    if (!name) continue;
    const probe = await listens({ port, host: '127.0.0.1' });
    if (probe) {
      await once(probe.close(), 'close');
      name.unref();
      return port;
    }
    await once(name.close(), 'close');
  }
}
