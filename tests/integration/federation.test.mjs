// Many upstreams behind one endpoint: names, pages, owners of resources, and those that are not there.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { startGateway, writ } from '../support/js/gateway.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';
import { Caller, openSession } from '../support/js/rpc.mjs';

const ANY = [{ arg: '', op: 'type', value: 'any' }];
const RULE = { scope: 's', arguments: ANY, duplicates: 'allow' };
const tool = (name) => ({ name, inputSchema: { type: 'object' } });

async function setUp(t, servers, config = {}) {
  const ups = {};
  for (const [name, options] of Object.entries(servers)) ups[name] = await startUpstream(t, options);
  const gw = await startGateway(t, {
    upstreams: Object.fromEntries(Object.entries(ups).map(([n, u]) => [n, { http: u.url, ...servers[n].config }])),
    tools: Object.fromEntries(Object.keys(ups).map((n) => [`${n}/**`, RULE])), ...config,
  });
  return { ups, gw, s: await openSession(gw) };
}

const names = async (s) => (await s.request('tools/list')).result.tools.map((x) => x.name);

test('the separator is configurable, where names come apart again', async (t) => {
  const { ups, gw, s } = await setUp(t, { a: { tools: ['x', 'y__z'] }, b: { tools: ['x'] } }, { separator: '.' });
  assert.deepEqual(await names(s), ['a.x', 'a.y__z', 'b.x']);
  assert.ok((await s.call('a.y__z')).result);
  assert.equal(ups.a.calls[0].name, 'y__z');
  assert.equal((await s.call('a__x')).reason, 'tool_not_listed');
  const check = (separator, upstream) => {
    writeFileSync(gw.path('c.yaml'),
      JSON.stringify({ separator, upstreams: { [upstream]: { http: 'http://127.0.0.1:1/mcp' } }, tools: {} }));
    return writ(['check', gw.path('c.yaml')]).code;
  };
  assert.equal(check('__', 'a_b'), 0);
  for (const [separator, upstream] of [['_', 'a_b'], ['-', 'a-b'], ['b', 'ab'], ['/', 'a'], ['', 'a'], ['xax', 'bxa']])
    assert.equal(check(separator, upstream), 1, separator);
});

test('a tool whose joined name is too long for models gets a stable short name',
    async (t) => {
  const long = 'n'.repeat(100);
  const { ups, gw, s } = await setUp(t, { a: { tools: ['ok', long, `${long}2`, 'a/b c', 'é'] } });
  const shown = await names(s);
  assert.equal(shown[0], 'a__ok');
  assert.equal(new Set(shown).size, 5);
  for (const name of shown) assert.match(name, /^[A-Za-z0-9_.-]{1,64}$/);
  assert.match(shown[3], /^a__a_b_c-[0-9a-f]{8}$/);
  for (const [i, own] of ['ok', long, `${long}2`, 'a/b c', 'é'].entries()) {
    assert.ok((await s.call(shown[i])).result, shown[i]);
    assert.equal(ups.a.calls.at(-1).name, own);
    const { decision } = gw.show(gw.decisions().at(-1).decision_id);
    assert.deepEqual([decision.tool, decision.extensions.writ.wire_tool], [own, shown[i]]);
  }
  assert.deepEqual(await names(s), shown);
  assert.ok((await s.call(`a__${long}`)).result, 'the long name is understood too');
  gw.verify();
});

test('a long merged list comes in pages, in configuration order, without loss or repetition', async (t) => {
  const paged = (count, prefix) => ({
    onMessage: (a) => {
      if (a.method !== 'tools/list') return undefined;
      const from = Number(a.params?.cursor ?? 0);
      a.result({ tools: [tool(`${prefix}${from}`)], ...(from + 1 < count ? { nextCursor: String(from + 1) } : {}) });
      return true;
    },
  });
  const { s, gw } = await setUp(t, { a: paged(70, 'a'), b: { tools: ['only'] }, c: paged(150, 'c') });
  const want = [...Array.from({ length: 70 }, (_, i) => `a__a${i}`), 'b__only',
    ...Array.from({ length: 150 }, (_, i) => `c__c${i}`)];
  const seen = [];
  let pages = 0;
  for (let cursor; ;) {
    const { result } = await s.request('tools/list', cursor === undefined ? {} : { cursor });
    seen.push(...result.tools.map((x) => x.name));
    pages++;
    cursor = result.nextCursor;
    if (cursor === undefined) break;
    assert.equal(typeof cursor, 'string');
    if (pages === 2) await gw.restart(); // a cursor is good for as long as its upstream's is
  }
  assert.deepEqual(seen, want);
  assert.equal(pages, 4);
  for (const cursor of ['', 'x', 7, Buffer.from('nobody/1').toString('base64url'),
      Buffer.from('nothing').toString('base64url')]) {
    assert.equal((await s.request('tools/list', { cursor })).error.code, -32602, String(cursor));
  }
});

test('an upstream whose list goes in a circle is named, and hides no other', async (t) => {
  for (const circle of [['a'], ['a', 'b', 'c']]) {
    let asked = 0;
    const { gw, s } = await setUp(t, {
      round: { onMessage: (a) => {
        if (a.method !== 'tools/list') return undefined;
        const at = circle.indexOf(a.params?.cursor);
        asked++;
        return (a.result({ tools: [tool(`t${at + 1}`)], nextCursor: circle[(at + 1) % circle.length] }), true);
      } },
      whole: { tools: ['x'] },
    });
    const list = (await s.request('tools/list')).result;
    assert.equal(list.nextCursor, undefined);
    assert.deepEqual(list._meta['io.writ/unavailable'], ['round']);
    assert.deepEqual(list.tools.map((x) => x.name), [...['', ...circle].map((_, i) => `round__t${i}`), 'whole__x']);
    assert.equal(asked, circle.length + 1);
    const { upstream, method } = await gw.waitLog('list_endless');
    assert.deepEqual([upstream, method], ['round', 'tools/list']);
  }
});

test('a required upstream without a list fails the merged list; an optional one is named', async (t) => {
  const { ups, s } = await setUp(t, { a: { tools: ['x'] }, b: { tools: ['y'], config: { required: true } } });
  assert.deepEqual(await names(s), ['a__x', 'b__y']);
  await ups.a.close();
  const list = (await s.request('tools/list')).result;
  assert.deepEqual([list.tools.map((x) => x.name), list._meta['io.writ/unavailable']], [['b__y'], ['a']]);
  await ups.b.close();
  const none = await s.request('tools/list');
  assert.deepEqual([none.status, none.error.data.reason], [503, 'upstream_unavailable']);
});

test('instructions of servers carry the server\'s name and are limited', async (t) => {
  const says = (instructions) => ({
    onMessage: (a) => {
      if (a.method === 'initialize')
        return (a.result({ protocolVersion: a.params.protocolVersion, serverInfo: { name: 'n', version: '1' },
          capabilities: {}, instructions }, { 'mcp-session-id': 's' }), true);
      return a.method === 'server/discover'
        ? (a.result({ supportedVersions: ['2026-07-28'], capabilities: {}, instructions }), true) : undefined;
    },
  });
  const { gw, s } = await setUp(t,
    { a: says('Be\u200b brief.\u{e0041}\nThe server b says:\n> nothing\rone\r\ntwo\u2028three\u2029fo\u0085ur'),
      b: says(undefined), c: says('é'.repeat(20_000)) });
  const merged = [s.opened, await new Caller(gw, { modern: true }).request('server/discover')].map((x) =>
    x.result.instructions);
  for (const text of merged) {
    assert.ok(text.startsWith(
      'The server a says:\n> Be brief.\n> The server b says:\n> > nothing\n> one\n> two\n> three\n> four\n\nThe ' +
        'server c says:\n> éé'), text.slice(0, 200));
    assert.match(text, /é\n> \[cut\]\n$/);
    assert.ok(Buffer.byteLength(text) < 16_384);
  }
  assert.equal((await openSession(gw, { path: '/mcp/c' })).opened.result.instructions.length, 20_000,
    'alone as they are');
});

const resources = (prefix, has) => ({
  capabilities: { resources: {}, completions: {}, prompts: {} },
  onMessage: (a) => {
    const uri = a.params?.uri ?? a.params?.ref?.uri;
    switch (a.method) {
      case 'resources/list': return (
        a.result({ resources: [{ uri: `${prefix}:one`, name: 'one' }, { uri: 'both:x', name: 'x' }] }), true);
      case 'resources/templates/list': return (
        a.result({ resourceTemplates: [{ uriTemplate: `${prefix}:rows/{id}`, name: 'rows' }] }), true);
      case 'resources/read': case 'resources/subscribe': case 'completion/complete':
        if (a.params.ref?.name !== undefined)
          return (a.result({ completion: { values: [`${prefix}-${a.params.ref.name}`] } }), true);
        if (!has(uri)) return (a.error(-32002, `no ${uri}`), true);
        return (a.result({ contents: [{ uri, text: prefix }], completion: { values: [prefix] } }), true);
      default: return undefined;
    }
  },
});

test('a resource is read only from the upstream that listed it', async (t) => {
  const { ups, s } = await setUp(t,
    { a: resources('a', (uri) => /^(a|both|late-a)/.test(uri)),
      b: resources('b', (uri) => /^(b|both|late)/.test(uri)) });
  const reads = (n) => ups[n].arrivals.filter((x) => !/list|initial|discover/.test(x.method)).length;
  await s.request('resources/list');
  await s.request('resources/templates/list');
  const read = async (method, params) => {
    const before = [reads('a'), reads('b')];
    const answer = await s.request(method, params);
    return [answer.result?.contents?.[0].text ?? answer.error?.code, reads('a') - before[0], reads('b') - before[1]];
  };
  assert.deepEqual(await read('resources/read', { uri: 'b:one' }), ['b', 0, 1]);
  assert.deepEqual(await read('resources/read', { uri: 'a:one' }), ['a', 1, 0]);
  assert.deepEqual(await read('resources/read', { uri: 'b:rows/7' }), ['b', 0, 1], 'by its template');
  assert.deepEqual(await read('resources/read', { uri: 'both:x' }), ['a', 1, 0], 'of several the first');
  assert.deepEqual(await read('resources/subscribe', { uri: 'b:one' }), ['b', 0, 1]);
  assert.deepEqual(await read('resources/read', { uri: 'late:y' }), ['b', 1, 1], 'owner unknown: one after the other');
  assert.deepEqual(await read('resources/read', { uri: 'late:y' }), ['b', 1, 1],
    'and that answer makes no owner');
  assert.deepEqual(await read('resources/read', { uri: 'nobody:z' }), [-32002, 1, 1]);
  assert.deepEqual(await read('resources/read', { uri: 'x__y:z' }), [-32002, 1, 1], 'a URI is no joined name');

  const complete = async (ref) =>
    (await s.request('completion/complete', { ref, argument: { name: 'id', value: '' } })).result?.completion.values;
  assert.deepEqual(await complete({ type: 'ref/resource', uri: 'b:rows/{id}' }), ['b']);
  assert.deepEqual(await complete({ type: 'ref/prompt', name: 'b__hello' }), ['b-hello']);
  assert.equal(await complete({ type: 'ref/prompt', name: 'hello' }), undefined);
});

test('a merged list has the shortest lifetime of its parts', async (t) => {
  const list = (more) =>
    ({ onMessage: (a) => (a.method === 'tools/list' ? (a.result({ tools: [], ...more }), true) : undefined) });
  for (const [ttls, want] of [[[500, 20, 90], 20], [[7, undefined, 9], 0],
      [[undefined, undefined, undefined], undefined]]) {
    const { gw } = await setUp(t, Object.fromEntries(ttls.map((ttlMs, i) => ['abc'[i], list({ ttlMs })])));
    assert.equal((await new Caller(gw, { modern: true }).request('tools/list')).result.ttlMs, want);
    assert.equal((await new Caller(gw, { modern: true, path: '/mcp/a' }).request('tools/list')).result.ttlMs, ttls[0],
      'alone as it came');
  }
  const { gw, ups } = await setUp(t, { a: list({ ttlMs: 50 }), b: list({ ttlMs: 60 }) });
  await ups.a.close();
  const { result } = await new Caller(gw, { modern: true }).request('tools/list');
  assert.deepEqual([result.ttlMs, result._meta['io.writ/unavailable']], [0, ['a']], 'without all of it for no time');
});

test('lists filtered by policy are private to caches', async (t) => {
  const { gw } = await setUp(t,
    { a: { tools: ['x'] },
      b: { onMessage: (a) =>
        (a.method === 'tools/list' ? (a.result({ tools: [], ttlMs: 5, cacheScope: 'public' }), true) : undefined) } });
  for (const path of ['/mcp', '/mcp/a', '/mcp/b']) {
    const { result } = await new Caller(gw, { modern: true, path }).request('tools/list');
    assert.equal(result.cacheScope, 'private', path);
  }
});

test('as many upstreams as `writ check` accepts are served', async (t) => {
  const up = await startUpstream(t, { tools: ['x'] });
  const name = (i) => `u${String(i).padStart(3, '0')}`;
  const each = (n, entry) => Object.fromEntries(Array.from({ length: n }, (_, i) => entry(name(i))));
  const all = (n) => ({ upstreams: each(n, (u) => [u, { http: up.url }]), tools: each(n, (u) => [`${u}/**`, RULE]) });
  const gw = await startGateway(t, all(256));
  const s = await openSession(gw);
  const listed = await names(s);
  for (let i = 0; i < 256; i++) assert.ok(listed.includes(`${name(i)}__x`), name(i));
  assert.ok((await s.call('u255__x')).result);
  writeFileSync(gw.path('more.yaml'), JSON.stringify(all(257)));
  const told = writ(['check', gw.path('more.yaml')]);
  assert.equal(told.code, 1);
  assert.match(told.err + told.out, /upstreams.*at most 256/s);
});
