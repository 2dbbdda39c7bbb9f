// writ check --tools: rules held against the definitions that the servers list.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ANYBODY, BIN, SOURCE, startGateway, until, writ } from '../support/js/gateway.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startSdkUpstream } from '../support/servers/sdk-upstream.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const NODE = resolve(SOURCE, 'tests/support/node');
const OFFICIAL = resolve(SOURCE, 'tests/support/npm/node_modules/@modelcontextprotocol');
const official = (name) => join(OFFICIAL, name, 'dist/index.js');

/** Runs `writ`, while servers of this process answer it. */
const run = (args, options = {}) => new Promise((done) =>
  execFile(resolve(BIN), args, { encoding: 'utf8', ...options },
    (error, out, err) => done({ code: error?.code ?? 0, out, err })));

/** Checks a configuration with these upstreams and rules; gives the exit code, the answer and its findings in lines. */
async function check(t, upstreams, tools) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-check-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'writ.json');
  writeFileSync(file, JSON.stringify({ listen: '127.0.0.1:0', store: './l.db', keys: './keys', issuer: 'i',
    agents: [ANYBODY], upstreams, tools }, null, 1));
  const [json, text] = [await run(['check', '--tools', file, '--json']), await run(['check', '--tools', file])];
  assert.equal(json.err, '');
  const answer = JSON.parse(json.out);
  assert.equal(text.code, json.code);
  for (const finding of answer.findings) assert.ok(text.out.includes(`${file}:${finding.line}: ${finding.pointer}: `));
  return { code: json.code, answer, text: text.out,
    lines: answer.findings.map((f) => `${f.severity} ${f.pointer} ${f.message}`) };
}

const has = (lines, ...words) => assert.ok(lines.some((line) => words.every((word) => line.includes(word))),
  `no line with ${words.join(', ')} in:\n${lines.join('\n')}`);

test('rules for an official server that fit have notes alone, and the exit code is 0', async (t) => {
  const files = { stdio: [NODE, official('server-filesystem'), tmpdir()] };
  const { code, answer, text } = await check(t, { fs: files }, {
    'fs/list_directory': { scope: 'files', arguments: [{ arg: 'path', op: 'under', value: '/srv' }] },
    'fs/read_text_file': { scope: 'files', target: '{+path}', arguments: [{ arg: 'path', op: 'under', value: '/srv' },
      { arg: 'head', op: 'le', value: 100, optional: true }, { arg: 'tail', op: 'le', value: 100, optional: true }] },
    'fs/edit_file': { scope: 'files', arguments: [{ arg: 'path', op: 'under', value: '/srv' },
      { arg: 'dryRun', op: 'type', value: 'boolean', optional: true },
      { arg: 'edits', op: 'each', value: [{ arg: 'oldText', op: 'max_length', value: 100 },
        { arg: 'newText', op: 'max_length', value: 100 }] }] },
  });
  assert.deepEqual(answer.findings.filter((f) => f.severity !== 'note'), []);
  assert.equal(code, 0);
  assert.equal(answer.errors, 0);
  assert.deepEqual({ ...answer.asked, tools: 0 }, { servers: 1, answered: 1, tools: 0 });
  assert.ok(answer.asked.tools >= 14);
  assert.match(text, /compared with \d+ tools of 1 servers \(errors: 0, notes: 1\)/);
});

test('each fault of a rule for an official server is an error with its line', async (t) => {
  const { code, lines, answer } = await check(t, {
    fs: { stdio: [NODE, official('server-filesystem'), tmpdir()] },
    all: { stdio: [NODE, official('server-everything')] },
  }, {
    'fs/raed_file': { scope: 's' },
    'fs/write_file': { scope: 's', arguments: [{ arg: 'path', op: 'under', value: '/srv' }] },
    'fs/read_text_file': { scope: 's', arguments: [{ arg: 'path', op: 'under', value: '/srv' },
      { arg: 'head', op: 'max_length', value: 5, optional: true },
      { arg: 'tali', op: 'le', value: 5, optional: true }] },
    'all/get-sum': { scope: 's', arguments: [{ arg: 'a', op: 'eq', value: 'one' }, { arg: 'b', op: 'ge', value: 0 }] },
    'all/nothing*': { scope: 's' },
  });
  assert.equal(code, 1);
  has(lines, 'error /tools/fs~1raed_file ', 'no tool of "fs" has this name');
  has(lines, 'error /tools/fs~1write_file/arguments ', '/content', 'every call of it is refused');
  has(lines, 'error /tools/fs~1read_text_file/arguments/1 ', 'can never hold', 'a number');
  has(lines, 'error /tools/fs~1read_text_file/arguments/2 ', 'names an argument that tool');
  has(lines, 'note /tools/fs~1read_text_file/arguments ', '/tail');
  has(lines, 'error /tools/all~1get-sum/arguments/0 ', 'can never hold');
  has(lines, 'error /tools/all~1nothing* ', 'no tool of "all" matches');
  assert.equal(answer.errors, lines.filter((line) => line.startsWith('error ')).length);
  assert.ok(answer.findings.every((f) => f.line > 0));
});

test('a server over HTTP of either family is asked, and one that does not answer is an error', async (t) => {
  const sdk = await startSdkUpstream(t);
  const rule = { scope: 's', arguments: [{ arg: '', op: 'type', value: 'any' }] };
  const { code, lines, answer } = await check(t, { sdk: { http: sdk.url }, gone: { http: 'http://127.0.0.1:1/mcp' },
    dead: { stdio: ['/bin/sh', '-c', 'echo no licence >&2; exit 3', 'a-secret-argument'] } },
  { 'sdk/echo': rule, 'gone/any': rule });
  assert.equal(code, 1);
  assert.deepEqual(answer.asked, { servers: 3, answered: 1, tools: answer.asked.tools });
  has(lines, 'error /upstreams/gone "gone" (http://127.0.0.1:1/mcp): no address');
  has(lines, 'error /upstreams/dead "dead" (/bin/sh): it ended with exit code 3', 'no licence');
  assert.ok(!JSON.stringify(answer).includes('a-secret-argument'));
  assert.equal(answer.errors, 2, lines.join('\n'));
});

test('a pinned tool without its accepted definition is an error, beside a running gateway', async (t) => {
  const read = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' } };
  const up = await startUpstream(t, { tools: [read] });
  const gw = await startGateway(t, { upstreams: { up: { http: up.url } },
    tools: { 'up/read': { scope: 's', pin: true, arguments: [{ arg: '', op: 'type', value: 'any' }] } } });
  const compare = async () => {
    const { code, out } = await run(['check', '--tools', gw.configFile, '--json'], { cwd: gw.dir });
    return { code, messages: JSON.parse(out).findings.map((f) => f.message) };
  };
  const before = await compare();
  assert.equal(before.code, 1);
  has(before.messages, 'no definition is accepted of up/read');
  await (await openSession(gw)).request('tools/list');
  await until(() => writ(['tools', 'accept', gw.configFile, 'up/read'], { cwd: gw.dir }).code === 0, 'it to be seen');
  assert.deepEqual(await compare(), { code: 0, messages: [] });
  up.tools = [{ ...read, description: 'Reads, and tells.' }];
  const after = await compare();
  assert.equal(after.code, 1);
  has(after.messages, 'another definition is accepted of up/read');
});

test('--tools goes with a configuration alone, and a faulty one is not compared', async (t) => {
  assert.equal(writ(['check', '--tools', '--schema']).code, 2);
  const { code, answer } = await check(t, { up: { http: 'http://127.0.0.1:1' } }, { 'other/x': { scope: 's' } });
  assert.equal(code, 1);
  assert.equal(answer.valid, false);
  assert.equal(answer.asked, undefined);
});
