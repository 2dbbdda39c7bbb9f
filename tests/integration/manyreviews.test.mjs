// More reviews than one answer has: lists, streams, messages and reviewers get all of them, in pages and portions.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { bearer, prepare, until, writ } from '../support/js/gateway.mjs';
import { ANN, FOREIGN, OPS, api, pay } from '../support/js/reviews.mjs';
import { startHook } from '../support/js/reviewers.mjs';

const N = 230;
const DEVS = Array.from({ length: 4 }, (_, i) => bearer(`dev-${i}`, { tenant: 'acme' }));
// long names: a portion of 4 MiB has not all of the reviews
const VOTERS = Array.from({ length: 62 }, (_, i) => bearer(`voter-${i}-${'x'.repeat(180)}`, { tenant: 'acme' }));

async function setUp(t, top = {}) {
  const hook = await startHook(t, () => ({ status: 200, json: {} }));
  const gw = prepare(t, { frameworks: { crew: { resource: 'urn:crew' } },
    agents: [...DEVS, ANN, FOREIGN, OPS, ...VOTERS].map((a) => a.entry), admin_url: 'https://admin.example',
    reviewers: { rules: { opinions: [{ vote: 'approve', when: [{ arg: 'amount', op: 'ge', value: 0 }] }] } },
    reviews: { finance: { voters: [{ id: 'ann' }, { id: 'rules' }, ...VOTERS.map((v) => ({ id: v.entry.id }))],
      quorum: '64', administrators: ['ops'] } },
    notify: { hook: { webhook: hook.url, secret: 'secret', batch: '1s' } },
    tools: { 'crew/pay': pay({ review: 'finance' }) }, ...top });
  writeFileSync(gw.path('secret'), `${hook.secret}\n`, { mode: 0o600 });
  await gw.start();
  return { gw, hook };
}

const propose = async (gw, who, amount) => (await (await fetch(`${gw.origin}/v1/before`, { method: 'POST',
  headers: { authorization: `Bearer ${who.token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ tool: 'crew/pay', arguments: { amount } }) })).json());

async function opened(gw, n) {
  const answers = [];
  for (let i = 0; i < n; i += 10)
    answers.push(...await Promise.all(Array.from({ length: 10 }, (_, j) => propose(gw, DEVS[(i + j) % 4], i + j))));
  assert.deepEqual([...new Set(answers.map((a) => a.reason))], ['approval_required']);
}

async function pages(gw, who) {
  const found = [];
  for (let place = ''; place !== undefined;) {
    const { status, json } = await api(gw, who, place);
    assert.equal(status, 200, JSON.stringify(json));
    assert.equal(json.reset, true);
    assert.ok(json.reviews.length <= 100, `${json.reviews.length} on a page`);
    found.push(json);
    place = json.next === undefined ? undefined : `?after=${json.at}&from=${json.next}`;
  }
  const reviews = found.flatMap((p) => p.reviews);
  return { lengths: found.map((p) => p.reviews.length), ats: new Set(found.map((p) => p.at)), at: found[0].at, reviews,
    ids: reviews.map((r) => r.id) };
}

/** The events of the stream, until there are enough. */
async function events(gw, who, n, last) {
  const stop = new AbortController();
  const res = await fetch(`http://127.0.0.1:${gw.adminPort}/v1/reviews/events`, { signal: stop.signal,
    headers: { authorization: `Bearer ${who.token}`, ...(last && { 'last-event-id': last }) } });
  let text = '';
  for await (const part of res.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.split('event: review\n').length > n && text.endsWith('\n\n')) break;
  }
  stop.abort();
  return text.split('\n\n').filter((e) => /^event: /m.test(e)).map((e) => ({ event: /^event: (.*)$/m.exec(e)[1],
    id: /^id: (.*)$/m.exec(e)?.[1], data: JSON.parse(/^data: (.*)$/m.exec(e)[1]) }));
}

/** Follows the changes until the rules have voted on all. */
async function voted(gw) {
  const list = await pages(gw, ANN);
  const waiting = new Set(list.ids);
  for (let { reviews, at } = list; ;) {
    for (const r of reviews) if (r.voters[1].vote === 'approve') waiting.delete(r.id);
    if (waiting.size === 0) return;
    const { json } = await api(gw, ANN, `?after=${at}&wait=60`);
    assert.deepEqual([json.reset, json.reviews.length > 0], [false, true], `${waiting.size} without a vote`);
    ({ reviews, at } = json);
  }
}

/** The reviews that messages have told of; one that is sent again has the id that it had. */
const told = (hook) => [...new Map(hook.got.map((m) => [m.id, m.data])).values()]
  .reduce((sum, data) => sum + data.notices.length + data.more, 0);

test('a list of any length is read in pages; streams, commands, messages and reviewers get all of it', async (t) => {
  const { gw, hook } = await setUp(t);
  await opened(gw, N);
  await voted(gw);
  await until(() => told(hook) >= N, 'the messages'); // a message leaves decided ones out

  const list = await pages(gw, ANN);
  assert.deepEqual([list.lengths, list.ats.size, new Set(list.ids).size], [[100, 100, 30], 1, N]);
  assert.deepEqual((await pages(gw, DEVS[1])).ids,
    list.reviews.filter((r) => r.agent_id === 'dev-1').map((r) => r.id), 'an agent gets its own');
  assert.deepEqual((await pages(gw, FOREIGN)).lengths, [0], 'a page without any is not an answer');
  for (const bad of ['?from=x', '?from=1&from=2', '?next=1', '?from'])
    assert.equal((await api(gw, ANN, bad)).status, 404, bad);

  const all = await events(gw, ANN, N);
  assert.deepEqual([all.length, all[0].event, all.filter((e) => e.event === 'reset').length], [N + 1, 'reset', 1]);
  assert.deepEqual(all.slice(1).map((e) => e.data.id), list.ids);
  assert.deepEqual(all.filter((e) => e.id !== undefined).map((e) => e.data.id), [undefined, list.ids.at(-1)],
    'the reset and the last have an id');
  assert.equal(all[0].id, '0', 'a list that breaks off begins again');

  const file = gw.path('token');
  writeFileSync(file, ANN.token);
  const url = `http://127.0.0.1:${gw.adminPort}`;
  for (const from of [[url, '--token', file], [gw.ledgerFile]]) {
    const lines = writ(['review', 'list', ...from]).out.split('\n').slice(0, -1);
    assert.deepEqual(lines.map((line) => line.split(' ')[0]), list.ids);
    assert.deepEqual(JSON.parse(writ(['review', 'list', ...from, '--json']).out).reviews.map((r) => r.id), list.ids);
  }

  const ended = list.ids.slice(0, 120);
  for (const id of ended) assert.equal((await api(gw, OPS, `/${id}/cancel`, {})).status, 200);
  const first = await api(gw, ANN, `?after=${list.at}`);
  const second = await api(gw, ANN, `?after=${first.json.at}&wait=60`);
  assert.deepEqual([first, second].map(({ json }) => [json.reset, json.reviews.length, json.next]),
    [[false, 100, undefined], [false, 20, undefined]]);
  assert.deepEqual([...first.json.reviews, ...second.json.reviews].map((r) => r.id), ended);
  assert.equal((await api(gw, ANN, `?after=${second.json.at}`)).json.reviews.length, 0);
  const since = await events(gw, ANN, 120, all.at(-1).id);
  assert.deepEqual(since.map((e) => e.data.id), ended);

  await gw.restart();
  await until(() => told(hook) >= N + 110, 'the messages about those that are open');
  assert.equal(told(hook), N + 110);
  assert.equal(await gw.metric('writ_notices_dropped_total'), 0);
  gw.verify();
});

test('the reviews of a gateway and of an agent are options, with refusals of their own', async (t) => {
  const { gw } = await setUp(t, { limits: { reviews: 6, agent_reviews: 4 } });
  const [one, two] = DEVS;
  for (let i = 0; i < 4; i++) assert.equal((await propose(gw, one, i)).reason, 'approval_required');
  assert.equal((await propose(gw, one, 4)).reason, 'reviews_exceeded');
  for (let i = 0; i < 2; i++) assert.equal((await propose(gw, two, i)).reason, 'approval_required');
  const full = await propose(gw, two, 2);
  assert.deepEqual([full.reason, /limits\.reviews/.test(full.hint)], ['reviews_full', true]);
  gw.configure({ ...gw.config, limits: { reviews: 3, agent_reviews: 2 } });
  await gw.restart();
  assert.equal((await pages(gw, ANN)).ids.length, 6, 'a lower limit leaves those that are open');
  assert.equal((await propose(gw, two, 2)).reason, 'reviews_full');
  gw.verify();
});
