// stream.mjs - streams of events as a client sees them: read as they arrive, closed when a test does so.
import http from 'node:http';
import { until } from './gateway.mjs';
import { events } from './rpc.mjs';

/** A request whose answer is a stream, read as it arrives. */
export function openStream(gw, { path, headers, body, method = 'POST' }) {
  return new Promise((resolve, reject) => {
    const bytes = body && JSON.stringify(body);
    const req = http.request(gw.origin + path, {
      method, agent: false, headers: bytes ? { ...headers, 'content-length': Buffer.byteLength(bytes) } : headers,
    }, (res) => {
      const stream = { status: res.statusCode, headers: res.headers, text: '', ended: false, cut: false };
      res.setEncoding('utf8').on('data', (d) => { stream.text += d; });
      res.on('end', () => { stream.ended = true; });
      res.on('aborted', () => { stream.cut = true; });
      res.on('error', () => { stream.cut = true; });
      Object.defineProperty(stream, 'events', { get: () => events(stream.text) });
      Object.defineProperty(stream, 'messages',
        { get: () => stream.events.filter((e) => e.data).map((e) => JSON.parse(e.data)) });
      stream.has = (what) => until(() => stream.text.includes(what), `${what} in ${stream.text}`);
      stream.done = () => until(() => stream.ended || stream.cut, 'the end of the stream');
      stream.leave = () => req.destroy();
      resolve(stream);
    });
    req.on('error', reject);
    req.end(bytes);
  });
}

/** A POST of a caller whose answer is a stream. */
export const post = (gw, s, body, headers = {}) =>
  openStream(gw, { path: s.path, headers: s.headers(body, headers), body });

/** A GET of a session, from the event `last` on. */
export const get = (gw, s, last) => openStream(gw, {
  method: 'GET', path: s.path,
  headers: s.headers(undefined, { 'content-type': undefined, accept: 'text/event-stream', 'last-event-id': last }),
});
