// tools.mjs - the tool server of a mixed load, a process of its own that the run kills and starts again. It appends
// each effect to a file before it answers, so that the file has every effect, whatever became of the process. It is
// written for this load: with an SDK the server would take the processor from the gateway.
import { openSync, writeSync } from 'node:fs';
import http from 'node:http';

const [file, port] = [openSync(process.argv[2], 'a'), Number(process.argv[3])];
const TOOLS = ['pay', 'hold', 'stream', 'job'].map((name) => ({ name, description: `one effect of ${name}`,
  inputSchema: { type: 'object', properties: { id: { type: 'string' }, text: { type: 'string' } } },
  ...(name === 'job' ? { execution: { taskSupport: 'optional' } } : {}) }));
const CAPABILITIES = { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
const life = process.pid; // tasks of a former process are gone
let sessions = 0, tasks = 0;

process.on('disconnect', () => process.exit(0));

const claimsOf = (credential) => JSON.parse(Buffer.from(credential.split('.')[1], 'base64url').toString('utf8'));

function effect({ name, arguments: { id }, _meta }, headers) {
  const { decision_id } = claimsOf(headers['writ-credential'] ?? _meta['io.writ/credential']);
  writeSync(file, `${JSON.stringify({ tool: name, id, decision_id })}\n`);
}

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const taskOf = (taskId, status) => ({ taskId, status, createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z', ttl: 5000, pollInterval: 20 });

function call(message, headers, res) {
  const { params } = message;
  effect(params, headers);
  if (params.task !== undefined) return { task: taskOf(`task-${life}-${++tasks}`, 'working') };
  if (params.name !== 'stream') return text(`done ${params.arguments.id}`);
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (value) => res.write(`data: ${JSON.stringify(value)}\n\n`);
  const token = params._meta?.progressToken;
  for (let progress = 1; token !== undefined && progress < 4; progress++) {
    send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress } });
  }
  setTimeout(() => {
    send({ jsonrpc: '2.0', id: message.id, result: text(`done ${params.arguments.id}`) });
    res.end();
  }, 20);
  return undefined;
}

/** The result of a message; undefined when it is answered otherwise. */
function resultOf(message, headers, res) {
  const { method, params } = message;
  switch (method) {
    case 'initialize':
      res.setHeader('mcp-session-id', `tools-${life}-${++sessions}`);
      return { protocolVersion: params.protocolVersion, serverInfo: { name: 'tools', version: '1' },
        capabilities: CAPABILITIES };
    case 'tools/list': return { tools: TOOLS };
    case 'tools/call': return call(message, headers, res);
    case 'tasks/get': return taskOf(params.taskId, 'completed');
    case 'tasks/result': return text('done');
    default: return {};
  }
}

http.createServer({ keepAliveTimeout: 60_000 }, async (req, res) => {
  res.on('error', () => {});
  let body = '';
  try {
    for await (const chunk of req.setEncoding('utf8')) body += chunk;
  } catch {
    return; // the gateway gave the request up
  }
  if (req.method !== 'POST') return void res.writeHead(req.method === 'DELETE' ? 200 : 405).end();
  const message = JSON.parse(body);
  if (message.id === undefined) return void res.writeHead(202).end();
  const result = resultOf(message, req.headers, res);
  if (result === undefined) return undefined;
  res.writeHead(200, { 'content-type': 'application/json' });
  return void res.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
}).listen(port, '127.0.0.1', () => process.send('listening'));
