// writ tools scan: what servers list, and what is odd about it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BIN, SOURCE, startGateway, until, writ } from '../support/js/gateway.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const NODE = resolve(SOURCE, 'tests/support/node');
const OFFICIAL = resolve(SOURCE, 'tests/support/npm/node_modules/@modelcontextprotocol');
const LISTING = resolve(SOURCE, 'tests/support/servers/listing-stdio.mjs');
const POISONED = resolve(SOURCE, 'tests/support/gateway/poisoned.json');
const { poisoned, honest } = JSON.parse(readFileSync(POISONED, 'utf8'));
const UNSEEN = new RegExp('[\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u2069\\ufe00-\\ufe0f\\u{e0000}-\\u{e01ef}]', 'u');

/** Runs `writ tools scan`, while servers of this process answer it; as text and as JSON. */
async function scan(...args) {
  const run = (more) => new Promise((done) => execFile(resolve(BIN), ['tools', 'scan', ...more, ...args],
    { encoding: 'utf8' }, (error, out, err) => done({ code: error?.code ?? 0, out, err })));
  const [text, json] = [await run([]), await run(['--json'])];
  assert.equal(json.err, '');
  assert.equal(text.code, json.code);
  assert.doesNotMatch(text.out, UNSEEN);
  return { code: json.code, text: text.out, ...JSON.parse(json.out) };
}
const signs = (one) => one.oddities.map((odd) => odd.kind === 'addresses' ? `${odd.kind}:${odd.sign}` : odd.kind);

function clientFile(t, mcpServers) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-scan-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }));
  return join(folder, 'mcp.json');
}

test('the servers of a client are listed, and official ones are not odd', async (t) => {
  const file = clientFile(t, {
    files: { command: NODE, args: [join(OFFICIAL, 'server-filesystem/dist/index.js'), tmpdir()] },
    memory: { command: NODE, args: [join(OFFICIAL, 'server-memory/dist/index.js')] },
    everything: { command: NODE, args: [join(OFFICIAL, 'server-everything/dist/index.js')] },
  });
  const { code, servers, oddities, text } = await scan('--client-config', file);
  assert.deepEqual(servers.map((one) => [one.name, one.answered]),
    [['files', true], ['memory', true], ['everything', true]]);
  assert.deepEqual(servers.flatMap((one) => [one, ...one.tools].flatMap(signs)), []);
  assert.equal(oddities, 0);
  assert.equal(code, 0);
  assert.match(text, /^files: secure-filesystem-server \S+, MCP 2025-11-25, tools: 14$/m);
  assert.match(text, /^ {2}reads +read_text_file$/m);
  assert.match(text, /^ {2}destroys +write_file$/m);
});

test('each poisoned definition has its signs, an honest one has none', async () => {
  const bad = await scan('--', NODE, LISTING, POISONED, 'poisoned');
  assert.equal(bad.code, 1);
  const found = new Map(bad.servers[0].tools.map((tool) => [tool.tool, signs(tool)]));
  for (const { why, signs: wanted, definition } of poisoned)
    for (const sign of wanted) assert.ok(found.get(definition.name).includes(sign), `${why}: ${sign}`);
  assert.match(bad.text, /! addresses \/description: prompt.conceal@1: do not tell/);
  const good = await scan('--', NODE, LISTING, POISONED, 'honest');
  assert.deepEqual([good.code, good.oddities, good.servers[0].tools.length], [0, 0, honest.length]);
});

test('a tool that is taken for that of another server is named with it', async (t) => {
  const list = (description, ...names) => startUpstream(t, { tools: names.map((name) => (
    { name, inputSchema: { type: 'object' }, ...(name === 'pay' && { description }) })) });
  const [one, two] = [await list('Pays.', 'read_file', 'pay', 'same'),
    await list('Pays more.', 'Read-File', 'pay', 'same', 'other')];
  const { code, servers } = await scan(one.url, two.url);
  assert.equal(code, 1);
  assert.deepEqual(servers.flatMap((server) => server.tools.flatMap((tool) => tool.oddities.map(
    (odd) => [tool.tool, odd.kind, odd.sign, odd.quote.split('/').at(-1)]))),
  [['Read-File', 'imitates', 'looks the same', 'read_file'], ['pay', 'repeats', '', 'pay']]);
});

test('definitions are compared with those that were seen and accepted', async (t) => {
  const read = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' } };
  const up = await startUpstream(t, { tools: [read] });
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } },
    tools: { 'up/*': { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] } } });
  assert.equal((await scan('--config', gw.configFile)).oddities, 0, 'nothing was seen yet');
  await (await openSession(gw)).request('tools/list');
  await until(() => writ(['tools', 'list', gw.configFile], { cwd: gw.dir }).out.includes('up/read'), 'it to be seen');
  assert.equal((await scan('--config', gw.configFile)).oddities, 0);
  up.tools = [{ ...read, description: 'Reads all.' }, { ...read, name: 'write' }];
  const { servers } = await scan('--config', gw.configFile);
  assert.deepEqual(servers[0].tools.map((tool) => [tool.tool, signs(tool)]),
    [['read', ['changed']], ['write', ['new']]]);
});

test('a server that is not asked or does not answer is named with the reason', async (t) => {
  const file = clientFile(t, { gone: { url: 'http://127.0.0.1:1/mcp' },
    old: { type: 'sse', url: 'https://example.com/' },
    dead: { command: '/bin/sh', args: ['-c', 'exit 3'] } });
  const { code, servers, oddities, text } = await scan('--client-config', file);
  assert.equal(code, 1);
  assert.equal(oddities, 0);
  assert.deepEqual(servers.map((one) => one.answered), [false, false, false]);
  assert.match(servers[0].why, /no address/);
  assert.match(servers[1].why, /HTTP\+SSE/);
  assert.match(servers[2].why, /exit code 3/);
  assert.match(text, /^dead: not asked, or no answer$/m);
});

test('one source of servers is needed', () => {
  assert.equal(writ(['tools', 'scan']).code, 2);
  assert.equal(writ(['tools', 'scan', '--config', 'a', 'http://127.0.0.1/']).code, 2);
  assert.equal(writ(['tools', 'scan', '--client-config', '/nowhere']).code, 3);
  assert.equal(writ(['tools', 'scan', 'http://example.com/']).code, 3);
});

test('the page names every kind and every sign of the table', () => {
  const table = readFileSync(resolve(SOURCE, 'gateway/mcp/oddity.tbl.h'), 'utf8');
  const page = readFileSync(resolve(SOURCE, 'docs/policy.md'), 'utf8');
  const detectors = readFileSync(resolve(SOURCE, 'policy/detect/detector.tbl.h'), 'utf8');
  const names = new Set([...table.matchAll(/^ {4}X\([A-Z]+, ([a-z_]+), "/gm),
    ...detectors.matchAll(/^DETECTOR\(PROMPT, [A-Z_]+, "([a-z_.]+)"/gm)].map((m) => m[1]));
  assert.ok(names.size > 12);
  for (const name of names) assert.ok(page.includes(`| \`${name}\` |`), name);
});
