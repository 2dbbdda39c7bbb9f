// The configuration file: check, its JSON Schema held against an independent validator, and every
// example of docs/policy.md.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare, startGateway } from '../support/js/gateway.mjs';

const npm = createRequire(new URL('../support/npm/package.json', import.meta.url));
const { default: YAML } = await import(pathToFileURL(npm.resolve('yaml')));
const { default: Ajv } = await import(pathToFileURL(npm.resolve('ajv/dist/2020.js')));

const BIN = process.env.WRIT_BIN ?? 'build/dev/writ';
const SOURCE = process.env.WRIT_SOURCE_DIR ?? '.';
const dir = mkdtempSync(join(tmpdir(), 'writ-config-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

const writ = (...args) => {
  const run = spawnSync(BIN, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  return { code: run.status, out: run.stdout, err: run.stderr };
};
const file = (name, text) => {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
};
const source = (path) => readFileSync(join(SOURCE, path), 'utf8');
const examples = readdirSync(join(SOURCE, 'config')).filter((f) => f.endsWith('.yaml') && !f.endsWith('.cases.yaml'));

// ---- check

test('check accepts every example and describes it', () => {
  assert.ok(examples.length >= 2);
  for (const name of examples) {
    const run = writ('check', join(SOURCE, 'config', name));
    assert.equal(run.code, 0, run.out);
    assert.match(run.out,
      /: valid \(agents: \d+, upstreams: \d+, tools: \d+, warnings: \d+\)\npolicy_digest sha256:[0-9a-f]{64}\n$/);
  }
});

test('check names each rule that keeps contents, and for how long', () => {
  const path = file('kept.yaml', `agents: [{id: dev, anonymous: true}]
upstreams: {fs: {http: http://127.0.0.1:1/mcp}}
defaults: {contents: {keep: 30d}}
tools:
  fs/read: {scope: s}
  fs/write:
  - {agents: [a], scope: s, contents: {keep: 90m, results: 0}, arguments: [{arg: pin, op: required, secret: true}]}
  - {agents: [b], scope: s, contents: {keep: 0s}}
`);
  const contents = [
    { rule: 'tools/fs~1read#0', keep_us: 30 * 86_400_000_000, results_bytes: 65536, secrets: false },
    { rule: 'tools/fs~1write#0', keep_us: 5_400_000_000, results_bytes: 0, secrets: true }];
  assert.deepEqual(writ('check', path).out.match(/^contents .*$/gm), [
    'contents tools/fs~1read#0: arguments, results of at most 65536 bytes, for 30d',
    'contents tools/fs~1write#0: arguments without secrets, for 90m']);
  assert.deepEqual(JSON.parse(writ('check', path, '--json').out).contents, contents);
  const open = file('open.yaml', 'agents: [{id: dev, anonymous: true}]\ndefaults: {contents: {keep: 1h}}\n');
  assert.deepEqual(JSON.parse(writ('check', open, '--json').out).contents, [{ rule: 'defaults#unlisted_tool',
    keep_us: 3_600_000_000, results_bytes: 65536, secrets: false }]);
});

test('check reports every fault with file, line and JSON Pointer', () => {
  const path = file('bad.yaml',
    'isuer: x\ntools:\n  fs/read:\n    scope: s\n    arguments:\n    - {arg: a, op: lte, value: 5}\n  fs/read: {}\n');
  const run = writ('check', path);
  assert.equal(run.code, 1);
  assert.deepEqual(run.out.split('\n').filter((l) => l.startsWith(path) && !l.includes(': warning: ')), [
    `${path}:1: /isuer: unknown option; did you mean "issuer"?`,
    `${path}:6: /tools/fs~1read/arguments/0/op: does not know "lte"; did you mean "lt"? Use one of: eq, ne, in, ` +
      `not_in, lt, le, gt, ge, type, min_length, max_length, prefix, suffix, matches, not_matches, ` +
        `glob, under, host_in, schema, from, contains, lacks, each, min_items, max_items, required, forbidden`,
    `${path}:7: /tools/fs~1read: written twice; the first is on line 3`,
    `${path}: not valid (errors: 3, warnings: 2)`,
  ]);
  assert.equal(run.err, '');
});

test('check as JSON is one object with the same findings', () => {
  const bad = file('bad.yaml', 'loops: many\ntools: {}\n');
  const told = JSON.parse(writ('check', '--json', bad).out);
  assert.equal(told.valid, false);
  assert.deepEqual([told.errors, told.warnings], [1, 2]);
  assert.deepEqual(told.findings.find((f) => f.severity === 'error'),
    { severity: 'error', file: bad, line: 1, pointer: '/loops', message: 'must be a whole number' });
  const good = JSON.parse(writ('check', '--json', join(SOURCE, 'config/example.yaml')).out);
  assert.equal(good.valid, true);
  assert.deepEqual([good.agents, good.upstreams, good.tools, good.errors], [3, 2, 4, 0]);
  assert.match(good.policy_digest, /^sha256:[0-9a-f]{64}$/);
});

test('check escapes text that a file quotes', () => {
  const run = writ('check', file('evil.yaml', '"\\e[31m\\nconfig.yaml:1: valid": 1\n'));
  assert.equal(run.code, 1);
  assert.doesNotMatch(run.out, /\x1b/);
  assert.doesNotMatch(run.out, /^config\.yaml:1: valid/m);
});

test('check refuses invalid command lines and unreadable files', () => {
  assert.equal(writ('check').code, 2);
  assert.equal(writ('check', '--schema', '--manual').code, 2);
  assert.equal(writ('check', '--schema', 'x.yaml').code, 2);
  assert.equal(writ('check', join(dir, 'nothing.yaml')).code, 3);
  assert.equal(writ('check', file('binary.yaml', Buffer.from([0xff, 0, 1, 2]))).code, 1);
});

test('a configuration in JSON is the same as in YAML', () => {
  const value = YAML.parse(source('config/example.yaml'));
  const digest = (path) => JSON.parse(writ('check', '--json', path).out).policy_digest;
  const text = JSON.stringify(value, null, '\t');
  assert.equal(digest(file('compact.json', JSON.stringify(value))), digest(file('example.json', text)));
});

// ---- the schema

const schema = JSON.parse(source('config/writ.schema.json'));
const validate = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allErrors: true }).compile(schema);
const accepts = (text) => validate(YAML.parse(text, { logLevel: 'silent' }));

test('the schema in the tree is that of the program', () => {
  assert.equal(writ('check', '--schema').out, source('config/writ.schema.json'));
  assert.equal(writ('check', '--manual').out, source('docs/configuration.md'));
});

test('the schema accepts every example', () => {
  for (const name of examples) {
    assert.ok(accepts(source(join('config', name))), `${name}: ${JSON.stringify(validate.errors)}`);
  }
});

// What both refuse: program and schema agree about structure.
const FAULTS = ['isuer: x', 'loops: many', 'loops: 257', 'loops: -1', 'tls: {certificate: x}', 'hosts: a',
  'listen: example.com',
  'log: {level: loud}', 'limits: {body: 1TB}', 'limits: {idle_timeout: 60}', 'limits: {queue: 0}', 'profile: mine',
  'agents: [{id: a}]', 'agents: [{id: a, bearer_sha256: xyz}]', 'agents: [{anonymous: true, issuer: x, id: a}]',
  'upstreams: {a: {}}', 'upstreams: {a: {stdio: [x], http: "http://h"}}', 'upstreams: {a__b: {stdio: [x]}}',
  'upstreams: {"a b": {stdio: [x]}}',
  'upstreams: {a: {stdio: [x], connections: 5}}',
  'upstreams: {a: {http: "https://h", authorization: {file: f, client_id: c}}}',
  'upstreams: {a: {http: "https://h", authorization: {file: f, issuer: "https://i"}}}',
  'reviewers: {a: {webhook: "https://h", secret: s, worker: [x]}}', 'reviewers: {a: {worker: [x], secret: s}}',
  'tools: {t: {scope: s}}', 'tools: {u/t: []}', 'tools: {u/t: {scop: s}}',
  'tools: {u/t: {scope: s, duplicates: sometimes}}',
  'tools: {u/t: {scope: s, shadow: maybe}}', 'tools: {u/t: {scope: s, state: {}}}',
  'tools: {u/t: {scope: s, budgets: [{window: 1h}]}}',
  'tools: {u/t: {scope: s, budgets: [{calls: 5}]}}', 'tools: {u/t: {scope: s, arguments: [{op: required}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: lte, value: 5}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: le, value: abc}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: le}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: in, value: x}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: in, value: []}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: type, value: text}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: max_length, value: -1}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: under, value: a/b}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: host_in, value: "HTTP://X"}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: each, value: {op: le, value: x}}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: required, value: 5}]}}',
  'defaults: {unlisted_tool: allow}', 'credential: {alg: HS256}', 'credential: {lifetime: 60}'];

test('program and schema refuse the same faults', () => {
  for (const fault of FAULTS) {
    assert.equal(writ('check', file('fault.yaml', `${fault}\n`)).code, 1, fault);
    assert.ok(!accepts(fault), fault);
  }
});

const GOOD = ['{}', 'limits: {body: 65536}', 'loops: 0', 'agents: []', 'tools: {}',
  'tools: {u/t: [{scope: s}, {roles: [a]}]}',
  'agents: [{issuer: i, audience: a, jwks: /etc/k.json, claims: {role: /r}}]',
  'tools: {u/t: {scope: s, arguments: [{arg: "", op: type, value: any}, {arg: a, op: eq, value: {x: [1, null]}}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: each, value: [{op: type, value: [string, "null"]}, {arg: b, op: ' +
    'forbidden}]}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: lt, value: "1e3"}, {arg: a, op: ge, value: -0.5}, {arg: b, op: ' +
    'min_items, value: "2"}]}}',
  'tools: {u/t: {scope: s, arguments: [{arg: a, op: under, value: [/a, /b]}, {arg: b, op: host_in, value: ' +
    '["*.a.b:80", "[::1]"]}]}}',
  'tools: {u/t: {scope: s, state: {tool: u/x, arguments: {a: [1, "{b}"]}, select: [/c]}, budgets: [{window: 1d, ' +
    'calls: 0}]}}'];

test('program and schema accept the same files', () => {
  for (const good of GOOD) {
    const run = writ('check', file('good.yaml', `${good}\n`));
    assert.equal(run.code, 0, run.out);
    assert.ok(accepts(good), `${good}: ${JSON.stringify(validate.errors)}`);
  }
});

test('every default that the schema names is one that it accepts', () => {
  const walk = (node, path) => {
    if (node === null || typeof node !== 'object') return;
    if (Object.hasOwn(node, 'default') && (node.type || node.enum || node.anyOf)) {
      const ok = new Ajv({ strict: false }).compile(node);
      assert.ok(ok(node.default), path);
    }
    for (const [key, child] of Object.entries(node)) walk(child, `${path}/${key}`);
  };
  walk(schema, '');
});

// ---- the documentation

test('the program decides every example of docs/policy.md as the page says', () => {
  const page = source('docs/policy.md');
  const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map((m) => m[1]);
  const judged = blocks.filter((b) => /^# (allow|deny) /m.test(b));
  assert.ok(judged.length > 20);
  const tools = {};
  const cases = [];
  judged.forEach((block, i) => {
    for (const [, expect, json] of block.matchAll(/^# ((?:allow|deny \w+)) (\{.*\})$/gm)) {
      const [decision, reason = 'policy_ok'] = expect.split(' ');
      const text = `{"agent":{"id":"x"},"tool":"u/t${i}","arguments":${json}}`;
      const name = JSON.stringify(json);
      cases.push(`- {name: ${name}, call: ${text}, expect: {decision: ${decision}, reason: ${reason}}}`);
    }
    tools[`u/t${i}`] = block.replace(/^/gm, '      ');
  });
  const config = file('docs.yaml', 'tools:\n' + Object.entries(tools)
    .map(([name, list]) => `  ${name}:\n    scope: s\n    arguments:\n${list}`).join('\n'));
  const run = writ('policy', 'test', file('docs.cases.yaml', `config: ${config}\ncases:\n${cases.join('\n')}\n`));
  assert.equal(run.code, 0, run.out + run.err + readFileSync(config, 'utf8'));
  assert.match(run.out, new RegExp(`^${cases.length} passed, 0 failed\n$`));
});

test('every op has its place in docs/policy.md', () => {
  const page = source('docs/policy.md');
  const ops = schema.$defs.constraint.properties.op.enum;
  assert.equal(ops.length, 27);
  for (const op of ops) assert.match(page, new RegExp(`^### .*\\b${op}\\b`, 'm'), op);
  for (const op of ops) assert.match(page, new RegExp(`op: ${op}[,}\n]`), op);
});

test('the other examples of docs/policy.md are parts of a valid file', () => {
  const blocks = [...source('docs/policy.md').matchAll(/```yaml\n([\s\S]*?)```/g)].map((m) => m[1])
    .filter((b) => !/^# (allow|deny) /m.test(b));
  assert.ok(blocks.length >= 3);
  const included = (b) => /^(include|agreed):/.test(b);
  const [main, proposed] = blocks.filter(included);
  mkdirSync(join(dir, 'policies'));
  file('policies/notes.yaml', proposed);
  const whole = JSON.parse(writ('check', '--json', file('including.yaml', main)).out);
  assert.deepEqual([whole.valid, whole.upstreams, whole.tools], [true, 1, 1]);
  for (const block of blocks.filter((b) => !included(b))) {
    const text = block.startsWith('tools:') ? block
      : `tools:\n  u/t:\n    ${block.includes('scope:') ? '' : 'scope: s'}\n${block.replace(/^/gm, '    ')}`;
    const run = writ('check', file('block.yaml', text));
    assert.equal(run.code, 0, run.out + text);
  }
});

// ---- the gateway with such a configuration

test('a gateway whose key has another algorithm than configured does not start', { timeout: 60000 },
    async (t) => {
  const gateway = prepare(t, { credential: { alg: 'RS256' }, tools: {} });
  await assert.rejects(gateway.start(), /did not start/);
  assert.match(gateway.logText, /the active key is for ES256, and credential\.alg says RS256/);
});

test('a faulty file stops a start, and a running gateway keeps its configuration', { timeout: 60000 },
    async (t) => {
  const faulty = prepare(t, { tools: {}, no_such_option: 1 });
  await assert.rejects(faulty.start(), /did not start/);
  assert.match(faulty.logText, /unknown option/);
  const gateway = await startGateway(t, { tools: {} });
  const line = await gateway.reload('tools: {u/t: {scop: s}}\n');
  assert.notEqual(line.event, 'reloaded');
  assert.match(JSON.stringify(line), /:1: \/tools\/u~1t\/scop: unknown option; did you mean/);
  assert.equal((await gateway.admin('/readyz')).status, 200);
});

test('an obstacle to a start is reported by name', { timeout: 60000 }, async (t) => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await new Promise((r) => taken.once('listening', r));
  const address = `127.0.0.1:${taken.address().port}`;
  const prepared = (folder) => {
    mkdirSync(join(folder, 'folder'), { mode: 0o700 });
    writeFileSync(join(folder, 'text'), 'hunter2 and some more', { mode: 0o600 });
    writeFileSync(join(folder, 'empty'), '', { mode: 0o600 });
  };
  for (const [config, told, change] of [
    [{ listen: address },
      `/writ.yaml:2: listen: ${address}: listener: cannot bind the address: Address already in use`],
    [{ admin_listen: address },
      `/writ.yaml:3: admin_listen: ${address}: listener: cannot bind the address: Address already in use`],
    [{ keys: 'none' },
      'none: cannot open the directory: No such file or directory. Make the keys with: writ keys new --dir /'],
    [{ keys: 'text' }, 'text: cannot open the directory: Not a directory'],
    [{ keys: 'folder' }, 'folder: keys.json: cannot open: No such file or directory'],
    [{}, 'keys: mode 0777 gives writing to others (chmod 700)', (g) => chmodSync(g.path('keys'), 0o777)],
    [{ store: 'sqlite://none' }, '/none does not exist; `writ ledger init` makes one'],
    [{ store: 'sqlite://folder' }, '/folder, is something else, not a regular file'],
    [{ store: 'sqlite://text' }, 'text: database: file is not a database'],
    [{ store: 'sqlite://empty' }, 'empty: the file is not a ledger'],
    [{ tls: { cert: 'none', key: 'text' } }, 'none: cannot open: No such file or directory'],
  ]) {
    const gateway = prepare(t, { tools: {}, ...config }, { prepare: prepared });
    change?.(gateway);
    await assert.rejects(gateway.start(), /did not start/, told);
    assert.ok(gateway.logText.includes(told), `${told}\n${gateway.logText}`);
    assert.ok(!gateway.logText.includes('hunter2'), told);
  }
});

test('a stdio server that cannot start is reported with its reason', { timeout: 60000 }, async (t) => {
  const gateway = await startGateway(t, { upstreams: { up: { stdio: ['/nonexistent/server'] } }, tools: {} });
  const line = await gateway.waitLog('upstream_ended');
  assert.deepEqual([line.upstream, line.why, line.error], ['up', 'not_started', 'No such file or directory']);
});

test('paths in a file begin at its folder, wherever the program is started', { timeout: 60000 }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const name = 'etc'.repeat(40); // a long one: a path is as long as it is
  const etc = join(dir, name);
  mkdirSync(join(etc, 'more'), { recursive: true, mode: 0o700 });
  writ('keys', 'new', '--dir', join(etc, 'keys'));
  writ('ledger', 'init', join(etc, 'more/ledger.db'));
  const said = (config, file = `${name}/writ.yaml`, cwd = dir) => {
    writeFileSync(join(etc, 'writ.yaml'),
      JSON.stringify({ listen: '127.0.0.1:0', tools: {}, store: 'sqlite://more/ledger.db', ...config }));
    const run = spawnSync(BIN, ['serve', file], { cwd, encoding: 'utf8', timeout: 20000 });
    return run.stderr.split('\n').filter(Boolean).map((l) => JSON.parse(l)).find((l) => l.event === 'not_started').why;
  };
  const none = (path) => `${join(etc, path)}: cannot open`;
  const up = { http: 'https://127.0.0.1:1/mcp' };
  for (const [what, config] of Object.entries({
    keys: { keys: 'none-keys' }, store: { store: 'sqlite://none-store' },
    cert: { tls: { cert: 'none-cert', key: 'none-key' } },
    admin: { admin_listen: '127.0.0.1:0', admin_tls: { cert: 'none-admin', key: 'none-key' } },
    jwks: { agents: [{ issuer: 'https://i.example', audience: 'a', jwks: 'none-jwks', tenant: 't' }] },
    ca: { upstreams: { up: { ...up, ca: 'none-ca' } } },
    file: { upstreams: { up: { ...up, authorization: { file: 'none-file' } } } },
    pinned: { ledger: { pinned: 'none-pinned' } },
  })) {
    const why = said(config);
    assert.match(why, new RegExp(`${etc}/none-`), `${what}: ${why}`);
    assert.equal(said(config, join(etc, 'writ.yaml'), '/'), why.replaceAll(`${name}/writ.yaml`, join(etc, 'writ.yaml')),
      `${what}: the same from anywhere`);
  }
  assert.ok(said({ keys: join(dir, 'none') }).startsWith(`${dir}/none: cannot open`), 'an absolute path stays');
  assert.ok(said({ keys: 'none-keys' }).startsWith(none('none-keys')));
});
