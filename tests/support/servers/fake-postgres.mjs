// fake-postgres.mjs - a database that speaks the protocol of PostgreSQL: any query gets one row with one text.
import { createServer } from 'node:net';
import { once } from 'node:events';

const message = (type, ...parts) => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const int = (size, value) => { const b = Buffer.alloc(size); b.writeIntBE(value, 0, size); return b; };
const text = (value) => Buffer.from(`${value}\0`);
const READY = message('Z', Buffer.from('I'));
const COLUMN = message('T', int(2, 1), text('answer'), int(4, 0), int(2, 0), int(4, 25), int(2, -1), int(4, -1),
  int(2, 0));
const ROW = message('D', int(2, 1), int(4, 5), Buffer.from('forty'));

/** The answers to the whole messages of `data`, and what is left of it. */
function answer(data, started) {
  const out = [];
  for (;;) {
    const at = started ? 1 : 0;
    if (data.length < at + 4 || data.length < at + data.readInt32BE(at)) return { out, rest: data, started };
    const end = at + data.readInt32BE(at), type = started ? String.fromCharCode(data[0]) : '';
    if (!started) out.push(message('R', int(4, 0)), READY);
    if (type === 'Q') {
      const rows = !/^(BEGIN|ROLLBACK)/.test(data.toString('utf8', 5, end));
      out.push(...(rows ? [COLUMN, ROW] : []), message('C', text(rows ? 'SELECT 1' : 'OK')), READY);
    }
    started = true;
    data = data.subarray(end);
  }
}

/** Starts it; the test ends it. Its URL. */
export async function startPostgres(t) {
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    let rest = Buffer.alloc(0), started = false;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const done = answer(Buffer.concat([rest, chunk]), started);
      ({ rest, started } = done);
      for (const one of done.out) socket.write(one);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `postgresql://reader@127.0.0.1:${server.address().port}/db`;
}
