// Rules for results: what clients get, on every way that results come, and what the record holds.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SOURCE, prepare, startGateway, writ } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const ANY = [{ arg: '', op: 'type', value: 'any' }];
const CARD = '4111 1111 1111 1111';
const CARDS = { pattern: '\\b(\\d{4} ?){3}\\d{4}\\b', with: '[card]' };
const text = (t) => ({ content: [{ type: 'text', text: t }] });

function digest(value) {
  const run = writ(['json', 'digest'], { input: JSON.stringify(value) });
  assert.equal(run.code, 0, run.err);
  return run.out.trim();
}

async function setUp(t, result, more = {}, config = {}) {
  const up = await startUpstream(t, { tools: ['get'] });
  const gw = await startGateway(t, {
    upstreams: { up: { http: up.url } },
    tools: { 'up/get': { scope: 's', arguments: ANY, duplicates: 'allow', result, ...more } }, ...config,
  });
  return { up, gw, s: await openSession(gw) };
}

const last = (gw) => gw.show(gw.decisions().at(-1).decision_id);

test('patterns are replaced in every text of a result, and the outcome has both digests', async (t) => {
  const { up, gw, s } = await setUp(t,
    { redact: [CARDS, { pattern: 'sk-[a-z]+' }],
      remove: ['/structuredContent/secret', '/content/2', '/_meta/nothing'] });
  const given = {
    content: [
      { type: 'text', text: `pay ${CARD}, ${CARD}`, annotations: { audience: ['user'], priority: 0.50 } },
      { type: 'resource', resource: { uri: `file:///sk-abc`, mimeType: 'text/plain', text: `it is ${CARD}` } },
      { type: 'text', text: 'third' },
      { type: 'image', mimeType: 'image/png', data: 'sk-abc' },
      { type: 'resource_link', uri: 'file:///x', name: 'sk-xyz' },
    ],
    structuredContent: { secret: 1, list: [`a ${CARD}`, { deep: 'sk-q', n: 1.50, big: 12345678901234567890 }], ok: true,
      none: null },
    _meta: { note: CARD },
  };
  const want = {
    content: [
      { type: 'text', text: 'pay [card], [card]', annotations: { audience: ['user'], priority: 0.5 } },
      { type: 'resource', resource: { uri: 'file:///[redacted]', mimeType: 'text/plain', text: 'it is [card]' } },
      { type: 'image', mimeType: 'image/png', data: 'sk-abc' },
      { type: 'resource_link', uri: 'file:///x', name: '[redacted]' },
    ],
    structuredContent: { list: ['a [card]', { deep: '[redacted]', n: 1.5, big: 12345678901234567890 }], ok: true,
      none: null },
    _meta: { note: '[card]' },
  };
  delete given.structuredContent.list[1].big;
  delete want.structuredContent.list[1].big;
  up.onCall = (a) => a.result(given);
  const answer = await s.call('up__get');
  assert.deepEqual(answer.result, want);
  assert.ok(!answer.text.includes(CARD.slice(0, 9)));
  const { outcome } = last(gw);
  assert.equal(outcome.outcome, 'executed');
  assert.equal(outcome.tool_output_hash, digest(given));
  assert.equal(outcome.extensions.writ.output_before, digest(given));
  assert.equal(outcome.extensions.writ.output_after, digest(want));
  assert.deepEqual(outcome.extensions.writ.output_rules,
    ['remove /structuredContent/secret', 'remove /content/2', `redact ${CARDS.pattern}`, 'redact sk-[a-z]+']);

  up.onCall = (a) => a.result(text('nothing to hide'));
  assert.equal((await s.call('up__get')).said, 'nothing to hide');
  assert.equal(last(gw).outcome.extensions, undefined);
  gw.verify();
});

test('rules for results apply to streams, both families, errors and replayed answers', async (t) => {
  const { up, gw, s } = await setUp(t, { redact: [CARDS] }, { duplicates: 'replay' });
  up.onCall = (a) => {
    const stream = a.stream();
    stream.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'on its way' } });
    stream.send({ jsonrpc: '2.0', id: a.id,
      result: { ...(a.modern ? { resultType: 'complete' } : {}), ...text(`got ${CARD}`) } });
    stream.end();
  };
  for (const caller of [s, new Caller(gw, { modern: true })]) {
    const streamed = await caller.call('up__get', { n: 1 }, { key: `k-${caller.modern}` });
    assert.ok(streamed.text.includes('on its way'));
    assert.ok(streamed.text.includes('got [card]') && !streamed.text.includes(CARD.slice(0, 9)), streamed.text);
    const calls = up.calls.length;
    const again = await caller.call('up__get', { n: 1 }, { key: `k-${caller.modern}` });
    assert.equal(up.calls.length, calls);
    assert.equal(again.said, 'got [card]');
  }
  up.onCall = (a) => a.error(-32050, `no card ${CARD}`, 200, { card: CARD, limit: 5 });
  const failed = await s.call('up__get', { n: 2 });
  assert.deepEqual(failed.error, { code: -32050, message: 'no card [card]', data: { card: '[card]', limit: 5 } });
  assert.equal(last(gw).outcome.extensions.writ.output_after,
    digest({ code: -32050, message: 'no card [card]', data: { card: '[card]', limit: 5 } }));

  up.onCall = (a) => a.result(text('free of cards'));
  await s.call('up__get', { n: 3 });
  assert.equal((await gw.reload({ ...gw.config,
    tools: { 'up/get': { ...gw.config.tools['up/get'], result: { redact: [{ pattern: 'free' }] } } } })).event,
    'reloaded');
  assert.equal((await s.call('up__get', { n: 3 })).said, '[redacted] of cards',
    'the rules of today hold for what was kept');
  gw.verify();
});

test('rules for results apply over stdio', async (t) => {
  const gw = prepare(t,
    { tools: { 'up/*': { scope: 's', arguments: ANY, duplicates: 'allow',
      result: { redact: [{ pattern: 'x{3,}' }] } } } });
  gw.configure({ ...gw.config,
    upstreams: { up: { stdio: [process.execPath, resolve(SOURCE, 'tests/support/servers/stdio-server.mjs'),
      gw.path('record')] } } });
  await gw.start();
  const s = await openSession(gw);
  assert.equal((await s.call('up__act', { act: 'echo', say: 'a xxxx b' })).said, 'a [redacted] b');
});

test('content of a forbidden size or kind is withheld, and the record says that the call ran', async (t) => {
  const { up, gw, s } = await setUp(t, { max_bytes: 100, content: ['text', 'image/*', 'structured'] });
  const cases = [
    [text('short'), undefined],
    [text('x'.repeat(61)), undefined], // 100 bytes in canonical form
    [text('x'.repeat(62)), 'result_too_large'],
    [{ content: [{ type: 'image', mimeType: 'image/png', data: 'AA==' }] }, undefined],
    [{ content: [{ type: 'image', mimeType: 'text/html', data: 'AA==' }] }, 'result_content_refused'],
    [{ content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AA==' }] }, 'result_content_refused'],
    [{ content: [{ type: 'resource', resource: { uri: 'a:b', text: '' } }] }, 'result_content_refused'],
    [{ content: [{ type: 'structured' }] }, 'result_content_refused'],
    [{ content: [{ text: 'no type' }] }, 'result_content_refused'],
    [{ content: 'text' }, 'result_content_refused'],
    [{ content: [], structuredContent: { a: 1 } }, undefined],
  ];
  assert.equal(JSON.stringify(text('x'.repeat(61))).length, 100);
  for (const [result, reason] of cases) {
    up.onCall = (a) => a.result(result);
    const answer = await s.call('up__get');
    assert.equal(answer.reason, reason, JSON.stringify(result));
    const { outcome } = last(gw);
    assert.equal(outcome.outcome, 'executed');
    assert.equal(outcome.tool_output_hash, digest(result));
    if (reason === undefined) {
      assert.deepEqual(answer.result, result);
      continue;
    }
    assert.equal(answer.refusal.execution_unknown, undefined, answer.text);
    assert.equal(outcome.extensions.writ.reason, reason);
    assert.equal(outcome.extensions.writ.output_after, undefined);
    assert.deepEqual(outcome.extensions.writ.output_rules, [reason === 'result_too_large' ? 'max_bytes' : 'content']);
  }
  gw.verify();
});

test('the policy sets isError; a rule overrides and extends the defaults', async (t) => {
  const up = await startUpstream(t, { tools: ['a', 'b', 'c'] });
  up.onCall = (a) => a.result({ ...text('no such thing: secret, hidden'), isError: true });
  const rule = { scope: 's', arguments: ANY, duplicates: 'replay' };
  const gw = await startGateway(t, {
    upstreams: { up: { http: up.url } },
    tools: { 'up/a': rule, 'up/b': { ...rule, result: { is_error: 'pass', redact: [{ pattern: 'hidden' }] } },
      'up/c': { ...rule, result: { is_error: 'refuse' } } },
    defaults: { result: { is_error: 'error', redact: [{ pattern: 'secret', with: '*' }] } },
  });
  const s = await openSession(gw);
  assert.equal((await s.call('up__a')).said, 'no such thing: *, hidden');
  assert.deepEqual([last(gw).outcome.outcome, last(gw).outcome.error_type], ['error', 'tool_error']);
  assert.equal((await s.call('up__a')).reason, 'duplicate_outcome', 'an error is not told again as a result');
  assert.equal((await s.call('up__b')).said, 'no such thing: *, [redacted]');
  assert.equal(last(gw).outcome.outcome, 'executed');
  assert.equal((await s.call('up__c')).reason, 'result_error_refused');
  assert.equal(last(gw).outcome.outcome, 'executed');
  assert.equal(up.calls.length, 3);
  gw.verify();
});

test('a rule that cannot be applied withholds the result', async (t) => {
  const { up, gw, s } = await setUp(t, { redact: [{ pattern: '(a+)+b(?=x)' }, { pattern: 'token' }] });
  const cases = [
    text(`${'a'.repeat(60)}b`), // the match limit
    { content: [], structuredContent: { token: 1 } }, // the name of a member cannot be replaced
    text('token '.repeat(10001)), // too many matches
  ];
  for (const result of cases) {
    up.onCall = (a) => a.result(result);
    const answer = await s.call('up__get');
    assert.equal(answer.reason, 'result_rule_failed', JSON.stringify(result).slice(0, 80));
    assert.ok(!answer.text.includes('token') && !answer.text.includes('a'.repeat(20)));
    assert.equal(last(gw).outcome.outcome, 'executed');
  }
  up.onCall = (a) => a.result(text('token '.repeat(10000)));
  assert.equal((await s.call('up__get')).said, '[redacted] '.repeat(10000));
  gw.verify();
});

test('writ check and writ explain cover rules for results', async (t) => {
  const { gw } = await setUp(t, { max_bytes: '1KiB', content: ['text', 'audio/*'], redact: [CARDS], remove: ['/_meta'],
    is_error: 'refuse' }, { pin: true });
  const call = JSON.stringify({ agent: 'dev', tool: 'up/get', arguments: {} });
  const told = writ(['explain', gw.configFile, '-'], { input: call });
  assert.match(told.out,
    /^result +max_bytes 1024, content text audio\/\*, remove \/_meta, redact .*, is_error refuse$/m);
  assert.match(told.out, /^pin +only with/m);
  const json = JSON.parse(writ(['explain', gw.configFile, '-', '--json'], { input: call }).out);
  assert.equal(json.pin, true);
  assert.match(json.result, /is_error refuse/);
  for (const [result, at] of [
    [{ redact: [{ pattern: '(' }] }, '/tools/up~1get/result/redact/0/pattern'],
    [{ redact: [{ pattern: 'a*' }] }, '/tools/up~1get/result/redact/0/pattern'],
    [{ redact: [{ with: 'x' }] }, '/tools/up~1get/result/redact/0'],
    [{ redact: [{ pattern: 'x', detect: ['secret.*'] }] }, '/tools/up~1get/result/redact/0'],
    [{ redact: [{ detect: ['secrets.*'] }] }, '/tools/up~1get/result/redact/0/detect'],
    [{ refuse: ['prompts.*'] }, '/tools/up~1get/result/refuse'],
    [{ redact: 'x' }, '/tools/up~1get/result/redact'],
    [{ content: ['video'] }, '/tools/up~1get/result/content'],
    [{ content: ['text/*'] }, '/tools/up~1get/result/content'],
    [{ remove: ['secret'] }, '/tools/up~1get/result/remove'],
    [{ remove: [''] }, '/tools/up~1get/result/remove'],
    [{ is_error: 'drop' }, '/tools/up~1get/result/is_error'],
    [{ max_bytes: 0 }, '/tools/up~1get/result/max_bytes'],
    [{ size: 1 }, '/tools/up~1get/result/size'],
  ]) {
    const file = gw.path('bad.yaml');
    writeFileSync(file, JSON.stringify({ tools: { 'up/get': { scope: 's', result } } }));
    const run = writ(['check', file, '--json']);
    assert.equal(run.code, 1);
    assert.ok(JSON.parse(run.out).findings.some((f) => f.severity === 'error' && f.pointer === at),
      `${JSON.stringify(result)}: ${run.out}`);
  }
});
