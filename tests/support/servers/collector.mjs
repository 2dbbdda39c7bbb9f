// collector.mjs - a collector of OpenTelemetry for tests: OTLP over HTTP in its binary encoding. OpenTelemetry's own
// package reads every body; the schema below says which fields it may have, and what they look like.
import http from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const npm = createRequire(new URL('../npm/package.json', import.meta.url));
const { default: Ajv } = await import(pathToFileURL(npm.resolve('ajv/dist/2020.js')));
const { collector: { trace, logs, metrics } } =
  npm('@opentelemetry/otlp-transformer/build/src/generated/root').opentelemetry.proto;

const closed = (properties, required = Object.keys(properties)) =>
  ({ type: 'object', properties, required, additionalProperties: false });
const list = (items) => ({ type: 'array', items });
const hex = (bytes) => ({ type: 'string', pattern: `^(?!0+$)[0-9a-f]{${2 * bytes}}$` });
const number64 = { type: 'string', pattern: '^(0|-?[1-9][0-9]*)$' }; // as decode() below gives it
const nanos = { type: 'string', pattern: '^[1-9][0-9]{18}$' };
const oneOf = (...members) => ({ type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: false,
  properties: Object.fromEntries(members) });

const value = oneOf(['stringValue', { type: 'string' }], ['boolValue', { type: 'boolean' }], ['intValue', number64]);
const attributes = list(closed({ key: { type: 'string', minLength: 1 }, value }));
const resource = closed({ attributes });
const scope = closed({ name: { const: 'writ' }, version: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$' } });
const frame = (all, scoped, items, item) => closed({
  [all]: list(closed({ resource, [scoped]: list(closed({ scope, [items]: { ...list(item), minItems: 1 } })) })),
});
const SPAN = closed({
  traceId: hex(16), spanId: hex(8), parentSpanId: hex(8), name: { type: 'string', minLength: 1 },
  kind: { enum: [1, 2, 3] }, startTimeUnixNano: nanos, endTimeUnixNano: nanos, attributes,
  links: list(closed({ traceId: hex(16), spanId: hex(8) })), status: closed({ code: { const: 2 } }),
}, ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes']);
const LINE = closed({
  timeUnixNano: nanos, severityNumber: { const: 9 }, severityText: { const: 'INFO' }, body: value, attributes,
  traceId: hex(16), spanId: hex(8),
}, ['timeUnixNano', 'severityNumber', 'severityText', 'body', 'attributes']);
const times = { startTimeUnixNano: nanos, timeUnixNano: nanos };
const point = (time) => ({ ...list({ oneOf: [['asInt', number64], ['asDouble', { type: 'number' }]].map(
  ([name, type]) => closed({ ...time, attributes, [name]: type }, [...Object.keys(time), name])) }), minItems: 1 });
const sums = { aggregationTemporality: { const: 2 }, dataPoints: point(times) };
const METRIC = closed({
  name: { type: 'string', pattern: '^writ_[a-z_]+$' }, description: { type: 'string', minLength: 1 },
  unit: { const: 's' },
  sum: closed({ ...sums, isMonotonic: { const: true } }),
  gauge: closed({ dataPoints: point({ timeUnixNano: nanos }) }),
  histogram: closed({ aggregationTemporality: { const: 2 }, dataPoints: list(closed({
    ...times, count: number64, sum: { type: 'number' },
    bucketCounts: list(number64), explicitBounds: list({ type: 'number' }),
  })) }),
}, ['name', 'description']);

const TYPE = 'application/x-protobuf';
const ajv = new Ajv({ strict: true, allErrors: false });
const SIGNALS = {
  '/v1/traces': { kind: 'spans', check: ajv.compile(frame('resourceSpans', 'scopeSpans', 'spans', SPAN)),
    Request: trace.v1.ExportTraceServiceRequest, Response: trace.v1.ExportTraceServiceResponse },
  '/v1/logs': { kind: 'lines', check: ajv.compile(frame('resourceLogs', 'scopeLogs', 'logRecords', LINE)),
    Request: logs.v1.ExportLogsServiceRequest, Response: logs.v1.ExportLogsServiceResponse },
  '/v1/metrics': { kind: 'metrics', check: ajv.compile(frame('resourceMetrics', 'scopeMetrics', 'metrics', METRIC)),
    Request: metrics.v1.ExportMetricsServiceRequest, Response: metrics.v1.ExportMetricsServiceResponse },
};

// Ids in hexadecimal, numbers of 64 bits as digits; what a body does not have is not there.
const hexIn = (v) => Buffer.isBuffer(v) ? v.toString('hex') : Array.isArray(v) ? v.map(hexIn)
  : typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([name, of]) => [name, hexIn(of)])) : v;
const decode = (Request, bytes) => hexIn(Request.toObject(Request.decode(bytes), { longs: String, enums: Number }));

/** Attributes as an object; an integer becomes a number. */
export const plain = (list) => Object.fromEntries(list.map(({ key, value }) => {
  const [[type, v]] = Object.entries(value);
  return [key, type === 'intValue' ? Number(v) : v];
}));

/** { origin, spans, lines, metrics, resources, requests, faults }; `answer(request)` may give { status, headers, body }
 * in place of a 200, or a promise of it: the body is bytes, or the message as an object. What is answered with 200 is
 * kept. */
export async function startCollector(t, options = {}) {
  const collector = { spans: [], lines: [], metrics: [], resources: [], requests: [], faults: [],
    answer: options.answer };
  const keep = (path, body) => {
    const { kind, check } = SIGNALS[path];
    if (!check(body)) collector.faults.push(`${path}: ${ajv.errorsText(check.errors)}`);
    for (const all of Object.values(body)[0]) {
      collector.resources.push(plain(all.resource.attributes));
      for (const scoped of Object.values(all).find(Array.isArray)) {
        const items = Object.values(scoped).find(Array.isArray);
        if (kind === 'metrics') collector.metrics.push(items);
        else collector[kind].push(...items.map((item) => ({ ...item, attributes: plain(item.attributes) })));
      }
    }
  };
  const server = http.createServer((req, res) => {
    const pieces = [];
    req.on('data', (piece) => pieces.push(piece)).on('end', async () => {
      const bytes = Buffer.concat(pieces);
      const request = { path: req.url, headers: req.headers, text: bytes.toString('latin1'), method: req.method };
      collector.requests.push(request);
      const signal = SIGNALS[req.url];
      if (req.method !== 'POST' || req.headers['content-type'] !== TYPE || req.headers.accept !== TYPE || !signal)
        collector.faults.push(`${req.method} ${req.url} ${req.headers['content-type']}`);
      const { status = 200, headers = {}, body = {} } = await collector.answer?.(request) ?? {};
      if (status === 200) keep(req.url, decode(signal.Request, bytes));
      res.writeHead(status, { 'content-type': TYPE, ...headers }).end(
        Buffer.isBuffer(body) ? body : signal.Response.encode(signal.Response.fromObject(body)).finish());
    });
  });
  let sockets = 0;
  server.on('connection', () => collector.connections = ++sockets);
  await new Promise((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  collector.port = server.address().port;
  collector.origin = `http://127.0.0.1:${collector.port}`;
  collector.close = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  t.after(() => collector.close());
  return collector;
}
