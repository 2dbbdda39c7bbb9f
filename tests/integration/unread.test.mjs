// Answers that the gateway cannot read as a client may read them, or that answer another request: an answer that was
// not checked is not forwarded.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ada, any, ask, begin, bob, idOf, outcomes, setUp } from '../support/js/tasks.mjs';

const deep = `${'['.repeat(80)}${']'.repeat(80)}`;
const bad = {
  'a name twice': (text) => text.replace(/\}$/, ',"extra":1,"extra":2}'),
  'too deep': (text) => text.replace(/\}$/, `,"extra":${deep}}`),
  'bytes behind it': (text) => `${text} {}`,
  'a byte order mark': (text) => `\u{feff}${text}`,
  'another id': (text) => text.replace(/"id":[^,]+/, '"id":"of another"'),
};

/** Answers `method` with the usual answer, changed by `spoil`. */
function spoiled(up, method, spoil) {
  const usual = up.onMessage;
  up.onMessage = (m) => {
    if (m.method !== method || String(m.id).startsWith('writ-')) return usual(m);
    const json = m.json.bind(m);
    m.json = (value, ...more) => json(spoil(JSON.stringify(value)), ...more);
    return usual(m);
  };
  return () => { up.onMessage = usual; };
}

test('an unreadable list of tasks is withheld, because it has the tasks of all agents', async (t) => {
  const x = await setUp(t);
  const mine = idOf(await begin(await x.legacy(), 1)), caller = await x.legacy(bob);
  const shapes = { ...bad, 'no list': (text) => text.replace('"tasks"', '"Tasks"'),
    'an object': (text) => text.replace(/\[(.*)\]/, '{"a":$1}') };
  for (const [what, spoil] of Object.entries(shapes)) {
    const restore = spoiled(x.up, 'tasks/list', spoil);
    const answer = await caller.request('tasks/list', {});
    assert.ok(!answer.text.includes(mine), what);
    assert.equal(answer.reason, 'upstream_malformed', what);
    restore();
  }
  assert.deepEqual((await caller.request('tasks/list', {})).result.tasks, []);
});

test('a task result that the rules cannot read is withheld', async (t) => {
  const x = await setUp(t,
    { tools: { 'up/*': { scope: 's', arguments: any, result: { redact: [{ pattern: 'secret' }] } } } });
  for (const [family, method] of [['modern', 'tasks/get'], ['legacy', 'tasks/result']]) {
    const caller = await x[family]();
    const id = idOf(await begin(caller, family));
    x.tasks.end(id, 'completed',
      { result: { resultType: 'complete', content: [{ type: 'text', text: 'the secret' }] } });
    for (const [what, spoil] of Object.entries(bad)) {
      const restore = spoiled(x.up, method, spoil);
      const answer = await ask(caller, method, id);
      assert.ok(!answer.text.includes('secret'), `${family}: ${what}`);
      assert.equal(answer.reason, 'upstream_malformed', `${family}: ${what}`);
      assert.equal(outcomes(x.gw).at(-1), null, `${family}: ${what}`);
      restore();
    }
    assert.ok((await ask(caller, method, id)).text.includes('[redacted'), family);
    assert.equal(outcomes(x.gw).at(-1).outcome, 'executed');
  }
  x.gw.verify();
});

test('an unreadable list of tools is withheld, because it cannot be filtered', async (t) => {
  const x = await setUp(t, { tools: { 'up/shown': { scope: 's', arguments: any } } });
  x.up.tools.push('shown', 'hidden');
  for (const family of ['modern', 'legacy']) {
    const caller = await x[family](ada);
    for (const [what, spoil] of Object.entries(bad)) {
      const restore = spoiled(x.up, 'tools/list', spoil);
      const answer = await caller.request('tools/list', {});
      assert.ok(!answer.text.includes('hidden'), `${family}: ${what}`);
      assert.equal(answer.reason, 'upstream_malformed', `${family}: ${what}`);
      restore();
    }
    assert.deepEqual((await caller.request('tools/list', {})).result.tools.map((tool) => tool.name), ['shown']);
  }
});
