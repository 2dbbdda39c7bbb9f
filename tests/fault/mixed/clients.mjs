// clients.mjs - a part of the clients of a mixed load, a process of its own. Each connection has some sessions, takes
// one of them and does something with it, again and again, until the run says that it is over. Every answer of a
// governed call is a line of the file: what the client knows of it.
import { createWriteStream } from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller, send } from '../../support/js/rpc.mjs';

const { part, connections, sessions, pauseMs, origin, admin, agents, voter, file } = JSON.parse(process.argv[2]);
const lines = createWriteStream(file);
const gateway = { origin };
const counts = { requests: 0, broken: 0 };
let stopping = false, ids = 0;

process.on('message', () => { stopping = true; });
process.on('disconnect', () => process.exit(0));

function write(op, id, answer) {
  const { reason, decision_id } = answer.refusal ?? {};
  const ran = answer.result !== undefined && reason === undefined;
  lines.write(`${JSON.stringify({ op, id, ran, reason, decision_id,
    status: ran || reason ? undefined : `${answer.status} ${answer.text?.slice(0, 200)}` })}\n`);
  return ran;
}

/** One request; one that broke may or may not have been decided. */
async function attempt(op, id, work) {
  counts.requests++;
  try {
    const answer = await work();
    if (op !== undefined) write(op, id, answer);
    return answer;
  } catch (error) {
    counts.broken++;
    lines.write(`${JSON.stringify({ op: op ?? 'passing', id, ran: false, broken: error.code ?? error.name })}\n`);
    return undefined;
  }
}

const json = (url, token, agent, body) => send(url, { path: '', method: body === undefined ? 'GET' : 'POST', agent,
  body, headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) } });

async function approve(review, agent) {
  const url = `${admin}/v1/reviews/${review}`;
  const shown = await attempt(undefined, review, () => json(url, voter, agent));
  if (shown?.message?.state !== 'open') return;
  await attempt(undefined, review, () => json(`${url}/vote`, voter, agent,
    { vote: 'approve', review_digest: shown.message.review_digest }));
}

const key = (id) => ({ key: `key-${id}` });

const OPS = {
  pay: (s, id) => attempt('pay', id, () => s.call('pay', { id, text: 'rent' }, key(id))),
  refused: (s, id) => attempt('refused', id, () => s.call('pay', { id, text: 'forbidden' }, key(id))),
  stream: (s, id) => attempt('stream', id, () => s.call('stream', { id }, { ...key(id), meta: { progressToken: id } })),
  list: (s) => attempt(undefined, undefined, () => s.request('tools/list')),
  async again(s, id) {
    for (let n = 0; n < 2; n++) await attempt('pay', id, () => s.call('pay', { id, text: 'rent' }, key(id)));
  },
  async hold(s, id, agent) {
    for (let n = 0; n < 8; n++) { // a reload may end a review
      const answer = await attempt('hold', id, () => s.call('hold', { id }, key(id)));
      const { reason, continuation_id } = answer?.refusal ?? {};
      if (!/^approval_/.test(reason ?? '')) return;
      if (reason === 'approval_required') await approve(continuation_id, agent);
    }
  },
  async job(s, id) {
    const answer = await attempt('job', id,
      () => s.call('job', { id }, { ...key(id), params: { task: { ttl: 5000 } } }));
    const taskId = answer?.result?.task?.taskId;
    if (taskId === undefined) return;
    await attempt(undefined, id, () => s.request('tasks/get', { taskId }));
    await attempt(undefined, id, () => s.request('tasks/result', { taskId }));
  },
  async hook(s, id, agent) {
    const call = { tool: 'crew/write', arguments: { id } };
    const ask = async (deed, body) => {
      const answer = await attempt(undefined, id, () => json(`${origin}/v1/${deed}`, s.token, agent, body));
      return answer?.status === 200 ? answer.message : undefined;
    };
    const before = await ask('before', { ...call, boundary_id: `hook-${part}`, idempotency_key: `key-${id}` });
    const bound = before && await ask('bind', { ...call, authorization: before.decision });
    const after = bound && await ask('after',
      { decision_id: bound.decision_id, intent_ref: bound.intent_ref, outcome: 'executed' });
    lines.write(`${JSON.stringify({ op: 'hook', id, ran: after !== undefined,
      reason: after === undefined ? (bound ?? before)?.reason ?? 'no answer' : undefined })}\n`);
  },
};
const SHARES = [['pay', 40], ['list', 20], ['stream', 10], ['hook', 10], ['again', 5], ['job', 5], ['refused', 2],
  ['hold', 2]]; // an ended review is kept for an hour
const ALL = SHARES.reduce((sum, [, n]) => sum + n, 0);

function pick() {
  let at = Math.random() * ALL;
  return SHARES.find(([, n]) => (at -= n) < 0)?.[0] ?? 'pay';
}

async function open(index) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const callers = [];
  for (let n = 0; n < sessions; n++) {
    const caller = new Caller(gateway, { path: '/mcp/up', token: agents[(index + n) % agents.length] });
    caller.agent = agent;
    await caller.open();
    await OPS.pay(caller, `${part}-${ids++}`); // a session grows with its first call: before memory is compared
    callers.push(caller);
  }
  return { agent, callers };
}

async function work({ agent, callers }) {
  await sleep(Math.random() * 2 * pauseMs);
  while (!stopping) {
    const caller = callers[Math.floor(Math.random() * callers.length)];
    await OPS[pick()](caller, `${part}-${ids++}`, agent);
    if (!stopping) await sleep(Math.random() * 2 * pauseMs);
  }
}

const all = [];
for (let from = 0; from < connections; from += 50) { // not all at once: a client's own queue is no load
  all.push(...await Promise.all(Array.from({ length: Math.min(50, connections - from) }, (_, i) => open(from + i))));
}
process.send('ready', () => {});
await new Promise((resolve) => { process.once('message', resolve); });
stopping = false;
await Promise.all(all.map(work));
lines.end(() => process.send(counts, () => process.exit(0)));
