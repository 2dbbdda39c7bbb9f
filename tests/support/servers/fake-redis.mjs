// fake-redis.mjs - a store that speaks the protocol of Redis (RESP 2), with a few commands.
import { createServer } from 'node:net';
import { once } from 'node:events';

const bulk = (text) => (text === undefined ? '$-1\r\n' : `$${Buffer.byteLength(text)}\r\n${text}\r\n`);
const COMMANDS = {
  SET: (keys, [key, value]) => (keys.set(key, value), '+OK\r\n'),
  SETEX: (keys, [key, , value]) => (keys.set(key, value), '+OK\r\n'),
  GET: (keys, [key]) => bulk(keys.get(key)),
  DEL: (keys, names) => `:${names.filter((name) => keys.delete(name)).length}\r\n`,
  KEYS: (keys, [pattern]) => {
    const all = [...keys.keys()].filter((key) => pattern === '*' || key.startsWith(pattern.replace(/\*$/, '')));
    return `*${all.length}\r\n${all.map(bulk).join('')}`;
  },
};

/** The first whole command of `data` as texts, and what is left; undefined while it is not whole. */
function take(data) {
  const line = (at) => {
    const end = data.indexOf('\r\n', at);
    return end < 0 ? undefined : [data.toString('latin1', at + 1, end), end + 2];
  };
  const head = line(0);
  if (head === undefined) return undefined;
  const words = [];
  let at = head[1];
  for (let n = Number(head[0]); n > 0; n--) {
    const size = line(at);
    if (size === undefined || data.length < size[1] + Number(size[0]) + 2) return undefined;
    words.push(data.toString('utf8', size[1], size[1] + Number(size[0])));
    at = size[1] + Number(size[0]) + 2;
  }
  return { words, rest: data.subarray(at) };
}

/** Starts it, empty; the test ends it. Its URL. */
export async function startRedis(t) {
  const keys = new Map();
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    let data = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      data = Buffer.concat([data, chunk]);
      for (let one = take(data); one !== undefined; one = take(data)) {
        const [name, ...args] = one.words;
        data = one.rest;
        socket.write(COMMANDS[name.toUpperCase()]?.(keys, args) ?? '+OK\r\n');
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `redis://127.0.0.1:${server.address().port}`;
}
