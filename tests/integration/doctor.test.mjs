// writ doctor: each finding is caused for real and named, a healthy gateway has none, nothing is changed and no secret
// is printed.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import https from 'node:https';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync,
  writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ANYBODY, SOURCE, bearer, prepare, until, writ, writBeside } from '../support/js/gateway.mjs';
import { reservePort } from '../support/js/ports.mjs';
import { openSession } from '../support/js/rpc.mjs';
import { startUpstream } from '../support/servers/upstream.mjs';

const ANY = [{ arg: '', op: 'type', value: 'any' }];
const TOOL = { name: 'pay', inputSchema: { type: 'object' } };
const DAY_US = 86_400_000_000;
const found = new Set(); // the checks that some test here caused

/** A gateway that does not run yet, in front of a tool server, with ports of its own. */
async function site(t, config = {}) {
  const up = await startUpstream(t, { tools: [TOOL] });
  const ports = [await reservePort(), await reservePort()];
  const gw = prepare(t, { listen: `127.0.0.1:${ports[0]}`, admin_listen: `127.0.0.1:${ports[1]}`,
    upstreams: { up: { http: up.url } }, tools: { 'up/pay': { scope: 's', arguments: ANY } }, ...config });
  return { up, gw };
}

/** What writ doctor finds: its answer, and the findings as lines. The text says the same. */
async function examine(gw, { args = [], ...options } = {}) {
  const run = (more) => writBeside(['doctor', gw.configFile, ...args, ...more], { cwd: gw.dir, ...options });
  const [json, text] = [await run(['--json']), await run([])];
  assert.equal(json.err, '');
  const answer = JSON.parse(json.out);
  assert.equal(json.code, answer.findings.length === 0 ? 0 : 1);
  assert.equal(text.code, json.code);
  assert.equal(answer.errors + answer.warnings, answer.findings.length);
  for (const finding of answer.findings) {
    found.add(finding.check);
    assert.ok(text.out.includes(`${finding.severity}: ${finding.check}: ${finding.file}`), text.out);
    assert.ok(text.out.includes(`\n  ${finding.fix}\n`), text.out);
  }
  return { answer, text: text.out, lines: answer.findings.map((f) => `${f.check} ${f.pointer} ${f.message}`) };
}

/** Exactly these checks were found; gives their findings. */
async function finds(gw, checks, options) {
  const { answer, lines } = await examine(gw, options);
  assert.deepEqual([...new Set(answer.findings.map((f) => f.check))].sort(), [...checks].sort(), lines.join('\n'));
  return answer.findings;
}

/** Every file below a folder with its mode and bytes, but the two that SQLite lays beside a database that is read. */
function picture(dir) {
  return readdirSync(dir, { recursive: true }).filter((name) => !/-(shm|wal)$/.test(name)).sort().map((name) => {
    const status = statSync(join(dir, name));
    return [name, status.mode, status.isFile() ? readFileSync(join(dir, name), 'base64') : ''];
  });
}

function openssl(cwd, ...args) {
  const run = spawnSync('openssl', args, { cwd, encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
}

/** A certificate and its key for 127.0.0.1, valid from..to (days from now). */
function certificate(dir, name, days) {
  openssl(dir, 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
    '-keyout', `${name}.key`, '-out', `${name}.pem`, '-days', String(days),
    '-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1');
  chmodSync(join(dir, `${name}.key`), 0o600);
}

test('the quickstart has no findings, stopped and running, and nothing is changed', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'writ-'));
  mkdirSync(join(dir, 'sandbox'));
  const ports = [await reservePort(), await reservePort()];
  const server = resolve(SOURCE,
    'tests/support/npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
  const gw = prepare(t, {}, { dir });
  gw.configure(readFileSync(join(SOURCE, 'config/quickstart.yaml'), 'utf8')
    .replaceAll('/srv/sandbox', join(dir, 'sandbox'))
    .replace('npx, -y, "@modelcontextprotocol/server-filesystem"',
      `${resolve(SOURCE, 'tests/support/node')}, "${server}"`)
    .replace('8700', ports[0]).replace('8701', ports[1]));
  const before = picture(dir);
  const stopped = await examine(gw);
  assert.deepEqual(stopped.lines, []);
  assert.equal(stopped.answer.running, false);
  assert.match(stopped.text, /^gateway: not running$/m);
  assert.match(stopped.text, /writ\.yaml: nothing found$/m);
  assert.deepEqual(picture(dir), before);

  await gw.start();
  const s = await openSession(gw);
  await s.call('fs__list_allowed_directories', {});
  const records = gw.verify().records;
  const running = await examine(gw);
  assert.deepEqual(running.lines, []);
  assert.equal(running.answer.running, true);
  assert.equal(running.answer.ledger_records, records);
  assert.equal(running.answer.ledger_records_last_day, records);
  assert.ok(running.answer.disk_days_left > 0);
  assert.equal(gw.verify().records, records);
  assert.equal((await s.call('fs__list_allowed_directories', {})).error, undefined);
});

test('without CONFIG it reads writ.yaml of the folder, and a wrong line is refused', async (t) => {
  const { gw } = await site(t);
  const run = await writBeside(['doctor'], { cwd: gw.dir });
  assert.equal(run.code, 0, run.out + run.err);
  assert.match(run.out, /^writ\.yaml: nothing found$/m);
  assert.equal(writ(['doctor'], { cwd: tmpdir() }).code, 3);
  assert.equal(writ(['doctor', gw.path('none.yaml')]).code, 3);
  assert.equal(writ(['doctor', gw.configFile, '--days', '0']).code, 2);
});

test('a configuration that is not valid is named with its lines, and nothing else is looked at', async (t) => {
  const { gw } = await site(t);
  gw.configure({ ...gw.config, nonsense: 1, tools: { 'up/pay': { scope: 's',
    arguments: [{ arg: 'path', op: 'under', value: 'REPLACE_WITH_A_FOLDER' }] } } });
  const findings = await finds(gw, ['configuration_error', 'placeholder']);
  assert.ok(findings.every((f) => f.line > 0 && f.file === gw.configFile));
  assert.ok(findings.some((f) => f.pointer === '/nonsense'));
  assert.ok(findings.some((f) => f.pointer === '/tools/up~1pay/arguments/0/value'));
});

test('warnings, shadow mode and rules that are not agreed are named', async (t) => {
  const { gw } = await site(t, { include: 'more', tools: { 'up/pay': { scope: 's', arguments: ANY, shadow: true,
    agents: ['nobody'] } } });
  mkdirSync(gw.path('more'));
  writeFileSync(gw.path('more/other.yaml'), JSON.stringify({ agreed: false,
    upstreams: { other: { http: gw.config.upstreams.up.http } },
    tools: { 'other/pay': { scope: 's', arguments: ANY } } }));
  const findings = await finds(gw, ['configuration_warning', 'shadow', 'not_agreed']);
  assert.match(findings.find((f) => f.check === 'shadow').message, /up\/pay/);
  assert.match(findings.find((f) => f.check === 'not_agreed').message, /"other"/);
});

test('missing files, and files that others read or change, are named', async (t) => {
  const { gw, up } = await site(t);
  certificate(gw.dir, 'own', 90);
  writeFileSync(gw.path('secret'), 'the-secret-of-the-upstream', { mode: 0o644 });
  chmodSync(gw.path('secret'), 0o644);
  const tls = { admin_tls: { cert: 'own.pem', key: 'own.key' } };
  gw.configure({ ...gw.config, ...tls, upstreams: { up: { http: up.url, authorization: { file: 'secret' } } } });
  chmodSync(gw.path('own.key'), 0o644);
  chmodSync(gw.configFile, 0o666);
  const open = (await finds(gw, ['file_open', 'upstream_silent'])).filter((f) => f.check === 'file_open');
  assert.deepEqual(open.map((f) => f.file).sort(), [gw.path('own.key'), gw.path('secret'), gw.configFile].sort());
  assert.ok(!JSON.stringify(open).includes('the-secret-of'));
  chmodSync(gw.configFile, 0o600);
  gw.configure({ ...gw.config, admin_tls: { cert: 'gone.pem', key: 'gone.key' }, upstreams: { up: { http: up.url } } });
  const missing = await finds(gw, ['file_missing']);
  assert.deepEqual(missing.map((f) => f.pointer), ['/admin_tls/cert', '/admin_tls/key']);
  assert.ok(missing.every((f) => f.line > 0));
});

test('an included file, and its folder, that others change are named', async (t) => {
  const { gw } = await site(t);
  const tools = gw.config.tools;
  gw.configure({ ...gw.config, include: 'more', tools: undefined });
  mkdirSync(gw.path('more'));
  chmodSync(gw.path('more'), 0o777);
  for (const name of ['rules.yaml', 'other.yaml'])
    writeFileSync(gw.path(`more/${name}`), JSON.stringify(name === 'rules.yaml' ? { tools } : {}));
  chmodSync(gw.path('more/rules.yaml'), 0o666); // rules alone: it defines no upstream
  const open = await finds(gw, ['file_open']);
  assert.deepEqual(open.map((f) => f.file).sort(), [gw.path('more'), gw.path('more/rules.yaml')]);
  chmodSync(gw.path('more'), 0o700);
  chmodSync(gw.path('more/rules.yaml'), 0o600);
  await finds(gw, []);
});

test('a folder of the ledger that cannot be written is named', { skip: process.getuid() !== 0 && 'needs two users' },
  async (t) => {
    const { gw } = await site(t);
    const parent = mkdtempSync(join(tmpdir(), 'writ-'));
    t.after(() => rmSync(parent, { recursive: true }));
    cpSync(gw.dir, join(parent, 'gate'), { recursive: true });
    spawnSync('chown', ['-R', 'nobody', parent]);
    chmodSync(parent, 0o755);
    chmodSync(join(parent, 'gate'), 0o500);
    const copy = { configFile: join(parent, 'gate/writ.yaml'), dir: parent };
    const uid = Number(spawnSync('id', ['-u', 'nobody'], { encoding: 'utf8' }).stdout);
    const { lines } = await examine(copy, { uid });
    assert.ok(lines.some((line) => line.startsWith('folder_read_only /store ')), lines.join('\n'));
  });

test('keys that are missing, unreadable, old, of another algorithm or not retired are named', async (t) => {
  const { gw } = await site(t);
  const index = gw.path('keys/keys.json');
  const ring = readFileSync(index, 'utf8');
  const change = (edit) => writeFileSync(index, ring.replace(/.+/gs, edit));
  chmodSync(gw.path('keys'), 0o777);
  await finds(gw, ['keys_unreadable']);
  chmodSync(gw.path('keys'), 0o700);

  change((text) => text.replaceAll(/("created_at": ?")\d{4}/g, '$12020'));
  const [old] = await finds(gw, ['key_old']);
  assert.match(old.message, /days old/);
  change((text) => text.replaceAll(/("(?:created|changed)_at": ?")\d{4}/g, '$12999'));
  await finds(gw, ['clock_behind']);
  change((text) => text);

  gw.configure({ ...gw.config, credential: { alg: 'RS256' },
    tools: { 'up/pay': { scope: 's', arguments: ANY, contents: { keep: '1d' } } } });
  const findings = await finds(gw, ['key_algorithm', 'key_missing']);
  assert.match(findings.find((f) => f.check === 'key_missing').message, /contents/);
  gw.configure({ ...gw.config, credential: {}, tools: { 'up/pay': { scope: 's', arguments: ANY } } });

  assert.equal(writ(['keys', 'rotate', '--dir', gw.path('keys')]).code, 0);
  await finds(gw, []);
  const rotated = readFileSync(index, 'utf8');
  const kid = JSON.parse(writ(['keys', 'list', '--dir', gw.path('keys'), '--json']).out).keys
    .find((key) => key.state === 'verifying').kid;
  const line = rotated.split('\n').find((l) => l.includes(kid) && l.includes('verifying'));
  writeFileSync(index, rotated.replace(line, line.replaceAll(/(_at": ?")\d{4}/g, '$12020')
    .replaceAll(/(until": ?")\d{4}/g, '$12020')));
  const late = await finds(gw, ['key_not_retired']);
  assert.match(late[0].message, new RegExp(kid));
});

test('a mark.key that is broken, missing, or another than that of the records is named; none is made', async (t) => {
  const { gw } = await site(t, { flows: [{ tools: ['up/pay'], at_most: 5 }] });
  const file = gw.path('keys/mark.key');
  await finds(gw, []);
  assert.ok(!existsSync(file), 'doctor makes no key');
  await gw.start();
  const s = await openSession(gw);
  assert.ok((await s.call('up__pay', {})).result);
  await gw.stop();
  await finds(gw, []);
  const key = readFileSync(file, 'utf8');
  chmodSync(file, 0o644);
  await finds(gw, ['mark_key_unusable']);
  chmodSync(file, 0o600);
  writeFileSync(file, key.slice(2));
  await finds(gw, ['mark_key_unusable']);
  rmSync(file);
  const [missing] = await finds(gw, ['mark_key_other']);
  assert.match(missing.message, /^mark\.key is missing, and the newest marks are of [0-9a-f]{8}$/);
  writeFileSync(file, `${'0'.repeat(64)}\n`, { mode: 0o600 });
  const [other] = await finds(gw, ['mark_key_other']);
  assert.ok(!other.message.includes(key.trim()));
  await gw.start();
  const line = gw.log.find((l) => l.event === 'mark_key_differs');
  assert.match(line?.newest ?? '', /^[0-9a-f]{8}$/);
  assert.notEqual(line.newest, line.ours);
  assert.match((await gw.admin('/readyz')).text, /^mark\.key: another key than that of earlier records$/m);
  await gw.stop();
  writeFileSync(file, key);
  await gw.start();
  assert.doesNotMatch((await gw.admin('/readyz')).text, /mark\.key/);
  await gw.stop();
  await finds(gw, []);
});

test('a ledger that is missing, of another kind, unsound, or rolled back is named', async (t) => {
  const { gw } = await site(t);
  await gw.start();
  const s = await openSession(gw);
  await s.call('up__pay', { n: 1 });
  await gw.stop();
  const earlier = readFileSync(gw.ledgerFile);
  await gw.start();
  await (await openSession(gw)).call('up__pay', { n: 2 });
  await gw.stop();
  await finds(gw, []);
  const good = readFileSync(gw.ledgerFile);
  const sides = () => ['-wal', '-shm'].forEach((end) => rmSync(`${gw.ledgerFile}${end}`, { force: true }));

  renameSync(gw.ledgerFile, gw.path('away.db'));
  const [missing] = await finds(gw, ['ledger_missing']);
  assert.equal(missing.file, gw.ledgerFile);
  writeFileSync(gw.ledgerFile, 'this is no ledger', { mode: 0o600 });
  await finds(gw, ['ledger_unreadable']);
  sides();
  sides();
  writeFileSync(gw.ledgerFile, earlier); // the checkpoint that the gateway keeps beside it has more records
  const [rolled] = await finds(gw, ['ledger_unsound']);
  assert.match(rolled.message, /^ROLLBACK: /);
  sides();
  writeFileSync(gw.ledgerFile, good);
  let db = new DatabaseSync(gw.ledgerFile);
  db.exec('UPDATE head SET note = CAST(replace(CAST(note AS TEXT), \'a\', \'b\') AS BLOB) ' +
    'WHERE leaf = (SELECT max(leaf) FROM head)');
  db.close();
  await finds(gw, ['ledger_unsound']);
  sides();
  writeFileSync(gw.ledgerFile, good);
  db = new DatabaseSync(gw.ledgerFile);
  db.exec(`UPDATE record SET time_us = time_us + ${DAY_US} WHERE leaf = (SELECT max(leaf) FROM record)`);
  db.close();
  const [clock] = await finds(gw, ['clock_behind']);
  assert.match(clock.message, /the last record is of .*, 86\d{3} s after now/);
});

test('an address that another program has, or that is not of this machine, is named', async (t) => {
  const { gw } = await site(t);
  const port = Number(gw.config.listen.split(':')[1]);
  const other = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
  await once(other, 'listening');
  const [taken] = await finds(gw, ['port_taken']);
  assert.equal(taken.pointer, '/listen');
  assert.ok(taken.line > 0);
  await once(other.close(), 'close');
  gw.configure({ ...gw.config, listen: '192.0.2.1:8700', hosts: ['gateway.example'], agents: [bearer('a').entry] });
  const findings = await finds(gw, ['port_unusable', 'configuration_warning']);
  assert.match(findings.find((f) => f.check === 'port_unusable').message, /192\.0\.2\.1:8700/);
});

test('a server that does not answer, a program that is not there and a rule that does not fit are named', async (t) => {
  const { gw, up } = await site(t);
  gw.configure({ ...gw.config, upstreams: { up: { http: up.url }, gone: { http: 'http://127.0.0.1:1/mcp' },
    none: { stdio: ['/no/such/program', 'a-secret-argument'] } },
  tools: { 'up/pay': { scope: 's', arguments: ANY }, 'up/pya': { scope: 's', arguments: ANY } } });
  const findings = await finds(gw, ['upstream_silent', 'rule_unfit']);
  const silent = findings.filter((f) => f.check === 'upstream_silent').map((f) => f.pointer).sort();
  assert.deepEqual(silent, ['/upstreams/gone', '/upstreams/none']);
  assert.match(findings.find((f) => f.pointer === '/upstreams/none').message, /cannot be started/);
  assert.equal(findings.find((f) => f.check === 'rule_unfit').pointer, '/tools/up~1pya');
  assert.ok(!JSON.stringify(findings).includes('a-secret-argument'));
});

test('an issuer without keys, or that is not there, is named', async (t) => {
  const { gw } = await site(t);
  writeFileSync(gw.path('empty.json'), '{"keys": []}');
  const issuer = (name, jwks) => ({ issuer: `https://${name}.example`, audience: 'writ', jwks });
  gw.configure({ ...gw.config, agents: [issuer('a', gw.path('empty.json')), issuer('b', 'http://127.0.0.1:1/jwks')] });
  const findings = await finds(gw, ['issuer_keyless', 'issuer_unreachable']);
  assert.deepEqual(findings.map((f) => f.pointer), ['/agents/0', '/agents/1']);
});

test('certificates that end, have ended, or are not of their key are named', async (t) => {
  const { gw } = await site(t);
  certificate(gw.dir, 'long', 90);
  certificate(gw.dir, 'short', 10);
  openssl(gw.dir, 'x509', '-in', 'long.pem', '-signkey', 'long.key', '-days', '-1', '-out', 'over.pem');
  const use = (cert, key) =>
    gw.configure({ ...gw.config, tls: { cert, key }, admin_tls: { cert: 'long.pem', key: 'long.key' } });
  use('long.pem', 'long.key');
  await finds(gw, []);
  await finds(gw, ['certificate_expiring'], { args: ['--days', '100'] });
  use('short.pem', 'short.key');
  const [ends] = await finds(gw, ['certificate_expiring']);
  assert.match(ends.message, /short\.pem: the certificate of \/CN=short ends in (9|10) days/);
  assert.equal(ends.pointer, '/tls/cert');
  use('over.pem', 'long.key');
  await finds(gw, ['certificate_expired']);
  use('long.pem', 'short.key');
  const [unlike] = await finds(gw, ['certificate_unusable']);
  assert.match(unlike.message, /the key beside it is another/);
  use('writ.yaml', 'short.key');
  await finds(gw, ['certificate_unusable']);
  assert.ok(!JSON.stringify(unlike).includes('PRIVATE KEY'));
});

test('a disk that the rate of the last day fills, and limits that traffic reaches, are named', async (t) => {
  const { gw } = await site(t, { loops: 1, limits: { sessions: 5, agent_share: 100, tenant_share: 100 },
    tools: { 'up/pay': { scope: 's', arguments: ANY, duplicates: 'allow',
      budgets: [{ name: 'few', window: '366d', calls: 4 }] } } });
  await gw.start();
  const s = await openSession(gw);
  for (let n = 0; n < 3; n++) await s.call('up__pay', { n });
  await finds(gw, []);
  const [full] = await finds(gw, ['disk_full_soon'], { args: ['--days', '1000000000000'] });
  assert.match(full.message, /enough for \d+ days/);
  await s.call('up__pay', { n: 3 });
  const [budget] = await finds(gw, ['budget_near']);
  assert.match(budget.message, /the budget few is used to 100 %/);
  assert.ok(budget.line > 0);

  for (let n = 0; n < 3; n++) await openSession(gw);
  const near = await finds(gw, ['budget_near', 'limit_near']);
  assert.match(near.find((f) => f.check === 'limit_near').message, /writ_sessions_open is 4 of 5/);
  for (let n = 0; n < 4; n++) await openSession(gw).catch(() => undefined);
  const reached = await finds(gw, ['budget_near', 'limit_near', 'limit_reached']);
  assert.match(reached.find((f) => f.check === 'limit_reached').message, /refusals with the reason /);
});

test('a running gateway that is not ready is named, by its own address or --url', async (t) => {
  const { gw, up } = await site(t, { agents: [ANYBODY] });
  await gw.start();
  await finds(gw, []);
  const server = up.url;
  gw.configure({ ...gw.config, upstreams: { up: { stdio: ['/no/such/program'] } } });
  await gw.restart();
  await until(async () => (await gw.admin('/readyz')).status === 503, 'the gateway to be unready');
  const findings = await finds(gw, ['gateway_not_ready', 'upstream_silent']);
  assert.match(findings.find((f) => f.check === 'gateway_not_ready').message, /upstreams: not ready \(up\)/);
  const url = `http://127.0.0.1:${gw.adminPort}`;
  gw.configure({ ...gw.config, upstreams: { up: { http: server } }, admin_listen: '127.0.0.1:0' });
  await finds(gw, []);
  await finds(gw, ['gateway_not_ready'], { args: ['--url', url] });
});

test('an admin listener that others reach is named', async (t) => {
  const { gw } = await site(t, { agents: [bearer('a').entry] });
  const port = gw.config.admin_listen.split(':')[1];
  certificate(gw.dir, 'own', 90);
  gw.configure({ ...gw.config, admin_listen: `0.0.0.0:${port}` });
  const [exposed] = await finds(gw, ['admin_exposed']);
  assert.equal(exposed.pointer, '/admin_listen');
  gw.configure({ ...gw.config, admin_tls: { cert: 'own.pem', key: 'own.key' } });
  await finds(gw, ['admin_open']);
  gw.configure({ ...gw.config, admin_tls: { cert: 'own.pem', key: 'own.key', client_ca: 'own.pem' } });
  await finds(gw, []);
  gw.configure({ ...gw.config, hosts: ['gate.example'], admin_url: 'https://gate.example' });
  const [named] = await finds(gw, ['admin_exposed']);
  assert.match(named.message, /"gate.example" is also the admin listener/);
});

test('the certificate that a server over https presents is looked at', async (t) => {
  const { gw } = await site(t);
  certificate(gw.dir, 'server', 10);
  const [cert, key] = ['server.pem', 'server.key'].map((name) => readFileSync(gw.path(name)));
  const server = https.createServer({ cert, key }, (req, res) => res.writeHead(404).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `https://127.0.0.1:${server.address().port}/mcp`;
  gw.configure({ ...gw.config, upstreams: { up: { http: url, ca: 'server.pem' } } });
  const findings = await finds(gw, ['certificate_expiring', 'upstream_silent']);
  const ending = findings.filter((f) => f.check === 'certificate_expiring');
  assert.deepEqual(ending.map((f) => f.message.split(': ')[0]), [gw.path('server.pem'), url]);
  assert.ok(ending.every((f) => f.pointer === '/upstreams/up' && f.line > 0));
  await finds(gw, ['upstream_silent'], { args: ['--days', '5'] });
});

/** [name, area, severity, meaning, what to do] of the rows of the table. */
function table() {
  const text = readFileSync(join(SOURCE, 'cli/commands/doctor.tbl.h'), 'utf8').split('#define WRIT_DOCTOR_CHECKS(X)')[1]
    .replaceAll(/\\\n/g, '\n');
  return [...text.matchAll(/X\([A-Z_]+, "([a-z_]+)", "([a-z]+)", ([A-Z]+),\s+"([^"]+)",\s+"([^"]+)"\)/g)]
    .map(([, name, area, severity, meaning, fix]) => [name, area, severity.toLowerCase(), meaning, fix]);
}

test('docs/doctor.md has the rows of the table', () => {
  const page = readFileSync(join(SOURCE, 'docs/doctor.md'), 'utf8').split('## Findings\n')[1].split(/\n## /)[0];
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  assert.deepEqual(rows, table().map(([name, area, severity, meaning, fix]) =>
    `| \`${name}\` | ${area} | ${severity} | ${meaning} | ${fix} |`));
});

test('every check of the table was caused above, but a full disk', () => {
  const elsewhere = ['disk_full', ...(process.getuid() === 0 ? [] : ['folder_read_only'])]; // disk.test.mjs
  const missed = table().map(([name]) => name).filter((name) => !found.has(name));
  assert.deepEqual(missed.filter((name) => !elsewhere.includes(name)), []);
});
