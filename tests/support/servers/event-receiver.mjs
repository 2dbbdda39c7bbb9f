#!/usr/bin/env node
// event-receiver.mjs KIND PORT FILE [CERT KEY [TOKEN]] - a receiver of events that a test may kill at any time. KIND is
// http, https, tcp or tls. It writes each event as a line to FILE before it acknowledges: http answers 204, a syslog
// receiver ends its side of the connection. Prints "ready". When it starts it drops a line that was cut off.
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';

const [kind, port, file, cert, key, token] = process.argv.slice(2);
const secure = cert ? { cert: readFileSync(cert), key: readFileSync(key) } : {};

const out = openSync(file, 'a+');
const text = readFileSync(file);
ftruncateSync(out, text.lastIndexOf(10) + 1);
if (fstatSync(out).size > text.length) closeSync(out);
const store = (bytes) => {
  for (let at = 0; at < bytes.length;) at += writeSync(out, bytes, at);
};

function collect(req, res) {
  const pieces = [];
  req.on('data', (d) => pieces.push(d)).on('end', () => {
    if (token && req.headers.authorization !== `Bearer ${token}`) return res.writeHead(401).end();
    store(Buffer.concat(pieces));
    return res.writeHead(204).end();
  }).on('error', () => {});
}

/** Octet counting: LENGTH SP MESSAGE. */
function receive(socket) {
  let rest = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (d) => {
    rest = Buffer.concat([rest, d]);
    for (;;) {
      const space = rest.indexOf(32);
      if (space < 0) return;
      const length = Number(rest.subarray(0, space).toString('latin1'));
      if (!Number.isSafeInteger(length) || length <= 0) throw new Error('not octet counting');
      if (rest.length < space + 1 + length) return;
      const message = rest.subarray(space + 1, space + 1 + length);
      if (message.includes(10)) throw new Error('a message has a line end');
      store(Buffer.concat([message, Buffer.from('\n')]));
      rest = rest.subarray(space + 1 + length);
    }
  });
}

const server = {
  http: () => http.createServer(collect),
  https: () => https.createServer(secure, collect),
  tcp: () => net.createServer(receive),
  tls: () => tls.createServer(secure, receive),
}[kind]();
server.listen(Number(port), '127.0.0.1', () => console.log('ready'));
