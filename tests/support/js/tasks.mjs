// tasks.mjs - a server whose tasks the test drives, and the clients' queries about them.
import { bearer, startGateway, writ } from './gateway.mjs';
import { Caller, openSession } from './rpc.mjs';
import { startUpstream } from '../servers/upstream.mjs';

export const TASKS = 'io.modelcontextprotocol/tasks';
export const META = { 'io.modelcontextprotocol/clientCapabilities': { extensions: { [TASKS]: {} } } };
export const any = [{ arg: '', op: 'type', value: 'any' }];
export const ada = bearer('ada', { tenant: 'acme' });
export const bob = bearer('bob', { tenant: 'acme' });
export const eve = bearer('ada', { tenant: 'evil', token: 'token-of-eve' });

export class Tasks {
  constructor(ttl = 60_000) {
    this.ttl = ttl;
    this.all = new Map();
  }

  begin(m) {
    const task = { taskId: `task-${this.all.size + 1}`, status: 'working', ttl: this.ttl,
      createdAt: new Date().toISOString() };
    this.all.set(task.taskId, task);
    m.result(m.modern ? { resultType: 'task', ...this.face(task, true) } : { task: this.face(task) });
  }

  face({ taskId, status, ttl, createdAt }, modern = false) {
    return { taskId, status, createdAt, lastUpdatedAt: createdAt,
      ...(modern ? { ttlMs: ttl, pollIntervalMs: 5 } : { ttl, pollInterval: 5 }) };
  }

  end(id, status, more = {}) {
    Object.assign(this.all.get(id), { status, ...more });
  }

  /** The notification of either family about a task's current state. */
  notice(id, modern, subscription) {
    const task = this.all.get(id);
    const whole = modern
      ? { result: task.result, error: task.error, _meta: { 'io.modelcontextprotocol/subscriptionId': subscription } }
      : {};
    return { jsonrpc: '2.0', method: modern ? 'notifications/tasks' : 'notifications/tasks/status',
      params: { ...this.face(task, modern), ...whole } };
  }

  /** Answers a query about a task; undefined for any other message. */
  answer(m) {
    const task = this.all.get(m.params?.taskId);
    if (!m.method?.startsWith('tasks/')) return undefined;
    if (m.method === 'tasks/list') m.result({ tasks: [...this.all.values()].map((t) => this.face(t)) });
    else if (task === undefined) m.error(-32602, 'no such task');
    else if (m.method === 'tasks/result')
      task.error ? m.error(task.error.code, task.error.message) : m.result(task.result);
    else {
      if (m.method === 'tasks/cancel') task.status = 'cancelled';
      if (m.method === 'tasks/update') task.given = m.params.inputResponses;
      const whole = m.modern && m.method === 'tasks/get' ? { result: task.result, error: task.error } : {};
      m.result(m.modern && m.method !== 'tasks/get' ? {} : { ...this.face(task, m.modern), ...whole });
    }
    return true;
  }
}

const CAPABILITIES = { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };

/** A server of tasks; `options` are those of an upstream. */
export async function startTasks(t, { ttl, ...options } = {}) {
  const tasks = new Tasks(ttl);
  const up = await startUpstream(t,
    { onCall: (m) => tasks.begin(m), onMessage: (m) => tasks.answer(m), capabilities: CAPABILITIES, ...options });
  return { tasks, up };
}

/** A gateway before such a server, with three agents. */
export async function setUp(t, { ttl, upstream, ...config } = {}) {
  const { tasks, up } = await startTasks(t, { ttl, ...upstream });
  const gw = await startGateway(t, { agents: [ada.entry, bob.entry, eve.entry], upstreams: { up: { http: up.url } },
    tools: { 'up/*': { scope: 's', arguments: any } }, ...config });
  const modern = (agent = ada, path = '/mcp/up') => new Caller(gw, { path, modern: true, token: agent.token });
  const legacy = (agent = ada, path = '/mcp/up') => openSession(gw, { path, token: agent.token });
  return { tasks, up, gw, modern, legacy };
}

export const begin = (caller, n = 1, name = 'work') => (caller.modern
  ? caller.call(name, { n }, { meta: META }) : caller.call(name, { n }, { params: { task: { ttl: 60_000 } } }));
export const idOf = (answer) => answer.result.taskId ?? answer.result.task.taskId;
export const ask = (caller, method, taskId, params = {}) =>
  caller.request(method, { taskId, ...params, ...(caller.modern ? { _meta: META } : {}) });
export const outcomes = (gw) => gw.decisions(['--decision', 'allow']).map((d) => gw.show(d.decision_id).outcome);
export const digest = (value) => writ(['json', 'digest'], { input: JSON.stringify(value) }).out.trim();
