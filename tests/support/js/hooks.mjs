// hooks.mjs - a gateway for frameworks that make their calls themselves, and every answer of the
// hook API held against the document that describes it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { SOURCE, bearer, startGateway } from './gateway.mjs';

const require = createRequire(new URL('../npm/', import.meta.url));
export const DOCUMENT = JSON.parse(readFileSync(join(SOURCE, 'gateway/hook/openapi.json'), 'utf8'));

export const CREW = bearer('crew', { tenant: 'acme', role: 'worker', subject: 'carol' });
export const MATE = bearer('mate', { tenant: 'acme' });
export const ANN = bearer('ann', { tenant: 'acme' });
export const FOREIGN = bearer('crew-elsewhere', { tenant: 'evil' });
export const ALL = [CREW, MATE, ANN, FOREIGN];

const any = (arg) => ({ arg, op: 'type', value: 'any', optional: true });

/** The rule of a tool that permits any arguments; `path` is its scope and its target. */
export const rule = (more = {}) =>
  ({ scope: 'files/{path}', target: 'file:{path}', arguments: [any('path'), any('text')], ...more });

export const config = (more = {}) => ({
  frameworks: { crew: { resource: 'urn:crew', timeout: '5m', ...more.framework } },
  agents: ALL.map((a) => a.entry),
  tools: { 'crew/write': rule(more.rule), ...more.tools },
  ...more.top,
});

let checks;

/** The checks of every answer, made of the document. */
async function validators() {
  if (checks !== undefined) return checks;
  const { default: Ajv } = require('ajv/dist/2020.js');
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajv.addSchema({ $id: 'doc', ...DOCUMENT });
  checks = new Map();
  for (const [path, { post }] of Object.entries(DOCUMENT.paths)) {
    for (const [status, response] of Object.entries(post?.responses ?? {})) {
      const [[type]] = Object.entries(response.content);
      const pointer = ['paths', path, 'post', 'responses', status, 'content', type,
        'schema'].map((p) => p.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
      checks.set(`${path} ${status}`, { type, check: ajv.compile({ $ref: `doc#/${pointer}` }) });
    }
  }
  return checks;
}

/** One request to the API. An answer that the API document does not describe fails the test. */
export async function ask(gw, who, deed, body, headers = {}) {
  const res = await fetch(`${gw.origin}/v1/${deed}`, {
    method: 'POST',
    headers: { ...(who && { authorization: `Bearer ${who.token}` }), 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const json = await res.json();
  const known = (await validators()).get(`/v1/${deed} ${res.status}`);
  assert.ok(known, `/v1/${deed} answers ${res.status}, which the document does not know: ${JSON.stringify(json)}`);
  assert.equal(res.headers.get('content-type'), known.type);
  assert.ok(known.check(json), `${JSON.stringify(known.check.errors)} ${JSON.stringify(json)}`);
  return { status: res.status, json, headers: res.headers };
}

/** before, bind and after of one caller. */
export const framework = (gw, who = CREW) => ({
  before: async (body) => (await ask(gw, who, 'before', { tool: 'crew/write', ...body })).json,
  bind: async (authorization, body) =>
    (await ask(gw, who, 'bind', { authorization, tool: 'crew/write', ...body })).json,
  after: (decision, body) =>
    ask(gw, who, 'after', { decision_id: decision.decision_id, intent_ref: decision.intent_ref, outcome: 'executed',
      ...body }),
  seal: (boundary_id) => ask(gw, who, 'seal', { boundary_id }),
});

/** Ann approves every review while `work` runs. Gives what it gives. */
export async function approving(gw, work) {
  const headers = { authorization: `Bearer ${ANN.token}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${gw.adminPort}/v1/reviews`;
  let working = true;
  const votes = (async () => {
    while (working) {
      const { reviews } = await (await fetch(url, { headers })).json();
      for (const { id, review_digest } of reviews.filter((r) => r.state === 'open'))
        await fetch(`${url}/${id}/vote`,
          { method: 'POST', headers, body: JSON.stringify({ vote: 'approve', review_digest }) });
      await new Promise((resolve) => { setTimeout(resolve, 200); });
    }
  })();
  try {
    return await work();
  } finally {
    working = false;
    await votes;
  }
}

export async function setUp(t, more = {}) {
  const gw = await startGateway(t, config(more));
  return { gw, crew: framework(gw) };
}
