// schema: accepted: what goes in and out of a tool is valid under its accepted definition.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { bearer, startGateway, writBeside } from '../support/js/gateway.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const DEV = bearer('dev', { tenant: 'acme' });
const INPUT = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object',
  properties: { n: { type: 'integer', minimum: 1 }, to: { type: 'string', pattern: '^[a-z]+$' } }, required: ['n'],
  additionalProperties: false };
const OUTPUT = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
const TOOLS = [{ name: 'add', inputSchema: INPUT, outputSchema: OUTPUT },
  { name: 'odd', inputSchema: { type: 'object', properties: { a: { $ref: 'https://example.org/schema' } } } }];
const rule = { scope: 's', pin: true, schema: 'accepted', duplicates: 'allow',
  arguments: [{ arg: '', op: 'type', value: 'any' }] };

async function setUp(t, more = {}) {
  const state = { result: { structuredContent: { sum: 3 }, content: [{ type: 'text', text: '3' }] } };
  const up = await startUpstream(t, { tools: TOOLS, onCall: (call) => call.result(state.result) });
  const gw = await startGateway(t, { agents: [DEV.entry], upstreams: { up: { http: up.url } },
    tools: { 'up/add': { ...rule, ...more }, 'up/odd': rule } });
  await (await openSession(gw, { token: DEV.token })).request('tools/list');
  await gw.stop(); // the seen definitions are on disk
  for (const name of ['up/add', 'up/odd']) {
    const run = await writBeside(['tools', 'accept', gw.configFile, name], { cwd: gw.dir });
    assert.equal(run.code, 0, run.out + run.err);
  }
  await gw.start();
  return { up, gw, state, s: await openSession(gw, { token: DEV.token }) };
}

test('arguments have to be valid, and the refusal names the place and the keyword', async (t) => {
  const { up, gw, s } = await setUp(t);
  assert.equal((await s.call('up__add', { n: 1, to: 'a' })).said, '3');
  for (const [args, place, keyword] of [[{ n: 0 }, '/n', 'minimum'], [{ n: '1' }, '/n', 'type'], [{}, '', 'required'],
    [{ n: 1, to: 'SECRET' }, '/to', 'pattern'], [{ n: 1, x: 1 }, '', 'additionalProperties']]) {
    const refused = await s.call('up__add', args);
    assert.equal(refused.refusal.reason, 'arguments_not_valid');
    assert.equal(refused.refusal.argument ?? '', place);
    assert.equal(refused.refusal.constraint, keyword);
    assert.ok(!JSON.stringify(refused).includes('SECRET'));
  }
  assert.equal(up.calls.length, 1);
  gw.verify();
});

test('a structured result that is not valid is withheld, and the call has run', async (t) => {
  const { up, gw, state, s } = await setUp(t);
  for (const result of [{ structuredContent: { sum: 'three' }, content: [] }, { structuredContent: {}, content: [] },
    { content: [{ type: 'text', text: '3' }] }]) {
    state.result = result;
    assert.equal((await s.call('up__add', { n: 1 })).refusal.reason, 'result_not_valid');
  }
  state.result = { isError: true, content: [{ type: 'text', text: 'no' }] };
  assert.equal((await s.call('up__add', { n: 1 })).refusal, undefined, 'an error has no structured result');
  assert.equal(up.calls.length, 4);
  assert.deepEqual(gw.decisions().map((d) => d.outcome), Array(4).fill('executed'));
  const [first] = gw.decisions();
  assert.equal(gw.show(first.decision_id).outcome.extensions.writ.reason, 'result_not_valid');
  gw.verify();
});

test('a schema that leads elsewhere refuses every call, and nothing is fetched', async (t) => {
  const { up, s } = await setUp(t);
  assert.equal((await s.call('up__odd', { a: 1 })).refusal.reason, 'schema_not_usable');
  assert.equal(up.calls.length, 0);
});

test('shadow mode records what is not valid, and the call runs', async (t) => {
  const { up, gw, s } = await setUp(t, { shadow: true });
  assert.equal((await s.call('up__add', { n: 0 })).said, '3');
  assert.equal(up.calls.length, 1);
  const [d] = gw.decisions();
  assert.equal(gw.show(d.decision_id).decision.extensions.writ.reason, 'arguments_not_valid');
});
