#!/usr/bin/env node
// sdk-tasks.mjs - a tool server made with SDK v1 whose tools run as tasks in the form of 2025-11-25: startTaskServer(t)
// over HTTP, and over stdio when it is run as a program.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { sdk1, sdk1Stdio, sdk1Tasks, zod } from '../npm/peers.mjs';

const text = (t, more = {}) => ({ content: [{ type: 'text', text: String(t) }], ...more });

/** A server with its own tasks; `cleanup` drops them. */
function make({ McpServer, ElicitResultSchema }, { InMemoryTaskStore, InMemoryTaskMessageQueue }, z) {
  const taskStore = new InMemoryTaskStore();
  const server = new McpServer({ name: 'sdk-tasks', version: '1' }, {
    capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }, taskStore,
    taskMessageQueue: new InMemoryTaskMessageQueue(),
  });
  const tool = (name, taskSupport, work) => server.experimental.tasks.registerToolTask(name,
      { description: name, inputSchema: { n: z.number() }, execution: { taskSupport } }, {
    async createTask({ n }, extra) {
      const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl, pollInterval: 20 });
      work(n, task).catch((error) => ['failed', text(error.message, { isError: true })])
        // it may have been cancelled
        .then(([status, result]) => taskStore.storeTaskResult(task.taskId, status, result)).catch(() => {});
      return { task };
    },
    getTask: (_args, extra) => extra.taskStore.getTask(extra.taskId),
    getTaskResult: (_args, extra) => extra.taskStore.getTaskResult(extra.taskId),
  });
  tool('double', 'optional', async (n) => { await sleep(50); return ['completed', text(2 * n)]; });
  tool('break', 'required', async (n) => { await sleep(50); throw new Error(`broken by ${n}`); });
  tool('wait', 'required', () => new Promise(() => {}));
  tool('ask', 'required', async (n, { taskId }) => {
    await taskStore.updateTaskStatus(taskId, 'input_required');
    const params = { mode: 'form', message: `${n}?`,
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
    const answer = await server.server.request({ method: 'elicitation/create', params }, ElicitResultSchema,
      { relatedTask: { taskId } });
    return ['completed', text(`They said ${answer.content.name}`)];
  });
  return { server, cleanup: () => taskStore.cleanup() };
}

/** Over HTTP, in sessions; ends with the test. { url }. */
export async function startTaskServer(t) {
  const [sdk, tasks, { z }] = await Promise.all([sdk1(), sdk1Tasks(), zod()]);
  const sessions = new Map(), cleanups = [];
  const listener = http.createServer(async (req, res) => {
    const known = sessions.get(req.headers['mcp-session-id']);
    if (known) return known.handleRequest(req, res);
    if (req.headers['mcp-session-id'] !== undefined) return res.writeHead(404).end();
    const transport =
        new sdk.StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID(), onsessioninitialized: (id) => {
      sessions.set(id, transport);
    } });
    const { server, cleanup } = make(sdk, tasks, z);
    cleanups.push(cleanup);
    await server.connect(transport);
    return transport.handleRequest(req, res);
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  t.after(() => { listener.closeAllConnections(); listener.close(); for (const forget of cleanups) forget(); });
  return { url: `http://127.0.0.1:${listener.address().port}/mcp` };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [sdk, tasks, { StdioServerTransport }, { z }] = await Promise.all([sdk1(), sdk1Tasks(), sdk1Stdio(), zod()]);
  const { server, cleanup } = make(sdk, tasks, z);
  await server.connect(new StdioServerTransport());
  process.stdin.on('end', cleanup); // then the process ends
}
