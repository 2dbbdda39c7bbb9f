// Changed bodies, sent to the hook API: by member, by value, by character. Other
// seeds: WRIT_SEED=7 WRIT_ROUNDS=5000 tests/support/node --test tests/integration/hookbytes.test.mjs
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { CREW, ask, setUp } from '../support/js/hooks.mjs';

const SEED = Number(process.env.WRIT_SEED ?? 1);
const ROUNDS = Number(process.env.WRIT_ROUNDS ?? 150);
const DEEDS = ['before', 'bind', 'after', 'seal'];
const JUNK = [null, true, 0, -1, 1.5, 1e308, 2 ** 53, '', ' ', 'x', 'x'.repeat(600), '\u0000', '\u202e', 'allow',
  'executed', 'sha256:00',
  'urn:x', '2026-06-25T05:00:00Z', [], [[]], {}, { x: 1 }, JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`)];

/** mulberry32: the same numbers for the same seed. */
function numbers(seed) {
  let a = seed >>> 0;
  return (below) => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Every [object, member] in a value. */
function places(value, found = []) {
  for (const [name, member] of Object.entries(value ?? {})) {
    found.push([value, name]);
    if (typeof member === 'object') places(member, found);
  }
  return found;
}

function changeMember(body, pick) {
  const changed = structuredClone(body);
  const all = places(changed);
  const [object, name] = all[pick(all.length)];
  const [other, otherName] = all[pick(all.length)];
  const how = pick(4);
  if (how === 0) delete object[name];
  else if (how === 1) object[name] = structuredClone(other[otherName]);
  else if (how === 2) object[`${name}${pick(2) ? '' : '_'}`] = JUNK[pick(JUNK.length)];
  else if (typeof object[name] === 'string') object[name] = `${object[name].slice(0, -1)}${pick(2) ? '' : '0'}`;
  return JSON.stringify(changed);
}

function changeText(body, pick) {
  const text = JSON.stringify(body);
  const [at, to] = [pick(text.length), pick(text.length)].sort((a, b) => a - b);
  const how = pick(4);
  if (how === 0) return text.slice(0, at) + String.fromCodePoint(pick(pick(2) ? 128 : 0xd800)) +
    text.slice(at + pick(2));
  if (how === 1) return text.slice(0, at) + text.slice(to);
  if (how === 2) return text.slice(0, to) + text.slice(at);
  return text.slice(0, at);
}

test('every input gets a documented answer, and a call is bound once as judged',
    async (t) => {
  const { gw, crew } = await setUp(t);
  const pick = numbers(SEED);
  const bound = new Set(), ended = new Set();
  for (let i = 0; i < ROUNDS; i++) {
    const call = { arguments: { path: `/tmp/${i}`, text: ['hello', { deep: null }] } };
    const said = await crew.before({ ...call, boundary_id: `run-${i % 8}`, request_id: `r${i}`, agent_id: 'crew' });
    if (said.verdict !== 'allow') {
      assert.equal(said.reason, 'boundary_sealed');
      continue;
    }
    const { decision } = said;
    const bodies = {
      before: { tool: 'crew/write', ...call, boundary_id: `run-${i % 8}`, request_id: 'r', idempotency_key: `k${i}`,
        agent_id: 'crew' },
      bind: { authorization: decision, tool: 'crew/write', ...call },
      after: { decision_id: decision.decision_id, intent_ref: decision.intent_ref, outcome: 'executed',
        result: { ok: true } },
      seal: { boundary_id: `seal-${i}` },
    };
    if (pick(2)) assert.equal((await crew.bind(decision, call)).verdict, 'allow');
    for (let n = 0; n < 4; n++) {
      const deed = DEEDS[pick(4)];
      const body = (pick(3) ? changeMember : changeText)(bodies[deed], pick);
      const { status, json } = await ask(gw, CREW, deed, body);
      if (deed === 'bind' && json.verdict === 'allow') {
        const sent = JSON.parse(body);
        assert.ok(!bound.has(decision.decision_id), `bound twice: ${body}`);
        assert.deepEqual([sent.arguments, sent.tool, sent.authorization.decision_id],
          [call.arguments, 'crew/write', decision.decision_id], body);
        bound.add(decision.decision_id);
      }
      if (deed === 'after' && status === 200) {
        assert.equal(JSON.parse(body).decision_id, decision.decision_id, body);
        ended.add(decision.decision_id);
      }
    }
  }
  const { decision } = await crew.before({ arguments: { path: 'last', text: '' } });
  assert.equal((await crew.bind(decision, { arguments: { path: 'last', text: '' } })).verdict, 'allow', 'it goes on');
  assert.ok(bound.size > 0 && ended.size > 0, 'some changes change nothing');
  gw.verify();
});
