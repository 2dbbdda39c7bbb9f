// crewguard.mjs - crews that are reviewers of calls.
import assert from 'node:assert/strict';
import { bearer, prepare, writ, writeFileSync } from './gateway.mjs';
import { openSession } from './rpc.mjs';
import { startUpstream } from '../servers/upstream.mjs';

export const DEV = bearer('dev', { tenant: 'acme', subject: 'alice' });
export const ANN = bearer('ann', { tenant: 'acme' });
const any = (arg) => ({ arg, op: 'type', value: 'any', optional: true });

/** Three reviewers who vote, a stand-in for one that faults, and a role that passes the result on. */
export const SHAPE = {
  schema_version: '1.0', name: 'panel', roles: [
    { role: 'critic', permissions: {}, amount: 3, first_input: true,
      execution: { timeout_ms: 5000, voting: { mode: 'review', threshold: '2/3', quorum: 2 } } },
    { role: 'stand-in', permissions: {}, amount: 1, activation: { on_fault: true, on_timeout: true } },
    { role: 'chair', permissions: {}, amount: 1, final_output: true },
  ] };

/** A worker of agents: `body` is a function of the step that gives its output. */
const workerSource = (body) => `
const { createInterface } = require('node:readline');
const say = (message) => console.log(JSON.stringify(message));
const answer = ${body};
createInterface({ input: process.stdin }).on('line', async (line) => {
  const step = JSON.parse(line);
  if (step.type !== 'agent.step.requested') return;
  const output = await answer(step);
  if (output !== undefined) say({ type: 'agent.step.completed', correlationId: step.correlationId, output });
});`;

export const crewOf = (gw, body, more = {}) => {
  writeFileSync(gw.path('panel.json'), JSON.stringify(more.shape ?? SHAPE));
  writeFileSync(gw.path('agent.cjs'), workerSource(body));
  return { crew: 'panel.json', worker: [process.execPath, gw.path('agent.cjs')], ...more.entry };
};

export const configOf = (up, reviewers, more = {}) => ({
  upstreams: { up: { http: up.url } }, agents: [DEV.entry, ANN.entry],
  reviews: { finance: { voters: Object.keys(reviewers).map((id) => ({ id })),
    quorum: String(Object.keys(reviewers).length), administrators: ['ann'], ...more.review } },
  reviewers,
  tools: { 'up/pay': { scope: 'payments', approval: { review: 'finance', ...more.approval },
    arguments: [any('amount'), any('note')] } },
});

/** The output of agents whose chair says what `critics` decides from the call. */
export const panelOf = (critics) => `async (step) => {
  if (step.roleId === 'chair') return step.input;
  const call = step.input.upstreamInput ?? step.input;
  return (${critics})(call, step);
}`;

export const stateOf = async (gw, id) => (await (await fetch(`http://127.0.0.1:${gw.adminPort}/v1/reviews/${id}`,
  { headers: { authorization: `Bearer ${ANN.token}` } })).json());

/** A call that waits: its review's id. */
export async function asks(session, args) {
  const answer = await session.call('up__pay', args);
  assert.equal(answer.reason, 'approval_required');
  return answer.refusal.continuation_id;
}

/** A gateway whose reviewer is that crew, and a session of the caller. */
export async function withCrew(t, body, more = {}) {
  const up = await startUpstream(t);
  const gw = prepare(t, { upstreams: {}, tools: {}, agents: [] });
  writ(['keys', 'new', '--purpose', 'contents', '--dir', gw.path('keys')]);
  gw.configure({ ...gw.config, ...configOf(up, { panel: crewOf(gw, body, more) }, more) });
  await gw.start();
  return { up, gw, session: await openSession(gw, { token: DEV.token }) };
}
