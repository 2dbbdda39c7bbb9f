// docs/json.md against the programs: every command of `writ help` and `writ-vectors help`, run with --json, and the
// members of its answer.
//
// A section of the page is a command. Its table names each member by its path (`decisions[].leaf`), with its types; a
// row that says "optional" may be missing. What is below a `record`, an `object of ...` or `any` is described
// elsewhere.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ANYBODY, SOURCE, bearer, sha256, startGateway, until, vectors, writ } from '../support/js/gateway.mjs';
import { asks, panelOf, stateOf, withCrew } from '../support/js/crewguard.mjs';
import { call as keptCall, keptLedger } from '../support/js/kept.mjs';
import { sampleLedger } from '../support/js/ledger.mjs';
import { startCluster } from '../support/js/postgres.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { resolve as resolvePeer } from '../support/npm/peers.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const SOURCES = resolve(SOURCE);
const PAGE = readFileSync(join(SOURCES, 'docs/json.md'), 'utf8');
const OPAQUE = ['any', 'record'];

/** Map(path -> { types, optional }) of the table in a section. */
function rowsOf(section) {
  return new Map([...section.matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)].map(([, path, types]) => {
    const words = types.trim().split(', ');
    return [path, { types: words[0].split(' or '), optional: words.includes('optional') }];
  }));
}
const SECTIONS = Object.fromEntries(PAGE.split(/^### (?:writ )?/m).slice(1)
  .map((section) => [section.split('\n')[0], rowsOf(section)]));

const typeOf = (value) => value === null ? 'null' : Array.isArray(value) ? 'list'
  : { string: 'text', boolean: 'flag', object: 'object' }[typeof value] ??
    (Number.isInteger(value) ? 'integer' : 'number');

/** Compares a value with the rows of its command; `path` is that of the value, '' at the top. */
function compare(rows, path, value) {
  const isElement = path.endsWith('[]') && [...rows.keys()].some((known) => known.startsWith(`${path}.`));
  const row = path === '' || isElement ? { types: ['object'] } : rows.get(path);
  const type = typeOf(value);
  assert.ok(row, `${path} is not on the page`);
  if (row.types.some((known) => OPAQUE.includes(known)) && (row.types.includes('any') || type === 'object')) return;
  assert.ok(row.types.includes(type), `${path} is ${type}, and on the page ${row.types.join(' or ')}`);
  if (type === 'list') value.forEach((item) => compare(rows, `${path}[]`, item));
  if (type !== 'object') return;
  const below = path === '' ? '' : `${path}.`;
  for (const [name, member] of Object.entries(value)) compare(rows, below + name, member);
  for (const [known, { optional }] of rows) {
    const name = known.startsWith(below) ? known.slice(below.length) : '';
    if (/^\w+$/.test(name) && !optional) assert.ok(name in value, `${known} is missing, and not optional on the page`);
  }
}

/** Runs a command with --json; compares its answer with the page, and gives it. */
function shows(command, args, { code = 0, ...options } = {}) {
  const [words, program] = command.startsWith('writ-vectors ') ? [command.slice(13), vectors] : [command, writ];
  const run = program([...words.split(' '), ...args, '--json'], options);
  assert.equal(run.code, code, `writ ${command}: ${run.out}${run.err}`);
  assert.equal(run.out.indexOf('\n'), run.out.length - 1, `writ ${command}: one line`);
  const value = JSON.parse(run.out);
  try {
    compare(SECTIONS[command], '', value);
  } catch (error) {
    error.message = `writ ${command}: ${error.message}`;
    throw error;
  }
  return value;
}

const ANY = [{ arg: '', op: 'type', value: 'any' }];
const [DEV, ANN, OPS] = [bearer('dev', { tenant: 'acme' }), bearer('ann', { tenant: 'acme' }),
  bearer('ops', { subject: 'rita' })];
const BOSS = bearer('boss', { tenant: 'acme' });

/** A gateway with a tool that has a budget, one that is reviewed, and calls of both; then it has ended. */
async function world(t) {
  const up = await startUpstream(t,
    { tools: [{ name: 'echo', inputSchema: { type: 'object' } }, { name: 'pay', inputSchema: { type: 'object' } }] });
  const gw = await startGateway(t, { agents: [DEV, ANN, OPS, BOSS].map((who) => who.entry), administrators: ['rita'],
    upstreams: { up: { http: up.url } },
    reviews: { finance: { voters: [{ id: 'ann' }], administrators: ['boss'],
      delegations: { longest: '1d', stand_ins: ['boss'] } } },
    tools: { 'up/echo': { scope: 's', arguments: ANY, duplicates: 'allow',
      budgets: [{ name: 'some', calls: 100, window: '1d' }] },
      'up/pay': { scope: 's', arguments: ANY, approval: { review: 'finance' } } } });
  for (const who of [DEV, ANN, OPS, BOSS]) writeFileSync(gw.path(who.id), `${who.token}\n`, { mode: 0o600 });
  const session = await openSession(gw, { token: DEV.token });
  return { gw, session, admin: `http://127.0.0.1:${gw.adminPort}`, token: (who) => ['--token', gw.path(who.id)] };
}

test('the page has a section for every command and no other', () => {
  const named = (run) => [...run.out.matchAll(/^ {2}([a-z]+(?: [a-z]+)?)  +\S/gm)].map((m) => m[1]);
  const ofVectors = named(vectors(['--help'])).filter((name) => name !== 'help');
  const commands = [...named(writ(['--help'])), ...ofVectors.map((name) => `writ-vectors ${name}`)];
  assert.ok(commands.length > 50);
  assert.deepEqual(Object.keys(SECTIONS).sort(), commands.sort());
});

const tested = new Set();
/** A test of commands; those that are in `names` count as tested. */
const covers = (names, run) => {
  names.forEach((name) => tested.add(name));
  test(`the page has the members of ${names.join(', ')}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-shapes-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const put = (name, value) => {
      writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value), { mode: 0o600 });
      return join(folder, name);
    };
    await run({ t, folder, put });
  });
};

covers(['help', 'json digest', 'check', 'doctor', 'explain', 'policy test', 'policy learn'], ({ folder, put }) => {
  shows('doctor', [put('faulty.yaml', '{"nothing": 1}')], { code: 1 });
  shows('help', []);
  shows('json digest', [], { input: '{}' });
  shows('check', [join(SOURCES, 'config/example.yaml')]);
  shows('check', [put('bad.yaml', '{"nothing": 1}')], { code: 1 });
  shows('check', ['--tools', put('gone.json', { listen: '127.0.0.1:0', store: './l.db', keys: './k', issuer: 'i',
    agents: [ANYBODY], upstreams: { up: { http: 'http://127.0.0.1:1' } } })], { code: 1 });
  shows('policy test', [join(SOURCES, 'config/example.cases.yaml')]);
  const config = put('writ.json',
    { listen: '127.0.0.1:8700', store: './ledger.db', keys: './keys', issuer: 'http://127.0.0.1:8700',
      agents: [ANYBODY],
    upstreams: { up: { http: 'http://127.0.0.1:9000/mcp' } },
    tools: { 'up/echo': { scope: 's', arguments: [{ arg: 'n', op: 'type', value: 'number' }],
      budgets: [{ name: 'some', calls: 2, window: '1d' }] } } });
  const call = (n) => put('call.json', { agent: 'dev', tool: 'up/echo', arguments: { n } });
  shows('explain', [config, call(1)]);
  const past = put('past.jsonl', [1, 2, 'x'].map((n) =>
    `${JSON.stringify({ agent: 'dev', tool: 'up/echo', arguments: { n } })}\n`).join(''));
  const learned = shows('policy learn', [config, '--calls', past, '--cases', join(folder, 'learned.yaml')]);
  assert.deepEqual([learned.seen, learned.learned, learned.left_out[0].reason], [3, 2, 'constraint_failed']);
  shows('policy learn', [config, '--calls', past, '--include-refused']);
  shows('explain', [config, call('x')], { code: 1 });
});

covers(['policy replay'], ({ folder, put }) => {
  const ledger = keptLedger(folder, [keptCall({ amount: 1 }), keptCall({ amount: 9 })]);
  const config = (value) => put('writ.json', { keys: './keys', upstreams: { up: { http: 'http://127.0.0.1:1' } },
    tools: { 'up/pay': { scope: 's', arguments: [{ arg: 'amount', op: 'le', value }] } } });
  shows('policy replay', [config(9), ledger]);
  shows('policy replay', [config(5), ledger, '--values', '--against', put('old.json', { tools: {} })], { code: 1 });
});

covers(['ledger contents', 'ledger erase'], async ({ t }) => {
  const up = await startUpstream(t, { onCall: (m) => m.text('done') });
  const gw = await startGateway(t, { agents: [DEV, OPS].map((who) => who.entry), content_readers: ['rita'],
    administrators: ['rita'], defaults: { contents: { keep: '1h' } }, upstreams: { up: { http: up.url } },
    tools: { 'up/echo': { scope: 's', arguments: ANY } } }, { prepare: (dir) =>
    assert.equal(writ(['keys', 'new', '--purpose', 'contents', '--dir', join(dir, 'keys')]).code, 0) });
  writeFileSync(gw.path('ops'), OPS.token, { mode: 0o600 });
  await (await openSession(gw, { token: DEV.token })).call('up__echo', { n: 1 });
  const [{ decision_id: id }] = gw.decisions();
  const admin = `http://127.0.0.1:${gw.adminPort}`;
  const where = [admin, '--token', gw.path('ops')];
  shows('ledger contents', [admin, id, '--token', gw.path('ops')]);
  shows('ledger erase', [...where, '--decision', id], { code: 1 });
  await gw.stop();
  shows('ledger contents', [gw.configFile, id], { cwd: gw.dir });
  shows('ledger erase', [gw.configFile, '--decision', id, '--yes'], { cwd: gw.dir });
  shows('ledger contents', [gw.configFile, id], { cwd: gw.dir, code: 1 });
});

covers(['ledger migrate', 'store status'], async ({ t }) => {
  const cluster = await startCluster(t);
  const store = cluster.uri();
  shows('ledger init', [store]);
  shows('ledger migrate', [store]);
  shows('store status', [store]);
  await cluster.standby(t, { synchronous: true });
  const ledger = { gateway: 'one', files: 'files' };
  const gw = await startGateway(t, { agents: [ANYBODY], upstreams: {}, tools: {}, store, ledger });
  shows('store status', [store]);
  await gw.stop(); // it would extend its lease again
  await cluster.sql("UPDATE gateway SET state = 1, lease_us = 1");
  shows('store status', [store], { code: 1 });
});

covers(['ledger list', 'ledger show', 'why', 'ledger verify', 'ledger backup', 'ledger copy', 'ledger export',
  'ledger checkpoint',
  'ledger key', 'ledger init', 'ledger archive', 'verify archive',
  'timestamp query', 'verify timestamp', 'verify receipt', 'verify bundle', 'verify flows', 'verify export', 'export',
  'records plain', 'records ours'],
      ({ put, folder }) => {
  const { path, keys, trusted } = sampleLedger();
  const list = shows('ledger list', [path]).decisions;
  for (const { decision_id: id } of list) shows('ledger show', [path, id]);
  const config = put('why.json', { store: `sqlite://${path}`, keys, agents: [ANYBODY], upstreams: {}, tools: {} });
  for (const { decision_id: id } of list) shows('why', [id, '--config', config]);
  shows('ledger verify', [path]);
  shows('ledger backup', [path, `${path}.copy`]);
  shows('ledger copy', [path, join(folder, 'moved.db')]);
  shows('store status', [path]);
  shows('ledger archive', [path, join(folder, 'log'), '--keys', keys]);
  shows('verify archive', [join(folder, 'log'), '--key', trusted]);
  rmSync(join(folder, 'log/tile'), { recursive: true });
  shows('verify archive', [join(folder, 'log'), '--key', trusted], { code: 1 });
  shows('ledger export', [path, 'one']);
  shows('ledger checkpoint', [path, '--keys', keys]);
  shows('ledger key', [path, '--keys', keys, '--history']);
  shows('ledger init', [join(folder, 'new.db')]);
  shows('export', [join(folder, 'new.db'), '--to', 'http://127.0.0.1:9/']); // nothing to send
  const checkpoint = put('checkpoint', writ(['ledger', 'checkpoint', path, '--keys', keys]).out);
  shows('timestamp query', [checkpoint]);
  shows('records plain', [], { input: writ(['ledger', 'export', path, 'one']).out });
  shows('records ours', [], { input: writ(['ledger', 'export', path, 'one']).out });
  const receipt = writ(['receipt', list.find((one) => one.outcome === 'executed').decision_id, '--ledger', path,
    '--keys', keys]).out;
  shows('verify receipt', [put('receipt', receipt), '--key', trusted]);
  shows('verify receipt', [put('receipt', receipt.replace(/[0-9]/, 'x')), '--key', trusted], { code: 1 });
  const bundle = writ(['ledger', 'export', path, '--keys', keys]).out;
  shows('verify bundle', [put('bundle', bundle), '--key', trusted]);
  shows('verify bundle', [put('bundle', bundle.split('\n').slice(0, 3).join('\n')), '--key', trusted], { code: 1 });
  shows('verify flows', [put('bundle', bundle), '--key', trusted]);
  shows('verify flows', [put('bundle', bundle.split('\n').slice(0, 3).join('\n')), '--key', trusted], { code: 1 });
  const events = writ(['export', path]).out;
  shows('verify export', [put('events', events), '--key', trusted]);
  shows('verify export', [put('events', events.split('\n').slice(1).join('\n')), '--key', trusted], { code: 1 });
  shows('verify export', [put('events', `${events}x\n`), '--key', trusted], { code: 1 });
  const openssl = (...args) => assert.equal(spawnSync('openssl', args, { cwd: folder }).status, 0, args.join(' '));
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'tsa.key', '-out', 'tsa.pem', '-subj', '/CN=tsa',
    '-addext', 'extendedKeyUsage=critical,timeStamping');
  put('serial', '01\n');
  put('tsa.cnf', '[tsa]\ndefault_tsa = own\n[own]\nserial = serial\ndefault_policy = 1.2.3\ndigests = sha256\n' +
    'signer_digest = sha256\n');
  writeFileSync(join(folder, 'query'),
    Buffer.from(JSON.parse(writ(['timestamp', 'query', checkpoint, '--json']).out).query, 'base64'));
  openssl('ts', '-reply', '-config', 'tsa.cnf', '-queryfile', 'query', '-signer', 'tsa.pem', '-inkey', 'tsa.key',
    '-out', 'answer');
  shows('verify timestamp', [checkpoint, join(folder, 'answer'), '--ca', join(folder, 'tsa.pem')]);
});

covers(['init', 'token new', 'keys new', 'keys list', 'keys rotate', 'keys trust', 'keys retire', 'keys revoke',
  'keys jwks', 'verify keys', 'verify credential'], ({ put, folder }) => {
  const server = resolvePeer('@modelcontextprotocol/server-filesystem/dist/index.js');
  shows('init', ['--out', join(folder, 'gate'), process.execPath, server, folder]);
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: {
    fs: { command: process.execPath, args: [server, folder] }, off: { command: 'x', disabled: true } } }));
  shows('init', ['--out', join(folder, 'from'), '--from', join(folder, 'mcp.json'), '--apply']);
  shows('token new', ['dev']);
  shows('token new', ['dev', '--file', join(folder, 'token')]);
  const dir = ['--dir', join(folder, 'keys')];
  const { kid } = shows('keys new', dir);
  const jwks = put('jwks', JSON.stringify(shows('keys jwks', dir)));
  shows('verify keys', ['--jwks', jwks, '--pin', jwks]);
  shows('keys rotate', dir);
  shows('keys trust', [...dir, join(folder, 'keys', 'keys.json')]);
  shows('keys retire', [...dir, '--kid', kid]);
  shows('keys revoke', [...dir, '--kid', kid]);
  shows('keys list', dir);
  shows('keys jwks', [...dir, '--history']);
  const page = readFileSync(join(SOURCES, 'docs/credentials.md'), 'utf8');
  const file = (name) =>
    put(name, new RegExp(`<!-- file: ${name} -->\\n+\`\`\`[a-z]*\\n([\\s\\S]*?)\`\`\``).exec(page)[1]);
  const args = ['jwks.json', 'call.json', 'token'].flatMap((name) => [`--${name.replace('.json', '')}`, file(name)]);
  shows('verify credential', [...args, '--at', '2026-06-25T05:00:30Z']);
  shows('verify credential', [...args, '--at', '2026-06-25T05:01:00Z'], { code: 1 });
});

covers(['tools list', 'tools scan', 'tools diff', 'tools accept', 'tools program', 'budget list', 'top', 'kill pull',
  'kill list', 'kill lift', 'review list', 'review show',
  'review vote', 'review withdraw', 'review cancel', 'review replay', 'review delegate', 'review delegations',
  'review revoke', 'ledger resume'], async ({ t, put }) => {
  const { gw, session, admin, token } = await world(t);
  const at = { cwd: gw.dir };
  const asks = async (n) => (await session.call('up__pay', { n })).refusal.continuation_id;
  assert.ok((await session.call('up__echo', { n: 1 })).said);
  await until(() => /up\/echo/.test(writ(['tools', 'list', gw.configFile], at).out), 'the definitions to be seen');
  shows('tools list', [gw.configFile], at);
  const args = ['servers/listing-stdio.mjs', 'gateway/poisoned.json'].map((f) => join(SOURCES, 'tests/support', f));
  shows('tools scan', ['--client-config', put('mcp.json', { mcpServers: { gone: { command: '/nowhere/server' },
    bad: { command: join(SOURCES, 'tests/support/node'), args: [...args, 'poisoned'] } } })], { ...at, code: 1 });
  shows('tools diff', [gw.configFile, 'up/echo'], { ...at, code: 1 });
  shows('tools accept', [gw.configFile, 'up/*'], at);
  shows('tools diff', [gw.configFile, 'up/echo'], at);
  const program = (digest) => put('program.json', { upstreams: { fs: { stdio: [process.execPath],
    program_digest: { '/nowhere': digest } } }, tools: {} });
  shows('tools program', [program(`sha256:${'0'.repeat(64)}`), 'fs'], { ...at, code: 1 });
  shows('budget list', [gw.configFile], at);
  const { id } = shows('kill pull', [admin, 'agent', 'someone', '--reason', 'test', ...token(OPS)]);
  shows('kill list', [admin, ...token(OPS)]);
  shows('top', [admin, '--every', '1', ...token(OPS)]);
  shows('kill lift', [admin, id, ...token(OPS)]);
  const first = await asks(1);
  shows('review list', [gw.ledgerFile]);
  shows('review list', [admin, ...token(ANN)]);
  shows('review show', [gw.ledgerFile, first]);
  shows('review show', [admin, first, ...token(ANN)]);
  shows('review vote', [admin, first, 'reject', '--feedback', 'no', '--confidence', '0.5', ...token(ANN)]);
  shows('review withdraw', [admin, await asks(2), ...token(DEV)]);
  shows('review cancel', [admin, await asks(3), ...token(BOSS)]);
  shows('review replay', [gw.ledgerFile, first]);
  const set = shows('review delegate', [admin, 'boss', '--for', '1h', '--from', '2026-01-01T00:00:00Z', '--tools',
    'up/*', ...token(ANN)]);
  shows('review delegations', [admin, ...token(ANN)]);
  shows('review delegations', [gw.ledgerFile]);
  shows('review show', [gw.ledgerFile, await asks(4)]);
  shows('review vote', [admin, await asks(4), 'approve', ...token(BOSS)]);
  const later = await asks(5);
  shows('review revoke', [admin, set.id, ...token(ANN)]);
  shows('review vote', [admin, later, 'reject', ...token(ANN)]);
  await gw.stop();
  shows('ledger resume', [gw.configFile, '--acknowledge-loss'], at);
});

covers(['review log'], async ({ t }) => {
  const { gw, session } = await withCrew(t, panelOf("() => 'approve'"));
  const id = await asks(session, { amount: 1 });
  await until(async () => (await stateOf(gw, id)).state === 'approved', 'the vote of the crew');
  await gw.stop();
  const { digest, log } = shows('review log', [gw.configFile, id, 'panel'], { cwd: gw.dir });
  assert.equal(digest, `sha256:${sha256(log)}`);
});

covers(['crew check', 'crew graph', 'crew run', 'crew dispatch', 'crew resume', 'crew replay', 'crew checkpoints',
  'crew snapshot', 'crew ballots', 'crew vote', 'writ-vectors run', 'verify foreign'],
    ({ put, folder }) => {
  const role = (name, rest) => ({ role: name, permissions: {}, amount: 1, ...rest });
  const shape = put('shape.json',
    { schema_version: '1.0', name: 'two',
      roles: [role('author', { first_input: true }), role('editor', { final_output: true })] });
  shows('crew check', [shape]);
  shows('crew graph', ['--dot', shape]);
  const answers = put('answers.json', { answers: { author: [{ output: 'draft' }], editor: [{ output: 'text' }] } });
  shows('crew run', [shape, '--agents', answers, '--log', join(folder, 'log')]);
  shows('crew replay', [join(folder, 'log')]);
  const log = join(folder, 'elected');
  const ranked = put('ranked.json', { answers: { author: [{ output: ['editor'] }],
    editor: [{ failed: 'no' }, { output: 1 }] } });
  shows('crew dispatch', ['do it', '--shape', shape, '--agents', ranked, '--checkpoints', '--log', log]);
  shows('crew dispatch', ['{"handler":"editor"}', '--shape', shape, '--agents', ranked], { code: 1 });
  shows('crew ballots', [log]);
  shows('crew checkpoints', [log]);
  shows('crew snapshot', [log]);
  put('cut', readFileSync(log, 'utf8').split('\n').slice(0, 4).join('\n') + '\n');
  shows('crew resume', [join(folder, 'cut'), '--agents', ranked]);
  shows('crew vote',
    ['majority', put('ballots.json', { candidates: ['a', 'b'], rankings: { x: ['a', 'b'], y: ['a', 'b'] } })]);
  const set = JSON.parse(readFileSync(join(SOURCES, 'vectors/vaara/receipts.json'), 'utf8'));
  cpSync(join(SOURCES, 'vectors/vaara/receipts.json'), join(folder, 'set.json'));
  shows('writ-vectors run', [join(folder, 'set.json')]);
  set.cases[1].expect.ok = null;
  shows('writ-vectors run', [put('set.json', set)], { code: 1 });
  shows('verify foreign', ['--profile', 'vaara-v0', put('receipt.json', set.cases[0].documents[0])]);
});

test('the page says which commands have no table, and every other one is tested', () => {
  const without = Object.entries(SECTIONS).filter(([, rows]) => rows.size === 0).map(([name]) => name);
  assert.deepEqual([...tested, ...without].sort(), Object.keys(SECTIONS).sort());
});

test('an error has the members of the page, one line on standard error, and nothing on standard output', () => {
  const rows = rowsOf(PAGE.split('\n## Errors\n')[1].split('\n## ')[0]);
  rows.set('error', { types: ['object'] });
  for (const [args, code, input] of [[['ledger', 'list'], 2], [['ledger', 'verify', '/nothing/here'], 3],
      [['json', 'digest'], 3, '{"a":\n1,}']]) {
    const run = writ([...args, '--json'], { input });
    assert.deepEqual([run.code, run.out, run.err.split('\n').length], [code, '', 2], run.err);
    compare(rows, '', JSON.parse(run.err));
  }
});
