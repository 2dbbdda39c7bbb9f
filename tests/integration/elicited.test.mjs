// The approval of a held call by the person at the caller's own client (MCP elicitation): where the review names
// this voter, over a Unix socket alone, for the terms that were shown, and for the session that was asked.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { BIN, bearer, prepare, startGateway, until, writ } from '../support/js/gateway.mjs';
import { endGateways, LEGACY, MODERN, Wrap } from '../support/js/wrap.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { sdk1, sdk2, sdk2Stdio } from '../support/npm/peers.mjs';

const OWNER = bearer('owner');
const KEY = 'io.writ/review';
const FORM = { elicitation: {} };
const any = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }], approval: { review: 'mine' } };

const configure = (url, more = {}) => ({
  listen: 'unix:writ.sock', admin_listen: '127.0.0.1:0', loops: 1,
  agents: [{ id: 'desktop', anonymous: true }, OWNER.entry],
  upstreams: { up: { http: url } },
  tools: { 'up/act': { ...any, ...more.rule } },
  reviews: { mine: { voters: [{ id: 'owner' }, ...(more.voters ?? [])], elicitation: 'owner', ...more.review } },
  ...(more.reviewers && { reviewers: more.reviewers }),
});

/** A server that echoes its argument, and wraps that share one gateway. */
async function setUp(t, more) {
  const up = await startUpstream(t, { tools: ['act'], onCall: (call) => call.text(call.arguments.say) });
  const wraps = [];
  let gw;
  t.after(async () => { // before the folder goes
    await Promise.all(wraps.map((w) => w.kill()));
    await endGateways(gw.configFile);
  });
  gw = prepare(t, configure(up.url, more));
  const effects = () => up.calls.map((call) => call.arguments.say);
  return { gw, effects, wrap: async (capabilities = FORM, version = LEGACY) => {
    const w = new Wrap(['--config', gw.configFile], { cwd: gw.dir });
    wraps.push(w);
    if (capabilities !== null) await w.open(capabilities, version);
    return w;
  } };
}

const questions = (w) => w.messages.filter((m) => m.method === 'elicitation/create');
const asked = (w, n = 1) => until(() => questions(w)[n - 1], `question ${n}`);
const reply = (w, question, result) => w.send({ jsonrpc: '2.0', id: question.id, result });
const vote = (choice, reason) => ({ action: 'accept', content: { vote: choice, ...(reason && { reason }) } });
const act = (say, more = {}) => ({ say, ...more });
const votes = (gw, id) => JSON.parse(writ(['review', 'show', gw.ledgerFile, id, '--json']).out).records
  .filter((r) => r.event === 'vote');
const reviews = (gw) => JSON.parse(writ(['review', 'list', gw.ledgerFile, '--json']).out).reviews;
const refusal = (answer) => answer.error.data;

test('the person at the client sees the whole call, and an approval lets it run once', async (t) => {
  const { gw, wrap, effects } = await setUp(t);
  const w = await wrap();
  const call = w.call('act', act('p\u0430y\u202e', { to: 'x' }), 7);
  const question = await asked(w);
  assert.match(question.params.message, /Tool: "act" of the server "up"\nAgent: "desktop"\n/);
  assert.match(question.params.message, /^ {2}"say": "p\[U\+0430\]\u0430y\[U\+202E\]"$/m);
  assert.match(question.params.message, /^ {2}"to": "x"$/m);
  assert.match(question.params.message, /are marked: \[U\+\.\.\.\]\.[^]*The same on the page: http:/);
  assert.deepEqual(question.params.requestedSchema.required, ['vote']);
  assert.deepEqual(question.params.requestedSchema.properties.vote.enum, ['approve', 'reject']);
  assert.deepEqual(effects(), []);
  const [{ id }] = reviews(gw);
  reply(w, question, vote('approve', 'fine'));
  assert.equal((await call).result.content[0].text, 'p\u0430y\u202e');
  assert.equal(effects().length, 1);
  reply(w, question, vote('reject')); // the review is over
  await until(() => /approval_|review_/.test(w.said), 'word of the late vote');
  assert.equal((await w.call('act', act('p\u0430y\u202e', { to: 'x' }))).error.data.reason, 'duplicate_outcome');
  await w.end();
  await endGateways(gw.configFile, 'SIGTERM');
  const [one, ...more] = votes(gw, id);
  assert.deepEqual(more, []);
  assert.deepEqual([one.by, one.vote, one.feedback, one.extensions], ['owner', 'approve', 'fine',
    { writ: { via: 'elicitation' } }]);
  gw.verify();
});

test('a reject refuses the call with the reason, and an answer without one is no feedback', async (t) => {
  const { wrap, effects } = await setUp(t);
  const w = await wrap();
  for (const [n, reason] of [[1, 'not today'], [2, '']]) {
    const call = w.call('act', act(`${n}`));
    const question = await asked(w, n);
    reply(w, question, { action: 'accept', content: { vote: 'reject', reason } });
    const told = refusal(await call);
    assert.equal(told.reason, 'approval_rejected');
    assert.deepEqual(told.feedback?.map((f) => f.feedback), reason ? [reason] : undefined);
  }
  assert.deepEqual(effects(), []);
});

test('a person who declines is not asked again, and the page stays', async (t) => {
  const { wrap } = await setUp(t);
  const w = await wrap();
  for (const answer of [{ action: 'decline' }, { action: 'cancel' }]) {
    const n = questions(w).length + 1;
    const call = w.call('act', act(answer.action));
    reply(w, await asked(w, n), answer);
    const told = refusal(await call);
    assert.equal(told.reason, 'approval_required');
    assert.match(told.review_url, /^http:\/\/127\.0\.0\.1:\d+\/reviews\//);
    assert.equal(refusal(await w.call('act', act(answer.action))).continuation_id, told.continuation_id);
    assert.equal(questions(w).length, n);
  }
});

test('an answer that comes after the hold counts for the repeated call', async (t) => {
  const { gw, wrap, effects } = await setUp(t, { rule: { approval: { review: 'mine', hold_retry: '100ms' } } });
  const w = await wrap();
  assert.equal(refusal(await w.call('act', act('late'))).reason, 'approval_required');
  assert.equal(refusal(await w.call('act', act('late'))).reason, 'approval_required', 'held again, not asked again');
  assert.equal(questions(w).length, 1);
  reply(w, questions(w)[0], vote('approve'));
  await until(() => reviews(gw)[0]?.state === 'approved', 'the approval');
  assert.equal((await w.call('act', act('late'))).result.content[0].text, 'late');
  assert.deepEqual(effects(), ['late']);
});

test('nobody is asked without the option, without forms, or about more than fits', async (t) => {
  const plain = await setUp(t, { review: { elicitation: undefined } });
  const other = await setUp(t);
  for (const [s, capabilities, version, say] of [[plain, FORM, LEGACY, 'x'], [other, {}, LEGACY, 'x'],
      [other, { elicitation: { url: {} } }, '2025-06-18', 'x'], [other, FORM, '2025-03-26', 'x'],
      [other, FORM, LEGACY, 'y'.repeat(20_000)]]) {
    const w = await s.wrap(capabilities, version);
    assert.equal(refusal(await w.call('act', act(say))).reason, 'approval_required');
    assert.deepEqual(questions(w), []);
  }
});

test('over TCP the option has no effect, and `writ check` says so', async (t) => {
  const up = await startUpstream(t);
  const gw = await startGateway(t, { ...configure(up.url), listen: '127.0.0.1:0' });
  assert.match(writ(['check', gw.configFile]).out + writ(['check', gw.configFile]).err,
    /\/reviews\/mine\/elicitation: .*Unix socket/);
  const s = await openSession(gw, { path: '/mcp/up', capabilities: FORM });
  const told = await s.call('act', act('x'));
  assert.equal(told.reason, 'approval_required');
  assert.doesNotMatch(told.text, /elicitation\/create/);
});

test('a review whose elicitation is no voter, or one that signs, is an error', async (t) => {
  const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
  for (const [more, text] of [[{ reviews: { mine: { voters: [{ id: 'owner' }], elicitation: 'ann' } } },
    /mine\/elicitation: must be one of the voters/], [{ reviewers: { owner: { key } } }, /signs its votes/]]) {
    const gw = prepare(t, { ...configure('http://127.0.0.1:9/mcp'), ...more });
    const checked = writ(['check', gw.configFile]);
    assert.equal(checked.code, 1);
    assert.match(checked.out + checked.err, text);
  }
});

test('only the session that was asked can answer, with a vote, to its own question', async (t) => {
  const { gw, wrap, effects } = await setUp(t);
  const [w, thief] = [await wrap(), await wrap()];
  const call = w.call('act', act('guarded'));
  const question = await asked(w);
  reply(thief, question, vote('approve'));
  reply(w, { id: `${question.id}x` }, vote('approve'));
  reply(w, { id: `${KEY}:` }, vote('approve'));
  for (const content of [{}, { vote: 'modify' }, { vote: 'approve', reason: 7 }, { vote: ['approve'] }])
    reply(w, question, { action: 'accept', content });
  assert.ok((await w.ask('ping')).result && (await thief.ask('ping')).result); // all were taken
  assert.equal(w.said.match(/vote_malformed/g).length, 4);
  const [open] = reviews(gw);
  assert.equal(open.state, 'open');
  assert.deepEqual(votes(gw, open.id), []);
  reply(w, question, vote('approve'));
  assert.equal((await call).result.content[0].text, 'guarded');
  assert.deepEqual(effects(), ['guarded']);
});

test('one of several voters: the others are waited for', async (t) => {
  const { gw, wrap } = await setUp(t,
    { voters: [{ id: 'ann', veto: true }], reviewers: { ann: {} },
      rule: { approval: { review: 'mine', hold_retry: '300ms' } } });
  const w = await wrap();
  const call = w.call('act', act('two'));
  reply(w, await asked(w), vote('approve'));
  assert.equal(refusal(await call).reason, 'approval_required');
  assert.deepEqual([reviews(gw)[0].state, votes(gw, reviews(gw)[0].id).length], ['open', 1]);
});

test('2026-07-28: the question is the answer, and the vote comes with the repeated call', async (t) => {
  const { gw, wrap, effects } = await setUp(t, { rule: { approval: { review: 'mine', hold_retry: '1s' } } });
  const w = await wrap(null);
  const meta = { 'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
  const call = (args, more = {}) => w.ask('tools/call', { name: 'act', arguments: args, _meta: meta, ...more });
  const first = (await call(act('m'))).result;
  assert.equal(first.resultType, 'input_required');
  const question = first.inputRequests[KEY];
  assert.equal(question.params.mode, 'form');
  assert.match(question.params.message, /"say": "m"/);
  const back = (answer, args = act('m'), requestState = first.requestState) =>
    call(args, { requestState, inputResponses: { [KEY]: answer } });
  assert.equal(refusal(await back(vote('approve'), act('other'))).reason, 'continuation_mismatch');
  assert.equal(refusal(await back({ action: 'accept', content: { vote: 'yes' } })).reason, 'input_not_awaited');
  assert.equal(refusal(await back({ action: 'decline' })).reason, 'approval_required');
  assert.deepEqual(effects(), []);
  assert.equal((await back(vote('approve'))).result.content[0].text, 'm');
  const second = (await call(act('n'))).result;
  const rejected = await back(vote('reject', 'no'), act('n'), second.requestState);
  assert.deepEqual(refusal(rejected).feedback.map((f) => [f.voter, f.feedback]), [['owner', 'no']]);
  assert.deepEqual(effects(), ['m']);
});

const SDKS = {
  'SDK v1': async (transport, answer) => {
    const { Client, StdioClientTransport, ElicitRequestSchema } = await sdk1();
    const client = new Client({ name: 'v1', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, answer);
    await client.connect(new StdioClientTransport(transport));
    return client;
  },
  ...Object.fromEntries([['SDK v2', 'legacy'], ['SDK v2, modern', { pin: MODERN }]].map(([name, mode]) =>
    [name, async (transport, answer) => {
      const { Client } = await sdk2();
      const { StdioClientTransport } = await sdk2Stdio();
      const client = new Client({ name: 'v2', version: '1' },
        { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } });
      client.setRequestHandler('elicitation/create', answer);
      await client.connect(new StdioClientTransport(transport));
      return client;
    }])),
};

for (const [name, connect] of Object.entries(SDKS)) {
  test(`${name} shows the question, and its answer decides`, async (t) => {
    const { gw, effects } = await setUp(t);
    const seen = [], answers = [vote('approve'), vote('reject', 'no')];
    const client = await connect({ command: BIN, args: ['wrap', '--config', gw.configFile], cwd: gw.dir },
      async (request) => { seen.push(request.params.message); return answers.shift(); });
    const said = await client.callTool({ name: 'act', arguments: act('yes') });
    assert.equal(said.content[0].text, 'yes');
    await assert.rejects(client.callTool({ name: 'act', arguments: act('no') }), (e) => e.code === -31001);
    assert.equal(seen.length, 2);
    assert.deepEqual(effects(), ['yes']);
    await client.close();
  });
}
