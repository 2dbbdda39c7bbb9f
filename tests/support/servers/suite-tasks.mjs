// suite-tasks.mjs - the tasks extension of 2026-07-28 (io.modelcontextprotocol/tasks, SEP-2663) for
// suite-server.mjs, which the SDK does not have. Everything is in memory.
import { randomUUID } from 'node:crypto';

export const TASKS = 'io.modelcontextprotocol/tasks';
const META = 'io.modelcontextprotocol/';
const OVER = new Set(['completed', 'failed', 'cancelled']);

const say = (text, more = {}) => ({ resultType: 'complete', content: [{ type: 'text', text }], ...more });
const form = (message, properties) =>
  ({ method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: { type: 'object', properties } } });

/** One task: its public state, and its script. */
class Task {
  constructor(ttlMs) {
    this.taskId = randomUUID();
    this.ttlMs = ttlMs;
    this.createdAt = new Date().toISOString();
    this.answers = [];
    this.become({ status: 'working' });
  }

  become(more) {
    if (OVER.has(this.status)) return;
    Object.assign(this, more, { lastUpdatedAt: new Date().toISOString() });
  }

  after(ms, more) {
    this.timer = setTimeout(() => this.become(more), ms);
  }

  ask(...questions) {
    this.become({ status: 'input_required',
      inputRequests: Object.fromEntries(questions.map((q, i) => [`q${i}-${randomUUID()}`, q])) });
  }

  answer(responses) {
    for (const [key, value] of Object.entries(responses ?? {})) {
      if (this.inputRequests?.[key] === undefined) continue;
      delete this.inputRequests[key];
      this.answers.push(value);
    }
    if (this.status === 'input_required' && Object.keys(this.inputRequests).length === 0) {
      this.become({ status: 'completed', result: say(`answered ${JSON.stringify(this.answers)}`) });
    }
  }

  cancel() {
    clearTimeout(this.timer);
    this.become({ status: 'cancelled' });
  }

  get face() {
    const { taskId, status, createdAt, lastUpdatedAt, ttlMs } = this;
    return { taskId, status, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs: 100 };
  }

  get whole() {
    return {
      resultType: 'complete', ...this.face,
      ...(this.status === 'completed' ? { result: this.result } : {}),
      ...(this.status === 'failed' ? { error: this.error } : {}),
      ...(this.status === 'input_required' ? { inputRequests: this.inputRequests } : {}),
    };
  }
}

/** The work of a tool as a task; `alone` tools run only as tasks, `ready` selects the calls that become one. */
const JOBS = {
  slow_compute: { begin: (task, args) =>
    task.after(1000 * (args.seconds ?? 0), { status: 'completed', result: say(`computed ${args.label ?? ''}`) }) },
  failing_job: { alone: true,
    begin: (task) => task.after(200, { status: 'completed', result: say('the job failed', { isError: true }) }) },
  protocol_error_job: { alone: true,
    begin: (task) => task.after(200, { status: 'failed', error: { code: -32603, message: 'the job broke' } }) },
  confirm_delete: { alone: true,
    begin: (task, args) => task.ask(form(`Delete ${args.filename}?`, { confirm: { type: 'boolean' } })) },
  multi_input: { alone: true, begin: (task) =>
    task.ask(form('Name?', { name: { type: 'string' } }), form('Certain?', { confirm: { type: 'boolean' } })) },
  test_tool_with_task: {
    alone: true, ready: (params) => params.inputResponses?.user_name?.content?.name !== undefined,
    begin: (task, args, params) =>
      task.after(100, { status: 'completed', result: say(`for ${params.inputResponses.user_name.content.name}`) }),
  },
};

/** The same tools, listed and called without the extension. */
export function registerJobs(server, z, askName) {
  const text = (t) => ({ content: [{ type: 'text', text: t }] });
  server.registerTool('greet', { description: 'never a task', inputSchema: z.object({ name: z.string() }) },
    async ({ name }) => text(`Hello, ${name}!`));
  server.registerTool('slow_compute',
    { description: 'may be a task', inputSchema: z.object({ seconds: z.number(), label: z.string().optional() }) },
    async ({ label }) => text(`computed ${label ?? ''}`));
  for (const name of ['failing_job', 'protocol_error_job', 'multi_input'])
    server.registerTool(name, { description: 'a task' }, async () => text('no task'));
  server.registerTool('confirm_delete', { description: 'a task', inputSchema: z.object({ filename: z.string() }) },
    async () => text('no task'));
  server.registerTool('test_tool_with_task', { description: 'asks, then is a task' }, async () => askName());
}

const plain = (header) => {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(header ?? '') ?? [];
  return base64 === undefined ? header : Buffer.from(base64, 'base64').toString('utf8');
};

/** What the headers of a message say, for a transport that has none. */
const implied = ({ method, params }) =>
  ({ 'mcp-protocol-version': params?._meta?.[`${META}protocolVersion`], 'mcp-method': method,
    'mcp-name': params?.taskId ?? params?.name });

/** A table of tasks: answer(message, headers) returns { status, body }, or undefined for other messages. */
export function taskTable({ ttlMs = 60_000 } = {}) {
  const tasks = new Map();
  const methods = {
    'tasks/get': (task) => task.whole,
    'tasks/cancel': (task) => { task.cancel(); return { resultType: 'complete' }; },
    'tasks/update': (task, params) => { task.answer(params.inputResponses); return { resultType: 'complete' }; },
  };
  return {
    tasks,
    answer(message, headers = implied(message ?? {})) {
      const params = message?.params ?? {};
      const meta = params._meta ?? {};
      if (message?.id === undefined || meta[`${META}protocolVersion`] === undefined ||
        headers['mcp-protocol-version'] !== meta[`${META}protocolVersion`]) return undefined;
      const body = (status, more) => ({ status, body: { jsonrpc: '2.0', id: message.id, ...more } });
      const error = (status, code, text, data) =>
        body(status, { error: { code, message: text, ...(data === undefined ? {} : { data }) } });
      const declared = meta[`${META}clientCapabilities`]?.extensions?.[TASKS] !== undefined;
      const undeclared = () =>
        error(400, -32021, 'the extension is not declared', { requiredCapabilities: { extensions: { [TASKS]: {} } } });
      if (methods[message.method] !== undefined) {
        if (headers['mcp-method'] !== message.method || plain(headers['mcp-name']) !== params.taskId)
          return error(400, -32020, 'a header says something else than the body');
        if (!declared) return undeclared();
        const task = tasks.get(params.taskId);
        return task === undefined
          ? error(200, -32602, 'no such task') : body(200, { result: methods[message.method](task, params) });
      }
      const job = message.method === 'tools/call' && Object.hasOwn(JOBS, params.name) ? JOBS[params.name] : undefined;
      if (job === undefined || headers['mcp-method'] !== 'tools/call' || plain(headers['mcp-name']) !== params.name ||
          job.ready?.(params) === false) {
        return job?.alone && !declared ? undeclared() : undefined;
      }
      if (!declared) return job.alone ? undeclared() : undefined;
      const task = new Task(ttlMs);
      tasks.set(task.taskId, task);
      const { face } = task;
      job.begin(task, params.arguments ?? {}, params);
      return body(200, { result: { resultType: 'task', ...face } });
    },
  };
}
